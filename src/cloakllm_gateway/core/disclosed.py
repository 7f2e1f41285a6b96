"""The values that one upstream was given lately: what it says may hold parts of them, or other forms.

Such forms are ordinary text elsewhere, so they are looked for only where they
are likely: in whatever the upstream says while a call with values is in
flight, for a while after its end (its log may come late, or go on after a
cancel), for as long as the gateway remembers the task that was made of it, and
as long as the client hears of the resources whose URIs held them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import NamedTuple

from cloakllm_gateway.vault.entries import Entry, Token

#: Seconds for which the values of a call are looked for after its end.
SECONDS = 60.0
#: The ended calls, and the tasks and subscriptions, that are remembered at most, and the values of each kind;
#: the newest one counts whole.
MOST_CALLS = 16
MOST_FOLLOWED = 64
MOST_VALUES = 5_000


class _Ended(NamedTuple):
    """The values of a call that is over, and when it ended, in seconds of the clock."""

    at: float
    entries: tuple[Entry, ...]


class _Lately(NamedTuple):
    """An answer, and what it was made from: the number of the change, and how many ended calls count."""

    change: int
    ended: int
    entries: tuple[Entry, ...]


class Disclosed:
    """The values that one upstream was sent: by call, by task and by subscription.

    Changed by the core alone; :meth:`lately` may be asked from beside it.
    """

    def __init__(self, clock: Callable[[], float] = lambda: 0.0) -> None:
        self._clock = clock
        self._open: dict[int, dict[Token, Entry]] = {}
        self._ended: tuple[_Ended, ...] = ()
        self._followed: dict[Hashable, tuple[Entry, ...]] = {}
        self._changes = 0
        self._lately = _Lately(0, 0, ())

    def begin(self, call: int, entries: Sequence[Entry]) -> None:
        """A request with these values goes out."""
        self._open[call] = _by_token(entries) if entries else {}
        if entries:
            self._changes += 1

    def answer(self, entries: Sequence[Entry]) -> None:
        """An answer to a question of the upstream's goes out: nobody can tell for which of its calls it asked."""
        for held in self._open.values():
            held.update(_by_token(entries))
        if not self._open:
            self._keep(tuple(entries))
        if entries:
            self._changes += 1

    def end(self, call: int) -> tuple[Entry, ...]:
        """The request is no longer in flight: all that was given while it was, and may come back in its answer."""
        held = self._open.pop(call, None)
        if not held:
            return ()
        entries = tuple(held.values())
        self._keep(entries)
        self._changes += 1
        return entries

    def follow(self, subject: Hashable, entries: Iterable[Entry]) -> None:
        """These values, or more of them, were given for a task or a subscription, which goes on."""
        held = tuple(_by_token((*self._followed.pop(subject, ()), *entries)).values())
        if held:
            self._followed[subject] = held
            for oldest in list(self._followed)[: _excess(self._followed.values(), MOST_FOLLOWED)]:
                del self._followed[oldest]
            self._changes += 1

    def release(self, subject: Hashable) -> None:
        """A subscription is over, as a call is."""
        if entries := self._followed.pop(subject, ()):
            self._keep(entries)
            self._changes += 1

    def lately(self) -> tuple[Entry, ...]:
        """All that counts now; the same object as long as nothing changes, so that its forms are derived once."""
        known, now = self._lately, self._clock()
        ended = [gift for gift in self._ended if now - gift.at <= SECONDS]
        if (self._changes, len(ended)) == known[:2]:
            return known.entries
        change, calls, followed = self._changes, list(self._open.values()), list(self._followed.values())
        counting: dict[Token, Entry] = {}
        for gift in ended:
            counting.update(_by_token(gift.entries))
        for entries in followed:
            counting.update(_by_token(entries))
        for held in calls:
            counting.update(held)
        same = counting.keys() == _by_token(known.entries).keys()
        self._lately = _Lately(change, len(ended), known.entries if same else tuple(counting.values()))
        return self._lately.entries

    def _keep(self, entries: tuple[Entry, ...]) -> None:
        if entries:
            now = self._clock()
            kept = [gift for gift in self._ended if now - gift.at <= SECONDS]
            kept.append(_Ended(now, entries))
            self._ended = tuple(kept[_excess([gift.entries for gift in kept], MOST_CALLS) :])


def _by_token(entries: Iterable[Entry]) -> dict[Token, Entry]:
    return {entry.token: entry for entry in entries}


def _excess(groups: Iterable[Sequence[Entry]], most: int) -> int:
    """How many groups, oldest first, are too many or hold too many values; never the newest."""
    sizes = [len(group) for group in groups]
    excess = max(0, len(sizes) - most)
    while excess < len(sizes) - 1 and sum(sizes[excess:]) > MOST_VALUES:
        excess += 1
    return excess
