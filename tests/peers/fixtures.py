"""Fixtures of the tests that talk to whole programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.peers.driver import Processes, processes


@pytest.fixture
def peers(tmp_path: Path) -> Iterator[Processes]:
    """Starts gateways and upstreams for one test and ends them with it."""
    with processes(tmp_path) as started:
        yield started


@pytest.fixture(scope="module")
def module_peers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    """The same for the tests of one module that share a session."""
    with processes(tmp_path_factory.mktemp("peers")) as started:
        yield started
