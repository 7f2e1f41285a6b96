"""One upstream over HTTP: connected, fed, listened to, and connected again after an end.

What :class:`~cloakllm_gateway.shell.supervisor.Supervisor` is for processes.
Messages leave in their order, answers come in any.
"""

from __future__ import annotations

import math
import os
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, NamedTuple

import anyio

from cloakllm_gateway.core.events import Connected, Disconnected, Send
from cloakllm_gateway.protocol.jsonrpc import Id
from cloakllm_gateway.shell.config import Kind
from cloakllm_gateway.shell.logging import Logger
from cloakllm_gateway.shell.remote.client import Client, Unreachable
from cloakllm_gateway.shell.remote.legacy import Legacy
from cloakllm_gateway.shell.remote.life import Life, Outgoing, outgoing
from cloakllm_gateway.shell.remote.streamable import NotStreamable, Streamable
from cloakllm_gateway.shell.remote.target import shown, target
from cloakllm_gateway.shell.steps import Post
from cloakllm_gateway.shell.supervisor import Restarts, Spec
from cloakllm_gateway.shell.upstream_log import UpstreamLog

#: Seconds that a message waits for the one before it to have left (a notification: to have been taken).
IN_ORDER: Final = 2.0

#: Seconds that a server has to take a message that asks for no answer.
TAKEN: Final = 30.0

#: Seconds in which the server is told that the gateway leaves.
FAREWELL: Final = 1.0

#: Seconds between attempts to reach a server that has worked before and is away for long.
AWAY: Final = 30.0


class _Exchange(NamedTuple):
    """A request in flight."""

    scope: anyio.CancelScope
    is_stateless: bool


class Remote:
    """Talks to one upstream; ``post`` takes its events."""

    def __init__(
        self,
        spec: Spec,
        post: Post,
        sanitize_log: Callable[[str], Awaitable[str]],
        logger: Logger,
        *,
        restarts: Restarts | None = None,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self.name = spec.name
        self._target = target(spec.upstream, environment)
        self._is_legacy = spec.upstream.type is Kind.SSE
        self._max_bytes = spec.max_bytes
        self._post = post
        self._logger = logger
        self._restarts = restarts or Restarts()
        self._log = UpstreamLog(spec.name, sanitize_log, logger)
        self._current: _Connection | None = None

    async def run(self) -> None:
        """Keep the upstream connected until cancelled or until it is given up."""
        await self._log.beside(self._keep_connected)

    def send(self, line: bytes, effect: Send) -> None:
        """Hand over one message; never waits.

        One for an upstream that is not connected is lost, as its ``Disconnected`` says.
        """
        if self._current is not None:
            self._current.send(outgoing(line, effect))

    def drop(self, reason: str) -> None:
        """End the connection; it is made again like after a failure."""
        if self._current is not None:
            self._current.life.end(reason)

    def noise(self, line: bytes) -> None:
        """Log what came and is no message, once it is clean."""
        self._log.hear(line)

    async def _keep_connected(self) -> None:
        """Life after life; a server that has worked is waited for, however long it is away."""
        has_worked = False
        while True:
            started = anyio.current_time()
            try:
                client = Client(self._target)
            except OSError:
                await self._ended("has a ca_file without certificates", final=True)
                return
            life = await self._live(client)
            has_worked = has_worked or life.works
            pause = self._restarts.after(anyio.current_time() - started)
            is_final = life.is_final or (pause is None and not has_worked)
            await self._ended(life.reason, final=is_final)
            if is_final:
                return
            await anyio.sleep(AWAY if pause is None else pause)

    async def _ended(self, reason: str, *, final: bool) -> None:
        about = {"reason": reason, "at": shown(self._target.address), "final": final}
        self._logger.log("warning", "upstream_ended", upstream=self.name, **about)
        await self._post(Disconnected(self.name, reason, final=final))

    async def _live(self, client: Client) -> Life:
        """One connection, from its first message to its last."""
        async with anyio.create_task_group() as tasks:
            life = Life(self.name, self._target, client, self._max_bytes, self._post, self._logger, tasks)
            connection = _Connection(life)
            try:
                await self._converse(connection)
            finally:
                self._current = None
                tasks.cancel_scope.cancel()
                with anyio.CancelScope(shield=True), anyio.move_on_after(FAREWELL):
                    await connection.close()
                    await client.aclose()
        return life

    async def _converse(self, connection: _Connection) -> None:
        if self._is_legacy:
            await connection.open_legacy()
        if not connection.life.ended.is_set():
            self._current = connection
            await self._post(Connected(self.name))
            connection.life.tasks.start_soon(connection.run)
            await connection.life.ended.wait()


class _Connection:
    """The messages of one life on their way to the server."""

    def __init__(self, life: Life) -> None:
        self.life = life
        self._way: Streamable | Legacy = Streamable(life)
        self._waiting, self._unsent = anyio.create_memory_object_stream[Outgoing](math.inf)
        self._waiting_bytes = 0
        self._exchanges: dict[Id, _Exchange] = {}

    def send(self, message: Outgoing) -> None:
        taken_back = self._exchanges.get(message.subject) if message.subject is not None else None
        if taken_back is not None and taken_back.is_stateless:
            taken_back.scope.cancel()
            return
        self._waiting_bytes += len(message.line)
        if self._waiting_bytes > 2 * self.life.max_bytes:
            self.life.end("does not take its messages")
            return
        if message.id is not None:
            self._exchanges[message.id] = _Exchange(anyio.CancelScope(), message.is_stateless)
        self._waiting.send_nowait(message)

    async def run(self) -> None:
        """Start to send each message once the one before it has left."""
        async for message in self._unsent:
            left = anyio.Event()
            self.life.tasks.start_soon(self._exchange, message, left)
            with anyio.move_on_after(IN_ORDER):
                await left.wait()
            self._waiting_bytes -= len(message.line)

    async def _exchange(self, message: Outgoing, left: anyio.Event) -> None:
        """One message, and what comes in answer until that is complete or no longer wanted."""
        if message.id is None:
            with anyio.move_on_after(TAKEN):
                await self._way_of(message, anyio.Event())
            left.set()
            self._give_up(message.subject)
            return
        exchange = self._exchanges[message.id]
        with exchange.scope:
            await self._way_of(message, left)
        left.set()
        del self._exchanges[message.id]

    async def _way_of(self, message: Outgoing, left: anyio.Event) -> None:
        try:
            await self._way.exchange(message, left)
        except NotStreamable as refusal:
            try:
                await self._open_legacy()
            except Unreachable:
                await self.life.refused(message, refusal.status, None)
            else:
                await self._way.exchange(message, left)

    def _give_up(self, id: Id | None) -> None:
        """The server has been told that nobody waits for this answer: don't listen for it either."""
        exchange = self._exchanges.get(id) if id is not None else None
        if exchange is not None:
            exchange.scope.cancel()

    async def open_legacy(self) -> None:
        """Speak HTTP+SSE from the beginning; where that is not spoken, the life ends."""
        try:
            await self._open_legacy()
        except Unreachable as error:
            self.life.end(error.reason)

    async def _open_legacy(self) -> None:
        legacy = Legacy(self.life)
        await legacy.open()
        self._way = legacy

    async def close(self) -> None:
        self._waiting.close()
        self._unsent.close()
        await self._way.close()
