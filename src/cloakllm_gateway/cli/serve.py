"""``serve``: one client on standard input and output."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio

from cloakllm_gateway.cli.faults import explain, first_cause, report_uncaught
from cloakllm_gateway.errors import GatewayError
from cloakllm_gateway.shell import run
from cloakllm_gateway.shell.config import load
from cloakllm_gateway.shell.logging import Logger
from cloakllm_gateway.shell.streams import Streams


def serve(path: str, streams: Streams) -> int:
    """Serve the configuration at ``path`` until the client leaves; returns the exit status."""
    sys.excepthook = report_uncaught
    try:
        config = load(Path(path))
        anyio.run(run.serve, config, Logger(config.log_level), streams)
    except GatewayError as error:
        return explain(error)
    except BaseExceptionGroup as group:
        cause = first_cause(group)
        if not isinstance(cause, GatewayError):
            raise
        return explain(cause)
    return 0
