"""Deadlines of the core, kept by one task however many there are."""

from __future__ import annotations

import heapq
from collections.abc import Awaitable, Callable

import anyio

from cloakllm_gateway.core.events import Elapsed, Timer

#: Entries of timers that are no more, beyond as many as there are timers, before they are swept out.
SLACK = 64


class Timers:
    """Posts :class:`Elapsed` for each timer that ran out; times are in seconds of the event loop's clock."""

    def __init__(self, post: Callable[[Elapsed], Awaitable[None]]) -> None:
        self._post = post
        self._ends: dict[Timer, float] = {}
        self._heap: list[tuple[float, int, Timer]] = []
        self._started = 0
        self._changed = anyio.Event()

    def start(self, timer: Timer, seconds: float) -> None:
        """Start ``timer``, or move its end."""
        end = anyio.current_time() + seconds
        self._ends[timer] = end
        self._started += 1
        heapq.heappush(self._heap, (end, self._started, timer))
        if self._heap[0][1] == self._started:
            self._changed.set()
        if len(self._heap) > 2 * len(self._ends) + SLACK:
            self._heap = [entry for entry in self._heap if self._ends.get(entry[2]) == entry[0]]
            heapq.heapify(self._heap)

    def stop(self, timer: Timer) -> None:
        self._ends.pop(timer, None)

    async def run(self) -> None:
        """Keep time until cancelled."""
        while True:
            self._changed = anyio.Event()
            wait = self._heap[0][0] - anyio.current_time() if self._heap else float("inf")
            with anyio.move_on_after(max(wait, 0)):
                await self._changed.wait()
            while self._heap and self._heap[0][0] <= anyio.current_time():
                end, _, timer = heapq.heappop(self._heap)
                # An entry of a timer that was stopped or moved meanwhile says nothing.
                if self._ends.get(timer) == end:
                    del self._ends[timer]
                    await self._post(Elapsed(timer))
