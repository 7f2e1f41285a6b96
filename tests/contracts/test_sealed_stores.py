"""What a store's files and servers may see, and what happens to who writes in them: an error, never another value."""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import pytest

from cloakllm_gateway.errors import VaultError
from cloakllm_gateway.shell.stores import Options, Store
from cloakllm_gateway.shell.stores.highwater import SMALLEST_BLOCK
from cloakllm_gateway.shell.stores.redis import redis_store
from cloakllm_gateway.shell.stores.sealed import SealedStore
from cloakllm_gateway.shell.stores.sqlite import sqlite_store
from tests.contracts.test_lasting_stores import entries_of
from tests.contracts.test_stores import assign, spelled

VALUES = ("ana.kowalska@example.org", "bob.smith@example.org", "cy.young@example.org")
posix = pytest.mark.skipif(os.name != "posix", reason="owners and modes are a matter of POSIX systems")


def store_in(state: Path) -> SealedStore:
    return sqlite_store(Options(state))


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A state directory with a store that has three values and a history."""
    store = store_in(tmp_path)
    for value in VALUES:
        assign(store, value)
    assign(store, VALUES[0], origin="mail")
    store._ledger.close()
    return tmp_path


def database(state: Path) -> sqlite3.Connection:
    return sqlite3.connect(state / "vault" / "store.db", isolation_level=None)


# -- what it shows ---------------------------------------------------------------------------------


def hints(value: str) -> Iterator[bytes]:
    """A value, and what could be told from it without the key."""
    for text in {value, value.lower(), value.upper(), value.split("@")[0]}:
        data = text.encode()
        yield from (data, base64.b64encode(data).rstrip(b"="), data.hex().encode())
        for name in ("md5", "sha1", "sha256", "sha512", "blake2b", "sha3_256"):
            digest = hashlib.new(name, data).digest()
            yield from (digest[:8], digest.hex()[:16].encode())


def test_the_raw_bytes_hold_no_value_no_origin_and_no_unkeyed_hash(state):
    raw = b"".join(path.read_bytes() for path in (state / "vault").iterdir() if path.name != "key")
    assert len(raw) > 1000
    for word in (*VALUES, "EMAIL", "crm", "session"):
        assert not [hint for hint in hints(word) if len(hint) > 3 and hint in raw]


def test_redis_holds_no_value_no_origin_and_no_unkeyed_hash(redis_server, tmp_path):
    import redis

    redis_server.empty()
    assign(redis_store(Options(tmp_path, url=redis_server.url)), *VALUES)
    with redis.Redis.from_url(redis_server.url) as client:
        raw = b"".join(bytes(client.dump(key) or b"") for key in client.keys("*"))
    assert len(raw) > 500
    for word in (*VALUES, "EMAIL", "session"):
        assert not [hint for hint in hints(word) if len(hint) > 3 and hint in raw]


REDIS_ATTACKS = {
    "seals swapped": "local k = redis.call('HKEYS', rows)"
    " local a, b = redis.call('HGET', rows, k[1]), redis.call('HGET', rows, k[2])"
    " redis.call('HSET', rows, k[1], b, k[2], a)",
    "row deleted": "redis.call('HDEL', rows, redis.call('HKEYS', rows)[1])",
    "row out of order": "redis.call('ZREM', order, redis.call('HKEYS', rows)[1])",
    "score changed": "redis.call('ZADD', order, -1, redis.call('HKEYS', rows)[1])",
    "row cut": "redis.call('HSET', rows, redis.call('HKEYS', rows)[1], 'x')",
    "head deleted": "redis.call('DEL', head)",
    "head edited": "redis.call('SET', head, redis.call('GET', head) .. 'x')",
    "head empty": "redis.call('SET', head, '')",
    "another type": "redis.call('DEL', head) redis.call('HSET', head, 'a', 'b')",
    "all gone": "redis.call('FLUSHALL')",
}


@pytest.mark.parametrize("attack", REDIS_ATTACKS.values(), ids=REDIS_ATTACKS)
def test_whatever_is_written_in_redis_is_an_error_and_never_another_value(redis_server, tmp_path, attack):
    import redis

    redis_server.empty()
    for value in VALUES:
        assign(redis_store(Options(tmp_path, url=redis_server.url)), value)
    with redis.Redis.from_url(redis_server.url) as client:
        names = "local head, rows, order = KEYS[1], KEYS[2], KEYS[3] "
        client.eval(names + attack, 3, *(f"{{cloakllm-gateway}}:{name}" for name in ("head", "rows", "order")))
    with pytest.raises(VaultError):
        redis_store(Options(tmp_path, url=redis_server.url)).check()
    with pytest.raises(VaultError):
        assign(redis_store(Options(tmp_path, url=redis_server.url)), VALUES[0])


def test_two_stores_with_the_same_values_have_nothing_in_common(tmp_path):
    names = []
    for folder in ("one", "two"):
        assign(store_in(tmp_path / folder), *VALUES)
        with database(tmp_path / folder) as rows:
            names.append({name for (name,) in rows.execute("SELECT name FROM rows")})
    assert not names[0] & names[1]


@posix
def test_everything_is_private(state):
    assert stat.S_IMODE((state / "vault").stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in (state / "vault").iterdir()} == {0o600}


@posix
@pytest.mark.parametrize("name", ["key", "store.db"])
def test_what_others_could_read_is_refused(state, name):
    (state / "vault" / name).chmod(0o644)
    with pytest.raises(VaultError, match=r"open to other users.*chmod 600"):
        store_in(state).check()


@posix
def test_a_link_in_place_of_the_key_is_refused(state):
    key = state / "vault" / "key"
    key.rename(state / "stolen")
    key.symlink_to(state / "stolen")
    with pytest.raises(VaultError, match="link"):
        store_in(state).check()


# -- its key ---------------------------------------------------------------------------------------


def test_a_store_without_its_key_says_so_and_makes_no_new_one(state):
    key = state / "vault" / "key"
    key.unlink()
    with pytest.raises(VaultError, match=r"key of the token store .* is missing"):
        store_in(state).check()
    with pytest.raises(VaultError, match="is missing"):
        assign(store_in(state), "new@x.org")
    assert not key.exists()


def test_a_store_with_another_key_says_so(state):
    (state / "vault" / "key").write_bytes(os.urandom(32))
    with pytest.raises(VaultError, match="is not the key of"):
        assign(store_in(state), VALUES[0])


def test_a_key_of_another_length_is_none(state):
    (state / "vault" / "key").write_bytes(b"secret")
    with pytest.raises(VaultError, match="not a key of 32 bytes"):
        store_in(state).check()


def test_a_new_key_opens_everything_and_the_old_one_nothing(state, tmp_path_factory):
    before = entries_of(store_in(state))
    old = (state / "vault" / "key").read_bytes()
    running = store_in(state)
    running.check()
    assert store_in(state).rekey() == 3
    assert (state / "vault" / "key").read_bytes() != old
    assert entries_of(store_in(state)) == before
    assert assign(store_in(state), VALUES[1]) == [before[VALUES[1]]]
    with pytest.raises(VaultError, match=r"another key.*Restart"):
        assign(running, VALUES[1])
    (state / "vault" / "key").write_bytes(old)
    with pytest.raises(VaultError, match="is not the key"):
        store_in(state).check()


def test_a_kill_between_the_new_seal_and_the_new_key_is_cleared_up(state, monkeypatch):
    before = entries_of(store_in(state))
    store = store_in(state)

    def killed() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(store._keeper, "promote", killed)
    with pytest.raises(KeyboardInterrupt):
        store.rekey()
    assert (state / "vault" / "key.new").exists()
    assert entries_of(store_in(state)) == before
    assert not (state / "vault" / "key.new").exists()


def test_origins_outlive_a_new_key_where_the_value_is_gone(state):
    (before,) = assign(sqlite_store(Options(state, ttl=3600)), VALUES[0])
    later = time.time() + 4000
    store = SealedStore(*_parts(state), clock=lambda: later)
    store.catch_up()
    assert store.rekey() == 3
    (again,) = assign(SealedStore(*_parts(state), clock=lambda: later), VALUES[0], origin="evil")
    assert again.token == before.token
    assert again.origins == {"crm", "mail", "evil"}


def _parts(state: Path) -> tuple[object, ...]:
    store = store_in(state)
    return store._ledger, store._keeper, store._witness, store._own, Options(state, ttl=3600)


# -- who writes in it ------------------------------------------------------------------------------

ROW = "(SELECT name FROM rows ORDER BY name LIMIT 1)"
OTHER = "(SELECT name FROM rows ORDER BY name DESC LIMIT 1)"
ATTACKS: dict[str, str] = {
    "seals swapped": f"""
        CREATE TEMP TABLE t AS SELECT (SELECT sealed FROM rows WHERE name = {ROW}) a,
                                      (SELECT sealed FROM rows WHERE name = {OTHER}) b;
        UPDATE rows SET sealed = (SELECT b FROM t) WHERE name = (SELECT min(name) FROM rows);
        UPDATE rows SET sealed = (SELECT a FROM t) WHERE name = (SELECT max(name) FROM rows);""",
    "seal copied": f"UPDATE rows SET sealed = (SELECT sealed FROM rows WHERE name = {OTHER}) WHERE name = {ROW}",
    "row copied": f"INSERT INTO rows SELECT randomblob(16), revision, sealed FROM rows WHERE name = {ROW}",
    "seal edited": f"UPDATE rows SET sealed = CAST(substr(sealed, 1, 20) || x'00' || substr(sealed, 22) AS BLOB)"
    f" WHERE name = {ROW}",
    "seal cut": f"UPDATE rows SET sealed = CAST(substr(sealed, 1, 5) AS BLOB) WHERE name = {ROW}",
    "seal empty": f"UPDATE rows SET sealed = x'' WHERE name = {ROW}",
    "seal a text": f"UPDATE rows SET sealed = 'text' WHERE name = {ROW}",
    "row deleted": f"DELETE FROM rows WHERE name = {ROW}",
    "all rows deleted": "DELETE FROM rows",
    "revision lowered": f"UPDATE rows SET revision = 1 WHERE name = {OTHER} AND revision > 1 OR name = {ROW}"
    " AND revision > 1",
    "revision zero": f"UPDATE rows SET revision = 0 WHERE name = {ROW}",
    "revision raised": f"UPDATE rows SET revision = 99 WHERE name = {ROW}",
    "revision a text": f"UPDATE rows SET revision = 'x' WHERE name = {ROW}",
    "name changed": f"UPDATE rows SET name = randomblob(16) WHERE name = {ROW}",
    "name cut": f"UPDATE rows SET name = CAST(substr(name, 1, 3) AS BLOB) WHERE name = {ROW}",
    "head edited": "UPDATE head SET sealed = CAST(substr(sealed, 1, 40) || x'00' || substr(sealed, 42) AS BLOB)",
    "head cut": "UPDATE head SET sealed = CAST(substr(sealed, 1, 10) AS BLOB)",
    "head empty": "UPDATE head SET sealed = x''",
    "head a text": "UPDATE head SET sealed = 'text'",
    "store id changed": "UPDATE head SET sealed = CAST(randomblob(16) || substr(sealed, 17) AS BLOB)",
    "key id changed": "UPDATE head SET sealed ="
    " CAST(substr(sealed, 1, 16) || randomblob(8) || substr(sealed, 25) AS BLOB)",
    "head deleted": "DELETE FROM head",
    "tables dropped": "DROP TABLE rows; DROP TABLE head",
}


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_whatever_is_written_in_it_is_an_error_and_never_another_value(state, attack):
    with database(state) as connection:
        connection.executescript(attack)
    connection.close()
    assert_refused(state)


def assert_refused(state: Path) -> None:
    with pytest.raises(VaultError) as caught:
        store_in(state).check()
    assert not [value for value in VALUES if value in str(caught.value)]
    with pytest.raises(VaultError):
        assign(store_in(state), VALUES[0])
    with pytest.raises(VaultError):
        assign(store_in(state), "new@x.org")


def copied(state: Path) -> dict[str, list[tuple[object, ...]]]:
    with database(state) as connection:
        tables = {table: connection.execute(f"SELECT * FROM {table}").fetchall() for table in ("head", "rows")}
    connection.close()
    return tables


def put_back(state: Path, tables: dict[str, list[tuple[object, ...]]]) -> None:
    with database(state) as connection:
        for table, rows in tables.items():
            connection.execute(f"DELETE FROM {table}")
            marks = ", ".join("?" * len(rows[0]))
            connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
    connection.close()


@pytest.mark.parametrize("tables", [("head",), ("rows",), ("head", "rows")], ids=" and ".join)
def test_an_older_state_of_it_is_refused(state, tables):
    old = copied(state)
    assign(store_in(state), "new@x.org", origin="evil")
    put_back(state, {table: old[table] for table in tables})
    assert_refused(state)


def test_an_older_row_of_the_same_value_is_refused(state):
    old = {row[0]: row for row in copied(state)["rows"]}
    assign(store_in(state), *VALUES, origin="evil")
    now = copied(state)
    now["rows"][0] = old[now["rows"][0][0]]
    put_back(state, now)
    assert_refused(state)


def test_an_older_state_is_refused_while_the_gateway_runs(state):
    old = copied(state)
    running = store_in(state)
    assign(running, "new@x.org")
    put_back(state, old)
    with pytest.raises(VaultError, match="older state"):
        assign(running, "newer@x.org")


def test_a_row_that_vanishes_while_the_gateway_runs_is_missed_with_the_next_change(state):
    running = store_in(state)
    running.check()
    other = store_in(state)
    assign(other, "new@x.org")
    with database(state) as connection:
        connection.execute("DELETE FROM rows WHERE revision = (SELECT max(revision) FROM rows)")
    connection.close()
    with pytest.raises(VaultError, match="lacks rows"):
        anyio.run(running.refresh)


def removed(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink()


GONE: dict[str, Callable[[Path], None]] = {
    "the database": lambda state: [removed(path) for path in (state / "vault").glob("store.db*")] and None,
    "the database, empty": lambda state: (state / "vault" / "store.db").write_bytes(b"") and None,
    "the database, garbage": lambda state: (state / "vault" / "store.db").write_bytes(b"garbage" * 2000) and None,
}


@pytest.mark.parametrize("lose", GONE.values(), ids=GONE)
def test_a_store_that_is_gone_beside_its_key_is_refused(state, lose):
    for path in (state / "vault").glob("store.db-*"):
        path.unlink()
    lose(state)
    with pytest.raises(VaultError):
        store_in(state).check()
    with pytest.raises(VaultError):
        assign(store_in(state), "new@x.org")


def test_a_copy_of_the_state_without_what_was_written_last_is_refused(state, tmp_path_factory):
    """SQLite keeps it in a second file, which is easily forgotten where a directory is copied or moved."""
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "state"
    running = store_in(state)
    assign(running, "new@x.org")
    shutil.copytree(state, elsewhere, ignore=shutil.ignore_patterns("*-wal", "*-shm"))
    with pytest.raises(VaultError, match="put back to an older state"):
        store_in(elsewhere).check()


def test_a_database_that_is_replaced_while_the_gateway_runs_takes_no_write_that_is_lost(state):
    running = store_in(state)
    assign(running, "new@x.org")
    for path in (state / "vault").glob("store.db*"):
        path.unlink()
    with pytest.raises(VaultError, match="gone or empty"):
        assign(running, "newer@x.org")


def test_without_any_of_it_a_store_begins_again_above_the_numbers_it_had(state):
    shutil.rmtree(state / "vault")
    (entry,) = assign(store_in(state), "new@x.org")
    assert entry.token.number == SMALLEST_BLOCK


def test_a_note_of_how_far_it_was_that_was_edited_is_refused(state):
    (seen,) = (state / "vault").glob("*.seen")
    kept = seen.read_bytes()
    seen.write_bytes(bytes(8) + kept[8:])
    with pytest.raises(VaultError, match="is not what the gateway wrote"):
        store_in(state).check()


def test_rows_of_another_store_with_the_same_key_do_not_open(state, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    (other / "vault").mkdir(mode=0o700)
    shutil.copy(state / "vault" / "key", other / "vault" / "key")
    for value in (*VALUES, "more@x.org"):
        assign(store_in(other), value)
    assert_refused_with(state, copied(other)["rows"])


def assert_refused_with(state: Path, rows: list[tuple[object, ...]]) -> None:
    now = copied(state)
    put_back(state, {**now, "rows": rows})
    assert_refused(state)


def test_the_store_in_use_survives_its_own_tests(state):
    store: Store = store_in(state)
    store.check()
    assert {e.spelling.raw for e in assign(store, *VALUES)} == set(VALUES)
    assert assign(store, spelled(VALUES[0]))[0].origins == {"crm", "mail"}


# -- the keyring -----------------------------------------------------------------------------------


@pytest.fixture
def keyring_of_the_test(tmp_path: Path) -> Iterator[dict[tuple[str, str], str]]:
    keyring = pytest.importorskip("keyring", reason="the extra `keyring` is not installed")
    from keyring.backend import KeyringBackend

    kept: dict[tuple[str, str], str] = {}

    class InMemory(KeyringBackend):
        priority = 1  # type: ignore[assignment]

        def get_password(self, service: str, username: str) -> str | None:
            return kept.get((service, username))

        def set_password(self, service: str, username: str, password: str) -> None:
            kept[service, username] = password

        def delete_password(self, service: str, username: str) -> None:
            del kept[service, username]

    before = keyring.get_keyring()
    keyring.set_keyring(InMemory())
    yield kept
    keyring.set_keyring(before)


def test_the_key_may_be_in_the_keyring_and_then_is_in_no_file(tmp_path, keyring_of_the_test):
    options = Options(tmp_path, key_file="keyring")
    before = assign(sqlite_store(options), *VALUES)
    assert not (tmp_path / "vault" / "key").exists()
    assert assign(sqlite_store(options), *VALUES) == before
    assert sqlite_store(options).rekey() == 3
    assert len(keyring_of_the_test) == 1
    assert assign(sqlite_store(options), *VALUES) == before
    keyring_of_the_test.clear()
    with pytest.raises(VaultError, match=r"key of the token store .* is missing.*keyring"):
        sqlite_store(options).check()
