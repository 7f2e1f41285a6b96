"""What the conformance suite expects a server to list and to say, as data.

The names and texts are the suite's: its scenarios are written against them.  A binary is one pixel of a picture and a
tenth of a millisecond of silence.
"""

from __future__ import annotations

from typing import Any

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
SILENCE = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA=="

Json = dict[str, Any]


def text(said: str) -> Json:
    return {"type": "text", "text": said}


def embedded(uri: str, said: str, mime_type: str = "text/plain") -> Json:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": said}}


IMAGE = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": SILENCE, "mimeType": "audio/wav"}

#: Tools whose answer is always the same content.
CONTENT: dict[str, list[Json]] = {
    "test_simple_text": [text("This is a simple text response for testing.")],
    "test_image_content": [IMAGE],
    "test_audio_content": [AUDIO],
    "test_embedded_resource": [embedded("test://embedded-resource", "This is an embedded resource content.")],
    "test_multiple_content_types": [
        text("Multiple content types test:"),
        IMAGE,
        embedded("test://mixed-content-resource", '{"test":"data","value":123}', "application/json"),
    ],
}

RESOURCES: list[Json] = [
    {"uri": "test://static-text", "name": "static-text", "mimeType": "text/plain"},
    {"uri": "test://static-binary", "name": "static-binary", "mimeType": "image/png"},
    {"uri": "test://watched-resource", "name": "watched-resource", "mimeType": "text/plain"},
]
CONTENTS: dict[str, Json] = {
    "test://static-text": {"mimeType": "text/plain", "text": "This is the content of the static text resource."},
    "test://static-binary": {"mimeType": "image/png", "blob": PIXEL},
    "test://watched-resource": {"mimeType": "text/plain", "text": "Nothing has changed so far."},
}
TEMPLATE: Json = {"uriTemplate": "test://template/{id}/data", "name": "template", "mimeType": "application/json"}

PROMPTS: list[Json] = [
    {"name": "test_simple_prompt", "description": "No arguments"},
    {
        "name": "test_prompt_with_arguments",
        "description": "Two arguments",
        "arguments": [
            {"name": "arg1", "description": "The first", "required": True},
            {"name": "arg2", "description": "The second", "required": True},
        ],
    },
    {
        "name": "test_prompt_with_embedded_resource",
        "description": "A resource inside a message",
        "arguments": [{"name": "resourceUri", "description": "Which", "required": True}],
    },
    {"name": "test_prompt_with_image", "description": "A picture inside a message"},
    {"name": "test_input_required_result_prompt", "description": "Asks before it answers"},
]


def form(**properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": list(properties)}


def choice(*values: str, **more: Any) -> Json:
    return {"type": "string", "enum": list(values), **more}


#: The forms of tools that ask a person while they run (session era).
FORMS: dict[str, Json] = {
    "test_elicitation": form(username={"type": "string"}, email={"type": "string"}),
    "test_elicitation_sep1034_defaults": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": choice("active", "inactive", "pending", default="active"),
            "verified": {"type": "boolean", "default": True},
        },
    },
    "test_elicitation_sep1330_enums": form(
        untitledSingle=choice("option1", "option2", "option3"),
        titledSingle={
            "type": "string",
            "oneOf": [{"const": "value1", "title": "First Option"}, {"const": "value2", "title": "Second Option"}],
        },
        legacyEnum=choice("opt1", "opt2", "opt3", enumNames=["Option One", "Option Two", "Option Three"]),
        untitledMulti={"type": "array", "items": choice("option1", "option2", "option3")},
        titledMulti={
            "type": "array",
            "items": {
                "anyOf": [{"const": "value1", "title": "First Choice"}, {"const": "value2", "title": "Second Choice"}]
            },
        },
    ),
}


def asks(message: str, **properties: Json) -> Json:
    return {"method": "elicitation/create", "params": {"message": message, "requestedSchema": form(**properties)}}


def samples(message: str, tokens: int) -> Json:
    content = {"role": "user", "content": text(message)}
    return {"method": "sampling/createMessage", "params": {"messages": [content], "maxTokens": tokens}}


STRING, BOOLEAN = {"type": "string"}, {"type": "boolean"}
ROOTS: Json = {"method": "roots/list", "params": {}}

#: The rounds of requests that come before the answer (stateless era), by tool or prompt.
ROUNDS: dict[str, list[Json]] = {
    "test_input_required_result_elicitation": [{"user_name": asks("What is your name?", name=STRING)}],
    "test_input_required_result_sampling": [{"capital_question": samples("What is the capital of France?", 100)}],
    "test_input_required_result_list_roots": [{"client_roots": ROOTS}],
    "test_input_required_result_request_state": [{"confirm": asks("Please confirm", ok=BOOLEAN)}],
    "test_input_required_result_multiple_inputs": [
        {
            "user_name": asks("What is your name?", name=STRING),
            "greeting": samples("Generate a greeting", 50),
            "client_roots": ROOTS,
        }
    ],
    "test_input_required_result_multi_round": [
        {"step1": asks("Step 1: What is your name?", name=STRING)},
        {"step2": asks("Step 2: What is your favorite color?", color=STRING)},
    ],
    "test_input_required_result_tampered_state": [{"confirm": asks("Please confirm", ok=BOOLEAN)}],
    "test_input_required_result_capabilities": [
        {"user_name": asks("What is your name?", name=STRING), "greeting": samples("Generate a greeting", 50)}
    ],
    "test_streaming_elicitation": [{"user_name": asks("What is your name?", name=STRING)}],
    "test_input_required_result_prompt": [{"user_context": asks("What context should it use?", context=STRING)}],
}
#: Those that carry no state: what they need is in the answers alone.
STATELESS = {
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_streaming_elicitation",
    "test_input_required_result_prompt",
}

NO_ARGUMENTS: Json = {"type": "object", "properties": {}}

#: Every tool by name, with the schema of its arguments.
TOOLS: dict[str, Json] = {
    **dict.fromkeys(CONTENT, NO_ARGUMENTS),
    **dict.fromkeys((name for name in ROUNDS if not name.endswith("_prompt")), NO_ARGUMENTS),
    **dict.fromkeys(FORMS, NO_ARGUMENTS),
    "test_elicitation": form(message=STRING),
    "test_sampling": form(prompt=STRING),
    "test_error_handling": NO_ARGUMENTS,
    "test_tool_with_logging": NO_ARGUMENTS,
    "test_logging_tool": NO_ARGUMENTS,
    "test_tool_with_progress": NO_ARGUMENTS,
    "test_reconnection": NO_ARGUMENTS,
    "test_missing_capability": NO_ARGUMENTS,
    "test_trigger_tool_change": NO_ARGUMENTS,
    "test_trigger_prompt_change": NO_ARGUMENTS,
    "test_custom_headers": form(region={"type": "string", "x-mcp-header": "Region"}),
    "json_schema_2020_12_tool": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": STRING, "city": STRING},
            }
        },
        "properties": {
            "name": STRING,
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": choice("phone", "email"),
            "phone": STRING,
            "email": STRING,
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    },
}
