"""What a request is refused for before anything is done about it."""

from __future__ import annotations

from typing import Any

from cloakllm_gateway.core.reception import Fault, fault
from cloakllm_gateway.protocol import eras
from cloakllm_gateway.protocol.eras import Era
from cloakllm_gateway.protocol.jsonrpc import METHOD_NOT_FOUND, Request


def request(method: str, version: str = "2026-07-28", **params: Any) -> Request:
    envelope = {eras.VERSION: version, eras.CAPABILITIES: {}}
    return Request(1, method, {**params, "_meta": envelope})


def headers(method: str, version: str = "2026-07-28") -> dict[str, str]:
    return {"mcp-protocol-version": version, "mcp-method": method}


def code(found: Fault | None) -> int | None:
    return None if found is None else found.code


def test_an_unknown_version_is_told_those_that_discovery_names() -> None:
    found = fault(Era.STATELESS, request("tools/list", "v999"), headers("tools/list", "v999"))
    assert found is not None and found.code == eras.UNSUPPORTED_VERSION
    assert found.data == {"supported": list(eras.STATELESS_VERSIONS), "requested": "v999"}


def test_headers_that_say_another_version_are_the_fault_before_the_version_is() -> None:
    found = fault(Era.STATELESS, request("tools/list", "v999"), headers("tools/list"))
    assert code(found) == eras.HEADER_MISMATCH


def test_a_handshake_that_says_it_is_stateless_is_a_method_that_does_not_exist() -> None:
    assert code(fault(Era.STATELESS, request("initialize"), headers("initialize"))) == METHOD_NOT_FOUND
    handshake = Request(1, "initialize", {"protocolVersion": "2025-11-25"})
    assert code(fault(Era.STATELESS, handshake)) == eras.UNSUPPORTED_VERSION


def test_without_headers_nothing_has_to_be_repeated() -> None:
    assert fault(Era.STATELESS, request("tools/list")) is None
    assert fault(Era.STATELESS, request("tools/list"), headers("tools/list")) is None
    assert code(fault(Era.STATELESS, request("tools/list"), {})) == eras.HEADER_MISMATCH
