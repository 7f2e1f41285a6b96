"""The audit of a session: bursts, failures, checkpoints, its end."""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from cloakllm_gateway.audit.notes import read_notes
from cloakllm_gateway.audit.verify import Status, verify
from cloakllm_gateway.core.events import Record
from cloakllm_gateway.errors import AuditError
from cloakllm_gateway.shell.audit.files import Lock
from cloakllm_gateway.shell.audit.log import Log
from cloakllm_gateway.shell.audit.reading import entries, gather
from cloakllm_gateway.shell.audit.recorder import Audit
from cloakllm_gateway.shell.config import AnchorConfig, AuditConfig, CheckpointsConfig, Fsync, OnAuditError
from cloakllm_gateway.shell.logging import Logger
from tests.audit.logs import accepted, sanitized
from tests.patience import PATIENCE

OPENING = {
    "versions": {"gateway": "1"}, "upstreams": ["crm"], "sanitize": True, "detecting": ["EMAIL"], "names": False,
    "proved": True,
}  # fmt: skip


def notification(**changes: Any) -> Record:
    return Record("sanitize", sanitized(**{"method": "notifications/message", **changes}))


def session(directory: Path, work: Callable[[Audit], Awaitable[None]], **config: Any) -> None:
    """A session that does ``work``, from its first to its last entry."""

    async def run() -> None:
        logger = Logger("warning")
        audit = Audit(AuditConfig(**config), directory, logger)
        await audit.open(OPENING, b'{"deny_list":["Nightingale"]}')
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(audit.run)
            await work(audit)
            await audit.close()
            tasks.cancel_scope.cancel()
        logger.close()

    anyio.run(run)


def events(directory: Path, *without: str) -> list[str]:
    return [e["event_type"] for e in entries(directory) if e["event_type"] not in without]


async def nothing(_audit: Audit) -> None:
    pass


def test_a_session_has_a_first_and_a_last_entry_and_a_checkpoint_over_both(tmp_path: Path):
    session(tmp_path, nothing)
    assert events(tmp_path) == ["session_open", "checkpoint", "session_close"]
    (note,) = read_notes((tmp_path / "checkpoints.txt").read_bytes())
    assert note.checkpoint.size == 3
    assert verify(gather(tmp_path)).status is Status.SELF_CONSISTENT and accepted(tmp_path)


def test_whatever_a_session_makes_is_its_owners_alone(tmp_path: Path):
    session(tmp_path / "state" / "audit", nothing)
    for path in (tmp_path / "state" / "audit", *(tmp_path / "state" / "audit").rglob("*")):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path


def test_a_directory_that_others_can_write_to_is_said_to_be_one(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    for mode, said in ((0o755, False), (0o777, True)):
        tmp_path.chmod(mode)
        session(tmp_path, nothing)
        assert ("audit_directory_open_to_others" in capfd.readouterr().err) is said


def test_an_upstream_that_still_runs_stops_with_the_session(tmp_path: Path):
    async def work(audit: Audit) -> None:
        await audit.record([Record("upstream_start", {"upstream": n, "protocol": "1"}) for n in ("crm", "web")])
        await audit.record([Record("upstream_crash", {"upstream": "web", "reason": "exited", "final": True})])

    session(tmp_path, work)
    stopped = [entry["upstream"] for entry in entries(tmp_path) if entry["event_type"] == "upstream_stop"]
    assert stopped == ["crm"]


def test_the_configuration_is_comparable_under_the_logs_own_key_alone(tmp_path: Path):
    for directory in (tmp_path / "a", tmp_path / "a", tmp_path / "b"):
        session(directory, nothing)
    first, second = [e["config"] for e in entries(tmp_path / "a") if e["event_type"] == "session_open"]
    (other,) = [e["config"] for e in entries(tmp_path / "b") if e["event_type"] == "session_open"]
    assert first == second != other


def test_notifications_that_hold_nothing_are_no_entries(tmp_path: Path):
    async def work(audit: Audit) -> None:
        for _ in range(100):
            await audit.record([notification(categories={}, entity_count=0)])

    session(tmp_path, work)
    assert "sanitize" not in events(tmp_path)


def test_a_flood_of_notifications_is_one_entry_before_and_one_behind(tmp_path: Path):
    async def work(audit: Audit) -> None:
        for n in range(1000):
            await audit.record([notification(categories={"PHONE" if n == 500 else "EMAIL": 1})])

    session(tmp_path, work)
    found = [e for e in entries(tmp_path) if e["event_type"] == "sanitize"]
    assert [(e["messages"], e["categories"]) for e in found] == [
        (1, {"EMAIL": 1}),
        (1, {"PHONE": 1}),
        (998, {"EMAIL": 998}),
    ]
    assert found[-1]["entity_count"] == 998


def test_a_flood_of_notifications_that_are_withheld_is_two_entries_as_well(tmp_path: Path):
    withheld = {
        "upstream": "crm", "method": "notifications/message", "direction": "to_model", "reason": "gone", "messages": 1,
    }  # fmt: skip

    async def work(audit: Audit) -> None:
        for _ in range(500):
            await audit.record([Record("withheld", withheld)])

    session(tmp_path, work)
    assert [e["messages"] for e in entries(tmp_path) if e["event_type"] == "withheld"] == [1, 499]


def test_a_flood_that_nobody_looks_at_is_two_entries_as_well(tmp_path: Path):
    passed = {"upstream": "crm", "method": "notifications/message", "direction": "to_model", "messages": 1}

    async def work(audit: Audit) -> None:
        for _ in range(500):
            await audit.record([Record("passed", passed)])
        await audit.record([Record("passed", {**passed, "method": "tools/call"})])

    session(tmp_path, work)
    assert [e["messages"] for e in entries(tmp_path) if e["event_type"] == "passed"] == [1, 1, 499]


def test_a_session_in_which_nothing_happens_shows_signs_of_life(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("cloakllm_gateway.shell.audit.recorder.HEARTBEAT", 0.5)

    async def work(audit: Audit) -> None:
        with anyio.fail_after(PATIENCE):
            while events(tmp_path).count("heartbeat") < 2:
                await anyio.sleep(0.1)

    session(tmp_path, work)


def test_the_answers_to_requests_are_an_entry_each(tmp_path: Path):
    async def work(audit: Audit) -> None:
        for _ in range(5):
            await audit.record([Record("sanitize", sanitized(categories={}, entity_count=0))])

    session(tmp_path, work)
    assert events(tmp_path).count("sanitize") == 5


@pytest.mark.parametrize("fsync", list(Fsync))
def test_each_way_to_sync_writes_the_same(tmp_path: Path, fsync: Fsync):
    async def work(audit: Audit) -> None:
        await audit.record([Record("sanitize", sanitized())])

    session(tmp_path, work, fsync=fsync)
    assert events(tmp_path) == ["session_open", "sanitize", "checkpoint", "session_close"]


def blocked(directory: Path) -> None:
    """Nothing can be written into ``directory`` any more, whoever we are."""
    directory.rename(directory.with_name("gone"))
    directory.write_text("")


def free(directory: Path) -> None:
    directory.unlink()
    directory.with_name("gone").rename(directory)


def test_what_can_not_be_written_is_withheld_and_told_of_later(tmp_path: Path):
    directory = tmp_path / "audit"

    async def work(audit: Audit) -> None:
        await audit.record([Record("sanitize", sanitized())])
        for path in directory.glob("*.jsonl"):
            path.unlink()
        blocked(directory)
        for _ in range(3):
            with pytest.raises(AuditError):
                await audit.record([Record("sanitize", sanitized())])
        free(directory)
        await audit.record([Record("sanitize", sanitized())])

    session(directory, work)
    lost = [(e["reason"], e["lost"]) for e in entries(directory) if e["event_type"] == "log_recovered"]
    assert ("unwritable", 3) in lost


def test_a_lock_that_was_waited_for_in_vain_is_not_waited_for_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Each message would wait as long as the first, one after the other."""
    monkeypatch.setattr(Log.append, "__defaults__", (0.3,))

    async def work(audit: Audit) -> None:
        await audit.record([Record("sanitize", sanitized())])
        with Lock(tmp_path / "lock").held():
            began = anyio.current_time()
            for _ in range(10):
                with pytest.raises(AuditError, match="locked"):
                    await audit.record([Record("sanitize", sanitized())])
            waited = anyio.current_time() - began
        assert 0.3 <= waited < 0.6
        await audit.record([Record("sanitize", sanitized())])

    session(tmp_path, work)
    lost = [(e["reason"], e["lost"]) for e in entries(tmp_path) if e["event_type"] == "log_recovered"]
    assert lost == [("unwritable", 10)]


def test_a_log_that_fails_at_the_very_end_is_told_of_and_no_bug(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    async def work(audit: Audit) -> None:
        await audit.record([Record("sanitize", sanitized())])
        assert audit._log is not None
        os.close(audit._log._handle)  # as when its disk is gone

    session(tmp_path, work)
    assert "audit_not_synced" in capfd.readouterr().err


def test_with_warn_the_session_goes_on_and_what_is_missing_is_told_of(tmp_path: Path):
    directory = tmp_path / "audit"
    directory.write_text("")

    async def work(audit: Audit) -> None:
        await audit.record([Record("sanitize", sanitized())])
        directory.unlink()
        await audit.record([Record("sanitize", sanitized())])

    session(directory, work, on_error=OnAuditError.WARN)
    first = next(iter(entries(directory)))
    assert (first["event_type"], first["reason"], first["lost"]) == ("log_recovered", "unwritable", 2)


def test_an_entry_that_is_not_as_its_schema_says_is_withheld(tmp_path: Path):
    async def work(audit: Audit) -> None:
        with pytest.raises(AuditError):
            await audit.record([Record("sanitize", sanitized(value="jane@acme.org"))])

    session(tmp_path, work)
    assert "jane" not in "".join(path.read_text() for path in tmp_path.glob("*.jsonl"))


def test_a_session_that_can_not_begin_its_log_does_not_begin(tmp_path: Path):
    (tmp_path / "audit").write_text("")
    with pytest.raises(AuditError, match="can't be written"):
        session(tmp_path / "audit", nothing)


async def signed(directory: Path, at_least: int) -> None:
    """Wait until so many checkpoints lie beside the log."""
    with anyio.fail_after(PATIENCE):
        while (
            not (directory / "checkpoints.txt").exists()
            or len(read_notes((directory / "checkpoints.txt").read_bytes())) < at_least
        ):
            await anyio.sleep(0.05)


def test_checkpoints_come_at_the_start_and_by_count_and_by_time(tmp_path: Path):
    async def work(audit: Audit) -> None:
        audit.answered()
        await signed(tmp_path, 1)
        for _ in range(5):
            await audit.record([Record("sanitize", sanitized())])
        await signed(tmp_path, 2)
        await audit.record([Record("sanitize", sanitized())])
        await signed(tmp_path, 3)

    session(tmp_path, work, checkpoint_every=CheckpointsConfig(entries=5, seconds=2.0))
    triggers = [e["trigger"] for e in entries(tmp_path) if e["event_type"] == "checkpoint"]
    assert triggers == ["start", "count", "time", "close"]


def test_nothing_is_signed_before_the_client_has_an_answer(tmp_path: Path):
    async def work(audit: Audit) -> None:
        await audit.record([Record("sanitize", sanitized())])
        await anyio.sleep(1.5)
        assert not (tmp_path / "checkpoints.txt").exists()

    session(tmp_path, work)


def test_each_checkpoint_is_copied_to_the_anchors_file(tmp_path: Path):
    anchor = tmp_path / "anchor.txt"
    session(tmp_path / "audit", nothing, anchor=AnchorConfig(file=str(anchor)))
    session(tmp_path / "audit", nothing, anchor=AnchorConfig(file=str(anchor)))
    assert anchor.read_bytes() == (tmp_path / "audit" / "checkpoints.txt").read_bytes()
    (tmp_path / "log.pub").write_bytes((tmp_path / "audit" / "log.pub").read_bytes())
    assert verify(gather(tmp_path / "audit", tmp_path / "log.pub", anchor)).status is Status.VERIFIED


def test_an_anchor_beside_the_log_is_said_to_be_none(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    """Whoever can change the log can change it as well."""
    session(tmp_path, nothing, anchor=AnchorConfig(file=str(tmp_path / "anchor.txt")))
    assert "audit_anchor_beside_the_log" in capfd.readouterr().err
    anchor = tmp_path / "anchor.txt"
    assert verify(gather(tmp_path, tmp_path / "log.pub", anchor)).status is Status.SELF_CONSISTENT


def test_each_checkpoint_is_given_to_the_anchors_command(tmp_path: Path):
    copy = "import sys; open(sys.argv[1], 'ab').write(sys.stdin.buffer.read())"
    anchor = tmp_path / "anchor.txt"
    session(tmp_path / "audit", nothing, anchor=AnchorConfig(command=(sys.executable, "-c", copy, str(anchor))))
    assert anchor.read_bytes() == (tmp_path / "audit" / "checkpoints.txt").read_bytes()


def test_a_checkpoint_that_is_being_made_when_the_session_ends_is_finished_first(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    slowly = "import sys, time; time.sleep(0.5); open(sys.argv[1], 'ab').write(sys.stdin.buffer.read())"
    anchor = tmp_path / "anchor.txt"

    async def work(audit: Audit) -> None:
        audit.answered()
        await signed(tmp_path / "audit", 1)

    command = AnchorConfig(command=(sys.executable, "-c", slowly, str(anchor)))
    session(tmp_path / "audit", work, anchor=command)
    assert anchor.read_bytes() == (tmp_path / "audit" / "checkpoints.txt").read_bytes()
    assert "audit_not" not in capfd.readouterr().err


def test_an_anchor_that_fails_holds_nobody_up(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")  # that nobody reads
    files = [AnchorConfig(file=str(tmp_path / "no" / "dir")), AnchorConfig(file=str(tmp_path / "pipe"))]
    for anchor in (*files, AnchorConfig(command=("false",))):
        session(tmp_path / "audit", nothing, anchor=anchor)
    assert accepted(tmp_path / "audit")


def test_two_sessions_at_once_share_a_directory_and_a_key(tmp_path: Path):
    async def work(audit: Audit) -> None:
        other = Audit(AuditConfig(), tmp_path, Logger("error"))
        await other.open(OPENING, b"{}")
        for _ in range(50):
            await audit.record([Record("sanitize", sanitized("a"))])
            await other.record([Record("sanitize", sanitized("b"))])
        await other.close()

    session(tmp_path, work)
    assert len({e["session"] for e in entries(tmp_path)}) == 2
    assert verify(gather(tmp_path)).status is Status.SELF_CONSISTENT
    assert len((tmp_path / "log.pub").read_text().splitlines()) == 1
    assert sorted(path.name for path in tmp_path.glob("private/*")) == ["digest.key", "signing.key"]
