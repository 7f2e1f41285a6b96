"""Requests of the client on their way to an upstream: restored, allowed, watched, sent, in this order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from cloakllm_gateway.core import accounts, texts
from cloakllm_gateway.core.calls import Calls
from cloakllm_gateway.core.directory import Directory
from cloakllm_gateway.core.events import Effect, Log, Used
from cloakllm_gateway.core.jobs import Jobs, Work
from cloakllm_gateway.core.policy import Policy
from cloakllm_gateway.core.questions import Questions
from cloakllm_gateway.core.rawdata import RAW_DUMP, distinct, raw_texts
from cloakllm_gateway.core.requests import Asked, Requests
from cloakllm_gateway.core.restorer import Approval, NeedApproval, Restored, Restorer
from cloakllm_gateway.core.settings import RawData, Settings
from cloakllm_gateway.core.subscriptions import URI, Subscriptions, Watch
from cloakllm_gateway.core.treatments import parameters
from cloakllm_gateway.core.upstream import Call, Phase, Upstream
from cloakllm_gateway.errors import Refused
from cloakllm_gateway.protocol.eras import Era
from cloakllm_gateway.protocol.headers import Declared
from cloakllm_gateway.protocol.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, Failure, Request, Response
from cloakllm_gateway.protocol.surface import SURFACE
from cloakllm_gateway.spans import Span
from cloakllm_gateway.vault.entries import Entry
from cloakllm_gateway.vault.vault import Vault

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
        jobs: Jobs,
        questions: Questions,
        subscriptions: Subscriptions,
        directory: Directory,
        vault: Vault,
        emit: Callable[[Effect], None],
        answered: Answered,
    ) -> None:
        self._settings = settings
        self._policy = Policy(settings)
        self._vault = vault
        self._requests = requests
        self._restorer = restorer
        self._calls = calls
        self._jobs = jobs
        self._questions = questions
        self._subscriptions = subscriptions
        self._directory = directory
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
    ) -> None:
        """Restore, then send: the last step before the write."""
        if not self._is_there(request, upstream):
            return
        arguments = params.get("arguments")
        if arguments is not None and not isinstance(arguments, dict):
            # Not a tool that failed but a request that is none: a protocol error, as MCP tells them apart.
            self._requests.reject(request, INVALID_PARAMS, texts.NO_ARGUMENTS)
            return
        if not self._settings.enforces:
            self.send(request, upstream, Restored(params, ()), uri, marked)
            return
        try:
            tool = str(params.get("name")) if request.method == "tools/call" else ""
            holds = parameters(upstream.settings, tool)
            restored = self._restorer.restore(params, SURFACE[request.method].params, upstream.name, declared, holds)
        except NeedApproval as need:
            again = partial(self.forward, request, upstream, params, declared=declared, marked=marked, uri=uri)
            self._ask_person(request, upstream, need.asked, again)
            return
        except Refused as refused:
            self._refuse(request, upstream, refused.rule, texts.refusal(refused), refused.token)
            return
        then = partial(self._send_watched, request, upstream, restored, uri, marked)
        if "inputResponses" in params:
            self._learn(request, upstream, params, then)
        else:
            then()

    def _learn(self, request: Request, upstream: Upstream, params: dict[str, Any], then: Callable[[], None]) -> None:
        """What a person answered becomes known before the upstream can echo it (see :class:`Questions`)."""

        def done(_part: Any, effects: list[Effect]) -> None:
            for effect in effects:
                self._emit(effect)
            then()

        def failed(reason: str) -> None:
            self._requests.refuse(request, INTERNAL_ERROR, texts.answer_withheld(reason))

        said = {"inputResponses": params["inputResponses"]}
        shape = SURFACE["tasks/update"].params
        self._jobs.start(Work(upstream, request.method, said, shape, done, failed, direction="to_upstream"))

    def _is_there(self, request: Request, upstream: Upstream) -> bool:
        """Whether ``upstream`` can be sent anything; if not, that is the answer."""
        if upstream.phase is not Phase.READY:
            text = texts.unavailable(upstream.name, upstream.reason or "it is starting")
            self._requests.refuse(request, INTERNAL_ERROR, text)
        return upstream.phase is Phase.READY

    def _ask_person(
        self, request: Request, upstream: Upstream, asked: Sequence[Approval], again: Callable[[], None]
    ) -> None:
        """Park the call, un-restored, until a person has said whether these values may go there."""

        def answered(allowed: bool | None) -> None:
            if allowed is not None:
                self._restorer.answers.update(dict.fromkeys(asked, allowed))
            self._emit(accounts.asked(upstream.name, request, allowed is True))
            if request not in self._requests:
                return  # the client took the call back meanwhile
            if allowed:
                again()
            else:
                self._requests.refuse(request, INVALID_PARAMS, texts.NOT_ALLOWED)

        tool = str((request.params or {}).get("name", ""))
        message = texts.approval(((a.category, a.origins, a.destination) for a in asked), tool)
        asking = self._requests.get(request)
        if asking is None:
            return  # the client took it back meanwhile
        if not self._questions.ask_person(asking, message, answered):
            self._refuse(request, upstream, "nobody to ask", texts.nobody_to_ask(upstream.name))

    def _refuse(self, request: Request, upstream: Upstream, rule: str, told: str, token: str = "") -> None:
        """Refuse ``request`` by ``rule``, which the audit and the log name; ``told`` is for the model."""
        about = {"upstream": upstream.name, "method": request.method, "rule": rule}
        self._emit(accounts.refused(upstream.name, request, rule, token))
        self._emit(Log("warning", "refused", {**about, "token": token} if token else about))
        self._requests.refuse(request, INVALID_PARAMS, told)

    def _send_watched(
        self,
        request: Request,
        upstream: Upstream,
        restored: Restored,
        uri: str | None,
        marked: Sequence[Declared],
    ) -> None:
        """Look at what the model wrote in clear, report it, and then send; or refuse, where that is blocked."""
        raw = self._settings.raw_data.get(upstream.name, RawData.PASS)
        looks = raw_texts(restored.written) if raw is not RawData.PASS else []
        if not looks:
            self.send(request, upstream, restored, uri, marked)
            return

        def looked(found: Sequence[Sequence[Span]] | None) -> None:
            counts = distinct(found or (), upstream.settings.configured)
            if counts or found is None:
                how = raw.value if found is not None else accounts.UNKNOWN
                dump = max(counts.values(), default=0) > RAW_DUMP
                about = {"upstream": upstream.name, "method": request.method, "found": counts, "dump": dump}
                self._emit(accounts.raw_data(upstream.name, request, counts, how, dump=dump))
                self._emit(Log("warning", "raw_pii", {**about, "action": how}))
            if request not in self._requests:
                return  # the client took the call back meanwhile
            if raw is RawData.BLOCK and found is None:
                self._requests.refuse(request, INVALID_PARAMS, texts.RAW_DATA_UNKNOWN)
            elif raw is RawData.BLOCK and counts:
                self._requests.refuse(request, INVALID_PARAMS, texts.raw_data(counts, upstream.name))
            else:
                self.send(request, upstream, restored, uri, marked)

        self._jobs.look(upstream, looks, looked)

    def send(
        self,
        request: Request,
        upstream: Upstream,
        restored: Restored,
        uri: str | None = None,
        marked: Sequence[Declared] = (),
    ) -> None:
        asked = self._requests.get(request)
        if asked is None:
            return  # the client took it back meanwhile
        if not self._is_there(request, upstream):
            return
        self._account(request, upstream, restored)
        if uri is not None and not self._is_due(request, upstream, restored.part["uri"], uri):
            self._requests.answer(request, {})
            return
        params = restored.part if request.params is not None else None
        uris = {} if uri is None else {restored.part["uri"]: uri}
        self._call(asked, upstream, params, restored.entries, uris, marked)

    def resend(
        self, asked: Asked, upstream: Upstream, call: Call, added: Mapping[str, Any], entries: Sequence[Entry]
    ) -> None:
        """Send a call again, with what its upstream wanted: the same but for ``added``."""
        if not self._is_there(asked.request, upstream):
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
            lambda answer: self._answered(request, upstream, call, answer),
            timeout=upstream.settings.request_timeout,
            asked=asked,
            restored=restored,
            uris=uris,
            marked=marked,
        )
        call.round = round
        asked.calls.add((upstream.name, call.id))

    def _is_due(self, request: Request, upstream: Upstream, real: str, shown: str) -> bool:
        """Whether a request about a resource goes to the upstream as it is.

        Updates are to carry the URI in the form that was subscribed to, and an
        upstream that starts anew, or knows streams only, is subscribed to by the gateway.
        """
        watch = Watch(URI, real)
        if request.method == "resources/subscribe":
            self._directory.claim(upstream.name, real, shown)
            if upstream.era is Era.STATELESS:
                self._subscriptions.watch(upstream, watch)
                return False
            self._subscriptions.note(upstream, watch)
        elif request.method == "resources/unsubscribe":
            if upstream.era is Era.STATELESS:
                self._subscriptions.unwatch(upstream, watch)
                return False
            self._subscriptions.forget(upstream, watch)
        return True

    def _account(self, request: Request, upstream: Upstream, restored: Restored) -> None:
        """Every restore is recorded; one towards an upstream that is not its origin is also logged."""
        if not restored.decisions:
            return
        self._emit(Used([entry.token for entry in restored.entries]))
        self._vault.give(restored.entries, self._policy.group(upstream.name))
        for record in accounts.restored(upstream.name, request, restored.decisions):
            self._emit(record)
        for entry, verdict in restored.decisions:
            if verdict.foreign:
                about = {
                    "token": str(entry.token),
                    "from": ", ".join(accounts.names(entry.origins)),
                    "to": upstream.name,
                    "method": request.method,
                    "rule": verdict.rule,
                }
                self._emit(Log("info", "restored_for_another_upstream", about))
