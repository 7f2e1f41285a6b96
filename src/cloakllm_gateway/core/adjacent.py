"""Values that begin in one text block of a result and end in the next, or are told by what stands in another one.

A server that sends a text in pieces cuts it anywhere, and the model reads on:
of ``kim.lee@exam`` and ``ple.com`` neither block has to look like an address,
and the second half of a table has no header.  So blocks that adjoin are looked
at once more, joined, and of what goes on behind an edge each gets its part.

Offsets are code points of a block's text, or of the joined one, half open.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from cloakllm_gateway.detection.catalogue.model import CONTEXT
from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.protocol.surface import FLOW
from cloakllm_gateway.protocol.walk import Leaf, Path
from cloakllm_gateway.spans import Encoding, Span

#: Begins and ends a block of a key, which may go on through any number of texts.
_KEY_BLOCK = "PRIVATE KEY-----"
#: How a text begins that is no second half: a word with a capital, a key, a date, a time, a bracket or a quote.
_RECORD = lazy(
    r"(?:[A-Z][a-z]*|[A-Z]+)(?![^\W_])|[a-z_][\w.-]*\s?[:=]|\d{4}-\d\d-\d\d|\d{4}/\d\d/\d\d|\d{1,2}:\d\d|[\[{(<\"'`]"
)


class Joined(NamedTuple):
    """Texts that are read one after the other, as one; ``ends`` has where in it each of them ends."""

    text: str
    ends: Sequence[int]


def runs(leaves: Sequence[Leaf]) -> list[list[Path]]:
    """The places of texts that are read one after the other: at least two each, from items of a list that adjoin."""
    found: list[list[Path]] = []
    for path in [leaf.path for leaf in leaves if leaf.role is FLOW and isinstance(leaf.value, str)]:
        if found and _adjoin(found[-1][-1], path):
            found[-1].append(path)
        else:
            found.append([path])
    return [run for run in found if len(run) > 1]


def _adjoin(one: Path, other: Path) -> bool:
    if len(one) != len(other) or len(one) < 2:
        return False
    (*above, at, name), (*other_above, other_at, other_name) = one, other
    return isinstance(at, int) and at + 1 == other_at and above == other_above and name == other_name


def join(blocks: Sequence[str]) -> Joined:
    return Joined("".join(blocks), [*accumulate(map(len, blocks))])


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
        end = min(span.end, joined.ends[block])
        if start < end:
            by = joined.ends[block - 1] if block else 0
            value = joined.text[start:end]
            share = span._replace(start=start - by, end=end - by, value=value, canonical="", encoding=Encoding.PLAIN)
            yield block, share
        start, block = end, block + 1


def _is_complete(joined: Joined, block: int, longer: Span, own: Sequence[Span]) -> bool:
    """Whether a longer value is one that its block ends with, and what follows the edge by chance.

    So it is where both blocks are that and nothing else, as cells are, and where
    the next one begins as a record does.  ``kim@acme.co`` at the end of other
    text may go on with an ``m``, and a street with a town.
    """
    if not own or own[-1].category != longer.category or own[-1].rank <= CONTEXT:
        return False
    last, edge, by = own[-1], joined.ends[block], joined.ends[block - 1] if block else 0
    if not last.start + by <= longer.start < last.end + by or last.value.count(_KEY_BLOCK) == 1:
        return False
    between = joined.text[last.end + by : edge]
    if any(char.isalnum() or char.isspace() or char == "," for char in between):
        return False
    are_cells = last.start == 0 and longer.end >= joined.ends[block + 1]
    return are_cells or _RECORD.match(joined.text, edge) is not None


def _is_covered(own: Sequence[Span], share: Span) -> bool:
    """Whether one find in the block by itself hides all of this."""
    at = bisect_right(own, share.start, key=_start) - 1
    return at >= 0 and share.end <= own[at].end


def _start(span: Span) -> int:
    return span.start
