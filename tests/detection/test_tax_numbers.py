"""Tax numbers by what their countries call them."""

from __future__ import annotations

import pytest

from cloakllm_gateway.detection.engine import Detector
from cloakllm_gateway.spans import Text

DETECTOR = Detector()

#: What it is called, a number, and its category.
NUMBERS = [
    ("Steuernummer", "181/815/08155", "TAX_ID"),
    ("Steuernummer", "2893081508152", "TAX_ID"),
    ("Steuer-Nr.", "93815/08152", "TAX_ID"),
    ("St.-Nr.", "181 815 08155", "TAX_ID"),
    ("Steuer-ID", "86095742719", "STEUER_ID_DE"),
    ("Steueridentifikationsnummer", "86 095 742 719", "STEUER_ID_DE"),
    ("USt-IdNr.", "DE136695976", "TAX_ID"),
    ("USt-ID", "DE 136 695 976", "TAX_ID"),
    ("UID-Nummer", "ATU13585627", "TAX_ID"),
    ("Abgabenkontonummer", "12-345/6789", "TAX_ID"),
    ("NIF", "12345678Z", "DNI_ES"),
    ("NIF", "B58378431", "TAX_ID"),
    ("CIF", "B-58378431", "TAX_ID"),
    ("NIF", "501 964 843", "NIF_PT"),
    ("Codice fiscale", "RSSMRA85T10A562S", "CODICE_FISCALE_IT"),
    ("Partita IVA", "01234567890", "TAX_ID"),
    ("P.IVA", "IT00743110157", "TAX_ID"),
    ("Numéro fiscal", "30 23 217 600 053", "TAX_ID"),
    ("numéro fiscal de référence", "3023217600053", "TAX_ID"),
    ("Numéro de TVA", "FR40303265045", "TAX_ID"),
    ("BSN", "111222333", "BSN_NL"),
    ("btw-nummer", "NL004495445B01", "TAX_ID"),
    ("NIP", "123-456-32-18", "NIP_PL"),
    ("UTR", "19558 39661", "UTR_GB"),
    ("Unique Taxpayer Reference", "1955839661", "UTR_GB"),
    ("VAT No.", "GB 980 7806 84", "TAX_ID"),
    ("Tax number", "181/815/08155", "TAX_ID"),
    ("ΑΦΜ", "094259216", "TAX_ID"),
    ("ИНН", "7707083893", "INN_RU"),
]


@pytest.mark.parametrize("text", ["{}: {}", "{} {} in the letter", '{{"{}": "{}"}}'])
@pytest.mark.parametrize(("called", "number", "category"), NUMBERS)
def test_a_tax_number_is_known_by_what_it_is_called(called: str, number: str, category: str, text: str) -> None:
    found = DETECTOR.find([Text(text.format(called, number))])[0]
    assert [(span.category, span.value) for span in found] == [(category, number)]


@pytest.mark.parametrize(("called", "number"), [(called, number) for called, number, _ in NUMBERS])
def test_a_column_of_tax_numbers_is_hidden(called: str, number: str) -> None:
    found = DETECTOR.find([Text(f"{called};Note\n{number};x\n")])[0]
    assert [span.value for span in found] == [number]


@pytest.mark.parametrize("called", sorted({called for called, _, _ in NUMBERS}))
def test_what_is_no_number_behind_the_name_of_one_is_shown(called: str) -> None:
    assert DETECTOR.find([Text(f"{called}: see page 12, or 1999/2000, or ask")])[0] == []
