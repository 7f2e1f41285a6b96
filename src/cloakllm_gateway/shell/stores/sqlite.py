"""The embedded store: one SQLite file, used by several gateways of one machine at once.

Write-ahead logging lets gateways read while one writes; a change is on the disk
before its tokens are used.  What is overwritten or deleted is zeroed.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cloakllm_gateway.errors import ConfigError, VaultError
from cloakllm_gateway.shell.private import PRIVATE_FILE, private_dir, verify
from cloakllm_gateway.shell.stores.interface import Options, StoreAway, StoreBusy
from cloakllm_gateway.shell.stores.ledger import Change, Row, View
from cloakllm_gateway.shell.stores.sealed import SealedStore, sealed_store
from cloakllm_gateway.shell.stores.state import vault_dir

#: Milliseconds to wait for other programs: at most, and with a change, which is tried again.
_WAIT, _WAIT_TO_CHANGE = 10_000, 20
_SETUP = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
PRAGMA secure_delete = ON;
CREATE TABLE IF NOT EXISTS head (id INTEGER PRIMARY KEY CHECK (id = 1), sealed BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS rows (name BLOB PRIMARY KEY, revision INTEGER NOT NULL, sealed BLOB NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS rows_by_revision ON rows (revision);
"""


def sqlite_store(options: Options) -> SealedStore:
    """The store at ``options.path``, by default in the state directory."""
    if options.path is None and options.state_dir is None:
        raise ConfigError("The vault needs a place", "Set vault.path, or state_dir")
    path = options.path or vault_dir(options.state_dir or Path()) / "store.db"
    return sealed_store(SqliteLedger(path), options)


class SqliteLedger:
    """A :class:`~cloakllm_gateway.shell.stores.ledger.Ledger` in the file ``path``, private to the user."""

    def __init__(self, path: Path) -> None:
        self.place = str(path)
        self._path = path
        self._connection: sqlite3.Connection | None = None
        self._file = (0, 0)

    def read(self, look: Callable[[View], None]) -> None:
        with self._explained():
            look(_View(self._connected() if self._path.exists() else None))

    def change(self, work: Callable[[View], Change | None]) -> None:
        with self._explained():
            connection = self._connected()
            _begin(connection)
            try:
                if change := work(_View(connection)):
                    _write(connection, change)
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connected(self) -> sqlite3.Connection:
        """The connection to the file that is at the path now, whatever was there before."""
        if self._connection is not None and _which(self._path) == self._file:
            return self._connection
        self.close()
        private_dir(self._path.parent)
        with suppress(FileExistsError):
            os.close(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE))
        verify(self._path, stat.S_ISREG)
        # Used by one thread at a time, but not always the same.
        connection = sqlite3.connect(self._path, timeout=_WAIT / 1000, isolation_level=None, check_same_thread=False)
        try:
            connection.executescript(_SETUP)
        except sqlite3.Error:
            connection.close()
            raise
        self._connection, self._file = connection, _which(self._path)
        return connection

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            what = f"The token store at {self.place} can't be used now: {error.sqlite_errorname}"
            if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
                raise StoreBusy(
                    what, "Look whether another gateway, or a program that copies the file, hangs."
                ) from None
            self.close()
            raise StoreAway(what, "Look whether the disk is full, and the file may be written.") from None
        except sqlite3.Error as error:
            self.close()
            raise VaultError(
                f"The token store at {self.place} is damaged ({type(error).__name__})", "Restore it from a backup."
            ) from None
        except OSError as error:
            self.close()
            raise StoreAway(
                f"The token store at {self.place} can't be used: {error.strerror or type(error).__name__}",
                "Its directory has to be readable and writable for you alone.",
            ) from None


class _View:
    """The tables in one transaction; without a connection there are none."""

    def __init__(self, connection: sqlite3.Connection | None) -> None:
        self._connection = connection

    def head(self) -> bytes | None:
        found = self._connection and self._connection.execute("SELECT sealed FROM head").fetchone()
        return found[0] if found else None

    def rows(self, after: int) -> Iterator[Row]:
        if self._connection is not None:
            found = self._connection.execute("SELECT name, revision, sealed FROM rows WHERE revision > ?", (after,))
            yield from map(Row._make, found)


def _begin(connection: sqlite3.Connection) -> None:
    """Take the turn to write.  Raises :class:`sqlite3.OperationalError` while others have it."""
    connection.execute(f"PRAGMA busy_timeout = {_WAIT_TO_CHANGE}")
    try:
        connection.execute("BEGIN IMMEDIATE")
    finally:
        connection.execute(f"PRAGMA busy_timeout = {_WAIT}")


def _write(connection: sqlite3.Connection, change: Change) -> None:
    connection.executemany("REPLACE INTO rows (name, revision, sealed) VALUES (?, ?, ?)", change.rows)
    connection.executemany("DELETE FROM rows WHERE name = ?", ((name,) for name in change.wiped))
    connection.execute("REPLACE INTO head (id, sealed) VALUES (1, ?)", (change.head,))


def _which(path: Path) -> tuple[int, int]:
    """Which file is at ``path``: a database that was replaced while it was open takes writes that nobody finds."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return (0, 0)
    return (found.st_dev, found.st_ino)
