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

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cloakllm_gateway.core import (
    advertised,
    calls,
    greeting,
    handshake,
    lists,
    reception,
    rounds,
    subscriptions,
    suspensions,
    texts,
)
from cloakllm_gateway.core.calls import Calls
from cloakllm_gateway.core.directory import Directory, Owner
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
from cloakllm_gateway.core.notices import Notices
from cloakllm_gateway.core.outbound import Outbound
from cloakllm_gateway.core.policy import Policy
from cloakllm_gateway.core.questions import Questions
from cloakllm_gateway.core.requests import Asked, Requests
from cloakllm_gateway.core.restorer import NeedApproval, Restored, Restorer
from cloakllm_gateway.core.rounds import Rounds, wants_more
from cloakllm_gateway.core.settings import Settings
from cloakllm_gateway.core.subscriptions import TASK, URI, Stream, Subscriptions, Watch, granted
from cloakllm_gateway.core.suspensions import Suspensions
from cloakllm_gateway.core.upstream import Call, Phase, Upstream
from cloakllm_gateway.errors import Refused
from cloakllm_gateway.protocol import eras, jsonrpc
from cloakllm_gateway.protocol.eras import Client, Era
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
        self._era: Era | None = None
        self._stands_alone = False  # the client has used the stateless era for more than to ask for it
        self._hello: Request | None = None
        self._changed: set[str] = set()
        self._log_level: dict[str, Any] | None = None
        self._tasks: dict[str, str] = {}

        handles, emit = Handles(), self._out.append
        self._handles = handles
        self._directory = Directory()
        self._restorer = Restorer(Policy(settings), vault, handles, settings.categories, {})
        self._requests = Requests(settings.max_pending, emit, self._finished)
        self._calls = Calls(emit)
        self._jobs = Jobs(settings, vault, handles, self._directory, emit, clock)
        self._tools = advertised.Tools(settings, emit, changed=lambda: self._list_changed("tools"))
        self._lists = Lists(settings, self._upstreams, self._directory, vault, self._jobs, self._ask, emit, self._tools)
        self._suspensions = Suspensions(
            settings.secret, self._requests, emit,
            answered=lambda answer: self._questions.answer(answer), abandoned=self._abandoned,
        )  # fmt: skip
        self._questions = Questions(settings, self._restorer, self._jobs, self._suspensions, emit, self._to_client)
        self._subscriptions = Subscriptions(self._upstreams, self._calls, emit)
        self._outbound = Outbound(
            settings, self._requests, self._restorer, self._calls, self._jobs, self._questions, self._subscriptions,
            self._directory, vault, emit, answered=self._call_answered,
        )  # fmt: skip
        self._rounds = Rounds(self._questions, emit, self._outbound.resend, self._refuse_round)
        self._notices = Notices(
            settings, self._jobs, self._calls, self._questions, self._subscriptions, self._directory, emit,
            self._to_client, self._list_changed,
        )  # fmt: skip
        self._greeting = Greeting(
            settings, self._upstreams, self._calls, self._jobs, emit,
            settled=self._opened, failed=self._not_opened, joined=self._joined,
        )  # fmt: skip
        vault.reserve([*settings.upstreams, *WORDS])

    def handle(self, event: Event) -> list[Effect]:
        """What to do about ``event``."""
        match event:
            case Received(peer, line, headers):
                self._received(peer, line, headers)
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
        if asked := self._requests.waiting(message.id):
            self._requests.take_back(asked)
        return [Send(CLIENT, texts.error(message.id, message.method, INTERNAL_ERROR, texts.INTERNAL_ERROR))]

    @property
    def idle(self) -> bool:
        """Whether the client waits for nothing but changes."""
        return len(self._requests) <= self._subscriptions.streams

    # -- bytes to messages -------------------------------------------------------------------------

    def _received(self, peer: str, line: bytes, headers: Mapping[str, str] | None) -> None:
        try:
            message = jsonrpc.classify(jsonrpc.decode(line, self._limits))
        except Malformed as error:
            self._malformed(peer, line, error)
            return
        if peer == CLIENT:
            match message:
                case Request():
                    self._client_asks(message, headers)
                case Notification():
                    self._client_notifies(message)
                case Response() | Failure() if self._era is Era.SESSION:
                    self._questions.answer(message)
                case Response() | Failure():
                    self._out.append(Log("debug", "answer_to_nothing", {"upstream": CLIENT}))
            return
        upstream = self._upstreams[peer]
        match message:
            case Request():
                self._questions.ask(upstream, message)
            case Notification():
                self._notices.arrived(upstream, message)
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

    def _client_asks(self, request: Request, headers: Mapping[str, str] | None) -> None:
        fault = reception.fault(self._era, request) or reception.header_fault(request, headers)
        if fault is not None:
            self._out.append(Send(CLIENT, jsonrpc.failure(request.id, *fault), request.method))
            return
        if self._era is None and eras.is_stateless(request.method, request.params):
            self._speak(Era.STATELESS)
        stateless = self._era is Era.STATELESS
        client = eras.client_of(request.params) if stateless else self._calls.client
        if stateless and request.method in eras.RETRIABLE and self._suspensions.resume(request, client):
            return
        if self._requests.admit(request, client, headers):
            self._stands_alone |= stateless and request.method != "server/discover"
            self._attend(request, client)

    def _speak(self, era: Era) -> None:
        """The era of this connection is decided."""
        self._era = self._questions.front = self._notices.front = self._lists.front = era
        self._client_ready = era is Era.STATELESS  # a session's client says when

    def _attend(self, request: Request, client: Client) -> None:
        """Serve a request that is in order, as soon as the upstreams have been greeted."""
        if request.method == "ping":
            self._requests.answer(request, {})
        elif request.method == "initialize":
            self._initialize(request)
        elif self._era is None:
            self._requests.refuse(request, INVALID_REQUEST, texts.NOT_INITIALIZED)
        elif self._greeting.open:
            self._serve(request)
        else:
            self._held_requests.append(request)
            if not self._greeting.begun:
                self._calls.client = client
                self._greeting.begin(Era.STATELESS, client, {})

    def _initialize(self, request: Request) -> None:
        if self._era is Era.SESSION:
            self._requests.refuse(request, INVALID_REQUEST, texts.ALREADY_INITIALIZED)
            return
        hello = request.params or {}
        info, capabilities = hello.get("clientInfo"), hello.get("capabilities")
        client = Client(
            info if isinstance(info, dict) else None, capabilities if isinstance(capabilities, dict) else {}
        )
        self._hello = request
        self._calls.client = self._questions.client = client
        self._speak(Era.SESSION)
        if not self._greeting.open:
            self._greeting.begin(Era.SESSION, client, hello)
        elif diverged := self._greeting.reopen(client, hello):
            self._not_opened(diverged)
        else:
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
                self._serve(request)

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
        self._era = None

    def _joined(self, upstream: Upstream) -> None:
        """An upstream came late or again: it is told what was asked for, and its lists are new to the client."""
        if self._log_level is not None and upstream.era is Era.SESSION and upstream.capability("logging") is not None:
            self._ask(upstream, "logging/setLevel", self._log_level, _nobody_waits)
        self._subscriptions.ready(upstream)
        for kind in ("tools", "prompts", "resources"):
            if upstream.capability(kind) is not None:
                self._list_changed(kind)

    def _serve(self, request: Request) -> None:
        """Route one request by its method."""
        params = request.params or {}
        if self._era is Era.STATELESS:
            self._hear(request)
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
            case "server/discover":
                self._serve_discover(request)
            case "subscriptions/listen":
                self._serve_stream(request)
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
        is_tool, loaded = listing == "tools/list", listing in self._lists.loaded
        if route is not None and (loaded or not is_tool):
            if is_tool and self._tools.is_held(name):
                self._requests.refuse(request, INVALID_PARAMS, texts.held(name))
                return
            declared = self._tools.declared(name) if is_tool else None
            declared = route.declared if declared is None else declared
            params = {**(request.params or {}), "name": route.original}
            asked = self._requests.get(request)
            if fault := reception.header_fault(request, asked.headers if asked else None, route.marked):
                self._requests.reject(request, *fault)
                return
            upstream = self._upstreams[route.upstream]
            self._outbound.forward(request, upstream, params, declared=declared, marked=route.marked)
        elif loaded:
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
        upstream, owner = self._resource(uri)
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

    def _resource(self, uri: str) -> tuple[Upstream | None, Owner | None]:
        """Who serves the resource that the client calls ``uri``, and how it is known if it was shown."""
        owner = self._directory.owner(uri)
        name = owner.upstream if owner else self._directory.by_template(uri)
        return (self._upstreams[name] if name else self._only("resources")), owner

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
        level = (request.params or {}).get("level")
        if level in eras.LEVELS:
            self._calls.client = self._calls.client._replace(log_level=level)
        able = self._ready("logging")
        # A stateless upstream hears it with each request.
        logging = [upstream for upstream in able if upstream.era is Era.SESSION]
        waiting = {upstream.name for upstream in logging}

        def answered(upstream: Upstream) -> None:
            waiting.discard(upstream.name)
            if not waiting:
                self._requests.answer(request, {})

        if not able:
            self._requests.refuse(request, METHOD_NOT_FOUND, texts.NOBODY_SERVES)
        elif not logging:
            self._requests.answer(request, {})
        for upstream in logging:
            self._ask(upstream, request.method, request.params, lambda _answer, it=upstream: answered(it))  # type: ignore[misc]

    def _hear(self, request: Request) -> None:
        """A stateless request asks for log messages: upstreams with a session are told the lowest level of all."""
        asked = self._requests.get(request)
        level = asked.client.log_level if asked else None
        told = (self._log_level or {}).get("level")
        if level is None or (told is not None and eras.LEVELS.index(told) <= eras.LEVELS.index(level)):
            return
        self._log_level = {"level": level}
        for upstream in self._ready("logging"):
            if upstream.era is Era.SESSION:
                self._ask(upstream, "logging/setLevel", self._log_level, _nobody_waits)

    def _serve_discover(self, request: Request) -> None:
        """A client that only asks is told to begin a session where that is what all upstreams have."""
        if self._stands_alone or self._greeting.speaks(Era.STATELESS):
            self._requests.answer(request, self._greeting.result())
            return
        self._requests.reject(request, METHOD_NOT_FOUND, texts.NOT_STATELESS)
        self._era = None

    def _serve_stream(self, request: Request) -> None:
        """The client opens a stream of changes: it gets of what it wants what there is."""
        wanted = (request.params or {}).get("notifications")
        wanted = wanted if isinstance(wanted, dict) else {}
        uris = [uri for uri in _list(wanted.get(URI)) if isinstance(uri, str)]
        listings = ("resources/list", "resources/templates/list")
        missing = next((listing for listing in listings if listing not in self._lists.loaded), None)
        if missing and any(self._directory.owner(uri) is None for uri in uris):
            self._load(request, missing, lambda: self._serve_stream(request))
            return
        asked = self._requests.get(request)
        if asked is None:
            return
        watches = {uri: watch for uri in uris if (watch := self._watch_of(uri))}
        tasks = {id: (self._tasks[id], Watch(TASK, id)) for id in _list(wanted.get(TASK)) if id in self._tasks}
        gets = granted(wanted, self._greeting.capabilities, {URI: list(watches), TASK: list(tasks)})
        lists = frozenset(kind for kind, member in subscriptions.LISTS.items() if member in gets)
        stream = Stream(asked, lists, frozenset((*watches.values(), *tasks.values())))
        self._out += self._subscriptions.open(stream, gets)

    def _watch_of(self, uri: str) -> tuple[str, Watch] | None:
        """Where to subscribe to a resource that the client calls ``uri``, and as what; None where it may not."""
        upstream, owner = self._resource(uri)
        if upstream is None or upstream.phase is not Phase.READY:
            return None
        if owner is not None and not owner.contested:
            return upstream.name, Watch(URI, owner.uri)
        shape = SURFACE["resources/subscribe"].params
        try:
            real: str = self._restorer.restore({"uri": uri}, shape, upstream.name).part["uri"]
        except (Refused, NeedApproval):
            return None
        self._directory.claim(upstream.name, real, uri)
        return upstream.name, Watch(URI, real)

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
        asked = self._requests.get(request)
        if asked is not None:
            asked.calls.discard((upstream.name, call.id))
        ticket = upstream.lane.enter(is_response=True)

        def settle(effects: list[Effect]) -> None:
            self._to_client(upstream.lane.settle(ticket, effects))

        def done(part: Any, effects: list[Effect]) -> None:
            if isinstance(answer, Response) and upstream.era is Era.STATELESS and wants_more(answer.result):
                begun = self._rounds.begin(asked, upstream, call, answer.result, part) if asked else []
                settle([*effects, *begun])
                return
            settle(self._requests.reply(request, self._answer_of(request, upstream, answer, part), effects))

        def failed(reason: str) -> None:
            text = texts.withheld(upstream.name, reason)
            settle(self._requests.reply(request, texts.error(request.id, request.method, INTERNAL_ERROR, text)))

        if isinstance(answer, Failure) and calls.is_ours(answer):
            code, text = answer.error["code"], answer.error["message"]
            settle(self._requests.reply(request, texts.error(request.id, request.method, code, text)))
            return
        part = answer.error if isinstance(answer, Failure) else answer.result
        shape = ERROR if isinstance(answer, Failure) else SURFACE[call.method].result or DATA
        route = self._directory.tools.get(self._tools.called(request, part))
        tool = route.original if route else ""
        self._jobs.start(Work(upstream, call.method, part, shape, done, failed, call.restored, call.uris, tool=tool))

    def _answer_of(self, request: Request, upstream: Upstream, answer: Response | Failure, part: Any) -> dict[str, Any]:
        """The client's answer from the clean ``part`` of the upstream's."""
        front = self._era or Era.SESSION
        if isinstance(answer, Failure):
            return {"jsonrpc": "2.0", "id": request.id, "error": eras.error_for(front, request.method, part)}
        result = self._tools.fitting(request, answer.result, self._with_own_tasks(upstream, part))
        if front is Era.SESSION and upstream.era is Era.STATELESS and isinstance(result, dict):
            result = eras.for_session(request.method, result)
        return jsonrpc.result(request.id, result)

    def _finished(self, request: Request, message: dict[str, Any]) -> dict[str, Any]:
        """An answer with what its era asks of every answer."""
        if self._era is not Era.STATELESS or not isinstance(message.get("result"), dict):
            return message
        server = {"name": "cloakllm-gateway", "version": self._settings.version}
        return {**message, "result": eras.completed(request.method, message["result"], server)}

    def _refuse_round(self, request: Request, text: str) -> None:
        self._requests.refuse(request, INTERNAL_ERROR, text)

    def _abandoned(self, asked: Asked, questions: Sequence[int]) -> None:
        """Nobody came back for a request: what goes on for it ends."""
        for name, call in asked.calls:
            self._calls.cancel(self._upstreams[name], call, "the client did not come back")
        for question in questions:
            self._questions.withdraw(question, texts.NOT_OFFERED)

    def _with_own_tasks(self, upstream: Upstream, result: dict[str, Any]) -> dict[str, Any]:
        """Note whose tasks a result speaks of; an id that is another upstream's already becomes a handle."""
        listed = result.get("tasks")
        if isinstance(listed, list):
            result = {**result, "tasks": [self._own_task(upstream, task) for task in listed]}
        if result.get("resultType") == "task":  # the extension of the stateless era: the result is the task
            return self._own_task(upstream, result)  # type: ignore[no-any-return]
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
            case "notifications/initialized" if self._era is Era.SESSION:
                self._client_ready = True
                held, self._held_for_client = self._held_for_client, []
                self._out += held
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
        if asked.question is not None:
            self._questions.take_back(asked.question)
        for name, call in asked.calls:
            self._calls.cancel(self._upstreams[name], call, params.get("reason"))

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
        elif timer.purpose == rounds.PURPOSE and isinstance(timer.subject, int):
            self._rounds.elapsed(timer.subject)
        elif timer.purpose == suspensions.PURPOSE and isinstance(timer.subject, str):
            self._suspensions.expire(timer.subject)
        elif timer.purpose == subscriptions.PURPOSE and isinstance(timer.subject, str):
            self._subscriptions.again(self._upstreams[timer.upstream], timer.subject)
        elif isinstance(timer.subject, str):
            self._changed.discard(timer.subject)
            if self._era is Era.STATELESS:
                self._out += self._subscriptions.list_changed(timer.subject)
            elif self._greeting.announces(timer.subject):
                message = jsonrpc.notification(f"notifications/{timer.subject}/list_changed")
                self._to_client([Send(CLIENT, message)])


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _nobody_waits(_answer: Response | Failure) -> None:
    """For requests of the gateway's own whose answer changes nothing."""
