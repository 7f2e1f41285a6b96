"""Values that go on in the next line, because somebody wrapped the text, quoted it or set it as a block.

Between the two parts then stand the end of the line and whatever each line begins
with: the indent of a block of YAML, the marks of a quoted mail or of a comment::

    > please refund to AT61 1904 3002
    > 3457 3201

Lines end with a number and begin with one all the time: in tables, logs and lists.
So a line goes on only where one of the two has words or is quoted, and where the
numbers end as parts of one do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from cloakllm_gateway.detection.view import Piece
from cloakllm_gateway.gaps import BREAK, LEAD
from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.spans import Encoding, Range

_INSIDE, _BEHIND = r"(?:^|[\n ./:(+#=\"'-])", r"(?:[ )\"'\]]|[.,;!?]{0,3}(?:[ \r\n]|$))"
_GROUP = rf"(?:{_INSIDE}[A-Z0-9]{{0,8}}[0-9]|[A-Z]{{2}}[0-9]{{2}}[ ./-]?[A-Z]{{4}})"
_NEXT_GROUP = rf"[(]?(?:[0-9]{{1,12}}{_BEHIND}|[A-Z0-9]{{2,4}}[ ])"
_HOST = "@[A-Za-z0-9.-]{1,64}"


class _Joint(NamedTuple):
    """How the parts of a value end and go on, and what stands between them where it is not broken."""

    ends: str
    goes_on: str
    between: str
    #: Lines of nothing but numbers are rows of a table, unless they are quoted or end with a hyphen.
    is_of_numbers: bool = False


_JOINTS = (
    _Joint(_GROUP, _NEXT_GROUP, " ", is_of_numbers=True),
    _Joint(f"{_INSIDE}[A-Z]{{0,4}}[0-9]{{10,30}}", f"[0-9]{{2,20}}{_BEHIND}", "", is_of_numbers=True),
    _Joint("[0-9][/-]|[0-9][.][0-9]{1,3}[.]", f"[0-9]{{1,12}}(?:[./-]|{_BEHIND})", "", is_of_numbers=True),
    _Joint("@", "[A-Za-z0-9-]{1,63}[.][A-Za-z]", ""),
    _Joint("[A-Za-z0-9]", "[.][A-Za-z0-9._+-]{1,64}@", ""),
    _Joint(_HOST, "[.][A-Za-z]", ""),
    # A sentence ends with `kim@acme.com.`, and no word of the next one is a part of it.
    _Joint("@[A-Za-z0-9-]{1,64}[.]", "[a-z]{2,24}(?:[^A-Za-z.]|$)", ""),
)
#: What shows that a value may be broken, for the linear engine: without bounds, each of which would be a state.
SIGN = re.sub(
    r"\{(?:(0)|1),\d+\}",
    lambda bounds: "*" if bounds[1] else "+",
    "|".join(f"(?:{ends}){BREAK}(?:{goes_on})" for ends, goes_on, *_ in _JOINTS),
)
#: Where one may be; :func:`join` looks closer.
PLACE = rf"(?<=[0-9A-Za-z@./-]){BREAK}(?=[(.]?[0-9A-Za-z])"
_BROKEN = [(lazy(rf"(?:{ends})\Z"), lazy(goes_on), joint) for joint in _JOINTS for ends, goes_on in [joint[:2]]]
_LINE_ENDS, _LINE_BEGINS = lazy(r"[.,;:!?)\"'\]]{0,3}[ \t\\]*\r?\n"), lazy(LEAD)
_A_WORD = r"(?:[^\W\d_]|\+\d)"
_WORD, _LINE_WITH_WORD = lazy(_A_WORD), lazy(rf"[^\n]*?{_A_WORD}")
#: How much of a line is looked at, and from which length on it may have been wrapped.
_NEAR, _WIDE = 80, 48


def join(match: re.Match[str]) -> Iterator[Piece]:
    """What stands at a :data:`PLACE` in the place of the break, if a value is broken there."""
    text, (start, end) = match.string, match.span()
    line = text[max(text.rfind("\n", 0, start) + 1, start - _NEAR) : start]
    following = text[end : end + _NEAR].partition("\n")[0]
    for ends, goes_on, joint in _BROKEN:
        if goes_on.match(following) and ends.search(line):
            is_row = joint.is_of_numbers and ">" not in match[0] and line[-1] != "-"
            if not is_row or _WORD.search(line) or _WORD.search(following):
                yield joint.between, start, end, Encoding.WRAPPED
            return


def is_fragment(text: str, *, of_many: bool = False) -> bool:
    """Whether a text is groups of digits that are no number of somebody's yet, or ``of_many`` digits."""
    digits = _DIGITS.fullmatch(text)
    return digits is not None and (sum(map(str.isdigit, digits[1])) >= _FEW) is of_many


#: Numbers of accounts and persons have so many digits at least.
_FEW = 8
_DIGITS = lazy(rf"{LEAD}([0-9 .-]+)")


def is_in_groups(text: str, start: int, end: int) -> bool:
    """Whether digits in groups of one size, but for the first, go on in such groups in the next line.

    A number that is longer than what may be one already, and less than all of it, is hidden whole.
    """
    first = _GROUPS.fullmatch(text, start, end)
    following = _GOING_ON.match(text, end) if first else None
    if first is None or following is None:
        return False
    *full, last = [*map(len, (first[0].split()[1:] + following[1].split()))]
    return last <= full[0] and len({*full}) == 1


_GROUPS = lazy(r"[0-9]{1,8}(?:[ ][0-9]{2,8}){1,12}")
_GOING_ON = lazy(rf"{BREAK}([0-9]{{2,8}}(?:[ ][0-9]{{1,8}}){{1,12}})(?![^\s,.;!?)])")


def is_whole(text: str, part: Range, start: int, end: int) -> bool:
    """Whether a value at ``part`` of a range ends where a line does or begins with one: it is all there is of it.

    A long line may be cut behind what looks whole, where the next one goes on with words.
    """
    if part[0] == start:
        is_long = start - text.rfind("\n", 0, start) + part[1] - part[0] > _WIDE
        is_cut = is_long and _LINE_WITH_WORD.match(text, end) is not None
        return not is_cut and _LINE_ENDS.match(text, part[1], end) is not None
    line = text.rfind("\n", start, part[0]) + 1
    return part[1] == end and line > 0 and _LINE_BEGINS.fullmatch(text, line, part[0]) is not None
