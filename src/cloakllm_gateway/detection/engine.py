"""The detector: from texts to disjoint spans, the deterministic categories only.

One call looks at all texts of a message at once:

1. every text is read in every way it may be encoded (:mod:`.folding`), and
   all readings, joined, pass the gate (:mod:`.reading`);
2. keys prove values: object keys around a text, and the structure inside it
   (:mod:`.structure`);
3. the truth of each pattern runs where the gate let it (:mod:`.gate`), that of
   names only outside of what a key proved to be something surer;
4. the deny list and the patterns of the configuration run on the linear
   engine alone (:mod:`.custom`);
5. finds are mapped back to the original text and merged to a disjoint set
   (:mod:`.merging`);
6. parts of the names among them are looked for in all texts (:mod:`.name_again`).

Time is linear in the length of the texts.  Nothing is skipped: a budget that
is reached raises.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

import re2
from msgspec.structs import replace

from cloakllm_gateway import linear
from cloakllm_gateway.detection import folding, formats, keys
from cloakllm_gateway.detection.allow_list import AllowList
from cloakllm_gateway.detection.automata import Sought
from cloakllm_gateway.detection.catalogue import CATALOGUE, TERM, Category, Pattern
from cloakllm_gateway.detection.catalogue.national import national_phone
from cloakllm_gateway.detection.compounds import Compounds
from cloakllm_gateway.detection.custom import Custom
from cloakllm_gateway.detection.gate import SEPARATOR, Gate, Judge, Named, Signs, compiled
from cloakllm_gateway.detection.merging import Claim, Find, settled, unescaped, unwrapped
from cloakllm_gateway.detection.name_again import told_again
from cloakllm_gateway.detection.reading import Reading, Segment, behind, read
from cloakllm_gateway.detection.settings import Settings
from cloakllm_gateway.detection.speaking import words_before
from cloakllm_gateway.detection.structure import Proved, Structure, Telling, is_telling
from cloakllm_gateway.detection.view import View
from cloakllm_gateway.errors import DetectionError
from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.spans import Encoding, Findings, Proof, Range, Ranges, Span, Text


class Detector:
    """Finds personal data in texts.  Built once from its settings; holds no state of the texts it saw."""

    def __init__(self, settings: Settings = Settings()) -> None:  # noqa: B008 (frozen)
        self.settings = settings
        self._allowed = AllowList(settings.allow_list)
        self.categories = {name: category for name, category in CATALOGUE.items() if name not in settings.off}
        self._rows = [
            (category, pattern)
            for category in self.categories.values()
            for pattern in category.patterns
            if settings.regions or not pattern.regional
        ]
        self._gate = Gate(
            [pattern.regex for _, pattern in self._rows], _signs, [category.name for category, _ in self._rows]
        )
        self._structure = Structure(self.categories)
        self._custom = Custom(settings)
        self._reads_all = bool(self._custom)

    def find(self, texts: Sequence[Text]) -> Sequence[Sequence[Span]]:
        """For each text its spans, as of :meth:`look`."""
        return self.look(texts).spans

    def look(self, texts: Sequence[Text]) -> Findings:
        """What is in the texts, on the original text each.

        Raises :class:`DetectionError` if a text is too long or encoded too deeply.
        """
        longest = self.settings.max_input_length
        if longest is not None and any(len(text.text) > longest for text in texts):
            raise DetectionError(f"A text is longer than max_input_length ({longest})")
        # The readings are gone before there are spans: a long text with many values is short of memory.
        found, encoded = self._finds(texts)
        if not any(found):
            return Findings([[]] * len(found), encoded)
        spans = [
            settled(finds, text.text, self._allowed) if finds else [] for finds, text in zip(found, texts, strict=True)
        ]
        for of_one, text in zip(spans, texts, strict=True):
            if of_one and not 0 <= of_one[0].start < of_one[-1].end <= len(text.text):
                raise DetectionError("A find has no place in its text", "This is a fault of the gateway: report it.")
        return Findings(told_again(spans, texts, self._allowed), encoded)

    def _finds(self, texts: Sequence[Text]) -> tuple[list[list[Find]], frozenset[int]]:
        """For each text what was found in it, overlapping and in no order; and which texts are encoded."""
        spoken, leads = _behind_keys(texts)
        reading = read(spoken, self._gate, always=self._reads_all)
        if leads:
            reading = reading._replace(segments=behind(reading.segments, leads))
        found: list[list[Find]] = [[] for _ in texts]
        if reading.segments:
            self._find_inside(spoken, reading, found)
            for index, lead in enumerate(leads):
                if lead and found[index]:
                    found[index] = [_back(find, lead) for find in found[index]]
        for index, find in self._structure.around(texts):
            found[index].append(find if find[2].value is None else _decoded(texts[index].text, find, find[2].value))
        return found, reading.encoded

    def _find_inside(self, texts: Sequence[Text], reading: Reading, found: list[list[Find]]) -> None:
        """Add to ``found`` what the texts say by themselves."""
        keyed: dict[int, list[Find]] = {}
        runs: Runs = {}
        for segment, telling in _told(reading):
            proved = self._structure.inside(segment.string(), telling)
            keyed.setdefault(segment.text, []).extend(_keyed(texts, segment, proved, runs))
        is_simple = len(texts) == 1 and len(reading.segments) == 1
        for category, pattern, places in self._matches(reading, keyed.get(0, ()) if is_simple else ()):
            claim = Claim(category, pattern.rank, _KEY if pattern.keyed else _SHAPE)
            for segment, own in reading.placed(places):
                if texts[segment.text].names or not pattern.prose:
                    found[segment.text] += (
                        [(start, end - start, claim) for start, end in own]
                        if segment.is_verbatim
                        else filter(None, [_find(texts, segment, start, end, claim, runs) for start, end in own])
                    )
        for index, finds in keyed.items():
            found[index] += finds
        if "escape" in reading.seen.signs:
            found[:] = [unescaped(finds, text.text) for finds, text in zip(found, texts, strict=True)]
        if "wrapped" in reading.seen.signs:
            found[:] = [unwrapped(finds, text.text) for finds, text in zip(found, texts, strict=True)]
        for segment in reading.segments if self._custom else ():
            for start, end, name, rank in self._custom.find(segment.string()):
                start, end = start + segment.first, end + segment.first
                if segment.is_new(start, end):
                    claim = Claim(_configured(name), rank, Proof.TERM)
                    if find := _find(texts, segment, start, end, claim, runs):
                        found[segment.text].append(find)

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
            if not self._allowed.holds(category.name, category.canonical(example.value), example.value)
        ]
        examples += [
            (name, example)
            for name, example in self._custom.examples
            if not self._allowed.holds(name, _configured(name).canonical(example.value), example.value)
        ]
        found = self.find([Text(example.text) for _, example in examples])
        for (name, example), spans in zip(examples, found, strict=True):
            start = example.text.index(example.value)
            hidden = [False] * len(example.value)
            for span in spans:
                for at in range(max(span.start, start), min(span.end, start + len(example.value))):
                    hidden[at - start] = True
            if not all(hide or not char.isalnum() for hide, char in zip(hidden, example.value, strict=True)):
                raise DetectionError(f"An example of category {name} was not found", "Detection is not to be trusted")

    # -- patterns --------------------------------------------------------------------------------

    def _matches(
        self, reading: Reading, keyed: Sequence[Find]
    ) -> Iterator[tuple[Category, Pattern, list[tuple[int, int, int]]]]:
        """What the truths find where the gate let them run, by pattern; see :meth:`.gate.Truth.values`.

        No name is looked for in what a key proves to be something else, and hardly anything in what is compound.
        """
        due = reading.seen.due
        if not due:
            return
        buffer, ends = reading.buffer, reading.ends()
        for_ascii = buffer.isascii()
        keyed = keyed if not self.settings.allow_list else ()
        compounds = Compounds(buffer, reading.screen, keyed)
        for index, ranges in due.items():
            category, pattern = self._rows[index]
            truth = compiled(pattern.regex, for_ascii)
            judge = self._judge(pattern, buffer, ends)
            if category.name in keys.SECRETS:
                judge = _whole(buffer, judge)
            if keyed and pattern.prose:
                judge = _outside(_surer(keyed, category, pattern.rank), judge)
            if places := compounds.values(category, pattern, truth, ranges, judge):
                yield category, pattern, places

    def _judge(self, pattern: Pattern, buffer: str, ends: Sequence[int]) -> Judge:
        """Says of the matches of a pattern in the buffer how much of them is proved."""
        judge: Judge
        if (extent := pattern.extent) is not None:

            def judge(start: int, end: int) -> int:
                found = extent(buffer, start, end, ends[bisect_left(ends, end)])
                return max(found - start, 0) if found > 0 else found

        elif pattern.regional:
            regions, last = self.settings.regions, -1

            def judge(start: int, end: int) -> int:
                nonlocal last
                size = national_phone(buffer, start, end, regions, last)
                last = start + size if size else last
                return size

        elif (proof := pattern.proof) is not None:
            known: dict[str, int] = {}  # columns and logs repeat their values

            def judge(start: int, end: int) -> int:
                text = buffer[start:end]
                size = known.get(text)
                if size is None:
                    if len(known) >= _REMEMBERED:
                        known.clear()
                    size = known[text] = proof(text)
                return size

        else:

            def judge(start: int, end: int) -> int:
                return end - start

        return _beside(pattern.near, buffer, judge) if pattern.near else judge


def _configured(name: str) -> Category:
    """The category of a pattern of the configuration: one of the catalogue, or of its own and exact."""
    return CATALOGUE.get(name) or TERM._replace(name=name, canonical=str)


def _signs() -> Signs:
    """What else the gate looks for: all that may be encoded, and keys that may prove a value."""
    plain: Named = {name: Sought(sign, simpler=folding.SIMPLER.get(name, "")) for name, sign in folding.SIGNS.items()}
    plain |= _looked_for_again({**keys.signs(), "format": formats.SIGN})
    return Signs(plain, _looked_for_again(keys.joined_signs()), keys.LEFT_OUT)


def _looked_for_again(signs: Mapping[str, str]) -> Named:
    return {name: Sought(sign, is_looked_for_again=True) for name, sign in signs.items()}


#: Without one of them a text has neither a key nor rows below a header: a quote follows what a column is like.
_MARK = lazy(r"[:=>：(\n\['\"]")


def _told(reading: Reading) -> Iterator[tuple[Segment, Telling]]:
    """Everything that may have structure, the readings and each string literal by itself, and where it may be."""
    heard: set[View] = set()  # whose literals were read
    is_telling_somewhere = not reading.seen.signs.keys().isdisjoint(Telling._fields)
    for segment in reading.segments if is_telling_somewhere or not reading.buffer.isascii() else ():
        is_ascii = segment.view.text.isascii()
        if not is_telling_somewhere and is_ascii:
            continue
        if segment.deeper is None and not _MARK.search(segment.view.text, segment.first, segment.last):
            continue  # what was seen is the key before it, or in another text
        telling = Telling(*(reading.parts(segment, sign) for sign in Telling._fields))
        if any(telling) or not is_ascii:
            yield segment, telling
        if segment.deeper is not None and segment.view not in heard:
            heard.add(segment.view)
            for said in folding.literals(segment.view, segment.deeper, is_telling):
                everywhere = [(0, len(said.text))]
                own = Segment(segment.text, segment.start, said, None, 0, len(said.text))
                yield own, Telling(*[everywhere] * len(Telling._fields))


#: How many candidates a proof remembers within one message.
_REMEMBERED = 1_000


def _beside(words: str, buffer: str, judge: Judge) -> Judge:
    """The judge of values that count only where one of the words stands within reach, in the same text."""
    search = _words(words)

    def judge_beside(start: int, end: int) -> int:
        size = judge(start, end)
        if size <= 0:
            return size
        end = start + size
        before = buffer[max(start - 60, 0) : start].rpartition(SEPARATOR)[2]
        after = buffer[end : end + 30].partition(SEPARATOR)[0]
        around = f"{before}\n{after}".encode("utf-8", "replace")
        return size if search(around, 0, len(around))[0][0] >= 0 else 0

    return judge_beside


def _whole(buffer: str, judge: Judge) -> Judge:
    """The judge of values that end with their word: a secret that is longer than foreseen is one to its end."""

    def judge_whole(start: int, end: int) -> int:
        size = judge(start, end)
        if size <= 0 or (rest := _REST_OF_WORD.match(buffer, start + size)) is None:
            return size
        return rest.end() - start

    return judge_whole


_REST_OF_WORD = lazy(r"(?<=[A-Za-z0-9])[A-Za-z0-9]+")


def _surer(keyed: Sequence[Find], category: Category, rank: int) -> list[Range]:
    """Where keys prove what wins over a find of a category and rank in it, as if there were none."""
    surer = {
        claim
        for claim in {claim for _, _, claim in keyed}
        if claim.rank > rank and claim.category is not category and claim.category.sensitive >= category.sensitive
    }
    return [(start, start + size) for start, size, claim in keyed if claim in surer] if surer else []


def _outside(ranges: Sequence[Range], judge: Judge) -> Judge:
    """The judge of values that are no part of any of the ranges."""
    if not ranges:
        return judge
    around = Ranges(ranges).around

    def judge_outside(start: int, end: int) -> int:
        return judge(start, end) if around(start, end) is None else -end

    return judge_outside


@cache
def _words(words: str) -> linear.Search:
    return linear.search(re2.compile(f"(?i){words}".encode()))


# -- keys before texts ----------------------------------------------------------------------------

#: A text that is longer, has more lines or is a document itself says what it holds.
_LONGEST_SPOKEN = 1_024


def _behind_keys(texts: Sequence[Text]) -> tuple[Sequence[Text], Sequence[int]]:
    """The texts as patterns should see them, the words of their keys before them, and how long those are."""
    words = [words_before(text.key, text.parent) if text.key else "" for text in texts]
    if not any(words):
        return texts, ()
    spoken = [
        Text(before + text.text, names=text.names) if before and _is_value(text.text) else text
        for text, before in zip(texts, words, strict=True)
    ]
    return spoken, [len(after.text) - len(text.text) for after, text in zip(spoken, texts, strict=True)]


def _is_value(text: str) -> bool:
    return 0 < len(text) <= _LONGEST_SPOKEN and "\n" not in text and text[0] not in "{["


def _back(find: Find, lead: int) -> Find:
    """A find in a text behind its key, as one in the text alone."""
    start, size, claim = find
    if (span := claim.span) is not None:
        claim = replace(claim, span=replace(span, start=span.start - lead, end=span.end - lead))
    return start - lead, size, claim


# -- spans ----------------------------------------------------------------------------------------

#: Looked up once: a member of an enumeration costs more than all else about a span.
_SHAPE, _KEY, _PLAIN = Proof.SHAPE, Proof.KEY, Encoding.PLAIN


#: What was found in runs that are hidden whole, by text, place, category, rank and proof.
Runs = dict[tuple[int, int, int, str, int, Proof], Find]


def _find(
    texts: Sequence[Text],
    segment: Segment,
    start: int,
    end: int,
    claim: Claim,
    runs: Runs,
) -> Find | None:
    """A find of a reading, by its place in the original text; None for a few characters of one escape.

    Where the encoding changed nothing, the spelling is plain: a value that
    reads the same in both needs no special placing.  A run that is hidden
    whole is read once, however many values it holds.
    """
    if segment.is_plain(start, end):
        return start, end - start, claim
    category, rank, proof = claim.category, claim.rank, claim.proof
    view, text = segment.view, texts[segment.text].text
    if segment.deeper is not None:
        start, end = segment.deeper.snap(start, end)
        if start >= end:
            return None
    within = view, start, end
    view, start, end = view.around(start, end)
    first, last = view.original(start, end)
    if not (start < end and 0 <= first < last <= len(text)):
        raise DetectionError(f"A find of category {category.name} has no place in the original text")
    run = (segment.text, first, last, category.name, rank, proof) if within != (view, start, end) else None
    if run is not None and run in runs:
        return runs[run]
    value = view.text[start:end]
    if text[first:last] == value:
        return first, last - first, claim
    encoding = view.encoding_of(start, end)
    encoding = Encoding.FOLDED if encoding is _PLAIN else encoding
    canonical = category.canonical(value)
    span = Span(first, last, category.name, value, canonical, encoding, proof, rank, category.sensitive)
    find = first, last - first, replace(claim, span=span)
    if run is not None:
        runs[run] = find
    return find


def _keyed(texts: Sequence[Text], segment: Segment, proved: Sequence[Proved], runs: Runs) -> Sequence[Find]:
    """What keys prove in a reading, by its place in the original text."""
    if not segment.first and segment.is_verbatim and all(claim.value is None for _, _, claim in proved):
        return proved  # there may be millions: the same ones
    by = segment.first
    finds = []
    for start, size, claim in proved:
        start += by
        if segment.is_new(start, start + size) and (find := _find(texts, segment, start, start + size, claim, runs)):
            finds.append(
                find if claim.value is None or _is_run(find) else _decoded(texts[segment.text].text, find, claim.value)
            )
    return finds


def _is_run(find: Find) -> bool:
    """Whether a find is a run that is hidden whole: it says more than the value in it."""
    return find[2].span is not None and find[2].span.encoding in (Encoding.BASE64, Encoding.HEX)


def _decoded(text: str, find: Find, value: str) -> Find:
    """The find of a value of a text that is written with escapes of its own, or with an exponent."""
    start, size, claim = find
    category = claim.category
    written = text[start : start + size] if claim.span is None else claim.span.value
    if "\\" in written or "%" in written:
        encoding = Encoding.JSON if "\\" in written else Encoding.URL
    else:
        said = folding.views(written)[-1]
        encoding = said.encoding_of(0, len(said.text))
    canonical = category.canonical(value)
    span = Span(
        start, start + size, category.name, value, canonical, encoding, claim.proof, claim.rank, category.sensitive
    )
    return start, size, replace(claim, span=span)
