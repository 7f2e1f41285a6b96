"""Signed checkpoints: C2SP ``tlog-checkpoint`` inside C2SP ``signed-note``, with Ed25519.

A note is its text, an empty line and one line per signature.  The text of a
checkpoint is the origin (the name of the log), the number of entries, the
Merkle root in base64, and lines of our own::

    cloakllm-gateway/audit/4f1d2c0b9a8e7f60
    1284
    qX0mS...=
    pruned 8b1f...        (in the first checkpoint after pruning: the hash before the first entry,
    peak mJx3...=          and the peaks of the tree that went)
    next-key NAME+HASH+KEY  (in the last one of an old key: the key that follows it)

    — cloakllm-gateway/audit/4f1d2c0b9a8e7f60 bcAt9...

A verifier's key is ``NAME+HASH+KEY``: the name of the log, the first four
bytes of SHA-256 over name, line feed, algorithm and key, in hex, and algorithm
and key in base64.

https://c2sp.org/tlog-checkpoint, https://c2sp.org/signed-note
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from cloakllm_gateway.patterns import lazy

_ED25519: Final = b"\x01"
_DASH: Final = "\u2014 "
_ID_BYTES: Final = 4
#: Those of Ed25519; what others put beside it (a witness, a later algorithm) is no shorter.
_SIGNATURE_BYTES: Final = 64
_NOT_WHOLE: Final = "a checkpoint in it is not whole"
_SIZE = lazy(r"0|[1-9][0-9]{0,15}")


class BadNote(ValueError):
    """Bytes that are no signed checkpoint, or a text that is no key; says why, repeats nothing."""


class VerifierKey(NamedTuple):
    """Who can have signed: the name of the log and a public key of 32 bytes."""

    name: str
    public: bytes

    @property
    def id(self) -> bytes:
        return hashlib.sha256(self.name.encode() + b"\n" + _ED25519 + self.public).digest()[:_ID_BYTES]

    def __str__(self) -> str:
        return f"{self.name}+{self.id.hex()}+{_b64(_ED25519 + self.public)}"

    def verifies(self, note: Note) -> bool:
        """Whether one of the signatures of ``note`` is by this key."""
        from cryptography.exceptions import InvalidSignature  # only a verifier pays for it
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        for signature in note.signatures:
            if signature.name == self.name and signature.id == self.id:
                try:
                    Ed25519PublicKey.from_public_bytes(self.public).verify(signature.bytes, note.text)
                except InvalidSignature:
                    return False
                return True
        return False


class Signature(NamedTuple):
    """One signature line: who says to have signed, and the 64 bytes."""

    name: str
    id: bytes
    bytes: bytes


class Checkpoint(NamedTuple):
    """What a note says: the first ``size`` entries of the log ``origin`` have this Merkle root.

    After pruning, ``pruned`` is the hash of the last entry that went and
    ``peaks`` are those of the tree of ``size`` entries; ``next_key`` is the key
    that the signer hands over to.
    """

    origin: str
    size: int
    root: bytes
    pruned: str = ""
    peaks: tuple[bytes, ...] = ()
    next_key: VerifierKey | None = None

    def text(self) -> bytes:
        lines = [self.origin, str(self.size), _b64(self.root)]
        if self.pruned:
            lines += [f"pruned {self.pruned}", *(f"peak {_b64(peak)}" for peak in self.peaks)]
        if self.next_key:
            lines.append(f"next-key {self.next_key}")
        return "".join(f"{line}\n" for line in lines).encode()


class Note(NamedTuple):
    """A checkpoint with its signatures; ``text`` is what they are over."""

    text: bytes
    checkpoint: Checkpoint
    signatures: tuple[Signature, ...]

    def __bytes__(self) -> bytes:
        lines = (f"{_DASH}{s.name} {_b64(s.id + s.bytes)}\n" for s in self.signatures)
        return self.text + b"\n" + "".join(lines).encode()


def note(checkpoint: Checkpoint, signatures: Iterable[Signature]) -> Note:
    return Note(checkpoint.text(), checkpoint, tuple(signatures))


def read_key(text: str) -> VerifierKey:
    """A verifier's key as it is written; raises :class:`BadNote`."""
    name, id, key = [*text.strip().split("+", 2), "", ""][:3]
    raw = _bytes(key)
    if not name or len(raw) != 33 or raw[:1] != _ED25519:
        raise BadNote("it is not an Ed25519 key of a log")
    found = VerifierKey(name, raw[1:])
    if found.id.hex() != id:
        raise BadNote("its key and its hash do not belong together")
    return found


def read_keys(data: bytes) -> list[VerifierKey]:
    """The keys of a file, one a line, oldest first; raises :class:`BadNote`."""
    try:
        lines = data.decode().split("\n")
    except UnicodeDecodeError:
        raise BadNote("it is not text") from None
    return [read_key(line) for line in lines if line.strip()]


def read_notes(data: bytes) -> list[Note]:
    """The checkpoints of a file, oldest first, an empty line between two.  Raises :class:`BadNote`."""
    notes = []
    for piece in pieces(data):
        if isinstance(piece, BadNote):
            raise piece
        notes.append(piece)
    return notes


def pieces(data: bytes) -> Iterator[Note | BadNote]:
    """The checkpoints of a file that was torn, changed or sent by mail; what is none stands there as its error."""
    text = b""
    for paragraph in data.replace(b"\r\n", b"\n").split(b"\n\n"):
        lines = paragraph.strip(b"\n")
        if text and lines.startswith(_DASH.encode()):
            yield _read_or_error(text + b"\n", lines)
            text = b""
        elif lines:
            if text:
                yield BadNote(_NOT_WHOLE)
            text = lines
    if text:
        yield BadNote(_NOT_WHOLE)


def _read_or_error(text: bytes, signed: bytes) -> Note | BadNote:
    try:
        return _read(text, signed)
    except BadNote as error:
        return error


def _read(text: bytes, signed: bytes) -> Note:
    try:
        lines = text.decode().split("\n")[:-1]
        signatures = [_read_signature(line) for line in signed.decode().split("\n") if line]
    except UnicodeDecodeError:
        raise BadNote("it is not text") from None
    if len(lines) < 3 or not signatures or not all(lines):
        raise BadNote("a checkpoint in it lacks a line")
    origin, size, root, *more = lines
    if not _SIZE.fullmatch(size) or len(_bytes(root)) != 32:
        raise BadNote("a checkpoint in it has no size or no root")
    return Note(text, _with_extensions(Checkpoint(origin, int(size), _bytes(root)), more), tuple(signatures))


def _with_extensions(plain: Checkpoint, lines: Sequence[str]) -> Checkpoint:
    """Lines that are not ours are somebody's extension and say nothing to us."""
    peaks: list[bytes] = []
    pruned, next_key = "", None
    for line in lines:
        word, _, value = line.partition(" ")
        match word:
            case "pruned":
                pruned = value
            case "peak":
                peaks.append(_bytes(value))
            case "next-key":
                next_key = read_key(value)
    return plain._replace(pruned=pruned, peaks=tuple(peaks), next_key=next_key)


def _read_signature(line: str) -> Signature:
    name, _, value = line.removeprefix(_DASH).partition(" ")
    raw = _bytes(value)
    if not line.startswith(_DASH) or not name or len(raw) < _ID_BYTES + _SIGNATURE_BYTES:
        raise BadNote("a signature in it is malformed")
    return Signature(name, raw[:_ID_BYTES], raw[_ID_BYTES:])


def _b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise BadNote("base64 in it is damaged") from None
