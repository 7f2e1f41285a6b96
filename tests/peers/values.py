"""Made-up personal data, different for every place it is planted in, and the search for it.

Every value has the form and the checksum of a real one.  Values of two places differ, so a place
can't hide behind another in which the value was found first, and a leak names its place.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple
from urllib.parse import unquote

_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_SYLLABLES = ("ka", "len", "mir", "dra", "vos", "tin", "bel", "gor", "sul", "pex")


class Values(NamedTuple):
    """One set of values; ``text`` names them all in one line."""

    email: str
    phone: str
    ssn: str
    card: str
    iban: str
    ip: str
    api_key: str
    aws_key: str
    name: str

    @property
    def by_shape(self) -> tuple[str, ...]:
        """Those that can be told by their form alone: all but the name."""
        return self[:-1]

    @property
    def text(self) -> str:
        return "; ".join(self.by_shape)

    @property
    def card_digits(self) -> str:
        return self.card.replace(" ", "")

    @property
    def phone_digits(self) -> str:
        return re.sub(r"\D", "", self.phone)


def values(n: int) -> Values:
    """The ``n``-th set, ``n`` below 250."""
    return Values(
        email=f"kim.{_name(n).lower()}@posteo-mail.de",
        phone=f"+49 30 9018 {2000 + n}",
        ssn=f"536-22-{1001 + 7 * n:04}",
        card=" ".join(re.findall("....", _card(f"453914880{n:06}"))),
        iban=_iban(f"370400440532013{n:03}"),
        ip=f"185.44.{101 + n // 100}.{101 + n % 100}",  # no address is the beginning of another
        api_key="ghp" + "_" + _letters(f"api{n}", _BASE62, 36),
        aws_key="AK" + "IA" + _letters(f"aws{n}", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16),
        name=_name(n),
    )


def _name(n: int) -> str:
    return "Z" + "".join(_SYLLABLES[int(digit)] for digit in f"{n:03}")


def _letters(seed: str, alphabet: str, length: int) -> str:
    number = int.from_bytes(hashlib.sha256(seed.encode()).digest(), "big")
    out = ""
    for _ in range(length):
        number, at = divmod(number, len(alphabet))
        out += alphabet[at]
    return out


def _card(digits: str) -> str:
    """``digits`` with their Luhn digit."""
    total = 0
    for at, digit in enumerate(reversed(digits)):
        doubled = int(digit) * 2 if at % 2 == 0 else int(digit)
        total += doubled - 9 if doubled > 9 else doubled
    return digits + str(-total % 10)


def _iban(account: str) -> str:
    """A German account with its ISO 7064 check digits (``DE00`` is 131400 in figures)."""
    return f"DE{98 - int(account + '131400') % 97:02}{account}"


# -- looking for them


def readings(data: bytes) -> str:
    """Everything a reader could take from a stream of JSON lines without effort.

    The bytes themselves; every string and key of every message; JSON inside such strings, at any depth;
    percent-encoding undone twice; runs of base64 decoded.
    """
    seen: dict[str, None] = {}
    queue = [data.decode("utf-8", "replace")]
    for line in data.split(b"\n"):
        queue.extend(_strings_of(line))
    while queue:
        text = queue.pop()
        if text in seen:
            continue
        seen[text] = None
        queue.extend(_decoded(text))
    return "\n".join(seen)


def _strings_of(document: str | bytes) -> Iterator[str]:
    try:
        value = json.loads(document)
    except ValueError:
        return
    yield from strings(value)


def strings(value: Any) -> Iterator[str]:
    """Every string, key and number of a JSON value."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from strings(inner)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _decoded(text: str) -> Iterator[str]:
    if "%" in text:
        yield unquote(text)
    if text[:1] in '{["':
        yield from _strings_of(text)
    if "\\" in text:
        yield re.sub(r"\\u([0-9a-fA-F]{4})", lambda m: chr(int(m[1], 16)), text).replace('\\"', '"')
    for run in re.findall(r"[A-Za-z0-9+/]{12,}={0,2}", text):
        try:
            decoded = base64.b64decode(run + "=" * (-len(run) % 4), validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            continue
        if decoded.isprintable() or "\n" in decoded:
            yield decoded


def exposed(wanted: Iterable[str], text: str) -> list[str]:
    """Those of ``wanted`` that stand in ``text``, in the case they are written in or another."""
    folded = text.casefold()
    return [value for value in wanted if value.casefold() in folded]
