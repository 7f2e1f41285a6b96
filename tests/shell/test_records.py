"""A record survives as bytes, whatever fields it has or will have."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from cloakllm_gateway.shell.stores.book import Record
from cloakllm_gateway.shell.stores.records import packed, unpacked
from cloakllm_gateway.vault.entries import Entry, Spelling, Token

TEXT = st.text(st.characters(codec=None, categories=None), max_size=12)  # halves of surrogate pairs, too
NUMBERS = st.integers(0, 999_999_999)


def spellings() -> st.SearchStrategy[Spelling]:
    given_texts = dict.fromkeys(("raw", "value", "canonical"), TEXT)
    return st.builds(
        Spelling, **{f: st.from_type(t) for f, t in _types().items() if f not in given_texts}, **given_texts
    )


def _types() -> dict[str, type]:
    from typing import get_type_hints

    return get_type_hints(Spelling)


@st.composite
def records(draw: st.DrawFn) -> Record:
    spelling = draw(spellings())
    token = Token(spelling.category, draw(NUMBERS), draw(NUMBERS))
    entry = Entry(token, spelling, draw(st.text()), frozenset(draw(st.sets(st.text(), max_size=3))))
    times = st.floats(0, 1e11)
    flags = st.booleans()
    return Record(
        draw(st.text()), draw(st.binary(min_size=16, max_size=16)), entry, draw(st.text()),
        draw(times), draw(times), draw(flags), draw(flags),
    )  # fmt: skip


@given(records())
def test_a_record_survives_as_bytes(record):
    assert unpacked(packed(record)) == record


def test_a_record_that_is_gone_has_no_bytes():
    assert packed(None) == b""
    assert unpacked(b"") is None


@given(records())
def test_a_record_from_before_a_field_was_there_is_read_without_it(record):
    older = msgspec.msgpack.encode(msgspec.msgpack.decode(packed(record))[:-1])
    spelling = record.entry.spelling._replace(odd=False)
    assert unpacked(older) == replace(record, entry=record.entry._replace(spelling=spelling))
