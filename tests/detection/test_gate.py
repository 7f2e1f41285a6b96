"""The gate hides nothing from the truth."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloakllm_gateway.detection.catalogue import CATALOGUE
from cloakllm_gateway.detection.engine import Detector
from cloakllm_gateway.detection.gate import OVERLAP, SEPARATOR, WINDOW, Gate, charset_first, compiled, relaxed
from cloakllm_gateway.spans import Text

EXAMPLES = [example.text for category in CATALOGUE.values() for example in category.all_examples()]
FILLERS = [
    "a",
    "x.",
    " ",
    "\n",
    "1234-",
    "é",
    "::1 ",
    "A" * 70,
    "lorem ipsum ",
    "4" * 30,
    "_",
    "<",
    "\t",
    "=",
    "user@",
    "+",
]
TRUTHS = [pattern.regex for category in CATALOGUE.values() for pattern in category.patterns if not pattern.regional]


@given(st.lists(st.sampled_from(EXAMPLES) | st.sampled_from(FILLERS), min_size=1, max_size=12), st.integers(0, 3))
@settings(max_examples=150, deadline=None)
def test_whatever_the_truth_finds_the_gate_lets_through(parts: list[str], stretch: int) -> None:
    """Also what lies across windows, close together, overlapping, or behind a long run."""
    text = ("x " * 700 * stretch) + "".join(parts)
    ranges = Gate(TRUTHS).ranges(text)
    for index, truth in enumerate(TRUTHS):
        for match in compiled(truth).finditer(text):
            assert any(
                start <= match.start() < stop and match.end() <= limit for start, stop, limit in ranges.get(index, [])
            ), (
                truth,
                match[0],
            )


@pytest.mark.parametrize("at", range(WINDOW - 60, WINDOW + 60, 7))
def test_a_value_across_the_edge_of_a_window_is_found(at: int) -> None:
    value = "4111 1111 1111 1111"
    text = ("word " * at)[:at] + f" {value} and kim@example.org " + "word " * 900
    assert {span.value for span in Detector().find([Text(text)])[0]} == {value, "kim@example.org"}


@pytest.mark.parametrize("truth", TRUTHS)
def test_the_faster_spelling_of_a_truth_matches_the_same(truth: str) -> None:
    plain = __import__("re").compile(truth, __import__("re").ASCII)
    for text in EXAMPLES[:120] + EXAMPLES[-200:]:
        assert [m.span() for m in plain.finditer(text)] == [m.span() for m in compiled(truth).finditer(text)]


def test_truths_reach_no_further_than_windows_overlap() -> None:
    """What may span white space is bounded: a long unbounded run holds none."""
    assert OVERLAP >= 320
    assert all(SEPARATOR not in truth for truth in TRUTHS)


def test_relaxing_drops_look_arounds_and_long_bounds() -> None:
    assert relaxed(r"(?<![a-z])id[ ]{0,3}\d{16,19}(?!x)") == r"(?:^|[^a-z])id[ ]{0,3}\d{8,}"
    assert relaxed("[aé]b") == r"(?:[\x80-\xffa]+)b"


def test_a_truth_begins_with_characters_where_it_can() -> None:
    assert charset_first(r"(?<!x)\d{4}y") == r"\d(?<!(?:x)[\s\S])\d{3}y"
    assert charset_first(r"(?<!x)(?:a|b)") == r"(?<!x)(?:a|b)"
