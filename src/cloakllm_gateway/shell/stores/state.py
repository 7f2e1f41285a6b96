"""Where the gateway keeps its state: one private directory per user."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

_NAME = "cloakllm-gateway"


def default_state_dir(environ: Mapping[str, str] = os.environ) -> Path | None:
    """The directory for state by the custom of the platform, None where there is no home directory.

    ``XDG_STATE_HOME`` counts everywhere; else ``~/.local/state``, or what macOS
    and Windows have for it.  A relative ``XDG_STATE_HOME`` is ignored, as the
    XDG Base Directory Specification says.
    """
    chosen = Path(environ.get("XDG_STATE_HOME", ""))
    if chosen.is_absolute():
        return chosen / _NAME
    if sys.platform in ("darwin", "win32"):
        import platformdirs  # only where the customs differ

        return Path(platformdirs.user_state_dir(_NAME, appauthor=False))
    try:
        return Path.home() / ".local" / "state" / _NAME
    except RuntimeError:
        return None


def numbers_dir(state_dir: Path) -> Path:
    """Where the numbers of tokens are claimed."""
    return state_dir / "numbers"


def vault_dir(state_dir: Path) -> Path:
    """Where a store that lasts has its key, what is noted of it, and by default its file."""
    return state_dir / "vault"
