"""Old days go; what is left is verified from a signed checkpoint, and against anchors made before."""

from __future__ import annotations

import shutil
from datetime import date
from pathlib import Path

import pytest

from cloakllm_gateway.audit.verify import Status, verify
from cloakllm_gateway.errors import AuditError
from cloakllm_gateway.shell.audit import retention
from cloakllm_gateway.shell.audit.files import BASE, CHECKPOINTS, PUBLIC_KEYS
from cloakllm_gateway.shell.audit.reading import gather
from tests.audit.logs import Clock, accepted, body, checkpoint, days, writer

LATER = date(2026, 5, 12)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return days(tmp_path / "log", entries=50, days=10)


def names(log: Path) -> list[str]:
    return sorted(path.name for path in log.glob("*.jsonl"))


def test_whole_days_go_and_the_rest_is_verified_with_an_anchor_made_before(log: Path, tmp_path: Path):
    outside = shutil.copytree(log, tmp_path / "elsewhere")
    assert retention.prune(log, 5, LATER) == 6
    assert names(log) == [f"audit_2026-05-{day:02}.jsonl" for day in range(7, 11)]
    verdict = verify(gather(log, outside / PUBLIC_KEYS, outside / CHECKPOINTS))
    assert (verdict.status, verdict.first, verdict.entries, verdict.anchored) == (Status.VERIFIED, 30, 20, 50)
    assert not accepted(log)  # theirs knows no log that does not begin at its beginning


def test_an_anchor_of_days_that_are_gone_says_nothing_of_those_that_are_left(log: Path, tmp_path: Path):
    outside = tmp_path / "anchor.txt"
    outside.write_bytes(b"\n\n".join((log / CHECKPOINTS).read_bytes().split(b"\n\n")[:4]) + b"\n")
    key = Path(shutil.copy(log / PUBLIC_KEYS, tmp_path / "log.pub"))
    assert verify(gather(log, key, outside)).status is Status.VERIFIED
    retention.prune(log, 5, LATER)
    assert verify(gather(log, key, outside)).status is Status.SELF_CONSISTENT


def test_a_pruned_log_goes_on_and_is_pruned_again(log: Path):
    retention.prune(log, 5, LATER)
    writer(log, Clock()).append([body()])
    checkpoint(log)
    assert retention.prune(log, 2, LATER) == 3
    verdict = verify(gather(log))
    assert (verdict.status, verdict.first, verdict.entries) == (Status.SELF_CONSISTENT, 45, 6)


def test_nothing_old_means_nothing_happens(log: Path):
    assert retention.prune(log, 190, LATER) == 0
    assert len(names(log)) == 10 and not (log / BASE).exists()


def test_an_empty_file_is_not_the_newest(log: Path):
    (log / "audit_2029-12-31.jsonl").write_bytes(b"")
    assert retention.prune(log, 1, date(2030, 1, 1)) == 9
    writer(log, Clock()).append([body()])
    assert verify(gather(log)).status is Status.SELF_CONSISTENT


def test_a_file_that_was_renamed_into_the_past_is_evidence_and_stays(log: Path):
    sorted(log.glob("*.jsonl"))[0].rename(log / "audit_1999-01-01.jsonl")
    with pytest.raises(AuditError, match="tampered"):
        retention.prune(log, 190, LATER)
    assert len(names(log)) == 10


def test_the_newest_file_stays_however_old_it_is(log: Path):
    assert retention.prune(log, 1, date(2030, 1, 1)) == 9
    assert verify(gather(log)).status is Status.SELF_CONSISTENT


def test_a_gateway_killed_while_it_removes_files_leaves_them_to_the_next_one(log: Path, tmp_path: Path):
    before = shutil.copytree(log, tmp_path / "before")
    retention.prune(log, 5, LATER)
    for path in sorted(before.glob("*.jsonl"))[3:6]:
        shutil.copy(path, log / path.name)
    verdict = verify(gather(log))
    assert (verdict.status, verdict.first, verdict.entries) == (Status.SELF_CONSISTENT, 30, 20)
    assert retention.prune(log, 5, LATER) == 3
    assert verify(gather(log)).status is Status.SELF_CONSISTENT


def test_nothing_else_can_be_put_under_the_base(log: Path, tmp_path: Path):
    """Neither a part of what went, nor something that follows as well."""
    before = shutil.copytree(log, tmp_path / "before")
    retention.prune(log, 5, LATER)
    old = sorted(before.glob("*.jsonl"))[:6]
    for path in old[3:5]:
        shutil.copy(path, log / path.name)
    assert [problem.kind for problem in verify(gather(log)).problems] == ["missing"]
    forged = writer(tmp_path / "forged", Clock())
    forged.append([body(upstream="mailer") for _ in range(30)])
    for path in old[3:5]:
        (log / path.name).unlink()
    shutil.copy(tmp_path / "forged" / old[0].name, log)
    assert [problem.kind for problem in verify(gather(log)).problems] == ["rewritten", "link"]


def test_days_that_were_tampered_with_are_evidence_and_stay(log: Path):
    path = sorted(log.glob("*.jsonl"))[2]
    path.write_bytes(path.read_bytes().replace(b'"EMAIL":1', b'"EMAIL":2', 1))
    with pytest.raises(AuditError, match="tampered"):
        retention.prune(log, 5, LATER)
    assert len(names(log)) == 10


@pytest.mark.parametrize("name", [CHECKPOINTS, BASE])
@pytest.mark.parametrize("damage", [b"junk", b"a\n1\nAAAA\n\nb\n", b"\xff"])
def test_damaged_checkpoints_are_said_and_nothing_goes(log: Path, name: str, damage: bytes):
    (log / name).write_bytes(damage)
    before = {path: path.read_bytes() for path in log.iterdir() if path.is_file()}
    with pytest.raises(AuditError, match="damaged"):
        retention.prune(log, 5, LATER)
    assert {path: path.read_bytes() for path in log.iterdir() if path.is_file()} == before


def test_a_base_without_its_tree_is_damaged(log: Path):
    retention.prune(log, 5, LATER)
    lines = (log / BASE).read_bytes().split(b"\n")
    (log / BASE).write_bytes(b"\n".join(line for line in lines if not line.startswith(b"peak ")))
    with pytest.raises(AuditError, match="damaged"):
        retention.prune(log, 2, LATER)


def test_a_pruned_log_without_its_base_is_one_whose_beginning_was_taken_away(log: Path):
    retention.prune(log, 5, LATER)
    (log / BASE).unlink()
    assert "beginning" in [problem.kind for problem in verify(gather(log)).problems]


def test_a_base_that_was_changed_is_found(log: Path):
    retention.prune(log, 5, LATER)
    base = log / BASE
    base.write_bytes(base.read_bytes().replace(b"pruned ", b"pruned 0", 1))
    kinds = [problem.kind for problem in verify(gather(log)).problems]
    assert "checkpoint" in kinds


def test_more_days_cut_off_behind_the_base_are_found(log: Path):
    retention.prune(log, 5, LATER)
    sorted(log.glob("*.jsonl"))[0].unlink()
    assert "missing" in [problem.kind for problem in verify(gather(log)).problems]
