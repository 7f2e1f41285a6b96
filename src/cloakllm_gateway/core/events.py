"""What the gateway is told, and what it asks for.

Events are named in the past, effects in the imperative.  The core turns one
event into a list of effects; the shell performs them in order and reports what
came of those that have an answer.  Neither side waits inside the other.

One :class:`~cloakllm_gateway.core.gateway.Gateway` serves one client session,
so namespace and principal are its arguments and not fields of every event.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from cloakllm_gateway.spans import Span, Text
from cloakllm_gateway.vault.entries import Entry, Spelling

#: The peer on the model's side.  Reserved: no upstream may be called so.
CLIENT = "client"

# -- events ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Received:
    """One whole message arrived: one line without its line feed."""

    peer: str
    line: bytes


@dataclass(frozen=True, slots=True)
class Overlong:
    """A message over the size limit was dropped; ``id`` is its id where its beginning showed one."""

    peer: str
    id: str | int | None = None


@dataclass(frozen=True, slots=True)
class Connected:
    """An upstream's process (or connection) is up; the handshake can begin."""

    upstream: str


@dataclass(frozen=True, slots=True)
class Disconnected:
    """An upstream is gone; ``final`` when the supervisor gave up on it."""

    upstream: str
    reason: str
    final: bool = False


@dataclass(frozen=True, slots=True)
class Scanned:
    """Answer to :class:`Scan`: disjoint spans for each of its texts."""

    job: int
    found: Sequence[Sequence[Span]]


@dataclass(frozen=True, slots=True)
class ScanFailed:
    """A detector raised, timed out or is gone."""

    job: int
    reason: str


@dataclass(frozen=True, slots=True)
class Assigned:
    """Answer to :class:`Assign`: the mappings are durable."""

    job: int
    entries: Sequence[Entry]


@dataclass(frozen=True, slots=True)
class AssignFailed:
    """The store is away, damaged or over a quota: nothing was assigned."""

    job: int
    reason: str


@dataclass(frozen=True, slots=True)
class Elapsed:
    """A timer that :class:`StartTimer` set ran out."""

    timer: Timer


@dataclass(frozen=True, slots=True)
class Timer:
    """The name of a timer: what it is for, and whom it concerns."""

    purpose: str
    upstream: str = ""
    subject: str | int = ""


# -- effects ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Send:
    """Write one message to a peer."""

    peer: str
    message: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Scan:
    """Look for personal data; small work is done at once, large work and names in a worker."""

    job: int
    texts: Sequence[Text]
    origin: str


@dataclass(frozen=True, slots=True)
class Assign:
    """Give each spelling its token and make the mapping durable before it is used."""

    job: int
    origin: str
    group: str
    spellings: Sequence[Spelling]


@dataclass(frozen=True, slots=True)
class Record:
    """Write one decision to the audit; it never holds a value."""

    event: str
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Log:
    """Say something on stderr; it never holds a value."""

    level: str
    event: str
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LogOutput:
    """Log a line that an upstream wrote outside the protocol, once it has been made clean."""

    upstream: str
    line: bytes


@dataclass(frozen=True, slots=True)
class StartTimer:
    """Ask for an :class:`Elapsed` after so many seconds; starting a running timer moves its end."""

    timer: Timer
    seconds: float


@dataclass(frozen=True, slots=True)
class StopTimer:
    timer: Timer


@dataclass(frozen=True, slots=True)
class Drop:
    """Cut an upstream off; the supervisor decides whether to start it again."""

    upstream: str
    reason: str


Event: TypeAlias = (
    Received | Overlong | Connected | Disconnected | Scanned | ScanFailed | Assigned | AssignFailed | Elapsed
)
Effect: TypeAlias = Send | Scan | Assign | Record | Log | LogOutput | StartTimer | StopTimer | Drop
