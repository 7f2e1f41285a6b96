"""The values of Python literals, as tools print the rows of a database: ``[{'id': 1, 'notes': None}]``.

Read by their tokens, one after the other and without recursion: what it costs is told by the length of the text alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.vault.members import Value

S = TypeVar("S")

#: A string, a number, another scalar, a bracket with the name of what it constructs, the name of an argument, or a
#: mark; white space goes with what is before it.
_TOKEN = lazy(
    r"(?:[bu]?'(?P<single>(?:[^'\\]|\\.)*+)'|[bu]?\"(?P<double>(?:[^\"\\]|\\.)*+)\""
    r"|(?P<number>-?[0-9][0-9.eE+_-]*+)|(?P<open>(?:[A-Za-z_][\w.]{0,60}+)?\(|[{\[])|(?P<close>[)}\]])"
    r"|(?P<argument>[A-Za-z_]\w{0,60}+)=|(?P<scalar>-?[A-Za-z_][\w.]{0,60}+)|(?P<mark>[,:]))\s*+",
    re.DOTALL,
)
#: What of a key Python writes with a backslash and JSON without.
_ESCAPED = lazy(r"\\(['\"\\])")
_BEGIN = lazy(r"\s*+(?=[{\[(])")
_CLOSING = {"{": "}", "[": "]", "(": ")"}


def values(text: str, root: S, step: Callable[[S, str | int], S]) -> list[tuple[S, Value]]:
    """The strings and numbers of literals, each with what ``step`` made of ``root`` on the way to it.

    Members of tuples, sets and constructors count as those of lists: the text in ``Decimal('1.5')`` is under its key
    and one index.  Of several literals each begins at ``root``.  What is anything else in between has no values.
    """
    begin = _BEGIN.match(text)
    found: list[tuple[S, Value]] = []
    #: Of each open bracket: the state of what it opened, what closes it, and the index of its next member.
    outer: list[tuple[S, str, int]] = []
    here, at = root, begin.end() if begin else len(text)
    may_begin = True  # a member, or a literal
    while token := _TOKEN.match(text, at):
        at = token.end()
        kind = token.lastgroup or ""
        if kind == "mark":
            if may_begin or not outer:
                return []
            may_begin = True
            if token["mark"] == ",":
                state, closing, index = outer[-1]
                outer[-1] = (state, closing, index + 1)
                here = step(state, index)
        elif kind == "close":
            if not outer or outer[-1][1] != token["close"]:
                return []
            here, may_begin = outer.pop()[0], not outer
        elif not may_begin or (not outer and kind != "open"):
            return []
        elif kind == "open":
            outer.append((here, _CLOSING[token["open"][-1]], 1))
            here = step(here, 0)
        elif kind == "argument":
            here = step(outer[-1][0], token["argument"])
        else:
            may_begin = False
            if text.startswith(":", at):
                here = step(outer[-1][0], _ESCAPED.sub(r"\1", token[kind]))
            elif kind != "scalar":
                found.append((here, Value(*token.span(kind))))
    return found if begin and not outer and at == len(text) else []
