"""Fields that a rule of the configuration names: where they stand in a result, and equal values elsewhere in it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from cloakllm_gateway.core.jsonpath import Paths
from cloakllm_gateway.core.settings import Treatment
from cloakllm_gateway.core.treatments import Rule, stricter
from cloakllm_gateway.errors import Withheld
from cloakllm_gateway.protocol.walk import Path
from cloakllm_gateway.spans import Encoding, Proof, Span
from cloakllm_gateway.vault import literals, members
from cloakllm_gateway.vault.contexts import Unescaped
from cloakllm_gateway.vault.known import Known, KnownValues

#: The category of what is hidden because the configuration says so, whatever it is.
TERM = "TERM"

#: Shorter values, and numbers of no more digits, can't be told from other text of their message.
_TELLING = 2


class Field(NamedTuple):
    """A value that a rule is about, where it stands in its text, and decoded."""

    start: int
    end: int
    value: str
    rule: Rule


class Elsewhere:
    """The values of fields with a rule: in the rest of their message the same is done with them."""

    def __init__(self) -> None:
        self._hidden = KnownValues(2, set())
        self._rules: dict[str, Rule] = {}

    def add(self, value: str, rule: Rule) -> None:
        if len(value) < _TELLING or (value.isdigit() and len(value) <= _TELLING):
            return
        key = value.casefold()
        self._rules[key] = stricter(rule, self._rules.get(key, rule))
        if rule.how is not Treatment.PASS:
            self._hidden.add(value, Known(TERM, value, value, Encoding.PLAIN, Proof.KEY), caseless=False)

    def find(self, text: str) -> list[Span]:
        return self._hidden.find(text)

    def rule(self, span: Span) -> Rule | None:
        return self._rules.get((span.value or span.canonical).casefold())


def ruled_fields(path: Path, text: str, look: str, paths: Paths[Rule] | None) -> list[Field]:
    """The values of one leaf of a result that have a rule, sorted by position.

    That is the leaf itself in structured content, or values of JSON or of a
    Python literal in a text: many tools give their result as text, and most in
    both ways.  ``look`` is what detection sees of ``text``: a number as its
    digits.
    """
    if paths is None:
        return []
    if (depth := _depth_of_structure(path)) is not None:
        rule = paths.rule(paths.at(path[depth:]))
        return [Field(0, max(len(text), len(look)), text, rule)] if rule else []
    found = list(members.values(text, paths.root, paths.step)) or literals.values(text, paths.root, paths.step)
    return [
        Field(start, end, Unescaped(text[start:end]).text, rule)
        for state, (start, end) in found
        if (rule := paths.rule(state))
    ]


def _depth_of_structure(path: Path) -> int | None:
    """How many steps of ``path`` lead to the structured content of a result, be it that of a task; None beside it."""
    depth = 1 if path[:1] == ("result",) else 0
    return depth + 1 if path[depth : depth + 1] == ("structuredContent",) else None


def field_around(fields: Sequence[Field], span: Span) -> Field | None:
    """The one of sorted ``fields`` that ``span`` stands in."""
    at = bisect_right(fields, span.start, key=_start) - 1
    return fields[at] if at >= 0 and span.end <= fields[at].end else None


def _start(field: Field) -> int:
    return field.start


def refuse_blocked(rule: Rule | None) -> None:
    if rule is not None and rule.how is Treatment.BLOCK:
        raise Withheld(f"it holds a value that nobody may be shown (rule: {rule.name})")
