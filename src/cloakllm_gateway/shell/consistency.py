"""What must hold between the parts of a configuration, each part being what it may be by itself.

Every check raises :class:`Invalid` with the path of what is wrong.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from cloakllm_gateway.core.events import CLIENT
from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.shell import rules, variables
from cloakllm_gateway.shell.listen import check_listen
from cloakllm_gateway.shell.structs import Invalid, join, nearest
from cloakllm_gateway.vault.tokens import is_category

if TYPE_CHECKING:
    from cloakllm_gateway.shell.config import Config

#: Names with a meaning of their own in policies, logs and the audit.
RESERVED_NAMES = frozenset({CLIENT, "gateway", "*"})

_UPSTREAM_NAME = lazy(r"[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*", re.ASCII)
_NAME_RULE = "Letters, digits and hyphens, joined by single underscores"
_CATEGORY_RULE = "Capitals and digits joined by single underscores, the last part not a number"
_LOCALE_RULE = 'Write a language, or a language and a country, like "de" or "de_AT"'
#: The entity types of the default model (OntoNotes 5).
NAME_LABELS = frozenset(
    "PERSON NORP FAC ORG GPE LOC PRODUCT EVENT WORK_OF_ART LAW LANGUAGE DATE TIME PERCENT MONEY QUANTITY ORDINAL"
    " CARDINAL".split()
)
#: What a shortened name needs beside its prefix: the separator, an underscore and a hash.
_SHORTEST_NAME = len("__") + 1 + 8


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
_OF_URLS = ("headers", "pass_headers", "insecure", "proxy", "ca_file")


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
        if upstream.type is not None and (upstream.type == "stdio") != (way == "command"):
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
        try:
            variables.started(upstream, os.environ)
        except Invalid as error:
            raise Invalid(f"upstreams.{name}.{error.path}", error.problem, error.hint) from None
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
    _check_among(category, known, path)


def _check_among(category: str, known: Collection[str], path: str) -> None:
    if category not in known:
        hint = nearest(category, sorted(known)) or "docs/categories.md lists them all"
        raise Invalid(path, "unknown category", hint)


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
_LASTING = ("sqlite", "redis")
_VAULT_KEYS = {"path": ("sqlite",), "url": ("redis",), "namespace": _LASTING, "key_file": _LASTING}


def _check_vault(config: Config) -> None:
    vault = config.vault
    for key, backends in _VAULT_KEYS.items():
        if getattr(vault, key) is not None and vault.backend not in backends:
            hint = f"It is for the backend {' or '.join(sorted(backends))}"
            raise Invalid(f"vault.{key}", f"means nothing with the backend {vault.backend}", hint)
    if vault.backend == "redis" and not (vault.url or "").startswith(("redis://", "rediss://")):
        raise Invalid("vault.url", "is not the address of a Redis", "Like redis://localhost:6379/0, or rediss://")


def _check_locales(config: Config) -> None:
    detection = config.detection
    wanted = [("detection.locale", detection.locale)] if detection.locale is not None else []
    wanted += [(f"detection.locales[{i}]", locale) for i, locale in enumerate(detection.locales)]
    for path, locale in wanted:
        check_locale(locale, path)


def check_locale(locale: str, path: str) -> None:
    from cloakllm_gateway.detection.locales import meant, region

    if region(locale) is None:
        near = meant(locale)
        hint = f'Did you mean "{near}"?' if near else _LOCALE_RULE
        raise Invalid(path, "is no locale that is known here", hint)


def _check_switches(config: Config) -> None:
    from cloakllm_gateway.detection.categories import NAMES

    for i, category in enumerate(config.detection.off):
        _check_among(category, NAMES, f"detection.off[{i}]")


def _check_lists(config: Config) -> None:
    for name in ("allow_list", "deny_list"):
        for i, text in enumerate(getattr(config.detection, name)):
            if not text.strip():
                raise Invalid(f"detection.{name}[{i}]", "is empty")


def _check_names_available(config: Config) -> None:
    if not config.detection.ner_required:
        return
    from cloakllm_gateway.shell.config import detection_settings

    names = detection_settings(config.detection).names
    if names is None:
        raise Invalid("detection.ner_required", "contradicts an empty ner_entity_types")
    from cloakllm_gateway.shell.installed_models import available, remedy

    if reason := available(names):
        raise Invalid("detection.ner_required", f"is on, but {reason}", remedy(names))


def _check_anchor(config: Config) -> None:
    anchor = config.audit.anchor if config.audit else None
    if anchor is not None and bool(anchor.file) == bool(anchor.command):
        raise Invalid("audit.anchor", "has to name either a file or a command")


def _check_listen(config: Config) -> None:
    check_listen(config.listen, config.auth)


CHECKS: tuple[Callable[[Config], None], ...] = (
    _check_upstream_names,
    _check_prefixes,
    _check_ways,
    _check_categories,
    _check_policy,
    _check_patterns,
    _check_labels,
    _check_lists,
    _check_locales,
    _check_switches,
    _check_vault,
    _check_names_available,
    _check_anchor,
    _check_listen,
)

#: Those of what the environment says, which may be another one where nothing is started.
CHECKS_TO_SERVE: tuple[Callable[[Config], None], ...] = (_check_targets, _check_environments)


def _reason(error: Exception) -> str:
    reason = error.args[0] if error.args else ""
    return reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
