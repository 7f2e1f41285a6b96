"""Both eras in front and behind: what the one asks, the other gets in its own words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cloakllm_gateway.core.events import CLIENT, Received, Timer
from cloakllm_gateway.core.settings import Scope
from cloakllm_gateway.core.subscriptions import Watch
from cloakllm_gateway.protocol import eras, jsonrpc
from tests.core.transcript import HELLO, SERVES, Conversation, opened, says, settings, text_of, upstream

MAIL = "kim@acme-corp.com"
VERSION = eras.STATELESS_VERSIONS[-1]
CLIENT_META = {
    eras.VERSION: VERSION,
    eras.CAPABILITIES: {"elicitation": {}, "sampling": {}, "roots": {}},
    eras.CLIENT_INFO: {"name": "test", "version": "1"},
}
DISCOVERED = {
    "supportedVersions": [VERSION],
    "capabilities": SERVES,
    "resultType": "complete",
    "ttlMs": 0,
    "cacheScope": "private",
}
ASKS = {"method": "elicitation/create", "params": {"message": f"Who is {MAIL}?", "requestedSchema": {"type": "object"}}}
UNKNOWN_METHOD = {"code": -32601, "message": "Method not found"}


def alone(talk: Conversation, id: str | int, method: str, params: dict[str, Any] | None = None, **meta: Any) -> None:
    """A request of the stateless era."""
    talk.ask(id, method, {**(params or {}), "_meta": {**CLIENT_META, **meta}})


def call(talk: Conversation, id: str | int, tool: str, arguments: dict[str, Any] | None = None, **more: Any) -> None:
    alone(talk, id, "tools/call", {"name": tool, "arguments": arguments or {}, **more})


def refuses(talk: Conversation, name: str, error: dict[str, Any] | None = None) -> None:
    error = error or UNKNOWN_METHOD
    talk.upstream(name, {"jsonrpc": "2.0", "id": talk.last_asked(name), "error": error})


def listed(talk: Conversation, *tools: dict[str, Any]) -> None:
    named = tools or ({"name": "look"}, {"name": "send"})
    talk.answer("crm", {"tools": [{"inputSchema": {"type": "object"}, **tool} for tool in named]})


def stateless(state_dir: Path, *, upstream_has_session: bool = False, **changes: Any) -> Conversation:
    """A stateless client that has asked for the tools of its one upstream."""
    talk = Conversation(settings(**changes), state_dir)
    talk.connect("crm")
    alone(talk, "tools", "tools/list")
    if upstream_has_session:
        refuses(talk, "crm")
        talk.answer("crm", {"protocolVersion": "2025-11-25", "capabilities": SERVES})
    else:
        talk.answer("crm", DISCOVERED)
    # Streams of changes that the gateway opens come before what the client asked for.
    listed(talk)
    talk.sent.clear()
    return talk


def session_over_stateless(state_dir: Path, **changes: Any) -> Conversation:
    """A client with a session, whose one upstream knows only the stateless era."""
    talk = Conversation(settings(**changes), state_dir)
    talk.connect("crm").ask("hello", "initialize", HELLO)
    refuses(talk, "crm", {"code": eras.UNSUPPORTED_VERSION, "message": "no", "data": {"supported": [VERSION]}})
    talk.answer("crm", DISCOVERED)
    talk.client(jsonrpc.notification("notifications/initialized"))
    talk.ask("tools", "tools/list")
    listed(talk)
    talk.sent.clear()
    return talk


# -- who speaks what ---------------------------------------------------------------------------------


def test_an_upstream_is_probed_in_the_era_of_the_client(tmp_path: Path) -> None:
    talk = Conversation(settings(), tmp_path)
    talk.connect("crm")
    alone(talk, 1, "server/discover")
    asked = talk.only("crm")
    assert asked["method"] == "server/discover"
    assert asked["params"]["_meta"][eras.VERSION] == VERSION
    assert asked["params"]["_meta"][eras.CAPABILITIES] == CLIENT_META[eras.CAPABILITIES]


def test_discover_is_answered_with_the_union_and_the_instructions(tmp_path: Path) -> None:
    talk = Conversation(settings(), tmp_path)
    talk.connect("crm")
    alone(talk, 1, "server/discover")
    talk.answer("crm", {**DISCOVERED, "instructions": f"Owner {MAIL}"})
    result = talk.only()["result"]
    assert result["supportedVersions"] == [VERSION]
    assert result["capabilities"] == SERVES
    assert result["instructions"].startswith("crm: Owner [EMAIL_0]\n\n")
    assert (result["resultType"], result["ttlMs"], result["cacheScope"]) == ("complete", 0, "private")
    assert result["_meta"][eras.SERVER_INFO]["name"] == "cloakllm-gateway"


def test_a_client_that_asks_is_told_to_begin_a_session_where_all_upstreams_have_one(tmp_path: Path) -> None:
    talk = Conversation(settings(), tmp_path)
    talk.connect("crm")
    alone(talk, 1, "server/discover")
    refuses(talk, "crm")
    talk.answer("crm", {"protocolVersion": "2025-11-25", "capabilities": SERVES})
    assert talk.only()["error"]["code"] == -32601

    talk.ask(2, "initialize", HELLO)
    assert talk.only()["result"]["protocolVersion"] == "2025-11-25"
    talk.client(jsonrpc.notification("notifications/initialized")).ask(3, "tools/list")
    listed(talk)
    assert [tool["name"] for tool in talk.only()["result"]["tools"]] == ["crm__look", "crm__send"]
    assert [m["method"] for m in talk.take("crm")].count("initialize") == 1


def test_a_client_that_does_not_wait_for_the_answer_begins_a_session(tmp_path: Path) -> None:
    talk = Conversation(settings(), tmp_path)
    alone(talk, 1, "server/discover")
    talk.client(jsonrpc.notification("notifications/cancelled", {"requestId": 1})).ask(2, "initialize", HELLO)
    assert talk.take() == []
    talk.connect("crm").answer("crm", {"protocolVersion": "2025-11-25", "capabilities": SERVES})
    assert talk.only()["result"]["protocolVersion"] == "2025-11-25"


@pytest.mark.parametrize("end", ["answers", "dies"])
def test_an_upstream_that_knows_no_probe_is_greeted_the_other_way(tmp_path: Path, end: str) -> None:
    talk = Conversation(settings(), tmp_path)
    talk.connect("crm")
    alone(talk, 1, "tools/list")
    if end == "answers":
        refuses(talk, "crm", {"code": -32600, "message": "initialize first"})
    else:
        talk.disconnect("crm").connect("crm")
    asked = talk.take("crm")[-1]
    assert (asked["method"], asked["params"]["protocolVersion"]) == ("initialize", "2025-11-25")
    assert "_meta" not in asked["params"]


def test_an_upstream_that_says_nothing_to_the_probe_is_greeted_the_other_way(tmp_path: Path) -> None:
    talk = Conversation(settings(), tmp_path)
    talk.connect("crm")
    alone(talk, 1, "tools/list")
    talk.elapse(Timer("call", "crm", talk.last_asked("crm")))
    assert [m["method"] for m in talk.take("crm")][-1] == "initialize"


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (("initialize", HELLO), eras.UNSUPPORTED_VERSION),
        (("tools/list", {}), -32602),
        (("tools/list", {"_meta": {eras.VERSION: VERSION}}), -32602),
        (("tools/list", {"_meta": {**CLIENT_META, eras.VERSION: "2031-01-01"}}), eras.UNSUPPORTED_VERSION),
        (("ping", {"_meta": CLIENT_META}), -32601),
        (("logging/setLevel", {"level": "info", "_meta": CLIENT_META}), -32601),
        (("resources/subscribe", {"uri": "a://b/c", "_meta": CLIENT_META}), -32601),
    ],
)
def test_what_the_stateless_era_does_not_know_is_said_so(tmp_path: Path, request_: Any, code: int) -> None:
    talk = stateless(tmp_path)
    talk.ask(9, *request_)
    error = talk.only()["error"]
    assert error["code"] == code
    if code == eras.UNSUPPORTED_VERSION:
        assert VERSION in error["data"]["supported"]


def test_a_request_that_stands_alone_has_no_place_in_a_session(tmp_path: Path) -> None:
    talk = opened(settings(), tmp_path)
    alone(talk, 9, "tools/list")
    assert talk.only()["error"]["code"] == -32600


def test_nobody_ready_is_told_to_everybody_and_asked_again(tmp_path: Path) -> None:
    talk = Conversation(settings(), tmp_path)
    alone(talk, 1, "tools/list")
    talk.disconnect("crm", "the command was not found", final=True)
    assert "the command was not found" in talk.only()["error"]["message"]
    alone(talk, 2, "tools/list")
    assert "the command was not found" in talk.only()["error"]["message"]


def test_versions_that_diverge_are_bridged_where_that_is_configured(tmp_path: Path) -> None:
    talk = Conversation(settings(upstream("a"), upstream("b"), bridge_versions=True), tmp_path)
    talk.connect("a").connect("b").ask(0, "initialize", HELLO)
    talk.answer("a", {"protocolVersion": "2025-11-25", "capabilities": {}})
    talk.answer("b", {"protocolVersion": "2025-06-18", "capabilities": {}})
    assert talk.only()["result"]["protocolVersion"] == "2025-06-18"


# -- both stateless ------------------------------------------------------------------------------------


def test_a_call_is_made_clean_and_restored(tmp_path: Path) -> None:
    talk = stateless(tmp_path)
    call(talk, 1, "crm__look")
    sent = talk.only("crm")
    assert sent["params"]["_meta"] == CLIENT_META
    talk.answer("crm", {**says(f"mail {MAIL}"), "resultType": "complete"})
    assert text_of(talk.only()) == "mail [EMAIL_0]"
    call(talk, 2, "crm__send", {"to": "[EMAIL_0]"})
    assert talk.only("crm")["params"]["arguments"] == {"to": MAIL}


def test_every_request_speaks_for_itself(tmp_path: Path) -> None:
    talk = stateless(tmp_path)
    alone(talk, 1, "tools/call", {"name": "crm__look"}, **{eras.CAPABILITIES: {"roots": {}}, "progressToken": "p"})
    meta = talk.only("crm")["params"]["_meta"]
    assert meta[eras.CAPABILITIES] == {"roots": {}}
    assert isinstance(meta["progressToken"], int)


def test_what_an_upstream_may_not_use_is_not_offered_to_it(tmp_path: Path) -> None:
    talk = Conversation(settings(upstream("crm", sampling=False)), tmp_path)
    talk.connect("crm")
    alone(talk, 1, "server/discover")
    assert "sampling" not in talk.only("crm")["params"]["_meta"][eras.CAPABILITIES]


def input_required(talk: Conversation, **more: Any) -> None:
    talk.answer("crm", {"resultType": "input_required", "inputRequests": {"who": ASKS}, **more})


def test_a_round_goes_to_the_client_and_comes_back(tmp_path: Path) -> None:
    talk = stateless(tmp_path)
    call(talk, 1, "crm__send", {"n": 1})
    first = talk.only("crm")
    input_required(talk, requestState="s/1")
    asked = talk.only()["result"]
    assert asked["resultType"] == "input_required"
    assert asked["inputRequests"]["who"]["params"]["message"] == "crm: Who is [EMAIL_0]?"
    assert asked["requestState"] != "s/1"

    answer = {"action": "accept", "content": {"mail": "[EMAIL_0]"}}
    call(talk, 2, "crm__send", {"n": 1}, inputResponses={"who": answer}, requestState=asked["requestState"])
    again = talk.only("crm")
    assert again["id"] != first["id"]
    assert again["params"]["arguments"] == {"n": 1}
    assert again["params"]["inputResponses"] == {"who": {"action": "accept", "content": {"mail": MAIL}}}
    assert again["params"]["requestState"] == "s/1"
    talk.answer("crm", {**says("done"), "resultType": "complete"})
    done = talk.only()
    assert (done["id"], text_of(done)) == (2, "done")


def test_a_state_that_was_absent_stays_absent(tmp_path: Path) -> None:
    talk = stateless(tmp_path)
    call(talk, 1, "crm__send")
    input_required(talk)
    state = talk.only()["result"]["requestState"]
    call(talk, 2, "crm__send", inputResponses={"who": {"action": "decline"}}, requestState=state)
    assert "requestState" not in talk.take("crm")[-1]["params"]


def test_what_a_person_types_is_hidden_when_it_comes_back(tmp_path: Path) -> None:
    talk = stateless(tmp_path)
    call(talk, 1, "crm__send")
    input_required(talk)
    state = talk.only()["result"]["requestState"]
    answer = {"action": "accept", "content": {"mail": "lee@acme-corp.com"}}
    call(talk, 2, "crm__send", inputResponses={"who": answer}, requestState=state)
    talk.answer("crm", says("got lee@acme-corp.com"))
    assert "lee@" not in text_of(talk.only())


@pytest.mark.parametrize(
    "change",
    [
        {"name": "crm__look"},
        {"arguments": {"n": 2}},
        {"requestState": "0" * 40},
        {"requestState": 7},
    ],
    ids=["another tool", "other arguments", "a guess", "a number"],
)
def test_a_state_serves_only_the_request_it_was_given_for(tmp_path: Path, change: dict[str, Any]) -> None:
    talk = stateless(tmp_path)
    call(talk, 1, "crm__send", {"n": 1})
    input_required(talk)
    state = talk.only()["result"]["requestState"]
    talk.take("crm")
    params = {"name": "crm__send", "arguments": {"n": 1}, "requestState": state, **change}
    alone(talk, 2, "tools/call", {**params, "inputResponses": {"who": {"action": "accept", "content": {}}}})
    assert talk.only()["error"]["code"] == -32602
    assert talk.take("crm") == []


def test_a_state_serves_once(tmp_path: Path) -> None:
    talk = stateless(tmp_path)
    call(talk, 1, "crm__send")
    input_required(talk)
    state = talk.only()["result"]["requestState"]
    again = {"inputResponses": {"who": {"action": "decline"}}, "requestState": state}
    call(talk, 2, "crm__send", **again)
    talk.answer("crm", says("done")).sent.clear()
    call(talk, 3, "crm__send", **again)
    assert talk.only()["error"]["code"] == -32602


def test_what_is_left_unanswered_is_asked_again(tmp_path: Path) -> None:
    talk = stateless(tmp_path)
    call(talk, 1, "crm__send")
    asks = {"who": ASKS, "where": {"method": "roots/list"}}
    talk.answer("crm", {"resultType": "input_required", "inputRequests": asks})
    first = talk.only()["result"]
    assert set(first["inputRequests"]) == {"who", "where"}
    call(talk, 2, "crm__send", inputResponses={"where": {"roots": []}}, requestState=first["requestState"])
    second = talk.only()
    assert (second["id"], set(second["result"]["inputRequests"])) == (2, {"who"})


def test_an_upstream_that_only_wants_to_be_asked_later_is(tmp_path: Path) -> None:
    talk = stateless(tmp_path)
    call(talk, 1, "crm__send")
    talk.answer("crm", {"resultType": "input_required", "requestState": "later"})
    result = talk.only()["result"]
    assert "inputRequests" not in result
    talk.take("crm")
    call(talk, 2, "crm__send", requestState=result["requestState"])
    assert talk.only("crm")["params"]["requestState"] == "later"


def test_a_client_is_not_asked_for_what_it_can_not_do(tmp_path: Path) -> None:
    talk = stateless(tmp_path)
    alone(talk, 1, "tools/call", {"name": "crm__send"}, **{eras.CAPABILITIES: {}})
    input_required(talk)
    result = talk.only()["result"]
    assert result["isError"] and "does not offer" in text_of({"result": result})


def test_an_upstream_can_not_ask_for_ever(tmp_path: Path) -> None:
    talk = stateless(tmp_path)
    call(talk, 0, "crm__send")
    for id in range(1, 20):
        input_required(talk)
        result = talk.only()["result"]
        if "requestState" not in result:
            break
        answers = {"who": {"action": "decline"}}
        call(talk, id, "crm__send", inputResponses=answers, requestState=result["requestState"])
    assert result["isError"] and "too often" in text_of({"result": result})


def test_consent_is_asked_in_a_round_of_its_own(tmp_path: Path) -> None:
    mailer = upstream("mailer", token_scope=Scope.ASK)
    talk = Conversation(settings(upstream("crm"), mailer), tmp_path)
    talk.connect("crm").connect("mailer")
    alone(talk, "tools", "tools/list")
    talk.answer("crm", {**DISCOVERED, "capabilities": {"tools": {}}})
    talk.answer("mailer", {**DISCOVERED, "capabilities": {"tools": {}}})
    listed(talk)
    talk.answer("mailer", {"tools": [{"name": "send", "inputSchema": {"type": "object"}}]})
    call(talk, 1, "crm__look")
    talk.answer("crm", says(MAIL)).sent.clear()
    call(talk, 2, "mailer__send", {"to": "[EMAIL_0]"})
    result = talk.only()["result"]
    (key,) = result["inputRequests"]
    assert "EMAIL from crm to mailer" in result["inputRequests"][key]["params"]["message"]
    assert talk.take("mailer") == []
    responses = {key: {"action": "accept", "content": {}}}
    again = {"inputResponses": responses, "requestState": result["requestState"]}
    call(talk, 3, "mailer__send", {"to": "[EMAIL_0]"}, **again)
    assert talk.only("mailer")["params"]["arguments"] == {"to": MAIL}


def test_log_messages_go_to_a_request_that_wants_them(tmp_path: Path) -> None:
    talk = stateless(tmp_path)
    said = jsonrpc.notification("notifications/message", {"level": "info", "data": f"saw {MAIL}"})
    call(talk, 1, "crm__look")
    talk.upstream("crm", said)
    assert talk.take() == []
    alone(talk, 2, "tools/call", {"name": "crm__look"}, **{eras.LOG_LEVEL: "info"})
    talk.upstream("crm", said)
    assert talk.only()["params"]["data"] == "saw [EMAIL_0]"
    talk.upstream("crm", jsonrpc.notification("notifications/message", {"level": "debug", "data": "x"}))
    assert talk.take() == []


def test_headers_that_repeat_something_else_are_refused(tmp_path: Path) -> None:
    talk = stateless(tmp_path)
    request = jsonrpc.request(5, "tools/call", {"name": "crm__look", "arguments": {}, "_meta": CLIENT_META})
    headers = {"mcp-method": "tools/call", "mcp-name": "crm__send", "mcp-protocol-version": VERSION}
    talk.tell(Received(CLIENT, jsonrpc.encode(request), headers))
    assert talk.only()["error"]["code"] == eras.HEADER_MISMATCH
    assert talk.take("crm") == []


def test_arguments_are_repeated_in_headers_after_they_were_restored(tmp_path: Path) -> None:
    talk = stateless(tmp_path)
    talk.tell(Received(CLIENT, jsonrpc.encode(jsonrpc.request("again", "tools/list", {"_meta": CLIENT_META}))))
    schema = {"type": "object", "properties": {"to": {"type": "string", "x-mcp-header": "To"}}}
    listed(talk, {"name": "send", "inputSchema": schema}, {"name": "look"})
    call(talk, 1, "crm__look")
    talk.answer("crm", says(MAIL)).sent.clear()
    talk.effects.clear()
    call(talk, 2, "crm__send", {"to": "[EMAIL_0]"})
    (sent,) = [effect for effect in talk.effects if getattr(effect, "peer", "") == "crm"]
    assert sent.headers["Mcp-Param-To"] == MAIL
    assert sent.headers["Mcp-Name"] == "send"


# -- streams ---------------------------------------------------------------------------------------------


def test_a_stream_hears_of_what_it_asked_for(tmp_path: Path) -> None:
    talk = stateless(tmp_path)
    wanted = {"toolsListChanged": True, "promptsListChanged": True, "resourceSubscriptions": ["a://b/c"]}
    alone(talk, "s", "subscriptions/listen", {"notifications": wanted})
    for _ in range(2):  # it looks in the lists whose the resource is
        asked = [m for m in talk.take("crm") if m["method"].startswith("resources/")]
        if asked:
            member = "resources" if asked[-1]["method"] == "resources/list" else "resourceTemplates"
            talk.upstream("crm", jsonrpc.result(asked[-1]["id"], {member: []}))
    told = talk.only()
    assert told["method"] == "notifications/subscriptions/acknowledged"
    granted = {"toolsListChanged": True, "resourceSubscriptions": ["a://b/c"]}
    assert told["params"] == {"notifications": granted, "_meta": {eras.SUBSCRIPTION: "s"}}

    opened = talk.take("crm")[-1]
    assert opened["params"]["notifications"] == {"resourceSubscriptions": ["a://b/c"]}
    updated = {"uri": "a://b/c", "_meta": {eras.SUBSCRIPTION: opened["id"]}}
    talk.upstream("crm", jsonrpc.notification("notifications/resources/updated", updated))
    assert talk.only()["params"] == {"uri": "a://b/c", "_meta": {eras.SUBSCRIPTION: "s"}}

    talk.upstream("crm", jsonrpc.notification("notifications/tools/list_changed"))
    talk.elapse(Timer("list changed", subject="tools"))
    assert talk.only()["params"] == {"_meta": {eras.SUBSCRIPTION: "s"}}

    talk.client(jsonrpc.notification("notifications/cancelled", {"requestId": "s"}))
    closed = talk.only("crm")
    assert (closed["method"], closed["params"]["requestId"]) == ("notifications/cancelled", opened["id"])


@pytest.mark.parametrize("member", ["resourceSubscriptions", "taskIds"])
def test_a_stream_of_very_many_things_is_refused(tmp_path: Path, member: str) -> None:
    """Each would be a stream of its own at an upstream."""
    talk = stateless(tmp_path, max_pending=3)
    talk.sent.clear()
    alone(talk, "s", "subscriptions/listen", {"notifications": {member: [f"crm://{n}" for n in range(4)]}})
    assert "Too many subscriptions" in talk.only()["error"]["message"]
    assert talk.take("crm") == []


def test_a_session_subscribes_to_so_many_resources(tmp_path: Path) -> None:
    talk = opened(settings(upstream("crm"), max_pending=2), tmp_path)
    for n in range(3):
        talk.ask(n, "resources/subscribe", {"uri": f"crm://{n}"})
        if n < 2:
            talk.answer("crm", {}).take()
    assert "Too many subscriptions" in talk.only()["error"]["message"]
    talk.ask(3, "resources/unsubscribe", {"uri": "crm://0"}).answer("crm", {}).take()
    talk.ask(4, "resources/subscribe", {"uri": "crm://2"})
    assert talk.take("crm")[-1]["method"] == "resources/subscribe"


def test_a_stream_that_an_upstream_ends_is_opened_again(tmp_path: Path) -> None:
    talk = Conversation(settings(), tmp_path)
    talk.connect("crm")
    alone(talk, 1, "server/discover")
    talk.answer("crm", DISCOVERED)
    (opened,) = [m for m in talk.take("crm") if m["method"] == "subscriptions/listen"]
    assert opened["params"]["notifications"] == {"toolsListChanged": True}
    talk.upstream("crm", jsonrpc.result(opened["id"], {}))
    talk.elapse(Timer("listen", "crm", "\n".join(Watch("toolsListChanged"))))
    assert talk.only("crm")["params"]["notifications"] == {"toolsListChanged": True}


@pytest.mark.parametrize(("code", "goes_on"), [(-32603, True), (-32000, True), (-32601, False), (-32602, False)])
def test_a_stream_that_breaks_is_opened_again_and_one_that_is_not_served_is_not(
    tmp_path: Path, code: int, goes_on: bool
) -> None:
    talk = Conversation(settings(), tmp_path)
    talk.connect("crm")
    alone(talk, 1, "server/discover")
    talk.answer("crm", DISCOVERED)
    assert talk.take("crm")[-1]["method"] == "subscriptions/listen"
    refuses(talk, "crm", {"code": code, "message": "no"})
    assert (Timer("listen", "crm", "\n".join(Watch("toolsListChanged"))) in talk.timers) is goes_on


# -- a stateless client, an upstream with a session ------------------------------------------------------


def test_a_stateless_client_calls_an_upstream_with_a_session(tmp_path: Path) -> None:
    talk = stateless(tmp_path, upstream_has_session=True)
    alone(talk, 1, "tools/call", {"name": "crm__look", "arguments": {}}, progressToken="p", trace="t")
    sent = talk.only("crm")
    assert sent["params"]["_meta"] == {"progressToken": sent["id"], "trace": "t"}
    progress = {"progressToken": sent["id"], "progress": 1}
    talk.upstream("crm", jsonrpc.notification("notifications/progress", progress))
    assert talk.only()["params"] == {"progressToken": "p", "progress": 1}
    talk.answer("crm", says(MAIL))
    result = talk.only()["result"]
    assert (result["resultType"], result["content"][0]["text"]) == ("complete", "[EMAIL_0]")


def test_lists_say_how_long_they_may_be_kept(tmp_path: Path) -> None:
    talk = stateless(tmp_path, upstream_has_session=True)
    alone(talk, 1, "tools/list")
    listed(talk)
    result = talk.only()["result"]
    assert (result["ttlMs"], result["cacheScope"], result["resultType"]) == (0, "private", "complete")


def test_a_question_of_a_session_suspends_the_call(tmp_path: Path) -> None:
    talk = stateless(tmp_path, upstream_has_session=True)
    call(talk, 1, "crm__send")
    talk.take("crm")
    talk.upstream("crm", jsonrpc.request(0, "elicitation/create", ASKS["params"]))
    result = talk.only()["result"]
    (key,) = result["inputRequests"]
    assert result["inputRequests"][key]["params"]["message"] == "crm: Who is [EMAIL_0]?"

    answer = {"action": "accept", "content": {"mail": "[EMAIL_0]"}}
    again = {"inputResponses": {key: answer}, "requestState": result["requestState"]}
    alone(talk, 2, "tools/call", {"name": "crm__send", "arguments": {}, **again}, progressToken="q")
    assert talk.only("crm") == jsonrpc.result(0, {"action": "accept", "content": {"mail": MAIL}})
    talk.answer("crm", says("done"))
    done = talk.only()
    assert (done["id"], text_of(done)) == (2, "done")


def test_what_comes_on_the_stream_of_a_call_is_about_that_call(tmp_path: Path) -> None:
    talk = stateless(tmp_path, upstream_has_session=True)
    call(talk, 1, "crm__look")
    first = talk.last_asked("crm")
    alone(talk, 2, "tools/call", {"name": "crm__send", "arguments": {}}, **{eras.LOG_LEVEL: "info"})
    second = talk.last_asked("crm")
    said = jsonrpc.encode(jsonrpc.notification("notifications/message", {"level": "info", "data": "x"}))
    talk.tell(Received("crm", said, during=first))
    assert talk.take() == []
    talk.tell(Received("crm", said, during=second))
    assert talk.only()["params"]["data"] == "x"
    asks = jsonrpc.encode(jsonrpc.request(0, "elicitation/create", ASKS["params"]))
    talk.tell(Received("crm", asks, during=second))
    asked = talk.only()
    assert (asked["id"], asked["result"]["resultType"]) == (2, "input_required")


def test_what_comes_on_the_stream_of_a_call_that_is_over_is_about_no_other(tmp_path: Path) -> None:
    talk = stateless(tmp_path, upstream_has_session=True)
    call(talk, 1, "crm__look")
    over = talk.last_asked("crm")
    talk.answer("crm", says("done")).sent.clear()
    alone(talk, 2, "tools/call", {"name": "crm__send", "arguments": {}}, **{eras.LOG_LEVEL: "info"})
    talk.sent.clear()
    said = jsonrpc.encode(jsonrpc.notification("notifications/message", {"level": "info", "data": "x"}))
    asks = jsonrpc.encode(jsonrpc.request(0, "elicitation/create", ASKS["params"]))
    for late in (said, asks):
        talk.tell(Received("crm", late, during=over))
    assert talk.take() == []
    assert talk.only("crm")["error"]["code"] == -32601


def test_an_answer_that_comes_while_the_client_thinks_waits_for_it(tmp_path: Path) -> None:
    talk = stateless(tmp_path, upstream_has_session=True)
    call(talk, 1, "crm__send")
    id = talk.last_asked("crm")
    talk.upstream("crm", jsonrpc.request("q", "elicitation/create", ASKS["params"]))
    state = talk.only()["result"]["requestState"]
    talk.upstream("crm", jsonrpc.result(id, says("gave up")))
    assert talk.take() == []
    call(talk, 2, "crm__send", requestState=state)
    done = talk.only()
    assert (done["id"], text_of(done)) == (2, "gave up")


def test_a_client_that_does_not_come_back_frees_the_call(tmp_path: Path) -> None:
    talk = stateless(tmp_path, upstream_has_session=True)
    call(talk, 1, "crm__send")
    talk.upstream("crm", jsonrpc.request("q", "elicitation/create", ASKS["params"]))
    state = talk.only()["result"]["requestState"]
    talk.take("crm")
    talk.elapse(Timer("suspended", subject=state))
    told = talk.take("crm")
    assert [m.get("method") for m in told] == ["notifications/cancelled", None]
    assert "error" in told[1]
    call(talk, 2, "crm__send", requestState=state)
    assert talk.only()["error"]["code"] == -32602


def test_forms_that_a_client_abandons_do_not_lock_it_out(tmp_path: Path) -> None:
    talk = stateless(tmp_path, max_pending=5)
    states = []
    for id in range(10):
        call(talk, id, "crm__send")
        input_required(talk)
        states.append(talk.only()["result"]["requestState"])
    answer = {"inputResponses": {"who": {"action": "decline"}}}
    call(talk, "old", "crm__send", **answer, requestState=states[4])
    assert talk.only()["error"]["code"] == -32602
    talk.take("crm")
    call(talk, "new", "crm__send", **answer, requestState=states[5])
    assert talk.only("crm")["params"]["inputResponses"] == {"who": {"action": "decline"}}


def test_a_question_outside_of_any_call_is_answered_by_the_gateway(tmp_path: Path) -> None:
    talk = stateless(tmp_path, upstream_has_session=True)
    talk.upstream("crm", jsonrpc.request(0, "roots/list"))
    assert talk.only("crm")["error"]["code"] == -32601
    assert talk.take() == []


def test_log_messages_are_asked_of_a_session_once_somebody_wants_them(tmp_path: Path) -> None:
    talk = stateless(tmp_path, upstream_has_session=True)
    alone(talk, 1, "tools/call", {"name": "crm__look"}, **{eras.LOG_LEVEL: "info"})
    assert [m["method"] for m in talk.take("crm")] == ["logging/setLevel", "tools/call"]
    alone(talk, 2, "tools/call", {"name": "crm__look"}, **{eras.LOG_LEVEL: "error"})
    assert [m["method"] for m in talk.take("crm")] == ["tools/call"]


def test_a_missing_resource_has_the_code_of_the_clients_era(tmp_path: Path) -> None:
    talk = stateless(tmp_path, upstream_has_session=True)
    for method, member in (("resources/list", "resources"), ("resources/templates/list", "resourceTemplates")):
        alone(talk, method, method)
        talk.answer("crm", {member: []})
    talk.sent.clear()
    alone(talk, 1, "resources/read", {"uri": "a://b/c"})
    refuses(talk, "crm", {"code": -32002, "message": "not found"})
    assert talk.only()["error"]["code"] == -32602


@pytest.mark.parametrize("code", [eras.HEADER_MISMATCH, eras.UNSUPPORTED_VERSION])
def test_what_an_upstream_says_of_how_it_was_asked_is_not_said_of_the_client(tmp_path: Path, code: int) -> None:
    """A client would take it for the gateway's word, and try another version with all upstreams."""
    talk = stateless(tmp_path)
    call(talk, 1, "crm__send")
    refuses(talk, "crm", {"code": code, "message": "no", "data": {"supported": ["2024-11-05"]}})
    assert talk.only()["error"]["code"] == jsonrpc.INTERNAL_ERROR


def test_within_one_era_an_error_keeps_its_code(tmp_path: Path) -> None:
    talk = opened(settings(), tmp_path)
    for method, member in (("resources/list", "resources"), ("resources/templates/list", "resourceTemplates")):
        talk.ask(method, method).answer("crm", {member: []})
    talk.sent.clear()
    talk.ask(1, "resources/read", {"uri": "a://b/c"})
    refuses(talk, "crm", {"code": -32602, "message": "not found"})
    assert talk.only()["error"]["code"] == -32602


# -- a client with a session, a stateless upstream ---------------------------------------------------------


def test_a_session_calls_a_stateless_upstream(tmp_path: Path) -> None:
    talk = session_over_stateless(tmp_path)
    talk.call(1, "crm__look")
    meta = talk.only("crm")["params"]["_meta"]
    assert (meta[eras.VERSION], meta[eras.CAPABILITIES]) == (VERSION, HELLO["capabilities"])
    talk.answer("crm", {**says(MAIL), "resultType": "complete"})
    result = talk.only()["result"]
    assert result == says("[EMAIL_0]")


def test_a_session_is_told_its_own_version(tmp_path: Path) -> None:
    talk = Conversation(settings(), tmp_path)
    talk.connect("crm").ask(0, "initialize", {**HELLO, "protocolVersion": "2025-06-18"})
    refuses(talk, "crm")
    talk.answer("crm", DISCOVERED)
    assert talk.only()["result"]["protocolVersion"] == "2025-06-18"
    assert "notifications/initialized" not in [m["method"] for m in talk.take("crm")]


def test_a_round_asks_a_session_at_once(tmp_path: Path) -> None:
    talk = session_over_stateless(tmp_path)
    talk.call(1, "crm__send", {"n": 1})
    asks = {"who": ASKS, "where": {"method": "roots/list"}}
    talk.answer("crm", {"resultType": "input_required", "inputRequests": asks, "requestState": "s"})
    who, where = talk.take()
    assert (who["method"], where["method"]) == ("elicitation/create", "roots/list")
    assert who["params"]["message"] == "crm: Who is [EMAIL_0]?"
    talk.take("crm")
    talk.client(jsonrpc.result(where["id"], {"roots": [{"uri": "file:///x"}]}))
    assert talk.take("crm") == []
    talk.client(jsonrpc.result(who["id"], {"action": "accept", "content": {"mail": "[EMAIL_0]"}}))
    params = talk.only("crm")["params"]
    assert params["requestState"] == "s"
    assert list(params["inputResponses"]) == ["who", "where"]
    assert params["inputResponses"]["who"]["content"] == {"mail": MAIL}
    talk.answer("crm", {**says("done"), "resultType": "complete"})
    assert text_of(talk.only()) == "done"


def test_a_session_that_refuses_an_answer_ends_the_call(tmp_path: Path) -> None:
    talk = session_over_stateless(tmp_path)
    talk.call(1, "crm__send")
    input_required(talk)
    question = talk.only()
    talk.client(jsonrpc.failure(question["id"], -1, "the user said no"))
    result = talk.only()["result"]
    assert result["isError"] and "did not give it" in result["content"][0]["text"]


def test_a_session_waits_for_an_upstream_that_wants_to_be_asked_later(tmp_path: Path) -> None:
    talk = session_over_stateless(tmp_path)
    talk.call(1, "crm__send")
    talk.answer("crm", {"resultType": "input_required", "requestState": "later"})
    assert talk.take() == []
    talk.take("crm")
    talk.elapse(Timer("round", subject=1))
    assert talk.only("crm")["params"]["requestState"] == "later"


def test_a_sessions_log_level_goes_with_each_request(tmp_path: Path) -> None:
    talk = session_over_stateless(tmp_path)
    talk.ask(1, "logging/setLevel", {"level": "warning"})
    assert talk.only() == jsonrpc.result(1, {})
    talk.call(2, "crm__look")
    assert talk.only("crm")["params"]["_meta"][eras.LOG_LEVEL] == "warning"


def test_a_sessions_subscription_is_a_stream_of_the_gateway(tmp_path: Path) -> None:
    talk = session_over_stateless(tmp_path)
    for method, member in (("resources/list", "resources"), ("resources/templates/list", "resourceTemplates")):
        talk.ask(method, method).answer("crm", {member: []})
    talk.sent.clear()
    talk.ask(1, "resources/subscribe", {"uri": "a://b/c"})
    opened = talk.only("crm")
    assert opened["params"]["notifications"] == {"resourceSubscriptions": ["a://b/c"]}
    assert talk.only() == jsonrpc.result(1, {})
    talk.upstream("crm", jsonrpc.notification("notifications/subscriptions/acknowledged", {"notifications": {}}))
    updated = {"uri": "a://b/c", "_meta": {eras.SUBSCRIPTION: opened["id"]}}
    talk.upstream("crm", jsonrpc.notification("notifications/resources/updated", updated))
    assert talk.only()["params"] == {"uri": "a://b/c"}
    talk.ask(2, "resources/unsubscribe", {"uri": "a://b/c"})
    assert talk.only("crm")["params"]["requestId"] == opened["id"]


def test_structured_content_that_no_session_knows_is_left_to_the_text(tmp_path: Path) -> None:
    talk = session_over_stateless(tmp_path)
    talk.ask("again", "tools/list")
    listed(talk, {"name": "look", "outputSchema": {"type": "array"}}, {"name": "send"})
    assert "outputSchema" not in talk.only()["result"]["tools"][0]
    talk.call(1, "crm__look")
    talk.answer("crm", {**says("[1]"), "structuredContent": [1], "resultType": "complete"})
    assert "structuredContent" not in talk.only()["result"]


def test_both_eras_serve_one_session(tmp_path: Path) -> None:
    talk = Conversation(settings(upstream("old"), upstream("new")), tmp_path)
    talk.connect("old").connect("new").ask(0, "initialize", HELLO)
    talk.answer("old", {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}})
    refuses(talk, "new")
    talk.answer("new", {**DISCOVERED, "capabilities": {"tools": {}}})
    assert talk.only()["result"]["protocolVersion"] == "2025-06-18"
    talk.client(jsonrpc.notification("notifications/initialized")).ask(1, "tools/list")
    for name in ("old", "new"):
        talk.answer(name, {"tools": [{"name": "look", "inputSchema": {"type": "object"}}]})
    assert [tool["name"] for tool in talk.only()["result"]["tools"]] == ["old__look", "new__look"]


def test_a_client_that_begins_anew_after_a_refused_hello_is_served(tmp_path: Path) -> None:
    talk = Conversation(settings(), tmp_path)
    talk.ask(0, "initialize", HELLO).disconnect("crm", "gone")
    talk.elapse(Timer("startup"))
    assert "No upstream is ready" in talk.only()["error"]["message"]
    talk.connect("crm").ask(1, "initialize", HELLO)
    talk.answer("crm", {"protocolVersion": "2025-11-25", "capabilities": SERVES})
    assert talk.only()["result"]["protocolVersion"] == "2025-11-25"


# -- tasks ---------------------------------------------------------------------------------------------


def test_a_task_of_the_stateless_era_is_followed_where_it_was_made(tmp_path: Path) -> None:
    talk = stateless(tmp_path)
    call(talk, 1, "crm__send")
    task = {"resultType": "task", "taskId": "t-1", "status": "working", "ttlMs": 1000}
    talk.answer("crm", task)
    result = talk.only()["result"]
    assert {name: result[name] for name in task} == task

    alone(talk, 2, "tasks/get", {"taskId": "t-1"})
    talk.answer("crm", {"resultType": "complete", **task, "status": "completed", "result": says(MAIL)})
    assert talk.only()["result"]["result"] == says("[EMAIL_0]")
    talk.take("crm")

    alone(talk, 3, "tasks/update", {"taskId": "t-1", "inputResponses": {"who": {"action": "accept", "content": {}}}})
    assert talk.only("crm")["params"]["inputResponses"] == {"who": {"action": "accept", "content": {}}}


def test_a_stream_hears_of_the_tasks_it_names(tmp_path: Path) -> None:
    talk = stateless(tmp_path)
    call(talk, 1, "crm__send")
    talk.answer("crm", {"resultType": "task", "taskId": "t-1", "status": "working"}).sent.clear()
    alone(talk, "s", "subscriptions/listen", {"notifications": {"taskIds": ["t-1", "t-2"]}})
    assert talk.only()["params"]["notifications"] == {"taskIds": ["t-1"]}
    opened = talk.only("crm")
    assert opened["params"]["notifications"] == {"taskIds": ["t-1"]}
    done = {"taskId": "t-1", "status": "completed", "result": says(MAIL), "_meta": {eras.SUBSCRIPTION: opened["id"]}}
    talk.upstream("crm", jsonrpc.notification("notifications/tasks", done))
    told = talk.only()["params"]
    assert (told["result"], told["_meta"]) == (says("[EMAIL_0]"), {eras.SUBSCRIPTION: "s"})


def test_a_task_whose_id_holds_a_value_is_followed_under_a_handle(tmp_path: Path) -> None:
    talk = stateless(tmp_path)
    call(talk, 1, "crm__send")
    task = {"taskId": f"for {MAIL}", "status": "working"}
    talk.answer("crm", {"resultType": "task", **task})
    handle = talk.only()["result"]["taskId"]
    assert MAIL not in handle
    alone(talk, 2, "tasks/get", {"taskId": handle})
    assert talk.take("crm")[-1]["params"]["taskId"] == task["taskId"]
    talk.answer("crm", {"resultType": "complete", **task})
    assert talk.only()["result"]["taskId"] == handle

    alone(talk, "s", "subscriptions/listen", {"notifications": {"taskIds": [handle]}})
    assert talk.only()["params"]["notifications"] == {"taskIds": [handle]}
    assert talk.take("crm")[-1]["params"]["notifications"] == {"taskIds": [task["taskId"]]}
    talk.upstream("crm", jsonrpc.notification("notifications/tasks", task))
    assert talk.only()["params"]["taskId"] == handle


def test_tasks_of_the_same_id_are_two_by_all_they_are_asked_by(tmp_path: Path) -> None:
    talk = stateless(tmp_path, upstreams={name: upstream(name) for name in ("crm", "evil")})
    talk.connect("evil").answer("evil", DISCOVERED)
    alone(talk, "tools", "tools/list")
    for name in ("crm", "evil"):
        talk.answer(name, {"tools": [{"name": "send", "inputSchema": {"type": "object"}}]})
    ids = []
    for number, name in enumerate(("crm", "evil")):
        talk.sent.clear()
        call(talk, number, f"{name}__send")
        talk.answer(name, {"resultType": "task", "taskId": "1", "status": "working"})
        ids.append(talk.only()["result"]["taskId"])
    assert len(set(ids)) == 2

    alone(talk, "s", "subscriptions/listen", {"notifications": {"taskIds": ids}})
    talk.sent.clear()
    for name in ("crm", "evil"):
        talk.upstream(name, jsonrpc.notification("notifications/tasks", {"taskId": "1", "status": "completed"}))
    assert [told["params"]["taskId"] for told in talk.take()] == ids
    alone(talk, 9, "tasks/get", {"taskId": ids[1]})
    assert talk.only("evil")["params"]["taskId"] == "1"
    talk.answer("evil", {"resultType": "complete", "taskId": "1", "status": "completed"})
    assert talk.only()["result"]["taskId"] == ids[1]


@pytest.mark.parametrize("has_session", [False, True])
def test_no_upstream_speaks_for_a_stream_of_the_client(tmp_path: Path, has_session: bool) -> None:
    talk = stateless(tmp_path, upstream_has_session=has_session)
    call(talk, 5, "crm__send")
    said = {"level": "info", "_meta": {eras.SUBSCRIPTION: 5, "acme/k": 1}}
    talk.upstream("crm", jsonrpc.notification("notifications/acme", said))
    assert talk.only()["params"]["_meta"] == {"acme/k": 1}


def test_nobody_speaks_of_another_upstreams_task(tmp_path: Path) -> None:
    talk = opened(settings(upstream("crm"), upstream("evil")), tmp_path)
    related = {"io.modelcontextprotocol/related-task": {"taskId": "1"}}
    for id, name in enumerate(("crm", "evil")):
        talk.take()
        talk.call(id, f"{name}__send", task={}).answer(name, {"task": {"taskId": "1", "status": "working"}})
        own = talk.only()["result"]["task"]["taskId"]
        assert (own == "1") is (name == "crm")

        def task_of(part: dict[str, Any]) -> Any:
            return part["_meta"]["io.modelcontextprotocol/related-task"]["taskId"]

        talk.upstream(name, jsonrpc.notification("notifications/tasks/status", {"taskId": "1", "status": "failed"}))
        assert talk.only()["params"]["taskId"] == own
        talk.upstream(name, jsonrpc.notification("notifications/message", {"level": "info", "_meta": related}))
        assert task_of(talk.only()["params"]) == own
        ask = {"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}, "_meta": related}
        talk.upstream(name, jsonrpc.request(7, "elicitation/create", ask))
        assert task_of(talk.only()["params"]) == own
        talk.ask("r", "tasks/result", {"taskId": own}).answer(name, {"content": [], "_meta": related})
        assert task_of(talk.only()["result"]) == own


@pytest.mark.parametrize("method", ["tasks/get", "tasks/cancel", "tasks/update"])
def test_a_task_nobody_told_this_client_of_is_unknown(tmp_path: Path, method: str) -> None:
    talk = stateless(tmp_path)
    alone(talk, 1, method, {"taskId": "somebody-elses"})
    assert talk.only()["error"]["code"] == -32602
    assert talk.take("crm") == []
