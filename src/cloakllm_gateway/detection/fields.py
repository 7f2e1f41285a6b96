"""Fields of text that has structure: where a value stands, under which key, in which record.

Readers begin where the linear engine saw a key that matters (:func:`.keys.places`):
at the marks of their own between a key and its value.  Each looks backwards for
the key and forwards for the value, a bounded way, so that all are linear and
tolerate what is cut off or broken: braces (JSON, Python and JavaScript
literals), assignments (``key=value`` and XML attributes), lines (``Key:
value``), elements of XML, and the rows of SQL.
They overlap on purpose; the engine merges what they prove.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from msgspec import Struct

from cloakllm_gateway.detection import documents
from cloakllm_gateway.detection.aligned import Row
from cloakllm_gateway.detection.speaking import said, spoken_by
from cloakllm_gateway.detection.tables import Table
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
#: An object, or a list of objects.
_OBJECT = lazy(rf"{_SPACE}((?:\[{_SPACE})?\{{)")


def braces(text: str, places: Iterable[int]) -> Iterator[Field]:
    """``"key": value`` pairs of JSON, Python reprs and JavaScript literals, at any depth.

    A list under a key counts as many values of that key, and so do the fields of an object whose own keys say nothing;
    a record is an object.
    """
    records = _Records(text)
    done = 0  # what lies inside of a value is no key: nothing is read twice
    for at in places:
        if at < done or not (key := _brace_key(text, at)):
            continue
        value = _VALUE.match(text, at + 1)
        kind = 0 if value is None else value.lastindex or 0
        if kind in (0, _LIST) and spoken_by(key) and (opening := _OBJECT.match(text, at + 1)) is not None:
            record = records.at(at)
            for inner, (start, end, quoted) in documents.members(text, opening.start(1)):
                if said(inner, key).is_around:
                    yield Field(key, start, end, record, quoted)
        if value is None:
            continue
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


def pairs(text: str) -> Iterator[Field]:
    """``{"name": key, "value": value}``: fields of the object that holds all of them, records as of :func:`braces`."""
    records = _Records(text)
    for key, begin, (start, end, quoted) in documents.pairs(text):
        yield Field(key, start, end, records.at(begin), quoted)


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


# -- lists under a header -------------------------------------------------------------------------


def lists(text: str) -> Iterator[Table]:
    """Lists of a document under the list of their columns."""
    return (Table(header, rows) for header, rows in documents.lists(text))


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

_ELEMENT = lazy(
    r"<(?P<key>[^\W\d][\w:.-]{0,40})(?: [^<>]{0,200})?>\s{0,64}"
    r"(?:<!\[CDATA\[\s{0,64}(?P<data>[^\]\s](?:[^\]\n]{0,510}[^\]\s])?)\s{0,64}\]\]>"
    r"|(?P<value>[^<>\s](?:[^<>\n]{0,510}[^<>\s])?))\s{0,64}</"
)
#: An element of a form or a configuration that names its value, and the attributes that do.
_ATTRIBUTE = lazy(r"""\s([a-z]{2,7})=(?:"([^"<>]{1,512})"|'([^'<>]{1,512})')""", re.IGNORECASE)
_NAMING, _VALUED = ("name", "key", "id"), ("value", "content")
#: One whose value is what it does, or what stands on it.
_CONTROL = lazy(r"""<(?:button|option|li|data)\b|\stype=["']?(?:submit|button|reset|checkbox|radio)\b""", re.IGNORECASE)


def elements(text: str, places: Iterable[int]) -> Iterator[Field]:
    """``<email>kim@example.com</email>`` and ``<input name="email" value="kim@example.com">``.

    All elements of a text count as one record.
    """
    for at in places:
        if (begin := text.rfind("<", max(at - 256, 0), at)) < 0:
            continue
        if match := _ELEMENT.match(text, begin):
            group = "data" if match["data"] else "value"
            yield Field(match["key"].rpartition(":")[2], *match.span(group), 0)
        elif named := _named(text, begin, at + 1):
            yield named


def _named(text: str, begin: int, end: int) -> Field | None:
    """The value that the attributes of a tag name."""
    said = {match[1].lower(): match for match in _ATTRIBUTE.finditer(text, begin, end)}
    name = next((said[word] for word in _NAMING if word in said), None)
    value = next((said[word] for word in _VALUED if word in said), None)
    if name is None or value is None or _CONTROL.search(text, begin, end):
        return None
    return Field(name[name.lastindex or 0], *value.span(value.lastindex or 0), 0)


_LABELLED = lazy(
    r":\s{0,8}(?:</[a-z]{1,8}>\s{0,8}){1,2}(?:<[a-z]{1,8}(?: [^<>]{0,80})?>\s{0,8}){0,2}"
    r"(?P<value>[^<>\s](?:[^<>\n]{0,254}[^<>\s])?)",
    re.IGNORECASE,
)


def labels(text: str, places: Iterable[int]) -> Iterator[Field]:
    """``<b>Email:</b> kim@example.com``, as pages and mails of HTML have it; all of a text count as one record."""
    for at in places if "</" in text else ():
        if text.startswith("<", at + 1) and (match := _LABELLED.match(text, at)):
            begin = text.rfind(">", max(at - _LONGEST_QUOTED, 0), at)
            if begin >= 0:
                yield Field(text[begin + 1 : at].strip(), *match.span("value"), 0)
