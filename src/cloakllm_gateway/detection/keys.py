"""Which field names prove which category."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from cloakllm_gateway.detection.catalogue import CATALOGUE

#: What :func:`classify` answers for a key called just ``name``: proof only beside a personal sibling.
NAME = "name"
#: Keys that mean a person's name in a record about a person, and anything else elsewhere.
_BARE_NAMES = frozenset(
    "name names nombre nome nom naam imie fn first last full first_name login label owner author contact customer client "
    "recipientname sender receiver member guest student who kunde titular namen".split()
) - {"first_name", "label", "login"}

#: Words that say which of several fields it is, and nothing about its kind.
_QUALIFIERS = frozenset(
    "number numbers num no nr home work mobile primary secondary main alt alternate business personal private office "
    "current new old value text raw masked full last4 id line address code hash".split()
) - {"id", "address", "code", "hash", "last4"}
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


_BY_KEY = {key: name for name, category in reversed(CATALOGUE.items()) for key in category.keys}
_BY_KEY.update(
    {"电话": "PHONE", "手机": "PHONE", "電話": "PHONE", "전화": "PHONE", "연락처": "PHONE", "телефон": "PHONE", "邮箱": "EMAIL",
     "メール": "EMAIL", "이메일": "EMAIL", "姓名": "PERSON", "氏名": "PERSON", "名前": "PERSON", "고객명": "PERSON", "имя": "PERSON",
     "地址": "ADDRESS", "住所": "ADDRESS", "주소": "ADDRESS", "адрес": "ADDRESS", "שם": "PERSON", "密码": "SECRET", "пароль": "SECRET"}
)  # fmt: skip


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
