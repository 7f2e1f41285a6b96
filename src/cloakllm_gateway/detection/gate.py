"""The gate: a few linear passes that say which pattern may match where.

All strings of a message are joined into one buffer, a separator between them.
The buffer is read as bytes, one for each code point (:func:`screened`), and
cut into windows at white space; ``google-re2`` Sets name the patterns that may
match in each.  In the windows that were named, neighbours merged, a single
RE2 expression per pattern finds the places where a match may begin, and the
truth, an ordinary :mod:`re` expression, is tried there and nowhere else.

In the same passes the gate sees *signs* of other work, expressions of their own:
what may be encoded, and keys that may prove a value.

What the gate looks for is derived from the truth by :func:`.deriving.relaxed`, which
only ever widens: look-arounds go but for those at either end, long repeats
lose their bounds, everything that is not ASCII becomes one byte.  So whatever
the truth finds, the gate lets through, provided that a match, with what it
looks at behind its end, never reaches further over white space than ``OVERLAP``.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from typing import NamedTuple

from cloakllm_gateway import linear
from cloakllm_gateway.detection.automata import ALIKE, Automaton, Sought
from cloakllm_gateway.detection.deriving import EDGE, has_blanks, leading, relaxed, telling, widest, without_letters
from cloakllm_gateway.patterns import lazy

WINDOW = 8_192  # code points; a window ends at the white space that follows
#: Longest stretch, in code points, that one match may span across white space; windows overlap by it.
OVERLAP = 320
#: So many windows of a long buffer are looked at together first, where there was little in those before.
_AT_ONCE = 8
LONG = 2 * _AT_ONCE * WINDOW


def screened(buffer: str) -> bytes:
    """The buffer as the gate reads it: a line break, then a byte for each code point.

    So the character that an edge consumes is there for the first one of a
    buffer as well, and has the offset of the one behind it.
    """
    return b"\n" + linear.as_bytes(buffer)


#: Where something may be: disjoint ``(start, stop, limit)`` in order.  What begins in ``start:stop`` is due, and may
#: reach up to ``limit``.
Ranges = list[tuple[int, int, int]]


class Seen(NamedTuple):
    """What the gate saw in a buffer.

    Patterns come in an order of their own, whatever else stands in the
    buffer: of two finds that are equally sure the first counts.
    """

    due: dict[int, Ranges]  # by the number of a truth
    signs: dict[str, Ranges]  # by name


#: Of most texts.
NOTHING = Seen({}, {})


_Automaton = Automaton[int | str]
#: By the number of a truth or the name of a sign.
Named = dict[int | str, Sought]


class Signs(NamedTuple):
    """What else is looked for, by name, and in the text less some characters; the same may have a sign in both."""

    plain: Named
    joined: Named
    separators: str  # that are left out


NO_SIGNS = Signs({}, {}, "")


class _Pass:
    """Sets of expressions that are looked for in the same text: a window at a time, and in many windows together."""

    def __init__(self, *sets: Named, less: str = "") -> None:
        self._sets = [each for each in sets if each]
        self._less = less
        self.apart: list[_Automaton] = [Automaton(each, less) for each in self._sets]

    def sees(self, alike: bytes) -> bool:
        """Whether any may match in a text, given as :data:`ALIKE` makes it."""
        return self._together.sees(alike)

    @cached_property
    def _together(self) -> _Automaton:
        """One for all has the product of their states, and few where there is nothing."""
        return self.apart[0] if len(self.apart) == 1 else Automaton(dict(ChainMap(*self._sets)), self._less)


class _Sought(NamedTuple):
    """What the automata look for in plain text."""

    worded: Named  # begins with a word in any case
    foreign: Named  # the same where some are not ASCII
    phrases: Named  # may reach over blanks
    tokens: Named  # begins with a shape

    def of_word(self, truth: str) -> Named:
        return self.worded if truth.isascii() else self.foreign

    def of_shape(self, expression: str) -> Named:
        return self.phrases if has_blanks(expression) else self.tokens


class Gate:
    """For a set of truths, and of named signs, which are expressions of the linear engine over screened bytes.

    Truths of one of the ``kinds`` are seldom there alone (:mod:`.automata`).
    Compiled at its first use: most starts meet no text.  Safe to share
    between threads.
    """

    def __init__(
        self,
        truths: Sequence[str],
        signs: Callable[[], Signs] = lambda: NO_SIGNS,
        kinds: Sequence[str] = (),
    ) -> None:
        self._truths = truths
        self._named_signs = signs
        self._kinds = kinds or [""] * len(truths)
        #: For a buffer that is ASCII or not.
        self._chosen: dict[bool, Sequence[_Pass]] = {}
        self._worded = frozenset(index for index, truth in enumerate(truths) if _is_worded(truth))

    def _passes(self, is_ascii: bool) -> Sequence[_Pass]:
        """What begins with a word in any case, phrases, other shapes and what is joined have an automaton each.

        One for all would have the product of their states: it would take a third less time for a text that it has
        seen, and five times as long for one that it has not.
        """
        words = self._words if is_ascii else self._words_of_scripts
        return [each for each in (words, self._shapes, self._joined) if each.apart]

    @cached_property
    def _words(self) -> _Pass:
        return _Pass(self._sought.worded | self._sought.foreign)

    @cached_property
    def _words_of_scripts(self) -> _Pass:
        """The same for buffers that are not ASCII, where every letter may begin a word of another script.

        So these words are apart from those in ASCII, and the expression that has most of them from the others.
        """
        foreign = self._sought.foreign
        largest = max(foreign, key=lambda name: len(foreign[name].expression), default=None)
        alone = {name: each for name, each in foreign.items() if name == largest}
        others = {name: each for name, each in foreign.items() if name != largest}
        return _Pass(self._sought.worded, others, alone)

    @cached_property
    def _shapes(self) -> _Pass:
        return _Pass(self._sought.phrases, self._sought.tokens)

    @cached_property
    def _joined(self) -> _Pass:
        _, joined, less = self._signs
        return _Pass(joined, less=less)

    @cached_property
    def _signs(self) -> Signs:
        return self._named_signs()

    @cached_property
    def _sought(self) -> _Sought:
        found = _Sought({}, {}, {}, {})
        for index, truth in enumerate(self._truths):
            kind = found.of_shape(truth) if index not in self._worded else found.of_word(truth)
            expression = relaxed(truth)
            kind[index] = Sought(expression, self._kinds[index], telling(expression), is_looked_for_again=True)
        for name, sign in self._signs.plain.items():
            kind = found.worded if _is_worded(sign.expression) else found.of_shape(sign.expression)
            kind[name] = sign
        return found

    def look(self, buffer: str, screen: bytes) -> Seen:
        """What may be where."""
        found: dict[int | str, Ranges] = {}
        is_long = len(buffer) >= LONG
        is_ascii = buffer.isascii()
        passes = self._chosen.get(is_ascii)
        if passes is None:
            passes = self._chosen[is_ascii] = self._passes(is_ascii)
        cuts = _cuts(buffer)
        last = len(cuts) - 1
        seeing = passes
        crowded: Sequence[_Pass] = passes  # what saw something in most windows of the last group, if there was one
        for group in range(0, last, _AT_ONCE):
            windows = range(group, min(group + _AT_ONCE, last))
            if is_long:
                alike = screen[max(cuts[group] - OVERLAP, 0) : cuts[windows.stop] + 1].translate(ALIKE)
                seeing = [each for each in passes if each in crowded or each.sees(alike)]
                if not seeing:
                    continue
            counts = dict.fromkeys(seeing, 0)
            for at in windows:
                start, stop, limit = max(cuts[at] - OVERLAP, 0), cuts[at + 1], cuts[min(at + 2, last)]
                window = screen[start : stop + 1]
                alike = window.translate(ALIKE)
                for each in seeing:
                    names = [name for automaton in each.apart for name in automaton.seen(window, alike)]
                    if not names:
                        continue
                    counts[each] += 1
                    for name in names:
                        ranges = found.setdefault(name, [])
                        if ranges and ranges[-1][1] >= start:
                            ranges[-1] = (ranges[-1][0], stop, limit)
                        else:
                            ranges.append((start, stop, limit))
            crowded = [each for each, count in counts.items() if 2 * count > len(windows)]
        if not found:
            return NOTHING
        due: dict[int, Ranges] = {}
        signs: dict[str, Ranges] = {}
        for name, ranges in found.items():
            if isinstance(name, str):
                signs[name] = ranges
            else:
                due[name] = ranges
        return Seen(self.in_order(due), signs)

    def in_order(self, due: dict[int, Ranges]) -> dict[int, Ranges]:
        """What a word tells before what only has a shape."""
        return dict(sorted(due.items(), key=self._precedence)) if len(due) > 1 else due

    def _precedence(self, item: tuple[int, object]) -> tuple[bool, int]:
        return item[0] not in self._worded, item[0]


def _is_worded(expression: str) -> bool:
    return "(?i:" in expression


#: Stands between the strings of a buffer; a match that crosses it is none.
SEPARATOR = "\x1c"
_WHITE = lazy(r"[ \n\t\x1c]")


def _cuts(buffer: str) -> list[int]:
    """Where windows begin: 0, then behind a white space at least ``WINDOW`` further, then the end."""
    cuts = [0]
    while cuts[-1] + WINDOW < len(buffer):
        white = _WHITE.search(buffer, cuts[-1] + WINDOW)
        if white is None or white.end() >= len(buffer):
            break
        cuts.append(white.end())
    cuts.append(len(buffer))
    return cuts


# -- the truth ------------------------------------------------------------------------------------


#: From where a match stands in the buffer to how many of its characters are a value; 0 or less refuses it, and
#: the search goes on behind it from its second character, or from the place that the negative number names.
Judge = Callable[[int, int], int]


class Truth:
    """One expression that is tried only where its relaxed form finds a place."""

    def __init__(self, truth: str, for_ascii: bool) -> None:
        expression = re.compile(without_letters(truth) if for_ascii else truth, re.ASCII)
        place = relaxed(truth, most=20, lazily=True)
        #: Whether a word stands before the value.
        self.is_led = expression.groups > 0
        self._group = int(self.is_led)
        self._match = expression.match
        self._search = expression.search
        self._place = linear.compiled(place, memory=32 << 20)
        self._before = 0 if place.startswith(EDGE) else 1
        self._lead = re.compile("" if truth.isascii() else leading(truth), re.ASCII)
        self._next = self._next_place
        if self._lead.pattern and not any(map(self._lead.match, _ASCII)):
            self._next = self._next_of_its_script
        self._of_script = self._lead if self._lead.pattern and not for_ascii else None
        self._widest = widest(truth)

    def values(self, buffer: str, screen: bytes, ranges: Ranges, judge: Judge) -> list[tuple[int, int, int]]:
        """What it finds in ranges of the gate: where the match begins, where the value begins and ends, in order.

        A refused candidate, and one whose word is of another string, is searched
        again from its second character, so nothing that overlaps it is shadowed.
        """
        following, group = self._next, self._group
        found: list[tuple[int, int, int]] = []
        at = 0
        for due, stop, limit in ranges:
            if due > at:
                at = due
            while at < stop and (candidate := following(buffer, screen, at, stop, limit)) is not None:
                first = candidate.start()
                at = first + 1
                start, end = candidate.span(group)
                if start > first and buffer.find(SEPARATOR, first, start) >= 0:
                    continue  # its word stands in another string, and may stand in this one once more
                size = judge(start, end)
                if size > 0:
                    end = start + size
                    found.append((first, start, end))
                    if end > at:
                        at = end
                elif -size > at:
                    at = -size
        return found

    def size(self, buffer: str, screen: bytes, at: int, end: int, judge: Judge) -> int:
        """How much is a value of what begins at a place and ends at or behind another one; 0 or less for none."""
        if self._place(screen, at + self._before, end + 1)[0][0] != at + self._before:
            return 0  # much quicker
        candidate = self._match(buffer, at)
        return judge(*candidate.span(self._group)) if candidate else 0

    # The next match that begins in ``at:stop`` and ends before ``limit``.  A place is one of the screen, which has a
    # character more before each of the buffer.

    def _next_place(self, buffer: str, screen: bytes, at: int, stop: int, limit: int) -> re.Match[str] | None:
        """By places; one may end further away than any match, and then so may all that begin before its end.

        Those are looked for no further than a match may reach.  Letters of other scripts are places to the linear
        engine: there this goes on at what a match may begin with.
        """
        find, match, before, lead, most = self._place, self._match, self._before, self._of_script, self._widest
        far, last_end = 0, stop + 1
        while at < stop:
            end = last_end if at >= far else min(last_end, at + 2 * most + 64)
            first, last = find(screen, at + before, end)[0]
            if first < 0:
                if end == last_end:
                    break
                at = end - most  # what begins before that would have ended
                continue
            if last - first > most + 2:
                far = last
            first -= before
            if lead is not None:
                if (begin := lead.search(buffer, first, stop)) is None:
                    break
                if begin.start() > first:
                    at = begin.start()
                    continue
            if (candidate := match(buffer, first, limit)) is not None:
                return candidate
            at = first + 1
        return None

    def _next_of_its_script(self, buffer: str, screen: bytes, at: int, stop: int, limit: int) -> re.Match[str] | None:
        """Where a match never begins with ASCII every letter of its script is a place: no need to look for them."""
        if (begin := self._lead.search(buffer, at, stop)) is None:
            return None
        candidate = self._search(buffer, begin.start(), limit)
        return candidate if candidate is not None and candidate.start() < stop else None


@cache
def compiled(truth: str, for_ascii: bool = False) -> Truth:
    """The truth itself, compiled when it first has to run; ``for_ascii`` is quicker to make, for buffers that are."""
    return Truth(truth, for_ascii)


_ASCII = [chr(code) for code in range(128)]
