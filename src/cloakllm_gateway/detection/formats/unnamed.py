"""Rows without a header, one cell of each a mail address: ``7,Orla,Bremner,orla@x.org``, ``(7, 'Kim Lee', 'k@x.org')``.

Who has the address stands beside it.  A name that the address repeats, or that is known, tells its column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, islice

from cloakllm_gateway.detection.catalogue.people import uncommon
from cloakllm_gateway.detection.keys import classify
from cloakllm_gateway.detection.tables import Table
from cloakllm_gateway.patterns import lazy

#: A cell between two others, or at either end.
SIGN = r"[,;\t|(\[\n] {0,8}[\"']?[A-Za-z0-9._+-]+@[A-Za-z0-9.-]+[\"']?(?: {0,8}[,;\t|]|\)|\]|\n|$)"
_ADDRESS = lazy(r"[\"']?([A-Za-z0-9._+-]{1,64})@[A-Za-z0-9.-]{1,255}[\"']?")
_CELLS = {
    mark: lazy(
        rf"[ ]{{0,40}}(?:\"(?P<double>[^\"\n]*)\"|'(?P<single>[^'\n]*)'|[\w.]{{1,40}}\((?P<written>[^()\n]*)\)"
        rf"|(?P<bare>[^{mark}\n\"']*?))[ \r]*(?:{mark}|\Z)"
    )
    for mark in (",", ";", "\t", r"\|")
}
#: Where a row begins, read backwards from its address, and where it ends; calls have brackets of their own.
_BEFORE = lazy(r"(?:[^()\[\]\n]|\)[^()\n]{0,200}\()*")
_BEHIND = lazy(r"(?:[^()\[\]\n]|\([^()\n]{0,200}\))*")
_NAME = lazy(r"[^\W\d_][^\W\d_'’.-]*(?:[ '’.-]{1,2}[^\W\d_]+){0,4}\.?")
#: A row is no longer, and has so many cells.
_LONGEST, _FEWEST, _MOST = 2_000, 3, 60
#: So many rows are judged at once: there may be millions.
_AT_ONCE = 256
_MARKS = lazy(r"[,;\t|]")
_EMPTY_LINE = lazy(r"\n[ \t\r]*\n")
#: A word of a name that an address repeats has so many letters.
_TELLING = 3
#: Of the rows of a column of names at least one of so many is proved.
_PROVED = 4

_Cells = list[tuple[int, int]]


def tables(text: str, places: Sequence[int]) -> Iterator[Table]:
    """The columns of names of each run of rows of as many cells; ``places`` are before the addresses."""
    for (width, mail), alike in groupby(_rows(text, places), lambda row: (len(row[0]), row[1])):
        while some := [cells for cells, _ in islice(alike, _AT_ONCE)]:
            for column in range(width):
                if column != mail and _is_of_names(text, some, column, mail):
                    yield Table(["full name"], [[cells[column]] for cells in some])


def _rows(text: str, places: Sequence[int]) -> Iterator[tuple[_Cells, int]]:
    """The cells of each row with an address, and the number of its cell; none below a header, which says what they are.

    A header is above the first row of a block, which an empty line ends.
    """
    done = block = 0
    for at in places:
        if at + 1 < done:
            continue
        if at >= block:
            empty = _EMPTY_LINE.search(text, at)
            block = empty.end() if empty else len(text)
            if _has_header(text, text.rfind("\n", 0, at + 1) + 1):
                done = block
                continue
        cells, mail, done = _row(text, at + 1)
        if cells:
            yield cells, mail


def _has_header(text: str, line: int) -> bool:
    """Whether the line above the one that begins at ``line`` names columns."""
    end = max(line - 1, 0)
    above = text[text.rfind("\n", max(end - _LONGEST, 0), end) + 1 : end]
    return any(classify(name.strip("\"' ")) for name in _MARKS.split(above))


def _row(text: str, at: int) -> tuple[_Cells, int, int]:
    """The cells of the row that an address is in, the number of its cell, and where the row ends; no cells for none."""
    before = _BEFORE.match(text[max(at - _LONGEST, 0) : at][::-1])
    behind = _BEHIND.match(text, at, at + _LONGEST)
    assert before is not None and behind is not None  # both may be empty
    start, end = at - before.end(), behind.end()
    line = text[start:end]
    for mark, cell in _CELLS.items():
        if line.count(mark[-1]) < _FEWEST - 1:
            continue
        cells: _Cells = []
        last = 0
        while last < len(line) and len(cells) < _MOST and (match := cell.match(line, last)) is not None:
            first, stop = match.span(match.lastgroup or 0)
            cells.append((start + first, start + stop))
            last = match.end()
        mails = [number for number, place in enumerate(cells) if _ADDRESS.fullmatch(text, *place)]
        if last >= len(line) and len(cells) >= _FEWEST and len(mails) == 1:
            return cells, mails[0], end
    return [], 0, end


def _is_of_names(text: str, rows: Sequence[_Cells], column: int, mail: int) -> bool:
    """Whether all cells of a column may be names, and some are for certain."""
    proved = filled = 0
    for cells in rows:
        said = text[slice(*cells[column])]
        if not said:
            continue
        filled += 1
        if not said[0].isupper() or said.isupper() or not _NAME.fullmatch(said):
            return False
        proved += _is_proved(said, text[slice(*cells[mail])])
    return proved * _PROVED >= filled > 0


def _is_proved(said: str, address: str) -> bool:
    # Most starts need no list of names.
    from cloakllm_gateway.detection.name_fields import is_full_name, known_name
    from cloakllm_gateway.detection.name_words import plain

    if known_name(said):
        return True
    local = address.lower().partition("@")[0]
    words = [plain(word) for word in said.split()]
    repeated = any(len(word) >= _TELLING and word in local for word in words)
    return repeated and bool(uncommon(said)) and (len(words) == 1 or is_full_name(said))
