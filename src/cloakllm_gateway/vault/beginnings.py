"""How known values begin, and where in a text anything begins so: nearly all words of a message are done with here.

A short text is probed word by word.  In a long one the linear engine looks
first, chunk by chunk, for those that hold any beginning at all: most hold none,
and the words of the others are probed.  That takes a tenth of the time where
known values are few and far between, and no more where they are dense.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import re2

from cloakllm_gateway.vault.boundaries import starts

#: Texts of fewer code points are probed at once.
_LONG = 32_768
#: How many code points are looked through at once.
_CHUNK = 4_096
#: So many code points are looked through in the time that it takes to get the engine ready for one beginning.
_COMPILING = 64
#: For the states of the engine, in bytes.
_MEMORY = 32 << 20

Search = Callable[[bytes, int, int], object]


class Beginnings:
    """Beginnings of case-folded values, all of ``size`` characters."""

    def __init__(self, size: int, *, long: int = _LONG, chunk: int = _CHUNK) -> None:
        self._size = size
        self._long = long
        self._chunk = chunk
        self._known: set[str] = set()
        self._search: Search | None = None

    def __bool__(self) -> bool:
        return bool(self._known)

    def add(self, text: str) -> None:
        """Look for how ``text`` begins, which is at least as long as a beginning, from now on."""
        beginning = text[: self._size]
        if beginning not in self._known:
            self._known.add(beginning)
            self._search = None

    def places(self, text: str) -> list[int]:
        """Where in ``text``, case-folded, something begins as a value does, in order."""
        known, size = self._known, self._size
        if len(text) < max(self._long, len(known) * _COMPILING):
            return [at for at in starts(text) if text[at : at + size] in known]
        return [
            at
            for first, last in self._likely(text)
            for at in starts(text, first, last)
            if text[at : at + size] in known
        ]

    def _likely(self, text: str) -> Iterator[tuple[int, int]]:
        """The chunks of a text in which some beginning may begin, in order and disjoint."""
        search = self._search = self._search or _compiled(self._known)
        screen = text.encode("ascii", "replace")  # one byte for each character
        for first in range(0, len(text), self._chunk):
            last = min(first + self._chunk, len(text))
            if search(screen, first, last + self._size - 1) is not None:
                yield first, last


def _compiled(beginnings: set[str]) -> Search:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.never_capture = True
    options.max_mem = _MEMORY
    screened = {beginning.encode("ascii", "replace") for beginning in beginnings}
    compiled: Search = re2.compile(b"|".join(map(re.escape, sorted(screened))), options).search
    return compiled
