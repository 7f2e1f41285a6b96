"""No value leaves in any place where a message can hold text, and the tools still get all of them.

One upstream plants personal data in every place that exists.  The values of two places differ, so each
place has to be found for itself.  One client plays a whole session that visits all of them; then every
place is judged on its own, over the raw bytes of the session.  The same session without a gateway
shows every value: what is asserted here is not true by accident.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.places import (
    AT,
    COMPLETIONS,
    ERRORS,
    GETS,
    NOTIFICATIONS,
    PLACES,
    PNG,
    PROMPTS,
    REQUESTS,
    RESULTS,
    TOOLS,
    planted,
    source,
    upstream,
    uri,
)
from tests.peers.driver import Driver, Processes
from tests.peers.upstream import Upstream
from tests.peers.values import exposed, readings

CAPABILITIES = {
    "sampling": {"tools": {}, "context": {}},
    "elicitation": {"form": {}, "url": {}},
    "roots": {"listChanged": True},
}


class Session:
    """A whole session: a client that visits every place, sends back what it saw, and goes away."""

    def __init__(self, driver: Driver, probe: Upstream, prefix: str) -> None:
        self.driver, self.probe, self.prefix = driver, probe, prefix
        self.results: dict[str, Any] = {}
        self.tools: dict[str, Any] = {}
        self._answer_requests()
        driver.initialize(capabilities=CAPABILITIES)
        driver.call("logging/setLevel", {"level": "debug"})
        self._visit_tools()
        self._visit_resources()
        self._visit_prompts()
        self._visit_tasks()
        driver.finish()
        self.seen = readings(bytes(driver.received))

    def call(self, name: str, arguments: Any, **more: Any) -> Any:
        return self.driver.call("tools/call", {"name": self.prefix + name, "arguments": arguments, **more})

    def _answer_requests(self) -> None:
        def sample(request: Any) -> Any:
            if token := request["params"].get("_meta", {}).get("progressToken"):
                self.driver.notify("notifications/progress", {"progressToken": token, "progress": 1})
            return {"role": "assistant", "model": "m", "content": {"type": "text", "text": "ok"}}

        def fill(request: Any) -> Any:
            properties = request["params"].get("requestedSchema", {}).get("properties", {})
            return {"action": "accept", "content": {name: offered(schema) for name, schema in properties.items()}}

        self.driver.answers |= {
            "sampling/createMessage": sample, "elicitation/create": fill, "roots/list": lambda _: {"roots": []},
        }  # fmt: skip

    def _visit_tools(self) -> None:
        self.tools = {t["name"].removeprefix(self.prefix): t for t in pages(self.driver, "tools/list", "tools")}
        for place in (*RESULTS, *ERRORS, *NOTIFICATIONS, *REQUESTS, "envelope_member"):
            self.results[place] = self.call(place, {}, _meta={"progressToken": place})
        for place in RESULTS:
            self.call("record", {"place": place, "said": self.results[place]["result"]})
        for place in TOOLS:
            properties = self.tools[place]["inputSchema"].get("properties", {})
            self.call(place, {name: offered(schema) for name, schema in properties.items()})

    def _visit_resources(self) -> None:
        pages(self.driver, "resources/templates/list", "resourceTemplates")
        for resource in pages(self.driver, "resources/list", "resources"):
            self.driver.call("resources/subscribe", {"uri": resource["uri"]})
            self.driver.call("resources/read", {"uri": resource["uri"]})

    def _visit_prompts(self) -> None:
        self.prompts = {p["name"] for p in pages(self.driver, "prompts/list", "prompts")}
        for place in (*PROMPTS, *GETS):
            self.driver.call("prompts/get", {"name": self.prefix + place, "arguments": {}})
        for place in COMPLETIONS:
            reference = {"type": "ref/prompt", "name": self.prefix + "prompt_title"}
            self.driver.call("completion/complete", {"ref": reference, "argument": {"name": "who", "value": place}})

    def _visit_tasks(self) -> None:
        task = self.call("long", {}, task={"ttl": 60000})["result"]["task"]["taskId"]
        self.driver.call("tasks/list", {})
        self.driver.call("tasks/get", {"taskId": task})
        self.results["task"] = self.driver.call("tasks/result", {"taskId": task})


def offered(schema: Any) -> Any:
    """What a client that fills a form by itself would enter."""
    for keyword in ("const", "default"):
        if keyword in schema:
            return schema[keyword]
    if choices := schema.get("enum") or schema.get("examples"):
        return choices[0]
    return schema["oneOf"][0]["const"] if "oneOf" in schema else "x"


def pages(driver: Driver, method: str, member: str) -> list[Any]:
    """All items of a list, over all its pages."""
    result = driver.result(method)
    items = list(result[member])
    while cursor := result.get("nextCursor"):
        result = driver.result(method, {"cursor": cursor})
        items += result[member]
    return items


@pytest.fixture(scope="module")
def bare(module_peers: Processes, tmp_path_factory: pytest.TempPathFactory) -> Session:
    """The session without a gateway."""
    probe = upstream(tmp_path_factory.mktemp("bare"))
    return Session(module_peers.direct(probe.config()), probe, "")


@pytest.fixture(scope="module")
def guarded(module_peers: Processes, tmp_path_factory: pytest.TempPathFactory) -> Session:
    """The same session through the gateway."""
    probe = upstream(tmp_path_factory.mktemp("guarded"))
    return Session(module_peers.gateway({"upstreams": {"probe": probe.config()}}), probe, "probe__")


@pytest.mark.parametrize("place", [place for place in PLACES if place != "stderr"])
def test_without_a_gateway_the_place_shows_its_values(bare: Session, place: str) -> None:
    assert planted(place)
    assert exposed(planted(place), bare.seen) == planted(place)


@pytest.mark.parametrize("place", PLACES)
def test_the_client_sees_no_value_of_the_place(guarded: Session, place: str) -> None:
    assert exposed(planted(place), guarded.seen) == []


def test_standard_error_holds_no_value(guarded: Session) -> None:
    said = readings(bytes(guarded.driver.stderr))
    assert [place for place in PLACES if exposed(planted(place), said)] == []


def test_standard_output_is_protocol_and_nothing_else(guarded: Session) -> None:
    assert guarded.driver.noise == []
    assert guarded.driver.received.endswith(b"\n")


@pytest.mark.parametrize("place", [place for place in RESULTS if not place.endswith("_blob")])
def test_what_a_tool_said_goes_back_to_it_exactly(guarded: Session, place: str) -> None:
    back = {arguments["place"]: arguments["said"] for arguments in guarded.probe.arguments("record")}
    assert back[place] == source(place)


@pytest.mark.parametrize("place", RESULTS)
def test_a_result_still_says_as_much_as_before(bare: Session, guarded: Session, place: str) -> None:
    """Nothing is withheld or cut away: the same members, with tokens for values and nothing else."""
    assert shape(guarded.results[place]) == shape(bare.results[place])


def shape(value: Any) -> Any:
    """The structure of a value: how many members and items, and which are texts."""
    if isinstance(value, dict):
        return [shape(inner) for inner in value.values()]
    if isinstance(value, list):
        return [shape(item) for item in value]
    return "data" if isinstance(value, str | int) and not isinstance(value, bool) else value


def test_an_image_arrives_byte_for_byte(guarded: Session) -> None:
    assert guarded.results["image_members"]["result"]["content"][0]["data"] == PNG


def test_items_whose_name_would_give_a_value_away_are_not_listed(bare: Session, guarded: Session) -> None:
    dropped = {f"mail_{AT['tool_name'].email}", "property_name"}
    assert set(bare.tools) - set(guarded.tools) == dropped
    assert guarded.prompts == {f"probe__{name}" for name in (*PROMPTS, *GETS)}


@pytest.mark.parametrize("place", ["schema_default", "schema_enum", "schema_const"])
def test_a_form_filled_from_its_own_schema_reaches_the_tool_with_the_real_value(guarded: Session, place: str) -> None:
    assert guarded.probe.arguments(place) == [{"to": offered(source(place)["inputSchema"]["properties"]["to"])}]


@pytest.mark.parametrize("place", ["elicitation_default", "elicitation_enum", "elicitation_titled_choice"])
def test_an_answer_chosen_from_an_upstreams_form_reaches_it_as_it_wrote_it(guarded: Session, place: str) -> None:
    choice = offered(source(place)[1]["requestedSchema"]["properties"]["to"])
    answers = [m["result"] for m in guarded.probe.received() if "content" in m.get("result", {})]
    assert {"action": "accept", "content": {"to": choice}} in answers


def test_handles_with_values_in_them_come_back_to_their_upstream_exactly(guarded: Session) -> None:
    probe = guarded.probe
    assert {m["params"]["taskId"] for m in probe.received("tasks/get")} == {AT["task_id"].email}
    assert {m["params"]["taskId"] for m in probe.received("tasks/result")} == {AT["task_id"].email}
    assert AT["cursor"].email in [m.get("params", {}).get("cursor") for m in probe.received("prompts/list")]
    progress = [m["params"]["progressToken"] for m in probe.received("notifications/progress")]
    assert progress == [AT["sampling_progress_token"].email]


def test_a_resource_with_values_in_its_uri_is_read_and_subscribed_under_the_real_one(guarded: Session) -> None:
    for method in ("resources/read", "resources/subscribe"):
        assert uri(AT["resource_uri"]) in [m["params"]["uri"] for m in guarded.probe.received(method)]


# -- an upstream without personal data

LISTS = {
    "tools/list": (
        '{"tools":[{"name":"search_pages","title":"Search","inputSchema":{"type":"object","properties":{"query":'
        '{"type":"string","description":"Words, e.g. kim@example.com","default":"\u00e9t\u00e9"},"limit":{"type":'
        '"integer","default":10,"maximum":1e3},"ratio":{"type":"number","default":0.10,"minimum":-0}},"required":'
        '["query"],"additionalProperties":false},"outputSchema":{"type":"object","$defs":{"P":{"type":"object"}},'
        '"properties":{"p":{"$ref":"#/$defs/P"}}},"annotations":{"readOnlyHint":true},"futureField":{"a":[1,2.50,'
        '9007199254740993]},"_meta":{"x.acme/k":1}},{"description":"Built 2025-11-25, version 1.2.3.4-rc1, commit '
        '0123456789abcdef0123456789abcdef01234567","inputSchema":{"type":"object"},"name":"build_info"}]}'
    ),
    "prompts/list": (
        '{"prompts":[{"name":"review","description":"Review a change","arguments":[{"name":"diff","required":true}],'
        '"icons":[{"src":"https://example.com/icon.png","sizes":["48x48"]}]}]}'
    ),
    "resources/list": (
        '{"resources":[{"uri":"file:///srv/docs/readme.md","name":"readme.md","mimeType":"text/markdown","size":'
        '12345678901,"annotations":{"priority":0.50,"lastModified":"2025-01-12T15:00:58Z"}}]}'
    ),
    "resources/templates/list": (
        '{"resourceTemplates":[{"uriTemplate":"file:///srv/docs/{name}","name":"Documents","futureField":null}]}'
    ),
}
NAMED = re.compile(rb'"name":"(search_pages|build_info|review)"')


@pytest.mark.parametrize("method", LISTS)
def test_lists_without_personal_data_are_the_same_bytes_but_for_the_prefix(
    peers: Processes, tmp_path: Path, method: str
) -> None:
    plain = Upstream("plain", tmp_path)
    for listed, result in LISTS.items():
        plain.on(listed, [{"raw_result": result}])
    config = plain.config()
    lines = []
    for driver in (peers.direct(config), peers.gateway({"upstreams": {"plain": config}})):
        driver.initialize()
        id = driver.ask(method)
        answer = driver.wait(lambda m, id=id: m.get("id") == id)  # type: ignore[misc]
        lines.append(answer.line.partition(b'"result":')[2].removesuffix(b"}"))
    direct, through = lines
    assert direct == LISTS[method].encode()
    assert through == NAMED.sub(rb'"name":"plain__\1"', direct)
