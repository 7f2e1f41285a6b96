"""Numbers that are never used twice.

Theory of operation.  A token that stood for one person must never stand for
another, neither after a restart nor in a second gateway: the model's
conversation outlives both.  So the next free number of each category is kept
per user, in ``numbers/high-water.json`` of the state directory, and a process
reserves a block of numbers, under a file lock and synced to the disk, *before*
it uses the first of them.  What a killed process had reserved is lost.

The file is authenticated with a random key beside it.  Both are created
together (a directory is filled, then renamed), so one without the other is
damage; so are a wrong owner, access for others, and a number below one that
this process has seen.  Damage is refused with an explanation: starting over
would give old tokens new meanings.  What this can't notice is an older copy of
the whole directory put back between two runs.

Without a state directory there is nothing to remember by; numbers then start
at random, far from those of anybody else.

What only the first number needs is imported where it is needed: most starts of
the gateway end without one.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from cloakllm_gateway.errors import VaultError
from cloakllm_gateway.shell.private import (
    PRIVATE_DIR,
    PRIVATE_FILE,
    create_file,
    private_dir,
    sync_dir,
    verify,
)

#: Tokens have numbers of at most nine digits.
LIMIT = 1_000_000_000
#: The first block of a category, and the largest: each is twice the one before.
SMALLEST_BLOCK, LARGEST_BLOCK = 32, 8192
_LOCK_SECONDS = 10
_KEY_BYTES = 32


class Numbers(Protocol):
    """A source of numbers, by category."""

    def ready(self, wanted: Mapping[str, int]) -> bool:
        """Whether so many numbers can be taken at once."""

    def reserve(self, wanted: Mapping[str, int]) -> None:
        """Make ``ready`` true.  May wait for the disk.  Raises ``VaultError``."""

    def take(self, category: str) -> int:
        """The next number; one must be ready."""

    def check(self) -> None:
        """Look whether what is kept is whole, and change nothing.  Raises ``VaultError``."""


class _Blocks:
    """What is reserved and not yet taken, by category."""

    def __init__(self) -> None:
        self._next: dict[str, int] = {}
        self._end: dict[str, int] = {}

    def ready(self, wanted: Mapping[str, int]) -> bool:
        return all(self._end.get(c, 0) - self._next.get(c, 0) >= count for c, count in wanted.items())

    def take(self, category: str) -> int:
        number = self._next[category]
        if number >= self._end[category]:
            raise VaultError(f"No number of the category {category} is reserved")
        self._next[category] = number + 1
        return number

    def _hold(self, category: str, start: int, size: int) -> None:
        self._next[category], self._end[category] = start, start + size


class RandomStart(_Blocks):
    """Numbers of a process that has no state directory: from a random one of at least 100,000 up."""

    _LOWEST, _HIGHEST = 100_000, 100_000_000

    def reserve(self, wanted: Mapping[str, int]) -> None:
        import secrets

        for category in wanted:
            if category not in self._next:
                start = self._LOWEST + secrets.randbelow(self._HIGHEST - self._LOWEST)
                self._hold(category, start, LIMIT - start)
        if not self.ready(wanted):
            raise _exhausted(wanted)

    def check(self) -> None:
        """Nothing is kept."""


class HighWater(_Blocks):
    """Numbers kept in ``state_dir``, shared by all gateways of one user.

    Touches the disk only when a block is reserved.
    """

    def __init__(self, state_dir: Path) -> None:
        super().__init__()
        self._state_dir = state_dir
        self._dir = state_dir / "numbers"
        self._file = self._dir / "high-water.json"
        self._key_file = self._dir / "key"
        self._block: dict[str, int] = {}
        #: The key and the free numbers as this process saw them last.
        self._key = b""
        self._seen: dict[str, int] = {}

    def check(self) -> None:
        with self._explained():
            if os.path.lexists(self._state_dir):
                verify(self._state_dir, stat.S_ISDIR)
            if os.path.lexists(self._dir):
                self._read()

    def reserve(self, wanted: Mapping[str, int]) -> None:
        import filelock

        with self._explained():
            private_dir(self._state_dir)
            lock = filelock.FileLock(self._state_dir / "numbers.lock", timeout=_LOCK_SECONDS, mode=PRIVATE_FILE)
            try:
                lock.acquire()
            except filelock.Timeout:
                raise VaultError(
                    f"The token numbers in {self._dir} stayed locked for {_LOCK_SECONDS} seconds",
                    "Another gateway holds the lock; stop it if it hangs.",
                ) from None
            try:
                self._reserve_locked(wanted)
            finally:
                lock.release()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise VaultError(
                f"The token numbers in {self._dir} can't be kept: {error.strerror or type(error).__name__}",
                "Make the directory readable and writable for you alone, or name another as state_dir.",
            ) from None

    def _reserve_locked(self, wanted: Mapping[str, int]) -> None:
        if not self._dir.exists() and not self._seen:
            self._create()
        free = self._read()
        blocks: dict[str, tuple[int, int]] = {}
        for category, count in wanted.items():
            if self.ready({category: count}):
                continue
            size = max(count, self._block.get(category, SMALLEST_BLOCK))
            start = free.get(category, 0)
            blocks[category] = (start, size)
            free[category] = start + size
            if start + size > LIMIT:
                raise _exhausted(wanted)
        self._write(free)
        self._seen = free
        for category, (start, size) in blocks.items():
            self._hold(category, start, size)
            self._block[category] = min(2 * size, LARGEST_BLOCK)

    # -- the files -------------------------------------------------------------------------------------

    def _create(self) -> None:
        """Key and numbers at once: a directory is filled under another name, then renamed."""
        import secrets
        import shutil

        new = self._dir.with_name("numbers.new")
        if new.exists():  # of a process that was killed right here
            shutil.rmtree(new)
        new.mkdir(mode=PRIVATE_DIR)
        key = secrets.token_bytes(_KEY_BYTES)
        create_file(new / self._key_file.name, key)
        create_file(new / self._file.name, _sealed({}, key))
        sync_dir(new)
        new.rename(self._dir)
        sync_dir(self._state_dir)

    def _read(self) -> dict[str, int]:
        """The free numbers.  Raises ``VaultError`` unless they are what a gateway wrote last."""
        if not self._dir.exists():
            raise self._damaged("was removed while the gateway ran")
        verify(self._dir, stat.S_ISDIR)
        for path in (self._key_file, self._file):
            if not os.path.lexists(path):
                raise self._damaged(f"lacks its file {path.name!r}")
            verify(path, stat.S_ISREG)
        key, data = self._key_file.read_bytes(), self._file.read_bytes()
        if len(key) != _KEY_BYTES or (self._key and key != self._key):
            raise self._damaged("has another key than the one it was made with")
        free = _opened(data, key)
        if free is None:
            raise self._damaged("holds numbers that no gateway with its key wrote")
        if any(free.get(category, 0) < number for category, number in self._seen.items()):
            raise self._damaged("was put back to an older state while the gateway ran")
        self._key = key
        return free

    def _write(self, free: Mapping[str, int]) -> None:
        new = self._file.with_suffix(".new")
        new.unlink(missing_ok=True)
        create_file(new, _sealed(free, self._key))
        new.replace(self._file)
        sync_dir(self._dir)

    def _damaged(self, how: str) -> VaultError:
        return VaultError(
            f"The record of used token numbers in {self._dir} {how}",
            "Without it old tokens could stand for other people. Restore the directory from a backup, or, if no"
            " conversation with old tokens will be continued, delete it to begin again.",
        )


def _exhausted(wanted: Mapping[str, int]) -> VaultError:
    return VaultError(f"There are no numbers left for tokens of {', '.join(sorted(wanted))}")


def _sealed(free: Mapping[str, int], key: bytes) -> bytes:
    body = {"version": 1, "free": dict(sorted(free.items()))}
    return json.dumps({**body, "mac": _mac(body, key)}, indent=1).encode()


def _opened(data: bytes, key: bytes) -> dict[str, int] | None:
    """The free numbers in ``data``, None unless they were sealed with ``key``."""
    from hmac import compare_digest

    try:
        record = json.loads(data)
        mac, free = record.pop("mac"), record["free"]
        genuine = compare_digest(mac, _mac(record, key))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return {str(category): int(number) for category, number in free.items()} if genuine else None


def _mac(body: Mapping[str, object], key: bytes) -> str:
    import hmac

    canonical = json.dumps(body, sort_keys=True, separators=(",", ":")).encode()
    return hmac.new(key, canonical, "sha256").hexdigest()
