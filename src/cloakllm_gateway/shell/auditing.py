"""The audit log as part of a running gateway: where it lies, and what a session says of itself."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import msgspec
from anyio.abc import TaskGroup

from cloakllm_gateway import __version__
from cloakllm_gateway.audit.schema import body
from cloakllm_gateway.detection.categories import NAMES
from cloakllm_gateway.shell.audit.log import Log
from cloakllm_gateway.shell.audit.recorder import Audit
from cloakllm_gateway.shell.config import Config
from cloakllm_gateway.shell.stores import default_state_dir
from cloakllm_gateway.shell.wiring import Parts, Shared

#: The directory of the log within that of the state.
DIRECTORY = "audit"


def directory_of(config: Config) -> Path | None:
    """Where the log of ``config`` lies; None where it is off or there is no place for it."""
    if not config.audit:
        return None
    if config.audit.path is not None:
        return Path(config.audit.path)
    state = Path(config.state_dir) if config.state_dir else default_state_dir()
    return None if state is None else state / DIRECTORY


def audit_of(shared: Shared) -> Audit | None:
    """The audit of a session; None where there is none."""
    directory = directory_of(shared.config)
    if not shared.config.audit or directory is None:
        return None
    return Audit(shared.config.audit, directory, shared.logger)


def warn_where_not_audited(shared: Shared) -> None:
    """Say that no decision will be recorded, where that is so."""
    if directory_of(shared.config) is None:
        reason = "there is no state directory" if shared.config.audit else "the configuration says so"
        shared.logger.log("warning", "audit_is_off", reason=reason, key="audit")


def append_entry(config: Config, event: str, fields: Mapping[str, Any]) -> None:
    """One entry of a command, which is a session by itself; nothing where the log is off.  Raises ``AuditError``."""
    directory = directory_of(config)
    if directory is None:
        return
    log = Log(directory, os.urandom(8).hex())
    try:
        log.append([body(event, fields)])
        log.sync()
    finally:
        log.close()


@asynccontextmanager
async def audited(audit: Audit | None, parts: Parts, tasks: TaskGroup) -> AsyncIterator[None]:
    """A session between its first and its last entry, however it ends.  Raises :class:`AuditError` at its begin."""
    if audit is None:
        yield
        return
    await audit.open(_session_open(parts), msgspec.json.encode(parts.shared.config, order="sorted"))
    tasks.start_soon(audit.run)
    try:
        yield
    finally:
        with anyio.CancelScope(shield=True):
            await audit.close()


def _session_open(parts: Parts) -> dict[str, Any]:
    config, detection, scanner = parts.shared.config, parts.shared.detection, parts.shared.scanner
    custom = {name for name, _ in detection.custom_patterns}
    labels = detection.names.labels if detection.names and scanner.covers_names else ()
    detecting = NAMES.difference(detection.off).union(custom, labels) if config.sanitize else ()
    return {
        "versions": {"gateway": __version__, "python": sys.version.split()[0]},
        "upstreams": list(config.upstreams),
        "sanitize": config.sanitize,
        "detecting": sorted(detecting),
        "names": scanner.covers_names,
        "proved": config.sanitize,
        **({"principal": parts.principal} if parts.principal else {}),
    }
