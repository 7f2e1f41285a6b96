"""Who somebody is: names under a key, birth dates.  Names in free text are the recogniser's business."""

from __future__ import annotations

from cloakllm_gateway.detection.catalogue.checks import digits
from cloakllm_gateway.detection.catalogue.model import CONTEXT, Category, Pattern, example
from cloakllm_gateway.patterns import lazy

_NAME_WORD = r"[\"“”'(]?[^\W\d_](?:[^\W\d_]|['’ʼ.\u00ad\u0300-\u036f-]){0,40}[\"“”)]?"
#: ``inputSchema`` and ``getName`` are identifiers; McDonald, DeVito and O'Brien are not.
_CAMEL = lazy(r"[a-z]+[a-z][A-Z]")
_SURNAME_CAPITALS = lazy(r"(?:Mc|Mac|De|Di|Du|La|Le|Van|Von|Fitz|O'|D')[A-Z]")
#: What stands in a name field when nobody does.
NO_NAMES = frozenset(
    "null none nil n/a na unknown undefined anonymous string text name names value true false yes no test admin user "
    "default empty example sample placeholder tbd todo object array number integer boolean required optional email "
    "phone address id type title description data content result error main index all any other self system root "
    "first last full customer client person people guest everyone nobody various multiple deleted redacted "
    "hidden private public dr mr mrs ms male female str int bool float bytes dict list set tuple self cls func".split()
)


def plausible_name(text: str) -> bool:
    """Whether a field's value reads as a person's name and not as an identifier or a placeholder."""
    words = text.replace(",", " ").split()
    if not words or len(words) > 6 or text.strip().lower() in NO_NAMES or all(w.lower() in NO_NAMES for w in words):
        return False
    return not any(_CAMEL.match(word) and not _SURNAME_CAPITALS.match(word) for word in words)


def capitalised_name(text: str) -> bool:
    """Stricter, for a key called just ``name``: two words and more in any case, or one that begins as names do."""
    words = [word for word in text.replace(",", " ").split() if len(word) > 3] or text.split()
    if not plausible_name(text):
        return False
    several = 2 <= len(text.split()) <= 4 and all(word.isalpha() for word in text.replace(",", " ").split())
    return several or (all(not word[0].islower() for word in words) and not text.isupper())


def name_canonical(text: str) -> str:
    return " ".join(text.replace("\u00ad", "").split()).casefold()


_TITLE = r"(?:Mr|Mrs|Ms|Miss|Dr|Prof|Herr|Frau|Mme|Mlle|Sr|Sra|Señora?|Signora?|Sir|Madam|Dear)"
_CAP = r"[A-ZÀ-ÖØ-Þ][a-zà-öø-ÿ'’]{1,20}(?:-?[A-ZÀ-ÖØ-Þ][a-zà-öø-ÿ'’]{1,20})?"

PERSON = Category(
    "PERSON",
    examples=(
        example('{"first_name": "«Siobhán»", "id": 3}'),
        example('{"name": "«Tom O\'Brien»", "email": "tom@example.org"}'),
        example("customer_name=\"«Chiara Conti»\" total=3"),
        example('{"email": "x@example.org", "givenName": "«Nguyễn»"}'),
        example("Author: «Fatima Zahra» <fatima@example.ma>"),
    ),
    lookalikes=(
        '{"name": "Docker Hub", "version": "1.2.3"}',
        '{"file_name": "Report", "host_name": "Web"}',
        "def first_name(self): return name",
    ),
    patterns=(
        # The parts of a name in a vCard: family; given; additional; ...
        Pattern(
            rf"(?<![^\n\x1c])N(?:;[^:\n]{{0,40}})?:({_CAP}(?: {_CAP}){{0,3}};{_CAP}(?:[; ]{_CAP}){{0,3}})(?=[;\r\n])"
        ),
        # A display name before its address, as mail and git write it.
        Pattern(
            rf"(?<![\w.@/-])({_CAP}(?: (?:{_CAP}|[A-Z]\.|(?:van|von|de|den|der|da|dos|del|el|al|bin|zu|la|le)"
            rf"(?= ))){{1,4}})"
            r" <[A-Za-z0-9._+-]{1,64}@",
            lambda text: len(text) if plausible_name(text) else 0,
        ),
    ),
    keys=(
        "firstname", "lastname", "fullname", "surname", "givenname", "familyname", "middlename", "forename",
        "maidenname",
        "customername", "clientname", "contactname", "patientname", "employeename", "personname", "membername",
        "guestname", "studentname", "recipientname", "sendername", "accountholder", "cardholder", "cardholdername",
        "holdername", "ownername", "authorname", "adminname", "managername", "displayname", "legalname", "namefirst",
        "namelast", "realname", "passenger", "passengername", "beneficiary", "beneficiaryname", "doctorname",
        "applicant",
        "applicantname", "payee", "payeename", "nom", "prenom", "nomfamille", "nomcomplet",
        "vorname", "nachname", "familienname", "kundenname", "kunde", "vollername", "nombre", "apellido", "apellidos",
        "primernombre", "segundoapellido", "nombrecompleto", "nombrecliente", "cognome", "nomecompleto", "nomecliente",
        "sobrenome", "apelido", "nomeproprio", "voornaam", "achternaam", "klantnaam", "imie", "nazwisko",
        "imienazwisko",
        "fn", "attendees", "patient", "cardname", "nameoncard", "reportedby", "assignedto", "signedby", "employee",
    ),
    shape=rf"{_NAME_WORD}(?:[ ,]{{1,2}}{_NAME_WORD}){{0,5}}",
    plausible=plausible_name,
    canonical=name_canonical,
)  # fmt: skip

_MONTH = (
    r"(?:Jan(?:uary|uar)?|Feb(?:ruary|ruar)?|Mar(?:ch)?|März|Apr(?:il)?|May|Mai|June?|Juni|July?|Juli|Aug(?:ust)?|"
    r"Sept?(?:ember)?|Oct(?:ober)?|Okt(?:ober)?|Nov(?:ember)?|De[cz](?:ember)?)"
)
_DATE = (
    r"(?:(?:19|20)\d\d[-./ ]?(?:0?[1-9]|1[0-2])[-./ ]?(?:3[01]|[12]\d|0?[1-9])|"
    r"(?:3[01]|[12]\d|0?[1-9])[-./ ](?:3[01]|[12]\d|0?[1-9])[-./ ](?:(?:19|20)\d\d|\d\d)|"
    rf"\d{{1,2}}(?:st|nd|rd|th|\.)? (?i:{_MONTH})\.?,? (?:19|20)\d\d|(?i:{_MONTH})\.? \d{{1,2}}(?:st|nd|rd"
    rf"|th)?,? (?:19|20)\d\d)"
)

DATE_OF_BIRTH = Category(
    "DATE_OF_BIRTH",
    examples=(
        example("DOB «1984-07-03», policy start 2026-07-03"),
        example("born on «3 July 1984»; deployed on 3 July 2026"),
        example('{"dob": "«1990-02-14»"}'),
        example("Date of birth: «14/02/1990»"),
        example("geboren am «3. Juli 1984»"),
    ),
    lookalikes=("due 2026-03-01 14:05Z",
                '{"created": "2026-03-01", "birthday_reminder": true}', "newborn 2026-01-01 unit"),
    patterns=(
        Pattern(
            r"(?<![A-Za-z])(?i:d\.?o\.?b\.?|date of birth|birth ?date|birthday|born(?: on)?|geb(?:oren|urtsdatum|\.)|"
            r"n[ée]e? le|date de naissance|fecha de nacimiento|nacid[oa] el|nat[oa] il|data di nascita"
            r"|data de nascimento|"
            rf"geboortedatum|data urodzenia|ur\.)(?![A-Za-z])[^\w\n]{{0,6}}(?:(?:is|was|am|on|the|le|el|il"
            rf"|:) ){{0,2}}({_DATE})(?![\d])",
            rank=CONTEXT,
        ),
    ),
    keys=(
        "dob", "dateofbirth", "birthdate", "birthday", "birthdt", "bday", "geburtsdatum", "geburtstag", "datenaissance",
        "datedenaissance", "fechanacimiento", "fechadenacimiento", "datanascita", "datadinascita", "datanascimento",
        "datadenascimento", "geboortedatum", "dataurodzenia", "born",
    ),
    shape=rf"{_DATE}(?:T00:00:00(?:\.0{{1,6}})?Z?)?| ?\d{{8}}",
    canonical=lambda text: digits(text) if text.strip()[:4].isdigit() else text.strip().casefold(),
    sensitive=True,
)  # fmt: skip
