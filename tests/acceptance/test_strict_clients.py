"""Clients that hold a result against the schema they were shown: the official SDKs, through a whole gateway."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from jsonschema import Draft202012Validator, FormatChecker

from tests.acceptance.real import ROOT
from tests.patience import PATIENCE
from tests.peers import proofs
from tests.peers.driver import Message, Processes, text_of
from tests.peers.upstream import ECHO, Upstream, text

CLIENT = Path(__file__).parents[1] / "peers/client.cjs"
PACKAGES = ROOT / ".cache/npm"

#: What a client is told to do: ask for the tools, or call one.
Step = str | tuple[str, dict[str, Any]]

SCHEMA: dict[str, Any] = {
    "type": "object",
    "title": "An order",
    "properties": {
        "customer": {"$ref": "#/$defs/Customer"},
        "others": {"type": "array", "items": {"oneOf": [{"$ref": "#/$defs/Customer"}, {"type": "null"}]}},
        "site": {"type": "string", "format": "uri"},
        "owner": {"type": "string", "enum": ["lee@acme-corp.com", "ann@acme-corp.com", "kim@example.com"]},
        "status": {"type": "string", "enum": ["open", "closed"]},
        "card": {"type": "integer", "exclusiveMinimum": 0},
        "order_id": {"type": "integer"},
        "age": {"type": "integer", "maximum": 150},
    },
    "required": ["customer", "card", "order_id"],
    "additionalProperties": False,
    "$defs": {
        "Customer": {
            "type": "object",
            "properties": {
                "email": {"type": "string", "format": "email", "maxLength": 60},
                "phone": {"type": "string", "pattern": r"^\+[0-9]+$", "minLength": 8},
                "ssn": {"type": "string", "maxLength": 11},
                "mobile": {"type": "integer"},
                "boss": {"$ref": "#/$defs/Customer"},
            },
            "required": ["email"],
        }
    },
}
ORDER: dict[str, Any] = {
    "customer": {
        "email": "kim@example.com",
        "phone": "+14155550134",
        "ssn": "536-22-8726",
        "mobile": 15552345678,
        "boss": {"email": "lee@acme-corp.com"},
    },
    "others": [None, {"email": "ann@acme-corp.com"}],
    "site": "https://example.com/u/kim@example.com",
    "owner": "kim@example.com",
    "status": "open",
    "card": 4111111111111111,
    "order_id": 19998887776,
    "age": 41,
}
VALUES = ("kim@example.com", "lee@acme", "ann@acme", "+14155550134", "536-22-8726", "15552345678", "4111111111111111")


def in_python(command: list[str], steps: Sequence[Step]) -> list[dict[str, Any]]:
    """The client of the Python SDK."""
    from mcp import ClientSession, StdioServerParameters, stdio_client

    outcomes: list[dict[str, Any]] = []

    async def play() -> None:
        server = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
        async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            for step in steps:
                try:
                    done = await (session.list_tools() if isinstance(step, str) else session.call_tool(*step))
                except RuntimeError as error:  # what it raises where a result does not fit
                    outcomes.append({"error": str(error)})
                else:
                    outcomes.append({"result": done.model_dump(mode="json", by_alias=True, exclude_none=True)})

    anyio.run(play)
    return outcomes


def in_typescript(sdk: str) -> Callable[[list[str], Sequence[Step]], list[dict[str, Any]]]:
    def play(command: list[str], steps: Sequence[Step]) -> list[dict[str, Any]]:
        node = shutil.which("node")
        if node is None:
            pytest.skip("node is not installed")
        if not (PACKAGES / "node_modules/@modelcontextprotocol" / sdk).exists():
            pytest.skip(f"the TypeScript {sdk} is not installed: run tests/acceptance/install.sh, which needs npm")
        arguments = [str(PACKAGES), sdk, json.dumps(command), json.dumps(steps)]
        done = subprocess.run([node, str(CLIENT), *arguments], capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, done.stderr
        outcomes: list[dict[str, Any]] = json.loads(done.stdout)
        return outcomes

    return play


CLIENTS = {"python": in_python, "typescript 1": in_typescript("sdk"), "typescript 2": in_typescript("client")}
each_client = pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
Client = Callable[[list[str], Sequence[Step]], list[dict[str, Any]]]


def gateway(folder: Path, *upstreams: Upstream, **more: Any) -> list[str]:
    """The command of a gateway in front of these upstreams."""
    config = {
        "state_dir": str(folder / "state"),
        "detection": {"ner_entity_types": []},
        "upstreams": {upstream.name: upstream.config() for upstream in upstreams},
        **more,
    }
    return proofs.command(folder / "gateway.json", config)


def answer(structured: Any, *texts: str) -> list[Any]:
    return text(*texts, structuredContent=structured)


def tools_of(outcome: dict[str, Any]) -> dict[str, Any]:
    return {tool["name"]: tool for tool in outcome["result"]["tools"]}


def fits(schema: Any, instance: Any) -> bool:
    return Draft202012Validator(schema, format_checker=FormatChecker()).is_valid(instance)


def test_the_order_fits_the_schema_that_the_upstream_wrote() -> None:
    assert fits(SCHEMA, ORDER)


@each_client
def test_a_result_with_tokens_passes_the_checks_of_the_client(client: Client, tmp_path: Path) -> None:
    """Field cases A25 and A26"""
    crm = Upstream("crm", tmp_path)
    crm.tool("look", answer(ORDER, json.dumps(ORDER)), outputSchema=SCHEMA).tool("save", ECHO)
    steps: list[Step] = [
        "list",
        ("crm__look", {}),
        (
            "crm__save",
            {"cards": ["[CREDIT_CARD_0]", "[CREDIT_CARD_0_1]"], "mobile": "[PHONE_1]", "note": "[EMAIL_2]"},
        ),
    ]
    listed, looked, saved = client(gateway(tmp_path, crm), steps)

    assert "error" not in looked
    assert not [value for value in VALUES if value in json.dumps([looked, saved])]
    schema, shown = tools_of(listed)["crm__look"]["outputSchema"], looked["result"]["structuredContent"]
    assert fits(schema, shown)
    assert shown["customer"]["email"] == shown["owner"] == "[EMAIL_2]"  # the first two are in the list of tools
    assert (shown["order_id"], shown["age"], shown["status"]) == (19998887776, 41, "open")
    told = json.loads(text_of(looked["result"]))
    assert told["customer"]["email"] == "[EMAIL_2]" and told["others"][0] is None
    assert (told["card"], shown["card"]) == ("[CREDIT_CARD_0]", "[CREDIT_CARD_0_1]")  # one value, spelled twice

    # A number that was hidden comes back a number.
    [sent] = crm.arguments("save")
    assert sent == {"cards": [4111111111111111] * 2, "mobile": 15552345678, "note": "kim@example.com"}
    assert "error" not in saved


def test_the_schema_loses_what_tokens_would_break_and_nothing_else(peers: Processes, tmp_path: Path) -> None:
    """Field cases A25, A26 and A40"""
    crm = Upstream("crm", tmp_path).tool("look", outputSchema=SCHEMA, inputSchema=SCHEMA)
    driver = peers.gateway({"upstreams": {"crm": crm.config()}})
    driver.initialize()
    [tool] = driver.result("tools/list")["tools"]
    properties, customer = SCHEMA["properties"], SCHEMA["$defs"]["Customer"]
    text_only = {"type": "string"}
    assert tool["outputSchema"] == {
        **SCHEMA,
        "properties": {
            **properties,
            "others": {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/Customer"}, {"type": "null"}]}},
            "site": text_only,
            "owner": text_only,
            "card": {"type": ["integer", "string"], "exclusiveMinimum": 0},
        },
        "$defs": {
            "Customer": {
                **customer,
                "properties": {
                    **customer["properties"],
                    **dict.fromkeys(("email", "phone", "ssn"), text_only),
                    "mobile": {"type": ["integer", "string"]},
                },
            }
        },
    }
    assert list(tool["outputSchema"]) == list(SCHEMA)
    owner = tool["inputSchema"]["properties"].pop("owner")
    assert owner["enum"] == ["[EMAIL_0]", "[EMAIL_1]", "kim@example.com"]
    assert tool["inputSchema"]["properties"] == {k: v for k, v in properties.items() if k != "owner"}


def test_a_tool_without_anything_to_relax_is_advertised_as_it_is(peers: Processes, tmp_path: Path) -> None:
    plain = {
        "type": "object",
        "properties": {
            "n": {"type": "integer", "minimum": 0},
            "unit": {"enum": ["C", "F"]},
            "email": {"type": "string"},
        },
        "oneOf": [{"required": ["n"]}, {"required": ["unit"]}],
        "additionalProperties": False,
    }
    crm = Upstream("crm", tmp_path).tool("look", outputSchema=plain)
    driver = peers.gateway({"upstreams": {"crm": crm.config()}})
    driver.initialize()
    [tool] = driver.result("tools/list")["tools"]
    assert tool["outputSchema"] == plain


def test_a_mere_relay_relaxes_nothing(peers: Processes, tmp_path: Path) -> None:
    crm = Upstream("crm", tmp_path).tool("look", outputSchema=SCHEMA)
    driver = peers.gateway({"sanitize": False, "upstreams": {"crm": crm.config()}})
    driver.initialize()
    [tool] = driver.result("tools/list")["tools"]
    assert tool["outputSchema"] == SCHEMA


def test_input_schemas_are_relaxed_where_the_configuration_says_so(peers: Processes, tmp_path: Path) -> None:
    """Field case A40"""
    written = {
        "type": "object",
        "properties": {
            "to": {"type": "string", "format": "email", "maxLength": 60, "description": "Who"},
            "unit": {"type": "string", "enum": ["C", "F"]},
            "kind": {"const": "mail"},
            "card": {"type": "integer", "minimum": 1},
        },
        "patternProperties": {"^x-": {"type": "integer"}},
        "required": ["to"],
    }
    upstreams = {}
    for name, more in (("exact", {}), ("lax", {"relax_input_schema": True})):
        upstreams[name] = Upstream(name, tmp_path).tool("send", inputSchema=written).config(**more)
    driver = peers.gateway({"upstreams": upstreams})
    driver.initialize()
    exact, lax = driver.result("tools/list")["tools"]
    assert json.dumps(written, separators=(",", ":")).encode() in driver.received
    assert exact["inputSchema"] == written
    strings = {"to": {"type": "string", "description": "Who"}, "unit": {"type": "string"}}
    assert lax["inputSchema"] == {**written, "properties": {**written["properties"], **strings}}


# -- where the schema has no room for a token

NEUTRAL: dict[str, Any] = {
    "type": "object",
    "properties": {"reference": {"type": "integer"}, "n": {"type": "integer"}},
    "required": ["reference"],
}
REFERENCE = {"reference": 71234567, "n": 7}
#: Hides a number for its shape, under a key that proves nothing.
TICKETS = {"detection": {"ner_entity_types": [], "custom_patterns": [["TICKET", r"\b7[0-9]{7}\b"]]}}


@each_client
def test_a_number_hidden_where_only_numbers_fit_is_given_as_text_and_fits_from_then_on(
    client: Client, tmp_path: Path
) -> None:
    crm = Upstream("crm", tmp_path, capabilities={"tools": {"listChanged": True}})
    crm.tool("look", answer(REFERENCE, "done"), outputSchema=NEUTRAL)
    steps: list[Step] = ["list", ("crm__look", {}), ("crm__look", {}), "list", ("crm__look", {})]
    before, first, second, after, third = client(gateway(tmp_path, crm, **TICKETS), steps)

    assert tools_of(before)["crm__look"]["outputSchema"] == NEUTRAL
    for outcome in (first, second):  # the client has not asked again yet
        assert "error" not in outcome and outcome["result"]["isError"] is True
        assert "structuredContent" not in outcome["result"]
        done, told, structured = (block["text"] for block in outcome["result"]["content"])
        assert done == "done" and "no need to call it again" in told
        assert json.loads(structured) == {"reference": "[TICKET_0]", "n": 7}
    schema = tools_of(after)["crm__look"]["outputSchema"]
    assert schema["properties"]["reference"] == {"type": ["integer", "string"]}
    assert "error" not in third and not third["result"].get("isError")
    assert third["result"]["structuredContent"] == {"reference": "[TICKET_0]", "n": 7}
    assert "71234567" not in json.dumps([before, first, second, after, third])


@each_client
def test_a_client_that_never_asked_for_the_list_gets_a_result_that_fits_what_it_would_get(
    client: Client, tmp_path: Path
) -> None:
    crm = Upstream("crm", tmp_path)
    crm.tool("look", answer(ORDER, "done"), outputSchema=SCHEMA).tool("number", answer(REFERENCE), outputSchema=NEUTRAL)
    looked, number = client(gateway(tmp_path, crm, **TICKETS), [("crm__look", {}), ("crm__number", {})])
    assert "error" not in looked and looked["result"]["structuredContent"]["owner"] == "[EMAIL_2]"
    assert "error" not in number and number["result"]["isError"] is True


def test_the_client_is_told_once_that_the_list_changed(peers: Processes, tmp_path: Path) -> None:
    crm = Upstream("crm", tmp_path, capabilities={"tools": {"listChanged": True}})
    crm.tool("look", answer(REFERENCE), outputSchema=NEUTRAL).tool("plain", answer(REFERENCE))
    driver = peers.gateway({"upstreams": {"crm": crm.config()}, **TICKETS})
    driver.initialize()
    driver.result("tools/list")
    assert driver.tool("crm__plain")["structuredContent"] == {"reference": "[TICKET_0]", "n": 7}
    assert driver.tool("crm__look")["isError"] is True
    driver.wait(lambda message: message.get("method") == "notifications/tools/list_changed")
    assert driver.tool("crm__look")["isError"] is True
    driver.result("tools/list")
    assert "isError" not in driver.tool("crm__look")
    assert len(driver.notifications("notifications/tools/list_changed")) == 1


def test_a_word_that_became_known_where_the_schema_lists_it_is_given_as_text(peers: Processes, tmp_path: Path) -> None:
    """A choice that nothing made personal when the tools were listed."""
    schema = {"type": "object", "properties": {"label": {"enum": ["swordfish77x", "none"]}}}
    crm = Upstream("crm", tmp_path)
    crm.tool("leak", answer({"password": "swordfish77x"}))
    crm.tool("look", answer({"label": "swordfish77x"}), outputSchema=schema)
    driver = peers.gateway({"upstreams": {"crm": crm.config()}})
    driver.initialize()
    driver.result("tools/list")
    assert driver.tool("crm__look")["structuredContent"] == {"label": "swordfish77x"}
    driver.tool("crm__leak")
    hidden = driver.tool("crm__look")
    assert hidden["isError"] is True and "structuredContent" not in hidden and "swordfish" not in json.dumps(hidden)
    [tool] = [tool for tool in driver.result("tools/list")["tools"] if tool["name"] == "crm__look"]
    assert fits(tool["outputSchema"], driver.tool("crm__look")["structuredContent"])


# -- forms

FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "to": {"type": "string", "format": "email", "title": "To", "default": "kim@acme-corp.com"},
        "short": {"type": "string", "minLength": 1, "maxLength": 4},
        "who": {"type": "string", "enum": ["kim@acme-corp.com", "lee@acme-corp.com"]},
        "ticket": {"type": "integer", "minimum": 0, "default": 71234567},
        "count": {"type": "integer", "default": 3},
    },
    "required": ["to"],
}


def test_a_form_takes_tokens_and_keeps_its_choices_and_types(peers: Processes, tmp_path: Path) -> None:
    crm = Upstream("crm", tmp_path)
    crm.tool(
        "ask",
        [
            {"ask": "elicitation/create", "params": {"message": "Who?", "requestedSchema": FORM}},
            {"result": {"content": [], "structuredContent": {"said": "$answer"}}},
        ],
    )
    driver = peers.gateway({"upstreams": {"crm": crm.config()}, **TICKETS})
    shown: list[Message] = []

    def fill(request: Message) -> Message:
        shown.append(request["params"]["requestedSchema"])
        return {"action": "accept", "content": {"to": "[EMAIL_0]", "who": "[EMAIL_1]", "ticket": 71234567}}

    driver.answers["elicitation/create"] = fill
    driver.initialize(capabilities={"elicitation": {}})
    driver.tool("crm__ask")
    assert shown == [
        {
            **FORM,
            "properties": {
                "to": {"type": "string", "title": "To", "default": "[EMAIL_0]"},
                "short": {"type": "string"},
                "who": {"type": "string", "enum": ["[EMAIL_0]", "[EMAIL_1]"]},
                "ticket": {"type": "integer", "minimum": 0},
                "count": {"type": "integer", "default": 3},
            },
        }
    ]
    [filled] = [message["result"] for message in crm.received() if "result" in message]
    assert filled["content"] == {"to": "kim@acme-corp.com", "who": "lee@acme-corp.com", "ticket": 71234567}


# -- caches


@pytest.mark.parametrize(("said", "scope"), [("mail kim@acme-corp.com", "private"), ("nothing", "public")])
def test_what_holds_tokens_is_for_no_shared_cache(peers: Processes, tmp_path: Path, said: str, scope: str) -> None:
    cached = {"ttlMs": 1000, "cacheScope": "public"}
    crm = Upstream("crm", tmp_path)
    crm.resource("mem://r", [{"result": {"contents": [{"uri": "mem://r", "text": said}], **cached}}])
    crm.tool("t", description=said)
    crm.on("tools/list", [{"result": {"tools": crm.tools, **cached}}])
    driver = peers.gateway({"upstreams": {"crm": crm.config()}})
    driver.initialize()
    driver.result("resources/list")
    for result in (driver.result("resources/read", {"uri": "mem://r"}), driver.result("tools/list")):
        assert (result["cacheScope"], result["ttlMs"]) == (scope, 1000)
