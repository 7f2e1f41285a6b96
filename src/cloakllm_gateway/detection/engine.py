"""The detector: from texts to disjoint spans, the deterministic categories only.

One call looks at all texts of a message at once:

1. every text is read in every way it may be encoded (:mod:`.folding`);
2. all readings, joined, pass the gate, and the truth of each pattern runs
   where the gate let it (:mod:`.gate`);
3. keys prove values: object keys around a text, and the structure inside it
   (:mod:`.structure`);
4. the deny list and the patterns of the configuration run on the linear
   engine alone (:mod:`.custom`);
5. finds are mapped back to the original text and merged to a disjoint set.

Time is linear in the length of the texts.  Nothing is skipped: a budget that
is reached raises.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, reduce
from itertools import accumulate
from operator import itemgetter
from typing import NamedTuple, cast

import re2

from cloakllm_gateway.detection.catalogue import CATALOGUE, TERM, Category, Pattern
from cloakllm_gateway.detection.catalogue.checks import national_phone
from cloakllm_gateway.detection.catalogue.model import CONTEXT
from cloakllm_gateway.detection.custom import Custom
from cloakllm_gateway.detection.folding import View, encoded, literals, views
from cloakllm_gateway.detection.gate import SEPARATOR, Gate, compiled, screened
from cloakllm_gateway.detection.settings import Settings
from cloakllm_gateway.detection.structure import Proved, Structure
from cloakllm_gateway.errors import DetectionError
from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.spans import Encoding, Proof, Span, Text, disjoint


class Segment(NamedTuple):
    """A part of one reading of one text, ``first:last`` of its view, at ``start`` of the buffer."""

    text: int  # which of the texts
    start: int
    view: View
    deeper: View | None  # the reading decoded from this one
    first: int
    last: int

    @property
    def is_simple(self) -> bool:
        """Whether it is a whole text that reads one way only: all finds stand there just so."""
        return self.view.inner is None and self.deeper is None

    def string(self) -> str:
        return (
            self.view.text if self.last - self.first == len(self.view.text) else self.view.text[self.first : self.last]
        )

    def is_plain(self, start: int, end: int) -> bool:
        """Whether a find of this view stands in the original text just so, and cuts no escape in two."""
        return self.view.inner is None and (self.deeper is None or self.deeper.snap(start, end) == (start, end))

    def is_new(self, start: int, end: int) -> bool:
        """Whether a find may say more than one of the inner view, which has all that nothing encoded is near."""
        return self.view.inner is None or self.view.touches(start, end)


class Detector:
    """Finds personal data in texts.  Built once from its settings; holds no state of the texts it saw."""

    def __init__(self, settings: Settings = Settings()) -> None:  # noqa: B008 (frozen)
        self.settings = settings
        self.categories = {name: category for name, category in CATALOGUE.items() if name not in settings.off}
        self._rows = [
            (category, pattern)
            for category in self.categories.values()
            for pattern in category.patterns
            if settings.regions or not pattern.regional
        ]
        self._gate = Gate([pattern.regex for _, pattern in self._rows])
        self._structure = Structure(self.categories)
        self._custom = Custom(settings)

    def find(self, texts: Sequence[Text]) -> list[list[Span]]:
        """For each text its spans: disjoint, sorted, on the original text.

        Raises :class:`DetectionError` if a text is too long or encoded too deeply.
        """
        longest = self.settings.max_input_length
        if longest is not None and any(len(text.text) > longest for text in texts):
            raise DetectionError(f"A text is longer than max_input_length ({longest})")
        found: list[list[Find]] = [[] for _ in texts]
        segments, buffer = _segments(texts)
        for category, pattern, places in self._matches(buffer, segments):
            for segment, start, end in _placed(segments, places):
                if pattern.prose and not texts[segment.text].names:
                    continue
                found[segment.text].append(_find(texts, segment, start, end, category, pattern.rank, _SHAPE))
        for segment in _spoken(segments):
            found[segment.text] += _keyed(texts, segment, self._structure.inside(segment.string()))
        for segment in segments if self._custom else ():
            for start, end, name, rank in self._custom.find(segment.string()):
                start, end = start + segment.first, end + segment.first
                if segment.is_new(start, end):
                    category = CATALOGUE.get(name) or TERM._replace(name=name)
                    found[segment.text].append(_find(texts, segment, start, end, category, rank, Proof.TERM))
        for index, start, end, category in self._structure.around(texts):
            found[index].append((start, end, category, category.keyed_rank, _KEY, None))
        return [self._settled(finds, text.text) if finds else [] for finds, text in zip(found, texts, strict=True)]

    @property
    def unproved(self) -> tuple[str, ...]:
        """Names of the configuration's patterns that :meth:`prove` has no example for."""
        return self._custom.unproved

    def prove(self) -> None:
        """Find every example of every enabled category; raise :class:`DetectionError` naming one that survives.

        Those of the configuration are made from its patterns; see ``unproved``.
        """
        examples = [
            (category.name, example)
            for category in self.categories.values()
            for example in category.all_examples()
            if example.value not in self.settings.allow_list
        ]
        examples += [pair for pair in self._custom.examples if pair[1].value not in self.settings.allow_list]
        found = self.find([Text(example.text) for _, example in examples])
        for (name, example), spans in zip(examples, found, strict=True):
            start = example.text.index(example.value)
            hidden = [False] * len(example.value)
            for span in spans:
                for at in range(max(span.start, start), min(span.end, start + len(example.value))):
                    hidden[at - start] = True
            if not all(hide or not char.isalnum() for hide, char in zip(hidden, example.value, strict=True)):
                raise DetectionError(f"An example of category {name} was not found", "Detection is not to be trusted")

    def across(self, blocks: Sequence[str]) -> list[list[Span]]:
        """What stands across the edges of adjacent blocks of one result: for each block, its part of each value.

        A value that is complete in the block where it begins is not among
        them: what follows it there by chance is none of it.  Merge them with
        what :meth:`find` says about the blocks (:func:`.spans.disjoint`).
        """
        parts: list[list[Span]] = [[] for _ in blocks]
        edges = list(accumulate(map(len, blocks)))
        joined = "".join(blocks)
        excerpts = _around(edges[:-1], joined)
        if not excerpts:
            return parts
        starts = [0, *edges]
        found = self.find([Text(joined[first:last]) for first, last in excerpts])
        alone = self.find([Text(block[-_EDGE:]) for block in blocks])
        complete = {
            (edge - span.end + span.start, span.category)
            for edge, block, spans in zip(edges, blocks, alone, strict=True)
            for span in spans
            if span.end == len(block[-_EDGE:]) and span.rank > CONTEXT
        }
        for (first, _), spans in zip(excerpts, found, strict=True):
            for span in spans:
                start, end = first + span.start, first + span.end
                index = bisect_right(edges, start)
                if end <= edges[index] or (start, span.category) in complete:
                    continue
                while start < end:
                    stop = min(end, edges[index])
                    if start < stop:
                        by = starts[index]
                        value = joined[start:stop]
                        part = span._replace(start=start - by, end=stop - by, value=value, canonical=value)
                        parts[index].append(part._replace(encoding=_PLAIN))
                    start, index = stop, index + 1
        return parts

    # -- patterns --------------------------------------------------------------------------------

    def _matches(
        self, buffer: str, segments: Sequence[Segment]
    ) -> Iterator[tuple[Category, Pattern, list[tuple[int, int, int]]]]:
        """What the truths find where the gate let them run, by pattern; see :meth:`_proved`."""
        screen = screened(buffer)
        ends = [segment.start - 1 for segment in segments[1:]]
        ends.append(len(buffer))
        for index, ranges in self._gate.ranges(buffer, screen).items():
            category, pattern = self._rows[index]
            if places := self._proved(buffer, screen, ends, pattern, ranges):
                yield category, pattern, places

    def _proved(
        self, buffer: str, screen: bytes, ends: Sequence[int], pattern: Pattern, ranges: list[tuple[int, int, int]]
    ) -> list[tuple[int, int, int]]:
        """Values of one pattern: where the match begins, where the value begins and ends, all in the buffer.

        A refused candidate is searched again from its second character, so
        nothing that overlaps it is shadowed.
        """
        truth = compiled(pattern.regex, buffer.isascii())
        search, group, near = truth.search, truth.group, pattern.near
        proof, extent = pattern.proof, pattern.extent
        if pattern.regional:
            proof = self._national_phone
        places = []
        done = 0
        for at, stop, limit in ranges:
            at = max(at, done)
            while match := search(buffer, screen, at, stop, limit):
                start, end = match.span(group)
                if extent is not None:
                    end = extent(buffer, start, end, ends[bisect_left(ends, end)])
                    size = end - start
                else:
                    size = proof(buffer[start:end]) if proof else end - start
                if size > 0 and (not near or _beside(near, buffer, start, start + size)):
                    places.append((match.start(), start, start + size))
                    at = max(start + size, match.start() + 1)
                else:
                    at = max(-end, match.start() + 1)
            done = max(done, at)
        return places

    def _national_phone(self, text: str) -> int:
        return len(text) if national_phone(text, self.settings.regions) else 0

    # -- merging ---------------------------------------------------------------------------------

    def _settled(self, finds: list[Find], text: str) -> list[Span]:
        """Spans of one text: most finds stand alone, or a value's key says what its shape does; the rest is merged.

        Finds go as spans come: there may be millions of both.
        """
        finds.sort(key=_by_start)
        finds.reverse()
        cut = _Cutter(text).span
        listed = self.settings.allow_list
        settled: list[Span] = []
        while finds:
            find = finds.pop()
            reach = find[1]
            if not finds or finds[-1][0] >= reach:
                settled.append(cut(find))
                continue
            cluster = [find]
            while finds and finds[-1][0] < reach:
                cluster.append(finds.pop())
                reach = max(reach, cluster[-1][1])
            if not listed and (covering := _covering(cluster, find[0], reach)):
                settled.append(cut(covering))
            else:
                settled += disjoint(_reconciled(self._unlisted([*map(cut, cluster)], text)), text)
        return self._unlisted(settled, text)

    def _unlisted(self, spans: list[Span], text: str) -> list[Span]:
        """Those that the allow list does not hold."""
        allowed = self.settings.allow_list
        if not allowed:
            return spans
        return [span for span in spans if span.value not in allowed and text[span.start : span.end] not in allowed]


#: How far a value across an edge may reach on either side, in code points; one with a key block may for long.
_EDGE = 512


def _around(edges: Sequence[int], joined: str) -> list[tuple[int, int]]:
    """The surroundings of the edges, those that meet as one."""
    if edges and "PRIVATE KEY" in joined:
        return [(0, len(joined))]
    excerpts: list[tuple[int, int]] = []
    for edge in edges:
        first, last = max(edge - _EDGE, 0), min(edge + _EDGE, len(joined))
        if excerpts and first <= excerpts[-1][1]:
            excerpts[-1] = (excerpts[-1][0], last)
        else:
            excerpts.append((first, last))
    return excerpts


def _segments(texts: Sequence[Text]) -> tuple[list[Segment], str]:
    """All readings of all texts, and the buffer that joins them; the deepest reading of a text comes first.

    Of two finds that are equal but for what they decode, the first stays.
    """
    plain = SEPARATOR.join([text.text for text in texts])
    suspicious = plain.count(SEPARATOR) >= len(texts) or encoded(plain)
    segments: list[Segment] = []
    parts: list[str] = []
    start = 0
    for index, text in enumerate(texts):
        readings = views(text.text) if suspicious else [View(text.text)]
        for i in range(len(readings) - 1, -1, -1):
            deeper = readings[i + 1] if i + 1 < len(readings) else None
            for first, last in readings[i].excerpts():
                segment = Segment(index, start, readings[i], deeper, first, last)
                segments.append(segment)
                parts.append(segment.string())
                start += last - first + 1
    buffer = SEPARATOR.join(parts)
    return segments, buffer


def _placed(segments: Sequence[Segment], places: Iterable[tuple[int, int, int]]) -> Iterator[tuple[Segment, int, int]]:
    """The values of some places of the buffer, by segment and its view; what crosses from one into another is none."""
    if len(segments) == 1 and segments[0].is_simple:
        for _, start, end in places:
            yield segments[0], start, end
        return
    starts = [segment.start for segment in segments]
    for first, start, end in places:
        segment = segments[bisect_right(starts, start) - 1]
        by = segment.first - segment.start
        if first >= segment.start and end + by <= segment.last and segment.is_new(start + by, end + by):
            yield segment, start + by, end + by


def _spoken(segments: Sequence[Segment]) -> Iterator[Segment]:
    """Everything that may have structure: the readings, and each string literal by itself."""
    for segment in segments:
        yield segment
        if segment.view.inner is None and segment.deeper is not None:
            for said in literals(segment.view):
                yield Segment(segment.text, segment.start, said, None, 0, len(said.text))


def _beside(words: str, buffer: str, start: int, end: int) -> bool:
    """Whether one of the words stands within reach of a value, in the same text."""
    before = buffer[max(start - 60, 0) : start].rpartition(SEPARATOR)[2]
    after = buffer[end : end + 30].partition(SEPARATOR)[0]
    return _words(words).search(f"{before}\n{after}".encode("utf-8", "replace")) is not None


@cache
def _words(words: str) -> re2._Regexp:
    return re2.compile(f"(?i){words}".encode())


_by_start = itemgetter(0)


# -- spans ----------------------------------------------------------------------------------------

#: Where a value stands in its text, its category, rank and proof; its span already if a cut is not enough for it.
Find = tuple[int, int, Category, int, Proof, Span | None]

#: Looked up once: a member of an enumeration costs more than all else about a span.
_SHAPE, _KEY, _PLAIN, _JSON_NUMBER = Proof.SHAPE, Proof.KEY, Encoding.PLAIN, Encoding.JSON_NUMBER


def _find(
    texts: Sequence[Text], segment: Segment, start: int, end: int, category: Category, rank: int, proof: Proof
) -> Find:
    """A find of a reading, by its place in the original text.

    Where the encoding changed nothing, the spelling is plain: a value that
    reads the same in both needs no special placing.
    """
    if segment.is_plain(start, end):
        return start, end, category, rank, proof, None
    view, text = segment.view, texts[segment.text].text
    if segment.deeper is not None:
        start, end = segment.deeper.snap(start, end)
    start, end = view.whole(start, end)
    value = view.text[start:end]
    first, last = view.original(start, end)
    if not (value and 0 <= first < last <= len(text)):
        raise DetectionError(f"A find of category {category.name} has no place in the original text")
    if text[first:last] == value:
        return first, last, category, rank, proof, None
    encoding = view.encoding_of(start, end)
    encoding = Encoding.FOLDED if encoding is _PLAIN else encoding
    canonical = category.canonical(value)
    span = Span(first, last, category.name, value, canonical, encoding, proof, rank, category.sensitive)
    return first, last, category, rank, proof, span


def _keyed(texts: Sequence[Text], segment: Segment, proved: Iterable[Proved]) -> Iterator[Find]:
    """What keys prove in a reading, by its place in the original text."""
    by, is_simple = segment.first, segment.is_simple
    for found in proved:
        start, end, category, rank, proof, value = found
        if value is None and is_simple:
            yield cast(Find, found)
        elif segment.is_new(start + by, end + by):
            find = _find(texts, segment, start + by, end + by, category, rank, proof)
            yield find if value is None else _decoded(texts, segment, find, value)


def _decoded(texts: Sequence[Text], segment: Segment, find: Find, value: str) -> Find:
    """The find of a value that is written with escapes of its own."""
    start, end, category, rank, proof, span = find
    span = span or _Cutter(texts[segment.text].text).span(find)
    encoding = Encoding.JSON if "\\" in span.value else Encoding.URL
    span = span._replace(value=value, canonical=category.canonical(value), encoding=encoding)
    return start, end, category, rank, proof, span


def _covering(cluster: Sequence[Find], start: int, end: int) -> Find | None:
    """The find that all others of a cluster are a part of, where that is plain to see.

    Quicker than :func:`.spans.disjoint`, and says the same; a key's value takes over what :func:`_reconciled` gives it.
    """
    if len(cluster) == 2 and cluster[0][:3] == cluster[1][:3]:
        return _surer(*cluster)
    whole = [find for find in cluster if find[0] == start and find[1] == end]
    if not whole or any(find[2] is not whole[0][2] for find in whole):
        return None
    _, _, category, rank, proof, span = reduce(_surer, whole)
    parts = [find for find in cluster if find[0] != start or find[1] != end]
    if proof is _KEY:
        rank = max([rank, *(part[3] + 1 for part in parts if part[2] is category)])
    if any(part[4] is _KEY or part[3] > rank or part[2].sensitive > category.sensitive for part in parts):
        return None
    return start, end, category, rank, proof, span and span._replace(rank=rank)


def _surer(one: Find, other: Find) -> Find:
    """Which of two finds of the same characters counts: what proves itself is known everywhere."""
    if (one[4] is _KEY) != (other[4] is _KEY):
        return other if one[4] is _KEY else one
    return other if other[3] > one[3] else one


class _Cutter:
    """Cuts the spans of one text, from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._is_json = text.lstrip()[:1] in ("{", "[")
        #: String literals of the text, the next one that ends behind the last number looked at first.
        self._literals: Iterator[re.Match[str]] | None = None
        self._literal = (0, 0)

    def span(self, find: Find) -> Span:
        start, end, category, rank, proof, span = find
        if span is not None:
            return span
        value = self._text[start:end]
        number = self._is_json and value[-1].isdigit() and self._is_number(start, end)
        encoding = _JSON_NUMBER if number else _PLAIN
        canonical = category.canonical(value)
        if canonical == value:
            canonical = value  # one string for both
        # The constructor of a named tuple takes twice as long as this.
        return tuple.__new__(
            Span, (start, end, category.name, value, canonical, encoding, proof, rank, category.sensitive)
        )

    def _is_number(self, start: int, end: int) -> bool:
        """Whether a value is a bare number of JSON text, so that a token in its place needs quotes."""
        return _is_number(self._text, start, end) and not self._is_quoted(start)

    def _is_quoted(self, at: int) -> bool:
        if self._literals is None:
            self._literals = _LITERAL.finditer(self._text)
        while self._literal[1] <= at:
            literal = next(self._literals, None)
            self._literal = literal.span() if literal else (len(self._text), len(self._text) + 1)
        return self._literal[0] < at


_NUMBER = lazy(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_LITERAL = lazy(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)


def _is_number(text: str, start: int, end: int) -> bool:
    """Whether a value is a number where JSON text has one, if it does not stand in a string."""
    if not _NUMBER.fullmatch(text, start, end):
        return False
    before, after = text[max(start - 64, 0) : start].rstrip()[-1:], text[end : end + 64].lstrip()[:1]
    return before in (":", "[", ",") and after in (",", "]", "}")


def _reconciled(spans: list[Span]) -> list[Span]:
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
                rank = max(rank, other.rank + 1)
            at += 1
        if not same:
            kept.append(key._replace(rank=rank))
    return kept
