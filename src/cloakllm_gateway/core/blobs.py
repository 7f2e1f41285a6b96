"""Textual blobs: base64 whose bytes are text."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator


def textual(blob: str) -> tuple[str, str] | None:
    """The text that base64 ``blob`` holds and its charset, or None if it holds binary data.

    What is no base64 at all is text as it stands, with an empty charset.  By
    content and not by the declared type: the type is the upstream's word.
    Wrapped lines, the URL alphabet and missing padding are base64 all the same.
    """
    packed = blob.strip().replace("\r", "").replace("\n", "").translate(_URL_ALPHABET).rstrip("=")
    try:
        data = base64.b64decode(packed + "=" * (-len(packed) % 4), validate=True)
    except (binascii.Error, ValueError):
        return blob, ""
    if data.startswith(_SIGNATURES) and len(data.translate(None, _CONTROL)) < len(data):
        return None
    for charset in _charsets(data):
        try:
            text = data.decode(charset)
        except UnicodeDecodeError:
            continue
        if text.encode(charset) == data and _reads(text, charset):
            return text, charset
    return None


def _reads(text: str, charset: str) -> bool:
    """Whether UTF-16, which decodes nearly anything, gave something that reads as text."""
    if not charset.startswith("utf-16"):
        return True
    sample = text[:_SAMPLE]
    return sum(c.isprintable() or c in "\t\r\n\ufeff" for c in sample) * 20 >= 19 * len(sample)


#: How files begin that hold pictures, sound, archives, documents or programs, and no text to be read as such.
_SIGNATURES = (
    b"\x89PNG\r\n", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"BM", b"II*\0", b"MM\0*", b"\0\0\1\0", b"OggS", b"fLaC", b"ID3",
    b"\xff\xfb", b"\0\0\0\x18ftyp", b"\0\0\0\x1cftyp", b"\0\0\0 ftyp", b"\x1aE\xdf\xa3", b"PK\3\4", b"\x1f\x8b", b"BZh",
    b"\xfd7zXZ", b"7z\xbc\xaf", b"%PDF-", b"\x7fELF", b"MZ", b"\0asm", b"SQLite format 3\0", b"wOFF", b"wOF2",
)  # fmt: skip


_URL_ALPHABET = str.maketrans("-_", "+/")
#: Bytes that text in a single-byte charset does not hold, or hardly ever.
_CONTROL = bytes(c for c in range(32) if c not in b"\t\n\r\f\x1b")
_SAMPLE = 4096


def _charsets(data: bytes) -> Iterator[str]:
    """The charsets that ``data`` may be text in, the most likely first.

    UTF-16 is told by its mark or by the zeros of ASCII text in it.  Text in any
    other charset has its ASCII parts where Latin-1 has them, which is enough to
    find values and exact both ways; what is full of control bytes is no text.
    """
    sample = data[:_SAMPLE]
    if data.startswith(b"\xff\xfe") or sample[1::2].count(0) * 3 > len(sample):
        yield "utf-16-le"
    if data.startswith(b"\xfe\xff") or sample[0::2].count(0) * 3 > len(sample):
        yield "utf-16-be"
    yield "utf-8"
    controls = len(sample) - len(sample.translate(None, _CONTROL))
    if controls * 50 <= len(sample):
        yield "latin-1"
