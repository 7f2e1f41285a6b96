"""Values that fit their key and are something else after all: remarks about a password, things with a name."""

from __future__ import annotations

import re
from functools import lru_cache

from cloakllm_gateway.detection.catalogue.people import evident_name, uncommon
from cloakllm_gateway.detection.keys import normalise
from cloakllm_gateway.patterns import lazy

_WORD = lazy(r"[^\W\d_]+(?:'[^\W\d_]+)?")
#: Words of what is said about a password or a key; no two of them are in one that a person made up.
_REMARKING = frozenset(
    "password passwords passphrase passcode pin token key secret credential credentials username user value field "
    "this your you must should can can't cannot may will need needs please enter choose confirm provide repeat type "
    "is are was not isn't don't doesn't does do has have be been at least most than more too very "
    "required invalid incorrect wrong missing empty blank expired changed reset updated set unset short long weak "
    "strong match matches mismatch contain contains include includes characters character letters letter digits digit "
    "numbers number symbol symbols uppercase lowercase special common allowed denied failed forgotten forgot "
    "new old current unknown hidden redacted masked encrypted "
    "passwort kennwort muss mindestens darf nicht erforderlich ungültig falsch zeichen ihr bitte eingeben "
    "contraseña debe tener menos caracteres requerida obligatoria incorrecta "
    "mot passe doit contenir moins caractères requis obligatoire incorrect".split()
)


def is_remark(value: str) -> bool:
    """Whether a value is a sentence about a secret, as forms and schemas have them under its key, and no secret."""
    if " " not in value or len(value) > 1_024:
        return False
    words = [word.lower() for word in _WORD.findall(value)]
    return sum(word in _REMARKING for word in words) * 2 > len(words) and len(words) > 1


_SCHEME = lazy(r"(?:bearer|basic|token|apikey|bot|digest) +(?=[^ ]+\Z)", re.IGNORECASE)


def credential(value: str) -> str:
    """What of a header is the secret: ``Bearer`` says how it is to be used."""
    scheme = _SCHEME.match(value)
    return value[scheme.end() :] if scheme else value


#: ``org.acme.Widget``, ``acme::Widget``.
_QUALIFIED = lazy(r"(?:[a-z][\w-]*\.)+[A-Z]\w*|\w+(?:::\w+)+")
#: Keys that things have as well as persons.
_OF_ANYTHING = frozenset(("displayname", "fullname"))


def is_thing(key: str, value: str) -> bool:
    """Whether a value under the key of a full name is no person's: a thing of a program, or of common words.

    Of the second kind it may be one after all, where something else says that the record is about somebody.
    """
    if _QUALIFIED.fullmatch(value) is not None:
        return True
    return _is_of_anything(key) and not (uncommon(value) or evident_name(value))


@lru_cache(maxsize=1024)
def _is_of_anything(key: str) -> bool:
    return "".join(normalise(key)) in _OF_ANYTHING
