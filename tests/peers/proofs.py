"""The start-up proof, handed from one gateway to the next.

In a new state directory a gateway proves its detection first: a second of work, and by far the most of a
short session.  Its user pays it once; a test would pay it for each gateway.  So a gateway gets what an
earlier one with the same detection left, and looks as always whether that is the proof of its own code
and settings.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

#: The file in a state directory that says what was proved.
REMEMBERED = "proved"

#: Where the first gateway with some settings of detection leaves its proof, and the proof once it is there.
_PLACES: dict[str, Path] = {}
_PROOFS: dict[str, bytes] = {}


def lend(config: Mapping[str, Any]) -> None:
    """Put a proof where a gateway with ``config`` looks for it, if its state directory is a new one."""
    detection = json.dumps(config.get("detection"), sort_keys=True)
    state = Path(config["state_dir"])
    if detection not in _PROOFS:
        place = _PLACES.get(detection)
        if place is None or not place.is_file():
            _PLACES[detection] = state / REMEMBERED
            return
        _PROOFS[detection] = place.read_bytes()
    if not state.exists():
        state.mkdir(mode=0o700, parents=True)
        (state / REMEMBERED).touch(mode=0o600)
        (state / REMEMBERED).write_bytes(_PROOFS[detection])


def command(config: Path, content: Mapping[str, Any], *arguments: str) -> list[str]:
    """Write the configuration file of a gateway, and lend it a proof; the command that starts it."""
    config.write_text(json.dumps(content), encoding="utf-8")
    lend(content)
    return [sys.executable, "-m", "cloakllm_gateway", *arguments, "--config", str(config)]
