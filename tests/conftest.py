"""What holds in every file of tests."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests import effort

#: Descriptors that a file may leave open: what a library opens once and keeps, a few pipes.
FEW = 24
OPEN = Path("/dev/fd")


def pytest_configure(config: pytest.Config) -> None:
    """Who leaves out what is slow is in haste.  Properties ask for it as soon as their files are read."""
    settings.load_profile(effort.HASTY if config.option.markexpr == "not slow" else effort.THOROUGH)


@pytest.fixture(scope="module", autouse=True)
def _descriptors_are_closed(request: pytest.FixtureRequest) -> Iterator[None]:
    """The tests of all files share a process: what each leaves open takes from the next, and in time breaks one."""
    before = _descriptors()
    yield
    if _descriptors() > before + FEW:
        gc.collect()  # an object in a cycle closes what it has when the collector comes by
    left = _descriptors() - before
    assert left <= FEW, f"{request.node.name} leaves {left} descriptors open"


def _descriptors() -> int:
    """How many this process has open; 0 where that can't be seen."""
    return len(os.listdir(OPEN)) if OPEN.is_dir() else 0
