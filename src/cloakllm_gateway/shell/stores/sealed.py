"""A store that outlives the gateway and is shared by several: sealed rows in a ledger.

Theory of operation.  Each gateway mirrors the whole store in a
:class:`~cloakllm_gateway.shell.stores.book.Book`, because it has to know every
value of its namespace anyway, to find it again in messages.  A message takes
its turn in the ledger, reads what others wrote since, computes its changes on
the mirror and writes them with a new head.  So what SQLite and Redis have to do
is little (:class:`~cloakllm_gateway.shell.stores.ledger.Ledger`), and what a
message changes is written once for all stores.

What keeps a writer of the ledger from doing more harm than stopping us:

- A row is sealed for its store, name and revision.  The name is a keyed hash of
  what the row is about.  Edited, moved or copied it does not open.
- The head holds the next number of every category (the next that no other store
  of this user has, see :mod:`~cloakllm_gateway.shell.stores.highwater`) and a
  sum over all rows.  A row that is missing, or an old one put back, changes the sum.
- An older head with the rows of its time is told by the revision: this process
  remembers how far the store had come, and the witness remembers it for the
  next.
- Rows that go leave an empty row (a *tombstone*), so that mirrors hear of it.
  From time to time tombstones are wiped; a mirror that is older than that
  (*horizon*) begins anew.

A head in the ledger: the store's random id, the id of its key, the sealed part.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple, TypeVar

import anyio
import anyio.to_thread
import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from cloakllm_gateway.errors import ConfigError, VaultError
from cloakllm_gateway.shell.stores import keys
from cloakllm_gateway.shell.stores.book import Book, Changes, Conflict, Name, Record
from cloakllm_gateway.shell.stores.highwater import StoreNumbers
from cloakllm_gateway.shell.stores.interface import Follower, Options, StoreAway, StoreBusy
from cloakllm_gateway.shell.stores.ledger import Change, Ledger, Row, View
from cloakllm_gateway.shell.stores.records import packed, unpacked
from cloakllm_gateway.shell.stores.witness import Witness
from cloakllm_gateway.vault.entries import Entry, Spelling, Token
from cloakllm_gateway.vault.sealing import KEY_BYTES, KEY_ID_BYTES, NONCE_BYTES, SUM_MODULUS, Broken, Sealer, index

T = TypeVar("T")

_STORE_ID_BYTES = 16
#: Tombstones are wiped when there are more of them than this, and more than half as many as records.
_TOMBSTONES = 1000
#: Seconds of waiting for a store that is away, from which on it is left alone for some.
_SLOW, _REST = 1.0, 2.0
#: Seconds that a change waits for those of others, and between two looks whether they are done.
_OTHERS, _LOOK = 10.0, 0.02


class _Head(Struct, array_like=True, frozen=True):
    """The sealed part of a head.

    ``numbers`` are the next ones, ``total`` the sum over all rows, ``lock``
    what a passphrase is checked against before a person may read values.
    """

    revision: int = 0
    horizon: int = 0
    total: bytes = b""
    index_key: bytes = b""
    numbers: dict[str, int] = field(default_factory=dict)
    lock: bytes = b""


class SealedStore:
    """A :class:`~cloakllm_gateway.shell.stores.interface.Store` in ``ledger``.

    ``clock`` tells the seconds since 1970; ``place`` says to people where it is.
    """

    shared = True

    def __init__(
        self, ledger: Ledger, keeper: keys.KeyKeeper, witness: Witness, own: StoreNumbers, options: Options,
        clock: Callable[[], float] = time.time,
    ) -> None:  # fmt: skip
        self.place = ledger.place
        self._ledger = ledger
        self._keeper = keeper
        self._witness = witness
        self._own = own
        self._clock = clock
        self._lock = anyio.Lock()
        self._changing = anyio.Lock()
        self._outage: _Outage | None = None  # of all of it
        self._crowded: _Outage | None = None  # of changes
        self._sealer: Sealer | None = None
        self._store_id = b""
        self._head_bytes: bytes | None = None
        self._head = _Head()
        #: What every row adds to the sum, and which rows are tombstones.
        self._weights: dict[Name, int] = {}
        self._tombs: set[Name] = set()
        self.book = Book(options.quotas, self._name, options.ttl)

    # -- the contract ------------------------------------------------------------------------------

    async def assign(self, namespace: str, group: str, origin: str, spellings: Sequence[Spelling]) -> list[Entry]:
        entries: list[Entry] = []

        def plan(take: Callable[[str], int]) -> Changes:
            look = self.book.look(namespace, group, origin, spellings)
            changes, entries[:] = self.book.settle(look, take, self._clock())
            return changes

        if spellings:
            await self._run_change(self._assign, plan)
        return entries

    async def follow(self, namespace: str) -> Follower:
        return await self._run(self.book.follow, namespace)

    async def refresh(self) -> None:
        await self._run(self.catch_up)

    async def restored(self, namespace: str, tokens: Iterable[Token]) -> None:
        await self._run_change(self._mark_restored, namespace, tuple(tokens))

    async def forget(self, namespace: str) -> None:
        await self._run_change(self._change, lambda _take: self.book.without(namespace))

    def check(self) -> None:
        self._ledger.read(self._catch_up)
        self._own.check()

    def close(self) -> None:
        self._ledger.close()

    # -- for the command line ----------------------------------------------------------------------

    def catch_up(self) -> None:
        """Take in what others wrote, and empty what is over its time.  Raises ``VaultError``."""
        self._ledger.read(self._catch_up)
        if self.book.expired(self._clock()):
            with suppress(StoreBusy):  # then the next time
                self._change(lambda _take: {})

    def drop(self, namespace: str, values: Callable[[Spelling], bool] | None = None) -> int:
        """Forget all values of ``namespace``, or those that ``values`` picks; how many spellings went."""
        gone: Changes = {}

        def plan(_take: Callable[[str], int]) -> Changes:
            nonlocal gone
            gone = self.book.without(namespace, values)
            return gone

        _patiently(self._change, plan)
        return len(gone)

    @property
    def lock(self) -> bytes:
        """What was given to :meth:`set_lock` last, empty if nothing was."""
        return self._head.lock

    def set_lock(self, lock: bytes) -> None:
        """Keep ``lock`` with the store, sealed."""
        _patiently(self._change, lambda _take: {}, lock)

    def rekey(self) -> int:
        """Seal everything anew under a new key; how many records there are.  Running gateways have to be restarted."""
        new_key = secrets.token_bytes(KEY_BYTES)
        sealer = Sealer(new_key)

        def wanted() -> _Step | None:
            if not self._head_bytes:
                return None
            self._keeper.stage(new_key)
            return self._step(sealer, dict(self.book.records), self._head.numbers, anew=True)

        step = _patiently(self._written, wanted)
        if step is not None:
            self._sealer = sealer
            self._keeper.promote()
            self._take_step(step)
        return len(self.book.records)

    # -- reading -----------------------------------------------------------------------------------

    async def _run(self, call: Callable[..., T], *arguments: object) -> T:
        """In a thread, one after the other; shielded, so that nothing is half done.

        Where the store kept somebody waiting in vain, those behind do not wait as well.
        """
        async with self._lock:
            began = time.monotonic()
            if self._outage is not None and began < self._outage.until:
                raise StoreAway(self._outage.error.what, self._outage.error.hint)
            self._outage = None
            try:
                return await anyio.to_thread.run_sync(call, *arguments)
            except StoreAway as error:
                now = time.monotonic()
                if now - began > _SLOW:
                    self._outage = _Outage(error, now + _REST)
                raise

    async def _run_change(self, call: Callable[..., T], *arguments: object) -> T:
        """A change waits for those of others beside the turn of those who read, and one for all that are behind it."""
        async with self._changing:
            began = time.monotonic()
            if self._crowded is not None and began < self._crowded.until:
                raise StoreAway(self._crowded.error.what, self._crowded.error.hint)
            while True:
                try:
                    return await self._run(call, *arguments)
                except StoreBusy as error:
                    now = time.monotonic()
                    if now > began + _OTHERS:
                        self._crowded = _Outage(error, now + _REST)
                        raise
                await anyio.sleep(_LOOK)

    def _catch_up(self, view: View) -> None:
        """Bring the mirror to the head of the ledger.  Raises ``VaultError`` for whatever is not as it was written."""
        noted = b"" if self._head_bytes else self._witness.recall()
        while True:
            written = view.head()
            if written is None:
                if self._head_bytes:
                    raise self._damaged("is gone or empty")
                self._witness.refuse_absent(noted)
                return
            if written == self._head_bytes:
                return
            head = self._opened_head(written, noted)
            reload = head.horizon > self._head.revision
            rows = list(view.rows(0 if reload else self._head.revision))
            if self._take_in(head, rows, reload=reload):
                self._head, self._head_bytes = head, written
                self._witness.note(head.revision, head.index_key)
                return
            if view.head() == written:
                raise self._damaged("lacks rows, or holds some that do not belong to it")
            # Others wrote between the head and its rows.

    def _opened_head(self, written: bytes, noted: bytes) -> _Head:
        if not isinstance(written, bytes):
            raise self._damaged("has a head that no gateway wrote")
        key_at, sealed_at = _STORE_ID_BYTES, _STORE_ID_BYTES + KEY_ID_BYTES
        store_id, key_id = written[:key_at], written[key_at:sealed_at]
        if self._sealer is None:
            self._sealer = keys.find(self._keeper, key_id, self.place)
        if key_id != self._sealer.key_id:
            raise VaultError(f"The token store at {self.place} was sealed with another key", "Restart the gateway.")
        try:
            head = msgspec.msgpack.decode(self._sealer.open(written[sealed_at:], _head_identity(store_id)), type=_Head)
        except (Broken, msgspec.MsgspecError):
            raise self._damaged("has a head that no gateway with its key wrote") from None
        if self._head_bytes and store_id != self._store_id:
            raise self._damaged("was replaced by another")
        if not self._head_bytes:
            self._witness.refuse_older(noted, head.revision, head.index_key)
        elif head.revision <= self._head.revision:
            raise self._damaged("was put back to an older state while the gateway ran")
        self._store_id = store_id
        return head

    def _take_in(self, head: _Head, rows: Sequence[Row], *, reload: bool) -> bool:
        """Open ``rows`` and make them part of the mirror, all or none; False if they are not those of ``head``."""
        sealer = self._sealed_by()
        known = {} if reload else self._weights
        fresh: dict[Name, int] = {row.name: _weight(sealer, row) for row in rows if _well_formed(row)}
        total = 0 if reload else int.from_bytes(self._head.total, "big")
        total += sum(weight - known.get(name, 0) for name, weight in fresh.items())
        if len(fresh) != len(rows) or total % SUM_MODULUS != int.from_bytes(head.total, "big"):
            return False
        changes: Changes = dict.fromkeys(self.book.records) if reload else {}
        try:
            for row in rows:
                changes[row.name] = unpacked(sealer.open(row.sealed, self._identity(row.name, row.revision)))
            self.book.apply(changes)
        except (Broken, msgspec.MsgspecError, UnicodeDecodeError):
            raise self._damaged("holds a row that no gateway with its key wrote") from None
        except Conflict:
            raise self._damaged("holds one token twice") from None
        if reload:
            self._weights.clear()
            self._tombs.clear()
        self._weights.update(fresh)
        self._mark_tombs(changes)
        return True

    def _mark_tombs(self, changes: Changes) -> None:
        for name, record in changes.items():
            if record is None and name in self._weights:
                self._tombs.add(name)
            else:
                self._tombs.discard(name)

    # -- writing -----------------------------------------------------------------------------------

    def _change(self, plan: Callable[[Callable[[str], int]], Changes], lock: bytes | None = None) -> None:
        """Write what ``plan`` wants in the store as it is then, a new lock, and what is over its time.

        ``plan`` is given a source of numbers, and may be called again.
        """

        def wanted() -> _Step | None:
            sealer = self._begun()
            numbers = dict(self._head.numbers)
            claimant = f"{self._store_id.hex()}-{self._witness.name}"  # a copy of the store elsewhere is another

            def take(category: str) -> int:
                number = self._own.next(claimant, category, numbers.get(category, 0))
                numbers[category] = number + 1
                return number

            changes = {**self.book.expired(self._clock()), **plan(take)}
            return self._step(sealer, changes, numbers, lock=lock) if changes or lock is not None else None

        self._write(wanted)

    def _write(self, wanted: Callable[[], _Step | None]) -> None:
        """Write what is wanted, and make it part of the mirror."""
        step = self._written(wanted)
        if step is not None:
            self._take_step(step)

    def _written(self, wanted: Callable[[], _Step | None]) -> _Step | None:
        """Write what is wanted in the store as it is then, which may be asked for again; what was written at last."""
        step: _Step | None = None

        def work(view: View) -> Change | None:
            nonlocal step
            self._catch_up(view)
            step = wanted()
            return step.change if step is not None else None

        self._ledger.change(work)
        return step

    def _assign(self, plan: Callable[[Callable[[str], int]], Changes]) -> None:
        """A change that takes numbers: they are claimed for a store that is there, so a new one is made first."""
        if not self._head_bytes:
            self._write(lambda: None if self._head_bytes else self._step(self._begun(), {}, {}))
        self._change(plan)

    def _mark_restored(self, namespace: str, tokens: Sequence[Token]) -> None:
        if self.book.restored(namespace, tokens):
            self._change(lambda _take: self.book.restored(namespace, tokens))

    def _begun(self) -> Sealer:
        """The sealer; for a new store also its id and its index key, which become real with the first change."""
        if self._sealer is None:
            self._sealer = keys.make(self._keeper)
        if not self._head_bytes and not self._head.index_key:
            self._store_id = secrets.token_bytes(_STORE_ID_BYTES)
            self._head = _Head(index_key=secrets.token_bytes(KEY_BYTES))
        return self._sealer

    def _step(
        self,
        sealer: Sealer,
        changes: Changes,
        numbers: dict[str, int],
        *,
        lock: bytes | None = None,
        anew: bool = False,
    ) -> _Step:
        """The rows for ``changes`` and a head that covers them; ``anew`` if they are all there will be."""
        going = {name for name, record in changes.items() if record is None}
        tombs = self._tombs | going
        wiping = anew or len(tombs) > max(_TOMBSTONES, len(self.book.records) // 2)
        wiped = tombs if wiping else set()
        revision = self._head.revision + 1
        rows = [self._row(sealer, name, revision, record) for name, record in changes.items() if name not in wiped]
        fresh: dict[Name, int] = {row.name: _weight(sealer, row) for row in rows}
        total = 0 if anew else int.from_bytes(self._head.total, "big")
        if not anew:
            total -= sum(self._weights.get(name, 0) for name in fresh.keys() | wiped)
        total = (total + sum(fresh.values())) % SUM_MODULUS
        head = replace(
            self._head,
            revision=revision,
            horizon=revision if wiped else self._head.horizon,
            total=total.to_bytes(16, "big"),
            numbers=numbers,
            lock=self._head.lock if lock is None else lock,
        )
        sealed = sealer.seal(msgspec.msgpack.encode(head), _head_identity(self._store_id), os.urandom(NONCE_BYTES))
        written = self._store_id + sealer.key_id + sealed
        return _Step(Change(written, rows, [n for n in wiped if isinstance(n, bytes)]), head, changes, fresh)

    def _row(self, sealer: Sealer, name: Name, revision: int, record: Record | None) -> Row:
        assert isinstance(name, bytes)
        sealed = sealer.seal(packed(record), self._identity(name, revision), os.urandom(NONCE_BYTES))
        return Row(name, revision, sealed)

    def _take_step(self, step: _Step) -> None:
        """What was written becomes part of the mirror."""
        self.book.apply(step.changes)
        self._weights.update(step.weights)
        for name in step.change.wiped:
            self._weights.pop(name, None)
        self._mark_tombs({**dict.fromkeys(step.change.wiped), **step.changes})
        self._head, self._head_bytes = step.head, step.change.head
        self._witness.note(step.head.revision, step.head.index_key)

    # -- names and errors --------------------------------------------------------------------------

    def _name(self, purpose: str, parts: tuple[str, ...]) -> bytes:
        return index(self._head.index_key, purpose, parts)

    def _identity(self, name: bytes, revision: int) -> bytes:
        """What a row is sealed for."""
        return b"row" + self._store_id + revision.to_bytes(8, "big") + name

    def _sealed_by(self) -> Sealer:
        assert self._sealer is not None  # whoever has read a head has a sealer
        return self._sealer

    def _damaged(self, how: str) -> VaultError:
        return VaultError(
            f"The token store at {self.place} {how}",
            "Continued, it could give old tokens new meanings. Restore it from a backup.",
        )


def _patiently(call: Callable[..., T], *arguments: object) -> T:
    """For commands: what ``call`` returns, once the changes of others let it.  Raises what ``call`` does."""
    give_up = time.monotonic() + _OTHERS
    while True:
        try:
            return call(*arguments)
        except StoreBusy:
            if time.monotonic() > give_up:
                raise
            time.sleep(_LOOK)


class _Outage(NamedTuple):
    """A store that is away, and until when (monotonic seconds) nobody tries again."""

    error: StoreAway
    until: float


class _Step(Struct, frozen=True):
    """A change ready to be written, and what the mirror becomes by it."""

    change: Change
    head: _Head
    changes: Changes
    weights: dict[Name, int]


def sealed_store(ledger: Ledger, options: Options) -> SealedStore:
    """The store in ``ledger``.  Raises :class:`ConfigError` where there is no place for its key."""
    state_dir = options.state_dir
    if state_dir is None:
        raise ConfigError("A vault that outlives the gateway needs a directory for its key", "Set state_dir")
    keeper, witness = keys.keeper(options.key_file, state_dir), Witness(state_dir, ledger.place)
    return SealedStore(ledger, keeper, witness, StoreNumbers(state_dir), options)


def _well_formed(row: Row) -> bool:
    """Whether a row has the types it was written with: whoever edits a column may change them too."""
    return (
        type(row.name) is bytes
        and type(row.revision) is int
        and 0 < row.revision < 1 << 63
        and type(row.sealed) is bytes
    )


def _weight(sealer: Sealer, row: Row) -> int:
    return sealer.weight(row.revision.to_bytes(8, "big") + row.name + row.sealed)


def _head_identity(store_id: bytes) -> bytes:
    return b"head" + store_id
