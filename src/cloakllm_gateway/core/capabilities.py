"""Versions and capabilities between a client and several upstreams of the session era.

Source: MCP lifecycle, revisions 2024-11-05 to 2025-11-25.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from cloakllm_gateway.core.settings import UpstreamSettings
from cloakllm_gateway.protocol.eras import SESSION_VERSIONS

LATEST = SESSION_VERSIONS[-1]

#: The MCP Apps extension (see :mod:`.pages`).
UI_EXTENSION = "io.modelcontextprotocol/ui"

#: What a server asks of a client, and the capability a client declares for it.
CLIENT_SERVES = {
    "roots/list": "roots",
    "sampling/createMessage": "sampling",
    "elicitation/create": "elicitation",
}

#: What a client asks of a server, and the capability a server declares for it.
SERVER_SERVES = {
    "tools/list": "tools",
    "tools/call": "tools",
    "prompts/list": "prompts",
    "prompts/get": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resources",
    "resources/read": "resources",
    "resources/subscribe": "resources",
    "resources/unsubscribe": "resources",
    "completion/complete": "completions",
    "logging/setLevel": "logging",
    "tasks/get": "tasks",
    "tasks/result": "tasks",
    "tasks/list": "tasks",
    "tasks/cancel": "tasks",
    "tasks/update": "tasks",
}


def version_to_ask(requested: Any) -> str:
    """The version to offer an upstream: the client's, or the latest where it wants one we don't speak."""
    return requested if requested in SESSION_VERSIONS else LATEST


def towards(upstream: UpstreamSettings, client: Mapping[str, Any]) -> dict[str, Any]:
    """What the client can do, as far as this upstream may use it.

    Tasks hosted by the client are not relayed, so they are not offered.
    """
    allowed = {"roots": upstream.roots, "sampling": upstream.sampling, "elicitation": upstream.elicitation}
    offered = {name: value for name, value in client.items() if allowed.get(name, True) and name != "tasks"}
    return _without_ui(offered, upstream)


def merged(upstreams: Iterable[tuple[UpstreamSettings, Mapping[str, Any]]], *, more_to_come: bool) -> dict[str, Any]:
    """The union of what the upstreams declared; nothing is invented.

    With ``more_to_come`` an upstream is still starting, and the gateway itself
    will announce its lists.
    """
    union: dict[str, Any] = {}
    for settings, capabilities in upstreams:
        union = _union(union, _without_ui(capabilities, settings))
    if more_to_come:
        late = {"listChanged": True}
        union = _union(union, {"tools": late, "prompts": late, "resources": late})
    return union


def _without_ui(capabilities: Mapping[str, Any], upstream: UpstreamSettings) -> dict[str, Any]:
    extensions = capabilities.get("extensions")
    if upstream.ui or not isinstance(extensions, dict) or UI_EXTENSION not in extensions:
        return dict(capabilities)
    kept = {name: value for name, value in extensions.items() if name != UI_EXTENSION}
    return {**capabilities, "extensions": kept}


def _union(one: Any, other: Any) -> Any:
    if isinstance(one, dict) and isinstance(other, dict):
        return {**one, **{name: _union(one[name], value) if name in one else value for name, value in other.items()}}
    if isinstance(one, bool) and isinstance(other, bool):
        return one or other
    return one
