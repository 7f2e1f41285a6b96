"""National forms of telephone numbers: what a locale lets in, whole, and what it does not."""

from __future__ import annotations

from functools import cache

import pytest

from cloakllm_gateway.detection.engine import Detector
from cloakllm_gateway.detection.locales import COUNTRIES, HOMES, region
from cloakllm_gateway.detection.settings import Settings
from cloakllm_gateway.errors import ConfigError
from cloakllm_gateway.spans import Text


@cache
def detector(locale: str) -> Detector:
    return Detector(Settings(locales=(locale,)))


def phones(text: str, locale: str) -> list[str]:
    return [span.value for span in detector(locale).find([Text(text)])[0] if span.category == "PHONE"]


#: Dates, amounts and numbers of things.
NO_NUMBERS = (
    "Rechnung vom 12.04.2025",
    "Rechnung vom 01.02.2025",
    "vom 01.02.2025-05.04.2025",
    "am 01.02.25 14 Uhr",
    "Auftrag 12/04/2025",
    "Order 04/25/2025",
    "Auftrag 01-02-2025",
    "Lieferung 2025-04-12 14:30",
    "Lieferung 2025-04-12",
    "Lieferung 2025/04/12",
    "Stand 2025 04 12",
    "Build 20250412",
    "Betrag 1 234 567 EUR",
    "Betrag 912 345 678 EUR",
    "Betrag 12 345 678",
    "12.345.678 Stück",
    "123.456.789 Stück",
)


@pytest.mark.parametrize(
    "locale", ["de", "de_AT", "de_CH", "fr", "nl", "en_GB", "ru", "hu", "en", "es", "it", "pl", "da"]
)
@pytest.mark.parametrize("text", NO_NUMBERS)
def test_dates_and_amounts_are_no_telephone_numbers_anywhere(text: str, locale: str) -> None:
    assert phones(text, locale) == []


@pytest.mark.parametrize(
    ("locale", "text"),
    [
        ("de_AT", "Artikel 4711-0815-12"),
        ("de", "Artikel 4711-0815-12"),
        ("de", "020 7946 0958"),
        ("de_AT", "06 12 34 56 78"),
        ("de_AT", "8 (916) 123-45-67"),
        ("de_AT", "1 664 123 4567"),
        ("fr", "1 23 45 67 89"),
        ("en_GB", "20 7946 0958"),
        ("hu", "30 123 4567"),
    ],
)
def test_a_number_that_does_not_begin_as_those_of_its_country_is_none_and_neither_is_a_part(
    locale: str, text: str
) -> None:
    assert phones(f"an {text}.", locale) == []


WHOLE = [
    ("de", "030 901820"),
    ("de", "(030) 901820"),
    ("de", "0151/23456789"),
    ("de", "089/123456-0"),
    ("de", "015123456789"),
    ("de_AT", "0664 123 45 67"),
    ("de_AT", "01 512 20 34"),
    ("de_CH", "044 668 18 00"),
    ("en_GB", "020 7946 0958"),
    ("en_GB", "07911 123456"),
    ("fr", "06 12 34 56 78"),
    ("fr", "06.12.34.56.78"),
    ("nl", "06-12345678"),
    ("hu", "06 30 123 4567"),
    ("ru", "8 (916) 123-45-67"),
    ("ru", "8 495 123-45-67"),
    ("ru", "89161234567"),
    ("ru", "916 123-45-67"),
    ("es", "912 345 678"),
    ("es", "612 34 56 78"),
    ("pl", "512 345 678"),
    ("it", "333 123 4567"),
    ("it", "06 6982 1234"),
    ("da", "32 12 34 56"),
    ("nb", "22 34 56 78"),
    ("lv", "29 123 456"),
    ("pt", "912 345 678"),
    ("cs", "601 123 456"),
    ("hi", "98765 43210"),
    ("pt_BR", "11 96123-4567"),
]


@pytest.mark.parametrize(("locale", "number"), WHOLE)
@pytest.mark.parametrize(
    "text",
    [
        "um {} an",
        "{}",
        "am 12.04.2025 {}",
        "14:30 {}",
        "v7 {},",
        "4711   {}",
        "Kunde 4711 {}",
        "1. {}",
        "2) {}",
        "{} 17:30",
    ],
)
def test_a_national_number_is_found_whole(locale: str, number: str, text: str) -> None:
    assert phones(text.format(number), locale) == [number]


@pytest.mark.parametrize("between", [", ", " / ", " oder ", "\n", "; "])
def test_two_numbers_are_two(between: str) -> None:
    assert phones(f"030 901820{between}0151 23456789", "de") == ["030 901820", "0151 23456789"]


def test_a_number_may_follow_another_at_once() -> None:
    assert phones("020 7946 0958 07911 123456", "en_GB") == ["020 7946 0958", "07911 123456"]
    two = ["8 (916) 123-45-67", "8 (495) 123-45-67"]
    assert phones(" ".join(two), "ru") == two


@pytest.mark.parametrize(("locale", "number"), WHOLE)
@pytest.mark.parametrize("before", ["7 ", "12-", "4.", "3 (", "99/", "1 - "])
def test_no_number_begins_in_the_midst_of_another(locale: str, number: str, before: str) -> None:
    text = f"x {before}{number}"
    assert all(text.index(found) == 2 for found in phones(text, locale))


@pytest.mark.parametrize("locale", ["de", "de_AT", "ru", "en"])
def test_a_number_with_a_word_beside_it_needs_no_beginning(locale: str) -> None:
    assert phones("Tel. 901 820 34", locale) == ["901 820 34"]


# -- which country a locale names ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("locale", "country"),
    [
        ("de", "DE"),
        ("de_AT", "AT"),
        ("de-at", "AT"),
        ("en", "US"),
        ("ca", "ES"),
        ("be", "BY"),
        ("sr", "RS"),
        ("uk", "UA"),
    ],
)
def test_a_locale_names_a_country(locale: str, country: str) -> None:
    assert region(locale) == country


def test_the_countries_are_those_whose_numbering_plan_is_known() -> None:
    import phonenumbers

    assert COUNTRIES == phonenumbers.SUPPORTED_REGIONS
    assert set(HOMES.values()) <= COUNTRIES


@pytest.mark.parametrize("locale", ["xx", "xx_YY", "xx_AT", "de_XX", "german", "DE", "de-DE.UTF-8", "", "de_AT\n"])
def test_a_locale_that_is_not_known_is_refused(locale: str) -> None:
    assert region(locale) is None
    with pytest.raises(ConfigError, match="locale"):
        Detector(Settings(locales=(locale,)))
