"""Pages of the MCP Apps extension: HTML of an upstream that a host shows, and whose tools calls look like the model's.

An upstream has none unless it was granted (``ui``): neither are its tools said to have a page, nor is one delivered
inside of an answer, which hosts show as well.
"""

from __future__ import annotations

import re
from operator import is_not
from typing import Any

from cloakllm_gateway.core import texts
from cloakllm_gateway.core.settings import UpstreamSettings
from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.protocol.eras import meta_of

#: The members of ``_meta`` that hosts take from a page, of the extension and of those before it.
_META = lazy(r"ui(?:/.*)?|openai/.*", re.DOTALL)
#: The types of pages, wherever they are said to lie.
_TYPE = lazy(r"(?i)text/html\s*(?:;.*profile=\W*mcp-app|\+skybridge)|application/vnd\.mcp-ui\.", re.DOTALL)
#: The types of blocks that may be or lead to a page.
_LEADING = ("resource", "resource_link")
#: The members of results and messages that content stands in.
_HOLDERS = ("content", "messages", "result")


def is_page(uri: Any) -> bool:
    return isinstance(uri, str) and uri[:5].lower() == "ui://"


def leads_to_page(item: Any) -> bool:
    """Whether a resource, an item of a list or a link, is a page by its URI or its type."""
    if not isinstance(item, dict):
        return False
    kind = item.get("mimeType")
    return is_page(item.get("uri")) or (isinstance(kind, str) and _TYPE.match(kind) is not None)


def granted(upstream: UpstreamSettings, part: Any) -> Any:
    """``part``, an item of a list, a result or a message of ``upstream``, with the pages that it may show.

    The very same where there is nothing to leave out.
    """
    return part if upstream.ui else _without(part)


def _without(part: Any) -> Any:
    if isinstance(part, list):
        items = [_without(item) for item in part]
        return items if any(map(is_not, items, part)) else part
    if not isinstance(part, dict):
        return part
    if part.get("type") in _LEADING and _is_page_block(part):
        return {"type": "text", "text": texts.PAGE_LEFT_OUT}
    changed = {}
    for name in _HOLDERS:
        if (inner := part.get(name)) and (left := _without(inner)) is not inner:
            changed[name] = left
    if "_meta" in part and any(map(_META.fullmatch, meta := meta_of(part))):
        changed["_meta"] = {key: value for key, value in meta.items() if not _META.fullmatch(key)}
    return {**part, **changed} if changed else part


def _is_page_block(block: dict[str, Any]) -> bool:
    """Whether a block of content is a page, or leads to one."""
    return leads_to_page(block if block.get("type") == "resource_link" else block.get("resource"))
