"""Every place where a message of an upstream can hold text, and an upstream that plants values in all of them.

The tables say what stands where, as data: a place is a name, and what an upstream says in that place
is made from the values that belong to it.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.peers.upstream import ECHO, Upstream, text
from tests.peers.values import Values, exposed, readings, values

#: An 8 x 8 grey PNG; its bytes have to arrive as they are.
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAAAAADhZOFXAAAADklEQVR4nGNogAKGIcYAAMcsQAF5Vv1RAAAAAElFTkSuQmCC"

Made = Callable[[Values], dict[str, Any]]


def block(**members: Any) -> dict[str, Any]:
    return {"content": [members]}


def said(made: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": made}], **more}


def structured(value: Any) -> dict[str, Any]:
    return {"content": [], "structuredContent": value}


def escaped(text: str) -> str:
    """JSON text with every character that is no letter as a ``\\u`` escape."""
    return "".join(c if c.isalpha() else f"\\u{ord(c):04x}" for c in text)


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def uri(v: Values) -> str:
    return "mem://shelf/" + quote(v.text, safe="")


#: What a tool can answer: a place each, and a tool each.
RESULTS: dict[str, Made] = {
    "text": lambda v: said(v.text),
    "two_blocks": lambda v: {"content": [{"type": "text", "text": t} for t in v.by_shape]},
    "error_text": lambda v: said(v.text, isError=True),
    "json_in_text": lambda v: said(json.dumps({"all": v.text, "first_name": v.name})),
    "json_in_json_in_text": lambda v: said(json.dumps({"a": json.dumps({"b": json.dumps([v.text])})})),
    "escaped_json_in_text": lambda v: said('{"note":"' + escaped(v.text) + '"}'),
    "percent_in_text": lambda v: said("see https://portal.posteo-mail.de/find?q=" + quote(v.text, safe="")),
    "number_in_json_in_text": lambda v: said(f'{{"card_number":{v.card_digits},"phone":{v.phone_digits}}}'),
    "csv_in_text": lambda v: said(f"first_name,email,ssn\n{v.name},{v.email},{v.ssn}\n"),
    "text_annotations": lambda v: block(type="text", text="x", annotations={"audience": [v.text], "note": v.text}),
    "text_meta": lambda v: block(type="text", text="x", _meta={"acme/note": v.text}),
    "text_unknown_member": lambda v: block(type="text", text="x", footnote={"of": [v.text]}),
    "image_members": lambda v: block(type="image", data=PNG, mimeType="image/png", alt=v.text, _meta={"by": v.text}),
    "mime_type": lambda v: block(type="image", data=PNG, mimeType=f"image/png; owner={v.email}"),
    "invented_type": lambda v: block(type="hologram", scene={"caption": v.text, "parts": [[v.text]]}),
    "type_itself": lambda v: block(type=v.text, x=1),
    "embedded_uri": lambda v: block(type="resource", resource={"uri": uri(v), "text": "x"}),
    "embedded_text": lambda v: block(type="resource", resource={"uri": "mem://a", "text": v.text}),
    "embedded_meta": lambda v: block(type="resource", resource={"uri": "mem://b", "text": "x", "_meta": {"m": v.text}}),
    "textual_blob": lambda v: block(
        type="resource", resource={"uri": "mem://c.csv", "mimeType": "text/csv", "blob": encoded(v.text + "\n")}
    ),
    "json_blob": lambda v: block(
        type="resource",
        resource={"uri": "mem://d", "mimeType": "application/json", "blob": encoded(json.dumps({"n": v.text}))},
    ),
    "link_uri": lambda v: block(type="resource_link", uri=uri(v), name="x"),
    "link_name": lambda v: block(type="resource_link", uri="mem://e", name=v.text),
    "link_title": lambda v: block(type="resource_link", uri="mem://f", name="x", title=v.text),
    "link_description": lambda v: block(type="resource_link", uri="mem://g", name="x", description=v.text),
    "link_icon": lambda v: block(type="resource_link", uri="mem://h", name="x", icons=[{"src": uri(v)}]),
    "tool_use_block": lambda v: block(type="tool_use", id="u", name="x", input={"to": v.text}),
    "tool_result_block": lambda v: block(type="tool_result", toolUseId="u", content=said(v.text)["content"]),
    "structured": lambda v: structured({"rows": [{"note": v.text}]}),
    "structured_string": lambda v: structured(v.text),
    "structured_list": lambda v: structured(list(v.by_shape)),
    "structured_keys": lambda v: structured({value: {"role": "admin"} for value in v.by_shape}),
    "structured_numbers": lambda v: structured({"card_number": int(v.card_digits), "phone": int(v.phone_digits)}),
    "structured_names": lambda v: structured({"first_name": v.name, "email": v.email, "customer": {"ssn": v.ssn}}),
    "payload_data": lambda v: structured({"data": v.text, "mimeType": "image/png"}),
    "payload_type": lambda v: structured({"type": v.text, "annotations": {"audience": v.text}}),
    "payload_blob": lambda v: structured({"blob": v.text, "uri": "mem://x", "id": v.email, "name": v.email}),
    "payload_protocol_words": lambda v: structured({"jsonrpc": v.text, "method": v.text, "nextCursor": v.text}),
    "payload_like_an_image": lambda v: structured({"type": "image", "data": v.text}),
    "result_meta": lambda v: said("x", _meta={"acme/trace": v.text, "deep": [{"er": v.text}]}),
    "result_unknown_member": lambda v: said("x", summary={"by": v.text}),
}

#: Errors that an upstream can answer with.
ERRORS: dict[str, Made] = {
    "error_message": lambda v: {"code": -32000, "message": f"duplicate key ({v.text})"},
    "error_data": lambda v: {"code": -32000, "message": "x", "data": {"row": {"note": v.text}, "first_name": v.name}},
    "error_data_string": lambda v: {"code": -32000, "message": "x", "data": v.text},
    "error_unknown_member": lambda v: {"code": -32000, "message": "x", "trace": [v.text]},
}

#: Notifications that an upstream can send: method and parameters.
NOTIFICATIONS: dict[str, Callable[[Values], tuple[str, Any]]] = {
    "progress_message": lambda v: (
        "notifications/progress", {"progressToken": "$progress", "progress": 1, "message": v.text}),
    "progress_member": lambda v: (
        "notifications/progress", {"progressToken": "$progress", "progress": 2, "row": {"of": v.text}}),
    "log_text": lambda v: ("notifications/message", {"level": "error", "data": v.text}),
    "log_object": lambda v: ("notifications/message", {"level": "error", "data": {"user": {v.email: [v.text]}}}),
    "log_logger": lambda v: ("notifications/message", {"level": "error", "logger": v.text, "data": "x"}),
    "updated_uri": lambda v: ("notifications/resources/updated", {"uri": uri(v)}),
    "updated_title": lambda v: ("notifications/resources/updated", {"uri": "mem://plain", "title": v.text}),
    "tools_changed_meta": lambda v: ("notifications/tools/list_changed", {"_meta": {"why": v.text}}),
    "prompts_changed_member": lambda v: ("notifications/prompts/list_changed", {"why": v.text}),
    "resources_changed_member": lambda v: ("notifications/resources/list_changed", {"why": [v.text]}),
    "unknown_notification": lambda v: ("notifications/acme/said", {"what": {"was": v.text}}),
    "unknown_notification_name": lambda v: (f"notifications/{v.email}", {}),
    "cancelled_reason": lambda v: ("notifications/cancelled", {"requestId": "$id", "reason": v.text}),
    "task_status": lambda v: (
        "notifications/tasks/status",
        {"taskId": "t", "status": "working", "statusMessage": v.text, "createdAt": "", "lastUpdatedAt": "", "ttl": 1}),
    "elicitation_complete": lambda v: ("notifications/elicitation/complete", {"elicitationId": v.email}),
}  # fmt: skip

TURN = {"role": "user", "content": {"type": "text", "text": "x"}}


def sampling(**members: Any) -> tuple[str, Any]:
    return "sampling/createMessage", {"messages": [TURN], "maxTokens": 9, **members}


def form(**members: Any) -> tuple[str, Any]:
    return "elicitation/create", {"message": "x", "requestedSchema": {"type": "object", "properties": {}}, **members}


def asking(**described: Any) -> tuple[str, Any]:
    return form(requestedSchema={"type": "object", "properties": {"to": {"type": "string", **described}}})


#: Requests that an upstream can make of the client.
REQUESTS: dict[str, Callable[[Values], tuple[str, Any]]] = {
    "sampling_text": lambda v: sampling(messages=[{"role": "user", "content": {"type": "text", "text": v.text}}]),
    "sampling_blocks": lambda v: sampling(messages=[{"role": "user", "content": [{"type": "text", "text": v.text}]}]),
    "sampling_system": lambda v: sampling(systemPrompt=v.text),
    "sampling_stop": lambda v: sampling(stopSequences=[v.text]),
    "sampling_metadata": lambda v: sampling(metadata={"of": {"user": v.text}}),
    "sampling_tool": lambda v: sampling(tools=[{"name": "t", "description": v.text, "inputSchema": {}}]),
    "sampling_tool_schema": lambda v: sampling(
        tools=[{"name": "t", "inputSchema": {"type": "object", "properties": {"p": {"default": v.text}}}}]
    ),
    "sampling_tool_result": lambda v: sampling(
        messages=[{"role": "user", "content": [{"type": "tool_result", "toolUseId": "u", **said(v.text)}]}]
    ),
    "sampling_hint": lambda v: sampling(modelPreferences={"hints": [{"name": v.text}]}),
    "sampling_progress_token": lambda v: sampling(_meta={"progressToken": v.email}),
    "elicitation_message": lambda v: form(message=f"Send to {v.text}?"),
    "elicitation_default": lambda v: asking(default=v.text),
    "elicitation_title": lambda v: asking(title=v.text),
    "elicitation_description": lambda v: asking(description=v.text),
    "elicitation_enum": lambda v: asking(enum=list(v.by_shape)),
    "elicitation_enum_names": lambda v: asking(enum=["a"], enumNames=[v.text]),
    "elicitation_titled_choice": lambda v: asking(oneOf=[{"const": v.email, "title": v.text}]),
    "elicitation_meta": lambda v: form(_meta={"acme/why": v.text}),
    "elicitation_url": lambda v: (
        "elicitation/create",
        {"mode": "url", "message": "x", "elicitationId": "e", "url": f"https://sign.posteo-mail.de/{quote(v.text)}"}),
    "elicitation_id": lambda v: (
        "elicitation/create",
        {"mode": "url", "message": "x", "elicitationId": v.email, "url": "https://sign.posteo-mail.de/"}),
    "roots_meta": lambda v: ("roots/list", {"_meta": {"acme/why": v.text}}),
}  # fmt: skip


def schema(**described: Any) -> dict[str, Any]:
    return {"inputSchema": {"type": "object", "properties": {"to": {"type": "string", **described}}}}


#: Members of a tool's list entry.
TOOLS: dict[str, Made] = {
    "tool_description": lambda v: {"description": f"Mails {v.text}"},
    "tool_title": lambda v: {"title": v.text},
    "tool_annotations_title": lambda v: {"annotations": {"title": v.text}},
    "tool_meta": lambda v: {"_meta": {"acme/owner": v.text}},
    "tool_icon": lambda v: {"icons": [{"src": uri(v)}]},
    "tool_unknown_member": lambda v: {"owner": {"is": [v.text]}},
    "schema_description": lambda v: schema(description=v.text),
    "schema_title": lambda v: schema(title=v.text),
    "schema_default": lambda v: schema(default=v.text),
    "schema_enum": lambda v: schema(enum=list(v.by_shape)),
    "schema_const": lambda v: schema(const=v.email),
    "schema_examples": lambda v: schema(examples=[v.text, {"deep": v.text}]),
    "schema_comment": lambda v: {"inputSchema": {"type": "object", "$comment": v.text}},
    "schema_nested": lambda v: {
        "inputSchema": {"type": "object", "$defs": {"P": {"anyOf": [{"items": {"default": {"n": v.text}}}]}}}
    },
    "output_description": lambda v: {"outputSchema": {"type": "object", "description": v.text}},
    "output_enum": lambda v: {"outputSchema": {"type": "object", "properties": {"p": {"enum": [v.email]}}}},
}

#: Members of a resource's, a template's and a prompt's list entry.
RESOURCES: dict[str, Made] = {
    "resource_name": lambda v: {"name": v.text},
    "resource_title": lambda v: {"title": v.text},
    "resource_description": lambda v: {"description": v.text},
    "resource_meta": lambda v: {"_meta": {"acme/of": v.text}},
    "resource_unknown_member": lambda v: {"owner": v.text},
}
TEMPLATES: dict[str, Made] = {
    "template_name": lambda v: {"name": v.text},
    "template_title": lambda v: {"title": v.text},
    "template_description": lambda v: {"description": v.text},
}
PROMPTS: dict[str, Made] = {
    "prompt_title": lambda v: {"title": v.text},
    "prompt_description": lambda v: {"description": v.text},
    "prompt_argument_title": lambda v: {"arguments": [{"name": "who", "title": v.text}]},
    "prompt_argument_description": lambda v: {"arguments": [{"name": "who", "description": v.text}]},
}

#: What reading a resource, getting a prompt and completing an argument can answer.
READS: dict[str, Made] = {
    "read_text": lambda v: {"contents": [{"uri": "mem://r", "text": v.text}]},
    "read_uri": lambda v: {"contents": [{"uri": uri(v), "text": "x"}]},
    "read_blob": lambda v: {"contents": [{"uri": "mem://r", "mimeType": "text/plain", "blob": encoded(v.text)}]},
    "read_meta": lambda v: {"contents": [{"uri": "mem://r", "text": "x", "_meta": {"of": v.text}}]},
    "read_unknown_member": lambda v: {"contents": [], "summary": v.text},
}
GETS: dict[str, Made] = {
    "get_description": lambda v: {"description": v.text, "messages": []},
    "get_text": lambda v: {"messages": [{"role": "user", "content": {"type": "text", "text": v.text}}]},
    "get_resource": lambda v: {
        "messages": [{"role": "user", "content": {"type": "resource", "resource": {"uri": "mem://q", "text": v.text}}}]
    },
    "get_role": lambda v: {"messages": [{"role": v.email, "content": {"type": "text", "text": "x"}}]},
}
COMPLETIONS: dict[str, Made] = {
    "completion_values": lambda v: {"completion": {"values": list(v.by_shape)}},
    "completion_member": lambda v: {"completion": {"values": []}, "note": v.text},
}

#: Places that are no member of a table above; the functions that fill them say where they are.
OTHERS = (
    "instructions", "server_title", "server_description", "capability", "envelope_member", "stderr", "noise",
    "tool_name", "property_name", "prompt_name", "prompt_argument_name", "template_uri", "resource_uri", "cursor",
    "task_id", "task_message",
)  # fmt: skip

TABLES = (
    RESULTS, ERRORS, NOTIFICATIONS, REQUESTS, TOOLS, RESOURCES, TEMPLATES, PROMPTS, READS, GETS, COMPLETIONS
)  # fmt: skip
PLACES = (*(place for table in TABLES for place in table), *OTHERS)
#: Places whose item is not shown at all: its name would have to be changed.
DROPPED = {"tool_name", "property_name", "prompt_name", "prompt_argument_name", "template_uri"}
#: Places too narrow for more than an address.
NAMES = {*DROPPED, "cursor", "task_id"}
AT: dict[str, Values] = {place: values(n) for n, place in enumerate(PLACES)}


def source(place: str) -> Any:
    """What the upstream says in that place."""
    for table in TABLES:
        if place in table:
            return table[place](AT[place])
    v = AT[place]
    return {"resource_uri": uri(v), "template_uri": v.email}.get(place, v.email if place in NAMES else v.text)


def planted(place: str) -> list[str]:
    """The values that the place holds."""
    v = AT[place]
    return exposed((*v, v.card_digits, v.phone_digits), readings(json.dumps(source(place)).encode()))


def upstream(folder: Path) -> Upstream:
    """The upstream that plants all of it."""
    probe = Upstream(
        "probe",
        folder,
        instructions=f"Owner: {AT['instructions'].text}",
        capabilities={
            "tools": {"listChanged": True}, "prompts": {"listChanged": True}, "logging": {}, "completions": {},
            "resources": {"listChanged": True, "subscribe": True},
            "tasks": {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}},
            "experimental": {"acme": {"owner": AT["capability"].text}},
        },
        serverInfo={
            "name": "probe", "version": "1", "title": AT["server_title"].text,
            "description": AT["server_description"].text,
        },
    )  # fmt: skip
    probe.behave(at_start=[{"stderr": AT["stderr"].text + "\n"}, {"write": f"Starting for {AT['noise'].text}\n"}])
    probe.tool("record", ECHO)
    for place, made in RESULTS.items():
        probe.tool(place, [{"result": made(AT[place])}])
    for place, made in ERRORS.items():
        probe.tool(place, [{"error": made(AT[place])}])
    for place, told in NOTIFICATIONS.items():
        method, params = told(AT[place])
        probe.tool(place, [{"notify": method, "params": params}, *text("done")])
    for place, told in REQUESTS.items():
        method, params = told(AT[place])
        probe.tool(place, [{"ask": method, "params": params}, *text("done")])
    for place, made in TOOLS.items():
        probe.tool(place, ECHO, **made(AT[place]))
    probe.tool(f"mail_{AT['tool_name'].email}")
    probe.tool("property_name", inputSchema={"type": "object", "properties": {AT["property_name"].email: {}}})
    probe.tool("envelope_member", [{"result": {"content": []}, "beside": {"extra": AT["envelope_member"].text}}])
    for place, made in RESOURCES.items():
        probe.resource(f"mem://{place}", **made(AT[place]))
    for place, made in READS.items():
        probe.resource(f"mem://{place}", [{"result": made(AT[place])}])
    listed = uri(AT["resource_uri"])
    probe.resource(listed, [{"result": {"contents": [{"uri": listed, "text": "it"}]}}])
    for place, made in TEMPLATES.items():
        probe.template(f"mem://{place}/{{id}}", **made(AT[place]))
    probe.template(f"mem://{AT['template_uri'].email}/{{id}}")
    for place, made in PROMPTS.items():
        probe.prompt(place, **made(AT[place]))
    for place, made in GETS.items():
        probe.prompt(place, [{"result": made(AT[place])}])
    probe.prompt(AT["prompt_name"].email)
    probe.prompt("prompt_argument_name", arguments=[{"name": AT["prompt_argument_name"].email}])
    probe.pages("prompts/list", "prompts", {"": probe.prompts[:3], AT["cursor"].email: probe.prompts[3:]})
    completions = {place: [{"result": made(AT[place])}] for place, made in COMPLETIONS.items()}
    probe.on("completion/complete", {"by": "argument.value", "cases": completions})
    return tasks(probe)


def tasks(probe: Upstream) -> Upstream:
    """A tool that runs as a task whose id and status message hold values."""
    v = AT["task_id"]
    task = {
        "taskId": v.email, "status": "completed", "statusMessage": AT["task_message"].text, "ttl": 60000,
        "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    probe.tool("long", [{"result": {"task": task}}], execution={"taskSupport": "required"})
    known = {"by": "taskId", "otherwise": [{"error": {"code": -32602, "message": "no such task"}}]}
    probe.on("tasks/get", {**known, "cases": {v.email: [{"result": task}]}})
    probe.on("tasks/result", {**known, "cases": {v.email: text("the end")}})
    return probe.on("tasks/list", [{"result": {"tasks": [task]}}])
