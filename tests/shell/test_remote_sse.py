"""Event streams: the same events wherever the bytes are cut, at a cost that grows with them and no faster."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import pytest
from httpx2 import EventSource, Request, Response
from hypothesis import given
from hypothesis import strategies as st

from cloakllm_gateway.protocol.framing import Oversized
from cloakllm_gateway.shell.remote.sse import Cursor, Events, ServerEvent
from tests.cost import Work, compare

LIMIT = 1_000_000

fields = st.sampled_from(
    [b"data: x", b"data:y", b"data", b"data:  z", b"data: {", b'data: "id":5}', b"event: ping", b"event:", b": comment",
     b"id: 7", b"id", b"id: a\0b", b"retry: 250", b"retry: soon", b"unknown: x", b"", b"", "data: é\u2028".encode()]
)  # fmt: skip
ends = st.sampled_from([b"\n", b"\r", b"\r\n"])
streams = st.lists(st.tuples(fields, ends).map(b"".join), max_size=12).map(b"".join)


def fed(chunks: Iterable[bytes], max_bytes: int = LIMIT) -> tuple[list[ServerEvent | Oversized], Cursor]:
    cursor = Cursor()
    events = Events(max_bytes, cursor)
    return [event for chunk in chunks for event in events.feed(chunk)], cursor


def nameless(
    result: tuple[list[ServerEvent | Oversized], Cursor],
) -> tuple[list[ServerEvent | Oversized], Cursor]:
    """Without the ids of what is too large: what is left to read one from, below 64 KiB, depends on the cuts."""
    events, cursor = result
    return [event._replace(id=None) if isinstance(event, Oversized) else event for event in events], cursor


def cut(stream: bytes, cuts: Iterable[int]) -> list[bytes]:
    return [stream[start:end] for start, end in pairwise([0, *sorted(cuts), len(stream)])]


@given(streams, st.data(), st.sampled_from([4, LIMIT]))
def test_events_are_the_same_wherever_the_stream_is_cut(stream: bytes, data: st.DataObject, max_bytes: int) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=8))
    whole = nameless(fed([stream], max_bytes))
    assert nameless(fed(cut(stream, cuts), max_bytes)) == whole
    assert nameless(fed([bytes([byte]) for byte in stream], max_bytes)) == whole


@given(st.lists(st.tuples(st.sampled_from(["message", "ping"]), st.text("ab é{}\u2028", min_size=1)), max_size=5), ends)
def test_what_was_written_is_what_is_read(written: list[tuple[str, str]], end: bytes) -> None:
    stream = b"".join(
        b"event: %s%sdata: %s%s%s" % (kind.encode(), end, text.encode(), end, end) for kind, text in written
    )
    assert fed([stream])[0] == [ServerEvent(kind, text.encode()) for kind, text in written]


@given(st.lists(st.sampled_from([b"data: x", b"data:y", b"event: ping", b": c", b"id: 7", b"retry: 250", b""])))
def test_another_reader_of_event_streams_reads_the_same(lines: list[bytes]) -> None:
    events, cursor = fed([line + b"\n" for line in lines])
    headers, content = {"content-type": "text/event-stream"}, b"\n".join([*lines, b""])
    response = Response(200, headers=headers, content=content, request=Request("GET", "http://x"))
    assert events == [ServerEvent(other.event, other.data.encode()) for other in EventSource(response) if other.data]
    assert cursor.retry == (0.25 if b"retry: 250" in lines else None)


def test_lines_of_one_event_are_one_text() -> None:
    assert fed([b'data: {"a":\ndata: 1}\n\n'])[0] == [ServerEvent("message", b'{"a":\n1}')]


def test_a_byte_order_mark_is_none_of_the_first_name() -> None:
    assert fed([b"\xef\xbb", b"\xbfdata: x\n\n"])[0] == [ServerEvent("message", b"x")]


def test_half_an_event_is_no_event_and_moves_no_cursor() -> None:
    assert fed([b"id: 1\ndata: x\n\n", b"id: 2\ndata: y\n"]) == ([ServerEvent("message", b"x")], Cursor("1"))


def test_an_event_without_data_only_says_where_to_go_on() -> None:
    assert fed([b"id: 41\nretry: 500\ndata:\n\n"]) == ([], Cursor("41", 0.5))


@pytest.mark.parametrize("id", [b"a\0b", b"a\x1bb", b"x" * 2000, b"a ", b" a"])
def test_an_id_that_no_header_could_carry_is_not_kept(id: bytes) -> None:
    assert fed([b"id: 1\n\nid: " + id + b"\n\n"])[1] == Cursor("1")


@pytest.mark.parametrize("size", [LIMIT, LIMIT + 1])
def test_an_event_may_be_as_large_as_a_message_may_be(size: int) -> None:
    head = b'{"jsonrpc":"2.0","id":5,"x":"'
    line = head + b"y" * (size - len(head) - 2) + b'"}'
    (event,), _ = fed([b"data: " + line + b"\n\n"])
    assert event == (ServerEvent("message", line) if size <= LIMIT else Oversized(size, 5))


def test_the_id_of_a_dropped_event_is_found_at_its_end_too_and_the_next_one_is_read() -> None:
    lines = [b'data: {"x":"%s",\n' % (b"y" * 40_000) for _ in range(50)]
    stream = [*lines, b'data: "id":"last"}\n\n', b"data: next\n\n"]
    events, _ = fed(stream)
    assert [event.id for event in events if isinstance(event, Oversized)] == ["last"]
    assert events[1:] == [ServerEvent("message", b"next")]


def test_a_stream_without_an_end_is_not_held() -> None:
    cursor = Cursor()
    events = Events(1000, cursor)
    for _ in range(1000):
        assert events.feed(b": " + b"x" * 10_000) == []
    assert len(events._line) + len(events._data) < 5000


@pytest.mark.parametrize("piece", [b"data: x\n\n", b"data: x\n", b"data: xxxxxxxxxxxxxxxx", b"\r", b": x\n"])
@pytest.mark.parametrize("step", [1, 65_536])
def test_twice_the_stream_takes_about_twice_the_time(piece: bytes, step: int) -> None:
    def read(size: int) -> Work:
        stream = piece * (size // len(piece))
        chunks = [stream[at : at + step] for at in range(0, len(stream), step)]
        return lambda: fed(chunks, 1 << 30)

    small = 5_000 if step == 1 else 20_000
    compare(read(small), read(4 * small), most=10, slack=0.05)
