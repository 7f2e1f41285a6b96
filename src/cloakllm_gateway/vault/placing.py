"""Putting values back: one pass, each value written as its place demands.

Inserted text is never looked at again, and costs one dictionary look-up per
token, however many tokens there are.  What a value looks like where it lands:

- where nothing about the place is known: the raw text, as it was found;
- as a whole argument: the decoded value, and a number where it was a number;
- in prose: the value without the escapes of the JSON it was found in;
- in JSON text: escaped, as often as it is nested; a number loses the quotes
  that its token needed;
- in the path, query or fragment of a URL: percent-encoded;
- in a quoted attribute of HTML: with character references; where a link of
  Markdown leads: without what would end it;
- where the spelling was found in just such a place: the raw text again, so
  that ``restore(sanitize(x)) == x``;
- in a shell command or in SQL: only what can't act as code there.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from cloakllm_gateway.errors import Refused
from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.spans import Encoding, Kind, Span, whole_number
from cloakllm_gateway.vault import code
from cloakllm_gateway.vault.code import Language
from cloakllm_gateway.vault.contexts import Bare, Layers, Spot, decoded, encoded, is_json, numbers, repeated_keys, spots
from cloakllm_gateway.vault.entries import Entry, Spelling, Token
from cloakllm_gateway.vault.tokens import LITERAL, TokenMatch


class Place(NamedTuple):
    """Where a token stands, as far as it matters to the policy.

    ``whole``: it is the whole argument.  ``encoding``: how a value is written
    there.  ``authority``: it stands in the scheme, user, host or port of a
    URL, or in a host name, and ``whole_authority``: it is all of that; ``host``
    is the authority of the address around it.  ``code_like``: the parameter is a command, a script,
    a query, a path or an address.
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


#: No parameter is declared: each is what its name says.
UNDECLARED: Mapping[str, Language] = MappingProxyType({})


def restore(
    text: str, resolve: Resolve, parameter: str = "", declared: Mapping[str, Language] = UNDECLARED
) -> str | NumberText:
    """``text`` with its tokens replaced by what ``resolve`` gives for them.

    ``resolve`` returns the entry to put there, or None to leave the text as it
    is.  ``parameter`` is the name of the argument, ``declared`` what arguments
    of some names hold.  Raises what ``resolve`` raises, and ``Refused`` for a
    value that could act as code in its place.
    """
    language = code.language(parameter, declared, text)
    guard: code.Guard | None = None
    pieces: list[str] = []
    done = 0
    in_key = False
    found = spots(text, is_url=language is Language.URL)
    is_prose = bool(found) and not _PIECE_OF_JSON.search(text) and not code.is_piece(parameter)
    for spot in found:
        place = _place(spot, text, language)
        entry = resolve(spot.match, place)
        if entry is None:
            continue
        start, end, new = _written(entry, spot, place.whole or (is_prose and entry.spelling.encoding is Encoding.JSON))
        if language is not Language.TEXT and entry.spelling.category != LITERAL:
            guard = guard or code.Guard(language, text)
            new = guard.admit(new, entry.token, start)
        if place.whole and not spot.layers and entry.spelling.kind is Kind.NUMBER:
            return NumberText(new)
        pieces += (text[done:start], new)
        done = end
        in_key |= spot.in_key
    if not done:
        return text
    restored = "".join((*pieces, text[done:]))
    if in_key and is_json(restored) and repeated_keys(restored) > repeated_keys(text):
        raise equal_keys()
    return restored


def equal_keys() -> Refused:
    """The refusal of values that would make two keys of one object the same."""
    return Refused("Two keys of one object would become the same key", "Rename one of them.", rule="place: equal keys")


def _place(spot: Spot, text: str, language: Language) -> Place:
    leads = language in _FOLLOWED or (language is Language.TEXT and bool(spot.bare) and not _BLANK.search(text))
    return Place(
        whole=(spot.start, spot.end) == (0, len(text)),
        encoding=spot.layers[-1] if spot.layers else Encoding.PLAIN,
        authority=spot.authority,
        whole_authority=spot.whole_authority,
        code_like=language is not Language.TEXT,
        host=spot.host or (spot.bare if leads else ""),
    )


#: Where an address without a scheme is opened as well: in other text only if there is nothing else.
_FOLLOWED = (Language.SHELL, Language.POSIX, Language.PROGRAM, Language.URL)
_BLANK = lazy(r"\s")

#: A quotation mark as JSON has it beside its own marks.
_PIECE_OF_JSON = lazy(r"""" ?:|[\[{:][ \t\r\n]*+\\*+"|"[ \t\r\n]*+[\]}]|",[ \t\r\n]*+(?:\\*+"|\Z)""")


def _written(entry: Entry, spot: Spot, bare: bool) -> tuple[int, int, str]:
    """The range of the text to replace, and by what; ``bare`` where the value is meant, not how it was written."""
    spelling = entry.spelling
    is_number = spelling.kind is Kind.NUMBER or spelling.encoding is Encoding.JSON_NUMBER
    quoted = spot.literal or spot.member
    if is_number and quoted and _LEXEME.fullmatch(spelling.raw):
        return (*quoted, spelling.raw)
    if not spot.layers:
        return spot.start, spot.end, spelling.value if bare and not is_number else spelling.raw
    return spot.start, spot.end, _layered(spelling, spot.layers, alone=spot.literal is not None)


def _layered(spelling: Spelling, layers: Layers, *, alone: bool) -> str:
    """A value inside ``layers``; ``alone`` where nothing else stands in the string that holds it.

    Where it was found in just such a place, its raw text.  Where it was found
    in a place like the inner ones, that raw text encoded for the others: a file
    of HTML that is sent in a JSON document.  In a longer string of a JSON
    document likewise, because that string is a text like any other.
    """
    raw = spelling.raw
    if spelling.encoding is layers[-1]:
        for outer in range(len(layers)):
            found_in = layers[outer:]
            may_stand = len(layers) == 1 or _stands(raw, found_in)
            if may_stand and decoded(raw, found_in) == spelling.value:
                return encoded(raw, layers[:outer])
    elif not alone and set(layers) == {Encoding.JSON} and spelling.encoding not in _OF_JSON:
        return encoded(raw, layers)
    return encoded(spelling.value, layers)


def _stands(raw: str, layers: Layers) -> bool:
    """Whether ``raw`` breaks none of the strings of JSON among ``layers``."""
    for depth, layer in enumerate(layers):
        if layer is Encoding.JSON and not _IN_STRING.fullmatch(decoded(raw, layers[:depth])):
            return False
    return True


#: What may stand in a string of JSON as it is: no line break may.
_IN_STRING = lazy(r'(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*+')
_OF_JSON = (Encoding.JSON, Encoding.JSON_NUMBER)

_LEXEME = lazy(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


# -- the other direction ---------------------------------------------------------------------------


class Standing(NamedTuple):
    """A span as it has to be spelled, and the quotation mark that its token needs on both sides."""

    span: Span
    quote: str = ""


def _placeholder(number: int) -> Token:
    """A token of no category that exists: how it is written matters here, and what it stands for does not."""
    return Token("X", number)


def standing(text: str, spans: Sequence[Span]) -> list[Standing]:
    """Disjoint, sorted ``spans`` of ``text``, each spelled so that restoring gives back exactly this text.

    Restoring sees tokens, not values, so contexts are those of the text with
    its spans replaced: a value with a blank in it ends a URL, its token does
    not.  A find in a bare number of JSON text grows to the whole number, and
    its token needs quotes there.  Where finds in text that is nested in JSON
    take so much of it with them that no spelling of theirs would give it back,
    all of the text becomes one.
    """
    if len(spans) == 1 and (spans[0].start, spans[0].end) == (0, len(text)):
        return [Standing(spans[0]._replace(value=text, encoding=Encoding.PLAIN))]
    grown, quotes = _grown(text, spans)
    found = _spots_of(text, grown, quotes)
    if not all(spot and spot.literal for spot, mark in zip(found, quotes, strict=True) if mark):
        # Another find takes a bracket or a quote with it: what is left is no JSON, and quotes would stay in it.
        grown = [s._replace(encoding=Encoding.PLAIN) if s.encoding is Encoding.JSON_NUMBER else s for s in grown]
        quotes = [""] * len(grown)
        found = _spots_of(text, grown, quotes)
    spelled = [
        Standing(_spelled(span, text[span.start : span.end], spot.layers if spot else ()), mark)
        for span, spot, mark in zip(grown, found, quotes, strict=True)
    ]
    if any(spot and len(spot.layers) > 1 for spot in found) and not _is_given_back(text, spelled):
        surest = max(spans, key=lambda span: (span.sensitive, span.rank))
        return [Standing(surest._replace(start=0, end=len(text), value=text, canonical="", encoding=Encoding.PLAIN))]
    return spelled


def _is_given_back(text: str, spelled: Sequence[Standing]) -> bool:
    """Whether restoring gives back this text once its spans were replaced."""
    hidden, _ = _hidden(text, [span for span, _ in spelled], [quote for _, quote in spelled])
    entries = {}
    for number, (span, _) in enumerate(spelled):
        raw, token = text[span.start : span.end], _placeholder(number)
        kind = Kind.NUMBER if span.encoding is Encoding.JSON_NUMBER else Kind.STRING
        spelling = Spelling(span.category, raw, span.value or raw, raw, span.encoding, kind)
        entries[token] = Entry(token, spelling, "", frozenset())
    return restore(hidden, lambda match, _: entries.get(match.token)) == text


def _spots_of(text: str, spans: Sequence[Span], quotes: Sequence[str]) -> list[Spot | None]:
    """Where the tokens of ``spans`` will stand, each between its quotes."""
    hidden, starts = _hidden(text, spans, quotes)
    found = {spot.start: spot for spot in spots(hidden)}
    return [found.get(start) for start in starts]


def _hidden(text: str, spans: Sequence[Span], quotes: Sequence[str]) -> tuple[str, list[int]]:
    """The text with a token in place of each span, between its quotes, and where the tokens begin."""
    pieces: list[str] = []
    starts: list[int] = []
    done = length = 0
    for number, (span, mark) in enumerate(zip(spans, quotes, strict=True)):
        token = str(_placeholder(number))
        length += span.start - done + len(mark)
        starts.append(length)
        length += len(token) + len(mark)
        pieces += (text[done : span.start], mark, token, mark)
        done = span.end
    return "".join((*pieces, text[done:])), starts


def _spelled(span: Span, raw: str, layers: Layers) -> Span:
    """``span`` with its encoding and value; what reads and is written the same here as anywhere is PLAIN.

    So the address in JSON text and the one beside it have one token.
    """
    if span.encoding is Encoding.JSON_NUMBER:
        return span
    if not layers:
        if span.value in ("", raw):
            return span._replace(encoding=Encoding.PLAIN)
        # An escape in a text that is no JSON is an odd way to write a value there, and no layer.
        return span._replace(encoding=Encoding.FOLDED) if span.encoding is Encoding.JSON else span
    value = decoded(raw, layers)
    is_plain = value == raw == encoded(value, layers)
    return span._replace(encoding=Encoding.PLAIN if is_plain else layers[-1], value=value)


def _grown(text: str, spans: Sequence[Span]) -> tuple[list[Span], list[str]]:
    """Finds inside bare numbers of JSON text, each grown to its number, with the quotes their tokens need.

    Several finds in one number become the first of them.
    """
    grown: list[Span] = []
    quotes: list[str] = []
    starts = [span.start for span in spans]

    def is_cut(offset: int) -> bool:
        """Whether a span reaches across ``offset``."""
        before = bisect_left(starts, offset) - 1
        return before >= 0 and spans[before].end > offset

    bare = [number for number in numbers(text, starts) if not is_cut(number.start) and not is_cut(number.end)]
    at = 0
    for span in spans:
        while at < len(bare) and bare[at].end <= span.start:
            at += 1
        if at == len(bare) or span.start < bare[at].start or bare[at].end < span.end:
            is_number = span.encoding is Encoding.JSON_NUMBER
            grown.append(span._replace(encoding=Encoding.PLAIN) if is_number else span)
            quotes.append("")
        elif not grown or grown[-1].end <= bare[at].start:
            grown.append(_as_number(span, text, bare[at]))
            quotes.append(bare[at].quote)
    return grown, quotes


def _as_number(span: Span, text: str, number: Bare) -> Span:
    lexeme = text[number.start : number.end]
    found, digits = text[span.start : span.end], whole_number(lexeme).removeprefix("-")
    canonical = span.canonical if found in (lexeme, digits) else lexeme
    return span._replace(
        start=number.start, end=number.end, value=lexeme, canonical=canonical, encoding=Encoding.JSON_NUMBER
    )
