"""The promises about one message part, each stated once."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote

import anyio
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cloakllm_gateway.core.handles import Handles
from cloakllm_gateway.core.policy import Policy
from cloakllm_gateway.core.restorer import Restorer
from cloakllm_gateway.core.rewriting import spelling
from cloakllm_gateway.core.sanitizer import Sanitizing, drive
from cloakllm_gateway.core.settings import Settings, Treatment, UpstreamSettings
from cloakllm_gateway.core.source import Source
from cloakllm_gateway.core.treatments import Rule, Treatments
from cloakllm_gateway.detection.catalogue import CATALOGUE
from cloakllm_gateway.detection.engine import Detector
from cloakllm_gateway.detection.settings import Settings as DetectionSettings
from cloakllm_gateway.errors import Withheld
from cloakllm_gateway.protocol import jsonrpc
from cloakllm_gateway.protocol.jsonrpc import Number
from cloakllm_gateway.protocol.surface import DATA, ERROR, RESTORE, SENT_ELSEWHERE, SURFACE, Shape
from cloakllm_gateway.shell.stores import MemoryStore, Options
from cloakllm_gateway.spans import Findings, Span, Text
from cloakllm_gateway.vault import tokens
from cloakllm_gateway.vault.entries import Entry, Spelling
from cloakllm_gateway.vault.vault import Vault
from tests.cost import compare
from tests.effort import examples

CATEGORIES = frozenset((*CATALOGUE, "LITERAL"))
DETECTOR = Detector(DetectionSettings())
ORIGIN = "crm#0"

#: One value of each kind that is found by its shape, wherever it stands.
PLANTED = ("kim@acme-corp.com", "536-22-8726", "4111 1111 1111 1111", "DE89370400440532013000", "AKIAIOSFODNN7EXAMPL2")


class Gate:
    """Sanitizing and restoring as one session does them."""

    def __init__(self) -> None:
        self.vault = Vault()
        self.store = MemoryStore(Options(None))
        self.handles = Handles()
        upstreams = {"crm": UpstreamSettings("crm", "crm", ORIGIN)}
        self.restorer = Restorer(Policy(Settings(upstreams)), self.vault, self.handles, CATEGORIES, {})

    def sanitize(self, part: Any, shape: Shape = DATA, **more: Any) -> Any:
        return anyio.run(self._sanitize, part, shape, more)

    async def _sanitize(self, part: Any, shape: Shape, more: dict[str, Any]) -> Any:
        async def find(texts: Sequence[Text]) -> Findings:
            return DETECTOR.look(texts)

        async def assign(spellings: Sequence[Spelling]) -> Sequence[Entry]:
            entries = await self.store.assign("test", "session", ORIGIN, spellings)
            self.vault.learn(entries)
            return entries

        source = Source(ORIGIN, "session", self.vault, self.handles, CATEGORIES, **more)
        clean = await drive(Sanitizing(part, shape, source), find, assign)
        self.vault.show(clean.tokens)
        return clean.part

    def restore(self, part: Any, shape: Shape = RESTORE) -> Any:
        return self.restorer.restore(part, shape, "crm").part


awkward = st.sampled_from(
    [
        *PLANTED, "KIM@Acme-Corp.com", "kim%40acme-corp.com", "kim&#64;acme-corp.com", "[EMAIL_0]", "[email\\_1]",
        "\\[SSN_0\\]", "%5BEMAIL_0%5D", "\\u005bEMAIL_0\\u005d", "[EMAIL_", "_0]", "[", "]", "\\", '"', "{", "}",
        '{"mail":"', '"}', ":", ",", "https://x.org/?q=", "%", "%25", "&", "\n", "\u200b", "\ue000", "ＫＩＭ",
        "password=", "name: ",
    ]
)  # fmt: skip
texts = st.lists(st.one_of(awkward, st.text(max_size=12)), max_size=12).map("".join)
json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), texts),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=12,
)


def holds_address(value: Any) -> bool:
    """Whether a string of ``value`` is an address and nothing else: there values are refused, not restored."""
    if isinstance(value, dict):
        return any(holds_address(part) for part in (*value, *value.values()))
    if isinstance(value, list):
        return any(map(holds_address, value))
    return isinstance(value, str) and re.match(r"\s*[A-Za-z][\w+.-]*:[/\\]{2}\S*\s*\Z", value) is not None


@settings(max_examples=examples(400))
@given(texts)
def test_what_is_sanitized_restores_to_exactly_the_same_text(text: str) -> None:
    gate = Gate()
    clean = gate.sanitize(text)
    assume(not holds_address(clean))
    assert gate.restore(clean) == text


@settings(max_examples=examples(200))
@given(json_values)
def test_a_whole_value_restores_to_exactly_the_same_value(value: Any) -> None:
    gate = Gate()
    clean = gate.sanitize(value)
    assume(not holds_address(clean))
    assert gate.restore(clean) == value


@settings(max_examples=examples(200))
@given(st.text(max_size=20), st.sampled_from(PLANTED), st.text(max_size=20))
def test_no_planted_value_leaves_wherever_it_stands(before: str, value: str, after: str) -> None:
    gate = Gate()
    text = f"{before} {value} {after}"
    result = {"content": [{"type": "text", "text": text}], "structuredContent": {"x": [text], value: 1}}
    shape = SURFACE["tools/call"].result
    assert shape is not None
    assert value.encode() not in jsonrpc.encode(gate.sanitize(result, shape))


@settings(max_examples=examples(300))
@given(texts)
def test_restore_accepts_nothing_in_what_leaves_but_the_tokens_placed_there(text: str) -> None:
    gate = Gate()
    out = gate.sanitize(text)
    for match in tokens.scan(out):
        if match.token.category in CATEGORIES:
            assert gate.vault.is_shown(match.token)
            assert match.exact


@pytest.mark.parametrize(
    "alike",
    [
        "[EMAIL_0]",
        "[email_0]",
        "[Email_0]",
        "\\[EMAIL_0\\]",
        "[EMAIL\\_0]",
        "%5BEMAIL_0%5D",
        "%5bEMAIL_0%5d",
        "[SSN_123456789]",
    ],
)
def test_text_that_looks_like_a_token_becomes_a_literal_and_comes_back_itself(alike: str) -> None:
    gate = Gate()
    gate.sanitize("kim@acme-corp.com")
    out = gate.sanitize(f"see {alike} here")
    assert "LITERAL_" in out
    assert gate.restore(out) == f"see {alike} here"


def test_a_look_alike_in_an_escape_of_json_text_is_a_literal_too() -> None:
    gate = Gate()
    text = '{"note":"\\u005bEMAIL_0\\u005d"}'
    out = gate.sanitize(text)
    assert "LITERAL_" in out
    assert "EMAIL_0" not in out
    assert gate.restore(out) == text


def test_source_code_keeps_its_indexes() -> None:
    assert Gate().sanitize("x = rows[ITEM_3]") == "x = rows[ITEM_3]"


def test_numbers_become_tokens_and_numbers_again() -> None:
    gate = Gate()
    out = gate.sanitize({"card": 4111111111111111, "age": 41, "price": Number("1e3")})
    assert out["card"].startswith("[CREDIT_CARD_")
    assert (out["age"], out["price"]) == (41, Number("1e3"))
    assert gate.restore(out)["card"] == 4111111111111111


def test_a_number_in_json_text_gets_quotes_for_its_token_and_loses_them_again() -> None:
    gate = Gate()
    text = '{"card":4111111111111111,"n":1.0}'
    out = gate.sanitize(text)
    assert json.loads(out)["card"].startswith("[CREDIT_CARD_")
    assert gate.restore(out) == text


def test_what_stands_in_many_places_is_looked_at_as_each_place_asks_for() -> None:
    gate = Gate()
    gate.sanitize(f"from {PLANTED[0]}")
    part = [{"EMAIL_O": "EMAIL_O", "note": text} for text in ("EMAIL_O", "as is", "note", PLANTED[0]) for _ in range(2)]
    out = gate.sanitize(part)
    for shown, said in zip(out, part, strict=True):  # a damaged token means something as a value, and nothing as a key
        assert [*shown] == [*said] and shown["EMAIL_O"].startswith("[LITERAL_")
    assert [item["note"][:7] for item in out[::2]] == ["[LITERA", "as is", "note", "[EMAIL_"]
    assert [item["note"] for item in out[::2]] == [item["note"] for item in out[1::2]]
    assert gate.restore(out) == part


def test_keys_are_tokenized_in_place_and_restored() -> None:
    gate = Gate()
    value = {"a": 1, "kim@acme-corp.com": {"role": "admin"}, "id": "bob@acme-corp.com"}
    out = gate.sanitize(value)
    assert [key[:7] for key in out] == ["a", "[EMAIL_", "id"]
    assert gate.restore(out) == value


def test_a_textual_blob_is_read_and_binary_stays() -> None:
    gate = Gate()
    image = base64.b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256))).decode()
    table = base64.b64encode(b"mail\nkim@acme-corp.com\n").decode()
    result = {
        "content": [
            {"type": "image", "mimeType": "image/png", "data": image},
            {"type": "resource", "resource": {"uri": "f://a.csv", "mimeType": "text/csv", "blob": table}},
        ]
    }
    shape = SURFACE["tools/call"].result
    assert shape is not None
    out = gate.sanitize(result, shape)["content"]
    assert out[0]["data"] == image
    assert base64.b64decode(out[1]["resource"]["blob"]).startswith(b"mail\n[EMAIL_")


def test_text_in_an_images_clothes_is_read_as_text() -> None:
    gate = Gate()
    disguised = base64.b64encode(b"kim@acme-corp.com").decode()
    shape = SURFACE["tools/call"].result
    assert shape is not None
    out = gate.sanitize({"content": [{"type": "image", "mimeType": "image/png", "data": disguised}]}, shape)
    assert b"kim@" not in base64.b64decode(out["content"][0]["data"])


def test_protocol_fields_are_left_to_the_tripwire_which_hides_what_does_not_belong() -> None:
    gate = Gate()
    shape = SURFACE["tools/call"].result
    assert shape is not None
    result = {"content": [{"type": "text", "text": "x", "annotations": {"audience": ["kim@acme-corp.com"]}}]}
    assert "kim@" not in str(gate.sanitize(result, shape))


def test_a_description_keeps_documentation_addresses_and_loses_real_ones() -> None:
    gate = Gate()
    shape = SURFACE["tools/list"].result
    assert shape is not None
    tool = {
        "name": "t",
        "description": "Mails user@example.com",
        "inputSchema": {"properties": {"to": {"default": "u@example.org"}}},
    }
    assert gate.sanitize({"tools": [tool]}, shape) == {"tools": [tool]}
    out = gate.sanitize({"tools": [{**tool, "description": "Mails kim@acme-corp.com"}]}, shape)
    assert out["tools"][0]["description"].startswith("Mails [EMAIL_")


def test_a_handle_with_a_find_is_exchanged_and_means_the_original_to_its_origin_only() -> None:
    gate = Gate()
    shape = SURFACE["tasks/get"].result
    assert shape is not None
    out = gate.sanitize({"taskId": "task-of-kim@acme-corp.com", "status": "working"}, shape)
    assert "kim@" not in out["taskId"]
    assert gate.handles.original(ORIGIN, out["taskId"]) == "task-of-kim@acme-corp.com"
    assert gate.handles.original("evil#0", out["taskId"]) == out["taskId"]


def test_a_form_whose_property_holds_a_value_is_withheld() -> None:
    shape = SURFACE["elicitation/create"].params
    form = {"message": "Who?", "requestedSchema": {"type": "object", "properties": {"kim@acme-corp.com": {}}}}
    with pytest.raises(Withheld):
        Gate().sanitize(form, shape)


#: The page of a sign-in: its address is broken by any change, and holds who is meant to sign in.
PAGE = (
    "https://sso.acme-corp.com/auth?login_hint=kim@acme-corp.com&state=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOjF9.c2lnbmF0dXJl"
)
VISIT = {"mode": "url", "message": "Sign in as kim@acme-corp.com", "url": PAGE, "elicitationId": "e-1"}
ELICITED = SURFACE["elicitation/create"].params
CALLED = SURFACE["tools/call"].result


def inside(visit: Any) -> list[tuple[Any, Shape]]:
    """The ways in which an upstream sends a person to a page, and their shapes."""
    assert CALLED is not None
    asks = {"resultType": "input_required", "inputRequests": {"q": {"method": "elicitation/create", "params": visit}}}
    error = {"code": -32042, "message": "go", "data": {"elicitations": [visit]}}
    return [(visit, ELICITED), (asks, CALLED), (error, SENT_ELSEWHERE)]


@pytest.mark.parametrize("way", range(3))
def test_the_page_that_a_person_is_sent_to_is_exact_by_a_rule_and_nothing_beside_it(way: int) -> None:
    beside = {"href": PAGE, "note": f"or {PAGE}", "_meta": {"url": PAGE}, "more": {"url": PAGE, "mode": "url"}}
    part, shape = inside({**VISIT, **beside})[way]
    gate = Gate()
    out = json.dumps(gate.sanitize(part, shape, exact_links=True))
    assert out.count(PAGE) == 1
    assert f'"url": "{PAGE}", "elicitationId": "e-1"' in out
    assert out.count("kim@acme-corp.com") == 1
    assert "kim@" not in gate.sanitize("of kim@acme-corp.com")


@pytest.mark.parametrize("way", range(3))
@pytest.mark.parametrize(
    "changed",
    [
        {"mode": "form"}, {"mode": None}, {"mode": "URL"}, {"url": {"url": PAGE}}, {"url": [PAGE]}, {"url": {PAGE: 1}},
        {"url": "mailto:kim@acme-corp.com"}, {"url": f"{PAGE} or ask kim@acme-corp.com"}, {"url": "kim@acme-corp.com"},
        {"url": "data:text/plain,kim@acme-corp.com"}, {"url": f"\n{PAGE}"},
    ],
)  # fmt: skip
def test_what_is_no_page_to_go_to_is_data(way: int, changed: dict[str, Any]) -> None:
    part, shape = inside({**VISIT, **changed})[way]
    assert "kim@" not in json.dumps(Gate().sanitize(part, shape, exact_links=True))


@pytest.mark.parametrize("way", range(3))
def test_a_page_to_go_to_is_data_where_no_rule_passes_it(way: int) -> None:
    part, shape = inside(VISIT)[way]
    assert "kim@" not in json.dumps(Gate().sanitize(part, shape))


def test_no_other_answer_and_no_other_error_has_a_page() -> None:
    part = {"content": [], "mode": "url", "url": PAGE, "structuredContent": VISIT, "elicitations": [VISIT]}
    error = {"code": -32041, "message": "go", "data": {"elicitations": [VISIT]}}
    for said, shape in ((part, CALLED), (error, ERROR)):
        assert shape is not None
        assert "kim@" not in json.dumps(Gate().sanitize(said, shape, exact_links=True))


def test_a_page_with_what_nobody_may_be_shown_is_withheld() -> None:
    rules = Treatments({"EMAIL": Rule(Treatment.BLOCK, "no mail")})
    with pytest.raises(Withheld):
        Gate().sanitize({**VISIT, "message": "Sign in"}, ELICITED, exact_links=True, treatments=rules)


def test_a_page_is_counted_as_looked_past() -> None:
    gate = Gate()
    source = Source(ORIGIN, "g", gate.vault, gate.handles, CATEGORIES, exact_links=True)
    sanitizing = Sanitizing(VISIT, ELICITED, source)
    sanitizing.begin()
    assert sanitizing.report.skipped["link"] == 1


def test_a_value_once_seen_is_hidden_where_detection_alone_would_miss_it() -> None:
    gate = Gate()
    first = gate.sanitize({"customer": {"email": "kim@acme-corp.com", "first_name": "Quillon"}})
    token = first["customer"]["first_name"]
    assert token.startswith("[PERSON_")
    assert gate.sanitize("a note for Quillon, Quillonia") == f"a note for {token}, Quillonia"


PERSON = {"name": "Zbigniew Wiśniewski", "email": "z.wisniewski@acme-corp.com", "ssn": "536-22-8726"}
#: Ways to send a text in a text.
WRAPPED: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "in JSON": lambda text: json.dumps({"preview": text}),
    "percent-encoded": quote,
    "in base64": lambda text: base64.b64encode(text.encode()).decode(),
}


@pytest.mark.parametrize("wrapped", WRAPPED)
@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("signed by Zbigniew Wiśn", "Wiśn"),
        ("signed by Zbigniew Wiśn…", "Wiśn"),
        ("...iew Wiśniewski wrote this", "Wiśniewski"),
        ("the ssn is 536-22-87 ...", "536-22-87"),
        ("his mail: z.wisniewski@acme", "wisniewski"),
    ],
)
def test_what_a_cut_left_of_a_value_has_a_token_of_its_own_and_comes_back(wrapped: str, text: str, part: str) -> None:
    gate = Gate()
    whole = gate.sanitize(PERSON)
    message = {"preview": text, "more": WRAPPED[wrapped](text)}
    out = gate.sanitize(message)
    shown = tokens.scan(json.dumps(out))
    assert part not in json.dumps(out, ensure_ascii=False)
    assert len(shown) == 2
    assert {match.token.number for match in shown}.isdisjoint(m.token.number for m in tokens.scan(json.dumps(whole)))
    assert gate.restore(out) == message


@settings(max_examples=examples(200))
@given(st.sampled_from([*PLANTED, *PERSON.values()]), st.integers(1, 25), st.sampled_from(["", " ", "…", "..."]), texts)
def test_a_cut_anywhere_and_what_is_around_it_come_back_exactly(value: str, cut: int, mark: str, around: str) -> None:
    gate = Gate()
    gate.sanitize([PERSON, list(PLANTED)])
    message = [f"{around} {value[:cut]}{mark}", f"{mark}{value[cut:]} {around}", value[:cut], {"a": value[cut:]}]
    clean = gate.sanitize(message)
    assume(not holds_address(clean))
    assert gate.restore(clean) == message


def test_what_a_policy_passes_stays() -> None:
    out = Gate().sanitize("kim@acme-corp.com 536-22-8726", treatments=Treatments({"EMAIL": Rule(Treatment.PASS, "")}))
    assert out.startswith("kim@acme-corp.com [SSN_")


def rows(count: int) -> str:
    """A table with an address and a look-alike in every row."""
    return "id,mail,note\n" + "".join(f"{n},person{n}@corp{n % 50}.pl,[EMAIL_{n}]\n" for n in range(count))


def test_four_times_the_finds_take_about_four_times_the_time() -> None:
    few, many = rows(1000), rows(4000)
    compare(lambda: Gate().sanitize(few), lambda: Gate().sanitize(many), most=8)


MAILED = "id,mail\n1,kim@acme-corp.com\n"


@pytest.mark.parametrize(
    "blob",
    [
        base64.b64encode(MAILED.encode("utf-16")),
        base64.b64encode(b"\xfe\xff" + MAILED.encode("utf-16-be")),
        base64.b64encode(MAILED.encode("utf-16-le")),
        base64.b64encode(b"BM is no picture here: kim@acme-corp.com"),
        base64.b64encode(b"A=1\0MAIL=kim@acme-corp.com\0"),
        base64.b64encode("Имя,почта\nКим,kim@acme-corp.com\n".encode("cp1251")),
        base64.b64encode(MAILED.encode()).rstrip(b"="),
        base64.encodebytes(b"x" * 47 + b" kim@acme-corp.com tail tail tail tail"),
        base64.urlsafe_b64encode(b"\xc3\xbf\xc3\xbe?" + MAILED.encode()),
    ],
)
def test_text_in_a_blob_is_read_however_it_is_packed(blob: bytes) -> None:
    shape = SURFACE["resources/read"].result
    assert shape is not None
    contents = [{"uri": "f://a", "mimeType": "text/csv", "blob": blob.decode()}]
    out = Gate().sanitize({"contents": contents}, shape)["contents"][0]["blob"]
    data = base64.b64decode(out)
    assert b"EMAIL_" in data.replace(b"\0", b"")
    assert b"kim@" not in data.replace(b"\0", b"")


@pytest.mark.parametrize(("key", "number"), [("ssn", "536228726.0"), ("phone", "4.155550134e9")])
def test_a_whole_number_in_any_notation_is_read_as_its_digits(key: str, number: str) -> None:
    gate = Gate()
    out = gate.sanitize({key: Number(number), "email": "kim@acme-corp.com"})
    assert out[key].startswith("[")
    assert gate.restore(out)[key] == Number(number)


@pytest.mark.parametrize(
    ("key", "digits"), [("ssn", "536228726"), ("phone", "4155550134"), ("account_number", "12345678901")]
)
@pytest.mark.parametrize("form", ["{}", "{}.0", "{}.000", "{}e0", "{}0e-1", "point", "POINT"])
def test_a_number_is_judged_the_same_in_text_and_in_structure_and_comes_back_as_it_was(
    key: str, digits: str, form: str
) -> None:
    exponent = len(digits) - 1
    points = {"point": f"{digits[0]}.{digits[1:]}e{exponent}", "POINT": f"{digits[0]}.{digits[1:]}E+{exponent:02}"}
    number = points.get(form, form.format(digits))
    document = {
        "text": f'{{"a": {{"{key}": {number}}}, "amount": 1.5e3}}',
        "structure": {"a": {key: int(number) if number.isdigit() else Number(number)}, "amount": Number("1.5e3")},
        "table": f"id,{key},email\n1,{number},kim@acme-corp.com\n",
        "settings": f"{key}: {number}\n",
        "string": {key: number},
    }
    gate = Gate()
    out = gate.sanitize(document)
    assert gate.restore(out) == document
    shown = [out["text"], out["structure"]["a"][key], out["table"], out["settings"], out["string"][key]]
    stems = [{match.token[:2] for match in tokens.scan(part) if match.token.category != "EMAIL"} for part in shown]
    assert stems == [stems[0]] * len(stems) and len(stems[0]) == 1


def test_a_value_that_breaks_the_shape_of_its_category_is_known_to_be_odd() -> None:
    gate = Gate()
    out = gate.sanitize({"a": "kim@acme-corp.com 536-22-8726", "card": 4.111111111111111e15})
    for match in tokens.scan(json.dumps(out)):
        entry = gate.vault.lookup(match.token)
        assert entry is not None and not entry.spelling.odd
    assert spelling("shutdown now", Span(0, 12, "SSN", "", "")).odd
    assert not spelling("shutdown now", Span(0, 12, "TICKET", "", "")).odd


def test_what_stands_where_a_uri_is_due_is_no_resource() -> None:
    gate = Gate()
    [mail] = gate.sanitize(["kim@acme-corp.com"])
    part = {"resources": [{"uri": {"kim@acme-corp.com": "kim@acme-corp.com"}, "name": "x"}]}
    uris = {"kim@acme-corp.com": f"crm://{mail}"}
    clean = gate.sanitize(part, SURFACE["resources/list"].result, uris=uris)
    assert clean["resources"][0]["uri"] == {mail: f"crm://{mail}"}
