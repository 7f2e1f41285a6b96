"""Tools as the client knows them: relaxed schemas, results that fit them, and changes since it was told.

Strict clients hold a result against the ``outputSchema`` they were shown, and
a form against its ``requestedSchema``.  Both are relaxed so that tokens fit.

What a schema can't tell in advance is a number that is hidden for its shape,
under a key that proves nothing: relaxing every number would tell the model
nothing about any.  Such a result is given as text, marked ``isError``, which
clients do not hold against the schema; from then on the tool is advertised
with room for a token anywhere, and the client is told that the list changed.

A tool that is approved may become another one between the list and the call
(a *rug pull*).  So what the client was told last is remembered: calls are
judged by it, a change is recorded, and where the configuration says so, calls
wait until the client has been told.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from cloakllm_gateway.core import texts
from cloakllm_gateway.core.directory import declared_keys
from cloakllm_gateway.core.documentation import mentions_documentation
from cloakllm_gateway.core.events import Effect, Log, Record
from cloakllm_gateway.core.settings import Mode, Settings, ToolChanges, Treatment, UpstreamSettings
from cloakllm_gateway.core.treatments import tool_rules, treatments
from cloakllm_gateway.protocol import jsonrpc
from cloakllm_gateway.protocol.walk import strings
from cloakllm_gateway.vault import tokens


class Tools:
    """The schemas of tools as the client knows them; ``changed`` is called when it should ask for them again."""

    def __init__(self, settings: Settings, emit: Callable[[Effect], None], changed: Callable[[], None]) -> None:
        self._settings = settings
        self._emit = emit
        self._changed = changed
        self._listed: dict[str, Any] = {}
        self._told: dict[str, Any] = {}
        self._wide: set[str] = set()
        #: By exposed name: digests of the tools as their upstreams list them now, and as the client was told.
        self._current: dict[str, bytes] = {}
        self._pinned: dict[str, bytes] = {}
        self._keys: dict[str, frozenset[str]] = {}
        #: By upstream: its own names for its tools; and the patterns of rules that fit none.
        self._originals: dict[str, set[str]] = {}
        self._idle: set[tuple[str, str]] = set()

    def advertised(self, upstream: UpstreamSettings, original: str, tool: dict[str, Any]) -> dict[str, Any]:
        """A tool of a list, under the name the client knows and with texts made clean, as it may be shown.

        ``original`` is its upstream's own name for it.
        """
        self._originals.setdefault(upstream.name, set()).add(original)
        self._notice(upstream, tool)
        if not self._settings.enforces:
            return tool
        name, shown = tool["name"], dict(tool)
        if isinstance(tool.get("outputSchema"), dict):
            shown["outputSchema"] = self._listed[name] = self._output(upstream, name, original, tool["outputSchema"])
        else:
            self._listed.pop(name, None)
        if upstream.relax_input_schema and isinstance(tool.get("inputSchema"), dict):
            shown["inputSchema"] = _input(tool["inputSchema"])
        return shown

    def told(self, tools: list[dict[str, Any]]) -> None:
        """The client has been sent this list: this is what it holds results against."""
        self._told = {tool["name"]: tool["outputSchema"] for tool in tools if "outputSchema" in tool}
        self._keys = {tool["name"]: declared_keys(tool.get("inputSchema")) for tool in tools}
        self._pinned = {name: self._current[name] for name in self._keys if name in self._current}
        self._warn_of_idle_rules()

    def _warn_of_idle_rules(self) -> None:
        """A misspelt pattern protects nothing, and nobody would notice."""
        for name, originals in self._originals.items():
            upstream = self._settings.upstreams[name]
            fitting = {rules.glob for tool in originals for rules in tool_rules(upstream, tool)}
            for rules in upstream.tools:
                if rules.glob not in fitting and (name, rules.glob) not in self._idle:
                    self._idle.add((name, rules.glob))
                    self._emit(Log("warning", "rules_that_fit_no_tool", {"upstream": name, "tools": rules.glob}))

    def _notice(self, upstream: UpstreamSettings, tool: dict[str, Any]) -> None:
        """Record a tool that is no longer what the client was told, once for each change."""
        name, digest = tool["name"], hashlib.sha256(jsonrpc.encode(tool)).digest()
        if self._current.get(name) == digest:
            return
        self._current[name] = digest
        if self._pinned.get(name, digest) != digest:
            named = {"tool": name} if self._settings.enforces else {}  # what nobody made clean is in no log
            about = {"upstream": upstream.name, **named, "held": self.is_held(name)}
            self._emit(Record("tool_changed", about))
            self._emit(Log("warning", "tool_changed", about))

    def version(self, name: str) -> bytes:
        """What a call of a tool is meant for: the tool as the client was told of it last, else as it is; b"" if none.

        Opaque, to be compared by :meth:`is_held`.
        """
        return self._pinned.get(name) or self._current.get(name, b"")

    def is_held(self, name: str, approved: bytes = b"") -> bool:
        """Whether calls of a tool wait, because it has changed since the client was told of it.

        ``approved`` is the version that a call was made for which has waited itself.
        """
        holds = self._settings.tool_changes is ToolChanges.HOLD and self._settings.mode is Mode.ENFORCE
        version = approved or self._pinned.get(name, b"")
        return holds and version not in (b"", self._current.get(name))

    def declared(self, name: str) -> frozenset[str] | None:
        """The argument keys that a tool declared when the client was told of it; None if it never was."""
        return self._keys.get(name)

    def fitting(self, name: str, before: Any, after: Any) -> Any:
        """The result ``after`` of a call of the tool ``name`` as it may be sent; ``before`` is what the upstream said.

        Where that is a task, the result stands in it.
        """
        if not isinstance(after, dict) or not name:
            return after
        if isinstance(inner := after.get("result"), dict):
            fitting = self.fitting(name, before["result"], inner)
            return after if fitting is inner else {**after, "result": fitting}
        # A client that has not asked for the list may do so once it has the result.
        schema = self._told.get(name, self._listed.get(name))
        if schema is None or after is before or "structuredContent" not in after:
            return after
        from cloakllm_gateway.protocol.schemas import demands

        if demands(schema).admit(before["structuredContent"], after["structuredContent"]):
            return after
        self._emit(Log("info", "result_given_as_text", {"tool": name}))
        if name not in self._wide:
            self._wide.add(name)
            self._changed()
        return _as_text(after)

    def _output(self, upstream: UpstreamSettings, name: str, original: str, schema: dict[str, Any]) -> Any:
        from cloakllm_gateway.detection.keys import classify
        from cloakllm_gateway.protocol.schemas import relax

        rules = treatments(upstream, original)
        if name in self._wide or rules.fields is not None:
            return relax(schema, lambda _key: True, lambda _said: True)
        passing = {category for category, rule in rules.categories.items() if rule.how is Treatment.PASS}
        categories = self._settings.categories - passing
        return relax(
            schema,
            lambda key: not key or classify(key) in categories,
            lambda said: any(isinstance(text, str) and self._is_hidden(text) for _, _, text in strings(said)),
        )

    def _is_hidden(self, text: str) -> bool:
        """Whether a word of a schema, as it is shown, is one that results hide."""
        return mentions_documentation(text) or any(
            match.token.category in self._settings.categories for match in tokens.scan(text)
        )


def _as_text(result: dict[str, Any]) -> dict[str, Any]:
    structured = jsonrpc.encode(result["structuredContent"]).decode()
    content = result.get("content")
    said = [{"type": "text", "text": text} for text in (texts.GIVEN_AS_TEXT, structured)]
    kept = {name: value for name, value in result.items() if name != "structuredContent"}
    return {**kept, "content": [*(content if isinstance(content, list) else []), *said], "isError": True}


def _input(schema: dict[str, Any]) -> Any:
    """An ``inputSchema`` for clients that hold the model's arguments against it: strings may be tokens."""
    from cloakllm_gateway.protocol.schemas import relax

    def is_choice(said: Any) -> bool:
        return isinstance(said, list) and any(isinstance(word, str) for word in said)

    return relax(schema, lambda _key: False, is_choice, names=False)


def form(schema: Any) -> Any:
    """A form that a person fills in: strings may be tokens, and a number has no token for its default.

    Its choices stay, in tokens where they are personal: what is chosen goes
    back to the upstream as it was.  The types stay too, because the protocol
    knows simple ones only.
    """
    from cloakllm_gateway.protocol.schemas import relax

    relaxed = relax(schema, lambda _key: False, lambda _said: False, names=False)
    fields = relaxed.get("properties") if isinstance(relaxed, dict) else None
    if not isinstance(fields, dict):
        return relaxed
    cleaned = {name: _without_token(field) for name, field in fields.items()}
    return {**relaxed, "properties": cleaned}


def _without_token(field: Any) -> Any:
    if not isinstance(field, dict) or field.get("type") not in ("integer", "number"):
        return field
    return {name: value for name, value in field.items() if name != "default" or not isinstance(value, str)}
