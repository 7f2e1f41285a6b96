"""What an upstream prints last is what explains its end."""

from __future__ import annotations

import anyio

from cloakllm_gateway.shell.chatter import Chatter
from cloakllm_gateway.shell.logging import Logger


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

        chatter = Chatter("crm", sanitize, log)

        async def work() -> None:
            chatter.feed(b"no database\nno ")
            await begun.wait()
            chatter.feed(b"hope\n")

        await chatter.beside(work)

    anyio.run(talk)
    assert log.said == ["no database", "no hope"]
