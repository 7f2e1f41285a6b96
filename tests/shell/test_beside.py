"""Work beside the event loop's own: whose piece is done when, and who has to wait."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
import pytest

from cloakllm_gateway.shell.beside import Beside, Piece
from cloakllm_gateway.shell.steps import READY
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio
ROOM = 4


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Worker:
    """Does one piece after the other, whoever it is from, as a store or a process does; ``done`` is in which order."""

    def __init__(self) -> None:
        self._turn = anyio.Lock()
        self.done: list[str] = []

    def piece(self, name: str, turns: int = 1) -> Piece:
        async def work() -> None:
            async with self._turn:
                for _ in range(turns):
                    await anyio.lowlevel.checkpoint()
                self.done.append(name)

        return work


@asynccontextmanager
async def at_work() -> AsyncIterator[tuple[Beside, Worker]]:
    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            yield Beside(tasks, ROOM), Worker()


async def test_pieces_of_one_are_done_in_their_order() -> None:
    async with at_work() as (beside, worker):
        for n in range(10):
            beside.start("crm", worker.piece(str(n), turns=10 - n))
    assert worker.done == [str(n) for n in range(10)]


async def test_who_has_much_to_do_stands_before_others_with_one_piece_alone() -> None:
    async with at_work() as (beside, worker):
        for n in range(1000):
            beside.start("evil", worker.piece(f"evil {n}"))
        await anyio.lowlevel.checkpoint()
        beside.start("crm", worker.piece("crm"))
    assert worker.done.index("crm") <= 2


async def test_what_is_large_keeps_only_what_is_large_waiting() -> None:
    small = anyio.Event()

    async def large() -> None:
        await small.wait()

    async with at_work() as (beside, worker):
        beside.start("crm", large, large=True)
        beside.start("crm", worker.piece("another"), large=True)

        async def piece() -> None:
            assert worker.done == []
            small.set()

        beside.start("crm", piece)
    assert worker.done == ["another"]


async def test_who_has_too_much_waiting_is_told_when_there_is_room_again() -> None:
    held = anyio.Event()

    async def piece() -> None:
        await held.wait()

    async with at_work() as (beside, _):
        for n in range(ROOM):
            assert beside.room("evil") is READY
            beside.start("evil", piece, large=bool(n % 2))
        rooms = [beside.room("evil"), beside.room("evil")]
        assert READY not in rooms
        assert beside.room("crm") is READY
        held.set()
        for room in rooms:
            await room
    assert beside.room("evil") is READY


async def test_a_heavy_piece_counts_as_many() -> None:
    held = anyio.Event()

    async def piece() -> None:
        await held.wait()

    async with at_work() as (beside, _):
        beside.start("evil", piece, large=True, weight=ROOM)
        room = beside.room("evil")
        assert room is not READY
        held.set()
        await room
    assert beside.room("evil") is READY
