"""Work beside the event loop: of each upstream one piece at a time.

Large texts, names and stores are for others to work on, and those take one
piece after the other, whoever it is from.  So if all that an upstream says were
handed to them as it comes, one that talks without end would stand before
everybody else.  Here each has its own queue, and whoever fills it has to wait.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from anyio.abc import TaskGroup

from cloakllm_gateway.shell.steps import READY
from cloakllm_gateway.shell.turns import Rooms

Piece: TypeAlias = Callable[[], Awaitable[None]]


class Beside:
    """``tasks`` is where it is done.

    ``room`` is how many pieces of one upstream may wait before it has to; a heavy one counts as many.
    """

    def __init__(self, tasks: TaskGroup, room: int) -> None:
        self._tasks = tasks
        self._room = room
        self._queues: dict[tuple[str, bool], deque[tuple[Piece, int]]] = {}
        self._waiting: Counter[str] = Counter()
        self._rooms = Rooms()

    def start(self, upstream: str, piece: Piece, *, large: bool = False, weight: int = 1) -> None:
        """Do ``piece`` once those before it are done; a large one keeps only other large ones waiting."""
        self.hold(upstream, weight)
        queue = self._queues.get((upstream, large))
        if queue is not None:
            queue.append((piece, weight))
            return
        self._queues[upstream, large] = deque([(piece, weight)])
        self._tasks.start_soon(self._work, upstream, large)

    def hold(self, upstream: str, weight: int) -> None:
        """So much of ``upstream`` waits elsewhere, until :meth:`let_go`: it counts like its pieces."""
        self._waiting[upstream] += weight

    def let_go(self, upstream: str, weight: int) -> None:
        self._waiting[upstream] -= weight
        if self._waiting[upstream] < self._room:
            self._rooms.free(upstream)

    def room(self, upstream: str) -> Awaitable[None]:
        """There once ``upstream`` may say more."""
        if self._waiting.get(upstream, 0) < self._room:  # a counter's own answer takes thrice as long
            return READY
        return self._rooms.wait(upstream)

    async def _work(self, upstream: str, large: bool) -> None:
        queue = self._queues[upstream, large]
        while queue:
            piece, weight = queue.popleft()
            await piece()
            self.let_go(upstream, weight)
        del self._queues[upstream, large]
