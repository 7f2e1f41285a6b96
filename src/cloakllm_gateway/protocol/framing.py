"""Bytes of a stream to lines: one message a line, and nothing but 0x0A ends one.

Not ``splitlines``: U+2028, U+0085 and their like stand raw in JSON strings.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from cloakllm_gateway.protocol.jsonrpc import DEFAULT_LIMITS, HEAD, TAIL, Id, recover_id


class Oversized(NamedTuple):
    """A line over the limit, dropped: its size in bytes, and the id of its message where one can be read."""

    size: int
    id: Id | None


#: Bytes from which a piece of a line is held as it came; smaller ones are gathered.
_PIECE: Final = 4096


class Lines:
    """Cuts a stream into lines, in time linear in its bytes however it is chunked.

    Lines come without their line feed and without one carriage return before
    it; empty ones are skipped.  A line of more than ``max_bytes`` is not held:
    it is dropped as it arrives and reported once, at its end.
    """

    def __init__(self, max_bytes: int = DEFAULT_LIMITS.max_bytes) -> None:
        self._max_bytes = max_bytes
        self._pieces: list[bytes | bytearray] = []  # of a line that has begun; put together once, at its end
        self._size = 0
        self._head: bytes | None = None  # the start of a line that is being dropped; only its end is held then

    def feed(self, data: bytes) -> list[bytes | Oversized]:
        """The lines that ``data`` completes."""
        lines: list[bytes | Oversized] = []
        at = 0
        while (end := data.find(b"\n", at)) >= 0:
            if line := self._ended(data[at:end]):
                lines.append(line)
            at = end + 1
        if at < len(data):
            self._hold(data[at:])
        return lines

    def finish(self) -> list[bytes | Oversized]:
        """The last line, if the stream ended without a line feed."""
        last = self._ended(b"")
        return [last] if last else []

    def _hold(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._pieces and len(self._pieces[-1]) < _PIECE:
            self._pieces[-1] += piece
        else:
            self._pieces.append(piece if len(piece) >= _PIECE else bytearray(piece))
        if self._head is not None or self._size > self._max_bytes + 1:  # one more, for a carriage return
            held = b"".join(self._pieces)
            self._head = held[:HEAD] if self._head is None else self._head
            self._pieces = [bytearray(held[-TAIL:])]

    def _ended(self, piece: bytes) -> bytes | Oversized:
        """The line that ends with ``piece``, empty where it is to be skipped; the next one starts."""
        line, size, head = piece, len(piece), self._head
        if self._pieces:
            if piece:
                self._hold(piece)
            line, size, head = b"".join(self._pieces), self._size, self._head
            self._pieces, self._size, self._head = [], 0, None
        if line.endswith(b"\r"):
            line, size = line[:-1], size - 1
        if size > self._max_bytes:
            return Oversized(size, recover_id(line[:HEAD] if head is None else head, line[-TAIL:]))
        return line
