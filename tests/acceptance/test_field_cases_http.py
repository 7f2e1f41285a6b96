"""Faults that users of gateways and proxies reported, where HTTP is spoken on either side.

Each test names the field case it answers; the same cases over standard input and output are in ``test_field_cases``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.peers.driver import Processes, text_of
from tests.peers.hosted import Caller, Hosted, Message, answer_in, events_in, hosted, messages_in, stateless
from tests.peers.network import free_port, listening
from tests.peers.upstream import ECHO, Upstream, text

KIM = "kim@example.com"


def discovered(upstream: Upstream, **capabilities: Any) -> Upstream:
    """The same in the stateless era."""
    found = {
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": capabilities or {"tools": {}, "resources": {}},
        "ttlMs": 0,
        "cacheScope": "private",
    }
    return upstream.on("server/discover", [{"result": found}])


def test_a_restarted_server_costs_one_call_at_most_and_no_token(peers: Processes, tmp_path: Path) -> None:
    """A36"""
    crm = Upstream("crm", tmp_path).tool("who", text(KIM)).tool("save", ECHO)
    port = free_port()
    with listening(crm.serving(port), port, tmp_path / "first.log"):
        driver = peers.gateway({"upstreams": {"crm": {"url": f"http://127.0.0.1:{port}/mcp"}}})
        driver.initialize()
        assert text_of(driver.tool("crm__who")) == "[EMAIL_0]"
    crm.tool("late", text("new"))
    with listening(crm.serving(port), port, tmp_path / "second.log"):
        driver.tool("crm__save", to="[EMAIL_0]")  # the server knows nothing of the session
        driver.wait(lambda m: m.get("method") == "notifications/tools/list_changed")
        saved = driver.tool("crm__save", to="[EMAIL_0]")
        assert saved == {"content": [], "structuredContent": {"arguments": {"to": "[EMAIL_0]"}}}
        assert {"to": KIM} in crm.arguments("save")
        assert len(crm.received("initialize")) == len(crm.received("notifications/initialized")) == 2
        assert "crm__late" in [tool["name"] for tool in driver.result("tools/list")["tools"]]
        assert text_of(driver.tool("crm__late")) == "new"


@pytest.fixture
def two(tmp_path: Path) -> Iterator[tuple[Hosted, Upstream, Upstream]]:
    """A gateway over HTTP, an upstream with credentials of its own, and one without."""
    a, b = (discovered(Upstream(name, tmp_path)).tool("who", text(KIM)).tool("save", ECHO) for name in ("a", "b"))
    with ExitStack() as running:
        entries: dict[str, Any] = {}
        for upstream in (a, b):
            port = free_port()
            running.enter_context(listening(upstream.serving(port), port, tmp_path / f"{upstream.name}.log"))
            entries[upstream.name] = {"url": f"http://127.0.0.1:{port}/mcp"}
        entries["a"]["headers"] = {"Authorization": "Bearer configured-for-a"}
        yield running.enter_context(hosted(tmp_path, {"upstreams": entries})), a, b


@pytest.mark.parametrize("era", ["session", "stateless"])
def test_credentials_of_a_client_go_to_nobody(two: tuple[Hosted, Upstream, Upstream], era: str) -> None:
    """A37"""
    gateway, a, b = two
    sent = {"cookie": "s=a-cookie", "x-request-id": "request-1", "x-secret": "client-secret"}
    with gateway.caller() as caller:
        caller.client.headers.update(sent)
        if era == "session":
            caller.initialize()
        for name in ("a__who", "b__who"):
            request, headers = caller.request("tools/call", {"name": name, "arguments": {}}), {}
            if era == "stateless":
                request, headers = stateless(request)
            assert text_of(answer_in(caller.post(request, **headers), request["id"])["result"]) == "[EMAIL_0]"
    for upstream, authorization in ((a, "Bearer configured-for-a"), (b, None)):
        assert upstream.headers() and {h.get("authorization") for h in upstream.headers()} == {authorization}
        assert not [h for h in upstream.headers() if h.keys() & sent.keys()]
    log = "\n".join(gateway.log)
    assert not [value for value in (*sent.values(), gateway.token, "configured-for-a") if value in log]


class Client:
    """One client in one era, over HTTP."""

    def __init__(self, era: str, caller: Caller) -> None:
        self.era, self.caller = era, caller
        self.hello = caller.initialize() if era == "session" else {}

    def ask(self, method: str, meta: Message | None = None, **params: Any) -> list[Message]:
        """What comes for a request, its answer last."""
        request = self.caller.request(method, {**params, **({"_meta": meta} if meta else {})})
        headers: dict[str, str] = {}
        if self.era == "stateless":
            request, headers = stateless(request)
        return messages_in(self.caller.post(request, **headers))

    def call(self, tool: str) -> str:
        return text_of(self.ask("tools/call", name=tool, arguments={})[-1]["result"])

    def tools(self) -> list[str]:
        return [tool["name"] for tool in self.ask("tools/list")[-1]["result"]["tools"]]

    @contextmanager
    def changes(self) -> Iterator[Iterator[Message]]:
        """What is told of lists that change."""
        if self.era == "session":
            stream = self.caller.get()
        else:
            wanted = {"toolsListChanged": True, "resourcesListChanged": True}
            request, headers = stateless(self.caller.request("subscriptions/listen", {"notifications": wanted}))
            headers["content-type"] = "application/json"
            stream = self.caller.client.stream("POST", self.caller.url, json=request, headers=headers)
        with stream as response:
            yield (json.loads(event["data"]) for event in events_in(response.iter_lines()) if event.get("data"))


@contextmanager
def one(folder: Path, era: str, upstream: Upstream) -> Iterator[Client]:
    """A client in front of one upstream, HTTP on either side."""
    port = free_port()
    with ExitStack() as running:
        running.enter_context(listening(upstream.serving(port), port, folder / f"{upstream.name}.log"))
        upstreams = {upstream.name: {"url": f"http://127.0.0.1:{port}/mcp"}}
        gateway = running.enter_context(hosted(folder, {"upstreams": upstreams}))
        yield Client(era, running.enter_context(gateway.caller()))


def in_era(era: str, upstream: Upstream, **capabilities: Any) -> Upstream:
    return discovered(upstream, **capabilities) if era == "stateless" else upstream


@pytest.mark.parametrize("era", ["session", "stateless"])
def test_progress_and_meta_arrive_under_the_clients_token_in_order(tmp_path: Path, era: str) -> None:
    """A31"""
    steps = [
        {"notify": "notifications/progress",
         "params": {"progressToken": "$progress", "progress": n, "total": 50, "message": f"row {n} for {KIM}"}}
        for n in range(50)
    ]  # fmt: skip
    unasked = {"notify": "notifications/progress", "params": {"progressToken": "invented", "progress": 1}}
    crm = Upstream("crm", tmp_path).tool("export", [*steps, *text("done"), steps[0]])
    crm.tool("quiet", [unasked, *steps[:1], *text("done")])
    with one(tmp_path, era, in_era(era, crm)) as client:
        meta = {"progressToken": "p-1", "x.acme/trace": "abc"}
        *told, answer = client.ask("tools/call", meta, name="crm__export", arguments={})
        assert text_of(answer["result"]) == "done"
        sent = crm.received("tools/call")[0]["params"]["_meta"]
        assert sent["x.acme/trace"] == "abc" and "progressToken" in sent
        assert {message["method"] for message in told} == {"notifications/progress"}
        assert [message["params"]["progress"] for message in told] == list(range(50))
        assert {message["params"]["progressToken"] for message in told} == {"p-1"}
        assert told[7]["params"]["message"] == "row 7 for [EMAIL_0]"
        assert len(client.ask("tools/call", name="crm__quiet", arguments={})) == 1


@pytest.mark.parametrize("era", ["session", "stateless"])
@pytest.mark.parametrize("announced", [True, False])
def test_a_changed_list_is_told_once_and_where_that_was_announced(tmp_path: Path, era: str, announced: bool) -> None:
    """A33"""
    tools = [{"name": name, "inputSchema": {"type": "object"}} for name in ("grow", "mark", "new_tool")]
    changed = {"notify": "notifications/tools/list_changed"}
    grown = {"set": {"tools/list": [{"result": {"tools": tools}}]}}
    capabilities = {"tools": {"listChanged": True} if announced else {}, "resources": {"listChanged": True}}
    crm = Upstream("crm", tmp_path, capabilities=capabilities).on("tools/list", [{"result": {"tools": tools[:2]}}])
    crm.tool("grow", [grown, changed, changed, *text("grown")]).tool("new_tool", text("new"))
    crm.tool("mark", [{"notify": "notifications/resources/list_changed"}, *text("marked")])
    with one(tmp_path, era, in_era(era, crm, **capabilities)) as client, client.changes() as changes:
        assert client.tools() == ["crm__grow", "crm__mark"]
        if era == "stateless":
            granted = next(changes)["params"]["notifications"]
            assert granted == {**({"toolsListChanged": True} if announced else {}), "resourcesListChanged": True}
        else:
            assert ("listChanged" in client.hello["capabilities"]["tools"]) is announced
        client.call("crm__grow")
        if announced:
            assert next(changes)["method"] == "notifications/tools/list_changed"
        assert client.tools() == ["crm__grow", "crm__mark", "crm__new_tool"]
        assert client.call("crm__new_tool") == "new"
        client.call("crm__mark")
        assert next(changes)["method"] == "notifications/resources/list_changed", "once, or not at all"


def test_a_stateless_request_is_cancelled_by_leaving_and_its_upstream_is_told(tmp_path: Path) -> None:
    """A30, in the stateless era over HTTP"""
    a = discovered(Upstream("a", tmp_path)).tool("fast").tool("slow", [{"wait": "notifications/cancelled"}])
    b = discovered(Upstream("b", tmp_path)).tool("fast")
    with hosted(tmp_path, {"upstreams": {"a": a.config(), "b": b.config()}}) as gateway, gateway.caller() as caller:
        slow, headers = stateless(caller.request("tools/call", {"name": "a__slow", "arguments": {}}))
        slow["params"]["_meta"]["progressToken"] = 1
        send = {"content-type": "application/json", **headers}
        with pytest.raises(httpx2.TimeoutException, match=r"(?i)timed out"):
            caller.client.post(gateway.url, json=slow, headers=send, timeout=0.5)
        for name in ("b__fast", "a__fast"):
            request, headers = stateless(caller.request("tools/call", {"name": name, "arguments": {}}))
            assert text_of(answer_in(caller.post(request, **headers), request["id"])["result"]) == "done"
    [call] = [m for m in a.received("tools/call") if m["params"]["name"] == "slow"]
    assert [m["params"]["requestId"] for m in a.received("notifications/cancelled")] == [call["id"]]
    assert b.received("notifications/cancelled") == []


def test_a_resource_is_read_by_the_uri_with_a_token_and_its_header_is_made_anew(tmp_path: Path) -> None:
    """A34, in the stateless era over HTTP"""
    address, real = "kim+work@example.com", "crm://contact/kim%2Bwork%40example.com"
    a = discovered(Upstream("a", tmp_path)).tool("who", text(address)).template("crm://contact/{email}")
    a.reads(real, [{"result": {"contents": [{"uri": real, "text": f"of {address}"}]}}])
    port = free_port()
    with ExitStack() as running:
        running.enter_context(listening(a.serving(port), port, tmp_path / "a.log"))
        upstreams = {"a": {"url": f"http://127.0.0.1:{port}/mcp"}}
        gateway = running.enter_context(hosted(tmp_path, {"upstreams": upstreams}))
        caller = running.enter_context(gateway.caller())

        def ask(method: str, **params: Any) -> Any:
            request, headers = stateless(caller.request(method, params))
            return answer_in(caller.post(request, **headers), request["id"])["result"]

        ask("resources/templates/list")
        token = text_of(ask("tools/call", name="a__who", arguments={}))
        for asked in (f"crm://contact/{token.replace('[', '%5B').replace(']', '%5D')}", f"crm://contact/{token}"):
            [content] = ask("resources/read", uri=asked)["contents"]
            assert (content["uri"], content["text"]) == (asked, f"of {token}")
            assert a.received("resources/read")[-1]["params"]["uri"] == real
            assert [h["mcp-name"] for h in a.headers() if h.get("mcp-method") == "resources/read"][-1] == real


def test_what_is_asked_for_reaches_the_client_and_its_answer_the_upstream(tmp_path: Path) -> None:
    """A35, in the form of the stateless era"""
    state = f"opaque {KIM} ü="
    form = {
        "message": f"Send to {KIM}?",
        "requestedSchema": {"type": "object", "properties": {"to": {"type": "string"}}},
    }
    asking = {
        "resultType": "input_required",
        "inputRequests": {"who": {"method": "elicitation/create", "params": form}},
        "requestState": state,
    }
    crm = discovered(Upstream("crm", tmp_path)).tool("form", [{"result": asking}])
    with hosted(tmp_path, {"upstreams": {"crm": crm.config()}}) as gateway, gateway.caller() as caller:
        capable = {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}

        def call(**more: Any) -> Any:
            params = {"name": "crm__form", "arguments": {}, **more}
            request, headers = stateless(caller.request("tools/call", params), **capable)
            return messages_in(caller.post(request, **headers))[-1]["result"]

        asked = call()
        assert asked["inputRequests"]["who"]["params"]["message"].endswith("Send to [EMAIL_0]?")
        answer = {"who": {"action": "accept", "content": {"to": "[EMAIL_0]"}}}
        call(inputResponses=answer, requestState=asked["requestState"])
    retried = crm.received("tools/call")[-1]["params"]
    assert retried["requestState"] == state
    assert retried["inputResponses"] == {"who": {"action": "accept", "content": {"to": KIM}}}
    assert KIM not in asked["requestState"]
