"""What fields about a person are called: with the words between that say nothing, and however a number is written."""

from __future__ import annotations

import pytest

from cloakllm_gateway.detection.engine import Detector
from cloakllm_gateway.detection.keys import NAME, classify, places
from cloakllm_gateway.spans import Text

DETECTOR = Detector()


@pytest.mark.parametrize(
    ("key", "category"),
    [
        ("numéro de sécurité sociale", "NIR_FR"),
        ("N° de permis", "DRIVER_LICENSE"),
        ("nº de cuenta", "BANK_ACCOUNT"),
        ("número de la seguridad social", "INSURANCE_NUMBER"),
        ("nombre del paciente", "PERSON"),
        ("titular do cartão", "PERSON"),
        ("titular de la tarjeta", "PERSON"),
        ("número de contribuinte", "NIF_PT"),
        ("Konto-Nr.", "BANK_ACCOUNT"),
        ("nr dowodu", "NATIONAL_ID"),
        ("nr rachunku", "BANK_ACCOUNT"),
        ("Carte d'identité", "NATIONAL_ID"),
        ("né le", "DATE_OF_BIRTH"),
        ("nato/a il", "DATE_OF_BIRTH"),
        ("geboren op", "DATE_OF_BIRTH"),
        ("father_name", "PERSON"),
        ("billing_name", "PERSON"),
        ("sAMAccountName", "USERNAME"),
        ("fname", NAME),
        ("médico", NAME),
    ],
)
def test_a_key_means_the_same_with_the_words_that_connect_it(key: str, category: str) -> None:
    assert classify(key) == category


@pytest.mark.parametrize(
    "key",
    ["serviceAccountName", "storageAccountName", "accountName", "nombre de la tabla", "nom du fichier", "de", "n"],
)
def test_a_key_of_something_else_means_nothing(key: str) -> None:
    assert classify(key) == ""


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("nombre del paciente: Lucía Ferrer", "Lucía Ferrer"),
        ("Numero de la Seguridad Social: 281234567840", "281234567840"),
        ("Konto-Nr.: 0532013000", "0532013000"),
        ("titular de la cuenta;saldo\nLucía Ferrer;12", "Lucía Ferrer"),
    ],
)
def test_such_a_key_is_seen_in_text(text: str, value: str) -> None:
    assert value in [span.value for span in DETECTOR.find([Text(text, names=False)])[0]]


@pytest.mark.parametrize("key", ["D. O. B.: ", "D.O.B: ", "d o b: ", "Date of birth..................: ", "S. S. N.: "])
def test_initials_and_leaders_hide_no_key(key: str) -> None:
    text = key + "1984-03-02"
    assert places(text, text.encode(), [(0, len(text))]) == [len(key) - 2]
