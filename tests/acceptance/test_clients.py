"""Real clients list and call through the gateway, over standard input and output and over HTTP, in both eras."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import pytest
from mcp_types import TextContent

from tests.acceptance.real import ROOT
from tests.conformance.suite import FIXTURE, Unavailable, node
from tests.conformance.suite import PACKAGES as NEWER
from tests.peers import proofs
from tests.peers.hosted import hosted
from tests.peers.upstream import ECHO, Upstream, text

CLIENT = Path(__file__).parents[1] / "peers/client.cjs"
PACKAGES = ROOT / ".cache/npm"
KIM = "kim@acme-corp.com"
#: Seconds for a client in a process of its own; on a busy machine node takes a while to start.
PATIENCE = 180


class Place(NamedTuple):
    """Where the gateway is: a command to start, or a URL with its token."""

    command: list[str]
    url: str = ""
    token: str = ""


class Seen(NamedTuple):
    """What the client made of it: the names of the tools, the text of a lookup, the structured content of an echo."""

    tools: list[str]
    text: str
    echoed: Any


@pytest.fixture
def crm(tmp_path: Path) -> Upstream:
    return Upstream("crm", tmp_path).tool("lookup", text(f"mail {KIM}")).tool("save", ECHO)


@pytest.fixture(params=["stdio", "http"])
def place(request: pytest.FixtureRequest, crm: Upstream, tmp_path: Path) -> Iterator[Place]:
    config = {"upstreams": {"crm": crm.config()}}
    if request.param == "http":
        with hosted(tmp_path, config) as gateway:
            yield Place([], gateway.url, gateway.token)
        return
    whole = {"state_dir": str(tmp_path / "state"), "detection": {"ner_entity_types": []}, **config}
    yield Place(proofs.command(tmp_path / "gateway.json", whole))


def python_sdk(mode: str) -> Callable[[Place], Seen]:
    def play(place: Place) -> Seen:
        from mcp import Client, StdioServerParameters
        from mcp.client.streamable_http import streamable_http_client
        from mcp.shared._httpx_utils import create_mcp_http_client

        async def talk() -> Seen:
            if place.url:
                web = create_mcp_http_client(headers={"Authorization": f"Bearer {place.token}"})
                server: Any = streamable_http_client(place.url, http_client=web)
            else:
                server = StdioServerParameters(command=place.command[0], args=place.command[1:], env=dict(os.environ))
            async with Client(server, mode=mode) as client:
                return await seen(client.list_tools, client.call_tool)

        return anyio.run(talk)

    return play


def fastmcp(place: Place) -> Seen:
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    async def talk() -> Seen:
        server: Any = place.url or StdioTransport(place.command[0], place.command[1:], env=dict(os.environ))
        async with Client(server, auth=place.token or None) as client:
            return await seen(client.list_tools, client.call_tool)

    return anyio.run(talk)


async def seen(list_tools: Callable[[], Any], call_tool: Callable[..., Any]) -> Seen:
    listed = await list_tools()
    looked = await call_tool("crm__lookup", {})
    echoed = await call_tool("crm__save", {"to": "[EMAIL_0]"})
    tools = [tool.name for tool in getattr(listed, "tools", listed)]
    return Seen(tools, looked.content[0].text, echoed.structured_content)


def typescript(sdk: str) -> Callable[[Place], Seen]:
    def play(place: Place) -> Seen:
        program = shutil.which("node")
        if program is None or not (PACKAGES / "node_modules/@modelcontextprotocol" / sdk).exists():
            pytest.skip(f"the TypeScript {sdk} is not installed: run tests/acceptance/install.sh, which needs npm")
        server = {"url": place.url, "token": place.token} if place.url else place.command
        steps = ["list", ["crm__lookup", {}], ["crm__save", {"to": "[EMAIL_0]"}]]
        arguments = [str(PACKAGES), sdk, json.dumps(server), json.dumps(steps)]
        done = subprocess.run([program, str(CLIENT), *arguments], capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, done.stderr
        listed, looked, echoed = (outcome["result"] for outcome in json.loads(done.stdout))
        names = [tool["name"] for tool in listed["tools"]]
        return Seen(names, looked["content"][0]["text"], echoed["structuredContent"])

    return play


def inspector(place: Place) -> Seen:
    """The Inspector's command line, a process and a session for each step."""
    script = NEWER / "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
    try:
        command = [node(), str(script), "--cli"]
    except Unavailable as error:
        pytest.skip(str(error))
    if not script.exists():
        pytest.skip("the Inspector is not installed: run tests/conformance/install.sh, which needs npm")
    server = [place.url, "--header", f"Authorization: Bearer {place.token}"] if place.url else place.command

    def step(*arguments: str) -> Any:
        ahead = [*command, *server] if place.url else [*command, *arguments, "--", *server]
        whole = [*ahead, *arguments] if place.url else ahead
        done = subprocess.run(whole, capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    listed = step("--method", "tools/list")
    looked = step("--method", "tools/call", "--tool-name", "crm__lookup")
    # Its next process is another session, to which the token was never shown.
    echoed = step("--method", "tools/call", "--tool-name", "crm__save", "--tool-arg", "to=plain")
    names = [tool["name"] for tool in listed["tools"]]
    return Seen(names, looked["content"][0]["text"], echoed["structuredContent"])


CLIENTS: dict[str, Callable[[Place], Seen]] = {
    "python": python_sdk("auto"),
    "python, session only": python_sdk("legacy"),
    "fastmcp": fastmcp,
    "typescript 1": typescript("sdk"),
    "typescript 2": typescript("client"),
}


#: Those that are slow to start are left out of the quick tests.
SLOW = ("typescript 1",)
EACH = [pytest.param(play, id=name, marks=[pytest.mark.slow] * (name in SLOW)) for name, play in CLIENTS.items()]


@pytest.mark.parametrize("play", EACH)
def test_a_real_client_sees_tokens_and_its_tools_get_values(
    play: Callable[[Place], Seen], place: Place, crm: Upstream
) -> None:
    found = play(place)
    assert found == Seen(["crm__lookup", "crm__save"], "mail [EMAIL_0]", {"arguments": {"to": "[EMAIL_0]"}})
    assert crm.arguments("save") == [{"to": KIM}]


def test_a_client_that_knows_both_eras_gets_the_one_of_the_upstream(tmp_path: Path) -> None:
    from mcp import Client, StdioServerParameters

    both = {"command": FIXTURE[0], "args": FIXTURE[1:], "cwd": str(ROOT), "prefix": ""}
    whole = {"state_dir": str(tmp_path / "state"), "detection": {"ner_entity_types": []}, "upstreams": {"both": both}}
    program, *arguments = proofs.command(tmp_path / "gateway.json", whole)

    async def talk(mode: str) -> str:
        server = StdioServerParameters(command=program, args=arguments, env=dict(os.environ))
        async with Client(server, mode=mode) as client:
            result = await client.call_tool("test_simple_text", {})
            assert result.content == [TextContent(text="This is a simple text response for testing.")]
            return client.protocol_version

    assert anyio.run(talk, "auto") == "2026-07-28"
    assert anyio.run(talk, "legacy") == "2025-11-25"


@pytest.mark.slow
def test_the_inspector_sees_tokens(place: Place, crm: Upstream) -> None:
    found = inspector(place)
    assert found == Seen(["crm__lookup", "crm__save"], "mail [EMAIL_0]", {"arguments": {"to": "plain"}})
