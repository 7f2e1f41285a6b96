"""A conversation with the core as a test reads it: events in with ``>>``, what leaves with ``<<``.

Detection and the store are the real ones; only processes and pipes are absent.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio

from cloakllm_gateway.core.events import (
    CLIENT,
    Assign,
    Assigned,
    AssignFailed,
    Compute,
    Computed,
    Connected,
    Disconnected,
    Effect,
    Elapsed,
    Event,
    Log,
    Received,
    Record,
    Resume,
    Resumed,
    Scan,
    ScanFailed,
    Scanned,
    Send,
    StartTimer,
    StopTimer,
    Timer,
)
from cloakllm_gateway.core.gateway import Gateway
from cloakllm_gateway.core.jobs import LARGE, never
from cloakllm_gateway.core.settings import Settings, UpstreamSettings
from cloakllm_gateway.detection.catalogue import CATALOGUE
from cloakllm_gateway.detection.engine import Detector
from cloakllm_gateway.detection.settings import Settings as DetectionSettings
from cloakllm_gateway.errors import DetectionError, VaultError
from cloakllm_gateway.protocol import jsonrpc
from cloakllm_gateway.shell.stores import MemoryStore, Options
from cloakllm_gateway.spans import Findings, Text
from cloakllm_gateway.vault.vault import Vault

_DETECTOR = Detector(DetectionSettings())

#: Characters below which texts are looked at without asking, where that is wanted.
LITTLE = 100


def upstream(name: str, **changes: Any) -> UpstreamSettings:
    return UpstreamSettings(**{"name": name, "prefix": name, "origin": f"{name}#0", **changes})


def settings(*upstreams: UpstreamSettings, **changes: Any) -> Settings:
    named = {u.name: u for u in upstreams or (upstream("crm"),)}
    return Settings(**{"upstreams": named, "categories": frozenset((*CATALOGUE, "LITERAL")), **changes})


class Conversation:
    """One gateway, its effects performed; ``sent`` is what left since the last look, as (peer, message)."""

    def __init__(
        self,
        settings: Settings,
        state_dir: Path | None = None,
        *,
        hold: bool = False,
        at_once: bool = False,
        large: int = LARGE,
    ) -> None:
        self.vault = Vault()
        self.gateway = Gateway(settings, self.vault, at_once=self._look_at_once if at_once else never, large=large)
        self.store = MemoryStore(Options(state_dir))
        self.sent: deque[tuple[str, dict[str, Any]]] = deque()
        self.effects: list[Effect] = []
        self.timers: dict[Timer, float] = {}
        self.held: deque[Event] = deque()
        self.broken_detection = self.broken_store = ""
        self.hold = hold

    def _look_at_once(self, texts: Sequence[Text]) -> Findings | None:
        if self.broken_detection:
            raise DetectionError(self.broken_detection)
        return _DETECTOR.look(texts) if sum(len(text.text) for text in texts) < LITTLE else None

    def tell(self, event: Event) -> Conversation:
        """One event, and everything that follows from it (answers of the shell are kept back with ``hold``)."""
        waiting = deque([event])
        while waiting:
            for effect in self.gateway.handle(waiting.popleft()):
                self.effects.append(effect)
                answer = self._perform(effect)
                if answer is not None:
                    (self.held if self.hold and not isinstance(answer, Resumed) else waiting).append(answer)
        return self

    def release(self, job: int) -> Conversation:
        """Let all answers of the shell for one job arrive; jobs count from the first message of the session."""
        while mine := [event for event in self.held if getattr(event, "job", None) == job]:
            self.held.remove(mine[0])
            self.tell(mine[0])
        return self

    def held_jobs(self) -> list[int]:
        """The jobs that wait for the shell, oldest first."""
        return list(dict.fromkeys(event.job for event in self.held if isinstance(event, Scanned | Assigned | Computed)))

    def _perform(self, effect: Effect) -> Event | None:
        match effect:
            case Send(peer, message):
                # Through bytes and back: what a peer would really read.
                self.sent.append((peer, jsonrpc.decode(jsonrpc.encode(message))))
            case Scan(job, _, texts):
                if self.broken_detection:
                    return ScanFailed(job, self.broken_detection)
                return Scanned(job, _DETECTOR.look(texts))
            case Compute(job, _, step, _):
                return Computed(job, step())
            case Assign():
                return self._assign(effect)
            case Resume(name, _):
                return Resumed(name)
            case StartTimer(timer, seconds):
                self.timers[timer] = seconds
            case StopTimer(timer):
                self.timers.pop(timer, None)
            case _:
                pass
        return None

    def _assign(self, effect: Assign) -> Assigned | AssignFailed:
        if self.broken_store:
            return AssignFailed(effect.job, self.broken_store)
        try:
            entries = anyio.run(self.store.assign, "test", effect.group, effect.origin, effect.spellings)
        except VaultError as error:
            return AssignFailed(effect.job, str(error))
        return Assigned(effect.job, entries)

    # -- the peers --------------------------------------------------------------------------------

    def client(self, message: dict[str, Any] | bytes) -> Conversation:
        return self.tell(Received(CLIENT, message if isinstance(message, bytes) else jsonrpc.encode(message)))

    def ask(self, id: str | int, method: str, params: dict[str, Any] | None = None) -> Conversation:
        return self.client(jsonrpc.request(id, method, params))

    def call(self, id: str | int, tool: str, arguments: dict[str, Any] | None = None, **more: Any) -> Conversation:
        return self.ask(id, "tools/call", {"name": tool, "arguments": arguments or {}, **more})

    def upstream(self, name: str, message: dict[str, Any] | bytes) -> Conversation:
        return self.tell(Received(name, message if isinstance(message, bytes) else jsonrpc.encode(message)))

    def answer(self, name: str, result: dict[str, Any]) -> Conversation:
        """``name`` answers the request it got last."""
        return self.upstream(name, jsonrpc.result(self.last_asked(name), result))

    def connect(self, name: str) -> Conversation:
        return self.tell(Connected(name))

    def disconnect(self, name: str, reason: str = "exited with status 1", *, final: bool = False) -> Conversation:
        return self.tell(Disconnected(name, reason, final))

    def elapse(self, timer: Timer) -> Conversation:
        self.timers.pop(timer)
        return self.tell(Elapsed(timer))

    # -- what left --------------------------------------------------------------------------------

    def last_asked(self, name: str) -> Any:
        """The id of the last request that ``name`` got; what it got is looked at with :meth:`take`."""
        asked = [
            e.message["id"]
            for e in self.effects
            if isinstance(e, Send) and e.peer == name and "method" in e.message and "id" in e.message
        ]
        return asked[-1]

    def take(self, peer: str = CLIENT) -> list[dict[str, Any]]:
        """The messages that ``peer`` got since the last look."""
        taken = [message for to, message in self.sent if to == peer]
        self.sent = deque((to, message) for to, message in self.sent if to != peer)
        return taken

    def only(self, peer: str = CLIENT) -> dict[str, Any]:
        """The one message that ``peer`` got since the last look."""
        (message,) = self.take(peer)
        return message

    def records(self, event: str) -> list[Record]:
        return [e for e in self.effects if isinstance(e, Record) and e.event == event]

    def logs(self, event: str) -> list[Log]:
        return [e for e in self.effects if isinstance(e, Log) and e.event == event]


HELLO = {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}, "roots": {}, "sampling": {}}}
SERVES = {
    "tools": {"listChanged": True},
    "prompts": {},
    "resources": {"subscribe": True},
    "logging": {},
    "completions": {},
}


def opened(
    settings: Settings,
    state_dir: Path | None = None,
    tools: Sequence[str] = ("look", "send"),
    *,
    at_once: bool = False,
    **serves: Any,
) -> Conversation:
    """A session behind its handshake, with ``tools`` listed from every upstream and nothing left to look at.

    ``serves`` are capabilities of the upstreams besides the usual ones.
    """
    talk = Conversation(settings, state_dir, at_once=at_once)
    for name in settings.upstreams:
        talk.connect(name)
    talk.ask("hello", "initialize", HELLO)
    for name in settings.upstreams:
        able, itself = {**SERVES, **serves}, {"name": name, "version": "1"}
        hello = {"protocolVersion": "2025-11-25", "capabilities": able, "serverInfo": itself}
        talk.answer(name, hello)
    talk.client(jsonrpc.notification("notifications/initialized"))
    talk.ask("tools", "tools/list")
    for name in settings.upstreams:
        talk.answer(name, {"tools": [{"name": tool, "inputSchema": {"type": "object"}} for tool in tools]})
    talk.sent.clear()
    return talk


def text_of(message: dict[str, Any]) -> str:
    """The text of a tool result."""
    text: str = message["result"]["content"][0]["text"]
    return text


def says(text: str, **more: Any) -> dict[str, Any]:
    """A tool result that says ``text``."""
    return {"content": [{"type": "text", "text": text}], **more}
