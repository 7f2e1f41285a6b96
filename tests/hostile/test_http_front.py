"""An open HTTP port: who gets in, and what one tenant can learn of another."""

from __future__ import annotations

import itertools
import json
import socket
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpx2
import pytest

from tests.patience import PATIENCE
from tests.peers.hosted import Caller, Hosted, events_in, hosted, messages_in, stateless, tokens_file
from tests.peers.upstream import ECHO, Upstream, text
from tests.peers.values import values

A = values(1)
ALICE, BOB = "clg_" + "a" * 43, "clg_" + "b" * 43
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "evil", "version": "1"}},
}

ASK = {
    "ask": "elicitation/create",
    "params": {"message": "Which?", "requestedSchema": {"type": "object", "properties": {}}},
}

CAPABILITIES = {"tools": {"listChanged": True}, "tasks": {"list": {}, "cancel": {}}}
TASK = {"taskId": "task-of-alice", "status": "working", "createdAt": "2026-01-01T00:00:00Z", "ttl": 60_000}


@pytest.fixture(scope="module")
def crm(tmp_path_factory: pytest.TempPathFactory) -> Upstream:
    return (
        Upstream("crm", tmp_path_factory.mktemp("crm"), capabilities=CAPABILITIES)
        .tool("lookup", text(f"mail {A.email}"))
        .tool("save", ECHO)
        .tool("works", [{"result": {"task": TASK}}])
        .on("tasks/get", [{"result": {**TASK, "statusMessage": A.email}}])
        .on("tasks/cancel", [{"result": TASK}])
        .tool("asks", [ASK, *text(f"answered {A.email}")])
        .tool("begun", [{"notify": "notifications/progress", "params": {"progressToken": "$progress", "progress": 1}},
                        {"wait": "tools/call", "name": "save"}, *text(f"at last {A.email}")])
    )  # fmt: skip


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory, crm: Upstream) -> Iterator[Hosted]:
    folder = tmp_path_factory.mktemp("gateway")
    config = {
        "upstreams": {"crm": crm.config(prefix="")},
        "auth": {"tokens_file": str(tokens_file(folder / "tokens", alice=ALICE, bob=BOB))},
        "listen": {"origins": ["https://trusted.example"]},
    }
    with hosted(folder, config) as gateway:
        yield gateway


@pytest.fixture
def alice(gateway: Hosted) -> Iterator[Caller]:
    with gateway.caller(ALICE) as caller:
        caller.initialize(elicitation={})
        yield caller


@pytest.fixture
def bob(gateway: Hosted) -> Iterator[Caller]:
    with gateway.caller(BOB) as caller:
        caller.initialize(elicitation={})
        yield caller


# -- who gets in -----------------------------------------------------------------------------------------


class Knock(NamedTuple):
    """One way to fill a header, and the status it is refused with; None where it is in order."""

    value: str | None
    refused: int | None


HOSTS = [
    Knock("{host}", None),
    Knock("localhost:{port}", None),
    Knock("evil.example", 403),
    Knock("evil.example:{port}", 403),
    Knock("127.0.0.1", 403),
    Knock("127.0.0.1:1", 403),
    Knock("127.0.0.1.evil.example:{port}", 403),
]
ORIGINS = [
    Knock(None, None),
    Knock("https://trusted.example", None),
    Knock("https://evil.example", 403),
    Knock("null", 403),
    Knock("http://127.0.0.1:{port}", 403),
    Knock("https://trusted.example.evil.example", 403),
]
AUTHS = [
    Knock(f"Bearer {ALICE}", None),
    Knock(None, 401),
    Knock(f"Basic {ALICE}", 401),
    Knock(ALICE, 401),
]
TYPES = [
    Knock("application/json", None),
    Knock("application/json; charset=utf-8", None),
    Knock(None, 415),
    Knock("text/plain", 415),
    Knock("application/x-www-form-urlencoded", 415),
    Knock("multipart/form-data; boundary=x", 415),
    Knock("text/plain; application/json", 415),
]


NAMES = ("host", "origin", "authorization", "content-type")
COLUMNS = (HOSTS, ORIGINS, AUTHS, TYPES)


def knocks() -> Iterator[tuple[Knock, ...]]:
    """Each way to be wrong alone, and every combination of one right and one wrong way of each header."""
    right = tuple(column[0] for column in COLUMNS)
    for place, column in enumerate(COLUMNS):
        yield from ((*right[:place], knock, *right[place + 1 :]) for knock in column)
    wrong = tuple(column[-1] for column in COLUMNS)
    yield from itertools.product(*zip(right, wrong, strict=True))


def test_whoever_is_not_in_order_reaches_no_upstream(gateway: Hosted, crm: Upstream) -> None:
    port = gateway.url.split(":")[2].split("/")[0]
    starts, received = len(crm.starts()), crm.received_bytes()
    body = json.dumps(INITIALIZE).encode()
    with httpx2.Client(trust_env=False, timeout=PATIENCE) as client:
        for knock in knocks():
            verdicts = [part.refused for part in knock if part.refused]
            if not verdicts:
                continue
            filled = {name: part.value for name, part in zip(NAMES, knock, strict=True) if part.value}
            headers = {name: value.format(host=f"127.0.0.1:{port}", port=port) for name, value in filled.items()}
            response = client.post(gateway.url, content=body, headers={"accept": "*/*", **headers})
            assert response.status_code == verdicts[0], (headers, response.text)
            assert "access-control-allow-origin" not in response.headers
    assert (len(crm.starts()), crm.received_bytes()) == (starts, received)


METHODS = {"PUT": 405, "PATCH": 405, "OPTIONS": 405, "HEAD": 405, "TRACE": 405}


@pytest.mark.parametrize("method", METHODS)
def test_a_method_that_is_not_served_is_refused_without_a_word_for_other_origins(gateway: Hosted, method: str) -> None:
    with gateway.caller(ALICE) as caller:
        response = caller.client.request(method, gateway.url)
    assert response.status_code == 405
    assert response.headers["allow"] == "POST, GET, DELETE"
    assert not [name for name in response.headers if name.startswith("access-control")]


BODIES = {
    "a batch": (b"[" + json.dumps(INITIALIZE).encode() + b"]", 400, -32600),
    "an empty batch": (b"[]", 400, -32600),
    "no JSON": (b"{", 400, -32700),
    "nothing": (b"", 400, -32700),
    "two messages": (json.dumps(INITIALIZE).encode() * 2, 400, -32700),
    "another version": (b'{"jsonrpc":"1.0","id":1,"method":"initialize"}', 400, -32600),
    "an id that is none": (b'{"jsonrpc":"2.0","id":{},"method":"initialize"}', 400, -32600),
    "hostile nesting": (b"[" * 100_000, 400, -32600),
    "invalid UTF-8": (b"\xff\xfe", 400, -32700),
}


@pytest.mark.parametrize("case", BODIES)
def test_a_body_that_is_not_one_message_is_refused(gateway: Hosted, case: str) -> None:
    body, status, code = BODIES[case]
    with gateway.caller(ALICE) as caller:
        response = caller.post(body)
    assert (response.status_code, response.json()["error"]["code"]) == (status, code)
    assert "mcp-session-id" not in response.headers


def test_a_body_whose_length_is_said_in_two_ways_is_refused_and_what_follows_is_no_request(gateway: Hosted) -> None:
    """A proxy that went by the other length takes the rest for a part of this request, with somebody else's token."""
    where = urlsplit(gateway.url)
    assert where.hostname is not None
    both = "content-length: 5\r\ntransfer-encoding: chunked\r\n"
    request = f"POST {where.path} HTTP/1.1\r\nhost: {where.netloc}\r\nauthorization: Bearer {ALICE}\r\n{both}\r\n"
    with socket.create_connection((where.hostname, where.port), timeout=30) as connection:
        connection.sendall((request + "0\r\n\r\n" + request).encode())
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 400 ") and answer.count(b"HTTP/1.1") == 1


ACCEPTS = {
    "application/json": 406,
    "text/event-stream": 406,
    "text/html, application/json": 406,
    "application/json;q=0, text/event-stream": 406,
    "application/json, text/event-stream;q=0.5": 200,
    "*/*": 200,
    "application/*, text/*": 200,
}


@pytest.mark.parametrize("accept", ACCEPTS)
def test_a_client_has_to_take_both_kinds_of_answer(alice: Caller, accept: str) -> None:
    assert alice.post(alice.request("ping"), accept=accept).status_code == ACCEPTS[accept]


def test_what_a_client_takes_may_be_said_in_two_lines(gateway: Hosted, alice: Caller) -> None:
    headers = [
        ("authorization", f"Bearer {ALICE}"), ("content-type", "application/json"),
        ("mcp-session-id", alice.session or ""), ("accept", "application/json"), ("accept", "text/event-stream"),
    ]  # fmt: skip
    with httpx2.Client(trust_env=False) as client:
        response = client.post(gateway.url, headers=headers, content=json.dumps(alice.request("ping")))
    assert response.status_code == 200


def test_a_header_that_comes_twice_is_refused(gateway: Hosted, alice: Caller) -> None:
    assert alice.session is not None
    headers = [
        ("authorization", f"Bearer {ALICE}"), ("content-type", "application/json"), ("accept", "*/*"),
        ("mcp-session-id", alice.session), ("mcp-session-id", "another"),
    ]  # fmt: skip
    with httpx2.Client(trust_env=False) as client:
        response = client.post(gateway.url, headers=headers, content=json.dumps(alice.request("ping")))
    assert response.status_code == 400


def test_a_header_that_repeats_a_request_twice_is_refused(gateway: Hosted, alice: Caller) -> None:
    """Whoever stands in between and believes the first of two must not be shown another request than is served."""
    message, headers = stateless(alice.request("tools/call", {"name": "save", "arguments": {}}))
    pairs = [("authorization", f"Bearer {ALICE}"), ("content-type", "application/json"), ("accept", "*/*")]
    with httpx2.Client(trust_env=False) as client:
        response = client.post(
            gateway.url, headers=[*pairs, ("mcp-name", "lookup"), *headers.items()], content=json.dumps(message)
        )
    assert response.status_code == 400 and "twice" in response.text


def test_no_token_is_asked_for_and_a_wrong_one_is_called_wrong(gateway: Hosted) -> None:
    with httpx2.Client(trust_env=False) as client:
        assert client.post(gateway.url).headers["www-authenticate"] == "Bearer"
        wrong = client.post(gateway.url, headers={"authorization": f"Bearer {ALICE}x"})
        if wrong.status_code == 401:
            assert wrong.headers["www-authenticate"] == 'Bearer error="invalid_token"'


@pytest.mark.parametrize("is_shared", [True, False])
def test_where_tokens_are_is_said_in_the_log_and_to_no_stranger(tmp_path: Path, crm: Upstream, is_shared: bool) -> None:
    config: dict[str, Any] = {"upstreams": {"crm": crm.config(prefix="")}}
    file = tmp_path / "state" / "http-token"
    if is_shared:
        file = tokens_file(tmp_path / "let-in", alice=ALICE)
        config["auth"] = {"tokens_file": str(file)}
    with hosted(tmp_path, config) as gateway, httpx2.Client(trust_env=False) as client:
        assert gateway.said(r"http_tokens? file=(\S+)")[1] == str(file)
        for headers in ({}, {"authorization": f"Bearer {ALICE}x"}):
            refused = client.post(gateway.url, headers=headers)
            assert refused.status_code == 401
            assert "the gateway's log names the file" in refused.text
            told = refused.text + str(refused.headers)
            assert not any(part in told for part in (str(tmp_path), file.name, "state"))
        for event in ("http_no_token", "http_wrong_token"):
            assert gateway.said(rf"{event} peer=\S+ file=(\S+)")[1] == str(file)


def test_wrong_tokens_are_told_to_wait_and_right_ones_are_not(gateway: Hosted, alice: Caller) -> None:
    with httpx2.Client(trust_env=False) as client:
        answers = [client.post(gateway.url, headers={"authorization": f"Bearer clg_{n}"}) for n in range(12)]
    assert answers[-1].status_code == 429
    assert int(answers[-1].headers["retry-after"]) > 0
    assert alice.ask("ping")["result"] == {}


def test_no_token_is_ever_in_the_log(gateway: Hosted) -> None:
    assert not [line for line in gateway.log if "clg_" in line or ALICE in line or BOB in line]


def test_a_token_that_is_deleted_is_out_with_the_next_request(tmp_path: Path, crm: Upstream) -> None:
    file = tokens_file(tmp_path / "tokens", alice=ALICE, bob=BOB)
    config = {"upstreams": {"crm": crm.config(prefix="")}, "auth": {"tokens_file": str(file)}}
    with hosted(tmp_path, config) as gateway, gateway.caller(ALICE) as alice, gateway.caller(BOB) as bob:
        alice.initialize()
        bob.initialize()
        tokens_file(file, bob=BOB)
        assert alice.post(alice.request("ping")).status_code == 401
        assert bob.ask("ping")["result"] == {}


def test_the_gateway_makes_itself_a_token_that_only_its_user_can_read(tmp_path: Path, crm: Upstream) -> None:
    with hosted(tmp_path, {"upstreams": {"crm": crm.config(prefix="")}}) as gateway:
        file = tmp_path / "state" / "http-token"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert gateway.said(r"http_token file=(\S+)")[1] == str(file)
        assert not [line for line in gateway.log if gateway.token in line]
        first = gateway.token
        with gateway.caller() as caller:
            caller.initialize()
    with hosted(tmp_path, {"upstreams": {"crm": crm.config(prefix="")}}) as gateway:
        assert gateway.token == first


def test_a_socket_lets_its_user_in_and_nobody_else(tmp_path: Path, crm: Upstream) -> None:
    path = tmp_path / "socket"
    with hosted(tmp_path, {"upstreams": {"crm": crm.config(prefix="")}, "listen": {"unix": str(path)}}):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        transport = httpx2.HTTPTransport(uds=str(path))
        with Caller("http://gateway/mcp", "none is needed", transport=transport) as caller:
            caller.initialize()
            assert caller.tool("lookup")["content"][0]["text"].startswith("mail [EMAIL_")
            page = caller.post(caller.request("ping"), origin="https://evil.example")
            assert page.status_code == 403
    assert not path.exists()


# -- what one tenant can learn of another ----------------------------------------------------------------

EVERY_METHOD = (
    "initialize", "ping", "tools/list", "tools/call", "prompts/list", "prompts/get", "resources/list",
    "resources/templates/list", "resources/read", "resources/subscribe", "resources/unsubscribe",
    "completion/complete", "logging/setLevel", "tasks/get", "tasks/result", "tasks/list", "tasks/cancel", "no/such",
)  # fmt: skip


def test_a_session_is_nobody_elses_by_any_method(alice: Caller, bob: Caller) -> None:
    alice.tool("lookup")
    unknown = {"mcp-session-id": "no-such-session"}
    foreign = {"mcp-session-id": alice.session or ""}
    for method in EVERY_METHOD:
        message = bob.request(method, {"name": "lookup", "uri": "note://1", "arguments": {}})
        answers = [bob.post(message, **which) for which in (unknown, foreign)]
        assert [answer.status_code for answer in answers] == [404, 404]
        assert answers[0].content == answers[1].content
    for notification in ("notifications/initialized", "notifications/cancelled", "notifications/progress"):
        assert (
            bob.post({"jsonrpc": "2.0", "method": notification, "params": {"requestId": 1}}, **foreign).status_code
            == 404
        )
    assert bob.post({"jsonrpc": "2.0", "id": 1, "result": {}}, **foreign).status_code == 404
    for verb in ("GET", "DELETE"):
        answers = [bob.client.request(verb, bob.url, headers=which) for which in (unknown, foreign)]
        assert [answer.status_code for answer in answers] == [404, 404]
        assert answers[0].content == answers[1].content
    assert alice.ask("ping")["result"] == {}


def test_an_event_is_nobody_elses(alice: Caller, bob: Caller) -> None:
    request = alice.request("tools/call", {"name": "begun", "arguments": {}, "_meta": {"progressToken": 1}})
    with alice.client.stream(
        "POST", alice.url, content=json.dumps(request), headers={"content-type": "application/json", **alice.headers()}
    ) as response:
        event = next(event["id"] for event in events_in(response.iter_lines()) if event["data"])
        place = event.partition("-")[2]
        for theirs in (event, event.rsplit("-", 1)[0] + "-0", "-" + place, place, "x" + event, "", "a-b-c"):
            answer = bob.client.get(bob.url, headers={**bob.headers(), "last-event-id": theirs})
            assert answer.status_code == 404, theirs
            assert answer.json()["error"]["code"] == -32602


def test_a_task_or_a_cursor_is_nobody_elses(alice: Caller, bob: Caller, crm: Upstream) -> None:
    assert alice.tool("works")["task"]["taskId"] == "task-of-alice"
    assert "[EMAIL_" in json.dumps(alice.ask("tasks/get", {"taskId": "task-of-alice"})["result"])
    before = len(crm.received())
    for method in ("tasks/get", "tasks/cancel", "tasks/result"):
        answers = [bob.ask(method, {"taskId": id}) for id in ("task-of-alice", "no-such-task")]
        assert [answer["error"]["code"] for answer in answers] == [-32602, -32602]
        assert answers[0]["error"] == answers[1]["error"]
    assert not [m for m in crm.received()[before:] if m.get("method", "").startswith("tasks/")]
    for cursor in ("task-of-alice", "0" * 40):
        answer = bob.ask("tools/list", {"cursor": cursor})
        assert A.email not in json.dumps(answer)


def test_a_token_of_one_tenant_is_a_token_of_nobody_elses(alice: Caller, bob: Caller, crm: Upstream) -> None:
    token = alice.tool("lookup")["content"][0]["text"].removeprefix("mail ")
    unknown = "[EMAIL_999999999]"
    refusals = [json.dumps(bob.tool("save", to=each)).replace(each, "") for each in (token, unknown)]
    assert refusals[0] == refusals[1]
    before = len(crm.arguments("save"))
    message, headers = stateless(bob.request("tools/call", {"name": "save", "arguments": {"to": token}}))
    assert bob_stateless(bob, message, headers)["result"]["isError"]
    assert len(crm.arguments("save")) == before


def bob_stateless(bob: Caller, message: Any, headers: dict[str, str]) -> Any:
    session, bob.session = bob.session, None
    try:
        return messages_in(bob.post(message, **headers))[-1]
    finally:
        bob.session = session


def test_what_a_tenant_was_asked_can_be_answered_by_nobody_else(gateway: Hosted) -> None:
    with gateway.caller(ALICE) as alice, gateway.caller(BOB) as bob:
        able = {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
        call = {"name": "asks", "arguments": {}}

        def ask(caller: Caller, **more: Any) -> Any:
            message, headers = stateless(caller.request("tools/call", {**call, **more}), **able)
            return messages_in(caller.post(message, **headers))[-1]

        asked = ask(alice)["result"]
        assert asked["resultType"] == "input_required"
        responses = {key: {"action": "accept", "content": {}} for key in asked["inputRequests"]}
        again = {"requestState": asked["requestState"], "inputResponses": responses}
        ask(bob)  # so that it has a state of its own under the same number
        for replayed in (ask(bob, **again), ask(alice, **{**again, "requestState": "0" * 40})):
            assert replayed["error"]["code"] == -32602
            assert A.email not in json.dumps(replayed)
        assert ask(alice, **again)["result"]["content"][0]["text"].startswith("answered [EMAIL_")


def test_a_tenant_can_take_back_only_what_is_its_own(alice: Caller, bob: Caller, crm: Upstream) -> None:
    request = {
        **alice.request("tools/call", {"name": "begun", "arguments": {}, "_meta": {"progressToken": 1}}),
        "id": "one",
    }
    headers = {"content-type": "application/json", **alice.headers()}
    with alice.client.stream("POST", alice.url, content=json.dumps(request), headers=headers) as response:
        events = events_in(response.iter_lines())
        assert next(event for event in events if event["data"])
        bob.tell("notifications/cancelled", {"requestId": "one"})
        message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "one"}}
        assert bob.post(message, **{"mcp-protocol-version": "2026-07-28"}).status_code == 202
        with Caller(alice.url, ALICE) as second:
            second.session = alice.session
            second.tool("save")
        said = [json.loads(event["data"]) for event in events if event["data"]]
    assert said[-1]["result"]["content"][0]["text"].startswith("at last [EMAIL_")


def test_a_call_of_a_session_that_is_deleted_is_told_so_on_the_stream_it_has(alice: Caller) -> None:
    request = alice.request("tools/call", {"name": "begun", "arguments": {}, "_meta": {"progressToken": 1}})
    headers = {"content-type": "application/json", **alice.headers()}
    with alice.client.stream("POST", alice.url, content=json.dumps(request), headers=headers) as response:
        events = events_in(response.iter_lines())
        assert next(event for event in events if event["data"])
        with Caller(alice.url, ALICE) as second:
            assert second.client.delete(alice.url, headers=alice.headers()).status_code == 204
        *_, last = [json.loads(event["data"]) for event in events if event["data"]]
    assert last["id"] == request["id"] and "has ended" in last["error"]["message"]


def test_nothing_of_a_tenant_is_in_what_another_was_ever_told(alice: Caller, bob: Caller) -> None:
    token = alice.tool("lookup")["content"][0]["text"].removeprefix("mail ")
    told = json.dumps([bob.ask(method, {"name": "save", "arguments": {}}) for method in EVERY_METHOD])
    assert A.email not in told
    assert token not in told


# -- clients that do not behave ----------------------------------------------------------------------------


def test_a_client_that_does_not_read_keeps_nobody_waiting(alice: Caller, gateway: Hosted) -> None:
    large = json.dumps(alice.request("tools/call", {"name": "save", "arguments": {"text": "word " * 1_000_000}}))
    headers = {"content-type": "application/json", **alice.headers()}
    with alice.client.stream("POST", alice.url, content=large, headers=headers) as response:
        with Caller(alice.url, ALICE) as second:
            second.session = alice.session
            for _ in range(20):
                assert second.ask("ping")["result"] == {}
            assert second.tool("lookup")["content"]
        assert len(response.read()) > 5_000_000


def test_a_client_that_is_killed_in_the_middle_of_its_body_costs_nothing(gateway: Hosted, alice: Caller) -> None:
    host, port = gateway.url.split("/")[2].split(":")
    for _ in range(5):
        with socket.create_connection((host, int(port))) as connection:
            head = f"POST /mcp HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {ALICE}\r\n"
            kind = "Accept: */*\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n"
            connection.sendall((head + kind + '{"jsonrpc"').encode())
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
    assert alice.ask("ping")["result"] == {}
    assert not [line for line in gateway.log if "internal_error" in line]


def test_nothing_went_wrong_inside(gateway: Hosted) -> None:
    assert not [line for line in gateway.log if "internal" in line or "Traceback" in line]
