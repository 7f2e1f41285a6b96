"""The headers that repeat parts of a message, in the stateless era of Streamable HTTP.

Intermediaries route by them, so a server refuses a request whose headers say
something else than its body.  They are always made from the body that is
sent, after the last change to it, and never copied from one leg to the other.

Source: MCP 2026-07-28, *Streamable HTTP*, "Request Metadata".
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, Final, NamedTuple

from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.protocol import eras
from cloakllm_gateway.protocol.jsonrpc import Number

VERSION: Final = "MCP-Protocol-Version"
METHOD: Final = "Mcp-Method"
NAME: Final = "Mcp-Name"
PARAM: Final = "Mcp-Param-"

#: The mark in a tool's input schema: the rest of the name of the header that repeats this argument.
MARK: Final = "x-mcp-header"

#: Which param ``Mcp-Name`` repeats.  Those of tasks are an extension's, and not every client sends them.
_NAMED: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_TASKS: Final = "tasks/"

_MARKABLE: Final = frozenset({"string", "integer", "boolean"})
_TOKEN = lazy(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")  # RFC 9110, section 5.6.2

#: Keywords whose values are schemas, by how they hold them.  ``properties`` is the one that a marked place may be
#: reached by; ``default``, ``const``, ``enum`` and ``examples`` hold data, where a mark is none.
_ONE: Final = (
    "items additionalProperties contains unevaluatedItems unevaluatedProperties propertyNames contentSchema"
    " not if then else"
).split()
_MANY: Final = "allOf anyOf oneOf prefixItems".split()
_NAMED_MANY: Final = "patternProperties dependentSchemas $defs definitions".split()

#: Beyond it JSON numbers are not the same number to everyone.
_SAFE: Final = 2**53 - 1


# -- values ----------------------------------------------------------------------------------------

_PLAIN = lazy(r"(?! )[ -~]*(?<! )")
_ENCODED = lazy(r"=\?base64\?(.*)\?=", re.DOTALL)
_DECIMAL = lazy(r"(-?[0-9]{1,400})(?:\.0{1,400})?")


class Damaged(ValueError):
    """A header's value that says it is encoded, and can't be decoded."""


def encoded(value: str) -> str:
    """``value`` as it may stand in a header: itself, or ``=?base64?...?=`` of its UTF-8 bytes.

    Raises ``UnicodeEncodeError`` for a lone surrogate, which no header can repeat.
    """
    if _PLAIN.fullmatch(value) and not _ENCODED.fullmatch(value):
        return value
    return f"=?base64?{base64.b64encode(value.encode()).decode()}?="


def decoded(value: str) -> str:
    """What :func:`encoded` was given.  Raises :class:`Damaged`, also for a second spelling of the same bytes."""
    found = _ENCODED.fullmatch(value)
    if found is None:
        return value
    try:
        content = base64.b64decode(found[1], validate=True)
        text = content.decode()
    except (binascii.Error, ValueError):
        text, content = "", b""
    if base64.b64encode(content).decode() != found[1]:  # out here: no context keeps the value
        raise Damaged("the header's value is not what its encoding says")
    return text


# -- which arguments a tool wants repeated ---------------------------------------------------------


class Declared(NamedTuple):
    """One argument that a header repeats: the header, and the keys that lead to the argument."""

    header: str
    path: tuple[str, ...]


def declared(schema: object) -> tuple[Declared, ...]:
    """The arguments that an input schema wants repeated; none where :func:`fault` finds something."""
    if fault(schema):
        return ()
    return tuple(Declared(PARAM + place[MARK], path) for path, place in _marked(schema) if path)


def fault(schema: object) -> str:
    """What is wrong with the marks of an input schema, empty for nothing.

    A client over HTTP must leave out a tool of whose schema this is not empty.
    """
    seen: set[str] = set()
    for path, place in _marked(schema):
        mark = place[MARK]
        if not path:
            return f"{MARK} stands where no chain of properties leads"
        if not isinstance(mark, str) or not _TOKEN.fullmatch(mark):
            return f"{MARK} is not the name of a header"
        if not isinstance(place.get("type"), str) or place["type"] not in _MARKABLE:
            return f"{MARK} marks something else than a string, an integer or a boolean"
        if mark.lower() in seen:
            return f"{MARK} gives two arguments the same header"
        seen.add(mark.lower())
    return ""


def _marked(schema: object) -> Iterator[tuple[tuple[str, ...] | None, Mapping[str, Any]]]:
    """Every schema in ``schema`` that has a mark, and the properties that lead to it, None where something else does.

    The outermost schema is reached by no property, so its path is empty.
    """
    stack: list[tuple[tuple[str, ...] | None, object]] = [((), schema)]
    while stack:
        path, place = stack.pop()
        if not isinstance(place, dict):
            continue
        if MARK in place:
            yield path, place
        for name, inner in _entries(place.get("properties")):
            stack.append((None if path is None else (*path, name), inner))
        stack.extend((None, place[keyword]) for keyword in _ONE if keyword in place)
        for keyword in _MANY:
            if isinstance(place.get(keyword), list):
                stack.extend((None, inner) for inner in place[keyword])
        for keyword in _NAMED_MANY:
            stack.extend((None, inner) for _, inner in _entries(place.get(keyword)))


def _entries(value: object) -> list[tuple[str, Any]]:
    return list(value.items()) if isinstance(value, dict) else []


# -- the headers of a message ----------------------------------------------------------------------


def mirrored(method: str, params: Mapping[str, Any], declared: Sequence[Declared] = ()) -> dict[str, str]:
    """The headers of a request or notification; ``declared`` are those of the tool that is called.

    What is absent, null, or can't be repeated (a list, a lone surrogate) has no header.
    """
    texts = ((header, _text(value)) for header, value in _repeated(method, params, declared))
    return {header: encoded(text) for header, text in texts if text is not None}


def mismatch(
    method: str, params: Mapping[str, Any], headers: Mapping[str, str], declared: Sequence[Declared] = ()
) -> str | None:
    """What of ``headers`` (names in lower case) does not repeat the message; None where all of it agrees.

    Whoever reads the headers has to refuse those that come twice.
    """
    for header, value in _repeated(method, params, declared):
        said = headers.get(header.lower())
        if said is None and header == NAME and method.startswith(_TASKS):
            continue
        if not _agree(said, value):
            return f"the header {header} does not repeat the message"
    return None


def _repeated(method: str, params: Mapping[str, Any], declared: Sequence[Declared]) -> Iterator[tuple[str, object]]:
    """Headers and the values that they repeat, None for values that are absent."""
    yield VERSION, _at(params, ("_meta", eras.VERSION))
    yield METHOD, method
    named = "taskId" if method.startswith(_TASKS) else _NAMED.get(method)
    if named is not None:
        yield NAME, params.get(named)
    for header, path in declared:
        yield header, _at(params, ("arguments", *path))


def _at(value: object, path: Sequence[str]) -> object:
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _text(value: object) -> str | None:
    """A scalar as its header says it; None for what can't be said in one."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return None if any("\ud800" <= char <= "\udfff" for char in value) else value
        case int() | Number():
            whole = _whole(value)
            if whole is not None:
                return str(whole)
            number = float(str(value))
            return repr(number) if isfinite(number) else None
    return None


def _whole(value: int | Number) -> int | None:
    """The integer that ``value`` is, however it is spelt; None for a fraction."""
    if isinstance(value, int):
        return value
    number = float(str(value))
    return int(number) if number.is_integer() and abs(number) <= _SAFE else None


def _agree(said: str | None, value: object) -> bool:
    """Whether a header says ``value``; integers are compared as numbers, so that 42.0 is 42."""
    expected = _text(value)
    if said is None or expected is None:
        return said is None and expected is None
    try:
        text = decoded(said)
    except Damaged:
        return False
    if text == expected:
        return True
    number = _DECIMAL.fullmatch(text)
    is_integer = isinstance(value, int | Number) and not isinstance(value, bool) and _whole(value) is not None
    return is_integer and number is not None and int(number[1]) == int(expected)
