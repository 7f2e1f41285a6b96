"""Clients over HTTP, as real processes over loopback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.peers.hosted import Hosted, hosted
from tests.peers.upstream import ECHO, Upstream, text

KIM = "kim@acme-corp.com"


@pytest.fixture
def crm(tmp_path: Path) -> Upstream:
    folder = tmp_path / "crm"
    folder.mkdir()
    return Upstream("crm", folder).tool("lookup", text(f"mail {KIM}")).tool("save", ECHO)


@pytest.fixture
def gateway(tmp_path: Path, crm: Upstream) -> Iterator[Hosted]:
    with hosted(tmp_path, {"upstreams": {"crm": crm.config()}}) as gateway:
        yield gateway


def test_a_session_hides_a_value_on_its_way_out_and_gives_it_back_on_its_way_in(gateway: Hosted, crm: Upstream) -> None:
    with gateway.caller() as caller:
        assert caller.initialize()["protocolVersion"] == "2025-11-25"
        assert {tool["name"] for tool in caller.ask("tools/list")["result"]["tools"]} == {"crm__lookup", "crm__save"}
        shown = caller.tool("crm__lookup")["content"][0]["text"]
        assert KIM not in shown
        caller.tool("crm__save", to=shown.removeprefix("mail "))
        assert crm.arguments("save") == [{"to": KIM}]
