"""Questions on the way of a call: who may ask, what becomes of them when the call ends, what is left behind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cloakllm_gateway.protocol import jsonrpc
from tests.core.test_eras import (
    ASKS,
    MAIL,
    alone,
    call,
    input_required,
    session_over_stateless,
    stateless,
)
from tests.core.transcript import Conversation, says, text_of, upstream

DECLINES = {"inputResponses": {"who": {"action": "decline"}}}
CANCELLED = "notifications/cancelled"


def suspended(talk: Conversation, id: int = 1, **params: Any) -> str:
    """A call whose upstream wants to know something; what the client gives back to go on."""
    call(talk, id, "crm__send", **params)
    input_required(talk)
    talk.take("crm")
    state: str = talk.only()["result"]["requestState"]
    return state


def finish(talk: Conversation) -> None:
    """Let the shell answer, the newest job first."""
    while jobs := talk.held_jobs():
        talk.release(jobs[-1])


# -- who may ask -------------------------------------------------------------------------------------


def test_what_an_upstream_with_a_session_calls_unfinished_is_the_answer(tmp_path: Path) -> None:
    """It asks by requests, which carry its name; it can't put a question past the gateway into a result."""
    talk = stateless(tmp_path, upstream_has_session=True)
    call(talk, 1, "crm__send")
    input_required(talk, requestState="mine")
    assert talk.only()["result"]["resultType"] == "complete"


@pytest.mark.parametrize("has_session", [True, False])
def test_a_list_is_no_place_for_a_question(tmp_path: Path, has_session: bool) -> None:
    talk = stateless(tmp_path, upstream_has_session=has_session)
    alone(talk, 1, "prompts/list")
    talk.answer("crm", {"prompts": [], "resultType": "input_required", "inputRequests": {"who": ASKS}})
    assert "inputRequests" not in str(talk.only())


def test_a_request_that_can_not_be_sent_again_can_not_wait_for_an_answer(tmp_path: Path) -> None:
    talk = stateless(tmp_path)
    alone(talk, 1, "prompts/list")
    talk.answer("crm", {"prompts": [{"name": "letter"}]}).sent.clear()
    ref = {"type": "ref/prompt", "name": "crm__letter"}
    alone(talk, 2, "completion/complete", {"ref": ref, "argument": {"name": "to", "value": "k"}})
    input_required(talk)
    assert talk.only()["error"]["code"] == jsonrpc.INTERNAL_ERROR


def test_a_round_of_more_questions_than_may_be_open_is_refused(tmp_path: Path) -> None:
    talk = stateless(tmp_path)
    call(talk, 1, "crm__send")
    talk.answer("crm", {"resultType": "input_required", "inputRequests": {f"who {n}": ASKS for n in range(1001)}})
    assert text_of(talk.only()).startswith("The upstream crm asked for more too often, for too much")
    assert len(talk.gateway._questions) == 0


def test_a_question_of_a_task_carries_the_name_of_who_asks(tmp_path: Path) -> None:
    talk = stateless(tmp_path)
    call(talk, 1, "crm__send")
    talk.answer("crm", {"resultType": "task", "taskId": "t-1", "status": "working"})
    alone(talk, "s", "subscriptions/listen", {"notifications": {"taskIds": ["t-1"]}})
    talk.sent.clear()
    waits = {"taskId": "t-1", "status": "input_required", "inputRequests": {"who": ASKS, "where": {"method": "x"}}}
    talk.upstream("crm", jsonrpc.notification("notifications/tasks", waits))
    alone(talk, 2, "tasks/get", {"taskId": "t-1"})
    talk.answer("crm", {"resultType": "complete", **waits})
    for part in (message.get("params") or message["result"] for message in talk.take()):
        assert list(part["inputRequests"]) == ["who"]
        assert part["inputRequests"]["who"]["params"]["message"] == "crm: Who is [EMAIL_0]?"


def test_a_task_asks_nothing_that_its_upstream_may_not_ask(tmp_path: Path) -> None:
    talk = stateless(tmp_path, upstreams={"crm": upstream("crm", elicitation=False)})
    call(talk, 1, "crm__send")
    talk.answer("crm", {"resultType": "task", "taskId": "t-1", "status": "working"}).sent.clear()
    alone(talk, 2, "tasks/get", {"taskId": "t-1"})
    talk.answer("crm", {"resultType": "complete", "taskId": "t-1", "inputRequests": {"who": ASKS}})
    assert talk.only()["result"]["inputRequests"] == {}


@pytest.mark.parametrize("method", ["tasks/update", "tools/call"])
def test_what_a_person_answers_a_task_is_hidden_when_it_comes_back(tmp_path: Path, method: str) -> None:
    talk = stateless(tmp_path)
    call(talk, 1, "crm__send")
    talk.answer("crm", {"resultType": "task", "taskId": "t-1", "status": "working"}).sent.clear()
    answers = {"who": {"action": "accept", "content": {"password": "correct-horse-9"}}}
    params = {"taskId": "t-1"} if method == "tasks/update" else {"name": "crm__send"}
    alone(talk, 2, method, {**params, "inputResponses": answers})
    assert talk.only("crm")["params"]["inputResponses"] == answers
    talk.answer("crm", {"resultType": "complete", "statusMessage": "tried correct-horse-9", **says("correct-horse-9")})
    assert "correct-horse" not in str(talk.only())


# -- how it ends -------------------------------------------------------------------------------------


def test_a_call_that_is_refused_another_round_ends_behind_what_was_said_before(tmp_path: Path) -> None:
    talk = stateless(tmp_path)
    talk.hold = True
    alone(talk, 1, "tools/call", {"name": "crm__send"}, progressToken="p")
    asked = talk.last_asked("crm")
    said = {"progressToken": asked, "progress": 1, "message": MAIL}
    talk.upstream("crm", jsonrpc.notification("notifications/progress", said))
    talk.upstream("crm", jsonrpc.result(asked, {"resultType": "input_required", "inputRequests": {"who": 3}}))
    finish(talk)
    assert [message.get("method", "the answer") for message in talk.take()] == ["notifications/progress", "the answer"]


def test_a_session_hears_that_its_call_is_over_when_the_upstream_dies_in_a_round(tmp_path: Path) -> None:
    talk = session_over_stateless(tmp_path)
    talk.call(1, "crm__send")
    input_required(talk)
    question = talk.only()
    talk.disconnect("crm")
    taken_back, answer = talk.take()
    assert (taken_back["method"], taken_back["params"]["requestId"]) == (CANCELLED, question["id"])
    assert answer["id"] == 1 and "stopped" in text_of(answer)


def test_who_comes_back_to_an_upstream_that_died_in_the_meantime_is_told_so(tmp_path: Path) -> None:
    talk = stateless(tmp_path)
    state = suspended(talk)
    talk.disconnect("crm")
    call(talk, 2, "crm__send", **DECLINES, requestState=state)
    answer = talk.only()
    assert answer["id"] == 2 and "stopped" in text_of(answer)


def test_an_upstream_that_wanted_to_be_asked_later_and_died_is_the_end_of_the_call(tmp_path: Path) -> None:
    talk = stateless(tmp_path)
    call(talk, 1, "crm__send")
    talk.answer("crm", {"resultType": "input_required", "requestState": "later"})
    state = talk.only()["result"]["requestState"]
    talk.disconnect("crm")
    call(talk, 2, "crm__send", requestState=state)
    answer = talk.only()
    assert answer["id"] == 2 and "not available" in text_of(answer)


def test_a_call_that_is_taken_back_takes_the_questions_of_its_round_with_it(tmp_path: Path) -> None:
    talk = session_over_stateless(tmp_path)
    talk.call(1, "crm__send")
    input_required(talk)
    question = talk.only()
    talk.client(jsonrpc.notification(CANCELLED, {"requestId": 1}))
    taken_back = talk.only()
    assert (taken_back["method"], taken_back["params"]["requestId"]) == (CANCELLED, question["id"])


def test_one_refused_answer_takes_the_other_questions_back(tmp_path: Path) -> None:
    talk = session_over_stateless(tmp_path)
    talk.call(1, "crm__send")
    asks = {"who": ASKS, "where": {"method": "roots/list"}}
    talk.answer("crm", {"resultType": "input_required", "inputRequests": asks})
    who, where = talk.take()
    talk.client(jsonrpc.failure(who["id"], -1, "no"))
    answer, taken_back = talk.take()
    assert answer["id"] == 1 and answer["result"]["isError"]
    assert taken_back["params"]["requestId"] == where["id"]


# -- what is left ------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["answered", "taken back"])
def test_nothing_is_left_of_a_call_that_went_in_rounds(tmp_path: Path, end: str) -> None:
    talk = stateless(tmp_path)
    state = suspended(talk)
    call(talk, 2, "crm__send", **DECLINES, requestState=state)
    if end == "answered":
        talk.answer("crm", says("done"))
    else:
        talk.client(jsonrpc.notification(CANCELLED, {"requestId": 2}))
    gateway = talk.gateway
    assert len(gateway._suspensions) == len(gateway._questions) == len(gateway._requests) == 0


def test_what_is_no_result_is_told_with_the_name_of_whose_it_was(tmp_path: Path) -> None:
    talk = stateless(tmp_path)
    call(talk, 1, "crm__send")
    talk.upstream("crm", {"jsonrpc": "2.0", "id": talk.last_asked("crm"), "result": MAIL})
    answer = talk.only()
    assert answer["result"]["isError"] and "The upstream crm sent a malformed message" in text_of(answer)


@pytest.mark.parametrize("reused", [1, 2])
def test_what_was_said_for_a_request_that_is_taken_back_is_told_to_no_other(tmp_path: Path, reused: int) -> None:
    talk = stateless(tmp_path)
    talk.hold = True
    alone(talk, 1, "tools/call", {"name": "crm__send"}, progressToken="p")
    said = {"progressToken": talk.last_asked("crm"), "progress": 1, "message": MAIL}
    talk.upstream("crm", jsonrpc.notification("notifications/progress", said))
    talk.client(jsonrpc.notification(CANCELLED, {"requestId": 1}))
    alone(talk, reused, "tools/call", {"name": "crm__look"}, progressToken="p")
    finish(talk)
    assert talk.take() == []


@pytest.mark.parametrize("end", ["answered", "taken back", "dead"])
def test_a_question_that_is_clean_when_its_call_is_over_is_asked_of_nobody(tmp_path: Path, end: str) -> None:
    talk = stateless(tmp_path, upstream_has_session=True)
    talk.hold = True
    call(talk, 1, "crm__send")
    asked = talk.last_asked("crm")
    talk.upstream("crm", jsonrpc.request("q", "elicitation/create", ASKS["params"]))
    talk.sent.clear()
    if end == "answered":
        talk.upstream("crm", jsonrpc.result(asked, says("done")))
    elif end == "taken back":
        talk.client(jsonrpc.notification(CANCELLED, {"requestId": 1}))
    else:
        talk.disconnect("crm")
    finish(talk)
    assert not any("inputRequests" in message.get("result", {}) for message in talk.take())
    told = [message for message in talk.take("crm") if message.get("id") == "q"]
    assert [message["error"]["code"] for message in told] == ([] if end == "dead" else [-32601])
    assert len(talk.gateway._suspensions) == len(talk.gateway._questions) == 0
