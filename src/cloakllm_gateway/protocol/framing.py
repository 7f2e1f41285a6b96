"""Bytes of a stream to lines: one message a line, and nothing but 0x0A ends one.

Not ``splitlines``: U+2028, U+0085 and their like stand raw in JSON strings.
"""

from __future__ import annotations

from typing import NamedTuple

from cloakllm_gateway.protocol.jsonrpc import DEFAULT_LIMITS, HEAD, TAIL, Id, recover_id


class Oversized(NamedTuple):
    """A line over the limit, dropped: its size in bytes, and the id of its message where one can be read."""

    size: int
    id: Id | None


class Lines:
    """Cuts a stream into lines, in time linear in its bytes however it is chunked.

    Lines come without their line feed and without one carriage return before
    it; empty ones are skipped.  A line of more than ``max_bytes`` is not held:
    it is dropped as it arrives and reported once, at its end.
    """

    def __init__(self, max_bytes: int = DEFAULT_LIMITS.max_bytes) -> None:
        self._max_bytes = max_bytes
        self._held = bytearray()
        self._size = 0
        self._head: bytes | None = None  # the start of a line that is being dropped; only its end is held then

    def feed(self, data: bytes) -> list[bytes | Oversized]:
        """The lines that ``data`` completes."""
        *ended, rest = data.split(b"\n")
        lines: list[bytes | Oversized] = []
        for piece in ended:
            self._hold(piece)
            lines += self._release()
        self._hold(rest)
        return lines

    def finish(self) -> list[bytes | Oversized]:
        """The last line, if the stream ended without a line feed."""
        return self._release()

    def _hold(self, piece: bytes) -> None:
        self._held += piece
        self._size += len(piece)
        if self._head is None and self._size > self._max_bytes + 1:  # one more, for a carriage return
            self._head = bytes(self._held[:HEAD])
        if self._head is not None:
            del self._held[:-TAIL]

    def _release(self) -> list[bytes | Oversized]:
        """The current line as a list of one, or of none where it is empty; the next one starts."""
        line, size, head = bytes(self._held), self._size, self._head
        self._held.clear()
        self._size, self._head = 0, None
        if line.endswith(b"\r"):
            line, size = line[:-1], size - 1
        if size > self._max_bytes:
            return [Oversized(size, recover_id(line[:HEAD] if head is None else head, line[-TAIL:]))]
        return [line] if line else []
