"""National forms of telephone numbers: ambiguous, hence only with a locale.

A number counts if it is whole, if it reads neither as a date nor as an amount,
and if the numbering plan of a country has it, beginning as numbers are written
there: with the trunk prefix (0 in most of Europe, 8 in Russia, 06 in Hungary)
where that may not be left out.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from cloakllm_gateway.detection.catalogue.checks import digits
from cloakllm_gateway.patterns import lazy

if TYPE_CHECKING:
    from phonenumbers import PhoneNumber

#: How far before a candidate the number reaches that it would be a part of, and the dates and times that are none.
_BEFORE = 24
#: Digits that what follows goes on with; two spaces and more are the gap between columns.
_GOING_ON = lazy(r"\d(?! {2,4}\Z)[ .()/-]{1,4}\Z", re.ASCII)

_DATES = (
    r"(?<!\d)(?:19|20)\d\d([-./])[01]?\d\1[0-3]?\d(?!\d)",  # 2025-04-12
    r"(?<!\d)[0-3]?\d([-./])[0-3]?\d\2(?:19|20)\d\d(?!\d)",  # 12.04.2025, 04/25/2025
    r"(?<![\d.])[0-3]?\d\.[01]?\d\.\d\d(?= |\Z)",  # 12.04.25
)
_DATE = lazy("|".join((*_DATES, r"\A(?:19|20)\d\d [01]\d [0-3]\d\Z")), re.ASCII)
#: What is complete, so that a number may begin behind it.
_COMPLETE = lazy(
    "(?:"
    + "|".join(
        (
            *_DATES,
            r"\d:\d\d",  # a time of day
            r"[A-Za-z_#]\d+",  # v7, #12
            r"(?<![(\d])\d{1,2}[.)]",  # the number of an item: 1. or 2)
            r"(?<!\d[ .()/-])(?<!\d)[1-9]\d{3,}",  # longer than any prefix: 4711
        )
    )
    + r") \Z",
    re.ASCII,
)
#: Between two numbers, as in `030 901820 / 0151 2345678`.
_BETWEEN = " / "
#: Thousands set apart.  Nine digits in threes are a number as many countries write theirs.
_GROUPED = lazy(r"[1-9]\d?(?:([ .])\d{3})(?:\1\d{3})+|[1-9]\d\d(?:\.\d{3})+", re.ASCII)
#: Behind an amount, which never begins with 0.
_CURRENCY = lazy(r" ?(?:[€$£¥₽]|(?:EUR|USD|GBP|CHF|PLN|CZK|HUF|DKK|NOK|SEK|RUB|Euro?|zł|Kč|Ft|kr|руб)(?!\w))")


def national_phone(buffer: str, start: int, end: int, regions: tuple[str, ...], last: int = -1) -> int:
    """How long the telephone number of some region is that begins here and ends at ``end`` or before; 0 if none does.

    ``last`` is where the number before it ends.
    """
    if start - last > len(_BETWEEN) or last < 0:
        before = buffer[max(start - _BEFORE, 0) : start]
        if _GOING_ON.search(before) and not _COMPLETE.search(before):
            return 0
    text = buffer[start:end]
    first = text.partition(_BETWEEN)[0]
    if first != text and _is_national(first, regions):
        return len(first)
    if text[0] in "123456789" and _CURRENCY.match(buffer, end):
        return 0
    return len(text) if _is_national(text, regions) else 0


@lru_cache(maxsize=20_000)
def _is_national(text: str, regions: tuple[str, ...]) -> bool:
    """Exact, and slow: 60 to 150 microseconds."""
    if _DATE.search(text):
        return False

    import phonenumbers

    number, is_grouped = digits(text), _GROUPED.fullmatch(text) is not None
    for region in regions:
        try:
            parsed = phonenumbers.parse(text, region)
        except phonenumbers.NumberParseException:
            continue
        if phonenumbers.is_valid_number(parsed):
            usual = phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.NATIONAL)
            if number.startswith(_trunk_prefix(parsed, usual)) and (not is_grouped or text == usual):
                return True
    return False


def _trunk_prefix(parsed: PhoneNumber, usual: str) -> str:
    """What a number has to begin with, told by how its own country writes it; empty where that may be left out."""
    from phonenumbers import national_significant_number

    if _may_lack_prefix(parsed.country_code or 0):
        return ""
    return digits(usual).removesuffix(national_significant_number(parsed))


@cache
def _may_lack_prefix(calling_code: int) -> bool:
    from phonenumbers import PhoneMetadata, region_code_for_country_code

    plan = PhoneMetadata.metadata_for_region(region_code_for_country_code(calling_code))
    return plan is not None and any(way.national_prefix_optional_when_formatting for way in plan.number_format)
