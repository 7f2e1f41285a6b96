"""The demo plays a session on the product itself, wherever it is started."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def test_the_demo_shows_tokens_to_the_model_and_writes_the_real_values_beside_strange_modules(tmp_path: Path) -> None:
    """A folder that one happens to be in is no place to import from."""
    for name in ("html", "json", "typing", "cloakllm_gateway"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported from the folder')\n")
    played = subprocess.run(
        [sys.executable, "-P", "-m", "cloakllm_gateway", "demo"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120, env={**os.environ, "COLUMNS": "80"},
    )  # fmt: skip
    assert played.returncode == 0, played.stderr
    saw, landed = played.stdout.split("what the model sent")
    assert "[EMAIL_0]" in saw and "To: marta@kowalczyk.pl" in landed
    assert all(path.suffix == ".py" for path in tmp_path.iterdir())
