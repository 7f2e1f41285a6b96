"""A client for the part of the suite that tests clients: ``python -m tests.conformance.client URL``.

The suite starts a server and then this program, which puts a gateway in front of that server, lists what there is
and calls every tool.  So what the suite sees and judges is how the gateway speaks to upstreams over HTTP.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.peers.driver import Driver, Message, processes

SESSION, STATELESS = "2025-11-25", "2026-07-28"
CAPABILITIES = {"elicitation": {"form": {"applyDefaults": True}}, "sampling": {}, "roots": {}}
META = {
    "io.modelcontextprotocol/protocolVersion": STATELESS,
    "io.modelcontextprotocol/clientInfo": {"name": "suite", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": CAPABILITIES,
}
#: What is given for a parameter or a field of a type, where nothing else is said.
FILLING: dict[str, Any] = {"string": "text", "integer": 5, "number": 5, "boolean": True, "array": [], "object": {}}
#: The tool that wants to be told the schema of the other one, as the client knows it.
MIRROR = "json_schema_echo"
#: Rounds of questions after which a tool is left alone.
ROUNDS = 5


def filled(schema: Any) -> dict[str, Any]:
    """Something for every property: its default, else anything of its type."""
    properties = schema.get("properties", {}).items()
    return {name: said.get("default", FILLING.get(said.get("type"), "text")) for name, said in properties}


def consent(request: Message) -> Message:
    """The answer to an elicitation."""
    return {"action": "accept", "content": filled(request["params"].get("requestedSchema", {}))}


ANSWERS = {
    "elicitation/create": consent,
    "sampling/createMessage": lambda _: {"role": "assistant", "model": "m", "content": {"type": "text", "text": "x"}},
    "roots/list": lambda _: {"roots": []},
}


class Client:
    """Asks in one era or the other, and answers what it is asked."""

    def __init__(self, driver: Driver, version: str) -> None:
        self._driver = driver
        self._version = version

    def greet(self) -> None:
        if self._version == STATELESS:
            self.ask("server/discover", {})
        else:
            self._driver.answers.update(ANSWERS)
            self._driver.initialize(version=self._version, capabilities=CAPABILITIES)

    def ask(self, method: str, params: Message) -> Message:
        """The result of a request; an error is empty, as it says enough to the suite that it was made."""
        if self._version == SESSION:
            return self._result(method, params)
        result: Message = {}
        given: Message = {}
        for _ in range(ROUNDS):
            result = self._result(method, {**params, **given, "_meta": META})
            if result.get("resultType") != "input_required":
                break
            asked = result.get("inputRequests", {})
            given = {"inputResponses": {key: ANSWERS[one["method"]](one) for key, one in asked.items()}}
            given |= {name: result[name] for name in ("requestState",) if name in result}
        return result

    def _result(self, method: str, params: Message) -> Message:
        result: Message = self._driver.call(method, params).get("result", {})
        return result


def play(client: Client, calls: list[Message] | None) -> None:
    """List everything and call what the suite wants called, else all."""
    client.greet()
    tools = client.ask("tools/list", {}).get("tools", [])
    for method in ("prompts/list", "resources/list"):
        client.ask(method, {})
    wanted = calls or [{"name": tool["name"], "arguments": filled(tool["inputSchema"])} for tool in tools]
    for call in wanted:
        if call["name"] == MIRROR:
            call["arguments"] = {"schema": tools[0]["inputSchema"]}
    for call in wanted:
        client.ask("tools/call", call)
    for prompt in client.ask("prompts/list", {}).get("prompts", []):
        client.ask("prompts/get", {"name": prompt["name"], "arguments": {}})
    for resource in client.ask("resources/list", {}).get("resources", []):
        client.ask("resources/read", {"uri": resource["uri"]})


def main() -> None:
    version = os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION", SESSION)
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    upstream = {"url": sys.argv[-1], "prefix": "", "sampling": True, "elicitation": True, "roots": True}
    with tempfile.TemporaryDirectory() as folder, processes(Path(folder)) as peers:
        driver = peers.gateway({"upstreams": {"suite": upstream}})
        play(Client(driver, version if version == STATELESS else SESSION), context.get("toolCalls"))
        driver.finish()


if __name__ == "__main__":
    main()
