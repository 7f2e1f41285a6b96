"""What the vault knows is hidden in every place, also where nothing but the vault could tell that it is anybody's.

The upstream first shows a table of people: the names in it are proved by their column.  Then it writes each name, and
nothing that could be found, in a place of its own: those of the leak probe, where values are that prove themselves.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance import places
from tests.acceptance.places import COMPLETIONS, GETS, PROMPTS, READS, RESOURCES, TABLES, TEMPLATES, TOOLS
from tests.acceptance.test_leak_probe import CAPABILITIES, pages
from tests.peers.driver import Driver, Processes
from tests.peers.upstream import Upstream, text
from tests.peers.values import Values, exposed, readings, values

#: Only digits can stand there.
OF_NUMBERS = {"structured_numbers", "number_in_json_in_text"}
#: A name stands for every value of its place.
AT = {
    place: Values(*[values(n).name] * len(Values._fields))
    for n, place in enumerate(place for table in TABLES for place in table)
    if place not in OF_NUMBERS
}
#: What the edge of a text leaves of values, and that part of it.
PREVIEWS = {
    "signed by Zbigniew Wiśn": "Wiśn",
    "…iew Wiśniewski wrote": "Wiśniewski",
    "the ssn 536-22-87...": "536-22-87",
}


def crowd(folder: Path) -> Upstream:
    people = [{"first_name": v.name, "email": f"p{n}@posteo-mail.de"} for n, v in enumerate(AT.values())]
    people.append({"name": "Zbigniew Wiśniewski", "email": "zw@posteo-mail.de", "ssn": "536-22-8726"})
    crowd = Upstream("crowd", folder)
    crowd.tool("previews", text(*PREVIEWS, json.dumps([*PREVIEWS]), structuredContent={"previews": [*PREVIEWS]}))
    crowd.tool("learn", [{"result": {"content": [], "structuredContent": {"people": people}}}])
    for place, v in AT.items():
        said: Any = next(table[place] for table in TABLES if place in table)(v)
        if place in places.RESULTS:
            crowd.tool(place, [{"result": said}])
        elif place in places.ERRORS:
            crowd.tool(place, [{"error": said}])
        elif place in places.NOTIFICATIONS:
            crowd.tool(place, [{"notify": said[0], "params": said[1]}, *text("done")])
        elif place in places.REQUESTS:
            crowd.tool(place, [{"ask": said[0], "params": said[1]}, *text("done")])
        elif place in TOOLS:
            crowd.tool(place, **said)
        elif place in RESOURCES:
            crowd.resource(f"mem://{place}", **said)
        elif place in READS:
            crowd.resource(f"mem://{place}", [{"result": said}])
        elif place in TEMPLATES:
            crowd.template(f"mem://{place}/{{id}}", **said)
        elif place in PROMPTS:
            crowd.prompt(place, **said)
        elif place in GETS:
            crowd.prompt(place, [{"result": said}])
    cases = {place: [{"result": made(AT[place])}] for place, made in COMPLETIONS.items()}
    return crowd.on("completion/complete", {"by": "argument.value", "cases": cases})


def visit(driver: Driver, prefix: str) -> str:
    """Have the names shown, then go everywhere; what was heard after the table, in every reading."""
    driver.answers |= {
        "sampling/createMessage": lambda _: {"role": "assistant", "model": "m", "content": []},
        "elicitation/create": lambda _: {"action": "decline"},
        "roots/list": lambda _: {"roots": []},
    }  # fmt: skip
    driver.initialize(capabilities=CAPABILITIES)
    driver.call("logging/setLevel", {"level": "debug"})
    driver.tool(f"{prefix}learn")
    before = len(driver.received)
    for method, member in (("tools/list", "tools"), ("prompts/list", "prompts"), ("resources/list", "resources"),
                           ("resources/templates/list", "resourceTemplates")):  # fmt: skip
        pages(driver, method, member)
    driver.tool(f"{prefix}previews")
    for place in AT:
        if place in READS:
            driver.call("resources/read", {"uri": f"mem://{place}"})
        elif place in GETS:
            driver.call("prompts/get", {"name": f"{prefix}{place}"})
        elif place in COMPLETIONS:
            reference = {"type": "ref/prompt", "name": f"{prefix}prompt_title"}
            driver.call("completion/complete", {"ref": reference, "argument": {"name": "who", "value": place}})
        elif not any(place in table for table in (TOOLS, RESOURCES, TEMPLATES, PROMPTS)):
            driver.call("tools/call", {"name": f"{prefix}{place}", "arguments": {}, "_meta": {"progressToken": place}})
    driver.finish()
    return readings(bytes(driver.received[before:]))


@pytest.fixture(scope="module")
def bare(module_peers: Processes, tmp_path_factory: pytest.TempPathFactory) -> str:
    return visit(module_peers.direct(crowd(tmp_path_factory.mktemp("bare")).config()), "")


@pytest.fixture(scope="module")
def guarded(module_peers: Processes, tmp_path_factory: pytest.TempPathFactory) -> str:
    config = {"upstreams": {"crowd": crowd(tmp_path_factory.mktemp("guarded")).config()}}
    return visit(module_peers.gateway(config), "crowd__")


def test_without_a_gateway_every_place_shows_its_name(bare: str) -> None:
    assert [place for place, v in AT.items() if not exposed([v.name], bare)] == []


@pytest.mark.parametrize("place", AT)
def test_a_name_that_is_known_is_hidden_wherever_it_stands(guarded: str, place: str) -> None:
    assert exposed([AT[place].name], guarded) == []


def test_what_is_left_of_known_values_in_previews_is_hidden_too(bare: str, guarded: str) -> None:
    assert exposed(PREVIEWS.values(), bare) == [*PREVIEWS.values()]
    assert exposed(PREVIEWS.values(), guarded) == []
