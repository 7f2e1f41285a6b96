"""Lines of ``/etc/passwd`` about people: who they are (the GECOS field) and what they are called by the system."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cloakllm_gateway.detection.tables import Table
from cloakllm_gateway.patterns import lazy

SIGN = r":[x*!]?:\d{4}\d*:\d+:[^:\n]+:/"
_ACCOUNT = lazy(
    r"(?P<user>[\w.-]{1,64}):[x*!]?:(?P<id>\d{4,10}):\d{1,10}:(?P<name>[^:,\n]{2,80})(?:,(?P<room>[^:,\n]{0,40}))?"
    r"(?:,(?P<office>[^:,\n]{0,40}))?(?:,(?P<home>[^:,\n]{0,40}))?(?:,[^:\n]{0,80})?:/"
)
_KEYS = {"name": "full name", "office": "phone", "home": "phone"}
#: Accounts of people begin at a thousand, and one is nobody.
_FIRST, _NOBODY = 1_000, 65_534


def tables(text: str, places: Sequence[int]) -> Iterator[Table]:
    """All lines with the name of somebody."""
    for at in places:
        start = text.rfind("\n", max(at - 64, 0), at) + 1
        account = _ACCOUNT.match(text, start)
        if account and _FIRST <= int(account["id"]) != _NOBODY and " " in account["name"]:
            known = [group for group in _KEYS if account[group]]
            keys, places_of = [_KEYS[group] for group in known], [account.span(group) for group in known]
            yield Table(["username", *keys], [[account.span("user"), *places_of]])
