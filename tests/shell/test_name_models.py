"""The models: which are there, what reads them, and that each finds its people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cloakllm_gateway.detection.settings import NAME_MODELS, NameSettings
from cloakllm_gateway.errors import DetectionError
from cloakllm_gateway.shell import installed_models, name_models
from cloakllm_gateway.shell.name_models import _joined, _stretches

WEIGHTS = dict(NAME_MODELS)["*"]
needs_weights = pytest.mark.skipif(
    installed_models.available(NameSettings((("*", WEIGHTS),), required=True)) is not None,
    reason="the multilingual model is not installed",
)


ENGLISH = dict(NAME_MODELS)["en"]
needs_english = pytest.mark.skipif(
    installed_models.available(NameSettings((("en", ENGLISH),), required=True)) is not None,
    reason="the English model is not installed",
)


def test_one_model_is_enough_unless_names_are_required():
    english = ("en", "json")  # any package that is there
    absent = ("*", "no_such_model_here")
    assert installed_models.usable(NameSettings((english, absent))) == {"en": "json"}
    assert installed_models.available(NameSettings((english, absent))) is None
    assert "not installed" in str(installed_models.available(NameSettings((english, absent), required=True)))


def test_all_models_that_are_not_there_are_named():
    none = NameSettings((("en", "no_such_model"), ("*", "nor_this_one")))
    assert installed_models.available(none) == (
        "the name model no_such_model is not installed, the name model nor_this_one is not installed"
    )


@pytest.mark.parametrize("name", ["no_such_model_here", "not a name"])
def test_what_is_not_there_is_said_to_be_absent(name: str):
    with pytest.raises(DetectionError, match="is not installed"):
        name_models.load(NameSettings((("*", name),)))


@pytest.mark.parametrize("name", ["/no/such/folder", "..\\nor\\this"])
def test_a_folder_that_is_not_there_is_nothing_to_install(name: str):
    with pytest.raises(DetectionError, match=r"is no folder\. Name a folder with"):
        name_models.load(NameSettings((("*", name),)))


def test_a_model_that_the_extra_does_not_hold_is_not_sought_there():
    german = NameSettings((("de", "de_core_news_sm"), ("*", "json")))
    assert installed_models.remedy(german).endswith("-m spacy download de_core_news_sm")


@needs_weights
def test_a_folder_is_read_like_a_package(tmp_path: Path):
    place = installed_models.place(WEIGHTS)
    assert place is not None
    (tmp_path / "model").symlink_to(place)
    recogniser = name_models.load(NameSettings((("*", str(tmp_path / "model")),)))
    (spans,) = recogniser.find(["Gestern hat Thessaly Vandermeer mit dem Vertrag nicht bis zum Abend gewartet."])
    assert [span.value for span in spans] == ["Thessaly Vandermeer"]


@needs_weights
@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Der Vertrag wurde von Thessaly Vandermeer für die Firma unterschrieben.", "Thessaly Vandermeer"),
        ("Ontem o senhor Quillon Abernathy não foi para o escritório, mas disse que já vai.", "Quillon Abernathy"),
        ("Le contrat a été signé par Thessaly Vandermeer pour la société.", "Thessaly Vandermeer"),
        ("El contrato fue firmado por Thessaly Vandermeer para la empresa.", "Thessaly Vandermeer"),
    ],
)
def test_people_in_other_languages_are_found(text: str, name: str):
    (spans,) = name_models.load(NameSettings()).find([text])
    assert name in [span.value for span in spans]


@needs_weights
def test_the_names_in_a_long_text_are_all_found_and_the_order_of_texts_does_not_matter():
    sentence = "Der Vertrag wurde von Thessaly Vandermeer für die Firma unterschrieben. "
    model = name_models._load(WEIGHTS)
    texts = [sentence * 20, "nichts", sentence]
    found = list(model.read(texts))
    assert [len(names) for names in found] == [20, 0, 1]
    assert list(model.read(texts[::-1])) == found[::-1]


@needs_english
def test_texts_are_labelled_as_the_pipeline_of_their_model_labels_them():
    model = name_models._load(ENGLISH)
    assert isinstance(model, name_models.SpacyModel)
    sentence = "Thessaly Vandermeer of Goldman Sachs met {} on Monday, and J. Abernathy did not. "
    texts = ["", " ", *(sentence.format(name) * count for count, name in enumerate(("Bob", "Edi Živković", "me"), 1))]
    expected = [[(ent.start_char, ent.end_char, ent.label_) for ent in model._model(text).ents] for text in texts]
    assert [[tuple(found) for found in labelled] for labelled in model.read(texts)] == expected
    assert sum(map(len, expected)) > 10


@needs_english
def test_what_a_pipeline_does_behind_its_recogniser_counts():
    model = name_models.SpacyModel(ENGLISH)
    ruler: Any = model._model.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "PERSON", "pattern": "zork"}])
    model._ner = model._greedy()
    ((found,),) = model.read(["it was zork"])
    assert found == (7, 11, "PERSON")


def test_a_text_is_cut_at_blanks_and_nothing_is_lost():
    text = "wort " * 300
    cut = list(_stretches(text))
    assert "".join(text[start:end] for start, end in cut) == text
    assert all(end - start <= 400 for start, end in cut)
    assert list(_stretches("x" * 1000))[-1][1] == 1000


def test_tokens_become_whole_words_and_names():
    from cloakllm_gateway.detection.name_runs import Found

    text = "von Thessaly Vandermeer, und"
    tokens = [Found(4, 8, "PERSON"), Found(8, 12, "PERSON"), Found(13, 19, "PERSON")]
    assert _joined(text, tokens) == [Found(4, 23, "PERSON")]


def test_weights_are_told_by_what_lies_in_a_folder(tmp_path: Path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "config.json").write_text(json.dumps({"id2label": {"0": "O"}}))
    assert installed_models.weights(tmp_path) is None
    (tmp_path / "deep" / "other.onnx").write_bytes(b"")
    installed_models.weights.cache_clear()
    assert installed_models.weights(tmp_path) == tmp_path / "deep" / "other.onnx"
