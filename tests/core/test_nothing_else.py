"""Nothing else changes: what holds nothing personal passes the gateway both ways as it was written, byte for byte.

Compared is what was written and what the other side reads, as bytes: order of members, spelling of numbers, escapes
inside texts that are JSON, ids, and whatever bytes stand in pictures, sounds and blobs.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from cloakllm_gateway.core.events import CLIENT
from cloakllm_gateway.protocol import jsonrpc
from tests.core import transcript
from tests.core.transcript import Conversation, opened
from tests.effort import examples

#: Every way to spell a number that somebody could spell anew; none has the digits of anybody's.
NUMBERS = st.sampled_from(
    ["0", "-0", "0.10", "1.0", "1e3", "1E+3", "-1.50e-7", "9007199254740993", "18446744073709551616", "1e400", "-0.0"]
)
WORDS = st.sampled_from(
    ["", "a", "data", "type", "blob", "uri", "x-new", "id", "name", "text", "content", "_meta", "$ref", "\u00e9t\u00e9",
     "a\\u0041b", "[ITEM_3]", "%41%zz", "&amp;", "<b>", " \t", "line\n", '"q"', "\\", "\ufeff", "\u2028", "\x00",
     "\U0001f600", '{"a": 1.0, "b":[ 1e3 ,null ]}', '[{"n":-0,\t"s":"\\u00e9"}]', "{'a': True}", "k=v; w = 'x'",
     "a,b\n1.0,0.10\n"]
)  # fmt: skip


def written(value: str) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\u2028", "\\u2028")


def objects(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    members = st.lists(st.tuples(WORDS, inner), max_size=4, unique_by=lambda member: member[0])
    return members.map(lambda pairs: "{" + ",".join(f"{written(key)}:{value}" for key, value in pairs) + "}")


def arrays(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(inner, max_size=3).map(lambda items: f"[{','.join(items)}]")


SCALARS = st.one_of(NUMBERS, WORDS.map(written), st.sampled_from(["null", "true", "false"]))
JSON = st.recursive(SCALARS, lambda inner: objects(inner) | arrays(inner), max_leaves=12)
#: Ids as peers write them.
IDS = st.one_of(
    st.integers(-(2**70), 2**70).filter(lambda n: len(str(abs(n))) < 7 or abs(n) > 2**62).map(str),
    WORDS.map(written),
)


def lines(talk: Conversation, peer: str) -> Iterator[str]:
    for message in talk.take(peer):
        yield jsonrpc.encode(message).decode()


@settings(max_examples=examples(80))
@given(id=IDS, arguments=objects(JSON), answer=objects(JSON), more=JSON)
def test_what_is_nobodys_passes_both_ways_as_it_was_written(id: str, arguments: str, answer: str, more: str) -> None:
    talk = opened(transcript.settings())
    said = f'{{"name":"crm__look","arguments":{arguments},"x-odd":{more}}}'
    talk.client(f'{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{said}}}'.encode())
    (asked,) = lines(talk, "crm")
    assert asked.partition('"params":')[2] == said.replace("crm__look", "look") + "}"
    result = f'{{"content":[{{"type":"text","text":"x","x-new":{more}}}],"structuredContent":{answer},"x-odd":{more}}}'
    talk.upstream("crm", f'{{"jsonrpc":"2.0","id":{talk.last_asked("crm")},"result":{result}}}'.encode())
    assert list(lines(talk, CLIENT)) == [f'{{"jsonrpc":"2.0","id":{id},"result":{result}}}']


@settings(max_examples=50)
@given(token=IDS, more=objects(JSON))
def test_what_an_upstream_tells_passes_as_it_was_written(token: str, more: str) -> None:
    talk = opened(transcript.settings())
    params = f'{{"name":"crm__look","_meta":{{"progressToken":{token}}}}}'
    talk.client(f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}'.encode())
    (asked,) = talk.take("crm")
    own = jsonrpc.encode(asked["params"]["_meta"]["progressToken"]).decode()
    for method, before, behind in (
        ("notifications/progress", '{"progressToken":', f',"progress":0.10,"x-odd":{more}}}'),
        ("notifications/x-new", f'{{"x-odd":{more},"n":', "}"),
        ("notifications/message", '{"level":"error","data":{"n":', f',"x-odd":{more}}}}}'),
    ):
        start = f'{{"jsonrpc":"2.0","method":"{method}","params":{before}'
        talk.upstream("crm", f"{start}{own}{behind}}}".encode())
        assert list(lines(talk, CLIENT)) == [f"{start}{token if 'progress' in method else own}{behind}}}"]


def media(data: str) -> list[dict[str, Any]]:
    inside = {"uri": "mem://a", "mimeType": "application/octet-stream", "blob": data}
    return [
        {"type": "image", "mimeType": "image/png", "data": data},
        {"type": "audio", "mimeType": "audio/wav", "data": data},
        {"type": "resource", "resource": inside},
    ]


ENCODERS = st.sampled_from([base64.b64encode, base64.urlsafe_b64encode, base64.encodebytes])
MAGIC = st.sampled_from([b"", b"\x89PNG\r\n\x1a\n", b"RIFF", b"%PDF-1.7\n", b"\xff\xd8\xff"])
BYTES = st.one_of(
    st.tuples(MAGIC, st.binary(max_size=200)).map(b"".join),
    st.lists(WORDS, max_size=8).map(lambda words: " ".join(words).encode()),
)


@settings(max_examples=examples(80))
@given(raw=BYTES, encode=ENCODERS, padded=st.booleans())
def test_media_pass_as_they_were_written(raw: bytes, encode: Any, padded: bool) -> None:
    data = encode(raw).decode()
    blocks = media(data if padded else data.rstrip("=\n"))
    talk = opened(transcript.settings())
    talk.call(1, "crm__look")
    talk.answer("crm", {"content": blocks})
    assert talk.only()["result"]["content"] == blocks
    talk.call(2, "crm__send", {"content": blocks})
    assert talk.take("crm")[-1]["params"]["arguments"] == {"content": blocks}
