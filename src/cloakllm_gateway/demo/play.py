"""The main job, played through: a real gateway process, a real server, made-up customers, files on disk.

The part of the model is played by a few lines that use nothing but what the
model is shown: they copy tokens out of one answer into the next call.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CUSTOMERS = """\
customer: 7
first_name: Marta
last_name: Kowalczyk
email: marta@kowalczyk.pl
phone: +48 601 234 567
iban: PL61109010140000071219812874
plan: premium
"""

TICKET = """\
Ticket 1042, customer 7: the last
invoice went to an old address.
Write to marta@kowalczyk.pl or call
+48 601 234 567. Refund 80.00 EUR to
PL61 1090 1014 0000 0712 1981 2874.
"""


@dataclass(frozen=True, slots=True)
class Scene:
    """One thing the model did: what really is there, and what passed on the model's side."""

    title: str
    left_title: str
    left: str
    right_title: str
    right: str


def scenes() -> Iterator[Scene]:
    """Play the session in a directory of its own and yield each scene as it happens."""
    with _directory() as root:
        folder = root / "customers"
        folder.mkdir()
        (folder / "customer-7.yaml").write_text(CUSTOMERS, "utf-8")
        (folder / "ticket-1042.txt").write_text(TICKET, "utf-8")
        with Client(_configuration(root, folder)) as client:
            yield from _session(client, folder)


def _session(client: Client, folder: Path) -> Iterator[Scene]:
    table = client.call("files__read_file", path="customer-7.yaml")
    yield Scene("The model reads customer-7.yaml", "on disk", CUSTOMERS, "what the model saw", table)
    ticket = client.call("files__read_file", path="ticket-1042.txt")
    yield Scene("The model reads the ticket", "on disk", TICKET, "what the model saw", ticket)

    email, iban = _token("EMAIL", ticket), _token("IBAN", ticket)
    reply = f"To: {email}\n\nYour refund of 80.00 EUR goes to\n{iban}.\n"
    echo = client.call("files__write_file", path="reply.txt", content=reply)
    landed = (folder / "reply.txt").read_text("utf-8")
    yield Scene("The model writes reply.txt", "what the model sent", reply, "what landed on disk", landed)
    said = f"Wrote reply.txt:\n{landed}"
    yield Scene("The tool repeats what it wrote", "what the tool said", said, "what the model saw", echo)


def _token(category: str, text: str) -> str:
    match = re.search(rf"\[{category}_[0-9_]+\]", text)
    if match is None:
        raise RuntimeError(f"the gateway showed no {category} token")
    return match[0]


def _configuration(root: Path, folder: Path) -> Path:
    path = root / "gateway.json"
    arguments = ["-P", "-m", "cloakllm_gateway.demo.server", str(folder)]
    server = {"command": sys.executable, "args": arguments, "inherit_env": True}
    config = {"upstreams": {"files": server}, "state_dir": str(root / "state"), "log_level": "error"}
    path.write_text(json.dumps(config), "utf-8")
    return path


@contextmanager
def _directory() -> Iterator[Path]:
    root = Path(tempfile.mkdtemp(prefix="cloakllm-gateway-demo-"))
    try:
        yield root
    finally:
        shutil.rmtree(root, ignore_errors=True)


class Client:
    """The least that an MCP client can be: one request at a time over a gateway's pipes."""

    def __init__(self, config: Path) -> None:
        self._config = config
        self._ids = 0

    def __enter__(self) -> Client:
        command = [sys.executable, "-P", "-m", "cloakllm_gateway", "--config", str(self._config)]
        self._gateway = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "demo", "version": "1"}}
        self._ask("initialize", hello)
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self._ask("tools/list", {})
        return self

    def __exit__(self, *_: object) -> None:
        assert self._gateway.stdin
        self._gateway.stdin.close()
        try:
            self._gateway.wait(10)
        except subprocess.TimeoutExpired:
            self._gateway.kill()
            self._gateway.wait()

    def call(self, tool: str, **arguments: str) -> str:
        """The text of a tool's answer."""
        result = self._ask("tools/call", {"name": tool, "arguments": arguments})
        text: str = result["content"][0]["text"]
        if result.get("isError"):
            raise RuntimeError(f"{tool} failed: {text}")
        return text

    def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._ids += 1
        self._write({"jsonrpc": "2.0", "id": self._ids, "method": method, "params": params})
        assert self._gateway.stdout
        for line in self._gateway.stdout:
            message = json.loads(line)
            if message.get("id") == self._ids:
                if "error" in message:
                    raise RuntimeError(f"{method} failed: {message['error']['message']}")
                result: dict[str, Any] = message["result"]
                return result
        raise RuntimeError("the gateway ended; its standard error says why")

    def _write(self, message: dict[str, Any]) -> None:
        assert self._gateway.stdin
        self._gateway.stdin.write(json.dumps(message).encode() + b"\n")
        self._gateway.stdin.flush()
