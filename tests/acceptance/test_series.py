"""Two gateways, one behind the other: the outer one knows nothing of the inner one, and nothing is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.peers import proofs
from tests.peers.driver import Driver, Processes, text_of
from tests.peers.upstream import ECHO, Upstream, text

KIM, SSN = "kim+work@example.com", "536-22-8726"
SAID = (
    f"{KIM}, {SSN}, [EMAIL_0] \\[SSN\\_0\\] %5BEMAIL_0%5D [LITERAL_0]\n"
    f'{{"mail":"{KIM}","card":4111111111111111,"n":1.0,"x":"\\u005bEMAIL_7\\u005d"}}'
)
RECORD = {"email": KIM, "card": 4111111111111111, "note": f"see https://x.org/?m={KIM}", "alike": "[PHONE_3]"}


def behind_another(peers: Processes, folder: Path, **inner: Any) -> tuple[Driver, Upstream]:
    """A client of a gateway whose one upstream is a gateway."""
    crm = Upstream("crm", folder)
    crm.tool("say", text(SAID)).tool("get", [{"result": {"content": [], "structuredContent": RECORD}}]).tool(
        "save", ECHO
    )
    quiet = {"ner_entity_types": []}
    config = {"upstreams": {"crm": crm.config(**inner)}, "state_dir": str(folder / "inner-state"), "detection": quiet}
    program, *arguments = proofs.command(folder / "inner.json", config)
    driver = peers.gateway({"upstreams": {"in": {"command": program, "args": arguments, "inherit_env": True}}})
    driver.initialize()
    return driver, crm


def test_what_comes_back_through_both_is_exact(peers: Processes, tmp_path: Path) -> None:
    driver, crm = behind_another(peers, tmp_path)
    for _ in range(2):
        said, record = text_of(driver.tool("in__crm__say")), driver.tool("in__crm__get")["structuredContent"]
        assert KIM not in said and SSN not in said and "4111" not in said and KIM not in str(record)
        driver.tool("in__crm__save", text=said, record=record)
        assert crm.arguments("save")[-1] == {"text": SAID, "record": RECORD}
    assert not {KIM.encode(), SSN.encode()} & set(bytes(driver.received).split(b'"'))


@pytest.mark.parametrize("written", ["[EMAIL_0]", "see [SSN_0]."])
def test_a_token_of_the_inner_one_means_nothing_to_the_outer(peers: Processes, tmp_path: Path, written: str) -> None:
    driver, crm = behind_another(peers, tmp_path)
    text_of(driver.tool("in__crm__say"))
    assert driver.tool("in__crm__save", text=written)["isError"] is True
    assert crm.received("tools/call")[1:] == []


def test_what_the_inner_one_lets_pass_the_outer_hides(peers: Processes, tmp_path: Path) -> None:
    driver, crm = behind_another(peers, tmp_path, categories={"EMAIL": "pass"})
    record = driver.tool("in__crm__get")["structuredContent"]
    assert record["email"] == "[EMAIL_0]" and record["card"].startswith("[LITERAL_")
    driver.tool("in__crm__save", record=record)
    assert crm.arguments("save") == [{"record": RECORD}]
