"""Signed notes and checkpoints, against the specification's own examples."""

from __future__ import annotations

import base64

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from cloakllm_gateway.audit.notes import (
    BadNote,
    Checkpoint,
    Note,
    Signature,
    VerifierKey,
    note,
    read_key,
    read_keys,
    read_notes,
)

#: The example of the package that signed notes come from (golang.org/x/mod/sumdb/note).
PETER = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
SAID = (
    b"If you think cryptography is the answer to your problem,\n"
    b"then you don't know what your problem is.\n"
)  # fmt: skip
SIGNED = "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM="

SECRET = Ed25519PrivateKey.from_private_bytes(b"\x07" * 32)
KEY = VerifierKey("example.com/log", SECRET.public_key().public_bytes_raw())
CHECKPOINTS = st.builds(
    Checkpoint,
    origin=st.just(KEY.name),
    size=st.integers(0, 10**12),
    root=st.binary(min_size=32, max_size=32),
    pruned=st.sampled_from(["", "ab" * 32]),
    peaks=st.just(()),
    next_key=st.sampled_from([None, KEY]),
)


def signed(checkpoint: Checkpoint) -> Note:
    return note(checkpoint, [Signature(KEY.name, KEY.id, SECRET.sign(checkpoint.text()))])


def test_the_example_of_the_specification_verifies_with_its_key():
    key = read_key(PETER)
    assert str(key) == PETER
    raw = base64.b64decode(SIGNED)
    said = Note(SAID, Checkpoint("", 0, b""), (Signature("PeterNeumann", raw[:4], raw[4:]),))
    assert key.verifies(said)
    assert not key.verifies(said._replace(text=SAID.replace(b"think", b"thinc")))


@given(st.lists(CHECKPOINTS, max_size=5))
def test_checkpoints_are_read_as_they_were_written(checkpoints: list[Checkpoint]):
    notes = [signed(checkpoint) for checkpoint in checkpoints]
    data = b"".join(bytes(one) + b"\n" for one in notes)
    assert read_notes(data) == notes
    assert all(KEY.verifies(one) for one in read_notes(data))


def test_a_checkpoint_begins_with_origin_size_and_root():
    text = signed(Checkpoint(KEY.name, 5, b"\0" * 32)).text
    assert text == b"example.com/log\n5\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"


def test_lines_of_somebody_elses_extension_change_nothing_but_are_signed():
    text = Checkpoint(KEY.name, 5, b"\0" * 32).text() + b"witness says hello\n"
    data = bytes(Note(text, Checkpoint("", 0, b""), (Signature(KEY.name, KEY.id, SECRET.sign(text)),)))
    (read,) = read_notes(data)
    assert read.checkpoint == Checkpoint(KEY.name, 5, b"\0" * 32) and KEY.verifies(read)
    (changed,) = read_notes(data.replace(b"hello", b"hullo"))
    assert not KEY.verifies(changed)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-30],
        lambda data: data.replace(b"\n5\n", b"\n05\n"),
        lambda data: data.replace(b"\n5\n", b"\n-5\n"),
        lambda data: data.replace(b"\n5\n", b"\n" + b"9" * 5000 + b"\n"),
        lambda data: data.replace(b"AAAA", b"AA*A", 1),
        lambda data: data.split(b"\n\n")[0],
        lambda data: b"\xff" + data,
    ],
)
def test_a_damaged_checkpoint_is_told(damage):
    with pytest.raises(BadNote):
        read_notes(damage(bytes(signed(Checkpoint(KEY.name, 5, b"\0" * 32)))))


@pytest.mark.parametrize("text", ["", "name", "name+00000000+AAAA", PETER.replace("c74f20a3", "c74f20a4"), "a+b+c+d"])
def test_what_is_no_key_is_told(text: str):
    with pytest.raises(BadNote):
        read_key(text)


def test_a_file_of_keys_has_one_a_line():
    assert read_keys(f"{PETER}\n{KEY}\n".encode()) == [read_key(PETER), KEY]
