"""What one place of a message proves is hidden in its other places as well, and not from the next message on."""

from __future__ import annotations

import base64
import json
from typing import Any, Literal, TypeAlias
from unicodedata import normalize

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloakllm_gateway.protocol.surface import RESTORE, SURFACE
from tests.breaks import BREAKS
from tests.core.session import Session
from tests.core.test_adjacent import unnumbered
from tests.core.test_sanitizer import Gate
from tests.cost import Work, compare
from tests.effort import examples

Form: TypeAlias = Literal["NFC", "NFD"]

RESULT, TOOLS = SURFACE["tools/call"].result, SURFACE["tools/list"].result
assert RESULT is not None and TOOLS is not None
#: Values that nothing but a key proves.
TOLD = {"last_name": "Okonkwo", "password": "hunter2xyz", "first_name": "Chidinma", "ssn": "536228726", "pin": 482913}


def result(*texts: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text} for text in texts], **more}


def shown(part: Any) -> str:
    return json.dumps(Gate().sanitize(part, RESULT))


@pytest.mark.parametrize("key", TOLD)
@pytest.mark.parametrize("around", ["{}", "{} has left", "it was {}, as they said", "see {}; and kim@acme-corp.com"])
def test_what_a_field_proves_is_hidden_in_prose_beside_it(key: str, around: str) -> None:
    value = str(TOLD[key])
    said = around.format(value)
    for part in (
        result(said, structuredContent={key: TOLD[key]}),
        result(json.dumps({key: TOLD[key]}), said),
        result("see there", structuredContent={key: TOLD[key], "remark": [said], "more": {"x": said}}),
        result("see there", structuredContent={key: TOLD[key], said: True}),
        result(said, structuredContent=[{"name": "unlike"}, {key: TOLD[key]}]),
    ):
        assert value not in shown(part)


@pytest.mark.parametrize("key", TOLD)
@pytest.mark.parametrize("before", ["it was ", "kim@acme-corp.com told: "], ids=["alone", "beside a find"])
@pytest.mark.parametrize("behind", [", as they said", ", or lee@acme-corp.com"], ids=["alone", "beside a find"])
def test_what_a_field_proves_is_hidden_where_it_is_cut_between_two_blocks(key: str, before: str, behind: str) -> None:
    value = str(TOLD[key])
    for at in range(1, len(value)):
        blocks = before + value[:at], value[at:] + behind
        gate = Gate()
        told = gate.sanitize(result(*blocks, structuredContent={key: TOLD[key]}), RESULT)["content"]
        assert not told[0]["text"].endswith(f" {value[:at]}")
        assert not told[1]["text"].startswith(value[at:])
        assert [block["text"] for block in gate.restore({"content": told}, RESTORE)["content"]] == [*blocks]


@pytest.mark.parametrize(
    "said",
    [
        '{"greeting": "Dear M\\u00fcllerov\\u00e1"}',
        "see https://corp.pl/?q=M%C3%BCllerov%C3%A1",
        "<b>M&uuml;llerov&aacute;</b>",
        "Dear M\N{ZERO WIDTH SPACE}\N{LATIN SMALL LETTER U WITH DIAERESIS}llerov\N{LATIN SMALL LETTER A WITH ACUTE}",
        base64.b64encode("Dear M\u00fcllerov\u00e1, how are you".encode()).decode(),
    ],
    ids=["escaped", "percent", "references", "invisible", "base64"],
)
def test_it_is_hidden_however_it_is_written(said: str) -> None:
    name = "M\u00fcllerov\u00e1"
    told = Gate().sanitize(result(said, structuredContent={"last_name": name}), RESULT)
    assert said not in told["content"][0]["text"]
    assert "[PERSON_" in told["content"][0]["text"]


@pytest.mark.parametrize("between", [*BREAKS.values(), "  ", "\t"])
@pytest.mark.parametrize("name", ["Grace Hopper", "Max van der Lubbe", "Li Wei", "correct horse battery"])
def test_it_is_hidden_wherever_its_lines_end(name: str, between: str) -> None:
    gate, said = Gate(), f"I met {name.replace(' ', between)}, and left"
    field = {"password" if name.islower() else "full_name": name}
    for part in (result(said, structuredContent=field), result(said)):
        told = gate.sanitize(part, RESULT)["content"][0]["text"]
        assert not any(word in told for word in name.split())
        assert gate.restore({"arguments": {"a": told}}, {"arguments": RESTORE})["arguments"]["a"] == said


def test_a_name_that_a_list_has_in_two_texts_is_hidden_in_both() -> None:
    for words in (["Okonkwo", "Okonkwo"], ["Grace", "Okonkwo"]):
        told = {"last_name": "Okonkwo", "full_name": " ".join(words), "x": words}
        assert "Okonkwo" not in json.dumps(Gate().sanitize(result(structuredContent=told), RESULT))


@pytest.mark.parametrize(
    "write",
    [
        lambda text: "".join(f"\\{byte:03o}" for byte in text.encode()),
        lambda text: json.dumps([*text.encode()]),
        lambda text: text.encode().hex(" "),
        lambda text: text.encode().hex(":"),
        lambda text: ", ".join(f"0x{byte:02x}" for byte in text.encode()),
        lambda text: base64.b32encode(text.encode()).decode(),
        lambda text: base64.b64encode(text.encode()).decode(),
    ],
    ids=["octal", "decimal codes", "hexadecimal", "with colons", "of C", "base32", "base64"],
)
@pytest.mark.parametrize("around", ["Chidinma Okonkwo", "she is Okonkwo, and well"])
def test_a_value_that_is_known_is_hidden_in_later_messages_however_it_is_written(write: Any, around: str) -> None:
    """Threat 17: no detection finds a name in codes, the vault does; and what was hidden so comes back exactly."""
    gate = Gate()
    gate.sanitize(result(structuredContent={"last_name": "Okonkwo", "first_name": "Chidinma"}), RESULT)
    later = result(f"it says {write(around)} and ends")
    told = gate.sanitize(later, RESULT)
    assert write("Okonkwo").strip("[]=") not in json.dumps(told)
    assert "[PERSON_" in json.dumps(told)
    assert gate.restore({"content": told["content"]}) == {"content": later["content"]}


@pytest.mark.parametrize("name", ["Okonkwo", "Achebe"])
@pytest.mark.parametrize("write", [lambda raw: json.dumps([*raw]), lambda raw: raw.hex(":"), lambda raw: raw.hex(" ")])
def test_a_name_alone_is_hidden_in_codes(name: str, write: Any) -> None:
    gate = Gate()
    gate.sanitize(result(structuredContent={"last_name": name}), RESULT)
    assert write(name.encode()).strip("[]") not in shown_by(gate, f"x = {write(name.encode())}")


def shown_by(gate: Gate, text: str) -> str:
    told: str = gate.sanitize(result(text), RESULT)["content"][0]["text"]
    return told


@pytest.mark.parametrize("told", ["NFC", "NFD"])
@pytest.mark.parametrize("said", ["NFC", "NFD"])
def test_accents_may_be_characters_of_their_own(told: Form, said: Form) -> None:
    """As file names are on a Mac: ``Müllerová`` of ten characters or of eleven."""
    gate, name = Gate(), "M\u00fcllerov\u00e1"
    text = f"Dear {normalize(said, name)}, hello"
    part = result(text, structuredContent={"last_name": normalize(told, name)})
    for out in (gate.sanitize(part, RESULT), gate.sanitize(result(text), RESULT)):
        assert "llerov" not in json.dumps(out)
        shown = out["content"][0]["text"]
        assert gate.restore({"arguments": {"a": shown}}, {"arguments": RESTORE})["arguments"]["a"] == text


@settings(max_examples=examples(100))
@given(st.lists(st.sampled_from([*map(str, TOLD.values()), "and", "Regards", "a b", "[EMAIL_0]", "\n"]), max_size=8))
def test_what_was_hidden_so_comes_back(words: list[str]) -> None:
    gate = Gate()
    said = " ".join(words)
    out = gate.sanitize(result(said, structuredContent={**TOLD, "x": words}), RESULT)
    [said_to_model] = unnumbered([json.dumps(out)])  # a number may have the digits of a value
    assert not [value for value in map(str, TOLD.values()) if value in said_to_model]
    text, listed = out["content"][0]["text"], out["structuredContent"]["x"]
    back = gate.restore({"arguments": {"a": text, "b": listed}}, {"arguments": RESTORE})["arguments"]
    assert back == {"a": said, "b": words}


def test_a_value_has_one_number_in_one_message() -> None:
    out = Gate().sanitize(result("Okonkwo has left", structuredContent={"last_name": "Okonkwo"}), RESULT)
    assert out["content"][0]["text"] == f"{out['structuredContent']['last_name']} has left"


def test_parts_of_a_name_have_tokens_of_their_own_that_lead_back_to_them() -> None:
    texts = ("From: Grace Hopper <grace@acme-corp.com>", "Grace will call. Hopper agreed.", "Ask Hopper")
    gate = Gate()
    out = gate.sanitize(result(*texts), RESULT)
    assert not any(word in json.dumps(out) for word in ("Grace", "Hopper"))
    assert gate.restore({"content": out["content"]}) == result(*texts)


def test_what_can_not_be_told_from_ordinary_text_stays_beside_its_field() -> None:
    out = shown(result("the best of 1234 and max", structuredContent={"pin": 1234, "first_name": "Max"}))
    assert "the best of 1234 and max" in out


def test_a_name_that_a_model_saw_in_one_text_is_hidden_in_the_others() -> None:
    session = Session(people=["Zbigniewa Wroclawska"])
    out = session.shown({"told": "a word of Zbigniewa Wroclawska", "Zbigniewa Wroclawska": ["ZBIGNIEWA WROCLAWSKA"]})
    assert "wroclawska" not in str(out).casefold()


def test_a_tool_is_not_dropped_for_what_an_example_calls_a_user() -> None:
    tool = {"name": "okonkwo", "description": "x", "inputSchema": {"type": "object"}}
    listed = {"tools": [{**tool, "name": "find", "description": '{"last_name": "okonkwo"}'}, tool]}
    assert [tool["name"] for tool in Gate().sanitize(listed, TOOLS)["tools"]][-1] == "okonkwo"


def test_many_values_and_many_texts_take_no_more_than_their_length_says() -> None:
    def work(count: int) -> Work:
        names = [f"Okonkw{'abcdefghij'[n % 10]}{'klmnopqrst'[n // 10 % 10]}{n}" for n in range(count)]
        rows = [{"last_name": name, "remark": f"{name} was there"} for name in names]
        return lambda: Gate().sanitize(result(structuredContent={"rows": rows}), RESULT)

    compare(work(250), work(2000), most=16, slack=0.1)
