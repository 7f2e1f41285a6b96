"""Personal data that the model writes itself: reported or blocked, never masked.

Masking it would change what is executed; but somebody should know, and an
upstream may be closed to it (design, section 6).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cloakllm_gateway.protocol.surface import RESTORE
from cloakllm_gateway.protocol.walk import Leaf
from cloakllm_gateway.spans import Span, Text
from cloakllm_gateway.vault import tokens

#: So many distinct values of one category in one call are a dump, whatever the call is for.
RAW_DUMP = 50

#: What a token is looked at as: nothing that any pattern or key could prove.
_BLANK = "\ue000"


def raw_texts(written: Iterable[Leaf]) -> list[Text]:
    """What the model wrote in fields that are restored, with its tokens blanked."""
    found = []
    for leaf in written:
        if leaf.role is RESTORE and (text := _without_tokens(leaf.text)).strip(_BLANK + " "):
            found.append(Text(text, "" if leaf.is_key else leaf.key, leaf.record, names=False))
    return found


def distinct(found: Iterable[Sequence[Span]]) -> dict[str, int]:
    """How many different values there are of each category."""
    values: dict[str, set[str]] = {}
    for span in (span for spans in found for span in spans):
        values.setdefault(span.category, set()).add(span.canonical)
    return {category: len(seen) for category, seen in sorted(values.items())}


def _without_tokens(text: str) -> str:
    if not tokens.may_hold(text):
        return text
    pieces: list[str] = []
    done = 0
    for match in tokens.scan(text):
        pieces += (text[done : match.start], _BLANK * (match.end - match.start))
        done = match.end
    return "".join(pieces) + text[done:]
