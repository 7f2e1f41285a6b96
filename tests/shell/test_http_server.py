"""The HTTP server under the front, against connections that do not get on."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import anyio
import pytest
from anyio.abc import SocketStream

from cloakllm_gateway.shell.front import server
from cloakllm_gateway.shell.library_logs import library_logs
from cloakllm_gateway.shell.listen import Address, ListenConfig
from tests.patience import PATIENCE
from tests.shell.notes import Notes

pytestmark = pytest.mark.anyio
REQUEST = b"GET / HTTP/1.1\r\nHost: gateway\r\n\r\n"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def hello(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
    await send({"type": "http.response.body", "body": b"hello"})


async def broken(scope: Any, receive: Any, send: Any) -> None:
    raise ValueError("kim@acme-corp.com")


@asynccontextmanager
async def served(app: Any) -> AsyncIterator[int]:
    """The port at which ``app`` is served."""
    with anyio.fail_after(PATIENCE), server.bound(ListenConfig(http="127.0.0.1:0"), Address("127.0.0.1", 0)) as at:
        async with server.listening(app, at, None):
            yield at.getsockname()[1]


@asynccontextmanager
async def connected(app: Any) -> AsyncIterator[SocketStream]:
    async with served(app) as port, await anyio.connect_tcp("127.0.0.1", port) as connection:
        yield connection


async def answer(connection: SocketStream) -> bytes:
    received = b""
    while not received.endswith(b"hello"):
        received += await connection.receive()
    return received


@pytest.mark.parametrize("before", [b"", REQUEST], ids=["at first", "after a request"])
async def test_a_head_that_comes_too_slowly_ends_the_connection(before: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "KEEP_ALIVE", 1)
    async with connected(hello) as connection:
        if before:
            await connection.send(before)
            await answer(connection)
        with pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)):
            for byte in REQUEST[:-1] * 100:  # a byte at a time, for longer than anybody waits
                await connection.send(bytes([byte]))
                with anyio.move_on_after(0.05):
                    await connection.receive()


async def test_requests_that_come_whole_are_answered_on_one_connection() -> None:
    async with connected(hello) as connection:
        for _ in range(3):
            await connection.send(REQUEST)
            assert (await answer(connection)).startswith(b"HTTP/1.1 200 OK\r\n")


async def test_a_bug_of_ours_is_told_by_its_kind_alone(capfd: pytest.CaptureFixture[str]) -> None:
    notes = Notes()
    with library_logs(notes):
        async with connected(broken) as connection:
            await connection.send(REQUEST)
            assert b" 500 " in await connection.receive()
    assert "error internal_error {'kind': 'ValueError', 'library': 'uvicorn.error'}" in notes.lines
    assert "kim@" not in "".join([*notes.lines, *capfd.readouterr()])


# -- more connections than there is room for -----------------------------------------------------------


async def closed(connection: SocketStream) -> None:
    """Wait until the server has closed it."""
    with pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)):
        await connection.receive()


async def test_who_has_waited_longest_for_a_request_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "CONNECTIONS", 8)
    async with served(hello) as port, AsyncExitStack() as stack:
        everybody = [await stack.enter_async_context(await anyio.connect_tcp("127.0.0.1", port)) for _ in range(6)]
        for connection in everybody[:3]:
            await connection.send(REQUEST)
            await answer(connection)
        for _ in range(20):  # however many come and say nothing
            everybody.append(await stack.enter_async_context(await anyio.connect_tcp("127.0.0.1", port)))
            await everybody[-1].send(REQUEST[:5])
        late = everybody[-1]
        await late.send(REQUEST[5:])
        assert (await answer(late)).startswith(b"HTTP/1.1 200 OK\r\n")
        for connection in everybody[:15]:
            await closed(connection)


async def test_who_is_being_served_makes_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "CONNECTIONS", 4)
    everybody_may = anyio.Event()

    async def patient(scope: Any, receive: Any, send: Any) -> None:
        await everybody_may.wait()
        await hello(scope, receive, send)

    async with served(patient) as port, AsyncExitStack() as stack:
        served_ones = [await stack.enter_async_context(await anyio.connect_tcp("127.0.0.1", port)) for _ in range(3)]
        for connection in served_ones:
            await connection.send(REQUEST)
        for _ in range(5):
            async with await anyio.connect_tcp("127.0.0.1", port) as late:
                await closed(late)
        everybody_may.set()
        for connection in served_ones:
            assert (await answer(connection)).startswith(b"HTTP/1.1 200 OK\r\n")


@pytest.mark.skipif(os.name != "posix", reason="asks for a limit of POSIX")
@pytest.mark.parametrize(("soft", "hard", "most", "then"), [(256, 400, 100, 400), (1024, 100_000, 2048, 8192)])
def test_connections_take_a_quarter_of_the_descriptors(soft: int, hard: int, most: int, then: int) -> None:
    program = f"""
import resource
from cloakllm_gateway.shell.front import server
ceiling = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard} if ceiling < 0 else min({hard}, ceiling)))
print(server.most_connections(), resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(most), str(then)]
