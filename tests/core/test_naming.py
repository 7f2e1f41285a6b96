"""Names towards the client."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from cloakllm_gateway.core.naming import exposed

prefixes = st.from_regex(r"[A-Za-z0-9-]{1,12}(_[A-Za-z0-9-]{1,8}){0,2}", fullmatch=True)


def test_an_ordinary_name_is_prefixed_and_nothing_else() -> None:
    assert exposed("crm", "search_contacts", 48) == "crm__search_contacts"
    assert exposed("", "search_contacts", 48) == "search_contacts"


def test_unsafe_characters_become_underscores_and_stay_apart_by_a_hash() -> None:
    one, other = exposed("crm", "get.user/info", 48), exposed("crm", "get/user.info", 48)
    assert one.startswith("crm__get_user_info_")
    assert one != other


@given(prefix=prefixes, name=st.text(min_size=1, max_size=120))
def test_every_name_is_safe_within_its_budget_keeps_its_prefix_and_never_changes(prefix: str, name: str) -> None:
    shown = exposed(prefix, name, 48)
    assert re.fullmatch(r"[A-Za-z0-9_-]+", shown)
    assert len(shown) <= 48
    assert shown.startswith(f"{prefix}__")
    assert shown == exposed(prefix, name, 48)


@given(names=st.sets(st.text(min_size=1, max_size=80), min_size=2, max_size=8))
def test_different_names_stay_different(names: set[str]) -> None:
    assert len({exposed("crm", name, 48) for name in names}) == len(names)


def test_the_prefix_of_one_upstream_never_reads_as_another() -> None:
    assert exposed("acme", "_status", 48) != exposed("acme-", "status", 48)
