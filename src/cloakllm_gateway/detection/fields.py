"""Fields of text that has structure: where a value stands, under which key, in which record.

Readers begin where the linear engine saw a key that matters (:func:`.keys.places`):
at the marks of their own between a key and its value.  Each looks backwards for
the key and forwards for the value, a bounded way, so that all are linear and
tolerate what is cut off or broken: braces (JSON, Python and JavaScript
literals), tuples (of a key and a value), pairs (objects of one), assignments
(``key=value`` and XML attributes), elements of XML and labels of HTML;
:mod:`.lines` reads YAML, forms and headers, :mod:`.sql` statements,
:mod:`.tables` tables.
They overlap on purpose; the engine merges what they prove.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from msgspec import Struct

from cloakllm_gateway import linear
from cloakllm_gateway.detection import documents
from cloakllm_gateway.detection.catalogue.people import evident_name
from cloakllm_gateway.detection.keys import classify
from cloakllm_gateway.detection.speaking import said, speaks
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
#: ... and behind the bracket of a call, where only what is quoted is a value and no type.
_NAMED_ARGUMENT = lazy(r"[ ]?(\w{0,63}[^\W\d])[ \n\t]{0,16}[{,(\[]")
#: ... and a symbol of Ruby before its arrow.
_SYMBOL = lazy(r"[ ]?(\w{0,63}[^\W\d]):[ \n\t]{0,16}[{,]")
_SPACE = r"[ \t\r\n]{0,64}"
#: What a value is written into when objects are printed, beside lists: the constructor of its type, a letter that says
#: what string it is (u, b, r of Python, N and E of SQL).
_TYPES = (
    "date|datetime|Date|DateTime|ISODate|LocalDate|Timestamp|datetime64|date32|Decimal|UUID|SecretStr|SecretBytes"
    "|PhoneNumber|EmailStr|Name|Some|Just|str_|bytes_|int64|Int64|Long|NumberLong|NumberInt|Markup|SafeString"
)
_WRITTEN = rf"""(?:(?:new )?(?:(?:np|numpy|pd|pandas|datetime|bson|decimal|sql)\.)?(?:{_TYPES})\(|\[\]string\{{)?"""
PREFIX = r"""(?:[uUbBrRnNeE](?=["']))?"""
#: The parts of a date in its constructor.
_PARTS = r"(?<=\()([12]\d{3}, ?\d{1,2}, ?\d{1,2}(?:, ?\d{1,6}){0,4})(?=[,)])"
_VALUE = lazy(
    rf"""{_SPACE}{_WRITTEN}{PREFIX}(?:"([^"\\]*+(?:\\.[^"\\]*+)*+)"?|'([^'\\\n]*+(?:\\.[^'\\\n]*+)*+)'"""
    rf"""|{_PARTS}|([\[(])|([^\s{{}}\[\]():,="']+))""",
    re.DOTALL,
)
#: Which of its groups is the beginning of a list, and which a value without quotes.
_LIST, _BARE = 4, 5
#: An object, or a list of objects.
_OBJECT = lazy(rf"{_SPACE}((?:\[{_SPACE})?\{{)")


def braces(text: str, places: Iterable[int]) -> Iterator[Field]:
    """``"key": value`` pairs of JSON, Python reprs and JavaScript literals, and ``=>`` of Ruby and PHP, at any depth.

    A list under a key counts as many values of that key, and so do the fields of an object whose own keys say nothing;
    a record is an object.
    """
    records = _Records(text)
    done = 0  # what lies inside of a value is no key: nothing is read twice
    for at in places:
        if text[at] == "{":
            at = text.rfind(":", max(at - 10, 0), at)
        mark = at
        if text[at] == ">":
            mark = at - 1  # where an arrow begins
            if text[mark] != "=":
                continue
        if at < done or not (key := _brace_key(text, mark)):
            continue
        value = _VALUE.match(text, at + 1)
        kind = 0 if value is None else value.lastindex or 0
        if kind in (0, _LIST) and speaks(key) and (opening := _OBJECT.match(text, at + 1)) is not None:
            record = records.at(at)
            for inner, (start, end, quoted) in documents.members(text, opening.start(1)):
                spoken = said(inner, key)
                if spoken.key != inner:
                    yield Field(spoken.key, start, end, record, quoted)
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
    """The key that ends at a colon or an arrow, or ""."""
    end, quote = at, text[at - 1 : at]
    if quote in _BLANKS:
        while end > 0 and at - end < 4 and text[end - 1] in " \n\t":
            end -= 1
        quote = text[end - 1 : end]
    if quote == '"' or quote == "'":
        begin = text.rfind(quote, end - _LONGEST_QUOTED if end > _LONGEST_QUOTED else 0, end - 1)
        key = text[begin + 1 : end - 1]
        return key if begin >= 0 and _may_be_key(key) and text[begin - 1 : begin] != "\\" else ""
    is_before_string = text[at + 1 : at + 3].lstrip()[:1] in ("'", '"')
    bare_key = _NAMED_ARGUMENT if is_before_string else _BARE_KEY
    bare = (bare_key if text[at] == ":" else _SYMBOL).match(text[max(at - 96, 0) : at][::-1])
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
        depth += text.count("(", match.start(), start)  # of a constructor
        if end > start:
            yield start, end, kind != _BARE
        if (more := _NEXT.match(text, at)) is None:
            return
        depth -= more[0].count("]") + more[0].count(")")
        if depth <= 0:
            return
        at = more.end()


def tuples(text: str, places: Iterable[int]) -> Iterator[Field]:
    """``('key', 'value')``, as ordered dictionaries and lists of headers are printed; a record is a list of them.

    ``define('key', 'value')`` sets one as well.  What else stands before its parenthesis tells a pair from the
    arguments of a call, and square brackets are those of one only among others.
    """
    record, done = 0, -1
    for at in places:
        pair = _PAIR.match(text, at + 1)
        quote = text[at - 1 : at]
        begin = text.rfind(quote, max(at - _LONGEST_QUOTED, 0), at - 1)
        if pair is None or begin < 0 or not _may_be_key(key := text[begin + 1 : at - 1]):
            continue
        if (opening := _PAIR_OPENING.match(text[max(begin - 48, 0) : begin][::-1])) is None:
            continue
        if begin - opening.end() > done:
            record += 1
        done = pair.end() + 2
        yield Field(key, *pair.span(pair.lastindex or 0), record)


#: What follows the comma in a pair; and what stands before its key, read backwards.
_PAIR = lazy(rf"""[ ]?{PREFIX}(?:"([^"\\\n]++)"|'([^'\\\n]++)')[ ]?[)\]]""")
#: Functions that are called with what is set and its value; also read backwards.
_SETTERS = "|".join(
    name[::-1]
    for name in (
        "define setdefault set setenv putenv put append setItem setProperty setRequestHeader setHeader header "
        "addHeader add_header getenv fill"
    ).split()
)
_PAIR_OPENING = lazy(
    rf"[ubUB]?(?:[(]\s{{0,20}}(?:[\[({{,]|(?:{_SETTERS})(?!\w)|\Z)|[\[]\s{{0,20}}(?:[\[]|,\s{{0,4}}[\]]))"
)

# -- lists in which key and value take turns --------------------------------------------------------


def alternating(text: str, places: Iterable[int]) -> Iterator[Field]:
    """``["name", "Kim Lee", "dob", "1990-02-14"]``, as Redis answers for a hash and programs pass maps on.

    Other lists have words at the same places, so two of them have to be keys that mean something.
    """
    done = -1  # up to where lists were read
    for at in places:
        if at < done or (begin := text.rfind("[", max(at - _LONGEST_ENTRY, 0), at)) < 0:
            continue
        members: list[tuple[int, int]] = []
        done = begin + 1
        while (member := _MEMBER.match(text, done)) and len(members) < _MOST_MEMBERS:
            members.append(member.span(member.lastindex or 0))
            done = member.end()
        said = [text[slice(*member)] for member in members]
        if text.startswith("]", done) and take_turns(said) and sum(map(bool, map(classify, said[::2]))) > 1:
            for key, value in zip(said[::2], members[1::2], strict=True):
                yield Field(key, *value, begin)


def take_turns(members: Sequence[str]) -> bool:
    """Whether the members of a list may be keys and their values by turns."""
    keys = members[::2]
    return (
        len(members) > 1
        and len(members) % 2 == 0
        and len({*keys}) == len(keys)
        and all(map(_KEY_AS_WORD.fullmatch, keys))
        and not any(map(classify, members[1::2]))
    )


_MEMBER = lazy(
    rf"""\s{{0,64}}{PREFIX}(?:"((?:[^"\\\n]|\\.){{0,1024}})"|'((?:[^'\\\n]|\\.){{0,1024}})')\s{{0,64}}(?:,|(?=\]))"""
)
_KEY_AS_WORD = lazy(r"[^\W\d][\w .:-]{0,40}")
#: A list has no more members, and the first key that means something stands no further from where it begins.
_MOST_MEMBERS, _LONGEST_ENTRY = 512, 1_024

#: What may stand between two members of a list.
_NEXT = lazy(r"[ \t\r\n\])]{0,64}(?:,[ \t\r\n\[(]{0,64}|(?<=[\])]))")


class _Records:
    """Which object of the text a place is in, for places in order; braces inside of strings are taken for braces."""

    def __init__(self, text: str) -> None:
        self._screen = linear.as_bytes(text)
        self._seen = 0
        self._count = 0
        self._stack = [0]

    def at(self, place: int) -> int:
        screen, seen = self._screen, self._seen
        self._seen = place
        if screen.find(b"{", seen, place) < 0 and screen.find(b"}", seen, place) < 0:
            return self._stack[-1]  # most fields are in the object of the one before
        for brace in screen[seen:place].translate(None, _NO_BRACES):
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
_ASSIGNED_KEY = lazy(r":?[ ]?\]?[\"'`]?[\w.-]{0,40}[^\W\d](?![\w.-])")
#: A quote as HTML writes it: what it opens is read where it is one.
_REFERENCE = r"&(?:amp;){0,8}(?:quot|apos|#0{0,4}3[49]|#[xX]0{0,4}2[27]);"
_ASSIGNMENT = lazy(
    r"""([^\W\d][\w.-]{0,40})[\"'`]?\]?[ ]?(?:=>|:?=)(?!=)[ ]?"""
    rf"""{_WRITTEN}{PREFIX}"""
    rf"""(?:"([^"\n]+)"|'([^'\n]+)'|{_PARTS}"""
    rf"""|(?!{_REFERENCE})"""
    r"""((?:[^\s,;&"'<>(){}\[\]|]|&(?!(?:amp;){0,8}[\w.-]{1,40}=))+"""
    r"""(?:(?:[ ](?!HTTP/)[A-ZÀ-Þ][^\s,;&"'<>(){}\[\]|=]{0,40}){1,4}"""
    r"""(?=,[ ]?\w{1,40}=|[)\]}]|[ \t]{0,20}\r?(?:\n|\Z)))?))"""
)
#: Which of its groups is a value without quotes; the first one is the key.
_UNQUOTED = 5


def assignments(text: str, places: Iterable[int]) -> Iterator[Field]:
    """``key=value`` in logs, shells, INI files, query strings, SQL and XML attributes.

    The key may be quoted, and in brackets: ``"first_name" = 'Zora'``, ``user['first_name'] = 'Zora'``.  A record is a
    line, and of settings that have a line each, up to an empty line or the next section, all of them.
    """
    record, seen, done = 0, 0, 0
    for at in places:
        if at < done or (key := _ASSIGNED_KEY.match(text[at - 48 if at > 48 else 0 : at][::-1])) is None:
            continue
        match = _ASSIGNMENT.match(text, at - key.end())
        if match:
            record += text.count("\n", seen, at)
            group = match.lastindex or 0
            start, end = match.span(group)
            # A setting may be one of many in a value that is quoted: connectionString="User=kim;Password=..."
            seen, done = at, start if group != _UNQUOTED and "=" in match[group] else match.end()
            of = _block(text, match.start(), start, end) or record
            yield Field(match[1], start, end, of, group != _UNQUOTED)
        elif (value := _ARRAY.match(text, at)) is not None and (key := _KEY.match(text, at - key.end())):
            record += text.count("\n", seen, at)
            seen = at
            for start, end, is_quoted in _members(text, value.end()):
                done = end
                yield Field(key[0], start, end, record, is_quoted)


def _block(text: str, place: int, start: int, end: int) -> int:
    """Which block of settings, as a negative number, a place is in with its value; 0 if it begins no line, or for none.

    Products and projects have a name too, and the mail of somebody: a capitalised value belongs to its line alone,
    unless it is plain to see that it names a person, or its section is about one.
    """
    line = text.rfind("\n", max(place - _INDENT, 0), place) + 1
    if text[line or max(place - _INDENT, 0) : place].strip(" \t"):
        return 0
    first = max(place - _LONGEST_BLOCK, 0)
    section = text.rfind("\n[", first, place)
    if text[start].isupper():
        name = _SECTION.match(text, section if section >= 0 else 0, place)
        is_about_somebody = name is not None and name[1].rpartition(".")[2].lower() in _SOMEBODY
        if not is_about_somebody and not evident_name(text[start:end]):
            return 0
    begin = max(text.rfind("\n\n", first, place), section)
    return -2 - begin if begin >= 0 or not first else 0


#: A setting is indented by fewer code points than this, and its block, as far as it is looked at, has no more.
_INDENT, _LONGEST_BLOCK = 40, 4_096
_SECTION = lazy(r"\n?[ \t]*\[{1,2}([\w.]{1,60})[^\]\n]{0,60}\]")
_SOMEBODY = frozenset(
    "user users owner author person people contact customer customers client employee patient member profile".split()
)
_KEY = lazy(r"[^\W\d][\w.-]{0,40}")
_ARRAY = lazy(r"=[ ]?\[")


def glued(text: str, places: Iterable[int]) -> Iterator[Field]:
    """``key:value`` between blanks, in logs and as Go prints a struct; a record is a line."""
    record, seen = 0, 0
    for at in places:
        if text[at + 1 : at + 2] == " " or not text[at - 1].isalnum() or (value := _GLUED.match(text, at)) is None:
            continue
        if key := _GLUED_KEY.match(text[max(at - 48, 0) : at][::-1]):
            record += text.count("\n", seen, at)
            seen = at
            yield Field(key[1][::-1], *value.span(1), record, False)


_GLUED = lazy(r""":([^\s{}\[\]():,="';|&<>]{2,200})(?=[\s}\]]|\Z)""")
_GLUED_KEY = lazy(r"(\w{0,40}[^\W\d])(?:[ {]|\Z)")


# -- lists under a header -------------------------------------------------------------------------


def lists(text: str) -> Iterator[Table]:
    """Lists of a document under the list of their columns."""
    return (Table(header, rows) for header, rows in documents.lists(text))


# -- XML ------------------------------------------------------------------------------------------

_ELEMENT = lazy(
    r"<(?P<key>[^\W\d][\w:.-]{0,40})(?: [^<>]{0,300})?>\s{0,64}"
    r"(?:<!\[CDATA\[\s{0,64}(?P<data>[^\]\s](?:[^\]\n]{0,510}[^\]\s])?)\s{0,64}\]\]>"
    r"|(?P<value>[^<>\s](?:[^<>\n]{0,510}[^<>\s])?))\s{0,64}</"
)
#: An element of a form or a configuration that names its value, and the attributes that do.
_ATTRIBUTE = lazy(r"""\s([a-z]{2,12})=(?:"([^"<>]+)"|'([^'<>]+)')""", re.IGNORECASE)
_NAMED, _VALUED = ("name", "key", "id"), ("value", "content", "defaultvalue")
#: ... and one of a resource, of settings, of a list of properties: its name is an attribute, or an element before it.
_NAMING = lazy(r"""\s(?:name|key|id|field)=(?:"([^"<>]{1,64})"|'([^'<>]{1,64})')""", re.IGNORECASE)
_LISTED = lazy(r"</key>\s{0,64}<(?:string|date|integer|real)>([^<>\n]{1,512})</")
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
            key = match["key"].rpartition(":")[2]
            yield Field(key, *match.span(group), 0)
            if naming := _NAMING.search(text, begin, match.start(group)):
                yield Field(naming[naming.lastindex or 0], *match.span(group), 0)
        elif (listed := _LISTED.match(text, begin)) is not None:
            yield Field(text[text.rfind(">", max(begin - 64, 0), begin) + 1 : begin], *listed.span(1), 0)
        elif named := _named(text, begin, at + 1):
            yield named


def _named(text: str, begin: int, end: int) -> Field | None:
    """The value that the attributes of a tag name."""
    said = {match[1].lower(): match for match in _ATTRIBUTE.finditer(text, begin, end)}
    name = next((said[word] for word in _NAMED if word in said), None)
    value = next((said[word] for word in _VALUED if word in said), None)
    if name is None or value is None or _CONTROL.search(text, begin, end):
        return None
    return Field(name[name.lastindex or 0], *value.span(value.lastindex or 0), 0)


_LABELLED = lazy(
    r":\s{0,8}(?=<)(?:</[a-z]{1,8}>\s{0,8}){0,2}(?:<[a-z]{1,8}(?: [^<>]{0,80})?>\s{0,8}){0,2}"
    r"(?P<value>[^<>\s](?:[^<>\n]{0,254}[^<>\s])?)",
    re.IGNORECASE,
)


def labels(text: str, places: Iterable[int]) -> Iterator[Field]:
    """``<b>Email:</b> kim@example.com`` and ``Email: <b>kim@example.com</b>`` of HTML; all of a text are one record."""
    for at in places if "</" in text else ():
        if text.startswith(("<", " <"), at + 1) and (match := _LABELLED.match(text, at)):
            begin = text.rfind(">", max(at - _LONGEST_QUOTED, 0), at)
            if begin >= 0:
                yield Field(text[begin + 1 : at].strip(), *match.span("value"), 0)
