"""Numbers through a whole gateway: hidden ones come back numbers, the others arrive as they were written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.peers.driver import Driver, Processes
from tests.peers.upstream import ECHO, Upstream

#: Numbers as somebody may write them, and a value beside them that has to be hidden.
WRITTEN = '"id":1915883588174806058,"p":1e3,"r":0.10,"one":1.0,"long":1.00000000000000000001,"z":-0,"mail":"%s"'
MAIL = "kim@acme-corp.com"
NUMBERS = '{"card":4111111111111111,"mobile":15552345678,"tickets":[71234567,71234567.0,7.1234567e7],"age":41}'


@pytest.fixture
def crm(tmp_path: Path) -> Upstream:
    crm = Upstream("crm", tmp_path).tool("save", ECHO)
    text = json.dumps("{" + WRITTEN % MAIL + "}")
    content = '[{"type":"text","text":' + text + "}]"
    crm.tool("spelled", [{"raw_result": '{"content":' + content + ',"structuredContent":{' + WRITTEN % MAIL + "}}"}])
    crm.tool("look", [{"raw_result": '{"content":[],"structuredContent":' + NUMBERS + "}"}])
    return crm


@pytest.fixture
def driver(peers: Processes, crm: Upstream) -> Driver:
    detection = {"ner_entity_types": [], "custom_patterns": [["TICKET", r"\b7[.0-9]{7,}(?:e7)?\b"]]}
    driver = peers.gateway({"upstreams": {"crm": crm.config()}, "detection": detection})
    driver.initialize()
    return driver


def call(driver: Driver, tool: str, arguments: str) -> None:
    """Call a tool with arguments that are spelled exactly so."""
    params = '{"name":"' + tool + '","arguments":' + arguments + "}"
    driver.send_raw(b'{"jsonrpc":"2.0","id":"raw","method":"tools/call","params":' + params.encode() + b"}\n")
    assert "result" in driver.answer("raw")


def test_a_number_that_was_hidden_comes_back_a_number_in_its_own_spelling(driver: Driver, crm: Upstream) -> None:
    """Field case A26"""
    shown = driver.tool("crm__look")["structuredContent"]
    assert shown["card"] == "[CREDIT_CARD_0]" and shown["mobile"] == "[PHONE_0]" and shown["age"] == 41
    assert all(isinstance(ticket, str) and ticket.startswith("[TICKET_") for ticket in shown["tickets"])
    call(driver, "crm__save", json.dumps({"again": shown}, separators=(",", ":")))
    assert f'"arguments":{{"again":{NUMBERS}}}'.encode() in crm.received_bytes()


def test_inside_a_text_it_comes_back_as_text(driver: Driver, crm: Upstream) -> None:
    driver.tool("crm__look")
    driver.tool(
        "crm__save", note="card [CREDIT_CARD_0], then", phones={"[PHONE_0]": "[PHONE_0]"}, json='{"n":"[PHONE_0]"}'
    )
    assert crm.arguments("save") == [
        {"note": "card 4111111111111111, then", "phones": {"15552345678": 15552345678}, "json": '{"n":15552345678}'}
    ]


def test_numbers_that_say_nothing_personal_arrive_as_they_were_written(driver: Driver, crm: Upstream) -> None:
    """Field case A39"""
    driver.tool("crm__spelled")
    spelled = "{" + WRITTEN % "[EMAIL_0]" + "}"
    assert b'"structuredContent":' + spelled.encode() in driver.received
    assert b'"text":' + json.dumps(spelled).encode() in driver.received
    call(driver, "crm__save", spelled)
    assert ('"arguments":{' + WRITTEN % MAIL + "}").encode() in crm.received_bytes()


def test_what_a_model_computes_with_stays_and_equal_values_stay_equal(peers: Processes, tmp_path: Path) -> None:
    """Field case B43"""
    rows = [
        {
            "id": "c-123",
            "name_first": "Kim",
            "email": MAIL,
            "amount": "1,200.50 EUR",
            "due": "2026-03-01",
            "city": "Lyon",
        },
        {"id": "c-124", "email": MAIL, "amount": "80.00 EUR", "due": "2026-02-01"},
    ]
    crm = Upstream("crm", tmp_path).tool("due", [{"result": {"content": [], "structuredContent": {"rows": rows}}}])
    driver = peers.gateway({"upstreams": {"crm": crm.config()}})
    driver.initialize()
    shown = driver.tool("crm__due")["structuredContent"]["rows"]
    hidden = {"email": "[EMAIL_0]"}
    assert shown == [{**rows[0], **hidden, "name_first": "[PERSON_0]"}, {**rows[1], **hidden}]
