"""The configuration file: what may stand in it, and what must hold between its parts.

One JSON file.  Unknown keys are refused at every level, because a misspelt
``detect_emials`` that is ignored is a leak.  Nothing is expanded or taken from
the environment but where it is named: credentials of servers over HTTP, as
``${NAME}`` in ``url``, ``headers`` and ``proxy``.  Relative paths (``cwd``,
``state_dir``, ``ca_file``, the paths of ``audit``, a ``command`` with a separator in it) start at the file's own
folder, since clients start the gateway in folders of their choosing.

The file names programs that will be executed: it must come from a trusted place.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta, Struct, field
from msgspec.structs import replace

from cloakllm_gateway.core.events import CLIENT
from cloakllm_gateway.core.settings import Action, Mode, RawData, Scope, ToolChanges, Treatment
from cloakllm_gateway.errors import ConfigError
from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.shell import rules
from cloakllm_gateway.shell.listen import AuthConfig, ListenConfig, check_listen
from cloakllm_gateway.shell.logging import escape
from cloakllm_gateway.shell.rules import ToolConfig
from cloakllm_gateway.shell.structs import Invalid, build, join, nearest, parse
from cloakllm_gateway.vault.tokens import is_category

if TYPE_CHECKING:
    from cloakllm_gateway.detection.settings import Settings as DetectionSettings

#: Names with a meaning of their own in policies, logs and the audit.
RESERVED_NAMES = frozenset({CLIENT, "gateway", "*"})

_UPSTREAM_NAME = lazy(r"[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*", re.ASCII)
_NAME_RULE = "Letters, digits and hyphens, joined by single underscores"
_CATEGORY_RULE = "Capitals and digits joined by single underscores, the last part not a number"
#: The entity types of the default model (OntoNotes 5).
NAME_LABELS = frozenset(
    "PERSON NORP FAC ORG GPE LOC PRODUCT EVENT WORK_OF_ART LAW LANGUAGE DATE TIME PERCENT MONEY QUANTITY ORDINAL"
    " CARDINAL".split()
)
#: As ``vault.key_file``: the keyring of the operating system instead of a file.
KEYRING = "keyring"
#: What a shortened name needs beside its prefix: the separator, an underscore and a hash.
_SHORTEST_NAME = len("__") + 1 + 8

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
    roots: bool | None = None
    relax_input_schema: bool = False


class DetectionConfig(Struct, frozen=True):
    """What counts as personal data; :func:`detection_settings` translates it for the engine."""

    locale: Annotated[str, Meta(pattern=r"^[a-z]{2}([_-][A-Za-z]{2})?$")] | None = None
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
    "mcpServers": 'The servers of a client go under "upstreams" here',
    "servers": 'The servers of a client go under "upstreams" here',
}

#: Which categories each switch of the file turns off.
SWITCHES: dict[str, tuple[str, ...]] = {
    "detect_emails": ("EMAIL",),
    "detect_phones": ("PHONE",),
    "detect_ssns": ("SSN",),
    "detect_credit_cards": ("CREDIT_CARD",),
    "detect_api_keys": ("API_KEY", "AWS_KEY", "JWT"),
    "detect_ip_addresses": ("IP_ADDRESS",),
    "detect_iban": ("IBAN",),
}


def load(path: Path) -> Config:
    """Read and check the configuration; raises :class:`ConfigError` naming file, key and the nearest known key."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is not UTF-8 text") from None
    try:
        config = build(Config, parse(text))
        for check in _CHECKS:
            check(config)
    except Invalid as error:
        where = f"{path}: {escape(error.path)}" if error.path else f"{path}"
        raise ConfigError(
            f"{where}: {error.problem}", _FAMILIAR.get(error.path.rpartition(".")[2], error.hint)
        ) from None
    return _resolved(config, path.absolute().parent)


def detection_settings(wanted: DetectionConfig) -> DetectionSettings:
    """``detection`` of the file as the engine takes it."""
    from cloakllm_gateway.detection.settings import ALL_LANGUAGES, NAME_MODELS, NameSettings, Settings

    names = None
    if wanted.ner_entity_types:
        models = {ALL_LANGUAGES: wanted.spacy_model} if wanted.spacy_model else dict(NAME_MODELS)
        models.update(wanted.name_models)
        names = NameSettings(tuple(models.items()), labels=wanted.ner_entity_types, required=wanted.ner_required)
    return Settings(
        locales=(wanted.locale,) if wanted.locale else (),
        off=frozenset(
            category for switch, switched in SWITCHES.items() if not getattr(wanted, switch) for category in switched
        ),
        custom_patterns=wanted.custom_patterns,
        allow_list=frozenset(wanted.allow_list),
        deny_list=frozenset(wanted.deny_list),
        max_input_length=wanted.max_input_length,
        names=names,
    )


# -- what must hold between the parts ----------------------------------------------------------------


def _check_upstream_names(config: Config) -> None:
    if not config.upstreams:
        raise Invalid("upstreams", "is empty", "Name at least one server to put behind the gateway")
    for name in config.upstreams:
        path = join("upstreams", name)
        if name in RESERVED_NAMES:
            raise Invalid(path, "is a reserved name", f"Reserved: {', '.join(sorted(RESERVED_NAMES))}")
        if not _UPSTREAM_NAME.fullmatch(name):
            raise Invalid(path, "is not a valid upstream name", _NAME_RULE)


def _check_prefixes(config: Config) -> None:
    owners: dict[str, str] = {}
    for name, upstream in config.upstreams.items():
        path = join("upstreams", name) if upstream.prefix is None else f"upstreams.{name}.prefix"
        prefix = name if upstream.prefix is None else upstream.prefix
        if not prefix and len(config.upstreams) > 1:
            raise Invalid(path, "may be empty only when there is a single upstream")
        if prefix and not _UPSTREAM_NAME.fullmatch(prefix):
            raise Invalid(path, "is not a valid prefix", _NAME_RULE)
        if len(prefix) + _SHORTEST_NAME > config.name_budget:
            room = config.name_budget - _SHORTEST_NAME
            raise Invalid(path, f"is too long for a name_budget of {config.name_budget}", f"At most {room} characters")
        if prefix in owners:
            raise Invalid(path, f'gives the same prefix as upstream "{owners[prefix]}"', "Give one of them a prefix")
        owners[prefix] = name


def _check_policy(config: Config) -> None:
    """Flows, groups and raw_pii name upstreams; what they name has to exist."""
    for number, flow in enumerate(config.flows):
        for key, name in (("from", flow.origin), ("to", flow.to)):
            _check_reference(config, name, f"flows[{number}].{key}", also=("*",))
        for category in flow.categories:
            _check_known_category(config, category, f"flows[{number}].categories")
    seen: set[str] = set()
    for number, group in enumerate(config.groups):
        for name in group:
            _check_reference(config, name, f"groups[{number}]")
            if name in seen:
                raise Invalid(f"groups[{number}]", f'names the upstream "{name}" a second time')
            seen.add(name)
    for name in config.raw_pii:
        _check_reference(config, name, f"raw_pii.{name}", also=("default",))


def _check_reference(config: Config, name: str, path: str, also: tuple[str, ...] = ()) -> None:
    if name not in config.upstreams and name not in also:
        raise Invalid(path, "names no upstream", nearest(name, [*config.upstreams, *also]))


#: What only one of the two kinds of upstream has.
_OF_COMMANDS = ("args", "env", "cwd", "inherit_env")
_OF_URLS = ("headers", "insecure", "proxy", "ca_file")


def _check_ways(config: Config) -> None:
    """Each upstream is a program or a URL, and says nothing that is about the other."""
    for name, upstream in config.upstreams.items():
        path = join("upstreams", name)
        if (upstream.command is None) == (upstream.url is None):
            problem = "has neither a command nor a url" if upstream.url is None else "has both a command and a url"
            raise Invalid(path, problem, "A server is started by its command, or reached at its url")
        way, others = ("url", _OF_COMMANDS) if upstream.url else ("command", _OF_URLS)
        for key in others:
            if getattr(upstream, key):
                raise Invalid(f"{path}.{key}", f"means nothing with a {way}")
        if upstream.type is not None and (upstream.type is Kind.STDIO) != (way == "command"):
            raise Invalid(f"{path}.type", f"contradicts the {way}")


def _check_targets(config: Config) -> None:
    for name, upstream in config.upstreams.items():
        if upstream.url is not None:
            from cloakllm_gateway.shell.remote.target import target

            try:
                target(upstream, os.environ)
            except Invalid as error:
                raise Invalid(f"upstreams.{name}.{error.path}", error.problem, error.hint) from None


def _check_environments(config: Config) -> None:
    for name, upstream in config.upstreams.items():
        for variable, value in upstream.env.items():
            if not variable or "=" in variable or "\0" in variable + value:
                raise Invalid(f"upstreams.{name}.env", "holds a name or value no environment can have")


def _check_categories(config: Config) -> None:
    for name, upstream in config.upstreams.items():
        for category in upstream.categories:
            _check_known_category(config, category, f"upstreams.{name}.categories.{category}")
        rules.check(upstream.tools, f"upstreams.{name}.tools")
        for glob, said in upstream.tools.items():
            for category in said.categories:
                _check_known_category(config, category, f"upstreams.{name}.tools.{glob}.categories.{category}")


def _check_known_category(config: Config, category: str, path: str) -> None:
    from cloakllm_gateway.detection.categories import NAMES

    own = (name for name, _ in config.detection.custom_patterns)
    known = {*NAMES, *NAME_LABELS, *config.detection.ner_entity_types, *own}
    if category not in known:
        raise Invalid(path, "unknown category", nearest(category, sorted(known)))


def _check_category(name: str, path: str) -> None:
    if not is_category(name):
        raise Invalid(path, "is not a valid category name", _CATEGORY_RULE)


def _check_patterns(config: Config) -> None:
    if not config.detection.custom_patterns:
        return
    import re2  # only where there is something to compile

    options = re2.Options()
    options.log_errors = False
    for i, (category, pattern) in enumerate(config.detection.custom_patterns):
        path = f"detection.custom_patterns[{i}]"
        _check_category(category, f"{path}[0]")
        if category == "LITERAL":
            raise Invalid(f"{path}[0]", "is a reserved category name")
        try:
            compiled = re2.compile(pattern, options)
        except re2.error as error:
            raise Invalid(f"{path}[1]", f"is not a pattern of the linear engine: {_reason(error)}") from None
        if compiled.search("") is not None:
            raise Invalid(f"{path}[1]", "matches the empty text, so it would match everywhere")


def _check_labels(config: Config) -> None:
    for i, label in enumerate(config.detection.ner_entity_types):
        path = f"detection.ner_entity_types[{i}]"
        _check_category(label, path)
        if config.detection.spacy_model is None and label not in NAME_LABELS:
            raise Invalid(path, "is no entity type of the default model", nearest(label, sorted(NAME_LABELS)))


#: Which stores a key of ``vault`` is for.
_LASTING = frozenset({Backend.SQLITE, Backend.REDIS})
_VAULT_KEYS = {"path": {Backend.SQLITE}, "url": {Backend.REDIS}, "namespace": _LASTING, "key_file": _LASTING}


def _check_vault(config: Config) -> None:
    vault = config.vault
    for key, backends in _VAULT_KEYS.items():
        if getattr(vault, key) is not None and vault.backend not in backends:
            hint = f"It is for the backend {' or '.join(sorted(backends))}"
            raise Invalid(f"vault.{key}", f"means nothing with the backend {vault.backend}", hint)
    if vault.backend is Backend.REDIS and not (vault.url or "").startswith(("redis://", "rediss://")):
        raise Invalid("vault.url", "is not the address of a Redis", "Like redis://localhost:6379/0, or rediss://")


def _check_lists(config: Config) -> None:
    for name in ("allow_list", "deny_list"):
        for i, text in enumerate(getattr(config.detection, name)):
            if not text.strip():
                raise Invalid(f"detection.{name}[{i}]", "is empty")


def _check_names_available(config: Config) -> None:
    if not config.detection.ner_required:
        return
    names = detection_settings(config.detection).names
    if names is None:
        raise Invalid("detection.ner_required", "contradicts an empty ner_entity_types")
    from cloakllm_gateway.shell.name_models import INSTALL, available

    if reason := available(names):
        raise Invalid("detection.ner_required", f"is on, but {reason}", INSTALL)


def _check_anchor(config: Config) -> None:
    anchor = config.audit.anchor if config.audit else None
    if anchor is not None and bool(anchor.file) == bool(anchor.command):
        raise Invalid("audit.anchor", "has to name either a file or a command")


def _check_listen(config: Config) -> None:
    check_listen(config.listen, config.auth)


_CHECKS: tuple[Callable[[Config], None], ...] = (
    _check_upstream_names,
    _check_prefixes,
    _check_ways,
    _check_targets,
    _check_environments,
    _check_categories,
    _check_policy,
    _check_patterns,
    _check_labels,
    _check_lists,
    _check_vault,
    _check_names_available,
    _check_anchor,
    _check_listen,
)


def _reason(error: Exception) -> str:
    reason = error.args[0] if error.args else ""
    return reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)


def _resolved(config: Config, folder: Path) -> Config:
    """The same with every relative path starting at ``folder``."""
    upstreams = {
        name: replace(
            upstream,
            cwd=_under(folder, upstream.cwd),
            command=_resolved_command(upstream.command, folder),
            ca_file=_under(folder, upstream.ca_file),
        )
        for name, upstream in config.upstreams.items()
    }
    return replace(
        config,
        upstreams=upstreams,
        state_dir=_under(folder, config.state_dir),
        vault=_resolved_vault(config.vault, folder),
        audit=_resolved_audit(config, folder),
        listen=_resolved_listen(config.listen, folder),
        auth=replace(config.auth, tokens_file=_under(folder, config.auth.tokens_file)) if config.auth else False,
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
