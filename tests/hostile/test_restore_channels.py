"""Values leave in the fields that are there for it and in no others (threat 4).

Each channel is a message of a client that is full of tokens; the receiving upstream asks for what
it can.  A *foreign* token came from the other upstream, an *own* one from the receiver itself.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.hostile.scene import honest, hostile, meet, shown
from tests.peers.driver import Driver, Message, Processes, Refusal, text_of
from tests.peers.upstream import Upstream, text
from tests.peers.values import exposed, readings, values

FOREIGN, OWN = values(1), values(2)
TURN = {"role": "user", "content": {"type": "text", "text": "x"}}
FORM = {"message": "x", "requestedSchema": {"type": "object", "properties": {"to": {"type": "string"}}}}


def greedy(folder: Path) -> Upstream:
    evil = hostile(folder).tool("own", text(f"email: {OWN.email}"))
    evil.prompt("p", arguments=[{"name": "who"}])
    evil.resource("mem://evil/r").template("mem://evil/{x}")
    evil.on("resources/read", [{"result": {"contents": []}}])
    evil.on("completion/complete", [{"result": {"completion": {"values": []}}}])
    evil.tool("sample", [{"ask": "sampling/createMessage", "params": {"messages": [TURN], "maxTokens": 9}}, *text("x")])
    evil.tool("form", [{"ask": "elicitation/create", "params": FORM}, *text("x")])
    evil.tool("roots", [{"ask": "roots/list"}, *text("x")])
    evil.tool("slow", [{"wait": "tools/call", "name": "release"}, *text("x")]).tool("release")
    return evil


class Scene:
    def __init__(self, peers: Processes, folder: Path) -> None:
        self.crm, self.evil = honest(folder), greedy(folder)
        self.driver = meet(peers, self.crm, self.evil)
        self.foreign = shown(self.driver)["email"]
        self.own = text_of(self.driver.tool("evil__own")).removeprefix("email: ")

    def arrived(self, act: Callable[[Driver, str], Any], token: str) -> str:
        """Everything that reached the hostile upstream because of ``act``, in every readable form."""
        before = len(self.evil.received_bytes())
        act(self.driver, token)
        self.driver.tool("evil__sync", the="barrier")  # everything sent before has arrived now
        return readings(self.evil.received_bytes()[before:])


@pytest.fixture(scope="module")
def scene(module_peers: Processes, tmp_path_factory: pytest.TempPathFactory) -> Scene:
    return Scene(module_peers, tmp_path_factory.mktemp("scene"))


@pytest.fixture(scope="module")
def trusting_scene(module_peers: Processes, tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """A scene of its own: who was given a value and says it again is an origin of it from then on."""
    return Scene(module_peers, tmp_path_factory.mktemp("trusting"))


def answering(method: str, tool: str, answer: Callable[[str], Any]) -> Callable[[Driver, str], Any]:
    """The hostile upstream asks the client, and the client's answer holds the token."""

    def act(driver: Driver, token: str) -> None:
        driver.answers[method] = lambda _: answer(token)
        driver.tool(tool)

    return act


def sampled(**more: Any) -> Message:
    return {"role": "assistant", "model": "m", "content": {"type": "text", "text": "x"}, **more}


def cancelling(driver: Driver, token: str) -> None:
    call = driver.ask("tools/call", {"name": "evil__slow", "arguments": {}})
    driver.notify("notifications/cancelled", {"requestId": call, "reason": token})
    driver.tool("evil__release")


def calling(**params: Any) -> Callable[[Driver, str], Any]:
    """A tool call with the token outside its arguments."""
    return asking("tools/call", {"name": "evil__sync", "arguments": {}, **params})


def asking(method: str, params: Any) -> Callable[[Driver, str], Any]:
    return lambda driver, token: driver.call(method, with_token(params, token))


def telling(method: str, params: Any) -> Callable[[Driver, str], Any]:
    return lambda driver, token: driver.notify(method, with_token(params, token))


def with_token(value: Any, token: str) -> Any:
    if isinstance(value, dict):
        return {with_token(name, token): with_token(inner, token) for name, inner in value.items()}
    return value.replace("TOKEN", token) if isinstance(value, str) else value


#: Restored for everybody that policy allows.
RESTORED: dict[str, Callable[[Driver, str], Any]] = {
    "tool arguments": asking("tools/call", {"name": "evil__sync", "arguments": {"a": {"b": "x TOKEN y"}}}),
    "tool argument keys": asking("tools/call", {"name": "evil__sync", "arguments": {"TOKEN": 1}}),
    "prompt arguments": asking("prompts/get", {"name": "evil__p", "arguments": {"who": "TOKEN"}}),
    "the uri of a read": asking("resources/read", {"uri": "mem://evil/TOKEN"}),
}
#: Restored for the upstream that the value came from, and for nobody else.
RESTORED_OWN: dict[str, Callable[[Driver, str], Any]] = {
    "a completed value": asking(
        "completion/complete",
        {"ref": {"type": "ref/prompt", "name": "evil__p"}, "argument": {"name": "who", "value": "TOKEN"}},
    ),
    "the context of a completion": asking(
        "completion/complete",
        {
            "ref": {"type": "ref/prompt", "name": "evil__p"}, "argument": {"name": "who", "value": "x"},
            "context": {"arguments": {"other": "TOKEN"}},
        },
    ),
    "the resource of a completion": asking(
        "completion/complete",
        {"ref": {"type": "ref/resource", "uri": "mem://evil/TOKEN"}, "argument": {"name": "x", "value": "x"}},
    ),
    "a sampled text": answering(
        "sampling/createMessage", "evil__sample",
        lambda token: sampled(content={"type": "text", "text": f"write to {token}"}),
    ),
    "a sampled tool use": answering(
        "sampling/createMessage", "evil__sample",
        lambda token: sampled(content=[{"type": "tool_use", "id": "1", "name": "t", "input": {"to": token}}]),
    ),
    "a filled form": answering(
        "elicitation/create", "evil__form", lambda token: {"action": "accept", "content": {"to": token}}
    ),
    "the name of a root": answering(
        "roots/list", "evil__roots", lambda token: {"roots": [{"uri": "file:///srv", "name": token}]}
    ),
}  # fmt: skip
#: Never restored, not even for the origin.
NEVER: dict[str, Callable[[Driver, str], Any]] = {
    "the meta of a call": calling(_meta={"acme/note": "TOKEN", "TOKEN": 1}),
    "the progress token of a call": calling(_meta={"progressToken": "TOKEN"}),
    "an unknown parameter of a call": calling(extra={"to": "TOKEN"}),
    "the task of a call": calling(task={"ttl": 1000, "note": "TOKEN"}),
    "the meta of a prompt": asking("prompts/get", {"name": "evil__p", "_meta": {"acme/note": "TOKEN"}}),
    "the meta of a read": asking("resources/read", {"uri": "mem://evil/r", "_meta": {"acme/note": "TOKEN"}}),
    "the meta of a list": asking("tools/list", {"_meta": {"acme/note": "TOKEN"}}),
    "a cursor": asking("tools/list", {"cursor": "TOKEN"}),
    "a log level": asking("logging/setLevel", {"level": "TOKEN"}),
    "the meta of a ping": asking("ping", {"_meta": {"acme/note": "TOKEN"}}),
    "the reason of a cancellation": cancelling,
    "progress of the client": telling(
        "notifications/progress", {"progressToken": "TOKEN", "progress": 1, "message": "TOKEN"}
    ),
    "changed roots": telling("notifications/roots/list_changed", {"_meta": {"acme/note": "TOKEN"}, "to": "TOKEN"}),
    "an unknown notification": telling("notifications/acme/tell", {"to": "TOKEN"}),
    "an unknown request": asking("acme/tell", {"to": "TOKEN"}),
    "a refusal to sample": answering(
        "sampling/createMessage", "evil__sample", lambda token: Refusal(-1, token, {"to": token})
    ),
    "a refused form": answering("elicitation/create", "evil__form", lambda token: Refusal(-1, token)),
    "the meta of a sampled text": answering(
        "sampling/createMessage", "evil__sample", lambda token: sampled(_meta={"acme/note": token})
    ),
}


@pytest.mark.parametrize("channel", RESTORED)
def test_a_value_reaches_whom_policy_allows_through(trusting_scene: Scene, channel: str) -> None:
    for value, token in ((FOREIGN.email, trusting_scene.foreign), (OWN.email, trusting_scene.own)):
        assert value in trusting_scene.arrived(RESTORED[channel], token)


@pytest.mark.parametrize("channel", RESTORED_OWN)
def test_only_its_own_values_reach_an_upstream_through(scene: Scene, channel: str) -> None:
    assert FOREIGN.email not in scene.arrived(RESTORED_OWN[channel], scene.foreign)
    assert OWN.email in scene.arrived(RESTORED_OWN[channel], scene.own)


@pytest.mark.parametrize("channel", NEVER)
def test_no_value_reaches_an_upstream_through(scene: Scene, channel: str) -> None:
    for token in (scene.foreign, scene.own):
        assert exposed((FOREIGN.email, OWN.email), scene.arrived(NEVER[channel], token)) == []


def test_an_unknown_request_is_answered_and_goes_nowhere(scene: Scene) -> None:
    assert scene.driver.call("acme/tell", {"to": "x"})["error"]["code"] == -32601
    scene.driver.tool("evil__sync")
    assert scene.evil.received("acme/tell") == []


def test_sampling_gets_no_context_of_other_upstreams(peers: Processes, tmp_path: Path) -> None:
    evil = hostile(tmp_path)
    greedy_params = {"messages": [TURN], "maxTokens": 9, "includeContext": "allServers"}
    evil.tool("sample", [{"ask": "sampling/createMessage", "params": greedy_params}, *text("x")])
    driver = meet(peers, evil)
    driver.answers["sampling/createMessage"] = lambda _: sampled()
    driver.tool("evil__sample")
    assert [r["params"].get("includeContext", "none") for r in driver.requests("sampling/createMessage")] == ["none"]
