"""Values that fit their key and are something else after all: remarks about a password, things with a name."""

from __future__ import annotations

import re
from functools import lru_cache

from cloakllm_gateway.detection.catalogue.people import evident_name, known_name, uncommon
from cloakllm_gateway.detection.catalogue.randomness import is_random
from cloakllm_gateway.detection.catalogue.secrets import AMBIGUOUS
from cloakllm_gateway.detection.fields import Field
from cloakllm_gateway.detection.keys import NAME, PERSONAL, SECRETS, classify, normalise, without_remark
from cloakllm_gateway.detection.writing import NO_PASSWORD_ENDS
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


#: What alone is said of one.
_STATES_OF_ONE = frozenset(
    "changed expired updated incorrect wrong weak strong denied failed forgotten encrypted unknown matches "
    "mismatch".split()
)


def is_remark(value: str) -> bool:
    """Whether a value is said of a secret, mostly in a sentence, as forms and schemas have it, and is none."""
    if " " not in value or len(value) > 1_024:
        return value.lower() in _STATES_OF_ONE
    words = [word.lower() for word in _WORD.findall(value)]
    return sum(word in _REMARKING for word in words) * 2 > len(words) and len(words) > 1


_SCHEME = lazy(r"(?:bearer|basic|token|apikey|bot|digest) +(?=[^ ]+\Z)", re.IGNORECASE)
#: Those whose secret has a key of its own behind them.
_OF_PARTS = lazy(r"(?:digest|aws4-[a-z0-9-]{1,40}) +\w+=", re.IGNORECASE)


def credential(value: str) -> str:
    """What of a header is the secret: ``Bearer`` says how it is to be used."""
    if _OF_PARTS.match(value):
        return ""
    scheme = _SCHEME.match(value)
    return value[scheme.end() :] if scheme else value


#: ``org.acme.Widget``, ``acme::Widget``.
_QUALIFIED = lazy(r"(?:[a-z][\w-]*\.)+[A-Z]\w*|\w+(?:::\w+)+")
#: Keys that things have as well as persons.
_OF_ANYTHING = frozenset(("displayname", "fullname"))
#: How keys end whose value says who did something: a person, a program, a team.
_DONE_BY = ("by",)


def kind_of(kind: str, key: str, value: str) -> str:
    """What a key proves of a value: of its own ``kind``, unless what looks like a person's name is a thing's.

    A thing of common words may be a person after all, where something else says that the record is about somebody;
    nothing of a program is, nor a team or a program that did something.
    """
    if kind != "PERSON":
        return kind
    if _QUALIFIED.fullmatch(value) is not None:
        return NAME
    if normalise(key)[-1:] == _DONE_BY:
        return kind if " " in value and value[0].isupper() and _is_uncommon(value) else ""
    return NAME if _is_of_anything(key) and not _is_uncommon(value) else kind


def _is_uncommon(value: str) -> bool:
    """Whether a value is nothing but a person's name; things have a number behind theirs."""
    if value[-1:].isdigit():
        return False
    return bool(
        evident_name(value) or known_name(value) or (uncommon(value) and _STATES.isdisjoint(value.lower().split()))
    )


#: What else things are called, above all the steps of a workflow.
_STATES = frozenset(
    "backlog blocked done todo doing open opened closed reopened resolved triage triaged accepted rejected cancelled "
    "canceled completed pending paused waiting approved declined draft published archived canary rollout staging "
    "production sprint epic story icebox inbox wip released deployed merged reverted duplicate invalid stale active "
    "inactive enabled disabled suspended".split()
)


@lru_cache(maxsize=1024)
def _is_of_anything(key: str) -> bool:
    return "".join(normalise(key)) in _OF_ANYTHING


def says_who(kind: str, value: str) -> bool:
    """Whether a value of a kind says that its record is about somebody: nobody is behind the address of a machine."""
    return kind in PERSONAL and not (kind == "EMAIL" and _AUTOMATED.match(value))


_AUTOMATED = lazy(r"(?:no-?reply|do-?not-?reply|mailer-daemon)@", re.IGNORECASE)


# -- fields ---------------------------------------------------------------------------------------

#: Categories whose keys are also names of variables.
_CODED = SECRETS | {"USERNAME", "PRIVATE_KEY", "JWT"}
#: Categories whose values may be something else after all.
_JUDGED = _CODED | {"PERSON"}
#: Readers whose values go on to the end of their line.
_OF_LINES = ("lines", "dumps")
_IDENTIFIER = lazy(r"[A-Za-z_][A-Za-z_.-]*", re.ASCII)


@lru_cache(maxsize=1024)
def is_ambiguous(key: str) -> bool:
    words = normalise(without_remark(key) or key)
    return "".join(words) in AMBIGUOUS or words[-1:] == ("token",)


def is_other(kind: str, text: str, field: Field, reader: str, end: int, value: str) -> bool:
    """Whether a value that fits its kind is something else after all where it stands: code, or an everyday word."""
    if kind not in _JUDGED:
        return not field.quoted and text[field.end : field.end + 1] == "(" and _IDENTIFIER.fullmatch(value) is not None
    if reader == "tuples" and (_IDENTIFIER.fullmatch(value) if kind in _CODED else classify(value) or value.islower()):
        return True  # code pairs what a field is called with what it is called elsewhere, and with its type
    if kind == "PERSON":
        if classify(value) == kind:
            return True  # a label: what the field is called elsewhere
        return not field.quoted and reader not in _OF_LINES and not _is_bare_name(text, end, value)
    if kind in _CODED and _is_code(text, field, reader, value):
        return True
    return kind in SECRETS and not _is_secret(text, field, reader, value)


def _is_bare_name(text: str, end: int, value: str) -> bool:
    """A name without quotes in code or a log: capitalised, no attribute, no call."""
    return value[:1].isupper() and "." not in value.rstrip(".") and text[end : end + 1] not in ("(", "[", ".")


def remark_behind(text: str, start: int, end: int, reader: str) -> int:
    """How much of what stands behind a key on a line is said of the secret and no part of it: all but its first word.

    That has to be one that no sentence has: ``hunter2-Zq9X for now``, and not ``base64url encoded``.  What ends a
    sentence or a clause is no part of it either, unless it is in quotes.
    """
    if reader not in _OPEN or text[start - 1] in _QUOTES or text[end : end + 1] in _QUOTES:
        return 0
    first = text[start:end].partition(" ")[0]
    value = first.rstrip(NO_PASSWORD_ENDS)
    if start + len(first) == end:
        return len(first) - len(value)
    is_word = not any(map(str.isdigit, value)) or (len(value) < 12 and value.islower())
    return 0 if is_word or not is_random(value) else end - start - len(value)


#: Readers whose values need no quotes.
_OPEN = ("lines", "labels", "headers")
_QUOTES = ("'", '"', "`")


def _is_secret(text: str, field: Field, reader: str, value: str) -> bool:
    """Whether a secret's field holds one: a name that may mean something else needs a random value."""
    if reader == "headers" or is_ambiguous(field.key):
        return is_random(value)
    if is_remark(value):
        return False
    is_open = reader in ("lines", "labels") and text[field.start - 1] not in "\"'`" and " " in value
    return not is_open or _is_passphrase(field.key, value)


def _is_passphrase(key: str, value: str) -> bool:
    """Whether a value without quotes is two plain words under the key of a password, and no remark about one."""
    words = value.split(" ")
    return (
        "".join(normalise(key)) in _PASSWORD_KEYS
        and len(words) == _PASSPHRASE
        and value.islower()
        and all(len(word) > 2 and word.isalpha() and not _is_said(word) for word in words)
    )


def _is_said(word: str) -> bool:
    """Whether a word is of a remark rather than of a passphrase: what happens to something, and how."""
    return word in _REMARKING or word in _SAID_OF_ONE or word.endswith(("ed", "es", "ly", "ing", "able"))


#: More words are a sentence more often than not.
_PASSPHRASE = 2
_PASSWORD_KEYS = frozenset(
    "password passwd pwd passphrase passwort kennwort contrasena motdepasse senha wachtwoord haslo".split()
)
#: What else is said of a password in two words, where it is kept and how it is to be used.
_SAID_OF_ONE = frozenset(
    "the see vault none given click here stored string change ask same above below contact admin use using via "
    "provided "
    "sent shared manager protected protection policy rules recovery generator hash hashed hashing plain text base64 "
    "random generated auto automatically default optional free form min max only login based file path env environment "
    "variable settings config server database account root system name hint update confirmation input prompt with "
    "without from into for and any not this never always only often soon that will get got let log "
    "sign try again later lost keep safe store rotate rotation managed manage reused leaked cracked stolen lookup "
    "lookups attempt attempts screen page dialog "
    "siehe oben unten tresor setzen ändern vergessen zurücksetzen ver arriba abajo cambiar olvidada olvidé "
    "voir oublié oubliée changer ci-dessus zmień zapomniane".split()
)


def _is_code(text: str, field: Field, reader: str, value: str) -> bool:
    """Whether a value is an expression: without quotes, a bare identifier is the name of a variable.

    ``password=swordfish`` in a log is a value: glued to its key, and nothing of an expression follows.
    """
    if field.quoted:
        is_bare = reader == "lines" and text[field.start - 1] not in "\"'`"
        return is_bare and (_CALL.match(value) is not None or _is_type_of(field.key, value))
    after = text[field.end : field.end + 1]
    if after in ("(", "["):
        return True
    if reader == "braces":
        return not is_random(value) or _VARIABLE.search(value) is not None
    if _IDENTIFIER.fullmatch(value) is None:
        return False
    if text[field.start - 1] != "=":
        return not _is_setting(text, field)
    if after == "|":
        return text[field.start - len(field.key) - 2 : field.start - len(field.key) - 1] != "|"
    if after == '"' and field.key.isupper() and text[field.start - len(field.key) - 2 : field.start].startswith('"'):
        return False  # the environment of a container, as a list of strings
    return after not in _AFTER_WORDS and not (after in _AFTER_PRINTED and _is_printed(text, field))


#: What may stand behind a word that is glued to its key, in a log and a query, and in an object as it is logged.
_AFTER_WORDS, _AFTER_PRINTED = ("", " ", "\r", "\n", "\t", "&", ";"), (",", ")", "}", "]")
#: What words have that variables are called, and few passwords: ``sha256Hash``, ``hash_256``.
_VARIABLE = lazy(r"[a-z0-9][A-Z]|[_.]")


def _is_printed(text: str, field: Field) -> bool:
    """Whether a field stands on a line with values that code has in quotes only: it is an object as it is logged."""
    begin = text.rfind("\n", max(field.start - _PRINTED_REACH, 0), field.start) + 1
    begin = begin or max(field.start - _PRINTED_REACH, 0)
    end = text.find("\n", field.end, field.end + _PRINTED_REACH)
    return _PRINTED.search(text, begin, end if end >= 0 else field.end + _PRINTED_REACH) is not None


_PRINTED = lazy(r"=(?:\d{4}-\d\d-\d\d|[\w.+-]{1,64}@[\w-]{1,64}\.\w|null\b)")
_PRINTED_REACH = 300


def _is_setting(text: str, field: Field) -> bool:
    """Whether a field is a line ``key = value`` below a ``[section]``, as INI files have them."""
    before = text[max(field.start - _SECTION_REACH, 0) : field.start]
    line = before.rpartition("\n")[2]
    is_whole = _SETTING_END.match(text, field.end) is not None and line.strip(" \t=") == field.key
    return is_whole and _SECTION.search(before) is not None


#: A comment may follow.
_SETTING_END = lazy(r"[ \t]{0,20}(?:[;#][^\n]{0,500})?\r?(?:\n|\Z)")

_SECTION = lazy(r"(?:\A|\n)[ \t]*\[[\w .:\"-]{1,60}\][ \t]*\r?\n")
#: How far above a setting its section may begin, in code points.
_SECTION_REACH = 2_000


def _is_type_of(key: str, value: str) -> bool:
    """Whether a value is a type that is named after its key: ``session: PipSession``."""
    return _JOINED_WORDS.fullmatch(value) is not None and normalise(key)[-1] in normalise(value)


_JOINED_WORDS = lazy(r"[A-Z][a-z]+(?:[A-Z][a-z]+)+")
#: A call, a subscript or a type: ``os.environ.get(name)``, ``str | bytes, passwd``.
_CALL = lazy(r"[A-Za-z_][\w.]{0,60}[(\[]|(?:str|int|bytes|bool|None|Optional|Any|string|number)\b")
