"""Fields of text that has structure: where a value stands, under which key, in which record.

Four readers, each one linear pass, each tolerant of what is cut off or
broken: braces (JSON, Python and JavaScript literals), assignments
(``key=value`` and XML attributes), lines (``Key: value``) and tables (CSV, TSV, Markdown and
ASCII tables).  They overlap on purpose; the engine merges what they prove.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
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

_ROW = lazy(r"[^\n]+")
_RULE = lazy(r"[\s|+:=-]+")
#: The head of a column may be numbered; a line with more digits than a few is data.
_MOST_DIGITS = lazy(r"\d(?:\D*\d){4}")
#: A header is looked for on at most this many cells; wider lines are data.
_MOST_COLUMNS = 200


def tables(text: str, personal: Callable[[str], bool]) -> Iterator[Field]:
    """Cells of CSV, TSV and pipe tables under a header that ``personal`` recognises a cell of."""
    header: list[str] = []
    mark = ""
    record = 0
    for row in _ROW.finditer(text):
        line = row[0]
        if header and _RULE.fullmatch(line):
            continue
        if header and mark in line:
            cells = list(_cells(line, mark))
            if len(cells) == len(header):
                record += 1
                for name, (start, end) in zip(header, cells, strict=True):
                    if end > start and name:
                        yield Field(name, row.start() + start, row.start() + end, record)
                continue
        header, mark = _header(line, personal) if _MOST_DIGITS.search(line) is None else ([], "")


def _header(line: str, personal: Callable[[str], bool]) -> tuple[list[str], str]:
    for mark in "|\t;,":
        if mark in line and line.count(mark) <= _MOST_COLUMNS:
            names = [line[start:end].strip("*`") for start, end in _cells(line, mark)]
            if len(names) > 1 and all(len(name) <= 48 for name in names) and any(map(personal, names)):
                return names, mark
    return [], ""


def _cells(line: str, mark: str) -> Iterator[tuple[int, int]]:
    """Trimmed cells of a line; a cell in quotes may hold the mark."""
    end = len(line.rstrip("\r"))
    at = 0
    if mark == "|":
        at = len(line) - len(line.lstrip(" \t|"))
        end = len(line.rstrip(" \t\r|")) if line.rstrip(" \t\r").endswith("|") else end
    while True:
        start = at
        while start < end and line[start] == " ":
            start += 1
        if start < end and line[start] in "\"'":
            quote = line[start]
            close = _closing(line, quote, start + 1, end)
            stop = line.find(mark, close, end)
            stop = end if stop < 0 else stop
            yield start + 1, max(close, start + 1)
        else:
            stop = line.find(mark, at, end)
            stop = end if stop < 0 else stop
            last = stop
            while last > start and line[last - 1] in " \t":
                last -= 1
            yield start, last
        if stop >= end:
            return
        at = stop + 1


def _closing(line: str, quote: str, at: int, end: int) -> int:
    """Where a quoted cell ends; a doubled quote is part of it."""
    while True:
        close = line.find(quote, at, end)
        if close < 0:
            return end
        if line[close + 1 : close + 2] != quote:
            return close
        at = close + 2


# -- XML ------------------------------------------------------------------------------------------

_ELEMENT = lazy(r"<(?P<key>[A-Za-z_][\w:.-]{0,40})(?: [^<>]{0,200})?>(?P<value>[^<>\n]{1,512})</")


def elements(text: str) -> Iterator[Field]:
    """``<email>kim@example.com</email>``; all elements of a text count as one record."""
    for match in _ELEMENT.finditer(text):
        yield Field(match["key"].rpartition(":")[2], *match.span("value"), 0)
