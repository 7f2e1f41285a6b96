"""What an upstream could read that it should not: the gateway's state, its keys, its configuration.

A file server that is given a home directory is also given the key of the vault,
and shows it to whoever asks.  Which directories a program will use can only be
guessed from its arguments, so this warns and proves nothing.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from cloakllm_gateway.shell.auditing import directory_of
from cloakllm_gateway.shell.config import KEYRING, Config, UpstreamConfig
from cloakllm_gateway.shell.remote.target import is_overheard, target
from cloakllm_gateway.shell.variables import started
from cloakllm_gateway.shell.wiring import state_dir_of


def exposed(config: Config, path: Path) -> list[str]:
    """One warning for each upstream and thing of the gateway's that lies in a directory the upstream is given."""
    return [
        f"Warning: upstream {name} is given {root}, where {what} of the gateway lies; what it can read it can show"
        for name, upstream in config.upstreams.items()
        for root in _roots(started(upstream, os.environ))
        for what, place in _precious(config, path).items()
        if place.resolve().is_relative_to(root) or root.is_relative_to(place.resolve())
    ]


def changeable(path: Path) -> list[str]:
    """A warning where others can write the configuration, which names programs that run with the user's rights."""
    if os.name != "posix" or not path.stat().st_mode & stat.S_IWOTH:
        return []
    return [f"Warning: every user of this machine can change {path}, and so what is started: chmod o-w {path}"]


def overheard(config: Config) -> list[str]:
    """One warning for each upstream that is spoken to in clear over a network."""
    return [
        f"Warning: upstream {name} is spoken to in clear (insecure); what is restored for it can be read on the way"
        for name, upstream in config.upstreams.items()
        if upstream.url is not None and is_overheard(target(upstream, os.environ))
    ]


def _roots(upstream: UpstreamConfig) -> list[Path]:
    """The directories named by its arguments (`DIR`, `--root=DIR`) or as its working directory."""
    folder = Path(upstream.cwd or ".")
    named = [folder / Path(word.rpartition("=")[2]).expanduser() for word in upstream.args]
    roots = ([folder] if upstream.cwd else []) + [path for path in named if _is_dir(path)]
    return list(dict.fromkeys(root.resolve() for root in roots))


def _precious(config: Config, path: Path) -> dict[str, Path]:
    """What only the gateway should read, and where it is."""
    key_file = config.vault.key_file
    places = {
        "the configuration": path,
        "the state": state_dir_of(config),
        "the vault": config.vault.path,
        "the key of the vault": None if key_file == KEYRING else key_file,
        "the audit log": directory_of(config),
    }
    return {what: Path(place) for what, place in places.items() if place is not None}


def _is_dir(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # no name a file could have
        return False
