"""The deny list and the patterns of a configuration, on the linear engine alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import re2

from cloakllm_gateway import linear
from cloakllm_gateway.detection.catalogue.model import CERTAIN, CUSTOM, Example
from cloakllm_gateway.detection.samples import sample
from cloakllm_gateway.detection.settings import Settings
from cloakllm_gateway.errors import ConfigError
from cloakllm_gateway.gaps import GAP
from cloakllm_gateway.patterns import lazy

#: Names of categories: the token grammar must be able to tell name and number apart.
_NAME = lazy(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*")
_NUMBERED = lazy(r".*_\d+")
_RESERVED = frozenset(("LITERAL",))


class Finder(NamedTuple):
    """A pattern, or all terms as one: what it finds, how surely, and whether whole words only."""

    category: str
    rank: int
    search: linear.Search
    bounded: bool


class Custom:
    """What a person added: terms, word-bounded and in any case, and patterns.

    Most texts hold none of it, which one look at all expressions together tells.
    """

    def __init__(self, settings: Settings) -> None:
        expressions = [pattern for _, pattern in settings.custom_patterns]
        self._finders = [
            Finder(checked_name(name), CUSTOM, linear.search(_compiled(name, pattern)), False)
            for name, pattern in settings.custom_patterns
        ]
        terms = sorted({term.strip() for term in settings.deny_list} - {""}, key=len, reverse=True)
        if terms:
            expressions.append("(?i:" + "|".join(map(_of_term, terms)) + ")")
            self._finders.append(Finder("TERM", CERTAIN, linear.search(_compiled("deny_list", expressions[-1])), True))
        self._gate = _gate(expressions) if len(expressions) > 1 else None
        self.examples, self.unproved = _examples(settings)

    def __bool__(self) -> bool:
        return bool(self._finders)

    def find(self, text: str) -> Iterator[tuple[int, int, str, int]]:
        """``(start, end, category, rank)`` of each find, in order for each finder."""
        raw = text.encode("utf-8", "replace")
        matched = self._gate.matched(raw) if self._gate else None
        for finder in self._finders if matched is None else [self._finders[i] for i in sorted(matched)]:
            for start, end in _characters(raw, linear.spans(finder.search, raw)):
                if not finder.bounded or _is_word(text, start, end):
                    yield start, end, finder.category, finder.rank


def _gate(expressions: Sequence[str]) -> linear.Alternatives | None:
    """All expressions as one; None where they are too many or too large for that, each is tried then."""
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 64 << 20
    try:
        return linear.Alternatives(expressions, options)
    except re2.error:
        return None


def _examples(settings: Settings) -> tuple[tuple[tuple[str, Example], ...], tuple[str, ...]]:
    """An example of each pattern by the name of its category, and the names of those that none could be made of."""
    examples: list[tuple[str, Example]] = []
    unproved: list[str] = []
    for name, pattern in settings.custom_patterns:
        expression = _compiled(name, pattern)
        made = sample(pattern) or ""
        texts = [text for text in (f"see {made} there", made) if made and expression.search(text.encode())]
        if texts:
            examples.append((name, Example(texts[0], made)))
        else:
            unproved.append(name)
    examples += [
        ("TERM", Example(f"see {term.strip()} there", term.strip())) for term in settings.deny_list if term.strip()
    ]
    return tuple(examples), tuple(unproved)


def _of_term(term: str) -> str:
    """A term as a text has it: whatever stands between its words, they may be wrapped."""
    return GAP.join(map(re2.escape, term.split()))


def checked_name(name: str) -> str:
    """The name of a category of the configuration, or :class:`ConfigError`."""
    if not _NAME.fullmatch(name) or _NUMBERED.fullmatch(name) or name in _RESERVED:
        raise ConfigError(
            f"custom_patterns: the name {name!r} is not allowed",
            "A name is upper case letters, digits and single underscores, begins with a letter, does not end in "
            "a number, and is not LITERAL",
        )
    return name


def _compiled(name: str, pattern: str) -> re2._Regexp:
    options = re2.Options()
    options.log_errors = False
    options.longest_match = False
    try:
        expression = re2.compile(pattern.encode(), options)
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else error.args[0]
        raise ConfigError(
            f"custom_patterns: the pattern of {name} does not compile: {reason}",
            "Patterns are RE2: no look-around, no back-references",
        ) from None
    return expression


def _characters(raw: bytes, spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Byte offsets as code point offsets; one pass, the spans being in order."""
    byte = char = 0
    for start, end in spans:
        first = char + len(raw[byte:start].decode("utf-8", "ignore"))
        last = first + len(raw[start:end].decode("utf-8", "ignore"))
        yield first, last
        byte, char = end, last


def _is_word(text: str, start: int, end: int) -> bool:
    """No letter or digit goes on at either edge, unless the term itself ends in something else there."""
    left = start and text[start].isalnum() and text[start - 1].isalnum()
    right = end < len(text) and text[end - 1].isalnum() and text[end].isalnum()
    return not (left or right)
