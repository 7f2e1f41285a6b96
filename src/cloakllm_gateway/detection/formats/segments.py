"""Messages of segments, whose fields have a place and no name: HL7 version 2, and the claims of X12.

A segment begins with its tag and has its fields between marks; in HL7 a field may be repeated, and has parts.  What
stands where is in a table, of the fields that say who somebody is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cloakllm_gateway.detection.tables import Table
from cloakllm_gateway.patterns import lazy

#: Fields of HL7, by tag and number: the key of the whole field, or what its parts are (HL7 2.5.1).
_NAME, _ID, _CARER = "name of a person", "identifier", "identifier and name"
_HL7: Mapping[str, Mapping[int, str]] = {
    "PID": {2: _ID, 3: _ID, 4: _ID, 5: _NAME, 6: _NAME, 7: "date of birth", 9: _NAME, 11: "address", 13: "phone",
            14: "phone", 19: "ssn", 20: "driver license"},
    "NK1": {2: _NAME, 4: "address", 5: "phone", 6: "phone", 16: "date of birth", 30: _NAME, 31: "phone", 37: "ssn"},
    "GT1": {3: _NAME, 4: _NAME, 5: "address", 6: "phone", 7: "phone", 8: "date of birth", 12: "ssn"},
    "IN1": {16: _NAME, 18: "date of birth", 19: "address", 36: "policy number", 49: _ID},
    "PV1": {7: _CARER, 8: _CARER, 9: _CARER, 17: _CARER},
    "PD1": {4: _CARER},
}  # fmt: skip
_PARTS: Mapping[str, Mapping[int, str]] = {
    _NAME: {0: "last name", 1: "first name", 2: "middle name"},
    _CARER: {1: "last name", 2: "first name", 3: "middle name"},
    _ID: {0: "mrn"},
    "address": {0: "address"},
    "phone": {0: "phone"},
    "driver license": {0: "driver license"},
}
#: What identifiers of some types are (HL7 table 0203); the type is their fifth part.
_TYPES = {
    "SS": "ssn",
    "DL": "driver license",
    "PPN": "passport number",
    "MR": "mrn",
    "PI": "mrn",
    "MC": "medicare number",
}
_TYPE = 4

#: The same of X12, by the number of the field.
_X12: Mapping[str, Mapping[int, str]] = {
    "NM1": {3: "last name", 4: "first name", 5: "middle name", 9: "member id"},
    "DMG": {2: "date of birth"},
    "N3": {1: "address"},
}

SIGN = r"(?:^|[\n\r])(?:PID|NK1|GT1|IN1|PV1|PD1)\|[^\n\r|]*\||(?:^|[\n\r~])(?:NM1\*[A-Z0-9]{2,3}\*1|DMG\*D8|N3)\*"
_SEGMENT = lazy(r"[\n\r~]?(?P<tag>[A-Z][A-Z0-9]{1,2})(?P<mark>[|*])[^\n\r~]{1,8192}(?=[\n\r~]|\Z)")
_HL7_SEGMENT = lazy(r"[\n\r]?(?P<tag>[A-Z][A-Z0-9]{2})\|[^\n\r]{1,8192}")

#: A value with its key.
_Keyed = tuple[str, tuple[int, int]]


def tables(text: str, places: Sequence[int]) -> Iterator[Table]:
    """Each segment as a record; those that follow another, as X12 has them, are one."""
    for at in places:
        if match := _HL7_SEGMENT.match(text, at):
            fields = _HL7.get(match["tag"], {})
            keyed = [
                each
                for number, place in enumerate(_split(text, "|", match.start("tag"), match.end()))
                if number in fields
                for repeated in _split(text, "~", *place)
                for each in _parts(text, fields[number], *repeated)
            ]
        elif match := _SEGMENT.match(text, at):
            fields = _X12.get(match["tag"], {})
            split = enumerate(_split(text, "*", match.start("tag"), match.end()))
            keyed = [(fields[number], place) for number, place in split if number in fields]
        else:
            continue
        if keyed:
            yield Table([key for key, _ in keyed], [[place for _, place in keyed]])


def _parts(text: str, kind: str, start: int, end: int) -> Iterator[_Keyed]:
    """What the parts of a field of HL7 are."""
    places = list(_split(text, "^", start, end))
    known = _PARTS.get(kind, {0: kind})
    if kind == _ID and len(places) > _TYPE:
        known = {0: _TYPES.get(text[slice(*places[_TYPE])], known[0])}
    yield from ((key, places[number]) for number, key in known.items() if _holds(places, number))


def _holds(places: Sequence[tuple[int, int]], number: int) -> bool:
    """Whether there is such a part, and more in it than an initial."""
    return number < len(places) and places[number][1] - places[number][0] > 1


def _split(text: str, mark: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where the parts of a range of a text are that a mark divides."""
    for part in text[start:end].split(mark):
        yield start, start + len(part)
        start += len(part) + 1
