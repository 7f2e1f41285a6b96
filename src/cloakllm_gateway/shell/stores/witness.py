"""The witness of a store: it remembers how far the store had come, so that an older copy of it is noticed.

One small file in the state directory for each store: the last revision that a
gateway on this machine saw, authenticated with a key that is sealed in the
store.  Where two gateways commit at the same moment the file may lag by one of
their changes until the next; it never runs ahead.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import stat
from pathlib import Path

from cloakllm_gateway.errors import VaultError
from cloakllm_gateway.shell.private import PRIVATE_FILE, private_dir, verify
from cloakllm_gateway.shell.stores.state import vault_dir

_REVISION_BYTES = 8
_SIZE = _REVISION_BYTES + 32


class Witness:
    """Remembers for the store at ``place``; ``state_dir`` is private to the user.

    A store in the state directory is known by its place there: both may be moved together.
    """

    def __init__(self, state_dir: Path, place: str) -> None:
        known_by = place.removeprefix(f"{state_dir}{os.sep}")
        #: What tells the store from its copies.
        self.name = hashlib.sha256(known_by.encode()).hexdigest()[:16]
        self._file = vault_dir(state_dir) / f"{self.name}.seen"
        self._place = place
        self._noted = 0

    def recall(self) -> bytes:
        """What was noted, nothing if nothing was; to be read before the store, which others may take further."""
        if not os.path.lexists(self._file):
            return b""
        verify(self._file, stat.S_ISREG)
        kept = self._file.read_bytes()
        while (again := self._file.read_bytes()) != kept:  # somebody was writing
            kept = again
        return kept

    def refuse_absent(self, kept: bytes) -> None:
        """There is no store.  Raises ``VaultError`` if, by what was noted, there was one."""
        if kept:
            raise VaultError(f"The token store at {self._place} is gone or empty, but it was in use", self._advice())

    def refuse_older(self, kept: bytes, revision: int, key: bytes) -> None:
        """The store is at ``revision``.  Raises ``VaultError`` if, by what was noted, it was further."""
        if not kept:
            return
        seen = int.from_bytes(kept[:_REVISION_BYTES], "big")
        if not hmac.compare_digest(kept, _signed(seen, key)):
            raise VaultError(f"{self._file} is not what the gateway wrote", self._advice())
        if seen > revision:
            raise VaultError(f"The token store at {self._place} was put back to an older state", self._advice())
        self._noted = seen

    def note(self, revision: int, key: bytes) -> None:
        """The store has come to ``revision``.  Raises ``VaultError`` where that can't be written down."""
        try:
            self._note(revision, key)
        except OSError as error:
            raise VaultError(
                f"{self._file} can't be written: {error.strerror or type(error).__name__}",
                "Its directory has to be readable and writable for you alone.",
            ) from None

    def _note(self, revision: int, key: bytes) -> None:
        if revision <= self._noted:
            return
        try:
            handle = os.open(self._file, os.O_RDWR)
        except FileNotFoundError:
            private_dir(self._file.parent)
            handle = os.open(self._file, os.O_RDWR | os.O_CREAT, PRIVATE_FILE)
        with os.fdopen(handle, "r+b", buffering=0) as file:
            kept = file.read(_SIZE)
            seen = int.from_bytes(kept[:_REVISION_BYTES], "big")
            if seen < revision or not hmac.compare_digest(kept, _signed(seen, key)):
                # In place, in one piece: a rename over a file waits for the disk (ext4), and this is for every change.
                file.seek(0)
                file.write(_signed(revision, key))
        self._noted = revision

    def _advice(self) -> str:
        return (
            "Continued, it could give old tokens new meanings. Restore the store from a backup that is as new, or, if"
            f" no conversation with old tokens will be continued, delete the store and {self._file} to begin again."
        )


def _signed(revision: int, key: bytes) -> bytes:
    number = revision.to_bytes(_REVISION_BYTES, "big")
    return number + hmac.digest(key, b"seen" + number, "sha256")
