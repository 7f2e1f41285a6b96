"""Putting values back: one pass, each value written as its place demands.

Inserted text is never looked at again, and costs one dictionary look-up per
token, however many tokens there are.  What a value looks like where it lands
(design, section 4):

- where nothing about the place is known: the raw text, as it was found;
- as a whole argument: the decoded value, and a number where it was a number;
- in JSON text: escaped, as often as it is nested; a number loses the quotes
  that its token needed;
- in the path, query or fragment of a URL: percent-encoded;
- where the spelling was found in just such a place: the raw text again, so
  that ``restore(sanitize(x)) == x``;
- in a shell command or in SQL: only what can't act as code there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from cloakllm_gateway.spans import Encoding, Kind, Span
from cloakllm_gateway.vault import code
from cloakllm_gateway.vault.contexts import Layers, Spot, decoded, encoded, is_json, numbers, spots
from cloakllm_gateway.vault.entries import Entry
from cloakllm_gateway.vault.tokens import LITERAL, TokenMatch


class Place(NamedTuple):
    """Where a token stands, as far as it matters to the policy.

    ``whole``: it is the whole argument.  ``encoding``: how a value is written
    there.  ``authority``: it stands in the scheme, user, host or port of a
    URL, and ``whole_authority``: it is all of that; ``host`` is the authority
    of the URL around it.  ``code_like``: the parameter is a command, a script,
    a query or a path.
    """

    whole: bool
    encoding: Encoding
    authority: bool = False
    whole_authority: bool = False
    code_like: bool = False
    host: str = ""


class NumberText(NamedTuple):
    """The lexeme of a JSON number: what a whole argument becomes when its value was a number."""

    lexeme: str


Resolve = Callable[[TokenMatch, Place], Entry | None]


def restore(text: str, resolve: Resolve, parameter: str = "") -> str | NumberText:
    """``text`` with its tokens replaced by what ``resolve`` gives for them.

    ``resolve`` returns the entry to put there, or None to leave the text as it
    is.  ``parameter`` is the name of the argument.  Raises what ``resolve``
    raises, and ``Refused`` for a value that could act as code in its place.
    """
    language = code.language(parameter)
    pieces: list[str] = []
    done = 0
    for spot in spots(text, is_url=code.is_url(parameter)):
        whole = (spot.start, spot.end) == (0, len(text))
        encoding = spot.layers[-1] if spot.layers else Encoding.PLAIN
        entry = resolve(
            spot.match,
            Place(whole, encoding, spot.authority, spot.whole_authority, language is not None, spot.host),
        )
        if entry is None:
            continue
        if whole and not spot.layers and language is None:
            spelling = entry.spelling
            return NumberText(spelling.raw) if spelling.kind is Kind.NUMBER else spelling.value
        start, end, new = _written(entry, spot)
        if language is not None and entry.spelling.category != LITERAL:
            new = code.guarded(new, entry.token, language, text, start)
        pieces += (text[done:start], new)
        done = end
    return "".join((*pieces, text[done:])) if done else text


def _written(entry: Entry, spot: Spot) -> tuple[int, int, str]:
    """The range of the text to replace, and by what."""
    spelling = entry.spelling
    is_number = spelling.kind is Kind.NUMBER or spelling.encoding is Encoding.JSON_NUMBER
    if is_number and spot.literal and _LEXEME.fullmatch(spelling.raw):
        return (*spot.literal, spelling.raw)
    if not spot.layers:
        return spot.start, spot.end, spelling.raw
    if spelling.encoding is spot.layers[-1] and decoded(spelling.raw, spot.layers) == spelling.value:
        return spot.start, spot.end, spelling.raw
    return spot.start, spot.end, encoded(spelling.value, spot.layers)


_LEXEME = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


# -- the other direction ---------------------------------------------------------------------------


class Standing(NamedTuple):
    """A span as it has to be spelled, and the quotation mark that its token needs on both sides."""

    span: Span
    quote: str = ""


#: A token of no category that can exist; only its length and its form matter here.
_PLACEHOLDER = "[X_0]"


def standing(text: str, spans: Sequence[Span]) -> list[Standing]:
    """Disjoint, sorted ``spans`` of ``text``, each spelled so that restoring gives back exactly this text.

    Restoring sees tokens, not values, so contexts are those of the text with
    its spans replaced: a value with a blank in it ends a URL, its token does
    not.  A find in a bare number of JSON text grows to the whole number, and
    its token needs quotes there.
    """
    if len(spans) == 1 and (spans[0].start, spans[0].end) == (0, len(text)):
        return [Standing(spans[0]._replace(value=text, encoding=Encoding.PLAIN))]
    spans = _grown(text, spans)
    quotes = ['"' if span.encoding is Encoding.JSON_NUMBER else "" for span in spans]
    pieces: list[str] = []
    starts: list[int] = []
    done = length = 0
    for span, mark in zip(spans, quotes, strict=True):
        length += span.start - done + len(mark)
        starts.append(length)
        length += len(_PLACEHOLDER) + len(mark)
        pieces += (text[done : span.start], mark, _PLACEHOLDER, mark)
        done = span.end
    found = {spot.start: spot.layers for spot in spots("".join((*pieces, text[done:])))}
    return [
        Standing(_spelled(span, text[span.start : span.end], found.get(start, ())), mark)
        for span, start, mark in zip(spans, starts, quotes, strict=True)
    ]


def _spelled(span: Span, raw: str, layers: Layers) -> Span:
    if not layers or span.encoding is Encoding.JSON_NUMBER:
        return span
    return span._replace(encoding=layers[-1], value=decoded(raw, layers))


def _grown(text: str, spans: Sequence[Span]) -> list[Span]:
    """Finds inside bare numbers of JSON text, each grown to its number; several in one become the first."""
    if not is_json(text):
        return [s._replace(encoding=Encoding.PLAIN) if s.encoding is Encoding.JSON_NUMBER else s for s in spans]
    bounds = iter([*numbers(text), (len(text), len(text))])
    start, end = next(bounds)
    grown: list[Span] = []
    for span in spans:
        while end <= span.start and start < len(text):
            start, end = next(bounds)
        if not (start <= span.start and span.end <= end):
            grown.append(span)
        elif not grown or grown[-1].end <= start:
            lexeme = text[start:end]
            same = lexeme == text[span.start : span.end]
            grown.append(
                span._replace(
                    start=start,
                    end=end,
                    value=lexeme,
                    canonical=span.canonical if same else lexeme,
                    encoding=Encoding.JSON_NUMBER,
                )
            )
    return grown
