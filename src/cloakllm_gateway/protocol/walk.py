"""Walk a message by its shape: collect its leaves, put new ones in their place.

A leaf is a string, a number or an object key, with the role the surface table
gives it.  Walking never changes a message; :func:`replace` returns a copy that
shares every part it did not touch.

Skips go by position in the shape and never by key name: a payload key called
``data``, ``type`` or ``blob`` is ordinary data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from cloakllm_gateway.protocol.jsonrpc import Number
from cloakllm_gateway.protocol.surface import (
    ADVERTISED,
    ANSWER,
    DATA,
    NAME,
    SCHEMA,
    SURFACE,
    Marked,
    Nested,
    Role,
    Shape,
    Tagged,
)

Path = tuple[str | int, ...]


class Leaf(NamedTuple):
    """One value that could hold personal data.

    ``path`` leads from the message part that was walked to the value; for an
    object key (``is_key``) it ends with the key itself.  ``key`` is the name
    that speaks for the value: its own object key, or that of the list it
    stands in.  ``record`` is equal for the fields of one object.
    """

    path: Path
    role: Role
    value: str | int | Number
    key: str = ""
    record: int = -1
    is_key: bool = False

    @property
    def text(self) -> str:
        return self.value if isinstance(self.value, str) else str(self.value)

    @property
    def is_number(self) -> bool:
        return not isinstance(self.value, str)


def leaves(value: Any, shape: Shape) -> list[Leaf]:
    """All leaves of ``value``, in document order, each with its role."""
    walker = _Walker()
    walker.walk(value, shape, (), "", -1)
    return walker.found


#: JSON Schema keywords whose value is text or sample data for the reader of a schema.
_SCHEMA_TEXTS = frozenset({"title", "description", "default", "enum", "const", "examples", "enumNames", "$comment"})
#: Keywords that hold a map from names of the author's choosing to schemas.
_SCHEMA_MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependentRequired"})


class _Walker:
    """Collects leaves; a class only so that the recursion need not carry its result."""

    def __init__(self) -> None:
        self.found: list[Leaf] = []
        self._records = 0

    def walk(self, value: Any, shape: Shape, path: Path, key: str, record: int) -> None:
        match shape:
            case Role():
                if shape is SCHEMA:
                    self._schema(value, path)
                else:
                    self._plain(value, shape, path, key, record)
            case list():
                if isinstance(value, list):
                    for i, item in enumerate(value):
                        self.walk(item, shape[0], (*path, i), key, record)
                else:
                    # The sampling schema allows one block where a list may stand.
                    self.walk(value, shape[0], path, key, record)
            case dict():
                if isinstance(value, dict):
                    self._object(value, shape, path)
                elif isinstance(value, list):
                    # ... and a list where one block may stand.
                    for i, item in enumerate(value):
                        self.walk(item, shape, (*path, i), key, record)
                else:
                    self._plain(value, DATA, path, key, record)
            case Tagged():
                if isinstance(value, list):
                    for i, item in enumerate(value):
                        self.walk(item, shape, (*path, i), key, record)
                else:
                    tag = value.get(shape.field) if isinstance(value, dict) else None
                    case = shape.cases.get(tag, shape.otherwise) if isinstance(tag, str) else shape.otherwise
                    self.walk(value, case, path, key, record)
            case Marked():
                marks = (mark for mark in shape.cases if isinstance(value, dict) and mark in value)
                self.walk(value, shape.cases.get(next(marks, ""), shape.otherwise), path, key, record)
            case Nested():
                self._nested(value, shape, path)

    def _object(self, value: dict[str, Any], shape: Mapping[str, Shape], path: Path) -> None:
        self._records += 1
        record = self._records
        for name, inner in value.items():
            if name in shape:
                self.walk(inner, shape[name], (*path, name), name, record)
            else:
                self.found.append(Leaf((*path, name), DATA, name, is_key=True))
                self._plain(inner, DATA, (*path, name), name, record)

    def _plain(self, value: Any, role: Role, path: Path, key: str, record: int) -> None:
        if isinstance(value, str):
            self.found.append(Leaf(path, role, value, key, record))
        elif isinstance(value, dict):
            self._records += 1
            record = self._records
            for name, inner in value.items():
                self.found.append(Leaf((*path, name), role, name, is_key=True))
                self._plain(inner, role, (*path, name), name, record)
        elif isinstance(value, list):
            for i, item in enumerate(value):
                self._plain(item, role, (*path, i), key, record)
        elif value is not None and not isinstance(value, bool):
            self.found.append(Leaf(path, role, value, key, record))

    def _schema(self, value: Any, path: Path) -> None:
        """A JSON Schema: sample data and texts are ADVERTISED, everything structural is NAME."""
        if isinstance(value, list):
            for i, item in enumerate(value):
                self._schema(item, (*path, i))
        elif isinstance(value, dict):
            for name, inner in value.items():
                at = (*path, name)
                if name in _SCHEMA_TEXTS:
                    self._plain(inner, ADVERTISED, at, name, -1)
                elif name in _SCHEMA_MAPS and isinstance(inner, dict):
                    for chosen, sub in inner.items():
                        self.found.append(Leaf((*at, chosen), NAME, chosen, is_key=True))
                        self._schema(sub, (*at, chosen))
                else:
                    self.found.append(Leaf(at, NAME, name, is_key=True))
                    self._schema(inner, at)
        elif isinstance(value, str):
            self.found.append(Leaf(path, NAME, value))
        elif value is not None and not isinstance(value, bool):
            self.found.append(Leaf(path, NAME, value))

    def _nested(self, value: Any, shape: Nested, path: Path) -> None:
        if not isinstance(value, dict):
            self._plain(value, DATA, path, "", -1)
            return
        for name, inner in value.items():
            self.found.append(Leaf((*path, name), NAME, name, is_key=True))
            at = (*path, name)
            if shape is Nested.RESULTS:
                self.walk(inner, ANSWER, at, "", -1)
                continue
            method = inner.get("method") if isinstance(inner, dict) else None
            row = SURFACE.get(method) if isinstance(method, str) else None
            self.walk(inner, {"method": NAME, "params": row.params if row else DATA}, at, "", -1)


# -- putting things back -------------------------------------------------------------------------


def replace(value: Any, edits: Mapping[tuple[Path, bool], Any]) -> Any:
    """A copy of ``value`` with the leaves at ``edits`` replaced.

    An edit's key is ``(path, is_key)``.  Order of keys stays; parts without an
    edit are shared with the original.  Raises ``KeyCollision`` if two keys of
    one object would become equal.
    """
    if not edits:
        return value
    tree: dict[str | int, Any] = {}
    for (path, is_key), new in edits.items():
        node = tree
        for step in path[:-1]:
            node = node.setdefault(step, {})
            node = node.setdefault(_INSIDE, {})
        if not path:
            return new
        node.setdefault(path[-1], {})[_KEY if is_key else _VALUE] = new
    return _replace(value, tree)


class KeyCollision(ValueError):
    """Two keys of one object would become the same key."""


_INSIDE, _KEY, _VALUE = "\0inside", "\0key", "\0value"


def _replace(value: Any, tree: Mapping[str | int, Any]) -> Any:
    if isinstance(value, list):
        return [_replaced(item, tree[i]) if i in tree else item for i, item in enumerate(value)]
    out: dict[str, Any] = {}
    for name, inner in value.items():
        edit = tree.get(name)
        new_name = name if edit is None else edit.get(_KEY, name)
        if new_name in out:
            raise KeyCollision
        out[new_name] = inner if edit is None else _replaced(inner, edit)
    if len(out) != len(value):
        raise KeyCollision
    return out


def _replaced(value: Any, edit: Mapping[str, Any]) -> Any:
    if _VALUE in edit:
        return edit[_VALUE]
    return _replace(value, edit[_INSIDE]) if _INSIDE in edit else value


def at(value: Any, path: Path) -> Any:
    """The value that ``path`` leads to."""
    for step in path:
        value = value[step]
    return value


def strings(value: Any, path: Path = ()) -> Iterator[tuple[Path, bool, str | int | Number, str]]:
    """Every string, number and key of ``value``, roles ignored: what the tripwire looks at.

    Yields ``(path, is_key, value, key it stands under)``.
    """
    stack: list[tuple[Path, Any, str]] = [(path, value, "")]
    while stack:
        here, node, key = stack.pop()
        if isinstance(node, dict):
            for name, inner in node.items():
                yield (*here, name), True, name, ""
                stack.append(((*here, name), inner, name))
        elif isinstance(node, list):
            stack.extend(((*here, i), item, key) for i, item in enumerate(node))
        elif node is not None and not isinstance(node, bool):
            yield here, False, node, key
