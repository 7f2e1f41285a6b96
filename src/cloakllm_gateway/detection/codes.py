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
from functools import cache

from cloakllm_gateway import linear
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
)
#: The same of base32; as long as what :mod:`.packed` looks for.
BASE32_SIGN = f"(?:^|[^A-Za-z0-9+/=_-])(?:{_FIVE}){{2}}"
_BYTE = f"(?:[2-9A-Fa-f]{_H}|0[9AaDd])"
_LEAST = 5  # before the last one
#: A list ends with its last number that is whole: if that of another kind behind it refused all of them, each would
#: be the beginning of a search of its own.
PLACE = lazy(
    rf"\\(?:[0-3][0-7]{{2}}(?:\\[0-3][0-7]{{2}})*|U000[0-9A-Fa-f]{{5}})"
    rf"|(?<![\w.-])(?P<decimal>{_DECIMAL}(?:(?:,\s{{0,24}}| ){_DECIMAL}(?![\w.-])){{{_LEAST},}}+)"
    rf"|(?<![\w.:-])(?P<hex>0x{_BYTE}(?:,? ?0x{_BYTE}(?=0x|[^\w:]|\Z)){{{_LEAST},}}+"
    rf"|{_BYTE}(?: {_BYTE}(?![\w:])){{{_LEAST},}}+"
    rf"|(?:{_BYTE}(?::{_BYTE}){{{_LEAST},}}+|{_BYTE}(?:-{_BYTE}){{{_LEAST},}}+)(?![\w:]))"
)
BASE32 = rf"(?<![A-Za-z0-9+/=_-])(?:{_FIVE}){{2}}[A-Z2-7]*=*(?![A-Za-z0-9+/=_-])"
#: Where one may begin, with the character before it; most tables of numbers have no place of the kind.
_BEGINS = (
    r"[\x00-\xff](?:\\[0-3][0-7]{2}|\\U000)"
    rf"|(?:^|[^\w.-])(?:{_DECIMAL}(?:,\s*| )){{{_LEAST}}}{_DECIMAL}"
    rf"|(?:^|[^\w.:-])(?:0x)?{_BYTE}(?:(?:,? ?0x|[ :-]){_BYTE}){{{_LEAST}}}"
)
_NUMBER = lazy(rf"(?:0x)?({_H}{{2,3}}|9)")
_OCTAL = lazy(r"\\([0-3][0-7]{2})")
#: What names, addresses and numbers are made of; and of how many bytes there may be one that is not.
_USUAL = b" +-.0123456789@ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz" + bytes(range(0x80, 0x100))
_ONE_ODD_IN = 6
#: What half of them is, unless there are many and none is odd: ages and percentages would read as capitals and signs.
_FREQUENT = b"0123456789abcdefghijklmnopqrstuvwxyz" + bytes(range(0x80, 0x100))
_MANY = 12


def places(text: str, first: int, last: int) -> Iterator[re.Match[str]]:
    """What may be written so in a part of a text that begins and ends at white space, in order."""
    search = _places()
    # What stands before a code is at the offset that the code itself has without the line break before it.
    screen = b"\n" + linear.as_bytes(text[first:last])
    at, size = 0, len(screen)
    while (start := search(screen, at, size)[0][0]) >= 0:
        match = PLACE.match(text, first + start)
        if match is not None:
            yield match
        at = match.end() - first if match is not None else start + 1


@cache
def _places() -> linear.Search:
    return linear.compiled(_BEGINS)


def read(match: re.Match[str]) -> Iterator[Piece]:
    """What one match of :data:`PLACE` says: in a list each number by itself."""
    kind = match.lastgroup
    if kind is None:
        raw = bytes([int(each, 8) for each in _OCTAL.findall(match[0])])
        return _said(match, _OCTAL, raw) if raw else _escaped(match)
    numbers = _NUMBER.findall(match[0])
    is_either = kind == "decimal" and "," not in match[0] and all(len(number) == 2 for number in numbers)
    for base in (10, 16) if is_either else (10,) if kind == "decimal" else (16,):
        raw = bytes(map(int, numbers)) if base == 10 else bytes.fromhex("".join(numbers))
        odd = len(raw.translate(None, _USUAL))
        if odd * _ONE_ODD_IN <= len(raw) and (
            2 * len(raw.translate(None, _FREQUENT)) <= len(raw) or (not odd and len(raw) >= _MANY)
        ):
            return _said(match, _NUMBER, raw)
    return iter(())  # most lists of numbers


def _said(match: re.Match[str], number: re.Pattern[str], raw: bytes) -> Iterator[Piece]:
    """The characters of ``raw`` bytes, each a ``number`` of the match; nothing where they are not in UTF-8."""
    try:
        said = raw.decode()
    except UnicodeDecodeError:
        return
    starts = [*(each.start() for each in number.finditer(match.string, *match.span())), match.end()]
    at = 0
    for char in said:
        after = at + len(char.encode())
        # A control divides what stands around it, and would be left out as what nobody sees.
        yield char if char.isprintable() or char.isspace() else " ", starts[at], starts[after], Encoding.FOLDED
        at = after


def _escaped(match: re.Match[str]) -> Iterator[Piece]:
    code = int(match[0][2:], 16)
    if code < 0x110000:
        yield chr(code), *match.span(), Encoding.FOLDED


def read_base32(match: re.Match[str]) -> Iterator[Piece]:
    """The text of a match of :data:`BASE32`, if it is one; whole."""
    digits = match[0].rstrip("=")
    try:
        said = base64.b32decode(digits + "=" * (-len(digits) % 8)).decode()
    except (binascii.Error, UnicodeDecodeError):
        return
    if said.isprintable():
        yield said, *match.span(), Encoding.BASE64
