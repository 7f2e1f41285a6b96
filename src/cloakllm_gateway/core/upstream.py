"""The running state of one upstream: its phase, what it declared, its calls in flight, the order of its messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import Any, TypeAlias

from msgspec import Struct, field

from cloakllm_gateway.core.disclosed import Disclosed
from cloakllm_gateway.core.lanes import Lane
from cloakllm_gateway.core.requests import Asked
from cloakllm_gateway.core.settings import UpstreamSettings
from cloakllm_gateway.protocol.eras import Era
from cloakllm_gateway.protocol.headers import Declared
from cloakllm_gateway.protocol.jsonrpc import Failure, Response
from cloakllm_gateway.vault.entries import Entry


class Phase(Enum):
    """``DOWN`` -> ``UP`` (its pipes are open) -> ``GREETING`` -> ``READY``; ``FAILED`` is final."""

    DOWN = auto()
    UP = auto()
    GREETING = auto()
    READY = auto()
    FAILED = auto()


#: Takes a call and its answer.  It is told which, since one that knew would keep the call, which keeps it, after both.
Answered: TypeAlias = Callable[["Call", Response | Failure], None]


class Call(Struct):
    """One request in flight towards an upstream.

    ``params`` are as they were sent, but for what the era adds.  ``asked`` is
    the client's request it serves (None for the gateway's own),
    ``restored`` the entries whose values the request carried, or answers to
    questions while it was in flight, ``uris`` the form in which the client
    asked for a resource, by its real URI, ``marked`` the arguments that headers
    repeat, ``round`` how often the upstream has asked for more.
    A ``timeout`` of 0 is none.
    """

    upstream: str
    id: int
    method: str
    params: dict[str, Any] | None
    answered: Answered
    asked: Asked | None = None
    restored: Sequence[Entry] = ()
    uris: dict[str, str] = field(default_factory=dict)
    timeout: float = 0.0
    marked: Sequence[Declared] = ()
    round: int = 0


NOT_STARTED = "it has not started yet"


class Upstream(Struct):
    """The running state of one configured upstream.

    ``knows_no_probe`` once it was offered the stateless era in vain; ``falls`` is how often in a row it ended before it
    was ready; ``noise`` the lines that it printed since its start, in place of messages, before it was ready.
    """

    settings: UpstreamSettings
    phase: Phase = Phase.DOWN
    reason: str = NOT_STARTED
    version: str = ""
    era: Era = Era.SESSION
    knows_no_probe: bool = False
    falls: int = 0
    noise: int = 0
    hello: dict[str, Any] = field(default_factory=dict)
    calls: dict[int, Call] = field(default_factory=dict)
    lane: Lane = field(default_factory=Lane)
    name: str = ""  # that of its settings
    disclosed: Disclosed = field(default_factory=Disclosed)
    _ids: int = 0

    def __post_init__(self) -> None:
        self.name = self.settings.name

    @property
    def is_there(self) -> bool:
        """Whether it can be sent anything, be it no more than its greeting."""
        return self.phase not in (Phase.DOWN, Phase.FAILED)

    def next_id(self) -> int:
        self._ids += 1
        return self._ids

    def capability(self, name: str) -> dict[str, Any] | None:
        """What the upstream declared under ``name``, or None if it did not."""
        capabilities = self.hello.get("capabilities")
        declared = capabilities.get(name) if isinstance(capabilities, dict) else None
        return declared if isinstance(declared, dict) else None

    def serving(self, during: str | int | None = None) -> list[Asked]:
        """The client's requests that its calls in flight serve, oldest first; of the call ``during`` alone if known.

        What comes on the stream of a call that is over, or of one of the gateway's own, is about no request.
        """
        calls = [call for id, call in self.calls.items() if during is None or id == during]
        return [call.asked for call in calls if call.asked is not None]
