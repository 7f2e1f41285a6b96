"""The light list of names, the documentation and the catalogue say the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from cloakllm_gateway.detection.catalogue import CATALOGUE
from cloakllm_gateway.detection.categories import NAMES

ROOT = Path(__file__).parents[2]


def test_every_category_is_named_and_every_name_is_a_category() -> None:
    assert frozenset(CATALOGUE) == NAMES


def test_the_documented_table_is_the_catalogues() -> None:
    made = subprocess.run([sys.executable, "bench/categories.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert (ROOT / "docs" / "categories.md").read_text("utf-8") == made.stdout
