"""Whether what a gateway keeps can be written where it is to lie, asked before anything needs it.

To find out, a directory is made there and removed again: what permissions say
is not true of every file system, such as ``/proc``.  A disk that is full is not
always noticed: it may have room by the time there is something to keep.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from cloakllm_gateway.core.settings import Mode
from cloakllm_gateway.errors import AuditError, GatewayError, VaultError
from cloakllm_gateway.shell.auditing import directory_of
from cloakllm_gateway.shell.config import Backend, Config, OnAuditError
from cloakllm_gateway.shell.stores.state import numbers_dir, vault_dir
from cloakllm_gateway.shell.wiring import state_dir_of


class _Place(NamedTuple):
    """A directory, what is kept there, and the key of the configuration that names another."""

    what: str
    directory: Path
    key: str
    error: type[GatewayError]


def check_writable(config: Config) -> None:
    """Raises :class:`VaultError` or :class:`AuditError` where a session could not pass anything on for it."""
    for error in unwritable(config):
        raise error


def unwritable(config: Config) -> Iterator[GatewayError]:
    """What can't be written, and what to do about it: one error for each thing that a session needs."""
    for place in _places(config):
        if reason := _refusal(place.directory):
            yield place.error(
                f"{place.what} can't be written in {place.directory}: {reason}",
                f"Make the directory writable for you, or name another as {place.key}.",
            )


def _places(config: Config) -> Iterator[_Place]:
    state, vault = state_dir_of(config), config.vault
    if config.sanitize and config.mode is Mode.ENFORCE:  # else no value gets a token
        if state is not None:
            yield _Place("The token numbers", numbers_dir(state), "state_dir", VaultError)
        if vault.path is not None:
            yield _Place("The token store", Path(vault.path).parent, "vault.path", VaultError)
        elif vault.backend is Backend.SQLITE and state is not None:
            yield _Place("The token store", vault_dir(state), "state_dir", VaultError)
    log = directory_of(config)
    if config.audit and log is not None and config.audit.on_error is OnAuditError.WITHHOLD:
        yield _Place("The audit log", log, "audit.path" if config.audit.path else "state_dir", AuditError)


def _refusal(directory: Path) -> str:
    """Why no file can be made in ``directory``, which is made with all above it where it is missing; empty if it can.

    What is missing can be made if something can be made in the next directory above it that exists.
    """
    for place in (directory, *directory.parents):
        try:
            found = place.stat()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            return error.strerror or type(error).__name__
        if not stat.S_ISDIR(found.st_mode):
            return os.strerror(errno.ENOTDIR)
        try:
            os.rmdir(tempfile.mkdtemp(prefix=".cloakllm-", dir=place))
        except OSError as error:
            return f"nothing can be made in {place} ({error.strerror or type(error).__name__})"
        return ""
    return os.strerror(errno.ENOENT)
