"""The upstreams' answers on their way to the client: made clean, in the client's era, in each upstream's order."""

from __future__ import annotations

from functools import partial
from typing import Any

from cloakllm_gateway.core import calls, pages, texts
from cloakllm_gateway.core.advertised import Tools
from cloakllm_gateway.core.events import Effect
from cloakllm_gateway.core.front import Front
from cloakllm_gateway.core.jobs import Jobs, Work
from cloakllm_gateway.core.lanes import Lanes
from cloakllm_gateway.core.questions import ELICIT, Questions
from cloakllm_gateway.core.requests import Asked, Requests
from cloakllm_gateway.core.rounds import Rounds
from cloakllm_gateway.core.tasks import Tasks, is_about_task
from cloakllm_gateway.core.upstream import Call, Upstream
from cloakllm_gateway.protocol import eras, jsonrpc
from cloakllm_gateway.protocol.eras import Era
from cloakllm_gateway.protocol.jsonrpc import INTERNAL_ERROR, Failure, Request, Response
from cloakllm_gateway.protocol.surface import DATA, ERROR, SENT_ELSEWHERE, SURFACE, Shape


class Answers:
    """Hands each answer of an upstream to the request of the client that its call served."""

    def __init__(
        self, front: Front, lanes: Lanes, requests: Requests, rounds: Rounds, questions: Questions, jobs: Jobs,
        tasks: Tasks, tools: Tools,
    ) -> None:  # fmt: skip
        self._front = front
        self._lanes = lanes
        self._requests = requests
        self._rounds = rounds
        self._questions = questions
        self._jobs = jobs
        self._tasks = tasks
        self._tools = tools

    def arrived(self, request: Request, upstream: Upstream, call: Call, answer: Response | Failure) -> None:
        """``call``, which served ``request``, is answered: make it clean, keep its place in the order, hand it over."""
        waiting = self._requests.get(request)
        if waiting is not None:
            waiting.calls.discard((upstream.name, call.id))
        if isinstance(answer, Failure) and calls.is_ours(answer):
            code, why = answer.error["code"], answer.error["message"]
            failure = self._requests.failure
            self._lanes.enter(upstream, lambda: self._front.send(failure(request, code, why)), keeps=False)
            return
        part = answer.error if isinstance(answer, Failure) else answer.result
        tool = self._tasks.answered(request, upstream, call, part)

        def done(part: Any, effects: list[Effect]) -> None:
            if isinstance(answer, Response) and upstream.era is Era.STATELESS and eras.wants_more(answer.result):
                asked = self._requests.get(request)  # it may have been taken back in the meantime
                more = self._rounds.begin(asked, upstream, call, answer.result, part) if asked else []
                self._front.send([*effects, *more])
                return
            message = self._message(request, upstream, answer, part, tool.name)
            self._front.send(self._requests.reply(request, message, effects))

        def failed(reason: str) -> None:
            self._front.send(self._requests.failure(request, INTERNAL_ERROR, texts.withheld(upstream.name, reason)))

        work = Work(
            upstream,
            call.method,
            part,
            self._shape(upstream, call, answer, waiting),
            done,
            failed,
            restored=upstream.disclosed.lately() if is_about_task(call.method) else call.restored,
            uris=call.uris,
            tool=tool.original,
            tools=self._tasks.tools(upstream, part) if call.method == "tasks/list" else {},
            exact_links=self._questions.exact_links(upstream, waiting),
        )
        self._lanes.enter(upstream, partial(self._jobs.start, work), keeps=False)

    def _shape(self, upstream: Upstream, call: Call, answer: Response | Failure, waiting: Asked | None) -> Shape:
        """The roles of the answer's fields; an error that sends a person to a page has its own where the client can."""
        if isinstance(answer, Response):
            return SURFACE[call.method].result or DATA
        goes = answer.error.get("code") == eras.SENT_ELSEWHERE and self._questions.offered(upstream, ELICIT, waiting)
        return SENT_ELSEWHERE if goes else ERROR

    def _message(
        self, request: Request, upstream: Upstream, answer: Response | Failure, part: Any, tool: str
    ) -> dict[str, Any]:
        """The client's answer from the clean ``part`` of the upstream's; ``tool`` is the one it is of, if any."""
        era = self._front.decided or Era.SESSION
        if isinstance(answer, Failure):
            part = self._questions.elsewhere(upstream, part)
            error = part if upstream.era is era else eras.error_for(era, request.method, part)
            if error.get("code") in eras.BETWEEN_NEIGHBOURS:
                error = {**error, "code": INTERNAL_ERROR}
            return {"jsonrpc": "2.0", "id": request.id, "error": error}
        part = pages.granted(upstream.settings, part)
        own = self._questions.within(upstream, self._tasks.with_own(upstream, request.method, part))
        result = self._tools.fitting(tool, answer.result, own)
        if era is not upstream.era:
            result = eras.for_session(request.method, result) if era is Era.SESSION else eras.for_stateless(result)
        return jsonrpc.result(request.id, result)
