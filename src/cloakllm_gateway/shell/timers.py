"""Deadlines of the core."""

from __future__ import annotations

import asyncio
import math
from operator import itemgetter

from cloakllm_gateway.core.events import Elapsed, Timer
from cloakllm_gateway.shell.steps import Post


class Timers:
    """Posts :class:`Elapsed` for each timer that ran out; times are in seconds of the event loop's clock.

    Nearly all timers are stopped long before they run out, so the event loop
    has one for all of them: at the earliest end that it was told of.
    """

    def __init__(self, post: Post) -> None:
        self._post = post
        self._ends: dict[Timer, float] = {}
        self._next: asyncio.TimerHandle | None = None
        self._due = math.inf  # when that is

    def start(self, timer: Timer, seconds: float) -> None:
        """Start ``timer``, or move its end."""
        end = self._ends[timer] = asyncio.get_running_loop().time() + seconds
        if end < self._due:
            self._look_by(end)

    def stop(self, timer: Timer) -> None:
        self._ends.pop(timer, None)

    def stop_all(self) -> None:
        """Nobody is left to be told."""
        self._ends.clear()
        if self._next is not None:
            self._next.cancel()
            self._next, self._due = None, math.inf

    def _look_by(self, time: float) -> None:
        if self._next is not None:
            self._next.cancel()
        self._next, self._due = asyncio.get_running_loop().call_at(time, self._look), time

    def _look(self) -> None:
        """Tell of those whose time is up, in the order of their ends."""
        now = max(self._due, asyncio.get_running_loop().time())
        self._next, self._due = None, math.inf
        for timer, end in sorted(self._ends.items(), key=_end):
            if end > now:
                break
            if self._ends.get(timer) == end:  # not stopped or moved by what came of the one before
                del self._ends[timer]
                self._post(Elapsed(timer))  # which is due, room or not
        if self._ends:
            self._look_by(min(self._ends.values()))


_end = itemgetter(1)
