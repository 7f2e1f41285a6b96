"""Known values that the edge of a text has cut off: what is left of them, and how they are found by it.

A preview, a line of a log, a chunk of a file ends in ``... ssn 123-45-67`` or
begins with ``iew Wiśniewski``.  A value may be cut off where the text ends, or
a line, a string or an element in it, and before a mark of omission; its first
part may be missing where the text begins, or a longer string of JSON in it (a
chunk of a document), and behind such a mark.

What is left of it counts where ordinary text would not hold that.  64
characters always do; fewer have to be six and half of the value, and where the
cut is decides what else they need:

- inside a word or a number: a digit, or more than one word.  One word of
  letters may be a word of its own: `Edward` is no cut `Edwards`.
- between two words: a user with the ``@`` behind it, or six digits.  The given
  name of a full name stays, and so do `July 23` and `Main Street 12`.

A part without letters needs eight digits, or six in groups of which the last
one is cut: orders and amounts of six digits are everywhere, and among 100,000
known numbers some begin like them.  Its value has nine, so that no part of a
date or of a short number counts.  Groups between points or commas never count:
they are an address of the Internet, a version or an amount.

Values are on shelves by their first and by their last six characters, in
order.  Of those that a part fits sixteen are looked at, however many values an
upstream has taught us: what begins so many tells little of any.  Learning is
an insertion on two shelves.  Of values of 128 characters or more only the
beginning is looked for, and the whole of each line that tells by itself.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from itertools import chain, islice, takewhile
from typing import NamedTuple

from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.vault.boundaries import ends, glued

#: The shortest part, in characters.
SHORTEST = 6
#: Of longer texts only so much is filed, and only by its beginning.
LONGEST = 128
#: Texts with one beginning (or end) that are looked at.
_MOST_ALIKE = 16

#: Digits that tell: beside letters or in groups, in one run, and in all of a value that is cut.
_DIGITS = 6
_DIGITS_ALONE = 8
_DIGITS_OF_VALUE = 9
_WORD = lazy(r"[^\W_]+")
_SEVERAL_WORDS = lazy(r"[\s!-/:-@\[-`{-~]")
_DECIMAL = lazy(r"\d*[.,][\d.,]*")


class _Weight(NamedTuple):
    """Whether a part tells if it was cut off inside a word, and if between two."""

    inside: bool
    between: bool


def _weight(part: str) -> _Weight:
    if len(part) >= LONGEST // 2:
        return _Weight(True, True)
    digits = _digits(part)
    if _has_letter(part):
        return _Weight(
            digits > 0 or _SEVERAL_WORDS.search(part) is not None, digits >= _DIGITS or part.find("@", 1) > 0
        )
    if _DECIMAL.fullmatch(part):
        return _Weight(False, False)
    return _Weight(digits >= _DIGITS_ALONE or _DIGITS <= digits < len(part), digits >= _DIGITS_ALONE)


def may_be_truncated(text: str) -> bool:
    """Whether ``text`` could hold what a cut left of a value; quick, and never wrongly false."""
    return len(text) >= SHORTEST and not text.isalpha()


def _may_tell(text: str) -> bool:
    """Whether a part of the value ``text`` could tell at all."""
    return len(text) > SHORTEST and not text.isalpha() and (_has_letter(text) or _digits(text) >= _DIGITS_OF_VALUE)


def _tells(weight: _Weight, part: str, text: str, at: int) -> bool:
    """Whether a ``part`` of this weight, cut from the value ``text`` before position ``at``, tells whose it is."""
    if not len(text) / 2 <= len(part) < len(text):
        return False
    return weight.inside if glued(text[at - 1], text[at]) else weight.between


def _has_letter(text: str) -> bool:
    return any(map(str.isalpha, text))


def _digits(text: str) -> int:
    return sum(map(str.isdigit, text))


class Truncations:
    """An index of texts by their beginnings and ends, whatever their case."""

    def __init__(self) -> None:
        #: Case-folded texts by their beginnings, and backwards by their ends.
        self._forwards = _Shelves()
        self._backwards = _Shelves()
        #: The texts that are not case-folded, by what they are then.
        self._spellings: dict[str, dict[str, None]] = {}
        #: How many texts have this last word, or one that ends so.
        self._last_words: dict[str, int] = {}
        #: The length of the longest end that was ever looked for.
        self._reach = 0

    def add(self, text: str) -> None:
        """Look for parts of ``text`` from now on; every one is to be discarded before it is added again."""
        folded = text.casefold()
        if not _may_tell(folded):
            return
        if text != folded:
            spellings = self._spellings.setdefault(folded, {})
            spellings[text] = None
            if len(spellings) > 1:
                return
        else:
            folded = text  # of two equal strings, the one that is kept elsewhere
        self._forwards.add(folded[:SHORTEST], folded)
        if len(folded) < LONGEST:
            self._backwards.add(folded[-SHORTEST:], folded[::-1])
            for word in _last_words(folded):
                self._last_words[word] = self._last_words.get(word, 0) + 1
            self._reach = max(self._reach, len(folded) - 1)

    def discard(self, text: str) -> None:
        """Look for parts of ``text``, which was added, no more."""
        folded = text.casefold()
        if not _may_tell(folded):
            return
        if text != folded:
            spellings = self._spellings[folded]
            del spellings[text]
            if spellings:
                return
            del self._spellings[folded]
        self._forwards.discard(folded[:SHORTEST], folded)
        if len(folded) < LONGEST:
            self._backwards.discard(folded[-SHORTEST:], folded[::-1])
            for word in _last_words(folded):
                self._last_words[word] -= 1
                if not self._last_words[word]:
                    del self._last_words[word]

    def starts(self, text: str, places: Iterable[int]) -> list[int]:
        """Those of ``places`` in ``text``, case-folded, where a part may start; quick."""
        labels = self._forwards.shelves
        return [at for at in places if text[at : at + SHORTEST] in labels]

    def begun(self, part: str) -> Iterator[str]:
        """Texts that ``part``, which is case-folded, is a telling beginning of."""
        weight = None
        for text in self._forwards.alike(part[:SHORTEST], part):
            weight = weight or _weight(part)
            if _tells(weight, part, text, len(part)):
                yield from self._spelled(text)

    def ended(self, part: str) -> Iterator[str]:
        """Texts that ``part``, which is case-folded, is a telling end of."""
        weight = None
        for backwards in self._backwards.alike(part[-SHORTEST:], part[::-1]):
            weight, text = weight or _weight(part), backwards[::-1]
            if _tells(weight, part, text, len(text) - len(part)):
                yield from self._spelled(text)

    def _spelled(self, folded: str) -> Iterator[str]:
        return chain((folded,), islice(self._spellings.get(folded, ()), _MOST_ALIKE))

    def ends(self, text: str, start: int, end: int) -> list[int]:
        """Where in ``text``, case-folded, a part that begins at ``start`` may end before ``end``, in order; quick.

        Nearly every text is done with its words: a part has the last word of its text, or is in it.
        """
        reach = min(end, start + self._reach)
        words = _WORD.findall(text, start, reach)
        if self._last_words.keys().isdisjoint(words) and (not words or words[0][-SHORTEST:] not in self._last_words):
            return []
        labels = self._backwards.shelves
        return [at for at in ends(text, start, reach) if text[at - SHORTEST : at] in labels]


def _last_words(text: str) -> set[str]:
    """The last word of ``text`` and how it ends."""
    word = _WORD.findall(text)[-1]
    return {word, word[-SHORTEST:]}


class _Shelves:
    """Texts in order, those on one shelf that begin with the same few characters.

    Most are alone there, and then there is no list around them: that is a quarter of what they all take.
    """

    def __init__(self) -> None:
        self.shelves: dict[str, str | list[str]] = {}

    def add(self, label: str, text: str) -> None:
        shelf = self.shelves.get(label)
        if shelf is None:
            self.shelves[label] = text
        elif isinstance(shelf, str):
            self.shelves[label] = sorted((shelf, text))
        else:
            insort(shelf, text)

    def discard(self, label: str, text: str) -> None:
        shelf = self.shelves[label]
        if isinstance(shelf, list):
            del shelf[bisect_left(shelf, text)]
        if isinstance(shelf, str) or not shelf:
            del self.shelves[label]

    def alike(self, label: str, part: str) -> Iterator[str]:
        """Texts that begin with ``part``, the first ones of them in order."""
        shelf = self.shelves.get(label, [])
        texts = [shelf] if isinstance(shelf, str) else shelf
        at = bisect_left(texts, part)
        return takewhile(lambda text: text.startswith(part), texts[at : at + _MOST_ALIKE])
