"""HTTP+SSE of 2024-11-05: one stream for all that the server says, and an address to POST messages to.

The stream names that address, and it is believed only on the origin that the
configuration names: a server must not have messages sent elsewhere.

Source: MCP 2024-11-05, *Transports*.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urljoin

import anyio

from cloakllm_gateway.shell.remote.client import CONNECT, Answer, Unreachable
from cloakllm_gateway.shell.remote.life import Life, Outgoing, error_in, meaning
from cloakllm_gateway.shell.remote.sse import Cursor, Events, ServerEvent
from cloakllm_gateway.shell.remote.target import Address, address_of
from cloakllm_gateway.shell.structs import Invalid

#: Bytes of the address that a server names.
_LONGEST: Final = 4096


class Legacy:
    """The exchange of messages with one server, from :meth:`open` until its stream ends."""

    def __init__(self, life: Life) -> None:
        self._life = life
        self._endpoint: Address | None = None
        self._opened = anyio.Event()
        self._problem = "named no address for messages in time"

    async def open(self) -> None:
        """Begin to listen, and wait for the address to send to.  Raises :class:`Unreachable`."""
        self._life.tasks.start_soon(self._listen)
        with anyio.move_on_after(CONNECT):
            await self._opened.wait()
        if self._endpoint is None:
            raise Unreachable(self._problem, sent=False)

    async def exchange(self, message: Outgoing, left: anyio.Event) -> None:
        """Send one message; its answer comes on the stream.  ``left`` is set once it has been written."""
        assert self._endpoint is not None
        headers = {**message.passed, "Content-Type": "application/json"}
        post = self._life.client.request("POST", self._endpoint, headers, message.line, left.set)
        try:
            async with post as answer:
                if not 200 <= answer.status < 300:
                    await self._life.refused(message, answer.status, await error_in(answer))
        except Unreachable as error:
            await self._life.unreachable(message, error)

    async def close(self) -> None:
        """Nothing to say: the end of the stream is the end."""

    async def _listen(self) -> None:
        """Deliver what comes; the end of the stream is the end of the connection."""
        get = self._life.client.request("GET", self._life.target.address, {"Accept": "text/event-stream"})
        try:
            async with get as answer:
                if answer.status == 200 and answer.kind == "text/event-stream":
                    await self._hear(answer)
                    self._problem = "closed its stream"
                else:
                    self._problem = meaning(answer.status)
        except Unreachable as error:
            self._problem = error.reason
        self._opened.set()
        if self._endpoint is not None:
            self._life.end(self._problem)

    async def _hear(self, answer: Answer) -> None:
        events = Events(self._life.max_bytes, Cursor())
        async for chunk in answer.chunks():
            for event in events.feed(chunk):
                if isinstance(event, ServerEvent) and event.kind == "endpoint":
                    self._learn(event.data)
                else:
                    await self._life.deliver(event)

    def _learn(self, named: bytes) -> None:
        """The first address counts, if it is on the server's own origin; another would redirect what is sent."""
        if self._opened.is_set():
            return
        self._life.heard = self._life.works = True
        self._endpoint = _within(self._life.target.address, named)
        if self._endpoint is None:
            self._problem = "named an address for messages that is not its own"
        self._opened.set()


def _within(base: Address, named: bytes) -> Address | None:
    """The address that ``named`` means, None if it is of another origin, or none."""
    if len(named) > _LONGEST:
        return None
    host = f"[{base.host}]" if ":" in base.host else base.host
    try:
        text = urljoin(f"{base.scheme}://{host}:{base.port}{base.path}", named.decode())
        address = address_of(text, "endpoint")
    except (Invalid, ValueError):
        return None
    return address if address.origin == base.origin else None
