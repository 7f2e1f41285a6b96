"""What the columns of a table prove: the cells below a key, and names in rows that are about somebody."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import compress, islice

from msgspec.structs import replace

from cloakllm_gateway.detection.catalogue import checks
from cloakllm_gateway.detection.catalogue.people import capitalised_name
from cloakllm_gateway.detection.catalogue.randomness import is_random
from cloakllm_gateway.detection.judging import is_ambiguous
from cloakllm_gateway.detection.keys import NAME, NUMBER, PERSONAL, SECRETS, classify, normalise
from cloakllm_gateway.detection.kinds import Kind
from cloakllm_gateway.detection.merging import Claim, Find
from cloakllm_gateway.detection.tables import Table
from cloakllm_gateway.detection.writing import MAY_SAY, readings, without_fraction
from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.spans import whole_number

#: A table is read in chunks of so many rows.
_ROWS = 256
#: So many cells of a column are remembered.
_REMEMBERED = 1_024


def proved(text: str, table: Table, kinds: Mapping[str, Kind]) -> Iterator[list[Find]]:
    """The cells of a table that their column proves, and the names in rows about somebody; some rows at a time."""
    proving, naming = _columns(table, kinds)
    rows = iter(table.rows)
    while some := list(islice(rows, _ROWS)):
        cells = list(zip(*some, strict=True))
        about_somebody: set[int] = set()
        for column in proving:
            sizes = column.sizes(text, cells[column.at])
            yield column.proved(text, cells[column.at], sizes)
            if naming and column.is_personal:
                about_somebody.update(compress(range(len(some)), sizes))
        for column in naming if about_somebody else ():
            places = [cells[column.at][row] for row in sorted(about_somebody)]
            yield column.proved(text, places, column.sizes(text, places))


def _columns(table: Table, kinds: Mapping[str, Kind]) -> tuple[list[_Column], list[_Column]]:
    """The columns of a table that prove something by themselves, and those of names, of the kinds looked for."""
    proving: list[_Column] = []
    naming: list[_Column] = []
    for i, key in enumerate(table.keys):
        kind = classify(key)
        if kind == NAME:
            if (known := kinds.get("PERSON")) is not None:
                naming.append(_Column(i, known, False, capitalised_name))
        elif kind == NUMBER:
            if (known := kinds.get("CREDIT_CARD")) is not None:
                proving.append(_Column(i, known, False, checks.card))
        elif (known := kinds.get(kind)) is not None:
            proving.append(_Column(i, known, kind in PERSONAL, _cell_test(kind, key, table.is_certain)))
    return proving, naming


class _Column:
    """A column of a table, the one ``at`` an index; where it ``is_personal``, a value says its row is about somebody.

    Columns repeat their values, so the last few are remembered.
    """

    def __init__(self, at: int, kind: Kind, is_personal: bool, test: Callable[[str], bool] | None) -> None:
        self.at = at
        self.is_personal = is_personal
        self._kind = kind
        self._test = test
        #: How much of a cell is a value, 0 for none.
        self._sizes = {"": 0}
        #: What is claimed of cells that are encoded, which are read here: their column is far from them.
        self._said: dict[str, Claim] = {}

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
        return list(map(known.__getitem__, cells))

    def proved(self, text: str, places: Sequence[tuple[int, int]], sizes: Sequence[int]) -> list[Find]:
        """What stands in some of its cells, by their sizes."""
        claim = self._kind.claim
        if said := self._said:
            return [
                (start, size, said.get(text[start:end], claim))
                for (start, end), size in zip(places, sizes, strict=True)
                if size
            ]
        return [(start, size, claim) for (start, _), size in zip(places, sizes, strict=True) if size]

    def _learn(self, cells: set[str]) -> None:
        """Note the sizes of some cells that have none yet."""
        known = self._sizes
        known.update(dict.fromkeys(cells, 0))
        zeros = [cell for cell in cells if cell.endswith("0")]
        numbers = {cell: end for cell in zeros if (end := without_fraction(cell, 0, len(cell))) < len(cell)}
        if numbers:
            fitting = set(self._fitting({cell[:end] for cell, end in numbers.items()}))
            known.update((cell, end) for cell, end in numbers.items() if cell[:end] in fitting)
        cells.difference_update(numbers, ("",))
        fitting = set(self._fitting(cells))
        known.update(zip(fitting, map(len, fitting), strict=True))
        for cell in cells - fitting:
            if value := next(iter(self._fitting(_said(cell))), ""):
                known[cell] = len(cell)
                self._said[cell] = replace(self._kind.claim, value=value)

    def _fitting(self, values: Iterable[str]) -> Iterable[str]:
        return filter(self._test, self._kind.fitting(values)) if self._test else self._kind.fitting(values)


def _said(cell: str) -> Iterable[str]:
    """What a cell says that is encoded, or a number with an exponent."""
    if _HAS_EXPONENT.match(cell):
        return (whole_number(cell),)
    return readings(cell) if MAY_SAY.search(cell) else ()


#: As programs write it, with a point or a sign: 118E9 is hexadecimal.
_HAS_EXPONENT = lazy(r"[0-9]\.[0-9]{1,20}[eE]|[0-9]{1,20}[eE]\+", re.ASCII)


def _cell_test(kind: str, key: str, is_certain: bool) -> Callable[[str], bool] | None:
    """What else the cells of a column have to pass; more where no other column is about people."""
    if kind in SECRETS and is_ambiguous(key):
        return is_random
    if is_certain:
        return None
    if kind == "ADDRESS":
        return _is_nothing  # alone below a heading anything that begins with a number may stand
    if kind in SECRETS:
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
