"""Requests of upstreams to the client (sampling, elicitation, roots), and the client's answers.

A question is made clean like any message to the model.  Its answer is restored
narrowly: a token becomes a value only where that upstream is its origin.

A session's client is asked at once; a stateless one is told what is needed in
answer to the request that a question is about (:mod:`.suspensions`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias

from msgspec import Struct

from cloakllm_gateway.core import capabilities, pages, texts
from cloakllm_gateway.core.advertised import form
from cloakllm_gateway.core.egress import Egress
from cloakllm_gateway.core.events import CLIENT, Effect, Log, Send
from cloakllm_gateway.core.form_input import FormInput, words
from cloakllm_gateway.core.front import Front
from cloakllm_gateway.core.jobs import Jobs, Work
from cloakllm_gateway.core.lanes import Lanes
from cloakllm_gateway.core.requests import Asked
from cloakllm_gateway.core.restorer import Restored, Restorer
from cloakllm_gateway.core.settings import Settings
from cloakllm_gateway.core.suspensions import Posed, Suspensions
from cloakllm_gateway.core.tasks import Tasks
from cloakllm_gateway.core.upstream import Upstream
from cloakllm_gateway.protocol import eras, jsonrpc
from cloakllm_gateway.protocol.eras import RETRIABLE, Client, Era
from cloakllm_gateway.protocol.jsonrpc import INTERNAL_ERROR, METHOD_NOT_FOUND, Failure, Request, Response
from cloakllm_gateway.protocol.surface import DATA, SURFACE
from cloakllm_gateway.vault import tokens
from cloakllm_gateway.vault.entries import Entry

ELICIT: Final = "elicitation/create"

#: The name of an upstream, and the id of a request of it with its type.
_Key: TypeAlias = tuple[str, type, str | int]

#: Takes the answer for the upstream, and the entries whose values it holds.
Reply: TypeAlias = Callable[[dict[str, Any], Sequence[Entry]], None]


class Question(NamedTuple):
    """One request of an upstream, made clean: its key among others, what it said, what the client may see of it."""

    key: str
    request: Request
    params: dict[str, Any]
    reply: Reply


class _Open(Struct, eq=False):
    """One question in flight; ``progress_token`` is what the upstream wants progress under."""

    upstream: Upstream
    request: Request
    reply: Reply
    asked: Asked | None
    progress_token: str | int | None = None


class Questions:
    """Relays the upstreams' own requests to the client, and the answers back.

    ``client`` is what a session's client said of itself in its handshake.
    """

    def __init__(
        self,
        settings: Settings,
        front: Front,
        lanes: Lanes,
        restorer: Restorer,
        jobs: Jobs,
        form_input: FormInput,
        suspensions: Suspensions,
        egress: Egress,
        tasks: Tasks,
        emit: Callable[[Effect], None],
    ) -> None:
        self._settings = settings
        self._front = front
        self._lanes = lanes
        self._restorer = restorer
        self._jobs = jobs
        self._form_input = form_input
        self._suspensions = suspensions
        self._egress = egress
        self._tasks = tasks
        self._emit = emit
        self._open: dict[int, _Open] = {}
        self._being_cleaned: dict[_Key, tuple[Request, Asked | None]] = {}
        self._own: dict[int, tuple[Callable[[Response | Failure], None], Asked]] = {}
        self._ids = 0
        self.client = Client()

    def __len__(self) -> int:
        """How many questions are open."""
        return len(self._open) + len(self._own)

    def ask(self, upstream: Upstream, request: Request, during: str | int | None = None) -> None:
        """Relay one request of an upstream, or answer it where the client can't or may not.

        ``during`` is the call on whose stream it came, where there are streams.
        """
        if request.method == "ping":
            self._emit(Send(upstream.name, jsonrpc.result(request.id, {})))
            return
        asked = next(iter(upstream.serving(during)), None)
        if fault := self._fault(upstream, request.method, asked):
            self._emit(Send(upstream.name, jsonrpc.failure(request.id, *fault)))
            return
        key = _key(upstream, request.id)
        self._being_cleaned[key] = request, asked

        def settle(effects: list[Effect]) -> None:
            self._front.send(effects)
            self._lanes.leave(upstream)

        def reply(message: dict[str, Any], entries: Sequence[Entry]) -> None:
            if upstream.is_there:
                upstream.disclosed.answer(entries)
                self._emit(Send(upstream.name, message))

        def done(params: Any, effects: list[Effect]) -> None:
            if not self._is_wanted(key, request):
                settle([])
            elif not upstream.is_there or (self._front.era is Era.STATELESS and not self._suspensions.can_ask(asked)):
                reply(jsonrpc.failure(request.id, METHOD_NOT_FOUND, texts.NOT_OFFERED), ())
                settle(effects)
            else:
                question = Question(f"question-{self._ids + 1}", request, params, reply)
                settle([*effects, *self.pose(upstream, asked, [question])])

        def failed(reason: str) -> None:
            if self._is_wanted(key, request):
                reply(jsonrpc.failure(request.id, INTERNAL_ERROR, texts.question_withheld(reason)), ())
            settle([])

        work = Work(
            upstream,
            request.method,
            request.params or {},
            SURFACE[request.method].params,
            done,
            failed,
            restored=upstream.disclosed.lately(),
            exact_links=self.exact_links(upstream, asked),
        )
        self._lanes.enter(upstream, partial(self._jobs.start, work), keeps=True)

    def _fault(self, upstream: Upstream, method: str, asked: Asked | None) -> tuple[int, str] | None:
        """Why the client is not asked, as the code and the text of an error."""
        if not self.offered(upstream, method, asked):
            return METHOD_NOT_FOUND, texts.NOT_OFFERED
        if not self.has_room(upstream, asked, 1):
            return INTERNAL_ERROR, texts.TOO_MANY_QUESTIONS
        return None

    def _is_wanted(self, key: _Key, request: Request) -> bool:
        """Whether the upstream still waits for the answer: it may have taken the request back, or have ended."""
        wanted, _ = self._being_cleaned.get(key, (None, None))
        if wanted is not request:
            return False
        del self._being_cleaned[key]
        return True

    def offered(self, upstream: Upstream, method: str, asked: Asked | None) -> bool:
        """Whether the client can be asked this; a stateless one only about a request of its own."""
        capability = capabilities.CLIENT_SERVES.get(method)
        if self._front.era is Era.STATELESS and asked is None:
            return False
        client = asked.client if asked else self.client
        return capability in capabilities.towards(upstream.settings, client.capabilities)

    def exact_links(self, upstream: Upstream, asked: Asked | None) -> bool:
        """Whether a page that ``upstream`` sends a person to keeps its address: a client that opens none reads it."""
        if not upstream.settings.exact_links:
            return False
        client = asked.client if asked else self.client
        modes = capabilities.towards(upstream.settings, client.capabilities).get("elicitation")
        return isinstance(modes, dict) and "url" in modes

    def has_room(self, upstream: Upstream, asked: Asked | None, more: int) -> bool:
        """Whether ``upstream`` may ask so much more: a question is kept until somebody answers it.

        Those that a stateless client leaves behind go with their request, so
        there it is counted what belongs to one.
        """
        about = asked if self._front.era is Era.STATELESS else None
        own = [open.asked for open in self._open.values() if open.upstream is upstream]
        own += [asked for (name, *_), (_, asked) in self._being_cleaned.items() if name == upstream.name]
        return sum(about in (None, asked) for asked in own) + more <= self._settings.max_pending

    def pose(
        self,
        upstream: Upstream,
        asked: Asked | None,
        questions: Sequence[Question],
        wake: Callable[[], None] | None = None,
    ) -> list[Effect]:
        """What asks the client; the questions of one round go together, where the era lets them."""
        posed: list[Posed] = []
        for question in questions:
            self._ids += 1
            open = _Open(upstream, question.request, question.reply, asked)
            self._open[self._ids] = open
            params = self._presented(upstream, question.request.method, question.params)
            params = self._with_progress(open, params)
            posed.append(Posed(question.key, self._ids, question.request.method, params))
        if self._front.era is Era.STATELESS and asked is not None:
            return self._suspensions.pose(asked, posed, wake)
        related = asked.waits if asked else None
        return [
            Send(CLIENT, jsonrpc.request(one.id, one.method, _sent(question, one.params)), related=related)
            for question, one in zip(questions, posed, strict=True)
        ]

    def within(self, upstream: Upstream, part: dict[str, Any]) -> dict[str, Any]:
        """A task, or what is said of one, with the questions it holds as the client may see them."""
        asks = part.get("inputRequests")
        if not isinstance(asks, dict):
            return part
        return {**part, "inputRequests": {key: ask for key, said in asks.items() if (ask := self._ask(upstream, said))}}

    def _ask(self, upstream: Upstream, said: Any) -> dict[str, Any] | None:
        """One question of a task; None where the upstream may not ask it."""
        method = said.get("method") if isinstance(said, dict) else None
        capability = capabilities.CLIENT_SERVES.get(method) if isinstance(method, str) else None
        if capability is None or not capabilities.towards(upstream.settings, {capability: {}}):
            return None
        params = said.get("params")
        return {**said, "params": self._presented(upstream, str(method), params)} if isinstance(params, dict) else said

    def elsewhere(self, upstream: Upstream, error: dict[str, Any]) -> dict[str, Any]:
        """An error that sends a person to pages, as the client may see it: from whom, or that it may not."""
        data = error.get("data")
        asks = data.get("elicitations") if isinstance(data, dict) else None
        if error.get("code") != eras.SENT_ELSEWHERE or not isinstance(asks, list):
            return error
        if not upstream.settings.elicitation:
            rest = {name: value for name, value in error["data"].items() if name != "elicitations"}
            return {**error, "code": INTERNAL_ERROR, "data": rest}
        shown = [self._presented(upstream, ELICIT, ask) if isinstance(ask, dict) else ask for ask in asks]
        if any(isinstance(ask, dict) and self._is_changed(ask) for ask in asks):
            error = {**error, "message": self._warned(upstream, error.get("message"))}
        return {**error, "data": {**error["data"], "elicitations": shown}}

    def _presented(self, upstream: Upstream, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The params as the client may see them."""
        params = dict(self._tasks.told(upstream, method, pages.granted(upstream.settings, params)))
        if method == "sampling/createMessage" and "includeContext" in params:
            # The client would add what other upstreams said; only the user's own gateway may mix them.
            params["includeContext"] = "none"
        if method == ELICIT:
            if upstream.settings.prefix:
                said = params.get("message")  # what is no text is not for a client to make one of
                params["message"] = f"{upstream.name}: {said if isinstance(said, str) else texts.NOTHING_SAID}"
            if self._is_changed(params):
                params["message"] = self._warned(upstream, params.get("message"))
                self._emit(Log("warning", "page_with_hidden_values", {"upstream": upstream.name}))
            if "requestedSchema" in params and self._settings.enforces:
                params["requestedSchema"] = form(params["requestedSchema"])
        return params

    def _is_changed(self, params: Mapping[str, Any]) -> bool:
        """Whether the address of the page that a person is sent to has a token in it, so that it leads nowhere."""
        url = params.get("url") if params.get("mode") == "url" and self._settings.enforces else None
        if not isinstance(url, str):
            return False
        is_cut = self._settings.redacts and bool(tokens.redactions(url))
        return is_cut or any(match.token.category in self._settings.categories for match in tokens.scan(url))

    def _warned(self, upstream: Upstream, message: Any) -> str:
        hint = texts.broken_page(upstream.name, passes=upstream.settings.exact_links)
        return f"{message}\n\n{hint}" if isinstance(message, str) and message else hint

    def _with_progress(self, open: _Open, params: dict[str, Any]) -> dict[str, Any]:
        """The params with a progress token of the gateway's in place of the upstream's."""
        meta = params.get("_meta")
        if not isinstance(meta, dict) or "progressToken" not in meta:
            return params
        open.progress_token = (open.request.params or {})["_meta"]["progressToken"]
        return {**params, "_meta": {**meta, "progressToken": self._ids}}

    def ask_person(self, asked: Asked, message: str, answered: Callable[[bool | None], None]) -> bool:
        """A question of the gateway's own, by elicitation; False if the client can't ask.

        ``answered`` gets True or False as the person decided, None if they did not.
        """
        if "elicitation" not in asked.client.capabilities:
            return False
        if self._front.era is Era.STATELESS and asked.request.method not in RETRIABLE:
            return False  # nobody would send it again

        def settle(answer: Response | Failure) -> None:
            action = answer.result.get("action") if isinstance(answer, Response) else "cancel"
            answered({"accept": True, "decline": False}.get(str(action)))

        self._ids += 1
        self._own[self._ids] = settle, asked
        params = {"message": message, "requestedSchema": {"type": "object", "properties": {}}}
        if self._front.era is Era.STATELESS:
            self._front.send(self._suspensions.pose(asked, [Posed(f"consent-{self._ids}", self._ids, ELICIT, params)]))
        else:
            self._front.send([Send(CLIENT, jsonrpc.request(self._ids, ELICIT, params), related=asked.waits)])
        return True

    def take_back(self, asked: Asked) -> None:
        """A request is over: nobody need answer what was asked for it.

        A session's upstream has to say itself what becomes of its question.
        """
        own = [id for id, (_, about) in self._own.items() if about is asked]
        rounds = [id for id, o in self._open.items() if o.asked is asked and o.upstream.era is Era.STATELESS]
        for id in (*own, *rounds):
            self._own.pop(id, None)
            self._open.pop(id, None)
            self._withdraw(id, asked, "the request is over")

    def answer(self, answer: Response | Failure) -> None:
        """The client's answer, for the upstream that asked; an answer to nothing is dropped."""
        own = self._own.pop(answer.id, None) if isinstance(answer.id, int) else None
        if own is not None:
            own[0](answer)
            return
        open = self._open.pop(answer.id, None) if isinstance(answer.id, int) else None
        if open is None:
            return
        if isinstance(answer, Failure):
            open.reply({"jsonrpc": "2.0", "id": open.request.id, "error": answer.error}, ())
        elif open.request.method == ELICIT and self._settings.enforces:
            self._learn(open, answer)
        else:
            self._reply(open, answer)

    def _learn(self, open: _Open, answer: Response) -> None:
        """What a person types into a form becomes known before the upstream can echo it."""

        def failed(reason: str) -> None:
            self._fail(open, texts.answer_withheld(reason))

        def learned(typed: Sequence[Entry]) -> None:
            self._reply(open, answer, typed)

        own = words(open.request.params)
        self._form_input.learn(open.upstream, open.request.method, answer.result, learned, failed, own)

    def _reply(self, open: _Open, answer: Response, typed: Sequence[Entry] = ()) -> None:
        upstream, request = open.upstream, open.request

        def restore() -> Restored:
            shape = SURFACE[request.method].result or DATA
            return self._restorer.restore(answer.result, shape, upstream.name)._replace(typed=tuple(typed))

        def reply(restored: Restored) -> None:
            self._egress.account(upstream, request, restored)
            open.reply({"jsonrpc": "2.0", "id": request.id, "result": restored.part}, restored.entries)

        def stopped(text: str) -> None:
            self._fail(open, text)

        # What was found in clear is for the model to know, and not for whoever asked.
        self._egress.clear(upstream, request, answer.result, restore, reply, stopped, in_clear=texts.ANSWER_IN_CLEAR)

    def cancelled(self, upstream: Upstream, request_id: Any) -> int | None:
        """The id under which the client knows a question that its upstream took back; None where it never will."""
        self._being_cleaned.pop(_key(upstream, request_id), None)
        for id, open in self._open.items():
            same_type = type(open.request.id) is type(request_id)
            if open.upstream is upstream and same_type and open.request.id == request_id:
                del self._open[id]
                if open.asked is not None and self._front.era is Era.STATELESS:
                    self._suspensions.forget(open.asked, id)
                    return None
                return id
        return None

    def withdraw(self, id: int, text: str) -> None:
        """The question did not reach the client after all."""
        if own := self._own.pop(id, None):
            own[0](Failure(id, {}))
        elif open := self._open.pop(id, None):
            self._fail(open, text)

    def progress(self, params: dict[str, Any]) -> None:
        """Progress of the client on a question; its words go as they are."""
        token = params.get("progressToken")
        open = self._open.get(token) if isinstance(token, int) else None
        if open is not None and open.progress_token is not None:
            params = {**params, "progressToken": open.progress_token}
            self._emit(Send(open.upstream.name, jsonrpc.notification("notifications/progress", params)))

    def drop(self, upstream: Upstream) -> None:
        """An upstream is gone: the client need not go on with what it asked."""
        for key in [key for key in self._being_cleaned if key[0] == upstream.name]:
            del self._being_cleaned[key]
        for id in [id for id, open in self._open.items() if open.upstream is upstream]:
            if open := self._open.pop(id, None):
                self._withdraw(id, open.asked, "the upstream that asked is gone")
                self._fail(open, texts.gone(upstream.name))

    def _withdraw(self, id: int, asked: Asked | None, reason: str) -> None:
        if self._front.era is Era.SESSION:
            params = {"requestId": id, "reason": reason}
            self._front.send([Send(CLIENT, jsonrpc.notification("notifications/cancelled", params))])
        elif asked is not None:
            self._suspensions.forget(asked, id)

    def _fail(self, open: _Open, text: str) -> None:
        open.reply(jsonrpc.failure(open.request.id, INTERNAL_ERROR, text), ())


def _key(upstream: Upstream, id: Any) -> _Key:
    return upstream.name, type(id), id if isinstance(id, str | int) else ""


def _sent(question: Question, params: Any) -> Any:
    return None if question.request.params is None else params
