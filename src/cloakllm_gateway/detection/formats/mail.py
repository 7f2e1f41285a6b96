"""The heads of mails that are quoted, forwarded or copied: names without an address, family name first, in a list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cloakllm_gateway.detection.catalogue.people import evident_name, uncommon
from cloakllm_gateway.detection.tables import Table
from cloakllm_gateway.patterns import lazy

#: What the lines are called, by what follows the sender's: without that, ``From:`` may stand above anything.
_FROM = "From|Von|De|Da|Van|Od"
_SENT = "Sent|Date|Gesendet|Datum|Envoyé|Envoy.|Enviado(?: el)?|Inviato|Verzonden|Wysłano|Wys.ano|Data|Fecha"
_TO = "To|An|À|Para|A|Aan|Do|Cc|CC|Bcc|Kopie|DW"
SIGN = rf"(?:^|\n)[> *]{{0,12}}(?:{_FROM}):\**[ \t][^\n]{{1,300}}\n[> *]{{0,12}}(?:{_SENT}|{_TO}):"
_LINE = lazy(
    rf"[> *]{{0,12}}(?:(?P<who>{_FROM}|{_TO})|(?:{_SENT})|(?:Subject|Betreff|Objet|Asunto|Oggetto|Onderwerp|Temat))"
    r":\**[ \t]{0,8}(?P<value>[^\n]{0,4096})(?:\n|\Z)"
)
#: One of a list: up to its address, or to what divides it from the next; a comma may stand in a name.
_NAMED = lazy(r"[ \t]*[\"']?(?P<name>[^\n<;\"'\[(]{2,80}?)[\"']?[ \t]*(?:[<\[(][^\n>;\])]{0,256}[>\])])?[ \t\r]*(?:;|$|,(?=[^<]*<))")
#: So many lines at most are the head of a mail.
_MOST_LINES = 12


def tables(text: str, places: Sequence[int]) -> Iterator[Table]:
    """A column of those who write and read."""
    found: list[list[tuple[int, int]]] = []
    for at in places:
        at += text[at] == "\n"
        for _ in range(_MOST_LINES):
            if (line := _LINE.match(text, at)) is None:
                break
            if line["who"]:
                found += (
                    [named.span("name")]
                    for named in _NAMED.finditer(text, *line.span("value"))
                    if _is_somebody(named["name"])
                )
            at = line.end()
    if found:
        yield Table(["full name"], found)


def _is_somebody(name: str) -> bool:
    """Whether a name is somebody's: ``Novak, Jana``, or words that are no common ones."""
    words = name.replace(",", " ").split()
    if not 1 < len(words) < 6 or not all(word[:1].isupper() or word.islower() for word in words):
        return False
    return bool(evident_name(name) or uncommon(name))
