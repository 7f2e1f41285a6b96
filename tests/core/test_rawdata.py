"""What counts as written in clear: never a token, whatever it stands under."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloakllm_gateway.core.rawdata import distinct, raw_texts
from cloakllm_gateway.core.settings import RawData, ToolRules, Treatment
from cloakllm_gateway.detection.catalogue import CATALOGUE
from cloakllm_gateway.detection.catalogue.model import Example
from cloakllm_gateway.detection.engine import Detector
from cloakllm_gateway.protocol.surface import RESTORE
from cloakllm_gateway.protocol.walk import Leaf
from cloakllm_gateway.spans import Text
from tests.core.transcript import opened, says, settings, text_of, upstream

DETECTOR = Detector()
EXAMPLES = [example for category in CATALOGUE.values() for example in category.all_examples()]
#: Those that may stand in any place: no longer value would be read there.
WORDS = [example for example in EXAMPLES if re.fullmatch(r"[^\s;|]{1,60}", example.value)]

#: Ways in which texts hold a text, as people and programs write them.
KINDS_OF_TEXT: dict[str, Callable[[str], str]] = {
    "alone": str,
    "environment": lambda text: f'# mine\nJWT_SECRET={text}\nSMTP_PASSWORD="{text}"\n',
    "YAML": lambda text: f"db:\n  password: {text}\n  users:\n    - name: {text}\n",
    "JSON": lambda text: json.dumps({"password": text, "people": [{"first_name": text, "iban": text}]}),
    "URL": lambda text: f"postgresql://app:{text}@db.internal:5432/shop?password={text}",
    "CSV": lambda text: f"name,email,password\nx,{text},{text}\n",
    "INI": lambda text: f"[mail]\nuser = {text}\npassword = {text}\n",
    "Python": lambda text: f"client = Client(password={text!r}, token='{text}')\n",
    "SQL": lambda text: f"INSERT INTO users (email, password) VALUES ('{text}', '{text}');",
    "Markdown": lambda text: f"| user | password |\n|---|---|\n| {text} | {text} |\n",
    "command": lambda text: (
        f"mysql -u root -p{text} && sshpass -p '{text}' ssh x && curl -u admin:{text} https://x.org"
    ),
    "XML": lambda text: f"<user><password>{text}</password><name>{text}</name></user>",
    "header": lambda text: f"Authorization: Bearer {text}\nCookie: session={text}\n",
}


def in_clear(text: str, key: str = "content", **rules: Any) -> dict[str, int]:
    """What of one written argument counts as in clear, by category."""
    texts = raw_texts([Leaf((key,), RESTORE, text, key)])
    return distinct(DETECTOR.find(texts), upstream("files", **rules)) if texts else {}


def shown(text: str) -> str:
    """What the model is shown of a text."""
    spans: Sequence[Any] = DETECTOR.find([Text(text)])[0]
    for number, span in reversed([*enumerate(spans)]):
        text = f"{text[: span.start]}[{span.category}_{number}]{text[span.end :]}"
    return text


@pytest.mark.parametrize("kind", KINDS_OF_TEXT)
@pytest.mark.parametrize("category", ["SECRET", "API_KEY", "EMAIL", "PERSON", "IBAN", "PHONE"])
@pytest.mark.parametrize("written", ["[{}]", "%5B{}%5D"])
def test_a_token_is_nothing_in_clear_wherever_it_stands(kind: str, category: str, written: str) -> None:
    assert in_clear(KINDS_OF_TEXT[kind](written.format(f"{category}_7"))) == {}


@pytest.mark.parametrize("key", ["password", "email", "iban", "patient", "apiKey"])
@pytest.mark.parametrize(
    "written", ["[SECRET_7]", "%5BSECRET_7%5D", "\\[SECRET\\_7\\]", '"[SECRET_7]"', "[SECRET_7]\n"]
)
def test_nor_as_an_argument(key: str, written: str) -> None:
    assert in_clear(written, key) == {}


@pytest.mark.parametrize("kind", KINDS_OF_TEXT)
@given(word=st.sampled_from(WORDS), example=st.sampled_from(EXAMPLES))
def test_what_the_model_was_shown_it_may_write_back(kind: str, word: Example, example: Example) -> None:
    assert in_clear(shown(KINDS_OF_TEXT[kind](word.value))) == {}
    assert in_clear(shown(f"{example.text}\n{KINDS_OF_TEXT[kind]('[SECRET_99]')}")) == {}


@pytest.mark.parametrize("kind", [kind for kind in KINDS_OF_TEXT if kind not in ("URL", "INI", "command")])
@pytest.mark.parametrize(
    "joined", ["{0}/{0}", "{0}:{0}", "{0}\\n", "&quot;{0}&quot;", "%22{0}%22", "<{0}>", "{0}...{0}"]
)
def test_what_joins_or_quotes_tokens_is_nothing_in_clear(kind: str, joined: str) -> None:
    assert in_clear(KINDS_OF_TEXT[kind](joined.format("[SECRET_7]"))) == {}


@pytest.mark.parametrize("encode", [str, lambda text: json.dumps({"content": text}), html.escape, repr])
def test_nor_where_one_document_holds_another(encode: Callable[[str], str], tmp_path: Path) -> None:
    talk = opened(settings(raw_data={"crm": RawData.BLOCK}), tmp_path)
    secrets = [word.value for word in WORDS if len(word.value) >= 12][::31]
    kinds = [kind for name, kind in KINDS_OF_TEXT.items() if name != "URL"]  # which alone is an address, no document
    documents = [encode(kind(secret)) for kind in kinds for secret in secrets]
    for document in documents:
        talk.call("read", "crm__look").answer("crm", says(document))
        read = text_of(talk.only())
        talk.sent.clear()
        talk.call("write", "crm__send", {"content": read})
        assert talk.take() == []
        assert talk.only("crm")["params"]["arguments"] == {"content": document}
        talk.answer("crm", says("written")).sent.clear()


def test_a_password_without_letters_counts() -> None:
    assert in_clear("!$%&/()=?*+", "password") == {"SECRET": 1}


@pytest.mark.parametrize("beside", ["{0}hunter22", "hunter22{0}", "hunter22, not {0}"])
def test_what_stands_beside_a_token_counts(beside: str) -> None:
    assert in_clear(f"password={beside.format('[SECRET_1]')}\n") == {"SECRET": 1}


def test_what_the_model_is_shown_in_clear_it_may_write() -> None:
    text = "kim@posteo-mail.de, 536-22-8726"
    rules = ToolRules("read*", categories={"SSN": Treatment.PASS, "IBAN": Treatment.REDACT})
    assert in_clear(text) == {"EMAIL": 1, "SSN": 1}
    assert in_clear(text, categories={"EMAIL": Treatment.PASS}) == {"SSN": 1}
    assert in_clear(text, categories={"EMAIL": Treatment.REDACT}, tools=(rules,)) == {"EMAIL": 1}
