"""Variables of the environment in what the configuration says of an upstream, spelled as clients spell them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloakllm_gateway.errors import ConfigError
from cloakllm_gateway.shell.config import Config, load
from cloakllm_gateway.shell.structs import Invalid
from cloakllm_gateway.shell.variables import expanded, started
from cloakllm_gateway.shell.wiring import fingerprint


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Bearer ${KEY}", "Bearer k"),
        ("${env:KEY}${KEY}", "kk"),
        ("${MISSING:-other}", "other"),
        ("${EMPTY:-other}", "other"),
        ("${KEY:-other}", "k"),
        ("${MISSING:-}", ""),
        ("$KEY $ {KEY} $$", "$KEY $ {KEY} $$"),
        ("${HOLDS}", "${KEY}"),
        ("echo $${KEY} $${", "echo ${KEY} ${"),
        ("${KEY} $${KEY} ${KEY}", "k ${KEY} k"),
    ],
)
def test_variables_stand_where_they_are_named(text: str, value: str) -> None:
    assert expanded(text, "x", {"KEY": "k", "EMPTY": "", "HOLDS": "${KEY}"}) == value


@given(st.text(st.characters(exclude_characters="$")))
def test_text_without_variables_is_itself(text: str) -> None:
    assert expanded(text, "x", {}) == text


@given(st.text(st.sampled_from("$${}aK")))
def test_what_is_escaped_comes_out_as_it_was(text: str) -> None:
    assert expanded(text.replace("${", "$${"), "x", {}) == text


@pytest.mark.parametrize("text", ["${}", "${input:key}", "${a-b}", "${1}"])
def test_what_names_no_variable_is_refused(text: str) -> None:
    with pytest.raises(Invalid) as caught:
        expanded(text, "x", {})
    assert caught.value.problem == "holds a ${...} that names no variable"


@pytest.mark.parametrize("text", ["${input:key}", "${workspaceFolder}/x", "${userHome}"])
def test_what_only_a_client_can_fill_in_has_to_be_written_out(text: str) -> None:
    with pytest.raises(Invalid) as caught:
        expanded(text, "x", {})
    assert caught.value.hint == "Only a client knows what it stands for: write it out"


def loaded(folder: Path, **upstream: Any) -> Config:
    path = folder / "gateway.json"
    path.write_text(json.dumps({"upstreams": {"crm": upstream}}), encoding="utf-8")
    return load(path)


def test_a_program_gets_them_in_its_arguments_and_its_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRM_KEY", "k")
    config = loaded(tmp_path, command="crm", args=["--key=${CRM_KEY}"], env={"KEY": "${env:CRM_KEY}"})
    program = started(config.upstreams["crm"], os.environ)
    assert program.args == ("--key=k",)
    assert program.env == {"KEY": "k"}


def test_a_command_and_a_folder_may_be_named_by_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRM_HOME", "/opt/crm")
    crm = loaded(tmp_path, command="${CRM_HOME}/serve", cwd="${CRM_HOME}").upstreams["crm"]
    assert (crm.command, crm.cwd) == ("/opt/crm/serve", "/opt/crm")


@pytest.mark.parametrize("upstream", [{"env": {"KEY": "${CRM_KEY}"}}, {"args": ["${CRM_KEY}"]}, {"cwd": "${CRM_KEY}"}])
def test_one_that_is_not_set_is_named_with_its_place(
    upstream: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CRM_KEY", raising=False)
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, command="crm", **upstream)
    place = {"env": "env.KEY", "args": "args[0]", "cwd": "cwd"}[next(iter(upstream))]
    assert f"upstreams.crm.{place}: names the variable CRM_KEY, which is not set. Set it where" in str(caught.value)


def test_a_new_credential_makes_no_other_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prints = set()
    for key in ("old", "new"):
        monkeypatch.setenv("CRM_KEY", key)
        prints.add(fingerprint(loaded(tmp_path, command="crm", args=["${CRM_KEY}"]).upstreams["crm"]))
    assert len(prints) == 1


def test_who_starts_nothing_needs_none_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CRM_KEY", raising=False)
    path = tmp_path / "gateway.json"
    program = {"command": "${CRM_KEY}/crm", "env": {"KEY": "${CRM_KEY}"}}
    far = {"url": "https://crm.example.com", "headers": {"X": "${CRM_KEY}"}}
    path.write_text(json.dumps({"upstreams": {"crm": program, "far": far}}), encoding="utf-8")
    assert list(load(path, to_serve=False).upstreams) == ["crm", "far"]
    with pytest.raises(ConfigError):
        load(path)
