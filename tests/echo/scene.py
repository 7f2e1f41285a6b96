"""The upstream of the echo tests, and a conversation with it through one gateway."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.echo import rows
from tests.echo.rows import CHANGED, ERROR, LISTS, MAIL, NOTES, ODD, PAGE, QUESTIONS, ROWS, TASKS, TOKEN, TOLD
from tests.echo.talking import SESSION, STATELESS, Talk, exact, member, without
from tests.peers.upstream import Upstream

SERVER = '"io.modelcontextprotocol/serverInfo":{"name":"echo","version":"1"}'
CAPABILITIES = {
    "tools": {"listChanged": True},
    "prompts": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": True},
    "completions": {},
    "logging": {},
    "tasks": {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}},
    "extensions": {"io.modelcontextprotocol/tasks": {}, "x.acme/new": {"a": [None, 1]}},
    "experimental": {"x": {"y": None}},
}
INSTRUCTIONS = f"ask {MAIL}"
GRANTED = {"sampling": True, "elicitation": True, "roots": True}


def result(era: str, members: str) -> str:
    done = '"resultType":"complete",' if era == STATELESS else ""
    return f'{{{done}{members},"_meta":{{{SERVER},"x.acme/trace":[1.0,null]}}}}'


def later(era: str) -> str:
    """The answer of a tool that begins a task."""
    return (
        f'{{"resultType":"task",{rows.TASK},"ttlMs":null}}'
        if era == STATELESS
        else f'{{"task":{{{rows.TASK},"ttl":6e4}}}}'
    )


def asking(params: str) -> str:
    """The member of a result that asks a person (stateless era)."""
    return f'"inputRequests":{{"q":{{"method":"elicitation/create","params":{{{params}}}}}}}'


def scripted(era: str, folder: Path) -> Upstream:
    echo = Upstream("echo", folder, capabilities=CAPABILITIES, instructions=INSTRUCTIONS)
    if era == STATELESS:
        found = {"resultType": "complete", "supportedVersions": [STATELESS], "capabilities": CAPABILITIES}
        more = {"instructions": INSTRUCTIONS, "ttlMs": 0, "cacheScope": "private"}
        echo.on("server/discover", [{"result": {**found, **more}}])
    for method, (name, items) in LISTS.items():
        echo.on(method, [{"raw_result": result(era, f'"{name}":[{items}],"ttlMs":0,"cacheScope":"private"')}])
    for row in (*ROWS, *TASKS):
        echo.on(row.method, [{"raw_result": result(era, row.result)}])
    done = {"raw_result": result(era, '"content":[]')}
    notes = [f'{{"jsonrpc":"2.0","method":"{method}","params":{{{params}}}}}\n' for method, params in NOTES]
    told = {method: f'"params":{{{params}}}' for method, (params, eras) in TOLD.items() if era in eras}
    told.update((method, f'"params":{{"_meta":{{"x.acme/trace":1.0}},{ODD}}}') for method in CHANGED)
    changes = [f'{{"jsonrpc":"2.0","method":"{method}",{params}}}\n' for method, params in told.items()]
    form = QUESTIONS["elicitation/create"][0]
    question = f'{{"jsonrpc":"2.0","id":"q-1","method":"elicitation/create","params":{{{form}}}}}\n'
    withdrawn = (
        f'{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":"q-1",{rows.WITHDRAWN}}}}}\n'
    )
    asks = asking(form)
    cases = {
        "t": [{"raw_result": result(era, ROWS[0].result)}],
        "fails": [{"write": f'{{"jsonrpc":"2.0","id":$ID,"error":{{{ERROR}}}}}\n'}],
        "goes": [{"write": f'{{"jsonrpc":"2.0","id":$ID,"error":{{{rows.GOES}}}}}\n'}],
        "later": [{"raw_result": later(era)}],
        "notes": [*({"write": note} for note in notes), done],
        "changes": [*({"write": line} for line in changes), done],
        "visits": [{"raw_result": f'{{"resultType":"input_required",{asking(rows.VISIT)}}}'}]
        if era == STATELESS
        else [{"ask": "elicitation/create", "raw_params": f"{{{rows.VISIT}}}"}, done],
        "withdraws": [{"write": question}, {"wait": "notifications/roots/list_changed"}, {"write": withdrawn}, done],
        "waits": [{"wait": "notifications/cancelled"}],
        "asks": [*({"ask": method, "raw_params": f"{{{asked}}}"} for method, (asked, _) in QUESTIONS.items()), done],
        "input": [{"raw_result": f'{{"resultType":"input_required",{asks},"requestState":"{rows.STATE}",{ODD}}}'}],
        "large": [{"raw_result": result(era, f'"content":[{{"type":"text","text":"{"x" * 3_000_000} {MAIL}"}}]')}],
    }
    echo.on("subscriptions/listen", [{"wait": "the end"}])
    echo.on("tools/call", {"by": "name", "cases": cases})
    assert set(cases) == {"t", *rows.TOOLS}
    return echo


class Echo:
    """A conversation through one gateway, and what its upstream received."""

    def __init__(self, way: tuple[str, str, str], talk: Talk, upstream: Upstream) -> None:
        self.front, self.era, self.back = way
        self.talk, self.upstream = talk, upstream

    def received(self, method: str) -> list[Any]:
        """The messages of ``method`` that reached the upstream, as they were written."""
        written = self.upstream.received_bytes().splitlines(keepends=True)
        lines = [exact(line) for line in written if line.endswith(b"\n")]  # the last one may be on its way
        return [line for line in lines if dict(line[1]).get("method") == method]

    def sent(self, method: str) -> Any:
        """The params of the last of them, less what says who asks."""
        return without(member(self.received(method)[-1], "params"), "_meta")


#: Front, era, upstream: every pair of them in the quick tests, the rest in the slow ones.
QUICK = {
    ("stdio", SESSION, "stdio"),
    ("stdio", STATELESS, "http"),
    ("http", SESSION, "http"),
    ("http", STATELESS, "stdio"),
}
WAYS = [
    pytest.param(way, id=" ".join(way), marks=[pytest.mark.slow] * (way not in QUICK))
    for way in product(("stdio", "http"), (SESSION, STATELESS), ("stdio", "http"))
]


def hidden(text: str) -> Any:
    """What the client sees of an object with these members."""
    return exact(f"{{{text}}}".replace(MAIL, TOKEN).replace(PAGE.replace(MAIL, TOKEN), PAGE))


def shown(text: str) -> Any:
    """What the upstream gets."""
    return exact(f"{{{text}}}".replace(TOKEN, MAIL))
