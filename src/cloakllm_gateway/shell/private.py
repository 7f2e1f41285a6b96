"""Files that nobody but their owner may read or write, and that survive a power cut."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

from cloakllm_gateway.errors import VaultError

PRIVATE_DIR, PRIVATE_FILE = 0o700, 0o600
_POSIX = os.name == "posix"


def verify(path: Path, is_kind: Callable[[int], bool]) -> None:
    """Refuse what is no plain file or directory, belongs to somebody else, or is open to others."""
    found = path.lstat()
    if not is_kind(found.st_mode):
        raise VaultError(f"{path} is not what the gateway made: a link or something else stands in its place")
    if not _POSIX:
        return  # Windows: the profile directory's access list protects it
    if found.st_uid != os.geteuid():
        raise VaultError(f"{path} belongs to another user", "Choose a state_dir of your own.")
    if found.st_mode & 0o077:
        mode = "700" if stat.S_ISDIR(found.st_mode) else "600"
        raise VaultError(f"{path} is open to other users", f"Run: chmod {mode} {path}")


def private_dir(path: Path) -> None:
    """Make ``path`` where it is missing, and refuse it where others could get in."""
    path.mkdir(mode=PRIVATE_DIR, parents=True, exist_ok=True)
    verify(path, stat.S_ISDIR)


def create_file(path: Path, data: bytes) -> None:
    """Write a new file and wait for the disk; ``FileExistsError`` where there is one."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def sync_dir(path: Path) -> None:
    """Wait until names in ``path`` are on the disk."""
    if not _POSIX:
        return  # Windows can't open a directory; a rename there is durable with the volume's journal
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
