"""Writes the behaviour of a scripted upstream and reads back what reached it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).with_name("scripted.py")
OVER_HTTP = Path(__file__).with_name("scripted_http.py")

Action = Mapping[str, Any]
OBJECT_SCHEMA: dict[str, Any] = {"type": "object"}


def text(*texts: str, **more: Any) -> list[Action]:
    """Answer a tool call with text blocks; ``more`` are further members of the result."""
    return [{"result": {"content": [{"type": "text", "text": t} for t in texts], **more}}]


def says(level: str, data: Any) -> Action:
    """Send a log message."""
    return {"notify": "notifications/message", "params": {"level": level, "data": data}}


#: Answer a tool call with its own arguments, as structured content and nowhere else.
ECHO: list[Action] = [{"result": {"content": [], "structuredContent": {"arguments": "$args"}}}]


class Upstream:
    """A server that is described, configured and then asked what it received.

    Capabilities follow from what was described; ``capabilities`` and everything else of the
    ``initialize`` result may be given.  A path under ``folder`` holds its files, so two upstreams of one
    test need different names.
    """

    def __init__(self, name: str, folder: Path, **initialize: Any) -> None:
        self.name = name
        self._folder = folder / f"upstream-{name}"
        self._folder.mkdir()
        self._log = self._folder / "received.log"
        self._starts = self._folder / "starts.jsonl"
        self._initialize = initialize
        self._on: dict[str, Any] = {"ping": [{"result": {}}], "logging/setLevel": [{"result": {}}]}
        self.tools: list[dict[str, Any]] = []
        self.prompts: list[dict[str, Any]] = []
        self.resources: list[dict[str, Any]] = []
        self.templates: list[dict[str, Any]] = []
        self._more: dict[str, Any] = {}

    # -- describing

    def tool(self, name: str, actions: Sequence[Action] = (), **described: Any) -> Upstream:
        """A tool and what calling it does; ``described`` are members of its list entry."""
        self.tools.append({"name": name, "inputSchema": OBJECT_SCHEMA, **described})
        self._case("tools/call", "name", name, actions or text("done"))
        return self

    def prompt(self, name: str, actions: Sequence[Action] = (), **described: Any) -> Upstream:
        self.prompts.append({"name": name, **described})
        self._case("prompts/get", "name", name, actions or [{"result": {"messages": []}}])
        return self

    def resource(self, uri: str, actions: Sequence[Action] = (), **described: Any) -> Upstream:
        self.resources.append({"uri": uri, "name": "a resource", **described})
        self.reads(uri, actions or [{"result": {"contents": [{"uri": uri, "text": "content"}]}}])
        for method in ("resources/subscribe", "resources/unsubscribe"):
            self._on.setdefault(method, [{"result": {}}])
        return self

    def reads(self, uri: str, actions: Sequence[Action]) -> Upstream:
        """What reading ``uri`` does, listed or not."""
        self._case("resources/read", "uri", uri, actions)
        return self

    def template(self, uri_template: str, **described: Any) -> Upstream:
        self.templates.append({"uriTemplate": uri_template, "name": "a template", **described})
        return self

    def on(self, method: str, actions: Sequence[Action] | Mapping[str, Any]) -> Upstream:
        """What a message of ``method`` does, instead of what follows from the rest."""
        self._on[method] = actions
        return self

    def pages(self, method: str, member: str, pages: Mapping[str, Sequence[Mapping[str, Any]]]) -> Upstream:
        """Answer the list ``method`` in pages: each cursor, beginning with the empty one, and its items."""
        cursors = list(pages)
        cases = {}
        for cursor, following in zip(cursors, [*cursors[1:], None], strict=True):
            result: dict[str, Any] = {member: pages[cursor]}
            if following is not None:
                result["nextCursor"] = following
            cases[cursor] = [{"result": result}]
        return self.on(method, {"by": "cursor", "cases": cases})

    def announced(self) -> Upstream:
        """Say ``up`` whenever a handshake is complete, so that a test can wait for a restart."""
        return self.on("notifications/initialized", [says("alert", "up")])

    def behave(self, **more: Any) -> Upstream:
        """Members of the behaviour file itself: ``at_start``, ``serial``, ``ignore``, ``string_ids``."""
        self._more.update(more)
        return self

    def _case(self, method: str, by: str, value: str, actions: Sequence[Action]) -> None:
        unknown = [{"error": {"code": -32602, "message": f"unknown {by}"}}]
        entry = self._on.setdefault(method, {"by": by, "cases": {}, "otherwise": unknown})
        entry["cases"][value] = list(actions)

    # -- configuring

    def config(self, **more: Any) -> dict[str, Any]:
        """Write the behaviour and return the entry for ``upstreams``; ``more`` are members of that entry."""
        path = self.write()
        return {"command": sys.executable, "args": ["-S", str(SCRIPT), str(path)], **more}

    def serving(self, port: int) -> list[str]:
        """Write the behaviour and return the command that serves it over HTTP, at ``/mcp`` of a loopback port."""
        return [sys.executable, "-S", str(OVER_HTTP), str(self.write()), str(port)]

    def write(self) -> Path:
        """Write (or, between two starts, write anew) the behaviour."""
        on = dict(self._on)
        for method, member, items in (
            ("tools/list", "tools", self.tools),
            ("prompts/list", "prompts", self.prompts),
            ("resources/list", "resources", self.resources),
            ("resources/templates/list", "resourceTemplates", self.templates),
        ):
            if items:
                on.setdefault(method, [{"result": {member: items}}])
        if self.resources or self.templates:
            on.setdefault("resources/list", [{"result": {"resources": []}}])
            on.setdefault("resources/templates/list", [{"result": {"resourceTemplates": []}}])
        on.setdefault("initialize", [{"result": {**self._hello(on), **self._initialize}}])
        behaviour = {"log": str(self._log), "starts": str(self._starts), "on": on, **self._more}
        path = self._folder / "behaviour.json"
        path.write_text(json.dumps(behaviour), encoding="utf-8")
        return path

    def _hello(self, on: Mapping[str, Any]) -> dict[str, Any]:
        capabilities: dict[str, Any] = {"logging": {}}
        if "tools/list" in on:
            capabilities["tools"] = {"listChanged": True}
        if "prompts/list" in on:
            capabilities["prompts"] = {"listChanged": True}
        if "resources/list" in on:
            capabilities["resources"] = {"listChanged": True, "subscribe": True}
        if "completion/complete" in on:
            capabilities["completions"] = {}
        return {
            "protocolVersion": "$version",
            "capabilities": capabilities,
            "serverInfo": {"name": self.name, "version": "1"},
        }

    # -- asking

    def received_bytes(self) -> bytes:
        """Every byte that reached it, over all its starts."""
        return self._log.read_bytes() if self._log.exists() else b""

    def headers(self) -> list[dict[str, str]]:
        """Those of every post that reached it over HTTP, names in lower case."""
        lines = self._log.with_name(self._log.name + ".headers").read_text("utf-8").splitlines()
        return [{name.lower(): value for name, value in json.loads(line).items()} for line in lines]

    def received(self, method: str | None = None) -> list[dict[str, Any]]:
        """The messages that reached it, all or those of one method."""
        messages = [json.loads(line) for line in self.received_bytes().split(b"\n") if line]
        return [m for m in messages if method is None or m.get("method") == method]

    def arguments(self, tool: str) -> list[Any]:
        """The arguments of every call of ``tool`` that reached it."""
        return [m["params"].get("arguments") for m in self.received("tools/call") if m["params"]["name"] == tool]

    def starts(self) -> list[dict[str, Any]]:
        """What each of its processes was started with: ``pid``, ``argv``, ``environ``."""
        if not self._starts.exists():
            return []
        return [json.loads(line) for line in self._starts.read_text(encoding="utf-8").splitlines()]
