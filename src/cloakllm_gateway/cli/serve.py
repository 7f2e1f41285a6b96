"""``serve``: one client on standard input and output, or many over HTTP."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import anyio
from msgspec.structs import replace

from cloakllm_gateway.cli.faults import explained, report_uncaught
from cloakllm_gateway.errors import ConfigError
from cloakllm_gateway.shell import run
from cloakllm_gateway.shell.config import Config, load
from cloakllm_gateway.shell.listen import DEFAULT_ADDRESS, ListenConfig, check_listen
from cloakllm_gateway.shell.logging import Logger
from cloakllm_gateway.shell.streams import Streams
from cloakllm_gateway.shell.structs import Invalid


def serve(path: str, streams: Streams) -> int:
    """Serve the configuration at ``path`` the way it says; returns the exit status.

    Where it says nothing of HTTP, that is one client on ``streams`` until it leaves.
    """
    sys.excepthook = report_uncaught
    return explained(lambda: _serve(path, streams))


def _serve(path: str, streams: Streams) -> int:
    config = load(Path(path))
    if config.listen is not None:
        return _serve_http(config)
    logger = Logger(config.log_level)
    if os.isatty(streams.read_fd):
        logger.log("info", "waiting_for_a_client", hint="a client starts this command; --check tries it without one")
    anyio.run(run.serve, config, logger, streams)
    return 0


def serve_http(path: str, address: str | None, *, no_auth: bool) -> int:
    """Serve clients over HTTP at ``address``, else where the configuration says; returns the exit status.

    An empty address is the default one, and None is none.
    """
    sys.excepthook = report_uncaught
    return explained(lambda: _serve_http(listening(load(Path(path)), address, no_auth=no_auth)))


def listening(config: Config, address: str | None, *, no_auth: bool) -> Config:
    """``config`` with what the command line says instead.  Raises :class:`ConfigError`."""
    if address is None and config.listen is None:  # what lowers security opens no port by itself
        raise ConfigError("--no-auth is about clients over HTTP, and none are served", 'Add --http, or set "listen"')
    listen = config.listen or ListenConfig(http=DEFAULT_ADDRESS)
    if address:
        listen = replace(listen, http=address, unix=None)
    try:
        check_listen(listen, False if no_auth else config.auth)
    except Invalid as error:
        raise ConfigError(f"serve --http: {error.path} {error.problem}", error.hint) from None
    return replace(config, listen=listen, auth=False if no_auth else config.auth)


def _serve_http(config: Config) -> int:
    from cloakllm_gateway.shell.hosting import serve_http  # most gateways serve one client over pipes

    anyio.run(serve_http, config, Logger(config.log_level))
    return 0
