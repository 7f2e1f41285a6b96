"""The configuration file: what may stand in it (:mod:`.consistency` says what must hold between its parts).

One JSON file.  Unknown keys are refused at every level, because a misspelt
``detect_emials`` that is ignored is a leak.  Nothing is taken from the environment
but what an upstream names as ``${NAME}`` (:mod:`.variables`).  Relative paths (``cwd``,
``state_dir``, ``ca_file``, the paths of ``audit``, a ``command`` with a separator in it) start at the file's own
folder, since clients start the gateway in folders of their choosing.

The file names programs that will be executed: it must come from a trusted place.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta, Struct, field
from msgspec.structs import replace

from cloakllm_gateway.core.settings import Action, Mode, RawData, Scope, ToolChanges, Treatment
from cloakllm_gateway.errors import ConfigError
from cloakllm_gateway.shell import variables
from cloakllm_gateway.shell.consistency import CHECKS, CHECKS_TO_SERVE
from cloakllm_gateway.shell.listen import AuthConfig, ListenConfig
from cloakllm_gateway.shell.logging import escape
from cloakllm_gateway.shell.rules import ToolConfig
from cloakllm_gateway.shell.structs import LEAST, MISSING, UNKNOWN_KEY, Invalid, build, parse

if TYPE_CHECKING:
    from cloakllm_gateway.detection.settings import Settings as DetectionSettings

#: As ``vault.key_file``: the keyring of the operating system instead of a file.
KEYRING = "keyring"

Seconds = Annotated[float, Meta(gt=0, le=86_400)]
Count = Annotated[int, Meta(ge=1, le=10_000_000)]


class Sensitive(StrEnum):
    """Who may get secrets, cards, bank accounts, national ids and birth dates back."""

    ORIGIN = "origin"
    SESSION = "session"


class UnknownToken(StrEnum):
    """What happens to a call that holds a token which was never issued."""

    REFUSE = "refuse"
    PASS = "pass"


class LogLevel(StrEnum):
    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Kind(StrEnum):
    """How a server is spoken to, in the words of the clients' own configurations."""

    STDIO = "stdio"
    HTTP = "http"
    STREAMABLE = "streamable-http"
    STREAMABLE_TOO = "streamableHttp"
    SSE = "sse"


class UpstreamConfig(Struct, frozen=True):
    """One MCP server behind the gateway, and what it may do: a program to run, or a ``url``.  Times are in seconds.

    What it may ask of the client is open to programs by default, and to others when it is granted.
    """

    command: Annotated[str, Meta(min_length=1)] | None = None
    args: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    cwd: str | None = None
    inherit_env: bool = False
    type: Kind | None = None
    url: Annotated[str, Meta(min_length=1)] | None = None
    headers: dict[str, str] = field(default_factory=dict)
    pass_headers: Annotated[tuple[str, ...], Meta(max_length=32)] = ()
    insecure: bool = False
    proxy: Annotated[str, Meta(min_length=1)] | None = None
    ca_file: Annotated[str, Meta(min_length=1)] | None = None
    startup_timeout: Seconds = 60.0
    request_timeout: Seconds = 300.0
    prefix: str | None = None
    token_scope: Scope | None = None
    categories: dict[str, Treatment] = field(default_factory=dict)
    tools: dict[str, ToolConfig] = field(default_factory=dict)
    ui: bool = False
    sampling: bool | None = None
    elicitation: bool | None = None
    exact_links: bool = False
    roots: bool | None = None
    relax_input_schema: bool = False


class DetectionConfig(Struct, frozen=True):
    """What counts as personal data; :func:`detection_settings` translates it for the engine."""

    locale: str | None = None
    locales: tuple[str, ...] = ()
    spacy_model: Annotated[str, Meta(pattern=r"^[A-Za-z]\w*$")] | None = None
    name_models: dict[
        Annotated[str, Meta(pattern=r"^([a-z]{2}|\*)$")], Annotated[str, Meta(pattern=r"^([A-Za-z]\w*|.*[/\\].*)$")]
    ] = field(default_factory=dict)
    ner_entity_types: tuple[str, ...] = ("PERSON",)
    ner_required: bool = False
    detect_emails: bool = True
    detect_phones: bool = True
    detect_ssns: bool = True
    detect_credit_cards: bool = True
    detect_api_keys: bool = True
    detect_ip_addresses: bool = True
    detect_iban: bool = True
    detect_names: bool = True
    off: tuple[str, ...] = ()
    custom_patterns: tuple[tuple[str, str], ...] = ()
    allow_list: tuple[str, ...] = ()
    deny_list: tuple[str, ...] = ()
    max_input_length: Annotated[int, Meta(ge=1)] | None = None


class FlowConfig(Struct, frozen=True, rename={"origin": "from"}):
    """One rule for values of one upstream that would go to another; ``*`` is any."""

    origin: Annotated[str, Meta(min_length=1)]
    to: Annotated[str, Meta(min_length=1)]
    action: Action
    categories: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()


class Backend(StrEnum):
    """Where values and their tokens are kept."""

    MEMORY = "memory"
    SQLITE = "sqlite"
    REDIS = "redis"


class VaultConfig(Struct, frozen=True):
    """The token store; ``ttl`` is in seconds since a value was last seen, ``key_file`` a file or ``keyring``.

    The limits count spellings of values; without one of its own an upstream may bring a quarter of all.
    """

    backend: Backend = Backend.MEMORY
    path: Annotated[str, Meta(min_length=1)] | None = None
    url: str | None = None
    namespace: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_.-]{1,64}$")] | None = None
    ttl: Annotated[float, Meta(ge=1, le=3_200_000_000)] | None = None
    key_file: Annotated[str, Meta(min_length=1)] | None = None
    max_values: Count = 1_000_000
    max_values_per_upstream: Count | None = None
    max_values_per_message: Count = 100_000


class LimitsConfig(Struct, frozen=True):
    """Sizes in bytes; depth in levels of JSON nesting; pending calls per upstream."""

    max_message_bytes: Annotated[int, Meta(ge=65_536, le=1 << 30)] = 64 * 1024 * 1024
    max_depth: Annotated[int, Meta(ge=10, le=300)] = 200
    max_pending: Count = 1000


class Fsync(StrEnum):
    """When entries of the audit log are made durable: before anything is sent, every second, or by the system."""

    ALWAYS = "always"
    INTERVAL = "interval"
    OFF = "off"


class OnAuditError(StrEnum):
    """What happens to a message whose entry can't be written."""

    WITHHOLD = "withhold"
    WARN = "warn"


class AnchorConfig(Struct, frozen=True):
    """Where each signed checkpoint is copied to: a file, or a program that reads it on standard input."""

    file: str | None = None
    command: tuple[str, ...] = ()


class CheckpointsConfig(Struct, frozen=True):
    """How often a checkpoint is signed while there are new entries, whichever comes first."""

    entries: Count = 1000
    seconds: Seconds = 900.0


class AuditConfig(Struct, frozen=True):
    """The audit log; without a ``path`` it lies in the state directory."""

    path: str | None = None
    fsync: Fsync = Fsync.INTERVAL
    keep_days: Annotated[int, Meta(ge=1, le=36_500)] = 190
    on_error: OnAuditError = OnAuditError.WITHHOLD
    checkpoint_every: CheckpointsConfig = CheckpointsConfig()
    anchor: AnchorConfig | None = None


class Config(Struct, frozen=True):
    """The whole file."""

    upstreams: dict[str, UpstreamConfig]
    sanitize: bool = True
    token_scope: Scope = Scope.SESSION
    sensitive: Sensitive = Sensitive.ORIGIN
    unknown_token: UnknownToken = UnknownToken.REFUSE
    flows: tuple[FlowConfig, ...] = ()
    groups: tuple[tuple[str, ...], ...] = ()
    raw_pii: dict[str, RawData] = field(default_factory=dict)
    mode: Mode = Mode.ENFORCE
    bridge_versions: bool = False
    tool_changes: ToolChanges = ToolChanges.LOG
    detection: DetectionConfig = DetectionConfig()
    limits: LimitsConfig = LimitsConfig()
    vault: VaultConfig = VaultConfig()
    startup_wait: Seconds = 10.0
    name_budget: Annotated[int, Meta(ge=24, le=128)] = 48
    state_dir: str | None = None
    audit: AuditConfig | Literal[False] = AuditConfig()
    listen: ListenConfig | None = None
    auth: AuthConfig | Literal[False] = AuthConfig()
    log_level: LogLevel = LogLevel.INFO


#: What people bring along from their client's configuration, and what it is here.
_FAMILIAR = {
    **dict.fromkeys(
        ("mcpServers", "servers", "context_servers", "mcp"), 'The servers of a client go under "upstreams" here'
    ),
    "inputs": "A client asks for these: here a value that is secret is a variable, ${NAME}",
}
_FAMILIAR_OF_SERVERS = {
    **dict.fromkeys(
        (
            "disabled",
            "enabled",
            "autoApprove",
            "alwaysAllow",
            "trust",
            "disabledTools",
            "description",
            "icon",
            "gallery",
        ),
        "This is for the client: leave it out",
    ),
    "timeout": 'A client\'s own: leave it out, or say "request_timeout", in seconds',
    "envFile": 'A client reads that file: here its variables go under "env"',
    **dict.fromkeys(("serverUrl", "httpUrl", "uri", "endpoint"), 'The address of a server goes under "url" here'),
    **dict.fromkeys(("transport", "transportType"), 'Did you mean "type"?'),
    "environment": 'Did you mean "env"?',
}

#: Further mistakes that are told with the first.
_FEW = 8

#: Which categories each switch of the file turns off.
SWITCHES: dict[str, tuple[str, ...]] = {
    "detect_emails": ("EMAIL",),
    "detect_phones": ("PHONE",),
    "detect_ssns": ("SSN",),
    "detect_credit_cards": ("CREDIT_CARD",),
    "detect_api_keys": ("API_KEY", "AWS_KEY", "JWT"),
    "detect_ip_addresses": ("IP_ADDRESS",),
    "detect_iban": ("IBAN",),
    "detect_names": ("PERSON",),
}


def load(path: Path, *, to_serve: bool = True) -> Config:
    """Read and check the configuration; raises :class:`ConfigError` naming file, key and the nearest known key.

    Variables are looked at ``to_serve`` only: whoever looks into the vault need not have them.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is not UTF-8 text") from None
    try:
        config = build(Config, parse(text))
        for check in (*CHECKS, *CHECKS_TO_SERVE) if to_serve else CHECKS:
            check(config)
        return _resolved(_placed(config) if to_serve else config, path.absolute().parent)
    except Invalid as error:
        where = f"{path}: {escape(error.path)}" if error.path else f"{path}"
        hints = [_advice(error), _listed(error.others)]
        raise ConfigError(f"{where}: {error.problem}", ". ".join(filter(None, hints))) from None


def _listed(errors: Sequence[Invalid]) -> str:
    """What else is wrong, in short."""
    if not errors:
        return ""
    told = [
        f"{escape(error.path)}: {error.problem}{f' ({advice})' if (advice := _advice(error)) else ''}"
        for error in errors[:_FEW]
    ]
    more = f"; and {len(errors) - _FEW} more" if len(errors) > _FEW else ""
    return f"Also wrong: {'; '.join(told)}{more}"


def _advice(error: Invalid) -> str:
    """What would be right; of what is known from a client's configuration, what it is here."""
    got = error.problem.rpartition(", got ")[2]
    match error.path.split("."):
        case ["upstreams"] if error.problem == MISSING:
            return LEAST
        case ["detection", "locale"] if got == "a list":
            return 'Several go under "locales"'
        case ["upstreams", _, "args"] if got == "a string":
            return 'Each argument is a string of its own, as in ["-y", "PACKAGE"]'
        case [key] if error.problem == UNKNOWN_KEY and key in _FAMILIAR:
            return _FAMILIAR[key]
        case ["upstreams", _, key] if error.problem == UNKNOWN_KEY and key in _FAMILIAR_OF_SERVERS:
            return _FAMILIAR_OF_SERVERS[key]
    return error.hint


def detection_settings(wanted: DetectionConfig) -> DetectionSettings:
    """``detection`` of the file as the engine takes it."""
    from cloakllm_gateway.detection.settings import ALL_LANGUAGES, NAME_MODELS, NameSettings, Settings

    names = None
    if wanted.ner_entity_types:
        models = {ALL_LANGUAGES: wanted.spacy_model} if wanted.spacy_model else dict(NAME_MODELS)
        models.update(wanted.name_models)
        names = NameSettings(tuple(models.items()), labels=wanted.ner_entity_types, required=wanted.ner_required)
    switched = (category for switch, some in SWITCHES.items() if not getattr(wanted, switch) for category in some)
    return Settings(
        locales=(*filter(None, (wanted.locale,)), *wanted.locales),
        off=frozenset((*switched, *wanted.off)),
        custom_patterns=wanted.custom_patterns,
        allow_list=frozenset(wanted.allow_list),
        deny_list=frozenset(wanted.deny_list),
        max_input_length=wanted.max_input_length,
        names=names,
    )


def _resolved(config: Config, folder: Path) -> Config:
    """The same with every relative path starting at ``folder``."""
    return replace(
        config,
        upstreams={name: _resolved_upstream(upstream, folder) for name, upstream in config.upstreams.items()},
        state_dir=_under(folder, config.state_dir),
        vault=_resolved_vault(config.vault, folder),
        audit=_resolved_audit(config, folder),
        listen=_resolved_listen(config.listen, folder),
        auth=replace(config.auth, tokens_file=_under(folder, config.auth.tokens_file)) if config.auth else False,
    )


def _placed(config: Config) -> Config:
    """The same with the variables replaced in what says where programs are.  Raises :class:`Invalid`."""
    upstreams = {}
    for name, upstream in config.upstreams.items():
        try:
            upstreams[name] = variables.placed(upstream, os.environ)
        except Invalid as error:
            raise Invalid(f"upstreams.{name}.{error.path}", error.problem, error.hint) from None
    return replace(config, upstreams=upstreams)


def _resolved_upstream(upstream: UpstreamConfig, folder: Path) -> UpstreamConfig:
    return replace(
        upstream,
        cwd=_under(folder, upstream.cwd),
        command=_resolved_command(upstream.command, folder),
        ca_file=_under(folder, upstream.ca_file),
    )


def _resolved_command(command: str | None, folder: Path) -> str | None:
    return _under(folder, command) if command is not None and _has_separator(command) else command


def _resolved_vault(vault: VaultConfig, folder: Path) -> VaultConfig:
    key_file = vault.key_file if vault.key_file == KEYRING else _under(folder, vault.key_file)
    return replace(vault, path=_under(folder, vault.path), key_file=key_file)


def _resolved_listen(listen: ListenConfig | None, folder: Path) -> ListenConfig | None:
    if listen is None:
        return None
    tls = listen.tls and replace(listen.tls, cert=str(folder / listen.tls.cert), key=str(folder / listen.tls.key))
    return replace(listen, unix=_under(folder, listen.unix), tls=tls)


def _resolved_audit(config: Config, folder: Path) -> AuditConfig | Literal[False]:
    if not config.audit:
        return False
    anchor = config.audit.anchor
    if anchor is not None:
        program = [_under(folder, word) or word if _has_separator(word) else word for word in anchor.command[:1]]
        anchor = replace(anchor, file=_under(folder, anchor.file), command=(*program, *anchor.command[1:]))
    return replace(config.audit, path=_under(folder, config.audit.path), anchor=anchor)


def _has_separator(command: str) -> bool:
    return any(separator in command for separator in (os.sep, os.altsep) if separator)


def _under(folder: Path, path: str | None) -> str | None:
    return None if path is None else str(folder / Path(path).expanduser())
