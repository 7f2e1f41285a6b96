"""The client's requests, served by their method: who is meant, and what has to be known first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from cloakllm_gateway.core import pages, reception, subscriptions, texts
from cloakllm_gateway.core.advertised import Tools
from cloakllm_gateway.core.calls import Calls
from cloakllm_gateway.core.directory import Directory, Owner
from cloakllm_gateway.core.events import Effect
from cloakllm_gateway.core.front import Front
from cloakllm_gateway.core.greeting import Greeting
from cloakllm_gateway.core.lists import Lists
from cloakllm_gateway.core.outbound import Outbound
from cloakllm_gateway.core.requests import Requests
from cloakllm_gateway.core.restorer import UNLISTED
from cloakllm_gateway.core.subscriptions import TASK, URI, Stream, Subscriptions, Watch, granted
from cloakllm_gateway.core.tasks import Tasks
from cloakllm_gateway.core.upstream import Call, Phase, Upstream
from cloakllm_gateway.protocol import eras
from cloakllm_gateway.protocol.eras import Era
from cloakllm_gateway.protocol.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND, Failure, Request, Response
from cloakllm_gateway.vault.entries import Entry


class Serving:
    """Serves requests once the upstreams have been greeted.

    ``stands_alone`` says that the client has used the stateless era for more
    than to ask whether it is there.
    """

    def __init__(
        self,
        front: Front,
        upstreams: dict[str, Upstream],
        requests: Requests,
        calls: Calls,
        lists: Lists,
        tools: Tools,
        directory: Directory,
        outbound: Outbound,
        subscriptions: Subscriptions,
        greeting: Greeting,
        tasks: Tasks,
        emit: Callable[[Effect], None],
    ) -> None:
        self._front = front
        self._upstreams = upstreams
        self._requests = requests
        self._calls = calls
        self._lists = lists
        self._tools = tools
        self._directory = directory
        self._outbound = outbound
        self._subscriptions = subscriptions
        self._greeting = greeting
        self._tasks = tasks
        self._emit = emit
        self._log_level: dict[str, Any] | None = None
        self.stands_alone = False

    def joined(self, upstream: Upstream) -> None:
        """An upstream came late or again: it is told what the others were asked for."""
        if self._log_level is not None and upstream.era is Era.SESSION and upstream.capability("logging") is not None:
            self._calls.ask(upstream, "logging/setLevel", self._log_level)
        self._subscriptions.ready(upstream)

    def _emit_all(self, effects: Iterable[Effect]) -> None:
        for effect in effects:
            self._emit(effect)

    def serve(self, request: Request) -> None:
        """Route one request by its method."""
        params = request.params or {}
        if self._front.era is Era.STATELESS:
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
        is_tool = listing == "tools/list"
        if route is not None and (not is_tool or self._lists.is_known(listing, route.upstream)):
            declared = self._tools.declared(name) if is_tool else None
            declared = route.declared if declared is None else declared
            params = {**(request.params or {}), "name": route.original}
            asked = self._requests.get(request)
            if fault := reception.header_fault(request, asked.headers if asked else None, route.marked):
                self._requests.reject(request, *fault)
                return
            upstream = self._upstreams[route.upstream]
            self._outbound.forward(request, upstream, params, declared=declared, marked=route.marked)
        elif route is None and self._lists.is_known(listing):
            self._requests.refuse(request, INVALID_PARAMS, texts.unknown_name(listing.split("s/")[0], self._absent()))
        else:
            again = partial(self._serve_named, request, listing, name)
            self._load(request, listing, again, "" if route is None else route.upstream)

    def _load(self, request: Request, listing: str, then: Callable[[], None], of: str = "") -> None:
        """Get a list for its names before ``request`` is routed, unless the client takes it back."""

        def loaded(effects: list[Effect]) -> None:
            self._emit_all(effects)
            if request in self._requests:
                then()

        self._lists.load(listing, loaded, of)

    def _serve_resource(self, request: Request, uri: Any) -> None:
        if not isinstance(uri, str):
            self._requests.refuse(request, INVALID_PARAMS, texts.NO_URI)
            return
        if request.method == "resources/subscribe" and not self._subscriptions.has_room(1):
            self._requests.refuse(request, INVALID_PARAMS, texts.TOO_MANY_SUBSCRIPTIONS)
            return
        upstream, owner = self._resource(uri)
        if upstream is not None and self._is_granted(request, upstream, uri):
            listed = {uri: owner.uri} if owner is not None and not owner.contested else UNLISTED
            self._outbound.forward(request, upstream, request.params or {}, uri=uri, listed=listed)
        elif upstream is not None:
            return
        elif self._lists.is_known("resources/templates/list"):
            self._requests.refuse(request, INVALID_PARAMS, texts.unknown_resource(self._absent()))
        else:
            self._load(request, "resources/list", lambda: self._after_resources(request, uri))

    def _is_granted(self, request: Request, upstream: Upstream, uri: str) -> bool:
        """Whether the client may have this resource of ``upstream``; if not, ``request`` is refused."""
        if pages.is_page(uri) and not upstream.settings.ui:
            self._outbound.refuse(request, upstream, "ui", texts.NOT_GRANTED)
            return False
        return True

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
            if not self._lists.is_known("prompts/list"):
                self._load(request, "prompts/list", lambda: self._serve_completion(request, ref))
                return
        elif isinstance(uri, str) and (upstream := self._completing(uri)):
            self._outbound.forward(request, upstream, params)
            return
        self._requests.refuse(request, INVALID_PARAMS, texts.unknown_name("prompt or template", self._absent()))

    def _completing(self, uri: str) -> Upstream | None:
        """Who completes for a template, or for a resource that may be one of it."""
        directory = self._directory
        owner = directory.owner(uri)
        name = directory.by_template_text(uri) or (owner.upstream if owner else directory.by_template(uri))
        return self._upstreams[name] if name else self._only("completions")

    def _serve_log_level(self, request: Request) -> None:
        """Every upstream that logs gets the level; the client gets one answer."""
        level = (request.params or {}).get("level")
        if level not in eras.LEVELS:
            self._requests.refuse(request, INVALID_PARAMS, texts.NO_LEVEL)
            return
        self._log_level = request.params
        self._calls.client = self._calls.client._replace(log_level=level)
        able = self._ready("logging")
        # A stateless upstream hears it with each request.
        logging = [upstream for upstream in able if upstream.era is Era.SESSION]
        waiting = {upstream.name for upstream in logging}

        def answered(call: Call, _answer: Response | Failure) -> None:
            waiting.discard(call.upstream)
            if not waiting:
                self._requests.answer(request, {})

        if not able:
            self._requests.refuse(request, METHOD_NOT_FOUND, texts.NOBODY_SERVES)
        elif not logging:
            self._requests.answer(request, {})
        for upstream in logging:
            self._calls.ask(upstream, request.method, request.params, answered)

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
                self._calls.ask(upstream, "logging/setLevel", self._log_level)

    def _serve_discover(self, request: Request) -> None:
        """A client that only asks is told to begin a session where that is what all upstreams have."""
        if self.stands_alone or self._greeting.speaks(Era.STATELESS):
            self._requests.answer(request, self._greeting.result())
        else:
            self._requests.reject(request, METHOD_NOT_FOUND, texts.NOT_STATELESS)

    def _serve_stream(self, request: Request) -> None:
        """The client opens a stream of changes: it gets of what it wants what there is."""
        wanted = (request.params or {}).get("notifications")
        wanted = wanted if isinstance(wanted, dict) else {}
        uris = [uri for uri in _list(wanted.get(URI)) if isinstance(uri, str)]
        if not self._subscriptions.has_room(len(uris) + len(_list(wanted.get(TASK)))):
            self._requests.refuse(request, INVALID_PARAMS, texts.TOO_MANY_SUBSCRIPTIONS)
            return
        listings = ("resources/list", "resources/templates/list")
        missing = next((listing for listing in listings if not self._lists.is_known(listing)), None)
        if missing and any(self._directory.owner(uri) is None for uri in uris):
            self._load(request, missing, lambda: self._serve_stream(request))
            return
        by_upstream: dict[str, dict[str, str | None]] = {}
        for uri in uris:
            upstream, owner = self._resource(uri)
            if upstream is None or upstream.phase is not Phase.READY:
                continue
            if not self._is_granted(request, upstream, uri):
                return
            shown = by_upstream.setdefault(upstream.name, {})
            shown[uri] = owner.uri if owner is not None and not owner.contested else None
        of_whom = [(self._upstreams[name], shown) for name, shown in by_upstream.items()]

        def subscribed(found: Sequence[tuple[str, str, str]], given: Mapping[str, Sequence[Entry]]) -> None:
            self._open_stream(request, wanted, found, given)

        self._outbound.subscribe(request, of_whom, subscribed)

    def _open_stream(
        self,
        request: Request,
        wanted: dict[str, Any],
        resources: Sequence[tuple[str, str, str]],
        given: Mapping[str, Sequence[Entry]],
    ) -> None:
        """``resources`` are those that it may hear of, as (upstream, real URI, URI that the client wrote)."""
        asked = self._requests.get(request)
        if asked is None:
            return
        for name, real, shown in resources:
            self._directory.claim(name, real, shown)
        watches = [(name, Watch(URI, real)) for name, real, _ in resources]
        tasks = {id: watch for id in _list(wanted.get(TASK)) if (watch := self._watch_of_task(id))}
        served = {URI: [shown for *_, shown in resources], TASK: list(tasks)}
        gets = granted(wanted, self._greeting.capabilities, served)
        lists = frozenset(kind for kind, member in subscriptions.LISTS.items() if member in gets)
        stream = Stream(asked, lists, frozenset((*watches, *tasks.values())), given)
        self._emit_all(self._subscriptions.open(stream, gets))

    def _watch_of_task(self, id: Any) -> tuple[str, Watch] | None:
        maker = self._tasks.maker(id)
        return None if maker is None else (maker, Watch(TASK, self._tasks.original(self._upstreams[maker], id)))

    def _serve_task(self, request: Request, task: Any) -> None:
        """A task belongs to the upstream that made it, and is this client's if it was told of it.

        A list of tasks is asked of the only upstream that has any.  An id that
        no message to this client held may be another client's at the same server.
        """
        maker = self._tasks.maker(task)
        if maker is not None:
            upstream: Upstream | None = self._upstreams[maker]
        else:
            upstream = self._only("tasks") if request.method == "tasks/list" else None
        if upstream is None:
            self._requests.refuse(request, INVALID_PARAMS, texts.UNKNOWN_TASK)
        else:
            self._outbound.forward(request, upstream, request.params or {})

    def _ready(self, capability: str) -> list[Upstream]:
        return [u for u in self._upstreams.values() if u.phase is Phase.READY and u.capability(capability) is not None]

    def _absent(self) -> list[str]:
        """The names of those that are not ready: whatever they would offer is in no list."""
        return [upstream.name for upstream in self._upstreams.values() if upstream.phase is not Phase.READY]

    def _only(self, capability: str) -> Upstream | None:
        """The one upstream that can be meant where nothing says which."""
        able = self._ready(capability)
        return able[0] if len(able) == 1 else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
