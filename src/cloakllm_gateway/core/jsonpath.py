"""Paths into JSON, as a configuration writes them: a part of RFC 9535, and which of many paths a value is under.

What can be written: ``$`` (the whole), ``.name`` and ``['name']``, ``[2]``,
``.*`` and ``[*]`` (any member or element), ``..name`` and ``..*`` (at any
depth).  No filters, slices or unions: a rule has to be decided while a message
is walked, at one small step for each level.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from enum import Enum, auto
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from cloakllm_gateway.patterns import lazy

T = TypeVar("T")


class Wild(Enum):
    """Steps that are no name: one level of any name, or any number of levels."""

    ANY = auto()
    DEEP = auto()


Step: TypeAlias = str | int | Wild

_STEP = lazy(
    r"""(?P<deep>\.\.(?=[\w*\[])) (?: (?P<dname>[^\W\d][\w-]*) | (?P<dany>\*) )?
      | \. (?: (?P<name>[^\W\d][\w-]*) | (?P<any>\*) )
      | \[ (?: (?P<index>[0-9]{1,9}) | (?P<star>\*)
             | '(?P<single>(?:[^'\\]|\\['\\])*)' | "(?P<double>(?:[^"\\]|\\["\\])*)" ) \]""",
    re.VERBOSE,
)


def parse(text: str) -> tuple[Step, ...]:
    """The steps of a path.  Raises ``ValueError`` for what is no path of this kind."""
    if not text.startswith("$"):
        raise ValueError("a path begins with $")
    steps: list[Step] = []
    at = 1
    while at < len(text):
        found = _STEP.match(text, at)
        if found is None:
            raise ValueError(f"the path can't be read from character {at + 1} on")
        if found["deep"]:
            steps.append(Wild.DEEP)
        for group in ("dname", "name"):
            if found[group] is not None:
                steps.append(found[group])
        for group in ("single", "double"):
            if found[group] is not None:
                steps.append(re.sub(r"\\(.)", r"\1", found[group]))
        if found["index"] is not None:
            steps.append(int(found["index"]))
        if found["dany"] or found["any"] or found["star"]:
            steps.append(Wild.ANY)
        at = found.end()
    return tuple(steps)


class _Best(NamedTuple):
    """The best rule so far: the deepest, of equally deep ones that with the most names, then the weightiest."""

    depth: int
    names: int
    weight: int
    rule: int


class State(NamedTuple):
    """Where a walk stands: positions in paths that may still match, and the best rule of those that did."""

    depth: int
    open: frozenset[tuple[int, int]]
    best: _Best | None


class Paths(Generic[T]):
    """Rules by path; a rule counts for everything at and under its path.

    The longest path decides, of equally long ones that with the most names in
    it, of those the one of the highest ``weight``.
    """

    def __init__(self, rules: Sequence[tuple[str, T]], weight: Callable[[T], int] = lambda _rule: 0) -> None:
        self._rules = [rule for _, rule in rules]
        self._weights = [weight(rule) for rule in self._rules]
        self._paths = [parse(path) for path, _ in rules]
        self._names = [sum(isinstance(step, str | int) for step in path) for path in self._paths]
        self._has_index = any(isinstance(step, int) for path in self._paths for step in path)
        self.root = self._state(0, ((rule, 0) for rule in range(len(rules))), None)
        self._seen: dict[tuple[str | int, ...], State] = {}

    def rule(self, state: State) -> T | None:
        """The rule for a value at ``state``."""
        return self._rules[state.best.rule] if state.best else None

    def step(self, state: State, step: str | int) -> State:
        """The state one level down."""
        if not state.open:
            return state
        following = set()
        for rule, at in state.open:
            wanted = self._paths[rule][at]
            if wanted is Wild.DEEP:
                following.add((rule, at))
            elif wanted is Wild.ANY or wanted == step:
                following.add((rule, at + 1))
        return self._state(state.depth + 1, following, state.best)

    def at(self, path: Sequence[str | int]) -> State:
        """The state at the end of ``path``; neighbours are remembered, all elements of a list as one if they may be."""
        steps = tuple(path if self._has_index else (0 if isinstance(step, int) else step for step in path))
        state = self._seen.get(steps)
        if state is None:
            state = self.step(self.at(steps[:-1]), steps[-1]) if steps else self.root
            if len(self._seen) >= _REMEMBERED:
                self._seen.clear()
            self._seen[steps] = state
        return state

    def _state(self, depth: int, places: Iterable[tuple[int, int]], best: _Best | None) -> State:
        still_open: set[tuple[int, int]] = set()
        for rule, at in places:
            path = self._paths[rule]
            while at < len(path) and path[at] is Wild.DEEP and (rule, at) not in still_open:
                still_open.add((rule, at))
                at += 1
            if at < len(path):
                still_open.add((rule, at))
            else:
                candidate = _Best(depth, self._names[rule], self._weights[rule], rule)
                best = candidate if best is None else max(best, candidate)
        return State(depth, frozenset(still_open), best)


#: So many places of a message are remembered at a time.
_REMEMBERED = 4096
