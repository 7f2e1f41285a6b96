"""Sealed bytes open for what they were sealed for, and for nothing else."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cloakllm_gateway.vault.sealing import INDEX_BYTES, KEY_BYTES, NONCE_BYTES, SUM_MODULUS, Broken, Sealer, index

KEYS = st.binary(min_size=KEY_BYTES, max_size=KEY_BYTES)
NONCES = st.binary(min_size=NONCE_BYTES, max_size=NONCE_BYTES)
KEY, NONCE = bytes(range(KEY_BYTES)), bytes(NONCE_BYTES)


@given(KEYS, st.binary(), st.binary(), NONCES)
def test_what_was_sealed_opens_again(key, data, identity, nonce):
    assert Sealer(key).open(Sealer(key).seal(data, identity, nonce), identity) == data


@given(st.binary(max_size=64), st.binary(max_size=16), st.binary(max_size=16))
def test_for_another_identity_it_does_not_open(data, identity, other):
    assume(identity != other)
    with pytest.raises(Broken):
        Sealer(KEY).open(Sealer(KEY).seal(data, identity, NONCE), other)


@given(st.binary(max_size=64), KEYS)
def test_with_another_key_it_does_not_open(data, other):
    assume(other != KEY)
    with pytest.raises(Broken):
        Sealer(other).open(Sealer(KEY).seal(data, b"row", NONCE), b"row")


@given(st.binary(max_size=64), st.data())
def test_changed_in_any_bit_it_does_not_open(data, draw):
    sealed = bytearray(Sealer(KEY).seal(data, b"row", NONCE))
    at = draw.draw(st.integers(0, len(sealed) * 8 - 1))
    sealed[at // 8] ^= 1 << at % 8
    with pytest.raises(Broken):
        Sealer(KEY).open(bytes(sealed), b"row")


@given(st.binary(max_size=40))
def test_anything_else_does_not_open(data):
    with pytest.raises(Broken):
        Sealer(KEY).open(data, b"row")


@given(st.lists(st.text(), max_size=4), st.lists(st.text(), max_size=4))
def test_names_are_equal_for_equal_parts_only(one, other):
    assert (index(KEY, "p", one) == index(KEY, "p", other)) == (one == other)


def test_a_name_depends_on_its_purpose_and_its_key_and_may_stand_for_half_a_pair():
    names = {
        index(KEY, "stem", ["a"]), index(KEY, "spelling", ["a"]), index(KEY[::-1], "stem", ["a"]),
        index(KEY, "stem", ["\ud83d"]), index(KEY, "stem", []), index(KEY, "stem", ["", "a"]),
    }  # fmt: skip
    assert len(names) == 6
    assert {len(name) for name in names} == {INDEX_BYTES}


def test_the_id_of_a_key_is_not_a_part_of_it_and_tells_keys_apart():
    one, other = Sealer(KEY), Sealer(KEY[::-1])
    assert one.key_id != other.key_id
    assert one.key_id not in KEY


@given(st.binary(), st.binary())
def test_weights_tell_rows_apart(one, other):
    weights = [Sealer(KEY).weight(row) for row in (one, other)]
    assert (weights[0] == weights[1]) == (one == other)
    assert all(0 <= weight < SUM_MODULUS for weight in weights)


def test_a_key_of_another_length_is_refused():
    with pytest.raises(ValueError, match="32 bytes"):
        Sealer(b"short")
