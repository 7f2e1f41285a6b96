"""What every token store does, and the limits it keeps."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

from msgspec import Struct, field

from cloakllm_gateway.core.events import Learned
from cloakllm_gateway.errors import VaultError
from cloakllm_gateway.vault.entries import Entry, Spelling, Token


class Quotas(Struct, frozen=True):
    """How many spellings a store keeps, how many of them from one origin, and how many new ones of one message."""

    total: int = 1_000_000
    per_origin: int = 250_000
    per_message: int = 100_000

    @classmethod
    def of(cls, total: int, per_origin: int | None, per_message: int) -> Quotas:
        """Limits as they are configured: an origin may bring a quarter of all unless something else is said."""
        return cls(total, max(1, total // 4) if per_origin is None else per_origin, per_message)


DEFAULT_QUOTAS = Quotas()


class Options(Struct, frozen=True):
    """What a store is made of; each takes of it what it needs.

    ``ttl`` is in seconds since a value was last seen.
    """

    state_dir: Path | None
    quotas: Quotas = DEFAULT_QUOTAS
    ttl: float | None = None
    path: Path | None = None
    url: str | None = None
    key_file: str | None = None


class QuotaExceeded(VaultError):
    """One origin brings more values than it may; only its message is withheld."""


class StoreAway(VaultError):
    """The store can't be reached now; that it was damaged is not said."""


class StoreBusy(StoreAway):
    """Others are writing to the store: it may be tried again at once."""


class Follower(Struct, eq=False, weakref=True):
    """What one session has not heard yet of its namespace: tokens with their entries, None for those that are gone.

    Stores add to it in threads of their own.
    """

    namespace: str
    pending: deque[tuple[Token, Entry | None]] = field(default_factory=deque)

    def take(self, most: int | None = None) -> Learned:
        """So many of them, or all; none may be left when something is decided with them."""
        now: dict[Token, Entry | None] = {}
        while self.pending and len(now) != most:
            token, entry = self.pending.popleft()
            now[token] = entry
        entries = [entry for entry in now.values() if entry is not None]
        return Learned(entries, [token for token, entry in now.items() if entry is None])

    def pass_over(self, heard: Iterable[Entry]) -> None:
        """Leave out what the session hears in another way."""
        known = {entry.token: entry for entry in heard}
        news = [self.pending.popleft() for _ in range(len(self.pending))]
        kept = [(token, entry) for token, entry in news if entry is None or known.get(token) is not entry]
        self.pending.extendleft(reversed(kept))  # what was added meanwhile stays behind them


class Store(Protocol):
    """Gives spellings their tokens.

    In one store a token has one value, for ever: numbers are never given out
    twice, not after a restart, not by several gateways of one user.

    ``shared`` says that others add to the store, so that a session has to
    refresh it before it trusts its own knowledge, and that tokens outlive it.
    """

    shared: bool

    async def assign(self, namespace: str, group: str, origin: str, spellings: Sequence[Spelling]) -> list[Entry]:
        """One entry per spelling, in order, kept before this returns.

        The same spelling in the same namespace and group is the same entry,
        and ``origin`` becomes one of its origins.  A new spelling of a known
        canonical value is the next variant of its token; a new canonical value
        takes the next number of its category.  All or nothing.  A full store
        drops what was never restored first, and of that the oldest.  Raises
        ``VaultError``, and ``QuotaExceeded`` where ``origin`` brings too many.
        """

    async def follow(self, namespace: str) -> Follower:
        """Keep it to hear of all that is and comes in ``namespace``."""

    async def refresh(self) -> None:
        """See what others changed, and tell the followers.  Raises ``VaultError``."""

    async def restored(self, namespace: str, tokens: Iterable[Token]) -> None:
        """These tokens are in use: when the store is full, others go first."""

    async def forget(self, namespace: str) -> None:
        """Drop all values of ``namespace``.  Its numbers are not used again."""

    def check(self) -> None:
        """Look whether what the store kept is whole, and change nothing; for the start.

        Raises ``VaultError``; :class:`StoreAway` where it can't be reached,
        which is no damage.
        """

    def close(self) -> None:
        """Leave what was written in files that can be copied; the store may be used again."""
