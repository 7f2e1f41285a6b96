"""What a gateway keeps has a place that it can write, or the start is refused with the key that names another."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from cloakllm_gateway.core.settings import Mode
from cloakllm_gateway.errors import AuditError, GatewayError, VaultError
from cloakllm_gateway.shell.config import AuditConfig, Backend, Config, OnAuditError, UpstreamConfig, VaultConfig
from cloakllm_gateway.shell.writable import check_writable, unwritable


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Nothing can be made below it, whoever tries."""
    path = tmp_path / "file"
    path.write_text("")
    return path


def told(state: Path, **more: Any) -> list[str]:
    return [str(error) for error in unwritable(config(state, **more))]


def config(state: Path, **more: Any) -> Config:
    return Config({"crm": UpstreamConfig("crm-server")}, state_dir=str(state), **more)


def test_directories_that_are_not_there_yet_are_no_mistake_and_are_not_made(tmp_path: Path):
    assert told(tmp_path / "a" / "b") == []
    assert list(tmp_path.iterdir()) == []


def test_each_thing_that_can_not_be_kept_is_told_with_the_key_that_names_another_place(file: Path, tmp_path: Path):
    numbers, store, log = told(file / "state", vault=VaultConfig(Backend.SQLITE))
    assert numbers.startswith(f"The token numbers can't be written in {file / 'state' / 'numbers'}: Not a directory.")
    assert store.startswith("The token store") and log.startswith("The audit log")
    assert all(line.endswith("or name another as state_dir.") for line in (numbers, store, log))

    (store,) = told(tmp_path, vault=VaultConfig(Backend.SQLITE, path=str(file / "store.db")))
    assert store.endswith("or name another as vault.path.")
    (log,) = told(tmp_path, audit=AuditConfig(path=str(file)))
    assert log.endswith("or name another as audit.path.")


@pytest.mark.parametrize("more", [{"sanitize": False}, {"mode": Mode.OBSERVE}])
def test_where_no_value_gets_a_token_only_the_log_needs_a_place(file: Path, more: dict[str, Any]):
    (log,) = told(file, **more)
    assert log.startswith("The audit log")
    assert told(file, audit=False, **more) == []


def test_a_log_that_may_fail_stops_nobody(file: Path, tmp_path: Path):
    assert told(tmp_path, audit=AuditConfig(path=str(file), on_error=OnAuditError.WARN)) == []


def test_a_start_is_refused_for_the_first_of_them(file: Path, tmp_path: Path):
    with pytest.raises(VaultError, match="The token numbers"):
        check_writable(config(file))
    with pytest.raises(AuditError, match="The audit log"):
        check_writable(config(tmp_path, audit=AuditConfig(path=str(file))))


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_directory_that_one_may_not_write_to_is_named(tmp_path: Path):
    tmp_path.chmod(0o500)
    with pytest.raises(GatewayError, match=rf"nothing can be made in {tmp_path} \(Permission denied\)"):
        check_writable(config(tmp_path / "state"))


@pytest.mark.parametrize("system", ["/proc", "/sys"])
def test_a_file_system_on_which_nothing_can_be_made_is_no_place_whatever_its_permissions_say(system: str):
    if not Path(system).is_mount():
        pytest.skip("this machine has none")
    numbers, _log = told(Path(system, "gateway"))
    assert f"nothing can be made in {system} (" in numbers


def test_what_was_made_to_find_out_is_gone(tmp_path: Path):
    assert told(tmp_path) == []
    assert list(tmp_path.iterdir()) == []
