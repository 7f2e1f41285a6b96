"""Pages as browsers give them to assistive technology: a tree of lines, each with a role, a name and a text.

``- textbox "First name" [ref=e4]: Zora`` of Playwright, ``uid=1_4 textbox "First name" value="Zora"`` of Chrome: the
name of a field is a key.  A term is one for its definition, the header of a row for its cell, and the headers of
columns for the cells of the rows below them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from cloakllm_gateway.detection.aligned import Row
from cloakllm_gateway.detection.keys import NAME, classify
from cloakllm_gateway.detection.tables import Table
from cloakllm_gateway.patterns import lazy

_FIELDS = "textbox|searchbox|spinbutton|combobox"
_CELLS = "cell|gridcell"
_HEADS = "columnheader|rowheader|term"
_TEXTS = "definition|generic|paragraph|text|strong|StaticText|LabelText|heading|listitem"
#: Nodes with a value or a label of one.
SIGN = rf"(?:- '?|uid=[0-9_]+ )(?:{_FIELDS}|{_HEADS}|{_TEXTS})(?:: |[ ][\"\[])"
_NODE = lazy(
    rf"^[ \t]{{0,200}}(?:- (?P<quote>'?)|uid=[\w-]{{1,40}} )(?P<role>{_FIELDS}|{_HEADS}|{_CELLS}|{_TEXTS}|row)\b"
    r"(?: \"(?P<name>(?:[^\"\\\n]|\\.){1,300}+)\")?(?: \[[^\]\n]{0,80}\]){0,8}"
    r"(?:(?: [a-z]{2,24}(?:=\"[^\"\n]{0,200}\")?){0,8}? value=\"(?P<value>[^\"\n]{1,1024})\""
    r"|(?P=quote):(?:[ ](?:\"(?P<said>(?:[^\"\\\n]|\\.){1,1024}+)\"|(?P<text>[^\"\s][^\n]{0,1024}?))[ \t]*\r?$)?)?",
    re.MULTILINE,
)
#: What a field holds, where its line has other things below it.
_BELOW = lazy(
    r"[^\n]{0,200}\n(?:[ \t]{1,200}- /[^\n]{0,400}\n){0,4}[ \t]{1,200}- text: (?P<text>[^\"\s][^\n]{0,1024}?)\r?$",
    re.MULTILINE,
)
_FIELD_ROLES, _CELL_ROLES, _TEXT_ROLES = (frozenset(roles.split("|")) for roles in (_FIELDS, _CELLS, _TEXTS))
#: Whose text is a label of what comes next in any case, and of others if there are enough of them.
_LABELS, _ENOUGH = frozenset(("term", "rowheader")), 2


#: Behind so many code points before its first sign a page begins.
_BEFORE = 512
#: A label and its value in the words of one node.
_TOGETHER = lazy(r"(?P<key>[^\W\d][\w .#/()'&-]{1,46}): (?P<value>[^\n]{1,500})")


class _Node:
    """A line by its role; where its name and its text stand, ``None`` for none."""

    def __init__(self, match: re.Match[str]) -> None:
        self.role = match["role"]
        self.name = match.span("name") if match["name"] else None
        group = next((group for group in ("value", "said", "text") if match[group]), "")
        self.text = match.span(group) if group else None
        if self.role in _FIELD_ROLES and not group and (below := _BELOW.match(match.string, match.end())):
            self.text = below.span("text")

    @property
    def said(self) -> tuple[int, int] | None:
        """Where its words stand, whichever way they are written."""
        return self.text or self.name


def tables(text: str, places: Sequence[int]) -> Iterator[Table]:
    """The fields of a page as one record, and its tables."""
    first = max(places[0] - _BEFORE, 0)
    nodes = [_Node(match) for match in _NODE.finditer(text, text.rfind("\n", 0, first) + 1)]
    for fields, is_certain in zip(_fields(text, nodes), (True, False), strict=True):
        if fields:
            yield Table([key for key, _ in fields], [[place for _, place in fields]], is_certain)
    yield from _drawn(nodes, text)


#: Values with their keys.
_Keyed = list[tuple[str, tuple[int, int]]]


def _fields(text: str, nodes: Sequence[_Node]) -> tuple[_Keyed, _Keyed]:
    """Each value with its key, its own name or the words of the node before it; and those that may be other words."""
    sure: _Keyed = []
    plain: _Keyed = []
    for before, node in pairwise([None, *nodes]):
        assert node is not None  # only the first of all is
        if node.role in _CELL_ROLES | _TEXT_ROLES and node.said and (both := _TOGETHER.fullmatch(text, *node.said)):
            sure.append((both["key"], both.span("value")))
        if node.role in _FIELD_ROLES and node.name and node.text:
            sure.append((text[slice(*node.name)], node.text))
        elif before is not None and before.said and node.said and before.role not in _FIELD_ROLES:
            key = text[slice(*before.said)].rstrip(": *")
            if node.role in _FIELD_ROLES and node.text:
                sure.append((key, node.text))
            elif before.role in _LABELS:
                sure.append((key, node.said))
            elif before.role in _CELL_ROLES | _TEXT_ROLES and node.role in _CELL_ROLES | _TEXT_ROLES:
                plain.append((key, node.said))
    known = [(key, place) for key, place in plain if classify(key) and not classify(text[slice(*place)])]
    return sure, known if sum(classify(key) != NAME for key, _ in known) >= _ENOUGH else []


def _drawn(nodes: Sequence[_Node], text: str) -> Iterator[Table]:
    """Tables: a row of headers, and rows of as many cells below it, and the same as the rows are called."""
    keys: list[str] = []
    rows: list[Row] = []
    for row in _rows(nodes):
        cells = [node.said for node in row[1:]]
        if row[1:] and all(node.role == "columnheader" for node in row[1:]):
            if keys and rows:
                yield Table(keys, rows)
            keys, rows = [text[slice(*cell)] if cell else "" for cell in cells], []
        elif keys and len(cells) == len(keys):
            rows.append([cell or (0, 0) for cell in cells])
            if row[0].name and (called := _called(text, row[0].name, rows[-1])):
                rows.append(called)
    if keys and rows:
        yield Table(keys, rows)


def _rows(nodes: Sequence[_Node]) -> Iterator[list[_Node]]:
    """The rows of a page, each with its headers and cells behind it."""
    row: list[_Node] = []
    for node in nodes:
        if node.role == "row":
            if row:
                yield row
            row = [node]
        elif row and node.role in _CELL_ROLES | {"columnheader", "rowheader"}:
            row.append(node)
    if row:
        yield row


def _called(text: str, name: tuple[int, int], cells: Row) -> Row:
    """Where the words of the cells stand in what their row is called; empty unless all are there, in order."""
    found = []
    at, end = name
    for cell in cells:
        words = text[slice(*cell)]
        if (start := text.find(words, at, end)) < 0:
            return ()
        at = start + len(words)
        found.append((start, at))
    return found
