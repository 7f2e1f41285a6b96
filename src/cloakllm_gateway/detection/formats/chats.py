"""Who says what, as chats are exported and copied: WhatsApp, Teams, Slack, Signal, Telegram.

A line begins with a date and a time, and the name of who speaks; or the name stands before the time on a line of its
own.  A log has such lines as well, so a name has to look like one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cloakllm_gateway.detection.formats.people import Named, somebody
from cloakllm_gateway.detection.tables import Table
from cloakllm_gateway.patterns import lazy

_DATE = r"\d{1,4}[./-]\d{1,2}[./-]\d{2,4}"
_TIME = r"\d{1,2}:\d\d(?::\d\d)?(?:[ \u202f]?[AaPp]\.?[Mm]\.?)?"
#: ``12/03/2024, 09:41 - Kim: hi`` and ``[12/03/2024, 09:41:10] Kim: hi``; ``Kim  9:41 AM`` above what is said.
SIGN = (
    r"(?:^|\n)[^\w\n]{0,3}\d{1,4}[./-]\d{1,2}[./-]\d{2,4},? \d{1,2}:\d\d(?::\d\d)?.{0,6}(?: - |\] ?)[^\n]"
    r"|[^\W\d_]  +\d{1,2}:\d\d ?[AP]M\r?\n"
)
_SPEAKER = lazy(
    rf"[^\w\n]{{0,3}}{_DATE},? {_TIME}(?:(?P<dash> - )|\] ?)(?:Chat: (?P<chat>[^\n:]{2, 60}?) From: )?"
    r"(?P<name>[^\n:]{2,60}?)(?: \((?:External|Guest|Extern|Gast)\))?"
    r"(?::(?![/\\])|(?(dash)(?!)|\r?$))",
    re.MULTILINE,
)
_ABOVE = lazy(rf"(?P<name>[^\n]{{2,60}}?)  +{_TIME}\r?$", re.MULTILINE)


def tables(text: str, places: Sequence[int]) -> Iterator[Table]:
    """A column of those who speak."""
    found: list[Named] = []
    for at in places:
        if text[at].isalpha():
            match = _ABOVE.match(text, text.rfind("\n", max(at - 64, 0), at) + 1)
        else:
            match = _SPEAKER.match(text, at + (text[at] == "\n"))
        if match:
            found += [(match[group], match.span(group)) for group in ("chat", "name") if match.groupdict().get(group)]
    yield Table(["full name"], [[place] for place in somebody(found)])
