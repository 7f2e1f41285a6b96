"""Values that outlive a session: what a store brings, what it takes away, and where an old token may go."""

from __future__ import annotations

from typing import Any

from cloakllm_gateway.core.events import Learned, Used
from cloakllm_gateway.vault.entries import Entry, Spelling, Token
from tests.core.transcript import Conversation, opened, says, settings, text_of, upstream

CRM, MAIL = "crm", "mail"


def session(**changes: Any) -> Conversation:
    return opened(settings(upstream(CRM), upstream(MAIL), **{"persistent": True, **changes}))


def entry(number: int = 7, value: str = "ana@x.org", origin: str = "crm#0", group: str = "session") -> Entry:
    return Entry(Token("EMAIL", number), Spelling("EMAIL", value, value, value), group, frozenset({origin}))


def arguments_of(talk: Conversation, name: str) -> Any:
    return talk.only(name)["params"]["arguments"]


def test_a_token_of_an_earlier_session_goes_to_its_origin():
    talk = session().tell(Learned([entry()]))
    talk.call(1, "crm__send", {"to": "[EMAIL_7]"})
    assert arguments_of(talk, CRM) == {"to": "ana@x.org"}


def test_to_anybody_else_it_is_one_that_was_never_issued():
    talk = session().tell(Learned([entry()]))
    talk.call(1, "mail__send", {"to": "[EMAIL_7]"})
    old = text_of(talk.only())
    talk.call(2, "mail__send", {"to": "[EMAIL_8]"})
    assert text_of(talk.only()) == old.replace("EMAIL_7", "EMAIL_8")
    assert "One of an earlier session goes to the upstream that it came from" in old
    assert talk.take(MAIL) == []


def test_where_tokens_do_not_outlive_a_session_it_goes_nowhere():
    talk = session(persistent=False).tell(Learned([entry()]))
    talk.call(1, "crm__send", {"to": "[EMAIL_7]"})
    assert talk.only()["result"]["isError"] is True
    assert talk.take(CRM) == []


def test_once_shown_here_it_is_like_any_other():
    talk = session()
    talk.call(1, "crm__look").answer(CRM, says("mail ana@x.org"))
    token = text_of(talk.only()).removeprefix("mail ")
    talk.call(2, "mail__send", {"to": token})
    assert arguments_of(talk, MAIL) == {"to": "ana@x.org"}


def test_a_value_that_another_gateway_learned_is_hidden_here():
    name = Entry(Token("NAME", 3), Spelling("NAME", "Quillfeather", "Quillfeather", "quillfeather"), "session",
                 frozenset({"crm#0"}))  # fmt: skip
    talk = session().tell(Learned([name]))
    talk.call(1, "crm__look").answer(CRM, says("seen: Quillfeather"))
    assert "Quillfeather" not in text_of(talk.only())


def test_a_value_that_left_the_store_stands_for_nothing():
    talk = session().tell(Learned([entry()])).tell(Learned((), [entry().token]))
    talk.call(1, "crm__send", {"to": "[EMAIL_7]"})
    assert talk.only()["result"]["isError"] is True
    assert talk.take(CRM) == []


def test_the_store_hears_which_tokens_are_in_use():
    talk = session().tell(Learned([entry()]))
    talk.call(1, "crm__send", {"to": "[EMAIL_7]"})
    assert [effect.tokens for effect in talk.effects if isinstance(effect, Used)] == [[Token("EMAIL", 7)]]
