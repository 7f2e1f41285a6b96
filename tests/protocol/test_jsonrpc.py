"""The codec: number lexemes survive, nothing is fatal, every message is exactly one thing or malformed."""

from __future__ import annotations

import copy
import json
import pickle
import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloakllm_gateway.protocol import jsonrpc
from cloakllm_gateway.protocol.jsonrpc import (
    DEFAULT_LIMITS,
    HEAD,
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    Failure,
    Limits,
    Malformed,
    Notification,
    Number,
    Request,
    Response,
    classify,
    decode,
    encode,
)
from tests.cost import compare

#: Two lone surrogates side by side are a pair: JSON has one spelling for both, and it reads as one character.
PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")

lexemes = st.from_regex(r"-?(0|[1-9][0-9]{0,24})(\.[0-9]{1,9})?([eE][+-]?[0-9]{1,4})?", fullmatch=True)
texts = (st.text() | st.text(st.characters(categories=["Cs", "Zl", "Zp", "Cc", "Lu"]))).filter(
    lambda text: PAIR.search(text) is None
)
scalars = st.none() | st.booleans() | st.integers() | lexemes.map(lambda lexeme: decode(lexeme.encode())) | texts
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(texts, inner, max_size=5))


def _malformed(line: bytes, limits: Limits = DEFAULT_LIMITS) -> Malformed:
    with pytest.raises(Malformed) as caught:
        decode(line, limits)
    return caught.value


def _typed(value: Any) -> Any:
    """A value with its types and its key order spelt out: to Python, True is 1 and dicts have no order."""
    if isinstance(value, dict):
        return [(key, _typed(inner)) for key, inner in value.items()]
    return [_typed(item) for item in value] if isinstance(value, list) else (type(value), value)


# -- round trip ------------------------------------------------------------------------------------


@given(values)
def test_what_is_encoded_decodes_to_the_same_value_in_the_same_order(value: Any) -> None:
    assert _typed(decode(encode(value))) == _typed(value)


@given(values)
def test_a_line_holds_no_byte_that_a_reader_could_take_for_a_line_end(value: Any) -> None:
    line = encode(value)
    assert line.decode().split("\n") == [line.decode()]
    assert not set("\r\x0b\x0c\x1c\x1d\x1e\u2028\u2029") & set(line.decode())


@given(values)
def test_a_line_means_the_same_to_another_reader(value: Any) -> None:
    expected = json.loads(encode(value), parse_int=str, parse_float=str)

    def spelt(value: Any) -> Any:
        match value:
            case dict():
                return {key: spelt(inner) for key, inner in value.items()}
            case list():
                return [spelt(item) for item in value]
            case bool() | None | str():
                return value
            case _:
                return str(value)

    assert spelt(value) == expected


@given(values, st.sampled_from([None, 2]), st.booleans())
def test_an_ordinary_document_reads_as_the_standard_library_reads_it(
    value: Any, indent: int | None, ascii: bool
) -> None:
    plain = json.loads(encode(value), parse_float=lambda lexeme: f"float {lexeme}")
    line = json.dumps(plain, indent=indent, ensure_ascii=ascii).encode("utf-8", "replace")
    assert decode(line) == json.loads(line.decode())


def test_an_encoded_message_is_compact_and_not_escaped_without_need() -> None:
    assert encode({"a": [1, "é😀\u0085"], "b": None}) == '{"a":[1,"é😀\u0085"],"b":null}'.encode()


# -- numbers ---------------------------------------------------------------------------------------


@given(lexemes)
def test_a_number_keeps_its_spelling(lexeme: str) -> None:
    for line in (lexeme, f'{{"n":{lexeme}}}', f"[{lexeme} ,\t{lexeme}]", f'["\\ud800",{lexeme}]'):
        assert encode(decode(line.encode())).decode() == line.replace(" ,\t", ",")


@given(lexemes)
def test_a_number_is_an_int_exactly_where_int_spells_it_the_same(lexeme: str) -> None:
    for line, pick in ((lexeme, lambda v: v), (f'["\\ud800",{lexeme}]', lambda v: v[1])):
        number = pick(decode(line.encode()))
        whole = re.fullmatch(r"-?[0-9]+", lexeme) is not None and lexeme != "-0"
        assert type(number) is (int if whole else Number)
        assert str(number) == lexeme


def test_the_numbers_of_a_result_and_of_nothing_else_are_touched() -> None:
    """Field case A39."""
    line = (
        b'{"id":1915883588174806058,"p":1e3,"r":0.10,"one":1.0,"long":1.00000000000000000001,"z":-0,'
        b'"huge":1e400,"tiny":-0.0E-12,"big":123456789012345678901234567890,"mail":"kim@example.com"}'
    )
    assert encode(decode(line)) == line


@pytest.mark.parametrize("line", [b"-0", b"[-0]", b"[1,-0 ]", b'{"a":-0\t}', b'{"a": -0,"b":"x-0, y"}', b"[\n-0\n,1]"])
def test_negative_zero_is_no_zero(line: bytes) -> None:
    assert encode(decode(line)) == re.sub(rb"\s(?!y)", b"", line)
    for before in (b'"' + b"-0" * 50_000 + b'",false,', b"1," * 50_000):
        long = b"[" + before + line + b"]"
        assert encode(decode(long)) == re.sub(rb"\s(?!y)", b"", long)


@pytest.mark.parametrize("digits", [4300, 4301, 100_000])
def test_a_number_of_any_length_keeps_its_spelling(digits: int) -> None:
    line = b'{"n":' + b"7" * digits + b"}"
    assert encode(decode(line)) == line


@pytest.mark.parametrize(
    "line", [b"NaN", b'{"a":Infinity}', b"[-Infinity]", b"[nan]", b"+1", b"01", b"1.", b".5", b"1e"]
)
def test_what_is_no_json_number_is_refused(line: bytes) -> None:
    assert _malformed(line).code == PARSE_ERROR


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("beside", ["", "\ud800"])
def test_nan_and_infinity_never_go_out(value: float, beside: str) -> None:
    assert json.loads(encode([beside, value])) == [beside, None]


def test_a_number_is_a_value() -> None:
    assert Number("1e3") == Number("1e3") != Number("1000.0")
    assert len({Number("1e3"), Number("1e3"), Number("1E3")}) == 2
    assert Number("7") != 7
    assert repr(Number("0.10")) == "Number('0.10')"
    assert copy.deepcopy(Number("0.10")) == pickle.loads(pickle.dumps(Number("0.10"))) == Number("0.10")
    with pytest.raises(AttributeError):
        Number("1.0")._lexeme = "2"


@pytest.mark.parametrize("lexeme", ["", "1,2", '1,"x":2', "NaN", "1e", " 1", "1\n", "٣", "0x1", "--1"])
def test_a_number_can_smuggle_nothing_into_a_message(lexeme: str) -> None:
    with pytest.raises(ValueError, match="not a JSON number"):
        Number(lexeme)


# -- damaged and hostile lines ---------------------------------------------------------------------


def test_a_bad_byte_becomes_a_replacement_character_and_the_line_lives() -> None:
    """Field case A06."""
    line = b'{"jsonrpc":"2.0","id":7,"result":{"text":"caf\xe9 lee@example.com","n":0.10}}'
    answer = classify(decode(line))
    assert answer == Response(7, {"text": "caf\ufffd lee@example.com", "n": Number("0.10")})


@pytest.mark.parametrize("damage", [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf4\x90\x80\x80"])
def test_damage_swallows_nothing_beside_it(damage: bytes) -> None:
    value = decode(b'{"' + damage + b'":"' + damage + b'","b":"' + damage + b'"}')
    assert len(value) == 2
    assert set(value["b"]) == {"\ufffd"}


@pytest.mark.parametrize("text", ["\u2028", "\u2029", "\u0085", "\u000b", "\u001d", "\x7f", "\ufeff"])
def test_separators_of_other_standards_are_text(text: str) -> None:
    """Field case A05."""
    raw = text if ord(text) > 31 else f"\\u{ord(text):04x}"
    line = f'{{"text":"before{raw}after"}}'.encode()
    assert decode(line) == {"text": f"before{text}after"}
    assert decode(encode(decode(line))) == {"text": f"before{text}after"}


def test_unicode_line_separators_go_out_escaped() -> None:
    assert encode({"\u2028": "a\u2029b"}) == rb'{"\u2028":"a\u2029b"}'


@pytest.mark.parametrize(
    "line", [rb'"\ud800"', rb'"\udc00x"', rb'{"\ud83d":"\ude00\ud83d"}', rb'["\ud800\u0041", 1.50]']
)
def test_a_lone_surrogate_survives_as_its_escape(line: bytes) -> None:
    assert encode(decode(line)) == line.replace(b" ", b"").replace(rb"\u0041", b"A")


def test_the_last_of_duplicate_keys_is_the_one_that_is_forwarded() -> None:
    for more in ("", r',"s":"\ud800"'):
        assert encode(decode(f'{{"a":1,"b":2,"a":3{more}}}'.encode())).startswith(b'{"a":3,"b":2')


@pytest.mark.parametrize(
    "line",
    [b"", b" ", b"this is not json", b"\xef\xbb\xbf{}", b"{} {}", b"[1,]", b'{"a":1,}', b"{'a':1}", b'"a\x01b"',
     b'"\\x"', b'{"a" 1}', b'{1:2}', b'"', b"\x00", b"[1}", b"{}\x0c"],
)  # fmt: skip
def test_what_is_not_json_is_a_parse_error_without_its_text(line: bytes) -> None:
    error = _malformed(line)
    assert (error.code, error.id) == (PARSE_ERROR, None)
    assert str(error) == "the message is not JSON"
    assert error.__cause__ is None
    assert error.__context__ is None


@pytest.mark.parametrize(
    "line",
    [b"[" * 1_000_000, b"[" * 1_000_000 + b"]" * 1_000_000, b'{"a":' * 1_000_000,
     b'{"a":' * 1_000_000 + b"1" + b"}" * 1_000_000, b'[{"a":' * 500_000, b'["\xff",' + b"[" * 1_000_000,
     b"[-0," + b"[" * 1_000_000 + b"]" * 1_000_001],
    ids=["lists", "closed lists", "objects", "closed objects", "both", "bad byte", "negative zero"],
)  # fmt: skip
def test_hostile_nesting_is_refused_at_once(line: bytes) -> None:
    start = time.process_time()
    assert _malformed(line).code == INVALID_REQUEST
    assert time.process_time() - start < 1


@pytest.mark.parametrize("beside", [b'""', rb'"\ud800"', b"-0"])
@pytest.mark.parametrize(("start", "end"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_the_depth_limit_is_exact(beside: bytes, start: bytes, end: bytes) -> None:
    def nested(depth: int) -> bytes:
        return start * depth + beside + end * depth

    assert encode(decode(nested(200))) == nested(200)
    assert _malformed(nested(201)).what == "the message is nested deeper than 200 levels"
    assert _malformed(nested(4), Limits(max_depth=3)).what == "the message is nested deeper than 3 levels"


def test_brackets_in_a_string_are_no_nesting() -> None:
    assert decode(b'"' + b"[{" * 1000 + b'"') == "[{" * 1000


def test_a_message_over_the_byte_limit_is_refused_with_its_id() -> None:
    line = b'{"jsonrpc":"2.0","id":"x","result":{}}'
    assert decode(line, Limits(max_bytes=len(line)))["id"] == "x"
    error = _malformed(line, Limits(max_bytes=len(line) - 1))
    assert (error.code, error.id) == (INVALID_REQUEST, "x")


def test_a_message_that_is_deep_and_wide_is_refused() -> None:
    line = b"[" * 100 + b"1," * 1000 + b"1" + b"]" * 100
    assert decode(line, Limits(max_steps=110_000))
    assert _malformed(line, Limits(max_steps=100_000)).code == INVALID_REQUEST


# -- the id of a broken line -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "id"),
    [
        (b'{"jsonrpc":"2.0","id":7,"result":{"x":nope}}', 7),
        (b'{"id" : "init-\xce\xb1" , "result":{', "init-α"),
        (b'{"id":"a\\"b","x":}', 'a"b'),
        (b'{"id":-3,', -3),
        (b'{"result":{"id":9,"x":nope},"jsonrpc":"2.0","id":5}', 5),
        (b'{"result":{"id":9,"text":"\\"id\\":8,"},"x":[{"id":1}],"id":"s","y":}', "s"),
        (b'{"result":"' + b"x" * 2 * HEAD + b'"oops","id":5}', 5),
        (b'{"result":{"id":9,"x":nope}}', None),
        (b'{"id":1.5,"x":}', None),
        (b'{"id":1e3,"x":}', None),
        (b'{"id":null,"x":}', None),
        (b'{"id":true,"x":}', None),
        (b'{"id":4', None),
        (b'{"text":"\\"id\\":4}', None),
        (b'[{"id":4,"x":}]', None),
        (b'"id":4,', None),
    ],
)
def test_the_id_of_a_broken_line_is_found_where_it_can_be(line: bytes, id: str | int | None) -> None:
    assert _malformed(line).id == id
    assert type(_malformed(line).id) is type(id)


def test_nesting_too_deep_still_gives_the_id() -> None:
    assert _malformed(b'{"id":3,"params":' + b"[" * 100_000).id == 3
    assert _malformed(b'{"params":' + b"[" * 250 + b"]" * 250 + b',"id":3}').id == 3


@given(st.binary(max_size=200) | values.map(encode), st.data())
def test_any_bytes_are_a_value_or_malformed(line: bytes, data: st.DataObject) -> None:
    cut = line[: data.draw(st.integers(0, len(line)))]
    for bytes_ in (line, cut, cut + b"\xff" + line):
        try:
            encode(decode(bytes_))
        except Malformed as error:
            assert error.code in (PARSE_ERROR, INVALID_REQUEST)


# -- what a message is -----------------------------------------------------------------------------


def _message(**members: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", **members}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (_message(id=1, method="ping"), Request(1, "ping", None)),
        (_message(id="1", method="ping", params={}), Request("1", "ping", {})),
        (_message(id=0, method="m", params=None), Request(0, "m", None)),
        (_message(id="", method="m", params={"a": 1}), Request("", "m", {"a": 1})),
        (_message(method="n", params={"a": 1}), Notification("n", {"a": 1})),
        (_message(id=1, result={}), Response(1, {})),
        (_message(id=1, error={"code": -1, "message": "", "data": 3}),
         Failure(1, {"code": -1, "message": "", "data": 3})),
        (_message(id=None, error={"code": -32700, "message": "m"}), Failure(None, {"code": -32700, "message": "m"})),
        (_message(error={"code": -32700, "message": "m"}), Failure(None, {"code": -32700, "message": "m"})),
    ],
)  # fmt: skip
def test_a_message_is_what_its_keys_say(message: dict[str, Any], expected: jsonrpc.Message) -> None:
    found = classify(message)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize("id", [1, "1", "init-α", 0, -7, 2**64, ""])
def test_an_id_keeps_its_type_and_value(id: str | int) -> None:
    """Field case A11."""
    found = classify(decode(encode(jsonrpc.request(id, "ping"))))
    assert isinstance(found, Request)
    assert (type(found.id), found.id) == (type(id), id)


@pytest.mark.parametrize(
    ("message", "code", "id"),
    [
        ([], INVALID_REQUEST, None),
        ([_message(id=1, method="ping")], INVALID_REQUEST, None),
        ("text", INVALID_REQUEST, None),
        (None, INVALID_REQUEST, None),
        (7, INVALID_REQUEST, None),
        ({"id": 5, "method": "ping"}, INVALID_REQUEST, 5),
        ({"jsonrpc": 2, "id": 5, "method": "ping"}, INVALID_REQUEST, 5),
        (_message(), INVALID_REQUEST, None),
        (_message(id=5), INVALID_REQUEST, 5),
        (_message(id=5, method=123), INVALID_REQUEST, 5),
        (_message(id=5, method=None), INVALID_REQUEST, 5),
        (_message(id=None, method="ping"), INVALID_REQUEST, None),
        (_message(id=True, method="ping"), INVALID_REQUEST, None),
        (_message(id=Number("1.0"), method="ping"), INVALID_REQUEST, None),
        (_message(id=[1], method="ping"), INVALID_REQUEST, None),
        (_message(id=5, method="m", params=[1]), INVALID_PARAMS, 5),
        (_message(id=5, method="m", params="oops"), INVALID_PARAMS, 5),
        (_message(method="n", params=7), INVALID_PARAMS, None),
        (_message(id=5, method="m", result={}), INVALID_REQUEST, 5),
        (_message(id=5, result={}, error={"code": 1, "message": ""}), INVALID_REQUEST, 5),
        (_message(id=5, result={}, error=None), INVALID_REQUEST, 5),
        (_message(id=5, result=[]), INVALID_REQUEST, 5),
        (_message(id=5, result=None), INVALID_REQUEST, 5),
        (_message(result={}), INVALID_REQUEST, None),
        (_message(id=None, result={}), INVALID_REQUEST, None),
        (_message(id=5, error="boom"), INVALID_REQUEST, 5),
        (_message(id=5, error={"message": "m"}), INVALID_REQUEST, 5),
        (_message(id=5, error={"code": True, "message": "m"}), INVALID_REQUEST, 5),
        (_message(id=5, error={"code": 1}), INVALID_REQUEST, 5),
        (_message(id=True, error={"code": 1, "message": "m"}), INVALID_REQUEST, None),
    ],
)
def test_a_message_that_is_not_exactly_one_thing_is_malformed(message: Any, code: int, id: str | int | None) -> None:
    with pytest.raises(Malformed) as caught:
        classify(message)
    assert (caught.value.code, caught.value.id) == (code, id)


@given(
    st.dictionaries(st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error"]), values | st.just("2.0"))
)
def test_every_value_is_classified_or_malformed(message: dict[str, Any]) -> None:
    try:
        assert isinstance(classify(message), (Request, Notification, Response, Failure))
    except Malformed as error:
        assert error.code in (INVALID_REQUEST, INVALID_PARAMS)


def test_wrong_envelopes_are_told_apart() -> None:
    """Field case A10, as far as the envelope goes: what `arguments` may be is for the method to say."""
    lines = [
        b"this is not json",
        b'{"jsonrpc":"2.0","id":5,"method":123}',
        b'{"jsonrpc":"2.0","id":6,"method":"tools/call","params":"oops"}',
        b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":7,"method":"ping"}',
    ]
    answers: list[Any] = []
    for line in lines:
        try:
            answers.append(classify(decode(line)))
        except Malformed as error:
            answers.append((error.code, error.id))
    assert answers == [
        (PARSE_ERROR, None), (INVALID_REQUEST, 5), (INVALID_PARAMS, 6), (INVALID_REQUEST, None), Request(7, "ping"),
    ]  # fmt: skip


# -- building messages -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("built", "line"),
    [
        (jsonrpc.request(1, "ping"), b'{"jsonrpc":"2.0","id":1,"method":"ping"}'),
        (jsonrpc.request("a", "m", {}), b'{"jsonrpc":"2.0","id":"a","method":"m","params":{}}'),
        (jsonrpc.notification("n"), b'{"jsonrpc":"2.0","method":"n"}'),
        (jsonrpc.notification("n", {"a": 1}), b'{"jsonrpc":"2.0","method":"n","params":{"a":1}}'),
        (jsonrpc.result(1, {}), b'{"jsonrpc":"2.0","id":1,"result":{}}'),
        (jsonrpc.failure(None, -1, "m"), b'{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"m"}}'),
        (jsonrpc.failure(1, -1, "m", [0]), b'{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m","data":[0]}}'),
    ],
)
def test_a_built_message_is_written_in_the_usual_order(built: dict[str, Any], line: bytes) -> None:
    assert encode(built) == line
    classify(built)


def test_what_is_no_json_value_can_not_be_sent() -> None:
    for beside in ("", "\ud800"):
        with pytest.raises(TypeError, match="not a JSON value"):
            encode([beside, object()])


# -- cost ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "piece",
    [b'{"id":1,"s":"text \\" more"},', b"-0,", b'"-0, ",', b'"\\ud800",', b'"\xff",', b"1.5,",
     b'"' + b"\\" * 64 + b'",'],
)  # fmt: skip
def test_twice_the_line_takes_about_twice_the_time(piece: bytes) -> None:
    def work(n: int) -> Callable[[], object]:
        line = b"[" + piece * n + b"0]"
        return lambda: encode(decode(line))

    compare(work(10_000), work(20_000), most=4)


@pytest.mark.parametrize("piece", [b'\\"', b'"id"', b'{"id":', b'"id" ', b",  ", b'"', b"[", b"\\", b'"id":"'])
def test_a_broken_line_of_any_kind_is_searched_for_its_id_in_bounded_time(piece: bytes) -> None:
    for start in (b"", b'{"', b'{"id":', b'{"id":"'):
        line = start + piece * (2 * HEAD // len(piece)) + b"\xff\x00"
        begun = time.process_time()
        _malformed(line)
        assert time.process_time() - begun < 1
