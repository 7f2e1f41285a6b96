"""What upstreams ask of the client: sampling, elicitation, roots.

A question is made clean like any message to the model.  Its answer is restored
narrowly: a token becomes a value only where that upstream is its origin.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from cloakllm_gateway.core import accounts, handshake, texts
from cloakllm_gateway.core.advertised import form
from cloakllm_gateway.core.events import CLIENT, Effect, Send
from cloakllm_gateway.core.jobs import Jobs, Work
from cloakllm_gateway.core.restorer import Restorer
from cloakllm_gateway.core.settings import Settings
from cloakllm_gateway.core.upstream import Phase, Upstream
from cloakllm_gateway.errors import Refused
from cloakllm_gateway.protocol import jsonrpc
from cloakllm_gateway.protocol.jsonrpc import INTERNAL_ERROR, METHOD_NOT_FOUND, Failure, Request, Response
from cloakllm_gateway.protocol.surface import DATA, SURFACE


class _Question(Struct):
    """One question in flight; ``progress_token`` is what the upstream wants progress under."""

    upstream: Upstream
    request: Request
    progress_token: str | int | None = None


class Questions:
    """Relays the upstreams' own requests to the client, and the answers back."""

    def __init__(
        self,
        settings: Settings,
        restorer: Restorer,
        jobs: Jobs,
        emit: Callable[[Effect], None],
        to_client: Callable[[list[Effect]], None],
    ) -> None:
        self._settings = settings
        self._restorer = restorer
        self._jobs = jobs
        self._emit = emit
        self._to_client = to_client
        self._open: dict[int, _Question] = {}
        self._own: dict[int, Callable[[Response | Failure], None]] = {}
        self._ids = 0
        self.client_capabilities: dict[str, Any] = {}

    def ask(self, upstream: Upstream, request: Request) -> None:
        """Relay one request of an upstream, or answer it where the client can't or may not."""
        if request.method == "ping":
            self._emit(Send(upstream.name, jsonrpc.result(request.id, {})))
            return
        if not self._offered(upstream, request.method):
            self._fail(upstream, request, METHOD_NOT_FOUND, texts.NOT_OFFERED)
            return
        ticket = upstream.lane.enter(is_response=False)

        def done(params: Any, effects: list[Effect]) -> None:
            self._to_client(upstream.lane.settle(ticket, [*effects, self._question(upstream, request, params)]))

        def failed(reason: str) -> None:
            self._fail(upstream, request, INTERNAL_ERROR, f"The gateway withheld this request: {reason}")
            self._to_client(upstream.lane.settle(ticket, []))

        shape = SURFACE[request.method].params
        restored = upstream.restored()
        self._jobs.start(Work(upstream, request.method, request.params or {}, shape, done, failed, restored))

    def _offered(self, upstream: Upstream, method: str) -> bool:
        capability = handshake.CLIENT_SERVES.get(method)
        offered = handshake.capabilities_towards(upstream.settings, self.client_capabilities)
        return capability is not None and capability in offered

    def _question(self, upstream: Upstream, request: Request, params: dict[str, Any]) -> Effect:
        self._ids += 1
        question = _Question(upstream, request)
        self._open[self._ids] = question
        params = dict(params)
        if request.method == "sampling/createMessage" and "includeContext" in params:
            # The client would add what other upstreams said; only the user's own gateway may mix them.
            params["includeContext"] = "none"
        if (
            request.method == "elicitation/create"
            and upstream.settings.prefix
            and isinstance(params.get("message"), str)
        ):
            params["message"] = f"{upstream.name}: {params['message']}"
        if "requestedSchema" in params and request.method == "elicitation/create" and self._settings.enforces:
            params["requestedSchema"] = form(params["requestedSchema"])
        meta = params.get("_meta")
        if isinstance(meta, dict) and "progressToken" in meta:
            question.progress_token = (request.params or {})["_meta"]["progressToken"]
            params["_meta"] = {**meta, "progressToken": self._ids}
        sent = None if request.params is None else params
        return Send(CLIENT, jsonrpc.request(self._ids, request.method, sent))

    def ask_person(self, message: str, answered: Callable[[bool | None], None]) -> int | None:
        """A question of the gateway's own, by elicitation; None if the client can't ask.

        ``answered`` gets True or False as the person decided, None if they did not.
        """
        if "elicitation" not in self.client_capabilities:
            return None

        def settle(answer: Response | Failure) -> None:
            action = answer.result.get("action") if isinstance(answer, Response) else "cancel"
            answered({"accept": True, "decline": False}.get(str(action)))

        self._ids += 1
        self._own[self._ids] = settle
        params = {"message": message, "requestedSchema": {"type": "object", "properties": {}}}
        self._to_client([Send(CLIENT, jsonrpc.request(self._ids, "elicitation/create", params))])
        return self._ids

    def take_back(self, id: int) -> None:
        """The call that a question of the gateway's own was about is gone."""
        if self._own.pop(id, None) is not None:
            params = {"requestId": id, "reason": "the call was cancelled"}
            self._to_client([Send(CLIENT, jsonrpc.notification("notifications/cancelled", params))])

    def answer(self, answer: Response | Failure) -> None:
        """The client's answer, for the upstream that asked; an answer to nothing is dropped."""
        own = self._own.pop(answer.id, None) if isinstance(answer.id, int) else None
        if own is not None:
            own(answer)
            return
        question = self._open.pop(answer.id, None) if isinstance(answer.id, int) else None
        if question is None or question.upstream.phase is not Phase.READY:
            return
        upstream, request = question.upstream, question.request
        if isinstance(answer, Failure):
            self._emit(Send(upstream.name, {"jsonrpc": "2.0", "id": request.id, "error": answer.error}))
        elif request.method == "elicitation/create" and self._settings.enforces:
            self._learn(question, answer)
        else:
            self._reply(question, answer)

    def _learn(self, question: _Question, answer: Response) -> None:
        """What a person types into a form becomes known before the upstream can echo it."""
        upstream = question.upstream
        shape = SURFACE[question.request.method].result or DATA

        def failed(reason: str) -> None:
            self._fail(upstream, question.request, INTERNAL_ERROR, f"The gateway withheld the answer: {reason}")

        def done(_part: Any, effects: list[Effect]) -> None:
            for effect in effects:
                self._emit(effect)
            self._reply(question, answer)

        method = question.request.method
        self._jobs.start(Work(upstream, method, answer.result, shape, done, failed, direction="to_upstream"))

    def _reply(self, question: _Question, answer: Response) -> None:
        upstream, request = question.upstream, question.request
        result = answer.result
        if self._settings.enforces:
            try:
                restored = self._restorer.restore(result, SURFACE[request.method].result or DATA, upstream.name)
            except Refused as refused:
                self._emit(accounts.refused(upstream.name, request, refused))
                self._fail(upstream, request, INTERNAL_ERROR, texts.refusal(refused))
                return
            result = restored.part
            for record in accounts.restored(upstream.name, request, restored.decisions):
                self._emit(record)
        self._emit(Send(upstream.name, {"jsonrpc": "2.0", "id": request.id, "result": result}))

    def cancelled(self, upstream: Upstream, request_id: Any) -> int | None:
        """The id under which the client knows a question that its upstream took back."""
        for id, question in self._open.items():
            same_type = type(question.request.id) is type(request_id)
            if question.upstream is upstream and same_type and question.request.id == request_id:
                del self._open[id]
                return id
        return None

    def withdraw(self, id: int, text: str) -> None:
        """The question did not reach the client after all."""
        if own := self._own.pop(id, None):
            own(Failure(id, {}))
        elif question := self._open.pop(id, None):
            self._fail(question.upstream, question.request, INTERNAL_ERROR, text)

    def progress(self, params: dict[str, Any]) -> None:
        """Progress of the client on a question; its words go as they are."""
        token = params.get("progressToken")
        question = self._open.get(token) if isinstance(token, int) else None
        if question is not None and question.progress_token is not None:
            params = {**params, "progressToken": question.progress_token}
            self._emit(Send(question.upstream.name, jsonrpc.notification("notifications/progress", params)))

    def drop(self, upstream: Upstream) -> None:
        """An upstream is gone: the client need not go on with what it asked."""
        for id in [id for id, question in self._open.items() if question.upstream is upstream]:
            del self._open[id]
            params = {"requestId": id, "reason": "the upstream that asked is gone"}
            self._to_client([Send(CLIENT, jsonrpc.notification("notifications/cancelled", params))])

    def _fail(self, upstream: Upstream, request: Request, code: int, text: str) -> None:
        self._emit(Send(upstream.name, jsonrpc.failure(request.id, code, text)))
