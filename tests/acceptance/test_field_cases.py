"""Faults that users of gateways and proxies reported: what has to happen on the wire.

Each test names the field case it answers.  Cases about the data itself are in ``test_field_cases_data``.
"""

from __future__ import annotations

import base64
import json
import os
import re
import selectors
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.peers import proofs
from tests.peers.driver import Processes, message, text_of
from tests.peers.upstream import ECHO, Upstream, says, text

KIM = "kim@example.com"


def one(peers: Processes, upstream: Upstream, entry: dict[str, Any] | None = None, **options: Any) -> Any:
    """A client in a session with a gateway in front of one upstream."""
    env = options.pop("env", None)
    driver = peers.gateway({"upstreams": {upstream.name: upstream.config(**(entry or {}))}, **options}, env=env)
    driver.initialize()
    return driver


def test_lines_that_are_no_protocol_go_to_the_log_masked(peers: Processes, tmp_path: Path) -> None:
    """A01"""
    acme = Upstream("acme", tmp_path).tool("t", [{"write": "[cache] warm\n\n"}, *text("still here")])
    acme.behave(at_start=[{"write": f"Acme CRM MCP v1.2 starting for {KIM}\n\n"}])
    driver = one(peers, acme)
    assert text_of(driver.tool("acme__t")) == text_of(driver.tool("acme__t")) == "still here"
    assert driver.noise == []
    assert KIM.encode() not in driver.stderr + driver.received


LOUD = """
import sys, os
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name in ("phonenumbers", "re2", "filelock", "stdnum"):
            print("downloading model 10%")
            os.write(1, b"straight to the descriptor\\n")
sys.meta_path.insert(0, Finder())
"""


def test_standard_output_is_protocol_whatever_a_library_prints(peers: Processes, tmp_path: Path) -> None:
    """A02"""
    (tmp_path / "loud").mkdir()
    (tmp_path / "loud" / "sitecustomize.py").write_text(LOUD)
    path = os.pathsep.join(filter(None, [str(tmp_path / "loud"), os.environ.get("PYTHONPATH")]))
    crm = Upstream("crm", tmp_path).tool("t", text(f"{KIM} +49 30 9018 2000"))
    driver = one(peers, crm, env={"PYTHONPATH": path}, log_level="debug")
    driver.result("tools/list")
    driver.tool("crm__t")
    driver.finish()
    assert b"downloading model" in driver.stderr
    assert driver.noise == []
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in driver.received.splitlines())


def test_a_message_may_be_longer_than_a_buffer(peers: Processes, tmp_path: Path) -> None:
    """A03"""
    crm = Upstream("crm", tmp_path).tool("big", text("x" * 300_000 + " " + KIM)).tool("small")
    crm.tool("take", ECHO, description="d" * 100_000)
    driver = one(peers, crm)
    big = driver.ask("tools/call", {"name": "crm__big", "arguments": {}})
    small = driver.ask("tools/call", {"name": "crm__small", "arguments": {}})
    assert text_of(driver.answer(small)["result"]) == "done"
    assert text_of(driver.answer(big)["result"]) == "x" * 300_000 + " [EMAIL_0]"
    assert len(driver.result("tools/list")["tools"][2]["description"]) == 100_000
    driver.tool("crm__take", text="y" * 300_000)
    assert crm.arguments("take") == [{"text": "y" * 300_000}]


def test_a_line_ends_at_a_line_feed_and_at_no_other_separator(peers: Processes, tmp_path: Path) -> None:
    """A05"""
    said = "before\u2028after pat@example.org\u2029end\u0085x"
    line = '{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"' + said + '\\u000b\\u001d"}]}}\n'
    driver = one(peers, Upstream("crm", tmp_path).tool("t", [{"write": line}]))
    shown = "before\u2028after [EMAIL_0]\u2029end\u0085x\u000b\u001d"
    assert text_of(driver.tool("crm__t")) == shown
    assert "\u2028" not in driver.received.decode() and "\u2029" not in driver.received.decode()


def test_one_bad_byte_spoils_one_message_at_most(peers: Processes, tmp_path: Path) -> None:
    """A06"""
    bad = b'{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"caf\xe9 lee@example.com"}]}}\n'
    crm = Upstream("crm", tmp_path).tool("bad", [{"write_base64": base64.b64encode(bad).decode()}]).tool("good")
    driver = one(peers, crm)
    assert text_of(driver.tool("crm__bad")) == "caf\ufffd [EMAIL_0]"
    assert text_of(driver.tool("crm__good")) == "done"


def test_text_is_utf8_whatever_the_code_page(peers: Processes, tmp_path: Path) -> None:
    """A08"""
    note = f"Müller \u2605 東京 \U0001f389 \u2192 {KIM}"
    crm = Upstream("crm", tmp_path).tool("add_note", ECHO)
    crm.tool("encoding", [{"result": {"content": [], "structuredContent": {"is": "$encoding"}}}])
    driver = one(peers, crm, env={"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0", "LC_ALL": "C"})
    result = driver.tool("crm__add_note", text=note)
    assert crm.arguments("add_note") == [{"text": note}]
    assert result["structuredContent"] == {"arguments": {"text": note.replace(KIM, "[EMAIL_0]")}}
    assert driver.tool("crm__encoding")["structuredContent"] == {"is": "utf-8"}


def test_every_malformed_line_gets_one_error_and_goes_nowhere(peers: Processes, tmp_path: Path) -> None:
    """A10"""
    crm = Upstream("crm", tmp_path).tool("t")
    driver = one(peers, crm)
    driver.tool("crm__t")
    before, heard = crm.received_bytes(), len(driver.heard)
    lines = (
        "this is not json",
        '{"jsonrpc":"2.0","id":"five","method":123}',
        '{"jsonrpc":"2.0","id":"six","method":"tools/call","params":{"name":"crm__t","arguments":"oops"}}',
        '{"jsonrpc":"2.0","id":null,"method":"ping"}',
        '{"jsonrpc":"2.0","id":"seven","method":"ping"}',
    )
    driver.send_raw("".join(line + "\n" for line in lines).encode())
    assert driver.answer("seven")["result"] == {}
    assert driver.answer("five")["error"]["code"] == -32600
    assert driver.answer("six")["error"]["code"] == -32602
    # A ping overtakes what was read before it, so the last error may come after its answer.
    driver.wait(lambda m: m["id"] is None and m["error"]["code"] == -32600, after=heard)
    nameless = [h.message["error"]["code"] for h in driver.heard[heard:] if h.message["id"] is None]
    assert sorted(nameless) == [-32700, -32600]
    assert len(driver.heard) - heard == 5
    assert crm.received_bytes() == before


def test_an_answer_has_the_id_of_its_request_and_its_type(peers: Processes, tmp_path: Path) -> None:
    """A11"""
    crm = Upstream("crm", tmp_path).tool("t", text("{{n}}"))
    driver = peers.gateway({"upstreams": {"crm": crm.config()}})
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    driver.answer(driver.ask("initialize", hello, id="init-\u03b1"))
    driver.notify("notifications/initialized")
    ids: list[str | int] = [1, "1", 0, "", 2**63, "\u03b1"]
    for id in ids:
        driver.ask("tools/call", {"name": "crm__t", "arguments": {"n": repr(id)}}, id=id)
    for id in ids:
        assert text_of(driver.answer(id)["result"]) == repr(id)


def test_two_requests_with_one_id_are_never_confused(peers: Processes, tmp_path: Path) -> None:
    """A12"""
    crm = Upstream("crm", tmp_path).tool("get", [{"wait": "tools/call", "name": "go"}, *text("of {{who}}")]).tool("go")
    driver = one(peers, crm)
    for who in ("ann", "bob"):
        driver.ask("tools/call", {"name": "crm__get", "arguments": {"who": who}}, id="same")
    driver.tool("crm__go")
    driver.wait(lambda m: m.get("id") == "same" and "result" in m)
    driver.call("ping")
    answers = driver.responses("same")
    assert [a["error"]["code"] for a in answers if "error" in a] == [-32600]
    assert [text_of(a["result"]) for a in answers if "result" in a] == ["of ann"]
    assert [a["who"] for a in crm.arguments("get")] == ["ann"]


def test_a_client_may_write_the_handshake_and_its_first_request_at_once(peers: Processes, tmp_path: Path) -> None:
    """A14"""
    crm = Upstream("crm", tmp_path).tool("t")
    driver = peers.gateway({"upstreams": {"crm": crm.config()}})
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    driver.send(
        {"jsonrpc": "2.0", "id": 0, **message("initialize", hello)},
        {"jsonrpc": "2.0", "id": 1, **message("tools/list")},
        message("notifications/initialized"),
        {"jsonrpc": "2.0", "id": 2, **message("ping")},
    )
    assert driver.answer(0)["result"]["protocolVersion"] == "2025-06-18"
    assert [tool["name"] for tool in driver.answer(1)["result"]["tools"]] == ["crm__t"]
    assert driver.answer(2)["result"] == {}
    methods = [m["method"] for m in crm.received() if m["method"] != "ping"]
    assert methods[:3] == ["initialize", "notifications/initialized", "tools/list"]
    assert methods.count("initialize") == 1


def test_a_killed_upstream_fails_its_calls_at_once_and_comes_back(peers: Processes, tmp_path: Path) -> None:
    """A16"""
    crm = Upstream("crm", tmp_path).announced().tool("who", text(KIM)).tool("send_mail", ECHO)
    crm.tool("slow", [says("info", "waiting"), {"wait": "never"}])
    driver = one(peers, crm)
    token = text_of(driver.tool("crm__who"))
    in_flight = driver.ask("tools/call", {"name": "crm__slow", "arguments": {}})
    driver.wait(lambda m: m.get("params", {}).get("data") == "waiting")
    heard = len(driver.heard)
    os.kill(crm.starts()[-1]["pid"], signal.SIGKILL)
    response = driver.answer(in_flight)
    assert "error" in response or response["result"]["isError"] is True
    driver.notification("notifications/message", after=heard)
    driver.tool("crm__send_mail", to=token)
    assert crm.arguments("send_mail") == [{"to": KIM}]
    assert len(crm.received("initialize")) == len(crm.starts()) == 2


def test_an_upstream_that_can_not_be_started_again_fails_fast(peers: Processes, tmp_path: Path) -> None:
    """A16, the crash loop"""
    crm = Upstream("crm", tmp_path).tool("t").tool("crash", [{"crash": 1}])
    driver = one(peers, crm)
    crm.behave(at_start=[{"crash": 1}]).write()
    for tool in ("crash", "t", "t", "t"):
        response = driver.call("tools/call", {"name": f"crm__{tool}", "arguments": {}}, timeout=3)
        assert "error" in response or response["result"]["isError"] is True
    assert driver.result("ping") == {}


def test_a_talkative_standard_error_blocks_nobody(peers: Processes, tmp_path: Path) -> None:
    """A17"""
    noise = [{"stderr": "x" * 150_000 + f" user={KIM} "}, {"stderr": f"DEBUG user={KIM} ...\n" * 4000}]
    crm = Upstream("crm", tmp_path).tool("ping_tool", [*noise, *text("pong")])
    driver = one(peers, crm)
    for _ in range(3):
        assert text_of(driver.tool("crm__ping_tool")) == "pong"
    driver.finish()
    assert b"crm" in driver.stderr
    assert KIM.encode() not in driver.stderr


LINUX = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs pidfd_open, which Linux has")
STUBBORN = pytest.mark.parametrize("ignore", [[], ["term", "eof"]], ids=["obedient", "stubborn"])


def wrapped(crm: Upstream) -> dict[str, Any]:
    """The upstream as the child of a shell, as `npx` and its like start one."""
    program = crm.config()
    quoted = " ".join(f"'{word}'" for word in (program["command"], *program["args"]))
    return {"command": "/bin/sh", "args": ["-c", f"exec 3<&0; {quoted} <&3 & wait"]}


@contextmanager
def expected_to_end(*pids: int) -> Iterator[None]:
    """Processes that run when the block begins and are gone at most 8 s after it."""
    watched = [os.pidfd_open(pid) for pid in pids]
    try:
        yield
        for pid, fd in zip(pids, watched, strict=True):
            with selectors.DefaultSelector() as selector:
                selector.register(fd, selectors.EVENT_READ)
                assert selector.select(timeout=8), f"process {pids.index(pid)} lives on"
    finally:
        for fd in watched:
            os.close(fd)


@LINUX
@STUBBORN
@pytest.mark.parametrize("end", ["closed", "terminated"])
def test_nothing_outlives_the_gateway(peers: Processes, tmp_path: Path, end: str, ignore: list[str]) -> None:
    """A18"""
    crm = Upstream("crm", tmp_path).tool("t").behave(ignore=ignore)
    driver = peers.gateway({"upstreams": {"crm": wrapped(crm)}})
    driver.initialize()
    driver.tool("crm__t")
    with expected_to_end(crm.starts()[0]["pid"]):
        if end == "terminated":
            driver.process.terminate()
            driver.exit_status(timeout=8)
        else:
            driver.finish(timeout=8)


#: A client of its own: starts the gateway it is told, shakes hands, says the pid, and waits for its end.
CLIENT = """
import json, subprocess, sys, threading
gateway = subprocess.Popen(json.loads(sys.argv[1]), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
gateway.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}).encode() + b"\\n")
gateway.stdin.flush()
gateway.stdout.readline()
print(json.dumps({"pid": gateway.pid}), flush=True)
threading.Event().wait(60)
"""


@LINUX
@STUBBORN
def test_nothing_outlives_a_killed_client(peers: Processes, tmp_path: Path, ignore: list[str]) -> None:
    """A18, SIGKILL of the client"""
    crm = Upstream("crm", tmp_path).tool("t").behave(ignore=ignore)
    quiet = {"state_dir": str(tmp_path / "state"), "detection": {"ner_entity_types": []}}
    gateway = proofs.command(tmp_path / "config.json", {"upstreams": {"crm": wrapped(crm)}, **quiet})
    client = peers.start([sys.executable, "-c", CLIENT, json.dumps(gateway)])
    pid = client.wait(lambda m: "pid" in m).message["pid"]
    with expected_to_end(pid, crm.starts()[0]["pid"]):
        client.process.kill()


def test_an_upstream_gets_the_environment_it_needs_and_no_secrets(peers: Processes, tmp_path: Path) -> None:
    """A19"""
    crm, mail, heir = (Upstream(name, tmp_path).tool("t") for name in ("crm", "mail", "heir"))
    entries = {
        "crm": crm.config(env={"CRM_KEY": "k1"}),
        "mail": mail.config(env={"MAIL_KEY": "k2"}),
        "heir": heir.config(inherit_env=True),
    }
    driver = peers.gateway({"upstreams": entries}, env={"OTHER_SECRET": "zzz"})
    driver.initialize()
    driver.tool("crm__t"), driver.tool("mail__t"), driver.tool("heir__t")
    environs = [u.starts()[0]["environ"] for u in (crm, mail, heir)]
    assert all({"PATH", "HOME"} <= environ.keys() for environ in environs)
    assert environs[0]["CRM_KEY"] == "k1" and "MAIL_KEY" not in environs[0]
    assert environs[1]["MAIL_KEY"] == "k2" and "CRM_KEY" not in environs[1]
    assert ["OTHER_SECRET" in environ for environ in environs] == [False, False, True]


def test_what_is_past_the_first_page_is_listed_and_works(peers: Processes, tmp_path: Path) -> None:
    """A21"""
    crm, other = Upstream("crm", tmp_path), Upstream("other", tmp_path).tool("t").prompt("p").resource("mem://other")
    for name in "abc":
        crm.tool(name, text(name)).prompt(name).resource(f"mem://{name}").template(f"mem://{name}/{{x}}")
    for method, member, items in (
        ("tools/list", "tools", crm.tools),
        ("prompts/list", "prompts", crm.prompts),
        ("resources/list", "resources", crm.resources),
        ("resources/templates/list", "resourceTemplates", crm.templates),
    ):
        crm.pages(method, member, {"": items[:2], "next": items[2:]})
    driver = peers.gateway({"upstreams": {"crm": crm.config(), "other": other.config()}})
    driver.initialize()

    def listed(method: str, member: str, key: str) -> list[str]:
        result = driver.result(method)
        items = result[member]
        while "nextCursor" in result:
            result = driver.result(method, {"cursor": result["nextCursor"]})
            items += result[member]
        return sorted(item[key] for item in items)

    assert listed("tools/list", "tools", "name") == ["crm__a", "crm__b", "crm__c", "other__t"]
    assert listed("prompts/list", "prompts", "name") == ["crm__a", "crm__b", "crm__c", "other__p"]
    assert listed("resources/list", "resources", "uri") == ["mem://a", "mem://b", "mem://c", "mem://other"]
    assert listed("resources/templates/list", "resourceTemplates", "uriTemplate") == [f"mem://{n}/{{x}}" for n in "abc"]
    assert text_of(driver.tool("crm__c")) == "c"
    assert all("cursor" not in m.get("params", {}) for m in other.received())


def test_names_fit_the_client_and_lead_to_the_tool(peers: Processes, tmp_path: Path) -> None:
    """A23"""
    originals = [
        "search_contacts_by_company_and_region",
        "search_contacts_by_company_and_regions",
        "get.user/info",
        "größe",
    ]

    def names(n: int) -> list[str]:
        folder = tmp_path / str(n)
        folder.mkdir()
        crm = Upstream("customer-relationship-management", folder)
        for original in originals:
            crm.tool(original, text(original))
        driver = one(peers, crm)
        shown = [tool["name"] for tool in driver.result("tools/list")["tools"]]
        assert [text_of(driver.tool(name)) for name in shown] == originals
        return shown

    first = names(1)
    assert all(re.fullmatch(r"customer-relationship-management__[A-Za-z0-9_-]+", name) for name in first)
    assert all(len(name) <= 48 for name in first) and len(set(first)) == 4
    assert names(2) == first


def test_equal_tool_names_stay_apart_in_any_order(peers: Processes, tmp_path: Path) -> None:
    """A24"""
    entries = {}
    for name, tools in (("acme", ["_status", "search"]), ("acme2", ["status", "search"])):
        upstream = Upstream(name, tmp_path)
        for tool in tools:
            upstream.tool(tool, text(f"{name} {tool}"))
        entries[name] = upstream.config()
    seen = []
    for order in (("acme", "acme2"), ("acme2", "acme")):
        driver = peers.gateway({"upstreams": {name: entries[name] for name in order}})
        driver.initialize()
        names = [tool["name"] for tool in driver.result("tools/list")["tools"]]
        seen.append({name: text_of(driver.tool(name)) for name in names})
    assert seen[0] == seen[1]
    assert sorted(seen[0].values()) == ["acme _status", "acme search", "acme2 search", "acme2 status"]
    assert seen[0]["acme__search"] == "acme search" and seen[0]["acme2__search"] == "acme2 search"


def test_an_upstream_name_outside_the_grammar_is_refused(peers: Processes, tmp_path: Path) -> None:
    """A24, the name that could not be told apart"""
    driver = peers.gateway({"upstreams": {"acme_": Upstream("acme", tmp_path).config()}})
    assert driver.exit_status() == 2
    assert b"acme_" in driver.stderr and b"underscore" in driver.stderr
    assert driver.received == b""


def test_every_member_of_a_tool_arrives(peers: Processes, tmp_path: Path) -> None:
    """A28"""
    tool: dict[str, Any] = {
        "name": "t", "title": "T", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True},
        "_meta": {"x.acme/k": 1}, "icons": [], "futureField": {"a": 1}, "execution": {"taskSupport": "forbidden"},
        "outputSchema": {
            "type": "object", "$defs": {"P": {"type": "object"}}, "properties": {"p": {"$ref": "#/$defs/P"}}
        },
    }  # fmt: skip
    result = {
        "content": [{"type": "future", "x": [1, None, {}]}],
        "structuredContent": {"p": {}},
        "future": {"b": None},
    }
    crm = Upstream("crm", tmp_path).tool(**tool, actions=[{"result": result}])
    driver = one(peers, crm)
    assert driver.result("tools/list") == {"tools": [{**tool, "name": "crm__t"}]}
    assert driver.tool("crm__t") == result


def test_a_cancellation_overtakes_and_goes_where_the_call_went(peers: Processes, tmp_path: Path) -> None:
    """A30"""
    a = Upstream("a", tmp_path).tool("fast")
    a.tool("slow", [{"wait": "notifications/cancelled"}, says("alert", "stopped"), *text("too late")])
    b = Upstream("b", tmp_path).tool("fast")
    driver = peers.gateway({"upstreams": {"a": a.config(), "b": b.config()}})
    driver.initialize()
    driver.ask("tools/call", {"name": "a__slow", "arguments": {}}, id=101)
    driver.tool("b__fast")
    start = driver.clock()
    driver.notify("notifications/cancelled", {"requestId": 101, "reason": "user stopped"})
    stopped = driver.wait(lambda m: m.get("params", {}).get("data") == "stopped")
    assert stopped.at - start < 0.5
    for unknown in (101, 999, "101", 1):
        driver.notify("notifications/cancelled", {"requestId": unknown})
    driver.tool("a__fast"), driver.tool("b__fast")
    [call] = [m for m in a.received("tools/call") if m["params"]["name"] == "slow"]
    [cancelled] = a.received("notifications/cancelled")
    assert cancelled["params"] == {"requestId": call["id"], "reason": "user stopped"}
    assert b.received("notifications/cancelled") == []
    assert driver.responses(101) == []


def test_progress_carries_the_clients_token_and_keeps_its_order(peers: Processes, tmp_path: Path) -> None:
    """A31"""
    steps = [
        {"notify": "notifications/progress",
         "params": {"progressToken": "$progress", "progress": n, "total": 50, "message": f"row {n} for {KIM}"}}
        for n in range(50)
    ]  # fmt: skip
    crm = Upstream("crm", tmp_path).tool("export", [*steps, *text("done"), steps[0]]).tool("quiet")
    driver = one(peers, crm)
    meta = {"progressToken": "p-1", "x.acme/trace": "abc"}
    id = driver.ask("tools/call", {"name": "crm__export", "arguments": {}, "_meta": meta})
    driver.answer(id)
    driver.tool("crm__quiet")
    sent = crm.received("tools/call")[0]["params"]["_meta"]
    assert sent["x.acme/trace"] == "abc" and "progressToken" in sent
    told = driver.notifications("notifications/progress")
    assert [p["progress"] for p in told] == list(range(50))
    assert {p["progressToken"] for p in told} == {"p-1"}
    assert told[7]["message"] == "row 7 for [EMAIL_0]"
    assert [h.message.get("method") for h in driver.heard].index("notifications/progress") < [
        h.message.get("id") for h in driver.heard
    ].index(id)


def test_no_progress_comes_that_was_not_asked_for(peers: Processes, tmp_path: Path) -> None:
    """A31, without a token"""
    unasked = {"notify": "notifications/progress", "params": {"progressToken": "invented", "progress": 1}}
    driver = one(peers, Upstream("crm", tmp_path).tool("t", [unasked, *text("done")]))
    driver.tool("crm__t")
    driver.call("ping")
    assert driver.notifications("notifications/progress") == []


def growing(folder: Path, **initialize: Any) -> Upstream:
    """An upstream whose tool ``grow`` adds another one and says so twice."""
    tools = [{"name": name, "inputSchema": {"type": "object"}} for name in ("grow", "new_tool")]
    changed = {"notify": "notifications/tools/list_changed"}
    grown = {"set": {"tools/list": [{"result": {"tools": tools}}]}}
    crm = Upstream("crm", folder, **initialize).tool("grow", [grown, changed, changed, *text("grown")])
    crm.tool("new_tool", text("new"))
    return crm.on("tools/list", [{"result": {"tools": tools[:1]}}])


def test_a_changed_list_is_told_once_and_shows_the_change(peers: Processes, tmp_path: Path) -> None:
    """A33"""
    driver = one(peers, growing(tmp_path))
    assert [tool["name"] for tool in driver.result("tools/list")["tools"]] == ["crm__grow"]
    driver.tool("crm__grow")
    driver.wait(lambda m: m.get("method") == "notifications/tools/list_changed")
    assert "crm__new_tool" in [tool["name"] for tool in driver.result("tools/list")["tools"]]
    assert text_of(driver.tool("crm__new_tool")) == "new"
    assert len(driver.notifications("notifications/tools/list_changed")) == 1


def test_a_change_is_not_told_that_nobody_announced(peers: Processes, tmp_path: Path) -> None:
    """A33, the reverse"""
    driver = peers.gateway({"upstreams": {"crm": growing(tmp_path, capabilities={"tools": {}}).config()}})
    assert "listChanged" not in driver.initialize()["capabilities"]["tools"]
    driver.tool("crm__grow")
    driver.result("tools/list")
    assert driver.notifications("notifications/tools/list_changed") == []


def test_resources_are_routed_and_their_uris_restored_and_encoded(peers: Processes, tmp_path: Path) -> None:
    """A34"""
    address, readme = "kim+work@example.com", "file:///README.md"
    real = "crm://contact/kim%2Bwork%40example.com"
    a = Upstream("a", tmp_path).tool("who", text(address)).template("crm://contact/{email}").resource(readme)
    a.reads(real, [{"result": {"contents": [{"uri": real, "text": f"of {address}"}]}}])
    updated = {"notify": "notifications/resources/updated", "params": {"uri": readme}}
    a.tool("touch", [updated, *text("touched")])
    b = Upstream("b", tmp_path).resource(readme).tool("touch", [updated, *text("touched")])
    driver = peers.gateway({"upstreams": {"a": a.config(), "b": b.config()}})
    driver.initialize()
    driver.result("resources/list"), driver.result("resources/templates/list")
    token = text_of(driver.tool("a__who"))
    for asked in (f"crm://contact/{token.replace('[', '%5B').replace(']', '%5D')}", f"crm://contact/{token}"):
        [content] = driver.result("resources/read", {"uri": asked})["contents"]
        assert (content["uri"], content["text"]) == (asked, f"of {token}")
        assert a.received("resources/read")[-1]["params"]["uri"] == real
    driver.result("resources/subscribe", {"uri": readme})
    driver.tool("a__touch")
    assert driver.notification("notifications/resources/updated") == {"uri": readme}
    driver.tool("b__touch")
    driver.result("resources/read", {"uri": readme})
    assert len(driver.notifications("notifications/resources/updated")) == 1
    assert b.received("resources/read") == b.received("resources/subscribe") == []


def test_what_an_upstream_asks_reaches_the_client_if_the_client_can_answer(peers: Processes, tmp_path: Path) -> None:
    """A35"""
    form = {
        "message": f"Send to {KIM}?",
        "requestedSchema": {"type": "object", "properties": {"to": {"type": "string"}}},
    }
    turn = {"role": "user", "content": {"type": "text", "text": f"Summarise mail of {KIM}"}}
    answered = [{"result": {"content": [], "structuredContent": {"answer": "$answer"}}}]
    crm = Upstream("crm", tmp_path).tool("who", text(KIM))
    crm.tool("form", [{"ask": "elicitation/create", "params": form, "id": "a string"}, *answered])
    crm.tool("sample", [{"ask": "sampling/createMessage", "params": {"messages": [turn], "maxTokens": 1}}, *answered])
    driver = peers.gateway({"upstreams": {"crm": crm.config()}})
    driver.answers["elicitation/create"] = lambda _: {"action": "accept", "content": {"to": token}}
    driver.initialize(capabilities={"elicitation": {}})
    token = text_of(driver.tool("crm__who"))
    driver.tool("crm__form")
    [asked] = driver.requests("elicitation/create")
    assert asked["params"]["message"].endswith(f"Send to {token}?")
    assert crm.received()[-1] == {
        "jsonrpc": "2.0", "id": "a string", "result": {"action": "accept", "content": {"to": KIM}}
    }  # fmt: skip
    assert driver.tool("crm__sample")["structuredContent"]["answer"]["code"] == -32601
    assert driver.requests("sampling/createMessage") == []
    assert crm.received("initialize")[0]["params"]["capabilities"].keys() & {"sampling", "elicitation"} == {
        "elicitation"
    }
