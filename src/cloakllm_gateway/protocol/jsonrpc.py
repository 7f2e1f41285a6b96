"""JSON-RPC 2.0 messages: bytes to plain values and back, and what each message is.

Two promises make this more than a call to a JSON library.  Numbers keep their
spelling (``1e3``, ``0.10``, ``-0``, 64-bit ids), so that a message without
personal data leaves as it came.  And no input is fatal: damaged UTF-8, lone
surrogates, hostile nesting and broken syntax each end in a value or in
:class:`Malformed`, which carries the id to answer where one can be read.

There are two decoders.  ``msgspec`` is several times faster and serves nearly
every line; the standard library takes the lines that ``msgspec`` refuses (lone
surrogates, invalid UTF-8, integers of thousands of digits) or would change
(``-0``).  Both keep the last of duplicate keys: what is forwarded is always
serialised anew, so the others reach nobody.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, NamedTuple, NoReturn, TypeAlias

import msgspec

from cloakllm_gateway.errors import PeerError
from cloakllm_gateway.patterns import lazy

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603

#: How many bytes of the start and of the end of a broken line are read for its id.
HEAD: Final = 64 * 1024
TAIL: Final = 1024

Id: TypeAlias = str | int


class Number:
    """A JSON number whose spelling matters: it is its lexeme, and equal to the same lexeme only.

    ``decode`` makes one of every number that Python's ``int`` would spell
    differently.  Raises ``ValueError`` for anything but a JSON number, since
    the lexeme is written to messages verbatim.
    """

    __slots__ = ("_lexeme",)
    _lexeme: str

    def __init__(self, lexeme: str) -> None:
        if _NUMBER.fullmatch(lexeme) is None:
            raise ValueError("not a JSON number")
        _set_lexeme(self, lexeme)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a Number does not change")

    def __str__(self) -> str:
        return self._lexeme

    def __repr__(self) -> str:
        return f"Number({self._lexeme!r})"

    def __eq__(self, other: object) -> bool:
        return self._lexeme == other._lexeme if isinstance(other, Number) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._lexeme)

    def __reduce__(self) -> tuple[type[Number], tuple[str]]:
        return Number, (self._lexeme,)


_NUMBER = lazy(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_blank = object.__new__
_set_lexeme = Number.__dict__["_lexeme"].__set__


class Limits(NamedTuple):
    """What a message may cost: bytes of its line, levels of nesting, and steps.

    Steps are the sum of the depths of all values.  They bound what walking a
    message costs: a line within the other two limits may still hold 30 million
    numbers 200 levels down, whose paths would fill any memory.
    """

    max_bytes: int = 64 * 1024 * 1024
    max_depth: int = 200
    max_steps: int = 16_000_000


DEFAULT_LIMITS: Final = Limits()


class Malformed(PeerError):
    """A message that can't be processed; ``code`` and ``id`` are those of the error to answer with.

    ``id`` is ``None`` where the message has none, or none that can be read.
    """

    def __init__(self, code: int, what: str, id: Id | None = None) -> None:
        super().__init__(what)
        self.code = code
        self.id = id


# -- bytes to values -------------------------------------------------------------------------------


def decode(line: bytes, limits: Limits = DEFAULT_LIMITS) -> Any:
    """The value of one line: dict, list, str, int, :class:`Number`, bool or None.

    Invalid UTF-8 becomes U+FFFD, lone surrogates stay, the last of duplicate
    keys wins.  Raises :class:`Malformed` for text that is not JSON (NaN and
    Infinity are not), and for what is larger or deeper than ``limits``.
    """
    if len(line) > limits.max_bytes:
        raise Malformed(INVALID_REQUEST, f"the message is larger than {limits.max_bytes} bytes", _recovered(line))
    fault, code = "", INVALID_REQUEST
    try:
        value = _parse(line)
        fault = "" if _is_small(line, limits) else _excess(value, limits)
    except RecursionError:
        fault = _too_deep(limits)
    except ValueError:
        fault, code = "the message is not JSON", PARSE_ERROR
    if fault:  # raised out here so that no context keeps the parser's error, which holds the line
        raise Malformed(code, fault, _recovered(line))
    return value


def _recovered(line: bytes) -> Id | None:
    return recover_id(line[:HEAD], line[-TAIL:])


def _too_deep(limits: Limits) -> str:
    return f"the message is nested deeper than {limits.max_depth} levels"


def _parse(line: bytes) -> Any:
    try:
        value = _FAST.decode(line)
    except msgspec.DecodeError:
        pass  # what is wrong with it, if anything is, the exact decoder says
    else:
        # Whether it may hold the integer `-0`.  A long line is mostly text, and to look for a zero among few values is
        # quicker than to search it.
        if len(line) > _SHORT and not _may_hold_zero(value, len(line) // 64):
            return value
        if b"-0" not in line or _ZERO.search(line) is None:
            return value
    return _EXACT.decode(line.decode("utf-8", "replace"))


def _may_hold_zero(value: Any, most: int) -> bool:
    """Whether the integer 0 is among the values in ``value``, or they are more than ``most``."""
    nodes: list[Any] = [[value]]
    while nodes:
        node = nodes.pop()
        values = node.values() if type(node) is dict else node
        most -= len(values)
        if most < 0 or any(type(inner) is int and inner == 0 for inner in values):
            return True
        nodes += [inner for inner in values if type(inner) is dict or type(inner) is list]
    return False


def _number(lexeme: str) -> Number:
    """A number whose lexeme a parser has checked already: there may be a hundred thousand of them."""
    number = _blank(Number)
    _set_lexeme(number, lexeme)
    return number


def _integer(lexeme: str) -> int | Number:
    if lexeme == "-0":
        return _number(lexeme)
    try:
        return int(lexeme)
    except ValueError:  # more digits than the interpreter converts
        return _number(lexeme)


def _refuse(constant: str) -> NoReturn:
    raise ValueError("not a JSON number")


_FAST = msgspec.json.Decoder(float_hook=_number)
_EXACT = json.JSONDecoder(parse_float=_number, parse_int=_integer, parse_constant=_refuse)
#: Where msgspec would read the integer `-0` as `0`.  It may stand in a string: the exact decoder is merely slower.
_ZERO = lazy(rb"-0(?=[,\]}\s]|\Z)")


#: Bytes of a line in which brackets are counted in less time than values are walked.
_SHORT: Final = 65_536


def _is_small(line: bytes, limits: Limits) -> bool:
    """Whether a short line can't exceed the limits on its structure: by its brackets and commas, in strings or not.

    A long one is mostly text, and to walk its few values is quicker than to count.
    """
    size = len(line)
    if size > _SHORT:
        return False
    if size <= 2 * limits.max_depth and size * size <= limits.max_steps:
        return True  # a level takes two brackets, and there are fewer values than bytes
    containers = line.count(b"{") + line.count(b"[")
    members = containers + line.count(b",")
    return containers <= limits.max_depth and containers * members <= limits.max_steps


def _excess(value: Any, limits: Limits) -> str:
    """Which limit on its structure ``value`` exceeds, if any, level by level."""
    level = [value] if isinstance(value, (dict, list)) else []
    depth = steps = 0
    while level:
        depth += 1
        steps += depth * sum(map(len, level))
        if depth > limits.max_depth:
            return _too_deep(limits)
        if steps > limits.max_steps:
            return f"the values of the message are more than {limits.max_steps} steps away in all"
        level = [
            inner
            for node in level
            for inner in (node.values() if type(node) is dict else node)
            if type(inner) is dict or type(inner) is list
        ]
    return ""


# -- the id of a broken line -----------------------------------------------------------------------

_ID = rb'"id"\s*:\s*("(?:[^"\\\x00-\x1f]|\\.){0,256}"|-?(?:0|[1-9][0-9]{0,18}))'
_MEMBER = lazy(_ID + rb"\s*[,}]")
_LAST_MEMBER = lazy(rb"[,{]\s*" + _ID + rb"\s*\}\s*\Z")
_PIECE = lazy(rb'"(?:[^"\\]++|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)


def recover_id(head: bytes, tail: bytes) -> Id | None:
    """The id of the message that a broken line was meant to be, or ``None``.

    Looks for an ``id`` of the outermost object in the first ``HEAD`` bytes of
    the line, then for one that is the very last member in its last ``TAIL``
    bytes, where the TypeScript SDK writes it.
    """
    depth = 0
    for piece in _PIECE.finditer(head):
        match piece[0][:1]:
            case b"{" | b"[":
                depth += 1
            case b"}" | b"]":
                depth -= 1
            case _ if depth == 1:
                found = _MEMBER.match(head, piece.start())
                if found is not None:
                    return _id_value(found[1])
    found = _LAST_MEMBER.search(tail)
    return None if found is None else _id_value(found[1])


def _id_value(lexeme: bytes) -> Id | None:
    try:
        value = _EXACT.decode(lexeme.decode("utf-8", "replace"))
    except ValueError:
        return None
    return _id_of({"id": value})


# -- values to bytes -------------------------------------------------------------------------------


def encode(message: Any) -> bytes:
    """``message`` as one line without its line feed: compact, UTF-8, keys in their order.

    U+2028 and U+2029 are escaped, because some readers take them for line ends;
    so are lone surrogates, because UTF-8 has no form for them.
    """
    try:
        line = _ENCODER.encode(message)
    except UnicodeEncodeError:
        pieces: list[str] = []
        _write(message, pieces)
        line = "".join(pieces).encode()
    if b"\xe2" not in line:  # far faster than to look for three bytes, twice
        return line
    return line.replace(b"\xe2\x80\xa8", rb"\u2028").replace(b"\xe2\x80\xa9", rb"\u2029")


def _verbatim(value: object) -> msgspec.Raw:
    if isinstance(value, Number):
        return msgspec.Raw(value._lexeme)
    raise TypeError(f"not a JSON value: {type(value).__name__}")


_ENCODER = msgspec.json.Encoder(enc_hook=_verbatim)
_SURROGATE = lazy("[\ud800-\udfff]")


def _write(value: Any, pieces: list[str]) -> None:
    """Append the text of ``value``: the slow way, for messages with lone surrogates in them."""
    if isinstance(value, str):
        pieces.append(_literal(value))
    elif isinstance(value, dict):
        before = "{"
        for name, inner in value.items():
            pieces += (before, _literal(name), ":")
            _write(inner, pieces)
            before = ","
        pieces.append("}" if value else "{}")
    elif isinstance(value, list):
        before = "["
        for inner in value:
            pieces.append(before)
            _write(inner, pieces)
            before = ","
        pieces.append("]" if value else "[]")
    else:
        pieces.append(_ENCODER.encode(value).decode())


def _literal(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)


# -- what a message is -----------------------------------------------------------------------------


class Request(NamedTuple):
    """A call that is owed exactly one answer."""

    id: Id
    method: str
    params: dict[str, Any] | None = None


class Notification(NamedTuple):
    """A message that nobody answers."""

    method: str
    params: dict[str, Any] | None = None


class Response(NamedTuple):
    """The answer to a request that succeeded."""

    id: Id
    result: dict[str, Any]


class Failure(NamedTuple):
    """The answer to a request that failed; ``id`` is None where the peer could not read the request's."""

    id: Id | None
    error: dict[str, Any]


Message: TypeAlias = Request | Notification | Response | Failure


def classify(message: Any) -> Message:
    """What a decoded message is, by the keys it has.

    Raises :class:`Malformed` for everything that JSON-RPC 2.0 or MCP forbids:
    batches (gone since 2025-06-18), ids that are neither string nor integer,
    both or neither of result and error, and the like.
    """
    if isinstance(message, list):
        raise Malformed(INVALID_REQUEST, "batches are not supported")
    if not isinstance(message, dict):
        raise Malformed(INVALID_REQUEST, "the message is not an object")
    id = _id_of(message)
    if message.get("jsonrpc") != "2.0":
        raise Malformed(INVALID_REQUEST, 'the member "jsonrpc" is not "2.0"', id)
    if "method" in message:
        return _call(message, id)
    return _answer(message, id)


def _call(message: dict[str, Any], id: Id | None) -> Request | Notification:
    method, params = message["method"], message.get("params")
    if not isinstance(method, str):
        raise Malformed(INVALID_REQUEST, "the method is not a string", id)
    if "result" in message or "error" in message:
        raise Malformed(INVALID_REQUEST, "the message is both a call and an answer", id)
    if "id" in message and id is None:
        raise Malformed(INVALID_REQUEST, "the id is neither a string nor an integer")
    if params is not None and not isinstance(params, dict):
        raise Malformed(INVALID_PARAMS, "the params are not an object", id)
    return Notification(method, params) if id is None else Request(id, method, params)


def _answer(message: dict[str, Any], id: Id | None) -> Response | Failure:
    if ("result" in message) == ("error" in message):
        raise Malformed(INVALID_REQUEST, "the message is not exactly one of a call, a result and an error", id)
    if "error" in message:
        error = message["error"]
        if not isinstance(error, dict) or type(error.get("code")) is not int:
            raise Malformed(INVALID_REQUEST, "the error is not an object with an integer code", id)
        if not isinstance(error.get("message"), str):
            raise Malformed(INVALID_REQUEST, "the error has no message", id)
        if id is None and message.get("id") is not None:
            raise Malformed(INVALID_REQUEST, "the id is neither a string nor an integer")
        return Failure(id, error)
    if id is None:
        raise Malformed(INVALID_REQUEST, "the id is neither a string nor an integer")
    if not isinstance(message["result"], dict):
        raise Malformed(INVALID_REQUEST, "the result is not an object", id)
    return Response(id, message["result"])


def _id_of(message: dict[str, Any]) -> Id | None:
    """The id, if it is one that MCP allows; ``true`` is an ``int`` to Python and none to MCP."""
    id = message.get("id")
    return id if type(id) is str or type(id) is int else None


# -- building messages -----------------------------------------------------------------------------


def request(id: Id, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    call = {"jsonrpc": "2.0", "id": id, "method": method}
    return call if params is None else {**call, "params": params}


def notification(method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    call = {"jsonrpc": "2.0", "method": method}
    return call if params is None else {**call, "params": params}


def result(id: Id, result: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "result": result}


def failure(id: Id | None, code: int, message: str, data: Any = None) -> dict[str, Any]:
    error = {"code": code, "message": message} if data is None else {"code": code, "message": message, "data": data}
    return {"jsonrpc": "2.0", "id": id, "error": error}
