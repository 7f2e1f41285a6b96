"""What an upstream prints beside the protocol: sanitized, then logged, bounded and rationed.

Reading must never wait for logging, or the upstream would stop in a ``write``.
So lines wait in a short queue that forgets its oldest, and are logged at a
steady pace; what was forgotten is counted and told.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final

import anyio

from cloakllm_gateway.errors import GatewayError
from cloakllm_gateway.protocol.framing import Lines, Oversized
from cloakllm_gateway.shell.logging import Logger

#: Bytes of a line; a longer one is not logged, since a cut could split a value and so hide it from detection.
MAX_LINE: Final = 16_384

#: Lines that wait to be logged.
TAIL: Final = 200

#: Characters of a line in the log.
LONGEST_SHOWN: Final = 2000

#: Seconds between two lines in the log.
PACE: Final = 0.02

#: Seconds that the last lines have when the upstream is given up or the gateway ends, our own work aside: the first
#: line of all has the detector made, which takes seconds on a busy machine.
FLUSH: Final = 0.5


class UpstreamLog:
    """The log lines of one upstream; ``sanitize`` makes a line fit to be logged."""

    def __init__(self, upstream: str, sanitize: Callable[[str], Awaitable[str]], logger: Logger) -> None:
        self._upstream = upstream
        self._sanitize = sanitize
        self._logger = logger
        self._lines = Lines(MAX_LINE)
        self._waiting: deque[bytes] = deque()
        self._forgotten = 0
        self._said: set[bytes] = set()
        self._said_before: frozenset[bytes] = frozenset()
        self._repeated = 0
        self._heard = anyio.Event()

    def begin_again(self, *, after_crash: bool) -> None:
        """The program was started again: after a crash at its start it says the same, which is in the log."""
        self._said_before = self._said_before.union(self._said) if after_crash else frozenset()
        self._said = set()

    def feed(self, chunk: bytes) -> None:
        """Bytes of its standard error."""
        self._hear_all(self._lines.feed(chunk))

    def finish(self) -> None:
        """Its standard error has ended, perhaps within a line."""
        self._hear_all(self._lines.finish())

    def hear(self, line: bytes) -> None:
        """One whole line."""
        if len(line) > MAX_LINE:
            self._forgotten += 1
        elif line in self._said_before:
            self._repeated += 1
        else:
            self._waiting.append(line)
            if len(self._said) < TAIL:
                self._said.add(line)
        if len(self._waiting) > TAIL:
            self._waiting.popleft()
            self._forgotten += 1
        self._heard.set()

    def _hear_all(self, lines: list[bytes | Oversized]) -> None:
        for line in lines:
            if isinstance(line, Oversized):
                self._forgotten += 1
                self._heard.set()
            else:
                self.hear(line)

    async def beside(self, work: Callable[[], Awaitable[None]]) -> None:
        """Log lines as they come while ``work`` goes on, and what is waiting when it has ended."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self.run)
                await work()
                tasks.cancel_scope.cancel()
        finally:
            await self.flush()

    async def run(self) -> None:
        """Log lines as they come, for ever."""
        while True:
            await self._heard.wait()
            self._heard = anyio.Event()
            await anyio.sleep(PACE)  # what is printed together is looked at together
            while self._waiting or self._forgotten or self._repeated:
                await self._rest(await self._say_next())

    async def _rest(self, lines: int) -> None:
        """The log gets a line every :data:`PACE` seconds on average."""
        await anyio.sleep(PACE * lines)

    async def flush(self) -> None:
        """Log what is waiting, for at most :data:`FLUSH` seconds in which the event loop is free."""
        with anyio.CancelScope(shield=True):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_time_out, tasks.cancel_scope)
                while self._waiting or self._forgotten or self._repeated:
                    await self._say_next()
                tasks.cancel_scope.cancel()

    async def _say_next(self) -> int:
        """Log the lines that came together, made clean as one text; the number of lines.

        A private key or a pretty-printed record is many lines, and none of
        them shows by itself what it is.
        """
        if self._forgotten:
            lines, self._forgotten = self._forgotten, 0
            self._logger.log("warning", "upstream_lines_not_shown", upstream=self._upstream, lines=lines)
        if self._repeated:
            lines, self._repeated = self._repeated, 0
            self._logger.log("info", "upstream_says_the_same_again", upstream=self._upstream, lines=lines)
        block: list[bytes] = []
        size = 0
        while self._waiting and size < MAX_LINE:
            size += len(self._waiting[0])
            block.append(self._waiting.popleft())
        if not block:
            return 0
        try:
            clean = await self._sanitize("\n".join(line.decode("utf-8", "replace") for line in block))
        except anyio.get_cancelled_exc_class():
            self._waiting.extendleft(reversed(block))  # for :meth:`flush`
            raise
        except GatewayError as error:
            about = {"upstream": self._upstream, "lines": len(block), "reason": error.what}
            self._logger.log("warning", "upstream_lines_withheld", **about)
        else:
            for line in clean.split("\n"):
                shown = line if len(line) <= LONGEST_SHOWN else line[:LONGEST_SHOWN] + "..."
                self._logger.log("info", "upstream_says", upstream=self._upstream, line=shown)
        return len(block)


async def _time_out(scope: anyio.CancelScope) -> None:
    """Cancel ``scope`` after :data:`FLUSH` seconds; while the event loop is at work, hardly any of them pass."""
    for _ in range(round(FLUSH / PACE)):
        await anyio.sleep(PACE)
    scope.cancel()
