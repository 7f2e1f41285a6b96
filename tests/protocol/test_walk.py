"""Walking and replacing, as properties over any JSON value under any shape of the table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloakllm_gateway.protocol.jsonrpc import DEFAULT_LIMITS, Number, encode
from cloakllm_gateway.protocol.surface import (
    ADVERTISED,
    ANSWER,
    CONTENT,
    DATA,
    ERROR,
    FLOW,
    HANDLE,
    MEDIA,
    NAME,
    PROTOCOL,
    RESTORE,
    RESTORE_OWN,
    SCHEMA,
    SURFACE,
    URI,
    Marked,
    Nested,
    Role,
    Shape,
    Tagged,
)
from cloakllm_gateway.protocol.walk import KeyCollision, Leaf, Path, at, leaves, replace, strings
from tests.cost import compare

SHAPES: dict[str, Shape] = {
    "error": ERROR,
    "answer": ANSWER,
    "requests": Nested.REQUESTS,
    "results": Nested.RESULTS,
    **{f"{method} params": row.params for method, row in SURFACE.items()},
    **{f"{method} result": row.result for method, row in SURFACE.items() if row.result is not None},
    **{f"{role.name} alone": role for role in Role},
}


def _names(shape: Shape, seen: set[int]) -> Iterator[str]:
    """Every name and tag of the table, so that random values hit its positions."""
    if isinstance(shape, (Role, Nested)) or id(shape) in seen:
        return
    seen.add(id(shape))
    if isinstance(shape, list):
        yield from _names(shape[0], seen)
        return
    for name, inner in (shape if isinstance(shape, dict) else shape.cases).items():
        yield name
        yield from _names(inner, seen)


SEEN: set[int] = set()
VOCABULARY = sorted(
    {name for shape in SHAPES.values() for name in _names(shape, SEEN)} | {"method", "properties", "enum"}
)

words = st.sampled_from(VOCABULARY) | st.text(max_size=4)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([Number("1e3"), Number("0.10"), Number("-0")])
    | st.sampled_from(sorted(SURFACE))
    | words
)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=5))
shapes = st.sampled_from(sorted(SHAPES)).map(SHAPES.__getitem__)


def _everything(value: Any, path: Path = ()) -> Iterator[tuple[Path, bool, Any]]:
    """Every key, string and number of a value, written down as plainly as can be."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield (*path, name), True, name
            yield from _everything(inner, (*path, name))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from _everything(item, (*path, i))
    elif value is not None and not isinstance(value, bool):
        yield path, False, value


# -- collecting ------------------------------------------------------------------------------------


@given(values)
def test_under_data_every_string_number_and_key_is_a_leaf_once_and_in_document_order(value: Any) -> None:
    assert [(leaf.path, leaf.is_key, leaf.value) for leaf in leaves(value, DATA)] == list(_everything(value))
    assert {leaf.role for leaf in leaves(value, DATA)} <= {DATA}


@given(values, shapes)
def test_under_any_shape_every_string_and_number_is_a_leaf_once_whatever_its_type(value: Any, shape: Shape) -> None:
    found = [(leaf.path, leaf.is_key, leaf.value) for leaf in leaves(value, shape)]
    everything = list(_everything(value))
    assert [place for place in found if not place[1]] == [place for place in everything if not place[1]]
    keys = [place for place in found if place[1]]
    assert len(set(keys)) == len(keys)
    assert set(keys) <= {place for place in everything if place[1]}


@given(values, shapes)
def test_a_key_that_is_no_leaf_is_a_name_of_the_table_or_a_keyword_of_schemas(value: Any, shape: Shape) -> None:
    found = {leaf.path for leaf in leaves(value, shape) if leaf.is_key}
    silent = {path[-1] for path, is_key, _ in _everything(value) if is_key and path not in found}
    keywords = {"title", "description", "default", "enum", "const", "examples", "enumNames", "$comment", "properties"}
    assert silent <= set(VOCABULARY) | keywords


@given(values)
def test_the_tripwire_sees_every_string_number_and_key_once(value: Any) -> None:
    seen = [(path, is_key, found) for path, is_key, found in strings(value)]
    assert sorted(seen, key=repr) == sorted(_everything(value), key=repr)


@given(values, shapes)
def test_only_arguments_and_uris_are_restored_into(value: Any, shape: Shape) -> None:
    if isinstance(shape, Role):
        return
    for leaf in leaves(value, shape):
        if leaf.role is RESTORE:
            assert {"arguments", "uri", "resourceSubscriptions"} & set(leaf.path)
            assert "_meta" not in leaf.path[: leaf.path.index("arguments") if "arguments" in leaf.path else None]


def _filled(shape: Shape, tag: str, depth: int = 8) -> Any:
    """A value with something at every position of ``shape``, and an unknown field in every object of it."""
    if isinstance(shape, list):
        return [_filled(shape[0], tag, depth - 1)]
    if isinstance(shape, Tagged):
        return {**_filled(shape.cases[tag], tag, depth - 1), shape.field: tag} if depth > 0 else {shape.field: tag}
    if isinstance(shape, dict):
        return {**{name: _filled(inner, tag, depth - 1) for name, inner in shape.items()}, "x-new": {"k": ["v", 7]}}
    return "text"


@pytest.mark.parametrize("tag", sorted(CONTENT.cases))
@pytest.mark.parametrize("name", [name for name, shape in SHAPES.items() if isinstance(shape, dict)])
def test_a_field_that_the_table_does_not_know_is_data_at_every_level(name: str, tag: str) -> None:
    shape = SHAPES[name]
    new = [leaf for leaf in leaves(_filled(shape, tag), shape) if "x-new" in leaf.path and leaf.role is not RESTORE]
    assert {leaf.role for leaf in new} == {DATA}
    assert {leaf.value for leaf in new} == {"x-new", "k", "v", 7}


def _roles(value: Any, shape: Shape) -> dict[Path, Role]:
    return {leaf.path: leaf.role for leaf in leaves(value, shape) if not leaf.is_key}


def test_skips_go_by_position_and_not_by_name() -> None:
    payload = {"type": "image", "data": "kim@x.org", "blob": "kim@x.org", "_meta": {"progressToken": "kim@x.org"}}
    result = {"content": [{"type": "text", "text": "hi"}], "structuredContent": payload}
    roles = _roles(result, SHAPES["tools/call result"])
    assert roles.pop(("content", 0, "type")) is PROTOCOL
    assert set(roles.values()) <= {DATA, FLOW}


def test_a_content_block_has_the_roles_of_its_type() -> None:
    image = {"type": "image", "data": "aGk=", "mimeType": "image/png", "text": "kim"}
    assert _roles(image, CONTENT) == {
        ("type",): PROTOCOL, ("data",): MEDIA, ("mimeType",): PROTOCOL, ("text",): DATA,
    }  # fmt: skip


@pytest.mark.parametrize("type", ["video", 7, None, ["image"], {"image": 1}])
def test_a_content_block_of_no_known_type_is_data(type: Any) -> None:
    block = {"type": type, "data": "aGk=", "text": "kim"}
    assert {role for path, role in _roles(block, CONTENT).items() if path[0] != "type"} == {DATA}


def test_one_block_may_stand_for_a_list_and_a_list_for_one_block() -> None:
    block = {"type": "image", "data": "aGk="}
    message = SHAPES["sampling/createMessage params"]
    assert _roles({"messages": [{"content": [block]}]}, message)["messages", 0, "content", 0, "data"] is MEDIA
    assert _roles({"messages": {"content": block}}, message)["messages", "content", "data"] is MEDIA


def test_in_a_schema_texts_are_advertised_and_the_rest_is_a_name() -> None:
    schema = {
        "type": "object",
        "description": "Look up",
        "properties": {
            "description": {"type": "string", "default": "kim", "maxLength": 5},
            "enum": {"enum": ["a", 1], "title": "Which"},
        },
        "required": ["enum"],
        "x-order": 2,
    }
    assert _roles(schema, SCHEMA) == {
        ("type",): NAME,
        ("description",): ADVERTISED,
        ("properties", "description", "type"): NAME,
        ("properties", "description", "default"): ADVERTISED,
        ("properties", "description", "maxLength"): NAME,
        ("properties", "enum", "enum", 0): ADVERTISED,
        ("properties", "enum", "enum", 1): ADVERTISED,
        ("properties", "enum", "title"): ADVERTISED,
        ("required", 0): NAME,
        ("x-order",): NAME,
    }
    keys = {leaf.path: leaf.role for leaf in leaves(schema, SCHEMA) if leaf.is_key}
    assert keys["properties", "description"] is NAME
    assert keys["properties", "enum"] is NAME


def test_a_request_inside_a_result_has_the_shape_of_its_method() -> None:
    ask = {"a": {"method": "sampling/createMessage", "params": {"systemPrompt": "x", "maxTokens": 5}}}
    assert _roles({"inputRequests": ask}, SHAPES["tools/call result"]) == {
        ("inputRequests", "a", "method"): NAME,
        ("inputRequests", "a", "params", "systemPrompt"): DATA,
        ("inputRequests", "a", "params", "maxTokens"): PROTOCOL,
    }


def test_an_answer_inside_a_retry_has_the_shape_of_what_it_answers() -> None:
    answers = {
        "form": {"action": "accept", "content": {"type": "text", "x": "[EMAIL_0]"}},
        "sampled": {"role": "assistant", "model": "m", "content": {"type": "text", "text": "[EMAIL_0]"}},
        "roots": {"roots": [{"uri": "file:///home/[PERSON_0]"}]},
        "other": {"content": "[EMAIL_0]"},
    }
    roles = _roles({"inputResponses": answers, "requestState": "s"}, SHAPES["tools/call params"])
    assert roles["inputResponses", "form", "content", "type"] is RESTORE_OWN
    assert roles["inputResponses", "form", "content", "x"] is RESTORE_OWN
    assert roles["inputResponses", "sampled", "content", "type"] is PROTOCOL
    assert roles["inputResponses", "sampled", "content", "text"] is RESTORE_OWN
    assert roles["inputResponses", "roots", "roots", 0, "uri"] is RESTORE_OWN
    assert roles["inputResponses", "other", "content"] is DATA
    assert roles["requestState",] is HANDLE


def test_a_listed_uri_is_one_towards_the_model_and_restored_towards_the_upstream() -> None:
    subscriptions = {"notifications": {"resourceSubscriptions": ["file:///x"]}}
    where = ("notifications", "resourceSubscriptions", 0)
    assert _roles(subscriptions, SHAPES["subscriptions/listen params"])[where] is RESTORE
    assert _roles(subscriptions, SHAPES["notifications/subscriptions/acknowledged params"])[where] is URI


def test_fields_of_one_object_share_a_record_and_others_do_not() -> None:
    rows = [{"name": "Kim", "email": "kim@x.org", "tags": ["a"]}, {"name": "Lee"}]
    kim, lee = ({leaf.record for leaf in leaves(rows, DATA) if leaf.path[0] == i and not leaf.is_key} for i in (0, 1))
    assert len(kim) == len(lee) == 1
    assert kim != lee


def test_a_value_is_spoken_for_by_its_key_or_by_that_of_its_list() -> None:
    keys = {leaf.path: leaf.key for leaf in leaves({"email": ["a", ["b"]], "x": {"y": "c"}}, DATA) if not leaf.is_key}
    assert keys == {("email", 0): "email", ("email", 1, 0): "email", ("x", "y"): "y"}


def test_an_object_stands_under_the_key_and_in_the_record_of_what_holds_it() -> None:
    document = {"phones": [{"value": "1"}, {"value": "2"}], "name": "Kim"}
    one, two, name = (leaf for leaf in leaves({"result": document}, DATA) if not leaf.is_key)
    assert (one.key, one.parent, two.parent) == ("value", "phones", "phones")
    assert one.above == two.above == name.record
    assert len({one.record, two.record, name.record}) == 3
    assert name.parent == "result"


_NAMES = ["name", "mail"]


@pytest.mark.parametrize(
    "document",
    [
        {"rows": [_NAMES, ["Kim", "kim@x.org"], ["Lee", ["lee@x.org"]]]},
        {"columns": _NAMES, "rows": [["Kim", "kim@x.org"], ["Lee", ["lee@x.org"]]]},
        {"rows": [["Kim", "kim@x.org"], ["Lee", ["lee@x.org"]]], "Headers": _NAMES},
        {"data": {"rows": [_NAMES, ["Kim", "kim@x.org"], ["Lee", ["lee@x.org"]]]}},
    ],
)
def test_lists_in_a_list_are_records_under_their_columns(document: Any) -> None:
    cells = [leaf for leaf in leaves(document, DATA) if leaf.text in ("Kim", "kim@x.org", "Lee", "lee@x.org")]
    assert [leaf.key for leaf in cells] == ["name", "mail"] * 2
    assert {leaf.parent for leaf in cells} == {"rows"}
    kim, mail, lee, other = (leaf.record for leaf in cells)
    assert kim == mail != lee == other


@pytest.mark.parametrize(
    "rows", [[["a"], ["b"]], [[1, 2], [3, 4]], [["1", "2"], ["3", "4"]], [["a" * 49, "b"], ["c", "d"]]]
)
def test_lists_in_a_list_without_columns_are_lists_of_their_key(rows: Any) -> None:
    assert {leaf.key for leaf in leaves({"x": rows}, DATA) if not leaf.is_key} == {"x"}


def test_a_list_that_has_not_a_cell_for_each_column_is_one_of_its_key() -> None:
    found = {leaf.text: leaf.key for leaf in leaves({"x": [_NAMES, ["Kim"], "Lee"]}, DATA) if not leaf.is_key}
    assert found["Kim"] == found["Lee"] == "x"


# -- replacing -------------------------------------------------------------------------------------


def _edits(found: list[Leaf]) -> dict[tuple[Path, bool], Any]:
    return {(leaf.path, leaf.is_key): leaf.value for leaf in found}


@given(values, shapes)
def test_putting_every_leaf_back_gives_the_same_message_in_the_same_order(value: Any, shape: Shape) -> None:
    assert encode(replace(value, _edits(leaves(value, shape)))) == encode(value)


@given(values, shapes, st.data())
def test_what_is_replaced_lands_where_it_should_and_nothing_else_moves(
    value: Any, shape: Shape, data: st.DataObject
) -> None:
    found = leaves(value, shape)
    chosen = data.draw(st.sets(st.sampled_from(found))) if found else set()
    edits = {(leaf.path, leaf.is_key): f"\0{n}" for n, leaf in enumerate(sorted(chosen, key=found.index))}
    expected = []
    for path, is_key, old in _everything(value):
        moved = tuple(edits.get((path[: i + 1], True), step) for i, step in enumerate(path))
        expected.append((moved, is_key, edits.get((path, is_key), old)))
    before = encode(value)
    assert list(_everything(replace(value, edits))) == expected
    assert encode(value) == before


def test_an_edited_value_below_an_edited_key_keeps_its_place() -> None:
    value = {"a": {"kim": ["kim", 1]}, "b": {"same": True}}
    edited = replace(value, {(("a", "kim"), True): "[X_0]", (("a", "kim", 0), False): "[X_0]"})
    assert edited == {"a": {"[X_0]": ["[X_0]", 1]}, "b": {"same": True}}
    assert edited["b"] is value["b"]
    assert at(edited, ("a", "[X_0]", 0)) == "[X_0]"


@pytest.mark.parametrize("edits", [{"a": "b"}, {"b": "a"}, {"a": "x", "b": "x"}])
def test_two_keys_that_become_equal_are_refused(edits: dict[str, str]) -> None:
    with pytest.raises(KeyCollision):
        replace({"a": 1, "b": 2}, {((old,), True): new for old, new in edits.items()})


def test_two_keys_may_change_places() -> None:
    swapped = replace({"a": 1, "b": 2}, {(("a",), True): "b", (("b",), True): "a"})
    assert list(swapped.items()) == [("b", 1), ("a", 2)]


def test_a_message_that_is_one_leaf_can_be_replaced() -> None:
    assert replace("kim", {((), False): "[X_0]"}) == "[X_0]"


# -- limits ----------------------------------------------------------------------------------------


def _nested_content(depth: int) -> Any:
    value: Any = {"type": "text", "text": "kim"}
    for _ in range(depth // 2 - 1):
        value = {"type": "tool_result", "content": [value]}
    return value


def _nested_schema(depth: int) -> Any:
    value: Any = {"type": "string", "description": "kim"}
    for _ in range(depth // 2 - 1):
        value = {"properties": {"p": value}}
    return value


def _nested_lists(depth: int) -> Any:
    value: Any = "kim"
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("build", "shape"),
    [(_nested_content, CONTENT), (_nested_content, ANSWER), (_nested_schema, SCHEMA), (_nested_lists, DATA),
     (_nested_lists, CONTENT), (_nested_lists, ERROR), (_nested_lists, [CONTENT]), (_nested_content, RESTORE)],
)  # fmt: skip
def test_the_deepest_message_allowed_can_be_walked_and_rewritten(build: Callable[[int], Any], shape: Shape) -> None:
    value = build(DEFAULT_LIMITS.max_depth)
    leaf = next(leaf for leaf in leaves(value, shape) if leaf.value == "kim")
    edited = replace(value, {(leaf.path, False): "[X_0]"})
    assert at(edited, leaf.path) == "[X_0]"
    assert b"[X_0]" in encode(edited)
    assert ("[X_0]" in {found for _, _, found in strings(edited)}) is True


def test_twice_the_message_takes_about_twice_the_time() -> None:
    def rows(n: int) -> Any:
        return [{"id": i, "name": f"Customer {i}", "email": f"u{i}@x.org"} for i in range(n)]

    def work(value: Any) -> Callable[[], object]:
        return lambda: replace(value, _edits(leaves(value, DATA)))

    compare(work(rows(4_000)), work(rows(8_000)), most=4)


def test_marked_unions_take_the_first_mark_they_list() -> None:
    union = Marked({"a": {"x": NAME}, "b": {"x": HANDLE}}, DATA)
    assert _roles({"b": 1, "x": "v"}, union)["x",] is HANDLE
    assert _roles({"b": 1, "a": 1, "x": "v"}, union)["x",] is NAME
    assert _roles({"x": "v"}, union)["x",] is DATA
