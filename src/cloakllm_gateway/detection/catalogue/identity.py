"""National ids, tax, insurance, patient and travel document numbers.

One row per number.  Most checksums let one in ten or eleven random numbers
pass, so a row says whether its written form is ``DISTINCTIVE`` (a checksum
and a shape that nothing else has) or needs a word or key that names it.
"""

# ruff: noqa: E501 (a row of a table is a line)

from __future__ import annotations

from typing import NamedTuple

from cloakllm_gateway.detection.catalogue import checks
from cloakllm_gateway.detection.catalogue.checks import compact, whole
from cloakllm_gateway.detection.catalogue.model import CHECKED, CONTEXT, SHAPED, Category, Pattern, example
from cloakllm_gateway.detection.catalogue.spoken import SIGN, said

_SSN_WORDS = r"ssn|social.?security|my social|\bsss?\b|\bitin\b|\btin\b|taxpayer|tax.?id"

SSN = Category(
    "SSN",
    examples=(
        example("SSN «536-22-8726»"),
        example("«536-22-8726»"),
        example("ssn=«536904399» in the legacy export"),
        example('{"ssn": "«536228726»"}'),
        example("social security number is «123 45 6789»"),
        example("my social is «536 22 8726», and"),
        example("SSN: «219/09/9999»"),
        example("SSN: «2 1 9 - 0 9 - 9 9 9 9»"),
        example("Scanned: SSN «833-64-209l», Phone"),
    ),
    lookalikes=(
        "Part no. 123-45-6789-RED, order #987-65-4321",
        "000-12-3456 and 666-12-3456 and 536-00-8726",
        "LinkedAccountId: 215805592",
    ),
    patterns=(
        Pattern(r"(?<![A-Za-z0-9.#+-])\d{3}-\d{2}-\d{4}(?![A-Za-z0-9]|[.-][A-Za-z0-9])", whole(checks.ssn)),
        # Part of an address or a user name: found so that the whole counts as sensitive.
        Pattern(r"(?<![0-9])\d{3}-\d{2}-\d{4}(?=[A-Za-z0-9._+-]{0,40}@[A-Za-z])", whole(checks.ssn), rank=CONTEXT),
        Pattern(
            r"(?<![A-Za-z0-9])[A-Za-z]{2,30}[._-]?(\d{9})(?=[A-Za-z._+-]{0,40}@[A-Za-z])",
            whole(checks.ssn),
            rank=CONTEXT,
        ),
        Pattern(
            r"(?i:user|username|login|/home/|/users/)[\"']?[ ]?[:=]?[ ]?[\"']?[A-Za-z][A-Za-z._-]{0,30}(\d{3}-\d{2}-\d{4})",
            whole(checks.ssn),
            rank=CONTEXT,
        ),
        Pattern(  # read by a machine from paper, with letters that look like digits
            rf"(?i:{_SSN_WORDS})[^0-9A-Za-z\n]{{1,8}}([0-9lIOoSBZ]{{3}}-[0-9lIOoSBZ]{{2}}-[0-9lIOoSBZ]{{4}})(?![A-Za-z0-9-])",
            lambda text: len(text) if sum(map(str.isdigit, text)) >= 5 else 0,
            rank=CONTEXT,
        ),
        Pattern(
            rf"(?i:{_SSN_WORDS})[^\d\n]{{0,24}}(\d{{3}}[ ./_-]?\d{{2}}[ ./_-]?\d{{4}}|\d(?: \d){{2}}(?: - | )\d \d(?: - | )\d(?: \d){{3}})(?![A-Za-z0-9]|[.-][A-Za-z0-9])",
            whole(checks.ssn),
            rank=SHAPED,
        ),
    ),
    keys=(
        "ssn",
        "socialsecuritynumber",
        "socialsecurity",
        "ssnumber",
        "socialsecurityno",
        "itin",
        "ssnlast4",
        "taxpayerid",
    ),
    shape=r"(?:\d{3}[ ./_-]?\d{2}[ ./_-]?\d{4}|\d(?:[ -]{1,3}\d){8}|[0-9lIOoSBZ]{3}-[0-9lIOoSBZ]{2}-[0-9lIOoSBZ]{4}|[*xX]{3}-?[*xX]{2}-?\d{4})",
    canonical=compact,
    sensitive=True,
)


class Row(NamedTuple):
    """One national number: its category, its module of ``python-stdnum``, how it is written, what names it."""

    name: str
    module: str
    form: str
    words: str
    keys: tuple[str, ...]
    samples: tuple[str, ...]
    distinctive: bool = False
    alone: str = ""  # the form that needs no name, where that is another one
    keyed: str = ""  # what its key proves besides the form and the samples, however they are divided


_D = r"[ .-]?"


def _grouped(*sizes: int) -> str:
    """Digits in groups, each two groups joined by at most one space, dot or hyphen."""
    return _D.join(rf"\d{{{size}}}" for size in sizes)


ROWS = (
    Row("NIR_FR", "fr.nir", rf"[12]{_D}\d{{2}}{_D}[0-9]{{2}}{_D}\d[0-9AB]{_D}\d{{3}}{_D}\d{{3}}{_D}\d{{2}}",
        r"s[ée]cu|n\.?i\.?r\b|insee|vitale|sociale", ("nir", "numerosecu", "numerosecuritesociale", "insee", "numeroinsee", "numsecu", "securitesociale"),
        ("2 95 10 99 126 111 93",), True),
    Row("DNI_ES", "es.dni", rf"\d{{8}}{_D}[A-Za-z]", r"\bdni\b|\bnif\b|identidad|documento", ("dni", "documentoidentidad"),
        ("54362315-K",)),
    Row("NIE_ES", "es.nie", rf"[XYZxyz]{_D}\d{{7}}{_D}[A-Za-z]", r"\bnie\b|extranjer|identidad", ("nie",), ("X2482300W",)),
    Row("CODICE_FISCALE_IT", "it.codicefiscale", r"[A-Za-z]{6}\d{2}[A-EHLMPR-Ta-ehlmpr-t]\d{2}[A-Za-z]\d{3}[A-Za-z]",
        r"codice.?fiscale|\bc\.?f\.?\b", ("codicefiscale", "cf"), ("RCCMNL83S18D969H",), True),
    Row("PESEL_PL", "pl.pesel", r"\d{11}", r"pesel", ("pesel",), ("44051401359",)),
    Row("NIP_PL", "pl.nip", _grouped(3, 3, 2, 2), r"\bnip\b", ("nip", "numernip", "nrnip"), ("856-734-62-15",)),
    Row("CPF_BR", "br.cpf", r"\d{3}[. ]?\d{3}[. ]?\d{3}[- ]?\d{2}", r"\bcpf\b", ("cpf",), ("390.533.447-05", "39053344705"), True,
        alone=r"\d{3}\.\d{3}\.\d{3}-\d{2}"),
    Row("AADHAAR_IN", "in_.aadhaar", _grouped(4, 4, 4), r"aadhaa?r|\buid(?:ai)?\b|आधार", ("aadhaar", "aadhar", "aadhaarnumber", "uidai"),
        ("2341 2341 2346",)),
    Row("PAN_IN", "in_.pan", r"[A-Za-z]{5}\d{4}[A-Za-z]", r"\bpan\b", ("pannumber", "panno", "pancard"), ("ACUPA7085R",)),
    Row("STEUER_ID_DE", "de.idnr", _grouped(2, 3, 3, 3), r"steuer|\bidnr\b|\btin\b|tax.?id|identifikationsnummer",
        ("steuerid", "steueridnr", "steueridentifikationsnummer", "idnr", "identifikationsnummer"), ("36 574 261 809",)),
    Row("BSN_NL", "nl.bsn", rf"\d{{4}}{_D}\d{{2}}{_D}\d{{3}}|\d{{9}}", r"\bbsn\b|burgerservice|sofi", ("bsn", "burgerservicenummer", "sofinummer"),
        ("111222333",)),
    Row("PERSONNUMMER_SE", "se.personnummer", r"(?:\d{2})?\d{6}[-+ ]?\d{4}", r"personnummer|\bpnr\b|personal.?(?:identity|number)",
        ("personnummer", "personnr", "pnr"), ("880320-0016",)),
    Row("FODSELSNUMMER_NO", "no.fodselsnummer", r"\d{6} ?\d{5}", r"f[øo]dselsn|personnummer|fnr\b", ("fodselsnummer", "fnr"), ("151086 95077",)),
    Row("CPR_DK", "dk.cpr", r"\d{6}[- ]?\d{4}", r"\bcpr\b|personnummer", ("cpr", "cprnummer", "cprnr"), ("211062-5629",)),
    Row("HETU_FI", "fi.hetu", r"\d{6}[-+A-FU-Ya-fu-y]\d{3}[0-9A-Ya-y]", r"hetu|henkil[öo]tunnus|personbeteckning", ("hetu", "henkilotunnus"),
        ("131052-308T",), True),
    Row("NHS_GB", "gb.nhs", _grouped(3, 3, 4), r"\bnhs\b", ("nhs", "nhsnumber", "nhsno"), ("943 476 5870",)),
    Row("NINO_GB", "", r"[A-CEGHJ-PR-TW-Za-ceghj-pr-tw-z][A-CEGHJ-NPR-TW-Za-ceghj-npr-tw-z] ?\d{2} ?\d{2} ?\d{2} ?[A-Da-d]",
        r"\bnino?\b|national.?insurance|\bni (?:no|number)", ("nino", "nationalinsurance", "nationalinsurancenumber", "ninumber"), ("AB 12 34 56 C",)),
    Row("UTR_GB", "gb.utr", r"\d{5} ?\d{5}K?", r"\butr\b|taxpayer reference", ("utr", "utrnumber", "uniquetaxpayerreference"), ("1955839661",)),
    Row("PPS_IE", "ie.pps", r"\d{7}[A-Wa-w][AHWTXahwtx]?", r"\bppsn?\b", ("pps", "ppsn"), ("6433435F",)),
    Row("CNP_RO", "ro.cnp", r"[1-9]\d{12}", r"\bcnp\b", ("cnp",), ("1630615123457",)),
    Row("EGN_BG", "bg.egn", r"\d{10}", r"\begn\b|егн|ЕГН", ("egn",), ("7523169263",)),
    Row("RC_CZ", "cz.rc", r"\d{6}[/ ]?\d{3,4}", r"rodn[eé]|\brc\b", ("rodnecislo",), ("710319/2745",)),
    Row("OIB_HR", "hr.oib", r"\d{11}", r"\boib\b", ("oib",), ("33392005961",)),
    Row("EMSO_SI", "si.emso", r"\d{13}", r"emšo|EMŠO|\bemso\b|\bjmbg\b|mati[cč]ni broj", ("emso", "jmbg", "maticnibroj"), ("0101006500006",)),
    Row("PIB_RS", "rs.pib", r"\d{9}", r"\bpib\b", ("pib",), ("101134702",)),
    Row("AMKA_GR", "gr.amka", r"\d{11}", r"αμκα|ΑΜΚΑ|\bamka\b", ("amka",), ("01013099997",)),
    Row("ASMENS_KODAS_LT", "lt.asmens", r"[1-6]\d{10}", r"asmens", ("asmenskodas",), ("33309240064",)),
    Row("ISIKUKOOD_EE", "ee.ik", r"[1-6]\d{10}", r"isikukood", ("isikukood",), ("36805280109",)),
    Row("PERSONAS_KODS_LV", "lv.pvn", r"\d{6}-?\d{5}", r"personas", ("personaskods",), ("161175-19997",)),
    Row("NISS_BE", "be.nn", r"\d{2}[. ]?\d{2}[. ]?\d{2}[ -]?\d{3}[. ]?\d{2}", r"\bniss\b|\binsz\b|rijksregister|registre national",
        ("niss", "insz", "rijksregisternummer", "numeronational"), ("85.07.30-033 28",)),
    Row("AHV_CH", "ch.ssn", r"756[. ]?\d{4}[. ]?\d{4}[. ]?\d{2}", r"\bahv|\bavs\b|sozialversicherung", ("ahv", "ahvnummer", "avs", "numeroavs"),
        ("756.9217.0769.85",), True),
    Row("VNR_AT", "at.vnr", r"\d{4} ?\d{6}", r"\bsvnr\b|sozialversicherung|\bvsnr\b", ("svnr", "sozialversicherungsnummer", "sozialversicherungsnr", "svnummer"), ("1237 010180",),
        keyed=r"\d{2} ?\d{6} ?[A-Za-z] ?\d{3}"),  # that of Germany goes by the same name
    Row("NIF_PT", "pt.nif", _grouped(3, 3, 3), r"\bnif\b|contribuinte", ("numerocontribuinte", "contribuinte", "nifpt"), ("501 964 843",)),
    Row("KENNITALA_IS", "is_.kennitala", r"\d{6}-?\d{4}", r"kennitala", ("kennitala",), ("450401-3150",)),
    Row("TCKIMLIK_TR", "tr.tckimlik", r"[1-9]\d{10}", r"\bt\.?c\.?\b|kimlik", ("tckimlik", "tckn", "kimlikno"), ("17291716060",)),
    Row("TEUDAT_ZEHUT_IL", "il.idnr", r"\d{7,8}-?\d", r"teudat|zehut|ת\.?ז|תעודת", ("teudatzehut",), ("3933742-3",)),
    Row("SIN_CA", "ca.sin", _grouped(3, 3, 3), r"\bsin\b|social insurance|\bnas\b", ("sin", "socialinsurancenumber"), ("123-456-782",)),
    Row("TFN_AU", "au.tfn", _grouped(3, 3, 3), r"\btfn\b|tax file", ("tfn", "taxfilenumber"), ("123 456 782",)),
    Row("MEDICARE_AU", "", r"[2-6]\d{3} ?\d{5} ?\d(?:[/-]?\d)?", r"medicare", ("medicare", "medicarenumber", "medicareno", "medicareid", "mbi", "medicarecardnumber", "medicarecard"), ("2123 45670 1",),
        keyed=r"[1-9][A-Za-z][A-Za-z0-9]\d-?[A-Za-z][A-Za-z0-9]\d-?[A-Za-z]{2}\d{2}"),  # ... and that of the United States
    Row("IRD_NZ", "nz.ird", r"\d{2,3}-?\d{3}-?\d{3}", r"\bird\b", ("ird", "irdnumber"), ("49-091-850",)),
    Row("IDNR_ZA", "za.idnr", r"\d{13}", r"\bid\b|identity|\brsa\b", ("idnumber", "saidnumber"), ("7503305044089",)),
    Row("CURP_MX", "mx.curp", r"[A-Za-z]{4}\d{6}[HMXhmx][A-Za-z]{5}[A-Za-z0-9]\d", r"\bcurp\b", ("curp",), ("BOXW310820HNERXN09",), True),
    Row("RFC_MX", "mx.rfc", r"[A-Za-zÑñ&]{4}[ -]?\d{6}[ -]?[A-Za-z0-9]{3}", r"\brfc\b", ("rfc",), ("GODE561231GR8",)),
    Row("RUT_CL", "cl.rut", r"\d{1,2}\.?\d{3}\.?\d{3}-[0-9Kk]", r"\brut\b|\brun\b", ("rut", "rutnumero"), ("12.531.909-2",)),
    Row("CUIT_AR", "ar.cuit", r"\d{2}-?\d{8}-?\d", r"\bcuit\b|\bcuil\b", ("cuit", "cuil"), ("20-26756539-3",)),
    Row("CEDULA_EC", "ec.ci", r"\d{9}-?\d", r"c[ée]dula|\bci\b", ("cedula",), ("171430710-3",)),
    Row("CI_UY", "", r"\d\.\d{3}\.\d{3}-\d", r"c[ée]dula|\bci\b", ("cedulauy",), ("1.234.567-2",)),
    Row("NIT_CO", "co.nit", r"\d{3}\.?\d{3}\.?\d{3}-\d", r"\bnit\b", ("nit",), ("213.123.432-1",)),
    Row("RESIDENT_ID_CN", "", r"\d{17}[0-9Xx]", r"身份证|居民|resident|\bid\b", ("shenfenzheng", "residentid"), ("360426199101010071",), True),
    Row("MYNUMBER_JP", "jp.in_", _grouped(4, 4, 4), r"マイナンバー|個人番号|my.?number", ("mynumber",), ("6214 9832 0257",)),
    Row("RRN_KR", "kr.rrn", r"\d{6}[- ]?\d{7}", r"주민|resident|\brrn\b", ("rrn", "residentregistrationnumber"), ("971013-9019902",)),
    Row("NRIC_SG", "", r"[STFGMstfgm]\d{7}[A-Za-z]", r"\bnric\b|\bfin\b", ("nric",), ("S1234567D",)),
    Row("NRIC_MY", "my.nric", r"\d{6}-?\d{2}-?\d{4}", r"\bnric\b|mykad|kad pengenalan", ("mykad", "icnumber"), ("770305-02-1234",)),
    Row("TIN_TH", "th.pin", r"\d[- ]?\d{4}[- ]?\d{5}[- ]?\d{2}[- ]?\d", r"บัตรประชาชน|ประจำตัว|thai.?id|national.?id", ("thaiid",), ("1-2345-45678-78-1",)),
    Row("INN_RU", "ru.inn", r"\d{10}(?:\d{2})?", r"\binn\b|инн|ИНН", ("inn",), ("123456789047",)),
    Row("SNILS_RU", "", r"\d{3}-?\d{3}-?\d{3}[- ]?\d{2}", r"\bsnils\b|снилс|СНИЛС", ("snils", "снилс"), ("112-233-445 95",)),
    Row("CNPJ_BR", "br.cnpj", r"\d{2}\.?\d{3}\.?\d{3}/?\d{4}-?\d{2}", r"\bcnpj\b", ("cnpj",), ("16.727.230/0001-97",), True,
        r"\d{2}\.\d{3}\.\d{3}/\d{4}-\d{2}"),
    Row("NIK_ID", "id.nik", r"\d{16}", r"\bnik\b|\bktp\b", ("nik", "nomorktp", "noktp"), ("3171011708450001",)),
    Row("CNIC_PK", "pk.cnic", r"\d{5}-?\d{7}-?\d", r"\bcnic\b", ("cnic", "cnicnumber"), ("34201-0891231-8",)),
    Row("EMIRATES_ID_AE", "", r"784-?\d{4}-?\d{7}-?\d", r"emirates id", ("emiratesid", "emiratesidnumber"), ("784-1980-1234567-9",), True,
        r"784-(?:19|20)\d\d-\d{7}-\d"),
    Row("IQAMA_SA", "", r"[12]\d{9}", r"\biqama\b|الإقامة|الهوية", ("iqama", "iqamanumber"), ("2123456788",)),
    Row("EDRPOU_UA", "ua.rntrc", r"\d{10}", r"рнокпп|РНОКПП|\brntrc\b|іпн|ІПН|\bipn\b", ("rnokpp", "ipn"), ("1759013776",)),
)  # fmt: skip

_EDGE = r"(?<![A-Za-z0-9.+/_-])"
_END = r"(?![A-Za-z0-9]|[./-][A-Za-z0-9])"


#: Numbers that are proved here: quicker, or unknown to ``python-stdnum``.
_OWN = {
    "RESIDENT_ID_CN": checks.resident_id_cn,
    "SNILS_RU": checks.snils_ru,
    "IQAMA_SA": checks.luhn,
}


def _divided(sample: str) -> str:
    """What has as many letters and digits as a sample, divided anyhow or not at all; the last one checks the others."""
    kinds = [r"\d" if char.isdigit() else "[A-Za-z]" for char in compact(sample)]
    return "[ ./-]?".join((*kinds[:-1], "[0-9A-Za-z]"))


def _national(row: Row) -> Category:
    test = _OWN.get(row.name) or (checks.stdnum(row.module) if row.module else None)
    proof = whole(test) if test else None
    names = said(row.name)
    words = rf"{row.words}|(?<![a-z])(?:{names})" if names else row.words
    patterns = [
        Pattern(rf"(?i:{words})[^\n]{{0,20}}?{_EDGE}({row.form}){_END}", proof, rank=CHECKED if proof else CONTEXT)
    ]
    if row.distinctive:
        patterns.append(Pattern(rf"{_EDGE}{row.alone or row.form}{_END}", proof, rank=CHECKED))
    return Category(
        row.name,
        examples=tuple(example(f'{{"{row.keys[0]}": "«{sample}»"}}') for sample in row.samples),
        patterns=tuple(patterns),
        keys=row.keys,
        shape="|".join(filter(None, (row.form, row.keyed, *map(_divided, row.samples)))),
        canonical=compact,
        sensitive=True,
    )


def _numbered(
    name: str,
    words: str,
    form: str,
    keys: tuple[str, ...],
    samples: tuple[str, ...],
    lookalikes: tuple[str, ...] = (),
    keyed: str = "",
    others: tuple[Pattern, ...] = (),
) -> Category:
    """A number without a public checksum: only behind a word that names it, or under its key, there ``keyed`` as well.

    ``others`` are patterns that need neither.
    """
    return Category(
        name,
        examples=tuple(example(sample) for sample in samples),
        lookalikes=lookalikes,
        patterns=(
            Pattern(
                rf"(?<![A-Za-z])(?<!\._)(?i:(?:{words}|{said(name)}){SIGN})(?!\.[a-z])[^A-Za-z0-9\n`\[]{{1,6}}(?:{_IS}){{0,2}}{_NO_DATE}({form}){_END}",
                rank=CONTEXT,
            ),
            *others,
        ),
        keys=keys,
        shape=f"{form}|{keyed}" if keyed else form,
        canonical=compact,
        sensitive=True,
    )


#: What may stand between the name of a number and the number: ``is``, ``No.``, ``n°``.
_IS = r"(?i:is|was|ist|lautet|est|es|no|number|num|nr)\b[.: #|\t]{1,4}|[Nn]\.?[°º]\.?[ ]?"

#: A day, or several years: what a document, a contract or a staff has as well.
_NO_DATE = r"(?!(?:19|20)\d\d-(?:[01]\d-[0-3]\d|(?:19|20)\d\d)(?![A-Za-z0-9]))"

_CODE = r"(?=[A-Za-z0-9-]{0,12}\d)[A-Za-z0-9](?:-?[A-Za-z0-9]){4,19}"
#: Passports of Russia and Ukraine: a series and a number.
_SERIES = r"(?:сер[иі][яі]:? )?\d{2} ?\d{2},? (?:№ ?|номер )?\d{6}|[А-ЯІЇЄҐ]{2} ?(?:№ ?)?\d{6}"

_TAX_WORDS = (
    r"tax.?(?:id|number|no)|\bein\b|\btin\b|vat (?:id|no|number|reg(?:istration)?(?: no| number)?)|ust-?id(?:ent)?(?:-?nr)?|"
    r"umsatzsteuer-?id(?:entifikationsnummer|-?nr)?|steuer-?(?:nr|nummer)|st\.?-?nr|uid-?(?:nr|nummer)|abgabenkontonummer|"
    r"num[ée]ro (?:fiscal(?: de r[ée]f[ée]rence)?|spi|de tva)|tva(?: intracommunautaire)?|partita iva|"
    r"p\.? ?iva|btw-?(?:nummer|nr|id)|\bnif\b|\bcif\b|nipc|dič|DIČ|\bafm\b|αφμ|ΑΦΜ"
)

#: What machines read in a passport: names, and below them the number and two dates.
_MACHINE_READABLE = (
    Pattern(
        r"(?<![A-Za-z0-9<])P[A-Z<][A-Z<]{3}[A-Z]{1,36}(?:<[A-Z]{1,36}){0,4}<<[A-Z<]{1,36}(?![A-Za-z0-9<])",
        whole(lambda line: len(line) == 44),
        rank=CHECKED,
    ),
    Pattern(
        r"(?<![A-Za-z0-9<])[A-Z0-9](?:[A-Z0-9<]{4}){2}\d[A-Z<]{3}\d{4}\d{3}[MFX<]\d{4}\d{3}[A-Z0-9<]{14}[0-9<]\d(?![A-Za-z0-9<])",
        whole(checks.machine_readable),
        rank=CHECKED,
    ),
)

#: The surname, the birth date, the initials and check characters.
_BRITISH_LICENCE = (
    Pattern(
        r"(?<![A-Za-z0-9._/+-])[A-Z][A-Z9]{4}\d[0156]\d[0-3]\d\d[A-Z][A-Z9][A-Z0-9][A-Z]{2}(?![A-Za-z0-9_/+=-])",
        whole(checks.licence_gb),
    ),
)

NUMBERED = (
    _numbered("PASSPORT", r"passport|reisepass|passeport|pasaporte|passaporto|paspoort|paszport", _CODE,
              ("traveldocument", "traveldocumentnumber", "passnr",
              "reisepass", "passeport", "numerodepasseport", "numerodepasaporte", "numeropasaporte", "numeropassaporto", "numerodopassaporte", "numeropassaporte", "passaporte", "paspoort", "paspoortnummer", "paszport", "numerpaszportu", "nrpaszportu", "passnummer", "passport", "passportnumber", "passportno", "reisepassnummer", "numeropasseport", "pasaporte", "passaporto"),
              ("Passport no. «C01X00T47» issued", "Passport No. «912803456»", "her Passport Number: «X1234567» expires", "Passport Number is «X1234567»", "my passport number is «X1234567» and", '{"passport_number": "«L898902C3»"}',
               "«P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<»\nL898902C36UTO7408122F1204159ZE184226B<<<<<10", "scan: «L898902C36UTO7408122F1204159ZE184226B<<<<<10»"),
              ("passport.js v0.7.0", "passport: required", "P<STRING<<INT", "L898902C37UTO7408122F1204159ZE184226B<<<<<10"),
              rf"{_SERIES}|[A-Z0-9<]{{44}}", _MACHINE_READABLE),
    _numbered("DRIVER_LICENSE", r"driver'?s? licen[cs]e|driving licen[cs]e|(?<!/)dl\b|f[üu]hrerschein|permis de conduire", _CODE,
              ("fuhrerscheinnummer", "fuehrerscheinnummer", "fuehrerschein", "permisdeconduire", "numeropermis", "numerodepermis", "permisoconducir", "permisodeconducir", "carnetdeconducir", "patente", "numeropatente", "patentediguida", "cartademotorista", "carteirademotorista", "cnh", "cartadeconducao", "rijbewijs", "rijbewijsnummer", "prawojazdy", "numerprawajazdy", "driverlicense", "driverslicense", "drivinglicence", "driverlicence", "licensenumber", "fuhrerschein", "driverlicensenumber",
               "fuhrerscheinnr", "fuehrerscheinnr", "permisoconduccion", "licenciadeconducir", "licenciaconducir", "licenciaconduccion", "cartaconducao", "cartamotorista", "carteiramotorista", "nrprawajazdy", "dlnumber", "dln", "driverlicencenumber", "driverslicencenumber"),
              ("driver's license: «D1234567»", "Driver's License No. «S514-7788-1234»", '{"drivers_license": "«2270-66-1551»"}', '{"driversLicense": "«MORGA657054SM9IJ»"}', "holds «MORGA657054SM9IJ» since May", "and «LEE99852103K99AB»,", "Prawo jazdy: «12345/12/1234»",
               "Carta de conducao: «L-1234567 8»"), ('{"licenseNumber": "MIT", "driverLicense": "required"}', "182|mg/dl|70-105|H", "id MORGA693054SM9IJ and MO9GA657054SM9IJ and MORGA657324SM9IJ"),
              r"(?=[A-Za-z /-]{0,8}\d)[A-Za-z0-9](?:[ /-]?[A-Za-z0-9]){4,19}", _BRITISH_LICENCE),
    _numbered("MEDICAL_RECORD", r"mrn|medical record|patient (?:id|no)|krankenakte", r"(?:MRN-?)?(?=[A-Za-z0-9-]{0,10}\d)[A-Za-z0-9](?:-?[A-Za-z0-9]){4,12}",
              ("patientenid", "numeropatient", "numerkartypacjenta", "chartnumber", "hospitalnumber",
              "dossiermedical", "numerodossier", "historiaclinica", "numerohistoria", "cartellaclinica", "prontuario", "patientnummer", "patientennummer", "krankenaktennummer", "numerpacjenta", "nrpacjenta", "mrn", "medicalrecordnumber", "medicalrecord", "patientid", "patientnumber"),
              ("MRN: «MRN-5180742»", '{"mrn": "«MRN-5180742»"}', "was «MRN-8806098» before", "MRN No. «0048213»"), ("MRNA-1273 and MRN-12",),
              others=(Pattern(r"(?<![A-Za-z0-9-])MRN-?\d{5,10}(?![A-Za-z0-9]|-[A-Za-z0-9])", rank=SHAPED),)),
    _numbered("INSURANCE_NUMBER", r"policy|insurance (?:id|no|number|policy)|member id|versicherung(?:snummer|s-nr)|versicherten-?(?:nummer|nr)\.?|krankenkasse", r"(?=[A-Za-z0-9-]{0,10}\d{4})[A-Za-z0-9](?:-?[A-Za-z0-9]){5,15}",
              ("kvnummer", "policennummer", "numeromutuelle", "numeroadherent", "numeroafiliado", "nss",
              "seguridadsocial", "cartaosaude", "cartaosus", "segurancasocial", "zorgverzekeringsnummer",
              "numerubezpieczenia", "insurancepolicy", "rvnr",
              "krankenversicherungsnummer", "versichertennummer", "krankenversichertennummer", "versichertennr", "numeroassurance", "numerodassure", "numeropoliza", "poliza", "numeropolizza", "polizza", "numeroapolice", "apolice", "polisnummer", "verzekeringsnummer", "numerpolisy", "policynumber", "insurancenumber", "insuranceid", "insurancepolicynumber", "policyno", "memberid", "versicherungsnummer", "subscriberid",
               "versicherungsnr", "rentenversicherungsnummer", "krankenversicherungsnr", "krankenkassennummer", "numerosecurite", "numeroseguridadsocial", "nuss", "tarjetasanitaria", "tesserasanitaria", "numerodeutente", "numeroutente",
               "medicaid", "medicaidid", "healthcard", "healthcardnumber", "kvnr", "versichertenkarte", "egknummer", "egknr",
               "cartevitale", "numeroafiliacion", "nrpolisy", "healthinsurancenumber", "healthinsuranceid"),
              ("Policy: «POL-7043906»", '{"policy_number": "«POL-4127272»"}', "Rentenversicherungsnummer: «65 170839 J 003»", "Health card: «1234-567-890-AB»", "Policy No. «HX-4471-22»",
               "seine Sozialversicherungsnummer «65 170839 J 003» und", "Insurance: «XJH882134567»"), ("See policy ``CMP0022`` and :policy:`CMP0074`, policy() ([CVE-2023-0466", "Insurance 2024-2025", "self._policy.rfc2965, getattr(self._policy, 'rfc2109')"),
              r"(?=[A-Za-z0-9 -]{0,12}\d{3})[A-Za-z0-9](?:[ -]?[A-Za-z0-9]){5,21}",
              (Pattern(r"(?i:(?:sozial|renten)versicherungs(?:nummer|-?nr\.?)|\brvnr|\bsvnr)[: ]{1,3}(\d{2} ?[0-3]\d[01]\d{3} ?[A-Z] ?\d{3})(?![A-Za-z0-9])", rank=CONTEXT),
               Pattern(r"(?<![A-Za-z])(?i:insurance)[: #]{1,3}([A-Z]{2,4}-?\d{6,12})(?![A-Za-z0-9-])", rank=CONTEXT))),
    _numbered("TAX_ID", _TAX_WORDS, r"(?:[A-Z]{2}U? ?)?\d{2}(?:[-/. ]?\d){6,11}(?:B\d{2})?|[A-HJ-NP-SUVW]-?\d{7}-?[0-9A-J]|\d{8}-?[A-Za-z]",
              ("numeroidentificacaofiscal",
              "steuernr", "numerofiscale", "numerodefiscal", "identificacionfiscal", "numeroidentificacionfiscal", "btwnummer", "fiscaalnummer", "numerpodatkowy", "nippodatkowy", "taxid", "ein", "tin", "vatid", "vatnumber", "taxnumber", "taxidentificationnumber", "ustid", "steuernummer", "numerofiscal", "partitaiva", "nif",
               "stnr", "ustidnr", "ustidentnr", "umsatzsteuerid", "umsatzsteueridnr", "umsatzsteueridentifikationsnummer", "uidnummer", "abgabenkontonummer", "numerofiscaldereference", "numerospi", "numerotva",
               "numerodetva", "numerotvaintracommunautaire", "tvaintracommunautaire", "piva", "numeropartitaiva", "numerodipartitaiva", "btwid", "btwnr", "cif", "nipc", "dic", "afm", "vatno", "vatregistrationnumber", "taxno", "taxreference"),
              ("Tax ID: «91-1397884»", "Steuernummer «181/815/08155»", "USt-IdNr.: «DE136695976»", '{"tax_id": "«70-2585894»"}')),
    _numbered("NATIONAL_ID", r"national.?id|\bnid\b|\bcccd\b|\bcmnd\b|căn cước|identity (?:card|number)|personalausweis|id card", r"\d{2,9}(?: \d{1,9}){1,4}(?: ?[A-Z]{2}\d)?|[A-Z]{2,3} \d{5,7}(?: ?[A-Z]{2})?|(?:NID-?)?(?=(?:[A-Za-z-]{0,8}\d){3})[A-Za-z0-9](?:-?[A-Za-z0-9]){5,15}",
              ("citizenid", "aliennumber", "numerocarteidentite",
              "carteidentite", "numerocni", "cni", "numeroidentite", "cartaidentita", "cartadidentita", "numerodocumento", "documentoidentita", "bilhetedeidentidade", "cartaocidadao", "numeroidentificacao", "identiteitskaart", "idkaart", "dowodosobisty", "numerdowodu", "seriadowodu", "personalausweisnummer", "nationalid", "nationalidnumber", "identitynumber", "identitycard", "personalid", "nid", "ausweisnummer", "personalausweis",
               "personalausweisnr", "ausweisnr", "nrdowodu", "nrdowoduosobistego", "seriainumerdowodu", "numerdowoduosobistego", "cartaodecidadao", "cartaodocidadao", "bilheteidentidade", "rg", "tituloeleitor", "identiteitsbewijs", "voterid", "ausweis",
               "cartenationaleidentite", "documentonacionalidentidad", "identiteitskaartnummer", "identitycardnumber", "idcardnumber", "idcard",
               "documentodeidentidad"),
              ("National ID: «NID-900189483»", "CCCD «001099012345»", '{"national_id": "«NID-900189483»"}', '{"personalausweisnummer": "«L01X00T47»"}', "Cartao de cidadao: «12345678 9 ZZ4»", "RG: «12.345.678-9»"), ('{"national_id": "required"}',),
              r"(?=[A-Za-z .-]{0,8}\d)[A-Za-z0-9](?:[ .-]?[A-Za-z0-9]){5,15}"),
    _numbered("EMPLOYEE_ID", r"employee (?:id|no|number)|emp(?:loyee)?.?id|personalnummer|staff (?:id|no)", r"(?:EMP-?)?(?=[A-Za-z0-9-]{0,8}\d{2})[A-Za-z0-9](?:-?[A-Za-z0-9]){3,11}",
              ("mitarbeiternummer", "mitarbeiterid", "numeroemploye", "numeroempleado", "idempleado", "matricola", "numerodipendente", "numerofuncionario", "personeelsnummer", "numerpracownika", "employeeid", "empid", "staffnumber", "staffno", "nrpracownika", "employeenumber", "staffid", "personalnummer", "matricule"),
              ("Employee ID: «EMP-84167»", '{"employee_id": "«EMP-13040»"}')),
    _numbered("VIN", r"\bvin\b|vehicle identification|fahrgestell", r"[A-HJ-NPR-Za-hj-npr-z0-9]{17}", ("vin", "vinnumber", "vehicleidentificationnumber", "fahrgestellnummer", "chassisnumber", "chassis", "numerotelaio", "numeroditelaio", "numerobastidor",
               "bastidor", "numerochassi", "chassi", "chassisnummer", "numerserie", "numernadwozia", "vinnummer"),
              ("VIN «1HGCM82633A004352»",), ("vin = model.predict(x)",)),
    _numbered("LICENSE_PLATE", r"license plate|licence plate|number plate|plate (?:no|number)|kennzeichen|immatriculation|matr[ií]cula|targa",
              r"[A-ZÄÖÜ0-9]{1,4}[ -][A-Z0-9]{1,5}(?:[ -][A-Z0-9]{1,4})?", ("vrm", "kentekenplaat", "kentekennummer", "targaveicolo", "placaveiculo", "nrrej",
              "licenseplate", "licenceplate", "platenumber", "kennzeichen", "immatriculation", "plate", "numberplate", "registrationplate",
               "vehicleregistration", "vehicleregistrationnumber", "carregistration", "autokennzeichen", "plaqueimmatriculation", "matricula",
               "placa", "numeroplaca", "targa", "kenteken", "numerrejestracyjny", "nrrejestracyjny", "tablicarejestracyjna", "rejestracja",
               "kfzkennzeichen", "nummernschild", "numeromatricula", "numerotarga", "numeroimmatriculation"),
              ("Kennzeichen «M-AB 1234» falsch geparkt", '{"license_plate": "«AB-123-CD»"}', '{"licensePlate": "«7ABC123»"}', "targa: «AB123CD»", '{"placa": "«ABC1D23»"}'),
              ('{"plate": "HEPA", "licensePlate": "12", "placa": "MADRE"}',), r"(?=[A-Z]{0,6}\d)(?=\d{0,6}[A-Z])[A-Z0-9]{4,8}"),
)  # fmt: skip

NATIONAL = tuple(_national(row) for row in ROWS)
