"""What a person is told to run for a part of the installation that is missing."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from cloakllm_gateway.shell.command_hints import own

SOURCE = Path(__file__).parents[2] / "src"


def told(installed: Path, prefix: str = "sys.prefix") -> list[str]:
    """What a gateway says whose metadata are in a folder, in words as a shell takes them."""
    say = "from cloakllm_gateway.shell.command_hints import installing; print(installing('detection'))"
    isolated = f"import sys; sys.path[:0] = {[str(installed), str(SOURCE)]!r}; sys.prefix = {prefix}; {say}"
    run = subprocess.run([sys.executable, "-I", "-c", isolated], capture_output=True, text=True, check=True)
    before, command = run.stdout.split(" ", 1)
    assert before == "Run:"
    return shlex.split(command)


def installation(folder: Path, by: str, source: object) -> Path:
    """A folder with the metadata that an installer leaves."""
    info = folder / "cloakllm_gateway-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.4\nName: cloakllm-gateway\nVersion: 0.1.0\n")
    (info / "INSTALLER").write_text(f"{by}\n")
    if source:
        (info / "direct_url.json").write_text(json.dumps(source))
    return folder


PIP = [sys.executable, "-m", "pip", "install"]


@pytest.mark.parametrize(
    ("source", "url"),
    [
        (None, None),
        ({"url": "file:///srv/gate%20way", "dir_info": {}}, "file:///srv/gate%20way"),
        ({"url": "file:///srv/x-0.1.0-py3-none-any.whl", "archive_info": {}}, "file:///srv/x-0.1.0-py3-none-any.whl"),
        (
            {"url": "https://git.example/g.git", "vcs_info": {"vcs": "git", "commit_id": "0a1b"}},
            "git+https://git.example/g.git@0a1b",
        ),
    ],
)
def test_an_extra_comes_from_where_the_gateway_came_from(tmp_path: Path, source: object, url: str | None) -> None:
    *command, wanted = told(installation(tmp_path, "pip", source))
    requirement = Requirement(wanted)
    assert command == PIP
    assert (requirement.name, requirement.extras, requirement.url) == ("cloakllm-gateway", {"detection"}, url)


def test_an_editable_installation_stays_one(tmp_path: Path) -> None:
    source = {"url": "file:///srv/gate%20way", "dir_info": {"editable": True}}
    assert told(installation(tmp_path, "pip", source)) == [*PIP, "-e", "/srv/gate way[detection]"]


def test_what_uv_installed_is_extended_by_uv(tmp_path: Path) -> None:
    assert told(installation(tmp_path, "uv", None)) == [
        *("uv", "pip", "install", "--python", sys.executable),
        "cloakllm-gateway[detection]",
    ]


def test_what_pipx_installed_is_extended_by_pipx(tmp_path: Path) -> None:
    installed = installation(tmp_path, "pip", {"url": "file:///srv/gateway", "dir_info": {}})
    with next(installed.glob("*.dist-info/METADATA")).open("a") as metadata:
        metadata.write("Requires-Dist: anyio\nRequires-Dist: spacy<3.9,>=3.8; extra == 'detection'\n")
        metadata.write(
            'Requires-Dist: tokenizers>=0.21; extra == "detection"\nRequires-Dist: redis; extra == "redis"\n'
        )
    (tmp_path / "pipx_metadata.json").write_text("{}")
    assert told(installed, repr(str(tmp_path))) == [
        *("pipx", "inject", "cloakllm-gateway"),
        *("spacy<3.9,>=3.8", "tokenizers>=0.21"),
    ]


def test_a_command_of_the_gateway_works_where_it_is_pasted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    words = shlex.split(own("token", "add", "NAME", "--file", str(tmp_path / "my tokens")))
    assert Path(words[0]).is_absolute()
    assert words[-4:] == ["add", "NAME", "--file", str(tmp_path / "my tokens")]
    assert subprocess.run([*words[: words.index("token")], "--version"], capture_output=True, check=True).stdout
    (tmp_path / "cloakllm-gateway").write_text("#!/bin/sh\n")
    (tmp_path / "cloakllm-gateway").chmod(0o755)
    assert own("check").startswith("cloakllm-gateway check")
