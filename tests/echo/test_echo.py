"""What passes the gateway is what was sent but for the personal data in it: every method, both ways, eras, transports.

A raw upstream says prepared bytes and a raw client says the like.  One address is planted in each: it has to be a
token where the client sees it and the address where the upstream does, and everything else as it was written.
"""

from __future__ import annotations

import json

import pytest

from tests.echo import rows
from tests.echo.rows import ERROR, LISTS, MAIL, NOTES, ODD, QUESTIONS, ROWS, TASKS, TOKEN
from tests.echo.scene import CAPABILITIES, Echo, hidden, later, result, shown
from tests.echo.talking import SESSION, STATELESS, exact, member, without


@pytest.mark.parametrize("id", [7, "seven"])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.method)
def test_a_request_and_its_result_are_what_was_said(echo: Echo, row: rows.Row, id: str | int) -> None:
    if echo.era not in row.eras:
        pytest.skip("this era has no such request")
    said = echo.talk.ask(id, row.method, row.params, '"x.acme/trace":[1.0,null]')
    assert echo.sent(row.method) == shown(row.params)
    assert member(echo.received(row.method)[-1], "params", "_meta", "x.acme/trace") == exact("[1.0,null]")
    assert said.before == []
    assert said.result == exact(result(echo.era, row.result).replace(MAIL, TOKEN))


def test_a_level_reaches_every_upstream_as_it_was_said_and_the_gateway_answers(echo: Echo) -> None:
    if echo.era == STATELESS:
        pytest.skip("this era has no such request")
    said = echo.talk.ask(14, "logging/setLevel", f'"level":"debug",{ODD}')
    assert echo.sent("logging/setLevel") == exact(f'{{"level":"debug",{ODD}}}')
    assert said.result == exact("{}")


def test_the_greeting_says_what_the_upstream_can_do(echo: Echo) -> None:
    """The gateway answers it: of capabilities nothing is lost, and instructions are not shown in clear."""
    if echo.era == STATELESS:
        said = json.loads(echo.talk.ask(15, "server/discover", "").answer)["result"]
    else:
        said = echo.talk.hello
    assert said["capabilities"] == CAPABILITIES
    assert said["instructions"].startswith(f"ask {TOKEN}")


@pytest.mark.parametrize("method", LISTS)
def test_the_items_of_a_list_are_what_was_said(echo: Echo, method: str) -> None:
    name, items = LISTS[method]
    assert member(echo.talk.ask(1, method, "").result, name) == exact(f"[{items}]".replace(MAIL, TOKEN))


def test_an_error_is_what_was_said(echo: Echo) -> None:
    said = echo.talk.ask(2, "tools/call", '"name":"fails"')
    assert member(exact(said.answer), "error") == hidden(ERROR)


def test_an_error_that_sends_the_user_elsewhere_is_what_was_said(echo: Echo) -> None:
    if echo.era == STATELESS:
        pytest.skip("this era asks otherwise")
    said = echo.talk.ask(12, "tools/call", '"name":"goes"')
    assert member(exact(said.answer), "error") == hidden(rows.GOES)


@pytest.mark.parametrize("row", TASKS, ids=lambda row: row.method)
def test_a_task_is_what_was_said(echo: Echo, row: rows.Row) -> None:
    if echo.era not in row.eras:
        pytest.skip("this era has no such request")
    wish = ',"task":{"ttl":6e4}' if echo.era == SESSION else ""
    begun = echo.talk.ask(10, "tools/call", f'"name":"later","arguments":{{}}{wish}').result
    assert without(begun, "_meta") == exact(later(echo.era).replace(MAIL, TOKEN))
    said = echo.talk.ask(11, row.method, row.params)
    assert echo.sent(row.method) == shown(row.params)
    assert said.result == exact(result(echo.era, row.result).replace(MAIL, TOKEN))


@pytest.mark.parametrize("token", ["7", '"seven"'])
def test_notifications_come_before_the_answer_in_their_order(echo: Echo, token: str) -> None:
    said = echo.talk.ask(3, "tools/call", '"name":"notes"', f'"progressToken":{token}')
    expected = [(method, hidden(params.replace("$PROGRESS", token))) for method, params in NOTES]
    assert [(member(exact(m), "method"), member(exact(m), "params")) for m in said.before] == expected
    assert "result" in dict(exact(said.answer)[1])


def test_questions_and_their_answers_are_what_was_said(echo: Echo) -> None:
    if echo.era == STATELESS:
        pytest.skip("servers of this era ask nothing on their own")
    echo.talk.replies.update({method: f"{{{answer}}}" for method, (_, answer) in QUESTIONS.items()})
    before = len(echo.talk.questions)
    assert echo.talk.ask(4, "tools/call", '"name":"asks"').result == exact(result(echo.era, '"content":[]'))
    asked = {member(exact(q), "method"): member(exact(q), "params") for q in echo.talk.questions[before:]}
    assert asked == {method: hidden(params) for method, (params, _) in QUESTIONS.items()}
    lines = [dict(exact(line)[1]) for line in echo.upstream.received_bytes().splitlines()]
    answers = [line["result"] for line in lines if "method" not in line][-3:]
    assert answers == [shown(answer) for _, answer in QUESTIONS.values()]


def test_what_is_asked_for_and_the_answers_are_what_was_said(echo: Echo) -> None:
    if echo.era == SESSION:
        pytest.skip("this era asks by requests")
    asked, answer = QUESTIONS["elicitation/create"]
    first = echo.talk.ask(5, "tools/call", '"name":"input","arguments":{"n":1.0}').result
    assert member(first, "inputRequests", "q", "params") == hidden(asked)
    state = member(first, "requestState")
    echo.talk.ask(
        6, "tools/call",
        f'"name":"input","arguments":{{"n":1.0}},"inputResponses":{{"q":{{{answer}}}}},"requestState":"{state}"',
    )  # fmt: skip
    retried = echo.sent("tools/call")
    assert member(retried, "requestState") == rows.STATE
    assert member(retried, "inputResponses", "q") == shown(answer)
    assert member(retried, "arguments") == exact('{"n":1.0}')


def test_what_a_client_only_tells_reaches_the_upstream(echo: Echo) -> None:
    if echo.era == STATELESS:
        pytest.skip("clients of this era tell nothing")
    echo.talk.tell("notifications/roots/list_changed", f'"_meta":{{"x.acme/trace":1.0}},{ODD}')
    echo.talk.ask(13, "tools/call", '"name":"t"')
    assert member(echo.received("notifications/roots/list_changed")[-1], "params") == exact(
        f'{{"_meta":{{"x.acme/trace":1.0}},{ODD}}}'
    )


def test_a_message_of_three_megabytes_arrives_whole(echo: Echo) -> None:
    said = echo.talk.ask(8, "tools/call", '"name":"large"').result
    assert member(said, "content")[0] == exact(f'{{"type":"text","text":"{"x" * 3_000_000} {TOKEN}"}}')


@pytest.mark.slow
def test_ten_megabytes_go_to_the_upstream_and_nothing_is_lost(echo: Echo) -> None:
    text = "y" * 10_000_000
    echo.talk.ask(9, "tools/call", f'"name":"t","arguments":{{"text":"{text}","to":"{TOKEN}"}}')
    assert echo.sent("tools/call") == shown(f'"name":"t","arguments":{{"text":"{text}","to":"{MAIL}"}}')
