"""THE token grammar: what restore accepts, and therefore what data may not contain.

A token is ``[CATEGORY_N]``, or ``[CATEGORY_N_V]`` for a further spelling of the
same value.  Models and the tools between copy it with small damage, so restore
accepts a little more than it writes::

    [EMAIL_0]  [email_0]  \\[EMAIL_0\\]  [EMAIL\\_0]  %5BEMAIL_0%5D  %255BEMAIL_0%255D

and every mixture of case, escaped underscores and one bracket pair.  The two
brackets agree: ``\\[EMAIL_0]`` is a backslash before a token, as in a Windows
path.  Whatever :func:`scan` finds in data from an upstream is a look-alike and
becomes ``[LITERAL_n]``: one function serves both ways, so nothing that restore
accepts can be planted.

Whether a category exists is not grammar: ``arr[ITEM_3]`` is a token of the
category ITEM, and the caller, who knows that there is none, leaves it alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.vault.entries import Token

#: The category of text that looked like a token when it arrived; it restores to exactly that text.
LITERAL = "LITERAL"

#: A category name: `[A-Z][A-Z0-9]*(_[A-Z0-9]+)*`, not ending in `_` and digits.
_CATEGORY = lazy(r"(?!.*_[0-9]+\Z)[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*+\Z")

# Possessive quantifiers keep a failing match from being retried: the scan is linear.
# Explicit ASCII classes instead of IGNORECASE, under which `[a-z]` also matches the Kelvin sign.
_BRACKETED = lazy(r"\[([A-Za-z][A-Za-z0-9]*+(?:\\?_[A-Za-z0-9]++)++)(\\?)\]")
_PERCENT = lazy(r"%(25)?5[Bb]([A-Za-z][A-Za-z0-9]*+(?:(?:\\?_|%(?:25)?5[Ff])[A-Za-z0-9]++)++)%(25)?5[Dd]")
_UNDERSCORE = lazy(r"\\_|%(?:25)?5[Ff]")
_NUMBER = lazy(r"0|[1-9][0-9]{0,8}")
_VARIANT = lazy(r"[1-9][0-9]{0,8}")


class TokenMatch(NamedTuple):
    """A token where it stands.

    ``exact`` says that it is written as the gateway writes it, ``percent`` how
    often its brackets are percent-encoded (0, 1 or 2).
    """

    start: int
    end: int
    token: Token
    exact: bool
    percent: int = 0


class NearMiss(NamedTuple):
    """Text that was meant to be a token of ``category`` and is none; ``written`` is the text itself."""

    start: int
    end: int
    category: str
    written: str


def is_category(name: str) -> bool:
    """Whether ``name`` may name a category."""
    return _CATEGORY.match(name) is not None


def scan(text: str) -> list[TokenMatch]:
    """All tokens of ``text`` in any accepted form, disjoint and sorted by position."""
    found = []
    for match in _BRACKETED.finditer(text) if "[" in text else ():
        token = _token(match[1])
        start, escape = match.start(), match[2]
        if token is None or (escape and not text.startswith("\\", start - 1, start)):
            continue
        start -= len(escape)
        found.append(TokenMatch(start, match.end(), token, not escape and "\\" not in match[1] and match[1].isupper()))
    if "%" not in text:
        return found
    for match in _PERCENT.finditer(text):
        token = _token(match[2])
        if token is not None and match[1] == match[3]:
            found.append(TokenMatch(match.start(), match.end(), token, False, 2 if match[1] else 1))
    found.sort()
    return found


def _token(body: str) -> Token | None:
    """The token whose text between the brackets is ``body``; None where its numbers are not well formed."""
    return _parsed_again(body) if len(body) <= _MAX_CACHED else _parsed(body)


#: No category has so long a name; long look-alikes must not fill the cache.
_MAX_CACHED = 64


#: A token has a number and perhaps a variant.
_MOST_NUMBERS = 2


def _parsed(body: str) -> Token | None:
    words = _UNDERSCORE.sub("_", body).upper().split("_")
    numbers: list[str] = []
    while len(words) > 1 and words[-1].isdigit() and len(numbers) <= _MOST_NUMBERS:
        numbers.insert(0, words.pop())
    category = "_".join(words)
    match numbers:
        case [number] if _NUMBER.fullmatch(number):
            return Token(category, int(number))
        case [number, variant] if _NUMBER.fullmatch(number) and _VARIANT.fullmatch(variant):
            return Token(category, int(number), int(variant))
    return None


_parsed_again = lru_cache(maxsize=4096)(_parsed)


# -- near misses -----------------------------------------------------------------------------------

#: Every way to write a bracket that a model, or what stands between, has been seen to use: its first character, what it
#: goes on with, and one of what it has. Most texts have none of these, and a search for one character is the quickest.
_OPENINGS = (
    ("[", "", ("[",)),
    ("\\", r"(?:\\{0,3}\[|u005[Bb])", ("\\[", "\\u005")),
    ("%", "(?:25)?5[Bb]", ("%5", "%255")),
    ("&", "(?:#91;|#[xX]5[Bb];|lbrack;|lsqb;)", ("&#", "&l")),
    ("［", "", ("［",)),
    ("【", "", ("【",)),
)
_CLOSE = r"\\{0,4}\]|%(?:25)?5[Dd]|］|】|\\u005[Dd]|&#93;|&#[xX]5[Dd];|&rbrack;|&rsqb;"
#: White space, what is not seen, and line ends, since whoever wraps a text may wrap a token.
_BLANK = r" \t\r\n\u00ad\u200b-\u200d\u2060\ufe0f\ufeff"
_GAP = rf"[{_BLANK}_\\:#.-]{{0,3}}"
#: The number of a damaged token: digits, or letters that are mistaken for digits.
_TAIL = r"(?:[0-9]{1,20}|[OolI])(?:[_-][0-9]{1,20}){0,3}"


@lru_cache(maxsize=8)
def _near(categories: frozenset[str]) -> tuple[Sequence[tuple[str, Sequence[str], re.Pattern[str]]], re.Pattern[str]]:
    """The patterns of near misses anywhere, each with the signs of its bracket, and of a whole argument."""
    name = "|".join(f"{first}(?:{rest})" for first, rest in _by_first_letter(categories))
    # `row[EMAIL - 1]` is a subscript: a bracket behind a name or another bracket is code.
    behind = rf"[{_BLANK}]{{0,3}}(?=[A-Z])({name}){_GAP}{_TAIL}[{_BLANK}]{{0,3}}(?:{_CLOSE})"
    anywhere = [
        (first, signs, re.compile(rf"{re.escape(first)}(?<![A-Za-z0-9_)\]].){rest}{behind}", re.IGNORECASE | re.ASCII))
        for first, rest, signs in _OPENINGS
    ]
    # Upper case only: `phone_1` may well be the name of a column.
    whole = rf"[\W_]{{0,4}}({name})[_\\-]{{1,2}}{_TAIL}[\W_]{{0,4}}"
    return anywhere, re.compile(whole, re.ASCII)


def _by_first_letter(categories: Collection[str]) -> Iterator[tuple[str, str]]:
    """Expressions for the names by the letter they begin with: a bracket before anything else is soon done with."""
    # Longest first: PHONE_WORK_1 is no PHONE.
    names = sorted(categories, key=lambda name: (name[0], -len(name), name))
    for first, alike in groupby(names, itemgetter(0)):
        yield first, "|".join(re.escape(name[1:]).replace("_", r"[ _\\-]{1,2}") for name in alike)


#: The mark of a value that was cut out for good: like a token, with a word in place of the number.
_REDACTED = lazy(
    r"(?:\\?\[|%(?:25)?5[Bb])([A-Z][A-Z0-9]*+(?:(?:\\?_|%(?:25)?5[Ff])(?!REDACTED(?![A-Z0-9]))[A-Z0-9]++)*+)"
    r"(?:\\?_|%(?:25)?5[Ff])REDACTED(?:\\?\]|%(?:25)?5[Dd])"
)


def redacted(category: str) -> str:
    """What stands in the place of a value of ``category`` that was cut out: nothing leads back to it."""
    return f"[{category}_REDACTED]"


def redactions(text: str) -> list[NearMiss]:
    """The marks of values that were cut out, in any form in which a token would be accepted, capitals apart."""
    if "REDACTED" not in text:
        return []
    return [NearMiss(m.start(), m.end(), _named(_UNDERSCORE.sub("_", m[1])), m[0]) for m in _REDACTED.finditer(text)]


#: What every token and every near miss has one of: a bracket in some writing, or what joins a bare one.
_SIGN = lazy(r"[\[%［【\\&_-]")
#: A text of so many characters is no bare token, whose category would need a name of half as many.
_LONG = 65_536
#: What in a long text every token and every near miss begins with that has the plain bracket.
_OPENED = lazy(rf"\[[{_BLANK}]{{0,3}}[A-Za-z]")
_OTHER_BRACKETS = tuple(first for first, *_ in _OPENINGS if first != "[")


def may_hold(text: str) -> bool:
    """Whether ``text`` could hold a token or a near miss; cheap, and never wrongly false."""
    if len(text) < _LONG:
        return _SIGN.search(text) is not None
    return any(bracket in text for bracket in _OTHER_BRACKETS) or ("[" in text and _OPENED.search(text) is not None)


def near_misses(text: str, categories: Collection[str], whole: bool) -> list[NearMiss]:
    """What ``text`` holds of damaged tokens of the given ``categories``, sorted by position.

    In a longer text these are bracketed: ``[EMAIL-0]``, ``[ EMAIL_0 ]``,
    ``[EMAIL_O]``, ``[EMAIL_007]``.  When ``whole`` (the text is one whole
    argument) a bare ``EMAIL_0`` counts too, and one in other brackets.
    Subscripts such as ``row[EMAIL-1]`` and words such as ``[EMAIL_KEY]`` are
    code and no near misses.
    """
    if not categories or not may_hold(text):
        return []
    anywhere, alone = _near(frozenset(categories))
    if whole and (match := alone.fullmatch(text)) and not scan(text):
        return [NearMiss(0, len(text), _named(match[1]), text)]
    matches = [
        match
        for first, signs, pattern in anywhere
        if first in text and any(sign in text for sign in signs)
        for match in pattern.finditer(text)
    ]
    if not matches:
        return []
    tokens = {match.start for match in scan(text)}
    found = []
    done = 0
    for match in sorted(matches, key=_start):
        start, end = match.span()
        if start >= done:
            done = end
            if start not in tokens and text.find("[", start, end) not in tokens:
                found.append(NearMiss(start, end, _named(match[1]), match[0]))
    return found


_start = re.Match.start


def _named(written: str) -> str:
    return re.sub(r"[ _\\-]+", "_", written).upper()
