"""Documents in the formats that systems write, with invented people in them: what is hidden is marked, all else stays.

Each file of ``documents`` has several, each below its title; a value that has to be found stands between « and ».
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloakllm_gateway import linear
from cloakllm_gateway.detection.engine import Detector
from cloakllm_gateway.detection.formats import FORMATS, SIGN, bound
from cloakllm_gateway.spans import Text

DETECTOR = Detector()
_FILES = sorted(Path(__file__).with_name("documents").glob("*.txt"))


def documents() -> Iterator[tuple[str, str]]:
    """Each document with its title."""
    for path in _FILES:
        for block in re.split(r"(?m)^#### ", path.read_text("utf-8"))[1:]:
            title, _, document = block.partition("\n")
            yield f"{path.stem}: {title}", document


_DOCUMENTS = dict(documents())


def marked(text: str) -> str:
    """A text with marks around what is found in it."""
    shown, at = "", 0
    for span in DETECTOR.find([Text(text)])[0]:
        shown += f"{text[at : span.start]}«{text[span.start : span.end]}»"
        at = span.end
    return shown + text[at:]


def values(text: str) -> list[str]:
    return [span.value for span in DETECTOR.find([Text(text)])[0]]


@pytest.mark.parametrize("title", _DOCUMENTS)
def test_of_a_document_exactly_what_is_marked_is_hidden(title: str) -> None:
    document = _DOCUMENTS[title]
    assert marked(document.replace("«", "").replace("»", "")) == document


@pytest.mark.parametrize("title", _DOCUMENTS)
def test_nothing_is_found_in_the_tokens_of_a_document(title: str) -> None:
    text = _DOCUMENTS[title].replace("«", "").replace("»", "")
    shown, at = "", 0
    for number, span in enumerate(DETECTOR.find([Text(text)])[0]):
        shown += f"{text[at : span.start]}[{span.category}_{number}]"
        at = span.end
    shown += text[at:]
    tokens = [match.span() for match in re.finditer(r"\[[A-Z_]+_\d+\]", shown)]
    for span in DETECTOR.find([Text(shown)])[0]:
        assert not any(span.start < end and start < span.end for start, end in tokens), span


def test_there_are_documents_about_nobody_as_well() -> None:
    assert len(_DOCUMENTS) > 100
    assert sum("«" not in document for document in _DOCUMENTS.values()) > 30


# -- lines that are cut -----------------------------------------------------------------------------

_VALUES = {
    "FN": "Bartholomew Fotheringay",
    "EMAIL;TYPE=work": "bartholomew.fotheringay@example.co.uk",
    "TEL;TYPE=cell": "+44 7700 900123",
}


@given(st.sampled_from(sorted(_VALUES)), st.integers(24, 75), st.sampled_from(["\n ", "\r\n ", "\n\t"]))
def test_a_value_is_found_wherever_its_line_is_cut(key: str, width: int, cut: str) -> None:
    """RFC 6350 3.2: after any octet, and the blank that follows is no part of the value."""
    value = _VALUES[key]
    line = f"{key}:{value}"
    folded = cut.join(line[at : at + width] for at in range(0, len(line), width))
    text = f"BEGIN:VCARD\nVERSION:4.0\n{folded}\nEND:VCARD\n"
    assert [found.replace(cut, "") for found in values_as_written(text)] == [value]


def values_as_written(text: str) -> list[str]:
    return [text[span.start : span.end] for span in DETECTOR.find([Text(text)])[0]]


def test_indented_lines_of_other_text_stay_apart() -> None:
    assert values("jane.doe\n @example.com\n") == []


# -- values beside a statement ----------------------------------------------------------------------

_COLUMNS = {"id": "7", "first_name": "'Wilhelmina'", "plan": "'premium'", "dob": "'1984-07-03'", "ssn": "'536228726'"}
_PERSONAL = ("first_name", "dob", "ssn")
_STYLES = st.sampled_from(["?", "%s", "$", ":"])


@given(st.permutations(sorted(_COLUMNS)), _STYLES, st.booleans(), st.integers(1, 3))
def test_the_values_of_a_statement_are_told_by_its_columns(
    columns: list[str], style: str, is_insert: bool, rows: int
) -> None:
    holes = [style if style in ("?", "%s") else f"{style}{number}" for number in range(1, len(columns) + 1)]
    if is_insert:
        statement = f"INSERT INTO t ({', '.join(columns)}) VALUES ({', '.join(holes)})"
    else:
        conditions = (f"t.{column} = {hole}" for column, hole in zip(columns, holes, strict=True))
        statement = f"SELECT 1 FROM t WHERE {' AND '.join(conditions)}"
    row = f"({', '.join(_COLUMNS[column] for column in columns)})"
    listed = row if rows == 1 else f"[{', '.join([row] * rows)}]"
    found = values(f"{statement}\n[generated in 0.0002s] {listed}\nCOMMIT\n")
    assert found == [_COLUMNS[column].strip("'") for column in columns if column in _PERSONAL] * rows


@given(st.text("()[]'\"?,$1 =xé\n", max_size=80))
def test_values_that_are_cut_off_or_broken_are_read_as_far_as_they_go(rest: str) -> None:
    text = f"insert into t (dob) values (?)\n[generated in 1s] ('1984-07-03'{rest}"
    assert list(bound.tables(text, [text.index("[")])) is not None
    DETECTOR.find([Text(text), Text(f"parameters: $1 = '{rest}")])


# -- forms ------------------------------------------------------------------------------------------

_LABELS = {"First name": "Zora", "Surname": "Hurston", "Date of birth": "7 January 1991", "Phone": "555-0143"}


@given(
    st.lists(st.sampled_from(sorted(_LABELS)), min_size=2, max_size=4, unique=True),
    st.sampled_from(["\n", ":\n", "\n\n", "    ", " ....... ", ": ______", ":\t"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_labels_of_a_form_prove_what_is_beside_or_below(labels: list[str], gap: str, end: str) -> None:
    gap = gap.replace("\n", end)
    text = end.join(f"{label}{gap}{_LABELS[label]}" for label in labels) + end
    assert values(text) == [_LABELS[label] for label in labels]


# -- the table of formats ---------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(len(FORMATS)))
def test_every_format_is_in_a_document_and_its_sign_is_one_of_the_gate(number: int) -> None:
    sign = FORMATS[number].sign
    assert sign in SIGN
    texts = [document.replace("«", "").replace("»", "") for document in _DOCUMENTS.values()]
    search = linear.compiled(sign)
    assert any([*linear.spans(search, linear.as_bytes(text))] for text in texts)


def test_what_looks_like_a_password_of_two_words_is_mostly_a_remark() -> None:
    remarks = wrap("not set, see vault, must match, user defined, never expires, change me", 60)
    assert values("\n".join(f"password: {remark}" for line in remarks for remark in line.split(", "))) == []
