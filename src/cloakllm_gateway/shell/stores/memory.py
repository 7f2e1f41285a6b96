"""The default store: values live as long as the process, numbers are never reused.

Only the high-water numbers touch the disk, and only when the first value needs
a token.  Small on purpose: it is the example to copy for another store.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import anyio
import anyio.to_thread
from msgspec import Struct, field

from cloakllm_gateway.shell.stores.highwater import HighWater, Numbers, RandomStart
from cloakllm_gateway.shell.stores.interface import DEFAULT_QUOTAS, QuotaExceeded, Quotas
from cloakllm_gateway.spans import Proof
from cloakllm_gateway.vault.entries import Entry, Spelling, Token

Identity = tuple[str, ...]
Stem = tuple[str, str]


class _Stem(Struct):
    """A canonical value: its number, and how many spellings of it there are."""

    number: int
    spellings: int = 0


class _Group(Struct):
    """The values of upstreams that share equality, in one namespace."""

    entries: dict[Identity, Entry] = field(default_factory=dict)
    stems: dict[Stem, _Stem] = field(default_factory=dict)
    owned: Counter[str] = field(default_factory=Counter)


class MemoryStore:
    """A :class:`~cloakllm_gateway.shell.stores.interface.Store` in memory.

    ``state_dir`` holds the high-water numbers; without one, numbers start at
    random.
    """

    def __init__(self, state_dir: Path | None, quotas: Quotas = DEFAULT_QUOTAS) -> None:
        self._numbers: Numbers = RandomStart() if state_dir is None else HighWater(state_dir)
        self._quotas = quotas
        self._groups: dict[tuple[str, str], _Group] = {}
        self._owned: Counter[str] = Counter()
        self._total = 0
        self._lock = anyio.Lock()

    async def assign(self, namespace: str, group: str, origin: str, spellings: Sequence[Spelling]) -> list[Entry]:
        async with self._lock:
            known = self._groups.get((namespace, group)) or _Group()
            new = {s.identity: s for s in spellings if s.identity not in known.entries}
            self._refuse_flood(origin, len(new))
            stems = dict.fromkeys((s.category, s.canonical) for s in new.values())
            wanted = Counter(category for category, canonical in stems if (category, canonical) not in known.stems)
            if wanted and not self._numbers.ready(wanted):
                # Waits for a file lock and for the disk; shielded, so that nothing is half done.
                await anyio.to_thread.run_sync(self._numbers.reserve, wanted)
            # From here on nothing waits and nothing fails.
            for stem in stems:
                if stem not in known.stems:
                    known.stems[stem] = _Stem(self._numbers.take(stem[0]))
            for identity, spelling in new.items():
                known.entries[identity] = _entry(spelling, known, group)
            self._groups[namespace, group] = known
            known.owned[origin] += len(new)
            self._owned[origin] += len(new)
            self._total += len(new)
            return [_seen(known, spelling, origin) for spelling in spellings]

    def _refuse_flood(self, origin: str, new: int) -> None:
        quotas = self._quotas
        if new > quotas.per_message:
            raise QuotaExceeded(f"One message holds more than {quotas.per_message} new values", "Ask for less at once.")
        if new and self._owned[origin] + new > quotas.per_origin:
            raise QuotaExceeded(
                f"The upstream has brought more than its quota of {quotas.per_origin} values",
                "Restart the gateway to begin with an empty vault.",
            )
        if self._total + new > quotas.total:
            raise QuotaExceeded(
                f"The vault holds its {quotas.total} values and takes no more",
                "Restart the gateway to begin with an empty vault.",
            )

    async def forget(self, namespace: str) -> None:
        async with self._lock:
            for key in [key for key in self._groups if key[0] == namespace]:
                gone = self._groups.pop(key)
                self._owned.subtract(gone.owned)
                self._total -= len(gone.entries)

    def check(self) -> None:
        self._numbers.check()


def _entry(spelling: Spelling, group: _Group, name: str) -> Entry:
    stem = group.stems[spelling.category, spelling.canonical]
    variant = stem.spellings
    stem.spellings += 1
    return Entry(Token(spelling.category, stem.number, variant), spelling, name, frozenset())


def _seen(group: _Group, spelling: Spelling, origin: str) -> Entry:
    """The entry of ``spelling``, with ``origin`` among its origins and the more certain of its proofs."""
    entry = group.entries[spelling.identity]
    merged = _merged(entry.spelling, spelling)
    if origin not in entry.origins or merged != entry.spelling:
        entry = entry._replace(spelling=merged, origins=entry.origins | {origin})
        group.entries[spelling.identity] = entry
    return entry


def _merged(old: Spelling, new: Spelling) -> Spelling:
    """A value proved by more than a key is a known value everywhere from then on; sensitive once is always."""
    proof = new.proof if old.proof is Proof.KEY else old.proof
    return old._replace(proof=proof, sensitive=old.sensitive or new.sensitive)
