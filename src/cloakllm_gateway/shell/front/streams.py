"""Streams to a client over HTTP: ordered, bounded, and for a while to be resumed.

Theory of operation.  A :class:`Stream` numbers its messages from 1.  Messages
are put in without waiting and taken out by whoever follows it, one reader at a
time; a new one takes over from the one before.  What was read stays for as long
as there is room for it, so that a client that lost its connection can go on
after the last event it has.  What was not read is bounded: :meth:`Stream.put`
says when there is no room, and what becomes of the stream then is its owner's
decision.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator
from typing import Final, NamedTuple

import anyio

#: Seconds of silence after which a stream shows that it is alive.
KEEP_ALIVE: Final = 15.0
#: What is written then: a comment, which every reader of event streams skips.
COMMENT: Final = b": keep-alive\n\n"


class Event(NamedTuple):
    """One message on a stream; ``status`` is the HTTP status it would have alone, if it is the answer."""

    number: int
    line: bytes
    status: int | None = None


class Stream:
    """One sequence of messages: ``unread`` bytes of them may wait for a reader, ``kept`` bytes stay once read."""

    def __init__(self, unread: int, kept: int) -> None:
        self._max_unread = unread
        self._max_kept = kept
        self._events: deque[Event] = deque()
        self._last = 0
        self._read = 0
        self._unread_bytes = self._kept_bytes = 0
        self._readers = 0
        self._changed = anyio.Event()
        self.ended = False
        self.followed = False

    @property
    def size(self) -> int:
        """How many bytes of messages it holds."""
        return self._unread_bytes + self._kept_bytes

    def put(self, line: bytes, status: int | None = None) -> bool:
        """Append a message; False (and nothing done) where the reader is too far behind.  One message always fits."""
        if self.ended or (self._unread_bytes and self._unread_bytes + len(line) > self._max_unread):
            return False
        self._last += 1
        self._unread_bytes += len(line)
        self._events.append(Event(self._last, line, status))
        self._wake()
        return True

    def end(self) -> None:
        """Nothing more will come: a reader gets what there is, and then its end."""
        self.ended = True
        self._wake()

    def reaches(self, after: int) -> bool:
        """Whether all messages behind number ``after`` are there."""
        return self._oldest - 1 <= after <= self._last

    async def follow(
        self, after: int | None = None, patience: float = KEEP_ALIVE
    ) -> AsyncGenerator[Event | None, None]:
        """What comes, from the first message nobody has read, or from the one behind number ``after``.

        None stands for silence: of ``patience`` seconds at the beginning, of
        :data:`KEEP_ALIVE` later.  Over when the stream has ended, or when
        another reader has taken over.
        """
        at = self._read if after is None or not self.reaches(after) else after
        while self._read < at:
            self._mark_read()
        self._readers += 1
        me = self._readers
        self.followed = True
        self._wake()
        try:
            while me == self._readers:
                if at < self._last:
                    yield self._event(at + 1)
                    at += 1
                    if me == self._readers and at > self._read:
                        self._mark_read()
                elif self.ended:
                    return
                else:
                    changed = self._changed
                    with anyio.move_on_after(patience) as silence:
                        await changed.wait()
                    if silence.cancelled_caught:
                        patience = KEEP_ALIVE
                        yield None
        finally:
            if me == self._readers:
                self.followed = False

    @property
    def _oldest(self) -> int:
        """The number of the first message that is still there, or would be next."""
        return self._last + 1 - len(self._events)

    def _event(self, number: int) -> Event:
        return self._events[number - self._oldest]

    def _mark_read(self) -> None:
        """The first message that nobody had read has been."""
        self._read += 1
        size = len(self._event(self._read).line)
        self._unread_bytes -= size
        self._kept_bytes += size
        while self._kept_bytes > self._max_kept and self._events[0].number <= self._read:
            self._kept_bytes -= len(self._events.popleft().line)

    def _wake(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


def framed(event: Event, id: str | None) -> bytes:
    """An event as it is written; a message is one line, so it needs no splitting."""
    head = b"" if id is None else b"id: " + id.encode("ascii") + b"\n"
    return b"".join((head, b"event: message\ndata: ", event.line, b"\n\n"))
