"""A record as bytes and back."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from cloakllm_gateway.shell.stores.book import Record
from cloakllm_gateway.spans import Encoding, Kind, Proof
from cloakllm_gateway.vault.entries import Entry, Spelling, Token


class _Kept(Struct, array_like=True, frozen=True):
    """A record as it is sealed; texts as bytes, since they may hold half a surrogate pair."""

    namespace: str
    stem: bytes
    group: str
    origins: list[str]
    brought_by: str
    minted: float
    seen: float
    restored: bool
    empty: bool
    category: str
    number: int
    variant: int
    raw: bytes
    value: bytes
    canonical: bytes
    encoding: Encoding
    kind: Kind
    proof: Proof
    sensitive: bool
    odd: bool = False


def packed(record: Record | None) -> bytes:
    """The bytes of a record; None, a record that is gone, has none."""
    if record is None:
        return b""
    token, spelling, group, origins = record.entry
    assert isinstance(record.stem, bytes)
    kept = _Kept(
        namespace=record.namespace,
        stem=record.stem,
        group=group,
        origins=sorted(origins),
        brought_by=record.brought_by,
        minted=record.minted,
        seen=record.seen,
        restored=record.restored,
        empty=record.empty,
        category=token.category,
        number=token.number,
        variant=token.variant,
        raw=_bytes(spelling.raw),
        value=_bytes(spelling.value),
        canonical=_bytes(spelling.canonical),
        encoding=spelling.encoding,
        kind=spelling.kind,
        proof=spelling.proof,
        sensitive=spelling.sensitive,
        odd=spelling.odd,
    )
    return msgspec.msgpack.encode(kept)


_DECODER = msgspec.msgpack.Decoder(_Kept)


def unpacked(data: bytes) -> Record | None:
    """The record of its bytes.  Raises ``msgspec.MsgspecError`` or ``UnicodeDecodeError`` for others."""
    if not data:
        return None
    kept = _DECODER.decode(data)
    spelling = Spelling(
        kept.category, _text(kept.raw), _text(kept.value), _text(kept.canonical),
        kept.encoding, kept.kind, kept.proof, kept.sensitive, kept.odd,
    )  # fmt: skip
    entry = Entry(Token(kept.category, kept.number, kept.variant), spelling, kept.group, frozenset(kept.origins))
    return Record(kept.namespace, kept.stem, entry, kept.brought_by, kept.minted, kept.seen, kept.restored, kept.empty)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")
