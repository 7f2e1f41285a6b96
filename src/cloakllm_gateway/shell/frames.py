"""What the gateway and its detection workers say to each other.

A frame is a length (four bytes, big endian) and that many bytes of msgpack.
The gateway first sends the settings, then one request at a time; the worker
answers ``Ready`` when it has loaded, and every request with ``Found``, ``Done``
or ``Failed``.

Strings travel as bytes: they may hold lone surrogates, which msgpack refuses and
detection must see where they are.  Texts that are ASCII, and may be large, are
spared the copies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import msgspec

from cloakllm_gateway.detection.settings import Settings
from cloakllm_gateway.errors import DetectionError
from cloakllm_gateway.spans import Encoding, Findings, Proof, Span, Text

#: Bytes before the body of a frame.
HEADER = 4
#: The longest body, in bytes.
LONGEST = 256 * 1024 * 1024


class WireText(NamedTuple):
    """A :class:`Text`."""

    text: Any  # a str where it is ASCII, else bytes
    key: bytes
    record: int
    names: bool
    parent: bytes
    above: int


class WireSpan(NamedTuple):
    """A :class:`Span`."""

    start: int
    end: int
    category: str
    value: bytes
    canonical: bytes
    encoding: Encoding
    proof: Proof
    rank: int
    sensitive: bool


class Find(msgspec.Struct, tag=True, array_like=True, frozen=True):
    """Look at these texts."""

    texts: Sequence[WireText]


class Prove(msgspec.Struct, tag=True, array_like=True, frozen=True):
    """Show that the examples of every category are found."""


class Ready(msgspec.Struct, tag=True, array_like=True, frozen=True):
    """The worker has loaded what it needs."""


class Found(msgspec.Struct, tag=True, array_like=True, frozen=True):
    """The :class:`Findings`."""

    spans: Sequence[Sequence[WireSpan]]
    encoded: Sequence[int]


class Done(msgspec.Struct, tag=True, array_like=True, frozen=True):
    """The proof holds."""


class Failed(msgspec.Struct, tag=True, array_like=True, frozen=True):
    """A :class:`DetectionError`."""

    what: str
    hint: str


Request: TypeAlias = Find | Prove
Reply: TypeAlias = Ready | Found | Done | Failed

_encode_into = msgspec.msgpack.Encoder().encode_into
decode_settings: Callable[[bytes], Settings] = msgspec.msgpack.Decoder(Settings).decode
decode_request: Callable[[bytes], Request] = msgspec.msgpack.Decoder(Request).decode
decode_reply: Callable[[bytes], Reply] = msgspec.msgpack.Decoder(Reply).decode


def frame(body: Settings | Request | Reply) -> bytearray:
    """Raises :class:`DetectionError` for a body that is too long.

    Written where it stays: to copy 5 MB takes seven times as long as to encode them.
    """
    framed = bytearray(HEADER)
    _encode_into(body, framed, HEADER)
    size = len(framed) - HEADER
    if size > LONGEST:
        raise DetectionError(f"A message is too large to be inspected: more than {LONGEST} bytes")
    framed[:HEADER] = size.to_bytes(HEADER, "big")
    return framed


def length(header: bytes) -> int:
    """How many bytes follow ``header``.  Raises :class:`DetectionError` for more than may."""
    announced = int.from_bytes(header, "big")
    if announced > LONGEST:
        raise DetectionError("A detection worker and the gateway do not understand each other")
    return announced


def find(texts: Sequence[Text]) -> Find:
    return Find(
        [
            WireText(_pack_text(text), _pack(key), record, names, _pack(parent), above)
            for text, key, record, names, parent, above in texts
        ]
    )


def texts_of(request: Find) -> list[Text]:
    return [
        Text(_unpack_text(text), _unpack(key), record, names, _unpack(parent), above)
        for text, key, record, names, parent, above in request.texts
    ]


def found(findings: Findings) -> Found:
    return Found([[_wired(span) for span in of_one] for of_one in findings.spans], [*findings.encoded])


def findings_of(reply: Found) -> Findings:
    return Findings([[_unwired(wire) for wire in of_one] for of_one in reply.spans], frozenset(reply.encoded))


def _wired(span: Span) -> WireSpan:
    value, canonical = _pack(span.value), _pack(span.canonical)
    where = (span.start, span.end, span.category)
    return WireSpan(*where, value, canonical, span.encoding, span.proof, span.rank, span.sensitive)


def _unwired(wire: WireSpan) -> Span:
    value, canonical = _unpack(wire.value), _unpack(wire.canonical)
    where = (wire.start, wire.end, wire.category)
    return Span(*where, value, canonical, wire.encoding, wire.proof, wire.rank, wire.sensitive)


def _pack_text(text: str) -> str | bytes:
    return text if text.isascii() else _pack(text)


def _unpack_text(packed: str | bytes) -> str:
    return packed if isinstance(packed, str) else _unpack(packed)


def _pack(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _unpack(packed: bytes) -> str:
    return packed.decode("utf-8", "surrogatepass")
