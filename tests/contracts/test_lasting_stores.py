"""What every store that outlives the gateway keeps: restarts, several gateways, kills, outages, age."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest

from cloakllm_gateway.errors import VaultError
from cloakllm_gateway.shell.stores import MemoryStore, Options, Store, StoreAway, sealed
from cloakllm_gateway.shell.stores.highwater import StoreNumbers
from cloakllm_gateway.shell.stores.keys import keeper
from cloakllm_gateway.shell.stores.ledger import Change, View
from cloakllm_gateway.shell.stores.redis import RedisLedger
from cloakllm_gateway.shell.stores.sealed import SealedStore
from cloakllm_gateway.shell.stores.sqlite import SqliteLedger, sqlite_store
from cloakllm_gateway.shell.stores.witness import Witness
from cloakllm_gateway.spans import Encoding, Kind, Proof
from cloakllm_gateway.vault.entries import Entry, Spelling, Token
from tests.contracts.servers import RedisServer
from tests.contracts.test_stores import assign, spelled
from tests.patience import PATIENCE


@pytest.fixture
def url(lasting: str, request: pytest.FixtureRequest) -> str | None:
    server: RedisServer | None = request.getfixturevalue("redis_server") if lasting == "redis" else None
    return server.url if server else None


def timed(url: str | None, state: Path, clock: Callable[[], float], ttl: float | None = None) -> SealedStore:
    ledger = RedisLedger(url) if url else SqliteLedger(state / "vault" / "store.db")
    witness, own = Witness(state, ledger.place), StoreNumbers(state)
    return SealedStore(ledger, keeper(None, state), witness, own, Options(state, ttl=ttl), clock)


def entries_of(store: Store, namespace: str = "n") -> dict[str, Entry]:
    """What a new session hears of ``namespace``, by raw text."""

    async def hear() -> dict[str, Entry]:
        await store.refresh()
        return {e.spelling.raw: e for e in (await store.follow(namespace)).take().entries}

    return anyio.run(hear)


# -- restarts --------------------------------------------------------------------------------------


def test_after_a_restart_every_value_has_its_token_and_its_origins(make_lasting, tmp_path):
    before = assign(make_lasting(tmp_path), "ana@x.org", "bob@x.org", "Bob@X.org")
    (more,) = assign(make_lasting(tmp_path), "ana@x.org", origin="mail")
    later = make_lasting(tmp_path)
    later.check()
    assert entries_of(later) == {"ana@x.org": more, "bob@x.org": before[1], "Bob@X.org": before[2]}
    assert more.origins == {"crm", "mail"}
    (new,) = assign(later, "cy@x.org")
    assert new.token.number == 2


def test_every_part_of_a_spelling_comes_back(make_lasting, tmp_path):
    spellings = [
        Spelling("NAME", "Zo\u00eb \U0001f600", "Zoë", "zoë", Encoding.JSON, Kind.NUMBER, Proof.KEY, sensitive=True),
        Spelling("LITERAL", "half a pair \ud83d", "half \ud83d", "\ud83d", Encoding.HTML),
        Spelling("EMAIL", "", "", "", Encoding.BASE64),
    ]
    entries = assign(make_lasting(tmp_path), *spellings)
    assert entries_of(make_lasting(tmp_path)) == {entry.spelling.raw: entry for entry in entries}


def test_a_namespace_hears_of_its_own_values_only(make_lasting, tmp_path):
    assign(make_lasting(tmp_path), "ana@x.org", namespace="one")
    assert entries_of(make_lasting(tmp_path), "two") == {}


# -- several gateways ------------------------------------------------------------------------------


def test_what_one_gateway_learns_another_hears(make_lasting, tmp_path):
    one, two = make_lasting(tmp_path), make_lasting(tmp_path)
    assign(one, "first@x.org")

    async def listen() -> None:
        await two.refresh()
        follower = await two.follow("n")
        follower.take()
        (entry,) = await one.assign("n", "session", "crm", [spelled("ana@x.org")])
        assert follower.take().entries == []
        await two.refresh()
        assert follower.take().entries == [entry]
        await two.refresh()
        assert not follower.pending
        await one.forget("n")
        await two.refresh()
        assert entry.token in follower.take().gone

    anyio.run(listen)


WORKER = """
import json, sys, anyio
from pathlib import Path
from cloakllm_gateway.shell.stores import STORES, Options
from cloakllm_gateway.vault.entries import Spelling

kind, state, url, seed, rounds = sys.argv[1:]
store = STORES[kind](Options(Path(state), url=url or None))

async def run():
    for turn in range(int(rounds)):
        values = [f"p{(int(seed) * 3 + turn * 5 + i) % 60}@x.org" for i in range(8)]
        spellings = [Spelling("EMAIL", value, value, value) for value in values]
        entries = await store.assign("n", "session", f"origin{seed}", spellings)
        print(json.dumps({e.spelling.raw: str(e.token) for e in entries}), flush=True)

anyio.run(run)
"""


def worker(kind: str, state: Path, url: str | None, seed: int, rounds: int) -> subprocess.Popen[str]:
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}"}
    command = [sys.executable, "-c", WORKER, kind, str(state), url or "", str(seed), str(rounds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def test_eight_processes_give_one_value_one_token_and_one_token_one_value(lasting, make_lasting, url, tmp_path):
    workers = [worker(lasting, tmp_path, url, seed, rounds=12) for seed in range(8)]
    told = [json.loads(line) for process in workers for line in process.communicate(timeout=PATIENCE)[0].splitlines()]
    assert [process.returncode for process in workers] == [0] * 8
    assert len(told) == 8 * 12
    token_of: dict[str, str] = {}
    for message in told:
        for value, token in message.items():
            assert token_of.setdefault(value, token) == token
    assert len(set(token_of.values())) == len(token_of) == 60
    kept = entries_of(make_lasting(tmp_path))
    assert {raw: str(entry.token) for raw, entry in kept.items()} == token_of
    assert sorted(entry.token.number for entry in kept.values()) == list(range(60))


def test_after_a_kill_in_the_middle_every_token_that_was_told_stands(lasting, make_lasting, url, tmp_path):
    told: dict[str, str] = {}
    for seed in range(3):
        process = worker(lasting, tmp_path, url, seed, rounds=100_000)
        assert process.stdout
        lines = [process.stdout.readline() for _ in range(10 + seed)]
        process.send_signal(signal.SIGKILL)  # while it writes the next one
        rest, _ = process.communicate()
        whole = [line for line in [*lines, *rest.splitlines(keepends=True)] if line.endswith("\n")]
        for message in map(json.loads, whole):
            for value, token in message.items():
                assert told.setdefault(value, token) == token
    store = make_lasting(tmp_path)
    store.check()
    assert {raw: str(entry.token) for raw, entry in entries_of(store).items()}.items() >= told.items()
    (new,) = assign(store, "new@x.org")
    assert str(new.token) not in told.values()


# -- age and forgetting ----------------------------------------------------------------------------


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def test_a_value_goes_when_its_time_is_over_and_its_token_and_origins_stay(make_lasting, url, tmp_path):
    clock = Clock()
    store = timed(url, tmp_path, clock, ttl=1000)
    (before,) = assign(store, "ana@x.org")
    clock.now += 999
    assert entries_of(store) == {"ana@x.org": before}
    clock.now += 2
    assert entries_of(store) == {}
    assert entries_of(timed(url, tmp_path, clock, ttl=1000)) == {}
    (again,) = assign(store, "ana@x.org", origin="mail")
    assert again.token == before.token
    assert again.origins == {"crm", "mail"}


def test_a_value_that_is_seen_again_lives_on(make_lasting, url, tmp_path):
    clock = Clock()
    store = timed(url, tmp_path, clock, ttl=1000)
    assign(store, "ana@x.org", "bob@x.org")
    clock.now += 900
    assign(store, "ana@x.org")
    clock.now += 900
    assert set(entries_of(store)) == {"ana@x.org"}


def test_a_follower_hears_that_a_value_has_gone(make_lasting, url, tmp_path):
    clock = Clock()
    store = timed(url, tmp_path, clock, ttl=1000)
    (entry,) = assign(store, "ana@x.org")

    async def wait() -> list[Any]:
        follower = await store.follow("n")
        follower.take()
        clock.now += 1001
        await store.refresh()
        return list(follower.take().gone)

    assert anyio.run(wait) == [entry.token]


def test_a_forgotten_value_leaves_with_all_its_spellings_and_loses_its_origins(make_lasting, url, tmp_path):
    store = timed(url, tmp_path, Clock())
    kim, _, bob = assign(store, "kim@x.org", "KIM@x.org", "bob@x.org")
    assert store.drop("n", lambda spelling: spelling.raw == "kim@x.org") == 2
    later = make_lasting(tmp_path)
    assert set(entries_of(later)) == {"bob@x.org"}
    (again,) = assign(later, "kim@x.org", origin="evil")
    assert again.token.number not in (kim.token.number, bob.token.number)
    assert again.origins == {"evil"}


def test_what_was_dropped_in_masses_is_wiped_and_others_follow(make_lasting, url, tmp_path):
    store, other = timed(url, tmp_path, Clock()), make_lasting(tmp_path)
    assign(store, *(f"p{i}@x.org" for i in range(1500)))
    assert len(entries_of(other)) == 1500
    assert store.drop("n") == 1500
    (new,) = assign(store, "new@x.org")
    assert entries_of(other) == entries_of(make_lasting(tmp_path)) == {"new@x.org": new}
    assert new.token.number == 1500
    rows: list[Any] = []
    ledger = RedisLedger(url) if url else SqliteLedger(tmp_path / "vault" / "store.db")
    ledger.read(lambda view: rows.extend(view.rows(0)))
    assert len(rows) == 1


# -- a store that is away --------------------------------------------------------------------------


def test_a_store_that_is_away_refuses_and_recovers(lasting, make_lasting, url, tmp_path, request):
    store = make_lasting(tmp_path)
    (kept,) = assign(store, "ana@x.org")
    away = request.getfixturevalue("redis_server") if lasting == "redis" else _Moved(tmp_path / "vault" / "store.db")
    away.stop()
    try:
        with pytest.raises(VaultError):
            assign(store, "bob@x.org")
        with pytest.raises(VaultError):
            anyio.run(store.refresh)
    finally:
        away.start()
    assert assign(store, "ana@x.org") == [kept]
    assert set(entries_of(make_lasting(tmp_path))) == {"ana@x.org"}


class _Moved:
    """A database on a disk that is not mounted for a while."""

    def __init__(self, path: Path) -> None:
        self._folder, self._elsewhere = path.parent, path.parent.with_name("elsewhere")

    def stop(self) -> None:
        self._folder.rename(self._elsewhere)
        self._folder.write_text("no directory")

    def start(self) -> None:
        self._folder.unlink()
        self._elsewhere.rename(self._folder)


def test_a_redis_that_does_not_answer_keeps_one_waiting_and_not_everybody(tmp_path):
    pytest.importorskip("redis", reason="the extra `redis` is not installed")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        store = timed(f"redis://127.0.0.1:{silent.getsockname()[1]}/0", tmp_path, Clock())

        async def wait() -> float:
            with pytest.raises(StoreAway):
                await store.refresh()
            began = time.monotonic()
            for _ in range(20):
                with pytest.raises(StoreAway):
                    await store.assign("n", "session", "crm", [spelled("ana@x.org")])
            return time.monotonic() - began

        assert anyio.run(wait) < 1


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[tuple[SealedStore, sqlite3.Connection]]:
    """A store on disk, and another program that is writing to it."""
    store = timed(None, tmp_path, Clock())
    assign(store, "ana@x.org")
    with closing(sqlite3.connect(tmp_path / "vault" / "store.db", isolation_level=None)) as other, closing(store):
        other.execute("BEGIN IMMEDIATE")
        yield store, other


def test_while_a_change_waits_for_others_everybody_reads(locked):
    store, other = locked
    done: list[Entry] = []

    async def wait() -> float:
        async def change() -> None:
            done.extend(await store.assign("n", "session", "crm", [spelled("bob@x.org")]))

        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as tasks:
                for _ in range(50):
                    tasks.start_soon(change)
                await anyio.sleep(0.2)
                began = time.monotonic()
                for _ in range(10):
                    await store.refresh()
                took = time.monotonic() - began
                assert not done
                other.execute("ROLLBACK")
        return took

    assert anyio.run(wait) < 2
    assert len(done) == 50
    assert {entry.spelling.raw for entry in done} == {"bob@x.org"}


def test_others_who_do_not_come_to_an_end_keep_one_waiting_and_not_everybody(locked, monkeypatch):
    monkeypatch.setattr(sealed, "_OTHERS", 0.5)
    store, other = locked

    async def change() -> None:
        with pytest.raises(StoreAway, match="SQLITE_BUSY"):
            await store.assign("n", "session", "crm", [spelled("bob@x.org")])

    async def wait() -> float:
        began = time.monotonic()
        async with anyio.create_task_group() as tasks:
            for _ in range(20):
                tasks.start_soon(change)
        took = time.monotonic() - began
        await store.refresh()
        return took

    assert 0.4 < anyio.run(wait) < 2
    with pytest.raises(StoreAway):
        store.drop("n")
    other.execute("ROLLBACK")
    assert store.drop("n") == 1


def test_a_large_change_comes_through_between_many_small_ones(redis_server, tmp_path):
    redis_server.empty()
    big, small = RedisLedger(redis_server.url), RedisLedger(redis_server.url)
    heads: list[bytes | None] = []

    def often_overtaken(view: View) -> Change:
        heads.append(view.head())
        small._write(heads[-1], Change(b"small %d" % len(heads), []))  # in the middle of the large one
        return Change(b"big", [])

    big.change(often_overtaken)
    assert 2 < len(heads) < 20
    assert heads[1] == b"small 1"
    seen: list[bytes | None] = []
    small.read(lambda view: seen.append(view.head()))
    assert seen == [b"big"]
    small.change(lambda view: Change(b"small again", []) if view.head() == b"big" else None)  # the lock is gone


def test_a_redis_that_is_away_at_the_start_is_told_and_is_no_damage(redis_server, tmp_path):
    redis_server.empty()
    redis_server.stop()
    try:
        store = timed(redis_server.url, tmp_path, Clock())
        with pytest.raises(StoreAway, match="can't be used now"):
            store.check()
        with pytest.raises(StoreAway, match="can't be used now"):
            assign(store, "ana@x.org")
    finally:
        redis_server.start()
    assert len(assign(store, "ana@x.org")) == 1


def test_a_token_has_one_value_whichever_store_is_configured(tmp_path):
    """A conversation outlives a change of ``vault`` in the configuration, there and back."""
    makers: tuple[Callable[[], Store], ...] = (
        lambda: MemoryStore(Options(tmp_path)),
        lambda: sqlite_store(Options(tmp_path)),
        lambda: sqlite_store(Options(tmp_path, path=tmp_path / "other.db")),
    )
    meaning: dict[Token, str] = {}
    for turn in (0, 1, 0, 2, 1, 1, 2, 0, 1):
        store = makers[turn]()
        for _ in range(40):
            value = f"person{len(meaning)}@example.org"
            (entry,) = assign(store, value)
            assert meaning.setdefault(entry.token, value) == value
        store.close()
    assert len(meaning) == 9 * 40


def test_a_token_has_one_value_in_a_store_and_in_its_copies(tmp_path):
    """A copy begins where the store was when it was made, and goes on beside it."""
    paths = [tmp_path / "vault.db"]
    meaning: dict[Token, str] = {}
    assign(sqlite_store(Options(tmp_path / "state", path=paths[0])), "ana@x.org", "ben@x.org")
    for turn in range(40):
        store = sqlite_store(Options(tmp_path / "state", path=paths[turn % len(paths)]))
        value = f"person{turn}@example.org"
        (entry,) = assign(store, value)
        assert meaning.setdefault(entry.token, value) == value
        store.close()
        if turn % 10 == 5:
            paths.append(tmp_path / f"copy{turn}.db")
            shutil.copy(paths[turn // 10], paths[-1])
    assert len(meaning) == 40
