"""Where words and values may begin and end in a text."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable

from cloakllm_gateway.patterns import lazy

_PIECE = lazy(r"[^\W_]+|[^\w\s]|_")
#: Scripts written without spaces, first and last character: there, every character may begin or end a value.
_SPACELESS = (
    ("\u0e00", "\u0eff"),  # Thai, Lao
    ("\u1000", "\u109f"),  # Burmese
    ("\u1780", "\u17ff"),  # Khmer
    ("\u3040", "\u30ff"),  # kana
    ("\u3400", "\u9fff"),  # Han
    ("\uac00", "\ud7af"),  # Hangul: particles follow a name without a space
    ("\uf900", "\ufaff"),  # Han, compatibility
)
#: A character that a value may begin with though a word goes on there.
_INNER = lazy("(?<=[^\\W_])[{0}]|(?<=[{0}])[^\\W_]".format("".join(f"{first}-{last}" for first, last in _SPACELESS)))
_start: Callable[[re.Match[str]], int] = re.Match.start
_end: Callable[[re.Match[str]], int] = re.Match.end

#: What says that something is left out.
_MARKS = ("…", "...")
_OMISSION = lazy(r"(?:…|\.{3})\s*")
#: The same, and where a longer string of JSON begins, written out or escaped: a chunk of a document.
_OPENING = lazy(r"""(?:…|\.{3})\s*|(?<=[\[{:, \\])"(?=[^"\\]{40})""")
#: What the string, the line or the element of markup that a preview stands in ends with; escaped, it begins with `\`.
_CLOSING = lazy(r'["\\\n<…]|\.{3}')


def starts(text: str, first: int = 0, last: int = sys.maxsize) -> Iterable[int]:
    """Where a value may begin in ``text[first:last]``: at a word, a symbol, anywhere in a script without spaces.

    In order.  A word that began before ``first`` does not begin there.
    """
    found = map(_start, _PIECE.finditer(text, first, last))
    if 0 < first < len(text) and glued(text[first - 1], text[first]):
        next(found)
    if text.isascii() or not _INNER.search(text, first, last):
        return found
    return sorted({*found, *map(_start, _INNER.finditer(text, first, last))})


def ends(text: str, start: int, end: int) -> Iterable[int]:
    """Where the words and symbols of ``text[start:end]`` end, in order."""
    return map(_end, _PIECE.finditer(text, start, end))


def openings(text: str) -> list[tuple[int, int]]:
    """The stretches of ``text`` before which something may be cut off.

    They begin with it, behind marks of omission and with longer strings of JSON.
    """
    first = len(text) - len(text.lstrip())
    marks = _OPENING if '"' in text else _OMISSION if "…" in text or "..." in text else None
    if marks is None:
        return [(first, len(text))]
    found = [mark.span() for mark in marks.finditer(text)]
    return [*zip((first, *(end for _, end in found)), (*(start for start, _ in found), len(text)), strict=True)]


def closing(text: str, start: int) -> int:
    """The next place from ``start`` on where a string, a line or an element may end, or something is left out."""
    found = _CLOSING.search(text, start)
    return found.start() if found else len(text)


def ending(text: str) -> int:
    """Where ``text`` ends, white space and a mark of omission apart."""
    end = len(text.rstrip())
    if text.endswith(_MARKS, 0, end):
        end = len(text[:end].removesuffix("…").removesuffix("...").rstrip())
    return end


def glued(one: str, other: str) -> bool:
    """Whether two neighbouring characters belong to one word."""
    return one.isalnum() and other.isalnum() and not _spaceless(one) and not _spaceless(other)


def _spaceless(character: str) -> bool:
    return character >= _SPACELESS[0][0] and any(first <= character <= last for first, last in _SPACELESS)
