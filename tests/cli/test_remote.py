"""The commands with servers over HTTP."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from cloakllm_gateway.cli.exposure import overheard
from cloakllm_gateway.shell.config import Config, UpstreamConfig
from tests.patience import PATIENCE
from tests.shell.remotes import VERSION, scripted
from tests.shell.web import Answering, web

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def checked(tmp_path: Path, upstreams: dict[str, Any], **environment: str) -> tuple[int, str]:
    """The exit status of ``check``, and all it printed."""
    path = tmp_path / "gateway.json"
    detection = {"ner_entity_types": []}
    path.write_text(json.dumps({"upstreams": upstreams, "detection": detection, "state_dir": str(tmp_path / "state")}))
    command = [sys.executable, "-m", "cloakllm_gateway", "check", "--config", str(path)]
    with anyio.fail_after(PATIENCE):
        done = await anyio.run_process(command, check=False, env={**os.environ, "COLUMNS": "300", **environment})
    return done.returncode, (done.stdout + done.stderr).decode()


async def hello(answering: Answering) -> None:
    capabilities = {"tools": {}, "prompts": {}}
    info = {"name": "s", "version": "1"}
    await answering.result({"protocolVersion": VERSION, "capabilities": capabilities, "serverInfo": info})


async def tools(answering: Answering) -> None:
    tool = {"inputSchema": {"type": "object"}}
    await answering.result({"tools": [{"name": "a", **tool}, {"name": "b", **tool}]})


async def prompts(answering: Answering) -> None:
    await answering.result({"prompts": [{"name": "p"}]})


async def unauthorized(answering: Answering) -> None:
    await answering.respond(401, "text/plain", b"kim@acme.com")


#: Some servers take their credential in the path.
KEY = "NDg3MWUtYjA3Zi00"


def refusing(status: int) -> Callable[[Answering], Awaitable[None]]:
    async def refuse(answering: Answering) -> None:
        error = {"code": -32600, "message": "kim@acme.com may not"}
        await answering.json({"jsonrpc": "2.0", "id": None, "error": error}, status)

    return refuse


async def test_check_counts_what_a_server_over_http_offers(tmp_path):
    script = scripted(initialize=hello, tools_list=tools, prompts_list=prompts)
    async with web(script) as server:
        upstream = {"type": "http", "url": server.url, "headers": {"Authorization": "Bearer ${CRM_KEY}"}}
        status, said = await checked(tmp_path, {"crm": upstream}, CRM_KEY="s3cr3t")
    assert status == 0, said
    assert f"crm {VERSION} 2 1 0 ok" in " ".join(said.split())
    assert {asked.headers["authorization"] for asked in server.asked} == {"Bearer s3cr3t"}
    assert "s3cr3t" not in said


async def test_check_says_why_a_server_over_http_does_not_work(tmp_path):
    async with web(scripted()) as closed:
        pass
    async with web(scripted(initialize=unauthorized)) as server:
        upstreams = {"crm": {"url": server.url}, "gone": {"url": closed.url}}
        status, said = await checked(tmp_path, upstreams)
    assert status == 1
    assert f"HTTP status 401 (Unauthorized): check the credentials in its headers ({server.url})" in said
    assert f"refused the connection ({closed.url})" in said
    assert "kim" not in said


async def test_check_shows_the_status_where_a_server_explains_it_in_json_rpc(tmp_path):
    """As the SDKs do, and this gateway."""
    async with (
        web(
            scripted(initialize=refusing(401)),
        ) as server,
        web(scripted(initialize=refusing(404))) as lost,
    ):
        upstreams = {"crm": {"url": server.url}, "lost": {"url": f"{lost.url}/mpc/{KEY}?key={KEY}"}}
        status, said = await checked(tmp_path, upstreams)
    assert status == 1
    assert "crm: answered with the HTTP status 401 (Unauthorized)" in said
    assert "lost: answered with the HTTP status 404 (Not Found): check the path of its url" in said
    assert f"({lost.url}/mpc/...)" in said
    assert "kim" not in said and KEY not in said


async def test_a_variable_that_is_not_set_is_named_before_anything_starts(tmp_path):
    upstream = {"url": "https://mcp.example.com", "headers": {"X": "${NO_SUCH_VARIABLE}"}}
    status, said = await checked(tmp_path, {"crm": upstream})
    assert status != 0
    assert "upstreams.crm.headers.X: names the variable NO_SUCH_VARIABLE, which is not set" in said


def test_an_upstream_that_is_spoken_to_in_clear_is_warned_of():
    upstreams = {
        "near": UpstreamConfig(url="http://localhost/mcp"),
        "far": UpstreamConfig(url="http://10.0.0.8/mcp", insecure=True),
        "safe": UpstreamConfig(url="https://10.0.0.8/mcp", insecure=True),
    }
    (warning,) = overheard(Config(upstreams=upstreams))
    assert warning.startswith("Warning: upstream far is spoken to in clear")
