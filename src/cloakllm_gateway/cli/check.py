"""``check``: is everything as it should be?  Prove detection, start every upstream, count what each offers.

Each upstream is asked through a gateway of its own, by the same path as in
service; then all of them together, since they have to agree on a version.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import anyio
from msgspec.structs import replace
from rich.console import Console
from rich.markup import escape as markup
from rich.table import Table

from cloakllm_gateway import __version__
from cloakllm_gateway.cli.exposure import changeable, exposed, overheard
from cloakllm_gateway.cli.faults import explained
from cloakllm_gateway.cli.waiting import Waiting
from cloakllm_gateway.core.capabilities import LATEST
from cloakllm_gateway.core.settings import Mode
from cloakllm_gateway.detection.settings import ALL_LANGUAGES
from cloakllm_gateway.errors import DetectionError, PeerError, VaultError, first_cause
from cloakllm_gateway.protocol import jsonrpc
from cloakllm_gateway.protocol.jsonrpc import Failure, Request, Response
from cloakllm_gateway.shell.auditing import directory_of
from cloakllm_gateway.shell.config import Config, UpstreamConfig, load
from cloakllm_gateway.shell.installed_models import remedy, usable
from cloakllm_gateway.shell.listen import check_certificate
from cloakllm_gateway.shell.logging import Logger, escape
from cloakllm_gateway.shell.proof import prove_anew
from cloakllm_gateway.shell.remote.target import shown, target
from cloakllm_gateway.shell.run import session
from cloakllm_gateway.shell.supervisor import Restarts
from cloakllm_gateway.shell.transports.memory import Memory
from cloakllm_gateway.shell.wiring import Shared, assemble, share
from cloakllm_gateway.shell.writable import unwritable

#: What is counted: the capability, its list method, the key of the result.
LISTS = (("tools", "tools/list"), ("prompts", "prompts/list"), ("resources", "resources/list"))

#: Pages of one list after which an upstream is taken to be listing for ever.
MAX_PAGES = 1000


#: Lines of an upstream's own output that are shown where it does not work: npm takes nine to say what it did not find.
LAST_WORDS = 10

#: A check starts each program once: a person is waiting, and starting it again would end the same way.
one_attempt = partial(Restarts, attempts=1)


class Notes(Logger):
    """A log that remembers what each upstream printed last, and which rules are for tools that none has."""

    def __init__(self, level: str) -> None:
        super().__init__(level)
        self.last_words: dict[str, deque[str]] = {}
        self.idle: set[tuple[str, str]] = set()

    def log(self, level: str, event: str, **fields: object) -> None:
        if event == "upstream_says":
            said = self.last_words.setdefault(str(fields["upstream"]), deque(maxlen=LAST_WORDS))
            said.append(str(fields["line"]))
        elif event == "rules_that_fit_no_tool":
            self.idle.add((str(fields["upstream"]), str(fields["tools"])))
        super().log(level, event, **fields)


class Finding(NamedTuple):
    """What became of one upstream: the protocol version, how much it offers, or why it does not work."""

    upstream: str
    version: str = ""
    counts: tuple[int, ...] = ()
    problem: str = ""


def check(path: str, *, verbose: bool) -> int:
    """Check the configuration at ``path`` and print a table; returns the exit status."""
    return explained(lambda: anyio.run(_check, load(Path(path)), Path(path), verbose))


async def _check(config: Config, path: Path, verbose: bool) -> int:
    """What costs little is told first: most mistakes are in what starts the upstreams."""
    logger = Notes("debug" if verbose else "error")
    shared = share(config, logger)
    console = Console(file=sys.stdout, highlight=False)
    with Waiting(1 + len(config.upstreams), "checked") as waiting:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(waiting.show)
            waiting.tell("Starting every upstream, then proving detection, which takes ten seconds or more")
            findings = await _ask_each(config, logger, waiting)
            together = await _ask_all(config, logger) if _all_well(findings) and len(findings) > 1 else ""
            waiting.hide()
            _print_findings(console, config, findings)
            _print(console, [together, *_last_words(findings, logger)])
            proof, proved = await _prove(shared)
            tasks.cancel_scope.cancel()
    logger.close()
    vault, there = _vault(shared)
    unkept = [str(error) for error in unwritable(config)]
    idle = [f"Warning: upstreams.{name}.tools.{glob} fits no tool of {name}" for name, glob in sorted(logger.idle)]
    warnings = [*exposed(config, path), *changeable(path), *overheard(config), *idle]
    remarks = [proof, _mode(config), _names(shared), vault, _audit(shared), *unkept, _clients(config)]
    _print(console, [*remarks, *warnings])
    return 0 if proved and there and not unkept and _all_well(findings) and not together else 1


def _vault(shared: Shared) -> tuple[str, bool]:
    """Where values are kept, and whether that can be reached and is as gateways left it."""
    try:
        shared.store.check()
    except VaultError as error:
        return f"Vault: {error}", False
    if not shared.store.shared:
        return "Vault: in memory, gone with the gateway", True
    return f"Vault: {shared.config.vault.backend}, namespace {shared.namespace}", True


def _last_words(findings: list[Finding], notes: Notes) -> Iterator[str]:
    """What the upstreams that do not work printed last, made clean like all of the log."""
    for finding in findings:
        if finding.problem:
            yield from (f"{finding.upstream} said: {line}" for line in notes.last_words.get(finding.upstream, ()))


async def _prove(shared: Shared) -> tuple[str, bool]:
    """The start-up proof in full, whatever is remembered, for starts to remember; what to say, and whether it holds."""
    if not shared.config.sanitize:
        return "Detection: off (sanitize is false); the model sees everything", True
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(shared.scanner.run)
            examples = await prove_anew(shared)
            await shared.scanner.workers.prove()
            tasks.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        cause = first_cause(group)
        if not isinstance(cause, DetectionError):
            raise
        return f"Detection: {cause}", False
    return f"Detection: proved with {examples} examples", True


def _mode(config: Config) -> str:
    """What would surprise whoever relies on the gateway."""
    if config.sanitize and config.mode is Mode.OBSERVE:
        return "Mode: observe: what would be hidden is only counted and logged; the model sees everything"
    return ""


def _names(shared: Shared) -> str:
    """Whether names in free text are covered."""
    names = shared.detection.names
    if not shared.config.sanitize:
        return ""
    if names is None:
        return "Names in free text: not covered: switched off"
    if shared.scanner.names_missing:
        return f"Names in free text: not covered: {shared.scanner.names_missing}. {remedy(names)}"
    there = usable(names)
    models = ", ".join(f"{name} ({language})" for language, name in there.items())
    missing = [
        f"; {name} ({language}) is not there, so {_instead(there, language)}"
        for language, name in names.models
        if language not in there
    ]
    advice = f". {remedy(names)}" if missing else ""
    return f"Names in free text: {', '.join(names.labels)} by {models}{''.join(missing)}{advice}"


def _instead(there: Mapping[str, str], language: str) -> str:
    """Who reads a language whose model is missing."""
    other = there.get(ALL_LANGUAGES)
    return f"{other} reads it" if other and language != ALL_LANGUAGES else "nothing reads it"


def _clients(config: Config) -> str:
    """Where clients over HTTP are let in, and who.  Raises :class:`ConfigError` where nobody could be."""
    listen = config.listen
    if listen is None:
        return ""
    if listen.tls is not None:
        check_certificate(listen.tls)
    return f"Clients: over HTTP at {listen.unix or listen.http}, path {listen.path}; {_callers(config)}"


def _callers(config: Config) -> str:
    if config.auth and config.auth.tokens_file is not None:
        from cloakllm_gateway.shell.front.tokens import TokenFile  # most gateways serve one client over pipes

        known = sorted(TokenFile(Path(config.auth.tokens_file)).principals)
        return f"tokens of {', '.join(known) or 'nobody yet'}"
    if config.listen is not None and config.listen.unix is not None:
        return "whoever may use the socket"
    return "one token, made at the first start" if config.auth else "everybody, without a token"


def _audit(shared: Shared) -> str:
    """Where decisions are recorded."""
    directory = directory_of(shared.config)
    return f"Audit log: {directory}" if directory else "Audit log: off"


async def _ask_each(config: Config, logger: Logger, waiting: Waiting) -> list[Finding]:
    """All upstreams at once, each behind a gateway of its own."""
    findings: dict[str, Finding] = {}

    async def ask(name: str) -> None:
        alone = replace(
            config, upstreams={name: config.upstreams[name]}, startup_wait=config.upstreams[name].startup_timeout
        )
        try:
            findings[name] = await _interview(name, alone, logger)
        except PeerError as error:
            findings[name] = Finding(name, problem=str(error).removeprefix(f"{name}: "))
        waiting.advance(1)

    async with anyio.create_task_group() as tasks:
        for name in config.upstreams:
            tasks.start_soon(ask, name)
    return [findings[name] for name in config.upstreams]


async def _ask_all(config: Config, logger: Logger) -> str:
    """One session with everybody; what is wrong with it, if anything."""
    patience = max(upstream.startup_timeout for upstream in config.upstreams.values())
    together = replace(config, startup_wait=patience)
    try:
        await _interview("gateway", together, logger)
    except PeerError as error:
        return f"Together: {error}"
    return ""


async def _interview(name: str, config: Config, logger: Logger) -> Finding:
    """Play a client that says hello and lists everything.  Raises :class:`PeerError` with what went wrong.

    Of what is heard only numbers are shown, so detection is proved once, for all, and no model is loaded.
    """
    config = replace(config, detection=replace(config.detection, ner_entity_types=(), ner_required=False))
    serve = partial(session, prepare=_unproved, restarts=one_attempt)
    client = _Client()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve, assemble(config, logger), client.transport)
        try:
            hello = await client.ask("initialize", _HELLO)
            await client.tell("notifications/initialized")
            offered = hello.get("capabilities", {})
            counts = [await client.count(kind, method) if kind in offered else 0 for kind, method in LISTS]
        except PeerError as error:
            problem = str(error)
        else:
            problem = ""
        client.transport.leave()
    if problem:
        raise PeerError(problem)
    return Finding(name, str(hello.get("protocolVersion")), tuple(counts))


async def _unproved(_shared: Shared) -> None:
    """Nothing that a client would be shown depends on it."""


_HELLO = {
    "protocolVersion": LATEST,
    "capabilities": {},
    "clientInfo": {"name": "cloakllm-gateway-check", "version": __version__},
}


class _Client:
    """The least of an MCP client."""

    def __init__(self) -> None:
        self.transport = Memory()
        self._ids = 0

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result of a request; everything the gateway asks meanwhile is refused."""
        self._ids += 1
        await self.transport.say(jsonrpc.encode(jsonrpc.request(self._ids, method, params)))
        while True:
            match jsonrpc.classify(jsonrpc.decode(await self.transport.hear())):
                case Response(id, result) if id == self._ids:
                    return result if isinstance(result, dict) else {}
                case Failure(id, error) if id == self._ids:
                    raise PeerError(str(error.get("message")).removeprefix("No upstream is ready: "))
                case Request(id):
                    refusal = jsonrpc.failure(id, jsonrpc.METHOD_NOT_FOUND, "not served during a check")
                    await self.transport.say(jsonrpc.encode(refusal))

    async def tell(self, method: str) -> None:
        await self.transport.say(jsonrpc.encode(jsonrpc.notification(method)))

    async def count(self, kind: str, method: str) -> int:
        """The number of items on all pages of a list."""
        total, cursor = 0, None
        for _ in range(MAX_PAGES):
            page = await self.ask(method, {} if cursor is None else {"cursor": cursor})
            total += len(page.get(kind, ()))
            cursor = page.get("nextCursor")
            if cursor is None:
                return total
        raise PeerError(f"{method}: more than {MAX_PAGES} pages")


def _all_well(findings: list[Finding]) -> bool:
    return not any(finding.problem for finding in findings)


def _print_findings(console: Console, config: Config, findings: list[Finding]) -> None:
    table = Table(box=None, pad_edge=False)
    for title in ("upstream", "protocol"):
        table.add_column(title, overflow="fold")
    for kind, _ in LISTS:
        table.add_column(kind, justify="right")
    table.add_column("status", no_wrap=True)
    for finding in findings:
        counts = [str(count) for count in finding.counts] or ["-"] * len(LISTS)
        status = "[red]failed[/red]" if finding.problem else "[green]ok[/green]"
        table.add_row(finding.upstream, finding.version or "-", *counts, status)
    console.print(table)
    console.print()
    for finding in findings:
        if finding.problem:
            told = f"{finding.upstream}: {finding.problem}{_place(config.upstreams[finding.upstream])}"
            console.print(f"[red]{markup(escape(told))}[/red]", soft_wrap=True)


def _place(upstream: UpstreamConfig) -> str:
    """Where an upstream over HTTP was looked for."""
    return f" ({shown(target(upstream, os.environ).address)})" if upstream.url is not None else ""


def _print(console: Console, remarks: list[str]) -> None:
    for remark in remarks:
        if remark:
            console.print(markup(escape(remark)), soft_wrap=True)
