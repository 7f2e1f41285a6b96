"""Signing where the log stands, and taking the signature elsewhere.

A checkpoint covers every entry on disk, whoever wrote it: the tree is grown
from ``head.json``, which the last checkpoint of any gateway left, over the
lines written since.  One gateway signs at a time (``signing.lock``); the
writers are not held up.  Entries are made durable before they are signed, so a
log is never shorter than its checkpoints by accident.

Each line is held against the one before it, for what was tampered with is not
signed.  Lines that this session wrote itself need only be what it wrote.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from cloakllm_gateway.audit import chain
from cloakllm_gateway.audit.chain import BadLine, Head
from cloakllm_gateway.audit.merkle import Tree
from cloakllm_gateway.audit.notes import BadNote, Checkpoint, Note, read_notes
from cloakllm_gateway.errors import AuditError
from cloakllm_gateway.shell.audit.files import (
    BASE,
    CHECKPOINTS,
    HEAD,
    LOCK,
    SIGNING_LOCK,
    Lock,
    append,
    day_files,
    replace,
)
from cloakllm_gateway.shell.audit.keys import Signer
from cloakllm_gateway.shell.audit.log import Written, explained
from cloakllm_gateway.shell.command_hints import own

#: What ends a checkpoint in a file, and its text within it.
_END: Final = b"\n\n"
#: More than two checkpoints need.
_TAIL: Final = 16 * 1024


class Standing(NamedTuple):
    """How far the tree has grown: to which byte of which file, and where the chain is there."""

    file: str
    end: int
    head: Head
    tree: Tree


def sign(
    directory: Path, announce: Callable[[str], object], own: Callable[[], Iterable[Written]] = list
) -> Note | None:
    """Sign a checkpoint over all entries and put it beside the log; None where nothing is new.

    ``announce`` is called with the id of the key before, to write its entry; ``own`` behind it, for what this
    session wrote.
    Raises :class:`AuditError` where the entries do not follow one another:
    what was tampered with is not signed.
    """
    with explained(directory), signing(directory):
        signer = Signer(directory)
        announce(signer.key.id.hex())
        standing = grow(directory, own())
        newest = newest_checkpoint(directory)
        if newest is not None and newest.checkpoint.size == standing.tree.size:
            return None
        note = signer.sign(checkpoint_of(signer, standing))
        keep(directory, note, standing)
        return note


def rotate(directory: Path, announce: Callable[[str], object]) -> Note:
    """Make a new signing key; one checkpoint is signed by both.  ``announce`` and errors are as for :func:`sign`."""
    with explained(directory), signing(directory):
        signer = Signer(directory)
        announce(signer.key.id.hex())
        standing = grow(directory)
        note, following = signer.hand_over(checkpoint_of(signer, standing))
        keep(directory, note, standing)
        signer.succeed(following)
        return note


def newest_checkpoint(directory: Path) -> Note | None:
    """The last whole checkpoint beside the log; its signature is not looked at."""
    data = _tail(directory / CHECKPOINTS)
    whole = data[: data.rfind(_END) + len(_END)] if _END in data else b""
    start = whole.rfind(_END, 0, len(whole) - len(_END))  # before the signatures
    start = whole.rfind(_END, 0, start) if start >= 0 else -1  # before the text
    try:
        notes = read_notes(whole[start + len(_END) if start >= 0 else 0 :])
    except BadNote:
        return None
    return notes[-1] if notes else None


def read_base(directory: Path) -> Checkpoint | None:
    """Where a pruned log begins.  Raises :class:`AuditError` where that is damaged."""
    try:
        return read_notes((directory / BASE).read_bytes())[-1].checkpoint
    except FileNotFoundError:
        return None
    except (BadNote, IndexError):
        raise _damaged(directory / BASE) from None


def beginning(directory: Path) -> Standing:
    """The empty tree, or what pruning left of it."""
    base = read_base(directory)
    if base is None:
        return Standing("", 0, Head(), Tree())
    try:
        tree = Tree(base.size, base.peaks)
    except ValueError:
        raise _damaged(directory / BASE) from None
    return Standing("", 0, Head(base.size, base.pruned), tree)


def grow(directory: Path, own: Iterable[Written] = ()) -> Standing:
    """The tree over every entry that is on disk now, and those made durable."""
    written = {(each.file, each.begin): each for each in own}
    standing = _remembered(directory) or beginning(directory)
    for path, end in _extent(directory):
        if path.name >= standing.file:
            begin = standing.end if path.name == standing.file else 0
            standing = over(standing, path, begin, end, written)
    return standing


def over(
    standing: Standing, path: Path, begin: int, end: int, own: Mapping[tuple[str, int], Written] = MappingProxyType({})
) -> Standing:
    """``standing`` after the lines of ``path`` between two bytes; raises :class:`AuditError` where one does not fit.

    ``own`` are lines that the session itself wrote, by file and place: there is no need to read what they say.
    """
    head, tree = standing.head, standing.tree
    with path.open("rb") as file:
        file.seek(begin)
        while begin < end:
            mine = own.get((path.name, begin))
            if mine and mine.before == head and begin + len(mine.lines) <= end:
                if file.read(len(mine.lines)) == mine.lines:
                    for line in mine.lines.splitlines():
                        tree.append(line)
                    head, begin = mine.after, begin + len(mine.lines)
                    continue
                file.seek(begin)
            line = file.readline(end - begin)
            if not line.endswith(b"\n"):
                break  # torn; whoever writes next sets it aside
            begin += len(line)
            head = _next(path, head, line[:-1])
            tree.append(line[:-1])
    return Standing(path.name, begin, head, tree)


def checkpoint_of(signer: Signer, standing: Standing) -> Checkpoint:
    return Checkpoint(signer.key.name, standing.tree.size, standing.tree.root)


def keep(directory: Path, note: Note, standing: Standing) -> None:
    """Put ``note`` beside the log, and remember the tree for the next one."""
    path = directory / CHECKPOINTS
    tail = _tail(path)
    if tail and not tail.endswith(_END):  # of a gateway that was killed here
        replace(path, path.read_bytes().rpartition(_END)[0].removesuffix(b"\n") + _END if _END in tail else b"")
    append(path, bytes(note) + b"\n")
    record = {
        "file": standing.file,
        "end": standing.end,
        "hash": standing.head.hash,
        "size": standing.tree.size,
        "peaks": [peak.hex() for peak in standing.tree.peaks],
    }
    replace(directory / HEAD, json.dumps(record).encode())


@contextmanager
def signing(directory: Path) -> Iterator[None]:
    """One gateway at a time signs or prunes."""
    lock = Lock(directory / SIGNING_LOCK)
    try:
        with lock.held():
            yield
    finally:
        lock.close()


def read_checkpoints(directory: Path) -> list[Note]:
    """All that lie beside the log.  Raises :class:`AuditError` where they are damaged."""
    path = directory / CHECKPOINTS
    try:
        return read_notes(path.read_bytes()) if path.exists() else []
    except BadNote:
        raise _damaged(path) from None


def _damaged(path: Path) -> AuditError:
    how = own("audit", "verify", str(path.parent))
    return AuditError(f"{path} is damaged", f"Restore it from a backup; see `{how}`.")


def _remembered(directory: Path) -> Standing | None:
    """The tree of the newest checkpoint as ``head.json`` has it; None where the two do not agree."""
    newest = newest_checkpoint(directory)
    try:
        record = json.loads((directory / HEAD).read_bytes())
        tree = Tree(record["size"], map(bytes.fromhex, record["peaks"]))
        standing = Standing(record["file"], record["end"], Head(tree.size, record["hash"]), tree)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    if newest is None or (newest.checkpoint.size, newest.checkpoint.root) != (tree.size, tree.root):
        return None
    path = directory / standing.file
    return standing if path.is_file() and path.stat().st_size >= standing.end else None


def _extent(directory: Path) -> list[tuple[Path, int]]:
    """The files and how long they are at one moment between two appends; what they hold by then is durable."""
    lock = Lock(directory / LOCK)
    try:
        with lock.held():
            files = [(path, path.stat().st_size) for path in day_files(directory)]
    finally:
        lock.close()
    for path, _ in files[-1:]:
        handle = os.open(path, os.O_RDWR)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    return files


def _next(path: Path, head: Head, line: bytes) -> Head:
    try:
        entry = chain.parse(line)
        if chain.follows(entry, head):
            return Head(head.size + 1, entry["entry_hash"])
    except BadLine:
        pass
    raise AuditError(
        f"The audit log was tampered with: entry {head.size} in {path.name} does not follow the one before it",
        f"It is not signed any further; see `{own('audit', 'verify', str(path.parent))}`.",
    )


def _tail(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _TAIL))
            return file.read()
    except FileNotFoundError:
        return b""
