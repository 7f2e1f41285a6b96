"""Values that are split between adjacent text blocks of a result, or proved by what another block says.

A server that sends a text in pieces cuts it anywhere, and the model reads on:
of ``kim.lee@exam`` and ``ple.com`` neither block has to look like an address,
and the second half of a table has no header.  So blocks that adjoin are looked
at once more, joined, and of what goes on behind an edge each gets its part.

A file is as often given line by line, in blocks or in a list in structured
content.  Those are joined with line ends, and only where a key block or a table
begins in one: of most lists no item says anything of the next.

Offsets are code points of a block's text, or of the joined one, half open.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.protocol.walk import Path
from cloakllm_gateway.spans import Span

#: How a text begins that is no second half: a word with a capital, a key, a date, a time, a bracket or a quote.
_RECORD = lazy(
    r"(?:[A-Z][a-z]+|[A-Z]+|[AI])(?![^\W_]|[.@-][^\W_])|[a-z_][\w-]{2,}\s?[:=](?![=&])"
    r"|\d{4}-\d\d-\d\d(?!\d)|\d{4}/\d\d/\d\d(?!\d)|\d{1,2}:\d\d(?::\d\d)?(?![\w:])|[\[{(<\"'`]"
)
#: The same where a secret ends, which may go on with nearly anything.
_STAMP = lazy(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d|[\[{]\"")
_WORD = lazy(r"[^\W\d_]+")


#: The first line of a table, or what may be one.
_HEADER = lazy(r"[^\W\d_][^,;\t|\n]{0,48}(?:[,;\t|][^,;\t|\n]{0,48})+(?:\r?\n|\Z)")
_KEY_BLOCK = "-----BEGIN "


class Joined(NamedTuple):
    """Texts that are read one after the other, as one.

    ``ends`` has where in it the next of them begins, ``gap`` is the length of what stands between two.
    """

    text: str
    ends: Sequence[int]
    gap: int = 0


def runs(paths: Sequence[Path]) -> list[list[int]]:
    """Which of some places, in document order, are read one after the other: at least two each, by number."""
    found: list[list[int]] = []
    for number, path in enumerate(paths):
        if number and _adjoin(paths[number - 1], path):
            found[-1].append(number)
        else:
            found.append([number])
    return [run for run in found if len(run) > 1]


def lines(places: Sequence[tuple[Path, str]], *, of_blocks: bool = False) -> list[list[int]]:
    """Which of some places with their texts, in document order, are lines of one file: at least two each, by number.

    They stand in one list, or in the same field of its items.  In a field of
    records a table can't begin: that is a column, unless they are blocks.
    """
    begun = {
        _column(path)
        for path, text in places
        if _KEY_BLOCK in text or ((_is_first(path) if of_blocks else path[-1:] == (0,)) and _HEADER.match(text))
    }
    if not begun:
        return []
    columns: dict[tuple[Path, Path], list[int]] = {}
    for number, (path, _) in enumerate(places):
        if (column := _column(path)) in begun:
            columns.setdefault(column, []).append(number)
    return [column for column in columns.values() if len(column) > 1]


def _column(path: Path) -> tuple[Path, Path]:
    """The path to the innermost list that ``path`` leads through, and on from its items; that of nothing for none."""
    for depth in range(len(path) - 1, -1, -1):
        if isinstance(path[depth], int):
            return path[:depth], path[depth + 1 :]
    return path, ()


def _is_first(path: Path) -> bool:
    """Whether ``path`` leads through the first item of its innermost list."""
    return next((step for step in reversed(path) if isinstance(step, int)), -1) == 0


def _adjoin(one: Path, other: Path) -> bool:
    """Whether two places are in items of one list that follow each other."""
    at, next_at = next(((a, b) for a, b in zip(one, other, strict=False) if a != b), ("", ""))
    return isinstance(at, int) and isinstance(next_at, int) and at + 1 == next_at


def join(blocks: Sequence[str], between: str = "") -> Joined:
    gap = len(between)
    return Joined(between.join(blocks), [*accumulate(len(block) + gap for block in blocks)], gap)


def parts(joined: Joined, found: Sequence[Span], own: Sequence[Sequence[Span]]) -> Iterator[tuple[int, Span]]:
    """What was found in joined blocks and in none by itself: the number of a block, and what is in it.

    ``own`` are the finds in each block by itself, disjoint and sorted.  What a
    block gets of a longer value is a value of its own, spelled plainly.
    """
    for span in found:
        block = bisect_right(joined.ends, span.start)
        if span.end <= joined.ends[block]:
            by = joined.ends[block - 1] if block else 0
            shares = iter([(block, span._replace(start=span.start - by, end=span.end - by))])
        elif _is_complete(joined, block, span, own[block]):
            continue
        else:
            shares = _shares(joined, block, span)
        yield from ((of, share) for of, share in shares if not _is_covered(own[of], share))


def _shares(joined: Joined, block: int, span: Span) -> Iterator[tuple[int, Span]]:
    """What each block has of a value."""
    start = span.start
    while start < span.end:
        end = min(span.end, joined.ends[block] - joined.gap)
        if start < end:
            by = joined.ends[block - 1] if block else 0
            yield block, span.part(start - by, end - by, joined.text[start:end])
        start, block = joined.ends[block], block + 1


def _is_complete(joined: Joined, block: int, longer: Span, own: Sequence[Span]) -> bool:
    """Whether a longer value is one that its block ends with, and what follows the edge by chance.

    So it is where the next block begins as a record does, and where the two are
    a value and a word and nothing else, as cells are.  ``kim@acme.co`` at the
    end of other text may go on with an ``m``, a street with a town, and a
    secret with whatever has no blank in it.
    """
    from cloakllm_gateway.detection.catalogue.model import CONTEXT  # once something was found it is there

    if not own or own[-1].category != longer.category or own[-1].rank <= CONTEXT:
        return False
    text, edge, by = joined.text, joined.ends[block], joined.ends[block - 1] if block else 0
    last = own[-1]
    if not last.start + by <= longer.start < last.end + by:
        return False
    if any(char.isalnum() or char.isspace() or char == "," for char in text[last.end + by : edge]):
        return False
    if longer.sensitive:
        return _STAMP.match(text, edge) is not None
    if record := _RECORD.match(text, edge):
        return text[edge - 1].islower() or not record[0].isupper()
    next_edge = joined.ends[block + 1]
    return last.start == 0 and longer.end == next_edge and _WORD.fullmatch(text, edge, next_edge) is not None


def _is_covered(own: Sequence[Span], share: Span) -> bool:
    """Whether one find in the block by itself hides all of this."""
    at = bisect_right(own, share.start, key=_start) - 1
    return at >= 0 and share.end <= own[at].end


def _start(span: Span) -> int:
    return span.start
