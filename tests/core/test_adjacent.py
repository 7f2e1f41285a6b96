"""A text that a server sends in pieces is as safe as the whole, wherever it was cut."""

from __future__ import annotations

import difflib
import email
import inspect
import itertools
import json
import re
import zipfile
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cloakllm_gateway.core import adjacent
from cloakllm_gateway.core.allowed import Allowed
from cloakllm_gateway.protocol.surface import RESTORE, SURFACE
from tests.core.test_sanitizer import PLANTED, Gate
from tests.cost import Work, compare
from tests.effort import examples

RESULT = SURFACE["tools/call"].result
assert RESULT is not None
TOKEN = re.compile(r"\[[A-Z]\w*\]")


def result(*blocks: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": block} for block in blocks], **more}


def shown(gate: Gate, *blocks: str, **more: Any) -> list[str]:
    part = gate.sanitize(result(*blocks), RESULT, **more)
    return [block["text"] for block in part["content"]]


def unnumbered(texts: list[str]) -> list[str]:
    return [re.sub(r"(?:_\d+){1,2}\]", "]", text) for text in texts]


def pieces(text: str, cuts: list[int]) -> list[str]:
    edges = [0, *sorted(cuts), len(text)]
    return [text[start:end] for start, end in itertools.pairwise(edges)]


def letters(text: str) -> str:
    """What is told, but for tokens and punctuation."""
    return "".join(re.findall(r"[^\W_]", TOKEN.sub("", text)))


around = st.sampled_from(["", "Sent on Monday. ", "two lines\n", "and the rest of it", " (see below)", "tell me " * 90])


@settings(max_examples=examples(200))
@given(st.sampled_from(PLANTED), around, around, st.data())
def test_a_value_that_is_cut_anywhere_is_hidden_in_every_block(
    value: str, before: str, after: str, data: st.DataObject
) -> None:
    text = f"{before} {value} {after}"
    first = len(before) + 1
    inside = st.integers(first + 1, first + len(value) - 1)
    anywhere = st.integers(0, len(text))
    cuts = data.draw(st.lists(inside, min_size=1, max_size=3)) + data.draw(st.lists(anywhere, max_size=2))
    gate = Gate()
    blocks = pieces(text, cuts)
    assume(not any(block and value.startswith(block) for block in blocks))  # a cell may hold a shorter value
    hidden = shown(gate, *blocks)
    assert letters("".join(hidden)) == letters(before + after)
    assert gate.restore({"arguments": hidden}, {"arguments": RESTORE})["arguments"] == blocks


@settings(max_examples=examples(200))
@given(st.lists(st.sampled_from([*PLANTED, "Regards", "a b", "12", "", ".", "\n", "name: "]), max_size=6))
def test_what_goes_in_in_blocks_comes_back_in_blocks(blocks: list[str]) -> None:
    gate = Gate()
    hidden = shown(gate, *blocks)
    assert not [value for value in PLANTED if value in "".join(hidden)]
    assert gate.restore({"arguments": hidden}, {"arguments": RESTORE})["arguments"] == blocks


def test_a_value_that_only_a_key_in_the_block_before_proves_is_hidden() -> None:
    hidden = shown(Gate(), "Password: ", "hunter2xyz\nand so on")
    assert unnumbered(hidden) == ["Password: ", "[SECRET]\nand so on"]


def test_a_known_value_is_hidden_across_an_edge() -> None:
    gate = Gate()
    gate.sanitize({"last_name": "Zbigniewska"})
    assert "niew" not in "".join(shown(gate, "asked by Zbig", "niewska today"))


def test_the_same_texts_as_structure_are_cut_alike() -> None:
    blocks = ["card 4111 1111 ", "1111 1111"]
    part = Gate().sanitize(result(*blocks, structuredContent={"result": blocks}), RESULT)
    assert part["structuredContent"]["result"] == [block["text"] for block in part["content"]]
    assert "1111" not in str(part)


def test_what_follows_a_complete_value_in_the_next_block_is_left_alone() -> None:
    assert unnumbered(shown(Gate(), "kim@example.org", "active", "")) == ["[EMAIL]", "active", ""]
    assert unnumbered(shown(Gate(), "mail: kim@example.org", "Regards")) == ["mail: [EMAIL]", "Regards"]


def test_what_follows_at_the_end_of_other_text_is_hidden_with_it() -> None:
    assert unnumbered(shown(Gate(), "mail: kim@acme-corp.co", "m, or call")) == ["mail: [EMAIL]", "[EMAIL], or call"]


def test_blocks_without_a_value_stay() -> None:
    blocks = ["The report", "was sent", "on Monday\n", "with 3 pages and version 10.2", ".3 of the tool", "[1]", "{}"]
    assert shown(Gate(), *blocks) == blocks


@pytest.mark.parametrize("between", [r"\n\s*\n", r"\n", r"(?<=\. )"])
def test_texts_that_happen_to_adjoin_hardly_ever_make_a_value(between: str) -> None:
    sources = [Path(inspect.getfile(module)).read_text("utf-8")[:30_000] for module in (difflib, email, json, zipfile)]
    changed = 0
    for source in sources:
        blocks = re.split(between, source)
        alone = [text for block in blocks for text in shown(Gate(), block)]
        changed += sum(a != b for a, b in zip(unnumbered(alone), unnumbered(shown(Gate(), *blocks)), strict=True))
    assert changed <= 1


def test_a_value_of_the_allow_list_may_be_cut() -> None:
    blocks = ["write to help@exam", "ple.org for help"]
    assert shown(Gate(), *blocks, allowed=Allowed(["help@example.org"])) == blocks


def test_a_key_block_is_hidden_as_far_as_it_goes() -> None:
    lines = ["-----BEGIN PRIVATE KEY-----", *["MIIEq7RvK3xZ9mTb2WcY5nHf8LpD4sGj6aeE0d1q7RvK3xZ9mTb2WcY5nHf8LpD4"] * 40]
    text = "\n".join([*lines, "-----END PRIVATE KEY-----", "bye"])
    hidden = "".join(shown(Gate(), *(text[at : at + 700] for at in range(0, len(text), 700))))
    assert letters(hidden) == "bye"


@pytest.mark.parametrize(
    ("method", "part"),
    [
        ("tools/call", {"content": [{"type": "resource", "resource": {"uri": "a:1", "text": "it was kim@acme-"}},
                                    {"type": "text", "text": "corp.com, ok"}]}),
        ("prompts/get", {"messages": [{"role": "user", "content": {"type": "text", "text": "it was kim@acme-"}},
                                      {"role": "user", "content": {"type": "text", "text": "corp.com, ok"}}]}),
        ("resources/read", {"contents": [{"uri": "a:1", "blob": b64encode(b"it was kim@acme-").decode()},
                                         {"uri": "a:1", "text": "corp.com, ok"}]}),
    ],
)  # fmt: skip
def test_items_of_any_kind_that_adjoin_are_read_on(method: str, part: dict[str, Any]) -> None:
    shape = SURFACE[method].result
    assert shape is not None
    assert "corp" not in str(Gate().sanitize(part, shape))


def test_only_texts_of_neighbouring_items_are_read_on() -> None:
    paths = [("content", 0, "text"), ("content", 2, "text"), ("content", 3, "resource", "text"), ("meta", "text")]
    assert adjacent.runs(paths) == [[1, 2]]
    assert adjacent.runs([("messages", 0, "content", 1, "text"), ("messages", 1, "content", "text")]) == [[0, 1]]


SECRETS = [
    "sk-proj-aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5aB3dE5gH7jK9mN1pQ3",
    "ghp_aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5",
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIn0.SflKxwRJSMeKKF2QT4fwpMeJf",
]


@pytest.mark.parametrize("before", ["", "key "])
@pytest.mark.parametrize("after", ["", " x"])
@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_goes_on_with_whatever_follows(before: str, secret: str, after: str) -> None:
    for at in range(12, len(secret) - 1, 7):
        hidden = shown(Gate(), before + secret[:at], secret[at:] + after)
        assert letters("".join(hidden)) == letters(before + after), at


@pytest.mark.parametrize(
    ("key", "value"),
    [("api_key=", "QUJDREVGR0hJSktMTU5PcXJzdHV2d1hZWg=="), ("password: ", "hunter2-Zq9XKLMPQR"),
     ("Authorization: Basic ", "YWxhZGRpbjpvcGVuc2VzYW1lUEFTUw=="), ("write to ", "KIM@ACME.CONSULTING.ORG")],
)  # fmt: skip
def test_no_tail_is_taken_for_the_beginning_of_a_record(key: str, value: str) -> None:
    for at in range(len(value) // 2, len(value) - 2):
        assert value[at : at + 3] not in shown(Gate(), key + value[:at], value[at:] + "\nend")[1], at


def test_a_part_of_a_value_is_no_known_value() -> None:
    gate = Gate()
    shown(gate, "important", ".x@acme-corp.com ")
    assert gate.sanitize("the important project of acme-corp.com") == "the important project of acme-corp.com"


@pytest.mark.parametrize(
    "alike", ["[EMAIL_0]", "[email\\_12]", "%5BEMAIL_0%5D", "[EMAIL-0]", "［EMAIL_0］", "[CREDIT_CARD_4111]"]
)
def test_what_reads_as_a_token_in_two_blocks_together_is_a_literal_in_each(alike: str) -> None:
    for at in range(1, len(alike)):
        gate = Gate()
        blocks = [f"call it with {alike[:at]}", f"{alike[at:]} now"]
        hidden = shown(gate, *blocks)
        assert re.fullmatch(r"call it with \[LITERAL_\d+\]\|\[LITERAL_\d+\] now", "|".join(hidden)), at
        assert gate.restore({"arguments": hidden}, {"arguments": RESTORE})["arguments"] == blocks
    code = ["see rows[EMA", "IL] and [ITEM", "_3] of it"]
    assert shown(Gate(), *code) == code


KEY_LINES = [
    "-----BEGIN PRIVATE KEY-----",
    *(f"{n:02}MIIEq7RvK3xZ9mTb2WcY5nHf8LpD4sGj6aeE0d1q7RvK3xZ9mTb2WcY5nHf8Lp" for n in range(20)),
    "-----END PRIVATE KEY-----",
]  # fmt: skip
TABLE = ["id,first_name,last_name", "1,Zbigniewa,Wroclawska", "2,Chidinma,Okonkwo"]


@pytest.mark.parametrize("lines", [KEY_LINES, TABLE])
@pytest.mark.parametrize("form", ["blocks", "lines", "records", "nested"])
def test_the_lines_of_a_file_in_a_list_are_read_as_a_file(lines: list[str], form: str) -> None:
    lines = ["# read from a file", *lines, "bye"] if lines is KEY_LINES else lines
    structured: dict[str, Any] = {
        "blocks": {},
        "lines": {"lines": lines},
        "records": {"lines": [{"n": n, "text": line} for n, line in enumerate(lines)]},
        "nested": {"files": [{"name": "other", "lines": ["a", "b"]}, {"name": "x", "lines": lines}]},
    }[form]
    if form == "records" and lines is TABLE:
        return  # the same field of records is a column, and its first cell a header by chance only
    gate = Gate()
    part = result(*(lines if form == "blocks" else ["see there"]), structuredContent=structured)
    out = gate.sanitize(part, RESULT)
    told = TOKEN.sub("", json.dumps(out))
    assert not [word for line in lines[1:] for word in re.findall(r"[A-Za-z0-9]{7,}", line) if word in told]
    assert gate.restore({"arguments": out}, {"arguments": RESTORE})["arguments"] == part


@pytest.mark.parametrize("listed", [["4111 1111", "1111 1111"], ["a, b", "555-01", "34"], ["Zoe", "12 Main", "Street"]])
def test_other_lists_are_not_joined(listed: list[str]) -> None:
    part = result("see there", structuredContent={"parts": listed})
    assert Gate().sanitize(part, RESULT) == part


def test_a_table_that_goes_on_in_the_next_block_keeps_its_header() -> None:
    rows = [f"{number},Zbigniewa,Wroclawska\n" for number in range(60)]
    blocks = ["id,first_name,last_name\n" + "".join(rows), "".join(rows)]
    assert letters("".join(shown(Gate(), *blocks))) == "idfirstnamelastname" + "".join(map(str, [*range(60)] * 2))


@pytest.mark.parametrize("row", ["1111 1111", "it was kim@acme-"])
def test_many_blocks_take_no_more_than_their_length_says(row: str) -> None:
    def work(count: int) -> Work:
        blocks = [block for number in range(count // 2) for block in (f"row {number}: 4111 1111 ", row)]
        return lambda: shown(Gate(), *blocks)

    compare(work(200), work(1600), most=16, slack=0.1)
