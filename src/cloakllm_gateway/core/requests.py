"""The client's requests in flight: each gets exactly one answer, or none once the client has taken it back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from msgspec import Struct, field

from cloakllm_gateway.core import texts
from cloakllm_gateway.core.events import CLIENT, Effect, Send
from cloakllm_gateway.protocol import jsonrpc
from cloakllm_gateway.protocol.jsonrpc import INTERNAL_ERROR, INVALID_REQUEST, Request

#: JSON-RPC ids 1 and "1" are different ids.
IdKey: TypeAlias = tuple[type, str | int]


class Asked(Struct):
    """A request that has not been answered, and what goes on for it.

    ``calls`` are (upstream, id) of the calls in flight; ``question`` is what a
    person is asked before it may go on.
    """

    request: Request
    calls: set[tuple[str, int]] = field(default_factory=set)
    question: int | None = None


class Requests:
    """The table of them."""

    def __init__(self, limit: int, emit: Callable[[Effect], None]) -> None:
        self._limit = limit
        self._emit = emit
        self._asked: dict[IdKey, Asked] = {}

    def __len__(self) -> int:
        return len(self._asked)

    def __contains__(self, request: Request) -> bool:
        return _key(request.id) in self._asked

    def admit(self, request: Request) -> bool:
        """Take ``request`` in; False where its id is in use or too many are waiting, which is answered here."""
        if request in self:
            self._emit(Send(CLIENT, jsonrpc.failure(request.id, INVALID_REQUEST, texts.DUPLICATE_ID)))
            return False
        if len(self._asked) >= self._limit:
            self._emit(Send(CLIENT, jsonrpc.failure(request.id, INTERNAL_ERROR, texts.TOO_MANY_PENDING)))
            return False
        self._asked[_key(request.id)] = Asked(request)
        return True

    def get(self, id: str | int) -> Asked | None:
        return self._asked.get(_key(id))

    def take_back(self, id: str | int) -> None:
        """The client no longer wants the answer."""
        self._asked.pop(_key(id), None)

    def reply(self, request: Request, message: dict[str, Any], preceding: list[Effect] | None = None) -> list[Effect]:
        """The one answer to a request, for whoever keeps the order; nothing where the client took it back."""
        if self._asked.pop(_key(request.id), None) is None:
            return []
        return [*(preceding or []), Send(CLIENT, message, request.method)]

    def answer(self, request: Request, result: dict[str, Any], preceding: list[Effect] | None = None) -> None:
        for effect in self.reply(request, jsonrpc.result(request.id, result), preceding):
            self._emit(effect)

    def refuse(self, request: Request, code: int, text: str) -> None:
        """Answer that it failed, as a tool's error or the protocol's (see :func:`texts.error`)."""
        for effect in self.reply(request, texts.error(request.id, request.method, code, text)):
            self._emit(effect)

    def reject(self, request: Request, code: int, text: str) -> None:
        """Answer that it is no proper request: always an error of the protocol."""
        for effect in self.reply(request, jsonrpc.failure(request.id, code, text)):
            self._emit(effect)


def _key(id: str | int) -> IdKey:
    return type(id), id
