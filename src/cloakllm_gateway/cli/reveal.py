"""``vault reveal``: a person reads what the tokens of an answer stand for.

An agent on this machine can run commands as well as a person can.  So this is
off until a person has set a passphrase, everything is read from and written to
the terminal itself (not to pipes that a program holds), and it is in the audit
log before anything is shown.  What the passphrase is checked against lies
sealed in the store, where nobody can replace it without the store's key.
"""

from __future__ import annotations

import getpass
import hashlib
import hmac
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from cloakllm_gateway.errors import VaultError
from cloakllm_gateway.shell.command_hints import own
from cloakllm_gateway.vault import tokens
from cloakllm_gateway.vault.entries import Token

if TYPE_CHECKING:
    from cloakllm_gateway.cli.vault import Opened

#: Cost of scrypt: 32 MiB and about 0.1 s (OWASP Password Storage Cheat Sheet).
_COST = {"n": 2**15, "r": 8, "p": 1, "maxmem": 64 * 1024 * 1024}
_SALT_BYTES = 16
_SHORTEST = 8
_NO_TERMINAL = "This needs a terminal with a person before it"


def set_passphrase(opened: Opened) -> None:
    """Ask for a new passphrase, and for the old one where there is one.  Raises :class:`VaultError`."""
    with _terminal() as (_, terminal):
        if opened.store.lock:
            _unlock(opened, terminal, "Passphrase until now: ", "passphrase")
        new = _secret("New passphrase: ", terminal)
        if len(new) < _SHORTEST:
            raise VaultError(f"A passphrase has at least {_SHORTEST} characters")
        if _secret("Once more: ", terminal) != new:
            raise VaultError("The two were not the same")
        opened.audit("passphrase")
        salt = os.urandom(_SALT_BYTES)
        opened.store.set_lock(salt + _stretched(new, salt))
        terminal.write("The passphrase is set. `vault reveal` asks for it.\n")


def reveal(opened: Opened) -> None:
    """Ask for the passphrase and for a text, and show the text with values.  Raises :class:`VaultError`."""
    if not opened.store.lock:
        opened.audit("reveal", refused=True)
        switch = own("vault", "passphrase", "--config", opened.path)
        raise VaultError("Revealing is off", f"A person can switch it on: `{switch}`.")
    if not opened.is_audited:
        raise VaultError("Revealing is off, because the audit log is")
    with _terminal() as (typed, terminal):
        _unlock(opened, terminal, "Passphrase: ", "reveal")
        terminal.write("Paste the text and end it with Ctrl-D on a line of its own:\n")
        terminal.flush()
        text = typed.read()
        shown, count, unknown = restored(opened, text)
        opened.audit("reveal", count=count)
        terminal.write(f"\n{shown}\n")
        if unknown:
            names = ", ".join(map(str, unknown))
            terminal.write(f"\nNot in this vault, or no longer: {names}. `vault list` shows what is.\n")


def restored(opened: Opened, text: str) -> tuple[str, int, list[Token]]:
    """``text`` with the values of this configuration's tokens, and how many there were.

    Other tokens stay; those of them that have the name of a category are the last part of the answer.
    """
    out, done, count = [], 0, 0
    unknown: dict[Token, None] = {}  # in their order
    for match in tokens.scan(text):
        entry = opened.entry_of(match.token)
        if entry is None and match.token.category in opened.categories:
            unknown[match.token] = None
        if entry is not None:
            out += [text[done : match.start], _printable(entry.spelling.value)]
            done = match.end
            count += 1
    return "".join([*out, text[done:]]), count, list(unknown)


def _unlock(opened: Opened, terminal: TextIO, prompt: str, action: str) -> None:
    given = _secret(prompt, terminal)
    lock = opened.store.lock
    if not hmac.compare_digest(lock[_SALT_BYTES:], _stretched(given, lock[:_SALT_BYTES])):
        opened.audit(action, refused=True)
        raise VaultError("That is not the passphrase")


def _stretched(passphrase: str, salt: bytes) -> bytes:
    return hashlib.scrypt(passphrase.encode("utf-8", "surrogateescape"), salt=salt, dklen=32, **_COST)


def _secret(prompt: str, terminal: TextIO) -> str:
    """What a person types without seeing it; never from standard input."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", getpass.GetPassWarning)
            return getpass.getpass(prompt, terminal)
    except (getpass.GetPassWarning, EOFError):
        raise VaultError(_NO_TERMINAL) from None


@contextmanager
def _terminal() -> Iterator[tuple[TextIO, TextIO]]:
    """The terminal of the person, to read from and to write to, wherever standard input and output lead."""
    try:
        typed = open("/dev/tty", encoding="utf-8", errors="replace")  # noqa: SIM115 - closed below
    except OSError:
        raise VaultError(_NO_TERMINAL) from None
    with typed, open("/dev/tty", "w", encoding="utf-8", errors="replace") as terminal:
        yield typed, terminal


def _printable(value: str) -> str:
    """``value`` without what a terminal would obey."""
    return "".join(c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in value)
