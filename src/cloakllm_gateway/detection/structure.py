"""Structure as proof: a field called ``email`` holds an address, whatever it looks like otherwise.

A key proves a value only if the value has a plausible shape of its category:
``{"email": "a@b.co", "name": "inputSchema"}`` hides one of the two.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
from itertools import chain, islice

from msgspec.structs import replace

from cloakllm_gateway.detection import documents, fields, hypertext, linear, sql
from cloakllm_gateway.detection.catalogue import Category, checks
from cloakllm_gateway.detection.catalogue.people import capitalised_name
from cloakllm_gateway.detection.catalogue.places import sentence_of
from cloakllm_gateway.detection.catalogue.secrets import AMBIGUOUS, is_random
from cloakllm_gateway.detection.fields import Field
from cloakllm_gateway.detection.folding import views
from cloakllm_gateway.detection.judging import credential, is_remark, is_thing
from cloakllm_gateway.detection.keys import (
    NAME,
    NUMBER,
    PERSONAL,
    TELLING,
    Parts,
    classify,
    heads,
    name_places,
    normalise,
    places,
    without_remark,
)
from cloakllm_gateway.detection.lines import headers, lines
from cloakllm_gateway.detection.merging import JSON_TEXT, Claim, Find
from cloakllm_gateway.detection.speaking import is_label, is_paired, named, said
from cloakllm_gateway.detection.tables import Table, Words, tables
from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.spans import Proof, Text

_SECRETS = frozenset(("SECRET", "API_KEY"))
#: Categories whose keys are also names of variables.
_CODED = _SECRETS | {"USERNAME"}
#: Categories whose values may be something else after all, see :func:`_is_other`.
_JUDGED = _CODED | {"PERSON"}
#: A value that a key proves; its claim has the decoded value if it is written with escapes.
Proved = Find
_IDENTIFIER = lazy(r"[A-Za-z_][A-Za-z_.-]*", re.ASCII)


class Structure:
    """Key proofs for the enabled categories."""

    def __init__(self, categories: Mapping[str, Category]) -> None:
        self._kinds = {name: _Kind(category) for name, category in categories.items()}

    def inside(self, text: str, marked: Parts, headed: Parts, paired: Parts, listed: Parts) -> list[Proved]:
        """Values that fields of the text prove: keys, heads of columns, pairs and lists of lists are in these parts."""
        screen = text.encode("ascii", "replace")
        marks, tops = places(text, screen, marked), heads(text, screen, headed) if "\n" in text else []
        blocks = list(_blocks(text, screen)) if marks or paired else []
        del screen  # a long text with many values is short of memory below
        found: list[Proved] = []
        rows = [at for at in marks if text[at] not in _FIELD_MARKS]
        cells = hypertext.tables(text, classify) if marks and "<" in text else ()
        lists = fields.lists(text) if listed else ()
        for table in chain(tables(text, tops, _WORDS), sql.statements(text, rows), cells, lists):
            for some in self._table(text, table):
                found += some
        for start, stop in blocks:
            own = _between(marks, start, stop)
            if own or paired:
                block = text[start:stop]
                also = name_places(block.encode("ascii", "replace")) if own else ()
                keyed = list(_fields(block, sorted({*own, *also})))
                if paired:
                    keyed += (("braces", field, classify(field.key)) for field in fields.pairs(block))
                proved = self._fields(block, keyed)
                found += map(partial(_moved, start), proved) if start else proved
        return found

    def _fields(self, text: str, found: Sequence[tuple[str, Field, str]]) -> Iterator[Proved]:
        """The values of fields whose keys mean something, and then the names in records about somebody."""
        found = [
            (reader, field, NAME if kind == "PERSON" and is_thing(field.key, text[field.start : field.end]) else kind)
            for reader, field, kind in found
        ]
        named = [(reader, field) for reader, field, kind in found if kind == NAME]
        about_somebody: set[tuple[str, int]] = set()
        for reader, field, kind in found:
            if kind == NAME:
                continue
            start, end = _trimmed(text, field, _SENTENCE_ENDS if kind not in _SECRETS else _NO_PASSWORD_ENDS)
            if kind in _SECRETS:
                start = end - len(credential(text[start:end]))
                end -= _remark_behind(text, start, end, reader)
            raw = text[start:end]
            if kind == "ADDRESS" and reader == "lines" and self._fits(kind, whole := raw[: sentence_of(raw)]):
                raw, end = whole, start + len(whole)
            value = _decoded(raw, reader)
            fits = self._fits(kind, value)
            if not fits and kind in PERSONAL and _is_in_form(text, field, reader):
                value = raw  # hidden as it is written
                fits = self._fits(kind, _spaced(raw))
            if named and kind in PERSONAL and (fits or (value is not raw and self._fits(kind, raw))):
                about_somebody.add((reader, field.record))
            if fits and not (kind in _JUDGED and _is_other(kind, text, field, reader, end, value)):
                yield start, end - start, self._claim(kind, raw, value)
        for reader, field in named:
            if (reader, field.record) in about_somebody:
                start, end = _trimmed(text, field)
                raw = text[start:end]
                value = _decoded(raw, reader)
                if value is raw and _MAY_SAY.search(raw):
                    value = next(filter(capitalised_name, _readings(raw)), raw)
                said = _spaced(value) if _is_in_form(text, field, reader) else value
                if (
                    capitalised_name(said)
                    and self._fits("PERSON", said)
                    and not _is_other("PERSON", text, field, reader, end, value)
                ):
                    yield start, end - start, self._claim("PERSON", raw, value)

    def _claim(self, kind: str, raw: str, value: str) -> Claim:
        claim = self._kinds[kind].claim
        return claim if value == raw else replace(claim, value=value)

    def _table(self, text: str, table: Table) -> Iterator[list[Proved]]:
        """The cells of a table that their column proves, and the names in rows about somebody; some rows at a time."""
        proving: list[_Column] = []
        naming: list[_Column] = []
        for i, key in enumerate(table.keys):
            kind = classify(key)
            if kind == NAME:
                self._add(naming, i, "PERSON", False, capitalised_name)
            elif kind == NUMBER:
                self._add(proving, i, "CREDIT_CARD", False, checks.card)
            else:
                self._add(proving, i, kind, kind in PERSONAL, _cell_test(kind, key, table.is_certain))
        rows = iter(table.rows)
        while some := list(islice(rows, _ROWS)):
            cells = list(zip(*some, strict=True))
            for column in proving:
                yield column.proved(text, cells[column.at])
            if naming and (about_somebody := _about_somebody(text, cells, proving)):
                for column in naming:
                    yield column.proved(text, [cells[column.at][row] for row in about_somebody])

    def _add(
        self, columns: list[_Column], index: int, kind: str, is_personal: bool, test: Callable[[str], bool] | None
    ) -> None:
        """Add a column of a table whose cells have to fit a kind and pass a test, if the kind is looked for."""
        if (known := self._kinds.get(kind)) is not None:
            columns.append(_Column(index, known, is_personal, test))

    def around(self, texts: Sequence[Text]) -> Iterator[tuple[int, Proved]]:
        """Values that the keys of the texts prove, each with the index of its text."""
        found = _said_of(texts)
        if not found:
            return
        persons = {
            record
            for i, _, kind, record in found
            if kind in PERSONAL and record >= 0 and self._fits(kind, texts[i].text.strip())
        }
        for i, key, kind, record in found:
            text = texts[i].text
            value = text.strip()
            if kind == NAME:
                if record not in persons or not capitalised_name(value):
                    continue
                kind = "PERSON"
            elif kind in _SECRETS:
                value = credential(value)
                if is_remark(value) or (_ambiguous(key) and not is_random(value)):
                    continue
            if self._fits(kind, value):
                start = len(text.rstrip()) - len(value)
                yield i, (start, len(value), self._kinds[kind].claim)

    def _fits(self, kind: str, value: str) -> bool:
        known = self._kinds.get(kind)
        return known is not None and known.fits(value)


class _Kind:
    """What a key of a category proves: a value of its shape that is plausible."""

    def __init__(self, category: Category) -> None:
        self.claim = Claim(category, category.keyed_rank, Proof.KEY)
        self._shape = lazy(category.shape, re.DOTALL)
        self._plausible = category.plausible

    def fits(self, value: str) -> bool:
        plausible = self._plausible
        return value != "" and self._shape.fullmatch(value) is not None and (plausible is None or plausible(value))

    def fitting(self, values: Iterable[str]) -> Iterable[str]:
        """Those that fit, none of them empty; for many this is quicker."""
        shaped = filter(self._shape.fullmatch, values)
        return shaped if self._plausible is None else filter(self._plausible, shaped)


def _said_of(texts: Sequence[Text]) -> list[tuple[int, str, str, int]]:
    """Texts whose keys mean something: which, by which key, what that proves, and the record that it is a field of."""
    found: list[tuple[int, str, str, int]] = []
    pairs: list[int] = []
    for i, text in enumerate(texts):
        if text.key:
            key, kind, is_around = said(text.key, text.parent)
            if kind:
                if kind == "PERSON" and is_thing(key, text.text):
                    kind = NAME
                found.append((i, key, kind, text.above if is_around else text.record))
            elif text.record >= 0 and is_paired(text.key):
                pairs.append(i)
    return [*found, *_paired(texts, pairs)] if pairs else found


def _paired(texts: Sequence[Text], values: Iterable[int]) -> Iterator[tuple[int, str, str, int]]:
    """Values of pairs whose keys mean something: which text, its key, what that proves, the record of all pairs."""
    records = {texts[i].record for i in values}
    labels: dict[int, str] = {}
    for text in texts:
        if text.record in records and is_label(text.key) and classify(label := named(text.text)):
            labels.setdefault(text.record, label)
    for i in values:
        if label := labels.get(texts[i].record, ""):
            yield i, label, classify(label), texts[i].above


#: A table is read in chunks of so many rows.
_ROWS = 256
#: So many cells of a column are remembered.
_REMEMBERED = 1_024


class _Column:
    """A column of a table, the one ``at`` an index; where it ``is_personal``, a value says its row is about somebody.

    Columns repeat their values, so the last few are remembered.
    """

    def __init__(self, at: int, kind: _Kind, is_personal: bool, test: Callable[[str], bool] | None) -> None:
        self.at = at
        self.is_personal = is_personal
        self._kind = kind
        self._test = test
        #: How much of a cell is a value, 0 for none.
        self._sizes = {"": 0}
        #: What is claimed of cells that are encoded, which are read here: their column is far from them.
        self._said: dict[str, Claim] = {}

    def proved(self, text: str, places: Sequence[tuple[int, int]]) -> list[Proved]:
        """What stands in some of its cells."""
        claim = self._kind.claim
        sizes = self.sizes(text, places)
        if said := self._said:
            return [
                (start, size, said.get(text[start:end], claim))
                for (start, end), size in zip(places, sizes, strict=True)
                if size
            ]
        return [(start, size, claim) for (start, _), size in zip(places, sizes, strict=True) if size]

    def sizes(self, text: str, places: Iterable[tuple[int, int]]) -> list[int]:
        """How much of each of some of its cells is a value, 0 for none."""
        cells = [text[start:end] for start, end in places]
        known = self._sizes
        if new := set(cells).difference(known):
            if len(known) > _REMEMBERED:
                known.clear()
                self._said.clear()
                new = set(cells)
            self._learn(new)
        return [known[cell] for cell in cells]

    def _learn(self, cells: set[str]) -> None:
        known = self._sizes
        known.update(dict.fromkeys(cells, 0))
        numbers = [cell for cell in cells if cell.endswith(".0") and _whole(cell, 0, len(cell)) < len(cell)]
        cells.difference_update(numbers, ("",))
        known.update((value, len(value)) for value in self._fitting(cells))
        known.update((value + ".0", len(value)) for value in self._fitting([number[:-2] for number in numbers]))
        for cell in filter(_MAY_SAY.search, cells):
            if not known[cell] and (value := next(iter(self._fitting(_readings(cell))), "")):
                known[cell] = len(cell)
                self._said[cell] = replace(self._kind.claim, value=value)

    def _fitting(self, values: Iterable[str]) -> Iterable[str]:
        return filter(self._test, self._kind.fitting(values)) if self._test else self._kind.fitting(values)


def _about_somebody(text: str, cells: Sequence[Sequence[tuple[int, int]]], columns: Iterable[_Column]) -> list[int]:
    """The rows in which a column says that they are, in order."""
    rows: set[int] = set()
    for column in columns:
        if column.is_personal:
            rows.update(row for row, size in enumerate(column.sizes(text, cells[column.at])) if size)
    return sorted(rows)


def is_telling(text: str) -> bool:
    """Whether fields of a text may prove anything."""
    screen, everywhere = text.encode("ascii", "replace"), [(0, len(text))]
    return bool(
        places(text, screen, everywhere)
        or ("\n" in text and heads(text, screen, everywhere))
        or documents.may_tell(text)
    )


def has_shape(category: Category, value: str) -> bool:
    """Whether a value looks like a normal one of its category; one that does not is unsafe to place."""
    return _shape(category.shape).fullmatch(value) is not None


@lru_cache(maxsize=256)
def _shape(shape: str) -> re.Pattern[str]:
    return re.compile(shape, re.DOTALL)


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
    "braces": (":>", fields.braces),
    "tuples": (",", fields.tuples),
    "lines": (":：", lines),
    "headers": (":", headers),
    "glued": (":", fields.glued),
    "assignments": ("=", fields.assignments),
    "elements": (">", fields.elements),
    "conditions": ("'", sql.conditions),
    "labels": (":", fields.labels),
}


#: A mark that is none of them is in the first row behind ``VALUES``, which may begin with a quote as well.
_FIELD_MARKS = frozenset("".join(signs for signs, _ in _READERS.values())) - {"'"}


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


def _cell_test(kind: str, key: str, is_certain: bool) -> Callable[[str], bool] | None:
    """What else the cells of a column have to pass; more where no other column is about people."""
    if kind in _SECRETS and _ambiguous(key):
        return is_random
    if is_certain:
        return None
    if kind == "ADDRESS":
        return _is_nothing  # alone below a heading anything that begins with a number may stand
    if kind in _SECRETS:
        return _is_one_word
    if kind == "USERNAME":
        return _is_account if normalise(key)[-1:] in _ANYBODY else _is_no_type
    return str.isupper if kind == "BIC" else None


def _is_nothing(_: str) -> bool:
    return False


def _is_one_word(text: str) -> bool:
    return " " not in text


def _is_account(text: str) -> bool:
    """Whether a cell is somebody's account for sure, and not what this or that user may do."""
    return _MADE_UP.search(text) is not None and not text[0].isdigit()


def _is_no_type(text: str) -> bool:
    return text.lower() not in _TYPES and not text[0].isdigit()


_MADE_UP = lazy(r"[0-9@_]|\w\.\w")
#: Words for an account that are everyday ones: who may do what is a table with a column for users.
_ANYBODY = frozenset(
    (word,) for word in "user login benutzer utilisateur usuario utente utilizador gebruiker uzytkownik".split()
)
#: What stands beside the names of fields in a table about them.
_TYPES = frozenset("text string str char varchar varchar2 nvarchar citext bytes required optional yes no".split())


#: What a value that is encoded holds, unless it is a run of base64.
_MAY_SAY = lazy(r"[^ -~]|[%&\\]")


def _readings(raw: str) -> Iterator[str]:
    """What a value says under each layer of its encoding."""
    return (view.text.strip() for view in views(raw)[1:])


def _decoded(raw: str, reader: str) -> str:
    """What a value says: one in quotes without its escapes, one of a query string without its percent signs."""
    if ("\\" in raw and reader == "braces") or ("%" in raw and reader == "assignments"):
        readings = views(raw)
        return readings[1].text if len(readings) > 1 else raw
    return raw


def _is_in_form(text: str, field: Field, reader: str) -> bool:
    """Whether a value is one of several in the body of a form or a query, where blanks are written as plus signs."""
    if reader != "assignments" or field.quoted or "+" not in text[field.start : field.end]:
        return False
    return text[field.end : field.end + 1] == "&" or text[field.start - len(field.key) - 2 : field.start].startswith(
        "&"
    )


def _spaced(value: str) -> str:
    """What a value of a form says."""
    return views(value.replace("+", " "))[-1].text


#: What ends a sentence, or a clause, and no value before it; passwords do end so.
_SENTENCE_ENDS = ".,;!?"
_NO_PASSWORD_ENDS = ".,;"


def _trimmed(text: str, field: Field, ends: str = _SENTENCE_ENDS) -> tuple[int, int]:
    start, end = field.start, field.end
    if text[start].isspace() or text[end - 1].isspace():
        value = text[start:end]
        start += len(value) - len(value.lstrip())
        end = start + len(value.strip())
    if not field.quoted and end > start and text[end - 1] in ends:
        end -= 1
    return start, _whole(text, start, end)


def _whole(text: str, start: int, end: int) -> int:
    """Where a whole number ends without the fraction that spreadsheets give it: ``536228726.0``."""
    return end - 2 if text.endswith(".0", start, end) and text[start : end - 2].isdigit() else end


@lru_cache(maxsize=1024)
def _ambiguous(key: str) -> bool:
    words = normalise(without_remark(key) or key)
    return "".join(words) in AMBIGUOUS or words[-1:] == ("token",)


def _is_other(kind: str, text: str, field: Field, reader: str, end: int, value: str) -> bool:
    """Whether a value that fits its kind is something else after all where it stands: code, or an everyday word."""
    if reader == "tuples" and (_IDENTIFIER.fullmatch(value) if kind in _CODED else classify(value) or value.islower()):
        return True  # code pairs what a field is called with what it is called elsewhere, and with its type
    if kind == "PERSON":
        return not field.quoted and reader != "lines" and not _is_bare_name(text, end, value)
    if kind in _CODED and _is_code(text, field, reader, value):
        return True
    return kind in _SECRETS and not _is_secret(text, field, reader, value)


def _is_bare_name(text: str, end: int, value: str) -> bool:
    """A name without quotes in code or a log: capitalised, no attribute, no call."""
    return value[:1].isupper() and "." not in value.rstrip(".") and text[end : end + 1] not in ("(", "[", ".")


def _remark_behind(text: str, start: int, end: int, reader: str) -> int:
    """How much of what stands behind a key on a line is said of the secret and no part of it: all but its first word.

    That has to be one that no sentence has: ``hunter2-Zq9X for now``, and not ``base64url encoded``.
    """
    first = text[start:end].partition(" ")[0]
    if reader not in ("lines", "labels") or start + len(first) == end or text[start - 1] in "\"'`":
        return 0
    is_word = not any(map(str.isdigit, first)) or (len(first) < 12 and first.islower())
    return 0 if is_word or not is_random(first) else end - start - len(first)


def _is_secret(text: str, field: Field, reader: str, value: str) -> bool:
    """Whether a secret's field holds one: a name that may mean something else needs a random value."""
    if reader == "headers" or _ambiguous(field.key):
        return is_random(value)
    if is_remark(value):
        return False
    return not (reader in ("lines", "labels") and text[field.start - 1] not in "\"'`" and " " in value)


def _is_code(text: str, field: Field, reader: str, value: str) -> bool:
    """Whether a value is an expression: without quotes, a bare identifier is the name of a variable.

    ``password=swordfish`` in a log is a value: glued to its key, and nothing of an expression follows.
    """
    if field.quoted:
        return reader == "lines" and text[field.start - 1] not in "\"'`" and _CALL.match(value) is not None
    after = text[field.end : field.end + 1]
    if after in ("(", "["):
        return True
    if reader == "braces":
        return not is_random(value) or _VARIABLE.search(value) is not None
    if _IDENTIFIER.fullmatch(value) is None:
        return False
    if text[field.start - 1] != "=":
        return not _is_setting(text, field)
    if after == "|":
        return text[field.start - len(field.key) - 2 : field.start - len(field.key) - 1] != "|"
    return after not in _AFTER_WORDS and not (after in _AFTER_PRINTED and _is_printed(text, field))


#: What may stand behind a word that is glued to its key, in a log and a query, and in an object as it is logged.
_AFTER_WORDS, _AFTER_PRINTED = ("", " ", "\r", "\n", "\t", "&", ";"), (",", ")", "}", "]")
#: What words have that variables are called, and few passwords: ``sha256Hash``, ``hash_256``.
_VARIABLE = lazy(r"[a-z0-9][A-Z]|[_.]")


def _is_printed(text: str, field: Field) -> bool:
    """Whether a field stands on a line with values that code has in quotes only: it is an object as it is logged."""
    begin = text.rfind("\n", max(field.start - _PRINTED_REACH, 0), field.start) + 1
    begin = begin or max(field.start - _PRINTED_REACH, 0)
    end = text.find("\n", field.end, field.end + _PRINTED_REACH)
    return _PRINTED.search(text, begin, end if end >= 0 else field.end + _PRINTED_REACH) is not None


_PRINTED = lazy(r"=(?:\d{4}-\d\d-\d\d|[\w.+-]{1,64}@[\w-]{1,64}\.\w|null\b)")
_PRINTED_REACH = 300


def _is_setting(text: str, field: Field) -> bool:
    """Whether a field is a line ``key = value`` below a ``[section]``, as INI files have them."""
    before = text[max(field.start - _SECTION_REACH, 0) : field.start]
    line = before.rpartition("\n")[2]
    is_whole = _SETTING_END.match(text, field.end) is not None and line.strip(" \t=") == field.key
    return is_whole and _SECTION.search(before) is not None


#: A comment may follow.
_SETTING_END = lazy(r"[ \t]{0,20}(?:[;#][^\n]{0,500})?\r?(?:\n|\Z)")

_SECTION = lazy(r"(?:\A|\n)[ \t]*\[[\w .:\"-]{1,60}\][ \t]*\r?\n")
#: How far above a setting its section may begin, in code points.
_SECTION_REACH = 2_000


#: A call, a subscript or a type: ``os.environ.get(name)``, ``str | bytes, passwd``.
_CALL = lazy(r"[A-Za-z_][\w.]{0,60}[(\[]|(?:str|int|bytes|bool|None|Optional|Any|string|number)\b")
