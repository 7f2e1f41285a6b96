"""What every token store keeps, whichever it is."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cloakllm_gateway.shell.stores import QuotaExceeded, Quotas, Store
from cloakllm_gateway.spans import Encoding, Kind, Proof
from cloakllm_gateway.vault.entries import Entry, Spelling, Token
from tests.contracts.conftest import Make

GROUP = "session"
RUNS = count()


@pytest.fixture
def store(make: Make, tmp_path: Path) -> Store:
    return make(tmp_path / "state")


def spelled(value: str, category: str = "EMAIL", **more: object) -> Spelling:
    return Spelling(category, value, value, value.lower(), **more)  # type: ignore[arg-type]


def assign(
    store: Store, *values: str | Spelling, origin: str = "crm", group: str = GROUP, namespace: str = "n"
) -> list[Entry]:
    spellings = [v if isinstance(v, Spelling) else spelled(v) for v in values]
    return anyio.run(store.assign, namespace, group, origin, spellings)


def test_a_value_has_one_token_whatever_the_message(store):
    ana, bob = assign(store, "ana@x.org", "bob@x.org")
    assert [e.token for e in assign(store, "bob@x.org", "cy@x.org", "ana@x.org", "ana@x.org")] == [
        bob.token,
        Token("EMAIL", bob.token.number + 1),
        ana.token,
        ana.token,
    ]


def test_spellings_of_one_canonical_value_share_the_stem_and_keep_their_text(store):
    first, second, third, other = assign(store, "kim@x.org", "Kim@X.org", "KIM@X.ORG", "ann@x.org")
    assert {first.token.number, second.token.number, third.token.number} == {first.token.number}
    assert [e.token.variant for e in (first, second, third)] == [0, 1, 2]
    assert [e.spelling.raw for e in (first, second, third)] == ["kim@x.org", "Kim@X.org", "KIM@X.ORG"]
    assert other.token.number != first.token.number


def test_encoding_and_type_make_a_spelling_too(store):
    plain = spelled("4111")
    entries = assign(store, plain, plain._replace(encoding=Encoding.JSON_NUMBER), plain._replace(kind=Kind.NUMBER))
    assert len({e.token for e in entries}) == 3
    assert len({e.token.number for e in entries}) == 1


def test_categories_count_by_themselves(store):
    mail, phone = assign(store, spelled("a@x.org"), spelled("+4512345678", "PHONE"))
    assert (mail.token.category, phone.token.category) == ("EMAIL", "PHONE")
    assert mail.token.number == phone.token.number == 0


def test_a_mention_from_another_upstream_of_the_group_adds_an_origin(store):
    assign(store, "a@x.org", origin="crm")
    (entry,) = assign(store, "a@x.org", origin="mail")
    assert entry.origins == {"crm", "mail"}
    assert entry.group == GROUP


def test_another_group_gets_its_own_number_and_adds_no_origin(store):
    (crm,) = assign(store, "1985-03-05", group="crm", origin="crm")
    (evil,) = assign(store, "1985-03-05", group="evil", origin="evil")
    assert crm.token.number != evil.token.number
    assert assign(store, "1985-03-05", group="crm", origin="crm") == [crm]
    assert crm.origins == {"crm"}


def test_a_namespace_knows_nothing_of_another(store):
    (mine,) = assign(store, "a@x.org", namespace="one")
    (yours,) = assign(store, "a@x.org", namespace="two")
    assert mine.token.number != yours.token.number


def test_a_forgotten_namespace_is_empty_and_its_numbers_are_not_used_again(store):
    (before,) = assign(store, "a@x.org", namespace="one")
    anyio.run(store.forget, "one")
    (after,) = assign(store, "a@x.org", namespace="one", origin="mail")
    assert after.token.number > before.token.number
    assert after.origins == {"mail"}


def test_a_number_has_one_value_for_ever(make, tmp_path):
    meaning: dict[Token, str] = {}
    for run in range(4):
        values = [f"p{i}@x.org" for i in range(run * 10, run * 10 + 40)]
        for entry in assign(make(tmp_path), *values):
            assert meaning.setdefault(entry.token, entry.spelling.raw) == entry.spelling.raw


def test_a_more_certain_proof_replaces_a_key_and_sensitive_stays(store):
    (weak,) = assign(store, spelled("12345678", proof=Proof.KEY, sensitive=True))
    (strong,) = assign(store, spelled("12345678", proof=Proof.SHAPE), origin="mail")
    assert (weak.spelling.proof, strong.spelling.proof) == (Proof.KEY, Proof.SHAPE)
    assert strong.spelling.sensitive
    (again,) = assign(store, spelled("12345678", proof=Proof.KEY))
    assert again == strong


def test_concurrent_messages_get_one_number_per_value(store):
    results: list[list[Entry]] = []

    async def one(values: list[str]) -> None:
        results.append(await store.assign("n", GROUP, "crm", [spelled(v) for v in values]))

    async def all_at_once() -> None:
        async with anyio.create_task_group() as tasks:
            for start in range(0, 50, 5):
                tasks.start_soon(one, [f"p{i}@x.org" for i in range(start, start + 10)])

    anyio.run(all_at_once)
    tokens = {e.spelling.raw: e.token for entries in results for e in entries}
    assert len(set(tokens.values())) == len(tokens) == 55
    assert all(tokens[e.spelling.raw] == e.token for entries in results for e in entries)


def test_nothing_is_assigned_for_nothing(store):
    assert assign(store) == []


# -- quotas ----------------------------------------------------------------------------------------


def test_over_its_quota_only_that_upstream_is_refused_and_nothing_of_its_message_stays(make, tmp_path):
    store = make(tmp_path, Quotas(total=100, per_origin=10, per_message=8))
    assign(store, *(f"e{i}@x.org" for i in range(8)), origin="evil")
    with pytest.raises(QuotaExceeded):
        assign(store, "e1@x.org", *(f"f{i}@x.org" for i in range(3)), origin="evil")
    assert len(assign(store, "f0@x.org", "f1@x.org", "e1@x.org", origin="evil")) == 3
    assert len(assign(store, *(f"c{i}@x.org" for i in range(8)), origin="crm")) == 8


def test_one_message_may_bring_only_so_many_new_values(make, tmp_path):
    store = make(tmp_path, Quotas(per_message=3))
    with pytest.raises(QuotaExceeded, match="more than 3 new values"):
        assign(store, *"abcd")
    assert len(assign(store, *"abc", *"abc")) == 6


def test_a_full_vault_drops_what_was_never_restored_first(make, tmp_path):
    store = make(tmp_path, Quotas(total=3))
    a, b, c = assign(store, "a", "b", "c")
    anyio.run(store.restored, "n", [a.token])
    follower = anyio.run(store.follow, "n")
    follower.take()
    assign(store, "d", "e", origin="mail")
    assert set(follower.take().gone) == {b.token, c.token}
    assert assign(store, "a") == [a]


def test_a_session_hears_of_a_value_in_one_way(make, tmp_path):
    store = make(tmp_path, Quotas())
    follower = anyio.run(store.follow, "n")
    own, others = assign(store, "a", "b"), assign(store, "c")
    anyio.run(store.refresh)
    follower.pass_over(own)
    assert follower.take(1).entries == others
    assert follower.take().entries == []


def test_many_values_of_one_message_are_assigned_like_few(make, tmp_path):
    store = make(tmp_path, Quotas())
    texts = [f"e{number}@x.org" for number in range(1200)]
    entries = assign(store, *texts)
    assert [entry.spelling.value for entry in entries] == texts
    assert len({entry.token for entry in entries}) == 1200
    assert assign(store, *texts[:3]) == entries[:3]


def test_what_comes_back_after_it_was_dropped_has_a_new_number(make, tmp_path):
    store = make(tmp_path, Quotas(total=2))
    a, _ = assign(store, "a", "b")
    assign(store, "c", "d")
    (again,) = assign(store, "a")
    assert again.token.number > a.token.number


def test_a_message_with_more_values_than_the_vault_holds_is_refused(make, tmp_path):
    store = make(tmp_path, Quotas(total=2))
    with pytest.raises(QuotaExceeded):
        assign(store, "a", "b", "c")
    assert len(assign(store, "a", "b")) == 2


def test_what_is_forgotten_counts_no_more(make, tmp_path):
    store = make(tmp_path, Quotas(per_origin=2))
    assign(store, "a", "b", namespace="one")
    anyio.run(store.forget, "one")
    assert len(assign(store, "a", "b", namespace="one")) == 2


def test_whoever_floods_the_vault_drives_out_only_what_is_their_own(make, tmp_path):
    store = make(tmp_path, Quotas(total=10, per_origin=8))
    few = assign(store, "a", "b", "c", namespace="few")
    for n in range(4):
        assign(store, *(f"m{n}.{i}" for i in range(5)), namespace="many", origin=f"crm{n}")
    assert assign(store, "a", "b", "c", namespace="few") == few
    assert len(assign(store, *"defgh", namespace="few")) == 5  # the quota of an origin is one of each namespace


# -- whatever comes in whatever order --------------------------------------------------------------

MESSAGES = st.lists(
    st.tuples(
        st.sampled_from(["n1", "n2"]),
        st.sampled_from(["session", "evil"]),
        st.sampled_from(["crm", "mail"]),
        st.lists(st.sampled_from(["kim@x.org", "KIM@x.org", "ann@x.org", "Ann@X.org", "bo@x.org"]), max_size=5),
    ),
    max_size=8,
)


@given(messages=MESSAGES)
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_token_and_value_are_one_to_one(make, messages, tmp_path):
    store = make(tmp_path)
    run = f"run {next(RUNS)} "  # a store that lasts keeps the values of the run before
    by_value: dict[tuple[str, ...], Token] = {}
    origins: dict[Token, set[str]] = {}
    for namespace, group, origin, values in messages:
        for entry in assign(store, *values, origin=origin, group=group, namespace=run + namespace):
            key = (namespace, group, entry.spelling.raw)
            assert by_value.setdefault(key, entry.token) == entry.token
            origins.setdefault(entry.token, set()).add(origin)
            assert entry.origins == origins[entry.token]
    assert len(set(by_value.values())) == len(by_value)
    stems = {(n, g, raw.lower()): token.number for (n, g, raw), token in by_value.items()}
    assert len(set(stems.values())) == len(stems)
    assert all(stems[n, g, raw.lower()] == token.number for (n, g, raw), token in by_value.items())
