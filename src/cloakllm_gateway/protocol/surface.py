"""The surface table: what every field of every MCP message is *for*.

This is the only module that knows MCP's field names.  Code that rewrites
messages asks it for a role and never looks at a name itself.

A *shape* is a role, a list of one shape, a dict of shapes, a union
(:class:`Tagged`, :class:`Marked`) or :class:`Nested` messages.  A field that no shape names is
``DATA``: what we do not recognise, we inspect, and we never restore into it.

Sources: the MCP schemas 2024-11-05 to 2025-11-25 and 2026-07-28, and the tasks
extension.  ``tests/protocol/test_surface.py`` walks every wire model of the
official Python SDK against this table and is red where a field has no row.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TypeAlias

from msgspec import Struct


class Role(Enum):
    """What a value is for, and therefore what may be done to it."""

    DATA = auto()  # to the model: detect and tokenize, keys and numbers too; to the upstream: as it is
    FLOW = auto()  # DATA that is read on from one block to the next: a value may go on there
    RESTORE = auto()  # DATA, and the one place where tokens become values on the way to the upstream
    RESTORE_OWN = auto()  # DATA, and tokens whose origin is the receiving upstream become values
    URI = auto()  # a resource's URI towards the model: DATA, or what the client knows this resource by
    BLOB = auto()  # base64 of a resource: textual content is decoded, sanitized and encoded
    LINK = auto()  # the page that a person is sent to: DATA, or exact where the configuration says so
    MEDIA = auto()  # base64 of an image or a sound: its bytes stay
    SCHEMA = auto()  # a JSON Schema: structure exact, texts as ADVERTISED, property names as NAME
    ADVERTISED = auto()  # text that describes a tool, a prompt or a field: rewritten only on a certain find
    HANDLE = auto()  # a cursor or id the peer must get back: exact, or a handle of the gateway's own
    NAME = auto()  # the name of a tool, prompt, argument, template: exact; an item whose name holds a find is dropped
    PROTOCOL = auto()  # vocabulary, numbers and flags fixed by the specification: exact


DATA, FLOW, RESTORE, RESTORE_OWN = Role.DATA, Role.FLOW, Role.RESTORE, Role.RESTORE_OWN
URI, BLOB, LINK, MEDIA, SCHEMA, ADVERTISED = (
    Role.URI, Role.BLOB, Role.LINK, Role.MEDIA, Role.SCHEMA, Role.ADVERTISED
)  # fmt: skip
HANDLE, NAME, PROTOCOL = Role.HANDLE, Role.NAME, Role.PROTOCOL


class Tagged(Struct, frozen=True):
    """A union whose member is named by the string under ``field``; an unknown name means ``otherwise``."""

    field: str
    cases: dict[str, Shape]
    otherwise: Shape


class Marked(Struct, frozen=True):
    """A union whose member is known by a field that only it has; none of them means ``otherwise``."""

    cases: dict[str, Shape]
    otherwise: Shape


class Nested(Enum):
    """A map of whole requests or of their results: what the stateless era's ``input_required`` holds.

    A request carries its method.  A result does not, so its shape is ``ANSWER``.
    """

    REQUESTS = auto()
    RESULTS = auto()


Shape: TypeAlias = "Role | list[Shape] | dict[str, Shape] | Tagged | Marked | Nested"


def own(shape: Shape, made: dict[int, Tagged] | None = None) -> Shape:
    """The same shape for the client's answer to an upstream's own request: what it says is RESTORE_OWN.

    ``made`` holds the unions that are done or being done: content holds content.
    """
    made = {} if made is None else made
    match shape:
        case Role():
            return RESTORE_OWN if shape in (DATA, FLOW, URI) else shape
        case list():
            return [own(shape[0], made)]
        case dict():
            return {name: inner if name == "_meta" else own(inner, made) for name, inner in shape.items()}
        case Tagged():
            if id(shape) not in made:
                cases: dict[str, Shape] = {}
                made[id(shape)] = Tagged(shape.field, cases, own(shape.otherwise, made))
                cases.update((tag, own(case, made)) for tag, case in shape.cases.items())
            return made[id(shape)]
        case Marked() | Nested():
            raise TypeError("answers hold no unions of messages")


ICONS: Shape = [{"src": DATA, "mimeType": PROTOCOL, "sizes": PROTOCOL, "theme": PROTOCOL}]
IMPLEMENTATION: Shape = {
    "name": DATA, "version": DATA, "title": DATA, "description": DATA, "websiteUrl": DATA, "icons": ICONS,
}  # fmt: skip
META: dict[str, Shape] = {
    "io.modelcontextprotocol/clientInfo": IMPLEMENTATION,
    "io.modelcontextprotocol/serverInfo": IMPLEMENTATION,
    "progressToken": HANDLE,
    "io.modelcontextprotocol/subscriptionId": HANDLE,
    "io.modelcontextprotocol/related-task": {"taskId": HANDLE},
    "io.modelcontextprotocol/protocolVersion": PROTOCOL,
    "io.modelcontextprotocol/clientCapabilities": PROTOCOL,
    "io.modelcontextprotocol/logLevel": PROTOCOL,
}
ANNOTATIONS: Shape = {"audience": PROTOCOL, "priority": PROTOCOL, "lastModified": PROTOCOL}
LISTED: dict[str, Shape] = {"icons": ICONS, "_meta": META}
CONTENTS: Shape = {"uri": URI, "mimeType": PROTOCOL, "text": FLOW, "blob": BLOB, "_meta": META}
RESOURCE: dict[str, Shape] = {
    **LISTED, "uri": URI, "name": DATA, "title": DATA, "description": DATA,
    "mimeType": PROTOCOL, "size": PROTOCOL, "annotations": ANNOTATIONS,
}  # fmt: skip
TEMPLATE: Shape = {**RESOURCE, "uriTemplate": NAME}
_BLOCK: dict[str, Shape] = {"type": PROTOCOL, "annotations": ANNOTATIONS, "_meta": META}
_MEDIA: Shape = {**_BLOCK, "data": MEDIA, "mimeType": PROTOCOL}
_CASES: dict[str, Shape] = {
    "text": {**_BLOCK, "text": FLOW},
    "image": _MEDIA,
    "audio": _MEDIA,
    "resource": {**_BLOCK, "resource": CONTENTS},
    "resource_link": {**_BLOCK, **RESOURCE},
    "tool_use": {**_BLOCK, "id": HANDLE, "name": DATA, "input": DATA},
}
#: One content block.  A type that does not exist yet is DATA throughout.
CONTENT = Tagged("type", _CASES, {"type": DATA})
_CASES["tool_result"] = {
    **_BLOCK, "toolUseId": HANDLE, "content": [CONTENT], "structuredContent": DATA, "isError": PROTOCOL,
}  # fmt: skip
TOOL: Shape = {
    **LISTED, "name": NAME, "title": ADVERTISED, "description": ADVERTISED,
    "inputSchema": SCHEMA, "outputSchema": SCHEMA, "execution": {"taskSupport": PROTOCOL},
    "annotations": {"title": ADVERTISED, "readOnlyHint": PROTOCOL, "destructiveHint": PROTOCOL,
                    "idempotentHint": PROTOCOL, "openWorldHint": PROTOCOL},
}  # fmt: skip
PROMPT: Shape = {
    **LISTED, "name": NAME, "title": ADVERTISED, "description": ADVERTISED,
    "arguments": [{"name": NAME, "title": ADVERTISED, "description": ADVERTISED, "required": PROTOCOL}],
}  # fmt: skip
MESSAGE: dict[str, Shape] = {"role": PROTOCOL, "content": CONTENT, "_meta": META}
RESULT: dict[str, Shape] = {"_meta": META, "resultType": PROTOCOL}
PAGE: dict[str, Shape] = {"_meta": META, "cursor": HANDLE}
PAGED: dict[str, Shape] = {**RESULT, "nextCursor": HANDLE, "ttlMs": PROTOCOL, "cacheScope": PROTOCOL}
TASK_WISH: Shape = {"ttl": PROTOCOL}
TASK: dict[str, Shape] = {
    "taskId": HANDLE, "status": PROTOCOL, "statusMessage": DATA, "createdAt": PROTOCOL, "lastUpdatedAt": PROTOCOL,
    "ttl": PROTOCOL, "pollInterval": PROTOCOL, "ttlMs": PROTOCOL, "pollIntervalMs": PROTOCOL,
}  # fmt: skip
RETRY: dict[str, Shape] = {"_meta": META, "inputResponses": Nested.RESULTS, "requestState": HANDLE, "task": TASK_WISH}
ASK: dict[str, Shape] = {**RESULT, "inputRequests": Nested.REQUESTS, "requestState": HANDLE, "task": TASK}
HELLO: dict[str, Shape] = {
    "_meta": META, "protocolVersion": PROTOCOL, "supportedVersions": PROTOCOL, "capabilities": PROTOCOL,
    "clientInfo": IMPLEMENTATION, "serverInfo": IMPLEMENTATION, "instructions": DATA,
}  # fmt: skip
EMPTY: dict[str, Shape] = {"_meta": META}
#: What a tool gives at once, or the task (its members, in the stateless era) that will.
CALL_RESULT: dict[str, Shape] = {**ASK, **TASK, "content": [CONTENT], "structuredContent": DATA, "isError": PROTOCOL}
SUBSCRIPTIONS: dict[str, Shape] = {
    "toolsListChanged": PROTOCOL, "promptsListChanged": PROTOCOL, "resourcesListChanged": PROTOCOL,
    "resourceSubscriptions": [URI], "taskIds": [HANDLE],
}  # fmt: skip
_FORM: dict[str, Shape] = {
    "_meta": META, "task": TASK_WISH, "mode": PROTOCOL, "message": DATA, "requestedSchema": SCHEMA, "url": DATA,
    "elicitationId": HANDLE,
}  # fmt: skip
#: What a person is asked: to fill in a form, or to go to a page, whose address is read by a browser and by no model.
ELICITATION = Tagged("mode", {"form": _FORM, "url": {**_FORM, "url": LINK}}, _FORM)
#: The body of any JSON-RPC error: everything but the code is data.
ERROR: dict[str, Shape] = {"code": PROTOCOL, "message": DATA, "data": DATA}
#: The body of the error -32042 (2025-11-25): a person has to go to these pages first.
SENT_ELSEWHERE: dict[str, Shape] = {**ERROR, "data": {"elicitations": [ELICITATION]}}


class Row(Struct, frozen=True):
    """One method: the shapes of its params and of its result (``None`` for a notification)."""

    params: Shape
    result: Shape | None = None


#: Every method the gateway knows, both eras; a field that one era lacks costs nothing.
SURFACE: dict[str, Row] = {
    # -- the client asks
    "initialize": Row(HELLO, {**RESULT, **HELLO}),
    "server/discover": Row(EMPTY, {**PAGED, **HELLO}),
    "ping": Row(EMPTY, RESULT),
    "logging/setLevel": Row({"_meta": META, "level": PROTOCOL}, RESULT),
    "tools/list": Row(PAGE, {**PAGED, "tools": [TOOL]}),
    "tools/call": Row({**RETRY, "name": NAME, "arguments": RESTORE}, CALL_RESULT),
    "prompts/list": Row(PAGE, {**PAGED, "prompts": [PROMPT]}),
    "prompts/get": Row(
        {**RETRY, "name": NAME, "arguments": RESTORE}, {**ASK, "description": DATA, "messages": [MESSAGE]}
    ),
    "resources/list": Row(PAGE, {**PAGED, "resources": [RESOURCE]}),
    "resources/templates/list": Row(PAGE, {**PAGED, "resourceTemplates": [TEMPLATE]}),
    "resources/read": Row({**RETRY, "uri": RESTORE}, {**PAGED, **ASK, "contents": [CONTENTS]}),
    "resources/subscribe": Row({"_meta": META, "uri": RESTORE}, RESULT),
    "resources/unsubscribe": Row({"_meta": META, "uri": RESTORE}, RESULT),
    "subscriptions/listen": Row(
        {"_meta": META, "notifications": {**SUBSCRIPTIONS, "resourceSubscriptions": [RESTORE]}}, RESULT
    ),
    "completion/complete": Row(
        {"_meta": META, "ref": {"type": PROTOCOL, "name": NAME, "uri": RESTORE_OWN, "title": DATA},
         "argument": {"name": NAME, "value": RESTORE_OWN}, "context": {"arguments": RESTORE_OWN}},
        {**RESULT, "completion": {"values": [DATA], "total": PROTOCOL, "hasMore": PROTOCOL}},
    ),
    # -- tasks, asked by either side (2025-11-25), and by the client (the 2026 extension)
    "tasks/get": Row({"_meta": META, "taskId": HANDLE}, {**CALL_RESULT, "result": CALL_RESULT, "error": ERROR}),
    "tasks/result": Row({"_meta": META, "taskId": HANDLE}, CALL_RESULT),
    "tasks/list": Row(PAGE, {**PAGED, "tasks": [TASK]}),
    "tasks/cancel": Row({"_meta": META, "taskId": HANDLE}, {**RESULT, **TASK}),
    "tasks/update": Row({"_meta": META, "taskId": HANDLE, "inputResponses": Nested.RESULTS}, {**RESULT, **TASK}),
    # -- the upstream asks, or asks inside an input_required result
    "roots/list": Row(EMPTY, {**RESULT, "roots": [{"uri": RESTORE_OWN, "name": RESTORE_OWN, "_meta": META}]}),
    "sampling/createMessage": Row(
        {"_meta": META, "task": TASK_WISH, "messages": [MESSAGE], "systemPrompt": DATA, "tools": [TOOL],
         "metadata": DATA,
         "modelPreferences": {"hints": [{"name": DATA}], "costPriority": PROTOCOL, "speedPriority": PROTOCOL,
                              "intelligencePriority": PROTOCOL},
         "includeContext": PROTOCOL, "temperature": PROTOCOL, "maxTokens": PROTOCOL, "stopSequences": [DATA],
         "toolChoice": {"mode": PROTOCOL}},
        {**RESULT, "task": TASK, "role": PROTOCOL, "content": own(CONTENT), "model": DATA, "stopReason": DATA},
    ),
    "elicitation/create": Row(
        ELICITATION, {**RESULT, "task": TASK, "action": PROTOCOL, "content": RESTORE_OWN}
    ),
    # -- notifications
    "notifications/cancelled": Row({"_meta": META, "requestId": HANDLE, "reason": DATA}),
    "notifications/progress": Row(
        {"_meta": META, "progressToken": HANDLE, "progress": PROTOCOL, "total": PROTOCOL, "message": DATA}
    ),
    "notifications/message": Row({"_meta": META, "level": PROTOCOL, "logger": DATA, "data": DATA}),
    "notifications/initialized": Row(EMPTY),
    "notifications/roots/list_changed": Row(EMPTY),
    "notifications/tools/list_changed": Row(EMPTY),
    "notifications/prompts/list_changed": Row(EMPTY),
    "notifications/resources/list_changed": Row(EMPTY),
    "notifications/resources/updated": Row({"_meta": META, "uri": URI, "title": DATA}),
    "notifications/elicitation/complete": Row({"_meta": META, "elicitationId": HANDLE}),
    "notifications/subscriptions/acknowledged": Row({"_meta": META, "notifications": SUBSCRIPTIONS}),
    "notifications/tasks/status": Row({"_meta": META, **TASK}),
    "notifications/tasks": Row(
        {"_meta": META, **TASK, "inputRequests": Nested.REQUESTS, "result": CALL_RESULT, "error": ERROR}
    ),
}  # fmt: skip


def _result(method: str) -> Shape:
    shape = SURFACE[method].result
    assert shape is not None
    return shape


#: What a client answers an upstream, where the answer does not stand beside its request.
ANSWER = Marked(
    {"action": _result("elicitation/create"),
     "roots": _result("roots/list"),
     "role": _result("sampling/createMessage")},
    RESULT,
)  # fmt: skip


def _words() -> frozenset[str]:
    """Every field name of the table."""
    found: set[str] = set(SURFACE)
    seen: set[int] = set()
    stack: list[Shape | None] = [row for rows in SURFACE.values() for row in (rows.params, rows.result)] + [
        SENT_ELSEWHERE,
        ANSWER,
    ]
    while stack:
        shape = stack.pop()
        if id(shape) in seen:
            continue
        seen.add(id(shape))
        match shape:
            case dict():
                found.update(shape)
                stack.extend(shape.values())
            case list():
                stack.extend(shape)
            case Tagged(field, cases, otherwise):
                found.update((field, *cases))
                stack.extend((*cases.values(), otherwise))
            case Marked(cases, otherwise):
                found.update(cases)
                stack.extend((*cases.values(), otherwise))
    return frozenset(found)


#: What the protocol itself says: its field names, and the vocabulary of its PROTOCOL fields and of JSON Schema.
#: Whoever sends one of these as a "user name" or a "password" must not make it a value that is hidden elsewhere.
WORDS = _words() | frozenset(
    """
    accept allServers array assistant audio auto boolean cancel cancelled complete completed const dark debug decline
    default definitions description emergency alert critical enum enumNames error examples exclusiveMaximum
    exclusiveMinimum failed file form format forbidden high image info input_required integer items jsonrpc light low
    maxItems maxLength maxProperties maximum medium minItems minLength minProperties minimum model multipleOf none
    not notice null number object oneOf allOf anyOf optional pattern patternProperties private properties
    additionalProperties public ref/prompt ref/resource required resource resource_link string task text thisServer
    title tool tool_result tool_use type uniqueItems url user warning working endTurn maxTokens stopSequence toolUse
    method params result id code data message jsonrpc 2.0 2024-11-05 2025-03-26 2025-06-18 2025-11-25 2026-07-28
    """.split()
)
