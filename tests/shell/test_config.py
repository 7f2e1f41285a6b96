"""The configuration file: every mistake is refused and named, and no value is shown."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloakllm_gateway.core.settings import Scope
from cloakllm_gateway.errors import ConfigError
from cloakllm_gateway.shell import config as configuration
from cloakllm_gateway.shell.command_hints import spacy_model
from cloakllm_gateway.shell.config import Config, LogLevel, Treatment, VaultConfig, detection_settings, load
from cloakllm_gateway.shell.stores import Quotas

ROOT = Path(__file__).parents[2]
CRM: dict[str, Any] = {"command": "crm-server"}


def detection(content: Any) -> dict[str, Any]:
    return {"upstreams": {"crm": CRM}, "detection": content}


@pytest.fixture
def write(tmp_path):
    def write(content: Any) -> Path:
        path = tmp_path / "gateway.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    return write


@pytest.fixture
def refusal(write):
    """The text of the refusal that a content meets."""

    def refusal(content: Any) -> str:
        path = write(content)
        with pytest.raises(ConfigError) as caught:
            load(path)
        text = str(caught.value)
        assert text.startswith(f"{path}: ")
        return text.removeprefix(f"{path}: ")

    return refusal


def test_the_shipped_example_loads():
    config = load(ROOT / "cloakllm-gateway.example.json")
    assert list(config.upstreams) == ["files"]


def test_a_minimal_file_has_safe_defaults(write):
    config = load(write({"upstreams": {"crm": CRM}}))
    assert config.sanitize
    assert config.token_scope is Scope.SESSION
    assert config.sensitive is configuration.Sensitive.ORIGIN
    assert config.unknown_token is configuration.UnknownToken.REFUSE
    assert config.log_level is LogLevel.INFO
    assert config.name_budget == 48
    upstream = config.upstreams["crm"]
    assert (upstream.ui, upstream.inherit_env) == (False, False)
    assert config.detection.max_input_length is None


def test_every_key_is_read(write):
    upstream = {
        "command": "node", "args": ["server.js"], "env": {"KEY": "k"}, "cwd": "work", "inherit_env": True,
        "startup_timeout": 5, "request_timeout": 9.5, "prefix": "c", "token_scope": "upstream",
        "categories": {"GPE": "pass"}, "ui": True, "sampling": False, "elicitation": False, "roots": False,
    }  # fmt: skip
    path = write(
        {
            "upstreams": {"crm": upstream},
            "sanitize": False,
            "token_scope": "upstream",
            "sensitive": "session",
            "unknown_token": "pass",
            "detection": {"detect_emails": False, "custom_patterns": [["TICKET", "T-[0-9]+"]]},
            "limits": {"max_message_bytes": 100_000, "max_depth": 50, "max_pending": 10},
            "startup_wait": 3,
            "name_budget": 60,
            "state_dir": "state",
            "log_level": "debug",
        }
    )
    config = load(path)
    crm = config.upstreams["crm"]
    assert crm.categories == {"GPE": Treatment.PASS}
    assert crm.cwd == str(path.parent / "work")
    assert config.state_dir == str(path.parent / "state")
    assert crm.request_timeout == 9.5
    assert config.detection.custom_patterns == (("TICKET", "T-[0-9]+"),)


def test_places_and_categories_are_chosen_in_lists(write):
    detection = {"locale": "de", "locales": ["fr_CH", "de_AT"], "detect_emails": False, "off": ["WALLET", "PERSON"]}
    settings = detection_settings(load(write({"upstreams": {"crm": CRM}, "detection": detection})).detection)
    assert settings.regions == ("DE", "CH", "AT")
    assert settings.off == {"EMAIL", "WALLET", "PERSON"}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({"upstreams": {"crm": {"comand": "x"}}}, 'upstreams.crm.comand: unknown key. Did you mean "command"?'),
        ({"upstream": {"crm": CRM}}, 'upstream: unknown key. Did you mean "upstreams"?'),
        (detection({"detect_emials": True}), 'Did you mean "detect_emails"?'),
        ({"upstreams": {"crm": CRM}, "limits": {"zzz": 1}}, "limits.zzz: unknown key. Known here: max_depth,"),
        ({"upstreams": {"crm": {}}}, "has neither a command nor a url"),
        ({}, "upstreams: missing"),
        ({}, 'upstreams: missing. The least is {"upstreams": {"NAME": {"command": "PROGRAM"'),
        ({"upstreams": {}}, "upstreams: is empty"),
        ([], "expected an object, got a list"),
        ({"upstreams": [CRM]}, "upstreams: expected an object, got a list"),
        ({"upstreams": {"crm": {"command": 7}}}, "upstreams.crm.command: expected a string, got a number"),
        ({"upstreams": {"crm": {**CRM, "args": "x"}}}, "expected a list, got a string. Each argument is a"),
        ({"upstreams": {"crm": {**CRM, "args": ["x", 1]}}}, "upstreams.crm.args[1]: expected a string, got a number"),
        ({"upstreams": {"crm": {**CRM, "env": {"K": 5}}}}, "upstreams.crm.env.K: expected a string, got a number"),
        ({"upstreams": {"crm": {**CRM, "env": {"A=B": "x"}}}}, "upstreams.crm.env: holds a name or value"),
        ({"upstreams": {"crm": {**CRM, "ui": "yes"}}}, "upstreams.crm.ui: expected true or false, got a string"),
        ({"upstreams": {"crm": {**CRM, "startup_timeout": 0}}}, "startup_timeout: expected a number > 0"),
        ({"upstreams": {"crm": CRM}, "startup_wait": True}, "startup_wait: expected a number, got a boolean"),
        ({"upstreams": {"crm": CRM}, "token_scope": "all"}, 'Allowed: "session", "upstream"'),
        ({"upstreams": {"crm": CRM}, "sensitive": None}, 'sensitive: expected one of "origin", "session", got null'),
        ({"upstreams": {"crm": CRM}, "name_budget": 1}, "name_budget: expected a whole number >= 24"),
        ({"upstreams": {"crm": {**CRM, "categories": {"GPE": "hide"}}}}, "upstreams.crm.categories.GPE: unknown value"),
        ({"upstreams": {"crm": {**CRM, "categories": {"EMIAL": "pass"}}}}, 'unknown category. Did you mean "EMAIL"?'),
        ({"upstreams": {"crm": {**CRM, "categories": {"gpe": "pass"}}}}, "crm.categories.gpe: unknown category"),
        (detection({"ner_entity_types": ["PERSONS"]}), '[0]: is no entity type of the default model. Did'),
        (detection({"ner_entity_types": ["person"]}), "ner_entity_types[0]: is not a valid category name"),
        (detection({"custom_patterns": [["T_1", "x"]]}), "custom_patterns[0][0]: is not a valid category"),
        ({"upstreams": {"client": CRM}}, "upstreams.client: is a reserved name"),
        ({"upstreams": {"gateway": CRM}}, "upstreams.gateway: is a reserved name"),
        ({"upstreams": {"*": CRM}}, "upstreams.*: is a reserved name"),
        ({"upstreams": {"acme_": CRM}}, "upstreams.acme_: is not a valid upstream name. Letters, digits"),
        ({"upstreams": {"a__b": CRM}}, "upstreams.a__b: is not a valid upstream name"),
        ({"upstreams": {"a.b": CRM}}, "is not a valid upstream name"),
        ({"upstreams": {"": CRM}}, "is not a valid upstream name"),
        ({"upstreams": {"crm\n": CRM}}, "is not a valid upstream name"),
        ({"upstreams": {"a": CRM, "b": {**CRM, "prefix": "a"}}}, 'b.prefix: gives the same prefix as upstream "a"'),
        ({"upstreams": {"a": CRM, "b": {**CRM, "prefix": ""}}}, "upstreams.b.prefix: may be empty only"),
        ({"upstreams": {"a": {**CRM, "prefix": "_x"}}}, "upstreams.a.prefix: is not a valid prefix"),
        ({"upstreams": {"a" * 40: CRM}}, "is too long for a name_budget of 48. At most 37 characters"),
        (detection({"custom_patterns": [["TICKET"]]}), "custom_patterns[0]: expected a list of 2, got 1"),
        (detection({"custom_patterns": [["ticket", "x"]]}), "custom_patterns[0][0]: is not a valid category"),
        (detection({"custom_patterns": [["LITERAL", "x"]]}), "is a reserved category name"),
        (detection({"custom_patterns": [["A", "("]]}), "custom_patterns[0][1]: is not a pattern of the linear engine"),
        (detection({"custom_patterns": [["A", r"(a)\1"]]}), "is not a pattern of the linear engine"),
        (detection({"custom_patterns": [["A", "x*"]]}), "matches the empty text"),
        (detection({"deny_list": [" "]}), "detection.deny_list[0]: is empty"),
        (detection({"locale": ["de"]}), 'locale: expected a string, got a list. Several go under "locales"'),
        (detection({"locale": "german"}), "is no locale that is known here. Write a language, or a language and a"),
        (detection({"locale": "xx_YY"}), 'a country, like "de" or "de_AT"'),
        (detection({"locale": "DE"}), 'detection.locale: is no locale that is known here. Did you mean "de"?'),
        (detection({"locale": "de-DE.UTF-8"}), 'Did you mean "de_DE"?'),
        (detection({"locale": "de_XX"}), 'Did you mean "de"?'),
        (detection({"locale": "en_UK"}), 'Did you mean "en_GB"?'),
        (detection({"locales": ["de", "DE"]}), 'locales[1]: is no locale that is known here. Did you mean "de"?'),
        (detection({"off": ["email"]}), 'detection.off[0]: unknown category. Did you mean "EMAIL"?'),
        (detection({"off": ["q"]}), "detection.off[0]: unknown category. docs/categories.md lists them all"),
        ({"mcpServers": {"crm": CRM}}, 'mcpServers: unknown key. The servers of a client go under "upstreams" here'),
        ({"context_servers": {"crm": CRM}}, 'The servers of a client go under "upstreams" here'),
        ({"upstreams": {"crm": CRM}, "inputs": []}, "inputs: unknown key. A client asks for these"),
        ({"upstreams": {"crm": {**CRM, "timeout": 9}}}, 'A client\'s own: leave it out, or say "request_timeout"'),
        ({"upstreams": {"crm": {**CRM, "envFile": "x"}}}, 'envFile: unknown key. A client reads that file'),
        ({"upstreams": {"crm": {**CRM, "disabled": True}}}, "disabled: unknown key. This is for the client: leave it"),
        ({"upstreams": {"crm": {"serverUrl": "x"}}}, 'The address of a server goes under "url" here'),
        ({"upstreams": {"timeout": {"comand": "x"}}}, 'upstreams.timeout.comand: unknown key. Did you mean "command"?'),
        ('{"upstreams": {"crm": {"command": "C:\\Users\\me"}}}', r"A backslash is written twice, as in C:\\Users\\me"),
        (detection({"off": ["WALLETS"]}), 'detection.off[0]: unknown category. Did you mean "WALLET"?'),
        (detection({"ner_required": True, "ner_entity_types": []}), "contradicts an empty"),
        ("{", "line 1 column 2: not JSON"),
        ('{"upstreams": {},}', "JSON has no comments, no comma before a closing bracket"),
        (" \n", "is empty. The least is"),
        ('{"upstreams": {"crm": {"command": NaN}}}', "not JSON: NaN"),
        ('{"upstreams": {"crm": {"command": "a", "args": [], "command": "b"}}}', "crm.command: stands here twice"),
        ('{"upstreams": {"crm": {"command": "a"}, "crm": {"command": "b"}}}', "upstreams.crm: stands here twice"),
        ('{"upstreams": {"crm": {"command": "a", "env": {"K": "1", "K": "2"}}}}', "crm.env.K: stands here twice"),
        ("[" * 100_000, "nested too deeply"),
    ],
)  # fmt: skip
def test_a_mistake_is_refused_and_named(refusal, content, told):
    assert told in refusal(content)


def test_all_mistakes_of_a_file_are_told_at_once(refusal):
    crm = {**CRM, "disabled": False, "autoApprove": [], "args": "-y x", "env": {"A": 1, "B": 2}}
    told = refusal({"upstreams": {"crm": crm}, "sanitise": True})
    assert told.startswith("upstreams.crm.disabled: unknown key. This is for the client: leave it out. Also wrong: ")
    assert [part.partition(":")[0] for part in told.partition("Also wrong: ")[2].split("; ")] == [
        "upstreams.crm.autoApprove", "upstreams.crm.args", "upstreams.crm.env.A", "upstreams.crm.env.B", "sanitise",
    ]  # fmt: skip
    assert 'sanitise: unknown key (Did you mean "sanitize"?)' in told


def test_names_that_are_required_but_not_installed_come_with_the_command_that_installs_them(refusal):
    missing = {"ner_required": True, "spacy_model": "de_core_news_sm"}
    assert refusal(detection(missing)).endswith(spacy_model("de_core_news_sm"))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"none\.json: cannot be read: No such file"):
        load(tmp_path / "none.json")


def test_a_file_that_is_not_text_is_refused(tmp_path):
    path = tmp_path / "latin.json"
    path.write_bytes(b'{"\xe9": 1}')
    with pytest.raises(ConfigError, match="is not UTF-8 text"):
        load(path)


def test_a_byte_order_mark_is_no_mistake(tmp_path):
    path = tmp_path / "bom.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps({"upstreams": {"crm": CRM}}).encode())
    assert load(path).upstreams["crm"].command == "crm-server"


def test_a_single_upstream_may_have_no_prefix(write):
    assert load(write({"upstreams": {"crm": {**CRM, "prefix": ""}}})).upstreams["crm"].prefix == ""


def test_a_relative_command_starts_at_the_folder_of_the_file(write):
    path = write({"upstreams": {"crm": {"command": "./serve"}, "other": CRM}})
    config = load(path)
    assert config.upstreams["crm"].command == str(path.parent / "serve")
    assert config.upstreams["other"].command == "crm-server"


def test_categories_of_custom_patterns_and_of_another_model_can_be_passed(write):
    content = {
        "upstreams": {"crm": {**CRM, "categories": {"TICKET": "pass", "PER": "pass", "EMAIL": "tokenize"}}},
        "detection": {
            "custom_patterns": [["TICKET", "T-[0-9]+"]],
            "spacy_model": "de_model",
            "ner_entity_types": ["PER"],
        },
    }
    assert load(write(content)).upstreams["crm"].categories["PER"] is Treatment.PASS


SECRET = "hunter2-s3cret"
secret_places = st.sampled_from(
    [
        {"upstreams": {"crm": {**CRM, "env": SECRET}}},
        {"upstreams": {"crm": {**CRM, "env": {"K": [SECRET]}}}},
        {"upstreams": {"crm": {**CRM, "args": [{"x": SECRET}]}}},
        {"upstreams": {"crm": {**CRM, "token_scope": SECRET}}},
        {"upstreams": {"crm": {**CRM, "ui": SECRET}}},
        {"upstreams": {"crm": {**CRM, "startup_timeout": SECRET}}},
        detection({"locale": SECRET}),
        detection({"custom_patterns": [[SECRET, "x"]]}),
        detection(SECRET),
        {"upstreams": SECRET},
    ]
)


@given(secret_places)
def test_no_refusal_shows_a_value(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("config") / "gateway.json"
    path.write_text(json.dumps(content))
    with pytest.raises(ConfigError) as caught:
        load(path)
    assert SECRET not in str(caught.value)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(
        st.sampled_from(Config.__struct_fields__) | st.text(),
        json_values | st.fixed_dictionaries({"crm": st.just(CRM)}),
        max_size=4,
    )
)
def test_any_json_either_loads_or_is_refused_in_one_line(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("config") / "gateway.json"
    path.write_text(json.dumps(content))
    try:
        load(path)
    except ConfigError as error:
        assert "\n" not in str(error) and "\x1b" not in str(error)


def vault(content: dict[str, Any]) -> dict[str, Any]:
    return {"upstreams": {"crm": CRM}, "vault": content}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({"backend": "postgres"}, "vault.backend"),
        ({"backned": "sqlite"}, "backend"),
        ({"backend": "memory", "path": "x.db"}, "vault.path: means nothing with the backend memory"),
        ({"path": "x.db"}, "vault.path: means nothing with the backend memory"),
        ({"backend": "redis", "path": "x.db", "url": "redis://h"}, "vault.path: means nothing with the backend redis"),
        ({"backend": "sqlite", "url": "redis://h"}, "vault.url: means nothing with the backend sqlite"),
        ({"key_file": "k"}, "vault.key_file: means nothing"),
        ({"namespace": "n"}, "vault.namespace: means nothing"),
        ({"backend": "sqlite", "namespace": "a b"}, "vault.namespace"),
        ({"backend": "sqlite", "ttl": 0}, "vault.ttl"),
        ({"backend": "redis"}, "vault.url: is not the address of a Redis"),
        ({"backend": "redis", "url": "http://h"}, "vault.url: is not the address of a Redis"),
    ],
)
def test_a_vault_that_makes_no_sense_is_refused(write, content, says):
    with pytest.raises(ConfigError, match=re.escape(says)):
        load(write(vault(content)))


def test_the_address_of_a_redis_is_never_shown(write):
    with pytest.raises(ConfigError) as caught:
        load(write(vault({"backend": "redis", "url": f"http://:{SECRET}@h"})))
    assert SECRET not in str(caught.value)


def test_paths_of_the_vault_start_at_the_folder_of_the_file_and_the_keyring_is_no_path(write):
    path = write(vault({"backend": "sqlite", "path": "v/store.db", "key_file": "v/key"}))
    config = load(path)
    assert config.vault.path == str(path.parent / "v" / "store.db")
    assert config.vault.key_file == str(path.parent / "v" / "key")
    assert load(write(vault({"backend": "sqlite", "key_file": "keyring"}))).vault.key_file == "keyring"


# -- rules for tools and limits of the vault ---------------------------------------------------------


def with_tools(tools: Any) -> dict[str, Any]:
    return {"upstreams": {"crm": {**CRM, "tools": tools}}}


def test_rules_for_tools_are_read(write):
    rules = {
        "export_*": {
            "categories": {"PERSON": "redact"},
            "paths": {"$.rows[*].city": "pass", "$..card": "block"},
            "parameters": {"command": "posix", "query": "sql"},
        }
    }
    [(glob, said)] = load(write(with_tools(rules))).upstreams["crm"].tools.items()
    assert (glob, said.paths["$..card"], said.parameters["command"]) == ("export_*", "block", "posix")


@pytest.mark.parametrize(
    ("tools", "path", "words"),
    [
        ({"export_[a-z]": {}}, "tools.export_[a-z]", "not a pattern"),
        ({"": {}}, "tools.", "not a pattern"),
        ({"*": {"paths": {"rows.city": "pass"}}}, "tools.*.paths.rows.city", "begins with $"),
        ({"*": {"paths": {"$.rows[?(@.x)]": "pass"}}}, "paths.$.rows[?(@.x)]", "from character 7"),
        ({"*": {"paths": {"$.a": "hide"}}}, "tools.*.paths.$.a", '"redact"'),
        ({"*": {"path": {}}}, "tools.*.path", 'Did you mean "paths"?'),
        ({"*": {"categories": {"EMIAL": "pass"}}}, "categories.EMIAL", "EMAIL"),
        ({"*": {"parameters": {"$.x": "sql"}}}, "parameters.$.x", "name of an argument"),
        ({"*": {"parameters": {"x": "bash"}}}, "parameters.x", '"posix"'),
    ],
)
def test_rules_that_can_t_be_read_are_refused(refusal, tools, path, words):
    text = refusal(with_tools(tools))
    assert path in text and words in text


def test_an_upstream_may_bring_a_quarter_of_the_vault_unless_something_else_is_said():
    assert Quotas.of(1000, None, 100) == Quotas(1000, 250, 100)
    assert Quotas.of(1000, 900, 100) == Quotas(1000, 900, 100)
    assert Quotas.of(3, None, 1) == Quotas(3, 1, 1)
    default = VaultConfig()
    assert Quotas.of(default.max_values, default.max_values_per_upstream, default.max_values_per_message) == Quotas()
