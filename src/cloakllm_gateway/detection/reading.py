"""What the texts of a message say: all their readings in one buffer, and what the gate saw where.

Layer by layer: the texts themselves pass the gate, which also sees what in them
may be encoded; what that says, with its surroundings, is the next layer.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from operator import itemgetter
from typing import NamedTuple

from cloakllm_gateway.detection import folding
from cloakllm_gateway.detection.gate import NOTHING, OVERLAP, SEPARATOR, Gate, Ranges, Seen, screened
from cloakllm_gateway.detection.view import View
from cloakllm_gateway.spans import Text


class Segment(NamedTuple):
    """A part of one reading of one text, ``first:last`` of its view, at ``start`` of the buffer.

    So many characters before it, its ``lead``, are the text's key: a match may begin there, but no value is there.
    """

    text: int  # which of the texts
    start: int
    view: View
    deeper: View | None  # the reading decoded from this one
    first: int
    last: int
    lead: int = 0

    def string(self) -> str:
        return (
            self.view.text if self.last - self.first == len(self.view.text) else self.view.text[self.first : self.last]
        )

    @property
    def is_verbatim(self) -> bool:
        """Whether all finds stand in the original text just so, for there is no escape to cut in two."""
        return self.view.inner is None and (self.deeper is None or not self.deeper.has_escapes)

    def is_plain(self, start: int, end: int) -> bool:
        """Whether a find of this view stands in the original text just so, and cuts no escape in two."""
        return self.view.inner is None and (self.deeper is None or self.deeper.snap(start, end) == (start, end))

    def is_new(self, start: int, end: int) -> bool:
        """Whether a find may say more than one of the inner view, which has all that nothing encoded is near."""
        return self.view.inner is None or self.view.touches(start, end)


class Reading(NamedTuple):
    """All readings of all texts; the deepest ones come first.  Texts in which nothing was seen may have no segments.

    Of two finds that are equal but for what they decode, the first stays.
    """

    buffer: str
    screen: bytes
    segments: list[Segment]
    seen: Seen
    encoded: frozenset[int] = frozenset()  # the texts that have more readings than one

    def ends(self) -> list[int]:
        """Where the segments end in the buffer, in order."""
        return [*(segment.start - segment.lead - 1 for segment in self.segments[1:]), len(self.buffer)]

    def placed(self, places: Sequence[tuple[int, int, int]]) -> Iterator[tuple[Segment, list[tuple[int, int]]]]:
        """The values of some places of the buffer, which come in order, by segment and its view.

        What crosses from one segment into another is none.
        """
        starts = [segment.start for segment in self.segments]
        at = 0
        while at < len(places):
            index = max(bisect_right(starts, places[at][1]), 1)
            stop = bisect_left(places, starts[index], at, key=_value) if index < len(starts) else len(places)
            segment = self.segments[index - 1]
            start_of, by = segment.start, segment.first - segment.start
            begin, last = start_of - segment.lead, segment.last - by
            own = [
                (start + by, end + by)
                for first, start, end in places[at:stop]
                if first >= begin and start >= start_of and end <= last
            ]
            if segment.view.inner is not None:
                own = [(start, end) for start, end in own if segment.is_new(start, end)]
            if own:
                yield segment, own
            at = stop

    def parts(self, segment: Segment, sign: str) -> list[tuple[int, int]]:
        """Where a sign may be in a segment, from its own start."""
        ranges = self.seen.signs.get(sign)
        if not ranges:
            return []
        size = segment.last - segment.first
        at = bisect_left(ranges, segment.start, key=_stop)
        found = []
        while at < len(ranges) and ranges[at][0] < segment.start + size:
            start, stop, _ = ranges[at]
            found.append((max(start - segment.start, 0), min(stop - segment.start, size)))
            at += 1
        return found


_value = _stop = itemgetter(1)


def behind(segments: Sequence[Segment], leads: Sequence[int]) -> list[Segment]:
    """The segments without the keys that stand before some texts: so many characters of each."""
    found = []
    for segment in segments:
        text, start, view, deeper, first, last, _ = segment
        lead = min(leads[text] - first, last - first)
        found.append(segment if lead <= 0 else Segment(text, start + lead, view, deeper, first + lead, last, lead))
    return found


#: A part of a view of a text: which text, which view, from where to where.
_Part = tuple[int, View, int, int]
#: The kinds of encodings that may be in some texts, by text, and in which of the parts, by number.
_Due = Mapping[int, Mapping[str, Sequence[int]]]
#: Said once, it counts for all layers of a text as well.
_QUOTED = "quoted"
#: What has to be looked for in all of a text, or has no sign.
_EVERYWHERE = folding.SAID_ONCE | {"fold"}
#: What goes over white space, and so may begin in one window and end in the next, which sees all of it.
_ACROSS = "wrapped"


class _Layer(NamedTuple):
    """The readings of some texts that are encoded equally deep."""

    parts: Sequence[_Part]
    starts: Sequence[int]  # of the parts in the buffer
    buffer: str
    screen: bytes
    seen: Seen


def read(texts: Sequence[Text], gate: Gate, *, always: bool = True) -> Reading:
    """Read texts in every way they may be encoded, ``always`` or where something was seen in one of them.

    Raises :class:`DetectionError` for one that is encoded too deeply.
    """
    strings = [text.text for text in texts]
    buffer = SEPARATOR.join(strings)
    screen = screened(buffer)
    seen = gate.look(buffer, screen)
    is_encoded = _may_be_encoded(buffer, seen, len(strings))
    if seen is NOTHING and not is_encoded and not always:
        return Reading(buffer, screen, [], seen)
    parts = [(index, View(string), 0, len(string)) for index, string in enumerate(strings)]
    layer = _Layer(parts, _starts(strings), buffer, screen, seen)
    if not is_encoded:
        return _alone(layer)
    del screen  # several layers get one for all, and a long text is short of memory
    layers = [layer]
    due = _due(layer, {})
    while views := _deeper(layer, len(layers), due):
        layers[-1] = layer._replace(screen=b"")
        parts = [(text, view, first, last) for text, view in views.items() for first, last in view.excerpts()]
        layer = _layer(parts, [view.text[first:last] for _, view, first, last in parts], gate)
        layers.append(layer)
        due = _due(layer, due)
    return _joined(layers, gate) if len(layers) > 1 else _alone(layer)


def _layer(parts: Sequence[_Part], strings: Sequence[str], gate: Gate) -> _Layer:
    buffer = SEPARATOR.join(strings)
    screen = screened(buffer)
    return _Layer(parts, _starts(strings), buffer, screen, gate.look(buffer, screen))


def _starts(strings: Sequence[str]) -> Sequence[int]:
    """Where strings start in the buffer that joins them."""
    return [0, *accumulate(len(string) + 1 for string in strings)] if len(strings) > 1 else [0]


def _due(layer: _Layer, above: _Due) -> _Due:
    """The decoders worth running on the texts of a layer; those for the layer ``above`` it were these.

    Exactly those that the parts of a text ask for: what it says is the same wherever it stands.
    """
    buffer, parts = layer.buffer, layer.parts
    signs = layer.seen.signs.keys() & folding.SIGNS.keys()
    if len(parts) == 1 and not above:
        kinds = folding.kinds_of(buffer, signs)
        return {parts[0][0]: dict.fromkeys(kinds, (0,))} if kinds else {}
    near: set[int] = set()
    for sign in signs:
        for start, stop, _ in layer.seen.signs[sign]:
            near.update(range(max(bisect_right(layer.starts, start) - 1, 0), bisect_left(layer.starts, stop)))
    due: dict[int, dict[str, list[int]]] = {}
    by_text: dict[int, list[int]] = {}
    for number, (text, view, first, last) in enumerate(parts):
        part = view.text[first:last]
        by_text.setdefault(text, []).append(number)
        if _QUOTED in above.get(text, ()):
            due.setdefault(text, {})[_QUOTED] = by_text[text]
        if number in near or not part.isascii() or SEPARATOR in part:
            for kind in folding.kinds(part):
                asking = due.setdefault(text, {})
                if kind in folding.SAID_ONCE:
                    asking[kind] = by_text[text]
                else:
                    asking.setdefault(kind, []).append(number)
    return due


def _may_be_encoded(buffer: str, seen: Seen, texts: int) -> bool:
    """Whether any decoder may make something of any text: by what the gate saw, and by what it does not look for."""
    signs, separators = seen.signs, texts - 1
    if not buffer.isascii() or (signs and not signs.keys().isdisjoint(folding.SIGNS)):
        return True
    return buffer.count(SEPARATOR) > separators if separators else SEPARATOR in buffer  # much quicker


def _deeper(layer: _Layer, depth: int, due: _Due) -> dict[int, View]:
    """What those texts say that are encoded in the ``depth``-th layer, by text."""
    found = {}
    for text, kinds in due.items():
        where = {kind: [*_where(layer, kind, kinds[kind])] for kind in folding.SIGNS if kind in kinds}
        view = layer.parts[next(iter(kinds.values()))[0]][1]
        if (deeper := folding.decoded(view, depth, where)) is not None:
            found[text] = deeper
    return found


def _where(layer: _Layer, kind: str, parts: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Where in some parts of a text a decoder has to look: where the gate saw its sign, between white space.

    Odd characters have no sign but controls, and text may say of itself that it is quoted-printable, or a calendar.
    """
    ranges = layer.seen.signs[kind] if kind not in _EVERYWHERE else ()
    for number in parts:
        _, _, first, last = layer.parts[number]
        if not ranges:
            yield first, last
            continue
        start, by = layer.starts[number], first - layer.starts[number]
        at = bisect_left(ranges, start, key=_stop)
        while at < len(ranges) and ranges[at][0] < last - by:
            begin, stop, _ = ranges[at]
            seen_from = begin + OVERLAP if begin and kind != _ACROSS else begin
            yield max(seen_from, start) + by, min(stop, last - by) + by
            at += 1


def _alone(layer: _Layer) -> Reading:
    segments = [
        Segment(text, start, view, None, first, last)
        for (text, view, first, last), start in zip(layer.parts, layer.starts, strict=False)
    ]
    return Reading(layer.buffer, layer.screen, segments, layer.seen)


def _joined(layers: Sequence[_Layer], gate: Gate) -> Reading:
    segments = []
    due: dict[int, Ranges] = {}
    signs: dict[str, Ranges] = {}
    base = 0
    deeper: Mapping[int, View] = {}
    for layer in reversed(layers):
        for (text, view, first, last), start in zip(layer.parts, layer.starts, strict=False):
            segments.append(Segment(text, base + start, view, deeper.get(text), first, last))
        for index, ranges in layer.seen.due.items():
            due.setdefault(index, []).extend(_moved(ranges, base))
        for sign, ranges in layer.seen.signs.items():
            signs.setdefault(sign, []).extend(_moved(ranges, base))
        deeper = {text: view for text, view, _, _ in layer.parts}
        base += len(layer.buffer) + 1
    buffer = SEPARATOR.join([layer.buffer for layer in reversed(layers)])
    encoded = frozenset(text for text, *_ in layers[1].parts)
    return Reading(buffer, screened(buffer), segments, Seen(gate.in_order(due), signs), encoded)


def _moved(ranges: Ranges, by: int) -> Ranges:
    return [(start + by, stop + by, limit + by) for start, stop, limit in ranges] if by else ranges
