"""A text that an expression matches, made from the expression itself.

The start-up proof needs an example of every pattern, and who writes one in a
configuration gives none.  Not every expression has a sample that can be made:
then there is none, and whoever asked says so.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from importlib import import_module
from itertools import cycle
from typing import Any

#: More than this, of a repeat or of everything, is no sample any more.
_LONGEST = 512
_CATEGORIES = {
    "CATEGORY_DIGIT": "4271903586",
    "CATEGORY_WORD": "q7Rk3mZ9",
    "CATEGORY_SPACE": " ",
    "CATEGORY_NOT_DIGIT": "kqx",
    "CATEGORY_NOT_WORD": "-",
    "CATEGORY_NOT_SPACE": "q7Rk3mZ9",
}
_ANYTHING = "q7Rk3mZ9-_.:/#@ \n\t"


def sample(pattern: str) -> str | None:
    """A text that the pattern should match, or None if none can be made; the caller tries it."""
    parser: Any = import_module("re._parser")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = parser.parse(pattern)
        text = "".join(_Sampler().texts(tree))
    except (re.error, _NoSample, RecursionError, OverflowError):
        return None
    return text if len(text) <= _LONGEST else None


class _NoSample(Exception):
    """A part of an expression that no text is made for."""


class _Sampler:
    """Walks the parsed form; takes another member of a class each time, so that samples look random."""

    def __init__(self) -> None:
        self._turn = cycle(range(10))

    def texts(self, tree: Iterable[tuple[Any, Any]]) -> Iterator[str]:
        for operation, argument in tree:
            yield self._text(str(operation), argument)

    def _text(self, operation: str, argument: Any) -> str:
        match operation:
            case "LITERAL":
                return chr(argument)
            case "NOT_LITERAL":
                return self._member(lambda char: ord(char) != argument)
            case "ANY":
                return "x"
            case "AT":
                return ""
            case "IN":
                return self._of_class(argument)
            case "BRANCH":
                return "".join(self.texts(argument[1][0]))
            case "SUBPATTERN":
                return "".join(self.texts(argument[3]))
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                least, most, tree = argument
                count = min(max(int(least), 1), int(most))
                if count > _LONGEST:
                    raise _NoSample
                return "".join("".join(self.texts(tree)) for _ in range(count))
            case _:
                raise _NoSample

    def _of_class(self, members: list[tuple[Any, Any]]) -> str:
        if str(members[0][0]) == "NEGATE":
            excluded = members[1:]
            return self._member(lambda char: not any(_holds(member, char) for member in excluded))
        operation, argument = members[next(self._turn) % len(members)]
        match str(operation):
            case "LITERAL":
                return chr(argument)
            case "RANGE":
                low, high = argument
                return chr(low + next(self._turn) * 7 % (high - low + 1))
            case "CATEGORY":
                pool = _CATEGORIES[str(argument)]
                return pool[next(self._turn) % len(pool)]
            case _:
                raise _NoSample

    def _member(self, allowed: Any) -> str:
        for char in _ANYTHING:
            if allowed(char):
                return char
        raise _NoSample


def _holds(member: tuple[Any, Any], char: str) -> bool:
    operation, argument = str(member[0]), member[1]
    if operation == "LITERAL":
        return bool(ord(char) == argument)
    if operation == "RANGE":
        return bool(argument[0] <= ord(char) <= argument[1])
    return bool(re.fullmatch({"DIGIT": r"\d", "WORD": r"\w", "SPACE": r"\s"}.get(str(argument)[9:], "."), char))
