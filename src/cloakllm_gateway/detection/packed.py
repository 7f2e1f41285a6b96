"""Runs of base64 and hexadecimal that hold text: where they begin, and what they say.

Ids, hashes, pictures, paths and long names are runs as well, and far more of
them stand in ordinary text.  So the linear engine is told what text looks like
once it is packed: the high bits of a byte say whether it is a character of
ASCII, begins a longer one or goes on with it, and each digit of base64 shows
such bits of one byte or two.  What four groups of three bytes may be in UTF-8
or Latin-1 one random run in a thousand is.  Only then is it unpacked, and
counts if all of it reads as text.

Compressed or encrypted text is no text here, no more than a picture.
"""

from __future__ import annotations

import binascii
import codecs
import re
from collections.abc import Iterator
from functools import cache

from cloakllm_gateway import linear
from cloakllm_gateway.detection.view import Piece
from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.spans import Encoding

# -- where runs begin -----------------------------------------------------------------------------

_DIGIT = "[A-Za-z0-9+/_-]"
#: What the digits of three bytes show of each: of a character of ASCII but for controls (A), of a byte that begins a
#: character of two (2), of three or more (3), of any (L), and of one that goes on (C).
_FIRST = {"A": "[CDI-Za-f]", "C": "[g-v]", "2": "[w-z0-3]", "3": "[4-9]", "L": "[w-z0-9]"}
_SECOND = {"A": "[AC-HQS-Xgi-nwyz0-3]", "C": "[I-LY-bo-r4-7]", "L": "[MNOPcdefstuv89+/_-]"}
_THIRD = {
    "A": f"(?:[BFJNRVZdhlptx159]{_DIGIT}|[AEIMQUYcgkosw048][JKNg-z0-9+/_-])",
    "C": f"[CGKOSWaeimquy26+-]{_DIGIT}",
    "L": f"[DHLPTXbfjnrvz37/_]{_DIGIT}",
}


def _digits(*threes: str) -> str:
    """What three bytes look like that are of one of some kinds."""
    return "(?:" + "|".join(_FIRST[kinds[0]] + _SECOND[kinds[1]] + _THIRD[kinds[2]] for kinds in threes) + ")"


_BEGINNING = ("AAA", "AAL", "ALC", "2CA", "2CL", "3CC")
_UTF8_BEGINS = _digits(*_BEGINNING)
_UTF8_GOES_ON = _digits(*_BEGINNING, "CAA", "CAL", "CLC", "CCA", "CCL", "CCC")
_LATIN1 = _digits("AAA", "AAL", "ALA", "LAA")
#: Every second of the first bytes is below 8, as in Latin, Greek, Cyrillic, Hebrew and Arabic, or a mark says in which
#: order they come.
_UTF16 = (
    f"{_DIGIT}[AQgw][A-Za-f]{_DIGIT}[AB]{_DIGIT}[AEIMQUYcgkosw048][A-H]{_DIGIT}{{8}}|(?://[4-7]|/v[89+/]){_DIGIT}{{13}}"
)
#: A shorter run is told by its padding, which is no assignment: nothing follows it.
_PADDING = r"=(?:=|[^A-Za-z0-9\"'(\[{]|$)"
_PADDED = f"{_UTF8_BEGINS}{_UTF8_GOES_ON}{_DIGIT}{{2,7}}{_PADDING}"
_H, _TAIL = "[0-9A-Fa-f]", "[89ABab][0-9A-Fa-f]"
#: A character in hexadecimal, of UTF-8 or Latin-1.
_HEX_CHARACTER = (
    rf"(?:[2-7]{_H}|0[9AaDd]|[CcDd]{_H}{_TAIL}|[Ee]{_H}(?:{_TAIL}){{2}}|[Ff][0-7](?:{_TAIL}){{3}}"
    rf"|(?:[C-Fc-f]{_H}){{1,2}}[2-7]{_H})"
)
#: What shows where a run of text may begin, with the character before it; an expression of the linear engine.
SIGN = (
    f"(?:^|[^A-Za-z0-9+_-])(?:{_UTF8_BEGINS}{_UTF8_GOES_ON}{{3}}|{_LATIN1}{{4}}|{_PADDED}|{_UTF16})"
    f"|(?:^|[^A-Za-z0-9])(?:0?[xX])?(?:{_HEX_CHARACTER}{{8}}|(?:[1-9A-Fa-f]{_H}0[0-7]){{4}})"
)
#: What has :data:`SIGN` is long, or padded.
LONG = f"(?:^|[^A-Za-z0-9])(?:{_DIGIT}{{16}}|{_DIGIT}{{10,15}}{_PADDING})"
#: A shorter run of letters and digits alone can't be an encoding of anything.
SHORTEST = 16


def runs(text: str, first: int, last: int) -> Iterator[re.Match[str]]:
    """What may be runs of text in a part of a text that begins and ends at white space, in order."""
    search = _places()
    # What stands before the run is at the offset that the run itself has without the line break before it.
    screen = b"\n" + linear.as_bytes(text[first:last])
    at, size = 0, len(screen)
    stretch, is_cut = 0, False  # how far the digits go that were looked at last, and whether more follow in escapes
    while (start := search(screen, at, size)[0][0]) >= 0:
        begin, at = first + start, start + 1  # another may begin behind a slash in what is none
        behind_slash = screen[start] == _SLASH
        if behind_slash:
            if begin >= stretch:
                stretch = _STRETCH.match(text, begin).end()  # type: ignore[union-attr]
                is_cut = _GOES_ON_ENCODED.match(text, stretch) is not None
            if is_cut or screen[start - 1] == _BACKSLASH:
                continue  # the run goes on in the next reading, where it is whole
        for expression in (_HEX, _SEGMENT if behind_slash else _STANDARD, _SEGMENT):
            if (match := expression.match(text, begin)) is not None:
                yield match
                break


@cache
def _places() -> linear.Search:
    return linear.compiled(SIGN)


_SLASH, _BACKSLASH = b"/\\"
_STRETCH = lazy(f"{_DIGIT}*+={{0,2}}")
_HEX = lazy(rf"(?:0?[xX])?(?P<hex>(?:{_H}{{2}}){{8,}}+)(?![A-Za-z0-9])")
_STANDARD = lazy(r"(?:[A-Za-z0-9+/]{16,}+={0,2}|[A-Za-z0-9+/]{10,15}={1,2})(?![A-Za-z0-9+/=_-])")
#: In the alphabet of URLs, and without a slash: one of a path, perhaps.
_SEGMENT = lazy(r"(?:[A-Za-z0-9+_-]{16,}+={0,2}|[A-Za-z0-9+_-]{10,15}={1,2})(?![A-Za-z0-9+=_-])")

# -- what they say --------------------------------------------------------------------------------


def decode(match: re.Match[str]) -> Iterator[Piece]:
    """The text in one of the :func:`runs`, if it is one; whole, for a part of it can't be replaced."""
    text, (start, end) = match.string, match.span()
    if _GOES_ON_ENCODED.match(text, end) or (match[0].isdecimal() and len(match[0]) <= _LONGEST_NUMBER):
        return  # there is more of it in the next reading; or it is a number, whatever its bytes would read
    if match.lastgroup and (said := _said(bytes.fromhex(match["hex"]))):
        prefix = " " * (match.start("hex") > start)  # the letter of the prefix is none of a word
        yield prefix + said, match.start("hex"), end, Encoding.HEX
        return
    for run in (match, _SEGMENT.match(text, start) if "/" in match[0] else None):
        if run is not None and (found := _unpacked(run)) is not None:
            yield found[0], start, found[1], Encoding.BASE64
            return


#: No number of 64 bits has more digits.
_LONGEST_NUMBER = 20
#: A digit, padding or the end of a line that is escaped itself.
_GOES_ON_ENCODED = lazy(r"\\+(?:[rn/]|u00(?:2[BbFf]|3[Dd]|0[AaDd]))|%(?:25)*(?:2[BbFf]|3[Dd]|0[AaDd])|&(?:amp;)*#")


def _unpacked(run: re.Match[str]) -> tuple[str, int] | None:
    """The text of a run of base64, with that of the lines that go on with it, and where it ends."""
    text, line, end = run.string, run[0], run.end()
    raw = _bytes(line)
    is_part = "/" in (text[run.start() - 1 : run.start()], text[end : end + 1])
    if (said := _said(raw)) is None or (is_part and not _is_certain(raw)):
        return None
    if is_part:
        return f" {said} ", end
    digits, last = _with_lines(text, line, end, raw)
    if last > end and (joined := _said(_bytes(digits))) is not None:
        return joined, last
    return said, end


def _with_lines(text: str, line: str, end: int, raw: bytes) -> tuple[str, int]:
    """A run and the lines that go on with it, as far as they may be text, and where they end.

    All are equally long but the last one, and the first where others are indented: its key stands before it.
    """
    lines, width, held = [line], 0, ""
    while len(line) >= width and line[-1] != "=" and (more := _NEXT_LINE.match(text, end)) is not None:
        indent, following = more.groups()
        held += line
        held = held[len(held) - len(held) % 4 :]
        is_wider = len(following) > (width or len(line))
        if (is_wider and (width or not indent)) or not _may_go_on(_bytes(held + following), raw):
            break
        width = width or max(len(line), len(following))
        line, end = following, more.end()
        lines.append(line)
    return "".join(lines), end


_NEXT_LINE = lazy(r"\r?\n([ \t]{0,64})([A-Za-z0-9+/]++={0,2})(?![A-Za-z0-9+/=_-])")


def _bytes(run: str) -> bytes:
    """What digits of base64 in either alphabet, padded or not, stand for; one that is left over stands for nothing."""
    digits = run.rstrip("=").translate(_FROM_URL)
    digits = digits[: len(digits) - (len(digits) % 4 == 1)]
    return binascii.a2b_base64(digits + "=" * (-len(digits) % 4))


#: The two digits that base64 has in place of others where it stands in URLs.
_FROM_URL = str.maketrans("-_", "+/")
_PRINTABLE = bytes((9, 10, 13, *range(32, 127)))
_ANY_CONTROL = bytes((*range(32), 127))
_CONTROL = bytes(set(_ANY_CONTROL) - set(b"\t\r\n"))
_CONTROL_CHARACTERS = frozenset(map(chr, _CONTROL))
#: Bytes that may read as text by chance: one in three thousand ids of sixteen digits does.
_BY_CHANCE = 12


def _said(raw: bytes) -> str | None:
    """The text of some bytes, if they read as text: without control characters, in UTF-8, UTF-16 or mostly ASCII.

    A cut may have taken the end of the last character.  A short one is of one
    line: a line break in front of it would make the ``=`` before it the end of
    a line of quoted-printable text, and so everything else be read anew.
    """
    if raw.startswith(_MARKS) or max(raw[1:8:2]) < 8:
        return _said_in_utf16(raw)
    if len(raw) <= _BY_CHANCE:
        is_line = _is_mostly_ascii(raw) and _lacks(raw.rstrip(b"\r\n"), _ANY_CONTROL)
        return _decoded(raw, "utf-8") if is_line else None
    if not _lacks(raw, _CONTROL):
        return None
    said = _decoded(raw, "utf-8")
    return raw.decode("latin-1") if said is None and _is_mostly_ascii(raw) else said


def _said_in_utf16(raw: bytes) -> str | None:
    """Without a mark that says so, most is in a script of letters, and some in ASCII: small numbers look like it."""
    is_marked = raw.startswith(_MARKS)
    said = _decoded(raw[: len(raw) // 2 * 2], "utf-16-be" if raw.startswith(_MARKS[1]) else "utf-16-le")
    if said is None or not _CONTROL_CHARACTERS.isdisjoint(said):
        return None
    # Any bytes read as UTF-16 are nearly all letters of the East.
    is_likely = is_marked or (
        3 * len(_OTHERS.findall(said)) <= 2 * len(said) and len(said) <= 10 * len(_ASCII.findall(said))
    )
    return said if is_likely else None


_ASCII, _OTHERS = lazy(r"[ -~]"), lazy(r"[^\x00-\u07ff\u2000-\u20ff]")


def _is_certain(raw: bytes) -> bool:
    """Whether no part of a picture would read so: there are thousands of parts between slashes in one."""
    return len(raw) > _BY_CHANCE + 3 and _lacks(raw, _CONTROL) and _decoded(raw, "utf-8") is not None


def _decoded(raw: bytes, charset: str) -> str | None:
    """Bytes as text of a charset, less what a cut left of the last character."""
    try:
        return raw.decode(charset)
    except UnicodeDecodeError as error:
        is_cut = error.start > len(raw) - 4 and error.end == len(raw)
        return raw[: error.start].decode(charset) if is_cut else None


#: How UTF-16 begins that says in which order its bytes come.
_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def _may_go_on(raw: bytes, first: bytes) -> bool:
    """Whether the bytes of a line may be more of a text of which those of the first line are known."""
    if max(first[1:8:2]) < 8 or first.startswith(_MARKS):
        return True  # in UTF-16 the line may begin between two bytes of a character
    return _lacks(raw, _CONTROL) and (_is_mostly_ascii(raw) or _decoded(raw.lstrip(_GOING_ON), "utf-8") is not None)


#: Bytes that a character goes on with.
_GOING_ON = bytes(range(0x80, 0xC0))


def _is_mostly_ascii(raw: bytes) -> bool:
    return len(raw.translate(None, _PRINTABLE)) <= 0.3 * len(raw)


def _lacks(raw: bytes, unwanted: bytes) -> bool:
    return len(raw.translate(None, unwanted)) == len(raw)
