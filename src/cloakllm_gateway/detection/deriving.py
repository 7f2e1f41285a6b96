"""What the gate derives from the truth of a pattern: wider expressions for the linear engine, and what bounds a match.

All is read from the expression, piece by piece, so that there is no second
description of a pattern that could say something else.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from functools import cache

from cloakllm_gateway.patterns import lazy

#: How a class of characters is written, and an escaped one or a byte by its number.
_CLASS = r"\[\^?\]?(?:\\.|[^\]\\])*\]"
_ESCAPE = r"\\x[0-9A-Fa-f]{2}|\\."
_PIECE = lazy(
    rf"""(?P<plain>[A-Za-z0-9_\ :=<>@,;'"/|.-]+)
    | (?P<repeat>\{{\d+(?:,\d*)?\}}\??|[*+?][?+]?)
    | (?P<charset>{_CLASS})
    | (?P<behind>\(\?<!\[(?:\\.|[^\]\\])*\]\))
    | (?P<look>\(\?<?[=!])
    | (?P<group>\(\?i:|\(\?:|\(\?P<\w+>|\()
    | (?P<edge>\\[BAZ]|[\^$])
    | (?P<escape>{_ESCAPE})
    | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
#: A repeat is widened to "at least this many"; more would only make the automaton larger.
_MOST = 12
#: The gap between a word and the value it names keeps its bound up to this many characters.
_GAP = 24
_CHARSET = lazy(_CLASS)
#: Classes that hold nearly all characters.
_COMPLEMENTS = (r"\W", r"\D", r"\S")
#: A repeat that may be none.
_OPTIONAL = lazy(r"[*?]|\{0?,")

#: What a code point that is not ASCII looks like to the gate.
STAND_IN = "?"


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


#: How a relaxed expression begins that consumes the character before a match.
EDGE = "(?:^|"


_EDGED = lazy(rf"\(\?:\^\|{_CLASS}\)")


def divided(expression: str) -> tuple[str, str]:
    """What a relaxed expression has at its edge, or "", and the rest of it.

    >>> divided(r"(?:^|[^a-z])id[ ]{0,3}\\d{12,}")
    ('(?:^|[^a-z])', 'id[ ]{0,3}\\\\d{12,}')
    """
    edge = _EDGED.match(expression)
    if edge is None or len(_alternatives(expression)) > 1:  # the edge would be that of the first of them alone
        return "", expression
    return edge[0], expression[edge.end() :]


def shortest(expression: str) -> str:
    """An expression that matches in the same texts, and goes on no further than it must to tell.

    >>> shortest(r"(?:^|[^a-z])id(?: no)?[ ]{0,3}(?:\\d{12,}(?:[a-z]+-?)*|x+y?)(?:, [A-Z]+)?")
    '(?:^|[^a-z])id(?: no)?[ ]{0,3}(?:\\\\d{12}|x)'
    """
    found = [_shortest(each) for each in _alternatives(expression)]
    return "|".join(found) if all(found) else ""


def _shortest(sequence: Sequence[tuple[str, str]]) -> str:
    """The same of elements and their repeats."""
    elements = list(sequence)
    while elements:
        element, repeat = elements.pop()
        if repeat[:1] in ("*", "?") or repeat.startswith("{0"):
            continue
        least = 1
        if repeat:
            least = 1 if repeat[0] == "+" else int(re.split("[,}]", repeat[1:], maxsplit=1)[0])
            repeat = _times(least)
        if element.startswith("("):
            opening, _, rest = element.partition(":")
            inner = shortest(rest[:-1])
            last = f"{opening}:{inner})" if inner else ""
            if last != element and least > 1:  # only the last one may end early
                elements.append((element, _times(least - 1)))
                repeat = ""
            element = last
        if element:
            elements.append((element, repeat))
            break
    return "".join(element + repeat for element, repeat in elements)


def _times(count: int) -> str:
    return f"{{{count}}}" if count > 1 else ""


def telling(expression: str) -> str:
    """What seldom stands in a text and always in a match of a relaxed expression; "" where there is no such thing.

    >>> telling(r"(?:^|[^a-z])[a-z]+(?:[.]|@)?@[a-z]+")
    '@'
    """
    [elements, *others] = _alternatives(divided(expression)[1])
    if others or len(elements[0][0]) == 1:  # nothing is gained where it begins with what it tells
        return ""
    said = "".join(_only(element) if not repeat else "\n" for element, repeat in elements)
    rare: list[str] = _RARE.findall(said)
    if rare:
        return re.escape(max(rare, key=len))
    if not _begins_with_letters(elements[0][0]):
        return ""
    # What begins with a word of some kind or other ends with one that is told.
    behind = (at for at, (element, repeat) in enumerate(elements) if element.startswith("(?i:") and not repeat)
    at = next(behind, len(elements))
    return _shortest(elements[at:])


def _begins_with_letters(element: str) -> bool:
    return element.startswith("[") and re.match(element, "a") is not None


def _only(element: str) -> str:
    """The character that an element is, or a line break where it may be several."""
    if len(element) == 1:
        return element if element != "." else "\n"
    return element[1] if len(element) == 2 and element[0] == "\\" and not element[1].isalnum() else "\n"


#: Three characters and more of which one is no small letter, and what seldom stands in a text by itself.
_RARE = lazy(r"(?=[^\n]*[^a-z \n])[^\n]{3,}|[@\\]")


def _alternatives(expression: str) -> list[list[tuple[str, str]]]:
    """The alternatives of a relaxed expression, each as its elements with their repeats: groups are one each."""
    found: list[list[tuple[str, str]]] = [[]]
    pieces = _PIECE.finditer(expression)
    for piece in pieces:
        kind, text = piece.lastgroup, piece[0]
        if kind == "plain":
            for char in text:
                if char == "|":
                    found.append([])
                else:
                    found[-1].append((char, ""))
        elif kind == "repeat":
            found[-1][-1] = found[-1][-1][0], text
        elif kind == "group":
            found[-1].append((text + _skipped(pieces), ""))
        else:
            found[-1].append((text, ""))
    return found


#: A byte by its number, what is escaped, a repeat, a class, or a digit that is not 0.
_DIGIT = lazy(rf"{_ESCAPE}|\{{\d+(?:,\d*)?\}}|(?P<charset>{_CLASS})|(?P<digit>[1-9])", re.DOTALL)


def digits_alike(expression: str) -> str:
    """An expression that matches, in a text with each of 2 to 9 replaced by 1, wherever this one does in the text.

    >>> digits_alike(r"[2-7a-f]{3}[0-9]\\d4")
    '(?:[2-7a-f]|1){3}[0-9]\\\\d1'
    """
    return _DIGIT.sub(_digit_alike, expression)


def _digit_alike(piece: re.Match[str]) -> str:
    charset = piece["charset"]
    return "1" if piece["digit"] else f"(?:{charset}|1)" if charset and _tells_digits(charset) else piece[0]


def tells_digits(expression: str) -> bool:
    """Whether an expression may match some texts and not others that differ in digits from 1 to 9 alone."""
    return any(
        piece["digit"] or (piece["charset"] and _tells_digits(piece["charset"]))
        for piece in _DIGIT.finditer(expression)
    )


@cache
def _tells_digits(charset: str) -> bool:
    """Whether a class has some of the digits from 1 to 9, and not all."""
    if not _ANY_DIGIT.search(charset.replace("0-9", "")):
        return False  # much quicker
    has = re.compile(charset).match
    return 0 < sum(has(digit) is not None for digit in "123456789") < 9


_ANY_DIGIT = lazy("[0-9]")


def has_blanks(expression: str) -> bool:
    """Whether an expression names a blank, and so may match more than one word."""
    return any(piece.lastgroup == "plain" and " " in piece[0] for piece in _PIECE.finditer(expression))


def without(expression: str, chars: str) -> str:
    """An expression that matches, in a text less some characters, wherever this one does in the text; no letters.

    What may be such a character may be missing, and what can be no other is left out.

    >>> without(r"(?:^|[^a-z])first[ _]?name\\s{1,2}-{2}[0-9._]+", " _-")
    '(?:^|[^a-z]?)firstname\\\\s{0,2}[0-9._]*'
    """
    elements = _elements(chars)
    return elements.sub(
        lambda piece: _left(piece["element"], piece["repeat"] or "", chars) if piece["element"] else piece[0],
        expression,
    )


@cache
def _elements(chars: str) -> re.Pattern[str]:
    """What may be one of some characters, with its repeat; but for what only looks like one."""
    return re.compile(
        rf"""\(\?\w*:|\{{\d+(?:,\d*)?\}}
        |(?P<element>{_ESCAPE}|{_CLASS}|[{re.escape(chars)}.])
        (?P<repeat>\{{\d+(?:,\d*)?\}}\??|[*+?][?+]?)?""",
        re.VERBOSE | re.DOTALL,
    )


@cache
def _left(element: str, repeat: str, chars: str) -> str:
    """What is left of a character or a class in a text less some characters."""
    if element in (r"\b", r"\z"):
        return "" if element == r"\b" else element
    has = re.compile(element).match
    if not any(map(has, chars)):
        return element + repeat
    is_another = any(has(chr(code)) for code in range(256) if chr(code) not in chars)
    return element + _or_none(repeat) if is_another else ""


def _or_none(repeat: str) -> str:
    """A repeat that may be none as well."""
    if not repeat:
        return "?"
    if repeat[0] in "*?":
        return repeat
    if repeat[0] == "+":
        return "*" + repeat[1:]
    low, comma, high = repeat.rstrip("?")[1:-1].partition(",")
    return f"{{0,{high if comma else low}}}" + "?" * repeat.endswith("?")


def _edge(excluded: str) -> str:
    """A look-behind at the very start, by consuming what stands there: no run is entered but at its edge.

    Without it the automaton counts from every place of a run at once, and outgrows its memory.
    """
    return f"{EDGE}{_outside(excluded)})"


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


def without_letters(truth: str) -> str:
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
            if text.startswith("[^") or text in _COMPLEMENTS:
                return ""
            found[f"(?i:{text})" if any_case and kind == "charset" else text] = None
            leads = is_optional
    return "" if leads else "|".join(found)


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
