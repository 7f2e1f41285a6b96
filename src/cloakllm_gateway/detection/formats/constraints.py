"""Values that a database names when they break a rule: ``Key (last_name, dob)=(Novak, 1990-02-14) already exists.``

MySQL and SQL Server name the index or the rule instead of the column: most are called after it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cloakllm_gateway.detection.keys import normalise
from cloakllm_gateway.detection.tables import Table
from cloakllm_gateway.patterns import lazy

SIGN = r"Key \([^=\n]+\)=\(|Duplicate entry '|UNIQUE KEY constraint '|with unique index '"
_KEY = lazy(r"Key \((?P<names>[^=\n]{1,500})\)=\((?P<values>[^\n]{1,2048}?)\)(?= (?:already|is|conflicts)|\.?\s|\Z)")
_INDEXED = lazy(
    r"Duplicate entry '(?P<entry>[^\n]{1,512}?)' for key '(?:\w{1,64}\.)?(?P<key>\w{1,64})'"
    r"|(?:UNIQUE KEY constraint|with unique index) '(?P<rule>\w{1,128})'\.[^\n]{1,256}? value is "
    r"\((?P<value>[^\n]{1,512}?)\)"
)
#: What the name of an index has on top of that of its column.
_INDEX = frozenset("unique uniq uq idx index ix key constraint".split())
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
        elif indexed := _INDEXED.match(text, at):
            name = " ".join(word for word in normalise(indexed["key"] or indexed["rule"]) if word not in _INDEX)
            yield Table([name], [[indexed.span("entry" if indexed["entry"] else "value")]])
