"""Faults that users of gateways and maskers reported: what has to happen to the data.

Each test names the field case it answers.  Cases about the wire are in ``test_field_cases``.
"""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.peers.compare import TOKEN
from tests.peers.driver import Driver, Processes, text_of
from tests.peers.upstream import ECHO, Upstream, says, text

KIM, SSN = "kim@example.com", "536-22-8726"


def one(peers: Processes, upstream: Upstream, **config: Any) -> Driver:
    """A client in a session with a gateway in front of one upstream."""
    driver = peers.gateway({"upstreams": {upstream.name: upstream.config()}, **config})
    driver.initialize(capabilities={"elicitation": {}})
    return driver


def test_a_token_is_one_whole_word_of_its_own_grammar(peers: Processes, tmp_path: Path) -> None:
    """B05"""
    addresses = [f"user{n}@example.com" for n in range(11)]
    crm = Upstream("crm", tmp_path).tool("all", text("\n".join(addresses))).tool("send")
    driver = one(peers, crm)
    tokens = text_of(driver.tool("crm__all")).split("\n")
    assert tokens == [f"[EMAIL_{n}]" for n in range(11)]
    driver.tool("crm__send", a="[EMAIL_10]", b="x[EMAIL_1][EMAIL_10]y", d="MY_EMAIL_1_TEMPLATE")
    assert crm.arguments("send") == [
        {"a": addresses[10], "b": f"x{addresses[1]}{addresses[10]}y", "d": "MY_EMAIL_1_TEMPLATE"}
    ]
    for refused in ("EMAIL_1", "[EMAIL_100]", "x[EMAIL_1][EMAIL_100]"):
        result = driver.tool("crm__send", c=refused)
        assert result["isError"] is True and "[EMAIL_1]" in text_of(result)
    assert len(crm.arguments("send")) == 1


def test_a_value_has_one_token_for_the_whole_session(peers: Processes, tmp_path: Path) -> None:
    """B06"""
    crm = Upstream("crm", tmp_path)
    for n, said in enumerate(
        ("ana@example.com", "bob@example.com, ana@example.com", "cy@example.com, ana@example.com")
    ):
        crm.tool(f"r{n}", text(said))
    driver = one(peers, crm)
    assert text_of(driver.tool("crm__r0")) == "[EMAIL_0]"
    ids = [driver.ask("tools/call", {"name": f"crm__r{1 + n % 2}", "arguments": {}}) for n in range(10)]
    answers = {text_of(driver.answer(id)["result"]) for id in ids}
    assert len(answers) == 2
    assert {answer.split(", ")[1] for answer in answers} == {"[EMAIL_0]"}
    assert {answer.split(", ")[0] for answer in answers} == {"[EMAIL_1]", "[EMAIL_2]"}


def test_text_that_looks_like_a_token_is_data(peers: Processes, tmp_path: Path) -> None:
    """B09"""
    secret = "ghp" + "_Ab3dE5fGh7Jk9Lm2Np4Qr6St8Uv1Wx3Yz5Bc"
    said = f"Template uses [EMAIL_0] literally. Real: {KIM}. Hidden: [SECRET_{secret}]"
    crm = Upstream("crm", tmp_path).tool("t", text(said)).tool("save", ECHO)
    driver = one(peers, crm)
    seen = text_of(driver.tool("crm__t"))
    literal, real, _ = TOKEN.findall(seen)
    assert literal == "[LITERAL_0]" and real.startswith("[EMAIL_")
    assert KIM not in seen and secret not in seen
    driver.tool("crm__save", text=seen)
    assert crm.arguments("save") == [{"text": said}]


def test_keys_are_data_and_no_key_excuses_its_value(peers: Processes, tmp_path: Path) -> None:
    """B25"""
    said = {KIM: {"role": "admin"}, "id": "bob@example.com", "type": "ann@example.com", "__proto__": "x"}
    crm = Upstream("crm", tmp_path).tool("t", text(json.dumps(said), structuredContent=said)).tool("save", ECHO)
    driver = one(peers, crm)
    result = driver.tool("crm__t")
    seen = result["structuredContent"]
    assert [TOKEN.sub("*", key) for key in seen] == ["*", "id", "type", "__proto__"]
    assert [TOKEN.sub("*", str(value)) for value in seen.values()] == ["{'role': 'admin'}", "*", "*", "x"]
    assert "example.com" not in text_of(result)
    driver.tool("crm__save", seen)
    assert list(crm.arguments("save")[0].items()) == list(said.items())


def test_every_copy_of_a_value_is_hidden_behind_one_number(peers: Processes, tmp_path: Path) -> None:
    """B26"""
    result = {
        "content": [
            {"type": "text", "text": f"SSN {SSN}"},
            {"type": "resource", "resource": {"uri": f"mem://{SSN}", "mimeType": "text/plain", "text": SSN}},
            {"type": "resource_link", "uri": "mem://x", "name": SSN, "description": SSN},
        ],
        "structuredContent": {"ssn": SSN},
        "_meta": {"x": SSN},
    }
    driver = one(peers, Upstream("crm", tmp_path).tool("t", [{"result": result}]))
    seen = json.dumps(driver.tool("crm__t"))
    assert SSN.encode() not in driver.received
    tokens = TOKEN.findall(seen)
    assert len(tokens) == 7
    assert all(re.fullmatch(r"\[SSN_0(_\d+)?\]", token) for token in tokens)


PNG = base64.b64encode(
    b"\x89PNG\r\n\x1a\n" + b"gAAAAABl" * 30 + b"\x00 4539148800000015 kim@example.com AKIAIOSFODNN7EXAMPLE"
)


def test_pictures_keep_their_bytes_and_texts_in_blobs_are_read(peers: Processes, tmp_path: Path) -> None:
    """B27"""
    image = {"type": "image", "mimeType": "image/png", "data": PNG.decode()}
    blob = {"uri": "f://a.csv", "mimeType": "text/csv", "blob": "a2ltQGV4YW1wbGUuY29tLDEK"}
    result = {"content": [image, {"type": "resource", "resource": blob}]}
    driver = one(peers, Upstream("crm", tmp_path).tool("t", [{"result": result}]))
    seen = driver.tool("crm__t")["content"]
    assert seen[0] == image
    assert base64.b64decode(seen[1]["resource"]["blob"]) == b"[EMAIL_0],1\n"


def test_errors_and_logs_are_data_too(peers: Processes, tmp_path: Path) -> None:
    """B34"""
    error = {"code": -32000, "message": f"duplicate key ({KIM})", "data": {"row": {"ssn": SSN}}}
    crm = Upstream("crm", tmp_path).tool("who", text(f"{KIM} {SSN}"))
    crm.tool("fail", [says("error", f"user {KIM}"), {"stderr": f"Traceback: {KIM}\n"}, {"error": error}])
    driver = one(peers, crm, log_level="debug")
    email, ssn = text_of(driver.tool("crm__who")).split(" ")
    response = driver.call("tools/call", {"name": "crm__fail", "arguments": {"to": email}})
    assert response["error"] == {"code": -32000, "message": f"duplicate key ({email})", "data": {"row": {"ssn": ssn}}}
    assert driver.notification("notifications/message")["data"] == f"user {email}"
    driver.finish()
    assert KIM.encode() not in driver.stderr + driver.received


def test_values_are_put_in_last_and_show_up_nowhere_else(peers: Processes, tmp_path: Path) -> None:
    """B35"""
    error = {"code": -32602, "message": f"invalid recipient {KIM}"}
    crm = Upstream("crm", tmp_path).tool("who", text(KIM)).tool("send", [{"error": error}])
    driver = one(peers, crm, log_level="debug")
    token = text_of(driver.tool("crm__who"))
    response = driver.call("tools/call", {"name": "crm__send", "arguments": {"to": token}})
    assert response["error"]["message"] == f"invalid recipient {token}"
    refused = driver.tool("crm__send", to=token, cc="[EMAIL_99]")
    assert refused["isError"] is True
    driver.finish()
    assert crm.arguments("send") == [{"to": KIM}]
    assert KIM.encode() not in driver.stderr + driver.received
    kept = [path for path in tmp_path.rglob("*") if path.is_file() and "upstream-crm" not in path.parts]
    assert [path for path in kept if KIM.encode() in path.read_bytes()] == []


def test_the_model_is_told_about_tokens_and_texts_that_describe_are_read(peers: Processes, tmp_path: Path) -> None:
    """B44"""
    dana = "dana@posteo-mail.de"
    plain = "Mails someone, e.g. jo@example.org; é \\ \u2192 1e3"
    crm = Upstream("crm", tmp_path, instructions=f"Owner Dana, {dana}").tool("mails", description=f"Mails {dana}")
    crm.tool("plain", description=plain)
    driver = peers.gateway({"upstreams": {"crm": crm.config()}})
    instructions = driver.initialize()["instructions"]
    owner, sentence = re.match(r".*Owner Dana, (\[EMAIL_\d+\])(.*)", instructions, re.DOTALL).groups()  # type: ignore[union-attr]
    assert "[EMAIL_0]" in sentence and len(sentence) < 400
    mails, described = driver.result("tools/list")["tools"]
    assert mails["description"] == f"Mails {owner}"
    assert described["description"] == plain
    assert mails["name"] == "crm__mails"


@pytest.mark.parametrize("sanitize", [True, False])
def test_what_the_model_writes_is_restored_and_never_masked(peers: Processes, tmp_path: Path, sanitize: bool) -> None:
    """B45"""
    arguments = {
        "to": "bob@example.com",
        "command": "curl -H 'Authorization: Bearer $(cat t)' https://example.com",
    }
    crm = Upstream("crm", tmp_path).tool("queue", text("queued for bob@example.com"))
    driver = one(peers, crm, sanitize=sanitize)
    result = driver.tool("crm__queue", arguments)
    assert crm.arguments("queue") == [arguments]
    assert text_of(result) == f"queued for {'[EMAIL_0]' if sanitize else 'bob@example.com'}"
