"""One HTTP request as the server hands it over (ASGI 3), and the ways to answer it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, Final, TypeAlias

import anyio

from cloakllm_gateway.protocol import jsonrpc
from cloakllm_gateway.protocol.jsonrpc import INVALID_REQUEST, Id

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]

JSON: Final = "application/json"
EVENT_STREAM: Final = "text/event-stream"

#: Seconds without a byte of a body, or without room for one of an answer, after which a client is given up.
STALLED: Final = 60.0
#: Bytes handed to the server at once.
CHUNK: Final = 262_144


class Refusal(Exception):
    """The request is not served: an HTTP status, and a JSON-RPC error that says why.

    The text is a fixed one: nothing of a request is ever repeated in it.
    """

    def __init__(
        self,
        status: int,
        text: str,
        *,
        code: int = INVALID_REQUEST,
        data: Any = None,
        id: Id | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(status, text)
        self.status = status
        self.text = text
        self.code = code
        self.data = data
        self.id = id
        self.headers = headers or {}


class Stalled(Exception):
    """The client neither reads nor leaves."""


class Http:
    """A request with its response; ``streaming`` once that is an event stream, ``complete`` once it is all written."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.method: str = scope["method"]
        self.path: bytes = scope["raw_path"]
        #: Where it comes from, for counting: the address without the port.
        self.peer: str = scope["client"][0] if scope.get("client") else ""
        self._headers: list[tuple[bytes, bytes]] = scope["headers"]
        self._receive = receive
        self._send = send
        self.streaming = False
        self.complete = False

    # -- the request -----------------------------------------------------------------------------------

    def header(self, name: str) -> str | None:
        """The one value of a header (its name in lower case), without spaces around it.

        Raises :class:`Refusal` where it comes twice: two readers could believe different ones.
        """
        values = self._values(name)
        if len(values) > 1:
            raise Refusal(400, f"The header {name} comes twice")
        return values[0] if values else None

    def header_list(self, name: str) -> str | None:
        """The values of a header that is a list, which may come in several lines (RFC 9110, 5.3)."""
        return ", ".join(self._values(name)) or None

    def _values(self, name: str) -> list[str]:
        wanted = name.encode("ascii")
        return [value.decode("latin-1").strip() for key, value in self._headers if key == wanted]

    def headers(self, prefix: str) -> dict[str, str]:
        """All headers whose name begins with ``prefix``.  Raises :class:`Refusal` where one comes twice."""
        wanted = prefix.encode("ascii")
        names = [key.decode("latin-1") for key, _ in self._headers if key.startswith(wanted)]
        return {name: self.header(name) or "" for name in names}

    async def body(self, limit: int) -> bytes:
        """All of the body.  Raises :class:`Refusal` for one of more than ``limit`` bytes, or that stops coming."""
        too_large = Refusal(
            413,
            f"The message is larger than {limit} bytes (limits.max_message_bytes)",
            headers={"connection": "close"},
        )
        announced = self.header("content-length")
        if announced is not None and int(announced) > limit:
            raise too_large
        parts: list[bytes] = []
        size = 0
        while True:
            try:
                with anyio.fail_after(STALLED):
                    message = await self._receive()
            except TimeoutError:
                raise Refusal(408, "The body did not come in time", headers={"connection": "close"}) from None
            if message["type"] == "http.disconnect":
                raise Refusal(400, "The body was not sent to its end")
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > limit:
                raise too_large
            if not message.get("more_body"):
                return b"".join(parts)

    async def left(self) -> None:
        """Wait until the client has left, or has all of the response; for after the body was read."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    # -- the response ----------------------------------------------------------------------------------

    async def respond(self, status: int, body: bytes = b"", headers: Mapping[str, str] | None = None) -> None:
        """A whole response at once."""
        kind = {"content-type": JSON} if body else {}
        await self._start(status, {**kind, "content-length": str(len(body)), **(headers or {})})
        await self.write(body, last=True)

    async def refuse(self, refusal: Refusal) -> None:
        error = jsonrpc.failure(refusal.id, refusal.code, refusal.text, refusal.data)
        await self.respond(refusal.status, jsonrpc.encode(error), refusal.headers)

    async def begin_stream(self, headers: Mapping[str, str] | None = None) -> None:
        """The head of an event stream; proxies are asked not to collect it."""
        kind = {"content-type": EVENT_STREAM, "cache-control": "no-cache, no-transform", "x-accel-buffering": "no"}
        await self._start(200, {**kind, **(headers or {})})
        self.streaming = True

    async def write(self, data: bytes, *, last: bool = False) -> None:
        """A part of the response; waits while the client does not read.  Raises :class:`Stalled`."""
        end = max(len(data), 1)
        try:
            for at in range(0, end, CHUNK):
                more = not last or at + CHUNK < end
                with anyio.fail_after(STALLED):
                    await self._send({"type": "http.response.body", "body": data[at : at + CHUNK], "more_body": more})
        except TimeoutError:
            raise Stalled from None
        self.complete = last

    async def _start(self, status: int, headers: Mapping[str, str]) -> None:
        # What holds personal data, or may say whether there is any, is for nobody to keep or to look at.
        fixed = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
        pairs = [(name.encode("ascii"), value.encode("latin-1")) for name, value in {**fixed, **headers}.items()]
        await self._send({"type": "http.response.start", "status": status, "headers": pairs})
