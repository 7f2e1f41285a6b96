"""The readings of a text: as it stands, and with what encodes it taken away, layer by layer.

One *round* of decoding undoes every encoding at once: JSON and Python string
escapes, percent-encoding, HTML character references, quoted-printable,
lines of vCard, iCalendar and LDIF that are cut in two, full-width forms,
invisible characters, odd spaces and dashes, accents that stand behind their
letters, colours, tags inside of words, Markdown's backslashes, values that go
on in the next line (:mod:`.wrapping`), runs of base64 or hexadecimal that hold
text (:mod:`.packed`), and characters that are written as numbers
(:mod:`.codes`).
What one round leaves encoded the next one undoes, so a layer inside a layer
is a further view.  Every view maps its offsets back to the original text: an
escape is atomic there, and so is a letter with its accents, and a base64 run
is one piece, for a part of it can't be replaced.

Reading more than is meant costs nothing but time: the plain text is always
the first view, and a find in any view hides the original characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain

from cloakllm_gateway import linear
from cloakllm_gateway.detection import codes, packed, wrapping
from cloakllm_gateway.detection.view import Piece, View
from cloakllm_gateway.errors import DetectionError
from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.spans import Encoding

#: Ranges of a text, disjoint and in order.
Parts = Sequence[tuple[int, int]]
#: Where the decoders have to look, by kind; parts begin and end at white space.
Due = Mapping[str, Parts]

#: More layers than this are withheld: nothing unread goes out.
MAX_LAYERS = 8
#: From this round on all levels of string escapes and the like are taken off at once.
_FLATTEN_FROM = 3


def views(text: str) -> list[View]:
    """The text itself, then its decoded readings, outermost layer first.

    Raises :class:`DetectionError` if it is encoded more than ``MAX_LAYERS``
    times over.
    """
    found = [View(text)]
    while (deeper := decoded(found[-1], len(found), due(found[-1].text))) is not None:
        found.append(deeper)
    return found


def decoded(view: View, layer: int, due: Due) -> View | None:
    """The reading under layer ``layer`` of a text, or None if the decoders that are due make nothing of it.

    Raises :class:`DetectionError` if that is deeper than ``MAX_LAYERS``.
    """
    pieces = _pieces(view.text, due, layer >= _FLATTEN_FROM)
    first = next(pieces, None)
    if first is None:
        return None
    if layer > MAX_LAYERS:
        raise DetectionError(f"A text is encoded more than {MAX_LAYERS} times over")
    return View.decoded(view, chain((first,), pieces))


def literals(view: View, deeper: View, is_telling: Callable[[str], bool], depth: int = 0) -> Iterator[View]:
    """What string literals with quotes or ends of lines in them say, each read by itself: a file in a string of JSON.

    Taken together with what surrounds it, its quotes could not be told from the outer ones, and its first line would
    begin with the key before it.  ``deeper`` is what the whole view says; a literal of which ``is_telling`` is not
    true says nothing of interest.
    """
    if "\\" not in view.text:
        return
    if depth > MAX_LAYERS:
        raise DetectionError(f"A text is quoted more than {MAX_LAYERS} times over")
    for start, end in _quoting(view.text):
        first, last = deeper.inward(start, end)
        text = deeper.text[first:last]
        if is_telling(text):
            yield deeper.part(start, end)
        if "\\" in text:
            said = deeper.part(start, end)
            if (further := decoded(said, 1, due(said.text))) is not None:
                yield from literals(said, further, is_telling, depth + 1)


#: A quote or the end of a line within a literal.
_ESCAPED = lazy(r"\\[\"nr]")


def _quoting(text: str) -> Iterator[tuple[int, int]]:
    """Where the string literals are that quote, or have lines with a key: without their own quotes, few among many."""
    at = 0  # outside of any literal
    while (escaped := _ESCAPED.search(text, at)) is not None:
        sign = escaped.start()
        if text.count('"', at, sign) % 2 == 0:
            at = escaped.end()
            continue
        literal = _LITERAL.match(text, text.rfind('"', at, sign))
        if literal is None:
            return
        said = literal[1]
        # What goes over the end of a line as it stands is no string of JSON: code between two strings.
        if '\\"' in said or ("\n" not in said and (":" in said or "=" in said)):
            yield literal.span(1)
        at = literal.end()


# -- one round ------------------------------------------------------------------------------------


def due(text: str) -> Due:
    """The decoders worth running on a text, each on all of it."""
    return {kind: [(0, len(text))] for kind in kinds(text)}


def kinds(text: str) -> tuple[str, ...]:
    """The decoders worth running on a text: one linear pass over its bytes."""
    if len(text) < packed.SHORTEST and text.isascii() and text.isalnum():
        return ()
    found = _signs().matched(linear.as_bytes(text))
    if found is None:
        raise DetectionError("The search for what is encoded ran out of memory")
    return kinds_of(text, {_NAMES[number] for number in found})


def kinds_of(text: str, signs: Collection[str]) -> tuple[str, ...]:
    """The same for a text in which these :data:`SIGNS` were seen."""
    may_fold = "\x1c" in text or (not text.isascii() and next(_folds(text, 0, len(text)), None) is not None)
    return tuple(kind for kind in SIGNS if kind in signs or (kind == "fold" and may_fold))


_INSIDE = "[0-9A-Za-z.@+-]"
#: What marks a part of a word, as a search does with what it found, or stands between two parts of one.
_TAG = r"(?:/?(?:em|mark|strong|wbr|b|i|u|span|font|hl)(?:[ /][^<>]{0,80})?|!--[^<>]{0,40}--)"
#: What shows, in the bytes of a text, that a decoder has something to do.
SIGNS: Mapping[str, str] = {
    "escape": r"\\[\"'/\\bfnrtux]",
    "percent": r"%[0-9A-Fa-f]{2}",
    "reference": r"&(?:#[0-9]|#[xX][0-9A-Fa-f]|[0-9A-Za-z]{2,};)",
    "quoted": (
        r"=\r?\n|=3D[\"']|=40[A-Za-z0-9-]+\.|=[CDE][0-9A-F]=[89AB][0-9A-F]|(?:=[0-9A-F]{2}){3}|[Qq]uoted-printable"
    ),
    "markup": rf"\\(?:[._@-][0-9A-Za-z]|[+(][0-9]|\)[ ]?[0-9])|{_INSIDE}(?:<{_TAG}>)+{_INSIDE}|\x1b\[",
    "fold": r"[\x00-\x08\x0b\x0c\x0e-\x1b\x1d-\x1f\x7f]",  # U+001C parts the strings that the gate reads as one
    "run": packed.SIGN,
    "codes": codes.SIGN,
    "base32": codes.BASE32_SIGN,
    "continued": r"BEGIN:V(?:CARD|CALENDAR|EVENT)|(?:^|\n)dn::? ",
    "wrapped": wrapping.SIGN,
}
#: What shows it more simply, and in more texts.
SIMPLER: Mapping[str, str] = {"run": packed.LONG, "base32": packed.LONG}
#: Signs that count for all of a text.
SAID_ONCE = frozenset(("quoted", "continued"))
_NAMES = (*SIGNS,)


@cache
def _signs() -> linear.Alternatives:
    return linear.Alternatives(SIGNS.values(), linear.options())


def _pieces(text: str, due: Due, flat: bool) -> Iterator[Piece]:
    """What the decoders make of a text; of two that overlap the one that begins first counts."""
    done = 0
    for match, decode in _encodings(text, due, flat):
        if match.start() >= done:
            for piece in decode(match):
                yield piece
                done = piece[2]


def _encodings(
    text: str, due: Due, flat: bool
) -> Iterable[tuple[re.Match[str], Callable[[re.Match[str]], Iterable[Piece]]]]:
    """Everything that some decoder may have to do with, in order.

    An expression for each kind is quicker than one for all: each begins with
    a character of its own, and runs are found by the linear engine.
    """
    found = (
        (match, _DECODERS[kind])
        for kind, parts in due.items()
        for part in parts
        for match in (
            packed.runs(text, *part)
            if kind == "run"
            else codes.places(text, *part)
            if kind == "codes"
            else _folds(text, *part)
            if kind == "fold"
            else _continuations(text, *part)
            if kind == "continued"
            else _expression(kind, flat).finditer(text, *part)
        )
    )
    if len(due) == 1:
        return found
    pieces = sorted(found, key=lambda entry: entry[0].start())
    if "continued" not in due:
        return pieces
    # What is cut by the end of a line is read when the lines are joined.
    cuts = {place for match, decode in pieces if decode is _join for place in match.span()}
    return [(match, decode) for match, decode in pieces if decode is _join or cuts.isdisjoint(match.span())]


#: Lines that are continued by those below which begin with a blank: RFC 6350 3.2, RFC 5545 3.1, RFC 2849.
_CONTINUED = lazy(r"\r?\n[ \t]")
_ENTRY = lazy(r"BEGIN:V(?P<kind>CARD|CALENDAR|EVENT)|^dn::? ", re.MULTILINE)
_EMPTY_LINE = lazy(r"\n\r?(?:\n|\Z)")


def _continuations(text: str, first: int, last: int) -> Iterator[re.Match[str]]:
    """Where the lines of entries are cut, less the blank that says so."""
    while entry := _ENTRY.search(text, first, last):
        if entry["kind"]:
            end = text.find(f"END:V{entry['kind']}", entry.end(), last)
        else:
            empty = _EMPTY_LINE.search(text, entry.end(), last)
            end = empty.start() if empty else -1
        end = last if end < 0 else end
        yield from _CONTINUED.finditer(text, entry.end(), end)
        first = end


def _join(match: re.Match[str]) -> tuple[Piece]:
    return (("", *match.span(), Encoding.FOLDED),)


def _folds(text: str, first: int, last: int) -> Iterator[re.Match[str]]:
    """Odd characters: in most texts few are, and the linear engine and a search for bytes pass over the others."""
    fold, search = _expression("fold", False), _control_places()
    screen = linear.as_bytes(text[first:last])
    if not text.isascii():
        is_clear = search(screen, 0, len(screen))[0][0] < 0
        if _ACCENT.search(text, first, last):
            fold = _expression("accents", False)
        for start, end in linear.foreign(screen) if is_clear else [(0, len(screen))]:
            # The letter that an accent belongs to may be ASCII, and so stand before the stretch.
            yield from fold.finditer(text, first + max(start - 1, 0), first + end)
        return
    at = 0
    while (start := search(screen, at, len(screen))[0][0]) >= 0:
        match = fold.match(text, first + start)
        assert match is not None  # it begins with one
        yield match
        at = match.end() - first


@cache
def _control_places() -> linear.Search:
    return linear.compiled(f"[{_CONTROL_CLASS}]")


_H = "[0-9A-Fa-f]"
_UNIT = f"%(?:25)*{_H}{{2}}"
#: Invisible characters, odd spaces and dashes, full-width and other compatibility forms, digits of other scripts.
_FOLD_CLASS = (
    "\u00a0\u00ad\u034f\u061c\u0660-\u0669\u06f0-\u06f9\u0966-\u096f\u09e6-\u09ef\u0e50-\u0e59\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u2000-\u2015\u2024\u202a-\u202f\u205f-\u206f\u2212\u2460-\u2473\u3000\u3002\u3164\ufe00-\ufe0f"
    "\ufe52\ufe58\ufe63"
    "\ufe6b\ufeff\uff01-\uff5e\uffa0\ufff9-\ufffb\U0001d400-\U0001d7ff\U000e0000-\U000e0fff"
)
#: Letters that accents of their own are written behind, as file names of macOS have them.
_ACCENTED = r"[A-Za-z\u00c0-\u02af\u0370-\u052f\u1e00-\u1fff][\u0300-\u036f]+"
_CONTROL_CLASS = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f"
#: Each begins with a character of its own where it can: the search for it is quick then.
_PARTS = {
    # Many bytes behind one \x are a run: see .packed.
    "escape": (
        rf"\\(?:u[dD][89abAB]{_H}{{2}}\\u[dD][c-fC-F]{_H}{{2}}"
        rf"|u{_H}{{4}}|u\{{{_H}{{1,6}}\}}|x{_H}{{2}}(?!(?:{_H}{{2}}){{7}})|[\"'/\\bfnrt])"
    ),
    "percent": f"{_UNIT}(?:{_UNIT})*",
    # Browsers want no semicolon behind a number.
    "reference": r"&(?:amp;)*(?:#0{0,20}[0-9]{1,7};?|#[xX]0{0,20}[0-9A-Fa-f]{1,6};?|[A-Za-z][A-Za-z0-9]{1,30};)",
    "quoted": r"=(?:[0-9A-F]{2}(?:=[0-9A-F]{2})*|\r?\n)",
    # What means something to Markdown stands behind a backslash; terminals are told to change colours.
    "markup": (
        r"\\(?:[._@-](?=[0-9A-Za-z])|[+(](?=[0-9])|\)(?= ?[0-9]))"
        rf"|<(?<={_INSIDE}<){_TAG}>(?:<{_TAG}>)*(?={_INSIDE})|\x1b\[[0-9;:?]{{0,32}}[A-Za-z]"
    ),
    "fold": f"[{_CONTROL_CLASS}{_FOLD_CLASS}]+",
    "wrapped": wrapping.PLACE,
    "base32": codes.BASE32,
    "accents": f"[{_CONTROL_CLASS}{_FOLD_CLASS}]+|{_ACCENTED}",  # the same for the few texts that have them apart
}
_FLAT_ESCAPE = _PARTS["escape"].replace(r"\\(?:", r"\\+(?:", 1).replace(r"\\u[dD][c", r"\\+u[dD][c", 1)
_LITERAL = lazy(r'"(?<!\\.)([^"\\]*+(?:\\.[^"\\]*+)*+)"', re.DOTALL)
_PERCENT = lazy(_UNIT)
_ACCENT = lazy(r"[\u0300-\u036f]")


@cache
def _expression(kind: str, flat: bool) -> re.Pattern[str]:
    return re.compile(_FLAT_ESCAPE if flat and kind == "escape" else _PARTS[kind])


_JSON = Encoding.JSON  # looked up once: a member of an enumeration costs more than all else about an escape
_SIMPLE = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def _escape(match: re.Match[str]) -> tuple[Piece]:
    """``\\u00f6``, a surrogate pair of them, ``\\x40``, ``\\n``, ``\\"`` and kin."""
    return ((_unescaped(match[0]), *match.span(), _JSON),)


@lru_cache(maxsize=4096)
def _unescaped(written: str) -> str:
    body = written.lstrip("\\") or "\\"
    if body[0] == "u":
        units = [int(unit, 16) for unit in re.findall(rf"u\{{?({_H}+)", written)]
        return chr(0x10000 + ((units[0] & 0x3FF) << 10) + (units[1] & 0x3FF)) if len(units) == 2 else chr(units[0])
    return chr(int(body[1:], 16)) if body[0] == "x" else _SIMPLE.get(body[0], body[0])


def _percent(match: re.Match[str]) -> Iterator[Piece]:
    units = [
        (int(unit[0][-2:], 16), unit.start(), unit.end()) for unit in _PERCENT.finditer(match.string, *match.span())
    ]
    return _utf8(units, Encoding.URL)


def _quoted(match: re.Match[str]) -> Iterator[Piece]:
    if match[0][1] in "\r\n":
        line = match.string[max(match.start() - _LONGEST_LINE, 0) : match.start() + 1].rpartition("\n")[2]
        padded = _PADDED.search(line)
        if padded is not None and len(padded[0]) % 4 == 0 and len(line) < _WRAPPED_FROM:
            return iter(())  # the end of a key in base64
        return iter([("", match.start(), match.end(), Encoding.QUOTED_PRINTABLE)])
    units = [(int(match.string[i + 1 : i + 3], 16), i, i + 3) for i in range(match.start(), match.end(), 3)]
    return _utf8(units, Encoding.QUOTED_PRINTABLE)


#: RFC 2045 6.7: no line is longer, and no one cuts much shorter ones.
_LONGEST_LINE, _WRAPPED_FROM = 76, 70
_PADDED = lazy(r"[A-Za-z0-9+/]{19,}=\Z")


def _utf8(units: list[tuple[int, int, int]], kind: Encoding) -> Iterator[Piece]:
    """Characters of a run of encoded bytes; bytes that are no UTF-8 stay as they were written."""
    at = 0
    while at < len(units):
        lead = units[at][0]
        size = 1 if lead < 0x80 else 2 if lead >> 5 == 6 else 3 if lead >> 4 == 14 else 4 if lead >> 3 == 30 else 0
        char = bytes(unit[0] for unit in units[at : at + size]).decode("utf-8", "ignore")
        if size and len(char.encode()) == size:  # nothing was ignored
            yield char, units[at][1], units[at + size - 1][2], kind
            at += size
        else:
            at += 1


def _reference(match: re.Match[str]) -> Iterator[Piece]:
    import html

    written = re.sub(r"^&(?:amp;)*(?=.)", "&", match[0])
    decoded = html.unescape(written if len(written) > 2 else "&amp;")
    if decoded != written:
        yield decoded, match.start(), match.end(), Encoding.HTML


def _markup(match: re.Match[str]) -> tuple[Piece]:
    """``\\_`` and kin of Markdown, tags inside of a word, and colours."""
    return ((match[0][1] if match[0][0] == "\\" else "", *match.span(), Encoding.FOLDED),)


_DASHES = frozenset("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63")


def _fold(match: re.Match[str]) -> Iterator[Piece]:
    if match[0][0].isalpha() and match[0][-1] in _ACCENTS:
        yield _composed(match[0]), *match.span(), Encoding.FOLDED
        return
    for at, char in enumerate(match[0], match.start()):
        yield _folded(char), at, at + 1, Encoding.FOLDED


#: What stands in a class of its own behind the letter it belongs to.
_ACCENTS = frozenset(map(chr, range(0x300, 0x370)))


@lru_cache(maxsize=4096)
def _composed(written: str) -> str:
    """A letter with the accents behind it as one character; without those that it is never written with."""
    import unicodedata

    return unicodedata.normalize("NFC", written)[0]


@lru_cache(maxsize=4096)
def _folded(char: str) -> str:
    import unicodedata

    if char in _DASHES:
        return "-"
    if char == "\u3002":
        return "."
    digit = unicodedata.decimal(char, None)
    if digit is not None:
        return str(digit)
    plain = unicodedata.normalize("NFKC", char)
    category = unicodedata.category(plain[0]) if plain else "Cf"
    return " " if category.startswith("Z") else "" if category in ("Cf", "Cc", "Mn", "Lo", "Cn") else plain


_DECODERS: dict[str, Callable[[re.Match[str]], Iterable[Piece]]] = {
    "escape": _escape,
    "percent": _percent,
    "reference": _reference,
    "quoted": _quoted,
    "markup": _markup,
    "fold": _fold,
    "run": packed.decode,
    "codes": codes.read,
    "base32": codes.read_base32,
    "continued": _join,
    "wrapped": wrapping.join,
}
