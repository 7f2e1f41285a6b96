"""What every transport owes a session, whatever it is made of."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest

from cloakllm_gateway.core.events import Event, Received, Send
from cloakllm_gateway.shell.front.channels import SessionChannel
from cloakllm_gateway.shell.logging import Logger
from cloakllm_gateway.shell.transports import Transport
from cloakllm_gateway.shell.transports.memory import Memory
from cloakllm_gateway.shell.transports.stdio import Front
from tests.patience import PATIENCE

#: What the lines of these tests say does not matter to those who carry them.
MESSAGE = Send("client", {"jsonrpc": "2.0", "method": "notifications/message"})

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


class OverPipes:
    """A client of :class:`Front` with the client's half of :class:`Memory`."""

    def __init__(self) -> None:
        theirs, self._write_fd = os.pipe()
        self._read_fd, ours = os.pipe()
        self.front = Front(theirs, ours, 1 << 20)
        self._reader = os.fdopen(self._read_fd, "rb")

    async def say(self, line: bytes) -> None:
        await anyio.to_thread.run_sync(os.write, self._write_fd, line + b"\n")

    async def hear(self) -> bytes:
        return (await anyio.to_thread.run_sync(self._reader.readline)).rstrip(b"\n")

    def leave(self) -> None:
        os.close(self._write_fd)


class OverHttp:
    """A client that posts messages, and reads what belongs to no request from the standing stream."""

    def __init__(self) -> None:
        self.channel = SessionChannel("somebody", 1 << 20, Logger("error"))
        self._events = self.channel.standing.follow()

    async def say(self, line: bytes) -> None:
        await self.channel.reply(line)

    async def hear(self) -> bytes:
        event = await anext(self._events)
        assert event is not None
        return event.line

    def leave(self) -> None:
        self.channel.end()


@asynccontextmanager
async def http() -> AsyncIterator[tuple[Transport, OverHttp]]:
    client = OverHttp()
    yield client.channel, client
    client.channel.close()


@asynccontextmanager
async def stdio() -> AsyncIterator[tuple[Transport, OverPipes]]:
    client = OverPipes()
    async with client.front:
        yield client.front, client


@asynccontextmanager
async def memory() -> AsyncIterator[tuple[Transport, Memory]]:
    transport = Memory()
    yield transport, transport


@pytest.fixture(params=[stdio, memory, http])
async def connected(request):
    """A transport, its client, and the events posted so far, while the transport runs."""
    async with request.param() as (transport, client), anyio.create_task_group() as tasks:
        events: list[Event] = []
        left = anyio.Event()

        async def post(event: Event) -> None:
            events.append(event)

        async def run() -> None:
            await transport.run(post)
            left.set()

        tasks.start_soon(run)
        yield transport, client, events, left
        if not left.is_set():
            client.leave()


async def test_what_the_client_says_is_posted_in_order_and_its_leaving_ends_the_run(connected):
    _, client, events, left = connected
    lines = [b'{"n":%d}' % n for n in range(50)]
    for line in lines:
        await client.say(line)
    client.leave()
    with anyio.fail_after(PATIENCE):
        await left.wait()
    assert events == [Received("client", line) for line in lines]


async def test_the_client_hears_what_was_sent_in_order(connected):
    transport, client, _, _ = connected
    lines = [b'{"n":%d}' % n for n in range(50)]
    for line in lines:
        await transport.send(line, MESSAGE)
    with anyio.fail_after(PATIENCE):
        assert [await client.hear() for _ in lines] == lines


async def test_a_client_that_does_not_hear_costs_a_bounded_number_of_bytes(connected):
    """Whether the sender waits, as where one client has the session to itself, or what does not fit is dropped."""
    transport, client, _, _ = connected
    sent = heard = 0
    with anyio.move_on_after(0.5):
        while sent < 10_000:
            await transport.send(b"x" * 10_000, MESSAGE)
            sent += 1
    with anyio.move_on_after(1):
        while heard < sent:
            await client.hear()
            heard += 1
    assert 0 < heard < 1_000
