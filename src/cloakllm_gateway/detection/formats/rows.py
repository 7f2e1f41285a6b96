"""Rows that are printed as lists below each other, the first of them the names of columns: Python's readers of CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cloakllm_gateway.detection.keys import classify
from cloakllm_gateway.detection.tables import Table
from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.spans import are_columns

_STRING = r"[\"'][^\"'\n]+[\"']"
#: Three strings in a list, and another list behind it.
SIGN = rf"(?:{_STRING}, ?){{2}}{_STRING}[\])],?\s{{1,8}}[\[(][\"'0-9]"
_ROW = lazy(
    r"[ ]{0,40}(?P<open>[\[(])(?P<cells>(?:[^\[\]()\n]|\([^()\n]{0,200}\)){3,2000}+)[\])],?[ ]{0,2}\r?"
    r"(?:\n|(?=[\[(])|\Z|(?=[\])]))"
)
#: A string, what is written as its type, ``datetime.date(1984, 7, 3)`` and ``UUID('...')``, or anything bare.
_CELL = lazy(
    r"[ ]?(?:\"(?P<double>[^\"\n]*)\"|'(?P<single>[^'\n]*)'"
    r"|[\w.]{1,40}\([\"']?(?P<written>[^\"'()\n]{0,200})[\"']?\)"
    r"|(?P<bare>[^\s\"',][^\"',\n]{0,64}?))[ ]?(?:,|\Z)"
)
#: With fewer cells, and none of them a key, rows are pairs: a key and its value each, or a choice and its label.
_ENOUGH = 3


def tables(text: str, places: Sequence[int]) -> Iterator[Table]:
    """Each run of lists of as many cells."""
    done = 0
    for at in places:
        if at < done:
            continue
        start = max(text.rfind("\n", 0, at) + 1, text.rfind("[(", 0, at) + 1, text.rfind("[[", 0, at) + 1, done)
        rows = []
        while (row := _ROW.match(text, start)) is not None:
            rows.append(_cells(text, *row.span("cells")))
            start = row.end()
        done = max(start, at + 1)
        if len(rows) < 2:
            continue
        names = [text[slice(*cell)] for cell in rows[0]]
        below = [row for row in rows[1:] if len(row) == len(names)]
        if len(names) >= _ENOUGH and are_columns(names) and not any(_is_header(text, row) for row in below):
            yield Table(names, below)


def _cells(text: str, start: int, end: int) -> list[tuple[int, int]]:
    cells = []
    while start < end and (cell := _CELL.match(text, start, end)) is not None:
        cells.append(cell.span(cell.lastgroup or 0))
        start = cell.end()
    return cells if start >= end else []


def _is_header(text: str, row: Sequence[tuple[int, int]]) -> bool:
    """Whether a cell of a row is a key: lists of choices and of fields are no table."""
    return any(classify(text[slice(*cell)]) for cell in row)
