"""What is said in the echo tests, as it is written: members of params and of results, per method."""

from __future__ import annotations

from typing import NamedTuple

from tests.echo.talking import SESSION, STATELESS

#: Shown by the upstream, written by the client as :data:`TOKEN`.
MAIL, TOKEN = "kim.odd@acme-corp.com", "[EMAIL_0]"

#: Members that no revision of the protocol knows, with everything a careless relay would spell anew.
ODD = (
    '"x-odd":{"z":1.10,"a":1e2,"tiny":5E-3,"minus":-0,"long":100000000000000000000,"nothing":null,"yes":true,'
    r'"nested":[[],{},"",{"b":null,"a":[0.0]}],"text":"\u00e9 \ud83d\ude00 \u2028 \"q\""},"0":0'
)
PLANTED = f'{ODD},"x-mail":"write to {MAIL} today"'
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
BLOCKS = ",".join(
    (
        f'{{"type":"text","text":"mail {MAIL}",{ODD}}}',
        f'{{"type":"image","data":"{PIXEL}","mimeType":"image/png",{ODD}}}',
        '{"type":"audio","data":"UklGRg==","mimeType":"audio/wav","annotations":{"priority":0.50}}',
        f'{{"type":"resource","resource":{{"uri":"mem://in","text":"{MAIL}",{ODD}}}}}',
        '{"type":"resource_link","uri":"mem://link","name":"n","size":12}',
        f'{{"type":"hologram","of":"{MAIL}","depth":1.50,"layers":[null,{{"at":1e0}}]}}',
    )
)


class Row(NamedTuple):
    """A request and its result, as members; and the eras that have it."""

    method: str
    params: str
    result: str
    eras: tuple[str, ...] = (SESSION, STATELESS)


COMPLETED = f'"completion":{{"values":["{MAIL}",""],"total":1e1,"hasMore":false,{ODD}}},{PLANTED}'

ROWS = [
    Row(
        "tools/call",
        f'"name":"t","arguments":{{{ODD},"to":"{TOKEN}"}},{ODD}',
        f'"content":[{BLOCKS}],"structuredContent":{{{PLANTED}}},"isError":false,{PLANTED}',
    ),
    Row(
        "prompts/get",
        f'"name":"p","arguments":{{"to":"{TOKEN}","b":""}},{ODD}',
        f'"description":"to {MAIL}","messages":[{{"role":"user","content":{{"type":"text","text":"{MAIL}",{ODD}}}}},'
        f'{{"role":"assistant","content":{{"type":"hologram","of":1.0}},{ODD}}}],{PLANTED}',
    ),
    Row(
        "resources/read",
        f'"uri":"mem://r",{ODD}',
        f'"contents":[{{"uri":"mem://r","mimeType":"text/x-new","text":"{MAIL}",{ODD}}},'
        f'{{"uri":"mem://r","blob":"{PIXEL}"}}],"ttlMs":60000,"cacheScope":"private",{PLANTED}',
    ),
    Row("resources/subscribe", f'"uri":"mem://r",{ODD}', ODD, (SESSION,)),
    Row("resources/unsubscribe", f'"uri":"mem://r",{ODD}', ODD, (SESSION,)),
    Row(
        "completion/complete",
        f'"ref":{{"type":"ref/prompt","name":"p"}},"argument":{{"name":"b","value":"{TOKEN}"}},{ODD}',
        COMPLETED,
    ),
    Row(
        "completion/complete",
        f'"ref":{{"type":"ref/resource","uri":"mem://{{id}}"}},"argument":{{"name":"id","value":"{TOKEN}",{ODD}}},'
        f'"context":{{"arguments":{{"b":"{TOKEN}"}}}}',
        COMPLETED,
    ),
]

#: Tools that do more than answer.
TOOLS = (
    "fails", "goes", "notes", "asks", "input", "large", "later", "changes", "visits", "withdraws", "waits",
)  # fmt: skip

#: The member and the items of each list.
LISTS = {
    "tools/list": (
        "tools",
        ",".join(
            f'{{"name":"{name}","inputSchema":{{"type":"object","x-new":1.0}},{PLANTED}}}' for name in ("t", *TOOLS)
        ),
    ),
    "prompts/list": ("prompts", f'{{"name":"p","arguments":[{{"name":"to","x":1.0}},{{"name":"b"}}],{PLANTED}}}'),
    "resources/list": ("resources", f'{{"uri":"mem://r","name":"r","size":1e1,{PLANTED}}}'),
    "resources/templates/list": ("resourceTemplates", f'{{"uriTemplate":"mem://{{id}}","name":"x",{PLANTED}}}'),
}

#: What an upstream says before its answer, in this order; ``$PROGRESS`` stands for the token of the request.
NOTES = [
    ("notifications/progress", f'"progressToken":$PROGRESS,"progress":0.10,"total":1e2,"message":"at {MAIL}",{ODD}'),
    ("notifications/message", f'"level":"info","logger":"l","data":{{"m":"{MAIL}",{ODD}}},{ODD}'),
    ("notifications/x-new", PLANTED),
    ("notifications/progress", f'"progressToken":$PROGRESS,"progress":0.20,{ODD}'),
]

#: What an upstream asks (session era), and what the client answers.
QUESTIONS = {
    "elicitation/create": (
        f'"message":"ask {MAIL}","requestedSchema":{{"type":"object","properties":{{"n":{{"type":"number"}}}}}},{ODD}',
        f'"action":"accept","content":{{"n":1.10,"to":"{TOKEN}"}},{ODD}',
    ),
    "sampling/createMessage": (
        f'"messages":[{{"role":"user","content":{{"type":"text","text":"{MAIL}",{ODD}}}}},'
        f'{{"role":"assistant","content":[{{"type":"tool_use","id":"u-1","name":"t","input":{{"to":"{MAIL}",{ODD}}}}}]}},'
        f'{{"role":"user","content":[{{"type":"tool_result","toolUseId":"u-1","content":[{BLOCKS}],'
        f'"structuredContent":{{{PLANTED}}},"isError":false,{ODD}}}]}}],"maxTokens":1e2,{PLANTED}',
        f'"role":"assistant","content":[{{"type":"text","text":"{TOKEN}",{ODD}}},'
        f'{{"type":"tool_use","id":"u-2","name":"t","input":{{"to":"{TOKEN}",{ODD}}},{ODD}}}],"model":"m",{ODD}',
    ),
    "roots/list": (ODD, f'"roots":[{{"uri":"file:///x","name":"{TOKEN}",{ODD}}}],{ODD}'),
}
ERROR = f'"code":-31999,"message":"no {MAIL}","data":{{{PLANTED}}},{ODD}'
#: A page to go to: its address is exact, whatever is in it.
PAGE = f"https://x.example/?login_hint={MAIL}&state=a%2Bb"
STATE = "opaque.kim.odd@acme-corp.com=="
#: Sends the user to a page (2025-11-25).
GOES = (
    '"code":-32042,"message":"go","data":{"elicitations":[{"mode":"url","elicitationId":"e-1",'
    f'"url":"{PAGE}","message":"ask {MAIL}",{ODD}}}]}}'
)
VISIT = f'"mode":"url","message":"ask {MAIL}","elicitationId":"e-1","url":"{PAGE}",{PLANTED}'
VISITED = f'"action":"accept",{ODD}'
WITHDRAWN = f'"reason":"for {MAIL}",{ODD}'

#: A task as both eras know it, but for how they name its life and the pause between two looks.
TASK = f'"taskId":"task-1","status":"working","statusMessage":"for {MAIL}","createdAt":"2026-11-30T12:00:00Z",{ODD}'
TASKS = [
    Row("tasks/get", f'"taskId":"task-1",{ODD}', TASK),
    Row("tasks/result", f'"taskId":"task-1",{ODD}', ROWS[0].result, (SESSION,)),
    Row("tasks/list", ODD, f'"tasks":[{{{TASK}}}]', (SESSION,)),
    Row("tasks/cancel", f'"taskId":"task-1",{ODD}', TASK),
    Row(
        "tasks/update",
        f'"taskId":"task-1","inputResponses":{{"q":{{"action":"accept","content":{{"to":"{TOKEN}"}},{ODD}}}}},{ODD}',
        TASK,
        (STATELESS,),
    ),
]

#: What an upstream says on its own account, by the eras that have it, and that is relayed as it is.
TOLD = {
    "notifications/resources/updated": (f'"uri":"mem://r","title":"of {MAIL}",{ODD}', (SESSION, STATELESS)),
    "notifications/elicitation/complete": (f'"elicitationId":"e-1",{PLANTED}', (SESSION,)),
    "notifications/tasks/status": (f'{TASK},"ttl":6e4', (SESSION,)),
    "notifications/tasks": (f'{TASK},"ttlMs":null,"result":{{{ROWS[0].result}}}', (STATELESS,)),
}
CHANGED = ("notifications/tools/list_changed", "notifications/prompts/list_changed",
           "notifications/resources/list_changed")  # fmt: skip
#: What a stateless client wants to hear of.
WANTED = (
    '"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["mem://r"],'
    '"taskIds":["task-1"]'
)
