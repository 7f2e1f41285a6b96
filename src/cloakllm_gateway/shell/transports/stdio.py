"""The client's side over standard input and output.

The descriptors are private copies that :mod:`..streams` made before anything
else was imported.

Pipes are read and written by two threads of our own.  asyncio cannot wait for
every kind of standard input (files, Windows pipes), and a thread of a pool that
is stuck in a ``read`` or ``write`` would keep the process from ending.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Awaitable, Callable
from typing import Final, Self

import anyio
from anyio import from_thread
from anyio.lowlevel import EventLoopToken, current_token
from anyio.streams.memory import MemoryObjectSendStream

from cloakllm_gateway.core.events import CLIENT, Event, Send
from cloakllm_gateway.shell.incoming import Incoming

#: Bytes read at once.
CHUNK: Final = 65_536

#: Lines on their way out before :meth:`Front.send` waits for the client.
BACKLOG: Final = 64

#: Seconds that leaving waits for a client that does not read.
FLUSH: Final = 2.0


class Front:
    """One client on a pair of file descriptors; used as an asynchronous context.

    :meth:`run` delivers what the client sends, :meth:`send` takes what it gets.
    Leaving the context writes what is waiting, for at most :data:`FLUSH` seconds.
    """

    def __init__(self, read_fd: int, write_fd: int, max_bytes: int) -> None:
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._incoming = Incoming(CLIENT, max_bytes)
        self._outgoing: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()

    async def __aenter__(self) -> Self:
        self._token = current_token()
        self._room = anyio.Semaphore(BACKLOG)
        self._written = anyio.Event()
        self._closed = anyio.Event()
        threading.Thread(target=self._write_all, name="client out", daemon=True).start()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._outgoing.put(None)
        with anyio.move_on_after(FLUSH, shield=True):
            await self._written.wait()

    async def run(self, post: Callable[[Event], Awaitable[None]]) -> None:
        """Post an event for each line of the client, in order; return when it closed its side or is gone."""
        send, receive = anyio.create_memory_object_stream[bytes](0)
        threading.Thread(target=self._read_all, args=(self._token, send), name="client in", daemon=True).start()
        async with send, receive, anyio.create_task_group() as tasks:
            tasks.start_soon(self._until_closed, tasks.cancel_scope)
            while data := await receive.receive():
                for event in self._incoming.feed(data):
                    await post(event)
            for event in self._incoming.finish():
                await post(event)
            tasks.cancel_scope.cancel()

    async def send(self, line: bytes, effect: Send) -> None:
        """Write one line (without its line feed) after those before it; waits while the client does not read.

        A line for a client that is gone is dropped: :meth:`run` returns then.
        """
        await self._room.acquire()
        self._outgoing.put(line)

    async def _until_closed(self, scope: anyio.CancelScope) -> None:
        await self._closed.wait()
        scope.cancel()

    def _read_all(self, token: EventLoopToken, chunks: MemoryObjectSendStream[bytes]) -> None:
        """Thread: chunks of standard input; an empty one is its end."""
        data = b"?"
        try:
            while data:
                try:
                    data = os.read(self._read_fd, CHUNK)
                except OSError:  # a vanished terminal or console; the same as an end
                    data = b""
                from_thread.run(chunks.send, data, token=token)
        except (anyio.RunFinishedError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            return  # nobody listens any more

    def _write_all(self) -> None:
        """Thread: lines to standard output until ``None`` comes."""
        try:
            broken = False
            while (line := self._outgoing.get()) is not None:
                if not broken and not self._write(line + b"\n"):
                    broken = True
                    from_thread.run_sync(self._closed.set, token=self._token)
                from_thread.run_sync(self._room.release, token=self._token)
            from_thread.run_sync(self._written.set, token=self._token)
        except anyio.RunFinishedError:
            return

    def _write(self, data: bytes) -> bool:
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._write_fd, view) :]
        except OSError:  # the client closed its end
            return False
        return True
