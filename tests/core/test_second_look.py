"""The tripwire cuts a text that was cut before: what comes back is the text all the same."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import anyio
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cloakllm_gateway.core.handles import Handles
from cloakllm_gateway.core.policy import Policy
from cloakllm_gateway.core.restorer import Restorer
from cloakllm_gateway.core.sanitizer import Sanitizing, drive
from cloakllm_gateway.core.settings import Settings, UpstreamSettings
from cloakllm_gateway.core.source import Source
from cloakllm_gateway.errors import Withheld
from cloakllm_gateway.protocol.surface import DATA, RESTORE
from cloakllm_gateway.spans import Findings, Span, Text
from cloakllm_gateway.vault.entries import Entry, Spelling, Token
from cloakllm_gateway.vault.vault import Vault
from tests.effort import examples

#: What a find may be: a number, a word, any punctuation of JSON.
PIECE = re.compile(r"-?\d+(?:\.\d+)?|[\[\]{}\":,\\]|[a-z]+")
CATEGORIES = frozenset({"TERM", "LITERAL"})

numbers = st.one_of(st.integers(-999, 10**6), st.sampled_from([1.5, 1e30]))
values = st.recursive(
    st.one_of(numbers, st.booleans(), st.sampled_from(["", "a b", 'q"', "\\", "kim", '{"n":7}', "[1]", "é"])),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("abc"), inner, max_size=3)),
    max_leaves=6,
)
documents = st.builds(
    lambda value, nested: json.dumps({"j": json.dumps(value), "n": 1} if nested else [value, 2]), values, st.booleans()
)
scraps = st.lists(st.sampled_from(['{"a":', "1", "23", '"', ",", "}", "[", "]", "\\", ":", "x", " "]), max_size=14)
texts = st.one_of(documents, scraps.map("".join))


def twice_cut(text: str, data: st.DataObject) -> tuple[str, object]:
    """``text`` after two looks that found whatever hypothesis likes, and what is restored from that."""
    vault, handles = Vault(), Handles()
    given_out: dict[tuple[str, ...], Entry] = {}

    async def find(looked_at: Sequence[Text]) -> Findings:
        return Findings([list(some_spans(look.text)) for look in looked_at], frozenset(range(len(looked_at))))

    def some_spans(look: str) -> Sequence[Span]:
        pieces = [piece.span() for piece in PIECE.finditer(look)]
        chosen = data.draw(st.sets(st.sampled_from(pieces), max_size=4)) if pieces else set()
        return [Span(start, end, "TERM", look[start:end], look[start:end]) for start, end in sorted(chosen)]

    async def assign(spellings: Sequence[Spelling]) -> Sequence[Entry]:
        for spelling in spellings:
            token = Token(spelling.category, len(given_out))
            given_out.setdefault(spelling.identity, Entry(token, spelling, "g", frozenset({"crm#0"})))
        return [given_out[spelling.identity] for spelling in spellings]

    async def run() -> str:
        clean = await drive(Sanitizing(text, DATA, Source("crm#0", "g", vault, handles, CATEGORIES)), find, assign)
        vault.learn(given_out.values())
        vault.show(clean.tokens)
        return str(clean.part)

    hidden = anyio.run(run)
    policy = Policy(Settings({"crm": UpstreamSettings("crm", "crm", "crm#0")}))
    restored = Restorer(policy, vault, handles, CATEGORIES, {}).restore(hidden, RESTORE, "crm").part
    return hidden, restored


@settings(max_examples=examples(500))
@given(texts, st.data())
def test_a_text_that_is_cut_twice_comes_back_exactly(text: str, data: st.DataObject) -> None:
    try:
        _, restored = twice_cut(text, data)
    except Withheld:
        assume(False)
    assert restored == text
