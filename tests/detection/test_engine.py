"""The detector as its users see it: texts in, disjoint spans out."""

from __future__ import annotations

import base64
import random
import string

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cloakllm_gateway.detection.catalogue import CATALOGUE
from cloakllm_gateway.detection.custom import Custom
from cloakllm_gateway.detection.engine import Detector
from cloakllm_gateway.detection.folding import views
from cloakllm_gateway.detection.merging import Claim, Find, cutter, reconciled, settled
from cloakllm_gateway.detection.settings import Settings
from cloakllm_gateway.errors import ConfigError, DetectionError
from cloakllm_gateway.spans import Encoding, Proof, Text, disjoint
from tests.cost import compare, seconds
from tests.effort import examples

DETECTOR = Detector()


def values(text: str, detector: Detector = DETECTOR) -> list[tuple[str, str]]:
    """Category and raw text of each find."""
    return [(span.category, text[span.start : span.end]) for span in detector.find([Text(text)])[0]]


# -- what is found ------------------------------------------------------------------------------


def test_neighbours_keep_their_punctuation() -> None:
    text = (
        "Card 4111 1111 1111 1111.com, call (415) 555-0134, please check "
        "https://portal.example.com/u/kim@example.com/edit."
    )
    assert values(text) == [
        ("CREDIT_CARD", "4111 1111 1111 1111"),
        ("PHONE", "(415) 555-0134"),
        ("EMAIL", "kim@example.com"),
    ]


def test_look_alike_letters_hide_no_part_of_an_address() -> None:
    text = "ｂｏｂ＠example.com | alice@\u200bexample.com | josé@example.com"
    found = DETECTOR.find([Text(text)])[0]
    assert [text[span.start : span.end] for span in found] == text.split(" | ")
    assert [span.value for span in found] == ["bob@example.com", "alice@example.com", "josé@example.com"]


def test_identifiers_and_times_are_no_numbers_of_people() -> None:
    assert (
        values(
            '{"page_id": 4010232137, "url": "https://acme.example.com/wiki/pages/4010232137/Runbook", "ts": 1, '
            '"t": 1747731005, '
            '"ts_ms": 1767225600009, "serial": "2026010101", "ttl": 604800}'
        )
        == []
    )


def test_nothing_is_found_inside_a_longer_run() -> None:
    assert (
        values(
            "id 3f2b8c1e-9d4a-4b6f-8a2e-672331071866 score 0.250750683890174 at 52.5702100309281,-8.6267 "
            "LinkedAccountId: 215805592 sha 4f4111111111111111ab"
        )
        == []
    )


def test_technical_words_and_dates_are_left_alone() -> None:
    assert (
        values(
            "Deploy C4 diagrams to EKS and S3 via Jenkins; statements are quarterly, due 2026-03-01 14:05Z; "
            "Docker Hub in Jordan release"
        )
        == []
    )


def test_every_spelling_of_a_number_is_found_whole() -> None:
    text = (
        "DE89 3704 0044 0532 0130 00 | de89370400440532013000 | DE89-3704-0044-0532-0130-00 | 4111 1111 1111 1111 | "
        "4111-1111-1111-1111 | 4111.1111.1111.1111 | +44 20 7946 0123 | (415) 555-0134 | 536-22-8726"
    )
    found = DETECTOR.find([Text(text)])[0]
    assert [text[span.start : span.end] for span in found] == text.split(" | ")
    assert len({span.canonical for span in found if span.category == "IBAN"}) == 1
    assert len({span.canonical for span in found if span.category == "CREDIT_CARD"}) == 1


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("see -----BEGIN RSA PRIVATE KEY-----\nMIIEfake1\nAAAA\n-----END RSA PRIVATE KEY----- ok", "see  ok"),
        ("-----BEGIN PRIVATE KEY-----\nMIIEfake2\nBBBB\n(output truncated)", "\n(output truncated)"),
        (
            '{"key":"-----BEGIN EC PRIVATE KEY-----\\nMIIEfake3\\n-----END EC PRIVATE KEY-----\\n"}',
            '{"key":"\\n"}',
        ),
        (
            "-----BEGIN PRIVATE KEY-----\nMIIEfake4\n-----BEGIN CERTIFICATE-----\nCCCC\n-----END PRIVATE KEY-----",
            "",
        ),
    ],
)
def test_a_private_key_is_hidden_whole(text: str, kept: str) -> None:
    (span,) = DETECTOR.find([Text(text)])[0]
    assert span.category == "PRIVATE_KEY"
    assert text[: span.start] + text[span.end :] == kept


def test_a_secret_inside_a_look_alike_token_is_found() -> None:
    secret = "ghp_" + "Ab3dE5fGh7Jk9Lm2Np4Qr6St8Uv1Wx3Yz5Bc"
    assert ("API_KEY", secret) in values(f"Hidden: [SECRET_{secret}]")
    assert ("CREDIT_CARD", "4111111111111111") in values("[CREDIT_CARD_4111111111111111]")


# -- encodings -------------------------------------------------------------------------------------


def test_encoded_addresses_keep_their_spelling() -> None:
    text = "https://example.com/?u=kim%40example.com&v=kim%2540example.org kim&#64;example.net"
    found = DETECTOR.find([Text(text)])[0]
    assert [(text[s.start : s.end], s.value, s.encoding) for s in found] == [
        ("kim%40example.com", "kim@example.com", Encoding.URL),
        ("kim%2540example.org", "kim@example.org", Encoding.URL),
        ("kim&#64;example.net", "kim@example.net", Encoding.HTML),
    ]


def test_any_number_of_invisible_characters_hides_nothing() -> None:
    text = "to kim@" + "\u200b" * 3_000 + "example.org now"
    (span,) = DETECTOR.find([Text(text)])[0]
    assert (span.value, text[: span.start], text[span.end :]) == ("kim@example.org", "to ", " now")


def test_a_base64_run_is_hidden_whole() -> None:
    text = "Authorization: Basic a2ltQGV4YW1wbGUub3JnOmh1bnRlcjI= ok"
    (span,) = DETECTOR.find([Text(text)])[0]
    assert text[: span.start] + text[span.end :] == "Authorization: Basic  ok"


def test_an_encoding_is_named_only_where_it_changed_the_value() -> None:
    (span,) = DETECTOR.find([Text('{"note": "line\\nkim@example.org"}')])[0]
    assert (span.value, span.encoding) == ("kim@example.org", Encoding.PLAIN)


def test_a_bare_number_of_json_text_is_its_lexeme() -> None:
    text = '{"phone": 4155550134, "cards": ["4111111111111111"], "ssn": 536228726}'
    found = DETECTOR.find([Text(text)])[0]
    assert [(s.category, s.value, s.encoding) for s in found] == [
        ("PHONE", "4155550134", Encoding.JSON_NUMBER),
        ("CREDIT_CARD", "4111111111111111", Encoding.PLAIN),
        ("SSN", "536228726", Encoding.JSON_NUMBER),
    ]


def test_a_bare_number_is_one_by_its_key_too_but_not_inside_a_string() -> None:
    text = r'{"account_number": 123456789, "note": "{\"bsn\": 111222333}"}'
    found = DETECTOR.find([Text(text)])[0]
    assert [(s.category, s.value, s.encoding) for s in found] == [
        ("BANK_ACCOUNT", "123456789", Encoding.JSON_NUMBER),
        ("BSN_NL", "111222333", Encoding.PLAIN),
    ]


def test_a_name_with_escapes_is_one_value() -> None:
    text = r'{"email": "dana@example.org", "name": "Dana \"Dee\" O\u0027Neil"}'
    name = DETECTOR.find([Text(text)])[0][1]
    assert (name.category, name.value, name.encoding) == ("PERSON", 'Dana "Dee" O\'Neil', Encoding.JSON)
    assert text[name.start : name.end] == r"Dana \"Dee\" O\u0027Neil"


# -- settings --------------------------------------------------------------------------------------


def test_a_category_can_be_switched_off() -> None:
    assert values("kim@example.org 203.0.113.7", Detector(Settings(off=frozenset({"EMAIL"})))) == [
        ("IP_ADDRESS", "203.0.113.7")
    ]


def test_a_locale_lets_national_numbers_in() -> None:
    assert values("um 030 901820 an") == []
    assert values("um 030 901820 an", Detector(Settings(locales=("de",)))) == [("PHONE", "030 901820")]


def test_the_lists_hold_whole_values() -> None:
    detector = Detector(
        Settings(allow_list=frozenset({"info@acme.com"}), deny_list=frozenset({"Hans Müller", "Zephyr"}))
    )
    text = "info@acme.com xinfo@acme.com Hans Müller, HANS MÜLLER, Zephyrus (Zephyr)"
    assert values(text, detector) == [
        ("EMAIL", "xinfo@acme.com"),
        ("TERM", "Hans Müller"),
        ("TERM", "HANS MÜLLER"),
        ("TERM", "Zephyr"),
    ]


def test_custom_patterns_run_on_the_linear_engine() -> None:
    detector = Detector(Settings(custom_patterns=(("TICKET", r"ÄB-\d+|T\d{4}"),)))
    found = detector.find([Text("é T1234 ÄB-77 €")])[0]
    assert [(s.category, s.value, s.proof) for s in found] == [
        ("TICKET", "T1234", Proof.TERM),
        ("TICKET", "ÄB-77", Proof.TERM),
    ]


@given(st.lists(st.sampled_from(["T1234", "badge", "é", " ", "Falcon", "falcon's", "OPS-77"]), max_size=8).map("".join))
@settings(max_examples=examples(60))
def test_patterns_of_the_configuration_find_together_what_each_finds_alone(text: str) -> None:
    patterns = (("TICKET", r"T\d{4}"), ("TEAM", r"(?i)ops-\d+|badge"), ("ODD", r"\pL+'s$"))
    terms = frozenset(("Falcon",))
    alone = [Settings(custom_patterns=(pattern,)) for pattern in patterns] + [Settings(deny_list=terms)]
    each = [find for settings in alone for find in Custom(settings).find(text)]
    assert list(Custom(Settings(custom_patterns=patterns, deny_list=terms)).find(text)) == each


@pytest.mark.parametrize("pattern", [r"(a)\1", r"(?<=x)y", "(", r"a{2000}"])
def test_a_pattern_that_is_not_linear_is_refused_with_the_reason(pattern: str) -> None:
    with pytest.raises(ConfigError, match="TICKET"):
        Detector(Settings(custom_patterns=(("TICKET", pattern),)))


@pytest.mark.parametrize("name", ["ticket", "TICKET_1", "_T", "T__X", "LITERAL", "", "T_"])
def test_a_name_outside_the_grammar_is_refused(name: str) -> None:
    with pytest.raises(ConfigError):
        Detector(Settings(custom_patterns=((name, "x"),)))


def test_a_text_over_the_limit_is_refused_and_not_cut() -> None:
    with pytest.raises(DetectionError):
        Detector(Settings(max_input_length=10)).find([Text("kim@example.org")])


def test_the_proof_names_the_category_that_fails() -> None:
    DETECTOR.prove()
    blind = Detector()
    blind._rows = [(category, pattern._replace(proof=lambda text: 0)) for category, pattern in blind._rows]
    with pytest.raises(DetectionError, match=r"category [A-Z_]+ was not found"):
        blind.prove()


# -- properties ------------------------------------------------------------------------------------

PARTS = st.sampled_from(
    [example.text for category in CATALOGUE.values() for example in category.examples]
    + [
        "\\",
        "%40",
        "&#64;",
        '"',
        "'",
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\n",
        "\x1c",
        "\x00",
        "\ud800",
        "é",
        "=",
        "|",
        "name: ",
        '{"email": "',
    ]
)


@given(st.lists(PARTS | st.text(max_size=8), max_size=8).map("".join))
@settings(max_examples=examples(250))
def test_spans_are_disjoint_in_bounds_and_hold_what_they_say(text: str) -> None:
    last = 0
    for span in DETECTOR.find([Text(text)])[0]:
        assert last <= span.start < span.end <= len(text)
        last = span.end
        assert span.value and span.canonical is not None
        if span.encoding in (Encoding.PLAIN, Encoding.JSON_NUMBER):
            assert span.value == text[span.start : span.end]
        assert 0 <= span.rank <= 400


@given(
    st.lists(st.lists(PARTS | st.sampled_from(["=\n", "=58", "&ssn=536-22-8726"]), max_size=4).map("".join), max_size=6)
)
@example(["a=\nb", "mail=kim@example.org&ssn=583-68-3418"])  # what one says of its encoding is no other's
@settings(max_examples=examples(150))
def test_texts_of_one_message_do_not_disturb_each_other(texts: list[str]) -> None:
    assert DETECTOR.find([Text(text) for text in texts]) == [DETECTOR.find([Text(text)])[0] for text in texts]


ENCODED = st.sampled_from(
    ["a ", "é", "\\n", "\\u00e9", "%4", "0", "%2540", "&", "amp;", "&#64;", "=", "\n", '=3D"', "\x1c", "\x00", "＠",
     "\u00ad", "a2ltQGV4YW1wbGUub3Jn", "bm9uZQ==", "0x6b696d40782e6f7267", "f" * 40, " " * 330, "word " * 1_700]
)  # fmt: skip


@given(st.lists(st.lists(ENCODED, max_size=7).map("".join), max_size=4))
@settings(max_examples=examples(300))
def test_a_text_that_is_not_called_encoded_has_no_reading_but_itself(texts: list[str]) -> None:
    encoded = DETECTOR.look([Text(text) for text in texts]).encoded
    assert encoded == {number for number, text in enumerate(texts) if len(views(text)) > 1}


WRITTEN = [
    "12 Jane Miller Street", "Dr. Ana Silva", "Kim Lee", "5 High Road, Tom Baker Suite 7", "Mary Poppins Lane 3",
    "48 Main St, Springfield, IL 62701", "Apt 4, tel. +1 415 555 0134", "7 Elm Road 4111 1111 1111 1111",
]  # fmt: skip


#: Where there is an allow list nothing is left out.
LOOKING_EVERYWHERE = Detector(Settings(allow_list=frozenset(("nobody",))))


@given(
    st.lists(st.tuples(*[st.sampled_from(WRITTEN)] * 3), min_size=1, max_size=4),
    st.sampled_from(
        ['"{}","{}",{}', "{}\t{}\t{}", "address: {} ({}) {}", 'address="{}" by {} {}', '{{"address": "{} {}"}} {}']
    ),
)
@settings(max_examples=examples(150))
def test_something_is_left_out_only_where_something_surer_hides_it(rows: list[tuple[str, str, str]], form: str) -> None:
    head = {'"': "address,note,client\n", "{": "address\tnote\tclient\n"}.get(form[0], "")
    text = head + "\n".join(form.format(*row) for row in rows)
    assert DETECTOR.find([Text(text)]) == LOOKING_EVERYWHERE.find([Text(text)])


def test_an_address_in_its_cell_that_proves_itself_is_known_everywhere() -> None:
    text = 'id,address\n1,"48 Main St, Springfield, IL 62701"\n2,"at the mill 3, Hamlet"\n'
    assert [(span.value, span.proof) for span in DETECTOR.find([Text(text)])[0]] == [
        ("48 Main St, Springfield, IL 62701", Proof.SHAPE),
        ("at the mill 3, Hamlet", Proof.KEY),
    ]


def test_a_card_is_one_in_the_cell_of_an_address_too() -> None:
    text = 'id,address\n1,"7 Elm Road 4111 1111 1111 1111"\n'
    assert "CREDIT_CARD" in {span.category for span in DETECTOR.find([Text(text)])[0]}


NAMES = ["EMAIL", "PHONE", "CREDIT_CARD", "PERSON"]
FINDS = st.builds(  # of two categories none is as certain as another: the order of such is nobody's promise
    lambda start, size, name, rank, proof: (
        start,
        size,
        Claim(CATALOGUE[name], rank + NAMES.index(name), proof),
    ),
    st.integers(0, 24),
    st.integers(1, 8),
    st.sampled_from(NAMES),
    st.sampled_from([200, 250, 300, 310]),
    st.sampled_from([Proof.SHAPE, Proof.SHAPE, Proof.KEY]),
)


@given(st.lists(FINDS, max_size=6))
@settings(max_examples=examples(400))
def test_finds_settle_as_if_each_were_weighed_against_each(finds: list[Find]) -> None:
    text = "ab cd-ef" * 4
    cut = cutter(text)
    every = [cut(find) for find in sorted(finds, key=lambda find: find[0])]
    assert settled(list(finds), text) == disjoint(reconciled(every), text)


HOSTILE = [
    "a.", "1.1.1.", "123-45-", "1234-", "::1 ", "A", "-----BEGIN PRIVATE KEY-----\n", '{"a":', "a@", "eyJ-",
    "sk-ant-", "a'", "\\", "=40",
    "&amp;", "%25", "card 4", "name: ", "a=b ", '\\"', "<a", "| a ", "Kim Lee ", "DE89 ", "+1 ", "//a:", "id 1",
    "email,a\n",
]  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
def test_eight_times_the_text_takes_about_eight_times_the_time(unit: str) -> None:
    """Quadratic work would take sixty-four times as long."""

    text = unit * (10_000 // len(unit))
    few, many = [Text(text)], [Text(text * 8)]
    compare(lambda: DETECTOR.find(few), lambda: DETECTOR.find(many), most=20, slack=0.02)
    assert seconds(lambda: DETECTOR.find(many), enough=1) < 1


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("the rest of it goes to kim.lee@exam", "kim.lee@exam"),
        ("export TOKEN=x " + "ghp_" + "q7RvK3xZ9mTb", "ghp_" + "q7RvK3xZ9mTb"),
        (
            "ring me five five five, two three four, nine eight seven six",
            "five five five, two three four, nine eight seven six",
        ),
    ],
)
def test_what_the_end_of_a_text_cut_off_or_a_person_spelled_out_is_found(text: str, value: str) -> None:
    assert [span.value for span in DETECTOR.find([Text(text)])[0]] == [value]
    assert [span.value for span in DETECTOR.find([Text(text), Text("and more")])[0]] == [value]


def test_patterns_of_the_configuration_are_proved_by_examples_made_from_them() -> None:
    patterns = (
        ("TICKET", r"\b(?:SUP|OPS)-\d{4,6}\b"),
        ("BADGE", r"badge [A-F]{2}[^a-z]{3}\w+"),
        ("ODD", r"\pL{3}\d"),
    )
    detector = Detector(Settings(custom_patterns=patterns, deny_list=frozenset(("Project Falcon",))))
    detector.prove()
    assert detector.unproved == ("ODD",)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("MRN%25253A%252520MRN-5180742", "MRN-5180742"),
        ("%2522employee_id%2522%253A%2520%2522EMP-13040%2522", "EMP-13040"),
    ],
)
def test_the_digits_of_an_escape_are_nobodys_number(text: str, value: str) -> None:
    assert [text for _, text in values(text)] == [value]


@pytest.mark.parametrize("text", ["ssn=536904399", "cvv=123 exp=12/27", "card=4012888888881881", "phone=3012345678"])
def test_what_is_assigned_is_no_escape_where_something_else_is_quoted_printable(text: str) -> None:
    alone, beside = DETECTOR.find([Text(text), Text(f'{text} <a href=3D"x">')])
    assert alone
    assert alone == beside


@pytest.mark.parametrize(
    "said",
    [
        '{"e": "kim\\u0040exa.org", "x": "some words"}',
        "%7B kim%40exa.org and more %7D",
        '{"k": "dbPass: \\"gK2$lL9%@!Fp%\\","}',
        '{"k": "{\\"dbPass\\": \\"gK2$lL9%@!Fp%\\"}"}',
        base64.b64encode(b"write to kim@exa.org today").decode(),
    ],
)
def test_a_run_is_one_value_however_deep_in_it_something_is_found(said: str) -> None:
    text = f"x: {base64.b64encode(said.encode()).decode()}"
    (span,) = DETECTOR.find([Text(text)])[0]
    assert (text[span.start : span.end], span.value, span.encoding) == (text[3:], said, Encoding.BASE64)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Sabine Rößler und Thomas Strauß", ["Sabine Rößler", "Thomas Strauß"]),
        ("Jürgen Weißenberger rief an", ["Jürgen Weißenberger"]),
        ("Sehr geehrter Herr Großmann,", ["Herr Großmann"]),
        ("name=Ute Weiß;id=4", ["Ute Weiß"]),
        ("Peter Voß, Anna Weiß", ["Peter Voß", "Anna Weiß"]),
        ("Michał Łukaszewski called", ["Michał Łukaszewski"]),
        ("Dear Tomáš Dvořák,", ["Tomáš Dvořák"]),
        ("Ayşe Yılmaz", ["Ayşe Yılmaz"]),
        ("Ștefan Bălănescu <s@example.ro>", ["Ștefan Bălănescu"]),
        ("Anna Nguyễn <a@example.vn>", ["Anna Nguyễn"]),
    ],
)
def test_a_name_is_not_cut_where_its_alphabet_goes_on(text: str, names: list[str]) -> None:
    assert [span.value for span in DETECTOR.find([Text(text)])[0] if span.category == "PERSON"] == names


WRITINGS = [
    '{"password": "@"}', "password=@ end", 'password = "@"', '{"client_secret":"@"}', '{"api_key":"@"}', "API_KEY='@'",
    '{"access_token":"@"}', "https://x.io/?access_token=@&a=1", "Authorization: Bearer @\n", "Cookie: sid=@\n",
    '<input type="password" value="@">', "sk-proj-@ end",
]  # fmt: skip
IN_AN_ADDRESS = "postgres://app:@@db.internal/x"  # has to end somewhere, or many that begin would take long


@pytest.mark.parametrize(
    ("written", "size"),
    [*((written, size) for written in WRITINGS for size in (257, 513, 20_000)), (IN_AN_ADDRESS, 4_096)],
)
def test_no_secret_is_too_long_to_be_hidden(written: str, size: int) -> None:
    secret = "".join(random.Random(3).choices(string.ascii_letters + string.digits, k=size))
    text = written.replace("@", secret, 1)
    [hidden, *_] = [span for span in DETECTOR.find([Text(text)])[0] if secret[:8] in span.value]
    assert text[hidden.start : hidden.end].endswith(secret)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("IBAN: DE89 3704 0044 0532 0130 00 EUR 4850", "DE89 3704 0044 0532 0130 00"),
        ("IBAN: DE89 3704 0044 0532 0130 00 Miete Mai", "DE89 3704 0044 0532 0130 00"),
        ("IBAN:DE89370400440532013000 EUR 50", "DE89370400440532013000"),
        ("IBAN AT61 1904 3002 3457 3201 EUR 50", "AT61 1904 3002 3457 3201"),
        ("Kontonummer 4111 1111 1111 1111 CHF 50", "4111 1111 1111 1111"),
        ("Tarjeta: 4539-1488-0343-6467 cad. 12/27", "4539-1488-0343-6467"),
        ("Kontonummer: 00234573201", "00234573201"),
        (
            "APP_KEY=base64:J63qRTDLub5NuZvP+kb8YIorGS6qFYHKVo6u7179stY=\nAPP_DEBUG=true",
            "base64:J63qRTDLub5NuZvP+kb8YIorGS6qFYHKVo6u7179stY=",
        ),
        (
            "api_key: J63qRTDLub5NuZvP+kb8YIorGS6qFYHKVo6u7179stY=\nregion: eu",
            "J63qRTDLub5NuZvP+kb8YIorGS6qFYHKVo6u7179stY=",
        ),
    ],
)
def test_what_follows_a_value_is_none_of_it(text: str, value: str) -> None:
    assert [text[span.start : span.end] for span in DETECTOR.find([Text(text)])[0]] == [value]


def test_an_account_is_no_telephone_number_whatever_it_begins_with() -> None:
    (span,) = DETECTOR.find([Text("Kontonummer: 00234573201")])[0]
    assert span.category == "BANK_ACCOUNT"
