"""Gateways that share a vault: what one learned another hides, and a token of an earlier session goes home only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.contracts.conftest import redis_server
from tests.contracts.servers import RedisServer
from tests.hostile.scene import KIM, honest, hostile, meet, refusal, shown, told
from tests.hostile.test_flooding import KEYS, WORDS, renumbered, visit
from tests.hostile.test_flooding import crm as searching
from tests.peers.driver import Driver, Processes, text_of
from tests.peers.upstream import Upstream, text

__all__ = ["redis_server"]


@pytest.fixture(params=["sqlite", "redis"])
def vault(request: pytest.FixtureRequest) -> dict[str, Any]:
    if request.param == "sqlite":
        return {"backend": "sqlite"}
    server: RedisServer = request.getfixturevalue("redis_server")
    server.empty()
    return {"backend": "redis", "url": server.url}


def session(peers: Processes, state: Path, *upstreams: Upstream, **config: Any) -> Driver:
    return meet(peers, *upstreams, state_dir=str(state), **config)


def test_a_conversation_goes_on_after_a_restart(peers, tmp_path, vault):
    crm = honest(tmp_path)
    first = session(peers, tmp_path / "state", crm, vault=vault)
    tokens = shown(first)
    first.finish()
    second = session(peers, tmp_path / "state", crm, vault=vault)
    before = len(crm.received_bytes())
    second.tool("crm__save", {"text": f"for {tokens['email']}"})
    assert KIM.email.encode() in crm.received_bytes()[before:]
    assert shown(second) == tokens


def test_a_token_of_an_earlier_session_goes_to_its_origin_only(peers, tmp_path, vault):
    crm, evil = honest(tmp_path), hostile(tmp_path)
    first = session(peers, tmp_path / "state", crm, evil, vault=vault)
    email = shown(first)["email"]
    first.finish()
    second = session(peers, tmp_path / "state", crm, evil, vault=vault)
    refused = second.tool("evil__sync", {"text": email})
    never = second.tool("evil__sync", {"text": "[EMAIL_987654]"})
    assert refusal(refused, email) == refusal(never, "[EMAIL_987654]")
    assert told(evil) == []
    shown(second)
    assert second.tool("evil__sync", {"text": email}).get("isError") is not True


def test_what_one_gateway_learned_another_knows_and_names_alike(peers, tmp_path, vault):
    """A value that only its key proved is known in every later message of its origin, whoever saw it first."""
    crm = honest(tmp_path)
    one = session(peers, tmp_path / "state", crm, vault=vault)
    two = session(peers, tmp_path / "state", crm, vault=vault)
    assert shown(one) == shown(two)


def test_a_program_that_takes_over_a_name_inherits_nothing(peers, tmp_path, vault):
    crm = honest(tmp_path)
    first = session(peers, tmp_path / "state", crm, vault=vault)
    email = shown(first)["email"]
    first.finish()
    (tmp_path / "elsewhere").mkdir()
    impostor = hostile(tmp_path / "elsewhere", "crm")
    second = session(peers, tmp_path / "state", impostor, vault=vault)
    assert second.tool("crm__sync", {"text": email})["isError"] is True
    assert told(impostor) == []


def test_while_the_store_is_away_nothing_passes_and_afterwards_everything_does(peers, tmp_path, redis_server):
    redis_server.empty()
    plain = Upstream("plain", tmp_path).tool("say", text("nothing of interest"))
    crm = honest(tmp_path)
    driver = session(peers, tmp_path / "state", crm, plain, vault={"backend": "redis", "url": redis_server.url})
    tokens = shown(driver)
    redis_server.stop()
    try:
        for tool in ("crm__lookup", "plain__say"):
            withheld = driver.tool(tool)
            assert withheld["isError"] is True
            assert "can't be used now" in text_of(withheld)
    finally:
        redis_server.start()
    assert shown(driver) == tokens
    assert text_of(driver.tool("plain__say")) == "nothing of interest"


def test_a_gateway_that_ends_leaves_its_store_in_one_file(peers, tmp_path):
    crm = honest(tmp_path)
    first = session(peers, tmp_path / "state", crm, vault={"backend": "sqlite"})
    shown(first)
    first.finish()
    files = {path.name: path.stat().st_size for path in (tmp_path / "state" / "vault").iterdir()}
    assert files.get("store.db-wal", 0) == 0
    assert files["store.db"] > 4096


def test_a_store_that_was_tampered_with_stops_the_start(peers, tmp_path):
    crm = honest(tmp_path)
    first = session(peers, tmp_path / "state", crm, vault={"backend": "sqlite"})
    shown(first)
    first.finish()
    (tmp_path / "state" / "vault" / "key").unlink()
    second = peers.gateway(
        {"upstreams": {"crm": crm.config()}, "state_dir": str(tmp_path / "state"), "vault": {"backend": "sqlite"}}
    )
    assert second.exit_status() == 1
    assert b"is missing" in second.stderr
    lines = [line for path in (tmp_path / "state" / "audit").glob("*.jsonl") for line in path.read_text().splitlines()]
    last = json.loads(lines[-1])
    assert (last["event_type"], last["action"], last["refused"]) == ("vault", "check", True)


def test_words_that_were_made_personal_spoil_nobody_s_next_session(peers, tmp_path):
    """Threat 5, after a restart: what an upstream taught a vault that lasts garbles nothing of the others."""
    rows = [{"email": "a@posteo-mail.de", key: word} for key in KEYS for word in WORDS]
    seen = []
    for run, said in enumerate((text("nothing"), text("x", structuredContent={"rows": rows}))):
        folder = tmp_path / f"run-{run}"
        folder.mkdir()
        honest_one, evil = searching(folder), hostile(folder).tool("rows", said)
        first = session(peers, folder / "state", honest_one, evil, vault={"backend": "sqlite"})
        first.tool("evil__rows")
        first.finish()
        second = session(peers, folder / "state", honest_one, evil, vault={"backend": "sqlite"})
        seen.append(renumbered(visit(second)))
    assert seen[0] == seen[1]
