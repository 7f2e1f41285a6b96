"""The driver and the scripted upstream, talking to each other without a gateway between them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.peers.driver import NoAnswer, Processes, Refusal, processes, text_of
from tests.peers.fixtures import peers
from tests.peers.upstream import ECHO, Upstream, text

__all__ = ["peers"]


def test_a_session_runs_from_the_handshake_to_the_end_of_input(peers: Processes, tmp_path: Path) -> None:
    crm = Upstream("crm", tmp_path).tool("lookup", text("Kim {{who}}")).tool("echo", ECHO)
    driver = peers.direct(crm.config())
    hello = driver.initialize(version="2025-06-18")
    assert hello["protocolVersion"] == "2025-06-18"
    assert [tool["name"] for tool in driver.result("tools/list")["tools"]] == ["lookup", "echo"]
    assert text_of(driver.tool("lookup", who="Novak")) == "Kim Novak"
    assert driver.tool("echo", a=[1])["structuredContent"] == {"arguments": {"a": [1]}}
    assert driver.call("no/such")["error"]["code"] == -32601
    assert driver.finish() == 0
    assert crm.received_bytes() == driver.sent
    assert len(crm.starts()) == 1


def test_an_upstream_asks_notifies_and_waits(peers: Processes, tmp_path: Path) -> None:
    crm = Upstream("crm", tmp_path)
    crm.tool(
        "talk",
        [
            {"notify": "notifications/progress", "params": {"progressToken": "$progress", "progress": 1}},
            {"ask": "roots/list", "id": "r-1"},
            {"wait": "tools/call", "name": "release"},
            {"result": {"content": [], "structuredContent": "$answer"}},
        ],
    )
    crm.tool("release")
    driver = peers.direct(crm.config())
    driver.answers["roots/list"] = lambda request: {"roots": [request["id"]]}
    driver.initialize()
    talk = driver.ask("tools/call", {"name": "talk", "_meta": {"progressToken": "p"}})
    assert driver.notification("notifications/progress")["progressToken"] == "p"
    driver.tool("release")
    assert driver.answer(talk)["result"]["structuredContent"] == {"roots": ["r-1"]}
    driver.answers["roots/list"] = lambda request: Refusal(-1, "no")
    assert driver.tool("talk")["structuredContent"] == {"code": -1, "message": "no"}


def test_noise_crashes_and_silence_are_told_apart(peers: Processes, tmp_path: Path) -> None:
    crm = Upstream("crm", tmp_path).behave(at_start=[{"write": "banner\n\n"}, {"stderr": "words\n"}])
    crm.tool("crash", [{"crash": 3}]).tool("silent", [{"wait": "never"}])
    driver = peers.direct(crm.config())
    driver.initialize()
    driver.wait_stderr(b"words")
    assert driver.noise == [b"banner", b""]
    with pytest.raises(NoAnswer, match=r"in 0\.05 s"):
        driver.answer(driver.ask("tools/call", {"name": "silent"}), timeout=0.05)
    with pytest.raises(NoAnswer, match="status 3"):
        driver.tool("crash")


def test_lists_come_in_pages_and_bytes_come_verbatim(peers: Processes, tmp_path: Path) -> None:
    crm = Upstream("crm", tmp_path)
    crm.pages("tools/list", "tools", {"": [{"name": "a"}], "two": [{"name": "b"}]})
    crm.on("prompts/list", [{"raw_result": '{"prompts":[],"n":1e3}'}])
    driver = peers.direct(crm.config())
    driver.initialize()
    assert driver.result("tools/list")["nextCursor"] == "two"
    assert driver.result("tools/list", {"cursor": "two"}) == {"tools": [{"name": "b"}]}
    driver.result("prompts/list")
    assert b'"result":{"prompts":[],"n":1e3}}\n' in driver.received


def test_a_gateway_in_a_new_state_directory_believes_the_proof_of_an_earlier_one(tmp_path: Path) -> None:
    upstreams = {"upstreams": {"crm": Upstream("crm", tmp_path).config()}}
    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
    with processes(tmp_path / "first") as first:
        first.gateway(upstreams).initialize()
    with processes(tmp_path / "second") as second:
        driver = second.gateway(upstreams)
        proof = tmp_path / "second" / "state-1" / "proved"
        lent = proof.stat()
        driver.initialize()
        found = proof.stat()
        assert (found.st_ino, found.st_mtime_ns) == (lent.st_ino, lent.st_mtime_ns)  # a new proof would be a new file
