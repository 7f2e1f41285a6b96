"""How much a gateway slows down the servers behind it, over stdio: ``python bench/throughput.py [--rounds N]``.

Everything is measured in one run, in turns; quote the ratios.  One call at a
time, what a call takes on an idle machine is the CPU time of all processes that
take part, the client included: small calls and large results are counted by
that, so that the load of others does not enter.  The gateway sanitizes with all
deterministic categories, looks at everything twice (the tripwire) and writes
its audit log.  The exit status is 1 where a bar is missed.

The servers are of this file: one on the official SDK, and one that reads a line and writes a line.  So is the proxy to
compare with, which is FastMCP's own.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import psutil

#: Prose and log lines in which nothing is personal.
PLAIN = "2026-11-30 12:00:07 INFO the build of module core took 12.5 seconds, 314 tests passed\n"
#: The same as JSON text: records of things in which nothing is personal.
RECORD = {"id": 7, "sku": "AB-00007", "title": "Widget of steel", "qty": 3, "state": "in stock", "tags": ["blue"]}
BIG = 5_000_000
SLOW = 10.0
TOOLS = ("echo", "big", "records", "slow")
SERVER = [sys.executable, __file__, "--as"]


# -- servers


def large() -> dict[str, str]:
    """The large results by tool: log lines and JSON."""
    record = json.dumps(RECORD)
    records = f"[{', '.join([record] * (BIG // (len(record) + 2)))}]"
    return {"big": PLAIN * (BIG // len(PLAIN)), "records": records}


def serve_bare() -> None:
    """The least that answers: a line in, a line out, and a thread for what is slow."""
    big = large()
    writing = threading.Lock()

    def answer(id: Any, result: Any) -> None:
        with writing:
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}) + "\n")
            sys.stdout.flush()

    def say(id: Any, text: str) -> None:
        answer(id, {"content": [{"type": "text", "text": text}]})

    for line in sys.stdin:
        message = json.loads(line)
        match message:
            case {"method": "tools/call", "params": {"name": "echo", "arguments": {"text": text}}, "id": id}:
                say(id, text)
            case {"method": "tools/call", "params": {"name": ("big" | "records") as name}, "id": id}:
                say(id, big[name])
            case {"method": "tools/call", "params": {"name": "slow"}, "id": id}:
                threading.Timer(SLOW, say, (id, "late")).start()
            case {"method": "tools/list", "id": id}:
                answer(id, {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]})
            case {"method": "initialize", "params": params, "id": id}:
                info = {"name": "bare", "version": "1"}
                version = params["protocolVersion"]
                answer(id, {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info})
            case {"id": id}:
                problem = {"code": -32601, "message": "Method not found"}
                with writing:
                    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": id, "error": problem}) + "\n")
                    sys.stdout.flush()


def serve_sdk() -> None:
    from mcp.server import MCPServer

    server = MCPServer("sdk")
    big = large()

    @server.tool(name="echo", structured_output=False)
    def echo(text: str) -> str:
        return text

    @server.tool(name="big", structured_output=False)
    def send_big() -> str:
        return big["big"]

    @server.tool(name="records", structured_output=False)
    def send_records() -> str:
        return big["records"]

    server.run()


def serve_proxy() -> None:
    from fastmcp.client.transports import StdioTransport
    from fastmcp.server import create_proxy

    create_proxy(StdioTransport(SERVER[0], [*SERVER[1:], "bare"]), name="proxy").run(show_banner=False)


SERVERS: dict[str, Callable[[], None]] = {"bare": serve_bare, "sdk": serve_sdk, "proxy": serve_proxy}


# -- a client


class Client:
    """One session, one call after the other."""

    def __init__(self, argv: Sequence[str], prefix: str = "") -> None:
        self.prefix, self._ids = prefix, 0
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        self.answer(self.ask("initialize", hello))
        self._write({"method": "notifications/initialized"})
        self.answer(self.ask("tools/list", {}))

    def _write(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: dict[str, Any]) -> int:
        self._ids += 1
        self._write({"id": self._ids, "method": method, "params": params})
        return self._ids

    def answer(self, id: int) -> Any:
        assert self.process.stdout is not None
        while line := self.process.stdout.readline():
            message = json.loads(line)
            if message.get("id") == id:
                return message["result"]
        raise RuntimeError("the server is gone")

    def call(self, tool: str, **arguments: Any) -> Any:
        return self.answer(self.ask("tools/call", {"name": self.prefix + tool, "arguments": arguments}))

    def cpu(self) -> float:
        """Seconds of CPU that this process and those behind it have taken so far."""
        behind = psutil.Process(self.process.pid)
        times = [process.cpu_times() for process in (behind, *behind.children(recursive=True))]
        return time.process_time() + sum(spent.user + spent.system for spent in times)

    def small(self, calls: int) -> float:
        """Seconds for one of ``calls`` small calls that all say something else."""
        began = self.cpu()
        for n in range(calls):
            text = f"Build {self._ids} of module core took {n} seconds"
            assert self.call("echo", text=text)["content"][0]["text"] == text
        return (self.cpu() - began) / calls

    def big(self, calls: int, tool: str = "big") -> float:
        """Seconds for a call with a large result until its line is read; what the client makes of it is its own."""
        assert self.process.stdout is not None
        began = self.cpu()
        for _ in range(calls):
            self.ask("tools/call", {"name": self.prefix + tool, "arguments": {}})
            line = self.process.stdout.readline()
            assert len(line) > BIG * 0.99, line[:200]
        return (self.cpu() - began) / calls

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


@contextmanager
def clients() -> Iterator[Callable[..., Client]]:
    with ExitStack() as stack:

        def start(argv: Sequence[str], prefix: str = "") -> Client:
            client = Client(argv, prefix)
            stack.callback(client.close)
            return client

        yield start


def gateway(folder: Path, *upstreams: str) -> list[str]:
    """The command of a gateway in front of servers of this file; more than one get their prefixes."""
    entries: dict[str, Any] = {
        f"{name}{at or ''}": {"command": SERVER[0], "args": [*SERVER[1:], name]} for at, name in enumerate(upstreams)
    }
    if len(entries) == 1:
        entries[upstreams[0]]["prefix"] = ""
    config = {"state_dir": str(folder), "detection": {"ner_entity_types": []}, "upstreams": entries}
    path = folder / f"{'-'.join(upstreams)}.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    return [sys.executable, "-m", "cloakllm_gateway", "--config", str(path)]


# -- what is measured


class Row(NamedTuple):
    """One line of the table; ``met`` says whether the bar was."""

    what: str
    without: str
    through: str
    ratio: str
    bar: str
    met: bool


def in_turns(rounds: int, *measures: Callable[[], float]) -> list[list[float]]:
    """For each measure its values, one of each a round."""
    turns = [[measure() for measure in measures] for _ in range(rounds)]
    return [list(column) for column in zip(*turns, strict=True)]


def per_call(seconds: float) -> str:
    return f"{seconds * 1000:.2f} ms" if seconds < 0.1 else f"{seconds * 1000:.0f} ms"


def small_calls(folder: Path, rounds: int) -> Iterator[Row]:
    with clients() as start:
        direct = {name: start([*SERVER, name]) for name in ("sdk", "bare")}
        through = {name: start(gateway(folder, name)) for name in direct}
        proxy = start([*SERVER, "proxy"])
        calls = {direct["sdk"]: 300, through["sdk"]: 300, direct["bare"]: 3000, through["bare"]: 1000, proxy: 200}
        for client, count in calls.items():
            client.small(count)  # imports and caches
        sdk, behind_sdk, bare, ours, theirs = in_turns(rounds, *(partial(c.small, n) for c, n in calls.items()))
    kept = statistics.median(before / after for before, after in zip(sdk, behind_sdk, strict=True))
    faster = statistics.median(other / us for other, us in zip(theirs, ours, strict=True))
    median = statistics.median
    yield Row(
        "a small call, server on the SDK", per_call(median(sdk)), per_call(median(behind_sdk)),
        f"{kept:.0%} of the rate", "80 %", kept >= 0.8,
    )  # fmt: skip
    yield Row(
        "a small call, bare server", per_call(median(bare)), per_call(median(ours)),
        f"{median(bare) / median(ours):.0%} of the rate", "", True,
    )  # fmt: skip
    yield Row(
        "the same through FastMCP's proxy", per_call(median(bare)), per_call(median(theirs)),
        f"ours is {faster:.1f}x as fast", "10x", faster >= 10,
    )  # fmt: skip


def big_results(folder: Path, rounds: int) -> Iterator[Row]:
    for server in ("sdk", "bare"):
        with clients() as start:
            both = start([*SERVER, server]), start(gateway(folder, server))
            for tool, what in (("big", "log lines"), ("records", "JSON text")):
                for client in both:
                    client.big(1, tool)
                took = in_turns(rounds, *(partial(client.big, 10, tool) for client in both))
                ratio = statistics.median(ours / theirs for theirs, ours in zip(*took, strict=True))
                without, ours = (per_call(statistics.median(column)) for column in took)
                yield Row(f"5 MB of {what}, {server} server", without, ours, f"{ratio:.1f}x", "5x", ratio <= 5)


def beside_a_slow_one(folder: Path, rounds: int) -> Iterator[Row]:
    with clients() as start:
        client = start(gateway(folder, "bare", "bare"), "bare1__")

        def one() -> float:
            began = time.perf_counter()
            client.call("echo", text="still there?")
            return time.perf_counter() - began

        for _ in range(200):
            one()
        before = statistics.median(one() for _ in range(200))
        slow = client.ask("tools/call", {"name": "bare__slow", "arguments": {}})
        began = time.perf_counter()
        beside = []
        while time.perf_counter() - began < SLOW * 0.9:
            beside.append(one())
            time.sleep(0.02)
        client.answer(slow)
    delay = statistics.median(beside) - before
    yield Row(
        "a call beside one that takes 10 s", f"{before * 1000:.1f} ms", f"{statistics.median(beside) * 1000:.1f} ms",
        f"{delay * 1000:+.1f} ms", "+50 ms", delay <= 0.05,
    )  # fmt: skip


TABLES: dict[str, Callable[[Path, int], Iterator[Row]]] = {
    "small": small_calls,
    "big": big_results,
    "slow": beside_a_slow_one,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", choices=TABLES, help="these rows alone")
    parser.add_argument("--as", dest="server", choices=SERVERS, help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.server is not None:
        SERVERS[wanted.server]()
        return
    print("| what | without | through it | ratio | bar | met |\n|---|---|---|---|---|---|")
    all_met = True
    for name in [wanted.only] if wanted.only else TABLES:
        with tempfile.TemporaryDirectory() as folder:
            for row in TABLES[name](Path(folder), wanted.rounds):
                print(f"| {' | '.join(row[:-1])} | {'yes' if row.met else 'no'} |", flush=True)
                all_met &= row.met
    sys.exit(0 if all_met else 1)


if __name__ == "__main__":
    main()
