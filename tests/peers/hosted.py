"""A gateway that serves HTTP as a process of its own, and raw clients of it.

Like :mod:`.driver` this knows the envelope of the protocol and nothing else.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

from tests.patience import PATIENCE
from tests.peers import proofs

SESSION_VERSION, STATELESS_VERSION = "2025-11-25", "2026-07-28"
BOTH = "application/json, text/event-stream"

Message = dict[str, Any]

#: So that several callers of one session do not use the same ids.
_FIRST_IDS = itertools.count(0, 10_000)


class Hosted:
    """One gateway in ``folder``: ``config`` is what its file says besides the state directory and the address."""

    def __init__(self, folder: Path, config: Mapping[str, Any], *arguments: str) -> None:
        listen = {"http": "127.0.0.1:0", **config.get("listen", {})}
        if "unix" in listen:
            del listen["http"]
        whole = {
            "state_dir": str(folder / "state"),
            "detection": {"ner_entity_types": []},
            "log_level": "debug",
            **config,
            "listen": listen,
        }
        self.folder = folder
        self.log: list[str] = []
        self._ended = False
        self._changed = threading.Condition()
        self.process = subprocess.Popen(
            [*proofs.command(folder / "gateway.json", whole, "serve"), *arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        threading.Thread(target=self._listen, daemon=True).start()
        self.url = ""
        found = self.said(r"listening at=(\S+|\"[^\"]*\")")
        if "unix" not in listen:
            self.url = found[1]

    def _listen(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._changed:
                self.log.append(line.rstrip("\n"))
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def said(self, pattern: str) -> re.Match[str]:
        """Wait for a line of the log."""
        with self._changed:
            found: list[re.Match[str]] = []

            def there() -> bool:
                found[:] = filter(None, (re.search(pattern, line) for line in self.log))
                return bool(found)

            self._changed.wait_for(lambda: there() or self._ended, PATIENCE)
            assert found, f"never said {pattern}:\n" + "\n".join(self.log)
            return found[0]

    @property
    def token(self) -> str:
        """The one that the gateway made for itself."""
        return (self.folder / "state" / "http-token").read_text("ascii").strip()

    def caller(self, token: str | None = None, **more: Any) -> Caller:
        return Caller(self.url, token or self.token, **more)

    def end(self, how: int = signal.SIGTERM) -> int:
        """Send a signal and wait for the end; returns the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            return self.process.wait(PATIENCE)
        finally:
            self.process.kill()


@contextmanager
def hosted(folder: Path, config: Mapping[str, Any], *arguments: str) -> Iterator[Hosted]:
    gateway = Hosted(folder, config, *arguments)
    try:
        yield gateway
    finally:
        gateway.end()


class Caller:
    """A client that posts messages one at a time; a context."""

    def __init__(self, url: str, token: str, **more: Any) -> None:
        self.url = url
        self.client = httpx2.Client(
            headers={"authorization": f"Bearer {token}", "accept": BOTH}, timeout=PATIENCE, trust_env=False, **more
        )
        self.session: str | None = None
        self._ids = next(_FIRST_IDS)

    def __enter__(self) -> Caller:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def headers(self) -> dict[str, str]:
        """Those of the session era, where there is a session."""
        if self.session is None:
            return {}
        return {"mcp-session-id": self.session, "mcp-protocol-version": SESSION_VERSION}

    def post(self, message: Any, **headers: str) -> httpx2.Response:
        content = message if isinstance(message, bytes) else json.dumps(message).encode()
        return self.client.post(
            self.url, content=content, headers={"content-type": "application/json", **self.headers(), **headers}
        )

    def request(self, method: str, params: Mapping[str, Any] | None = None) -> Message:
        self._ids += 1
        return {"jsonrpc": "2.0", "id": self._ids, "method": method, "params": dict(params or {})}

    def ask(self, method: str, params: Mapping[str, Any] | None = None) -> Message:
        """The answer to a request."""
        request = self.request(method, params)
        return answer_in(self.post(request), request["id"])

    def tell(self, method: str, params: Mapping[str, Any] | None = None) -> httpx2.Response:
        return self.post({"jsonrpc": "2.0", "method": method, "params": dict(params or {})})

    def initialize(self, **capabilities: Any) -> Message:
        """Begin a session."""
        self.session = None
        info = {"name": "test", "version": "1"}
        params = {"protocolVersion": SESSION_VERSION, "capabilities": capabilities, "clientInfo": info}
        request = self.request("initialize", params)
        response = self.post(request)
        self.session = response.headers.get("mcp-session-id")
        result: Message = answer_in(response, request["id"])["result"]
        assert self.tell("notifications/initialized").status_code == 202
        return result

    def tool(self, name: str, **arguments: Any) -> Message:
        result: Message = self.ask("tools/call", {"name": name, "arguments": arguments})["result"]
        return result

    def get(self, **headers: str) -> Any:
        """The standing stream, as a context."""
        accept = {"accept": "text/event-stream"}
        return self.client.stream("GET", self.url, headers={**accept, **self.headers(), **headers})


def messages_in(response: httpx2.Response) -> list[Message]:
    """What a response says, in order."""
    if response.headers["content-type"] == "application/json":
        return [response.json()]
    return [json.loads(event["data"]) for event in events_in(response.text.splitlines()) if event.get("data")]


def answer_in(response: httpx2.Response, id: Any) -> Message:
    messages = messages_in(response)
    assert messages and messages[-1].get("id") == id, f"{response.status_code} {messages}"
    return messages[-1]


def events_in(lines: Iterator[str] | list[str]) -> Iterator[dict[str, str]]:
    """The events of a stream, as they end; comments are left out, but a stream of comments alone fails."""
    event: dict[str, str] = {}
    silent = 0
    for line in lines:
        silent = silent + 1 if line.startswith(":") else 0 if line else silent
        assert silent < 3, "nothing comes"
        if not line and event:
            yield event
            event = {}
        elif line and not line.startswith(":"):
            name, _, value = line.partition(":")
            event[name] = value.removeprefix(" ")


def stateless(request: Message, version: str = STATELESS_VERSION, **more: Any) -> tuple[Message, dict[str, str]]:
    """``request`` as one of the stateless era, and the headers that repeat parts of it."""
    params = request.get("params", {})
    meta = {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        **params.get("_meta", {}),
        **more,
    }
    headers = {"mcp-protocol-version": version, "mcp-method": request["method"]}
    name = params.get("name", params.get("uri"))
    if isinstance(name, str):
        headers["mcp-name"] = name
    return {**request, "params": {**params, "_meta": meta}}, headers


def tokens_file(path: Path, **tokens: str) -> Path:
    """A file that lets each principal in with its token."""
    lines = [f"{name}: sha256:{hashlib.sha256(token.encode()).hexdigest()}\n" for name, token in tokens.items()]
    path.write_text("".join(lines), "ascii")
    path.chmod(0o600)
    return path


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def eventually(holds: Callable[[], object]) -> None:
    """Wait until ``holds``; for what another process does without telling us."""
    pause = threading.Event()
    for _ in range(int(PATIENCE * 20)):
        if holds():
            return
        pause.wait(0.05)
    raise AssertionError("it never came to that")
