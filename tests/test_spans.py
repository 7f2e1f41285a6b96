"""Overlapping finds become a disjoint set in which nothing is lost."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from cloakllm_gateway.spans import Span, disjoint
from tests.cost import Work, compare

TEXT = "abc def-ghi jkl mno pqr"


def span(start: int, end: int, rank: int = 0, *, sensitive: bool = False) -> Span:
    return Span(start, end, "TERM", TEXT[start:end], TEXT[start:end], rank=rank, sensitive=sensitive)


spans = st.lists(
    st.tuples(st.integers(0, len(TEXT) - 1), st.integers(1, 9), st.integers(0, 3), st.booleans()).map(
        lambda drawn: span(drawn[0], min(drawn[0] + drawn[1], len(TEXT)), drawn[2], sensitive=drawn[3])
    ),
    max_size=8,
)


@given(spans)
def test_the_result_is_disjoint_sorted_and_covers_every_letter_that_was_found(found: list[Span]) -> None:
    merged = disjoint(found, TEXT)
    assert all(one.end <= other.start for one, other in pairwise(merged))
    covered = {at for s in merged for at in range(s.start, s.end)}
    wanted = {at for s in found for at in range(s.start, s.end) if TEXT[at].isalnum()}
    assert wanted <= covered


@given(spans)
def test_what_holds_a_part_of_something_sensitive_is_sensitive(found: list[Span]) -> None:
    merged = disjoint(found, TEXT)
    for s in (s for s in found if s.sensitive):
        assert all(m.sensitive for m in merged if m.start < s.end and s.start < m.end)


def test_the_more_certain_span_wins_and_the_rest_of_the_loser_stays_hidden() -> None:
    merged = disjoint([span(0, 11), span(4, 7, rank=1)], TEXT)
    assert [(s.start, s.end) for s in merged] == [(0, 3), (4, 7), (8, 11)]


def test_many_spans_in_any_order_take_no_longer_each_than_few() -> None:
    def work(count: int) -> Work:
        # Of four ranks, so that the surest quarter is looked at first, then the next one between those.
        found = [span(at, at + 1, at % 4)._replace(start=3 * at, end=3 * at + 2) for at in range(count)]
        assert len(disjoint(found, "")) == count
        return lambda: disjoint(found, "")

    compare(work(10_000), work(160_000), most=16 * 3)
