"""The gateway between one client session and its upstreams, without any I/O.

Theory of operation.  The gateway is told what happened (:mod:`events`) and
answers with what to do.  A request of the client goes::

    Received -> route by name, URI or capability -> restore (RESTORE fields only) -> Send(upstream)

and its answer comes back through a job, because looking for personal data and
assigning tokens may take the shell a while::

    Received -> Scan -> Scanned -> Assign -> Assigned -> ... -> [Record, Send(client)]

Four tables carry the state: the client's requests in flight (each gets exactly
one answer), the calls in flight towards each upstream (ids are ours there),
the upstreams' own requests waiting for the client, and the jobs.  What would
surprise you: nothing an upstream sends takes effect on the client's side
before its job is done, so a cancelled request leaves its job without a taker;
and order towards the client is kept per upstream by its :class:`Lane`, not by
the order in which jobs finish.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cloakllm_gateway.core import advertised, calls, greeting, handshake, lists, texts
from cloakllm_gateway.core.calls import Calls
from cloakllm_gateway.core.directory import Directory
from cloakllm_gateway.core.events import (
    CLIENT,
    Assigned,
    AssignFailed,
    Connected,
    Disconnected,
    Effect,
    Elapsed,
    Event,
    Learned,
    Log,
    LogOutput,
    Overlong,
    Received,
    Record,
    RecordFailed,
    ScanFailed,
    Scanned,
    Send,
    StartTimer,
    Timer,
)
from cloakllm_gateway.core.greeting import Greeting
from cloakllm_gateway.core.handles import Handles
from cloakllm_gateway.core.jobs import Jobs, Work
from cloakllm_gateway.core.lists import Lists
from cloakllm_gateway.core.outbound import Outbound
from cloakllm_gateway.core.policy import Policy
from cloakllm_gateway.core.questions import Questions
from cloakllm_gateway.core.requests import Requests
from cloakllm_gateway.core.restorer import Restored, Restorer
from cloakllm_gateway.core.settings import Settings
from cloakllm_gateway.core.upstream import Call, Phase, Upstream
from cloakllm_gateway.protocol import jsonrpc
from cloakllm_gateway.protocol.jsonrpc import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    Failure,
    Limits,
    Malformed,
    Notification,
    Request,
    Response,
)
from cloakllm_gateway.protocol.surface import DATA, ERROR, SURFACE, WORDS
from cloakllm_gateway.vault.vault import Vault

#: How long list_changed notifications are gathered into one, in seconds.
LIST_CHANGED_DELAY = 0.05
LIST_CHANGED = {
    "notifications/tools/list_changed": "tools",
    "notifications/prompts/list_changed": "prompts",
    "notifications/resources/list_changed": "resources",
}

#: What the log and the audit call a notification whose method is the upstream's own text.
UNKNOWN_NOTIFICATION = "notifications/unknown"


class Gateway:
    """One client session.  ``handle`` takes an event and returns the effects to perform, in order."""

    def __init__(self, settings: Settings, vault: Vault, clock: Callable[[], float] = lambda: 0.0) -> None:
        self._settings = settings
        self._vault = vault
        self._limits = Limits(settings.max_bytes, settings.max_depth)
        self._out: list[Effect] = []
        self._upstreams = {name: Upstream(upstream) for name, upstream in settings.upstreams.items()}
        self._held_requests: list[Request] = []
        self._held_for_client: list[Effect] = []
        self._client_ready = False
        self._open = False
        self._changed: set[str] = set()
        self._log_level: dict[str, Any] | None = None
        self._tasks: dict[str, str] = {}

        handles, emit = Handles(), self._out.append
        self._handles = handles
        self._directory = Directory()
        self._restorer = Restorer(Policy(settings), vault, handles, settings.categories, {})
        self._requests = Requests(settings.max_pending, emit)
        self._calls = Calls(emit)
        self._jobs = Jobs(settings, vault, handles, self._directory, emit, clock)
        self._tools = advertised.Tools(settings, emit, changed=lambda: self._list_changed("tools"))
        self._lists = Lists(settings, self._upstreams, self._directory, vault, self._jobs, self._ask, emit, self._tools)
        self._questions = Questions(settings, self._restorer, self._jobs, emit, self._to_client)
        self._outbound = Outbound(
            settings, self._requests, self._restorer, self._calls, self._jobs, self._questions, self._directory, vault,
            emit, answered=self._call_answered,
        )  # fmt: skip
        self._greeting = Greeting(
            settings, self._upstreams, self._calls, self._jobs, emit,
            answer=self._requests.answer, refuse=self._requests.refuse, opened=self._opened, joined=self._joined,
        )  # fmt: skip
        vault.reserve([*settings.upstreams, *WORDS])

    def handle(self, event: Event) -> list[Effect]:
        """What to do about ``event``."""
        match event:
            case Received(peer, line):
                self._received(peer, line)
            case Overlong(peer, id):
                self._overlong(peer, id)
            case Learned(entries, gone):
                self._vault.forget(gone)
                self._vault.learn(entries)
            case Scanned(job, found):
                self._jobs.scanned(job, found)
            case Assigned(job, entries):
                self._jobs.assigned(job, entries)
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
        """What is owed for an event that ``handle`` failed on: the answer to a request of the client, if it was one."""
        self._out.clear()
        if not isinstance(event, Received) or event.peer != CLIENT:
            return []
        try:
            message = jsonrpc.classify(jsonrpc.decode(event.line, self._limits))
        except Malformed:
            return []
        if not isinstance(message, Request):
            return []
        self._requests.take_back(message.id)
        return [Send(CLIENT, texts.error(message.id, message.method, INTERNAL_ERROR, texts.INTERNAL_ERROR))]

    @property
    def idle(self) -> bool:
        """Whether the client waits for nothing."""
        return not self._requests

    # -- bytes to messages -------------------------------------------------------------------------

    def _received(self, peer: str, line: bytes) -> None:
        try:
            message = jsonrpc.classify(jsonrpc.decode(line, self._limits))
        except Malformed as error:
            self._malformed(peer, line, error)
            return
        if peer == CLIENT:
            match message:
                case Request():
                    self._client_asks(message)
                case Notification():
                    self._client_notifies(message)
                case Response() | Failure():
                    self._questions.answer(message)
            return
        upstream = self._upstreams[peer]
        match message:
            case Request():
                self._questions.ask(upstream, message)
            case Notification():
                self._upstream_notifies(upstream, message)
            case Response() | Failure():
                self._upstream_answers(upstream, message)

    def _malformed(self, peer: str, line: bytes, error: Malformed) -> None:
        if peer == CLIENT:
            self._out.append(Send(CLIENT, jsonrpc.failure(error.id, error.code, str(error))))
            return
        if error.code == PARSE_ERROR and error.id is None:
            # Not a damaged message but something printed to the wrong place.
            self._out.append(LogOutput(peer, line))
            return
        self._out.append(Log("warning", "malformed_message", {"upstream": peer, "reason": str(error)}))
        self._answer_call(self._upstreams[peer], error.id, f"it sent a malformed message ({error})")

    def _overlong(self, peer: str, id: str | int | None) -> None:
        text = texts.overlong(peer, self._settings.max_bytes)
        if peer == CLIENT:
            self._out.append(Send(CLIENT, jsonrpc.failure(id, INVALID_REQUEST, text)))
            return
        self._out.append(Log("warning", "overlong_message", {"upstream": peer}))
        self._answer_call(self._upstreams[peer], id, text)

    def _answer_call(self, upstream: Upstream, id: str | int | None, text: str) -> None:
        """Give the call ``id`` a failure in place of the answer that can't be used."""
        if isinstance(id, int) and id in upstream.calls:
            self._upstream_answers(upstream, Failure(id, {"code": INTERNAL_ERROR, "message": text}))

    # -- the client asks ---------------------------------------------------------------------------

    def _client_asks(self, request: Request) -> None:
        if not self._requests.admit(request):
            return
        if request.method == "ping":
            self._requests.answer(request, {})
        elif request.method == "initialize":
            self._initialize(request)
        elif request.method not in handshake.SERVER_SERVES:
            self._requests.refuse(request, METHOD_NOT_FOUND, texts.UNKNOWN_METHOD)
        elif not self._greeting.begun:
            self._requests.refuse(request, INVALID_REQUEST, texts.NOT_INITIALIZED)
        elif not self._open:
            self._held_requests.append(request)
        else:
            self._serve(request)

    def _initialize(self, request: Request) -> None:
        if self._greeting.begun:
            self._requests.refuse(request, INVALID_REQUEST, texts.ALREADY_INITIALIZED)
            return
        capabilities = (request.params or {}).get("capabilities")
        self._questions.client_capabilities = capabilities if isinstance(capabilities, dict) else {}
        self._greeting.initialize(request)

    def _opened(self) -> None:
        """The handshake is answered: serve what came in the meantime."""
        self._open = True
        held, self._held_requests = self._held_requests, []
        for request in held:
            if request in self._requests:
                self._serve(request)

    def _joined(self, upstream: Upstream) -> None:
        """An upstream came late or again: it is told what was asked for, and its lists are new to the client."""
        if self._log_level is not None and upstream.capability("logging") is not None:
            self._ask(upstream, "logging/setLevel", self._log_level, _nobody_waits)
        for uri in sorted(upstream.subscriptions):
            self._ask(upstream, "resources/subscribe", {"uri": uri}, _nobody_waits)
        for kind in ("tools", "prompts", "resources"):
            if upstream.capability(kind) is not None:
                self._list_changed(kind)

    def _serve(self, request: Request) -> None:
        """Route one request by its method."""
        params = request.params or {}
        match request.method:
            case "tools/list" | "prompts/list" | "resources/list" | "resources/templates/list":
                self._serve_list(request)
            case "tools/call":
                self._serve_named(request, "tools/list", params.get("name"))
            case "prompts/get":
                self._serve_named(request, "prompts/list", params.get("name"))
            case "resources/read" | "resources/subscribe" | "resources/unsubscribe":
                self._serve_resource(request, params.get("uri"))
            case "completion/complete":
                self._serve_completion(request, params.get("ref"))
            case "logging/setLevel":
                self._serve_log_level(request)
            case _:
                self._serve_task(request, params.get("taskId"))

    def _serve_list(self, request: Request) -> None:
        def then(result: dict[str, Any] | None, effects: list[Effect]) -> None:
            if result is None:
                self._requests.refuse(request, METHOD_NOT_FOUND, texts.NOBODY_SERVES)
            else:
                if request.method == "tools/list" and request in self._requests:
                    self._tools.told(result["tools"])
                self._requests.answer(request, result, effects)

        self._lists.gather(request.method, then)

    def _serve_named(self, request: Request, listing: str, name: Any) -> None:
        """A tool or a prompt, by the table that its list made; without the list, that comes first."""
        routes = self._directory.tools if listing == "tools/list" else self._directory.prompts
        route = routes.get(name) if isinstance(name, str) else None
        if route is not None:
            params = {**(request.params or {}), "name": route.original}
            self._outbound.forward(request, self._upstreams[route.upstream], params, declared=route.declared)
        elif listing in self._lists.loaded:
            self._requests.refuse(request, INVALID_PARAMS, texts.unknown_name(listing.split("s/")[0], name))
        else:
            self._load(request, listing, lambda: self._serve_named(request, listing, name))

    def _load(self, request: Request, listing: str, then: Callable[[], None]) -> None:
        """Get a list for its names before ``request`` is routed, unless the client takes it back."""

        def loaded(_result: dict[str, Any] | None, effects: list[Effect]) -> None:
            self._out.extend(effects)
            self._lists.loaded.add(listing)
            if request in self._requests:
                then()

        self._lists.gather(listing, loaded)

    def _serve_resource(self, request: Request, uri: Any) -> None:
        if not isinstance(uri, str):
            self._requests.refuse(request, INVALID_PARAMS, texts.NO_URI)
            return
        owner = self._directory.owner(uri)
        name = owner.upstream if owner else self._directory.by_template(uri)
        upstream = self._upstreams[name] if name else self._only("resources")
        if upstream is not None and handshake.is_ui(uri) and not upstream.settings.ui:
            self._requests.refuse(request, INVALID_PARAMS, texts.NOT_GRANTED)
        elif upstream is not None and owner is not None and not owner.contested:
            # The message it came in says what it stands for: there is nothing to decide.
            params = {**(request.params or {}), "uri": owner.uri}
            self._outbound.send(request, upstream, Restored(params, ()), uri)
        elif upstream is not None:
            self._outbound.forward(request, upstream, request.params or {}, uri=uri)
        elif "resources/templates/list" in self._lists.loaded:
            self._requests.refuse(request, INVALID_PARAMS, texts.UNKNOWN_RESOURCE)
        else:
            self._load(request, "resources/list", lambda: self._after_resources(request, uri))

    def _after_resources(self, request: Request, uri: str) -> None:
        self._load(request, "resources/templates/list", lambda: self._serve_resource(request, uri))

    def _serve_completion(self, request: Request, ref: Any) -> None:
        name = ref.get("name") if isinstance(ref, dict) else None
        uri = ref.get("uri") if isinstance(ref, dict) else None
        params = request.params or {}
        if isinstance(name, str):
            if route := self._directory.prompts.get(name):
                params = {**params, "ref": {**ref, "name": route.original}}
                self._outbound.forward(request, self._upstreams[route.upstream], params)
                return
            if "prompts/list" not in self._lists.loaded:
                self._load(request, "prompts/list", lambda: self._serve_completion(request, ref))
                return
        elif isinstance(uri, str):
            owner = self._directory.by_template_text(uri)
            if upstream := (self._upstreams[owner] if owner else self._only("completions")):
                self._outbound.forward(request, upstream, params)
                return
        self._requests.refuse(request, INVALID_PARAMS, texts.unknown_name("prompt or template", name))

    def _serve_log_level(self, request: Request) -> None:
        """Every upstream that logs gets the level; the client gets one answer."""
        self._log_level = request.params
        logging = self._ready("logging")
        waiting = {upstream.name for upstream in logging}

        def answered(upstream: Upstream) -> None:
            waiting.discard(upstream.name)
            if not waiting:
                self._requests.answer(request, {})

        if not logging:
            self._requests.refuse(request, METHOD_NOT_FOUND, texts.NOBODY_SERVES)
        for upstream in logging:
            self._ask(upstream, request.method, request.params, lambda _answer, it=upstream: answered(it))  # type: ignore[misc]

    def _serve_task(self, request: Request, task: Any) -> None:
        """A task belongs to the upstream that made it; a list of tasks to the only one that has any."""
        maker = self._tasks.get(task) if isinstance(task, str) else None
        upstream = self._upstreams[maker] if maker else self._only("tasks")
        if upstream is None:
            self._requests.refuse(request, INVALID_PARAMS, texts.UNKNOWN_TASK)
        else:
            self._outbound.forward(request, upstream, request.params or {})

    def _ready(self, capability: str) -> list[Upstream]:
        return [u for u in self._upstreams.values() if u.phase is Phase.READY and u.capability(capability) is not None]

    def _only(self, capability: str) -> Upstream | None:
        """The one upstream that can be meant where nothing says which."""
        able = self._ready(capability)
        return able[0] if len(able) == 1 else None

    # -- towards an upstream -----------------------------------------------------------------------

    def _ask(
        self,
        upstream: Upstream,
        method: str,
        params: dict[str, Any] | None,
        answered: Callable[[Response | Failure], None],
    ) -> None:
        """A request of the gateway's own."""
        alone = len(self._upstreams) == 1
        timeout = upstream.settings.request_timeout if alone else lists.PATIENCE
        self._calls.send(upstream, method, params, answered, timeout=timeout)

    # -- an upstream answers -----------------------------------------------------------------------

    def _upstream_answers(self, upstream: Upstream, answer: Response | Failure) -> None:
        call = self._calls.take(upstream, answer.id)
        if call is None:
            self._out.append(Log("debug", "answer_to_nothing", {"upstream": upstream.name}))
        else:
            call.answered(answer)

    def _call_answered(self, request: Request, upstream: Upstream, call: Call, answer: Response | Failure) -> None:
        """An answer for the client: make it clean, keep its place in the order, hand it over."""
        if asked := self._requests.get(request.id):
            asked.calls.discard((upstream.name, call.id))
        ticket = upstream.lane.enter(is_response=True)

        def settle(effects: list[Effect]) -> None:
            self._to_client(upstream.lane.settle(ticket, effects))

        def done(part: Any, effects: list[Effect]) -> None:
            if isinstance(answer, Response):
                part = self._with_own_tasks(upstream, part)
                part = self._tools.fitting(request, answer.result, part)
            member = "result" if isinstance(answer, Response) else "error"
            settle(self._requests.reply(request, {"jsonrpc": "2.0", "id": request.id, member: part}, effects))

        def failed(reason: str) -> None:
            text = texts.withheld(upstream.name, reason)
            settle(self._requests.reply(request, texts.error(request.id, request.method, INTERNAL_ERROR, text)))

        if isinstance(answer, Failure) and calls.is_ours(answer):
            code, text = answer.error["code"], answer.error["message"]
            settle(self._requests.reply(request, texts.error(request.id, request.method, code, text)))
            return
        part = answer.error if isinstance(answer, Failure) else answer.result
        shape = ERROR if isinstance(answer, Failure) else SURFACE[call.method].result or DATA
        self._jobs.start(Work(upstream, call.method, part, shape, done, failed, call.restored, call.uris))

    def _with_own_tasks(self, upstream: Upstream, result: dict[str, Any]) -> dict[str, Any]:
        """Note whose tasks a result speaks of; an id that is another upstream's already becomes a handle."""
        listed = result.get("tasks")
        if isinstance(listed, list):
            result = {**result, "tasks": [self._own_task(upstream, task) for task in listed]}
        return {**result, "task": self._own_task(upstream, result["task"])} if "task" in result else result

    def _own_task(self, upstream: Upstream, task: Any) -> Any:
        id = task.get("taskId") if isinstance(task, dict) else None
        if not isinstance(id, str):
            return task
        if self._tasks.setdefault(id, upstream.name) == upstream.name:
            return task
        handle = self._handles.issue(upstream.settings.origin, id)
        self._tasks[handle] = upstream.name
        return {**task, "taskId": handle}

    # -- towards the client ------------------------------------------------------------------------

    def _to_client(self, effects: list[Effect]) -> None:
        """Send, but hold back what the client must not get before it is initialized."""
        for effect in effects:
            is_call = isinstance(effect, Send) and "method" in effect.message
            (self._held_for_client if is_call and not self._client_ready else self._out).append(effect)

    # -- notifications -------------------------------------------------------------------------------

    def _client_notifies(self, notification: Notification) -> None:
        params = notification.params or {}
        match notification.method:
            case "notifications/initialized":
                self._client_ready = True
                held, self._held_for_client = self._held_for_client, []
                self._out += held
            case "notifications/cancelled":
                self._cancelled_by_client(params)
            case "notifications/progress":
                self._questions.progress(params)
            case "notifications/roots/list_changed":
                for upstream in self._upstreams.values():
                    if upstream.phase is Phase.READY and upstream.settings.roots:
                        self._out.append(
                            Send(upstream.name, jsonrpc.notification(notification.method, notification.params))
                        )
            case _:
                self._out.append(Log("debug", "notification_of_the_client_dropped"))

    def _cancelled_by_client(self, params: dict[str, Any]) -> None:
        id = params.get("requestId")
        asked = self._requests.get(id) if isinstance(id, str | int) else None
        if asked is None or asked.request.method == "initialize":
            return
        self._requests.take_back(asked.request.id)
        if asked.question is not None:
            self._questions.take_back(asked.question)
        for name, call in asked.calls:
            self._calls.cancel(self._upstreams[name], call, params.get("reason"))

    def _upstream_notifies(self, upstream: Upstream, notification: Notification) -> None:
        params = notification.params or {}
        match notification.method:
            case method if method in LIST_CHANGED:
                self._list_changed(LIST_CHANGED[method])
            case "notifications/progress":
                call = self._calls.progressed(upstream, params.get("progressToken"))
                if call is not None and call.progress_token is not None:
                    self._relay(upstream, notification, {"progressToken": call.progress_token})
            case "notifications/cancelled":
                id = self._questions.cancelled(upstream, params.get("requestId"))
                if id is not None:
                    self._relay(upstream, notification, {"requestId": id})
            case "notifications/resources/updated" if self._owned_by_another(upstream, params.get("uri")):
                self._out.append(Log("warning", "update_of_anothers_resource", {"upstream": upstream.name}))
            case "notifications/initialized" | "notifications/roots/list_changed":
                self._out.append(Log("debug", "notification_out_of_place", {"upstream": upstream.name}))
            case _:
                self._relay(upstream, notification, {})

    def _owned_by_another(self, upstream: Upstream, uri: Any) -> bool:
        owner = self._directory.owner(uri) if isinstance(uri, str) else None
        return owner is not None and owner.upstream != upstream.name

    def _relay(self, upstream: Upstream, notification: Notification, ours: dict[str, Any]) -> None:
        """Pass a notification on to the client, with the ids that are ours to set."""
        row = SURFACE.get(notification.method)
        ticket = upstream.lane.enter(is_response=False)

        def done(params: Any, effects: list[Effect]) -> None:
            sent = None if notification.params is None else {**params, **ours}
            message = jsonrpc.notification(notification.method, sent)
            self._to_client(upstream.lane.settle(ticket, [*effects, Send(CLIENT, message)]))

        def failed(_reason: str) -> None:
            self._to_client(upstream.lane.settle(ticket, []))

        if row is None and self._settings.enforces:
            # The name of an unknown notification is the upstream's own text.
            def checked(part: Any, effects: list[Effect]) -> None:
                if part["method"] != notification.method:
                    failed("")
                    return
                done(part.get("params"), effects)

            whole = {"method": notification.method, "params": notification.params}
            self._jobs.start(Work(upstream, UNKNOWN_NOTIFICATION, whole, DATA, checked, failed))
            return
        shape = row.params if row else DATA
        restored = upstream.restored()
        self._jobs.start(Work(upstream, notification.method, notification.params or {}, shape, done, failed, restored))

    def _list_changed(self, kind: str) -> None:
        """Forget what the lists said, and tell the client once for many."""
        listings = ("resources/list", "resources/templates/list") if kind == "resources" else (f"{kind}/list",)
        self._lists.loaded.difference_update(listings)
        if kind not in self._changed:
            self._changed.add(kind)
            self._out.append(StartTimer(Timer("list changed", subject=kind), LIST_CHANGED_DELAY))

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
            upstream.phase = Phase.FAILED if final else Phase.DOWN
            upstream.reason = reason
        self._questions.drop(upstream)
        self._calls.fail_all(upstream)
        self._out.append(Record("upstream_crash", {"upstream": upstream.name, "reason": reason, "final": final}))
        self._greeting.settle()

    def _elapsed(self, timer: Timer) -> None:
        if timer == greeting.STARTUP:
            self._greeting.settle(timed_out=True)
        elif timer.purpose == calls.PURPOSE and isinstance(timer.subject, int):
            self._calls.expire(self._upstreams[timer.upstream], timer.subject)
        elif timer.purpose == lists.PURPOSE and isinstance(timer.subject, int):
            self._lists.expire(timer.subject)
        elif isinstance(timer.subject, str):
            self._changed.discard(timer.subject)
            if self._greeting.announces(timer.subject):
                message = jsonrpc.notification(f"notifications/{timer.subject}/list_changed")
                self._to_client([Send(CLIENT, message)])


def _nobody_waits(_answer: Response | Failure) -> None:
    """For requests of the gateway's own whose answer changes nothing."""
