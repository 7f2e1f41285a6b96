"""Credentials: vendor formats, AWS, JWT, private keys, and whatever stands under a secret's name."""

from __future__ import annotations

import re
from base64 import b64decode

from cloakllm_gateway.detection.catalogue import checks, vendors
from cloakllm_gateway.detection.catalogue.checks import whole
from cloakllm_gateway.detection.catalogue.model import (
    CERTAIN,
    CONTEXT,
    SECRET_KEYED,
    Category,
    Example,
    Pattern,
    example,
)
from cloakllm_gateway.detection.catalogue.vendors import EDGE
from cloakllm_gateway.patterns import lazy

_PLACEHOLDER = lazy(
    r"(?i)[*xX.•#-]+|(?:[^A-Za-z0-9]*%[sdr])+[^A-Za-z0-9]*|<.*>|\$?\{.*\}|\$\(.*\)|%.*%|\[.*\]|null|none|nil"
    r"|your[A-Za-z_ -]*\d?|(?:my|the|some|new|old|an?)"
    r"(?=[a-z_ -]{0,24}(?:pass|pwd|pw|secret|token|key|value|credential|string))[a-z_ -]+\d?|undefined|true|"
    r"false|yes|no|on|off|string|text|password|passwd|secret|token|key|hidden|redacted|masked|required|optional|"
    r"example|changeme|placeholder|todo|n/?a|empty|default|unset|missing|invalid|expired|env|str|int|bytes|"
    r"object|value|self(?:\..*)?|os\..*|process\..*|env\..*|config\..*|settings\..*|args\..*|getpass\..*|"
    r"(?=\S+ \S+ \S).*\b(?:must|should|cannot|required|incorrect|characters|please|forgot|does not|do not)\b.*|"
    r"\w+\(.*|.*\[\w*\]|\$\w+|.*\(\)?|`.*`|bearer|basic|digest|aws4-hmac-sha256|\w+/\d{8}/[\w-]+/[\w-]+/aws4_request"
)


#: What a shell keeps under PWD.
_DIRECTORY = lazy(r"(?:~|[A-Za-z]:)?(?:[/\\][\w.@ +-]+){2,}[/\\]?")
#: Base64 may begin with a slash and have more: a part of it is a run that no folder is called.
_RUN = lazy(r"[A-Za-z0-9+]{12,}")


def _is_directory(text: str) -> bool:
    if _DIRECTORY.fullmatch(text) is None:
        return False
    return not any(checks.mixed(run) and any(map(str.isdigit, run)) for run in _RUN.findall(text))


def plausible_secret(text: str) -> bool:
    """Whether a secret's field holds one, and not a placeholder, a type, a count or a piece of code."""
    text = text.strip()
    return (
        len(text) >= 4
        and not _PLACEHOLDER.fullmatch(text)
        and not _is_directory(text)
        and not re.fullmatch(r"\d{1,5}|[A-Z][a-z]+|[a-z]{2,5}", text)
    )


def is_random(text: str) -> bool:
    """A field whose name may mean something else (``token``, ``key``) must look random."""
    return len(text) >= 8 and plausible_secret(text) and checks.mixed(text) and " " not in text.strip()


def _in_both_cases(text: str) -> int:
    """Letters as no hash has them."""
    return 0 if text.islower() or text[4:].isupper() else len(text)


_CONSONANTS = lazy(r"[A-Z]?[bcdfghjklmnpqrstvwxz]{5}")


def _is_generic_key(text: str) -> int:
    """Behind a word like ``token``: digits among letters, or what no word of a language has, five consonants on end."""
    digits = sum(map(str.isdigit, text))
    return len(text) if (digits >= 3 and not vendors.is_identifier(text)) or _CONSONANTS.search(text) else 0


def _random(text: str) -> int:
    """The length of what is random, less a full stop behind it, and no name of something: ``ctypes.POINTER``."""
    value = text.rstrip(".")
    arbitrary = any(map(str.isdigit, value)) or (value.isalpha() and vendors.in_arbitrary_case(value))
    return len(value) if arbitrary and is_random(value) else 0


API_KEY = Category(
    "API_KEY",
    examples=(
        example("«https://hooks.slack.com/services/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»"),
        Example("Old key: " + "sk1234567890" + "abcdefghijklmnop.", "sk1234567890" + "abcdefghijklmnop"),
        Example("key AQE" + "q7RvK3xZ9mTb2WcY5nHf8LpD" * 3, "AQE" + "q7RvK3xZ9mTb2WcY5nHf8LpD" * 3),
        Example("the log ends in " + "ghp_" + "q7RvK3xZ9mTb", "ghp_" + "q7RvK3xZ9mTb"),
    ),
    lookalikes=("sk-learn-contrib-project-template",
                "key-value-pairs-in-a-dictionary-of-things", "pat_answer re_compile_all_again",
                "tokenExpirationTimeInSeconds keyAgreementAlgorithmName",
                "-----BEGIN CERTIFICATE-----\nAQEBBQADggEPADCCAQoCggEBAKukgeWVzfX2FI7CT8rU4niVWJxB4Q2ZQCQXOZEz\nZum+"),
    patterns=(
        *vendors.patterns(),
        # Who knows these addresses may write there: they are credentials from their first letter.
        Pattern(
            rf"{EDGE}(?:https?://)?hooks\.slack\.com/(?:services|workflows|triggers)/[A-Z0-9]{{6,14}}/[A-Za-z0-9/]{{16,60}}",
            rank=CERTAIN,
        ),
        Pattern(
            rf"{EDGE}(?:https?://)?(?:ptb\.|canary\.)?discord(?:app)?\.com/api/webhooks/\d{{17,20}}/[A-Za-z0-9_-]{{50,80}}",
            rank=CERTAIN,
        ),
        Pattern(
            rf"{EDGE}(?:https?://)?(?:[a-z0-9-]{{1,40}}\.)?webhook\.office\.com/webhookb2/[a-f0-9@-]{{60,90}}"
            r"/IncomingWebhook/[a-f0-9]{32}/[a-f0-9-]{36}(?:/[A-Za-z0-9_-]{1,64})?",
            rank=CERTAIN,
        ),
        Pattern(  # what many a service and a person calls a key
            # Without a hyphen it may stand in a picture as well, between two signs of base64.
            rf"{EDGE}(?<!\+)(?:sk|pk|api|key|token|secret)(?:[_-]|(?![A-Za-z0-9]{{65}}|[A-Za-z0-9]{{18,64}}[+/]))"
            r"(?:(?:live|test|prod)[_-]?)?[A-Za-z0-9]{18,128}(?![A-Za-z0-9_-])",
            _is_generic_key,
        ),
        Pattern(  # cut off by the end of its text
            rf"{EDGE}(?:ghp_|gho_|ghs_|github_pat_|glpat-|sk-|sk_live_|xox[abprs]-|AKIA|ASIA|AIza|hf_|npm_|eyJ)"
            r"[A-Za-z0-9_-]{6,256}(?![^\x1c])",
            lambda text: len(text) if checks.mixed(text[4:]) and any(map(str.isdigit, text)) else 0,
            rank=CONTEXT,
        ),
        Pattern(rf"{EDGE}(?:https?://)?hooks\.zapier\.com/hooks/catch/\d{{5,9}}/[A-Za-z0-9]{{5,16}}", rank=CERTAIN),
        Pattern(rf"{EDGE}\d{{8,10}}:AA[A-Za-z0-9_-]{{33}}(?![A-Za-z0-9_-])", rank=CERTAIN),  # Telegram
        Pattern(r"(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{11,64}:APA91b[A-Za-z0-9_-]{100,200}", rank=CERTAIN),  # Firebase
        Pattern(r"(?<![A-Za-z0-9_-])00(?:[A-Za-z0-9_-]{10}){4}(?![A-Za-z0-9_-])", _in_both_cases, rank=CERTAIN),  # Okta
        Pattern(  # ngrok
            r"(?<![A-Za-z0-9_-])2(?:[A-Za-z0-9]{13}){2}_(?:[A-Za-z0-9]{7}){3}(?![A-Za-z0-9_])",
            _in_both_cases,
            rank=CERTAIN,
        ),
        Pattern(r"(?<![A-Za-z0-9_-])11(?:[a-f0-9]{8}){4}(?![A-Za-z0-9])"),  # Jenkins
        Pattern(r"(?<![A-Za-z0-9_-])(?:[a-f0-9]{12}){3}NRAL(?![A-Za-z0-9])", rank=CERTAIN),  # New Relic
        Pattern(r"(?<![A-Za-z0-9_-])(?:[a-f0-9]{8}){3}:[a-f0-9]{64}(?![A-Za-z0-9])", rank=CERTAIN),  # Ghost
        Pattern(r"(?<![A-Za-z0-9_-])\d{15,16}\|[A-Za-z0-9_-]{27}(?![A-Za-z0-9_-])", _random, rank=CERTAIN),  # Facebook
        Pattern(rf"{EDGE}(?:A{{7}}){{3}}[A-Za-z0-9%+/]{{60,110}}(?![A-Za-z0-9%+/])", _random, rank=CERTAIN),  # Twitter
        Pattern(  # RapidAPI
            r"(?<![A-Za-z0-9_-])[a-z0-9]{10}msh[a-z0-9]{15}p1[a-z0-9]{5}jsn[a-z0-9]{12}(?![A-Za-z0-9])"
        ),
        # Adyen, in two forms; lines of certificates begin like the second one.
        Pattern(r"(?<![A-Za-z0-9\n])AQE[A-Za-z0-9_-]{60,}", _random, rank=CERTAIN),
        Pattern(
            rf"{EDGE}AQE[A-Za-z0-9+/]{{40,400}}={{0,2}}-[A-Za-z0-9+/=]{{20,100}}-[A-Za-z0-9]{{8,40}}(?![A-Za-z0-9])",
            rank=CERTAIN,
        ),
        Pattern(  # Mapbox, of which all but the beginning is a JWT
            rf"{EDGE}[sp]k\.eyJ1Ijoi[A-Za-z0-9_-]{{40,200}}\.[A-Za-z0-9_-]{{22}}(?![A-Za-z0-9_-])", rank=CERTAIN + 1
        ),
        Pattern(rf"{EDGE}dapi[a-f0-9]{{32}}-\d(?![A-Za-z0-9-])", rank=CERTAIN),  # Databricks
        Pattern(rf"{EDGE}pat[A-Za-z0-9]{{14}}\.[a-f0-9]{{64}}(?![A-Za-z0-9])", rank=CERTAIN),  # Airtable
        Pattern(  # Harness
            rf"{EDGE}[ps]at\.[A-Za-z0-9_-]{{22}}\.[a-f0-9]{{24}}\.[A-Za-z0-9]{{20}}(?![A-Za-z0-9])", rank=CERTAIN
        ),
        Pattern(rf"{EDGE}[A-Za-z0-9]{{14}}\.atlasv1\.[A-Za-z0-9_=-]{{60,70}}", rank=CERTAIN),  # Terraform
        Pattern(rf"{EDGE}[A-Za-z0-9]{{76}}AZDO[A-Za-z0-9]{{4}}(?![A-Za-z0-9])", rank=CERTAIN),  # Azure DevOps
        Pattern(rf"{EDGE}[A-Za-z0-9]{{6}}_[A-Za-z0-9]{{29}}_mmk(?![A-Za-z0-9])", rank=CERTAIN),  # MaxMind
        Pattern(rf"{EDGE}[12]/\d{{15,17}}(?:/\d{{15,17}})?:[a-f0-9]{{32}}(?![A-Za-z0-9])", rank=CERTAIN),  # Asana
        Pattern(rf"{EDGE}4b1d[A-Za-z0-9]{{38}}(?![A-Za-z0-9])", _in_both_cases, rank=CERTAIN),  # ClickHouse
        Pattern(  # Authress
            rf"{EDGE}(?:sc|ext|scauth|authress)_[a-z0-9]{{5,30}}\.[a-z0-9]{{4,6}}\.acc[_-][a-z0-9-]{{10,32}}"
            r"\.[A-Za-z0-9+/_=-]{30,120}",
            rank=CERTAIN,
        ),
        Pattern(  # Discord
            rf"{EDGE}[MNO][A-Za-z0-9_-]{{23,25}}\.[A-Za-z0-9_-]{{6}}\.[A-Za-z0-9_-]{{27,38}}(?![A-Za-z0-9_-])",
            rank=CERTAIN,
        ),
        Pattern(rf"{EDGE}[a-f0-9]{{32}}-us\d{{1,2}}(?![A-Za-z0-9])", rank=CERTAIN),  # Mailchimp
        Pattern(r"(?i:AccountKey|SharedAccessKey|SharedSecret)=([A-Za-z0-9+/]{40,90}={0,2})", rank=CERTAIN),  # Azure
        Pattern(r"[?&]sig=([A-Za-z0-9%+/]{40,100}(?:%3D|=){0,2})", rank=CERTAIN),  # Azure SAS
        Pattern(  # Azure AD
            rf"{EDGE}[A-Za-z0-9_~.-]{{3}}8Q~[A-Za-z0-9_~.-]{{34}}(?![A-Za-z0-9_~-]|\.[A-Za-z0-9])", rank=CERTAIN
        ),
        Pattern(rf"{EDGE}00D[A-Za-z0-9]{{12,15}}![A-Za-z0-9._]{{80,200}}", rank=CERTAIN),  # Salesforce
    ),
    keys=(
        "apikey", "xapikey", "apitoken", "apisecret", "openaiapikey", "accesskey", "secretaccesskey", "servicekey",
        "subscriptionkey", "licensekey", "appkey", "applicationkey", "sdkkey", "storagekey", "accountkey", "authkey",
        "secretkeybase", "integrationkey", "sharedaccesskey", "openaikey", "stripekey", "twiliokey", "sendgridkey",
        "mailgunkey", "googlekey", "mapskey", "awskey", "azurekey", "datadogkey", "githubkey", "rapidapikey",
    ),
    generated=vendors.examples,
    shape=r"[^\s\"'<>]{8,}",
    plausible=is_random,
    sensitive=True,
    keyed_rank=SECRET_KEYED,
)  # fmt: skip

AWS_KEY = Category(
    "AWS_KEY",
    examples=(
        Example("key " + "AKIA" + "Q7RVK3XZ2MTB5WCY", "AKIA" + "Q7RVK3XZ2MTB5WCY"),
        Example(
            "aws_secret_access_key = " + "q7RvK3xZ9mTb2WcY5nHf8LpD4sGj6aeE0d1+/uIo",
            "q7RvK3xZ9mTb2WcY5nHf8LpD4sGj6aeE0d1+/uIo",
        ),
    ),
    lookalikes=("AKIAlikes short", "ASIAN MARKETS"),
    patterns=(
        Pattern(r"(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA)[A-Z0-9]{16}(?![A-Za-z0-9])", rank=CERTAIN),
        Pattern(
            r"(?i:aws.{0,20}?(?:secret|key))[A-Za-z_ ]{0,16}[\"']?[ ]{0,2}(?::|=>?|,)[ ]{0,2}[\"']?("
            r"[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])",
            rank=CERTAIN,
        ),
    ),
    shape=r"[A-Za-z0-9+/]{16,64}",
    sensitive=True,
)

_JWT_REST = lazy(r"[A-Za-z0-9_-]*+(?:\.[A-Za-z0-9_-]*+){0,4}", re.ASCII)


def _jwt(text: str, start: int, end: int, limit: int) -> int:
    """The end of a compact JWS or JWE; a run without a dot is base64 of something else, and refused."""
    rest = _JWT_REST.match(text, end, limit)
    assert rest is not None  # every part of it may be empty
    stop = rest.end()
    while text[stop - 1] == ".":
        stop -= 1
    return stop if "." in text[start:stop] else -stop


JWT = Category(
    "JWT",
    examples=(
        Example(
            "Bearer " + "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiI0MiJ9." + "c2lnbmF0dXJlLXNpZw",
            "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiI0MiJ9." + "c2lnbmF0dXJlLXNpZw",
        ),
    ),
    lookalikes=('eyJ is how base64 of {" begins',),
    patterns=(Pattern(r"(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{8}", rank=CERTAIN, extent=_jwt),),
    keys=("jwt", "jwttoken", "idtoken"),
    shape=r"[A-Za-z0-9_.=-]{16,}",
    sensitive=True,
    keyed_rank=SECRET_KEYED,
)

# -- private keys ---------------------------------------------------------------------------------

_LABEL = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?"
_MARK = lazy(rf"-----(BEGIN|END) {_LABEL}-----", re.ASCII)
#: A line of a PEM body: base64, a header, an armour line of another kind; its line end may be escaped.
_BODY = lazy(
    r"[ \t>|#*]{0,8}(?:[A-Za-z0-9+/=]{1,80}|-----(?:BEGIN|END) [A-Z0-9 ]{1,60}-----|[A-Za-z-]{3,20}: "
    r"[^\r\n\\]{0,100})?(?:\r?\n|(?:\\+[nr])+|$)",
    re.ASCII,
)
_TAIL = lazy(r"[ \t>|#*]{0,8}[A-Za-z0-9+/=]*", re.ASCII)
#: How far an END is looked for behind a body that is broken by something else, in code points.
_REACH = 16_384


def _block(text: str, start: int, end: int, limit: int) -> int:
    """The end of a key block whose BEGIN line is ``text[start:end]``: END if there is one, else the end of the body.

    What stands between two marks belongs to the block, a planted certificate
    included.  A block without END reaches as far as its lines look like one.
    """
    mark = _MARK.search(text, end, min(limit, end + _REACH))
    if mark and mark[1] == "END":
        return mark.end()
    stop = mark.start() if mark else limit
    at = end
    line = re.compile(r"[ \t]*(?:\r?\n|(?:\\+[nr])+)?").match(text, at, stop)
    at = line.end() if line else at
    while at < stop:
        line = _BODY.match(text, at, stop)
        if line is None or line.end() == at or not line[0].strip():
            break
        at = line.end()
    tail = _TAIL.match(text, at, stop)
    if tail and len(tail[0].strip()) > 16:
        at = tail.end()
    while at > end and text[at - 1] in "\r\n \t":
        at -= 1
    return at


_BASE64_LINE = lazy(r"[A-Za-z0-9+/=]{1,80}(?![A-Za-z0-9+/=-])(?:\r?\n)?", re.ASCII)


def _lines(text: str, start: int, end: int, limit: int) -> int:
    """The end of the lines of base64 behind ``text[start:end]``."""
    at = end
    while line := _BASE64_LINE.match(text, at, limit):
        at = line.end()
    return end + len(text[end:at].rstrip())


def _pem(*lines: str) -> str:
    return "\n".join((lines[0].replace("~", "-----"), *lines[1:-1], lines[-1].replace("~", "-----")))


_KEY_BODY = "MIIEq7RvK3xZ9mTb2WcY5nHf8LpD4sGj6aeE0d1q7RvK3xZ9mTb2WcY5nHf8LpD4"

PRIVATE_KEY = Category(
    "PRIVATE_KEY",
    examples=(
        Example("see " + _pem("~BEGIN RSA PRIVATE KEY~", _KEY_BODY, "AAAA", "~END RSA PRIVATE KEY~") + " ok",
                _pem("~BEGIN RSA PRIVATE KEY~", _KEY_BODY, "AAAA", "~END RSA PRIVATE KEY~")),
        Example(_pem("~BEGIN PRIVATE KEY~", _KEY_BODY, "BBBB") + "\n(output truncated)",
                _pem("~BEGIN PRIVATE KEY~", _KEY_BODY, "BBBB")),
        example("WIF «5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ»"),
        example("x «Private-Lines: 1\nAAAAgQDq7RvK3xZ9mTb2WcY5nHf8LpD4»\nPrivate-MAC: x"),
    ),
    lookalikes=("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", "a PRIVATE KEY is kept private",
                "const signingKey = core_1.crypto.createPublicKey(leaf.publicKey);"),
    patterns=(
        Pattern(rf"-----BEGIN {_LABEL}-----", rank=CERTAIN, extent=_block),
        Pattern(rf"{EDGE}[xyzuvt]prv[1-9A-HJ-NP-Za-km-z]{{107,108}}(?![A-Za-z0-9])", rank=CERTAIN),  # BIP 32
        Pattern(
            rf"{EDGE}[5-9KLTQ](?:[1-9A-HJ-NP-Za-km-z]{{10}}){{5}}[1-9A-HJ-NP-Za-km-z]?(?![A-Za-z0-9])",
            whole(checks.wallet_key),
            rank=CERTAIN,
        ),
        Pattern(r"(?<![A-Za-z0-9])Private-Lines: \d{1,2}\r?\n", rank=CERTAIN, extent=_lines),  # PuTTY
    ),
    keys=("privatekey", "sshkey", "sshprivatekey", "tlskey", "signingkey"),
    shape=r"[\s\S]{16,}",
    plausible=lambda text: plausible_secret(text) and ("-----" in text or is_random(text)),
    sensitive=True,
    keyed_rank=SECRET_KEYED,
)  # fmt: skip

#: How the names of secrets end.
_SECRETIVE = (
    r"(?:secret|token|passw(?:or)?d|passphrase|(?:api|app|access|auth|private|secret|master|signing|encryption|storage|sdk"
    r"|license|service|admin|account|webhook)[_-]?key(?:_base)?)"
)
_VALUE = r"[^\s\x1c\"'<>|,;()\[\]{}\\]{8,}"
_ENVIRONMENT = (
    r"[A-Z][A-Z0-9_]{0,40}(?:TOKEN|SECRET|KEY|PASSWORD|PASSWD|PWD|PASSPHRASE|CREDENTIALS|KEY_BASE|_PASS|_PAT)"
)


_SECRET_NAME = (
    r"(?:pass(?:word|wd|phrase|code)?|pwd|secret|token|(?:api|access|secret) key|passwort|kennwort|contrase[nñ]a"
    r"|mot de passe|senha|haslo)"
)


def _is_made_up(text: str) -> int:
    """What somebody made up behind ``password``: digits among letters, and no name of a way to hash or to encode."""
    value = text.rstrip(".!?")
    return len(value) if is_random(value) and len(value) >= 8 and not _METHOD.match(value) else 0


_METHOD = lazy(
    r"(?i)(?:sha|md|base|utf|hmac|pbkdf|argon|bcrypt|scrypt|oauth|aes|rsa|ntlm|crypt|version|page|chapter)-?_?\d"
)


def _is_encoded_pair(text: str) -> int:
    """``user:password`` in base64."""
    try:
        decoded = b64decode(text, validate=True)
    except ValueError:
        return 0
    user, mark, password = decoded.partition(b":")
    is_pair = mark and user and len(password) > 3 and decoded.isascii() and decoded.decode().isprintable()
    return len(text) if is_pair else 0


_SEED_LENGTHS = frozenset((12, 15, 18, 21, 24))
#: Words that no list for seeds has, and most sentences have.
_SAYING = frozenset("the and for are was were from not has its our your his her but their which".split())


def _is_seed(text: str) -> int:
    words = text.split()
    return len(text) if len(words) in _SEED_LENGTHS and _SAYING.isdisjoint(words) else 0


#: Numbers that somebody types in to be let in.
_PIN_NAME = (
    r"pin|puk|otp|one-?time (?:code|passcode|password)|(?:verification|confirmation|2fa|mfa"
    r"|log-?in|sign-?in|authentication|access) code"
    r"|best[aä]tigungscode|code (?:de v[eé]rification|pin)|c[oó]digo (?:de verificaci[oó]n|pin)"
    r"|codice (?:di verifica|pin)|c[oó]digo de verifica[cç][aã]o|kod (?:weryfikacyjny|pin)|verificatiecode|pincode"
)

SECRET = Category(
    "SECRET",
    examples=(
        example("postgres://admin:«hunter2xyz»@db.internal/prod"),
        example("password=«tr0ub4dor&3» next"),
        example('dbPass: "«gK2$lL9%@!Fp%»",'),
        example('{"client_secret": "«s3cr3t value»"}'),
        Example('{"secret_key": "/q7RvK3xZ9mTb2W/cY5nHf8LpD4sGj6aeE0d1"}', "/q7RvK3xZ9mTb2W/cY5nHf8LpD4sGj6aeE0d1"),
        example('{"password": "«newYork!2019»"}'),
        example("password: «TheBeatles64»"),
        example("DB_PASSWORD=«my$tr0ngPw»"),
        example("Authorization: Bearer «q7RvK3xZ9mTb2WcY5nHf8LpD»"),
        example("https://api.example.com/v1?client_secret=«9f8e7d6c5b4a39281706»&q=x"),
        example("Authorization: Basic «a2ltOmh1bnRlcjJ4eXo=»"),
        example('proxy_set_header Authorization "Basic «a2ltOmh1bnRlcjJ4eXo=»";'),
        example("CREATE USER x IDENTIFIED BY '«HaOBi8eIa»';"),
        example("the password is «Tr0ub4dor3» now"),
        example("export DB_PASSWORD='«pa55 w0rd»'"),
        example("CREATE USER x WITH PASSWORD '«Blue#Sky42»';"),
        example("curl -u x:«Passw0rd9» https://example.com"),
        example("SignedHeaders=host, Signature=«" + "fe5f80f77d5fa3be" * 4 + "»"),
        example('qop=auth, response="«6629fae49393a05397450978507c4ef1»"'),
        example("sshpass -p «Passw0rd9» ssh x"),
        example("define( 'NONCE_SALT',       '«(B` )>&$ q7RvK3x|Z9m[T b2WcY5nHf8»' );"),
        example("mysqldump -uroot -p«Passw0rd9» app"),
        example("Recovery codes: «1a2b-3c4d, 5e6f-7a8b»\n"),
        example("The password for the old VPN is: «geheim99x»"),
        Example("x:$" + "apr1$H6uskkkW$" + "q7RvK3xZ9mTb2WcY5nHf8L", "$" + "apr1$H6uskkkW$" + "q7RvK3xZ9mTb2WcY5nHf8L"),
        example("Password for jdoe is «geheim99x»."),
        example("log in with username jdoe and password «geheim99x» there"),
        example("Customer (a new one) can't log in. Temp password: «Xy7!kPq2», ok"),
        example("use API key «9f8e7d6c5b4a3928» for it"),
        example("the token «9f8e7d6c5b4a39281706» expired"),
        example("Authorization: AWS4-HMAC-SHA256 Credential=x/20130524/us-east-1/s3/aws4_request, Signature=«"
                + "9f8e7d6c5b4a3928" * 4 + "»"),
        example('Authorization: Digest username="x", response="«6629fae49393a05397450978507c4ef1»"'),
        example("GET /cb?code=«4/0AX4XfWh2Q7RvK3xZ9mTb2WcY5nHf8LpD»&state=xyz"),
        example("WIFI:T:WPA;S:home;P:«geheim99x»;;"),
        example('<add name="x" connectionString="Data Source=x;User ID=sa;Password=«geheim99x»" />'),
        example('{"auths": {"ghcr.io": {"auth": "«amRvZTpnZWhlaW05OXg=»"}}}'),
        example("GET /x HTTP/1.1 JSESSIONID=«9F8E7D6C5B4A39281706F5E4D3C2B1A0»"),
        example("seed phrase: «legal winner thank year wave sausage worth useful legal winner thank yellow»"),
        example('{"mnemonic": "«legal winner thank year wave sausage worth useful legal winner thank yellow»"}'),
        example("x:«$2b$12$" + "q7RvK3xZ9mTb2WcY5nHf8L" * 2 + "pD4sGj6ae»:1"),
        example("x:«$6$q7RvK3xZ$" + "q7RvK3xZ9mTb2WcY5nHf8LpD" * 3 + "»:19000:0:99999:7"),
    ),
    lookalikes=(
        "password: required",
        '{"errors": {"password": "Password must be at least 8 characters"}}',
        'password = os.environ["X"]',
        "password=${DB_PASSWORD}",
        '{"token_count": 5, "max_tokens": 4096, "next_page_token": ""}',
        "https://example.com:8080/path",
        "def login(password: str, token: bytes): ...",
        "Authorization: Bearer <token>",
        "HANDLE_KEY = ctypes.POINTER(HKEY)",
        "docker run -u 1000:1000 x --user www-data:www-data, CREATE USER x WITH PASSWORD NULL",
        "mysql -h db -port 3306, mysql -u root -p$PASSWORD and backup code re-use-later",
        'x["token"] = "required" and --token TOKEN or ENV API_KEY $VALUE_1',
        "a password sha512-crypt, the password must8, password SHA256 and password base64encoded",
        "the token tokenExpirationTimeInSeconds, an API key configuration-2024-01",
        'auth: "oauth2pkce", auth=basicauth12',
        "my $pwd = `pwd`;",
        "PWD=/home/app/releases/20261130120000, OLDPWD=/srv/app",
        "password: your-password, PASSWORD=new_password",
        '{"password": "mySecretPassword1", "token": "YOUR_TOKEN_HERE", "secret": "some secret value"}',
    ),
    patterns=(
        Pattern(
            r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s\x1c/:\"'<>?#\\]{0,64}:([^\s\x1c/@\"'<>\\]{1,4096})@",
            lambda text: 0 if _PLACEHOLDER.fullmatch(text) else len(text),
            rank=CERTAIN,
        ),
        Pattern(
            r"(?i:authorization)[\"']?(?:[ ]{0,2}[:=,][ ]{0,2}|[ ](?=[\"']))[\"']?"
            r"(?i:bearer|basic|token|apikey|digest) {1,2}([A-Za-z0-9+/=_.~-]{8,})",
            whole(is_random),
            rank=CERTAIN - 5,
        ),
        Pattern(
            r"(?<![A-Za-z])[Bb]earer ([A-Za-z0-9+/=_.~-]{16,})",
            whole(is_random),
            rank=CERTAIN - 5,
        ),
        Pattern(r"(?i:identified (?:with \w{1,40} )?by) [\"']([^\"'\n]{4,128})[\"']", rank=CERTAIN),
        Pattern(  # CREATE USER x WITH PASSWORD
            r"(?i:(?:user|role) \S{1,64} (?:with )?(?:(?:encrypted|login) ){0,2}password) '([^'\n]{4,128})'",
            rank=CERTAIN,
        ),
        Pattern(  # curl -u name:password
            r"(?<![A-Za-z0-9-])(?:-u|--user|--proxy-user|-U)[ =][\"']?[\w.@+-]{1,64}:([^\s\x1c\"':]{8,128})",
            _random,
            rank=CERTAIN,
        ),
        Pattern(  # mysql -pPassword
            r"(?<![\w/.-])(?:mysql|mariadb)[a-z-]{0,10} [^\n;|\x1c]{0,120}?(?<= )-p[\"']?([^\s\x1c\"'$]{6,128})",
            _random,
            rank=CERTAIN,
        ),
        Pattern(  # what lets in who has lost all else: GitHub has sixteen on a page
            r"(?i:(?:recovery|backup)[ -]codes?)[^A-Za-z0-9]{1,4}"
            r"([a-z0-9]{4,5}-[a-z0-9]{4,5}(?:[,;\s]{1,4}[a-z0-9]{4,5}-[a-z0-9]{4,5}){0,20})(?![A-Za-z0-9-])",
            lambda text: len(text) if any(map(str.isdigit, text)) else 0,
            rank=SECRET_KEYED,
        ),
        Pattern(  # the salts of WordPress, any characters
            r"define\([ ]?'(?:(?:SECURE_)?AUTH|LOGGED_IN|NONCE)_(?:KEY|SALT)',[ ]{1,12}'([^'\n\x1c]{24,80})'",
            lambda text: len(text) if any(map(str.isdigit, text)) else 0,
            rank=CERTAIN,
        ),
        Pattern(  # sshpass -p, docker login -u name -p
            r"(?:sshpass|docker login(?: -u \S{1,64})?) (?:-p|--password)[= ]?[\"']?([^\s\x1c\"']{4,128})",
            whole(plausible_secret),
            rank=CERTAIN,
        ),
        # Hashes of passwords, as crypt and its like write them.
        Pattern(r"\$2[abxy]\$\d\d\$[A-Za-z0-9./]{53}(?![A-Za-z0-9./])", rank=CERTAIN),
        Pattern(
            r"\$(?:[156y]|apr1|argon2(?:id|i|d)|scrypt|gy|7)\$(?:[A-Za-z0-9=,./]{1,48}\$){1,3}[A-Za-z0-9./+]{22,128}(?![A-Za-z0-9./+])",
            rank=CERTAIN,
        ),
        Pattern(
            rf"(?<![A-Za-z])(?i:{_SECRET_NAME})(?: for [^\n\x1c:\"']{{1,64}}?)? (?:is|was|ist|lautet|est|es):? [\"'`]?"
            r"([^\s\x1c\"'`,;]{6,128})",
            lambda text: len(text.rstrip(".!?")) if is_random(text.rstrip(".!?")) else 0,
            rank=SECRET_KEYED,
        ),
        Pattern(
            r"(?<![A-Za-z_-])(?i:password|passwd|passcode|passwort|kennwort|mot de passe|contrase[nñ]a|senha) "
            r"[\"'`]?([^\s\x1c\"'`,;:=()<>{}\[\]|/-]{8,64})(?![\w:=(\[-])",
            _is_made_up,
            rank=CONTEXT,
        ),
        Pattern(  # in the middle of a line, where no structure says so
            r"(?<![A-Za-z_.-])(?i:password|passwort|kennwort|mot de passe|contrase[nñ]a|senha|wachtwoord) ?: {1,2}"
            r"[\"'`]?([^\s\x1c\"'`,;:=()<>{}\[\]|/]{8,64})(?![\w:=(\[{])",
            _is_made_up,
            rank=CONTEXT,
        ),
        Pattern(
            r"(?<![A-Za-z_-])(?i:api[ -]?key|(?:access|auth|bearer|api|session|refresh) token|token|secret key|secret) "
            r"[\"'`]?([A-Za-z0-9_+/=]{16,128})(?![A-Za-z0-9_+/=(\[-])",
            lambda text: len(text) if sum(map(str.isdigit, text)) > 2 and is_random(text) else 0,
            rank=CONTEXT,
        ),
        # What signs a request and answers a challenge: AWS in its header and in an address, the digest of RFC 7616.
        Pattern(r"(?<![A-Za-z])(?:Signature=|(?:r|cn)?response=\")([a-f0-9]{32,64})(?![A-Za-z0-9])", rank=CERTAIN),
        Pattern(r"[?&](?:code|ticket|nonce)=([A-Za-z0-9%/_.~-]{16,512})", _random, rank=SECRET_KEYED),
        Pattern(r"(?<![A-Za-z])WIFI:[^\n\x1c]{0,80}?(?<=[:;])P:([^;\n\x1c]{4,63});", rank=CERTAIN),
        Pattern(  # user and password for a registry, in base64
            r"(?<![A-Za-z])auth[\"']?[ ]?[:=][ ]?[\"']?([A-Za-z0-9+/]{8,512}={0,2})(?![A-Za-z0-9+/=])",
            _is_encoded_pair,
            rank=SECRET_KEYED,
        ),
        Pattern(  # the words that a wallet is made of
            r"(?i:mnemonic|(?:seed|recovery|backup|secret|wallet) ?(?:phrase|words?)|seed)"
            r"(?: is)?[\"']?[ ]?[:= ][ ]?[\"'`]?([a-z]{3,8}(?: [a-z]{3,8}){11,23})(?![A-Za-z ])",
            _is_seed,
            rank=SECRET_KEYED,
        ),
        # Under a secret's name, where no structure says so: x["secret"] = "...", <add key="" value="">, a default of
        # Terraform, the environment of Kubernetes, a row of Markdown.
        Pattern(
            rf"(?i:{_SECRETIVE})(?:[\"']\][ ]?=[ ]?[\"']|[\"'] value=[\"']"
            rf"|[\"'] \{{\s{{1,4}}default[ ]{{0,4}}=[ ]{{0,4}}\"|[\"']?\r?\n[ ]{{1,16}}value:[ ][\"']?|[ ]?\|[ ]?)"
            rf"({_VALUE})",
            _random,
            rank=SECRET_KEYED,
        ),
        Pattern(rf"(?<![A-Za-z0-9-])--[a-z-]{{0,24}}(?i:{_SECRETIVE})[= ][\"']?({_VALUE})", _random, rank=SECRET_KEYED),
        Pattern(
            rf"(?<![A-Za-z0-9_$])(?:ENV|setx|set -gx|setenv|secret set|config:set) [\"']?{_ENVIRONMENT}[\"']?"
            rf"(?: --body| -b)?[= ][\"']?({_VALUE})",
            _random,
            rank=SECRET_KEYED,
        ),
        Pattern(
            rf"(?<![A-Za-z0-9_$]){_ENVIRONMENT}[\"']?\]?[ ]?[:=][ ]?[\"']?({_VALUE})", _random, rank=SECRET_KEYED
        ),
        Pattern(  # .netrc
            r"(?<![A-Za-z])login [^\s\x1c]{1,64}\s{1,4}password ([^\s\x1c]{4,128})",
            whole(plausible_secret),
            rank=SECRET_KEYED,
        ),
        Pattern(  # a key for a user, and no password
            r"(?<![A-Za-z0-9])https?://([^\s\x1c/@:\"'<>?#\\]{8,256}):@", _random, rank=CERTAIN
        ),
    ),
    keys=(
        "securityanswer", "recoverycode", "backupcode", "accesscode", "doorcode",
        "gatecode", "passwordhash", "seedphrase", "recoveryphrase", "geheimzahl", "wlanschlussel", "motdepassewifi",
        "phrasesecrete", "reponsesecrete", "clesecrete", "codeacces", "codeconfidentiel", "clavesecreta",
        "contrasenawifi", "codigosecreto", "respuestasecreta", "parolachiave", "codicesegreto", "codiceaccesso",
        "frasesegreta", "chavesecreta", "senhawifi", "toegangscode", "geheimesleutel", "haslowifi", "koddostepu",
        "tajnyklucz",
        "motpasse", "motsecret", "codesecret", "palabraclave", "contrasenia", "claveacceso", "parolaordine",
        "paroladaccesso", "chiavesegreta", "senhaacesso", "palavrapasse", "palavrachave", "wachtzin", "geheim",
        "inlogcode", "haslouzytkownika", "hasla", "geheimnis", "zugangscode", "passwd1",
        "password", "passwd", "pwd", "pass", "passphrase", "passcode", "secret", "clientsecret", "appsecret",
        "dbpassword",
        "dbpass", "userpassword", "secretkey", "encryptionkey", "authtoken", "accesstoken", "refreshtoken",
        "bearertoken",
        "sessiontoken", "csrftoken", "securitytoken", "credential", "credentials", "passwort", "kennwort", "motdepasse",
        "contrasena", "clave", "senha", "parola", "wachtwoord", "haslo", "connectionstring",
        "databaseurl", "dsn", "sharedsecret", "webhooksecret", "consumersecret", "smtppass", "masterkey",
        "rootpassword",
        "adminpassword", "mdp", "wifipassword", "token", "authorization", "cookie", "sessionid", "setcookie", "session",
        "bottoken", "personalaccesstoken", "oauthtoken", "usertoken", "sastoken", "pgpassword", "sshpass", "redisauth",
        "jsessionid", "phpsessid", "aspnetsessionid", "sessid", "sessionkey", "mnemonic",
        "mysqlpwd", "accesssecret", "signingsecret", "pw", "psk", "presharedkey",
    ),
    shape=r"[^\x00-\x1f]{4,}",
    plausible=plausible_secret,
    canonical=str,
    sensitive=True,
    keyed_rank=SECRET_KEYED,
)  # fmt: skip

PIN = Category(
    "PIN",
    examples=(
        example('{"pin": "«4711»"}'),
        example('{"pin": «4711», "id": 3}'),
        example("PIN: «4711»"),
        example('{"otp": "«482913»"}'),
        example("with PIN «4711», or PUK 12345678"),
        example("Kod PIN: «0815»"),
        example("the PIN is «4711», and"),
        example("your verification code is «482913»."),
        example("«G-482913» is your Google verification code."),
        example("Use «482913» as your login code"),
        example("«482913» is your Acme code"),
    ),
    lookalikes=('{"pin": 13, "mode": "OUTPUT"}', "pin: required", "GPIO pin: 1234", "#define PIN 1234",
                "gpio_pin = 1024", "the PIN is 4 digits long", "PIN 12345678901 of 2026", "verification code is 12",
                "8080 is your default port code, use 1234 as your port"),
    patterns=(
        Pattern(
            rf"(?<![A-Za-z0-9_])(?<![Gg][Pp][Ii][Oo] )(?i:{_PIN_NAME})(?: code)?"
            r"(?: (?:is|was|ist|lautet|est|es)[: ]{1,2}|[ ]?[:=#][ ]?)(\d{4,8})(?![A-Za-z0-9]|[-./:]\d)",
            rank=CONTEXT,
        ),
        Pattern(
            rf"(?<![A-Za-z0-9#./:-])((?:G-)?\d{{4,8}})(?= (?:is your|as your|ist (?:dein|Ihr)|est votre|es (?:tu|su)) "
            rf"(?:(?:[A-Za-z]{{1,20}} ){{0,2}}(?i:{_PIN_NAME})|(?:[A-Z][A-Za-z]{{1,20}} ){{1,2}}code)(?![A-Za-z0-9]))",
            rank=CONTEXT,
        ),
        Pattern(r"(?<![A-Za-z0-9_])(?<!define )(?:PIN|PUK) (\d{4,8})(?![A-Za-z0-9]|[-./:]\d)", rank=CONTEXT),
    ),
    keys=(
        "pin", "pincode", "pinnumber", "cardpin", "userpin", "kodpin", "pinkod", "codepin", "codigopin", "codicepin",
        "otp", "otpcode", "onetimecode", "onetimepassword", "verificationcode", "mfacode", "puk", "pukcode",
    ),
    shape=r"\d{4,8}|[^\s\"'<>]{8,128}",
    plausible=lambda text: text.isdecimal() or is_random(text),
    sensitive=True,
)  # fmt: skip

#: Keys of SECRET that also name something harmless: their value must look random.
AMBIGUOUS = frozenset(("token", "authorization", "cookie", "sessionid", "setcookie", "session", "pass", "secret",
                       "credential",
                       "credentials", "clave", "parola", "dsn", "databaseurl",
                       "connectionstring"))  # fmt: skip
