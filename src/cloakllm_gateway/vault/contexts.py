"""Where a token stands: inside which string literals, in which part of a URL.

Theory of operation.  A text is peeled like an onion.  If it is JSON (one
document, or several as in JSON Lines) each of its string literals is decoded
and looked at as a text of its own, to any depth: nesting doubles the
backslashes, so depth is logarithmic in the size.  A text that is not JSON is
searched for tokens, and for what is around them: an address (:mod:`addresses`),
an attribute of HTML or a link of Markdown (:mod:`markup`).  What comes back is
one :class:`Spot` per token, in positions of the outermost text, with the
*layers* between that text and the token, outermost first: a token in the query
of a URL in a JSON document has the layers ``(JSON, URL)``.

Layers encode and decode mechanically, so a value can be spliced in and every
other byte of the text stays as it was.  Decoding is total: it never fails, it
leaves alone what it can't decode.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

from cloakllm_gateway.patterns import end_of, lazy
from cloakllm_gateway.spans import Encoding, Range, blanked
from cloakllm_gateway.vault import addresses, markup
from cloakllm_gateway.vault.tokens import TokenMatch, scan

Layers: TypeAlias = tuple[Encoding, ...]


class Spot(NamedTuple):
    """One token of a text.

    ``start`` and ``end`` are positions in the outermost text, ``literal`` the
    bounds (quotes included) of the JSON string that holds nothing but the
    token, ``host`` the authority of the URL around it.  ``authority`` says
    that it stands in a URL's scheme, user, host or port or in a host name, ``whole_authority``
    that it is all of that, ``in_key`` that it stands in a key of a JSON object.
    ``member`` is the same as ``literal`` where the text is a piece of JSON,
    ``bare`` the host before it where the text may be an address without a scheme.
    """

    match: TokenMatch
    start: int
    end: int
    layers: Layers
    literal: Range | None = None
    host: str = ""
    authority: bool = False
    whole_authority: bool = False
    in_key: bool = False
    member: Range | None = None
    bare: str = ""


def spots(text: str, is_url: bool = False) -> list[Spot]:
    """Every token of ``text`` and where it stands; ``is_url`` where the text is known to be a URL reference."""
    if not _MAY_HOLD_TOKEN.search(text):
        return []
    return list(_spots(text, (), _identity, None, is_url))


#: The beginning of anything that may be, or decode to, a token.
_MAY_HOLD_TOKEN = lazy(r"\[|%(?:25)?5[Bb]|\\u00(?:5[Bb]|25)")


def _identity(offset: int) -> int:
    return offset


def _spots(
    text: str, layers: Layers, outer: Callable[[int], int], literal: Range | None, is_url: bool
) -> Iterator[Spot]:
    """``outer`` maps offsets of ``text`` to the outermost text, ``literal`` bounds the string it was decoded from."""
    if is_json(text):
        yield from _spots_in_json(text, layers, outer)
    else:
        yield from _spots_in_text(text, layers, outer, literal, is_url)


def _spots_in_json(text: str, layers: Layers, outer: Callable[[int], int]) -> Iterator[Spot]:
    """The tokens in the string literals of JSON ``text``, each literal read as a text of its own."""
    for found in _SUSPICIOUS.finditer(text):
        if found[1] and _MAY_HOLD_TOKEN.search(found[1]):
            inner = Unescaped(found[1])
            inside = _Inside(inner, found.start(1), outer)
            bounds = (outer(found.start(1) - 1), outer(found.end()))
            is_key = _COLON.match(text, found.end()) is not None
            for spot in _spots(inner.text, (*layers, Encoding.JSON), inside, bounds, False):
                yield spot._replace(in_key=True) if is_key else spot


def _spots_in_text(
    text: str, layers: Layers, outer: Callable[[int], int], literal: Range | None, is_url: bool
) -> Iterator[Spot]:
    """The tokens of a text that is no JSON, and what is around each."""
    matches = scan(text)
    if not matches:
        return
    # The brackets of a token must end no URL.
    masked = blanked(text, ((match.start, match.end) for match in matches), "x")
    found_in = addresses.around(text, masked, matches, is_url)
    attributes, links = markup.attributes(masked), markup.destinations(masked)
    for match in matches:
        where = found_in.get(match.start, addresses.NOWHERE)
        encoded = max(match.percent, 0 if where.authority or not where.inside else 1)
        quoted = (Encoding.HTML,) if attributes.around(match.start, match.end) else ()
        if not encoded and links.around(match.start, match.end):
            quoted = (*quoted, Encoding.MARKDOWN)
        around = layers + quoted + (Encoding.URL,) * encoded
        yield Spot(
            match,
            outer(match.start),
            outer(match.end),
            around,
            literal if (match.start, match.end) == (0, len(text)) else None,
            where.host,
            where.authority,
            where.whole,
            member=None if around else _member(masked, match),
            bare=where.bare,
        )


#: What stands between the parts of JSON: white space, written out or escaped.
_AROUND = r"(?:[ \t\r\n]|\\+[nrt]){0,64}"
_BEFORE = lazy(rf'(?:(?P<colon>\\*" ?:)|[\[,]|^)(?P<gap>{_AROUND})(?P<quote>\\*")\Z', re.MULTILINE)
_AFTER = lazy(rf'(?P<quote>\\*"){_AROUND}(?:[,\]}}]|\Z)')
#: How far from a token its place in a piece of JSON is looked for.
_NEAR = 256


def _member(masked: str, match: TokenMatch) -> Range | None:
    """The bounds, quotes included, of the string of a piece of JSON that holds nothing but ``match``.

    Whoever edits a file sends pieces of it, `"card": "[CREDIT_CARD_0]",` for
    one.  What has no key has to stand in an array, or on a line of its own
    that is no argument of a function.
    """
    near = masked[max(0, match.start - _NEAR) : match.start]
    before = _BEFORE.search(near) if near.endswith('"') else None
    after = _AFTER.match(masked, match.end) if before else None
    if not before or not after or before["quote"] != after["quote"]:
        return None
    if not before["colon"]:
        opening = max(map(near.rfind, "[({"))
        is_line = "n" in before["gap"].replace("\n", "n") or not before[0].startswith(("[", ","))
        if near[opening : opening + 1] != "[" and (not is_line or near[opening : opening + 1] == "("):
            return None
    return match.start - len(before["quote"]), after.end("quote")


class _Inside:
    """Maps offsets of a decoded string literal to the outermost text."""

    def __init__(self, inner: Unescaped, base: int, outer: Callable[[int], int]) -> None:
        self._inner = inner
        self._base = base
        self._outer = outer

    def __call__(self, offset: int) -> int:
        return self._outer(self._base + self._inner.raw(offset))


# -- layers ----------------------------------------------------------------------------------------


def encoded(value: str, layers: Layers) -> str:
    """``value`` as it is written inside ``layers``."""
    for layer in reversed(layers):
        value = _ENCODE[layer](value)
    return value


def decoded(raw: str, layers: Layers) -> str:
    """The value that ``raw`` stands for inside ``layers``."""
    for layer in layers:
        raw = _DECODE[layer](raw)
    return raw


def _quoted(value: str) -> str:
    from urllib.parse import quote  # only once something is restored into a URL

    return quote(value, safe="", errors="surrogatepass")


def _unquoted(raw: str) -> str:
    from urllib.parse import unquote

    return unquote(raw, errors="replace")


def _unescaped(raw: str) -> str:
    return Unescaped(raw).text


def _escaped(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)[1:-1]


#: How each layer is written and read.
_ENCODE: Mapping[Encoding, Callable[[str], str]] = {
    Encoding.JSON: _escaped,
    Encoding.URL: _quoted,
    Encoding.HTML: markup.as_attribute,
    Encoding.MARKDOWN: markup.as_destination,
}
_DECODE: Mapping[Encoding, Callable[[str], str]] = {
    Encoding.JSON: _unescaped,
    Encoding.URL: _unquoted,
    Encoding.HTML: markup.from_attribute,
    Encoding.MARKDOWN: markup.from_destination,
}


# -- JSON ------------------------------------------------------------------------------------------

#: Up to the next string literal that may hold a token, or the end; in valid JSON every quote outside belongs to one.
_SUSPICIOUS = lazy(
    r"""(?:[^"]*+"(?:[^"\\\[%]|\\u(?!00(?:5[Bb]|25))|\\[^u])*+")*+[^"]*+(?:"((?:[^"\\]|\\.)*+)"|\Z)""", re.DOTALL
)
_ESCAPE = lazy(r'\\(?:u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|u([0-9a-f]{4})|(["\\/bfnrt]))', re.IGNORECASE)
_SHORT = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_LITERAL_OR_NUMBER = lazy(r'"((?:[^"\\]|\\.)*+)"|(-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)', re.DOTALL)
#: All strings and numbers up to a place: what goes on behind it is not among them.
_COMPLETE = lazy(r'(?:[^"0-9-]*+(?:"(?:[^"\\]|\\.)*+"|-?[0-9][0-9.eE+-]*+(?=[\s,\]}])))*+', re.DOTALL)
_OPENING = ("{", "[")
#: A string that may hold JSON: its first character is a bracket, white space before it written out or escaped.
_NESTED = lazy(r"(?:[ \t\r\n]|\\[trn])*+[\[{]")
_COLON = lazy(r"[ \t\r\n]*+:")
_SPACE = lazy(r"[ \t\r\n]*+")
# Numbers stay text (no limit on digits), control characters in strings are let pass.
_DECODER = json.JSONDecoder(strict=False, parse_int=str, parse_float=str, parse_constant=str)


def is_json(text: str) -> bool:
    """Whether ``text`` is one or more JSON objects or arrays, with nothing but white space between."""
    at = end_of(_SPACE, text)
    if at == len(text):
        return False
    try:
        while at < len(text):
            if text[at] not in "{[":
                return False
            _, at = _DECODER.raw_decode(text, at)
            at = end_of(_SPACE, text, at)
    except (ValueError, RecursionError):
        return False
    return True


class Bare(NamedTuple):
    """A number of JSON text that stands for itself, and how a quotation mark is written beside it."""

    start: int
    end: int
    quote: str


def numbers(text: str, places: Iterable[int]) -> list[Bare]:
    """The bare numbers of JSON ``text`` that some of ``places`` stand in, none if it is not JSON.

    Where a place stands in a string that is JSON itself, all numbers in there.
    """
    found: list[Bare] = []
    if text.lstrip()[:1] in _OPENING and is_json(text):
        at = 0
        for place in places:
            while at <= place:
                at = end_of(_COMPLETE, text, at, place)
                if (token := _LITERAL_OR_NUMBER.search(text, at)) is None:
                    return found
                found += _numbers_in(token, _identity, '"')
                at = token.end()
    return found


def _numbers(text: str, outer: Callable[[int], int], mark: str) -> Iterator[Bare]:
    for token in _LITERAL_OR_NUMBER.finditer(text) if is_json(text) else ():
        yield from _numbers_in(token, outer, mark)


def _numbers_in(token: re.Match[str], outer: Callable[[int], int], mark: str) -> Iterator[Bare]:
    """A token of JSON that is a number, or the numbers of the JSON that it holds."""
    literal, number = token.groups()
    if number:
        yield Bare(outer(token.start()), outer(token.end()), mark)
    elif _NESTED.match(literal):
        inner = Unescaped(literal)
        yield from _numbers(inner.text, _Inside(inner, token.start(1), outer), _escaped(mark))


def repeated_keys(text: str) -> int:
    """How many keys of JSON ``text`` are there more than once in their object."""
    count = 0

    def note(pairs: list[tuple[str, object]]) -> None:
        nonlocal count
        count += len(pairs) - len({key for key, _ in pairs})

    decoder = json.JSONDecoder(strict=False, parse_int=str, parse_float=str, object_pairs_hook=note)
    at = end_of(_SPACE, text)
    while at < len(text):
        _, at = decoder.raw_decode(text, at)
        at = end_of(_SPACE, text, at)
    return count


class Unescaped:
    """The text inside a JSON string literal, decoded, with a map back to the raw text.

    The map holds one point per escape, and is searched: a long literal with
    few escapes costs little.
    """

    __slots__ = ("_decoded_at", "_raw_at", "text")

    def __init__(self, raw: str) -> None:
        self._decoded_at = [0]
        self._raw_at = [0]
        pieces: list[str] = []
        done = length = 0
        for escape in _ESCAPE.finditer(raw) if "\\" in raw else ():
            pieces += (raw[done : escape.start()], _character(escape))
            length += escape.start() - done + 1
            done = escape.end()
            self._decoded_at.append(length)
            self._raw_at.append(done)
        pieces.append(raw[done:])
        self.text = "".join(pieces)

    def raw(self, offset: int) -> int:
        """Where the decoded character at ``offset`` begins in the raw text."""
        at = bisect_right(self._decoded_at, offset) - 1
        return self._raw_at[at] + offset - self._decoded_at[at]


def _character(escape: re.Match[str]) -> str:
    high, low, unit, short = escape.groups()
    if high:
        return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00)
    return chr(int(unit, 16)) if unit else _SHORT[short.lower()]
