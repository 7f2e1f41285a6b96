"""Parts of the installation that are asked for by name: what to do where one is missing."""

from __future__ import annotations

import os
import sys

NAME = "cloakllm-gateway"


def installing(extra: str) -> str:
    """How to install ``extra`` beside the gateway that is running: another Python on the path may have none of it.

    It comes from where the gateway came from, be that a folder, a wheel or the package index, as whoever installed it
    has written down (PEP 610), and by what installed it: environments of uv have no pip.
    """
    import shlex  # needed for errors only
    from importlib import metadata

    quote = shlex.quote if os.name == "posix" else '"{}"'.format
    try:
        installed = metadata.distribution(NAME)
    except metadata.PackageNotFoundError:  # run from its source
        by, source = "", ""
    else:
        by, source = installed.read_text("INSTALLER") or "", installed.read_text("direct_url.json") or ""
    python = quote(sys.executable)
    command = f"uv pip install --python {python}" if by.strip() == "uv" else f"{python} -m pip install"
    return f"Run: {command} {' '.join(map(quote, _wanted(extra, source)))}"


def _wanted(extra: str, source: str) -> list[str]:
    """The arguments that name the gateway with an extra; ``source`` is its direct URL as JSON, "" from the index."""
    import json
    from urllib.parse import unquote, urlsplit

    wanted = f"{NAME}[{extra}]"
    if not source:
        return [wanted]
    direct = json.loads(source)
    url = direct["url"]
    if direct.get("dir_info", {}).get("editable"):
        path = unquote(urlsplit(url).path)
        return ["-e", f"{path.lstrip('/') if os.name == 'nt' else path}[{extra}]"]  # /C:/folder
    if "vcs_info" in direct:
        url = f"{direct['vcs_info']['vcs']}+{url}@{direct['vcs_info']['commit_id']}"
    return [f"{wanted} @ {url}"]
