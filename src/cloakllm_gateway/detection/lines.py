"""Lines with a key, a colon and a value: YAML, forms, mail headers, vCards; and assignments of environment variables.

Before each may stand what tools put there that print a file: its number, its name, the mark of a change.

Of YAML, the value may be below its key: a block (``|``, ``>-``), a list of ``- items``, or one line that is indented.
A comment behind a value is no part of it, nor are a tag (``!!str``) and an anchor (``&name``) before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from cloakllm_gateway.detection.fields import Field
from cloakllm_gateway.detection.tables import NUMBERED
from cloakllm_gateway.patterns import lazy

_LINE = lazy(
    rf"(?:{NUMBERED})?"
    r"(?P<lead>[ \t>*#•|+-]{0,12}(?:[?] |\d{1,3}[.)][ ]{1,3})?[*_]{0,3})(?P<quote>[\"']?)"
    r"(?P<key>[^\W\d_][^\n:：={}\"';()\[\]|]{0,40}(?:'(?=[^\W\d_])[^\n:：={}\"';()\[\]|]{0,20})?)(?P=quote)"
    r"(?:;[^\n:]{1,80})?(?:[ ]\([^()\n]{1,20}\))?"
    r"(?:[*_` \t]{0,4}|[ ]{5,24})(?:::(?=[ ])|[:：])[*_`]{0,3}[ \t]{0,4}(?:[_.]{3,80}[ ]?)?"
    r"(?:(?:!{1,2}[\w/:.-]{1,40}|&[\w-]{1,40})(?:[ \t]{1,4}|(?=\r?\n|\Z))){0,2}"
    r"(?P<value>[^\n]*+)"
)
#: How far behind the start of its line the colon of a key may stand.
_LONGEST_KEY = 200
_EMPTY_LINE = lazy(r"\n[ \t]*\n")


def lines(text: str, places: Iterable[int]) -> Iterator[Field]:
    """``Key: value`` lines; a record ends at an empty line."""
    record, seen, last = 0, 0, -1  # last: the place before, whose line is done
    for at in places:
        is_done = last >= 0 and text.find("\n", last, at) < 0
        last = at
        if is_done:
            continue
        begin = text.rfind("\n", max(at - _LONGEST_KEY, 0), at) + 1
        if begin == 0 and at >= _LONGEST_KEY:
            continue
        match = _LINE.match(text, begin)
        if match is None:
            continue
        record += len(_EMPTY_LINE.findall(text, max(seen - 1, 0), begin))
        seen = begin
        key, (start, end) = match["key"].strip(), match.span("value")
        value = match["value"].rstrip(" \t\r")
        if _BLOCK.fullmatch(value):
            below = _block(text, end + 1, len(match["lead"]))
            if below[1] > below[0]:
                yield Field(key, *below, record)
        elif not value or _REMARK.match(value):
            for item in _items(text, end + 1, len(match["lead"])):
                yield Field(key, *item, record)
                yield Field(key.removesuffix("s"), *item, record)  # a list may be called by what it has many of
        else:
            whole = start + len(value)
            if key.lower() in _COOKIES:
                yield from _cookies(text, key, *_inside(text, start, whole), record)
            elif not (match["quote"] and (text[start] in _QUOTES or value[-1] in ",{[")):
                for each, *place in _beside(text, key, start, whole):
                    start, end = _inside(text, *place)
                    if end > start:
                        yield Field(each, start, end, record)


def headers(text: str, places: Iterable[int]) -> Iterator[Field]:
    """``X-Api-Key: value`` of HTTP within a line: up to the closing quote, as in a command, or a single word."""
    for at in places:
        before = text[at - 1]
        if before in _QUOTES or (before not in "eE" and text.rfind("-", max(at - 64, 0), at) < 0):
            continue  # most keys: in quotes of their own, or without a hyphen, and no cookie
        if (name := _HEADER.match(text[max(at - 64, 0) : at][::-1])) is None:
            continue
        key, quote = name[1][::-1], name[2]
        value = _UP_TO.get(quote, _WORD).match(text, at + 1)
        if value is None:
            continue
        if key.lower() in _COOKIES:
            yield from _cookies(text, key, *value.span(1), at)
        else:
            yield Field(key, *value.span(1), at)


def variables(text: str, places: Iterable[int]) -> Iterator[Field]:
    """``DB_PASSWORD=p@ss(w0rd)`` of an environment: all of the line, whatever the mark of another format is there."""
    for at in places:
        if text[at - 1].islower():
            continue  # most keys
        begin = text.rfind("\n", max(at - _LONGEST_VARIABLE, 0), at) + 1
        if (name := _NAME.match(text, begin)) and name.end() == at + 1 and (value := _WHOLE.match(text, at + 1)):
            group = value.lastindex or 0
            yield Field(name[1], *value.span(group), begin, group != _BARE)


_LONGEST_VARIABLE = 200
_NAME = lazy(rf"(?:{NUMBERED})?(?:[+>-] ?)?(?:export )?([A-Z][A-Z0-9_]{{1,60}})=")
#: Up to the end of the line or a comment: in quotes, or one word that does not begin as the call of a function does.
_WHOLE = lazy(
    r"""(?:"((?:[^"\\\n]|\\.)++)"|'([^'\n]++)'|((?![A-Za-z_][\w.]{0,60}[(\[])[^\s"'`$]\S*+))"""
    r"""[ \t]*(?:#[^\n]*)?(?:\r?\n|\Z)"""
)
_BARE = 3

#: The name of a header and what is before it, read backwards: it has a hyphen, or is one of a few.
_HEADER = lazy(r"((?:[\w]{1,24}-(?:[\w-]{0,39}[^\W\d])|eikooC)(?![\w-]))([\"' ])", re.IGNORECASE)
_UP_TO = {'"': lazy(r'[ ]?([^"\n]+)"'), "'": lazy(r"[ ]?([^'\n]+)'")}
_WORD = lazy(r"[ ]([^\s\"',;]{4,})")


def dumps(text: str, places: Iterable[int]) -> Iterator[Field]:
    """``[key] => value`` on a line and ``["key"]=> string(5) "value"``, as PHP prints arrays and objects.

    A record ends where one of them is closed.
    """
    record, seen = 0, 0
    if "]=>" not in text:
        places = [at for at in places if text[at] != ":"]  # most marks
    for at in places:
        if text[at] == ":" and text.find("]=>", at, at + 120) < 0:
            continue
        if (dumped := _DUMPED.match(text, text.rfind("[", max(at - 160, 0), at))) is None:
            continue
        record += text.count(")", seen, at) + text.count("}", seen, at)
        seen = at
        yield Field(dumped["key"], *dumped.span("said" if dumped["said"] is not None else "value"), record)


_DUMPED = lazy(
    r"\[\"?(?P<key>[^\W\d][\w -]{0,60})\"?(?::(?:\"[\w\\]{1,80}\":)?[a-z\\A-Z]{1,80}(?::private)?)?\]"
    r"(?:=>\s{1,40}string\(\d{1,9}\) \"(?P<said>[^\"\n]{1,512})\"| => (?P<value>[^\n(]{1,512}))"
)

_COOKIES = frozenset(("cookie", "set-cookie"))
_COOKIE = lazy(r"[^\s=;,]{1,64}=([^\s;]+)")


def _cookies(text: str, key: str, start: int, end: int, record: int) -> Iterator[Field]:
    """The values of cookies: what they are called says little."""
    for cookie in _COOKIE.finditer(text, start, end):
        yield Field(key, *cookie.span(1), record)


def _beside(text: str, key: str, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    """Each key on a line and where its value begins and ends: ``Surname: Lee    First name: Kim``, as forms have it."""
    is_alone = text.find(":", start, end) < 0 or _CODE.search(text, start, end)
    others = () if is_alone else tuple(_NEXT_KEY.finditer(text, start, end))
    for other in others:
        yield key, start, other.start()
        key, start = other["key"], other.end()
    yield key, start, end


#: A key behind another value: what divides the two, and one blank will do before a capital.
_NEXT_KEY = lazy(
    r"(?:[ ]{2,80}|[ ]?\t[ \t]{0,20}|[ ]?[|;,/•·][ ]{1,4}|[ ](?=[A-Z]))"
    r"(?P<key>[^\W\d_][\w.#'()/-]{1,24}(?: [\w.#'()/-]{1,24}){0,3})[ ]{0,12}:(?:[ ]{1,20}|\t)"
)
#: What no such line has.
_CODE = lazy(r"[{}=<>`]|\w\(|[;,]\Z|\A[\"']")

_QUOTES = "\"'`"
#: Behind a value: a comment, which no number is.
_COMMENT, _REMARK = lazy(r"[ \t]{1,20}#(?![ ]?\d)"), lazy(r"#(?: |\Z)(?!\d)")
_QUOTED = lazy(r"""(["'`])([^\n]{1,1000}?)\1(?=[ \t]{1,20}#)""")


def _inside(text: str, start: int, end: int) -> tuple[int, int]:
    """A value without its quotes, the comment behind it and what ends its line."""
    last = start + len(text[start:end].rstrip(" \t\r,;|"))
    if text.startswith("___", last - 3):  # the rest of a line to write on
        last = start + len(text[start:last].rstrip("_ "))
    if last - start >= 2 and text[start] == text[last - 1] in _QUOTES:
        return start + 1, last - 1
    if quoted := _QUOTED.match(text, start, end):
        return quoted.span(2)
    if comment := _COMMENT.search(text, start, last):
        last = start + len(text[start : comment.start()].rstrip(" \t\r,;|"))
    return start, last


# -- what is below a key --------------------------------------------------------------------------

_BLOCK = lazy(r"[|>][+-]?[1-9]?[+-]?(?:[ \t]{1,20}#[^\n]*)?")
#: So many lines below a key are read.
_MOST_LINES = 64


def _below(text: str, at: int) -> Iterator[tuple[int, int, int]]:
    """The next lines, each as where it begins, where its text begins and ends; one without text is empty there."""
    for _ in range(_MOST_LINES):
        if at >= len(text):
            return
        stop = text.find("\n", at)
        line = text[at : stop if stop >= 0 else len(text)]
        start = at + len(line) - len(line.lstrip(" "))
        yield at, start, max(at + len(line.rstrip(" \t\r")), start)
        at += len(line) + 1


def _block(text: str, at: int, indent: int) -> tuple[int, int]:
    """Where the lines that are indented further than their key begin and end."""
    first = last = 0
    for line, start, end in _below(text, at):
        if start < end:
            if start - line <= indent:
                break
            first, last = first or start, end
    return first, last


def _items(text: str, at: int, indent: int) -> Iterator[tuple[int, int]]:
    """The ``- items`` below a key, or the only line below it; what has a key of its own is none of them."""
    for number, (line, start, end) in enumerate(_below(text, at)):
        is_item = text.startswith("- ", start)
        if start - line < indent + (not is_item) or (not is_item and number) or _KEYED.match(text, start, end):
            return
        if item := _ITEM.match(text, start, end):
            start = item.end()
        start, stop = _inside(text, start, end)
        if start < stop and (is_item or text[start - 1] in _QUOTES or _UNLIKE_CODE.search(text, start, stop)):
            yield start, stop
        if not is_item:
            return


_ITEM = lazy(r"-[ ]{1,8}")
_KEYED = lazy(r"""(?:-[ ]{1,8})?["']?[^\n"':]{1,60}["']?:(?:[ \t]|\Z)""")
#: A line below a key is a value if it is no word, which may be a statement.
_UNLIKE_CODE = lazy(r"[\d@]|[A-Z][^\s(\[]*[ ][^\s(\[=]+\Z")
