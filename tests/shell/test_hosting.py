"""What a server of many clients says before there is one."""

from __future__ import annotations

import sys

from cloakllm_gateway.shell.config import Config, UpstreamConfig
from cloakllm_gateway.shell.hosting import warn_of_missing_programs
from tests.shell.notes import Notes


def test_an_upstream_whose_program_is_not_there_is_told_at_the_start():
    upstreams = {
        "crm": UpstreamConfig(sys.executable),
        "files": UpstreamConfig("no-such-program"),
        "far": UpstreamConfig(url="https://mcp.example.com/mcp"),
    }
    notes = Notes()
    warn_of_missing_programs(Config(upstreams), notes)
    (line,) = notes.lines
    assert line.startswith("warning upstream_will_not_start {'upstream': 'files'")
    assert "has a command that was not found" in line
