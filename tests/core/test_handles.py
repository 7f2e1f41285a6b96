"""Handles mean what they were given for, and there is an end to how many are remembered."""

from __future__ import annotations

from cloakllm_gateway.core.handles import MOST, Handles


def test_a_handle_means_the_original_to_its_upstream_and_nothing_to_another() -> None:
    handles = Handles()
    handle = handles.issue("crm#0", "kim@acme-corp.com")
    assert handles.issue("crm#0", "kim@acme-corp.com") == handle
    assert handles.original("crm#0", handle) == "kim@acme-corp.com"
    assert handles.original("evil#0", handle) == handle


def test_of_more_handles_than_are_remembered_the_oldest_goes_and_none_is_given_twice() -> None:
    handles = Handles()
    given = [handles.issue("crm#0", n) for n in range(MOST + 10)]
    assert len(set(given)) == MOST + 10
    assert handles.original("crm#0", given[9]) == given[9]
    assert handles.original("crm#0", given[10]) == 10


def test_an_upstream_with_many_handles_costs_no_other_upstream_its_own() -> None:
    handles = Handles()
    handle = handles.issue("crm#0", "kim@acme-corp.com")
    for number in range(MOST + 10):
        handles.issue("evil#0", number)
    assert handles.original("crm#0", handle) == "kim@acme-corp.com"


def test_nobody_can_tell_a_handle_before_it_is_given() -> None:
    given = [Handles(secret).issue("crm#0", "kim@acme-corp.com") for secret in (b"one", b"another")]
    assert given[0] != given[1]
