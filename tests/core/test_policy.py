"""Who may get which value."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloakllm_gateway.core.policy import Policy
from cloakllm_gateway.core.settings import Scope
from cloakllm_gateway.vault.entries import Entry, Spelling, Token
from tests.core.transcript import settings, upstream

NAMES = ("crm", "mailer", "web")


def entry(*origins: str, sensitive: bool = False) -> Entry:
    spelling = Spelling("EMAIL", "kim@acme-corp.com", "kim@acme-corp.com", "kim@acme-corp.com", sensitive=sensitive)
    return Entry(Token("EMAIL", 0), spelling, "session", frozenset(f"{name}#0" for name in origins))


def policy(scope: Scope = Scope.SESSION, strict: Iterable[str] = (), **more: bool) -> Policy:
    scoped = [upstream(name, token_scope=Scope.UPSTREAM if name in strict else None) for name in NAMES]
    return Policy(settings(*scoped, token_scope=scope, **more))


def test_an_origin_gets_its_own_value_back_whatever_the_scope() -> None:
    for rules in (policy(), policy(Scope.UPSTREAM), policy(strict=["crm"])):
        assert rules.decide(entry("crm", sensitive=True), "crm") == (True, "origin", False)


def test_the_scope_decides_for_everybody_else() -> None:
    assert policy().decide(entry("crm"), "mailer") == (True, "token_scope: session", True)
    assert policy(Scope.UPSTREAM).decide(entry("crm"), "mailer") == (False, "token_scope: upstream", True)
    assert policy(strict=["web"]).decide(entry("crm"), "web") == (False, "token_scope: upstream", True)
    assert policy(strict=["web"]).decide(entry("crm"), "mailer").allowed


def test_sensitive_values_go_to_an_origin_only_unless_that_is_lifted() -> None:
    secret = entry("crm", sensitive=True)
    assert policy().decide(secret, "mailer") == (False, "sensitive: origin", True)
    assert policy(sensitive_to_origin_only=False).decide(secret, "mailer").allowed


def test_a_value_without_an_origin_goes_nowhere() -> None:
    assert policy().decide(entry(), "crm") == (False, "no origin", True)


def test_answers_to_an_upstreams_own_request_restore_own_values_only() -> None:
    assert policy().decide_own(entry("crm"), "crm").allowed
    assert not policy().decide_own(entry("crm"), "mailer").allowed


@given(
    origins=st.sets(st.sampled_from(NAMES)),
    added=st.sampled_from(NAMES),
    destination=st.sampled_from(NAMES),
    sensitive=st.booleans(),
    strict=st.sets(st.sampled_from(NAMES)),
)
def test_a_further_origin_opens_no_door_but_its_own(
    origins: set[str], added: str, destination: str, sensitive: bool, strict: set[str]
) -> None:
    rules = policy(strict=strict)
    before = rules.decide(entry(*origins, sensitive=sensitive), destination)
    after = rules.decide(entry(*origins, added, sensitive=sensitive), destination)
    # A value without any origin is unknown ground: it opens with the first origin it gets.
    assert before.allowed or not after.allowed or added == destination or not origins


@pytest.mark.parametrize(("strict", "groups"), [((), 1), (("crm",), 2), (NAMES, 3)])
def test_upstreams_of_a_narrow_scope_share_no_equality(strict: tuple[str, ...], groups: int) -> None:
    rules = policy(strict=strict)
    assert len({rules.group(name) for name in NAMES}) == groups
