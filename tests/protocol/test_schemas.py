"""Relaxed schemas: what was valid stays valid, and what tokens make of it is valid too."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, FormatChecker

from cloakllm_gateway.protocol.schemas import demands, relax
from tests.cost import compare
from tests.effort import examples

#: A checker of our own, so that what it asserts does not depend on what is installed.
FORMATS = FormatChecker(formats=())
FORMATS.checks("email")(lambda value: not isinstance(value, str) or "@" in value)
FORMATS.checks("date")(lambda value: not isinstance(value, str) or re.fullmatch(r"\d{4}-\d\d-\d\d", value) is not None)

#: What is hidden wherever it stands, and the token it becomes.
TOKENS = {
    "kim@example.com": "[EMAIL_0]",
    "1990-02-03": "[DATE_OF_BIRTH_0]",
    "+14155550134": "[PHONE_0]",
    "4111111111111111": "[CREDIT_CARD_0]",
}
PROVING = frozenset({"phone", "card", "email"})


def proves(key: str) -> bool:
    return not key or key in PROVING


def hides(said: Any) -> bool:
    return any(value in json.dumps(said) for value in TOKENS)


def relaxed(schema: Any, **options: Any) -> Any:
    """The relaxed schema, after a look that the given one was left alone."""
    before = copy.deepcopy(schema)
    after = relax(schema, proves, hides, **options)
    assert schema == before
    return after


def valid(schema: Any, instance: Any) -> bool:
    return Draft202012Validator(schema, format_checker=FORMATS).is_valid(instance)


def tokenized(value: Any, key: str = "") -> Any:
    """An instance as the sanitizer makes it: by value, and numbers by their key."""
    if isinstance(value, dict):
        return {TOKENS.get(name, name): tokenized(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [tokenized(item, key) for item in value]
    if isinstance(value, str):
        return TOKENS.get(value, value)
    if isinstance(value, int) and not isinstance(value, bool) and key in PROVING:
        return f"[PHONE_{abs(value)}]"
    return value


# -- examples ----------------------------------------------------------------------------------------


def leaf(**members: Any) -> Any:
    """What becomes of a string that is the member ``note`` of an object."""
    return relaxed({"type": "object", "properties": {"note": members}})["properties"]["note"]


@pytest.mark.parametrize(
    "limit", [{"format": "email"}, {"pattern": "^[a-z]+$"}, {"minLength": 2}, {"maxLength": 11}], ids=str
)
def test_a_string_loses_what_limits_its_text(limit: dict[str, Any]) -> None:
    assert leaf(type="string", title="T", **limit) == {"type": "string", "title": "T"}


def test_the_order_of_keys_stays() -> None:
    assert list(leaf(title="T", format="uri", type="string", description="D")) == ["title", "type", "description"]


def test_a_list_of_words_goes_only_if_one_of_them_is_hidden() -> None:
    assert leaf(enum=["open", "kim@example.com"]) == {}
    assert leaf(const="kim@example.com") == {}
    assert leaf(enum=["open", "closed"]) == {"enum": ["open", "closed"]}


def test_a_number_under_a_key_that_proves_a_category_may_be_a_string() -> None:
    schema = {
        "type": "object",
        "properties": {
            "card": {"type": "integer", "minimum": 1},
            "phone": {"type": ["number", "null"]},
            "order_id": {"type": "integer"},
            "email": {"type": "string"},
        },
        "required": ["card"],
    }
    assert relaxed(schema) == {
        "type": "object",
        "properties": {
            "card": {"type": ["integer", "string"], "minimum": 1},
            "phone": {"type": ["number", "null", "string"]},
            "order_id": {"type": "integer"},
            "email": {"type": "string"},
        },
        "required": ["card"],
    }


def test_a_key_speaks_for_the_elements_of_its_list_and_the_members_of_its_unions() -> None:
    schema = {"properties": {"phone": {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}}}
    items = relaxed(schema)["properties"]["phone"]["items"]
    assert items == {"anyOf": [{"type": ["integer", "string"]}, {"type": "null"}]}


def test_a_key_does_not_speak_for_the_members_of_its_object() -> None:
    schema = {"properties": {"phone": {"type": "object", "properties": {"extension": {"type": "integer"}}}}}
    assert relaxed(schema) is schema


def test_a_list_that_is_the_whole_instance_stands_under_a_key_that_says_nothing() -> None:
    schema = {"type": "array", "items": {"type": "integer"}}
    assert relaxed(schema) is schema
    assert relax(schema, lambda _: True, hides)["items"] == {"type": ["integer", "string"]}


def test_where_any_key_may_come_numbers_may_be_strings() -> None:
    schema = {"type": "object", "additionalProperties": {"type": "integer"}}
    assert relaxed(schema) == {"type": "object", "additionalProperties": {"type": ["integer", "string"]}}


def test_rules_for_undeclared_keys_go_as_those_may_become_tokens() -> None:
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "patternProperties": {"@": {"type": "integer"}},
        "propertyNames": {"maxLength": 20},
        "additionalProperties": False,
    }
    assert relaxed(schema) == {"type": "object", "properties": {"n": {"type": "integer"}}}
    kept = relax(schema, lambda _: False, hides, names=False)
    assert kept == {**schema, "propertyNames": {}}


def test_above_a_change_one_of_becomes_any_of_and_denials_go() -> None:
    changing = {"type": "string", "format": "email"}
    schema = {
        "type": "object",
        "properties": {"a": {"oneOf": [changing, {"type": "null"}]}, "b": {"oneOf": [{"const": 1}, {"const": 2}]}},
        "not": {"required": ["c"]},
        "if": {"required": ["a"]},
        "then": {"required": ["b"]},
    }
    assert relaxed(schema) == {
        "type": "object",
        "properties": {
            "a": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "b": {"oneOf": [{"const": 1}, {"const": 2}]},
        },
    }


def test_a_definition_is_relaxed_and_a_change_in_it_counts_where_it_is_meant() -> None:
    schema = {
        "type": "object",
        "properties": {"who": {"oneOf": [{"$ref": "#/$defs/Who"}, {"type": "null"}]}},
        "$defs": {"Who": {"type": "object", "properties": {"mail": {"type": "string", "format": "email"}}}},
    }
    assert relaxed(schema) == {
        "type": "object",
        "properties": {"who": {"anyOf": [{"$ref": "#/$defs/Who"}, {"type": "null"}]}},
        "$defs": {"Who": {"type": "object", "properties": {"mail": {"type": "string"}}}},
    }


def test_a_definition_may_refer_to_itself() -> None:
    schema = {
        "$ref": "#/$defs/Node",
        "$defs": {
            "Node": {
                "type": "object",
                "properties": {"phone": {"$ref": "#/$defs/Digits"}, "next": {"$ref": "#/$defs/Node"}},
            },
            "Digits": {"type": "integer"},
        },
    }
    after = relaxed(schema)
    assert after["$defs"]["Digits"] == {"type": ["integer", "string"]}
    assert valid(after, tokenized({"phone": 15552345678, "next": {"phone": 1, "next": {}}}))


def test_a_reference_through_a_union_follows_its_new_name() -> None:
    union = {"oneOf": [{"type": "string", "format": "email"}, {"type": "integer"}]}
    schema = {"properties": {"a/b~": union, "c": {"$ref": "#/properties/a~1b~0/oneOf/1"}}}
    after = relaxed(schema)
    assert after["properties"]["c"] == {"$ref": "#/properties/a~1b~0/anyOf/1"}
    assert valid(after, {"c": 1}) and not valid(after, {"c": "x"})


def test_a_reference_into_something_that_goes_goes() -> None:
    schema = {
        "properties": {"a": {"type": "string", "format": "email"}, "b": {"$ref": "#/not"}},
        "not": {"properties": {"a": False}, "required": ["a"]},
    }
    assert relaxed(schema) == {"properties": {"a": {"type": "string"}, "b": {}}}


@pytest.mark.parametrize(
    "schema",
    [
        True,
        False,
        {},
        {"type": "object", "$defs": {"P": {"type": "object"}}, "properties": {"p": {"$ref": "#/$defs/P"}}},
        {"type": "object", "properties": {"format": {"type": "string"}, "pattern": {"enum": ["a"]}}},
        {"oneOf": [{"type": "integer"}, {"not": {"const": 3}}], "unevaluatedProperties": False},
        {"type": "integer", "minimum": 0, "format": "int32"},
        {"properties": {"phone": {"type": "boolean"}}, "examples": [{"format": "email", "pattern": "x"}]},
        {"$ref": "https://example.com/schema", "properties": {"a": True}},
    ],
    ids=str,
)
def test_a_schema_that_needs_no_change_is_the_same_object(schema: Any) -> None:
    assert relaxed(schema) is schema


@pytest.mark.parametrize("broken", [{"properties": ["a"]}, {"type": 7, "items": 3}, {"$ref": "#/nowhere"}, [], None])
def test_what_is_no_schema_is_left_alone(broken: Any) -> None:
    assert relaxed(broken) is broken


def test_time_is_linear_in_the_size_of_the_schema() -> None:
    def many(count: int) -> dict[str, Any]:
        """Every definition meant by every kind of key, and each holding a reference into what goes."""
        defs = {
            f"d{i}": {
                "type": "string",
                "format": "email",
                "not": {"const": i},
                "allOf": [{"$ref": f"#/$defs/d{i}/not"}],
            }
            for i in range(count)
        }
        uses = {f"p{i}": {"oneOf": [{"$ref": f"#/$defs/d{i}"}, {"$ref": "#anchor"}]} for i in range(count)}
        return {"properties": uses, "$defs": defs, "unevaluatedProperties": False}

    once, eight = many(100), many(800)
    compare(lambda: relaxed(once), lambda: relaxed(eight), most=20)
    compare(lambda: demands(once), lambda: demands(eight), most=20)


# -- properties over generated schemas -----------------------------------------------------------------

KEYS = ("phone", "card", "note", "n", "tags")
UNDECLARED = ("kim@example.com", "x", "1990-02-03")
STRINGS = (*TOKENS, "open", "a", "")
NUMBERS = (0, 1, 7, 15552345678, 2.5, -3)

atoms = st.one_of(st.none(), st.booleans(), st.sampled_from(NUMBERS), st.sampled_from(STRINGS))


def objects(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.dictionaries(st.sampled_from((*KEYS, *UNDECLARED)), values, max_size=4)


inner_instances = st.recursive(
    atoms, lambda inner: st.one_of(st.lists(inner, max_size=3), objects(inner)), max_leaves=5
)
instances = st.one_of(objects(inner_instances), objects(atoms), inner_instances)
kinds = st.sampled_from(["string", "integer", "number", "boolean", "null", "object", "array"])
types = st.one_of(kinds, st.lists(kinds, min_size=1, max_size=4, unique=True))

leaves = st.one_of(
    st.booleans(),
    st.fixed_dictionaries(
        {},
        optional={
            "type": types,
            "format": st.sampled_from(["email", "date", "unknown"]),
            "pattern": st.sampled_from([r"^\[", "@", "^[a-z]*$", r"^\d"]),
            "minLength": st.integers(0, 12),
            "maxLength": st.integers(0, 12),
            "minimum": st.integers(-1, 3),
            "multipleOf": st.sampled_from([1, 2]),
        },
    ),
    st.fixed_dictionaries({"enum": st.lists(atoms, min_size=1, max_size=3)}),
    st.fixed_dictionaries({"const": atoms}),
    st.sampled_from([{"$ref": "#/$defs/B"}, {"$ref": "#/properties/phone"}, {"$ref": "#here"}]),
)
#: References that may come round to where they stand: only for what is inside the instance, so that it ends.
returning = st.sampled_from([{"$ref": f"#{place}"} for place in ("", "/$defs/A", "/not", "/oneOf/0")])


def wider(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    some = st.lists(inner, min_size=1, max_size=3)
    inside = st.one_of(inner, inner, returning)
    members = st.dictionaries(st.sampled_from(KEYS), inside, min_size=1, max_size=3)
    return st.fixed_dictionaries(
        {},
        optional={
            "type": types,
            "properties": members,
            "patternProperties": st.dictionaries(st.sampled_from(["@", "^[a-z]", r"^\[", "n"]), inside, max_size=2),
            "additionalProperties": inside,
            "propertyNames": st.sampled_from([{"pattern": "^[a-z]"}, {"maxLength": 5}, {"enum": list(KEYS)}]),
            "required": st.lists(st.sampled_from(KEYS), max_size=2, unique=True),
            "dependentSchemas": st.dictionaries(st.sampled_from(KEYS), inner, max_size=2),
            "items": inside,
            "prefixItems": some,
            "contains": inside,
            "maxContains": st.integers(1, 2),
            "allOf": some,
            "anyOf": some,
            "oneOf": some,
            "not": inner,
            "if": inner,
            "then": inner,
            "else": inner,
            "unevaluatedProperties": inner,
            "unevaluatedItems": inner,
        },
    )


parts = st.recursive(leaves, wider, max_leaves=6)


@st.composite
def schemas(draw: st.DrawFn) -> dict[str, Any]:
    """A schema with two definitions, an anchor, and a place behind every reference that a leaf may hold."""
    root: dict[str, Any] = {**draw(wider(parts)), "type": ["object", "array", "string", "number"]}
    if draw(st.booleans()):
        root["not"] = {"const": "never", **draw(st.sampled_from([{}, {"format": "email"}]))}
        root["oneOf"] = [True, False]
    phone = draw(leaves.filter(lambda leaf: isinstance(leaf, bool) or "$ref" not in leaf))
    root["properties"] = {**root.get("properties", {}), "phone": phone}
    root["$defs"] = {"A": draw(parts), "B": {"$anchor": "here", "type": draw(types)}}
    return {"not": False, "oneOf": [True], **root}


def checker(schema: Any) -> Callable[[Any], bool]:
    return Draft202012Validator(schema, format_checker=FORMATS).is_valid


many = settings(max_examples=examples(80), suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
some_instances = st.lists(instances, min_size=6, max_size=12)


@many
@given(schemas(), some_instances)
def test_what_was_valid_stays_valid_also_when_it_holds_tokens(schema: Any, offered: list[Any]) -> None:
    was, stays = checker(schema), checker(relaxed(schema))
    for instance in filter(was, offered):
        assert stays(instance)
        assert stays(tokenized(instance))


@many
@given(schemas())
def test_relaxing_what_is_relaxed_changes_nothing(schema: Any) -> None:
    once = relaxed(schema)
    assert relaxed(once) == once


@many
@given(schemas())
def test_declared_names_and_what_is_not_about_values_stay(schema: Any) -> None:
    after = relaxed(schema)
    assert list(after["properties"]) == list(schema["properties"])
    assert after.get("required") == schema.get("required")
    assert set(after) - set(schema) <= {"anyOf"}


@st.composite
def rewritten(draw: st.DrawFn, value: Any) -> Any:
    """An instance in which tokens stand for any strings, numbers and keys, whatever they are."""
    if isinstance(value, dict):
        names = {name: f"[KEY_{i}]" if draw(st.booleans()) else name for i, name in enumerate(value)}
        return {names[name]: draw(rewritten(inner)) for name, inner in value.items()}
    if isinstance(value, list):
        return [draw(rewritten(item)) for item in value]
    if value is None or isinstance(value, bool) or draw(st.booleans()):
        return value
    return f"[ANY_{STRINGS.index(value) if isinstance(value, str) else 100 + NUMBERS.index(value)}]"


@many
@given(schemas(), some_instances, st.data())
def test_what_the_demands_admit_is_valid(schema: Any, offered: list[Any], data: st.DataObject) -> None:
    after = relaxed(schema)
    known, stays = demands(after), checker(after)
    for instance in filter(checker(schema), offered):
        through = data.draw(rewritten(instance))
        assert not known.admit(instance, through) or stays(through)


@many
@given(schemas(), some_instances, st.data())
def test_a_schema_relaxed_for_any_key_and_word_admits_any_token(
    schema: Any, offered: list[Any], data: st.DataObject
) -> None:
    widest = relax(schema, lambda _: True, lambda _: True)
    known, stays = demands(widest), checker(widest)
    for instance in filter(checker(schema), offered):
        through = data.draw(rewritten(instance))
        if not _renames(instance, through, known.names):
            assert known.admit(instance, through)
            assert stays(through)


def _renames(before: Any, after: Any, names: frozenset[str]) -> bool:
    """Whether a key that the schema declares became a token, which never happens to one."""
    if isinstance(before, dict):
        return any(
            (old != new and old in names) or _renames(before[old], after[new], names)
            for old, new in zip(before, after, strict=True)
        )
    if isinstance(before, list):
        return any(_renames(old, new, names) for old, new in zip(before, after, strict=True))
    return False
