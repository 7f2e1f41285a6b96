"""The storage below a sealed store: rows by name, a head, and one writer at a time.

A ledger understands nothing of what it keeps.  The head changes with every
change; a row carries the revision that wrote it, so that whoever knows the
store up to some revision can read what came after.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol


class Row(NamedTuple):
    """One row as it is kept."""

    name: bytes
    revision: int
    sealed: bytes


class Change(NamedTuple):
    """What is written, all or nothing: a new head, rows to put in place, names of rows to wipe."""

    head: bytes
    rows: Sequence[Row]
    wiped: Sequence[bytes] = ()


class View(Protocol):
    """The ledger as it is now, to read."""

    def head(self) -> bytes | None:
        """The head, None where nothing was ever written."""

    def rows(self, after: int) -> Iterable[Row]:
        """All rows of a revision above ``after``."""


class Ledger(Protocol):
    """Keeps the bytes of one store.

    Every method waits, for the disk or the network, and raises ``StoreAway``
    where the store can't be reached, ``VaultError`` where it is damaged.  A
    change raises ``StoreBusy`` where it would have to wait long for others.
    ``place`` is its address without credentials, for people and as its name.
    """

    place: str

    def read(self, look: Callable[[View], None]) -> None:
        """Let ``look`` read; a store that is not there is empty, and is not made."""

    def change(self, work: Callable[[View], Change | None]) -> None:
        """Let ``work`` read and say what to write, if anything; nobody else writes in between.

        Where somebody else did write, ``work`` is called again.
        """

    def close(self) -> None:
        """Let go of files and connections; they are opened again when needed."""
