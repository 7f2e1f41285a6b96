"""The command as a person or a client meets it: exit status, one line about what is wrong, and quick to start."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import textwrap
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from cloakllm_gateway import __version__
from tests.patience import PATIENCE
from tests.peers import proofs

QUICK = {"sanitize": False}

#: A server with one tool, two prompts and three resources on two pages.
SERVER = """
    import json, sys
    def page(kind, names, **more):
        items = [{"name": name, "uri": "mem://" + name, "inputSchema": {"type": "object"}} for name in names]
        return {kind: items, **more}
    RESULTS = {
        "initialize": {"protocolVersion": "2025-06-18", "serverInfo": {"name": "x", "version": "1"},
                       "capabilities": {"tools": {}, "prompts": {}, "resources": {}}},
        "tools/list": page("tools", ["lookup"]),
        "prompts/list": page("prompts", ["one", "two"]),
        "resources/list": page("resources", ["a", "b"], nextCursor="next"),
    }
    print("started for kim@example.com", file=sys.stderr, flush=True)
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            result = RESULTS.get(message["method"], {})
            if message["method"] == "resources/list" and (message.get("params") or {}).get("cursor"):
                result = page("resources", ["c"])
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


def python(source: str) -> dict[str, Any]:
    return {"command": sys.executable, "args": ["-c", textwrap.dedent(source)]}


def run(*arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "cloakllm_gateway", *arguments],
        input=given, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    return done


def written(folder: Path, upstreams: dict[str, Any], **more: Any) -> str:
    """A configuration file for the given upstreams, names off so that no model has to load.

    With ``**QUICK`` nothing is sanitized either, which a check would prove first, for some seconds.
    """
    path = folder / "gateway.json"
    content = {"upstreams": upstreams, "state_dir": "state", "detection": {"ner_entity_types": []}, **more}
    path.write_text(json.dumps(content))
    if content.get("sanitize", True):
        proofs.lend({**content, "state_dir": str(folder / "state")})
    return str(path)


@pytest.fixture
def write(tmp_path):
    return partial(written, tmp_path)


@pytest.fixture(scope="module")
def observing(tmp_path_factory):
    """The configuration of a gateway that only observes."""
    upstreams = {"crm": python(SERVER), "files": python(SERVER)}
    return written(tmp_path_factory.mktemp("observing"), upstreams, mode="observe")


@pytest.fixture(scope="module")
def checked(observing):
    """What a check that proves detection has to say."""
    return run("check", "--config", observing)


def test_the_version_is_told():
    done = run("--version")
    assert done.stdout == f"cloakllm-gateway {__version__}\n"


def test_without_arguments_the_help_is_shown():
    done = run()
    assert done.returncode == 0
    assert "check" in done.stdout and "serve" in done.stdout and "--config FILE" in done.stdout


@pytest.mark.parametrize("command", ["--config", "serve --config", "check --config", "--check --config"])
def test_a_mistake_in_the_configuration_is_one_line_and_status_2(tmp_path, command):
    path = tmp_path / "gateway.json"
    path.write_text('{"upstreams": {"crm": {"comand": "x"}}}')
    done = run(*command.split(), str(path))
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (f'cloakllm-gateway: {path}: upstreams.crm.comand: unknown key. Did you mean "command"?\n')


@pytest.mark.parametrize(
    "words", [("gw.json",), ("check", "gw.json"), ("serve", "gw.json"), ("vault", "list", "gw.json")]
)
def test_a_configuration_without_its_option_is_understood(words):
    done = run(*words)
    assert "Did you mean --config gw.json?" in done.stderr
    assert done.returncode == 2


def test_every_exit_status_is_in_the_help():
    assert "3 something would be hidden" in " ".join(run("scan", "--help").stdout.split())
    assert "Exit status: 0 all is well" in " ".join(run("--help").stdout.split())


def test_an_unknown_option_is_status_2():
    done = run("--confg", "x")
    assert done.returncode == 2
    assert "--config" in done.stderr


def test_check_counts_what_each_upstream_offers_and_says_that_names_are_not_covered(checked):
    lines = [line.split() for line in checked.stdout.splitlines() if line]
    assert lines[0] == ["upstream", "protocol", "tools", "prompts", "resources", "status"]
    assert lines[1] == ["crm", "2025-06-18", "1", "2", "3", "ok"]
    assert lines[2] == ["files", "2025-06-18", "1", "2", "3", "ok"]
    assert "Detection: proved with" in checked.stdout
    assert "Names in free text: not covered" in checked.stdout
    assert checked.returncode == 0, checked.stderr


def test_check_fails_naming_the_upstream_that_does_not_work_and_the_others_still_count(write):
    crashing = python("import sys; sys.exit('no database for kim@example.com')")
    done = run(
        "--check", "-v", "--config", write({"crm": python(SERVER), "bad": crashing, "none": {"command": "no-such"}})
    )
    assert done.returncode == 1
    told = " ".join(done.stdout.split())
    assert "crm 2025-06-18 1 2 3 ok" in told
    assert "bad - - - - failed none - - - - failed" in told
    assert "bad: exited with status 1" in told
    assert told.index("none: has a command that was not found") < told.index("Detection: proved"), "the cheap first"
    assert "no database for [EMAIL_" in done.stderr
    assert "kim@example.com" not in done.stdout + done.stderr


def test_check_is_read_on_a_narrow_terminal(write, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    done = run("check", "--config", write({"none": {"command": "no-such"}}, **QUICK))
    assert "failed\n" in done.stdout
    assert "\nnone: has a command that was not found\n" in done.stdout


def test_check_fails_when_the_upstreams_can_not_be_served_together(write):
    other = python(SERVER.replace("2025-06-18", "2024-11-05"))
    done = run("check", "--config", write({"crm": python(SERVER), "old": other}, **QUICK))
    assert done.returncode == 1
    told = " ".join(done.stdout.split())
    assert "Together:" in told and "2024-11-05" in told


def test_check_names_rules_that_fit_no_tool(write):
    crm = {**python(SERVER), "tools": {"no_such_*": {"categories": {"EMAIL": "pass"}}}}
    done = run("check", "--config", write({"crm": crm}, **QUICK))
    assert done.returncode == 0
    assert "upstreams.crm.tools.no_such_* fits no tool of crm" in " ".join(done.stdout.split())


def test_check_fails_where_the_vault_can_not_be_reached(write):
    pytest.importorskip("redis", reason="the extra `redis` is not installed")
    with socket.socket() as nobody:  # bound and not listening
        nobody.bind(("127.0.0.1", 0))
        url = f"redis://127.0.0.1:{nobody.getsockname()[1]}/0"
        vault = {"backend": "redis", "url": url}
        done = run("check", "--config", write({"crm": python(SERVER)}, vault=vault, **QUICK))
    assert done.returncode == 1
    assert f"Vault: The token store at {url} can't be used now" in " ".join(done.stdout.split())


def test_what_can_not_be_written_is_told_by_a_check_and_at_the_start(write, tmp_path):
    (tmp_path / "file").write_text("no directory")
    path = write({"crm": python(SERVER)}, state_dir="file/state")
    for arguments in (("check", "--config", path), ("--config", path)):
        done = run(*arguments)
        said = done.stdout + done.stderr
        assert done.returncode == 1
        assert f"The token numbers can't be written in {tmp_path}/file/state/numbers: Not a directory." in said
        assert "or name another as state_dir." in said


def test_what_needs_no_place_to_write_to_is_not_asked_for_one(write, tmp_path):
    (tmp_path / "file").write_text("no directory")
    path = write({"crm": python(SERVER)}, **QUICK, state_dir="file/state", audit=False)
    assert run("check", "--config", path).returncode == 0
    assert run("--config", path).returncode == 0


def test_a_start_relies_on_what_a_check_proved(checked, observing):
    assert "Detection: proved with" in checked.stdout
    proof = Path(observing).parent / "state" / "proved"
    before = proof.stat().st_mtime_ns
    assert run("--config", observing).returncode == 0
    assert proof.stat().st_mtime_ns == before


def test_what_an_upstream_printed_is_shown_from_its_first_line_on(write):
    npm = "import sys\nfor n in range(9): print('npm error', 'first' if n == 0 else n, file=sys.stderr)\nsys.exit(1)"
    done = run("check", "--config", write({"crm": {"command": sys.executable, "args": ["-c", npm]}}, **QUICK))
    assert "crm said: npm error first" in done.stdout and "crm said: npm error 8" in done.stdout


def test_check_says_so_when_nothing_is_sanitized(write):
    done = run("check", "--config", write({"crm": python(SERVER)}, sanitize=False))
    assert "Detection: off" in done.stdout
    assert done.returncode == 0


def test_check_says_so_when_nothing_is_hidden_but_only_observed(checked, observing):
    assert "Mode: observe: what would be hidden is only counted and logged" in checked.stdout
    served = run("--config", observing)
    assert "observing only: the model sees every value" in served.stderr


def test_letting_everybody_in_opens_no_port_by_itself(write):
    done = run("serve", "--no-auth", "--config", write({"crm": python(SERVER)}, **QUICK))
    assert done.returncode == 2
    assert "--no-auth is about clients over HTTP, and none are served. Add --http" in done.stderr
    assert "listening" not in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="Windows protects the profile directory by an access list")
def test_state_that_others_can_read_is_refused_before_a_call_needs_it(write, tmp_path):
    path = write({"crm": python(SERVER)}, **QUICK)
    (tmp_path / "state").mkdir(mode=0o755)
    for arguments in (("check", "--config", path), ("--config", path)):
        done = run(*arguments)
        assert done.returncode != 0
        assert "is open to other users" in done.stdout + done.stderr
        assert f"chmod 700 {tmp_path / 'state'}" in done.stdout + done.stderr


def test_serving_ends_well_when_the_client_leaves(write):
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
    done = run("--config", write({"crm": python(SERVER)}), given=request + "\n")
    assert done.returncode == 0
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1]


def test_serving_imports_nothing_of_the_command_line_and_no_slow_library(write):
    source = """
        import sys
        from cloakllm_gateway.shell.streams import claim
        streams = claim()
        from cloakllm_gateway.cli.serve import serve
        status = serve(sys.argv[1], streams)
        slow = {"click", "rich", "mcp", "pydantic", "spacy", "phonenumbers", "stdnum", "cryptography"}
        slow |= {f"cloakllm_gateway.detection.{lists}" for lists in ("name_words", "name_given", "surnames")}
        sys.stderr.write(f"{status} {sorted(slow & set(sys.modules))}\\n")  # at once: the log is written beside it
    """
    config = write({"crm": python(SERVER)}, audit=False)  # the end of an audited session is signed
    run("--config", config)  # the start-up proof, which needs the checksums, is remembered
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(source), config],
        input="", capture_output=True, text=True, timeout=PATIENCE, check=True,
    )  # fmt: skip
    assert "0 []" in done.stderr.splitlines()


def test_a_fault_of_the_gateway_itself_is_told_without_what_was_in_it(tmp_path):
    source = """
        import sys
        from cloakllm_gateway.cli.faults import report_uncaught
        sys.excepthook = report_uncaught
        {}["kim@example.com"]
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(source)], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 1
    assert done.stderr == "cloakllm-gateway: internal error: KeyError at <string>:5\n"


def test_the_module_and_the_console_script_are_the_same_command():
    script = Path(sys.executable).with_name("cloakllm-gateway")
    if not script.exists():
        pytest.skip("the package is not installed beside this Python")
    done = subprocess.run([script, "--version"], capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert done.stdout == f"cloakllm-gateway {__version__}\n"
