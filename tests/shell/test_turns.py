"""Everybody's items leave in order, and nobody waits for more than one of anybody else's."""

from __future__ import annotations

import asyncio

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloakllm_gateway.shell.steps import READY
from cloakllm_gateway.shell.turns import Turns
from tests.patience import PATIENCE


@given(st.lists(st.one_of(st.sampled_from("abc"), st.none()), max_size=60))
def test_items_leave_once_each_in_their_senders_order_and_in_turns(moves):
    """A letter is an item of that sender, None takes one out."""
    turns = Turns[tuple[str, int]](1000)
    waiting: dict[str, list[int]] = {}
    overtaken: dict[str, set[str]] = {}  # who has had a turn since a sender began to wait for one
    for number, move in enumerate(moves):
        if move is not None:
            assert turns.put(move, (move, number)) is READY
            waiting.setdefault(move, []).append(number)
            overtaken.setdefault(move, set())
        elif (taken := turns.take()) is None:
            assert not waiting
        else:
            sender, item = taken
            assert waiting[sender].pop(0) == item
            for other in waiting:
                if other != sender:
                    assert sender not in overtaken[other]
                    overtaken[other].add(sender)
            overtaken[sender] = set()
            if not waiting[sender]:
                del waiting[sender], overtaken[sender]


@pytest.mark.anyio
async def test_a_sender_of_too_much_waits_and_the_others_do_not():
    turns = Turns[int](2)
    assert turns.put("flood", 1) is READY
    rooms = [turns.put("flood", n) for n in (2, 3)]
    assert READY not in rooms
    assert turns.put("client", 4) is READY
    await asyncio.sleep(0)
    assert [turns.take(), turns.take()] == [1, 4]
    with anyio.move_on_after(0.01):
        await rooms[0]  # gives up
    turns.take()
    with anyio.fail_after(PATIENCE):
        await rooms[1]
    assert turns.put("client", 5) is READY


@pytest.mark.anyio
async def test_a_heavy_item_counts_as_many():
    turns = Turns[int](4)
    room = turns.put("flood", 1, weight=4)
    assert room is not READY
    assert turns.put("client", 2) is READY
    assert turns.take() == 1
    with anyio.fail_after(5):
        await room
    assert turns.put("flood", 3) is READY


@pytest.fixture
def anyio_backend():
    return "asyncio"
