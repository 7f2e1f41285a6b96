"""Tables and definition lists of HTML: a cell is below the head of its column, or behind that of its row.

They are read from their tags alone, and closing ones may be missing, as HTML allows.  A row is the header of those
below it if all of its cells are heads, or if it is the first one and holds keys side by side.  In any other row, and in
a definition list, a cell that is a key is about the next cell; all such pairs of a table are one record.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise, zip_longest

from msgspec import Struct

from cloakllm_gateway.detection.aligned import Row
from cloakllm_gateway.detection.tables import Table
from cloakllm_gateway.patterns import lazy

_TAG = lazy(r"<(/?)(table|tr|t[hd]|thead|dl|d[td])(?:\s[^<>]{0,1024})?>", re.IGNORECASE)
#: Text between tags: what ``>`` follows is inside of one.
_RUN = lazy(r"(?<![^<>])[^<>]++(?!>)")
#: What stands around a value, or a head, and is none of it.
_BEFORE, _BEHIND = " \t\r\n\xa0)],;:", " \t\r\n\xa0([,;:"
#: A head of a column or row is no longer than this with its tags.
_LONGEST_HEAD = 512
#: No text.
_NOWHERE = (0, 0)


class _Cell(Struct, gc=False):
    """What stands between two tags of cells, and whether it is a head."""

    start: int
    end: int
    is_head: bool

    def runs(self, text: str) -> list[tuple[int, int]]:
        """Where it says something, each run of text trimmed."""
        found = []
        for run in _RUN.finditer(text, self.start, self.end):
            said = run[0].lstrip(_BEFORE)
            start = run.end() - len(said)
            if said := said.rstrip(_BEHIND):
                found.append((start, start + len(said)))
        return found

    def key(self, text: str, known: Callable[[str], str]) -> str:
        """What it says, if that is a key."""
        if self.end - self.start > _LONGEST_HEAD:
            return ""
        said = " ".join(text[start:end] for start, end in self.runs(text))
        return said if known(said) else ""


def tables(text: str, known: Callable[[str], str]) -> Iterator[Table]:
    """The columns, and the pairs, of each table and definition list of a text whose keys are ``known``."""
    for rows in _tables(text):
        pairs: list[tuple[str, _Cell]] = []
        header: list[str] = []
        below: list[list[_Cell]] = []
        for row in rows:
            keys = [cell.key(text, known) for cell in row]
            if len(row) == 1 and row[0].is_head and header:
                continue  # the title of a section
            if _is_header(row, keys, row is rows[0]):
                yield from _columns(text, header, below)
                header, below = keys, []
            else:
                below.append(row)
                pairs += [(keys[i], row[i + 1]) for i in range(len(row) - 1) if keys[i] and not keys[i + 1]]
        yield from _columns(text, header, below)
        if pairs:
            yield Table([key for key, _ in pairs], _lines(text, [value for _, value in pairs]))


def _is_header(row: Sequence[_Cell], keys: Sequence[str], is_first: bool) -> bool:
    """Whether a row is about those below; ``keys`` has what each cell says if that is a key."""
    if all(cell.is_head for cell in row):
        return True
    is_beside = keys[-1] != "" or any(key and after for key, after in pairwise(keys))
    return is_first and is_beside and len(list(filter(None, keys))) > 1


def _columns(text: str, header: Sequence[str], rows: Iterable[Sequence[_Cell]]) -> Iterator[Table]:
    wanted = [i for i, key in enumerate(header) if key]
    if wanted:
        cells = ([row[i] if i < len(row) else None for i in wanted] for row in rows)
        yield Table([header[i] for i in wanted], (line for row in cells for line in _lines(text, row)))


def _lines(text: str, cells: Iterable[_Cell | None]) -> Iterator[Row]:
    """The first runs of some cells side by side, then the second ones, and so on."""
    return zip_longest(*(cell.runs(text) if cell else () for cell in cells), fillvalue=_NOWHERE)


def _tables(text: str) -> Iterator[list[list[_Cell]]]:
    """The rows of each table that has any; a term of a list and all that is said about it are a row of two cells."""
    rows: list[list[_Cell]] = []
    cell: _Cell | None = None  # the one that is open
    is_header, begins_row = False, True
    for tag in _TAG.finditer(text):
        name, is_closing = tag[2].lower(), tag[1] != ""
        if name == "dd" and (is_closing or (cell is not None and len(rows[-1]) > 1)):
            continue
        if cell is not None:
            cell.end = tag.start()
            cell = None
        if name in ("table", "dl"):
            if rows:
                yield rows
            rows, is_header = [], False
        elif name == "thead":
            is_header = not is_closing
        elif not is_closing and name != "tr":
            cell = _Cell(tag.end(), len(text), is_header or name == "th")
            if begins_row or name == "dt":
                rows.append([])
            rows[-1].append(cell)
        begins_row = name in ("tr", "table", "dl") or (begins_row and cell is None)
    if rows:
        yield rows
