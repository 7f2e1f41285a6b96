"""A whole gateway with a scripted stateless server over HTTP: what of its wishes the gateway heeds."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from tests.shell.remotes import Handler, gateway
from tests.shell.web import Answering, Script, web

pytestmark = pytest.mark.anyio
VERSION = "2026-07-28"
HELLO = {"resultType": "complete", "supportedVersions": [VERSION], "capabilities": {"tools": {}}}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def tool(name: str, **properties: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object", "properties": properties}}


def stateless(**methods: Handler) -> Script:
    """A server that speaks the stateless era only."""

    async def script(answering: Answering) -> None:
        asked = answering.asked
        own = methods.get(asked.rpc.replace("/", "_"))
        if own is not None:
            await own(answering)
        elif asked.rpc == "initialize":
            error = {"code": -32601, "message": "Method not found"}
            await answering.json({"jsonrpc": "2.0", "id": asked.message["id"], "error": error}, status=404)
        elif asked.rpc == "server/discover":
            await answering.result(HELLO)
        else:
            await answering.result({"resultType": "complete", "content": []})

    return script


async def lists(answering: Answering) -> None:
    marked = {"type": "string", "x-mcp-header": "Region"}
    tools = [tool("good", region=marked), tool("twice", a=marked, b=marked), tool("list", a={"items": marked})]
    await answering.result({"resultType": "complete", "tools": tools})


async def test_a_tool_whose_arguments_no_header_could_repeat_is_not_offered(tmp_path):
    async with web(stateless(tools_list=lists)) as server, gateway(tmp_path, server.url) as client:
        listed = await client.ask(2, "tools/list")
        assert [tool["name"] for tool in listed["tools"]] == ["crm__good"]


async def test_the_headers_of_a_call_hold_what_its_body_holds(tmp_path):
    async def call(answering: Answering) -> None:
        await answering.result({"resultType": "complete", "content": [{"type": "text", "text": "kim@acme-corp.com"}]})

    async with web(stateless(tools_list=lists, tools_call=call)) as server, gateway(tmp_path, server.url) as client:
        await client.ask(2, "tools/list")
        result = await client.ask(3, "tools/call", {"name": "crm__good", "arguments": {"region": "north"}})
        assert result["content"][0]["text"] == "[EMAIL_0]"
        await client.ask(4, "tools/call", {"name": "crm__good", "arguments": {"region": "[EMAIL_0]"}})
    first, second = [asked for asked in server.asked if asked.rpc == "tools/call"]
    assert (first.headers["mcp-name"], first.headers["mcp-param-region"]) == ("good", "north")
    assert second.headers["mcp-param-region"] == second.message["params"]["arguments"]["region"] == "kim@acme-corp.com"


async def test_a_version_that_is_refused_and_offered_at_once_is_asked_for_again(tmp_path):
    refused = anyio.Event()

    async def once(answering: Answering) -> None:
        if refused.is_set():
            await answering.result(HELLO)
            return
        refused.set()
        error = {"code": -32022, "message": "Unsupported protocol version", "data": {"supported": [VERSION]}}
        await answering.json({"jsonrpc": "2.0", "id": None, "error": error}, status=400)

    script = stateless(server_discover=once, tools_list=lists)
    async with web(script) as server, gateway(tmp_path, server.url) as client:
        assert (await client.ask(2, "tools/list"))["tools"]
    assert [asked.rpc for asked in server.asked].count("server/discover") == 2


async def test_the_model_is_told_why_a_call_failed(tmp_path):
    async def call(answering: Answering) -> None:
        await answering.respond(503, "text/plain", b"kim@acme-corp.com is busy")

    async with web(stateless(tools_list=lists, tools_call=call)) as server, gateway(tmp_path, server.url) as client:
        result = await client.ask(2, "tools/call", {"name": "crm__good", "arguments": {}})
    assert result["isError"]
    assert result["content"][0]["text"] == (
        "The upstream crm answered with the HTTP status 503 (Service Unavailable). "
        "The request reached the upstream, so it may already have taken effect."
    )
