"""What objects and lists of a document in a text say together: an object under a key, pairs, lists under a header.

All readers begin at a place that is known to say something and look around it
in a bounded way, as those of :mod:`.fields` do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from cloakllm_gateway.detection.keys import LABELS, LISTS, NUMBERS, PAIR, TYPES, VALUES, classify
from cloakllm_gateway.detection.speaking import named
from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.spans import WRAPPERS, are_columns

#: A scalar in a document: where it stands without its quotes, and whether it has some.
Scalar = tuple[int, int, bool]

_SPACE = r"[ \t\r\n]{0,64}"
_TOKEN = lazy(
    rf"""(?:{_SPACE},)?{_SPACE}(?:"(?P<double>(?:[^"\\\n]|\\.){{0,1024}}+)"|'(?P<single>(?:[^'\\\n]|\\.){{0,1024}}+)'"""
    rf"""|(?P<open>[{{\[])|(?P<close>[}}\]])|(?P<bare>[^\s{{}}\[\]:,"']{{1,64}}))(?P<colon>{_SPACE}:)?"""
)
#: So far behind its beginning an object is read, in code points; of a list each object.
_REACH = 512
#: An object that holds others in others says nothing by itself.
_DEEPEST = 4


def members(text: str, at: int) -> Iterator[tuple[str, Scalar]]:
    """The scalars of an object, or of the objects in a list, that begins behind a place, each with its key.

    A list under a key counts as many values of that key; what objects inside of an object hold is left out, but for
    what is only wrapped into one.
    """
    stack: list[str] = []  # what is open: "{", "[", or "" for what wraps
    objects = 0
    key = ""
    is_wrapper, is_member = False, True  # whether the value of a key comes next that may only wrap, or one of a list
    limit = at + _REACH
    while at < limit and (token := _TOKEN.match(text, at)) is not None:
        at = token.end()
        kind = token.lastgroup if token["colon"] is None else "key"
        if kind == "open":
            wraps = bool(stack) and (is_wrapper or (stack[-1] == "" and is_member))
            stack.append("" if wraps else token["open"])
            if len(stack) > _DEEPEST:
                return
            objects += stack[-1] == "{"
            if wraps or len(stack) == objects == 1 or (objects == 1 and len(stack) == 2 and stack[0] == "["):
                limit = at + _REACH
        elif kind == "close":
            if not stack:
                return
            objects -= stack.pop() == "{"
        elif kind == "key":
            key = token["double"] or token["single"] or token["bare"] or ""
        elif objects == 1:
            start, end = token.span(kind or 0)
            if end > start:
                yield key, (start, end, kind != "bare")
        is_member = kind != "key"
        is_wrapper = not is_member and key in WRAPPERS
        if not stack:
            return


# -- pairs ----------------------------------------------------------------------------------------

_PAIR_KEY = lazy(PAIR)
_PAIR = lazy(
    rf"""[\"'](?:{VALUES}|(?P<typed>{NUMBERS}))["']{_SPACE}:{_SPACE}"""
    r"""(?:"((?:[^"\\\n]|\\.)++)"|'((?:[^'\\\n]|\\.)++)'|([^\s{}\[\]:,"']{1,64}))""",
    re.IGNORECASE,
)
_LABEL, _TYPE = (
    lazy(rf"""["'](?:{keys})["']{_SPACE}:{_SPACE}["']([^"'\n\\]{{1,64}})["']""", re.IGNORECASE)
    for keys in (LABELS, TYPES)
)
#: Which group is a value without quotes; the first one is a key that needs a type beside it.
_BARE = 4
#: So far before and behind its value the label of a pair may stand, in code points.
_AROUND = 256


def may_tell(text: str) -> bool:
    """Whether a text may have pairs, or lists under a list of their columns."""
    return _PAIR_KEY.search(text) is not None or _LISTS.search(text) is not None


def pairs(text: str) -> Iterator[tuple[str, int, Scalar]]:
    """``{"name": "ssn", "value": ...}`` and ``{"type": "ssn", "number": ...}``.

    Each value with its key, and where its object begins.
    """
    for pair in _PAIR.finditer(text):
        begin = text.rfind("{", max(pair.start() - _AROUND, 0), pair.start())
        if begin < 0 or "}" in (before := text[begin : pair.start()]):
            continue
        after = text[pair.end() : pair.end() + _AROUND].partition("}")[0].partition("{")[0]
        labelled = _LABEL if pair["typed"] is None else _TYPE
        labels = [named(label[1]) for part in (before, after) for label in labelled.finditer(part)]
        if label := next(filter(classify, labels), ""):
            group = pair.lastindex or 0
            yield label, begin, (*pair.span(group), group != _BARE)


# -- lists under a header -------------------------------------------------------------------------

_STRING = r'"(?:[^"\\\n]|\\.){0,48}+"'
_STRINGS = lazy(_STRING)
#: A list of lists; the first of them may be the header of the others.
_LISTS = lazy(LISTS)
_HEADER = lazy(rf"\[{_SPACE}({_STRING}(?:{_SPACE},{_SPACE}{_STRING}){{1,200}}){_SPACE}\]{_SPACE}")
_COLUMNS = lazy(rf"""["'](?:columns|cols|headers?|fields|columnnames)["']{_SPACE}:{_SPACE}(?=\[)""", re.IGNORECASE)
_CELL = lazy(rf"""{_SPACE}(?:"((?:[^"\\\n]|\\.){{0,1024}}+)"|([^\s{{}}\[\]:,"']{{1,64}})){_SPACE}([,\]])""")
_NEXT = lazy(rf"{_SPACE},?{_SPACE}\[")
#: So far before lists their header may stand, in code points.
_BEFORE = 2_048


def lists(text: str) -> Iterator[tuple[Sequence[str], Iterator[Sequence[tuple[int, int]]]]]:
    """Lists of scalars under the list of their columns, the first of them or one before all: the columns, the rows."""
    for opening in _LISTS.finditer(text):
        start, at = opening.start(), opening.end() - 1
        header = _header_before(text, start) if text[max(start - 64, 0) : start].rstrip().endswith(":") else None
        if header is None and (header := _HEADER.match(text, at)) is not None:
            at = header.end()
        if header is not None and are_columns(names := [name[1:-1] for name in _STRINGS.findall(header[1])]):
            first = next(rows := _rows(text, at, len(names)), None)
            if first is not None and not (len(names) == 2 and _is_key(text[slice(*first[0])])):
                yield names, chain([first], rows)


def _is_key(cell: str) -> bool:
    """Whether a cell of two names a value, so that its row is a pair and not one under a header."""
    return classify(cell) != "" and not any(map(str.isdigit, cell))


def _header_before(text: str, at: int) -> re.Match[str] | None:
    """The list of columns in the same object: ``{"columns": ["name", "email"], "rows": [["Kim", ...]]}``."""
    before = max(at - _BEFORE, 0)
    found = None
    for key in _COLUMNS.finditer(text, before, at):
        found = _HEADER.match(text, key.end(), at) or found
    return found


def _rows(text: str, at: int, width: int) -> Iterator[Sequence[tuple[int, int]]]:
    while (row := _NEXT.match(text, at)) is not None:
        at = row.end()
        cells: list[tuple[int, int]] = []
        while (cell := _CELL.match(text, at)) is not None:
            cells.append(cell.span(1 if cell[1] is not None else 2))
            at = cell.end()
            if cell[3] == "]":
                break
        if len(cells) != width or text[at - 1] != "]":
            return
        yield cells
