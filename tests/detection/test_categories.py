"""The light list of names, the documentation and the catalogue say the same."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from cloakllm_gateway.detection.catalogue import CATALOGUE
from cloakllm_gateway.detection.categories import NAMES
from cloakllm_gateway.detection.settings import Settings
from cloakllm_gateway.shell.config import load
from cloakllm_gateway.shell.consistency import NAME_LABELS
from cloakllm_gateway.shell.wiring import core_settings

ROOT = Path(__file__).parents[2]


def test_every_category_is_named_and_every_name_is_a_category() -> None:
    assert frozenset(CATALOGUE) == NAMES


def test_the_documented_table_is_the_catalogues() -> None:
    made = subprocess.run([sys.executable, "bench/categories.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert (ROOT / "docs" / "categories.md").read_text("utf-8") == made.stdout


def test_every_name_that_a_token_may_have_is_documented(tmp_path: Path) -> None:
    path = tmp_path / "gateway.json"
    path.write_text('{"upstreams": {"crm": {"command": "crm-server"}}}')
    possible = core_settings(load(path), Settings()).categories | NAME_LABELS
    documented = re.findall(r"[A-Z][A-Z_]+", (ROOT / "docs" / "categories.md").read_text("utf-8"))
    assert possible <= {*documented}
