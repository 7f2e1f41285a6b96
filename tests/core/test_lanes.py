"""What one message of an upstream proves is hidden in all that leaves after it, whichever was said and done first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloakllm_gateway.core.events import Assigned, Effect, Postpone, Resume
from cloakllm_gateway.core.lanes import Lane, Lanes
from cloakllm_gateway.protocol import jsonrpc
from tests.core import transcript
from tests.core.transcript import opened, says, upstream
from tests.effort import examples

#: Looked at at once, asked about, and worked on beside the core.
PADDING = {"little": "", "asked about": " and so on" * 20, "computed": " and so on" * 2_000}
FORM = {"type": "object", "properties": {}}


def note(data: Any) -> dict[str, Any]:
    return jsonrpc.notification("notifications/message", {"level": "info", "data": data})


def question(data: Any) -> dict[str, Any]:
    return jsonrpc.request("q", "elicitation/create", {"message": json.dumps(data), "requestedSchema": FORM})


@pytest.mark.parametrize("padding", PADDING)
@pytest.mark.parametrize("proving", [note, question])
def test_a_value_that_a_message_proves_is_hidden_in_those_behind_it(tmp_path: Path, padding: str, proving: Any) -> None:
    talk = opened(transcript.settings(upstream("crm", elicitation=True)), tmp_path, at_once=True)
    talk.hold = True
    talk.call(1, "crm__look")
    asked = talk.last_asked("crm")
    talk.upstream("crm", proving({"last_name": "Okonkwo", "more": PADDING[padding]}))
    talk.upstream("crm", note("Okonkwo rang twice"))
    talk.upstream("crm", jsonrpc.result(asked, says("Okonkwo is there")))
    while talk.held:
        talk.tell(talk.held.popleft())
    told = talk.take()
    assert len(told) == 3
    assert "Okonkwo" not in json.dumps(told)
    assert told[2]["result"] == says("[PERSON_0] is there")


@pytest.mark.parametrize("padding", PADDING)
@pytest.mark.parametrize(
    "said",
    ["Okonkwo is there", "for Okonkwo, lee@acme-corp.com", "see https://x.io/?q=%4fkonkwo"],
    ids=["alone", "beside a find", "encoded"],
)
def test_a_message_that_takes_long_shows_no_value_that_others_proved_meanwhile(
    tmp_path: Path, padding: str, said: str
) -> None:
    talk = opened(transcript.settings(), tmp_path)
    talk.hold = True
    talk.call(1, "crm__look").call(2, "crm__look")
    first, second = talk.take("crm")
    result = says("Write to kim@acme-corp.com" + PADDING[padding], structuredContent={"a": [said], said: 1})
    talk.upstream("crm", jsonrpc.result(first["id"], result))
    (slow,) = talk.held_jobs()
    while not isinstance(talk.held[0], Assigned):  # by then it has been looked through
        talk.tell(talk.held.popleft())
    talk.upstream("crm", jsonrpc.result(second["id"], says(json.dumps({"last_name": "Okonkwo"}))))
    talk.release(talk.held_jobs()[-1])
    talk.release(slow)
    told = talk.take()
    assert [message["id"] for message in told] == [2, 1]
    assert "konkwo" not in json.dumps(told)


LISTED = {
    "tools/list": lambda said: {"tools": [{"name": "t", "description": said, "inputSchema": {"type": "object"}}]},
    "prompts/list": lambda said: {"prompts": [{"name": "p", "description": said}]},
    "resources/list": lambda said: {"resources": [{"name": "r", "uri": "crm://r", "description": said}]},
    "resources/templates/list": lambda said: {
        "resourceTemplates": [{"name": "r", "uriTemplate": "crm://{r}", "description": said}]
    },
}


@pytest.mark.parametrize("padding", PADDING)
@pytest.mark.parametrize("method", LISTED)
def test_a_list_that_waits_for_anothers_shows_no_value_that_was_proved_meanwhile(
    tmp_path: Path, method: str, padding: str
) -> None:
    """The first list is clean when a result proves the name; the list of the second upstream comes last."""
    talk = opened(transcript.settings(upstream("crm"), upstream("slow")), tmp_path, at_once=True)
    talk.call(1, "crm__look")
    called = talk.last_asked("crm")
    talk.take("slow")
    talk.ask(2, method)
    talk.answer("crm", LISTED[method]("Okonkwo is there" + PADDING[padding]))
    talk.upstream("crm", jsonrpc.result(called, says(json.dumps({"last_name": "Okonkwo"}))))
    assert [message["id"] for message in talk.take()] == [1]
    talk.answer("slow", LISTED[method]("nobody rang"))
    told = talk.only()
    assert told["id"] == 2
    assert "Okonkwo" not in json.dumps(told)
    assert json.dumps(told).count("[PERSON_0] is there") == 1


@pytest.mark.parametrize("padding", PADDING)
def test_a_list_is_behind_what_its_upstream_said_before(tmp_path: Path, padding: str) -> None:
    talk = opened(transcript.settings(), tmp_path, at_once=True)
    talk.hold = True
    talk.ask(1, "prompts/list")
    asked = talk.last_asked("crm")
    talk.upstream("crm", note({"last_name": "Okonkwo", "more": PADDING[padding]}))
    talk.upstream("crm", jsonrpc.result(asked, LISTED["prompts/list"]("Okonkwo is there")))
    while talk.held:
        talk.tell(talk.held.popleft())
    told = talk.take()
    assert len(told) == 2
    assert "Okonkwo" not in json.dumps(told)


def test_a_question_of_a_process_that_ended_meanwhile_is_not_asked(tmp_path: Path) -> None:
    """It is another process that would get the answer."""
    talk = opened(transcript.settings(upstream("crm", elicitation=True)), tmp_path)
    talk.hold = True
    talk.call(1, "crm__look")
    talk.upstream("crm", question("may I?"))
    talk.hold = False
    talk.disconnect("crm").connect("crm")
    talk.answer("crm", {"protocolVersion": "2025-11-25", "capabilities": {}})
    talk.take()
    talk.take("crm")
    while talk.held:
        talk.tell(talk.held.popleft())
    assert [message for message in talk.take() if message.get("method") == "elicitation/create"] == []
    assert [message for message in talk.take("crm") if "method" not in message] == []


def test_questions_that_wait_count_like_those_that_are_open(tmp_path: Path) -> None:
    talk = opened(transcript.settings(upstream("crm", elicitation=True), max_pending=4), tmp_path)
    talk.hold = True
    talk.call(1, "crm__look")
    for number in range(9):
        talk.upstream("crm", {**question("may I?"), "id": number})
    while talk.held:
        talk.tell(talk.held.popleft())
    assert sum(message.get("method") == "elicitation/create" for message in talk.take()) == 4
    refused = [message["id"] for message in talk.take("crm") if "error" in message]
    assert refused == [4, 5, 6, 7, 8]


@pytest.mark.parametrize("around", ["is there", "for lee@acme-corp.com"], ids=["alone", "beside a find"])
def test_a_value_that_others_proved_meanwhile_is_hidden_where_blocks_cut_it(tmp_path: Path, around: str) -> None:
    talk = opened(transcript.settings(), tmp_path)
    talk.hold = True
    talk.call(1, "crm__look").call(2, "crm__look")
    first, second = talk.take("crm")
    cut = [{"type": "text", "text": "Write to kim@acme-corp.com and Okon"}, {"type": "text", "text": f"kwo {around}"}]
    talk.upstream("crm", jsonrpc.result(first["id"], {"content": cut}))
    (slow,) = talk.held_jobs()
    while not isinstance(talk.held[0], Assigned):
        talk.tell(talk.held.popleft())
    talk.upstream("crm", jsonrpc.result(second["id"], says(json.dumps({"last_name": "Okonkwo"}))))
    talk.release(talk.held_jobs()[-1])
    talk.release(slow)
    told = talk.take()[-1]
    assert told["id"] == 1
    assert "Okon" not in json.dumps(told)
    assert "kwo" not in json.dumps(told)


class Speaker:
    name = "crm"

    def __init__(self) -> None:
        self.lane = Lane()


@settings(max_examples=examples(200))
@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=12), st.randoms())
def test_everything_begins_once_in_order_and_behind_what_keeps_it(said: list[tuple[bool, bool]], random: Any) -> None:
    """``said`` is of each message whether others wait for it, and whether it is done as soon as it begins."""
    effects: list[Effect] = []
    lanes, speaker = Lanes(effects.append), Speaker()
    begun: list[int] = []
    working: list[int] = []  # what others wait for

    def begin(number: int) -> None:
        assert not working
        begun.append(number)
        keeps, is_quick = said[number]
        if keeps and is_quick:
            lanes.leave(speaker)
        elif keeps:
            working.append(number)

    resumed = 0
    to_say = list(range(len(said)))
    while to_say or working or len(begun) < len(said):
        turns = sum(isinstance(effect, Resume) for effect in effects) - resumed
        assert turns <= 1
        what = random.choice([*(["say"] * bool(to_say)), *(["turn"] * turns), *(["done"] * bool(working))])
        if what == "say":
            number = to_say.pop(0)
            lanes.at_hand = number
            lanes.enter(speaker, lambda number=number: begin(number), keeps=said[number][0])
        elif what == "turn":
            resumed += 1
            lanes.resume(speaker)
            assert lanes.at_hand == begun[-1]
        else:
            working.pop()
            lanes.leave(speaker)
    assert begun == list(range(len(said)))
    postponed = [effect.size for effect in effects if isinstance(effect, Postpone)]
    assert postponed == [effect.size for effect in effects if isinstance(effect, Resume)]
