"""What went wrong in the field with other tools' detection, each case by its number in the catalogue of such cases."""

from __future__ import annotations

import re
from collections.abc import Sequence

import anyio
import pytest

from cloakllm_gateway.core.handles import Handles
from cloakllm_gateway.core.sanitizer import Sanitizing, drive
from cloakllm_gateway.core.source import Source
from cloakllm_gateway.detection.categories import NAMES
from cloakllm_gateway.detection.engine import Detector
from cloakllm_gateway.detection.names import Names
from cloakllm_gateway.detection.settings import NameSettings
from cloakllm_gateway.errors import DetectionError
from cloakllm_gateway.protocol.surface import SURFACE
from cloakllm_gateway.shell import name_models
from cloakllm_gateway.shell.stores import MemoryStore, Options
from cloakllm_gateway.spans import Text
from cloakllm_gateway.vault import placing
from cloakllm_gateway.vault.entries import Entry, Spelling
from cloakllm_gateway.vault.vault import Vault
from tests.cost import compare

DETECTOR = Detector()


def shown(part: object) -> tuple[object, Vault]:
    """A tool's result as the model is shown it, and the vault that knows its tokens."""
    vault, store = Vault(), MemoryStore(Options(None))

    async def find(texts: Sequence[Text]):
        return DETECTOR.look(texts)

    async def assign(spellings: Sequence[Spelling]) -> Sequence[Entry]:
        entries = await store.assign("n", "g", "o", spellings)
        vault.learn(entries)
        return entries

    shape = SURFACE["tools/call"].result
    assert shape is not None
    source = Source("o", "g", vault, Handles(), NAMES | {"LITERAL"})
    return anyio.run(drive, Sanitizing(part, shape, source), find, assign).part, vault


def said(text: str) -> tuple[str, Vault]:
    part, vault = shown({"content": [{"type": "text", "text": text}]})
    assert isinstance(part, dict)
    return part["content"][0]["text"], vault


def restored(text: str, vault: Vault) -> object:
    return placing.restore(text, lambda match, place: vault.lookup(match.token))


def test_overlapping_finds_eat_no_characters():
    """B01"""
    text = "Card 4111 1111 1111 1111.com, call (415) 555-0134, please check https://portal.example.com/u/kim@example.com/edit."
    masked, vault = said(text)
    assert ", please check https://portal.example.com/u/" in masked and masked.endswith("/edit.")
    assert masked.count("[") == 3 and restored(masked, vault) == text


def test_full_width_and_invisible_characters_hide_nothing_and_come_back():
    """B04"""
    text = "ｂｏｂ＠example.com | alice@\u200bexample.com | jose\u0301@example.com"
    masked, vault = said(text)
    assert re.fullmatch(r"\[EMAIL_\d+\] \| \[EMAIL_\d+\] \| \[EMAIL_\d+\]", masked)
    assert restored(masked, vault) == text


def test_ids_and_times_that_pass_a_checksum_by_chance_stay():
    """B19"""
    content = {
        "page_id": 4010232137,
        "url": "https://acme.example.com/wiki/pages/4010232137/Runbook",
        "ts": 1747731005,
        "ts_ms": 1767225600009,
        "serial": "2026010101",
        "ttl": 604800,
    }
    part = {"content": [], "structuredContent": content}
    assert shown(part)[0] == part


def test_no_part_of_a_longer_id_is_a_value():
    """B20"""
    text = (
        "id 3f2b8c1e-9d4a-4b6f-8a2e-672331071866 score 0.250750683890174 at 52.5702100309281,-8.6267 "
        "LinkedAccountId: 215805592 sha 4f4111111111111111ab"
    )
    assert said(text)[0] == text


TECHNICAL = (
    "Deploy C4 diagrams to EKS and S3 via Jenkins; statements are quarterly, due 2026-03-01 14:05Z; "
    "Docker Hub in Jordan release"
)


def test_technical_words_are_no_people():
    """B23"""
    assert said(TECHNICAL)[0] == TECHNICAL


@pytest.mark.skipif(name_models.available(NameSettings()) is not None, reason="the name models are not installed")
def test_technical_words_are_no_people_for_the_name_model_either():
    """B23, with names"""
    recogniser = name_models.load(NameSettings())
    assert isinstance(recogniser, Names) and recogniser.find([TECHNICAL]) == [[]]


def test_every_spelling_of_a_number_is_found_whole_and_shares_its_token():
    """B24"""
    text = (
        "DE89 3704 0044 0532 0130 00 | de89370400440532013000 | DE89-3704-0044-0532-0130-00 | 4111 1111 1111 1111 | "
        "4111-1111-1111-1111 | 4111.1111.1111.1111 | +44 20 7946 0123 | (415) 555-0134 | 536-22-8726"
    )
    masked, vault = said(text)
    tokens = masked.split(" | ")
    assert all(token.startswith("[") and token.endswith("]") for token in tokens)
    assert tokens[1] == f"{tokens[0][:-1]}_1]" and tokens[2] == f"{tokens[0][:-1]}_2]"
    assert tokens[4] == f"{tokens[3][:-1]}_1]" and tokens[5] == f"{tokens[3][:-1]}_2]"
    assert restored(masked, vault) == text


@pytest.mark.parametrize(
    ("text", "around"),
    [
        ("a\n~~BEGIN RSA PRIVATE KEY~~\nMIIEfake1\nAAAA\n~~END RSA PRIVATE KEY~~\nz", ("a\n", "\nz")),
        ("~~BEGIN PRIVATE KEY~~\nMIIEfake2\nBBBB\n(output truncated)", ("", "\n(output truncated)")),
        ('{"key":"~~BEGIN EC PRIVATE KEY~~\\nMIIEfake3\\n~~END EC PRIVATE KEY~~\\n"}', ('{"key":"', '\\n"}')),
        ("~~BEGIN PRIVATE KEY~~\nMIIEfake4\n~~BEGIN CERTIFICATE~~\nCCCC\n~~END PRIVATE KEY~~", ("", "")),
    ],
)
def test_a_private_key_is_hidden_whole_and_nothing_around_it(text: str, around: tuple[str, str]):
    """B28"""
    text = text.replace("~~", "-----")
    masked, vault = said(text)
    before, after = around
    token = masked.removeprefix(before).removesuffix(after)
    assert "MIIE" not in masked and masked == before + token + after and token.count("[") == 1
    assert restored(masked, vault) == text


@pytest.mark.parametrize("unit", ["a.", "1.1.1.", "123-45-", "A", "-----BEGIN PRIVATE KEY-----\n"])
def test_hostile_repetition_takes_time_in_proportion(unit: str):
    """B31"""
    count = 60_000 // len(unit)
    few, many = [Text(unit * count)], [Text(unit * 4 * count)]
    compare(lambda: DETECTOR.find(few), lambda: DETECTOR.find(many), most=4 * 2.3, slack=0.02)


def test_a_value_across_the_edge_of_a_window_of_a_long_text_is_found():
    """B32"""
    filler = "the quick brown fox jumps over the lazy dog "
    text = "".join(filler * (40 + step % 7) + f"u{step}@example.com " for step in range(400))
    found = DETECTOR.find([Text(text)])[0]
    assert [span.value for span in found] == [f"u{step}@example.com" for step in range(400)]


def test_nothing_is_shown_of_a_message_that_could_not_be_looked_at():
    """B33"""

    async def find(texts: Sequence[Text]):
        raise DetectionError("A detection worker ended unexpectedly")

    async def assign(spellings: Sequence[Spelling]) -> Sequence[Entry]:
        raise AssertionError("nothing was found")

    shape = SURFACE["tools/call"].result
    assert shape is not None
    part = {"content": [{"type": "text", "text": "kim@example.com"}]}
    sanitizing = Sanitizing(part, shape, Source("o", "g", Vault(), Handles(), NAMES))
    with pytest.raises(DetectionError) as failed:
        anyio.run(drive, sanitizing, find, assign)
    assert "kim" not in str(failed.value)


def test_encoded_addresses_are_found_and_their_url_comes_back():
    """B39"""
    text = "https://example.com/?u=kim%40example.com&v=kim%2540example.org kim&#64;example.net"
    masked, vault = said(text)
    assert "kim" not in masked and masked.startswith("https://example.com/?u=[EMAIL_") and "&v=[EMAIL_" in masked
    assert restored(masked, vault) == text
