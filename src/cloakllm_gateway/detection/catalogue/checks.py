"""Proofs: checksums, numbering plans and the other arithmetic that tells a value from a look-alike.

A proof gets a candidate and answers how many of its leading characters are
proved (0 refuses), because a greedy candidate may run into the next word.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module

from cloakllm_gateway.patterns import lazy

Proof = Callable[[str], int]


def whole(test: Callable[[str], bool]) -> Proof:
    """The proof that takes a candidate whole or not at all."""
    return lambda text: len(text) if test(text) else 0


def has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


# To translate bytes takes a fraction of what it takes to substitute in a string.
_DIGITS, _LETTERS = b"0123456789", b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_NO_DIGITS = bytes(set(range(128)) - set(_DIGITS))
_NO_ALPHANUMERICS = bytes(set(range(128)) - set(_DIGITS + _LETTERS))
_UPPER = bytes(range(128)).upper() + bytes(range(128, 256))


def digits(text: str) -> str:
    return text.encode("ascii", "ignore").translate(None, _NO_DIGITS).decode()


_NO_WORD = lazy(r"[\W_]+")


def compact(text: str) -> str:
    """Letters and digits only, upper case: the canonical form of most identifiers."""
    if text.isascii():
        return text.encode().translate(_UPPER, _NO_ALPHANUMERICS).decode()
    return _NO_WORD.sub("", text).upper()


# -- cards --------------------------------------------------------------------------------------

#: What every other digit counts for, digits as ASCII.
_DOUBLED = bytes.maketrans(b"0123456789", b"0246813579")


def luhn(number: str) -> bool:
    """ISO/IEC 7812-1, annex B."""
    digits = number.encode()
    total = sum(digits[-1::-2]) + sum(digits[-2::-2].translate(_DOUBLED)) - len(digits) * ord("0")
    return total % 10 == 0


#: Issuer prefixes and the lengths they come in (ISO/IEC 7812 ranges as the networks publish them).
_ISSUERS = tuple(
    (lazy(prefix), frozenset(lengths))
    for prefix, lengths in (
        (r"4", (13, 16, 18, 19)),  # Visa
        (r"5[1-5]|2(?:22[1-9]|2[3-9]|[3-6]|7[01]|720)", (16,)),  # Mastercard
        (r"3[47]", (15,)),  # American Express
        (r"3(?:0[0-5]|095|[689])", (14, 15, 16, 17, 18, 19)),  # Diners Club
        (r"6(?:011|4[4-9]|5)", (16, 17, 18, 19)),  # Discover
        (r"35(?:2[89]|[3-8])", (16, 17, 18, 19)),  # JCB
        (r"62|81", (16, 17, 18, 19)),  # UnionPay
        (r"5018|5020|5038|5[678]|6304|6390|6[0-9]", (13, 14, 15, 16, 17, 18, 19)),  # Maestro, RuPay, Verve and kin
        (r"2131|1800", (15,)),  # JCB, old
        (r"220[0-4]", (16, 17, 18, 19)),  # Mir
        (r"9792|508|636|637", (16,)),  # Troy, Elo, Hipercard
    )
)


def card(text: str) -> bool:
    """A payment card number: issuer prefix, its length, Luhn; not one digit repeated."""
    number = digits(text)
    return (
        any(prefix.match(number) and len(number) in lengths for prefix, lengths in _ISSUERS)
        and luhn(number)
        and len(set(number)) > 1
    )


def luhn_card(text: str) -> bool:
    """What is enough beside a word that says card: the length and Luhn, whoever issued it."""
    number = digits(text)
    return 12 <= len(number) <= 19 and luhn(number) and len(set(number)) > 1


# -- bank accounts --------------------------------------------------------------------------------

#: Lengths of IBANs by country (SWIFT IBAN registry).
IBAN_LENGTHS = dict(
    pair.split("=")
    for pair in (
        "AD=24 AE=23 AL=28 AT=20 AZ=28 BA=20 BE=16 BG=22 BH=22 BI=27 BR=29 BY=28 CH=21 CR=22 CY=28 CZ=24 DE=22 DJ=27 "
        "DK=18 DO=28 EE=20 EG=29 ES=24 FI=18 FK=18 FO=18 FR=27 GB=22 GE=22 GI=23 GL=18 GR=27 GT=28 HN=28 HR=21 HU=28 "
        "IE=22 IL=23 IQ=23 IS=26 IT=27 JO=30 KW=30 KZ=20 LB=28 LC=32 LI=21 LT=20 LU=20 LV=21 LY=25 MC=27 MD=24 ME=22 "
        "MK=19 MN=20 MR=27 MT=31 MU=30 NI=28 NL=18 NO=15 OM=23 PK=24 PL=28 PS=29 PT=25 QA=29 RO=24 RS=22 RU=33 SA=24 "
        "SC=31 SD=18 SE=24 SI=19 SK=24 SM=27 SO=23 ST=25 SV=28 TL=23 TN=24 TR=26 UA=29 VA=22 VG=24 XK=20 YE=30"
    ).split()
)

#: Countries whose account numbers have no letters, by the same registry: identifiers in hexadecimal begin like them.
IBAN_DIGITS = frozenset(
    "AE AT BA BE BI CR CZ DE DJ DK EE EG ES FI FO GL HR HU IL IS LT LY ME MN MR NO PL PT RS SD SE SI SK SO ST TL TN VA "
    "XK".split()
)


def iban_extent(text: str) -> int:
    """How far the IBAN that begins ``text`` reaches by its country's length; 0 if it is none."""
    length = int(IBAN_LENGTHS.get(text[:3].replace(" ", "")[:2].upper(), 0))
    if not length:
        return 0
    if len(text) >= length and text[:length].isalnum():  # no spaces in it
        return 0 if text[length : length + 1].isalnum() else length
    count = 0
    for at, char in enumerate(text):
        count += char.isalnum()
        if count == length:
            return 0 if text[at + 1 : at + 2].isalnum() else at + 1
    return 0


def iban(text: str) -> int:
    """ISO 13616 with its ISO 7064 mod 97 check."""
    end = iban_extent(text)
    number = compact(text[:end])
    if not end or not number.isascii() or (number[:2] in IBAN_DIGITS and not number[4:].isdigit()):
        return 0
    return end if int("".join([_VALUES[c] for c in number[4:] + number[:4]])) % 97 == 1 else 0


#: What the characters of an IBAN count as.
_VALUES = {char: str(int(char, 36)) for char in "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"}


# -- wallets --------------------------------------------------------------------------------------

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
#: What XRP has in place of it.
_RIPPLE = "rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz"
_FROM_RIPPLE = str.maketrans(_RIPPLE, _BASE58)
#: First bytes of addresses by the letter they begin with: of Bitcoin and Dash, Dogecoin, Litecoin, Tron, Zcash.
_VERSIONS: dict[str, tuple[bytes, ...]] = {
    "1": (b"\x00",), "3": (b"\x05",), "L": (b"\x30",), "M": (b"\x32",), "D": (b"\x1e",), "X": (b"\x4c",),
    "T": (b"\x41",), "t": (b"\x1c\xb8", b"\x1c\xbd"), "r": (b"\x00",),
}  # fmt: skip


def base58check(text: str) -> bool:
    """An address in Base58Check: its version, 20 bytes, and four of their double SHA-256."""
    value = text.translate(_FROM_RIPPLE) if text[0] == "r" else text
    return any(_is_base58(value, version, 20) for version in _VERSIONS[text[0]])


def wallet_key(text: str) -> bool:
    """A private key of Bitcoin or a relative in Base58Check: a version and 32 bytes, and 1 for a compressed one."""
    return any(_is_base58(text, version, size) for version in _KEY_VERSIONS for size in (32, 33))


#: Of Bitcoin, Litecoin and Dogecoin.
_KEY_VERSIONS = (b"\x80", b"\xb0", b"\x9e")


def _is_base58(text: str, version: bytes, size: int) -> bool:
    """Whether a text is a version, so many bytes, and four of their double SHA-256."""
    import hashlib

    number = 0
    for char in text:
        number = number * 58 + _BASE58.index(char)
    size += len(version) + 4
    if number.bit_length() > 8 * size:
        return False
    raw = number.to_bytes(size, "big")
    return raw.startswith(version) and hashlib.sha256(hashlib.sha256(raw[:-4]).digest()).digest()[:4] == raw[-4:]


_BECH32 = {char: value for value, char in enumerate("qpzry9x8gf2tvdw0s3jn54khce6mua7l")}
_BECH32_GENERATORS = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
#: What the checksum comes to: of Bech32 (BIP 173) and of Bech32m (BIP 350).
_BECH32_SUMS = frozenset((1, 0x2BC830A3))


def bech32(text: str) -> bool:
    """An address in Bech32 or Bech32m, in one case: what it is of, 1, and characters of which six check the others."""
    low = text.lower()
    kind, _, data = low.rpartition("1")
    if text not in (low, text.upper()) or not _BECH32.keys() >= set(data):
        return False
    total = 1
    for value in (
        *(ord(char) >> 5 for char in kind),
        0,
        *(ord(char) & 31 for char in kind),
        *(_BECH32[char] for char in data),
    ):
        top = total >> 25
        total = (total & 0x1FFFFFF) << 5 ^ value
        for at, generator in enumerate(_BECH32_GENERATORS):
            total ^= generator if top >> at & 1 else 0
    return total in _BECH32_SUMS


# -- telephone ------------------------------------------------------------------------------------

#: Country calling codes in use (ITU-T E.164, list of assigned codes); one digit, two, three.
_CALLING_CODES = frozenset(
    "1 7 20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 65 66 81 "
    "82 84 86 "
    "90 91 92 93 94 95 98 211 212 213 216 218 220 221 222 223 224 225 226 227 228 229 230 231 232 233 234 235 236 237 "
    "238 239 240 241 242 243 244 245 246 247 248 249 250 251 252 253 254 255 256 257 258 260 261 262 263 264 265 266 "
    "267 268 269 290 291 297 298 299 350 351 352 353 354 355 356 357 358 359 370 371 372 373 374 375 376 377 378 380 "
    "381 382 383 385 386 387 389 420 421 423 500 501 502 503 504 505 506 507 508 509 590 591 592 593 594 595 596 597 "
    "598 599 670 672 673 674 675 676 677 678 679 680 681 682 683 685 686 687 688 689 690 691 692 800 808 850 852 853 "
    "855 856 870 878 880 881 882 883 886 888 960 961 962 963 964 965 966 967 968 970 971 972 973 974 975 976 977 979 "
    "992 993 994 995 996 998".split()
)


def e164(text: str) -> bool:
    """An international number: assigned calling code, 8 to 15 digits, ten digits behind +1."""
    number = digits(text)
    if not text.startswith("+"):
        number = number.removeprefix("00")
        if _CODE_POINTS.fullmatch(text):
            return False
    if not 8 <= len(number) <= 15:
        return False
    if number[0] == "1":
        return len(number) == 11 and number[1] in "23456789" and len(set(number)) > 2
    return not _CALLING_CODES.isdisjoint((number[0], number[:2], number[:3])) and len(set(number)) > 2


#: Characters as tables of Unicode list them: no number goes on with a zero behind the code of its country.
_CODE_POINTS = lazy(r"00\d\d([ .])0\d{3}\1\d{4}", re.ASCII)


def nanp(text: str) -> bool:
    """A national number of the North American plan: area and exchange begin with 2 to 9."""
    return _is_nanp(digits(text))


def _is_nanp(number: str) -> bool:
    if len(number) == 11 and number[0] == "1":
        number = number[1:]
    return len(number) == 10 and number[0] in "23456789" and number[3] in "23456789" and number[1:3] != "11"


def dialled(text: str) -> bool:
    """Seven to fifteen digits that are no date and not one digit repeated: enough beside a word that says telephone."""
    number = digits(text)
    return 7 <= len(number) <= 15 and len(set(number)) > 1 and not _NO_NUMBER.fullmatch(text.strip())


def dialled_part(text: str) -> int:
    """How much of a text is dialled: not the fraction that spreadsheets give a number, 4155550134.0."""
    number = _WHOLE.match(text)
    said = number[1] if number else text
    return len(said) if dialled(said) else 0


_WHOLE = lazy(r"([0-9]{7,})\.0+\Z")
#: A date, a fraction, or years.
_NO_NUMBER = lazy(
    r"0\.\d+|[1-9]\d?\.\d{5,}|(?:19|20)\d\d ?[-–/] ?(?:19|20)\d\d"
    r"|(?:19|20)\d\d[-./ ]?[01]\d[-./ ]?[0-3]\d|[0-3]?\d[-./][01]?\d[-./](?:19|20)\d\d",
    re.ASCII,
)


def phone_canonical(text: str) -> str:
    """E.164 where the number says its country, or is North American; else its digits, or the words it is spoken in."""
    number = digits(text.partition("x")[0])  # without an extension
    if not number and not has_digit(text):
        return " ".join(text.replace(",", " ").split()).casefold()
    if text.lstrip("( ").startswith("+"):
        return "+" + number.replace("440", "44", 1) if "(0)" in text else "+" + number
    if number.startswith("00") and len(number) > 9:
        return "+" + number[2:]
    if _is_nanp(number):
        return "+1" + number[-10:]
    return number


# -- network --------------------------------------------------------------------------------------


_BYTE = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_HOST = lazy(rf"(?!(?:0|127|255)\.|[0-9]+\.0\.0\.0$){_BYTE}(?:\.{_BYTE}){{3}}")


def ipv4(text: str) -> bool:
    """An address that can name a host: no loopback, mask, broadcast, multicast or unspecified one."""
    return _HOST.fullmatch(text) is not None


def ipv6(text: str) -> int:
    """An address that can name a host; at least three groups, so that ``::1`` and times of day are none."""
    text = text.rstrip(":.") if not text.endswith("::") else text
    groups = [group for group in text.split(":") if group]
    if len(groups) < 3 or max(map(len, groups)) < 3:
        return 0
    try:
        address = ipaddress.IPv6Address(text)
    except ValueError:
        return 0
    return 0 if address.is_loopback or address.is_unspecified or address.is_multicast else len(text)


_DOTTED = lazy(r"(?:[1-9]\d{0,2}|0)(?:\.(?:[1-9]\d{0,2}|0)){3}", re.ASCII)


def ip_canonical(text: str) -> str:
    if _DOTTED.fullmatch(text):
        return text
    try:
        return str(ipaddress.ip_address(text.strip("[] ")))
    except ValueError:
        return text.strip()


# -- e-mail ---------------------------------------------------------------------------------------

#: Last labels that name a file, a script or a package and no domain people have mailboxes in.
_FILE_SUFFIXES = frozenset(
    "png jpg jpeg gif svg webp ico css js mjs cjs ts tsx jsx json yaml yml toml xml html htm txt md rst csv tsv "
    "pdf zip tgz bz2 xz 7z rar deb rpm "
    "gz tar whl exe dll so jar war class cpp hpp java rb go rs swift kt php lock log conf cfg ini local "
    "internal".split()
) - {"local", "internal"}
#: Local parts of version-control and package remotes: ``git@github.com:org/repo``.
REMOTES = frozenset(("git", "hg", "svn", "gitea", "gogs"))
_LONGEST_LABEL = 24
_ASCII_LABEL = lazy(rf"[A-Za-z]{{2,{_LONGEST_LABEL}}}", re.ASCII)


#: Suffixes that a file named after an address has, besides those that look like domains.
_DOCUMENT_SUFFIXES = _FILE_SUFFIXES | frozenset("eml msg bak log doc docx odt xls xlsx ods ppt pptx jsonl vcf".split())


#: What a package is pinned to: `lodash@4.17.21.tgz`, `redis@sha256.abc`.
_VERSION = lazy(r"v?\d+(?:\.\d+)*|sha(?:1|256|512)|md5", re.ASCII)


#: Where mail goes to domains that are numbers: 163.com, 126.com, 360.cn.
_NUMBERED_UNDER = frozenset("com cn net org".split())


def email(text: str) -> int:
    """An address whose last label can be a top-level domain; trailing hyphens and glued text go.

    `jane@corp.com.txt` is the address and a suffix, `icon@2x.png` is a file.
    """
    local, _, domain = text.rpartition("@")
    if local.lower() in REMOTES or ".." in local or local.endswith("."):
        return 0
    size = _domain(domain)
    return len(local) + 1 + size if size else 0


@lru_cache(maxsize=1024)
def _domain(text: str) -> int:
    """How much of what stands behind an ``@`` is a domain; few are those of many addresses."""
    rest, _, last = text.rpartition(".")
    if not rest.strip("-_.") or (
        _VERSION.fullmatch(rest) and not (rest.isdecimal() and last.lower() in _NUMBERED_UNDER)
    ):
        return 0
    kept = _top_level(last)
    low = kept.lower()
    if low in _DOCUMENT_SUFFIXES:
        if "." in rest:
            return _domain(rest)
        if low in _FILE_SUFFIXES:
            return 0
    return len(text) - len(last) + len(kept) if len(kept) >= 2 else 0


def _top_level(label: str) -> str:
    """The part of a last label that can be a top-level domain; empty if none can."""
    if label.isascii() and label.isalpha():
        return label[:_LONGEST_LABEL]
    if label.lower().startswith("xn--"):
        return label.rstrip("-_")
    if lead := _ASCII_LABEL.match(label):
        return lead[0]
    kept = label.rstrip("-_")
    return kept if kept.isalpha() else ""


def email_cut_off(text: str) -> int:
    """An address whose end is missing, as a text cut at some length leaves it; no whole one and no file."""
    local, _, domain = text.partition("@")
    last = domain.rpartition(".")[2].lower()
    if email(text) or _VERSION.fullmatch(domain.partition(".")[0]):
        return 0
    if "." not in text or local.lower() in REMOTES or last in _DOCUMENT_SUFFIXES:
        return 0
    return len(text)


# -- identifiers ----------------------------------------------------------------------------------


def ssn(text: str) -> bool:
    """A US Social Security or taxpayer number: no area 000, 666; no group 00, no serial 0000."""
    number = digits(text)
    return (
        len(number) == 9
        and number[:3] not in ("000", "666")
        and number[3:5] != "00"
        and number[5:] != "0000"
        and len(set(number)) > 1
    )


#: Where the number, the birth date and the expiry stand in the second line of a passport, each before its check digit.
_CHECKED_PARTS = ((0, 9), (13, 19), (21, 27))


def machine_readable(line: str) -> bool:
    """The second line that machines read in a passport (ICAO Doc 9303, part 4), by the check digits of its parts."""
    return all(_weighed(line[start:end]) == int(line[end]) for start, end in _CHECKED_PARTS)


def _weighed(part: str) -> int:
    return sum((0 if char == "<" else int(char, 36)) * (7, 3, 1)[at % 3] for at, char in enumerate(part)) % 10


def stdnum(module: str) -> Callable[[str], bool]:
    """The ``is_valid`` of a ``python-stdnum`` module, imported when first asked."""
    return lambda text: bool(import_module("stdnum." + module).is_valid(text))


def resident_id_cn(text: str) -> bool:
    """GB 11643: a region, a birth date, and ISO 7064 mod 11-2."""
    month, day = int(text[10:12]), int(text[12:14])
    total = sum((10 if c in "Xx" else int(c)) * 2**i for i, c in enumerate(reversed(text)))
    return text[6:8] in ("19", "20") and 1 <= month <= 12 and 1 <= day <= 31 and total % 11 == 1


def snils_ru(text: str) -> bool:
    """Nine digits weighted from nine down, modulo 101; two more check them, 00 where that is 100."""
    number = digits(text)
    return sum(int(digit) * weight for digit, weight in zip(number, range(9, 0, -1), strict=False)) % 101 % 100 == int(
        number[9:]
    )


_ANY_DIGIT = lazy(r"\d")


def mixed(text: str) -> bool:
    """Whether a secret looks random: digits and letters, or both cases, and no run of one character."""
    kinds = (_ANY_DIGIT.search(text) is not None) + (text != text.upper()) + (text != text.lower())
    different = len(set(text))
    return kinds >= 2 and (different >= min(8, len(text) // 2) or (different >= _FEW and _takes_turns(text)))


def _takes_turns(text: str) -> bool:
    """Whether digits stand among letters as in keys that were typed in: ``8f3kd93kfjd93kfj39``."""
    return len(_TURN.findall(text)) >= _FEW


_TURN = lazy(r"[A-Za-z](?=[0-9])|[0-9](?=[A-Za-z])")
#: So many characters are different, and so many take turns, in what has only a few of them.
_FEW = 6


def licence_gb(text: str) -> bool:
    """A surname that is filled up with nines, a month, of women with 50 more, a day; a second initial may be nine."""
    month, day = int(text[6:8]), int(text[8:10])
    return "9" not in text[:5].rstrip("9") and 1 <= (month - 50 if month > 50 else month) <= 12 and 1 <= day <= 31
