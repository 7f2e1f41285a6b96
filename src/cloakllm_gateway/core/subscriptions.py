"""Subscriptions: what the client wants to hear of, in both eras, and what upstreams were asked for it.

A session subscribes to resources one by one and hears of changed lists anyway.
A stateless client opens streams (``subscriptions/listen``) that name what they
want, and a notification says which stream it is for.  Towards an upstream the
gateway subscribes in that upstream's era, once for all streams, and again when
the upstream was started anew.

Source: MCP 2025-11-25, "Subscriptions"; 2026-07-28, ``subscriptions/listen``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from cloakllm_gateway.core.calls import Calls, is_ours
from cloakllm_gateway.core.events import CLIENT, Effect, Send, StartTimer, Timer
from cloakllm_gateway.core.requests import Asked
from cloakllm_gateway.core.upstream import Call, Phase, Upstream
from cloakllm_gateway.protocol import jsonrpc
from cloakllm_gateway.protocol.eras import SUBSCRIPTION, Era
from cloakllm_gateway.protocol.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND, Failure, Response
from cloakllm_gateway.vault.entries import Entry

PURPOSE = "listen"

#: Seconds before a stream that ended, as it should or not, is opened again.
AGAIN = 5.0

#: Errors that say that there are no such streams, or not of this.
_NOT_SERVED = (METHOD_NOT_FOUND, INVALID_PARAMS)

#: The lists that may change, and what a stream says to hear of it.
LISTS = {"tools": "toolsListChanged", "prompts": "promptsListChanged", "resources": "resourcesListChanged"}


class Watch(NamedTuple):
    """One thing to be notified of: a member of ``notifications``, and one item where the member is a list."""

    member: str
    item: str = ""


URI, TASK = "resourceSubscriptions", "taskIds"


class Stream(Struct, eq=False):
    """One ``subscriptions/listen`` of the client: the lists it wants, and (upstream, watch) of the rest.

    ``given`` are the values that its URIs gave to upstreams, by their names.
    """

    asked: Asked
    lists: frozenset[str]
    watches: frozenset[tuple[str, Watch]]
    given: Mapping[str, Sequence[Entry]]


class Subscriptions:
    """The streams of the client, and what the upstreams were asked for them.

    ``most`` things may be heard of at once: each may be a stream, and so a connection, of its own.
    """

    def __init__(
        self, upstreams: Mapping[str, Upstream], calls: Calls, emit: Callable[[Effect], None], most: int
    ) -> None:
        self._most = most
        self._upstreams = upstreams
        self._calls = calls
        self._emit = emit
        self._streams: list[Stream] = []
        #: What is subscribed to at each upstream, and the call that is open for it in the stateless era.
        self._watched: dict[str, dict[Watch, int | None]] = {name: {} for name in upstreams}

    # -- the client ----------------------------------------------------------------------------------

    @property
    def streams(self) -> int:
        """The number of open streams."""
        return len(self._streams)

    def has_room(self, more: int) -> bool:
        """Whether ``more`` things can be subscribed to."""
        return sum(map(len, self._watched.values())) + more <= self._most

    def open(self, stream: Stream, granted: Mapping[str, Any]) -> list[Effect]:
        """A stream begins: ``granted`` is what it will hear of."""
        self._streams.append(stream)
        for name, entries in stream.given.items():
            self._upstreams[name].disclosed.follow(stream, entries)
        for name, watch in stream.watches:
            self.watch(self._upstreams[name], watch)
        return [self._told(stream, "notifications/subscriptions/acknowledged", {"notifications": dict(granted)})]

    def close(self, asked: Asked) -> None:
        """The client no longer listens."""
        closed = [stream for stream in self._streams if stream.asked is asked]
        for stream in closed:
            for name in stream.given:
                self._upstreams[name].disclosed.release(stream)
        self._streams = [stream for stream in self._streams if stream.asked is not asked]
        still = {watch for stream in self._streams for watch in stream.watches}
        for name, watch in {watch for stream in closed for watch in stream.watches} - still:
            self.unwatch(self._upstreams[name], watch)

    def list_changed(self, kind: str) -> list[Effect]:
        method = f"notifications/{kind}/list_changed"
        return [self._told(stream, method, {}) for stream in self._streams if kind in stream.lists]

    def told(self, upstream: str, watch: Watch, method: str, params: Mapping[str, Any]) -> list[Effect]:
        """What the client hears of a notification that concerns ``watch``."""
        listening = [stream for stream in self._streams if (upstream, watch) in stream.watches]
        return [self._told(stream, method, params) for stream in listening]

    def _told(self, stream: Stream, method: str, params: Mapping[str, Any]) -> Send:
        id = stream.asked.waits
        meta = params.get("_meta")
        said = {**params, "_meta": {**(meta if isinstance(meta, dict) else {}), SUBSCRIPTION: id}}
        return Send(CLIENT, jsonrpc.notification(method, said), related=id)

    # -- the upstreams -------------------------------------------------------------------------------

    def watch(self, upstream: Upstream, watch: Watch) -> None:
        """See that the upstream tells of ``watch``, now and after it was started anew."""
        watched = self._watched[upstream.name]
        if watch not in watched:
            watched[watch] = None
            self._ask(upstream, watch)

    def begin(self, upstream: Upstream, watch: Watch, entries: Sequence[Entry]) -> bool:
        """A session subscribes, by a URI that holds ``entries``; whether its own request has to ask the upstream.

        Then only a start anew is to ask again.
        """
        upstream.disclosed.follow(watch, entries)
        if upstream.era is Era.STATELESS:
            self.watch(upstream, watch)
            return False
        self._watched[upstream.name][watch] = None
        return True

    def end(self, upstream: Upstream, watch: Watch) -> bool:
        """A session hears no more of ``watch``; whether its own request has to tell the upstream."""
        upstream.disclosed.release(watch)
        if upstream.era is Era.STATELESS:
            self.unwatch(upstream, watch)
            return False
        self._watched[upstream.name].pop(watch, None)
        return True

    def unwatch(self, upstream: Upstream, watch: Watch) -> None:
        watched = self._watched[upstream.name]
        call = watched.pop(watch, None)
        if upstream.phase is not Phase.READY:
            return
        if call is not None:
            self._calls.cancel(upstream, call)
        elif watch.member == URI and upstream.era is Era.SESSION:
            self._calls.ask(upstream, "resources/unsubscribe", {"uri": watch.item})

    def ready(self, upstream: Upstream) -> None:
        """An upstream is there, or there again."""
        if upstream.era is Era.STATELESS:
            for kind, member in LISTS.items():
                if (upstream.capability(kind) or {}).get("listChanged") is True:
                    self._watched[upstream.name][Watch(member)] = None
        for watch in sorted(self._watched[upstream.name]):
            self._ask(upstream, watch)

    def _ask(self, upstream: Upstream, watch: Watch) -> None:
        if upstream.phase is not Phase.READY:
            return
        if upstream.era is Era.STATELESS:
            self._listen(upstream, watch)
        elif watch.member == URI:
            self._calls.ask(upstream, "resources/subscribe", {"uri": watch.item})

    def _listen(self, upstream: Upstream, watch: Watch) -> None:
        """A stream of the gateway's own, for as long as the upstream keeps it open."""

        def ended(_call: Call, answer: Response | Failure) -> None:
            calls = self._watched[upstream.name]
            if watch not in calls:
                return
            calls[watch] = None
            if isinstance(answer, Failure) and answer.error.get("code") in _NOT_SERVED:
                del calls[watch]
            elif isinstance(answer, Response) or not is_ours(answer):  # else it is gone, and told of when it is back
                self._emit(StartTimer(Timer(PURPOSE, upstream.name, "\n".join(watch)), AGAIN))

        wanted = {watch.member: [watch.item] if watch.item else True}
        call = self._calls.send(upstream, "subscriptions/listen", {"notifications": wanted}, ended, timeout=0)
        self._watched[upstream.name][watch] = call.id

    def again(self, upstream: Upstream, subject: str) -> None:
        """It is time to open a stream again that an upstream ended."""
        watch = Watch(*subject.split("\n", 1))
        if self._watched[upstream.name].get(watch, 0) is None:
            self._ask(upstream, watch)


def granted(
    wanted: Mapping[str, Any], capabilities: Mapping[str, Any], served: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """Of what a stream wants, what it gets: lists that may change, and of items those that somebody serves."""
    lists: dict[str, Any] = {}
    for kind, member in LISTS.items():
        declared = capabilities.get(kind)
        if wanted.get(member) is True and isinstance(declared, dict) and declared.get("listChanged") is True:
            lists[member] = True
    return {**lists, **{member: list(items) for member, items in served.items() if items}}
