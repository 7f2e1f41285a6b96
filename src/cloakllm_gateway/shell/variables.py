"""Variables of the gateway's environment in what the configuration says of an upstream, written as clients write them.

``${NAME}`` and ``${env:NAME}`` are the same, ``${NAME:-otherwise}`` has a default, and ``$${`` is ``${`` itself.  What
a variable holds is never read for variables again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.shell.structs import Invalid

if TYPE_CHECKING:
    from cloakllm_gateway.shell.config import UpstreamConfig

_PLACE = lazy(r"\$\$\{|\$\{([^}]*)\}")
_VARIABLE = lazy(r"(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?")

#: What clients fill in themselves, so that no environment has it (VS Code, Cursor).
_OF_CLIENTS: Final = frozenset("workspaceFolder workspaceFolderBasename workspaceRoot userHome pathSeparator".split())

_SPELLING = "Variables of the environment stand here as ${NAME}, or ${NAME:-otherwise}; $${ is ${ itself"
_SET_IT = "Set it where the gateway is started: a client passes variables in the env of its own configuration"
_WRITE_IT = "Only a client knows what it stands for: write it out"


def expanded(text: str, path: str, environment: Mapping[str, str]) -> str:
    """``text`` with its variables replaced.  Raises :class:`Invalid` for one that is not set."""
    pieces: list[str] = []
    end = 0
    for place in _PLACE.finditer(text):
        pieces += (text[end : place.start()], "${" if place[1] is None else _value(place[1], path, environment))
        end = place.end()
    return "".join((*pieces, text[end:]))


def started(upstream: UpstreamConfig, environment: Mapping[str, str]) -> UpstreamConfig:
    """``upstream`` with the variables in what its program is given, its ``args`` and ``env``.

    Raises :class:`Invalid` with a path that starts within ``upstream``.
    """
    return replace(
        upstream,
        args=tuple(expanded(word, f"args[{i}]", environment) for i, word in enumerate(upstream.args)),
        env={name: expanded(value, f"env.{name}", environment) for name, value in upstream.env.items()},
    )


def placed(upstream: UpstreamConfig, environment: Mapping[str, str]) -> UpstreamConfig:
    """``upstream`` with the variables in what says where its program is, ``command`` and ``cwd``; raises likewise."""
    command, cwd = upstream.command, upstream.cwd
    return replace(
        upstream,
        command=None if command is None else expanded(command, "command", environment),
        cwd=None if cwd is None else expanded(cwd, "cwd", environment),
    )


def _value(named: str, path: str, environment: Mapping[str, str]) -> str:
    found = _VARIABLE.fullmatch(named)
    if found is None:
        is_input = named.startswith("input:")
        raise Invalid(path, "holds a ${...} that names no variable", _WRITE_IT if is_input else _SPELLING)
    value = environment.get(found[1]) or found[2]
    if value is None:
        hint = _WRITE_IT if found[1] in _OF_CLIENTS else _SET_IT
        raise Invalid(path, f"names the variable {found[1]}, which is not set", hint)
    return value
