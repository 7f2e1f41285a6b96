"""``serve``: one client on standard input and output."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio

from cloakllm_gateway.cli.faults import explained, report_uncaught
from cloakllm_gateway.shell import run
from cloakllm_gateway.shell.config import load
from cloakllm_gateway.shell.logging import Logger
from cloakllm_gateway.shell.streams import Streams


def serve(path: str, streams: Streams) -> int:
    """Serve the configuration at ``path`` until the client leaves; returns the exit status."""
    sys.excepthook = report_uncaught
    return explained(lambda: _serve(path, streams))


def _serve(path: str, streams: Streams) -> int:
    config = load(Path(path))
    anyio.run(run.serve, config, Logger(config.log_level), streams)
    return 0
