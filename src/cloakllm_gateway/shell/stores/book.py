"""What a store holds, and what a message changes in it; no I/O.

Theory of operation.  A :class:`Book` has a :class:`Record` for each spelling.
All spellings of one canonical value are a *stem*: they share a number, and they
leave together, so that no variant of a number is given out twice.  A message is
handled in three steps: :meth:`Book.look` says what is new in it and refuses a
flood, :meth:`Book.settle` computes the changes, :meth:`Book.apply` makes them.
Between the steps a store does what only it can do: reserve numbers, write rows.
Until ``apply`` the book is as it was, so a failed write needs no undoing.

Records are filed under names that the store chooses (``name``): tuples in
memory, keyed hashes where the book mirrors what others can read.

After its time to live a record is *emptied*: the value goes, and what is left
(token, origins, the keyed name) keeps the same value from coming back later as
one that nobody ever saw.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias
from weakref import WeakSet

from msgspec import Struct
from msgspec.structs import replace

from cloakllm_gateway.shell.stores.interface import Follower, QuotaExceeded, Quotas
from cloakllm_gateway.vault.entries import Entry, Spelling, Token

Name: TypeAlias = tuple[str, ...] | bytes
Namer: TypeAlias = Callable[[str, tuple[str, ...]], Name]
#: What becomes of records; None: they go.
Changes: TypeAlias = dict[Name, "Record | None"]

#: Without a time to live, "last seen" is kept to the day.
_DAY = 86_400.0
#: When the vault is full, room is made for this part of it at once.
_ROOM = 100


class Record(Struct, frozen=True):
    """One spelling, kept.  Times are in seconds since 1970; ``brought_by`` is the origin whose quota it counts for."""

    namespace: str
    stem: Name
    entry: Entry
    brought_by: str
    minted: float
    seen: float
    restored: bool = False
    empty: bool = False


class Look(Struct, frozen=True):
    """One message against the book: its spellings with their names, and how many new numbers it wants."""

    namespace: str
    group: str
    origin: str
    spelled: Sequence[tuple[Name, Name, Spelling]]
    wanted: Counter[str]
    evicted: Sequence[Name]


class Conflict(Exception):
    """Two records claim one token."""


class Book:
    """All records of a store; ``ttl`` is in seconds since a value was last seen."""

    def __init__(self, quotas: Quotas, name: Namer, ttl: float | None = None) -> None:
        self.records: dict[Name, Record] = {}
        self._quotas = quotas
        self._name = name
        self._ttl = ttl
        self._by_token: dict[Token, Name] = {}
        self._stems: dict[Name, dict[Name, None]] = {}
        self._owned: Counter[tuple[str, str]] = Counter()  # by namespace and origin
        self._sweep_at = 0.0
        self._followers: WeakSet[Follower] = WeakSet()

    # -- a message, in three steps -----------------------------------------------------------------

    def look(self, namespace: str, group: str, origin: str, spellings: Sequence[Spelling]) -> Look:
        """What is new in a message.  Raises :class:`QuotaExceeded`."""
        spelled = [(*self._names(namespace, group, spelling), spelling) for spelling in spellings]
        new = {name: stem for name, stem, _ in spelled if (kept := self.records.get(name)) is None or kept.empty}
        self._refuse_flood(namespace, origin, len(new))
        categories = {stem: spelling.category for _, stem, spelling in spelled}
        wanted = Counter(categories[stem] for stem in dict.fromkeys(new.values()) if stem not in self._stems)
        more = len(self.records) + sum(name not in self.records for name in new) - self._quotas.total
        evicted = self._oldest(more, keep=categories) if more > 0 else ()
        return Look(namespace, group, origin, spelled, wanted, evicted)

    def settle(self, look: Look, take: Callable[[str], int], now: float) -> tuple[Changes, list[Entry]]:
        """What the message changes, and its entries in order; ``take`` gives the next number of a category."""
        changes: Changes = dict.fromkeys(look.evicted)
        fresh: dict[Name, tuple[int, int]] = {}
        for name, stem, spelling in look.spelled:
            old = changes.get(name) or self.records.get(name)
            if old is None:
                number, variant = fresh.get(stem) or self._free(stem) or (take(spelling.category), 0)
                fresh[stem] = (number, variant + 1)
                entry = Entry(Token(spelling.category, number, variant), spelling, look.group, frozenset())
                old = Record(look.namespace, stem, entry, look.origin, now, now)
                kept = None
            else:
                kept = old
            new = self._seen(old, spelling, look.origin, now)
            if new != kept:
                changes[name] = new
        records = (changes.get(name) or self.records[name] for name, _, _ in look.spelled)
        return changes, [record.entry for record in records]

    def apply(self, changes: Mapping[Name, Record | None]) -> None:
        """Make changes; followers learn of them.  Raises :class:`Conflict` before anything is changed."""
        for name, record in changes.items():
            if record is not None and self._by_token.get(record.entry.token, name) != name:
                raise Conflict
        news: dict[str, list[tuple[Token, Entry | None]]] = {}
        for name, record in changes.items():
            old = self.records.pop(name, None)
            if old is not None:
                self._remove(name, old)
            if record is not None:
                self._add(name, record)
            told = record or old
            if told is not None:
                gone = record is None or record.empty
                news.setdefault(told.namespace, []).append((told.entry.token, None if gone else told.entry))
        for follower in self._followers if news else ():
            follower.pending.extend(news.get(follower.namespace, ()))

    # -- other changes -----------------------------------------------------------------------------

    def expired(self, now: float) -> Changes:
        """The records whose time is over, emptied; quick when there are none."""
        if self._ttl is None or now < self._sweep_at:
            return {}
        gone = {n: _emptied(r) for n, r in self.records.items() if not r.empty and r.seen + self._ttl <= now}
        if not gone:
            oldest = min((r.seen for r in self.records.values() if not r.empty), default=now)
            # A sweep looks at everything, so it pays to be a little late rather than to sweep for each.
            self._sweep_at = max(oldest + self._ttl, now + self._ttl / 64)
        return {**gone}

    def restored(self, namespace: str, tokens: Iterable[Token]) -> Changes:
        """The records of tokens that were restored for the first time: they are evicted last."""
        names = [self._by_token[token] for token in tokens if token in self._by_token]
        return {
            name: replace(record, restored=True)
            for name in names
            if (record := self.records[name]).namespace == namespace and not record.restored
        }

    def without(self, namespace: str, values: Callable[[Spelling], bool] | None = None) -> Changes:
        """A namespace emptied for good, or rid of the stems with a spelling that ``values`` picks."""
        mine = [(name, record) for name, record in self.records.items() if record.namespace == namespace]
        if values is None:
            return {name: None for name, _ in mine}
        stems = {record.stem for _, record in mine if not record.empty and values(record.entry.spelling)}
        return {name: None for stem in stems for name in self._stems[stem]}

    def by_token(self, namespace: str, token: Token) -> Entry | None:
        name = self._by_token.get(token)
        record = None if name is None else self.records[name]
        return record.entry if record and record.namespace == namespace and not record.empty else None

    def follow(self, namespace: str) -> Follower:
        """What there is and what comes in ``namespace``, for as long as the caller keeps the follower."""
        follower = Follower(namespace)
        follower.pending.extend((record.entry.token, record.entry) for record in self._living(namespace))
        self._followers.add(follower)
        return follower

    def _living(self, namespace: str) -> Iterator[Record]:
        return (r for r in self.records.values() if r.namespace == namespace and not r.empty)

    # -- inside ------------------------------------------------------------------------------------

    def _names(self, namespace: str, group: str, spelling: Spelling) -> tuple[Name, Name]:
        """The name of a spelling, and of its stem."""
        stem = self._name("stem", (namespace, group, spelling.category, spelling.canonical))
        return self._name("spelling", (namespace, group, *spelling.identity)), stem

    def _refuse_flood(self, namespace: str, origin: str, new: int) -> None:
        quotas = self._quotas
        if new > quotas.per_message:
            raise QuotaExceeded(
                f"One message holds more than {quotas.per_message} new values (vault.max_values_per_message)",
                "Ask for less at once.",
            )
        if new and self._owned[namespace, origin] + new > quotas.per_origin:
            raise QuotaExceeded(
                f"The upstream has brought more than its {quotas.per_origin} values (vault.max_values_per_upstream)",
                "Empty the vault: restart the gateway, or run `vault purge` where the vault outlives it.",
            )
        if new > quotas.total:
            raise QuotaExceeded(
                f"The vault holds no more than {quotas.total} values (vault.max_values)", "Ask for less at once."
            )

    def _oldest(self, count: int, keep: Mapping[Name, object]) -> list[Name]:
        """Names of at least ``count`` records, whole stems: never restored ones first, oldest first.

        The namespace that has most gives them first, so that none can drive out the values of another.
        """
        count = max(count, min(self._quotas.total // _ROOM, len(self.records)))
        sizes = Counter(record.namespace for record in self.records.values())
        order = sorted(
            (
                sizes[self.records[next(iter(names))].namespace],
                all(not self.records[n].restored for n in names),
                -max(self.records[n].seen for n in names),
                stem,
            )
            for stem, names in self._stems.items()
            if stem not in keep
        )
        going: list[Name] = []
        while order and len(going) < count:
            going += self._stems[order.pop()[-1]]
        return going

    def _free(self, stem: Name) -> tuple[int, int] | None:
        """Number and next variant of a known stem."""
        names = self._stems.get(stem)
        if not names:
            return None
        tokens = [self.records[name].entry.token for name in names]
        return tokens[0].number, 1 + max(token.variant for token in tokens)

    def _seen(self, record: Record, spelling: Spelling, origin: str, now: float) -> Record:
        """``record`` with ``origin`` among its origins and the more certain of its proofs."""
        entry = record.entry
        spelling = spelling if record.empty else _merged(entry.spelling, spelling)
        if spelling != entry.spelling or origin not in entry.origins:
            entry = entry._replace(spelling=spelling, origins=entry.origins | {origin})
        precision = _DAY if self._ttl is None else self._ttl / 8
        seen = now if record.empty or now - record.seen >= precision else record.seen
        if entry is record.entry and seen == record.seen:
            return record
        by = origin if record.empty else record.brought_by
        return replace(record, entry=entry, seen=seen, brought_by=by, empty=False)

    def _add(self, name: Name, record: Record) -> None:
        self.records[name] = record
        self._by_token[record.entry.token] = name
        self._stems.setdefault(record.stem, {})[name] = None
        self._owned[record.namespace, record.brought_by] += not record.empty

    def _remove(self, name: Name, record: Record) -> None:
        del self._by_token[record.entry.token]
        stem = self._stems[record.stem]
        del stem[name]
        if not stem:
            del self._stems[record.stem]
        self._owned[record.namespace, record.brought_by] -= not record.empty


def _merged(old: Spelling, new: Spelling) -> Spelling:
    """A value proved by more than a key is a known value everywhere from then on; sensitive once is always."""
    proof = old.proof.surer(new.proof)
    if proof is old.proof and old.sensitive >= new.sensitive:
        return old
    return old._replace(proof=proof, sensitive=old.sensitive or new.sensitive)


def _emptied(record: Record) -> Record:
    spelling = record.entry.spelling._replace(raw="", value="", canonical="")
    return replace(record, entry=record.entry._replace(spelling=spelling), empty=True)
