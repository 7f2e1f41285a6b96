"""Keys as vendors issue them: a table of prefixes, the patterns made of it, and forms that have no prefix."""

from __future__ import annotations

import re
from functools import lru_cache

from cloakllm_gateway.detection.catalogue import checks
from cloakllm_gateway.detection.catalogue.model import CERTAIN, Example, Pattern
from cloakllm_gateway.detection.catalogue.randomness import in_arbitrary_case, in_both_cases, random_length
from cloakllm_gateway.patterns import lazy

#: A vendor's prefix may follow `_`, as in [SECRET_ghp_...].
EDGE = r"(?<![A-Za-z0-9])"


def _key(prefix: str, size: int | str, alphabet: str = "A-Za-z0-9") -> tuple[str, int | str, str]:
    """A fixed prefix and so many further characters (``"20+"``: or more)."""
    return (prefix, size, alphabet)


HEX, LOWER, UPPER, WORD = "a-f0-9", "a-z0-9", "A-Z0-9", "A-Za-z0-9_-"

#: Prefix, number of characters behind it, their alphabet.  As the vendors document or issue them.
VENDORS: tuple[tuple[str, int | str, str], ...] = (
    _key("sk-ant-api03-", "40+", WORD), _key("sk-ant-", "20+", WORD), _key("sk-proj-", "20+", WORD),
    _key("sk-svcacct-", "20+", WORD), _key("sk-admin-", "20+", WORD), _key("sk-or-v1-", "20+", HEX), _key("sk-", "20+"),
    _key("gsk_", "40+"), _key("xai-", "40+"), _key("pplx-", "40+"), _key("r8_", "30+"), _key("hf_", "30+"),
    _key("api_org_", "30+"), _key("nvapi-", "40+", WORD), _key("fw_", "20+"), _key("csk-", "40+", LOWER),
    _key("tgp_v1_", "30+", WORD), _key("pcsk_", "40+", WORD), _key("jina_", "40+", WORD), _key("tvly-", "20+", WORD),
    _key("lsv2_pt_", "30+", WORD), _key("lsv2_sk_", "30+", WORD), _key("e2b_", "30+", HEX),
    _key("voyage-", "30+", WORD), _key("ghp_", "30+"), _key("gho_", "30+"), _key("ghu_", "30+"), _key("ghs_", "30+"),
    _key("ghr_", "30+"), _key("github_pat_", "40+", WORD), _key("glpat-", "20+", "A-Za-z0-9_.-"),
    _key("gldt-", "20+", WORD), _key("glrt-", "20+", WORD), _key("glptt-", "30+", HEX), _key("glcbt-", "20+", WORD),
    _key("glft-", "20+", WORD), _key("glsoat-", "20+", WORD), _key("glimt-", "20+", WORD),
    _key("glagent-", "40+", WORD), _key("gloas-", "40+", WORD), _key("ATBB", 32), _key("ATATT3", "60+", "A-Za-z0-9_=-"),
    _key("ATCTT3", "60+", "A-Za-z0-9_=-"), _key("BBDC-", "40+", "A-Za-z0-9+/@_-"), _key("xoxb-", "20+", WORD),
    _key("xoxp-", "20+", WORD), _key("xoxa-", "20+", WORD), _key("xoxr-", "20+", WORD), _key("xoxs-", "20+", WORD),
    _key("xoxe-", "20+", WORD), _key("xoxe.xoxp-", "20+", WORD), _key("xapp-", "20+", WORD), _key("sk_live_", "16+"),
    _key("sk_test_", "16+"), _key("rk_live_", "16+"), _key("rk_test_", "16+"), _key("pk_live_", "16+"),
    _key("whsec_", "24+", "A-Za-z0-9+/="), _key("sq0atp-", "22+", WORD), _key("sq0csp-", "40+", WORD),
    _key("EAAA", 60, WORD), _key("access_token$production$", "30+", "a-z0-9$"), _key("AIza", 35, WORD),
    _key("GOCSPX-", 28, WORD), _key("ya29.", "20+", WORD), _key("1//0", "40+", WORD), _key("AC", 32, HEX),
    _key("SK", 32, HEX), _key("SG.", "60+", "A-Za-z0-9._-"), _key("key-", 32, HEX),
    _key("xkeysib-", "64+", "a-zA-Z0-9-"), _key("md-", 22, WORD), _key("re_", "24+", WORD), _key("npm_", 36),
    _key("pypi-AgEIcHlwaS5vcmc", "50+", WORD), _key("pypi-", "80+", WORD), _key("rubygems_", 48, HEX), _key("cio", 32),
    _key("dckr_pat_", "27", WORD), _key("dckr_oat_", "27+", WORD), _key("dop_v1_", 64, HEX), _key("doo_v1_", 64, HEX),
    _key("dor_v1_", 64, HEX), _key("HRKU-", "36+", WORD), _key("shpat_", 32, "a-fA-F0-9"),
    _key("shpca_", 32, "a-fA-F0-9"), _key("shppa_", 32, "a-fA-F0-9"), _key("shpss_", 32, "a-fA-F0-9"),
    _key("hvs.", "20+", WORD), _key("hvb.", "20+", WORD), _key("hvr.", "20+", WORD), _key("s.", 24),
    _key("dp.pt.", "40+"), _key("dp.st.", "40+", "A-Za-z0-9._-"), _key("dp.ct.", "40+"), _key("dp.sa.", "40+"),
    _key("dp.scim.", "40+"), _key("pul-", 40, HEX), _key("tskey-", "20+", WORD), _key("dapi", "32", HEX),
    _key("PMAK-", "50+", "a-f0-9-"), _key("lin_api_", "40"), _key("lin_oauth_", "40+", HEX), _key("secret_", 43),
    _key("ntn_", "40+"), _key("figd_", "40+", WORD), _key("pat", 14), _key("sbp_", 40, HEX),
    _key("sb_secret_", "20+", WORD), _key("nfp_", "36+"), _key("vercel_blob_rw_", "30+", WORD),
    _key("fo1_", "40+", WORD), _key("FlyV1 fm2_", "60+", "A-Za-z0-9+/=,_-"), _key("rnd_", "28+"),
    _key("railway_", "30+", WORD), _key("glc_", "32+", "A-Za-z0-9+/="), _key("glsa_", "40+", WORD),
    _key("NRAK-", 27, UPPER), _key("NRJS-", 19, HEX), _key("NRII-", "32", WORD),
    _key("sntrys_", "60+", "A-Za-z0-9+/=_"), _key("sntryu_", 64, HEX), _key("phc_", "40+"), _key("phx_", "40+"),
    _key("dd-api-", "32", HEX), _key("dt0c01.", "80+", "A-Z0-9."), _key("sqp_", 40, HEX), _key("squ_", 40, HEX),
    _key("sqa_", 40, HEX), _key("AKCp", "60+"), _key("cmVmdGtu", 56), _key("CLOJARS_", 60, LOWER),
    _key("oy2", 43, LOWER), _key("EZAK", 54), _key("EZTK", 54), _key("live_", "30+", HEX), _key("test_", "35+", HEX),
    _key("shippo_live_", 40, HEX), _key("shippo_test_", 40, HEX), _key("flb_", "20+", WORD),
    _key("FLWSECK_TEST-", "12+", "A-Za-z0-9-"), _key("FLWSECK-", "12+", "A-Za-z0-9-"), _key("rzp_live_", 14),
    _key("rzp_test_", 14), _key("duffel_live_", 43, WORD), _key("duffel_test_", 43, WORD), _key("fio-u-", 64, WORD),
    _key("ico-", 32), _key("frame_", 64, WORD), _key("p8e-", 32), _key("plaid-", "30+", WORD),
    _key("access-production-", "36", "a-f0-9-"), _key("access-sandbox-", "36", "a-f0-9-"),
    _key("pscale_tkn_", "32+", WORD), _key("pscale_pw_", "32+", WORD), _key("pscale_oauth_", "32+", WORD),
    _key("prefect_", "36"), _key("pnu_", 36, LOWER), _key("rdme_", 70, LOWER), _key("sl.", "130+", WORD),
    _key("scw_", "30+", WORD), _key("SCW", 17, UPPER), _key("tfp_", "40+", WORD),
    _key("ops_eyJ", "200+", "A-Za-z0-9+/="), _key("A3-", "30+", "A-Z0-9-"),
    _key("AGE-SECRET-KEY-1", 58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"), _key("LTAI", "16+"), _key("AKID", "13+"),
    _key("ABSK", "100+", "A-Za-z0-9+/="), _key("bedrock-api-key-", "40+", "A-Za-z0-9+/="), _key("gAAAA", "60+", WORD),
    _key("ctx7sk-", "30+", WORD), _key("fc-", "32", HEX), _key("apify_api_", "30+"), _key("CFPAT-", "43", WORD),
    _key("cfut_", "40+", WORD), _key("waka_", "36", "a-f0-9-"), _key("pk_", "40+", "0-9A-Z_"),
    _key("EAACEdEose0cBA", "40+"), _key("IGQV", "100+", WORD), _key("dG9rOg", "40+", "A-Za-z0-9+/=_"),
    _key("sgp_", "40+", "a-f0-9_"), _key("sm_aat_", "16+", WORD), _key("mfp_", "30+"),
    _key("amzn.mws.", "36", "a-f0-9-"), _key("ddp_", 36), _key("ddog_", "30+"), _key("v1.0-", "100+", "a-f0-9-"),
    _key("infracost_", "30+"), _key("ico_", "32"), _key("brn_", "30+"), _key("glffct-", "20+", WORD),
    _key("glrtr-", "20+", WORD), _key("GR1348941", "20+", WORD), _key("API-", 26, UPPER), _key("zpka_", "30+", WORD),
    _key("pa-", 43, WORD), _key("wandb_v1_", "40+", WORD), _key("CCIPAT_", "40+", WORD), _key("bkua_", 40, HEX),
    _key("napi_", "40+"), _key("sm_pat_", "16+", WORD), _key("sm_sat_", "16+", WORD), _key("AQVN", "30+", WORD),
    _key("YCA", "37", WORD), _key("tk-us-", "40+", WORD), _key("s-s4t2ud-", 64, HEX), _key("s-s4t2af-", 64, HEX),
    _key("pat-na1-", "36", "a-f0-9-"), _key("pat-eu1-", "36", "a-f0-9-"), _key("pubkey-", 32, HEX), _key("EAA", "100+"),
    _key("sdk-", "36", "a-f0-9-"), _key("mob-", "36", "a-f0-9-"), _key("api-", "36", "a-f0-9-"),
    _key("ApiKey-", "36", "a-f0-9-"), _key("sha256~", 43, WORD), _key("dnkey-", "40+", WORD),
    _key("os_v2_app_", "40+", LOWER), _key("aio_", 28), _key("AVNS_", "16+", WORD), _key("CCDB1_", "40+", WORD),
    _key("ddo_", 36), _key("lsxs_pt_", "40+"), _key("lma_", "20+", WORD), _key("lmb_", "20+", WORD),
    _key("mka_", "30+"), _key("pina_", "20+", WORD), _key("polar_oat_", "30+", WORD), _key("ramp_tok_", "30+"),
    _key("rpa_", 42, UPPER), _key("rootly_", 64, HEX), _key("samsara_api_", "28+"), _key("sindri_", "30+", WORD),
    _key("tss_", "30+"), _key("unkey_", "20+"), _key("vtwn_", "20+"), _key("AKLT", "40+"), _key("xau_", "30+"),
    _key("essu_", "30+", "A-Za-z0-9+/="), _key("pdl_live_apikey_", "40+", WORD), _key("pnb_", "36"),
    _key("BBFF-", "30+"), _key("tr_dev_", "20+"), _key("tr_prod_", "20+"), _key("mfa.", "80+", WORD),
    _key("xoxc-", "20+", WORD), _key("xoxd-", "20+", "A-Za-z0-9%_-"), _key("mlsn.", 64, HEX), _key("hcaik_", "58+"),
    _key("pylf_v1_", "40+", WORD), _key("sk-lf-", "36", "a-f0-9-"), _key("sk-helicone-", "20+", WORD),
    _key("crsr_", 64, HEX), _key("vcp_", "40+"), _key("vck_", "40+"), _key("sktsec_", "30+", WORD), _key("nbp_", "36"),
    _key("ptr_", "40+", "A-Za-z0-9+/="), _key("xsmtpsib-", "64+", "a-zA-Z0-9-"),
    _key("persona_production_", "30+", WORD), _key("secret-token:mercury_production_", "40+", WORD),
    _key("Mid-server-", "24", WORD), _key("figo_", "40+", WORD), _key("isat_", "40+", WORD), _key("ctp_", "36"),
    _key("AstraCS:", "60+", "A-Za-z0-9:"), _key("bce-v3/ALTAK-", "40+", "A-Za-z0-9/"), _key("pk_test_", "24+"),
    _key("sk_prod_", "16+"), _key("rk_prod_", "16+"), _key("xoxo-", "20+", WORD), _key("sk_org_live_", "16+"),
    _key("GOOG1E", 55, UPPER), _key("DO00", 16, UPPER), _key("dbtc_", "40+", WORD), _key("dbtu_", "40+", WORD),
    _key("fm2_", "60+", "A-Za-z0-9+/=,_-"), _key("fm1r_", "60+", "A-Za-z0-9+/=,_-"),
    _key("fm1a_", "60+", "A-Za-z0-9+/=,_-"), _key("y0_", "40+", WORD), _key("dt0s01.", "70+", "A-Z0-9."),
    _key("dt0s02.", "70+", "A-Z0-9."), _key("dt0s16.", "70+", "A-Z0-9."), _key("WPL_AP1.", "20+", "A-Za-z0-9.="),
    _key("ory_pat_", "30+"), _key("ory_st_", "30+"), _key("ory_at_", "30+"), _key("signkey-prod-", 64, HEX),
    _key("signkey-test-", 64, HEX), _key("bb_live_", "20+", WORD), _key("lip_", 20), _key("endr+", 16),
    _key("secret-live-", "36+", WORD), _key("secret-test-", "36+", WORD), _key("AQV", "100+", WORD),
    _key("eyJrIjoi", "70+"), _key("NRAA-", 27, HEX), _key("FLWPUBK_TEST-", "12+", "A-Za-z0-9-"),
    _key("sgp_", 64), _key("live_", "30+"),
    _key("live_pub_", 31, HEX), _key("test_pub_", 31, HEX), _key("access-development-", "36", "a-f0-9-"),
)  # fmt: skip


#: Keys that are told by more than a prefix: by what stands inside or at their end.
FORMS: tuple[Pattern, ...] = (
    Pattern(rf"{EDGE}\d{{8,10}}:AA[A-Za-z0-9_-]{{33}}(?![A-Za-z0-9_-])", rank=CERTAIN),  # Telegram
    Pattern(r"(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{11,64}:APA91b[A-Za-z0-9_-]{100,200}", rank=CERTAIN),  # Firebase
    Pattern(r"(?<![A-Za-z0-9_-])00(?:[A-Za-z0-9_-]{10}){4}(?![A-Za-z0-9_-])", in_both_cases, rank=CERTAIN),  # Okta
    Pattern(  # ngrok
        r"(?<![A-Za-z0-9_-])2(?:[A-Za-z0-9]{13}){2}_(?:[A-Za-z0-9]{7}){3}(?![A-Za-z0-9_])",
        in_both_cases,
        rank=CERTAIN,
    ),
    Pattern(r"(?<![A-Za-z0-9_-])11(?:[a-f0-9]{8}){4}(?![A-Za-z0-9])"),  # Jenkins
    Pattern(r"(?<![A-Za-z0-9_-])(?:[a-f0-9]{12}){3}NRAL(?![A-Za-z0-9])", rank=CERTAIN),  # New Relic
    Pattern(r"(?<![A-Za-z0-9_-])(?:[a-f0-9]{8}){3}:[a-f0-9]{64}(?![A-Za-z0-9])", rank=CERTAIN),  # Ghost
    Pattern(  # Facebook
        r"(?<![A-Za-z0-9_-])\d{15,16}\|[A-Za-z0-9_-]{27}(?![A-Za-z0-9_-])", random_length, rank=CERTAIN
    ),
    Pattern(  # Twitter
        rf"{EDGE}(?:A{{7}}){{3}}[A-Za-z0-9%+/]{{60,110}}(?![A-Za-z0-9%+/])", random_length, rank=CERTAIN
    ),
    Pattern(  # RapidAPI
        r"(?<![A-Za-z0-9_-])[a-z0-9]{10}msh[a-z0-9]{15}p1[a-z0-9]{5}jsn[a-z0-9]{12}(?![A-Za-z0-9])"
    ),
    # Adyen, in two forms; lines of certificates begin like the second one.
    Pattern(r"(?<![A-Za-z0-9\n])AQE[A-Za-z0-9_-]{60,}", random_length, rank=CERTAIN),
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
    Pattern(rf"{EDGE}4b1d[A-Za-z0-9]{{38}}(?![A-Za-z0-9])", in_both_cases, rank=CERTAIN),  # ClickHouse
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
)  # fmt: skip


def _pattern(prefix: str, size: int | str, alphabet: str) -> str:
    low, more = str(size).rstrip("+"), str(size).endswith("+")
    run = f"[{alphabet}]{{{low},}}" if more else f"[{alphabet}]{{{low}}}(?![A-Za-z0-9])"
    return rf"{EDGE}{re.escape(prefix)}{run}"


@lru_cache
def _pool(alphabet: str) -> list[str]:
    return re.findall(f"[{alphabet}]", "q7RvK3xZ9mTb2WcY5nHf8LpD4sGj6aeE0d1")


def _sample(prefix: str, size: int | str, alphabet: str) -> str:
    """A made-up value, built here so that no file of the project holds one that looks real."""
    pool = _pool(alphabet)
    count = int(str(size).rstrip("+"))
    return prefix + "".join(pool[(5 * i + i * i // 3) % len(pool)] for i in range(count))


def patterns() -> tuple[Pattern, ...]:
    """All of them.  Prefixes that share what follows become one pattern: fewer to compile, fewer to run."""
    groups: dict[tuple[int | str, str], list[str]] = {}
    for prefix, size, alphabet in VENDORS:
        groups.setdefault((size, alphabet), []).append(prefix)
    prefixed = [
        Pattern(
            _pattern("\0", size, alphabet).replace(re.escape("\0"), "(?:" + "|".join(map(re.escape, prefixes)) + ")"),
            _looks_issued,
            rank=CERTAIN,
        )
        for (size, alphabet), prefixes in groups.items()
    ]
    return (*prefixed, *FORMS)


_UUID_END = lazy(r"-[a-f0-9]{4}-[a-f0-9]{12}")


def _looks_issued(text: str) -> int:
    """Vendor tokens are random: digits among them or letters in an arbitrary case, no words joined by hyphens."""
    value = text.rstrip(".")
    if len(value) > 200:
        return len(value)
    tail = re.split(r"[-_.]", value.rstrip("_-="))[-1]
    if any(map(str.isdigit, value[3:])):
        issued = checks.mixed(tail) or len(tail) < 8 or _UUID_END.search(value) is not None
    else:
        issued = len(tail) >= (12 if "_live_" in value else 24) and in_arbitrary_case(tail)
    return len(value) if issued and len(set(value)) > 8 and not is_identifier(tail) else 0


#: ``noDeleteOnFetchRejection``, ``keyDataRawX509CertGetKlass``.
_IDENTIFIER = lazy(r"[a-z]{2,}(?:[A-Z][a-z]+|[A-Z]?\d{1,4}(?![a-z])){2,}", re.ASCII)


def is_identifier(text: str) -> bool:
    """Whether a long text is words as programs join them, four letters long on average and more."""
    is_long = len(text) >= max(_LONG, 4 * sum(map(str.isupper, text)))
    return is_long and _IDENTIFIER.fullmatch(text) is not None


_LONG = 20


def examples() -> tuple[Example, ...]:
    """One of each vendor's, and one that hides inside something that looks like a token."""
    samples = [_sample(*row) for row in VENDORS]
    planted = _sample("ghp_", 36, "A-Za-z0-9")
    return (*(Example(f"use {sample} here", sample) for sample in samples), Example(f"[SECRET_{planted}]", planted))
