"""The audit of whole sessions, on disk, by the program as it is installed."""

from __future__ import annotations

import base64
import hashlib
import resource
import shutil
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cloakllm_gateway.audit.verify import Status, verify
from cloakllm_gateway.cli.audit import audit
from cloakllm_gateway.core.texts import UNRECORDED_ANSWER
from cloakllm_gateway.shell.audit.reading import entries, gather
from tests.audit.logs import accepted
from tests.peers.driver import Driver, Processes, text_of
from tests.peers.upstream import ECHO, Upstream, says, text
from tests.peers.values import Values, values

CAPABILITIES = {"elicitation": {"form": {}}, "sampling": {}}


def crm(folder: Path, *texts: str) -> Upstream:
    return Upstream("crm", folder).tool("lookup", text(*texts)).tool("save", ECHO)


def ended(gateway: Driver, how: int = signal.SIGTERM) -> None:
    gateway.process.send_signal(how)
    gateway.exit_status()


def events(directory: Path) -> list[str]:
    return [entry["event_type"] for entry in entries(directory)]


def decisions(directory: Path) -> list[str]:
    return [event for event in events(directory) if event != "checkpoint"]


def digests(value: str) -> Iterable[str]:
    """What somebody with a list of guesses would look for."""
    forms = {value, value.lower(), "".join(filter(str.isalnum, value)), "".join(filter(str.isdigit, value))}
    for form in (form for form in forms if len(form) >= 6):
        for name in ("md5", "sha1", "sha256", "sha512", "blake2b", "sha3_256"):
            digest = hashlib.new(name, form.encode()).digest()
            yield digest.hex()[:16]
            yield base64.b64encode(digest).decode()[:16]
        yield base64.b64encode(form.encode()).decode().rstrip("=")
        yield form.encode().hex()


#: Ways to run a gateway, none of which is a way for a value into the log.
RULES: dict[str, dict[str, Any]] = {
    "reporting": {"raw_pii": {"default": "log"}},
    "blocking": {"raw_pii": {"default": "block"}},
    "observing": {"mode": "observe"},
    "passing": {"sanitize": False},
    "storing": {"vault": {"backend": "sqlite"}},
}
#: What is in the log of each, beside the beginning and the end.
SAID = {
    "reporting": {"sanitize", "restore", "refused", "raw_pii", "upstream_crash"},
    "blocking": {"sanitize", "refused", "raw_pii"},
    "observing": {"observed"},
    "passing": {"passed"},
    "storing": {"sanitize", "restore", "withheld"},
}


@pytest.mark.parametrize("how", RULES)
def test_a_whole_session_leaves_no_value_and_no_hash_of_one(peers: Processes, tmp_path: Path, how: str):
    """Every place a value can come from: results, errors, notifications, questions, arguments, names, configuration.

    An upstream chooses the names of methods, versions and servers, a model those of tools, prompts and resources.
    """
    places = {name: values(n) for n, name in enumerate(PLACES)}
    at = places.__getitem__
    server = (
        Upstream("crm", tmp_path, instructions=f"Ask {at('result').email}", serverInfo={"name": at("server").email})
        .tool("lookup", text(at("result").text))
        .tool("fail", [{"error": {"code": -32000, "message": at("error").text, "data": {"card": at("error").card}}}])
        .tool("talk", [
            *([says("info", at("note").text)] * 30),
            {"notify": f"notifications/{at('method').email}", "params": {"data": at("method").text}},
            {"notify": "notifications/cancelled", "params": {"requestId": 99, "reason": at("reason").text}},
            {"result": {"content": []}},
        ])
        .tool("ask", [
            {"ask": "elicitation/create", "params": {
                "message": at("question").text, "requestedSchema": {"type": "object", "properties": {}},
            }},
            {"ask": f"elicitation/{at('asked').email}", "params": {"message": at("asked").text}},
            {"result": {"content": []}},
        ])
        .tool(f"mail_{at('named').aws_key}", ECHO)
        .tool("die", [{"stderr": f"{at('stderr').text}\n"}, {"crash": 3}])
        .tool("save", ECHO)
    )  # fmt: skip
    odd = Upstream("odd", tmp_path, protocolVersion=at("version").email)
    config = {
        "upstreams": {"crm": server.config(), "odd": odd.config()},
        "detection": {"ner_entity_types": [], "deny_list": [at("configured").name]},
        **RULES[how],
    }
    state = tmp_path / "state"
    gateway = peers.gateway(config, state_dir=state)
    gateway.answers["elicitation/create"] = lambda _: {"action": "accept", "content": {"email": at("answer").email}}
    gateway.initialize(capabilities=CAPABILITIES)
    token = text_of(gateway.tool("crm__lookup")).split("; ")[0]
    for tool in ("fail", "talk", "ask", f"mail_{at('named').aws_key}"):
        gateway.call("tools/call", {"name": f"crm__{tool}", "arguments": {}})
    written = at("written")
    gateway.tool("crm__save", {"to": token, "card": written.card, "text": written.text, "to2": "[EMAIL_99999]"})
    gateway.tool("crm__save", {"to": token, "card": written.card, "text": written.text})
    gateway.call("tools/call", {"name": at("called").email, "arguments": {"to": at("called").text}})
    gateway.call("prompts/get", {"name": at("called").email, "arguments": {"to": at("called").text}})
    gateway.call("resources/read", {"uri": f"file:///{at('called').email}"})
    gateway.call(f"tools/{at('called').email}", {"to": at("called").text})
    gateway.notify("notifications/cancelled", {"requestId": 1, "reason": at("called").text})
    if how == "storing":
        for path in state.rglob("*.db*"):
            path.unlink()  # one of them is mapped into memory: to cut it ends whoever reads there
            path.write_bytes(b"gone")
        gateway.call("tools/call", {"name": "crm__fail", "arguments": {}})
    gateway.call("tools/call", {"name": "crm__die", "arguments": {}})
    ended(gateway)

    log = state / "audit"
    assert {"session_open", "upstream_start", "session_close"} | SAID[how] <= set(events(log))
    found = b"".join(path.read_bytes() for path in log.rglob("*") if path.is_file() and "private" not in path.parts)
    folded = found.decode("latin-1").casefold()
    for place in places.values():
        for value in _parts(place):
            assert value.casefold() not in folded, value
            for digest in digests(value):
                assert digest.casefold() not in folded, f"a digest of {value}"
    assert accepted(log) and verify(gather(log)).status is Status.SELF_CONSISTENT


#: Where a value of its own is planted.
PLACES = (
    "result", "error", "note", "question", "written", "named", "configured", "answer", "server", "method", "asked",
    "reason", "version", "stderr", "called",
)  # fmt: skip


def _parts(place: Values) -> list[str]:
    return [*place, place.card_digits, place.phone_digits, place.email.split("@")[0]]


def test_an_entry_is_on_disk_before_its_message_is_anywhere(peers: Processes, tmp_path: Path):
    server = crm(tmp_path, values(1).email)
    gateway = peers.gateway({"upstreams": {"crm": server.config()}}, state_dir=tmp_path / "state")
    gateway.initialize()
    gateway.result("tools/list")
    log = tmp_path / "state" / "audit"
    for _ in range(20):
        before = len(decisions(log))
        token = text_of(gateway.tool("crm__lookup"))
        assert decisions(log)[before:] == ["sanitize"]
        gateway.tool("crm__save", {"to": token})
        assert decisions(log)[before:] == ["sanitize", "restore", "sanitize"]


def test_a_restore_names_token_origin_destination_tool_and_rule(peers: Processes, tmp_path: Path):
    mailer = Upstream("mailer", tmp_path).tool("send", ECHO)
    upstreams = {"crm": crm(tmp_path, values(1).email).config(), "mailer": mailer.config()}
    gateway = peers.gateway({"upstreams": upstreams}, state_dir=tmp_path / "state")
    gateway.initialize()
    gateway.tool("mailer__send", {"to": text_of(gateway.tool("crm__lookup"))})
    (entry,) = (e for e in entries(tmp_path / "state" / "audit") if e["event_type"] == "restore")
    assert (entry["upstream"], entry["tool"], entry["categories"]) == ("mailer", "mailer__send", {"EMAIL": 1})
    assert entry["tokens"] == [{"token": "EMAIL_0", "from": ["crm"], "rule": "token_scope: session", "foreign": True}]


@pytest.mark.parametrize("how", [signal.SIGTERM, None], ids=["terminated", "the client leaves"])
def test_the_end_of_a_session_is_signed(peers: Processes, tmp_path: Path, how: int | None):
    gateway = peers.gateway({"upstreams": {"crm": crm(tmp_path, "x").config()}}, state_dir=tmp_path / "state")
    gateway.initialize()
    if how is None:
        gateway.finish()
    else:
        ended(gateway, how)
    log = tmp_path / "state" / "audit"
    assert events(log)[-3:] == ["upstream_stop", "checkpoint", "session_close"]
    verdict = verify(gather(log))
    assert verdict.checkpoints == 1 and verdict.status is Status.SELF_CONSISTENT


def test_a_session_that_is_killed_leaves_a_log_that_goes_on(peers: Processes, tmp_path: Path):
    config = {"upstreams": {"crm": crm(tmp_path, values(1).email).config()}}
    for _ in range(3):
        gateway = peers.gateway(config, state_dir=tmp_path / "state")
        gateway.initialize()
        gateway.tool("crm__lookup")
        ended(gateway, signal.SIGKILL)
    log = tmp_path / "state" / "audit"
    assert events(log).count("session_open") == 3 and "session_close" not in events(log)
    assert accepted(log)


def test_two_gateways_share_a_log(peers: Processes, tmp_path: Path):
    config = {"upstreams": {"crm": crm(tmp_path, values(1).email).config()}}
    gateways = [peers.gateway(config, state_dir=tmp_path / "state") for _ in range(2)]
    for gateway in gateways:
        gateway.initialize()
    for _ in range(20):
        ids = [gateway.ask("tools/call", {"name": "crm__lookup", "arguments": {}}) for gateway in gateways]
        for gateway, id in zip(gateways, ids, strict=True):
            gateway.answer(id)
    for gateway in gateways:
        ended(gateway)
    log = tmp_path / "state" / "audit"
    assert events(log).count("session_close") == 2
    assert accepted(log) and verify(gather(log)).status is Status.SELF_CONSISTENT


@contextmanager
def taken_away(_gateway: Driver, log: Path) -> Iterator[None]:
    """The log as on a disk that is no longer there, and is empty when it comes back."""
    aside = log.with_name("aside")
    log.rename(aside)
    log.write_text("")
    for path in aside.glob("*.jsonl"):
        path.unlink()
    yield
    log.unlink()
    aside.rename(log)


@contextmanager
def full(gateway: Driver, log: Path) -> Iterator[None]:
    """No file of the gateway may grow beyond the size that the log has."""
    (path,) = log.glob("*.jsonl")
    limits = resource.prlimit(gateway.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(gateway.process.pid, resource.RLIMIT_FSIZE, (path.stat().st_size + 10, limits[1]))
    yield
    resource.prlimit(gateway.process.pid, resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize("on_error", ["withhold", "warn"])
@pytest.mark.parametrize("broken", [taken_away, full])
def test_where_the_log_can_not_be_written_messages_are_withheld_or_it_is_said(
    peers: Processes, tmp_path: Path, on_error: str, broken: Callable[[Driver, Path], AbstractContextManager[None]]
):
    value = values(1).email
    server = crm(tmp_path, value)
    config = {"upstreams": {"crm": server.config()}, "audit": {"on_error": on_error}}
    gateway = peers.gateway(config, state_dir=tmp_path / "state")
    gateway.initialize()
    token = text_of(gateway.tool("crm__lookup"))
    log = tmp_path / "state" / "audit"
    with broken(gateway, log):
        for _ in range(3):
            answer = gateway.tool("crm__lookup")
            assert text_of(answer) == (UNRECORDED_ANSWER if on_error == "withhold" else token)
            gateway.tool("crm__save", {"to": token})
        sent = [{"to": value}] * 3
        assert server.arguments("save") == ([] if on_error == "withhold" else sent)
    assert text_of(gateway.tool("crm__lookup")) == token
    ended(gateway)
    assert gateway.stderr.decode().count("audit_not_written") == 1
    assert "audit_written_again" in gateway.stderr.decode()
    assert "unwritable" in [e.get("reason") for e in entries(log)]
    assert broken is taken_away or verify(gather(log)).status is Status.SELF_CONSISTENT


def test_a_log_that_is_deleted_under_a_session_begins_anew_and_says_so(peers: Processes, tmp_path: Path):
    gateway = peers.gateway({"upstreams": {"crm": crm(tmp_path, "x").config()}}, state_dir=tmp_path / "state")
    gateway.initialize()
    gateway.tool("crm__lookup")
    log = tmp_path / "state" / "audit"
    shutil.rmtree(log)
    gateway.tool("crm__lookup")
    ended(gateway)
    assert events(log)[:2] == ["log_recovered", "sanitize"]
    assert b"audit_log_recovered reason=cut" in gateway.stderr
    assert verify(gather(log)).status is Status.SELF_CONSISTENT


def test_a_log_that_can_not_be_begun_is_a_reason_not_to_start(peers: Processes, tmp_path: Path):
    (tmp_path / "log").write_text("")
    config: dict[str, Any] = {
        "upstreams": {"crm": crm(tmp_path, "x").config()},
        "audit": {"path": str(tmp_path / "log")},
    }
    gateway = peers.gateway(config)
    assert gateway.exit_status() == 1
    assert "The audit log" in gateway.stderr.decode()


def test_without_an_audit_the_gateway_warns_and_writes_nothing(peers: Processes, tmp_path: Path):
    config = {"upstreams": {"crm": crm(tmp_path, values(1).email).config()}, "audit": False}
    gateway = peers.gateway(config, state_dir=tmp_path / "state")
    gateway.initialize()
    gateway.tool("crm__lookup")
    ended(gateway)
    assert "audit_is_off" in gateway.stderr.decode()
    assert not (tmp_path / "state" / "audit").exists()


def test_hostile_names_do_nothing_to_the_log(peers: Processes, tmp_path: Path):
    name = '=HYPERLINK("http://evil.example")\x1b[2J<script>'
    server = Upstream("crm", tmp_path).tool(name, text("x"))
    gateway = peers.gateway({"upstreams": {"crm": server.config()}}, state_dir=tmp_path / "state")
    gateway.initialize()
    (tool,) = gateway.result("tools/list")["tools"]
    gateway.tool(tool["name"], {"to": "[EMAIL_5]"})
    ended(gateway)
    log = tmp_path / "state" / "audit"
    assert verify(gather(log)).status is Status.SELF_CONSISTENT
    data = b"".join(path.read_bytes() for path in log.glob("*.jsonl"))
    assert b"\x1b" not in data and b"<script>" not in data and b"=HYPERLINK" not in data
    assert b"\x1b" not in gateway.stderr
    for command in (["show"], ["export"], ["report"], ["report", "--format", "html"]):
        said = CliRunner().invoke(audit, [*command, str(log)], catch_exceptions=False).stdout
        assert "HYPERLINK" in said or "report" in command
        assert "\x1b" not in said and "<script>" not in said and '"=' not in said
