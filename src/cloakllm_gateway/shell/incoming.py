"""What every byte stream of a peer shares: chunks in, events out."""

from __future__ import annotations

from collections.abc import Sequence

from cloakllm_gateway.core.events import Overlong, Received
from cloakllm_gateway.protocol.framing import Lines, Oversized


class Incoming:
    """Turns the bytes of ``peer`` into events, one a line; a line over ``max_bytes`` becomes :class:`Overlong`."""

    def __init__(self, peer: str, max_bytes: int) -> None:
        self._peer = peer
        self._lines = Lines(max_bytes)

    def feed(self, data: bytes) -> list[Received | Overlong]:
        return self._events(self._lines.feed(data))

    def finish(self) -> list[Received | Overlong]:
        """The last line of a stream that ended without a line feed."""
        return self._events(self._lines.finish())

    def _events(self, lines: Sequence[bytes | Oversized]) -> list[Received | Overlong]:
        peer = self._peer
        return [Overlong(peer, line.id) if isinstance(line, Oversized) else Received(peer, line) for line in lines]
