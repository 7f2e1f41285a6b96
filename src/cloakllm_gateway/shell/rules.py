"""What a configuration may say about the tools of an upstream, and its translation for the core."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct, field

from cloakllm_gateway.core import jsonpath
from cloakllm_gateway.core.settings import ToolRules, Treatment
from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.shell.structs import Invalid
from cloakllm_gateway.vault.code import Language

#: Characters of names of tools, and the two that stand for any of them.
_GLOB = lazy(r"[A-Za-z0-9_./*?-]{1,128}", re.ASCII)


class ToolConfig(Struct, frozen=True):
    """Rules for the tools whose own name matches a pattern.

    ``categories``: what is done with values of a category.  ``paths``: what is
    done with fields of the structured result.  ``parameters``: what arguments
    of some names hold.
    """

    categories: dict[str, Treatment] = field(default_factory=dict)
    paths: dict[str, Treatment] = field(default_factory=dict)
    parameters: dict[str, Language] = field(default_factory=dict)


def check(tools: Mapping[str, ToolConfig], where: str) -> None:
    """Raises :class:`Invalid` for a pattern or a path that can't be read; ``where`` is the place of ``tools``."""
    for glob, rules in tools.items():
        if not _GLOB.fullmatch(glob):
            hint = "Letters, digits and _ . / - of the tool's own name; * is any text, ? any character"
            raise Invalid(f"{where}.{glob}", "is not a pattern for names of tools", hint)
        for path in rules.paths:
            try:
                jsonpath.parse(path)
            except ValueError as error:
                hint = "Like $.rows[*].city, $['first name'], $..email; no filters and no slices"
                raise Invalid(f"{where}.{glob}.paths.{path}", f"is not a path: {error}", hint) from None
        for parameter in rules.parameters:
            if not parameter or parameter.startswith("$"):
                raise Invalid(f"{where}.{glob}.parameters.{parameter}", "is not the name of an argument")


def tool_rules(tools: Mapping[str, ToolConfig]) -> tuple[ToolRules, ...]:
    """``tools`` as the core takes them."""
    return tuple(ToolRules(glob, said.categories, said.paths, said.parameters) for glob, said in tools.items())
