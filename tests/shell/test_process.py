"""What an upstream is started with: an environment of little, and a line that Windows takes apart rightly."""

from __future__ import annotations

import re
import shutil
import sys
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloakllm_gateway.shell.config import UpstreamConfig
from cloakllm_gateway.shell.process import Process, SpawnError, command_line, environment, spawn

PARENT = {"PATH": "/bin", "HOME": "/home/u", "LC_ALL": "C", "OTHER_SECRET": "zzz", "PATHS": "x"}


def test_an_upstream_gets_what_programs_need_its_own_variables_and_no_secret_of_others():
    got = environment(UpstreamConfig("x", env={"CRM_KEY": "k1"}), PARENT, windows=False)
    assert got == {
        "PATH": "/bin", "HOME": "/home/u", "LC_ALL": "C", "CRM_KEY": "k1",
        "PYTHONUTF8": "1", "PYTHONIOENCODING": "utf-8",
    }  # fmt: skip


def test_the_whole_environment_is_inherited_only_when_asked_for():
    got = environment(UpstreamConfig("x", inherit_env=True), PARENT, windows=False)
    assert got["OTHER_SECRET"] == "zzz"


def test_an_upstream_speaks_utf8_unless_its_own_variables_say_otherwise():
    parent = {"PYTHONIOENCODING": "cp1252"}
    assert environment(UpstreamConfig("x", inherit_env=True), parent, windows=False)["PYTHONIOENCODING"] == "utf-8"
    chosen = UpstreamConfig("x", env={"PYTHONIOENCODING": "latin-1"})
    assert environment(chosen, parent, windows=False)["PYTHONIOENCODING"] == "latin-1"


def test_windows_names_are_recognised_in_any_case():
    got = environment(UpstreamConfig("x"), {"Path": "C:\\x", "SystemRoot": "C:\\w", "Secret": "s"}, windows=True)
    assert set(got) == {"Path", "SystemRoot", "PYTHONUTF8", "PYTHONIOENCODING"}


def test_npx_on_windows_is_found_as_a_batch_file_and_its_arguments_arrive(tmp_path, monkeypatch):
    script = tmp_path / "npx.CMD"
    script.write_text("")
    script.chmod(0o755)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(
        shutil, "_winapi", SimpleNamespace(NeedCurrentDirectoryForExePath=lambda _: False), raising=False
    )
    monkeypatch.setenv("PATHEXT", ".EXE;.CMD".replace(";", ":"))  # the separator of this machine
    found = shutil.which("npx", path=str(tmp_path))
    assert found == str(script)
    assert command_line(found, ("-y", "acme mcp", "a&b", "100%"), windows=True) == (
        f'"{script}" "-y" "acme mcp" "a&b" "100%%cd:~,%"'
    )


def test_a_program_that_is_no_batch_file_is_started_directly():
    assert command_line("C:\\node.exe", ("a b",), windows=True) == ["C:\\node.exe", "a b"]
    assert command_line("/usr/bin/x.cmd", ("a b",), windows=False) == ["/usr/bin/x.cmd", "a b"]


def test_a_line_break_cannot_be_passed_to_a_batch_file():
    with pytest.raises(SpawnError, match="line break"):
        command_line("npx.cmd", ("a\nb",), windows=True)


arguments = st.lists(st.text(st.sampled_from("ab \\\"%&|<>^()!,;='`~é"), max_size=12), max_size=4)


@given(arguments)
def test_arguments_of_a_batch_file_arrive_as_they_were(args):
    line = command_line("npx.cmd", tuple(args), windows=True)
    assert isinstance(line, str)
    assert c_runtime_arguments(expanded(line)) == ["npx.cmd", *args]


@given(arguments)
def test_no_argument_of_a_batch_file_can_start_a_command(args):
    line = command_line("npx.cmd", tuple(args), windows=True)
    assert isinstance(line, str)
    unquoted = "".join(line.split('"')[::2])  # cmd knows no escape within a line: every quote opens or closes
    assert set(unquoted) <= {" "}


def expanded(line: str) -> str:
    """``line`` after cmd replaced its variables: ``a``, ``b``, ``ab`` and ``cd``, of which ``:~,`` takes nothing."""
    done, i = "", 0
    while i < len(line):
        name, closed, _ = line[i + 1 :].partition("%")
        variable, _, part = name.partition(":")
        if line[i] == "%" and closed and variable in ("a", "b", "ab", "cd"):
            done += "" if part == "~," else "EXPANDED"
            i += len(name) + 2
        else:
            done += line[i]
            i += 1
    return done


def c_runtime_arguments(line: str) -> list[str]:
    """The arguments of ``line`` by the documented rules of Microsoft's C runtime."""
    arguments, current, quoted, i = [], "", False, 0
    while i < len(line):
        slashes = re.compile(r"\\*").match(line, i)
        assert slashes is not None
        count, i = len(slashes[0]), slashes.end()
        if line[i : i + 1] != '"':
            current += "\\" * count
            if not quoted and line[i : i + 1] in (" ", ""):
                arguments.append(current)
                current = ""
            else:
                current += line[i : i + 1]
        elif count % 2:
            current += "\\" * (count // 2) + '"'
        elif quoted and line[i + 1 : i + 2] == '"':
            current += "\\" * (count // 2) + '"'
            i += 1
        else:
            current += "\\" * (count // 2)
            quoted = not quoted
        i += 1
    return [*arguments, current] if line.endswith('"') else arguments


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize(
    ("upstream", "told", "details"),
    [
        (UpstreamConfig("no-such-program"), "has a command that was not found", {"command", "searched"}),
        (
            UpstreamConfig("npx -y server"),
            "has a command that was not found: arguments belong into args",
            {"command", "searched"},
        ),
        (UpstreamConfig(sys.executable, cwd="/no/such/folder"), "has a cwd that is no folder", {"cwd"}),
        (
            UpstreamConfig(f"{sys.executable} -m crm"),
            "has a command that was not found: arguments belong into args",
            {"command"},
        ),
        (
            UpstreamConfig("/etc/gateway/sh -c @scope/server /tmp"),  # as a relative path is placed
            "has a command that was not found: arguments belong into args",
            {"command"},
        ),
        (UpstreamConfig(r"C:\Program Files\crm.exe"), "has a command that was not found", {"command"}),
        (UpstreamConfig("/no/such/program"), "has a command that was not found", {"command"}),
    ],
)
async def test_what_cannot_be_started_is_explained_to_the_operator_and_not_to_the_model(upstream, told, details):
    with pytest.raises(SpawnError) as caught:
        await spawn(upstream, {"PATH": "/usr/bin"}, Process())
    assert str(caught.value) == told
    assert set(caught.value.details) == details


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.skipif(sys.platform == "win32", reason="who may run what is otherwise there")
@pytest.mark.parametrize(
    ("mode", "text", "told"),
    [
        (0o644, "#!/bin/sh\n", "has a command that may not be executed: chmod +x makes it a program"),
        (0o755, "#!/no/such/interpreter -u\n", "has a command whose interpreter was not found"),
        (0o755, "print()\n", "has a command that is no program and has no #! line to say who runs it"),
        (None, "", "has a folder for a command"),
    ],
)
async def test_why_a_file_that_is_there_cannot_be_started(tmp_path, mode, text, told):
    path = tmp_path / "serve"
    if mode is None:
        path.mkdir()
    else:
        path.write_text(text)
        path.chmod(mode)
    with pytest.raises(SpawnError) as caught:
        await spawn(UpstreamConfig(str(path)), {"PATH": "/usr/bin"}, Process())
    assert str(caught.value) == told
    assert caught.value.details["command"] == str(path)
    assert "searched" not in caught.value.details
