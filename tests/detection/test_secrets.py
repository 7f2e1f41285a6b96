"""Credentials of three hundred kinds, made up from what their vendors document, in the places where they stand."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from cloakllm_gateway.detection.engine import Detector
from cloakllm_gateway.spans import Text

credentials = pytest.importorskip("bench.credentials", reason="the benchmarks are not part of a source distribution")

DETECTOR = Detector()


def hidden(text: str) -> set[int]:
    return {at for span in DETECTOR.find([Text(text)])[0] for at in range(span.start, span.end)}


def test_nearly_every_credential_is_hidden_whole_whoever_issued_it_and_wherever_it_stands() -> None:
    missed: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for document in credentials.documents(seed=7):
        (span,) = document["spans"]
        kinds[document["kind"]] += 1
        places = (at for at in range(span["start"], span["end"]) if not document["text"][at].isspace())
        missed[document["kind"]] += not hidden(document["text"]).issuperset(places)
    assert len(kinds) > 250
    assert missed.total() <= 0.01 * kinds.total()
    assert [kind for kind in kinds if missed[kind] > kinds[kind] / 2] == []


@pytest.mark.parametrize(
    "text",
    [
        "OP = token.OP\nERRORTOKEN = token.ERRORTOKEN\n",
        "PRIMARY_KEY = 'user_id'\nCACHE_KEY = f'user:{id}'\n",
        "ENV PATH_TO_KEY /etc/ssl/private/server.key\n",
        'x["token"] = "expired-token-of-a-session"',
        "| token | a word of the grammar |\n",
        "- name: LOG_LEVEL\n  value: debug\n",
        "run it with --token-file /run/secrets/token or --password-stdin",
        "the token is invalid, the API key is required",
        "https://example.com:8080/@kim and https://api.example.com:@",
        '"integrity": "sha512-glFIJDvLNDtJhT9qrMFWLPbvS+kRyCzMSUdGfA==",',
        "tokens: 1234, key-value-pairs: 12, api-version: 2026-01-01",
    ],
)
def test_what_only_speaks_of_secrets_is_left_alone(text: str) -> None:
    assert hidden(text) == set()


@pytest.mark.parametrize(
    ("url", "secret"),
    [
        ("https://user:tok123abc@github.com/a/b.git", "tok123abc"),
        ("postgres://app:pw@db.example.com/orders", "pw"),
        ("mongodb+srv://app:Qwe%40123@c0.example.net", "Qwe%40123"),
        ("redis://:s3cr!tpw@cache.example.com:6379", "s3cr!tpw"),
        ("mongodb+srv://app:hunter2xyz@cluster0.example.net/db", "hunter2xyz"),
    ],
)
def test_a_password_in_a_url_makes_no_address_of_its_host(url: str, secret: str) -> None:
    (spans,) = DETECTOR.find([Text(f"fetching {url}, done")])
    assert [(span.category, span.value) for span in spans] == [("SECRET", secret)]


def test_an_address_as_the_user_of_a_url_is_one() -> None:
    (spans,) = DETECTOR.find([Text("smtp://kim@example.com:hunter2xyz@mail.example.org:587")])
    assert [(span.category, span.value) for span in spans] == [("EMAIL", "kim@example.com"), ("SECRET", "hunter2xyz")]


def test_the_scope_of_a_signature_is_no_secret() -> None:
    key = "AKIA" + "Q7RVK3XZ2MTB5WCY"
    (spans,) = DETECTOR.find([Text(f"AWS4-HMAC-SHA256 Credential={key}/20130524/us-east-1/s3/aws4_request, x=1")])
    assert [span.value for span in spans] == [key]


@pytest.mark.parametrize("size", [100, 150, 300, 2000])
@pytest.mark.parametrize(
    "text",
    [
        "mysql -u root -p{} shop",
        "curl -u admin:{} https://x.org",
        "aws configure set aws_session_token {}",
        "sshpass -p '{}' ssh x",
        "the password is {} until May",
        "Password for jdoe is {}",
        "use sgp_7ca9436b08b1e4f5cc5f4e1b80b6349ac7af231d{}",
    ],
)
def test_a_secret_that_is_longer_than_foreseen_is_hidden_to_its_end(text: str, size: int) -> None:
    value = "".join(random.Random(size).choices("abcdefghjkmnpqrstuvwxyzABCDEFGHJKMNPQRSTUVWXYZ23456789", k=size))
    start = text.index("{}")
    assert hidden(text.format(value)) >= {*range(start, start + size)}
