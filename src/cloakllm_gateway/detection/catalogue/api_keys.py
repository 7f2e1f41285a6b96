"""Keys of services: as vendors issue them, addresses that are keys, AWS, JSON Web Tokens."""

from __future__ import annotations

import re

from cloakllm_gateway.detection.catalogue import checks, vendors
from cloakllm_gateway.detection.catalogue.model import (
    CERTAIN,
    CONTEXT,
    SECRET_KEYED,
    Category,
    Example,
    Pattern,
    example,
)
from cloakllm_gateway.detection.catalogue.randomness import is_random
from cloakllm_gateway.detection.catalogue.vendors import EDGE
from cloakllm_gateway.patterns import lazy

_CONSONANTS = lazy(r"[A-Z]?[bcdfghjklmnpqrstvwxz]{5}")


def _is_generic_key(text: str) -> int:
    """Behind a word like ``token``: digits among letters, or what no word of a language has, five consonants on end."""
    digits = sum(map(str.isdigit, text))
    return len(text) if (digits >= 3 and not vendors.is_identifier(text)) or _CONSONANTS.search(text) else 0


#: Who knows these addresses may write there: they are credentials from their first letter.
_WEBHOOKS = (
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
    Pattern(rf"{EDGE}(?:https?://)?hooks\.zapier\.com/hooks/catch/\d{{5,9}}/[A-Za-z0-9]{{5,16}}", rank=CERTAIN),
)

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
        *_WEBHOOKS,
        Pattern(  # what many a service and a person calls a key
            # Without a hyphen it may stand in a picture as well, between two signs of base64.
            rf"{EDGE}(?<!\+)(?:sk|pk|api|key|token|secret)(?:[_-]|(?![A-Za-z0-9]{{65}}|[A-Za-z0-9]{{18,64}}[+/]))"
            r"(?:(?:live|test|prod)[_-]?)?[A-Za-z0-9]{18,128}(?![A-Za-z0-9_-])",
            _is_generic_key,
        ),
        Pattern(  # cut off by the end of its text
            rf"{EDGE}(?:ghp_|gho_|ghs_|github_pat_|glpat-|sk-|sk_live_|xox[abprs]-|AKIA|ASIA|AIza|hf_|npm_|eyJ)"
            r"[A-Za-z0-9_-]{6,256}(?![^\x1c])",
            lambda text: len(text) if checks.mixed(text[4:]) and checks.has_digit(text) else 0,
            rank=CONTEXT,
        ),
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
