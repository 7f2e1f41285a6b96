"""The gate: one linear pass that says which pattern may match where.

All strings of a message are joined into one buffer, a separator between them.
The buffer is read as bytes, one for each code point (:func:`screened`), and
cut into windows at white space; ``google-re2`` Sets name the patterns that may
match in each.  In the windows that were named, neighbours merged, a single
RE2 expression per pattern finds the places where a match may begin, and the
truth, an ordinary :mod:`re` expression, is tried there and nowhere else.

In the same pass the gate sees *signs* of other work, expressions of their own:
what may be encoded, and keys that may prove a value.

What the gate looks for is derived from the truth by :func:`relaxed`, which
only ever widens: look-arounds go but for those at either end, long repeats
lose their bounds, everything that is not ASCII becomes one byte.  So whatever
the truth finds, the gate lets through, provided that a match, with what it
looks at behind its end, never reaches further over white space than ``OVERLAP``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import NamedTuple

import re2

from cloakllm_gateway.detection import linear
from cloakllm_gateway.errors import DetectionError
from cloakllm_gateway.patterns import lazy

WINDOW = 8_192  # code points; a window ends at the white space that follows
#: Longest stretch, in code points, that one match may span across white space; windows overlap by it.
OVERLAP = 320

_PIECE = lazy(
    r"""(?P<plain>[A-Za-z0-9_\ :=<>@,;'"/|.-]+)
    | (?P<repeat>\{\d+(?:,\d*)?\}\??|[*+?][?+]?)
    | (?P<charset>\[\^?\]?(?:\\.|[^\]\\])*\])
    | (?P<behind>\(\?<!\[(?:\\.|[^\]\\])*\]\))
    | (?P<look>\(\?<?[=!])
    | (?P<group>\(\?i:|\(\?:|\(\?P<\w+>|\()
    | (?P<edge>\\[BAZ]|[\^$])
    | (?P<escape>\\.)
    | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
#: A repeat is widened to "at least this many"; more would only make the automaton larger.
_MOST = 12
#: The gap between a word and the value it names keeps its bound up to this many characters.
_GAP = 24


#: What a code point that is not ASCII looks like to the gate.
STAND_IN = "?"


def screened(buffer: str) -> bytes:
    """The buffer as the gate reads it: a line break, then a byte for each code point.

    So the character that an edge consumes is there for the first one of a
    buffer as well, and has the offset of the one behind it.
    """
    return b"\n" + buffer.encode("ascii", "replace")


def relaxed(truth: str, most: int = _MOST, lazily: bool = False) -> str:
    """A wider expression in re2 syntax, over screened bytes, that matches wherever the truth does.

    A repeat asks for at most ``most`` times what it repeats, and takes no more
    than it must where only the start of a match is of interest (``lazily``).
    Where the truth looks behind at its very start, the match begins one
    character before it.

    >>> relaxed(r"(?<![a-z])id[ ]{0,3}\\d{16,19}")
    '(?:^|[^a-z])id[ ]{0,3}\\\\d{12,}'
    """
    out: list[str] = []
    depth = 0
    pieces = _PIECE.finditer(truth)
    for piece in pieces:
        kind, text = piece.lastgroup, piece[0]
        if kind == "behind":
            if not out:  # elsewhere the character before may be one that is consumed already
                out.append(_edge(text[4:-1]))
        elif kind == "look":
            ahead = text + _skipped(pieces)
            # A search for a place would read up to there, from each of many.
            if not lazily and not depth and piece.start() + len(ahead) == len(truth):
                out.append(_end(ahead, most))
        elif kind == "edge":
            continue
        elif kind == "repeat":
            out.append(_widened(text, out[-1], most) + "?" * lazily)
        elif kind == "charset":
            out.append(_screened_class(text))
        elif kind == "group":
            depth += 1
            out.append("(?i:" if text == "(?i:" else "(?:")
        else:
            depth -= text == ")"
            out.append(text if text.isascii() else r"\?" * len(text))
    return "".join(out) + ")" * depth


_EDGE = "(?:^|"


def _edge(excluded: str) -> str:
    """A look-behind at the very start, by consuming what stands there: no run is entered but at its edge.

    Without it the automaton counts from every place of a run at once, and outgrows its memory.
    """
    return f"{_EDGE}{_outside(excluded)})"


def _end(ahead: str, most: int) -> str:
    """A look-ahead at the very end, by consuming what follows; of what may not follow the first class is enough."""
    if ahead.startswith("(?="):
        return f"(?:{relaxed(ahead[3:-1], most)})"
    excluded = _CHARSET.match(ahead, 3)
    if excluded is None or ahead[excluded.end()] not in "|)":
        return ""
    return f"(?:{_outside(excluded[0])}|\\z)"


def _outside(excluded: str) -> str:
    """The complement of a class, over screened bytes."""
    return _screened_class("[" + excluded[2:]) if excluded.startswith("[^") else _all_but(excluded[1:-1])


def _ascii(members: str) -> str:
    """The members of a class without those that are not ASCII, and without ranges that reach there."""
    return re.sub(r"(?:[^\x00-\x7f]|\\?.)-[^\x00-\x7f]|[^\x00-\x7f]", "", members)


def _all_but(members: str) -> str:
    """A class that excludes no more than the ASCII members, and never the stand-in."""
    kept = _ascii(members).replace(STAND_IN, "")
    return f"[^{kept}]" if kept else r"[\x00-\xff]"


def _screened_class(charset: str) -> str:
    if charset.startswith("[^"):
        return _all_but(charset[2:-1])
    # ``\s`` knows white space that is not ASCII only in a truth without the flag; all truths have it.
    return charset if charset.isascii() else f"[{STAND_IN}{_ascii(charset[1:-1])}]"


def _skipped(pieces: Iterator[re.Match[str]]) -> str:
    """The rest of a group, which is left out."""
    depth = 1
    body = []
    for piece in pieces:
        body.append(piece[0])
        if piece.lastgroup in ("group", "look"):
            depth += 1
        elif piece[0] == ")" and piece.lastgroup == "other":
            depth -= 1
            if not depth:
                break
    return "".join(body)


def _widened(repeat: str, repeated: str, most: int) -> str:
    """The repeat without its upper bound, but for short ones and for the gap between a word and its value."""
    if not repeat.startswith("{"):
        return repeat[0]
    low, comma, high = repeat.rstrip("?")[1:-1].partition(",")
    if comma and high and int(high) <= (_GAP if repeated.startswith("[^") else 4) and int(low) <= 4:
        return f"{{{low},{high}}}"
    if not comma and int(low) <= most:
        return f"{{{low}}}"
    least = min(int(low), most)
    return "*" if least == 0 else "+" if least == 1 else f"{{{least},}}"


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
_NOTHING = Seen({}, {})


#: By the number of a truth or the name of a sign.
_Expressions = dict[int | str, str]


class Gate:
    """For a set of truths, and of named signs, which are expressions of the linear engine over screened bytes.

    Compiled at its first use: most starts meet no text.  Safe to share
    between threads.
    """

    def __init__(self, truths: Sequence[str], signs: Callable[[], Mapping[str, str]] = dict) -> None:
        self._truths = truths
        self._signs = signs
        self._worded = frozenset(index for index, truth in enumerate(truths) if _is_worded(truth))

    @cached_property
    def _automata(self) -> list[_Automaton]:
        """What begins with a word in any case and what begins with a shape have an automaton each.

        One for both would have the product of their states.
        """
        worded, foreign, _ = self._expressions
        return [*_automata(worded | foreign), *self._of_shapes]

    @cached_property
    def _automata_of_scripts(self) -> list[_Automaton]:
        """The same for buffers that are not ASCII, where every letter may begin a word of another script.

        So these words are apart from those in ASCII, and the expression that has most of them from the others.
        """
        worded, foreign, _ = self._expressions
        largest = max(foreign, key=lambda name: len(foreign[name]), default=None)
        alone = {name: expression for name, expression in foreign.items() if name == largest}
        others = {name: expression for name, expression in foreign.items() if name != largest}
        return [*_automata(worded, others, alone), *self._of_shapes]

    @cached_property
    def _of_shapes(self) -> list[_Automaton]:
        return _automata(self._expressions[2])

    @cached_property
    def _expressions(self) -> tuple[_Expressions, _Expressions, _Expressions]:
        """Those that begin with a word, the same where some are not ASCII, and those that begin with a shape."""
        worded: _Expressions = {}
        foreign: _Expressions = {}
        shaped: _Expressions = {}
        for index, truth in enumerate(self._truths):
            kind = shaped if index not in self._worded else worded if truth.isascii() else foreign
            kind[index] = relaxed(truth)
        for name, sign in self._signs().items():
            (worded if _is_worded(sign) else shaped)[name] = sign
        return worded, foreign, shaped

    def look(self, buffer: str, screen: bytes) -> Seen:
        """What may be where."""
        found: dict[int | str, Ranges] = {}
        automata = self._automata if buffer.isascii() else self._automata_of_scripts
        cuts = _cuts(buffer)
        last = len(cuts) - 1
        for at in range(last):
            start, stop, limit = max(cuts[at] - OVERLAP, 0), cuts[at + 1], cuts[min(at + 2, last)]
            window = screen[start : stop + 1]
            for automaton in automata:
                for name in automaton.matched(window):
                    ranges = found.setdefault(name, [])
                    if ranges and ranges[-1][1] >= start:
                        ranges[-1] = (ranges[-1][0], stop, limit)
                    else:
                        ranges.append((start, stop, limit))
        if not found:
            return _NOTHING
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


def _automata(*sets: Mapping[int | str, str]) -> list[_Automaton]:
    return [_Automaton(expressions) for expressions in sets if expressions]


class _Automaton:
    """Expressions of which one pass says which match."""

    def __init__(self, expressions: Mapping[int | str, str]) -> None:
        self._names = [*expressions]
        try:
            self._alternatives = linear.Alternatives(expressions.values(), linear.options(memory=128 << 20))
        except re2.error as error:
            raise DetectionError(f"A pattern has no gate: {error}") from None

    def matched(self, window: bytes) -> list[int | str]:
        matched = self._alternatives.matched(window)
        if matched is None:
            raise DetectionError("The gate ran out of memory")
        return [self._names[number] for number in matched]


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
        expression = re.compile(_without_letters(truth) if for_ascii else truth, re.ASCII)
        place = relaxed(truth, most=20, lazily=True)
        self._group = 1 if expression.groups else 0
        self._match = expression.match
        self._search = expression.search
        self._place = linear.compiled(place, memory=32 << 20)
        self._before = 0 if place.startswith(_EDGE) else 1
        self._lead = re.compile("" if truth.isascii() else leading(truth), re.ASCII)
        self._next = self._next_place
        if self._lead.pattern and not any(map(self._lead.match, _ASCII)):
            self._next = self._next_of_its_script
        self._of_script = self._lead if self._lead.pattern and not for_ascii else None
        self._widest = widest(truth)

    def values(self, buffer: str, screen: bytes, ranges: Ranges, judge: Judge) -> list[tuple[int, int, int]]:
        """What it finds in ranges of the gate: where the match begins, where the value begins and ends, in order.

        A refused candidate is searched again from its second character, so
        nothing that overlaps it is shadowed.
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
                size = judge(start, end)
                if size > 0:
                    end = start + size
                    found.append((first, start, end))
                    if end > at:
                        at = end
                elif -size > at:
                    at = -size
        return found

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


def _without_letters(truth: str) -> str:
    """The same expression for text that is ASCII: classes of the letters of the world take a millisecond each."""
    return "".join(
        _CHARSET.sub(lambda charset: _ascii(charset[0]) if len(_ascii(charset[0])) > 3 else charset[0], piece[0])
        if piece.lastgroup in ("charset", "behind") and not piece[0].isascii()
        else piece[0]
        for piece in _PIECE.finditer(truth)
    )


def leading(truth: str) -> str:
    """An expression for one character, all that a match of the truth may begin with, or "" if that is not told.

    >>> leading(r"(?<![a-z])(?:no[.])?(\\d|[x-z]+|é)")
    'n|\\\\d|[x-z]|é'
    """
    found: dict[str, None] = {}
    groups: list[tuple[bool, bool, bool]] = []  # the state outside of each open group
    leads, any_case, may_be_empty = True, False, False  # may what follows be the first? may the group say nothing?
    pieces = _PIECE.finditer(truth)
    for piece in pieces:
        kind, text = piece.lastgroup, piece[0]
        is_optional = _OPTIONAL.match(truth, piece.end()) is not None
        if kind == "group":
            groups.append((leads, any_case, may_be_empty))
            any_case, may_be_empty = any_case or text == "(?i:", False
        elif text == ")":
            is_empty = may_be_empty or leads or is_optional
            led, any_case, may_be_empty = groups.pop()
            leads = led and is_empty
        elif kind == "look":
            _skipped(pieces)
        elif kind == "plain":
            for at, char in enumerate(text, 1):
                if char == "|":
                    may_be_empty = may_be_empty or leads
                    leads = groups[-1][0] if groups else True
                elif leads:
                    if char == ".":
                        return ""
                    found |= dict.fromkeys(map(re.escape, (char.lower(), char.upper()) if any_case else char))
                    leads = is_optional and at == len(text)
        elif leads and kind in ("charset", "escape", "other") and text != r"\b":
            if text.startswith("[^") or text in _COMPLEMENTS or (any_case and kind == "charset"):
                return ""
            found[text] = None
            leads = is_optional
    return "" if leads else "|".join(found)


_ASCII = [chr(code) for code in range(128)]


def widest(truth: str) -> int:
    """How many characters a match of the truth may have; as many as there may be where that has no bound.

    >>> widest(r"(?<![a-z])(?:no[.])?(\\d{2,4}|[x-z]é?)(?=:)")
    7
    """
    groups: list[tuple[int, int]] = []
    most, size, last = 0, 0, 0  # of the alternatives before, of what stands in this one, of the element read last
    pieces = _PIECE.finditer(truth)
    for piece in pieces:
        kind, text = piece.lastgroup, piece[0]
        if kind == "group":
            groups.append((most, size))
            most, size = 0, 0
        elif text == ")":
            last = max(most, size)
            most, size = groups.pop()
            size += last
        elif kind == "look":
            _skipped(pieces)
        elif kind == "repeat":
            bound = text.rstrip("?")[1:-1].partition(",") if text[0] == "{" else ("", "", "1" if text[0] == "?" else "")
            times = bound[2] if bound[1] or text[0] != "{" else bound[0]
            size += last * (int(times) - 1 if times else sys.maxsize) if times != "0" else 0
        elif kind == "plain":
            for char in text:
                if char == "|":
                    most, size = max(most, size), 0
                else:
                    last = 1
                    size += 1
        elif kind in ("charset", "escape", "other") and text != r"\b":
            last = 1
            size += 1
    return min(max(most, size), sys.maxsize)


_COMPLEMENTS = (r"\W", r"\D", r"\S")
_OPTIONAL = lazy(r"[*?]|\{0?,")


_CHARSET = lazy(r"\[\^?\]?(?:\\.|[^\]\\])*\]")
