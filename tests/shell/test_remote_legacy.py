"""HTTP+SSE of 2024-11-05: configured, or found out when the handshake is refused."""

from __future__ import annotations

import pytest

from cloakllm_gateway.core.events import Disconnected
from cloakllm_gateway.shell.config import Kind
from tests.shell.remotes import Handler, linked
from tests.shell.web import Answering, Script, web

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def older(endpoint: str = "/messages?session=1", then: Handler | None = None, refusal: int = 405) -> Script:
    """A server of HTTP+SSE: what is posted to ``/messages`` is answered on the stream of ``GET``."""
    streams: list[Answering] = []

    async def script(answering: Answering) -> None:
        asked = answering.asked
        if asked.method == "GET":
            streams.append(answering)
            await answering.stream_begins()
            await answering.raw(f"event: endpoint\ndata: {endpoint}\n\n".encode())
            if then is not None:
                await then(answering)
            await answering.closed()
        elif not asked.path.startswith("/messages"):
            await answering.respond(refusal, "text/html", b"<h1>no</h1>")
        else:
            await answering.respond(202, "text/plain", b"Accepted")
            if "id" in asked.message:
                await streams[-1].event({"jsonrpc": "2.0", "id": asked.message["id"], "result": {"at": asked.path}})

    return script


@pytest.mark.parametrize("endpoint", ["/messages?session=1", "messages?session=1", "{}/messages?session=1"])
async def test_messages_go_where_the_stream_says_and_answers_come_on_it(tmp_path, endpoint):
    async def script(answering: Answering) -> None:
        await talk(answering)

    async with web(script) as server, linked(tmp_path, server.url, type=Kind.SSE) as crm:
        talk = older(endpoint.format(server.url.removesuffix("/mcp")))
        await crm.until_connected()
        await crm.ask(1, "initialize", {})
        assert (await crm.answer(1))["result"] == {"at": "/messages?session=1"}
        await crm.notify("notifications/initialized")
        await crm.ask(2, "tools/list")
        await crm.answer(2)
    assert [asked.method for asked in server.asked] == ["GET", "POST", "POST", "POST"]
    assert server.asked[0].headers["accept"] == "text/event-stream"


@pytest.mark.parametrize("refusal", [400, 404, 405])
async def test_a_refused_handshake_is_tried_the_older_way(tmp_path, refusal):
    async with web(older(refusal=refusal)) as server, linked(tmp_path, server.url) as crm:
        await crm.until_connected()
        await crm.ask(1, "initialize", {})
        assert "result" in await crm.answer(1)
        await crm.ask(2, "tools/list")
        await crm.answer(2)
    assert [asked.path for asked in server.asked] == ["/mcp", "/mcp"] + 2 * ["/messages?session=1"]


async def test_a_bad_request_may_be_about_the_era_so_it_is_an_answer(tmp_path):
    async def script(answering: Answering) -> None:
        await answering.respond(400)

    async with web(script) as server, linked(tmp_path, server.url) as crm:
        await crm.until_connected()
        await crm.ask(1, "initialize", {})
        assert "HTTP status 400" in await crm.error(1)
        await crm.ask_stateless(2, "server/discover")
        await crm.error(2)
    assert [asked.method for asked in server.asked] == ["POST", "GET", "POST"]


@pytest.mark.parametrize("refusal", [404, 405])
async def test_a_server_that_speaks_neither_is_described_by_its_refusal(tmp_path, refusal):
    async def script(answering: Answering) -> None:
        await answering.respond(refusal, "text/html", b"kim@acme.com")

    async with web(script) as server, linked(tmp_path, server.url, attempts=1) as crm:
        await crm.until_connected()
        await crm.ask(1, "initialize", {})
        end = await crm.until_disconnected()
    assert end.final and f"HTTP status {refusal}" in end.reason
    assert [asked.method for asked in server.asked] == ["POST", "GET"]
    assert "kim" not in crm.log()


async def test_an_error_of_a_newer_server_is_not_taken_for_age(tmp_path):
    async def script(answering: Answering) -> None:
        await answering.json({"jsonrpc": "2.0", "id": None, "error": {"code": -32022, "message": "no"}}, status=400)

    async with web(script) as server, linked(tmp_path, server.url) as crm:
        await crm.until_connected()
        await crm.ask(1, "initialize", {})
        assert (await crm.answer(1))["error"]["code"] == -32022
    assert [asked.method for asked in server.asked] == ["POST"]


async def test_the_end_of_the_stream_is_the_end_of_the_connection_and_a_new_one_follows(tmp_path):
    async def leave(answering: Answering) -> None:
        if len(server.asked) < 2:
            await answering.stream.aclose()

    async with web(older(then=leave)) as server, linked(tmp_path, server.url, type=Kind.SSE) as crm:
        assert await crm.until_disconnected() == Disconnected("crm", "closed its stream")
        await crm.until_connected(2)
        await crm.ask(1, "initialize", {})
        assert "result" in await crm.answer(1)


async def test_a_refused_message_is_an_error_for_its_request(tmp_path):
    async def script(answering: Answering) -> None:
        if answering.asked.rpc == "tools/call":
            await answering.respond(413, "text/plain", b"kim@acme.com")
        else:
            await talk(answering)

    talk = older()
    async with web(script) as server, linked(tmp_path, server.url, type=Kind.SSE) as crm:
        await crm.until_connected()
        await crm.ask(1, "initialize", {})
        await crm.answer(1)
        await crm.ask(2, "tools/call")
        assert "HTTP status 413" in await crm.error(2)
    assert "kim" not in crm.log()


@pytest.mark.parametrize("status", [404, 500])
async def test_a_stream_that_does_not_open_is_given_up_after_some_attempts(tmp_path, status):
    async def script(answering: Answering) -> None:
        await answering.respond(status)

    async with web(script) as server, linked(tmp_path, server.url, type=Kind.SSE) as crm:
        end = await crm.until_disconnected(3)
    assert end.final and f"HTTP status {status}" in end.reason
