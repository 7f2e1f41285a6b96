"""What has left the store means nothing to a session any more."""

from __future__ import annotations

from cloakllm_gateway.vault.entries import Entry, Spelling, Token
from cloakllm_gateway.vault.vault import Vault

GROUP = "session"
KEY = "-----BEGIN KEY-----" + "abcdefgh" * 40


def entry(number: int, raw: str, canonical: str = "", variant: int = 0) -> Entry:
    spelling = Spelling("EMAIL", raw, raw, canonical or raw)
    return Entry(Token("EMAIL", number, variant), spelling, GROUP, frozenset({"crm"}))


def known(vault: Vault, text: str) -> list[str]:
    return [text[span.start : span.end] for span in vault.known(text, "crm", GROUP)]


def test_a_forgotten_token_stands_for_nothing_and_its_value_is_not_known():
    vault = Vault()
    ana, bob = entry(0, "ana@x.org"), entry(1, "bob@x.org")
    vault.learn([ana, bob])
    vault.show([ana.token, bob.token])
    vault.forget([ana.token])
    assert vault.lookup(ana.token) is None
    assert not vault.is_shown(ana.token)
    assert vault.shown_of("EMAIL") == [bob.token]
    assert known(vault, "ana@x.org bob@x.org") == ["bob@x.org"]


def test_what_two_spellings_share_stays_known_until_both_are_gone():
    vault = Vault()
    one, two = entry(0, "ana@x.org", "ana@x.org"), entry(0, "ANA@x.org", "ana@x.org", variant=1)
    vault.learn([one, two])
    vault.forget([one.token])
    assert known(vault, "ana@x.org") == ["ana@x.org"]
    vault.forget([two.token])
    assert known(vault, "ana@x.org ANA@x.org") == []


def test_long_values_are_forgotten_too():
    vault = Vault()
    long = entry(0, KEY)
    vault.learn([long])
    assert known(vault, KEY) == [KEY]
    vault.forget([long.token])
    assert known(vault, KEY) == []


def test_forgetting_what_was_never_known_is_nothing():
    vault = Vault()
    vault.forget([Token("EMAIL", 7)])
    vault.learn([entry(7, "ana@x.org")])
    assert known(vault, "ana@x.org") == ["ana@x.org"]


def test_what_is_learned_again_is_known_again():
    vault = Vault()
    ana = entry(0, "ana@x.org")
    vault.learn([ana])
    vault.forget([ana.token])
    vault.learn([entry(1, "ana@x.org")])
    assert known(vault, "ana@x.org") == ["ana@x.org"]


def test_news_that_overtake_each_other_lose_no_origin():
    vault = Vault()
    old = entry(0, "ana@x.org")
    vault.learn([old._replace(origins=frozenset({"crm", "mail"})), old])
    found = vault.lookup(old.token)
    assert found is not None and found.origins == {"crm", "mail"}
