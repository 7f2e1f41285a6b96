"""Opaque handles in place of an upstream's cursors and ids that hold personal data.

A handle has to come back exactly as it was given, so it can't be tokenized;
the client gets another one, which means the original towards its upstream and
nothing towards any other.  Nobody can tell one before it is given: whoever
named something of its own so would be asked in place of the one it is for.
"""

from __future__ import annotations

import hashlib
import hmac
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

#: Handles of one upstream that a session remembers; one whose ids all hold personal data loses its oldest.
MOST = 10_000

#: Hexadecimal digits as letters: a run of digits could look like a number of somebody's.
_LETTERS = str.maketrans("0123456789abcdef", "bcdfghjkmnpqrstv")
_LENGTH = 12


class _Meaning(NamedTuple):
    origin: str
    original: str | int


class Handles:
    """The handles one session was given, bound to the upstream they came from.

    ``secret`` makes them, ``changing`` is a lock where several threads ask for some.
    """

    def __init__(self, secret: bytes = b"", changing: AbstractContextManager[object] | None = None) -> None:
        self._secret = secret
        self._changing = changing or nullcontext()
        #: By upstream, the oldest first.
        self._issued: dict[str, dict[str | int, str]] = {}
        self._meaning: dict[str, _Meaning] = {}
        self._numbers = 0

    def issue(self, origin: str, original: str | int) -> str:
        """The handle for ``original``: the same one each time."""
        with self._changing:
            own = self._issued.setdefault(origin, {})
            handle = own.get(original)
            if handle is None:
                handle = own[original] = self._new()
                self._meaning[handle] = _Meaning(origin, original)
                if len(own) > MOST:
                    del self._meaning[own.pop(next(iter(own)))]
            return handle

    def _new(self) -> str:
        self._numbers += 1
        digest = hmac.new(self._secret, b"handle %d" % self._numbers, hashlib.sha256).hexdigest()
        return f"handle-{self._numbers}-{digest[:_LENGTH].translate(_LETTERS)}"

    def original(self, origin: str, handle: str | int) -> str | int:
        """What ``handle`` means to ``origin``; whatever was not issued for it means itself."""
        meaning = self._meaning.get(handle) if isinstance(handle, str) else None
        return meaning.original if meaning and meaning.origin == origin else handle
