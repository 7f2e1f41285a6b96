"""The catalogue: every entry is tried on its own examples and look-alikes, so a new entry needs no new test."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from stdnum.iban import _ibandb

from cloakllm_gateway.detection.catalogue import CATALOGUE, Category
from cloakllm_gateway.detection.catalogue.checks import IBAN_DIGITS, IBAN_LENGTHS, iban, luhn
from cloakllm_gateway.detection.engine import Detector
from cloakllm_gateway.detection.kinds import has_shape
from cloakllm_gateway.spans import Proof, Span, Text

CATEGORIES = [pytest.param(category, id=name) for name, category in CATALOGUE.items()]


@pytest.fixture(scope="module")
def detector() -> Detector:
    return Detector()


@pytest.mark.parametrize("category", CATEGORIES)
def test_every_example_is_found_whole_and_as_its_category(category: Category, detector: Detector) -> None:
    for example in category.all_examples():
        spans = detector.find([Text(example.text)])[0]
        found = [(span.category, example.text[span.start : span.end]) for span in spans]
        assert (category.name, example.value) in found, example.text


@pytest.mark.parametrize("category", CATEGORIES)
def test_every_look_alike_is_left_alone(category: Category, detector: Detector) -> None:
    for text in category.lookalikes:
        assert detector.find([Text(text)])[0] == [], text


@pytest.mark.parametrize("category", CATEGORIES)
def test_what_other_texts_there_are_changes_nothing_at_the_end_of_one(category: Category, detector: Detector) -> None:
    """All texts of a message are looked through as one; a value ends where its text does all the same.

    Parts of names are left out: whom one text names another may mean.
    """
    texts = [
        text
        for example in (category.examples if category.name == "API_KEY" else category.all_examples())
        for text in (example.text, example.text[: example.text.index(example.value) + len(example.value)])
    ]
    together = detector.find([Text(part) for text in texts for part in (text, "x")])[::2]
    for text, found in zip(texts, together, strict=True):
        alone = detector.find([Text(text)])[0]
        assert _whole(found) == _whole(alone), text


def _whole(spans: Sequence[Span]) -> list[tuple[int, int, str]]:
    return [(s.start, s.end, s.category) for s in spans if s.proof not in (Proof.NAME, Proof.PART)]


@pytest.mark.parametrize("category", CATEGORIES)
def test_names_keep_the_grammar_of_tokens(category: Category) -> None:
    assert re.fullmatch(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*", category.name)
    assert not re.search(r"_\d+$", category.name)


@pytest.mark.parametrize("category", CATEGORIES)
def test_an_example_has_the_shape_of_its_category_and_a_canonical_form(category: Category) -> None:
    for example in category.all_examples():
        assert category.canonical(example.value)
        if category.name not in ("API_KEY", "EMAIL", "ADDRESS"):  # whose odd spellings no key would prove
            assert has_shape(category, example.value), example.value


def test_no_key_proves_two_categories() -> None:
    keys = [key for category in CATALOGUE.values() for key in category.keys]
    assert sorted({key for key in keys if keys.count(key) > 1}) == []


@pytest.mark.parametrize(
    ("category", "spellings"),
    [
        ("IBAN", ["DE89 3704 0044 0532 0130 00", "de89370400440532013000", "DE89-3704-0044-0532-0130-00"]),
        ("CREDIT_CARD", ["4111 1111 1111 1111", "4111-1111-1111-1111", "4111.1111.1111.1111"]),
        ("PHONE", ["+1 (415) 555-0134", "+14155550134", "(415) 555-0134"]),
        ("EMAIL", ["kim@example.com", "KIM@Example.COM", "kim (at) example (dot) com"]),
        ("IP_ADDRESS", ["2001:db8::8a2e:370:7334", "2001:0DB8:0:0:0:8a2e:370:7334"]),
        ("PERSON", ["Hans Müller", "HANS  MÜLLER"]),
    ],
)
def test_spellings_of_one_value_have_one_canonical_form(category: str, spellings: list[str]) -> None:
    assert len({CATALOGUE[category].canonical(spelling) for spelling in spellings}) == 1


def test_checksums_refuse_a_changed_digit() -> None:
    assert luhn("4111111111111111")
    assert not luhn("4111111111111112")
    assert iban("DE89370400440532013000") == 22
    assert iban("DE89370400440532013001") == 0


def test_an_identifier_in_hexadecimal_is_no_account_of_a_country_whose_accounts_are_digits() -> None:
    assert iban("be650b825fcaf88a") == 0  # its check digits are right
    assert iban("be68539007547034") == 16


def test_countries_have_the_accounts_that_the_registry_says() -> None:
    for country, length in IBAN_LENGTHS.items():
        bban = _ibandb.info(country + "0" * 32)[0][1]["bban"]
        parts = re.findall(r"(\d+)!?([nac])", bban)
        assert sum(int(size) for size, _ in parts) + 4 == int(length), country
        assert all(kind == "n" for _, kind in parts) is (country in IBAN_DIGITS), country
