"""What waits behind a large message of an upstream, while that upstream misbehaves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.hostile.scene import honest, hostile, meet, shown
from tests.peers.driver import Processes
from tests.peers.upstream import text

LARGE: dict[str, Any] = {
    "notify": "notifications/message",
    "params": {
        "level": "info",
        "data": [{"last_name": f"Okon{n}kwo", "email": f"u{n}@posteo-mail.de"} for n in range(4000)],
    },
}
ASK: dict[str, Any] = {
    "ask": "elicitation/create",
    "params": {"message": "may I?", "requestedSchema": {"type": "object", "properties": {}}},
}
SMALL = [{"notify": "notifications/message", "params": {"level": "info", "data": f"number {n}"}} for n in range(2000)]
CHANGED = [{"notify": f"notifications/{kind}/list_changed", "params": {}} for kind in ("tools", "prompts", "resources")]


#: Seconds in which an upstream that died is started again.
AGAIN = 30.0


@pytest.mark.parametrize(
    "behind",
    [[{"crash": 1}], [*SMALL, {"crash": 1}], [*CHANGED, {"crash": 1}], [*SMALL, *CHANGED]],
    ids=["dies", "talks and dies", "changes and dies", "talks and changes"],
)
def test_an_upstream_that_dies_or_talks_behind_its_large_message_is_there_again(
    peers: Processes, tmp_path: Path, behind: list[dict[str, Any]]
) -> None:
    """Nobody else waits, and its next calls are answered: its lane is free once the large message has left."""
    actions = [LARGE, *behind, *text("done")]
    evil = hostile(tmp_path).tool("flood", actions)
    driver = meet(peers, honest(tmp_path), evil)
    shown(driver)
    flood = driver.ask("tools/call", {"name": "evil__flood", "arguments": {}})
    driver.tool("crm__save", a="x")
    driver.answer(flood)
    driver.wait(lambda m: m.get("method") == "notifications/message", timeout=60)
    driver.result("tools/call", {"name": "crm__save", "arguments": {"a": "y"}}, timeout=30)
    deadline, result = driver.clock() + AGAIN, {"isError": True}
    while result.get("isError") and driver.clock() < deadline:
        result = driver.result("tools/call", {"name": "evil__sync", "arguments": {"a": "z"}}, timeout=AGAIN)
    assert not result.get("isError"), result
