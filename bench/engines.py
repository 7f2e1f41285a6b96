"""Time one engine in a process of its own: ``python bench/engines.py ENGINE``; what `bench/speed.py` runs.

The engines do not share an installation, so each runs under an interpreter
that has it and imports nothing of the others.  Reads a JSON object a line
(``kind``, ``personal``, ``size``, ``rounds``, or ``unit`` and ``size`` for a
hostile text), writes the least CPU seconds of detection and replacement, and
the number of values that were replaced.  With ``new``, a number, it is so many
texts that the engine has not seen, and the seconds are those of the median one.
"""

from __future__ import annotations

import gc
import json
import logging
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import corpora

#: From a text to the text without personal data, and how many values went.
Replace = Callable[[str], tuple[str, int]]


def ours() -> Replace:
    from cloakllm_gateway.detection.engine import Detector
    from cloakllm_gateway.detection.settings import Settings
    from cloakllm_gateway.spans import Text

    detector = Detector(Settings())
    return replacing(lambda text: detector.find([Text(text)])[0])


def ours_named() -> Replace:
    """With the models of names, which are asked afresh about each text."""
    from cloakllm_gateway.detection.engine import Detector
    from cloakllm_gateway.detection.names import Names, with_names
    from cloakllm_gateway.detection.settings import NameSettings, Settings
    from cloakllm_gateway.shell import name_models
    from cloakllm_gateway.spans import Text

    settings = NameSettings()
    detector, models = Detector(Settings(names=settings)), name_models.models(settings)

    def find(text: str) -> list[Any]:
        texts = [Text(text)]
        return with_names(detector.find(texts), texts, Names(models, settings.labels))[0]

    return replacing(find)


def replacing(find: Callable[[str], list[Any]]) -> Replace:
    def replace(text: str) -> tuple[str, int]:
        spans = find(text)
        numbers: dict[tuple[str, str], int] = {}
        parts, at = [], 0
        for span in spans:
            number = numbers.setdefault((span.category, span.canonical), len(numbers))
            parts += [text[at : span.start], f"[{span.category}_{number}]"]
            at = span.end
        return "".join([*parts, text[at:]]), len(spans)

    return replace


def cloakllm(names: bool = False) -> Replace:
    from cloakllm import Shield, ShieldConfig
    from finders import model

    # A model that is there is run whatever labels are asked for, so without names it is not to be found.
    model_name, labels = (model(), {"PERSON"}) if names else ("none", set())
    shield = Shield(
        ShieldConfig(audit_enabled=False, spacy_model=model_name, ner_entity_types=labels, max_input_length=10**9)
    )

    def replace(text: str) -> tuple[str, int]:
        clean, known = shield.sanitize(text)
        return clean, len(known.forward)

    return replace


def presidio() -> Replace:
    """Its pattern recognisers alone: without names, as all engines here."""
    from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
    from presidio_analyzer.nlp_engine import NlpArtifacts, NlpEngine

    class NoModel(NlpEngine):  # type: ignore[misc]
        def load(self) -> None:
            pass

        def is_loaded(self) -> bool:
            return True

        def process_text(self, text: str, language: str) -> Any:
            return NlpArtifacts([], [], [], [], self, language)

        def process_batch(self, texts: Any, language: str, **_: Any) -> Any:
            return ((text, self.process_text(text, language)) for text in texts)

        def is_stopword(self, word: str, language: str) -> bool:
            return False

        def is_punct(self, word: str, language: str) -> bool:
            return False

        def get_supported_entities(self) -> list[str]:
            return []

        def get_supported_languages(self) -> list[str]:
            return ["en"]

    registry = RecognizerRegistry()
    registry.load_predefined_recognizers()
    analyzer = AnalyzerEngine(registry=registry, nlp_engine=NoModel(), supported_languages=["en"])

    def replace(text: str) -> tuple[str, int]:
        parts, at, count = [], 0, 0
        for found in sorted(analyzer.analyze(text, "en"), key=lambda found: (found.start, -found.end)):
            if found.start >= at:
                parts += [text[at : found.start], f"[{found.entity_type}]"]
                at, count = found.end, count + 1
        return "".join([*parts, text[at:]]), count

    return replace


def datafog() -> Replace:
    import datafog

    def replace(text: str) -> tuple[str, int]:
        found = datafog.redact(text, engine="regex")
        return found.redacted_text, len(found.entities)

    return replace


def cpex() -> Replace:
    from cpex_pii_filter import PIIDetectorRust

    engine = PIIDetectorRust({"max_text_bytes": 10**8})

    def replace(text: str) -> tuple[str, int]:
        found = engine.detect(text)
        return engine.mask(text, found), sum(map(len, found.values()))

    return replace


#: Each engine and the distribution it comes from.
ENGINES: dict[str, tuple[str, Callable[[], Replace]]] = {
    "ours": ("cloakllm-gateway", ours),
    "cloakllm": ("cloakllm", cloakllm),
    "presidio": ("presidio-analyzer", presidio),
    "datafog": ("datafog", datafog),
    "cpex": ("cpex-pii-filter", cpex),
}
#: Those that also find names of people in free text, doing so.
NAMED: dict[str, tuple[str, Callable[[], Replace]]] = {
    "ours_named": ("cloakllm-gateway", ours_named),
    "cloakllm_named": ("cloakllm", partial(cloakllm, names=True)),
}


#: Seconds for which an engine is asked about one text, however quick it is.
_LEAST = 0.1


def least(replace: Replace, text: str, rounds: int) -> tuple[float, int]:
    """CPU seconds of the quickest of some rounds, the collector aside, and the values replaced.

    What takes a millisecond is asked more often: one interruption would be all of it.
    """
    best, count, left = float("inf"), 0, _LEAST
    gc.collect()
    gc.disable()
    while rounds > 0 or left > 0:
        began = time.process_time()
        _, count = replace(text)
        taken = time.process_time() - began
        best, left, rounds = min(best, taken), left - taken, rounds - 1
    gc.enable()
    return best, count


def anew(replace: Replace, texts: Sequence[str]) -> float:
    """CPU seconds of the median text, each of them once, behind a first one that does not count."""
    taken = []
    for text in texts:
        began = time.process_time()
        replace(text)
        taken.append(time.process_time() - began)
    return statistics.median(taken[1:])


def peak(text: str) -> int:
    """Bytes that our detection needs at most, its result included, on top of the text."""
    from cloakllm_gateway.detection.engine import Detector
    from cloakllm_gateway.spans import Text

    detector = Detector()
    detector.find([Text(text[:2_000])])
    tracemalloc.start()
    detector.find([Text(text)])
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def main() -> None:
    logging.disable(logging.CRITICAL)
    distribution, build = {**ENGINES, **NAMED}[sys.argv[1]]
    try:
        print(json.dumps({"version": version(distribution)}), flush=True)
    except PackageNotFoundError:
        print(json.dumps({"version": None}), flush=True)
        return
    replace = build()
    for line in sys.stdin:
        task = json.loads(line)
        unit = task.get("unit")
        size = task["size"]
        if task.get("new"):
            texts = [corpora.text(task["kind"], task["personal"], size, at) for at in range(1, task["new"] + 2)]
            print(json.dumps({"seconds": anew(replace, texts)}), flush=True)
            continue
        text = corpora.text(task["kind"], task["personal"], size) if unit is None else unit * (size // len(unit))
        if task.get("memory"):
            print(json.dumps({"bytes": peak(text)}), flush=True)
            continue
        replace(text[:2_000])  # whatever is made at the first use
        seconds, count = least(replace, text, task["rounds"])
        print(json.dumps({"seconds": seconds, "count": count}), flush=True)


if __name__ == "__main__":
    main()
