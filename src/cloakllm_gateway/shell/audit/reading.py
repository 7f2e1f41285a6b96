"""Reading an audit log that somebody else may be writing, or may have written with ill intent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from cloakllm_gateway.audit.verify import Evidence, LogFile
from cloakllm_gateway.errors import AuditError
from cloakllm_gateway.shell.audit.files import BASE, CHECKPOINTS, LOCK, PUBLIC_KEYS, Busy, Lock

#: Seconds to wait for a writer, so that no line is read while it is written.
_PATIENCE = 1.0


def gather(directory: Path, key: Path | None = None, checkpoint: Path | None = None) -> Evidence:
    """What there is to judge the log in ``directory`` by; ``key`` and ``checkpoint`` are files kept elsewhere.

    What lies in ``directory`` itself is not elsewhere, however it is given.
    Raises :class:`AuditError` for what can't be read.
    """
    try:
        # In this order, and at one moment: a log is never shorter than its checkpoints.
        checkpoints, base = _optional(directory / CHECKPOINTS), _optional(directory / BASE)
        return Evidence(
            files=[_file(path, size) for path, size in _sizes(directory)],
            keys=_optional(directory / PUBLIC_KEYS),
            checkpoints=checkpoints,
            base=base,
            trusted=_from_elsewhere(key, directory),
            anchors=_from_elsewhere(checkpoint, directory),
        )
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
    if not directory.is_dir():
        raise AuditError(f"{directory} is not a directory")
    with ExitStack() as stack:
        with suppress(OSError, Busy):  # a copy on a medium that can't be written has no writers
            if (directory / LOCK).exists():
                lock = Lock(directory / LOCK)
                stack.callback(lock.close)
                stack.enter_context(lock.held(_PATIENCE))
        # Whatever its name: what does not belong to the log does not fit into its chain.
        files = [(path, path.stat().st_size) for path in sorted(directory.glob("*.jsonl"))]
    if not files:
        raise AuditError(f"{directory} holds no audit log (audit_YYYY-MM-DD.jsonl)")
    return files


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
        with self._path.open("rb") as file:
            while left > 0 and (line := file.readline(left)):
                left -= len(line)
                yield line.removesuffix(b"\n")


def _from_elsewhere(path: Path | None, directory: Path) -> bytes | None:
    if path is None:
        return None
    data = path.read_bytes()
    return None if directory.resolve() in path.resolve().parents else data


def _optional(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def _unreadable(error: OSError, directory: Path) -> AuditError:
    return AuditError(f"{error.filename or directory} can't be read: {error.strerror or type(error).__name__}")
