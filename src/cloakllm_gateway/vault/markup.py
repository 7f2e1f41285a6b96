"""Quoted attributes in HTML and link destinations in Markdown: places that a value must not close.

Only what is quoted is recognised; elsewhere in such texts a value stands as
text, as it does in any other.
"""

from __future__ import annotations

from collections.abc import Iterator

from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.spans import Range, Ranges

#: A start tag up to its last quoted value.
_TAG = lazy(r"""<[A-Za-z][\w:.-]*+(?:[^"'<>]*+(?:"[^"]*+"|'[^']*+'))++""")
_ATTRIBUTE = lazy(r"""=\s*(?:"([^"]*)"|'([^']*)')""")
#: An inline link or image (CommonMark, 6.3), from the bracket that ends its text.
_DESTINATION = lazy(r"""\]\((?:<([^<>\n]*)>|((?:[^\s()<>"\\]|\([^\s()<>"\\]*\))++))(?=[\s)])""")

_BREAKS_HTML = lazy(r"[&<>\"']")
_REFERENCES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}
_BREAKS_LINK = lazy(r"[\x00-\x20\x7f()<>%\\]")


def attributes(text: str) -> Ranges:
    """The quoted values of attributes in ``text``."""
    return Ranges(_attributes(text) if "<" in text else iter(()))


def _attributes(text: str) -> Iterator[Range]:
    for tag in _TAG.finditer(text):
        for attribute in _ATTRIBUTE.finditer(text, tag.start(), tag.end()):
            yield attribute.span(1 if attribute[1] is not None else 2)


def destinations(text: str) -> Ranges:
    """Where the links of Markdown ``text`` lead."""
    found = _DESTINATION.finditer(text) if "](" in text else iter(())
    return Ranges(link.span(1 if link[1] is not None else 2) for link in found)


def as_attribute(value: str) -> str:
    """``value`` in an attribute, in quotes of either kind."""
    return _BREAKS_HTML.sub(lambda mark: _REFERENCES[mark[0]], value)


def as_destination(value: str) -> str:
    """``value`` as, or in, the destination of a link: what would end it is percent-encoded."""
    return _BREAKS_LINK.sub(lambda mark: f"%{ord(mark[0]):02X}", value)


def from_attribute(raw: str) -> str:
    from html import unescape

    return unescape(raw) if "&" in raw else raw


def from_destination(raw: str) -> str:
    from urllib.parse import unquote

    return unquote(raw, errors="replace") if "%" in raw else raw
