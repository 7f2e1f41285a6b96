"""``scan``: what would be hidden in a text, offline.  Nothing is stored and nothing is sent.

Each text goes the whole way of a tool's result, tripwire included, with a
vault of its own that is thrown away, so what is shown here is what the model
would be shown.  Where the values stood is read off that result.

Files are one text each; with ``--jsonl`` every line is one, and only one line
is in memory at a time.  What can't be looked at is reported by its name or
number and makes the exit status 1; the rest is scanned all the same.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Protocol

import anyio
import click
from msgspec.structs import replace

from cloakllm_gateway.cli.faults import FAILED, explained
from cloakllm_gateway.cli.waiting import Waiting
from cloakllm_gateway.core.allowed import Allowed
from cloakllm_gateway.core.handles import Handles
from cloakllm_gateway.core.sanitizer import Sanitizing, drive
from cloakllm_gateway.core.source import Source
from cloakllm_gateway.detection.categories import NAMES
from cloakllm_gateway.errors import ConfigError, GatewayError, first_cause
from cloakllm_gateway.protocol.surface import SURFACE
from cloakllm_gateway.shell.config import DetectionConfig, VaultConfig, detection_settings, load
from cloakllm_gateway.shell.logging import escape
from cloakllm_gateway.shell.name_models import remedy
from cloakllm_gateway.shell.scanner import Scanner
from cloakllm_gateway.shell.stores.book import Book
from cloakllm_gateway.shell.stores.interface import Quotas
from cloakllm_gateway.vault import tokens
from cloakllm_gateway.vault.entries import Entry, Spelling, Token
from cloakllm_gateway.vault.vault import Vault

if TYPE_CHECKING:
    from cloakllm_gateway.detection.settings import Settings

#: The exit status of ``--expect-clean`` where something was found.
FOUND = 3
#: Bytes of one text: no more than a message of the gateway may have.
LONGEST = 64 * 1024 * 1024
STDIN = "-"
JSONL = "jsonl"
_HERE = "scan"  # stands for the upstream, its group and its namespace
_NO_QUOTAS = Quotas(total=sys.maxsize, per_origin=sys.maxsize, per_message=sys.maxsize)  # a file is no message


class Given(NamedTuple):
    """One text to look at: the file it is or is in, its ``id`` in JSON lines, and how many bytes were read for it."""

    where: str
    text: str
    size: int
    id: Any = None


class Broken(NamedTuple):
    """What is no text, and why."""

    where: str
    problem: str
    size: int = 0


class Hidden(NamedTuple):
    """A value where it stands in its text, and the token that the model would see in its place."""

    start: int
    end: int
    token: Token


class Seen(NamedTuple):
    """What became of a text, and how many spellings of ``values`` it holds."""

    hidden: Sequence[Hidden]
    shown: str
    values: int


def scan(files: Sequence[str], form: str, *, config: str | None, names: bool, expect_clean: bool) -> int:
    """Scan files (``-`` is standard input) and write in one of ``WRITERS``; returns the exit status."""
    try:
        return explained(lambda: _scan(files, form, _configured(config, names), expect_clean))
    except BrokenPipeError:
        return _unread()
    except BaseExceptionGroup as group:
        if not isinstance(first_cause(group), BrokenPipeError):
            raise
        return _unread()


def _configured(config: str | None, names: bool) -> tuple[Settings, VaultConfig]:
    loaded = load(Path(config), to_serve=False) if config else None
    settings = detection_settings(loaded.detection if loaded else DetectionConfig())
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
    given = _lines(files) if form == JSONL else _texts(files)
    with Waiting(_sizes(files)) as waiting:
        out = Out(WRITERS[form](files), waiting, vault.max_values_per_message)
        counts = anyio.run(_scan_all, given, scanner, settings, out)
    if counts[Broken]:
        return FAILED
    return FOUND if expect_clean and counts[Hidden] else 0


class Out(NamedTuple):
    """Where the results go; what has more new values than ``most`` would be withheld if it were one message."""

    writer: Writer
    waiting: Waiting
    most: int

    def write(self, given: Given, seen: Seen) -> None:
        if sys.stdout.isatty():
            self.waiting.hide()
        if summary := self.writer.write(given, seen):
            self.tell(f"{given.where}: {summary}")
        if seen.values > self.most:
            self.tell(
                f"{given.where}: holds {seen.values} values, and one message may bring {self.most} "
                "(vault.max_values_per_message): in one piece it would be withheld"
            )

    def tell(self, what: str) -> None:
        self.waiting.hide()
        _say(what)


async def _scan_all(given: Iterable[Given | Broken], scanner: Scanner, settings: Settings, out: Out) -> Counter[type]:
    """Every text in turn; how many were broken, and how many values were hidden."""
    counts: Counter[type] = Counter()
    own = (name for name, _ in settings.custom_patterns)
    labels = settings.names.labels if settings.names else ()
    categories = NAMES.union(labels, own, (tokens.LITERAL,))
    allowed = Allowed(settings.allow_list)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(scanner.run)
        tasks.start_soon(out.waiting.show)
        out.writer.begin()
        for one in given:
            if isinstance(one, Given):
                try:
                    seen = await look(one.text, scanner, categories, allowed)
                except ConfigError:
                    raise
                except GatewayError as error:
                    one = Broken(one.where, f"would be withheld: {error}", one.size)
                else:
                    out.write(one, seen)
                    counts[Hidden] += len(seen.hidden)
            if isinstance(one, Broken):
                out.tell(f"{one.where}: {one.problem}")
                counts[Broken] += 1
            out.waiting.advance(one.size)
        out.writer.end()
        tasks.cancel_scope.cancel()
    return counts


async def look(text: str, scanner: Scanner, categories: frozenset[str], allowed: Allowed) -> Seen:
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
    result = {"content": [{"type": "text", "text": text}]}
    source = Source(_HERE, _HERE, vault, Handles(), categories, allowed=allowed)
    clean = await drive(Sanitizing(result, shape, source), scanner.find, assign)
    shown: str = clean.part["content"][0]["text"]
    return Seen(list(hidden(text, shown, entries)), shown, len(entries))


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


# -- what is read ---------------------------------------------------------------------------------


#: Spreadsheets export otherwise, and no character says in which way.
_NOT_UTF8 = "is not UTF-8 text: convert it (iconv -f WINDOWS-1252 -t UTF-8, or whatever it was written in)"
_UTF16 = "is not UTF-8 text: convert it (iconv -f UTF-16 -t UTF-8)"
_BINARY = "is no text: it holds zero bytes"


def _unreadable(data: bytes) -> str:
    """Why bytes that are no UTF-8 can't be scanned."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _UTF16
    return _BINARY if b"\0" in data else _NOT_UTF8


def _opened(files: Sequence[str]) -> Iterator[tuple[str, IO[bytes]] | Broken]:
    for name in files:
        if name == STDIN:
            yield "standard input", sys.stdin.buffer
            continue
        try:
            with open(name, "rb") as file:
                yield escape(name), file
        except IsADirectoryError:
            yield Broken(escape(name), "is a directory: name the files in it")
        except OSError as error:
            yield Broken(escape(name), f"cannot be read: {error.strerror}")


def _texts(files: Sequence[str]) -> Iterator[Given | Broken]:
    """Each file as one text."""
    for opened in _opened(files):
        if isinstance(opened, Broken):
            yield opened
            continue
        where, file = opened
        data = file.read(LONGEST + 1)
        if len(data) > LONGEST:
            yield Broken(where, f"is larger than a message can be ({LONGEST >> 20} MiB)", len(data))
            continue
        try:
            yield Given(where, data.decode("utf-8-sig"), len(data))
        except UnicodeDecodeError:
            yield Broken(where, _unreadable(data), len(data))


def _lines(files: Sequence[str]) -> Iterator[Given | Broken]:
    """Each line as one text: a JSON object with ``text`` and perhaps an ``id``."""
    for opened in _opened(files):
        if isinstance(opened, Broken):
            yield opened
            continue
        name, file = opened
        number = 0
        while line := file.readline(LONGEST + 1):
            number += 1
            where = f"{name}: line {number}"
            if len(line) > LONGEST:
                size = len(line)
                while line and not line.endswith(b"\n"):
                    line = file.readline(LONGEST)
                    size += len(line)
                yield Broken(where, f"is longer than a message can be ({LONGEST >> 20} MiB)", size)
            elif line.strip():
                yield _line(where, line)


def _line(where: str, line: bytes) -> Given | Broken:
    try:
        given = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return Broken(where, _unreadable(line), len(line))
    except (ValueError, RecursionError):
        return Broken(where, "is not a line of JSON; without --jsonl a file is scanned whole", len(line))
    if not isinstance(given, dict) or not isinstance(given.get("text"), str):
        return Broken(where, 'is not an object with a string "text"', len(line))
    return Given(where, given["text"], len(line), given.get("id"))


def _sizes(files: Sequence[str]) -> int | None:
    """Bytes of all files, None where that can't be known."""
    paths = [Path(name) for name in files]
    return sum(path.stat().st_size for path in paths) if all(path.is_file() for path in paths) else None


# -- what is written ------------------------------------------------------------------------------


class Writer(Protocol):
    """Writes on standard output; :meth:`write` returns what is to be said beside it, empty for nothing."""

    def begin(self) -> None: ...
    def write(self, given: Given, seen: Seen) -> str: ...
    def end(self) -> None: ...


class Json:
    """One array with an object for each file."""

    def __init__(self, files: Sequence[str]) -> None:
        self._separator = "\n"

    def begin(self) -> None:
        sys.stdout.write("[")

    def write(self, given: Given, seen: Seen) -> str:
        sys.stdout.write(self._separator + json.dumps({"file": given.where, **_as_json(seen)}))
        self._separator = ",\n"
        return ""

    def end(self) -> None:
        sys.stdout.write("\n]\n")


class JsonLines:
    """One object for each line that was read, as soon as it is known."""

    def __init__(self, files: Sequence[str]) -> None:
        pass

    def begin(self) -> None:
        pass

    def write(self, given: Given, seen: Seen) -> str:
        click.echo(json.dumps({"id": given.id, **_as_json(seen)}))
        return ""

    def end(self) -> None:
        pass


def _as_json(seen: Seen) -> dict[str, Any]:
    spans = [{"start": one.start, "end": one.end, "category": one.token.category} for one in seen.hidden]
    return {"spans": spans, "text": seen.shown}


class Marked:
    """The text itself, each value marked and followed by its token; in colour where somebody looks.

    Of several files each has its name above it.
    """

    def __init__(self, files: Sequence[str]) -> None:
        from rich.console import Console

        self._are_several = len(files) > 1
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")  # an old terminal knows few letters
        self._console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
        self._in_colour = self._console.color_system is not None and not self._console.no_color
        self._before, self._behind = _marks(self._console.encoding)

    def begin(self) -> None:
        pass

    def write(self, given: Given, seen: Seen) -> str:
        from rich.text import Text

        shown = Text()
        if self._are_several:
            shown.append(f"==> {given.where} <==\n")
        done = 0
        for start, end, token in seen.hidden:
            shown.append(_printable(given.text[done:start]))
            value = _printable(given.text[start:end])
            if self._in_colour:
                shown.append(value, "red").append(str(token), "green")
            else:
                shown.append(f"{self._before}{value}{self._behind}{token}")
            done = end
        shown.append(_printable(given.text[done:]))
        with self._console.capture() as rendered:  # it would end the process where nobody reads any more
            self._console.print(shown, end="" if shown.plain.endswith("\n") else "\n")
        sys.stdout.write(rendered.get())
        sys.stdout.flush()
        categories = Counter(one.token.category for one in seen.hidden)
        told = ", ".join(f"{count} {category}" for category, count in categories.most_common())
        return told or "nothing would be hidden"

    def end(self) -> None:
        pass


def _marks(encoding: str) -> tuple[str, str]:
    """What stands around a value where there is no colour."""
    try:
        "«»".encode(encoding)
    except UnicodeEncodeError:
        return "<<", ">>"
    return "«", "»"


def _printable(text: str) -> str:
    """A text without what a terminal would obey."""
    return "\n".join("\t".join(map(escape, line.split("\t"))) for line in text.replace("\r\n", "\n").split("\n"))


#: From the files that are scanned to what writes about them.
WRITERS: Mapping[str, Callable[[Sequence[str]], Writer]] = {"text": Marked, "json": Json, JSONL: JsonLines}


def _say(what: str) -> None:
    click.echo(f"cloakllm-gateway: {what}", err=True)
