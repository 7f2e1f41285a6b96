"""The one endpoint, as an ASGI application: what an HTTP request is, and which channel it belongs to.

Source: MCP 2025-11-25 and 2026-07-28, transports, Streamable HTTP.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

import anyio
import anyio.to_thread

from cloakllm_gateway.core import reception
from cloakllm_gateway.protocol import eras, jsonrpc
from cloakllm_gateway.protocol.jsonrpc import Limits, Malformed, Message, Notification, Request
from cloakllm_gateway.shell.front import gate
from cloakllm_gateway.shell.front.asgi import Http, Receive, Refusal, Scope, Send, Stalled
from cloakllm_gateway.shell.front.channels import STATUSES, Channel, Exchange, SessionChannel
from cloakllm_gateway.shell.front.delivery import Form, deliver, until_left
from cloakllm_gateway.shell.front.gate import Rules
from cloakllm_gateway.shell.front.hub import Hub
from cloakllm_gateway.shell.front.streams import KEEP_ALIVE

SESSION: Final = "mcp-session-id"
VERSION: Final = "mcp-protocol-version"
LAST_EVENT: Final = "last-event-id"
#: From this revision on a stream begins with an event that holds nothing but an id.
PRIMING: Final = "2025-11-25"
#: Seconds that an answer of a session may take before its client gets an id to come back with, should it have to.
SOON: Final = 1.0
#: Bytes of a message from which it is decoded in a thread.
LARGE: Final = 65_536


class Posted(NamedTuple):
    """One message as it came."""

    line: bytes
    whole: Mapping[str, Any]
    message: Message


class Endpoint:
    """``identify`` names the principal of a request, or raises :class:`Refusal`."""

    def __init__(self, rules: Rules, identify: Callable[[Http], str], hub: Hub, limits: Limits) -> None:
        self._rules = rules
        self._identify = identify
        self._hub = hub
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        http = Http(scope, receive, send)
        try:
            await self._serve(http)
        except Refusal as refusal:
            await http.refuse(refusal)
        except Stalled:
            return  # the server closes a connection whose response has no end

    async def _serve(self, http: Http) -> None:
        gate.admit(http, self._rules)
        principal = self._identify(http)
        if self._hub.closing:
            raise Refusal(503, "The gateway is shutting down")
        match http.method:
            case "POST":
                gate.check_form(http)
                await self._post(http, principal)
            case "GET":
                await self._get(http, principal)
            case _:
                self._session(http, principal).end()
                await http.respond(204)

    # -- POST ------------------------------------------------------------------------------------------

    async def _post(self, http: Http, principal: str) -> None:
        posted = await self._posted(http)
        if self._is_stateless(http, posted.message):
            await self._post_stateless(http, principal, posted)
        else:
            await self._post_session(http, principal, posted)

    async def _posted(self, http: Http) -> Posted:
        """The message in the body.  Raises :class:`Refusal`."""
        line = await http.body(self._limits.max_bytes)
        try:
            if len(line) > LARGE:
                return await anyio.to_thread.run_sync(self._decoded, line)
            return self._decoded(line)
        except Malformed as error:
            raise Refusal(400, str(error), code=error.code, id=error.id) from None

    def _decoded(self, line: bytes) -> Posted:
        whole = jsonrpc.decode(line, self._limits)
        return Posted(line, whole, jsonrpc.classify(whole))

    def _is_stateless(self, http: Http, message: Message) -> bool:
        """The header decides; without one of the stateless era, the message does."""
        version = http.header(VERSION)
        if version is not None and version not in eras.SESSION_VERSIONS:
            return True
        return isinstance(message, Request) and eras.is_stateless(message.method, message.params)

    async def _post_session(self, http: Http, principal: str, posted: Posted) -> None:
        message = posted.message
        if isinstance(message, Request) and message.method == "initialize" and http.header(SESSION) is None:
            await self._begin_session(http, principal, message, posted.line)
            return
        channel = self._session(http, principal)
        with channel:
            if isinstance(message, Request):
                await _ask_session(http, channel, message, posted.line, gate.passed(http, self._rules))
                return
            if isinstance(message, Notification):
                await channel.tell(message, posted.line)
            else:
                await channel.reply(posted.line)
        await http.respond(202)

    async def _begin_session(self, http: Http, principal: str, request: Request, line: bytes) -> None:
        channel = self._hub.new_session(principal)
        with channel:
            exchange = await _ask_session(http, channel, request, line, {}, {SESSION: channel.id})
        if exchange.failed or exchange.lost:
            channel.end()  # nobody knows its id, or has a use for it

    async def _post_stateless(self, http: Http, principal: str, posted: Posted) -> None:
        message = posted.message
        if isinstance(message, Notification):
            # A client takes a request back by closing its response; which one an id would mean here, nobody knows.
            await http.respond(202)
            return
        if not isinstance(message, Request):
            raise Refusal(400, "Servers of this revision ask nothing, so there is nothing to answer")
        headers = http.headers("mcp-")
        if fault := reception.fault(eras.Era.STATELESS, message, headers):
            # Before there is a core, and upstreams with it, for a request that says too little.
            status = STATUSES.get(fault.code, 400)
            raise Refusal(status, fault.text, code=fault.code, data=fault.data, id=message.id)
        passed = gate.passed(http, self._rules)
        channel = self._hub.stateless(principal)
        with channel:
            exchange = await channel.ask(message, posted.whole, headers, passed)
            try:
                await until_left(http, partial(_answer, http, channel, exchange, Form()))
            finally:
                with anyio.CancelScope(shield=True):
                    await channel.left(exchange)

    def _session(self, http: Http, principal: str) -> SessionChannel:
        """The session a request names.  Raises :class:`Refusal`."""
        id = http.header(SESSION)
        if id is None:
            raise Refusal(400, "The header Mcp-Session-Id is missing: begin with initialize")
        return self._hub.session(principal, id)

    # -- GET -------------------------------------------------------------------------------------------

    async def _get(self, http: Http, principal: str) -> None:
        version = http.header(VERSION)
        if version is not None and version not in eras.SESSION_VERSIONS:
            raise Refusal(405, "There is nothing to get in this revision", headers={"allow": "POST"})
        gate.check_reader(http)
        channel = self._session(http, principal)
        last = http.header(LAST_EVENT)
        number, stream, after = channel.standing_number, channel.standing, None
        if last is not None:
            number, stream, after = channel.resumed(last)
        form = Form(event_id=partial(channel.event_id, number), streamed=True)
        with channel:
            await until_left(http, partial(deliver, http, stream.follow(after), form))


async def _ask_session(
    http: Http,
    channel: SessionChannel,
    request: Request,
    line: bytes,
    passed: Mapping[str, str],
    headers: Mapping[str, str] | None = None,
) -> Exchange:
    exchange = await channel.ask(request, line, passed)
    form = Form(
        headers=headers or {},
        event_id=partial(channel.event_id, exchange.number),
        primed=(http.header(VERSION) or "") >= PRIMING,
        streamed=gate.prefers_stream(http),
    )
    try:
        await until_left(http, partial(_answer, http, channel, exchange, form, SOON))
    finally:
        channel.left(exchange, may_return=http.streaming, answered=http.complete)
    return exchange


async def _answer(http: Http, channel: Channel, exchange: Exchange, form: Form, patience: float = KEEP_ALIVE) -> None:
    """The response to a request, which is a stream from when nothing has come for ``patience`` seconds.

    Raises :class:`Refusal` where there is none, because the session is over.
    """
    await deliver(http, exchange.stream.follow(patience=patience), form)
    if http.complete:
        return
    if not exchange.withdrawn:
        raise channel.refusal(exchange.id)
    await http.begin_stream(form.headers)  # the client waits for nothing any more
    await http.write(b"", last=True)
