"""Known values are found whatever parts their words, and forgotten as whole as they were learned."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cloakllm_gateway.spans import Encoding, Proof
from cloakllm_gateway.vault.known import Known, KnownValues
from tests.breaks import BREAKS
from tests.cost import Work, compare

GAPS = [*BREAKS.values(), "  ", "\t", " "]
WORDS = st.lists(
    st.sampled_from(["Li", "Max", "Grace", "Hopper", "Straße", "\u0130nci", "12", "O'Neill"]), min_size=2, max_size=5
)


def _values(*texts: str, caseless: bool = True) -> KnownValues:
    values = KnownValues(4, set(), truncated=True)
    for text in texts:
        values.add(text, _known(text), caseless)
    return values


def _known(text: str) -> Known:
    return Known("PERSON", text, text, Encoding.PLAIN, Proof.SHAPE)


@given(words=WORDS, data=st.data(), caseless=st.booleans())
def test_a_value_is_found_whatever_parts_its_words(words: list[str], data: st.DataObject, *, caseless: bool) -> None:
    value = " ".join(words)
    written = words[0] + "".join(data.draw(st.sampled_from(GAPS)) + word for word in words[1:])
    text = f"Ask {written}, please"
    values = _values(value, *data.draw(st.lists(st.sampled_from(["Grace Jones", *words]))), caseless=caseless)
    (span,) = values.find(text)
    assert (text[span.start : span.end], span.canonical) == (written, value)


@given(words=WORDS, more=WORDS)
def test_nothing_is_left_of_what_is_forgotten(words: list[str], more: list[str]) -> None:
    value, other = " ".join(words), " ".join(more)
    values = _values(value, other)
    values.discard(value, "PERSON", value)
    assert [span.canonical for span in values.find("\n> ".join(more))] == ([other] if value != other else [])
    values.discard(other, "PERSON", other)
    assert values.find("\n> ".join(words)) == []
    assert not values._openers


def test_words_of_other_lines_are_no_part_of_a_value() -> None:
    values = _values("Grace Hopper")
    for text in ("Grace\n- Hopper", "Grace,\nHopper", "Grace\nHoppers", "Grace\nis Hopper", "disgrace\nhopper"):
        assert values.find(text) == []


def test_beginnings_of_values_take_no_more_than_their_length_says() -> None:
    values = _values(*("grace " * n + "hopper" for n in range(1, 20)))

    def work(count: int) -> Work:
        return lambda: values.find("grace\n> " * count)

    compare(work(500), work(4000), most=16, slack=0.1)
