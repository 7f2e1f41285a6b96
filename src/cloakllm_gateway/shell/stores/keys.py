"""Where the master key of a sealed store lives: a private file, or the keyring of the operating system.

The key is made together with the store and never again: a store whose key is
missing stays shut, with an explanation.  To change the key, the new one is put
beside the old one (*staged*) before the store is sealed anew, and takes its
place afterwards; a process killed in between leaves a store that one of the two
opens, and the next one to open it clears up.
"""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path
from typing import Protocol

from cloakllm_gateway.errors import VaultError
from cloakllm_gateway.shell.command_hints import installing
from cloakllm_gateway.shell.config import KEYRING
from cloakllm_gateway.shell.private import create_file, private_dir, sync_dir, verify
from cloakllm_gateway.shell.stores.state import vault_dir
from cloakllm_gateway.vault.sealing import KEY_BYTES, Sealer

_SERVICE = "cloakllm-gateway"


class KeyKeeper(Protocol):
    """Keeps one key, and at times its successor."""

    def __str__(self) -> str:
        """Where it is, for people."""

    def read(self, *, staged: bool = False) -> bytes | None:
        """The key, or None."""

    def create(self) -> bytes:
        """A new key, kept before this returns; the one that somebody else made meanwhile wins."""

    def stage(self, key: bytes) -> None:
        """Keep ``key`` as the successor."""

    def promote(self) -> None:
        """The successor becomes the key."""


def keeper(key_file: str | None, state_dir: Path) -> KeyKeeper:
    """Who keeps the key that a configuration names; by default a file in the state directory."""
    if key_file == KEYRING:
        return _Keyring()
    return _KeyFile(Path(key_file) if key_file else vault_dir(state_dir) / "key")


def find(keeper: KeyKeeper, key_id: bytes, place: str) -> Sealer:
    """The sealer for the store at ``place``, which names its key by ``key_id``.  Raises ``VaultError``."""
    key = keeper.read()
    if key is not None and (sealer := Sealer(key)).key_id == key_id:
        return sealer
    staged = keeper.read(staged=True)
    if staged is not None and (sealer := Sealer(staged)).key_id == key_id:
        keeper.promote()
        return sealer
    what = f"The key of the token store at {place} is missing" if key is None else f"{keeper} is not the key of {place}"
    raise VaultError(
        what,
        f"It was expected as {keeper}. Put back the key that the store was made with; without it nothing in the store"
        " can be read.",
    )


def make(keeper: KeyKeeper) -> Sealer:
    """A sealer for a new store, with the key that is there or a new one."""
    return Sealer(keeper.read() or keeper.create())


class _KeyFile:
    """``KEY_BYTES`` bytes in a file of mode 0600, its successor beside it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._staged = path.with_name(f"{path.name}.new")

    def __str__(self) -> str:
        return str(self._path)

    def read(self, *, staged: bool = False) -> bytes | None:
        path = self._staged if staged else self._path
        if not os.path.lexists(path):
            return None
        verify(path, stat.S_ISREG)
        return _checked(path.read_bytes(), str(path))

    def create(self) -> bytes:
        private_dir(self._path.parent)
        fresh = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        fresh.unlink(missing_ok=True)
        create_file(fresh, secrets.token_bytes(KEY_BYTES))
        try:
            os.link(fresh, self._path)  # fails where there is one: whole and first, or not at all
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
        sync_dir(self._path.parent)
        return _checked(self._path.read_bytes(), str(self._path))

    def stage(self, key: bytes) -> None:
        self._staged.unlink(missing_ok=True)
        create_file(self._staged, key)
        sync_dir(self._path.parent)

    def promote(self) -> None:
        self._staged.replace(self._path)
        sync_dir(self._path.parent)


class _Keyring:
    """The keyring of the operating system; needs the extra ``keyring``."""

    def __str__(self) -> str:
        return f"the entry {_SERVICE} of the keyring"

    def read(self, *, staged: bool = False) -> bytes | None:
        kept = _keyring("get_password", _SERVICE, _user(staged))
        try:
            return None if kept is None else _checked(bytes.fromhex(kept), str(self))
        except ValueError:
            raise VaultError(f"{self} is not a key of {KEY_BYTES} bytes") from None

    def create(self) -> bytes:
        key = secrets.token_bytes(KEY_BYTES)
        _keyring("set_password", _SERVICE, _user(staged=False), key.hex())
        return self.read() or key

    def stage(self, key: bytes) -> None:
        _keyring("set_password", _SERVICE, _user(staged=True), key.hex())

    def promote(self) -> None:
        staged = self.read(staged=True)
        if staged is not None:
            _keyring("set_password", _SERVICE, _user(staged=False), staged.hex())
            _keyring("delete_password", _SERVICE, _user(staged=True))


def _user(staged: bool) -> str:
    return "vault key, successor" if staged else "vault key"


def _keyring(call: str, *arguments: str) -> str | None:
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        raise VaultError("The keyring is not installed", installing("keyring")) from None
    try:
        answer: str | None = getattr(keyring, call)(*arguments)
    except KeyringError as error:
        raise VaultError(
            f"The keyring can't be used ({type(error).__name__})", "Unlock it, or name a file as vault.key_file."
        ) from None
    return answer


def _checked(key: bytes, where: str) -> bytes:
    if len(key) != KEY_BYTES:
        raise VaultError(f"{where} is not a key of {KEY_BYTES} bytes")
    return key
