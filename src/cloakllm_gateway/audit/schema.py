"""What may stand in an entry: a closed table of events, and a closed set of kinds of field.

An entry holds names, numbers and words of the gateway's own.  There is no kind
of field that a value, an offset, a length or an unkeyed digest of data would
fit, and no field that is not in the table.  Names of tools and upstreams are
text that somebody else chose: they are cut and escaped to printable ASCII, so
that no line of the log can act on a terminal, a parser or a spreadsheet.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, TypeAlias

from cloakllm_gateway.errors import AuditError
from cloakllm_gateway.patterns import lazy

#: Longest name and longest sentence in an entry, in characters, escapes included.
NAME_LENGTH: Final = 96
TEXT_LENGTH: Final = 240

_CATEGORY = lazy(r"[A-Z][A-Z0-9_]*")
_TOKEN = lazy(r"[A-Z][A-Z0-9_]*_[0-9]{1,9}")
_DIGEST = lazy(r"[0-9a-f]{64}")
_SESSION = lazy(r"[0-9a-f]{16}")
_TIME = lazy(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}\+00:00")
_ODD = lazy(r'[^ -~]|["\\]')

Check: TypeAlias = Callable[[Any], bool]

# -- kinds of field --------------------------------------------------------------------------------


def _count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 53


def _flag(value: Any) -> bool:
    return type(value) is bool


def _printable(value: Any, length: int) -> bool:
    return isinstance(value, str) and len(value) <= length and _is_plain(value)


@lru_cache(maxsize=1024)  # a session says the same few names all the time
def _is_plain(text: str) -> bool:
    """Printable ASCII without what JSON would escape."""
    return text.isascii() and text.isprintable() and '"' not in text and "\\" not in text


def _name(value: Any) -> bool:
    return _printable(value, NAME_LENGTH)


def _text(value: Any) -> bool:
    return _printable(value, TEXT_LENGTH)


def _categories(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    return not value or all(_CATEGORY.fullmatch(k) and _count(v) for k, v in value.items())


def _counts(value: Any) -> bool:
    return isinstance(value, dict) and all(_name(k) and _count(v) for k, v in value.items())


def _versions(value: Any) -> bool:
    return isinstance(value, dict) and all(_name(k) and _name(v) for k, v in value.items())


def _names(value: Any) -> bool:
    return isinstance(value, list) and all(map(_name, value))


def _tokens(value: Any) -> bool:
    """Each restored token: where it came from, and the rule that let it go."""
    return isinstance(value, list) and all(
        isinstance(item, dict)
        and item.keys() == {"token", "from", "rule", "foreign"}
        and isinstance(item["token"], str)
        and _TOKEN.fullmatch(item["token"]) is not None
        and _names(item["from"])
        and _name(item["rule"])
        and _flag(item["foreign"])
        for item in value
    )


def _token_or_none(value: Any) -> bool:
    return value == "" or (isinstance(value, str) and _TOKEN.fullmatch(value) is not None)


def _matches(pattern: Any) -> Check:
    return lambda value: isinstance(value, str) and pattern.fullmatch(value) is not None


def _one_of(*words: str) -> Check:
    return lambda value: value in words


# -- the table -------------------------------------------------------------------------------------

#: What every entry has.
COMMON: Final[Mapping[str, Check]] = {
    "seq": _count,
    "timestamp": _matches(_TIME),
    "event_type": lambda value: isinstance(value, str) and value in EVENTS,
    "session": _matches(_SESSION),
    "entity_count": _count,
    "categories": _categories,
    "prev_hash": _matches(_DIGEST),
    "entry_hash": _matches(_DIGEST),
}

#: How long something took, by the first bound it kept.
DURATIONS: Final = ("1ms", "10ms", "100ms", "1s", "10s", "longer")
_BOUNDS: Final = (0.001, 0.01, 0.1, 1.0, 10.0)
DIRECTIONS: Final = ("to_model", "to_upstream")

_PLACE: Mapping[str, Check] = {"upstream": _name, "method": _name}
_TOOL: Mapping[str, Check] = {**_PLACE, "tool": _name}

#: The fields of each event beside the common ones.  All but those of :data:`OPTIONAL` must be there.
EVENTS: Final[Mapping[str, Mapping[str, Check]]] = {
    "session_open": {
        "versions": _versions,
        "config": _matches(_DIGEST),  # HMAC-SHA-256 under a key that stays on this machine
        "upstreams": _names,
        "sanitize": _flag,
        "detecting": _names,
        "names": _flag,
        "proved": _flag,
        "principal": _name,  # whom the session was opened for, over HTTP
    },
    "sanitize": {
        **_PLACE,
        "direction": _one_of(*DIRECTIONS),
        "tripwire": _categories,
        "skipped": _counts,
        "dropped": _count,
        "messages": _count,
        "duration": _one_of(*DURATIONS),
    },
    "restore": {**_TOOL, "direction": _one_of(*DIRECTIONS), "tokens": _tokens},
    "refused": {**_TOOL, "direction": _one_of(*DIRECTIONS), "rule": _name, "token": _token_or_none},
    "withheld": {**_PLACE, "direction": _one_of(*DIRECTIONS), "reason": _text, "messages": _count},
    "raw_pii": {
        **_TOOL,
        "direction": _one_of(*DIRECTIONS),
        "action": _one_of("log", "block", "unknown"),
        "dump": _flag,
    },
    "asked": {**_TOOL, "direction": _one_of(*DIRECTIONS), "allowed": _flag},
    "passed": {**_PLACE, "direction": _one_of(*DIRECTIONS), "messages": _count},
    "tool_changed": {"upstream": _name, "tool": _name, "held": _flag},
    "observed": {**_PLACE, "direction": _one_of(*DIRECTIONS), "reason": _text},
    "vault": {
        "action": _one_of("list", "forget", "purge", "rekey", "passphrase", "reveal", "check"),
        "namespace": _name,
        "count": _count,
        "refused": _flag,
    },
    "upstream_start": {"upstream": _name, "protocol": _name},
    "upstream_crash": {"upstream": _name, "reason": _text, "final": _flag},
    "upstream_stop": {"upstream": _name},
    "checkpoint": {"trigger": _one_of("start", "count", "time", "close", "prune", "rotate"), "key": _name},
    "log_recovered": {"reason": _one_of("torn", "cut", "unwritable"), "lost": _count},
    "session_close": {},
    "heartbeat": {},
}

#: Fields that an entry may lack.
OPTIONAL: Final = frozenset({"tool", "token", "rule", "principal"})

#: What the body of an entry of each event may have, and what it has to have.
_FIELDS: Final[Mapping[str, Mapping[str, Check]]] = {
    event: {"entity_count": COMMON["entity_count"], "categories": COMMON["categories"], **known}
    for event, known in EVENTS.items()
}
_REQUIRED: Final = {event: known.keys() - OPTIONAL for event, known in EVENTS.items()}


def name(text: str) -> str:
    """``text``, which somebody else chose, as a name for an entry: printable ASCII, of bounded length."""
    return _bounded(text, NAME_LENGTH)


def sentence(text: str) -> str:
    """A reason in the gateway's own words as an entry keeps it."""
    return _bounded(text, TEXT_LENGTH)


def duration(seconds: float) -> str:
    """The class of a duration: how long exactly is nobody's business."""
    return DURATIONS[bisect_right(_BOUNDS, seconds)]


def wrong(entry: Mapping[str, Any]) -> str:
    """What in ``entry`` the schema does not allow, or an empty text.  Names no value."""
    for field, check in COMMON.items():
        if field not in entry:
            return f"the field {field} is missing"
        if not check(entry[field]):
            return f"the field {field} has a value it can't have"
    known = EVENTS[entry["event_type"]]
    for field in entry:
        if field not in COMMON and field not in known:
            return f"a field that {entry['event_type']} does not have"
    for field, check in known.items():
        if field not in entry:
            if field not in OPTIONAL:
                return f"the field {field} is missing"
        elif not check(entry[field]):
            return f"the field {field} has a value it can't have"
    return ""


def body(event: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The part of an entry that does not depend on its place in the chain.

    Raises :class:`AuditError` for a field that ``event`` does not have: what
    is not in the table is not written.
    """
    known = _FIELDS.get(event)
    if known is None:
        raise AuditError(f"The audit log has no event {name(event)}")
    entry: dict[str, Any] = {"event_type": event, "entity_count": 0, "categories": {}}
    for field, value in fields.items():
        if isinstance(value, str):
            value = _text_of(event, field, value[: TEXT_LENGTH + 1])  # nothing behind that would stay
        elif field not in known or not known[field](value):
            raise _unfit(event, field)
        entry[field] = value
    if missing := _REQUIRED[event] - entry.keys():
        raise AuditError(f"An entry {event} can't be written: it lacks {', '.join(sorted(missing))}")
    return entry


@lru_cache(maxsize=1024)  # a session says the same few things all the time
def _text_of(event: str, field: str, text: str) -> str:
    """A text as an entry keeps it; raises :class:`AuditError` for one that its field can't be."""
    text = sentence(text) if field == "reason" else name(text)
    check = _FIELDS[event].get(field)
    if check is None or not check(text):
        raise _unfit(event, field)
    return text


def _unfit(event: str, field: str) -> AuditError:
    return AuditError(f"An entry {event} can't be written: {name(field)} is not as its schema says")


def _bounded(text: str, length: int) -> str:
    if len(text) <= length and _is_plain(text):
        return text
    escaped = _ODD.sub(lambda odd: f"<{ord(odd.group()):x}>", text[:length])
    return escaped if len(escaped) <= length else escaped[: length - 3] + "..."
