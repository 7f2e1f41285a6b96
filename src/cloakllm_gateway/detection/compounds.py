"""Compound values that keys prove, such as an address in its cell: what is no surer is not looked for in them.

What a pattern finds in one is a part of it, and the whole counts.  So patterns that are no surer, and about nothing
more sensitive, see the text without these values.  Those of a value's own category are tried where it begins: what
proves itself is known everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter

from cloakllm_gateway.detection.catalogue import Category, Pattern
from cloakllm_gateway.detection.catalogue.model import RECORD
from cloakllm_gateway.detection.gate import SEPARATOR, Judge, Ranges, Truth, screened
from cloakllm_gateway.detection.merging import Find
from cloakllm_gateway.spans import blanked

#: What stands on both sides of a value that nothing reaches into or goes on behind, as a line or a tab may be crossed.
_ENDS = frozenset("\"'|")

_start = itemgetter(0)


class Compounds:
    """The compound values among the finds of keys in a buffer that is one text."""

    def __init__(self, buffer: str, screen: bytes, keyed: Iterable[Find]) -> None:
        self._all = self._rest = buffer, screen
        #: Those of which no pattern was seen to prove them, by the name of their category.
        self._unproved: dict[str, list[tuple[int, int]]] = {}
        places: list[tuple[int, int]] = []
        done = 0
        for start, size, claim in sorted((find for find in keyed if find[2].rank == RECORD), key=_start):
            end = start + size
            if start >= done and _ENDS.issuperset((buffer[start - 1 : start], buffer[end : end + 1])):
                places.append((start, end))
                self._unproved.setdefault(claim.category.name, []).append((start, end))
                done = end
        if places:
            rest = blanked(buffer, places, SEPARATOR)
            self._rest = rest, screened(rest)

    def values(
        self, category: Category, pattern: Pattern, truth: Truth, ranges: Ranges, judge: Judge
    ) -> list[tuple[int, int, int]]:
        """What a pattern finds in the buffer that counts; see :meth:`.gate.Truth.values`."""
        if truth.is_led or category.sensitive or pattern.rank > RECORD:
            return truth.values(*self._all, ranges, judge)
        found = truth.values(*self._rest, ranges, judge)
        if unproved := self._unproved.get(category.name):
            sizes = [truth.size(*self._all, start, end, judge) for start, end in unproved]
            own = [
                (start, start, start + size)
                for (start, end), size in zip(unproved, sizes, strict=True)
                if start + size >= end
            ]
            if own:
                proved = {start for start, _, _ in own}
                self._unproved[category.name] = [place for place in unproved if place[0] not in proved]
                return sorted(found + own)
        return found
