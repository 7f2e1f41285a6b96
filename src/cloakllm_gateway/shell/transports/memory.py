"""A client in the same process: for ``check``, for tests, and as the transport to copy from."""

from __future__ import annotations

from typing import Final

import anyio

from cloakllm_gateway.core.events import CLIENT, Received, Send
from cloakllm_gateway.shell.steps import Post

#: Messages on their way before a sender waits.
BACKLOG: Final = 64


class Memory:
    """Both ends of one connection: :meth:`run` and :meth:`send` are the gateway's, the others the client's."""

    def __init__(self) -> None:
        self._say, self._said = anyio.create_memory_object_stream[bytes](BACKLOG)
        self._tell, self._told = anyio.create_memory_object_stream[bytes](BACKLOG)

    async def run(self, post: Post) -> None:
        async with self._said:
            async for line in self._said:
                await post(Received(CLIENT, line))

    async def send(self, line: bytes, effect: Send) -> None:
        await self._tell.send(line)

    async def say(self, line: bytes) -> None:
        """The client sends a message."""
        await self._say.send(line)

    async def hear(self) -> bytes:
        """The client's next message."""
        return await self._told.receive()

    def leave(self) -> None:
        """The client closes its side."""
        self._say.close()
