"""Forgetting whole days, so that what is left can still be verified.

Before the files of old days go, a checkpoint of exactly their entries is
signed and put into ``base.txt``, with the peaks of their tree and the hash of
their last entry: the chain and the tree of the rest go on from there, and every
checkpoint that was ever made of a longer log still fits.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from cloakllm_gateway.audit import chain
from cloakllm_gateway.audit.chain import BadLine
from cloakllm_gateway.errors import AuditError
from cloakllm_gateway.shell.audit.checkpoints import beginning, checkpoint_of, over, read_checkpoints, signing
from cloakllm_gateway.shell.audit.files import BASE, CHECKPOINTS, day_files, day_of, replace
from cloakllm_gateway.shell.audit.keys import Signer
from cloakllm_gateway.shell.audit.log import explained


def prune(directory: Path, keep_days: int, today: date) -> int:
    """Remove the files of days more than ``keep_days`` ago, never the newest; the number of files that went.

    Raises :class:`AuditError` where the old entries do not follow one another:
    what was tampered with is evidence.
    """
    limit = (today - timedelta(days=keep_days)).isoformat()
    with explained(directory):
        if not _before(directory, limit):
            return 0
    with explained(directory), signing(directory):
        old = _before(directory, limit)  # another gateway may have been faster
        standing = beginning(directory)
        for path in old:
            first = _first_entry(path)
            if str(first.get("timestamp"))[: len(limit)] != day_of(path):
                raise AuditError(f"The audit log was tampered with: {path.name} does not begin on the day of its name")
            if not _is_under(first, standing.head.size):
                standing = over(standing, path, 0, path.stat().st_size)
        if standing.file:
            signer = Signer(directory)
            base = checkpoint_of(signer, standing)._replace(pruned=standing.head.hash, peaks=tuple(standing.tree.peaks))
            # Checkpoints of fewer entries can't be checked any more; where a key handed over, they are still needed.
            kept = [n for n in read_checkpoints(directory) if n.checkpoint.size >= base.size or n.checkpoint.next_key]
            replace(directory / BASE, bytes(signer.sign(base)))
            replace(directory / CHECKPOINTS, b"".join(bytes(note) + b"\n" for note in kept))
        for path in old:  # those that a gateway was killed before removing included
            path.unlink(missing_ok=True)
    return len(old)


def _before(directory: Path, limit: str) -> list[Path]:
    """The files of days before ``limit``, but for the newest that holds an entry: the chain goes on from there."""
    files = [path for path in day_files(directory) if path.stat().st_size]
    return [path for path in files[:-1] if day_of(path) < limit]


def _first_entry(path: Path) -> Mapping[str, Any]:
    """The first entry of ``path``, or an empty one where its first line is none."""
    with path.open("rb") as file:
        first = file.readline()
    try:
        return chain.parse(first.removesuffix(b"\n"))
    except BadLine:
        return {}


def _is_under(entry: Mapping[str, Any], size: int) -> bool:
    """Whether ``entry`` is under the base already: a gateway was killed while it removed its file."""
    seq = entry.get("seq")
    return type(seq) is int and seq < size
