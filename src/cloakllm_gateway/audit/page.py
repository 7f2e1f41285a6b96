"""The report as one HTML file: tables, and pictures drawn as SVG.  Nothing in it is fetched, nothing runs."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta
from html import escape
from typing import Any, Final

from cloakllm_gateway.audit.entries import printable
from cloakllm_gateway.audit.report import DAILY, Report, sections, unclosed

_COLOURS: Final = {"hidden": "#2a78d6", "restored": "#1f9d6b", "refused": "#d98a1a", "withheld": "#c8393f"}
_WIDTH: Final = 720
_MOST_DAYS: Final = 1000
_STYLE: Final = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 760px; margin: 2em auto; padding: 0 1em; color: #1b1f24; }
h1 { font-size: 1.5em; } h2 { font-size: 1.1em; margin-top: 2em; }
table { border-collapse: collapse; width: 100%; } td { padding: .2em .8em .2em 0; border-bottom: 1px solid #e3e6ea; }
td:last-child { text-align: right; font-variant-numeric: tabular-nums; } svg { width: 100%; height: auto; }
text { font: 11px system-ui, sans-serif; fill: #59636e; } .none { color: #59636e; }
"""


def as_html(report: Report, verdict: str) -> str:
    """The whole file; whatever comes from the log is escaped."""
    tables = "".join(f"<h2>{_text(title)}</h2>\n{_table(rows)}" for title, rows in sections(report))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Audit report</title>'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<style>{_STYLE}</style></head><body>\n<h1>Audit report</h1>\n"
        f"<p>{report.entries} entries from {_text(report.first)} to {_text(report.last)}. "
        f"{len(report.sessions)} sessions, of which {unclosed(report)} did not end with an entry. "
        f"Verdict: <strong>{_text(verdict)}</strong>.</p>\n"
        f"<h2>Day by day</h2>\n{_days(report)}<h2>Who got values of whom</h2>\n{_flows(report)}"
        f"<h2>When sessions ran</h2>\n{_sessions(report)}{tables}</body></html>\n"
    )


def _table(rows: list[tuple[Any, ...]]) -> str:
    if not rows:
        return '<p class="none">none</p>\n'
    return "<table>\n{}</table>\n".format(
        "".join("<tr>{}</tr>\n".format("".join(f"<td>{_text(cell)}</td>" for cell in row)) for row in rows)
    )


def _days(report: Report) -> str:
    """A bar for each day, piled up by what happened."""
    days = _calendar(report)
    tallest = max((day.total() for day in report.days.values()), default=0) or 1
    step = _WIDTH / max(len(days), 1)
    marks = []
    for number, name in enumerate(days):
        top = 140.0
        counts = report.days.get(name, Counter())
        for kind in DAILY:
            height = 120 * counts[kind] / tallest
            top -= height
            if height:
                title = f"{name}: {counts[kind]} {DAILY[kind]}"
                marks.append(_bar(number * step, top, max(step - 2, 1), height, _COLOURS[kind], title))
    labels = [_label(0, 156, days[0]), _label(_WIDTH, 156, days[-1], "end")] if days else []
    legend = [
        _bar(170 * n, 172, 10, 10, _COLOURS[kind], words) + _label(170 * n + 16, 181, words)
        for n, (kind, words) in enumerate(DAILY.items())
    ]
    return _svg(190, [*marks, *labels, *legend])


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
    marks = [_label(160 + n * width + 4, 14, name) for n, name in enumerate(destinations)]
    for line, origin in enumerate(origins):
        marks.append(_label(0, 42 + line * 28, origin))
        for column, destination in enumerate(destinations):
            count = flows[origin, destination]
            if count:
                at, top = 160 + column * width, 24 + line * 28
                title = f"{origin} to {destination}: {count}"
                marks.append(_bar(at, top, width - 2, 26, "#2a78d6", title, 0.15 + 0.6 * count / most))
                marks.append(_label(at + 4, top + 18, str(count)))
    return _svg(32 + 28 * len(origins), marks)


def _sessions(report: Report) -> str:
    """A line for each of the last sessions, over the days of the report."""
    last = sorted(report.sessions.values(), key=lambda session: session.first)[-60:]
    days = _calendar(report)
    if not last or not days:
        return '<p class="none">none</p>\n'
    marks = []
    for line, session in enumerate(last):
        begin, end = _at(session.first, days), _at(session.last, days)
        colour = "#1f9d6b" if session.closed else "#d98a1a"
        title = f"{session.first} to {session.last}, {session.entries} entries"
        marks.append(_bar(begin, 4 + line * 7, max(end - begin, 2), 5, colour, title))
    bottom = 18 + len(last) * 7
    return _svg(bottom + 4, [*marks, _label(0, bottom, days[0]), _label(_WIDTH, bottom, days[-1], "end")])


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


def _at(time: str, days: list[str]) -> float:
    """Where a time lies on an axis on which every day of the report is as wide as the next."""
    hours, minutes = time[11:13], time[14:16]
    part = (int(hours) + int(minutes) / 60) / 24 if hours.isdecimal() and minutes.isdecimal() else 0.0
    return _WIDTH * (days.index(time[:10]) + min(part, 1.0)) / len(days)


def _svg(height: int, marks: list[str]) -> str:
    return f'<svg viewBox="0 0 {_WIDTH} {height}" role="img">\n{"".join(marks)}</svg>\n'


def _bar(x: float, y: float, width: float, height: float, colour: str, title: str, opacity: float = 1) -> str:
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}" '
        f'fill-opacity="{opacity:.2f}"><title>{_text(title)}</title></rect>\n'
    )


def _label(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{_text(text)}</text>\n'


def _text(value: Any) -> str:
    return escape(printable(str(value)))
