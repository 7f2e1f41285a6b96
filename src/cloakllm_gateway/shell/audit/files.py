"""The directory of an audit log: what lies where, who may read it, and who writes at the moment.

::

    audit_2026-11-29.jsonl   entries, one file a day (UTC)
    checkpoints.txt          signed checkpoints, oldest first
    log.pub                  the public keys, oldest first
    base.txt                 where a pruned log begins
    private/                 the signing key and the key of digests: nobody else's business
    torn/                    ends of lines that a killed writer left
    head.json, lock, signing.lock   for the gateways alone
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Final

from cloakllm_gateway.errors import AuditError
from cloakllm_gateway.shell.private import PRIVATE_DIR, PRIVATE_FILE, sync_dir

CHECKPOINTS: Final = "checkpoints.txt"
PUBLIC_KEYS: Final = "log.pub"
BASE: Final = "base.txt"
HEAD: Final = "head.json"
PRIVATE: Final = "private"
TORN: Final = "torn"
LOCK: Final = "lock"
SIGNING_LOCK: Final = "signing.lock"

_DAY: Final = len("2026-11-29")

#: How a file is opened: no program that is started gets it, no link is followed, no pipe is waited for.
_CAREFULLY: Final[int] = sum(getattr(os, flag, 0) for flag in ("O_CLOEXEC", "O_BINARY", "O_NOFOLLOW", "O_NONBLOCK"))

#: Seconds to wait for another gateway, which holds a lock for as long as one append takes.
PATIENCE: Final = 10.0
_PAUSE: Final = 0.002
#: Where the note in a lock file begins; Windows lets nobody read the byte that is locked.
_NOTE: Final = 1


class Busy(AuditError):
    """Somebody else holds the lock."""


def day_files(directory: Path) -> list[Path]:
    """The files of entries, oldest first."""
    return sorted(path for path in directory.glob("audit_*.jsonl") if day_of(path) and path.is_file())


def day_file(timestamp: str) -> str:
    """The name of the file for entries of a time in ISO 8601."""
    return f"audit_{timestamp[:_DAY]}.jsonl"


def day_of(path: Path) -> str:
    """The day that a file of entries is named for, or an empty text where the name is of no such file."""
    day = path.name.removeprefix("audit_").removesuffix(".jsonl")
    try:
        return day if len(day) == _DAY and date.fromisoformat(day) else ""
    except ValueError:
        return ""


def strangers(directory: Path) -> list[Path]:
    """What looks like a part of the log and is none: another name, a directory, a pipe, a link to nothing."""
    return sorted(set(directory.glob("*.jsonl")).difference(day_files(directory)))


def lies_in(file: str | Path | None, directory: Path) -> bool:
    """Whether ``file`` is somewhere in ``directory``, by whatever way it is named."""
    return file is not None and Path(os.path.realpath(directory)) in Path(os.path.realpath(file)).parents


def make_private(directory: Path) -> None:
    directory.mkdir(mode=PRIVATE_DIR, parents=True, exist_ok=True)


def is_open_to_others(directory: Path) -> bool:
    """Whether others can put files there, or take them away."""
    return os.name == "posix" and bool(directory.stat().st_mode & 0o022)


def open_private(path: Path, flags: int) -> int:
    """The descriptor of a file; a new one is its owner's alone.

    Raises ``OSError`` for anything else: a link leads anywhere, and a pipe or a device keeps nothing.
    """
    handle = os.open(path, flags | os.O_CREAT | _CAREFULLY, PRIVATE_FILE)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "Not a regular file")
    return handle


def is_at(path: str, opened: os.stat_result) -> bool:
    """Whether the file that was opened is the one that lies there: it may have been moved or taken away."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return (found.st_dev, found.st_ino) == (opened.st_dev, opened.st_ino)


def write_all(handle: int, data: bytes) -> None:
    """All of ``data``; raises ``OSError`` where the disk takes only a part."""
    view = memoryview(data)
    while view:
        written = os.write(handle, view)
        if not written:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        view = view[written:]


def replace(path: Path, data: bytes) -> None:
    """Put ``data`` in the place of ``path``, durably: the old or the new is there at any time."""
    new = path.with_name(f"{path.name}.{os.getpid()}")
    keep(open_private(new, os.O_WRONLY | os.O_TRUNC), data)
    os.replace(new, path)
    sync_dir(path.parent)


def append(path: Path, data: bytes) -> None:
    """Add ``data`` to ``path``, durably; an append-only file will do."""
    keep(open_private(path, os.O_WRONLY | os.O_APPEND), data)


def keep(handle: int, data: bytes) -> None:
    """Write ``data``, durably, and close ``handle``."""
    try:
        write_all(handle, data)
        os.fsync(handle)
    finally:
        os.close(handle)


def free_bytes(directory: Path) -> int:
    """What the disk of ``directory`` has left for us."""
    if os.name == "posix":  # without the import
        disk = os.statvfs(directory)
        return disk.f_bavail * disk.f_frsize
    import shutil

    return shutil.disk_usage(directory).free


class Lock:
    """Between processes: one of them writes.  Costs a microsecond where nobody else does; gone with its process.

    The file holds a short note that whoever has the lock leaves for the next.
    """

    def __init__(self, path: Path) -> None:
        self._path = os.fspath(path)
        self._handle = open_private(path, os.O_RDWR)
        self._file = os.fstat(self._handle)

    def is_current(self) -> bool:
        """Whether others would lock the same file: its directory may have been taken away and made anew."""
        return is_at(self._path, self._file)

    def close(self) -> None:
        os.close(self._handle)

    def read(self) -> bytes:
        os.lseek(self._handle, _NOTE, os.SEEK_SET)
        return os.read(self._handle, 256)

    def write(self, note: bytes) -> None:
        os.ftruncate(self._handle, _NOTE)
        os.lseek(self._handle, _NOTE, os.SEEK_SET)
        write_all(self._handle, note)

    def acquire(self, patience: float = PATIENCE) -> None:
        """Wait at most ``patience`` seconds for the others; raises :class:`Busy` then."""
        deadline = 0.0
        while not _lock(self._handle):
            deadline = deadline or time.monotonic() + patience
            if time.monotonic() >= deadline:
                raise Busy(
                    f"The audit log stayed locked for {patience:g} seconds", "Another gateway may hang: stop it."
                )
            time.sleep(_PAUSE)

    def release(self) -> None:
        _unlock(self._handle)

    @contextmanager
    def held(self, patience: float = PATIENCE) -> Iterator[None]:
        """The same as a context."""
        self.acquire(patience)
        try:
            yield
        finally:
            self.release()


if os.name == "nt":
    import msvcrt

    def _lock(handle: int) -> bool:
        os.lseek(handle, 0, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        except OSError:
            return False
        return True

    def _unlock(handle: int) -> None:
        os.lseek(handle, 0, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined,unused-ignore]

else:
    import fcntl

    def _lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)
