"""What a category is: data that the engine, the start-up proof and the generic test all read.

A :class:`Pattern` is one way a value is written.  Its ``regex`` is the
*truth*: an ordinary :mod:`re` expression (flag ``ASCII``), written so that it
costs linear time:

* it begins with a character class or a literal, behind a look-behind that
  allows a start only at the edge of a run, so no run is scanned twice;
* every repeat over characters that may also hold white space is bounded;
* the value is group 1 if there is a group, else the whole match;
* a word that names a value stands at most 24 characters before it.

The ``proof`` gets the candidate and says how many of its leading characters
are proved; 0 refuses it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

#: Ranks order overlapping finds; the more certain wins.  Finds of the core lie above (500 known values,
#: 1000 look-alike tokens), names in free text below.
CERTAIN = 400  # vendor formats, PEM, JWT, URL credentials, the deny list
CUSTOM = 380  # patterns of the configuration
CHECKED = 350  # a checksum and a distinctive shape
SECRET_KEYED = 330  # a secret under a secret's key: the whole field, whatever its parts look like
RECORD = 310  # an address or another compound value under its key
SHAPED = 300  # a distinctive shape
NAMED = 255  # a person, told by words alone: the whole name, where a key may show a part of it
KEYED = 250  # proved by the key alone
CONTEXT = 200  # an ambiguous shape beside a word that names it

Proof = Callable[[str], int]
#: For unbounded kinds: from (text, start, end of the match, limit) to where the value ends; negative if it is none,
#: and then the search goes on behind that place.
Extent = Callable[[str, int, int, int], int]


class Example(NamedTuple):
    """A text in which exactly ``value`` must be found."""

    text: str
    value: str


class Pattern(NamedTuple):
    """One way a value is written, and how to prove it."""

    regex: str
    proof: Proof | None = None
    rank: int = SHAPED
    near: str = ""  # a word of this expression must stand close by (case ignored)
    regional: bool = False  # only with a locale; the proof is then :func:`national.national_phone`
    extent: Extent | None = None  # see Extent
    prose: bool = False  # only in texts that may be read for names
    keyed: bool = False  # what makes it certain is the key before it: see KEY of :class:`..spans.Proof`


class Category(NamedTuple):
    """One kind of personal data.

    ``shape`` is a full-match expression of what its values normally look like:
    a key proves only a value of this shape, and a value outside it is unsafe
    to place.  ``keys`` are normalised key names (:func:`..keys.normalise`)
    that prove it.  ``canonical`` is equal for all spellings of one value.
    """

    name: str
    examples: tuple[Example, ...]
    lookalikes: tuple[str, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    keys: tuple[str, ...] = ()
    shape: str = r"[^\x00-\x1f]{1,256}"
    plausible: Callable[[str], bool] | None = None
    canonical: Callable[[str], str] = str.strip
    sensitive: bool = False
    keyed_rank: int = KEYED
    generated: Callable[[], tuple[Example, ...]] = tuple  # examples that are built when they are needed

    def all_examples(self) -> tuple[Example, ...]:
        return (*self.examples, *self.generated())


def example(text: str) -> Example:
    """An example written with its value between ``«`` and ``»``."""
    before, _, rest = text.partition("«")
    value, _, after = rest.partition("»")
    return Example(before + value + after, value)
