"""Commands that a person is told to run: for a part of the installation that is missing, and the gateway's own."""

from __future__ import annotations

import os
import sys

NAME = "cloakllm-gateway"


def installing(extra: str) -> str:
    """How to install ``extra`` beside the gateway that is running: another Python on the path may have none of it.

    It comes from where the gateway came from, be that a folder, a wheel or the package index, as whoever installed it
    has written down (PEP 610), and by what installed it: environments of uv have no pip, and pipx keeps account.
    """
    from importlib import metadata

    try:
        installed = metadata.distribution(NAME)
    except metadata.PackageNotFoundError:  # run from its source
        by, source, needs = "", "", []
    else:
        by, source = installed.read_text("INSTALLER") or "", installed.read_text("direct_url.json") or ""
        needs = installed.requires or []
    parts = [need.partition(";")[0].strip() for need in needs if need.endswith((f"'{extra}'", f'"{extra}"'))]
    if parts and os.path.isfile(os.path.join(sys.prefix, "pipx_metadata.json")):
        return f"Run: {shown('pipx', 'inject', NAME, *parts)}"
    pip = ("uv", "pip", "install", "--python") if by.strip() == "uv" else ()
    install = (*pip, sys.executable) if pip else (sys.executable, "-m", "pip", "install")
    return f"Run: {shown(*install, *_wanted(extra, source))}"


def spacy_model(name: str) -> str:
    """How to install a model of spaCy's own: of those on the package index several belong to strangers."""
    return f"Run: {shown(sys.executable, '-m', 'spacy', 'download', name)}"


def own(*words: str) -> str:
    """A command of the gateway's that works where it is pasted: with its path where the shell would not find it."""
    import shutil

    beside = os.path.join(os.path.dirname(sys.executable), NAME)
    if shutil.which(NAME):
        start = [NAME]
    else:
        start = [beside] if shutil.which(beside) else [sys.executable, "-m", "cloakllm_gateway"]
    return shown(*start, *words)


def shown(*words: str) -> str:
    """A command as a shell takes it."""
    import shlex  # needed for errors only

    quote = shlex.quote if os.name == "posix" else '"{}"'.format
    return " ".join(word if word.isalnum() else quote(word) for word in words)


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
