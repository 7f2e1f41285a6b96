"""The effect interpreter: everything the core asks for is done here, and nothing is decided.

Events are taken one at a time: the core answers, and its effects are performed
in their order, at once and where the event arose (:mod:`.steps`).  Whatever
takes long runs beside that and comes back as an event.  The client's requests
wait in its pipe until detection has been proved.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing, suppress
from functools import partial
from time import perf_counter
from typing import TypeVar, assert_never

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from cloakllm_gateway.core.events import (
    CLIENT,
    Assign,
    Assigned,
    AssignFailed,
    Compute,
    Computed,
    Connected,
    Deed,
    Disconnected,
    Drop,
    Effect,
    Event,
    Log,
    LogOutput,
    Overlong,
    Postpone,
    Received,
    Record,
    RecordFailed,
    Resume,
    Resumed,
    Scan,
    ScanFailed,
    Scanned,
    Send,
    StartTimer,
    StopTimer,
    Used,
)
from cloakllm_gateway.errors import AuditError, DetectionError, VaultError, first_cause, place_of
from cloakllm_gateway.protocol import jsonrpc
from cloakllm_gateway.shell import signals
from cloakllm_gateway.shell.audit.recorder import Audit
from cloakllm_gateway.shell.auditing import append_entry, audit_of, audited, warn_where_not_audited
from cloakllm_gateway.shell.beside import Beside
from cloakllm_gateway.shell.config import Config
from cloakllm_gateway.shell.library_logs import library_logs
from cloakllm_gateway.shell.link import Link
from cloakllm_gateway.shell.logging import Logger
from cloakllm_gateway.shell.proof import prove
from cloakllm_gateway.shell.scanner import size_of
from cloakllm_gateway.shell.steps import READY, Post, Steps, finish, forgo
from cloakllm_gateway.shell.stores import Follower, StoreAway
from cloakllm_gateway.shell.streams import Streams
from cloakllm_gateway.shell.supervisor import Restarts
from cloakllm_gateway.shell.timers import Timers
from cloakllm_gateway.shell.transports import Transport
from cloakllm_gateway.shell.transports.stdio import Front
from cloakllm_gateway.shell.turns import Turns
from cloakllm_gateway.shell.wiring import Parts, Shared, assemble, link_to
from cloakllm_gateway.shell.writable import check_writable
from cloakllm_gateway.vault.entries import Token

#: Events of one sender that may wait before it has to; a message of so many bytes more counts as one more of them.
BACKLOG = 256
PART = 16_384

#: Seconds of work before the event loop looks at what else there is.
SLICE = 0.002

#: Values that are learned before the event loop looks at what else there is.
NEWS = 128

#: Bytes of a message from which the core works in a thread.
LARGE = 65_536

#: Why a message goes no further that we have a bug with.
INTERNAL_ERROR = "the gateway had an internal error"

#: Seconds that requests in flight are given when the client closes its side.
LAST_ANSWERS = 1.0

#: A piece of work for an upstream.
Work = TypeVar("Work", Scan, Compute, Assign)


class Interpreter:
    """Performs the effects of one session's core."""

    def __init__(
        self, parts: Parts, follower: Follower, front: Transport, audit: Audit | None, tasks: TaskGroup
    ) -> None:
        self._gateway = parts.gateway
        self._scanner = parts.shared.scanner
        self._store = parts.shared.store
        self._namespace = parts.namespace
        self._follower = follower
        self._logger = parts.shared.logger
        self._front = front
        self._audit = audit
        self._tasks = tasks
        self._events = Turns[Event](BACKLOG)
        self._beside = Beside(tasks, BACKLOG)
        self._timers = Timers(self.post)
        self._worked = 0.0  # seconds since the event loop had a turn for certain
        self._busy = True  # with an event; and before run() with its preparations
        self._parked: tuple[Steps[None], Awaitable[object]] | None = None
        self._failed: Exception | None = None
        self._due = anyio.Event()  # there is something for run() to do
        self._quiet: anyio.Event | None = None  # for who waits until nothing is going on
        self.links: dict[str, Link] = {}

    def post(self, event: Event) -> Awaitable[None]:
        """Tell the core, in turn; a ping that would have to wait for another message is answered at once."""
        sender = _sender(event)
        if self._busy and sender == CLIENT and isinstance(event, Received):
            pinged = _pinged(event.line)
            if pinged is not None:
                answer = Send(CLIENT, jsonrpc.result(pinged, {}), answers="ping")
                return self._front.send(jsonrpc.encode(answer.message), answer)
        room = self._put(sender, event)
        return self._beside.room(sender) if room is READY else room

    def _put(self, sender: str, event: Event) -> Awaitable[None]:
        if self._busy:
            return self._events.put(sender, event, _weight(len(event.line)) if isinstance(event, Received) else 1)
        self._go_on(event)  # nothing waits
        return READY

    async def run(self) -> None:
        """Wait for whatever has to be waited for, until cancelled."""
        self._go_on(self._events.take())
        try:
            while True:
                await self._due.wait()
                self._due = anyio.Event()
                if self._failed is not None:
                    raise self._failed
                if self._parked is not None:
                    (steps, awaited), self._parked = self._parked, None
                    await finish(steps, awaited)
                    self._busy = False
        finally:
            self._busy = True  # for good
            self._timers.stop_all()
            if self._parked is not None:  # since this was cancelled
                forgo(*self._parked)

    def _go_on(self, event: Event | None) -> None:
        """Handle ``event`` and then those that wait, until one has to wait for something: the rest is :meth:`run`'s."""
        self._busy = True
        steps = self._work(event)
        try:
            self._parked = steps, next(steps)
        except StopIteration:
            self._busy = False
            return
        except Exception as error:  # noqa: BLE001 - of the interpreter itself: run() ends with it, whoever called
            self._failed = error
        self._due.set()

    def _work(self, event: Event | None) -> Steps[None]:
        while event is not None:
            began, before = perf_counter(), self._worked
            if self._store.shared and isinstance(event, Received) and event.peer == CLIENT and b"_" in event.line:
                yield self._refresh()  # every token has an underscore, a ping has none
            while self._follower.pending:
                yield from self._handle(self._follower.take(NEWS))
                if perf_counter() - began > SLICE:
                    yield asyncio.sleep(0)
            yield from self._handle(event)
            self._worked += perf_counter() - began
            if self._worked > SLICE:
                self._had_a_turn()
                yield asyncio.sleep(0)  # many messages in one piece must not keep everything else waiting
            elif before <= SLICE / 2 < self._worked:  # messages that come one by one have turns between them
                asyncio.get_running_loop().call_soon(self._had_a_turn)
            event = self._events.take()
        if self._quiet is not None:
            self._quiet.set()

    def _had_a_turn(self) -> None:
        self._worked = 0.0

    async def last_answers(self, seconds: float) -> None:
        """The client has closed its side: give what is in flight a moment."""
        with anyio.move_on_after(seconds):
            while self._busy or not self._gateway.idle:
                self._quiet = anyio.Event()
                await self._quiet.wait()

    def _handle(self, event: Event) -> Steps[None]:
        try:
            if self._is_large(event):
                # One event at a time, thread or not; what else touches the vault meanwhile (log lines) only looks
                # up and adds.
                effects: Sequence[Effect] = yield anyio.to_thread.run_sync(self._gateway.handle, event)
            else:
                effects = self._gateway.handle(event)
        except Exception as error:  # noqa: BLE001 - the one broad handler: a bug lets nothing through
            yield from self._contain(event, error)
        else:
            yield from self._perform_all(effects)

    def _is_large(self, event: Event) -> bool:
        """Whether the core works it out in a thread, so that the loop stays awake."""
        return isinstance(event, Computed) or (isinstance(event, Received) and len(event.line) > LARGE)

    def _contain(self, event: Event, error: Exception) -> Steps[None]:
        """A bug of ours withholds the message it met, or closes the upstream that sent it; its text may hold values."""
        peer = event.peer if isinstance(event, Received | Overlong) else ""
        if isinstance(event, Resumed):
            peer = event.upstream
        self._logger.log("error", "internal_error", kind=type(error).__name__, met=type(event).__name__, peer=peer)
        job = event.job if isinstance(event, Scanned | Assigned | Computed) else self._gateway.broken_job
        yield from self._perform_all(self._gateway.abandon(event))
        if job is not None:
            yield from self._handle(ScanFailed(job, INTERNAL_ERROR))
        elif peer in self.links:
            self.links[peer].drop("the gateway could not handle a message of it")

    def _perform_all(self, effects: Sequence[Effect]) -> Steps[None]:
        """In their order; what the audit has to say is written, in one piece, before anything behind it is sent."""
        is_recorded: bool | None = None  # not yet
        unsent: list[Send] = []
        for effect in effects:
            if isinstance(effect, Send):
                if is_recorded is False:
                    unsent.append(effect)
                elif (written := self._deliver(effect)) is not READY:
                    yield written
            elif not isinstance(effect, Record):
                self._perform(effect)
            elif is_recorded is None:
                try:
                    if (entered := self._record([e for e in effects if isinstance(e, Record)])) is not READY:
                        yield entered
                    is_recorded = True
                except AuditError:
                    is_recorded = False  # said by the audit itself, once
        if unsent:
            yield from self._handle(RecordFailed(unsent))

    def _record(self, records: Sequence[Record]) -> Awaitable[None]:
        for record in records if self._logger.says("debug") else ():
            self._logger.log("debug", record.event, **record.fields)
        return READY if self._audit is None else self._audit.recording(records)

    def _perform(self, effect: Deed) -> None:
        match effect:
            case Scan():
                size = size_of(effect.texts)
                piece = partial(self._carry_out, effect, self._scan)
                self._beside.start(effect.upstream, piece, large=size > LARGE, weight=_weight(size))
            case Compute():
                piece = partial(self._carry_out, effect, self._compute)
                self._beside.start(effect.upstream, piece, large=True, weight=_weight(effect.size))
            case Postpone(upstream, size):
                self._beside.hold(upstream, _weight(size))
            case Resume(upstream, size):
                self._beside.let_go(upstream, _weight(size))
                self._events.put(f"work for {upstream}", Resumed(upstream))
            case StartTimer(timer, seconds):
                self._timers.start(timer, seconds)
            case StopTimer(timer):
                self._timers.stop(timer)
            case Assign():
                self._beside.start(effect.upstream, partial(self._carry_out, effect, self._assign))
            case Used(tokens):
                self._tasks.start_soon(self._use, tokens)
            case Log(level, what, about):
                self._logger.log(level, what, **about)
            case LogOutput(upstream, line):
                self.links[upstream].noise(line)
            case Drop(upstream, reason):
                self.links[upstream].drop(reason)
            case _:
                assert_never(effect)

    def _deliver(self, effect: Send) -> Awaitable[None]:
        """Send it; the answer is there once the next effect may be performed."""
        line = jsonrpc.encode(effect.message)
        if effect.peer != CLIENT:
            self.links[effect.peer].send(line, effect)
            return READY
        if self._audit is not None and effect.answers != "ping":
            self._audit.answered()
        return self._front.send(line, effect)

    async def _refresh(self) -> None:
        """See what others added to the store: a client's tokens of an earlier session may be among it.

        While the store is away, what is known already still stands for the same.
        """
        try:
            await self._store.refresh()
        except Exception as error:  # noqa: BLE001 - a bug of ours changes no more than that
            self._logger.log("warning", "vault_not_read", reason=self._reason(error))

    async def _scan(self, effect: Scan) -> Scanned | ScanFailed:
        """Look at the texts, then see what else the store knows by now: without that nothing can be said."""
        try:
            found = await self._scanner.find(effect.texts)
            await self._store.refresh()
            return Scanned(effect.job, found)
        except Exception as error:  # noqa: BLE001 - a bug of ours withholds as well
            return ScanFailed(effect.job, self._reason(error))

    def _reason(self, error: Exception) -> str:
        """Why a message can't be made clean; what is no fault but a bug of ours may have a value in its text."""
        if isinstance(error, DetectionError | VaultError):
            return str(error)
        self._logger.log("error", "internal_error", kind=type(error).__name__, at=place_of(error), met="work")
        return INTERNAL_ERROR

    async def _compute(self, effect: Compute) -> Computed | ScanFailed:
        try:
            return Computed(effect.job, await anyio.to_thread.run_sync(effect.step))
        except Exception as error:  # noqa: BLE001 - a bug of ours withholds as well
            return ScanFailed(effect.job, self._reason(error))

    async def _carry_out(self, effect: Work, doing: Callable[[Work], Awaitable[Event]]) -> None:
        """A piece of work for an upstream, of which is told in that one's turn what came of it."""
        event = await doing(effect)
        await self._put(f"work for {effect.upstream}", event)

    async def _use(self, tokens: Sequence[Token]) -> None:
        try:
            await self._store.restored(self._namespace, tokens)
        except Exception as error:  # noqa: BLE001 - a bug of ours changes no more than that
            self._logger.log("warning", "vault_not_written", reason=self._reason(error))

    async def _assign(self, effect: Assign) -> Assigned | AssignFailed:
        try:
            entries = await self._store.assign(self._namespace, effect.group, effect.origin, effect.spellings)
        except Exception as error:  # noqa: BLE001 - a bug of ours withholds as well
            return AssignFailed(effect.job, self._reason(error))
        if len(entries) > NEWS:  # learned with the work on their message, and not while others wait
            self._follower.pass_over(entries)
        return Assigned(effect.job, entries)


async def serve(config: Config, logger: Logger, streams: Streams) -> None:
    """One session on ``streams``, until the client leaves or a signal comes.

    Raises :class:`DetectionError` if the start-up proof fails,
    :class:`VaultError` if the state is damaged or can't be written,
    :class:`AuditError` for a log that can't, and :class:`ConfigError` for a
    configuration that turns out to be impossible.
    """
    check_writable(config)
    parts = assemble(config, logger)
    keep_garbage_cheap()
    warn_where_not_audited(parts.shared)
    with closing(parts.shared.store):
        async with Front(*streams, config.limits.max_message_bytes) as front, anyio.create_task_group() as tasks:
            tasks.start_soon(signals.heed, tasks.cancel_scope.cancel)
            await session(parts, front, audit_of(parts.shared))
            tasks.cancel_scope.cancel()


async def session(
    parts: Parts,
    front: Transport,
    audit: Audit | None = None,
    *,
    prepare: Callable[[Shared], Awaitable[None]] = prove,
    restarts: Callable[[], Restarts] = Restarts,
) -> None:
    """The only client of a process, on ``front``, until it leaves; raises like :func:`serve`.

    ``restarts`` makes the supervisors'.  Upstreams start while ``prepare`` proves detection.
    """
    check_store(parts.shared)
    with library_logs(parts.shared.logger):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(parts.shared.scanner.run)
            await converse(parts, front, audit, partial(prepare, parts.shared), restarts=restarts)
            tasks.cancel_scope.cancel()


async def converse(
    parts: Parts,
    front: Transport,
    audit: Audit | None,
    prepare: Callable[[], Awaitable[None]],
    *,
    last_answers: float = LAST_ANSWERS,
    restarts: Callable[[], Restarts] = Restarts,
) -> None:
    """One client on ``front``, until it leaves; what sessions share is at work already.

    The client is heard once ``prepare`` is done, and when it has left, its
    requests in flight get ``last_answers`` seconds.
    """
    shared = parts.shared
    async with anyio.create_task_group() as tasks:
        follower = await shared.store.follow(parts.namespace)
        interpreter = Interpreter(parts, follower, front, audit, tasks)
        for name in shared.config.upstreams:
            link = interpreter.links[name] = link_to(parts, name, interpreter.post, restarts())
            tasks.start_soon(_run, link, name, interpreter.post, shared.logger)
        await prepare()
        async with audited(audit, parts, tasks):
            tasks.start_soon(interpreter.run)
            await front.run(interpreter.post)
            await interpreter.last_answers(last_answers)
        tasks.cancel_scope.cancel()


async def _run(link: Link, name: str, post: Post, logger: Logger) -> None:
    """Run a link; a bug of ours in it ends its upstream and nobody else's."""
    try:
        await link.run()
    except Exception as error:  # noqa: BLE001 - whatever an upstream made us trip over: its text may hold values
        cause = first_cause(error)
        logger.log("error", "internal_error", kind=type(cause).__name__, at=place_of(cause), met="link", peer=name)
        await post(Disconnected(name, INTERNAL_ERROR, final=True))


def check_store(shared: Shared) -> None:
    """Raises :class:`VaultError` where the store is not as gateways left it; that is an entry of the audit.

    One that can't be reached may be back when a value is needed, and until then nothing passes.
    """
    try:
        shared.store.check()
    except StoreAway:
        return
    except VaultError:
        about = {"action": "check", "namespace": shared.namespace, "count": 0, "refused": True}
        with suppress(AuditError):  # what is wrong with the store is worse
            append_entry(shared.config, "vault", about)
        raise


def keep_garbage_cheap() -> None:
    """A message is many small objects that live and die together, and what exists at the start stays.

    Looking for cycles among them after every 700 costs half of the time.
    """
    gc.set_threshold(50_000, 20, 100)
    gc.freeze()
    gc.enable()


def _sender(event: Event) -> str:
    """Whose events stay in order: those of one peer; the rest are timers that ran out."""
    if isinstance(event, (Received, Overlong)):
        return event.peer
    return event.upstream if isinstance(event, (Connected, Disconnected)) else ""


def _weight(size: int) -> int:
    """As how many of a sender's events, or pieces of work, one of ``size`` bytes counts."""
    return 1 + size // PART


def _pinged(line: bytes) -> str | int | None:
    """The id of a ping, if ``line`` is one."""
    if len(line) > _LONGEST_PING or b'"ping"' not in line:
        return None
    try:
        message = jsonrpc.classify(jsonrpc.decode(line))
    except jsonrpc.Malformed:
        return None
    return message.id if isinstance(message, jsonrpc.Request) and message.method == "ping" else None


_LONGEST_PING = 1024
