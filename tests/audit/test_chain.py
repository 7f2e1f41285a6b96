"""The form of an entry, and what follows what."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloakllm_gateway.audit import chain, schema
from cloakllm_gateway.audit.chain import BadLine, Head
from cloakllm_gateway.errors import AuditError
from tests.audit.logs import body, sanitized

SESSION = "0" * 16
TIME = "2026-05-01T08:00:00.000+00:00"
NAMES = st.text(max_size=200)


def theirs(entry: dict[str, object]) -> bytes:
    """The canonical form as the ecosystem defines it."""
    return json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


@given(upstream=NAMES, method=NAMES, count=st.integers(0, 2**53 - 1))
def test_whatever_names_are_given_an_entry_is_canonical_ascii_on_one_line(upstream: str, method: str, count: int):
    fields = sanitized(upstream=upstream, method=method, categories={"EMAIL": count}, entity_count=count)
    lines, head = chain.seal([schema.body("sanitize", fields)], Head(), TIME, SESSION)
    assert lines.isascii() and lines.count(b"\n") == 1 and lines.decode().splitlines() == [lines.decode()[:-1]]
    entry = json.loads(lines)
    assert theirs(entry) + b"\n" == lines
    assert chain.parse(lines[:-1]) == entry
    assert schema.wrong(entry) == ""
    assert chain.follows(entry, Head()) and head == Head(1, entry["entry_hash"])


@given(st.integers(1, 6))
def test_a_batch_is_the_same_chain_as_single_entries(count: int):
    bodies = [body(upstream=f"u{n}") for n in range(count)]
    batch, end = chain.seal(bodies, Head(), TIME, SESSION)
    single, head = b"", Head()
    for one in bodies:
        line, head = chain.seal([one], head, TIME, SESSION)
        single += line
    assert (batch, end) == (single, head)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b"", "malformed"),
        (b"[]", "malformed"),
        (b"\xff", "malformed"),
        (b'{"a":1.5}', "malformed"),
        (b'{"a":NaN}', "malformed"),
        (b'{"a":1,"a":1}', "duplicate_key"),
        (b'{"a":{"b":1,"b":2}}', "duplicate_key"),
        (b'{"b":1,"a":2}', "spelling"),
        (b'{"a": 1}', "spelling"),
        (b'{"a":"\\u0041"}', "spelling"),
        (b"[" * 100_000, "malformed"),
    ],
)
def test_a_line_that_is_no_entry_says_what_is_wrong_and_repeats_nothing(line: bytes, kind: str):
    with pytest.raises(BadLine) as error:
        chain.parse(line)
    assert error.value.kind == kind


@pytest.mark.parametrize(
    "changes",
    [
        {"value": "jane@acme.org"},
        {"categories": {"jane@acme.org": 1}},
        {"categories": {"EMAIL": 1.5}},
        {"entity_count": -1},
        {"duration": "17 ms"},
        {"dropped": True},
        {"tripwire": {"EMAIL": "jane"}},
    ],
)
def test_what_the_schema_does_not_know_is_not_written(changes: dict[str, object]):
    with pytest.raises(AuditError) as error:
        schema.body("sanitize", sanitized(**changes))
    assert "jane" not in str(error.value)


def test_an_entry_that_lacks_a_field_is_not_written():
    fields = sanitized()
    del fields["duration"]
    with pytest.raises(AuditError, match="lacks duration"):
        schema.body("sanitize", fields)


@given(st.text(max_size=400))
def test_a_name_is_bounded_and_printable_and_short_plain_names_stay(text: str):
    name = schema.name(text)
    assert len(name) <= schema.NAME_LENGTH and name.isascii() and (not name or name.isprintable())
    if text.isascii() and text.isprintable() and len(text) <= schema.NAME_LENGTH and not set(text) & set('"\\'):
        assert name == text


def test_how_long_something_took_is_told_in_classes():
    assert [schema.duration(s) for s in (0, 0.0009, 0.002, 0.05, 0.5, 5, 50)] == [
        "1ms", "1ms", "10ms", "100ms", "1s", "10s", "longer",
    ]  # fmt: skip
