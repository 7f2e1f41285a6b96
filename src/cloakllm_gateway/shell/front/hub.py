"""All channels of the process: who has which, how many there may be, and when one has been idle too long."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple, TypeVar

import anyio
from anyio.abc import TaskGroup

from cloakllm_gateway.errors import GatewayError, first_cause, place_of
from cloakllm_gateway.protocol.jsonrpc import INVALID_PARAMS
from cloakllm_gateway.shell.front.asgi import Refusal
from cloakllm_gateway.shell.front.channels import Channel, SessionChannel, StatelessChannel
from cloakllm_gateway.shell.logging import Logger

#: Seconds between two looks for idle channels, at most.
LOOK: Final = 30.0

AnyChannel = TypeVar("AnyChannel", bound=Channel)


class Bounds(NamedTuple):
    """How many channels there may be, and for how many seconds one may be idle; ``unread`` bytes wait on a stream."""

    idle: float
    total: int
    per_principal: int
    unread: int


class Hub:
    """``serve`` runs the session of a channel, from its begin to its end; ``tasks`` is where that happens."""

    def __init__(
        self, bounds: Bounds, serve: Callable[[Channel], Awaitable[None]], tasks: TaskGroup, logger: Logger
    ) -> None:
        self._bounds = bounds
        self._serve = serve
        self._tasks = tasks
        self._logger = logger
        self._sessions: dict[str, SessionChannel] = {}
        self._stateless: dict[str, StatelessChannel] = {}
        self._alive: set[Channel] = set()
        self._changed = anyio.Event()
        self.closing = False

    # -- finding and making ----------------------------------------------------------------------------

    def session(self, principal: str, id: str) -> SessionChannel:
        """The session of this id.  Raises :class:`Refusal`, the same for one that is another principal's or over."""
        channel = self._sessions.get(id)
        if channel is None or channel.principal != principal or channel.ended:
            raise Refusal(404, "There is no such session: begin a new one", code=INVALID_PARAMS)
        return channel

    def new_session(self, principal: str) -> SessionChannel:
        """Raises :class:`Refusal` where there are too many."""
        channel = SessionChannel(principal, self._bounds.unread, self._logger)
        self._begin(channel)
        self._sessions[channel.id] = channel
        return channel

    def stateless(self, principal: str) -> StatelessChannel:
        """The channel of a principal, made when there is none.  Raises :class:`Refusal` where there are too many."""
        channel = self._stateless.get(principal)
        if channel is None or channel.ended:
            channel = StatelessChannel(principal, self._bounds.unread, self._logger)
            self._begin(channel)
            self._stateless[principal] = channel
        return channel

    def _begin(self, channel: Channel) -> None:
        if self.closing:
            raise Refusal(503, "The gateway is shutting down")
        self._make_room(channel.principal)
        self._alive.add(channel)
        self._tasks.start_soon(self._live, channel)

    def _make_room(self, principal: str) -> None:
        """The longest unused session of the same principal goes; those of others are never touched."""
        own = [channel for channel in self._alive if channel.principal == principal]
        if len(own) < self._bounds.per_principal and len(self._alive) < self._bounds.total:
            return
        now = anyio.current_time()
        unused = max(own, key=lambda channel: channel.idle(now), default=None)
        if unused is None or unused.idle(now) <= 0.0:
            raise Refusal(503, "There are too many sessions (listen.max_sessions)", headers={"retry-after": "60"})
        self._logger.log("info", "http_session_replaced", principal=principal)
        self._forget(unused)
        unused.end()

    # -- living and ending -----------------------------------------------------------------------------

    async def _live(self, channel: Channel) -> None:
        """Serve one channel to its end; what goes wrong with one is no reason to end others."""
        try:
            await self._serve(channel)
        except Exception as error:  # noqa: BLE001 - a bug of ours too: its text may hold values
            cause = first_cause(error)
            if isinstance(cause, GatewayError):
                self._logger.log("error", "http_session_failed", principal=channel.principal, reason=str(cause))
            else:
                self._logger.log(
                    "error", "internal_error", kind=type(cause).__name__, at=place_of(cause), met="session"
                )
        finally:
            channel.close()
            self._forget(channel)

    def _forget(self, channel: Channel) -> None:
        self._alive.discard(channel)
        if isinstance(channel, SessionChannel):
            self._sessions.pop(channel.id, None)
        elif self._stateless.get(channel.principal) is channel:
            del self._stateless[channel.principal]
        self._changed.set()

    async def run(self) -> None:
        """End what has been idle too long, until cancelled."""
        while True:
            await anyio.sleep(min(LOOK, self._bounds.idle / 4))
            now = anyio.current_time()
            idle = [channel for channel in self._alive if channel.idle(now) >= channel.patience(self._bounds.idle)]
            for channel in idle:
                self._logger.log("info", "http_session_expired", principal=channel.principal)
                self._forget(channel)
                channel.end()

    async def shut_down(self) -> None:
        """Let nothing in, give what is in flight a moment, and wait until all sessions are over."""
        self.closing = True
        for channel in list(self._alive):
            channel.end()
        while self._alive:
            self._changed = anyio.Event()
            await self._changed.wait()
