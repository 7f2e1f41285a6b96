"""To be cancelled at any moment leaves nothing behind: no work half done, no traceback on standard error."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from cloakllm_gateway.core.events import CLIENT, Event, Received
from cloakllm_gateway.shell import run, signals
from cloakllm_gateway.shell.config import Config, DetectionConfig, UpstreamConfig
from cloakllm_gateway.shell.logging import Logger
from cloakllm_gateway.shell.transports.memory import Memory
from cloakllm_gateway.shell.transports.stdio import Front
from cloakllm_gateway.shell.wiring import assemble

pytestmark = pytest.mark.anyio
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@contextmanager
def complaints() -> Iterator[list[str]]:
    """What asyncio and the interpreter would say on standard error."""
    said: list[str] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: said.append(context["message"]))
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        yield said
        gc.collect()
    said += [str(warning.message) for warning in warned if issubclass(warning.category, RuntimeWarning)]
    loop.set_exception_handler(None)


async def test_what_comes_just_after_a_session_was_cancelled_is_given_up_quietly(tmp_path: Path) -> None:
    detection = DetectionConfig(ner_entity_types=())
    upstreams = {"files": UpstreamConfig(command=sys.executable)}
    parts = assemble(Config(upstreams=upstreams, state_dir=str(tmp_path), detection=detection), Logger("error"))
    follower = await parts.shared.store.follow(parts.namespace)
    with complaints() as said:
        async with anyio.create_task_group() as tasks:
            interpreter = run.Interpreter(parts, follower, Memory(), None, tasks)
            tasks.start_soon(interpreter.run)
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()
            interpreter.post(Received(CLIENT, PING))  # its answer waits for the client
        del interpreter
    parts.shared.store.close()
    assert said == []


async def test_a_client_that_is_cancelled_while_it_is_heard_ends_quietly() -> None:
    theirs, ours = os.pipe()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    heard: list[Event] = []

    async def wait() -> None:
        await anyio.lowlevel.checkpoint()

    def post(event: Event) -> Any:
        heard.append(event)
        tasks.cancel_scope.cancel()
        return wait()

    with complaints() as said:
        async with Front(theirs, nowhere, 1 << 20) as front, anyio.create_task_group() as tasks:
            tasks.start_soon(front.run, post)
            await anyio.wait_all_tasks_blocked()
            os.write(ours, PING + b"\n")
        await anyio.wait_all_tasks_blocked()
    for fd in (theirs, ours, nowhere):
        os.close(fd)
    assert len(heard) == 1
    assert said == []


async def test_a_loop_without_signals_as_on_windows_serves_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(*_: object) -> None:
        raise NotImplementedError

    monkeypatch.setattr(asyncio.get_running_loop(), "add_signal_handler", unsupported)
    with anyio.CancelScope() as scope:
        await signals.heed(scope.cancel)
    assert not scope.cancel_called
