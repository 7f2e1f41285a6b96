"""What the regular expressions of ``cloakllm`` find and their checks prove, we find too."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from cloakllm_gateway.detection.catalogue import CATALOGUE, checks
from cloakllm_gateway.detection.engine import Detector
from cloakllm_gateway.spans import Text

cloakllm = pytest.importorskip("cloakllm", reason="cloakllm is not installed: nothing to compare with")

SHARED = Path(os.environ.get("CLOAKLLM_SHARED", Path(__file__).parents[3] / "shared")) / "data"
#: Their category, and what a value must pass to be one.
PROVED = {
    "EMAIL": lambda text: checks.email(text) == len(text),
    "CREDIT_CARD": checks.card,
    "IBAN": lambda text: checks.iban(text) == len(text),
    "SSN": lambda text: re.fullmatch(r"\d{3}-\d{2}-\d{4}", text) and checks.ssn(text),
    "IP_ADDRESS": lambda text: text.count(".") == 3 and checks.ipv4(text),
    "JWT": lambda text: text.count(".") == 2,
    "AWS_KEY": lambda text: text.startswith("AKIA") and len(text) == 20,
}


_PASSWORD_BEFORE = re.compile(r"://[^\s/@]*:\Z")


def texts() -> list[str]:
    """The examples of the catalogue, and the labelled sets where they are there."""
    found = [example.text for category in CATALOGUE.values() for example in category.examples]
    for path in sorted(set(SHARED.glob("*/*.jsonl")) - set(SHARED.glob("clean_tech/*"))):  # ids there, no data
        found += [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()]
    lookalikes = {text for category in CATALOGUE.values() for text in category.lookalikes}
    return [text for text in found if text not in lookalikes]


@pytest.mark.slow
def test_what_the_sdk_finds_and_checks_prove_is_found() -> None:
    shield = cloakllm.Shield(cloakllm.ShieldConfig(audit_enabled=False, ner_entity_types=set()))
    detector = Detector()
    compared = 0
    for text in texts():
        _, tokens = shield.sanitize(text)
        hidden = [False] * len(text)
        for span in detector.find([Text(text)])[0]:
            hidden[span.start : span.end] = [True] * (span.end - span.start)
        for token, value in tokens.reverse.items():
            category = token.strip("[]").rpartition("_")[0]
            if category in PROVED and value in text and PROVED[category](value):
                start = text.index(value)
                if category == "EMAIL" and _PASSWORD_BEFORE.search(text[:start]):
                    continue  # the password of a URL and its host: the host is nobody's address
                compared += 1
                assert all(
                    hide or not char.isalnum()
                    for hide, char in zip(hidden[start : start + len(value)], value, strict=True)
                ), f"{category} of the SDK: {value!r} in {text[max(start - 40, 0) : start + 60]!r}"
    assert compared > 20
