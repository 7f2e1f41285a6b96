"""Where an address ends: with its town, and before the rest of the sentence."""

from __future__ import annotations

import pytest

from cloakllm_gateway.detection.engine import Detector
from cloakllm_gateway.spans import Text

DETECTOR = Detector()

PLACES = [
    ("12 Rose Lane", "90210 Beverly Hills"),
    ("5 Baker Street", "NW1 6XE London"),
    ("Musterstr. 5", "80331 München"),
    ("Hauptstraße 12a", "60313 Frankfurt am Main"),
    ("12 rue de la République", "69002 Lyon"),
    ("Via Roma 15", "20121 Milano"),
    ("Calle de Alcalá 48", "28014 Madrid"),
    ("ul. Marszałkowska 12/4", "00-590 Warszawa"),
    ("Keizersgracht 123", "1015 CJ Amsterdam"),
    ("Rua Augusta 100", "1100-053 Lisboa"),
    ("Storgatan 5", "111 22 Stockholm"),
    ("Nørregade 7", "1165 København"),
    ("Mannerheimintie 4", "00100 Helsinki"),
    ("Andrássy út 12", "1061 Budapest"),
]


def addresses(text: str) -> list[str]:
    return [span.value for span in DETECTOR.find([Text(text)])[0] if span.category == "ADDRESS"]


@pytest.mark.parametrize("between", [", ", " ", " - ", "; ", " | ", " · ", "\n", ",\n"])
@pytest.mark.parametrize(("street", "town"), PLACES)
def test_the_code_and_the_town_behind_a_street_belong_to_it(street: str, town: str, between: str) -> None:
    address = f"{street}{between}{town}"
    assert addresses(f"We met at {address} and had tea.") == [address]
    assert addresses(f"We met at {address}. Was it late?") == [address]


@pytest.mark.parametrize("more", ["and 300 Spartans came", "in 2026 Kim moved", "the 3rd house"])
@pytest.mark.parametrize("street", [street for street, _ in PLACES])
def test_a_number_behind_a_street_that_is_no_code_of_a_town_is_none_of_it(street: str, more: str) -> None:
    assert addresses(f"We met at {street}, {more}.") == [street]
