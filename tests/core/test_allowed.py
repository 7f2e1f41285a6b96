"""A value of the allow list is shown, whatever is known and whatever else is found."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloakllm_gateway.spans import Proof
from tests.core.session import Session

SUPPORT = "support@example.com"


def test_an_address_is_allowed_in_any_case_and_stays_so():
    session = Session(SUPPORT)
    for text in (SUPPORT, "Support@Example.com", SUPPORT, f"SUPPORT@example.com {SUPPORT}"):
        assert session.shown(text) == text


@settings(max_examples=20)
@given(st.lists(st.sampled_from([str.upper, str.lower, str.title, str.swapcase, str]), min_size=1, max_size=4))
def test_no_spelling_hides_another_one(ways):
    session = Session("Help.Desk@example.com", "DE89 3704 0044 0532 0130 00")
    for way in ways:
        for text in (f"mail {way('Help.Desk@example.com')} now", "pay DE89370400440532013000"):
            assert session.shown(text) == text


def test_a_value_that_is_known_from_before_is_shown_in_each_spelling():
    session = Session(SUPPORT, "+49 30 901820-12")
    session.learn("EMAIL", "Support@Example.com", SUPPORT)
    session.learn("PHONE", "+493090182012", "+493090182012")
    text = f"{SUPPORT} Support@Example.com, +493090182012, +49 30 901820-12"
    assert session.shown(text) == text


def test_a_part_of_an_allowed_value_is_shown_in_it_and_hidden_elsewhere():
    session = Session("helpdesk@example.com", deny=["example.com"])
    session.learn("USERNAME", "helpdesk", "helpdesk")
    text = "helpdesk@example.com and HelpDesk@example.com"
    assert session.shown(text) == text
    assert session.shown("helpdesk at example.com") == "[USERNAME_0] at [TERM_0]"


def test_a_value_of_which_an_allowed_one_is_a_part_is_hidden_whole():
    session = Session("roe@example.com", "Jane")
    session.learn("PERSON", "Jane Roe", "jane roe", Proof.NAME)
    assert session.shown("jane.roe@example.com, Jane Roe, Jane") == "[EMAIL_0], [PERSON_0], Jane"


def test_neither_the_reply_to_a_call_nor_an_encoding_hides_an_allowed_value():
    session = Session("Roe", SUPPORT)
    jane = session.learn("PERSON", "Jane Roe", "jane roe", Proof.NAME)
    assert session.shown("no Jane, no Roe", restored=[jane]) == "no [PERSON_1], no Roe"
    session.learn("EMAIL", SUPPORT, SUPPORT)
    assert session.shown("https://x.org/?to=support%40example.com") == "https://x.org/?to=support%40example.com"


@pytest.mark.parametrize("value", ["Hunter2-secret", "x" * 200])
def test_where_case_counts_another_case_is_another_value(value):
    session = Session(value)
    session.learn("SECRET", value.swapcase(), value.swapcase())
    assert session.shown(f"{value} {value.swapcase()}") == f"{value} [SECRET_0]"


def test_data_that_looks_like_a_token_is_hidden_even_if_it_is_allowed():
    assert Session("[EMAIL_0]").shown("see [EMAIL_0]") == "see [LITERAL_0]"
