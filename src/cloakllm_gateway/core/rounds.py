"""Requests that a stateless upstream answers with ``input_required``: the client is asked, then they are sent again.

Source: MCP 2026-07-28, "Multi round-trip requests".
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from cloakllm_gateway.core import texts
from cloakllm_gateway.core.events import Effect, StartTimer, Timer
from cloakllm_gateway.core.front import Front
from cloakllm_gateway.core.questions import Question, Questions
from cloakllm_gateway.core.requests import Asked, Requests
from cloakllm_gateway.core.upstream import Call, Phase, Upstream
from cloakllm_gateway.protocol.eras import RETRIABLE, Era
from cloakllm_gateway.protocol.jsonrpc import INTERNAL_ERROR, Request
from cloakllm_gateway.vault.entries import Entry

PURPOSE = "round"

#: How often an upstream may answer a request with a question.
MOST = 10

#: Seconds before a request is sent again whose upstream asked nothing and only wants it later.
LATER = 1.0

#: Sends a call again, with these params added and these entries restored in them.
Resend: TypeAlias = Callable[[Asked, Upstream, Call, Mapping[str, Any], Sequence[Entry]], None]


class Rounds:
    """The requests that an upstream wants to see again."""

    def __init__(self, front: Front, requests: Requests, questions: Questions, resend: Resend) -> None:
        self._front = front
        self._requests = requests
        self._questions = questions
        self._resend = resend
        self._later: dict[int, Callable[[], None]] = {}
        self._numbers = 0

    def begin(
        self, asked: Asked, upstream: Upstream, call: Call, said: Mapping[str, Any], clean: Mapping[str, Any]
    ) -> list[Effect]:
        """Ask the client what an ``input_required`` result wants: ``said`` by the upstream, ``clean`` of it."""
        asks = said.get("inputRequests")
        requests = _requests(asks if isinstance(asks, dict) else {})
        if requests is None:
            return self._requests.failure(asked.request, INTERNAL_ERROR, texts.no_question(upstream.name))
        if fault := self._fault(asked, upstream, call, requests.values()):
            return self._requests.failure(asked.request, INTERNAL_ERROR, fault)
        state = said.get("requestState")
        added: dict[str, Any] = {} if state is None else {"requestState": state}
        if not requests:
            return self._wait(asked, upstream, call, added)
        responses: dict[str, Any] = {}
        entries: list[Entry] = []

        def reply(key: str, message: dict[str, Any], restored: Sequence[Entry]) -> None:
            if "error" in message:
                self._unanswered(asked, upstream)
                return
            responses[key] = message["result"]
            entries.extend(restored)
            if len(responses) == len(requests):
                again = {"inputResponses": {key: responses[key] for key in requests}}
                self._resend(asked, upstream, call, {**again, **added}, entries)

        shown = clean["inputRequests"]
        questions = [
            Question(key, request, shown[key].get("params") or {}, partial(reply, key))
            for key, request in requests.items()
        ]
        return self._questions.pose(upstream, asked, questions)

    def _fault(self, asked: Asked, upstream: Upstream, call: Call, requests: Collection[Request]) -> str:
        """Why the client is not asked, in words for the model; empty for nothing."""
        if call.round >= MOST or call.method not in RETRIABLE:
            return texts.no_question(upstream.name)
        if not all(self._questions.offered(upstream, request.method, asked) for request in requests):
            return texts.not_answerable(upstream.name)
        if not self._questions.has_room(upstream, asked, len(requests)):
            return texts.no_question(upstream.name)
        return ""

    def _unanswered(self, asked: Asked, upstream: Upstream) -> None:
        """The client did not give what the upstream wants: the request fails, and nothing else is asked for it."""
        is_there = upstream.phase is Phase.READY
        text = texts.not_answered(upstream.name) if is_there else texts.gone(upstream.name)
        self._requests.refuse(asked.request, INTERNAL_ERROR, text)
        self._questions.take_back(asked)

    def _wait(self, asked: Asked, upstream: Upstream, call: Call, added: Mapping[str, Any]) -> list[Effect]:
        """Nothing is asked: a stateless client is told to come back, for a session's the gateway does."""

        def again() -> None:
            self._resend(asked, upstream, call, added, ())

        if self._front.era is Era.STATELESS:
            return self._questions.pose(upstream, asked, [], again)
        self._numbers += 1
        self._later[self._numbers] = again
        return [StartTimer(Timer(PURPOSE, subject=self._numbers), LATER)]

    def elapsed(self, number: int) -> None:
        if again := self._later.pop(number, None):
            again()


def _requests(asks: Mapping[str, Any]) -> dict[str, Request] | None:
    """The questions of one round by their keys; None where one is no request."""
    requests: dict[str, Request] = {}
    for key, ask in asks.items():
        method, params = (ask.get("method"), ask.get("params")) if isinstance(ask, dict) else (None, None)
        if not isinstance(method, str) or not isinstance(params, dict | None):
            return None
        requests[key] = Request(key, method, params)
    return requests
