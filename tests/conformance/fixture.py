"""A server that the official conformance suite can test: ``python -m tests.conformance.fixture [--port N]``.

With ``--port`` it speaks Streamable HTTP at ``/mcp`` of that port of the loopback interface, without it on standard
input and output; both eras either way.  It is built on the official Python SDK, so that what it passes is what a
server of that SDK can pass, and what is lost behind a gateway was lost by the gateway.
"""

from __future__ import annotations

import argparse
import hashlib
import hmac
import json
import secrets
import warnings
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
import mcp_types as types
import uvicorn
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, PromptsListChanged, ToolsListChanged
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from tests.conformance import answers
from tests.conformance.answers import Json

warnings.simplefilter("ignore", MCPDeprecationWarning)  # the session era is deprecated, and tested

Context = ServerRequestContext[Any, Any]
Params = types.CallToolRequestParams | types.GetPromptRequestParams

CAPABILITY_OF = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}
KEY = secrets.token_bytes(32)
BUS = InMemorySubscriptionBus()


def content(*said: str) -> Json:
    return {"content": [answers.text(one) for one in said]}


# -- rounds of requests before the answer


def sealed(state: Json) -> str:
    """A state that nobody else can make or change."""
    body = json.dumps(state, sort_keys=True)
    return f"{body.encode().hex()}.{hmac.new(KEY, body.encode(), hashlib.sha256).hexdigest()}"


def opened(text: str) -> Json:
    body, _, _ = text.partition(".")
    try:
        state = json.loads(bytes.fromhex(body))
    except ValueError:
        state = None
    if not isinstance(state, dict) or not hmac.compare_digest(sealed(state), text):
        raise MCPError(types.INVALID_PARAMS, "This requestState was not issued here")
    return state


def ask_first(context: Context, params: Params) -> Json | None:
    """What has to be asked before ``params.name`` can be answered; None once everything is there."""
    rounds = answers.ROUNDS[params.name]
    at = opened(params.request_state)["round"] if params.request_state is not None else 0
    given = params.input_responses or {}
    if at < len(rounds) and set(rounds[at]) <= set(given):
        at += 1
    if at == len(rounds):
        return None
    requests = {key: request for key, request in rounds[at].items() if declared(context, request["method"])}
    asked: Json = {"resultType": "input_required", "inputRequests": requests}
    if params.name not in answers.STATELESS:
        asked["requestState"] = sealed({"round": at, "name": params.name})
    return asked


def declared(context: Context, method: str) -> bool:
    capabilities = context.session.client_capabilities
    return capabilities is not None and getattr(capabilities, CAPABILITY_OF[method]) is not None


# -- tools that do more than answer

Tool = Callable[[Context, Mapping[str, Any]], Awaitable[Json]]


async def fail(_: Context, __: Mapping[str, Any]) -> Json:
    return {**content("This tool intentionally returns an error for testing"), "isError": True}


async def log(context: Context, _: Mapping[str, Any]) -> Json:
    for said in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await context.session.send_log_message("info", said, related_request_id=context.request_id)
        await anyio.sleep(0.05)
    return content("Logged three times")


async def report_progress(context: Context, _: Mapping[str, Any]) -> Json:
    for done in (0, 50, 100):
        await context.session.report_progress(done, 100, f"Completed step {done} of 100")
        await anyio.sleep(0.05)
    return content(str((context.meta or {}).get("progress_token")))


async def sample(context: Context, arguments: Mapping[str, Any]) -> Json:
    said = await context.session.create_message(
        [types.SamplingMessage(role="user", content=types.TextContent(text=arguments["prompt"]))],
        max_tokens=100,
        related_request_id=context.request_id,
    )
    return content(f"LLM response: {getattr(said.content, 'text', 'no text')}")


def elicit(name: str) -> Tool:
    async def tool(context: Context, arguments: Mapping[str, Any]) -> Json:
        message = arguments.get("message", "Please provide the following")
        said = await context.session.elicit_form(message, answers.FORMS[name], related_request_id=context.request_id)
        return content(f"Elicitation completed: action={said.action}, content={json.dumps(said.content)}")

    return tool


async def disconnect(context: Context, _: Mapping[str, Any]) -> Json:
    """Ends the stream of its own answer: the client has to come back for it."""
    if context.close_sse_stream is not None:
        await context.close_sse_stream()
    await anyio.sleep(0.2)
    return content("Reconnection test completed")


async def need_sampling(context: Context, _: Mapping[str, Any]) -> Json:
    if not declared(context, "sampling/createMessage"):
        raise MCPError(
            types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            "This tool needs sampling",
            {"requiredCapabilities": {"sampling": {}}},
        )
    return content("Sampling was declared")


async def change_tools(context: Context, _: Mapping[str, Any]) -> Json:
    await BUS.publish(ToolsListChanged())
    if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        await context.session.send_tool_list_changed()
    return content("The tools changed")


async def change_prompts(context: Context, _: Mapping[str, Any]) -> Json:
    await BUS.publish(PromptsListChanged())
    if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        await context.session.send_prompt_list_changed()
    return content("The prompts changed")


async def repeat(_: Context, arguments: Mapping[str, Any]) -> Json:
    return content(json.dumps(dict(arguments)))


DOING: dict[str, Tool] = {
    "test_error_handling": fail,
    "test_tool_with_logging": log,
    "test_logging_tool": log,
    "test_tool_with_progress": report_progress,
    "test_sampling": sample,
    **{name: elicit(name) for name in answers.FORMS},
    "test_reconnection": disconnect,
    "test_missing_capability": need_sampling,
    "test_trigger_tool_change": change_tools,
    "test_trigger_prompt_change": change_prompts,
    "test_custom_headers": repeat,
    "json_schema_2020_12_tool": repeat,
}


# -- requests


async def list_tools(_: Context, __: Any) -> Json:
    described = {name: name.replace("_", " ") for name in answers.TOOLS}
    return {
        "tools": [
            {"name": name, "description": described[name], "inputSchema": schema}
            for name, schema in answers.TOOLS.items()
        ]
    }


async def call_tool(context: Context, params: types.CallToolRequestParams) -> Json:
    if params.name in answers.CONTENT:
        return {"content": answers.CONTENT[params.name]}
    if params.name in answers.ROUNDS:
        return ask_first(context, params) or content(f"state-ok: {sorted(params.input_responses or ())}")
    if params.name not in DOING:
        raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}")
    return await DOING[params.name](context, params.arguments or {})


async def list_resources(_: Context, __: Any) -> Json:
    return {"resources": answers.RESOURCES}


async def list_templates(_: Context, __: Any) -> Json:
    return {"resourceTemplates": [answers.TEMPLATE]}


async def read(_: Context, params: types.ReadResourceRequestParams) -> Json:
    uri = str(params.uri)
    if uri in answers.CONTENTS:
        return {"contents": [{"uri": uri, **answers.CONTENTS[uri]}]}
    before, _, after = answers.TEMPLATE["uriTemplate"].partition("{id}")
    if uri.startswith(before) and uri.endswith(after) and len(uri) > len(before + after):
        id = uri.removeprefix(before).removesuffix(after)
        said = json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})
        return {"contents": [{"uri": uri, "mimeType": "application/json", "text": said}]}
    raise MCPError(types.INVALID_PARAMS, "Resource not found", {"uri": uri})


async def list_prompts(_: Context, __: Any) -> Json:
    return {"prompts": answers.PROMPTS}


async def get_prompt(context: Context, params: types.GetPromptRequestParams) -> Json:
    def messages(*blocks: Json) -> Json:
        return {"messages": [{"role": "user", "content": block} for block in blocks]}

    given = params.arguments or {}
    match params.name:
        case "test_simple_prompt":
            return messages(answers.text("This is a simple prompt for testing."))
        case "test_prompt_with_arguments":
            said = f"Prompt with arguments: arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'"
            return messages(answers.text(said))
        case "test_prompt_with_embedded_resource":
            resource = answers.embedded(given["resourceUri"], "Embedded resource content for testing.")
            return messages(resource, answers.text("Please process the embedded resource above."))
        case "test_prompt_with_image":
            return messages(answers.IMAGE, answers.text("Please analyze the image above."))
        case "test_input_required_result_prompt":
            return ask_first(context, params) or messages(answers.text("The context is there."))
    raise MCPError(types.INVALID_PARAMS, f"Unknown prompt: {params.name}")


async def complete(_: Context, params: types.CompleteRequestParams) -> Json:
    values = [value for value in ("paris", "park", "party") if value.startswith(params.argument.value)]
    return {"completion": {"values": values, "total": len(values), "hasMore": False}}


async def accept(_: Context, __: Any) -> Json:
    return {}


class Events(EventStore):
    """Every event that was sent, so that a client can come back for those it missed."""

    def __init__(self) -> None:
        self._events: list[tuple[str, types.JSONRPCMessage | None]] = []

    async def store_event(self, stream_id: str, message: types.JSONRPCMessage | None) -> str:
        self._events.append((stream_id, message))
        return str(len(self._events))

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        if not last_event_id.isdigit() or not 0 < int(last_event_id) <= len(self._events):
            return None
        stream, _ = self._events[int(last_event_id) - 1]
        for at, (of, message) in enumerate(self._events[int(last_event_id) :], int(last_event_id) + 1):
            if of == stream and message is not None:
                await send_callback(EventMessage(message, str(at)))
        return stream


Handler = Callable[[Context, Any], Awaitable[Json]]


def typed(model: type[types.Result], handler: Handler) -> Callable[[Context, Any], Awaitable[types.Result]]:
    """The SDK adds to its own models what an era demands, and to them only."""

    async def handle(context: Context, params: Any) -> types.Result:
        result = await handler(context, params)
        return (types.InputRequiredResult if "inputRequests" in result else model).model_validate(result)

    return handle


CACHED = ("tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read")


def server() -> Server[Any]:
    return Server(
        "conformance-fixture",
        version="1",
        cache_hints={method: CacheHint(60_000, "public") for method in CACHED},
        get_tool_input_schema=answers.TOOLS.get,
        on_list_tools=typed(types.ListToolsResult, list_tools),
        on_call_tool=typed(types.CallToolResult, call_tool),
        on_list_resources=typed(types.ListResourcesResult, list_resources),
        on_list_resource_templates=typed(types.ListResourceTemplatesResult, list_templates),
        on_read_resource=typed(types.ReadResourceResult, read),
        on_subscribe_resource=typed(types.EmptyResult, accept),
        on_unsubscribe_resource=typed(types.EmptyResult, accept),
        on_subscriptions_listen=ListenHandler(BUS),
        on_list_prompts=typed(types.ListPromptsResult, list_prompts),
        on_get_prompt=typed(types.GetPromptResult, get_prompt),
        on_completion=typed(types.CompleteResult, complete),
        on_set_logging_level=typed(types.EmptyResult, accept),
    )


async def serve_stdio() -> None:
    one = server()
    options = one.create_initialization_options(NotificationOptions(True, True, True))
    async with stdio_server() as (read_stream, write_stream):
        await one.run(read_stream, write_stream, options)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int)
    port = parser.parse_args().port
    if port is None:
        anyio.run(serve_stdio)
    else:
        app = server().streamable_http_app(event_store=Events(), retry_interval=100)
        uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")


if __name__ == "__main__":
    main()
