"""Numbers that are never used twice: restarts, several processes, a kill, damage."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloakllm_gateway.errors import VaultError
from cloakllm_gateway.shell.stores import default_state_dir
from cloakllm_gateway.shell.stores.highwater import LARGEST_BLOCK, LIMIT, HighWater, RandomStart, StoreNumbers
from tests.patience import PATIENCE

posix = pytest.mark.skipif(os.name != "posix", reason="owners and modes are a matter of POSIX systems")


def take(numbers: HighWater | RandomStart, count: int = 1, category: str = "EMAIL") -> list[int]:
    if not numbers.ready({category: count}):
        numbers.reserve({category: count})
    return [numbers.take(category) for _ in range(count)]


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "state"


def used(state: Path) -> Path:
    """A state directory from which numbers were taken."""
    assert take(HighWater(state), 3) == [0, 1, 2]
    return state / "numbers"


# -- in good order ---------------------------------------------------------------------------------


def test_nothing_touches_the_disk_before_the_first_number(state):
    HighWater(state)
    assert not state.exists()
    assert not HighWater(state).ready({"EMAIL": 1})
    assert not state.exists()


def test_the_first_number_is_zero_and_each_category_has_its_own(state):
    numbers = HighWater(state)
    assert take(numbers, 2) == [0, 1]
    assert take(numbers, 1, "PHONE") == [0]
    assert take(numbers, 1) == [2]


def test_blocks_double_from_32_up_to_8192_and_a_large_need_is_one_block(state):
    numbers = HighWater(state)
    ends = []
    for _ in range(12):
        take(numbers, 1)
        ends.append(json.loads((state / "numbers/high-water.json").read_text())["free"]["EMAIL"])
        while numbers.ready({"EMAIL": 1}):
            numbers.take("EMAIL")
    sizes = [end - start for start, end in zip([0, *ends], ends, strict=False)]
    assert sizes == [32, 64, 128, 256, 512, 1024, 2048, 4096, *[LARGEST_BLOCK] * 4]
    assert take(numbers, 50_000) == list(range(ends[-1], ends[-1] + 50_000))


def test_a_restart_begins_behind_what_was_reserved(state):
    assert take(HighWater(state), 3) == [0, 1, 2]
    assert take(HighWater(state), 1) == [32]
    assert take(HighWater(state), 100) == list(range(64, 164))


def test_two_gateways_never_share_a_number(state):
    one, two = HighWater(state), HighWater(state)
    seen = [number for _ in range(100) for numbers in (one, two) for number in take(numbers)]
    assert len(set(seen)) == 200


@posix
def test_only_the_user_can_read_what_is_written(state):
    used(state)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (state, *state.rglob("*"))}
    assert modes == {
        "state": 0o700,
        "numbers": 0o700,
        "numbers.lock": 0o600,
        "key": 0o600,
        "high-water.json": 0o600,
    }


def test_no_number_has_more_than_nine_digits(state):
    with pytest.raises(VaultError, match="no numbers left for tokens of EMAIL"):
        take(HighWater(state), LIMIT + 1)
    with pytest.raises(VaultError, match="no numbers left for tokens of EMAIL"):
        take(RandomStart(), LIMIT)


def test_without_a_state_directory_numbers_start_at_random_from_100_000_up():
    starts = {take(RandomStart(), 2)[0] for _ in range(20)}
    assert len(starts) == 20
    assert all(100_000 <= start < LIMIT for start in starts)
    numbers = RandomStart()
    first, second = take(numbers, 2)
    assert second == first + 1


def test_a_check_changes_nothing(state):
    HighWater(state).check()
    assert not state.exists()
    used(state)
    before = {path: path.read_bytes() for path in state.rglob("*") if path.is_file()}
    HighWater(state).check()
    RandomStart().check()
    assert {path: path.read_bytes() for path in state.rglob("*") if path.is_file()} == before


# -- stores that count for themselves ---------------------------------------------------------------


def test_a_store_alone_has_every_number(state):
    numbers = StoreNumbers(state)
    assert [numbers.next("a", "EMAIL", number) for number in range(200)] == [*range(200)]
    assert StoreNumbers(state).next("a", "EMAIL", 200) == 200


def test_a_new_store_begins_above_what_others_had(state):
    assert take(HighWater(state), 3) == [0, 1, 2]
    assert StoreNumbers(state).next("a", "EMAIL", 0) == 32
    assert StoreNumbers(state).next("b", "EMAIL", 0) == 64
    assert StoreNumbers(state).next("a", "PHONE", 0) == 0
    assert take(HighWater(state), 1) == [96]
    assert StoreNumbers(state).next("a", "EMAIL", 33) == 128


def test_a_store_is_the_same_in_every_process(state):
    assert StoreNumbers(state).next("a", "EMAIL", 0) == 0
    assert StoreNumbers(state).next("a", "EMAIL", 1) == 1  # in another one
    assert StoreNumbers(state).next("a", "EMAIL", 1_000) == 1_000  # many were used on another machine
    assert take(HighWater(state), 1) == [1_032]


def test_a_store_has_no_number_of_more_than_nine_digits(state):
    with pytest.raises(VaultError, match="no numbers left for tokens of EMAIL"):
        StoreNumbers(state).next("a", "EMAIL", LIMIT)


@settings(max_examples=25, deadline=None)  # each session syncs to the disk
@given(st.lists(st.tuples(st.sampled_from(("memory", "a", "b")), st.integers(1, 40)), max_size=12))
def test_no_two_stores_ever_share_a_number(sessions):
    """Each session is a process of its own; a store that lasts knows its next number."""
    with TemporaryDirectory() as folder:
        counters = {"a": 0, "b": 0}
        seen: list[int] = []
        for store, count in sessions:
            if store == "memory":
                seen += take(HighWater(Path(folder)), count)
                continue
            numbers = StoreNumbers(Path(folder))
            for _ in range(count):
                seen.append(numbers.next(store, "EMAIL", counters[store]))
                counters[store] = seen[-1] + 1
        assert len(seen) == len(set(seen))


def test_a_record_of_before_there_were_such_stores_is_read(state):
    import hmac

    numbers = used(state)
    body = {"version": 1, "free": {"EMAIL": 64}}
    canonical = json.dumps(body, sort_keys=True, separators=(",", ":")).encode()
    mac = hmac.new((numbers / "key").read_bytes(), canonical, "sha256").hexdigest()
    (numbers / "high-water.json").write_text(json.dumps({**body, "mac": mac}))
    assert StoreNumbers(state).next("a", "EMAIL", 0) == 64
    assert take(HighWater(state), 1) == [96]


# -- several processes -----------------------------------------------------------------------------

_TAKER = """
import sys
from pathlib import Path
from cloakllm_gateway.shell.stores.highwater import HighWater
numbers = HighWater(Path(sys.argv[1]))
sys.stdin.readline()
for _ in range(int(sys.argv[2])):
    if not numbers.ready({"EMAIL": 1}):
        numbers.reserve({"EMAIL": 1})
    print(numbers.take("EMAIL"), flush=True)
print("done", flush=True)
sys.stdin.readline()
"""


def taker(state: Path, count: int) -> subprocess.Popen[str]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    return subprocess.Popen(
        [sys.executable, "-c", _TAKER, str(state), str(count)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=env,
    )


def test_eight_processes_never_share_a_number(state):
    processes = [taker(state, 100) for _ in range(8)]
    for process in processes:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    seen = [int(line) for p in processes for line in p.communicate("\n", timeout=PATIENCE)[0].split() if line != "done"]
    assert len(seen) == len(set(seen)) == 800


@posix
def test_a_process_killed_between_reserving_and_using_leaves_its_numbers_unused(state):
    process = taker(state, 5)
    assert process.stdin and process.stdout
    process.stdin.write("go\n")
    process.stdin.flush()
    seen = [int(process.stdout.readline()) for _ in range(5)]
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=PATIENCE)
    assert seen == [0, 1, 2, 3, 4]
    assert take(HighWater(state), 2) == [32, 33]


def test_what_a_process_left_behind_half_made_is_cleared_away(state):
    half = state / "numbers.new"
    half.mkdir(parents=True, mode=0o700)
    state.chmod(0o700)
    (half / "key").write_bytes(b"short")
    assert take(HighWater(state), 1) == [0]
    (state / "numbers/high-water.new").write_text("half")
    assert take(HighWater(state), 1) == [32]


def test_a_lock_that_stays_held_is_an_error_and_no_number(state, monkeypatch):
    import filelock

    used(state)
    monkeypatch.setattr("cloakllm_gateway.shell.stores.highwater._LOCK_SECONDS", 0.05)
    with filelock.FileLock(state / "numbers.lock"), pytest.raises(VaultError, match="stayed locked"):
        take(HighWater(state))


# -- damage ----------------------------------------------------------------------------------------


def _edit(numbers: Path, change: Callable[[int], int]) -> None:
    record = json.loads((numbers / "high-water.json").read_text())
    record["free"]["EMAIL"] = change(record["free"]["EMAIL"])
    (numbers / "high-water.json").write_text(json.dumps(record))


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "the file is deleted": (lambda n: (n / "high-water.json").unlink(), "lacks its file 'high-water.json'"),
    "the key is deleted": (lambda n: (n / "key").unlink(), "lacks its file 'key'"),
    "the file is cut": (lambda n: os.truncate(n / "high-water.json", 20), "no gateway with its key wrote"),
    "the file is empty": (lambda n: os.truncate(n / "high-water.json", 0), "no gateway with its key wrote"),
    "a number is lowered": (lambda n: _edit(n, lambda number: number - 1), "no gateway with its key wrote"),
    "a number is raised": (lambda n: _edit(n, lambda number: number + 1000), "no gateway with its key wrote"),
    "a number is removed": (
        lambda n: (n / "high-water.json").write_text('{"free": {}}'),
        "no gateway with its key wrote",
    ),
    "it is nested without end": (
        lambda n: (n / "high-water.json").write_text("[" * 100_000),
        "no gateway with its key wrote",
    ),
    "it is no record": (lambda n: (n / "high-water.json").write_text("[1]"), "no gateway with its key wrote"),
    "the key is another": (lambda n: (n / "key").write_bytes(b"k" * 32), "no gateway with its key wrote"),
    "the key is cut": (lambda n: (n / "key").write_bytes(b"k"), "another key"),
}
MODES: dict[str, tuple[Callable[[Path], object], str]] = {
    "the file is open to others": (lambda n: (n / "high-water.json").chmod(0o644), "open to other users"),
    "the key is open to others": (lambda n: (n / "key").chmod(0o640), "open to other users"),
    "the directory is open to others": (lambda n: n.chmod(0o755), "open to other users"),
    "the state directory is open to others": (lambda n: n.parent.chmod(0o711), "open to other users"),
    "the key is a link": (lambda n: (n / "key").rename(n / "k") and (n / "key").symlink_to(n / "k"), "a link"),
    "the file is a directory": (
        lambda n: ((n / "high-water.json").unlink(), (n / "high-water.json").mkdir()),
        "a link or something else",
    ),
}


@pytest.mark.parametrize("damage", sorted(DAMAGE))
def test_damage_is_refused_and_explained(state, damage):
    inflict, message = DAMAGE[damage]
    inflict(used(state))
    with pytest.raises(VaultError, match=message) as error:
        take(HighWater(state))
    assert error.value.hint
    with pytest.raises(VaultError, match=message):
        HighWater(state).check()


@posix
@pytest.mark.parametrize("damage", sorted(MODES))
def test_what_others_could_have_changed_is_refused(state, damage):
    inflict, message = MODES[damage]
    inflict(used(state))
    with pytest.raises(VaultError, match=message):
        take(HighWater(state))


def test_a_gateway_notices_that_its_numbers_were_put_back_or_removed_while_it_ran(state):
    numbers = HighWater(state)
    take(numbers, 32)
    old = (state / "numbers/high-water.json").read_bytes()
    take(numbers, 64)
    (state / "numbers/high-water.json").write_bytes(old)
    with pytest.raises(VaultError, match="older state"):
        take(numbers)
    (state / "numbers").rename(state / "gone")
    with pytest.raises(VaultError, match="removed while the gateway ran"):
        take(numbers)


def test_a_directory_that_cannot_be_made_is_an_error_that_names_it(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(VaultError, match="can't be kept") as error:
        take(HighWater(tmp_path / "file" / "state"))
    assert "state_dir" in error.value.hint


# -- where -----------------------------------------------------------------------------------------


def test_the_state_directory_follows_the_xdg_specification(tmp_path):
    assert default_state_dir({"XDG_STATE_HOME": str(tmp_path)}) == tmp_path / "cloakllm-gateway"


@pytest.mark.skipif(sys.platform in ("darwin", "win32"), reason="these systems have customs of their own")
def test_a_relative_or_missing_xdg_directory_means_the_default():
    default = Path.home() / ".local/state/cloakllm-gateway"
    assert default_state_dir({}) == default_state_dir({"XDG_STATE_HOME": "state"}) == default
