"""The report as one HTML file: tables, and pictures drawn as SVG.  Nothing in it is fetched, nothing runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import date, timedelta
from html import escape
from itertools import islice
from typing import Any, Final

from cloakllm_gateway.audit.entries import printable
from cloakllm_gateway.audit.report import DAILY, Report, Session, Table, span, tables, unclosed

_COLOURS: Final = {"hidden": "#2a78d6", "restored": "#1f9d6b", "refused": "#d98a1a", "withheld": "#c8393f"}
_CLOSED, _UNCLOSED, _OWN, _FOREIGN = "#1f9d6b", "#d98a1a", "#8a94a0", "#2a78d6"
#: The pictures, in units of their own: how wide, and how much of that is for the words at their left.
_WIDTH: Final = 720
_MARGIN: Final = 44
#: How wide a letter of a legend is, at most on average.
_LETTER: Final = 6.2
#: A picture of more than these would be none.
_MOST_DAYS: Final = 1000
_MOST_BARS: Final = 5000
_STYLE: Final = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 760px; margin: 2.5em auto; padding: 0 1em; color: #1b1f24; }
h1 { font-size: 1.6em; margin-bottom: .2em; } h2 { font-size: 1.1em; margin: 2.2em 0 .5em; }
.verdict { border-left: 4px solid #8a94a0; background: #f4f6f8; padding: .5em .9em; margin: 1em 0; }
.verified { border-color: #1f9d6b; } .wrong { border-color: #c8393f; background: #fdf1f1; }
.tiles { display: flex; flex-wrap: wrap; gap: .6em; margin: 1.2em 0; }
.tiles div { flex: 1 1 6.5em; border: 1px solid #e3e6ea; border-radius: 6px; padding: .5em .7em; color: #59636e;
  font-size: .85em; line-height: 1.3; }
.tiles b { display: block; font-size: 1.7em; color: #1b1f24; font-variant-numeric: tabular-nums; }
table { border-collapse: collapse; width: 100%; } th { text-align: left; font-weight: 600; color: #59636e; }
th, td { padding: .2em .8em .2em 0; border-bottom: 1px solid #e3e6ea; } td { overflow-wrap: anywhere; }
th:last-child, td:last-child { text-align: right; padding-right: 0; font-variant-numeric: tabular-nums; }
svg { width: 100%; height: auto; } text { font: 11px system-ui, sans-serif; fill: #59636e; } .none { color: #59636e; }
@media print { body { margin: 0; max-width: none; } h2 { break-after: avoid; } tr, svg { break-inside: avoid; } }
"""


def as_html(report: Report, verdict: str) -> str:
    """The whole file; whatever comes from the log is escaped."""
    found = tables(report)
    empty = "; ".join(table.title for table in found if not table.rows).lower()
    status = verdict.partition(":")[0]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Audit report</title>'
        '<meta name="viewport" content="width=device-width">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<style>{_STYLE}</style></head><body>\n<h1>Audit report</h1>\n"
        f"<div>{_text(span(report))}: {report.entries:,} entries. "
        f"Sessions: {len(report.sessions):,}, not ended in order: {unclosed(report):,}.</div>\n"
        f'<div class="verdict {_text(status)}">{_text(verdict)}</div>\n{_tiles(report)}'
        f"<h2>Day by day</h2>\n{_days(report)}<h2>Who got values of whom</h2>\n{_flows(report)}"
        f"<h2>When sessions ran</h2>\n{_sessions(report)}{''.join(map(_table, found))}"
        f"{f'<h2>Nothing under</h2><p class=none>{_text(empty)}</p>' if empty else ''}</body></html>\n"
    )


def _tiles(report: Report) -> str:
    """What somebody wants to know first."""
    foreign = sum(count for (origin, to, _), count in report.restored.items() if origin != to)
    numbers = {
        "places where a value was hidden": report.shown.total(),
        "given back to their own server": report.restored.total() - foreign,
        "given to another server": foreign,
        "written in clear by the model": report.in_clear.total(),
        "calls refused": report.refused.total(),
        "messages withheld": report.withheld.total(),
    }
    return f'<div class="tiles">{"".join(f"<div><b>{n:,}</b>{what}</div>" for what, n in numbers.items())}</div>\n'


def _table(table: Table) -> str:
    if not table.rows:
        return ""
    head = "".join(f"<th>{_text(column)}</th>" for column in (*table.columns, ""))
    rows = "".join(f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in row)}</tr>\n" for row in table.rows)
    return f"<h2>{_text(table.title)}</h2>\n<table>\n<tr>{head}</tr>\n{rows}</table>\n"


def _days(report: Report) -> str:
    """A bar for each day, piled up by what happened."""
    days = _calendar(report)
    tallest = max((day.total() for day in report.days.values()), default=0) or 1
    step = _step(days)
    marks = [
        _line(20),
        _line(140),
        _label(_MARGIN - 6, 24, f"{tallest:,}", "end"),
        _label(_MARGIN - 6, 144, "0", "end"),
    ]
    for number, name in enumerate(days):
        top = 140.0
        counts = report.days.get(name, Counter())
        for kind in DAILY:
            height = 120 * counts[kind] / tallest
            top -= height
            if height:
                title = f"{name}: {counts[kind]} {DAILY[kind]}"
                marks.append(_bar(_MARGIN + number * step, top, max(step - 2, 1), height, _COLOURS[kind], title))
    legend = {words: _COLOURS[kind] for kind, words in DAILY.items()}
    return _svg(190, [*marks, *_ends(days, 156), *_legend(legend, 172)])


def _flows(report: Report) -> str:
    """Origins down, destinations across; the darker, the more values went that way."""
    flows: Counter[tuple[str, str]] = Counter()
    for (origin, destination, _), count in report.restored.items():
        flows[origin, destination] += count
    if not flows:
        return '<p class="none">none</p>\n'
    origins, destinations = sorted({o for o, _ in flows}), sorted({d for _, d in flows})
    most = max(flows.values())
    width = (_WIDTH - 160) / len(destinations)
    marks = [_label(160 + n * width + 4, 14, f"to {name}") for n, name in enumerate(destinations)]
    for line, origin in enumerate(origins):
        marks.append(_label(0, 42 + line * 28, f"from {origin}"))
        for column, destination in enumerate(destinations):
            count = flows[origin, destination]
            if count:
                at, top = 160 + column * width, 24 + line * 28
                colour = _OWN if origin == destination else _FOREIGN
                title = f"{origin} to {destination}: {count}"
                marks.append(_bar(at, top, width - 2, 26, colour, title, 0.15 + 0.5 * count / most))
                marks.append(_label(at + 6, top + 17, f"{count:,}"))
    bottom = 32 + 28 * len(origins)
    return _svg(bottom + 20, [*marks, *_legend({"to another server": _FOREIGN, "to its own": _OWN}, bottom, 0)])


def _sessions(report: Report) -> str:
    """The hours in which sessions ran, day by day: what is white, nobody watched."""
    days = _calendar(report)
    step = _step(days)
    marks = [_line(10), _line(70), _line(130)]
    marks += [_label(_MARGIN - 6, 14 + 60 * n, words, "end") for n, words in enumerate(("0 h", "12 h", "24 h"))]
    for session, day, begin, end in islice(_hours(report, days), _MOST_BARS):
        colour = _CLOSED if session.closed else _UNCLOSED
        title = f"{session.first[:16]} to {session.last[:16]}, {session.entries} entries"
        top, height = 10 + 5 * begin, max(5 * (end - begin), 1.5)
        marks.append(_bar(_MARGIN + day * step, top, max(step - 2, 1), height, colour, title, 0.75))
    legend = {"ended in order": _CLOSED, "not ended in order": _UNCLOSED}
    return _svg(180, [*marks, *_ends(days, 146), *_legend(legend, 162)])


def _hours(report: Report, days: list[str]) -> Iterator[tuple[Session, int, float, float]]:
    """Each session on each of its days: which day, from which hour to which."""
    place = {day: number for number, day in enumerate(days)}
    for session in sorted(report.sessions.values(), key=lambda session: session.first):
        first, last = place[session.first[:10]], place[session.last[:10]]
        for day in range(first, last + 1):
            begin = _hour(session.first) if day == first else 0.0
            yield session, day, begin, _hour(session.last) if day == last else 24.0


def _hour(time: str) -> float:
    hours, minutes = time[11:13], time[14:16]
    if not (hours.isdecimal() and minutes.isdecimal()):
        return 0.0  # of a log that no gateway wrote
    return min(int(hours) + int(minutes) / 60, 24.0)


def _calendar(report: Report) -> list[str]:
    """Every day from the first to the last, those without an entry too: that is where nobody was watching."""
    known = sorted(report.days)
    try:
        first, last = date.fromisoformat(known[0]), date.fromisoformat(known[-1])
    except (IndexError, ValueError):
        return known  # of a log that no gateway wrote
    if (last - first).days > _MOST_DAYS:
        return known
    days = [(first + timedelta(days=n)).isoformat() for n in range((last - first).days + 1)]
    return days if set(days) >= set(known) else known


# -- drawing -------------------------------------------------------------------------------------------


def _step(days: list[str]) -> float:
    """How wide a day is; one alone does not fill the page."""
    return (_WIDTH - _MARGIN) / max(len(days), 7)


def _ends(days: list[str], y: float) -> list[str]:
    """The first and the last day under a picture."""
    if not days:
        return []
    last = [_label(_MARGIN + len(days) * _step(days), y, days[-1], "end")] if len(days) > 3 else []
    return [_label(_MARGIN, y, days[0]), *last]


def _legend(words: dict[str, str], y: float, x: float = _MARGIN) -> list[str]:
    marks = []
    for text, colour in words.items():
        marks += [_bar(x, y, 10, 10, colour, text), _label(x + 16, y + 9, text)]
        x += 16 + _LETTER * len(text) + 20
    return marks


def _svg(height: int, marks: list[str]) -> str:
    return f'<svg viewBox="0 0 {_WIDTH} {height}" role="img">\n{"".join(marks)}</svg>\n'


def _line(y: float) -> str:
    return f'<path d="M{_MARGIN} {y}H{_WIDTH}" stroke="#e3e6ea"/>\n'


def _bar(x: float, y: float, width: float, height: float, colour: str, title: str, opacity: float = 1) -> str:
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}" '
        f'fill-opacity="{opacity:.2f}"><title>{_text(title)}</title></rect>\n'
    )


def _label(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{_text(text)}</text>\n'


def _text(value: Any) -> str:
    return escape(printable(str(value)))
