"""Postal addresses, as they are written in running text and on labels around the world.

No address has a checksum, so each pattern asks for a number and for a word
that only streets, flats, countries or field post offices have beside it.
"""

# ruff: noqa: E501 (an expression is a line)

from __future__ import annotations

from itertools import zip_longest

from cloakllm_gateway.detection.catalogue.contact import LETTERS
from cloakllm_gateway.detection.catalogue.letters import UPPER
from cloakllm_gateway.detection.catalogue.model import CONTEXT, RECORD, Category, Pattern, example
from cloakllm_gateway.patterns import lazy

_CAP = rf"[A-Z{LETTERS}][A-Za-z{LETTERS}∆.’'-]{{1,30}}"
_GAP = r"[,\s>?]{1,8}"  # labels stand on lines of their own, quoted ones behind a mark
_LINK = r"(?:of|and|de|de la|la|las|los|del|della|delle|dei|degli|di|do|da|dos|das|des|du|le|les|van|van de|den|der|am|e|u|v|nad|pod|ob|na)"
_SMALL = r"[a-zß-öø-ÿ][a-zß-öø-ÿő.'-]{1,20}"
_UNIT = (
    r"(?:(?:Suite|Ste\.?|Apt\.?|Apartment|Unit|Flat|Floor|Room|#) ?[A-Za-z]?\d{1,5}[A-Za-z]?"
    r"|\d{1,2}(?:st|nd|rd|th) (?:[Ff]loor|Fl\.?))"
)

_COUNTRIES = (
    "|".join(
        name
        for name in (
            "Albania Algeria Andorra Argentina Armenia Australia Austria Azerbaijan Bahrain Bangladesh Belarus Belgium Bolivia "
            "Brazil Bulgaria Cambodia Cameroon Canada Chile China Colombia Croatia Cuba Cyprus Czechia Denmark Ecuador Egypt "
            "England Estonia Ethiopia Finland France Georgia Germany Ghana Greece Greenland Guatemala Honduras Hungary Iceland "
            "India Indonesia Iran Iraq Ireland Israel Italy Jamaica Japan Jordan Kazakhstan Kenya Kosovo Kuwait Latvia Lebanon "
            "Libya Liechtenstein Lithuania Luxembourg Malaysia Malta Mexico Moldova Monaco Mongolia Montenegro Morocco Nepal "
            "Netherlands Nicaragua Nigeria Norway Oman Pakistan Panama Paraguay Peru Philippines Poland Portugal Qatar Romania "
            "Russia Scotland Senegal Serbia Singapore Slovakia Slovenia Spain Sweden Switzerland Syria Taiwan Tanzania Thailand "
            "Tunisia Turkey Uganda Ukraine Uruguay Uzbekistan Venezuela Vietnam Wales Yemen Zambia Zimbabwe Greenlander"
        ).split()
    )
    + "|Costa Rica|Czech Republic|El Salvador|Hong Kong|New Zealand|North Macedonia|Puerto Rico|Saudi Arabia|South Africa"
)
_COUNTRIES += "|South Korea|Sri Lanka|United Kingdom|United States(?: of America)?|UK|USA"

_COUNTRY = rf"(?:{_COUNTRIES})(?: \([A-Z][a-z]{{2,20}}\))?"
_CITY = rf"{_CAP}(?: {_CAP}| {_LINK}\b| [A-Z]\b){{0,4}}"
#: The town, the region (what a table has for none as well), the country, the code: with a code or a country at its end.
_PLACE = (
    rf"{_GAP}{_CITY}(?:(?:{_GAP}(?:[A-Z0-9]{{1,3}}|nan))?(?:{_GAP}{_COUNTRY})?[,\s]{{1,3}}\d{{4,6}}(?:-\d{{4}})?(?!\d)"
    rf"|{_GAP}{_COUNTRY}(?![A-Za-z]))"
)
#: Postal codes of Europe and Brazil, with a country before them as labels have it.
_POSTCODE = (
    r"(?:[A-Z]{1,3}-)?(?:\d{2}-\d{3}|\d{4}-\d{3}|\d{5}-\d{3}|\d{4} ?[A-Z]{2}\b|\d{3} \d{2}|\d{4,5}"
    r"|[A-Z]{1,2}\d[A-Z0-9]? ?\d[A-Z]{2}\b)(?![0-9])"
)
_TOWN_WORD = rf"[A-Z{LETTERS}][A-Za-z{LETTERS}’']{{1,30}}"
#: A town behind its postal code; the stop at the end is that of the sentence.
_TOWN_NAME = (
    rf"{_TOWN_WORD}(?:[ -]{_TOWN_WORD}| {_LINK} {_TOWN_WORD}| a\.? ?[MOd]\.|/{_TOWN_WORD}){{0,3}}(?: [A-Z]\b(?!\.))?"
)
#: The code and the town behind a street, on its line or the next one; four digits may be a year as well.
_CODE_FIRST = rf"(?:[,;]? (?:[|/•·–-] |in )?|,?\n>? ?)(?!(?:19|20)\d\d ){_POSTCODE},? {_TOWN_NAME}"
_TAIL = rf"(?:{_GAP}{_UNIT}){{0,2}}(?:{_CODE_FIRST}|{_PLACE})?"
#: Behind a flat, on its line, whatever is written as towns and regions are.
_FLAT = rf"(?:{_GAP}{_UNIT}){{1,2}}(?:{_PLACE}|[ ,]{{1,2}}{_CITY}(?:,? (?:[A-Z]{{2,3}}|nan)\b)?)?"

_ENGLISH = (
    r"(?:Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Square|Sq|Terrace|Ter|Place|Pl|Way|"
    r"Circle|Cir|Highway|Hwy|Parkway|Pkwy|Trail|Close|Crescent|Gardens|Grove|Hill|Mews|Row)"
)
#: What a street is called before its name.
_BEFORE = (
    r"(?:[Rr]ue|Via|Viale|Vicolo|Piazza|Piazzetta|Piazzale|Corso|Largo|Strada|Avenida|Avda\.?|Av\.|Calle|C/|Camino|Paseo|"
    r"Plaza|Ronda|Rúa|Rua|Travessa|Praça|Estrada|Alameda|[Aa]venue|[Bb]oulevard|Chemin|chemin|[Ii]mpasse|[Aa]llée|[Qq]uai|"
    r"[Pp]lace|[Uu]l\.|[Uu]lica|[Aa]l\.|[Pp]l\.|[Oo]s\.|Λεωφόρος|Λ\.|Οδός|[Uu]litsa|Pod|Na|Nad)"
)
#: ... and behind it, in the same word.
_GLUED = (
    rf"(?:{_CAP}[ -](?:Straße|Strasse|Str\.|Gasse|Allee)|[A-Z{LETTERS}][A-Za-z{LETTERS}-]{{2,25}}(?:straße|strasse|str\.|weg|gasse|platz|allee|damm|ufer|ring|straat|laan|plein|"
    r"gracht|kade|dreef|singel|gade|vej|vejen|vænget|stræde|toften|bakken|parken|gatan|gata|gränd|vägen|väg|vegen|vegur|stræti|"
    r"straeti|braut|tún|tun|katu|tie|kuja|polku|kaari|utca|brekka|gerði|holt))"
)
_HUNGARIAN = r"(?:utca|út|útja|u\.|tér|tere|köz|krt\.)"
_CYRILLIC = r"[А-ЯЁІЇЄҐ][А-Яа-яЁёІіЇїЄєҐґ'’-]{1,30}"
#: A house number, with those of the staircase, the floor and the flat: 12, 12a, 12/4, 12-2, 12/3/14, 123-II.
_NUMBER = (
    r"\d{1,5}(?:[A-Za-z]\b(?:/\d{1,4}\b){0,2}| [A-Z]\b(?=,)|/\d{1,2}\. ?(?:Stock|OG)/\d{1,4}\b|(?:[/-]\d{1,4}[A-Za-z]?\b){1,3}"
    r"|-(?:I{1,3}|I?V|hs|huis|bis)\b)?(?![0-9])"
)
#: Words before the number or the letter of a floor, a door, a staircase, a flat.
_DOOR_WORD = (
    r"(?:m|lok(?:al)?|app|appt|apto|apt|bus|bte|Whg|Wohnung|[Kk]l|[Kk]latka|piętro|[Pp]iso|[Pp]lanta|[Pp]ortal|[Bb]loque"
    r"|[Bb]loco|[Pp]uerta|[Pp]ta|[Ii]nt|[Ii]nterno|[Ss]cala|sc|[Ee]sc|[Ee]scalera|[Ee]scalier|[Bb][âa]t|[Bb]âtiment|[Pp]orte"
    r"|[Pp]iano|Stiege|Stg|Stock|Etage|Tür|Top|Block|Haus|mieszk(?:anie|\.)|[Aa]ndar|sala|loja)"
)
#: What may follow it: the floor, the door, the flat.
_DOOR = (
    rf"(?:{_DOOR_WORD}\.? ?(?:\d{{1,4}}[A-Za-z]?|[A-Z])\b|\d{{1,2}}\.?[ºª°](?: ?(?:[A-Za-z]{{1,3}}\b\.?|andar|Esq\.?"
    r"|Dto\.?|Fte\.?|Izq\.?|Dcha\.?))?|\d{1,2}\. ?(?:th|tv|mf|sal|OG|Stock|Etage|étage|piano)(?:,? (?:links|rechts|mitte))?"
    r"|\d{1,2}(?:er|e|ème|ème) étage|(?:EG|DG|bis|ter|hs|huis|Hinterhaus|Vorderhaus|Seitenflügel|Gartenhaus)\b)"
)
_DOORS = rf"(?:(?:,? | - |/){_DOOR})"
#: The rest of an address behind its street: a door, a quarter, the postal code and the town.
_TOWN = (
    rf"{_DOORS}{{0,4}}(?:(?:,| -| –|\n)[ ]?(?:{_CAP}(?: (?:{_CAP}|{_LINK}\b)){{0,3}}(?:,| -) ?){{0,2}}(?:[A-Z]{{2}}, )?"
    rf"{_POSTCODE}(?:,? {_TOWN_NAME})?(?: \([A-Z]{{2}}\))?)?"
)

#: What people say before they say where something is.
_WORDS = (
    r"address(?: is| of [A-Z][A-Za-z ]{1,30} is|es are| to|:| was)?|located (?:at|on|in)|liv(?:e|es|ed|ing) (?:at|in|on)|"
    r"mov(?:e|ed|ing) to|return(?:ed)? to|offices? (?:is|are) (?:at|in|on)|(?:sent|send|deliver(?:ed)?|ship(?:ped)?|mail(?:ed)?) to|"
    r"corner of|off at|station is on|meet me at|arrived at|enter on|office is at|wohn(?:t|e|haft) in|habite(?: au)?|vive en|"
    r"abita in"
)


def _is_numbered(text: str) -> int:
    """A street and a number; a year is none, nor are several."""
    head = text.split("\n")[0]
    digits = [word for word in head.replace(",", " ").split() if word[:1].isdigit()]
    return len(text) if not all(map(_YEARS.fullmatch, digits)) or text.startswith(_SURELY_STREETS) else 0


def _between_numbers(text: str) -> int:
    """Names between two numbers, and neither words of a sentence, ``170 по 800``, nor an amount: ``3201 EUR 50``."""
    from cloakllm_gateway.detection.name_words import CURRENCIES

    words = text.split()
    return 0 if any(word[0].islower() or word.lower() in CURRENCIES for word in words) else _is_numbered(text)


_YEARS = lazy(r"(?:19|20)\d\d(?:-(?:19|20)\d\d)?")


#: Words before the names of streets that mean nothing else.
_SURELY_STREETS = ("Rua ", "Calle ", "Rue ", "rue ", "Avenida ", "Travessa ", "ul. ", "Camino ")


def _less_full_stop(text: str) -> int:
    """What ends with a word, which may have a stop of its own or that of its sentence."""
    return len(text.rstrip("."))


#: What parts of towns and streets end with in Chinese, Japanese and Korean, with no blank between them.
_PARTS = lazy("[省市区區县縣都道府県町村郡路街号號室楼樓弄巷丁番시군구동로길읍면]")


#: What a street is called whose number has a field of its own.
_OF_STREETS = r"(?:(?:de|del|des|du|della|dei|delle|di|da|do|dos|la|las|los|le|les) |[dl]['’])"
_STREET_ALONE = (
    rf"(?:[{UPPER}][\w .'’-]{{0,60}}(?:(?:[sS]tra(?:ß|ss)e|[sS]tr\.|[gG]asse|[wW]eg|[pP]latz|[aA]llee|[uU]fer|[rR]ing|[dD]amm"
    r"|[sS]teig|[gG]ürtel|straat|laan|gracht|kade|plein|dijk|singel|gatan|vägen|gata|vej|gade|veien|katu|tie| utca)"
    r"|[ ](?:Street|St\.?|Road|Rd\.?|Lane|Close|Avenue|Ave\.?|Drive|Dr\.?|Court|Crescent|Terrace|Way|Boulevard|Blvd\.?"
    r"|Square|Gardens|Grove|Mews|Place|Row|Hill))"
    r"|(?:[rR]ue|[aA]venue|[aA]v\.|[bB]oulevard|[bB]d|[pP]lace|[cC]hemin|[aA]llée|[iI]mpasse|[qQ]uai|[cC]alle|[cC]/"
    r"|[aA]venida|[aA]vda\.|[pP]laza|[pP]aseo|[cC]amino|[vV]ia(?:le)?|[pP]iazza|[cC]orso|[vV]icolo|[rR]ua|[tT]ravessa|[pP]raça"
    rf"|[lL]argo|[uU]l\.|[uU]lica|[aA]l\.|[aA]lej[ae]|[oO]s\.|[pP]lac) {_OF_STREETS}{{0,2}}[{UPPER}][\w .'’-]{{1,60}})"
)
_ALONE = lazy(_STREET_ALONE)


def _has_parts(text: str) -> bool:
    """A value of more than one word, where the script puts blanks between them; and no code or comment on it."""
    has_parts = (
        " " in text.strip() or "," in text or _PARTS.search(text) is not None or _ALONE.fullmatch(text) is not None
    )
    return has_parts and _CODE.search(text) is None


_CODE = lazy(
    r";\Z|/\*|\*/|\w\.\w+\(|\b__|\A(?:(?:a|an|the|if|self|unsigned|const|struct)\b|(?:line|row|col|column|port|offset) \d)"
)


#: The end of a sentence, and the next one; between letters of China and Japan there is no blank.
_SENTENCE = lazy(r"(?<=[^\W_])(?:[.!?] (?=[A-ZÀ-ÖØ-ÞĀ-ſΑ-ΩА-Я«\"¿¡])|[.。](?=[\u3040-\u30ff\u4e00-\u9fff]))")
#: What has a stop of its own in addresses: words of one or two letters, and what these end.
_SHORTENED = (
    "str",
    "ave",
    "avda",
    "apt",
    "blvd",
    "hwy",
    "pkwy",
    "ste",
    "bldg",
    "app",
    "bte",
    "lok",
    "whg",
    "apto",
    "pza",
)
#: Parts of an address behind an ordinal number.
_NUMBERED = ("Stock", "Etage", "OG", "Obergeschoss", "Bezirk", "Stiege", "Tür", "Hinterhaus", "Sal", "Kat")
#: A word of a sentence, and of no address: those have small words between names only.
_SAYING = lazy(rf"(?<![^\W\d_])(?!{_LINK}\b)[^\W\d_A-Z]{{2,}}")


def sentence_of(text: str) -> int:
    """How much of what stands behind ``Address:`` is one: it ends where a sentence does, if another one follows."""
    ends = [*_SENTENCE.finditer(text)]
    for end, following in zip_longest(ends, ends[1:]):
        more = text[end.end() : following.start() if following else len(text)]
        if _is_end(text[: end.start()], more) and _SAYING.search(more):
            return end.start()
    bare = text.rstrip(".。")
    return len(bare) if bare and _is_end(bare, "") else len(text)


def _is_end(before: str, more: str) -> bool:
    """Whether a stop between two texts ends a sentence, and is none of the word or number before it."""
    last = before.replace(",", " ").rsplit(None, 1)[-1]
    if last[-1].isdigit():
        return not more.startswith(_NUMBERED)
    return len(last) > 2 and not last.lower().endswith(_SHORTENED)


ADDRESS = Category(
    "ADDRESS",
    examples=(
        example("ship to «2491 Elm Dr, Greenville, CO 78452»"),
        example("I live at «69 Gordon Terrace» now"),
        example('{"email": "kim@example.org", "street": "«12 bis, rue de la République»"}'),
        example("Büro in der «Lindenstraße 12», zweiter Stock"),
        example("an «Am Alten Markt 3, 50667 Köln» schicken"),
        example("an «Hauptstr. 5, D-80331 München»"),
        example("mieszka: «ul. Marszałkowska 12/4, 00-590 Warszawa»"),
        example("vive en «Calle de Alcalá 48, 3º B, 28014 Madrid»"),
        example("an «Mariahilfer Straße 12/3/14, 1060 Wien»."),
        example("in «Gumpendorfer Straße 12/3/14»"),
        example("in «1060 Wien, Mariahilfer Straße 12/3/14»"),
        example("«Mariahilfer Straße 12, Stiege 3, Tür 14, 1060 Wien»"),
        example("in «via Roma 12 int. 4, scala B»"),
        example("au «12 bis rue de la Paix, bât. C, esc. 2, 75002 Paris»"),
        example("op «Keizersgracht 123-II, 1015 CJ Amsterdam»"),
        example("na «Rua Augusta 12, 3.º Esq., 1100-053 Lisboa»"),
        example("abita in «Via Roma 15, 20121 Milano (MI)»"),
        example("woont op «Keizersgracht 123, 1015 CJ Amsterdam»"),
        example("mora na «Rua Augusta 100, 2º Esq., 1100-053 Lisboa»"),
        example("na «Av. Paulista, 1578 - Bela Vista, São Paulo - SP, 01310-200»"),
        example("at «10 Downing Street, London SW1A 2AA»"),
        example("vive en «Calle de Alcalá 48», Madrid"),
        example("Kim Lee\n«20789 Allika 46\nSuite 501»\n"),
        example("May it be sent to «PSC 3294, Box 9168\nAPO AA 61487»?"),
        example("The letter arrived at «17 Pod Floriánem» last night"),
        example("Riisa\n«Estonia 62488»"),
        example("Topcoder\n> «53772 Holmatun 45»\n> Kim"),
        example("on «9721 Dalmatinova 43 Apt. 678 Velenje nan» since May"),
        example("at «41377 Schachterlweg 62 Apt. 501 POLSING OO» after the concert"),
        example("at «30102 Kaevu 94\nNicosia\n, NI\n 61089»\nand"),
        example("at «224 4966 Bond Street\n Suite 413\n Warwick\n United States»?"),
        example("near «9931 14 Iliou Street, MARIEHOLM, Sweden» for now"),
        example("meet me at «2407 tawastintie 6, sé, portugal»"),
        example("to «2613 avenida praia 1 suite 463, mohács, hungary 24743»"),
        example("live at «220 w 34th st apt 5b, new york, ny 10001»"),
        example("at «Level 12, 88 Phillip Street, Sydney NSW 2000»."),
        example("at «1-2-3 Shibuya, Shibuya-ku, Tokyo 150-0002»"),
        example("It is «the corner of Dalbraut 99 and Frederikke Coves»."),
        example("lives on «Isaac Lodge Street» now"),
        example("the north side of «Rua Diadema 1903»."),
        example("livrer au «12 bis, rue de la République, 69002 Lyon»"),
        example("send it to «12 Rose Lane, 90210 Beverly Hills» by noon"),
        example("«5 Baker Street, NW1 6XE London». The door"),
        example("to «350 5th Ave, New York, NY 10118» by noon"),
        example("at «17 High Street, Oxford, OX1 4AA»"),
        example("at «123 Main St., Apt. 4, Toronto, ON M5V 2T6»"),
        example("to «P.O. Box 123, Springfield, IL 62701»"),
        example("живёт: «ул. Ленина, д. 5, кв. 12, Москва»"),
        example("«вул. Хрещатик, 22, Київ» та"),
        example("«〒100-0001 東京都千代田区千代田1-1»"),
        example("收件：«北京市朝阳区建国路88号»，李"),
        example("at «서울특별시 종로구 세종대로 110»"),
        example("vive en «Calle 26 # 59-41, Bogotá»"),
        example("FN:Kim Lee\nADR;TYPE=HOME:;;«ul. Prosta 12;Warszawa;;00-001;Poland»\n"),
    ),
    lookalikes=(
        "there are 20 Good Way to do it",
        '{"address": "0x7ffe0000"}',
        '{"address": "10.0.0.0/8", "bind_address": "tcp://*:5555"}',
        "2 Place holders, 404 Not Found",
        "address: A string or integer, the IP address. Either IPv4 or IPv6.",
        "the test suite 5 and Unit 12 of the plan",
        "Germany 2024 and Spain 2025 grew",
        "run 12 of the test suite 5, see 20 tests in suite 3",
        "the corner of the table and the edge of the page",
        "Plaza 2020 and Via Kafka 2024",
        "2024 Annual Report, 90210 Beverly Hills",
        "Copyright 2018-2021,2022 Free Software Foundation",
        "с идентификаторами с 170 по 800, то",
        "we moved to Python 3 and move to Vue 3.",
        "address: a 2-tuple (host, port) to bind, if address:\n    self.push('252 Cannot VRFY')",
        "\t__u64 address;\t\t/* in: address of mapping */\n\t__u32 length;\t\t/* in/out: 1 */\n\t__u32 hint;\t\t/* 2 */\n",
        '    "address",\n    "cidr",\n    "lint": "eslint . --ext .ts,.js --max-warnings 0",\n',
    ),
    patterns=(
        Pattern(  # its number, its name, the town, the region and the code, as a table prints them
            rf"(?<![A-Za-z0-9.,:/-])\d{{2,5}} (?:\d{{1,5}} )?(?:{_CAP} ){{0,4}}{_CAP}(?: u\.)?(?: \d{{1,5}}\.?)?(?:,|\n) ?"
            rf"{_CITY}\n?, (?:[A-Z]{{1,3}}|nan)[,\s]{{1,3}}(?:{_COUNTRY} )?\d{{4,6}}(?![0-9])",
            rank=RECORD,
        ),
        Pattern(
            rf"(?<![A-Za-z0-9.,:/-])(?:(?:Level|Floor|Unit|Flat|Suite|Apt\.?|Apartment|Room) \d{{1,4}}[A-Za-z]?(?:,|/) ?)?"
            rf"\d{{1,5}}[A-Za-z]? (?:\d{{1,5}} )?(?:[NSEW]\.? )?(?:(?:{_CAP}|\d{{1,3}}(?:st|nd|rd|th)) ){{1,3}}{_ENGLISH}\b\.?"
            rf"(?: (?:Upper|Lower|North|South|East|West|NW|NE|SW|SE)\b)?(?:, Dublin \d{{1,2}}\b)?(?:,? {_UNIT},?)?"
            rf"(?:,? (?:{_CAP},? ){{1,3}}(?:[A-Z]{{2}},? )?(?:[A-Z]{{1,2}}\d[A-Z0-9]? ?\d[A-Z]{{2}}|[A-Z]\d[A-Z] ?\d[A-Z]\d)\b)?{_TAIL}"
            r"(?:,? [A-Z][A-Za-z.' -]{1,30},? [A-Z]{2} \d{5}(?:-\d{4})?)?(?! (?:to|of)\b)",
            rank=RECORD,
        ),
        Pattern(
            rf"(?<![A-Za-z0-9.,:/-])(?:\d{{1,5}}(?: (?:bis|ter))?,? ){{1,2}}{_BEFORE}(?: {_LINK}\b| l'| d')?"
            rf"(?: ?{_CAP}(?: {_LINK}\b)?){{1,5}}(?:,? (?!\d{{4,5}}\b|\d{{1,2}}(?:er|e|ème) ){_NUMBER})?{_TOWN}{_TAIL}",
            rank=RECORD,
        ),
        Pattern(
            rf"(?<![A-Za-z0-9.,:/-])(?:{_CAP} and )?{_BEFORE}(?: {_LINK}\b(?: la| las| los)?| l'| d')?(?: ?{_CAP}(?: {_LINK}\b)?){{1,5}},? (?:n[º°.] ?)?{_NUMBER}{_TOWN}{_TAIL}",
            _is_numbered,
            rank=RECORD,
        ),
        Pattern(
            rf"(?<![A-Za-z0-9.,:/-])(?:\d{{1,5}} ){{0,2}}(?:{_CAP} ){{0,2}}{_GLUED} {_NUMBER}{_TOWN}{_TAIL}",
            _is_numbered,
            rank=RECORD,
        ),
        Pattern(  # the town before the street
            rf"(?<![A-Za-z0-9.,:/-])(?:[A-Z]{{1,2}}-)?\d{{4,5}} {_TOWN_NAME}, (?:{_CAP} ){{0,2}}{_GLUED} {_NUMBER}{_DOORS}{{0,4}}",
            _is_numbered,
            rank=RECORD,
        ),
        Pattern(  # a street in lower case, as Italian writes it in a sentence, with a door behind
            rf"(?<![A-Za-z0-9.,:/-])(?:via|viale|corso|piazza|calle) (?:{_CAP} ){{1,4}}{_NUMBER}(?={_DOORS}){_TOWN}",
            rank=RECORD,
        ),
        Pattern(  # whatever the street is called: its number, the postal code and the town
            rf"(?<![A-Za-z0-9.,:/-])(?:(?:Am|An der|An den|Auf der|Auf dem|Im|In der|In den|Zum|Zur|Unter den|Vor dem|Hinter der) )?"
            rf"(?:{_CAP}(?: {_LINK}\b)? ){{1,4}}{_NUMBER}{_DOORS}{{0,4}}(?:,|\n) ?{_POSTCODE} {_TOWN_NAME}",
            _is_numbered,
            rank=RECORD,
        ),
        Pattern(
            rf"(?<![A-Za-z0-9.,:/-])(?:\d{{1,5}} ){{0,2}}(?:{_CAP} ){{1,3}}(?:[a-zß-ÿő]{{3,12}} )?{_HUNGARIAN} {_NUMBER}\.?{_TAIL}",
            _is_numbered,
            rank=RECORD,
        ),
        Pattern(  # a street, of whatever name, and a flat
            rf"(?<![A-Za-z0-9.,:/-])(?:\d{{1,5}} ){{0,2}}(?:(?:{_CAP}|rue|\d{{1,5}})(?: {_LINK}\b){{0,2}}(?: [a-z]{{2,9}}\b| u\.)? ){{0,5}}"
            rf"(?:{_CAP}|\d{{1,5}}\.?(?: \d{{1,5}})?)(?={_GAP}(?:Suite|Apt\.?|Apartment) ?\d){_FLAT}",
            _less_full_stop,
            rank=RECORD,
        ),
        Pattern(  # its number, its name, the town and the country
            rf"(?<![A-Za-z0-9.,:/-])\d{{2,5}} (?:\d{{1,5}} )?(?:{_CAP} ){{1,4}}(?:{_CAP}|\d{{1,5}}), {_CITY}, {_COUNTRY}(?![A-Za-z])",
            rank=RECORD,
        ),
        Pattern(  # ... in small letters
            rf"(?<![A-Za-z0-9.,:/-])\d{{2,5}} (?:\d{{1,5}} )?(?!(?:of|the|in|tests?|to|and|or|for|is|at)\b){_SMALL}(?: {_SMALL}){{0,3}}"
            rf"(?: \d{{1,5}})?(?: (?:suite|apt\.?) \d{{1,4}}(?:,? {_SMALL}(?:,? {_SMALL}){{0,4}}(?: \d{{4,6}})?(?=[.?!\n\x1c]|$))?"
            rf"|, {_SMALL}(?: {_SMALL})?, (?:{_COUNTRIES.lower()})(?: \d{{4,6}})?(?![A-Za-z])"
            rf"|(?:,|\n) ?{_SMALL}(?: {_SMALL}){{0,3}}\n?, [a-z]{{1,3}}[,\s]{{1,3}}(?:(?:{_COUNTRIES.lower()}) )?\d{{4,6}}(?![0-9]))",
            rank=RECORD,
        ),
        Pattern(
            r"(?<![A-Za-z0-9.,:/-])\d{1,5} (?:[nsew]\.? )?(?:[a-z]{3,15}|\d{1,3}(?:st|nd|rd|th))(?: [a-z]{3,15})? "
            r"(?:st|street|ave|avenue|rd|road|blvd|boulevard|ln|lane|dr|drive|ct|court|way|pl|place)\b\.?"
            rf"(?:,? (?:apt|suite|unit|#)\.? ?[a-z0-9]{{1,5}})?,? {_SMALL}(?: {_SMALL}){{0,2}},? [a-z]{{2}},? \d{{5}}(?:-\d{{4}})?(?!\d)",
            rank=RECORD,
        ),
        Pattern(  # the block, the quarters and the code of Japan
            rf"(?<![A-Za-z0-9.,:/-])\d{{1,4}}-\d{{1,3}}(?:-\d{{1,4}})?,? (?:{_CAP},? ){{1,5}}〒?\d{{3}}-\d{{4}}(?![0-9])", rank=RECORD
        ),
        Pattern(  # where two streets meet
            rf"(?<![A-Za-z])(?:the )?corner of (?:\d{{1,5}} )?(?:(?:{_CAP}|[a-z]{{1,9}}\.?|\d{{1,5}}) ){{1,6}}and (?:\d{{1,5}} )?"
            rf"(?:{_CAP} ){{0,3}}{_CAP}",
            _less_full_stop,
            rank=RECORD,
        ),
        Pattern(  # a street without a number
            rf"(?<![A-Za-z])(?:shows?|lives?|lived|living|house|flat|shop|office) on ({_CAP}(?: {_CAP}){{0,2}}"
            r" (?:Street|Road|Avenue|Lane|Boulevard))(?![A-Za-z])",
            rank=CONTEXT,
        ),
        Pattern(r"(?<![A-Za-z0-9])(?:Suite|Apt\.?|Apartment) ?\d{1,5}(?![A-Za-z0-9]|[.-]\d)", rank=CONTEXT),
        Pattern(  # a line of its own, between two numbers
            rf"(?<![^\n\x1c>? ])\d{{3,5}} (?:{_CAP} ){{1,3}}\d{{1,4}}(?=[ \t]*[\n\x1c]|,|\.\x1c|\.?$)", _between_numbers, rank=CONTEXT
        ),
        Pattern(rf"(?<![A-Za-z0-9])(?:{_COUNTRIES})(?: \([A-Z][a-z]{{2,20}}\))? \d{{5}}(?![A-Za-z0-9]|[.,-]\d)", rank=CONTEXT),
        Pattern(
            rf"(?i:{_WORDS})[: ]{{1,3}}(?:the corner of )?(?![A-Z][a-z]{{1,12}} \d(?![\d,A-Za-z]))((?:\d{{1,5}} ){{0,2}}(?:{_CAP}(?: {_LINK}\b)?[ ,]{{1,2}}){{1,4}}{_NUMBER}"
            rf"{_TAIL}|\d{{2,5}} (?:\d{{1,5}} )?{_CAP}(?: {_CAP}){{0,4}}{_TAIL})",
            _is_numbered,
            rank=CONTEXT,
        ),
        Pattern(
            r"(?<![A-Za-z])P\.? ?O\.? ?Box \d{1,9}(?!\d)"
            r"(?:,? [A-Z][A-Za-z.' -]{1,30},? [A-Z]{2} \d{5}(?:-\d{4})?|(?:, [A-Z][A-Za-z]{2,30})?(?: \d{4,6})?)",
            rank=RECORD,
        ),
        Pattern(r"(?<![^\n\x1c])(?:item\d\.)?ADR(?:;[^:\n]{0,60})?:;{0,2}([^;\n\x1c][^\n\x1c]{4,200}[A-Za-z0-9])", rank=RECORD),  # vCard
        Pattern(  # Russia and Ukraine
            rf"(?:г\. ?{_CYRILLIC}, ?)?(?:ул|просп|пр-т|пер|пл|наб|бул|б-р|вул|пров)\.? {_CYRILLIC}(?: {_CYRILLIC}){{0,3}},? "
            r"(?:(?:д|дом|буд)\.? ?)?\d{1,4}[А-Яа-яІіЇїЄє]?(?:[/-]\d{1,4})?(?![0-9])(?:,? (?:к|корп|стр|кв|оф|под|эт)\.? ?\d{1,4}){0,3}"
            rf"(?:, (?:[гм]\. )?{_CYRILLIC}(?: {_CYRILLIC})?)?(?:, \d{{5,6}}(?![0-9]))?",
            rank=RECORD,
        ),
        Pattern(r"〒\d{3}-\d{4} ?[一-鿿々ぁ-んァ-ヶー]{2,24}(?:[0-9０-９]{1,5}(?:[-−ー][0-9０-９]{1,5}){0,3})?", rank=RECORD),
        Pattern(r"(?:[一-鿿]{2,4}[省市])?[一-鿿]{2,6}[市区县][一-鿿]{1,12}[路街道巷][0-9]{1,5}号(?:[0-9]{1,5}[号栋楼层室]){0,3}", rank=RECORD),
        Pattern(
            r"[가-힣]{2,7}[시도] (?:[가-힣]{1,6}[시구군] ){1,2}[가-힣0-9]{1,12}[로길동] [0-9]{1,4}(?:-[0-9]{1,4})?(?![0-9])", rank=RECORD
        ),
        Pattern(  # Colombia: the street, the crossing one and the distance from it
            rf"(?<![A-Za-z0-9])(?:Calle|Cll|Carrera|Cra|Kra|Avenida|Transversal|Diagonal)\.? \d{{1,3}}[A-Z]?(?: (?:Sur|Norte|Bis))? ?"
            rf"(?:#|No\.?|N°) ?\d{{1,3}}[A-Z]? ?- ?\d{{1,3}}(?![0-9])(?:, {_CAP})?",
            rank=RECORD,
        ),
        Pattern(  # field post offices of the United States
            rf"(?<![A-Za-z0-9])(?i:(?:PSC|Unit|CMR) \d{{1,5}},? Box \d{{1,6}}|(?:USNV|USNS|USS|USCGC) [A-Za-z{LETTERS}]{{2,20}})"
            r"[,\s>?]{1,8}(?i:[AFD]PO),? (?i:A[AEP])(?: \d{5})?(?![A-Za-z0-9])",
            rank=RECORD,
        ),
    ),
    keys=(
        "adressepostale", "adresseclient", "adressedomicile", "domicile", "strassenname", "strassehausnummer",
        "wohnadresse", "lieferadresse", "rechnungsadresse", "postanschrift", "direccionpostal", "domicilio",
        "direccioncompleta", "indirizzocompleto", "indirizzopostale", "indirizzodiresidenza", "residenza",
        "enderecopostal", "enderecocompleto", "moradacompleta", "straatnaam", "huisadres", "woonadres", "postadres",
        "factuuradres", "bezorgadres", "adreszamieszkania", "adreszameldowania", "adreskorespondencyjny",
        "adresdostawy", "adrespocztowy",
        "strasseundhausnummer", "wohnanschrift", "hausanschrift", "privatadresse", "meldeadresse", "adresselivraison",
        "adressefacturation", "adressecomplete", "lieuresidence", "direccionenvio", "direccionfacturacion",
        "domicilioparticular", "indirizzospedizione", "indirizzofatturazione", "logradouro", "enderecoentrega",
        "moradafiscal", "afleveradres", "straatenhuisnummer", "thuisadres", "miejscezamieszkania",
        "adresdokorespondencji",
        "strtnm", "nombrevia", "nomevia", "nomvoie", "libellevoie",
        "address", "street", "streetaddress", "postaladdress", "homeaddress", "mailingaddress", "billingaddress",
        "shippingaddress", "addressline", "adresse", "anschrift", "strasse", "strase", "rue", "direccion", "calle",
        "indirizzo", "via", "endereco", "rua", "morada", "adres", "straat", "ulica", "residence", "deliveryaddress",
    ),
    shape=rf"(?=.*(?:(?<![A-Za-z])\d|[一二三四五六七八九十][号號番丁])|{_STREET_ALONE}\Z)(?=.*[^\W\d_])(?!\w+://)(?!0x)(?!.*@)[^\x00-\x09\x0b-\x1f<>{{}}\[\]$`|=\\]{{6,200}}",
    plausible=_has_parts,
    canonical=lambda text: " ".join(text.replace(",", " ").split()).casefold(),
    keyed_rank=RECORD,
)  # fmt: skip
