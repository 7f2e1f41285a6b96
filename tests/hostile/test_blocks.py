"""A text that is sent in pieces, cut where a value stands: no piece shows a part of it (threat 22)."""

from __future__ import annotations

import pytest

from tests.hostile.scene import KIM, meet
from tests.peers.compare import TOKEN
from tests.peers.driver import Driver, Processes
from tests.peers.upstream import ECHO, Upstream, text

#: Each value cut after its third letter, in its middle and before its last three.
CUTS = [(value, at) for value in KIM.by_shape for at in (3, len(value) // 2, len(value) - 3)]


def blocks(value: str, at: int) -> tuple[str, str]:
    return f"it was {value[:at]}", f"{value[at:]}, as they said"


@pytest.fixture(scope="module")
def scene(module_peers: Processes, tmp_path_factory: pytest.TempPathFactory) -> tuple[Driver, Upstream]:
    crm = Upstream("crm", tmp_path_factory.mktemp("scene")).tool("save", ECHO)
    for number, (value, at) in enumerate(CUTS):
        crm.tool(f"cut_{number}", text(*blocks(value, at)))
        contents = [{"uri": f"mem://{number}", "text": block} for block in blocks(value, at)]
        crm.resource(f"mem://{number}", [{"result": {"contents": contents}}], name=f"r{number}")
    return meet(module_peers, crm), crm


@pytest.mark.parametrize(("number", "value", "at"), [(number, *cut) for number, cut in enumerate(CUTS)])
def test_a_cut_value_is_hidden_in_both_blocks_and_comes_back(
    scene: tuple[Driver, Upstream], number: int, value: str, at: int
) -> None:
    driver, crm = scene
    for shown in (
        driver.tool(f"crm__cut_{number}")["content"],
        driver.result("resources/read", {"uri": f"mem://{number}"})["contents"],
    ):
        told = [block["text"] for block in shown]
        assert [TOKEN.sub("", block) for block in told] == ["it was ", ", as they said"]
        driver.tool("crm__save", said=told)
        assert crm.arguments("save")[-1] == {"said": [*blocks(value, at)]}
