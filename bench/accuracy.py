"""Recall and false hits of the engine on labelled sets, one table.

    python bench/accuracy.py [SET ...] [--names [LABEL,...]] [--misses LABEL] [--false]

The sets are read from ``$CLOAKLLM_SHARED/data`` (default ``../shared/data``) where they are there; they are
not part of the project.  A labelled span counts as hidden when at least 99 % of its characters that are no
white space are covered; a hit counts as right when at least half of its characters lie in a labelled span.
Only direct identifiers count for recall.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from cloakllm_gateway.detection import names
from cloakllm_gateway.detection.engine import Detector
from cloakllm_gateway.detection.settings import NameSettings, Settings
from cloakllm_gateway.shell import name_models
from cloakllm_gateway.spans import Span, Text

DIRECT = frozenset(
    "PERSON EMAIL PHONE CARD IBAN SSN IP ADDRESS NATIONAL_ID SECRET DOB BANK_ACCOUNT MRN TAX_ID USERNAME PASSPORT "
    "DRIVER_LICENSE BIC ENCODED_PII ACCOUNT_ID MAC IMEI CODE HOSTNAME GEO WALLET VIN LICENSE_PLATE EMPLOYEE_ID "
    "INSURANCE_POLICY_NUMBER".split()
)
SHARED = Path(os.environ.get("CLOAKLLM_SHARED", Path(__file__).parents[2] / "shared")) / "data"


Find = Callable[[str], Sequence[Span]]


def finder(labels: str | None) -> Find:
    """The engine as the default configuration has it; with names in free text where ``labels`` are given."""
    detector = Detector(Settings())
    if labels is None:
        return lambda text: detector.find([Text(text)])[0]
    recogniser = name_models.load(NameSettings(labels=tuple(labels.split(","))))

    def find(text: str) -> Sequence[Span]:
        texts = [Text(text)]
        return names.with_names(detector.find(texts), texts, recogniser)[0]

    return find


def documents(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", help="names of sets; all by default")
    parser.add_argument(
        "--names", nargs="?", const="PERSON", help="names in free text too; of these labels, PERSON by default"
    )
    parser.add_argument("--misses", default="", help="print what of this label was missed ('all' for every label)")
    parser.add_argument("--false", action="store_true", help="print the false hits")
    options = parser.parse_args()
    paths = sorted(SHARED.glob("*/*.jsonl"))
    if not paths:
        raise SystemExit(f"No labelled sets under {SHARED}: set CLOAKLLM_SHARED")
    find = finder(options.names)
    print(
        f"{'set':32} {'recall':>8} {'without PERSON':>15} {'precision':>10} {'hits':>6} {'false':>6} "
        f"{'KB':>7} {'MB/s':>6}"
    )
    for path in paths:
        name = path.parent.name if path.stem == "data" else f"{path.parent.name}/{path.stem}"
        if not options.sets or any(name.startswith(wanted) for wanted in options.sets):
            measure(name, path, find, options)


def measure(name: str, path: Path, find: Find, options: argparse.Namespace) -> None:
    wanted: Counter[str] = Counter()
    hidden: Counter[str] = Counter()
    hits = right = size = 0
    spent = 0.0
    for document in documents(path):
        text, labelled = document["text"], document.get("spans", [])
        started = time.process_time()
        found = find(text)
        spent += time.process_time() - started
        size += len(text)
        covered = {i for span in found for i in range(span.start, span.end)}
        for span in labelled:
            if span["label"] not in DIRECT:
                continue
            places = [i for i in range(span["start"], span["end"]) if not text[i].isspace()]
            wanted[span["label"]] += 1
            if sum(i in covered for i in places) >= 0.99 * len(places):
                hidden[span["label"]] += 1
            elif options.misses in (span["label"], "all"):
                print(f"    missed {span['label']}: {around(text, span['start'], span['end'])}")
        truth = {i for span in labelled for i in range(span["start"], span["end"])}
        for hit in found:
            hits += 1
            if 2 * sum(i in truth for i in range(hit.start, hit.end)) >= hit.end - hit.start:
                right += 1
            elif options.false:
                print(f"    false {hit.category}: {around(text, hit.start, hit.end)}")
    others, others_hidden = wanted.total() - wanted["PERSON"], hidden.total() - hidden["PERSON"]
    print(
        f"{name:32} {share(hidden.total(), wanted.total())} {share(others_hidden, others):>15} "
        f"{share(right, hits):>10} {hits:6} "
        f"{hits - right:6} {size / 1e3:7.0f} {size / spent / 1e6:6.1f}   "
        + " ".join(f"{label}:{hidden[label]}/{wanted[label]}" for label in sorted(wanted))
    )


def around(text: str, start: int, end: int) -> str:
    return f"{text[start:end]!r} in {text[max(start - 60, 0) : end + 20]!r}"


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:7.1f}%" if whole else "      -"


if __name__ == "__main__":
    main()
