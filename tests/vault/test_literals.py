"""Values of Python literals: where they stand and under which keys, as of JSON."""

from __future__ import annotations

import ast
import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloakllm_gateway.vault import literals, members

Path = tuple[str | int, ...]


def step(path: Path, key: str | int) -> Path:
    return (*path, key)


def read(text: str) -> list[tuple[Path, str]]:
    return [(path, text[start:end]) for path, (start, end) in literals.values(text, (), step)]


def leaves(value: Any, path: Path = ()) -> list[tuple[Path, Any]]:
    if isinstance(value, dict):
        return [leaf for key, inner in value.items() for leaf in leaves(inner, (*path, key))]
    if isinstance(value, list | tuple):
        return [leaf for i, inner in enumerate(value) for leaf in leaves(inner, (*path, i))]
    return [] if value is None or isinstance(value, bool) else [(path, value)]


SCALARS = (
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.floats(allow_nan=False, allow_infinity=False)
)
KEYS = st.sampled_from(["id", "full name", "it's", 'a "b"', "both ' and \"", ""])
NESTED = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner) | st.lists(inner).map(tuple), max_leaves=8
)


@given(st.lists(NESTED) | st.dictionaries(KEYS, NESTED))
def test_what_python_prints_is_read_as_python_reads_it(value: Any) -> None:
    text = repr(value)
    found = literals.values(text, (), step)
    assert [path for path, _ in found] == [path for path, _ in leaves(value)]
    for (_, (start, end)), (_, leaf) in zip(found, leaves(value), strict=True):
        quotes = text[start - 1] if isinstance(leaf, str) else ""
        assert ast.literal_eval(f"{quotes}{text[start:end]}{quotes}") == leaf


@given(st.lists(st.integers() | st.text(alphabet="abc é,:'[]{}"), min_size=1))
def test_what_is_json_as_well_is_read_the_same(value: list[Any]) -> None:
    text = json.dumps(value, ensure_ascii=False)
    assert literals.values(text, (), step) == list(members.values(text, (), step))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[{'id': 1, 'notes': \"it's\"}]", [((0, "id"), "1"), ((0, "notes"), "it's")]),
        ("(1, 'x')\n(2, 'y')\n", [((0,), "1"), ((1,), "x"), ((0,), "2"), ((1,), "y")]),
        ("{'price': Decimal('1.5'), 'at': datetime.date(2024, 1, 2)}",
         [(("price", 0), "1.5"), (("at", 0), "2024"), (("at", 1), "1"), (("at", 2), "2")]),
        ("[Row(id=1, notes=None, name='Kim')]", [((0, "id"), "1"), ((0, "name"), "Kim")]),
        ("{'x': b'raw', 1: 'one', 'y': {'z'}}", [(("x",), "raw"), (("1",), "one"), (("y", 0), "z")]),
        ("Row(id=1, name='Kim')", [(("id",), "1"), (("name",), "Kim")]),
        ("[RealDictRow([('id', 1), ('full name', 'Kim')])]", [((0, "id"), "1"), ((0, "full name"), "Kim")]),
        ("OrderedDict([('a', OrderedDict([('b', [2])])), ('c', 'x')])", [(("a", "b", 0), "2"), (("c",), "x")]),
        ("[('id', 1)]", [((0, 0), "id"), ((0, 1), "1")]),
        ("{'x': <memory at 0x7f>, 'y': <Color.RED: 1>, 'z': 5}", [(("z",), "5")]),
        ("defaultdict(<class 'int'>, {'z': 5})", [((1, "z"), "5")]),
        ("{'x': 0x1F, 'y': 2j, 'w': [...], 'z': 5}", [(("x",), "0x1F"), (("y",), "2j"), (("z",), "5")]),
        ("\ufeff{'z': 5}", [(("z",), "5")]),
        ("[(1, 'x',),]", [((0, 0), "1"), ((0, 1), "x")]),
    ],
)  # fmt: skip
def test_rows_as_tools_print_them_are_read(text: str, found: list[tuple[Path, str]]) -> None:
    assert read(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no literal",
        "Rows: [{'id': 1}]",
        "[{'id': 1}] rows",
        "[{'id': 1}",
        "[{'id': 1)]",
        "['open",
        "(see page 12)",
        "Total (of all)",
        "f(x) is 3",
        "[1 2]",
        "{'a' 'b': 1}",
        "[INFO] 12 rows",
        ", 1",
        "]",
        "'x'",
    ],
)
def test_what_is_no_literal_has_no_values(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize("unit", ["[", "{'a':", "'", "[1],", "(", "a(", "{'a': 1}, ", "A([('a', ", "<", "\\", "'\\"])
def test_a_long_text_is_read_in_linear_time_however_deep_it_is(unit: str) -> None:
    begun = time.process_time()
    literals.values("[" + unit * (200_000 // len(unit)), 0, lambda state, _: state)
    assert time.process_time() - begun < 2
