"""Where known values may begin in a text: the same places however long the text is, found in linear time."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from cloakllm_gateway.vault.boundaries import starts
from cloakllm_gateway.vault.prefixes import Prefixes

SIZE = 2
#: Few letters, so that beginnings come back; blanks, symbols, a script without spaces, letters beyond ASCII, `?`.
LETTERS = "aab1 _-?.\nżé東京ฟ"
TEXTS = st.text(LETTERS, min_size=10, max_size=200)
VALUES = st.lists(st.text(LETTERS, min_size=SIZE, max_size=8), min_size=1, max_size=12)


def known(values: list[str], chunk: int) -> Prefixes:
    found = Prefixes(SIZE, long=chunk, chunk=chunk)
    for value in values:
        found.add(value)
    return found


def at_once(text: str, values: list[str]) -> list[int]:
    """Where a value begins so far as four characters tell."""
    beginnings = {value[:4] for value in values}
    return [at for at in starts(text) if {text[at : at + size] for size in (2, 3, 4)} & beginnings]


@given(TEXTS, VALUES, st.integers(1, 40))
def test_chunk_by_chunk_the_places_are_those_of_the_whole_text(text: str, values: list[str], chunk: int) -> None:
    found = known(values, chunk)
    text = text * 10  # long enough for its beginnings
    assert found.places(text * 8) == at_once(text * 8, values)


@given(TEXTS, VALUES, VALUES)
def test_what_is_added_later_is_found_as_well(text: str, values: list[str], more: list[str]) -> None:
    text = text * 30
    found = known(values, 7)
    found.places(text)
    for value in more:
        found.add(value)
    assert found.places(text) == at_once(text, [*values, *more])


def test_nothing_is_found_before_anything_is_known() -> None:
    found = Prefixes(SIZE)
    assert not found
    assert found.places("ann ann") == []


def test_a_long_text_without_any_of_few_values_takes_a_fraction_of_probing_it() -> None:
    text = "2026-11-30 12:00:07 info the build of module core took 12.5 seconds, 314 tests passed\n" * 10_000
    quick = known(["kim", "lee", "7781"], 4_096)
    slow = Prefixes(SIZE, long=len(text) + 1)
    for value in ("kim", "lee", "7781"):
        slow.add(value)
    assert quick.places(text) == slow.places(text) == []
    assert _seconds(quick, text) < _seconds(slow, text) / 3


def _seconds(found: Prefixes, text: str) -> float:
    taken = []
    for _ in range(3):
        began = time.process_time()
        found.places(text)
        taken.append(time.process_time() - began)
    return min(taken)
