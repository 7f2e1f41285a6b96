"""What the automata look for is wider than what they are asked for, and what they answer is exact where it counts."""

from __future__ import annotations

import base64
import random
from collections.abc import Iterator
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloakllm_gateway import linear
from cloakllm_gateway.detection import folding, formats, keys, packed
from cloakllm_gateway.detection.automata import ALIKE, Automaton, Sought
from cloakllm_gateway.detection.catalogue import CATALOGUE
from cloakllm_gateway.detection.deriving import (
    digits_alike,
    divided,
    has_blanks,
    relaxed,
    shortest,
    telling,
    tells_digits,
    without,
)
from cloakllm_gateway.detection.engine import Detector
from cloakllm_gateway.detection.gate import screened
from cloakllm_gateway.spans import Text
from tests.effort import examples

DETECTOR = Detector()
TEXTS = [
    text
    for category in CATALOGUE.values()
    for text in (*(example.text for example in category.all_examples()), *category.lookalikes)
]
TRUTHS = [pattern.regex for category in CATALOGUE.values() for pattern in category.patterns]
SIGNS = {**folding.SIGNS, **keys.signs(), "format": formats.SIGN, "mark": keys.joined_signs()["mark"]}
EXPRESSIONS = [*map(relaxed, TRUTHS), *SIGNS.values()]


@cache
def matched(expressions: tuple[str, ...], text: bytes) -> frozenset[int]:
    return frozenset(automaton(expressions).matched(text) or ())


@cache
def automaton(expressions: tuple[str, ...]) -> linear.Alternatives:
    return linear.Alternatives(expressions, linear.options(memory=256 << 20))


def mixed(seed: int) -> Iterator[bytes]:
    """Texts of the catalogue, one after the other and with digits, blanks and letters changed here and there."""
    at = random.Random(seed)
    for _ in range(40):
        text = [*"".join(at.choice(("", " ", "\n", "x")) + at.choice(TEXTS) for _ in range(4))]
        for _ in range(at.randrange(6)):
            text[at.randrange(len(text))] = at.choice("0123456789 -_.,:=aZ\n")
        yield screened("".join(text))


@given(st.integers())
@settings(max_examples=examples(60))
def test_an_expression_for_digits_that_look_alike_is_wider(seed: int) -> None:
    alike = tuple(map(digits_alike, EXPRESSIONS))
    for text in mixed(seed):
        assert matched(tuple(EXPRESSIONS), text) <= matched(alike, text.translate(ALIKE))


@given(st.integers())
@settings(max_examples=examples(60))
def test_one_that_tells_no_digits_apart_is_as_wide(seed: int) -> None:
    same = tuple(expression for expression in EXPRESSIONS if not tells_digits(expression))
    assert len(same) > len(EXPRESSIONS) / 3
    for text in mixed(seed):
        assert matched(same, text) == matched(same, text.translate(ALIKE))


@given(st.integers(), st.sampled_from([" _.-", "1:", '@"\n']))
@settings(max_examples=examples(60))
def test_an_expression_for_a_text_less_some_characters_is_wider(seed: int, less: str) -> None:
    wider = tuple(without(expression, less) for expression in EXPRESSIONS)
    for text in mixed(seed):
        assert matched(tuple(EXPRESSIONS), text) <= matched(wider, text.translate(None, less.encode()))


@given(st.integers())
@settings(max_examples=examples(60))
def test_the_shortest_expression_matches_in_the_same_texts(seed: int) -> None:
    shorter = tuple(map(shortest, EXPRESSIONS))
    assert sum(map(len, shorter)) < 0.9 * sum(map(len, EXPRESSIONS))
    for text in mixed(seed):
        assert matched(shorter, text) == matched(tuple(EXPRESSIONS), text)


@given(st.integers())
@settings(max_examples=examples(60))
def test_what_an_expression_tells_stands_wherever_it_matches(seed: int) -> None:
    told = {at: sign for at, expression in enumerate(EXPRESSIONS) if (sign := telling(expression))}
    assert len(told) > 30
    for text in mixed(seed):
        simpler = matched(tuple(told.values()), text)
        assert {*told}.intersection(matched(tuple(EXPRESSIONS), text)) <= {[*told][number] for number in simpler}


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (
            r"(?:^|[^a-z])id(?: no)?[ ]{0,3}(?:\d{12,}(?:[a-z]+-?)*|x+y?)(?:, [A-Z]+)?",
            r"(?:^|[^a-z])id(?: no)?[ ]{0,3}(?:\d{12}|x)",
        ),
        (r"a(?:b|c*)", "a"),
        (r"a(?:(?i:b{2,3}c?|d)\b)+", r"a(?:(?i:b{2,3}c?|d)\b)"),
        (r"a(?:(?i:b{2,3}c?|d))+", r"a(?:(?i:b{2}|d))"),
        ("ab*|c+d{0,2}", "a|c"),
        ("(?:ab?){3}", "(?:ab?){2}(?:a)"),
        ("(?:ab+|c){2,}d?", "(?:ab+|c)(?:ab|c)"),
        (r"a(?:[^b]|\z)", r"a(?:[^b]|\z)"),
    ],
)
def test_an_expression_ends_where_it_is_certain(expression: str, expected: str) -> None:
    assert shortest(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (r"(?:^|[^a-z])[a-z]+(?:[.]|@)?@[a-z]+", "@"),
        (r"[a-z]+(?:@|b)c\\?", ""),
        (r"[a-z]+\\[a-z]", r"\\"),
        (r"[a-z]+\.atlasv1\.[a-z]{3}|b", ""),
        (r"[a-z]+\.atlasv1\.[a-z]{3}", r"\.atlasv1\."),
        (r"[a-z]+ the user ", ""),
        ("x[a-z]+@", ""),  # begins with what it tells
        (r"[a-z][a-z]*(?i: at )[a-z]+(?: dot )?", "(?i: at )[a-z]"),
    ],
)
def test_what_an_expression_tells(expression: str, expected: str) -> None:
    assert telling(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (r"(?:^|[^a-z])first[ _]?name\s{1,2}-{2}[0-9._]+", r"(?:^|[^a-z]?)firstname\s{0,2}[0-9._]*"),
        (r"a(?: |_)+b\bc-?\-{3}\.d", "a(?:|)+bcd"),
        (r"[^ _.-]\W+\w{2}\S*?", r"[^ _.-]\W*\w{0,2}\S*?"),
        (r"\x1c[ ]{6,24}x_", r"\x1cx"),
    ],
)
def test_what_is_left_of_an_expression(expression: str, expected: str) -> None:
    assert without(expression, " _.-") == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (r"[2-7a-f]{3}[0-9]\d4", r"(?:[2-7a-f]|1){3}[0-9]\d1"),
        (r"[^1-5]\x39{2,4}[^0-9]", r"(?:[^1-5]|1)\x39{2,4}[^0-9]"),
        (r"\[3\]", r"\[1\]"),
    ],
)
def test_digits_look_alike(expression: str, expected: str) -> None:
    assert digits_alike(expression) == expected


def test_an_edge_is_that_of_all_alternatives_or_none() -> None:
    assert divided("(?:^|[^a-z])(?:b|c)d") == ("(?:^|[^a-z])", "(?:b|c)d")
    assert divided("(?:^|[^a-z])b|c") == ("", "(?:^|[^a-z])b|c")
    assert divided("b(?:^|[^a-z])c") == ("", "b(?:^|[^a-z])c")


def test_a_blank_in_a_class_makes_no_phrase() -> None:
    assert has_blanks("a b")
    assert not has_blanks("a[ -]b")


@given(st.integers())
@settings(max_examples=examples(60))
def test_what_has_the_sign_of_a_run_is_long(seed: int) -> None:
    at = random.Random(seed)
    for _ in range(200):
        said = "".join(at.choice("kim@example.org Zoë Иван +49 山田\n") for _ in range(at.randrange(4, 30)))
        raw = said.encode(at.choice(("utf-8", "utf-16-le", "utf-16", "latin-1")), "replace")
        run = at.choice((base64.b64encode(raw).decode(), raw.hex(), f"0x{raw.hex()}"))
        text = screened(at.choice(("", "/", "=", "x ", "\n")) + run + at.choice(("", " ", "=", '"')))
        if 0 in matched((packed.SIGN,), text):
            assert 0 in matched((packed.LONG,), text)


@given(st.integers())
@settings(max_examples=examples(60))
def test_whoever_looks_for_keys_finds_none_where_the_gate_saw_no_sign(seed: int) -> None:
    at = random.Random(seed)
    for screen in mixed(seed):
        key = at.choice(("first_name", "F i r s t name", "d.o.b", "E-Mail", "ssn", "numéro de sécurité sociale", "PIN"))
        text = f"{key}{at.choice((':', ' = ', '  ', '....', ',', chr(10)))}" + screen[1:].decode()
        screen = screened(text)[1:]
        everywhere = [(0, len(text))]
        signs = DETECTOR._gate.look(text, screened(text)).signs
        assert "mark" in signs or not keys.places(text, screen, everywhere) or not text.isascii()
        assert "head" in signs or not keys.heads(text, screen, everywhere) or not text.isascii()
        assert "format" in signs or not formats.may_tell(text)


def test_of_many_of_a_kind_those_are_told_that_match() -> None:
    sought = {word: Sought(f"(?:^|[^a-z]){word}[0-9]", "key") for word in "abcdefghij"} | {"x": Sought("x[4-6]")}
    many: Automaton[str] = Automaton(sought)

    def seen(text: bytes) -> set[str]:
        return {*many.seen(text, text.translate(ALIKE))}

    assert seen(b" b3 and j0, not ad4 nor x7") == {"b", "j"}
    assert seen(b"x5") == {"x"}
    assert seen(b"cab1 x") == set()


def test_what_is_looked_for_again_may_be_seen_too_often() -> None:
    again: Automaton[str] = Automaton({"x": Sought("x[4-6]", is_looked_for_again=True)})
    assert [*again.seen(b"x7", b"x1")] == ["x"]
    simpler: Automaton[str] = Automaton({"x": Sought("x[a-c]{2}", simpler="x")})
    assert not simpler.seen(b"xy", b"xy")
    assert [*simpler.seen(b"xab", b"xab")] == ["x"]


def test_a_text_less_its_separators_is_looked_at_where_it_has_them() -> None:
    joined: Automaton[str] = Automaton({"x": Sought(without("first[ _]name", " _"), is_looked_for_again=True)}, " _")
    assert [*joined.seen(b"f i_rst_name", b"f i_rst_name")] == ["x"]


def test_digits_of_the_same_shape_are_told_apart_in_the_end() -> None:
    """A card is one by its first digits, and so the automaton sees more than there are."""
    found = DETECTOR.find([Text("4111 1111 1111 1111 and 1411 1111 1111 1111")])[0]
    assert [span.value for span in found] == ["4111 1111 1111 1111"]
