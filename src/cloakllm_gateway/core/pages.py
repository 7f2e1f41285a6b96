"""Pages of the MCP Apps extension: HTML of an upstream that a host shows, and whose tools calls look like the model's.

An upstream has none unless it was granted (``ui``): neither are its tools said to have a page, nor is one delivered
inside of an answer, which hosts show as well.
"""

from __future__ import annotations

from typing import Any

from cloakllm_gateway.core import texts
from cloakllm_gateway.core.settings import UpstreamSettings
from cloakllm_gateway.protocol.eras import meta_of

_META = ("ui", "ui/resourceUri")
#: The members of results and messages that content stands in.
_HOLDERS = ("content", "messages", "result")


def is_page(uri: Any) -> bool:
    return isinstance(uri, str) and uri[:5].lower() == "ui://"


def granted(upstream: UpstreamSettings, part: Any) -> Any:
    """``part``, an item of a list, a result or a message of ``upstream``, with the pages that it may show.

    The very same where there is nothing to leave out.
    """
    return part if upstream.ui else _without(part)


def _without(part: Any) -> Any:
    if isinstance(part, list):
        items = [_without(item) for item in part]
        return part if all(one is other for one, other in zip(part, items, strict=True)) else items
    if not isinstance(part, dict):
        return part
    if _is_page_block(part):
        return {"type": "text", "text": texts.PAGE_LEFT_OUT}
    held = {name: _without(part[name]) for name in _HOLDERS if name in part}
    changed = {name: inner for name, inner in held.items() if inner is not part[name]}
    meta = meta_of(part)
    if any(key in meta for key in _META):
        changed["_meta"] = {key: value for key, value in meta.items() if key not in _META}
    return {**part, **changed} if changed else part


def _is_page_block(block: dict[str, Any]) -> bool:
    """Whether a block of content is a page, or leads to one."""
    if block.get("type") == "resource_link":
        return is_page(block.get("uri"))
    resource = block.get("resource")
    return block.get("type") == "resource" and isinstance(resource, dict) and is_page(resource.get("uri"))
