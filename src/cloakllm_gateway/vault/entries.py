"""What the vault holds: spellings and the tokens they were given."""

from __future__ import annotations

from typing import NamedTuple
from unicodedata import normalize

from cloakllm_gateway.spans import Encoding, Kind, Proof


class Token(NamedTuple):
    """``[CATEGORY_NUMBER]``, or ``[CATEGORY_NUMBER_VARIANT]`` for a further spelling of the same value."""

    category: str
    number: int
    variant: int = 0

    def __str__(self) -> str:
        tail = f"_{self.variant}" if self.variant else ""
        return f"[{self.category}_{self.number}{tail}]"

    @property
    def name(self) -> str:
        """The token without its brackets, as logs and the audit call it."""
        return str(self)[1:-1]


class Spelling(NamedTuple):
    """A value as it was written: its raw text, the encoding it stood in, its JSON type.

    ``value`` is the decoded value, ``canonical`` is equal for all spellings of
    one value: those share the token's number (its *stem*).  ``odd`` says that
    it does not look like a value of its category.
    """

    category: str
    raw: str
    value: str
    canonical: str
    encoding: Encoding = Encoding.PLAIN
    kind: Kind = Kind.STRING
    proof: Proof = Proof.SHAPE
    sensitive: bool = False
    odd: bool = False

    @property
    def identity(self) -> tuple[str, str, str, str, str, str]:
        """What makes two spellings the same one, and so share a token.

        The value is part of it: the same escapes one level deeper in JSON stand for another value.
        """
        return (self.category, self.canonical, self.raw, self.value, self.encoding, self.kind)

    @property
    def plain(self) -> set[str]:
        """The texts by which the value is known where nothing is encoded.

        Accents may be characters of their own or not (Unicode Standard Annex #15): readings have them composed.
        """
        texts = {self.canonical, self.value}
        return texts if self.value.isascii() else {*texts, normalize("NFC", self.value)}


class Entry(NamedTuple):
    """A spelling and its token, with the upstreams it came from.

    ``origins`` are the upstreams of the entry's group that showed the value;
    ``group`` is the set of upstreams that share equality: among them one value has one token.
    """

    token: Token
    spelling: Spelling
    group: str
    origins: frozenset[str]
