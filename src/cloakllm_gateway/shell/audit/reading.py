"""Reading an audit log that somebody else may be writing, or may have written with ill intent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from cloakllm_gateway.audit.verify import Evidence, LogFile
from cloakllm_gateway.errors import AuditError
from cloakllm_gateway.shell.audit.files import (
    BASE,
    CHECKPOINTS,
    LOCK,
    PUBLIC_KEYS,
    SIGNING_LOCK,
    Busy,
    Lock,
    day_files,
    lies_in,
    strangers,
)

#: Seconds to wait for a writer, so that no line is read while it is written.
_PATIENCE = 1.0

#: Bytes of a line that are looked at; the longest entry has a fraction of them.
LONGEST = 4 * 1024 * 1024


def gather(directory: Path, key: Path | None = None, checkpoint: Path | None = None) -> Evidence:
    """What there is to judge the log in ``directory`` by; ``key`` and ``checkpoint`` are files kept elsewhere.

    What lies in ``directory`` itself is not elsewhere, however it is given.
    Raises :class:`AuditError` for what can't be read.
    """
    try:
        # In this order, because the log goes on: a gateway writes entries, signs them, and takes that elsewhere.
        trusted, anchors = _from_elsewhere(key, directory), _from_elsewhere(checkpoint, directory)
        keys = _optional(directory / PUBLIC_KEYS)
        with _held(directory / SIGNING_LOCK):
            checkpoints, base = _optional(directory / CHECKPOINTS), _optional(directory / BASE)
            files = [_file(path, size) for path, size in _sizes(directory)]
        others = [path.name for path in strangers(directory)]
        return Evidence(files, others, keys, checkpoints, base, trusted, anchors)
    except OSError as error:
        raise _unreadable(error, directory) from None


def entries(directory: Path) -> Iterator[dict[str, Any]]:
    """The entries as they stand there, unverified; lines that are none are left out.  Raises :class:`AuditError`."""
    try:
        for path, size in _sizes(directory):
            for line in _file(path, size).lines:
                with suppress(ValueError, RecursionError):
                    entry = json.loads(line)
                    if isinstance(entry, dict):
                        yield entry
    except OSError as error:
        raise _unreadable(error, directory) from None


def _sizes(directory: Path) -> list[tuple[Path, int]]:
    with _held(directory / LOCK):
        files = [(path, path.stat().st_size) for path in day_files(directory)]
    if not files and not (directory / PUBLIC_KEYS).exists():  # with keys there was a log, and it was taken away
        raise AuditError(
            f"There is no audit log in {directory}", "Name its directory, or start a gateway to begin one."
        )
    return files


@contextmanager
def _held(path: Path) -> Iterator[None]:
    """Hold one of the locks of a log for a moment, where it has writers: a copy has none, nor one that is read-only."""
    with ExitStack() as stack:
        with suppress(OSError, Busy):
            if path.exists():
                lock = Lock(path)
                stack.callback(lock.close)
                stack.enter_context(lock.held(_PATIENCE))
        yield


def _file(path: Path, size: int) -> LogFile:
    whole = True
    if size:
        with path.open("rb") as file:
            file.seek(size - 1)
            whole = file.read(1) == b"\n"
    return LogFile(path.name, _Lines(path, size), whole)


class _Lines:
    """The lines of the first ``size`` bytes of a file, each time they are asked for."""

    def __init__(self, path: Path, size: int) -> None:
        self._path = path
        self._size = size

    def __iter__(self) -> Iterator[bytes]:
        left = self._size
        begins = True
        try:
            with self._path.open("rb") as file:
                while left > 0 and (line := file.readline(min(left, LONGEST))):
                    left -= len(line)
                    if begins:  # of a line that no gateway writes, the beginning says enough
                        yield line.removesuffix(b"\n")
                    begins = line.endswith(b"\n")
        except OSError as error:
            raise _unreadable(error, self._path) from None


def _from_elsewhere(path: Path | None, directory: Path) -> bytes | None:
    if path is None:
        return None
    data = path.read_bytes()
    beside = (directory / CHECKPOINTS, directory / PUBLIC_KEYS)
    is_beside = lies_in(path, directory) or any(file.exists() and file.samefile(path) for file in beside)
    return None if is_beside else data


def _optional(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def _unreadable(error: OSError, path: Path) -> AuditError:
    if isinstance(error, NotADirectoryError) and path.is_file():
        return AuditError(f"{path} is no directory", "Name that of the log, which has a file for each day.")
    return AuditError(f"{error.filename or path} can't be read: {error.strerror or type(error).__name__}")
