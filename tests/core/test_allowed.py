"""A value of the allow list is shown, whatever is known and whatever else is found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloakllm_gateway.core.allowed import Allowed
from cloakllm_gateway.core.handles import Handles
from cloakllm_gateway.core.sanitizer import Sanitizing, Source, drive
from cloakllm_gateway.detection.catalogue import CATALOGUE
from cloakllm_gateway.detection.engine import Detector
from cloakllm_gateway.detection.settings import Settings
from cloakllm_gateway.protocol.surface import DATA
from cloakllm_gateway.shell.stores.book import Book
from cloakllm_gateway.shell.stores.interface import DEFAULT_QUOTAS
from cloakllm_gateway.spans import Proof, Span, Text
from cloakllm_gateway.vault.entries import Entry, Spelling
from cloakllm_gateway.vault.vault import Vault

ORIGIN = "desk#0"
SUPPORT = "support@example.com"


class Session:
    """Texts of one upstream on their way to the model, one after the other, with lists of the configuration."""

    def __init__(self, *allow: str, deny: Sequence[str] = ()) -> None:
        self._detector = Detector(Settings(allow_list=frozenset(allow), deny_list=frozenset(deny)))
        self._allowed = Allowed(allow)
        self._vault, self._handles = Vault(), Handles()
        self._book, self._given = Book(DEFAULT_QUOTAS, lambda purpose, parts: (purpose, *parts)), Counter[str]()

    def _number(self, category: str) -> int:
        self._given[category] += 1
        return self._given[category] - 1

    async def assign(self, spellings: Sequence[Spelling]) -> Sequence[Entry]:
        found = self._book.look("test", "session", ORIGIN, spellings)
        changes, entries = self._book.settle(found, self._number, now=0.0)
        self._book.apply(changes)
        self._vault.learn(entries)
        return entries

    def learn(self, category: str, value: str, canonical: str = "", proof: Proof = Proof.SHAPE) -> Entry:
        """Make a value known, as if from an earlier session without an allow list."""
        spelling = Spelling(category, value, value, canonical or value, proof=proof)
        return anyio.run(self.assign, [spelling])[0]

    def shown(self, part: Any, restored: Sequence[Entry] = ()) -> Any:
        """``part`` as the model gets it."""

        async def find(texts: Sequence[Text]) -> Sequence[Sequence[Span]]:
            return self._detector.find(texts)

        categories = frozenset((*CATALOGUE, "LITERAL"))
        source = Source(
            ORIGIN, "session", self._vault, self._handles, categories, allowed=self._allowed, restored=restored
        )

        async def run() -> Any:
            return (await drive(Sanitizing(part, DATA, source), find, self.assign)).part

        return anyio.run(run)


def test_an_address_is_allowed_in_any_case_and_stays_so():
    session = Session(SUPPORT)
    for text in (SUPPORT, "Support@Example.com", SUPPORT, f"SUPPORT@example.com {SUPPORT}"):
        assert session.shown(text) == text


@settings(max_examples=20, deadline=None)
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


def test_a_term_has_one_number_in_any_case():
    shown = Session(deny=["Falke"]).shown("falke FALKE Falke, falke")
    assert shown == "[TERM_0] [TERM_0_1] [TERM_0_2], [TERM_0]"
