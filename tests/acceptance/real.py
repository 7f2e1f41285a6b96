"""Real MCP servers, where they are installed, and a conversation with one that can be held against another."""

from __future__ import annotations

import copy
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.peers.driver import Driver

ROOT = Path(__file__).parents[2]
NPM = ROOT / ".cache/npm/node_modules/@modelcontextprotocol"


def from_npm(package: str, *arguments: str) -> dict[str, Any]:
    """The configuration of a server from npm; skips the test where it is missing."""
    node, script = shutil.which("node"), NPM / package / "dist/index.js"
    if node is None:
        pytest.skip("node is not installed")
    if not script.exists():
        pytest.skip(f"{package} is not installed: run tests/acceptance/install.sh, which needs npm")
    return {"command": node, "args": [str(script), *arguments]}


def from_pypi(command: str, *arguments: str) -> dict[str, Any]:
    """The configuration of a server that the ``dev`` extra installs beside the interpreter."""
    script = Path(sys.executable).with_name(command)
    if not script.exists():
        pytest.skip(f"{command} is not installed: it is part of the dev extra")
    return {"command": str(script), "args": list(arguments)}


class Conversation:
    """Talks to a server called ``name``, straight or through a gateway, and keeps what both said.

    ``said`` is normalised for what a gateway has to change and nothing else: the ids, the prefix of
    listed names, who answers (``serverInfo``), and the sentence it adds to instructions.
    """

    def __init__(self, driver: Driver, prefix: str = "") -> None:
        self.driver, self.prefix = driver, prefix
        self.said: list[Any] = []

    def initialize(self, version: str, capabilities: Any) -> None:
        hello = self.driver.initialize(version=version, capabilities=capabilities)
        self.hello = hello
        kept = {name: value for name, value in sorted(hello.items()) if name not in ("serverInfo", "instructions")}
        self.said.append({"initialize": kept})

    def ask(self, method: str, params: Any = None) -> Any:
        """Keep the response, and give its result or error."""
        response = self.driver.call(method, params)
        outcome = {name: value for name, value in response.items() if name not in ("id", "jsonrpc")}
        self.said.append({method: self._without_prefix(outcome, method)})
        return outcome.get("result", outcome.get("error"))

    def tool(self, name: str, arguments: Any) -> Any:
        return self.ask("tools/call", {"name": self.prefix + name, "arguments": arguments})

    def prompt(self, name: str, arguments: Any) -> Any:
        return self.ask("prompts/get", {"name": self.prefix + name, "arguments": arguments})

    def _without_prefix(self, outcome: Any, method: str) -> Any:
        member = {"tools/list": "tools", "prompts/list": "prompts"}.get(method)
        if member is None:
            return outcome
        for item in outcome["result"][member]:
            assert item["name"].startswith(self.prefix)
        items = [{**item, "name": item["name"].removeprefix(self.prefix)} for item in outcome["result"][member]]
        return {**outcome, "result": {**outcome["result"], member: items}}

    def input_schemas(self) -> list[str]:
        """The text of every ``inputSchema`` that arrived, exactly as it was written."""
        text = self.driver.received.decode()
        decoder, found, at = json.JSONDecoder(), [], 0
        while (at := text.find('"inputSchema":', at)) >= 0:
            at += len('"inputSchema":')
            found.append(text[at : decoder.raw_decode(text, at)[1]])
        return found


def relaxed(said: list[Any]) -> list[Any]:
    """What was said, as a gateway that sanitizes has to say it: no limits to text in output schemas and forms."""
    changed = copy.deepcopy(said)
    for heard in changed:
        if "form" in heard:
            heard["form"] = _lenient(heard["form"])
        for tool in heard.get("tools/list", {}).get("result", {}).get("tools", []):
            if "outputSchema" in tool:
                tool["outputSchema"] = _lenient(tool["outputSchema"])
    return changed


def _lenient(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_lenient(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    limits = ("format", "pattern", "minLength", "maxLength") if schema.get("type") == "string" else ()
    return {name: _lenient(inner) for name, inner in schema.items() if name not in limits}
