"""What the core needs to know from the configuration, as frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field

from cloakllm_gateway.vault.code import Language


class Scope(StrEnum):
    """Which upstreams a token may be restored for."""

    SESSION = "session"
    UPSTREAM = "upstream"
    ASK = "ask"


class Action(StrEnum):
    """What a :class:`Flow` decides."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class Treatment(StrEnum):
    """What is done with a value on its way to the model; only ``tokenize`` can be undone."""

    TOKENIZE = "tokenize"
    PASS = "pass"
    REDACT = "redact"
    BLOCK = "block"


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


class ToolRules(Struct, frozen=True):
    """What holds for the tools of one upstream whose own name matches ``glob``.

    ``categories`` and ``paths`` (into the structured result) say what the model
    is shown; ``parameters`` declares what the arguments of these names hold.
    """

    glob: str
    categories: Mapping[str, Treatment] = field(default_factory=dict)
    paths: Mapping[str, Treatment] = field(default_factory=dict)
    parameters: Mapping[str, Language] = field(default_factory=dict)


class ToolChanges(StrEnum):
    """What happens to calls of a tool that is no longer what the client was told."""

    LOG = "log"
    HOLD = "hold"


class UpstreamSettings(Struct, frozen=True):
    """One upstream as the core sees it.

    ``origin`` is the name with a fingerprint of what is behind it, so that
    another program configured under the same name inherits nothing.
    ``prefix`` is what its names are prefixed with; empty means none.
    ``categories`` says what is done with its values, ``tools`` what holds for some of its tools.
    ``request_timeout`` is in seconds, renewed by every progress notification.
    ``relax_input_schema`` lets tokens stand where its tools ask for text of a form.
    ``exact_links`` leaves the pages it sends a person to as they are.
    ``over_http`` says that headers may repeat parts of what it is sent, ``pass_headers``
    which of a client's own go with what that client asks of it.
    ``configured`` are the strings by which it is started or reached.
    """

    name: str
    prefix: str
    origin: str
    categories: Mapping[str, Treatment] = field(default_factory=dict)
    tools: tuple[ToolRules, ...] = ()
    token_scope: Scope | None = None
    request_timeout: float = 300.0
    startup_timeout: float = 60.0
    ui: bool = False
    sampling: bool = True
    elicitation: bool = True
    exact_links: bool = False
    roots: bool = True
    relax_input_schema: bool = False
    over_http: bool = False
    pass_headers: tuple[str, ...] = ()
    configured: tuple[str, ...] = ()

    @property
    def shown(self) -> frozenset[str]:
        """The categories that the model is shown in clear of this upstream, or of one of its tools."""
        rules = (self.categories, *(tool.categories for tool in self.tools))
        return frozenset(name for part in rules for name, how in part.items() if how is Treatment.PASS)


class Settings(Struct, frozen=True):
    """The settings of one gateway.  ``startup_wait`` is in seconds, ``name_budget`` in characters.

    ``persistent`` says that tokens outlive a session, ``bridge_versions`` that
    upstreams may speak different versions of the session era.  ``allow_list``
    holds values that are never hidden.  ``secret`` makes the handles of one
    session ones that nobody can guess.
    """

    upstreams: Mapping[str, UpstreamSettings]
    sanitize: bool = True
    token_scope: Scope = Scope.SESSION
    sensitive_to_origin_only: bool = True
    flows: tuple[Flow, ...] = ()
    groups: tuple[frozenset[str], ...] = ()
    raw_data: Mapping[str, RawData] = field(default_factory=dict)
    mode: Mode = Mode.ENFORCE
    tool_changes: ToolChanges = ToolChanges.LOG
    refuse_unknown_tokens: bool = True
    persistent: bool = False
    categories: frozenset[str] = field(default_factory=frozenset)
    allow_list: frozenset[str] = frozenset()
    startup_wait: float = 10.0
    name_budget: int = 48
    max_pending: int = 1000
    max_foreign_tokens: int = 20
    max_bytes: int = 64 * 1024 * 1024
    max_depth: int = 200
    version: str = "0"
    bridge_versions: bool = False
    secret: bytes = b""

    @property
    def redacts(self) -> bool:
        """Whether any rule cuts values out for good."""
        rules = [u.categories for u in self.upstreams.values()]
        rules += [part for u in self.upstreams.values() for t in u.tools for part in (t.categories, t.paths)]
        return any(Treatment.REDACT in part.values() for part in rules)

    @property
    def implementation(self) -> dict[str, str]:
        """What the gateway says it is, towards both sides."""
        return {"name": "cloakllm-gateway", "version": self.version}

    @property
    def enforces(self) -> bool:
        """Whether tokens are given and taken, rather than reported or not thought of."""
        return self.sanitize and self.mode is Mode.ENFORCE
