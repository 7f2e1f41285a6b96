"""The heads of mails that are quoted, forwarded or copied: names without an address, family name first, in a list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cloakllm_gateway.detection.formats.people import Named, somebody
from cloakllm_gateway.detection.tables import Table
from cloakllm_gateway.patterns import lazy

#: What the lines are called, by what follows the sender's: without that, ``From:`` may stand above anything.
_FROM = "From|Von|De|Da|Van|Od"
_SENT = "Sent|Date|Gesendet|Datum|Envoyé|Envoy.|Enviado(?: el)?|Inviato|Verzonden|Wysłano|Wys.ano|Data|Fecha"
_TO = "To|An|À|Para|A|Aan|Do|Cc|CC|Bcc|Kopie|DW"
SIGN = rf"(?:^|\n)[> *]*(?:{_FROM}):\**[ \t][^\n]+\n[> *]*(?:{_SENT}|{_TO}):"
_LINE = lazy(
    rf"[> *]{{0,12}}(?:(?P<who>{_FROM}|{_TO})|(?P<sent>{_SENT})"
    r"|(?P<about>Subject|Betreff|Objet|Asunto|Oggetto|Onderwerp|Temat|Assunto))"
    r":\**[ \t]{0,8}(?P<value>[^\n]{0,4096})(?:\n|\Z)"
)
_KINDS = ("who", "sent", "about")
#: One of a list: up to its address, or to what divides it from the next; a comma may stand in a name.
_NAMED = lazy(
    r"[ \t]*[\"']?(?P<name>[^\n<;\"'\[(]{2,80}?)[\"']?[ \t]*(?:[<\[(][^\n>;\])]{0,256}[>\])])?"
    r"[ \t\r]*(?:;|$|,(?=[^<]*<))"
)
#: So many lines at most are the head of a mail.
_MOST_LINES = 12


def tables(text: str, places: Sequence[int]) -> Iterator[Table]:
    """A column of those who write and read, for each mail."""
    for at in places:
        at += text[at] == "\n"
        found: list[Named] = []
        kinds: set[str] = set()
        for _ in range(_MOST_LINES):
            if (line := _LINE.match(text, at)) is None:
                break
            at, kind = line.end(), next(kind for kind in _KINDS if line[kind])
            kinds.add(kind)
            if kind == "who":
                found += ((named["name"], named.span("name")) for named in _NAMED.finditer(text, *line.span("value")))
        if kinds.issuperset(("sent", "about")):
            yield Table(["full name"], [[place] for place in somebody(found)])
