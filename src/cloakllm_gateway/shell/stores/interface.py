"""What every token store does, and the limits it keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from cloakllm_gateway.errors import VaultError
from cloakllm_gateway.vault.entries import Entry, Spelling


class Quotas(Struct, frozen=True):
    """How many spellings a store keeps, how many of them from one origin, and how many new ones of one message."""

    total: int = 1_000_000
    per_origin: int = 250_000
    per_message: int = 100_000


DEFAULT_QUOTAS = Quotas()


class QuotaExceeded(VaultError):
    """One origin brings more values than it may; only its message is withheld."""


class Store(Protocol):
    """Gives spellings their tokens.

    In one store a token has one value, for ever: numbers are never given out
    twice, not after a restart, not by several gateways of one user.
    """

    async def assign(self, namespace: str, group: str, origin: str, spellings: Sequence[Spelling]) -> list[Entry]:
        """One entry per spelling, in order, kept before this returns.

        The same spelling in the same namespace and group is the same entry,
        and ``origin`` becomes one of its origins.  A new spelling of a known
        canonical value is the next variant of its token; a new canonical value
        takes the next number of its category.  All or nothing.  Raises
        ``VaultError``, and ``QuotaExceeded`` where ``origin`` brings too many.
        """

    async def forget(self, namespace: str) -> None:
        """Drop all values of ``namespace``.  Its numbers are not used again."""

    def check(self) -> None:
        """Look whether what the store kept on disk is whole, and change nothing; for the start.

        Raises ``VaultError``.
        """
