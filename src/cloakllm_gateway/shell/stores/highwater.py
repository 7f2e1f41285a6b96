"""Numbers that are never used twice.

Theory of operation.  A token that stood for one person must never stand for
another, neither after a restart nor in a second gateway, nor when another store
is configured: the model's conversation outlives all of them.  So what was
claimed of each category, and for which store, is kept per user, in
``numbers/high-water.json`` of the state directory, and a process claims a block
of numbers, under a file lock and synced to the disk, *before* it uses the first
of them.  A block lies above whatever was claimed for others.

Stores in memory are one claimant, and none of their numbers comes again: what a
killed process had claimed is lost.  A store that lasts counts for itself, on
all machines that share it, and asks here whether the number that is next is its
own on this machine.

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
from cloakllm_gateway.shell.stores.state import numbers_dir

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
    """Numbers of the stores in memory, of all gateways of one user.

    Touches the disk only when a block is reserved.
    """

    def __init__(self, state_dir: Path) -> None:
        super().__init__()
        self._register = Register(state_dir)
        self._block: dict[str, int] = {}

    def check(self) -> None:
        self._register.check()

    def reserve(self, wanted: Mapping[str, int]) -> None:
        sizes = {
            category: max(count, self._block.get(category, SMALLEST_BLOCK))
            for category, count in wanted.items()
            if not self.ready({category: count})
        }
        for category, start in self._register.claim(MEMORY, sizes).items():
            self._hold(category, start, sizes[category])
            self._block[category] = min(2 * sizes[category], LARGEST_BLOCK)


class StoreNumbers:
    """Numbers of stores that count for themselves: which of them are theirs alone among all stores of this user."""

    def __init__(self, state_dir: Path) -> None:
        self._register = Register(state_dir)
        #: The last block of a store and category, from its start to its end.
        self._blocks: dict[tuple[str, str], range] = {}

    def check(self) -> None:
        """Look whether what is kept is whole, and change nothing.  Raises ``VaultError``."""
        self._register.check()

    def next(self, store: str, category: str, at_least: int) -> int:
        """The first number from ``at_least`` on that no other store had or will have.  May wait for the disk.

        Raises ``VaultError``.
        """
        block = self._blocks.get((store, category), range(0))
        if at_least not in block:
            size = min(max(2 * len(block), SMALLEST_BLOCK), LARGEST_BLOCK)
            start = self._register.claim(store, {category: size}, at_least)[category]
            self._blocks[store, category] = range(start, start + size)
            return start
        return at_least


#: Whose the numbers of the stores in memory are.
MEMORY = ""

#: Up to where numbers are claimed, by claimant and category.
_Claimed = dict[str, dict[str, int]]


class Register:
    """The file of what is claimed, in ``state_dir``."""

    def __init__(self, state_dir: Path) -> None:
        self._state_dir = state_dir
        self._dir = numbers_dir(state_dir)
        self._file = self._dir / "high-water.json"
        self._key_file = self._dir / "key"
        #: The key and the claims as this process saw them last.
        self._key = b""
        self._seen: _Claimed = {}

    def check(self) -> None:
        """Look whether the file is whole, and change nothing.  Raises ``VaultError``."""
        with self._explained():
            if os.path.lexists(self._state_dir):
                verify(self._state_dir, stat.S_ISDIR)
            if os.path.lexists(self._dir):
                self._read()

    def claim(self, claimant: str, sizes: Mapping[str, int], at_least: int | None = None) -> dict[str, int]:
        """Where a block of so many numbers begins in each category that nobody else claimed.

        It begins at ``at_least`` or above and may hold numbers that the claimant has; without ``at_least`` it holds
        none of them.  Raises ``VaultError``.
        """
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
                return self._claim_locked(claimant, sizes, at_least)
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

    def _claim_locked(self, claimant: str, sizes: Mapping[str, int], at_least: int | None) -> dict[str, int]:
        if not self._dir.exists() and not self._seen:
            self._create()
        claimed = self._read()
        own = claimed.setdefault(claimant, {})
        starts: dict[str, int] = {}
        for category, size in sizes.items():
            above = [of.get(category, 0) for by, of in claimed.items() if by != claimant or at_least is None]
            start = max(*above, at_least or 0, 0)
            if start + size > LIMIT:
                raise _exhausted(sizes)
            starts[category] = start
            own[category] = max(own.get(category, 0), start + size)
        self._write(claimed)
        self._seen = claimed
        return starts

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

    def _read(self) -> _Claimed:
        """What is claimed.  Raises ``VaultError`` unless it is what a gateway wrote last."""
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
        claimed = _opened(data, key)
        if claimed is None:
            raise self._damaged("holds numbers that no gateway with its key wrote")
        if any(
            claimed.get(claimant, {}).get(category, 0) < number
            for claimant, of in self._seen.items()
            for category, number in of.items()
        ):
            raise self._damaged("was put back to an older state while the gateway ran")
        self._key = key
        return claimed

    def _write(self, claimed: _Claimed) -> None:
        new = self._file.with_suffix(".new")
        new.unlink(missing_ok=True)
        create_file(new, _sealed(claimed, self._key))
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


def _sealed(claimed: _Claimed, key: bytes) -> bytes:
    body = {
        "version": 1,
        "free": claimed.get(MEMORY, {}),
        "stores": {claimant: of for claimant, of in claimed.items() if claimant != MEMORY},
    }
    return json.dumps({**body, "mac": _mac(body, key)}, indent=1, sort_keys=True).encode()


def _opened(data: bytes, key: bytes) -> _Claimed | None:
    """What is claimed by ``data``, None unless it was sealed with ``key``."""
    from hmac import compare_digest

    try:
        record = json.loads(data)
        mac = record.pop("mac")
        genuine = compare_digest(mac, _mac(record, key))
        claimed = {MEMORY: record["free"], **record.get("stores", {})}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return claimed if genuine else None


def _mac(body: Mapping[str, object], key: bytes) -> str:
    import hmac

    canonical = json.dumps(body, sort_keys=True, separators=(",", ":")).encode()
    return hmac.new(key, canonical, "sha256").hexdigest()
