"""What the core needs to know from the configuration, as frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field


class Scope(StrEnum):
    """Which upstreams a token may be restored for (design, section 6)."""

    SESSION = "session"
    UPSTREAM = "upstream"
    ASK = "ask"


class Action(StrEnum):
    """What a flow says."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class RawData(StrEnum):
    """What happens to personal data that the model itself writes to an upstream."""

    PASS = "pass"
    LOG = "log"
    BLOCK = "block"


class Mode(StrEnum):
    """``observe`` forwards everything as it is and reports what would have happened."""

    ENFORCE = "enforce"
    OBSERVE = "observe"


class Flow(Struct, frozen=True):
    """A rule for values that came from ``origin`` and would go to ``to`` (upstream names, or ``*``).

    Without ``categories`` it covers all but what is sensitive; with ``hosts``
    only tokens in a URL of one of them.
    """

    origin: str
    to: str
    action: Action
    categories: frozenset[str] = frozenset()
    hosts: tuple[str, ...] = ()


class UpstreamSettings(Struct, frozen=True):
    """One upstream as the core sees it.

    ``origin`` is the name with a fingerprint of what is behind it, so that
    another program configured under the same name inherits nothing.
    ``prefix`` is what its names are prefixed with; empty means none.
    ``passing`` are the categories that this upstream may show the model.
    ``request_timeout`` is in seconds, renewed by every progress notification.
    ``relax_input_schema`` lets tokens stand where its tools ask for text of a form.
    """

    name: str
    prefix: str
    origin: str
    passing: frozenset[str] = frozenset()
    token_scope: Scope | None = None
    request_timeout: float = 300.0
    startup_timeout: float = 60.0
    ui: bool = False
    sampling: bool = True
    elicitation: bool = True
    roots: bool = True
    relax_input_schema: bool = False


class Settings(Struct, frozen=True):
    """One gateway.  ``startup_wait`` is in seconds; ``name_budget`` in characters.

    ``persistent`` says that tokens outlive a session.
    """

    upstreams: Mapping[str, UpstreamSettings]
    sanitize: bool = True
    token_scope: Scope = Scope.SESSION
    sensitive_to_origin_only: bool = True
    flows: tuple[Flow, ...] = ()
    groups: tuple[frozenset[str], ...] = ()
    raw_data: Mapping[str, RawData] = field(default_factory=dict)
    mode: Mode = Mode.ENFORCE
    refuse_unknown_tokens: bool = True
    persistent: bool = False
    categories: frozenset[str] = field(default_factory=frozenset)
    startup_wait: float = 10.0
    name_budget: int = 48
    max_pending: int = 1000
    max_foreign_tokens: int = 20
    max_bytes: int = 64 * 1024 * 1024
    max_depth: int = 200
    version: str = "0"

    @property
    def enforces(self) -> bool:
        """Whether tokens are given and taken, rather than reported or not thought of."""
        return self.sanitize and self.mode is Mode.ENFORCE
