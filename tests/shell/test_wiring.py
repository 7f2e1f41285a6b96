"""What the core learns from a configuration."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cloakllm_gateway.core.settings import Settings
from cloakllm_gateway.shell.config import detection_settings, load
from cloakllm_gateway.shell.wiring import core_settings


def settings(folder: Path, **content: object) -> Settings:
    path = folder / "gateway.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    config = load(path)
    return core_settings(config, detection_settings(config.detection))


def test_the_core_knows_by_which_words_an_upstream_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/mlindqvist")
    args = ["files", "~/docs", "${HOME}/mail"]
    files = {"command": "npx", "args": args, "cwd": "/srv/mlindqvist", "env": {"KEY": "s3cret"}}
    known = settings(tmp_path, upstreams={"files": files}).upstreams["files"].configured
    assert known == (
        "npx", "files", "~/docs", "/home/mlindqvist/mail", "/srv/mlindqvist", "/home/mlindqvist/docs",
    )  # fmt: skip


def test_the_core_knows_the_address_of_an_upstream_and_not_its_credentials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRM_TOKEN", "s3cret")
    crm = {"url": "https://crm.example.com/mcp/kim", "headers": {"Authorization": "Bearer ${CRM_TOKEN}"}}
    known = settings(tmp_path, upstreams={"crm": crm}).upstreams["crm"].configured
    assert known == ("https://crm.example.com/mcp/kim",)


def test_the_core_knows_what_is_never_hidden(tmp_path: Path) -> None:
    detection = {"allow_list": ["support@example.com"]}
    known = settings(tmp_path, upstreams={"crm": {"command": "crm"}}, detection=detection)
    assert known.allow_list == {"support@example.com"}
