"""Values that a database names when they break a rule: ``Key (last_name, dob)=(Novak, 1990-02-14) already exists.``"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cloakllm_gateway.detection.tables import Table
from cloakllm_gateway.patterns import lazy

SIGN = r"Key \([^=\n]+\)=\("
_KEY = lazy(r"Key \((?P<names>[^=\n]{1,500})\)=\((?P<values>[^\n]{1,2048}?)\)(?= (?:already|is|conflicts)|\.?\s|\Z)")
_NAME = lazy(r"(?:\w{1,64}\()*\"?(\w{1,64})\"?[^,]*")


def tables(text: str, places: Sequence[int]) -> Iterator[Table]:
    """Each key as a table of one row; ``places`` are where its sign stands."""
    for at in places:
        if key := _KEY.match(text, at):
            names = [name[1] for name in _NAME.finditer(key["names"])]
            start, values = key.start("values"), key["values"].split(", ")
            if len(values) != len(names):
                values = [key["values"]] if len(names) == 1 else []
            row = []
            for size in map(len, values):
                row.append((start, start + size))
                start += size + 2
            if row:
                yield Table(names, [row])
