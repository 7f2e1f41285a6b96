"""The HTTP server under the front, against connections that do not get on."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from anyio.abc import SocketStream

from cloakllm_gateway.shell.front import server
from cloakllm_gateway.shell.listen import Address, ListenConfig
from cloakllm_gateway.shell.logging import Logger

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
async def connected(app: Any, logger: Logger | None = None) -> AsyncIterator[SocketStream]:
    with anyio.fail_after(20), server.bound(ListenConfig(http="127.0.0.1:0"), Address("127.0.0.1", 0)) as at:
        host, port = at.getsockname()
        async with (
            server.listening(app, at, None, logger or Logger("error")),
            await anyio.connect_tcp(host, port) as connection,
        ):
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


class Notes(Logger):
    def __init__(self) -> None:
        super().__init__("debug")
        self.lines: list[str] = []

    def log(self, level: str, event: str, **fields: object) -> None:
        self.lines.append(f"{level} {event} {fields}")


async def test_a_bug_of_ours_is_told_by_its_kind_alone(capfd: pytest.CaptureFixture[str]) -> None:
    notes = Notes()
    async with connected(broken, notes) as connection:
        await connection.send(REQUEST)
        assert b" 500 " in await connection.receive()
    assert "error http_internal_error {'kind': 'ValueError'}" in notes.lines
    assert "kim@" not in "".join([*notes.lines, *capfd.readouterr()])
