"""The handshake: one with the client, one with each upstream, and who is waited for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cloakllm_gateway.core import handshake, texts
from cloakllm_gateway.core.calls import Calls, is_ours
from cloakllm_gateway.core.events import Drop, Effect, Log, Record, Send, StartTimer, StopTimer, Timer
from cloakllm_gateway.core.jobs import Jobs, Work
from cloakllm_gateway.core.settings import Settings
from cloakllm_gateway.core.upstream import Phase, Upstream
from cloakllm_gateway.protocol import jsonrpc
from cloakllm_gateway.protocol.jsonrpc import INTERNAL_ERROR, Failure, Request, Response
from cloakllm_gateway.protocol.surface import SURFACE

STARTUP = Timer("startup")


class Greeting:
    """Answers ``initialize`` from the upstreams that are ready in time; a late one joins afterwards.

    ``answer`` and ``refuse`` reply to the client's request, ``opened`` is told
    when the session begins and ``joined`` which upstream came late or again.
    """

    def __init__(
        self,
        settings: Settings,
        upstreams: dict[str, Upstream],
        calls: Calls,
        jobs: Jobs,
        emit: Callable[[Effect], None],
        answer: Callable[[Request, dict[str, Any], list[Effect]], None],
        refuse: Callable[[Request, int, str], None],
        opened: Callable[[], None],
        joined: Callable[[Upstream], None],
    ) -> None:
        self._settings = settings
        self._upstreams = upstreams
        self._calls = calls
        self._jobs = jobs
        self._emit = emit
        self._answer = answer
        self._refuse = refuse
        self._opened = opened
        self._joined = joined
        self._request: Request | None = None
        self.agreed = ""
        self.capabilities: dict[str, Any] = {}

    @property
    def begun(self) -> bool:
        """Whether the client has said hello (and was not refused)."""
        return self._request is not None

    @property
    def client_capabilities(self) -> dict[str, Any]:
        offered = (self._request.params or {}).get("capabilities") if self._request else None
        return offered if isinstance(offered, dict) else {}

    # -- the upstreams ------------------------------------------------------------------------------

    def initialize(self, request: Request) -> None:
        """The client says hello: greet whoever is up, and wait for the others a while."""
        self._request = request
        self._emit(StartTimer(STARTUP, self._settings.startup_wait))
        for upstream in self._upstreams.values():
            if upstream.phase is Phase.UP:
                self._greet(upstream)
        self.settle()

    def connected(self, upstream: Upstream) -> None:
        upstream.phase = Phase.UP
        if self.begun:
            self._greet(upstream)

    def _greet(self, upstream: Upstream) -> None:
        upstream.phase = Phase.GREETING
        hello = dict((self._request.params or {}) if self._request else {})
        hello["protocolVersion"] = self.agreed or handshake.version_to_ask(hello.get("protocolVersion"))
        hello["capabilities"] = handshake.capabilities_towards(upstream.settings, self.client_capabilities)
        self._calls.send(
            upstream,
            "initialize",
            hello,
            lambda answer: self._greeted(upstream, answer),
            timeout=upstream.settings.startup_timeout,
        )

    def _greeted(self, upstream: Upstream, answer: Response | Failure) -> None:
        if isinstance(answer, Failure) and is_ours(answer):
            # It died or kept silent; the supervisor says what becomes of it.
            if upstream.phase is Phase.GREETING:
                self._emit(Drop(upstream.name, "it did not answer the handshake in time"))
            return
        hello = answer.result if isinstance(answer, Response) and isinstance(answer.result, dict) else {}
        version = hello.get("protocolVersion")
        if version not in handshake.VERSIONS:
            self._fail(upstream, "it refused the handshake or named no protocol version that the gateway speaks")
            return
        if self.agreed and version != self.agreed:
            self._fail(upstream, f"it speaks protocol version {version}, this session {self.agreed}")
            return
        upstream.phase, upstream.hello, upstream.version, upstream.reason = Phase.READY, hello, version, ""
        self._emit(Send(upstream.name, jsonrpc.notification("notifications/initialized")))
        self._emit(Record("upstream_start", {"upstream": upstream.name, "protocol": version}))
        if self.agreed:
            self._joined(upstream)
        else:
            self.settle()

    def _fail(self, upstream: Upstream, reason: str) -> None:
        upstream.phase, upstream.reason = Phase.FAILED, reason
        self._emit(Log("error", "upstream_failed", {"upstream": upstream.name, "reason": reason}))
        self._emit(Drop(upstream.name, reason))
        self.settle()

    # -- the client -----------------------------------------------------------------------------------

    def settle(self, *, timed_out: bool = False) -> None:
        """Answer the client once nobody is left to wait for, or the wait is over."""
        if self._request is None or self.agreed:
            return
        phases = [upstream.phase for upstream in self._upstreams.values()]
        if not timed_out and any(phase not in (Phase.READY, Phase.FAILED) for phase in phases):
            return
        ready = [upstream for upstream in self._upstreams.values() if upstream.phase is Phase.READY]
        versions = {upstream.version for upstream in ready}
        request = self._request
        if len(versions) != 1:
            self._emit(StopTimer(STARTUP))
            self._request = None
            text = texts.diverged(self._versions(ready)) if ready else texts.none_ready(self._states())
            self._refuse(request, INTERNAL_ERROR, text)
            return
        self._emit(StopTimer(STARTUP))
        self.agreed = versions.pop()
        for upstream in self._upstreams.values():
            if upstream.phase is not Phase.READY:
                about = {"upstream": upstream.name, "reason": upstream.reason or "it has not answered yet"}
                self._emit(Log("warning", "upstream_not_ready", about))
        self._collect_instructions(request, ready)

    def _states(self) -> str:
        return "; ".join(f"{u.name}: {u.reason or 'it has not answered yet'}" for u in self._upstreams.values())

    def _versions(self, ready: list[Upstream]) -> str:
        return ", ".join(f"{upstream.name} {upstream.version}" for upstream in ready)

    def _collect_instructions(self, request: Request, ready: list[Upstream]) -> None:
        """Make each upstream's greeting clean as what it is, then merge."""
        waiting = {upstream.name for upstream in ready}
        clean: dict[str, dict[str, Any]] = {}
        preceding: list[Effect] = []

        def arrived(upstream: Upstream) -> None:
            waiting.discard(upstream.name)
            if not waiting:
                self._answer(request, self._result(ready, clean), preceding)
                self._opened()

        def start(upstream: Upstream) -> None:
            def done(part: dict[str, Any], effects: list[Effect]) -> None:
                clean[upstream.name] = part
                preceding.extend(effects)
                arrived(upstream)

            part = {name: upstream.hello[name] for name in ("capabilities", "instructions") if name in upstream.hello}
            shape = SURFACE["initialize"].params
            self._jobs.start(Work(upstream, "initialize", part, shape, done, lambda _reason: arrived(upstream)))

        for upstream in ready:
            start(upstream)

    def _result(self, ready: list[Upstream], clean: dict[str, dict[str, Any]]) -> dict[str, Any]:
        late = any(upstream.phase is not Phase.READY for upstream in self._upstreams.values())
        declared = [
            (upstream.settings, capabilities)
            for upstream in ready
            if isinstance(capabilities := clean.get(upstream.name, {}).get("capabilities"), dict)
        ]
        self.capabilities = handshake.merged(declared, more_to_come=late)
        result: dict[str, Any] = {
            "protocolVersion": self.agreed,
            "capabilities": self.capabilities,
            "serverInfo": {"name": "cloakllm-gateway", "version": self._settings.version},
        }
        instructions = self._instructions(ready, clean)
        return {**result, "instructions": instructions} if instructions else result

    def _instructions(self, ready: list[Upstream], clean: dict[str, dict[str, Any]]) -> str:
        """Each upstream's under its name, so that none can speak in another's or in the gateway's."""
        parts = []
        for upstream in ready:
            said = clean.get(upstream.name, {}).get("instructions")
            if isinstance(said, str) and said:
                parts.append(f"{upstream.name}: {said}" if upstream.settings.prefix else said)
        if self._settings.enforces:
            parts.append(texts.INSTRUCTION)
        return "\n\n".join(parts)

    def announces(self, kind: str) -> bool:
        """Whether the client was told that the lists of ``kind`` may change."""
        declared = self.capabilities.get(kind)
        return isinstance(declared, dict) and declared.get("listChanged") is True
