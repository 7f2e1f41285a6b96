"""Formats that name their values otherwise than by a key before each: by place, or in another part of the text.

Each has a *sign*, an expression of the linear engine for what shows that it may be there, which the gate looks for; and
a reader, which makes tables of what it finds at the places of its sign.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from cloakllm_gateway import linear
from cloakllm_gateway.detection.formats import (
    accounts,
    aliases,
    bound,
    cells,
    chats,
    constraints,
    doers,
    forms,
    mail,
    printed,
    replies,
    rows,
    segments,
    snapshots,
    unnamed,
)
from cloakllm_gateway.detection.tables import Table


class Format(NamedTuple):
    """A format by its ``sign``, and the reader of a text and the places of the sign in it, in order."""

    sign: str
    tables: Callable[[str, Sequence[int]], Iterator[Table]]


FORMATS = (
    Format(bound.SIGN, bound.tables),
    Format(constraints.SIGN, constraints.tables),
    Format(forms.SIGN, forms.tables),
    Format(segments.SIGN, segments.tables),
    Format(accounts.SIGN, accounts.tables),
    Format(chats.SIGN, chats.tables),
    Format(mail.SIGN, mail.tables),
    Format(printed.SIGN, printed.tables),
    Format(replies.SIGN, replies.tables),
    Format(cells.SIGN, cells.tables),
    Format(rows.SIGN, rows.tables),
    Format(snapshots.SIGN, snapshots.tables),
    Format(doers.SIGN, doers.tables),
    Format(aliases.SIGN, aliases.tables),
    Format(unnamed.SIGN, unnamed.tables),
)

#: What shows that any of them is there.
SIGN = "|".join(each.sign for each in FORMATS)


def tables(text: str, screen: bytes) -> Iterator[Table]:
    """The tables of all formats in a text; ``screen`` has a byte for each character of it."""
    for number in _told(screen):
        if places := [start for start, _ in linear.spans(_search(number), screen)]:
            yield from FORMATS[number].tables(text, places)


@cache
def _search(number: int) -> linear.Search:
    return linear.compiled(FORMATS[number].sign)


def may_tell(text: str) -> bool:
    """Whether a text may be in one of them."""
    return bool(_told(linear.as_bytes(text)))


def _told(screen: bytes) -> Sequence[int]:
    """Which of them a text may be in: all where that took too much memory to tell."""
    matched = _signs().matched(screen)
    return range(len(FORMATS)) if matched is None else sorted(matched)


@cache
def _signs() -> linear.Alternatives:
    return linear.Alternatives([each.sign for each in FORMATS], linear.options())
