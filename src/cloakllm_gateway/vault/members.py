"""The values of JSON text, each with its position and the keys that lead to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeVar

from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.vault.contexts import Unescaped, is_json

S = TypeVar("S")

_PIECE = lazy(r'"((?:[^"\\]|\\.)*+)"|(-?[0-9][0-9.eE+-]*)|[{}\[\],]', re.DOTALL)


class Value(NamedTuple):
    """A string (without its quotes) or a number of JSON text, at [start, end)."""

    start: int
    end: int


def values(text: str, root: S, step: Callable[[S, str | int], S]) -> Iterator[tuple[S, Value]]:
    """The strings and numbers of JSON ``text``, each with what ``step`` made of ``root`` on the way to it.

    ``step`` is given one key or index after the other.  Of several documents
    each begins at ``root``.  What is not JSON has no values.
    """
    if text.lstrip()[:1] not in ("{", "[") or not is_json(text):
        return
    here = root
    #: Of each open bracket: the state of what it opened, and the index of its next element, -1 in an object.
    outer: list[tuple[S, int]] = []
    is_key = False
    for piece in _PIECE.finditer(text):
        literal, number = piece.groups()
        if is_key and literal is not None:
            here = step(outer[-1][0], Unescaped(literal).text)
            is_key = False
        elif literal is not None:
            yield here, Value(*piece.span(1))
        elif number is not None:
            yield here, Value(*piece.span(2))
        elif piece[0] == "{":
            outer.append((here, -1))
            is_key = True
        elif piece[0] == "[":
            outer.append((here, 1))
            here = step(here, 0)
        elif piece[0] == ",":
            state, index = outer[-1]
            is_key = index < 0
            if not is_key:
                outer[-1] = (state, index + 1)
                here = step(state, index)
        else:
            here, _ = outer.pop()
            is_key = False
