"""The models that read text for names.  They are loaded in the worker process, which imports what they need.

Of a package nothing but its files is used: its code never runs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cloakllm_gateway.detection.name_runs import PERSON, Found
from cloakllm_gateway.detection.names import Model, Names, Recogniser
from cloakllm_gateway.detection.settings import NameSettings
from cloakllm_gateway.errors import DetectionError
from cloakllm_gateway.shell.installed_models import available, place, remedy, usable, weights

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

#: What UTF-8, and so every library here, cannot hold; JSON escapes can bring it.
_SURROGATE = re.compile(r"[\ud800-\udfff]")
#: What models trained on other corpora call what we call something else.
_ALIASES = {
    "PER": PERSON, "GIVEN_NAME": PERSON, "SURNAME": PERSON, "FIRSTNAME": PERSON, "LASTNAME": PERSON, "NAME": PERSON,
    "LOCATION": "LOC", "ORGANIZATION": "ORG",
}  # fmt: skip


def load(settings: NameSettings) -> Recogniser:
    """Names as ``settings`` want them found; raises like :func:`models`."""
    return Names(models(settings), settings.labels)


def models(settings: NameSettings) -> Mapping[str, Model]:
    """Load what is there of the configured models, by language, which takes about a second.

    Raises :class:`DetectionError` where there is none, or one that does not know a configured label.
    """
    reason = available(settings)
    if reason is not None:
        raise DetectionError(f"Names cannot be detected: {reason}", remedy(settings))
    names = usable(settings)
    loaded = {name: _load(name) for name in sorted(set(names.values()))}
    known = frozenset[str]().union(*(model.labels for model in loaded.values()))
    for label in settings.labels:
        if label not in known:
            raise DetectionError(f"The configured name model has no label {label}", "See ner_entity_types")
    return {language: loaded[name] for language, name in names.items()}


def _load(name: str) -> Model:
    folder = place(name)
    assert folder is not None  # it is usable
    file = weights(folder)
    return OnnxModel(file) if file else SpacyModel(name)


class SpacyModel:
    """A spaCy pipeline, of which only the entity recogniser is loaded."""

    #: Pipes that names do not need.
    _UNNEEDED = ("tagger", "morphologizer", "parser", "senter", "sentencizer", "attribute_ruler", "lemmatizer")

    #: Texts that are tokenised together, and those of about one length that are labelled together: with spaCy too.
    BATCH = 256
    TOGETHER = 64

    def __init__(self, name: str) -> None:
        self._model = self._loaded(name)
        self.labels = frozenset(_ALIASES.get(label, label) for label in self._model.pipe_labels["ner"])
        self._ner = self._greedy()

    def read(self, pieces: Sequence[str]) -> Iterator[list[Found]]:
        with self._model.memory_zone():  # else the model keeps every new word it sees for ever
            for document in self._labelled(_SURROGATE.sub("\ufffd", piece) for piece in pieces):
                yield [
                    Found(ent.start_char, ent.end_char, _ALIASES.get(ent.label_, ent.label_)) for ent in document.ents
                ]

    def _labelled(self, texts: Iterable[str]) -> Iterator[Doc]:
        """The documents of some texts, with their entities."""
        if self._ner is None:
            yield from self._model.pipe(texts, batch_size=self.BATCH)
            return
        documents = self._model.pipe(texts, batch_size=self.BATCH, disable=["ner"])
        while batch := list(islice(documents, self.BATCH)):
            by_length = sorted(filter(len, batch), key=len)
            for first in range(0, len(by_length), self.TOGETHER):
                _label(self._ner, by_length[first : first + self.TOGETHER])
            yield from batch

    def _greedy(self) -> Any:
        """The recogniser, if it comes last and takes the likeliest label of each token, as the usual ones do."""
        ner: Any = self._model.get_pipe("ner")
        usual = self._model.get_pipe_meta("ner").factory == "ner" and ner.cfg["beam_width"] == 1
        return ner if usual and self._model.pipe_names[-1] == "ner" else None

    def _loaded(self, name: str) -> Language:
        import spacy

        model = spacy.load(name, exclude=self._UNNEEDED)
        if "ner" not in model.pipe_names:
            raise DetectionError("The configured spaCy model recognises no names", "Choose one with a `ner` pipe")
        for shared in ("tok2vec", "transformer"):
            if shared in model.pipe_names and not getattr(model.get_pipe(shared), "listening_components", True):
                model.remove_pipe(shared)  # nobody listens: the small models' recogniser has one of its own
        return model


def _label(ner: Any, documents: Sequence[Doc]) -> None:
    """Set the entities of documents: what the recogniser itself does with a batch, in half the time.

    Its own loop over the tokens lets go of the interpreter's lock, and then takes it again for each label that a
    token might have.  Here the lock is held.
    """
    model = ner.model.predict(documents)
    states = ner.moves.init_batch(documents)
    unfinished = [state for state in states if not state.is_final()]
    while unfinished:
        unfinished = ner.transition_states(unfinished, model.predict(unfinished))
    model.clear_memory()
    ner.set_annotations(documents, states)


class OnnxModel:
    """A token classifier in ONNX form, with labels of the kind ``B-PERSON``, ``I-PERSON``, ``O``."""

    #: A token counts where its label and those that mean the same are at least so likely together: of two errors
    #: the missed name is the worse one, and what is found is looked at again.
    CERTAINTY = 0.3
    #: Texts that are read together, and the longest stretch read at once, in code points: a model sees 512 tokens.
    BATCH = 16
    LONGEST = 400

    def __init__(self, weights: Path) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        folder = next(folder for folder in weights.parents if (folder / "config.json").is_file())
        config = json.loads((folder / "config.json").read_text("utf-8"))
        by_number = {int(number): label for number, label in config["id2label"].items()}
        self._labels = [_plain(by_number[number]) for number in range(len(by_number))]
        self.labels = frozenset(self._labels) - {""}
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_truncation()
        self._tokenizer.enable_padding()
        options = onnxruntime.SessionOptions()
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # idle threads would burn the CPU
        self._session = onnxruntime.InferenceSession(str(weights), options, providers=["CPUExecutionProvider"])
        self._inputs = [wanted.name for wanted in self._session.get_inputs()]

    def read(self, pieces: Sequence[str]) -> Iterator[list[Found]]:
        stretches = [(number, *where) for number, piece in enumerate(pieces) for where in _stretches(piece)]
        stretches.sort(key=lambda stretch: stretch[2] - stretch[1])  # those of one length are padded least
        found: list[list[Found]] = [[] for _ in pieces]
        for first in range(0, len(stretches), self.BATCH):
            batch = stretches[first : first + self.BATCH]
            texts = [_SURROGATE.sub("\ufffd", pieces[number][start:end]) for number, start, end in batch]
            for (number, start, _), labelled in zip(batch, self._read(texts), strict=True):
                found[number] += (Found(start + a, start + b, label) for a, b, label in labelled)
        for piece, names in zip(pieces, found, strict=True):
            yield _joined(piece, sorted(names))

    def _read(self, texts: Sequence[str]) -> Iterator[list[Found]]:
        """The labelled tokens of short texts."""
        import numpy

        encoded = self._tokenizer.encode_batch(list(texts))
        given: Mapping[str, Any] = {
            "input_ids": [one.ids for one in encoded],
            "attention_mask": [one.attention_mask for one in encoded],
            "token_type_ids": [one.type_ids for one in encoded],
        }
        feed = {name: numpy.asarray(given[name], dtype=numpy.int64) for name in self._inputs}
        (scores, *_) = self._session.run(None, feed)
        scores = numpy.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        columns = {label: [n for n, own in enumerate(self._labels) if own == label] for label in self.labels}
        likely = {label: scores[:, :, numbers].sum(axis=-1) >= self.CERTAINTY for label, numbers in columns.items()}
        for row, one in enumerate(encoded):
            yield [
                Found(start, end, label)
                for at, (start, end) in enumerate(one.offsets)
                if end > start
                for label, where in likely.items()
                if where[row, at]
            ]


def _plain(label: str) -> str:
    """A label without its B- or I-, as we call it; empty for none."""
    bare = label[2:] if label[:2] in ("B-", "I-", "E-", "S-", "L-", "U-") else label
    return "" if bare == "O" else _ALIASES.get(bare, bare)


def _stretches(piece: str) -> Iterator[tuple[int, int]]:
    """A text in parts that a model can see, cut at blanks."""
    start = 0
    while len(piece) - start > OnnxModel.LONGEST:
        cut = piece.rfind(" ", start + OnnxModel.LONGEST // 2, start + OnnxModel.LONGEST)
        end = cut if cut >= 0 else start + OnnxModel.LONGEST
        yield start, end
        start = end
    yield start, len(piece)


#: What may stand between the tokens of one name.
_GAP = re.compile(r"[ .\u00a0'’-]{0,2}")


def _joined(text: str, tokens: Sequence[Found]) -> list[Found]:
    """Tokens of a label that stand together, as one find, and each to the ends of its words."""
    joined: list[Found] = []
    for token in tokens:
        start, end = token.start, token.end
        while start > 0 and text[start - 1].isalpha() and text[start].isalpha():
            start -= 1
        while end < len(text) and text[end].isalpha() and text[end - 1].isalpha():
            end += 1
        last = joined[-1] if joined else None
        if last and last.label == token.label and (start <= last.end or _GAP.fullmatch(text, last.end, start)):
            joined[-1] = last._replace(end=max(end, last.end))
        else:
            joined.append(Found(start, end, token.label))
    return joined
