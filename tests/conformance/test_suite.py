"""The official conformance suite loses nothing against what passed before."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.suite import Unavailable, baseline, examine, node

CASES = [(subject, version) for subject, versions in baseline().items() for version in versions]


@pytest.mark.slow
@pytest.mark.parametrize(("subject", "version"), CASES)
def test_the_official_suite_passes_what_it_passed(subject: str, version: str, tmp_path: Path) -> None:
    try:
        node()
    except Unavailable as error:
        pytest.skip(str(error))
    passed, failed = examine(subject, version, tmp_path / "run")
    assert passed >= baseline()[subject][version], failed
