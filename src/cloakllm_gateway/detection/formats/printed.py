"""Objects as languages print them whose keys have no mark of their own: keywords of Lisp, what PHP serialises."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cloakllm_gateway.detection.tables import Table
from cloakllm_gateway.patterns import lazy

SIGN = r"[({\[ ]:[a-z][a-z0-9_/.-]+ \"|s:\d+:\"[^\"\n]+\";s:\d+:\""
_FIELD = lazy(
    r"(?:[({\[ ]:(?P<keyword>[a-z][\w/.-]{1,40}) |s:\d{1,3}:\"(?P<key>[^\"\n]{1,64})\";s:\d{1,5}:)"
    r"\"(?P<value>[^\"\n]{1,1024})\""
)
#: Two fields with more between them are of different records, in code points.
_GAP = 200


def tables(text: str, places: Sequence[int]) -> Iterator[Table]:
    """Fields that are close to each other are a record; ``places`` are where they may begin."""
    keys: list[str] = []
    cells: list[tuple[int, int]] = []
    for at in places:
        if (field := _FIELD.match(text, at)) is None:
            continue
        if cells and at - cells[-1][1] > _GAP:
            yield Table(keys, [cells])
            keys, cells = [], []
        keys.append((field["key"] or field["keyword"].rpartition("/")[2]).rpartition("\0")[2])
        cells.append(field.span("value"))
    if cells:
        yield Table(keys, [cells])
