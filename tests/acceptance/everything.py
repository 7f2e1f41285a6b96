"""A session with the server that has everything, by whatever way it is reached."""

from __future__ import annotations

from tests.acceptance.real import Conversation
from tests.peers.driver import Message
from tests.peers.values import values

VERSION = "2025-11-25"
KIM = values(1)

CAPABILITIES = {
    "sampling": {"tools": {}, "context": {}},
    "elicitation": {"form": {}, "url": {}},
    "roots": {"listChanged": True},
}


def play(talk: Conversation) -> None:
    """Everything once: lists, tools of every kind, questions of the server's own, progress."""
    driver = talk.driver

    def sample(request: Message) -> Message:
        talk.said.append({"sampled": request["params"]["messages"]})
        return {"role": "assistant", "model": "m", "content": {"type": "text", "text": f"ask {KIM.email}"}}

    def fill(request: Message) -> Message:
        talk.said.append({"form": request["params"]["requestedSchema"]})
        return {"action": "accept", "content": {"name": "Kim", "check": True, "email": KIM.email}}

    driver.answers["sampling/createMessage"] = sample
    driver.answers["elicitation/create"] = fill
    driver.answers["roots/list"] = lambda _: {"roots": [{"uri": "file:///srv/shelf", "name": "shelf"}]}
    talk.initialize(VERSION, CAPABILITIES)
    for method in ("tools/list", "prompts/list", "resources/list", "resources/templates/list"):
        talk.ask(method)
    talk.tool("echo", {"message": f"to {KIM.email} and {KIM.iban}"})
    talk.tool("get-sum", {"a": 1, "b": 2.5})
    for kind in ("error", "success", "debug"):
        talk.tool("get-annotated-message", {"messageType": kind, "includeImage": True})
    talk.tool("get-structured-content", {"location": "Chicago"})
    talk.tool("get-resource-links", {"count": 4})
    talk.tool("get-tiny-image", {})
    talk.tool("get-roots-list", {})
    talk.tool("trigger-sampling-request", {"prompt": f"Who is {KIM.email}?"})
    talk.tool("trigger-elicitation-request", {})
    talk.tool("get-sum", {"a": "no number"})
    talk.prompt("simple-prompt", {})
    talk.prompt("args-prompt", {"city": "Oslo", "state": KIM.email})
    talk.ask("resources/read", {"uri": "demo://resource/static/document/features.md"})
    talk.ask("resources/read", {"uri": "demo://no/such"})
    reference = {"type": "ref/prompt", "name": talk.prefix + "completable-prompt"}
    talk.ask("completion/complete", {"ref": reference, "argument": {"name": "department", "value": "E"}})
    talk.ask("logging/setLevel", {"level": "warning"})
    talk.ask("resources/subscribe", {"uri": "demo://resource/static/document/features.md"})
    work = {"name": talk.prefix + "trigger-long-running-operation", "arguments": {"duration": 0.1, "steps": 2}}
    talk.ask("tools/call", {**work, "_meta": {"progressToken": "p-1"}})
    talk.said.append({"progress": driver.notifications("notifications/progress")})
