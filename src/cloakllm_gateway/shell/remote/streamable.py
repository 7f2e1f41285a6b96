"""Streamable HTTP, both eras: each message is a POST, answered with JSON or with a stream of events.

A request of the session era carries the id of its session and the version that
was agreed on, which are read off the answer to ``initialize``; what the server
says unasked comes on a stream of its own, and a stream that breaks is resumed.
A stateless request stands alone: it carries what the core put into its headers,
and taking it back means closing its stream.

Sources: MCP 2025-03-26 to 2026-07-28, *Transports*.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, aclosing
from http import HTTPStatus
from typing import Final

import anyio

from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.protocol import jsonrpc
from cloakllm_gateway.protocol.framing import Oversized
from cloakllm_gateway.protocol.headers import VERSION
from cloakllm_gateway.shell.remote.client import Answer, Unreachable
from cloakllm_gateway.shell.remote.life import CANCELLED, Life, Outgoing, answers, error_in
from cloakllm_gateway.shell.remote.sse import BOM, Cursor, Events, ServerEvent

SESSION: Final = "Mcp-Session-Id"
JSON: Final = "application/json"
STREAM: Final = "text/event-stream"

#: Seconds that a server has to end a stream after the answer, so that its connection can be used again.
LAST_WORDS: Final = 0.5

#: Seconds before a broken stream is resumed where the server did not say, at least, and at most.
RESUME: Final = 1.0
SOONEST: Final = 0.05
LATEST: Final = 30.0

#: Attempts in a row to resume a stream of which nothing came.
ATTEMPTS: Final = 5

SESSION_OVER: Final = "ended the session"

_SESSION_ID = lazy(r"[\x21-\x7e]{1,1024}")
_VERSION = lazy(r"[0-9A-Za-z.-]{1,64}")


class NotStreamable(Exception):
    """The upstream refused the handshake as one that speaks the older HTTP+SSE would."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class Streamable:
    """The exchange of messages with one server; there is nothing to open."""

    def __init__(self, life: Life) -> None:
        self._life = life
        self._session: str | None = None
        self._version: str | None = None  # that was agreed on; None before, and in the stateless era
        self._is_listening = False  # on a stream for what belongs to no request

    async def exchange(self, message: Outgoing, left: anyio.Event) -> None:
        """Send one message and deliver all that comes in answer; ``left`` is set once it has been written.

        Raises :class:`NotStreamable`.
        """
        if message.method == CANCELLED and self._version is None:
            return  # what it is about was stateless, and has been closed
        cursor = Cursor()
        post = self._life.client.request(
            "POST", self._life.target.address, self._headers(message), message.line, left.set
        )
        try:
            async with post as answer:
                self._life.heard = True
                done = await self._take(message, answer, cursor)
        except Unreachable as error:
            await self._life.unreachable(message, error)
            return
        if not done:
            await self._resume(message, cursor)

    async def close(self) -> None:
        """Tell the server that its session is not needed any more."""
        if self._session is None:
            return
        try:
            async with self._life.client.request("DELETE", self._life.target.address, self._session_headers()):
                pass
        except Unreachable:
            pass  # it has forgotten already, or will

    def _headers(self, message: Outgoing) -> dict[str, str]:
        headers = {**message.passed, "Content-Type": JSON, "Accept": f"{JSON}, {STREAM}"}
        if message.is_stateless:
            return {**headers, **message.headers}
        return headers if message.method == "initialize" else {**headers, **self._session_headers()}

    def _session_headers(self) -> dict[str, str]:
        said = {SESSION: self._session, VERSION: self._version}
        return {name: value for name, value in said.items() if value is not None}

    # -- the answer to a POST ----------------------------------------------------------------------

    async def _take(self, message: Outgoing, answer: Answer, cursor: Cursor) -> bool:
        """Deliver what ``answer`` holds; False where a stream broke off before the answer to the request."""
        if not 200 <= answer.status < 300:
            await self._refused(message, answer)
            return True
        self._life.works = True
        if message.method == "initialize":
            said = answer.headers.get(SESSION.lower(), "")
            self._session = said if _SESSION_ID.fullmatch(said) else None
        if message.method == "notifications/initialized":
            self._life.tasks.start_soon(self._listen)
        if message.id is None or (answer.status == HTTPStatus.ACCEPTED and self._is_listening):
            return True  # some servers answer requests on the standing stream
        if answer.kind == STREAM:
            return await self._follow(message, answer, cursor)
        if answer.kind == JSON:
            await self._take_json(message, answer)
        else:
            await self._life.failed(message, "answered with something that is neither JSON nor a stream of events")
        return True

    async def _take_json(self, message: Outgoing, answer: Answer) -> None:
        body = await answer.body(self._life.max_bytes)
        if body is None:
            await self._life.overlong(message)
        elif not await self._deliver(message, ServerEvent("message", body.removeprefix(BOM))):
            await self._life.failed(message, "answered with something that is not the answer")

    async def _refused(self, message: Outgoing, answer: Answer) -> None:
        if not message.is_stateless and (self._is_over(answer) or await self._is_forgotten(answer)):
            await self._life.failed(
                message, f"{SESSION_OVER} and did nothing about this request: send it again", sent=False
            )
            self._life.end(SESSION_OVER)
            return
        error = await error_in(answer)
        if error is None and message.method == "initialize" and answer.status in (400, 404, 405):
            raise NotStreamable(answer.status)
        await self._life.refused(message, answer.status, error)

    def _is_over(self, answer: Answer) -> bool:
        return answer.status == HTTPStatus.NOT_FOUND and self._session is not None

    async def _is_forgotten(self, answer: Answer) -> bool:
        """Whether a 400 is about the session: many servers say that of one they don't know, where 404 is due.

        Then a ping meets the same.
        """
        if answer.status != HTTPStatus.BAD_REQUEST or self._session is None:
            return False
        ping = Outgoing(jsonrpc.encode(jsonrpc.request("gateway-ping", "ping")), "ping", "gateway-ping")
        try:
            async with self._life.client.request(
                "POST", self._life.target.address, self._headers(ping), ping.line
            ) as echo:
                return echo.status in (HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND)
        except Unreachable:
            return False

    # -- streams -----------------------------------------------------------------------------------

    async def _follow(self, message: Outgoing, answer: Answer, cursor: Cursor) -> bool:
        """Deliver the events of a stream up to the answer to ``message``; False if it ends before."""
        events = Events(self._life.max_bytes, cursor)
        try:
            async with aclosing(answer.chunks()) as chunks:
                async for chunk in chunks:
                    for event in events.feed(chunk):
                        if await self._deliver(message, event):
                            with anyio.move_on_after(LAST_WORDS):
                                async for _ in chunks:
                                    pass
                            return True
        except Unreachable:
            pass  # a stream that breaks is one that ends
        return False

    async def _deliver(self, message: Outgoing, event: ServerEvent | Oversized) -> bool:
        """Tell the core; whether this was the answer to ``message``."""
        if isinstance(event, Oversized):
            is_answer = event.id is not None and event.id == message.id
        else:
            is_answer = event.kind == "message" and message.id is not None and answers(event.data) == message.id
            if is_answer and message.method == "initialize":
                self._version = _agreed(event.data)
        await self._life.deliver(event, message.id)
        return is_answer

    async def _resume(self, message: Outgoing, cursor: Cursor) -> None:
        """Get the rest of a stream that broke off, as often as something comes of it."""
        failures = 0
        while cursor.id is not None and failures < ATTEMPTS and not message.is_stateless:
            last = cursor.id
            await anyio.sleep(_pause(cursor, failures))
            try:
                async with self._get(cursor) as answer:
                    if self._is_over(answer):
                        self._life.end(SESSION_OVER)
                        return
                    if not _is_stream(answer):
                        break
                    if await self._follow(message, answer, cursor):
                        return
            except Unreachable:
                pass  # perhaps the next time
            failures = 0 if cursor.id != last else failures + 1
        await self._life.failed(message, "ended its stream before the answer")

    async def _listen(self) -> None:
        """Deliver what the server says unasked, for as long as it offers a stream for that."""
        cursor, failures, has_opened = Cursor(), 0, False
        while True:
            try:
                async with self._get(cursor) as answer:
                    if _is_stream(answer):
                        self._is_listening, has_opened, failures = True, True, 0
                        await self._overhear(answer, cursor)
                    elif has_opened and self._is_over(answer):
                        self._life.end(SESSION_OVER)
                    elif answer.status < HTTPStatus.INTERNAL_SERVER_ERROR:
                        self._is_listening = False
                        return  # it has none
            except Unreachable:
                pass  # perhaps the next time
            failures += 1
            await anyio.sleep(_pause(cursor, failures - 1))

    async def _overhear(self, answer: Answer, cursor: Cursor) -> None:
        events = Events(self._life.max_bytes, cursor)
        async for chunk in answer.chunks():
            for event in events.feed(chunk):
                await self._life.deliver(event)

    def _get(self, cursor: Cursor) -> AbstractAsyncContextManager[Answer]:
        headers = {"Accept": STREAM, **self._session_headers()}
        if cursor.id is not None:
            headers["Last-Event-ID"] = cursor.id
        return self._life.client.request("GET", self._life.target.address, headers)


def _is_stream(answer: Answer) -> bool:
    return answer.status == HTTPStatus.OK and answer.kind == STREAM


def _pause(cursor: Cursor, failures: int) -> float:
    """Seconds before a stream is asked for again: what the server said, and more each time that nothing came."""
    asked = RESUME if cursor.retry is None else max(cursor.retry, SOONEST)
    return max(asked, min(RESUME * 2.0**failures, LATEST)) if failures else asked


def _agreed(line: bytes) -> str | None:
    """The protocol version that the answer to ``initialize`` names."""
    try:
        result = jsonrpc.decode(line).get("result")
    except jsonrpc.Malformed:
        return None
    version = result.get("protocolVersion") if isinstance(result, dict) else None
    return version if isinstance(version, str) and _VERSION.fullmatch(version) else None
