"""Which field names prove which category."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache

import re2

from cloakllm_gateway.detection.catalogue import CATALOGUE
from cloakllm_gateway.patterns import lazy

#: What :func:`classify` answers for a key called just ``name``: proof only beside a personal sibling.
NAME = "name"
#: Keys that mean a person's name in a record about a person, and anything else elsewhere.
_BARE_NAMES = frozenset(
    "name names nombre nome nom naam imie fn first last full first_name login label owner author contact "
    "customer client "
    "recipientname sender receiver member guest student who kunde titular namen".split()
) - {"first_name", "label", "login"}

#: Words that say which of several fields it is, and nothing about its kind.
_QUALIFIERS = frozenset(
    "number numbers num no nr home work mobile primary secondary main alt alternate business personal private "
    "office raw "
    "masked full last4 line1 line2".split()
)
#: Short keys that are an everyday word or abbreviation elsewhere: only as the whole key.
_SHORT = frozenset(
    "cf pin via rc sin ein cell card fn pan cc nom rut nit inn ci cin born plate user login pass session token cookie "
    "secret key routing account posta clave parola portable imie rua rue mac wallet swift dl via calle nie nif nir cpf "
    "egn pib emso utr ird tfn rfc tin nid vin nip cedula patient passenger applicant beneficiary employee recipient "
    "residence credential credentials authorization kunde serial payee medicare insee matricule mdp otp dsn cvv".split()
) - {"user", "pass", "token", "secret", "key", "cvv", "card", "plate", "credentials", "session", "credential", "vin"}


def normalise(key: str) -> tuple[str, ...]:
    """The words of a key, lower case, accents off: ``customerE-Mail`` gives customer, e, mail."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", key)
    plain = unicodedata.normalize("NFKD", spaced).encode("ascii", "ignore").decode() or spaced
    return tuple(re.findall(r"[a-z]+|[0-9]+|[^\x00-\x7f]+", plain.lower()))


_BY_KEY: dict[str, str] = {key: name for name, category in CATALOGUE.items() for key in category.keys}
#: Keys in scripts that :func:`normalise` leaves as they are.
_BY_KEY.update(
    (key, name)
    for name, keys in {
        "PHONE": "电话 手机 電話 전화 연락처 телефон",
        "EMAIL": "邮箱 メール 이메일",
        "PERSON": "姓名 氏名 名前 고객명 имя שם",
        "ADDRESS": "地址 住所 주소 адрес",
        "SECRET": "密码 пароль",
    }.items()
    for key in keys.split()
)


@lru_cache(maxsize=8192)
def classify(key: str) -> str:
    """The category a key proves, :data:`NAME`, or "" for none.

    The whole key decides first, then its last words, then the same without
    qualifiers at its end: ``customer_email``, ``phone 1``, ``mobile (work)``.
    """
    if len(key) > 64:
        return ""
    words = normalise(key)
    while words:
        joined = "".join(words)
        if joined in _BY_KEY:
            return _BY_KEY[joined]
        if joined in _BARE_NAMES:
            return NAME
        for i in range(1, len(words)):
            tail = "".join(words[i:])
            if tail in _BY_KEY and tail not in _SHORT and len(tail) > 1:
                return _BY_KEY[tail]
        if words[-1].isdigit() or words[-1] in _QUALIFIERS:
            words = words[:-1]
        else:
            return ""
    return ""


# -- quick answers --------------------------------------------------------------------------------


def mentions_key(text: str) -> bool:
    """A quick no: whether anything before a colon or an equals sign may be a key that proves something by itself."""
    pieces = text.replace("=", ":").replace(">", ":").replace("：", ":").split(":")
    pieces.pop()
    for tail in {piece[-32:] for piece in pieces}:
        label = tail.rstrip(" \t\"'*_)]`")
        word = label[max(label.rfind(" "), label.rfind("\n")) + 1 :]
        if _may_end_key(word) or (word.lower() in _BARE_NAMES and _may_be_name(label)):
            return True
    return False


@lru_cache(maxsize=65_536)
def _may_end_key(word: str) -> bool:
    """Whether a key that proves a category may end in this word; never wrongly false, but for bare names."""
    words = normalise(word)
    while words and words[-1].isdigit():
        words = words[:-1]
    if not words or (words == words[:1] and words[0] in _BARE_NAMES):
        return False
    return words[-1] in _endings() or words[-1] in _QUALIFIERS or not words[-1].isascii()


def _may_be_name(label: str) -> bool:
    """Whether two or more words that end in one like ``name`` are a key of their own: ``First name``."""
    words = normalise(label[-32:])
    return any("".join(words[i:]) in _BY_KEY for i in range(max(len(words) - 4, 0), len(words) - 1))


@lru_cache(maxsize=1)
def _endings() -> frozenset[str]:
    """Every ending of every key, from three letters on: the last word of ``date of birth`` is ``birth``."""
    return frozenset(key[i:] for key in _BY_KEY for i in range(len(key)) if len(key) - i > 2 or not i)


def heads(text: str) -> Iterator[int]:
    """Places, in order, on whose lines a cell may be the head of a column that proves something."""
    screen = text.encode("ascii", "replace")
    places: Iterable[int] = (match.start() for match in _columns().finditer(screen))
    if not text.isascii():
        places = sorted({*places, *(match.start() for match in _FOREIGN.finditer(text))})
    return iter(places)


_FOREIGN = lazy(r"[^\x00-\x7f\n][^\n]*")


@lru_cache(maxsize=1)
def _columns() -> re2._Regexp:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    options.never_capture = True
    options.case_sensitive = False
    options.max_mem = 64 << 20
    keys = "|".join("[ _.-]?".join(key) for key in sorted(_BY_KEY) if key.isascii())
    return re2.compile(rf"(?:{keys})[ \"'*`_A-Za-z0-9.()-]*?[,;|\t\r\n]".encode(), options)
