"""Real servers over HTTP behind a gateway on stdio: what they say there is what they say on a pipe."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.everything import KIM, play
from tests.acceptance.real import ROOT, Conversation, from_npm, relaxed
from tests.peers.compare import vocabulary
from tests.peers.driver import PATIENCE, Processes
from tests.peers.network import free_port, listening
from tests.peers.values import exposed, readings

GRANTED = {"sampling": True, "elicitation": True, "roots": True}

Serve = Callable[[str], str]


@pytest.fixture(scope="module")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """Starts the server with everything for HTTP and gives the port it listens on."""
    with ExitStack() as running:

        def start(transport: str) -> str:
            server = from_npm("server-everything", transport)
            port, log = free_port(), tmp_path_factory.mktemp(transport) / "log"
            running.enter_context(
                listening([server["command"], *server["args"]], port, log, env={**os.environ, "PORT": str(port)})
            )
            return f"http://127.0.0.1:{port}"

        yield start


@pytest.fixture(scope="module")
def said(module_peers: Processes, serve: Serve) -> dict[str, Conversation]:
    """The same session with the server on a pipe, and through gateways that reach it over HTTP."""
    streamable, sse = serve("streamableHttp") + "/mcp", serve("sse") + "/sse"
    ways: dict[str, dict[str, Any]] = {
        "streamable": {"type": "http", "url": streamable},
        "sse": {"type": "sse", "url": sse},
        "fallback": {"url": sse},
    }
    conversations = {"direct": Conversation(module_peers.direct(from_npm("server-everything", "stdio")))}
    for way, upstream in ways.items():
        config = {"upstreams": {"every": {**upstream, **GRANTED}}, "sanitize": False}
        conversations[way] = Conversation(module_peers.gateway(config), "every__")
    sanitizing = {"upstreams": {"every": {**ways["streamable"], **GRANTED}}}
    conversations["sanitizing"] = Conversation(module_peers.gateway(sanitizing), "every__")
    for conversation in conversations.values():
        play(conversation)
        conversation.driver.finish()
    return conversations


@pytest.mark.parametrize("way", ["streamable", "sse", "fallback"])
def test_a_relay_to_a_server_over_http_changes_nothing_but_the_prefix(said: dict[str, Conversation], way: str) -> None:
    assert said[way].said == said["direct"].said


def test_only_what_is_personal_becomes_a_token(said: dict[str, Conversation]) -> None:
    direct, through = relaxed(said["direct"].said), said["sanitizing"].said
    assert set(vocabulary(direct, through).values()) == {KIM.email, KIM.iban, "Kim"}


def test_no_value_reaches_the_client(said: dict[str, Conversation]) -> None:
    driver = said["sanitizing"].driver
    assert exposed({KIM.email, KIM.iban}, readings(bytes(driver.received)) + driver.stderr.decode()) == []


@pytest.mark.parametrize("kind", ["typescript", "python"])
def test_a_server_that_was_restarted_is_greeted_again(peers: Processes, tmp_path: Path, kind: str) -> None:
    port = free_port()
    env = {**os.environ, "PORT": str(port)}
    if kind == "typescript":  # says 400 of a session that it does not know
        server, tool = from_npm("server-everything", "streamableHttp"), ("get-sum", {"a": 1, "b": 2})
        argv = [server["command"], *server["args"]]
    else:  # says 404
        argv, tool = [sys.executable, "-m", "tests.conformance.fixture", "--port", str(port)], ("test_simple_text", {})
    url = f"http://127.0.0.1:{port}/mcp"
    with listening(argv, port, tmp_path / "log", env=env, cwd=ROOT):
        driver = peers.gateway({"upstreams": {"crm": {"url": url, "prefix": ""}}})
        driver.initialize()
        before = driver.tool(*tool)
    assert driver.tool(*tool)["isError"]  # while it is away
    with listening(argv, port, tmp_path / "log", env=env, cwd=ROOT):
        assert driver.tool(*tool)["isError"]  # this one meets the new server
        until = time.monotonic() + PATIENCE
        while (after := driver.tool(*tool)) != before:
            assert after["isError"] and time.monotonic() < until
