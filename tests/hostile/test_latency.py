"""Nobody waits for somebody else's large or odd message."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.hostile.scene import honest, hostile, meet, shown
from tests.peers.driver import Driver, Processes

SIZE = 100_000
PROMPTLY = 0.2  # seconds
KEPT = 5.0  # seconds, of which a list that is kept would take twice as many


def repeated(unit: str) -> str:
    return unit * (SIZE // len(unit))


def nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = {"a": [value]}
    return value


#: Arguments of about 100 KB, of every shape that is expensive for somebody.
SHAPES: dict[str, Any] = {
    "letters": repeated("a"),
    "words": repeated("the quick brown fox "),
    "digits": repeated("4539148800000015 "),
    "one_number": repeated("7"),
    "dashes": repeated("536-22-"),
    "addresses": " ".join(f"u{n}@posteo-mail.de" for n in range(SIZE // 22)),
    "at_signs": repeated("@"),
    "dots": repeated("a."),
    "almost_addresses": repeated("a@b."),
    "tokens": repeated("[EMAIL_0]"),
    "many_tokens": "".join(f"[EMAIL_{n}]" for n in range(SIZE // 12)),
    "almost_tokens": repeated("[EMAIL_"),
    "brackets": repeated("["),
    "closed_brackets": repeated("]["),
    "percent": repeated("%5B"),
    "twice_percent": repeated("%255B"),
    "backslashes": repeated("\\"),
    "escaped_brackets": repeated("\\["),
    "quotes": repeated('"'),
    "json_in_text": "[" + ",".join(f'{{"email":"u{n}@posteo-mail.de"}}' for n in range(SIZE // 40)) + "]",
    "deep_json_in_text": repeated('{"a":'),
    "deep_list_in_text": "[" * (SIZE // 2) + "]" * (SIZE // 2),
    "base64": repeated("QUJDRA=="),
    "hex": repeated("deadbeef"),
    "spaces": repeated(" "),
    "line_feeds": repeated("\n"),
    "zero_width": "\u200b" * (SIZE // 3),
    "wide": "\uff21" * (SIZE // 3),
    "surrogates": "\ud83d" * (SIZE // 6),
    "capitals": repeated("Kim Novak "),
    "urls": repeated("https://a.b/?c=d "),
    "pem": repeated("-----BEGIN PRIVATE KEY-----\n"),
    "many_keys": {f"key{n}": n for n in range(SIZE // 15)},
    "token_keys": {f"[EMAIL_{n}]": 1 for n in range(SIZE // 18)},
    "many_strings": ["x"] * (SIZE // 4),
    "many_numbers": list(range(SIZE // 6)),
    "deep": nested(60),
    "random": "".join(random.Random(7).choices("[]\\%_@.-:/ 0123456789abcEMAIL{}\"'", k=SIZE)),
}


@pytest.fixture(scope="module")
def driver(module_peers: Processes, tmp_path_factory: pytest.TempPathFactory) -> Driver:
    folder = tmp_path_factory.mktemp("scene")
    driver = meet(module_peers, honest(folder), hostile(folder).tool("drop"))
    shown(driver)
    return driver


@pytest.mark.parametrize("shape", SHAPES)
def test_a_large_argument_does_not_delay_a_ping(driver: Driver, shape: str) -> None:
    """The best of three: the machine may have something else to do, the gateway may not."""
    delays = []
    for attempt in range(3):
        call, ping = f"call-{shape}-{attempt}", f"ping-{shape}-{attempt}"
        params = {"name": "evil__drop", "arguments": {"a": SHAPES[shape]}}
        driver.ask("tools/call", params, id=call)
        start = driver.clock()
        driver.ask("ping", id=ping)
        delays.append(driver.wait(lambda m, id=ping: m.get("id") == id).at - start)  # type: ignore[misc]
        driver.answer(call)
        if delays[-1] < PROMPTLY:
            return
    raise AssertionError(f"a ping waited {min(delays):.3f} s")


SHARE = 0.3  # of the time that the large answer takes

#: Answers of about 300 KB that take long to make clean.
ANSWERS: dict[str, Any] = {
    "records": [{"email": f"u{n}@posteo-mail.de", "last_name": f"Okon{n}kwo"} for n in range(5000)],
    "keys": {f"u{n}@posteo-mail.de": n for n in range(10_000)},
    "records_in_text": json.dumps([json.dumps({"email": f"u{n}@posteo-mail.de"}) for n in range(6000)]),
}


@pytest.mark.parametrize("kind", ANSWERS)
def test_an_answer_that_takes_long_to_make_clean_delays_nobody_else(
    peers: Processes, tmp_path: Path, kind: str
) -> None:
    """Were calls to wait for it, one of them would wait for most of its time; the best of three, as above."""
    answer = json.dumps({"content": [], "structuredContent": {"all": ANSWERS[kind]}})
    driver = meet(peers, honest(tmp_path), hostile(tmp_path).tool("dump", [{"raw_result": answer}]))
    shown(driver)
    driver.tool("evil__sync")
    shares = []
    for _ in range(3):
        begun = driver.clock()
        dump = driver.ask("tools/call", {"name": "evil__dump", "arguments": {}})
        waited = []
        while not driver.responses(dump):
            asked = driver.clock()
            driver.tool("crm__save", a="x")
            waited.append(driver.clock() - asked)
        shares.append(max(waited) / (driver.clock() - begun))
        if max(waited) < PROMPTLY or shares[-1] < SHARE:
            return
    raise AssertionError(f"a call waited for {min(shares):.0%} of the time that an answer of another upstream took")


def test_a_slow_upstream_delays_nobody_else(peers: Processes, tmp_path: Path) -> None:
    slow = hostile(tmp_path, "slow").tool("wait", [{"wait": "tools/call", "name": "sync"}, {"result": {"content": []}}])
    driver = meet(peers, honest(tmp_path), slow)
    waiting = driver.ask("tools/call", {"name": "slow__wait", "arguments": {}})
    shown(driver)
    assert driver.responses(waiting) == []
    driver.tool("slow__sync")
    driver.answer(waiting)


@pytest.mark.parametrize("kind", ["tools", "prompts", "resources"])
def test_an_upstream_that_changes_its_lists_and_keeps_them_delays_nobody_else(
    peers: Processes, tmp_path: Path, kind: str
) -> None:
    methods = ["resources/list", "resources/templates/list"] if kind == "resources" else [f"{kind}/list"]
    evil = hostile(tmp_path).prompt("letter").resource("evil://x")
    changes = {"notify": f"notifications/{kind}/list_changed", "params": {}}
    evil.tool("keep", [{"set": {method: [] for method in methods}}, changes, {"result": {"content": []}}])
    crm = honest(tmp_path).prompt("letter").resource("crm://x")
    driver = meet(peers, crm, evil)
    for method in ("tools/list", "prompts/list", "resources/list"):
        driver.result(method)
    driver.tool("evil__keep")
    driver.wait(lambda m: m.get("method") == f"notifications/{kind}/list_changed")
    driver.result("tools/call", {"name": "crm__lookup", "arguments": {}}, timeout=KEPT)
    driver.result("prompts/get", {"name": "crm__letter"}, timeout=KEPT)
    driver.result("resources/read", {"uri": "crm://x"}, timeout=KEPT)
