"""Work in steps goes as far as it can without waiting, and is the same work when it has to wait."""

from __future__ import annotations

import asyncio

import anyio
import pytest

from cloakllm_gateway.shell.steps import READY, Steps, finish

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


async def later(value: object) -> object:
    await anyio.lowlevel.checkpoint()
    if isinstance(value, Exception):
        raise value
    return value


def doubled(*values: object) -> Steps[list[object]]:
    """Twice each value, None for one that fails."""
    done: list[object] = []
    for value in values:
        if isinstance(value, int):
            done.append(2 * value)
            continue
        try:
            found = yield later(value)
            done.append(2 * found)
        except KeyError:
            done.append(None)
    return done


def test_what_waits_for_nothing_is_done_without_an_event_loop():
    with pytest.raises(StopIteration) as end:
        next(doubled(1, 2))
    assert end.value.value == [2, 4]


async def test_what_was_waited_for_comes_back_and_so_does_its_failure():
    assert await finish(doubled(1, "a", 2, KeyError(), "b"), READY) == [2, "aa", 4, None, "bb"]
    assert await finish(doubled(), READY) == []


async def test_a_failure_that_nobody_expected_ends_the_steps():
    with pytest.raises(ValueError, match="no"):
        await finish(doubled("a", ValueError("no"), "b"), READY)


async def test_the_rest_can_be_left_to_somebody_else():
    steps = doubled(1, "a", 2)
    awaited = next(steps)
    assert await finish(steps, awaited) == [2, "aa", 4]


async def test_steps_that_are_cancelled_clean_up():
    left: list[str] = []

    def patient() -> Steps[None]:
        try:
            yield anyio.sleep_forever()
        finally:
            left.append("clean")

    with anyio.move_on_after(0):
        await finish(patient(), READY)
    assert left == ["clean"]


async def test_to_wait_for_what_is_ready_takes_no_turn_of_the_loop():
    turns: list[int] = []
    asyncio.get_running_loop().call_soon(turns.append, 1)
    for _ in range(3):
        await READY
    assert turns == []
