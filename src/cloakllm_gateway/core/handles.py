"""Opaque handles in place of an upstream's cursors and ids that hold personal data.

A handle has to come back exactly as it was given, so it can't be tokenized;
the client gets another one, which means the original towards its upstream and
nothing towards any other.
"""

from __future__ import annotations

#: Handles that a session remembers; an upstream whose ids all hold personal data loses its oldest.
MOST = 10_000


class Handles:
    """The handles one session was given, bound to the upstream they came from."""

    def __init__(self) -> None:
        self._issued: dict[tuple[str, str | int], str] = {}
        self._meaning: dict[str, tuple[str, str | int]] = {}
        self._numbers = 0

    def issue(self, origin: str, original: str | int) -> str:
        """The handle for ``original``: the same one each time."""
        handle = self._issued.get((origin, original))
        if handle is None:
            self._numbers += 1
            handle = f"handle-{self._numbers}"
            self._issued[origin, original] = handle
            self._meaning[handle] = (origin, original)
            if len(self._issued) > MOST:
                oldest = next(iter(self._issued))
                del self._meaning[self._issued.pop(oldest)]
        return handle

    def original(self, origin: str, handle: str | int) -> str | int:
        """What ``handle`` means to ``origin``; whatever was not issued for it means itself."""
        meaning = self._meaning.get(handle) if isinstance(handle, str) else None
        return meaning[1] if meaning and meaning[0] == origin else handle
