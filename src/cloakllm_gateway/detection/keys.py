"""Which field names prove which category."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache, lru_cache

from cloakllm_gateway import linear
from cloakllm_gateway.detection.catalogue import CATALOGUE
from cloakllm_gateway.detection.catalogue.identity import NATIONAL, NUMBERED
from cloakllm_gateway.detection.deriving import without
from cloakllm_gateway.detection.foreign_keys import KEYS, NAMES, OWNERS, SHORT
from cloakllm_gateway.patterns import lazy

#: Categories whose presence says that a record is about a person.
PERSONAL = frozenset(
    ("EMAIL", "PHONE", "ADDRESS", "PERSON", "DATE_OF_BIRTH", "SSN", "CREDIT_CARD", "IBAN",
     *(category.name for category in (*NATIONAL, *NUMBERED)))
)  # fmt: skip
#: Those whose column says enough for a table that is not about people.
TELLING = frozenset(
    ("SECRET", "API_KEY", "USERNAME", "BANK_ACCOUNT", "BIC", "CARD_CODE", "WALLET", "MAC_ADDRESS", "IMEI")
)
#: Those whose values are secrets.
SECRETS = frozenset(("SECRET", "API_KEY"))
#: What :func:`classify` answers for a key called just ``name``: proof only beside a personal sibling.
NAME = "name"
#: ... and for one called just ``number``: it may be that of a card, and a card's number proves itself.
NUMBER = "number"
NUMBERS = "number|num|no|nr|numero|nummer"
_BARE_NUMBERS = frozenset(NUMBERS.split("|"))
#: Who somebody is to somebody: keys of names in a record about a person.
_ROLES = (
    "spouse tenant landlord buyer seller consignee borrower guarantor claimant defendant plaintiff witness doctor "
    "physician nurse teacher supervisor signatory signer insured traveller traveler candidate empfanger absender "
    "versicherter versicherungsnehmer patientin mitarbeiter mitarbeiterin mieter vermieter ehepartner "
    "sachbearbeiter arzt hausarzt bewerber antragsteller kaufer verkaufer destinataire expediteur assure employe "
    "salarie beneficiaire conjoint medecin locataire proprietaire destinatario remitente asegurado empleado "
    "trabajador paciente conyuge beneficiario medico inquilino solicitante mittente assicurato dipendente "
    "paziente coniuge richiedente nominativo titolare remetente segurado funcionario conjuge requerente ontvanger "
    "afzender noodcontact verzekerde werknemer medewerker huisarts odbiorca nadawca ubezpieczony pracownik "
    "malzonek lekarz wnioskodawca"
)
#: Keys that mean a person's name in a record about a person, and anything else elsewhere.
_BARE_NAMES = frozenset(
    "name names nombre nome nom naam imie fn first last full first_name login label owner author contact "
    "customer client fname "
    "recipientname sender receiver member guest student who kunde titular namen person nickname cn sn gn "
    f"registrantname {_ROLES}".split()
) - {"first_name", "label", "login"}

#: Words that say which of several fields it is, and nothing about its kind.
_QUALIFIERS = frozenset(
    "number numbers num no nr home work mobile primary secondary main alt alternate business personal private "
    "office raw value formatted "
    "masked full last4 line1 line2 normalized".split()
)
#: Short keys that are an everyday word or abbreviation elsewhere: only as the whole key.
_SHORT = frozenset(
    "cf pin via rc sin ein cell card fn pan cc nom rut nit inn ci cin born plate user login pass session token cookie "
    "secret key routing account posta clave parola portable imie rua rue mac wallet swift dl via calle nie nif nir cpf "
    "egn pib emso utr ird tfn rfc tin nid vin nip cedula patient passenger applicant beneficiary employee recipient "
    "residence credential credentials authorization kunde serial payee medicare insee matricule mdp otp dsn cvv cif "
    "dic afm rg mbi nuss rib nib nrb ccc cbu cuenta kto dln titulaire urodzony urodzona naissance nacimiento nascita "
    "nascimento geboren birth compleanno cumpleanos verjaardag urodziny ddn acct vrm nss contribuinte pec poczta "
    "insurancepolicy puk geb nacido nacida nac nee nato nata natoa nascido nascida nasc ur urodz".split()
) - {"user", "pass", "token", "secret", "key", "cvv", "card", "plate", "credentials", "session", "credential", "vin"}


#: Words between those of a key that say nothing: ``numéro de sécurité sociale``, ``titular de la cuenta``.
_CONNECTING = frozenset("de del du des d do da dos das di della dello la le les el l van het der".split())
#: How ``number`` is written, before what is counted and behind it.
_NUMBERS_BEFORE, _NUMBERS_BEHIND = ("numero", "numer", "nummer"), ("nummer", "number")
_NUMBER_SIGNS = frozenset("n no nr num number".split()).union(_NUMBERS_BEFORE)


#: Letters that are no others with an accent.
_LETTERS = str.maketrans(
    {"ß": "ss", "ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "æ": "ae", "Æ": "Ae", "œ": "oe", "đ": "d", "Đ": "D", "ı": "i",
     "ð": "d", "Ð": "D", "þ": "th", "Þ": "Th"}
)  # fmt: skip
#: Accents of Latin, Greek and Cyrillic letters; those of other scripts tell letters apart.
_ACCENTS = re.compile(r"[\u0300-\u036f]+")
#: A word of a key; what is not ASCII counts, but for punctuation.
_WORD = re.compile(r"[a-z]+|[0-9]+|[^\x00-\xbf\u2000-\u2bff\u3000-\u3004\u3006-\u303f\u30fb]+")


def normalise(key: str) -> tuple[str, ...]:
    """The words of a key, lower case, accents off: ``customerE-Mail`` gives customer, e, mail.

    Scripts other than Latin stay what they are: ``Отчество 2`` gives отчество, 2, with и for й.
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", key)
    return tuple(_WORD.findall(_plain(spaced)))


def _plain(text: str) -> str:
    """A text in lower case, accents off."""
    if not text.isascii():
        bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", text.translate(_LETTERS)))
        text = unicodedata.normalize("NFC", bare)
    return text.lower()


def _normalised(keys: str) -> list[str]:
    """Keys divided by commas, each as :func:`classify` looks it up."""
    return ["".join(_WORD.findall(key)) for key in _plain(keys).split(",")]


def _by_foreign_key() -> Iterator[tuple[str, str]]:
    """The keys of all languages with their categories, normalised in one go: there are hundreds."""
    lists = [(category, keys) for language in KEYS.values() for category, keys in language.items()]
    categories = [category for category, keys in lists for _ in keys.split(",")]
    return zip(_normalised(",".join(keys for _, keys in lists)), categories, strict=True)


_BY_KEY: dict[str, str] = {key: name for name, category in CATALOGUE.items() for key in category.keys}
_BY_KEY.update(_by_foreign_key())
_FOREIGN_NAMES = frozenset(_normalised(NAMES))
_FOREIGN_OWNERS = frozenset(_normalised(OWNERS))
#: What counts only as the whole key.
_WHOLE = _SHORT.union(_normalised(SHORT))


@lru_cache(maxsize=8192)
def classify(key: str) -> str:
    """The category a key proves, :data:`NAME`, or "" for none.

    A bare ``number`` answers :data:`NUMBER`.  The whole key decides first, then its words without those
    that only connect them, then its last words, then the same without qualifiers at its end:
    ``nombre del paciente``, ``customer_email``, ``phone 1``, ``mobile (work)``; and at last without a
    remark in parentheses: ``Birth Date (MM/DD/YYYY)``.
    """
    if len(key) > 64:
        return ""
    return _classified(key) or _classified(without_remark(key))


def without_remark(key: str) -> str:
    """A key less what stands in parentheses at its end."""
    return key.rpartition("(")[0] if key.endswith(")") else ""


def _classified(key: str) -> str:
    words = normalise(key)
    if len(words) == 1 and words[0] in _BARE_NUMBERS:
        return NUMBER
    while words:
        joined = "".join(words)
        if joined in _BY_KEY:
            return _BY_KEY[joined]
        if joined in _BARE_NAMES or joined in _FOREIGN_NAMES:
            return NAME
        for other in _others(words):
            if other in _BY_KEY and other not in _WHOLE:
                return _BY_KEY[other]
        for i in range(1, len(words)):
            tail = "".join(words[i:])
            if tail in _BY_KEY and tail not in _WHOLE and len(tail) > 1:
                return _BY_KEY[tail]
        if words[-1].isdigit() or words[-1] in _QUALIFIERS or words[-1] in _FOREIGN_OWNERS:
            words = words[:-1]
        else:
            return ""
    return ""


def _others(words: Sequence[str]) -> Iterator[str]:
    """What else a key may be called: without the words that only connect, and with ``number`` written out."""
    bare = [word for word in words if word not in _CONNECTING]
    if len(bare) < len(words):
        yield "".join(bare)
    if len(bare) > 1 and bare[0] in _NUMBER_SIGNS:
        yield from (number + "".join(bare[1:]) for number in _NUMBERS_BEFORE)
    if len(bare) > 1 and bare[-1] in _NUMBER_SIGNS:
        yield from ("".join(bare[:-1]) + number for number in _NUMBERS_BEHIND)


def is_phrase(text: str) -> bool:
    """Whether a text is a key that proves something, in more than one word: nobody is called so."""
    words = normalise(text)
    return len(words) > 1 and "".join(words) in _BY_KEY


# -- where keys are -------------------------------------------------------------------------------

#: Disjoint ``(start, stop)`` of a text, in order: where to look.
Parts = Sequence[tuple[int, int]]


def places(text: str, screen: bytes, parts: Parts) -> list[int]:
    """Where a mark (``:``, ``=``, ``>``) may end a key that proves something by itself, in order.

    One that proves something with keys of its object counts as well, there the mark is the brace.

    The row behind ``VALUES`` counts as well, where SQL has named its columns.  Keys that are not ASCII are looked
    for everywhere, the others in ``parts``.  ``screen`` has a byte for each character of the text.
    """
    found = _ends(_marks(), screen, parts) if parts else []
    if not text.isascii():
        foreign = {
            mark.end() - 1
            for start, end in linear.foreign(screen)
            for mark in _FOREIGN_MARK.finditer(text, start, end + _LONGEST_GAP)
        }
        found = sorted(foreign.union(found)) if foreign else found
    return found


def name_places(screen: bytes) -> list[int]:
    """The same for the keys that prove something only beside one of :func:`places`; code is full of them."""
    return _ends(_name_marks(), screen, [(0, len(screen))])


def heads(text: str, screen: bytes, parts: Parts) -> list[int]:
    """Places, in order and one on each line, where the head of a column about a person or an account may end."""
    found = _ends(_heads(), screen, parts, by_line=True) if parts else []
    if not text.isascii():
        foreign = {
            line.start() for start, end in linear.foreign(screen) for line in _FOREIGN_LINE.finditer(text, start, end)
        }
        found = sorted(foreign.union(found)) if foreign else found
    return found


def _ends(search: linear.Search, screen: bytes, parts: Parts, by_line: bool = False) -> list[int]:
    """Where matches end, on their last character, which the next one may begin with; only the first of each line."""
    found: list[int] = []
    at = 0
    in_order = True
    for start, stop in parts:
        if start > at:
            at = start
        while (match := search(screen, at, stop)[0])[1] > 0:
            start, at = match[0], match[1] - 1
            found.append(at)
            if by_line:
                if (at := screen.find(b"\n", at)) < 0:
                    return found
            elif (inner := screen.find(b"=", start, at - 1)) >= 0:
                at = screen.find(b" ", start, inner) + 1 or at  # attributes of an element have marks of their own
                in_order = False
            if at >= stop:
                break
    return found if in_order else sorted({*found})


_FOREIGN_MARK = lazy(r"[^\x00-\x7f：][^\x80-\U0010ffff\n:：=>]{0,32}[:：=>]")
#: What follows the last character of a stretch in a match of it; the next one is further away.
_LONGEST_GAP = 33
_FOREIGN_LINE = lazy(r"[^\x00-\x7f\n][^\n]*")
#: What may stand between the words of a key, or between any two of its letters: ``first_name``, ``D.O.B.``.
_SEPARATORS = " _.-"
_DIVIDED = f"[{_SEPARATORS}]?"
#: ... and between initials: ``D. O. B.``.
_INITIALS, _MOST_INITIALS = f"[{_SEPARATORS}]{{0,2}}", 4
#: What :func:`joined_signs` does without.
LEFT_OUT = f"{_SEPARATORS}0123456789"
#: First words of keys that others may connect with the rest, and what stands between the two then.
_HEADS = ("numero", "nombre", "nome", "nom", "titulaire", "titular", "naam")
_CONNECTED = "(?:[ _.-]?(?:d(?:e|el|u|o|a|i|ella)|van)(?:[ _.-](?:la|de|het))?[ _.-])?" + _DIVIDED
_QUALIFIED = "|".join(sorted(_QUALIFIERS))


#: What a cell may have around its text, and what ends it.
_BLANK = "[ \"'*`_.()#-]*"
_NEXT_CELL, _APART = "[,;|\t\r\n]", "(?:[ ][ ]|[._]{3})"
_STANDS_APART = f"(?i:[a-z0-9)]){_BLANK}{_APART}"

#: What a pair calls its key, and its value: ``{"name": "ssn", "value": ...}``.
LABELS = (
    "name|key|field|fieldname|label|attribute|property|parameter|param|header|column|question|title|system|type|path|id"
)
VALUES = "value|val|answer|response|newvalue|oldvalue|stringvalue"
#: What says of what a number is: ``{"type": "passport", "number": ...}``.
TYPES = "type|kind|idtype|id_type|documenttype|document_type|identifiertype|identifier_type"
#: What SQL has between a column and a value in quotes, beside ``=``; all of it ends a key.
COMPARING = r"i?like|in|between|rlike|regexp|similar to|is (?:not )?distinct from|<>|!=|[<>]=?|!?~~?[*]?"
#: What shows that a text may hold pairs.
PAIR = rf"(?i:[\"'](?:{VALUES}|{NUMBERS})[\"'])\s*:"
#: What shows that it may hold lists under a list of their columns.
LISTS = r"\[\s*\["


def signs() -> dict[str, str]:
    """What shows that a text has pairs and lists in a list, and columns that stand apart, for the gate."""
    return {"head": _STANDS_APART, "pair": PAIR, "lists": LISTS}


def joined_signs() -> dict[str, str]:
    """The same of :func:`places` and of all other :func:`heads`, in a text less :data:`LEFT_OUT`.

    Separators may stand between any two letters of a key, and an automaton that foresees it has ten times the
    states.  Digits are a third of many texts, and tell little of a key.
    """
    return {
        sign: without(expression, LEFT_OUT)
        for sign, expression in (("mark", f"(?i:{_mark()})"), ("head", f"(?i:{_head(_NEXT_CELL)})"))
    }


@cache
def _mark() -> str:
    row = r"values[^a-z0-9(]{0,8}(?:[(]\s{0,8}[^)\s]|--|/[*])|[)]\s{1,8}select\s|from\s{1,8}stdin"
    owned = r"(?:account|tax|insurance|policy|licen[cs]e|identity)[\"'][ ]?:\s{0,8}[{]"
    return f"{_marked(_any_of(_BY_KEY, _divided_before_a_name))}|{row}|{owned}"


@cache
def _head(end: str) -> str:
    """A cell that ends with a telling key and what may qualify it, or that is no more than a word for a number."""
    telling = _any_of({key for key, kind in _BY_KEY.items() if kind in PERSONAL or kind in TELLING}, _connected)
    numbers = "|".join(sorted(_BARE_NUMBERS))
    remark = r"(?:[(][^()\n,;|\t]*[)])?"
    return (
        rf"(?:(?:{telling})(?:{_BLANK}(?:{_QUALIFIED}|[0-9]+))*{_BLANK}{remark}|(?:^|[^a-z0-9])(?:{numbers}))"
        f"{_BLANK}{end}"
    )


@cache
def _marks() -> linear.Search:
    return linear.compiled(_mark(), memory=64 << 20, any_case=True)


@cache
def _name_marks() -> linear.Search:
    return linear.compiled(
        _marked(_any_of(_BARE_NAMES | _FOREIGN_NAMES, _DIVIDED.join)), memory=64 << 20, any_case=True
    )


@cache
def _heads() -> linear.Search:
    return linear.compiled(_head(f"(?:{_NEXT_CELL}|{_APART})"), memory=64 << 20, any_case=True)


def _marked(keys: str) -> str:
    """A key, what may qualify it, and a mark."""
    qualified = f"(?:[ _.-]{{0,2}}[(]?(?:{_QUALIFIED}|[0-9]{{1,4}})[)]?)*?"
    # vCard puts parameters between a key and its colon, XML attributes between a key and the end of its tag.
    between = r"(?:;[A-Za-z0-9=,;\"-]{0,60}?)?"
    tag = r"[\"']? [a-z:]+=[^<>\n]{0,200}?>"
    # A head of HTML may be marked, and its closing tag may be missing.
    cell = r"\s{0,8}(?:</[a-z]{1,8}>){0,2}\s{0,8}</?(?:t[hdr]|d[td]|key)>"
    compared = rf"[ ](?:not )?(?:{COMPARING})[ ]?[(]?[ ]?n?'"
    blanks = r"(?:[ \"'*_`).#\]\t]{0,5}?|[ ]{6,24}|[.]{6,60}[ ]?)"
    return rf"(?:{keys}){qualified}s?{between}{blanks}(?::=|=>|[:=>]|[\"'],|{compared}|{cell}|{tag})"


def _any_of(keys: Collection[str], divided: Callable[[str], str]) -> str:
    """An expression for the keys; one that counts only as a whole must not end another word."""
    whole = _WHOLE | _BARE_NUMBERS | _FOREIGN_NAMES
    ends = {key for key in keys if key.isascii() and key not in whole}
    # Half of the keys end with another one, which finds them as well.
    ends = {key for key in ends if not any(key[at:] in ends for at in range(1, len(key)))}
    last = "|".join(divided(key) for key in sorted(ends))
    alone = "|".join(divided(key) for key in sorted(keys) if key.isascii() and key in whole)
    return f"(?:{last})|(?:^|[^a-z0-9])(?:{alone})"


def _divided_before_a_name(key: str) -> str:
    """``first / name`` is a key as ``first_name`` is: what stands between them does not hide that of a person."""
    if len(key) <= _MOST_INITIALS:
        return _connected(key)
    name = next((name for name in sorted(_BARE_NAMES) if key.endswith(name) and key != name), "")
    return _connected(key.removesuffix(name)) + "[^a-z0-9\\n:=>]*?" * bool(name) + _DIVIDED.join(name)


def _connected(key: str) -> str:
    """A key as text has it: ``nombre del paciente`` for ``nombrepaciente``."""
    if len(key) <= _MOST_INITIALS:
        return _INITIALS.join(key)
    head = next((head for head in _HEADS if key.startswith(head) and key != head), "")
    return _DIVIDED.join(head) + _CONNECTED * bool(head) + _DIVIDED.join(key.removeprefix(head))
