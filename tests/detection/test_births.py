"""Birth dates in running text: under every name, with remarks on them, and behind the sign of genealogists."""

from __future__ import annotations

import pytest

from cloakllm_gateway.detection.engine import Detector
from cloakllm_gateway.spans import Text

DETECTOR = Detector()

NAMES = (
    "date of birth", "Date of Birth", "DOB", "birth date", "birthday", "Geburtsdatum", "Geburtstag",
    "date de naissance", "fecha de nacimiento", "cumpleaños", "data di nascita", "compleanno", "data de nascimento",
    "geboortedatum", "verjaardag", "data urodzenia", "urodziny",
)  # fmt: skip
DATES = ("03.07.1981", "3.7.81", "03/07/1981", "1981-07-03", "3 July 1981", "3. Juli 1981", "3 de julio de 1981")


def dates(text: str) -> list[str]:
    return [span.value for span in DETECTOR.find([Text(text)])[0] if span.category == "DATE_OF_BIRTH"]


@pytest.mark.parametrize(
    "structure",
    [
        "@: #", "@ #", "@ = #", "@ (dd.mm.yyyy): #", "@ (jj/mm/aaaa) : #", "@ (laut Pass) #", "| @ (lt. Pass) | # |",
        "My @ for the form: #", "@ for insurance: #", "@ of my son: #", "@ dziecka: #", "@ según DNI: #",
        "@ do titular: #", "- @: # (checked)",
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", NAMES)
def test_words_between_the_name_and_the_date_change_nothing(name: str, structure: str) -> None:
    for date in DATES:
        text = structure.replace("@", name).replace("#", date)
        assert dates(text) == [date], text


@pytest.mark.parametrize(
    "structure", ["Eva Braun *#", "Eva Braun * #, Zimmer 4", "Weber (* #; † 2020)", "Braun, *#", "Weber, Eva (*#)"]
)
@pytest.mark.parametrize("date", ["12.3.1955", "12. März 1955", "1955-03-12", "12 March 1955"])
def test_a_star_behind_a_name_says_who_was_born(date: str, structure: str) -> None:
    assert dates(structure.replace("#", date)) == [date]


@pytest.mark.parametrize(
    "text",
    [
        "* 12.3.2024 first release\n* 13.4.2024 second release",
        "/*\n * 12.3.2024 kim: fixed\n */",
        "Total *12.3.19",
        "Date of birth unknown. Updated: 2024-01-01",
        "date of birth; updated: 2024-01-01",
        "the birthday party (with cake and tea for all of us) 2024-01-01",
    ],
)
def test_other_dates_stay(text: str) -> None:
    assert dates(text) == []


@pytest.mark.parametrize("word", ["changed", "updated", "modified", "sent", "imported"])
@pytest.mark.parametrize("key", ["Date of birth", "DOB", "Birthday"])
def test_when_a_birth_date_was_noted_is_none(key: str, word: str) -> None:
    assert dates(f"{key} {word}: 2024-01-01") == []
    assert dates(f"{key} last {word} on: 2024-01-01") == []


@pytest.mark.parametrize("word", ["Total", "Released", "Version", "Preis"])
def test_a_star_behind_one_word_is_a_remark(word: str) -> None:
    assert dates(f"{word} * 12.3.2019") == dates(f"{word} *12.3.2019") == []
