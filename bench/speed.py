"""What the gateway costs: at its start, and on every call.  Prints one table for each.

    python bench/speed.py [--rounds N]

Every figure is a ratio or a median of one run on one machine; quote them with both.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import anyio

from cloakllm_gateway.core.handles import Handles
from cloakllm_gateway.core.sanitizer import Sanitizing, Source, drive
from cloakllm_gateway.detection.catalogue import CATALOGUE
from cloakllm_gateway.detection.settings import NameSettings, Settings
from cloakllm_gateway.protocol import jsonrpc
from cloakllm_gateway.protocol.surface import SURFACE
from cloakllm_gateway.shell.scanner import Scanner
from cloakllm_gateway.shell.stores import MemoryStore, Options
from cloakllm_gateway.vault.entries import Entry, Spelling
from cloakllm_gateway.vault.vault import Vault

BASELINE = "import json, re, asyncio"
SIZES = (500, 5_000, 50_000)

#: A mail as a help desk sees it: about one value in every 60 characters.
MAIL = """\
Dear Ms Kowalczyk, thank you for your call of last Tuesday about order 48211. We have changed the delivery address as \
you wished, and the parcel leaves our warehouse tomorrow. If anything is unclear, write to \
marta.k{n}@kowalczyk-design.pl or call +48 601 {n:03} 567 between nine and five. The refund goes to \
PL61 1090 1014 0000 0712 1981 2874 within five days. Kind regards, Tom O'Brien, service team.

"""
PLAIN = """\
The scheduler reads the queue once a second and hands each job to the first worker that is free. A job that fails is \
tried again after a pause that doubles, and is given up after five tries. Metrics are written to the usual place, and \
the dashboard shows the depth of the queue, the age of its oldest job and the rate of failures for the last hour.

"""


def text(pattern: str, size: int) -> str:
    pieces = []
    length = 0
    while length < size:
        piece = pattern.format(n=len(pieces) % 1000) if "{n" in pattern else pattern
        pieces.append(piece)
        length += len(piece)
    return "".join(pieces)[:size]


# -- the start -----------------------------------------------------------------------------------------


def cpu_seconds(pid: int) -> float:
    """CPU time of the threads of a living process, without its children (Linux; to the nanosecond)."""
    return sum(int(task.read_text().split()[0]) for task in Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9


def baseline() -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", BASELINE], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def start(config: Path) -> float:
    """CPU of the gateway from its start to its answer to ``initialize``."""
    command = [sys.executable, "-m", "cloakllm_gateway", "--config", str(config)]
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, **pipes) as gateway:  # type: ignore[call-overload]
        assert gateway.stdin and gateway.stdout
        gateway.stdin.write(jsonrpc.encode(jsonrpc.request(1, "initialize", hello)) + b"\n")
        gateway.stdin.flush()
        assert b'"result"' in gateway.stdout.readline()
        spent = cpu_seconds(gateway.pid)
        gateway.stdin.close()
        gateway.wait(10)
    return spent


def startup(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        server = [sys.executable, "-m", "cloakllm_gateway.demo.server", folder]
        config = Path(folder, "gateway.json")
        upstream = {"command": server[0], "args": server[1:], "inherit_env": True}
        settings = {"detection": {"ner_entity_types": []}, "state_dir": str(Path(folder, "state"))}
        config.write_text(json.dumps({"upstreams": {"files": upstream}, **settings}))
        first = start(config)
        pairs = [(start(config), baseline()) for _ in range(rounds)]
    ours, theirs = statistics.median(p[0] for p in pairs), statistics.median(p[1] for p in pairs)
    ratio = statistics.median(ours / theirs for ours, theirs in pairs)
    print("\n## Start-up, without names: CPU up to the answer to initialize\n")
    print("| what | CPU, s | ratio |\n|---|---|---|")
    print(f'| `python -c "{BASELINE}"` | {theirs:.3f} | 1.0 |')
    print(f"| the gateway, detection proved before | {ours:.3f} | {ratio:.2f} |")
    print(f"| the gateway, its first start ever | {first:.3f} | {first / theirs:.2f} |")


# -- a call --------------------------------------------------------------------------------------------


async def sanitize(scanner: Scanner, store: MemoryStore, vault: Vault, body: str) -> float:
    """Seconds of one tool result on its way to the model, from bytes to bytes."""
    line = jsonrpc.encode(jsonrpc.result(1, {"content": [{"type": "text", "text": body}]}))

    async def assign(spellings: Sequence[Spelling]) -> Sequence[Entry]:
        entries = await store.assign("bench", "session", "crm", spellings)
        vault.learn(entries)
        return entries

    shape = SURFACE["tools/call"].result
    assert shape is not None
    source = Source("crm", "session", vault, Handles(), frozenset(CATALOGUE))
    began = time.perf_counter()
    part = jsonrpc.decode(line)["result"]
    clean = await drive(Sanitizing(part, shape, source), scanner.find, assign)
    jsonrpc.encode(clean.part)
    return time.perf_counter() - began


async def calls(rounds: int) -> None:
    plain, named = Scanner(Settings()), Scanner(Settings(names=NameSettings()))
    print("\n## One tool result on its way to the model: median milliseconds, bytes to bytes\n")
    print("| text | size | without names | with names, first time | with names, seen before |\n|---|---|---|---|---|")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(named.workers.run)
        tasks.start_soon(plain.workers.run)
        if named.covers_names:
            await named.workers.prove()
        for name, pattern in (("a mail", MAIL), ("documentation", PLAIN)):
            for size in SIZES:
                body = text(pattern, size)
                columns = [await median(plain, [body] * rounds)]
                if named.covers_names:
                    fresh = [f"{n} {body}".replace("Kowalczyk", f"Kowal{chr(97 + n % 26)}ska") for n in range(rounds)]
                    columns += [await median(named, fresh), await median(named, [body] * rounds)]
                else:
                    columns += ["not installed"] * 2
                print(f"| {name} | {size:,} | {' | '.join(columns)} |")
        await plain.workers.close()
        await named.workers.close()
        tasks.cancel_scope.cancel()


async def median(scanner: Scanner, bodies: Sequence[str]) -> str:
    await sanitize(scanner, MemoryStore(Options(None)), Vault(), bodies[-1])  # workers are up, patterns compiled
    taken = [await sanitize(scanner, MemoryStore(Options(None)), Vault(), body) for body in bodies]
    return f"{statistics.median(taken) * 1000:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    startup(rounds)
    anyio.run(calls, rounds)


if __name__ == "__main__":
    main()
