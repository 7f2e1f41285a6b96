"""The client's side over standard input and output.

The descriptors are private copies that :mod:`..streams` made before anything
else was imported.

What the event loop can wait for is read by it, and a line that fits into the
pipe is written at once.  For everything else there are two threads of our own:
asyncio cannot wait for every kind of standard input (files, Windows pipes), a
client need not read what it gets, and a thread of a pool that is stuck in a
``read`` or ``write`` would keep the process from ending.
"""

from __future__ import annotations

import asyncio
import os
import queue
import select
import sys
import threading
from collections.abc import Awaitable, Callable
from typing import Final, Self

import anyio
from anyio import from_thread
from anyio.lowlevel import EventLoopToken, current_token
from anyio.streams.memory import MemoryObjectSendStream

from cloakllm_gateway.core.events import CLIENT, Send
from cloakllm_gateway.shell.incoming import Incoming
from cloakllm_gateway.shell.steps import READY, Post, post_all

#: Bytes read at once.
CHUNK: Final = 65_536

#: Bytes that a pipe which can be written to takes without waiting (POSIX: at least 512).
AT_ONCE: Final = getattr(select, "PIPE_BUF", 0)

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
        self._queued = 0

    async def __aenter__(self) -> Self:
        self._token = current_token()
        # Without waiting for it: a loop that is busy must not keep lines from a client that reads them.
        self._tell = asyncio.get_running_loop().call_soon_threadsafe
        self._room = anyio.Semaphore(BACKLOG)
        self._written = anyio.Event()
        self._closed = anyio.Event()
        self._room_in_pipe = _poller(self._write_fd)
        threading.Thread(target=self._write_all, name="client out", daemon=True).start()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._outgoing.put(None)
        with anyio.move_on_after(FLUSH, shield=True):
            await self._written.wait()

    async def run(self, post: Post) -> None:
        """Post an event for each line of the client, in order; return when it closed its side or is gone."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._until_closed, tasks.cancel_scope)
            listen = self._listen if self._can_be_waited_for() else self._listen_in_thread
            await listen(post)
            for event in self._incoming.finish():
                await post(event)
            tasks.cancel_scope.cancel()

    def _can_be_waited_for(self) -> bool:
        """Whether the event loop can tell when there is something to read."""
        loop = asyncio.get_running_loop()
        try:
            loop.add_reader(self._read_fd, lambda: None)
        except (OSError, NotImplementedError):
            return False
        loop.remove_reader(self._read_fd)
        return True

    async def _listen(self, post: Post) -> None:
        """Post what the client says until it closes its side; nothing is read while an event waits for room."""
        loop = asyncio.get_running_loop()

        def readable() -> None:
            data = _read(self._read_fd)
            rooms = post_all(post, self._incoming.feed(data))
            if rooms or not data:
                loop.remove_reader(self._read_fd)
                if not paused.done():  # cancelled in this turn of the loop
                    paused.set_result(rooms)

        while True:
            paused = loop.create_future()
            loop.add_reader(self._read_fd, readable)
            try:
                rooms = await paused
            finally:
                loop.remove_reader(self._read_fd)
            if not rooms:
                return
            for room in rooms:
                await room

    async def _listen_in_thread(self, post: Post) -> None:
        send, receive = anyio.create_memory_object_stream[bytes](0)
        threading.Thread(target=self._read_all, args=(self._token, send), name="client in", daemon=True).start()
        async with send, receive:
            while data := await receive.receive():
                for event in self._incoming.feed(data):
                    await post(event)

    def send(self, line: bytes, effect: Send) -> Awaitable[None]:
        """Write one line (without its line feed) after those before it; to be awaited, for the client may not read.

        A line for a client that is gone is dropped: :meth:`run` returns then.
        """
        if self._queued or len(line) >= AT_ONCE or not self._room_in_pipe():
            return self._queue(line)
        if not self._write(line + b"\n"):
            self._closed.set()
        return READY

    async def _queue(self, line: bytes) -> None:
        await self._room.acquire()
        self._queued += 1
        self._outgoing.put(line)

    def _written_one(self) -> None:
        self._queued -= 1
        self._room.release()

    async def _until_closed(self, scope: anyio.CancelScope) -> None:
        await self._closed.wait()
        scope.cancel()

    def _read_all(self, token: EventLoopToken, chunks: MemoryObjectSendStream[bytes]) -> None:
        """Thread: chunks of standard input; an empty one is its end."""
        data = b"?"
        try:
            while data:
                data = _read(self._read_fd)
                from_thread.run(chunks.send, data, token=token)
        except (anyio.RunFinishedError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            return  # nobody listens any more

    def _write_all(self) -> None:
        """Thread: lines to standard output until ``None`` comes."""
        try:
            broken = False
            while (line := self._outgoing.get()) is not None:
                if not broken and not (self._write(line) and self._write(b"\n")):  # no copy of what is large
                    broken = True
                    self._tell(self._closed.set)
                self._tell(self._written_one)
            self._tell(self._written.set)
        except RuntimeError:  # the event loop is closed
            return

    def _write(self, data: bytes) -> bool:
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._write_fd, view) :]
        except OSError:  # the client closed its end
            return False
        return True


def _read(fd: int) -> bytes:
    try:
        return os.read(fd, CHUNK)
    except OSError:  # a vanished terminal or console; the same as an end
        return b""


def _poller(fd: int) -> Callable[[], bool]:
    """Says whether :data:`AT_ONCE` bytes can be written to ``fd`` without waiting."""
    if sys.platform == "win32":
        return lambda: False
    poll = select.poll()
    poll.register(fd, select.POLLOUT)
    return lambda: poll.poll(0) == [(fd, select.POLLOUT)]
