"""Stateless requests that were answered with ``input_required`` and wait for the client to send them again.

A stateless server asks nothing of its own accord: it answers a request with
``input_required`` and the client sends the request again, with the responses
and the ``requestState`` it was given.  That state is a handle of the gateway's
own, bound to the request it was given for: another request with it, or other
arguments than those that were looked at, is refused.

Source: MCP 2026-07-28, "Multi round-trip requests".
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct, field

from cloakllm_gateway.core import texts
from cloakllm_gateway.core.events import CLIENT, Effect, Send, StartTimer, StopTimer, Timer
from cloakllm_gateway.core.requests import Asked, Requests
from cloakllm_gateway.protocol import jsonrpc
from cloakllm_gateway.protocol.eras import INPUT_REQUIRED, Client
from cloakllm_gateway.protocol.jsonrpc import INVALID_PARAMS, Failure, Request, Response

PURPOSE = "suspended"

#: Seconds that a person has to answer.
PATIENCE = 600.0

#: What the client adds to a request that it sends again.
_ADDED = ("_meta", "inputResponses", "requestState")


class Posed(NamedTuple):
    """One question to the client: its key, the gateway's id for it, and what is asked."""

    key: str
    id: int
    method: str
    params: Mapping[str, Any]


class _Suspended(Struct, eq=False):
    """One request, and what of its questions is open, by key."""

    asked: Asked
    digest: bytes
    open: dict[str, Posed] = field(default_factory=dict)
    wake: Callable[[], None] | None = None


class Suspensions:
    """Suspends requests and resumes them.

    ``secret`` makes handles that nobody can guess.  Of more than ``most`` that
    the client has not come back for the oldest is given up.  ``answered`` takes the
    responses, by the gateway's ids; ``abandoned`` a request that nobody came
    back for, and the ids of what had been asked.
    """

    def __init__(
        self,
        secret: bytes,
        most: int,
        requests: Requests,
        emit: Callable[[Effect], None],
        answered: Callable[[Response | Failure], None],
        abandoned: Callable[[Asked, Sequence[int]], None],
    ) -> None:
        self._secret = secret
        self._most = most
        self._requests = requests
        self._emit = emit
        self._answered = answered
        self._abandoned = abandoned
        self._by_request: dict[int, _Suspended] = {}
        self._by_handle: dict[str, _Suspended] = {}
        self._numbers = 0

    def __len__(self) -> int:
        """How many requests have something open."""
        return len(self._by_request)

    def can_ask(self, asked: Asked | None) -> bool:
        """Whether the request is still one that a question can be about: its answer has not come from upstream."""
        return asked is not None and asked.request in self._requests and bool(asked.calls)

    def pose(self, asked: Asked, questions: Sequence[Posed], wake: Callable[[], None] | None = None) -> list[Effect]:
        """Ask the client; ``wake`` is called when it comes back where there is nothing to ask, only to wait."""
        suspended = self._by_request.get(_key(asked))
        if suspended is None:
            suspended = self._by_request[_key(asked)] = _Suspended(asked, _digest(asked.request))
        suspended.wake = wake
        suspended.open.update((posed.key, posed) for posed in questions)
        return self._suspend(suspended)

    def _suspend(self, suspended: _Suspended) -> list[Effect]:
        """Tell the client what is open, unless it has been told something already and has not come back."""
        if suspended.asked.waits is None:
            return []
        handle = self._handle()
        self._by_handle[handle] = suspended
        if len(self._by_handle) > self._most:
            oldest = next(iter(self._by_handle))
            self._emit(StopTimer(Timer(PURPOSE, subject=oldest)))
            self.expire(oldest)
        asks = {posed.key: {"method": posed.method, "params": dict(posed.params)} for posed in suspended.open.values()}
        result: dict[str, Any] = {"resultType": INPUT_REQUIRED}
        if asks:
            result["inputRequests"] = asks
        sent = self._requests.suspend(suspended.asked, {**result, "requestState": handle})
        return [StartTimer(Timer(PURPOSE, subject=handle), PATIENCE), *sent]

    def _handle(self) -> str:
        self._numbers += 1
        return hmac.new(self._secret, b"request state %d" % self._numbers, hashlib.sha256).hexdigest()[:40]

    def resume(self, request: Request, client: Client, passed: Mapping[str, str]) -> bool:
        """Whether ``request`` is one that was suspended, sent again; if so it is taken care of."""
        handle = (request.params or {}).get("requestState")
        if handle is None:
            return False
        suspended = self._by_handle.get(handle) if isinstance(handle, str) else None
        if suspended is None or not hmac.compare_digest(suspended.digest, _digest(request)):
            text = texts.UNKNOWN_STATE
            self._emit(Send(CLIENT, jsonrpc.failure(request.id, INVALID_PARAMS, text), request.method))
            return True
        asked = suspended.asked
        if not self._requests.resume(asked, request, client, passed):
            return True
        del self._by_handle[handle]
        self._emit(StopTimer(Timer(PURPOSE, subject=handle)))
        if asked.request not in self._requests:  # its answer was there already
            self._drop(suspended)
            return True
        self._take(suspended, (request.params or {}).get("inputResponses"))
        return True

    def _take(self, suspended: _Suspended, responses: Any) -> None:
        given = responses if isinstance(responses, dict) else {}
        taken = [
            (suspended.open.pop(key), result)
            for key, result in given.items()
            if key in suspended.open and isinstance(result, dict)
        ]
        for posed, result in taken:
            self._answered(Response(posed.id, result))
        if suspended.wake is not None and not suspended.open:
            suspended.wake()
        if suspended.open and suspended.asked.request in self._requests:
            for effect in self._suspend(suspended):
                self._emit(effect)
        else:
            self._drop(suspended)

    def forget(self, asked: Asked, id: int) -> None:
        """A question is no longer one: whoever asked it has gone."""
        if suspended := self._by_request.get(_key(asked)):
            suspended.open = {key: posed for key, posed in suspended.open.items() if posed.id != id}

    def expire(self, handle: str) -> None:
        """Nobody came back."""
        suspended = self._by_handle.pop(handle, None)
        if suspended is None:
            return
        self._drop(suspended)
        self._requests.take_back(suspended.asked)
        self._abandoned(suspended.asked, [posed.id for posed in suspended.open.values()])

    def _drop(self, suspended: _Suspended) -> None:
        self._by_request.pop(_key(suspended.asked), None)


def _key(asked: Asked) -> int:
    return id(asked)


def _digest(request: Request) -> bytes:
    """What two requests have in common of which one is the other sent again."""
    params = {name: value for name, value in (request.params or {}).items() if name not in _ADDED}
    return hashlib.sha256(jsonrpc.encode([request.method, params])).digest()
