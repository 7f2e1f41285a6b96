"""Derived forms of values that an upstream was just given: their parts, and other ways to write them.

"Mailbox ann.lee unknown", "card ending 1111", the base64 of a name: such forms
are looked for only in the replies to the call that carried the value, because
elsewhere they are ordinary text.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.spans import Encoding, Proof
from cloakllm_gateway.vault.entries import Entry
from cloakllm_gateway.vault.known import Known, KnownValues
from cloakllm_gateway.vault.tokens import LITERAL
from cloakllm_gateway.vault.words import COMMON

#: Categories whose last four digits are shown in place of the whole.
_LAST_FOUR = frozenset({"CREDIT_CARD", "SSN", "IBAN", "BANK_ACCOUNT"})
#: Categories whose single words, where they begin with a capital, tell whom or what the whole means.
_OF_WORDS = frozenset({"PERSON", "TERM"})
_NAME_WORD = lazy(r"[^\W\d_]{3,}")
_NOT_DIGIT = lazy(r"[^0-9]+")
#: Digits in a row that may stand for a number written with separators.
_MIN_RUN = 6
#: A national number is left when up to three digits of country code go.
_COUNTRY_CODE = 3
_MIN_NATIONAL = 7


class _Form(NamedTuple):
    """One way a value may come back; ``part`` says that it is less than the value."""

    text: str
    encoding: Encoding = Encoding.PLAIN
    part: bool = False
    capitalised: bool = False


def derived(entries: Iterable[Entry], reserved: set[str]) -> KnownValues:
    """All forms of the values of ``entries``, the short values that are otherwise no known ones included.

    A word of ``reserved`` counts where it is written as in the value, and the
    value is more than the ordinary word: `Model` as a name, never `model`.
    """
    forms = KnownValues(2, set())
    for entry in entries:
        spelling = entry.spelling
        if spelling.category == LITERAL:
            continue
        for form in _forms(entry):
            known = Known(
                spelling.category,
                form.text if form.part else spelling.canonical,
                form.text if form.part else spelling.value,
                form.encoding,
                # A part is known in messages of its origins at most, like a value proved by its key.
                Proof.KEY if form.part else spelling.proof,
                spelling.sensitive,
                capitalised=form.capitalised,
            )
            is_word = form.text.casefold() in reserved
            if is_word and form.text == form.text.casefold():
                continue
            caseless = not is_word and form.encoding in (Encoding.PLAIN, Encoding.HEX, Encoding.URL)
            forms.add(form.text, known, caseless)
    return forms


def _forms(entry: Entry) -> Iterator[_Form]:
    spelling = entry.spelling
    value = spelling.value
    if not value.isdigit() or len(value) > 2:
        yield _Form(value, capitalised=spelling.proof is Proof.NAME)
    if spelling.raw != value:
        yield _Form(spelling.raw, spelling.encoding)
    yield from _parts(spelling.category, value, spelling.proof)
    if len(value) >= 3:
        yield from _encodings(value)


def _parts(category: str, value: str, proof: Proof) -> Iterator[_Form]:
    local, at, _ = value.partition("@")
    if at and len(local) >= 3 and local.casefold() not in COMMON:
        yield _Form(local, part=True)
    if category in _OF_WORDS or proof is Proof.NAME:
        words = _NAME_WORD.findall(value)
        if len(words) > 1:
            yield from (_Form(w, part=True, capitalised=True) for w in words if w.casefold() not in COMMON)
    digits = _NOT_DIGIT.sub("", value)
    if digits != value and len(digits) >= _MIN_RUN:
        yield _Form(digits, part=True)
    if value.startswith("+"):
        longest = min(_COUNTRY_CODE, len(digits) - _MIN_NATIONAL)
        yield from (_Form(digits[cut:], part=True) for cut in range(1, longest + 1))
    if category in _LAST_FOUR and len(digits) > 4:
        yield _Form(digits[-4:], part=True)


def _encodings(value: str) -> Iterator[_Form]:
    import html  # these two only once a value was restored
    from urllib.parse import quote

    data = value.encode(errors="surrogatepass")
    yield _Form(base64.b64encode(data).decode().rstrip("="), Encoding.BASE64)
    yield _Form(base64.urlsafe_b64encode(data).decode().rstrip("="), Encoding.BASE64)
    yield _Form(data.hex(), Encoding.HEX)
    for text, encoding in (
        (quote(value, safe="", errors="surrogatepass"), Encoding.URL),
        (json.dumps(value)[1:-1], Encoding.JSON),
        (json.dumps(value, ensure_ascii=False)[1:-1], Encoding.JSON),
        (html.escape(value), Encoding.HTML),
    ):
        if text != value:
            yield _Form(text, encoding)
