"""The values of Python literals, as tools print the rows of a database: ``[{'id': 1, 'notes': None}]``.

Read by their tokens, one after the other and without recursion: what it costs is told by the length of the text alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.vault.members import Value

S = TypeVar("S")

#: A string, a number, another scalar (``<memory at 0x7f>`` is what has no literal), a bracket with the name of what it
#: constructs, the name of an argument, or a mark; white space goes with what is before it.
_TOKEN = lazy(
    r"(?:[bu]?'(?P<single>(?:[^'\\]|\\.)*+)'|[bu]?\"(?P<double>(?:[^\"\\]|\\.)*+)\""
    r"|(?P<number>-?[0-9][\w.+-]*+)|(?P<open>(?:[A-Za-z_][\w.]{0,60}+)?\(|[{\[])|(?P<close>[)}\]])"
    r"|(?P<argument>[A-Za-z_]\w{0,60}+)=|(?P<scalar>-?[A-Za-z_][\w.]{0,60}+|\.\.\.|<[^<>]{1,200}+>)"
    r"|(?P<mark>[,:]))\s*+",
    re.DOTALL,
)
#: What of a key Python writes with a backslash and JSON without.
_ESCAPED = lazy(r"\\(['\"\\])")
_BEGIN = lazy(r"\ufeff?\s*+(?=[{\[(]|[A-Za-z_][\w.]{0,60}+\()")
_CLOSING = {"{": "}", "[": "]", "(": ")"}


class _Open(Generic[S]):
    """A bracket: the state of what it opened, what closes it, the index of its member, its key where it is a pair."""

    __slots__ = ("closing", "index", "is_constructor", "key", "state")

    def __init__(self, state: S, written: str) -> None:
        self.state = state
        self.closing = _CLOSING[written[-1]]
        self.is_constructor = len(written) > 1
        self.index = 0
        self.key: str | None = None


def _is_pair(outer: Sequence[_Open[S]]) -> bool:
    """Whether the next text is the key of a pair, in a list of them that something is made of."""
    if len(outer) < 3 or outer[-1].index or outer[-1].is_constructor or outer[-1].closing != ")":
        return False
    return outer[-2].closing == "]" and outer[-3].is_constructor


def _key(written: str) -> str:
    return _ESCAPED.sub(r"\1", written)


def values(text: str, root: S, step: Callable[[S, str | int], S]) -> list[tuple[S, Value]]:
    """The strings and numbers of literals, each with what ``step`` made of ``root`` on the way to it.

    Members of tuples, sets and constructors count as those of lists: the text in ``Decimal('1.5')`` is under its key
    and one index; but ``OrderedDict([('id', 1)])`` has the key ``id``.  Of several literals each begins at ``root``.
    What is anything else in between has no values.
    """
    begin = _BEGIN.match(text)
    found: list[tuple[S, Value]] = []
    outer: list[_Open[S]] = []
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
                inner = outer[-1]
                inner.index += 1
                here = step(inner.state, inner.index) if inner.key is None else step(outer[-3].state, inner.key)
                inner.key = None
        elif kind == "close":
            if not outer or outer[-1].closing != token["close"]:
                return []
            here, may_begin = outer.pop().state, not outer
        elif not may_begin or (not outer and kind != "open"):
            return []
        elif kind == "open":
            outer.append(_Open(here, token["open"]))
            here = step(here, 0)
        elif kind == "argument":
            here = step(outer[-1].state, token["argument"])
        else:
            may_begin = False
            if text.startswith(":", at):
                here = step(outer[-1].state, _key(token[kind]))
            elif kind in ("single", "double") and text.startswith(",", at) and _is_pair(outer):
                outer[-1].key = _key(token[kind])
            elif kind != "scalar":
                found.append((here, Value(*token.span(kind))))
    return found if begin and not outer and at == len(text) else []
