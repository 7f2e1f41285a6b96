"""Other mentions of a value in the message that proved it: `Okonkwo` in prose, beside the field ``last_name``.

A key, a column or a word proves its value where it stands.  Later messages are
searched for that as for any known value, and so are the texts of the message
itself in which nothing else was found; the others are looked at once more
anyway.  One that is cut between two blocks is found where they meet.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate

from cloakllm_gateway.core.adjacent import Joined
from cloakllm_gateway.spans import Span
from cloakllm_gateway.vault.entries import Entry

#: So many values are looked for one by one, to see whether there is anything to look for.
_FEW = 128
#: What stands between two texts: the end of a line, behind which no value goes on.
_EDGE = "\n\0"


def places(entries: Iterable[Entry], texts: Sequence[str], known: Callable[[str], Sequence[Span]]) -> list[int]:
    """The numbers of the ``texts`` that hold values of ``entries``; ``known`` finds all values known by now."""
    joined = _EDGE.join(texts)
    if not _may_hold(joined, entries):
        return []
    ends = [*accumulate(len(text) + len(_EDGE) for text in texts)]
    return sorted({bisect_right(ends, span.start) for span in known(joined)})


def across(entries: Iterable[Entry], joined: Joined, known: Callable[[str], Sequence[Span]]) -> bool:
    """Whether a value goes across an edge of ``joined`` texts, if they hold any of ``entries``."""
    ends = joined.ends
    return _may_hold(joined.text, entries) and any(
        span.end > ends[bisect_right(ends, span.start)] for span in known(joined.text)
    )


def _may_hold(text: str, entries: Iterable[Entry]) -> bool:
    """Whether it is worth looking for values of ``entries``."""
    forms = {form for entry in entries for form in (entry.spelling.raw, *entry.spelling.plain)}
    if len(forms) > _FEW:
        return True
    folded = text.casefold()
    return any(all(word in folded for word in form.casefold().split()) for form in forms)
