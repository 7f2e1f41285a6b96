"""A raw client over either transport in either era, and what it takes to compare bytes by what they say."""

from __future__ import annotations

import json
import queue
import threading
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import httpx2

from tests.patience import PATIENCE
from tests.peers.driver import Driver

STATELESS = "2026-07-28"
SESSION = "2025-11-25"
CAPABILITIES: dict[str, Any] = {
    "elicitation": {"form": {}, "url": {}},
    "sampling": {},
    "roots": {"listChanged": True},
    "tasks": {"list": {}, "cancel": {}},
    "extensions": {"io.modelcontextprotocol/tasks": {}},
}
INFO = {"name": "echo", "version": "1"}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": STATELESS,
    "io.modelcontextprotocol/clientCapabilities": CAPABILITIES,
    "io.modelcontextprotocol/clientInfo": INFO,
    "io.modelcontextprotocol/logLevel": "debug",
}


class Lexeme(str):
    """A number as it was written: equal to the same spelling only, and to no string."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Lexeme) and str.__eq__(self, other)

    __hash__ = str.__hash__

    def __repr__(self) -> str:
        return f"<{self}>"


def exact(text: str | bytes) -> Any:
    """JSON as it was written: objects are lists of pairs in their order, numbers keep their spelling."""
    return json.loads(text, parse_int=Lexeme, parse_float=Lexeme, object_pairs_hook=lambda pairs: ("object", pairs))


def member(value: Any, *path: str) -> Any:
    """What stands under ``path`` in an :func:`exact` value."""
    for name in path:
        value = dict(value[1])[name]
    return value


def without(value: Any, *names: str) -> Any:
    """An :func:`exact` object less some of its members."""
    return ("object", [(name, inner) for name, inner in value[1] if name not in names])


class Said(NamedTuple):
    """What came for one request: the messages before the answer, and the answer, as they were written."""

    before: list[bytes]
    answer: bytes

    @property
    def result(self) -> Any:
        answer = exact(self.answer)
        assert "result" in dict(answer[1]), self.answer
        return member(answer, "result")


Reply = Callable[[dict[str, Any]], str]


class Talk:
    """A client that writes the params of its requests itself.

    ``replies`` answer questions with raw results; a question whose reply is None is left open.
    """

    def __init__(self, era: str) -> None:
        self.era = era
        self.replies: dict[str, str | None] = {}
        self.questions: list[bytes] = []
        self.hello: dict[str, Any] = {}

    def request(self, id: str | int, method: str, params: str, meta: str = "") -> bytes:
        """``params`` and ``meta`` are the texts of members; a stateless request says behind those who it is."""
        envelope = json.dumps(ENVELOPE, separators=(",", ":"))[1:-1] if self.era == STATELESS else ""
        whole = _members(params, f'"_meta":{{{_members(meta, envelope)}}}')
        return f'{{"jsonrpc":"2.0","id":{json.dumps(id)},"method":"{method}","params":{{{whole}}}}}'.encode()

    @abstractmethod
    def begin(self) -> None:
        """Shake hands, where the era has a handshake."""

    @abstractmethod
    def ask(self, id: str | int, method: str, params: str, meta: str = "") -> Said: ...

    @abstractmethod
    def tell(self, method: str, params: str) -> None: ...

    @abstractmethod
    def start(self, id: str | int, method: str, params: str) -> None:
        """Send a request and leave it; what it brings, but for its answer, can be heard."""

    @abstractmethod
    def stand(self) -> None:
        """Listen to what belongs to no request, where the era and the transport have that."""

    @abstractmethod
    def hear(self, method: str) -> bytes:
        """The next message of ``method`` that belongs to no request that was asked."""

    def _reply(self, question: bytes) -> bytes | None:
        self.questions.append(question)
        asked = json.loads(question)
        result = self.replies[asked["method"]]
        if result is None:
            return None
        return f'{{"jsonrpc":"2.0","id":{json.dumps(asked["id"])},"result":{result}}}'.encode()


def _members(*texts: str) -> str:
    return ",".join(filter(None, texts))


class Pipe(Talk):
    """Over standard input and output."""

    def __init__(self, era: str, driver: Driver) -> None:
        super().__init__(era)
        self._driver = driver
        self._at = self._from = 0
        for question in ("elicitation/create", "sampling/createMessage", "roots/list"):
            driver.answers[question] = lambda _: None  # answered in our own spelling

    def begin(self) -> None:
        if self.era == SESSION:
            self.hello = self._driver.initialize(version=SESSION, capabilities=CAPABILITIES)
            self._at = len(self._driver.heard)

    def ask(self, id: str | int, method: str, params: str, meta: str = "") -> Said:
        self._driver.send_raw(self.request(id, method, params, meta) + b"\n")
        before = []
        while True:
            heard = self._driver.wait(lambda message: True, after=self._at)
            self._at += 1
            if "method" not in heard.message:
                if heard.message.get("id") == id:  # and not the answer to what was only started
                    assert type(heard.message["id"]) is type(id)
                    return Said(before, heard.line)
            elif "id" not in heard.message:
                before.append(heard.line)
            elif reply := self._reply(heard.line):
                self._driver.send_raw(reply + b"\n")

    def start(self, id: str | int, method: str, params: str) -> None:
        self._from = len(self._driver.heard)
        self._driver.send_raw(self.request(id, method, params) + b"\n")

    def stand(self) -> None:
        self._from = len(self._driver.heard)

    def hear(self, method: str) -> bytes:
        return self._driver.wait(lambda message: message.get("method") == method, after=self._from).line

    def tell(self, method: str, params: str) -> None:
        self._driver.send_raw(f'{{"jsonrpc":"2.0","method":"{method}","params":{{{params}}}}}\n'.encode())


class Web(Talk):
    """Over Streamable HTTP; what is not asked and waited for comes on streams that are read beside."""

    def __init__(self, era: str, url: str, token: str) -> None:
        super().__init__(era)
        accept = "application/json, text/event-stream"
        headers = {"authorization": f"Bearer {token}", "accept": accept, "content-type": "application/json"}
        self._web = httpx2.Client(headers=headers, timeout=PATIENCE, trust_env=False)
        self._url = url
        self._session: dict[str, str] = {}
        self._heard: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def begin(self) -> None:
        if self.era == STATELESS:
            return
        hello = {"protocolVersion": SESSION, "capabilities": CAPABILITIES, "clientInfo": INFO}
        response = self._web.post(self._url, content=self.request(0, "initialize", json.dumps(hello)[1:-1]))
        is_stream = response.headers["content-type"] == "text/event-stream"  # it took more than a second
        self.hello = json.loads([*_messages(response)][-1] if is_stream else response.content)["result"]
        self._session = {"mcp-session-id": response.headers["mcp-session-id"], "mcp-protocol-version": SESSION}
        self.tell("notifications/initialized", "")

    def _headers(self, method: str, params: str) -> dict[str, str]:
        if self.era == SESSION:
            return self._session
        said = json.loads(f"{{{params}}}")
        name = said.get("name", said.get("uri"))
        named = {"mcp-name": name} if name is not None else {}
        return {"mcp-protocol-version": STATELESS, "mcp-method": method, **named}

    def ask(self, id: str | int, method: str, params: str, meta: str = "") -> Said:
        body, headers = self.request(id, method, params, meta), self._headers(method, params)
        before: list[bytes] = []
        with self._web.stream("POST", self._url, content=body, headers=headers) as response:
            assert response.status_code in (200, 400, 404), response.read()
            if response.headers["content-type"].startswith("application/json"):
                return Said([], response.read())
            messages = _messages(response)
            for message in messages:
                parsed = json.loads(message)
                if "method" in parsed and "id" in parsed:
                    if content := self._reply(message):
                        assert self._web.post(self._url, content=content, headers=self._session).status_code == 202
                elif parsed.get("id") == id:
                    assert list(messages) == [], "something came behind the answer"
                    return Said(before, message)
                else:
                    before.append(message)
        raise AssertionError(f"no answer came, but {before}")

    def start(self, id: str | int, method: str, params: str) -> None:
        self._beside("POST", self._headers(method, params), self.request(id, method, params))

    def stand(self) -> None:
        if self.era == SESSION:
            self._beside("GET", {**self._session, "accept": "text/event-stream"}, b"")

    def _beside(self, verb: str, headers: dict[str, str], body: bytes) -> None:
        """Read a stream for as long as it lasts."""

        def read() -> None:
            with suppress(httpx2.HTTPError), self._web.stream(verb, self._url, content=body, headers=headers) as stream:
                for message in _messages(stream):
                    self._heard.put(message)

        threading.Thread(target=read, daemon=True).start()

    def hear(self, method: str) -> bytes:
        while True:
            message = self._heard.get(timeout=PATIENCE)
            if json.loads(message).get("method") == method:
                return message

    def tell(self, method: str, params: str) -> None:
        body = f'{{"jsonrpc":"2.0","method":"{method}","params":{{{params}}}}}'.encode()
        assert self._web.post(self._url, content=body, headers=self._session).status_code == 202

    def close(self) -> None:
        self._web.close()


def _messages(response: httpx2.Response) -> Iterator[bytes]:
    """The messages of an event stream, as they come."""
    for line in response.iter_lines():
        if line.startswith("data:") and (said := line.removeprefix("data:").strip()):
            yield said.encode()
