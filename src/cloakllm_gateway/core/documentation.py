"""Names and addresses that are reserved for documentation and stand for nobody: ``example.com``, 192.0.2.1.

Tool descriptions are full of ``user@example.com``.  In texts that describe a
tool or a field these are no finds; in data they are.

Sources: RFC 2606 and RFC 6761 (domains), RFC 5737 and RFC 3849 (addresses).
"""

from __future__ import annotations

import re

from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.spans import Span

_RESERVED_DOMAIN = lazy(
    r"(?:^|[@./])(?:example\.(?:com|org|net)|(?:[a-z0-9-]+\.)*(?:test|invalid|example|localhost))\.?$"
)
_RESERVED_ADDRESS = lazy(
    r"(?:127\.0\.0\.1|0\.0\.0\.0|192\.0\.2\.\d+|198\.51\.100\.\d+|203\.0\.113\.\d+|::1?|2001:db8:[0-9a-f:]*)"
)

_MENTION = lazy(
    r"@(?:[\w-]+\.)*(?:example\.(?:com|org|net)|test|invalid|example|localhost)\b"
    r"|\b(?:127\.0\.0|192\.0\.2|198\.51\.100|203\.0\.113)\.\d|\b0\.0\.0\.0\b|\b2001:db8:|::1\b",
    re.IGNORECASE,
)


def is_documentation(span: Span) -> bool:
    """Whether a find in a description is a reserved domain or address."""
    value = (span.value or span.canonical).casefold()
    if span.category == "EMAIL":
        return _RESERVED_DOMAIN.search(value) is not None
    return span.category == "IP_ADDRESS" and _RESERVED_ADDRESS.fullmatch(value) is not None


def mentions_documentation(text: str) -> bool:
    """Whether a text may hold such a value: one that is shown in descriptions and hidden in data."""
    return _MENTION.search(text) is not None
