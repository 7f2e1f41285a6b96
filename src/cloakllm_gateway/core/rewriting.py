"""Replacing spans of a text by tokens, and mapping positions back to the text as it was."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cloakllm_gateway.spans import Encoding, Kind, Range, Span, blanked
from cloakllm_gateway.vault.entries import Entry, Spelling
from cloakllm_gateway.vault.placing import Standing

#: Stands for a placed token while the tripwire looks at the text around it: one private-use
#: code point for each character of the token, so that offsets stay and no pattern matches it.
MASK = "\ue000"


class Cut(NamedTuple):
    """The spans to take out of ``text`` as they stand there, and what takes the place of each.

    That is the number of a spelling, whose token it will be, or a text as it is.
    """

    text: str
    standing: Sequence[Standing]
    inserts: Sequence[int | str]


def rewritten(cut: Cut, entries: Sequence[Entry], placed: Sequence[Range]) -> tuple[str, list[Range]]:
    """The text with its spans replaced, and the ranges of all tokens in it; ``placed`` are those from before."""
    out: list[str] = []
    now: list[Range] = []
    length = done = 0
    old = iter([*placed, (len(cut.text) + 1, 0)])
    next_old = next(old)
    for (span, quote), insert in zip(cut.standing, cut.inserts, strict=True):
        while next_old[0] < span.start:
            shift = length - done
            now.append((next_old[0] + shift, next_old[1] + shift))
            next_old = next(old)
        token = insert if isinstance(insert, str) else str(entries[insert].token)
        before = cut.text[done : span.start]
        length += len(before) + len(quote)
        now.append((length, length + len(token)))
        length += len(token) + len(quote)
        out += (before, quote, token, quote)
        done = span.end
    for start, end in [next_old, *old][:-1]:
        now.append((start + length - done, end + length - done))
    out.append(cut.text[done:])
    return "".join(out), now


def taken_back(cut: Cut, placed: Sequence[Range], found: Iterable[Span]) -> list[Span]:
    """All spans of the text before ``cut``: those of the cut, and what was ``found`` in the text after it.

    ``placed`` is where the tokens of the cut stand; what was found touches none
    of them.  A find that is nothing but a quotation mark of ours is none.
    """
    starts = [start - len(standing.quote) for standing, (start, _) in zip(cut.standing, placed, strict=True)]

    def before(offset: int) -> int:
        piece = bisect_right(starts, offset) - 1
        if piece < 0:
            return offset
        (span, quote), (start, end) = cut.standing[piece], placed[piece]
        return span.start if offset <= start else span.end + max(0, offset - end - len(quote))

    new = [span._replace(start=before(span.start), end=before(span.end)) for span in found]
    return sorted([*(standing.span for standing in cut.standing), *(span for span in new if span.start < span.end)])


def spelling(text: str, span: Span, *, is_number: bool = False) -> Spelling:
    """A span of ``text`` as the vault keeps it: its raw text, what it means, how it is written there."""
    raw = text[span.start : span.end]
    is_number = is_number or span.encoding is Encoding.JSON_NUMBER
    value = span.value or raw
    is_odd = _is_odd(span.category, value)
    canonical = span.canonical or ("" if is_odd else _canonical(span.category, value))
    return Spelling(
        category=span.category,
        raw=raw,
        value=value,
        canonical=canonical or raw,
        encoding=span.encoding,
        kind=Kind.NUMBER if is_number else Kind.STRING,
        proof=span.proof,
        sensitive=span.sensitive,
        odd=is_odd and not is_number,
    )


def _is_odd(category: str, value: str) -> bool:
    from cloakllm_gateway.detection.catalogue import CATALOGUE  # once something was found it is there
    from cloakllm_gateway.detection.kinds import has_shape

    kind = CATALOGUE.get(category)
    return kind is not None and not has_shape(kind, value)


def _canonical(category: str, value: str) -> str:
    """The canonical form of a value of ``category``; empty where nobody knows one."""
    from cloakllm_gateway.detection.catalogue import CATALOGUE

    kind = CATALOGUE.get(category)
    return kind.canonical(value) if kind is not None else ""


def masked(text: str, placed: Iterable[Range]) -> str:
    """``text`` with its tokens masked; offsets stay."""
    return blanked(text, placed, MASK)
