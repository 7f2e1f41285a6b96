"""The two eras of MCP on the wire, told apart and turned into each other, message by message.

The session era (2024-11-05 to 2025-11-25) begins with ``initialize``.  In the
stateless era (2026-07-28) every request says in its ``_meta`` what the
handshake said: the version, who the client is and what it can do.

Source: MCP 2026-07-28, basic/lifecycle and basic/index; 2025-11-25, lifecycle.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import Enum, auto
from typing import Any, NamedTuple

#: Revisions of the session era, oldest first.
SESSION_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
STATELESS_VERSIONS = ("2026-07-28",)

_PREFIX = "io.modelcontextprotocol/"
VERSION = _PREFIX + "protocolVersion"
CAPABILITIES = _PREFIX + "clientCapabilities"
CLIENT_INFO = _PREFIX + "clientInfo"
LOG_LEVEL = _PREFIX + "logLevel"
SERVER_INFO = _PREFIX + "serverInfo"
SUBSCRIPTION = _PREFIX + "subscriptionId"
RELATED_TASK = _PREFIX + "related-task"
#: What the ``_meta`` of a stateless request says in place of a handshake.
ENVELOPE = (VERSION, CAPABILITIES, CLIENT_INFO, LOG_LEVEL)

#: JSON-RPC error codes of the stateless era.
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022
#: Errors about how a request was sent and not about what it asks: those of an upstream are about the gateway.
BETWEEN_NEIGHBOURS = (HEADER_MISMATCH, UNSUPPORTED_VERSION)
#: "The person has to go to a page first" of the session era (2025-11-25).
SENT_ELSEWHERE = -32042
#: "Resource not found" of the session era; the stateless one says -32602.
RESOURCE_NOT_FOUND = -32002

COMPLETE, INPUT_REQUIRED = "complete", "input_required"

#: Requests whose complete results say how long they may be kept, and by whom.
CACHEABLE = frozenset(
    {
        "server/discover",
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
        "resources/read",
    }
)
#: Requests that may be answered with ``input_required`` and sent again with the responses.
RETRIABLE = frozenset({"tools/call", "prompts/get", "resources/read"})

#: Levels of log messages, least urgent first (RFC 5424).
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


class Era(Enum):
    """How a connection begins: with a session that lasts, or with every request anew."""

    SESSION = auto()
    STATELESS = auto()


class Client(NamedTuple):
    """What a client says of itself, once or with every request; ``log_level`` None asks for no log messages."""

    info: Mapping[str, Any] | None = None
    capabilities: Mapping[str, Any] = {}
    log_level: str | None = None


def meta_of(params: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """``_meta`` of a message, empty where there is none."""
    meta = params.get("_meta") if params else None
    return meta if isinstance(meta, dict) else {}


def is_about_version(error: Mapping[str, Any]) -> bool:
    """Whether an error says that the server speaks the stateless era, in a version that we speak too."""
    data = error.get("data")
    supported = data.get("supported") if isinstance(data, dict) else None
    if error.get("code") != UNSUPPORTED_VERSION or not isinstance(supported, list):
        return False
    return any(version in supported for version in STATELESS_VERSIONS)


def is_stateless(method: str, params: Mapping[str, Any] | None) -> bool:
    """Whether a request is of the stateless era: it carries its own version, and is no handshake."""
    return method == "server/discover" or (method != "initialize" and VERSION in meta_of(params))


def client_of(params: Mapping[str, Any] | None) -> Client:
    """What the ``_meta`` of a stateless request says of its client."""
    meta = meta_of(params)
    return client(meta.get(CLIENT_INFO), meta.get(CAPABILITIES), meta.get(LOG_LEVEL))


def client(info: Any, capabilities: Any, level: Any = None) -> Client:
    """A client by what it says of itself; what is of no proper form it does not say."""
    return Client(
        info if isinstance(info, dict) else None,
        capabilities if isinstance(capabilities, dict) else {},
        level if level in LEVELS else None,
    )


def enveloped(params: Mapping[str, Any] | None, client: Client) -> dict[str, Any]:
    """``params`` as those of a stateless request, of ``client``; the rest of their ``_meta`` stays."""
    said: dict[str, Any] = {VERSION: STATELESS_VERSIONS[-1], CAPABILITIES: dict(client.capabilities)}
    if client.info is not None:
        said[CLIENT_INFO] = dict(client.info)
    if client.log_level is not None:
        said[LOG_LEVEL] = client.log_level
    kept = {name: value for name, value in meta_of(params).items() if name not in ENVELOPE}
    return {**(params or {}), "_meta": {**kept, **said}}


def without(params: Mapping[str, Any] | None, names: Collection[str] = ENVELOPE) -> dict[str, Any] | None:
    """``params`` whose ``_meta`` has none of ``names``, which only a stateless message says.

    A ``_meta`` that held nothing else goes.
    """
    meta = meta_of(params)
    if params is None or not meta or not any(name in names for name in meta):
        return None if params is None else dict(params)
    kept = {name: value for name, value in meta.items() if name not in names}
    rest = {name: value for name, value in params.items() if name != "_meta"}
    return {**rest, "_meta": kept} if kept else rest


def completed(method: str, result: Mapping[str, Any], server: Mapping[str, Any]) -> dict[str, Any]:
    """``result`` with what the stateless era asks of every result; what it says already stays.

    What does not say who may keep it is for this client alone, and stale at once.
    """
    made = dict(result)
    kind = made.setdefault("resultType", COMPLETE)
    if kind == COMPLETE and method in CACHEABLE:
        made.setdefault("ttlMs", 0)
        made.setdefault("cacheScope", "private")
    meta = made.get("_meta")
    if meta is None or isinstance(meta, dict):
        made["_meta"] = {**(meta or {}), SERVER_INFO: (meta or {}).get(SERVER_INFO, dict(server))}
    return made


def wants_more(result: Any) -> bool:
    """Whether a result is none yet."""
    return isinstance(result, dict) and result.get("resultType") == INPUT_REQUIRED


def for_stateless(result: Mapping[str, Any]) -> dict[str, Any]:
    """``result`` of a server with a session as the stateless era knows it: there it could only be complete."""
    return {name: value for name, value in result.items() if name != "resultType"}


def for_session(method: str, result: Mapping[str, Any]) -> dict[str, Any]:
    """``result`` of a stateless server as the session era knows it: structured content is an object or absent."""
    dropped = {"resultType"}
    if method == "tools/call" and not isinstance(result.get("structuredContent", {}), dict):
        dropped.add("structuredContent")
    return {name: value for name, value in result.items() if name not in dropped}


def tool_for_session(tool: Mapping[str, Any]) -> dict[str, Any]:
    """A tool of a stateless server as the session era knows it: what it puts out is an object, or not described."""
    output = tool.get("outputSchema")
    described = isinstance(output, dict) and output.get("type") == "object"
    return {name: value for name, value in tool.items() if described or name != "outputSchema"}


def error_for(era: Era, method: str, error: Mapping[str, Any]) -> Mapping[str, Any]:
    """An error with the code that ``era`` has for it."""
    if method != "resources/read":
        return error
    other = {Era.SESSION: (-32602, RESOURCE_NOT_FOUND), Era.STATELESS: (RESOURCE_NOT_FOUND, -32602)}[era]
    return {**error, "code": other[1]} if error.get("code") == other[0] else error


def is_audible(level: Any, wanted: str | None) -> bool:
    """Whether a log message of ``level`` is due to who asked for ``wanted``; one of no known level is."""
    return wanted is not None and (level not in LEVELS or LEVELS.index(level) >= LEVELS.index(wanted))
