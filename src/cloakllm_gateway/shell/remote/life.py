"""One connection to an upstream over HTTP, from ``Connected`` to ``Disconnected``.

HTTP knows no connection of that kind.  It begins when the gateway is ready to
send, and ends when what was agreed in it is void: the session is over, or the
upstream can't be reached before it has answered anything.  A request that fails
later fails alone.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any, Final, NamedTuple

import anyio
import msgspec
from anyio.abc import TaskGroup

from cloakllm_gateway.core import texts
from cloakllm_gateway.core.events import Event, Overlong, Received, Send
from cloakllm_gateway.protocol import jsonrpc
from cloakllm_gateway.protocol.framing import Oversized
from cloakllm_gateway.protocol.jsonrpc import Failure, Id
from cloakllm_gateway.shell.logging import Logger
from cloakllm_gateway.shell.remote.client import Answer, Client, Unreachable
from cloakllm_gateway.shell.remote.sse import ServerEvent
from cloakllm_gateway.shell.remote.target import Target

CANCELLED: Final = "notifications/cancelled"

#: Bytes of the body of a refusal that are read for the JSON-RPC error it may be.
LONGEST_REFUSAL: Final = 1 << 20

#: What a status that will be the same next time means.
_HINTS: Final = {
    401: "check the credentials in its headers",
    403: "check the credentials in its headers",
    404: "check the path of its url, which often ends in /mcp",
    405: "check the path of its url, which often ends in /mcp",
    407: "check the credentials of the proxy",
    413: "the message is too large for it",
    429: "it has been asked too often",
}
_REDIRECTED: Final = "redirects are not followed, so its url has to be the final one"


class Outgoing(NamedTuple):
    """One message on its way: ``id`` is that of a request, ``subject`` the request that a cancellation is about.

    ``headers`` repeat parts of it, ``passed`` are a client's own.
    """

    line: bytes
    method: str = ""
    id: Id | None = None
    subject: Id | None = None
    headers: Mapping[str, str] = {}
    passed: Mapping[str, str] = {}

    @property
    def is_stateless(self) -> bool:
        """Whether it belongs to no session: only then the core repeats it in headers."""
        return bool(self.headers)


def outgoing(line: bytes, effect: Send) -> Outgoing:
    method = effect.message.get("method", "")
    params = effect.message.get("params") or {}
    return Outgoing(
        line,
        method,
        effect.message.get("id") if method else None,
        params.get("requestId") if method == CANCELLED else None,
        effect.headers,
        effect.passed,
    )


class Life:
    """What the ways to exchange messages share.

    ``heard`` is whether the upstream has answered anything yet, ``works``
    whether that was something other than a refusal.
    """

    def __init__(
        self,
        name: str,
        target: Target,
        client: Client,
        max_bytes: int,
        post: Callable[[Event], Awaitable[None]],
        logger: Logger,
        tasks: TaskGroup,
    ) -> None:
        self.name = name
        self.target = target
        self.client = client
        self.max_bytes = max_bytes
        self.tasks = tasks
        self.ended = anyio.Event()
        self.reason = ""
        self.is_final = False
        self.heard = self.works = False
        self._post = post
        self._logger = logger

    def end(self, reason: str, *, final: bool = False) -> None:
        """The first reason counts; it is a clause about the upstream."""
        if not self.ended.is_set():
            self.reason, self.is_final = reason, final
            self.ended.set()

    async def deliver(self, event: ServerEvent | Oversized, during: Id | None = None) -> None:
        """Tell the core what came in an event stream, that of the request ``during`` or one for all."""
        if isinstance(event, Oversized):
            await self._post(Overlong(self.name, event.id))
        elif event.kind == "message":
            await self.received(event.data, during)

    async def received(self, line: bytes, during: Id | None = None) -> None:
        await self._post(Received(self.name, line, during=during))

    async def overlong(self, message: Outgoing) -> None:
        await self._post(Overlong(self.name, message.id))

    async def failed(self, message: Outgoing, reason: str, *, sent: bool = True) -> None:
        """Nothing will answer ``message``: a request gets an error, and anything else is at least not silent."""
        if message.id is None:
            about = {"upstream": self.name, "method": message.method, "reason": reason}
            self._logger.log("warning", "message_not_delivered", **about)
            return
        text = f"The upstream {self.name} {reason}" + (f". {texts.MAY_HAVE_TAKEN_EFFECT}" if sent else "")
        await self.received(jsonrpc.encode(texts.error(message.id, message.method, jsonrpc.INTERNAL_ERROR, text)))

    async def unreachable(self, message: Outgoing, error: Unreachable) -> None:
        if self.heard:
            await self.failed(message, error.reason, sent=error.sent)
        else:
            self.end(error.reason)

    async def refused(self, message: Outgoing, status: int, error: dict[str, Any] | None) -> None:
        """Pass on why: the JSON-RPC error that the body was, else the status and nothing that a server wrote."""
        # What a server says to the handshake may be about the era, and not about the way there.
        is_about_era = status == HTTPStatus.BAD_REQUEST or (error or {}).get("code") == jsonrpc.METHOD_NOT_FOUND
        is_lost = message.method == "initialize" and not is_about_era
        if error is not None and message.id is not None and not (is_lost and status in _HINTS):
            await self.received(jsonrpc.encode({"jsonrpc": "2.0", "id": message.id, "error": error}))
        elif is_lost:
            self.end(meaning(status), final=status in (401, 403) or 300 <= status < 400)
        else:
            await self.failed(message, meaning(status), sent=status >= 500)


async def error_in(answer: Answer) -> dict[str, Any] | None:
    """The JSON-RPC error that the body of a refusal is; its id may be anything, since not every server can tell it."""
    if answer.kind != "application/json":
        return None
    try:
        body = await answer.body(LONGEST_REFUSAL)
        value = jsonrpc.decode(body or b"")
        message = jsonrpc.classify({**value, "id": None} if isinstance(value, dict) else value)
    except (Unreachable, jsonrpc.Malformed):
        return None
    return message.error if isinstance(message, Failure) else None


def meaning(status: int) -> str:
    """What an HTTP status says, as a clause about the upstream."""
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "which is none"
    hint = _REDIRECTED if 300 <= status < 400 else _HINTS.get(status, "")
    return f"answered with the HTTP status {status} ({phrase})" + (f": {hint}" if hint else "")


class _Head(msgspec.Struct):
    """Just enough of a message to see what it answers: the rest is skipped, not built."""

    id: Any = None
    method: Any = None


_HEADS = msgspec.json.Decoder(_Head)


def answers(line: bytes) -> Id | None:
    """The id of the request that ``line`` answers, None if it is no answer."""
    try:
        head = _HEADS.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return _answers_slowly(line)
    is_answer = head.method is None and (isinstance(head.id, str) or type(head.id) is int)
    return head.id if is_answer else None


def _answers_slowly(line: bytes) -> Id | None:
    """For what the fast decoder refuses, such as lone surrogates; a broken answer is one all the same."""
    try:
        message = jsonrpc.classify(jsonrpc.decode(line))
    except jsonrpc.Malformed as error:
        return error.id
    return message.id if isinstance(message, jsonrpc.Response | Failure) else None
