"""``check`` warns where an upstream is given what only the gateway should read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from cloakllm_gateway.cli.exposure import changeable, exposed
from cloakllm_gateway.shell.config import Backend, Config, UpstreamConfig, VaultConfig


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in ("notes", "state", "keys"):
        (tmp_path / name).mkdir()
    return tmp_path


def warnings(home: Path, *args: str, cwd: str | None = None, **config: Any) -> str:
    upstream = UpstreamConfig("files-server", args=args, cwd=cwd)
    whole = Config({"files": upstream}, **{"state_dir": str(home / "state"), "audit": False, **config})
    return "\n".join(exposed(whole, home / "gateway.json"))


def test_a_directory_of_its_own_is_no_reason_to_warn(home):
    assert warnings(home, str(home / "notes"), "--verbose", "https://x.org/?a=b", "\0") == ""


@pytest.mark.parametrize("argument", ["{home}", "--root={home}", "{home}/notes/.."])
def test_a_directory_above_the_state_and_the_configuration_is(home, argument):
    said = warnings(home, argument.format(home=home))
    assert f"upstream files is given {home}, where the configuration" in said
    assert "where the state" in said


def test_a_directory_within_the_state_is(home):
    (home / "state" / "vault").mkdir()
    assert "the state" in warnings(home, str(home / "state" / "vault"))


def test_a_working_directory_is(home):
    assert "the state" in warnings(home, cwd=str(home))


def test_a_key_that_lies_elsewhere_is_found_and_a_keyring_is_nowhere(home):
    vault = VaultConfig(Backend.SQLITE, key_file=str(home / "keys" / "key"))
    assert "the key of the vault" in warnings(home, str(home / "keys"), vault=vault)
    assert warnings(home, str(home / "keys"), vault=VaultConfig(Backend.SQLITE, key_file="keyring")) == ""


@pytest.mark.skipif(os.name != "posix", reason="Windows protects the profile directory by an access list")
def test_a_configuration_that_everybody_can_change_is(home):
    path = home / "gateway.json"
    path.touch(0o660)
    path.chmod(0o660)
    assert changeable(path) == []
    path.chmod(0o666)
    (warning,) = changeable(path)
    assert warning.endswith(f"chmod o-w {path}")


def test_a_link_to_the_state_is_seen_through(home):
    (home / "notes" / "link").symlink_to(home / "state")
    assert "the state" in warnings(home, str(home / "notes" / "link"))
