"""Many clients over HTTP: what they share is started once, and each session gets a core of its own."""

from __future__ import annotations

import os
import time
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Final

import anyio

from cloakllm_gateway.errors import ConfigError
from cloakllm_gateway.protocol.jsonrpc import Limits
from cloakllm_gateway.shell import signals
from cloakllm_gateway.shell.auditing import audit_of, warn_where_not_audited
from cloakllm_gateway.shell.command_hints import own
from cloakllm_gateway.shell.config import Config
from cloakllm_gateway.shell.front import tokens
from cloakllm_gateway.shell.front.channels import Channel
from cloakllm_gateway.shell.front.doorkeeper import Doorkeeper
from cloakllm_gateway.shell.front.endpoint import Endpoint
from cloakllm_gateway.shell.front.gate import Rules
from cloakllm_gateway.shell.front.hub import Bounds, Hub
from cloakllm_gateway.shell.front.server import bound, listening
from cloakllm_gateway.shell.front.tokens import Authenticator
from cloakllm_gateway.shell.library_logs import library_logs
from cloakllm_gateway.shell.listen import Address, ListenConfig, address_of, allowed_hosts, check_certificate
from cloakllm_gateway.shell.logging import Logger
from cloakllm_gateway.shell.process import SpawnError, environment, program_of
from cloakllm_gateway.shell.proof import prove
from cloakllm_gateway.shell.run import check_store, converse, keep_garbage_cheap
from cloakllm_gateway.shell.wiring import Shared, parts_of, principal_namespace, share, state_dir_of
from cloakllm_gateway.shell.writable import check_writable

#: Seconds that requests in flight get when the gateway is told to end.
LAST_ANSWERS: Final = 3.0


async def serve_http(config: Config, logger: Logger) -> None:
    """Serve all clients that come, until a signal does; a second signal ends at once.

    Raises :class:`ConfigError` where the address can't be had,
    :class:`DetectionError` if the start-up proof fails, and
    :class:`VaultError` and :class:`AuditError` if the state is damaged or
    can't be written.
    """
    listen = config.listen
    assert listen is not None
    address = None if listen.http is None else address_of(listen.http)
    if listen.tls is not None:
        check_certificate(listen.tls)
    authenticator = authenticator_of(config, logger)
    check_writable(config)
    shared = share(config, logger)
    keep_garbage_cheap()
    check_store(shared)
    warn_where_not_audited(shared)
    warn_of_missing_programs(config, logger)
    with library_logs(logger), closing(shared.store), bound(listen, address) as at:
        if address is not None:
            address = Address(address.host, at.getsockname()[1])
        doorkeeper = Doorkeeper(authenticator, logger, time.monotonic)
        async with anyio.create_task_group() as tasks:
            told = anyio.Event()
            tasks.start_soon(signals.heed, lambda: tasks.cancel_scope.cancel() if told.is_set() else told.set())
            tasks.start_soon(shared.scanner.run)
            await prove(shared)
            hub = Hub(_bounds(config, listen), partial(_serve_channel, shared), tasks, logger)
            tasks.start_soon(hub.run)
            limits = Limits(config.limits.max_message_bytes, config.limits.max_depth)
            endpoint = Endpoint(_rules(config, listen, address), doorkeeper.identify, hub, limits)
            async with listening(endpoint, at, listen.tls):
                logger.log("info", "listening", at=_place(listen, address))
                await told.wait()
                logger.log("info", "shutting_down")
                await hub.shut_down()
            tasks.cancel_scope.cancel()


def warn_of_missing_programs(config: Config, logger: Logger) -> None:
    """Upstreams are started with each session: whoever starts the gateway is told now which will not be."""
    for name, upstream in config.upstreams.items():
        if upstream.command is not None:
            try:
                program_of(upstream, environment(upstream, os.environ))
            except SpawnError as error:
                logger.log("warning", "upstream_will_not_start", upstream=name, reason=error, **error.details)


async def _serve_channel(shared: Shared, channel: Channel) -> None:
    """The session of one channel, with upstreams, values and an account in the audit of its own."""
    parts = parts_of(shared, _namespace(shared, channel), channel.principal)
    try:
        await converse(parts, channel, audit_of(shared), _at_once, last_answers=LAST_ANSWERS)
    finally:
        if not shared.store.shared:  # nobody will come back to these values
            await shared.store.forget(parts.namespace)


async def _at_once() -> None:
    """Everything that sessions share has been prepared."""


def _namespace(shared: Shared, channel: Channel) -> str:
    """Whose values these are: the principal's; where they do not outlive the process, the session's."""
    owner = principal_namespace(shared.config, channel.principal)
    return owner if shared.store.shared else f"{owner}:{channel.key}"


def authenticator_of(config: Config, logger: Logger) -> Authenticator:
    """Who is let in.  Raises :class:`ConfigError` and :class:`VaultError`."""
    listen = config.listen
    if config.auth and config.auth.tokens_file is not None:
        file = config.auth.tokens_file
        logger.log("info", "http_tokens", file=file, another=own("token", "add", "NAME", "--file", file))
        return tokens.TokenFile(Path(config.auth.tokens_file))
    if listen is not None and listen.unix is not None:
        return tokens.Everybody(tokens.LOCAL)  # its file lets nobody else in
    if not config.auth:
        what = "every program and every user of this machine gets in, and all are one"
        logger.log("warning", "http_without_tokens", meaning=what, key="auth")
        return tokens.Everybody(tokens.ANYBODY)
    state_dir = state_dir_of(config)
    if state_dir is None:
        raise ConfigError("There is no place for the token of the HTTP front", "Set state_dir, or auth.tokens_file")
    one = tokens.generated(state_dir)
    logger.log("info", "http_token", file=one.place, meaning="clients send what it holds: Authorization: Bearer ...")
    return one


def _bounds(config: Config, listen: ListenConfig) -> Bounds:
    unread = 2 * config.limits.max_message_bytes
    return Bounds(listen.idle, listen.max_sessions, listen.max_sessions_per_principal, unread)


def _rules(config: Config, listen: ListenConfig, address: Address | None) -> Rules:
    return Rules(
        path=listen.path.encode("ascii"),
        hosts=None if address is None else allowed_hosts(listen, address),
        origins=frozenset(origin.lower() for origin in listen.origins),
        passed=frozenset(name.lower() for upstream in config.upstreams.values() for name in upstream.pass_headers),
    )


def _place(listen: ListenConfig, address: Address | None) -> str:
    if address is None:
        return f"{listen.unix} {listen.path}"
    return f"{'https' if listen.tls else 'http'}://{address}{listen.path}"
