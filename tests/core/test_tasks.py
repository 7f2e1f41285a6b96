"""Whose a task is: nobody else's, whatever others call theirs and however many they have."""

from __future__ import annotations

from typing import Any

import pytest

from cloakllm_gateway.core.tasks import MOST
from tests.core.transcript import Conversation, opened, settings, upstream


def task(id: str) -> dict[str, Any]:
    return {"task": {"taskId": id, "status": "working"}}


@pytest.fixture
def talk() -> Conversation:
    return opened(settings(upstream("crm"), upstream("evil")))


def asked_about(talk: Conversation, id: str) -> dict[str, Any]:
    """What upstreams are asked when the client asks about the task it knows as ``id``, by upstream."""
    talk.sent.clear()
    talk.ask(f"about {id}", "tasks/get", {"taskId": id})
    return {peer: message["params"]["taskId"] for peer, message in talk.sent if "params" in message}


def test_a_flood_of_tasks_costs_another_upstream_none_of_its_own(talk: Conversation) -> None:
    talk.call(1, "crm__look").answer("crm", task("t-1"))
    many = [{"taskId": f"x-{number}"} for number in range(MOST + 1)]
    talk.call(2, "evil__look").answer("evil", {"content": [], "tasks": [*many, {"taskId": "t-1"}]})
    assert asked_about(talk, "t-1") == {"crm": "t-1"}
    assert asked_about(talk, "x-0") == {}
    assert asked_about(talk, f"x-{MOST}") == {"evil": f"x-{MOST}"}


def test_who_has_an_id_first_gets_no_task_of_another_by_guessing_how_that_will_be_called(talk: Conversation) -> None:
    guesses = ["t-1", *(f"handle-{number}" for number in range(10))]
    talk.call(1, "evil__look").answer("evil", {"content": [], "tasks": [{"taskId": id} for id in guesses]})
    talk.sent.clear()
    talk.call(2, "crm__look").answer("crm", task("t-1"))
    handle = talk.take()[-1]["result"]["task"]["taskId"]
    assert handle != "t-1"
    assert asked_about(talk, handle) == {"crm": "t-1"}
