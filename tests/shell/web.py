"""A server that says over HTTP exactly the bytes it is told to, and keeps what it was sent.

It runs in the loop of the test.  It knows requests and nothing else of HTTP, so
that it can answer in ways no framework would.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple

import anyio
from anyio.abc import SocketStream
from anyio.streams.tls import TLSStream

from tests.patience import PATIENCE

CLOSED = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError)

#: How TLS begins, where it is spoken to a server that does not.
TLS_HELLO = b"\x16\x03"


class Asked(NamedTuple):
    """One request; the names of ``headers`` are in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def message(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self.body)
        return message

    @property
    def rpc(self) -> str:
        return str(self.message.get("method", "")) if self.body else ""


class Answering:
    """The connection a request came on, to answer it."""

    def __init__(self, stream: SocketStream | TLSStream, asked: Asked) -> None:
        self.stream = stream
        self.asked = asked

    async def raw(self, *pieces: bytes) -> None:
        """Bytes as they are, one piece a write."""
        for piece in pieces:
            await self.stream.send(piece)

    async def respond(self, status: int = 200, kind: str = "", body: bytes = b"", **headers: str) -> None:
        """One whole response."""
        said = {"content-type": kind, "content-length": str(len(body))} | headers
        lines = [f"{name.replace('_', '-')}: {value}" for name, value in said.items() if value]
        await self.raw("\r\n".join([f"HTTP/1.1 {status} X", *lines, "", ""]).encode() + body)

    async def json(self, value: Any, status: int = 200, **headers: str) -> None:
        await self.respond(status, "application/json", json.dumps(value).encode(), **headers)

    async def result(self, result: Any, **headers: str) -> None:
        """The answer to a JSON-RPC request."""
        await self.json({"jsonrpc": "2.0", "id": self.asked.message["id"], "result": result}, **headers)

    async def stream_begins(self, **headers: str) -> None:
        """An event stream, ended by the end of the connection."""
        said = {"content-type": "text/event-stream", "connection": "close"} | headers
        lines = [f"{name.replace('_', '-')}: {value}" for name, value in said.items()]
        await self.raw("\r\n".join(["HTTP/1.1 200 OK", *lines, "", ""]).encode())

    async def event(self, value: Any, id: str = "") -> None:
        await self.raw((f"id: {id}\n" if id else "").encode() + f"data: {json.dumps(value)}\n\n".encode())

    async def closed(self) -> None:
        """Wait until the other side is gone."""
        with suppress(*CLOSED):
            while True:
                await self.stream.receive()


Script = Callable[[Answering], Awaitable[None]]


class Web:
    """A running server: where it is, and what it was asked so far."""

    def __init__(self, port: int, scheme: str) -> None:
        self.port = port
        self.url = f"{scheme}://127.0.0.1:{port}/mcp"
        self.asked: list[Asked] = []
        self.connections = self.open = 0
        self._changed = anyio.Event()

    def note(self, asked: Asked) -> None:
        self.asked.append(asked)
        self._changed.set()
        self._changed = anyio.Event()

    async def until(self, wanted: Callable[[Asked], bool], times: int = 1) -> Asked:
        """The request that is ``wanted``, once it has come so often."""
        with anyio.fail_after(PATIENCE):
            while len(found := [asked for asked in self.asked if wanted(asked)]) < times:
                await self._changed.wait()
        return found[times - 1]


@asynccontextmanager
async def web(script: Script, tls: ssl.SSLContext | None = None) -> AsyncIterator[Web]:
    """A server on loopback whose every request is answered by ``script``."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    served = Web(listener.extra(anyio.abc.SocketAttribute.local_port), "https" if tls else "http")

    async def serve(stream: SocketStream) -> None:
        served.connections += 1
        served.open += 1
        wrapped: SocketStream | TLSStream = stream
        with suppress(*CLOSED, ssl.SSLError, OSError):
            if tls is not None:
                wrapped = await TLSStream.wrap(stream, ssl_context=tls, standard_compatible=False)
            async with wrapped:
                while (asked := await _request(wrapped)) is not None:
                    served.note(asked)
                    answering = Answering(wrapped, asked)
                    await script(answering)
        served.open -= 1

    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, serve)
        yield served
        tasks.cancel_scope.cancel()


async def _request(stream: SocketStream | TLSStream) -> Asked | None:
    """The next request on a connection; None at its end."""
    data = b""
    while b"\r\n\r\n" not in data:
        try:
            data += await stream.receive()
        except CLOSED:
            return None
        if data.startswith(TLS_HELLO):
            await stream.send(b"HTTP/1.1 400 X\r\n\r\n")
            return None
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _version = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", 0)):
        body += await stream.receive()
    return Asked(method, path, headers, body)
