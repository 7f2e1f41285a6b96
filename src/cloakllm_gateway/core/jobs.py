"""The message parts that are being sanitized, each with whoever waits for it."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple, TypeAlias, cast

from msgspec import Struct, field
from msgspec.structs import replace

from cloakllm_gateway.audit import schema
from cloakllm_gateway.core.allowed import Allowed
from cloakllm_gateway.core.directory import Directory
from cloakllm_gateway.core.events import Assign, Compute, Effect, Log, Record, Scan
from cloakllm_gateway.core.handles import Handles
from cloakllm_gateway.core.lanes import Lanes
from cloakllm_gateway.core.policy import Policy
from cloakllm_gateway.core.sanitizer import Clean, NeedAssign, NeedScan, Report, Sanitizing, Step
from cloakllm_gateway.core.settings import Mode, Settings, UpstreamSettings
from cloakllm_gateway.core.source import Source
from cloakllm_gateway.core.treatments import Treatments, treatments
from cloakllm_gateway.core.upstream import Upstream
from cloakllm_gateway.errors import DetectionError, Withheld
from cloakllm_gateway.protocol.surface import URI, Shape
from cloakllm_gateway.protocol.walk import Path, leaves
from cloakllm_gateway.spans import Findings, Span, Text
from cloakllm_gateway.vault.entries import Entry, Spelling
from cloakllm_gateway.vault.vault import Vault

#: Takes the clean part and the effects that must precede its sending.
Done: TypeAlias = Callable[[Any, list[Effect]], None]
#: Takes the spans of texts that were only to be looked at, or None where detection failed.
Looked: TypeAlias = Callable[[Sequence[Sequence[Span]] | None], None]
#: Takes an upstream and its resources as (real, shown) URIs.
Claim: TypeAlias = Callable[[Upstream, Sequence[tuple[str, str]]], None]
#: Takes the entries of values that were only to become known.
Learned: TypeAlias = Callable[[Sequence[Entry]], None]
#: Takes the number of a work that is clean, and stays so long until it is let go.
Ready: TypeAlias = Callable[[int], None]
#: Takes the reason, which holds no value.
Failed: TypeAlias = Callable[[str], None]
#: Looks at little text at once; None where that is for others to do, and :class:`Scan` the way to ask them.
AtOnce: TypeAlias = Callable[[Sequence[Text]], Findings | None]


#: What comes of a step: the next one, or why there is none.
Outcome: TypeAlias = Step | Withheld | DetectionError

#: Bytes of a message from which its steps are taken beside the core: what one upstream says must keep nobody waiting
#: for another.
LARGE = 16_384

#: What detection finds in no texts at all.
_NOTHING = Findings((), frozenset())


def never(_texts: Sequence[Text]) -> None:
    """Looks at nothing: for a core that has every text scanned by an effect."""


class Work(Struct, frozen=True):
    """One part of a message to be sanitized, and what is to happen then.

    ``claim`` takes the resources it shows; without one they are claimed at once.
    ``ready`` is told when it is clean, where it leaves together with others: ``done`` is called once it is let go.
    ``size`` are the bytes of what it was put together from, 0 where that is the message at hand.
    ``tool`` is the upstream's own name of the tool whose call it answers,
    ``tools`` those that items of its lists are of, by their paths,
    ``exact_links`` whether the pages it sends a person to stay as they are.
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
    ready: Ready | None = None
    size: int = 0
    direction: str = "to_model"
    tool: str = ""
    tools: Mapping[Path, str] = field(default_factory=dict)
    exact_links: bool = False


class _Running(NamedTuple):
    """A work in the making: when it began, in seconds of the clock, and the bytes of its message."""

    work: Work
    sanitizing: Sanitizing
    began: float
    size: int


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
        lanes: Lanes,
        at_once: AtOnce = never,
        large: int = LARGE,
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
        self._lanes = lanes
        self._at_once = at_once
        self._large = large
        self._running: dict[int, _Running] = {}
        self._kept: dict[int, Clean] = {}  # what is ready, by job
        self._looking: dict[int, Looked] = {}
        self._learning: dict[int, tuple[Learned, Failed]] = {}
        self._numbers = 0
        self._sources: dict[tuple[str, str, str, bool], Source] = {}
        self._at_work: int | None = None  # the job that is going on, or went on when something broke

    def _source(self, work: Work) -> Source:
        """Where a work comes from: but for what its call was about the same for all messages of one tool."""
        settings = work.upstream.settings
        key = (settings.name, work.direction, work.tool if settings.tools else "", work.exact_links)
        source = self._sources.get(key)
        if source is None:
            source = self._sources[key] = self._usual_source(settings, work)
        if work.tools:
            rules = {tool: treatments(settings, tool) for tool in set(work.tools.values())}
            source = replace(source, items={path: rules[tool] for path, tool in work.tools.items()})
        if not work.uris and not work.restored:
            return source
        uris = ChainMap({**work.uris}, cast(MutableMapping[str, str], source.uris)) if work.uris else source.uris
        return replace(source, uris=uris, restored=work.restored)

    def _usual_source(self, settings: UpstreamSettings, work: Work) -> Source:
        return Source(
            origin=settings.origin,
            group=self._policy.group(settings.name),
            vault=self._vault,
            handles=self._handles,
            categories=self._settings.categories,
            # The rules are for what the model is shown; what only becomes known on its way to an upstream has none.
            treatments=Treatments() if work.direction == "to_upstream" else treatments(settings, work.tool),
            redacts=self._redacts,
            allowed=self._allowed,
            uris=self._directory.shown(settings.name),  # there may be many: they are looked up and not copied
            exact_links=work.exact_links,
        )

    def start(self, work: Work) -> None:
        if not self._settings.sanitize:
            (work.claim or self.claim)(work.upstream, uris_of(work.part, work.shape))
            about = {"upstream": work.upstream.name, "method": work.method, "direction": work.direction}
            work.done(work.part, [Record("passed", {**about, "messages": 1})])
            return
        self._numbers += 1
        job = self._numbers
        sanitizing = Sanitizing(work.part, work.shape, self._source(work))
        self._running[job] = _Running(work, sanitizing, self._clock(), max(work.size, self._lanes.at_hand))
        self._advance(job, sanitizing.begin)

    def look(self, upstream: Upstream, texts: Sequence[Text], then: Looked) -> None:
        """Have texts looked at that go to an upstream."""
        try:
            found = self._at_once(texts)
        except DetectionError:
            then(None)
            return
        if found is not None:
            then(found.spans)
            return
        self._numbers += 1
        self._looking[self._numbers] = then
        self._emit(Scan(self._numbers, upstream.name, texts))

    def learn(self, upstream: Upstream, spellings: Sequence[Spelling], then: Learned, failed: Failed) -> None:
        """Have values become known that go to an upstream."""
        if not spellings:
            then(())
            return
        self._numbers += 1
        self._learning[self._numbers] = then, failed
        self._assign(self._numbers, upstream.name, spellings)

    @property
    def broken(self) -> int | None:
        """The job that something broke in, if its message waits for it."""
        return self._at_work if self._at_work in self._running else None

    def _assign(self, job: int, name: str, spellings: Sequence[Spelling]) -> None:
        self._emit(Assign(job, name, self._policy.origin(name), self._policy.group(name), spellings))

    def scanned(self, job: int, found: Findings) -> None:
        if then := self._looking.pop(job, None):
            then(found.spans)
            return
        self._advance(job, partial(self._running[job].sanitizing.scanned, found))

    def assigned(self, job: int, entries: Sequence[Entry]) -> None:
        if waiting := self._learning.pop(job, None):
            self._vault.learn(entries)
            waiting[0](entries)
            return
        sanitizing = self._running[job].sanitizing

        def take() -> Step:
            self._vault.learn(entries)
            return sanitizing.assigned(entries)

        self._advance(job, take)

    def computed(self, job: int, outcome: Outcome) -> None:
        self._at_work = job
        self._go_on(job, self._running[job], outcome)
        self._at_work = None

    def fail(self, job: int, reason: str) -> None:
        if then := self._looking.pop(job, None):
            then(None)
            return
        if waiting := self._learning.pop(job, None):
            waiting[1](reason)
            return
        if job not in self._running:
            return  # it was finished before the failure
        if self._settings.mode is Mode.OBSERVE:
            self._observed(job, reason)
            return
        work = self._running.pop(job).work
        self._kept.pop(job, None)
        about = {"upstream": work.upstream.name, "method": work.method, "reason": reason}
        self._emit(Record("withheld", {**about, "direction": work.direction, "messages": 1}))
        self._emit(Log("error", "withheld", about))
        work.failed(reason)

    def _advance(self, job: int, answer: Callable[[], Step]) -> None:
        running = self._running[job]
        step = partial(self._taken, running.sanitizing, answer)
        if running.size > self._large:
            self._emit(Compute(job, running.work.upstream.name, step, running.size))
            return
        self._at_work = job
        self._go_on(job, running, step())
        self._at_work = None

    def _taken(self, sanitizing: Sanitizing, answer: Callable[[], Step]) -> Outcome:
        """One step, and those behind it for which nobody has to be asked."""
        try:
            step = answer()
            while isinstance(step, NeedScan):
                found = self._at_once(step.texts) if step.texts else _NOTHING
                if found is None:
                    break
                step = sanitizing.scanned(found)
        except (Withheld, DetectionError) as reason:
            return reason
        return step

    def _go_on(self, job: int, running: _Running, outcome: Outcome) -> None:
        if isinstance(outcome, Withheld | DetectionError):
            self.fail(job, str(outcome))
            return
        if self._settings.mode is Mode.OBSERVE and not isinstance(outcome, NeedScan):
            self._observed(job)
            return
        work = running.work
        match outcome:
            case NeedScan(looks):
                self._emit(Scan(job, work.upstream.name, looks))
            case NeedAssign(spellings):
                self._assign(job, work.upstream.name, spellings)
            case Clean() if running.sanitizing.is_outdated:
                self._advance(job, running.sanitizing.look_again)
            case Clean() if work.ready is not None:
                self._kept[job] = outcome
                work.ready(job)
            case Clean():
                self._finish(work, running.sanitizing.report, outcome, self._clock() - running.began)
                del self._running[job]

    def is_outdated(self, job: int) -> bool:
        """Whether values became known since a work that is ready was looked through."""
        return self._running[job].sanitizing.is_outdated

    def renew(self, job: int) -> None:
        """Have a work that is ready looked through for them: it is told again when it is clean."""
        del self._kept[job]
        self._advance(job, self._running[job].sanitizing.look_again)

    def let_go(self, job: int) -> None:
        """A work that is ready is done."""
        work, sanitizing, began, _ = self._running[job]
        self._finish(work, sanitizing.report, self._kept.pop(job), self._clock() - began)
        del self._running[job]

    def _observed(self, job: int, reason: str = "") -> None:
        """Say what would have happened, and pass the message on as it is."""
        work, sanitizing, *_ = self._running.pop(job)
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
        if clean.tokens:
            self._vault.show(clean.tokens)
        if clean.uris:
            (work.claim or self.claim)(work.upstream, clean.uris)
        work.done(_private(work, clean), self._account(work, report, seconds))

    def claim(self, upstream: Upstream, uris: Sequence[tuple[str, str]], *, listed: bool = False) -> None:
        """``upstream`` showed these resources; what another showed before stays that one's, what it listed for good."""
        for real, shown in uris:
            if not self._directory.claim(upstream.name, real, shown, listed=listed):
                owner = self._directory.owner(shown)
                keeps = owner.upstream if owner else ""
                self._emit(Log("warning", "resource_claimed_twice", {"upstream": upstream.name, "kept": keeps}))

    def _account(self, work: Work, report: Report, seconds: float) -> list[Effect]:
        """What is recorded and logged of one clean message: numbers and names only."""
        name, took = work.upstream.name, schema.duration(seconds)
        if not (report.found or report.tripwire or report.dropped):
            return [_nothing_found(name, work.method, work.direction, tuple(report.skipped.items()), took)]
        about = {"upstream": name, "method": work.method}
        effects: list[Effect] = [Record("sanitize", _entry(about, work.direction, report, took))]
        for category, count in report.tripwire.items():
            effects.append(Log("warning", "tripwire", {**about, "category": category, "count": count}))
        if report.dropped:
            effects.append(Log("warning", "dropped_items_with_unsafe_names", {**about, "count": report.dropped}))
        return effects


def _entry(about: Mapping[str, str], direction: str, report: Report, took: str) -> dict[str, Any]:
    """The audit record of one clean message."""
    return {
        **about,
        "direction": direction,
        "entity_count": sum(report.found.values()),
        "categories": report.found,
        "tripwire": report.tripwire,
        "skipped": report.skipped,
        "dropped": report.dropped,
        "messages": 1,
        "duration": took,
    }


@lru_cache(maxsize=256)
def _nothing_found(
    upstream: str, method: str, direction: str, skipped: tuple[tuple[str, int], ...], took: str
) -> Record:
    """The record of most messages: the same one for all that are alike."""
    about = {"upstream": upstream, "method": method}
    return Record("sanitize", _entry(about, direction, Report(skipped=dict(skipped)), took))


def uris_of(part: Any, shape: Shape) -> list[tuple[str, str]]:
    """The resources of a part that is passed on as it is: each is known by its real URI."""
    return [(leaf.text, leaf.text) for leaf in leaves(part, shape) if leaf.role is URI]


def _private(work: Work, clean: Clean) -> Any:
    """The clean part; one that holds tokens of this session must not be shared by a cache."""
    cacheable = isinstance(work.shape, dict) and "cacheScope" in work.shape and isinstance(clean.part, dict)
    if not cacheable or clean.part.get("cacheScope") != "public":
        return clean.part
    holds_tokens = clean.tokens or any(real != shown for real, shown in clean.uris)
    return {**clean.part, "cacheScope": "private"} if holds_tokens else clean.part
