"""Headers that repeat a message: what they say, which arguments they say it of, and when they disagree.

The official SDK's functions are the oracle.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared import inbound

from cloakllm_gateway.protocol import eras, jsonrpc
from cloakllm_gateway.protocol.headers import Damaged, Declared, declared, decoded, encoded, fault, mirrored, mismatch

VERSION = "2026-07-28"
META = {"_meta": {eras.VERSION: VERSION, "io.modelcontextprotocol/clientCapabilities": {}}}

texts = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(
    ["", " padded ", "line1\nline2", "=?base64?literal?=", "=?base64?a\nb?=", "plain", "\t", "a\tb", "=?BASE64?QQ==?="]
)


def lower(sent: dict[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in sent.items()}


def marked(mark: object = "Region", type: object = "string") -> dict[str, Any]:
    return {"type": type, "x-mcp-header": mark}


# -- values ----------------------------------------------------------------------------------------


@given(texts)
def test_a_value_comes_back_from_its_header(value: str) -> None:
    assert decoded(encoded(value)) == value


@given(texts)
def test_a_header_is_printable_ascii_without_blanks_around_it(value: str) -> None:
    said = encoded(value)
    assert said.isascii() and (said.isprintable() or not said)
    assert said == said.strip()


@given(texts)
def test_values_are_encoded_as_the_sdk_decodes_them(value: str) -> None:
    assert inbound.decode_header_value(encoded(value)) == value
    assert decoded(inbound.encode_header_value(value)) == value


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("us-west1", "us-west1"),
        ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        (" padded ", "=?base64?IHBhZGRlZCA=?="),
        ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
        ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
    ],
)
def test_the_examples_of_the_specification(value: str, said: str) -> None:
    assert encoded(value) == said


@pytest.mark.parametrize(
    "said", ["=?base64?QQ?=", "=?base64?QR==?=", "=?base64?/w==?=", "=?base64?Q Q=?=", "=?base64?é?="]
)
def test_a_damaged_header_is_no_value_and_its_error_holds_none(said: str) -> None:
    with pytest.raises(Damaged) as caught:
        decoded(said)
    assert said[9:-2] not in str(caught.value)
    assert caught.value.__context__ is None


# -- marks -----------------------------------------------------------------------------------------

marks = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["string", "integer", "boolean", "number", "object", ["string"], None]),
        "x-mcp-header": st.sampled_from(["Region", "region", "Zone", "", "not a token", "é", 5, None, "a\r\nb"]),
        "default": st.just({"x-mcp-header": 5}),
        "enum": st.just([{"x-mcp-header": 5}]),
    },
)
schemas = st.recursive(
    marks,
    lambda inner: st.fixed_dictionaries(
        {"properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=3)},
        optional={
            "items": inner,
            "anyOf": st.lists(inner, max_size=2),
            "$defs": st.dictionaries(st.sampled_from("ab"), inner, max_size=1),
            "if": inner,
            "x-mcp-header": st.just("Root"),
        },
    ),
    max_leaves=6,
)


@given(schemas)
def test_marks_are_those_the_sdk_finds_and_wrong_where_it_says_so(schema: dict[str, Any]) -> None:
    wrong = inbound.find_invalid_x_mcp_header(schema) is not None
    assert bool(fault(schema)) == wrong
    expected = {} if wrong else inbound.x_mcp_header_map(schema)
    assert {found.path: found.header for found in declared(schema)} == {
        path: f"Mcp-Param-{mark}" for path, mark in expected.items()
    }


@pytest.mark.parametrize(
    "schema",
    [
        marked(),
        {"properties": {"a": marked("")}},
        {"properties": {"a": marked("no token")}},
        {"properties": {"a": marked(5)}},
        {"properties": {"a": marked(type="number")}},
        {"properties": {"a": marked(type=["string", "null"])}},
        {"properties": {"a": marked("Region"), "b": marked("REGION")}},
        {"properties": {"a": {"items": marked()}}},
        {"properties": {"a": {"anyOf": [marked()]}}},
        {"$defs": {"a": marked()}},
    ],
)
def test_a_schema_with_a_wrong_mark_declares_nothing(schema: dict[str, Any]) -> None:
    assert fault(schema) and declared(schema) == ()


@pytest.mark.parametrize("schema", [None, True, [], "x", {}, {"properties": []}, {"default": marked(5)}])
def test_a_schema_without_marks_has_no_fault(schema: object) -> None:
    assert not fault(schema) and declared(schema) == ()


def test_a_mark_in_nested_properties_has_a_path() -> None:
    schema = {"properties": {"where": {"properties": {"region": marked()}}, "n": marked("Count", "integer")}}
    assert set(declared(schema)) == {
        Declared("Mcp-Param-Region", ("where", "region")),
        Declared("Mcp-Param-Count", ("n",)),
    }


# -- messages --------------------------------------------------------------------------------------

SCHEMA = {
    "properties": {
        "s": marked("Text"),
        "n": marked("Count", "integer"),
        "b": marked("Flag", "boolean"),
        "o": {"properties": {"in": marked("Inner")}},
    }
}
DECLARED = declared(SCHEMA)
scalars = texts | st.integers() | st.booleans() | st.none()
arguments = st.fixed_dictionaries(
    {},
    optional={
        "s": texts | st.none(),
        "n": st.integers() | st.integers(-(2**53) + 1, 2**53 - 1).map(float) | st.none(),
        "b": st.booleans() | st.none() | st.just([]),
        "o": scalars | st.fixed_dictionaries({}, optional={"in": texts | st.none()}),
        "x": scalars,
    },
)


def call(arguments: dict[str, Any]) -> dict[str, Any]:
    params: dict[str, Any] = jsonrpc.decode(json.dumps({**META, "name": "tool", "arguments": arguments}).encode())
    return params


@given(arguments)
def test_the_sdk_agrees_with_our_headers(arguments: dict[str, Any]) -> None:
    sent = lower(mirrored("tools/call", call(arguments), DECLARED))
    body = {"method": "tools/call", "params": {**META, "name": "tool", "arguments": arguments}}
    assert isinstance(inbound.classify_inbound_request(body, headers=sent), inbound.InboundModernRoute)
    assert inbound.validate_mcp_param_headers(SCHEMA, arguments, sent) is None


@given(arguments)
def test_we_agree_with_the_headers_of_the_sdk(arguments: dict[str, Any]) -> None:
    sent = lower(inbound.mcp_param_headers(inbound.x_mcp_header_map(SCHEMA), arguments))
    sent |= {"mcp-protocol-version": VERSION, "mcp-method": "tools/call", "mcp-name": "tool"}
    assert mismatch("tools/call", call(arguments), sent, DECLARED) is None


@given(arguments, st.sampled_from(["s", "n", "b"]), scalars.filter(lambda value: value is not None))
def test_a_changed_argument_is_told_by_its_header(arguments: dict[str, Any], name: str, value: object) -> None:
    sent = lower(mirrored("tools/call", call({**arguments, name: None}), DECLARED))
    header = {"s": "Text", "n": "Count", "b": "Flag"}[name]
    assert mismatch("tools/call", call({**arguments, name: value}), sent, DECLARED) == (
        f"the header Mcp-Param-{header} does not repeat the message"
    )
    sent[f"mcp-param-{header}".lower()] = encoded("another")
    assert mismatch("tools/call", call({**arguments, name: None}), sent, DECLARED) is not None


@pytest.mark.parametrize(
    ("method", "params", "name"),
    [
        ("tools/call", {"name": "échelle"}, "=?base64?w6ljaGVsbGU=?="),
        ("prompts/get", {"name": "greet"}, "greet"),
        ("resources/read", {"uri": "file:///a b"}, "file:///a b"),
        ("tasks/get", {"taskId": "t-1"}, "t-1"),
        ("tasks/update", {"taskId": "t-1"}, "t-1"),
        ("tools/list", {"name": "no"}, None),
        ("tasks/list", {}, None),
        ("tools/call", {}, None),
    ],
)
def test_the_name_header_repeats_what_a_request_is_about(method: str, params: dict[str, Any], name: str | None) -> None:
    sent = mirrored(method, {**META, **params})
    assert (sent["Mcp-Method"], sent["MCP-Protocol-Version"]) == (method, VERSION)
    assert sent.get("Mcp-Name") == name
    assert mismatch(method, {**META, **params}, lower(sent)) is None


@pytest.mark.parametrize("spelling", ["42", "42.0", "4.2e1", "420e-1"])
def test_a_whole_number_is_repeated_in_decimal_however_it_is_spelt(spelling: str) -> None:
    params = jsonrpc.decode(b'{"name": "tool", "arguments": {"n": %s}}' % spelling.encode())
    assert mirrored("tools/call", params, DECLARED)["Mcp-Param-Count"] == "42"


@pytest.mark.parametrize("value", [b"[1]", b"{}", b"null", b"1e400", b'"\\ud800"'])
def test_what_no_header_can_say_has_none(value: bytes) -> None:
    params = jsonrpc.decode(b'{"name": "tool", "arguments": {"s": %s, "n": %s}}' % (value, value))
    assert set(mirrored("tools/call", params, DECLARED)) == {"Mcp-Method", "Mcp-Name"}


@pytest.mark.parametrize("missing", ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Param-Text"])
def test_a_missing_header_is_named(missing: str) -> None:
    params = call({"s": "value"})
    sent = mirrored("tools/call", params, DECLARED)
    del sent[missing]
    assert mismatch("tools/call", params, lower(sent), DECLARED) == f"the header {missing} does not repeat the message"


def test_a_client_that_knows_no_tasks_need_not_name_them_but_must_not_name_another() -> None:
    params = {**META, "taskId": "t-1"}
    sent = lower(mirrored("tasks/get", params))
    assert mismatch("tasks/get", params, sent | {"mcp-name": "t-2"}) is not None
    del sent["mcp-name"]
    assert mismatch("tasks/get", params, sent) is None


def test_headers_that_nobody_declared_are_nobodys_business() -> None:
    params = call({"s": "value"})
    sent = lower(mirrored("tools/call", params)) | {"mcp-param-other": "x"}
    assert mismatch("tools/call", params, sent) is None
