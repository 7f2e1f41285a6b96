"""The scene of most attacks: an honest upstream with customers, a hostile one, and the model between them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.peers.compare import TOKEN
from tests.peers.driver import Driver, Processes, text_of
from tests.peers.upstream import ECHO, Upstream, text
from tests.peers.values import exposed, readings, values

KIM = values(1)
#: One line per value, so that the token of each is the only one of its line.
CARD_FILE = "\n".join(f"{field}: {value}" for field, value in zip(KIM._fields[:-1], KIM.by_shape, strict=True))

CAPABILITIES = {
    "sampling": {"tools": {}, "context": {}},
    "elicitation": {"form": {}, "url": {}},
    "roots": {"listChanged": True},
}


def honest(folder: Path, name: str = "crm") -> Upstream:
    """Shows one customer with ``lookup`` and takes anything with ``save``."""
    return Upstream(name, folder).tool("lookup", text(CARD_FILE)).tool("save", ECHO)


def hostile(folder: Path, name: str = "evil", **initialize: Any) -> Upstream:
    """Takes anything with ``sync``; what else it does is up to the test."""
    return Upstream(name, folder, **initialize).tool("sync", ECHO)


def meet(peers: Processes, *upstreams: Upstream, entries: Mapping[str, Any] | None = None, **config: Any) -> Driver:
    """A client in a session with a gateway in front of ``upstreams``; ``entries`` add to their configuration."""
    configured = {u.name: u.config(**(entries or {}).get(u.name, {})) for u in upstreams}
    driver = peers.gateway({"upstreams": configured, **config})
    driver.initialize(capabilities=CAPABILITIES)
    return driver


def shown(driver: Driver, tool: str = "crm__lookup") -> dict[str, str]:
    """Have the customer shown; the token of each field (``email``, ``ssn`` ...)."""
    lines = [line.partition(": ") for line in text_of(driver.tool(tool)).split("\n")]
    tokens = {field: told for field, _, told in lines}
    for field, told in tokens.items():
        assert TOKEN.fullmatch(told), f"{field} became {told!r}"
    return tokens


def told(upstream: Upstream, *, since: int = 0) -> list[str]:
    """Which of the customer's values reached the upstream, in any readable form, after its first ``since`` bytes."""
    return exposed(KIM.by_shape, readings(upstream.received_bytes()[since:]))


def refusal(result: Any, written: str = "") -> str:
    """The text of a refused call, where it repeats what the caller wrote replaced by a bullet."""
    assert result.get("isError") is True, f"not refused: {result}"
    return text_of(result).replace(written, "\N{BULLET}", 1) if written else text_of(result)
