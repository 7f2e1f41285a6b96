"""Random bytes that stay on this machine: ``private/`` of a log."""

from __future__ import annotations

import hmac
import os
from pathlib import Path
from typing import Final

from cloakllm_gateway.errors import AuditError
from cloakllm_gateway.shell.audit.files import PRIVATE, keep, open_private
from cloakllm_gateway.shell.private import make_private

_DIGEST: Final = "digest.key"
_BYTES: Final = 32


def keyed_digest(directory: Path, data: bytes) -> str:
    """HMAC-SHA-256 of ``data``: equal for equal data of this log, and nothing to try guesses on without its key."""
    return hmac.new(secret(directory, _DIGEST), data, "sha256").hexdigest()


def secret(directory: Path, name: str) -> bytes:
    """32 random bytes in a file of their own, made on first use by whoever comes first."""
    folder = directory / PRIVATE
    path = folder / name
    if not path.exists():
        for made in (directory, folder):  # the mode of a parent that is made by the way is anybody's
            make_private(made)
        new = folder / f"{name}.{os.getpid()}"
        keep(open_private(new, os.O_WRONLY | os.O_TRUNC), os.urandom(_BYTES))
        try:
            os.link(new, path)  # fails where another gateway was faster
        except FileExistsError:
            pass
        finally:
            new.unlink()
    found = path.read_bytes()
    if len(found) != _BYTES:
        raise AuditError(f"{path} is damaged", "Restore it from a backup, or begin a new log in another directory.")
    return found
