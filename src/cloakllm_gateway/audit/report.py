"""What a log says over a span of time: who got what of whom, what was refused, when somebody was watching."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from msgspec import Struct, field

from cloakllm_gateway.audit.entries import counts, printable, tokens
from cloakllm_gateway.patterns import lazy

#: The number of a token, and of a spelling.
_NUMBERS = lazy(r"(_[0-9]+){1,2}$")


class Session(Struct):
    """One session, by the times of its first and last entry."""

    first: str
    last: str
    entries: int = 0
    closed: bool = False


class Report(Struct):
    """Counts.  The keys of ``shown`` are (upstream, category), of ``restored`` (from, to, category).

    What was hidden counts by place: one value that stands twice in a message is two.  What was restored counts once:
    from whom it went to is :func:`_source`'s to say.
    """

    first: str = ""
    last: str = ""
    entries: int = 0
    events: Counter[str] = field(default_factory=Counter)
    shown: Counter[tuple[str, str]] = field(default_factory=Counter)
    tripwire: Counter[tuple[str, str]] = field(default_factory=Counter)
    restored: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    refused: Counter[tuple[str, str]] = field(default_factory=Counter)
    withheld: Counter[tuple[str, str]] = field(default_factory=Counter)
    passed: Counter[tuple[str]] = field(default_factory=Counter)
    in_clear: Counter[tuple[str, str]] = field(default_factory=Counter)
    principals: Counter[tuple[str]] = field(default_factory=Counter)
    days: dict[str, Counter[str]] = field(default_factory=dict)
    sessions: dict[str, Session] = field(default_factory=dict)


_MINUTE = len("2026-11-29T08:30")

#: What the days are counted by, and how it is said.
DAILY = {
    "hidden": "places where a value was hidden",
    "restored": "values restored",
    "refused": "calls refused",
    "withheld": "withheld",
}


def report(entries: Iterable[Mapping[str, Any]]) -> Report:
    """The report on ``entries``, which may be anybody's."""
    result = Report()
    for entry in entries:
        _add(result, entry)
    return result


def _add(report: Report, entry: Mapping[str, Any]) -> None:
    event, time, upstream = (_text(entry.get(key)) for key in ("event_type", "timestamp", "upstream"))
    report.entries += 1
    report.events[event] += 1
    report.first, report.last = min(report.first or time, time), max(report.last, time)
    day = report.days.setdefault(time[:10], Counter())
    if event == "vault" or entry.get("trigger") == "rotate":  # of a command, which served nobody
        return
    session = report.sessions.setdefault(_text(entry.get("session")), Session(time, time))
    session.last, session.entries = max(session.last, time), session.entries + 1
    match event:
        case "sanitize":
            _count(report.shown, upstream, counts(entry, "categories"))
            _count(report.tripwire, upstream, counts(entry, "tripwire"))
            day["hidden"] += sum(counts(entry, "categories").values())
        case "restore":
            for token in tokens(entry):
                category = _NUMBERS.sub("", _text(token.get("token")))
                report.restored[_source(token, upstream), upstream, category] += 1
                day["restored"] += 1
        case "refused":
            report.refused[upstream, _text(entry.get("rule")) or "another reason"] += 1
            day["refused"] += 1
        case "withheld":
            report.withheld[upstream, _text(entry.get("reason"))] += _messages(entry)
            day["withheld"] += _messages(entry)
        case "passed":
            report.passed[(upstream,)] += _messages(entry)
        case "raw_pii":
            _count(report.in_clear, upstream, counts(entry, "categories"))
        case "session_open" if principal := _text(entry.get("principal")):
            report.principals[(principal,)] += 1
        case "session_close":
            session.closed = True


def _source(token: Mapping[str, Any], destination: str) -> str:
    """From whom a value went to ``destination``: itself, where it showed it too; else all who did, in one name."""
    if token.get("foreign") is False:
        return destination
    origins = token.get("from")
    return ", ".join(map(_text, origins)) if isinstance(origins, list) else ""


class Table(NamedTuple):
    """Rows of names that end in a count, most first."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


def as_text(report: Report, verdict: str) -> str:
    """The report for a terminal."""
    if not report.entries:
        return f"Audit log: {span(report)}\nVerdict: {printable(verdict)}\n"
    lines = [
        f"Audit log: {report.entries} entries, {span(report)}",
        f"Verdict: {verdict}",
        f"Sessions: {len(report.sessions)}, not ended in order: {unclosed(report)}",
    ]
    empty = []
    for table in tables(report):
        if table.rows:
            lines += ["", f"{table.title}, by {', '.join(table.columns)}", *_aligned(table)]
        else:
            empty.append(table.title)
    if empty:
        lines += ["", f"Nothing under: {'; '.join(empty).lower()}"]
    return "".join(f"{printable(line)}\n" for line in lines)


def span(report: Report) -> str:
    """From when to when, to the minute."""
    if not report.entries:
        return "no entries of that time"
    first, last = (time[:_MINUTE].replace("T", " ") for time in (report.first, report.last))
    return f"{first} to {last} UTC"


def unclosed(report: Report) -> int:
    return sum(not session.closed for session in report.sessions.values())


def tables(report: Report) -> list[Table]:
    events = Counter({(event,): count for event, count in report.events.items()})
    return [
        Table("Places where a value was hidden from the model", ("upstream", "category"), _rows(report.shown)),
        Table("Found by the second look alone", ("upstream", "category"), _rows(report.tripwire)),
        Table("Values given back", ("from", "to", "category"), _rows(report.restored)),
        Table("Written in clear by the model", ("upstream", "category"), _rows(report.in_clear)),
        Table("Calls refused", ("upstream", "rule"), _rows(report.refused)),
        Table("Messages withheld", ("upstream", "reason"), _rows(report.withheld)),
        Table("Messages that nobody looked at", ("upstream",), _rows(report.passed)),
        Table("Sessions over HTTP", ("principal",), _rows(report.principals)),
        Table("Entries", ("event",), _rows(events)),
    ]


def _aligned(table: Table) -> list[str]:
    cells = [[printable(str(cell)) for cell in row] for row in table.rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        f"  {'  '.join(cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=False))}"
        f"  {row[-1].rjust(widths[-1])}"
        for row in cells
    ]


def _rows(counter: Counter[Any]) -> list[tuple[Any, ...]]:
    return [(*key, count) for key, count in sorted(counter.items(), key=lambda item: (-item[1], item[0]))]


def _count(counter: Counter[tuple[str, str]], upstream: str, found: Mapping[str, int]) -> None:
    for category, count in found.items():
        counter[upstream, category] += count


def _messages(entry: Mapping[str, Any]) -> int:
    """How many messages an entry speaks of."""
    count = entry.get("messages")
    return count if type(count) is int else 1


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
