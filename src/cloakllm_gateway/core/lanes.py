"""The order of what each upstream says, towards the client and of the work on it.

A notification or question keeps all that its upstream says after it waiting
until it has left; a response keeps nobody waiting, so those of different
requests may overtake each other.  What waits is not worked on yet: a value that
one message proves is known in the next one, and would be shown there otherwise.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

from msgspec import Struct, field

from cloakllm_gateway.core.events import Effect, Postpone, Resume


class Waiting(Struct, frozen=True):
    """A message that waits: how the work on it begins, whether others wait for it, and its bytes."""

    begin: Callable[[], None]
    keeps: bool
    size: int


class Lane(Struct):
    """``is_taken`` while a message that others wait for is worked on; those that wait, in their order.

    Where some wait and it is not taken, the turn of the first has been asked for.
    """

    is_taken: bool = False
    waiting: deque[Waiting] = field(default_factory=deque)


class Speaker(Protocol):
    """An upstream as far as its order goes."""

    @property
    def name(self) -> str: ...

    @property
    def lane(self) -> Lane: ...


class Lanes:
    """Begins the work on each message when its turn has come."""

    def __init__(self, emit: Callable[[Effect], None]) -> None:
        self._emit = emit
        self.at_hand = 0  # the bytes of the message that is being handled

    def enter(self, upstream: Speaker, begin: Callable[[], None], *, keeps: bool) -> None:
        """Have the work on the message at hand begin; one that ``keeps`` others waiting has to :meth:`leave`."""
        lane = upstream.lane
        if lane.is_taken or lane.waiting:
            lane.waiting.append(Waiting(begin, keeps, self.at_hand))
            self._emit(Postpone(upstream.name, self.at_hand))
            return
        lane.is_taken = keeps
        begin()

    def leave(self, upstream: Speaker) -> None:
        """What the others waited for has left."""
        upstream.lane.is_taken = False
        self._ask(upstream)

    def resume(self, upstream: Speaker) -> None:
        """It is the turn of the oldest that waits."""
        lane = upstream.lane
        next_one = lane.waiting.popleft()
        self.at_hand, lane.is_taken = next_one.size, next_one.keeps
        if not next_one.keeps:
            self._ask(upstream)
        next_one.begin()

    def _ask(self, upstream: Speaker) -> None:
        if waiting := upstream.lane.waiting:
            self._emit(Resume(upstream.name, waiting[0].size))
