"""How a value of a field is written: between blanks, with escapes, in a form, and before the end of a sentence."""

from __future__ import annotations

from collections.abc import Iterator

from cloakllm_gateway.detection.fields import Field
from cloakllm_gateway.detection.folding import views
from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.spans import whole_number

#: What a value that is encoded holds, unless it is a run of base64.
MAY_SAY = lazy(r"[^ -~]|[%&\\]")


def readings(raw: str) -> Iterator[str]:
    """What a value says under each layer of its encoding."""
    return (view.text.strip() for view in views(raw)[1:])


def decoded(raw: str, reader: str) -> str:
    """What a value says: one in quotes without its escapes, one of a query string without its percent signs."""
    if ("\\" in raw and reader == "braces") or ("%" in raw and reader == "assignments"):
        readings = views(raw)
        return readings[1].text if len(readings) > 1 else raw
    return whole_number(raw)


def is_in_form(text: str, field: Field, reader: str) -> bool:
    """Whether a value is one of several in the body of a form or a query, where blanks are written as plus signs."""
    if reader != "assignments" or field.quoted or "+" not in text[field.start : field.end]:
        return False
    return text[field.end : field.end + 1] == "&" or text[field.start - len(field.key) - 2 : field.start].startswith(
        "&"
    )


def spaced(value: str) -> str:
    """What a value of a form says."""
    return views(value.replace("+", " "))[-1].text


#: What ends a sentence, or a clause, and no value before it; passwords do end so.
SENTENCE_ENDS = ".,;!?"
NO_PASSWORD_ENDS = ".,;"


def trimmed(text: str, field: Field, ends: str = SENTENCE_ENDS) -> tuple[int, int]:
    start, end = field.start, field.end
    if text[start].isspace() or text[end - 1].isspace():
        value = text[start:end]
        start += len(value) - len(value.lstrip())
        end = start + len(value.strip())
    if not field.quoted and end > start and text[end - 1] in ends:
        end -= 1
    return start, without_fraction(text, start, end)


def without_fraction(text: str, start: int, end: int) -> int:
    """Where a whole number ends without the fraction that spreadsheets give it: ``536228726.0``."""
    if not text.endswith("0", start, end):
        return end
    digits = text[start:end].rstrip("0")
    return start + len(digits) - 1 if digits.endswith(".") and digits[:-1].isdigit() else end
