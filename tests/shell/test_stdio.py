"""The client's side: framed lines in, ordered lines out, and a standard output that carries nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from typing import Self

import anyio
import pytest

from cloakllm_gateway.core.events import Event, Overlong, Received, Send
from cloakllm_gateway.shell.transports.stdio import BACKLOG, Front
from tests.patience import PATIENCE

#: What the lines of these tests say does not matter to those who carry them.
SEND = Send("peer", {})

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


class Client:
    """The other end of a :class:`Front`; a context, which closes all ends of both pipes."""

    def __init__(self, max_bytes: int = 1 << 20) -> None:
        (theirs, mine), (my_own, its_own) = os.pipe(), os.pipe()
        self.says_to, self.hears = open(mine, "wb", 0), open(my_own, "rb", 0)  # noqa: SIM115
        self._front_ends = open(theirs, "rb", 0), open(its_own, "wb", 0)  # noqa: SIM115
        self.front = Front(theirs, its_own, max_bytes)
        self.seen: list[Event] = []
        self._saying: list[threading.Thread] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for end in (*self._front_ends, self.says_to, self.hears):
            end.close()
        for thread in self._saying:
            thread.join(PATIENCE)

    def says(self, data: bytes) -> None:
        self._saying.append(threading.Thread(target=self._say, args=(data,), daemon=True))
        self._saying[-1].start()

    def _say(self, data: bytes) -> None:
        with self.says_to:
            view = memoryview(data)
            while view:
                view = view[self.says_to.write(view) :]

    def front_ends(self) -> None:
        """The gateway's side is over: the client reads an end."""
        self._front_ends[1].close()

    async def listen(self) -> None:
        async def post(event: Event) -> None:
            self.seen.append(event)

        with anyio.fail_after(PATIENCE):
            await self.front.run(post)


@pytest.fixture
def client() -> Iterator[Client]:
    with Client() as client:
        yield client


async def test_lines_arrive_in_order_and_the_end_of_input_ends_the_run(client):
    async with client.front:
        client.says(b'{"a":1}\r\n\n{"b":"\xe2\x80\xa8"}\n{"c":3}')
        await client.listen()
    assert client.seen == [
        Received("client", b'{"a":1}'),
        Received("client", b'{"b":"\xe2\x80\xa8"}'),
        Received("client", b'{"c":3}'),
    ]


async def test_a_line_over_the_limit_is_reported_and_the_next_one_arrives():
    with Client(max_bytes=100) as client:
        client.says(b'{"jsonrpc":"2.0","id":7,"x":"' + b"y" * 300_000 + b'"}\n{"next":1}\n')
        async with client.front:
            await client.listen()
    assert client.seen == [Overlong("client", 7), Received("client", b'{"next":1}')]


async def test_a_line_of_many_chunks_arrives_whole(client):
    line = b'"' + b"x" * 300_000 + b'"'
    async with client.front:
        client.says(line + b"\n")
        await client.listen()
    assert client.seen == [Received("client", line)]


async def test_lines_leave_in_the_order_they_were_sent(client):
    received = bytearray()
    thread = threading.Thread(target=lambda: received.extend(client.hears.readall()))
    thread.start()
    async with client.front:
        for i in range(500):
            await client.front.send(b"%d" % i, SEND)
    client.front_ends()
    await anyio.to_thread.run_sync(thread.join, PATIENCE)
    assert received.split() == [b"%d" % i for i in range(500)]


async def test_a_client_that_does_not_read_makes_the_sender_wait(client):
    sent = 0
    async with client.front:
        with anyio.move_on_after(0.3) as scope:
            for _ in range(10 * BACKLOG):
                await client.front.send(b"x" * 65_536, SEND)
                sent += 1
        assert scope.cancelled_caught
        assert sent <= BACKLOG + 2
        client.hears.close()


async def test_a_client_that_closed_its_output_ends_the_run_and_takes_no_more(client):
    client.hears.close()
    async with client.front, anyio.create_task_group() as tasks:
        tasks.start_soon(client.listen)
        for _ in range(3 * BACKLOG):
            await client.front.send(b"x", SEND)


async def test_what_fails_beside_the_reading_is_no_reason_to_read_another_way(client):
    """Only an input that can't be waited for is; this one would be read without an end."""

    async def post(event: Event) -> None:
        raise PermissionError

    async with client.front:
        client.says_to.write(b"{}\n")
        with anyio.fail_after(PATIENCE), pytest.raises(PermissionError):
            try:
                await client.front.run(post)
            except* PermissionError as group:
                raise group.exceptions[0] from None


NOISY = """
    import os, sys
    import anyio
    from cloakllm_gateway.core.events import Send
    from cloakllm_gateway.shell.streams import claim
    from cloakllm_gateway.shell.transports.stdio import Front

    front = Front(*claim(), 1 << 20)
    print("downloading model 10%")
    os.write(1, b"raw noise\\n")
    os.system("echo a child prints")
    assert sys.stdin.read() == ""

    async def main():
        async with front:
            async def answer(event):
                print("called", flush=True)
                await front.send(b'{"echo":' + event.line + b"}", Send("client", {}))
            await front.run(answer)

    anyio.run(main)
"""


def run_program(source: str, **options: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-c", textwrap.dedent(source)], timeout=PATIENCE, **options)


def test_standard_output_carries_protocol_only_whatever_is_printed():
    done = run_program(NOISY, input=b"1\n2\n", capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    assert [json.loads(line) for line in done.stdout.splitlines()] == [{"echo": 1}, {"echo": 2}]
    for noise in (b"downloading", b"raw noise", b"a child prints", b"called"):
        assert noise in done.stderr


def test_a_closed_standard_error_does_not_spoil_the_protocol():
    done = run_program(NOISY, input=b"1\n", stdout=subprocess.PIPE, preexec_fn=lambda: os.close(2))
    assert done.stdout == b'{"echo":1}\n'


def test_text_is_utf8_whatever_the_locale_says():
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0", "LC_ALL": "C"}
    text = '"Müller ★ 東京 🎉"'.encode()
    done = run_program(NOISY, input=text + b"\n", capture_output=True, env=environment)
    assert done.stdout == b'{"echo":' + text + b"}\n"


def test_the_process_ends_on_a_signal_while_the_client_neither_writes_nor_reads():
    source = """
        import signal
        import anyio
        from cloakllm_gateway.core.events import Send
        from cloakllm_gateway.shell.streams import claim
        from cloakllm_gateway.shell.transports.stdio import Front

        front = Front(*claim(), 1 << 20)

        async def main():
            async with front, anyio.create_task_group() as tasks:
                async def ignore(event): ...
                tasks.start_soon(front.run, ignore)
                with anyio.open_signal_receiver(signal.SIGTERM) as signals:
                    await front.send(b"ready", Send("client", {}))
                    await front.send(b"x" * 1_000_000, Send("client", {}))
                    async for _ in signals:
                        tasks.cancel_scope.cancel()

        anyio.run(main)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(source)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.read(6) == b"ready\n"
        process.terminate()
        assert process.wait(PATIENCE) == 0
