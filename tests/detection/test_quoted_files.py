"""A file in a string of JSON is read line by line: a value ends where its line does, and the first line has a key."""

from __future__ import annotations

import json

import pytest

from cloakllm_gateway.detection.engine import Detector
from cloakllm_gateway.spans import Text

DETECTOR = Detector()


def found(text: str) -> list[str]:
    return [text[span.start : span.end] for span in DETECTOR.find([Text(text)])[0]]


#: Files, each with the values of its lines.
FILES = {
    "dotenv": ('JWT_SECRET=hunter2\nSMTP_PASSWORD="hunter4"\n', ["hunter2", "hunter4"]),
    "environment": ("DB_PASSWORD=hunter2\nSMTP_PASSWORD=hunter3x\nHOST=x", ["hunter2", "hunter3x"]),
    "exported": ("export DB_PASSWORD=hunter2\nexport X=1\n", ["hunter2"]),
    "properties": ("db.password=hunter2\n# comment\n", ["hunter2"]),
    "of one line": ("password=hunter2x\n", ["hunter2x"]),
    "yaml": ("password: hunter2\nuser: jdoe\n", ["hunter2", "jdoe"]),
    "yaml without an end": ("user: jdoe\napi_key: hunter2x9K", ["jdoe", "hunter2x9K"]),
    "nested yaml": ("db:\n  password: hunter2\n  host: x\n", ["hunter2"]),
    "a note": ("Password: hunter2\n\nThanks", ["hunter2"]),
    "a form": ("First name: Zora\nSurname: Quux\nDate of birth: 3.7.1981", ["Zora", "Quux", "3.7.1981"]),
}


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", FILES)
def test_each_value_of_a_quoted_file_is_found_and_no_more(name: str, end: str, depth: int) -> None:
    text, values = FILES[name]
    text = text.replace("\n", end)
    for _ in range(depth):
        text = json.dumps({"content": text})
    assert found(text) == values


@pytest.mark.parametrize("text", [r"DB_PASSWORD=hun\nter2", r"PASSWORD=ab1\r9x\nx7= end", r"PASSWORD=a1b2\nc3d4 x"])
def test_a_backslash_and_a_letter_may_be_of_a_password(text: str) -> None:
    assert found(text) == [text.partition("=")[2].partition(" ")[0]]


@pytest.mark.parametrize("quote", ["&quot;", "&apos;", "&#34;", "&#x27;", "&amp;quot;"])
def test_a_quote_that_html_escapes_is_no_secret(quote: str) -> None:
    assert found(f"<a title='password={quote}hunter2{quote}'>") == ["hunter2"]
    assert found(f"password={quote}hunter2{quote} x") == ["hunter2"]


def test_an_ampersand_that_html_escapes_divides_parameters() -> None:
    assert found("a?user=jdoe&amp;password=hunter2&amp;x=1") == ["jdoe", "hunter2"]
