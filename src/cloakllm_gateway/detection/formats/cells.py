"""Cells of tables that are objects of their own: as spreadsheets address them, and as services of databases wrap them.

``{"address": "A2", "value": "Zora"}`` belongs to what ``A1`` says; ``{"f": [{"v": "Zora"}, ...]}`` of BigQuery, and the
rows of Athena and of the data API of RDS to the names of columns before them, or to those in the first row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from cloakllm_gateway.detection.aligned import Row
from cloakllm_gateway.detection.tables import Table
from cloakllm_gateway.patterns import lazy

_WRAPPED = "v|VarCharValue|stringValue|longValue|doubleValue"
SIGN = rf"\"(?:address|cell|coordinate)\": ?\"[$]?[A-Z]{{1,3}}[$]?\d+\"|\{{\s*\"(?:{_WRAPPED})\": ?[\"\d]"
_SCALAR = (
    r"(?:\"Date\((?P<date>[\d, ]{6,30})\)\"|\"(?P<said>(?:[^\"\\\n]|\\.){0,1024}+)\"|(?P<bare>[^\s{}\[\]\",]{1,64}))"
)
_ADDRESSED = lazy(
    r"\"(?:address|cell|coordinate)\": ?\"[$]?(?P<column>[A-Z]{1,3})[$]?(?P<row>\d{1,7})\",\s{0,32}"
    rf"(?:\"(?!value\")\w{{1,20}}\": ?[^\s{{}}\[\],]{{1,40}},\s{{0,32}}){{0,3}}\"value\": ?{_SCALAR}"
)
_OPENED = rf"\{{\s{{0,32}}\"(?:{_WRAPPED}|isNull)\""
#: A spreadsheet says how it shows a value, too.
_SHOWN = r"(?:\s{0,32},\s{0,32}\"f\": ?\"(?P<shown>(?:[^\"\\\n]|\\.){0,1024}+)\")?"
_CELL = lazy(rf"{_OPENED}: ?{_SCALAR}{_SHOWN}\s{{0,32}}\}}(?P<more>\s{{0,32}},\s{{0,32}}(?={_OPENED}))?")
_NAMED = lazy(r"\"(?:fields|columnMetadata|ColumnInfo|cols)\"\s{0,8}:\s{0,8}\[")
_NAMES = (
    lazy(r"\"[nN]ame\"\s{0,8}:\s{0,8}\"([^\"\\\n]{1,64})\""),
    lazy(r"\"label\"\s{0,8}:\s{0,8}\"([^\"\\\n]{1,64})\""),
)
#: The names of columns stand so far before the first row at most, in code points.
_BEFORE = 16_384


def tables(text: str, places: Sequence[int]) -> Iterator[Table]:
    """A table of all cells with an address, and one of each run of rows of as many wrapped cells."""
    yield from _addressed(text, places)
    rows: list[list[tuple[int, int]]] = []
    done = 0
    for at in places:
        if at >= done and text[at] == "{":
            row, shown, done = _row(text, at)
            rows += [row, shown] if any(start for start, _ in shown) else [row]
    for width, alike in groupby(rows, len):
        some = list(alike)
        if width and (names := _names(text, some[0][0][0], width)):
            yield Table(names, some)
        elif width:
            yield Table([text[slice(*cell)] for cell in some[0]], some[1:])


def _addressed(text: str, places: Sequence[int]) -> Iterator[Table]:
    by_row: dict[int, dict[str, tuple[int, int]]] = {}
    for at in places:
        if cell := _ADDRESSED.match(text, at):
            by_row.setdefault(int(cell["row"]), {})[cell["column"]] = _span(cell)
    numbers = sorted(by_row)
    if len(numbers) > 1:
        heads = by_row[numbers[0]]
        rows: list[Row] = [[by_row[number].get(column, (0, 0)) for column in heads] for number in numbers[1:]]
        yield Table([text[slice(*place)] for place in heads.values()], rows)


def _row(text: str, at: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]], int]:
    """The wrapped cells from a place on that follow each other, how each is shown, and where the last one ends."""
    cells: list[tuple[int, int]] = []
    shown: list[tuple[int, int]] = []
    while (cell := _CELL.match(text, at)) is not None:
        cells.append(_span(cell))
        shown.append(cell.span("shown") if cell["shown"] else (0, 0))
        at = cell.end()
        if cell["more"] is None:
            break
    return cells, shown, at + (not cells)


def _span(cell: re.Match[str]) -> tuple[int, int]:
    return cell.span(next(group for group in ("said", "date", "bare") if cell[group] is not None))


def _names(text: str, at: int, width: int) -> Sequence[str]:
    """The names of so many columns before a place."""
    lists = list(_NAMED.finditer(text, max(at - _BEFORE, 0), at))
    said = ([name[1] for name in names.finditer(text, lists[-1].end(), at)] for names in _NAMES if lists)
    return next((names for names in said if len(names) == width), ())
