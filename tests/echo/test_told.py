"""What no answer holds passes as it was said as well: changes, subscriptions, cancellations, pages to go to."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import pytest

from tests.echo.rows import CHANGED, MAIL, ODD, TOLD, VISIT, VISITED, WANTED, WITHDRAWN
from tests.echo.scene import Echo, hidden, result, shown
from tests.echo.talking import SESSION, STATELESS, exact, member, without
from tests.peers.hosted import eventually

SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


class Stream(NamedTuple):
    """The id of the request that asks to be told, and what it was told first, if anything."""

    id: str
    acknowledged: bytes


@pytest.fixture(scope="module")
def stream(echo: Echo) -> Stream:
    """What a client is told beside its calls, after the task was met that it asks about."""
    wish = ',"task":{"ttl":6e4}' if echo.era == SESSION else ""
    echo.talk.ask("begun", "tools/call", f'"name":"later","arguments":{{}}{wish}')
    echo.talk.stand()
    if echo.era == SESSION:
        return Stream("", b"")
    echo.talk.start("stream", "subscriptions/listen", f'"notifications":{{{WANTED}}},{ODD}')
    return Stream("stream", echo.talk.hear("notifications/subscriptions/acknowledged"))


def test_a_stream_gets_what_it_wants_and_there_is(echo: Echo, stream: Stream) -> None:
    if echo.era == SESSION:
        pytest.skip("a session subscribes to one resource at a time")
    expected = f'{{"notifications":{{{WANTED}}},"_meta":{{"{SUBSCRIPTION}":"{stream.id}"}}}}'
    assert member(exact(stream.acknowledged), "params") == exact(expected)

    def wanted() -> list[Any]:
        return [member(message, "params", "notifications") for message in echo.received("subscriptions/listen")]

    eventually(lambda: all(exact(f"{{{one}}}") in wanted() for one in WANTED.split(",")))


@pytest.mark.parametrize("id", [21, "twenty-one"])
def test_what_an_upstream_tells_is_what_was_said(echo: Echo, stream: Stream, id: str | int) -> None:
    said = echo.talk.ask(id, "tools/call", '"name":"changes"')
    before = {json.loads(message)["method"]: message for message in said.before}
    for method, (params, eras) in TOLD.items():
        if echo.era not in eras:
            continue
        if echo.era == SESSION:
            assert member(exact(before[method]), "params") == hidden(params)
        else:
            told = hidden(f'{params},"_meta":{{"{SUBSCRIPTION}":"{stream.id}"}}')
            assert member(exact(echo.talk.hear(method)), "params") == told


def test_a_changed_list_is_told(echo: Echo, stream: Stream) -> None:
    """The gateway says so itself, once for many, and of a list that is made of several."""
    echo.talk.ask(22, "tools/call", '"name":"changes"')
    for method in CHANGED:
        message = f'"jsonrpc":"2.0","method":"{method}"'
        if echo.era == STATELESS:
            message += f',"params":{{"_meta":{{"{SUBSCRIPTION}":"{stream.id}"}}}}'
        assert exact(echo.talk.hear(method)) == exact(f"{{{message}}}")


def test_a_page_to_go_to_is_what_was_said(echo: Echo) -> None:
    echo.talk.replies["elicitation/create"] = f"{{{VISITED}}}"
    if echo.era == STATELESS:
        asked = echo.talk.ask(23, "tools/call", '"name":"visits"').result
        assert member(asked, "inputRequests", "q", "params") == hidden(VISIT)
        state = member(asked, "requestState")
        again = f'"name":"visits","inputResponses":{{"q":{{{VISITED}}}}},"requestState":"{state}"'
        echo.talk.ask(24, "tools/call", again)
        assert member(echo.sent("tools/call"), "inputResponses", "q") == shown(VISITED)
        return
    assert echo.talk.ask(23, "tools/call", '"name":"visits"').result == exact(result(echo.era, '"content":[]'))
    assert member(exact(echo.talk.questions[-1]), "params") == hidden(VISIT)
    answers = [dict(exact(line)[1]) for line in echo.upstream.received_bytes().splitlines()]
    assert [answer["result"] for answer in answers if "method" not in answer][-1] == shown(VISITED)


@pytest.mark.usefixtures("stream")  # where an upstream asks on its own
def test_a_question_that_is_taken_back_is_taken_back_as_it_was_said(echo: Echo) -> None:
    if echo.era == STATELESS:
        pytest.skip("servers of this era ask nothing on their own")
    echo.talk.replies["elicitation/create"] = None
    echo.talk.start(25, "tools/call", '"name":"withdraws"')
    asked = member(exact(echo.talk.hear("elicitation/create")), "id")
    echo.talk.tell("notifications/roots/list_changed", "")  # which the upstream waits for
    params = member(exact(echo.talk.hear("notifications/cancelled")), "params")
    assert member(params, "requestId") == asked
    assert without(params, "requestId") == hidden(WITHDRAWN)


def test_a_request_that_is_taken_back_is_taken_back_as_it_was_said(echo: Echo) -> None:
    """Under the id that the upstream knows it by; why is told to it in the client's own words."""
    if echo.era == STATELESS and "http" in (echo.front, echo.back):
        pytest.skip("there a request is taken back by leaving")
    calls = len(echo.received("tools/call"))
    echo.talk.start("taken-back", "tools/call", '"name":"waits"')
    eventually(lambda: len(echo.received("tools/call")) > calls)
    echo.talk.tell("notifications/cancelled", f'"requestId":"taken-back",{WITHDRAWN}')
    eventually(lambda: echo.received("notifications/cancelled"))
    params = member(echo.received("notifications/cancelled")[-1], "params")
    assert member(params, "requestId") == member(echo.received("tools/call")[-1], "id")
    assert without(params, "requestId") == exact(f"{{{WITHDRAWN}}}")
    assert MAIL in WITHDRAWN, "words of a client go as they are"
