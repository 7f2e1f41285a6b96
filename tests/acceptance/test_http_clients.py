"""The official client against the gateway over HTTP: it lists, calls, is hidden from, and is understood."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.patience import PATIENCE
from tests.peers.hosted import Hosted, hosted

pytestmark = pytest.mark.anyio
KIM = "kim@acme-corp.com"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    (folder / "customer.txt").write_text(f"mail {KIM}\n", "utf-8")
    return folder


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory, files: Path) -> Iterator[Hosted]:
    server = {
        "command": sys.executable,
        "args": ["-m", "cloakllm_gateway.demo.server", str(files)],
        "inherit_env": True,
    }
    with hosted(tmp_path_factory.mktemp("gateway"), {"upstreams": {"files": server}}) as gateway:
        yield gateway


@pytest.mark.parametrize("mode", ["auto", "legacy", "2026-07-28"])
async def test_the_official_client_works_with_tokens_and_the_server_with_values(
    gateway: Hosted, files: Path, mode: str
) -> None:
    headers = {"authorization": f"Bearer {gateway.token}"}
    async with (
        httpx2.AsyncClient(headers=headers, trust_env=False, timeout=PATIENCE) as http,
        Client(streamable_http_client(gateway.url, http_client=http), mode=mode) as client,
    ):
        tools = await client.list_tools()
        assert {tool.name for tool in tools.tools} == {"files__read_file", "files__write_file"}
        shown = (await client.call_tool("files__read_file", {"path": "customer.txt"})).content[0].text
        assert shown.startswith("mail [EMAIL_")
        written = await client.call_tool("files__write_file", {"path": f"{mode}.txt", "content": f"to {shown}"})
        assert KIM not in str(written)
    assert (files / f"{mode}.txt").read_text("utf-8") == f"to mail {KIM}\n"
