"""The map of the project names every module, and nothing that is not there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "cloakllm_gateway"
#: The part of the map that lists modules.
LISTED = (ROOT / "ARCHITECTURE.md").read_text("utf-8").partition("## The modules")[2].partition("\n## ")[0]
NAMED = set(re.findall(r"`([a-z_]+/?)`", LISTED))


def test_every_module_is_named_or_lies_in_a_folder_that_is() -> None:
    missing = [
        str(module.relative_to(PACKAGE))
        for module in PACKAGE.rglob("*.py")
        if module.stem not in NAMED
        and not any(f"{folder}/" in NAMED for folder in module.relative_to(PACKAGE).parts[:-1])
        and module.name not in ("__init__.py", "__main__.py")
    ]
    assert missing == []


def test_whatever_is_named_there_exists() -> None:
    modules = {module.stem for module in PACKAGE.rglob("*.py")}
    folders = {folder.name for folder in PACKAGE.rglob("*") if folder.is_dir()}
    gone = [name for name in NAMED if name.rstrip("/") not in (folders if name.endswith("/") else modules | folders)]
    assert gone == []
