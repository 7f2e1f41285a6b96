"""What the interpreter needs of the way to one upstream, whatever it is connected by."""

from __future__ import annotations

from typing import Protocol

from cloakllm_gateway.core.events import Send


class Link(Protocol):
    """One upstream: from ``Connected`` to ``Disconnected`` it delivers ``Received`` events, in order."""

    async def run(self) -> None:
        """Keep the upstream connected until cancelled or given up."""

    def send(self, line: bytes, effect: Send) -> None:
        """Hand over one message, ``line`` being what ``effect`` says; never waits for the upstream."""

    def drop(self, reason: str) -> None:
        """End the connection; it is made again like after a crash."""

    def noise(self, line: bytes) -> None:
        """Log a line that is no message, once it is clean."""
