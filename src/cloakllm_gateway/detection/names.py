"""Names in free text: the one part of detection that needs a language model.

A model reads about 50 KB of English a second where everything else here reads
megabytes, so it is shown as little as possible, and it is not believed blindly:

1. A run of capitalised words (see ``name_runs``) is worth a look when it is a
   pair, holds a given name, follows a title or a greeting, or stands in the
   middle of a sentence.  Where its line is not prose (code, logs, rows of a
   table) only a title, a given name with more behind it, or a label counts.
2. Such runs with ``REACH`` characters either side, merged where they touch,
   are the *windows*.  Only windows go to the model, and of those only the ones
   of which anything would be believed; its answers are remembered.
3. What the model calls a person is cut to its name-shaped core and dropped
   where it is made of words that are no names: `Docker Hub` is nobody.
4. A run can also be *evident*: a given name and a surname, or a word behind a
   title, are a person whatever the model says.  Small models overlook one in four.
5. A name found once in a text is found wherever else it stands in that text.

Which model reads a window depends on the language around it.  Where there is
none for it, the one of English reads it and is believed less: it takes every
noun of German for somebody.  Models sit behind :class:`Model`; who loads them
is the shell, in the worker process.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple, Protocol

from cloakllm_gateway.detection import folding
from cloakllm_gateway.detection.allow_list import NOTHING, AllowList
from cloakllm_gateway.detection.keys import is_phrase
from cloakllm_gateway.detection.languages import ENGLISH, Languages
from cloakllm_gateway.detection.name_again import told_again
from cloakllm_gateway.detection.name_beliefs import (
    cores,
    is_known_name,
    is_more_than_common,
    is_name_in,
    is_nobody,
    may_be_believed,
    stands_as_thing,
)
from cloakllm_gateway.detection.name_context import parts, stands_alone
from cloakllm_gateway.detection.name_rules import evident
from cloakllm_gateway.detection.name_runs import CAPITALISED, PERSON, WORD, Found, Run, is_worth_a_look, runs, windows
from cloakllm_gateway.detection.name_words import canonical
from cloakllm_gateway.detection.settings import ALL_LANGUAGES
from cloakllm_gateway.detection.view import View
from cloakllm_gateway.errors import DetectionError
from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.spans import Proof, Span, Text, disjoint

#: How many windows the model's answers are remembered for.
REMEMBERED = 8192
#: Certainty where finds overlap: below all that a shape, a key or a list proves.
RANK = 50
#: Names longer than this, in code points, are not looked for elsewhere in their text.
SPREAD = 64

#: For each label that can be proved, made-up sentences with a value that only the model can find:
#: the names stand in none of the word lists.
EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    PERSON: (
        ("Yesterday Quillon Abernathy moved to a new office near the river.", "Quillon Abernathy"),
        ("The contract was signed by Thessaly Vandermeer on behalf of the company.", "Thessaly Vandermeer"),
    ),
    "ORG": (("He has been working for Goldman Sachs since the summer.", "Goldman Sachs"),),
    "GPE": (("They moved from Norway to the south of France last year.", "Norway"),),
}


class Recogniser(Protocol):
    """Finds names: for each text a list of spans on it, sorted and disjoint.

    ``known`` holds what has been found in each text, sorted and disjoint: a
    name that is hidden already need not be found again.
    """

    def find(self, texts: Sequence[str], known: Sequence[Sequence[Span]] = ()) -> list[list[Span]]: ...


class Model(Protocol):
    """Reads short texts; ``labels`` are the labels it knows, that of people being ``PERSON``."""

    labels: frozenset[str]

    def read(self, pieces: Sequence[str]) -> Iterator[list[Found]]:
        """For each text what it holds, in order of position."""


def plausible(text: str) -> bool:
    """Whether a recogniser could find anything in ``text``, in any of its readings; cheap."""
    for view in folding.views(text):
        found: list[Run] = []
        for run in runs(view.text):
            if is_worth_a_look(view.text, run):
                return True
            found.append(run)
        if any(evident(view.text, found)):
            return True
    return False


def with_names(
    found: Sequence[Sequence[Span]],
    texts: Sequence[Text],
    recogniser: Recogniser,
    allowed: AllowList = NOTHING,
) -> list[list[Span]]:
    """``found`` (one list per text) with the names of those texts that may be read for names.

    Every reading of a text is read.  Raises :class:`DetectionError` for a text
    that cannot be decoded.
    """
    readings = [(at, view) for at, text in enumerate(texts) if text.names for view in folding.views(text.text)]
    known = [found[at] if view.inner is None else () for at, view in readings]
    fresh: dict[int, list[Span]] = {}
    for (at, view), names in zip(readings, recogniser.find([view.text for _, view in readings], known), strict=True):
        fresh.setdefault(at, []).extend(
            _outward(view, name) for name in names if not allowed.holds(name.category, name.canonical, name.value)
        )
    if not any(fresh.values()):
        return [*map(list, found)]
    joined = [
        _joined(spans, fresh[at], texts[at].text) if fresh.get(at) else list(spans) for at, spans in enumerate(found)
    ]
    return told_again(joined, texts, allowed)


def _joined(found: Sequence[Span], names: Sequence[Span], text: str) -> list[Span]:
    """What was found with the names beside it; of a name whose better part was found before no form of address is."""
    whole = {(span.start, span.end) for span in (*found, *names)}
    joined = disjoint([*found, *names], text)
    return [
        span
        for span in joined
        if (span.start, span.end) in whole or span.category != PERSON or not is_nobody(text[span.start : span.end])
    ]


def _outward(view: View, name: Span) -> Span:
    """A name found in a reading, as a span on the original text; a base64 run is hidden whole."""
    view, start, end = view.around(name.start, name.end)
    value = view.text[start:end]
    outer_start, outer_end = view.original(start, end)
    encoding = view.encoding_of(start, end)
    return name._replace(start=outer_start, end=outer_end, value=value, canonical=canonical(value), encoding=encoding)


def prove(recogniser: Recogniser, labels: Iterable[str]) -> None:
    """Raise :class:`DetectionError` naming the first of ``labels`` whose example survives."""
    for label in labels:
        for sentence, value in EXAMPLES.get(label, ()):
            (spans,) = recogniser.find([sentence])
            if not any(span.category == label and span.value == value for span in spans):
                raise DetectionError(f"The name recogniser missed its example of {label}", "Is it an English model?")


# -- the names of one text -------------------------------------------------------------------------


def spread(text: str, found: Sequence[Found]) -> list[Span]:
    """Spans for every occurrence in ``text`` of the names found in it, overlaps joined; sorted."""
    joined: list[Found] = []
    things = _things(text, found)
    kept = [name for name in found if text[name.start : name.end] not in things and not _is_in_key(text, name)]
    for name in sorted({*kept, *_everywhere(text, kept)}):
        if joined and name.start < joined[-1].end:
            joined[-1] = joined[-1]._replace(end=max(name.end, joined[-1].end))
        else:
            joined.append(name)
    return [_span(text, name) for name in joined]


#: The rest of a key up to its colon, and what begins a key.
_REST_OF_KEY = lazy(r"([^\n\"'{},;:：|\t*]{0,40})[\"'*]{0,3}[ ]?[:：]")
_BEFORE_KEY = lazy(r"[^\n\"'{},;:：|\t*]{0,40}\Z")


def _is_in_key(text: str, name: Found) -> bool:
    """Whether a name is (part of) what a field is called in more than one word: ``Doğum tarihi: 12.04.1985``."""
    rest = _REST_OF_KEY.match(text, name.end)
    before = _BEFORE_KEY.search(text, max(name.start - _LONGEST_KEY, 0), name.start) if rest else None
    if rest is None or before is None:
        return False
    return is_phrase(text[before.start() : rest.end(1)]) or is_phrase(text[name.start : rest.end(1)])


_LONGEST_KEY = 40


def _things(text: str, found: Iterable[Found]) -> frozenset[str]:
    """Single words of ``found``, no known names, that stand elsewhere in the text as identifiers do: `Breakpoint(`."""
    single = {text[name.start : name.end] for name in found if name.label == PERSON}
    doubtful = {word for word in single if word.isalpha() and not is_known_name(word)}
    if not doubtful:
        return frozenset()
    words = CAPITALISED if all(word[0].isupper() for word in doubtful) else WORD
    return frozenset(
        match.group()
        for match in words.finditer(text)
        if match.group() in doubtful and stands_as_thing(text, match.start(), match.end())
    )


def _span(text: str, name: Found) -> Span:
    value = text[name.start : name.end]
    return Span(name.start, name.end, name.label, value, canonical(value), proof=Proof.NAME, rank=RANK)


def _everywhere(text: str, found: Sequence[Found]) -> Iterator[Found]:
    """Each further word-bounded occurrence of a found name, and its parts where they stand alone.

    Linear: at each word with a capital, one look-up for each length that names
    beginning with that word have, and there are at most ``SPREAD`` of those.
    """
    labels: dict[str, str] = {}
    lengths: dict[str, set[int]] = {}
    for name in found:
        value = text[name.start : name.end]
        first = WORD.match(value)
        if first and value[0].isupper() and len(value) <= SPREAD:
            labels[value] = name.label
            lengths.setdefault(first.group(), set()).add(len(value))
    if not labels:
        return
    again = parts(text, found)
    for match in CAPITALISED.finditer(text):
        if match.group() in again and stands_alone(text, *match.span()):
            yield Found(*match.span(), PERSON)
        for length in lengths.get(match.group(), ()):
            end = match.start() + length
            label = labels.get(text[match.start() : end]) if end <= len(text) else None
            if label is not None and not text[end : end + 1].isalnum():
                yield Found(match.start(), end, label)


# -- the models ------------------------------------------------------------------------------------


class Names:
    """Rules and models together; ``models`` holds at least one, by language."""

    def __init__(self, models: Mapping[str, Model], labels: Iterable[str]) -> None:
        self._labels = frozenset(labels)
        self._models = models
        self._remembered: OrderedDict[tuple[str, str], tuple[Found, ...]] = OrderedDict()

    def find(self, texts: Sequence[str], known: Sequence[Sequence[Span]] = ()) -> list[list[Span]]:
        in_runs = [list(runs(text)) for text in texts]
        told = [self._told(found, spans) for found, spans in zip_longest(in_runs, known, fillvalue=())]
        places = [list(self._places(text, unknown)) for text, (unknown, _) in zip(texts, told, strict=True)]
        answers = self._answers({place.asked(text) for text, cut in zip(texts, places, strict=True) for place in cut})
        return [
            spread(text, [*self._believed(text, cut, answers), *people, *self._evident(text, found)])
            for text, cut, (_, people), found in zip(texts, places, told, in_runs, strict=True)
        ]

    def _told(self, found: Iterable[Run], known: Sequence[Span]) -> tuple[list[Run], list[Found]]:
        """The runs that nothing is known of, and full names among the others: they may stand elsewhere too."""
        ends = [span.end for span in known]
        unknown, people = [], []
        for run in found:
            at = bisect_left(ends, run.end)
            if at == len(known) or known[at].start > run.start:
                unknown.append(run)
            elif known[at].category == PERSON and PERSON in self._labels and len(run.words) > 1:
                people.append(Found(run.start, run.end, PERSON))
        return unknown, people

    def _places(self, text: str, found: Sequence[Run]) -> Iterator[Place]:
        """The windows of a text of which anything may be believed, each with its language and who reads it."""
        languages = Languages(text)
        for start, end in windows(text, found):
            if self._labels != {PERSON} or may_be_believed(text, start, end):
                language = languages.at(start)
                yield Place(start, end, language, self._reader(language))

    def _reader(self, language: str) -> str:
        """The language whose model reads texts in ``language``."""
        return next(
            (one for one in (language, ALL_LANGUAGES, ENGLISH) if one in self._models), next(iter(self._models))
        )

    def _evident(self, text: str, found: Iterable[Run]) -> Iterable[Found]:
        return evident(text, found) if PERSON in self._labels else ()

    def _answers(self, asked: Collection[tuple[str, str]]) -> dict[tuple[str, str], tuple[Found, ...]]:
        """The model's answer for each piece; it is asked only where the answer is not remembered."""
        answers = {one: self._remembered[one] for one in asked if one in self._remembered}
        for reader, model in self._models.items():
            fresh = [one for one in asked if one[0] == reader and one not in answers]
            for one, found in zip(fresh, model.read([piece for _, piece in fresh]) if fresh else (), strict=True):
                answers[one] = tuple(name for name in found if name.label in self._labels)
        for one, answer in answers.items():
            self._remembered[one] = answer
            self._remembered.move_to_end(one)
        while len(self._remembered) > REMEMBERED:
            self._remembered.popitem(last=False)
        return answers

    def _believed(
        self, text: str, places: Iterable[Place], answers: Mapping[tuple[str, str], Sequence[Found]]
    ) -> Iterator[Found]:
        """What the models' answers to the windows of ``text`` come to."""
        for place in places:
            foreign = place.language != ENGLISH and place.reader == ENGLISH
            for found in answers[place.asked(text)]:
                placed = Found(place.start + found.start, place.start + found.end, found.label)
                if found.label != PERSON:
                    if is_more_than_common(text, placed):
                        yield placed
                elif not foreign or is_name_in(place.language, text, placed):
                    yield from cores(text, placed, place.language)


class Place(NamedTuple):
    """A window of a text, the language around it, and the language whose model reads it."""

    start: int
    end: int
    language: str
    reader: str

    def asked(self, text: str) -> tuple[str, str]:
        return self.reader, text[self.start : self.end]
