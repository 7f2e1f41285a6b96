"""The gateway between one client session and its upstreams, without any I/O.

Theory of operation.  The gateway is told what happened (:mod:`events`) and
answers with what to do.  A request of the client goes::

    Received -> route by name, URI or capability -> restore (RESTORE fields only) -> Send(upstream)

and its answer comes back through a job, because looking for personal data and
assigning tokens may take the shell a while::

    Received -> Scan -> Scanned -> Assign -> Assigned -> ... -> [Record, Send(client)]

Little text is looked at without asking, so most answers need no job to wait.
Four tables carry the state: the client's requests in flight (each gets exactly
one answer), the calls in flight towards each upstream (ids are ours there),
the upstreams' own requests waiting for the client, and the jobs.  What would
surprise you: nothing an upstream sends takes effect on the client's side
before its job is done, so a cancelled request leaves its job without a taker;
and order towards the client is kept per upstream by its lane (:mod:`lanes`),
not by the order in which jobs finish.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cloakllm_gateway.core import (
    advertised,
    calls,
    greeting,
    lists,
    reception,
    rounds,
    subscriptions,
    suspensions,
    texts,
)
from cloakllm_gateway.core.answers import Answers
from cloakllm_gateway.core.calls import Calls
from cloakllm_gateway.core.directory import Directory
from cloakllm_gateway.core.disclosed import Disclosed
from cloakllm_gateway.core.egress import Egress
from cloakllm_gateway.core.events import (
    CLIENT,
    Assigned,
    AssignFailed,
    Computed,
    Connected,
    Disconnected,
    Effect,
    Elapsed,
    Event,
    Learned,
    Log,
    LogOutput,
    Overlong,
    Postpone,
    Received,
    Record,
    RecordFailed,
    Resume,
    Resumed,
    ScanFailed,
    Scanned,
    Send,
    StartTimer,
    Timer,
)
from cloakllm_gateway.core.form_input import FormInput
from cloakllm_gateway.core.front import Front
from cloakllm_gateway.core.greeting import Greeting
from cloakllm_gateway.core.handles import Handles
from cloakllm_gateway.core.jobs import LARGE, AtOnce, Jobs, never
from cloakllm_gateway.core.lanes import Lanes
from cloakllm_gateway.core.lists import Lists
from cloakllm_gateway.core.notifications import Notifications
from cloakllm_gateway.core.outbound import Outbound
from cloakllm_gateway.core.policy import Policy
from cloakllm_gateway.core.questions import Questions
from cloakllm_gateway.core.requests import Asked, Requests
from cloakllm_gateway.core.restorer import Restorer
from cloakllm_gateway.core.rounds import Rounds
from cloakllm_gateway.core.serving import Serving
from cloakllm_gateway.core.settings import Settings
from cloakllm_gateway.core.subscriptions import Subscriptions
from cloakllm_gateway.core.suspensions import Suspensions
from cloakllm_gateway.core.tasks import Tasks
from cloakllm_gateway.core.upstream import Phase, Upstream
from cloakllm_gateway.protocol import eras, jsonrpc
from cloakllm_gateway.protocol.eras import Client, Era
from cloakllm_gateway.protocol.jsonrpc import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
    Failure,
    Limits,
    Malformed,
    Notification,
    Request,
    Response,
)
from cloakllm_gateway.protocol.surface import WORDS
from cloakllm_gateway.vault.entries import Entry
from cloakllm_gateway.vault.vault import Vault

LIST_CHANGED = "list changed"
#: How long list_changed notifications are gathered into one, in seconds.
LIST_CHANGED_DELAY = 0.05


class Gateway:
    """One client session.  ``handle`` takes an event and returns the effects to perform, in order.

    ``at_once`` looks at little text where that takes no longer than to ask for it;
    messages of more than ``large`` bytes are worked on beside.
    """

    def __init__(
        self,
        settings: Settings,
        vault: Vault,
        clock: Callable[[], float] = lambda: 0.0,
        at_once: AtOnce = never,
        large: int = LARGE,
    ) -> None:
        self._settings = settings
        self._vault = vault
        self._limits = Limits(settings.max_bytes, settings.max_depth)
        self._out: list[Effect] = []
        self._upstreams = {
            name: Upstream(upstream, disclosed=Disclosed(clock)) for name, upstream in settings.upstreams.items()
        }
        self._held_requests: list[Request] = []
        self._hello: Request | None = None
        self._changed: set[str] = set()

        handles, emit = Handles(settings.secret, vault.changing), self._out.append
        self._front = front = Front(emit)
        self._tasks = Tasks(handles)
        self._directory = Directory()
        self._restorer = Restorer(Policy(settings), vault, handles, settings.categories, {}, settings.redacts)
        self._requests = Requests(settings.max_pending, emit, self._finished)
        self._calls = Calls(emit, alone=len(self._upstreams) == 1)
        self._lanes = lanes = Lanes(emit)
        self._jobs = Jobs(settings, vault, handles, self._directory, emit, clock, lanes, at_once, large)
        self._tools = advertised.Tools(settings, emit, changed=lambda: self._list_changed("tools"))
        self._lists = Lists(
            settings, front, lanes, self._upstreams, self._directory, vault, self._jobs, self._calls, emit, self._tools
        )
        form_input = FormInput(self._jobs, vault, emit)
        self._suspensions = Suspensions(
            settings.secret, settings.max_pending, self._requests, emit,
            answered=lambda answer: self._questions.answer(answer), abandoned=self._abandoned,
        )  # fmt: skip
        egress = Egress(settings, vault, self._jobs, emit)
        self._questions = Questions(
            settings, front, lanes, self._restorer, self._jobs, form_input, self._suspensions, egress, self._tasks, emit
        )
        self._subscriptions = Subscriptions(self._upstreams, self._calls, emit, settings.max_pending)
        self._outbound = Outbound(
            settings, self._requests, self._restorer, self._calls, form_input, self._questions, self._subscriptions,
            self._directory, self._tools, self._tasks, egress, emit, answered=lambda *of: self._answers.arrived(*of),
        )  # fmt: skip
        self._rounds = Rounds(front, self._requests, self._questions, self._outbound.resend)
        self._answers = Answers(
            front, lanes, self._requests, self._rounds, self._questions, self._jobs, self._tasks, self._tools
        )
        self._notifications = Notifications(
            settings, front, lanes, self._jobs, self._calls, self._questions, self._subscriptions, self._tasks,
            self._directory, emit, self._list_changed, self._tools.fitting,
        )  # fmt: skip
        self._greeting = Greeting(
            settings, self._upstreams, self._calls, self._jobs, emit,
            settled=self._opened, failed=self._not_opened, joined=self._joined,
        )  # fmt: skip
        self._serving = Serving(
            front, self._upstreams, self._requests, self._calls, self._lists, self._tools, self._directory,
            self._outbound, self._subscriptions, self._greeting, self._tasks, emit,
        )  # fmt: skip
        vault.reserve([*settings.upstreams, *WORDS])

    def handle(self, event: Event) -> list[Effect]:
        """What to do about ``event``."""
        match event:
            case Received():
                self._received(event)
            case Scanned():
                self._jobs.scanned(event.job, event.found)
            case Overlong(peer, id):
                self._overlong(peer, id)
            case Learned(entries, gone):
                self._vault.forget(gone)
                self._vault.learn(entries)
            case Assigned(job, entries):
                self._jobs.assigned(job, entries)
            case Computed(job, outcome):
                self._jobs.computed(job, outcome)
            case Resumed(name):
                self._lanes.resume(self._upstreams[name])
            case ScanFailed(job, reason) | AssignFailed(job, reason):
                self._jobs.fail(job, reason)
            case Connected(name):
                self._greeting.connected(self._upstreams[name])
            case Disconnected(name, reason, final):
                self._disconnected(self._upstreams[name], reason, final=final)
            case RecordFailed(unsent):
                self._unrecorded(unsent)
            case Elapsed(timer):
                self._elapsed(timer)
        effects = self._out.copy()
        self._out.clear()
        return effects

    def abandon(self, event: Event) -> list[Effect]:
        """What is owed for an event that ``handle`` failed on: to those that wait their turn, and to who asked."""
        turns: list[Effect] = [effect for effect in self._out if isinstance(effect, Postpone | Resume)]
        self._out.clear()
        if not isinstance(event, Received) or event.peer != CLIENT:
            return turns
        try:
            message = jsonrpc.classify(jsonrpc.decode(event.line, self._limits))
        except Malformed:
            return turns
        if not isinstance(message, Request):
            return turns
        if asked := self._requests.waiting(message.id):
            self._requests.take_back(asked)
        return [*turns, Send(CLIENT, texts.error(message.id, message.method, INTERNAL_ERROR, texts.INTERNAL_ERROR))]

    @property
    def broken_job(self) -> int | None:
        """The job that ``handle`` failed in, if any: that it failed is for it to be told."""
        return self._jobs.broken

    def disclosed(self, upstream: str) -> Sequence[Entry]:
        """The values that an upstream was given lately, for whoever makes clean what it prints."""
        return self._upstreams[upstream].disclosed.lately()

    @property
    def idle(self) -> bool:
        """Whether the client waits for nothing but changes."""
        return len(self._requests) <= self._subscriptions.streams

    # -- bytes to messages -------------------------------------------------------------------------

    def _received(self, event: Received) -> None:
        peer = event.peer
        self._lanes.at_hand = len(event.line)
        try:
            message = jsonrpc.classify(jsonrpc.decode(event.line, self._limits))
        except Malformed as error:
            self._malformed(peer, event.line, error)
            return
        if peer == CLIENT:
            match message:
                case Request():
                    self._client_asks(message, event.headers, event.passed)
                case Notification():
                    self._client_notifies(message)
                case Response() | Failure() if self._front.decided is Era.SESSION:
                    self._questions.answer(message)
                case Response() | Failure():
                    self._out.append(Log("debug", "answer_to_nothing", {"upstream": CLIENT}))
            return
        upstream = self._upstreams[peer]
        match message:
            case Request():
                self._questions.ask(upstream, message, event.during)
            case Notification():
                self._notifications.arrived(upstream, message, event.during)
            case Response() | Failure():
                self._upstream_answers(upstream, message)

    def _malformed(self, peer: str, line: bytes, error: Malformed) -> None:
        if peer == CLIENT:
            self._out.append(Send(CLIENT, jsonrpc.failure(error.id, error.code, str(error))))
            return
        if error.id is None and not self._greeting.babbled(self._upstreams[peer]):
            return
        if error.code == PARSE_ERROR and error.id is None:
            # Not a damaged message but something printed to the wrong place.
            self._out.append(LogOutput(peer, line))
            return
        self._out.append(Log("warning", "malformed_message", {"upstream": peer, "reason": str(error)}))
        self._answer_call(self._upstreams[peer], error.id, texts.malformed(peer, str(error)))

    def _overlong(self, peer: str, id: str | int | None) -> None:
        text = texts.overlong(peer, self._settings.max_bytes)
        if peer == CLIENT:
            self._out.append(Send(CLIENT, jsonrpc.failure(id, INVALID_REQUEST, text)))
            return
        if id is None and not self._greeting.babbled(self._upstreams[peer]):
            return
        self._out.append(Log("warning", "overlong_message", {"upstream": peer}))
        self._answer_call(self._upstreams[peer], id, text)

    def _answer_call(self, upstream: Upstream, id: str | int | None, text: str) -> None:
        """Give the call ``id`` a failure in place of the answer that can't be used."""
        if isinstance(id, int):
            self._calls.fail(upstream, id, text)

    # -- the client asks ---------------------------------------------------------------------------

    def _client_asks(self, request: Request, headers: Mapping[str, str] | None, passed: Mapping[str, str]) -> None:
        era = self._front.decided
        locked = None if era is Era.STATELESS and not self._serving.stands_alone else era
        fault = reception.fault(locked, request, headers)
        if fault is not None:
            self._out.append(Send(CLIENT, jsonrpc.failure(request.id, *fault), request.method))
            return
        if locked is None and eras.is_stateless(request.method, request.params):
            self._front.decide(Era.STATELESS)
        stateless = self._front.decided is Era.STATELESS and request.method != "initialize"
        client = eras.client_of(request.params) if stateless else self._calls.client
        if stateless and request.method in eras.RETRIABLE and self._suspensions.resume(request, client, passed):
            return
        if self._requests.admit(request, client, headers, passed):
            self._serving.stands_alone |= stateless and request.method != "server/discover"
            self._attend(request, client)

    def _attend(self, request: Request, client: Client) -> None:
        """Serve a request that is in order, as soon as the upstreams have been greeted."""
        if request.method == "ping":
            self._requests.answer(request, {})
        elif request.method == "initialize":
            self._initialize(request)
        elif self._front.decided is not Era.SESSION and not eras.is_stateless(request.method, request.params):
            self._requests.refuse(request, INVALID_REQUEST, texts.NOT_INITIALIZED)
        elif self._greeting.open:
            self._serving.serve(request)
        else:
            self._held_requests.append(request)
            if not self._greeting.begun:
                self._calls.client = client
                self._greeting.begin(Era.STATELESS, client, {})

    def _initialize(self, request: Request) -> None:
        if self._front.decided is Era.SESSION:
            self._requests.refuse(request, INVALID_REQUEST, texts.ALREADY_INITIALIZED)
            return
        hello = request.params or {}
        client = eras.client(hello.get("clientInfo"), hello.get("capabilities"))
        self._hello = request
        self._calls.client = self._questions.client = client
        self._front.decide(Era.SESSION)
        if not self._greeting.begun:
            self._greeting.begin(Era.SESSION, client, hello)
        elif diverged := self._greeting.turn(client, hello):
            self._not_opened(diverged)
        elif self._greeting.open:
            self._answer_hello([])

    def _opened(self, effects: list[Effect]) -> None:
        """The upstreams are greeted: answer the client's hello, and serve what came in the meantime."""
        self._answer_hello(effects)
        for upstream in self._upstreams.values():
            if upstream.phase is Phase.READY:
                self._subscriptions.ready(upstream)
        held, self._held_requests = self._held_requests, []
        for request in held:
            if request in self._requests:
                self._serving.serve(request)

    def _answer_hello(self, effects: list[Effect]) -> None:
        if self._hello is None:
            self._out += effects
        else:
            self._requests.answer(self._hello, self._greeting.result(), effects)

    def _not_opened(self, text: str) -> None:
        """The session can't begin: everybody who waits for it is told why, and may try again."""
        held, self._held_requests = self._held_requests, []
        hello, self._hello = self._hello, None
        for request in [hello, *held] if hello else held:
            if request in self._requests:
                self._requests.reject(request, INTERNAL_ERROR, text)
        self._front.reopen()

    def _joined(self, upstream: Upstream) -> None:
        """An upstream came late or again: it is told what was asked for, and its lists are new to the client."""
        self._serving.joined(upstream)
        for kind in ("tools", "prompts", "resources"):
            if upstream.capability(kind) is not None:
                self._list_changed(kind, upstream.name)

    # -- an upstream answers -----------------------------------------------------------------------

    def _upstream_answers(self, upstream: Upstream, answer: Response | Failure) -> None:
        call = self._calls.take(upstream, answer.id)
        if call is None:
            self._out.append(Log("debug", "answer_to_nothing", {"upstream": upstream.name}))
        else:
            call.answered(call, answer)

    def _finished(self, request: Request, message: dict[str, Any]) -> dict[str, Any]:
        """An answer with what its era asks of every answer."""
        if self._front.decided is not Era.STATELESS or not isinstance(message.get("result"), dict):
            return message
        server = self._settings.implementation
        return {**message, "result": eras.completed(request.method, message["result"], server)}

    def _abandoned(self, asked: Asked, questions: Sequence[int]) -> None:
        """Nobody came back for a request: what goes on for it ends."""
        for name, call in asked.calls:
            self._calls.cancel(self._upstreams[name], call, {"reason": "the client did not come back"})
        for question in questions:
            self._questions.withdraw(question, texts.NOT_OFFERED)

    # -- notifications -------------------------------------------------------------------------------

    def _client_notifies(self, notification: Notification) -> None:
        params = notification.params or {}
        match notification.method:
            case "notifications/initialized" if self._front.decided is Era.SESSION:
                self._front.ready()
            case "notifications/cancelled":
                self._cancelled_by_client(params)
            case "notifications/progress":
                self._questions.progress(params)
            case "notifications/roots/list_changed":
                for upstream in self._upstreams.values():
                    if upstream.phase is Phase.READY and upstream.era is Era.SESSION and upstream.settings.roots:
                        self._out.append(
                            Send(upstream.name, jsonrpc.notification(notification.method, notification.params))
                        )
            case _:
                self._out.append(Log("debug", "notification_of_the_client_dropped"))

    def _cancelled_by_client(self, params: dict[str, Any]) -> None:
        id = params.get("requestId")
        asked = self._requests.waiting(id) if isinstance(id, str | int) else None
        if asked is None or asked.request.method == "initialize":
            return
        self._requests.take_back(asked)
        self._subscriptions.close(asked)
        self._questions.take_back(asked)
        for name, call in asked.calls:
            self._calls.cancel(self._upstreams[name], call, params)

    def _list_changed(self, kind: str, of: str = "") -> None:
        """Forget what the lists said, one upstream's or all, and tell the client once for many."""
        self._lists.forget(kind, of)
        if kind not in self._changed:
            self._changed.add(kind)
            self._out.append(StartTimer(Timer(LIST_CHANGED, subject=kind), LIST_CHANGED_DELAY))

    def _unrecorded(self, unsent: Sequence[Send]) -> None:
        """Nothing passes without its entry in the audit: whoever waits for what stayed here is told so."""
        for send in unsent:
            id, peer, message = send.message.get("id"), send.peer, send.message
            if id is None:
                continue  # a notification: nobody waits
            if "method" not in message:
                text = texts.UNRECORDED_ANSWER if peer == CLIENT else texts.UNRECORDED
                self._out.append(Send(peer, texts.error(id, send.answers, INTERNAL_ERROR, text)))
            elif peer == CLIENT:
                self._questions.withdraw(id, texts.UNRECORDED)
            else:
                self._calls.fail(self._upstreams[peer], id, texts.UNRECORDED)

    # -- comings, goings, deadlines ------------------------------------------------------------------

    def _disconnected(self, upstream: Upstream, reason: str, *, final: bool) -> None:
        if upstream.phase is not Phase.FAILED:
            upstream.falls += upstream.phase is not Phase.READY
            upstream.phase = Phase.FAILED if final else Phase.DOWN
            upstream.reason = reason
        self._questions.drop(upstream)
        self._calls.fail_all(upstream)
        self._out.append(Record("upstream_crash", {"upstream": upstream.name, "reason": reason, "final": final}))
        self._greeting.settle()

    def _elapsed(self, timer: Timer) -> None:
        match timer:
            case greeting.STARTUP:
                self._greeting.settle(timed_out=True)
            case Timer(calls.PURPOSE, name, int(id)):
                self._calls.expire(self._upstreams[name], id)
            case Timer(lists.PURPOSE, _, int(number)):
                self._lists.expire(number)
            case Timer(rounds.PURPOSE, _, int(number)):
                self._rounds.elapsed(number)
            case Timer(suspensions.PURPOSE, _, str(handle)):
                self._suspensions.expire(handle)
            case Timer(subscriptions.PURPOSE, name, str(subject)):
                self._subscriptions.again(self._upstreams[name], subject)
            case Timer(purpose, _, str(kind)) if purpose == LIST_CHANGED:
                self._tell_of_changed_list(kind)

    def _tell_of_changed_list(self, kind: str) -> None:
        self._changed.discard(kind)
        if self._front.decided is Era.STATELESS:
            self._out += self._subscriptions.list_changed(kind)
        elif self._greeting.announces(kind):
            self._front.send([Send(CLIENT, jsonrpc.notification(f"notifications/{kind}/list_changed"))])
