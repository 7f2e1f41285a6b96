"""One supervisor per upstream: its process is started, fed, listened to, restarted and ended here.

A process lives from ``Connected`` to ``Disconnected``; between them come its
messages, in order.  Whatever one upstream does (blocks, floods, crashes, ignores
its end) stays here: :meth:`Supervisor.send` never waits, its log lines are
bounded and rationed, and its whole process group goes with it.
"""

from __future__ import annotations

import math
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Final, NamedTuple

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, Process

from cloakllm_gateway.core.events import Connected, Disconnected, Event, Send
from cloakllm_gateway.shell.chatter import Chatter
from cloakllm_gateway.shell.config import UpstreamConfig
from cloakllm_gateway.shell.incoming import Incoming
from cloakllm_gateway.shell.logging import Logger
from cloakllm_gateway.shell.mailbox import Mailbox
from cloakllm_gateway.shell.process import SpawnError, end, end_orphans, spawn

Post = Callable[[Event], Awaitable[None]]

CHUNK: Final = 65_536

#: Seconds that a process which has ended has for its last output, while descendants may still hold the pipe.
LAST_WORDS: Final = 2.0

#: Seconds between the end of a process and the end of its pipes, whichever comes first.
STATUS: Final = 0.5


class Restarts:
    """When to start a process again: after a pause that doubles, and not for ever.

    A run of ``stable`` seconds makes the next pause the first again; ``attempts``
    runs in a row shorter than ``quick`` seconds are a crash loop.
    """

    def __init__(
        self, first: float = 0.5, longest: float = 30.0, attempts: int = 5, quick: float = 10.0, stable: float = 60.0
    ) -> None:
        self._first, self._longest, self._attempts = first, longest, attempts
        self._quick, self._stable = quick, stable
        self._failures = 0
        self._in_a_row = 0

    def after(self, lived: float) -> float | None:
        """The pause in seconds after a run of ``lived`` seconds; ``None`` to give up."""
        self._in_a_row = self._in_a_row + 1 if lived < self._quick else 0
        self._failures = self._failures + 1 if lived < self._stable else 1
        if self._in_a_row >= self._attempts:
            return None
        return min(self._first * 2.0 ** (self._failures - 1), self._longest)


class _Life:
    """One run of the process: why it ends, and what waits to be written to it."""

    def __init__(self, process: Process, max_unsent: int) -> None:
        self.process = process
        self.ended = anyio.Event()
        self.silent = anyio.Event()  # everything it printed has been delivered
        self.reason = ""
        self.lines = Mailbox[bytes](math.inf)
        self._unsent = 0
        self._max_unsent = max_unsent

    def end(self, reason: str) -> None:
        """The first reason counts."""
        if not self.ended.is_set():
            self.reason = reason
            self.ended.set()

    def send(self, line: bytes) -> None:
        self._unsent += len(line)
        if self._unsent > self._max_unsent:
            self.end("does not read its input")
        else:
            self.lines.put_nowait(line)

    def sent(self, line: bytes) -> None:
        self._unsent -= len(line)


class Spec(NamedTuple):
    """What a supervisor runs; a message may have ``max_bytes``, and twice as much may wait to be read."""

    name: str
    upstream: UpstreamConfig
    max_bytes: int


class Supervisor:
    """Runs one upstream.

    ``post`` takes its events.  ``sanitize_log`` gets each line that it prints
    beside the protocol before it is logged.
    """

    def __init__(
        self,
        spec: Spec,
        post: Post,
        sanitize_log: Callable[[str], Awaitable[str]],
        logger: Logger,
        *,
        restarts: Restarts | None = None,
        parent: Mapping[str, str] = os.environ,
    ) -> None:
        self.name = spec.name
        self._upstream = spec.upstream
        self._max_bytes = spec.max_bytes
        self._post = post
        self._logger = logger
        self._restarts = restarts or Restarts()
        self._parent = parent
        self._chatter = Chatter(spec.name, sanitize_log, logger)
        self._life: _Life | None = None

    async def run(self) -> None:
        """Keep the upstream running until cancelled or until it is given up; its process tree is gone then."""
        await self._chatter.beside(self._keep_alive)

    async def send(self, line: bytes, effect: Send) -> None:
        """Hand over one line (without its line feed); never waits.

        An upstream that does not read is dropped when too much is waiting; a
        line for one that is not running is lost, as its ``Disconnected`` says.
        """
        if self._life is not None:
            self._life.send(line)

    def drop(self, reason: str) -> None:
        """End the running process; it is started again like after a crash."""
        if self._life is not None:
            self._life.end(reason)

    def noise(self, line: bytes) -> None:
        """Log a line of its standard output that is no message, the way its standard error is logged."""
        self._chatter.hear(line)

    async def _keep_alive(self) -> None:
        """Run after run; what an end means is told at once, also while the process still has to be made to go."""
        while True:
            try:
                process = await spawn(self._upstream, self._parent)
            except SpawnError as error:
                self._logger.log("error", "upstream_not_started", upstream=self.name, reason=error, **error.details)
                await self._post(Disconnected(self.name, error.what, final=True))
                return
            started = anyio.current_time()
            try:
                reason = await self._live(process)
                lived = anyio.current_time() - started
                pause = self._restarts.after(lived)
                about = {"reason": reason, "lived": round(lived, 1), "final": pause is None}
                self._logger.log("warning", "upstream_ended", upstream=self.name, **about)
                await self._post(Disconnected(self.name, reason, final=pause is None))
            finally:
                with anyio.CancelScope(shield=True):
                    await self._bury(process)
            if pause is None:
                return
            await anyio.sleep(pause)

    async def _live(self, process: Process) -> str:
        """One process, from its first message to its last; returns why it is of no more use."""
        assert process.stdin and process.stdout and process.stderr
        self._logger.log("info", "upstream_started", upstream=self.name, pid=process.pid)
        life = self._life = _Life(process, 2 * self._max_bytes)
        try:
            await self._post(Connected(self.name))
            async with anyio.create_task_group() as pumps:
                pumps.start_soon(self._hear, life, process.stdout)
                pumps.start_soon(self._overhear, process.stderr)
                pumps.start_soon(_feed, life, process.stdin)
                pumps.start_soon(_watch, life)
                await life.ended.wait()
                self._life = None
                if process.returncode is not None:
                    await end_orphans(process)
                    with anyio.move_on_after(LAST_WORDS):
                        await life.silent.wait()
                pumps.cancel_scope.cancel()
        finally:
            self._life = None
        return life.reason

    async def _hear(self, life: _Life, stream: ByteReceiveStream) -> None:
        """Post what it prints on standard output, until it closes it."""
        incoming = Incoming(self.name, self._max_bytes)
        async for chunk in _chunks(stream):
            for event in incoming.feed(chunk):
                await self._post(event)
        for event in incoming.finish():
            await self._post(event)
        life.silent.set()
        await _exit_status(life)
        life.end("closed its output")

    async def _overhear(self, stream: ByteReceiveStream) -> None:
        """Drain standard error for as long as it is open: a full pipe would stop the process."""
        async for chunk in _chunks(stream):
            self._chatter.feed(chunk)
        self._chatter.finish()

    async def _bury(self, process: Process) -> None:
        """End the process tree; what it still says on standard error is worth logging."""
        assert process.stdout and process.stderr
        async with anyio.create_task_group() as drains:
            drains.start_soon(_drain, process.stdout)
            drains.start_soon(self._overhear, process.stderr)
            await end(process)
            drains.cancel_scope.deadline = anyio.current_time() + STATUS
        await process.aclose()


async def _feed(life: _Life, stream: ByteSendStream) -> None:
    while True:
        line = await life.lines.get()
        try:
            await stream.send(line + b"\n")
        except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            await _exit_status(life)
            life.end("closed its input")
            return
        life.sent(line)


async def _watch(life: _Life) -> None:
    status = await life.process.wait()
    life.end(f"was ended by signal {-status}" if status < 0 else f"exited with status {status}")


async def _exit_status(life: _Life) -> None:
    """A pipe has ended: if the process ends at once, its status is the reason."""
    with anyio.move_on_after(STATUS):
        await _watch(life)


async def _chunks(stream: ByteReceiveStream) -> AsyncIterator[bytes]:
    """What comes out of ``stream`` until it ends, however it ends."""
    try:
        while True:
            yield await stream.receive(CHUNK)
    except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
        return


async def _drain(stream: ByteReceiveStream) -> None:
    async for _ in _chunks(stream):
        pass
