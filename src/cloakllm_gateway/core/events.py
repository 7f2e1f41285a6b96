"""The events that the core is told, and the effects that it asks for.

Events are named in the past, effects in the imperative.  The core turns one
event into a list of effects; the shell performs them in order and reports what
came of those that have an answer.  Neither side waits inside the other.

One :class:`~cloakllm_gateway.core.gateway.Gateway` serves one client session,
so namespace and principal are its arguments and not fields of every event.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct, field

from cloakllm_gateway.spans import Findings, Text
from cloakllm_gateway.vault.entries import Entry, Spelling, Token

#: The peer on the model's side.  Reserved: no upstream may be called so.
CLIENT = "client"


# -- events ----------------------------------------------------------------------------------------


class Received(Struct, frozen=True):
    """One whole message arrived: one line without its line feed.

    ``headers`` are those of the HTTP request it came in as far as they repeat
    parts of it (``mcp-*``, names in lower case); None where there are none to
    compare it with.  ``during`` is the id of the request on whose stream an
    upstream sent it, None where messages have no streams.  ``passed`` are the
    client's headers that some upstream is passed, names in lower case.
    """

    peer: str
    line: bytes
    headers: Mapping[str, str] | None = None
    during: str | int | None = None
    passed: Mapping[str, str] = field(default_factory=dict)


class Overlong(Struct, frozen=True):
    """A message over the size limit was dropped; ``id`` is its id where its beginning showed one."""

    peer: str
    id: str | int | None = None


class Connected(Struct, frozen=True):
    """An upstream's process (or connection) is up; the handshake can begin."""

    upstream: str


class Disconnected(Struct, frozen=True):
    """An upstream is gone; ``final`` when the supervisor gave up on it."""

    upstream: str
    reason: str
    final: bool = False


class Learned(Struct, frozen=True):
    """What the store holds has changed, by whomever: entries are new or have new origins, tokens are gone."""

    entries: Sequence[Entry] = ()
    gone: Sequence[Token] = ()


class Scanned(Struct, frozen=True):
    """Answer to :class:`Scan`: what is in its texts."""

    job: int
    found: Findings


class ScanFailed(Struct, frozen=True):
    """A detector raised, timed out or is gone, or a bug of ours ended the work on a message."""

    job: int
    reason: str


class Assigned(Struct, frozen=True):
    """Answer to :class:`Assign`: the mappings are durable."""

    job: int
    entries: Sequence[Entry]


class AssignFailed(Struct, frozen=True):
    """The store is away, damaged or over a quota: nothing was assigned."""

    job: int
    reason: str


class Computed(Struct, frozen=True):
    """Answer to :class:`Compute`: what came of the step."""

    job: int
    outcome: Any


class Resumed(Struct, frozen=True):
    """Answer to :class:`Resume`: its turn has come."""

    upstream: str


class RecordFailed(Struct, frozen=True):
    """The entries of a batch of effects could not be written: what stood behind them was not sent."""

    unsent: Sequence[Send]


class Elapsed(Struct, frozen=True):
    """A timer that :class:`StartTimer` set ran out."""

    timer: Timer


class Timer(Struct, frozen=True):
    """The name of a timer: what it is for, and whom it concerns."""

    purpose: str
    upstream: str = ""
    subject: str | int = ""


# -- effects ---------------------------------------------------------------------------------------


class Send(Struct, frozen=True):
    """Write one message to a peer.

    ``answers`` is the method of the client's request that a response answers.
    Where messages travel on streams of requests (HTTP), ``related`` is the id
    of the client's request that a notification or question belongs to, None
    for none.  ``headers`` are those that repeat parts of the message for an
    upstream reached over HTTP, ``passed`` those that go with it as the client
    sent them.
    """

    peer: str
    message: dict[str, Any]
    answers: str = ""
    related: str | int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    passed: Mapping[str, str] = field(default_factory=dict)


class Scan(Struct, frozen=True):
    """Look for personal data, in a worker: in large texts, and for names."""

    job: int
    upstream: str
    texts: Sequence[Text]


class Compute(Struct, frozen=True):
    """Take a long step of the work on one message, in a thread, while the core goes on with others.

    ``step`` changes nothing but what belongs to its job, and what threads may share (vault, handles);
    ``size`` are the bytes of the message.
    """

    job: int
    upstream: str
    step: Callable[[], Any]
    size: int


class Postpone(Struct, frozen=True):
    """A message of ``size`` bytes waits for an earlier one of its upstream: whoever has much waiting is not read."""

    upstream: str
    size: int


class Resume(Struct, frozen=True):
    """The oldest message that waits, of ``size`` bytes, may be worked on: ask for it in turn with what others say."""

    upstream: str
    size: int


class Assign(Struct, frozen=True):
    """Give each spelling its token and make the mapping durable before it is used."""

    job: int
    upstream: str
    origin: str
    group: str
    spellings: Sequence[Spelling]


class Used(Struct, frozen=True):
    """These tokens were restored: the store should drop others before them."""

    tokens: Sequence[Token]


class Record(Struct, frozen=True):
    """Write one decision to the audit before anything that stands behind it is sent; it never holds a value.

    The events and their fields are those of :mod:`cloakllm_gateway.audit.schema`.
    """

    event: str
    fields: Mapping[str, Any] = field(default_factory=dict)


class Log(Struct, frozen=True):
    """Say something on stderr; it never holds a value."""

    level: str
    event: str
    fields: Mapping[str, Any] = field(default_factory=dict)


class LogOutput(Struct, frozen=True):
    """Log a line that an upstream wrote outside the protocol, once it has been made clean."""

    upstream: str
    line: bytes


class StartTimer(Struct, frozen=True):
    """Ask for an :class:`Elapsed` after so many seconds; starting a running timer moves its end."""

    timer: Timer
    seconds: float


class StopTimer(Struct, frozen=True):
    """Stop a timer; one that does not run is no fault."""

    timer: Timer


class Drop(Struct, frozen=True):
    """Cut an upstream off; the supervisor decides whether to start it again."""

    upstream: str
    reason: str


Event: TypeAlias = (
    Received
    | Overlong
    | Connected
    | Disconnected
    | Learned
    | Scanned
    | ScanFailed
    | Assigned
    | AssignFailed
    | Computed
    | Resumed
    | RecordFailed
    | Elapsed
)
#: Effects that are neither sent nor recorded.
Deed: TypeAlias = Scan | Compute | Postpone | Resume | Assign | Used | Log | LogOutput | StartTimer | StopTimer | Drop
Effect: TypeAlias = Send | Record | Deed
