"""Lists and columns of those who wrote, own or do something: ``authors = ["Kim Lee", ...]``, ``| Owner | City |``.

A single key of that kind may hold anybody, a team or a program.  Of several such values one that is surely somebody's
tells that those like it are as well.
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
    "organizer developer translator speaker stakeholder autor bearbeiter teilnehmer auteur participante autore"
).split()
_ONE_WORD = frozenset((*_DOERS, *(f"{word}s" for word in _DOERS)))
#: One in small letters, capitalised and in capitals; and how there are several.
_DOER = "|".join(f"[{word[0]}{word[0].upper()}]{word[1:]}|{word.upper()}" for word in _DOERS)
_SEVERAL = r"(?:s|e[ns])[\"'*]{0,3}[ ]?[:=]"
#: Several before a mark, or one at the end of a cell.
SIGN = rf"(?:{_DOER})(?:{_SEVERAL}|[ *]{{0,40}}[|]|\"?[,;\t]|\"?\r?\n|  )"
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
            yield _persons([(name, (start + first, start + last)) for name, (first, last) in names])
    for table in drawn(text, [at + (text[at] == "\n") for at in places], _WORDS):
        rows = list(table.rows)
        for column in range(len(table.keys)):
            yield _persons([(text[slice(*row[column])], row[column]) for row in rows])


def _persons(named: Sequence[Named]) -> Table:
    """Those of some names that are somebody's."""
    from cloakllm_gateway.detection.name_fields import is_full_name, known_name  # most starts need no list of names

    full = {name: place for name, place in named if is_full_name(name)}  # columns repeat their values
    known = {place for name, place in full.items() if known_name(name)}
    theirs = known.union(somebody([*full.items()])) if known else ()
    names = {name for name, place in full.items() if place in theirs}
    return Table(["full name"], [[place] for name, place in named if name in names])


def _means(name: str) -> str:
    words = normalise(name)
    return "PERSON" if len(words) == 1 and words[0] in _ONE_WORD else ""


_WORDS = Words(_means, personal=lambda name: bool(_means(name)), telling=lambda _: False, named=lambda _: False)
