"""What is refused before anything is read: requests that no client of ours would send.

A web page can make a browser send requests to any address: with its own name in
``Origin``, without a token, as ``text/plain``; or, having pointed its own name
at this machine (DNS rebinding), with its name in ``Host``.  Source: MCP
2025-11-25, transports, security warning.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.shell.front.asgi import EVENT_STREAM, JSON, Http, Refusal

METHODS: Final = ("POST", "GET", "DELETE")

_PLAIN = lazy(r"[\t -~]*")


#: Bytes of the value of a header that is passed on.
LONGEST_PASSED: Final = 8192


class Rules(NamedTuple):
    """What is let in; ``hosts`` None where there is no network between the client and the gateway.

    ``passed`` are the headers, names in lower case, that some upstream is passed.
    """

    path: bytes
    hosts: frozenset[str] | None
    origins: frozenset[str]
    passed: frozenset[str] = frozenset()


def _check_host(http: Http, rules: Rules) -> None:
    host = http.header("host")
    if rules.hosts is not None and (host or "").lower() not in rules.hosts:
        raise Refusal(403, "This host name is not one of the gateway (listen.hosts)")


def _check_origin(http: Http, rules: Rules) -> None:
    origin = http.header("origin")
    if origin is not None and origin.lower() not in rules.origins:
        raise Refusal(403, "Requests of this origin are not served (listen.origins)")


def _check_path(http: Http, rules: Rules) -> None:
    if http.path != rules.path:
        raise Refusal(404, f"There is nothing at this path: the gateway is at {rules.path.decode()} (listen.path)")


def _check_method(http: Http, _rules: Rules) -> None:
    if http.method not in METHODS:
        raise Refusal(405, "This method is not served", headers={"allow": ", ".join(METHODS)})


def _check_length(http: Http, _rules: Rules) -> None:
    """One of them is what some proxy before us went by (RFC 9112, 6.3): what it took for the end may be no end here."""
    if http.header("content-length") is not None and http.header_list("transfer-encoding") is not None:
        raise Refusal(400, "The length of the body is said in two ways", headers={"connection": "close"})


_CHECKS: Final[tuple[Callable[[Http, Rules], None], ...]] = (
    _check_length,
    _check_host,
    _check_origin,
    _check_path,
    _check_method,
)


def admit(http: Http, rules: Rules) -> None:
    """Raises :class:`Refusal`."""
    for check in _CHECKS:
        check(http, rules)


def check_form(http: Http) -> None:
    """A message has to be JSON as it is, and its sender ready for both kinds of answer.  Raises :class:`Refusal`."""
    kind = (http.header("content-type") or "").partition(";")[0].strip().lower()
    if kind != JSON:
        raise Refusal(415, "The content type has to be application/json")
    if (http.header("content-encoding") or "identity").lower() != "identity":
        raise Refusal(415, "The body may not be compressed")
    if not (accepts(http, JSON) and accepts(http, EVENT_STREAM)):
        raise Refusal(406, "The client has to accept application/json and text/event-stream")


def passed(http: Http, rules: Rules) -> dict[str, str]:
    """Those headers of a request that some upstream is passed, as they are.

    Raises :class:`Refusal` for one that comes twice or can't be sent again the same.  One that the client says
    is about its connection ends with that (RFC 9110, 7.6.1).
    """
    found: dict[str, str] = {}
    ends = {name.strip() for name in (http.header_list("connection") or "").lower().split(",")}
    for name in rules.passed - ends:
        value = http.header(name)
        if value is None:
            continue
        if len(value) > LONGEST_PASSED:
            raise Refusal(431, f"The header {name} is longer than {LONGEST_PASSED} bytes, too long to be passed on")
        if not _PLAIN.fullmatch(value):
            raise Refusal(400, f"The header {name} holds other characters than printable ASCII")
        found[name] = value
    return found


def check_reader(http: Http) -> None:
    """Raises :class:`Refusal` where the client does not want an event stream."""
    if not accepts(http, EVENT_STREAM):
        raise Refusal(406, "The client has to accept text/event-stream")


def prefers_stream(http: Http) -> bool:
    """Whether a client that takes both kinds of answer names the event stream first."""
    header = (http.header_list("accept") or "").lower()
    return 0 <= header.find(EVENT_STREAM) < header.find(JSON)


def accepts(http: Http, kind: str) -> bool:
    """Whether the client takes ``kind``; no ``Accept`` at all means anything (RFC 9110, 12.5.1)."""
    header = http.header_list("accept")
    if header is None:
        return True
    ranges = {kind, kind.partition("/")[0] + "/*", "*/*"}
    for item in header.lower().split(","):
        media, *parameters = (part.strip() for part in item.split(";"))
        if media in ranges and not any(_is_none(parameter) for parameter in parameters):
            return True
    return False


def _is_none(parameter: str) -> bool:
    """Whether a parameter of ``Accept`` says: not this one."""
    name, _, weight = parameter.partition("=")
    return name.strip() == "q" and weight.strip().rstrip("0").rstrip(".") in ("", "0")
