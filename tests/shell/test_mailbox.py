"""Items arrive once each and in order, whoever waits for whom."""

from __future__ import annotations

import anyio
import pytest

from cloakllm_gateway.shell.mailbox import Mailbox

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


async def test_what_is_there_is_taken_without_waiting():
    box = Mailbox[int](2)
    box.put_nowait(1)
    box.put_nowait(2)
    coroutine = box.get()
    with pytest.raises(StopIteration) as taken:
        coroutine.send(None)
    assert taken.value.value == 1
    assert await box.get() == 2


async def test_a_full_box_makes_senders_wait_and_loses_nothing():
    box = Mailbox[int](3)
    taken: list[int] = []

    async def send(first: int) -> None:
        for n in range(first, first + 100):
            await box.put(n)

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(send, 0)
            tasks.start_soon(send, 1000)
            while len(taken) < 200:
                taken.append(await box.get())
                await anyio.lowlevel.checkpoint()
    assert [n for n in taken if n < 1000] == list(range(100))
    assert [n for n in taken if n >= 1000] == list(range(1000, 1100))


async def test_a_receiver_that_waits_is_woken():
    box = Mailbox[str](1)
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(box.put, "late")
            assert await box.get() == "late"


async def test_a_sender_that_gives_up_does_not_hold_up_the_next():
    box = Mailbox[int](1)
    box.put_nowait(0)
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            with anyio.move_on_after(0.05):
                await box.put(1)
            tasks.start_soon(box.put, 2)
            await anyio.wait_all_tasks_blocked()
            assert [await box.get(), await box.get()] == [0, 2]
