"""The messages that are being made clean, and what waits for them."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct, field

from cloakllm_gateway.audit import schema
from cloakllm_gateway.core.allowed import Allowed
from cloakllm_gateway.core.directory import Directory
from cloakllm_gateway.core.events import Assign, Effect, Log, Record, Scan
from cloakllm_gateway.core.handles import Handles
from cloakllm_gateway.core.policy import Policy
from cloakllm_gateway.core.sanitizer import Clean, NeedAssign, NeedScan, Report, Sanitizing, Source, Step
from cloakllm_gateway.core.settings import Mode, Settings
from cloakllm_gateway.core.treatments import Treatments, treatments
from cloakllm_gateway.core.upstream import Upstream
from cloakllm_gateway.errors import DetectionError, Withheld
from cloakllm_gateway.protocol.surface import URI, Shape
from cloakllm_gateway.protocol.walk import leaves
from cloakllm_gateway.spans import Findings, Span, Text
from cloakllm_gateway.vault.entries import Entry
from cloakllm_gateway.vault.vault import Vault

#: Takes the clean part and the effects that must precede its sending.
Done: TypeAlias = Callable[[Any, list[Effect]], None]
#: Takes the spans of texts that were only to be looked at, or None where detection failed.
Looked: TypeAlias = Callable[[Sequence[Sequence[Span]] | None], None]
#: Takes an upstream and its resources as (real, shown) URIs.
Claim: TypeAlias = Callable[[Upstream, Sequence[tuple[str, str]]], None]
#: Takes the reason, which holds no value.
Failed: TypeAlias = Callable[[str], None]


class Work(Struct, frozen=True):
    """One part of a message to make clean, and who is waiting for it.

    ``claim`` takes the resources it shows; without one they are claimed at once.
    ``tool`` is the upstream's own name of the tool whose call it answers.
    """

    upstream: Upstream
    method: str
    part: Any
    shape: Shape
    done: Done
    failed: Failed
    restored: Sequence[Entry] = ()
    uris: Mapping[str, str] = field(default_factory=dict)
    claim: Claim | None = None
    direction: str = "to_model"
    tool: str = ""


class Jobs:
    """Runs each :class:`Work` through its :class:`Sanitizing`; effects go to ``emit``."""

    def __init__(
        self,
        settings: Settings,
        vault: Vault,
        handles: Handles,
        directory: Directory,
        emit: Callable[[Effect], None],
        clock: Callable[[], float],
    ) -> None:
        self._settings = settings
        self._redacts = settings.redacts
        self._allowed = Allowed(settings.allow_list)
        self._policy = Policy(settings)
        self._vault = vault
        self._handles = handles
        self._directory = directory
        self._emit = emit
        self._clock = clock
        self._running: dict[int, tuple[Work, Sanitizing, float]] = {}
        self._looking: dict[int, Looked] = {}
        self._numbers = 0
        self._rules: dict[tuple[str, str], Treatments] = {}

    def _treatments(self, work: Work) -> Treatments:
        """The rules for what the model is shown; what only becomes known on its way to an upstream has none."""
        if work.direction == "to_upstream":
            return Treatments()
        key = (work.upstream.name, work.tool if work.upstream.settings.tools else "")
        if key not in self._rules:
            self._rules[key] = treatments(work.upstream.settings, work.tool)
        return self._rules[key]

    def start(self, work: Work) -> None:
        if not self._settings.sanitize:
            (work.claim or self.claim)(work.upstream, uris_of(work.part, work.shape))
            about = {"upstream": work.upstream.name, "method": work.method, "direction": work.direction}
            work.done(work.part, [Record("passed", {**about, "messages": 1})])
            return
        settings = work.upstream.settings
        shown = self._directory.shown(settings.name)  # there may be many: they are looked up and not copied
        source = Source(
            origin=settings.origin,
            group=self._policy.group(settings.name),
            vault=self._vault,
            handles=self._handles,
            categories=self._settings.categories,
            treatments=self._treatments(work),
            redacts=self._redacts,
            allowed=self._allowed,
            uris=ChainMap({**work.uris}, shown) if work.uris else shown,
            restored=work.restored,
        )
        self._numbers += 1
        job = self._numbers
        self._running[job] = (work, Sanitizing(work.part, work.shape, source), self._clock())
        self._advance(job, lambda sanitizing: sanitizing.begin())

    def look(self, upstream: Upstream, texts: Sequence[Text], then: Looked) -> None:
        """Have texts looked at that are going the other way."""
        self._numbers += 1
        self._looking[self._numbers] = then
        self._emit(Scan(self._numbers, upstream.name, texts))

    def scanned(self, job: int, found: Findings) -> None:
        if then := self._looking.pop(job, None):
            then(found.spans)
            return
        self._advance(job, lambda sanitizing: sanitizing.scanned(found))

    def assigned(self, job: int, entries: Sequence[Entry]) -> None:
        self._vault.learn(entries)
        self._advance(job, lambda sanitizing: sanitizing.assigned(entries))

    def fail(self, job: int, reason: str) -> None:
        if then := self._looking.pop(job, None):
            then(None)
            return
        if job not in self._running:
            return  # it was finished when what went wrong went wrong
        if self._settings.mode is Mode.OBSERVE:
            self._observed(job, reason)
            return
        work, *_ = self._running.pop(job)
        about = {"upstream": work.upstream.name, "method": work.method, "reason": reason}
        self._emit(Record("withheld", {**about, "direction": work.direction, "messages": 1}))
        self._emit(Log("error", "withheld", about))
        work.failed(reason)

    def _advance(self, job: int, answer: Callable[[Sanitizing], Step]) -> None:
        work, sanitizing, began = self._running[job]
        try:
            step = answer(sanitizing)
            while isinstance(step, NeedScan) and not any(look.text for look in step.texts):
                step = sanitizing.scanned(Findings([[] for _ in step.texts], frozenset()))
        except (Withheld, DetectionError) as reason:
            self.fail(job, str(reason))
            return
        if self._settings.mode is Mode.OBSERVE and not isinstance(step, NeedScan):
            self._observed(job)
            return
        match step:
            case NeedScan(looks):
                self._emit(Scan(job, work.upstream.name, looks))
            case NeedAssign(spellings):
                name = work.upstream.name
                self._emit(Assign(job, name, self._policy.origin(name), self._policy.group(name), spellings))
            case Clean():
                del self._running[job]
                self._finish(work, sanitizing.report, step, self._clock() - began)

    def _observed(self, job: int, reason: str = "") -> None:
        """Say what would have happened, and pass the message on as it is."""
        work, sanitizing, _ = self._running.pop(job)
        about = {"upstream": work.upstream.name, "method": work.method, "found": sanitizing.report.found}
        if reason:
            about["would_withhold"] = reason
        if reason or sanitizing.report.found:
            self._emit(Log("info", "observed", about))
        (work.claim or self.claim)(work.upstream, uris_of(work.part, work.shape))
        entry = {
            "upstream": work.upstream.name,
            "method": work.method,
            "direction": work.direction,
            "entity_count": sum(sanitizing.report.found.values()),
            "categories": sanitizing.report.found,
            "reason": reason,
        }
        work.done(work.part, [Record("observed", entry)])

    def _finish(self, work: Work, report: Report, clean: Clean, seconds: float) -> None:
        self._vault.show(clean.tokens)
        (work.claim or self.claim)(work.upstream, clean.uris)
        work.done(_private(work, clean), self._account(work, report, seconds))

    def claim(self, upstream: Upstream, uris: Sequence[tuple[str, str]]) -> None:
        """``upstream`` showed these resources; what another showed before stays that one's."""
        for real, shown in uris:
            if not self._directory.claim(upstream.name, real, shown):
                owner = self._directory.owner(shown)
                keeps = owner.upstream if owner else ""
                self._emit(Log("warning", "resource_claimed_twice", {"upstream": upstream.name, "kept": keeps}))

    def _account(self, work: Work, report: Report, seconds: float) -> list[Effect]:
        """What the audit and the log hear of one clean message: numbers and names only."""
        about = {"upstream": work.upstream.name, "method": work.method}
        effects: list[Effect] = []
        entry = {
            **about,
            "direction": work.direction,
            "entity_count": sum(report.found.values()),
            "categories": report.found,
            "tripwire": report.tripwire,
            "skipped": report.skipped,
            "dropped": report.dropped,
            "messages": 1,
            "duration": schema.duration(seconds),
        }
        effects.append(Record("sanitize", entry))
        effects += [
            Log("warning", "tripwire", {**about, "category": category, "count": count})
            for category, count in report.tripwire.items()
        ]
        if report.dropped:
            effects.append(Log("warning", "dropped_items_with_unsafe_names", {**about, "count": report.dropped}))
        return effects


def uris_of(part: Any, shape: Shape) -> list[tuple[str, str]]:
    """The resources of a part that is passed on as it is: each is known by its real URI."""
    return [(leaf.text, leaf.text) for leaf in leaves(part, shape) if leaf.role is URI]


def _private(work: Work, clean: Clean) -> Any:
    """The clean part; one that holds tokens of this session is for nobody else to be given from a cache."""
    holds_tokens = clean.tokens or any(real != shown for real, shown in clean.uris)
    cacheable = isinstance(work.shape, dict) and "cacheScope" in work.shape and isinstance(clean.part, dict)
    if cacheable and holds_tokens and clean.part.get("cacheScope") == "public":
        return {**clean.part, "cacheScope": "private"}
    return clean.part
