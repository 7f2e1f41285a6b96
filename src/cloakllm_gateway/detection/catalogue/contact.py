"""How to reach somebody: mail, telephone, street, user name."""

from __future__ import annotations

import re

from cloakllm_gateway.detection.catalogue import checks
from cloakllm_gateway.detection.catalogue.checks import whole
from cloakllm_gateway.detection.catalogue.model import CONTEXT, RECORD, SHAPED, Category, Pattern, example

#: Letters of the scripts that mailboxes and domains are written in, punctuation and symbols left out.
_LETTERS = (
    "\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02af\u0370-\u1fff\u2c00-\u2dff\u3040-\u30ff\u3400-\u9fff"
    "\uac00-\ud7a3\uf900-\ufaff"
)
_WORD = f"A-Za-z0-9{_LETTERS}"
_LABEL = f"[{_WORD}](?:[{_WORD}_-]{{0,62}})"
_AT = r"(?:\[at\]|\(at\)|\{at\}| at |\[@\]|\(@\))"
_DOT = r"(?:\[dot\]|\(dot\)|\{dot\}| dot |\[\.\]|\(\.\)|\.)"


def _spelled_out(text: str) -> int:
    """``jane (at) example (dot) org``: whoever hides an address from robots, or writes `` at `` and `` dot ``."""
    written = email_canonical(text)
    if " at " in text and " dot " not in text:
        return 0
    known = written.rpartition(".")[2] in _SPOKEN_DOMAINS
    return len(text) if known and checks.email(written) == len(written) else 0


#: Top-level domains that people spell out; any word may follow ``dot`` in prose.
_SPOKEN_DOMAINS = frozenset(
    "com org net edu gov mil int info biz io dev app me co ai tech cloud example eu uk de fr es it pt nl be pl "
    "ch at se no dk "
    "fi cz ie ru ua br mx ar in cn jp kr au nz ca us za".split()
)


def email_canonical(text: str) -> str:
    text = (
        re.sub(r"\s*[\[({]?\s*(?<![a-z])at(?![a-z])\s*[\])}]?\s*", "@", text.strip(), flags=re.I)
        if "@" not in text
        else text
    )
    text = re.sub(r"\s*[\[({]\s*(?:dot|\.)\s*[\])}]\s*|\s+dot\s+", ".", text, flags=re.I)
    return re.sub(r"[\[({]@[\])}]", "@", text).casefold()


EMAIL = Category(
    "EMAIL",
    examples=(
        example("write to «kim@example.com»."),
        example("<«first.last+tag@sub.example.co.uk»>"),
        example("«jürgen@müller.example» oder"),
        example("{'mail': '«o'hara@example.ie»'}"),
        example("Contact: «jane[at]example[dot]org»"),
        example("reach me: «jane dot doe at example dot com»"),
    ),
    lookalikes=(
        "git clone git@github.com:org/repo.git",
        "npm i lodash@4.17.21 @types/node@20.1.0",
        '@app.route("/x") @property',
        "docker pull redis@sha256:0f0e0d",
        "icon@2x.png",
        "look at example dot notation",
    ),
    patterns=(
        Pattern(
            rf"(?<![{_WORD}._+-])[{_WORD}_](?:[{_WORD}._+'&*~^-]{{0,255}})@{_LABEL}(?:\.{_LABEL}){{1,8}}",
            checks.email,
        ),
        Pattern(
            rf"(?<![A-Za-z0-9._-])[A-Za-z0-9](?:[A-Za-z0-9_+-]{{0,63}})(?:{_DOT}[A-Za-z0-9_+-]{{1,63}}){{0,3}}"
            rf"(?i:{_AT})[A-Za-z0-9-]{{1,63}}(?:(?i:{_DOT})[A-Za-z0-9-]{{2,63}}){{1,3}}",
            _spelled_out,
            rank=SHAPED - 10,
        ),
        Pattern(
            r"(?<![A-Za-z0-9*._-])[A-Za-z0-9](?:[A-Za-z0-9._*-]{0,63})\*@[A-Za-z0-9*-]{1,63}(?:\."
            r"[A-Za-z0-9-]{2,63}){1,3}",
            rank=SHAPED - 10,
        ),
    ),
    keys=(
        "email", "mail", "emailaddress", "mailaddress", "emails", "workemail", "useremail", "contactemail", "emailid",
        "correo", "correoelectronico", "courriel", "adressemail", "adressecourriel", "emailadresse", "mailadresse",
        "epost", "epostadres", "mailadres", "emailadres", "posta", "indirizzoemail", "adresemail", "recipient",
    ),
    shape=r"[^\s@<>\"\\/`$|;]{1,128}@[^\s@<>\"\\/`$|;]{1,255}",
    canonical=email_canonical,
)  # fmt: skip

_SEP = r"[ .()/-]{0,3}"
_PHONE_WORDS = (
    r"(?:\b(?:tele?(?:phone|fon|fono|fone|foon|fax)?|phone|fax|mobile?|mobil|mob|cell(?:phone|ular)?|handy"
    r"|rufnummer|call|"
    r"called|calling|dial|ring|text|sms|whatsapp|hotline|landline|reach|contact|t[eé]l[eé]phone|portable|m[oó]vil|"
    r"cellulare|telem[oó]vel|kom[oó]rka|numer|number is|numero|b[uü]ro|durchwahl|gsm|tlf|puh|contatto"
    r"|answering at|messages? to|desk|registered|(?:home|work|office)(?=:))\b"
    r"|t[eé]l\b|電話|携帯|连络|電話番号|联系电话|手机|연락처"
    r"|전화|тел|☎)"
)

PHONE = Category(
    "PHONE",
    examples=(
        example("call «+44 20 7946 0123» today"),
        example("«(415) 555-0134»"),
        example("or «415-555-0134»,"),
        example("«+1 (415) 555-0134»"),
        example("Tel. «0151 23456789» ab 9 Uhr"),
        example("Büro: «089/123456-0» oder"),
        example("«+43 664 1234567»"),
    ),
    lookalikes=(
        "ts 1747731005 ms 1767225600009 serial 2026010101 ttl 604800",
        "52.5702100309281,-8.6267 and 0.250750683890174",
        "LinkedAccountId: 215805592",
        "2026-11-29 20:27:12, 29/11/2026, 11-29-2026",
        "Tolerance 555-1234 mm; ratio 0151/234; IDs 2026-11-29-0001",
        "margin:10px 20px 30px 40px",
        "2026-03-01T14:05:00+02:00",
    ),
    patterns=(
        Pattern(
            rf"(?<![A-Za-z0-9+])(?:\+|(?<!\d )00)[ (]?[1-9](?:{_SEP}\d){{6,14}}(?![A-Za-z0-9]|[.-]\d)",
            whole(checks.e164),
        ),
        Pattern(
            r"(?<![A-Za-z0-9+./)-])(?:1[ .-])?\([2-9]\d\d\) ?[2-9]\d\d[ .-]?\d{4}(?![A-Za-z0-9]|[.-]\d)"
            r"(?: {0,2}(?:x|ext\.?) ?\d{1,5})?",
            whole(lambda text: checks.nanp(re.split("x|ext", text)[0])),
        ),
        Pattern(
            r"(?<![A-Za-z0-9+./#-])(?:1[.-])?[2-9]\d\d(?:-[2-9]\d\d-|\.[2-9]\d\d\.)\d{4}(?![A-Za-z0-9]|[./-]\d)"
            r"(?:x\d{1,5})?",
            whole(lambda text: checks.nanp(text.split("x")[0])),
        ),
        Pattern(
            rf"(?i:{_PHONE_WORDS})[^\d\n+(]{{0,20}}\n?[ ]{{0,4}}([(+]?\d(?:{_SEP}\d){{6,14}})(?![A-Za-z0-9]|[.:-]\d)",
            whole(checks.dialled),
            rank=CONTEXT,
        ),
        Pattern(
            rf"(?<![A-Za-z0-9+./_:#-])\(?[01](?:{_SEP}\d){{6,12}}(?![A-Za-z0-9]|[./:-]\d)", rank=CONTEXT, regional=True
        ),
        Pattern(
            r"(?<![A-Za-z0-9+./_:#-])[2-9]\d{1,4}(?:[ -]\d{2,5}){1,4}(?![A-Za-z0-9]|[./:-]\d)",
            rank=CONTEXT,
            regional=True,
        ),
    ),
    keys=(
        "phone", "phonenumber", "telephone", "tel", "telephonenumber", "mobile", "mobilephone", "mobilenumber", "cell",
        "cellphone", "cellnumber", "fax", "faxnumber", "whatsapp", "contactnumber", "telefon", "telefonnummer",
        "rufnummer", "handy", "handynummer", "mobilnummer", "telefono", "movil", "celular", "cellulare", "telefone",
        "telemovel", "portable", "telefoon", "telefoonnummer", "mobiel", "komorka", "numertelefonu", "msisdn",
        "phones", "homephone", "workphone", "mobil", "gsm",
    ),
    shape=r"[+(]{0,2}\d(?:[ .()/\u00a0\u202f-]{0,3}\d){5,18}(?: {0,2}(?:x|ext\.?|#) ?\d{1,6})?",
    canonical=checks.phone_canonical,
)  # fmt: skip

_STREET = (
    r"(?:Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Square|Sq|Terrace|Ter|Place|Pl|Way|"
    r"Circle|Cir|Highway|Hwy|Parkway|Pkwy|Trail|Close|Crescent|Gardens|Grove|Hill|Mews|Row)"
)
_TAIL = (
    r"(?:,? (?:Apt|Apartment|Suite|Ste|Unit|Floor|Fl|Room|#)\.? ?[A-Za-z0-9-]{1,8})?"
    r"(?:,? [A-Z][A-Za-z.' -]{1,30},? [A-Z]{2} \d{5}(?:-\d{4})?)?"
)

ADDRESS = Category(
    "ADDRESS",
    examples=(
        example("ship to «2491 Elm Dr, Greenville, CO 78452»"),
        example("I live at «69 Gordon Terrace» now"),
        example('{"email": "kim@example.org", "street": "«12 bis, rue de la République»"}'),
    ),
    lookalikes=(
        "there are 20 Good Way to do it",
        '{"address": "0x7ffe0000"}',
        '{"address": "10.0.0.0/8", "bind_address": "tcp://*:5555"}',
        "2 Place holders, 404 Not Found",
    ),
    patterns=(
        Pattern(
            rf"(?<![A-Za-z0-9.,:/-])\d{{1,5}}[A-Za-z]? (?:[NSEW]\.? )?(?:[A-Z]"
            rf"[a-z']{{2,20}} ){{1,3}}{_STREET}\b\.?{_TAIL}"
            r"(?! (?:to|of)\b)",
            rank=RECORD,
        ),
        Pattern(
            r"(?<![A-Za-z0-9])\d{1,4}(?: (?:bis|ter))?,? (?:rue|avenue|boulevard|place|chemin|impasse|allée|quai) "
            r"(?:(?:de|du|des|la|le|les|l'|d') ?){0,3}[A-ZÀ-Ý][A-Za-zÀ-ÿ'-]{1,30}"
            r"(?: [A-ZÀ-Ý][A-Za-zÀ-ÿ'-]{1,30}){0,3}"
            r"(?:, \d{5} [A-ZÀ-Ý][A-Za-zÀ-ÿ'-]{1,30})?",
            rank=RECORD,
        ),
        Pattern(
            r"(?<![A-Za-z])(?:[A-ZÄÖÜ][a-zäöüß]{2,20}(?:straße|strasse|str\.|weg|platz|allee|gasse)|[A-Z]"
            r"[a-z]{2,20}(?:straat|laan|weg|gade|gatan|vej))"
            r" \d{1,4} ?[a-z]?\b(?:, \d{4,5} [A-ZÄÖÜ][a-zäöüß]{2,30})?",
            rank=RECORD,
        ),
        Pattern(
            r"(?<![A-Za-z])P\.? ?O\.? ?Box \d{1,6}(?:, [A-Z][A-Za-z]{2,30})?(?: \d{4,6})?",
            rank=RECORD,
        ),
    ),
    keys=(
        "address", "street", "streetaddress", "postaladdress", "homeaddress", "mailingaddress", "billingaddress",
        "shippingaddress", "addressline", "adresse", "anschrift", "strasse", "strase", "rue", "direccion", "calle",
        "indirizzo", "via", "endereco", "rua", "morada", "adres", "straat", "ulica", "residence", "deliveryaddress",
    ),
    shape=r"(?=.*\d)(?=.*[^\W\d_])(?!\w+://)(?!0x)(?!.*@)[^\x00-\x09\x0b-\x1f<>{}\[\]$`|=\\]{6,200}",
    plausible=lambda text: " " in text.strip() or "," in text,
    canonical=lambda text: " ".join(text.replace(",", " ").split()).casefold(),
    keyed_rank=RECORD,
)  # fmt: skip

#: Accounts that belong to a machine and not to a person.
SYSTEM_USERS = frozenset(
    "root admin administrator user users username runner ubuntu debian node app www www-data nobody daemon "
    "system public "
    "default shared guest test vscode jovyan postgres mysql nginx git jenkins circleci travis ec2-user docker "
    "linuxbrew "
    "anonymous none null true false string unknown all any your-username youruser yourname example".split()
)

USERNAME = Category(
    "USERNAME",
    examples=(
        example('{"username": "«kmensah»"}'),
        example('File "/home/«lena.fischer»/.ssh/config"'),
        example("C:\\Users\\«jane.doe»\\AppData"),
        example("/Users/«jdoe»/src/app/main.py"),
        example("GRANT ALL ON *.* TO '«ops_3933»'@'localhost'"),
    ),
    lookalikes=("/home/runner/work", "/Users/Shared/x",
                '{"username": "root"}', '{"username": "${USER}"}', "/home/{user}/x"),
    patterns=(
        Pattern(
            r"(?<![A-Za-z0-9])(?:home/|Users[/\\]{1,4})([a-z_A-Z][A-Za-z0-9_.-]{1,31})(?=[/\\\s\"':]|$)",
            lambda text: 0 if text.lower() in SYSTEM_USERS else len(text),
            rank=CONTEXT,
        ),
        Pattern(  # 'name'@'host' of MySQL
            r"(?<![A-Za-z0-9])[\"'`]([A-Za-z_][A-Za-z0-9_.-]{2,31})[\"'`]@[\"'`]",
            lambda text: 0 if text.lower() in SYSTEM_USERS else len(text),
        ),
    ),
    keys=(
        "username", "user", "login", "loginname", "userlogin", "screenname", "benutzername", "benutzer",
        "nomutilisateur",
        "utilisateur", "usuario", "nombreusuario", "nomeutente", "utente", "utilizador", "gebruikersnaam", "gebruiker",
        "uzytkownik", "nazwauzytkownika", "accountname", "dbuser", "smtpuser", "remoteuser",
    ),
    shape=r"[^\W_][\w.@+-]{2,63}",
    plausible=lambda text: text.lower() not in SYSTEM_USERS and not text.isdigit(),
    canonical=str.casefold,
)  # fmt: skip
