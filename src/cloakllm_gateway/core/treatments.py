"""What is done with values on their way to the model: the rules of an upstream, of its tools, and of their fields.

A rule for a *category* is about what detection finds: an upstream has some, and
each of its tools may have its own.  A rule for a *field*, a path into the
structured result of a tool, is about whatever stands there: the person who
wrote it knows better than any pattern.  A field's rule goes before a tool's, a
tool's before the upstream's; of several tools' rules for one category the
strictest counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import NamedTuple

from cloakllm_gateway.core.jsonpath import Paths
from cloakllm_gateway.core.settings import ToolRules, Treatment, UpstreamSettings
from cloakllm_gateway.vault.code import Language

#: The laxest first.
_ORDER = (Treatment.PASS, Treatment.TOKENIZE, Treatment.REDACT, Treatment.BLOCK)
_STRICTNESS = {how: weight for weight, how in enumerate(_ORDER)}


class Rule(NamedTuple):
    """What is done, and the place in the configuration that says so."""

    how: Treatment
    name: str


class Treatments(NamedTuple):
    """The rules for one message: by category, and by the path of a field (None where there are none of them)."""

    categories: Mapping[str, Rule] = {}
    fields: Paths[Rule] | None = None


def treatments(upstream: UpstreamSettings, tool: str = "") -> Treatments:
    """The rules for a message of ``upstream``; ``tool`` is the upstream's own name of the tool that it answers."""
    place = f"upstreams.{upstream.name}"
    categories = {name: Rule(how, f"{place}.categories.{name}") for name, how in upstream.categories.items()}
    own: dict[str, Rule] = {}
    fields: list[tuple[str, Rule]] = []
    for rules in tool_rules(upstream, tool):
        at = f"{place}.tools.{rules.glob}"
        for name, how in rules.categories.items():
            rule = Rule(how, f"{at}.categories.{name}")
            own[name] = stricter(own.get(name, rule), rule)
        fields += [(path, Rule(how, f"{at}.paths.{path}")) for path, how in rules.paths.items()]
    return Treatments({**categories, **own}, Paths(fields, _weight) if fields else None)


def parameters(upstream: UpstreamSettings, tool: str) -> Mapping[str, Language]:
    """What arguments of a tool are declared to hold, by their names; of several declarations the first counts."""
    if not upstream.tools:
        return {}
    return {name: holds for rules in reversed(tool_rules(upstream, tool)) for name, holds in rules.parameters.items()}


def tool_rules(upstream: UpstreamSettings, tool: str) -> list[ToolRules]:
    """The rules that the configuration has for a tool; for none where there is no tool."""
    return [rules for rules in upstream.tools if tool and fnmatchcase(tool, rules.glob)]


def stricter(one: Rule, other: Rule) -> Rule:
    return max(one, other, key=_weight)


def _weight(rule: Rule) -> int:
    return _STRICTNESS[rule.how]
