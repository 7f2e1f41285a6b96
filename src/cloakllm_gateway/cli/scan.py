"""``scan``: what would be hidden in a text, offline.  Nothing is stored and nothing is sent.

Each text goes the whole way of a tool's result, tripwire included, with a
vault of its own that is thrown away, so what is shown here is what the model
would be shown.  Where the values stood is read off that result.

Files are one text each, those in folders too; with ``--jsonl`` every line is
one.  Only one text is in memory at a time.  What can't be looked at is reported
by its name or number and makes the exit status 1; the rest is scanned all the same.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import anyio
import click
from anyio.lowlevel import checkpoint
from msgspec.structs import replace

from cloakllm_gateway.cli import scan_files, scan_input
from cloakllm_gateway.cli.faults import FAILED, explained
from cloakllm_gateway.cli.scan_files import Skipped, Total, Unreadable
from cloakllm_gateway.cli.scan_input import Input
from cloakllm_gateway.cli.scan_output import JSONL, WRITERS, Hidden, Result, Tally, Writer
from cloakllm_gateway.cli.waiting import Waiting
from cloakllm_gateway.core.allowed import Allowed
from cloakllm_gateway.core.handles import Handles
from cloakllm_gateway.core.sanitizer import Sanitizing, drive
from cloakllm_gateway.core.source import Source
from cloakllm_gateway.detection.categories import NAMES
from cloakllm_gateway.errors import ConfigError, GatewayError, first_cause
from cloakllm_gateway.protocol.surface import SURFACE
from cloakllm_gateway.shell.config import DetectionConfig, VaultConfig, detection_settings, load
from cloakllm_gateway.shell.consistency import check_locale
from cloakllm_gateway.shell.installed_models import remedy
from cloakllm_gateway.shell.scanner import Scanner
from cloakllm_gateway.shell.stores.book import Book
from cloakllm_gateway.shell.stores.interface import Quotas
from cloakllm_gateway.shell.structs import Invalid
from cloakllm_gateway.vault import tokens
from cloakllm_gateway.vault.entries import Entry, Spelling, Token
from cloakllm_gateway.vault.vault import Vault

if TYPE_CHECKING:
    from cloakllm_gateway.detection.settings import Settings

#: The exit status of ``--expect-clean`` where something was found.
FOUND = 3
_HERE = "scan"  # stands for the upstream, its group and its namespace
_NO_QUOTAS = Quotas(total=sys.maxsize, per_origin=sys.maxsize, per_message=sys.maxsize)  # a file is no message


def scan(
    files: Sequence[str], form: str, *, config: str | None, locales: Sequence[str], names: bool, expect_clean: bool
) -> int:
    """Scan files (``-`` is standard input) and write in one of ``WRITERS``; returns the exit status."""
    try:
        return explained(lambda: _scan(files, form, _configured(config, locales, names), expect_clean))
    except BrokenPipeError:
        return _unread()
    except BaseExceptionGroup as group:
        if not isinstance(first_cause(group), BrokenPipeError):
            raise
        return _unread()


def _configured(config: str | None, locales: Sequence[str], names: bool) -> tuple[Settings, VaultConfig]:
    """What counts, and how much a message may bring.  Raises :class:`ConfigError`."""
    loaded = load(Path(config), to_serve=False) if config else None
    detection = loaded.detection if loaded else DetectionConfig()
    try:
        for locale in locales:
            check_locale(locale, "--locale")
    except Invalid as error:
        raise ConfigError(f"{error.path} {error.problem}", error.hint) from None
    settings = detection_settings(replace(detection, locales=(*detection.locales, *locales)))
    return settings if names else replace(settings, names=None), loaded.vault if loaded else VaultConfig()


def _unread() -> int:
    """Whoever read the results has gone, as `head` does: what is still in the buffer goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return FAILED


def _scan(files: Sequence[str], form: str, configured: tuple[Settings, VaultConfig], expect_clean: bool) -> int:
    settings, vault = configured
    scanner = Scanner(settings)
    if scanner.names_missing and settings.names:
        _say(f"names in free text are not covered: {scanner.names_missing}. {remedy(settings.names)}")
    inputs = scan_input.lines(files) if form == JSONL else scan_input.texts(files)
    in_folders = form != JSONL and any(map(scan_files.is_folder, files))
    total = scan_files.total(files) if sys.stderr.isatty() else None
    with Waiting(total and total.size, is_loading=lambda: scanner.is_loading) as waiting:
        out = Out(WRITERS[form](files), waiting, vault.max_values_per_message, in_folders, total)
        tally = anyio.run(_scan_all, inputs, scanner, settings, out)
    if tally.unreadable or (expect_clean and tally.is_partial):
        return FAILED
    return FOUND if expect_clean and tally.finds else 0


class Out(NamedTuple):
    """Where the results go; what has more new values than ``most`` would be withheld if it were one message.

    Where there are folders, only files with finds are shown, and a summary ends it.
    """

    writer: Writer
    waiting: Waiting
    most: int
    in_folders: bool
    total: Total | None

    def write(self, source: Input, result: Result) -> None:
        if self.in_folders and not result.hidden:
            return
        if sys.stdout.isatty():
            self.waiting.hide()
        if summary := self.writer.write(source, result):
            self.tell(f"{source.where}: {summary}")
        if result.values > self.most:
            self.tell(
                f"{source.where}: holds {result.values} values, and one message may bring {self.most} "
                "(vault.max_values_per_message): in one piece it would be withheld"
            )

    def advance(self, size: int, tally: Tally) -> None:
        done = f"{tally.files}/{self.total.files} files" if self.in_folders and self.total else ""
        self.waiting.advance(size, done)

    def end(self, tally: Tally) -> None:
        self.writer.end()
        if self.in_folders:
            for sentence in tally.sentences():
                self.tell(sentence)

    def tell(self, what: str) -> None:
        self.waiting.hide()
        _say(what)


async def _scan_all(
    inputs: Iterable[Input | Skipped | Unreadable], scanner: Scanner, settings: Settings, out: Out
) -> Tally:
    """Scan every text in turn; returns what became of them."""
    tally = Tally()
    own = (name for name, _ in settings.custom_patterns)
    labels = settings.names.labels if settings.names else ()
    categories = NAMES.union(labels, own, (tokens.LITERAL,))
    allowed = Allowed(settings.allow_list)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(scanner.run)
        tasks.start_soon(out.waiting.show)
        out.writer.begin()
        for one in inputs:
            await checkpoint()  # a text without names waits for nothing, and thousands would let nobody interrupt them
            if isinstance(one, Input):
                try:
                    result = await look(one.text, scanner, categories, allowed)
                except ConfigError:
                    raise
                except GatewayError as error:
                    one = Unreadable(one.where, f"would be withheld: {error}", one.size)
                else:
                    out.write(one, result)
                    tally.add(result)
            if isinstance(one, Unreadable):
                out.tell(f"{one.where}: {one.problem}")
            if not isinstance(one, Input):
                tally.add(one)
            out.advance(one.size, tally)
        out.end(tally)
        tasks.cancel_scope.cancel()
    return tally


async def look(text: str, scanner: Scanner, categories: frozenset[str], allowed: Allowed) -> Result:
    """One text on its way to the model.  Raises :class:`GatewayError` where it would be withheld."""
    vault = Vault()
    book = Book(_NO_QUOTAS, lambda purpose, parts: (purpose, *parts))
    numbers: Counter[str] = Counter()
    entries: dict[Token, Entry] = {}

    def take(category: str) -> int:
        numbers[category] += 1
        return numbers[category] - 1

    async def assign(spellings: Sequence[Spelling]) -> Sequence[Entry]:
        changes, assigned = book.settle(book.look(_HERE, _HERE, _HERE, spellings), take, now=0.0)
        book.apply(changes)
        vault.learn(assigned)
        entries.update((entry.token, entry) for entry in assigned)
        return assigned

    shape = SURFACE["tools/call"].result
    assert shape is not None
    message = {"content": [{"type": "text", "text": text}]}
    source = Source(_HERE, _HERE, vault, Handles(), categories, allowed=allowed)
    clean = await drive(Sanitizing(message, shape, source), scanner.find, assign)
    shown: str = clean.part["content"][0]["text"]
    return Result(list(hidden(text, shown, entries)), shown, len(entries))


def hidden(text: str, shown: str, entries: Mapping[Token, Entry]) -> Iterator[Hidden]:
    """Where the values stood in ``text`` whose tokens stand in ``shown``.

    Between two tokens both texts are the same, except that the token of a bare
    JSON number stands in quotes.
    """
    at = done = 0
    for match in tokens.scan(shown):
        entry = entries.get(match.token)
        if entry is None:
            continue
        between = shown[done : match.start]
        quote = 0 if text.startswith(between, at) else 1
        start = at + len(between) - quote
        at = start + len(entry.spelling.raw)
        done = match.end + quote
        yield Hidden(start, at, match.token)


def _say(what: str) -> None:
    click.echo(f"cloakllm-gateway: {what}", err=True)
