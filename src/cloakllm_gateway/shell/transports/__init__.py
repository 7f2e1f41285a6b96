"""Ways for a client to reach the gateway."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from cloakllm_gateway.core.events import Event, Send


class Transport(Protocol):
    """One client, whatever it is connected by; messages are lines without their line feed."""

    async def run(self, post: Callable[[Event], Awaitable[None]]) -> None:
        """Post an event for each message of the client, in order; return when it has left."""

    async def send(self, line: bytes, effect: Send) -> None:
        """Deliver one message, ``line`` being what ``effect`` says; waits while the client does not read."""
