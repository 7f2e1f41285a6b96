"""Forms as text has them that was copied or extracted: a label, and its value behind a gap or on the line below.

``Full name ........ Kim Lee``, ``Date of birth      1990-02-14``, ``Last name`` above ``Lee``.  Prose, help texts and
descriptions of fields look alike, so there have to be two labels that mean something, each with a value that is no
label itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from cloakllm_gateway.patterns import lazy


class Form(NamedTuple):
    """The labels that are known and where the value of each is, and where the line of the last one ends."""

    labels: list[str]
    values: list[tuple[int, int]]
    end: int


_LABEL = r"(?P<label>[^\W\d][\w .#/()'&-]{1,46}?)"
_BESIDE = lazy(
    rf"[ \t*•]{{0,20}}{_LABEL}:?(?:[ ]{{2,60}}|[ ]?\.{{3,80}}[ ]{{0,4}}|[ ]?_{{3,80}}[ ]{{0,4}}|[ ]{{0,3}}\t{{1,6}})"
    r"(?P<value>[^\s:=|.,;_](?:[ ]?[^\s|_]){0,127})[ _]{0,80}\r?(?=\n|\Z)"
)
_ABOVE = lazy(rf"[ \t*•]{{0,20}}{_LABEL}[ ]{{0,2}}[:*]?[ \t]{{0,20}}\r?\n")
_BELOW = lazy(r"[ \t]{0,20}(?P<value>[^\s:=|.,;](?:[ ]?[^\s|]){0,127})[ \t]{0,20}\r?(?=\n|\Z)")
_EMPTY = lazy(r"(?:[ \t]{0,20}\r?\n){0,2}")
#: So many lines above and below a label are looked at; fewer labels than this, with a value each, make no form.
_MOST_LINES, _ENOUGH = 32, 2


def read(text: str, start: int, known: Callable[[str], str]) -> Form | None:
    """The form that the line at a place is of, if it is a line of one; a label may be ``known`` to mean something."""
    line = _BESIDE.match(text, start)
    if line is None:
        is_label = (label := _ABOVE.match(text, start)) is not None and known(label["label"])
        return _form(_above(text, _lines_before(text, start), known), known) if is_label else None
    if not known(line["label"]) or known(line["value"]):
        return None
    while start > 0 and (before := _BESIDE.match(text, text.rfind("\n", max(start - 256, 0), start - 1) + 1)):
        if before.end() != start - 1:
            break
        start = before.start()
    return _form(_beside(text, start), known)


#: A label, and where its value is.
_Labelled = tuple[str, tuple[int, int]]


def _form(found: Iterator[_Labelled], known: Callable[[str], str]) -> Form | None:
    """The form of some labels, of which enough are known and none is a value."""
    lines = list(found)
    end = lines[-1][1][1] if lines else 0
    kept = [(label, value) for label, value in lines if known(label)]
    return Form([label for label, _ in kept], [value for _, value in kept], end) if len(kept) >= _ENOUGH else None


def _beside(text: str, at: int) -> Iterator[_Labelled]:
    """The lines from a place on that have a label and a value."""
    for _ in range(2 * _MOST_LINES):
        if (line := _BESIDE.match(text, at)) is None:
            return
        yield line["label"], line.span("value")
        at = line.end() + 1


def _above(text: str, at: int, known: Callable[[str], str]) -> Iterator[_Labelled]:
    """Labels on a line of their own, each with the line below; other lines may stand between."""
    for _ in range(2 * _MOST_LINES):
        label = _ABOVE.match(text, at)
        if label is not None and known(label["label"]):
            empty = _EMPTY.match(text, label.end())
            below = _BELOW.match(text, empty.end() if empty else label.end())
            if below is None or known(below["value"]):
                return
            value = below["value"]
            if known(label["label"]) != "PERSON" or not value[0].islower():
                yield label["label"], below.span("value")
            at = below.end() + 1
        elif (at := text.find("\n", at, at + _LONGEST_LINE) + 1) == 0:
            return


def _lines_before(text: str, at: int) -> int:
    """Where a few lines before a place begin: labels may stand there that prove nothing without others."""
    for _ in range(_FEW):
        before = text.rfind("\n", max(at - _LONGEST_LINE, 0), max(at - 1, 0)) + 1
        if before == 0 and at > _LONGEST_LINE:
            break
        at = before
    return at


#: So many lines above a label may have others.
_FEW = 8
#: A form has no line with more code points.
_LONGEST_LINE = 200
