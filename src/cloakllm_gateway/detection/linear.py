"""The linear engine, ``google-re2``, without the layers of its Python package.

Those layers take four times as long as the search itself where matches are
many: a generator, a match object and a look at the groups for each.  Here a
search is one call, and answers with offsets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import re2

#: ``(text, at, end)`` to the span of the first match in ``at:end``, in a list; ``[(-1, -1)]`` for none.
Search = Callable[[bytes, int, int], Sequence[tuple[int, int]]]


def options(memory: int = 8 << 20, any_case: bool = False) -> re2.Options:
    """Expressions over bytes, one for each code point (:func:`.gate.screened`); ``memory`` is for their states."""
    found = re2.Options()
    found.encoding = re2.Options.Encoding.LATIN1
    found.log_errors = False
    found.never_capture = True
    found.case_sensitive = not any_case
    found.max_mem = memory
    return found


def compiled(expression: str, memory: int = 8 << 20, any_case: bool = False) -> Search:
    """The search of an expression.  Raises :class:`re2.error`."""
    regexp = re2.compile(expression.encode(), options(memory, any_case))
    return partial(regexp._regexp.Match, re2._Anchor.UNANCHORED)


def spans(search: Search, text: bytes) -> Iterator[tuple[int, int]]:
    """All matches of an expression that matches nothing empty, from left to right."""
    at, end = 0, len(text)
    while at < end:
        start, at = search(text, at, end)[0]
        if start < 0:
            return
        yield start, at
