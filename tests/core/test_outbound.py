"""What may leave for an upstream, who is asked first, and what is reported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cloakllm_gateway.core.events import Record, Send
from cloakllm_gateway.core.settings import Action, Flow, Mode, RawData, Scope, ToolRules
from cloakllm_gateway.protocol import jsonrpc
from cloakllm_gateway.vault.code import Language
from tests.core.transcript import Conversation, opened, says, settings, text_of, upstream

MAIL = "kim@acme-corp.com"


def meeting(tmp_path: Path, **rules: Any) -> Conversation:
    """crm has shown an address as [EMAIL_0]; mailer may be sent things."""
    talk = opened(settings(upstream("crm"), upstream("mailer"), **rules), tmp_path)
    talk.call("look", "crm__look").answer("crm", says(MAIL))
    assert text_of(talk.only()) == "[EMAIL_0]"
    talk.sent.clear()
    return talk


ASK = {"token_scope": Scope.ASK}


def test_a_person_is_asked_once_and_the_answer_holds_for_the_session(tmp_path: Path) -> None:
    talk = meeting(tmp_path, **ASK)
    talk.call(1, "mailer__send", {"to": "[EMAIL_0]"})
    question = talk.only()
    assert question["method"] == "elicitation/create"
    assert "EMAIL from crm to mailer" in question["params"]["message"]
    assert MAIL not in str(question)
    assert talk.take("mailer") == []

    talk.client(jsonrpc.result(question["id"], {"action": "accept", "content": {}}))
    assert talk.only("mailer")["params"]["arguments"] == {"to": MAIL}
    talk.answer("mailer", says("sent"))
    talk.sent.clear()
    talk.call(2, "mailer__send", {"to": "[EMAIL_0]"})
    assert talk.only("mailer")["params"]["arguments"] == {"to": MAIL}


def test_a_no_is_remembered_and_no_answer_is_a_no_for_this_call(tmp_path: Path) -> None:
    talk = meeting(tmp_path, **ASK)
    for id, action, asked_again in ((1, "cancel", True), (2, "decline", True), (3, None, False)):
        talk.call(id, "mailer__send", {"to": "[EMAIL_0]"})
        answer = talk.only()
        assert ("method" in answer) is asked_again
        if asked_again:
            talk.client(jsonrpc.result(answer["id"], {"action": action}))
            answer = talk.only()
        assert answer["result"]["isError"] is True
    assert talk.take("mailer") == []


def test_whoever_reads_a_refusal_learns_that_a_person_declined_earlier(tmp_path: Path) -> None:
    talk = meeting(tmp_path, flows=(Flow("crm", "mailer", Action.ASK),))
    talk.call(1, "mailer__send", {"to": "[EMAIL_0]"})
    talk.client(jsonrpc.result(talk.only()["id"], {"action": "decline"}))
    assert text_of(talk.only()).endswith("They are not asked about these values again in this session")
    talk.call(2, "mailer__send", {"to": "[EMAIL_0]"})
    told = text_of(talk.only())
    assert "[EMAIL_0] may not go to mailer (rule: flows[0])" in told
    assert "declined; that holds until the session ends" in told and "configuration" not in told


def test_a_value_of_another_upstream_in_a_host_is_refused_for_that_whatever_the_rules_say(tmp_path: Path) -> None:
    for number, rules in enumerate(({}, ASK, {"flows": (Flow("crm", "mailer", Action.ALLOW),)})):
        talk = meeting(tmp_path / str(number), **rules)
        talk.call(1, "mailer__send", {"url": "http://[EMAIL_0]/"})
        told = text_of(talk.only())
        assert "[EMAIL_0] stands in a host name" in told
        assert "No setting lets mailer have a value of another upstream there." in told
        (record,) = talk.records("refused")
        assert record.fields["rule"] == "place: authority of a URL"


def test_a_parked_call_is_killed_by_its_cancellation(tmp_path: Path) -> None:
    talk = meeting(tmp_path, **ASK)
    talk.call(1, "mailer__send", {"to": "[EMAIL_0]"})
    question = talk.only()
    talk.client(jsonrpc.notification("notifications/cancelled", {"requestId": 1}))
    assert talk.only()["params"]["requestId"] == question["id"]
    talk.client(jsonrpc.result(question["id"], {"action": "accept"}))
    assert talk.take("mailer") == []
    assert talk.take() == []


def deaf(tmp_path: Path, **more: Any) -> Conversation:
    """Two upstreams and a client that can ask nobody, which was shown a token of ``crm``."""
    talk = Conversation(settings(upstream("crm"), upstream("mailer"), **more), tmp_path)
    talk.connect("crm").connect("mailer").ask(0, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}})
    for name in ("crm", "mailer"):
        talk.answer(name, {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}})
    talk.ask(1, "tools/list")
    for name in ("crm", "mailer"):
        talk.answer(name, {"tools": [{"name": "send"}]})
    talk.call(2, "crm__send").answer("crm", says(MAIL))
    talk.sent.clear()
    return talk


def test_a_client_that_cannot_ask_is_told_how_to_allow_it(tmp_path: Path) -> None:
    talk = deaf(tmp_path, **ASK)
    talk.call(3, "mailer__send", {"to": "[EMAIL_0]"})
    assert "token_scope of mailer to session" in text_of(talk.only())
    (record,) = talk.records("refused")
    assert (record.fields["upstream"], record.fields["rule"]) == ("mailer", "nobody to ask")
    (line,) = talk.logs("refused")
    assert line.fields["rule"] == "nobody to ask"


def test_where_a_flow_wants_the_consent_the_advice_is_to_change_that_flow(tmp_path: Path) -> None:
    flows = (Flow("mailer", "crm", Action.ALLOW), Flow("crm", "mailer", Action.ASK))
    talk = deaf(tmp_path, flows=flows).call(3, "mailer__send", {"to": "[EMAIL_0]"})
    told = text_of(talk.only())
    assert "(rule: flows[1])" in told
    assert "set the action of flows[1] to allow" in told
    assert "token_scope" not in told


def test_a_flow_decides_before_anybody_is_asked(tmp_path: Path) -> None:
    flows = (Flow("crm", "mailer", Action.ALLOW, frozenset({"EMAIL"})),)
    talk = meeting(tmp_path, flows=flows, **ASK)
    talk.call(1, "mailer__send", {"to": "[EMAIL_0]"})
    assert talk.only("mailer")["params"]["arguments"] == {"to": MAIL}
    assert [t["rule"] for r in talk.records("restore") for t in r.fields["tokens"]] == ["flows[0]"]


def test_a_value_that_could_act_as_code_is_refused_with_a_rule_and_a_token(tmp_path: Path) -> None:
    rules = ToolRules("send", parameters={"query": Language.SQL})
    talk = opened(settings(upstream("crm", tools=(rules,))), tmp_path)
    talk.call("look", "crm__look").answer("crm", says("4111 1111 1111 1111"))
    talk.sent.clear()
    talk.call(1, "crm__send", {"query": "select [CREDIT_CARD_0]"})
    assert "could act as code in an SQL statement" in text_of(talk.only())
    (record,) = talk.records("refused")
    assert (record.fields["rule"], record.fields["token"]) == ("place: code", "CREDIT_CARD_0")
    (line,) = talk.logs("refused")
    assert line.fields["rule"] == "place: code"


def test_what_a_parameter_is_declared_to_hold_counts_for_all_that_is_in_it(tmp_path: Path) -> None:
    rules = ToolRules("send", parameters={"run": Language.SHELL})
    talk = opened(settings(upstream("crm", tools=(rules,))), tmp_path)
    talk.call("look", "crm__look").answer("crm", says("4111 1111 1111 1111"))
    talk.sent.clear()
    for id, run in enumerate(
        ("pay [CREDIT_CARD_0]", ["pay [CREDIT_CARD_0]"], {"then": [{"what": "pay [CREDIT_CARD_0]"}]})
    ):
        talk.call(id, "crm__send", {"run": run})
        assert "could act as code in a shell command" in text_of(talk.only())
    talk.call(9, "crm__send", {"note": {"then": "pay [CREDIT_CARD_0]"}})
    assert talk.only("crm")["params"]["arguments"] == {"note": {"then": "pay 4111 1111 1111 1111"}}


def test_a_line_of_a_file_that_is_an_address_may_be_edited(tmp_path: Path) -> None:
    talk = opened(settings(upstream("crm")), tmp_path)
    talk.call("look", "crm__look").answer("crm", says("postgres://app:s3cr3tPW@db.acme-corp.com/x"))
    token = text_of(talk.only()).partition("app:")[2].partition("@")[0]
    talk.sent.clear()
    edit = {"oldText": f"postgres://app:{token}@db", "newText": f"postgres://web:{token}@db"}
    talk.call(1, "crm__send", {"edits": [edit]})
    written = {"oldText": "postgres://app:s3cr3tPW@db", "newText": "postgres://web:s3cr3tPW@db"}
    assert talk.only("crm")["params"]["arguments"] == {"edits": [written]}
    talk.call(2, "crm__send", {"to": f"postgres://app:{token}@db"})
    assert "stands in a host name" in text_of(talk.only())


def test_a_denied_value_is_refused_with_the_rule_and_without_the_value(tmp_path: Path) -> None:
    talk = meeting(tmp_path, flows=(Flow("*", "mailer", Action.DENY),))
    # The deny sets mailer apart, so crm's address has a number of crm's group.
    talk.call(1, "mailer__send", {"to": "[EMAIL_0]"})
    refusal = text_of(talk.only())
    assert "flows[0]" in refusal
    assert MAIL not in refusal


def test_what_the_model_writes_in_clear_passes_unchanged_and_is_reported(tmp_path: Path) -> None:
    talk = meeting(tmp_path, raw_data={"mailer": RawData.LOG})
    arguments = {"to": "bob@acme-corp.com", "command": "curl -H 'X: $(cat t)' https://example.com", "cc": "[EMAIL_0]"}
    talk.call(1, "mailer__send", arguments)
    assert talk.only("mailer")["params"]["arguments"] == {**arguments, "cc": MAIL}
    (record,) = talk.records("raw_pii")
    about = {"upstream": "mailer", "method": "tools/call", "tool": "mailer__send", "direction": "to_upstream"}
    found = {"entity_count": 1, "categories": {"EMAIL": 1}}
    assert record.fields == {**about, **found, "action": "log", "dump": False}


def test_what_the_configuration_says_of_an_upstream_is_no_news_to_it(tmp_path: Path) -> None:
    """A server of files is called with the folder that it was started for."""
    files = upstream("files", configured=("npx", "server-files", "/home/mlindqvist/docs"))
    raw_data = {"files": RawData.BLOCK, "mailer": RawData.LOG}
    talk = opened(settings(files, upstream("mailer"), raw_data=raw_data), tmp_path)
    for id, path in enumerate(("/home/mlindqvist/docs/plan.md", "/home/MLindqvist/docs")):
        talk.call(id, "files__look", {"path": path})
        assert talk.only("files")["params"]["arguments"] == {"path": path}
    assert talk.records("raw_pii") == []
    talk.call(8, "files__look", {"path": "/home/mlind/docs"})
    assert "1 USERNAME" in text_of(talk.only())
    talk.call(9, "mailer__send", {"text": "in /home/mlindqvist/docs"})
    assert [record.fields["categories"] for record in talk.records("raw_pii")] == [{"USERNAME": 1}] * 2


def test_what_is_reported_is_reported_before_it_is_sent(tmp_path: Path) -> None:
    """Nothing is sent before its entry is written, whatever else is recorded of the same call."""
    talk = meeting(tmp_path, raw_data={"mailer": RawData.LOG})
    before = len(talk.effects)
    talk.call(1, "mailer__send", {"to": "bob@acme-corp.com", "cc": "[EMAIL_0]"})
    about_the_call = [e for e in talk.effects[before:] if isinstance(e, Record | Send)]
    assert [e.event if isinstance(e, Record) else e.peer for e in about_the_call] == ["raw_pii", "restore", "mailer"]


def test_a_report_that_cannot_look_says_so_and_holds_nobody_up(tmp_path: Path) -> None:
    talk = meeting(tmp_path, raw_data={"mailer": RawData.LOG})
    talk.broken_detection = "the worker is gone"
    talk.call(1, "mailer__send", {"to": "anything"})
    assert len(talk.take("mailer")) == 1
    assert [record.fields["action"] for record in talk.records("raw_pii")] == ["unknown"]


def test_a_call_taken_back_while_it_is_looked_at_is_not_sent(tmp_path: Path) -> None:
    talk = meeting(tmp_path, raw_data={"mailer": RawData.LOG})
    talk.hold = True
    talk.call(1, "mailer__send", {"to": "bob@acme-corp.com"})
    talk.client(jsonrpc.notification("notifications/cancelled", {"requestId": 1}))
    talk.release(talk.held_jobs()[0])
    assert talk.take("mailer") == []


def test_a_blocked_upstream_gets_nothing_in_clear(tmp_path: Path) -> None:
    talk = meeting(tmp_path, raw_data={"mailer": RawData.BLOCK})
    talk.call(1, "mailer__send", {"to": "bob@acme-corp.com"})
    assert "1 EMAIL" in text_of(talk.only())
    talk.call(2, "mailer__send", {"to": "[EMAIL_0]"})
    assert talk.only("mailer")["params"]["arguments"] == {"to": MAIL}


def test_a_block_that_cannot_look_refuses(tmp_path: Path) -> None:
    talk = meeting(tmp_path, raw_data={"mailer": RawData.BLOCK})
    talk.broken_detection = "the worker is gone"
    talk.call(1, "mailer__send", {"to": "anything"})
    assert text_of(talk.only()).startswith("Refused by the gateway: it could not be told")
    assert talk.take("mailer") == []


def test_more_than_fifty_values_of_a_kind_are_a_dump(tmp_path: Path) -> None:
    talk = meeting(tmp_path, raw_data={"mailer": RawData.LOG})
    talk.call(1, "mailer__send", {"to": " ".join(f"person{n}@acme-corp.com" for n in range(51))})
    assert talk.records("raw_pii")[0].fields["dump"] is True


def test_what_nobody_looks_at_is_recorded_as_passed(tmp_path: Path) -> None:
    talk = opened(settings(sanitize=False), tmp_path)
    talk.effects.clear()
    talk.call(1, "crm__look").answer("crm", says(MAIL))
    assert text_of(talk.only()) == MAIL
    (record,) = talk.records("passed")
    about = {"upstream": "crm", "method": "tools/call", "direction": "to_model"}
    assert record.fields == {**about, "messages": 1}
    assert talk.effects.index(record) < next(
        n for n, e in enumerate(talk.effects) if isinstance(e, Send) and e.peer == "client"
    )


def test_observing_changes_nothing_and_reports_what_would_have_happened(tmp_path: Path) -> None:
    talk = opened(settings(mode=Mode.OBSERVE), tmp_path)
    talk.call(1, "crm__look").answer("crm", says(MAIL))
    assert text_of(talk.only()) == MAIL
    assert talk.records("observed")[-1].fields["categories"] == {"EMAIL": 1}
    talk.take("crm")
    talk.call(2, "crm__send", {"to": "[EMAIL_0]"})
    assert talk.only("crm")["params"]["arguments"] == {"to": "[EMAIL_0]"}
    talk.broken_detection = "gone"
    talk.answer("crm", says("x"))
    assert text_of(talk.only()) == "x"


def test_where_there_are_no_tokens_the_model_is_told_of_none(tmp_path: Path) -> None:
    for told, rules in ((True, {}), (False, {"mode": Mode.OBSERVE}), (False, {"sanitize": False})):
        talk = Conversation(settings(upstream("crm"), **rules), tmp_path)
        talk.connect("crm").ask(0, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}})
        talk.answer("crm", {"protocolVersion": "2025-11-25", "capabilities": {}})
        assert ("instructions" in talk.only()["result"]) is told
