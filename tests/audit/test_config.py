"""``audit`` in the configuration, and where the log lies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cloakllm_gateway.errors import ConfigError
from cloakllm_gateway.shell.auditing import directory_of
from cloakllm_gateway.shell.config import AuditConfig, Config, Fsync, OnAuditError, load


def configured(folder: Path, **more: Any) -> Config:
    path = folder / "gateway.json"
    path.write_text(json.dumps({"upstreams": {"crm": {"command": "crm"}}, **more}))
    return load(path)


def test_decisions_are_recorded_unless_the_configuration_says_no(tmp_path: Path):
    config = configured(tmp_path, state_dir="state")
    assert config.audit == AuditConfig() and directory_of(config) == tmp_path / "state" / "audit"
    config = configured(tmp_path, state_dir="state", audit=False)
    assert config.audit is False and directory_of(config) is None


def test_the_defaults_are_those_that_are_documented():
    audit = AuditConfig()
    assert (audit.fsync, audit.keep_days, audit.on_error) == (Fsync.INTERVAL, 190, OnAuditError.WITHHOLD)
    assert (audit.checkpoint_every.entries, audit.checkpoint_every.seconds, audit.anchor) == (1000, 900, None)


def test_relative_paths_start_at_the_configurations_folder(tmp_path: Path):
    audit = configured(tmp_path, audit={"path": "log", "anchor": {"file": "anchor.txt"}}).audit
    assert audit and audit.anchor
    assert (audit.path, audit.anchor.file) == (str(tmp_path / "log"), str(tmp_path / "anchor.txt"))
    for command, resolved in ((["./push", "x/y"], str(tmp_path / "push")), (["git", "x/y"], "git")):
        audit = configured(tmp_path, audit={"anchor": {"command": command}}).audit
        assert audit and audit.anchor and audit.anchor.command == (resolved, "x/y")


@pytest.mark.parametrize(
    ("audit", "says"),
    [
        (True, "audit: expected an object, got a boolean"),
        (0, "audit: expected an object, got a number"),
        ({"fsnyc": "off"}, 'Did you mean "fsync"'),
        ({"fsync": "sometimes"}, "unknown value"),
        ({"keep_days": 0}, "keep_days"),
        ({"anchor": {}}, "either a file or a command"),
        ({"anchor": {"file": "a", "command": ["b"]}}, "either a file or a command"),
        ({"checkpoint_every": {"minutes": 1}}, "unknown key"),
    ],
)
def test_what_can_not_be_meant_is_refused(tmp_path: Path, audit: Any, says: str):
    with pytest.raises(ConfigError) as error:
        configured(tmp_path, audit=audit)
    assert says in str(error.value)
