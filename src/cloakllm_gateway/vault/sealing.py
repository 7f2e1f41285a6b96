"""Sealing what a store keeps: without the key its rows say nothing, with it no row can stand for another.

Two keys are derived from one master key (HKDF of RFC 5869 with SHA-256, expand
only: the master key is uniformly random already).  *Seal* encrypts with
AES-256-GCM; what a row is (its identity) goes in as associated data, so a row
that was edited, moved or copied does not open.  *Sum* gives each row a number;
a store's sum over its rows tells that none is missing.

Rows are named by :func:`index`, an HMAC of what they are looked up by: equal
values meet, and nobody without its key can try values out.  That key is not
derived from the master key but sealed with the store, because it has to stay
when the master key changes: a row may have outlived the value that named it.

Pure: keys and nonces are arguments.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY_BYTES = 32
NONCE_BYTES = 12
#: Rows are named by so many bytes: 2**64 rows until two of them are likely to meet.
INDEX_BYTES = 16
KEY_ID_BYTES = 8
#: Sums over rows are taken modulo this.
SUM_MODULUS = 1 << 128


class Broken(Exception):
    """Sealed bytes are not what was sealed under this key and identity."""


class Sealer:
    """Seals, opens and sums rows under one master ``key`` of :data:`KEY_BYTES` bytes."""

    def __init__(self, key: bytes) -> None:
        if len(key) != KEY_BYTES:
            raise ValueError(f"a key has {KEY_BYTES} bytes")
        self.key_id = _derive(key, b"id")[:KEY_ID_BYTES]
        self._sum_key = _derive(key, b"sum")
        self._cipher = _cipher(_derive(key, b"seal"))

    def seal(self, data: bytes, identity: bytes, nonce: bytes) -> bytes:
        """``data`` sealed for ``identity``; a ``nonce`` of :data:`NONCE_BYTES` must not be used twice."""
        return nonce + self._cipher.encrypt(nonce, data, identity)

    def open(self, sealed: bytes, identity: bytes) -> bytes:
        """What was sealed.  Raises :class:`Broken`."""
        from cryptography.exceptions import InvalidTag

        if len(sealed) < NONCE_BYTES:
            raise Broken
        try:
            return self._cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], identity)
        except InvalidTag:
            raise Broken from None

    def weight(self, row: bytes) -> int:
        """What a row adds to the sum over all rows, below :data:`SUM_MODULUS`."""
        return int.from_bytes(hmac.digest(self._sum_key, row, "sha256")[:16], "big")


def index(key: bytes, purpose: str, parts: Iterable[str]) -> bytes:
    """The name of what ``parts`` describe: equal for equal parts, and to be had with ``key`` only."""
    return hmac.digest(key, _joined((purpose, *parts)), "sha256")[:INDEX_BYTES]


def _derive(key: bytes, purpose: bytes) -> bytes:
    """HKDF-Expand of RFC 5869, section 2.3, for one block."""
    return hmac.digest(key, b"cloakllm-gateway vault " + purpose + b"\x01", "sha256")


def _joined(parts: Iterable[str]) -> bytes:
    """The parts, each behind its length, so that no two lists look alike; lone surrogates survive."""
    encoded = [part.encode("utf-8", "surrogatepass") for part in parts]
    return b"".join(len(part).to_bytes(4, "big") + part for part in encoded)


def _cipher(key: bytes) -> AESGCM:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # not needed by the store in memory

    return AESGCM(key)
