"""Characters that are written as numbers: octal escapes, lists of decimal or hexadecimal codes, and base32.

``M\\303\\274ller`` is how git and shells quote names, ``[107, 105, 109]`` a buffer in JSON, ``6b 69 6d`` a dump.
Numbers are far more often just numbers, so a list counts from some codes on, and where nearly all of them are what
names, addresses and numbers are made of.  A part of a list can be replaced, a part of base32 can't.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from cloakllm_gateway.detection.view import Piece
from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.spans import Encoding

_DECIMAL = "(?:1[01][0-9]|12[0-6]|3[2-9]|[4-9][0-9]|1[03]|9)"
_H = "[0-9A-Fa-f]"
_PAIR = f"[2-7]{_H}"
#: What five bytes of ASCII look like in base32: the first bit of each is none.
_FIVE = "[A-P][ABEFIJMNQRUVYZ45][A-Z2-7][A-HQ-X][ACEGIKMOQSUWY246][A-Z2-7][A-DI-LQ-TYZ23][A-Z2-7]"
#: What shows that some may be written so; an expression of the linear engine.
SIGN = (
    r"\\[0-3][0-7]{2}|\\U000"
    r"|(?:(?:3[2-9]|[4-9][0-9]|1[0-2][0-9])[, \r\n\t]+){5}"
    rf"|(?:{_PAIR}[ :,-] ?(?:0x)?){{5}}"
    f"|(?:^|[^A-Za-z0-9+/=_-])(?:{_FIVE}){{2}}"
)
_BYTE = f"(?:[2-9A-Fa-f]{_H}|0[9AaDd])"
_LEAST = 5  # before the last one
PLACE = (
    rf"\\(?:[0-3][0-7]{{2}}(?:\\[0-3][0-7]{{2}})*|U000[0-9A-Fa-f]{{5}})"
    rf"|(?<![\w.-])(?P<decimal>{_DECIMAL}(?:(?:,\s{{0,24}}| ){_DECIMAL}){{{_LEAST},}}+)(?![\w.-])"
    rf"|(?<![\w.:-])(?P<hex>0x{_BYTE}(?:,? ?0x{_BYTE}){{{_LEAST},}}+"
    rf"|{_BYTE}(?: {_BYTE}){{{_LEAST},}}+|{_BYTE}(?::{_BYTE}){{{_LEAST},}}+|{_BYTE}(?:-{_BYTE}){{{_LEAST},}}+)(?![\w:])"
    rf"|(?<![A-Za-z0-9+/=_-])(?P<base32>(?:{_FIVE}){{2}}[A-Z2-7]*=*)(?![A-Za-z0-9+/=_-])"
)
_NUMBER = lazy(rf"(?:0x)?({_H}{{2,3}}|9)")
_OCTAL = lazy(r"\\([0-3][0-7]{2})")
#: What names, addresses and numbers are made of; and of how many bytes there may be one that is not.
_USUAL = b" +-.0123456789@ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz" + bytes(range(0x80, 0x100))
_ONE_ODD_IN = 6


def read(match: re.Match[str]) -> Iterator[Piece]:
    """What one match of :data:`PLACE` says: in a list each number by itself."""
    kind = match.lastgroup
    if kind == "base32":
        return _of_base32(match)
    if kind is None:
        return _said(match, _OCTAL, 8) if match[0][1] != "U" else _escaped(match)
    numbers = _NUMBER.findall(match[0])
    is_either = kind == "decimal" and "," not in match[0] and all(len(number) == 2 for number in numbers)
    for base in (10, 16) if is_either else (10,) if kind == "decimal" else (16,):
        raw = bytes([int(number, base) for number in numbers])
        if len(raw.translate(None, _USUAL)) * _ONE_ODD_IN <= len(raw):
            return _said(match, _NUMBER, base)
    return iter(())  # most lists of numbers


def _said(match: re.Match[str], number: re.Pattern[str], base: int) -> Iterator[Piece]:
    """The characters of bytes that are written as numbers; nothing where they are not in UTF-8."""
    written = list(number.finditer(match.string, *match.span()))
    starts = [*(each.start() for each in written), match.end()]
    try:
        said = bytes([int(each[1], base) for each in written]).decode()
    except UnicodeDecodeError:
        return
    at = 0
    for char in said:
        after = at + len(char.encode())
        yield char, starts[at], starts[after], Encoding.FOLDED
        at = after


def _escaped(match: re.Match[str]) -> Iterator[Piece]:
    code = int(match[0][2:], 16)
    if code < 0x110000:
        yield chr(code), *match.span(), Encoding.FOLDED


def _of_base32(match: re.Match[str]) -> Iterator[Piece]:
    digits = match["base32"].rstrip("=")
    try:
        said = base64.b32decode(digits + "=" * (-len(digits) % 8)).decode()
    except (binascii.Error, UnicodeDecodeError):
        return
    if said.isprintable():
        yield said, *match.span(), Encoding.BASE64
