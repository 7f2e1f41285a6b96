"""Headers of a client that an upstream is passed: those on its list, with the request they came with, and no others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.peers.driver import text_of
from tests.peers.hosted import Caller, Hosted, Message, answer_in, hosted, messages_in, stateless
from tests.peers.network import free_port, listening
from tests.peers.upstream import Upstream, text

KIM = "kim@example.com"
#: What a client sends beside what it has to.
SENT = {
    "cookie": "s=a-cookie",
    "x-request-id": "request-1",
    "x-tenant": "tenant-1",
    "x-secret": "client-secret",
    "forwarded": "for=192.0.2.60",
}
ASKING = {
    "resultType": "input_required",
    "inputRequests": {"q": {"method": "elicitation/create", "params": {"message": "?", "requestedSchema": {}}}},
    "requestState": "s",
}


def served(name: str, folder: Path) -> Upstream:
    found = {
        "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
        "ttlMs": 0, "cacheScope": "private",
    }  # fmt: skip
    upstream = Upstream(name, folder).tool("who", text(KIM)).tool("form", [{"result": ASKING}])
    return upstream.on("server/discover", [{"result": found}])


class Scene:
    """A gateway over HTTP with an upstream that is passed two headers, one that is passed another, and one none."""

    def __init__(self, gateway: Hosted, **upstreams: Upstream) -> None:
        self.gateway, self.upstreams = gateway, upstreams

    def got(self, name: str) -> list[tuple[str, dict[str, str]]]:
        """The method of each message that an upstream got, and the headers it came with."""
        upstream = self.upstreams[name]
        lines = map(json.loads, upstream.received_bytes().splitlines())
        return [(m.get("method", ""), h) for m, h in zip(lines, upstream.headers(), strict=True)]

    def called(self, name: str) -> dict[str, str]:
        """The headers of the last call."""
        return [headers for method, headers in self.got(name) if method == "tools/call"][-1]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder = tmp_path_factory.mktemp("passing")
    lists = {"two": ["X-Request-ID", "x-tenant"], "other": ["X-Secret"], "none": []}
    with ExitStack() as running:
        entries, upstreams = {}, {}
        for name, passed in lists.items():
            port = free_port()
            upstreams[name] = served(name, folder)
            running.enter_context(listening(upstreams[name].serving(port), port, folder / f"{name}.log"))
            entries[name] = {
                "url": f"http://127.0.0.1:{port}/mcp", "headers": {"Authorization": f"Bearer of-{name}"},
                "pass_headers": passed, "elicitation": True,
            }  # fmt: skip
        yield Scene(running.enter_context(hosted(folder, {"upstreams": entries})), **upstreams)


class Client:
    """One client in one era."""

    def __init__(self, era: str, caller: Caller) -> None:
        self.era, self.caller = era, caller
        if era == "session":
            caller.initialize(elicitation={})

    def post(self, tool: str, headers: dict[str, Any], **more: Any) -> tuple[Message, httpx2.Response]:
        request, own = self.caller.request("tools/call", {"name": tool, "arguments": {}, **more}), {}
        if self.era == "stateless":
            capable = {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
            request, own = stateless(request, **capable)
        return request, self.caller.post(request, **own, **headers)

    def call(self, tool: str, headers: dict[str, str]) -> Message:
        request, response = self.post(tool, headers)
        result: Message = answer_in(response, request["id"])["result"]
        return result


@pytest.fixture(params=["session", "stateless"])
def client(scene: Scene, request: pytest.FixtureRequest) -> Iterator[Client]:
    with scene.gateway.caller() as caller:
        yield Client(request.param, caller)


def beyond(headers: dict[str, str]) -> dict[str, str]:
    """What of ``headers`` a client sent."""
    return {name: value for name, value in headers.items() if name in SENT}


def test_each_upstream_gets_the_headers_on_its_list_and_its_own_credentials(scene: Scene, client: Client) -> None:
    expected = {"two": ("x-request-id", "x-tenant"), "other": ("x-secret",), "none": ()}
    for name, passed in expected.items():
        assert text_of(client.call(f"{name}__who", SENT)).startswith("[EMAIL_")
        assert beyond(scene.called(name)) == {header: SENT[header] for header in passed}
        assert {headers["authorization"] for _, headers in scene.got(name)} == {f"Bearer of-{name}"}
        # What the gateway asks on its own account is no request of this client.
        assert [method for method, headers in scene.got(name) if method != "tools/call" and beyond(headers)] == []
    assert [value for value in SENT.values() if any(value in line for line in scene.gateway.log)] == []


def test_each_request_goes_with_its_own(scene: Scene, client: Client) -> None:
    for sent in ({"x-request-id": "first", "x-tenant": "a"}, {"x-request-id": "second"}, {}):
        client.call("two__who", sent)
        assert beyond(scene.called("two")) == sent


def test_a_token_in_a_header_stays_a_token(scene: Scene, client: Client) -> None:
    """The model's client may write what it likes; only arguments are restored."""
    token = text_of(client.call("two__who", {}))
    client.call("two__who", {"x-tenant": f"{token} \t~", "x-request-id": ""})
    assert beyond(scene.called("two")) == {"x-tenant": f"{token} \t~", "x-request-id": ""}


def test_a_request_that_is_sent_again_goes_with_what_it_is_sent_again_with(scene: Scene) -> None:
    with scene.gateway.caller() as caller:
        client = Client("stateless", caller)
        _, asked = client.post("two__form", {"x-request-id": "first", "x-tenant": "a"})
        state = messages_in(asked)[-1]["result"]["requestState"]
        answer = {"q": {"action": "accept", "content": {}}}
        client.post("two__form", {"x-request-id": "again"}, requestState=state, inputResponses=answer)
    assert beyond(scene.called("two")) == {"x-request-id": "again"}


@pytest.mark.parametrize(
    ("value", "status"),
    [("x" * 8192, 200), ("x" * 8193, 431), (b"caf\xe9", 400), ("a\x7fb", 400)],
)
def test_what_could_not_be_sent_again_the_same_is_refused(
    scene: Scene, client: Client, value: str | bytes, status: int
) -> None:
    before = len(scene.upstreams["two"].received("tools/call"))
    _, response = client.post("two__who", {"x-tenant": value})
    assert response.status_code == status
    assert len(scene.upstreams["two"].received("tools/call")) == before + (status == 200)
    assert str(value) not in response.text


def test_a_header_that_comes_twice_is_refused(client: Client) -> None:
    request, own = client.caller.request("tools/call", {"name": "two__who", "arguments": {}}), {}
    if client.era == "stateless":
        request, own = stateless(request)
    headers = [*client.caller.headers().items(), *own.items(), ("content-type", "application/json")]
    both = [*headers, ("x-tenant", "a"), ("x-tenant", "b")]
    response = client.caller.client.post(client.caller.url, json=request, headers=both)
    assert response.status_code == 400
    assert "comes twice" in response.text


def test_what_a_client_says_of_its_connection_ends_there(scene: Scene, client: Client) -> None:
    client.call("two__who", {**SENT, "connection": "keep-alive, X-Tenant"})
    assert beyond(scene.called("two")) == {"x-request-id": SENT["x-request-id"]}
