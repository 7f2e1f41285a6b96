"""Credentials: vendor formats, AWS, JWT, private keys, and whatever stands under a secret's name."""

from __future__ import annotations

import re
from functools import lru_cache

from cloakllm_gateway.detection.catalogue import checks
from cloakllm_gateway.detection.catalogue.model import (
    CERTAIN,
    CONTEXT,
    SECRET_KEYED,
    Category,
    Example,
    Pattern,
    example,
)
from cloakllm_gateway.patterns import lazy

_B = r"(?<![A-Za-z0-9])"  # a vendor prefix may follow `_`, as in [SECRET_ghp_...]
_T = r"A-Za-z0-9_-"


def _key(prefix: str, size: int | str, alphabet: str = "A-Za-z0-9") -> tuple[str, int | str, str]:
    """A fixed prefix and so many further characters (``"20+"``: or more)."""
    return (prefix, size, alphabet)


HEX, LOWER, UPPER, WORD = "a-f0-9", "a-z0-9", "A-Z0-9", _T

#: Prefix, number of characters behind it, their alphabet.  As the vendors document or issue them.
VENDORS: tuple[tuple[str, int | str, str], ...] = (
    _key("sk-ant-api03-", "40+", WORD), _key("sk-ant-", "20+", WORD), _key("sk-proj-", "20+", WORD),
    _key("sk-svcacct-", "20+", WORD), _key("sk-admin-", "20+", WORD), _key("sk-or-v1-", "20+", HEX),
    _key("sk-", "20+"), _key("gsk_", "40+"), _key("xai-", "40+"), _key("pplx-", "40+"), _key("r8_", "30+"),
    _key("hf_", "30+"), _key("api_org_", "30+"), _key("nvapi-", "40+", WORD), _key("fw_", "20+"),
    _key("csk-", "40+", LOWER), _key("tgp_v1_", "30+", WORD), _key("pcsk_", "40+", WORD), _key("jina_", "40+", WORD),
    _key("tvly-", "20+", WORD), _key("lsv2_pt_", "30+", WORD), _key("lsv2_sk_", "30+", WORD),
    _key("e2b_", "30+", HEX), _key("voyage-", "30+", WORD), _key("ghp_", "30+"), _key("gho_", "30+"),
    _key("ghu_", "30+"), _key("ghs_", "30+"), _key("ghr_", "30+"), _key("github_pat_", "40+", WORD),
    _key("glpat-", "20+", WORD), _key("gldt-", "20+", WORD), _key("glrt-", "20+", WORD), _key("glptt-", "30+", HEX),
    _key("glcbt-", "20+", WORD), _key("glft-", "20+", WORD), _key("glsoat-", "20+", WORD),
    _key("glimt-", "20+", WORD), _key("glagent-", "40+", WORD), _key("gloas-", "40+", WORD), _key("ATBB", 32),
    _key("ATATT3", "60+", "A-Za-z0-9_=-"), _key("ATCTT3", "60+", "A-Za-z0-9_=-"),
    _key("BBDC-", "40+", "A-Za-z0-9+/@_-"), _key("xoxb-", "20+", WORD), _key("xoxp-", "20+", WORD),
    _key("xoxa-", "20+", WORD), _key("xoxr-", "20+", WORD), _key("xoxs-", "20+", WORD), _key("xoxe-", "20+", WORD),
    _key("xoxe.xoxp-", "20+", WORD), _key("xapp-", "20+", WORD), _key("sk_live_", "16+"), _key("sk_test_", "16+"),
    _key("rk_live_", "16+"), _key("rk_test_", "16+"), _key("pk_live_", "16+"), _key("whsec_", "24+", "A-Za-z0-9+/="),
    _key("sq0atp-", "22+", WORD), _key("sq0csp-", "40+", WORD), _key("EAAA", 60, WORD),
    _key("access_token$production$", "30+", "a-z0-9$"), _key("AIza", 35, WORD), _key("GOCSPX-", 28, WORD),
    _key("ya29.", "20+", WORD), _key("1//0", "40+", WORD), _key("AC", 32, HEX), _key("SK", 32, HEX),
    _key("SG.", "60+", "A-Za-z0-9._-"), _key("key-", 32, HEX), _key("xkeysib-", "64+", "a-zA-Z0-9-"),
    _key("md-", 22, WORD), _key("re_", "24+", WORD), _key("npm_", 36), _key("pypi-AgEIcHlwaS5vcmc", "50+", WORD),
    _key("pypi-", "80+", WORD), _key("rubygems_", 48, HEX), _key("cio", 32), _key("dckr_pat_", "27", WORD),
    _key("dckr_oat_", "27+", WORD), _key("dop_v1_", 64, HEX), _key("doo_v1_", 64, HEX), _key("dor_v1_", 64, HEX),
    _key("HRKU-", "36+", WORD), _key("shpat_", 32, "a-fA-F0-9"), _key("shpca_", 32, "a-fA-F0-9"),
    _key("shppa_", 32, "a-fA-F0-9"), _key("shpss_", 32, "a-fA-F0-9"), _key("hvs.", "20+", WORD),
    _key("hvb.", "20+", WORD), _key("hvr.", "20+", WORD), _key("s.", 24), _key("dp.pt.", "40+"),
    _key("dp.st.", "40+", "A-Za-z0-9._-"), _key("dp.ct.", "40+"), _key("dp.sa.", "40+"), _key("dp.scim.", "40+"),
    _key("pul-", 40, HEX), _key("tskey-", "20+", WORD), _key("dapi", "32", HEX), _key("PMAK-", "50+", "a-f0-9-"),
    _key("lin_api_", "40"), _key("lin_oauth_", "40+", HEX), _key("secret_", 43), _key("ntn_", "40+"),
    _key("figd_", "40+", WORD), _key("pat", 14), _key("sbp_", 40, HEX), _key("sb_secret_", "20+", WORD),
    _key("nfp_", "36+"), _key("vercel_blob_rw_", "30+", WORD), _key("fo1_", "40+", WORD),
    _key("FlyV1 fm2_", "60+", "A-Za-z0-9+/=,_-"), _key("rnd_", "28+"), _key("railway_", "30+", WORD),
    _key("glc_", "32+", "A-Za-z0-9+/="), _key("glsa_", "40+", WORD), _key("NRAK-", 27, UPPER), _key("NRJS-", 19, HEX),
    _key("NRII-", "32", WORD), _key("sntrys_", "60+", "A-Za-z0-9+/=_"), _key("sntryu_", 64, HEX), _key("phc_", "40+"),
    _key("phx_", "40+"), _key("dd-api-", "32", HEX), _key("dt0c01.", "80+", "A-Z0-9."), _key("sqp_", 40, HEX),
    _key("squ_", 40, HEX), _key("sqa_", 40, HEX), _key("AKCp", "60+"), _key("cmVmdGtu", 56),
    _key("CLOJARS_", 60, LOWER), _key("oy2", 43, LOWER), _key("EZAK", 54), _key("EZTK", 54),
    _key("live_", "30+", HEX), _key("test_", "35+", HEX), _key("shippo_live_", 40, HEX),
    _key("shippo_test_", 40, HEX), _key("flb_", "20+", WORD), _key("FLWSECK_TEST-", "12+"), _key("FLWSECK-", "12+"),
    _key("rzp_live_", 14), _key("rzp_test_", 14), _key("duffel_live_", 43, WORD), _key("duffel_test_", 43, WORD),
    _key("fio-u-", 64, WORD), _key("ico-", 32), _key("frame_", 64, WORD), _key("p8e-", 32),
    _key("plaid-", "30+", WORD), _key("access-production-", "36", "a-f0-9-"),
    _key("access-sandbox-", "36", "a-f0-9-"), _key("pscale_tkn_", "32+", WORD), _key("pscale_pw_", "32+", WORD),
    _key("pscale_oauth_", "32+", WORD), _key("prefect_", "36"), _key("pnu_", 36, LOWER), _key("rdme_", 70, LOWER),
    _key("sl.", "130+", WORD), _key("scw_", "30+", WORD), _key("SCW", 17, UPPER), _key("tfp_", "40+", WORD),
    _key("ops_eyJ", "200+", "A-Za-z0-9+/="), _key("A3-", "30+", "A-Z0-9-"),
    _key("AGE-SECRET-KEY-1", 58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"), _key("LTAI", "16+"), _key("AKID", "13+"),
    _key("ABSK", "100+", "A-Za-z0-9+/="), _key("bedrock-api-key-", "40+", "A-Za-z0-9+/="), _key("gAAAA", "60+", WORD),
    _key("ctx7sk-", "30+", WORD), _key("fc-", "32", HEX), _key("apify_api_", "30+"), _key("CFPAT-", "43", WORD),
    _key("cfut_", "40+", WORD), _key("waka_", "36", "a-f0-9-"), _key("pk_", "40+", "0-9A-Z_"),
    _key("EAACEdEose0cBA", "40+"), _key("IGQV", "100+", WORD), _key("dG9rOg", "40+", "A-Za-z0-9+/=_"),
    _key("sgp_", "40+", HEX), _key("sm_aat_", "16+", WORD), _key("mfp_", "30+"), _key("amzn.mws.", "36", "a-f0-9-"),
    _key("ddp_", 36), _key("ddog_", "30+"), _key("v1.0-", "100+", "a-f0-9-"), _key("infracost_", "30+"),
    _key("ico_", "32"), _key("brn_", "30+"),
)  # fmt: skip

_PLACEHOLDER = lazy(
    r"(?i)[*xX.•#-]+|<.*>|\$?\{.*\}|\$\(.*\)|%.*%|\[.*\]|(?:your|my|the|some|new|old)[-_ ]?.*|null|none|nil"
    r"|undefined|true|"
    r"false|yes|no|on|off|string|text|password|passwd|secret|token|key|hidden|redacted|masked|required|optional|"
    r"example|changeme|placeholder|todo|n/?a|empty|default|unset|missing|invalid|expired|env|str|int|bytes|"
    r"object|value|self(?:\..*)?|os\..*|process\..*|env\..*|config\..*|settings\..*|args\..*|getpass\..*|"
    r"\w+\(.*|.*\[\w*\]|\$\w+|.*\(\)?|bearer|basic|digest"
)


#: What a shell keeps under PWD.
_DIRECTORY = lazy(r"(?:~|[A-Za-z]:)?(?:[/\\][\w.@ +-]+){2,}[/\\]?")


def plausible_secret(text: str) -> bool:
    """Whether a secret's field holds one, and not a placeholder, a type, a count or a piece of code."""
    text = text.strip()
    return (
        len(text) >= 4
        and not _PLACEHOLDER.fullmatch(text)
        and not _DIRECTORY.fullmatch(text)
        and not re.fullmatch(r"\d{1,5}|[A-Z][a-z]+|[a-z]{2,5}", text)
    )


def is_random(text: str) -> bool:
    """A field whose name may mean something else (``token``, ``key``) must look random."""
    return len(text) >= 8 and plausible_secret(text) and checks.mixed(text) and " " not in text.strip()


def _pattern(prefix: str, size: int | str, alphabet: str) -> str:
    low, more = str(size).rstrip("+"), str(size).endswith("+")
    run = f"[{alphabet}]{{{low},}}" if more else f"[{alphabet}]{{{low}}}(?![A-Za-z0-9])"
    return rf"{_B}{re.escape(prefix)}{run}"


@lru_cache
def _pool(alphabet: str) -> list[str]:
    return re.findall(f"[{alphabet}]", "q7RvK3xZ9mTb2WcY5nHf8LpD4sGj6aeE0d1")


def _sample(prefix: str, size: int | str, alphabet: str) -> str:
    """A made-up value, built here so that no file of the project holds one that looks real."""
    pool = _pool(alphabet)
    count = int(str(size).rstrip("+"))
    return prefix + "".join(pool[(5 * i + i * i // 3) % len(pool)] for i in range(count))


def _grouped() -> tuple[Pattern, ...]:
    """Prefixes that share what follows become one pattern: fewer to compile, fewer to run."""
    groups: dict[tuple[int | str, str], list[str]] = {}
    for prefix, size, alphabet in VENDORS:
        groups.setdefault((size, alphabet), []).append(prefix)
    return tuple(
        Pattern(
            _pattern("\0", size, alphabet).replace(re.escape("\0"), "(?:" + "|".join(map(re.escape, prefixes)) + ")"),
            _looks_issued,
            rank=CERTAIN,
        )
        for (size, alphabet), prefixes in groups.items()
    )


def _looks_issued(text: str) -> int:
    """Vendor tokens are random: digits among them, no words joined by hyphens."""
    tail = re.split(r"[-_.]", text.rstrip("_-="))[-1] if len(text) < 200 else text
    return (
        len(text.rstrip(".-_"))
        if len(text) > 200
        or (any(c.isdigit() for c in text[3:]) and len(set(text)) > 8 and (checks.mixed(tail) or len(tail) < 8))
        else 0
    )


_CONSONANTS = lazy(r"[A-Z]?[bcdfghjklmnpqrstvwxz]{5}")


def _is_generic_key(text: str) -> int:
    """Behind a word like ``token``: digits among letters, or what no word of a language has, five consonants on end."""
    digits = sum(map(str.isdigit, text))
    return len(text) if digits >= 3 or _CONSONANTS.search(text) else 0


def _vendor_examples() -> tuple[Example, ...]:
    """One of each vendor's, and one that hides inside something that looks like a token."""
    samples = [_sample(*row) for row in VENDORS]
    planted = _sample("ghp_", 36, "A-Za-z0-9")
    return (*(Example(f"use {sample} here", sample) for sample in samples), Example(f"[SECRET_{planted}]", planted))


API_KEY = Category(
    "API_KEY",
    examples=(
        example("https://hooks.slack.com/services/«T0Q7RVK3X/B9MTB2WCY/q7RvK3xZ9mTb2WcY5nHf8LpD»"),
        Example("Old key: " + "sk1234567890" + "abcdefghijklmnop.", "sk1234567890" + "abcdefghijklmnop"),
        Example("the log ends in " + "ghp_" + "q7RvK3xZ9mTb", "ghp_" + "q7RvK3xZ9mTb"),
    ),
    lookalikes=("sk-learn-contrib-project-template",
                "key-value-pairs-in-a-dictionary-of-things", "pat_answer re_compile_all_again",
                "tokenExpirationTimeInSeconds keyAgreementAlgorithmName"),
    patterns=(
        *_grouped(),
        Pattern(r"hooks\.slack\.com/services/(T[A-Z0-9]{6,14}/B[A-Z0-9]{6,14}/[A-Za-z0-9]{16,32})", rank=CERTAIN),
        Pattern(r"discord(?:app)?\.com/api/webhooks/(\d{17,20}/[A-Za-z0-9_-]{50,80})", rank=CERTAIN),
        Pattern(
            r"webhook\.office\.com/webhookb2/([a-f0-9@-]{60,90}/IncomingWebhook/[a-f0-9]{32}/[a-f0-9-]{36})",
            rank=CERTAIN,
        ),
        Pattern(  # what many a service and a person calls a key
            rf"{_B}(?:sk|pk|api|key|token|secret)[_-]?(?:(?:live|test|prod)[_-]?)?[A-Za-z0-9]{{18,128}}(?![A-Za-z0-9_-])",
            _is_generic_key,
        ),
        Pattern(  # cut off by the end of its text
            rf"{_B}(?:ghp_|gho_|ghs_|github_pat_|glpat-|sk-|sk_live_|xox[abprs]-|AKIA|ASIA|AIza|hf_|npm_|eyJ)"
            r"[A-Za-z0-9_-]{6,256}(?![^\x1c])",
            lambda text: len(text) if checks.mixed(text[4:]) and any(map(str.isdigit, text)) else 0,
            rank=CONTEXT,
        ),
        Pattern(rf"{_B}\d{{8,10}}:AA[A-Za-z0-9_-]{{33}}(?![A-Za-z0-9_-])", rank=CERTAIN),  # Telegram
        Pattern(  # Discord
            rf"{_B}[MNO][A-Za-z0-9_-]{{23,25}}\.[A-Za-z0-9_-]{{6}}\.[A-Za-z0-9_-]{{27,38}}(?![A-Za-z0-9_-])",
            rank=CERTAIN,
        ),
        Pattern(rf"{_B}[a-f0-9]{{32}}-us\d{{1,2}}(?![A-Za-z0-9])", rank=CERTAIN),  # Mailchimp
        Pattern(r"(?i:AccountKey|SharedAccessKey|SharedSecret)=([A-Za-z0-9+/]{40,90}={0,2})", rank=CERTAIN),  # Azure
        Pattern(r"[?&]sig=([A-Za-z0-9%+/]{40,100}(?:%3D|=){0,2})", rank=CERTAIN),  # Azure SAS
        Pattern(rf"{_B}[A-Za-z0-9_~.-]{{3}}8Q~[A-Za-z0-9_~.-]{{34}}(?![A-Za-z0-9_~.-])", rank=CERTAIN),  # Azure AD
    ),
    keys=(
        "apikey", "xapikey", "apitoken", "apisecret", "openaiapikey", "accesskey", "secretaccesskey", "servicekey",
        "subscriptionkey", "licensekey",
    ),
    generated=_vendor_examples,
    shape=r"[^\s\"'<>]{8,512}",
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
    ),
    lookalikes=("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", "a PRIVATE KEY is kept private"),
    patterns=(Pattern(rf"-----BEGIN {_LABEL}-----", rank=CERTAIN, extent=_block),),
    keys=("privatekey", "sshkey", "sshprivatekey", "tlskey", "signingkey"),
    shape=r"[\s\S]{16,}",
    plausible=lambda text: plausible_secret(text) and ("-----" in text or is_random(text)),
    sensitive=True,
    keyed_rank=SECRET_KEYED,
)  # fmt: skip

_SECRET_NAME = r"(?:pass(?:word|wd|phrase|code)?|pwd|secret|passwort|kennwort|contrase[nñ]a|mot de passe|senha|haslo)"

SECRET = Category(
    "SECRET",
    examples=(
        example("postgres://admin:«hunter2xyz»@db.internal/prod"),
        example("password=«tr0ub4dor&3» next"),
        example('dbPass: "«gK2$lL9%@!Fp%»",'),
        example('{"client_secret": "«s3cr3t value»"}'),
        example("Authorization: Bearer «q7RvK3xZ9mTb2WcY5nHf8LpD»"),
        example("https://api.example.com/v1?client_secret=«9f8e7d6c5b4a39281706»&q=x"),
        example("Authorization: Basic «a2ltOmh1bnRlcjJ4eXo=»"),
        example("CREATE USER x IDENTIFIED BY '«HaOBi8eIa»';"),
        example("the password is «Tr0ub4dor3» now"),
        example("export DB_PASSWORD='«pa55 w0rd»'"),
    ),
    lookalikes=(
        "password: required",
        'password = os.environ["X"]',
        "password=${DB_PASSWORD}",
        '{"token_count": 5, "max_tokens": 4096, "next_page_token": ""}',
        "https://example.com:8080/path",
        "def login(password: str, token: bytes): ...",
        "Authorization: Bearer <token>",
    ),
    patterns=(
        Pattern(
            r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/@:\"'<>?#\\]{0,64}:([^\s/@\"'<>\\]{1,256})@",
            lambda text: 0 if _PLACEHOLDER.fullmatch(text) else len(text),
            rank=CERTAIN,
        ),
        Pattern(
            r"(?i:authorization)[\"']?[ ]{0,2}[:=,][ ]{0,2}[\"']?(?i:bearer|basic|token|apikey|digest) {1,2}("
            r"[A-Za-z0-9+/=_.~-]{8,4096})",
            lambda text: len(text) if is_random(text) else 0,
            rank=CERTAIN - 5,
        ),
        Pattern(
            r"(?<![A-Za-z])[Bb]earer ([A-Za-z0-9+/=_.~-]{16,4096})",
            lambda text: len(text) if is_random(text) else 0,
            rank=CERTAIN - 5,
        ),
        Pattern(r"(?i:identified (?:with \w{1,40} )?by) [\"']([^\"'\n]{4,128})[\"']", rank=CERTAIN),
        Pattern(
            rf"(?<![A-Za-z])(?i:{_SECRET_NAME}) (?:is|was|ist|lautet|est|es) [\"'`]?([^\s\"'`,;]{{6,128}})",
            lambda text: len(text.rstrip(".!?")) if is_random(text.rstrip(".!?")) else 0,
            rank=SECRET_KEYED,
        ),
    ),
    keys=(
        "motpasse", "motsecret", "codesecret", "palabraclave", "contrasenia", "claveacceso", "parolaordine",
        "paroladaccesso", "chiavesegreta", "senhaacesso", "palavrapasse", "palavrachave", "wachtzin", "geheim",
        "inlogcode", "haslouzytkownika", "hasla", "geheimnis", "zugangscode", "passwd1", "kodpin", "pinkod",
        "password", "passwd", "pwd", "pass", "passphrase", "passcode", "secret", "clientsecret", "appsecret",
        "dbpassword",
        "dbpass", "userpassword", "secretkey", "encryptionkey", "authtoken", "accesstoken", "refreshtoken",
        "bearertoken",
        "sessiontoken", "csrftoken", "securitytoken", "credential", "credentials", "passwort", "kennwort", "motdepasse",
        "contrasena", "clave", "senha", "parola", "wachtwoord", "haslo", "pin", "pincode", "otp", "connectionstring",
        "databaseurl", "dsn", "sharedsecret", "webhooksecret", "consumersecret", "smtppass", "masterkey",
        "rootpassword",
        "adminpassword", "mdp", "wifipassword", "token", "authorization", "cookie", "sessionid", "setcookie", "session",
        "bottoken", "personalaccesstoken", "oauthtoken", "usertoken", "sastoken",
    ),
    shape=r"[^\x00-\x1f]{4,4096}",
    plausible=plausible_secret,
    canonical=str,
    sensitive=True,
    keyed_rank=SECRET_KEYED,
)  # fmt: skip

#: Keys of SECRET that also name something harmless: their value must look random.
AMBIGUOUS = frozenset(("token", "authorization", "cookie", "sessionid", "setcookie", "session", "pass", "secret",
                       "credential",
                       "credentials", "clave", "parola", "pin", "pincode", "otp", "dsn", "databaseurl",
                       "connectionstring"))  # fmt: skip
