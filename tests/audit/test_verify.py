"""What a verdict finds, and what it is worth."""

from __future__ import annotations

import json
import os
import shutil
import threading
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cloakllm_gateway.audit import chain
from cloakllm_gateway.audit.chain import BadLine, Head
from cloakllm_gateway.audit.notes import Checkpoint, read_notes
from cloakllm_gateway.audit.verify import Evidence, LogFile, Status, Verdict, verify
from cloakllm_gateway.shell.audit.checkpoints import grow, keep
from cloakllm_gateway.shell.audit.files import CHECKPOINTS, HEAD, PUBLIC_KEYS
from cloakllm_gateway.shell.audit.keys import Signer
from cloakllm_gateway.shell.audit.reading import gather
from tests.audit.logs import BEGIN, Clock, accepted, checkpoint, days, writer
from tests.audit.logs import body as an_entry


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return days(tmp_path / "log")


@pytest.fixture
def outside(log: Path, tmp_path: Path) -> Path:
    """The key and the checkpoints as somebody keeps them elsewhere."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    for name in (PUBLIC_KEYS, CHECKPOINTS):
        shutil.copy(log / name, folder / name)
    return folder


def judged(log: Path, outside: Path | None = None) -> Verdict:
    if outside is None:
        return verify(gather(log))
    return verify(gather(log, outside / PUBLIC_KEYS, outside / CHECKPOINTS))


def files(log: Path) -> list[Path]:
    return sorted(log.glob("*.jsonl"))


def lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


@given(st.data())
def test_no_log_whatever_it_holds_makes_the_verifier_fail(data: st.DataObject):
    """Entries with any value in any field, in the canonical form or not, with a right hash or not."""
    anything = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=5,
    )
    honest = an_entry() | {"seq": 0, "timestamp": "", "session": "", "prev_hash": "", "entry_hash": ""}
    found = []
    for _ in range(data.draw(st.integers(0, 3))):
        changes = data.draw(st.dictionaries(st.sampled_from(sorted(honest)) | st.text(), anything, max_size=4))
        text = json.dumps({**honest, **changes}, sort_keys=True, separators=(",", ":")).encode()
        with suppress(BadLine):
            entry = chain.parse(text)
            text = chain.canonical({**entry, "entry_hash": chain.digest(entry)})
        found.append(text)
    verdict = verify(Evidence([LogFile("audit_2026-05-01.jsonl", found), LogFile("audit_2026-05-02.jsonl", found)]))
    assert verdict.entries == 2 * len(found)


@given(st.binary(max_size=300), st.binary(max_size=300))
def test_no_key_and_no_checkpoint_whatever_it_holds_makes_the_verifier_fail(keys: bytes, notes: bytes):
    verify(Evidence([], keys, notes, notes, keys, notes))


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, bytes], bytes, bytes]:
    """The files of a log by name, its key and its checkpoints."""
    folder = days(tmp_path_factory.mktemp("kept") / "log")
    found = {path.name: path.read_bytes() for path in files(folder)}
    return found, (folder / PUBLIC_KEYS).read_bytes(), (folder / CHECKPOINTS).read_bytes()


def evidence(files: dict[str, bytes], key: bytes, anchor: bytes) -> Evidence:
    """With the key and the checkpoints as they are kept elsewhere."""
    logs = [
        LogFile(name, data.removesuffix(b"\n").split(b"\n") if data else [], data.endswith(b"\n") or not data)
        for name, data in sorted(files.items())
    ]
    return Evidence(logs, keys=key, checkpoints=anchor, trusted=key, anchors=anchor)


@given(st.data())
def test_whatever_is_changed_in_whatever_file_is_told(kept: tuple[dict[str, bytes], bytes, bytes], data: st.DataObject):
    """A byte, a piece, a line, a whole file; taken out, put in, put elsewhere, under another name."""
    honest, key, anchor = kept
    changed = dict(honest)
    name = data.draw(st.sampled_from(sorted(honest)))
    text = honest[name]
    begin, end = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    from_name = data.draw(st.sampled_from(sorted(honest)))
    piece = data.draw(st.binary(max_size=3) | st.sampled_from(honest[from_name].splitlines(keepends=True)))
    changed[name] = text[:begin] + piece + text[end:]
    if data.draw(st.booleans()):
        changed[data.draw(st.sampled_from([*honest, "audit_2026-05-04.jsonl"]))] = changed.pop(name)
    assume({name: text for name, text in changed.items() if text} != honest)
    assert verify(evidence(honest, key, anchor)).status is Status.VERIFIED
    assert verify(evidence(changed, key, anchor)).status is Status.WRONG


# -- an honest log -------------------------------------------------------------------------------------


def test_with_key_and_checkpoint_from_elsewhere_an_honest_log_is_verified(log: Path, outside: Path):
    verdict = judged(log, outside)
    assert (verdict.status, verdict.entries, verdict.checkpoints, verdict.anchored) == (Status.VERIFIED, 12, 3, 12)


def test_with_what_lies_beside_it_alone_it_is_self_consistent(log: Path):
    assert judged(log).status is Status.SELF_CONSISTENT


def test_one_of_the_two_from_elsewhere_is_not_enough(log: Path, outside: Path):
    assert verify(gather(log, outside / PUBLIC_KEYS)).status is Status.SELF_CONSISTENT
    assert verify(gather(log, None, outside / CHECKPOINTS)).status is Status.SELF_CONSISTENT


def test_what_lies_beside_the_log_is_not_from_elsewhere_however_it_is_given(log: Path):
    assert verify(gather(log, log / PUBLIC_KEYS, log / CHECKPOINTS)).status is Status.SELF_CONSISTENT


def test_a_log_goes_on_after_its_anchor(log: Path, outside: Path):
    writer(log, Clock()).append([an_entry()])
    verdict = judged(log, outside)
    assert (verdict.status, verdict.entries, verdict.anchored) == (Status.VERIFIED, 13, 12)


def test_an_anchor_may_serve_several_logs(log: Path, outside: Path, tmp_path: Path):
    other = days(tmp_path / "other")
    anchor = outside / CHECKPOINTS
    anchor.write_bytes((other / CHECKPOINTS).read_bytes() + anchor.read_bytes())
    assert judged(log, outside).status is Status.VERIFIED


def test_an_anchor_of_another_log_says_nothing_of_this_one(log: Path, outside: Path, tmp_path: Path):
    other = days(tmp_path / "other")
    shutil.copy(other / CHECKPOINTS, outside / CHECKPOINTS)
    assert [problem.kind for problem in judged(log, outside).problems] == ["anchor"]


# -- twelve kinds of tampering -------------------------------------------------------------------------


def edit(log: Path) -> None:
    path = files(log)[1]
    path.write_bytes(path.read_bytes().replace(b'"EMAIL":1', b'"EMAIL":2', 1))


def delete(log: Path) -> None:
    path = files(log)[1]
    first, _, *rest = lines(path)
    path.write_bytes(b"".join([first, *rest]))


def insert(log: Path) -> None:
    """An entry that is whole in itself and follows the one before it."""
    path = files(log)[1]
    first, *rest = lines(path)
    entry = json.loads(first)
    forged, _ = chain.seal([an_entry(upstream="mailer")], Head(5, entry["entry_hash"]), entry["timestamp"], "0" * 16)
    path.write_bytes(b"".join([first, forged, *rest]))


def swap(log: Path) -> None:
    path = files(log)[1]
    first, second, third, last = lines(path)
    path.write_bytes(b"".join([first, third, second, last]))


def cut_the_tail(log: Path) -> None:
    path = files(log)[-1]
    path.write_bytes(b"".join(lines(path)[:-2]))
    drop_checkpoints(log)


def drop_the_newest_file(log: Path) -> None:
    files(log)[-1].unlink()
    drop_checkpoints(log)


def drop_the_oldest_file(log: Path) -> None:
    files(log)[0].unlink()


def recompute_the_whole(log: Path) -> None:
    """Every line anew, with one entry changed, signed with the key that lies there."""
    head = Head()
    for path in files(log):
        anew = b""
        for line in lines(path):
            entry = json.loads(line)
            time, session = entry["timestamp"], entry["session"]
            body = {
                k: v for k, v in entry.items() if k not in ("seq", "timestamp", "session", "prev_hash", "entry_hash")
            }
            body["categories"] = {"PHONE": 1}
            text, head = chain.seal([body], head, time, session)
            anew += text
        path.write_bytes(anew)
    sign_anew(log)


def duplicate_a_key(log: Path) -> None:
    path = files(log)[1]
    path.write_bytes(path.read_bytes().replace(b'{"categories"', b'{"categories":{},"categories"', 1))


def reorder_the_files(log: Path) -> None:
    first, second, _ = files(log)
    names = first.name, second.name
    first.rename(log / "aside")
    second.rename(log / names[0])
    (log / "aside").rename(log / names[1])


def replay_an_old_file(log: Path) -> None:
    shutil.copy(files(log)[0], log / "audit_2026-06-01.jsonl")


def change_a_checkpoint(log: Path) -> None:
    path = log / CHECKPOINTS
    path.write_bytes(path.read_bytes().replace(b"\n8\n", b"\n7\n"))


def drop_checkpoints(log: Path) -> None:
    """Those that would give the cut away."""
    notes = read_notes((log / CHECKPOINTS).read_bytes())
    (log / CHECKPOINTS).write_bytes(b"".join(bytes(note) + b"\n" for note in notes[:1]))


def sign_anew(log: Path) -> None:
    (log / CHECKPOINTS).unlink()
    (log / HEAD).unlink()
    checkpoint(log)


TAMPERING: dict[Callable[[Path], None], str] = {
    edit: "edited",
    delete: "missing",
    insert: "inserted",
    swap: "order",
    cut_the_tail: "cut",
    drop_the_newest_file: "cut",
    drop_the_oldest_file: "beginning",
    recompute_the_whole: "rewritten",
    duplicate_a_key: "duplicate_key",
    reorder_the_files: "file_order",
    replay_an_old_file: "replayed",
    change_a_checkpoint: "checkpoint",
}


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_directory(path: Path) -> None:
    path.mkdir()


def a_link_to_nothing(path: Path) -> None:
    path.symlink_to("/nonexistent")


def a_link_to_what_never_ends(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("make", [a_pipe, a_directory, a_link_to_nothing, a_link_to_what_never_ends])
def test_what_is_no_file_is_told_and_not_opened(log: Path, make: Callable[[Path], None]):
    make(log / "audit_2026-05-04.jsonl")
    problems = judged(log).problems
    assert [(problem.kind, problem.file) for problem in problems] == [("file", "audit_2026-05-04.jsonl")]
    writer(log, Clock(BEGIN.replace(month=6))).append([an_entry()])  # nor does it keep a gateway from going on


@pytest.mark.parametrize(
    "name", ["notes.jsonl", "audit_2026-13-45.jsonl", "audit_abcd-ef-gh.jsonl", "audit_2026-05-02 (copy).jsonl"]
)
@pytest.mark.parametrize("of_the_log", [True, False])
def test_a_file_of_another_name_is_no_hiding_place(log: Path, name: str, of_the_log: bool):
    (log / name).write_bytes(files(log)[0].read_bytes() if of_the_log else b"")
    assert [(problem.kind, problem.file) for problem in judged(log).problems] == [("file", name)]


@pytest.mark.parametrize(("place", "name"), [(0, "audit_1999-01-01.jsonl"), (-1, "audit_2031-01-01.jsonl")])
def test_a_file_that_was_renamed_is_told_even_where_the_order_stays(log: Path, place: int, name: str):
    files(log)[place].rename(log / name)
    assert [(problem.kind, problem.file) for problem in judged(log).problems] == [("file", name)]


@pytest.mark.parametrize("line", [b"\n", b"\0\n", b"{\r\n", b"\xef\xbb\xbf\n", b"[" * 100_000 + b"\n"])
def test_a_line_that_somebody_put_in_is_one_problem(log: Path, line: bytes):
    path = files(log)[1]
    first, *rest = lines(path)
    path.write_bytes(b"".join([first, line, *rest]))
    assert [(problem.kind, problem.line) for problem in judged(log).problems] == [("malformed", 2)]


@pytest.mark.parametrize("end", [b"\n", b""])
def test_of_a_line_without_end_the_beginning_is_read(log: Path, end: bytes):
    with (log / "audit_2026-05-04.jsonl").open("wb") as file:
        file.truncate(300_000_000)
        file.seek(0, os.SEEK_END)
        file.write(end)
    tracemalloc.start()
    verdict = judged(log)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [problem.kind for problem in verdict.problems] == ["malformed", *([] if end else ["torn"])]
    assert peak < 100_000_000


def test_checkpoints_that_the_anchor_holds_and_the_log_lacks_are_told(log: Path, outside: Path):
    drop_checkpoints(log)
    assert [problem.kind for problem in judged(log, outside).problems] == ["checkpoint"]


def test_a_log_may_be_handed_on_without_its_checkpoints(log: Path, outside: Path):
    """The anchor holds them; without one nothing is signed, and the verdict says so."""
    (log / CHECKPOINTS).unlink()
    assert judged(log, outside).status is Status.VERIFIED
    assert (judged(log).status, judged(log).signed) == (Status.SELF_CONSISTENT, 0)


def test_a_key_put_beside_the_log_in_place_of_the_one_given_is_told(log: Path, outside: Path, tmp_path: Path):
    shutil.copy(days(tmp_path / "other") / PUBLIC_KEYS, log / PUBLIC_KEYS)
    assert [problem.kind for problem in judged(log, outside).problems] == ["key"]


@pytest.mark.parametrize("damage", [b"", b"From: gateway@example.org\r\n\r\n", b"\xff\xfe\n\n"])
def test_an_anchor_may_be_torn_and_hold_other_things(log: Path, outside: Path, damage: bytes):
    """As a mailbox does, and a file whose writer lost its power; what is left of it counts."""
    anchor = outside / CHECKPOINTS
    anchor.write_bytes(damage + anchor.read_bytes().replace(b"\n", b"\r\n")[:-60])
    verdict = judged(log, outside)
    assert (verdict.status, verdict.anchored, verdict.fragments) == (Status.VERIFIED, 8, 1 + bool(damage))


def test_a_whole_log_rolled_back_with_its_checkpoints_is_told_by_the_anchor(log: Path, outside: Path, tmp_path: Path):
    before = shutil.copytree(log, tmp_path / "before")
    writer(log, Clock(BEGIN.replace(month=6))).append([an_entry()])
    checkpoint(log)
    shutil.copy(log / CHECKPOINTS, outside / CHECKPOINTS)
    assert judged(before).status is Status.SELF_CONSISTENT
    assert "cut" in [problem.kind for problem in judged(before, outside).problems]


def test_a_log_that_goes_on_while_it_is_read_is_not_cut(log: Path, outside: Path, tmp_path: Path):
    """What the anchor says is read before what it is about."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def go_on() -> None:
        with pipe.open("wb") as anchor:  # waits for who reads it
            writer(log, Clock(BEGIN.replace(month=6))).append([an_entry()])
            checkpoint(log)
            anchor.write((log / CHECKPOINTS).read_bytes())

    gateway = threading.Thread(target=go_on)
    gateway.start()
    verdict = verify(gather(log, outside / PUBLIC_KEYS, pipe))
    gateway.join()
    assert (verdict.status, verdict.anchored) == (Status.VERIFIED, 13)


def test_a_verdict_says_from_when_to_when(log: Path):
    verdict = judged(log)
    assert (verdict.began[:19], verdict.ended[:19]) == ("2026-05-01T08:00:00", "2026-05-03T08:00:11")


@pytest.mark.parametrize(("tamper", "kind"), TAMPERING.items(), ids=[f.__name__ for f in TAMPERING])
def test_tampering_is_found_and_called_by_its_name(tamper: Callable[[Path], None], kind: str, log: Path, outside: Path):
    tamper(log)
    verdict = judged(log, outside)
    assert verdict.status is Status.WRONG
    assert kind in [problem.kind for problem in verdict.problems]
    assert len(verdict.problems) <= 4


def test_a_log_of_which_nothing_is_left_was_cut(log: Path, outside: Path):
    for path in files(log):
        path.unlink()
    assert [problem.kind for problem in judged(log, outside).problems] == ["cut"]
    assert [problem.kind for problem in judged(log).problems] == ["cut"]


def test_the_first_bad_entry_is_named(log: Path):
    edit(log)
    problem = judged(log).problems[0]
    assert (problem.file, problem.line, problem.seq) == ("audit_2026-05-02.jsonl", 1, 4)


def test_one_changed_entry_is_one_problem(log: Path):
    edit(log)
    assert len(judged(log).problems) == 1


def test_whoever_recomputes_an_entrys_own_hash_breaks_the_link_to_the_next(log: Path):
    path = files(log)[1]
    first, *rest = lines(path)
    entry = json.loads(first)
    entry["categories"] = {}
    entry["entry_hash"] = chain.digest(entry)
    path.write_bytes(b"".join([chain.canonical(entry) + b"\n", *rest]))
    assert [(p.kind, p.seq) for p in judged(log).problems] == [("link", 5)]


def test_the_insider_who_signs_everything_anew_is_self_consistent_and_not_verified(log: Path, outside: Path):
    recompute_the_whole(log)
    assert judged(log).status is Status.SELF_CONSISTENT
    assert judged(log, outside).status is Status.WRONG
    assert accepted(log)  # what a hash chain alone can say


def test_a_key_of_the_insiders_own_beside_the_log_does_not_pass_for_the_one_from_elsewhere(log: Path, outside: Path):
    shutil.rmtree(log / "private")
    name = read_notes((log / CHECKPOINTS).read_bytes())[0].checkpoint.origin
    for file in (PUBLIC_KEYS, CHECKPOINTS, HEAD):
        (log / file).unlink()
    signer = Signer(log)
    signer.key = signer.key._replace(name=name)
    (log / PUBLIC_KEYS).write_text(f"{signer.key}\n")
    standing = grow(log)
    keep(log, signer.sign(Checkpoint(name, standing.tree.size, standing.tree.root)), standing)
    assert judged(log).status is Status.SELF_CONSISTENT
    assert "checkpoint" in [problem.kind for problem in judged(log, outside).problems]


def test_a_signature_line_that_somebody_adds_hands_nothing_over(log: Path, outside: Path, tmp_path: Path):
    """Only a text that names the next key, signed by the old one, makes the next one known."""
    own = Signer(tmp_path / "own")
    (note, *_) = read_notes((outside / CHECKPOINTS).read_bytes())
    mine = own.sign(note.checkpoint).signatures[0]._replace(name=note.checkpoint.origin)
    forged = note._replace(signatures=(*note.signatures, mine))
    (log / CHECKPOINTS).write_bytes(bytes(forged) + b"\n" + bytes(own.sign(note.checkpoint._replace(size=4))) + b"\n")
    assert "checkpoint" in [problem.kind for problem in judged(log, outside).problems]


def test_many_problems_are_counted_and_not_all_told(tmp_path: Path):
    log = days(tmp_path / "log", entries=120)
    for path in files(log):
        path.write_bytes(path.read_bytes().replace(b'"EMAIL":1', b'"EMAIL":2'))
    verdict = judged(log)
    assert (len(verdict.problems), verdict.more_problems) == (20, 100)


def test_a_value_in_a_field_of_its_own_is_told(log: Path):
    path = files(log)[-1]
    entry = json.loads(lines(path)[-1])
    entry["value"] = "jane@acme.org"
    entry["entry_hash"] = chain.digest(entry)
    path.write_bytes(b"".join([*lines(path)[:-1], chain.canonical(entry) + b"\n"]))
    verdict = judged(log)
    assert "schema" in [problem.kind for problem in verdict.problems]
    assert "jane" not in str(verdict)


@pytest.mark.parametrize("kept", [b"", b"[]", b"\0", b'{"size": 3}', b'{"size": -1, "peaks": [7]}', b"[" * 100_000])
def test_a_note_of_the_tree_that_cannot_be_read_is_made_anew(log: Path, kept: bytes):
    whole = grow(log)
    (log / HEAD).write_bytes(kept)
    assert grow(log).head == whole.head
    assert accepted(log)
