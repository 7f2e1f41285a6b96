"""The routing tables of a session: which upstream serves which tool, prompt, resource and template.

Routing is by these tables and never by taking a name apart, and it is done
before anything is restored: a hostile upstream that lists a catch-all template
must not get to see the values of somebody else's URIs.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, MutableMapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct, field

from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.protocol.headers import Declared
from cloakllm_gateway.vault import tokens

#: Resources of one upstream that a session knows; one that shows more of them loses its oldest.
MOST = 100_000


class Route(NamedTuple):
    """Whose a name is, and its name there.

    ``declared`` are the argument keys that its schema declares, ``marked`` those that headers repeat.
    """

    upstream: str
    original: str
    declared: frozenset[str] = frozenset()
    marked: Sequence[Declared] = ()


class Owner(NamedTuple):
    """Who serves a resource, and its real URI; ``contested`` if another upstream claimed it too.

    ``listed`` if its list says so, and not just some message that mentioned it.
    """

    upstream: str
    uri: str
    contested: bool = False
    listed: bool = False


class Template(NamedTuple):
    """A URI template of an upstream; ``literals`` is the text around its expressions."""

    upstream: str
    text: str
    literals: tuple[str, ...]


class Directory(Struct):
    """The routing tables of one session."""

    tools: dict[str, Route] = field(default_factory=dict)
    prompts: dict[str, Route] = field(default_factory=dict)
    templates: list[Template] = field(default_factory=list)
    _owners: dict[str, Owner] = field(default_factory=dict)
    _shown: dict[str, dict[str, str]] = field(default_factory=dict)

    def claim(self, upstream: str, real: str, shown: str, *, listed: bool = False) -> bool:
        """``upstream`` showed a resource: False if another upstream was first, and keeps it.

        What was only mentioned belongs to the first who lists it.
        """
        own = self._shown.setdefault(upstream, {})
        own.pop(real, None)  # it is the newest now
        own[real] = shown
        if len(own) > MOST:
            self._forget_oldest(upstream, own)
        key = normal(shown)
        owner = self._owners.get(key)
        if owner is None or owner.upstream == upstream:
            contested, listed = (owner.contested, owner.listed or listed) if owner else (False, listed)
            self._owners[key] = Owner(upstream, real, contested, listed)
            return True
        if listed and not owner.listed:
            self._owners[key] = Owner(upstream, real, contested=True, listed=True)
            return True
        self._owners[key] = owner._replace(contested=True)
        return False

    def _forget_oldest(self, upstream: str, own: dict[str, str]) -> None:
        key = normal(own.pop(next(iter(own))))
        if (owner := self._owners.get(key)) is not None and owner.upstream == upstream:
            del self._owners[key]

    def owner(self, uri: str) -> Owner | None:
        """Who serves the resource that the client calls ``uri``."""
        return self._owners.get(normal(uri))

    def shown(self, upstream: str) -> MutableMapping[str, str]:
        """The URIs of an upstream's resources as the client knows them, by the real one."""
        return self._shown.setdefault(upstream, {})

    def set_templates(self, listed: Iterable[tuple[str, str]], of: Container[str], order: Sequence[str]) -> None:
        """The templates ``of`` some upstreams are those that they ``listed``; who comes first in ``order`` serves."""
        new = [Template(upstream, text, _literals(text)) for upstream, text in listed]
        kept = [template for template in self.templates if template.upstream not in of]
        self.templates = sorted((*kept, *new), key=lambda template: order.index(template.upstream))

    def by_template(self, uri: str) -> str | None:
        """The first upstream with a template that ``uri`` fits."""
        for template in self.templates:
            if template.literals and _fits(template.literals, uri):
                return template.upstream
        return None

    def by_template_text(self, text: str) -> str | None:
        return next((template.upstream for template in self.templates if template.text == text), None)

    def forget(self, upstream: str) -> None:
        """Drop the routes of an upstream; the next list brings them again."""
        self.tools = {name: route for name, route in self.tools.items() if route.upstream != upstream}
        self.prompts = {name: route for name, route in self.prompts.items() if route.upstream != upstream}


def normal(uri: str) -> str:
    """``uri`` with each token in its exact form, however the client wrote it."""
    parts: list[str] = []
    done = 0
    for match in tokens.scan(uri):
        parts += (uri[done : match.start], str(match.token))
        done = match.end
    return "".join(parts) + uri[done:]


_EXPRESSION = lazy(r"\{[^{}]*\}")
_LITERAL_AUTHORITY = lazy(r"[A-Za-z][A-Za-z0-9+.-]*://[^/{}]*/")


def _literals(template: str) -> tuple[str, ...]:
    """What stands around the expressions of a URI template (RFC 6570); nothing if its scheme or authority is one."""
    return tuple(_EXPRESSION.split(template)) if _LITERAL_AUTHORITY.match(template) else ()


def _fits(literals: Sequence[str], uri: str) -> bool:
    """Whether ``uri`` is ``literals`` with something other than a query or fragment in each gap.

    Each gap is taken as short as possible; that finds a fit wherever there is
    one, in linear time.
    """
    first, *others = literals
    if not uri.startswith(first):
        return False
    if not others:
        return uri == first
    at = len(first)
    *inner, last = others
    for literal in inner:
        end = uri.find(literal, at + 1)
        if end < 0 or _QUERY.search(uri, at, end):
            return False
        at = end + len(literal)
    end = len(uri) - len(last)
    return end > at and uri.endswith(last) and not _QUERY.search(uri, at, end)


_QUERY = lazy(r"[?#]")


def declared_keys(schema: Any) -> frozenset[str]:
    """Every property name that a JSON Schema declares, at any depth."""
    names: set[str] = set()
    stack = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            properties = node.get("properties")
            if isinstance(properties, dict):
                names.update(properties)
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)
    return frozenset(names)
