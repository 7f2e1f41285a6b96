"""Requests of the client on their way to an upstream: restored, allowed, watched, sent, in this order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from cloakllm_gateway.core import records, texts
from cloakllm_gateway.core.advertised import Tools
from cloakllm_gateway.core.calls import Calls
from cloakllm_gateway.core.directory import Directory
from cloakllm_gateway.core.egress import Cleared, Egress
from cloakllm_gateway.core.events import Effect
from cloakllm_gateway.core.form_input import FormInput
from cloakllm_gateway.core.questions import Questions
from cloakllm_gateway.core.requests import Asked, Requests
from cloakllm_gateway.core.restorer import UNLISTED, Approval, NeedApproval, Restored, Restorer
from cloakllm_gateway.core.settings import Settings
from cloakllm_gateway.core.subscriptions import URI, Subscriptions, Watch
from cloakllm_gateway.core.tasks import Tasks
from cloakllm_gateway.core.treatments import parameters
from cloakllm_gateway.core.upstream import Call, Phase, Upstream
from cloakllm_gateway.protocol.headers import Declared
from cloakllm_gateway.protocol.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, Failure, Request, Response
from cloakllm_gateway.protocol.surface import SURFACE
from cloakllm_gateway.vault.entries import Entry

#: Takes the request, its upstream, the call and the upstream's answer.
Answered: TypeAlias = Callable[[Request, Upstream, Call, Response | Failure], None]


#: What a request is sent again with is of one round.
_OF_A_ROUND = ("inputResponses", "requestState")


class Outbound:
    """Sends the client's requests on; restoring is the last step before the write."""

    def __init__(
        self,
        settings: Settings,
        requests: Requests,
        restorer: Restorer,
        calls: Calls,
        form_input: FormInput,
        questions: Questions,
        subscriptions: Subscriptions,
        directory: Directory,
        tools: Tools,
        tasks: Tasks,
        egress: Egress,
        emit: Callable[[Effect], None],
        answered: Answered,
    ) -> None:
        self._settings = settings
        self._requests = requests
        self._restorer = restorer
        self._calls = calls
        self._form_input = form_input
        self._questions = questions
        self._subscriptions = subscriptions
        self._directory = directory
        self._tools = tools
        self._tasks = tasks
        self._egress = egress
        self._emit = emit
        self._answered = answered

    def forward(
        self,
        request: Request,
        upstream: Upstream,
        params: dict[str, Any],
        *,
        declared: frozenset[str] = frozenset(),
        marked: Sequence[Declared] = (),
        uri: str | None = None,
        listed: Mapping[str, str] = UNLISTED,
    ) -> None:
        """Restore, then send: the last step before the write."""
        if self._may_go(request, upstream) is None:
            return
        arguments = params.get("arguments")
        if arguments is not None and not isinstance(arguments, dict):
            # Not a tool that failed but a request that is none: a protocol error, as MCP tells them apart.
            self._requests.reject(request, INVALID_PARAMS, texts.NO_ARGUMENTS)
            return

        def send(restored: Restored) -> None:
            self._send(request, upstream, restored, uri, marked)

        self._clear(request, upstream, params, send, declared, listed)

    def subscribe(
        self,
        request: Request,
        wanted: Sequence[tuple[Upstream, Mapping[str, str | None]]],
        then: Callable[[Sequence[tuple[str, str, str]], Mapping[str, Sequence[Entry]]], None],
    ) -> None:
        """Have the resources that one request names at several upstreams restored like those of any other.

        ``wanted`` are the URIs that the client wrote, each with the real one where a list showed it;
        ``then`` gets what may be subscribed to, as (upstream, real URI, URI that the client wrote),
        and the values that each upstream is given so.
        """
        cleared: list[Restored] = []

        def go_on() -> None:
            if len(cleared) < len(wanted):
                upstream, uris = wanted[len(cleared)]
                params = {"notifications": {URI: list(uris)}}
                listed = {uri: real for uri, real in uris.items() if real is not None}
                self._clear(request, upstream, params, took, listed=listed)
                return
            found: list[tuple[str, str, str]] = []
            given: dict[str, Sequence[Entry]] = {}
            for (upstream, uris), restored in zip(wanted, cleared, strict=True):
                self._egress.account(upstream, request, restored)
                given[upstream.name] = restored.entries
                reals = restored.part["notifications"][URI]
                pairs = zip(uris, reals, strict=True)
                # A token alone may stand for a number, which is the URI of nothing.
                found += ((upstream.name, real, uri) for uri, real in pairs if isinstance(real, str))
            then(found, given)

        def took(restored: Restored) -> None:
            cleared.append(restored)
            go_on()

        go_on()

    def _clear(
        self,
        request: Request,
        upstream: Upstream,
        params: dict[str, Any],
        then: Cleared,
        declared: frozenset[str] = frozenset(),
        listed: Mapping[str, str] = UNLISTED,
    ) -> None:
        """Have ``params`` cleared, and a person asked where that is the rule; else the request is refused."""
        clear = partial(self._clear_knowing, request, upstream, params, then, declared, listed)
        if "inputResponses" not in params or not self._settings.enforces:
            clear(())
            return

        def failed(reason: str) -> None:
            self._requests.refuse(request, INTERNAL_ERROR, texts.answer_withheld(reason))

        # What a person answered becomes known before the upstream can echo it.
        said = {"inputResponses": params["inputResponses"]}
        own = self._tasks.form(upstream, params.get("taskId"))
        self._form_input.learn(upstream, request.method, said, clear, failed, own)

    def _clear_knowing(
        self,
        request: Request,
        upstream: Upstream,
        params: dict[str, Any],
        then: Cleared,
        declared: frozenset[str],
        listed: Mapping[str, str],
        typed: Sequence[Entry],
    ) -> None:
        """The same, with what a person ``typed`` in it."""

        def restore() -> Restored:
            tool = str(params.get("name")) if request.method == "tools/call" else ""
            holds = parameters(upstream.settings, tool)
            shape = SURFACE[request.method].params
            restored = self._restorer.restore(params, shape, upstream.name, declared, holds, listed)
            return restored._replace(typed=tuple(typed)) if typed else restored

        def cleared(restored: Restored) -> None:
            if request in self._requests:  # else the client took it back meanwhile
                then(restored)

        def stopped(text: str) -> None:
            self._requests.refuse(request, INVALID_PARAMS, text)

        try:
            self._egress.clear(upstream, request, params, restore, cleared, stopped)
        except NeedApproval as need:
            again = partial(self._clear_knowing, request, upstream, params, then, declared, listed, typed)
            self._ask_person(request, upstream, need.asked, again)

    def _may_go(self, request: Request, upstream: Upstream) -> Asked | None:
        """What is known of ``request``, if it is one that ``upstream`` can and may be sent; if not, that is the answer.

        A tool that became another one since the client called it is not what anybody approved.
        """
        asked = self._requests.get(request)
        if asked is None:
            return None  # the client took it back meanwhile
        if upstream.phase is not Phase.READY:
            reason = upstream.reason or "it has not answered yet"
            text = texts.unavailable(upstream.name, reason, final=upstream.phase is Phase.FAILED)
            self._requests.refuse(request, INTERNAL_ERROR, text)
            return None
        if request.method != "tools/call":
            return asked
        tool = str((request.params or {}).get("name"))
        asked.approved = asked.approved or self._tools.version(tool)
        if self._tools.is_held(tool, asked.approved):
            self.refuse(request, upstream, "tool_changes: hold", texts.held(tool))
            return None
        return asked

    def _ask_person(
        self, request: Request, upstream: Upstream, asked: Mapping[Approval, str], again: Callable[[], None]
    ) -> None:
        """Park the call, un-restored, until a person has said whether these values may go there."""

        def answered(allowed: bool | None) -> None:
            if allowed is not None:
                self._restorer.answers.update(dict.fromkeys(asked, allowed))
            self._emit(records.asked(upstream.name, request, allowed is True))
            if request not in self._requests:
                return  # the client took the call back meanwhile
            if allowed:
                again()
            else:
                told = texts.NOT_ALLOWED if allowed is None else texts.DECLINED
                self._requests.refuse(request, INVALID_PARAMS, told)

        tool = str((request.params or {}).get("name", ""))
        message = texts.approval(((a.category, a.origins, a.destination) for a in asked), tool)
        asking = self._requests.get(request)
        if asking is None:
            return  # the client took it back meanwhile
        if not self._questions.ask_person(asking, message, answered):
            self.refuse(request, upstream, "nobody to ask", texts.nobody_to_ask(upstream.name, asked.values()))

    def refuse(self, request: Request, upstream: Upstream, rule: str, told: str) -> None:
        """Refuse ``request`` by ``rule``, which the audit and the log name; ``told`` is for the model."""
        self._egress.refused(upstream, request, rule)
        self._requests.refuse(request, INVALID_PARAMS, told)

    def _send(
        self, request: Request, upstream: Upstream, restored: Restored, uri: str | None, marked: Sequence[Declared]
    ) -> None:
        asked = self._may_go(request, upstream)
        if asked is None:
            return
        self._egress.account(upstream, request, restored)
        if uri is not None and not self._is_due(request, upstream, restored, uri):
            self._requests.answer(request, {})
            return
        params = restored.part if request.params is not None else None
        uris = {} if uri is None else {restored.part["uri"]: uri}
        self._call(asked, upstream, params, restored.entries, uris, marked)

    def resend(
        self, asked: Asked, upstream: Upstream, call: Call, added: Mapping[str, Any], entries: Sequence[Entry]
    ) -> None:
        """Send a call again, with what its upstream wanted: the same but for ``added``."""
        if self._may_go(asked.request, upstream) is None:
            return
        params = {name: value for name, value in (call.params or {}).items() if name not in _OF_A_ROUND}
        restored = [*call.restored, *entries]
        self._call(asked, upstream, {**params, **added}, restored, call.uris, call.marked, call.round + 1)

    def _call(
        self,
        asked: Asked,
        upstream: Upstream,
        params: dict[str, Any] | None,
        restored: Sequence[Entry],
        uris: Mapping[str, str],
        marked: Sequence[Declared],
        round: int = 0,
    ) -> None:
        request = asked.request
        call = self._calls.send(
            upstream,
            request.method,
            params,
            partial(self._answered, request, upstream),
            timeout=upstream.settings.request_timeout,
            asked=asked,
            restored=restored,
            uris=uris,
            marked=marked,
        )
        call.round = round
        asked.calls.add((upstream.name, call.id))

    def _is_due(self, request: Request, upstream: Upstream, restored: Restored, shown: str) -> bool:
        """Whether a request about a resource goes to the upstream as it is.

        Updates are to carry the URI in the form that was subscribed to, and an
        upstream that starts anew, or knows streams only, is subscribed to by the gateway.
        """
        real = restored.part["uri"]
        if request.method == "resources/subscribe":
            self._directory.claim(upstream.name, real, shown)
            return self._subscriptions.begin(upstream, Watch(URI, real), restored.entries)
        if request.method == "resources/unsubscribe":
            return self._subscriptions.end(upstream, Watch(URI, real))
        return True
