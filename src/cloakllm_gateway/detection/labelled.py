"""Forms in plain text, copied or extracted: a label, and its value behind a gap or on the line below.

``Full name ........ Kim Lee``, ``Date of birth      1990-02-14``, ``Last name`` above ``Lee``.  Prose, help texts and
descriptions of fields look alike, so there have to be two labels that mean something, each with a value that is no
label itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from cloakllm_gateway.patterns import lazy


class Form(NamedTuple):
    """The labels that are known and where the value of each is, none if it is no form; and up to where it was read."""

    labels: Sequence[str]
    values: Sequence[tuple[int, int]]
    end: int


_LABEL = r"(?P<label>[^\W\d](?:[ ]?[\w.#/()'&-]){1,46}?)"
_BESIDE = lazy(
    rf"[ \t*•]{{0,20}}{_LABEL}:?(?:[ ]{{2,60}}|[ ]?\.{{3,80}}[ ]{{0,4}}|[ ]?_{{3,80}}[ ]{{0,4}}|[ ]{{0,3}}\t{{1,6}})"
    r"(?P<value>[^\s:=|.,;_](?:[ ]?[^\s|_]){0,127})[ _]{0,80}\r?(?=\n|\Z)"
)
#: What no label and no value has.
_CODE = lazy(r"[={;<>]")
#: What neither has where one is above the other: statements, calls, comments, decorators.
_STATEMENT = lazy(
    r"(?:return|for|if|elif|else|async|def|class|import|from|while|with|const|let|var|struct|public|private) |[@*/]"
)
_CALLED = lazy(r"[^\W\d]\(|:\Z")
_GAP = lazy(r"[^ ]  |[._]{3}|\t")
_ABOVE = lazy(rf"[ \t*•#_]{{0,20}}{_LABEL}[ ]{{0,2}}[:*_]{{0,6}}[ \t]{{0,20}}\r?\n")
_BELOW = lazy(r"[ \t]{0,20}(?P<value>[^\s:=|.,;)}\]>](?:[ ]?[^\s|]){0,127})[ \t]{0,20}\r?(?=\n|\Z)")
_EMPTY = lazy(r"(?:[ \t]{0,20}\r?\n){0,2}")
#: So many lines above one with a label and a value are looked at; fewer labels than this make no form.
_MOST_LINES, _ENOUGH = 48, 2


def read(text: str, start: int, end: int, known: Callable[[str], str]) -> Form:
    """The form that a line is of; a label may be ``known`` to mean something."""
    if end - start > _LONGEST_LINE or _CODE.search(text, start, end):
        return Form((), (), start)
    line = _BESIDE.match(text, start) if _GAP.search(text, start + 2, end) else None
    if line is None:
        if (label := _ABOVE.match(text, start)) is None or not _is_label(label["label"], known):
            return Form((), (), start)
        below = _value_below(text, label)
        if below is None or known(below["value"]):
            return Form((), (), label.end())
        return _above(text, _lines_before(text, start), known)
    if not known(line["label"]) or known(line["value"]):
        return Form((), (), line.end())
    return _beside(text, _first_beside(text, start), known)


def _first_beside(text: str, start: int) -> int:
    """Where the lines with a label and a value begin that the one at a place is of."""
    for _ in range(_MOST_LINES):
        begin = text.rfind("\n", max(start - _LONGEST_LINE, 0), max(start - 1, 0)) + 1
        before = _BESIDE.match(text, begin)
        if start == 0 or before is None or before.end() != start - 1:
            break
        start = begin
    return start


def _beside(text: str, at: int, known: Callable[[str], str]) -> Form:
    """The lines from a place on that have a label and a value."""
    labels, values = [], []
    while (line := _BESIDE.match(text, at)) is not None:
        if known(line["label"]):
            labels.append(line["label"])
            values.append(line.span("value"))
        at = line.end() + 1
    return Form(labels, values, at) if len(labels) >= _ENOUGH else Form((), (), at)


def _above(text: str, at: int, known: Callable[[str], str]) -> Form:
    """Labels on a line of their own, each with the line below; a few other lines may stand between."""
    labels, values = [], []
    between = -_FEW  # lines since the last label
    while between < _FEW:
        label = _ABOVE.match(text, at)
        if label is not None and (kind := _is_label(label["label"], known)):
            below = _value_below(text, label)
            if below is None or known(below["value"]):
                return Form((), (), label.end())
            if kind != "PERSON" or not below["value"][0].islower():
                labels.append(label["label"])
                values.append(below.span("value"))
            at, between = below.end() + 1, 0
        elif (line_end := text.find("\n", at, at + _LONGEST_LINE)) >= 0:
            at = line_end + 1
            between += 1
        else:
            break
    return Form(labels, values, values[-1][1]) if len(labels) >= _ENOUGH else Form((), (), at)


def _is_label(text: str, known: Callable[[str], str]) -> str:
    """What a text means as a label: code has single words in lower case on a line as well, such as ``pass``."""
    is_code = (text.isalpha() and text.islower()) or _STATEMENT.match(text) or _CALLED.search(text)
    return "" if is_code else known(text)


def _value_below(text: str, label: re.Match[str]) -> re.Match[str] | None:
    """The value below a label; an empty line may stand between."""
    empty = _EMPTY.match(text, label.end())
    below = _BELOW.match(text, empty.end() if empty else label.end())
    is_code = below is not None and (_STATEMENT.match(below["value"]) or _CALLED.search(below["value"]))
    return None if is_code else below


def _lines_before(text: str, at: int) -> int:
    """Where a few lines before a place begin: labels may stand there that prove nothing without others."""
    for _ in range(_FEW):
        before = text.rfind("\n", max(at - _LONGEST_LINE, 0), max(at - 1, 0)) + 1
        if before == 0 and at > _LONGEST_LINE:
            break
        at = before
    return at


#: So many lines above a label may have others, and so many at most stand between two.
_FEW = 8
#: A form has no line with more code points.
_LONGEST_LINE = 200
