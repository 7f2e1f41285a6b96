"""Bearer tokens: who a caller is, without keeping anything that would let somebody else be it.

A token is 256 random bits, made here and shown once; kept is its SHA-256.
Against guessing, that many bits need no slow hash: there is nothing to try but
all of them.

The file has a line for each token, ``principal: sha256:HEX``; several lines may
name one principal, ``#`` begins a comment.  It is read again when it changes,
so a line that is deleted takes effect with the next request.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import re
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from cloakllm_gateway.errors import ConfigError
from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.shell.command_hints import own
from cloakllm_gateway.shell.private import PRIVATE_FILE, create_file, make_private, private_dir, verify

#: The file of the token that the gateway makes for itself, in the state directory.
GENERATED: Final = "http-token"
#: Whom that token stands for, whom a Unix socket does, and who comes where nobody has to say who they are.
OWNER, LOCAL, ANYBODY = "owner", "local", "anybody"

_PREFIX: Final = "clg_"
_BYTES: Final = 32
_PRINCIPAL = lazy(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", re.ASCII)
_LINE = lazy(r"([A-Za-z0-9][A-Za-z0-9_.-]{0,63})\s*:\s*sha256:([0-9a-f]{64})", re.ASCII)


class Authenticator(Protocol):
    """Knows who may come in; ``place`` is the file that tells, for the log and no client."""

    place: Path | None

    def principal(self, token: str | None) -> str | None:
        """Whom ``token`` stands for; None for nobody.  Raises :class:`ConfigError` where that can't be told."""


class Everybody:
    """All callers are one principal, whatever they say."""

    place: Path | None = None

    def __init__(self, principal: str) -> None:
        self._principal = principal

    def principal(self, token: str | None) -> str | None:
        return self._principal


class _Known(NamedTuple):
    digest: bytes
    principal: str


class OneToken:
    """One token, for the user whose state directory it lies in."""

    def __init__(self, token: str, place: Path) -> None:
        self.place: Path | None = place
        self._known = (_Known(_digest(token), OWNER),)

    def principal(self, token: str | None) -> str | None:
        return None if token is None else _match(token, self._known)


class TokenFile:
    """The tokens in the file ``path``.  Raises :class:`ConfigError` where it can't be used."""

    def __init__(self, path: Path) -> None:
        self.place: Path | None = path
        self._path = path
        self._state: tuple[int, ...] = ()
        self._known: tuple[_Known, ...] = ()
        self._read()

    def principal(self, token: str | None) -> str | None:
        if token is None:
            return None
        self._read()
        return _match(token, self._known)

    @property
    def principals(self) -> frozenset[str]:
        """Everybody whom the file lets in."""
        return frozenset(known.principal for known in self._known)

    def _read(self) -> None:
        try:
            found = self._path.stat()
            state = (found.st_ino, found.st_size, found.st_mtime_ns)
            if state == self._state:
                return
            _refuse_writable(self._path, found)
            text = self._path.read_text("utf-8")
        except OSError as error:
            raise ConfigError(
                f"The tokens file {self._path} can't be read: {error.strerror or type(error).__name__}",
                f"Make one with `{own('token', 'add', 'NAME', '--file', str(self._path))}`",
            ) from None
        except UnicodeDecodeError:
            raise _damaged(self._path, 0) from None
        self._known = tuple(_parsed(self._path, text))
        self._state = state


def _parsed(path: Path, text: str) -> list[_Known]:
    known = []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.partition("#")[0].strip()
        if not line:
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise _damaged(path, number)
        known.append(_Known(bytes.fromhex(match[2]), match[1]))
    return known


def _damaged(path: Path, line: int) -> ConfigError:
    place = f" line {line}" if line else ""
    return ConfigError(f"The tokens file {path}{place} is not as it should be", "Each line: NAME: sha256:HEX")


def _refuse_writable(path: Path, found: os.stat_result) -> None:
    """Whoever may write to the file can let themselves in."""
    if os.name == "posix" and (found.st_mode & 0o022 or found.st_uid not in (os.geteuid(), 0)):
        raise ConfigError(f"The tokens file {path} can be written by others", f"Run: chmod go-w {path}")


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def _match(token: str, known: tuple[_Known, ...]) -> str | None:
    """The principal of a token; takes the same time whichever it is, and if it is none."""
    digest, principal = _digest(token), None
    for each in known:
        if hmac.compare_digest(each.digest, digest):
            principal = each.principal
    return principal


# -- making tokens -----------------------------------------------------------------------------------


def new_token() -> str:
    return _PREFIX + base64.urlsafe_b64encode(secrets.token_bytes(_BYTES)).decode("ascii").rstrip("=")


def is_principal(name: str) -> bool:
    """Whether ``name`` may stand in a tokens file."""
    return _PRINCIPAL.fullmatch(name) is not None


def add_token(path: Path, principal: str) -> str:
    """Append a new token for ``principal`` to the file, which is made where there is none; returns the token.

    Raises :class:`ConfigError`.
    """
    token = new_token()
    try:
        if path.exists():
            TokenFile(path)  # nothing is added to what could not be read
        make_private(path.parent)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, PRIVATE_FILE)
        with os.fdopen(handle, "a", encoding="ascii") as file:
            file.write(f"{principal}: sha256:{_digest(token).hex()}\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise ConfigError(f"The tokens file {path} can't be written: {error.strerror}", "Name another file") from None
    return token


def generated(state_dir: Path) -> OneToken:
    """The one token of a gateway without a tokens file, made at the first start.

    Raises :class:`VaultError` where the file is not private, :class:`ConfigError` where it can't be kept.
    """
    path = state_dir / GENERATED
    try:
        private_dir(state_dir)
        with suppress(FileExistsError):
            create_file(path, (new_token() + "\n").encode("ascii"))
        verify(path, stat.S_ISREG)
        token = path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise ConfigError(f"The token {path} can't be kept: {reason}", "Name another state_dir") from None
    if len(token) < len(_PREFIX) + _BYTES:
        raise ConfigError(f"The token {path} is too short to be one", "Delete the file to have a new one made")
    return OneToken(token, path)
