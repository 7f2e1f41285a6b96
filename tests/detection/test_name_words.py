"""Words that models take for somebody, or for the end of a name."""

from __future__ import annotations

import pytest

from cloakllm_gateway.detection.name_beliefs import cores
from cloakllm_gateway.detection.name_runs import PERSON, Found


def believed(text: str, answer: str, language: str = "en") -> list[str]:
    """What is left of a model's answer that ``answer`` is somebody."""
    start = text.index(answer)
    return [text[found.start : found.end] for found in cores(text, Found(start, start + len(answer), PERSON), language)]


@pytest.mark.parametrize(
    ("text", "answer", "names"),
    [
        ("at 5:02 PM Priya Raghunathan wrote", "PM Priya Raghunathan", ["Priya Raghunathan"]),
        ("at 5:02 PM he wrote", "PM", []),
        ("Bob owes Carla EUR 20", "Carla EUR", ["Carla"]),
        ("Bob owes Quillon CHF and", "Quillon CHF", ["Quillon"]),
    ],
)
def test_hours_and_currencies_are_no_part_of_a_name(text: str, answer: str, names: list[str]) -> None:
    assert believed(text, answer) == names


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Dienstag Januar", "de"),
        ("Geschäftsführerin", "de"),
        ("Meine Adresse", "de"),
        ("Chère", "fr"),
        ("Março", "pt"),
        ("Gennaio", "it"),
    ],
)
def test_days_months_jobs_and_salutations_are_nobody(text: str, language: str) -> None:
    assert believed(text, text, language) == []
