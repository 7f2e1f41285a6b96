"""Fields of text that has structure: where a value stands, under which key, in which record.

Readers begin where the linear engine saw a key that matters (:func:`.keys.places`):
at the marks of their own between a key and its value.  Each looks backwards for
the key and forwards for the value, a bounded way, so that all are linear and
tolerate what is cut off or broken: braces (JSON, Python and JavaScript
literals), assignments (``key=value`` and XML attributes), lines (``Key:
value``), elements of XML, and tables (CSV, TSV, Markdown and ASCII tables).
They overlap on purpose; the engine merges what they prove.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from msgspec import Struct

from cloakllm_gateway.patterns import lazy


class Field(Struct, frozen=True, gc=False):
    """A value at ``start:end`` under ``key``; fields of one record of a reader share ``record``."""

    key: str
    start: int
    end: int
    record: int
    quoted: bool = True


# -- braces ---------------------------------------------------------------------------------------

#: What a key in quotes does not hold, an apostrophe inside of a word apart, and how long it may be with its quotes.
_NO_KEY = lazy(r"[\"\\\n{}\[\],:]|(?<![^\W\d_])'|'(?![^\W\d_])")
_LONGEST_QUOTED = 66
#: What stands between a key and its colon now and then.
_BLANKS = frozenset(" \n\t")
#: A bare key behind a brace or comma, read backwards.
_BARE_KEY = lazy(r"[ ]?(\w{0,63}[^\W\d])[ \n\t]{0,16}[{,]")
_SPACE = r"[ \t\r\n]{0,64}"
_VALUE = lazy(
    rf"""{_SPACE}(?:"([^"\\]*+(?:\\.[^"\\]*+)*+)"?|'([^'\\\n]*+(?:\\.[^'\\\n]*+)*+)'"""
    r"""|([\[(])|([^\s{}\[\]():,="']+))""",
    re.DOTALL,
)
#: Which of its groups is the beginning of a list, and which a value without quotes.
_LIST, _BARE = 3, 4


def braces(text: str, places: Iterable[int]) -> Iterator[Field]:
    """``"key": value`` pairs of JSON, Python reprs and JavaScript literals, at any depth.

    A list under a key counts as many values of that key; a record is an object.
    """
    records = _Records(text)
    done = 0  # what lies inside of a value is no key: nothing is read twice
    for at in places:
        if at < done or not (key := _brace_key(text, at)) or (value := _VALUE.match(text, at + 1)) is None:
            continue
        kind = value.lastindex or 0
        if kind == _LIST:
            record = records.at(at)
            for start, end, quoted in _members(text, value.end()):
                done = end
                yield Field(key, start, end, record, quoted)
            continue
        start, end = value.span(kind)
        if end > start:
            done = end
            yield Field(key, start, end, records.at(at), kind != _BARE)


def _brace_key(text: str, at: int) -> str:
    """The key that ends at a colon, or ""."""
    end, quote = at, text[at - 1 : at]
    if quote in _BLANKS:
        while end > 0 and at - end < 4 and text[end - 1] in " \n\t":
            end -= 1
        quote = text[end - 1 : end]
    if quote == '"' or quote == "'":
        begin = text.rfind(quote, end - _LONGEST_QUOTED if end > _LONGEST_QUOTED else 0, end - 1)
        key = text[begin + 1 : end - 1]
        return key if begin >= 0 and _may_be_key(key) and text[begin - 1 : begin] != "\\" else ""
    bare = _BARE_KEY.match(text[max(at - 96, 0) : at][::-1])
    return bare[1][::-1] if bare else ""


@lru_cache(maxsize=1024)
def _may_be_key(key: str) -> bool:
    return _NO_KEY.search(key) is None


def _members(text: str, at: int) -> Iterator[tuple[int, int, bool]]:
    """The strings and other scalars of a list that begins before a place, of any depth."""
    depth = 1
    while match := _VALUE.match(text, at):
        kind = match.lastindex or 0
        at = match.end()
        if kind == _LIST:
            depth += 1
            continue
        start, end = match.span(kind)
        if end > start:
            yield start, end, kind != _BARE
        if (more := _NEXT.match(text, at)) is None:
            return
        depth -= more[0].count("]") + more[0].count(")")
        if depth <= 0:
            return
        at = more.end()


#: What may stand between two members of a list.
_NEXT = lazy(r"[ \t\r\n\])]{0,64}(?:,[ \t\r\n\[(]{0,64}|(?<=[\])]))")


class _Records:
    """Which object of the text a place is in, for places in order; braces inside of strings are taken for braces."""

    def __init__(self, text: str) -> None:
        self._screen = text.encode("ascii", "replace")
        self._seen = 0
        self._count = 0
        self._stack = [0]

    def at(self, place: int) -> int:
        braces = self._screen[self._seen : place].translate(None, _NO_BRACES)
        self._seen = place
        for brace in braces:
            self._count += 1
            if brace == _OPENING:
                self._stack.append(self._count)
            elif len(self._stack) > 1:
                self._stack.pop()
        return self._stack[-1]


_OPENING = ord("{")
_NO_BRACES = bytes(set(range(256)) - set(b"{}"))


# -- assignments ----------------------------------------------------------------------------------

#: The key of an assignment, read backwards from its mark.
_ASSIGNED_KEY = lazy(r":?[ ]?[\w.-]{0,40}[^\W\d](?![\w.-])")
_ASSIGNMENT = lazy(
    r"""([^\W\d][\w.-]{0,40})[ ]?(?:=>|:?=)(?!=)[ ]?"""
    r"""(?:"([^"\n]{1,4096})"|'([^'\n]{1,4096})'|((?:[^\s,;&"'<>(){}\[\]|]|&(?![\w.-]{1,40}=))+))"""
)
#: Which of its groups is a value without quotes; the first one is the key.
_UNQUOTED = 4


def assignments(text: str, places: Iterable[int]) -> Iterator[Field]:
    """``key=value`` in logs, shells, INI files, query strings and XML attributes; a record is a line."""
    record, seen, done = 0, 0, 0
    for at in places:
        if at < done or (key := _ASSIGNED_KEY.match(text[at - 48 if at > 48 else 0 : at][::-1])) is None:
            continue
        match = _ASSIGNMENT.match(text, at - key.end())
        if match:
            record += text.count("\n", seen, at)
            group = match.lastindex or 0
            start, end = match.span(group)
            seen, done = at, match.end()
            yield Field(match[1], start, end, record, group != _UNQUOTED)


# -- lines ----------------------------------------------------------------------------------------

_LINE = lazy(
    r"[ \t>*#•|-]{0,12}(?P<key>[^\W\d_][^\n:：={}\"';()\[\]|]{0,40}(?:'(?=[^\W\d_])[^\n:：={}\"';()\[\]|]{0,20})?)"
    r"(?:;[^\n:]{1,80})?(?:[ ]\([^()\n]{1,20}\))?"
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
        if begin == done or (begin == 0 and at >= _LONGEST_KEY):
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


#: Where the cells of a row stand, each trimmed; an empty cell is ``(at, at)``.
Row = Sequence[tuple[int, int]]


class Table(NamedTuple):
    """Columns by their ``keys``; each row, which is read when it is asked for, has a cell for each of them."""

    keys: Sequence[str]
    rows: Iterable[Row]


_RULE = lazy(r"[\s|+:=-]+")
#: The head of a column may be numbered; a line with more digits than a few is data.
_MOST_DIGITS = lazy(r"\d(?:\D*\d){4}")
#: A header is looked for on at most this many cells; wider lines are data.
_MOST_COLUMNS = 200
#: The name of a column is no longer than this, and its cell has no more blanks and quotes on top.
_LONGEST_NAME, _PADDING = 48, 80


def tables(
    text: str,
    heads: Iterable[int],
    known: Callable[[str], str],
    personal: Callable[[str], bool],
    named: Callable[[str], bool],
) -> Iterator[Table]:
    """CSV, TSV and pipe tables, each as those of its columns that are ``known``.

    ``heads`` are places, in order, whose lines may be the header of a table;
    a header has a cell that ``personal`` recognises.  ``named`` knows further
    keys, which say something beside a personal one.  The rows of a table have
    to be read before the next table is asked for, which is looked for below.
    """
    done = 0
    for at in heads:
        if at < done:
            continue
        start = text.rfind("\n", 0, at) + 1
        done = _line_end(text, at)
        header, mark = _header(text, start, done, personal)
        if len(header) == 2 and (pairs := _pairs(text, start, mark, named)):
            table, done = pairs
            yield table
        elif header:
            wanted = [i for i, name in enumerate(header) if known(name)]
            rows = _Rows(text, done + 1, mark, len(header), wanted, personal)
            yield Table([header[i] for i in wanted], rows)
            done = rows.end


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


class _Rows:
    """The wanted cells of the rows from a place on that have as many cells as the header, or stand among such rows.

    ``end`` is behind the last of them when all were read.  A row with more or fewer cells, among them what a mark
    without quotes makes of one, is read from either end.  A long table gets an expression of its own, which reads a
    plain row at once.
    """

    def __init__(
        self, text: str, start: int, mark: str, width: int, wanted: Sequence[int], personal: Callable[[str], bool]
    ) -> None:
        self.end = start
        self._text, self._mark, self._width, self._wanted = text, mark, width, wanted
        self._personal = personal

    def __iter__(self) -> Iterator[Row]:
        text, wanted, read = self._text, self._wanted, 0
        plain: re.Pattern[str] | None = None
        odd: list[Row] = []  # rows of another width since the last one that fits
        is_apart = False  # whether an empty line stands between
        at = self.end
        while at < len(text):
            # The line break before the row is the mark of its first cell.
            if plain is not None and (row := plain.match(text, at - 1)) is not None:
                if odd:
                    yield from self._either_way(odd)
                    odd = []
                yield row.regs[1:]  # the spans of all groups
                self.end = at = row.end() + 1
                is_apart = False
                continue
            start, end = at, _line_end(text, at)
            at = end + 1
            if start < end and (text[start].isalnum() or not _RULE.fullmatch(text, start, end)):
                cells, end = self._row(start, end)
                at = end + 1
                if len(cells) != self._width:
                    if is_apart or len(odd) == _MOST_ODD or self._ends_with(start, end, read):
                        break
                    odd.append(cells)
                    continue
                yield from self._either_way(odd)
                yield [cells[i] for i in wanted]
                odd, is_apart = [], False
                read += 1
                if read == _FEW and self._mark in _PLAIN_CELL and len(text) - end > _LONG * (end - start):
                    plain = _plain_row(self._mark, self._width, tuple(wanted))
            elif not odd:
                is_apart = is_apart or text[start:end].isspace() or start == end
            if not odd:
                self.end = at
        if read:
            yield from self._either_way(odd)
        self.end = min(self.end, len(text))

    def _ends_with(self, start: int, end: int, read: int) -> bool:
        """Whether a line of another width is surely no row: it is indented, as code is, or the header of a table."""
        is_code = read < _FEW and self._mark in _CODED and self._text[start] in " \t"
        return is_code or any(_header(self._text, start, end, self._personal))

    def _row(self, start: int, end: int) -> tuple[Row, int]:
        """The cells of the row on a line, and where it ends: a cell in quotes may go on below."""
        cells = self._cells(start, end)
        if self._mark != "|" and self._text.count('"', start, end) % 2:
            last, quotes = end, 1
            while quotes % 2 and (more := self._text.find('"', last, start + _LONGEST_ROW)) >= 0:
                last = _line_end(self._text, more)
                quotes += self._text.count('"', more, last)
            if quotes % 2 == 0:
                whole = [(start + first, start + stop) for first, stop in _cells(self._text[start:last], self._mark)]
                if len(whole) == self._width:
                    return whole, last
        return cells, end

    def _either_way(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Rows of another width, the cells that are missing at their end, and at their beginning."""
        for row in rows:
            if len(row) > 1:
                missing = [(row[0][0], row[0][0])] * (self._width - len(row))
                for cells in ([*row[: self._width], *missing], [*missing, *row[-self._width :]]):
                    yield [cells[i] for i in self._wanted]

    def _cells(self, start: int, end: int) -> Row:
        if (plain := _PLAIN_CELL.get(self._mark)) is not None:
            cells = [cell.span(1) for cell in plain.finditer(self._text, start - 1, end)]
            if cells[-1] != _ODD:
                return cells
        return [(start + first, start + last) for first, last in _cells(self._text[start:end], self._mark)]


#: So many rows of another width in a row end a table, and so does a single one below an empty line.
_MOST_ODD = 8
#: Marks that code is full of.
_CODED = (",", ";")
#: A cell in quotes that goes on below its line is read if its row has at most so many code points.
_LONGEST_ROW = 4_096

#: After a few rows a table is worth an expression if the text has room for many more: it takes as long to make as to
#: read so many without it.
_FEW, _LONG = 5, 250


def _plain(mark: str, group: str) -> str:
    """A cell as most are: nothing to be trimmed, and quotes around all of it, as looking back tells, or nowhere."""
    unquoted = rf"""(?<!")(?:[^ {mark}"'\n\r][^{mark}\n\r]*+(?<![ \t]))?+"""
    return rf"""(?:"?+{group}(?<=")[^"\n]*+(?=")|{unquoted})"?+)"""


#: A mark and a plain cell.  Another one takes all that is left of the row, and has no place.
_PLAIN_CELL = {
    mark: lazy(rf"[{mark}\n](?:{_plain(mark, '(')}(?=[{mark}\n]|\Z)|[^\n]*+)") for mark in "\t;,"
}  # fmt: skip
_ODD = (-1, -1)


@lru_cache(maxsize=64)
def _plain_row(mark: str, width: int, wanted: tuple[int, ...]) -> re.Pattern[str]:
    """A row of plain cells with the line break before it, a group for each that is wanted; no rule begins so."""
    cells = mark.join(_plain(mark, "(" if i in wanted else "(?:") for i in range(width))
    return re.compile(rf"""\n(?=[\w"]){cells}\r*+(?=\n|\Z)""")


def _pairs(text: str, start: int, mark: str, named: Callable[[str], bool]) -> tuple[Table, int] | None:
    """A table that lies on its side, ``first_name,Kim`` over ``email,kim@x.org``: each line is a key and its value.

    It is one if two lines begin with a key that ``named`` knows; lines before the first such one belong to it.
    """
    while start > 0 and (before := _pair(text, text.rfind("\n", 0, start - 1) + 1, mark)):
        start = before[0]
    keys: list[str] = []
    cells: list[tuple[int, int]] = []
    known = 0
    while start < len(text) and (pair := _pair(text, start, mark)):
        _, key, cell, end = pair
        known += named(key)
        keys.append(key)
        cells.append(cell)
        start = end + 1
    return (Table(keys, [cells]), min(start, len(text))) if known > 1 else None


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


def _header(text: str, start: int, end: int, personal: Callable[[str], bool]) -> tuple[list[str], str]:
    """The names of the columns of a header, and the mark between them; none if the line is no header.

    Most lines that mention a key are none, and are told by their length and by the line that follows.
    """
    line = text[start:end]
    for mark in "|\t;,":
        count = line.strip(" \t\r|").count(mark) if mark == "|" else line.count(mark)
        if not 0 < count <= _MOST_COLUMNS or len(line) > (count + 1) * (_LONGEST_NAME + _PADDING):
            continue
        if (count == 1 or _may_be_row(text, end + 1, mark)) and not _MOST_DIGITS.search(line):
            if not ('"' in line or "'" in line or any(personal(cell.strip()) for cell in line.split(mark))):
                continue  # most lines of code end here; a cell in quotes may hold the mark
            names = [line[first:last].strip("*`") for first, last in _cells(line, mark)]
            if len(names) > 1 and all(len(name) <= _LONGEST_NAME for name in names) and any(map(personal, names)):
                return names, mark
    return [], ""


def _may_be_row(text: str, start: int, mark: str) -> bool:
    """Whether a line has the mark of a row; an empty one, a rule and a remark may stand between a header and its rows.

    A cell in quotes may go on below, and the mark is there then.
    """
    line = text[start : _line_end(text, start)]
    return mark in line or not line or line[0] in '#"' or _RULE.fullmatch(line) is not None


_QUOTE = lazy("[\"']")
#: A cell in quotes up to the mark behind it: it may hold the mark, and doubles a quote.
_QUOTED = {
    mark: lazy(rf"""(?:"((?:[^"]|"")*+)(?:"[^{mark}]*)?|'((?:[^']|'')*+)(?:'[^{mark}]*)?)""") for mark in "|\t;,"
}


def _cells(line: str, mark: str) -> list[tuple[int, int]]:
    """Trimmed cells of a line."""
    if mark != "|":
        return _split(line.rstrip("\r"), mark, 0)
    start, line = len(line) - len(line.lstrip(" \t")), line.rstrip(" \t\r")
    if line[start : start + 1] != mark:
        return _split(line, mark, start)
    return _split(line[:-1] if line.endswith(mark) and len(line) > start + 1 else line, mark, start + 1)


def _split(line: str, mark: str, at: int) -> list[tuple[int, int]]:
    """Trimmed cells of a line from a place on."""
    found: list[tuple[int, int]] = []
    for quote in _QUOTE.finditer(line, at):
        start = lead = quote.start()
        while lead > at and line[lead - 1] == " ":
            lead -= 1
        if start < at or (lead > at and line[lead - 1] != mark):
            continue  # inside of a cell
        if lead > at:
            found += _unquoted(line, at, lead - 1, mark)
        cell = _QUOTED[mark].match(line, start)
        assert cell is not None  # it begins with a quote, and everything else may be missing
        found.append(cell.span(cell.lastindex or 0))
        at = cell.end() + 1
    return found if at > len(line) else found + _unquoted(line, at, len(line), mark)


def _unquoted(line: str, start: int, end: int, mark: str) -> list[tuple[int, int]]:
    chunk = line[start:end]
    found = []
    if _is_padded(chunk, mark):
        for cell in chunk.split(mark):
            end = start + len(cell)
            inner = cell.lstrip(" ")
            found.append((end - len(inner), end - len(inner) + len(inner.rstrip(" \t"))))
            start = end + 1
    else:
        for size in map(len, chunk.split(mark)):
            found.append((start, start + size))
            start += size + 1
    return found


def _is_padded(chunk: str, mark: str) -> bool:
    """Whether some cell begins or ends with a blank."""
    return chunk[:1] == " " or chunk[-1:] in (" ", "\t") or any(pad in chunk for pad in _PADS[mark])


_PADS = {mark: (f"{mark} ", f" {mark}", f"\t{mark}") for mark in "|\t;,"}


# -- SQL ------------------------------------------------------------------------------------------

_INSERT = lazy(
    r"(?:insert|replace)\s{1,8}(?:ignore\s{1,8})?into\s{1,8}[\w.\"`\[\]]{1,80}\s{0,8}\((?P<names>[^()]{1,4096})\)\s{0,8}values\s{0,8}",
    re.IGNORECASE,
)
_LITERALS = lazy(r"\s{0,8}(?:[NnEe]?'((?:[^'\\]|''|\\.)*+)'|([^\s'(),;]{1,64}))\s{0,8}([,)])")


#: An INSERT is looked for so many code points before its first row.
_LONGEST_INSERT = 4_352


def inserts(text: str, places: Iterable[int]) -> Iterator[Table]:
    """The rows of ``INSERT INTO t (name, ...) VALUES (...), (...)`` as a table; ``places`` are in first rows."""
    done = 0
    for at in places:
        insert = _INSERT.search(text, max(at - _LONGEST_INSERT, done), at)
        done = at
        if insert:
            keys = [name.strip(' \t\r\n"`[]') for name in insert["names"].split(",")]
            yield Table(keys, _inserted(text, insert.end(), len(keys)))


def _inserted(text: str, at: int, width: int) -> Iterator[Row]:
    while text[at : at + 1] == "(":
        row, at = _row(text, at + 1)
        if len(row) != width:
            break
        yield row
        more = _COMMA.match(text, at)
        at = more.end() if more else at


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

_ELEMENT = lazy(r"<(?P<key>[^\W\d][\w:.-]{0,40})(?: [^<>]{0,200})?>(?P<value>[^<>\n]{1,512})</")


def elements(text: str, places: Iterable[int]) -> Iterator[Field]:
    """``<email>kim@example.com</email>``; all elements of a text count as one record."""
    for at in places:
        if (begin := text.rfind("<", max(at - 256, 0), at)) >= 0:
            match = _ELEMENT.match(text, begin)
            if match:
                yield Field(match["key"].rpartition(":")[2], *match.span("value"), 0)
