"""All texts that the gateway itself says to a client, an upstream or the model.

Fixed templates with names and numbers in their slots; never the text of a
message, never a restored value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from cloakllm_gateway.errors import GatewayError
from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.protocol import jsonrpc

#: Appended to the instructions: all that the model has to know about tokens.
INSTRUCTION = (
    "Tokens in square brackets, like [EMAIL_0], stand for real values that are hidden from you; "
    "copy them exactly, and the tools will receive the real values."
)

NOT_INITIALIZED = "The session has not been initialized: send initialize first"
ALREADY_INITIALIZED = "The session is initialized already"
DUPLICATE_ID = "A request with this id is still in flight: use another id"
TOO_MANY_PENDING = "Too many requests are in flight: wait for answers before sending more"
TOO_MANY_SUBSCRIPTIONS = "Too many subscriptions are open (limits.max_pending): end some before beginning more"
TOO_MANY_QUESTIONS = "Too many requests are waiting for the client: wait for answers before sending more"
UNKNOWN_METHOD = "The gateway does not relay this method"
NOT_OFFERED = "The client does not offer this, or the gateway's configuration does not let this upstream use it"
NOBODY_SERVES = "No upstream that is ready offers this. If one is missing, the log of the gateway says why"
NO_URI = "A resource is asked for by its uri, a string"
NO_ARGUMENTS = "The arguments are not an object"
NO_LEVEL = "The level is none of those of RFC 5424: debug, info, notice, warning, error, critical, alert, emergency"
INTERNAL_ERROR = "The gateway had an internal error; nothing of the request was passed on"
NOT_GRANTED = "The configuration does not let this upstream show pages (ui)"
NOTHING_SAID = "(no message)"
PAGE_LEFT_OUT = f"A page was left out here. {NOT_GRANTED}"
UNKNOWN_TASK = "No upstream has this task"
NO_VERSION = "Every request of this protocol version names it in _meta, with what the client can do"
IN_SESSION = "This connection has a session: requests of the version that knows none don't belong here"
UNKNOWN_VERSION = "The gateway does not speak this protocol version"
HEADERS = "The headers of the request do not repeat it"
UNKNOWN_STATE = (
    "This requestState is not one that the gateway gave for this request, or it is too old. "
    "Send the request again without it"
)
NOT_STATELESS = "The upstreams speak only protocol versions with a session: send initialize"
UNRECORDED = "The gateway can't write its audit log, so it passes nothing on (audit.on_error)"
UNRECORDED_ANSWER = f"{UNRECORDED}. A request that had reached its upstream may already have taken effect."
GIVEN_AS_TEXT = (
    "The tool has run; there is no need to call it again. Its output schema has no room for a token where a value had "
    "to be hidden, so the gateway gives the structured content as text:"
)
MAY_HAVE_TAKEN_EFFECT = "The request reached the upstream, so it may already have taken effect."

_NAME = lazy(r"[A-Za-z0-9_.-]{1,64}")


def held(tool: str) -> str:
    return (
        f"Refused by the gateway: the tool {tool} is no longer what it was when the tools were listed "
        "(tool_changes: hold). List the tools again and look at it before calling it"
    )


def unknown_name(kind: str, absent: Iterable[str]) -> str:
    """A name that nobody has is not repeated: it is whatever the client wrote; ``absent`` upstreams may have it."""
    return f"Unknown {kind}: use a name from the list{_unless(absent)}"


def unknown_resource(absent: Iterable[str]) -> str:
    return f"No upstream serves this resource: use a URI from the lists{_unless(absent)}"


def _unless(absent: Iterable[str]) -> str:
    names = ", ".join(absent)
    return (
        f". Upstreams that are not ready are missing there: {names}. The log of the gateway says why" if names else ""
    )


def gone(upstream: str) -> str:
    return f"The upstream {upstream} stopped before it answered. {MAY_HAVE_TAKEN_EFFECT}"


def unavailable(upstream: str, reason: str, *, final: bool) -> str:
    again = "It is not started again: its log says why" if final else "It is being started: try again in some seconds"
    return f"The upstream {upstream} is not available: {reason}. {again}"


def timed_out(upstream: str, seconds: float) -> str:
    return f"The upstream {upstream} did not answer within {seconds:g} seconds. {MAY_HAVE_TAKEN_EFFECT}"


def withheld(upstream: str, reason: str) -> str:
    return f"The gateway withheld the answer of {upstream}: {reason.removesuffix('.')}. {MAY_HAVE_TAKEN_EFFECT}"


def question_withheld(reason: str) -> str:
    return f"The gateway withheld this request: {reason}"


def answer_withheld(reason: str) -> str:
    return f"The gateway withheld what was answered: {reason}"


def overlong(peer: str, limit: int) -> str:
    return f"A message of {peer} is larger than the limit of {limit} bytes (limits.max_message_bytes)"


def malformed(upstream: str, fault: str) -> str:
    return f"The upstream {upstream} sent a malformed message ({fault}). {MAY_HAVE_TAKEN_EFFECT}"


def none_ready(states: str) -> str:
    return f"No upstream is ready: {states}"


def diverged(versions: str) -> str:
    return (
        f"The upstreams settled on different protocol versions: {versions}. "
        "Run them behind gateways of their own, or set bridge_versions to true"
    )


def no_question(upstream: str) -> str:
    return f"The upstream {upstream} asked for more too often, for too much, or for something that is no request"


def not_answerable(upstream: str) -> str:
    return f"The upstream {upstream} needs something that this client does not offer or the configuration forbids"


def not_answered(upstream: str) -> str:
    return f"The upstream {upstream} needed something from the client, which did not give it"


def tool_error(id: str | int, text: str) -> dict[str, Any]:
    """A failed tool call as the model sees it (MCP: tool execution errors are results)."""
    return jsonrpc.result(id, {"content": [{"type": "text", "text": text}], "isError": True})


def error(id: str | int, method: str, code: int, text: str) -> dict[str, Any]:
    """The answer to a request that failed: a result with ``isError`` for a tool call, else a JSON-RPC error."""
    return tool_error(id, text) if method == "tools/call" else jsonrpc.failure(id, code, text)


def approval(asked: Iterable[tuple[str, Iterable[str], str]], tool: str) -> str:
    """What a person is asked: categories, where they came from, where they would go; never a value."""
    lines = [
        f"{category} from {', '.join(sorted(name.partition('#')[0] for name in origins))} to {destination}"
        for category, origins, destination in asked
    ]
    said = f" with {tool}" if _NAME.fullmatch(tool) else ""
    return f"CloakLLM Gateway: the assistant wants to send real values{said}. Allow it?\n" + "\n".join(lines)


def broken_page(upstream: str, *, passes: bool) -> str:
    """What a person has to know who is sent to a page whose address was changed; ``passes``: exact_links is set."""
    what_to_do = (
        "exact_links passes only http and https addresses, and only to a client that says it opens such pages"
        if passes
        else f"If you trust {upstream} with it, set exact_links to true for {upstream} in the gateway's configuration, "
        "start the gateway again and repeat what you did"
    )
    return (
        "CloakLLM Gateway: the address of this page holds values that are hidden here, so that it hardly leads where "
        f"it should. {what_to_do}."
    )


def nobody_to_ask(destination: str, rules: Iterable[str]) -> str:
    """``rules`` want the consent: a flow goes before any that is added behind it, so it has to change."""
    named = sorted(set(rules))
    flows = [rule for rule in named if rule.startswith("flows[")]
    ways = [f"the action of {' and '.join(flows)} to allow"] if flows else []
    if len(flows) < len(named):
        ways.append(f"token_scope of {destination} to session, or add a flow")
    return (
        f"Refused by the gateway: values for {destination} need the consent of a person (rule: {', '.join(named)}), "
        f"and this client cannot ask one about this request. To allow it, set {' and '.join(ways)} in the configuration"
    )


NOT_ALLOWED = "Refused by the gateway: the person who was asked did not allow it"
DECLINED = f"{NOT_ALLOWED}. They are not asked about these values again in this session"


def raw_data(counts: Mapping[str, int], upstream: str) -> str:
    found = ", ".join(f"{count} {category}" for category, count in sorted(counts.items()))
    return (
        f"Refused by the gateway: the call holds personal data in clear ({found}) and raw_pii of {upstream} is block. "
        "Use the tokens you were shown"
    )


ANSWER_IN_CLEAR = "The gateway withheld what was answered: the configuration lets no personal data go there in clear"
RAW_DATA_UNKNOWN = (
    "Refused by the gateway: it could not be told whether the call holds personal data, and raw_pii is block"
)


def refusal(error: GatewayError) -> str:
    return f"Refused by the gateway: {error}"
