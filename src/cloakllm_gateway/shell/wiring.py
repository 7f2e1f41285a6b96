"""From a configuration to the parts of a running gateway."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
from pathlib import Path
from threading import Lock

from msgspec import Struct
from msgspec.structs import replace

from cloakllm_gateway import __version__
from cloakllm_gateway.core.gateway import Gateway
from cloakllm_gateway.core.jobs import never
from cloakllm_gateway.core.settings import Flow, RawData, Settings, UpstreamSettings
from cloakllm_gateway.detection.categories import NAMES
from cloakllm_gateway.detection.settings import Settings as DetectionSettings
from cloakllm_gateway.shell.cleaner import Cleaner
from cloakllm_gateway.shell.config import (
    Backend,
    Config,
    Sensitive,
    UnknownToken,
    UpstreamConfig,
    detection_settings,
)
from cloakllm_gateway.shell.link import Link
from cloakllm_gateway.shell.logging import Logger
from cloakllm_gateway.shell.rules import tool_rules
from cloakllm_gateway.shell.scanner import Scanner
from cloakllm_gateway.shell.steps import Post
from cloakllm_gateway.shell.stores import STORES, Options, Quotas, Store, default_state_dir
from cloakllm_gateway.shell.supervisor import Restarts, Spec, Supervisor
from cloakllm_gateway.shell.variables import started
from cloakllm_gateway.vault.tokens import LITERAL
from cloakllm_gateway.vault.vault import Vault

#: Whose values these are: with the store in memory the one client's, else everybody's who names no namespace.
_ALONE, _TOGETHER = "stdio", "default"
#: Before the names of principals over HTTP, where no namespace is named.
_PRINCIPALS = "http"


class Shared(Struct, frozen=True):
    """What all sessions of one process have in common; ``namespace`` is that of a single client."""

    config: Config
    detection: DetectionSettings
    settings: Settings
    state_dir: Path | None
    scanner: Scanner
    store: Store
    logger: Logger
    namespace: str


class Parts(Struct, frozen=True):
    """Everything one session runs on; ``principal`` is who it was opened for, empty where nobody has to say."""

    shared: Shared
    gateway: Gateway
    vault: Vault
    cleaner: Cleaner
    namespace: str
    principal: str = ""


def share(config: Config, logger: Logger) -> Shared:
    """Build what sessions share; nothing is started and nothing written.  Raises :class:`ConfigError`."""
    detection = detection_settings(config.detection)
    scanner = Scanner(detection)
    if scanner.names_missing and config.sanitize:
        logger.log("warning", "names_in_free_text_are_not_covered", reason=scanner.names_missing)
    store, namespace = open_store(config)
    return Shared(
        config=config,
        detection=detection,
        settings=core_settings(config, detection),
        state_dir=state_dir_of(config),
        scanner=scanner,
        store=store,
        logger=logger,
        namespace=namespace,
    )


def parts_of(shared: Shared, namespace: str, principal: str = "") -> Parts:
    """The parts of one session, whose values lie in ``namespace``."""
    vault = Vault(changing=Lock())
    # What one session hands out means nothing to another.
    settings = replace(shared.settings, secret=secrets.token_bytes(32))
    # Where others add to the store, what was looked at is compared with what they know by then.
    at_once = never if shared.store.shared else shared.scanner.at_once
    gateway = Gateway(settings, vault, time.monotonic, at_once)
    return Parts(
        shared=shared,
        gateway=gateway,
        vault=vault,
        cleaner=Cleaner(settings, vault, shared.scanner, shared.store, namespace, gateway.disclosed),
        namespace=namespace,
        principal=principal,
    )


def assemble(config: Config, logger: Logger) -> Parts:
    """The parts of a process with one session; raises like :func:`share`."""
    shared = share(config, logger)
    return parts_of(shared, shared.namespace)


def state_dir_of(config: Config) -> Path | None:
    """The directory for state, None where there is no place for one."""
    return Path(config.state_dir).expanduser() if config.state_dir else default_state_dir()


def open_store(config: Config) -> tuple[Store, str]:
    """The configured store, and the namespace of this gateway in it."""
    vault = config.vault
    options = Options(
        state_dir=state_dir_of(config),
        quotas=Quotas.of(vault.max_values, vault.max_values_per_upstream, vault.max_values_per_message),
        ttl=vault.ttl,
        path=Path(vault.path) if vault.path else None,
        url=vault.url,
        key_file=vault.key_file,
    )
    store = STORES[vault.backend](options)
    return store, vault.namespace or (_TOGETHER if store.shared else _ALONE)


def principal_namespace(config: Config, principal: str) -> str:
    """Where the values of a principal over HTTP lie.  A colon is in no name that a configuration may give."""
    return f"{config.vault.namespace or _PRINCIPALS}:{principal}"


def core_settings(config: Config, detection: DetectionSettings) -> Settings:
    """The configuration as the core takes it."""
    return Settings(
        upstreams={name: _upstream(name, upstream) for name, upstream in config.upstreams.items()},
        sanitize=config.sanitize,
        token_scope=config.token_scope,
        sensitive_to_origin_only=config.sensitive is Sensitive.ORIGIN,
        flows=tuple(
            Flow(flow.origin, flow.to, flow.action, frozenset(flow.categories), flow.hosts) for flow in config.flows
        ),
        groups=tuple(frozenset(group) for group in config.groups),
        raw_data={
            name: config.raw_pii.get(name, config.raw_pii.get("default", RawData.LOG)) for name in config.upstreams
        },
        mode=config.mode,
        tool_changes=config.tool_changes,
        persistent=config.vault.backend is not Backend.MEMORY,
        refuse_unknown_tokens=config.unknown_token is UnknownToken.REFUSE,
        categories=token_categories(detection),
        allow_list=detection.allow_list,
        startup_wait=config.startup_wait,
        name_budget=config.name_budget,
        max_pending=config.limits.max_pending,
        max_bytes=config.limits.max_message_bytes,
        max_depth=config.limits.max_depth,
        version=__version__,
        bridge_versions=config.bridge_versions,
    )


def token_categories(detection: DetectionSettings) -> frozenset[str]:
    """The names that make ``[NAME_1]`` a token."""
    labels = detection.names.labels if detection.names else ()
    return NAMES.union(labels, (name for name, _ in detection.custom_patterns), (LITERAL,))


def _upstream(name: str, config: UpstreamConfig) -> UpstreamSettings:
    return UpstreamSettings(
        name=name,
        prefix=name if config.prefix is None else config.prefix,
        origin=f"{name}#{fingerprint(config)}",
        categories=config.categories,
        tools=tool_rules(config.tools),
        token_scope=config.token_scope,
        request_timeout=config.request_timeout,
        startup_timeout=config.startup_timeout,
        ui=config.ui,
        sampling=_granted(config.sampling, config),
        elicitation=_granted(config.elicitation, config),
        exact_links=config.exact_links,
        roots=_granted(config.roots, config),
        relax_input_schema=config.relax_input_schema,
        over_http=config.url is not None,
        pass_headers=config.pass_headers,
        configured=_configured(config),
    )


def _configured(config: UpstreamConfig) -> tuple[str, ...]:
    """What the configuration says to or about an upstream, that is no secret; many programs expand a ``~``."""
    args = started(config, os.environ).args
    said = [text for text in (config.command, *args, config.cwd, config.url) if text]
    return (*said, *(os.path.expanduser(text) for text in said if text.startswith("~")))


def _granted(wanted: bool | None, config: UpstreamConfig) -> bool:
    """What is not said: a program on this machine may ask the client, a server elsewhere may not."""
    return config.command is not None if wanted is None else wanted


def fingerprint(config: UpstreamConfig) -> str:
    """What tells two upstreams of the same name apart: a command and its arguments, or a URL without credentials.

    Variables in arguments are not replaced: they may hold a credential, and a new one makes no other program.
    """
    if config.url is None:
        what = [config.command, *config.args]
    else:
        from cloakllm_gateway.shell.remote.target import identity

        what = [*identity(config, os.environ)]
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:8]


def link_to(parts: Parts, name: str, post: Post, restarts: Restarts) -> Link:
    """The way to one upstream; nothing is started."""
    shared = parts.shared
    spec = Spec(name, started(shared.config.upstreams[name], os.environ), shared.config.limits.max_message_bytes)
    clean = parts.cleaner.for_upstream(name)
    if spec.upstream.url is None:
        return Supervisor(spec, post, clean, shared.logger, restarts=restarts)
    from cloakllm_gateway.shell.remote.link import Remote  # brings an HTTP client along

    return Remote(spec, post, clean, shared.logger, restarts=restarts)
