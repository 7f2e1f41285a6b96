"""Logs to look at: written by the real writer, with a clock of the test's own."""

from __future__ import annotations

import subprocess
import sys
import warnings
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cloakllm_gateway.audit import schema
from cloakllm_gateway.shell.audit.checkpoints import sign
from cloakllm_gateway.shell.audit.log import Log
from tests.patience import PATIENCE

BEGIN = datetime(2026, 5, 1, 8, tzinfo=UTC)


class Clock:
    """Stands still until it is moved."""

    def __init__(self, now: datetime = BEGIN) -> None:
        self.now = now

    def __call__(self) -> str:
        return self.now.isoformat(timespec="milliseconds")

    def advance(self, **by: float) -> None:
        self.now += timedelta(**by)


def sanitized(upstream: str = "crm", **changes: Any) -> dict[str, Any]:
    """The fields of an entry ``sanitize``."""
    return {
        "upstream": upstream,
        "method": "tools/call",
        "direction": "to_model",
        "entity_count": 1,
        "categories": {"EMAIL": 1},
        "tripwire": {},
        "skipped": {},
        "dropped": 0,
        "messages": 1,
        "duration": "1ms",
        **changes,
    }


def body(**changes: Any) -> dict[str, Any]:
    return schema.body("sanitize", sanitized(**changes))


class Writer(Log):
    """A log that is closed when a test lets go of it, as a process that writes one closes it with its end."""

    def __del__(self) -> None:
        if not self._closed:
            with suppress(AttributeError):  # of a log that could not be begun
                self.close()


def writer(directory: Path, clock: Clock | None = None, session: int = 1, **options: Any) -> Log:
    return Writer(directory, f"{session:016x}", clock or Clock(), **options)


def checkpoint(directory: Path) -> None:
    sign(directory, lambda _key: None)


def days(directory: Path, entries: int = 12, days: int = 3) -> Path:
    """A signed log: so many entries, spread over so many days, with a checkpoint at each day's end."""
    clock = Clock()
    log = writer(directory, clock)
    for _ in range(days):
        for _ in range(entries // days):
            log.append([body()])
            clock.advance(seconds=1)
        checkpoint(directory)
        clock.advance(days=1)
    log.close()
    return directory


def accepted(directory: Path) -> bool:
    """Whether the ecosystem's own verifier accepts a log."""
    from cloakllm_verifier import verify_audit

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of a log that lies outside the working directory
        return bool(verify_audit(str(directory))["ok"])


def theirs(directory: Path) -> subprocess.CompletedProcess[str]:
    """What the command of the ecosystem's own verifier says."""
    command = [str(Path(sys.executable).with_name("cloakllm-verify")), "audit", str(directory)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
