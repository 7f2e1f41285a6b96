"""Values that programs log beside a statement: what its placeholders stand for, by the columns that these stand at.

``INSERT INTO t (first_name, dob) VALUES (?, ?)`` and then ``[generated in 0.0002s] ('Kim', '1990-02-14')``: drivers and
mappers write the values as a list, as a list of rows, or each on a line of its own with its number.  A table is made
of them, whose columns are those of the placeholders in the statement before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cloakllm_gateway.detection import sql
from cloakllm_gateway.detection.aligned import Row
from cloakllm_gateway.detection.fields import PREFIX
from cloakllm_gateway.detection.tables import Table
from cloakllm_gateway.patterns import lazy

#: What stands before a list of values: SQLAlchemy and its errors, Django, TypeORM, Prisma, knex, Laravel, Sequelize.
_BEFORE_LIST = (
    r"\[(?:generated in|cached since|no key|raw sql|insertmanyvalues)[^\[\]\n]*\] [(\[]|\[parameters: [(\[]"
    r"|; args=[(\[]|PARAMETERS: \[|[Pp]arams: \[|bindings\"?: ?\[|; \["
)
#: A value with its number: Hibernate before and since version 6, the server of PostgreSQL.
_NUMBERED = r"binding parameter (?:\[\d+\] as \[\w+\] - \[|\(\d+:\w+\) <- \[)|[Pp]arameters: \$1 = "
#: A line of values, each with its type: MyBatis.
_TYPED = "==> Parameters: "
#: What shows that values of a statement follow.
SIGN = rf"{_BEFORE_LIST}|{_NUMBERED}|{_TYPED}|\[Parameters=\[@"

#: A statement is read from so many code points before its values.
_LONGEST_STATEMENT = 16_384


def tables(text: str, places: Sequence[int]) -> Iterator[Table]:
    """A table for each statement whose values are logged; at ``places``, in order, stands a sign of them."""
    done = 0  # up to where values were read
    for at in places:
        if at < done:
            continue
        if named := _NAMED.match(text, at):
            done = named.end()
            statement = text[done : done + _LONGEST_STATEMENT].partition("[Parameters=")[0]
            by_name = dict(_holes(statement.partition("\n\n")[0]))
            values = list(_NAMED_VALUE.finditer(text, at, done))
            yield Table([by_name.get(value[1], "") for value in values], [[value.span(2) for value in values]])
            continue
        begin = max(at - _LONGEST_STATEMENT, done)
        rows, done = _values(text, at)
        holes = _holes(text[begin:at])
        for size in sorted({len(row) for row in rows}):
            keys = _keys(holes, size)
            if any(keys):
                yield Table(keys, [row for row in rows if len(row) == size])


#: Before a statement its values by their names: Entity Framework.
_NAMED = lazy(r"\[Parameters=\[@[^\n]{1,4096}\][,\]]")
_NAMED_VALUE = lazy(r"@(\w{1,64})='((?:[^'\n]|''){0,2048})'")


def _values(text: str, at: int) -> tuple[Sequence[Row], int]:
    """The rows of the values that a sign at a place speaks of, and where they end."""
    if text.startswith(_TYPED, at):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        return [[_cell(value) for value in _TYPED_VALUE.finditer(text, at + len(_TYPED), end)]], end
    if opening := _OPENING.match(text, at):
        return _listed(text, opening.end() - 1)
    numbered = _NUMBERED_VALUE.search(text, at, at + _LONGEST_VALUE)
    return _by_number(text, numbered) if numbered else ((), at + 1)


def _cell(value: re.Match[str]) -> tuple[int, int]:
    """Where a value stands; one that is missing is empty."""
    return value.span(value.lastindex) if value.lastindex else (value.end(), value.end())


_OPENING = lazy(_BEFORE_LIST)
_TYPED_VALUE = lazy(r"(?:null|([^\n]{0,1024}?)\([A-Z]\w{2,40}\))(?:, |$)", re.MULTILINE)
_NUMBERED_VALUE = lazy(
    r"(?:binding parameter (?:\[(?=\d{1,3}\] as)|\((?=\d{1,3}:))|\$)(?P<number>\d{1,3})"
    r"(?:(?:\] as \[\w{1,40}\] - |:\w{1,40}\) <- )\[(?P<bound>[^\n]{0,2048})\]"
    r"| = (?:'(?P<said>(?:[^'\n]|''){0,2048})'|NULL))"
)
#: A value with a number has less code points, and what stands before it: the beginning of a line of a log.
_LONGEST_VALUE = 2_560


def _by_number(text: str, value: re.Match[str] | None) -> tuple[Sequence[Row], int]:
    """The row of values with numbers, from one on, and where it ends."""
    cells: dict[int, tuple[int, int]] = {}
    end = 0
    while value is not None and (number := int(value["number"])) not in cells:  # else it is of the next statement
        cells[number] = value.span("bound") if value["bound"] else value.span("said") if value["said"] else (0, 0)
        end = value.end()
        value = _NUMBERED_VALUE.search(text, end, end + _LONGEST_VALUE)
    return [[cells.get(number, (0, 0)) for number in range(1, max(cells) + 1)]], end


# -- lists ----------------------------------------------------------------------------------------

#: A value in a list; of a constructor it is what that is given first, of a date all of its parts.
_LISTED = lazy(
    r"""\s{0,20}(?:(?P<open>[(\[])|(?P<close>[)\]])|(?P<call>[A-Za-z_][\w.]{0,64}\()?"""
    rf"""{PREFIX}(?:'(?P<single>(?:[^'\\\n]|\\.)*+)'|"(?P<double>(?:[^"\\\n]|\\.)*+)\""""
    r"""|(?P<date>[12]\d{3}, ?\d{1,2}, ?\d{1,2}(?:, ?\d{1,6}){0,4})(?=[,)])"""
    r"""|(?P<bare>[^\s,()\[\]'"][^,()\[\]'"\n]{0,256}))"""
    r"""(?(call)[^()]{0,200}(?:\([^()]{0,100}\)[^()]{0,50})?\))\s{0,20}(?=[,)\]])),?"""
)


def _listed(text: str, at: int) -> tuple[Sequence[Row], int]:
    """The rows of a list, or of lists in a list, that begins at a place, and where it ends or can't be read."""
    rows: list[list[tuple[int, int]]] = []
    depth = 0
    while (value := _LISTED.match(text, at)) is not None:
        at, kind = value.end(), value.lastgroup or ""
        if kind == "open":
            depth += 1
            rows.append([])
        elif kind == "close":
            depth -= 1
        else:
            rows[-1].append(_without_wildcards(text, *value.span(kind)))
        if depth == 0:
            break
    return list(filter(None, rows)), at


def _without_wildcards(text: str, start: int, end: int) -> tuple[int, int]:
    """A value without those that it is compared with."""
    while start < end and text[start] == "%":
        start += 1
    while start < end and text[end - 1] == "%":
        end -= 1
    return start, end


# -- statements -----------------------------------------------------------------------------------

#: A placeholder, and its name or number if it has one; times are none.
_HOLE = lazy(r"(?<![\w:@])(?:[?$:](\d{1,3})|@(\w{1,64})|\?|%s)")
#: What stands in its place where a statement is logged with its values in it.
_FILLED = lazy(r"('(?:[^'\n]|'')*+')()|(?<![\w.\"'])(?:\d{1,20}|NULL|true|false)(?![\w.\"'])", re.IGNORECASE)
#: What a placeholder is compared with, or set as, read up to it.
_COMPARED = lazy(
    r"(\w{1,64})[\"`\])]{0,3}\s{0,8}(?:[<>=!~]{1,3}|(?:not\s{1,4})?(?:i?like|in))\s{0,4}(?:\w{0,20}\(\s{0,4})?\Z",
    re.IGNORECASE,
)

#: The placeholders of a statement: the name or number of each, and its column, "" for none of either.
_Holes = Sequence[tuple[str, str]]


def _holes(statement: str) -> _Holes:
    """Those of a statement, or the values in their places."""
    return _placed(statement, _HOLE) or [("", key) for _, key in _placed(statement, _FILLED)]


def _placed(statement: str, expression: re.Pattern[str]) -> _Holes:
    found: list[tuple[str, str]] = []
    last, key = 0, ""
    columns: dict[int, str] | None = None
    for hole in expression.finditer(statement):
        columns = _inserted(statement, expression) if columns is None else columns
        start = hole.start()
        if start in columns:
            key = columns[start]
        elif compared := _COMPARED.search(statement, max(last, start - 96), start):
            key = compared[1]
        elif statement[last:start].strip(" \n\t,") or not found:
            key = ""  # neither another of ``IN (?, ?)``
        found.append((hole[1] or hole[2] or "", key))
        last = hole.end()
    return found


def _inserted(statement: str, expression: re.Pattern[str]) -> dict[int, str]:
    """The columns of the placeholders in the rows that a statement inserts, by where they are."""
    return {
        hole.start(): key
        for table in sql.insertions(statement)
        for row in table.rows
        for key, (start, end) in zip(table.keys, row, strict=True)
        if (hole := expression.search(statement, start - (statement[start - 1] == "'"), end + 1))
    }


def _keys(holes: _Holes, size: int) -> Sequence[str]:
    """The columns of so many values: by number, or those of the last placeholders, for they follow their statement."""
    if any(name.isdigit() for name, _ in holes):
        by_number = dict(holes)
        return [by_number.get(str(number), "") for number in range(1, size + 1)]
    return [key for _, key in holes[-size:]] if 0 < size <= len(holes) else ()
