"""A fair queue: senders take turns, and one with much to say keeps the others waiting for one item at most."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable
from typing import Generic, TypeVar

from cloakllm_gateway.shell.steps import READY

T = TypeVar("T")


class Rooms:
    """Those who have to wait, by name, until there is room for them again."""

    def __init__(self) -> None:
        self._full: dict[str, asyncio.Future[None]] = {}

    def wait(self, name: str) -> Awaitable[None]:
        """There once :meth:`free` was called for ``name``."""
        if name not in self._full:
            self._full[name] = asyncio.get_running_loop().create_future()
        return asyncio.shield(self._full[name])  # one of several that wait may give up

    def free(self, name: str) -> None:
        if (full := self._full.pop(name, None)) is not None:
            full.set_result(None)


class Turns(Generic[T]):
    """Items of one sender leave in their order.

    ``room`` is how many of its items may wait before it has to; a heavy one counts as many.
    """

    def __init__(self, room: int) -> None:
        self._room = room
        self._queues: dict[str, deque[tuple[T, int]]] = {}
        self._waiting: dict[str, int] = {}
        self._order: deque[str] = deque()  # of those who have something here
        self._rooms = Rooms()

    def put(self, sender: str, item: T, weight: int = 1) -> Awaitable[None]:
        """Take ``item``; the answer is there once ``sender`` may bring more."""
        queue = self._queues.get(sender)
        if queue is None:
            queue = self._queues[sender] = deque()
            self._waiting[sender] = 0
            self._order.append(sender)
        queue.append((item, weight))
        self._waiting[sender] += weight
        if self._waiting[sender] < self._room:
            return READY
        return self._rooms.wait(sender)

    def take(self) -> T | None:
        """The oldest item of whoever's turn it is, if there is any."""
        if not self._order:
            return None
        sender = self._order.popleft()
        queue = self._queues[sender]
        item, weight = queue.popleft()
        waiting = self._waiting[sender] = self._waiting[sender] - weight
        if queue:
            self._order.append(sender)
        else:
            del self._queues[sender], self._waiting[sender]
        if waiting < self._room:
            self._rooms.free(sender)
        return item
