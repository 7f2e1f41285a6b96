"""Forgetting whole days, so that what is left can still be verified.

Before the files of old days go, a checkpoint of exactly their entries is
signed and put into ``base.txt``, with the peaks of their tree and the hash of
their last entry: the chain and the tree of the rest go on from there, and every
checkpoint that was ever made of a longer log still fits.
"""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

from cloakllm_gateway.audit import chain
from cloakllm_gateway.audit.chain import BadLine
from cloakllm_gateway.shell.audit.checkpoints import beginning, checkpoint_of, over, read_checkpoints, signing
from cloakllm_gateway.shell.audit.files import BASE, CHECKPOINTS, day_files, replace
from cloakllm_gateway.shell.audit.keys import Signer
from cloakllm_gateway.shell.audit.log import explained


def prune(directory: Path, keep_days: int, today: date) -> int:
    """Remove the files of days more than ``keep_days`` ago, never the newest; the number of files that went.

    Raises :class:`AuditError` where the old entries do not follow one another:
    what was tampered with is evidence.
    """
    files = day_files(directory)
    limit = f"audit_{today - timedelta(days=keep_days):%Y-%m-%d}.jsonl"
    old = [path for path in files[:-1] if path.name < limit]
    if not old:
        return 0
    with explained(directory), signing(directory):
        standing = beginning(directory)
        for path in old:
            if path.exists() and not _is_before(path, standing.head.size):
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


def _is_before(path: Path, size: int) -> bool:
    """Whether the entries of ``path`` are under the base already: a gateway was killed while it removed them."""
    with path.open("rb") as file:
        first = file.readline()
    try:
        return int(chain.parse(first.removesuffix(b"\n"))["seq"]) < size
    except (BadLine, KeyError, TypeError, ValueError):
        return False
