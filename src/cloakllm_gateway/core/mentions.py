"""Other mentions of a value in the message that proved it: `Okonkwo` in prose, beside the field ``last_name``.

A key, a column or a word proves its value where it stands.  Later messages are
searched for that as for any known value, and so are the texts of the message
itself in which nothing else was found; the others are looked at once more
anyway.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate

from cloakllm_gateway.spans import Span
from cloakllm_gateway.vault.entries import Entry

#: So many values are looked for one by one, to see whether there is anything to look for.
_FEW = 128


def places(entries: Iterable[Entry], texts: Sequence[str], known: Callable[[str], Sequence[Span]]) -> list[int]:
    """The numbers of the ``texts`` that hold values of ``entries``; ``known`` finds all values known by now."""
    joined = "\n".join(texts)
    forms = {form for entry in entries for form in (entry.spelling.raw, *entry.spelling.plain)}
    if len(forms) <= _FEW:
        folded = joined.casefold()
        if not any(form.casefold() in folded for form in forms):
            return []
    ends = [*accumulate(len(text) + 1 for text in texts)]
    return sorted({bisect_right(ends, span.start) for span in known(joined)})
