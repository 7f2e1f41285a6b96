"""Cards, bank accounts, wallets."""

from __future__ import annotations

from cloakllm_gateway.detection.catalogue import checks
from cloakllm_gateway.detection.catalogue.checks import whole
from cloakllm_gateway.detection.catalogue.model import CHECKED, CONTEXT, KEYED, SHAPED, Category, Pattern, example

_CARD_WORDS = (
    r"card|karte|carte|carta|tarjeta|cart[aã]o|kaart|karta|visa|master|amex|american express|discover|maestro|credit|"
    r"debit|charge|payment|\bpan\b|\bcc\b|kredit|カード|卡"
)
_EDGE = r"(?<![A-Za-z0-9.+-])(?<![A-Za-z0-9][:/])"
_END = r"(?![A-Za-z0-9]|[.-]\d)"
#: What may stand between the groups of a card's number.
_GAP = r"(?:[ ._\t-]{1,2}| - )"


def _card_on_two_lines(text: str) -> bool:
    """A card's number that the end of its line may break: numbers below each other are several."""
    return text.count("\n") < 2 and checks.card(text)


CREDIT_CARD = Category(
    "CREDIT_CARD",
    examples=(
        example("Card «4111 1111 1111 1111».com"),
        example("«4111-1111-1111-1111»"),
        example("«4111.1111.1111.1111»"),
        example("«4111_1111_1111_1111» and"),
        example("«4111 - 1111 - 1111 - 1111» and"),
        example("«4111\t1111\t1111\t1111»"),
        example("card «4111/1111/1111/1111» expired"),
        example("Karten: 4111 1111 1111 1111 «5500 0000 0000 0004»"),
        example("card «4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1» expired"),
        example("Tarjeta «4539 1488 0343 6467» cad. 12/27"),
        example("Amex «3782 822463 10005» declined"),
        example("my card «5555555555554444» was charged"),
        example('{"card": "«4242424242424242»"}'),
        example("%B«4532015112830366»^VEGA/INES^30121010000000000?"),
        example("«4532015112830366»|12|30|123"),
        example('{"card_number": «4242424242424242»}'),
    ),
    lookalikes=(
        "sha 4f4111111111111111ab",
        "id 3f2b8c1e-9d4a-4b6f-8a2e-672331071866",
        '{"trace": 4111111111111111, "kind": "counter"}',
        '{"order_id": "4000123412341234", "batch": 1234567890123456}',
        "ms 1767225600009 and 0.4111111111111111",
        "4111 1111 1111 1112",
        "4111\n1111\n1111\n1111\n",
        "0000000: 2e54 4820 5858 4420 3120 2241  .TH",
        "543e 5426 544e 5427 5446 5443 5433 5448 5442",
    ),
    patterns=(
        Pattern(rf"{_EDGE}\d{{4}}(?:{_GAP}\d{{4}}){{3}}[ ._\t-]\d{{3}}{_END}", whole(checks.card), rank=CHECKED),
        Pattern(  # among more such groups it is a line of a dump
            rf"{_EDGE}(?<![0-9A-Fa-f]{{4}} [0-9A-Fa-f]{{4}} )\d{{4}}(?:(?:{_GAP}|\r?\n)\d{{4}}){{3}}"
            rf"(?! {{1,2}}(?=[0-9A-Fa-f]{{4}}(?![A-Za-z0-9]))[0-9]{{0,3}}[A-Fa-f]){_END}",
            whole(_card_on_two_lines),
            rank=CHECKED,
        ),
        Pattern(  # in groups, and digit by digit, where a word says so
            rf"{_EDGE}(?:\d{{4}}(?:[/,|·: ]\d{{4}}){{3}}|\d(?: \d){{12,18}}){_END}",
            whole(checks.card),
            rank=CHECKED,
            near=_CARD_WORDS,
        ),
        Pattern(rf"{_EDGE}3\d{{3}}{_GAP}\d{{6}}{_GAP}\d{{4,5}}{_END}", whole(checks.card), rank=CHECKED),
        Pattern(rf"{_EDGE}4\d{{3}}(?:[ .-]\d{{4}}){{2}}[ .-]\d{_END}", whole(checks.card), rank=CHECKED),
        Pattern(rf"{_EDGE}\d{{12,19}}{_END}", whole(checks.luhn_card), rank=CHECKED, near=_CARD_WORDS),
        # Before the name and before the date of its end: %B4111...^ and ;4111...= of a strip, 4111...|12|30.
        Pattern(r"(?<![A-Za-z0-9])(?:%B|;)(\d{13,19})(?=[\^=])", whole(checks.card), rank=CHECKED),
        Pattern(
            r"(?<![A-Za-z0-9.+-])\d{13,19}(?=[|:;](?:0[1-9]|1[0-2])[|:;/](?:20)?[2-4]\d(?!\d))",
            whole(checks.card),
            rank=CHECKED,
        ),
        # In parts: {"pan1": "4242", "pan2": "4242", ...}.
        Pattern(r"(?i:pan|card|cc|card_?number|karte)_?[1-5][\"'][ ]?:[ ]?[\"'](\d{4})[\"']", rank=SHAPED),
        Pattern(
            rf"{_EDGE}[3-6]\d{{3}} ?\d{{0,2}}[*xX•]{{2,6}}[ -]?(?:[*xX•]{{2,6}}[ -]?){{1,2}}\d{{4}}{_END}", rank=SHAPED
        ),
    ),
    keys=(
        "numerodecarte", "numerocartebancaire", "cartedecredit", "numerodetarjeta", "tarjetacredito",
        "tarjetadecredito", "numerodicarta", "numerocartacredito", "numerodocartao", "cartaodecredito",
        "creditcardnummer", "bankkaart", "kartakredytowa", "numerkartykredytowej", "kreditkartennr",
        "card", "cardnumber", "creditcard", "creditcardnumber", "debitcard", "ccnumber", "cc", "ccnum", "pan", "cardno",
        "paymentcard", "kreditkarte", "kreditkartennummer", "kartennummer", "cartebancaire", "numerocarte", "tarjeta",
        "numerotarjeta", "cartadicredito", "numerocarta", "cartaocredito", "numerocartao", "creditcardno",
        "kaartnummer",
        "numerkarty",
    ),
    shape=r"\d(?:[ ._\t/,|·:-]{0,3}\d){11,18}",
    canonical=checks.digits,
    sensitive=True,
)  # fmt: skip

_COUNTRY = "|".join(checks.IBAN_LENGTHS)

IBAN = Category(
    "IBAN",
    examples=(
        example("«DE89 3704 0044 0532 0130 00» by Friday"),
        example("iban: «de89370400440532013000»"),
        example("«DE89-3704-0044-0532-0130-00» |"),
        example("«NL91 ABNA 0417 1643 00»"),
        example("«DE89.3704.0044.0532.0130.00», please"),
        example("pay «AT61/1904/3002/3457/3201» now"),
        example("IBAN «DE 89 3704 0044 0532 0130 00»"),
        example("IBAN: «D E 8 9 3 7 0 4 0 0 4 4 0 5 3 2 0 1 3 0 0 0»"),
        example('{"iban": "«FR55072724133710230501»"}'),
    ),
    lookalikes=("DE89 3704 0044 0532 0130 01", "SE4550000000058398257467", "AB12CDEF34567890123456"),
    patterns=(
        Pattern(
            rf"(?<![A-Za-z0-9])(?i:{_COUNTRY})\d{{2}}(?:(?:[ ._/-]|\r?\n)?[A-Za-z0-9]){{11,32}}",
            checks.iban,
            rank=CHECKED,
        ),
        Pattern(
            r"(?<![A-Za-z])(?i:iban)[^A-Za-z0-9\n]{1,8}(?:(?:is|no|number|:) ?){0,2}"
            r"([A-Za-z] ?[A-Za-z] ?\d ?\d(?:[ ._/-]?[A-Za-z0-9]){11,32})",
            checks.iban_extent,
            rank=CONTEXT,
        ),
        Pattern(
            r"(?<![A-Za-z])(?i:iban)[ :=#\"']{1,4}([A-Za-z]{2}\d{2}[A-Za-z0-9]{11,30})(?![A-Za-z0-9])",
            rank=CONTEXT - 10,
        ),
    ),
    keys=("iban", "ibannumber", "ibancode", "accountiban", "bankiban"),
    shape=r"[A-Za-z] ?[A-Za-z] ?\d ?\d(?:[ ._/-]?[A-Za-z0-9]){10,32}",
    canonical=checks.compact,
    sensitive=True,
)

BIC = Category(
    "BIC",
    examples=(example("BIC: «COBADEFFXXX»"), example('{"swift": "«DEUTDEFF500»"}')),
    lookalikes=("SWIFTLY DEPLOYED", "BICYCLES ARE FUN"),
    patterns=(
        Pattern(
            r"(?<![A-Za-z])(?:BIC|SWIFT|Swift|bic|swift)(?:(?:/| |-)?(?:BIC|SWIFT|[Cc]ode))?[ :=\"']{1,4}"
            r"([A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?)(?![A-Za-z0-9])",
            rank=CONTEXT,
        ),
    ),
    keys=("bic", "swift", "swiftcode", "biccode", "bicswift", "swiftbic"),
    shape=r"[A-Za-z]{6}[A-Za-z0-9]{2}(?:[A-Za-z0-9]{3})?",
    canonical=checks.compact,
)

BANK_ACCOUNT = Category(
    "BANK_ACCOUNT",
    examples=(
        example("account number: «9382637939»"),
        example('{"account_number": "«5676512785»"}'),
        example("Kontonummer «0532013000»"),
        example("BLZ «37040044»"),
        example("CLABE «032180000118359719»"),
        example("Account «9382637939» is active"),
        example("Nr konta: «61 1090 1014 0000 0712 1981 2874»"),
        example("RIB: «30002 00550 0000157841Z 25»"),
    ),
    lookalikes=("LinkedAccountId: 215805592", "account 12", "accountNumber of items: 7"),
    patterns=(
        Pattern(
            r"(?<![A-Za-z])(?i:(?:bank )?(?:account|acct|a/c) ?(?:number|num|no|nr|#)|acct|routing ?(?:number|no)?|"
            r"sort code|konto(?:nummer|-nr|nr)|num[eé]ro de (?:compte|cuenta)|clabe|blz|bsb)[.:=# \"'-]{1,5}"
            r"(?:(?:is|was) )?(\d(?:[ -]?\d){5,17})(?![A-Za-z0-9]|[.-]\d)",
            rank=CONTEXT,
        ),
        Pattern(r"(?<![A-Za-z_])(?:[Aa]ccount|ACCOUNT)[: #]{1,3}(\d{8,14})(?![A-Za-z0-9]|[.-]\d)", rank=CONTEXT),
    ),
    keys=(
        "acct", "bankkonto", "beneficiaryaccount", "debitaccount", "checkingaccount",
        "numerodecompte", "comptebancaire", "numerodecuenta", "cuentabancaria", "numerodiconto", "contobancario",
        "contocorrente", "numerodaconta", "contabancaria", "bankrekening", "bankrekeningnummer", "kontobankowe",
        "numerkontabankowego", "nrkonta", "rachunekbankowy", "numerrachunku", "bankverbindung", "bankleitzahl", "blz",
        "accountnumber", "bankaccount", "bankaccountnumber", "accountno", "acctno", "acctnumber", "kontonummer",
        "numerocompte", "numerocuenta", "numeroconto", "numeroconta", "rekeningnummer", "numerkonta", "routingnumber",
        "sortcode", "routing", "clabe", "bsb", "kontonr", "ktonr", "kto", "nrrachunku", "rachunek", "nrb", "rib", "nib",
        "cuenta", "cuentacorriente", "ccc", "cbu",
    ),
    shape=r"[A-Za-z]{0,4}\d(?:[ -]?\d){4,27}|\d{5} ?\d{5} ?[0-9A-Z]{11} ?\d{2}",
    canonical=checks.compact,
    sensitive=True,
)  # fmt: skip

WALLET = Category(
    "WALLET",
    examples=(
        example("sent to «bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq»"),
        example("eth «0xde0B295669a9FD93d5F28D9Ec85E40f4cb697BAe»"),
        example("to «1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa» on"),
        example("litecoin «LM2WMpR1Rp6j3Sa59cMXMs1SPzj9eXpGc1»"),
        example("ltc «ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9»"),
        example("doge «DH5yaieqoZN36fDVciNyRueRGvGLR3mr7L»"),
        example("tron «TJRabPrwbZy45sbavfcjinPJC18kjpRTv8»"),
        example("xrp «rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh»"),
        example('{"wallet": "«DRpbCBMxVnDK7maPM5tGv6MvB3v1sRMC86PZ8okm21hy»"}'),
    ),
    lookalikes=(
        "0xdeadbeef",
        "commit 3f2a1c9d8e7b6a5f4c3d2e1f0a9b8c7d6e5f4a3b",
        "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdx",
        "TJRabPrwbZy45sbavfcjinPJC18kjpRTv9",
        "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTg",
    ),
    patterns=(
        Pattern(
            r"(?<![A-Za-z0-9])(?i:bc|tb|ltc|addr|stake|cosmos|osmo)1[02-9ac-hj-np-zA-HJ-NP-Z]{25,110}(?![A-Za-z0-9])",
            whole(checks.bech32),
        ),
        Pattern(r"(?<![A-Za-z0-9])0x[0-9a-fA-F]{40}(?![A-Za-z0-9])"),
        Pattern(  # Bitcoin and Dash, Dogecoin, Litecoin, Tron, XRP, Zcash
            r"(?<![A-Za-z0-9+/=_-])[13LMDXTrt](?:[1-9A-HJ-NP-Za-km-z]{4}){4}[1-9A-HJ-NP-Za-km-z]{8,18}(?![A-Za-z0-9+/=_-])",
            whole(checks.base58check),
        ),
    ),
    keys=("wallet", "walletaddress", "btcaddress", "ethaddress", "bitcoinaddress", "cryptoaddress"),
    shape=r"[A-Za-z0-9]{20,120}",
    sensitive=True,
)

_CODE_WORDS = (
    r"cvv2?|cvc2?|cid|card (?:verification|security) (?:code|value|number)|security code|verification value|prüfziffer"
    r"|prüfnummer|kartenprüfnummer|code de sécurité|cryptogramme(?: visuel)?|código de seguridad|codice di sicurezza"
    r"|código de segurança|beveiligingscode|kod zabezpieczający"
)

CARD_CODE = Category(
    "CARD_CODE",
    examples=(
        example("cvv=«123» exp=12/27"),
        example('{"cvc": "«4821»"}'),
        example("the security code is «4821»."),
        example("Prüfziffer «123» auf der Rückseite"),
    ),
    lookalikes=("cvs 123", "CVE-2024-1234", "security code review 2024-12"),
    patterns=(
        Pattern(
            rf"(?<![A-Za-z])(?i:{_CODE_WORDS})(?:[ :=\"'#]{{1,4}}|(?: number)?(?: is|:| ist| est| es)? {{1,2}})"
            r"(\d{3,4})(?![A-Za-z0-9-]|\.\d)",
            rank=CONTEXT,
        ),
    ),
    keys=(
        "cvv",
        "cvc",
        "cvv2",
        "cvc2",
        "securitycode",
        "cardcode",
        "prufziffer",
        "kartenprufnummer",
        "cryptogramme",
        "codigoseguridad",
        "codicesicurezza",
        "codigoseguranca",
        "beveiligingscode",
    ),
    shape=r"\d{3,4}",
    sensitive=True,
    keyed_rank=KEYED,
)

CARD_EXPIRY = Category(
    "CARD_EXPIRY",
    examples=(
        example("card 4111111111111111 exp «12/27»"),
        example("Visa, valid thru: «09/2028»"),
        example('{"card_expiry": "«12/2027»"}'),
        example("Karte gültig bis «12/27»"),
    ),
    lookalikes=("the cookie expires 12/27", "exp=1767225600", '{"expiry": "2027-12-31T00:00:00Z"}', "version 12/27"),
    patterns=(
        Pattern(
            r"(?<![A-Za-z])(?i:exp(?:ir(?:y|es|ation|ing))?(?: date)?|valid (?:thru|through|until|to)|good thru"
            r"|gültig bis|expire|caduca|vencimiento|validade|scadenza|geldig tot|ważna do)[ .:=\"']{1,4}"
            r"((?:0[1-9]|1[0-2]) ?[/-] ?(?:20)?[2-4]\d)(?![0-9/-])",
            near=_CARD_WORDS,
            rank=CONTEXT,
        ),
    ),
    keys=(
        "cardexpiry", "cardexpiration", "cardexp", "expdate", "expirydate", "expirationdate", "validthru", "ccexp",
        "cardexpirydate", "cardexpirationdate", "kartenablauf", "gueltigbis", "gultigbis", "dateexpiration",
        "fechavencimiento", "datascadenza", "datavalidade", "vervaldatum", "datawaznosci", "ablaufdatum",
        "fechacaducidad", "geldigtot", "waznado",
    ),
    shape=r"(?:0?[1-9]|1[0-2]) ?[/-] ?(?:20)?\d\d",
    canonical=checks.digits,
    sensitive=True,
)  # fmt: skip
