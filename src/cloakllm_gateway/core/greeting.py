"""The handshake with the client and with each upstream: eras, versions, capabilities, and who is waited for.

An upstream is greeted in the era that the client speaks, and in the other one
if it has only that: a client's session can have stateless upstreams, and a
stateless client upstreams with a session.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from cloakllm_gateway.core import capabilities, texts
from cloakllm_gateway.core.calls import Calls, is_ours
from cloakllm_gateway.core.events import Drop, Effect, Log, Record, Send, StartTimer, StopTimer, Timer
from cloakllm_gateway.core.jobs import Jobs, Work
from cloakllm_gateway.core.settings import Settings
from cloakllm_gateway.core.upstream import NOT_STARTED, Call, Phase, Upstream
from cloakllm_gateway.protocol import eras, jsonrpc
from cloakllm_gateway.protocol.eras import Client, Era
from cloakllm_gateway.protocol.jsonrpc import Failure, Response
from cloakllm_gateway.protocol.surface import SURFACE

STARTUP = Timer("startup")

#: Seconds that an upstream may think about an era it may not know; some keep silent.
PROBE = 10.0

#: An upstream that has ended so often before it was ready is not waited for, where another one is ready.
HOPELESS = 2

#: Lines of banners and logs that an upstream may print in place of messages before it is ready; npm prints some dozens.
NOISE = 1000

_SILENT = "it has not answered the handshake: it may need longer (startup_timeout, startup_wait), or be no MCP server"
NO_MCP = (
    f"it is no MCP server: more than {NOISE} lines that are no messages came from it before the handshake. See whether "
    "its command is the right one; what it has to say to people belongs on standard error"
)
REFUSED = "it refused the handshake or named no protocol version that the gateway speaks"


class Greeting:
    """Greets the upstreams once a client has spoken, and waits for them as long as ``startup_wait`` says.

    ``settled`` is called when the session can begin, with the effects that
    have to precede it; ``failed`` with the reason why it can't; ``joined`` with
    each upstream that becomes ready after the beginning.
    """

    def __init__(
        self,
        settings: Settings,
        upstreams: dict[str, Upstream],
        calls: Calls,
        jobs: Jobs,
        emit: Callable[[Effect], None],
        settled: Callable[[list[Effect]], None],
        failed: Callable[[str], None],
        joined: Callable[[Upstream], None],
    ) -> None:
        self._settings = settings
        self._upstreams = upstreams
        self._calls = calls
        self._jobs = jobs
        self._emit = emit
        self._settled = settled
        self._failed = failed
        self._joined = joined
        self._front: Era | None = None
        self._hello: dict[str, Any] = {}
        self._client = Client()
        self._clean: dict[str, dict[str, Any]] = {}
        self.agreed = ""
        self.open = False
        self.capabilities: dict[str, Any] = {}

    @property
    def begun(self) -> bool:
        """Whether the client has said hello (and was not refused)."""
        return self._front is not None

    def begin(self, era: Era, client: Client, hello: Mapping[str, Any]) -> None:
        """The client speaks: greet whoever is up, and wait for the others a while.

        ``hello`` are the params of its ``initialize``, empty in the stateless era.
        """
        self._front, self._client, self._hello = era, client, dict(hello)
        self._emit(StartTimer(STARTUP, self._settings.startup_wait))
        for upstream in self._upstreams.values():
            if upstream.phase is Phase.UP:
                self._greet(upstream)
        self.settle()

    # -- the upstreams ------------------------------------------------------------------------------

    def connected(self, upstream: Upstream) -> None:
        upstream.phase, upstream.noise = Phase.UP, 0
        if self.begun:
            self._greet(upstream)

    def babbled(self, upstream: Upstream) -> bool:
        """A line came from ``upstream`` that is no message; returns whether it may matter to anybody.

        Who prints without end before it is ready is no server, and need not be waited for.
        """
        if upstream.phase in (Phase.UP, Phase.GREETING):
            upstream.noise += 1
            if upstream.noise > NOISE:
                self._fail(upstream, NO_MCP)
        return upstream.is_there

    def _greet(self, upstream: Upstream) -> None:
        upstream.phase = Phase.GREETING
        if upstream.reason == NOT_STARTED:
            upstream.reason = _SILENT
        if self._front is Era.STATELESS and not upstream.knows_no_probe:
            self._discover(upstream, then=self._initialize)
        else:
            self._initialize(upstream)

    def _initialize(self, upstream: Upstream) -> None:
        wanted = self._hello.get("protocolVersion") if self._front is Era.SESSION else capabilities.LATEST
        hello = {**self._hello, "protocolVersion": self.agreed or capabilities.version_to_ask(wanted)}
        hello["capabilities"] = capabilities.towards(upstream.settings, self._client.capabilities)
        if self._front is Era.STATELESS:
            hello["clientInfo"] = dict(self._client.info or self._settings.implementation)
        self._calls.send(
            upstream,
            "initialize",
            hello,
            lambda _call, answer: self._initialized(upstream, answer),
            timeout=upstream.settings.startup_timeout,
            era=Era.SESSION,
        )

    def _initialized(self, upstream: Upstream, answer: Response | Failure) -> None:
        if isinstance(answer, Failure) and is_ours(answer):
            # It died or kept silent; the supervisor says what becomes of it.
            if upstream.phase is Phase.GREETING:
                self._emit(Drop(upstream.name, "it did not answer the handshake in time"))
            return
        if isinstance(answer, Failure) and self._front is Era.SESSION and not upstream.knows_no_probe:
            self._discover(upstream, then=lambda upstream: self._fail(upstream, REFUSED))
            return
        hello = answer.result if isinstance(answer, Response) and isinstance(answer.result, dict) else {}
        version = hello.get("protocolVersion")
        if version not in eras.SESSION_VERSIONS:
            self._fail(upstream, REFUSED)
        elif self._diverges(version):
            self._fail(upstream, f"it speaks protocol version {version}, this session {self.agreed}")
        else:
            self._emit(Send(upstream.name, jsonrpc.notification("notifications/initialized")))
            self._ready(upstream, Era.SESSION, version, hello)

    def _diverges(self, version: str) -> bool:
        """Whether a late upstream speaks another version than the client was told."""
        bridges = self._settings.bridge_versions or self._front is Era.STATELESS
        return bool(self.agreed) and version != self.agreed and not bridges

    def _discover(self, upstream: Upstream, then: Callable[[Upstream], None], *, again: bool = False) -> None:
        """Ask whether it speaks the stateless era; ``then`` what else is to be tried."""

        def answered(_call: Call, answer: Response | Failure) -> None:
            if not again and isinstance(answer, Failure) and eras.is_about_version(answer.error):
                self._discover(upstream, then, again=True)
                return
            hello = answer.result if isinstance(answer, Response) and isinstance(answer.result, dict) else {}
            spoken = hello.get("supportedVersions")
            versions = [v for v in eras.STATELESS_VERSIONS if isinstance(spoken, list) and v in spoken]
            if versions:
                self._ready(upstream, Era.STATELESS, versions[-1], hello)
                return
            upstream.knows_no_probe = True
            if upstream.phase is Phase.GREETING:  # some end at the question, and are started again
                then(upstream)

        timeout = min(PROBE, upstream.settings.startup_timeout)
        self._calls.send(upstream, "server/discover", {}, answered, timeout=timeout, era=Era.STATELESS)

    def _ready(self, upstream: Upstream, era: Era, version: str, hello: dict[str, Any]) -> None:
        upstream.phase, upstream.hello, upstream.reason, upstream.falls = Phase.READY, hello, "", 0
        upstream.era, upstream.version = era, version
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
        """Begin once nobody is left to wait for, or the wait is over."""
        if not self.begun or self.agreed:
            return
        ready = [upstream for upstream in self._upstreams.values() if upstream.phase is Phase.READY]
        coming = [u for u in self._upstreams.values() if u.phase not in (Phase.READY, Phase.FAILED)]
        if not timed_out and any(not ready or upstream.falls < HOPELESS for upstream in coming):
            return
        self._emit(StopTimer(STARTUP))
        if not ready:
            self._front = None
            self._failed(texts.none_ready(self._states()))
        elif self._front is Era.SESSION and (diverged := self._diverged(ready)):
            self._front = None
            self._failed(texts.diverged(diverged))
        else:
            self.agreed = self._common(ready)
            for upstream in self._upstreams.values():
                if upstream.phase is not Phase.READY:
                    about = {"upstream": upstream.name, "reason": upstream.reason}
                    self._emit(Log("warning", "upstream_not_ready", about))
            self._collect_instructions(ready)

    def turn(self, client: Client, hello: Mapping[str, Any]) -> str:
        """A client that asked for the stateless era begins a session after all: why it can't, or nothing."""
        ready = [upstream for upstream in self._upstreams.values() if upstream.phase is Phase.READY]
        if diverged := self._diverged(ready):
            return texts.diverged(diverged)
        self._front, self._client, self._hello = Era.SESSION, client, dict(hello)
        if self.agreed:
            self.agreed = self._common(ready)
        return ""

    def speaks(self, era: Era) -> bool:
        """Whether any upstream that is ready speaks ``era``."""
        return any(u.phase is Phase.READY and u.era is era for u in self._upstreams.values())

    def _diverged(self, ready: list[Upstream]) -> str:
        """Who speaks which version of the session era, where that is more than one and is not to be bridged."""
        versions = _session_versions(ready)
        if len(set(versions.values())) < 2 or self._settings.bridge_versions:
            return ""
        return ", ".join(f"{name} {version}" for name, version in versions.items())

    def _common(self, ready: list[Upstream]) -> str:
        """The version to tell the client: the lowest that its upstreams settled on."""
        versions = _session_versions(ready).values()
        return min(versions, default="") or capabilities.version_to_ask(self._hello.get("protocolVersion"))

    def _states(self) -> str:
        return "; ".join(f"{u.name}: {u.reason}" for u in self._upstreams.values())

    def _collect_instructions(self, ready: list[Upstream]) -> None:
        """Make each upstream's greeting clean as what it is, then merge."""
        waiting = {upstream.name for upstream in ready}
        preceding: list[Effect] = []

        def arrived(upstream: Upstream) -> None:
            waiting.discard(upstream.name)
            if not waiting:
                self.open = True
                self._merge(ready)
                self._settled(preceding)

        def start(upstream: Upstream) -> None:
            def done(part: dict[str, Any], effects: list[Effect]) -> None:
                self._clean[upstream.name] = part
                preceding.extend(effects)
                arrived(upstream)

            part = {name: upstream.hello[name] for name in ("capabilities", "instructions") if name in upstream.hello}
            shape = SURFACE["initialize"].params
            self._jobs.start(Work(upstream, "initialize", part, shape, done, lambda _reason: arrived(upstream)))

        for upstream in ready:
            start(upstream)

    def _merge(self, ready: list[Upstream]) -> None:
        late = any(upstream.phase is not Phase.READY for upstream in self._upstreams.values())
        declared = [
            (upstream.settings, said)
            for upstream in ready
            if isinstance(said := self._clean.get(upstream.name, {}).get("capabilities"), dict)
        ]
        self.capabilities = capabilities.merged(declared, more_to_come=late)

    def result(self) -> dict[str, Any]:
        """What the client is told: of ``initialize``, or of ``server/discover``."""
        if self._front is Era.SESSION:
            result: dict[str, Any] = {"protocolVersion": self.agreed, "capabilities": self.capabilities}
            result["serverInfo"] = self._settings.implementation
        else:
            result = {"supportedVersions": list(eras.STATELESS_VERSIONS), "capabilities": self.capabilities}
        instructions = self._instructions()
        return {**result, "instructions": instructions} if instructions else result

    def _instructions(self) -> str:
        """Each upstream's under its name, so that none can speak in another's or in the gateway's."""
        parts = []
        for name, upstream in self._upstreams.items():
            said = self._clean.get(name, {}).get("instructions")
            if isinstance(said, str) and said:
                parts.append(f"{name}: {said}" if upstream.settings.prefix else said)
        if self._settings.enforces:
            parts.append(texts.INSTRUCTION)
        return "\n\n".join(parts)

    def announces(self, kind: str) -> bool:
        """Whether the client was told that the lists of ``kind`` may change."""
        declared = self.capabilities.get(kind)
        return isinstance(declared, dict) and declared.get("listChanged") is True


def _session_versions(upstreams: list[Upstream]) -> dict[str, str]:
    return {upstream.name: upstream.version for upstream in upstreams if upstream.era is Era.SESSION}
