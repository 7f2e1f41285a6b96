"""Taking each checkpoint to a place that whoever can change the log can't change with it."""

from __future__ import annotations

import os
import subprocess
from typing import Final

from cloakllm_gateway.audit.notes import Note
from cloakllm_gateway.errors import AuditError
from cloakllm_gateway.shell.audit.files import keep
from cloakllm_gateway.shell.config import AnchorConfig
from cloakllm_gateway.shell.private import PRIVATE_FILE

#: Seconds that the command of an anchor may take.
PATIENCE: Final = 10.0
#: A pipe that nobody reads is an error and not a reason to wait.
_NEVER_WAIT: Final[int] = sum(getattr(os, flag, 0) for flag in ("O_CLOEXEC", "O_BINARY", "O_NONBLOCK"))


def anchor(note: Note, where: AnchorConfig) -> None:
    """Append ``note`` to the anchor's file, or give it to its command as its input.  Raises :class:`AuditError`."""
    data = bytes(note) + b"\n"
    if where.file is not None:
        try:
            keep(os.open(where.file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _NEVER_WAIT, PRIVATE_FILE), data)
        except (OSError, ValueError) as error:
            raise AuditError(f"The anchor {where.file} can't be written: {type(error).__name__}") from None
        return
    try:
        done = subprocess.run(where.command, input=data, capture_output=True, timeout=PATIENCE, check=False)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise AuditError(f"The command of audit.anchor failed: {type(error).__name__}") from None
    if done.returncode:
        raise AuditError(f"The command of audit.anchor failed with status {done.returncode}")
