"""The readings of a text, and the way back from them."""

from __future__ import annotations

import base64
import html
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloakllm_gateway.detection.folding import MAX_LAYERS, literals, views
from cloakllm_gateway.detection.view import View
from cloakllm_gateway.errors import DetectionError
from cloakllm_gateway.spans import Encoding

TEXTS = st.text(max_size=60)
NOISY = st.lists(
    st.sampled_from(
        [
            "a",
            "kim",
            "@",
            ".org",
            "\\",
            "u0040",
            "%",
            "25",
            "40",
            "&#64;",
            "&amp;",
            "=",
            "\n",
            "\u200b",
            "＠",
            "é",
            '"',
            "\u0301",
            "ê",
            "\\u0303",
        ]
    ),
    max_size=25,
)


@given(TEXTS | NOISY.map("".join))
def test_every_view_maps_into_the_text_and_keeps_its_order(text: str) -> None:
    try:
        readings = views(text)
    except DetectionError:
        return
    assert readings[0].text == text
    for view in readings:
        last = 0
        for at in range(len(view.text)):
            start, end = view.original(at, at + 1)
            assert 0 <= start < end <= len(text)
            assert start >= last or view.around(at, at + 1) != (view, at, at + 1)
            last = start


@given(TEXTS)
def test_text_inside_json_is_read_and_mapped_to_its_raw_spelling(text: str) -> None:
    outer = json.dumps({"body": text})
    raw = outer[len('{"body": "') : -2]
    reading = views(outer)[1] if len(views(outer)) > 1 else views(outer)[0]
    if text:
        first = reading.original(10, 11)[0]
        assert outer[first:].startswith(raw[:1])


@pytest.mark.parametrize(
    ("text", "value", "encoding"),
    [
        (r'{"a": "bj\u00f6rn@x.org"}', "björn@x.org", Encoding.JSON),
        (r'{"a": "{\"mail\": \"kim@x.org\"}"}', '{"mail": "kim@x.org"}', Encoding.JSON),
        ("u=kim%40x.org", "kim@x.org", Encoding.URL),
        ("u=kim%2540x.org", "kim@x.org", Encoding.URL),
        ("kim&#64;x.org", "kim@x.org", Encoding.HTML),
        ("kim&amp;#x40;x.org", "kim@x.org", Encoding.HTML),
        ('kim=40x.org <a href=3D"">', "kim@x.org", Encoding.QUOTED_PRINTABLE),
        ("ｋｉｍ＠ｘ．ｏｒｇ", "kim@x.org", Encoding.FOLDED),
        ("kim@\u200bx.org", "kim@x.org", Encoding.FOLDED),
        ("jose\u0301@x.org", "josé@x.org", Encoding.FOLDED),
        ("nguye\u0302\u0303n@x.org", "nguyễn@x.org", Encoding.FOLDED),
        ("nguyê\u0303n@x.org", "nguyễn@x.org", Encoding.FOLDED),
        ("Ивано\u0301в", "Иванов", Encoding.FOLDED),
        ("+49\u00a030\u202f123", "+49 30 123", Encoding.FOLDED),
        ("٠٩٠", "090", Encoding.FOLDED),
        ("kim\x00@x.org", "kim@x.org", Encoding.FOLDED),
        ("kim\x1c@x.org", "kim@x.org", Encoding.FOLDED),
        ("data " + base64.b64encode(b"kim@example.org").decode(), "kim@example.org", Encoding.BASE64),
        ("data " + b"kim@example.org".hex(), "kim@example.org", Encoding.HEX),
    ],
)
def test_each_encoding_is_read(text: str, value: str, encoding: Encoding) -> None:
    reading = views(text)[-1]
    at = reading.text.index(value)
    assert reading.encoding_of(at, at + len(value)) is encoding


@pytest.mark.parametrize(
    ("text", "reading"),
    [("%F3%41", "%F3A"), ("%E2%6B%69m", "%E2kim"), ("=E2=6B=69m =C3=A9", "=E2kim é"), ("%C3%A9%80%C3", "é%80%C3")],
)
def test_a_byte_that_begins_no_character_takes_none_of_those_behind_it(text: str, reading: str) -> None:
    assert views(text)[-1].text == reading


def test_a_layer_inside_a_layer_is_read() -> None:
    inner = json.dumps({"mail": "björn@example.org"})
    for wrap in (json.dumps, quote, html.escape, lambda text: base64.b64encode(text.encode()).decode()):
        twice = json.dumps({"body": wrap(inner)})
        assert any("björn@example.org" in view.text for view in views(twice)), twice


def test_a_base64_run_is_one_piece() -> None:
    run = base64.b64encode(b"write to kim@example.org today").decode()
    reading = views(f"data: {run} end")[1]
    at = reading.text.index("kim@")
    start, end = reading.original(at, at + 15)
    assert f"data: {run} end"[start:end] == run


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=12), st.text("éßñ→😀", max_size=3))
def test_text_that_is_mostly_ascii_is_read_from_base64_and_hexadecimal(ascii_text: str, rest: str) -> None:
    raw = (ascii_text + rest).encode()
    if len(raw) * 0.7 > len(ascii_text):
        return
    for run in (base64.b64encode(raw).decode(), raw.hex(), "0x" + raw.hex().upper(), "a/b " + raw.hex()):
        if not run.rpartition(" ")[2].isdecimal():  # a number, whatever its bytes would read
            assert any(ascii_text + rest in view.text for view in views(f"data: {run} end")), run


def test_hexadecimal_behind_a_slash_of_a_long_run_is_read() -> None:
    assert "kim@example.org" in views("at /srv/QXJ0aWZhY3Rz/" + b"kim@example.org".hex())[1].text


@given(st.text(st.sampled_from('ab:"\\\n\té😀'), max_size=20))
def test_a_string_literal_with_quotes_is_read_by_itself(said: str) -> None:
    said += '"'
    text = json.dumps({"first": 'not "this"', "a": said})
    reading = views(text)[1]
    found = [*literals(View(text), reading, lambda part: part == said)]
    (literal,) = [view for view in found if view.inner and not view.inner.inner]
    assert literal.text == said
    for i, char in enumerate(said):
        start, end = literal.original(i, i + 1)
        assert json.loads(f'"{text[start:end]}"') == char


def test_plain_text_has_one_reading() -> None:
    assert len(views("Nothing is encoded here: 3f2a1c9d8e7b6a5f4c3d2e1f0a9b8c7d6e5f4a3b, 50 %, R&D.")) == 1


def test_what_is_encoded_too_often_is_refused_and_not_left_unread() -> None:
    text = "kim@example.org"
    for _ in range(MAX_LAYERS + 2):
        text = base64.b64encode(text.encode()).decode()
    with pytest.raises(DetectionError):
        views(text)


def test_any_number_of_string_escapes_is_taken_off() -> None:
    text = '"kim@x.org"'
    for _ in range(10):
        text = json.dumps(text)
    assert '"kim@x.org"' in views(text)[-1].text


@pytest.mark.parametrize("form", ["data={}", "https://example.org/?d={}&page=2", '<a href="/x?q={}">', "d={}"])
def test_a_base64_run_may_be_assigned(form: str) -> None:
    said = "first_name,email\nZora,zora@example.org\n"
    run = base64.b64encode(said.encode()).decode()
    for written in (run, run.rstrip("="), quote(run)):
        assert said.strip() in views(form.format(written))[-1].text


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=13).map("?>".__add__))
def test_base64_of_urls_is_read(said: str) -> None:
    run = base64.urlsafe_b64encode(said.encode()).decode()
    assert said in [view.text for view in views(run)] and said in [view.text for view in views(run.rstrip("="))]
