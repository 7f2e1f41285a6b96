"""Timers on a real event loop: each runs out once, in its turn, unless it is stopped or moved."""

from __future__ import annotations

from collections.abc import Awaitable

import anyio
import pytest

from cloakllm_gateway.core.events import Elapsed, Event, Timer
from cloakllm_gateway.shell.steps import READY
from cloakllm_gateway.shell.timers import Timers
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio
SHORT = 0.01


@pytest.fixture
def anyio_backend():
    return "asyncio"


class Heard:
    """What ran out, in order; what is to be done about each, at once."""

    def __init__(self) -> None:
        self.timers = Timers(self.post)
        self.names: list[str] = []
        self.then: dict[str, tuple[str, float | None]] = {}
        self._more = anyio.Event()

    def post(self, event: Event) -> Awaitable[None]:
        assert isinstance(event, Elapsed)
        name = event.timer.purpose
        self.names.append(name)
        if name in self.then:
            self.start(*self.then[name])
        self._more.set()
        return READY

    def start(self, name: str, seconds: float | None) -> None:
        """Start a timer, or stop it."""
        if seconds is None:
            self.timers.stop(Timer(name))
        else:
            self.timers.start(Timer(name), seconds)

    async def until(self, *names: str) -> None:
        with anyio.fail_after(PATIENCE):
            while self.names != [*names]:
                self._more = anyio.Event()
                await self._more.wait()


async def test_timers_run_out_in_the_order_of_their_ends():
    heard = Heard()
    for name, seconds in (("third", 3 * SHORT), ("first", SHORT), ("never", 60.0), ("second", 2 * SHORT)):
        heard.start(name, seconds)
    await heard.until("first", "second", "third")


async def test_a_timer_that_is_stopped_does_not_run_out():
    heard = Heard()
    heard.start("stopped", SHORT)
    heard.start("other", 2 * SHORT)
    heard.start("stopped", None)
    await heard.until("other")


async def test_starting_a_running_timer_moves_its_end():
    heard = Heard()
    heard.start("later", SHORT)
    heard.start("later", 3 * SHORT)
    heard.start("sooner", 60.0)
    heard.start("sooner", SHORT)
    await heard.until("sooner", "later")


async def test_one_that_runs_out_may_start_and_stop_others():
    heard = Heard()
    heard.then = {"first": ("last", 3 * SHORT), "at once": ("stopped", None)}
    for name, seconds in (("first", 0.0), ("second", SHORT), ("at once", 2 * SHORT), ("stopped", 2 * SHORT)):
        heard.start(name, seconds)
    await heard.until("first", "second", "at once", "last")


async def test_after_the_end_none_runs_out():
    heard = Heard()
    heard.start("gone", SHORT)
    heard.timers.stop_all()
    heard.start("other", SHORT)
    await heard.until("other")
