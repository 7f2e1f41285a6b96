"""The default store: values live as long as the process, numbers are never reused.

Only the high-water numbers touch the disk, and only when the first value needs
a token.  Small on purpose: it is the example to copy for another store.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

import anyio
import anyio.to_thread

from cloakllm_gateway.shell.stores.book import Book, Look, Name
from cloakllm_gateway.shell.stores.highwater import HighWater, Numbers, RandomStart
from cloakllm_gateway.shell.stores.interface import Follower, Options
from cloakllm_gateway.vault.entries import Entry, Spelling, Token

#: Spellings of one message that are given their tokens in a thread: sessions share the event loop.
MANY = 1_000


class MemoryStore:
    """A :class:`~cloakllm_gateway.shell.stores.interface.Store` in memory.

    ``options.state_dir`` holds the high-water numbers; without one, numbers
    start at random.  ``clock`` tells the seconds since 1970.
    """

    shared = False

    def __init__(self, options: Options, clock: Callable[[], float] = time.time) -> None:
        state_dir = options.state_dir
        self._numbers: Numbers = RandomStart() if state_dir is None else HighWater(state_dir)
        self._book = Book(options.quotas, _plain_name, options.ttl)
        self._clock = clock
        self._lock = anyio.Lock()

    async def assign(self, namespace: str, group: str, origin: str, spellings: Sequence[Spelling]) -> list[Entry]:
        async with self._lock:
            self._expire()
            if len(spellings) > MANY:
                return await anyio.to_thread.run_sync(self._assign, namespace, group, origin, spellings)
            look = self._book.look(namespace, group, origin, spellings)
            if look.wanted and not self._numbers.ready(look.wanted):
                # Waits for a file lock and for the disk; shielded, so that nothing is half done.
                await anyio.to_thread.run_sync(self._numbers.reserve, look.wanted)
            return self._settle(look)

    def _assign(self, namespace: str, group: str, origin: str, spellings: Sequence[Spelling]) -> list[Entry]:
        look = self._book.look(namespace, group, origin, spellings)
        if not self._numbers.ready(look.wanted):
            self._numbers.reserve(look.wanted)
        return self._settle(look)

    def _settle(self, look: Look) -> list[Entry]:
        """From here on nothing waits and nothing fails."""
        changes, entries = self._book.settle(look, self._numbers.take, self._clock())
        self._book.apply(changes)
        return entries

    async def follow(self, namespace: str) -> Follower:
        async with self._lock:
            return self._book.follow(namespace)

    async def refresh(self) -> None:
        if not self._lock.locked():  # else whoever holds it has seen to that
            self._expire()

    async def restored(self, namespace: str, tokens: Iterable[Token]) -> None:
        async with self._lock:
            self._book.apply(self._book.restored(namespace, tokens))

    async def forget(self, namespace: str) -> None:
        async with self._lock:
            self._book.apply(self._book.without(namespace))

    def check(self) -> None:
        self._numbers.check()

    def close(self) -> None:
        """Nothing is written but the numbers, at once."""

    def _expire(self) -> None:
        self._book.apply(self._book.expired(self._clock()))


def _plain_name(purpose: str, parts: tuple[str, ...]) -> Name:
    return (purpose, *parts)
