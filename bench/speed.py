"""What the gateway costs: at its start, and on every call.  Prints one table for each.

    python bench/speed.py [--rounds N] [--only start|calls|detection|audit|vault]

Every figure is a ratio or a median of one run on one machine; quote them with both.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path

import anyio
import anyio.lowlevel
import detection_speed

from cloakllm_gateway.core.events import Record
from cloakllm_gateway.core.handles import Handles
from cloakllm_gateway.core.policy import Policy
from cloakllm_gateway.core.restorer import Restorer
from cloakllm_gateway.core.sanitizer import Sanitizing, drive
from cloakllm_gateway.core.settings import Settings as CoreSettings
from cloakllm_gateway.core.settings import UpstreamSettings
from cloakllm_gateway.core.source import Source
from cloakllm_gateway.detection.catalogue import CATALOGUE
from cloakllm_gateway.detection.settings import NameSettings, Settings
from cloakllm_gateway.protocol import jsonrpc
from cloakllm_gateway.protocol.surface import SURFACE
from cloakllm_gateway.shell.audit.recorder import Audit
from cloakllm_gateway.shell.config import AuditConfig, Fsync
from cloakllm_gateway.shell.logging import Logger
from cloakllm_gateway.shell.scanner import Scanner
from cloakllm_gateway.shell.stores import STORES, MemoryStore, Options
from cloakllm_gateway.vault.entries import Entry, Spelling, Token
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


# -- the vault -----------------------------------------------------------------------------------------


def addresses(first: int, count: int) -> list[Spelling]:
    values = [f"person{n}@example-{n % 97}.org" for n in range(first, first + count)]
    return [Spelling("EMAIL", value, value, value) for value in values]


async def timed(
    work: Callable[[], Awaitable[object]], rounds: int, clock: Callable[[], float] = time.perf_counter
) -> float:
    """The median of so many rounds, in milliseconds."""
    taken = []
    for _ in range(rounds):
        began = clock()
        await work()
        taken.append((clock() - began) * 1000)
    return statistics.median(taken)


async def assigning(backend: str, url: str | None, known: int, rounds: int) -> list[float]:
    """A message with one new value, with ten, each of those, ten known ones, and a look for what others wrote."""
    with tempfile.TemporaryDirectory() as folder:
        store = STORES[backend](Options(Path(folder), url=url))
        await store.assign("bench", "session", "crm", addresses(0, known))
        at = known

        async def new(count: int) -> None:
            nonlocal at
            await store.assign("bench", "session", "crm", addresses(at, count))
            at += count

        one, ten = await timed(lambda: new(1), rounds), await timed(lambda: new(10), rounds)
        return [
            one,
            ten,
            ten / 10,
            await timed(lambda: store.assign("bench", "session", "crm", addresses(0, 10)), rounds),
            await timed(store.refresh, rounds),
        ]


def bare_commit(rounds: int) -> float:
    """What SQLite and the disk alone take for a synced commit of one row, in milliseconds."""
    with tempfile.TemporaryDirectory() as folder, closing(sqlite3.connect(Path(folder, "bare.db"))) as database:
        database.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE rows (sealed BLOB)")
        taken = []
        for _ in range(rounds):
            began = time.perf_counter()
            with database:
                database.execute("INSERT INTO rows VALUES (zeroblob(250))")
            taken.append((time.perf_counter() - began) * 1000)
        return statistics.median(taken)


async def stores(rounds: int) -> None:
    print("\n## vault: one message in its store, median milliseconds\n")
    print(f"A synced commit of SQLite alone takes {bare_commit(rounds * 20):.2f} here.\n")
    print("| store | tokens in it | one new value | ten new values | each of them | ten known values | no news |")
    print("|---|---|---|---|---|---|---|")
    with redis_server() as url:
        for backend in STORES:
            if backend == "redis" and url is None:
                print("| redis | redis-server or its client is not installed |||||")
                continue
            for known in (20, 20_000):
                columns = await assigning(backend, url, known, rounds * 20)
                print(f"| {backend} | {known:,} | {' | '.join(f'{column:.2f}' for column in columns)} |")
                flush(url)


@contextmanager
def redis_server() -> Iterator[str | None]:
    """A Redis of its own, on a loopback port, for as long as this is open; None where there is none."""
    program = shutil.which("redis-server")
    if program is None or find_spec("redis") is None:
        yield None
        return
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        options = ["--port", str(port), "--bind", "127.0.0.1", "--dir", folder, "--appendonly", "yes"]
        with subprocess.Popen([program, *options], stdout=subprocess.DEVNULL) as server:
            try:
                deadline = time.monotonic() + 10
                while socket.socket().connect_ex(("127.0.0.1", port)) and time.monotonic() < deadline:
                    time.sleep(0.05)
                yield f"redis://127.0.0.1:{port}/0"
            finally:
                server.kill()


def flush(url: str | None) -> None:
    if url is not None:
        import redis

        redis.Redis.from_url(url).flushall()


async def knowing(rounds: int) -> None:
    """What it costs that a session knows many values."""
    print("\n## vault: what a session knows, median milliseconds of CPU\n")
    print(
        "| values | a reply of 5 KB towards the model | a call with five tokens towards the upstream |\n|---|---|---|"
    )
    scanner, body = Scanner(Settings()), text(MAIL, 5_000)
    upstream = UpstreamSettings("crm", "crm", "crm")
    settings = CoreSettings({"crm": upstream}, categories=frozenset(CATALOGUE))
    arguments = {"arguments": {"text": "To [EMAIL_3] and [EMAIL_5], cc [EMAIL_7], [EMAIL_11], [EMAIL_13]: " + PLAIN}}
    shape = SURFACE["tools/call"].params
    medians: list[list[float]] = []
    for known in (20, 20_000):
        store, vault = STORES["memory"](Options(None)), Vault()
        entries = await store.assign("bench", "session", "crm", addresses(0, known))
        vault.learn([entry._replace(token=Token("EMAIL", n)) for n, entry in enumerate(entries)])
        vault.show(Token("EMAIL", n) for n in range(known))
        restorer = Restorer(Policy(settings), vault, Handles(), settings.categories, {})

        async def restore(restorer: Restorer = restorer) -> None:
            restorer.restore(arguments, shape, "crm")

        async def reply(vault: Vault = vault) -> None:
            await sanitize(scanner, MemoryStore(Options(None)), vault, body)

        await reply()  # patterns compiled
        cpu = time.process_time
        columns = [await timed(reply, rounds * 2, cpu), await timed(restore, rounds * 20, cpu)]
        medians.append(columns)
        print(f"| {known:,} | {' | '.join(f'{column:.2f}' for column in columns)} |")
    ratios = (f"{many / few:.2f}" for few, many in zip(*medians, strict=True))
    print(f"| ratio | {' | '.join(ratios)} |")


# -- the audit -----------------------------------------------------------------------------------------


async def entries(count: int = 10_000) -> None:
    """CPU per entry of the audit log, of the whole process: threads that sync and sign included."""
    fields = {
        "upstream": "crm", "method": "tools/call", "direction": "to_model", "entity_count": 3,
        "categories": {"EMAIL": 2, "PHONE": 1}, "tripwire": {}, "skipped": {"media": 1}, "dropped": 0, "messages": 1,
        "duration": "10ms",
    }  # fmt: skip
    opening = {
        "versions": {"gateway": "0"}, "upstreams": ["crm"], "sanitize": True, "detecting": ["EMAIL"], "names": False,
        "proved": True,
    }  # fmt: skip
    print("\n## One entry of the audit log: microseconds of CPU\n")
    print("| fsync | median | mean, signing and closing included |\n|---|---|---|")
    for fsync in (Fsync.INTERVAL, Fsync.OFF):
        with tempfile.TemporaryDirectory() as folder:
            audit = Audit(AuditConfig(fsync=fsync), Path(folder), Logger("error"))
            await audit.open(opening, b"{}")
            spent = []
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(audit.run)
                began = time.process_time_ns()
                for _ in range(count):
                    before = time.process_time_ns()
                    await audit.record([Record("sanitize", fields)])
                    spent.append(time.process_time_ns() - before)
                    await anyio.lowlevel.checkpoint()
                await audit.close()
                whole = time.process_time_ns() - began
                tasks.cancel_scope.cancel()
        print(f"| {fsync} | {statistics.median(spent) / 1000:.0f} | {whole / count / 1000:.0f} |")


TABLES: dict[str, Callable[[int], object]] = {
    "start": startup,
    "calls": lambda rounds: anyio.run(calls, rounds),
    "detection": detection_speed.tables,
    "audit": lambda _rounds: anyio.run(entries),
    "vault": lambda rounds: (anyio.run(stores, rounds), anyio.run(knowing, rounds)),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", choices=TABLES, help="this table alone")
    wanted = parser.parse_args()
    for name in [wanted.only] if wanted.only else TABLES:
        TABLES[name](wanted.rounds)


if __name__ == "__main__":
    main()
