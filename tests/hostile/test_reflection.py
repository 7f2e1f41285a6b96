"""What a call has restored does not come back in another form (threat 17)."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.hostile.scene import CARD_FILE, KIM, meet, shown
from tests.peers.driver import Driver, Processes, text_of
from tests.peers.upstream import ECHO, Action, Upstream, text
from tests.peers.values import readings

LOCAL = KIM.email.split("@")[0]
EMAIL_FORMS = {
    "as it is": KIM.email,
    "in capitals": KIM.email.upper(),
    "local part": LOCAL,
    "base64": base64.b64encode(KIM.email.encode()).decode().rstrip("="),
    "hex": KIM.email.encode().hex(),
    "percent-encoded": quote(KIM.email, safe="").replace("%40", "%40"),
    "escaped": KIM.email.replace("@", "\\u0040"),
}
FORMS = {
    **{f"email {form}": said for form, said in EMAIL_FORMS.items()},
    "phone digits": KIM.phone_digits,
    "card digits": KIM.card_digits,
    "ssn without dashes": KIM.ssn.replace("-", ""),
    "iban in groups": " ".join(KIM.iban[n : n + 4] for n in range(0, 22, 4)),
}


def channels(said: str) -> dict[str, list[Action]]:
    """The ways in which an upstream can answer a call."""
    return {
        "result": text(f"mailbox {said} unknown"),
        "structured": text("x", structuredContent={"failed": [said]}),
        "tool_error": text(f"no such mailbox: {said}", isError=True),
        "error_message": [{"error": {"code": -32000, "message": f"no such mailbox: {said}"}}],
        "error_data": [{"error": {"code": -32000, "message": "x", "data": {"failed": said}}}],
        "progress": [
            {
                "notify": "notifications/progress",
                "params": {"progressToken": "$progress", "progress": 1, "message": said},
            },
            *text("done"),
        ],
        "log": [{"notify": "notifications/message", "params": {"level": "error", "data": {"to": said}}}, *text("done")],
    }


CHANNELS = tuple(channels(""))


class Scene:
    def __init__(self, peers: Processes, folder: Path) -> None:
        crm = Upstream("crm", folder).tool("lookup", text(CARD_FILE)).tool("save", ECHO)
        for n, said in enumerate(FORMS.values()):
            for channel, actions in channels(said).items():
                crm.tool(f"{channel}_{n}", actions)
        crm.tool("ending", text(f"card ending {KIM.card[-4:]} declined; order 9{KIM.card[-4:]}7"))
        self.driver = meet(peers, crm)
        self.driver.call("logging/setLevel", {"level": "debug"})
        self.tokens = shown(self.driver)


@pytest.fixture(scope="module")
def scene(module_peers: Processes, tmp_path_factory: pytest.TempPathFactory) -> Scene:
    return Scene(module_peers, tmp_path_factory.mktemp("scene"))


def heard(driver: Driver, tool: str, arguments: Any) -> str:
    """Everything the client hears while the call runs, as it was written and as a parser reads it."""
    before = len(driver.heard)
    driver.call("tools/call", {"name": f"crm__{tool}", "arguments": arguments, "_meta": {"progressToken": tool}})
    lines = b"\n".join(h.line for h in driver.heard[before:])
    return readings(lines)


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("form", FORMS)
def test_a_restored_value_does_not_come_back(scene: Scene, form: str, channel: str) -> None:
    n = list(FORMS).index(form)
    answer = heard(scene.driver, f"{channel}_{n}", {"to": list(scene.tokens.values())})
    assert FORMS[form].casefold() not in answer.casefold()


def test_the_end_of_a_card_number_is_hidden_where_it_is_a_word(scene: Scene) -> None:
    answer = heard(scene.driver, "ending", {"card": scene.tokens["card"]})
    assert f"ending {KIM.card[-4:]}" not in answer
    assert f"order 9{KIM.card[-4:]}7" in answer


def test_an_answer_that_the_user_typed_does_not_come_back(peers: Processes, tmp_path: Path) -> None:
    form = {"message": "Who?", "requestedSchema": {"type": "object", "properties": {"login": {"type": "string"}}}}
    said = {"content": [{"type": "text", "text": "hello wolpertinger, welcome"}]}
    crm = Upstream("crm", tmp_path).tool("greet", [{"ask": "elicitation/create", "params": form}, {"result": said}])
    driver = meet(peers, crm)
    driver.answers["elicitation/create"] = lambda _: {"action": "accept", "content": {"login": "wolpertinger"}}
    answer = driver.tool("crm__greet")
    assert crm.received()[-1]["result"]["content"] == {"login": "wolpertinger"}
    assert "wolpertinger" not in json.dumps(answer)


def test_a_private_key_on_standard_error_is_hidden_though_it_is_many_lines(peers: Processes, tmp_path: Path) -> None:
    body = [f"MIIEfake{n:02}" + "QUFBQkJCQ0NDRERE" * 3 for n in range(12)]
    key = ["-----BEGIN PRIVATE KEY-----", *body, "-----END PRIVATE KEY-----"]
    crm = Upstream("crm", tmp_path).tool("leak", [{"stderr": "\n".join(key) + "\n"}, *text("done")])
    driver = meet(peers, crm)
    driver.tool("crm__leak")
    said = driver.wait_stderr(b"upstream_says").decode()
    assert [line for line in body if line in said] == []


SAID = f"mailbox {LOCAL} unknown, card ending {KIM.card[-4:]}"


def test_parts_do_not_come_back_after_the_answer_or_beside_the_protocol(peers: Processes, tmp_path: Path) -> None:
    late: Action = {"notify": "notifications/message", "params": {"level": "error", "data": SAID}}
    unknown: Action = {"notify": "notifications/acme/news", "params": {"words": SAID}}
    crm = Upstream("crm", tmp_path).tool("lookup", text(CARD_FILE))
    crm.tool("send", [{"stderr": f"ERROR {SAID}\n"}, unknown, *text("done"), late])
    driver = meet(peers, crm)
    driver.call("logging/setLevel", {"level": "debug"})
    tokens = shown(driver)
    driver.tool("crm__send", to=[tokens["email"], tokens["card"]])
    heard = [driver.notification(method) for method in ("notifications/message", "notifications/acme/news")]
    printed = driver.wait_stderr(b"ERROR").decode()
    for said in (*map(json.dumps, heard), printed):
        assert "unknown" in said
        assert LOCAL not in said
        assert f"ending {KIM.card[-4:]}" not in said


def test_many_notifications_of_a_call_with_many_values_cost_little(peers: Processes, tmp_path: Path) -> None:
    """What each may repeat is made ready once, not for each of them."""
    progress: Action = {
        "notify": "notifications/progress",
        "params": {"progressToken": "$progress", "progress": 1, "message": "working"},
    }
    addresses = "\n".join(f"user{n}.x@posteo-mail.de" for n in range(1000))
    crm = Upstream("crm", tmp_path).tool("many", text(addresses)).tool("work", [progress] * 100 + text("done"))
    driver = meet(peers, crm)
    tokens = text_of(driver.tool("crm__many")).split("\n")

    def cost(to: list[str], name: str) -> float:
        before = driver.work()
        driver.call("tools/call", {"name": "crm__work", "arguments": {"to": to}, "_meta": {"progressToken": name}})
        return driver.work() - before

    cost(tokens[:1], "warm")
    one = cost(tokens[:1], "one")
    assert cost(tokens, "many") < 5 * one + 1.0  # made ready for each of the notifications, it takes some 6 s
