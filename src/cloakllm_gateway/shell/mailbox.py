"""A queue between tasks that costs nothing while there is something in it.

A memory stream of anyio gives way to other tasks at every item; between the
one who listens and the one who works that is a turn of the event loop for each
message, several times per call.  So whoever has to wait does so for a future,
and nobody else waits.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Generic, TypeVar

T = TypeVar("T")


class Mailbox(Generic[T]):
    """Any number of senders, one receiver.  ``room`` is how many items may wait before :meth:`put` does."""

    def __init__(self, room: float) -> None:
        self._room = room
        self._items: deque[T] = deque()
        self._receiver: asyncio.Future[None] | None = None
        self._senders: deque[asyncio.Future[None]] = deque()

    def __len__(self) -> int:
        return len(self._items)

    async def put(self, item: T) -> None:
        """Add ``item``, once there is room."""
        while len(self._items) >= self._room:
            turn = asyncio.get_running_loop().create_future()
            self._senders.append(turn)
            await turn
        self.put_nowait(item)

    def put_nowait(self, item: T) -> None:
        """Add ``item``, room or not."""
        self._items.append(item)
        if self._receiver is not None and not self._receiver.done():
            self._receiver.set_result(None)

    async def get(self) -> T:
        """The oldest item; waits where there is none."""
        while not self._items:
            self._receiver = asyncio.get_running_loop().create_future()
            await self._receiver
        item = self._items.popleft()
        while self._senders:
            turn = self._senders.popleft()
            if not turn.done():  # one whose sender was cancelled leads to the next
                turn.set_result(None)
                break
        return item
