"""Who may get which value."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloakllm_gateway.core.policy import Policy, Strictness
from cloakllm_gateway.core.settings import Action, Flow, Scope
from cloakllm_gateway.vault.entries import Entry, Spelling, Token
from tests.core.transcript import settings, upstream

NAMES = ("crm", "mailer", "web")
ALLOW, ASK, DENY = Strictness


def entry(*origins: str, sensitive: bool = False) -> Entry:
    spelling = Spelling("EMAIL", "kim@acme-corp.com", "kim@acme-corp.com", "kim@acme-corp.com", sensitive=sensitive)
    return Entry(Token("EMAIL", 0), spelling, "session", frozenset(f"{name}#0" for name in origins))


def policy(scope: Scope = Scope.SESSION, strict: Iterable[str] = (), **more: Any) -> Policy:
    scoped = [upstream(name, token_scope=Scope.UPSTREAM if name in strict else None) for name in NAMES]
    return Policy(settings(*scoped, token_scope=scope, **more))


def test_an_origin_gets_its_own_value_back_whatever_the_scope() -> None:
    for rules in (policy(), policy(Scope.UPSTREAM), policy(strict=["crm"])):
        assert rules.decide(entry("crm", sensitive=True), "crm") == (ALLOW, "origin", False)


def test_the_scope_decides_for_everybody_else() -> None:
    assert policy().decide(entry("crm"), "mailer") == (ALLOW, "token_scope: session", True)
    assert policy(Scope.UPSTREAM).decide(entry("crm"), "mailer") == (DENY, "token_scope: upstream", True)
    assert policy(strict=["web"]).decide(entry("crm"), "web") == (DENY, "token_scope: upstream", True)
    assert policy(strict=["web"]).decide(entry("crm"), "mailer").allowed


def test_sensitive_values_go_to_an_origin_only_unless_that_is_lifted() -> None:
    secret = entry("crm", sensitive=True)
    assert policy().decide(secret, "mailer") == (DENY, "sensitive: origin", True)
    assert policy(sensitive_to_origin_only=False).decide(secret, "mailer").allowed


def test_a_value_without_an_origin_goes_nowhere() -> None:
    assert policy().decide(entry(), "crm") == (DENY, "no origin", True)


def test_answers_to_an_upstreams_own_request_restore_own_values_only() -> None:
    assert policy().decide_own(entry("crm"), "crm").allowed
    assert not policy().decide_own(entry("crm"), "mailer").allowed


def test_a_rule_that_denies_an_upstream_its_own_values_holds_for_what_it_asks_as_well() -> None:
    rules = policy(flows=(Flow("*", "crm", Action.DENY, frozenset(), ()),))
    assert rules.decide(entry("crm"), "crm").answer is DENY
    assert rules.decide_own(entry("crm"), "crm") == (DENY, "flows[0]", False)


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


# -- flows -------------------------------------------------------------------------------------------


def flow(origin: str, to: str, action: Action, *categories: str, hosts: tuple[str, ...] = ()) -> Flow:
    return Flow(origin, to, action, frozenset(categories), hosts)


def test_the_first_flow_that_matches_decides_before_any_scope() -> None:
    flows = (flow("crm", "mailer", Action.ALLOW, "EMAIL"), flow("*", "mailer", Action.DENY))
    rules = policy(Scope.UPSTREAM, flows=flows)
    assert rules.decide(entry("crm"), "mailer") == (ALLOW, "flows[0]", True)
    assert rules.decide(entry("web"), "mailer") == (DENY, "flows[1]", True)
    assert rules.decide(entry("crm"), "web") == (DENY, "token_scope: upstream", True)


def test_the_strictest_answer_over_all_origins_counts() -> None:
    flows = (flow("crm", "web", Action.ALLOW), flow("mailer", "web", Action.ASK))
    rules = policy(flows=flows)
    assert rules.decide(entry("crm", "mailer"), "web") == (ASK, "flows[1]", True)
    denied = policy(flows=(*flows[:1], flow("mailer", "web", Action.DENY)))
    assert denied.decide(entry("crm", "mailer"), "web").answer is DENY


def test_something_sensitive_goes_only_where_a_flow_names_it() -> None:
    secret = entry("crm", sensitive=True)
    assert policy(flows=(flow("crm", "web", Action.ALLOW),)).decide(secret, "web").answer is DENY
    assert policy(flows=(flow("crm", "web", Action.ALLOW, "EMAIL"),)).decide(secret, "web").allowed


def test_a_deny_that_names_an_origin_holds_for_the_origin_itself() -> None:
    rules = policy(flows=(flow("crm", "crm", Action.DENY, "EMAIL"),))
    assert rules.decide(entry("crm"), "crm") == (DENY, "flows[0]", False)
    assert policy(flows=(flow("*", "*", Action.DENY),)).decide(entry("crm"), "crm").allowed


@pytest.mark.parametrize(
    ("host", "allowed"),
    [
        ("api.acme.com", True),
        ("API.acme.com:8443", True),
        ("user@api.acme.com", True),
        ("acme.com", False),
        ("api.acme.com.evil.io", False),
        ("api.acme.com@evil.io", False),
        ("api.acme.com\\@evil.io", False),
        ("evil.io\\@api.acme.com", False),
        ("evil.io\\.api.acme.com", False),
        ("api.acme.com.", True),
        ("api%2Eacme.com", False),
        ("", False),
    ],
)
def test_a_flow_with_hosts_covers_tokens_in_urls_of_those_hosts_only(host: str, allowed: bool) -> None:
    rules = policy(Scope.UPSTREAM, flows=(flow("crm", "web", Action.ALLOW, hosts=("*.acme.com",)),))
    assert rules.decide(entry("crm"), "web", host).allowed is allowed


@pytest.mark.parametrize(
    "host",
    [
        "evil.io", "api.acme.com\\@evil.io", "evil.io\\@api.acme.com", "evil.io.", "EVIL.io:443", "evil%2eio",
        "%65vil.io\\@api.acme.com", "evil\u3002io", "\uff45vil.io",
    ],
)  # fmt: skip
def test_a_deny_with_hosts_holds_for_whatever_some_client_takes_for_the_host(host: str) -> None:
    rules = policy(flows=(flow("crm", "web", Action.DENY, hosts=("evil.io",)),))
    assert not rules.decide(entry("crm"), "web", host).allowed


def test_into_the_path_of_an_address_only_a_flow_or_a_person_lets() -> None:
    assert policy().decide(entry("crm"), "web", "evil.io") == (DENY, "place: path or query of a URL", True)
    assert policy().decide(entry("crm"), "crm", "evil.io").allowed
    assert policy(Scope.ASK).decide(entry("crm"), "web", "evil.io").answer is ASK
    assert policy(flows=(flow("crm", "web", Action.ALLOW),)).decide(entry("crm"), "web", "evil.io").allowed


def test_the_scope_ask_asks() -> None:
    assert policy(Scope.ASK).decide(entry("crm"), "web") == (ASK, "token_scope: ask", True)


def test_groups_join_upstreams_that_would_stand_alone_and_a_deny_sets_one_apart() -> None:
    joined = policy(Scope.UPSTREAM, groups=(frozenset({"crm", "mailer"}),))
    assert joined.group("crm") == joined.group("mailer") != joined.group("web")
    apart = policy(flows=(flow("crm", "web", Action.DENY),))
    assert apart.group("mailer") not in (apart.group("crm"), apart.group("web"))


rules = st.builds(
    Flow,
    st.sampled_from((*NAMES, "*")),
    st.sampled_from((*NAMES, "*")),
    st.sampled_from(Action),
    st.sampled_from((frozenset[str](), frozenset({"EMAIL"}), frozenset({"PHONE"}))),
)


def expected(flows: list[Flow], origins: set[str], destination: str, sensitive: bool) -> Strictness:
    """The rules of the design, written down once more and as plainly as possible."""
    if not origins:
        return DENY
    if destination in origins:
        for rule in flows:
            names_it = rule.to == destination and rule.origin in (destination, "*")
            applies = not rule.categories or "EMAIL" in rule.categories
            if names_it and applies and (rule.categories or not sensitive or rule.action is Action.DENY):
                return DENY if rule.action is Action.DENY else ALLOW
        return ALLOW
    answers = []
    for origin in origins:
        answer = DENY if sensitive else ALLOW
        for rule in flows:
            if rule.origin not in ("*", origin) or rule.to not in ("*", destination):
                continue
            if rule.categories and "EMAIL" not in rule.categories:
                continue
            if not rule.categories and sensitive and rule.action is not Action.DENY:
                continue
            answer = {Action.ALLOW: ALLOW, Action.ASK: ASK, Action.DENY: DENY}[rule.action]
            break
        answers.append(answer)
    return max(answers)


@given(st.lists(rules, max_size=4), st.sets(st.sampled_from(NAMES)), st.sampled_from(NAMES), st.booleans())
def test_random_flows_agree_with_a_plain_evaluator(
    flows: list[Flow], origins: set[str], destination: str, sensitive: bool
) -> None:
    found = policy(flows=tuple(flows)).decide(entry(*origins, sensitive=sensitive), destination)
    assert found.answer is expected(flows, origins, destination, sensitive)
