"""Names under keys that say a person: whoever one of whose words is known, and no team, program or place."""

from __future__ import annotations

import re

import pytest

from cloakllm_gateway.detection.engine import Detector
from cloakllm_gateway.detection.name_fields import known_name
from cloakllm_gateway.spans import Proof, Text

DETECTOR = Detector()


def hidden(text: str) -> list[str]:
    return [span.value for span in DETECTOR.find([Text(text)])[0]]


#: Of words that mean something else, every one of them.
PEOPLE = ["Dev Smith", "Will Young", "Mark Price", "Li Na", "Wang Fang", "Grace Hill", "Anna Berger", "Anna van Dijk"]
#: What owns, writes and is assigned things as well.
NOBODY = [
    "Platform Team",
    "Release Bot",
    "Sales West",
    "Data Platform",
    "Grace Period",
    "Crystal Reports",
    "Elastic Cloud",
    "Austin Office",
    "Jordan Team",
    "New York",
    "Amazon Web Services",
    "Team Smith",
]
#: What only the surer ones of those keys tell from an unknown name.
UNKNOWN = ["Red Hat", "Kings Cross", "San Francisco"]


@pytest.mark.parametrize("name", PEOPLE)
def test_a_full_name_is_known_by_one_of_its_words(name: str) -> None:
    assert known_name(name) == len(name)


@pytest.mark.parametrize(
    "name", [*NOBODY, *UNKNOWN, "Smith", "DEV SMITH", "dev smith", "a", "Dev Smith Is No Longer Here"]
)
def test_what_is_no_full_name_is_none(name: str) -> None:
    assert known_name(name) == 0


@pytest.mark.parametrize(
    "written",
    [
        '{{"author": "{}"}}',
        '{{"committer":"{}"}}',
        '{{"assignee": {{"displayName": "{}"}}}}',
        '{{"owner": "{}", "id": 4}}',
        '{{"created_by": "{}"}}',
        '{{"createdBy": "{}"}}',
        "owner: {}",
        "author={}\n",
        "commit 83f1\nAuthor: {}\nDate:   Mon Nov 30 20:34:27 2026\n",
        "From: {}\nSubject: x\n",
        "Subject: x\nTo: {}\n",
        "fix it\n\nReviewed-by: {}\n",
        '{{"name": "{}", "customer_id": 4}}',
        '{{"userId": 4, "name": "{}"}}',
    ],
)
def test_who_did_something_is_a_person_and_no_team_program_or_place(written: str) -> None:
    assert [hidden(written.format(name)) for name in PEOPLE] == [[name] for name in PEOPLE]
    assert [name for name in NOBODY if hidden(written.format(name))] == []


@pytest.mark.parametrize("key", ["author", "owner", "assignee", "committer", "from", "to"])
def test_an_unknown_name_under_a_key_of_anybody_is_left_alone(key: str) -> None:
    assert [name for name in UNKNOWN if hidden(f"{key}: {name}") or hidden(f'{{"{key}": "{name}"}}')] == []


@pytest.mark.parametrize("key", ["author", "committer", "owner", "createdBy", "from"])
def test_who_did_something_is_a_person_as_a_field_of_an_object_too(key: str) -> None:
    texts = [Text("Dev Smith", key=key), Text("Platform Team", key=key)]
    assert [[span.value for span in found] for found in DETECTOR.find(texts)] == [["Dev Smith"], []]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('{"first_name": "Jean2", "last_name": "Berger7"}', ["Jean2", "Berger7"]),
        ("id,first_name,last_name\n1,Anna3,Berger7\n2,Jean2,Müller17\n", ["Anna3", "Berger7", "Jean2", "Müller17"]),
        ("customer_name: Anna Berger12\n", ["Anna Berger12"]),
        ('{"first_name": "Name1", "last_name": "Test2", "displayName": "Server1"}', []),
        ('{"name": "Server1", "email": ""}', []),
        ("first_name: field2\n", []),
    ],
)
def test_names_that_were_made_up_with_numbers_behind_them_are_names(text: str, names: list[str]) -> None:
    assert hidden(text) == names


@pytest.mark.parametrize(
    "text",
    [
        '{"assignee":"«Bob»","reviewers":["«Dave»","«Erin»"],"team":"Grace"}',
        "lead: «Dave»\nmanager: «Grace»\nowner = «Erin»\n",
        "reported_by: «Erin»\n",
        "Name,Role\n«Grace»,Intern\n«Bob Miller»,CTO\n«Hope»,HR\n",
        "| Name | Role |\n|---|---|\n| «Grace» | Intern |\n| **«Bob Miller»** | CTO |\n| «Hope» | HR |\n",
        "id;Name;City\n1;«Anna»;Wien\n2;«Peter»;Graz\n3;Zyx;Linz\n",
        "| Task | Owner |\n|---|---|\n| Build | «Hope» |\n| Test | Platform Team |\n",
    ],
)
def test_a_known_given_name_alone_is_a_name_where_a_person_stands(text: str) -> None:
    assert hidden(text.replace("«", "").replace("»", "")) == re.findall("«(.*?)»", text)


@pytest.mark.parametrize(
    "text",
    [
        "owner: carol\nassignee: DAVE\nreviewer: Phoenix\nfrom: Florence\nto: Victoria\n",
        "Name,Port\nAurora,80\nPhoenix,90\nHope,70\nMercury,100\n",
        "Name,Language\nDave,C\nTomcat,Java\nKafka,Scala\n",
        "| Name | Type |\n|---|---|\n| Grace | server |\n| name | string |\n",
        "def lead(name: Name, manager: Manager = Owner): pass\n",
    ],
)
def test_accounts_programs_and_places_are_no_given_names(text: str) -> None:
    assert hidden(text) == []


def test_what_only_its_key_makes_a_name_is_one_for_its_source_alone() -> None:
    ((span,),) = DETECTOR.find([Text("Hope", key="assignee")])
    assert span.proof is Proof.KEY
