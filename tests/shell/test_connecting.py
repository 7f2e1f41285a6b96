"""Connections are made in one place, to what the configuration names."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import cloakllm_gateway

SOURCES = Path(cloakllm_gateway.__file__).parent

#: Modules that speak HTTP to others, and calls that make connections.
SPEAKERS = {
    "httpcore",
    "httpcore2",
    "httpx",
    "httpx2",
    "requests",
    "urllib3",
    "aiohttp",
    "http.client",
    "urllib.request",
}
CONNECTORS = {
    "connect_tcp", "connect_unix", "create_connection", "create_unix_connection", "open_connection",
    "open_unix_connection", "urlopen", "sock_connect",
}  # fmt: skip


def reaches(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.Import(names):
                yield from SPEAKERS & {name.name for name in names}
            case ast.ImportFrom(module=str(module)):
                yield from SPEAKERS & {module}
            case ast.Call(ast.Attribute(attr=name) | ast.Name(id=name)):
                yield from CONNECTORS & {name}


def test_http_is_spoken_to_upstreams_in_one_place_only():
    found = {path.relative_to(SOURCES).as_posix() for path in SOURCES.rglob("*.py") if any(reaches(path))}
    assert found == {"shell/remote/client.py"}
