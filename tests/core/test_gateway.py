"""The session as a conversation."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pytest

from cloakllm_gateway.core.events import Assign, Drop, LogOutput, Record, Scan, ScanFailed, Send, Timer
from cloakllm_gateway.core.greeting import NOISE
from cloakllm_gateway.core.settings import Action, Flow, Scope
from cloakllm_gateway.protocol import jsonrpc
from tests.core.transcript import HELLO, LITTLE, SERVES, Conversation, opened, says, settings, text_of, upstream

MAIL = "kim@acme-corp.com"


@pytest.fixture
def talk(tmp_path: Path) -> Conversation:
    return opened(settings(), tmp_path)


def test_a_result_reaches_the_model_tokenized_and_the_tool_gets_the_value_back(talk: Conversation) -> None:
    talk.call(1, "crm__look").answer("crm", says(f"mail {MAIL}"))
    assert text_of(talk.only()) == "mail [EMAIL_0]"

    talk.take("crm")
    talk.call(2, "crm__send", {"to": "[EMAIL_0]"})
    assert talk.only("crm")["params"] == {"name": "send", "arguments": {"to": MAIL}}


def test_no_token_leaves_before_its_mapping_is_durable_and_its_entry_written(talk: Conversation) -> None:
    talk.effects.clear()
    talk.call(1, "crm__look").answer("crm", says(MAIL))
    kinds = [type(e) for e in talk.effects if isinstance(e, Assign | Record | Send)]
    assert kinds[-3:] == [Assign, Record, Send]


def test_the_handshake_waits_for_all_upstreams_and_announces_the_union(tmp_path: Path) -> None:
    talk = Conversation(settings(upstream("a"), upstream("b")), tmp_path)
    talk.connect("a").ask(0, "initialize", HELLO)
    hello: dict[str, Any] = {"protocolVersion": "2025-11-25", "serverInfo": {"name": "x", "version": "1"}}
    talk.answer("a", {**hello, "capabilities": {"tools": {}}, "instructions": f"Owner {MAIL}"})
    assert talk.take() == []

    talk.connect("b").answer("b", {**hello, "capabilities": {"tools": {"listChanged": True}, "logging": {}}})
    result = talk.only()["result"]
    assert result["capabilities"] == {"tools": {"listChanged": True}, "logging": {}}
    assert result["instructions"].startswith("a: Owner [EMAIL_0]\n\n")
    assert result["serverInfo"]["name"] == "cloakllm-gateway"


def test_the_handshake_is_answered_with_those_that_are_ready_in_time(tmp_path: Path) -> None:
    talk = Conversation(settings(upstream("a"), upstream("b")), tmp_path)
    talk.connect("a").ask(0, "initialize", HELLO)
    talk.answer("a", {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}})
    talk.elapse(Timer("startup"))
    assert talk.only()["result"]["capabilities"]["tools"] == {"listChanged": True}

    talk.client(jsonrpc.notification("notifications/initialized"))
    talk.connect("b").answer("b", {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}})
    talk.elapse(Timer("list changed", subject="tools"))
    assert talk.only() == jsonrpc.notification("notifications/tools/list_changed")


def test_the_handshake_does_not_wait_for_one_that_ends_again_and_again(tmp_path: Path) -> None:
    talk = Conversation(settings(upstream("a"), upstream("b")), tmp_path)
    talk.connect("a").ask(0, "initialize", HELLO)
    talk.answer("a", {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}})
    talk.connect("b").disconnect("b")
    assert talk.take() == []  # once may be an accident
    talk.connect("b").disconnect("b")
    assert "result" in talk.only()
    talk.connect("b").answer("b", {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}})
    talk.client(jsonrpc.notification("notifications/initialized"))
    talk.call(1, "b__look")
    assert "not available" not in str(talk.take())


def test_where_nobody_is_ready_the_handshake_waits_for_one_that_ends_again_and_again(tmp_path: Path) -> None:
    talk = Conversation(settings(), tmp_path)
    talk.connect("crm").ask(0, "initialize", HELLO)
    for _ in range(3):
        talk.disconnect("crm").connect("crm")
    assert talk.take() == []
    talk.answer("crm", {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}})
    assert "result" in talk.only()


def test_nobody_ready_is_an_error_that_says_why(tmp_path: Path) -> None:
    talk = Conversation(settings(), tmp_path)
    talk.ask(0, "initialize", HELLO).disconnect("crm", "the command was not found", final=True)
    assert talk.only()["error"]["message"] == "No upstream is ready: crm: the command was not found"


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {"name": "b__look", "arguments": {}}),
        ("prompts/get", {"name": "b__look"}),
        ("resources/read", {"uri": "crm://b/1"}),
        ("completion/complete", {"ref": {"type": "ref/prompt", "name": "b__look"}, "argument": {"name": "x"}}),
    ],
)
def test_who_asks_for_what_nobody_has_is_told_which_upstreams_may_have_it(
    tmp_path: Path, method: str, params: dict[str, Any]
) -> None:
    talk = Conversation(settings(upstream("a"), upstream("b")), tmp_path)
    talk.connect("a").ask(0, "initialize", HELLO)
    talk.answer("a", {"protocolVersion": "2025-11-25", "capabilities": {}})
    talk.disconnect("b", "the command was not found", final=True).take()
    talk.ask(1, method, params)
    refused = talk.only()
    said = text_of(refused) if "result" in refused else refused["error"]["message"]
    assert said.endswith(". Upstreams that are not ready are missing there: b. The log of the gateway says why")
    assert "not found" not in said


def test_upstreams_that_settle_on_different_versions_are_named(tmp_path: Path) -> None:
    talk = Conversation(settings(upstream("a"), upstream("b")), tmp_path)
    talk.connect("a").connect("b").ask(0, "initialize", HELLO)
    talk.answer("a", {"protocolVersion": "2025-11-25", "capabilities": {}})
    talk.answer("b", {"protocolVersion": "2024-11-05", "capabilities": {}})
    assert "a 2025-11-25, b 2024-11-05" in talk.only()["error"]["message"]


def test_requests_sent_with_the_handshake_are_served_after_it(tmp_path: Path) -> None:
    talk = Conversation(settings(), tmp_path)
    talk.connect("crm").ask(0, "initialize", HELLO).ask(1, "tools/list").ask(2, "ping")
    assert talk.only() == jsonrpc.result(2, {})
    talk.answer("crm", {"protocolVersion": "2025-11-25", "capabilities": SERVES})
    assert [m["method"] for m in talk.take("crm")] == ["initialize", "notifications/initialized", "tools/list"]
    talk.answer("crm", {"tools": []})
    assert [m["id"] for m in talk.take()] == [0, 1]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"this is not json", -32700),
        (b'{"jsonrpc":"2.0","id":5,"method":123}', -32600),
        (b'{"jsonrpc":"2.0","id":6,"method":"tools/call","params":[1]}', -32602),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":8,"method":"server/discover"}', -32601),
        (b'{"jsonrpc":"2.0","id":8,"method":"made/up"}', -32601),
    ],
)
def test_what_is_no_request_gets_its_error_and_reaches_nobody(talk: Conversation, line: bytes, code: int) -> None:
    talk.client(line)
    assert talk.only()["error"]["code"] == code
    assert talk.take("crm") == []


def test_ids_keep_their_type_and_never_meet(talk: Conversation) -> None:
    talk.call(1, "crm__look", {"n": "one"}).call("1", "crm__look", {"n": "string"})
    first, second = talk.take("crm")
    talk.upstream("crm", jsonrpc.result(second["id"], says("string")))
    talk.upstream("crm", jsonrpc.result(first["id"], says("one")))
    assert [(m["id"], text_of(m)) for m in talk.take()] == [("1", "string"), (1, "one")]


def test_an_id_in_flight_is_refused_a_second_time(talk: Conversation) -> None:
    talk.call(1, "crm__look").call(1, "crm__look")
    assert talk.only()["error"]["code"] == -32600
    talk.answer("crm", says("x"))
    assert text_of(talk.only()) == "x"


def test_progress_keeps_its_token_and_order_and_ends_with_the_answer(talk: Conversation) -> None:
    talk.call(1, "crm__look", _meta={"progressToken": "p-1", "x.acme/trace": "abc"})
    asked = talk.only("crm")
    meta = asked["params"]["_meta"]
    assert meta["x.acme/trace"] == "abc"

    def progress(n: int) -> None:
        params = {"progressToken": meta["progressToken"], "progress": n, "message": f"row {n} for {MAIL}"}
        talk.upstream("crm", jsonrpc.notification("notifications/progress", params))

    progress(1)
    progress(2)
    talk.upstream("crm", jsonrpc.result(asked["id"], says("done")))
    progress(3)
    one, two, answer = talk.take()
    assert [m["params"]["progressToken"] for m in (one, two)] == ["p-1", "p-1"]
    assert two["params"]["message"] == "row 2 for [EMAIL_0]"
    assert answer["id"] == 1


def test_a_response_waits_for_the_notifications_before_it_and_for_nothing_else(tmp_path: Path) -> None:
    talk = opened(settings(), tmp_path)
    talk.hold = True
    talk.call(1, "crm__look").call(2, "crm__look")
    first, second = talk.take("crm")
    talk.upstream("crm", jsonrpc.notification("notifications/message", {"level": "info", "data": "log"}))
    talk.upstream("crm", jsonrpc.result(first["id"], says("first")))
    talk.upstream("crm", jsonrpc.result(second["id"], says("second")))
    (log,) = talk.held_jobs()
    assert talk.take() == []
    talk.release(log)
    assert talk.only()["method"] == "notifications/message"
    one, two = talk.held_jobs()
    talk.release(two)
    assert talk.only()["id"] == 2
    talk.release(one)
    assert talk.only()["id"] == 1


def test_a_cancelled_call_is_cancelled_at_its_upstream_only_and_never_answered(tmp_path: Path) -> None:
    talk = opened(settings(upstream("a"), upstream("b")), tmp_path)
    talk.call(101, "a__look").call(102, "b__look")
    id = talk.only("a")["id"]
    talk.take("b")
    talk.client(jsonrpc.notification("notifications/cancelled", {"requestId": 101, "reason": "user stopped"}))
    assert talk.only("a") == jsonrpc.notification(
        "notifications/cancelled", {"requestId": id, "reason": "user stopped"}
    )
    assert talk.take("b") == []
    talk.upstream("a", jsonrpc.result(id, says(MAIL)))
    assert talk.take() == []


def test_a_dead_upstream_fails_its_calls_and_comes_back_with_its_handshake(talk: Conversation) -> None:
    talk.call(1, "crm__look").answer("crm", says(MAIL))
    talk.take()
    talk.call(9, "crm__look").disconnect("crm")
    assert "stopped before it answered" in text_of(talk.only())
    talk.call(10, "crm__look")
    assert "exited with status 1. It is being started: try again in some seconds" in text_of(talk.only())

    talk.take("crm")
    talk.connect("crm").answer("crm", {"protocolVersion": "2025-11-25", "capabilities": SERVES})
    talk.call(11, "crm__send", {"to": "[EMAIL_0]"})
    assert [m["method"] for m in talk.take("crm")][:2] == ["initialize", "notifications/initialized"]


def test_a_call_without_an_answer_ends_at_its_deadline_which_progress_renews(talk: Conversation) -> None:
    talk.call(1, "crm__look", _meta={"progressToken": 7})
    id = talk.only("crm")["id"]
    timer = Timer("call", "crm", id)
    assert talk.timers[timer] == 300.0
    talk.elapse(timer)
    assert "did not answer within 300 seconds" in text_of(talk.only())
    assert talk.only("crm")["method"] == "notifications/cancelled"


def test_what_a_call_held_is_gone_with_its_answer(tmp_path: Path) -> None:
    talk = opened(settings(), tmp_path, at_once=True)
    talk.call(1, "crm__look", {"of": "the first"}).answer("crm", says("nothing"))
    gc.collect()
    gc.disable()
    try:
        talk.call(2, "crm__look", {"of": "the second"}).answer("crm", says("nothing"))
        assert gc.collect() == 0  # objects that knew each other, and would have stayed for long
    finally:
        gc.enable()


def test_failed_detection_withholds_the_answer_and_says_that_the_call_may_have_happened(talk: Conversation) -> None:
    talk.call(1, "crm__look")
    talk.broken_detection = "the worker timed out"
    talk.answer("crm", says(MAIL))
    answer = talk.only()
    assert answer["result"]["isError"] is True
    assert "may already have taken effect" in text_of(answer)
    assert MAIL not in str(answer)


def test_little_text_is_looked_at_without_asking_and_large_text_is_asked_about(tmp_path: Path) -> None:
    talk = opened(settings(), tmp_path, at_once=True)
    for size, asks in ((1, False), (LITTLE, True)):
        talk.effects.clear()
        talk.call(size, "crm__look").answer("crm", says(f"{MAIL} {'x' * size}"))
        assert text_of(talk.only()).startswith("[EMAIL_0] x")
        assert any(isinstance(effect, Scan) for effect in talk.effects) is asks


def test_detection_that_fails_at_once_withholds_the_answer_alone(tmp_path: Path) -> None:
    talk = opened(settings(), tmp_path, at_once=True)
    talk.call(1, "crm__look")
    talk.broken_detection = "a text is encoded too deeply"
    talk.answer("crm", says(MAIL))
    assert "encoded too deeply" in text_of(talk.only())
    talk.broken_detection = ""
    talk.call(2, "crm__look").answer("crm", says(MAIL))
    assert text_of(talk.only()) == "[EMAIL_0]"


def test_a_store_that_is_away_withholds_the_answer(talk: Conversation) -> None:
    talk.call(1, "crm__look")
    talk.broken_store = "the store is locked"
    talk.answer("crm", says(MAIL))
    assert "the store is locked" in text_of(talk.only())


def test_an_error_of_an_upstream_keeps_its_code_and_loses_its_values(talk: Conversation) -> None:
    talk.call(1, "crm__look")
    error = {"code": -32000, "message": f"duplicate key ({MAIL})", "data": {"row": {"ssn": "536-22-8726"}}}
    talk.upstream("crm", {"jsonrpc": "2.0", "id": talk.last_asked("crm"), "error": error})
    assert talk.only()["error"] == {
        "code": -32000,
        "message": "duplicate key ([EMAIL_0])",
        "data": {"row": {"ssn": "[SSN_0]"}},
    }


def test_a_tool_named_with_a_token_is_dropped_and_the_others_work(tmp_path: Path) -> None:
    talk = opened(settings(), tmp_path, tools=["look", "EMAIL_0", "[EMAIL_0]", f"write_{MAIL}"])
    talk.ask(1, "tools/list")
    talk.answer("crm", {"tools": [{"name": n, "inputSchema": {}} for n in ("look", "[EMAIL_0]", f"w {MAIL}")]})
    assert [tool["name"] for tool in talk.only()["result"]["tools"]] == ["crm__look"]
    assert talk.logs("dropped_items_with_unsafe_names")


@pytest.mark.parametrize(
    "schema",
    [
        {"required": ["ADDRESS_1"], "properties": {"ADDRESS_1": {"type": "string"}}},
        {"properties": {"ADDRESS_1": {"type": "string"}}, "required": ["ADDRESS_1"]},
        {"dependentRequired": {"city": ["PHONE_1"]}},
        {"properties": {"tag": {"type": "string", "pattern": "^[PHONE-1]$"}}},
    ],
)
def test_a_tool_whose_schema_has_names_that_are_nearly_tokens_is_listed_as_it_is(
    tmp_path: Path, schema: dict[str, Any]
) -> None:
    talk = opened(settings(upstream("crm")), tmp_path)
    tool = {"name": "EMAIL_1", "inputSchema": {"type": "object", **schema}}
    talk.client(jsonrpc.notification("notifications/initialized"))
    talk.upstream("crm", jsonrpc.notification("notifications/tools/list_changed"))
    talk.ask(1, "tools/list").answer("crm", {"tools": [tool]})
    (listed,) = talk.only()["result"]["tools"]
    assert listed == {**tool, "name": "crm__EMAIL_1"}


def test_a_clean_name_says_nothing_of_an_equal_value(talk: Conversation) -> None:
    prompt = {"name": "EMAIL_1", "arguments": [{"name": "to", "description": "EMAIL_1"}]}
    talk.ask(1, "prompts/list").answer("crm", {"prompts": [prompt], "_meta": {"acme/first": "EMAIL_1"}})
    result = talk.only()["result"]
    assert result["prompts"][0]["name"] == "crm__EMAIL_1"
    assert "LITERAL" in result["prompts"][0]["arguments"][0]["description"]


def test_a_deny_that_names_an_upstream_holds_for_the_resources_it_lists(tmp_path: Path) -> None:
    talk = opened(settings(upstream("crm"), flows=(Flow("*", "crm", Action.DENY),)), tmp_path)
    talk.ask(1, "resources/list").answer("crm", {"resources": [{"uri": f"crm://c/{MAIL}", "name": "x"}]})
    (listed,) = talk.only()["result"]["resources"]
    talk.sent.clear()
    for method in ("resources/read", "resources/subscribe"):
        talk.ask(method, method, {"uri": listed["uri"]})
        assert "rule: flows[0]" in talk.only()["error"]["message"]
    assert talk.take("crm") == []
    assert len(talk.records("refused")) == 2


def test_a_question_reaches_the_client_clean_and_its_answer_restores_own_values_only(tmp_path: Path) -> None:
    talk = opened(settings(upstream("crm"), upstream("evil")), tmp_path)
    talk.call(1, "crm__look").answer("crm", says(MAIL))
    talk.take()
    for name in ("crm", "evil"):
        talk.upstream(name, jsonrpc.request("q", "elicitation/create", {"message": f"Send to {MAIL}?"}))
        question = talk.only()
        assert question["params"]["message"].startswith(f"{name}: Send to [EMAIL_0")
        talk.take(name)
        talk.client(jsonrpc.result(question["id"], {"action": "accept", "content": {"to": "[EMAIL_0]"}}))
    # Both showed the address, in one group: it is an origin of both by now.
    assert talk.only("evil")["result"]["content"] == {"to": MAIL}


def test_a_question_that_is_taken_back_before_it_is_clean_is_never_asked(tmp_path: Path) -> None:
    talk = opened(settings(), tmp_path)
    talk.hold = True
    for id in (1, "1"):  # which are different ids
        talk.upstream("crm", jsonrpc.request(id, "elicitation/create", {"message": f"Send to {MAIL}?"}))
    talk.upstream("crm", jsonrpc.notification("notifications/cancelled", {"requestId": 1, "reason": f"for {MAIL}"}))
    while talk.held:
        talk.tell(talk.held.pop())
    question = talk.only()
    assert talk.take("crm") == []
    talk.client(jsonrpc.result(question["id"], {"action": "decline"}))
    assert talk.only("crm")["id"] == "1"


def test_why_a_call_is_taken_back_reaches_its_upstream_as_it_was_said(talk: Conversation) -> None:
    talk.call("mine", "crm__look")
    about = {"reason": "[EMAIL_0]", "_meta": {"x.acme/trace": [None]}, "x-odd": {}}
    talk.client(jsonrpc.notification("notifications/cancelled", {"requestId": "mine", **about}))
    id = talk.last_asked("crm")
    assert talk.take("crm")[-1]["params"] == {"requestId": id, **about}


def test_an_answer_never_restores_what_the_asking_upstream_did_not_show(tmp_path: Path) -> None:
    talk = opened(settings(upstream("crm"), upstream("evil")), tmp_path)
    talk.call(1, "crm__look").answer("crm", says(MAIL))
    talk.take()
    talk.upstream("evil", jsonrpc.request("q", "elicitation/create", {"message": "Who?"}))
    question = talk.only()
    talk.take("evil")
    talk.client(jsonrpc.result(question["id"], {"action": "accept", "content": {"who": "[EMAIL_0]"}}))
    assert talk.only("evil")["result"]["content"] == {"who": "[EMAIL_0]"}


def test_what_the_client_does_not_offer_is_refused_and_not_advertised(tmp_path: Path) -> None:
    talk = Conversation(settings(upstream("crm", sampling=False)), tmp_path)
    talk.connect("crm").ask(0, "initialize", HELLO)
    assert talk.only("crm")["params"]["capabilities"] == {"elicitation": {}, "roots": {}}
    talk.answer("crm", {"protocolVersion": "2025-11-25", "capabilities": SERVES})
    talk.take("crm")
    talk.upstream("crm", jsonrpc.request(3, "sampling/createMessage", {"messages": [], "maxTokens": 1}))
    assert talk.only("crm")["error"]["code"] == -32601


def test_questions_that_nobody_answers_are_bounded_for_each_upstream(tmp_path: Path) -> None:
    """They are kept until they are answered, and looked through where one is taken back."""
    talk = opened(settings(upstream("crm"), upstream("evil"), max_pending=5), tmp_path)
    for id in range(8):
        talk.upstream("evil", jsonrpc.request(id, "roots/list"))
    questions = talk.take()
    assert len(questions) == 5
    assert [(m["id"], m["error"]["code"]) for m in talk.take("evil")] == [(5, -32603), (6, -32603), (7, -32603)]
    talk.upstream("crm", jsonrpc.request(0, "roots/list"))
    assert talk.only()["method"] == "roots/list"
    talk.client(jsonrpc.result(questions[0]["id"], {"roots": []}))
    talk.upstream("evil", jsonrpc.request(8, "roots/list"))
    assert talk.only()["method"] == "roots/list"


def test_questions_wait_until_the_client_is_initialized(tmp_path: Path) -> None:
    talk = Conversation(settings(), tmp_path)
    talk.connect("crm").ask(0, "initialize", HELLO)
    talk.answer("crm", {"protocolVersion": "2025-11-25", "capabilities": SERVES})
    talk.upstream("crm", jsonrpc.request(0, "roots/list"))
    assert [m["id"] for m in talk.take()] == [0]
    talk.client(jsonrpc.notification("notifications/initialized"))
    assert talk.only()["method"] == "roots/list"


def test_a_resource_is_read_by_what_the_client_was_shown(talk: Conversation) -> None:
    uri = "crm://contact/kim%2Bwork%40acme-corp.com"
    talk.ask(1, "resources/list").answer("crm", {"resources": [{"uri": uri, "name": "Contact"}]})
    shown = talk.only()["result"]["resources"][0]["uri"]
    assert shown == "crm://contact/[EMAIL_0]"
    talk.take("crm")
    for id, asked in ((2, shown), (3, "crm://contact/%5BEMAIL_0%5D")):
        talk.ask(id, "resources/read", {"uri": asked})
        assert talk.only("crm")["params"]["uri"] == uri
        talk.answer("crm", {"contents": [{"uri": uri, "text": "x"}]})
        assert talk.only()["result"]["contents"][0]["uri"] == asked
    restored = [token for record in talk.records("restore") for token in record.fields["tokens"]]
    assert restored == [{"token": "EMAIL_0", "from": ["crm"], "rule": "listed", "foreign": False}] * 2


def test_two_quick_list_changes_are_announced_once(talk: Conversation) -> None:
    changed = jsonrpc.notification("notifications/tools/list_changed")
    talk.upstream("crm", changed).upstream("crm", changed)
    assert talk.take() == []
    talk.elapse(Timer("list changed", subject="tools"))
    assert talk.only() == changed
    talk.take("crm")
    talk.call(5, "crm__new")
    assert talk.only("crm")["method"] == "tools/list"


def test_lists_are_merged_over_all_pages_and_cursors_stay_inside(talk: Conversation) -> None:
    talk.ask(1, "tools/list").answer("crm", {"tools": [{"name": "a"}, {"name": "b"}], "nextCursor": MAIL})
    assert talk.take("crm")[-1]["params"] == {"cursor": MAIL}
    talk.answer("crm", {"tools": [{"name": "c"}]})
    result = talk.only()["result"]
    assert [t["name"] for t in result["tools"]] == ["crm__a", "crm__b", "crm__c"]
    assert "nextCursor" not in result


def test_noise_on_an_upstreams_output_is_logged_clean_and_harms_nothing(talk: Conversation) -> None:
    talk.upstream("crm", b"Starting for kim@acme-corp.com")
    assert [e.line for e in talk.effects if isinstance(e, LogOutput)] == [b"Starting for kim@acme-corp.com"]
    assert talk.take() == []


NOISES = [b"y", b"1", b'["a"]', b"\xff"]


@pytest.mark.parametrize("line", NOISES)
def test_who_prints_without_end_before_the_handshake_is_no_server_and_not_waited_for(
    tmp_path: Path, line: bytes
) -> None:
    talk = Conversation(settings(), tmp_path).connect("crm")
    talk.ask("hello", "initialize", HELLO)
    for _ in range(NOISE):
        talk.upstream("crm", line)
    assert talk.take() == []
    talk.upstream("crm", line)
    assert talk.only()["error"]["message"].startswith("No upstream is ready: crm: it is no MCP server: more than 1000")
    assert [e.upstream for e in talk.effects if isinstance(e, Drop)] == ["crm"]
    talk.effects.clear()
    talk.upstream("crm", line)
    assert talk.effects == []


@pytest.mark.parametrize("line", NOISES)
def test_banners_before_the_handshake_and_logs_behind_it_harm_nothing(tmp_path: Path, line: bytes) -> None:
    talk = Conversation(settings(), tmp_path)
    for _ in range(2):  # a program that was started again says it all again
        talk.connect("crm")
        for _ in range(NOISE * 2 // 3):
            talk.upstream("crm", line)
        talk.disconnect("crm")
    talk.connect("crm").ask("hello", "initialize", HELLO)
    talk.answer("crm", {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}})
    assert talk.only()["result"]["protocolVersion"] == "2025-11-25"
    for _ in range(NOISE + 1):
        talk.upstream("crm", line)
    talk.ask("tools", "tools/list").answer("crm", {"tools": [{"name": "look"}]})
    assert talk.only()["result"]["tools"][0]["name"] == "crm__look"


def test_an_unknown_notification_is_sanitized_and_passed_on(talk: Conversation) -> None:
    talk.upstream("crm", jsonrpc.notification("notifications/made_up", {"who": MAIL}))
    assert talk.only() == jsonrpc.notification("notifications/made_up", {"who": "[EMAIL_0]"})


def test_a_notification_whose_name_holds_a_value_is_withheld(talk: Conversation) -> None:
    talk.upstream("crm", jsonrpc.notification(f"notifications/{MAIL}", {}))
    assert talk.take() == []


def test_without_sanitizing_everything_passes_and_nothing_is_restored(tmp_path: Path) -> None:
    talk = opened(settings(sanitize=False), tmp_path)
    talk.call(1, "crm__send", {"to": "[EMAIL_0]"})
    assert talk.only("crm")["params"]["arguments"] == {"to": "[EMAIL_0]"}
    talk.answer("crm", says(MAIL))
    assert text_of(talk.only()) == MAIL


def test_an_upstream_that_comes_back_is_told_what_the_session_had_asked_for(talk: Conversation) -> None:
    talk.ask(1, "resources/subscribe", {"uri": "file:///a"}).answer("crm", {})
    talk.ask(2, "logging/setLevel", {"level": "debug"}).answer("crm", {})
    talk.disconnect("crm").sent.clear()
    talk.connect("crm").answer("crm", {"protocolVersion": "2025-11-25", "capabilities": SERVES})
    assert [(m["method"], m.get("params")) for m in talk.take("crm")[2:]] == [
        ("logging/setLevel", {"level": "debug"}),
        ("resources/subscribe", {"uri": "file:///a"}),
    ]


@pytest.mark.parametrize("declared", [None, [], "x", 1, {"tools": None}, {"tools": []}])
def test_capabilities_that_are_none_are_taken_as_none(tmp_path: Path, declared: Any) -> None:
    talk = Conversation(settings(upstream("crm"), upstream("evil")), tmp_path)
    talk.connect("crm").connect("evil").ask(0, "initialize", HELLO)
    talk.answer("crm", {"protocolVersion": "2025-11-25", "capabilities": SERVES})
    talk.answer("evil", {"protocolVersion": "2025-11-25", "capabilities": declared})
    talk.ask(1, "tools/list").answer("crm", {"tools": [{"name": "look"}]})
    assert [m["id"] for m in talk.take()] == [0, 1]


def test_an_upstream_that_pages_for_ever_is_left_out_of_the_list(tmp_path: Path) -> None:
    talk = opened(settings(upstream("crm"), upstream("evil")), tmp_path)
    talk.ask(1, "tools/list").answer("crm", {"tools": [{"name": "look"}]})
    talk.answer("evil", {"tools": [], "nextCursor": "more"})
    (timer,) = [timer for timer in talk.timers if timer.purpose == "list"]
    talk.elapse(timer)
    assert [tool["name"] for tool in talk.only()["result"]["tools"]] == ["crm__look"]
    talk.answer("evil", {"tools": [{"name": "late"}]})
    assert talk.take() == []


@pytest.mark.parametrize("last", ["", "c1", "c2"])
def test_a_list_ends_where_its_cursor_is_empty_or_the_same_again(talk: Conversation, last: str) -> None:
    talk.ask(1, "tools/list")
    for name, cursor in (("a", "c1"), ("b", "c2"), ("c", last)):
        talk.answer("crm", {"tools": [{"name": name}], "nextCursor": cursor})
    result = talk.only()["result"]
    assert [t["name"] for t in result["tools"]] == ["crm__a", "crm__b", "crm__c"]
    assert "nextCursor" not in result


def test_a_list_may_be_as_large_as_a_message_on_however_many_pages(tmp_path: Path) -> None:
    tool = {"name": "look", "description": "x" * 1000}
    talk = opened(settings(upstream("crm"), max_bytes=3000), tmp_path)
    for id, pages in ((1, 2), (2, 3)):
        talk.ask(id, "tools/list")
        for n in range(pages):
            more = {"nextCursor": f"c{n}"} if n + 1 < pages else {}
            talk.answer("crm", {"tools": [{**tool, "name": f"look{n}"}], **more})
    told = {message["id"]: message for message in talk.take()}
    assert [t["name"] for t in told[1]["result"]["tools"]] == ["crm__look0", "crm__look1"]
    assert "error" in told[2]
    assert talk.logs("list_left_out")[0].fields["reason"] == "its list is larger than 3000 bytes"


def test_no_upstream_unhides_the_values_of_another_by_calling_something_so(tmp_path: Path) -> None:
    talk = opened(settings(upstream("crm"), upstream("evil")), tmp_path)
    customer = {"first_name": "Zebulon", "last_name": "Quuxley", "email": MAIL}
    talk.call(1, "crm__look").answer("crm", says("x", structuredContent=customer))
    talk.ask(2, "tools/list")
    schema = {"type": "object", "properties": {"zebulon": {}, "quuxley": {}}}
    for name in ("crm", "evil"):
        talk.answer(name, {"tools": [{"name": "look", "inputSchema": schema if name == "evil" else {}}]})
    talk.sent.clear()
    talk.call(3, "crm__look").answer("crm", says("Zebulon called about Quuxley"))
    assert text_of(talk.only()) == "[PERSON_0] called about [PERSON_1]"


def test_presence_of_a_token_tells_an_upstream_of_its_own_group_nothing(tmp_path: Path) -> None:
    talk = opened(settings(upstream("crm"), upstream("evil", token_scope=Scope.UPSTREAM)), tmp_path)
    talk.call(1, "crm__look").answer("crm", says("SSN: 536228726"))
    assert text_of(talk.only()) == "SSN: [SSN_0]"
    rows = " ".join(f"row {n}: {536228720 + n}" for n in range(10))
    talk.call(2, "evil__look").answer("evil", says(rows))
    assert text_of(talk.only()) == rows


def test_parts_of_a_restored_value_stay_hidden_in_what_is_said_meanwhile(talk: Conversation) -> None:
    talk.call(1, "crm__look").answer("crm", says("anneliese.wolperding@acme-corp.com"))
    talk.sent.clear()
    talk.call(2, "crm__send", {"to": "[EMAIL_0]"}, _meta={"progressToken": 1})
    token = talk.only("crm")["params"]["_meta"]["progressToken"]
    said = "mailbox anneliese.wolperding unknown"
    talk.upstream("crm", jsonrpc.notification("notifications/message", {"level": "info", "data": said}))
    progress = {"progressToken": token, "progress": 1, "message": said}
    talk.upstream("crm", jsonrpc.notification("notifications/progress", progress))
    assert "anneliese.wolperding" not in str(talk.take())


def test_a_template_of_many_gaps_is_matched_in_no_time(tmp_path: Path) -> None:
    talk = opened(settings(upstream("crm"), upstream("evil")), tmp_path)
    talk.ask(1, "resources/templates/list").answer("crm", {"resourceTemplates": []})
    template = "evil://a/" + "z".join(f"{{{n}}}" for n in "abcdefgh") + "!"
    talk.answer("evil", {"resourceTemplates": [{"uriTemplate": template, "name": "t"}]})
    talk.ask(2, "resources/list").answer("crm", {"resources": []}).answer("evil", {"resources": []})
    talk.sent.clear()
    talk.ask(3, "resources/read", {"uri": "evil://a/" + "z" * 5000})
    assert talk.only()["error"]["code"] == -32602
    talk.ask(4, "resources/read", {"uri": "evil://a/" + "z" * 5000 + "!"})
    assert talk.only("evil")["method"] == "resources/read"


def test_a_task_belongs_to_the_upstream_that_made_it_whatever_others_call_theirs(tmp_path: Path) -> None:
    talk = opened(settings(upstream("crm"), upstream("evil")), tmp_path)
    for name in ("evil", "crm"):
        talk.call(name, f"{name}__look").answer(name, {"task": {"taskId": "task-1", "status": "working"}})
    ids = {message["id"]: message["result"]["task"]["taskId"] for message in talk.take()}
    assert ids["evil"] == "task-1" != ids["crm"]
    talk.sent.clear()
    talk.ask(1, "tasks/get", {"taskId": ids["crm"]})
    assert talk.only("crm")["params"] == {"taskId": "task-1"}
    assert talk.take("evil") == []


def test_the_account_counts_places_and_not_values(tmp_path: Path) -> None:
    talk = opened(settings(upstream("crm")), tmp_path)
    both = {**says("kim@acme-corp.com"), "structuredContent": {"owner": "kim@acme-corp.com"}}
    talk.call(1, "crm__look").answer("crm", both)
    assert talk.records("sanitize")[-1].fields["categories"] == {"EMAIL": 2}


def test_a_large_message_is_worked_on_beside_and_keeps_nobody_waiting() -> None:
    talk = opened(settings(upstream("crm"), upstream("evil")))
    talk.hold = True
    talk.call(1, "evil__look").call(2, "crm__look")
    asked = {name: talk.last_asked(name) for name in ("crm", "evil")}
    talk.sent.clear()
    large = says("mail jane@corp.pl " + "and so on " * 2000)
    talk.upstream("evil", jsonrpc.result(asked["evil"], large))
    talk.upstream("crm", jsonrpc.result(asked["crm"], says("mail ann@corp.pl")))
    first, second = talk.held_jobs()
    talk.release(second)
    assert talk.only()["id"] == 2
    talk.release(first)
    answer = talk.only()
    assert answer["id"] == 1 and text_of(answer).startswith("mail [EMAIL_")


def test_what_goes_wrong_beside_withholds_that_message_alone() -> None:
    talk = opened(settings())
    talk.hold = True
    talk.call(1, "crm__look").answer("crm", says("and so on " * 2000))
    (job,) = talk.held_jobs()
    talk.held.clear()
    talk.tell(ScanFailed(job, "the gateway had an internal error"))
    assert "internal error" in text_of(talk.only())
