"""Finding known values again: once a value has a token, no later text shows it raw.

Theory of operation.  Values are kept in dictionaries, by their text: a text is
probed, never the values.  A probe begins where a word or a symbol begins.  Most
end at once: the few characters there begin no known value (:mod:`prefixes`).  Otherwise they lead
to the lengths of the values that begin so, and each length is one slice and one
look-up.  A value is filed under its first 4, 8, 16, 32 or 64 characters, the
most it has; so a shelf at depth *d* holds at most *d* lengths, and the work at
one position is bounded, whatever an upstream has taught us.  Learning is a few
dictionary entries; nothing is rebuilt.

Very long values (keys, certificates) are filed under their first 128 characters
and hidden as far as text and value agree.  What is compared is consumed, so
this is linear too, and a cut-off copy is hidden as well.

Between the words of a value may stand more than a blank, the end of a line above
all: where a word begins a value of several, the text from there on is probed
once more as if it were one line.

What the edge of a text left of a value is found as well: see :mod:`truncation`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from cloakllm_gateway.gaps import WIDE, unbroken
from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.spans import Encoding, Proof, Range, Span, disjoint
from cloakllm_gateway.vault.boundaries import closing, ending, glued, openings
from cloakllm_gateway.vault.prefixes import Prefixes
from cloakllm_gateway.vault.tokens import scan
from cloakllm_gateway.vault.truncation import LONGEST, Truncations, may_be_truncated

#: Depths of the shelves; values of at least ``_LONG`` characters have their own.
_DEPTHS = (64, 32, 16, 8, 4, 2)
_LONG = LONGEST
#: How much of a text a value of several words may take, however its lines end.
_BROKEN = 2 * LONGEST
#: Long values with the same beginning that are told apart; of further ones only the beginning is hidden.
_MAX_ALIKE = 16


class Known(Struct):
    """A value to look for, and how to report it.

    ``origins`` restricts it to messages of these upstreams, None is everywhere.
    ``capitalised`` values count only where they begin with a capital: a grace
    period is not Grace.
    """

    category: str
    canonical: str
    value: str
    encoding: Encoding
    proof: Proof
    sensitive: bool = False
    origins: frozenset[str] | None = None
    capitalised: bool = False


class _Hit(NamedTuple):
    """A value at [start, end), or a part of one that was cut off (not ``whole``)."""

    start: int
    end: int
    known: Known
    whole: bool = True


class KnownValues:
    """A set of values, quick to extend and quick to find in a text.

    ``shortest`` is the length of the shortest value it takes (2 to 64, a power
    of two); ``reserved`` holds case-folded words that it never reports.  With
    ``truncated`` values are also found by what the edges of a text leave of them.
    """

    def __init__(self, shortest: int, reserved: set[str], *, truncated: bool = False) -> None:
        self._shortest = shortest
        self._depths = tuple(depth for depth in _DEPTHS if depth >= shortest)
        self._reserved = reserved
        #: Values whose case does not matter by their case-folded text, the others by their own.
        self._folded: dict[str, list[Known]] = {}
        self._exact: dict[str, list[Known]] = {}
        self._heads = Prefixes(shortest)
        #: Case-folded beginning -> lengths of the values filed there, longest first.
        self._lengths: dict[str, tuple[int, ...]] = {}
        self._long: dict[str, list[tuple[str, Known]]] = {}
        #: What values of several words begin with, up to each blank in them, and how many do.
        self._openers: dict[str, int] = {}
        self._truncations = Truncations() if truncated else None

    def add(self, text: str, known: Known, caseless: bool) -> None:
        """Look for ``text`` from now on; ``caseless`` if its case does not matter."""
        folded = text.casefold()
        if len(folded) < self._shortest:
            return
        opener = folded.partition(" ")[0]
        for beginning in (opener,) if len(opener) >= self._shortest else _beginnings(opener, folded):
            self._heads.add(beginning)
        if len(folded) >= _LONG:
            alike = self._long.setdefault(folded[:_LONG], [])
            for value, other in alike:
                if value == folded:
                    _merge(other, known)
                    return
            if len(alike) < _MAX_ALIKE:
                alike.append((folded, known))
            if len(alike) == 1 and self._truncations is not None:
                self._truncations.add(folded[:_LONG])
            return
        values, key = (self._folded, folded) if caseless else (self._exact, text)
        same = values.setdefault(key, [])
        if not same:
            for words in _openers(folded):
                self._openers[words] = self._openers.get(words, 0) + 1
            if self._truncations is not None:
                self._truncations.add(key)
        for other in same:
            if (other.category, other.canonical) == (known.category, known.canonical):
                _merge(other, known)
                return
        same.append(known)
        depth = next(depth for depth in self._depths if depth <= len(folded))
        lengths = self._lengths.get(folded[:depth], ())
        if len(folded) not in lengths:
            self._lengths[folded[:depth]] = tuple(sorted((*lengths, len(folded)), reverse=True))

    def discard(self, text: str, category: str, canonical: str) -> None:
        """Look for ``text`` as a value of this kind no more."""
        folded = text.casefold()
        for values, key in ((self._folded, folded), (self._exact, text)):
            if (same := values.get(key)) is None:
                continue
            same[:] = [k for k in same if (k.category, k.canonical) != (category, canonical)]
            if not same:
                del values[key]
                self._forget(key)
                for words in _openers(folded):
                    self._openers[words] -= 1
                    if not self._openers[words]:
                        del self._openers[words]
        if len(folded) >= _LONG and (alike := self._long.get(folded[:_LONG])):
            alike[:] = [(value, known) for value, known in alike if value != folded]
            if not alike:
                del self._long[folded[:_LONG]]
                self._forget(folded[:_LONG])

    def _forget(self, key: str) -> None:
        if self._truncations is not None:
            self._truncations.discard(key)

    def find(self, text: str, origin: str = "") -> list[Span]:
        """The values in ``text`` of a message from ``origin``: disjoint, sorted, the longest at each place.

        Nothing is found inside a token.
        """
        if not self._heads:
            return []
        folded = text.casefold()
        probe = _Probe(text, folded, _offsets(text) if len(folded) != len(text) else None, origin)
        places = self._heads.places(folded)
        hits = list(self._hits(probe, places))
        index = self._truncations
        if index and may_be_truncated(folded) and (parts := self._parts(probe, places, hits, index)):
            hits = sorted([*hits, *parts], key=_start)
        if not hits:
            return []
        tokens, at = scan(text), 0
        spans = []
        for hit in map(probe.located, hits):
            while at < len(tokens) and tokens[at].end <= hit.start:
                at += 1
            if at == len(tokens) or tokens[at].start >= hit.end:
                spans.append(_span(hit, text))
        return spans if all(hit.whole for hit in hits) else disjoint(spans, text)

    def _hits(self, probe: _Probe, places: Sequence[int]) -> Iterator[_Hit]:
        """The values themselves, in positions of the folded text like all that follows."""
        done = 0
        for at in places:
            if at >= done and (hit := self._longest(probe, at)):
                done = hit.end
                yield hit

    def _parts(self, probe: _Probe, places: Sequence[int], hits: Sequence[_Hit], index: Truncations) -> list[_Hit]:
        """Values that were cut off; ``hits`` are the whole ones."""
        stretches = openings(probe.folded)
        parts = [part for start, stop in stretches if (part := self._end(probe, start, stop, index)) is not None]
        if places := index.starts(probe.folded, places):
            parts += self._beginnings(probe, places, {hit.start: hit.end for hit in hits}, index)
        return parts

    def _end(self, probe: _Probe, start: int, stop: int, index: Truncations) -> _Hit | None:
        """What is left from ``start`` on, and before ``stop``, of a value whose beginning was cut off; the longest."""
        for end in reversed(index.ends(probe.folded, start, stop)):
            if part := self._part(probe, start, end, index.ended(probe.folded[start:end])):
                return part
        return None

    def _beginnings(
        self, probe: _Probe, places: Sequence[int], whole: Mapping[int, int], index: Truncations
    ) -> Iterator[_Hit]:
        """Values whose end was cut off, the longest at each place; ``whole`` are the ends of values by their starts."""
        folded = probe.folded
        last, close, done = ending(folded), -1, 0
        for at in places:
            if at in whole and last - at >= LONGEST:
                continue  # in the middle of a text, the value that stands there is enough
            close = closing(folded, at) if close < at else close
            for edge in (last, close) if close < last else (last,):
                written = folded[at:edge].rstrip() if at >= done and edge - at < LONGEST else ""
                end = at + len(written)
                if end > whole.get(at, at) and (part := self._part(probe, at, end, index.begun(written))):
                    done = end
                    yield part

    def _part(self, probe: _Probe, start: int, end: int, texts: Iterable[str]) -> _Hit | None:
        """What a cut left of one of ``texts`` at [start, end), its beginning or its end."""
        if probe.folded[start:end] in self._reserved or not probe.exists(start, end):
            return None
        written = probe.original(start, end)
        for text in texts:
            exact = self._exact.get(text, ()) if text.startswith(written) or text.endswith(written) else ()
            long = (known for _, known in self._long.get(text, ()))
            for known in (*self._folded.get(text, ()), *exact, *long):
                if _counts_truncated(known, probe, start, end):
                    return _Hit(start, end, known, whole=False)
        return None

    def _longest(self, probe: _Probe, at: int) -> _Hit | None:
        """The longest value at ``at``, in positions of the folded text."""
        folded = probe.folded
        best: _Hit | None = None
        for value, known in self._long.get(folded[at : at + _LONG], ()) if self._long else ():
            if not _belongs(known, probe):
                continue
            length = _agreement(folded, at, value)
            if (best is None or length > best.end - at) and probe.exists(at, at + length):
                best = _Hit(at, at + length, known, whole=length == len(value))
        if best is not None:
            return best
        for depth in self._depths:
            for length in self._lengths.get(folded[at : at + depth], ()):
                end = at + length
                if not probe.exists(at, end):
                    continue
                piece = folded[at:end]
                if known_here := self._known(probe, at, end, piece, probe.original(at, end)):
                    best = _Hit(at, end, known_here)
                    return best if piece not in self._openers else self._broken(probe, at, end) or best
        return self._broken(probe, at, at) if self._openers else None

    def _broken(self, probe: _Probe, at: int, beyond: int) -> _Hit | None:
        """A value of several words at ``at``, parted by more than blanks, that ends ``beyond`` a place."""
        folded = probe.folded
        first = _gap(folded, at, at + _LONG)
        if first < 0 or folded[at:first] not in self._openers:
            return None
        gaps = [gap.span() for gap in WIDE.finditer(folded, first, at + _BROKEN)]
        joined, ends = _joined(folded, at, gaps)
        for depth in self._depths:
            for length in self._lengths.get(joined[:depth], ()):
                if length > len(joined) or (end := ends[length]) <= beyond or not probe.exists(at, end):
                    continue
                if known := self._known(probe, at, end, joined[:length], unbroken(probe.original(at, end))):
                    return _Hit(at, end, known)
        return None

    def _known(self, probe: _Probe, start: int, end: int, piece: str, written: str) -> Known | None:
        """The value at [start, end), which says ``piece`` in folded case and ``written`` as it is."""
        if piece in self._reserved:
            return None
        for values, text in ((self._folded, piece), (self._exact, written)):
            for known in values.get(text, ()):
                if _counts(known, probe, start, end):
                    return known
        return None


class _Probe(Struct, frozen=True):
    """A text and its case-folded form; ``offsets`` lead back where folding changed lengths, -1 inside a character."""

    text: str
    folded: str
    offsets: list[int] | None
    origin: str

    def original(self, start: int, end: int) -> str:
        return self.text[start:end] if self.offsets is None else self.text[self.offsets[start] : self.offsets[end]]

    def located(self, hit: _Hit) -> _Hit:
        """``hit`` with its place in the text."""
        if self.offsets is None:
            return hit
        return hit._replace(start=self.offsets[hit.start], end=self.offsets[hit.end])

    def exists(self, start: int, end: int) -> bool:
        """Whether [start, end) lies within the text and begins and ends with whole characters."""
        if end > len(self.folded):
            return False
        return self.offsets is None or (self.offsets[start] >= 0 and self.offsets[end] >= 0)


def _openers(text: str) -> Iterator[str]:
    """What a value of several words begins with, up to each blank in it."""
    return (text[: blank.start()] for blank in _BLANK.finditer(text))


_BLANK = lazy(" ")


def _gap(text: str, at: int, last: int) -> int:
    """Where the first gap from ``at`` on begins that is more than a blank, -1 for none; quick."""
    found = [place for sign in ("\n", "\t", "  ") if (place := text.find(sign, at, last)) >= 0]
    return at + len(text[at : min(found)].rstrip(" \t\r\\")) if found else -1


#: How more than a blank between two words begins: too short a word is looked for with it.
_GAPS = tuple(
    gap + lead
    for gap in ("\n", "\r\n", "\t", "  ", " \n", " \r\n", "\\\n", " \\\n")
    for lead in ("", " ", "\t", *">|#/*-;")
)


def _beginnings(opener: str, text: str) -> Iterator[str]:
    """How a value may begin whose first word is short, or all of it."""
    yield text
    rest = text[len(opener) + 1 :]
    if rest:
        yield from (opener + gap + rest for gap in _GAPS)


def _joined(text: str, at: int, gaps: Sequence[Range]) -> tuple[str, list[int]]:
    """What follows ``at`` with one blank for each of ``gaps``, and where each of its beginnings ends in ``text``."""
    pieces, ends, last = [], [at], at
    for start, stop in (*gaps, (min(at + _BROKEN, len(text)),) * 2):
        pieces.append(text[last:start])
        ends += range(last + 1, start + 1)
        if stop > start:
            pieces.append(" ")
            ends.append(stop)
        last = stop
    return "".join(pieces), ends


def _offsets(text: str) -> list[int]:
    offsets: list[int] = []
    for at, character in enumerate(text):
        offsets.append(at)
        offsets.extend([-1] * (len(character.casefold()) - 1))
    return [*offsets, len(text)]


def _merge(old: Known, new: Known) -> None:
    """Two finds of one value: the more certain one decides where it is looked for."""
    old.origins = None if old.origins is None or new.origins is None else old.origins | new.origins
    old.proof = old.proof.surer(new.proof)
    old.sensitive |= new.sensitive
    old.capitalised &= new.capitalised


def _start(hit: _Hit) -> int:
    return hit.start


def _belongs(known: Known, probe: _Probe) -> bool:
    """Whether the value is looked for in messages of this origin."""
    return known.origins is None or probe.origin in known.origins


def _counts(known: Known, probe: _Probe, start: int, end: int) -> bool:
    """Whether what stands at [start, end) is this value and no part of a longer word or number."""
    if known.capitalised and not probe.original(start, end)[0].isupper():
        return False
    return _belongs(known, probe) and _is_alone(known, probe.folded, start, end)


def _counts_truncated(known: Known, probe: _Probe, start: int, end: int) -> bool:
    """Whether what stands at [start, end) may be what a cut left of this value.

    Words alone have to be written as they are in it, or as names are: `a long` is no part of A Longo.
    """
    written = probe.original(start, end)
    alike = written in known.value or written.isupper() or written.istitle()
    if not (alike or "@" in written or any(map(str.isdigit, written))):
        return False
    return _belongs(known, probe) and _is_alone(known, probe.folded, start, end)


def _is_alone(known: Known, folded: str, start: int, end: int) -> bool:
    """Whether what stands at [start, end) is no part of a longer word or number."""
    before, after = folded[start - 1 : start], folded[end : end + 1]
    if glued(before, folded[start]) or glued(folded[end - 1], after):
        return False
    if known.proof is Proof.KEY and "_" in (before, after):
        return False  # `status_code` is a name, whatever stood under `status`
    if folded[start:end].isdigit():
        # 0.123456 holds no account number.
        return not (before == "." and folded[start - 2 : start - 1].isdigit()) and not (
            after == "." and folded[end + 1 : end + 2].isdigit()
        )
    return True


def _agreement(text: str, at: int, value: str) -> int:
    """How many characters of ``value`` stand at ``at``: doubling steps, then halving ones."""
    low, high = _LONG, len(value)
    while low < high:
        middle = min(low * 2, (low + high + 1) // 2)
        if text.startswith(value[low:middle], at + low):
            low = middle
        else:
            high = middle - 1
    return low


def _span(hit: _Hit, text: str) -> Span:
    known = hit.known
    written = text[hit.start : hit.end]
    if not hit.whole:
        return Span(hit.start, hit.end, known.category, written, "", proof=Proof.PART, sensitive=known.sensitive)
    plain = known.encoding is Encoding.PLAIN
    return Span(
        hit.start,
        hit.end,
        known.category,
        written if plain else known.value,
        known.canonical,
        known.encoding,
        # What limits a value limits its further spellings too.
        known.proof if known.proof in (Proof.KEY, Proof.NAME) else Proof.KNOWN,
        sensitive=known.sensitive,
    )
