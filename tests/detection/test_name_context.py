"""Names that no list knows, told by what stands around them."""

from __future__ import annotations

import pytest

from cloakllm_gateway.detection.name_context import in_company
from cloakllm_gateway.detection.name_runs import PERSON, Found
from cloakllm_gateway.detection.names import spread
from tests.cost import compare


def people(text: str) -> set[str]:
    return {text[found.start : found.end] for found in in_company(text)}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Zakk shouted at Tiffonia: what now", {"Zakk", "Tiffonia"}),
        ("Hakuba had given Hakuba his address", {"Hakuba"}),
        ("Aloisya, can I please speak to your boss?", {"Aloisya"}),
        ("but Dorika just has to go", {"Dorika"}),
        ("Why is Natasya so impulsive?", {"Natasya"}),
        ("Ubul Csonka listed his top twenty", {"Ubul Csonka"}),
        ("please remove my kid Florens from the will", {"Florens"}),
        ("his wife, Agy, and", {"Agy"}),
        ("Producer Mashuu Samurakami explained it", {"Mashuu Samurakami"}),
        ("join accounts with ms. Quinzya", {"Quinzya"}),
        ("Unlike the Roeterdink novel, it is short", {"Roeterdink"}),
        ("her maiden name is nyberk", {"nyberk"}),
        ("sometimes people call me višeslaw.", {"višeslaw"}),
        ("Torpy and Salinas were precise.", {"Torpy", "Salinas"}),
        ("our 3 founders: Monjoe, Becker and Reed.  The idea", {"Monjoe", "Becker", "Reed"}),
        ('Koppán: "Who are you?"\nElizabeth: "I am here."', {"Koppán", "Elizabeth"}),
        ("the verses from Edy Živković's songs", {"Edy Živković"}),
        (">Gyalo Antalk\n>Some Firm\n>24 Clarke Ave", {"Gyalo Antalk"}),
    ],
)
def test_a_name_is_told_by_its_company(text: str, names: set[str]) -> None:
    assert people(text) >= names
    assert not {name for name in people(text) - names if not any(name in other for other in names)}


@pytest.mark.parametrize(
    "text",
    [
        "Docker and Kubernetes are tools. Serbia and Croatia were at war.",
        "My name is required. the last name is missing, and call me later.",
        "Congress, which spent a year on it; Microsoft told us, Apple has its own",
        "Key: value. Name: string.\nError: Something failed.\nNote: Try again.",
        "the Python version, the Release Candidate, Republika Srpska, Terra Nova",
        "Vice President Equity Derivatives, our customer Acme, their server Nginx",
    ],
)
def test_things_in_the_same_places_are_nobody(text: str) -> None:
    assert people(text) == set()


@pytest.mark.parametrize(
    ("text", "known", "stands_at"),
    [
        ("directed by Brad Holinko and starring Holinko", "Brad Holinko", ["Holinko"]),
        ("by Brad L Key and starring Key. The Key is here; a Key Code", "Brad L Key", ["Key"]),
        ("Henry Ford called; the Ford account is closed.", "Henry Ford", []),
        ("Paris Jackson flew to Paris.", "Paris Jackson", []),
        ("Jane Novak wrote. Novak Ltd, novak, Novak() and Jane agree", "Jane Novak", ["Jane"]),
    ],
)
def test_a_part_of_a_full_name_is_found_where_it_stands_alone(text: str, known: str, stands_at: list[str]) -> None:
    found = Found(text.index(known), text.index(known) + len(known), PERSON)
    assert [span.value for span in spread(text, [found])] == [known, *stands_at]


@pytest.mark.parametrize(
    "unit", ["Ann, ", "Ann and ", "Ann Ann ", "Ann: Ann.\n", "my kid Ann ", "ann b ", "Ann Ann\n", "> ", "the Ann "]
)
def test_four_times_the_text_takes_about_four_times_the_time(unit: str) -> None:
    few, many = (unit * (size // len(unit)) for size in (20_000, 80_000))
    compare(lambda: list(in_company(few)), lambda: list(in_company(many)), most=8, slack=0.01)
