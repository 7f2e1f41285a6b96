"""The vocabulary that detection, the vault and the core share: texts, spans, encodings.

It sits below all of them so that none has to know another.  Offsets are code
points of the *original* text, half open, everywhere in the project.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import accumulate
from typing import Any, NamedTuple, TypeAlias

import msgspec
from msgspec.structs import replace

#: [start, end) in a text.
Range: TypeAlias = tuple[int, int]


class Encoding(StrEnum):
    """How a value is written where it stands; part of what makes two spellings of a value differ."""

    PLAIN = "plain"
    JSON = "json"  # inside a string literal of JSON text, its escapes still in place
    JSON_NUMBER = "json-number"  # a bare number of JSON text
    URL = "url"  # percent-encoded
    HTML = "html"  # character references
    MARKDOWN = "markdown"  # the destination of a link, percent-encoded where that would end it
    QUOTED_PRINTABLE = "quoted-printable"
    FOLDED = "folded"  # full-width forms, zero-width or bidi characters, odd spaces
    WRAPPED = "wrapped"  # over the end of a line
    BASE64 = "base64"
    HEX = "hex"


class Kind(StrEnum):
    """The JSON type a value had where it stood."""

    STRING = "string"
    NUMBER = "number"


class Proof(StrEnum):
    """What made a find certain.

    A value proved by its ``KEY`` alone is known only in messages of its
    origins: otherwise any upstream could turn any word into a known value.  And
    a ``PART`` of a value is known nowhere: it may be any word.
    """

    SHAPE = "shape"  # pattern, and checksum where the category has one
    KEY = "key"  # the key, header or column it stands under
    NAME = "name"  # a named-entity recogniser
    TERM = "term"  # the deny list or a custom pattern
    KNOWN = "known"  # it has a token already
    LITERAL = "literal"  # data that looks like a token
    PART = "part"  # what a cut left of a value

    def surer(self, other: Proof) -> Proof:
        """The one by which a value is known in more messages; of equal ones this."""
        weak = (Proof.PART, Proof.KEY)
        return other if self in weak and (other not in weak or self is Proof.PART) else self


class Text(NamedTuple):
    """One string to look at, with what its surroundings say about it.

    ``key`` is the object key, column or parameter it stands under ("" for
    none).  Texts with the same non-negative ``record`` are fields of one
    object: `name` proves its value only beside a personal sibling.  ``names``
    says whether a named-entity recogniser may look at it: descriptions and
    the tripwire want certain finds only.  That object stands under the key
    ``parent`` itself, among the fields of the record ``above``:
    ``{"phone": {"value": ...}}``.
    """

    text: str
    key: str = ""
    record: int = -1
    names: bool = True
    parent: str = ""
    above: int = -1


def blanked(text: str, ranges: Iterable[Range], fill: str) -> str:
    """``text`` with ``fill``, one character, in place of each in disjoint, sorted ``ranges``: offsets stay."""
    pieces: list[str] = []
    done = 0
    for start, end in ranges:
        pieces += (text[done:start], fill * (end - start))
        done = end
    return "".join((*pieces, text[done:]))


def whole_number(written: str) -> str:
    """A number as its digits, where it is a whole one: spreadsheets write 536228726.0 and 4.155550134e9.

    Any other text is what it was.
    """
    if written.count(".") > 1 or ("." not in written and "e" not in written and "E" not in written):
        return written  # nearly all
    if len(written) > _LONGEST or not (written[-1:].isdigit() and written.lstrip("-")[0].isdigit()):
        return written
    if written.removeprefix("-").translate(_NO_DIGITS) not in _NOTATIONS:
        return written
    from decimal import Decimal, InvalidOperation  # few messages hold such a number

    try:
        value = Decimal(written)
    except InvalidOperation:
        return written  # 1e5+3
    is_whole = abs(value.adjusted()) < _MOST_DIGITS and value == value.to_integral_value()
    return str(int(value)) if is_whole else written


#: No value that is written as a number has more digits, nor is any longer.
_MOST_DIGITS, _LONGEST = 24, 80
_NO_DIGITS = dict.fromkeys(map(ord, "0123456789"))
#: What stands between the digits of a number with a fraction or an exponent.
_NOTATIONS = frozenset(
    f"{point}{exponent}" for point in ("", ".") for exponent in ("", *"eE", "e+", "E+", "e-", "E-")
) - {""}


#: The name of a column is no longer than this.
_LONGEST_NAME = 48


#: Keys of what a value is wrapped into, once or several times, where a document says how each is to be shown: what is
#: around all of it speaks for the value (Notion: ``{"SSN": {"rich_text": [{"text": {"content": ...}}]}}``).
WRAPPERS = frozenset(("title", "rich_text", "richText", "text", "date"))


def are_columns(names: Sequence[object]) -> bool:
    """Whether what stands in a list may be the names of columns, those of the lists that follow it."""
    return len(names) > 1 and all(
        isinstance(name, str) and len(name) <= _LONGEST_NAME and any(map(str.isalpha, name)) for name in names
    )


class Span(msgspec.Struct, frozen=True, order=True, gc=False):
    """A value found in a text.

    ``value`` is the decoded value (``kim@x.org`` for ``kim%40x.org``),
    ``canonical`` is equal for all spellings of one value, and empty for what a
    cut left of one: that is a value of its own, whose form its text tells.
    ``rank`` orders overlapping finds (higher is more certain).

    There may be millions of them: this is smaller and sooner made than a
    named tuple, and nothing for the collector to visit.
    """

    start: int
    end: int
    category: str
    value: str
    canonical: str
    encoding: Encoding = Encoding.PLAIN
    proof: Proof = Proof.SHAPE
    rank: int = 0
    sensitive: bool = False

    def _replace(self, **changes: Any) -> Span:
        """As of the named tuples that the other values are."""
        return replace(self, **changes)

    def part(self, start: int, end: int, value: str) -> Span:
        """What a cut leaves of it: a value of its own, spelled plainly."""
        plain = Encoding.PLAIN
        return replace(self, start=start, end=end, value=value, canonical="", encoding=plain, proof=Proof.PART)


class Findings(NamedTuple):
    """What was found in some texts: for each its spans, disjoint and sorted.

    ``encoded`` has the numbers of the texts that say more once they are
    decoded; of every other one the text as it stands is the only reading.
    """

    spans: Sequence[Sequence[Span]]
    encoded: frozenset[int]


def disjoint(spans: Iterable[Span], text: str) -> list[Span]:
    """Merge overlapping spans of ``text`` into a disjoint set, sorted by position.

    The more certain span wins, then the longer, then the earlier.  What a
    loser covers beyond the winner stays hidden as a span of its own, trimmed
    to its first and last letter or digit: nobody's remainder leaks.  Such a
    remainder is a part of a value of the loser's category, spelled plainly.  Whatever
    holds a part of something sensitive is sensitive itself.
    """
    taken: list[Span] = []
    for cluster in _clusters(sorted(spans, key=_start)):
        taken += cluster if len(cluster) == 1 else _merged(cluster, text)
    return taken


def _start(span: Span) -> int:
    return span.start


def _clusters(spans: Iterable[Span]) -> Iterator[list[Span]]:
    """Those that overlap, directly or by others between, together; empty ones alone are left out."""
    cluster: list[Span] = []
    reach = -1
    for span in spans:
        if span.start >= reach:
            if cluster:
                yield cluster
            cluster = []
        if cluster or span.start < span.end:
            cluster.append(span)
        reach = max(reach, span.end)
    if cluster:
        yield cluster


def _merged(cluster: Iterable[Span], text: str) -> list[Span]:
    """The same for spans that overlap; of these there are few together."""
    queue = sorted(cluster, key=_certainty)
    taken: list[Span] = []  # kept sorted by start
    starts: list[int] = []
    for span in queue:
        for start, end in _free(span.start, span.end, taken, starts):
            if (start, end) != (span.start, span.end):
                while start < end and not text[start].isalnum():
                    start += 1
                while end > start and not text[end - 1].isalnum():
                    end -= 1
                if start == end:
                    continue
                kept = span.part(start, end, text[start:end])
            else:
                kept = span
            at = bisect_left(starts, start)
            starts.insert(at, start)
            taken.insert(at, kept)
    for span in queue:
        if span.sensitive:
            _mark_sensitive(span, taken, starts)
    return taken


def _mark_sensitive(span: Span, taken: list[Span], starts: list[int]) -> None:
    at = max(bisect_right(starts, span.start) - 1, 0)
    while at < len(taken) and taken[at].start < span.end:
        if taken[at].end > span.start and not taken[at].sensitive:
            taken[at] = replace(taken[at], sensitive=True)
        at += 1


def _certainty(span: Span) -> tuple[int, int, int]:
    return (-span.rank, span.start - span.end, span.start)


def _free(start: int, end: int, taken: list[Span], starts: list[int]) -> list[tuple[int, int]]:
    """The parts of [start, end) that no taken span covers."""
    free = []
    at = max(bisect_right(starts, start) - 1, 0)
    while start < end and at < len(taken):
        span = taken[at]
        if span.start >= end:
            break
        if span.end > start:
            if span.start > start:
                free.append((start, span.start))
            start = span.end
        at += 1
    if start < end:
        free.append((start, end))
    return free


class Ranges:
    """Ranges of one text, to be asked about many spans: each question is a look-up.  They may overlap."""

    def __init__(self, ranges: Iterable[Range]) -> None:
        self._ranges = sorted(ranges)
        self._starts = [start for start, _ in self._ranges]
        #: The furthest end among a range and all before it.
        self._reach = list(accumulate((end for _, end in self._ranges), max))

    def meet(self, start: int, end: int) -> bool:
        """Whether any range shares a character with [start, end)."""
        before = bisect_left(self._starts, end)
        return before > 0 and self._reach[before - 1] > start

    def beside(self, spans: Iterable[Span]) -> list[Span]:
        """The spans that share no character with any range."""
        return [span for span in spans if not self.meet(span.start, span.end)]

    def around(self, start: int, end: int) -> Range | None:
        """The range that [start, end) lies in, if there is one; for ranges that are disjoint."""
        at = bisect_right(self._starts, start) - 1
        return self._ranges[at] if at >= 0 and end <= self._ranges[at][1] else None
