"""Tables whose columns are aligned by blanks, as consoles print them.

Between two columns is a gap: a place that is blank in the header and in all
rows, whether their cells stand to the left or to the right.  Prose and code
have two blanks in a row as well, so a header has to look like one: there is a
rule of dashes below it, it is in capitals, its rows are numbered, or two of its
names are keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from cloakllm_gateway.patterns import lazy

#: Where the cells of a row stand, each trimmed; an empty cell is ``(at, at)``.
Row = Sequence[tuple[int, int]]


class Columns(NamedTuple):
    """The ``names`` that are known, the cells of each row below them, and where the line of the last row ends."""

    names: Sequence[str]
    rows: Iterator[Row]
    end: int


#: A line of names: words, with what may stand between and behind them.
_HEADER = lazy(r"[ ]{0,40}[^\W\d][\w .#%&()/-]{1,999}")
_NAME = lazy(r"[^ ]+(?: [^ ]+)*")
#: What divides two names, or shows below one name that there are columns: a rule, or the number of a row.
_DIVIDED = lazy(r"[^ ]  +[^ ]")
_BELOW = lazy(r"[ ]*[-=─0-9<]")
_DASHES = lazy(r"[ ]*(?:-{2,}|={2,}|─{2,})(?: +(?:-{2,}|={2,}|─{2,}))+[ ]*")
_DASH = lazy(r"[-=─]+")
#: What R has below the names: ``<dbl> <chr>``.
_TYPES = lazy(r"[ ]*<[a-z]{1,8}>(?: +<[a-z]{1,8}>){1,40}")
_NUMBERED = lazy(r"\d{1,9} ")
#: A row is no longer than this, in code points.
_LONGEST_ROW = 4_096
#: So many columns make a table, and so many names a header that nothing else tells; more than most are none.
_ENOUGH, _MOST = 2, 40


def read(text: str, start: int, end: int, known: Callable[[str], object]) -> Columns | None:
    """The columns below the header on a line, if it is one; a name that is a key is ``known``."""
    header = text[start:end].rstrip()
    is_indented = header.startswith(" ")
    if not (_DIVIDED.search(header) or _BELOW.match(text, end + 1)):
        return None  # most lines end here
    lines = _lines(text, end + 1)
    if not _HEADER.fullmatch(header) or (first := next(lines, None)) is None:
        return None
    if _TYPES.fullmatch(text, *first) and (first := next(lines, None)) is None:
        return None
    lines = chain((first,), lines)
    if _DASHES.fullmatch(text, *first):
        starts = [dash.start() for dash in _DASH.finditer(text[slice(*next(lines))])]
        rows = list(lines)
    else:
        names = [name.span() for name in _NAME.finditer(header)]
        count = sum(bool(known(header[slice(*name)])) for name in names)
        is_numbered = is_indented and _NUMBERED.match(text, first[0]) is not None
        if not (is_numbered or (count and header.isupper()) or (count >= _ENOUGH and len(names) > _ENOUGH)):
            return None
        starts, rows = _between_gaps(text, header, names, lines, is_numbered)
    if not _ENOUGH <= len(starts) <= _MOST or not rows:
        return None
    columns = list(pairwise([*starts, _LONGEST_ROW]))
    heads = [text[at:stop] for at, stop in _cells(text, start, start + len(header), columns)]
    wanted = [column for column, name in zip(columns, heads, strict=True) if known(name)]
    return Columns(list(filter(known, heads)), (_cells(text, *row, wanted) for row in rows), rows[-1][1])


def _lines(text: str, at: int) -> Iterator[tuple[int, int]]:
    """The lines from a place up to an empty one, one with a tab or a very long one, less the blanks at their ends."""
    while at < len(text):
        end = text.find("\n", at, at + _LONGEST_ROW)
        if end < 0:
            end = len(text)
            if end - at > _LONGEST_ROW:
                return
        line = text[at:end].rstrip()
        if not line or "\t" in line:
            return
        yield at, at + len(line)
        at = end + 1


def _between_gaps(
    text: str, header: str, names: Sequence[tuple[int, int]], lines: Iterable[tuple[int, int]], is_numbered: bool
) -> tuple[list[int], list[tuple[int, int]]]:
    """Where the columns begin that gaps divide, and the rows, up to the first line that leaves none of some gap.

    What stands before the first name is the number of a row, if rows are numbered.
    """
    gaps = [_mask(last, first) for (_, last), (first, _) in pairwise(names)]
    if is_numbered:
        gaps.insert(0, _mask(0, names[0][0]))
    taken, filled, between = _taken(header), 0, 0
    for gap in gaps:
        between |= gap
    rows: list[tuple[int, int]] = []
    for start, end in lines if gaps else ():
        also = _taken(text[start:end])
        if also & between & ~taken:
            if not all(gap & ~(taken | also) for gap in gaps):
                break
            taken |= also
        filled |= also
        rows.append((start, end))
    taken |= filled
    free = [_widest(gap & ~taken) for gap in gaps]
    starts = free if is_numbered else [0, *free]
    return sorted({*starts, *_divided(header, names, taken, filled)}), rows


def _divided(header: str, names: Sequence[tuple[int, int]], taken: int, filled: int) -> Iterator[int]:
    """Where a single blank in a name divides two columns: it is a gap, and there are cells on both sides of it."""
    for first, last in names:
        for at in range(first, last):
            if header[at] == " " and not taken & _mask(at, at + 1):
                before = header.rfind(" ", first, at) + 1 or first
                after = header.find(" ", at + 1, last)
                if filled & _mask(before, at) and filled & _mask(at + 1, after if after >= 0 else last):
                    yield at + 1


#: Of each code point a byte: whether it is no blank.
_NO_BLANK = bytes(char != ord(" ") for char in range(256))


def _taken(line: str) -> int:
    """Where a line is not blank, a byte for each code point."""
    return int.from_bytes(line.encode("ascii", "replace").translate(_NO_BLANK), "little")


def _mask(start: int, end: int) -> int:
    """The places from ``start`` to ``end``."""
    return int.from_bytes(bytes(start) + b"\1" * (end - start), "little")


def _widest(free: int) -> int:
    """Where the widest run of places ends; there is one."""
    runs = _RUN.finditer(free.to_bytes((free.bit_length() + 7) // 8, "little"))
    return max(runs, key=lambda run: run.end() - run.start()).end()


_RUN = lazy(rb"\x01+")


def _cells(text: str, start: int, end: int, columns: Iterable[tuple[int, int]]) -> Row:
    """What begins in each of some columns of a line: up to two blanks, for what is behind them is of another column."""
    found = []
    for first, last in columns:
        if first >= end - start:
            found.append((end, end))
            continue
        cell = text[start + first : min(start + last, end)]
        inner = cell.lstrip()
        at = start + first + len(cell) - len(inner)
        found.append((at, at + len(inner.partition("  ")[0].rstrip())))
    return found
