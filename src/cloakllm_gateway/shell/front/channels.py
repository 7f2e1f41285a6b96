"""The client's side of a session over HTTP, where its messages come and go by many requests."""

from __future__ import annotations

import secrets
from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Awaitable, Mapping
from typing import Any, Final

import anyio

from cloakllm_gateway.core.events import CLIENT, Event, Received, Send
from cloakllm_gateway.protocol import eras, jsonrpc
from cloakllm_gateway.protocol.jsonrpc import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    Id,
    Notification,
    Request,
)
from cloakllm_gateway.shell.front.asgi import Refusal
from cloakllm_gateway.shell.front.streams import Stream
from cloakllm_gateway.shell.logging import Logger
from cloakllm_gateway.shell.steps import READY, Post

#: Bytes of messages that a stream keeps once they were read, for a client that comes back.
KEPT: Final = 1 << 20
#: Streams of answered requests that can still be read again.
FINISHED: Final = 8
#: Bytes of messages that wait on the standing stream for somebody to read it.
HELD: Final = 1 << 20
#: Seconds for which a stateless channel is kept that nobody has used yet but to ask whether there is one.
PROBED: Final = 60.0

_ENDED = "The session has ended; a call that was in flight may have taken effect"


class Exchange:
    """A request that waits for its answer, and the stream on which the answer goes to the client.

    ``id`` is the client's, ``number`` the stream's among those of the channel.
    """

    def __init__(self, request: Request, number: int, stream: Stream) -> None:
        self.id = request.id
        self.method = request.method
        self.number = number
        self.stream = stream
        self.failed = False  # its answer is an error
        self.withdrawn = False  # by the client: it waits for nothing any more
        self.lost = False  # its client has left and cannot come back for it

    def answer(self, line: bytes, status: int, *, failed: bool) -> bool:
        """The last message; False where its reader is too far behind."""
        self.failed = failed
        taken = self.stream.put(line, status)
        self.stream.end()
        return taken

    def give_up(self) -> None:
        """Nobody will answer it any more: say so, on a stream that has begun as well."""
        self.answer(jsonrpc.encode(jsonrpc.failure(self.id, INTERNAL_ERROR, _ENDED)), 503, failed=True)


class Channel:
    """A :class:`~cloakllm_gateway.shell.transports.Transport`; ``key`` tells it from other channels, and is no secret.

    ``unread`` is how many bytes may wait for a reader of one stream.
    """

    def __init__(self, principal: str, unread: int, logger: Logger) -> None:
        self.principal = principal
        self.key = secrets.token_hex(8)
        self._unread = unread
        self._logger = logger
        self._post: Post | None = None
        self._begun = anyio.Event()
        self._over = anyio.Event()
        self._numbers = 0
        self._users = 0
        self._used = anyio.current_time()

    # -- for the session -------------------------------------------------------------------------------

    async def run(self, post: Post) -> None:
        """Let messages through until the channel is ended."""
        self._post = post
        self._begun.set()
        await self._over.wait()

    def send(self, line: bytes, effect: Send) -> Awaitable[None]:
        """Put a message on its stream, where it waits for its reader."""
        self._send(line, effect)
        return READY

    @abstractmethod
    def _send(self, line: bytes, effect: Send) -> None: ...

    # -- for whoever serves requests -------------------------------------------------------------------

    async def post(self, event: Event) -> None:
        """Tell the core.  Raises :class:`Refusal` where it is gone."""
        await self._begun.wait()
        if self._post is None or self.ended:
            raise self.refusal()
        await self._post(event)

    @property
    def ended(self) -> bool:
        return self._over.is_set()

    def end(self) -> None:
        """Let nothing more in: requests in flight may still be answered until :meth:`close`."""
        self._over.set()
        self._begun.set()

    @abstractmethod
    def close(self) -> None:
        """The session is over: end all streams."""

    def refusal(self, id: Id | None = None) -> Refusal:
        """What a request of a session that is over is told."""
        return Refusal(503, _ENDED, code=INTERNAL_ERROR, id=id)

    # -- whether anybody is there ----------------------------------------------------------------------

    def __enter__(self) -> Channel:
        """Somebody uses the channel, for as long as the context lasts."""
        self._users += 1
        return self

    def __exit__(self, *_: object) -> None:
        self._users -= 1
        self._used = anyio.current_time()

    def idle(self, now: float) -> float:
        """For how many seconds nobody has used the channel."""
        return 0.0 if self._users else now - self._used

    def patience(self, idle: float) -> float:
        """For how many seconds it may be idle where the others may for ``idle`` ones."""
        return idle

    def _stream(self, unread: int, kept: int) -> tuple[int, Stream]:
        self._numbers += 1
        return self._numbers, Stream(unread, kept)

    def _dropped(self, effect: Send, why: str) -> None:
        """Say that a message went to nobody; its method is the gateway's word only where it is a known one."""
        what = "message" if "method" in effect.message else "answer"
        self._logger.log("debug", f"http_{what}_dropped", principal=self.principal, reason=why)


class SessionChannel(Channel):
    """A session of the session era, under an id that its client alone knows."""

    def __init__(self, principal: str, unread: int, logger: Logger) -> None:
        super().__init__(principal, unread, logger)
        self.id = secrets.token_urlsafe(24)
        self._exchanges: dict[tuple[type, Id], Exchange] = {}
        self._finished: OrderedDict[int, Exchange] = OrderedDict()
        self.standing_number, self.standing = self._stream(HELD, KEPT)

    # -- from the client -------------------------------------------------------------------------------

    async def ask(self, request: Request, line: bytes, passed: Mapping[str, str]) -> Exchange:
        """Begin an exchange.  Raises :class:`Refusal` for an id that is in use."""
        key = (type(request.id), request.id)
        if key in self._exchanges:
            raise Refusal(400, "A request with this id is being served already", id=request.id)
        exchange = self._exchanges[key] = Exchange(request, *self._stream(self._unread, KEPT))
        try:
            await self.post(Received(CLIENT, line, passed=passed))
        except Refusal:
            self._exchanges.pop(key, None)
            raise
        return exchange

    async def tell(self, notification: Notification, line: bytes) -> None:
        """A notification: a request that it takes back gets no answer, so its exchange ends here."""
        await self.post(Received(CLIENT, line))
        if notification.method != "notifications/cancelled":
            return
        id = (notification.params or {}).get("requestId")
        exchange = self._exchanges.get((type(id), id)) if isinstance(id, str | int) else None
        if exchange is not None and exchange.method != "initialize":
            exchange.withdrawn = True
            self._finish(exchange)
            exchange.stream.end()

    async def reply(self, line: bytes) -> None:
        """The client's answer to a question."""
        await self.post(Received(CLIENT, line))

    def left(self, exchange: Exchange, *, may_return: bool, answered: bool) -> None:
        """The connection of an exchange is over, which takes nothing back in this era.

        Without the id of an event nobody can come back for what it did not get.
        """
        if not may_return:
            exchange.lost = not answered
            self._finished.pop(exchange.number, None)

    # -- to the client ---------------------------------------------------------------------------------

    def _send(self, line: bytes, effect: Send) -> None:
        message = effect.message
        if "method" in message:
            self._say(line, effect)
            return
        id = message.get("id")
        exchange = self._exchanges.get((type(id), id)) if isinstance(id, str | int) else None
        if exchange is None:
            self._dropped(effect, "nobody waits for it")
            return
        if exchange.lost:
            self._dropped(effect, "its client has left")
        elif not exchange.answer(line, 200, failed="error" in message):
            self._dropped(effect, "its reader is too far behind")
        self._finish(exchange)

    def _say(self, line: bytes, effect: Send) -> None:
        """A notification or a question: on the stream of the request it belongs to, else on the standing one."""
        related = effect.related
        exchange = None if related is None else self._exchanges.get((type(related), related))
        stream = self.standing if exchange is None or exchange.lost else exchange.stream
        if not stream.put(line):
            self._dropped(effect, "its reader is too far behind")
            if stream is not self.standing:
                stream.end()

    def _finish(self, exchange: Exchange) -> None:
        """It has ended; who lost its connection may still come back for it, if not for ever."""
        self._exchanges.pop((type(exchange.id), exchange.id), None)
        if exchange.lost:
            return
        finished = self._finished
        finished[exchange.number] = exchange
        while len(finished) > FINISHED or sum(each.stream.size for each in finished.values()) > self._unread:
            finished.popitem(last=False)

    def close(self) -> None:
        self.end()
        for exchange in self._exchanges.values():
            exchange.give_up()
        self.standing.end()

    # -- events that can be read again -----------------------------------------------------------------

    def event_id(self, stream: int, event: int) -> str:
        """The id of an event: a place that only this session has."""
        return f"{self.key}-{stream}-{event}"

    def resumed(self, last_event_id: str) -> tuple[int, Stream, int]:
        """The stream of an event and the event's number.  Raises :class:`Refusal` for an id of another session."""
        unknown = Refusal(404, "There is no such event in this session (Last-Event-ID)", code=INVALID_PARAMS)
        key, _, place = last_event_id.partition("-")
        numbers = place.split("-")
        if key != self.key or len(numbers) != 2 or not all(n.isascii() and n.isdigit() for n in numbers):
            raise unknown
        number, event = (int(n[:18]) for n in numbers)
        if number == self.standing_number and self.standing.reaches(event):
            return number, self.standing, event
        exchange = self._by_number(number)
        if exchange is None or not exchange.stream.reaches(event):
            raise unknown
        return number, exchange.stream, event

    def _by_number(self, number: int) -> Exchange | None:
        waiting = (exchange for exchange in self._exchanges.values() if exchange.number == number)
        return self._finished.get(number) or next(waiting, None)


class StatelessChannel(Channel):
    """What all clients of one principal share in the stateless era.

    Their ids may collide, so each exchange has one of ours towards the core.
    """

    def __init__(self, principal: str, unread: int, logger: Logger) -> None:
        super().__init__(principal, unread, logger)
        self._exchanges: dict[int, Exchange] = {}
        self._probed_only = True

    def patience(self, idle: float) -> float:
        """Who asks for this era and then uses the other one will not come back here."""
        return min(idle, PROBED) if self._probed_only else idle

    # -- from the client -------------------------------------------------------------------------------

    async def ask(
        self, request: Request, message: Mapping[str, Any], headers: Mapping[str, str], passed: Mapping[str, str]
    ) -> Exchange:
        """Begin an exchange; ``message`` is the whole of the request."""
        self._probed_only &= request.method == "server/discover"
        number, stream = self._stream(self._unread, 0)
        exchange = self._exchanges[number] = Exchange(request, number, stream)
        try:
            await self.post(Received(CLIENT, jsonrpc.encode({**message, "id": number}), headers, passed=passed))
        except Refusal:
            self._exchanges.pop(number, None)
            raise
        return exchange

    async def left(self, exchange: Exchange) -> None:
        """The connection of an exchange is over: without its answer, that takes the request back."""
        if self._exchanges.pop(exchange.number, None) is not None and not self.ended:
            params = {"requestId": exchange.number, "reason": "the client closed the response stream"}
            cancelled = jsonrpc.notification("notifications/cancelled", params)
            await self.post(Received(CLIENT, jsonrpc.encode(cancelled)))

    # -- to the client ---------------------------------------------------------------------------------

    def _send(self, line: bytes, effect: Send) -> None:
        message = effect.message
        number = effect.related if "method" in message else message.get("id")
        exchange = self._exchanges.get(number) if isinstance(number, int) else None
        if exchange is None:
            self._dropped(effect, "nobody waits for it")
            return
        line = _with_own_ids(line, message, exchange)
        if "method" not in message:
            self._exchanges.pop(exchange.number)
            exchange.answer(line, _status(message), failed="error" in message)
        elif not exchange.stream.put(line):
            self._dropped(effect, "its reader is too far behind")
            exchange.stream.end()

    def close(self) -> None:
        """A subscription is told that it ends; it is the one thing a server may cancel in this era."""
        self.end()
        for exchange in self._exchanges.values():
            if exchange.method == "subscriptions/listen":
                params = {"requestId": exchange.id, "reason": "the gateway ends the session"}
                exchange.stream.put(jsonrpc.encode(jsonrpc.notification("notifications/cancelled", params)))
                exchange.stream.end()
            else:
                exchange.give_up()


#: What each error of the stateless era is in HTTP, where it is all that a response holds.
STATUSES: Final[Mapping[int, int]] = {
    eras.HEADER_MISMATCH: 400,
    eras.MISSING_CAPABILITY: 400,
    eras.UNSUPPORTED_VERSION: 400,
    INVALID_REQUEST: 400,
    METHOD_NOT_FOUND: 404,
}


def _status(message: Mapping[str, Any]) -> int:
    error = message.get("error")
    code = error.get("code") if isinstance(error, dict) else None
    return STATUSES.get(code, 200) if isinstance(code, int) else 200


def _with_own_ids(line: bytes, message: Mapping[str, Any], exchange: Exchange) -> bytes:
    """``line``, which is ``message``, with the client's id wherever it has ours."""
    begin = b'{"jsonrpc":"2.0","id":%d,' % exchange.number
    if exchange.method != "subscriptions/listen" and "method" not in message and line.startswith(begin):
        # By far the most and the largest messages: there is no need to write them a second time.
        return b'{"jsonrpc":"2.0","id":' + jsonrpc.encode(exchange.id) + b"," + line[len(begin) :]
    named = {"id": exchange.id} if message.get("id") == exchange.number and "method" not in message else {}
    return jsonrpc.encode({**message, **named, **_named_within(message, exchange)})


def _named_within(message: Mapping[str, Any], exchange: Exchange) -> dict[str, Any]:
    """The member of ``message`` that names the exchange inside, naming it as the client does."""
    for member in ("params", "result"):
        part = message.get(member)
        if not isinstance(part, dict):
            continue
        changed: dict[str, Any] = {}
        if message.get("method") == "notifications/cancelled" and part.get("requestId") == exchange.number:
            changed["requestId"] = exchange.id
        meta = part.get("_meta")
        if isinstance(meta, dict) and meta.get(eras.SUBSCRIPTION) == exchange.number:
            changed["_meta"] = {**meta, eras.SUBSCRIPTION: exchange.id}
        if changed:
            return {member: {**part, **changed}}
    return {}
