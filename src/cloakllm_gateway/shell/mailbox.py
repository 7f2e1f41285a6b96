"""A queue between tasks that costs nothing while there is something in it.

A memory stream of anyio gives way to other tasks at every item; between the
one who listens and the one who works that is a turn of the event loop for each
message, several times per call.
"""

from __future__ import annotations

from collections import deque
from typing import Generic, TypeVar

import anyio

T = TypeVar("T")


class Mailbox(Generic[T]):
    """Any number of senders, one receiver.  ``room`` is how many items may wait before :meth:`put` does."""

    def __init__(self, room: float) -> None:
        self._room = room
        self._items: deque[T] = deque()
        self._filled = anyio.Event()
        self._emptied = anyio.Event()

    def __len__(self) -> int:
        return len(self._items)

    async def put(self, item: T) -> None:
        """Add ``item``, once there is room."""
        while len(self._items) >= self._room:
            self._emptied = self._emptied if not self._emptied.is_set() else anyio.Event()
            await self._emptied.wait()
        self.put_nowait(item)

    def put_nowait(self, item: T) -> None:
        """Add ``item``, room or not."""
        self._items.append(item)
        self._filled.set()

    async def get(self) -> T:
        """The oldest item; waits where there is none."""
        while not self._items:
            self._filled = anyio.Event()
            await self._filled.wait()
        item = self._items.popleft()
        self._emptied.set()
        return item
