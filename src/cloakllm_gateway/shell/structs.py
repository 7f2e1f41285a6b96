"""Plain JSON values into frozen msgspec structs, with errors a person can act on.

msgspec's own decoder names neither the key of a mapping nor the nearest known
key, and shows the value of a wrong enum.  Here every error names the whole path
(``upstreams.crm.comand``), says what was expected and what type was found, and
never shows a value: configurations hold credentials.

A type is a struct, ``dict[str, T]``, ``tuple[T, ...]``, a tuple of fixed
length, a ``StrEnum``, ``T | None``, ``T | Literal[False]``, or a scalar with msgspec constraints.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, NoReturn, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

T = TypeVar("T")


class Invalid(Exception):
    """A value does not fit: ``path`` says where, ``problem`` what is wrong, ``hint`` what would be right.

    ``others`` are what else does not fit beside it.
    """

    def __init__(self, path: str, problem: str, hint: str = "") -> None:
        super().__init__(path, problem)
        self.path = path
        self.problem = problem
        self.hint = hint
        self.others: Sequence[Invalid] = ()


class _Mistakes:
    """What does not fit in one value, so that a person can mend it all at once."""

    def __init__(self) -> None:
        self._found: list[Invalid] = []

    def add(self, path: str, problem: str, hint: str = "") -> None:
        self._found.append(Invalid(path, problem, hint))

    def build(self, kind: Any, value: Any, path: str) -> Any:
        """The part as a ``kind``; nothing where it is none."""
        try:
            return _build(kind, value, path)
        except Invalid as error:
            self._found += (error, *error.others)
            return None

    def refuse(self) -> None:
        """Raises :class:`Invalid` where something did not fit."""
        if self._found:
            first, *others = self._found
            first.others = others
            raise first


UNKNOWN_KEY = "unknown key"
MISSING = "missing"
#: What an empty file lacks.
LEAST = 'The least is {"upstreams": {"NAME": {"command": "PROGRAM", "args": []}}}'
#: What people write that JSON has not.
_MISTAKES = "JSON has no comments, no comma before a closing bracket, and double quotes only"
_BACKSLASH = r"A backslash is written twice, as in C:\\Users\\me"
#: How msgspec calls types, and how a person would.
_TYPES = {"str": "a string", "int": "a whole number", "float": "a number", "bool": "true or false"}
#: Known words up to this number are listed where none is near.
_FEW = 40


class _Repeated(dict[str, Any]):
    """A JSON object in which ``key`` stood twice; where the object stands is known only to the walk."""

    key: str


def parse(text: str) -> Any:
    """JSON text to plain values; ``NaN`` and its kind are refused.

    Raises :class:`Invalid` with line and column.  A repeated key is reported
    by :func:`build`, which knows the path.
    """
    try:
        return json.loads(text, object_pairs_hook=_members, parse_constant=_not_json)
    except json.JSONDecodeError as error:
        if not text.strip():
            raise Invalid("", "is empty", LEAST) from None
        hint = _BACKSLASH if "escape" in error.msg else _MISTAKES
        raise Invalid(f"line {error.lineno} column {error.colno}", f"not JSON: {error.msg}", hint) from None
    except RecursionError:
        raise Invalid("", "not a configuration: nested too deeply") from None


def build(kind: type[T], value: Any) -> T:
    """``value`` as a ``kind``; raises :class:`Invalid`."""
    built: T = _build(kind, value, "")
    return built


def nearest(word: str, known: list[str]) -> str:
    """``did you mean "..."?``, in whatever case, or the known words where nothing is near and they are few."""
    from difflib import get_close_matches  # needed for errors only

    folded = {name.casefold(): name for name in known}
    close = get_close_matches(word.casefold(), folded, n=1, cutoff=0.6)
    if close:
        return f'Did you mean "{folded[close[0]]}"?'
    return f"Known here: {', '.join(sorted(known))}" if 0 < len(known) <= _FEW else ""


def join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    seen: set[str] = set()
    repeated = _Repeated(members)
    repeated.key = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return repeated


def _not_json(name: str) -> NoReturn:
    raise Invalid("", f"not JSON: {name}")


@cache
def _fields(struct: type[msgspec.Struct]) -> dict[str, tuple[str, Any, bool]]:
    """By the key of each field in the file: its name in the struct, its type, and whether it must be given."""
    hints = get_type_hints(struct, include_extras=True)
    return {
        field.encode_name: (field.name, hints[field.name], field.required) for field in msgspec.structs.fields(struct)
    }


def _build(kind: Any, value: Any, path: str) -> Any:
    if isinstance(value, _Repeated):
        raise Invalid(join(path, value.key), "stands here twice")
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        if any(value is special for special in _specials(kind)):
            return value
        (inner,) = (member for member in get_args(kind) if member is not NoneType and get_origin(member) is not Literal)
        return _build(inner, value, path)
    if origin is dict:
        return _build_dict(get_args(kind)[1], value, path)
    if origin is tuple:
        return _build_tuple(get_args(kind), value, path)
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return _build_struct(kind, value, path)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return _build_enum(kind, value, path)
    return _build_scalar(kind, value, path)


def _specials(union: Any) -> list[Any]:
    """What may stand in place of the one real type of ``union``: ``null``, or a literal."""
    specials: list[Any] = []
    for member in get_args(union):
        if member is NoneType:
            specials.append(None)
        elif get_origin(member) is Literal:
            specials += get_args(member)
    return specials


def _build_dict(kind: Any, value: Any, path: str) -> dict[str, Any]:
    mistakes = _Mistakes()
    built = {key: mistakes.build(kind, item, join(path, key)) for key, item in _object(value, path).items()}
    mistakes.refuse()
    return built


def _build_struct(struct: type[msgspec.Struct], value: Any, path: str) -> Any:
    fields = _fields(struct)
    members = _object(value, path)
    mistakes, built = _Mistakes(), {}
    for key, item in members.items():
        if key not in fields:
            mistakes.add(join(path, key), UNKNOWN_KEY, nearest(key, list(fields)))
        else:
            name, kind, _ = fields[key]
            built[name] = mistakes.build(kind, item, join(path, key))
    for key, (_, _, required) in fields.items():
        if required and key not in members:
            mistakes.add(join(path, key), MISSING)
    mistakes.refuse()
    return struct(**built)


def _build_tuple(kinds: tuple[Any, ...], value: Any, path: str) -> Any:
    if not isinstance(value, list):
        raise Invalid(path, f"expected a list, got {_name(value)}")
    if kinds[-1] is Ellipsis:
        kinds = kinds[:1] * len(value)
    elif len(kinds) != len(value):
        raise Invalid(path, f"expected a list of {len(kinds)}, got {len(value)}")
    mistakes = _Mistakes()
    parts = enumerate(zip(kinds, value, strict=True))
    built = tuple(mistakes.build(kind, item, f"{path}[{i}]") for i, (kind, item) in parts)
    mistakes.refuse()
    return built


def _build_enum(kind: type[StrEnum], value: Any, path: str) -> Any:
    allowed = [member.value for member in kind]
    if not isinstance(value, str):
        raise Invalid(path, f"expected one of {_quoted(allowed)}, got {_name(value)}")
    if value not in allowed:
        raise Invalid(path, "unknown value", f"Allowed: {_quoted(allowed)}")
    return kind(value)


def _build_scalar(kind: Any, value: Any, path: str) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        # msgspec names types and limits here, and shows a value for enums and unions of literals only.
        expected, _, got = str(error).partition(", got ")
        for theirs, ours in _TYPES.items():
            expected = expected.replace(f"`{theirs}`", ours)
        found = f", got {_name(value)}" if got else ""
        raise Invalid(path, expected[:1].lower() + expected[1:] + found) from None


def _object(value: Any, path: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Invalid(path, f"expected an object, got {_name(value)}")
    return value


def _name(value: Any) -> str:
    """How JSON calls the type of ``value``."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", NoneType: "null"}
    return names.get(type(value), "a number")


def _quoted(words: list[str]) -> str:
    return ", ".join(f'"{word}"' for word in words)
