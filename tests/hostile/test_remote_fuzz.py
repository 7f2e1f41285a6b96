"""Whatever a server over HTTP says, a request ends and the link lives on."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cloakllm_gateway.core.events import Disconnected, Received
from cloakllm_gateway.shell.remote import streamable
from cloakllm_gateway.shell.remote.life import answers
from tests.effort import examples
from tests.shell.remotes import VERSION, Watched, linked, scripted
from tests.shell.web import Answering, web

ID = 2


def message(**members: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}).encode()


ANSWER = message(id=ID, result={})
#: An answer that no recursive reader gets to the end of.
DEEP = b'{"jsonrpc":"2.0","id":%d,"result":%s1%s}' % (ID, b'{"a":' * 20_000, b"}" * 20_000)
messages = st.sampled_from(
    [ANSWER, message(id=ID, error={"code": 1, "message": "x"}), message(id=77, result={}), message(method="n"),
     message(id=ID, method="ping"), message(id=None, error={"code": 1, "message": "x"}), b"[]", b"{", b"null", b"\xff",
     DEEP, b'{"jsonrpc":"2.0","method":"n","params":' + DEEP + b"}"]
)  # fmt: skip
events = st.tuples(
    st.sampled_from(
        [b"", b"event: message\n", b"event: endpoint\n", b"id: 7\n", b"retry: 1\n", b": c\n", b"id: \x00\n"]
    ),
    messages.map(lambda line: b"data: " + line),
    st.sampled_from([b"\n\n", b"\r\n\r\n", b"\n", b""]),
).map(b"".join)
statuses = st.sampled_from([b"200 OK", b"202 A", b"204 N", b"307 R", b"400 B", b"404 N", b"500 E", b"101 S", b"999 X"])
headers = st.lists(
    st.sampled_from(
        [b"Content-Type: application/json", b"Content-Type: text/event-stream", b"Content-Type: text/html",
         b"Transfer-Encoding: chunked", b"Content-Length: 5", b"Content-Length: 99999", b"Content-Length: -1",
         b"Content-Encoding: gzip", b"Connection: close", b"Mcp-Session-Id: \x01", b"Location: /x", b"X: \xff", b": x",
         b"Retry-After: 1", b"X : y"]
    ),
    max_size=4,
)  # fmt: skip
bodies = st.lists(events | messages | st.sampled_from([b"5\r\nhello\r\n", b"0\r\n\r\n", b"zz\r\n"]), max_size=4).map(
    b"".join
)
responses = st.tuples(statuses, headers, bodies).map(
    lambda parts: b"HTTP/1.1 " + parts[0] + b"\r\n" + b"".join(h + b"\r\n" for h in parts[1]) + b"\r\n" + parts[2]
)
sayings = st.lists(responses | st.binary(max_size=30), min_size=1, max_size=3)


@given(sayings, sayings)
@example(
    [b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\ndata: " + DEEP + b"\n\n"], []
)
@settings(max_examples=examples(60))
def test_a_request_ends_whatever_is_said(said: list[bytes], resumed: list[bytes]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streamable, "RESUME", 0.001)
        patch.setattr(streamable, "SOONEST", 0.001)
        patch.setattr(streamable, "LATEST", 0.01)
        anyio.run(played, said, resumed)


async def played(said: list[bytes], resumed: list[bytes]) -> None:
    async def call(answering: Answering) -> None:
        await answering.raw(*said)
        await answering.stream.aclose()

    async def get(answering: Answering) -> None:
        await answering.raw(*resumed)
        await answering.stream.aclose()

    async def hello(answering: Answering) -> None:
        await answering.result({"protocolVersion": VERSION})

    script = scripted(tools_call=call, GET=get, initialize=hello)
    with tempfile.TemporaryDirectory() as folder:
        async with web(script) as server, linked(Path(folder), server.url) as crm:
            await crm.greet()
            await crm.ask(ID, "tools/call")

            await crm.until(lambda _: answered(crm, ID))
            if not gone(crm):
                await crm.ask(3, "tools/list")
                await crm.until(lambda _: answered(crm, 3))


def answered(crm: Watched, id: int) -> bool:
    """Whether the request ``id`` has ended: by an answer, whole or damaged, or with the connection."""
    return gone(crm) or any(isinstance(event, Received) and answers(event.line) == id for event in crm.events)


def gone(crm: Watched) -> bool:
    return any(isinstance(event, Disconnected) for event in crm.events)
