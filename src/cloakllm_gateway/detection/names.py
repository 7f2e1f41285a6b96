"""Names in free text: the one part of detection that needs a language model.

A model reads about 50 KB of English a second where everything else here reads
megabytes, so it is shown as little as possible, and it is not believed blindly:

1. A run of capitalised words (see ``name_runs``) is worth a look when it is a
   pair, holds a given name, follows a title or a greeting, or stands in the
   middle of a sentence.  Where its line is not prose (code, logs, rows of a
   table) only a title, a given name with more behind it, or a label counts.
2. Such runs with ``REACH`` characters either side, merged where they touch,
   are the *windows*.  Only windows go to the model; its answers are remembered.
3. What the model calls a person is cut to its name-shaped core and dropped
   where it is made of words that are no names: `Docker Hub` is nobody.
4. A run can also be *evident*: a given name and a surname, or a word behind a
   title, are a person whatever the model says.  Small models overlook one in four.
5. A name found once in a text is found wherever else it stands in that text.

The model sits behind :class:`Recogniser`; :class:`SpacyRecogniser` is the one
there is.  spaCy is imported when it is made, which is in the worker process.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol

from cloakllm_gateway.detection import folding
from cloakllm_gateway.detection.name_runs import (
    PERSON,
    WORD,
    Found,
    Run,
    canonical,
    cores,
    evident,
    is_more_than_common,
    runs,
    windows,
)
from cloakllm_gateway.errors import DetectionError
from cloakllm_gateway.spans import Proof, Span, Text, disjoint

if TYPE_CHECKING:
    from spacy.language import Language

    from cloakllm_gateway.detection.settings import NameSettings

#: How many windows the model's answers are remembered for.
REMEMBERED = 8192
#: Certainty where finds overlap: below all that a shape, a key or a list proves.
RANK = 50
#: Names longer than this, in code points, are not looked for elsewhere in their text.
SPREAD = 64

INSTALL = "Run: pip install 'cloakllm-gateway[detection]'"

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
    """Finds names: for each text a list of spans on it, sorted and disjoint."""

    def find(self, texts: Sequence[str]) -> list[list[Span]]: ...


def available(settings: NameSettings) -> str | None:
    """Why the recogniser cannot be loaded, or ``None`` where it can; imports nothing."""
    if find_spec("spacy") is None:
        return "spaCy is not installed"
    if not settings.model.isidentifier() or find_spec(settings.model) is None:
        return "the configured spaCy model is not installed"
    return None


def load(settings: NameSettings) -> Recogniser:
    """Load the configured model, which takes about a second.  Raises :class:`DetectionError` where it is absent."""
    reason = available(settings)
    if reason is not None:
        raise DetectionError(f"Names cannot be detected: {reason}", INSTALL)
    return SpacyRecogniser(settings)


def plausible(text: str) -> bool:
    """Whether a recogniser could find anything in ``text``, in any of its readings; cheap."""
    for view in folding.views(text):
        found = list(runs(view.text))
        if windows(view.text, found) or any(evident(view.text, found)):
            return True
    return False


def with_names(
    found: Sequence[Sequence[Span]],
    texts: Sequence[Text],
    recogniser: Recogniser,
    allowed: Collection[str] = (),
) -> list[list[Span]]:
    """``found`` (one list per text) with the names of those texts that may be read for names.

    Every reading of a text is read.  ``allowed`` are exact values that are no
    finds.  Raises :class:`DetectionError` for a text that cannot be decoded.
    """
    readings = [(at, view) for at, text in enumerate(texts) if text.names for view in folding.views(text.text)]
    fresh: dict[int, list[Span]] = {}
    for (at, view), names in zip(readings, recogniser.find([view.text for _, view in readings]), strict=True):
        fresh.setdefault(at, []).extend(_outward(view, name) for name in names if name.value not in allowed)
    return [
        disjoint([*spans, *fresh[at]], texts[at].text) if fresh.get(at) else list(spans)
        for at, spans in enumerate(found)
    ]


def _outward(view: folding.View, name: Span) -> Span:
    """A name found in a reading, as a span on the original text; a base64 run is hidden whole."""
    start, end = view.whole(name.start, name.end)
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
    for name in sorted({*found, *_everywhere(text, found)}):
        if joined and name.start < joined[-1].end:
            joined[-1] = joined[-1]._replace(end=max(name.end, joined[-1].end))
        else:
            joined.append(name)
    return [_span(text, name) for name in joined]


def _span(text: str, name: Found) -> Span:
    value = text[name.start : name.end]
    return Span(name.start, name.end, name.label, value, canonical(value), proof=Proof.NAME, rank=RANK)


def _everywhere(text: str, found: Iterable[Found]) -> Iterator[Found]:
    """Each further word-bounded occurrence of a found name.

    Linear: at each word of the text, one look-up for each length that names
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
    for match in WORD.finditer(text):
        for length in lengths.get(match.group(), ()):
            end = match.start() + length
            label = labels.get(text[match.start() : end])
            if label is not None and not text[end : end + 1].isalnum():
                yield Found(match.start(), end, label)


# -- the model -------------------------------------------------------------------------------------

#: Pipes of a model that names do not need.
_UNNEEDED = ("tagger", "morphologizer", "parser", "senter", "sentencizer", "attribute_ruler", "lemmatizer")
#: What UTF-8, and so spaCy, cannot hold; JSON escapes can bring it.
_SURROGATE = re.compile(r"[\ud800-\udfff]")
#: Labels of models trained on other corpora.
_ALIASES = {"PER": PERSON}


class SpacyRecogniser:
    """An installed spaCy model, of which only the entity recogniser is loaded.

    Raises :class:`DetectionError` for a model without one, or that does not
    know a configured label.
    """

    def __init__(self, settings: NameSettings) -> None:
        self._labels = frozenset(settings.labels)
        self._model = _load_spacy(settings.model)
        self._remembered: OrderedDict[str, tuple[Found, ...]] = OrderedDict()
        known = {_ALIASES.get(label, label) for label in self._model.pipe_labels["ner"]}
        for label in settings.labels:
            if label not in known:
                raise DetectionError(f"The configured spaCy model has no label {label}", "See ner_entity_types")

    def find(self, texts: Sequence[str]) -> list[list[Span]]:
        in_runs = [list(runs(text)) for text in texts]
        places = [windows(text, found) for text, found in zip(texts, in_runs, strict=True)]
        answers = self._answers(
            {text[start:end] for text, cut in zip(texts, places, strict=True) for start, end in cut}
        )
        return [
            spread(text, [*_believed(text, cut, answers), *self._evident(text, found)])
            for text, cut, found in zip(texts, places, in_runs, strict=True)
        ]

    def _evident(self, text: str, found: Iterable[Run]) -> Iterable[Found]:
        return evident(text, found) if PERSON in self._labels else ()

    def _answers(self, pieces: Collection[str]) -> dict[str, tuple[Found, ...]]:
        """The model's answer for each piece; it is asked only where the answer is not remembered."""
        answers = {piece: self._remembered[piece] for piece in pieces if piece in self._remembered}
        fresh = [piece for piece in pieces if piece not in answers]
        with self._model.memory_zone():  # else the model keeps every new word it sees for ever
            docs = self._model.pipe((_SURROGATE.sub("\ufffd", piece) for piece in fresh), batch_size=256)
            for piece, doc in zip(fresh, docs, strict=True):
                labelled = (
                    Found(ent.start_char, ent.end_char, _ALIASES.get(ent.label_, ent.label_)) for ent in doc.ents
                )
                answers[piece] = tuple(found for found in labelled if found.label in self._labels)
        for piece, answer in answers.items():
            self._remembered[piece] = answer
            self._remembered.move_to_end(piece)
        while len(self._remembered) > REMEMBERED:
            self._remembered.popitem(last=False)
        return answers


def _believed(text: str, places: Iterable[tuple[int, int]], answers: Mapping[str, Sequence[Found]]) -> Iterator[Found]:
    """What the model's answers to the windows of ``text`` come to."""
    for start, end in places:
        for found in answers[text[start:end]]:
            placed = Found(start + found.start, start + found.end, found.label)
            if found.label == PERSON:
                yield from cores(text, placed)
            elif is_more_than_common(text, placed):
                yield placed


def _load_spacy(name: str) -> Language:
    import spacy

    model = spacy.load(name, exclude=_UNNEEDED)
    if "ner" not in model.pipe_names:
        raise DetectionError("The configured spaCy model recognises no names", "Choose one with a `ner` pipe")
    for shared in ("tok2vec", "transformer"):
        if shared in model.pipe_names and not getattr(model.get_pipe(shared), "listening_components", True):
            model.remove_pipe(shared)  # nobody listens: the small models' recogniser has one of its own
    return model
