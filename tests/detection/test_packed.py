"""What is packed into base64, hexadecimal or an escaped form is hidden like what stands plainly."""

from __future__ import annotations

import base64
import html
import json
import quopri
import random
import re
import uuid
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from cloakllm_gateway.detection.engine import Detector
from cloakllm_gateway.detection.folding import views
from cloakllm_gateway.spans import Text
from tests.cost import compare

DETECTOR = Detector()
VALUES = ["zora.quimby@posteo-mail.de", "536-22-8726", "4111 1111 1111 1111", "+44 20 7946 0123"]
SURROUNDINGS = [
    "",
    "Write to her ",
    "Änderung für Müller: ",
    "Größe und Straße – ",
    "Здравствуйте, пишите на ",
    "Γράψτε στο ",
    "请联系 ",
    "メールは ",
    "이메일 ",
    "כתבו אל ",
    "راسلني على ",
    "🎉🎉 ",
    "ça va? Écris à ",
    "line one\r\nline two\r\n",
]


def packed(text: str, charset: str = "utf-8") -> str:
    return base64.b64encode(text.encode(charset)).decode()


#: A run that is hidden whole, by what made it.
RUNS: dict[str, Callable[[str], str]] = {
    "base64": packed,
    "base64 of URLs": lambda text: base64.urlsafe_b64encode(text.encode()).decode().rstrip("="),
    "base64 of UTF-16 with its mark": lambda text: packed(text, "utf-16"),
    "hexadecimal": lambda text: text.encode().hex(),
    "capital hexadecimal": lambda text: text.encode().hex().upper(),
}
#: Where such a run may stand.
PLACES = [
    "{}",
    "data: {} end",
    "powershell -EncodedCommand {}",
    '{{"body": {{"data": "{}"}}}}',
    "<img src='data:text/plain;charset=utf-8;base64,{}'>",
    "token={}&page=2",
    "('{}',)",
    "Content-Transfer-Encoding: base64\r\n\r\n{}\r\n",
]
#: What is decoded character by character.
ESCAPES: dict[str, Callable[[str], str]] = {
    "percent": lambda text: quote(text, safe=""),
    "percent twice": lambda text: quote(quote(text, safe=""), safe=""),
    "percent three times": lambda text: quote(quote(quote(text, safe=""), safe=""), safe=""),
    "data: URL": lambda text: f"data:text/html;charset=utf-8,{quote(text)}",
    "decimal references": lambda text: "".join(f"&#{ord(char)};" for char in text),
    "decimal references without semicolons": lambda text: "".join(f"&#{ord(char)}" for char in text),
    "padded references": lambda text: "".join(f"&#{ord(char):07};" for char in text),
    "hexadecimal references": lambda text: "".join(f"&#x{ord(char):X};" for char in text),
    "references twice": lambda text: html.escape("".join(f"&#{ord(char)};" for char in text)),
    "JSON": lambda text: json.dumps({"a": text}),
    "JSON in JSON": lambda text: json.dumps({"a": json.dumps({"b": text})}),
    "all of JSON": lambda text: "".join(('{"a": "', *(f"\\u{unit:04x}" for unit in units(text)), '"}')),
    "characters of JavaScript": lambda text: "".join(f"\\u{{{ord(char):x}}}" for char in text),
    "bytes of C": lambda text: "".join(f"\\x{byte:02x}" for byte in text.encode("latin-1", "replace")),
    "octal": lambda text: "".join(f"\\{byte:03o}" for byte in text.encode()),
    "characters of Python": lambda text: "".join(f"\\U{ord(char):08x}" for char in text),
    "a list of decimal codes": lambda text: json.dumps([*text.encode()]),
    "decimal codes in lines": lambda text: json.dumps({"type": "Buffer", "data": [*text.encode()]}, indent=2),
    "decimal codes of JavaScript": lambda text: f"String.fromCharCode({','.join(str(byte) for byte in text.encode())})",
    "hexadecimal codes": lambda text: text.encode().hex(" "),
    "hexadecimal codes with colons": lambda text: text.encode().hex(":").upper(),
    "hexadecimal codes of C": lambda text: ", ".join(f"0x{byte:02x}" for byte in text.encode()),
    "Markdown": lambda text: re.sub(r"([_.@+()-])", r"\\\1", text),
    "colours": lambda text: (
        "\x1b[01;31m\x1b[K" + "\x1b[0m\x1b[38;5;9m".join(text[at : at + 5] for at in range(0, len(text), 5))
    ),
    "quoted-printable": lambda text: quopri.encodestring((text + " =C3=BC").encode()).decode(),
    "all quoted-printable": lambda text: "".join(f"={byte:02X}" for byte in text.encode()),
}


def units(text: str) -> list[int]:
    raw = text.encode("utf-16-be")
    return [int.from_bytes(raw[at : at + 2], "big") for at in range(0, len(raw), 2)]


def hidden(text: str) -> str:
    """The text with what is found in it cut out."""
    kept, done = [], 0
    for span in DETECTOR.find([Text(text)])[0]:
        kept.append(text[done : span.start])
        done = span.end
    return "\x1e".join((*kept, text[done:]))


def survives(value: str, text: str) -> bool:
    return any(value in view.text for view in views(text))


def texts_of(surroundings: list[str]) -> st.SearchStrategy[tuple[str, str]]:
    """Some words, a value and other words, with the value."""
    words = st.lists(st.sampled_from(surroundings), max_size=3).map("".join)
    return st.builds(
        lambda before, value, after: (before + value + (" " + after if after else ""), value),
        words,
        st.sampled_from(VALUES),
        words,
    )


texts = texts_of(SURROUNDINGS)


def told(text: str, value: str) -> None:
    """Only what is found where it stands plainly is a promise."""
    assume(value not in hidden(text))


@pytest.mark.parametrize("kind", RUNS)
@given(said=texts, place=st.sampled_from(PLACES))
@settings(max_examples=25)
def test_a_value_in_a_run_never_survives(kind: str, said: tuple[str, str], place: str) -> None:
    text, value = said
    told(text, value)
    assert not survives(value, hidden(place.format(RUNS[kind](text))))


@pytest.mark.parametrize("kind", ESCAPES)
@given(said=texts)
@settings(max_examples=15)
def test_a_value_that_is_escaped_never_survives(kind: str, said: tuple[str, str]) -> None:
    text, value = said
    told(text, value)
    assert not survives(value, hidden(ESCAPES[kind](text)))


@pytest.mark.parametrize(
    "tags", ["<em>{}</em>", '<span class="hit">{}</span>', "<wbr>{}", "<!-- -->{}<!-- -->", "<b><i>{}</i></b>"]
)
@given(value=st.sampled_from(["zora.quimby@posteo-mail.de", "536-22-8726", "4111111111111111"]), at=st.data())
@settings(max_examples=30)
def test_a_value_with_tags_inside_never_survives(tags: str, value: str, at: st.DataObject) -> None:
    first = at.draw(st.integers(1, len(value) - 2))
    last = at.draw(st.integers(first + 1, len(value) - 1))
    marked = value[:first] + tags.format(value[first:last]) + value[last:]
    assert not survives(value, hidden(f"<p>Write to {marked}, please: card or mail</p>"))


@pytest.mark.parametrize("escape", [lambda run: run.replace("/", "\\/"), lambda run: run.replace("+", "\\u002B")])
@given(said=texts)
@settings(max_examples=25)
def test_digits_that_are_escaped_in_json_are_read_with_the_others(
    escape: Callable[[str], str], said: tuple[str, str]
) -> None:
    text, value = f"?>?>?>~~~ {said[0]} ~~~?>?>?>", said[1]
    told(text, value)
    assert not survives(value, hidden(escape(json.dumps({"data": packed(text)}))))


@given(said=texts, width=st.integers(60, 76))
@settings(max_examples=25)
def test_the_first_of_several_lines_may_stand_behind_its_key(said: tuple[str, str], width: int) -> None:
    """As in a directory's export."""
    text, value = f"cn=Müller,ou=Vertrieb Süd,o=Beispiel GmbH,c=DE,{said[0]}", said[1]
    told(text, value)
    line = f"dn:: {packed(text)}"
    lines = [line[:width], *(line[at : at + width - 1] for at in range(width, len(line), width - 1))]
    assert not survives(value, hidden("\n ".join(lines) + "\nobjectClass: person\n"))


@given(said=texts_of([text for text in SURROUNDINGS if text.isascii() or text[0] in "Äç"]))
@settings(max_examples=25)
def test_nor_does_one_in_latin_1(said: tuple[str, str]) -> None:
    text, value = said
    told(text, value)
    raw = text.encode("latin-1")
    for run in (base64.b64encode(raw).decode(), raw.hex()):
        assert run not in hidden(f"data: {run} end")


@given(said=texts)
@example(said=("メールは 🎉🎉 536-22-8726 请联系 请联系 🎉🎉 ", "536-22-8726"))
@settings(max_examples=25)
def test_a_script_for_powershell_is_read(said: tuple[str, str]) -> None:
    text, value = f"Send-Mail {said[0]}", said[1]
    told(text, value)
    run = packed(text, "utf-16-le")
    assert run not in hidden(f"powershell -EncodedCommand {run}")


@pytest.mark.parametrize("script", ["Привет, пишите на ", "Γράψτε στο ", "כתבו אל ", "راسلني على ", "Müller "])
def test_utf_16_without_a_mark_is_read_where_it_begins_in_a_script_of_letters(script: str) -> None:
    run = packed(f"{script}zora.quimby@posteo-mail.de", "utf-16-le")
    assert run not in hidden(run)


@example(said=(f"Здравствуйте, пишите на {'ça va? Écris à ' * 2}536-22-8726", "536-22-8726"), fill=80, newline="\\n")
@given(said=texts, fill=st.integers(0, 80), newline=st.sampled_from(["\n", "\r\n", "\n    ", "\\n", "\\\\n", "%0D%0A"]))
@settings(max_examples=40)
def test_a_value_across_the_end_of_a_line_of_base64_is_read(said: tuple[str, str], fill: int, newline: str) -> None:
    text, value = f"{'Dear all, ' * 20}"[:fill] + " " + said[0], said[1]
    told(text, value)
    lines = base64.encodebytes(text.encode()).decode().split("\n")
    shown = hidden(f"Content-Transfer-Encoding: base64{newline * 2}{newline.join(lines)}")
    whole = "".join(line for line in shown.replace("%0D%0A", "\n").replace("\\n", "\n").split() if line in lines)
    assert base64.b64encode(value.encode()).decode()[4:-8] not in whole
    assert not survives(value, whole)


@pytest.mark.parametrize("kind", ["base64 of URLs", "base64", "hexadecimal"])
@pytest.mark.parametrize("script", [text for text in SURROUNDINGS if "\n" not in text])
def test_a_segment_of_a_path_is_read(kind: str, script: str) -> None:
    run = RUNS[kind](f"{script}zora.quimby@posteo-mail.de").replace("/", "_")
    for form in (
        "https://example.org/v/{}/edit",
        "https://example.org/v/{}",
        "/srv/{}/index.html?x=1",
        "GET /a/b/{}/ HTTP/1.1",
    ):
        assert run.rstrip("=") not in hidden(form.format(run)), form
        assert run.rstrip("=") not in hidden(form.format(quote(run, safe=""))), form


@pytest.mark.parametrize("prefix", ["\\x", "0x", "x'", "E'\\\\x"])
@given(said=texts)
@settings(max_examples=15)
def test_bytes_of_a_database_are_read(prefix: str, said: tuple[str, str]) -> None:
    text, value = said
    told(text, value)
    run = prefix + text.encode().hex() + "'" * prefix.count("'")
    for written in (run, json.dumps({"note": run}), f" id | note \n----+------\n  1 | {run}\n"):
        assert not survives(value, hidden(written)), written


def test_only_the_bytes_of_what_a_prefix_announces_are_replaced() -> None:
    run = "\\x" + b"write to zora.quimby@posteo-mail.de".hex()
    (span,) = DETECTOR.find([Text(run)])[0]
    assert (span.start, span.end) == (2, len(run))


def test_base64_that_was_cut_short_is_read() -> None:
    run = packed("请联系 zora.quimby@posteo-mail.de 或者拨打电话")
    for size in range(len(run) - 12, len(run)):
        assert run[:size] not in hidden(f"preview: {run[:size]}...")


# -- what holds nothing ---------------------------------------------------------------------------

CHANCE = random.Random()


def noise(size: int) -> bytes:
    return CHANCE.randbytes(size)


CLEAN: dict[str, Callable[[], str]] = {
    "a picture": lambda: f'<img src="data:image/png;base64,{base64.b64encode(noise(60_000)).decode()}">',
    "an attachment": lambda: base64.encodebytes(noise(60_000)).decode(),
    "an attachment in JSON": lambda: json.dumps({"data": base64.encodebytes(noise(60_000)).decode()}),
    "a dump": lambda: noise(40_000).hex(),
    "bytes of a database": lambda: "\n".join(f" {at} | \\x{noise(40).hex()}" for at in range(500)),
    "integrity of packages": lambda: json.dumps(
        {f"pkg-{at}": {"integrity": f"sha512-{base64.b64encode(noise(64)).decode()}"} for at in range(600)}, indent=2
    ),
    "hashes": lambda: "\n".join(
        f"{noise(20).hex()} {noise(32).hex()} {base64.b64encode(noise(32)).decode()}" for _ in range(400)
    ),
    "ids": lambda: "\n".join(
        f"{uuid.UUID(bytes=noise(16))} {noise(8).hex()} {base64.urlsafe_b64encode(noise(24)).decode()}"
        for _ in range(600)
    ),
    "a program": lambda: base64.b64encode(bytes(CHANCE.choices(OPCODES, k=60_000))).decode(),
    "small integers": lambda: "\n".join(
        base64.b64encode(noise(40).translate(bytes(range(8)) * 32)).decode() for _ in range(400)
    ),
    "names in code": lambda: "\n".join("".join(CHANCE.choices(NAMES, k=9)) for _ in range(2_000)),
}
OPCODES = [*range(14), *b" !$(6AGjkt\x7f", 0x80, 0xBF]
NAMES = ["get", "Element", "By", "Identifier", "Value", "Http", "Request", "_", "8", "Async", "-", "/"]


@pytest.mark.parametrize("kind", CLEAN)
def test_what_is_no_text_holds_nothing(kind: str) -> None:
    CHANCE.seed(kind)
    text = CLEAN[kind]()
    assert hidden(text) == text
    assert len(views(text)) <= 2 + ("JSON" in kind), "and hardly anything of it is read again"


@pytest.mark.parametrize(
    "unit",
    [
        "QUJD/",
        "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVph/",
        "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVph\n",
        "QUJDREVGR0hJSktMTU5P\nAAAAAAAAAAAAAAAAAAAA\n",
        "QUJDREVGR0hJSktMTU5P\\n",
        "QUJDREVGR0hJSktMTU5P",
        "QUJDREVGR0hJSktMTU5P=",
        "\\x6d61696c206b696d6d61696c206b696d",
        "6d61696c206b696d6d61696c206b696d/",
        "6d61696c206b696d",
        "&#109",
        "&#0000",
        "=6D",
        "\\u{6d}",
        "//5NAPwAbABsAGUAcgAs/",
        "a<b>",
        "a<!--",
        "a<em ",
        "<b>",
        "\\.a",
        "\x1b[1m",
        "\x1b[0;",
    ],
)
def test_runs_take_no_more_than_their_length_says(unit: str) -> None:
    few, many = ([Text(unit * (size // len(unit)))] for size in (5_000, 80_000))
    compare(lambda: DETECTOR.find(few), lambda: DETECTOR.find(many), most=40, slack=0.05)  # sixteen times the text


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("place", ["{}", "data: {} end", '{{"body": "{}"}}'])
@pytest.mark.parametrize("padded", [True, False])
def test_base32_is_hidden_whole(value: str, place: str, padded: bool) -> None:
    run = base64.b32encode(value.encode()).decode()
    assert (run if padded else run.rstrip("=")) not in hidden(place.format(run if padded else run.rstrip("=")))


def test_lists_of_numbers_stay() -> None:
    """Codes of characters they may all be; what those spell is nothing."""
    dice = random.Random(5)
    found = 0
    for number in range(500):
        last = dice.choice([90, 100, 126])
        numbers = [dice.randint(40, last) for _ in range(dice.randint(10, 60))]
        found += len(DETECTOR.find([Text(f"ages: [{', '.join(map(str, numbers))}], no. {number}")])[0])
    assert found <= 1


def test_many_codes_take_no_more_than_their_length_says() -> None:
    for unit in ("107, ", "6b ", "6b:", "0x6b, ", "\\153", "\\303", "NNUW2LTO", "107 6b "):
        compare(lambda unit=unit: hidden(unit * 2_000), lambda unit=unit: hidden(unit * 16_000), most=16, slack=0.1)


def test_controls_that_are_written_as_codes_join_nothing() -> None:
    """As in what compilers write of descriptions: what stands around them is two words."""
    (span,) = DETECTOR.find([Text(r"b'\017com.acme.typeB\017kim@acme-mail.org\020'")])[0]
    assert span.value == "kim@acme-mail.org"
