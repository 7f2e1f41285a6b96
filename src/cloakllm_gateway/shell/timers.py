"""Deadlines of the core."""

from __future__ import annotations

import asyncio

from cloakllm_gateway.core.events import Elapsed, Timer
from cloakllm_gateway.shell.steps import Post


class Timers:
    """Posts :class:`Elapsed` for each timer that ran out; times are in seconds of the event loop's clock."""

    def __init__(self, post: Post) -> None:
        self._post = post
        self._running: dict[Timer, asyncio.TimerHandle] = {}

    def start(self, timer: Timer, seconds: float) -> None:
        """Start ``timer``, or move its end."""
        self.stop(timer)
        self._running[timer] = asyncio.get_running_loop().call_later(seconds, self._elapse, timer)

    def stop(self, timer: Timer) -> None:
        if handle := self._running.pop(timer, None):
            handle.cancel()

    def stop_all(self) -> None:
        """Nobody is left to be told."""
        for handle in self._running.values():
            handle.cancel()
        self._running.clear()

    def _elapse(self, timer: Timer) -> None:
        del self._running[timer]
        self._post(Elapsed(timer))  # which is due, room or not
