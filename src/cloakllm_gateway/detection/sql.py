"""Rows of SQL statements that name their columns, each as a row of a table.

``INSERT INTO t (name, ...) VALUES (...), (...)`` with its many dialects, ``INSERT ... SELECT 'x', 'y'``, and what
``pg_dump`` writes, ``COPY t (name, ...) FROM stdin`` above lines with tabs.  A cell is the first string literal of its
expression, ``CAST(N'1978-06-05' AS date)``, or else all of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from cloakllm_gateway.detection.aligned import Row
from cloakllm_gateway.detection.fields import Field
from cloakllm_gateway.detection.keys import COMPARING
from cloakllm_gateway.detection.tables import Table
from cloakllm_gateway.patterns import lazy

#: White space and comments, also those that MySQL puts behind a ``#``.
_GAP = lazy(r"(?:\s{1,200}|--[^\n]{0,1000}(?:\n|\Z)|/\*(?:[^*]|\*(?!/)){0,1000}\*/){0,40}+")
_NAME = r"(?:[\w$]{1,64}|\"[^\"\n]{1,64}\"|`[^`\n]{1,64}`|\[[^\]\n]{1,64}\])"
_QUALIFIED = rf"{_NAME}(?:\.{_NAME}){{0,3}}"
_COLUMNS = r"\((?P<names>[^()]{1,4096})\)"
_INSERT = lazy(
    rf"\b(?:insert|replace|into)\s{{1,8}}(?:(?:low_priority|high_priority|delayed|ignore|overwrite|into|or \w{{4,8}}"
    rf"|table)\s{{1,8}}){{0,4}}(?:{_QUALIFIED}\s{{0,8}}(?:as\s{{1,8}}{_NAME}\s{{0,8}})?)?{_COLUMNS}\s{{0,8}}"
    rf"(?:overriding (?:system|user) value\s{{1,8}}|output [^()]{{1,200}}?)?(?:(?P<values>values)|select\s)",
    re.IGNORECASE,
)
#: A dump names the columns where it creates the table.
_UNNAMED = lazy(
    rf"\b(?:insert|replace)\s{{1,8}}(?:\w{{4,13}}\s{{1,8}}){{0,2}}into\s{{1,8}}(?P<table>{_QUALIFIED})\s{{1,8}}values",
    re.IGNORECASE,
)
_CREATE = lazy(
    rf"\bcreate\s{{1,8}}(?:\w{{4,9}}\s{{1,8}})?table\s{{1,8}}(?:if\s{{1,8}}not\s{{1,8}}exists\s{{1,8}})?(?P<table>{_QUALIFIED})\s{{0,8}}\(",
    re.IGNORECASE,
)
_COPY = lazy(
    rf"\bcopy\s{{1,8}}{_QUALIFIED}\s{{0,8}}{_COLUMNS}\s{{0,8}}from\s{{1,8}}stdin[^\n]{{0,200}}\n", re.IGNORECASE
)
#: A statement is looked for so many code points before its first row.
_LONGEST_HEAD = 4_352


def statements(text: str, places: Iterable[int]) -> Iterator[Table]:
    """The rows of statements as tables; ``places``, in order, are where the first rows begin.

    The rows of a table have to be read before the next table is asked for, which is looked for below.
    """
    done = 0
    created: dict[str, list[str]] | None = None  # the columns of tables, once somebody asks
    for at in places:
        if at < done:
            continue
        begin, done = max(at - _LONGEST_HEAD, done), at
        said = text[begin:at].lower()
        inserts = ("insert" in said or "into" in said) and ("values" in said or "select" in said)
        if not inserts and "copy" not in said:
            continue  # most calls of functions that are named after values
        rows: _Copied | _Inserted
        if head := _COPY.search(text, begin, at + 256) if text.endswith(_STDIN, begin, at + 1) else None:
            keys = _keys(head["names"])
            rows = _Copied(text, head.end(), len(keys))
        elif inserts and (head := _INSERT.search(text, begin, at + 1)):
            keys = _keys(head["names"])
            rows = _Inserted(text, _past(text, head.end()), len(keys), head["values"] is None)
        elif inserts and (head := _UNNAMED.search(text, begin, at + 1)):
            created = _created(text) if created is None else created
            keys = created.get(_plain(head["table"]), [])
            rows = _Inserted(text, _past(text, head.end()), len(keys), False)
        else:
            continue
        if not keys:
            continue
        yield Table(keys, rows)
        done = max(rows.end, at)


def insertions(text: str) -> Iterator[Table]:
    """The rows of a text that statements put into columns they name."""
    for head in _INSERT.finditer(text):
        keys = _keys(head["names"])
        yield Table(keys, _Inserted(text, _past(text, head.end()), len(keys), head["values"] is None))


_STDIN = ("stdin", "STDIN")


def _keys(names: str) -> list[str]:
    return list(map(_plain, names.split(",")))


def _plain(name: str) -> str:
    return name.strip(' \t\r\n"`[]')


def _created(text: str) -> dict[str, list[str]]:
    """The columns of the tables that a text creates, by their names."""
    tables, at = {}, 0
    while create := _CREATE.search(text, at):
        names, at, mark = [], create.end(), ","
        while mark == ",":
            column = _expression(text, at)
            at, mark = column.end, column.mark
            if (name := _FIRST.match(text, *column.whole)) and not _CONSTRAINT.match(name[0]):
                names.append(_plain(name[0]))
        tables[_plain(create["table"])] = names
    return tables


_FIRST = lazy(_NAME)
#: What stands among columns and is none.
_CONSTRAINT = lazy(
    r"(?:primary|unique|key|index|constraint|foreign|check|fulltext|spatial|exclude|like)\Z", re.IGNORECASE
)


def _past(text: str, at: int) -> int:
    """Where white space and comments end."""
    gap = _GAP.match(text, at)
    assert gap is not None  # it may be empty
    return gap.end()


class _Copied:
    """The lines with tabs below a ``COPY``; ``end`` is behind the last of them when all were read."""

    def __init__(self, text: str, start: int, width: int) -> None:
        self.end = start
        self._text, self._width = text, width

    def __iter__(self) -> Iterator[Row]:
        text = self._text
        while self.end < len(text) and not text.startswith("\\.", self.end):
            start, stop = self.end, text.find("\n", self.end)
            stop = len(text) if stop < 0 else stop
            cells = []
            for size in map(len, text[start:stop].rstrip("\r").split("\t")):
                cells.append((start, start + size))
                start += size + 1
            if len(cells) != self._width:
                break
            yield cells
            self.end = stop + 1


class _Inserted:
    """The rows behind ``VALUES``, or the only one behind ``SELECT``; ``end`` is behind the last one that was read.

    A row that has not as many cells as there are columns hides none of the others.
    """

    def __init__(self, text: str, start: int, width: int, is_selected: bool) -> None:
        self.end = start
        self._text, self._width, self._is_selected = text, width, is_selected

    def __iter__(self) -> Iterator[Row]:
        if self._is_selected:
            cells = self._row()
            if len(cells) >= self._width:
                yield cells[: self._width]
            return
        text = self._text
        while text[self.end : self.end + 1] == "(":
            self.end += 1
            cells = self._row()
            if len(cells) == self._width:
                yield cells
            after = _past(text, self.end)
            if text[after : after + 1] == ",":
                self.end = _past(text, after + 1)

    def _row(self) -> list[tuple[int, int]]:
        """The cells from where the last row ended on, up to a closing parenthesis or the end of the statement."""
        text, cells, mark = self._text, [], ","
        while mark == ",":
            if literal := _LITERAL.match(text, self.end):
                cells.append(literal.span(literal.lastindex or 0))
                self.end = literal.end()
                mark = text[self.end - 1]
            else:
                cell = _expression(text, self.end)
                cells.append(cell.literal or cell.whole)
                self.end, mark = cell.end, cell.mark
        return cells


class _Expression(NamedTuple):
    """A part of a list in parentheses: where it is, where its first string is, the mark behind it and where that ends.

    The mark is "" where nothing more can be read.
    """

    whole: tuple[int, int]
    literal: tuple[int, int] | None
    mark: str
    end: int


def _expression(text: str, at: int) -> _Expression:
    depth, first, last, end = 0, -1, at, at
    literal: tuple[int, int] | None = None
    mark = ""
    for piece in _PIECE.finditer(text, at, min(at + _LONGEST_CELL, len(text))):
        start, end = piece.span()
        if (sign := text[start]) == ";" or (depth == 0 and sign in ",)"):
            mark = sign
            break
        depth += (sign in "([") - (sign in ")]")
        if literal is None and piece[1] is not None:
            literal = piece.span(1)
        if not (sign.isspace() or piece[0].startswith(("--", "/*"))):
            first, last = (start if first < 0 else first), end
    return _Expression((first, last) if first >= 0 else (at, at), literal, mark, end)


#: Most cells: a literal or a word, and the mark behind it.
_LITERAL = lazy(r"\s{0,64}(?:[NnEe]?'((?:[^'\\]|''|\\.)*+)'|([^\s'(),;:/-][^\s'(),;:]{0,63}))\s{0,8}[,)]", re.DOTALL)
#: A string with what is in it, a comment, a mark, something else.
_PIECE = lazy(
    r"'((?:[^'\\]|''|\\.)*+)'|\"[^\"\n]{0,64}\"|--[^\n]*+|/\*(?:[^*]|\*(?!/)){0,1000}\*/|\s++|[^\s'\"(),;/\[\]-]++|.",
    re.DOTALL,
)
_LONGEST_CELL = 65_536


# -- conditions -----------------------------------------------------------------------------------

#: ``last_name LIKE '`` and ``last_name NOT IN ('``, up to the quote.
_CONDITION = lazy(
    rf"([\w.]{{1,64}})[\"`\]]?\s{{1,2}}(?:not\s{{1,2}})?(?:{COMPARING})\s{{0,2}}\(?\s{{0,2}}[NnEe]?\Z", re.IGNORECASE
)
_COMPARED = lazy(r"\s{0,64}(?:,|and\s)?\s{0,64}[NnEe]?'[%^]?((?:[^'\n]|''){1,512}?)[%$]?'(?!')", re.IGNORECASE)


def conditions(text: str, places: Iterable[int]) -> Iterator[Field]:
    """What a column is compared with by ``LIKE``, ``IN``, ``BETWEEN`` and so on; ``places`` are at the first quote."""
    for at in places:
        if condition := _CONDITION.search(text, max(at - 96, 0), at):
            stop = at
            while value := _COMPARED.match(text, stop):
                yield Field(condition[1], *value.span(1), at)
                stop = value.end()
