"""One reading of a text, and where each part of it stands in the text as it was."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.spans import Encoding

#: What an encoded piece says, where it begins and ends in the text it stands in, and how it is encoded.
Piece = tuple[str, int, int, Encoding]


class View:
    """One reading of a text.

    ``original(start, end)`` gives the half-open range of the original text
    that a range of ``text`` came from; it never cuts an escape in two.  Only
    what was encoded is noted; between two such pieces both texts are the same.
    """

    __slots__ = ("_at", "_begin", "_escapes", "_from", "_kinds", "_spots", "_to", "_upto", "inner", "text")

    def __init__(self, text: str, inner: View | None = None, begin: int = 0) -> None:
        self.text = text
        self.inner = inner  # the view this one was decoded from
        self._begin = begin  # where it begins in the inner view
        self._at = _NOWHERE  # where each encoded piece begins in this view
        self._upto = _NOWHERE  # ... and where it ends
        self._from = _NOWHERE  # where it begins in the inner view
        self._to = _NOWHERE  # ... and where it ends there
        self._kinds: Sequence[Encoding] = ()
        self._escapes: bool | None = None
        #: Where encoded pieces begin and end in this view, neighbours joined.
        self._spots: tuple[list[int], list[int]] | None = None

    @classmethod
    def decoded(cls, inner: View, pieces: Iterable[Piece]) -> View:
        """The reading of a view in which the pieces, from left to right, are replaced by what they say."""
        said = inner.text
        out: list[str] = []
        at, upto, begins, ends = array("q"), array("q"), array("q"), array("q")
        kinds: list[Encoding] = []
        size = done = 0
        for decoded, start, end, kind in pieces:
            size += start - done
            out.append(said[done:start])
            out.append(decoded)
            at.append(size)
            size += len(decoded)
            upto.append(size)
            begins.append(start)
            ends.append(end)
            kinds.append(kind)
            done = end
        out.append(said[done:])
        view = cls("".join(out), inner)
        view._at, view._upto, view._from, view._to, view._kinds = at, upto, begins, ends, kinds
        return view

    def part(self, start: int, end: int) -> View:
        """What was decoded from a range of the inner view, as a view of its own; the range cuts no piece in two."""
        first, last = bisect_left(self._from, start), bisect_left(self._from, end)
        by = self._ahead(first)
        view = View(self.text[start + by : end + self._ahead(last)], self.inner, start)
        view._at = array("q", [at - start - by for at in self._at[first:last]])
        view._upto = array("q", [at - start - by for at in self._upto[first:last]])
        view._from, view._to = self._from[first:last], self._to[first:last]
        view._kinds = self._kinds[first:last]
        return view

    def inward(self, start: int, end: int) -> tuple[int, int]:
        """The range of this view that a range of the inner one became; it cuts no piece in two."""
        return (
            start + self._ahead(bisect_left(self._from, start)),
            end + self._ahead(bisect_left(self._from, end)),
        )

    def _ahead(self, count: int) -> int:
        """How far this view is ahead of the inner one behind so many encoded pieces; negative where it is behind."""
        return self._upto[count - 1] - self._to[count - 1] if count else -self._begin

    def original(self, start: int, end: int) -> tuple[int, int]:
        view: View = self
        while view.inner is not None:
            start, end = view._outward(start, end)
            view = view.inner
        return start, end

    def encoding_of(self, start: int, end: int) -> Encoding:
        """The outermost encoding that a range was written in; PLAIN if nothing in it was encoded."""
        view, found = self, Encoding.PLAIN
        while view.inner is not None:
            found = view._kind(start, end) or found
            start, end = view._outward(start, end)
            view = view.inner
        return found

    def around(self, start: int, end: int) -> tuple[View, int, int]:
        """The range as it is, or the base64 or hexadecimal runs that it is in, whole, where they were decoded.

        Of runs in runs the outermost, which stands in the text, with all that it says.
        """
        found = self, start, end
        view: View = self
        while view.inner is not None:
            first, last = view._piece(start), view._piece(max(end - 1, start))
            if first is not None and view._kinds[first] in _BLOCKS:
                start = view._at[first]
                found = view, start, end
            if last is not None and view._kinds[last] in _BLOCKS:
                end = view._upto[last]
                found = view, start, end
            start, end = view._outward(start, end)
            view = view.inner
        return found

    @property
    def has_escapes(self) -> bool:
        """Whether a range of the inner view may cut an escape in two; runs that are hidden whole are none."""
        if self._escapes is None:
            self._escapes = not _BLOCKS.issuperset(self._kinds)
        return self._escapes

    def snap(self, start: int, end: int) -> tuple[int, int]:
        """A range of the inner view, moved so that it does not begin or end inside an escape.

        It is empty if it was a part of one escape.
        """
        i, j = bisect_right(self._from, start) - 1, bisect_right(self._from, end) - 1
        if (
            i >= 0
            and self._from[i] < start < self._to[i]
            and not (self._kinds[i] in _BLOCKS or self._is_assigned(i, start))
        ):
            start = self._to[i]
        if j >= 0 and self._from[j] < end < self._to[j] and self._kinds[j] not in _BLOCKS:
            end = self._to[j]
        return start, end

    def _is_assigned(self, index: int, start: int) -> bool:
        """Whether a range begins behind the sign of an escape that may be none: the ``=53`` of ``ssn=536904399``."""
        return (
            self._kinds[index] is Encoding.QUOTED_PRINTABLE
            and start == self._from[index] + 1
            and self.inner is not None
            and self.inner.text[start : start + 2].isdigit()
        )

    def touches(self, start: int, end: int) -> bool:
        """Whether anything encoded is in a range of this view, or close enough to change how it reads."""
        starts, ends = self._encoded_ranges()
        at = bisect_right(starts, end + _CONTEXT) - 1
        return at >= 0 and ends[at] >= start - _CONTEXT

    def excerpts(self) -> Iterator[tuple[int, int]]:
        """The parts of this view that read otherwise than the inner one, with their surroundings.

        They begin and end at white space, so that no run is cut in two.  A
        view that holds a key block, which may go on for long, is one part.
        """
        size = len(self.text)
        if self.inner is None or "PRIVATE KEY-----" in self.text or "PRIVATE KEY BLOCK-----" in self.text:
            yield 0, size
            return
        first, done = 0, -1
        for start, end in zip(*self._encoded_ranges(), strict=True):
            if start - _SURROUNDINGS > done:
                if done >= 0:
                    yield first, done
                first = self._white_before(max(start - _SURROUNDINGS, 0), max(done, 0))
            if end + _SURROUNDINGS > done:
                white = _WHITE.search(self.text, min(end + _SURROUNDINGS, size))
                done = white.start() if white else size
        if done >= 0:
            yield first, done

    def _white_before(self, at: int, least: int) -> int:
        """Behind the last white space before a place, but not before ``least``."""
        found = max(self.text.rfind(" ", least, at), self.text.rfind("\n", least, at))
        return found + 1 if found >= 0 else least

    def _encoded_ranges(self) -> tuple[list[int], list[int]]:
        if self._spots is None:
            starts: list[int] = []
            ends: list[int] = []
            reach = -1
            for start, end in zip(self._at, self._upto, strict=True):
                if start > reach:
                    if reach >= 0:
                        ends.append(reach - _CONTEXT)
                    starts.append(start)
                reach = end + _CONTEXT
            if starts:
                ends.append(reach - _CONTEXT)
            self._spots = starts, ends
        return self._spots

    def _piece(self, at: int) -> int | None:
        """The encoded piece that a character of this view is from."""
        i = bisect_right(self._at, at) - 1
        return i if i >= 0 and at < self._upto[i] else None

    def _outward(self, start: int, end: int) -> tuple[int, int]:
        """A range of the inner view; see :meth:`original`."""
        first = bisect_right(self._at, start)
        last = bisect_right(self._at, max(end - 1, start))
        begin = self._from[first - 1] if first and start < self._upto[first - 1] else start - self._ahead(first)
        finish = self._to[last - 1] if last and end <= self._upto[last - 1] else end - self._ahead(last)
        return begin, max(finish, begin)

    def _kind(self, start: int, end: int) -> Encoding | None:
        first = bisect_right(self._at, start)
        last = bisect_right(self._at, max(end - 1, start))
        first -= first > 0 and start < self._upto[first - 1]
        return self._kinds[first] if first < last else None


_NOWHERE = array("q")  # shared, and never changed
#: How far from a value something may stand that says what it is, in code points; see ``near`` of a pattern.
_CONTEXT = 64
#: How much an excerpt holds on either side of what was encoded: more than a match may span over white space.
_SURROUNDINGS = 448
_WHITE = lazy(r"[ \n]")
_BLOCKS = frozenset((Encoding.BASE64, Encoding.HEX))
