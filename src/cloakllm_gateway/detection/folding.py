"""The readings of a text: as it stands, and with what encodes it taken away, layer by layer.

One *round* of decoding undoes every encoding at once: JSON and Python string
escapes, percent-encoding, HTML character references, quoted-printable,
full-width forms, invisible characters, odd spaces and dashes, and runs of
base64 or hexadecimal that hold text.  What one round leaves encoded the next
one undoes, so a layer inside a layer is a further view.  Every view maps its
offsets back to the original text: an escape is atomic there, and a base64 run
is one piece, for a part of it can't be replaced.

Reading more than is meant costs nothing but time: the plain text is always
the first view, and a find in any view hides the original characters.
"""

from __future__ import annotations

import binascii
import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import chain

import re2

from cloakllm_gateway.detection import linear
from cloakllm_gateway.errors import DetectionError
from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.spans import Encoding

#: More layers than this are withheld: nothing unread goes out.
MAX_LAYERS = 8
#: From this round on all levels of string escapes and the like are taken off at once.
_FLATTEN_FROM = 3

Piece = tuple[str, int, int, Encoding]


class View:
    """One reading of a text.

    ``original(start, end)`` gives the half-open range of the original text
    that a range of ``text`` came from; it never cuts an escape in two.  Only
    what was encoded is noted; between two such pieces both texts are the same.
    """

    __slots__ = ("_at", "_begin", "_from", "_kinds", "_spots", "_to", "_upto", "inner", "text")

    def __init__(self, text: str, inner: View | None = None, begin: int = 0) -> None:
        self.text = text
        self.inner = inner  # the view this one was decoded from
        self._begin = begin  # where it begins in the inner view
        self._at = _NOWHERE  # where each encoded piece begins in this view
        self._upto = _NOWHERE  # ... and where it ends
        self._from = _NOWHERE  # where it begins in the inner view
        self._to = _NOWHERE  # ... and where it ends there
        self._kinds: Sequence[Encoding] = ()
        #: Where encoded pieces begin and end in this view, neighbours joined.
        self._spots: tuple[list[int], list[int]] | None = None

    @classmethod
    def decoded(cls, inner: View, pieces: Iterable[Piece]) -> View:
        """The reading of a view in which the pieces, from left to right, are replaced by what they say."""
        said = inner.text
        out: list[str] = []
        at, upto, begins, ends = array("q"), array("q"), array("q"), array("q")
        kinds: list[Encoding] = []
        size = done = 0
        for decoded, start, end, kind in pieces:
            size += start - done
            out.append(said[done:start])
            out.append(decoded)
            at.append(size)
            size += len(decoded)
            upto.append(size)
            begins.append(start)
            ends.append(end)
            kinds.append(kind)
            done = end
        out.append(said[done:])
        view = cls("".join(out), inner)
        view._at, view._upto, view._from, view._to, view._kinds = at, upto, begins, ends, kinds
        return view

    def part(self, start: int, end: int) -> View:
        """What was decoded from a range of the inner view, as a view of its own; the range cuts no piece in two."""
        first, last = bisect_left(self._from, start), bisect_left(self._from, end)
        by = self._ahead(first)
        view = View(self.text[start + by : end + self._ahead(last)], self.inner, start)
        view._at = array("q", [at - start - by for at in self._at[first:last]])
        view._upto = array("q", [at - start - by for at in self._upto[first:last]])
        view._from, view._to = self._from[first:last], self._to[first:last]
        view._kinds = self._kinds[first:last]
        return view

    def inward(self, start: int, end: int) -> tuple[int, int]:
        """The range of this view that a range of the inner one became; it cuts no piece in two."""
        return (
            start + self._ahead(bisect_left(self._from, start)),
            end + self._ahead(bisect_left(self._from, end)),
        )

    def _ahead(self, count: int) -> int:
        """How far this view is ahead of the inner one behind so many encoded pieces; negative where it is behind."""
        return self._upto[count - 1] - self._to[count - 1] if count else -self._begin

    def original(self, start: int, end: int) -> tuple[int, int]:
        view: View = self
        while view.inner is not None:
            start, end = view._outward(start, end)
            view = view.inner
        return start, end

    def encoding_of(self, start: int, end: int) -> Encoding:
        """The outermost encoding that a range was written in; PLAIN if nothing in it was encoded."""
        view, found = self, Encoding.PLAIN
        while view.inner is not None:
            found = view._kind(start, end) or found
            start, end = view._outward(start, end)
            view = view.inner
        return found

    def whole(self, start: int, end: int) -> tuple[int, int]:
        """The range widened so that it cuts no base64 or hexadecimal run in two."""
        first, last = self._piece(start), self._piece(max(end - 1, start))
        if first is not None and self._kinds[first] in _BLOCKS:
            start = self._at[first]
        if last is not None and self._kinds[last] in _BLOCKS:
            end = self._upto[last]
        return start, end

    def snap(self, start: int, end: int) -> tuple[int, int]:
        """A range of the inner view, moved so that it does not begin or end inside an escape."""
        return self._behind_escape(start), self._behind_escape(end)

    def _behind_escape(self, at: int) -> int:
        i = bisect_right(self._from, at) - 1
        return self._to[i] if i >= 0 and self._from[i] < at < self._to[i] and self._kinds[i] not in _BLOCKS else at

    def touches(self, start: int, end: int) -> bool:
        """Whether anything encoded is in a range of this view, or close enough to change how it reads."""
        starts, ends = self._encoded_ranges()
        at = bisect_right(starts, end + _CONTEXT) - 1
        return at >= 0 and ends[at] >= start - _CONTEXT

    def excerpts(self) -> Iterator[tuple[int, int]]:
        """The parts of this view that read otherwise than the inner one, with their surroundings.

        They begin and end at white space, so that no run is cut in two.  A
        view that holds a key block, which may go on for long, is one part.
        """
        size = len(self.text)
        if self.inner is None or "PRIVATE KEY-----" in self.text or "PRIVATE KEY BLOCK-----" in self.text:
            yield 0, size
            return
        first, done = 0, -1
        for start, end in zip(*self._encoded_ranges(), strict=True):
            if start - _SURROUNDINGS > done:
                if done >= 0:
                    yield first, done
                first = self._white_before(max(start - _SURROUNDINGS, 0), max(done, 0))
            if end + _SURROUNDINGS > done:
                white = _WHITE.search(self.text, min(end + _SURROUNDINGS, size))
                done = white.start() if white else size
        if done >= 0:
            yield first, done

    def _white_before(self, at: int, least: int) -> int:
        """Behind the last white space before a place, but not before ``least``."""
        found = max(self.text.rfind(" ", least, at), self.text.rfind("\n", least, at))
        return found + 1 if found >= 0 else least

    def _encoded_ranges(self) -> tuple[list[int], list[int]]:
        if self._spots is None:
            starts: list[int] = []
            ends: list[int] = []
            reach = -1
            for start, end in zip(self._at, self._upto, strict=True):
                if start > reach:
                    if reach >= 0:
                        ends.append(reach - _CONTEXT)
                    starts.append(start)
                reach = end + _CONTEXT
            if starts:
                ends.append(reach - _CONTEXT)
            self._spots = starts, ends
        return self._spots

    def _piece(self, at: int) -> int | None:
        """The encoded piece that a character of this view is from."""
        i = bisect_right(self._at, at) - 1
        return i if i >= 0 and at < self._upto[i] else None

    def _outward(self, start: int, end: int) -> tuple[int, int]:
        """A range of the inner view; see :meth:`original`."""
        first = bisect_right(self._at, start)
        last = bisect_right(self._at, max(end - 1, start))
        begin = self._from[first - 1] if first and start < self._upto[first - 1] else start - self._ahead(first)
        finish = self._to[last - 1] if last and end <= self._upto[last - 1] else end - self._ahead(last)
        return begin, max(finish, begin)

    def _kind(self, start: int, end: int) -> Encoding | None:
        first = bisect_right(self._at, start)
        last = bisect_right(self._at, max(end - 1, start))
        first -= first > 0 and start < self._upto[first - 1]
        return self._kinds[first] if first < last else None


_NOWHERE = array("q")  # shared, and never changed
#: How far from a value something may stand that says what it is, in code points; see ``near`` of a pattern.
_CONTEXT = 64
#: How much an excerpt holds on either side of what was encoded: more than a match may span over white space.
_SURROUNDINGS = 448
_WHITE = lazy(r"[ \n]")
_BLOCKS = frozenset((Encoding.BASE64, Encoding.HEX))


def views(text: str) -> list[View]:
    """The text itself, then its decoded readings, outermost layer first.

    Raises :class:`DetectionError` if it is encoded more than ``MAX_LAYERS``
    times over.
    """
    found = [View(text)]
    while (deeper := _decode(found[-1], len(found))) is not None:
        if len(found) > MAX_LAYERS:
            raise DetectionError(f"A text is encoded more than {MAX_LAYERS} times over")
        found.append(deeper)
    return found


def literals(view: View, deeper: View, clues: Callable[[str], Sequence[int]], depth: int = 0) -> Iterator[View]:
    """What string literals with quotes in them say, each read by itself: JSON inside a string of JSON.

    Taken together with what surrounds it, its quotes could not be told from the outer ones.  ``deeper`` is what the
    whole view says; ``clues`` gives the places of a text, in order, without which a literal says nothing of interest.
    """
    if '\\"' not in view.text:
        return
    if depth > MAX_LAYERS:
        raise DetectionError(f"A text is quoted more than {MAX_LAYERS} times over")
    places = clues(deeper.text)
    quoted_twice = '\\"' in deeper.text
    if not places and not quoted_twice:
        return
    for literal in _LITERAL.finditer(view.text):
        if '\\"' not in literal[0]:
            continue
        first, last = deeper.inward(*literal.span(1))
        clue = bisect_left(places, first)
        if clue < len(places) and places[clue] < last:
            yield deeper.part(*literal.span(1))
        if quoted_twice and '\\"' in deeper.text[first:last]:
            said = deeper.part(*literal.span(1))
            if (further := _decode(said, 1)) is not None:
                yield from literals(said, further, clues, depth + 1)


def encoded(text: str) -> bool:
    """Whether anything in the text may be encoded; never wrongly false but for the file separator U+001C."""
    return bool(_kinds(text))


# -- one round ------------------------------------------------------------------------------------


def _kinds(text: str) -> tuple[str, ...]:
    """The decoders worth running on a text: one linear pass over its bytes."""
    if len(text) < _SHORTEST_RUN and text.isascii() and text.isalnum():
        return ()
    found: list[int] = _triggers().Match(text.encode("utf-8", "surrogatepass")) or []
    kinds = [_TRIGGERS[i][0] for i in sorted(found)]
    if not text.isascii() and "fold" not in kinds and _FOLDABLE.search(text):
        kinds.append("fold")
    return tuple(kinds)


#: A shorter run of letters and digits alone can't be an encoding of anything.
_SHORTEST_RUN = 16
_DIGIT = "[A-Za-z0-9+/]"
#: ... but a shorter one is told by its padding, which is no assignment: nothing follows it.
_PADDED_RUN = rf"{_DIGIT}{{10}}=(?:=|[^A-Za-z0-9\"'(\[{{]|$)"
#: Three characters of ASCII text in base64, told by the high bits of each.
_TEXT_DIGITS = f"[CDI-Za-f][AC-HQS-Xgi-nwyz0-3][ABEFIJMNQRUVYZcdghklopstwx014589]{_DIGIT}"
#: A run of base64 that may hold text, of whose first twelve bytes all but three have to be ASCII.
_TEXT_RUN = "|".join(f"{_DIGIT}{{{at}}}{_TEXT_DIGITS}{_DIGIT}{{{12 - at}}}" for at in (0, 4, 8, 12))
_H, _TAIL = "[0-9A-Fa-f]", "[89ABab][0-9A-Fa-f]"
#: A character of UTF-8 text in hexadecimal.
_HEX_CHARACTER = rf"(?:[2-7]{_H}|0[9AaDd]|[CcDd]{_H}{_TAIL}|[Ee]{_H}(?:{_TAIL}){{2}}|[Ff][0-7](?:{_TAIL}){{3}})"
#: Where runs begin that may hold text, with the character before: hashes and paths are runs as well, and many.
_RUN_BEGINS = (
    f"(?:^|[^A-Za-z0-9+/=_-])(?:{_TEXT_RUN}|{_DIGIT}{{0,5}}{_PADDED_RUN})"
    f"|(?:^|[^A-Za-z0-9])(?:0x)?{_HEX_CHARACTER}{{6}}"
)

#: What shows, in the bytes of a text, that a decoder has something to do.
_TRIGGERS = (
    ("escape", r"\\[\"'/\\bfnrtux]"),
    ("percent", r"%[0-9A-Fa-f]{2}"),
    ("reference", r"&#?[0-9A-Za-z]{2,8}[0-9A-Za-z]*;"),
    (
        "quoted",
        r"=\r?\n|=3D[\"']|=40[A-Za-z0-9-]+\.|=C[23]=[89AB][0-9A-F]|=E[0-9A-F]=[89AB][0-9A-F]|[Qq]uoted-printable",
    ),
    ("fold", r"[\x00-\x08\x0b\x0c\x0e-\x1b\x1d-\x1f\x7f]"),
    ("run", _RUN_BEGINS),
)


@cache
def _triggers() -> re2.Set:
    triggers = re2.Set.SearchSet(linear.options())
    for _, expression in _TRIGGERS:
        triggers.Add(expression)
    triggers.Compile()
    return triggers


def _decode(view: View, round_: int) -> View | None:
    """The next view, or None if nothing is encoded in this one."""
    kinds = _kinds(view.text)
    pieces = _pieces(view.text, kinds, round_ >= _FLATTEN_FROM) if kinds else iter(())
    first = next(pieces, None)
    return None if first is None else View.decoded(view, chain((first,), pieces))


def _pieces(text: str, kinds: tuple[str, ...], flat: bool) -> Iterator[Piece]:
    """What the decoders make of a text; of two that overlap the one that begins first counts."""
    done = 0
    for match, decode in _encodings(text, kinds, flat):
        if match.start() >= done:
            for piece in decode(match):
                yield piece
                done = piece[2]


def _encodings(
    text: str, kinds: tuple[str, ...], flat: bool
) -> Iterable[tuple[re.Match[str], Callable[[re.Match[str]], Iterable[Piece]]]]:
    """Everything that some decoder may have to do with, in order.

    An expression for each kind is quicker than one for all: each begins with
    a character of its own, and runs are found by the linear engine.
    """
    found = (
        (match, _DECODERS[kind])
        for kind in kinds
        for match in (_runs(text) if kind == "run" else _folds(text) if kind == "fold" else _each(kind, flat, text))
    )
    return found if len(kinds) == 1 else sorted(found, key=lambda entry: entry[0].start())


def _each(kind: str, flat: bool, text: str) -> Iterator[re.Match[str]]:
    return _expression(kind, flat).finditer(text)


def _folds(text: str) -> Iterator[re.Match[str]]:
    """Odd characters: the linear engine looks through ASCII text, which has few of them, ten times as fast."""
    fold = _expression("fold", False)
    if not text.isascii():
        yield from fold.finditer(text)
        return
    search, screen, at = _control_places(), text.encode("ascii"), 0
    while (start := search(screen, at, len(screen))[0][0]) >= 0:
        match = fold.match(text, start)
        assert match is not None  # it begins with one
        yield match
        at = match.end()


@cache
def _control_places() -> linear.Search:
    return linear.compiled(f"[{_CONTROL_CLASS}]")


def _runs(text: str) -> Iterator[re.Match[str]]:
    """Runs of base64 or hexadecimal, tried only where the linear engine sees a run begin."""
    search, match_run = _run_places(), _expression("run", False).match
    # What stands before the run is at the offset that the run itself has without the line break before it.
    screen = b"\n" + text.encode("ascii", "replace")
    at, size = 0, len(screen)
    while (start := search(screen, at, size)[0][0]) >= 0:
        if (match := match_run(text, start)) is not None:
            yield match
        at = start + 1  # a run of hexadecimal may begin behind a slash in what is no base64


@cache
def _run_places() -> linear.Search:
    return linear.compiled(_RUN_BEGINS)


_UNIT = f"%(?:25)*{_H}{{2}}"
# Both begin with a character and look behind then: the search skips faster so.
_BASE64_RUN = (
    r"[A-Za-z0-9+/](?<![A-Za-z0-9+/=_-].)(?:[A-Za-z0-9+/]{15,}+={0,2}|[A-Za-z0-9+/]{9,14}+={1,2})(?![A-Za-z0-9+/=_-])"
)
_HEX_RUN = (
    r"[0-7](?<![A-Za-z0-9].)(?:(?<=0)x[2-7])?(?:(?<=[2-7])[0-9A-Fa-f]|(?<=0)[9AaDd])"
    r"(?:[2-7][0-9A-Fa-f]|0[9AaDd]){7,}(?![A-Za-z0-9])"
)
#: Invisible characters, odd spaces and dashes, full-width and other compatibility forms, digits of other scripts.
_FOLD_CLASS = (
    "\u00a0\u00ad\u034f\u061c\u0660-\u0669\u06f0-\u06f9\u0966-\u096f\u09e6-\u09ef\u0e50-\u0e59\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u2000-\u2015\u2024\u202a-\u202f\u205f-\u206f\u2212\u2460-\u2473\u3000\u3002\u3164\ufe00-\ufe0f"
    "\ufe52\ufe58\ufe63"
    "\ufe6b\ufeff\uff01-\uff5e\uffa0\ufff9-\ufffb\U0001d400-\U0001d7ff\U000e0000-\U000e0fff"
)
_CONTROL_CLASS = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f"
#: Each begins with a character of its own where it can: the search for it is quick then.
_PARTS = {
    "escape": (
        rf"\\(?:u[dD][89abAB]{_H}{{2}}\\u[dD][c-fC-F]{_H}{{2}}"
        rf"|u{_H}{{4}}|x{_H}{{2}}|[\"'/\\bfnrt])"
    ),
    "percent": f"{_UNIT}(?:{_UNIT})*",
    "reference": r"&(?:amp;)*(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});",
    "quoted": r"=(?:[0-9A-F]{2}(?:=[0-9A-F]{2})*|\r?\n)",
    "fold": f"[{_CONTROL_CLASS}{_FOLD_CLASS}]+",
    "run": f"{_HEX_RUN}|{_BASE64_RUN}",
}
_FLAT_ESCAPE = _PARTS["escape"].replace(r"\\(?:", r"\\+(?:", 1).replace(r"\\u[dD][c", r"\\+u[dD][c", 1)
_LITERAL = lazy(r'"(?<!\\.)([^"\\]*+(?:\\.[^"\\]*+)*+)"', re.DOTALL)
_HEXADECIMAL = lazy(f"{_H}+")
_PERCENT = lazy(_UNIT)
_FOLDABLE = lazy(f"[{_FOLD_CLASS}]")


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
        units = [int(unit, 16) for unit in re.findall(f"u({_H}{{4}})", written)]
        return chr(0x10000 + ((units[0] & 0x3FF) << 10) + (units[1] & 0x3FF)) if len(units) == 2 else chr(units[0])
    return chr(int(body[1:], 16)) if body[0] == "x" else _SIMPLE.get(body[0], body[0])


def _percent(match: re.Match[str]) -> Iterator[Piece]:
    units = [
        (int(unit[0][-2:], 16), unit.start(), unit.end()) for unit in _PERCENT.finditer(match.string, *match.span())
    ]
    return _utf8(units, Encoding.URL)


def _quoted(match: re.Match[str]) -> Iterator[Piece]:
    if match[0][1] in "\r\n":
        return iter([("", match.start(), match.end(), Encoding.QUOTED_PRINTABLE)])
    units = [(int(match.string[i + 1 : i + 3], 16), i, i + 3) for i in range(match.start(), match.end(), 3)]
    return _utf8(units, Encoding.QUOTED_PRINTABLE)


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


_DASHES = frozenset("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63")


def _fold(match: re.Match[str]) -> Iterator[Piece]:
    for at, char in enumerate(match[0], match.start()):
        yield _folded(char), at, at + 1, Encoding.FOLDED


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


def _run(match: re.Match[str]) -> Iterator[Piece]:
    """A run of base64 or hexadecimal that holds readable text."""
    run = match[0]
    digits = run.removeprefix("0x")
    if run.isdecimal():
        return  # a number, whatever its bytes would read
    if len(digits) % 2 == 0 and _HEXADECIMAL.fullmatch(digits) and (decoded := _readable(bytes.fromhex(digits))):
        yield decoded, match.end() - len(digits), match.end(), Encoding.HEX
        return
    decoded = _from_base64(run)
    if decoded is not None:
        yield decoded, match.start(), match.end(), Encoding.BASE64


def _from_base64(run: str) -> str | None:
    body = run.rstrip("=")
    if len(body) % 4 == 1:
        return None
    if len(binascii.a2b_base64(body[: min(len(body) // 4 * 4, 16)]).translate(None, _PRINTABLE)) > 3:
        return None  # most runs are no text, and the first twelve bytes say so
    return _readable(binascii.a2b_base64(body + "=" * (-len(body) % 4)))


_PRINTABLE = bytes((9, 10, 13, *range(32, 127)))
_ANY_CONTROL = bytes((*range(32), 127))
_CONTROL = bytes(set(_ANY_CONTROL) - set(b"\t\r\n"))
#: Bytes that may read as text by chance: one in three thousand ids of sixteen digits does.
_BY_CHANCE = 12


def _readable(raw: bytes) -> str | None:
    """The text of some bytes, if it reads as text: UTF-8 without control characters, most of it ASCII.

    A short one is of one line: a line break in front of it would make the
    ``=`` before it the end of a line of quoted-printable text, and so
    everything else be read anew.
    """
    plain = len(raw) - len(raw.translate(None, _PRINTABLE))
    said, unsayable = (raw.rstrip(b"\r\n"), _ANY_CONTROL) if len(raw) <= _BY_CHANCE else (raw, _CONTROL)
    if plain < 0.7 * len(raw) or len(said.translate(None, unsayable)) < len(said):
        return None
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None


_DECODERS: dict[str, Callable[[re.Match[str]], Iterable[Piece]]] = {
    "escape": _escape,
    "percent": _percent,
    "reference": _reference,
    "quoted": _quoted,
    "fold": _fold,
    "run": _run,
}
