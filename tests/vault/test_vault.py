"""What a session knows: its tokens, the values that may not show again, and what becomes of restored ones."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cloakllm_gateway.spans import Encoding, Proof, Span
from cloakllm_gateway.vault.entries import Entry, Token
from cloakllm_gateway.vault.tokens import LITERAL
from cloakllm_gateway.vault.vault import Vault, tellable
from cloakllm_gateway.vault.words import COMMON
from tests.cost import Work, compare
from tests.vault.samples import entry

KIM = entry("EMAIL_0", "kim@example.com")

GROUP = "session"


def vault(*entries: Entry) -> Vault:
    known = Vault()
    known.learn(entries)
    return known


def known(text: str, *entries: Entry, origin: str = "other") -> list[str]:
    return [text[s.start : s.end] for s in vault(*entries).known(text, origin, GROUP)]


def echoed(text: str, *entries: Entry) -> list[str]:
    return [text[s.start : s.end] for s in vault(*entries).echoes(entries, text)]


# -- tokens ----------------------------------------------------------------------------------------


def test_a_session_knows_only_what_it_learned():
    one, two = vault(KIM), vault()
    assert one.lookup(Token("EMAIL", 0)) == KIM
    assert two.lookup(Token("EMAIL", 0)) is None
    assert two.known("kim@example.com", "crm", GROUP) == []


def test_learning_again_brings_new_origins():
    session = vault(KIM)
    session.learn([KIM._replace(origins=frozenset({"crm", "mail"}))])
    assert session.lookup(KIM.token) == KIM._replace(origins=frozenset({"crm", "mail"}))


def test_tokens_shown_are_remembered_and_the_last_ten_of_a_category_listed():
    session = vault()
    tokens = [Token("EMAIL", n) for n in range(12)]
    session.show([*tokens, Token("SSN", 3), tokens[0]])
    assert session.is_shown(tokens[5])
    assert not session.is_shown(Token("EMAIL", 12))
    assert session.shown_of("EMAIL") == tokens[2:]
    assert session.shown_of("EMAIL", limit=2) == tokens[10:]
    assert session.shown_of("PHONE") == []


# -- known values ----------------------------------------------------------------------------------


def test_a_value_with_a_token_is_found_wherever_it_stands_as_a_word():
    assert vault(KIM).known("To kim@example.com, KIM@EXAMPLE.COM.", "any", GROUP) == [
        Span(3, 18, "EMAIL", "kim@example.com", "kim@example.com", proof=Proof.KNOWN),
        Span(20, 35, "EMAIL", "KIM@EXAMPLE.COM", "kim@example.com", proof=Proof.KNOWN),
    ]
    assert known("xkim@example.com kim@example.community") == []
    assert known("ann.kim@example.com", KIM) == ["kim@example.com"]


def test_the_longest_value_wins():
    short, long = entry("PERSON_0", "Mia Larsen"), entry("PERSON_1", "Mia Larsen Jensen")
    assert known("Mia Larsen Jensen and Mia Larsen", short, long) == ["Mia Larsen Jensen", "Mia Larsen"]


def test_case_counts_where_the_canonical_form_has_both():
    secret = entry("SECRET_0", "aBcD9876", canonical="aBcD9876")
    assert known("aBcD9876 ABCD9876 abcd9876", secret) == ["aBcD9876"]


@pytest.mark.parametrize("value", ["Mia", "4821", "12345", "12-34", "1.50", "Will", "ROSE", "May", "weiß", "on"])
def test_what_can_not_be_told_from_ordinary_text_is_left_to_the_reply_of_its_call(value):
    short = entry("SECRET_0", value)
    assert known(f"is {value} it", short) == []
    if value != "on":
        assert echoed(f"is {value} it", short) == [value]


@pytest.mark.parametrize("value", ["948213", "A1B2", "12-34-56", "Mia L", "山田太郎"])
def test_what_can_be_told_is_known(value):
    assert known(f"is {value} it", entry("SECRET_0", value)) == [value]


def test_a_number_inside_a_longer_one_is_no_value():
    number = entry("ACCOUNT_0", "948213")
    assert known("0.948213 948213.5 1948213 948213-1 948213. (948213)", number) == ["948213"] * 3


def test_a_recognised_name_counts_only_with_a_capital():
    name = entry("PERSON_0", "Gracia", proof=Proof.NAME)
    assert known("Gracia, gracia, GRACIA", name) == ["Gracia", "GRACIA"]


def test_scripts_without_spaces_need_no_word_boundary():
    assert known("担当は山田太郎です", entry("PERSON_0", "山田太郎")) == ["山田太郎"]


def test_nothing_is_found_inside_a_token():
    assert known("[KIMLARSEN_0] KIMLARSEN", entry("TERM_0", "kimlarsen")) == ["KIMLARSEN"]


def test_a_literal_is_no_known_value():
    assert known("the [EMAIL_7] text", entry(f"{LITERAL}_0", "[EMAIL_7] text")) == []


def test_offsets_are_exact_where_lower_casing_changes_lengths():
    text = "İİ GROSSMANN ßß Kim@Example.com ŉ Großmann"
    found = vault(KIM, entry("PERSON_0", "Großmann")).known(text, "x", GROUP)
    assert [text[s.start : s.end] for s in found] == ["GROSSMANN", "Kim@Example.com", "Großmann"]


def test_the_encoded_form_is_known_with_its_value():
    seen = entry("EMAIL_1", "kim@x.org", raw="a2ltQHgub3Jn", encoding=Encoding.BASE64)
    assert vault(seen).known("is a2ltQHgub3Jn it", "x", GROUP) == [
        Span(3, 15, "EMAIL", "kim@x.org", "kim@x.org", Encoding.BASE64, Proof.KNOWN)
    ]
    assert known("is A2LTQHgub3Jn it", seen) == []


def test_the_canonical_form_is_known_too():
    assert known("+14155550134", entry("PHONE_0", "+1 (415) 555-0134", canonical="+14155550134")) == ["+14155550134"]


def test_a_very_long_value_is_found_and_a_cut_copy_of_it_too():
    key = "-----BEGIN PRIVATE KEY-----\n" + "MIIEfake/" * 40 + "\n-----END PRIVATE KEY-----"
    secret = entry("PRIVATE_KEY_0", key, canonical=key)
    assert known(f"a {key} b", secret) == [key]
    (cut,) = vault(secret).known(f"a {key[:200]}\n(output truncated)", "x", GROUP)
    assert (cut.start, cut.end) == (2, 202)
    assert (cut.value, cut.canonical) == (key[:200], ""), "it is a value of its own"


def test_a_value_proved_by_its_key_is_known_only_in_messages_of_its_origins():
    word = entry("PERSON_0", "inputSchema", proof=Proof.KEY, origins=["evil"])
    assert known("the inputSchema", word, origin="crm") == []
    (found,) = vault(word).known("the INPUTSCHEMA", "evil", GROUP)
    assert found.proof is Proof.KEY, "a further spelling must not be known elsewhere either"
    both = entry("PERSON_0", "inputSchema", proof=Proof.KEY, origins=["evil", "crm"])
    assert known("the inputSchema", word, both, origin="crm") == ["inputSchema"]
    sure = entry("PERSON_0", "inputSchema", proof=Proof.TERM, origins=["evil", "crm"])
    assert known("the inputSchema", word, sure, origin="any") == ["inputSchema"]
    assert known("inputSchema_id", word, origin="evil") == []


def test_a_long_value_proved_by_its_key_is_no_different():
    text = "inputSchema of the tool " * 10
    word = entry("SECRET_0", text.strip(), proof=Proof.KEY, origins=["evil"])
    assert known(text, word, origin="crm") == []
    assert known(text, word, origin="evil") == [text.strip()]
    both = entry("SECRET_0", text.strip(), proof=Proof.KEY, origins=["evil", "crm"])
    assert known(text, word, both, origin="crm") == [text.strip()]


@pytest.mark.parametrize("reserve_first", [True, False])
def test_reserved_words_are_never_values(reserve_first):
    session = Vault(["crm__search"] if reserve_first else [])
    session.learn([entry("SECRET_0", "CRM__Search", proof=Proof.SHAPE)])
    session.reserve(["crm__search"])
    assert session.known("call crm__search or CRM__Search", "crm", GROUP) == []


VALUES = st.text(st.sampled_from("abAB1 .@_ßİé山"), min_size=1, max_size=8)


@example(["11111ß"], "1111ß")
@given(st.lists(VALUES, max_size=5), st.text(st.sampled_from("abAB1 .@_ßİé山[]"), max_size=40))
def test_known_spans_are_disjoint_sorted_and_hold_a_value_each(values, text):
    entries = [entry(f"TERM_{n}", value, canonical=value) for n, value in enumerate(values)]
    folded = {value.casefold() for value in values}
    end = 0
    for span in vault(*entries).known(text, "x", GROUP):
        assert span.start >= end
        end = span.end
        shown = text[span.start : span.end].casefold()
        if span.proof is Proof.PART:  # a cut left it
            assert any(value.startswith(shown) or value.endswith(shown) for value in folded)
        else:
            assert shown in folded
        assert span.value == text[span.start : span.end]


@given(st.lists(VALUES, min_size=1, max_size=5), st.data())
def test_a_known_value_between_spaces_is_always_found(values, data):
    entries = [entry(f"TERM_{n}", value, canonical=value) for n, value in enumerate(values)]
    value = data.draw(st.sampled_from(values)).strip()
    if len(value) < 4 or value not in values or not any(c.isalpha() for c in value) or value.casefold() in COMMON:
        return
    text = f"İ {value} ß"
    assert any(s.start <= 2 and s.end >= 2 + len(value) for s in vault(*entries).known(text, "x", GROUP)) or any(
        other in text and other != value for other in values
    )


# -- speed -----------------------------------------------------------------------------------------


def many(size: int) -> Vault:
    session = Vault()
    session.learn(entry(f"EMAIL_{n}", f"user{n}.{n * 7919 % 10007}@mail{n % 50}.example.com") for n in range(size))
    return session


def test_20_000_values_cost_at_most_three_times_as_much_as_20():
    text = ("The user user17 wrote to user3.3743@mail3.example.com about the users and user-data. " * 70)[:5000]
    few, lots = many(20), many(20_000)
    assert len(few.known(text, "x", GROUP)) == len(lots.known(text, "x", GROUP)) > 50
    compare(lambda: few.known(text, "x", GROUP), lambda: lots.known(text, "x", GROUP), most=3, slack=0.001)


def _staircase() -> list[str]:
    """Values that all begin alike, of every length: what an upstream would teach us to slow us down."""
    return ["a " * n + "b" for n in range(2, 400)]


@pytest.mark.parametrize("text", ["a ", "aaaa", "a b", "user1@", "山", "ß", "a" * 200 + " "])
def test_looking_for_known_values_is_linear_whatever_was_learned(text):
    session = vault(*(entry(f"TERM_{n}", value) for n, value in enumerate([*_staircase(), "aaaa" * 99 + "b"])))

    def work(size: int) -> Work:
        whole = text * (size // len(text))
        return lambda: session.known(whole, "x", GROUP)

    compare(work(10_000), work(40_000), most=8, slack=0.01)


def test_learning_one_more_value_costs_the_same_however_many_are_known():
    few, lots = many(20), many(20_000)

    def learn(session: Vault, start: int) -> Work:
        new = [entry(f"EMAIL_{n}", f"new{n}@example.com") for n in range(start, start + 500)]
        return lambda: session.learn([e._replace(origins=frozenset({object.__repr__(e)})) for e in new])

    compare(learn(few, 60_000), learn(lots, 50_000), most=3, slack=0.002)


# -- echoes ----------------------------------------------------------------------------------------

ANN = entry("EMAIL_5", "ann.lee@example.com")
CARD = entry("CREDIT_CARD_0", "4111 1111 1111 1111", canonical="4111111111111111", sensitive=True)
MIA = entry("PERSON_0", "Mia", proof=Proof.NAME)
HANS = entry("PERSON_1", "Hans Müller", proof=Proof.NAME)
PHONE = entry("PHONE_0", "+1 (415) 555-0134", canonical="+14155550134")


def test_the_reply_of_a_call_is_searched_for_what_the_call_restored():
    otp = entry("OTP_0", "4821", proof=Proof.KEY)
    text = "Sent to kim@example.com; code=4821; order 948213; KIM@EXAMPLE.COM; for Mia, Miami office"
    assert echoed(text, KIM, otp, MIA) == ["kim@example.com", "4821", "KIM@EXAMPLE.COM", "Mia"]


@pytest.mark.parametrize(
    ("value", "text", "found"),
    [
        (ANN, "mailbox ann.lee unknown", ["ann.lee"]),
        (CARD, "card ending 1111 declined; order 911117", ["1111"]),
        (CARD, "4111111111111111", ["4111111111111111"]),
        (HANS, "Dear Hans, Herr MÜLLER; hans", ["Hans", "MÜLLER"]),
        (PHONE, "14155550134 or 4155550134", ["14155550134", "4155550134"]),
        (entry("SSN_0", "536-22-8726"), "536228726 8726", ["536228726", "8726"]),
    ],
)
def test_parts_of_a_restored_value_are_found(value, text, found):
    assert echoed(text, value) == found


@pytest.mark.parametrize(
    "form",
    [
        base64.b64encode(b"ann.lee@example.com").decode(),
        b"ann.lee@example.com".hex(),
        b"ann.lee@example.com".hex().upper(),
        quote("ann.lee@example.com", safe=""),
        "ann.lee%40EXAMPLE.com",
    ],
)
def test_other_ways_to_write_a_restored_value_are_found_and_share_its_stem(form):
    text = f"wrote {form} there"
    (span,) = vault().echoes([ANN], text)
    assert text[span.start : span.end] == form.rstrip("=")
    assert (span.value, span.canonical, span.category) == ("ann.lee@example.com", "ann.lee@example.com", "EMAIL")


def test_an_escaped_value_is_found():
    dana = entry("PERSON_2", 'Dana "Dee" Ü')
    assert echoed(json.dumps('x Dana "Dee" Ü x'), dana) == ['Dana \\"Dee\\" \\u00dc']


def test_a_part_is_a_value_of_its_own_and_known_to_its_origin_at_most():
    (span,) = vault().echoes([CARD], "ending 1111")
    assert (span.value, span.canonical, span.category, span.sensitive) == ("1111", "1111", "CREDIT_CARD", True)
    assert span.proof is Proof.KEY


def test_a_common_word_in_a_name_is_no_part_of_it():
    assert echoed("Will Rose call Will?", entry("PERSON_3", "Will Rose Holmgren", proof=Proof.NAME)) == []


def test_reserved_words_are_no_echoes():
    session = Vault(["search"])
    assert session.echoes([entry("SECRET_0", "search")], "search for it") == []


def test_a_value_that_differs_from_a_reserved_word_in_its_case_is_an_echo_as_it_is_written():
    session = Vault(["harrison", "model"])
    values = [entry("PERSON_0", "Harrison", proof=Proof.NAME), entry("USERNAME_0", "Model", proof=Proof.KEY)]
    text = "no user Harrison, login Model; harrison has no such model"
    assert [text[s.start : s.end] for s in session.echoes(values, text)] == ["Harrison", "Model"]


@pytest.mark.parametrize("word", ["orders", "shop", "Grafana", "postgres"])
def test_the_account_of_a_program_is_no_value_elsewhere(word: str) -> None:
    """`DB_USER=orders` is hidden where it stands; tables, images and hosts are called so as well."""
    assert not tellable(word)
    assert tellable(f"{word}7") and tellable("jdoe")
