"""Streamable HTTP to a scripted server: what is sent, what is delivered, and what an end or an error becomes."""

from __future__ import annotations

import json
import random
from typing import Any

import anyio
import pytest

from cloakllm_gateway.core.events import Connected, Disconnected, Overlong
from cloakllm_gateway.shell.remote import link
from tests.patience import PATIENCE
from tests.shell.remotes import LIMIT, VERSION, linked, scripted
from tests.shell.web import Answering, web

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def is_rpc(method: str):
    return lambda asked: asked.rpc == method


def is_http(method: str):
    return lambda asked: asked.method == method


def progress(n: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 2, "progress": n}}


def result(id: Any, **result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "result": result}


# -- the session era -------------------------------------------------------------------------------


async def test_each_message_is_a_post_and_carries_the_session_once_there_is_one(tmp_path):
    async with web(scripted()) as server, linked(tmp_path, server.url) as crm:
        await crm.greet()
        await crm.ask(2, "tools/call", {"name": "t"})
        assert (await crm.answer(2))["result"] == {"asked": {"name": "t"}}
    hello, initialized, call = [asked for asked in server.asked if asked.method == "POST"]
    assert hello.headers["accept"] == "application/json, text/event-stream"
    assert hello.headers["content-type"] == "application/json"
    assert hello.headers["user-agent"].startswith("cloakllm-gateway/")
    assert not {"mcp-session-id", "mcp-protocol-version", "cookie", "authorization"} & set(hello.headers)
    for later in (initialized, call):
        assert (later.headers["mcp-session-id"], later.headers["mcp-protocol-version"]) == ("s-1", VERSION)
        assert not {"mcp-method", "mcp-name"} & set(later.headers)
    assert crm.events[0] == Connected("crm")


async def test_a_session_is_given_back_at_the_end(tmp_path):
    async with web(scripted()) as server:
        async with linked(tmp_path, server.url) as crm:
            await crm.greet()
        farewell = await server.until(is_http("DELETE"))
    assert (farewell.headers["mcp-session-id"], farewell.headers["mcp-protocol-version"]) == ("s-1", VERSION)


async def test_a_server_without_sessions_is_sent_none_and_told_no_end(tmp_path):
    async with web(scripted(session="")) as server, linked(tmp_path, server.url) as crm:
        await crm.greet()
        await crm.ask(2, "tools/list")
        await crm.answer(2)
    assert not [asked for asked in server.asked if "mcp-session-id" in asked.headers or asked.method == "DELETE"]


@pytest.mark.parametrize("step", [1, 7, 1 << 20])
@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
async def test_an_answer_may_be_a_stream_cut_anywhere(tmp_path, step, end):
    async def call(answering: Answering) -> None:
        messages = [progress(1), progress(2), result(2, text="é\u2028"), progress(3)]
        text = ": hello\n\n" + "".join(f"event: message\ndata: {json.dumps(m, indent=1)}\n\n" for m in messages)
        stream = text.replace("\n ", "\ndata:  ").replace("\n}", "\ndata: }").replace("\n", end).encode()
        await answering.stream_begins()
        await answering.raw(*(stream[at : at + step] for at in range(0, len(stream), step)))

    async with web(scripted(tools_call=call)) as server, linked(tmp_path, server.url) as crm:
        await crm.greet()
        await crm.ask(2, "tools/call")
        await crm.answer(2)
    assert crm.received[1:] == [progress(1), progress(2), result(2, text="é\u2028")]


async def test_a_stream_may_carry_large_events(tmp_path):
    async def call(answering: Answering) -> None:
        await answering.stream_begins()
        await answering.event(result(2, text="x" * 3_000_000))

    async with web(scripted(tools_call=call)) as server, linked(tmp_path, server.url) as crm:
        await crm.greet()
        await crm.ask(2, "tools/call")
        assert len((await crm.answer(2))["result"]["text"]) == 3_000_000


async def test_a_message_over_the_limit_is_reported_with_its_id(tmp_path):
    async def stream(answering: Answering) -> None:
        await answering.stream_begins()
        await answering.event(result(2, text="x" * LIMIT))

    async def body(answering: Answering) -> None:
        await answering.result({"text": "x" * LIMIT})

    async with web(scripted(tools_call=stream, tools_list=body)) as server, linked(tmp_path, server.url) as crm:
        await crm.greet()
        await crm.ask(2, "tools/call")
        await crm.until(lambda _: len(crm.overlong) == 1)
        await crm.ask(3, "tools/list")
        await crm.until(lambda _: len(crm.overlong) == 2)
    assert crm.overlong == [Overlong("crm", 2), Overlong("crm", 3)]


async def test_requests_are_answered_side_by_side(tmp_path):
    released = anyio.Event()

    async def slow(answering: Answering) -> None:
        await released.wait()
        await answering.result({})

    async with web(scripted(tools_call=slow)) as server, linked(tmp_path, server.url) as crm:
        await crm.greet()
        for id in range(2, 40):
            await crm.ask(id, "tools/call")
        await server.until(is_rpc("tools/call"), times=38)
        await crm.ask(40, "tools/list")
        await crm.answer(40)
        released.set()
        for id in range(2, 40):
            await crm.answer(id)


async def test_messages_leave_in_their_order(tmp_path):
    async with web(scripted()) as server, linked(tmp_path, server.url) as crm:
        await crm.greet()
        for n in range(50):
            await crm.notify("notifications/progress", progress=n)
            await crm.ask(100 + n, "tools/call", {"n": n})
        await crm.answer(149)
        posted = [asked.message.get("params") for asked in server.asked[3:] if asked.method == "POST"]
    assert posted == [said for n in range(50) for said in ({"progress": n}, {"n": n})]


async def test_a_request_taken_back_is_told_to_the_server_and_not_waited_for(tmp_path):
    gone = anyio.Event()

    async def call(answering: Answering) -> None:
        await answering.stream_begins()
        await answering.closed()
        gone.set()

    async with web(scripted(tools_call=call)) as server, linked(tmp_path, server.url) as crm:
        await crm.greet()
        await crm.ask(2, "tools/call")
        await server.until(is_rpc("tools/call"))
        await crm.notify("notifications/cancelled", requestId=2)
        told = await server.until(is_rpc("notifications/cancelled"))
        with anyio.fail_after(PATIENCE):
            await gone.wait()
    assert told.headers["mcp-session-id"] == "s-1"
    assert len(crm.received) == 1  # the handshake


async def test_answers_to_the_server_are_posted(tmp_path):
    async def listening(answering: Answering) -> None:
        await answering.stream_begins()
        await answering.event({"jsonrpc": "2.0", "id": "q", "method": "roots/list"})
        await answering.closed()

    async with web(scripted(GET=listening)) as server, linked(tmp_path, server.url) as crm:
        await crm.greet()
        await crm.until(lambda _: {"jsonrpc": "2.0", "id": "q", "method": "roots/list"} in crm.received)
        await crm.send(result("q", roots=[]))
        await server.until(lambda asked: asked.body != b"" and asked.message == result("q", roots=[]))


async def test_what_the_server_says_unasked_comes_on_a_stream_that_is_resumed(tmp_path):
    async def listening(answering: Answering) -> None:
        last = answering.asked.headers.get("last-event-id", "0")
        await answering.stream_begins()
        await answering.raw(b"retry: 60\n\n")
        await answering.event(progress(int(last) + 1), id=str(int(last) + 1))
        await answering.raw(b'id: 99\ndata: {"half')
        await answering.stream.aclose()

    async with web(scripted(GET=listening)) as server, linked(tmp_path, server.url) as crm:
        await crm.greet()
        await crm.until(lambda _: progress(3) in crm.received)
        gets = [asked for asked in server.asked if asked.method == "GET"]
    assert crm.received[1:4] == [progress(1), progress(2), progress(3)]
    assert [get.headers.get("last-event-id") for get in gets[:3]] == [None, "1", "2"]
    assert {get.headers["accept"] for get in gets} == {"text/event-stream"}
    assert {get.headers["mcp-session-id"] for get in gets} == {"s-1"}


@pytest.mark.parametrize("status", [404, 405, 400, 501])
async def test_a_server_without_such_a_stream_is_served_without(tmp_path, status):
    async def none(answering: Answering) -> None:
        await answering.respond(status)

    async with web(scripted(GET=none)) as server, linked(tmp_path, server.url) as crm:
        await crm.greet()
        await server.until(is_http("GET"))
        await crm.ask(2, "tools/list")
        await crm.answer(2)
    assert not [event for event in crm.events if isinstance(event, Disconnected)]


async def test_a_server_may_close_the_stream_of_a_request_and_be_polled_for_the_rest(tmp_path):
    async def call(answering: Answering) -> None:
        await answering.stream_begins()
        await answering.raw(b"id: p-0\nretry: 50\ndata:\n\n")
        await answering.stream.aclose()

    async def poll(answering: Answering) -> None:
        match answering.asked.headers.get("last-event-id"):
            case None:
                await answering.respond(405)
            case "p-0":
                await answering.stream_begins()
                await answering.event(progress(1), id="p-1")
                await answering.stream.aclose()
            case "p-1":
                await answering.stream_begins()
                await answering.event(result(2, done=True), id="p-2")

    async with web(scripted(tools_call=call, GET=poll)) as server, linked(tmp_path, server.url) as crm:
        await crm.greet()
        await crm.ask(2, "tools/call")
        assert (await crm.answer(2))["result"] == {"done": True}
    assert crm.received[1:] == [progress(1), result(2, done=True)]


async def test_a_stream_that_ends_before_the_answer_is_an_error_for_the_request_alone(tmp_path):
    async def call(answering: Answering) -> None:
        await answering.stream_begins()
        await answering.event(progress(1))
        await answering.stream.aclose()

    async with web(scripted(tools_call=call)) as server, linked(tmp_path, server.url) as crm:
        await crm.greet()
        await crm.ask(2, "tools/call")
        error = await crm.error(2)
        await crm.ask(3, "tools/list")
        await crm.answer(3)
    assert error.startswith("The upstream crm ended its stream before the answer. The request reached the upstream")
    assert progress(1) in crm.received


async def test_a_request_that_is_taken_may_be_answered_on_the_standing_stream(tmp_path):
    due, come = anyio.Event(), anyio.Event()

    async def listening(answering: Answering) -> None:
        await answering.stream_begins()
        await answering.event(progress(1))
        await due.wait()
        await answering.event(result(2, late=True))
        await come.wait()

    async def call(answering: Answering) -> None:
        await answering.respond(202)
        due.set()

    async with web(scripted(GET=listening, tools_call=call)) as server, linked(tmp_path, server.url) as crm:
        await crm.greet()
        await crm.until(lambda _: progress(1) in crm.received)
        await crm.ask(2, "tools/call")
        assert await crm.answer(2) == result(2, late=True)
        come.set()


async def test_a_request_that_is_taken_by_who_has_no_such_stream_has_failed(tmp_path):
    async def call(answering: Answering) -> None:
        await answering.respond(202)

    async with web(scripted(tools_call=call)) as server, linked(tmp_path, server.url) as crm:
        await crm.greet()
        await server.until(is_http("GET"))
        await crm.ask(2, "tools/call")
        assert "neither JSON nor a stream" in await crm.error(2)


async def test_a_byte_order_mark_before_an_answer_is_none_of_it(tmp_path):
    async def call(answering: Answering) -> None:
        await answering.respond(200, "application/json", b"\xef\xbb\xbf" + json.dumps(result(2, it=1)).encode())

    async with web(scripted(tools_call=call)) as server, linked(tmp_path, server.url) as crm:
        await crm.greet()
        await crm.ask(2, "tools/call")
        assert await crm.answer(2) == result(2, it=1)


async def test_an_answer_to_another_request_does_not_answer_this_one(tmp_path):
    async def call(answering: Answering) -> None:
        await answering.json(result(77, foreign=True))

    async with web(scripted(tools_call=call)) as server, linked(tmp_path, server.url) as crm:
        await crm.greet()
        await crm.ask(2, "tools/call")
        assert "answered with something that is not the answer" in await crm.error(2)


@pytest.mark.parametrize(
    ("kind", "body"), [("text/html", b"<p>kim@acme.com</p>"), ("", b""), ("application/json", b'["kim"]'), ("x", b"{}")]
)
async def test_an_answer_that_is_no_message_is_an_error_without_its_text(tmp_path, kind, body):
    async def call(answering: Answering) -> None:
        await answering.respond(200, kind, body)

    async with web(scripted(tools_call=call)) as server, linked(tmp_path, server.url) as crm:
        await crm.greet()
        await crm.ask(2, "tools/call")
        error = await crm.error(2)
    assert error.startswith("The upstream crm answered with something that is n")
    assert "kim" not in error + crm.log()


# -- the end of a session --------------------------------------------------------------------------


async def test_a_session_that_is_over_begins_anew(tmp_path):
    sessions = ["s-1"]

    async def hello(answering: Answering) -> None:
        await answering.result({"protocolVersion": VERSION}, **{"Mcp-Session-Id": sessions[-1]})

    async def call(answering: Answering) -> None:
        if answering.asked.headers["mcp-session-id"] == sessions[-1]:
            await answering.result({"ok": True})
        else:
            await answering.json({"jsonrpc": "2.0", "id": None, "error": {"code": -32001, "message": "x"}}, status=404)

    async with web(scripted(initialize=hello, tools_call=call)) as server, linked(tmp_path, server.url) as crm:
        await crm.greet()
        await crm.ask(2, "tools/call")
        await crm.answer(2)
        sessions.append("s-2")
        await crm.ask(3, "tools/call")
        assert (
            await crm.error(3) == "The upstream crm ended the session and did nothing about this request: send it again"
        )
        assert await crm.until_disconnected() == Disconnected("crm", "ended the session")
        await crm.until_connected(2)
        await crm.ask(4, "initialize", {"protocolVersion": VERSION})
        await crm.answer(4)
        await crm.ask(5, "tools/call")
        assert (await crm.answer(5))["result"] == {"ok": True}
    hellos = [asked for asked in server.asked if asked.rpc == "initialize"]
    assert all("mcp-session-id" not in hello.headers for hello in hellos)


@pytest.mark.parametrize("restarted", [True, False])
async def test_a_server_that_calls_an_unknown_session_a_bad_request_is_asked_whether_it_knows_it(tmp_path, restarted):
    async def refuse(answering: Answering) -> None:
        error = {"code": -32000, "message": "Bad Request: No valid session ID provided"}
        await answering.json({"jsonrpc": "2.0", "id": None, "error": error}, status=400)

    script = scripted(tools_call=refuse, ping=refuse) if restarted else scripted(tools_call=refuse)
    async with web(script) as server, linked(tmp_path, server.url) as crm:
        await crm.greet()
        await crm.ask(2, "tools/call")
        if restarted:
            assert (await crm.until_disconnected()).reason == "ended the session"
        else:
            assert (await crm.answer(2))["error"]["code"] == -32000
        ping = await server.until(is_rpc("ping"))
    assert ping.headers["mcp-session-id"] == "s-1"
    assert not [message for message in crm.received if message.get("id") == "gateway-ping"]


async def test_a_dropped_upstream_is_connected_again(tmp_path):
    async with web(scripted()) as server, linked(tmp_path, server.url) as crm:
        await crm.greet()
        crm.remote.drop("misbehaved")
        assert (await crm.until_disconnected()).reason == "misbehaved"
        await crm.until_connected(2)
        await server.until(is_http("DELETE"))


# -- refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 429, 500, 503])
async def test_a_refusal_is_an_error_that_names_the_status_and_nothing_the_server_wrote(tmp_path, status):
    async def call(answering: Answering) -> None:
        await answering.respond(status, "text/plain", b"no entry for kim@acme.com")

    async with web(scripted(session="", tools_call=call)) as server, linked(tmp_path, server.url) as crm:
        await crm.greet()
        await crm.ask(2, "tools/call")
        error = await crm.error(2)
    assert f"HTTP status {status}" in error
    assert "kim" not in error + crm.log()


@pytest.mark.parametrize("id", [2, None, "server-error"])
async def test_an_error_in_the_body_of_a_refusal_is_the_error_of_the_request(tmp_path, id):
    said = {"code": -32020, "message": "Header mismatch", "data": {"x": 1}}

    async def call(answering: Answering) -> None:
        await answering.json({"jsonrpc": "2.0", "id": id, "error": said}, status=400)

    async with web(scripted(tools_call=call)) as server, linked(tmp_path, server.url) as crm:
        await crm.greet()
        await crm.ask(2, "tools/call")
        assert (await crm.answer(2))["error"] == said


@pytest.mark.parametrize("status", [401, 403, 307])
async def test_a_handshake_that_will_always_be_refused_is_not_tried_again(tmp_path, status):
    async def refuse(answering: Answering) -> None:
        await answering.respond(status, location="http://127.0.0.1:1/")

    async with web(scripted(initialize=refuse)) as server, linked(tmp_path, server.url) as crm:
        await crm.until_connected()
        await crm.ask(1, "initialize", {})
        end = await crm.until_disconnected()
    assert end.final and f"HTTP status {status}" in end.reason
    assert len(server.asked) == 1


async def test_a_notification_that_is_refused_is_logged(tmp_path):
    async def refuse(answering: Answering) -> None:
        await answering.respond(400, "text/plain", b"kim@acme.com")

    async with web(scripted(notifications_progress=refuse)) as server, linked(tmp_path, server.url) as crm:
        await crm.greet()
        await crm.notify("notifications/progress")
        await crm.ask(2, "tools/list")
        await crm.answer(2)
    assert "message_not_delivered upstream=crm method=notifications/progress" in crm.log()
    assert "kim" not in crm.log()


async def test_an_upstream_that_is_not_there_is_given_up_after_some_attempts(tmp_path):
    async with web(scripted()) as server:
        url = server.url
    async with linked(tmp_path, url) as crm:
        for attempt in (1, 2, 3):
            await crm.until_connected(attempt)
            await crm.ask(attempt, "initialize", {})
            end = await crm.until_disconnected(attempt)
            assert end == Disconnected("crm", "refused the connection", final=attempt == 3)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://no-such-host.localhost:9/", "has an address whose host name is not known"),
        ("https://no-such-host.invalid/", "has an address whose host name is not known"),
    ],
)
async def test_a_host_that_is_not_known_is_said_to_be(tmp_path, url, reason):
    async with linked(tmp_path, url, attempts=1) as crm:
        await crm.until_connected()
        await crm.ask(1, "initialize", {})
        assert await crm.until_disconnected() == Disconnected("crm", reason, final=True)


async def test_a_server_that_has_worked_is_waited_for(tmp_path):
    async with web(scripted()) as server, linked(tmp_path, server.url, attempts=1) as crm:
        await crm.greet()
        crm.remote.drop("went away")
        assert not (await crm.until_disconnected()).final


async def test_a_notification_that_is_never_taken_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(link, "TAKEN", 0.05)
    given_up = anyio.Event()

    async def loris(answering: Answering) -> None:
        await answering.closed()
        given_up.set()

    async with web(scripted(notifications_progress=loris)) as server, linked(tmp_path, server.url) as crm:
        await crm.greet()
        await crm.notify("notifications/progress")
        with anyio.fail_after(PATIENCE):
            await given_up.wait()


async def test_no_connection_outlives_the_link(tmp_path):
    async def call(answering: Answering) -> None:
        await answering.stream_begins()
        await answering.closed()

    async with web(scripted(tools_call=call)) as server:
        async with linked(tmp_path, server.url) as crm:
            await crm.greet()
            for id in (2, 3):
                await crm.ask(id, "tools/call")
            await server.until(is_rpc("tools/call"), times=2)
            assert server.open >= 2
        with anyio.fail_after(PATIENCE):
            while server.open:
                await anyio.sleep(0.01)


async def test_requests_taken_back_at_any_moment_leave_nothing_behind(tmp_path):
    async def call(answering: Answering) -> None:
        await anyio.sleep(random.random() / 50)
        await answering.result({})

    async with web(scripted(tools_call=call)) as server, linked(tmp_path, server.url) as crm:
        await crm.until_connected()
        for id in range(200):
            await crm.ask_stateless(id, "tools/call", name="t")
            await anyio.sleep(random.random() / 100)
            await crm.notify("notifications/cancelled", requestId=id - random.randrange(3))
        await crm.ask_stateless(1000, "tools/list")
        assert "result" in await crm.answer(1000)
        assert server.open < 50


async def test_a_server_that_was_away_for_a_while_costs_the_requests_of_that_while(tmp_path):
    away = False

    async def call(answering: Answering) -> None:
        if away:
            await answering.stream.aclose()
        else:
            await answering.result({})

    async with web(scripted(tools_call=call)) as server, linked(tmp_path, server.url) as crm:
        await crm.greet()
        away = True
        await crm.ask(2, "tools/call")
        assert "ended the connection" in await crm.error(2)
        away = False
        await crm.ask(3, "tools/call")
        assert "result" in await crm.answer(3)
    assert not [event for event in crm.events if isinstance(event, Disconnected)]


async def test_what_is_no_http_is_said_to_be_none(tmp_path):
    async def script(answering: Answering) -> None:
        await answering.raw(b"SSH-2.0-OpenSSH_9.9\r\n\r\n")

    async with web(script) as server, linked(tmp_path, server.url, attempts=1) as crm:
        await crm.until_connected()
        await crm.ask(1, "initialize", {})
        assert (await crm.until_disconnected()).reason == "ended the connection, or does not speak HTTP"


# -- the stateless era -----------------------------------------------------------------------------


async def test_a_stateless_request_carries_the_headers_of_the_core_and_no_session(tmp_path):
    async with web(scripted()) as server, linked(tmp_path, server.url) as crm:
        await crm.until_connected()
        await crm.ask_stateless(1, "tools/call", name="échelle")
        await crm.answer(1)
    (call,) = server.asked
    assert call.headers["mcp-protocol-version"] == "2026-07-28"
    assert call.headers["mcp-method"] == "tools/call"
    assert call.headers["mcp-name"] == "=?base64?w6ljaGVsbGU=?="
    assert "mcp-session-id" not in call.headers


async def test_a_stateless_request_is_taken_back_by_closing_its_stream(tmp_path):
    gone = anyio.Event()

    async def listen(answering: Answering) -> None:
        await answering.stream_begins()
        await answering.event(progress(1))
        await answering.closed()
        gone.set()

    async with web(scripted(subscriptions_listen=listen)) as server, linked(tmp_path, server.url) as crm:
        await crm.until_connected()
        await crm.ask_stateless(1, "subscriptions/listen")
        await crm.until(lambda _: progress(1) in crm.received)
        await crm.notify("notifications/cancelled", requestId=1)
        with anyio.fail_after(PATIENCE):
            await gone.wait()
        await crm.ask_stateless(2, "tools/list")
        await crm.answer(2)
        await crm.notify("notifications/cancelled", requestId=2)  # too late, and nothing to close
        await crm.ask_stateless(3, "tools/list")
        await crm.answer(3)
    assert [asked.rpc for asked in server.asked] == ["subscriptions/listen", "tools/list", "tools/list"]


async def test_a_stateless_stream_is_not_resumed(tmp_path):
    async def call(answering: Answering) -> None:
        await answering.stream_begins()
        await answering.event(progress(1), id="7")
        await answering.stream.aclose()

    async with web(scripted(tools_call=call)) as server, linked(tmp_path, server.url) as crm:
        await crm.until_connected()
        await crm.ask_stateless(1, "tools/call", name="t")
        assert "ended its stream before the answer" in await crm.error(1)
    assert [asked.method for asked in server.asked] == ["POST"]


async def test_the_refusal_of_a_probe_is_an_answer_and_the_handshake_can_follow(tmp_path):
    async def probe(answering: Answering) -> None:
        await answering.json({"jsonrpc": "2.0", "id": "server-error", "error": {"code": -32600, "message": "no"}}, 400)

    async with web(scripted(server_discover=probe)) as server, linked(tmp_path, server.url) as crm:
        await crm.until_connected()
        await crm.ask_stateless(1, "server/discover")
        assert (await crm.answer(1))["error"]["code"] == -32600
        await crm.ask(2, "initialize", {"protocolVersion": VERSION})
        await crm.answer(2)
    assert not [event for event in crm.events if isinstance(event, Disconnected)]
    assert "mcp-protocol-version" not in server.asked[1].headers


async def test_a_server_that_never_answers_holds_up_nothing_else(tmp_path):
    async def loris(answering: Answering) -> None:
        await answering.raw(b"HTTP/1.1 200 OK\r\n")
        for _ in range(10_000):
            await answering.raw(b"X: y\r\n")
            await anyio.sleep(0.01)

    async with web(scripted(tools_call=loris)) as server, linked(tmp_path, server.url) as crm:
        await crm.greet()
        await crm.ask(2, "tools/call")
        await server.until(is_rpc("tools/call"))
        with anyio.fail_after(PATIENCE):
            await crm.ask(3, "tools/list")
            await crm.answer(3)
