"""The client's requests in flight: each gets exactly one answer, or none once the client has taken it back.

In the stateless era a request may come in parts: the client is told what is
needed first and sends it again, with what was asked for, under another id.
Whatever goes on for it meanwhile knows only the first part, and never waits
under an id: :class:`Asked` knows which id its answer is due under, if any.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from msgspec import Struct, field

from cloakllm_gateway.core import texts
from cloakllm_gateway.core.events import CLIENT, Effect, Send
from cloakllm_gateway.protocol import jsonrpc
from cloakllm_gateway.protocol.eras import Client, meta_of
from cloakllm_gateway.protocol.jsonrpc import INTERNAL_ERROR, INVALID_REQUEST, Request

#: JSON-RPC ids 1 and "1" are different ids.
IdKey: TypeAlias = tuple[type, str | int]


class Asked(Struct, eq=False):
    """A request that has not been answered, and what is in flight for it.

    ``waits`` is the id that the client waits under, None while it has been
    asked something and has not come back; an answer that is ready by then is
    ``kept``.  ``calls`` are (upstream, id) of the calls in flight, ``progress``
    the token it wants progress under, ``headers`` what repeats it where it came
    over HTTP, ``approved`` the version of the tool that it calls, ``passed`` those
    headers of the client that an upstream may be passed.
    """

    request: Request
    client: Client
    waits: str | int | None
    calls: set[tuple[str, int]] = field(default_factory=set)
    kept: dict[str, Any] | None = None
    progress: str | int | None = None
    headers: Mapping[str, str] | None = None
    approved: bytes = b""
    passed: Mapping[str, str] = field(default_factory=dict)


class Requests:
    """The client's requests in flight.  ``finish`` adds to an answer what the era asks of every answer."""

    def __init__(
        self,
        limit: int,
        emit: Callable[[Effect], None],
        finish: Callable[[Request, dict[str, Any]], dict[str, Any]] = lambda _request, message: message,
    ) -> None:
        self._limit = limit
        self._emit = emit
        self._finish = finish
        self._live: dict[int, Asked] = {}  # by the identity of the request, which outlives its id
        self._waiting: dict[IdKey, Asked] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, request: Request) -> bool:
        return id(request) in self._live

    def admit(
        self,
        request: Request,
        client: Client,
        headers: Mapping[str, str] | None = None,
        passed: Mapping[str, str] | None = None,
    ) -> bool:
        """Take ``request`` in; False where its id is in use or too many are waiting, which is answered here."""
        key = (type(request.id), request.id)
        if key in self._waiting:
            self._refuse_id(request.id)
            return False
        if len(self._waiting) >= self._limit:
            self._emit(Send(CLIENT, jsonrpc.failure(request.id, INTERNAL_ERROR, texts.TOO_MANY_PENDING)))
            return False
        asked = Asked(request, client, request.id, progress=_progress(request), headers=headers, passed=passed or {})
        self._live[id(request)] = self._waiting[key] = asked
        return True

    def _refuse_id(self, id: str | int) -> None:
        self._emit(Send(CLIENT, jsonrpc.failure(id, INVALID_REQUEST, texts.DUPLICATE_ID)))

    def get(self, request: Request) -> Asked | None:
        return self._live.get(id(request))

    def waiting(self, id: str | int) -> Asked | None:
        """What the client waits for under ``id``."""
        return self._waiting.get((type(id), id))

    def take_back(self, asked: Asked) -> None:
        """The client no longer wants the answer, nor to hear how it comes about: its id may mean another request."""
        self._drop(asked)
        asked.waits = None

    def _drop(self, asked: Asked) -> None:
        self._live.pop(id(asked.request), None)
        if asked.waits is not None:
            self._waiting.pop((type(asked.waits), asked.waits), None)

    def suspend(self, asked: Asked, result: Mapping[str, Any]) -> list[Effect]:
        """Answer the part that is there with what is needed to go on; the request itself stays open."""
        if asked.waits is None:
            return []
        message = self._finish(asked.request, jsonrpc.result(asked.waits, dict(result)))
        del self._waiting[type(asked.waits), asked.waits]
        asked.waits = None
        return [Send(CLIENT, message, asked.request.method)]

    def resume(self, asked: Asked, again: Request, client: Client, passed: Mapping[str, str]) -> bool:
        """The client sends it ``again``; False where that id is in use, which is answered here."""
        key = (type(again.id), again.id)
        if key in self._waiting:
            self._refuse_id(again.id)
            return False
        asked.waits, asked.client, asked.progress, asked.passed = again.id, client, _progress(again), passed
        self._waiting[key] = asked
        if asked.kept is not None:
            for effect in self.reply(asked.request, asked.kept):
                self._emit(effect)
        return True

    def reply(self, request: Request, message: dict[str, Any], preceding: list[Effect] | None = None) -> list[Effect]:
        """The one answer to a request, for whoever keeps the order; nothing where the client took it back."""
        asked = self._live.get(id(request))
        if asked is None:
            return []
        if asked.waits is None:
            asked.kept = message
            return preceding or []
        answer = self._finish(request, {**message, "id": asked.waits})
        self._drop(asked)  # but for what came before the answer and is not clean yet, it waits under its id
        return [*(preceding or []), Send(CLIENT, answer, request.method)]

    def answer(self, request: Request, result: dict[str, Any], preceding: list[Effect] | None = None) -> None:
        for effect in self.reply(request, jsonrpc.result(request.id, result), preceding):
            self._emit(effect)

    def failure(self, request: Request, code: int, text: str) -> list[Effect]:
        """Like :meth:`reply`, that it failed: an error of the tool or of the protocol (:func:`.texts.error`)."""
        return self.reply(request, texts.error(request.id, request.method, code, text))

    def refuse(self, request: Request, code: int, text: str) -> None:
        """Answer that it failed (see :meth:`failure`)."""
        for effect in self.failure(request, code, text):
            self._emit(effect)

    def reject(self, request: Request, code: int, text: str, data: Any = None) -> None:
        """Answer that it is no proper request: always an error of the protocol."""
        for effect in self.reply(request, jsonrpc.failure(request.id, code, text, data)):
            self._emit(effect)


def _progress(request: Request) -> str | int | None:
    token = meta_of(request.params).get("progressToken")
    return token if isinstance(token, str | int) else None
