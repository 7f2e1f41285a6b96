"""Texts to time detection on: five kinds, each with and without personal data, made from nothing but a seed.

Every text is of the length that was asked for, and longer ones go on as
shorter ones begin.  All values are made up; card numbers and IBANs have right
check digits, so that engines that check them have to.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from itertools import chain, repeat

FIRST = "Ada Bruno Carla Dmitri Elif Fatima Goran Hanna Ines Jonas Keiko Liam Marta Nadia Omar Priya Quinn Rosa".split()
LAST = "Abbott Becker Castillo Dubois Eriksen Fischer Grant Haddad Ivanova Jensen Kovacs Lindqvist Moreau Novak".split()
DOMAINS = "example.org mail.example.com example.co.uk corp.example.net".split()
SENTENCES = (
    "The team went through the proposal on Monday and agreed on the next steps.",
    "Please find the updated contract attached, with the two clauses that we spoke about.",
    "The total of the invoice does not match the purchase order, and nobody knows why.",
    "Version 2.14.3 ships in March 2026 with 37 fixes and a new page of settings.",
    "The warehouse in Rotterdam received 4,200 units on 2025-11-03, order number 4500123987.",
    "The second batch took about forty minutes longer than planned, without any error.",
    "Could you say whether the new schedule suits everyone who has to work with it?",
)
CODE = '''
class Cache:
    """Keeps what was read for a while; {n} entries at most."""

    def __init__(self, limit: int = {n}, *, name: str = "cache-{n}") -> None:
        self.entries: dict[str, bytes] = {{}}
        self.limit, self.name = limit, name

    def get(self, key: str, default: bytes = b"") -> bytes:
        if key not in self.entries:
            log.debug("miss in %s: \\"%s\\"\\n", self.name, key)
        return self.entries.get(key, default)


def evict(cache: Cache, *keys: str, version="1.{n}.0") -> int:
    before = len(cache.entries)
    for key in keys:  # the oldest first
        cache.entries.pop(key, None)
    return before - len(cache.entries)
'''


class Person:
    """A made-up person and what is known about them."""

    def __init__(self, at: random.Random) -> None:
        self.first, self.last = at.choice(FIRST), at.choice(LAST)
        self.name = f"{self.first} {self.last}"
        self.email = f"{self.first}.{self.last}{at.randrange(1000)}@{at.choice(DOMAINS)}".lower()
        self.phone = at.choice(("+1-{}-{}-{}", "({}) {}-{}", "{}-{}-{}")).format(
            at.randrange(212, 989), at.randrange(220, 999), at.randrange(1000, 9999)
        )
        self.street = f"{at.randrange(1, 9999)} {at.choice(LAST)} Street, Suite {at.randrange(1, 400)}, Dover, OH 37206"
        self.born = f"{at.randrange(1940, 2006)}-{at.randrange(1, 13):02}-{at.randrange(1, 29):02}"
        self.card = checked_card(at)
        self.iban = checked_iban(at)
        self.ssn = f"{at.randrange(101, 660)}-{at.randrange(10, 99)}-{at.randrange(1000, 9999)}"
        self.address = f"{at.randrange(11, 223)}.{at.randrange(1, 255)}.{at.randrange(1, 255)}.{at.randrange(1, 255)}"


def checked_card(at: random.Random) -> str:
    """Sixteen digits as Visa issues them, with the check digit of ISO/IEC 7812-1."""
    digits = [4, *(at.randrange(10) for _ in range(14))]
    total = sum(digit if i % 2 else sum(divmod(2 * digit, 10)) for i, digit in enumerate(digits))
    return "".join(map(str, digits)) + str(-total % 10)


def checked_iban(at: random.Random) -> str:
    """A German one, with the check digits of ISO 13616."""
    account = f"{at.randrange(10**17, 10**18)}"
    return f"DE{98 - int(account + '131400') % 97:02}{account}"


def prose(at: random.Random, personal: bool) -> str:
    body = " ".join(at.choices(SENTENCES, k=5))
    if not personal:
        return f"Subject: Re: ticket #{at.randrange(10**5)}\n\nHello,\n\n{body}\n\nThe support team\n\n---\n"
    person = Person(at)
    more = at.choice(
        (
            f"My card {person.card} was charged twice.",
            f"My SSN is {person.ssn}.",
            f"Please wire it to IBAN {person.iban}.",
            f"I moved to {person.street}.",
        )
    )
    head = f"From: {person.name} <{person.email}>\nSubject: Re: ticket #{at.randrange(10**5)}"
    return f"{head}\n\nDear {at.choice(FIRST)},\n\n{body} {more}\n\n{person.name}\n{person.phone}\n\n---\n"


def row(at: random.Random, personal: bool) -> str:
    number = at.randrange(10**5)
    if not personal:
        item = at.choice(("blue widget", "steel bolt", "desk lamp"))
        price, day = at.random() * 900, at.randrange(1, 29)
        return f"{number},SKU-{at.randrange(999)},{item},{at.randrange(500)},{price:.2f},2025-11-{day:02}\n"
    p = Person(at)
    card = p.card if at.random() < 0.3 else ""
    return f'{number},{p.first},{p.last},{p.email},{p.phone},"{p.street}",{p.born},{card},{at.random() * 9000:.2f}\n'


def record(at: random.Random, personal: bool) -> str:
    found: dict[str, object] = {
        "id": f"{at.getrandbits(32):08x}-{at.getrandbits(16):04x}-4{at.getrandbits(12):03x}-{at.getrandbits(48):012x}",
        "created_at": f"2025-11-{at.randrange(1, 29):02}T10:{at.randrange(60):02}:07.{at.randrange(1000):03}Z",
        "score": round(at.random() * 100, 4),
        "url": f"https://api.example.com/v2/items/{at.randrange(10**7)}?page=2",
        "sha": f"{at.getrandbits(160):040x}",
        "labels": ["bug", "docs"],
        "title": at.choice(SENTENCES),
    }
    if personal:
        person = Person(at)
        found["user"] = {"login": f"u{at.randrange(10**4)}", "name": person.name, "email": person.email}
        if at.random() < 0.4:
            found["payment"] = {"phone": person.phone, "card": person.card, "iban": person.iban}
    return json.dumps(found) + ", "


def line(at: random.Random, personal: bool) -> str:
    when = f"2025-11-{at.randrange(1, 29):02}T10:{at.randrange(60):02}:07.{at.randrange(10**6):06}Z"
    kind = at.random()
    if not personal or kind > 0.66:
        text = at.choice(("request handled", "cache miss for key", "retrying job"))
        details = f"id={at.getrandbits(64):016x} took={at.randrange(999)}ms"
        return f"{when} INFO [worker-{at.randrange(16)}] svc.Orders - {text} {details}\n"
    person = Person(at)
    if kind > 0.5:
        return f"{when} INFO [worker-2] auth - login ok user={person.email} ip={person.address}\n"
    request = f'"GET /api/v1/orders/{at.randrange(10**6)} HTTP/1.1" 200 {at.randrange(10**5)} "-" "Mozilla/5.0 (X11)"'
    return f"{person.address} - - [{at.randrange(1, 29):02}/Nov/2025:21:42:39 +0000] {request}\n"


def code(at: random.Random, personal: bool) -> str:
    text = CODE.format(n=at.randrange(10**4))
    if personal and at.random() < 0.3:
        person = Person(at)
        text += at.choice((f"# Ask {person.email} before you change this.\n", f'HOST = "{person.address}"\n'))
    return text


#: The parts of each kind of text, and what stands before all of them.
KINDS: dict[str, tuple[Callable[[random.Random, bool], str], str, str]] = {
    "prose": (prose, "", ""),
    "csv": (row, "id,first_name,last_name,email,phone,address,dob,card,balance\n", "id,sku,item,qty,price,date\n"),
    "json": (record, '{"items": [', '{"items": ['),
    "logs": (line, "", ""),
    "code": (code, "", ""),
}


def text(kind: str, personal: bool, size: int) -> str:
    """``size`` characters of a kind; the last part is cut off, as most limits do."""
    part, with_personal, without = KINDS[kind]
    at = random.Random(f"{kind} {personal}")
    parts: Iterator[str] = chain((with_personal if personal else without,), (part(at, personal) for _ in repeat(None)))
    pieces = []
    length = 0
    for piece in parts:
        pieces.append(piece)
        length += len(piece)
        if length >= size:
            break
    return "".join(pieces)[:size]


#: What invites quadratic work: the same few characters again and again.
HOSTILE = ("a.", "1234-", "1.1.1.", "::1 ", "A", "-----BEGIN PRIVATE KEY-----\n", '{"a":')
