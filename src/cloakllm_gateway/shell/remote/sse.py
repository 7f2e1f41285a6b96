"""Server-sent events: the bytes of a stream to its events, however they are cut.

Source: the HTML standard, section 9.2.6.  An event may be as large as a message
may be; a larger one is not held but dropped as it arrives, and reported once.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from msgspec import Struct

from cloakllm_gateway.protocol.framing import Oversized
from cloakllm_gateway.protocol.jsonrpc import HEAD, TAIL, recover_id

#: Bytes of a field's name, colon and blank that do not count for the size of its event.
_NAME: Final = 16

#: Bytes of an event's id: it is sent back in a header.
_LONGEST_ID: Final = 1024

#: Some servers begin what they say with it.
BOM: Final = b"\xef\xbb\xbf"


class ServerEvent(NamedTuple):
    """One event; ``kind`` is ``message`` unless the server said otherwise."""

    kind: str
    data: bytes


class Cursor(Struct):
    """How to go on where a stream breaks off: behind the event ``id``, after ``retry`` seconds; None if not said."""

    id: str | None = None
    retry: float | None = None


class Events:
    """Cuts a stream into events, in time linear in its bytes, and moves ``cursor`` with them."""

    def __init__(self, max_bytes: int, cursor: Cursor) -> None:
        self._max_bytes = max_bytes
        self._cursor = cursor
        self._line = bytearray()
        self._data = bytearray()
        self._line_size = self._size = 0  # of the line and of the data before it, held or dropped
        self._head: bytes | None = None  # the beginning of data that is being dropped
        self._kind = b""
        self._id: bytes | None = None
        self._first = True
        self._after_return = False

    def feed(self, chunk: bytes) -> list[ServerEvent | Oversized]:
        """The events that ``chunk`` completes; those without data are not told."""
        if self._after_return and chunk.startswith(b"\n"):
            chunk, self._after_return = chunk[1:], False
        if chunk:
            self._after_return = chunk.endswith(b"\r")
        *ended, rest = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        events: list[ServerEvent | Oversized] = []
        for piece in ended:
            self._hold(piece)
            events += self._end_line()
        self._hold(rest)
        return events

    def _hold(self, piece: bytes) -> None:
        self._line += piece
        self._line_size += len(piece)
        if self._head is None and self._size + self._line_size > self._max_bytes + _NAME:
            self._head = bytes(self._data + _content(self._line))[:HEAD]
            self._data.clear()
        if self._head is not None:
            del self._line[_NAME:-TAIL]

    def _end_line(self) -> list[ServerEvent | Oversized]:
        line, size = bytes(self._line), self._line_size
        self._line.clear()
        self._line_size = 0
        if self._first:
            line, self._first = line.removeprefix(BOM), False
        if not line:
            return self._dispatch()
        value = _content(line)
        match line.partition(b":")[0]:
            case b"data":
                self._data += value + b"\n"
                self._size += size - len(line) + len(value) + 1
                if self._head is not None:
                    del self._data[: -TAIL - 1]
            case b"event":
                self._kind = value
            case b"id" if len(value) <= _LONGEST_ID and _can_be_sent(value):
                self._id = value
            case b"retry" if value.isdigit() and len(value) < 10:
                self._cursor.retry = int(value) / 1000
        return []

    def _dispatch(self) -> list[ServerEvent | Oversized]:
        data, kind, head, size = bytes(self._data[:-1]), self._kind, self._head, self._size
        self._data.clear()
        self._kind, self._head, self._size = b"", None, 0
        if self._id is not None:
            self._cursor.id = self._id.decode("utf-8", "replace")
        if head is not None or len(data) > self._max_bytes:
            return [Oversized(size - 1, recover_id(data[:HEAD] if head is None else head, data[-TAIL:]))]
        return [ServerEvent(kind.decode("utf-8", "replace") or "message", data)] if data else []


def _can_be_sent(id: bytes) -> bool:
    """Whether a header could carry it (RFC 9110, 5.5)."""
    return id == id.strip(b" ") and not any(byte < 0x20 or byte == 0x7F for byte in id)


def _content(line: bytes | bytearray) -> bytes:
    """What stands behind the colon, without one blank."""
    return bytes(line).partition(b":")[2].removeprefix(b" ")
