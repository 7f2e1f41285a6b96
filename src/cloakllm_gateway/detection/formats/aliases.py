"""Values that SQL names behind them: ``SELECT 'Kim' AS first_name, '1984-07-03'::date AS dob``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cloakllm_gateway.detection.tables import Table
from cloakllm_gateway.patterns import lazy

#: No colon follows, as behind ``open('x') as file``.
SIGN = r"'(?:::[a-z]+)?\)? [aA][sS] [\"`\[]?[A-Za-z_]\w*(?:[\"`\],;) \n]|$)"
_ALIAS = lazy(r"'(?:::[a-z]{1,20})?\)? [aA][sS] [\"`\[]?(\w{1,64})")
#: A value has at most so many code points.
_LONGEST = 512


def tables(text: str, places: Sequence[int]) -> Iterator[Table]:
    """All such values of a text as a row; ``places`` are where its sign stands, at the closing quotes."""
    keys: list[str] = []
    row: list[tuple[int, int]] = []
    for at in places:
        start = text.rfind("'", max(at - _LONGEST, 0), at) + 1
        if start and "\n" not in text[start:at] and (alias := _ALIAS.match(text, at)):
            keys.append(alias[1])
            row.append((start, at))
    yield Table(keys, [row])
