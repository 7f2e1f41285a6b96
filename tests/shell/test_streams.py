"""Streams towards clients over HTTP: in order, bounded, and to be read again."""

from __future__ import annotations

from contextlib import aclosing

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloakllm_gateway.shell.front.streams import Event, Stream
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio
LINES = st.lists(st.binary(min_size=1, max_size=40), max_size=30)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def read(stream: Stream, after: int | None = None, count: int | None = None) -> list[Event]:
    """What a reader gets until the stream ends, or until it leaves after ``count`` messages."""
    got: list[Event] = []
    async with aclosing(stream.follow(after)) as events:
        async for event in events:
            assert event is not None
            got.append(event)
            if len(got) == count:
                break
    return got


@given(LINES)
def test_a_reader_gets_everything_once_and_in_order(lines: list[bytes]) -> None:
    stream = Stream(unread=10_000, kept=10_000)
    for line in lines:
        assert stream.put(line)
    stream.end()
    assert [event.line for event in anyio.run(read, stream)] == lines
    assert anyio.run(read, stream) == []


@given(LINES, st.integers(1, 30), st.integers(0, 30), st.integers(0, 200))
def test_who_comes_back_gets_what_is_behind_the_last_it_had(lines: list[bytes], left: int, had: int, kept: int) -> None:
    stream = Stream(unread=10_000, kept=kept)
    for line in lines:
        stream.put(line)
    stream.end()
    anyio.run(read, stream, None, left)
    if stream.reaches(had):
        assert [event.line for event in anyio.run(read, stream, had)] == lines[had:]
    elif had <= len(lines):
        assert sum(map(len, lines[: left + 1])) > kept  # only what did not fit may be gone


@given(LINES, st.integers(1, 100))
def test_what_waits_for_a_reader_is_bounded_and_one_message_always_fits(lines: list[bytes], unread: int) -> None:
    stream = Stream(unread=unread, kept=0)
    taken = [line for line in lines if stream.put(line)]
    assert taken[:1] == lines[:1]
    assert sum(map(len, taken[1:])) <= unread
    stream.end()
    assert not stream.put(b"late")
    assert [event.line for event in anyio.run(read, stream)] == taken


async def test_a_new_reader_takes_over_from_the_one_before() -> None:
    stream = Stream(100, 100)
    got: list[list[Event]] = []

    async def reader() -> None:
        got.append(await read(stream))

    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(reader)
            await anyio.wait_all_tasks_blocked()
            stream.put(b"one")
            await anyio.wait_all_tasks_blocked()
            tasks.start_soon(reader)
            await anyio.wait_all_tasks_blocked()
            stream.put(b"two")
            stream.end()
    assert [[event.line for event in each] for each in got] == [[b"one"], [b"two"]]


async def test_silence_is_told_from_the_end() -> None:
    stream = Stream(100, 100)
    with anyio.fail_after(PATIENCE):
        async with aclosing(stream.follow(patience=0.01)) as events:
            assert await anext(events) is None
            stream.put(b"one")
            assert await anext(events) == Event(1, b"one")
            stream.end()
            assert [event async for event in events] == []
