"""What an upstream was given comes back in parts: in answers, late, from tasks, and at what cost it is looked for."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cloakllm_gateway.core.disclosed import MOST_CALLS, MOST_FOLLOWED, MOST_VALUES, SECONDS, Disclosed
from cloakllm_gateway.core.settings import ToolRules, Treatment
from cloakllm_gateway.protocol import jsonrpc
from cloakllm_gateway.spans import Proof
from cloakllm_gateway.vault.entries import Entry, Spelling, Token
from tests.core.test_egress import LETS, listen, listening, serve_lists
from tests.core.test_eras import alone, call, listed, stateless
from tests.core.transcript import Conversation, opened, says, settings, text_of, upstream

MAIL = "anneliese.wolperding@acme-corp.com"
LOCAL = "anneliese.wolperding"
SAID = f"mailbox {LOCAL} unknown"


@pytest.fixture
def talk(tmp_path: Path) -> Conversation:
    """A session that was shown an address by crm."""
    talk = opened(settings(upstream("crm"), upstream("other")), tmp_path)
    talk.call(1, "crm__look").answer("crm", says(MAIL))
    talk.sent.clear()
    return talk


def notice(method: str, **params: Any) -> dict[str, Any]:
    return jsonrpc.notification(method, params)


LOG = notice("notifications/message", level="info", data=SAID)
UNKNOWN = notice("notifications/acme/news", words=SAID)

# -- in a session --------------------------------------------------------------------------------------

ASKS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "elicitation/create": ({"message": "Who?"}, {"action": "accept", "content": {"who": "[EMAIL_0]"}}),
    "sampling/createMessage": (
        {"messages": [], "maxTokens": 1},
        {"role": "assistant", "model": "m", "content": {"type": "text", "text": "[EMAIL_0]"}},
    ),
    "roots/list": ({}, {"roots": [{"uri": "file:///[EMAIL_0]"}]}),
}


@pytest.mark.parametrize("method", ASKS)
def test_the_answer_to_a_question_counts_as_given_to_the_call_it_was_asked_in(talk: Conversation, method: str) -> None:
    params, answer = ASKS[method]
    talk.call(2, "crm__send")
    talk.upstream("crm", jsonrpc.request("q", method, params))
    (question,) = talk.take()
    talk.client(jsonrpc.result(question["id"], answer))
    assert MAIL in str(talk.take("crm")[-1])
    talk.upstream("crm", LOG).answer("crm", says(SAID))
    log, result = talk.take()
    assert LOCAL not in str(log) and LOCAL not in text_of(result)


@pytest.mark.parametrize("said", [LOG, UNKNOWN], ids=["a log", "an unknown notification"])
@pytest.mark.parametrize("end", ["in flight", "answered", "cancelled"])
def test_parts_stay_hidden_in_what_is_said_while_a_call_is_in_flight_and_after(
    talk: Conversation, said: dict[str, Any], end: str
) -> None:
    talk.call(2, "crm__send", {"to": "[EMAIL_0]"})
    if end == "answered":
        talk.answer("crm", says("done"))
    elif end == "cancelled":
        talk.client(notice("notifications/cancelled", requestId=2))
    talk.sent.clear()
    talk.upstream("crm", said)
    assert LOCAL not in str(talk.only())


def test_another_upstream_was_given_nothing(talk: Conversation) -> None:
    talk.call(2, "crm__send", {"to": "[EMAIL_0]"})
    talk.upstream("other", LOG)
    assert LOCAL in str(talk.only())


def test_the_answer_of_another_call_is_searched_for_what_that_one_was_given(talk: Conversation) -> None:
    talk.call(2, "crm__send", {"to": "[EMAIL_0]"}).answer("crm", says("done"))
    talk.sent.clear()
    talk.call(3, "crm__look").answer("crm", says(SAID))
    assert text_of(talk.only()) == SAID


# -- what a person types ---------------------------------------------------------------------------------

FORM = {
    "message": "Who are you?",
    "requestedSchema": {
        "type": "object",
        "properties": {"plan": {"type": "string", "enum": ["Professional", "Basic"]}, "more": {"type": "string"}},
    },
}


def typed(talk: Conversation, content: dict[str, Any]) -> None:
    """A person fills in a form of crm's, asked in a call that is in flight."""
    talk.call(2, "crm__send")
    talk.upstream("crm", jsonrpc.request("q", "elicitation/create", FORM))
    talk.client(jsonrpc.result(talk.take()[-1]["id"], {"action": "accept", "content": content}))
    assert talk.take("crm")[-1]["result"]["content"] == content


@pytest.mark.parametrize(
    ("value", "echo"),
    [
        ("wolpertinger", "hello wolpertinger"),
        ("Eulenspiegelweg", "your street was EULENSPIEGELWEG"),
        ("Eulenspiegelweg 12, ask for zora.quimby@posteo.net", "at Eulenspiegelweg 12, ask for zora.quimby@posteo.net"),
        (482913, "pin 482913"),
        (["quastenflosser"], "hello quastenflosser"),
    ],
)
def test_whatever_is_typed_does_not_come_back(talk: Conversation, value: Any, echo: str) -> None:
    typed(talk, {"more": value})
    said = str(value[0] if isinstance(value, list) else value)
    talk.answer("crm", says(echo)).call(3, "crm__look").answer("crm", says(echo))
    for answer in talk.take():
        assert said.split(",")[0].casefold() not in text_of(answer).casefold()


def test_parts_of_what_is_typed_do_not_come_back_either(talk: Conversation) -> None:
    typed(talk, {"more": "zora.quimby@posteo.net"})
    talk.answer("crm", says("mailbox zora.quimby unknown"))
    assert "zora.quimby" not in text_of(talk.only())


@pytest.mark.parametrize(
    "value", ["yes", "no", "true", True, 7, "2026", 1234, "Professional", "professional", "", "a", "None"]
)
def test_ordinary_words_choices_and_short_numbers_stay_readable(talk: Conversation, value: Any) -> None:
    typed(talk, {"plan": value, "more": value})
    echo = f"you said {value}, thanks"
    talk.answer("crm", says(echo)).call(3, "crm__look").answer("crm", says(echo))
    assert [text_of(answer) for answer in talk.take()] == [echo, echo]


def test_what_was_typed_for_one_upstream_is_an_ordinary_word_to_others(talk: Conversation) -> None:
    typed(talk, {"more": "wolpertinger"})
    talk.call(3, "other__look").answer("other", says("a wolpertinger is a horned hare"))
    assert text_of(talk.only()) == "a wolpertinger is a horned hare"


def test_what_can_not_be_learned_does_not_go_out(talk: Conversation) -> None:
    talk.call(2, "crm__send")
    talk.upstream("crm", jsonrpc.request("q", "elicitation/create", FORM))
    talk.broken_store = "the store is away"
    talk.client(jsonrpc.result(talk.take()[-1]["id"], {"action": "accept", "content": {"more": "wolpertinger"}}))
    assert "the store is away" in talk.take("crm")[-1]["error"]["message"]


@pytest.mark.parametrize("method", ["tasks/update", "tools/call"])
def test_whatever_is_typed_for_a_task_does_not_come_back(tmp_path: Path, method: str) -> None:
    talk = stateless_task(tmp_path)
    params = {"taskId": "t-1"} if method == "tasks/update" else {"name": "crm__send"}
    content = {"more": "wolpertinger", "mail": "zora.quimby@posteo.net"}
    answers = {"who": {"action": "accept", "content": content}}
    alone(talk, 5, method, {**params, "inputResponses": answers})
    assert talk.take("crm")[-1]["params"]["inputResponses"] == answers
    said = "wolpertinger, mailbox zora.quimby"
    talk.answer("crm", {"resultType": "complete", "statusMessage": said, **says(said)})
    answer = str(talk.only())
    assert "wolpertinger" not in answer and "zora" not in answer


FORM_OF_TASK = {"method": "elicitation/create", "params": FORM}


@pytest.mark.parametrize("how", ["told", "asked"])
def test_a_choice_of_the_form_of_a_task_stays_readable(tmp_path: Path, how: str) -> None:
    talk = stateless_task(tmp_path)
    asking = {"taskId": "t-1", "status": "input_required", "inputRequests": {"who": FORM_OF_TASK}}
    if how == "told":
        talk.upstream("crm", notice("notifications/tasks", **asking))
    else:
        alone(talk, 4, "tasks/get", {"taskId": "t-1"})
        talk.answer("crm", {"resultType": "complete", **asking})
    talk.sent.clear()
    answers = {"who": {"action": "accept", "content": {"plan": "Professional", "more": "wolpertinger"}}}
    alone(talk, 5, "tasks/update", {"taskId": "t-1", "inputResponses": answers})
    talk.answer("crm", {"resultType": "complete"}).sent.clear()
    call(talk, 6, "crm__look")
    talk.answer("crm", says("the Professional plan of wolpertinger"))
    assert re.sub(r"_\d+", "", text_of(talk.only())) == "the Professional plan of [TERM]"


# -- by a task -------------------------------------------------------------------------------------------

WORKING = {"taskId": "t-1", "status": "working"}
FAILED = {"taskId": "t-1", "status": "failed", "statusMessage": SAID}


def test_what_a_task_says_is_searched_for_what_the_call_was_given_that_made_it(talk: Conversation) -> None:
    talk.call(2, "crm__send", {"to": "[EMAIL_0]"}, task={"ttl": 1}).answer("crm", {"task": WORKING})
    for n in range(MOST_CALLS + 1):  # long ago
        talk.call(f"then {n}", "crm__send", {"to": "[EMAIL_0]"}).answer("crm", says("done"))
    talk.sent.clear()
    talk.upstream("crm", notice("notifications/tasks/status", **FAILED))
    talk.ask(3, "tasks/get", {"taskId": "t-1"}).answer("crm", FAILED)
    talk.ask(4, "tasks/result", {"taskId": "t-1"}).answer("crm", says(SAID))
    said = talk.take()
    assert len(said) == 3
    assert LOCAL not in str(said)


def stateless_task(tmp_path: Path, *rules: ToolRules) -> Conversation:
    """A stateless client that waits for a task of crm's tool ``send``."""
    talk = stateless(tmp_path, upstreams={"crm": upstream("crm", tools=rules)})
    call(talk, 1, "crm__look")
    talk.answer("crm", says(MAIL)).sent.clear()
    call(talk, 2, "crm__send", {"to": "[EMAIL_0]"})
    talk.answer("crm", {"resultType": "task", **WORKING})
    alone(talk, "s", "subscriptions/listen", {"notifications": {"taskIds": ["t-1"]}})
    talk.sent.clear()
    return talk


def told(talk: Conversation, task: dict[str, Any]) -> list[dict[str, Any]]:
    """What the client hears of ``task``, in a notification and when it asks."""
    talk.upstream("crm", notice("notifications/tasks", **task))
    alone(talk, 3, "tasks/get", {"taskId": "t-1"})
    talk.answer("crm", {"resultType": "complete", **task})
    return talk.take()


def test_what_a_task_of_the_stateless_era_says_is_searched_as_well(tmp_path: Path) -> None:
    said = told(stateless_task(tmp_path), FAILED)
    assert len(said) == 2
    assert LOCAL not in str(said)


RECORD = {"notes": "met at the fair", "ssn": "536-22-8726"}
DONE = {"taskId": "t-1", "status": "completed", "result": {**says("see there"), "structuredContent": RECORD}}


def test_the_rules_of_a_tool_hold_for_the_tasks_it_makes(tmp_path: Path) -> None:
    rules = ToolRules("send", {"SSN": Treatment.REDACT}, {"$.notes": Treatment.REDACT})
    notification, answer = told(stateless_task(tmp_path, rules), DONE)
    for result in (notification["params"]["result"], answer["result"]["result"]):
        assert result["structuredContent"] == {"notes": "[TERM_REDACTED]", "ssn": "[SSN_REDACTED]"}


def test_what_a_task_gives_fits_the_schema_of_its_tool(tmp_path: Path) -> None:
    talk = stateless_task(tmp_path)
    alone(talk, "tools again", "tools/list")
    schema = {"type": "object", "properties": {"reference": {"type": "number"}}}
    listed(talk, {"name": "look"}, {"name": "send", "outputSchema": schema})
    call(talk, "known", "crm__look")
    talk.answer("crm", {"content": [], "structuredContent": {"phone": 15552345678}}).sent.clear()
    record = {"content": [], "structuredContent": {"reference": 15552345678}}
    notification, answer = told(talk, {"taskId": "t-1", "status": "completed", "result": record})
    for result in (notification["params"]["result"], answer["result"]["result"]):
        assert result["isError"] is True
        assert "structuredContent" not in result


def test_what_nobody_may_be_shown_of_a_tool_its_tasks_do_not_show(tmp_path: Path) -> None:
    (answer,) = told(stateless_task(tmp_path, ToolRules("send", {"SSN": Treatment.BLOCK})), DONE)
    assert "nobody may be shown" in answer["error"]["message"]


def test_the_rules_of_other_tools_do_not(tmp_path: Path) -> None:
    for said in told(stateless_task(tmp_path, ToolRules("look", {"SSN": Treatment.BLOCK})), DONE):
        assert "met at the fair" in str(said)


def listed_tasks(tmp_path: Path, *rules: ToolRules) -> Any:
    """What a list says of a task of the tool ``send``, one of ``look`` and one that nobody called; or the error."""
    talk = opened(settings(upstream("crm", tools=rules)), tmp_path, tasks={})
    for id, tool in (("t-1", "send"), ("t-2", "look")):
        talk.call(id, f"crm__{tool}", task={"ttl": 1}).answer("crm", {"task": {"taskId": id, "status": "working"}})
    talk.sent.clear()
    said = '{"notes": "at fair %d", "reference": "SSN 536-22-8726"}'
    tasks = [{"taskId": f"t-{n}", "status": "failed", "statusMessage": said % n} for n in (1, 2, 3)]
    talk.ask(7, "tasks/list").answer("crm", {"tasks": tasks})
    answer = talk.only()
    return answer["error"] if "error" in answer else [task["statusMessage"] for task in answer["result"]["tasks"]]


def test_in_a_list_each_task_has_the_rules_of_its_tool(tmp_path: Path) -> None:
    rules = (ToolRules("send", {"SSN": Treatment.REDACT}), ToolRules("look", {"SSN": Treatment.PASS}))
    redacted, passed, usual = listed_tasks(tmp_path, *rules)
    assert "[SSN_REDACTED]" in redacted
    assert "536-22-8726" in passed
    assert "[SSN_0]" in usual


def test_in_a_list_a_tool_s_paths_hold_for_its_tasks_alone(tmp_path: Path) -> None:
    cut, other, usual = listed_tasks(tmp_path, ToolRules("send", {}, {"$.notes": Treatment.REDACT}))
    assert "fair" not in cut
    assert "at fair 2" in other and "at fair 3" in usual


def test_a_list_with_what_nobody_may_be_shown_of_a_tool_is_withheld(tmp_path: Path) -> None:
    assert "nobody may be shown" in str(listed_tasks(tmp_path, ToolRules("send", {"SSN": Treatment.BLOCK})))
    assert len(listed_tasks(tmp_path / "b", ToolRules("sen", {"SSN": Treatment.BLOCK}))) == 3


# -- by a subscription -----------------------------------------------------------------------------------


def at(talk: Conversation, seconds: float) -> None:
    """It is later: what is over has been over for a while."""
    talk.gateway._upstreams["evil"].disclosed._clock = lambda: seconds


UPDATED = notice("notifications/resources/updated", uri=f"evil://x/{MAIL.replace('@', '%40')}", title=SAID)


def test_what_the_uri_of_a_stream_gave_does_not_come_back_as_long_as_the_stream_lasts(tmp_path: Path) -> None:
    talk = listening(tmp_path, MAIL, **LETS)
    listen(talk, "evil://x/[EMAIL_0]")
    at(talk, 10 * SECONDS)
    talk.sent.clear()
    talk.upstream("evil", UPDATED)
    assert LOCAL not in str(talk.only())
    talk.client(notice("notifications/cancelled", requestId="s"))
    assert [entry.spelling.value for entry in talk.gateway.disclosed("evil")] == [MAIL]
    at(talk, 20 * SECONDS)
    assert talk.gateway.disclosed("evil") == ()


def test_what_the_uri_of_a_subscription_gave_does_not_come_back_until_it_ends(tmp_path: Path) -> None:
    talk = opened(settings(upstream("crm"), upstream("evil"), **LETS), tmp_path)
    talk.call(1, "crm__look").answer("crm", says(MAIL))
    talk.ask("r", "resources/list")
    serve_lists(talk)
    talk.ask("t", "resources/templates/list")
    serve_lists(talk)
    talk.sent.clear()
    talk.ask(2, "resources/subscribe", {"uri": "evil://x/[EMAIL_0]"}).answer("evil", {})
    at(talk, 10 * SECONDS)
    talk.sent.clear()
    talk.upstream("evil", UPDATED).upstream("evil", LOG)
    assert LOCAL not in str(talk.take())
    talk.ask(3, "resources/unsubscribe", {"uri": "evil://x/[EMAIL_0]"}).answer("evil", {})
    talk.sent.clear()
    talk.upstream("evil", LOG)
    assert LOCAL not in str(talk.only())
    at(talk, 20 * SECONDS)
    assert talk.gateway.disclosed("evil") == ()


# -- how much is kept, and for how long ------------------------------------------------------------------


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def entry(number: int) -> Entry:
    value = f"user{number}.x@posteo-mail.de"
    spelling = Spelling("EMAIL", value, value, value, proof=Proof.SHAPE)
    return Entry(Token("EMAIL", number), spelling, "session", frozenset({"crm#0"}))


def entries(*numbers: int) -> tuple[Entry, ...]:
    return tuple(map(entry, numbers))


def through(given: Disclosed, call: int, *numbers: int) -> None:
    given.begin(call, entries(*numbers))
    given.end(call)


def numbers(given: Disclosed) -> list[int]:
    return sorted(entry.token.number for entry in given.lately())


def test_an_ended_call_counts_for_a_while() -> None:
    clock = Clock()
    given = Disclosed(clock)
    through(given, 1, 7)
    given.begin(2, entries(8))
    clock.now = SECONDS
    assert numbers(given) == [7, 8]
    clock.now = SECONDS + 1
    assert numbers(given) == [8]


def test_the_last_calls_and_what_is_followed_count() -> None:
    given = Disclosed()
    for n in range(100):
        through(given, n, n)
        given.follow(f"task {n}", entries(1000 + n))
    ended, made = range(100 - MOST_CALLS, 100), range(1100 - MOST_FOLLOWED, 1100)
    assert numbers(given) == [*ended, *made]


def test_the_values_of_ended_calls_are_bounded_and_the_newest_counts_whole() -> None:
    given = Disclosed()
    through(given, 1, *range(MOST_VALUES))
    through(given, 2, *range(10_000, 10_002))
    assert numbers(given) == [10_000, 10_001]
    through(given, 3, *range(MOST_VALUES + 1))
    assert len(given.lately()) == MOST_VALUES + 1


@pytest.mark.parametrize(
    "change",
    [
        lambda given: given.begin(9, ()),
        lambda given: given.begin(9, entries(1)),
        lambda given: given.end(1),
        lambda given: given.answer(()),
        lambda given: given.follow("t", entries(2)),
    ],
)
def test_the_answer_is_the_same_object_as_long_as_the_values_are_the_same(change: Callable[[Disclosed], None]) -> None:
    given = Disclosed()
    given.begin(1, entries(1, 2))
    before = given.lately()
    change(given)
    assert given.lately() is before


def test_an_answer_when_nothing_is_in_flight_counts_too() -> None:
    given = Disclosed()
    given.answer(entries(4))
    assert numbers(given) == [4]


def test_what_is_given_is_made_ready_once_and_not_for_each_notification(tmp_path: Path) -> None:
    """With two upstreams that talk in turn, of values of their own."""
    talk = opened(settings(upstream("crm"), upstream("other")), tmp_path)
    rows = 600

    def cost(notices: int) -> float:
        begun = time.process_time()
        for n in range(notices):
            talk.upstream(("crm", "other")[n % 2], notice("notifications/message", level="info", data="working"))
        return time.process_time() - begun

    cost(2)
    alone_cost = min(cost(60) for _ in range(3))
    for name in ("crm", "other"):
        addresses = [f"user{n}.{name}@posteo-mail.de" for n in range(rows)]
        talk.call(name, f"{name}__look").answer(name, says("\n".join(addresses)))
        shown = text_of(talk.take()[-1]).split("\n")
        talk.call(f"{name} again", f"{name}__send", {"to": shown})
        assert addresses[0] in str(talk.take(name)[-1])
    cost(2)
    assert min(cost(60) for _ in range(3)) < 4 * alone_cost + 0.05
