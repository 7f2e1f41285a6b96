"""Texts to time detection on: five kinds, each with and without personal data, as hard as what tools return.

Prose is mail with names and companies, CSV has an address in quotes in each
row, logs are those of a web server and of an application, and code is the
standard library of Python.  All else is made from nothing but a seed, and
nearly every value is another one.  Every text is of the length that was asked
for, and longer ones go on as shorter ones begin.  All values are made up; card
numbers and IBANs have right check digits, so that engines that check them have
to.
"""

from __future__ import annotations

import json
import os
import random
import re
import sysconfig
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain, repeat
from pathlib import Path

#: Names the folder whose modules are the code, where that of the interpreter that runs would be another one.
SOURCES = "BENCH_SOURCES"

FIRST = """
    Ada Agnes Alan Alicia Amber Andrea Angela Anita Arthur Aaron Barbara Beatriz Benjamin Bianca Brandon Brenda Brian
    Bruno Caleb Carla Carlos Caroline Casey Charles Christina Claire Craig Crystal Cynthia Daniel Danielle Darius David
    Deborah Denise Derek Diana Dmitri Donna Douglas Dylan Edgar Elaine Elif Elizabeth Emily Eric Erin Ethan Evelyn
    Fatima Felix Fiona Frances Frank Gabriel Gail George Gina Gloria Goran Grace Gregory Hanna Harold Hazel Heather
    Helen Henry Holly Ian Ines Irene Isaac Ivan Jack Jacob Jamie Janet Jasmine Jason Jennifer Jeremy Jesse Joan Joel
    Jonas Jordan Joseph Joyce Julia Justin Karen Katherine Keiko Keith Kelly Kenneth Kevin Kim Kristen Kyle Laura Leah
    Leonard Leslie Liam Linda Lisa Logan Louis Lucas Lucy Madison Marcus Margaret Maria Marta Martin Mary Matthew
    Megan Melissa Michael Michelle Miguel Monica Nadia Nancy Natalie Nathan Nicole Noah Norman Olga Olivia Omar Oscar
    Pamela Patricia Paul Peter Philip Phyllis Priya Quentin Rachel Ralph Ramona Raymond Rebecca Regina Ricardo Richard
    Robert Robin Rodney Roger Rosa Russell Ruth Samantha Samuel Sandra Sarah Scott Sean Shannon Sharon Shirley Simon
    Sonia Stephanie Stephen Steven Susan Tamara Tanya Taylor Teresa Thomas Timothy Todd Tracy Travis Tyler Valerie
    Vanessa Veronica Victor Vincent Virginia Walter Wanda Wayne Wendy William Xavier Yolanda Yusuf Zachary Zoe
""".split()
LAST = """
    Abbott Acosta Adams Adkins Aguilar Alexander Allen Alvarez Anderson Andrews Armstrong Arnold Atkins Austin Bailey
    Baker Barnes Barrett Bates Becker Bell Bennett Berry Bishop Black Blair Bowman Boyd Bradley Brooks Brown Bryant
    Burke Burns Butler Caldwell Campbell Carpenter Carroll Carter Castillo Chandler Chapman Chavez Christensen Clark
    Cobb Coleman Collins Cook Cooper Cox Craig Crawford Cross Cruz Cunningham Curtis Dalton Davidson Davis Dawson Day
    Delgado Dennis Diaz Dixon Dougherty Doyle Dubois Duncan Dunn Edwards Eriksen Elliott Ellis Estrada Evans Ferguson
    Fernandez Fields Figueroa Fischer Fisher Fletcher Flores Foley Ford Foster Fox Frank Franklin Frazier Freeman Fry
    Fuller Garcia Gardner Garrett Gibson Gilbert Gomez Gonzalez Gordon Graham Grant Graves Gray Green Griffin Gross
    Guerrero Haddad Hale Hall Hamilton Hammond Hansen Hardy Harper Harris Harrison Hart Hayes Henderson Henry
    Hernandez Hicks Hill Hodges Hoffman Holland Holmes Hopkins Howard Hughes Hunt Ibarra Ivanova Jackson Jacobs James
    Jenkins Jensen Jimenez Johnson Johnston Jones Jordan Joyce Keller Kelley Kelly Kennedy Kim King Klein Knight
    Kovacs Krause Lamb Lambert Lane Larson Lawrence Lee Leonard Lewis Li Lin Lindqvist Little Logan Long Lopez Lynch
    Lyons Malone Manning Marsh Marshall Martin Martinez Mason Maxwell May Mccarthy Mccoy Mendoza Meyer Miller Mills
    Mitchell Moore Morales Moreau Morgan Morris Morrison Moss Murphy Myers Navarro Nelson Newton Nguyen Nichols Norris
    Novak Obrien Oliver Olson Ortiz Owens Palmer Park Parker Patel Patterson Payne Pearson Perez Perry Peters Pham
    Phillips Pierce Porter Potter Powell Price Quinn Ramirez Ramos Randall Reed Reese Reid Reyes Reynolds Rhodes Rice
    Richardson Riley Rivera Roberts Robinson Rodriguez Rogers Rojas Rollins Romero Rose Ross Rowe Ruiz Russell Ryan
    Salazar Sanchez Sanders Santos Schmidt Schultz Scott Shaffer Shaw Shelton Sherman Silva Simmons Simpson Sims Singh
    Smith Snyder Soto Spencer Stanley Stephens Stevens Stewart Stone Strickland Sullivan Sutton Tate Taylor Terry
    Thomas Thompson Thornton Torres Townsend Tran Turner Tyler Valdez Vance Vargas Vasquez Vaughn Wade Wagner Walker
    Wallace Walsh Walters Ward Warren Washington Watkins Watson Weaver Webb Weber Welch Wells West Wheeler White
    Wilkins Williams Wilson Wolfe Wong Wood Woods Wright Wu Yang Yates York Young Zhang Zimmerman
""".split()
STREETS = """
    Alley Avenue Bend Branch Bridge Bypass Causeway Circle Corner Court Crossing Drive Falls Forge Garden Glen Grove
    Harbor Heights Hollow Junction Key Lake Lane Meadow Mission Mount Neck Oval Parkway Pass Pike Plaza Point Port
    Rapid Ridge River Road Row Shore Spring Square Station Stream Street Summit Terrace Trail Tunnel Turnpike Valley
    View Village Vista Walk Way
""".split()
STATES = "AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY".split()
TOWNS = "berg borough burgh bury chester fort furt haven land mouth port shire side stad town view ville".split()
DOMAINS = "gmail.com yahoo.com example.org mail.example.com example.co.uk corp.example.net acme-corp.example".split()
AGENTS = (
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:133.0) Gecko/20100101 Firefox/133.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148",
    "curl/8.11.0",
)
SENTENCES = (
    "The team went through the proposal on Monday and agreed on the next steps.",
    "Please find the updated contract attached, with the two clauses that we spoke about.",
    "The total of the invoice does not match the purchase order, and nobody knows why.",
    "Version 2.14.3 ships in March 2026 with 37 fixes and a new page of settings.",
    "The warehouse in Rotterdam received 4,200 units on 2025-11-03, order number 4500123987.",
    "The second batch took about forty minutes longer than planned, without any error.",
    "Could you say whether the new schedule suits everyone who has to work with it?",
    "Our office in London is closed on public holidays, but the support line in New York stays open.",
    "A refund of $1,249.00 has been approved by the finance department and should arrive within days.",
    "The button for the export is greyed out since the last release, as several customers reported.",
)
WORDS = (
    "about against another because before between certain citizen common consider course different during early "
    "economy enough evening every example family field figure follow friend general government happen heart history "
    "however important include increase interest large learn level listen machine material matter meeting member "
    "method minute moment nature never number office often order party pattern people perhaps period place policy "
    "possible power present problem process produce program question quickly reason receive record remain report "
    "result return several should simple social special specific stage standard street strong student support surface "
    "system table technology theory thought today together tonight traditional training treatment trouble understand"
).split()


class Person:
    """A made-up person and what is known about them."""

    def __init__(self, at: random.Random) -> None:
        self.first, self.last = at.choice(FIRST), at.choice(LAST)
        self.name = f"{self.first} {self.last}"
        self.email = f"{self.first}.{self.last}{at.randrange(1000)}@{at.choice(DOMAINS)}".lower()
        self.phone = phone(at)
        self.address = address(at)
        self.born = f"{at.randrange(1940, 2006)}-{at.randrange(1, 13):02}-{at.randrange(1, 29):02}"
        self.card = checked_card(at)
        self.iban = checked_iban(at)
        self.ssn = f"{at.randrange(101, 660)}-{at.randrange(10, 99)}-{at.randrange(1000, 9999)}"
        self.ip = f"{at.randrange(11, 223)}.{at.randrange(1, 255)}.{at.randrange(1, 255)}.{at.randrange(1, 255)}"


def phone(at: random.Random) -> str:
    parts = at.randrange(212, 989), at.randrange(220, 999), at.randrange(1000, 9999)
    return at.choice(("+1-{}-{}-{}", "({}) {}-{}", "{}-{}-{}", "+44 20 7{0} {2}")).format(*parts)


def address(at: random.Random) -> str:
    """On one line, as an export writes it; one in ten is a field post office."""
    if at.random() < 0.1:
        ships = f"USNS {at.choice(LAST)}, FPO", f"PSC {at.randrange(9999):04}, Box {at.randrange(9999):04}, APO"
        return f"{at.choice(ships)} {at.choice(('AA', 'AE', 'AP'))} {at.randrange(10000, 99999)}"
    unit = at.choice(("", "", f" Apt. {at.randrange(1000):03}", f" Suite {at.randrange(1000):03}"))
    street = f"{at.randrange(1, 99999)} {at.choice((at.choice(FIRST), at.choice(LAST)))} {at.choice(STREETS)}{unit}"
    before = at.choice(("", "", "New ", "North ", "East ", "Lake ", "Port ", "South "))
    return f"{street}, {before}{at.choice(FIRST)}{at.choice(TOWNS)}, {at.choice(STATES)} {at.randrange(10000, 99999)}"


def company(at: random.Random) -> str:
    one, two, three = at.sample(LAST, 3)
    return at.choice((f"{one} Ltd", f"{one} Group", f"{one}-{two}", f"{one}, {two} and {three}", f"{one} and Sons"))


def sentence(at: random.Random) -> str:
    return " ".join(at.sample(WORDS, at.randrange(5, 14))).capitalize() + "."


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
    sentences = [*at.choices(SENTENCES, k=at.randrange(4, 9)), *(sentence(at) for _ in range(at.randrange(3)))]
    at.shuffle(sentences)
    head, body = f"Subject: Re: ticket #{at.randrange(10**5)}", " ".join(sentences)
    if not personal:
        return f"{head}\n\nHello,\n\n{body}\n\nBest regards,\nthe support team\n\n---\n"
    person, other = Person(at), Person(at)
    more = at.choice(
        (
            f"You can reach me at {person.phone} or {person.email}.",
            f"My card {person.card} was charged twice.",
            f"My SSN for the form is {person.ssn}.",
            f"Please wire it to IBAN {person.iban}.",
            f"I moved to {person.address}.",
            f"{other.name} from {company(at)} will call you tomorrow.",
        )
    )
    return (
        f"From: {person.name} <{person.email}>\n{head}\n\nDear {other.first},\n\n{body} {more}\n\n"
        f"Best regards,\n{person.name}\n{person.phone}\n\n---\n"
    )


def row(at: random.Random, personal: bool) -> str:
    number = at.randrange(10**5)
    if not personal:
        item, state = at.choice(("blue widget", "steel bolt", "desk lamp")), at.choice(("shipped", "returned"))
        day = f"2025-{at.randrange(1, 13):02}-{at.randrange(1, 29):02}"
        return f"{number},SKU-{at.randrange(999)},{item},{at.randrange(500)},{at.random() * 900:.2f},{state},{day}\n"
    p = Person(at)
    card, state = p.card if at.random() < 0.3 else "", at.choice(("active", "trial", "churned"))
    head = f'{number},{p.first},{p.last},{p.email},{p.phone},"{p.address}",{p.born}'
    return f"{head},{card},{at.random() * 9000:.2f},{state}\n"


def record(at: random.Random, personal: bool) -> str:
    found: dict[str, object] = {
        "id": f"{at.getrandbits(32):08x}-{at.getrandbits(16):04x}-4{at.getrandbits(12):03x}-{at.getrandbits(48):012x}",
        "created_at": f"2025-11-{at.randrange(1, 29):02}T10:{at.randrange(60):02}:07.{at.randrange(1000):03}Z",
        "status": at.choice(("open", "closed", "merged")),
        "score": round(at.random() * 100, 4),
        "url": f"https://api.example.com/v2/items/{at.randrange(10**7)}?page=2",
        "sha": f"{at.getrandbits(160):040x}",
        "labels": at.sample(("bug", "docs", "feature", "infra"), 2),
        "title": at.choice(SENTENCES),
        "stats": {
            "additions": at.randrange(900),
            "deletions": at.randrange(900),
            "epoch": 1_700_000_000 + at.getrandbits(25),
        },
    }
    if personal:
        person = Person(at)
        found["user"] = {
            "login": f"{person.first[0]}{person.last}".lower(),
            "name": person.name,
            "email": person.email,
            "phone": person.phone if at.random() < 0.4 else None,
            "company": company(at),
        }
        if at.random() < 0.15:
            found["payment"] = {"card": person.card, "iban": person.iban}
    return json.dumps(found) + ", "


def line(at: random.Random, personal: bool) -> str:
    when = f"2025-11-{at.randrange(1, 29):02}T10:{at.randrange(60):02}:07.{at.randrange(10**6):06}Z"
    kind = at.random()
    if not personal or kind > 0.67:
        text = at.choice(("request handled", "cache miss for key", "retrying job", "gc pause", "pool stats"))
        where = at.choice(("OrderService", "CacheManager", "HttpHandler"))
        details = f"id={at.getrandbits(64):016x} took={at.randrange(999)}ms bytes={at.randrange(10**6)}"
        return f"{when} INFO [worker-{at.randrange(16)}] com.acme.svc.{where} - {text} {details}\n"
    person = Person(at)
    if kind > 0.65:
        token = f"eyJhbGciOiJIUzI1NiJ9.eyJ{at.getrandbits(160):040x}.{at.getrandbits(172):043x}"
        return f"{when} DEBUG [worker-3] http - Authorization: Bearer {token} peer=2001:db8::{at.getrandbits(16):x}\n"
    if kind > 0.5:
        session = f"session={at.getrandbits(128):032x}"
        return f"{when} INFO [worker-2] auth - login ok user={person.email} ip={person.ip} {session}\n"
    asked = f'"{at.choice(("GET", "POST"))} /api/v1/orders/{at.randrange(10**6)} HTTP/1.1" {at.choice((200, 200, 404))}'
    day, second = at.randrange(1, 29), at.randrange(60)
    return (
        f'{person.ip} - - [{day:02}/Nov/2025:21:42:{second:02} +0000] {asked} {at.randrange(10**5)} "-" '
        f'"{at.choice(AGENTS)}"\n'
    )


@cache
def modules() -> tuple[list[str], ...]:
    """The lines of each module of the standard library."""
    paths = sorted(Path(os.environ.get(SOURCES) or sysconfig.get_paths()["stdlib"]).glob("*.py"))
    return tuple(path.read_text(encoding="utf-8", errors="replace").split("\n") for path in paths)


_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
#: Lines of one module, of which one holds something made up.
_EXCERPT = 150


def code(at: random.Random, personal: bool) -> str:
    """Some lines of a module: without mail addresses, or with a secret, an address or an author among them."""
    module = at.choice(modules())
    start = at.randrange(max(len(module) - _EXCERPT, 1))
    lines = module[start : start + _EXCERPT]
    if not personal:
        return _MAIL.sub("nobody", "\n".join(lines)) + "\n"
    person = Person(at)
    secret = "".join(at.choices("abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789", k=36))
    found = (
        f"# TODO({person.email}): clean this up",
        f"AWS_KEY = 'AKIA{secret[:16].upper()}'",
        f"TOKEN = 'ghp_{secret}'",
        f"DB = 'postgres://admin:{secret[:12]}@{person.ip}/prod'",
        f"# Author: {person.name}",
    )
    lines.insert(at.randrange(len(lines)), at.choice(found))
    return "\n".join(lines) + "\n"


#: The parts of each kind of text, and what stands before all of them.
KINDS: dict[str, tuple[Callable[[random.Random, bool], str], str, str]] = {
    "prose": (prose, "", ""),
    "csv": (
        row,
        "id,first_name,last_name,email,phone,address,dob,card,balance,status\n",
        "id,sku,item,qty,price,state,date\n",
    ),
    "json": (record, '{"items": [', '{"items": ['),
    "logs": (line, "", ""),
    "code": (code, "", ""),
}


def text(kind: str, personal: bool, size: int, number: int = 0) -> str:
    """``size`` characters of a kind, others for another number; the last part is cut off, as most limits do."""
    part, with_personal, without = KINDS[kind]
    at = random.Random(f"{kind} {personal}{f' {number}' if number else ''}")
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
HOSTILE = (
    "a.", "1234-", "1.1.1.", "::1 ", "A", "-----BEGIN PRIVATE KEY-----\n", '{"a":', "<td>Email", "<dt born <",
    "| x | username |\n", "EMAIL X  Y\nz\n", "PHONE  ID\n", "ssn\n5\n",
    "insert into t (a,ssn) values (", "password: |\n x\n", "('pin',", "pin=['a',",
)  # fmt: skip
