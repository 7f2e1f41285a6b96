"""From the finds in a text to its spans: which of those that overlap counts, and how each value is spelled.

Most finds stand alone, or a key and a shape say the same of one value; those
are decided on the way, from left to right.  What overlaps otherwise is weighed
by :func:`.spans.disjoint`.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from operator import itemgetter

from msgspec import Struct
from msgspec.structs import replace

from cloakllm_gateway.detection.allow_list import NOTHING, AllowList
from cloakllm_gateway.detection.catalogue import CATALOGUE, Category
from cloakllm_gateway.detection.catalogue.model import CONTEXT
from cloakllm_gateway.detection.wrapping import is_fragment, is_in_groups, is_whole
from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.spans import Encoding, Proof, Ranges, Span, disjoint


class Claim(Struct, frozen=True, eq=False, gc=False):
    """What is said of a place; all finds of one pattern, or under one key, share theirs.

    Some have one for themselves: those with a ``value``, which a key proves and
    which is written with escapes, here decoded, and those whose ``span`` is
    made already, because a cut is not enough for it.
    """

    category: Category
    rank: int
    proof: Proof
    value: str | None = None
    span: Span | None = None


#: Where a value begins in its text, how many characters it has, and what it is.  (The end would be a number of its own,
#: and take a quarter of the memory of all finds.)
Find = tuple[int, int, Claim]

#: Looked up once: a member of an enumeration costs more than all else about a span.
_KEY, _PLAIN, _JSON_NUMBER = Proof.KEY, Encoding.PLAIN, Encoding.JSON_NUMBER

_start = itemgetter(0)


#: What a value was replaced by, by this program or another one; with more digits it may be a value of somebody's.
_TOKEN = lazy(r"\[([A-Z][A-Z0-9]{1,20}(?:_[A-Z][A-Z0-9]{0,20}){0,3})_\d{1,7}(?:_\d{1,7})?\]", re.ASCII)


def _beside_tokens(finds: list[Find], text: str) -> list[Find]:
    """The finds that are more than what stands in a token of a category: it says itself that it is no value."""
    tokens = [match.span() for match in _TOKEN.finditer(text) if match[1] in CATALOGUE]
    if not tokens:
        return finds
    around = Ranges(tokens).around
    return [find for find in finds if around(find[0], find[0] + find[1]) is None]


def unwrapped(finds: list[Find], text: str) -> list[Find]:
    """The finds less those that go on in another line although a value of their kind ends with it, or has both lines.

    Two telephone numbers below each other are two, even where more digits would make one that is longer.
    """
    wrapped = [find for find in finds if find[2].span is not None and find[2].span.encoding is Encoding.WRAPPED]
    if not wrapped:
        return finds
    whole: list[tuple[int, int, Claim]] = []
    for start, size, claim in finds:
        if claim.span is None and not (
            (claim.proof is _KEY and is_fragment(text[start : start + size])) or is_in_groups(text, start, start + size)
        ):
            whole.append((start, start + size, claim))
    whole.sort(key=_start)
    starts = [start for start, _, _ in whole]
    # What a key proves is whatever follows it, and in a wrapped text that is all of the next line.
    refuted = {
        claim
        for start, size, claim in wrapped
        if claim.proof is _KEY and not is_fragment(text[start : start + size].rpartition("\n")[2], of_many=True)
    }
    for start, size, claim in wrapped:
        end = start + size
        for first, last, other in whole[bisect_left(starts, start) : bisect_left(starts, end)]:
            is_as_sure = other.category is claim.category or other.rank > claim.rank
            if (
                is_as_sure
                and last <= end
                and ((first, last) == (start, end) or is_whole(text, (first, last), start, end))
            ):
                refuted.add(claim)
    return [find for find in finds if find[2] not in refuted]


def unescaped(finds: list[Find], text: str) -> list[Find]:
    """The finds less those beside their key that go on over the end of a line which is written as an escape.

    A value without quotes ends where its line does, and its line is told by the reading without the escapes.  There
    the next line begins with a key of its own, or is none: a backslash before a letter may be part of a password.
    """
    if "\\n" not in text and "\\r" not in text:
        return finds
    ends: dict[tuple[str, int], list[int]] = {}
    for start, size, claim in finds:
        if _LINE_IS_DONE.match(text, start + size):
            ends.setdefault((claim.category.name, start), []).append(start + size)
    if not ends:
        return finds
    return [
        find
        for find in finds
        if (find[2].proof is not _KEY and find[2].rank != CONTEXT)
        or not any(end < find[0] + find[1] for end in ends.get((find[2].category.name, find[0]), ()))
    ]


#: The end of a line as it is escaped, in however many strings, and behind it that of the string, an empty line, a
#: comment or a key.
_LINE_IS_DONE = lazy(
    r"\\{1,64}(?:r\\{1,64}n|[nr])"
    r"(?:\\{0,64}[\"']|\\{1,64}[rn]|\Z"
    r"|(?:[ \t-]|\\{1,64}t){0,40}"
    r"(?:[#;\[]|(?:export )?[\w.-]{1,40}[ ]?=(?![=\s]|\Z)|[\w. -]{1,40}:(?:[ ]|\\{1,64}[rn])))"
)


def settled(finds: list[Find], text: str, allowed: AllowList = NOTHING) -> list[Span]:
    """The spans of one text, less what is allowed.

    Finds go as spans come: there may be millions of both.
    """
    if "_" in text and "[" in text:
        finds = _beside_tokens(finds, text)
    finds.sort(key=_start)
    finds.reverse()
    cut = cutter(text)
    spans: list[Span] = []
    while finds:
        find = finds.pop()
        start, size, claim = find
        reach = start + size
        cluster: list[Find] | None = None
        while finds and finds[-1][0] < reach:
            other = finds.pop()
            at, length, also = other
            if cluster is None:
                if at == start and length == size and also.category is claim.category and also.span is claim.span:
                    find = _surer(find, other)
                    continue
                cluster = [find]
            cluster.append(other)
            if at + length > reach:
                reach = at + length
        if cluster is None:
            spans.append(cut(find))
        elif not allowed and (covering := _covering(cluster, start, reach - start)):
            spans.append(cut(covering))
        else:
            spans += disjoint(reconciled(_unlisted([*map(cut, cluster)], text, allowed)), text)
    return _unlisted(spans, text, allowed)


def _unlisted(spans: list[Span], text: str, allowed: AllowList) -> list[Span]:
    """Those that are neither on the allow list nor a part of what is."""
    if not allowed:
        return spans
    shown = sorted(s for s in spans if allowed.holds(s.category, s.canonical, s.value, text[s.start : s.end]))
    if not shown:
        return spans
    starts = [span.start for span in shown]
    reach = [0, *accumulate((span.end for span in shown), max)]
    return [span for span in spans if reach[bisect_right(starts, span.start)] < span.end]


def _surer(one: Find, other: Find) -> Find:
    """Which of two finds of the same characters counts: what proves itself is known everywhere."""
    said, also = one[2], other[2]
    if (said.proof is _KEY) != (also.proof is _KEY):
        return other if said.proof is _KEY else one
    return other if also.rank > said.rank else one


def _covering(cluster: Sequence[Find], start: int, size: int) -> Find | None:
    """The find that all others of a cluster are a part of, where that is plain to see.

    Quicker than :func:`.spans.disjoint`, and says the same; a key's value takes over what :func:`reconciled` gives it.
    """
    if len(cluster) == 2:
        one, other = (claim.category for _, _, claim in cluster)
        if cluster[0][:2] == cluster[1][:2] and one is not other:  # one value under two names
            surest = max(cluster, key=_rank)
            return surest if surest[2].category.sensitive >= (one.sensitive or other.sensitive) else None
    whole: Find | None = None
    parts = []
    for find in cluster:
        if find[0] != start or find[1] != size:
            parts.append(find[2])
        elif whole is None:
            whole = find
        elif find[2].category is whole[2].category:
            whole = _surer(whole, find)
        else:
            return None
    if whole is None:
        return None
    claim = whole[2]
    category, rank, is_keyed = claim.category, claim.rank, claim.proof is _KEY
    if is_keyed:
        rank = max([rank, *(part.rank for part in parts if part.category is category)])
    for part in parts:
        if part.rank > rank or part.proof is _KEY or part.category.sensitive > category.sensitive:
            return None
    if rank == claim.rank:
        return whole
    return start, size, replace(claim, rank=rank, span=claim.span and replace(claim.span, rank=rank))


def _rank(find: Find) -> int:
    return find[2].rank


def reconciled(spans: list[Span]) -> list[Span]:
    """Drop what a key proves where the value proves itself: a value under its key stays known everywhere.

    A key's value that is longer than what it holds of its own category keeps
    its extent, and the more certain rank.
    """
    keyed = [span for span in spans if span.proof is _KEY]
    if not keyed:
        return spans
    shaped = sorted(span for span in spans if span.proof is not _KEY)
    kept: list[Span] = list(shaped)
    starts = [span.start for span in shaped]
    for key in keyed:
        at = bisect_right(starts, key.start - 1)
        rank = key.rank
        same = False
        while at < len(shaped) and shaped[at].start < key.end:
            other = shaped[at]
            if other.category == key.category and other.end <= key.end:
                same = same or (other.start, other.end) == (key.start, key.end)
                rank = max(rank, other.rank)
            at += 1
        if not same:
            kept.append(replace(key, rank=rank))
    return kept


# -- spans ----------------------------------------------------------------------------------------


def cutter(text: str) -> Callable[[Find], Span]:
    """Makes the span of a find in ``text``, from left to right: bare numbers of JSON are told on the way."""
    numbers = _Numbers(text) if JSON_TEXT.match(text) else None
    short: dict[tuple[str, str], tuple[str, str]] = {}

    def cut(find: Find) -> Span:
        start, size, claim = find
        if claim.span is not None:
            return claim.span
        category = claim.category
        end = start + size
        value = text[start:end]
        encoding = _PLAIN
        if numbers is not None and value[-1].isdigit() and numbers.holds(start, end):
            encoding = _JSON_NUMBER
        if size > _SHORT:
            canonical = category.canonical(value)
            if canonical == value:
                canonical = value  # one string for both
        elif known := short.get((value, category.name)):
            value, canonical = known
        else:
            canonical = category.canonical(value)
            if len(short) < _REMEMBERED:
                short[value, category.name] = (value, canonical)
        return Span(start, end, category.name, value, canonical, encoding, claim.proof, claim.rank, category.sensitive)

    return cut


#: Values of so many characters repeat, as the names of a column do: those seen first share their strings.
_SHORT, _REMEMBERED = 12, 1_000


class _Numbers:
    """The bare numbers of JSON text, asked for from left to right: a token in place of one needs quotes."""

    def __init__(self, text: str) -> None:
        self._text = text
        #: String literals of the text, the next one that ends behind the last number looked at first.
        self._literals: Iterator[re.Match[str]] | None = None
        self._literal = (0, 0)

    def holds(self, start: int, end: int) -> bool:
        """Whether a value is a number where JSON text has one."""
        if not _NUMBER.fullmatch(self._text, start, end):
            return False
        before = self._text[max(start - 64, 0) : start].rstrip()[-1:]
        after = self._text[end : end + 64].lstrip()[:1]
        return before in (":", "[", ",") and after in (",", "]", "}") and not self._is_quoted(start)

    def _is_quoted(self, at: int) -> bool:
        if self._literals is None:
            self._literals = _LITERAL.finditer(self._text)
        while self._literal[1] <= at:
            literal = next(self._literals, None)
            self._literal = literal.span() if literal else (len(self._text), len(self._text) + 1)
        return self._literal[0] < at


#: How a text begins that may be JSON.
JSON_TEXT = lazy(r"\s*[{\[]")
_NUMBER = lazy(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_LITERAL = lazy(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
