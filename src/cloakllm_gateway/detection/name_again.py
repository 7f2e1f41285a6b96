"""The same people again: who is named in one place of a message is hidden where another has a part of the name.

`From: Grace Hopper <...>` proves that `Hopper agreed` is about somebody, and a
surname behind a title that `Gülay Öztürk` is a name.  A part counts where it is
capitalised and a word of its own.  One that is an ordinary word as well
(`Grace`, `Will`, `Price`) has to stand as a name does: inside of a sentence,
behind a greeting, or before what only people do.

Linear: a look-up for each capitalised word, whatever the names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from operator import attrgetter
from typing import NamedTuple

from cloakllm_gateway.detection.allow_list import NOTHING, AllowList
from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.spans import Encoding, Proof, Span, Text, blanked

#: The beginning of a capitalised word, up to where `McDonald`, `O'Brien` and a possessive go on.
_HEAD = lazy(r"[A-Z\x80-\U0010ffff](?:['’]|[a-z\x80-\u200f\u2030-\U0010ffff]+)")
#: Certainty where finds overlap: below all that a shape, a key or a list proves.
_RANK = 50


def told_again(
    found: Sequence[Sequence[Span]], texts: Sequence[Text], allowed: AllowList = NOTHING
) -> list[list[Span]]:
    """``found`` (one list per text, sorted) and the parts of the names in it, in texts that may be read for names."""
    told = (span for spans in found for span in spans if span.category == "PERSON" and span.encoding is _PLAIN)
    people = People({span.value for span in told})
    if not people.heads:
        return [*map(list, found)]
    return [
        _with_parts(spans, text.text, people, allowed) if text.names else list(spans)
        for spans, text in zip(found, texts, strict=True)
    ]


#: Looked up once.
_PLAIN = Encoding.PLAIN
_start = attrgetter("start")


class Parts(NamedTuple):
    """The first and the last words of names, and which two stand beside each other: whether they are all of a name."""

    first: Collection[str]
    last: Collection[str]
    beside: Mapping[tuple[str, str], bool]


class People:
    """Everybody who is named in a message, by their names."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = names
        #: How words of the names begin.
        self.heads = frozenset(_HEAD.findall("\n".join(names)))

    @cached_property
    def parts(self) -> Parts:
        first, last, beside = set(), set(), dict[tuple[str, str], bool]()
        for name in self._names:
            words = name.replace(",", " ").split()
            first.update(words[:1])
            last.update(words[-1:])
            for pair in pairwise(words):
                beside[pair] = beside.get(pair, True) and len(words) == 2
        return Parts(first, last, beside)


def _with_parts(spans: Sequence[Span], text: str, people: People, allowed: AllowList) -> list[Span]:
    """The spans of a text and the parts of names beside them."""
    rest = blanked(text, [(span.start, span.end) for span in spans], _HIDDEN)
    heads = people.heads
    places = [head.start() for head in _HEAD.finditer(rest) if head[0] in heads]
    found = list(_parts(rest, places, people, allowed)) if places else ()
    return sorted([*spans, *found], key=_start) if found else list(spans)


#: What stands for a character that is hidden already: nothing goes on across it.
_HIDDEN = "\n"


def _parts(text: str, places: Iterable[int], people: People, allowed: AllowList) -> Iterator[Span]:
    from cloakllm_gateway.detection.name_context import is_ordinary, part_at  # most messages need no list of names
    from cloakllm_gateway.detection.name_words import canonical, plain

    done = 0
    for place in places:
        part = part_at(text, place, *people.parts) if place >= done else None
        if part is None or part[0] < done:
            continue
        start, done = part
        value = text[start:done]
        if not allowed.holds("PERSON", canonical(value), value):
            proof = Proof.PART if is_ordinary(plain(value)) else Proof.NAME  # a price is no Price in the next message
            yield Span(start, done, "PERSON", value, canonical(value), proof=proof, rank=_RANK)
