"""The grammar: one function says what restore accepts and what data may not hold."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloakllm_gateway.vault.entries import Token
from cloakllm_gateway.vault.tokens import is_category, may_hold, near_misses, redactions, scan
from tests.cost import Work, compare

CATEGORIES = frozenset({"EMAIL", "PHONE", "CREDIT_CARD", "PERSON"})
EMAIL_0 = Token("EMAIL", 0)
LONG = 70_000

NAMES = st.from_regex(r"[A-Z][A-Z0-9]{0,5}(_[A-Z0-9]{1,4}){0,2}", fullmatch=True).filter(is_category)
TOKENS = st.builds(Token, NAMES, st.integers(0, 999_999_999), st.one_of(st.just(0), st.integers(1, 999_999_999)))
PIECES = [
    "[", "]", "\\", "%5B", "%5b", "%5D", "%255B", "%255D", "_", "\\_", "%5F", "EMAIL", "email", "A", "0", "12", "x",
    "[EMAIL_0]", "\\[EMAIL_1\\]", " ", "é", "\n", "İ",
]  # fmt: skip
SCRAPS = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)
TEXTS = st.one_of(st.text(max_size=60), SCRAPS)


def written(token: Token, lower: bool, brackets: str, underscore: str) -> str:
    body = str(token)[1:-1]
    body = (body.lower() if lower else body).replace("_", underscore)
    before, after = brackets.split()
    return before + body + after


@given(TEXTS)
def test_matches_are_disjoint_sorted_and_each_slices_to_a_form_of_the_grammar(text):
    end = 0
    for match in scan(text):
        assert match.start >= end
        end = match.end
        piece = text[match.start : match.end]
        assert scan(piece) == [match._replace(start=0, end=len(piece))]
        assert (
            re.sub(r"\\|%(25)?5[BbDdFf]|[\[\]]", lambda m: "_" if m[0][-1] in "Ff" else "", piece).upper()
            == (str(match.token)[1:-1])
        )
        assert match.exact == (piece == str(match.token))


@given(
    TOKENS,
    st.booleans(),
    st.sampled_from(["[ ]", "\\[ \\]", "%5B %5D", "%5b %5d", "%255B %255D", "%255b %255d"]),
    st.sampled_from(["_", "\\_"]),
    st.sampled_from(["", "a", " ", "\t", "`", "**", "\\", "(", "[", "é"]),
    st.sampled_from(["", "s", " ", "\n", "`", "**", ".", ")", "]"]),
)
def test_a_token_is_found_in_any_case_and_escaping_and_nothing_around_it_is_taken(
    token, lower, brackets, underscore, before, after
):
    form = written(token, lower, brackets, underscore)
    text = before + form + after
    assert [(m.start, m.end, m.token) for m in scan(text)] == [(len(before), len(before) + len(form), token)]


@given(TOKENS)
def test_what_the_gateway_writes_is_exact(token):
    assert [m.exact for m in scan(f"{token}{token} {str(token).lower()}")] == [
        True,
        True,
        str(token).lower() == str(token),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "MY_EMAIL_1_TEMPLATE", "EMAIL_1", "[A-Z_0]", "d[EMAIL_KEY]", "[EMAIL_]", "[_0]", "[EMAIL]", "[EMAIL-0]",
        "[ EMAIL_0 ]", "[EMAIL_O]", "[EMAIL_0", "EMAIL_0]", "[EMAIL_1_2_3]", "[EMAIL_007]", "[EMAIL_0_0]",
        "[CREDIT_CARD_4111111111111111]", "[EMAIL_٣]", "[ＥMAIL_0]", "[\u212aEY_0]", "%5BEMAIL_0]", "[EMAIL_0\\]",
        "%255BEMAIL_0%5D", "[EMAIL__0]",
    ],
)  # fmt: skip
def test_what_is_no_token(text):
    assert scan(text) == []


def test_whether_a_category_exists_is_left_to_the_caller():
    assert [m.token for m in scan("x = arr[ITEM_3]")] == [Token("ITEM", 3)]


def test_a_backslash_before_a_plain_token_stays_as_in_a_windows_path():
    assert [(m.start, m.end) for m in scan(r"C:\mail\[EMAIL_0].txt")] == [(8, 17)]


def test_an_adjacent_or_nested_look_alike_yields_only_whole_tokens():
    text = "[EMAIL_[EMAIL_0]][EMAIL_1][EMAIL_10]"
    assert [text[m.start : m.end] for m in scan(text)] == ["[EMAIL_0]", "[EMAIL_1]", "[EMAIL_10]"]


@pytest.mark.parametrize("piece", ["[", "[A", "[A_", "[A_0", "\\[A_0\\", "%5B", "%5BA_", "[EMAIL_0] ", "[A" + "_0" * 9])
def test_scanning_is_linear(piece):
    def work(size: int) -> Work:
        text = piece * (size // len(piece))
        return lambda: (scan(text), near_misses(text, CATEGORIES, whole=True))

    compare(work(40_000), work(160_000), most=8, slack=0.01)


# -- near misses -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("EMAIL_0", "EMAIL"), ("[EMAIL-0]", "EMAIL"), ("[ EMAIL_0 ]", "EMAIL"), ("[EMAIL_O]", "EMAIL"),
        ("{EMAIL_0}", "EMAIL"), ("<EMAIL_0>", "EMAIL"), ("(EMAIL_0)", "EMAIL"), ("[EMAIL_0", "EMAIL"),
        ("[EMAIL 0]", "EMAIL"), ("[EMAIL_007]", "EMAIL"), ("[EMAIL_1_2_3]", "EMAIL"), ("［EMAIL_0］", "EMAIL"),
        ("%5BEMAIL-0%5D", "EMAIL"), ("&#91;EMAIL_0&#93;", "EMAIL"), ("[credit card 0]", "CREDIT_CARD"),
        ("CREDIT_CARD_12", "CREDIT_CARD"), ("%5BEMAIL_0]", "EMAIL"), ("[EMAIL_0\\]", "EMAIL"),
        ("[PHONE_9999999999]", "PHONE"),
    ],
)  # fmt: skip
def test_a_damaged_token_as_a_whole_argument_is_a_near_miss(text, category):
    assert near_misses(text, CATEGORIES, whole=True) == [(0, len(text), category, text)]


def test_in_a_longer_text_only_bracketed_damage_counts():
    text = "mail [EMAIL-0] and EMAIL_1, {PHONE_2}"
    assert [(m.category, m.written) for m in near_misses(text, CATEGORIES, whole=True)] == [("EMAIL", "[EMAIL-0]")]


@pytest.mark.parametrize(
    "text",
    [
        "[EMAIL_0]", "\\[EMAIL\\_0\\]", "%5bemail_0%5d", "see `[EMAIL_0]`", "row[EMAIL-1]", "f()[PHONE-0]",
        "x = arr[ITEM_3]; y = d[EMAIL_KEY]; re='[A-Z_0]'", "MY_EMAIL_1_TEMPLATE", "phone_1", "email-1", "EMAIL", "",
        "ITEM_3", "[TODO-1]",
    ],
)  # fmt: skip
def test_tokens_code_and_column_names_are_no_near_misses(text):
    assert near_misses(text, CATEGORIES, whole=True) == []


@pytest.mark.parametrize(
    "damaged",
    [
        "[EMAIL_\n0]",
        "[EMAIL\r\n_0]",
        "[\nEMAIL_0]",
        "[EMAIL_0\n]",
        "[EMAIL\u200b_0]",
        "[\ufeffEMAIL_0]",
        "[EMAIL_0\ufe0f]",
    ],
)
def test_a_token_that_was_wrapped_or_holds_something_unseen_is_a_near_miss_in_any_text(damaged):
    text = f"mail {damaged}, please"
    assert [(m.category, m.written) for m in near_misses(text, CATEGORIES, whole=True)] == [("EMAIL", damaged)]


DAMAGED = [
    "[EMAIL-0]",
    "[ \nEMAIL_O]",
    "\\[EMAIL 0\\]",
    "\\u005bEMAIL_0\\u005d",
    "&#91;EMAIL_0&#93;",
    "［EMAIL_0］",
    "【EMAIL_0】",
]


@given(st.one_of(TEXTS, st.sampled_from([*DAMAGED, "[SSN_REDACTED]"])), st.sampled_from(["a word ", "\n", '["', "_-"]))
def test_a_text_that_holds_a_token_or_a_damaged_one_may_hold_one_however_long_it_is(text, filling):
    if scan(text) or near_misses(text, CATEGORIES, whole=False) or redactions(text):
        assert may_hold(text)
        assert may_hold(filling * LONG + text)
        assert may_hold(text + filling * LONG)


def test_long_lists_of_strings_numbers_and_objects_may_hold_no_token():
    assert not may_hold('{"tags": ["blue", "re-used"], "sizes": [1, 2], "parts": [[{"id": "AB_1"}], []]}\n' * LONG)


@given(TEXTS)
def test_near_misses_are_disjoint_and_repeat_what_was_written(text):
    tokens = {(m.start, m.end) for m in scan(text)}
    end = 0
    for miss in near_misses(text, CATEGORIES, whole=False):
        assert miss.start >= end
        end = miss.end
        assert text[miss.start : miss.end] == miss.written
        assert (miss.start, miss.end) not in tokens
        assert miss.category in CATEGORIES
