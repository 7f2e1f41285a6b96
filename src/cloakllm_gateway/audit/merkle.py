"""The Merkle tree over the entries, as RFC 6962 (section 2.1) hashes it.

A tree that only grows is kept as its peaks: the roots of the full subtrees
that its size is the sum of, largest first.  They are enough to go on and to
know the root.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable


def leaf(data: bytes) -> bytes:
    return hashlib.sha256(b"\0" + data).digest()


def node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\1" + left + right).digest()


class Tree:
    """A tree of ``size`` leaves, by its peaks; raises ``ValueError`` where there can't be so many."""

    def __init__(self, size: int = 0, peaks: Iterable[bytes] = ()) -> None:
        self.size = size
        self.peaks = list(peaks)
        if size < 0 or len(self.peaks) != size.bit_count() or any(len(peak) != 32 for peak in self.peaks):
            raise ValueError("not the peaks of a tree of this size")

    def append(self, data: bytes) -> None:
        """Add one leaf."""
        hash = leaf(data)
        size = self.size
        while size & 1:  # two full subtrees of one height become one
            hash = node(self.peaks.pop(), hash)
            size >>= 1
        self.peaks.append(hash)
        self.size += 1

    @property
    def root(self) -> bytes:
        """The hash of the whole tree; of no leaves, that of no data."""
        if not self.peaks:
            return hashlib.sha256(b"").digest()
        root = self.peaks[-1]
        for peak in reversed(self.peaks[:-1]):
            root = node(peak, root)
        return root
