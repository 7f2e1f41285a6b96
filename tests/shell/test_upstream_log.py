"""What an upstream prints last is what explains its end."""

from __future__ import annotations

import time

import anyio
import anyio.lowlevel

from cloakllm_gateway.shell.logging import Logger
from cloakllm_gateway.shell.upstream_log import FLUSH, UpstreamLog


class Log(Logger):
    def __init__(self) -> None:
        super().__init__()
        self.said: list[object] = []

    def log(self, level: str, event: str, **fields: object) -> None:
        self.said.append(fields["line"])


def test_lines_that_are_being_made_clean_when_the_end_comes_are_logged():
    log = Log()

    async def talk() -> None:
        begun = anyio.Event()

        async def sanitize(text: str) -> str:
            if not begun.is_set():
                begun.set()
                await anyio.sleep_forever()
            return text

        printed = UpstreamLog("crm", sanitize, log)

        async def work() -> None:
            printed.feed(b"no database\nno ")
            await begun.wait()
            printed.feed(b"hope\n")

        await printed.beside(work)

    anyio.run(talk)
    assert log.said == ["no database", "no hope"]


def test_the_last_lines_are_logged_however_long_it_takes_to_make_the_detector():
    log = Log()

    async def talk() -> None:
        async def sanitize(text: str) -> str:
            made = time.perf_counter() + 1.5 * FLUSH
            while time.perf_counter() < made:
                pass
            await anyio.lowlevel.checkpoint()
            return text

        printed = UpstreamLog("crm", sanitize, log)
        printed.feed(b"no database\n")
        await printed.flush()

    anyio.run(talk)
    assert log.said == ["no database"]


def test_the_last_lines_are_given_up_where_nothing_comes_of_waiting():
    log = Log()

    async def talk() -> None:
        async def sanitize(text: str) -> str:
            await anyio.sleep_forever()
            return text

        printed = UpstreamLog("crm", sanitize, log)
        printed.feed(b"no database\n")
        await printed.flush()

    anyio.run(talk)
    assert log.said == []
