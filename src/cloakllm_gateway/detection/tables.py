"""Tables of text: CSV and TSV, tables drawn with lines, columns aligned by blanks, and single columns.

A header is a line with the name of a column that may prove its cells; the heads
that :func:`.keys.heads` saw are where to look.  Names of people's data make a
header of any line of cells.  Code and prose are full of those of secrets and
accounts, so these count only where the line can be nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from cloakllm_gateway.detection import aligned, labelled
from cloakllm_gateway.detection.aligned import Row
from cloakllm_gateway.detection.keys import NAME
from cloakllm_gateway.patterns import lazy


class Table(NamedTuple):
    """Columns by their ``keys``; each row, which is read when it is asked for, has a cell for each of them.

    ``is_certain`` unless the header has no word for a person's data, so that its cells may be something else.
    """

    keys: Sequence[str]
    rows: Iterable[Row]
    is_certain: bool = True


class Words(NamedTuple):
    """What is known of the names of columns."""

    #: Whether one means anything.
    known: Callable[[str], str]
    #: Whether it is about a person, so that it makes a header of its line.
    personal: Callable[[str], bool]
    #: Whether it is about a secret or an account, which makes a header of what can be nothing else.
    telling: Callable[[str], bool]
    #: Whether it says something beside a personal one, or is one.
    named: Callable[[str], bool]

    def hints(self, name: str) -> bool:
        """Whether it may make a header."""
        return self.personal(name) or self.telling(name)


_RULE = lazy(r"[\s|+:=\u2500-\u257f-]+")
#: A cell of a header may be numbered; with more digits than a few it is data.
_MOST_DIGITS = {mark: lazy(rf"\d(?:[^\d{mark}]*\d){{4}}") for mark in "|\t;,"}
#: A header is looked for on at most this many cells; wider lines are data.
_MOST_COLUMNS = 200
#: The name of a column is no longer than this, and its cell has no more blanks and quotes on top.
_LONGEST_NAME, _PADDING = 48, 80
#: The same where it has to look like one.
_PLAIN_NAME = lazy(r"(?:#|[^\W\d][\w .#/&-]{0,40}(?: ?\([\w /-]{1,20}\))?)?")
#: What divides the cells of a table that is drawn, and its lines, as the mark that divides others, and as blanks.
_BOX = str.maketrans(
    dict.fromkeys("│┃║┆┇┊┋╎╏┌┬┐├┼┤└┴┘┏┳┓┣╋┫┗┻┛╔╦╗╠╬╣╚╩╝┡╇┩╭╮╰╯╞╪╡╒╤╕╘╧╛", "|") | dict.fromkeys("─━═╌┄┈", " ")
)
_DRAWN = lazy("[│┃║┆┇┊┋╎╏]|[┌╭╒┏╔][─━═]")
#: What may divide cells; most lines that end with a key have none.
_MARK = lazy("[|\t;,│┃║┆┇┊┋╎╏┌╭╒┏╔]")


def tables(text: str, heads: Iterable[int], words: Words) -> Iterator[Table]:
    """The tables of a text, each as those of its columns that are known.

    ``heads`` are places, in order, whose lines may be the header of a table.
    The rows of a table have to be read before the next table is asked for,
    which is looked for below.
    """
    done = unpaired = unformed = 0  # up to where there is no pair of lines as in tables on their side, and no form
    for at in heads:
        if at < done:
            continue
        start = text.rfind("\n", 0, at) + 1
        done = _line_end(text, at)
        header = _header(text, start, done, words) if _MARK.search(text, start, done) else None
        if header is not None:
            names, mark, is_certain, is_dense, is_led = header
            if len(names) == 2 and start >= unpaired and not is_led:
                is_sure = is_dense or mark == "|" or not is_certain
                pairs, unpaired = _pairs(text, start, mark, words, is_sure)
                if pairs:
                    done = unpaired
                    yield pairs
                    continue
            if mark == "|" and _is_inner(text, start, done):
                continue
            unnamed = NAME if any(map(_of_goods, names)) else ""
            wanted = [i for i, name in enumerate(names) if words.known(name) not in ("", unnamed)]
            rows = _Rows(text, done + 1, header, wanted, words)
            yield Table([names[i] for i in wanted], rows, is_certain)
            done = rows.end
            continue
        form = labelled.read(text, start, done, words.known) if start >= unformed else _NO_FORM
        unformed = max(form.end, unformed)
        if form.labels:
            done = max(form.end, done)
            yield Table(form.labels, [form.values], is_certain=False)
        elif columns := aligned.read(text, start, done, words.known):
            done = columns.end
            if any(map(words.hints, columns.names)):
                yield Table(columns.names, columns.rows, any(map(words.personal, columns.names)))
        elif column := _column(text, start, done, words):
            table, done = column
            yield table


_NO_FORM = labelled.Form((), (), 0)


def _of_goods(name: str) -> bool:
    """Whether a column says that the rows are things with a name, whoever supplies them."""
    return not _GOODS.isdisjoint(name.lower().replace("_", " ").split())


_GOODS = frozenset("sku ean upc gtin asin price stock supplier artikel artikelnummer preis".split())


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


class _Rows:
    """The wanted cells of the rows from a place on that have as many cells as the header, or stand among such rows.

    ``end`` is behind the last of them when all were read.  A row with more or fewer cells, among them what a mark
    without quotes makes of one, is read from either end.  A long table gets an expression of its own, which reads a
    plain row at once.  Where none fits, others count below a header that ``is_dense``, as lines of code are not.
    """

    def __init__(self, text: str, start: int, header: _Header, wanted: Sequence[int], words: Words) -> None:
        self.end = start
        self._text, self._mark, self._width, self._wanted = text, header.mark, len(header.names), wanted
        self._words = words
        self._is_dense, self._is_led = header.is_dense, header.is_led

    def __iter__(self) -> Iterator[Row]:
        text, wanted, read = self._text, self._wanted, 0
        plain: re.Pattern[str] | None = None
        odd: list[Row] = []  # rows of another width since the last one that fits
        is_apart = False  # whether an empty line stands between
        at = self.end
        while at < len(text):
            # The line break before the row is the mark of its first cell.
            if plain is not None and not is_apart and (row := plain.match(text, at - 1)) is not None:
                if odd:
                    yield from self._either_way(odd)
                    odd = []
                yield row.regs[1:]  # the spans of all groups
                self.end = at = row.end() + 1
                is_apart = False
                continue
            start, end = at, _line_end(text, at)
            at = end + 1
            if self._is_led:
                start += _led(text, start, end)
            if start < end and (text[start].isalnum() or not _RULE.fullmatch(text, start, end)):
                cells, end = self._row(start, end)
                at = end + 1
                if is_apart and self._is_header(start, end):
                    break
                if len(cells) != self._width:
                    if is_apart or self._ends_with(start, end, read):
                        break
                    if len(odd) == _MOST_ODD:
                        if not (read or self._is_dense) or not all(map(self._is_alike, odd)):
                            break
                        yield from self._either_way(odd)
                        odd, self.end = [], start
                    odd.append(cells)
                    continue
                yield from self._either_way(odd)
                yield [cells[i] for i in wanted]
                odd, is_apart = [], False
                read += 1
                if (
                    read == _FEW
                    and self._mark in _PLAIN_CELL
                    and not self._is_led
                    and len(text) - end > _LONG * (end - start)
                ):
                    plain = _plain_row(self._mark, self._width, tuple(wanted))
            elif not odd:
                is_apart = is_apart or text[start:end].isspace() or start == end
            if not odd:
                self.end = at
        if read or self._is_dense:
            yield from self._either_way(odd)
        self.end = min(self.end, len(text))

    def _ends_with(self, start: int, end: int, read: int) -> bool:
        """Whether a line of another width is surely no row: it is indented, as code is, or the header of a table."""
        is_code = read < _FEW and self._mark in _CODED and self._text[start] in " \t"
        return is_code or self._is_header(start, end)

    def _is_alike(self, row: Row) -> bool:
        """Whether a row of another width has so many cells that it is no line of prose."""
        return len(row) >= max(self._width - 1, _WIDE)

    def _is_header(self, start: int, end: int) -> bool:
        """Whether a line is for certain the header of a table of its own."""
        header = _header(self._text, start, end, self._words)
        return header is not None and header.is_certain

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
        if not self._is_led and (plain := _PLAIN_CELL.get(self._mark)) is not None:
            cells = [cell.span(1) for cell in plain.finditer(self._text, start - 1, end)]
            if cells[-1] != _ODD:
                return cells
        return [(start + first, start + last) for first, last in _cells(self._text[start:end], self._mark)]


#: So many rows of another width in a row end a table unless they have at least so many cells: texts without quotes have
#: the mark in most rows.  A single one below an empty line ends it.
_MOST_ODD, _WIDE = 8, 4
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


def _pairs(text: str, start: int, mark: str, words: Words, is_sure: bool) -> tuple[Table | None, int]:
    """A table that lies on its side, ``first_name,Kim`` over ``email,kim@x.org``: each line is a key and its value.

    It is one if two lines begin with a key that is named, or telling if code ``is_sure`` not to look so; lines before
    the first such one belong to it.
    What ``field,type`` stands above are no values.  Answers with where its lines end as well.
    """
    while start > 0 and (before := _pair(text, text.rfind("\n", 0, start - 1) + 1, mark)):
        start = before[0]
    keys: list[str] = []
    cells: list[tuple[int, int]] = []
    known = 0
    while start < len(text) and (pair := _pair(text, start, mark)):
        _, key, cell, end = pair
        known += words.named(key) or (is_sure and words.telling(key))
        keys.append(key)
        cells.append(cell)
        start = end + 1
    end = min(start, len(text))
    if known < 2:
        return None, end
    is_described = text[slice(*cells[0])].strip("*`").lower() in _DESCRIBING
    return Table(keys, [] if is_described else [cells], any(map(words.personal, keys))), end


#: What the second column of a table about fields is called.
_DESCRIBING = frozenset("type data type datatype description format meaning required default notes comment".split())


def _pair(text: str, start: int, mark: str) -> tuple[int, str, tuple[int, int], int] | None:
    """A line of two cells: where it begins, the first cell, where the second one is, where the line ends."""
    end = _line_end(text, start)
    if end - start > 1_024:
        return None
    line = text[start:end]
    if mark == "|":
        line = _undrawn(line)
    cells = _cells(line, mark) if mark in line else ()
    if len(cells) != 2 or cells[0][0] == cells[0][1] or _PARAMETER.match(line, cells[1][0]):
        return None
    (first, last), (begin, stop) = cells
    return start, line[first:last], (start + begin, start + stop), end


#: What stands between the key and the value of a vCard is no cell: ``EMAIL;TYPE=work:kim@example.com``.
_PARAMETER = lazy(r"[A-Za-z-]{2,20}=[^:;]{1,80}:")


#: What tools put before each line of a file: its number, or the name of the file and its number.
NUMBERED = r"(?:[ ]{0,8}\d{1,7}(?:[→\t]|[:|│] ?)|Row \d{1,7}: |[\w./@-]{1,120}:\d{1,7}:)"


def _led(text: str, start: int, end: int) -> int:
    """The length of what a tool put before a line: most begin with a letter, and have nothing."""
    if start < end and (text[start] in " +->" or text[start].isdigit() or ":" in text[start : start + _LONGEST_LEAD]):
        lead = _LEAD.match(text, start, end)
        return lead.end() - start if lead else 0
    return 0


#: ... and what says how a line was changed.
_LEAD = lazy(rf"{NUMBERED}[+-]?|[+>-] ?(?=[^\W\d_\"'])| (?=[^\W\d_])")
_LONGEST_LEAD = 140


class _Header(NamedTuple):
    """The names of columns and the mark between them."""

    names: list[str]
    mark: str
    #: Whether one is about a person.
    is_certain: bool
    #: Whether no cell begins with a blank, as code and prose have them behind a comma.
    is_dense: bool
    #: Whether something stands before it that is before each line, its number for one.
    is_led: bool


def _header(text: str, start: int, end: int, words: Words) -> _Header | None:
    """The header that a line is, if any.

    Most lines that mention a key are none, and are told by their length and by the line that follows.
    """
    lead = _led(text, start, end)
    line = _undrawn(text[start + lead : end])
    for mark in "|\t;,":
        count = line.strip(" \t\r|").count(mark) if mark == "|" else line.count(mark)
        if not 0 < count <= _MOST_COLUMNS or len(line) > (count + 1) * (_LONGEST_NAME + _PADDING):
            continue
        if (count == 1 or _may_be_row(text, end + 1, mark)) and not _MOST_DIGITS[mark].search(line):
            if not any(words.hints(cell.strip()) for cell in line.split(mark)):
                continue  # most lines of code end here
            names = [line[first:last].strip("*`") for first, last in _cells(line, mark)]
            if not any(names[1:]) or max(map(len, names)) > _LONGEST_NAME or any(map(_is_code, names)):
                continue
            is_certain = any(map(words.personal, names))
            is_dense = line[0] not in " \t" and f"{mark} " not in line
            if is_certain or (any(map(words.telling, names)) and _is_surely(text, line, end, names, mark, is_dense)):
                return _Header(names, mark, is_certain, is_dense, lead > 0)
    return None


def _is_code(name: str) -> bool:
    """Whether what stands between two marks is a part of a statement: ``const char *address);``."""
    return name.count("(") != name.count(")") or _CODE.search(name) is not None


_CODE = lazy(r"[;=]|\"[ ]?:|/\*|\*/|\w\.\w+\(")


def _is_inner(text: str, start: int, end: int) -> bool:
    """Whether a line is a row below others: they and their header are above it, and no rule is below it."""
    before = _line_before(text, start)
    if _RULE.fullmatch(text, *before):
        before = _line_before(text, before[0])
    is_below_row = _undrawn(text[slice(*before)]).lstrip().startswith("|")
    return is_below_row and not _RULE.fullmatch(text, end + 1, _line_end(text, end + 1))


def _line_before(text: str, start: int) -> tuple[int, int]:
    """The line above the one that begins at a place, an empty one if there is none."""
    end = max(start - 1, 0)
    return text.rfind("\n", 0, end) + 1, end


def _is_surely(text: str, line: str, end: int, names: Sequence[str], mark: str, is_dense: bool) -> bool:
    """Whether a line is a header by its looks, for code lists the names of secrets: ``host, user, password``."""
    if not _may_be_row(text, end + 1, mark) or not all(map(_PLAIN_NAME.fullmatch, names)):
        return False
    if mark == "|" and " |" in line:
        is_drawn = line.lstrip().startswith("|")
        return is_drawn or _RULE.fullmatch(text, end + 1, _line_end(text, end + 1)) is not None
    return is_dense


def _undrawn(line: str) -> str:
    """A line as it is with the mark ``|`` between its cells, where they are divided by lines that are drawn."""
    return line if line.isascii() or not _DRAWN.search(line) else line.translate(_BOX)


def _column(text: str, start: int, end: int, words: Words) -> tuple[Table, int] | None:
    """A name alone on its line over values with digits in them, one on each, and where they end."""
    if end - start > _LONGEST_NAME + _PADDING or not _VALUE.match(text, end + 1):
        return None
    name = text[start:end].strip(" \t\r|\"'")
    if not (0 < len(name) <= _LONGEST_NAME and _PLAIN_NAME.fullmatch(name) and words.hints(name)) or _is_code(name):
        return None
    cells: list[Row] = []
    done = end
    while row := _VALUE.match(text, done + 1):
        done = row.end()
        if row[1]:
            cells.append([row.span(1)])
    return (Table([name], cells, False), done) if cells else None


#: A line of one value, or a rule.
_VALUE = lazy(
    r"(?:[ \t|]{0,80}+[\"']?((?=[^\n\d]{0,40}\d)[^\s\"'|;](?:[^\n\"'|;]{0,78}[^\s\"'|;])?)[\"']?[ \t|]{0,80}"
    r"|[ |+:-]{1,80})\r?$",
    re.MULTILINE,
)


def _may_be_row(text: str, start: int, mark: str) -> bool:
    """Whether a line has the mark of a row; an empty one, a rule and a remark may stand between a header and its rows.

    A cell in quotes may go on below, and the mark is there then.
    """
    line = _undrawn(text[start : _line_end(text, start)])
    return mark in line or not line or line[0] in '#"' or _RULE.fullmatch(line) is not None


_QUOTE = lazy("[\"']")
#: A cell in quotes up to the mark behind it: it may hold the mark, and doubles a quote.
_QUOTED = {
    mark: lazy(rf"""(?:"((?:[^"]|"")*+)(?:"[^{mark}]*)?|'((?:[^']|'')*+)(?:'[^{mark}]*)?)""") for mark in "|\t;,"
}


def _cells(line: str, mark: str) -> list[tuple[int, int]]:
    """Trimmed cells of a line; those of Markdown may hold the mark behind a backslash, and are less their emphasis."""
    if mark != "|":
        return _split(line.rstrip("\r"), mark, 0)
    line = _undrawn(line).replace("\\|", "  ")
    start, line = len(line) - len(line.lstrip(" \t")), line.rstrip(" \t\r")
    if line[start : start + 1] == mark:
        start, line = start + 1, line[:-1] if line.endswith(mark) and len(line) > start + 1 else line
    cells = _split(line, mark, start)
    return [_emphasised(line, *cell) for cell in cells] if _MARKUP.search(line) else cells


_MARKUP = lazy(r"[*_`~\]]")
_EMPHASIS = lazy(r"([*_`~]{1,3})(?=[^\s*_`~])(.+)(?<![\s*_`~])\1|\[([^\[\]]+)\]\([^()]*\)")


def _emphasised(line: str, start: int, end: int) -> tuple[int, int]:
    """Where the text of a cell of Markdown stands, without what makes it bold, code or a link."""
    emphasis = _EMPHASIS.fullmatch(line, start, end)
    return emphasis.span(emphasis.lastindex or 0) if emphasis else (start, end)


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
