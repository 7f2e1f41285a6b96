"""Appending to the log: several gateways, one chain, and ends that were torn.

Theory of operation.  An append holds the lock of the directory.  Under it the
writer looks whether the newest file is as long as it left it; if so, it knows
the last entry, else it reads the last line.  Then all lines of the batch go out
in one write.  A writer that is killed may leave a part of a line: whoever
writes next finds an end without a line feed, or a last line that is no entry,
sets it aside in ``torn/`` and records that as the next entry.  If the write
itself fails, the file is cut back to where it was, still under the lock.

A file is named for the day of its first entry, and the newest file takes the
entries even where a clock goes back.
"""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from cloakllm_gateway.audit import chain, schema
from cloakllm_gateway.audit.chain import BadLine, Head
from cloakllm_gateway.errors import AuditError
from cloakllm_gateway.shell.audit.files import (
    LOCK,
    PATIENCE,
    TORN,
    Busy,
    Lock,
    append,
    day_file,
    day_files,
    free_bytes,
    is_at,
    open_private,
    write_all,
)
from cloakllm_gateway.shell.private import make_private, sync_dir

#: Bytes of the disk that an audit log leaves free.
RESERVE: Final = 16 * 1024 * 1024
#: Bytes between two looks at how much is free.
_LOOK_EVERY: Final = 1024 * 1024

_BLOCK: Final = 64 * 1024

#: How a disk says that it takes no more.
_NO_ROOM: Final = frozenset(getattr(errno, name, -1) for name in ("ENOSPC", "EDQUOT", "EFBIG"))


def utc_now() -> str:
    """The time as an entry has it."""
    seconds, rest = divmod(time.time_ns(), 1_000_000_000)
    return f"{_second(seconds)}.{rest // 1_000_000:03}+00:00"


@lru_cache(maxsize=1)  # written in full it takes as long as the write itself
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


class Written(NamedTuple):
    """Lines that this session wrote to a file, and where the chain stood before and behind them."""

    file: str
    begin: int
    before: Head
    lines: bytes
    after: Head


#: Bytes of its own lines that a session remembers; whoever signs more than that reads it as others' are read.
_REMEMBERED: Final = 4 * 1024 * 1024


class Log:
    """The log in ``directory`` as one session writes it.  Any thread may append."""

    def __init__(self, directory: Path, session: str, now: Callable[[], str] = utc_now, reserve: int = RESERVE) -> None:
        self._directory = directory
        self._session = session
        self._now = now
        self._reserve = reserve
        self._unchecked = _LOOK_EVERY
        self._mutex = threading.Lock()
        self._name = ""  # of the file that takes the entries, where it is open
        self._place = ""  # and its path
        self._handle = -1
        self._file: os.stat_result | None = None
        self._end = 0
        self._head = Head()
        self._unsynced = False
        self._closed = False
        self._written: list[Written] = []
        self._remembered = 0
        with explained(directory):
            make_private(directory)
            self._lock = Lock(directory / LOCK)

    def append(
        self, bodies: Sequence[Mapping[str, Any]], patience: float = PATIENCE, *, last_words: bool = False
    ) -> Sequence[Mapping[str, Any]]:
        """Write entries, all of them or none; ``last_words`` may use the reserve of the disk.

        The answer is the entries that were written before them, because
        something was wrong with the end of the log.  Raises
        :class:`~cloakllm_gateway.shell.audit.files.Busy` where another writer
        held the lock for ``patience`` seconds, and :class:`AuditError` where
        the disk does not take them.
        """
        if not self._mutex.acquire(timeout=patience):
            raise Busy("The audit log is being written to by another thread")
        try:
            if self._closed:
                raise AuditError("The session has ended and its audit with it")
            return self._append(bodies, patience, last_words=last_words)
        except OSError as error:
            raise _unwritable(self._directory, error) from None
        finally:
            self._mutex.release()

    def _append(
        self, bodies: Sequence[Mapping[str, Any]], patience: float, *, last_words: bool
    ) -> Sequence[Mapping[str, Any]]:
        while True:
            self._lock.acquire(patience)
            try:
                if self._lock.is_current():
                    if not last_words and self._unchecked >= _LOOK_EVERY:
                        self._keep_reserve()
                    timestamp = self._now()
                    found = self._catch_up()
                    if (today := day_file(timestamp)) > self._name:
                        self._open_day(today)
                    self._write([*found, *bodies], timestamp)
                    return found
            finally:
                self._lock.release()
            self._begin_anew()

    def _begin_anew(self) -> None:
        """The directory was taken away: take the lock that whoever makes it anew takes."""
        self._close_file()
        make_private(self._directory)
        gone, self._lock = self._lock, Lock(self._directory / LOCK)
        gone.close()

    def sync(self) -> None:
        """Make what was appended durable."""
        with explained(self._directory):
            with self._mutex:
                if self._closed or not self._unsynced:
                    return
                self._unsynced = False
                handle = os.dup(self._handle)
            try:
                os.fsync(handle)  # the disk is waited for without the others
            finally:
                os.close(handle)

    def take_written(self) -> list[Written]:
        """What was appended since this was asked for last, as far as it is remembered."""
        with self._mutex:
            written, self._written, self._remembered = self._written, [], 0
        return written

    def close(self) -> None:
        """Raises :class:`AuditError` where the last entries can't be made durable; the log is closed nevertheless."""
        with self._mutex, explained(self._directory):
            if not self._closed:
                self._closed = True
                try:
                    self._close_file()
                finally:
                    self._lock.close()

    # -- under the lock --------------------------------------------------------------------------------

    def _catch_up(self) -> list[dict[str, Any]]:
        """Know the end of the log; the entries to begin with where something was wrong with it."""
        if self._file is not None:
            same = is_at(self._place, self._file) and self._lock.read() == self._name.encode()
            size = os.lseek(self._handle, 0, os.SEEK_END)
            if same and (size == self._end or self._follow_others(size)):
                return []
        before = self._head
        torn = self._find_end()
        recovered = []
        if self._head.size < before.size:
            recovered.append(schema.body("log_recovered", {"reason": "cut", "lost": before.size - self._head.size}))
        if torn:
            recovered.append(schema.body("log_recovered", {"reason": "torn", "lost": 0}))
        return recovered

    def _follow_others(self, size: int) -> bool:
        """Others wrote to the same file and left it whole: take the head from its last line."""
        end, head = _last_entry(self._handle, size) if size > self._end else (0, None)
        if head is None or end != size:
            return False
        self._head, self._end = head, end
        return True

    def _find_end(self) -> bool:
        """Go to the last entry on disk; whether something behind it had to be set aside."""
        self._close_file()
        known = Head()
        torn = False
        for path in reversed(day_files(self._directory)):
            handle = open_private(path, os.O_RDWR | os.O_APPEND)
            try:
                size = os.fstat(handle).st_size
                end, head = _last_entry(handle, size)
                if end < size:
                    _set_aside(self._directory, path, handle, end)
                    torn = True
            except OSError:
                os.close(handle)
                raise
            if head is not None:
                self._hold(path, handle, end)
                known = head
                self._lock.write(path.name.encode())
                break
            os.close(handle)  # of a day without an entry: whose it is, is seen when there is one
        self._head = known
        return torn

    def _open_day(self, name: str) -> None:
        """Begin the file of a new day."""
        self._close_file()
        path = self._directory / name
        self._lock.write(name.encode())
        self._hold(path, open_private(path, os.O_RDWR | os.O_APPEND), 0)
        sync_dir(self._directory)

    def _hold(self, path: Path, handle: int, end: int) -> None:
        """``path`` takes the entries, the next one at ``end``."""
        self._handle, self._end = handle, end
        self._name, self._place, self._file = path.name, os.fspath(path), os.fstat(handle)

    def _write(self, bodies: Sequence[Mapping[str, Any]], timestamp: str) -> None:
        lines, head = chain.seal(bodies, self._head, timestamp, self._session)
        try:
            write_all(self._handle, lines)
        except OSError:
            os.ftruncate(self._handle, self._end)
            raise
        if self._remembered < _REMEMBERED:
            self._written.append(Written(self._name, self._end, self._head, lines, head))
            self._remembered += len(lines)
        self._head = head
        self._end += len(lines)
        self._unsynced = True
        self._unchecked += len(lines)

    def _keep_reserve(self) -> None:
        """Refuse to fill the disk to the last: other programs and our own last words need room."""
        if free_bytes(self._directory) < self._reserve:
            raise AuditError(f"The disk of the audit log has less than {self._reserve} bytes left", "Make room on it.")
        self._unchecked = 0

    def _close_file(self) -> None:
        handle, unsynced = self._handle, self._unsynced
        self._name, self._place, self._file = "", "", None
        self._handle, self._end, self._unsynced = -1, 0, False
        if handle < 0:
            return
        try:
            if unsynced:
                os.fsync(handle)
        finally:
            os.close(handle)


def _last_entry(handle: int, size: int) -> tuple[int, Head | None]:
    """Where the last whole entry of a file ends, and the head of the chain there; (0, None) without one."""
    end = size
    while end > 0:
        begin, line = _line_before(handle, end)
        if line.endswith(b"\n") and (head := _head(line[:-1])):
            return end, head
        end = begin
    return 0, None


def _line_before(handle: int, end: int) -> tuple[int, bytes]:
    """The line that ends at ``end``, with its line feed if it has one, and where it begins."""
    blocks: list[bytes] = []
    at = end
    while at > 0:
        begin = max(0, at - _BLOCK)
        os.lseek(handle, begin, os.SEEK_SET)
        block = os.read(handle, at - begin)
        feed = block.rfind(b"\n", 0, len(block) - (at == end))
        if feed >= 0:
            blocks.append(block[feed + 1 :])
            return begin + feed + 1, b"".join(reversed(blocks))
        blocks.append(block)
        at = begin
    return 0, b"".join(reversed(blocks))


def _head(line: bytes) -> Head | None:
    """The head after this line if it is an entry, whatever version wrote it."""
    try:
        entry = chain.parse(line)
    except BadLine:
        return None
    seq, hash = entry.get("seq"), entry.get("entry_hash")
    if type(seq) is not int or not isinstance(hash, str) or hash != chain.digest(entry):
        return None
    return Head(seq + 1, hash)


def _set_aside(directory: Path, path: Path, handle: int, end: int) -> None:
    """Move what stands behind ``end`` out of the way; nothing is thrown away."""
    make_private(directory / TORN)
    os.lseek(handle, end, os.SEEK_SET)
    with os.fdopen(os.dup(handle), "rb") as file:
        append(directory / TORN / f"{path.stem}-{end}", file.read())
    os.ftruncate(handle, end)
    os.fsync(handle)


@contextmanager
def explained(directory: Path) -> Iterator[None]:
    """The operating system's refusals as :class:`AuditError`."""
    try:
        yield
    except OSError as error:
        raise _unwritable(directory, error) from None


def _unwritable(directory: Path, error: OSError) -> AuditError:
    what = "Make room for it" if error.errno in _NO_ROOM else "Make the directory writable for you"
    return AuditError(
        f"The audit log in {directory} can't be written: {error.strerror or type(error).__name__}",
        f"{what}, name another as audit.path (with all other state: state_dir), or see audit.on_error.",
    )
