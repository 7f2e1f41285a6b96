"""What the gateway says when something fails holds no value: not the one it restored, not what made it fail.

Errors to the client, the log on standard error and the audit log are read, in a session in which every call fails in
a way of its own, and in sessions that fail to begin.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.hostile.scene import KIM, honest, meet, shown
from tests.peers.driver import Processes
from tests.peers.upstream import Action, Upstream
from tests.peers.values import Values, exposed, readings, values

DONE: Action = {"result": {"content": []}}


def line(text: str) -> Action:
    return {"write": text + "\n"}


#: What can become of a call that carried a value; ``{{to}}`` is that value.
FAILURES: dict[str, list[Action]] = {
    "the_request_thrown_back": [{"error": {"code": -32603, "message": "{{to}}", "data": "$params"}}],
    "the_request_as_the_result": [{"result": "$params"}],
    "a_result_that_is_a_text": [{"result": "{{to}}"}],
    "a_result_that_is_a_list": [{"result": ["{{to}}"]}],
    "an_error_that_is_a_text": [{"error": "{{to}}"}],
    "an_error_whose_code_is_a_text": [{"error": {"code": "{{to}}", "message": "{{to}}"}}],
    "neither_result_nor_error": [line('{"jsonrpc":"2.0","id":$ID,"{{to}}":"{{to}}"}')],
    "another_version": [line('{"jsonrpc":"{{to}}","id":$ID,"result":{}}'), DONE],
    "an_id_that_is_the_value": [line('{"jsonrpc":"2.0","id":"{{to}}","result":{}}'), DONE],
    "a_method_that_is_no_text": [line('{"jsonrpc":"2.0","id":9,"method":["{{to}}"]}'), DONE],
    "params_that_are_a_list": [line('{"jsonrpc":"2.0","method":"notifications/message","params":["{{to}}"]}'), DONE],
    "no_json": [line('{"id":$ID,"result":{"content":[{"type":"text","text":"{{to}}'), DONE],
    "a_batch": [line('[{"jsonrpc":"2.0","id":$ID,"result":{"to":"{{to}}"}}]'), DONE],
    "a_content_that_is_none": [{"result": {"content": "{{to}}", "structuredContent": ["{{to}}"]}}],
    "a_question_that_is_refused": [{"ask": "made/up", "params": {"of": "{{to}}"}}, {"result": {"said": "$answer"}}],
    "a_question_that_is_none": [{"ask": "sampling/createMessage", "params": {"messages": "{{to}}"}}, DONE],
    "progress_of_nobody": [
        {"notify": "notifications/progress", "params": {"progressToken": "{{to}}", "progress": "{{to}}"}}, DONE],
    "an_end_of_nobody": [
        {"notify": "notifications/cancelled", "params": {"requestId": "{{to}}", "reason": "{{to}}"}}, DONE],
    "a_crash_with_last_words": [{"stderr": "Traceback: {{to}}"}, {"write": '{"half":"{{to}}'}, {"crash": 3}],
}  # fmt: skip


@pytest.mark.parametrize("field", ["email", "card", "name"])
def test_a_call_that_fails_shows_no_value_it_carried(peers: Processes, tmp_path: Path, field: str) -> None:
    """A name is known by its key alone: nothing but the vault could tell that it is one."""
    value = getattr(KIM, field)
    row = {"email": KIM.email, "first_name": KIM.name, "card": KIM.card}
    crm = Upstream("crm", tmp_path).tool("record", [{"result": {"content": [], "structuredContent": row}}])
    for tool, actions in FAILURES.items():
        crm.tool(tool, actions)
    driver = meet(peers, crm)
    driver.call("logging/setLevel", {"level": "debug"})
    told = driver.tool("crm__record")["structuredContent"]
    token = dict(zip(row.values(), told.values(), strict=True))[value]
    answers = {}
    for tool in FAILURES:
        answers[tool] = driver.ask("tools/call", {"name": f"crm__{tool}", "arguments": {"to": token}})
        driver.answer(answers[tool])
    driver.finish()
    assert {tool: len(driver.responses(id)) for tool, id in answers.items()} == dict.fromkeys(FAILURES, 1)
    assert {tool: crm.arguments(tool) for tool in FAILURES} == {tool: [{"to": value}] for tool in FAILURES}
    for seen in (bytes(driver.received), bytes(driver.stderr), logged(tmp_path)):
        assert exposed([value], readings(seen)) == []


def logged(folder: Path) -> bytes:
    files = list(folder.glob("state-*/audit/*.jsonl"))
    assert files
    return b"\n".join(path.read_bytes() for path in files)


def greets(**members: Any) -> dict[str, list[Action]]:
    hello = {"protocolVersion": "$version", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}}
    return {"initialize": [{"result": {**hello, **members}}]}


def failing(v: Values) -> dict[str, dict[str, list[Action]]]:
    """What an upstream can do wrong before its first call: what it does for these methods."""
    refused: list[Action] = [{"error": {"code": -32000, "message": v.text, "data": {v.email: v.text}}}]
    return {
        "refuses": {"initialize": refused},
        "another version": greets(protocolVersion=v.email),
        "a version that is none": greets(protocolVersion=[v.email]),
        "capabilities that are none": greets(capabilities=v.text),
        "a name that is none": greets(serverInfo=v.text),
        "instructions that are none": greets(instructions={v.email: v.text}),
        "a greeting that is none": {"initialize": [{"result": v.text}]},
        "no greeting": {"initialize": [{"stderr": v.text + "\n"}, {"crash": 2}]},
        "lists refused": {**greets(), "tools/list": refused},
        "a list that is none": {**greets(), "tools/list": [{"result": {"tools": v.text}}]},
        "items that are none": {**greets(), "tools/list": [{"result": {"tools": [v.text, {"name": [v.text]}, {}]}}]},
        "schemas that are none": {
            **greets(),
            "tools/list": [{"result": {"tools": [{"name": "t", "inputSchema": v.text, "outputSchema": [v.text]}]}}],
        },
        "a cursor that is none": {**greets(), "tools/list": [{"result": {"tools": [], "nextCursor": {"a": v.text}}}]},
    }  # fmt: skip


def test_sessions_that_fail_to_begin_show_no_value(peers: Processes, tmp_path: Path) -> None:
    """One upstream for each fault, in one session, beside one that is in order: the client is told that one's tools."""
    faults = list(failing(KIM))
    planted = {fault: values(n) for n, fault in enumerate(faults)}
    upstreams = [honest(tmp_path)]
    for n, fault in enumerate(faults):
        upstreams.append(Upstream(f"odd{n}", tmp_path))
        for method, actions in failing(planted[fault])[fault].items():
            upstreams[-1].on(method, actions)
    driver = meet(peers, *upstreams, startup_wait=3)
    assert {tool["name"] for tool in driver.result("tools/list")["tools"]} >= {"crm__lookup", "crm__save"}
    for n in range(len(faults)):
        driver.call("tools/call", {"name": f"odd{n}__t", "arguments": {}})
    driver.finish()
    assert all(upstream.received("initialize") for upstream in upstreams)
    seen = readings(b"\n".join((bytes(driver.received), bytes(driver.stderr), logged(tmp_path))))
    assert [fault for fault in faults if exposed(planted[fault].by_shape, seen)] == []


#: Where a client can write a value that nobody has to read.
WRITTEN: dict[str, dict[str, Any]] = {
    "method": {"method": "$"},
    "tool": {"method": "tools/call", "params": {"name": "$"}},
    "prompt": {"method": "prompts/get", "params": {"name": "$"}},
    "uri": {"method": "resources/read", "params": {"uri": "$"}},
    "cursor": {"method": "tools/list", "params": {"cursor": "$"}},
    "level": {"method": "logging/setLevel", "params": {"level": "$"}},
    "task": {"method": "tasks/get", "params": {"taskId": "$"}},
    "reference": {"method": "completion/complete", "params": {"ref": {"type": "$", "name": "$"}, "argument": "$"}},
    "arguments": {"method": "tools/call", "params": {"name": "crm__save", "arguments": "$"}},
    "params": {"method": "tools/call", "params": ["$"]},
    "version": {"jsonrpc": "$", "method": "ping"},
    "state": {"method": "tools/call", "params": {"name": "crm__save", "requestState": "$", "inputResponses": "$"}},
    "meta": {"method": "ping", "params": {"_meta": {"io.modelcontextprotocol/protocolVersion": "$"}}},
    "hello": {"method": "initialize", "params": {"protocolVersion": "$", "clientInfo": {"name": "$"}}},
}


def test_what_a_client_writes_where_nobody_reads_it_is_in_no_log_and_in_no_answer(
    peers: Processes, tmp_path: Path
) -> None:
    """In an answer it would be nothing new to who wrote it; but answers are kept, and shown to others."""
    driver = meet(peers, honest(tmp_path))
    shown(driver)
    answers: list[bytes] = []
    for id, request in enumerate(WRITTEN.values(), 100):
        for n, value in enumerate((*KIM.by_shape, KIM.name)):
            line = json.dumps({"jsonrpc": "2.0", "id": f"{id}-{n}", **request}).replace('"$"', json.dumps(value))
            driver.send_raw(line.encode() + b"\n")
            answers.append(json.dumps(driver.answer(f"{id}-{n}")).encode())
        driver.send_raw(f'{{"jsonrpc":"2.0","id":"{KIM.email}","method":3}}\n{KIM.text}\n'.encode())
        driver.notify("notifications/cancelled", {"requestId": KIM.email, "reason": KIM.text})
        driver.notify(f"notifications/{KIM.email}", {"of": KIM.text})
    driver.finish()
    for seen in (bytes(driver.stderr), logged(tmp_path), b"\n".join(answers)):
        assert exposed((*KIM.by_shape, KIM.name), readings(seen)) == []
