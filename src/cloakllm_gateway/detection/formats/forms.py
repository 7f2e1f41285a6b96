"""The parts of a form as a request carries it: ``Content-Disposition: form-data; name="dob"`` above the value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cloakllm_gateway.detection.tables import Table
from cloakllm_gateway.patterns import lazy

SIGN = 'form-data; name="'
#: Of a part that is no file: more headers, an empty line, and a value of one line up to the boundary (RFC 7578).
_PART = lazy(
    r'form-data; name="(?P<key>[^"\n]{1,100})"\r?\n(?:[A-Za-z-]{1,40}: [^\n]{0,200}\n){0,4}\r?\n'
    r"(?P<value>[^\r\n]{1,4096})\r?\n--"
)


def tables(text: str, places: Sequence[int]) -> Iterator[Table]:
    """All parts of a text as one record."""
    parts = [part for at in places if (part := _PART.match(text, at))]
    if parts:
        yield Table([part["key"] for part in parts], [[part.span("value") for part in parts]])
