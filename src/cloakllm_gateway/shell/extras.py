"""Parts of the installation that are asked for by name: what to do where one is missing."""

from __future__ import annotations

import os
import sys


def installing(extra: str) -> str:
    """How to install ``extra`` beside the gateway that is running: another Python on the path may have none of it."""
    import shlex  # needed for errors only

    quote = shlex.quote if os.name == "posix" else '"{}"'.format
    return f"Run: {quote(sys.executable)} -m pip install {quote(f'cloakllm-gateway[{extra}]')}"
