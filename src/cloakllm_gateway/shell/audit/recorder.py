"""The audit of one session: what the core records goes to the log, in time, or the message stays here.

Entries are written by whoever has them, at once and in one piece per batch: an
append takes less than a switch to another thread.  What waits for the disk
(``fsync``, signing, anchors) is done in a thread by :meth:`Audit.run`.  The
first checkpoint comes a moment after the client has its first answer, so that
nobody waits for a library that signs.

Notifications are entries only where something was found in them, where they
were withheld, or where nobody looked.  The first of a second is written before it is sent; what follows
it within the second, from the same upstream, of the same method and of
categories already told of, is counted, and is one entry at the second's end.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Awaitable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import anyio
import anyio.to_thread

from cloakllm_gateway.audit import schema
from cloakllm_gateway.audit.notes import Note
from cloakllm_gateway.core.events import Record
from cloakllm_gateway.errors import AuditError
from cloakllm_gateway.shell.audit.files import Busy, is_open_to_others, lies_in
from cloakllm_gateway.shell.audit.log import Log, explained
from cloakllm_gateway.shell.audit.secrets import keyed_digest
from cloakllm_gateway.shell.config import AnchorConfig, AuditConfig, Fsync, OnAuditError
from cloakllm_gateway.shell.logging import Logger
from cloakllm_gateway.shell.steps import READY

#: Seconds between two looks at what is due, while there is something new.
TICK: Final = 1.0
#: What the EU AI Act asks of logs at least (Articles 19 and 26), in days.
SIX_MONTHS: Final = 183
#: Seconds between two signs of life of a session in which nothing happens.
HEARTBEAT: Final = 900.0
#: Records whose bodies are kept.
_HELD: Final = 256
#: Events that a flood of notifications would be a flood of.
_COUNTED: Final = frozenset({"sanitize", "withheld", "passed"})


class _Burst:
    """Notifications of one upstream and method within one second, behind the one that has been told of."""

    def __init__(self, event: str) -> None:
        self._event = event
        self._told: set[tuple[str, str]] = set()
        self._first: Mapping[str, Any] = {}
        self._categories: Counter[str] = Counter()
        self._tripwire: Counter[str] = Counter()
        self.messages = 0

    def takes(self, fields: Mapping[str, Any]) -> bool:
        """Count a notification; False where it has to be told of by itself."""
        kinds = {(kind, name) for kind in ("categories", "tripwire") for name in fields.get(kind, ())}
        kinds.add(("reason", fields.get("reason", "")))
        if not kinds <= self._told:
            self._told |= kinds
            self._first = fields
            return False
        self._categories.update(fields.get("categories", {}))
        self._tripwire.update(fields.get("tripwire", {}))
        self.messages += 1
        return True

    def record(self) -> Record:
        counts: dict[str, Any] = {"messages": self.messages}
        if self._event == "sanitize":
            counts["entity_count"] = self._categories.total()
            counts["categories"], counts["tripwire"] = dict(self._categories), dict(self._tripwire)
        return Record(self._event, {**self._first, **counts})


class Audit:
    """The audit of one session in ``directory``."""

    def __init__(self, config: AuditConfig, directory: Path, logger: Logger) -> None:
        self._config = config
        self._directory = directory
        self._logger = logger
        self._log: Log | None = None
        self._bursts: dict[tuple[str, str, str], _Burst] = {}
        self._bodies: dict[int, tuple[Record, Mapping[str, Any]]] = {}  # by the identity of the record
        self._running: set[str] = set()
        self._lost = 0
        self._unsigned = 0
        self._begun = self._started = False
        self._signed_at = self._written_at = 0.0
        self._changed = anyio.Event()
        self._has_changed = False  # much quicker to ask than the event
        self._signing = anyio.Lock()
        self._closed = False

    async def open(self, fields: Mapping[str, Any], configuration: bytes) -> None:
        """Begin the session; of its configuration a keyed digest is written.

        Raises :class:`AuditError` where its entry can't be written and must be.
        """
        if self._config.keep_days < SIX_MONTHS:
            self._logger.log("warning", "audit_kept_for_less_than_six_months", days=self._config.keep_days)
        if self._config.anchor and lies_in(self._config.anchor.file, self._directory):
            self._logger.log("warning", "audit_anchor_beside_the_log", file=self._config.anchor.file)
        self._signed_at = self._written_at = anyio.current_time()
        try:
            with explained(self._directory):
                digest = keyed_digest(self._directory, configuration)
                if is_open_to_others(self._directory):
                    self._logger.log("warning", "audit_directory_open_to_others", path=str(self._directory))
        except AuditError as error:
            self._fail(error, 1)
            return
        await self.record([Record("session_open", {**fields, "config": digest})])

    async def record(self, records: Sequence[Record]) -> None:
        """Write entries.  Raises :class:`AuditError` where that fails and ``on_error`` is to withhold."""
        await self.recording(records)

    def recording(self, records: Sequence[Record]) -> Awaitable[None]:
        """The same, to be awaited only where another writer holds the log, or where each entry is synced."""
        due = []
        for record in records:
            if record.event == "upstream_start":
                self._running.add(record.fields["upstream"])
            elif record.event == "upstream_crash":
                self._running.discard(record.fields["upstream"])
            if not self._is_counted(record):
                due.append(record)
        return self._write(due) if due else READY

    def answered(self) -> None:
        """The client has an answer: what waits for the first one is due."""
        if not self._begun:
            self._begun = True
            self._changed.set()

    async def run(self) -> None:
        """Sync, sign, anchor, prune and show signs of life, until cancelled."""
        while True:
            with anyio.move_on_after(max(0.0, self._next_look() - anyio.current_time())):
                await self._changed.wait()
            self._changed, self._has_changed = anyio.Event(), False
            await anyio.sleep(TICK)
            await self._look()

    async def close(self) -> None:
        """The last entries of the session, and a checkpoint over them."""
        last = [burst.record() for burst in self._bursts.values() if burst.messages]
        last += [Record("upstream_stop", {"upstream": name}) for name in sorted(self._running)]
        last.append(Record("session_close"))
        async with self._signing:  # one that is being made is finished first
            self._closed = True
        await self._sign("close", [schema.body(record.event, record.fields) for record in last])
        try:
            if self._log is not None:
                self._log.close()
        except AuditError as error:
            self._logger.log("warning", "audit_not_synced", reason=str(error))

    # -- entries ---------------------------------------------------------------------------------------

    def _write(self, records: Sequence[Record]) -> Awaitable[None]:
        if self._lost:
            records = [Record("log_recovered", {"reason": "unwritable", "lost": self._lost}), *records]
        try:
            bodies = [self._body(record) for record in records]
            log = self._log or self._opened()
            try:
                found = log.append(bodies, 0)
            except Busy:
                if self._lost:
                    raise  # whoever holds the log has been waited for in vain
                return self._write_patiently(log, bodies)
        except AuditError as error:
            self._fail(error, len(records) - bool(self._lost))
            return READY
        if self._config.fsync is Fsync.ALWAYS:
            return self._sync(log, len(bodies), found)
        self._written(len(bodies), found)
        return READY

    async def _write_patiently(self, log: Log, bodies: Sequence[Mapping[str, Any]]) -> None:
        try:
            found = await anyio.to_thread.run_sync(log.append, bodies)
        except AuditError as error:
            self._fail(error, len(bodies))
            return
        if self._config.fsync is Fsync.ALWAYS:
            await self._sync(log, len(bodies), found)
        else:
            self._written(len(bodies), found)

    async def _sync(self, log: Log, entries: int, found: Sequence[Mapping[str, Any]]) -> None:
        try:
            await anyio.to_thread.run_sync(log.sync)
        except AuditError as error:
            self._fail(error, entries - bool(self._lost))
        else:
            self._written(entries, found)

    def _written(self, entries: int, found: Sequence[Mapping[str, Any]]) -> None:
        """So many entries are in the log, behind those that say what was ``found`` to be wrong with its end."""
        if found:
            self._tell(found)
        if self._lost:
            self._logger.log("warning", "audit_written_again", entries_lost=self._lost)
            self._lost = 0
        self._unsigned += entries
        self._written_at = asyncio.get_running_loop().time()  # what anyio says as well, after some questions
        if not self._has_changed:
            self._has_changed = True
            self._changed.set()

    def _body(self, record: Record) -> Mapping[str, Any]:
        """What the log says of ``record``; messages that held nothing come with one record for all that are alike."""
        held = self._bodies.get(id(record))
        if held is None or held[0] is not record:
            if len(self._bodies) >= _HELD:
                self._bodies.clear()
            held = self._bodies[id(record)] = record, schema.body(record.event, record.fields)
        return held[1]

    def _fail(self, error: AuditError, entries: int) -> None:
        """Say so once, and raise ``error`` where messages are to be withheld."""
        if not self._lost:
            self._logger.log("error", "audit_not_written", reason=str(error), on_error=self._config.on_error.value)
        self._lost += entries
        self._bursts.clear()  # what was to be told of first was not
        if self._config.on_error is OnAuditError.WITHHOLD:
            raise error

    def _tell(self, found: Sequence[Mapping[str, Any]]) -> None:
        """Somebody should look at a log whose end was torn, or taken away."""
        for entry in found:
            self._logger.log("warning", "audit_log_recovered", reason=entry["reason"], entries_lost=entry["lost"])

    def _opened(self) -> Log:
        if self._log is None:
            self._log = Log(self._directory, os.urandom(8).hex())
        return self._log

    def _is_counted(self, record: Record) -> bool:
        """Whether ``record`` is of a notification that holds nothing, or is counted with others."""
        fields = record.fields
        if record.event not in _COUNTED or not fields["method"].startswith("notifications/"):
            return False
        if record.event == "sanitize" and not fields["categories"] and not fields["tripwire"]:
            return True
        key = (record.event, fields["upstream"], fields["method"])
        return self._bursts.setdefault(key, _Burst(record.event)).takes(fields)

    # -- what is due -----------------------------------------------------------------------------------

    def _next_look(self) -> float:
        """When something is due although nothing happens, in seconds of the event loop's clock."""
        heartbeat = self._written_at + HEARTBEAT
        if not (self._started and self._unsigned):
            return heartbeat
        return min(heartbeat, self._signed_at + self._config.checkpoint_every.seconds)

    async def _look(self) -> None:
        now = anyio.current_time()
        bursts, self._bursts = self._bursts, {}
        records = [burst.record() for burst in bursts.values() if burst.messages]
        if now >= self._written_at + HEARTBEAT:
            self._written_at = now
            records.append(Record("heartbeat"))
        try:
            if records:
                await self._write(records)
            if self._config.fsync is Fsync.INTERVAL and self._log is not None:
                await anyio.to_thread.run_sync(self._log.sync)
        except AuditError as error:
            self._logger.log("warning", "audit_not_synced", reason=str(error))
        every = self._config.checkpoint_every
        if self._begun and not self._started:
            self._started = True
            await self._sign("start")
        elif self._unsigned >= every.entries:
            await self._sign("count")
        elif self._started and self._unsigned and now >= self._signed_at + every.seconds:
            await self._sign("time")

    async def _sign(self, trigger: str, last: Sequence[Mapping[str, Any]] = ()) -> None:
        """Sign where the log stands; a failure is said and changes nothing for the session."""
        async with self._signing:
            if self._closed and not last:
                return  # the checkpoint of the end is the next
            self._signed_at, self._unsigned = anyio.current_time(), 0
            try:
                await anyio.to_thread.run_sync(self._sign_now, trigger, last)
            except AuditError as error:
                self._logger.log("error", "audit_not_signed", reason=str(error))

    def _sign_now(self, trigger: str, last: Sequence[Mapping[str, Any]]) -> None:
        # Imported where needed: most of what a session does comes before.
        from cloakllm_gateway.shell.audit.checkpoints import sign
        from cloakllm_gateway.shell.audit.retention import prune

        log = self._opened()
        pruned = prune(self._directory, self._config.keep_days, datetime.now(UTC).date()) if not last else 0

        def announce(key: str) -> None:
            triggers = [trigger, "prune"] if pruned else [trigger]
            entries = [schema.body("checkpoint", {"trigger": each, "key": key}) for each in triggers]
            self._tell(log.append([*last[:-1], *entries, *last[-1:]], last_words=bool(last)))

        note = sign(self._directory, announce, log.take_written)
        if note is not None and self._config.anchor is not None:
            self._take_elsewhere(note, self._config.anchor)

    def _take_elsewhere(self, note: Note, where: AnchorConfig) -> None:
        """A copy that could not be taken is no loss for long: the next one covers more."""
        from cloakllm_gateway.shell.audit.anchors import anchor

        try:
            anchor(note, where)
        except AuditError as error:
            self._logger.log("error", "audit_not_anchored", reason=str(error))
