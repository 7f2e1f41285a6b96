"""What can be said about names without a model: where they may stand, and which are plain to see.

The words of a text are grouped into *runs*: capitalised words that stand
together, with the initials, titles and particles among them.  Everything here
is decided run by run, in one pass, from the word lists and the characters
around a run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import dropwhile
from typing import NamedTuple

from cloakllm_gateway.detection.languages import ENGLISH
from cloakllm_gateway.detection.name_words import (
    AMBIGUOUS_NAMES,
    CUES_AFTER,
    CUES_BEFORE,
    FIRST_NAMES,
    GREETINGS,
    NOT_NAMES,
    PARTICLES,
    PLACE_CUES,
    PLACES,
    SOFTWARE,
    SUFFIXES,
    TITLES,
    WORD_NAMES,
    plain,
)

PERSON = "PERSON"
#: Code points either side of a run that the model is shown; its field of view is about four words.
REACH = 40
#: The longest window, in code points; longer stretches are cut into windows that overlap by ``REACH``.
LONGEST = 2000


class Found(NamedTuple):
    """A stretch of a text and its label."""

    start: int
    end: int
    label: str


#: A word, its apostrophes and hyphens, less a possessive `'s`.
WORD = re.compile(r"[^\W\d_]+(?:(?!['’]s\b)['’-][^\W\d_]+)*")
#: What makes the word before it part of an identifier, a path, an address or a number.
_GLUED_AFTER = re.compile(r"[\d_/\\@=(]|[.:]\w|\[")
_SPACES = re.compile(r"[ \u00a0]{1,5}")
_FULL_STOP = re.compile(r"\.[ \u00a0]?")
_CUE_GAP = re.compile(r"[:,]?[ \u00a0]|,?\n{1,2}")
_MID_SENTENCE = re.compile(r"[,;]? ")
_UNUSUAL = re.compile(r"[^\w\s.,:;'’!?()-]|[_\t]|,(?=\S)")
#: What makes the word behind it a name, known or not.
_INTRODUCED = re.compile(
    r"(?:\b(?:[Mm]y|[Hh]is|[Hh]er|[Tt]heir|[Yy]our|first|last|given|family|maiden|middle|full) name(?: is|:|\?|'s)"
    r"|\b[Ss]urname(?: is|:)|\bcalls? me) $"
)
_PARAGRAPH = re.compile(r"\n\s*\n")
#: Lower case, then upper case: `ValueError`, `myClass`; but not `McDonald`, `DeLuca`.
_CAMEL = re.compile(r"(?!(?:Mc|Mac|De|Di|Da|Du|Le|La|Van|Von|Fitz|St)[A-Z])\w*[a-z][A-Z]")

#: Labels that follow a name without a break between.
_NO_END = frozenset(
    ("email", "phone", "address", "subject", "date", "regards", "cell", "tel", "fax", "mobile", "title")
)
_SURE = FIRST_NAMES - AMBIGUOUS_NAMES
_SURE_BEFORE_SURNAME = FIRST_NAMES - WORD_NAMES
_NO_START = (NOT_NAMES - FIRST_NAMES) | (NOT_NAMES & WORD_NAMES)


class Word(NamedTuple):
    """A word that stands alone, as it is written and in lower case."""

    start: int
    end: int
    text: str
    low: str

    @property
    def capital(self) -> bool:
        return self.text[0].isupper()

    @property
    def title(self) -> bool:
        """`Ms` before a name; not `MS` (a firm) nor `ms` (a unit)."""
        return self.low in TITLES and self.text.istitle()


#: Where a text has no word.
_NOTHING = Word(-1, -1, "", "")


class Run(NamedTuple):
    """Capitalised words that stand together, the words around them, and what is between (a gap too long is ``~``)."""

    words: tuple[Word, ...]
    before: Word
    gap: str
    after: Word

    @property
    def start(self) -> int:
        return self.words[0].start

    @property
    def end(self) -> int:
        return self.words[-1].end

    @property
    def cued(self) -> bool:
        return self.before.low in CUES_BEFORE and _CUE_GAP.fullmatch(self.gap) is not None


def words(text: str) -> Iterator[Word]:
    """The words of ``text`` that are not part of an identifier, a path, an address or a number."""
    for match in WORD.finditer(text):
        start, end = match.span()
        if _glued_before(text, start) or _GLUED_AFTER.match(text, end):
            continue
        word = match.group()
        yield Word(start, end, word, plain(word))


def _glued_before(text: str, start: int) -> bool:
    last = text[start - 1 : start]
    if last == ".":  # `os.Path`, but `J.Smith`
        return start > 2 and text[start - 3 : start - 1].isalnum()
    return last.isdigit() or (last != "" and last in "_/\\@#$~=&%")


def runs(text: str) -> Iterator[Run]:
    """The runs of ``text``, in order; a given name in lower case is a run of its own."""
    run: list[Word] = []
    before, last = _NOTHING, _NOTHING
    for word in words(text):
        if run and _joins(text, run[-1], word):
            run.append(word)
            continue
        if run:
            yield _run(text, run, before, word)
            last, run = run[-1], []
        if word.capital or word.low in _SURE:
            run, before = [word], last
        last = word
    if run:
        yield _run(text, run, before, _NOTHING)


def _joins(text: str, last: Word, word: Word) -> bool:
    """Whether ``word`` goes on with the run that ends with ``last``."""
    if not (word.capital or word.text in PARTICLES) or word.start - last.end > 5:
        return False
    gap = text[last.end : word.start]
    if _SPACES.fullmatch(gap):
        return last.capital or last.text in PARTICLES
    return _FULL_STOP.fullmatch(gap) is not None and (len(last.text) == 1 or last.title or last.low in SUFFIXES)


def _run(text: str, run: list[Word], before: Word, after: Word) -> Run:
    while len(run) > 1 and run[-1].text in PARTICLES:
        after = run.pop()
    gap = text[before.end : run[0].start] if before.end >= 0 and run[0].start - before.end <= 5 else "~"
    return Run(tuple(run), before, gap, after)


# -- where to look ---------------------------------------------------------------------------------


def windows(text: str, found: Iterable[Run]) -> list[tuple[int, int]]:
    """The stretches of ``text`` to show to the model, sorted; they overlap only where a long one is cut."""
    merged: list[tuple[int, int]] = []
    for run in found:
        if not (_strong(run) or (_plausible(run) and _prose(text, run))):
            continue
        start, end = _widened(text, run.start, run.end)
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return [piece for start, end in merged for piece in _cut(start, end)]


def _strong(run: Run) -> bool:
    """Whether a title, a given name or a greeting tells a name whatever it stands in."""
    if len(run.words) == 1:
        return run.before.title
    return run.cued or any(word.title or word.low in FIRST_NAMES for word in run.words[:-1])


def _plausible(run: Run) -> bool:
    """Whether a run in prose may be a name."""
    first = run.words[0]
    if all(word.low in NOT_NAMES for word in run.words) and first.low not in FIRST_NAMES:
        return False
    if len(run.words) > 1 or first.low in FIRST_NAMES or run.cued:
        return True
    return run.after.low in CUES_AFTER or (run.before is not _NOTHING and _MID_SENTENCE.fullmatch(run.gap) is not None)


def _prose(text: str, run: Run) -> bool:
    """Whether the surroundings of a run, on its line, are written for people: few unusual characters."""
    left = max(text.rfind("\n", max(run.start - REACH, 0), run.start) + 1, run.start - REACH, 0)
    right = text.find("\n", run.end, run.end + REACH)
    if right < 0:
        right = min(run.end + REACH, len(text))
    return len(_UNUSUAL.findall(text, left, right)) * 12 <= right - left


def _widened(text: str, start: int, end: int) -> tuple[int, int]:
    """A run's window: whole words, within its paragraph."""
    left, right = max(start - REACH, 0), min(end + REACH, len(text))
    if left:
        left = text.find(" ", left, start) + 1 or left
    if right < len(text):
        space = text.rfind(" ", end, right)
        right = space if space >= 0 else right
    for paragraph in _PARAGRAPH.finditer(text, left, start):
        left = paragraph.end()
    paragraph_end = _PARAGRAPH.search(text, end, right)
    return left, paragraph_end.start() if paragraph_end else right


def _cut(start: int, end: int) -> Iterator[tuple[int, int]]:
    while end - start > LONGEST:
        yield start, start + LONGEST
        start += LONGEST - REACH
    yield start, end


# -- what is a name --------------------------------------------------------------------------------


def evident(text: str, found: Iterable[Run]) -> Iterator[Found]:
    """The people that words alone tell: a given name with a surname, a title with a name, whoever is greeted."""
    for run in found:
        name = _titled(run.words) or _named(run.words) or _initialled(run.words) or _lone(text, run)
        if name:
            yield Found(name[0].start, _end(text, name[-1]), PERSON)


def _titled(run: Sequence[Word]) -> Sequence[Word]:
    """The titles and the words behind them, up to a word that is no name."""
    for at, word in enumerate(run[:-1]):
        if word.title:
            behind = at + 1
            while behind < len(run) and run[behind].title:
                behind += 1
            name = _until_no_name(run[behind:])
            titles = [title for title in run[at:behind] if len(title.text) <= _SHORT]
            return [*titles, *name] if name and name[0].low not in NOT_NAMES else ()
    return ()


#: Longer titles (`Brigadier`) stay outside the name.
_SHORT = 5


def _named(run: Sequence[Word]) -> Sequence[Word]:
    """A given name and what follows it, up to a word that is no name, unless the whole is a place or a firm."""
    if run[-1].low in PLACES or len(run) > 6:
        return ()
    for at, word in enumerate(run[:-1]):
        if word.low in _SURE_BEFORE_SURNAME and word.capital:
            name = _until_no_name(run[at:])
            return name if len(name) > 1 else ()
    return ()


def _initialled(run: Sequence[Word]) -> Sequence[Word]:
    """Two words with an initial between them."""
    if len(run) != 3 or len(run[1].text) > 1 or any(word.low in NOT_NAMES | PLACES for word in (run[0], run[2])):
        return ()
    return () if any(word.text.isupper() for word in (run[0], run[2])) else run


def _until_no_name(name: Sequence[Word]) -> Sequence[Word]:
    """Cut before the first word that is no name; the last of a short name is a surname all the same (`Ann Price`)."""
    for at in range(1, len(name)):
        if name[at].low in NOT_NAMES and len(name[at].text) > 1:
            surname = at == len(name) - 1 and name[0].low in _SURE and all(len(w.text) == 1 for w in name[1:at])
            return name if surname and name[at].low not in _NO_END else name[:at]
    return name


def _lone(text: str, run: Run) -> Sequence[Word]:
    """A single name: a given name that is nothing else, or whoever is greeted or introduced; in prose only."""
    word = run.words[-1]
    led = run.words[:-1]
    if not word.capital or word.low in NOT_NAMES or any(w.low not in _NO_START for w in led) or not _prose(text, run):
        return ()
    before, gap = (led[-1], text[led[-1].end : word.start]) if led else (run.before, run.gap)
    greeted = before.low in GREETINGS and gap == " "
    told = greeted or _INTRODUCED.search(text, max(word.start - 20, 0), word.start)
    return (word,) if told or (word.low in _SURE and len(word.text) > 2) else ()


def _end(text: str, last: Word) -> int:
    """Where a name ends: the full stop of an initial or of `Jr.` belongs to it."""
    dotted = text[last.end : last.end + 1] == "." and (len(last.text) == 1 or last.low in SUFFIXES)
    return last.end + dotted


_NAME = re.compile(r"[^\W\d_]+(?:(?:(?!['’]s\b)['’-]|\.?[ \u00a0]{1,5}|[.\n])[^\W\d_]+)*")


def cores(text: str, found: Found, language: str = ENGLISH) -> Iterator[Found]:
    """The name-shaped parts of what the model calls a person, less the words that are no names."""
    for match in _NAME.finditer(text, found.start, found.end):
        whole = words_within(text, *match.span())
        name = list(dropwhile(_starts_no_name, whole))
        while name and (name[-1].low in _NO_END or name[-1].text in PARTICLES):
            name.pop()
        if language != ENGLISH:
            name = _capitals(name)
        if len(name) == 1 < len(whole) and whole[0].low in SOFTWARE:  # `Docker Swarm`
            continue
        if language == "de" and len(name) == 1 and _is_german_noun(text, name[0]):
            continue
        if name and _is_name(name) and not _placed(text, name):
            yield Found(name[0].start, _end(text, name[-1]), found.label)


def _capitals(name: Sequence[Word]) -> list[Word]:
    """The first stretch of capitalised words, with the particles between them: models are unsure about verbs."""
    kept: list[Word] = []
    for word in dropwhile(lambda word: not word.capital, name):
        if not (word.capital or word.text in PARTICLES):
            break
        kept.append(word)
    while kept and kept[-1].text in PARTICLES:
        kept.pop()
    return kept


_GERMAN_ARTICLE = re.compile(
    r"(?:\b(?:[Dd](?:er|ie|as|em|en|es)|[Ee]in(?:e[mnrs]?)?|[Kk]eine?[mnrs]?|[IiZzBbVvAa](?:[mn]|um|ur|eim|om|ns)"
    r"|(?:[MmDdSs]ein|[Ii]hr|[Uu]nser|[Dd]ies|[Jj]ede|[Jj]en|[Aa]lle)(?:e?[mnrs]?|e)))[ ]\Z"
)
_GERMAN_ENDING = re.compile(r".+(?:ung|ungen|heit|keit|schaft|schaften|ion|ionen|tät|ismus|nis|tum|chen|ierung)")


def _is_german_noun(text: str, word: Word) -> bool:
    """Whether a lone capitalised word of German is one of its nouns: behind an article, or by its ending."""
    if word.low in _SURE:
        return False
    before = text[max(word.start - 12, 0) : word.start]
    return _GERMAN_ARTICLE.search(before) is not None or _GERMAN_ENDING.fullmatch(word.low) is not None


def is_name_in(language: str, text: str, found: Found) -> bool:
    """Whether to believe a model of English that sees a person in another language.

    Two capitalised words; German, where every noun has a capital, asks for a given name among them.
    """
    name = [word for word in words_within(text, found.start, found.end) if word.capital]
    return len(name) > 1 and (language != "de" or any(word.low in FIRST_NAMES for word in name))


def _starts_no_name(word: Word) -> bool:
    return word.low in _NO_START and not (word.title and len(word.text) <= _SHORT)


def is_more_than_common(text: str, found: Found) -> bool:
    """Whether what the model calls a firm or a place holds a word that is neither common nor software."""
    return any(plain(match.group()) not in NOT_NAMES for match in WORD.finditer(text, found.start, found.end))


def words_within(text: str, start: int, end: int) -> list[Word]:
    """The words of a stretch of ``text``, none where the stretch is glued to an identifier or a number."""
    if _glued_before(text, start) or _GLUED_AFTER.match(text, end):
        return []
    return [Word(*m.span(), m.group(), plain(m.group())) for m in WORD.finditer(text, start, end)]


def _is_name(name: Sequence[Word]) -> bool:
    if all(word.low in NOT_NAMES or word.low in TITLES for word in name):
        return False
    if not any(word.capital or word.low in FIRST_NAMES for word in name) or any(_CAMEL.match(w.text) for w in name):
        return False
    alone = name[0]
    return len(name) > 1 or (len(alone.text) > 1 and (not alone.text.isupper() or alone.low in FIRST_NAMES))


def _placed(text: str, name: Sequence[Word]) -> bool:
    """Whether a single word stands where a place or a thing stands (`in Rotterdam`, `via Jenkins`)."""
    if len(name) > 1 or name[0].low in _SURE:
        return False
    *_, cue = ("", *text[max(name[0].start - 10, 0) : name[0].start].split())
    return cue in PLACE_CUES


def canonical(name: str) -> str:
    """The form that all spellings of a name share: case, spaces, and titles before a full name do not count."""
    parts = name.replace("’", "'").casefold().split()
    bare = [part for part in parts if part.rstrip(".") not in TITLES]
    return " ".join(bare if len(bare) > 1 else parts)
