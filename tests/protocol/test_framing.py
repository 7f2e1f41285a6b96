"""Lines: cut at 0x0A and nowhere else, however the bytes arrive, and never held beyond the limit."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloakllm_gateway.protocol.framing import Lines, Oversized
from cloakllm_gateway.protocol.jsonrpc import HEAD, decode
from tests.cost import Work, compare, seconds

pieces = st.binary(max_size=12) | st.sampled_from(
    [b"\n", b"\r\n", b"\r", b"\n\n", "\u2028\u0085".encode(), b"\x0b\x0c\x1c"]
)
streams = st.lists(pieces, max_size=12).map(b"".join)


def _fed(chunks: Iterable[bytes], max_bytes: int = 1_000_000) -> list[bytes | Oversized]:
    lines = Lines(max_bytes)
    found = [line for chunk in chunks for line in lines.feed(chunk)]
    return found + lines.finish()


def _cut(stream: bytes, cuts: Iterable[int]) -> list[bytes]:
    bounds = [0, *sorted(cuts), len(stream)]
    return [stream[start:end] for start, end in pairwise(bounds)]


@given(streams)
def test_a_line_ends_at_a_line_feed_and_loses_one_carriage_return(stream: bytes) -> None:
    expected = [line.removesuffix(b"\r") for line in stream.split(b"\n")]
    assert _fed([stream]) == [line for line in expected if line]


@given(streams, st.data(), st.sampled_from([3, 8, 1_000_000]))
def test_lines_are_the_same_wherever_the_stream_is_cut(stream: bytes, data: st.DataObject, max_bytes: int) -> None:
    whole = _fed([stream], max_bytes)
    cuts = data.draw(st.lists(st.integers(0, len(stream))))
    assert _fed(_cut(stream, cuts), max_bytes) == whole
    assert _fed(_cut(stream, range(len(stream))), max_bytes) == whole


@given(streams, st.integers(1, 10))
def test_a_line_over_the_limit_is_reported_once_in_its_place_and_the_others_live(stream: bytes, limit: int) -> None:
    expected = [line.removesuffix(b"\r") for line in stream.split(b"\n")]
    found = _fed([stream], limit)
    assert [line.size if isinstance(line, Oversized) else len(line) for line in found] == [
        len(x) for x in expected if x
    ]
    assert [isinstance(line, Oversized) for line in found] == [len(line) > limit for line in expected if line]


def test_a_line_comes_as_soon_as_it_is_whole() -> None:
    lines = Lines()
    assert lines.feed(b'{"a":') == []
    assert lines.feed(b'1}\r\n{"b"') == [b'{"a":1}']
    assert lines.feed(b":2}\n\n\r\n[]\n") == [b'{"b":2}', b"[]"]
    assert lines.finish() == []


def test_a_last_line_without_a_line_feed_is_a_line() -> None:
    lines = Lines()
    assert lines.feed(b"[1]\n[2]\r") == [b"[1]"]
    assert lines.finish() == [b"[2]"]
    assert lines.finish() == []


def test_separators_of_other_standards_end_no_line() -> None:
    """Field case A05."""
    text = "before\u2028after pat@example.org\u2029end\u0085x"
    line = f'{{"text":"{text}"}}'.encode()
    assert _fed([line + b"\n"]) == [line]
    assert decode(line) == {"text": text}


@pytest.mark.parametrize("size", [5, 5_000])
def test_a_carriage_return_does_not_count_for_the_limit(size: int) -> None:
    line = b"x" * size
    assert _fed([line, b"\r", b"\n"], max_bytes=size) == [line]
    assert _fed([line, b"x\n"], max_bytes=size) == [Oversized(size + 1, None)]
    assert _fed([line + b"\r\r\n"], max_bytes=size) == [Oversized(size + 1, None)]


@pytest.mark.parametrize(
    ("start", "end", "id"),
    [
        (b'{"jsonrpc":"2.0","id":7,"result":"', b'"}', 7),
        (b'{"result":{"id":1,"text":"', b'"},"jsonrpc":"2.0","id":"r7"}', "r7"),
        (b'{"result":{"id":1,"text":"', b'"}}', None),
    ],
)
def test_a_dropped_line_is_reported_with_its_id(start: bytes, end: bytes, id: str | int | None) -> None:
    line = start + b"x" * 5 * HEAD + end
    found = _fed([*_cut(line, range(0, len(line), 4096)), b"\n[]\n"], max_bytes=4 * HEAD)
    assert found == [Oversized(len(line), id), b"[]"]


def test_a_dropped_line_is_not_held() -> None:
    lines = Lines(max_bytes=HEAD)
    for _ in range(1000):
        assert lines.feed(b"x" * HEAD) == []
    assert _held(lines) <= 2 * HEAD
    assert lines.feed(b"\n") == [Oversized(1000 * HEAD, None)]


@pytest.mark.parametrize("chunk", [1, 100, 5_000])
def test_a_line_is_held_in_little_more_than_its_size_however_it_is_chunked(chunk: int) -> None:
    lines = Lines()
    for _ in range(100_000 // chunk):
        assert lines.feed(b"x" * chunk) == []
    assert _held(lines) <= 120_000


def _held(lines: Lines) -> int:
    """The bytes of memory that what is held of a line takes."""
    members = [*vars(lines).values()]
    pieces = [piece for member in members if isinstance(member, list) for piece in (member, *member)]
    return sum(sys.getsizeof(value) for value in (*members, *pieces) if isinstance(value, (bytes, bytearray, list)))


def _feeding(size: int, chunk: int, max_bytes: int) -> Work:
    data = b"x" * chunk

    def feed() -> None:
        lines = Lines(max_bytes)
        for _ in range(size // chunk):
            lines.feed(data)
        lines.feed(b"\n")

    return feed


@pytest.mark.parametrize("max_bytes", [1_000, 1 << 30], ids=["dropped", "held"])
@pytest.mark.parametrize(("size", "chunk"), [(20_000_000, 65_536), (30_000, 1)], ids=["64 KB", "1 byte"])
def test_twice_the_line_takes_about_twice_the_time(size: int, chunk: int, max_bytes: int) -> None:
    compare(_feeding(size, chunk, max_bytes), _feeding(2 * size, chunk, max_bytes), most=4, slack=0.05)


def test_a_line_of_100_mb_in_small_chunks_takes_a_moment() -> None:
    assert seconds(_feeding(100_000_000, 65_536, 1 << 30), enough=2) < 2
