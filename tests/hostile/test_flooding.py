"""A hostile upstream spoils nothing for the others: neither their texts nor their turn (threats 5 and 8)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.hostile.scene import hostile, meet
from tests.patience import PATIENCE
from tests.peers.driver import Driver, Processes, text_of
from tests.peers.upstream import Upstream, says, text

#: Words that every message needs, names of tools and upstreams, and values of enumerations.
WORDS = (
    "jsonrpc", "method", "params", "result", "error", "message", "content", "type", "text", "tools", "prompts", "name",
    "resources", "inputSchema", "outputSchema", "properties", "object", "string", "integer", "description", "arguments",
    "structuredContent", "tools/list", "tools/call", "resources/read", "notifications/message", "2025-11-25", "2.0",
    "crm", "evil", "search", "crm__search", "evil__sync", "assistant", "user", "image", "audience", "uri", "mimeType",
    "text/plain", "application/json", "query", "limit", "required", "default", "annotations", "readOnlyHint", "true",
    "null", "level", "info", "data", "isError", "protocolVersion", "capabilities", "serverInfo", "readme.md",
)  # fmt: skip
#: Keys that prove that their value is personal.
KEYS = (
    "name", "first_name", "last_name", "full_name", "customer_name", "username", "user", "login", "password", "secret",
    "api_key", "token", "dob", "date_of_birth", "birth_date", "ssn", "address", "city", "phone", "email", "iban",
)  # fmt: skip


def crm(folder: Path) -> Upstream:
    schema = {
        "type": "object",
        "properties": {"query": {"type": "string", "default": "user"}, "limit": {"type": "integer", "default": 10}},
        "required": ["query"],
    }
    found = {"type": "object", "name": "readme.md", "level": "info", "data": {"image": "search", "user": "assistant"}}
    described = "search the resources: name, type, text; version 2025-11-25 of crm__search"
    honest = Upstream("crm", folder, instructions="Call search with a query. tools/list names all tools.")
    honest.tool("search", text(json.dumps(found), structuredContent=found), inputSchema=schema, description=described)
    honest.resource("file:///srv/readme.md", name="readme.md", description="text of the user", mimeType="text/plain")
    return honest.prompt("search", description="search for a name", arguments=[{"name": "query", "required": True}])


def visit(driver: Driver) -> list[Any]:
    """Everything that the honest upstream shows in one session."""
    asked = [
        driver.call("tools/list"),
        driver.call("tools/call", {"name": "crm__search", "arguments": {"query": "name", "limit": 10}}),
        driver.call("prompts/list"),
        driver.call("prompts/get", {"name": "crm__search", "arguments": {"query": "user"}}),
        driver.call("resources/list"),
        driver.call("resources/read", {"uri": "file:///srv/readme.md"}),
        driver.call("no/such"),
    ]
    return [driver.call("ping"), *asked]


def renumbered(seen: list[Any]) -> str:
    """What was seen, with its tokens numbered as they come: which numbers are free says nothing of anybody."""
    stems: dict[tuple[str, str], int] = {}

    def renumber(token: re.Match[str]) -> str:
        return f"[{token[1]}_{stems.setdefault((token[1], token[2]), len(stems))}{token[3] or ''}]"

    return re.sub(r"\[([A-Z][A-Z_]*?)_([0-9]+)(_[0-9]+)?\]", renumber, json.dumps(seen))


@pytest.mark.parametrize("shape", ["structured", "json_in_text", "csv"])
def test_nobody_can_make_words_of_the_protocol_or_of_others_personal(
    peers: Processes, tmp_path: Path, shape: str
) -> None:
    rows = [{"email": "a@posteo-mail.de", key: word} for key in KEYS for word in WORDS]
    poison = {
        "structured": text("x", structuredContent={"rows": rows}),
        "json_in_text": text(json.dumps(rows)),
        "csv": text(",".join(KEYS) + "\n" + "\n".join(",".join([word] * len(KEYS)) for word in WORDS)),
    }
    seen: list[Any] = []
    for said in (text("nothing"), poison[shape]):
        folder = tmp_path / f"run-{len(seen)}"
        folder.mkdir()
        driver = meet(peers, crm(folder), hostile(folder).tool("rows", said))
        driver.tool("evil__rows")
        seen.append(visit(driver))
    for calm, stormy in zip(renumbered(seen[0]).split("}, {"), renumbered(seen[1]).split("}, {"), strict=True):
        assert stormy == calm


def test_a_flood_of_values_is_withheld_and_costs_the_others_nothing(peers: Processes, tmp_path: Path) -> None:
    flood = "\n".join(f"u{n}@posteo-mail.de" for n in range(110_000))
    evil = hostile(tmp_path).tool("flood", text(flood)).tool("drop", text("u7@posteo-mail.de"))
    driver = meet(peers, crm(tmp_path).tool("mail", text("kim@posteo-mail.de")), evil)
    flooding = driver.ask("tools/call", {"name": "evil__flood", "arguments": {}})
    costs: list[float] = []
    for _ in range(20):
        before = driver.work()
        assert text_of(driver.tool("crm__mail")) == "[EMAIL_0]" or costs
        costs.append(driver.work() - before)
    response = driver.answer(flooding, timeout=PATIENCE)
    assert "error" in response or response["result"]["isError"] is True
    assert "posteo-mail.de" not in driver.received.decode()
    assert text_of(driver.tool("crm__mail")).startswith("[EMAIL_")
    assert text_of(driver.tool("evil__drop")).startswith("[EMAIL_")  # the message was withheld, not the upstream
    assert max(costs) < 1.0  # a call that had to wait for the flood would have had all of its work in between


#: How many notifications, what stands in each beside a new value, and where values are kept: small ones are looked at
#: where they are read, large ones by a worker, and a store on disk takes its time for each.
STORMS = {
    "small": (3000, "", "memory"),
    "large": (300, "the quick brown fox " * 1000, "memory"),
    "on disk": (500, "", "sqlite"),
}


@pytest.mark.parametrize("storm", STORMS)
def test_notifications_without_end_do_not_stop_the_others(peers: Processes, tmp_path: Path, storm: str) -> None:
    count, more, backend = STORMS[storm]
    said = [
        {"notify": "notifications/message", "params": {"level": "info", "data": f"{more}u{n}@posteo-mail.de"}}
        for n in range(count)
    ]
    evil = hostile(tmp_path).tool("storm", [*said, *text("done")])
    honest = crm(tmp_path).tool("mail", text("{{who}}@posteo-mail.de")).tool("letter", text(f"{more}{{{{who}}}}@a.io"))
    driver = meet(peers, honest, evil, vault={"backend": backend})
    driver.call("logging/setLevel", {"level": "debug"})
    storming = driver.ask("tools/call", {"name": "evil__storm", "arguments": {}})
    driver.tool("crm__search", {"query": "x"})
    assert driver.received.count(b"notifications/message") < count  # it had its turn before the storm was over
    for n in range(3):
        driver.tool("crm__search", {"query": "x"})
        assert text_of(driver.tool("crm__mail", {"who": f"kim{n}"})).startswith("[EMAIL_")
        assert "[EMAIL_" in text_of(driver.tool("crm__letter", {"who": f"lee{n}"}))
    assert driver.received.count(b"notifications/message") < count
    driver.answer(storming, timeout=PATIENCE)
    assert driver.received.count(b"notifications/message") == count
    assert "posteo-mail.de" not in driver.received.decode()


@pytest.mark.parametrize("value", ["Okonkwo", "Nw\u00e1ch\u00fckw\u00fa"])
def test_what_is_said_behind_a_large_message_waits_for_it_and_costs_no_more_the_more_it_is(
    peers: Processes, tmp_path: Path, value: str
) -> None:
    """Said in one piece: the first line proves a value by its key alone, and takes a while."""
    proving = {"last_name": value, "pad": " ".join(f"u{n}@posteo-mail.de" for n in range(2_000))}
    works = []
    for count in (1_000, 8_000):
        folder = tmp_path / str(count)
        folder.mkdir()
        lines = [says("info", f"{value} rang {n} times") for n in range(count)]
        evil = hostile(folder).tool("tell", [says("info", proving), *lines, *text(f"{value} is there")])
        driver = meet(peers, evil)
        driver.call("logging/setLevel", {"level": "debug"})
        before = driver.work()
        assert "[PERSON_" in text_of(driver.tool("evil__tell"))
        works.append(driver.work() - before)
        assert len(driver.notifications("notifications/message")) == count + 1
        assert value not in json.dumps([heard.message for heard in driver.heard], ensure_ascii=False)
    assert works[1] < 16 * works[0] + 1.0  # it was the square
