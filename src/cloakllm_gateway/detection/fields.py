"""Fields of text that has structure: where a value stands, under which key, in which record.

Readers begin where the linear engine saw a key that matters (:func:`.keys.places`):
the place of the mark between a key and its value.  Each looks backwards for
the key and forwards for the value, a bounded way, so that all are linear and
tolerate what is cut off or broken: braces (JSON, Python and JavaScript
literals), assignments (``key=value`` and XML attributes), lines (``Key:
value``), elements of XML, and tables (CSV, TSV, Markdown and ASCII tables).
They overlap on purpose; the engine merges what they prove.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from cloakllm_gateway.patterns import lazy


class Field(NamedTuple):
    """A value at ``start:end`` under ``key``; fields of one record of a reader share ``record``."""

    key: str
    start: int
    end: int
    record: int
    quoted: bool = True


# -- braces ---------------------------------------------------------------------------------------

#: A key in quotes or a bare one behind a brace or comma, up to the colon.
_BRACE_KEY = lazy(
    r"""(?<!\\)(?P<quote>["'])(?P<key>[^"'\\\n{}\[\],:]{1,64})(?P=quote)[ \n\t]{0,4}\Z"""
    r"""|[{,][ \n\t]{0,16}(?P<bare>[A-Za-z_]\w{0,63})[ ]?\Z"""
)
_SPACE = r"[ \t\r\n]{0,64}"
_VALUE = lazy(
    rf"""{_SPACE}(?:"(?P<dq>(?:[^"\\]|\\.)*+)"?|'(?P<sq>(?:[^'\\\n]|\\.)*+)'|(?P<list>[\[(])"""
    r"""|(?P<plain>[^\s{}\[\]():,="']+))""",
    re.DOTALL,
)
_BRACE = lazy("[{}]")


def braces(text: str, places: Iterable[int]) -> Iterator[Field]:
    """``"key": value`` pairs of JSON, Python reprs and JavaScript literals, at any depth.

    A list under a key counts as many values of that key; a record is an object.
    """
    records = _Records(text)
    done = 0  # what lies inside of a value is no key: nothing is read twice
    for at in places:
        if at >= done and text[at] == ":" and (match := _BRACE_KEY.search(text, max(at - 96, 0), at)):
            key = match["key"] or match["bare"]
            record = records.at(at)
            for start, end, quoted in _values(text, at + 1):
                done = end
                yield Field(key, start, end, record, quoted)


def _values(text: str, at: int) -> Iterator[tuple[int, int, bool]]:
    """The string or other scalar at a place, or those of a list there, of any depth."""
    depth = 0
    while match := _VALUE.match(text, at):
        kind = match.lastgroup or ""
        at = match.end()
        if kind == "list":
            depth += 1
            continue
        start, end = match.span(kind)
        if end > start:
            yield start, end, kind != "plain"
        if not depth:
            return
        if (more := _NEXT.match(text, at)) is None:
            return
        depth -= more[0].count("]") + more[0].count(")")
        if depth <= 0:
            return
        at = more.end()


#: What may stand between two members of a list.
_NEXT = lazy(r"[ \t\r\n\])]{0,64}(?:,[ \t\r\n\[(]{0,64}|(?<=[\])]))")


class _Records:
    """Which object of the text a place is in; braces inside of strings are taken for braces."""

    def __init__(self, text: str) -> None:
        self._starts = [0]
        self._objects = [0]
        stack = [0]
        for count, brace in enumerate(_BRACE.finditer(text), 1):
            if brace[0] == "{":
                stack.append(count)
            elif len(stack) > 1:
                stack.pop()
            self._starts.append(brace.start())
            self._objects.append(stack[-1])

    def at(self, place: int) -> int:
        return self._objects[bisect_right(self._starts, place) - 1]


# -- assignments ----------------------------------------------------------------------------------

_ASSIGNED_KEY = lazy(r"(?<![\w.-])[A-Za-z_][\w.-]{0,40}[ ]?:?\Z")
_ASSIGNMENT = lazy(
    r"""(?P<key>[A-Za-z_][\w.-]{0,40})[ ]?(?:=>|:?=)(?!=)[ ]?"""
    r"""(?:"(?P<dq>[^"\n]{1,4096})"|'(?P<sq>[^'\n]{1,4096})'|(?P<bare>(?:[^\s,;&"'<>(){}\[\]|]|&(?![\w.-]{1,40}=))+))"""
)


def assignments(text: str, places: Iterable[int]) -> Iterator[Field]:
    """``key=value`` in logs, shells, INI files, query strings and XML attributes; a record is a line."""
    record, seen, done = 0, 0, 0
    for at in places:
        if at < done or text[at] != "=" or (key := _ASSIGNED_KEY.search(text, max(at - 48, 0), at)) is None:
            continue
        match = _ASSIGNMENT.match(text, key.start())
        if match:
            record += text.count("\n", seen, at)
            seen, done = at, match.end()
            group = match.lastgroup or "bare"
            yield Field(match["key"], *match.span(group), record, group != "bare")


# -- lines ----------------------------------------------------------------------------------------

_LINE = lazy(
    r"[ \t>*#•|-]{0,12}(?P<key>[^\W\d_][^\n:：={}\"';()\[\]|]{0,40})(?:;[^\n:]{1,80})?(?:[ ]\([^()\n]{1,20}\))?"
    r"[*_` \t]{0,4}[:：][*_`]{0,3}[ \t]{0,4}(?P<value>[^\n]{1,1024})"
)
#: How far behind the start of its line the colon of a key may stand.
_LONGEST_KEY = 200
_BLANK = lazy(r"\n[ \t]*\n")


def lines(text: str, places: Iterable[int]) -> Iterator[Field]:
    """``Key: value`` lines of YAML, forms, mail headers and vCards; a record ends at an empty line."""
    record, seen, done = 0, 0, -1  # done: the line read last
    for at in places:
        begin = text.rfind("\n", max(at - _LONGEST_KEY, 0), at) + 1
        if begin == done or (begin == 0 and at >= _LONGEST_KEY) or text[at] not in ":：":
            continue
        done = begin
        match = _LINE.match(text, begin)
        if match is None:
            continue
        record += len(_BLANK.findall(text, max(seen - 1, 0), begin))
        seen = begin
        start, end = match.span("value")
        end = start + len(match["value"].rstrip(" \t\r,;|"))
        if end - start >= 2 and text[start] == text[end - 1] and text[start] in "\"'`":
            start, end = start + 1, end - 1
        if end > start:
            yield Field(match["key"].strip(), start, end, record)


# -- tables ---------------------------------------------------------------------------------------


class Column(NamedTuple):
    """The cells of one column under its ``key``, one for each row, each trimmed; an empty cell is ``(at, at)``."""

    key: str
    cells: list[tuple[int, int]]


_RULE = lazy(r"[\s|+:=-]+")
#: The head of a column may be numbered; a line with more digits than a few is data.
_MOST_DIGITS = lazy(r"\d(?:\D*\d){4}")
#: A header is looked for on at most this many cells; wider lines are data.
_MOST_COLUMNS = 200


def tables(
    text: str, heads: Iterable[int], personal: Callable[[str], bool], named: Callable[[str], bool]
) -> Iterator[list[Column]]:
    """CSV, TSV and pipe tables, each as those of its columns that have a name.

    ``heads`` are places, in order, whose lines may be the header of a table;
    a header has a cell that ``personal`` recognises.  ``named`` knows further
    keys, which say something beside a personal one.
    """
    done = 0
    for at in heads:
        if at < done:
            continue
        start = text.rfind("\n", 0, at) + 1
        done = _line_end(text, at)
        line = text[start:done]
        header, mark = _header(line, personal) if _MOST_DIGITS.search(line) is None else ([], "")
        if len(header) == 2 and (pairs := _pairs(text, start, mark, named)):
            columns, done = pairs
            yield columns
        elif header:
            columns, done = _rows(text, done + 1, header, mark)
            yield columns


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _rows(text: str, start: int, header: list[str], mark: str) -> tuple[list[Column], int]:
    """The columns of the rows from ``start`` on that have as many cells as the header, and where they end."""
    columns = [Column(name, []) for name in header]
    named = [(i, column.cells) for i, column in enumerate(columns) if column.key]
    while start < len(text):
        end = _line_end(text, start)
        line = text[start:end]
        if line and not _RULE.fullmatch(line):
            cells = _cells(line, mark)
            if len(cells) != len(header):
                break
            for i, column in named:
                first, last = cells[i]
                column.append((start + first, start + last))
        start = end + 1
    return [column for column in columns if column.key and column.cells], min(start, len(text))


def _pairs(text: str, start: int, mark: str, named: Callable[[str], bool]) -> tuple[list[Column], int] | None:
    """A table that lies on its side, ``first_name,Kim`` over ``email,kim@x.org``: each line is a key and its value.

    It is one if two lines begin with a key that ``named`` knows; lines before the first such one belong to it.
    """
    while start > 0 and (before := _pair(text, text.rfind("\n", 0, start - 1) + 1, mark)):
        start = before[0]
    columns: list[Column] = []
    known = 0
    while start < len(text) and (pair := _pair(text, start, mark)):
        _, key, cell, end = pair
        known += named(key)
        columns.append(Column(key, [cell]))
        start = end + 1
    return (columns, min(start, len(text))) if known > 1 else None


def _pair(text: str, start: int, mark: str) -> tuple[int, str, tuple[int, int], int] | None:
    """A line of two cells: where it begins, the first cell, where the second one is, where the line ends."""
    end = _line_end(text, start)
    if end - start > 1_024 or mark not in (line := text[start:end]):
        return None
    cells = _cells(line, mark)
    if len(cells) != 2 or cells[0][0] == cells[0][1]:
        return None
    (first, last), (begin, stop) = cells
    return start, line[first:last], (start + begin, start + stop), end


def _header(line: str, personal: Callable[[str], bool]) -> tuple[list[str], str]:
    for mark in "|\t;,":
        if mark in line and line.count(mark) <= _MOST_COLUMNS:
            names = [line[start:end].strip("*`") for start, end in _cells(line, mark)]
            if len(names) > 1 and all(len(name) <= 48 for name in names) and any(map(personal, names)):
                return names, mark
    return [], ""


#: A cell of a row, with the mark before it; one in quotes may hold the mark, and doubles a quote.
_CELL = {
    mark: lazy(
        rf"""(?:^|{re.escape(mark)})[ ]*(?:"((?:[^"]|"")*+)(?:"[^{mark}]*)?|'((?:[^']|'')*+)(?:'[^{mark}]*)?"""
        rf"|([^{mark}]*))"
    )
    for mark in "|\t;,"
}


def _cells(line: str, mark: str) -> list[tuple[int, int]]:
    """Trimmed cells of a line."""
    by = 0
    if mark == "|":
        by = len(line) - len(line.lstrip(" \t|"))
        line = line.rstrip(" \t\r")
        line = line[by:].rstrip(" \t\r|") if line.endswith("|") else line[by:]
    else:
        line = line.rstrip("\r")
    found = []
    for cell in _CELL[mark].finditer(line):
        group = cell.lastindex or 3
        start, end = cell.span(group)
        if group == 3:
            while end > start and line[end - 1] in " \t":
                end -= 1
        found.append((start + by, end + by))
    return found


# -- SQL ------------------------------------------------------------------------------------------

_INSERT = lazy(
    r"(?:insert|replace)\s{1,8}(?:ignore\s{1,8})?into\s{1,8}[\w.\"`\[\]]{1,80}\s{0,8}\((?P<names>[^()]{1,4096})\)\s{0,8}values\s{0,8}",
    re.IGNORECASE,
)
_LITERALS = lazy(r"\s{0,8}(?:[NnEe]?'((?:[^'\\]|''|\\.)*+)'|([^\s'(),;]{1,64}))\s{0,8}([,)])")


def inserts(text: str) -> Iterator[list[Column]]:
    """The rows of ``INSERT INTO t (name, ...) VALUES (...), (...)`` as a table."""
    if "nsert" not in text and "NSERT" not in text and "eplace" not in text and "EPLACE" not in text:
        return
    for insert in _INSERT.finditer(text):
        names = [name.strip(' \t\r\n"`[]') for name in insert["names"].split(",")]
        columns = [Column(name, []) for name in names]
        at = insert.end()
        while text[at : at + 1] == "(":
            row, at = _row(text, at + 1)
            if len(row) != len(columns):
                break
            for column, cell in zip(columns, row, strict=True):
                column.cells.append(cell)
            more = _COMMA.match(text, at)
            at = more.end() if more else at
        yield [column for column in columns if column.cells]


_COMMA = lazy(r"\s{0,64},\s{0,64}")


def _row(text: str, at: int) -> tuple[list[tuple[int, int]], int]:
    """The literals of a row in parentheses, without their quotes, and where it ends."""
    cells = []
    while literal := _LITERALS.match(text, at):
        cells.append(literal.span(1 if literal[1] is not None else 2))
        at = literal.end()
        if literal[3] == ")":
            break
    return cells, at


# -- XML ------------------------------------------------------------------------------------------

_ELEMENT = lazy(r"<(?P<key>[A-Za-z_][\w:.-]{0,40})(?: [^<>]{0,200})?>(?P<value>[^<>\n]{1,512})</")


def elements(text: str, places: Iterable[int]) -> Iterator[Field]:
    """``<email>kim@example.com</email>``; all elements of a text count as one record."""
    for at in places:
        if text[at] == ">" and (begin := text.rfind("<", max(at - 256, 0), at)) >= 0:
            match = _ELEMENT.match(text, begin)
            if match:
                yield Field(match["key"].rpartition(":")[2], *match.span("value"), 0)
