"""One value has one number, however it came to be found."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.session import Session


def test_a_term_has_one_number_in_any_case():
    shown = Session(deny=["Falke"]).shown("falke FALKE Falke, falke")
    assert shown == "[TERM_0] [TERM_0_1] [TERM_0_2], [TERM_0]"


def test_what_a_cut_left_of_a_name_has_the_number_of_that_name():
    session = Session(deny=["Rechnung 2024-118"], people=["Max", "Max Rechnung"])
    shown = session.shown("I met Max yesterday.\nhi Max Rechnung 2024-118 done. Max again.")
    assert shown == "I met [PERSON_0] yesterday.\nhi [PERSON_0] [TERM_0] done. [PERSON_0] again."


@settings(max_examples=25)
@given(st.permutations(["Max is here", "hi MAX Falke", "Max Falke?", "falke max", "the FALKE"]))
def test_in_whatever_order_a_value_is_met_its_number_is_one(texts):
    session = Session(deny=["Falke"], people=["MAX Falke", "Max Falke", "Max", "MAX"])
    shown = " ".join(map(session.shown, texts))
    assert "PERSON_1" not in shown
    assert "TERM_1" not in shown
    assert shown.count("[PERSON_0") == 3
    assert shown.count("[TERM_0") == 4


def test_a_name_has_one_number_whether_its_title_or_its_key_tells_it():
    session = Session(people=["Jane Roe"])
    assert session.shown("Then Jane Roe left, Mrs. Jane Roe said.") == "Then [PERSON_0] left, [PERSON_0_1] said."
    assert session.shown({"full_name": "Dr. JANE ROE"}) == {"full_name": "[PERSON_0_2]"}


def test_what_a_cut_left_that_is_no_value_of_its_kind_is_told_by_its_own_text():
    session = Session(deny=["beta@x.org"])
    assert session.shown("alpha.beta@x.org; gamma.beta@x.org") == "[EMAIL_0].[TERM_0]; [EMAIL_1].[TERM_0]"
