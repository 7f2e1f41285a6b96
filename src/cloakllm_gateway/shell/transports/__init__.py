"""Ways for a client to reach the gateway."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Protocol

from cloakllm_gateway.core.events import Send
from cloakllm_gateway.shell.steps import Post


class Transport(Protocol):
    """One client, whatever it is connected by; messages are lines without their line feed."""

    async def run(self, post: Post) -> None:
        """Post an event for each message of the client, in order; return when it has left."""

    def send(self, line: bytes, effect: Send) -> Awaitable[None]:
        """Deliver one message, ``line`` being what ``effect`` says; the answer waits while the client does not read."""
