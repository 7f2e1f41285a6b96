"""Numbers of documents and insurances under all names of the catalogue, in every structure and without one."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from cloakllm_gateway.detection.catalogue import CATALOGUE, Category
from cloakllm_gateway.detection.catalogue.identity import NATIONAL, NUMBERED, SSN
from cloakllm_gateway.detection.catalogue.spoken import NAMES
from cloakllm_gateway.detection.engine import Detector
from cloakllm_gateway.spans import Text

IDENTITY = {category.name: category for category in (SSN, *NATIONAL, *NUMBERED)}
#: Values that are written as prose has them, where the first example of a category is not.
WRITTEN = {
    "PASSPORT": "C01X00T47",
    "DRIVER_LICENSE": "MORGA657054SM9IJ",
    "NATIONAL_ID": "L01X00T47",
    "INSURANCE_NUMBER": "A123456780",
    "TAX_ID": "181/815/08155",
    "LICENSE_PLATE": "AB-123-CD",
}


@pytest.fixture(scope="module")
def detector() -> Detector:
    return Detector()


def value_of(category: Category) -> str:
    keyed = (each.value for each in category.all_examples() if each.text.startswith(("{", category.name)))
    return WRITTEN.get(category.name) or next(keyed, category.examples[0].value)


def _key(structure: str) -> Callable[[str, str], str]:
    return lambda name, value: structure.replace("@", name).replace("#", value)


FIELDS = [
    '{"@": "#"}',
    '{"id": 7, "@": "#", "ok": true}',
    "id: 7\n@: #\nok: true\n",
    "id,@,stand\n7,#,neu\n8,#,alt\n",
    "| id | @ | stand |\n|---|---|---|\n| 7 | # | neu |\n",
    "<@>#</@>",
    "**@:** #",
    "@: #",
]


@pytest.mark.parametrize("category", [pytest.param(each, id=name) for name, each in IDENTITY.items()])
@pytest.mark.parametrize("structure", FIELDS)
def test_every_key_hides_its_number_in_every_structure(structure: str, category: Category, detector: Detector) -> None:
    value = value_of(category)
    for key in category.keys:
        text = _key(structure)(key, value)
        assert value in " ".join(span.value for span in detector.find([Text(text)])[0]), text


SENTENCES = [
    "@ #",
    "@: #",
    "@\t#",
    "Das ist @ #, danke.",
    "Please note the @: #, thanks.",
    "@ no. #",
    "@ No.: #",
    "@ Nr. #",
    "@-Nr. #",
    "@ n° #",
    "@ n.º #",
    "@ № #",
    "My @ is #.",
    "| @ | # |",
]


@pytest.mark.parametrize("structure", SENTENCES)
@pytest.mark.parametrize("name", NAMES)
def test_every_name_hides_its_number_in_a_sentence(name: str, structure: str, detector: Detector) -> None:
    value = value_of(CATALOGUE[name])
    for said in NAMES[name].split(", "):
        for written in (said, said.upper(), _without_accents(said)):
            text = _key(structure)(written, value)
            assert value in " ".join(span.value for span in detector.find([Text(text)])[0]), text


def _without_accents(text: str) -> str:
    return text.translate(str.maketrans("áàãâéèêëíóõôúüçłñ", "aaaaeeeeiooouucln"))


@pytest.mark.parametrize(
    "more", ["renewal", "office", "of 2026", "2026-05-01 expired", "is needed", "no. 3", "v2", "12"]
)
@pytest.mark.parametrize("name", sorted(NAMES))
def test_what_has_no_shape_behind_a_name_stays(name: str, more: str, detector: Detector) -> None:
    for said in NAMES[name].split(", "):
        text = f"Please note: the {said} {more}"
        assert detector.find([Text(text)])[0] == [], text


def test_no_name_stands_further_before_its_number_than_the_gate_looks() -> None:
    assert [each for names in NAMES.values() for each in names.split(", ") if len(re.sub(r"\W", "", each)) > 40] == []
