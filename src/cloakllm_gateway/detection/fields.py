"""Fields of text that has structure: where a value stands, under which key, in which record.

Four readers, each one linear pass, each tolerant of what is cut off or
broken: braces (JSON, Python and JavaScript literals), assignments
(``key=value`` and XML attributes), lines (``Key: value``) and tables (CSV, TSV, Markdown and
ASCII tables).  They overlap on purpose; the engine merges what they prove.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from cloakllm_gateway.patterns import lazy


class Field(NamedTuple):
    """A value at ``start:end`` under ``key``; fields of one record share ``record``."""

    key: str
    start: int
    end: int
    record: int
    quoted: bool = True


# -- braces ---------------------------------------------------------------------------------------

# A string begins at a quote that no backslash and (for ') no letter precedes: an unterminated one fails once, and
# not at every quote.
_TOKEN = lazy(
    r"""(?<!\\)"(?P<dq>(?:[^"\\]|\\.)*+)"|(?<![\w\\])'(?P<sq>(?:[^'\\\n]|\\.)*+)'"""
    r"""|(?P<mark>[{}\[\]():,=])|(?P<bare>[^\s{}\[\]():,="']+)""",
    re.DOTALL,
)


def braces(text: str) -> Iterator[Field]:
    """``"key": value`` pairs of JSON, Python reprs and JavaScript literals, at any depth.

    A list under a key counts as many values of that key.
    """
    records = [0]
    keys: list[str] = [""]
    count = 0
    key = last = ""
    ready = False  # a colon followed the last string: it is the key of what comes
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup or ""
        if kind == "mark":
            mark = token[0]
            if mark in "{[(":
                count += mark == "{"
                records.append(count if mark == "{" else records[-1])
                keys.append(key if mark == "[" else "")
                key, ready = (key, ready) if mark == "[" else ("", False)
            elif mark in "}])":
                if len(records) > 1:
                    records.pop()
                    keys.pop()
                key, ready, last = "", False, ""
            elif mark in ":=":
                key, ready = last, bool(last)
            else:
                key = keys[-1]
                ready = bool(key)
            continue
        value = token[kind]
        if ready and key and value:
            start, end = token.span(kind)
            yield Field(key, start, end, records[-1], kind != "bare")
            if not keys[-1]:
                ready, key = False, ""
        last = value if len(value) <= 64 else ""


# -- assignments ----------------------------------------------------------------------------------

_ASSIGNMENT = lazy(
    r"""(?<![\w.-])(?P<key>[A-Za-z_][\w.-]{0,40})[ ]?(?:=>|:?=)(?!=)[ ]?"""
    r"""(?:"(?P<dq>[^"\n]{1,4096})"|'(?P<sq>[^'\n]{1,4096})'|(?P<bare>(?:[^\s,;&"'<>(){}\[\]|]|&(?![\w.-]{1,40}=))+))"""
)


def assignments(text: str) -> Iterator[Field]:
    """``key=value`` in logs, shells, INI files, query strings and XML attributes; a record is a line."""
    record, seen = 0, 0
    for match in _ASSIGNMENT.finditer(text):
        record += text.count("\n", seen, match.start())
        seen = match.start()
        group = "dq" if match["dq"] is not None else "sq" if match["sq"] is not None else "bare"
        yield Field(match["key"], *match.span(group), record, group != "bare")


# -- lines ----------------------------------------------------------------------------------------

_LINE = lazy(
    r"^[ \t>*#•|-]{0,12}(?P<key>[^\W\d_][^\n:：={}\"';()\[\]|]{0,40})(?:[ ]\([^()\n]{1,20}\))?[*_` \t]{0,4}[:：]"
    r"[*_`]{0,3}[ \t]{0,4}"
    r"(?P<value>[^\n]{1,1024})",
    re.MULTILINE,
)
_BLANK = lazy(r"\n[ \t]*\n")


def lines(text: str) -> Iterator[Field]:
    """``Key: value`` lines of YAML, forms, mail headers and vCards; a record ends at an empty line."""
    record, seen = 0, 0
    for match in _LINE.finditer(text):
        record += len(_BLANK.findall(text, max(seen - 1, 0), match.start()))
        seen = match.start()
        start, end = match.span("value")
        end = start + len(match["value"].rstrip(" \t\r,;|"))
        if end - start >= 2 and text[start] == text[end - 1] and text[start] in "\"'`":
            start, end = start + 1, end - 1
        if end > start:
            yield Field(match["key"].strip().split(";")[0], start, end, record)


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


def tables(text: str, heads: Iterable[int], personal: Callable[[str], bool]) -> Iterator[list[Column]]:
    """CSV, TSV and pipe tables, each as those of its columns that have a name.

    ``heads`` are places, in order, whose lines may be the header of a table;
    a header has a cell that ``personal`` recognises.
    """
    done = 0
    for at in heads:
        if at < done:
            continue
        start = text.rfind("\n", 0, at) + 1
        done = _line_end(text, at)
        line = text[start:done]
        header, mark = _header(line, personal) if _MOST_DIGITS.search(line) is None else ([], "")
        if header:
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


# -- XML ------------------------------------------------------------------------------------------

_ELEMENT = lazy(r"<(?P<key>[A-Za-z_][\w:.-]{0,40})(?: [^<>]{0,200})?>(?P<value>[^<>\n]{1,512})</")


def elements(text: str) -> Iterator[Field]:
    """``<email>kim@example.com</email>``; all elements of a text count as one record."""
    for match in _ELEMENT.finditer(text):
        yield Field(match["key"].rpartition(":")[2], *match.span("value"), 0)
