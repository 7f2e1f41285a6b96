"""The calls in flight towards upstreams: their ids, their deadlines, their progress."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cloakllm_gateway.core import capabilities, texts
from cloakllm_gateway.core.events import Effect, Send, StartTimer, StopTimer, Timer
from cloakllm_gateway.core.requests import Asked
from cloakllm_gateway.core.upstream import Answered, Call, Upstream
from cloakllm_gateway.protocol import eras, jsonrpc
from cloakllm_gateway.protocol.eras import Client, Era
from cloakllm_gateway.protocol.headers import Declared
from cloakllm_gateway.protocol.jsonrpc import INTERNAL_ERROR, Failure
from cloakllm_gateway.vault.entries import Entry

PURPOSE = "call"

#: Seconds that one upstream may keep all others waiting that were asked the same.
PATIENCE = 10.0


class Calls:
    """Sends requests under ids of the gateway's own, and calls back with each answer or failure.

    ``client`` is who speaks in the gateway's own requests, ``alone`` that there
    is one upstream, for which nobody waits beside its own callers.
    """

    def __init__(self, emit: Callable[[Effect], None], *, alone: bool) -> None:
        self._emit = emit
        self._alone = alone
        self.client = Client()

    def send(
        self,
        upstream: Upstream,
        method: str,
        params: Mapping[str, Any] | None,
        answered: Answered,
        *,
        timeout: float,
        asked: Asked | None = None,
        restored: Sequence[Entry] = (),
        uris: Mapping[str, str] | None = None,
        marked: Sequence[Declared] = (),
        era: Era | None = None,
    ) -> Call:
        """One request, in the upstream's era or in ``era``; ``answered`` is called once, unless it is cancelled.

        The progress token of ``params`` becomes the call's id: the client's
        token means nothing to the upstream and may collide with another's.
        """
        id = upstream.next_id()
        params = eras.without(params)
        call = Call(upstream.name, id, method, params, answered, asked, restored, dict(uris or {}), timeout, marked)
        upstream.calls[id] = call
        upstream.disclosed.begin(id, restored)
        wanted = "progressToken" in eras.meta_of(params) if asked is None else asked.progress is not None
        params = _with_progress(params, id, wanted=wanted)
        if (era or upstream.era) is Era.STATELESS:
            self._emit(self._stateless(upstream, call, params))
        else:
            self._emit(Send(upstream.name, jsonrpc.request(id, method, params), passed=_passed(upstream, asked)))
        if timeout:
            self._emit(StartTimer(_timer(call), timeout))
        return call

    def ask(
        self,
        upstream: Upstream,
        method: str,
        params: Mapping[str, Any] | None,
        answered: Answered = lambda _call, _answer: None,
    ) -> Call:
        """A request of the gateway's own; without ``answered`` its answer changes nothing."""
        timeout = upstream.settings.request_timeout if self._alone else PATIENCE
        return self.send(upstream, method, params, answered, timeout=timeout)

    def _stateless(self, upstream: Upstream, call: Call, params: Mapping[str, Any] | None) -> Send:
        """The request with what a stateless server asks of each: who the client is, and headers that repeat it."""
        from cloakllm_gateway.protocol.headers import mirrored  # most sessions need none

        client = call.asked.client if call.asked else self.client
        allowed = capabilities.towards(upstream.settings, client.capabilities)
        params = eras.enveloped(params, client._replace(capabilities=allowed))
        message = jsonrpc.request(call.id, call.method, params)
        headers = mirrored(call.method, params, call.marked)
        return Send(upstream.name, message, headers=headers, passed=_passed(upstream, call.asked))

    def take(self, upstream: Upstream, id: Any) -> Call | None:
        """The call that an answer belongs to, with all that it was given; it is no longer in flight."""
        call = upstream.calls.pop(id, None) if isinstance(id, int) else None
        if call is not None:
            call.restored = upstream.disclosed.end(call.id)
        if call is not None and call.timeout:
            self._emit(StopTimer(_timer(call)))
        return call

    def progressed(self, upstream: Upstream, token: Any) -> Call | None:
        """The call that a progress notification belongs to; its deadline starts anew."""
        call = upstream.calls.get(token) if isinstance(token, int) else None
        if call is not None and call.timeout:
            self._emit(StartTimer(_timer(call), call.timeout))
        return call

    def cancel(self, upstream: Upstream, id: int, said: Mapping[str, Any] | None = None) -> None:
        """Nobody wants the answer any more, and a late one finds nobody; ``said`` is what tells the upstream why."""
        if self.take(upstream, id) is None:
            return
        params = {**(eras.without(said) or {}), "requestId": id}
        self._emit(Send(upstream.name, jsonrpc.notification("notifications/cancelled", params)))

    def expire(self, upstream: Upstream, id: int) -> None:
        """The deadline passed without a sign of life."""
        call = upstream.calls.get(id)
        if call is not None:
            self.cancel(upstream, id, {"reason": "the gateway's deadline passed"})
            call.answered(call, _failure(id, texts.timed_out(upstream.name, call.timeout)))

    def fail(self, upstream: Upstream, id: int, text: str) -> None:
        """The request did not go out after all."""
        call = self.take(upstream, id)
        if call is not None:
            call.answered(call, _failure(id, text))

    def fail_all(self, upstream: Upstream) -> None:
        """The upstream is gone: nobody waits in vain."""
        for id in list(upstream.calls):
            call = self.take(upstream, id)
            if call is not None:
                call.answered(call, _failure(id, texts.gone(upstream.name)))


def _passed(upstream: Upstream, asked: Asked | None) -> dict[str, str]:
    """The client's headers that go to ``upstream``; a request of the gateway's own has none."""
    sent, allowed = asked.passed if asked else {}, upstream.settings.pass_headers
    return {name: sent[name.lower()] for name in allowed if name.lower() in sent} if sent else {}


def _with_progress(params: dict[str, Any] | None, id: int, *, wanted: bool) -> dict[str, Any] | None:
    """``params`` with a progress token of the gateway's in place of another, or with none."""
    meta = eras.meta_of(params)
    if params is None or not (wanted or "progressToken" in meta):
        return params
    rest = {name: value for name, value in meta.items() if name != "progressToken"}
    return {**params, "_meta": {**meta, "progressToken": id} if wanted else rest}


def _failure(id: int, text: str) -> Failure:
    """A failure of the gateway's own making, told apart from an upstream's by :data:`OURS`."""
    return Failure(id, {"code": INTERNAL_ERROR, "message": text, "data": OURS})


#: Marks a failure whose text is the gateway's own: it has no value in it and needs no sanitizing.
OURS: dict[str, Any] = {}


def is_ours(failure: Failure) -> bool:
    return failure.error.get("data") is OURS


def _timer(call: Call) -> Timer:
    return Timer(PURPOSE, call.upstream, call.id)
