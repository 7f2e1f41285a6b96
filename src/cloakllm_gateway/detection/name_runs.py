"""Where names may stand: the words of a text, the runs of them that look like names, the windows around those.

A *run* is capitalised words that stand together, with the initials, titles and
particles among them.  Everything here is decided run by run, in one pass, from
the word lists and the characters around a run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from cloakllm_gateway.detection.name_words import (
    AMBIGUOUS_NAMES,
    CUES_AFTER,
    CUES_BEFORE,
    FIRST_NAMES,
    NOT_NAMES,
    PARTICLES,
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


_LETTER = r"[^\W\d_]"
#: What a word goes on with: its apostrophes and hyphens, less a possessive `'s`.
_REST = rf"{_LETTER}*+(?:(?!['’]s\b)['’-]{_LETTER}++)*+"
WORD = re.compile(_LETTER + _REST)
#: A capital, or a letter beyond ASCII, that begins a word: looked behind second, so that the engine can skip others.
_CAPITAL = rf"[A-Z\x80-\U0010ffff](?<={_LETTER})(?<!{_LETTER}['’-].)"
CAPITALISED = re.compile(rf"{_CAPITAL}(?<!{_LETTER}.){_REST}")
#: What makes the word before it part of an identifier, a path, an address or a number.
GLUED_AFTER = re.compile(r"[\d_/\\@=(]|[.:]\w|\[")
#: A word with nothing of that behind it; what is before it :func:`_is_part` sees.
_STANDING = re.compile(
    rf"{_LETTER}(?<!{_LETTER}.)(?:(?<!{_LETTER}['’-].)|(?<=['’]s)\b){_REST}(?!{GLUED_AFTER.pattern})"
)
_SPACES = re.compile(r"[ \u00a0]{1,5}")
_FULL_STOP = re.compile(r"\.[ \u00a0]?")
_CUE_GAP = re.compile(r"[:,]?[ \u00a0]|,?\n{1,2}")
MID_SENTENCE = re.compile(r"[,;]? ")
_UNUSUAL = re.compile(r"[^\w\s.,:;'’!?()-]|[_\t]|,(?=\S)")
_PARAGRAPH = re.compile(r"\n\s*\n")
SURE = FIRST_NAMES - AMBIGUOUS_NAMES
SURE_BEFORE_SURNAME = FIRST_NAMES - WORD_NAMES


class Word(NamedTuple):
    """A word that stands alone, as it is written and in lower case; whether it has a capital."""

    start: int
    end: int
    text: str
    low: str
    capital: bool

    @property
    def title(self) -> bool:
        """`Ms` before a name; not `MS` (a firm) nor `ms` (a unit)."""
        return self.low in TITLES and self.text.istitle()


#: Where a text has no word.
_NOTHING = Word(-1, -1, "", "", False)


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


def glued_before(text: str, start: int) -> bool:
    last = text[start - 1 : start]
    if last in _BETWEEN:
        return False
    if last == ".":  # `os.Path`, but `J.Smith`
        return start > 2 and text[start - 3 : start - 1].isalnum()
    return last.isdigit() or last in "_/\\@#$~=&%"


#: What stands before most words.
_BETWEEN = ("", " ", "\n")


#: A given name and a surname, each with one capital.
_PAIR = re.compile(r"[^\W\d_a-z][a-z'’-]+[ \u00a0][A-Z][a-z'’-]+(?![\w/=(])")


def _is_part(text: str, start: int, word: str) -> bool:
    """Whether what is before a word makes it part of an identifier, a path, an address or a number.

    It does not where a full name begins: `?name=Ann Lee&x`, `REUTERS/Jason Reed`.
    """
    if not glued_before(text, start):
        return False
    return text[start - 1] not in "/=" or _PAIR.match(text, start) is None or plain(word) not in SURE


class _Telling(dict[str, bool]):
    """Whether a word may begin a name: it has a capital, or is a given name; asked once for each word of a text."""

    def __missing__(self, word: str) -> bool:
        tells = self[word] = word[0].isupper() or plain(word) in SURE
        return tells


def runs(text: str) -> Iterator[Run]:
    """The runs of ``text``, in order; a given name in lower case is a run of its own.

    Of all other words no more is known than where the last one stands.
    """
    tells = _Telling()
    run: list[Word] = []
    before, last = _NOTHING, (-1, -1)
    for match in _STANDING.finditer(text):
        start, end = match.span()
        if start and text[start - 1] not in _BETWEEN and _is_part(text, start, match[0]):
            continue
        telling = tells[match[0]]
        if run or telling:
            word = _word(text, start, end)
            if run and _joins(text, run[-1], word):
                run.append(word)
                continue
            if run:
                yield _run(text, run, before, word)
                last, run = (run[-1].start, run[-1].end), []
            if telling:
                run, before = [word], _word(text, *last)
        last = start, end
    if run:
        yield _run(text, run, before, _NOTHING)


def _word(text: str, start: int, end: int) -> Word:
    """The word that stands there; that before all of a text is at -1."""
    word = text[start:end]
    return Word(start, end, word, plain(word), word[0].isupper()) if start >= 0 else _NOTHING


def _joins(text: str, last: Word, word: Word) -> bool:
    """Whether ``word`` goes on with the run that ends with ``last``."""
    if not (word.capital or word.text in PARTICLES) or word.start - last.end > 5:
        return False
    gap = text[last.end : word.start]
    if gap == " " or _SPACES.fullmatch(gap):
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
        if not is_worth_a_look(text, run):
            continue
        start, end = _widened(text, run.start, run.end)
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return [piece for start, end in merged for piece in _cut(start, end)]


def is_worth_a_look(text: str, run: Run) -> bool:
    """Whether a run may be a name where it stands."""
    return _strong(run) or (_plausible(run) and is_prose(text, run))


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
    return run.after.low in CUES_AFTER or (run.before is not _NOTHING and MID_SENTENCE.fullmatch(run.gap) is not None)


def is_prose(text: str, run: Run) -> bool:
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
