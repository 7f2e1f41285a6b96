"""One supervisor per upstream: its process is started, fed, listened to, restarted and ended here.

A process lives from ``Connected`` to ``Disconnected``; between them come its
messages, in order.  Whatever one upstream does (blocks, floods, crashes, ignores
its end) stays here: :meth:`Supervisor.send` never waits, its log lines are
bounded and rationed, and its whole process group goes with it.
"""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Final, NamedTuple

import anyio

from cloakllm_gateway.core.events import Connected, Disconnected, Event, Send
from cloakllm_gateway.shell.config import UpstreamConfig
from cloakllm_gateway.shell.incoming import Incoming
from cloakllm_gateway.shell.logging import Logger
from cloakllm_gateway.shell.process import Process, SpawnError, end, end_orphans, spawn
from cloakllm_gateway.shell.steps import Post, post_all
from cloakllm_gateway.shell.upstream_log import UpstreamLog

#: Seconds that a process which has ended has for its last output, while descendants may still hold the pipe; and bytes,
#: since no pipe holds more: the rest is the descendants' own.
LAST_WORDS: Final = 2.0
LAST_BYTES: Final = 1 << 20

#: Seconds between the end of a process and the end of its pipes, whichever comes first.
STATUS: Final = 0.5


#: Seconds of a run that is no more than a crash at the start.
QUICK: Final = 10.0


class Restarts:
    """When to start a process again: after a pause that doubles, and not for ever.

    A run of ``stable`` seconds makes the next pause the first again; ``attempts``
    runs in a row shorter than ``quick`` seconds are a crash loop.
    """

    def __init__(
        self, first: float = 0.5, longest: float = 30.0, attempts: int = 5, quick: float = QUICK, stable: float = 60.0
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


class Spec(NamedTuple):
    """What a supervisor runs; a message may have ``max_bytes``, and twice as much may wait to be read."""

    name: str
    upstream: UpstreamConfig
    max_bytes: int


class _Life(Process):
    """One run of the process: what it says becomes events, and why it ends."""

    def __init__(self, spec: Spec, post: Post, log: UpstreamLog, begun: Callable[[_Life], None]) -> None:
        super().__init__()
        self.ended = anyio.Event()
        self.silent = anyio.Event()  # everything it printed has been delivered
        self.reason = ""
        self._name = spec.name
        self._max_unread = 2 * spec.max_bytes
        self._incoming = Incoming(spec.name, spec.max_bytes)
        self._post = post
        self._log = log
        self._begun = begun
        self._is_heard = True
        self._late_bytes = 0  # that came when the process had ended
        self._patience = anyio.CancelScope()

    def end(self, reason: str) -> None:
        """The first reason counts."""
        if not self.ended.is_set():
            self.reason = reason
            self.ended.set()

    def send(self, line: bytes) -> None:
        if self.unread + len(line) > self._max_unread:
            self.end("does not read its input")
        else:
            self.write(line + b"\n")

    async def last_words(self) -> None:
        """Hear what stands in the pipe of a process that has ended, for as long as it takes us to take it."""
        self._patience.deadline = asyncio.get_running_loop().time() + LAST_WORDS if self.is_read else math.inf
        with self._patience:
            await self.silent.wait()

    def ignore(self) -> None:
        """What it still prints is of no more use."""
        self._is_heard = False
        self.resume_output()

    # -- what the process does -------------------------------------------------------------------------

    def started(self) -> None:
        self._begun(self)
        self._tell([Connected(self._name)])

    def printed(self, data: bytes) -> None:
        if not self._is_heard:
            return
        self._tell(self._incoming.feed(data))
        if self.exited.is_set():
            self._late_bytes += len(data)
            if self._late_bytes > LAST_BYTES:
                self.silent.set()

    def output_closed(self) -> None:
        if self._is_heard:
            self._tell(self._incoming.finish())
            self.silent.set()
            self._end_soon("closed its output")

    def complained(self, data: bytes) -> None:
        self._log.feed(data)

    def errors_closed(self) -> None:
        self._log.finish()

    def input_closed(self) -> None:
        if self._is_heard:
            self._end_soon("closed its input")

    def process_exited(self) -> None:
        super().process_exited()
        status = self.returncode or 0
        self.end(f"was ended by signal {-status}" if status < 0 else f"exited with status {status}")

    def _tell(self, events: Iterable[Event]) -> None:
        """Post events; while one of them waits for room, nothing more is read."""
        if rooms := post_all(self._post, events):
            self.pause_output()
            self._patience.deadline = math.inf
            asyncio.gather(*rooms).add_done_callback(self._listen_again)

    def _listen_again(self, _: object) -> None:
        self._patience.deadline = asyncio.get_running_loop().time() + LAST_WORDS
        self.resume_output()

    def _end_soon(self, reason: str) -> None:
        """A pipe has ended: if the process ends at once, its status is the reason."""
        asyncio.get_running_loop().call_later(STATUS, self.end, reason)


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
        self._spec = spec
        self._post = post
        self._logger = logger
        self._restarts = restarts or Restarts()
        self._parent = parent
        self._log = UpstreamLog(spec.name, sanitize_log, logger)
        self._life: _Life | None = None
        self._crashed = False

    async def run(self) -> None:
        """Keep the upstream running until cancelled or until it is given up; its process tree is gone then."""
        await self._log.beside(self._keep_alive)

    def send(self, line: bytes, effect: Send) -> None:
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
        self._log.hear(line)

    async def _keep_alive(self) -> None:
        """Run after run; what an end means is told at once, also while the process still has to be made to go."""
        while True:
            pause = await self._live()
            if pause is None:
                return
            await anyio.sleep(pause)

    async def _live(self) -> float | None:
        """One process, from its start to its burial; how long to wait for the next one, None to give up."""
        started = anyio.current_time()
        self._log.begin_again(after_crash=self._crashed)
        life = _Life(self._spec, self._post, self._log, self._begun)
        try:
            with anyio.CancelScope(shield=True):  # half a start would be nobody's to end
                await spawn(self._spec.upstream, self._parent, life)
        except SpawnError as error:
            self._logger.log("error", "upstream_not_started", upstream=self.name, reason=error, **error.details)
            await self._post(Disconnected(self.name, error.what, final=True))
            return None
        try:
            await self._until_ended(life)
            lived = anyio.current_time() - started
            pause = self._restarts.after(lived)
            self._crashed = lived < QUICK
            about = {"reason": life.reason, "lived": round(lived, 1), "final": pause is None}
            self._logger.log("warning", "upstream_ended", upstream=self.name, **about)
            await self._post(Disconnected(self.name, life.reason, final=pause is None))
            return pause
        finally:
            with anyio.CancelScope(shield=True):
                await _bury(life)

    def _begun(self, life: _Life) -> None:
        self._logger.log("info", "upstream_started", upstream=self.name, pid=life.pid)
        self._life = life

    async def _until_ended(self, life: _Life) -> None:
        """Feed and hear one process until it is of no more use."""
        try:
            await life.ended.wait()
            self._life = None
            if life.returncode is not None:
                await end_orphans(life)
                await life.last_words()
        finally:
            self._life = None
            life.ignore()


async def _bury(life: _Life) -> None:
    """End the process tree; what it still says on standard error is worth logging."""
    await end(life)
    with anyio.move_on_after(STATUS):
        await life.closed.wait()
    life.close()
