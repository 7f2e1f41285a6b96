"""Walk a message by its shape: collect its leaves, put new ones in their place.

A leaf is a string, a number or an object key, with the role the surface table
gives it.  Walking never changes a message; :func:`replace` returns a copy that
shares every part it did not touch.

Skips go by position in the shape and never by key name: a payload key called
``data``, ``type`` or ``blob`` is ordinary data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from cloakllm_gateway.protocol.jsonrpc import Number
from cloakllm_gateway.protocol.surface import (
    ADVERTISED,
    ANSWER,
    DATA,
    LINK,
    NAME,
    SCHEMA,
    SURFACE,
    Marked,
    Nested,
    Role,
    Shape,
    Tagged,
)
from cloakllm_gateway.spans import WRAPPERS, are_columns

Path = tuple[str | int, ...]


class Leaf(NamedTuple):
    """One value that could hold personal data.

    ``path`` leads from the message part that was walked to the value; for an
    object key (``is_key``) it ends with the key itself.  ``key`` is the name
    that speaks for the value: its own object key, that of the list it stands
    in, or the name of its column where lists in a list have one.  ``record``
    is equal for the fields of one object.  That object stands under the key
    ``parent`` itself, in the record ``above``; what it is only wrapped into
    (:data:`.spans.WRAPPERS`) is left out.
    """

    path: Path
    role: Role
    value: str | int | Number
    key: str = ""
    record: int = -1
    is_key: bool = False
    parent: str = ""
    above: int = -1

    @property
    def text(self) -> str:
        return self.value if isinstance(self.value, str) else str(self.value)

    @property
    def is_number(self) -> bool:
        return not isinstance(self.value, str)


#: ``Leaf`` from a tuple of all its fields; a large result has a million of them, and this is half the price.
_leaf: Callable[[tuple[Path, Role, str | int | Number, str, int, bool, str, int]], Leaf] = partial(tuple.__new__, Leaf)


def leaves(value: Any, shape: Shape) -> list[Leaf]:
    """All leaves of ``value``, in document order, each with its role.

    A name that the shape knows is no leaf; everything else is one, exactly
    once, whether or not it has the type that the shape expects.
    """
    walker = _Walker()
    walker.walk(value, shape, (), "", -1)
    return walker.found


#: JSON Schema keywords whose value is text or sample data for the reader of a schema.
_SCHEMA_TEXTS = frozenset({"title", "description", "default", "enum", "const", "examples", "enumNames", "$comment"})
#: Keywords that hold a map from names of the author's choosing to schemas.
_SCHEMA_MAPS = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependentRequired"}
)


class _Walker:
    """Collects leaves; a class only so that the recursion need not carry its result."""

    def __init__(self) -> None:
        self.found: list[Leaf] = []
        self._records = 0

    def walk(self, value: Any, shape: Shape, path: Path, key: str, record: int) -> None:
        while isinstance(shape, (Tagged, Marked)) and isinstance(value, dict):
            shape = _member(value, shape)
        if isinstance(shape, dict) and isinstance(value, dict):
            self._object(value, shape, path, key, record)
        elif isinstance(shape, Role):
            if shape is SCHEMA:
                self._schema(value, path)
            else:
                self._plain(value, shape, path, key, record)
        elif isinstance(value, list):
            # Sampling allows one block where a list may stand, and a list where one block may.
            inner = shape[0] if isinstance(shape, list) else shape
            for i, item in enumerate(value):
                self.walk(item, inner, (*path, i), key, record)
        elif isinstance(shape, list):
            self.walk(value, shape[0], path, key, record)
        elif not isinstance(value, dict):
            self._plain(value, DATA, path, key, record)
        else:
            assert isinstance(shape, Nested)  # all others have been asked about
            self._nested(value, shape, path)

    def _object(self, value: dict[str, Any], shape: Mapping[str, Shape], path: Path, parent: str, above: int) -> None:
        self._records += 1
        record = self._records
        for name, inner in value.items():
            here = (*path, name)
            known = shape.get(name)
            if known is None:
                self._key(here, DATA)
                known = DATA
            if not isinstance(known, Role) or known is SCHEMA:
                self.walk(inner, known, here, name, record)
            elif type(inner) is str:  # the short way
                self.found.append(_leaf((here, known, inner, name, record, False, parent, above)))
            else:  # a link is one string
                self._plain(inner, DATA if known is LINK else known, here, name, record, parent, above)

    def _plain(
        self, value: Any, role: Role, path: Path, key: str, record: int, parent: str = "", above: int = -1
    ) -> None:
        """A value in which no shape has a say.  Strings in objects are most of any message: they go the short way."""
        if isinstance(value, dict):
            self._records += 1
            own = self._records
            add = self.found.append
            for name, inner in value.items():
                here = (*path, name)
                add(_leaf((here, role, name, "", -1, True, "", -1)))
                if type(inner) is str:
                    add(_leaf((here, role, inner, name, own, False, key, record)))
                elif type(inner) is list and inner and type(inner[0]) is list:
                    self._lists(inner, role, here, name, own, _columns(value) or inner[0])
                elif name in WRAPPERS and key and _holds_objects(inner):
                    self._plain(inner, role, here, key, record)
                else:
                    self._plain(inner, role, here, name, own, key, record)
        elif isinstance(value, list):
            if value and type(value[0]) is list:
                self._lists(value, role, path, key, record, value[0])
                return
            for i, item in enumerate(value):
                self._plain(item, role, (*path, i), key, record, parent, above)
        elif value is not None and not isinstance(value, bool):
            self.found.append(_leaf((path, role, value, key, record, False, parent, above)))

    def _lists(
        self, lists: Sequence[Any], role: Role, path: Path, key: str, record: int, columns: Sequence[Any]
    ) -> None:
        """Lists in a list; of those that have a cell for each column every one is a record."""
        are_named = are_columns(columns)
        for i, cells in enumerate(lists):
            if are_named and cells is not columns and type(cells) is list and len(cells) == len(columns):
                self._records += 1
                row = self._records
                for j, cell in enumerate(cells):
                    self._plain(cell, role, (*path, i, j), columns[j], row, key, record)
            else:
                self._plain(cells, role, (*path, i), key, record)

    def _key(self, path: Path, role: Role) -> None:
        self.found.append(_leaf((path, role, str(path[-1]), "", -1, True, "", -1)))

    def _schema(self, value: Any, path: Path) -> None:
        """A JSON Schema: sample data and texts are ADVERTISED, everything structural is NAME."""
        if isinstance(value, list):
            for i, item in enumerate(value):
                self._schema(item, (*path, i))
        elif isinstance(value, dict):
            for name, inner in value.items():
                here = (*path, name)
                if name in _SCHEMA_TEXTS:
                    self._plain(inner, ADVERTISED, here, name, -1)
                elif name in _SCHEMA_MAPS and isinstance(inner, dict):
                    for chosen, sub in inner.items():
                        self._key((*here, chosen), NAME)
                        self._schema(sub, (*here, chosen))
                else:
                    self._key(here, NAME)
                    self._schema(inner, here)
        else:
            self._plain(value, NAME, path, "", -1)

    def _nested(self, value: dict[str, Any], shape: Nested, path: Path) -> None:
        for name, inner in value.items():
            here = (*path, name)
            self._key(here, NAME)
            self.walk(inner, ANSWER if shape is Nested.RESULTS else _request(inner), here, "", -1)


def _holds_objects(value: Any) -> bool:
    return type(value) is dict or (type(value) is list and bool(value) and type(value[0]) is dict)


#: What an object with rows calls the list of their columns.
_COLUMNS = frozenset(("columns", "cols", "header", "headers", "fields", "columnnames"))


def _columns(value: Mapping[str, Any]) -> Sequence[Any]:
    """The names of the columns that an object has beside their rows; none if it has not."""
    named = (inner for name, inner in value.items() if name.lower() in _COLUMNS and isinstance(inner, list))
    return next((names for names in named if are_columns(names)), ())


def _member(value: Mapping[str, Any], union: Tagged | Marked) -> Shape:
    """The member of ``union`` that ``value`` is."""
    if isinstance(union, Marked):
        return next((case for mark, case in union.cases.items() if mark in value), union.otherwise)
    tag = value.get(union.field)
    return union.cases.get(tag, union.otherwise) if isinstance(tag, str) else union.otherwise


def _request(value: Any) -> Shape:
    """The shape of a whole request inside a result."""
    method = value.get("method") if isinstance(value, dict) else None
    row = SURFACE.get(method) if isinstance(method, str) else None
    return {"method": NAME, "params": DATA if row is None else row.params}


# -- putting things back -------------------------------------------------------------------------


class KeyCollision(ValueError):
    """Two keys of one object would become the same key."""


class _Edit:
    """What becomes of one place: its key, its value, or places inside it."""

    __slots__ = ("inside", "key", "value")

    def __init__(self) -> None:
        self.key: str | None = None
        self.value: Any = _KEEP
        self.inside: dict[str | int, _Edit] = {}


_KEEP = object()


def replace(value: Any, edits: Mapping[tuple[Path, bool], Any]) -> Any:
    """A copy of ``value`` with the leaves at ``edits`` replaced.

    An edit's key is ``(path, is_key)``.  Order of keys stays; parts without an
    edit are shared with the original.  Raises ``KeyCollision`` if two keys of
    one object would become equal.
    """
    if not edits:
        return value
    root = _Edit()
    for (path, is_key), new in edits.items():
        place = root
        for step in path:
            inner = place.inside.get(step)
            if inner is None:
                inner = place.inside[step] = _Edit()
            place = inner
        if is_key:
            place.key = new
        else:
            place.value = new
    return _replaced(value, root)


def _replaced(value: Any, edit: _Edit) -> Any:
    if edit.value is not _KEEP:
        return edit.value
    inside = edit.inside
    if not inside:
        return value
    if isinstance(value, list):
        items = list(value)
        for i, inner in inside.items():
            items[i] = _replaced(value[i], inner)  # type: ignore[index]  # a list's steps are integers
        return items
    out: dict[str, Any] = {}
    for name, inner in value.items():
        found = inside.get(name)
        if found is None:
            new_name = name
        else:
            new_name = name if found.key is None else found.key
            inner = _replaced(inner, found)
        if new_name in out:
            raise KeyCollision
        out[new_name] = inner
    return out


def at(value: Any, path: Path) -> Any:
    """The value that ``path`` leads to."""
    for step in path:
        value = value[step]
    return value


#: A path, whether it leads to a key, and the key or value there.
Standing = tuple[Path, bool, str | int | Number]


def strings(value: Any) -> list[Standing]:
    """Every string, number and key of ``value``, roles ignored: what the tripwire looks at."""
    found: list[Standing] = []
    _gather(value, (), found)
    return found


def _gather(value: Any, path: Path, found: list[Standing]) -> None:
    if isinstance(value, dict):
        for name, inner in value.items():
            here = (*path, name)
            found.append((here, True, name))
            if type(inner) is str:
                found.append((here, False, inner))
            else:
                _gather(inner, here, found)
    elif isinstance(value, list):
        for i, item in enumerate(value):
            _gather(item, (*path, i), found)
    elif value is not None and not isinstance(value, bool):
        found.append((path, False, value))
