"""The checks before a request of the client is served: its era, version, method, and the headers that repeat it.

The first request decides the era of a connection, and a message of the other
one is answered as its own era expects.

Source: MCP 2026-07-28, "Versioning" and "Error codes".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from cloakllm_gateway.core import capabilities, texts
from cloakllm_gateway.protocol import eras
from cloakllm_gateway.protocol.eras import Era
from cloakllm_gateway.protocol.headers import Declared
from cloakllm_gateway.protocol.jsonrpc import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, Request

#: The methods a client may call in each era.
SERVED = {
    Era.SESSION: frozenset({"initialize", "ping", *capabilities.SERVER_SERVES}) - {"tasks/update"},
    Era.STATELESS: frozenset({"server/discover", "subscriptions/listen", *capabilities.SERVER_SERVES})
    - {"logging/setLevel", "resources/subscribe", "resources/unsubscribe", "tasks/result", "tasks/list"},
}


_IN_SESSION, _STATELESS = SERVED[Era.SESSION], SERVED[Era.STATELESS]  # to look up an era takes a call


class Fault(NamedTuple):
    """Why a request is not served, as a JSON-RPC error says it."""

    code: int
    text: str
    data: Any = None


def fault(locked: Era | None, request: Request, headers: Mapping[str, str] | None = None) -> Fault | None:
    """What is wrong with ``request`` on a connection that is ``locked`` to an era, or to none yet.

    An unknown version that the headers don't repeat is a mismatch in the first place.
    """
    found = _fault(locked, request)
    if headers is not None and (found is None or found.code == eras.UNSUPPORTED_VERSION):
        return header_fault(request, headers) or found
    return found


def _fault(locked: Era | None, request: Request) -> Fault | None:
    method, params = request.method, request.params
    stateless = eras.is_stateless(method, params)
    if locked is Era.SESSION:
        if stateless and method != "server/discover":
            return Fault(INVALID_REQUEST, texts.IN_SESSION)
        return None if method in _IN_SESSION else Fault(METHOD_NOT_FOUND, texts.UNKNOWN_METHOD)
    if locked is Era.STATELESS and method == "initialize" and eras.VERSION not in eras.meta_of(params):
        return _unsupported((params or {}).get("protocolVersion"))
    if locked is Era.STATELESS or stateless:
        return _stateless_fault(request)
    return None if method in _IN_SESSION else Fault(METHOD_NOT_FOUND, texts.UNKNOWN_METHOD)


def _stateless_fault(request: Request) -> Fault | None:
    meta = eras.meta_of(request.params)
    version = meta.get(eras.VERSION)
    if not isinstance(version, str) or not isinstance(meta.get(eras.CAPABILITIES), dict):
        return Fault(INVALID_PARAMS, texts.NO_VERSION)
    if version not in eras.STATELESS_VERSIONS:
        return _unsupported(version)
    if request.method not in _STATELESS:
        return Fault(METHOD_NOT_FOUND, texts.UNKNOWN_METHOD)
    return None


def _unsupported(requested: Any) -> Fault:
    """The versions it names are those that ``server/discover`` names."""
    said = {"requested": requested} if isinstance(requested, str) else {}
    return Fault(eras.UNSUPPORTED_VERSION, texts.UNKNOWN_VERSION, {"supported": list(eras.STATELESS_VERSIONS), **said})


def header_fault(request: Request, headers: Mapping[str, str] | None, marked: Sequence[Declared] = ()) -> Fault | None:
    """What is wrong with the ``headers`` that repeat a request; nothing where there are none to repeat it."""
    if headers is None:
        return None
    from cloakllm_gateway.protocol.headers import mismatch  # over HTTP only

    wrong = mismatch(request.method, request.params or {}, headers, marked)
    return None if wrong is None else Fault(eras.HEADER_MISMATCH, f"{texts.HEADERS}: {wrong}")
