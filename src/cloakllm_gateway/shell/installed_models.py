"""Which models of names are there, and where; none is imported for that, since every start asks.

A model is an installed package or a folder, and what it holds says what reads
it: ``meta.json`` is a spaCy pipeline, ``*.onnx`` with a ``config.json`` and a
``tokenizer.json`` a token classifier as the tools of Hugging Face export it.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from cloakllm_gateway.detection.settings import NAME_MODELS, NameSettings
from cloakllm_gateway.shell.command_hints import installing, spacy_model


def available(settings: NameSettings) -> str | None:
    """Why names cannot be recognised, or ``None`` where they can; imports no model.

    Where names are ``required`` every configured model has to be there, else one is enough.
    """
    problems = [_missing(name) for _, name in settings.models]
    wanting = [problem for problem in problems if problem]
    if not wanting or not (settings.required or len(wanting) == len(problems)):
        return None
    return ", ".join(dict.fromkeys(wanting))


def remedy(settings: NameSettings) -> str:
    """What to do about the first model that is not there."""
    name = next(name for _, name in settings.models if _missing(name))
    if _is_path(name):
        return "Name a folder with a spaCy pipeline, or with ONNX weights and their config.json and tokenizer.json"
    if name in dict(NAME_MODELS).values() or place(name) is not None:
        return installing("detection")
    return spacy_model(name) if find_spec("spacy") else f"{installing('detection')} and then: {spacy_model(name)[5:]}"


def usable(settings: NameSettings) -> dict[str, str]:
    """The models that are there: the language each is for, ``*`` for all others, and its name."""
    return {language: name for language, name in settings.models if _missing(name) is None}


def _missing(name: str) -> str | None:
    """Why one model cannot be loaded."""
    where = place(name)
    if where is None:
        return f"the name model {name} is {'no folder' if _is_path(name) else 'not installed'}"
    for module, spelled in (
        (("onnxruntime", "ONNX Runtime"), ("tokenizers", "tokenizers")) if weights(where) else (("spacy", "spaCy"),)
    ):
        if find_spec(module) is None:
            return f"{spelled} is not installed"
    return None


def _is_path(name: str) -> bool:
    return "/" in name or "\\" in name


@lru_cache(maxsize=32)
def place(name: str) -> Path | None:
    """The folder of a model, or None: a path has a separator in it, anything else is a package."""
    if _is_path(name):
        return Path(name) if Path(name).is_dir() else None
    spec = find_spec(name) if name.isidentifier() else None
    return Path(spec.origin).parent if spec is not None and spec.origin else None


@lru_cache(maxsize=32)
def weights(folder: Path) -> Path | None:
    """Where ONNX weights lie in a model's folder, or None if there are none."""
    return next(iter(sorted(folder.rglob("*.onnx"))), None)
