"""Structure as proof: a field called ``email`` holds an address, whatever it looks like otherwise.

A key proves a value only if the value has a plausible shape of its category:
``{"email": "a@b.co", "name": "inputSchema"}`` hides one of the two.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import chain
from typing import NamedTuple

from msgspec.structs import replace

from cloakllm_gateway import linear
from cloakllm_gateway.detection import columns, documents, fields, formats, hypertext, sql
from cloakllm_gateway.detection.catalogue import Category
from cloakllm_gateway.detection.catalogue.checks import iban
from cloakllm_gateway.detection.catalogue.people import capitalised_name
from cloakllm_gateway.detection.catalogue.places import sentence_of
from cloakllm_gateway.detection.catalogue.randomness import is_random
from cloakllm_gateway.detection.fields import Field
from cloakllm_gateway.detection.judging import (
    credential,
    is_ambiguous,
    is_other,
    is_remark,
    kind_of,
    remark_behind,
    says_who,
)
from cloakllm_gateway.detection.keys import (
    NAME,
    NUMBER,
    PERSONAL,
    SECRETS,
    TELLING,
    Parts,
    classify,
    heads,
    name_places,
    normalise,
    places,
)
from cloakllm_gateway.detection.kinds import Kind
from cloakllm_gateway.detection.lines import dumps, headers, lines, variables
from cloakllm_gateway.detection.merging import JSON_TEXT, Claim, Find
from cloakllm_gateway.detection.speaking import is_label, is_paired, is_type, is_typed, named, said
from cloakllm_gateway.detection.tables import Words, tables
from cloakllm_gateway.detection.writing import (
    MAY_SAY,
    NO_PASSWORD_ENDS,
    SENTENCE_ENDS,
    decoded,
    is_in_form,
    readings,
    spaced,
    trimmed,
    without_fraction,
)
from cloakllm_gateway.spans import Text, whole_number

#: A value that a key proves; its claim has the decoded value if it is written with escapes.
Proved = Find


class Telling(NamedTuple):
    """In which parts of a text there may be ends of keys, heads of columns, pairs, lists in a list, other formats."""

    mark: Parts
    head: Parts
    pair: Parts
    lists: Parts
    format: Parts


class Structure:
    """Key proofs for the enabled categories."""

    def __init__(self, categories: Mapping[str, Category]) -> None:
        self._kinds = {name: Kind(category) for name, category in categories.items()}

    def inside(self, text: str, telling: Telling) -> list[Proved]:
        """Values that fields of the text prove."""
        screen = linear.as_bytes(text)
        marks, tops = places(text, screen, telling.mark), heads(text, screen, telling.head) if "\n" in text else []
        if at_line_ends := [at for at in marks if text.startswith((":\n", ":\r"), at)]:
            tops = sorted({*tops, *at_line_ends})  # a label of a form may have a colon
        blocks = list(_blocks(text, screen)) if marks or telling.pair else []
        others = list(formats.tables(text, screen)) if telling.format else ()
        del screen  # a long text with many values is short of memory below
        found: list[Proved] = []
        rows = [at for at in marks if text[at] not in _FIELD_MARKS]
        cells = hypertext.tables(text, classify) if marks and "<" in text else ()
        lists = fields.lists(text) if telling.lists else ()
        for table in chain(tables(text, tops, _WORDS), sql.statements(text, rows), cells, lists, others):
            for some in columns.proved(text, table, self._kinds):
                found += some
        for start, stop in blocks:
            own = _between(marks, start, stop)
            if own or telling.pair:
                block = text[start:stop]
                also = name_places(linear.as_bytes(block)) if own else ()
                keyed = list(_fields(block, sorted({*own, *also})))
                if telling.pair:
                    keyed += (("braces", field, classify(field.key)) for field in fields.pairs(block))
                proved = self._fields(block, keyed)
                found += map(partial(_moved, start), proved) if start else proved
        return found

    def _fields(self, text: str, found: Sequence[tuple[str, Field, str]]) -> Iterator[Proved]:
        """The values of fields whose keys mean something, and then the names in records about somebody."""
        found = [
            (reader, field, kind_of(kind, field.key, text[field.start : field.end])) for reader, field, kind in found
        ]
        named = [(reader, field) for reader, field, kind in found if kind == NAME]
        about_somebody: set[tuple[str, int]] = set()
        for reader, field, kind in found:
            if kind in ("", NAME):
                continue
            start, end = self._place(text, field, kind, reader)
            raw = text[start:end]
            value = decoded(raw, reader)
            fits = self._fits(kind, value)
            if not fits and kind in PERSONAL and is_in_form(text, field, reader):
                value = raw  # hidden as it is written
                fits = self._fits(kind, spaced(raw))
            if named and says_who(kind, value) and (fits or (value is not raw and self._fits(kind, raw))):
                about_somebody.add((reader, field.record))
            if fits and not is_other(kind, text, field, reader, end, value):
                yield start, end - start, self._claim(kind, raw, value)
        for reader, field in named:
            if (reader, field.record) in about_somebody:
                start, end = trimmed(text, field)
                raw = text[start:end]
                value = decoded(raw, reader)
                if value is raw and MAY_SAY.search(raw):
                    value = next(filter(capitalised_name, readings(raw)), raw)
                name = spaced(value) if is_in_form(text, field, reader) else value
                if (
                    capitalised_name(name)
                    and self._fits("PERSON", name)
                    and not is_other("PERSON", text, field, reader, end, value)
                ):
                    yield start, end - start, self._claim("PERSON", raw, value)

    def _place(self, text: str, field: Field, kind: str, reader: str) -> tuple[int, int]:
        """Where the value of a field stands, less what its line says beside it."""
        start, end = trimmed(text, field, SENTENCE_ENDS if kind not in SECRETS else NO_PASSWORD_ENDS)
        if kind in SECRETS:
            start = end - len(credential(text[start:end]))
            end -= remark_behind(text, start, end, reader)
        elif kind == "IBAN":
            end = start + (iban(text[start:end]) or end - start)
        elif kind == "ADDRESS" and reader == "lines":
            size = sentence_of(text[start:end])
            if self._fits(kind, text[start : start + size]):
                end = start + size
        return start, end

    def _claim(self, kind: str, raw: str, value: str) -> Claim:
        claim = self._kinds[kind].claim
        return claim if value == raw else replace(claim, value=value)

    def around(self, texts: Sequence[Text]) -> Iterator[tuple[int, Proved]]:
        """Values that the keys of the texts prove, each with the index of its text."""
        found = _said_of(texts)
        if not found:
            return
        persons = {
            record
            for i, _, kind, record in found
            if record >= 0 and says_who(kind, texts[i].text) and self._fits(kind, whole_number(texts[i].text.strip()))
        }
        for i, key, kind, record in found:
            text = texts[i].text
            value = text.strip()
            if kind == NAME:
                if record not in persons or not capitalised_name(value):
                    continue
                kind = "PERSON"
            elif kind in SECRETS:
                value = credential(value)
                if is_remark(value) or (is_ambiguous(key) and not is_random(value)):
                    continue
            start = len(text.rstrip()) - len(value)
            size = without_fraction(value, 0, len(value))
            if self._fits(kind, said := whole_number(value)):
                yield i, (start, size, self._claim(kind, value[:size], said))

    def _fits(self, kind: str, value: str) -> bool:
        known = self._kinds.get(kind)
        return known is not None and known.fits(value)


def _said_of(texts: Sequence[Text]) -> list[tuple[int, str, str, int]]:
    """Texts whose keys mean something: which, by which key, what that proves, and the record that it is a field of."""
    found: list[tuple[int, str, str, int]] = []
    pairs: list[int] = []
    for i, text in enumerate(texts):
        if text.key:
            key, kind, is_around = said(text.key, text.parent)
            if kind:
                found.append((i, key, kind_of(kind, key, text.text), text.above if is_around else text.record))
            if text.record >= 0 and (is_paired(text.key) if not kind else kind == NUMBER and is_typed(text.key)):
                pairs.append(i)
    return [*found, *_paired(texts, pairs)] if pairs else found


def _paired(texts: Sequence[Text], values: Iterable[int]) -> Iterator[tuple[int, str, str, int]]:
    """Values of pairs whose keys mean something: which text, its key, what that proves, the record of all pairs."""
    records = {texts[i].record for i in values}
    labels: dict[int, str] = {}
    types: dict[int, str] = {}
    for text in texts:
        if text.record in records and (is_label(text.key) or is_type(text.key)) and classify(label := named(text.text)):
            for of_kind, said_by in ((is_label, labels), (is_type, types)):
                if of_kind(text.key):
                    said_by.setdefault(text.record, label)
    for i in values:
        if label := (types if is_typed(texts[i].key) else labels).get(texts[i].record, ""):
            yield i, label, classify(label), texts[i].above


def is_telling(text: str) -> bool:
    """Whether fields of a text may prove anything."""
    screen, everywhere = linear.as_bytes(text), [(0, len(text))]
    return bool(
        places(text, screen, everywhere)
        or ("\n" in text and heads(text, screen, everywhere))
        or documents.may_tell(text)
        or formats.may_tell(text)
    )


#: A block ends at the first empty line behind so many code points: most blocks of a long text mention no key.
_BLOCK = 2_048


@cache
def _empty_line() -> linear.Search:
    """There may be none in all of a long text."""
    return linear.compiled(r"\n[ \t\r]*\n")


def _blocks(text: str, screen: bytes) -> Iterator[tuple[int, int]]:
    """The parts of a text that structure does not reach across: JSON is one part, other text ends at empty lines."""
    if len(text) <= 2 * _BLOCK or JSON_TEXT.match(text):
        yield 0, len(text)
        return
    search, start, size = _empty_line(), 0, len(text)
    while start < size:
        found = search(screen, start + _BLOCK, size)[0][1] if start + _BLOCK < size else -1
        stop = found if found > 0 else size
        yield start, stop
        start = stop


def _moved(by: int, proved: Proved) -> Proved:
    start, size, claim = proved
    return start + by, size, claim


def _between(places: Sequence[int], start: int, stop: int) -> list[int]:
    """Those of some places in order that lie in a block, from the start of the block."""
    return [at - start for at in places[bisect_left(places, start) : bisect_left(places, stop)]]


def _fields(text: str, marks: Sequence[int]) -> Iterator[tuple[str, Field, str]]:
    """The fields of every reader whose key means something, and what."""
    seen = {text[at] for at in marks}
    for name, (signs, reader) in _READERS.items():
        if not seen.isdisjoint(signs):
            own = marks if seen.issubset(signs) else [at for at in marks if text[at] in signs]
            for field in reader(text, own):
                if kind := classify(field.key):
                    yield name, field, kind


#: Each with the marks that it reads.
_READERS: dict[str, tuple[str, Callable[[str, Sequence[int]], Iterator[Field]]]] = {
    "braces": (":>{", fields.braces),
    "tuples": (",", fields.tuples),
    "alternating": (",", fields.alternating),
    "lines": (":：", lines),
    "headers": (":", headers),
    "glued": (":", fields.glued),
    "assignments": ("=", fields.assignments),
    "variables": ("=", variables),
    "elements": (">", fields.elements),
    "dumps": (":>", dumps),
    "conditions": ("'", sql.conditions),
    "labels": (":", fields.labels),
}


#: A mark that is none of them is in the first row behind ``VALUES``, which may begin with a quote as well.
_FIELD_MARKS = frozenset("".join(signs for signs, _ in _READERS.values())) - {"'", "{"}


def _is_personal(name: str) -> bool:
    kind = classify(name)
    return kind in PERSONAL or kind == NUMBER


def _is_telling(name: str) -> bool:
    return classify(name) in TELLING and _CONNECTING.isdisjoint(normalise(name))


#: Words of a name that is a phrase: ``Condition to pass`` is no secret.
_CONNECTING = frozenset("a the to for is if or and not by with must can".split())


def _is_named(name: str) -> bool:
    return classify(name) == NAME or _is_personal(name)


_WORDS = Words(classify, _is_personal, _is_telling, _is_named)
