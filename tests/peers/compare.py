"""Holds a conversation through the gateway against the same one without it."""

from __future__ import annotations

import json
import re
from typing import Any

TOKEN = re.compile(r"\[[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_[0-9]+\]")


def vocabulary(direct: Any, through: Any) -> dict[str, str]:
    """What each token of ``through`` stands for, so that the two are the same.

    Fails where they differ in anything but tokens, and where a token would stand for two values.
    """
    meanings: dict[str, str] = {}
    _compare(direct, through, "$", meanings)
    return meanings


def spoken(text: str, meanings: dict[str, str]) -> str:
    """``text`` as someone writes it who knows the values by their tokens only."""
    for token, value in sorted(meanings.items(), key=lambda item: -len(item[1])):
        text = text.replace(value, token)
    return text


def _compare(direct: Any, through: Any, path: str, meanings: dict[str, str]) -> None:
    if isinstance(direct, dict) and isinstance(through, dict):
        assert len(direct) == len(through), f"{path}: {list(direct)} became {list(through)}"
        for (name, inner), (new_name, new_inner) in zip(direct.items(), through.items(), strict=True):
            _text(name, new_name, f"{path} (a key)", meanings)
            _compare(inner, new_inner, f"{path}.{name}", meanings)
    elif isinstance(direct, list) and isinstance(through, list):
        assert len(direct) == len(through), f"{path}: {len(direct)} items became {len(through)}"
        for at, (item, new_item) in enumerate(zip(direct, through, strict=True)):
            _compare(item, new_item, f"{path}[{at}]", meanings)
    elif isinstance(through, str) and isinstance(direct, str | int | float) and not isinstance(direct, bool):
        _text(direct if isinstance(direct, str) else json.dumps(direct), through, path, meanings)
    else:
        assert (type(direct), direct) == (type(through), through), f"{path}: {direct!r} became {through!r}"


def _text(direct: str, through: str, path: str, meanings: dict[str, str]) -> None:
    if direct == through:
        return
    tokens = TOKEN.findall(through)
    pattern = "(.+?)".join(re.escape(part) for part in TOKEN.split(through))
    found = re.fullmatch(pattern, direct, re.DOTALL)
    assert tokens and found, f"{path}: {direct!r} became {through!r}"
    for token, value in zip(tokens, found.groups(), strict=True):
        assert meanings.setdefault(token, value) == value, (
            f"{path}: {token} stands for {meanings[token]!r} and {value!r}"
        )
