"""Where the gateway keeps what must outlive it: one directory per user."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_NAME = "cloakllm-gateway"


def default_state_dir() -> Path | None:
    """The user's state directory, or None where there is none (a service user without a home).

    Source: XDG Base Directory Specification 0.8; ``platformdirs`` for other systems.
    """
    if sys.platform in ("win32", "darwin"):
        from platformdirs import user_state_path

        return user_state_path(_NAME, appauthor=False)
    configured = os.environ.get("XDG_STATE_HOME", "")
    if os.path.isabs(configured):
        return Path(configured, _NAME)
    home = os.path.expanduser("~")
    return Path(home, ".local", "state", _NAME) if os.path.isdir(home) else None
