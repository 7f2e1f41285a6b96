"""A value that goes on in the next line is found whole, and two values below each other stay two."""

from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cloakllm_gateway.detection.catalogue import CATALOGUE, Example
from cloakllm_gateway.detection.engine import Detector
from cloakllm_gateway.detection.gate import WINDOW
from cloakllm_gateway.detection.settings import Settings
from cloakllm_gateway.spans import Span, Text
from tests.breaks import BREAKS

DETECTOR = Detector()
#: Values in groups of digits with a blank between, which prove themselves or stand behind their word in prose.
GROUPED = [
    example
    for category in CATALOGUE.values()
    for example in category.all_examples()
    if re.search(r"(?<![A-Za-z:])(?:[A-Z]{0,2}\d{2,}[ ]){2}\d", example.value)
    and not re.search(r"[A-Za-z]{3}|[:\n;,]", example.value)
    and not re.search(r"[{\[|<]|[.]com", example.text)
    and category.name != "BANK_ACCOUNT"  # of any length, so what stands in one line is all of it
]


def found(text: str, detector: Detector = DETECTOR) -> list[Span]:
    return [*detector.find([Text(text)])[0]]


def is_hidden(text: str, value: str, detector: Detector = DETECTOR) -> bool:
    start = text.index(value)
    hidden = {at for span in found(text, detector) for at in range(span.start, span.end)}
    return all(at in hidden for at in range(start, start + len(value)) if text[at].isalnum())


@pytest.mark.parametrize("between", BREAKS)
@given(of=st.sampled_from(GROUPED), data=st.data())
def test_a_number_in_groups_is_found_over_the_end_of_a_line(between: str, of: Example, data: st.DataObject) -> None:
    blanks = [match.start() for match in re.finditer(r"(?<=\d) (?=\d)", of.value)]
    at = data.draw(st.sampled_from(blanks))
    value = of.value[:at] + BREAKS[between] + of.value[at + 1 :]
    text = f"Please take\n{of.text.replace(of.value, value)}\nfor that"
    assume(not found(text[: text.index(value) + at]))  # what is a number by itself is no part of one
    assert is_hidden(text, value)


@pytest.mark.parametrize("between", BREAKS)
@pytest.mark.parametrize(
    "value",
    [
        "marta.long.name@{}kowalczyk.pl",
        "marta.long{}.name@kowalczyk.pl",
        "marta@kowalczyk{}.pl",
        "marta@kowalczyk.{}pl",
        "536-22-{}8726",
        "203.0.113.{}77",
        "+43 660{} 1234567",
        "+1 415-555-{}0132",
        "DE89 3704 0044{} 0532 0130 00",
        "NL91 ABNA{} 0417 1643 00",
        "GB29 NWBK 6016{} 1331 9268 19",
    ],
)
def test_a_value_of_parts_is_found_over_the_end_of_a_line(between: str, value: str) -> None:
    value = value.replace("{} ", "{}").format(BREAKS[between])
    assert is_hidden(f"Please write to or call {value} today", value)


@pytest.mark.parametrize("between", BREAKS)
@pytest.mark.parametrize("value", ["4111-1111-{}1111-1111", "5500-{}0000-0000-0004", "536-22-{}8726", "536-{}22-8726"])
def test_a_hyphen_at_the_end_of_a_line_needs_no_word_near(between: str, value: str) -> None:
    value = value.format(BREAKS[between])
    for text in (value, f"{value}\n", f"x\n{value}\ny"):
        assert is_hidden(text, value), text


@pytest.mark.parametrize("between", BREAKS)
@pytest.mark.parametrize("key", ["Nr konta", "Kontonummer", "account_number", "RIB"])
def test_groups_of_one_size_go_on_in_the_next_line(between: str, key: str) -> None:
    """What stands in one line might be all of it, for an account has any number of digits."""
    number = "61 1090 1014 0000 0712 1981 2874"
    for at in (7, 12, 17, 22):
        value = number[:at] + BREAKS[between] + number[at + 1 :]
        assert is_hidden(f"{key}: {value}\n", value), value
    shorter = f"{key}: 6110 9010{BREAKS[between]}2026 was a year, 12345 another"
    assert "2026" not in "".join(shorter[span.start : span.end] for span in found(shorter))


def test_what_is_broken_comes_back_as_it_was() -> None:
    text = "> refund AT61 1904 3002\n> 3457 3201 please"
    (span,) = found(text)
    assert (text[span.start : span.end], span.canonical) == ("AT61 1904 3002\n> 3457 3201", "AT611904300234573201")


VALUES = [
    "+43 660 1234567",
    "+49 30 123456",
    "(212) 555-0123",
    "4111 1111 1111 1111",
    "4242424242424242",
    "DE89 3704 0044 0532 0130 00",
    "AT61 1904 3002 3457 3201",
    "536-22-8726",
    "kim@posteo-mail.de",
    "203.0.113.77",
]


@pytest.mark.parametrize("lead", ["", "> ", "    ", "- ", " * ", "1. ", "# ", "| "])
@pytest.mark.parametrize("key", ["", "Contact: "])
def test_values_below_each_other_stay_what_they_are(lead: str, key: str) -> None:
    for one, other in product(VALUES, VALUES):
        text = f"What we have:\n{lead}{key}{one}\n{lead}{other}\n{lead}end"
        assert not any("\n" in span.value or "\n" in text[span.start : span.end] for span in found(text)), text


@pytest.mark.parametrize(
    "text",
    [
        "   12   4111\n   13   1111\n   14   1111\n   15   1111\n",
        "In 2024\n  15 people came, in 2025\n  4111 1111 people",
        "  1234 5678\n  9012 3456\n  4111 1111\n  1111 1111",
        "took 12\n2024-05-01 12:00:01 started 4711\n2024-05-01 12:00:02 done",
        "See below.\nacme.org is where\nthey are",
        "    return x\n@app.route('/a')\ndef y(): ...",
    ],
)
def test_lines_of_numbers_and_code_say_nothing(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize("between", [*BREAKS.values(), "  ", "\t", "\u00a0", " \u2003 "])
def test_a_phrase_of_the_deny_list_is_found_however_it_is_wrapped(between: str) -> None:
    detector = Detector(Settings(deny_list=("Project Nightingale", "Acme & Söhne")))
    for phrase in ("project{}Nightingale", "ACME &{}Söhne"):
        value = phrase.format(between)
        text = f"About {value}, as you know"
        (span,) = found(text, detector)
        assert text[span.start : span.end] == value
        assert span.canonical == phrase.format(" ").casefold()
    assert found(f"the Project{between}Nightingales and {between} Nightingale", detector) == []


@pytest.mark.parametrize(
    "after", ["Thanks", "best", "It", "In", "Merci", "2 people", "1160 Wien", "3. Punkt", "12 items"]
)
@pytest.mark.parametrize("lead", ["", "> ", "  ", "| "])
@pytest.mark.parametrize("value", ["anna.gruber@firma.com", "bernd@firma.de", "+43 660 1234567"])
def test_a_value_at_the_end_of_a_sentence_ends_there(value: str, lead: str, after: str) -> None:
    """Whatever the next line begins with: `.best` is a domain."""
    text = f"{lead}Please send the EIN or the contract to {value}.\n{lead}{after} and more"
    assert [text[span.start : span.end] for span in found(text)] == [value]


def test_what_another_kind_proves_whole_is_no_part_of_a_longer_number() -> None:
    text = "SSN 536-22-8726\n123 Main"
    assert [text[span.start : span.end] for span in found(text)] == ["536-22-8726"]


@pytest.mark.parametrize("before", range(WINDOW - 60, WINDOW + 12, 3))
def test_a_value_broken_where_a_window_ends_is_found(before: int) -> None:
    value = "AT61 1904 3002\n> 3457 3201"
    text = "wo " * (before // 3) + f"refund to {value} please" + " of it" * WINDOW
    assert is_hidden(text, value)
