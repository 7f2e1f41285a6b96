"""Personal data that the model or its user writes in clear: reported or blocked, never masked.

Masking it would change what is executed; but somebody should know, and an
upstream may be closed to it (``raw_pii``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cloakllm_gateway.core.rewriting import MASK, masked
from cloakllm_gateway.core.settings import UpstreamSettings
from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.protocol.surface import RESTORE, RESTORE_OWN
from cloakllm_gateway.protocol.walk import Leaf
from cloakllm_gateway.spans import Span, Text
from cloakllm_gateway.vault import tokens

#: So many distinct values of one category in one call are a dump, whatever the call is for.
RAW_DUMP = 50

#: A value of which nothing is left but its tokens and what joins or quotes them, in any of its spellings.
_TOKENS_ALONE = lazy(
    r"(?=[^\ue000]*+\ue000)"
    r"(?:\\[nrt]|%(?:0[9ADad]|2[027])|&(?:amp|apos|gt|lt|nbsp|quot|#(?:10|13|3[49]|x2[27]|x0?[AaDd]));|[\W_])*+"
)


def raw_texts(written: Iterable[Leaf]) -> list[Text]:
    """What was written in fields that are restored, to whomever, with the tokens blanked."""
    found = []
    for leaf in written:
        if leaf.role not in (RESTORE, RESTORE_OWN):
            continue
        text = leaf.text
        if tokens.may_hold(text):
            text = masked(text, ((match.start, match.end) for match in tokens.scan(text)))
        if text.strip(MASK + " "):
            found.append(Text(text, leaf.key, leaf.record, names=False, parent=leaf.parent, above=leaf.above))
    return found


def distinct(found: Iterable[Sequence[Span]], upstream: UpstreamSettings) -> dict[str, int]:
    """How many different values there are of each category, of what was ``found`` in :func:`raw_texts`.

    What is nothing but tokens under a key that proves it, ``PASSWORD=[SECRET_0]``, is none.  Nor is what the
    model is shown in clear of that ``upstream``: it has no token to write instead.  And what the configuration says
    of the upstream itself is no news to it: `/home/me/docs` in a call may be the folder it was started for.
    """
    shown = upstream.shown
    values: dict[str, dict[str, str]] = {}
    for spans in found:
        for span in spans:
            if span.category not in shown and not _TOKENS_ALONE.fullmatch(span.value):
                values.setdefault(span.category, {}).setdefault(span.canonical or span.value, span.value)
    if not values:  # most calls
        return {}
    told = "\n".join(upstream.configured).casefold()
    counts = {
        category: sum(not _stands_in(told, value) for value in seen.values()) for category, seen in values.items()
    }
    return {category: count for category, count in sorted(counts.items()) if count}


def _stands_in(text: str, value: str) -> bool:
    """Whether ``value`` stands in case-folded ``text``, and not as a part of a word."""
    value = value.casefold()
    at = text.find(value) if value else -1
    while at >= 0:
        end = at + len(value)
        before, after = text[at - 1 : at] + value[0], value[-1] + text[end : end + 1]
        if not (len(before) == 2 and before.isalnum()) and not (len(after) == 2 and after.isalnum()):
            return True
        at = text.find(value, at + 1)
    return False
