"""A value is known by what the edge of a text left of it, where ordinary text would not hold that."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloakllm_gateway.spans import Encoding, Proof, Span
from cloakllm_gateway.vault.entries import Entry
from cloakllm_gateway.vault.known import Known, KnownValues
from cloakllm_gateway.vault.vault import Vault
from tests.cost import Work, compare
from tests.effort import examples
from tests.vault.samples import entry

GROUP = "session"

SSN = entry("SSN_0", "123-45-6789", canonical="123456789", sensitive=True)
NAME = entry("PERSON_0", "Zbigniew Wiśniewski", proof=Proof.NAME)
MAIL = entry("EMAIL_0", "administrator@example.org")
KEY = entry("SECRET_0", "sk-Live9aBcDeFgH-77xYz", canonical="sk-Live9aBcDeFgH-77xYz")
ALL = (SSN, NAME, MAIL, KEY)


def vault(*entries: Entry) -> Vault:
    known = Vault()
    known.learn(entries)
    return known


def found(text: str, *entries: Entry, origin: str = "crm") -> list[str]:
    return [text[s.start : s.end] for s in vault(*entries or ALL).known(text, origin, GROUP)]


@pytest.mark.parametrize("tail", ["", " ", "…", "...", " …\n", "... \n"])
@pytest.mark.parametrize(
    "part",
    ["123-45-67", "12345678", "Zbigniew Wiśn", "ZBIGNIEW WI", "administrator@", "Administrator@exam", "sk-Live9aBc"],
)
def test_a_beginning_at_the_end_of_a_text_is_found(part: str, tail: str) -> None:
    assert found(f"a note about {part}{tail}") == [part]
    assert found(f"{part}{tail}") == [part]


@pytest.mark.parametrize("lead", ["", " ", "…", "...", "\n… ", " ..."])
@pytest.mark.parametrize(
    "part", ["3-45-6789", "23456789", "iew Wiśniewski", "IEW WIŚNIEWSKI", "rator@example.org", "aBcDeFgH-77xYz"]
)
def test_an_end_at_the_beginning_of_a_text_is_found(part: str, lead: str) -> None:
    assert found(f"{lead}{part}, who wrote it") == [part]
    assert found(f"{lead}{part}") == [part]


@pytest.mark.parametrize("end", ['"', '\\"', "\n", "\\nmore", "</td>", "… ", "... ", '..."', " \n", "…\\n"])
def test_a_string_a_line_an_element_and_a_mark_of_omission_may_cut_values_off_too(end: str) -> None:
    assert found(f"ssn 123-45-67{end} more, by Zbigniew Wiśn{end} and more") == ["123-45-67", "Zbigniew Wiśn"]
    assert found(f"ssn 123-45-6789{end} by Zbigniew Wiśniewski{end}") == ["123-45-6789", "Zbigniew Wiśniewski"]


@pytest.mark.parametrize("mark", ["…", "...", "…… ", "... …"])
def test_behind_a_mark_of_omission_may_stand_an_end(mark: str) -> None:
    assert found(f"more {mark}3-45-6789 and {mark} iew Wiśniewski") == ["3-45-6789", "iew Wiśniewski"]


def test_a_value_with_a_line_end_or_a_quote_in_it_is_cut_off_at_the_end_of_the_text() -> None:
    assert found('see Dana "Dee" Kowal...', entry("PERSON_0", 'Dana "Dee" Kowalska')) == ['Dana "Dee" Kowal']
    assert found("12 Inner Road\nSpring", entry("ADDRESS_0", "12 Inner Road\nSpringfield")) == ["12 Inner Road\nSpring"]


def test_a_part_is_a_value_of_its_own_and_no_known_value() -> None:
    assert vault(SSN).known("ssn 123-45-67", "other", GROUP) == [
        Span(4, 13, "SSN", "123-45-67", "", Encoding.PLAIN, Proof.PART, sensitive=True)
    ]


def test_both_edges_of_one_text_are_looked_at() -> None:
    assert found("45-6789 and 123-45-67") == ["123-45-67"], "six digits have to be in groups of which one is cut"
    assert found("3-45-6789 and 123-45-67") == ["3-45-6789", "123-45-67"]


def test_the_longest_is_found_at_an_edge() -> None:
    longer = entry("PERSON_1", "Anna Zbigniew Wiśniewska", proof=Proof.NAME)
    assert found("by Anna Zbigniew Wiśn", NAME, longer) == ["Anna Zbigniew Wiśn"]
    whole = entry("PERSON_2", "Zbigniew Wiś", proof=Proof.NAME)
    assert found("by Zbigniew Wiśn", NAME, whole) == ["Zbigniew Wiśn"]
    (span,) = vault(whole, NAME).known("by Zbigniew Wiś", "crm", GROUP)
    assert span.canonical == "zbigniew wiś", "the value itself comes before a part of another"


@pytest.mark.parametrize("value", ["Zbigniew Wiśniewski", "Anna-Maria Kowalska"])
def test_a_part_that_overlaps_another_value_leaves_nothing_of_it(value: str) -> None:
    name, both = entry("PERSON_0", value), entry("TERM_0", f"Dr. {value.split()[0]}")
    text = f"by Dr. {value[:-3]}"
    spans = vault(name, both).known(text, "crm", GROUP)
    assert {text[s.start : s.end] for s in spans} == {"Dr", value[:-3]}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("administrator@example.org", "please ask the administrator"),
        ("administrator@example.org", "example.org is down"),
        ("kim@example.org", "@example.org"),
        ("kim@example.org", "example.org"),
        ("Zbigniew Wiśniewski", "signed by Zbigniew"),
        ("Zbigniew Wiśniewski", "Wiśniewski wrote"),
        ("Bo Wiśniewski", "Wiśniewski wrote"),
        ("Edwards", "written by Edward"),
        ("Edwards", "written by Edward..."),
        ("A Longo", "A long"),
        ("Asif Fields", "if fields is None"),
        ("Fairbrother", "brother of the groom"),
        ("+48 601 234 567", "a total of 601 234"),
        ("601 234 567", "a total of 601 234"),
        ("601234567", "the order 601234"),
        ("601234567", "the order 6012345"),
        ("10.20.30.40", "version 10.20.30"),
        ("10.20.30.40", "version 10.20.30.4"),
        ("192.168.100.200", "of 192.168.100.20"),
        ("1,234,567,890", "of 1,234,567,8"),
        ("1984-07-23", "since 1984-07"),
        ("1984-07-23", "since 1984-07-2"),
        ("July 23, 1984", "on July 23"),
        ("Main Street 12, Springfield", "at Main Street 12"),
        ("948213", "code 94821"),
        ("123-45-6789", "ssn 0123-45-67"),
        ("123-45-6789", "ssn x123-45-67"),
        ("123-45-6789", "3-45-67890"),
        ("123-45-6789", "ssn 123-45-67 is cut"),
        ("123-45-6789", "it is 3-45-6789"),
    ],
)
def test_what_ordinary_text_may_hold_stays(value: str, text: str) -> None:
    assert found(text, entry("TERM_0", value)) == []


@pytest.mark.parametrize(
    ("value", "part"),
    [
        ("123-45-6789", "123-45-6"),
        ("+48 601 234 567", "+48 601 234"),
        ("4111 1111 1111 1111", "4111 1111 1111"),
        ("DE89 3704 0044 0532 0130 00", "DE89 3704 0044"),
        ("2001:db8:85a3::8a2e:370:7334", "2001:db8:85a3::8a"),
        ("Anna Lee", "Anna L"),
        ("12 Main Street, Springfield", "12 Main Street, Sp"),
        ("f47ac10b-58cc-4372-a567-0e02b2c3d479", "f47ac10b-58cc-4372-"),
        ("https://kim@files.example.org/inbox", "https://kim@files."),
    ],
)
def test_what_only_a_cut_leaves_does_not(value: str, part: str) -> None:
    assert found(f"see {part}", entry("TERM_0", value, canonical=value)) == [part]


# -- the rules of whole values ---------------------------------------------------------------------


def test_a_part_of_a_value_proved_by_its_key_is_found_only_in_messages_of_its_origins() -> None:
    place = entry("ADDRESS_0", "12 Inner Schema Road", proof=Proof.KEY, origins=["evil"])
    assert found("at 12 Inner Sch", place, origin="crm") == []
    assert found("at 12 Inner Sch", place, origin="evil") == ["12 Inner Sch"]
    assert found("my_12 Inner Sch", place, origin="evil") == []


def test_a_recognised_name_has_a_capital_in_what_is_left_of_it() -> None:
    assert found("by zbigniew wiśn", NAME) == []
    assert found("iew wiśniewski", NAME) == []


def test_case_counts_where_the_canonical_form_has_both() -> None:
    assert found("is SK-LIVE9ABC", KEY) == []
    assert found("ABCDEFGH-77XYZ", KEY) == []
    other = entry("SECRET_1", "SK-LIVE9abcdefgh-77xyz", canonical="SK-LIVE9abcdefgh-77xyz")
    assert found("is SK-LIVE9abc", KEY, other) == ["SK-LIVE9abc"]


def test_reserved_words_are_no_parts() -> None:
    session = vault(entry("TERM_0", "crm__search_all"))
    assert found("call crm__sear", entry("TERM_0", "crm__search_all")) == ["crm__sear"]
    session.reserve(["crm__sear"])
    session.reserve(["m__search_all"], origin="crm")
    assert session.known("call crm__sear", "crm", GROUP) == []
    assert session.known("m__search_all", "crm", GROUP) == []


def test_nothing_is_found_inside_a_token() -> None:
    assert found("the [EMAIL_0]", entry("TERM_0", "EMAIL_0] and more")) == []


def test_offsets_are_exact_where_folding_changes_lengths() -> None:
    assert found("İß Zbigniew Wiśn ŉ") == []
    assert found("İß Zbigniew Wiśn ") == ["Zbigniew Wiśn"]
    assert found("iew Wiśniewski İß") == ["iew Wiśniewski"]
    assert found("by Großmann İlh", entry("PERSON_0", "Großmann İlhan")) == ["Großmann İlh"]


def test_of_a_very_long_value_a_beginning_is_known_that_is_shorter_than_what_all_copies_have() -> None:
    key = "-----BEGIN PRIVATE KEY-----\n" + "MIIEfake/" * 40 + "\n-----END PRIVATE KEY-----"
    secret = entry("PRIVATE_KEY_0", key, canonical=key)
    assert found(f"it is {key[:100]}", secret) == [key[:100]]
    assert found(f"it is {key[:40]}", secret) == []


KEY_LINES = [f"MIIEq7RvK3xZ9mTb2WcY5nHf8LpD4sGj6aeE0d1q7RvK3xZ9mTb2WcY5nHf8{n:04}" for n in range(30)]


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\n    "])
def test_a_key_is_known_by_each_of_its_lines(ends: str) -> None:
    key = ends.join(["-----BEGIN PRIVATE KEY-----", *KEY_LINES, "c2hvcnQ=", "-----END PRIVATE KEY-----"])
    secret = entry("PRIVATE_KEY_0", key, canonical=key, sensitive=True)
    session = vault(secret)
    assert found("\n".join(KEY_LINES[5:9]), secret) == KEY_LINES[5:9]
    assert found(f"12: {KEY_LINES[7]} and {KEY_LINES[8].lower()}", secret) == [KEY_LINES[7]]
    assert found(f"it is {key}", secret) == [key]
    assert [s.sensitive for s in session.known(KEY_LINES[3], "crm", GROUP)] == [True]
    session.forget([secret.token])
    assert session.known("\n".join(KEY_LINES), "crm", GROUP) == []


def test_lines_of_prose_are_no_values_of_their_own() -> None:
    note = "\n".join(f"the {n}th line of a note that somebody hid as a whole" for n in range(9))
    assert found("the 3th line of a note that somebody hid as a whole", entry("TERM_0", note, canonical=note)) == []


@pytest.mark.parametrize("quote", ['{"text": "', '["a", "', '{"x":"', '{\\"text\\": \\"'])
def test_a_longer_string_of_json_may_begin_in_a_value(quote: str) -> None:
    rest = ", who wrote it on a Monday and came back on Tuesday"
    assert found(f'{quote}iew Wiśniewski{rest}", "x": "3-45-6789{rest}"}}') == ["iew Wiśniewski", "3-45-6789"]
    assert found(f'{quote}iew Wiśniewski"}}') == [], "a short one is a field, and no piece of a document"


def test_of_a_value_that_was_forgotten_no_part_is_known() -> None:
    session = vault(SSN, MAIL)
    session.forget([SSN.token])
    assert session.known("ssn 123-45-67", "crm", GROUP) == session.known("3-45-6789 ssn", "crm", GROUP) == []
    assert session.known("to administrator@exa", "crm", GROUP) != []


def test_the_words_of_others_are_searched_whole_only() -> None:
    """The echo of a call and the allow list say of themselves what a part of theirs is."""
    values = KnownValues(2, set())
    values.add("123-45-6789", Known("SSN", "123456789", "123-45-6789", Encoding.PLAIN, Proof.SHAPE), caseless=True)
    assert values.find("ssn 123-45-67") == []


# -- whatever the values are -----------------------------------------------------------------------

words = st.text("abcdefgikmoszAKMßé", min_size=1, max_size=7)
numbers = st.from_regex(r"[0-9]{2,4}(?:[- ][0-9]{2,4}){1,3}", fullmatch=True)
mails = st.builds("{}.{}@{}.org".format, words, words, words)
keys = st.from_regex(r"[A-Za-z]{2}-[A-Za-z0-9]{8,20}", fullmatch=True)
values = st.one_of(st.lists(words, min_size=1, max_size=4).map(" ".join), numbers, mails, keys, words)


def is_telling(value: str, part: str, *, is_end: bool) -> bool:
    """The rule once more, as the documentation has it."""
    value, part = value.casefold(), part.casefold()
    digits = sum(c.isdigit() for c in part)
    if not max(6, len(value) / 2) <= len(part) < len(value):
        return False
    cut = len(value) - len(part) if is_end else len(part)
    inside = value[cut - 1].isalnum() and value[cut].isalnum()
    if any(c.isalpha() for c in part):
        return (digits > 0 or not part.isalpha()) if inside else (digits >= 6 or "@" in part[1:])
    return sum(c.isdigit() for c in value) >= 9 and (digits >= 8 or (inside and digits >= 6 and not part.isdigit()))


@settings(max_examples=examples(300))
@given(values, st.lists(values, max_size=3), st.data())
def test_every_telling_part_is_found_at_its_edge_and_nothing_else(value: str, others: list[str], data: st.DataObject):
    cut = data.draw(st.integers(0, len(value)))
    mark = data.draw(st.sampled_from(["", " ", "…", "...", " … "]))
    everything = [value, *others]
    session = vault(*(entry(f"TERM_{n}", v, canonical=v) for n, v in enumerate(everything)))
    for part, text, is_end in (
        (value[:cut], f"### {value[:cut]}{mark}", False),
        (value[cut:], f"{mark}{value[cut:]} ###", True),
    ):
        spans = session.known(text, "x", GROUP)
        assert all(any(span.value in v for v in everything) for span in spans)
        if part == part.strip() and is_telling(value, part, is_end=is_end):
            start = text.index(part)
            assert [(s.start, s.end) for s in spans] == [(start, start + len(part))]
        elif not others and part != value:
            assert all(len(s.value) < len(part) and is_telling(value, s.value, is_end=is_end) for s in spans)
        if not others and part != value:
            assert session.known(f"### {part} ###", "x", GROUP) == []


@settings(max_examples=examples(200))
@given(st.lists(st.tuples(values, st.booleans()), max_size=6), st.lists(values, max_size=3), st.data())
def test_what_is_discarded_was_never_there(kept: list[tuple[str, bool]], gone: list[str], data: st.DataObject) -> None:
    def known(value: str) -> Known:
        return Known("TERM", value, value, Encoding.PLAIN, Proof.SHAPE)

    some, fresh = KnownValues(4, set(), truncated=True), KnownValues(4, set(), truncated=True)
    for value, caseless in data.draw(st.permutations([*kept, *((value, True) for value in gone)])):
        some.add(value, known(value), caseless)
    for value in gone:
        some.discard(value, "TERM", value)
    for value, caseless in kept:
        if value not in gone:
            fresh.add(value, known(value), caseless)
    for value in (*gone, *(value for value, _ in kept)):
        for text in (f"# {value[: len(value) * 3 // 4]}", f"{value[len(value) // 4 :]} #"):
            assert some.find(text) == fresh.find(text)


# -- speed -----------------------------------------------------------------------------------------


def alike(size: int, start: int = 0) -> list[Entry]:
    """Values with one beginning and one end, of which no two texts have the same middle."""
    return [
        entry(f"TERM_{n}", f"the one beginning {n * 7919 % 1000003:07} the one end") for n in range(start, start + size)
    ]


@pytest.mark.parametrize(
    "text", ["see the one beginning", "beginning the one end", "see the one beginning 0", "7 the one end"]
)
def test_a_short_text_costs_the_same_however_many_values_begin_or_end_so(text: str) -> None:
    few, lots = vault(*alike(20)), vault(*alike(20_000))

    def work(session: Vault) -> Work:
        return lambda: [session.known(text, "x", GROUP) for _ in range(200)]

    compare(work(few), work(lots), most=3, slack=0.001)


def test_learning_one_more_value_costs_about_the_same_however_many_begin_and_end_so() -> None:
    few, lots = vault(*alike(20)), vault(*alike(20_000))

    def learn(session: Vault, start: int) -> Work:
        new = alike(500, start)
        return lambda: session.learn([e._replace(origins=frozenset({object.__repr__(e)})) for e in new])

    compare(learn(few, 60_000), learn(lots, 50_000), most=3, slack=0.002)


@pytest.mark.parametrize(
    "text", ["a ", "1-", "a@", "…", ".", " ", "a b", '"', "…a", "a…", "...1-", "a \n", "…-1", ' "', ': "a a ']
)
def test_looking_at_the_edges_is_linear_whatever_was_learned(text: str) -> None:
    stairs = [*("a " * n + "b" for n in range(4, 60, 7)), *("1-" * n + "2" for n in range(4, 60, 7))]
    session = vault(*(entry(f"TERM_{n}", value) for n, value in enumerate(stairs)))

    def work(size: int) -> Work:
        whole = text * (size // len(text))
        return lambda: session.known(whole, "x", GROUP)

    compare(work(2_000), work(8_000), most=8, slack=0.01)
