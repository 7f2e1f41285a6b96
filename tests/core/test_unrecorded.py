"""An audit log that can't be written: nothing behind its entry leaves, and everybody who waits is answered once."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import Any

import pytest

from cloakllm_gateway.audit import schema
from cloakllm_gateway.core import texts
from cloakllm_gateway.core.events import CLIENT, Event, Record, RecordFailed, Send
from cloakllm_gateway.core.settings import Mode, RawData, Scope
from cloakllm_gateway.protocol import jsonrpc
from tests.core.transcript import HELLO, Conversation, opened, says, settings, text_of, upstream

MAIL = "kim@acme-corp.com"


class Audited(Conversation):
    """Keeps to what the interpreter promises: behind an entry that can't be written, nothing is sent."""

    full = False

    def tell(self, event: Event) -> Conversation:
        waiting = deque([event])
        while waiting:
            unrecorded, unsent = False, []
            for effect in self.gateway.handle(waiting.popleft()):
                unrecorded = unrecorded or (self.full and isinstance(effect, Record))
                if unrecorded and isinstance(effect, Send):
                    unsent.append(effect)
                    continue
                self.effects.append(effect)
                if answer := self._perform(effect):
                    waiting.append(answer)
            if unsent:
                waiting.append(RecordFailed(unsent))
        return self


@pytest.fixture
def talk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Audited:
    monkeypatch.setattr("tests.core.transcript.Conversation", Audited)
    talk = opened(settings(upstream("crm"), upstream("mailer")), tmp_path)
    assert isinstance(talk, Audited)
    talk.call("first", "crm__look").answer("crm", says(MAIL))
    talk.sent.clear()
    talk.full = True
    return talk


def test_a_tools_answer_becomes_a_tool_error_that_holds_nothing_of_it(talk: Audited) -> None:
    talk.call(1, "crm__look").answer("crm", says("mail jo@acme-corp.com"))
    answer = talk.only()
    assert answer["id"] == 1 and answer["result"]["isError"] is True
    assert text_of(answer) == texts.UNRECORDED_ANSWER


def test_another_answer_becomes_an_error_of_the_protocol(talk: Audited) -> None:
    talk.ask(1, "tools/list")
    for name in ("crm", "mailer"):
        talk.answer(name, {"tools": []})
    assert talk.only()["error"]["message"] == texts.UNRECORDED_ANSWER


def test_a_call_that_would_have_carried_a_value_does_not_go_and_is_answered(talk: Audited) -> None:
    talk.call(1, "mailer__send", {"to": "[EMAIL_0]"})
    assert talk.take("mailer") == []
    assert text_of(talk.only()) == texts.UNRECORDED
    assert not [timer for timer in talk.timers if timer.purpose == "call"]


def test_a_refusal_is_answered_without_its_reason(talk: Audited) -> None:
    talk.call(1, "mailer__send", {"to": "[EMAIL_7]"})
    assert text_of(talk.only()) == texts.UNRECORDED_ANSWER


def test_a_question_of_an_upstream_comes_back_to_it_as_an_error(talk: Audited) -> None:
    talk.upstream("crm", jsonrpc.request(9, "elicitation/create", {"message": "Who?", "requestedSchema": {}}))
    assert talk.take() == []
    answer = talk.only("crm")
    assert (answer["id"], answer["error"]["message"]) == (9, texts.UNRECORDED)


def test_an_answer_to_an_upstreams_question_comes_back_as_an_error(talk: Audited) -> None:
    talk.full = False
    talk.upstream("crm", jsonrpc.request(9, "sampling/createMessage", {"messages": [], "maxTokens": 5}))
    question = talk.only()
    talk.full = True
    said = {"role": "assistant", "content": {"type": "text", "text": "to [EMAIL_0]"}, "model": "m"}
    talk.client(jsonrpc.result(question["id"], said))
    answer = talk.only("crm")
    assert (answer["id"], answer["error"]["message"]) == (9, texts.UNRECORDED)


def test_a_notification_stays_here(talk: Audited) -> None:
    talk.upstream("crm", jsonrpc.notification("notifications/message", {"level": "info", "data": MAIL}))
    assert talk.take() == []


def test_once_it_can_be_written_again_everything_goes_on(talk: Audited) -> None:
    talk.call(1, "mailer__send", {"to": "[EMAIL_0]"})
    talk.take()
    talk.full = False
    talk.call(2, "mailer__send", {"to": "[EMAIL_0]"})
    assert talk.only("mailer")["params"]["arguments"] == {"to": MAIL}
    talk.answer("mailer", says("done"))
    assert text_of(talk.only()) == "done"


def test_what_needs_no_entry_is_answered(talk: Audited) -> None:
    talk.ask(1, "ping")
    assert talk.only()["result"] == {}


def test_a_greeting_that_can_not_be_recorded_is_refused(tmp_path: Path) -> None:
    talk = Audited(settings(), tmp_path)
    talk.full = True
    talk.connect("crm").ask("hello", "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}})
    talk.answer("crm", {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {}})
    assert talk.only()["error"]["message"] == texts.UNRECORDED_ANSWER


def test_every_entry_of_a_session_is_one_that_the_schema_knows(tmp_path: Path) -> None:
    """The core and the table of the audit agree on what an entry holds."""
    talk = opened(settings(upstream("crm"), upstream("mailer"), raw_data={"crm": RawData.LOG}), tmp_path)
    for broken in ("", "the detector is gone"):
        talk.broken_detection = broken
        talk.call(f"1{broken}", "crm__look", {"to": "jo@acme-corp.com"}).answer("crm", says(MAIL))
        talk.upstream("crm", jsonrpc.notification("notifications/message", {"level": "info", "data": MAIL}))
        talk.upstream("crm", jsonrpc.notification("notifications/evil\x1b", {"data": MAIL}))
        talk.call(f"2{broken}", "mailer__send", {"to": "[EMAIL_0]"})
        talk.call(f"3{broken}", "mailer__send", {"to": "[EMAIL_77]"})
    talk.disconnect("crm", final=True)
    records = [effect for effect in talk.effects if isinstance(effect, Record)]
    assert {record.event for record in records} == {
        "upstream_start", "sanitize", "restore", "refused", "withheld", "raw_pii", "upstream_crash",
    }  # fmt: skip
    for record in records:
        entry: dict[str, Any] = schema.body(record.event, record.fields)
        assert MAIL not in str(entry) and "#" not in str(entry)


def test_what_a_person_said_is_recorded_or_the_call_stays_here(tmp_path: Path) -> None:
    asking = settings(upstream("crm"), upstream("mailer"), token_scope=Scope.ASK)
    for full in (False, True):
        talk = Audited(asking, tmp_path)
        talk.connect("crm").connect("mailer").ask(0, "initialize", HELLO)
        for name in ("crm", "mailer"):
            talk.answer(name, {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}})
        talk.client(jsonrpc.notification("notifications/initialized")).ask(1, "tools/list")
        for name in ("crm", "mailer"):
            talk.answer(name, {"tools": [{"name": "send", "inputSchema": {"type": "object"}}]})
        talk.call(2, "crm__send").answer("crm", says(MAIL))
        talk.sent.clear()
        talk.call(3, "mailer__send", {"to": text_of_token(talk)})
        question = talk.only()
        talk.full = full
        talk.client(jsonrpc.result(question["id"], {"action": "accept", "content": {}}))
        if full:
            assert talk.take("mailer") == [] and text_of(talk.only()) == texts.UNRECORDED
        else:
            assert len(talk.take("mailer")) == 1
            (asked,) = talk.records("asked")
            entry = schema.body(asked.event, asked.fields)
            assert (entry["allowed"], entry["tool"], entry["upstream"]) == (True, "mailer__send", "mailer")


def text_of_token(talk: Conversation) -> str:
    """The token that the session was shown."""
    (token,) = talk.vault.shown_of("EMAIL")
    return str(token)


def test_what_would_have_been_hidden_is_an_entry(tmp_path: Path) -> None:
    talk = opened(settings(mode=Mode.OBSERVE), tmp_path)
    talk.call(1, "crm__look").answer("crm", says(MAIL))
    talk.broken_detection = "the detector is gone"
    talk.call(2, "crm__look").answer("crm", says(MAIL))
    found = [schema.body(record.event, record.fields) for record in talk.records("observed")]
    assert [(e["categories"], e["reason"]) for e in found[-2:]] == [({"EMAIL": 1}, ""), ({}, "the detector is gone")]


def test_a_call_with_many_tokens_fills_several_entries(tmp_path: Path) -> None:
    talk = opened(settings(), tmp_path)
    talk.call(1, "crm__look").answer("crm", says(" ".join(f"u{n}@acme-corp.com" for n in range(250))))
    talk.call(2, "crm__send", {"to": " ".join(f"[EMAIL_{n}]" for n in range(250))})
    found = talk.records("restore")
    assert [record.fields["entity_count"] for record in found] == [100, 100, 50]
    tokens = [token for record in found for token in record.fields["tokens"]]
    assert tokens[0] == {"token": "EMAIL_0", "from": ["crm"], "rule": "origin", "foreign": False}
    assert len({token["token"] for token in tokens}) == 250


def test_only_the_entry_itself_and_what_is_behind_it_waits_for_it(tmp_path: Path) -> None:
    """Effects are performed in order, so an entry stands before the message it is about."""
    talk = opened(settings(), tmp_path)
    talk.effects.clear()
    talk.call(1, "crm__look").answer("crm", says(MAIL))
    talk.call(2, "crm__send", {"to": "[EMAIL_0]"})
    kinds = [
        (type(e), getattr(e, "peer", getattr(e, "event", ""))) for e in talk.effects if isinstance(e, Record | Send)
    ]
    assert kinds == [
        (Send, "crm"), (Record, "sanitize"), (Send, CLIENT), (Record, "restore"), (Send, "crm"),
    ]  # fmt: skip
