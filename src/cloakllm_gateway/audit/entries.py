"""Entries for people, spreadsheets and filters.

A log that is shown may have been written by anybody: nothing of an entry is
taken for what its schema says, and whatever would act on a terminal or in a
spreadsheet is made harmless.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

#: The columns of an export; what else an entry has is in the last one, as JSON.
COLUMNS: Final = (
    "seq", "timestamp", "session", "event_type", "upstream", "method", "tool", "entity_count", "categories", "details",
)  # fmt: skip

_QUOTE: Final = '"'
#: Names of a list that are shown on one line.
_FEW: Final = 8
_CHAIN: Final = frozenset({"prev_hash", "entry_hash"})
#: What a spreadsheet takes for the begin of a formula.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


class Filter(NamedTuple):
    """Which entries; times are ISO 8601 in UTC, or the beginning of one: `2026-11-29`, `2026-11-29T08`."""

    since: str = ""
    until: str = ""
    upstream: str = ""
    category: str = ""
    event: str = ""

    def takes(self, entry: Mapping[str, Any]) -> bool:
        time = str(entry.get("timestamp", ""))
        return (
            (not self.since or time >= self.since)
            and (not self.until or time[: len(self.until)] <= self.until)
            and (not self.upstream or self.upstream in upstreams(entry))
            and (not self.category or self.category in counts(entry, "categories") | counts(entry, "tripwire"))
            and (not self.event or entry.get("event_type") == self.event)
        )


def upstreams(entry: Mapping[str, Any]) -> set[str]:
    """Those an entry speaks of: where something went, and where it came from."""
    named = [entry.get("upstream"), *(origin for token in tokens(entry) for origin in _list(token.get("from")))]
    return {name for name in named if isinstance(name, str)}


def tokens(entry: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The tokens that an entry says were restored."""
    return (token for token in _list(entry.get("tokens")) if isinstance(token, dict))


def counts(entry: Mapping[str, Any], field: str) -> dict[str, int]:
    """A field that counts by name, without what is no count."""
    found = entry.get(field)
    return {k: v for k, v in found.items() if type(v) is int} if isinstance(found, dict) else {}


def line(entry: Mapping[str, Any]) -> str:
    """An entry on one line, printable throughout."""
    words = [_word(entry.get(field)) for field in ("timestamp", "seq", "event_type", "upstream", "method", "tool")]
    found = [f"{category}:{count}" for category, count in sorted(counts(entry, "categories").items())]
    restored = [
        "{} from {} ({})".format(
            _word(token.get("token")), ", ".join(map(_word, _list(token.get("from")))), _word(token.get("rule"))
        )
        for token in tokens(entry)
    ]
    known = {*COLUMNS, *_CHAIN, "tokens", "direction", "messages", "duration", "skipped"}
    more = [
        f"{key}={_in_short(value)}" for key, value in entry.items() if key not in known and value not in ({}, 0, "")
    ]
    return printable(" ".join(word for word in [*words, *found, *restored, *more] if word))


def row(entry: Mapping[str, Any]) -> list[str]:
    """An entry as the cells of :data:`COLUMNS`, none of which a spreadsheet takes for a formula."""
    details = {key: value for key, value in entry.items() if key not in COLUMNS and key not in _CHAIN}
    cells = [*(_word(entry.get(column)) for column in COLUMNS[:-1]), json.dumps(details, sort_keys=True)]
    return [f"'{cell}" if cell.startswith(_FORMULA) else cell for cell in map(printable, cells)]


def csv_line(cells: Iterable[str]) -> str:
    """Cells, every one in quotes, as a line of RFC 4180."""
    quoted = (f'"{cell.replace(_QUOTE, 2 * _QUOTE)}"' for cell in cells)
    return ",".join(quoted) + "\r\n"


def printable(text: str) -> str:
    """``text`` with everything but printable ASCII as an escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_escape, text))


def _escape(char: str) -> str:
    return char if char.isascii() and char.isprintable() else f"\\u{ord(char):04x}"


def _in_short(value: Any) -> str:
    """A word, where a list may have a hundred names."""
    return f"({len(value)})" if isinstance(value, list) and len(value) > _FEW else _word(value)


def _word(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
