"""The lists of tools, prompts, resources and templates: one of all upstreams, over all their pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

from msgspec import Struct, field

from cloakllm_gateway.core import capabilities, pages
from cloakllm_gateway.core.advertised import Tools
from cloakllm_gateway.core.calls import PATIENCE, Calls
from cloakllm_gateway.core.directory import Directory, Route, declared_keys
from cloakllm_gateway.core.events import Effect, Log, StartTimer, StopTimer, Timer
from cloakllm_gateway.core.front import Front
from cloakllm_gateway.core.jobs import Jobs, Work
from cloakllm_gateway.core.lanes import Lanes
from cloakllm_gateway.core.naming import exposed
from cloakllm_gateway.core.settings import Settings
from cloakllm_gateway.core.upstream import Call, Phase, Upstream
from cloakllm_gateway.protocol import eras, headers, jsonrpc
from cloakllm_gateway.protocol.eras import Era
from cloakllm_gateway.protocol.headers import MARK, Declared
from cloakllm_gateway.protocol.jsonrpc import Failure, Response
from cloakllm_gateway.protocol.surface import DATA, SURFACE
from cloakllm_gateway.vault.vault import Vault

#: The list methods, and the member of their result that holds the items.
LISTS = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}

PURPOSE = "list"

#: No upstream may page for ever.
MAX_PAGES = 1000

#: Takes the merged result, or None where nobody could answer, and the effects that must precede it.
Merged: TypeAlias = Callable[[dict[str, Any] | None, list[Effect]], None]


class _Gathering(Struct):
    """One merged list in the making: what each upstream has contributed, in the order of the configuration.

    ``ready`` are the works whose parts are clean and wait for those of the others, by upstream.
    """

    method: str
    then: Merged
    asked: frozenset[str]
    waiting: set[str]
    number: int
    ready: dict[str, int] = field(default_factory=dict)
    parts: dict[str, dict[str, Any]] = field(default_factory=dict)
    uris: dict[str, Sequence[tuple[str, str]]] = field(default_factory=dict)
    effects: list[Effect] = field(default_factory=list)


class _Pages(Struct):
    """What an upstream has said of a list so far: the first page's word counts. ``size`` are the bytes of its items."""

    said: dict[str, Any] = field(default_factory=dict)
    items: list[Any] = field(default_factory=list)
    count: int = 0
    size: int = 0
    cursors: set[str] = field(default_factory=set)

    def add(self, said: dict[str, Any], items: list[Any]) -> Any:
        """Take one page; the cursor of the next one, or None.

        Some servers end with an empty one, or with the same again.
        """
        cursor = said.get("nextCursor")
        following = None if cursor == "" or (isinstance(cursor, str) and cursor in self.cursors) else cursor
        if isinstance(following, str):
            self.cursors.add(following)
        self.count += 1
        self.said = {**said, **self.said}
        self.items += items
        if self.count > 1 or following is not None:  # one page is a message, and no larger than one may be
            self.size += len(jsonrpc.encode(items))
        return following


class Lists:
    """Gathers, sanitizes, renames and merges lists, and keeps the directory in step with them."""

    def __init__(
        self,
        settings: Settings,
        front: Front,
        lanes: Lanes,
        upstreams: dict[str, Upstream],
        directory: Directory,
        vault: Vault,
        jobs: Jobs,
        calls: Calls,
        emit: Callable[[Effect], None],
        tools: Tools,
    ) -> None:
        self._settings = settings
        self._front = front
        self._lanes = lanes
        self._tools = tools
        self._upstreams = upstreams
        self._directory = directory
        self._vault = vault
        self._jobs = jobs
        self._calls = calls
        self._emit = emit
        #: By method: the upstreams whose lists, or that they give none, are known as they are now.
        self._known: dict[str, set[str]] = {method: set() for method in LISTS}
        self._open: dict[int, _Gathering] = {}
        self._numbers = 0

    def gather(self, method: str, then: Merged) -> None:
        """Ask every upstream that is ready and serves ``method``; ``then`` gets the merged result."""
        self._gather(method, self._able(method), then)

    def load(self, method: str, then: Callable[[list[Effect]], None], of: str = "") -> None:
        """Get the list of one upstream, or of all whose list is not known, for the names in it.

        ``then`` gets what must precede their use.
        """
        asked = [of] if of else self._unknown(method)

        def loaded(_result: dict[str, Any] | None, effects: list[Effect]) -> None:
            self._known[method].update(asked)
            then(effects)

        self._gather(method, [name for name in asked if name in self._able(method)], loaded)

    def is_known(self, method: str, of: str = "") -> bool:
        """Whether nothing has changed since the list was got: that of one upstream, or all of them."""
        return of in self._known[method] if of else not self._unknown(method)

    def forget(self, kind: str, of: str = "") -> None:
        """The lists of ``kind`` have changed, those of one upstream or all: nobody else's call has to wait for them."""
        for method in [method for method in LISTS if capabilities.SERVER_SERVES[method] == kind]:
            self._known[method].difference_update([of] if of else self._upstreams)

    def _able(self, method: str) -> list[str]:
        capability = capabilities.SERVER_SERVES[method]
        ready = (upstream for upstream in self._upstreams.values() if upstream.phase is Phase.READY)
        return [upstream.name for upstream in ready if upstream.capability(capability) is not None]

    def _unknown(self, method: str) -> list[str]:
        return [name for name in self._able(method) if name not in self._known[method]]

    def _gather(self, method: str, asked: Sequence[str], then: Merged) -> None:
        if not asked:
            then(None, [])
            return
        self._numbers += 1
        gathering = _Gathering(method, then, frozenset(asked), set(asked), self._numbers)
        self._open[gathering.number] = gathering
        if len(self._upstreams) > 1:
            self._emit(StartTimer(Timer(PURPOSE, subject=gathering.number), PATIENCE))
        for name in asked:
            self._ask_page(gathering, self._upstreams[name], None, _Pages())

    def expire(self, number: int) -> None:
        """Some upstream still pages or keeps silent: the others' items go out without it."""
        if gathering := self._open.get(number):
            for name in sorted(gathering.waiting):
                self._give_up(gathering, self._upstreams[name], f"its list took more than {PATIENCE:g} seconds")

    def _ask_page(self, gathering: _Gathering, upstream: Upstream, cursor: Any, so_far: _Pages) -> None:
        member = LISTS[gathering.method]

        def answered(_call: Call, answer: Response | Failure) -> None:
            if upstream.name not in gathering.waiting:
                return  # too late
            holds = isinstance(answer, Response) and not eras.wants_more(answer.result)
            items = answer.result.get(member) if isinstance(answer, Response) and holds else None
            if not isinstance(items, list) or not isinstance(answer, Response):
                reason = "it answered with an error" if isinstance(answer, Failure) else "its answer holds no list"
                self._give_up(gathering, upstream, reason)
                return
            following = so_far.add(answer.result, items)
            if so_far.size > self._settings.max_bytes:
                self._give_up(gathering, upstream, f"its list is larger than {self._settings.max_bytes} bytes")
            elif following is None:
                whole = {name: value for name, value in so_far.said.items() if name != "nextCursor"}
                self._clean(gathering, upstream, {**whole, member: so_far.items}, so_far.size)
            elif so_far.count == MAX_PAGES:
                self._give_up(gathering, upstream, f"its list has more than {MAX_PAGES} pages")
            else:
                self._ask_page(gathering, upstream, following, so_far)

        self._calls.ask(upstream, gathering.method, None if cursor is None else {"cursor": cursor}, answered)

    def _give_up(self, gathering: _Gathering, upstream: Upstream, reason: str) -> None:
        about = {"upstream": upstream.name, "method": gathering.method, "reason": reason}
        self._emit(Log("warning", "list_left_out", about))
        if upstream.name in gathering.waiting:
            gathering.waiting.discard(upstream.name)
            self._finish_if_complete(gathering)

    def _clean(self, gathering: _Gathering, upstream: Upstream, page: dict[str, Any], size: int) -> None:
        def done(part: dict[str, Any], effects: list[Effect]) -> None:
            if gathering.number not in self._open:
                return  # too late
            gathering.parts[upstream.name] = part
            gathering.effects += effects
            arrived()

        def ready(job: int) -> None:
            if upstream.name in gathering.waiting:
                gathering.ready[upstream.name] = job
                arrived()
            else:
                self._jobs.let_go(job)

        def arrived() -> None:
            if upstream.name in gathering.waiting:
                gathering.waiting.discard(upstream.name)
                self._finish_if_complete(gathering)

        def failed(reason: str) -> None:
            self._give_up(gathering, upstream, reason)

        def claim(upstream: Upstream, uris: Sequence[tuple[str, str]]) -> None:
            gathering.uris[upstream.name] = uris

        shape = SURFACE[gathering.method].result or DATA
        work = Work(upstream, gathering.method, page, shape, done, failed, claim=claim, ready=ready, size=size)
        self._lanes.enter(upstream, partial(self._jobs.start, work), keeps=False)

    def _finish_if_complete(self, gathering: _Gathering) -> None:
        if gathering.waiting or gathering.number not in self._open or self._renewed(gathering):
            return
        for job in gathering.ready.values():
            self._jobs.let_go(job)
        del self._open[gathering.number]
        self._emit(StopTimer(Timer(PURPOSE, subject=gathering.number)))
        if not gathering.parts:
            gathering.then(None, gathering.effects)
            return
        member = LISTS[gathering.method]
        in_order = [(u, gathering.parts[u.name]) for u in self._upstreams.values() if u.name in gathering.parts]
        for upstream, _ in in_order:
            # In the order of the configuration, not of the answers: of two claimants the first one serves.
            self._jobs.claim(upstream, gathering.uris.get(upstream.name, ()), listed=True)
        items = [item for upstream, part in in_order for item in self._take(gathering.method, upstream, part[member])]
        if member == "resourceTemplates":
            listed = [
                (u.name, t["uriTemplate"]) for u, part in in_order for t in part[member] if _has(t, "uriTemplate")
            ]
            self._directory.set_templates(listed, gathering.asked, list(self._upstreams))
        self._known[gathering.method].update(gathering.asked)
        # What else a result says (`_meta`, say) speaks for one upstream and can't be merged.
        rest = in_order[0][1] if len(self._upstreams) == 1 else {}
        gathering.then({**rest, member: items}, gathering.effects)

    def _renewed(self, gathering: _Gathering) -> bool:
        """Whether parts that waited are looked at once more: others made values known meanwhile."""
        outdated = {name: job for name, job in gathering.ready.items() if self._jobs.is_outdated(job)}
        gathering.waiting.update(outdated)
        for name, job in outdated.items():
            del gathering.ready[name]
            self._jobs.renew(job)
        return bool(outdated)

    def _take(self, method: str, upstream: Upstream, items: list[Any]) -> list[Any]:
        """Rename an upstream's items for the client, and route their new names."""
        if method not in ("tools/list", "prompts/list"):
            return items if upstream.settings.ui else [item for item in items if not pages.leads_to_page(item)]
        routes = self._directory.tools if method == "tools/list" else self._directory.prompts
        for name in [name for name, route in routes.items() if route.upstream == upstream.name]:
            del routes[name]
        taken: list[Any] = []
        for item in items:
            if not _has(item, "name"):
                continue
            if self._is_misdeclared(upstream, item):
                continue
            original = item["name"]
            name = exposed(upstream.settings.prefix, original, self._settings.name_budget)
            if name in routes:
                about = {"upstream": upstream.name, "method": method}
                self._emit(Log("warning", "name_taken_item_left_out", about))
                continue
            declared = declared_keys(item.get("inputSchema"))
            routes[name] = Route(upstream.name, original, declared, _marked(item))
            words = [name, original, *declared, *declared_keys(item.get("outputSchema"))]
            self._vault.reserve(words, upstream.settings.origin)
            shown = pages.granted(upstream.settings, {**item, "name": name})
            if self._front.era is Era.SESSION and upstream.era is Era.STATELESS:
                shown = eras.tool_for_session(shown)
            taken.append(
                self._tools.advertised(upstream.settings, original, shown) if method == "tools/list" else shown
            )
        return taken

    def _is_misdeclared(self, upstream: Upstream, tool: dict[str, Any]) -> bool:
        """Whether its schema wants arguments repeated in headers that can't be: such a tool must not be offered."""
        if not upstream.settings.over_http or upstream.era is Era.SESSION:
            return False
        if fault := headers.fault(tool.get("inputSchema")):
            self._emit(Log("warning", "tool_left_out", {"upstream": upstream.name, "reason": fault}))
        return bool(fault)


def _marked(tool: dict[str, Any]) -> Sequence[Declared]:
    """The arguments of a tool that headers repeat, which the schemas of few say."""
    return headers.declared(tool["inputSchema"]) if MARK in str(tool.get("inputSchema")) else ()


def _has(item: Any, member: str) -> bool:
    return isinstance(item, dict) and isinstance(item.get(member), str)
