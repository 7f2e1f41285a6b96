"""Whose word counts for a value of a document: that of its own key, of the key around it, or of its sibling.

``{"phone": {"value": "4155550134"}}``: where a key says nothing that of its
object speaks for it, and ``{"name": "phone", "value": "4155550134"}``: a pair
has its key as data.  The rules are the same for JSON in a text and for an
object that holds texts.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import NamedTuple

from cloakllm_gateway.detection.catalogue import CATALOGUE
from cloakllm_gateway.detection.catalogue.identity import NATIONAL, NUMBERED
from cloakllm_gateway.detection.keys import LABELS, NAME, NUMBER, TYPES, VALUES, classify, normalise
from cloakllm_gateway.patterns import lazy

#: Keys that say nothing about their value, among them the marks of types that databases and converters write.
_VALUES = frozenset(
    "value val values v raw s n ss ns numberlong numberint numberdouble numberdecimal t content plaintext start data "
    "stringvalue integervalue doublevalue timestampvalue".split()
)
#: Those that say which of several it is, or how it is written, by what the object is.
_USES = frozenset(
    "home work mobile main primary secondary other business private personal emergency day evening "
    "e164 national international formatted text display".split()
)
_NAME_PARTS = frozenset("first last given family middle full formatted text display".split())
_PARTS = {
    NAME: _NAME_PARTS,
    "PERSON": _NAME_PARTS - {"text"},
    "PHONE": _USES,
    "ADDRESS": frozenset("line lines line1 line2 street home work full formatted text display".split()),
    "DATE_OF_BIRTH": frozenset(("date", "iso", "formatted", "text", "display")),
    "SECRET": frozenset(("current", "new", "old", "plain", "plaintext", "cleartext")),
    **{category.name: frozenset(("id",)) for category in (*NATIONAL, *NUMBERED)},
}
#: Keys of a name that is an object; others of the kind, such as ``author``, have one for somebody.
_NAMES = frozenset((word,) for word in ("name", "names", "nombre", "nome", "nom", "naam", "namen"))
_NUMBERS = frozenset(("number", "num", "no", "nr", "numero", "nummer"))
_IDS = frozenset(("id",))
_NUMBERED_KINDS = frozenset(("BANK_ACCOUNT", *(category.name for category in (*NATIONAL, *NUMBERED))))
#: Of these a number is something else: of a house, of a record.
_WITHOUT_NUMBER = frozenset((NAME, "PERSON", "ADDRESS", "DATE_OF_BIRTH", "EMAIL", "SECRET", "API_KEY"))

_LABELS, _PAIRED, _TYPED = (frozenset(keys.split("|")) for keys in (LABELS, VALUES, TYPES))


class Said(NamedTuple):
    """What is said of a value: by which ``key``, what it proves, whether it ``is_around`` the object of the value."""

    key: str
    kind: str
    is_around: bool = False


_NOTHING = Said("", "")


@lru_cache(maxsize=8192)
def said(key: str, parent: str) -> Said:
    """Of a value under ``key`` in an object under ``parent``."""
    kind = classify(key)
    if kind in ("", NAME, NUMBER):
        if (around := spoken_by(parent)) and _is_silent(key, around):
            return Said(parent, around, is_around=True)
        if together := _said_together(key, parent):
            return Said(f"{parent} {key}", together)
    return Said(key, kind) if kind else _NOTHING


def _said_together(key: str, parent: str) -> str:
    """What a key says only with the one around it: ``{"account": {"number": ...}}``, ``{"tax": {"id": ...}}``."""
    if not parent or "".join(normalise(key)) not in _NUMBERS | _IDS:
        return ""
    kind = classify(f"{parent} {key}")
    return kind if kind in _NUMBERED_KINDS else ""


@lru_cache(maxsize=1024)
def spoken_by(parent: str) -> str:
    """What a key says of what is in its object, "" for nothing: users, authors and numbers have fields of their own."""
    kind = classify(parent)
    if kind in ("USERNAME", NUMBER) or (kind == NAME and normalise(parent)[-1:] not in _NAMES):
        return ""
    return kind


@lru_cache(maxsize=1024)
def speaks(parent: str) -> bool:
    """Whether a key may say something of what is in its object, alone or together with keys there."""
    return spoken_by(parent) != "" or any(_said_together(key, parent) for key in ("number", "id"))


def _is_silent(key: str, kind: str) -> bool:
    """Whether a key says nothing of its own in an object that is of a kind."""
    word = "".join(normalise(key))
    if not word or word.isdigit() or word in _VALUES or word in _PARTS.get(kind, ()):
        return True
    return word in _NUMBERS and kind not in _WITHOUT_NUMBER


@lru_cache(maxsize=1024)
def is_paired(key: str) -> bool:
    """Whether a key may be that of the value in a pair."""
    return key.lower() in _PAIRED


@lru_cache(maxsize=1024)
def is_typed(key: str) -> bool:
    """Whether a key may be that of a number whose sibling says of what: ``{"type": "passport", "number": ...}``."""
    return "".join(normalise(key)) in _NUMBERS


@lru_cache(maxsize=1024)
def is_type(key: str) -> bool:
    """Whether a key may say of what a number in the same object is."""
    return key.lower() in _TYPED


@lru_cache(maxsize=1024)
def is_label(key: str) -> bool:
    """Whether a key may be that of the key in a pair."""
    return "".join(normalise(key)) in _LABELS


def named(label: str) -> str:
    """The key that a label is: a path names it at its end, as in ``/lastName``."""
    return label.rpartition("/")[2] if label.startswith("/") else label


# -- words ----------------------------------------------------------------------------------------

#: Keys that patterns may look for say so in letters like these.
_SPOKEN = lazy(r"[\w .,/()#-]{1,64}", re.ASCII)
#: Keys of a date that is an object.
_DATE_PARTS = frozenset("year month day jahr monat tag année mois jour año mes día anno mese giorno ano dia".split())
#: Keys that are a word of many patterns, and alone of none.
_IDLE = frozenset(("text", "id", "name", "value", "data"))


@lru_cache(maxsize=8192)
def words_before(key: str, parent: str) -> str:
    """What patterns should see before a value of an object, as if it stood in JSON text: its key, if that may tell."""
    is_bare = "".join(normalise(key)) in _VALUES | _NUMBERS | _DATE_PARTS
    before = f'{parent}": {{"' if parent and is_bare and _may_tell(parent) else ""
    return f'{before}{key}": "' if before or _may_tell(key) else ""


def _may_tell(key: str) -> bool:
    """Whether a key has a word that some pattern has."""
    if key in _IDLE or _SPOKEN.fullmatch(key) is None:
        return False
    words, long_words = _words()
    joined = "".join(normalise(key))
    return not words.isdisjoint(normalise(key)) or any(word in joined for word in long_words)


@cache
def _words() -> tuple[frozenset[str], tuple[str, ...]]:
    """The words that patterns begin with or want close by, in pieces; and those of them that are no part of others."""
    sources = [
        source
        for category in CATALOGUE.values()
        for pattern in category.patterns
        for source in (pattern.regex if "(?i:" in pattern.regex else "", pattern.near)
    ]
    plain = re.sub(r"\\.|\[[^\]]*\]|\{[^}]*\}", " ", " ".join(sources)).lower()
    words = frozenset(re.findall(r"[a-z]{2,}", plain))
    return words, tuple(sorted(word for word in words if len(word) > 3))
