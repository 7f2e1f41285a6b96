"""Audit records of what goes to an upstream: tokens, names and rules, never a value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cloakllm_gateway.core.events import Record
from cloakllm_gateway.core.restorer import Decision
from cloakllm_gateway.protocol.jsonrpc import Request

#: Tokens in one entry; a call that restores more of them has several.
TOKENS_PER_ENTRY = 100

#: What is done about data in clear where detection failed: nobody knows whether there is any.
UNKNOWN = "unknown"

#: Methods whose ``name`` is that of a tool or prompt.
_NAMED = frozenset({"tools/call", "prompts/get"})


def restored(destination: str, request: Request, decisions: Sequence[Decision]) -> list[Record]:
    """One entry for the tokens of one request, or as many as they fill."""
    records = []
    for start in range(0, len(decisions), TOKENS_PER_ENTRY):
        some = decisions[start : start + TOKENS_PER_ENTRY]
        tokens = [
            {
                "token": entry.token.name,
                "from": names(entry.origins),
                "rule": verdict.rule,
                "foreign": verdict.foreign,
            }
            for entry, verdict in some
        ]
        found = _found(Counter(entry.token.category for entry, _ in some))
        records.append(Record("restore", {**_about(destination, request), **found, "tokens": tokens}))
    return records


def refused(destination: str, request: Request, rule: str, token: str = "") -> Record:
    """A request that did not go to its upstream; by which rule and for which token, where one was to blame."""
    return Record("refused", {**_about(destination, request), "rule": rule, "token": token})


def asked(destination: str, request: Request, allowed: bool) -> Record:
    """What a person said to a request that needed them."""
    return Record("asked", {**_about(destination, request), "allowed": allowed})


def raw_data(destination: str, request: Request, counts: Mapping[str, int], how: str, *, dump: bool) -> Record:
    """What the model wrote in clear, by category; ``how`` is what is done about it, or :data:`UNKNOWN`."""
    return Record("raw_pii", {**_about(destination, request), **_found(counts), "action": how, "dump": dump})


def names(origins: Iterable[str]) -> list[str]:
    """Origins without the fingerprints of their programs, which could be tried for."""
    return sorted({origin.partition("#")[0] for origin in origins})


def _found(counts: Mapping[str, int]) -> dict[str, Any]:
    return {"entity_count": sum(counts.values()), "categories": dict(counts)}


def _about(destination: str, request: Request) -> dict[str, Any]:
    tool = (request.params or {}).get("name") if request.method in _NAMED else None
    named = {"tool": tool} if isinstance(tool, str) else {}
    return {"upstream": destination, "method": request.method, "direction": "to_upstream", **named}
