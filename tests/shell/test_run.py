"""The interpreter with a client in the same process and a real upstream."""

from __future__ import annotations

import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from msgspec.structs import replace

from cloakllm_gateway.core.events import Effect, Event, Received, Scanned
from cloakllm_gateway.core.gateway import Gateway
from cloakllm_gateway.protocol import jsonrpc
from cloakllm_gateway.shell.config import Config, DetectionConfig, UpstreamConfig
from cloakllm_gateway.shell.logging import Logger
from cloakllm_gateway.shell.run import session
from cloakllm_gateway.shell.scanner import INLINE, Scanner
from cloakllm_gateway.shell.stores import MemoryStore
from cloakllm_gateway.shell.supervisor import Supervisor
from cloakllm_gateway.shell.transports.memory import Memory
from cloakllm_gateway.shell.wiring import assemble
from cloakllm_gateway.spans import Text
from tests.patience import PATIENCE


class Fragile(Gateway):
    """The core with a bug: it fails on whatever holds the word ``explode``."""

    def handle(self, event: Event) -> list[Effect]:
        if isinstance(event, Received) and b"explode" in event.line:
            raise KeyError("kim@acme-corp.com")
        if isinstance(event, Scanned) and any(
            span.value == "bad@acme-corp.com" for spans in event.found.spans for span in spans
        ):
            raise ValueError("bad@acme-corp.com")
        return super().handle(event)


class Client:
    def __init__(self) -> None:
        self.transport = Memory()

    async def ask(self, id: int, method: str, **params: Any) -> None:
        await self.transport.say(jsonrpc.encode(jsonrpc.request(id, method, params)))

    async def answer(self, id: int) -> dict[str, Any]:
        """The answer to ``id``; what comes before it is dropped."""
        with anyio.fail_after(PATIENCE):
            while True:
                message: dict[str, Any] = jsonrpc.decode(await self.transport.hear())
                if message.get("id") == id:
                    return message

    async def call(self, id: int, method: str, **params: Any) -> dict[str, Any]:
        await self.ask(id, method, **params)
        return await self.answer(id)


@asynccontextmanager
async def serving(
    tmp_path: Path, make: Callable[..., Gateway], *names: str, logger: Logger | None = None
) -> AsyncIterator[Client]:
    server = UpstreamConfig(
        command=sys.executable, args=("-m", "cloakllm_gateway.demo.server", str(tmp_path)), inherit_env=True
    )
    detection = DetectionConfig(ner_entity_types=())
    upstreams = dict.fromkeys(names or ("files",), server)
    config = Config(upstreams=upstreams, state_dir=str(tmp_path / "state"), detection=detection)
    parts = assemble(config, logger or Logger("error"))
    parts = replace(parts, gateway=make(parts.shared.settings, parts.vault, time.monotonic))
    client = Client()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(session, parts, client.transport)
        await client.call(0, "initialize", protocolVersion="2025-11-25", capabilities={})
        yield client
        client.transport.leave()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.anyio
async def test_a_bug_in_the_core_answers_the_request_without_a_value_and_ends_nothing(tmp_path: Path) -> None:
    async with serving(tmp_path, Fragile) as client:
        answer = await client.call(1, "tools/call", name="explode", arguments={})
        assert answer["result"]["isError"] is True
        assert "kim@" not in str(answer)
        assert (await client.call(2, "tools/list"))["result"]["tools"]


@pytest.mark.anyio
async def test_a_bug_met_with_an_answer_withholds_that_answer(tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_text("bad@acme-corp.com")
    (tmp_path / "good.txt").write_text("good@acme-corp.com")
    async with serving(tmp_path, Fragile) as client:
        await client.call(1, "tools/list")
        answer = await client.call(2, "tools/call", name="files__read_file", arguments={"path": "bad.txt"})
        assert "internal error" in answer["result"]["content"][0]["text"]
        answer = await client.call(3, "tools/call", name="files__read_file", arguments={"path": "good.txt"})
        assert answer["result"]["content"][0]["text"].startswith("[EMAIL_")


@pytest.mark.anyio
async def test_a_bug_met_while_an_answer_is_looked_at_withholds_that_answer(tmp_path: Path) -> None:
    def look(texts: Sequence[Text]) -> None:
        if any("bad@acme-corp.com" in text.text for text in texts):
            raise ValueError("bad@acme-corp.com")

    (tmp_path / "bad.txt").write_text("bad@acme-corp.com")
    async with serving(tmp_path, partial(Gateway, at_once=look)) as client:
        await client.call(1, "tools/list")
        answer = await client.call(2, "tools/call", name="files__read_file", arguments={"path": "bad.txt"})
        assert "internal error" in answer["result"]["content"][0]["text"]
        assert (await client.call(3, "tools/list"))["result"]["tools"]


@pytest.mark.anyio
async def test_a_bug_met_beside_the_core_withholds_that_answer(tmp_path: Path) -> None:
    """The same, in a thread."""
    bad = "bad@acme-corp.com"

    def look(texts: Sequence[Text]) -> None:
        if any(bad in text.text for text in texts):
            raise ValueError(bad)

    (tmp_path / "bad.txt").write_text(bad + " and so on" * 2000)
    async with serving(tmp_path, partial(Gateway, at_once=look)) as client:
        await client.call(1, "tools/list")
        answer = await client.call(2, "tools/call", name="files__read_file", arguments={"path": "bad.txt"})
        assert "internal error" in answer["result"]["content"][0]["text"]
        assert (await client.call(3, "tools/list"))["result"]["tools"]


@pytest.mark.anyio
@pytest.mark.parametrize("where", ["find", "assign"])
async def test_a_bug_in_detection_or_a_store_withholds_the_message_it_met(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """Whatever a text makes us trip over, it is one upstream's, and the session is everybody's."""

    def explode(self: Any, *said: Any) -> Any:
        if "bad@acme-corp.com" in str(said):
            raise ValueError("bad@acme-corp.com")
        return work(self, *said)

    owner = MemoryStore if where == "assign" else Scanner
    work = getattr(owner, where)
    monkeypatch.setattr(owner, where, explode)
    filler = "x " * INLINE if where == "find" else ""
    for name in ("bad", "good"):
        (tmp_path / f"{name}.txt").write_text(f"{name}@acme-corp.com {filler}")
    async with serving(tmp_path, Gateway) as client:
        await client.call(1, "tools/list")
        answer = await client.call(2, "tools/call", name="files__read_file", arguments={"path": "bad.txt"})
        assert "internal error" in answer["result"]["content"][0]["text"]
        assert "bad@" not in str(answer)
        answer = await client.call(3, "tools/call", name="files__read_file", arguments={"path": "good.txt"})
        assert answer["result"]["content"][0]["text"].startswith("[EMAIL_")


@pytest.mark.anyio
async def test_a_bug_that_a_printed_line_meets_shows_nothing_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def explode(_scanner: Scanner, _texts: Any) -> Any:
        raise ValueError("kim@acme-corp.com")

    monkeypatch.setattr(Scanner, "find", explode)
    config = Config(upstreams={"crm": UpstreamConfig("crm")}, detection=DetectionConfig(ner_entity_types=()))
    parts = assemble(config, Logger("error"))
    assert "kim@" not in await parts.cleaner.clean("crm", "mail for kim@acme-corp.com")


@pytest.mark.anyio
async def test_a_bug_in_a_link_ends_its_upstream_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = tmp_path / "log"

    async def run(link: Supervisor) -> None:
        if link.name == "broken":
            raise ExceptionGroup("tasks", [ValueError("kim@acme-corp.com")])
        await supervised(link)

    supervised = Supervisor.run
    monkeypatch.setattr(Supervisor, "run", run)
    with notes.open("wb") as log:
        async with serving(tmp_path, Gateway, "files", "broken", logger=Logger("error", log.fileno())) as client:
            listed = (await client.call(1, "tools/list"))["result"]["tools"]
    assert listed and all(tool["name"].startswith("files__") for tool in listed)
    assert "error internal_error kind=ValueError" in notes.read_text()
    assert "kim@" not in notes.read_text()


@pytest.mark.anyio
async def test_a_ping_does_not_wait_for_a_large_message(tmp_path: Path) -> None:
    (tmp_path / "large.txt").write_text("".join(f"person{n}@acme-corp.com " for n in range(20_000)))
    async with serving(tmp_path, Gateway) as client:
        await client.call(1, "tools/list")
        await client.ask(2, "tools/call", name="files__read_file", arguments={"path": "large.txt"})
        order: list[Any] = []
        for id in range(3, 8):
            await client.ask(id, "ping")
        with anyio.fail_after(PATIENCE):
            while 2 not in order:
                order.append(jsonrpc.decode(await client.transport.hear()).get("id"))
        assert order.index(2) > order.index(3)
