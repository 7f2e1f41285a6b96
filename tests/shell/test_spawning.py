"""What is executed comes from the configuration and from nothing else."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import cloakllm_gateway

SOURCES = Path(cloakllm_gateway.__file__).parent

#: Calls that start a program, and the modules that make them.
STARTERS = {
    "open_process", "run_process", "Popen", "check_call", "check_output", "create_subprocess_exec",
    "create_subprocess_shell", "system", "popen", "startfile", "posix_spawn", "posix_spawnp", "fork", "forkpty",
    *(f"exec{how}" for how in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")),
    *(f"spawn{how}" for how in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")),
}  # fmt: skip
START = {
    "shell/process.py",  # upstreams: from the configuration; taskkill: with a process id
    "shell/workers.py",  # the gateway's own detection workers
    "demo/play.py",  # the gateway itself, for the demo
}


def calls(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call):
            yield node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def test_programs_are_started_in_three_places_only():
    found = {
        path.relative_to(SOURCES).as_posix() for path in SOURCES.rglob("*.py") if not STARTERS.isdisjoint(calls(path))
    }
    assert found == START
