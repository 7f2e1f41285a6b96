"""Work that runs on the spot as far as it can, and becomes a task only where it has to wait.

A coroutine costs a task, and each of its starts a turn of the event loop.  On
the way of a small message nothing has to be waited for: its bytes have been
read, its texts are short, the pipes have room.  So the work on it is a
generator (:data:`Steps`) that yields the awaitables it cannot go on without;
whoever runs it takes steps where it stands until the first one comes, and only
then needs a task.

In the same spirit a function that seldom waits is no coroutine but answers with
an awaitable, which is :data:`READY` where there is nothing to wait for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable
from typing import Any, Final, TypeVar

from cloakllm_gateway.core.events import Event

T = TypeVar("T")

#: Work that ends with a ``T``, and waits for what it yields.
Steps = Generator[Awaitable[Any], Any, T]

#: Takes an event; the awaitable is there for whoever is to bring no more of them until there is room.
Post = Callable[[Event], Awaitable[None]]


class _Ready:
    def __await__(self) -> Generator[Any, Any, None]:
        yield from ()


#: To await it takes no time and no turn of the event loop.
READY: Final[Awaitable[None]] = _Ready()


def post_all(post: Post, events: Iterable[Event]) -> list[asyncio.Future[None]]:
    """Post events in order; what is there once each has room, for those that have none."""
    rooms: list[asyncio.Future[None]] = []
    for event in events:
        if (room := post(event)) is not READY:
            rooms.append(asyncio.ensure_future(room))  # one that answers a ping is at work without us
    return rooms


async def finish(steps: Steps[T], awaited: Awaitable[Any]) -> T:
    """Take the steps that are left, ``awaited`` being what the last one waits for."""
    try:
        while True:
            try:
                result = await awaited
            except BaseException as error:  # noqa: BLE001 - it is the steps' own, cancellation included
                awaited = steps.throw(error)
            else:
                awaited = steps.send(result)
    except StopIteration as end:
        done: T = end.value
        return done


def forgo(steps: Steps[T], awaited: Awaitable[Any]) -> None:
    """Take no more steps, and wait for nothing: ``awaited`` is what the last one would have waited for."""
    steps.close()
    if isinstance(awaited, Coroutine):
        awaited.close()
