"""A link to a scripted server, watched: what it posted, what it logged; and a whole gateway with such a server."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio

from cloakllm_gateway.core.events import Connected, Disconnected, Event, Overlong, Received, Send
from cloakllm_gateway.protocol import jsonrpc
from cloakllm_gateway.protocol.headers import mirrored
from cloakllm_gateway.shell.config import Config, DetectionConfig, UpstreamConfig
from cloakllm_gateway.shell.logging import Logger
from cloakllm_gateway.shell.remote.link import Remote
from cloakllm_gateway.shell.run import session
from cloakllm_gateway.shell.supervisor import Restarts, Spec
from cloakllm_gateway.shell.transports.memory import Memory
from cloakllm_gateway.shell.wiring import assemble
from tests.patience import PATIENCE
from tests.shell.web import Answering, Script

LIMIT = 4 << 20
VERSION = "2025-11-25"
STATELESS = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}


class Watched:
    """A link, the events it posted so far, and its log."""

    def __init__(self, config: UpstreamConfig, log_path: Path, environment: Mapping[str, str], attempts: int) -> None:
        self.events: list[Event] = []
        self.scope = anyio.CancelScope()
        self._changed = anyio.Event()
        self._log_path = log_path
        self._log_fd = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.logger = Logger("debug", self._log_fd)
        self.remote = Remote(
            Spec("crm", config, LIMIT),
            self._post,
            self._clean,
            self.logger,
            restarts=Restarts(first=0.01, attempts=attempts),
            environment=environment,
        )

    async def _post(self, event: Event) -> None:
        self.events.append(event)
        self._changed.set()
        self._changed = anyio.Event()

    async def _clean(self, line: str) -> str:
        return line

    async def run(self) -> None:
        with self.scope:
            await self.remote.run()
        self.logger.close()
        os.close(self._log_fd)

    # -- what the core would do

    async def send(self, message: dict[str, Any], headers: Mapping[str, str] | None = None) -> None:
        self.remote.send(jsonrpc.encode(message), Send("crm", message, headers=headers or {}))

    async def ask(self, id: int, method: str, params: dict[str, Any] | None = None) -> None:
        await self.send(jsonrpc.request(id, method, params))

    async def ask_stateless(self, id: int, method: str, **params: Any) -> None:
        message = jsonrpc.request(id, method, {**params, **STATELESS})
        await self.send(message, mirrored(method, message["params"]))

    async def notify(self, method: str, **params: Any) -> None:
        await self.send(jsonrpc.notification(method, params or None))

    async def greet(self) -> None:
        """The handshake of the session era."""
        await self.until_connected()
        await self.ask(1, "initialize", {"protocolVersion": VERSION})
        await self.answer(1)
        await self.notify("notifications/initialized")

    # -- what it was told

    async def until(self, seen: Callable[[list[Event]], Any]) -> Any:
        with anyio.fail_after(PATIENCE):
            while not (found := seen(self.events)):
                await self._changed.wait()
        return found

    async def until_connected(self, times: int = 1) -> None:
        await self.until(lambda events: sum(isinstance(event, Connected) for event in events) >= times)

    async def until_disconnected(self, times: int = 1) -> Disconnected:
        def seen(events: list[Event]) -> Disconnected | None:
            ends = [event for event in events if isinstance(event, Disconnected)]
            return ends[times - 1] if len(ends) >= times else None

        found: Disconnected = await self.until(seen)
        return found

    async def answer(self, id: int) -> dict[str, Any]:
        def seen(_events: list[Event]) -> dict[str, Any] | None:
            return next(
                (message for message in self.received if message.get("id") == id and "method" not in message), None
            )

        found: dict[str, Any] = await self.until(seen)
        return found

    async def error(self, id: int) -> str:
        """The text of the failure that the request ``id`` ends in, as the model is told."""
        answer = await self.answer(id)
        if "error" in answer:
            return str(answer["error"]["message"])
        assert answer["result"]["isError"]
        return str(answer["result"]["content"][0]["text"])

    @property
    def received(self) -> list[dict[str, Any]]:
        """The messages among what was delivered; whatever else was is not one."""
        messages: list[dict[str, Any]] = []
        for event in self.events:
            with suppress(jsonrpc.Malformed):
                if isinstance(event, Received) and isinstance(message := jsonrpc.decode(event.line), dict):
                    messages.append(message)
        return messages

    @property
    def overlong(self) -> list[Overlong]:
        return [event for event in self.events if isinstance(event, Overlong)]

    def log(self) -> str:
        return self._log_path.read_text(encoding="utf-8")


@asynccontextmanager
async def linked(
    tmp_path: Path,
    url: str,
    *,
    environment: Mapping[str, str] | None = None,
    attempts: int = 3,
    **settings: Any,
) -> AsyncIterator[Watched]:
    """A link to ``url`` for as long as the block lasts."""
    watched = Watched(UpstreamConfig(url=url, **settings), tmp_path / "log", environment or {}, attempts)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watched.run)
        yield watched
        watched.scope.cancel()


Handler = Callable[[Answering], Awaitable[None]]


def scripted(session: str = "s-1", **methods: Handler) -> Script:
    """A server of the session era that has a session ``session``.

    ``methods`` answer requests by their JSON-RPC method (``tools/call`` as ``tools_call``) or, where
    there is no message, by their HTTP method.
    """

    async def script(answering: Answering) -> None:
        asked = answering.asked
        own = methods.get((asked.rpc or asked.method).replace("/", "_"))
        if own is not None:
            await own(answering)
        elif asked.rpc == "initialize":
            said = {"Mcp-Session-Id": session} if session else {}
            result = {"protocolVersion": VERSION, "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}
            await answering.result(result, **said)
        elif asked.method == "GET":
            await answering.respond(405)
        elif asked.method == "DELETE":
            await answering.respond(200)
        elif "id" in asked.message and "method" in asked.message:
            await answering.result({"asked": asked.message.get("params")})
        else:
            await answering.respond(202)

    return script


class Client:
    """The least of an MCP client."""

    def __init__(self) -> None:
        self.transport = Memory()

    async def ask(self, id: int, method: str, params: dict[str, Any] | None = None) -> Any:
        await self.transport.say(jsonrpc.encode(jsonrpc.request(id, method, params)))
        with anyio.fail_after(PATIENCE):
            while (message := jsonrpc.decode(await self.transport.hear())).get("id") != id:
                pass
        return message["result"]


@asynccontextmanager
async def gateway(tmp_path: Path, url: str) -> AsyncIterator[Client]:
    """A client of a gateway with one upstream, ``crm`` at ``url``."""
    detection = DetectionConfig(ner_entity_types=())
    config = Config(upstreams={"crm": UpstreamConfig(url=url)}, state_dir=str(tmp_path / "state"), detection=detection)
    client = Client()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(session, assemble(config, Logger("error")), client.transport)
        await client.ask(1, "initialize", {"protocolVersion": VERSION, "capabilities": {}})
        await client.transport.say(jsonrpc.encode(jsonrpc.notification("notifications/initialized")))
        yield client
        client.transport.leave()
