"""What every byte stream of a peer shares: chunks in, events out."""

from __future__ import annotations

from collections.abc import Iterator

from cloakllm_gateway.core.events import Overlong, Received
from cloakllm_gateway.protocol.framing import Lines, Oversized


class Incoming:
    """Turns the bytes of ``peer`` into events, one a line; a line over ``max_bytes`` becomes :class:`Overlong`."""

    def __init__(self, peer: str, max_bytes: int) -> None:
        self._peer = peer
        self._lines = Lines(max_bytes)

    def feed(self, data: bytes) -> Iterator[Received | Overlong]:
        return map(self._event, self._lines.feed(data))

    def finish(self) -> Iterator[Received | Overlong]:
        """The last line of a stream that ended without a line feed."""
        return map(self._event, self._lines.finish())

    def _event(self, line: bytes | Oversized) -> Received | Overlong:
        return Overlong(self._peer, line.id) if isinstance(line, Oversized) else Received(self._peer, line)
