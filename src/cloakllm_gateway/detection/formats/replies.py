"""Fields of a hash as Redis replies with them: ``1) "first_name"`` and below it ``2) "Zora"``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cloakllm_gateway.detection.tables import Table
from cloakllm_gateway.patterns import lazy

SIGN = r"1\) \"[^\"\n]+\"\r?\n[ ]*2\) \""
_FIELD = lazy(
    r"[ ]{0,16}(?P<number>\d{1,6})\) \"(?P<key>[^\"\n]{1,64})\"\r?\n"
    r"[ ]{0,16}\d{1,6}\) \"(?P<value>(?:[^\"\\\n]|\\.){0,1024}+)\"(?:\r?\n|\Z)"
)


def tables(text: str, places: Sequence[int]) -> Iterator[Table]:
    """Each hash as a record; a list of other things has no keys that mean anything."""
    for at in places:
        keys: list[str] = []
        cells: list[tuple[int, int]] = []
        while (field := _FIELD.match(text, at)) is not None and int(field["number"]) == 2 * len(keys) + 1:
            keys.append(field["key"])
            cells.append(field.span("value"))
            at = field.end()
        if keys:
            yield Table(keys, [cells])
