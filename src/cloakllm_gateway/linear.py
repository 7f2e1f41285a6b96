"""Regular expressions in linear time: ``google-re2``, called below the layers of its Python package.

Those layers take four times as long as the search itself where matches are
many: a generator, a match object and a look at the groups for each.  Here a
search is one call, and answers with offsets.

Texts are searched as bytes, one for each code point (:func:`as_bytes`), so
offsets in the bytes are offsets in the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

import re2

from cloakllm_gateway.patterns import lazy

#: ``(text, at, end)`` to the span of the first match in ``at:end``, in a list; ``[(-1, -1)]`` for none, and always
#: where ``end`` lies beyond the text.
Search = Callable[[bytes, int, int], Sequence[tuple[int, int]]]


def as_bytes(text: str) -> bytes:
    """One byte for each code point of ``text``: itself if it is ASCII, a question mark if it is not."""
    return text.encode("ascii", "replace")


def options(memory: int = 8 << 20, any_case: bool = False) -> re2.Options:
    """The options for expressions over :func:`as_bytes`; ``memory`` is what their automaton may take, in bytes."""
    found = re2.Options()
    found.encoding = re2.Options.Encoding.LATIN1
    found.log_errors = False
    found.never_capture = True
    found.case_sensitive = not any_case
    found.max_mem = memory
    return found


def compiled(expression: str, memory: int = 8 << 20, any_case: bool = False) -> Search:
    """The search of an expression.  Raises :class:`re2.error`."""
    return search(re2.compile(expression.encode(), options(memory, any_case)))


def search(regexp: re2._Regexp) -> Search:
    """The search of an expression that is compiled already."""
    return partial(regexp._regexp.Match, re2._Anchor.UNANCHORED)


def spans(search: Search, text: bytes) -> Iterator[tuple[int, int]]:
    """All matches of an expression from left to right, but for empty ones."""
    at, size = 0, len(text)
    while at < size:
        start, end = search(text, at, size)[0]
        if start < 0:
            return
        if start < end:
            yield start, end
        at = max(end, at + 1)


def foreign(screen: bytes) -> Iterator[tuple[int, int]]:
    """The stretches (start, end) of a text with all of its characters that are not ASCII, given its :func:`as_bytes`.

    In order.  Those close to each other are one stretch, so that many characters make few.  Question marks of the
    text look the same in its bytes, so a stretch may hold nothing else.
    """
    return (stretch.span() for stretch in _FOREIGN.finditer(screen))


#: How far apart two stretches are at least.
_APART = 64
_FOREIGN = lazy(rb"\?(?:[^?]{0,%d}\?)*+" % _APART)


class Alternatives:
    """Several expressions at once; says which of them match in a text, and so which are worth a search.

    Raises :class:`re2.error` for what is no expression, or too many of them.
    """

    def __init__(self, expressions: Iterable[str], options: re2.Options) -> None:
        self._set = re2.Set.SearchSet(options)
        for expression in expressions:
            self._set.Add(expression)
        # Matches at the end of everything: where it is missing, the automaton ran out of memory before it was there,
        # and nothing it says counts.  An expression that matches in every state would halve its speed.
        self._end = self._set.Add(r"\z")
        self._set.Compile()
        self._match = self._set._set.Match

    def matched(self, text: bytes) -> list[int] | None:
        """Which expressions match, by their number; None if memory did not suffice to tell."""
        matched: list[int] = self._match(text)
        if self._end not in matched:
            return None
        matched.remove(self._end)
        return matched
