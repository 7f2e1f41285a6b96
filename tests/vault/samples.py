"""Entries and a small store for the tests of the vault."""

from __future__ import annotations

from collections.abc import Sequence

from cloakllm_gateway.spans import Encoding, Kind, Proof, Span
from cloakllm_gateway.vault.entries import Entry, Spelling, Token
from cloakllm_gateway.vault.placing import standing


def entry(
    token: str,
    value: str,
    *,
    raw: str = "",
    canonical: str = "",
    encoding: Encoding = Encoding.PLAIN,
    kind: Kind = Kind.STRING,
    proof: Proof = Proof.SHAPE,
    origins: Sequence[str] = ("crm",),
    sensitive: bool = False,
) -> Entry:
    """An entry for a token written as ``EMAIL_0`` or ``EMAIL_0_1``."""
    words = token.split("_")
    numbers = [int(word) for word in words if word.isdigit()]
    name = "_".join(word for word in words if not word.isdigit())
    spelling = Spelling(name, raw or value, value, canonical or value.lower(), encoding, kind, proof, sensitive)
    return Entry(Token(name, *numbers), spelling, "session", frozenset(origins))


def hide(text: str, spans: Sequence[Span]) -> tuple[str, dict[Token, Entry], list[int]]:
    """What the core does with the finds in a text: the new text, its tokens, and where they stand in it."""
    pieces: list[str] = []
    starts: list[int] = []
    entries: dict[tuple[str, ...], Entry] = {}
    done = length = 0
    for span, quote in standing(text, spans):
        raw = text[span.start : span.end]
        kind = Kind.NUMBER if span.encoding is Encoding.JSON_NUMBER else Kind.STRING
        spelling = Spelling(span.category, raw, span.value, span.canonical, span.encoding, kind, span.proof)
        token = Token(span.category, len(entries))
        known = entries.setdefault(spelling.identity, Entry(token, spelling, "session", frozenset({"crm"})))
        length += span.start - done + len(quote)
        starts.append(length)
        length += len(str(known.token)) + len(quote)
        pieces += (text[done : span.start], quote, str(known.token), quote)
        done = span.end
    return "".join((*pieces, text[done:])), {e.token: e for e in entries.values()}, starts
