"""A document says the same whether it is the text of a message or its structure; and what speaks for a value in it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

import pytest

from cloakllm_gateway.detection.catalogue import CATALOGUE
from cloakllm_gateway.detection.engine import Detector
from cloakllm_gateway.detection.judging import credential, is_remark
from cloakllm_gateway.protocol.surface import DATA
from cloakllm_gateway.protocol.walk import leaves
from cloakllm_gateway.spans import Span, Text

DETECTOR = Detector()


#: What each scalar of a document is shown as.
Shown = list[str]


def leaves_of(documents: Sequence[Any]) -> list[tuple[int, Text]]:
    """The leaves of documents that are no keys, as the core asks about them, each with the number of its document."""
    return [
        (int(leaf.path[2]), Text(leaf.text, leaf.key, leaf.record, parent=leaf.parent, above=leaf.above))
        for leaf in leaves({"structuredContent": {"all": documents}}, DATA)
        if not leaf.is_key and len(leaf.path) > 2
    ]


def as_structure(documents: Sequence[Any]) -> list[Shown]:
    asked = leaves_of(documents)
    shown: list[Shown] = [[] for _ in documents]
    for (number, text), spans in zip(asked, DETECTOR.find([text for _, text in asked]), strict=True):
        shown[number].append(masked(text.text, spans))
    return shown


def as_text(documents: Sequence[Any]) -> list[Shown]:
    texts = [json.dumps(document, ensure_ascii=False) for document in documents]
    hidden = [masked(text, spans) for text, spans in zip(texts, DETECTOR.find([*map(Text, texts)]), strict=True)]
    shown: list[Shown] = [[] for _ in documents]
    ends = [0] * len(documents)
    for number, leaf in leaves_of(documents):
        at = texts[number].index(leaf.text, ends[number])
        ends[number] = at + len(leaf.text)
        shown[number].append(hidden[number][at : ends[number]])
    return shown


def masked(text: str, spans: Sequence[Span]) -> str:
    for span in spans:
        text = text[: span.start] + "#" * (span.end - span.start) + text[span.end :]
    return text


#: Ways in which a key may stand by its value.
WAYS: dict[str, Callable[[str, Any], Any]] = {
    "field": lambda key, value: {key: value},
    "list": lambda key, value: {key: ["-", value]},
    "object": lambda key, value: {key: {"value": value}},
    "objects": lambda key, value: {key: [{"kind": "-", "value": value}, {"value": "-"}]},
    "pair": lambda key, value: [{"name": key, "value": value}],
    "column": lambda key, value: [[key, "remark"], [value, "-"]],
    "wrapped": lambda key, value: {
        key: {
            "type": "rich_text",
            "rich_text": [{"type": "text", "text": {"content": value, "link": None}, "plain_text": value}],
        }
    },
    "deep": lambda key, value: {"data": {"rows": [{"columns": ["remark", key], "rows": [["-", value]]}]}},
}


def examples() -> Iterator[tuple[str, str | int]]:
    """Keys of every category with values of its examples, those of digits as numbers too."""
    for category in CATALOGUE.values():
        values = {each.value for each in category.all_examples() if json.dumps(each.value) == f'"{each.value}"'}
        for key, value in product(category.keys[:8], sorted(values)[:4]):
            yield key, value
            if value.isdecimal() and value[0] != "0":
                yield key, int(value)


@pytest.mark.parametrize("way", WAYS)
def test_a_document_says_the_same_as_text_and_as_structure(way: str) -> None:
    documents = [WAYS[way](key, value) for key, value in examples()]
    differing = [
        (document, text, structure)
        for document, text, structure in zip(documents, as_text(documents), as_structure(documents), strict=True)
        if text != structure
    ]
    assert len(documents) > 500
    assert differing == []


def hidden_in(document: Any) -> list[str]:
    """The scalars of a document of which anything is hidden, both ways."""
    (text,), (structure,) = as_text([document]), as_structure([document])
    assert text == structure
    return [leaf.text for (_, leaf), shown in zip(leaves_of([document]), text, strict=True) if leaf.text != shown]


@pytest.mark.parametrize(
    ("document", "values"),
    [
        ({"passport": {"number": "X1234567", "country": "DE"}}, ["X1234567"]),
        ({"card": {"number": "4242424242424242"}}, ["4242424242424242"]),
        ({"phones": [{"type": "home", "value": "4155550134"}, {"number": 4155550135}]}, ["4155550134", "4155550135"]),
        ({"phone": {"home": "4155550134", "kind": "landline"}}, ["4155550134"]),
        ({"password": {"value": "hunter2xyz"}}, ["hunter2xyz"]),
        ({"first_name": {"0": "Zora", "1": "Piet"}}, ["Zora", "Piet"]),
        ({"first_name": {"S": "Zora"}, "ssn": {"N": "536228726"}}, ["Zora", "536228726"]),
        ({"dob": {"$date": "1991-01-07T00:00:00Z"}}, ["1991-01-07T00:00:00Z"]),
        ({"ssn": {"$numberLong": "536228726"}}, ["536228726"]),
        ({"name": {"first": "Chidinma", "last": "Okonkwo"}, "email": "c@x.org"}, ["Chidinma", "Okonkwo", "c@x.org"]),
        ({"name": [{"family": "Hurston", "given": ["Zora"]}], "birthDate": "1991-01-07"},
         ["Hurston", "Zora", "1991-01-07"]),
        ({"full_name": {"first": "Zora", "last": "Hurston"}}, ["Zora", "Hurston"]),
        ([{"key": "password", "value": "hunter2xyz"}], ["hunter2xyz"]),
        ([{"field": "dob", "type": "string", "value": "1991-01-07"}], ["1991-01-07"]),
        ({"op": "replace", "path": "/lastName", "value": "Hurston"}, ["Hurston"]),
        ({"telecom": [{"system": "phone", "value": "(03) 5555 6473"}]}, ["(03) 5555 6473"]),
        ([{"Name": "given_name", "Value": "Zora"}], ["Zora"]),
        ([{"value": "536228726", "name": "ssn"}], ["536228726"]),
        ([{"name": "X-Api-Key", "value": "9d8c7b6a5f4e"}, {"name": "Accept", "value": "9d8c7b6a5f4e"}],
         ["9d8c7b6a5f4e"]),
        ({"fields": [{"name": "name", "value": "Zora Hurston"}, {"name": "email", "value": "z@x.org"}]},
         ["Zora Hurston", "z@x.org"]),
        ({"values": [["First name", "Password"], ["Zora", "hunter2xyz"], ["Piet", "swordfish1"]]},
         ["Zora", "hunter2xyz", "Piet", "swordfish1"]),
        ({"columns": ["id", "name", "ssn"], "rows": [[1, "Zora Hurston", 536228726]]}, ["Zora Hurston", "536228726"]),
        ({"SSN (US)": "536228726", "dl": "X1234567"}, ["536228726", "X1234567"]),
        ({"account": {"number": "000123456789", "kind": "savings"}}, ["000123456789"]),
        ({"tax": {"id": "12-3456789"}, "policy": {"no": "POL-7782-3391"}}, ["12-3456789", "POL-7782-3391"]),
        ({"employee": {"id": "E-100432"}}, ["E-100432"]),
        ([{"type": "passport", "number": "X1234567"}, {"number": "D1234567", "type": "drivers_license"}],
         ["X1234567", "D1234567"]),
        ({"dob": {"year": 1981, "month": 2, "day": 3}}, ["1981", "2", "3"]),
    ],
)  # fmt: skip
def test_the_key_of_an_object_a_label_and_a_column_speak_for_a_value(document: Any, values: list[str]) -> None:
    assert hidden_in(document) == values


@pytest.mark.parametrize(
    "document",
    [
        {"issue": {"number": 4111111111111111}},
        {"user": {"id": "12345678", "text": "hello", "value": "blue"}},
        {"address": {"id": "addr_123", "number": "14"}},
        {"phone": {"model": "Pixel 9", "id": "87654321"}},
        {"author": {"first": "Zora"}},
        {"name": {"value": "Zora Hurston"}},
        {"password": {"type": "string", "label": "Password", "text": "Enter your password"}},
        {"errors": {"password": "Password must be at least 8 characters"}},
        {"name": "retries", "value": "4155550134x"},
        {"name": "name", "value": "Zora Hurston"},
        [{"name": "email", "value": "required"}, {"type": "phone", "value": "none"}],
        {"values": [["Item", "Count"], ["Widget", 536228726]]},
        {"displayName": "In Progress", "fullName": "org.acme.Widget"},
        {"displayName": "Total Revenue"},
        {"account": {"id": "12345678", "name": "checkout"}, "license": {"type": "MIT", "id": "12345678"}},
        {"title": "password", "number": 12345678, "type": "issue"},
        {"released": {"year": 1981, "month": 2, "day": 3}},
        {"displayName": "Log Analytics Contributor"},
    ],
)
def test_what_says_something_else_stays(document: Any) -> None:
    assert hidden_in(document) == []


@pytest.mark.parametrize("name", ["Renata Kowal", "Zora", "Mark Baker"])
def test_a_display_name_of_a_person_is_hidden(name: str) -> None:
    assert hidden_in({"displayName": name}) == [name]


def test_a_display_name_of_common_words_is_hidden_where_its_record_is_about_a_person() -> None:
    assert hidden_in({"displayName": "Service Desk"}) == []
    assert hidden_in({"displayName": "Service Desk", "phone": "4155550134"}) == ["Service Desk", "4155550134"]


@pytest.mark.parametrize(
    "value",
    [
        "Password must be at least 8 characters",
        "is required",
        "Invalid password",
        "can't be blank",
        "Enter a new password",
        "expired",
    ],
)
def test_a_sentence_about_a_secret_is_none(value: str) -> None:
    assert is_remark(value)


@pytest.mark.parametrize("value", ["correct horse battery staple", "hunter2xyz", "Blue Moon 77", "password", "my Rex!"])
def test_a_passphrase_is_no_sentence_about_one(value: str) -> None:
    assert not is_remark(value)


def test_what_a_header_says_of_its_credential_is_no_part_of_it() -> None:
    assert [credential(text) for text in ("Bearer mF_9.B5f", "Basic eDp5", "token a b", "mF_9")] == [
        "mF_9.B5f", "eDp5", "token a b", "mF_9"
    ]  # fmt: skip
    (text,) = as_structure([{"Authorization": "Bearer mF_9.B5f-4.1JqM"}])
    assert text == ["Bearer " + "#" * 15]


def test_a_key_inside_of_a_value_proves_at_its_own_place() -> None:
    text = Text("my SSN: 536-22-8726", "number", 1)
    assert [(span.start, span.value) for span in DETECTOR.find([text])[0]] == [(8, "536-22-8726")]
