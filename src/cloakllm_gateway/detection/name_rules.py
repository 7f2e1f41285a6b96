"""Names recognised by rules: people that words alone tell, without a model.

Each rule looks at one run of capitalised words and what stands around it.  A
given name with a surname, a title, a greeting, what people do, an address that
spells the name beside it: small models overlook one such name in four, and
these rules are wrong about one in a hundred.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import dropwhile

from cloakllm_gateway.detection.name_context import in_company
from cloakllm_gateway.detection.name_runs import (
    MID_SENTENCE,
    PERSON,
    SURE,
    SURE_BEFORE_SURNAME,
    Found,
    Run,
    Word,
    is_prose,
    runs,
)
from cloakllm_gateway.detection.name_words import (
    ACTS,
    ADDRESSES,
    AMBIGUOUS_NAMES,
    ARTICLES,
    CUES_AFTER,
    CUES_BEFORE,
    CURRENCIES,
    FIRST_NAMES,
    GERMAN_NOUNS,
    GREETINGS,
    KEYWORDS,
    NOT_NAMES,
    OPENERS,
    PLACE_CUES,
    PLACES,
    PLACES_IN_SMALL,
    SUFFIXES,
    SURNAMES_AND_WORDS,
    TITLES,
    WORD_NAMES,
    plain,
)
from cloakllm_gateway.detection.surnames import SURNAMES

#: What makes the word behind it a name, known or not.
_INTRODUCED = re.compile(
    r"(?:\b(?:[Mm]y|[Hh]is|[Hh]er|[Tt]heir|[Yy]our|first|last|given|family|maiden|middle|full) name(?: is|:|\?|'s)"
    r"|\b[Ss]urname(?: is|:)|\bcalls? me) $"
)
#: Labels that follow a name without a break between.
NO_END = CURRENCIES | frozenset(
    ("email", "phone", "address", "subject", "date", "regards", "cell", "tel", "fax", "mobile", "title")
)
NO_START = (NOT_NAMES - FIRST_NAMES) | (NOT_NAMES & WORD_NAMES)


def evident(text: str, found: Iterable[Run]) -> Iterator[Found]:
    """The people that words alone tell, in no order; one may be found twice."""
    in_order = list(found)
    for run in in_order:
        if name := _name_of(text, run):
            yield Found(name[0].start, end_of(text, name[-1]), PERSON)
    yield from _beside_addresses(text, in_order)
    yield from _listed_in_capitals(text)
    yield from _in_notes(text)
    yield from in_company(text)


#: What may begin a name that words alone tell, if no well-known surname ends it.
_MAY_BEGIN = SURE_BEFORE_SURNAME | TITLES


def told_alone(run: str) -> int:
    """How far the name reaches that begins a run of capitalised words, going by these words alone; 0 for none."""
    low = run.lower()
    first, _, rest = low.partition(" ")
    if not low.isascii():
        first, rest = plain(first), plain(rest)
    if first.rstrip(".") not in _MAY_BEGIN and rest.rpartition(" ")[2] not in SURNAMES:
        return 0
    words = _pair(run, low) or next((found.words for found in runs(run)), ())
    name = _titled(words) or _named(words) or _with_surname(words)
    return end_of(run, name[-1]) if name and name[0].start == 0 else 0


def _pair(run: str, low: str) -> tuple[Word, ...]:
    """The words of a run of two, as most are, where they are nothing but letters."""
    first, _, last = run.partition(" ")
    if not (low.isascii() and first.isalpha() and last.isalpha()):
        return ()
    size, end = len(first), len(run)
    return Word(0, size, first, low[:size], True), Word(size + 1, end, last, low[size + 1 :], True)


def _name_of(text: str, run: Run) -> Sequence[Word]:
    words = run.words
    if len(words) == 1 and not words[0].capital:
        return _in_lower_case(text, run)
    return _titled(words) or _named(words) or _initialled(words) or _with_surname(words) or _lone(text, run)


def _titled(run: Sequence[Word]) -> Sequence[Word]:
    """The titles and the words behind them, up to a word that is no name."""
    for at, word in enumerate(run[:-1]):
        if word.title:
            behind = at + 1
            while behind < len(run) and run[behind].title:
                behind += 1
            name = until_no_name(run[behind:])
            titles = [title for title in run[at:behind] if len(title.text) <= SHORT]
            if len(titles) > 1 and titles[0].low in ADDRESSES:
                titles.pop(0)
            return [*titles, *name] if name and name[0].low not in NOT_NAMES else ()
    return ()


#: Longer titles (`Brigadier`) stay outside the name.
SHORT = 5


def _named(run: Sequence[Word]) -> Sequence[Word]:
    """A given name and what follows it, up to a word that is no name, unless the whole is a place or a firm."""
    if run[-1].low in PLACES or len(run) > 6:
        return ()
    for at, word in enumerate(run[:-1]):
        if word.low in SURE_BEFORE_SURNAME and word.capital:
            name = until_no_name(run[at:])
            return name if len(name) > 1 else ()
    return ()


def _initialled(run: Sequence[Word]) -> Sequence[Word]:
    """Two words with an initial between them."""
    if len(run) != 3 or len(run[1].text) > 1:
        return ()
    doubtful = (word.low in NOT_NAMES or word.low in PLACES or word.text.isupper() for word in (run[0], run[2]))
    return () if any(doubtful) else run


def until_no_name(name: Sequence[Word]) -> Sequence[Word]:
    """Cut before the first word that is no name; the last of a short name is a surname all the same (`Ann Price`)."""
    for at in range(1, len(name)):
        if name[at].low in NOT_NAMES and len(name[at].text) > 1:
            surname = at == len(name) - 1 and name[0].low in SURE and all(len(w.text) == 1 for w in name[1:at])
            return name if surname and name[at].low not in NO_END else name[:at]
    return name


def _with_surname(run: Sequence[Word]) -> Sequence[Word]:
    """Any word that may be a given name before a well-known surname (`Groucho Marx`): the run, which is prose.

    Behind an article the surname alone is left (`Der Schmidt`), unless it is a word (`Der Stein`).
    """
    if len(run) != 2 or run[1].low not in SURNAMES or len(run[0].text) < 2:
        return ()
    first = run[0]
    if first.low in OPENERS:
        return () if run[1].low in GERMAN_NOUNS or run[1].low in SURNAMES_AND_WORDS else run[1:]
    doubtful = first.low in NOT_NAMES or first.low in GERMAN_NOUNS or first.low in PLACES or first.text.isupper()
    return () if doubtful or (first.low in WORD_NAMES and first.low in PLACE_CUES) else run


def _lone(text: str, run: Run) -> Sequence[Word]:
    """A single name, in prose only: one that is nothing else, or told by what stands around it."""
    word = run.words[-1]
    led = run.words[:-1]
    if _in_company(text, run):
        return (word,)
    if run.after.low in PLACES_IN_SMALL and run.after.start - word.end == 1:
        return ()  # `Victoria station`
    if not word.capital or word.low in NOT_NAMES or any(w.low not in NO_START for w in led) or not is_prose(text, run):
        return ()
    before, gap = (led[-1], text[led[-1].end : word.start]) if led else (run.before, run.gap)
    greeted = before.low in GREETINGS and gap == " "
    told = greeted or _INTRODUCED.search(text, max(word.start - 20, 0), word.start)
    if told or (word.low in SURE and len(word.text) > 2):
        return (word,)
    return (word,) if not led and (_acts(run) or _is_surname(run) or _is_line(text, word)) else ()


def _acts(run: Run) -> bool:
    """A given name, even one that is a place too, before what only people do (`Florence moved`, `Rich said`)."""
    name, after = run.words[0], run.after
    return name.low in FIRST_NAMES and after.start - name.end == 1 and after.text in ACTS


def _is_surname(run: Run) -> bool:
    """A well-known surname in the middle of a sentence, or before what people do; not where a place stands."""
    name = run.words[0]
    if name.low not in SURNAMES or name.low in GERMAN_NOUNS or name.text.isupper() or run.before.low in PLACE_CUES:
        return False
    if (run.before.capital and run.gap == " ") or run.before.low in ARTICLES:
        return False
    return MID_SENTENCE.fullmatch(run.gap) is not None or (run.after.start - name.end == 1 and run.after.text in ACTS)


def _is_line(text: str, name: Word) -> bool:
    """A given name as a line of its own with a comma, as letters begin and end."""
    return (
        name.low in FIRST_NAMES
        and name.low not in WORD_NAMES
        and text[name.start - 1 : name.start] in ("", "\n")
        and _COMMA_LINE.match(text, name.end) is not None
    )


_COMMA_LINE = re.compile(r"[,!][ \t]*(?:\r?\n|\Z)")


def _in_company(text: str, run: Run) -> bool:
    """A given name that is a word too, beside one that is not (`Bill and Melinda`, `Joy and Mark`)."""
    name = run.words[0]
    if len(run.words) > 1 or not name.capital or name.low not in AMBIGUOUS_NAMES:
        return False
    other = _AND.match(text, name.end)
    return other is not None and plain(other[1]) in FIRST_NAMES


_AND = re.compile(r" (?:and|or|und|oder|et|ou|y|e) ([A-ZÀ-Þ][^\W\d_]+)")


_NO_SURNAME = NOT_NAMES | CUES_AFTER
#: Words before a name in lower case, as people type in a chat.
_LOWER_CUES = CUES_BEFORE - {"and", "for", "from", "to", "with"} | {"assigned to", "reported by", "created by"}


def _in_lower_case(text: str, run: Run) -> Sequence[Word]:
    """A given name in lower case with the word behind it: told by a cue before it, or alone on its line."""
    name, surname = run.words[0], run.after
    if name.low not in SURE or len(name.text) < 3 or text[name.end : surname.start] != " ":
        return ()
    if not surname.text.islower() or len(surname.text) < 3 or surname.low in _NO_SURNAME:
        return ()
    if name.low in KEYWORDS:
        return (name, surname) if surname.low in SURNAMES else ()
    line = text[name.start - 1 : name.start] in ("", "\n") and text[surname.end : surname.end + 1] in ("", "\n", "\r")
    before = text[max(name.start - 14, 0) : name.start]
    cued = any(before.endswith(f"{cue} ") for cue in _LOWER_CUES)
    return (name, surname) if line or cued or surname.low in SURNAMES else ()


# -- names beside addresses ------------------------------------------------------------------------

_AT = re.compile(r"@[\w-]")
_LOCAL_PART = re.compile(r"(?<![\w.+-])[^\W\d_][\w.+-]{2,63}\Z")
_LONGEST_PART = 64
_PART = re.compile(r"[^\W\d_]{3,}")
#: How far from an address its owner's name stands, in code points.
_NEARBY = 80


def _beside_addresses(text: str, found: Sequence[Run]) -> Iterator[Found]:
    """Runs near a mail address whose local part spells one of their words: `Sheridan Titman <titman@...>`."""
    if "@" not in text:
        return
    starts = [run.start for run in found]
    for start, end in _addresses(text):
        spelled = _spelled(text[start:end])
        for run in found[bisect_left(starts, start - _NEARBY) : bisect_left(starts, end + _NEARBY)]:
            if start <= run.start < end or not any(_spells(spelled, word) for word in run.words):
                continue
            name = until_no_name(list(dropwhile(lambda word: word.low in NO_START, run.words)))
            if len(name) <= _MOST_WORDS and any(_spells(spelled, word) for word in name):
                yield Found(name[0].start, end_of(text, name[-1]), PERSON)


def _addresses(text: str) -> Iterator[tuple[int, int]]:
    """Mail addresses, from their beginning to the first character of the domain."""
    done = 0
    for sign in _AT.finditer(text):
        if local := _LOCAL_PART.search(text, max(sign.start() - _LONGEST_PART, done), sign.start()):
            yield local.start(), sign.end()
            done = sign.end()


#: More words than this are a title or a firm.
_MOST_WORDS = 4


def _spelled(address: str) -> frozenset[str]:
    """The words that the parts of an address may be, with at most an initial before (`rtackett`) or behind them."""
    parts = _PART.findall(plain(address))
    return frozenset(parts).union(word for part in parts for word in (part[1:], part[:-1]) if len(word) > 3)


def _spells(spelled: Collection[str], word: Word) -> bool:
    low = word.low if word.low.isalpha() else "".join(filter(str.isalpha, word.low))
    return low in spelled and word.capital and low not in NOT_NAMES and low not in PLACES


# -- other ways to write names ---------------------------------------------------------------------

_CAPITALS = r"[A-Z][A-Z'’-]{3,20}"
#: Here and below what is before a capital is looked at second, so that the engine can skip to the next one.
_LIST = re.compile(rf"[A-Z](?<![\w.].)[A-Z'’-]{{3,20}}(?:, {_CAPITALS}){{0,8}},? and {_CAPITALS}(?!\w)")


def _listed_in_capitals(text: str) -> Iterator[Found]:
    """`KENNEDY, SOUTER, and GINSBURG` joined: surnames in capitals, of which one is well known."""
    for match in _LIST.finditer(text):
        words = [(m.start(), m.end(), plain(m[0])) for m in re.finditer(_CAPITALS, match[0])]
        if any(low in SURNAMES for _, _, low in words) and all(low not in NOT_NAMES for _, _, low in words):
            for start, end, _ in words:
                yield Found(match.start() + start, match.start() + end, PERSON)


_NOTES = re.compile(
    r"([A-Z](?<![\w/.@-].)[\w'’-]{1,20}(?: [A-Z]\.?)?(?: [A-Z][\w'’-]{1,20}){1,2})"
    r"(?:@[A-Z]\w{1,20}|(?=(?:/[A-Z]\w{1,20}){1,4}@))"
)


def _in_notes(text: str) -> Iterator[Found]:
    """`Kevin Kindall@ENRON`, `Christian Yoder/HOU/ECT@ECT`: addresses of Lotus Notes are names and organisations."""
    if "@" in text:
        for match in _NOTES.finditer(text):
            if not any(plain(word) in NOT_NAMES for word in match[1].split()):
                yield Found(*match.span(), PERSON)


# -- parts of names --------------------------------------------------------------------------------


def end_of(text: str, last: Word) -> int:
    """Where a name ends: the full stop of an initial or of `Jr.` belongs to it."""
    dotted = text[last.end : last.end + 1] == "." and (len(last.text) == 1 or last.low in SUFFIXES)
    return last.end + dotted
