"""Is the log what its gateways wrote?  Over bytes that somebody else has read.

Theory of operation.  One pass over the lines checks each entry by itself (its
spelling, its schema, its own hash) and against the one before (number, previous
hash), and grows the Merkle tree; at every size that a checkpoint speaks of, the
root must be the signed one.  After a break the pass goes on from what stands
there, so that one changed entry is one problem and not ten thousand.

What a verdict is worth depends on where the key and the checkpoints come from.
Whoever can write the directory can write all of it anew and sign it with the
key that lies there; so with the directory alone the verdict is at best
``self-consistent``.  ``verified`` needs a key and a checkpoint that were kept
elsewhere, and reaches as far as that checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from msgspec import Struct, field

from cloakllm_gateway.audit import chain, schema
from cloakllm_gateway.audit.chain import BadLine, Head
from cloakllm_gateway.audit.merkle import Tree
from cloakllm_gateway.audit.notes import BadNote, Checkpoint, Note, VerifierKey, pieces, read_keys

#: The hash of an entry that can't be read: nothing can be said of the link to the next one.
_UNKNOWN = ""

#: Characters of a timestamp.
_TIME = len("2026-11-29T08:30:00.000+00:00")

#: Where a checkpoint was found, in words.
CHECKPOINTS, BASE, ANCHOR = "checkpoints.txt", "base.txt", "the anchor"

#: Problems that are told one by one; of further ones there is the number.
SHOWN = 20


class Status(StrEnum):
    VERIFIED = "verified"
    SELF_CONSISTENT = "self-consistent"
    WRONG = "wrong"


class Problem(NamedTuple):
    """One thing that is wrong: what kind, in which file and line (from 1), at which ``seq``."""

    kind: str
    what: str
    file: str = ""
    line: int = 0
    seq: int | None = None


class LogFile(NamedTuple):
    """One file of the log; ``lines`` without their line feeds, ``whole`` unless the last one lacks its own."""

    name: str
    lines: Iterable[bytes]
    whole: bool = True


class Evidence(Struct, frozen=True):
    """All that a verdict is given on.

    ``keys`` and ``checkpoints`` lie beside the log, ``base`` is the checkpoint
    that pruning left there; ``trusted`` and ``anchors`` come from outside.
    All are the bytes of files.  ``strangers`` are the names of what looks like
    a file of the log and is none.
    """

    files: Sequence[LogFile]
    strangers: Sequence[str] = ()
    keys: bytes = b""
    checkpoints: bytes = b""
    base: bytes = b""
    trusted: bytes | None = None
    anchors: bytes | None = None


class Verdict(Struct):
    """``entries`` were looked at, from number ``first``, written from ``began`` to ``ended`` as they say.

    The entries before number ``signed`` are as a checkpoint beside the log
    says, those before ``anchored`` as one from outside.  ``fragments`` of the
    anchor were no checkpoints.
    """

    status: Status = Status.WRONG
    problems: list[Problem] = field(default_factory=list)
    entries: int = 0
    first: int = 0
    began: str = ""
    ended: str = ""
    checkpoints: int = 0
    signed: int = 0
    anchored: int = 0
    fragments: int = 0
    more_problems: int = 0

    def add(self, problem: Problem) -> None:
        if len(self.problems) < SHOWN:
            self.problems.append(problem)
        else:
            self.more_problems += 1


def verify(evidence: Evidence) -> Verdict:
    """The verdict on ``evidence``; everything that is wrong is in it, nothing is raised."""
    verdict = Verdict()
    keys = _Keys(evidence, verdict)
    base = _base(evidence, keys, verdict)
    own = _checked(evidence.checkpoints, CHECKPOINTS, keys, verdict)
    anchors = _anchors(evidence, keys, verdict)
    for name in evidence.strangers:
        verdict.add(Problem("file", "no gateway makes such a file; it is not looked into", name))
    walk = _Walk(verdict, base, [(c, CHECKPOINTS) for c in own] + [(c, ANCHOR) for c in anchors])
    walk.run(evidence.files)
    _compare_with_anchor(own, anchors, verdict)
    verdict.checkpoints = len(own)
    verdict.signed = max((c.size for c in own), default=0)
    verdict.anchored = max((c.size for c in anchors if c.size >= verdict.first), default=0)  # pruned ones say nothing
    if not verdict.problems:
        outside = evidence.trusted is not None and verdict.anchored > 0
        verdict.status = Status.VERIFIED if outside else Status.SELF_CONSISTENT
    return verdict


# -- keys and checkpoints --------------------------------------------------------------------------


class _Keys:
    """Which keys count: those given from outside, else those beside the log, and whom they handed over to."""

    def __init__(self, evidence: Evidence, verdict: Verdict) -> None:
        given = evidence.trusted if evidence.trusted is not None else evidence.keys
        source = "the key given" if evidence.trusted is not None else "log.pub"
        try:
            self.keys = read_keys(given)
        except BadNote as error:
            self.keys = []
            verdict.add(Problem("key", f"{source} can't be read: {error}"))
        self.names = {key.name for key in self.keys}
        for data in (evidence.checkpoints, evidence.anchors or b""):
            self._follow(data)
        if evidence.trusted is not None and self.keys and evidence.keys:
            self._compare(evidence.keys, verdict)

    def _follow(self, data: bytes) -> None:
        """A key named in a checkpoint that a known key signed is known from there on."""
        for note in pieces(data):
            if isinstance(note, BadNote):
                continue  # told where the checkpoints are checked
            successor = note.checkpoint.next_key
            if successor and self.signed(note) and successor not in self.keys and successor.name in self.names:
                self.keys.append(successor)

    def _compare(self, beside: bytes, verdict: Verdict) -> None:
        """The newest key beside the log is one that is known, or somebody put it there."""
        newest: VerifierKey | None
        try:
            newest = next(reversed(read_keys(beside)), None)
        except BadNote:
            newest = None
        if newest not in self.keys:
            verdict.add(Problem("key", "log.pub holds neither the key given nor one that it handed over to"))

    def signed(self, note: Note) -> bool:
        return any(key.verifies(note) for key in self.keys)


def _checked(data: bytes, where: str, keys: _Keys, verdict: Verdict) -> list[Checkpoint]:
    """The checkpoints of this log in ``data`` that a known key signed; the others are problems."""
    good = []
    for number, note in enumerate(pieces(data), 1):
        if isinstance(note, BadNote):
            if where == ANCHOR:  # nobody mends an end that was torn there, and a mail has more in it than a checkpoint
                verdict.fragments += 1
            else:
                verdict.add(Problem("checkpoint", f"checkpoint {number} of {where} can't be read: {note}"))
        elif keys.signed(note) and note.checkpoint.origin in keys.names:
            good.append(note.checkpoint)
        elif where != ANCHOR or note.checkpoint.origin in keys.names:
            # An anchor may serve several logs; what lies beside this one is of this one.
            problem = f"checkpoint {number} of {where} is not signed by a key of this log: it was changed or forged"
            verdict.add(Problem("checkpoint", problem, seq=note.checkpoint.size))
    return good


def _anchors(evidence: Evidence, keys: _Keys, verdict: Verdict) -> list[Checkpoint]:
    if evidence.anchors is None:
        return []
    anchors = _checked(evidence.anchors, ANCHOR, keys, verdict)
    if not anchors:
        verdict.add(Problem("anchor", "the anchor holds no checkpoint of this log that a known key signed"))
    return anchors


def _compare_with_anchor(own: Sequence[Checkpoint], anchors: Sequence[Checkpoint], verdict: Verdict) -> None:
    """What was taken elsewhere lay beside the log before; a log that is handed on without its checkpoints may be."""
    kept = {(checkpoint.size, checkpoint.root) for checkpoint in own}
    taken = {(checkpoint.size, checkpoint.root) for checkpoint in anchors if checkpoint.size >= verdict.first}
    if own and taken - kept:
        what = (
            f"{CHECKPOINTS} lacks {len(taken - kept)} of the checkpoints that the anchor holds: it was cut or changed"
        )
        verdict.add(Problem("checkpoint", what))


def _base(evidence: Evidence, keys: _Keys, verdict: Verdict) -> Checkpoint | None:
    """Where a pruned log begins."""
    if not evidence.base:
        return None
    found = _checked(evidence.base, BASE, keys, verdict)
    if not found:
        verdict.add(Problem("checkpoint", "base.txt, which says where the pruned log begins, is not signed"))
        return None
    base = found[-1]
    try:
        matches = Tree(base.size, base.peaks).root == base.root
    except ValueError:
        matches = False
    if not matches:
        verdict.add(Problem("checkpoint", "base.txt does not hold the tree that it signs"))
        return None
    return base


# -- the entries -----------------------------------------------------------------------------------


class _Walk:
    """One pass over the lines of all files."""

    def __init__(self, verdict: Verdict, base: Checkpoint | None, checkpoints: list[tuple[Checkpoint, str]]) -> None:
        self._verdict = verdict
        self._base = base
        self._roots: dict[int, list[tuple[bytes, str]]] = {}
        for checkpoint, where in checkpoints:
            self._roots.setdefault(checkpoint.size, []).append((checkpoint.root, where))
        self._tree = Tree(base.size, base.peaks) if base else Tree()
        self._head = Head(base.size, base.pruned) if base else Head()
        self._seen: dict[int, str] = {}
        self._unread = 0  # lines since the last entry that could be read
        self._intact = True
        verdict.first = self._head.size

    def run(self, files: Sequence[LogFile]) -> None:
        self._compare()
        for file in files:
            for number, line, begins in _numbered(file):
                self._entry(file.name, number, line, begins=begins)
            if not file.whole:
                self._add(Problem("torn", "the last line is not whole: its writer was interrupted", file.name))
        longest = max(self._roots, default=0)
        if longest > self._head.size:
            _, where = self._roots[longest][0]
            what = f"the log has {self._head.size} entries, a checkpoint of {where} covers {longest}: its end was cut"
            self._add(Problem("cut", what, seq=self._head.size))

    def _entry(self, file: str, number: int, line: bytes, *, begins: bool) -> None:
        try:
            entry = chain.parse(line)
        except BadLine as error:
            self._verdict.entries += 1
            self._add(Problem(error.kind, str(error), file, number, self._head.size))
            self._tree.append(line)
            self._head = Head(self._head.size + 1, _UNKNOWN)
            self._unread += 1
            return
        if reason := schema.wrong(entry):
            self._add(Problem("schema", reason, file, number, self._head.size))
        seq: Any = entry.get("seq")
        hash = entry.get("entry_hash")
        if self._is_under_base(seq) and not self._seen:
            self._head = Head(seq, _UNKNOWN)  # a gateway was killed while it removed files; the next one goes on
        if hash != chain.digest(entry):
            self._add(Problem("edited", "the entry is not the one that its hash was made of", file, number, _int(seq)))
        elif type(seq) is int and not self._head.size - self._unread <= seq <= self._head.size:
            self._out_of_place(entry, file, number, begins=begins)
        elif self._head.hash not in (_UNKNOWN, entry.get("prev_hash")):
            self._add(Problem("link", "the entry does not follow the one before it", file, number, _int(seq)))
        elif begins and str(entry.get("timestamp"))[:10] != file[6:16]:
            self._add(
                Problem("file", "its first entry is of another day: the file was renamed", file, number, _int(seq))
            )
        self._note_time(entry)
        self._unread = 0
        self._head = Head(seq + 1 if type(seq) is int else self._head.size + 1, str(hash))
        self._seen[self._head.size - 1] = str(hash)
        if self._is_under_base(seq):
            self._meet_base(file, number)
        else:
            self._verdict.entries += 1
            self._tree.append(line)
            self._compare()

    def _is_under_base(self, seq: Any) -> bool:
        return self._base is not None and type(seq) is int and seq < self._base.size

    def _meet_base(self, file: str, number: int) -> None:
        """The last entry under the base is the one that the base was signed for."""
        if self._base and self._head.size == self._base.size and self._head.hash != self._base.pruned:
            what = f"the entry is not the last one of those that {BASE} says were pruned"
            self._add(Problem("rewritten", what, file, number, self._head.size - 1))

    def _note_time(self, entry: dict[str, Any]) -> None:
        time = entry.get("timestamp")
        if isinstance(time, str):
            self._verdict.began = self._verdict.began or time[:_TIME]
            self._verdict.ended = time[:_TIME]

    def _out_of_place(self, entry: dict[str, Any], file: str, number: int, *, begins: bool) -> None:
        """An entry that is genuine by itself and stands where another should: say what became of the order."""
        seq, expected = entry["seq"], self._head.size
        if seq in self._seen or seq < self._verdict.first:
            same = self._seen.get(seq) == entry["entry_hash"]
            what = "stands in the log a second time" if same else "has a number that another entry has already"
            kind = "replayed" if same and begins else "repeated" if same else "inserted"
        elif seq < expected:
            kind, what = ("file_order" if begins else "order"), "stands behind entries that came after it"
        else:
            gone = f"entry {expected} is" if seq == expected + 1 else f"entries {expected} to {seq - 1} are"
            kind, what = "missing", f"comes next, but {gone} not there"
            if not self._seen and not self._base:
                kind, what = "beginning", f"is the first, but {gone} not there, and nothing says that they were pruned"
        self._add(Problem(kind, f"entry {seq} {what}", file, number, seq))

    def _compare(self) -> None:
        """The tree against every checkpoint of its present size; of a broken chain nothing else is to be expected."""
        if not self._intact:
            return
        for root, where in self._roots.pop(self._tree.size, ()):
            if root != self._tree.root:
                what = f"the first {self._tree.size} entries are not those that a checkpoint of {where} was made of"
                self._add(Problem("rewritten", what, seq=self._tree.size))

    def _add(self, problem: Problem) -> None:
        self._intact = False
        self._verdict.add(problem)


def _numbered(file: LogFile) -> Iterator[tuple[int, bytes, bool]]:
    for number, line in enumerate(file.lines, 1):
        yield number, line, number == 1


def _int(value: Any) -> int | None:
    return value if type(value) is int else None
