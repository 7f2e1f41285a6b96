"""Many expressions over one text in one pass, with few states.

An automaton of the linear engine makes a state for every set of places that it
is at, when it first comes there, and that takes a thousand times as long as to
pass through a state that is there.  Texts are new most of the time.  So what
makes states is kept from the automaton:

- an expression ends where it is certain to match: what may follow does not matter;
- the digits but for 0 look alike (:data:`ALIKE`): numbers are new in every text;
- many expressions of one kind that begin alike are one (:class:`_Group`), which
  is in as many states but makes each of them in half the time;
- an expression may name a simpler one to be looked for first;
- what may stand between any two letters of a word is taken out of the text instead.

All of these only widen.  Where it matters, the expressions themselves are asked
about the window in which the wider one was seen.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

import re2

from cloakllm_gateway import linear
from cloakllm_gateway.detection.deriving import digits_alike, divided, shortest, tells_digits
from cloakllm_gateway.errors import DetectionError

#: A text as the automata read it.
ALIKE = bytes.maketrans(b"23456789", b"1" * 8)
#: Fewer of a kind are quicker to look for one by one than to look for again: they are there more often.
_MANY = 8

Name = TypeVar("Name", bound=Hashable)


class Sought(NamedTuple):
    """An expression of the linear engine, and how it is looked for."""

    expression: str
    kind: str = ""  #: those of a kind are seldom there
    simpler: str = ""  #: matches wherever the expression does
    is_looked_for_again: bool = False  #: by who is told of it, so it need not be exact


class Automaton(Generic[Name]):
    """Named expressions; one pass says which of them match, in a text ``less`` some characters."""

    def __init__(self, sought: Mapping[Name, Sought], less: str = "") -> None:
        alike: dict[Hashable, dict[Name, Sought]] = {}
        for name, each in sought.items():
            key: Hashable = each.simpler or (each.kind or name, divided(each.expression)[0])
            alike.setdefault(key, {})[name] = each
        self._groups: list[_Group[Name]] = []
        for key, members in alike.items():
            is_one = isinstance(key, str) or len(members) >= _MANY
            self._groups += map(_Group, [members] if is_one else [{name: each} for name, each in members.items()])
        self._alternatives = _alternatives([group.expression for group in self._groups], memory=128 << 20)
        self._less = less.encode()

    def sees(self, alike: bytes) -> bool:
        """Whether any may match in a text, given as :data:`ALIKE` makes it."""
        return bool(self._matched(alike))

    def seen(self, window: bytes, alike: bytes) -> Sequence[Name]:
        """Which match in a window, given as it is and as :data:`ALIKE` makes it."""
        matched = self._matched(alike)
        return [name for number in matched for name in self._groups[number].seen(window, alike)] if matched else ()

    def _matched(self, alike: bytes) -> list[int]:
        return _matched(self._alternatives, alike.translate(None, self._less) if self._less else alike)


class _Group(Generic[Name]):
    """Expressions as one that is wider than all of them: they begin at the same edge, or have the same simpler one."""

    def __init__(self, members: Mapping[Name, Sought]) -> None:
        self._names = [*members]
        self._members = [*members.values()]
        #: Whether those who are told look again.
        self._may_be_wider = all(each.is_looked_for_again for each in self._members)
        [first, *others] = self._members
        if first.simpler or not others:
            self.expression = digits_alike(first.simpler or shortest(first.expression))
        else:
            # In their order the engine sees which of them go on alike as well.
            edge = divided(first.expression)[0]
            rest = sorted(digits_alike(divided(shortest(each.expression))[1]) for each in self._members)
            self.expression = f"{edge}(?:{'|'.join(rest)})"
        self._is_told = not others and (self._may_be_wider or not (first.simpler or tells_digits(first.expression)))

    def seen(self, window: bytes, alike: bytes) -> Sequence[Name]:
        """Which of them match where the group does."""
        if self._is_told:
            return self._names
        return [self._names[number] for number in _matched(self._one_by_one, alike if self._may_be_wider else window)]

    @cached_property
    def _one_by_one(self) -> linear.Alternatives:
        expressions = [shortest(each.expression) for each in self._members]
        return _alternatives([*map(digits_alike, expressions)] if self._may_be_wider else expressions, memory=32 << 20)


def _alternatives(expressions: list[str], memory: int) -> linear.Alternatives:
    try:
        return linear.Alternatives(expressions, linear.options(memory=memory))
    except re2.error as error:
        raise DetectionError(f"A pattern has no gate: {error}") from None


def _matched(alternatives: linear.Alternatives, window: bytes) -> list[int]:
    matched = alternatives.matched(window)
    if matched is None:
        raise DetectionError("The gate ran out of memory")
    return matched
