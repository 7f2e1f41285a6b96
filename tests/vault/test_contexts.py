"""Where tokens and numbers stand in JSON text: found at the places asked for, as if all of it was read."""

from __future__ import annotations

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from cloakllm_gateway.vault.contexts import numbers, spots

STRINGS = st.text('ab1-.,:[]{}"\\\n é%', max_size=12) | st.sampled_from(
    ["[EMAIL_0]", "see [SSN_12].", "%5BEMAIL_1%5D", "[", "%", '{"a": "[PHONE_3]"}', "[12, 3.5]", "[EMAIL_0"]
)
VALUES = st.recursive(
    STRINGS | st.integers() | st.floats(allow_nan=True) | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(STRINGS, inner, max_size=4),
    max_leaves=20,
)
DOCUMENTS = st.builds(
    json.dumps,
    st.lists(VALUES, min_size=1, max_size=5) | st.dictionaries(STRINGS, VALUES, min_size=1, max_size=4),
    ensure_ascii=st.booleans(),
    indent=st.none() | st.integers(0, 2),
)
#: A literal or a number of a document, from left to right.
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?')


@given(DOCUMENTS, st.data())
def test_a_number_is_found_by_any_place_in_it(text: str, data: st.DataObject) -> None:
    bare = [(m.start(), m.end()) for m in TOKEN.finditer(text) if m[0][0] != '"']
    wanted = sorted(data.draw(st.lists(st.sampled_from(bare), max_size=3))) if bare else []
    places = sorted(data.draw(st.integers(start, end - 1)) for start, end in wanted)
    found = {(number.start, number.end) for number in numbers(text, places)}
    assert found >= set(wanted)
    assert all(text[start:end].strip("-+.eE0123456789") == "" for start, end in found)


@given(DOCUMENTS, st.integers(0, 400))
def test_a_place_in_a_string_is_in_no_number_of_the_document(text: str, at: int) -> None:
    bare = {(m.start(), m.end()) for m in TOKEN.finditer(text) if m[0][0] != '"'}
    inside = [m for m in TOKEN.finditer(text) if m[0][0] == '"' and m.start() <= at < m.end()]
    for number in numbers(text, [at]) if inside else ():
        assert (number.start, number.end) not in bare


@given(DOCUMENTS)
def test_every_token_of_a_document_is_found_in_its_own_string(text: str) -> None:
    expected = [
        m.start() + 1 + t.start()
        for m in TOKEN.finditer(text)
        if m[0][0] == '"' and "\\" not in m[0] and "%" not in m[0]
        for t in re.finditer(r"\[(?:EMAIL|SSN|PHONE)_\d+\]", m[0][1:-1])
    ]
    found = [spot for spot in spots(text) if "\\" not in text[spot.start - 3 : spot.end]]
    assert set(expected) <= {spot.start for spot in found}
    assert all(text[spot.start] == "[" or text[spot.start] == "%" for spot in found)
