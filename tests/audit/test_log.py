"""Writing: several writers, torn ends, days, disks that are full."""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloakllm_gateway.audit.verify import Status, verify
from cloakllm_gateway.errors import AuditError
from cloakllm_gateway.shell.audit.checkpoints import grow, sign
from cloakllm_gateway.shell.audit.files import Busy, Lock
from cloakllm_gateway.shell.audit.reading import entries, gather
from tests.audit.logs import BEGIN, Clock, accepted, body, checkpoint, theirs, writer
from tests.effort import examples

ROOT = Path(__file__).parents[2]


def judged(directory: Path) -> tuple[Status, int]:
    verdict = verify(gather(directory))
    assert verdict.problems == []
    return verdict.status, verdict.entries


def events(directory: Path) -> list[str]:
    return [entry["event_type"] for entry in entries(directory)]


def start(directory: Path, count: int, session: int, *more: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.audit.appending", str(directory), str(count), str(session), *more]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)


# -- one writer ----------------------------------------------------------------------------------------


def test_a_log_is_private_and_both_verifiers_accept_it(tmp_path: Path):
    directory = tmp_path / "state" / "audit"
    log = writer(directory)
    log.append([body(), body()])
    log.append([body()])
    checkpoint(directory)
    assert judged(directory) == (Status.SELF_CONSISTENT, 3)
    assert accepted(directory)
    assert directory.stat().st_mode & 0o777 == 0o700
    for path in directory.rglob("*"):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path


def test_a_day_has_a_file_and_the_chain_goes_through(tmp_path: Path):
    clock = Clock()
    log = writer(tmp_path, clock)
    for _ in range(4):
        log.append([body()])
        clock.advance(hours=9)
    assert [path.name for path in sorted(tmp_path.glob("*.jsonl"))] == [
        "audit_2026-05-01.jsonl",
        "audit_2026-05-02.jsonl",
    ]
    assert judged(tmp_path) == (Status.SELF_CONSISTENT, 4)
    assert accepted(tmp_path)


def test_a_clock_that_goes_back_does_not_put_entries_before_others(tmp_path: Path):
    clock = Clock()
    log = writer(tmp_path, clock)
    log.append([body()])
    clock.advance(days=-3)
    log.append([body()])
    writer(tmp_path, clock, session=2).append([body()])
    assert len(list(tmp_path.glob("*.jsonl"))) == 1
    assert judged(tmp_path) == (Status.SELF_CONSISTENT, 3)


def test_a_new_session_goes_on_where_the_last_one_ended(tmp_path: Path):
    for session in range(3):
        log = writer(tmp_path, session=session)
        log.append([body()])
        log.close()
    assert [entry["seq"] for entry in entries(tmp_path)] == [0, 1, 2]


def test_a_closed_log_writes_nothing(tmp_path: Path):
    log = writer(tmp_path)
    log.append([body()])
    log.close()
    with pytest.raises(AuditError, match="ended"):
        log.append([body()])


# -- ends that were torn -------------------------------------------------------------------------------


def test_a_writer_killed_at_any_byte_of_an_append_costs_that_entry_alone(tmp_path: Path):
    """Every byte of the first entry, its end, and the end of the second one, of a write of two."""
    whole = tmp_path / "whole"
    log = writer(whole)
    log.append([body()])
    (path,) = whole.glob("*.jsonl")
    before = path.stat().st_size
    log.append([body(upstream="mailer"), body(upstream="web")])
    data = path.read_bytes()
    first = data.index(b"\n", before) + 1
    for end in [*range(before, first + 9), *range(len(data) - 9, len(data) + 1)]:
        torn = tmp_path / "torn"
        shutil.copytree(whole, torn)
        (torn / path.name).write_bytes(data[:end])
        writer(torn, session=2).append([body(upstream="next")])
        found = [entry.get("upstream", entry.get("reason")) for entry in entries(torn)]
        kept = ["crm", *(["mailer"] if end >= first else []), *(["web"] if end == len(data) else [])]
        is_torn = end not in (before, first, len(data))
        assert found == [*kept, *(["torn"] if is_torn else []), "next"], end
        judged(torn)
        assert accepted(torn)
        aside = b"".join(piece.read_bytes() for piece in torn.glob("torn/*"))
        assert aside == data[(first if end >= first else before) : end] * is_torn
        shutil.rmtree(torn)


@pytest.mark.parametrize("junk", [b"\0" * 5000, b"{}\n", b'{"seq":7}\n[]\nhalf', b"\n\n", "\u00e9".encode() * 70_000])
def test_whatever_stands_behind_the_last_entry_is_set_aside(tmp_path: Path, junk: bytes):
    writer(tmp_path).append([body()])
    (path,) = tmp_path.glob("*.jsonl")
    with path.open("ab") as file:
        file.write(junk)
    writer(tmp_path).append([body()])
    assert events(tmp_path) == ["sanitize", "log_recovered", "sanitize"]
    assert judged(tmp_path)[1] == 3
    assert b"".join(piece.read_bytes() for piece in tmp_path.glob("torn/*")) == junk


def test_a_new_file_without_an_entry_is_gone_on_with(tmp_path: Path):
    writer(tmp_path).append([body()])
    (tmp_path / "audit_2026-05-02.jsonl").write_bytes(b'{"half')
    writer(tmp_path).append([body()])
    assert events(tmp_path) == ["sanitize", "log_recovered", "sanitize"]
    assert judged(tmp_path)[1] == 3 and accepted(tmp_path)


def test_a_log_that_is_cut_while_it_is_written_says_so_in_its_next_entry(tmp_path: Path):
    log = writer(tmp_path)
    log.append([body(), body()])
    checkpoint(tmp_path)
    (path,) = tmp_path.glob("*.jsonl")
    os.truncate(path, path.read_bytes().index(b"\n") + 1)
    log.append([body()])
    found = list(entries(tmp_path))
    assert [(e["event_type"], e.get("reason"), e.get("lost")) for e in found[1:2]] == [("log_recovered", "cut", 1)]
    assert [problem.kind for problem in verify(gather(tmp_path)).problems] == ["rewritten"]


def test_a_log_that_is_taken_away_begins_again_and_says_so(tmp_path: Path):
    log = writer(tmp_path)
    log.append([body()])
    (path,) = tmp_path.glob("*.jsonl")
    path.unlink()
    log.append([body()])
    assert events(tmp_path) == ["log_recovered", "sanitize"]


def test_a_log_that_is_moved_away_takes_no_more_entries(tmp_path: Path):
    """As a tool that rotates logs would do it: the entries would go where nobody looks for them."""
    log = writer(tmp_path)
    log.append([body()])
    (path,) = tmp_path.glob("*.jsonl")
    path.rename(tmp_path / "aside")
    log.append([body()])
    assert events(tmp_path) == ["log_recovered", "sanitize"]
    assert len((tmp_path / "aside").read_bytes().splitlines()) == 1


@pytest.mark.parametrize("kind", ["link", "pipe", "directory"])
@pytest.mark.parametrize("is_open", [True, False], ids=["in the middle", "at the beginning"])
def test_what_is_no_file_takes_no_entries(tmp_path: Path, kind: str, is_open: bool):
    """A link would lead the entries (and what is cut off a torn end) to any file of the user, a pipe to nowhere."""
    directory, precious = tmp_path / "log", tmp_path / "precious"
    precious.write_text("not an entry\n")
    log = writer(directory)
    if is_open:
        log.append([body()])
    path = directory / "audit_2026-05-01.jsonl"
    path.unlink(missing_ok=True)
    match kind:
        case "link":
            path.symlink_to(precious)
        case "pipe":
            os.mkfifo(path)
        case "directory":
            path.mkdir()
    for _ in range(2):
        with pytest.raises(AuditError, match="can't be written"):
            log.append([body()])
    assert precious.read_text() == "not an entry\n"
    path.rename(directory / "aside")
    log.append([body()])
    assert events(directory)[-1] == "sanitize"


@pytest.mark.parametrize("moved", [True, False], ids=["moved", "deleted"])
def test_a_directory_that_is_taken_away_does_not_fork_the_log_of_those_who_share_it(tmp_path: Path, moved: bool):
    """The one that had it open and the one that makes it anew take the same lock from then on."""
    directory = tmp_path / "log"
    old = writer(directory, session=1)
    old.append([body(), body()])
    if moved:
        directory.rename(tmp_path / "aside")
    else:
        shutil.rmtree(directory)
    new = writer(directory, session=2)
    new.append([body()])
    with Lock(directory / "lock").held(), pytest.raises(Busy):
        old.append([body()], 0)
    for _ in range(3):
        old.append([body()])
        new.append([body()])
    assert judged(directory)[1] == 8
    assert events(directory)[1] == "log_recovered"


def test_a_directory_that_is_taken_away_is_made_anew(tmp_path: Path):
    directory = tmp_path / "log"
    log = writer(directory)
    log.append([body()])
    shutil.rmtree(directory)
    (found,) = log.append([body()])
    assert (found["reason"], found["lost"]) == ("cut", 1)
    assert judged(directory)[1] == 2
    assert directory.stat().st_mode & 0o777 == 0o700


def test_an_empty_file_of_a_day_to_come_takes_no_entries(tmp_path: Path):
    writer(tmp_path).append([body()])
    (tmp_path / "audit_2199-01-01.jsonl").write_bytes(b"")
    writer(tmp_path, session=2).append([body()])
    assert len((tmp_path / "audit_2026-05-01.jsonl").read_bytes().splitlines()) == 2
    assert judged(tmp_path)[1] == 2


def test_two_writers_go_over_midnight_together(tmp_path: Path):
    """Whoever is first begins the file of the day; the other one's clock may still be behind."""
    early, late = Clock(BEGIN.replace(hour=23, minute=59)), Clock(BEGIN.replace(hour=23, minute=59))
    one, two = writer(tmp_path, early, 1), writer(tmp_path, late, 2)
    for _ in range(4):
        one.append([body()])
        two.append([body()])
        early.advance(seconds=40)
    late.advance(minutes=10)
    two.append([body()])
    one.append([body()])
    assert len(list(tmp_path.glob("*.jsonl"))) == 2
    assert judged(tmp_path)[1] == 10
    assert accepted(tmp_path)


def test_who_waits_for_another_thread_waits_no_longer_than_it_says(tmp_path: Path):
    log = writer(tmp_path)
    other = Lock(tmp_path / "lock")
    waiting = threading.Thread(target=log.append, args=([body()],))
    with other.held():
        waiting.start()
        while not log._mutex.locked():
            pass
        with pytest.raises(Busy):
            log.append([body()], 0)
    waiting.join()
    assert judged(tmp_path)[1] == 1


def test_what_does_not_follow_is_not_signed(tmp_path: Path):
    writer(tmp_path).append([body(), body(), body()])
    (path,) = tmp_path.glob("*.jsonl")
    path.write_bytes(path.read_bytes().replace(b'"EMAIL":1', b'"EMAIL":2', 1))
    with pytest.raises(AuditError, match="tampered"):
        checkpoint(tmp_path)


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(1, 3), st.booleans()), min_size=1, max_size=12))
@settings(max_examples=examples(60))
def test_what_a_session_wrote_itself_is_signed_as_what_others_wrote(steps: list[tuple[int, int, bool]]):
    """Two writers in turns, over days, and a checkpoint now and then by either, or by somebody who wrote nothing."""
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        clock = Clock()
        logs = [writer(directory, clock, session) for session in (1, 2)]
        for who, count, signs in steps:
            logs[who].append([body()] * count)
            if signs:
                sign(directory, lambda _key: None, logs[who].take_written)
                clock.advance(days=1)
        whole, own = grow(directory), grow(directory, [each for log in logs for each in log.take_written()])
        assert (own.file, own.end, own.head, own.tree.peaks) == (whole.file, whole.end, whole.head, whole.tree.peaks)
        checkpoint(directory)
        assert judged(directory) == (Status.SELF_CONSISTENT, sum(count for _, count, _ in steps))
        for log in logs:
            log.close()


@pytest.mark.parametrize(
    ("old", "new"), [(b'"EMAIL":1', b'"EMAIL":2'), (b'"seq":1', b'"seq":2'), (b'_hash":"', b'_hash":"0'), (b"\n", b"")]
)
def test_what_a_session_wrote_and_others_changed_is_not_signed(tmp_path: Path, old: bytes, new: bytes):
    log = writer(tmp_path)
    for _ in range(3):
        log.append([body(), body()])
    (path,) = tmp_path.glob("*.jsonl")
    path.write_bytes(path.read_bytes().replace(old, new, 1))
    with pytest.raises(AuditError, match="tampered"):
        sign(tmp_path, lambda _key: None, log.take_written)


def test_a_session_remembers_no_more_than_some_of_what_it_wrote(tmp_path: Path):
    log = writer(tmp_path)
    for _ in range(4):
        log.append([body()] * 4_000)
    assert len(log.take_written()) == 3
    log.append([body()])
    sign(tmp_path, lambda _key: None, log.take_written)
    assert judged(tmp_path) == (Status.SELF_CONSISTENT, 16_001)


# -- disks and locks -----------------------------------------------------------------------------------


def test_a_write_that_the_disk_takes_only_a_part_of_leaves_nothing(tmp_path: Path):
    log = writer(tmp_path)
    log.append([body()])
    (path,) = tmp_path.glob("*.jsonl")
    size = path.stat().st_size
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    previous = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, hard))
    try:
        with pytest.raises(AuditError, match="can't be written"):
            log.append([body()])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, previous)
    assert path.stat().st_size == size
    log.append([body()])
    assert judged(tmp_path)[1] == 2


def test_the_last_of_the_disk_is_kept_for_last_words(tmp_path: Path):
    log = writer(tmp_path, reserve=1 << 62)
    with pytest.raises(AuditError, match="bytes left"):
        log.append([body()])
    log.append([body()], last_words=True)
    assert judged(tmp_path)[1] == 1


def test_a_writer_that_hangs_is_not_waited_for_for_ever(tmp_path: Path):
    log = writer(tmp_path)
    other = Lock(tmp_path / "lock")
    with other.held(), pytest.raises(Busy):
        log.append([body()], 0)
    log.append([body()], 0)


# -- several writers -----------------------------------------------------------------------------------


def of_all(directory: Path) -> Counter[str]:
    return Counter(entry["upstream"] for entry in entries(directory))


def test_ten_thousand_entries_of_two_writers_over_days_are_one_chain(tmp_path: Path):
    clock = Clock()
    first, second = writer(tmp_path, clock, 1), writer(tmp_path, clock, 2)
    for n in range(5_000):
        first.append([body(upstream="first")])
        second.append([body(upstream="second")])
        clock.advance(minutes=1)
        if n % 1000 == 999:
            checkpoint(tmp_path)
    assert of_all(tmp_path) == {"first": 5_000, "second": 5_000}
    assert len(list(tmp_path.glob("*.jsonl"))) == 4
    assert judged(tmp_path) == (Status.SELF_CONSISTENT, 10_000)
    done = theirs(tmp_path)
    assert done.returncode == 0, done.stdout


def test_four_processes_lose_and_fork_nothing(tmp_path: Path):
    processes = [start(tmp_path, 2_500, session) for session in range(4)]
    while any(process.poll() is None for process in processes):
        sign(tmp_path, lambda _key: None)  # while they write
    assert [process.wait() for process in processes] == [0, 0, 0, 0]
    assert of_all(tmp_path) == {f"writer-{session}": 2_500 for session in range(4)}
    checkpoint(tmp_path)
    assert judged(tmp_path) == (Status.SELF_CONSISTENT, 10_000)
    assert accepted(tmp_path)


def killed(directory: Path, rounds: int) -> None:
    """Kill writers at random moments; what they said was written is there."""
    moments = random.Random(0)
    promised = 0
    for session in range(rounds):
        process = start(directory, 0, session, "--loop")
        assert process.stdout
        said = 0
        for _ in range(moments.randrange(1, 60)):
            said = int(process.stdout.readline())
        process.kill()
        rest = process.stdout.read().split()
        process.stdout.close()
        process.wait()
        promised += int(rest[-1]) if rest and rest[-1].isdigit() else said
    writer(directory, Clock(BEGIN.replace(year=2100))).append([body()])
    found = Counter(events(directory))
    assert promised <= found["sanitize"] - 1 <= promised + 2 * rounds
    assert judged(directory)[0] is Status.SELF_CONSISTENT
    assert accepted(directory)


def test_writers_that_are_killed_leave_a_chain(tmp_path: Path):
    killed(tmp_path, 4)


@pytest.mark.slow
def test_two_hundred_writers_that_are_killed_leave_a_chain(tmp_path: Path):
    killed(tmp_path, 200)


def test_no_entry_says_more_than_its_fields(tmp_path: Path):
    """What is written is what was given, and the place in the chain."""
    writer(tmp_path).append([body()])
    (entry,) = entries(tmp_path)
    place = {"seq", "timestamp", "session", "prev_hash", "entry_hash"}
    assert {key: value for key, value in entry.items() if key not in place} == body()
    assert json.dumps(entry).isascii()
