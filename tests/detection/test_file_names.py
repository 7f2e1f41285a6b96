"""Names of people in the names of files and folders are hidden whole or not at all."""

from __future__ import annotations

import pytest

from cloakllm_gateway.detection.engine import Detector
from cloakllm_gateway.spans import Text

DETECTOR = Detector()


def hidden(text: str) -> list[str]:
    (spans,) = DETECTOR.find([Text(text)])
    return [span.value for span in spans]


@pytest.mark.parametrize(
    "document",
    "Rechnung Arztbrief Lebenslauf Vertrag Resume Invoice Contract Bewerbung Facture Contrat Factura Contrato "
    "Fattura Fatura Factuur Faktura Umowa".split(),
)
@pytest.mark.parametrize("joined", ["_", "-"])
def test_a_name_behind_what_the_file_is_is_whole(document: str, joined: str) -> None:
    for first, last in (("Anna", "Schmidt"), ("Peter", "Quillon"), ("Max", "Mustermann")):
        name = f"{first}{joined}{last}"
        assert hidden(f"{document}{joined}{name}.pdf") == [name]
        assert hidden(f"{document}{joined}2026{joined}{name}{joined}v2.pdf") == [name]
        assert hidden(f"{document}{joined}{name}") == [name]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("invoice-john-smith-2026.pdf", "john-smith"),
        ("facture_marie_dubois.pdf", "marie_dubois"),
        ("CV_Sarah_Connor.pdf", "CV_Sarah_Connor"),
        ("CV-Sarah-Connor", "Sarah-Connor"),
        ("Resume - John Smith.docx", "John Smith"),
        ("Huber_Anna_Maria.pdf", "Huber_Anna_Maria"),
        ("Anna_Maria_Quillon.pdf", "Anna_Maria_Quillon"),
        ("Gehaltszettel_Anna_Quillon.pdf", "Anna_Quillon"),
        ("Lebenslauf_Anna_von_der_Leyen.pdf", "Anna_von_der_Leyen"),
        ("Vertrag_Maria_de_la_Cruz.pdf", "Maria_de_la_Cruz"),
        ("Brief_Anna_Schmidt_de.pdf", "Anna_Schmidt"),
        ("Anna_Schmidt_Vertrag.pdf", "Anna_Schmidt"),
        ("/tmp/x/Anna Schmidt.txt", "Anna Schmidt"),
        ("/srv/Anna Schmidt/x.txt", "Anna Schmidt"),
        ("/srv/kunden/Schmidt, Anna/befund.pdf", "Schmidt, Anna"),
        ("/srv/kunden/Schmidt_Anna/befund.pdf", "Schmidt_Anna"),
        (r"C:\Users\Anna Schmidt\Documents", "Anna Schmidt"),
        ("/home/Thessaly Vandermeer/x", "Thessaly Vandermeer"),
    ],
)
def test_a_name_in_a_path_is_whole(text: str, name: str) -> None:
    assert hidden(text) == [name]


@pytest.mark.parametrize(
    "text",
    [
        "Rechnung_Juni_2026.pdf, Contract_Max_Amount.pdf, Invoice_Template_Final.pdf",
        "cv_results_mean.csv, resume_training_loop.py, invoice-max-value.json, contract.anna_mode(x)",
        r"C:\Users\All Users\x, C:\Users\Default User\x, /opt/Google Chrome/x",
        "Content-Type.html, Release_Notes_2026.pdf, /usr/share/New York/x.txt",
    ],
)
def test_what_else_files_are_called_is_nobody(text: str) -> None:
    assert hidden(text) == []
