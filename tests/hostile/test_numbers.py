"""A number is given out once, for ever, whatever happens to processes and files (threat 10)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.peers.driver import Driver, NoAnswer, Processes, text_of
from tests.peers.upstream import Upstream, text

ROUNDS = 25


def teller(folder: Path, name: str, first: int) -> Upstream:
    """Tells a few addresses that nobody else tells, and one more at each call of ``next``."""
    upstream = Upstream(name, folder)
    for n in range(ROUNDS):
        upstream.tool(f"tell_{n}", text(" ".join(f"u{first + n}x{k}@posteo-mail.de" for k in range(4))))
    return upstream


def numbers(driver: Driver, name: str, rounds: int = ROUNDS) -> list[int]:
    return [
        int(number)
        for n in range(rounds)
        for number in re.findall(r"\[EMAIL_(\d+)\]", text_of(driver.tool(f"{name}__tell_{n}")))
    ]


def start(peers: Processes, upstream: Upstream, state: Path, **config: object) -> Driver:
    return peers.gateway({"upstreams": {upstream.name: upstream.config()}, **config}, state_dir=state)


def test_eight_gateways_of_one_user_share_no_number(peers: Processes, tmp_path: Path) -> None:
    state = tmp_path / "state"
    tellers = [teller(tmp_path, f"t{n}", 1000 * n) for n in range(8)]
    scopes = ("session", "upstream")
    drivers = [start(peers, t, state, token_scope=scopes[n % 2]) for n, t in enumerate(tellers)]
    for driver in drivers:
        driver.initialize()
    given = [number for driver, t in zip(drivers, tellers, strict=True) for number in numbers(driver, t.name)]
    assert len(given) == 8 * ROUNDS * 4
    assert len(set(given)) == len(given)


def test_a_number_is_not_given_again_after_a_kill(peers: Processes, tmp_path: Path) -> None:
    state, given = tmp_path / "state", []
    for n in range(3):
        upstream = teller(tmp_path, f"t{n}", 1000 * n)
        driver = start(peers, upstream, state)
        driver.initialize()
        given += numbers(driver, upstream.name, 3)
        driver.kill()
    assert len(set(given)) == len(given) == 36


def test_a_number_is_not_given_again_after_an_orderly_end(peers: Processes, tmp_path: Path) -> None:
    state, given = tmp_path / "state", []
    for n in range(3):
        upstream = teller(tmp_path, f"t{n}", 1000 * n)
        driver = start(peers, upstream, state)
        driver.initialize()
        given += numbers(driver, upstream.name, 3)
        assert driver.finish() == 0
    assert len(set(given)) == len(given) == 36


def lower(path: Path) -> None:
    """Every number in the file made smaller, as someone would who wants old tokens back."""
    path.write_bytes(re.sub(rb"\d+", b"0", path.read_bytes()))


def raise_(path: Path) -> None:
    path.write_bytes(re.sub(rb"\d", b"9", path.read_bytes()))


def delete(path: Path) -> None:
    path.unlink()


def empty(path: Path) -> None:
    path.write_bytes(b"")


def flip(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)


DAMAGES = {"deleted": delete, "emptied": empty, "lowered": lower, "raised": raise_, "flipped": flip}


#: Without processes, and so in less time, test_highwater tries these as well.
_OFTEN_TRIED = ("emptied", "raised", "lowered")


@pytest.mark.parametrize(
    "damage", [pytest.param(name, marks=[pytest.mark.slow] * (name in _OFTEN_TRIED)) for name in DAMAGES]
)
def test_damaged_state_is_refused_with_a_reason_and_gives_no_number_twice(
    peers: Processes, tmp_path: Path, damage: str
) -> None:
    """One file after the other is damaged; at least one of them matters so much that the gateway refuses."""
    state = tmp_path / "state"
    first = teller(tmp_path, "first", 0)
    driver = start(peers, first, state)
    driver.initialize()
    used = set(numbers(driver, "first", 3))
    driver.finish()
    kept = {path: path.read_bytes() for path in state.rglob("*") if path.is_file() and path.stat().st_size}
    assert kept
    refused = 0
    for n, victim in enumerate(kept):
        for path, data in kept.items():
            path.write_bytes(data)
        DAMAGES[damage](victim)
        upstream = teller(tmp_path, f"again{n}", 5000 + 1000 * n)
        driver = start(peers, upstream, state)
        try:
            driver.initialize()
            result = driver.tool(f"{upstream.name}__tell_0")
        except NoAnswer:
            explained = driver.stderr.decode()
        else:
            if result.get("isError") is not True:
                assert used.isdisjoint(numbers(driver, upstream.name, 3))
                continue
            explained = text_of(result)
        refused += 1
        assert str(state) in explained and "Traceback" not in driver.stderr.decode()
    assert refused >= 1


def test_state_is_readable_by_its_owner_alone(peers: Processes, tmp_path: Path) -> None:
    state = tmp_path / "state"
    upstream = teller(tmp_path, "t", 0)
    driver = start(peers, upstream, state)
    driver.initialize()
    numbers(driver, "t", 1)
    driver.finish()
    files = [path for path in state.rglob("*") if path.is_file()]
    assert files
    for path in files:
        assert path.stat().st_mode & 0o077 == 0, path.name
        assert b"posteo-mail" not in path.read_bytes()
