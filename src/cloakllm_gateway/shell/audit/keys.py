"""The keys that sign the checkpoints of a log.

The secret one lies in ``private/``, made with the first checkpoint; ``log.pub``
holds the public keys, oldest first.  ``cryptography`` is imported by what signs,
never by what writes entries: a client has its answer before anything is signed.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from cloakllm_gateway.audit.notes import (
    BadNote,
    Checkpoint,
    Note,
    Signature,
    VerifierKey,
    note,
    read_keys,
)
from cloakllm_gateway.errors import AuditError
from cloakllm_gateway.shell.audit.files import PRIVATE, PUBLIC_KEYS, replace
from cloakllm_gateway.shell.audit.secrets import secret

_SIGNING: Final = "signing.key"
_NEXT_SIGNING: Final = "signing.key.next"


class Signer:
    """Signs checkpoints of one log.  Makes its key on first use."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        keys = public_keys(directory)
        seed = secret(directory, _SIGNING)
        self._public = public_half(seed)
        self._seed = seed
        if not keys:
            name = f"cloakllm-gateway/audit/{os.urandom(8).hex()}"
            keys = [VerifierKey(name, self._public)]
            _publish(directory, keys)
        if keys[-1].public != self._public and (directory / PRIVATE / _NEXT_SIGNING).exists():
            self._take_over()  # of a rotation that was interrupted behind its last checkpoint
        if keys[-1].public != self._public:
            raise AuditError(
                f"The signing key of the audit log in {directory} is not the one that its {PUBLIC_KEYS} names",
                "Restore private/ from a backup, or begin a new log in another directory.",
            )
        self.key = keys[-1]

    def sign(self, checkpoint: Checkpoint) -> Note:
        return note(checkpoint, [_signature(self.key, self._seed, checkpoint)])

    def hand_over(self, checkpoint: Checkpoint) -> tuple[Note, VerifierKey]:
        """The one checkpoint that a key and its successor both sign; then :meth:`succeed`."""
        seed = secret(self._directory, _NEXT_SIGNING)
        following = VerifierKey(self.key.name, public_half(seed))
        named = checkpoint._replace(next_key=following)
        signatures = [_signature(self.key, self._seed, named), _signature(following, seed, named)]
        return note(named, signatures), following

    def succeed(self, following: VerifierKey) -> None:
        """From now on the successor signs alone; the old secret is gone."""
        _publish(self._directory, [*public_keys(self._directory), following])
        self._take_over()
        self.key = following

    def _take_over(self) -> None:
        os.replace(self._directory / PRIVATE / _NEXT_SIGNING, self._directory / PRIVATE / _SIGNING)
        self._seed = secret(self._directory, _SIGNING)
        self._public = public_half(self._seed)


def public_keys(directory: Path) -> list[VerifierKey]:
    """The keys in ``log.pub``, oldest first; none where there is no such file yet."""
    try:
        return read_keys((directory / PUBLIC_KEYS).read_bytes())
    except FileNotFoundError:
        return []
    except BadNote as error:
        raise AuditError(f"{directory / PUBLIC_KEYS} is damaged: {error}") from None


def public_half(seed: bytes) -> bytes:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()


def _signature(key: VerifierKey, seed: bytes, checkpoint: Checkpoint) -> Signature:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Signature(key.name, key.id, Ed25519PrivateKey.from_private_bytes(seed).sign(checkpoint.text()))


def _publish(directory: Path, keys: list[VerifierKey]) -> None:
    replace(directory / PUBLIC_KEYS, "".join(f"{key}\n" for key in keys).encode())
