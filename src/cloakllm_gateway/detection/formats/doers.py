"""Lists and columns of those who wrote, own or do something: ``authors = ["Kim Lee", ...]``, ``| Owner | City |``.

A single key of that kind may hold anybody, a team or a program.  Of several such values one that is surely somebody's
tells that those like it are as well.  A column called just ``Name`` may be of anything: it is of persons if one of
its cells is a full name, or most are given names that mean nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cloakllm_gateway.detection.formats.people import Named, somebody
from cloakllm_gateway.detection.keys import normalise
from cloakllm_gateway.detection.tables import Table, Words
from cloakllm_gateway.detection.tables import tables as drawn
from cloakllm_gateway.patterns import lazy

_DOERS = (
    "author owner maintainer contributor reviewer approver assignee reporter creator attendee participant watcher "
    "organizer developer translator speaker stakeholder manager supervisor requester autor bearbeiter "
    "teilnehmer auteur participante autore"
).split()
#: What a column of names is called.
_NAMES = "name|nombre|nom|nome|naam"
_NAMING = frozenset((word,) for word in _NAMES.split("|"))
_ONE_WORD = frozenset((*_DOERS, *(f"{word}s" for word in _DOERS)))
#: One in small letters, capitalised and in capitals; and how there are several.
_DOER = "|".join(f"[{word[0]}{word[0].upper()}]{word[1:]}|{word.upper()}" for word in _DOERS)
_SEVERAL = r"(?:s|e[ns])[\"'*]{0,3}[ ]?[:=]"
#: Several before a mark, or one at the end of a cell; a name in a row without blanks, for code is full of them.
SIGN = (
    rf"(?:{_DOER})(?:{_SEVERAL}|[ *]{{0,40}}[|]|\"?[,;\t]|\"?\r?\n|  )"
    rf"|\b(?i:{_NAMES})(?:[*]{{0,2}}[ ]{{0,40}}[|]|\"?[,;][^ \r\n]|\t)|[,;\t]\"?(?i:{_NAMES})\"?\r?\n"
)
_LIST = lazy(
    rf"(?:{_DOER}){_SEVERAL}[*]{{0,2}}[ \t]{{0,8}}(?:\[(?P<array>[^\[\]]{{0,16384}}+)"
    r"|\n(?P<block>(?:[ \t]{0,40}[-*•] [^\n]{1,200}(?:\n|\Z)){1,200})|(?P<line>[^\n\[{]{1,1024}))"
)
#: One of a list, up to its address or what else is said of it.
_ITEM = lazy(
    r"(?:\A|[,;\n&]|\band\b|\bund\b|\bet\b|\by\b)(?:[ \t\r\n]{0,40}[-*•] |[ \t\r\n\"']{0,40})[\"']?"
    r"(?P<name>[^\W\d_][^\n\"',;<>()\[\]{}:=@&]{2,60}?)(?=[ ]?(?:[\"',;<(&]|\r?\n|\Z| and | und | et | y ))"
)


def tables(text: str, places: Sequence[int]) -> Iterator[Table]:
    """A column of persons for each list, and for each column of a table."""
    done = 0
    for at in places:
        if at >= done and (found := _LIST.match(text, at)):
            group = found.lastgroup or ""
            start, done = found.start(group), found.end()
            names = [(each["name"], each.span("name")) for each in _ITEM.finditer(found[group])]
            named = [(name, (start + first, start + last)) for name, (first, last) in names]
            if group == "array" and "=" in text[found.start() : start]:  # words without quotes are names of variables
                named = [(name, place) for name, place in named if text[place[0] - 1] in "\"'"]
            yield _persons(named)
    for table in drawn(text, [at + (text[at] == "\n") for at in places], _WORDS):
        rows = list(table.rows)
        for column in range(len(table.keys)):
            named = [(text[slice(*row[column])], row[column]) for row in rows]
            if _is_role(table.keys[column]) or _are_persons(named):
                yield _persons(named)


def _are_persons(named: Sequence[Named]) -> bool:
    """Whether a column of names is one of persons."""
    from cloakllm_gateway.detection.name_fields import is_given_name_only, known_name  # most starts need no list

    names = {name for name, _ in named if name}
    sure = sum(map(is_given_name_only, names))
    return any(map(known_name, names)) or (sure > 1 and 2 * sure > len(names))


def _persons(named: Sequence[Named]) -> Table:
    """Those of some names that are somebody's."""
    from cloakllm_gateway.detection.name_fields import given_name, is_full_name, known_name

    places = dict(named)  # columns repeat their values
    full = {name: place for name, place in places.items() if is_full_name(name)}
    known = {name for name in full if known_name(name)}
    alike = set(somebody([*full.items()])) if known else ()
    names = {*filter(given_name, places), *known, *(name for name, place in full.items() if place in alike)}
    return Table(["full name"], [[place] for name, place in named if name in names])


def _is_role(name: str) -> bool:
    words = normalise(name)
    return len(words) == 1 and words[0] in _ONE_WORD


def _means(name: str) -> str:
    return "PERSON" if _is_role(name) or normalise(name) in _NAMING else ""


_WORDS = Words(_means, personal=lambda name: bool(_means(name)), telling=lambda _: False, named=lambda _: False)
