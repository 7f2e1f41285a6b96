"""Clients over HTTP, as real processes over loopback."""

from __future__ import annotations

import json
import socket
import ssl
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from cloakllm_gateway.errors import ConfigError
from cloakllm_gateway.shell.front.server import bound
from cloakllm_gateway.shell.listen import ListenConfig
from tests.peers.hosted import (
    PATIENCE,
    Caller,
    Hosted,
    answer_in,
    events_in,
    eventually,
    hosted,
    is_running,
    messages_in,
    stateless,
    tokens_file,
)
from tests.peers.upstream import ECHO, Upstream, says, text

KIM = "kim@acme-corp.com"
ADA = "ada@analytical-engines.org"


def progress(number: int) -> dict[str, Any]:
    return {"notify": "notifications/progress", "params": {"progressToken": "$progress", "progress": number}}


FORM = {"message": "Which?", "requestedSchema": {"type": "object", "properties": {"which": {"type": "string"}}}}

SAID = {"result": {"content": [], "structuredContent": {"said": "$answer"}}}


def customers(folder: Path) -> Upstream:
    """An upstream with a tool for each way a call can go."""
    folder.mkdir()
    return (
        Upstream("crm", folder)
        .tool("lookup", text(f"mail {KIM}"))
        .tool("other", text(f"mail {ADA}"))
        .tool("save", ECHO)
        .tool("slow", [{"wait": "tools/call", "name": "go"}, *text(f"at last {KIM}")])
        .tool("go", text("went"))
        .tool("chatty", [progress(1), progress(2), progress(3), *text("done")])
        .tool("begun", [progress(1), {"wait": "tools/call", "name": "go"}, progress(2), *text("at last")])
        .tool("endless", [progress(1), {"wait": "notifications/never"}, *text("never")])
        .tool("asks", [{"ask": "elicitation/create", "params": FORM}, SAID])
        .tool("repeats", [progress(1), *ECHO])
        .tool("says", [says("info", "heard"), *text("said")])
        .tool("changes", [{"notify": "notifications/tools/list_changed"}, *text("changed")])
    )  # fmt: skip


@pytest.fixture(scope="module")
def crm(tmp_path_factory: pytest.TempPathFactory) -> Upstream:
    return customers(tmp_path_factory.mktemp("http") / "crm")


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory, crm: Upstream) -> Iterator[Hosted]:
    entry = crm.config(prefix="")
    with hosted(tmp_path_factory.mktemp("gateway"), {"upstreams": {"crm": entry}}) as gateway:
        yield gateway


@pytest.fixture
def caller(gateway: Hosted) -> Iterator[Caller]:
    """A client in a session of its own, which it ends."""
    with gateway.caller() as caller:
        caller.initialize(elicitation={})
        yield caller
        caller.client.delete(caller.url, headers=caller.headers())


def progressing(caller: Caller, tool: str) -> dict[str, Any]:
    """A call that wants to hear of its progress."""
    return caller.request("tools/call", {"name": tool, "arguments": {}, "_meta": {"progressToken": "p"}})


@contextmanager
def posting(caller: Caller, message: dict[str, Any], **headers: str) -> Iterator[Any]:
    """A response while it comes."""
    content = {"content-type": "application/json", **caller.headers(), **headers}
    with caller.client.stream("POST", caller.url, content=json.dumps(message), headers=content) as response:
        yield response


# -- sessions ------------------------------------------------------------------------------------------


def test_a_value_is_hidden_on_its_way_out_and_comes_back_on_its_way_in(caller: Caller, crm: Upstream) -> None:
    names = {tool["name"] for tool in caller.ask("tools/list")["result"]["tools"]}
    assert {"lookup", "save"} <= names
    shown = caller.tool("lookup")["content"][0]["text"]
    assert KIM not in shown
    caller.tool("save", to=shown.removeprefix("mail "))
    assert {"to": KIM} in crm.arguments("save")


def test_an_answer_alone_is_one_json_body(caller: Caller) -> None:
    response = caller.post(caller.request("tools/call", {"name": "lookup", "arguments": {}}))
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json"


def test_a_small_answer_waits_for_no_acknowledgement(caller: Caller) -> None:
    """Head and body are written one after the other; held back by Nagle's algorithm, each takes 40 ms."""
    times = []
    for _ in range(20):
        began = time.monotonic()
        caller.ask("ping")
        times.append(time.monotonic() - began)
    assert min(times) < 0.03


def test_what_comes_before_an_answer_makes_it_a_stream_in_order(caller: Caller) -> None:
    response = caller.post(progressing(caller, "chatty"))
    assert response.headers["content-type"] == "text/event-stream"
    assert response.headers["x-accel-buffering"] == "no"
    said = messages_in(response)
    assert [message["params"]["progress"] for message in said[:-1]] == [1, 2, 3]
    assert said[-1]["result"]["content"][0]["text"] == "done"


def test_a_stream_begins_with_an_id_that_it_can_be_resumed_from(caller: Caller) -> None:
    events = list(events_in(caller.post(progressing(caller, "chatty")).text.splitlines()))
    assert events[0].keys() == {"id", "retry", "data"}
    assert not events[0]["data"]
    ids = [event["id"] for event in events]
    assert len(set(ids)) == len(ids)
    with caller.get(**{"last-event-id": ids[1]}) as response:
        again = list(events_in(response.iter_lines()))
    assert [event["id"] for event in again] == ids[2:]
    assert [event["data"] for event in again] == [event["data"] for event in events[2:]]


def test_a_client_that_names_the_event_stream_first_gets_one(caller: Caller) -> None:
    response = caller.post(caller.request("ping"), accept="text/event-stream, application/json")
    assert response.headers["content-type"] == "text/event-stream"
    assert messages_in(response)[-1]["result"] == {}


def test_an_answer_that_takes_long_can_be_come_back_for(caller: Caller) -> None:
    with posting(caller, caller.request("tools/call", {"name": "slow", "arguments": {}})) as response:
        primed = next(events_in(response.iter_lines()))
        assert primed["data"] == ""
    with caller.get(**{"last-event-id": primed["id"]}) as response:
        with caller_of(caller) as second:
            second.tool("go")
        said = [json.loads(event["data"]) for event in events_in(response.iter_lines())]
    assert said[-1]["result"]["content"][0]["text"].startswith("at last [EMAIL_")


def test_an_older_client_gets_no_event_without_a_message(caller: Caller) -> None:
    response = caller.post(progressing(caller, "chatty"), **{"mcp-protocol-version": "2025-06-18"})
    assert all(event["data"] for event in events_in(response.text.splitlines()))


def test_a_lost_connection_takes_nothing_back_and_the_rest_waits(caller: Caller, crm: Upstream) -> None:
    with posting(caller, progressing(caller, "begun")) as response:
        lines = response.iter_lines()
        last = next(event["id"] for event in events_in(lines) if event["data"])
    caller.tool("go")
    with caller.get(**{"last-event-id": last}) as response:
        said = [json.loads(event["data"]) for event in events_in(response.iter_lines())]
    assert [message.get("method") for message in said] == ["notifications/progress", None]
    assert said[-1]["result"]["content"][0]["text"] == "at last"
    assert not crm.received("notifications/cancelled")


def test_a_question_comes_on_the_stream_of_its_call_and_its_answer_is_restored(caller: Caller) -> None:
    token = caller.tool("lookup")["content"][0]["text"].removeprefix("mail ")
    with posting(caller, caller.request("tools/call", {"name": "asks", "arguments": {}})) as response:
        events = events_in(response.iter_lines())
        question = next(json.loads(event["data"]) for event in events if event["data"])
        assert question["method"] == "elicitation/create"
        result = {"action": "accept", "content": {"which": token}}
        with caller_of(caller) as second:
            assert second.post({"jsonrpc": "2.0", "id": question["id"], "result": result}).status_code == 202
        answer = next(json.loads(event["data"]) for event in events)
    assert answer["result"]["structuredContent"]["said"]["content"]["which"] == token


@contextmanager
def caller_of(caller: Caller) -> Iterator[Caller]:
    """Another connection of the same client."""
    token = caller.client.headers["authorization"].removeprefix("Bearer ")
    with Caller(caller.url, token) as second:
        second.session = caller.session
        yield second


def test_what_belongs_to_no_request_comes_on_the_standing_stream(caller: Caller) -> None:
    with caller.get() as response:
        events = events_in(response.iter_lines())
        with caller_of(caller) as second:
            second.tool("changes")
        assert json.loads(next(events)["data"])["method"] == "notifications/tools/list_changed"


def test_the_standing_stream_holds_back_what_nobody_reads_yet(caller: Caller) -> None:
    caller.tool("changes")
    with caller.get() as response:
        said = json.loads(next(events_in(response.iter_lines()))["data"])
    assert said["method"] == "notifications/tools/list_changed"


def test_a_request_that_is_taken_back_gets_the_end_of_its_stream_and_no_answer(caller: Caller, crm: Upstream) -> None:
    request = progressing(caller, "begun")
    with posting(caller, request) as response:
        events = events_in(response.iter_lines())
        assert next(event for event in events if event["data"])
        with caller_of(caller) as second:
            second.tell("notifications/cancelled", {"requestId": request["id"]})
        assert not [event for event in events if event.get("data")]
    eventually(lambda: crm.received("notifications/cancelled"))


def test_an_id_in_use_is_refused_and_the_first_request_is_answered(caller: Caller) -> None:
    request = caller.request("tools/call", {"name": "slow", "arguments": {}})
    answers: list[Any] = []
    first = threading.Thread(target=lambda: answers.append(caller.post(request)))
    first.start()
    with caller_of(caller) as second:
        while (response := second.post(request)).status_code != 400:  # it was the first to come
            assert response.status_code == 200
        assert response.json()["error"]["code"] == -32600
        second.tool("go")
    first.join(PATIENCE)
    assert answer_in(answers[0], request["id"])["result"]["content"][0]["text"].startswith("at last [EMAIL_")


def test_ids_come_back_with_their_type(caller: Caller) -> None:
    for id in (0, "0", "a b", -5, 2**53):
        assert caller.post({"jsonrpc": "2.0", "id": id, "method": "ping"}).json() == {
            "jsonrpc": "2.0",
            "id": id,
            "result": {},
        }


def test_a_deleted_session_is_gone_with_its_upstreams(gateway: Hosted, crm: Upstream) -> None:
    with gateway.caller() as caller:
        caller.initialize()
        pid = crm.starts()[-1]["pid"]
        assert is_running(pid)
        assert caller.client.delete(caller.url, headers=caller.headers()).status_code == 204
        assert caller.post(caller.request("ping")).status_code == 404
        eventually(lambda: not is_running(pid))


def test_two_sessions_share_neither_upstreams_nor_tokens(gateway: Hosted, crm: Upstream) -> None:
    with gateway.caller() as one, gateway.caller() as other:
        one.initialize()
        other.initialize()
        assert len({start["pid"] for start in crm.starts()}) == len(crm.starts())
        token = one.tool("lookup")["content"][0]["text"].removeprefix("mail ")
        theirs = other.tool("other")["content"][0]["text"].removeprefix("mail ")
        assert token != theirs
        refused = other.tool("save", to=token)
        assert refused["isError"]
        assert "is not a token of this session" in refused["content"][0]["text"]
        assert {"to": token} not in crm.arguments("save")


# -- the stateless era -----------------------------------------------------------------------------------


def ask_stateless(caller: Caller, method: str, params: dict[str, Any] | None = None) -> Any:
    message, headers = stateless(caller.request(method, params))
    return caller.post(message, **headers)


def test_a_client_without_a_session_lists_and_calls(gateway: Hosted, crm: Upstream) -> None:
    with gateway.caller() as caller:
        assert ask_stateless(caller, "tools/list").json()["result"]["tools"]
        response = ask_stateless(caller, "tools/call", {"name": "lookup", "arguments": {}})
        assert response.headers["content-type"] == "application/json"
        token = response.json()["result"]["content"][0]["text"].removeprefix("mail ")
        assert token.startswith("[EMAIL_")
        ask_stateless(caller, "tools/call", {"name": "save", "arguments": {"stateless": token}})
        assert {"stateless": KIM} in crm.arguments("save")


def test_clients_of_one_principal_may_use_the_same_ids_at_the_same_time(gateway: Hosted) -> None:
    with gateway.caller() as one, gateway.caller() as other:
        ask_stateless(one, "tools/list")
        message, headers = stateless({**progressing(one, "begun"), "id": "same"})
        with posting(one, message, **headers) as response:
            events = events_in(response.iter_lines())
            assert next(events)
            second, headers = stateless({**other.request("tools/call", {"name": "go", "arguments": {}}), "id": "same"})
            assert answer_in(other.post(second, **headers), "same")["result"]["content"][0]["text"] == "went"
            said = [json.loads(event["data"]) for event in events]
        assert said[-1]["id"] == "same"
        assert said[-1]["result"]["content"][0]["text"] == "at last"


def test_closing_the_response_takes_a_stateless_request_back(gateway: Hosted, crm: Upstream) -> None:
    before = len(crm.received("notifications/cancelled"))
    with gateway.caller() as caller:
        message, headers = stateless(progressing(caller, "endless"))
        with posting(caller, message, **headers) as response:
            assert next(events_in(response.iter_lines()))
        eventually(lambda: len(crm.received("notifications/cancelled")) > before)


def test_a_subscription_speaks_of_itself_by_the_clients_own_id(gateway: Hosted) -> None:
    with gateway.caller() as caller, gateway.caller() as other:
        wanted = {"notifications": {"toolsListChanged": True}}
        message, headers = stateless({**caller.request("subscriptions/listen", wanted), "id": "mine"})
        with posting(caller, message, **headers) as response:
            events = events_in(response.iter_lines())
            first = json.loads(next(events)["data"])
            assert first["method"] == "notifications/subscriptions/acknowledged"
            assert first["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == "mine"
            ask_stateless(other, "tools/call", {"name": "changes", "arguments": {}})
            changed = json.loads(next(events)["data"])
            assert changed["method"] == "notifications/tools/list_changed"
            assert changed["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == "mine"


STATELESS_FAULTS = {
    "no envelope": ({"method": "tools/list", "params": {}}, {}, 400, -32602),
    "an unknown version": (*stateless({"method": "tools/list"}, "2099-01-01"), 400, -32022),
    "an unknown method": (stateless({"method": "no/such"})[0], {"mcp-method": "no/such"}, 404, -32601),
    "another method in the header": (stateless({"method": "tools/list"})[0], {"mcp-method": "tools/call"}, 400, -32020),
    "another name in the header": (
        stateless({"method": "tools/call", "params": {"name": "lookup", "arguments": {}}})[0],
        {"mcp-method": "tools/call", "mcp-name": "save"}, 400, -32020,
    ),
    "a handshake": ({"method": "initialize", "params": {}}, {}, 400, -32020),
}  # fmt: skip


@pytest.mark.parametrize("case", STATELESS_FAULTS)
def test_a_stateless_request_that_is_not_in_order_is_refused(gateway: Hosted, case: str) -> None:
    message, headers, status, code = STATELESS_FAULTS[case]
    message = {"jsonrpc": "2.0", "id": "x", **message}
    headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": message["method"], **headers}
    with gateway.caller() as caller:
        response = caller.post(message, **headers)
    assert (response.status_code, response.json()["error"]["code"], response.json()["id"]) == (status, code, "x")


def test_a_stateless_notification_is_accepted_and_a_response_is_not(gateway: Hosted) -> None:
    headers = {"mcp-protocol-version": "2026-07-28"}
    with gateway.caller() as caller:
        notification = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
        assert caller.post(notification, **headers).status_code == 202
        assert caller.post({"jsonrpc": "2.0", "id": 1, "result": {}}, **headers).status_code == 400
        assert caller.client.get(caller.url, headers=headers).status_code == 405


# -- sizes -----------------------------------------------------------------------------------------------


def test_ten_megabytes_go_in_and_come_out(caller: Caller) -> None:
    large = "word " * 2_000_000
    assert caller.tool("save", text=large)["structuredContent"] == {"arguments": {"text": large}}


def test_an_event_of_three_megabytes_is_one_event(caller: Caller) -> None:
    large = "line\n" * 600_000
    request = progressing(caller, "repeats")
    request["params"]["arguments"] = {"text": large}
    response = caller.post(request)
    assert response.headers["content-type"] == "text/event-stream"
    assert messages_in(response)[-1]["result"]["structuredContent"] == {"arguments": {"text": large}}


def test_a_body_over_the_limit_is_refused_announced_or_not(tmp_path: Path) -> None:
    crm = customers(tmp_path / "crm")
    config = {"upstreams": {"crm": crm.config(prefix="")}, "limits": {"max_message_bytes": 100_000}}
    with hosted(tmp_path, config) as gateway, gateway.caller() as caller:
        caller.initialize()
        large = json.dumps(
            caller.request("tools/call", {"name": "save", "arguments": {"text": "x" * 100_000}})
        ).encode()
        assert caller.post(large).status_code == 413

        def pieces() -> Iterator[bytes]:
            yield from (large[at : at + 10_000] for at in range(0, len(large), 10_000))

        headers = {"content-type": "application/json", **caller.headers()}
        assert caller.client.post(caller.url, content=pieces(), headers=headers).status_code == 413
        assert not crm.received("tools/call")
        assert caller.ask("ping")["result"] == {}


# -- beginnings and ends -----------------------------------------------------------------------------------


def test_an_unused_session_expires_and_one_that_is_read_does_not(tmp_path: Path) -> None:
    crm = customers(tmp_path / "crm")
    config = {"upstreams": {"crm": crm.config(prefix="")}, "listen": {"idle": 1.0}}
    with hosted(tmp_path, config) as gateway, gateway.caller() as idle, gateway.caller() as reading:
        reading.initialize()
        with reading.get() as response:
            lines = response.iter_lines()
            next(lines)
            idle.initialize()
            gateway.said("http_session_expired")
            assert idle.post(idle.request("ping")).status_code == 404
            with caller_of(reading) as second:
                assert second.post(second.request("ping")).status_code == 200


def test_a_principal_has_so_many_sessions_and_the_unused_one_goes_first(tmp_path: Path) -> None:
    crm = customers(tmp_path / "crm")
    config = {"upstreams": {"crm": crm.config(prefix="")}, "listen": {"max_sessions_per_principal": 2}}
    with hosted(tmp_path, config) as gateway, gateway.caller() as caller:
        sessions = []
        for _ in range(3):
            caller.initialize()
            sessions.append(caller.session)
        for session, status in zip(sessions, (404, 200, 200), strict=True):
            caller.session = session
            assert caller.post(caller.request("ping")).status_code == status


def test_a_signal_lets_a_call_in_flight_finish_and_then_everything_ends(tmp_path: Path) -> None:
    folder = tmp_path / "crm"
    folder.mkdir()
    crm = Upstream("crm", folder).tool("slow", [progress(1), {"wait": "notifications/never"}, *text("never")])
    crm.tool("brief", [progress(1), {"wait": "ping"}, *text(f"mail {KIM}")])
    with hosted(tmp_path, {"upstreams": {"crm": crm.config(prefix="")}}) as gateway, gateway.caller() as caller:
        caller.initialize()
        pid = crm.starts()[0]["pid"]
        with posting(caller, progressing(caller, "slow")) as response:
            events = events_in(response.iter_lines())
            assert next(event for event in events if event["data"])
            ended: list[int] = []
            ending = threading.Thread(target=lambda: ended.append(gateway.end()))
            ending.start()
            gateway.said("shutting_down")
            with caller_of(caller) as second:
                assert second.post(second.request("ping")).status_code == 503
            (last,) = [json.loads(event["data"]) for event in events if event.get("data")]
            assert "has ended" in last["error"]["message"]
        ending.join(PATIENCE)
        assert ended == [0]
        eventually(lambda: not is_running(pid))
    entries = "".join(path.read_text("utf-8") for path in (tmp_path / "state" / "audit").glob("*.jsonl"))
    assert entries.count('"session_open"') == entries.count('"session_close"') == 1
    assert '"principal":"owner"' in entries


def test_an_address_in_use_is_said_and_nothing_is_started(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        crm = customers(tmp_path / "crm")
        listen = {"http": f"127.0.0.1:{port}"}
        with pytest.raises(AssertionError, match="is in use by another program"):
            Hosted(tmp_path, {"upstreams": {"crm": crm.config()}, "listen": listen})
        assert not crm.starts()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such sockets")
def test_a_file_where_the_socket_would_be_is_not_taken_for_another_gateway(tmp_path: Path) -> None:
    place = tmp_path / "notes.txt"
    place.write_text("mine")
    with (
        pytest.raises(ConfigError, match=r"is there already and is no socket\. Move it away"),
        bound(ListenConfig(unix=str(place)), None),
    ):
        pass
    assert place.read_text() == "mine"


def test_another_path_is_told_the_right_one(gateway: Hosted) -> None:
    with gateway.caller() as caller:
        answer = caller.client.post(caller.url + "/", json={}, headers=caller.headers())
        assert answer.status_code == 404
        assert "the gateway is at /mcp (listen.path)" in answer.text


def test_it_speaks_tls_where_it_has_a_certificate(tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    crm = customers(tmp_path / "crm")
    listen = {"tls": {"cert": str(cert), "key": str(key)}}
    with hosted(tmp_path, {"upstreams": {"crm": crm.config(prefix="")}, "listen": listen}) as gateway:
        assert gateway.url.startswith("https://")
        with gateway.caller(verify=ssl.create_default_context(cafile=str(cert))) as caller:
            caller.initialize()
            assert caller.tool("lookup")["content"][0]["text"].startswith("mail [EMAIL_")


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate of 127.0.0.1 that has signed itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    (folder / "cert.pem").write_bytes(made.public_bytes(Encoding.PEM))
    (folder / "key.pem").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return folder / "cert.pem", folder / "key.pem"


def test_the_command_line_says_where_and_for_whom_over_what_the_file_says(tmp_path: Path) -> None:
    crm = customers(tmp_path / "crm")
    config = {"upstreams": {"crm": crm.config(prefix="")}, "listen": {"http": "127.0.0.1:1"}}
    with hosted(tmp_path, config, "--http", "127.0.0.1:0", "--no-auth") as gateway:
        gateway.said("http_without_tokens")
        with gateway.caller("none at all") as caller:
            caller.initialize()
        assert not (tmp_path / "state" / "http-token").exists()
    with pytest.raises(AssertionError, match="loopback"):
        Hosted(tmp_path, config, "--http", "0.0.0.0:0", "--no-auth")


def test_a_token_is_made_once_shown_once_and_lets_in(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    command = [sys.executable, "-m", "cloakllm_gateway", "token", "add", "alice", "--file", str(file)]
    made = [subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip() for _ in range(2)]
    assert len(set(made)) == 2
    assert not any(token in file.read_text("ascii") for token in made)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    crm = customers(tmp_path / "crm")
    config = {"upstreams": {"crm": crm.config(prefix="")}, "auth": {"tokens_file": str(file)}}
    with hosted(tmp_path, config) as gateway, gateway.caller(made[0]) as one, gateway.caller(made[1]) as other:
        one.initialize()
        other.session = one.session  # two tokens of one principal
        assert other.ask("ping")["result"] == {}


def test_values_that_outlive_the_gateway_are_the_principals(tmp_path: Path) -> None:
    crm = customers(tmp_path / "crm")
    file = tokens_file(tmp_path / "tokens", alice="a" * 43, bob="b" * 43)
    config = {
        "upstreams": {"crm": crm.config(prefix="")},
        "auth": {"tokens_file": str(file)},
        "vault": {"backend": "sqlite"},
    }
    with hosted(tmp_path, config) as gateway, gateway.caller("a" * 43) as alice:
        alice.initialize()
        token = alice.tool("lookup")["content"][0]["text"].removeprefix("mail ")
    with hosted(tmp_path, config) as gateway:
        with gateway.caller("b" * 43) as bob:
            bob.initialize()
            assert bob.tool("save", to=token)["isError"]
        with gateway.caller("a" * 43) as alice:
            alice.initialize()
            alice.tool("save", to=token)
    assert crm.arguments("save") == [{"to": KIM}]
