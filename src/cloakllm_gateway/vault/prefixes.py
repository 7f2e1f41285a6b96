"""An index of the first characters of known values: where in a text some known value may begin.

A short text is probed word by word.  In a long one the linear engine looks
first, chunk by chunk, for those that hold any beginning at all: most hold none,
and the words of the others are probed.  That takes a tenth of the time where
known values are few and far between, and no more where they are dense.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cloakllm_gateway import linear
from cloakllm_gateway.vault.boundaries import starts

#: Texts of fewer code points are probed at once.
_LONG = 32_768
#: How many code points are looked through at once.
_CHUNK = 4_096
#: So many code points are looked through in the time that it takes to get the engine ready for one beginning.
_COMPILING = 64
#: So many characters of a value tell it from nearly all words.
_ENOUGH = 4
#: What the automaton of all beginnings may take, in bytes.
_MEMORY = 32 << 20


class Prefixes:
    """Prefixes of case-folded values of at least ``size`` characters: their first few, or all of a short value."""

    def __init__(self, size: int, *, long: int = _LONG, chunk: int = _CHUNK) -> None:
        self._size = size
        self._long = long
        self._chunk = chunk
        self._known: set[str] = set()
        #: The lengths of the beginnings, and the first ``size`` characters of each: most words end there.
        self._lengths: tuple[int, ...] = ()
        self._first: set[str] = set()
        #: The engine, and how many prefixes it knows: others may be added while it is made ready, in another thread.
        self._search: tuple[int, linear.Search] = (0, _nowhere)

    def __bool__(self) -> bool:
        return bool(self._known)

    def add(self, text: str) -> None:
        """Look for how ``text``, of at least ``size`` characters, begins from now on."""
        beginning = text[:_ENOUGH]
        if beginning not in self._known:
            self._known.add(beginning)
            self._lengths = tuple(sorted({*self._lengths, len(beginning)}))
            self._first.add(beginning[: self._size])

    def places(self, text: str) -> list[int]:
        """Where in ``text``, case-folded, something begins as a value does, in order."""
        if len(text) < max(self._long, len(self._known) * _COMPILING):
            return self._probed(text, 0, len(text))
        return [at for first, last in self._likely(text) for at in self._probed(text, first, last)]

    def _probed(self, text: str, first: int, last: int) -> list[int]:
        """The places in ``text[first:last]``, word by word."""
        known, size = self._first, self._size
        found = [at for at in starts(text, first, last) if text[at : at + size] in known]
        if not found or self._lengths == (size,):
            return found
        known, lengths = self._known, self._lengths
        return [at for at in found if any(text[at : at + length] in known for length in lengths)]

    def _likely(self, text: str) -> Iterator[tuple[int, int]]:
        """The chunks of a text in which some beginning may begin, in order and disjoint."""
        search = self._ready()
        screen = linear.as_bytes(text)
        for first in range(0, len(text), self._chunk):
            last = min(first + self._chunk, len(text))
            if search(screen, first, min(last + _ENOUGH - 1, len(text)))[0][0] >= 0:
                yield first, last

    def _ready(self) -> linear.Search:
        """The engine for all prefixes that there are now."""
        count, search = self._search
        if count != len(self._known):
            known = self._known.copy()
            search = _compiled(known)
            self._search = len(known), search
        return search


def _nowhere(_screen: bytes, _first: int, _last: int) -> Sequence[tuple[int, int]]:
    """The search for no prefixes."""
    return ((-1, -1),)


def _compiled(beginnings: set[str]) -> linear.Search:
    written = {linear.as_bytes(beginning).decode() for beginning in beginnings}
    return linear.compiled("|".join(map(re.escape, sorted(written))), _MEMORY)
