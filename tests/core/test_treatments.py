"""Rules for categories, tools and fields: what the model is shown, and what it never is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloakllm_gateway.core.jsonpath import Paths, Wild, parse
from cloakllm_gateway.core.settings import ToolRules, Treatment
from cloakllm_gateway.core.treatments import treatments
from cloakllm_gateway.protocol import jsonrpc
from tests.core.transcript import Conversation, opened, says, settings, text_of, upstream
from tests.cost import Work, compare

KIM, SSN = "kim@acme-corp.com", "536-22-8726"
PASS, TOKENIZE, REDACT, BLOCK = Treatment.PASS, Treatment.TOKENIZE, Treatment.REDACT, Treatment.BLOCK


def with_rules(
    tmp_path: Path, categories: Mapping[str, Treatment] | None = None, *tools: ToolRules, **more: Any
) -> Conversation:
    crm = upstream("crm", categories=categories or {}, tools=tools)
    return opened(settings(crm, upstream("web"), **more), tmp_path, tools=("export_rows", "look", "send"))


def shown(talk: Conversation, answer: dict[str, Any], tool: str = "crm__export_rows") -> dict[str, Any]:
    talk.call(1, tool)
    talk.answer(tool.partition("__")[0], answer)
    result: dict[str, Any] = talk.only()
    talk.sent.clear()
    return result


# -- paths -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("$", ()),
        ("$.rows[*].city", ("rows", Wild.ANY, "city")),
        ("$['first name'][0]", ("first name", 0)),
        ('$["it\\"s"]', ('it"s',)),
        ("$..email", (Wild.DEEP, "email")),
        ("$..*", (Wild.DEEP, Wild.ANY)),
        ("$.a..['b'].*", ("a", Wild.DEEP, "b", Wild.ANY)),
        ("$.Straße.first-name", ("Straße", "first-name")),
    ],
)
def test_a_path_is_read_as_it_is_meant(text: str, steps: tuple[object, ...]) -> None:
    assert parse(text) == steps


@pytest.mark.parametrize(
    "text", ["", "rows", "$rows", "$.", "$..", "$.rows[", "$[1:2]", "$[-1]", "$[?(@.a)]", "$['a','b']", "$.a b", "$.1"]
)
def test_what_is_no_path_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse(text)


steps = st.one_of(st.sampled_from("abc"), st.integers(0, 2))
patterns = st.lists(st.one_of(steps, st.just(Wild.ANY), st.just(Wild.DEEP)), max_size=5).filter(
    lambda p: (
        (not p or p[-1] is not Wild.DEEP) and all(x is not Wild.DEEP or y is not Wild.DEEP for x, y in pairwise(p))
    )
)


def written(pattern: list[Any]) -> str:
    out = "$"
    for step in pattern:
        out += (
            ".."
            if step is Wild.DEEP
            else "[*]"
            if step is Wild.ANY
            else f"['{step}']"
            if isinstance(step, str)
            else f"[{step}]"
        )
    return out


def covers(pattern: list[Any], path: list[Any]) -> bool:
    """Whether ``pattern`` is the path of something at or above ``path``: the definition, slowly."""
    if not pattern:
        return True
    if pattern[0] is Wild.DEEP:
        return any(covers(pattern[1:], path[skip:]) for skip in range(len(path) + 1))
    return bool(path) and (pattern[0] is Wild.ANY or pattern[0] == path[0]) and covers(pattern[1:], path[1:])


@given(st.lists(patterns, max_size=4), st.lists(steps, max_size=6))
def test_a_rule_counts_at_its_path_and_under_it_and_nowhere_else(rules: list[list[Any]], path: list[Any]) -> None:
    paths = Paths([(written(rule), number) for number, rule in enumerate(rules)])
    found = paths.rule(paths.at(path))
    allowed = {number for number, rule in enumerate(rules) if covers(rule, path)}
    assert found in allowed if allowed else found is None


def test_the_longer_path_decides_then_the_one_with_more_names_then_the_stricter_rule() -> None:
    rules = {"$.rows": REDACT, "$.rows[*].*": BLOCK, "$.rows[*].city": PASS}
    crm = upstream("crm", tools=(ToolRules("*", paths=rules), ToolRules("x", paths={"$.rows[*].city": TOKENIZE})))
    for tool, how in (("y", PASS), ("x", TOKENIZE)):
        fields = treatments(crm, tool).fields
        assert fields is not None
        found = [fields.rule(fields.at(path)) for path in (["rows", 3, "city"], ["rows", 3, "name"], ["rows"], ["x"])]
        assert [rule and rule.how for rule in found] == [how, BLOCK, REDACT, None]


# -- categories --------------------------------------------------------------------------------------


def test_a_value_of_a_redacted_category_is_gone_and_has_no_token(tmp_path: Path) -> None:
    talk = with_rules(tmp_path, {"SSN": REDACT})
    text = text_of(shown(talk, says(f"{KIM} has {SSN}")))
    assert text == "[EMAIL_0] has [SSN_REDACTED]"
    assert talk.vault.shown_of("SSN") == []


def test_a_redacted_number_in_json_text_leaves_json(tmp_path: Path) -> None:
    talk = with_rules(tmp_path, {"CREDIT_CARD": REDACT})
    text = text_of(shown(talk, says('{"card": 4111111111111111, "n": 1.0}')))
    assert json.loads(text) == {"card": "[CREDIT_CARD_REDACTED]", "n": 1.0}


@pytest.mark.parametrize("form", ["[SSN_REDACTED]", "x \\[SSN\\_REDACTED\\] y", "%5BSSN_REDACTED%5D"])
def test_what_was_cut_out_can_t_be_written_back(tmp_path: Path, form: str) -> None:
    talk = with_rules(tmp_path, {"SSN": REDACT})
    talk.call(1, "crm__send", {"text": form})
    assert "cut out for good" in text_of(talk.only()) and not talk.take("crm")


def test_a_mark_in_data_is_data_and_comes_back_itself(tmp_path: Path) -> None:
    talk = with_rules(tmp_path, {"SSN": REDACT})
    text = text_of(shown(talk, says("was [SSN_REDACTED] before")))
    assert text == "was [LITERAL_0] before"
    talk.call(2, "crm__send", {"text": text})
    assert talk.only("crm")["params"]["arguments"] == {"text": "was [SSN_REDACTED] before"}


def test_without_a_rule_that_redacts_the_mark_is_ordinary_text(tmp_path: Path) -> None:
    talk = with_rules(tmp_path)
    assert text_of(shown(talk, says("[EMAIL_REDACTED]"))) == "[EMAIL_REDACTED]"
    talk.call(2, "crm__send", {"text": "re.sub(p, '[EMAIL_REDACTED]', t)"})
    assert talk.only("crm")["params"]["arguments"] == {"text": "re.sub(p, '[EMAIL_REDACTED]', t)"}


def test_a_blocked_category_withholds_the_message_and_names_the_rule(tmp_path: Path) -> None:
    talk = with_rules(tmp_path, {"SSN": BLOCK})
    answer = shown(talk, says(f"{KIM} has {SSN}"))
    assert answer["result"]["isError"] is True
    assert "upstreams.crm.categories.SSN" in text_of(answer) and SSN not in str(answer) and KIM not in str(answer)
    assert [r.fields["reason"] for r in talk.records("withheld")] == [
        "it holds a value that nobody may be shown (rule: upstreams.crm.categories.SSN)"
    ]


def test_a_known_value_of_another_upstream_is_treated_by_the_rules_of_who_shows_it(tmp_path: Path) -> None:
    talk = with_rules(tmp_path, {"PERSON": REDACT})
    person = shown(talk, says("", structuredContent={"first_name": "Quillon", "email": KIM}), "web__look")
    assert person["result"]["structuredContent"]["first_name"] == "[PERSON_0]"
    record = {"first_name": "Quillon", "email": KIM}
    assert shown(talk, says("", structuredContent=record))["result"]["structuredContent"] == {
        "first_name": "[PERSON_REDACTED]", "email": "[EMAIL_0]"
    }  # fmt: skip


def test_a_tool_s_own_rule_goes_before_its_upstream_s(tmp_path: Path) -> None:
    talk = with_rules(tmp_path, {"SSN": BLOCK}, ToolRules("export_*", categories={"SSN": PASS, "EMAIL": REDACT}))
    assert text_of(shown(talk, says(f"{KIM} {SSN}"))) == f"[EMAIL_REDACTED] {SSN}"
    assert "withheld" in text_of(shown(talk, says(f"{KIM} {SSN}"), "crm__look"))
    assert text_of(shown(talk, says(f"{KIM} {SSN}"), "web__look")) == "[EMAIL_0] [SSN_0]"


# -- fields ------------------------------------------------------------------------------------------

ROWS = {"rows": [{"city": "Lyon", "mail": KIM, "notes": f"call {KIM}", "pin": 90210, "id": "Zaragoza"}]}


def test_each_field_is_treated_as_its_rule_says_in_both_forms_of_the_result(tmp_path: Path) -> None:
    paths = {"$.rows[*].city": TOKENIZE, "$.rows[*].mail": PASS, "$.rows[*].notes": REDACT, "$..pin": TOKENIZE}
    talk = with_rules(tmp_path, None, ToolRules("export_*", paths=paths))
    told = f"{json.dumps(ROWS)}"
    result = shown(talk, {"content": [{"type": "text", "text": told}], "structuredContent": ROWS})["result"]
    expected = {"city": "[TERM_0]", "mail": KIM, "notes": "[TERM_REDACTED]", "pin": "[TERM_1]", "id": "Zaragoza"}
    structured, said = result["structuredContent"], json.loads(result["content"][0]["text"])
    assert structured["rows"][0] | {"pin": "[TERM_1]"} == expected
    assert said["rows"][0] | {"pin": "[TERM_1]"} == expected
    talk.call(2, "crm__send", structured["rows"][0] | {"notes": ""})
    assert talk.only("crm")["params"]["arguments"] == ROWS["rows"][0] | {"notes": ""}


def test_each_field_is_treated_as_its_rule_says_in_rows_that_python_prints(tmp_path: Path) -> None:
    paths = {"$[*].city": TOKENIZE, "$..mail": PASS, "$[*].notes": REDACT, "$..pin": TOKENIZE}
    talk = with_rules(tmp_path, None, ToolRules("export_*", paths=paths))
    (row,) = ROWS["rows"]
    rows = [row, {"id": 2, "notes": None, "city": "L'Isle"}]
    shown_row = row | {"city": "[TERM_0]", "notes": "[TERM_REDACTED]", "pin": "[PIN_0]"}
    expected = str([shown_row, {"id": 2, "notes": None, "city": "[TERM_1]"}]).replace("'[PIN_0]'", "[PIN_0]")
    said = text_of(shown(talk, says(str(rows))))
    assert said.replace('"', "'") == expected
    talk.call(2, "crm__send", {"city": "[TERM_1]", "pin": "[PIN_0]"})
    assert talk.only("crm")["params"]["arguments"] == {"city": "L'Isle", "pin": "90210"}


def test_a_field_that_nobody_may_be_shown_is_withheld_in_rows_that_python_prints_too(tmp_path: Path) -> None:
    talk = with_rules(tmp_path, None, ToolRules("*", paths={"$..pin": BLOCK}))
    assert "12x4" not in str(shown(talk, says("[{'id': 1, 'pin': '12x4'}]")))


def test_the_value_of_a_field_is_treated_alike_in_prose_beside_it(tmp_path: Path) -> None:
    talk = with_rules(tmp_path, None, ToolRules("*", paths={"$.city": REDACT, "$.code": TOKENIZE, "$.mail": PASS}))
    record = {"city": "Saint-Denis", "code": "K-77/b", "mail": KIM}
    prose = f"In Saint-Denis, code K-77/b ({KIM}); Saint-Deniset stays, bob@acme-corp.com does not."
    text = text_of(shown(talk, says(prose, structuredContent=record)))
    assert text == f"In [TERM_REDACTED], code [TERM_0] ({KIM}); Saint-Deniset stays, [EMAIL_0] does not."


def test_a_blocked_field_withholds_the_message_unless_it_is_empty(tmp_path: Path) -> None:
    talk = with_rules(tmp_path, None, ToolRules("*", paths={"$.card.pin": BLOCK}))
    answer = shown(talk, says("", structuredContent={"card": {"pin": "12x4"}}))
    assert "upstreams.crm.tools.*.paths.$.card.pin" in text_of(answer) and "12x4" not in str(answer)
    for empty in ("", None):
        result = shown(talk, says("", structuredContent={"card": {"pin": empty}}))["result"]
        assert result["structuredContent"] == {"card": {"pin": empty}}


def test_a_token_look_alike_in_a_field_that_passes_is_still_no_token(tmp_path: Path) -> None:
    talk = with_rules(tmp_path, None, ToolRules("*", paths={"$.a": PASS, "$.b": TOKENIZE}))
    record = {"a": f"{KIM} [EMAIL_0]", "b": "[EMAIL_0]"}
    result = shown(talk, says("", structuredContent=record))["result"]["structuredContent"]
    assert result["a"].startswith(f"{KIM} [LITERAL_")
    talk.call(2, "crm__send", result)
    assert talk.only("crm")["params"]["arguments"] == record


values = st.recursive(
    st.one_of(st.sampled_from([KIM, SSN, "Lyon", "", "[EMAIL_0]", f"of {KIM}", 'say "x"\\', "é\n", '{"a":"b"}',
                               "\ud800"]), st.integers(-5, 10**16), st.none(), st.booleans()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("abc"), inner, max_size=3)),
    max_leaves=8,
)  # fmt: skip
rules = st.dictionaries(
    st.sampled_from(["$.a", "$..b", "$[*].c", "$.a.*", "$..[0]"]), st.sampled_from([PASS, TOKENIZE, REDACT])
)


@given(st.dictionaries(st.sampled_from("abc"), values, max_size=3), rules)
def test_what_is_not_redacted_comes_back_whatever_the_rules_are(
    record: dict[str, Any], paths: dict[str, Treatment]
) -> None:
    crm = upstream("crm", tools=(ToolRules("*", paths=paths),))
    talk = opened(settings(crm, refuse_unknown_tokens=True), None, tools=("look", "send"))
    result = shown(talk, says(json.dumps(record), structuredContent=record), "crm__look")["result"]
    text = result["content"][0]["text"]
    if REDACT in paths.values() and "_REDACTED]" in str(result):
        return
    talk.call(2, "crm__send", {"structured": result.get("structuredContent"), "text": text})
    assert talk.only("crm")["params"]["arguments"] == {"structured": record, "text": json.dumps(record)}


def test_rules_that_fit_no_tool_are_told_of_once(tmp_path: Path) -> None:
    talk = with_rules(tmp_path, None, ToolRules("export_*"), ToolRules("exprot_*"))
    talk.ask("again", "tools/list")
    for name in ("crm", "web"):
        talk.answer(name, {"tools": [{"name": "export_rows", "inputSchema": {"type": "object"}}]})
    told = [log.fields for log in talk.logs("rules_that_fit_no_tool")]
    assert told == [{"upstream": "crm", "tools": "exprot_*"}]


@pytest.mark.parametrize("how", [TOKENIZE, REDACT])
def test_a_result_with_many_fields_costs_linear_time(tmp_path: Path, how: Treatment) -> None:
    talk = with_rules(tmp_path, None, ToolRules("*", paths={"$.rows[*].mail": how, "$.rows[*].city": how}))

    def work(count: int) -> Work:
        rows = [{"city": f"Lyon{n}", "mail": f"u{n}@acme-corp.com"} for n in range(count)]
        return lambda: shown(talk, says(json.dumps({"rows": rows})))

    compare(work(150), work(600), most=8, slack=0.05)


def test_what_a_person_types_for_an_upstream_reaches_it_whatever_may_be_shown(tmp_path: Path) -> None:
    talk = with_rules(tmp_path, {"SSN": BLOCK})
    form = {"message": "SSN?", "requestedSchema": {"type": "object", "properties": {"ssn": {"type": "string"}}}}
    talk.upstream("crm", jsonrpc.request("q", "elicitation/create", form))
    asked = talk.only()
    talk.client(jsonrpc.result(asked["id"], {"action": "accept", "content": {"ssn": SSN}}))
    assert talk.only("crm")["result"]["content"] == {"ssn": SSN}
    assert "categories.SSN" in text_of(shown(talk, says(f"thanks, {SSN}")))


def test_the_value_of_a_field_is_no_word_of_the_protocol(tmp_path: Path) -> None:
    talk = with_rules(tmp_path, None, ToolRules("*", paths={"$.kind": REDACT, "$.size": TOKENIZE}))
    link = {"type": "resource_link", "uri": "file:///x", "name": "a plain x", "mimeType": "text/plain", "size": 4096}
    answer = {"content": [link], "structuredContent": {"kind": "plain", "size": 4096}}
    result = shown(talk, answer)["result"]
    assert result["content"] == [{**link, "name": "a [TERM_REDACTED] x"}]
    assert result["structuredContent"] == {"kind": "[TERM_REDACTED]", "size": "[TERM_0]"}
