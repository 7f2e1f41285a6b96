"""How to reach somebody: mail and telephone."""

from __future__ import annotations

import re

from cloakllm_gateway.detection.catalogue import calling, checks
from cloakllm_gateway.detection.catalogue.checks import whole
from cloakllm_gateway.detection.catalogue.model import (
    CHECKED,
    CONTEXT,
    SHAPED,
    Category,
    Extent,
    Pattern,
    Proof,
    example,
)
from cloakllm_gateway.patterns import lazy

#: Letters of the scripts that mailboxes and domains are written in, punctuation and symbols left out.
LETTERS = (
    "\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02af\u0370-\u1fff\u2c00-\u2dff\u3040-\u30ff\u3400-\u9fff"
    "\uac00-\ud7a3\uf900-\ufaff"
)
_WORD = f"A-Za-z0-9{LETTERS}"
_LABEL = f"[{_WORD}](?:[{_WORD}_-]{{0,62}})"
#: How people say the signs of an address in English, German, French, Spanish and Portuguese, Italian, Dutch, Polish,
#: Swedish and Danish, Norwegian, Finnish, Czech, Hungarian, Romanian, Turkish, Russian and Ukrainian, Greek, Japanese.
_SAID_AT = (
    "(?:at|\u00e6t|arobase|arroba|chiocciola|apenstaartje|ma[l\u0142]pa|snabel-?a|kr\u00f8llalfa|miukumauku"
    "|zavin[a\u00e1][c\u010d]|kukac|arond|kuyruklu a|собака|собачка|равлик|παπάκι|アット(?:マーク)?)"
)
_SAID_DOT = (
    "(?:dot|punkt|point|punto|ponto|punt|kropka|prik|punktum|piste|te[c\u010d]ka|pont|punct|nokta|точка|крапка|τελεία"
    "|ドット)"
)
_AT = rf"(?: ?\[{_SAID_AT}\] ?| ?\({_SAID_AT}\) ?| ?\{{at\}} ?| ?<at> ?| {_SAID_AT} | ?\[@\] ?| ?\(@\) ?|_at_)"
_DOT = (
    rf"(?: ?\[{_SAID_DOT}\] ?| ?\({_SAID_DOT}\) ?| ?\{{dot\}} ?| ?<dot> ?| {_SAID_DOT} | ?\[\.\] ?| ?\(\.\) ?|_dot_|\.)"
)


def _mailbox(proof: Proof) -> Extent:
    """The proof of an address that is not made of the password in a URL and the host behind it."""

    def extent(text: str, start: int, end: int, limit: int) -> int:
        if (scheme := text.rfind("://", max(start - _LONGEST_LOGIN, 0), start)) >= 0 and _LOGIN.match(
            text, scheme, start
        ):
            return start
        return start + proof(text[start:end])

    return extent


#: What stands before a host in a URL, from the colon of its scheme into the password.
_LOGIN = lazy(r"://[^\s/:\"'<>?#\\]{0,64}:[^\s/,;\"'<>\\]*\Z")
_LONGEST_LOGIN = 330


def _spelled_out(text: str) -> int:
    """``jane (at) example (dot) org``: whoever hides an address from robots, or writes `` at `` and `` dot ``."""
    written = email_canonical(text)
    if (_BARE_AT.search(text) and not _BARE_DOT.search(text)) or _AT_SOME_POINT.search(text):
        return 0
    known = written.rpartition(".")[2] in _SPOKEN_DOMAINS
    return len(text) if known and checks.email(written) == len(written) else 0


#: Top-level domains that people spell out; any word may follow ``dot`` in prose.
_SPOKEN_DOMAINS = frozenset(
    "com org net edu gov mil int info biz io dev app me co ai tech cloud example eu uk de fr es it pt nl be pl "
    "ch at se no dk "
    "gr hu ro tr sk si hr bg lt lv ee "
    "fi cz ie ru ua br mx ar in cn jp kr au nz ca us za".split()
)


_PLAIN_ADDRESS = lazy(r"[^\s\[\](){}@]+@[^\s\[\](){}]+")
_BARE_AT, _BARE_DOT = lazy(f" {_SAID_AT} ", re.IGNORECASE), lazy(f" {_SAID_DOT} ", re.IGNORECASE)
#: English prose, where the French word for a dot is one of its own.
_AT_SOME_POINT = lazy(r" at (?:this|that|which|what|some|any|no|one|the|a|another) point ", re.IGNORECASE)
_SPOKEN_AT = lazy(rf"\s*[\[({{<_]?\s*(?<![a-zä])(?:{_SAID_AT}|ät)(?![a-z])\s*[\])}}>_]?\s*", re.IGNORECASE)
_SPOKEN_DOT = lazy(rf"\s*[\[({{<_]\s*(?:{_SAID_DOT}|\.)\s*[\])}}>_]\s*|\s+{_SAID_DOT}\s+", re.IGNORECASE)
_HELD_DOT = lazy(r"[\[(](?:\.|dot)[\])]")
_BRACKETED_AT = lazy(r"[\[({]@[\])}]")


def email_canonical(text: str) -> str:
    text = text.replace("\\", "")
    if _PLAIN_ADDRESS.fullmatch(text):
        return text.casefold()
    text = _SPOKEN_AT.sub("@", text.strip()) if "@" not in text else text.strip()
    return _BRACKETED_AT.sub("@", _SPOKEN_DOT.sub(".", text)).casefold()


EMAIL = Category(
    "EMAIL",
    examples=(
        example("write to «kim@example.com»."),
        example("<«first.last+tag@sub.example.co.uk»>"),
        example("«jürgen@müller.example» oder"),
        example("{'mail': '«o'hara@example.ie»'}"),
        example("Contact: «jane[at]example[dot]org»"),
        example("mail: «jane @ example . org»"),
        example("E-Mail: «j a n e @ e x a m p l e . o r g»"),
        example("reach me: «jane dot doe at example dot com»"),
        example("or «jane\\_doe@acme.io»."),
        example("and «jane\\.doe@acme.io» too"),
        example("and «kim@acme\\.io» too"),
        example("contact «jane [at] acme [dot] io»"),
        example("an «zhang.wei@163.com» und"),
        example('from «"john..doe"@example.com» and'),
        example('from «"odd local"@example.com» and'),
        example("thanks...«kim@example.com»"),
        example("an «max punkt muster at beispiel punkt de» oder"),
        example("Mail: «max(ät)beispiel.de»"),
        example("écrire à «jean point dupont arobase exemple point fr» svp"),
        example("a «ana arroba ejemplo punto es» hoy"),
        example("scrivi a «anna chiocciola esempio punto it» oggi"),
        example("mail «jan [apenstaartje] voorbeeld [punt] nl» of bel"),
        example("pisz na «ola (malpa) poczta (kropka) pl» dzisiaj"),
        example("pisz na «ola (ma\u0142pa) poczta (kropka) pl» dzisiaj"),
        example("skriv till «lars (snabel-a) exempel.se» nu"),
        example("pi\u0161te na «jan zavin\u00e1\u010d priklad te\u010dka cz» dnes"),
        example("пишите на «ivan (собака) primer (точка) ru» сегодня"),
        example("пишите на «ivan собака primer точка ru» сегодня"),
        example("γράψε στο «nikos (παπάκι) example (τελεία) gr» σήμερα"),
        example("連絡先 «tanaka(アット)example.jp» まで"),
        example("írj ide: «bela (kukac) pelda (pont) hu» ma"),
        example("skriv til «kari krøllalfa eksempel punktum no» i dag"),
        example("the sender was «kim@example[.]com», a phish"),
        example("the sender was «kim.lee@mail(.)example(.)com» again"),
        example("escreva para «ana arroba exemplo ponto pt» hoje"),
        example("to «firstname.lastname@very-long-\ndepartment.example.com» for help"),
        example("and the rest goes to «kim.lee@exam»"),
    ),
    lookalikes=(
        "git clone git@github.com:org/repo.git",
        "npm i lodash@4.17.21 @types/node@20.1.0",
        '@app.route("/x") @property',
        "docker pull redis@sha256:0f0e0d",
        "icon@2x.png",
        "look at example dot notation",
        "E-Mail: @ example. Then",
        "mail jane @ home. Phone or write",
        "GRANT ALL ON x TO \"app\"@\"localhost\"",
        "the point at issue, at that point in time",
        "a number, but at this point it is best effort; or at some point us too",
        "lodash@4.17.21.tgz redis@sha256.abc app@v2.tgz",
        "pull redis@sha256.abc",
        "https://user:${PASSWORD}@example.com/a/b.git and http://user:password@example.com",
    ),
    patterns=(
        Pattern(
            rf"(?<![{_WORD}._+-])[{_WORD}_](?:[{_WORD}._+'&*~^-]{{0,255}})@{_LABEL}(?:\.{_LABEL}){{1,8}}",
            extent=_mailbox(checks.email),
        ),
        Pattern(
            rf"(?<![A-Za-z0-9._-])[A-Za-z0-9](?:[A-Za-z0-9_+-]{{0,63}})(?:{_DOT}[A-Za-z0-9_+-]{{1,63}}){{0,3}}"
            rf"(?i:{_AT})[A-Za-z0-9-]{{1,63}}(?:(?i:{_DOT})[A-Za-z0-9-]{{2,63}}){{1,3}}",
            _spelled_out,
            rank=SHAPED - 10,
        ),
        Pattern(  # the sign as it is said in German
            rf"(?<![A-Za-z0-9._-])[A-Za-z0-9](?:[A-Za-z0-9._+-]{{0,63}}) ?[\[({{][äÄ]t[\])}}] ?"
            rf"[A-Za-z0-9-]{{1,63}}(?:{_DOT}[A-Za-z0-9-]{{2,63}}){{1,3}}",
            _spelled_out,
            rank=SHAPED - 10,
        ),
        Pattern(  # so that nobody clicks on it
            r"(?<![A-Za-z0-9._+-])[A-Za-z0-9_](?:[A-Za-z0-9._+-]{0,63})@[A-Za-z0-9-]{1,63}"
            r"(?:(?:\.|\[\.\]|\(\.\)|\[dot\]|\(dot\))[A-Za-z0-9-]{2,63}){1,5}(?![A-Za-z0-9-])",
            lambda text: len(text) if _HELD_DOT.search(text) and checks.email(email_canonical(text)) else 0,
            rank=SHAPED - 10,
        ),
        Pattern(  # in quotes, as RFC 5322 has what is no run of letters and dots
            rf"(?<![{_WORD}\\\"'])\"[{_WORD}._+,;:()!#$%&*/=?^~ -]{{1,64}}\"@{_LABEL}(?:\.{_LABEL}){{1,8}}",
            lambda text: checks.email("x" + text[text.rindex("@") :]) and len(text),
            rank=CHECKED,
        ),
        Pattern(  # with blanks around its signs, or between all of its letters
            r"(?i:e-?mail|mail)[: ]{1,3}"
            r"([A-Za-z0-9][A-Za-z0-9._+-]{1,63} ?@ ?[A-Za-z0-9-]{2,63}(?:(?: \. |\.)[a-z]{2,24}){1,3}"
            r"|(?:[A-Za-z0-9._-] ){2,30}@(?: [A-Za-z0-9.-]){4,40})(?![A-Za-z0-9])",
            lambda text: len(text) if " " in text and checks.email("".join(text.split())) else 0,
            rank=CONTEXT,
        ),
        Pattern(  # behind dots that are no part of it
            rf"(?<!\.)\.{{2,3}}([{_WORD}_](?:[{_WORD}._+'-]{{0,64}})@{_LABEL}(?:\.{_LABEL}){{1,8}})",
            checks.email,
        ),
        Pattern(  # with the escapes of Markdown and LaTeX
            rf"(?<![{_WORD}._+\\-])[{_WORD}_](?:[{_WORD}._+-]|\\[._+-]){{0,255}}\\[._+-](?:[{_WORD}._+-]|\\[._+-]){{0,64}}"
            rf"@{_LABEL}(?:\\?\.{_LABEL}){{1,8}}",
            lambda text: len(text) if checks.email(text.replace("\\", "")) == len(text.replace("\\", "")) else 0,
        ),
        Pattern(rf"(?<![{_WORD}._+\\-])[{_WORD}_](?:[{_WORD}._+-]{{0,255}})@{_LABEL}(?:\\[._-]{_LABEL}){{1,8}}"),
        Pattern(  # broken at a hyphen by the end of its line
            rf"(?<![{_WORD}._+-])[{_WORD}_](?:[{_WORD}._+-]{{0,255}})@{_LABEL}-\r?\n{_LABEL}(?:\.{_LABEL}){{1,8}}",
            checks.email,
        ),
        Pattern(  # cut off by the end of its text
            rf"(?<![{_WORD}._+-])[{_WORD}_](?:[{_WORD}._+-]{{1,63}})@[A-Za-z](?:[A-Za-z0-9.-]{{2,63}})(?![^\x1c])",
            extent=_mailbox(checks.email_cut_off),
            rank=CONTEXT,
        ),
        Pattern(
            r"(?<![A-Za-z0-9*._-])[A-Za-z0-9](?:[A-Za-z0-9._*-]{0,63})\*@[A-Za-z0-9*-]{1,63}(?:\."
            r"[A-Za-z0-9-]{2,63}){1,3}",
            rank=SHAPED - 10,
        ),
    ),
    keys=(
        "adresseelectronique", "mailpersonnel", "correoelectronicopersonal", "direccionemail", "direcciondecorreo",
        "endereçoemail", "enderecoemail", "enderecodeemail", "emailpersoonlijk", "adresmailowy", "adresposczty",
        "adrespocztyelektronicznej", "mailprivat", "emailprivat", "postaelettronica",
        "correioeletronico", "correioelectronico", "pec", "poczta",
        "email", "mail", "emailaddress", "mailaddress", "emails", "workemail", "useremail", "contactemail", "emailid",
        "correo", "correoelectronico", "courriel", "adressemail", "adressecourriel", "emailadresse", "mailadresse",
        "epost", "epostadres", "mailadres", "emailadres", "posta", "indirizzoemail", "adresemail", "recipient",
    ),
    shape=r"[^\s@<>\"\\/`$|;]{1,128}@[^\s@<>\"\\/`$|;]{1,255}",
    canonical=email_canonical,
)  # fmt: skip

_SEP = r"[ .()/-]{0,3}"
_SPOKEN = (
    r"(?:(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|double|triple)"
    r"|(?:null|eins|zwo|zwei|drei|vier|fünf|sechs|sieben|acht|neun)"
    r"|(?:un|deux|trois|quatre|cinq|sept|huit|neuf)|(?:cero|uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve))"
)
_PHONE_WORDS = (
    r"(?:\b(?:tele?(?:phone|fon|fono|fone|foon|fax)?|phone|fax|mobile?|mobil|mob|cell(?:phone|ular)?|handy"
    r"|cel(?=[.:](?![a-z]))|ph(?=[.:]| no)"
    r"|rufnummer|call|"
    r"called|calling|dial|ring|text|sms|whatsapp|hotline|landline|reach|contact|t[eé]l[eé]phone|portable|m[oó]vil|"
    r"cellulare|telem[oó]vel|kom[oó]rka|numer|number is|numero|b[uü]ro|durchwahl|gsm|tlf|puh|contatto"
    r"|answering at|messages? to|desk|registered|(?:home|work|office)(?=:))\b"
    r"|t[eé]l\b|電話|携帯|连络|電話番号|联系电话|手机|연락처"
    r"|전화|тел|☎)"
)

_COUNTRY_PART = "country_?code|country_?prefix|dial_?code|calling_?code|vorwahl_?land"
_AREA_PART = "area(?:_?code)?|city_?code|ortsvorwahl"
_LOCAL_PART = "(?:local_?|subscriber_?|phone_?)?number|subscriber|local|line"

PHONE = Category(
    "PHONE",
    examples=(
        example("call «+44 20 7946 0123» today"),
        example("«(415) 555-0134»"),
        example("or «415-555-0134»,"),
        example("«+1 (415) 555-0134»"),
        example("«+1 (415) 555-0134 ext. 12»"),
        example("https://wa.me/«14155550134»"),
        example("Cel. «(11) 91234-5678»"),
        example("[«020 7946 0958»](tel:x) or"),
        example('<a class="c" href="tel:02079460958" title="x">«020 7946 0958»</a>'),
        example("Sales | M: «07700 900456» | x"),
        example("Ph no «9876543210»"),
        example("Tel. «0151 23456789» ab 9 Uhr"),
        example("Büro: «089/123456-0» oder"),
        example("«+43 664 1234567»"),
        example("line: «416 60 039» office"),
        example('{"country_code": "+49", "area": "171", "number": "«5550123»"}'),
    ),
    lookalikes=(
        "ts 1747731005 ms 1767225600009 serial 2026010101 ttl 604800",
        "52.5702100309281,-8.6267 and 0.250750683890174",
        "LinkedAccountId: 215805592",
        "2026-11-29 20:27:12, 29/11/2026, 11-29-2026",
        "Tolerance 555-1234 mm; ratio 0151/234; IDs 2026-11-29-0001",
        "margin:10px 20px 30px 40px",
        "2026-03-01T14:05:00+02:00",
        "Date:   Thu Jun 13 22:41:00 2013 -0700",
        "h = h * 69069 + 907133923; 0.0063339426292673",
        "U+1FDD => 0020 0314 0300 and [.42DA.0020.0011.0002]",
        "Endless Mobile, Inc\n 2017-2022 Endless, called again [Bug 1355942], Text 98.112902",
    ),
    patterns=(
        Pattern(
            rf"(?<![A-Za-z0-9+])(?:\+(?! )|(?<![0-9)\]] )\+ )[ (]?[1-9](?:{_SEP}\d){{6,14}}(?![A-Za-z0-9]|[.-]\d)",
            whole(checks.e164),
        ),
        Pattern(  # a number of an account may begin so, where a word says that it is one
            rf"(?<![A-Za-z0-9+])(?<!\d )(?<!\d:)(?<!\.)00[ (]?[1-9](?:{_SEP}\d){{6,14}}(?![A-Za-z0-9]|[.-]\d)",
            whole(checks.e164),
            rank=CONTEXT - 10,
        ),
        Pattern(
            r"(?<![A-Za-z0-9+./)-])(?:\+?1[ .-])?\([2-9]\d\d\) ?[2-9]\d\d[ .-]?\d{4}(?![A-Za-z0-9]|[.-]\d)"
            r"(?: {0,2}(?:x|ext\.?) ?\d{1,5})?",
            whole(lambda text: checks.nanp(re.split("x|ext", text)[0])),
        ),
        Pattern(
            r"(?<![A-Za-z0-9+./#-])(?:1[.-])?[2-9]\d\d(?:-[2-9]\d\d-|\.[2-9]\d\d\.)\d{4}(?![A-Za-z0-9]|[./-]\d)"
            r"(?:x\d{1,5})?",
            whole(lambda text: checks.nanp(text.split("x")[0])),
        ),
        Pattern(
            rf"(?i:{_PHONE_WORDS})(?![^\d\n]{{0,20}}(?i:bug|issue|ticket|version|pid)[ #:]{{1,2}}\d)"
            rf"[^\d\n+(]{{0,20}}\n?[ ]{{0,4}}([(+]?\d(?:{_SEP}\d){{6,14}})(?![A-Za-z0-9]|[.:-]\d)",
            checks.dialled_part,
            rank=CONTEXT,
        ),
        *calling.patterns(_SEP),
        Pattern(  # the words of a link to it, in Markdown and HTML
            rf"(?:\[|href=[\"']?tel:[^\"'<>\n]{{5,30}}[\"']?[^<>\n]{{0,120}}>)(\(?\+?\d(?:{_SEP}\d){{6,14}})"
            r"(?=\]\(tel:|</a>)",
            checks.dialled_part,
        ),
        Pattern(  # behind the letter that a signature has for it
            rf"(?<![A-Za-z0-9])[TMPCODFHW][.:] ?(\(?0[1-9](?:{_SEP}\d){{7,10}})(?![A-Za-z0-9]|[.:-]\d)",
            checks.dialled_part,
            rank=CONTEXT,
        ),
        Pattern(r"\] (?:Chat: [^\n\x1c:]{1,60} )?From: (\d{10,15})(?=(?:@[\w.]{1,30})?:)", rank=CONTEXT),  # WhatsApp
        Pattern(r"(?:wa\.me/|api\.whatsapp\.com/send\?phone=|callto:)\+?([1-9]\d{6,14})(?![A-Za-z0-9])"),
        Pattern(rf"(?<![A-Za-z])(?i:{_SPOKEN}(?:[ ,.-]{{1,2}}{_SPOKEN}){{6,15}})(?![A-Za-z])", rank=CONTEXT),
        Pattern(  # said behind it
            rf"(?<![A-Za-z0-9+./_:#-])(\(?\d(?:{_SEP}\d){{6,14}}) ?[(-]?"
            r"(?i:office|fax|mobile|cell|home|work|direct|main|desk|pager|handy|mobil|privat|dienstlich)(?![A-Za-z])",
            checks.dialled_part,
            rank=CONTEXT,
        ),
        # In parts: {"country_code": "+49", "area": "171", "number": "5550123"}.
        Pattern(
            rf"(?i:{_COUNTRY_PART})[\"'][ ]?:[ ]?[\"'](\+\d{{1,3}})[\"']"
            rf"(?=,[^{{}}]{{0,60}}[\"'](?i:{_AREA_PART}|{_LOCAL_PART}))"
        ),
        Pattern(rf"(?i:{_AREA_PART})[\"'][ ]?:[ ]?[\"']?(\d{{2,5}})[\"']?(?=,[ ]?[\"'](?i:{_LOCAL_PART})[\"'])"),
        Pattern(
            rf"(?i:{_AREA_PART})[\"'][ ]?:[ ]?[\"']?\d{{2,5}}[\"']?,[ ]?[\"'](?i:{_LOCAL_PART})[\"'][ ]?:[ ]?[\"']?"
            r"(\d{4,9})(?!\d)"
        ),
        Pattern(
            rf"(?<![A-Za-z0-9+./_:#-])\(?[01](?:{_SEP}\d){{6,12}}(?![A-Za-z0-9]|[./:-]\d)", rank=CONTEXT, regional=True
        ),
        Pattern(  # the trunk prefix of Russia and some of its neighbours
            rf"(?<![A-Za-z0-9+./_:#-])8(?:{_SEP}\d){{10}}(?![A-Za-z0-9]|[./:-]\d)", rank=CONTEXT, regional=True
        ),
        Pattern(
            r"(?<![A-Za-z0-9+./_:#-])[2-9]\d{1,4}(?:[ -]\d{2,5}){1,4}(?![A-Za-z0-9]|[./:-]\d)",
            rank=CONTEXT,
            regional=True,
        ),
    ),
    keys=(
        "numerotelephone", "numerodetelephone", "telephonemobile", "telephoneportable", "numeromobile",
        "numerotelefono", "numerodetelefono", "telefonomovil", "telefonofijo", "numerocellulare", "numeroditelefono",
        "numerotelefone", "numerodetelefone", "telefonecelular", "numercelular", "mobieltelefoonnummer",
        "mobielnummer", "telefoonmobiel", "telefonkomorkowy", "numerkomorki", "nrtelefonu", "nrtel", "festnetz",
        "privatnummer",
        "durchwahl", "telefax", "telephonefixe", "telportable", "telecopie", "numtel", "tfno", "telefonocontacto",
        "telefonofisso", "recapitotelefonico", "telefonefixo", "mobielenummer", "vastnummer", "telefonkontaktowy",
        "telefondomowy", "callbacknumber", "telefonnr", "telnr", "handynr",
        "phone", "phonenumber", "telephone", "tel", "telephonenumber", "mobile", "mobilephone", "mobilenumber", "cell",
        "cellphone", "cellnumber", "fax", "faxnumber", "whatsapp", "contactnumber", "telefon", "telefonnummer",
        "rufnummer", "handy", "handynummer", "mobilnummer", "telefono", "movil", "celular", "cellulare", "telefone",
        "telemovel", "portable", "telefoon", "telefoonnummer", "mobiel", "komorka", "numertelefonu", "msisdn",
        "phones", "homephone", "workphone", "mobil", "gsm", "nationalnumber",
    ),
    shape=r"[+(]{0,2}\d(?:[ .()/\u00a0\u202f-]{0,3}\d){5,18}(?: {0,2}(?:x|ext\.?|#) ?\d{1,6})?",
    canonical=checks.phone_canonical,
)  # fmt: skip
