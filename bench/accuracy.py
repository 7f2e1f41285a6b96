"""Recall and false hits on labelled sets, one table: the engine, and others beside it where they are installed.

    python bench/accuracy.py [SET ...] [--names [LABEL,...]] [--rivals PYTHON] [--misses LABEL] [--false]

The set ``secrets`` is made here (``credentials.py``).  The others are read from ``$CLOAKLLM_SHARED/data``
(default ``../shared/data``) where they are there; they are not part of the project.  A labelled span counts
as hidden when at least 99 % of its characters that are no white space are covered; a hit counts as right
when at least half of its characters lie in a labelled span.  Only direct identifiers count for recall.

``--rivals`` (or ``$BENCH_PYTHON``) names interpreters, between ``:``, that have other engines: cloakllm,
presidio-analyzer, datafog, cpex-pii-filter.  Each runs in a process of its own and reads the same texts; with
``--names`` those that have a name model use it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import credentials
from finders import ENGINES

from cloakllm_gateway.detection import names
from cloakllm_gateway.detection.engine import Detector
from cloakllm_gateway.detection.settings import NameSettings, Settings
from cloakllm_gateway.shell import name_models
from cloakllm_gateway.spans import Text

DIRECT = frozenset(
    "PERSON EMAIL PHONE CARD IBAN SSN IP ADDRESS NATIONAL_ID SECRET DOB BANK_ACCOUNT MRN TAX_ID USERNAME PASSPORT "
    "DRIVER_LICENSE BIC ENCODED_PII ACCOUNT_ID MAC IMEI CODE HOSTNAME GEO WALLET VIN LICENSE_PLATE EMPLOYEE_ID "
    "INSURANCE_POLICY_NUMBER".split()
)
SHARED = Path(os.environ.get("CLOAKLLM_SHARED", Path(__file__).parents[2] / "shared")) / "data"


class Hit(NamedTuple):
    """What an engine would hide, and as what where it says so."""

    start: int
    end: int
    category: str = ""


class Engine(Protocol):
    name: str

    def find(self, text: str) -> Sequence[Hit]: ...


class Ours:
    """The engine as the default configuration has it; with the name models where ``labels`` are given."""

    name = "cloakllm-gateway"

    def __init__(self, labels: str | None) -> None:
        self._detector = Detector(Settings())
        self._recogniser = name_models.load(NameSettings(labels=tuple(labels.split(",")))) if labels else None

    def find(self, text: str) -> Sequence[Hit]:
        texts = [Text(text)]
        found: Sequence[Any] = self._detector.find(texts)
        if self._recogniser is not None:
            found = names.with_names(found, texts, self._recogniser)
        return [Hit(span.start, span.end, span.category) for span in found[0]]


class Rival:
    """Another engine, under an interpreter that has it; ``name`` is empty where that has not."""

    def __init__(self, python: str, engine: str, with_names: bool) -> None:
        command = [python, str(Path(__file__).with_name("finders.py")), engine, *(["--names"] if with_names else [])]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
        version = self._answer()
        self.name = f"{ENGINES[engine][0]} {version}" if version else ""

    def find(self, text: str) -> Sequence[Hit]:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(text) + "\n")
        self._process.stdin.flush()
        return [Hit(start, end) for start, end in self._answer()]

    def _answer(self) -> Any:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"{self._process.args[1:3]} ended")  # type: ignore[index]
        return json.loads(line)


class Tally:
    """What one engine made of one set."""

    def __init__(self) -> None:
        self.wanted: Counter[str] = Counter()
        self.hidden: Counter[str] = Counter()
        self.hits = self.right = self.size = 0

    def add(self, document: dict[str, Any], found: Sequence[Hit], options: argparse.Namespace) -> None:
        text, labelled = document["text"], document.get("spans", [])
        self.size += len(text)
        covered = {i for hit in found for i in range(hit.start, hit.end)}
        for span in labelled:
            if span["label"] not in DIRECT:
                continue
            places = [i for i in range(span["start"], span["end"]) if not text[i].isspace()]
            self.wanted[span["label"]] += 1
            if sum(i in covered for i in places) >= 0.99 * len(places):
                self.hidden[span["label"]] += 1
            elif options.misses in (span["label"], "all"):
                print(f"    missed {span['label']}: {around(text, span['start'], span['end'])}")
        truth = {i for span in labelled for i in range(span["start"], span["end"])}
        for hit in found:
            self.hits += 1
            if 2 * sum(i in truth for i in range(hit.start, hit.end)) >= hit.end - hit.start:
                self.right += 1
            elif options.false:
                print(f"    false {hit.category}: {around(text, hit.start, hit.end)}")

    def row(self) -> str:
        others = self.wanted.total() - self.wanted["PERSON"]
        others_hidden = self.hidden.total() - self.hidden["PERSON"]
        return (
            f"{share(self.hidden.total(), self.wanted.total())} {share(others_hidden, others):>15} "
            f"{share(self.right, self.hits):>10} {self.hits:6} {self.hits - self.right:6} "
            f"{(self.hits - self.right) / max(self.size, 1) * 100_000:9.1f} {self.size / 1e3:6.0f} "
        )


def sets() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The name of each set and its documents: ``text`` and labelled ``spans``."""
    for path in sorted(SHARED.glob("*/*.jsonl")):
        name = path.parent.name if path.stem == "data" else f"{path.parent.name}/{path.stem}"
        yield name, [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    yield "secrets", list(credentials.documents())


def around(text: str, start: int, end: int) -> str:
    return f"{text[start:end]!r} in {text[max(start - 60, 0) : end + 20]!r}"


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:7.1f}%" if whole else "      -"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", help="names of sets; all by default")
    parser.add_argument(
        "--names", nargs="?", const="PERSON", help="names in free text too; of these labels, PERSON by default"
    )
    parser.add_argument("--rivals", default=os.environ.get("BENCH_PYTHON", ""), help="interpreters with other engines")
    parser.add_argument("--misses", default="", help="print what of this label was missed ('all' for every label)")
    parser.add_argument("--false", action="store_true", help="print the false hits")
    options = parser.parse_args()
    if not SHARED.is_dir():
        print(f"No labelled sets under {SHARED}, only what is made here: set CLOAKLLM_SHARED")
    engines: list[Engine] = [Ours(options.names)]
    for engine in ENGINES:
        rivals = (Rival(python, engine, bool(options.names)) for python in options.rivals.split(":") if python)
        engines += [rival for rival in rivals if rival.name][:1]
    print(
        f"{'set':24} {'engine':26} {'recall':>8} {'without PERSON':>15} {'precision':>10} {'hits':>6} {'false':>6} "
        f"{'per 100KB':>9} {'KB':>6}"
    )
    for name, documents in sets():
        if options.sets and not any(name.startswith(wanted) for wanted in options.sets):
            continue
        for engine in engines:
            tally = Tally()
            for document in documents:
                found = engine.find(document["text"])
                tally.add(document, found, options)
            labels = " ".join(f"{label}:{tally.hidden[label]}/{tally.wanted[label]}" for label in sorted(tally.wanted))
            print(f"{name:24} {engine.name:26} {tally.row()} {labels if engine is engines[0] else ''}", flush=True)


if __name__ == "__main__":
    main()
