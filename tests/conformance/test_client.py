"""The part of the official conformance suite that tests clients, played through a gateway, finds nothing wrong.

Scenarios on authorization are not played: the gateway sends the credentials it is configured with and asks for none.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conformance.suite import ROOT, SUITE, TIME_LIMIT, Unavailable, node

#: The scenarios, and how many checks each makes of a client.
SCENARIOS = {
    "initialize": 1,
    "tools_call": 2,
    "elicitation-sep1034-client-defaults": 5,
    "sse-retry": 3,
    "request-metadata": 8,
    "sep-2322-client-request-state": 5,
    "http-standard-headers": 9,
    "http-custom-headers": 18,
    "http-invalid-tool-headers": 12,
    "json-schema-ref-no-deref": 1,
    "json-schema-2020-12-preservation": 9,
}


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_official_suite_finds_nothing_wrong_with_the_gateway_as_a_client(scenario: str, tmp_path: Path) -> None:
    try:
        program = node()
    except Unavailable as error:
        pytest.skip(str(error))
    client = f"{sys.executable} -m tests.conformance.client"
    command = [program, str(SUITE), "client", "--command", client, "--scenario", scenario, "-o", str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=TIME_LIMIT, check=False
    )
    checks = SCENARIOS[scenario]
    assert f"Passed: {checks}/{checks}, 0 failed, 0 warnings" in done.stderr, done.stderr[-5000:]
