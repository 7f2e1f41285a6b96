"""Which headers of a client an upstream may be passed: what is named for it, and never what is nobody else's.

A client's credentials are for the gateway, and how HTTP and MCP are spoken on
one leg says nothing about the other.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.shell.structs import Invalid

#: RFC 9110, section 5.6.2, less the asterisk, which would be meant as a pattern.
_NAME = lazy(r"[!#$%&'+\-.^_`|~0-9A-Za-z]{1,128}")


class _Kind(NamedTuple):
    """Headers that are not passed, by name and by the beginning of it (``prefixes``), and why."""

    names: frozenset[str]
    prefixes: tuple[str, ...]
    why: str
    hint: str = ""


_KINDS: Final = (
    _Kind(
        frozenset("authorization cookie cookie2 proxy-authorization set-cookie www-authenticate".split()),
        (),
        "is what a client proves itself to the gateway with, and nobody else's",
        'Credentials of the gateway for this server go into "headers"',
    ),
    _Kind(  # RFC 9110, section 7.6.1
        frozenset("connection expect keep-alive max-forwards te trailer transfer-encoding upgrade via".split()),
        ("proxy-",),
        "is about one connection and ends with it",
    ),
    _Kind(
        frozenset("accept date host last-event-id origin referer user-agent".split()),
        ("accept-", "access-control-", "content-", "if-", "mcp-", "sec-"),
        "says how one side speaks HTTP or MCP, which the gateway does by itself towards the other",
    ),
)


def check(names: Sequence[str], configured: Collection[str]) -> None:
    """Raises :class:`Invalid` for what may not stand in ``pass_headers``; ``configured`` is named in ``headers``."""
    own = {name.lower() for name in configured}
    seen: set[str] = set()
    for i, name in enumerate(names):
        path = f"pass_headers[{i}]"
        if not _NAME.fullmatch(name):
            raise Invalid(path, "is a name no header can have", "Each header is named in full: there is no pattern")
        lower = name.lower()
        for kind in _KINDS:
            if lower in kind.names or lower.startswith(kind.prefixes):
                raise Invalid(path, kind.why, kind.hint)
        if lower in own:
            raise Invalid(path, 'stands in "headers" as well', "It is either the gateway's or the client's")
        if lower in seen:
            raise Invalid(path, "names a header a second time")
        seen.add(lower)
