"""Who gets a value back is decided where it is restored (threats 2, 18 and 26, and `token_scope`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.places import AT, ERRORS, NOTIFICATIONS, REQUESTS, RESULTS
from tests.acceptance.places import upstream as planting
from tests.hostile.scene import CAPABILITIES, KIM, honest, hostile, meet, refusal, shown
from tests.peers.compare import TOKEN
from tests.peers.driver import Processes, text_of
from tests.peers.hosted import STATELESS_VERSION
from tests.peers.upstream import text
from tests.peers.values import values

SENSITIVE = ("ssn", "card", "iban", "api_key", "aws_key")
URIS = "resourceSubscriptions"
ORDINARY = ("email", "phone", "ip")


class Scene:
    def __init__(self, peers: Processes, folder: Path, **config: Any) -> None:
        self.crm, self.evil = honest(folder), hostile(folder)
        self.driver = meet(peers, self.crm, self.evil, **config)
        self.tokens = shown(self.driver)


@pytest.fixture(scope="module")
def open_scene(module_peers: Processes, tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """``token_scope: session``, as by default."""
    return Scene(module_peers, tmp_path_factory.mktemp("session"))


@pytest.fixture(scope="module")
def closed_scene(module_peers: Processes, tmp_path_factory: pytest.TempPathFactory) -> Scene:
    return Scene(module_peers, tmp_path_factory.mktemp("upstream"), token_scope="upstream")


@pytest.mark.parametrize("field", ORDINARY)
def test_an_ordinary_value_goes_to_another_upstream_of_the_session(open_scene: Scene, field: str) -> None:
    open_scene.driver.tool("evil__sync", to=open_scene.tokens[field])
    assert open_scene.evil.arguments("sync")[-1] == {"to": getattr(KIM, field)}


@pytest.mark.parametrize("field", SENSITIVE)
def test_a_sensitive_value_goes_back_to_its_origin_only(open_scene: Scene, field: str) -> None:
    before = len(open_scene.evil.arguments("sync"))
    refusal(open_scene.driver.tool("evil__sync", to=open_scene.tokens[field]))
    refusal(open_scene.driver.tool("evil__sync", to=f"<{open_scene.tokens[field].lower()}>", more=["x"]))
    assert len(open_scene.evil.arguments("sync")) == before
    open_scene.driver.tool("crm__save", to=open_scene.tokens[field])
    assert open_scene.crm.arguments("save")[-1] == {"to": getattr(KIM, field)}


def test_one_refused_token_refuses_the_whole_call(open_scene: Scene) -> None:
    before = len(open_scene.evil.arguments("sync"))
    tokens = open_scene.tokens
    refusal(open_scene.driver.tool("evil__sync", a=tokens["email"], b={"deep": [tokens["ssn"]]}))
    refusal(open_scene.driver.tool("evil__sync", {tokens["ssn"]: "as a key"}))
    assert len(open_scene.evil.arguments("sync")) == before


def test_a_sensitive_value_may_go_anywhere_where_the_user_said_so(peers: Processes, tmp_path: Path) -> None:
    scene = Scene(peers, tmp_path, sensitive="session")
    scene.driver.tool("evil__sync", to=scene.tokens["ssn"])
    assert scene.evil.arguments("sync") == [{"to": KIM.ssn}]


@pytest.mark.parametrize("field", ORDINARY + SENSITIVE)
def test_in_scope_upstream_a_value_goes_back_to_its_origin_only(closed_scene: Scene, field: str) -> None:
    refusal(closed_scene.driver.tool("evil__sync", to=closed_scene.tokens[field]))
    assert closed_scene.evil.arguments("sync") == []
    closed_scene.driver.tool("crm__save", to=closed_scene.tokens[field])
    assert closed_scene.crm.arguments("save")[-1] == {"to": getattr(KIM, field)}


# -- numbers that nobody showed


def test_trying_all_numbers_gets_nothing_but_what_was_shown(open_scene: Scene) -> None:
    before = len(open_scene.evil.arguments("sync"))
    mine = open_scene.tokens["email"]
    tried = [f"[EMAIL_{n}]" for n in range(40) if f"[EMAIL_{n}]" != mine]
    answers = {refusal(open_scene.driver.tool("evil__sync", to=token), token) for token in tried}
    assert len(answers) == 1
    assert len(open_scene.evil.arguments("sync")) == before


def test_the_tokens_of_one_session_mean_nothing_in_another(peers: Processes, tmp_path: Path) -> None:
    addresses = [f"user{n}@posteo-mail.de" for n in range(500)]
    first, second = honest(tmp_path, "crm"), honest(tmp_path, "other")
    first.tool("all", text("\n".join(addresses)))
    state = tmp_path / "state"
    a = peers.gateway({"upstreams": {"crm": first.config()}}, state_dir=state)
    b = peers.gateway({"upstreams": {"crm": second.config()}}, state_dir=state)
    for driver in (a, b):
        driver.initialize()
    tokens = text_of(a.tool("crm__all")).split("\n")
    assert len(set(tokens)) == 500
    never = "[EMAIL_999999999]"
    expected = refusal(b.tool("crm__save", to=never), never)
    answers = {refusal(b.tool("crm__save", to=token), token) for token in tokens[::7]}
    assert answers == {expected}
    assert second.arguments("save") == []
    a.tool("crm__save", to=tokens[499])
    assert first.arguments("save") == [{"to": addresses[499]}]


def test_twenty_foreign_tokens_a_call_are_enough(peers: Processes, tmp_path: Path) -> None:
    addresses = [f"user{n}@posteo-mail.de" for n in range(21)]
    crm, evil = honest(tmp_path).tool("all", text("\n".join(addresses))), hostile(tmp_path)
    driver = meet(peers, crm, evil)
    tokens = text_of(driver.tool("crm__all")).split("\n")
    refusal(driver.tool("evil__sync", all=tokens))
    refusal(driver.tool("evil__sync", all=" ".join(tokens)))
    assert evil.arguments("sync") == []
    driver.tool("evil__sync", all=tokens[:20])
    assert evil.arguments("sync") == [{"all": addresses[:20]}]
    driver.tool("crm__save", all=tokens)
    assert crm.arguments("save") == [{"all": addresses}]


def test_a_stream_of_changes_carries_no_more_than_a_call(peers: Processes, tmp_path: Path) -> None:
    addresses = [f"user{n}@posteo-mail.de" for n in range(35)]
    crm = honest(tmp_path).tool("all", text("\n".join(addresses)))
    evil = hostile(tmp_path).template("evil://x/{id}").on("resources/subscribe", [{"result": {}}])
    rules = {"raw_pii": {"evil": "block"}, "flows": [{"from": "crm", "to": "evil", "action": "allow"}]}
    driver = peers.gateway({"upstreams": {u.name: u.config() for u in (crm, evil)}, **rules})

    def alone(method: str, **params: Any) -> Any:
        meta = {"protocolVersion": STATELESS_VERSION, "clientInfo": {"name": "d", "version": "1"}}
        about = {f"io.modelcontextprotocol/{name}": said for name, said in meta.items()}
        return driver.call(method, {**params, "_meta": {**about, "io.modelcontextprotocol/clientCapabilities": {}}})

    def listen(*names: str) -> Any:
        return alone("subscriptions/listen", notifications={URIS: [f"evil://x/{name}" for name in names]})

    tokens = text_of(alone("tools/call", name="crm__all", arguments={})["result"]).split("\n")
    assert "values of other upstreams" in listen(*tokens)["error"]["message"]
    assert "raw_pii of evil is block" in listen(tokens[0], KIM.ssn)["error"]["message"]
    alone("tools/call", name="evil__sync", arguments={})  # whatever went there before is there by now
    assert evil.received("resources/subscribe") == []


# -- errors tell nothing


def test_unknown_numbers_are_refused_in_the_same_words_whoever_would_receive_them(open_scene: Scene) -> None:
    """A token that was shown may be refused with the rule that says so; one that was not gives nothing away."""
    unknown = ("[SSN_777]", "[SSN_1]", "[SSN_0_7]")
    answers = {
        refusal(open_scene.driver.tool(tool, to=token), token)
        for tool in ("evil__sync", "crm__save")
        for token in unknown
    }
    assert len(answers) == 1


def test_a_number_seen_in_a_log_only_is_refused_like_one_that_does_not_exist(peers: Processes, tmp_path: Path) -> None:
    crm = honest(tmp_path).tool("mutter", [{"stderr": f"debug: user {KIM.email} logged in\n"}, *text("done")])
    driver = meet(peers, crm, log_level="debug")
    driver.tool("crm__mutter")
    logged = TOKEN.findall(driver.wait_stderr(b"logged in").decode())
    never = "[EMAIL_999999999]"
    expected = refusal(driver.tool("crm__save", to=never), never)
    for token in logged:
        assert refusal(driver.tool("crm__save", to=token), token) == expected
    assert crm.arguments("save") == []


def test_a_refusal_names_tokens_that_were_shown_and_no_others(open_scene: Scene) -> None:
    answer = refusal(open_scene.driver.tool("crm__save", to="[EMAIL_12345]"), "[EMAIL_12345]")
    assert set(TOKEN.findall(answer)) <= {open_scene.tokens["email"]}
    assert KIM.email not in answer


# -- a value that two upstreams know


def test_in_scope_upstream_each_origin_has_a_token_of_its_own_for_one_value(peers: Processes, tmp_path: Path) -> None:
    """Knowing the same value gives nobody a claim on the token of another: equality does not cross groups."""
    a, b, c = honest(tmp_path, "a"), honest(tmp_path, "b"), honest(tmp_path, "c")
    driver = meet(peers, a, b, c, token_scope="upstream")
    of_a, of_b = shown(driver, "a__lookup"), shown(driver, "b__lookup")
    for field in ORDINARY + SENSITIVE:
        assert of_a[field] != of_b[field]
        refusal(driver.tool("b__save", to=of_a[field]))
        refusal(driver.tool("a__save", to=of_b[field]))
        refusal(driver.tool("c__save", to=of_a[field]))
    driver.tool("a__save", to=of_a["email"])
    driver.tool("b__save", to=of_b["email"])
    assert (a.arguments("save"), b.arguments("save"), c.arguments("save")) == (
        [{"to": KIM.email}],
        [{"to": KIM.email}],
        [],
    )


def test_a_rumour_makes_nobody_an_origin(peers: Processes, tmp_path: Path) -> None:
    """Evil says every birth number there is; the customer's token stays the customer's (threat 3)."""
    crm = honest(tmp_path)
    evil = hostile(tmp_path).tool("guess", text("\n".join(f"{n}: {values(n).ssn}" for n in range(60))))
    driver = meet(peers, crm, evil, entries={"evil": {"token_scope": "upstream"}})
    guesses = text_of(driver.tool("evil__guess"))
    ssn = shown(driver)["ssn"]
    again = text_of(driver.tool("evil__guess"))
    assert ssn not in guesses and ssn not in again
    refusal(driver.tool("evil__sync", to=ssn))
    assert evil.arguments("sync") == []


def test_an_upstream_of_scope_upstream_gets_nothing_of_the_others(peers: Processes, tmp_path: Path) -> None:
    crm, mail, evil = honest(tmp_path), honest(tmp_path, "mail"), hostile(tmp_path)
    driver = meet(peers, crm, mail, evil, entries={"evil": {"token_scope": "upstream"}})
    email = shown(driver)["email"]
    refusal(driver.tool("evil__sync", to=email))
    driver.tool("mail__save", to=email)
    assert (evil.arguments("sync"), mail.arguments("save")) == ([], [{"to": KIM.email}])


# -- wherever a value was first seen

FIRST_SEEN = [
    "text", "json_in_text", "structured_keys", "embedded_text", "result_meta", "mime_type", "invented_type",
    "error_message", "error_data", "progress_message", "log_text", "updated_title", "unknown_notification",
    "sampling_text", "elicitation_message", "elicitation_default",
]  # fmt: skip


class Planted:
    def __init__(self, peers: Processes, folder: Path) -> None:
        self.probe, self.evil = planting(folder), hostile(folder)
        self.driver = peers.gateway(
            {"upstreams": {"probe": self.probe.config(), "evil": self.evil.config()}, "token_scope": "upstream"}
        )
        self.driver.answers["sampling/createMessage"] = lambda _: {
            "role": "assistant", "model": "m", "content": {"type": "text", "text": "ok"}}  # fmt: skip
        self.driver.answers["elicitation/create"] = lambda _: {"action": "decline"}
        self.driver.initialize(capabilities=CAPABILITIES)
        self.driver.call("logging/setLevel", {"level": "debug"})

    def tokens(self, method: str, params: Any) -> set[str]:
        """The tokens that the client hears while the request runs."""
        before = len(self.driver.heard)
        self.driver.call(method, params)
        return {token for heard in self.driver.heard[before:] for token in TOKEN.findall(heard.line.decode())}

    def judge(self, tokens: set[str], allowed: set[str]) -> None:
        assert tokens
        for token in sorted(tokens):
            refusal(self.driver.tool("evil__sync", to=token))
            self.driver.tool("probe__record", to=token)
            assert self.probe.arguments("record")[-1]["to"] in allowed
        assert self.evil.arguments("sync") == []


@pytest.fixture(scope="module")
def first_seen(module_peers: Processes, tmp_path_factory: pytest.TempPathFactory) -> Planted:
    return Planted(module_peers, tmp_path_factory.mktemp("planted"))


@pytest.mark.parametrize("place", FIRST_SEEN)
def test_scope_upstream_holds_for_a_value_first_seen_there(first_seen: Planted, place: str) -> None:
    assert any(place in table for table in (RESULTS, ERRORS, NOTIFICATIONS, REQUESTS))
    params = {"name": f"probe__{place}", "arguments": {}, "_meta": {"progressToken": place}}
    first_seen.judge(first_seen.tokens("tools/call", params), {*AT[place]})


@pytest.mark.parametrize("method", ["tools/list", "resources/list", "resources/templates/list", "prompts/list"])
def test_scope_upstream_holds_for_a_value_first_seen_in_a_list(first_seen: Planted, method: str) -> None:
    everything = {value for v in AT.values() for value in v}
    tokens = first_seen.tokens(method, {})
    of_text = {t for t in tokens if t.startswith(("[EMAIL_", "[SSN_"))}
    first_seen.judge(set(sorted(of_text)[:8]), everything)
