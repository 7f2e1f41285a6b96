"""What ``scan`` writes: the text with its values marked, or JSON with their spans; of folders only where values are."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import TextIOWrapper
from typing import Any, NamedTuple, Protocol

import click

from cloakllm_gateway.cli.scan_files import Skipped, Unreadable, Why, is_folder
from cloakllm_gateway.cli.scan_input import Input
from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.shell.logging import escape
from cloakllm_gateway.vault.entries import Token

JSONL = "jsonl"


class Hidden(NamedTuple):
    """A value where it stands in its text, and the token that the model would see in its place."""

    start: int
    end: int
    token: Token


class Result(NamedTuple):
    """What became of a text: what is hidden in it, what the model would see, how many spellings of values it holds."""

    hidden: Sequence[Hidden]
    shown: str
    values: int


class Tally:
    """What became of all that was read."""

    def __init__(self) -> None:
        self.clean = 0
        self.with_finds = 0
        self.unreadable = 0
        self.finds: Counter[str] = Counter()
        self._skipped: Counter[Why] = Counter()
        self._skipped_files = 0

    @property
    def files(self) -> int:
        """How many were opened, or could not be."""
        return self.clean + self.with_finds + self.unreadable + self._skipped_files

    @property
    def is_partial(self) -> bool:
        """Whether text was skipped: nobody knows whether something would be hidden in it."""
        return any(why.is_text for why in self._skipped)

    def add(self, one: Result | Skipped | Unreadable) -> None:
        if isinstance(one, Unreadable):
            self.unreadable += 1
        elif isinstance(one, Skipped):
            self._skipped[one.why] += 1
            self._skipped_files += one.size > 0
        elif one.hidden:
            self.with_finds += 1
            self.finds.update(each.token.category for each in one.hidden)
        else:
            self.clean += 1

    def sentences(self) -> Iterator[str]:
        """What is said at the end."""
        scanned = self.clean + self.with_finds
        found = f"{self.with_finds} with finds: {_counted(self.finds)}" if self.finds else "nothing would be hidden"
        yield f"{scanned} {'file' if scanned == 1 else 'files'} scanned, {found}"
        if self.unreadable:
            yield f"{self.unreadable} could not be scanned"
        if self._skipped:
            yield f"skipped: {', '.join(why.count(self._skipped[why]) for why in Why if why in self._skipped)}"


def _counted(categories: Counter[str]) -> str:
    return ", ".join(f"{count} {category}" for category, count in categories.most_common())


class Writer(Protocol):
    """Writes on standard output; :meth:`write` returns what is to be said beside it, empty for nothing."""

    def begin(self) -> None: ...
    def write(self, source: Input, result: Result) -> str: ...
    def end(self) -> None: ...


class Json:
    """One array with an object for each file."""

    def __init__(self, files: Sequence[str]) -> None:
        self._separator = "\n"

    def begin(self) -> None:
        sys.stdout.write("[")

    def write(self, source: Input, result: Result) -> str:
        sys.stdout.write(self._separator + json.dumps({"file": source.where, **_as_json(result)}))
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

    def write(self, source: Input, result: Result) -> str:
        click.echo(json.dumps({"id": source.id, **_as_json(result)}))
        return ""

    def end(self) -> None:
        pass


def _as_json(result: Result) -> dict[str, Any]:
    spans = [{"start": one.start, "end": one.end, "category": one.token.category} for one in result.hidden]
    return {"spans": spans, "text": result.shown}


class Marked:
    """The text itself, each value marked and followed by its token; in colour where somebody looks.

    Of several files each has its name above it; of files in folders, only the lines with values are shown.
    """

    def __init__(self, files: Sequence[str]) -> None:
        from rich.console import Console

        self._by_line = any(map(is_folder, files))
        self._are_several = len(files) > 1 or self._by_line
        if isinstance(sys.stdout, TextIOWrapper):
            # An old terminal knows few letters; lines end as they do in the text.
            sys.stdout.reconfigure(errors="backslashreplace", newline="\n")
        self._console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
        self._in_colour = self._console.color_system is not None and not self._console.no_color
        self._before, self._behind = _marks(self._console.encoding)

    def begin(self) -> None:
        pass

    def write(self, source: Input, result: Result) -> str:
        if self._are_several:
            sys.stdout.write(f"==> {source.where} <==\n")
        if self._by_line:
            for number, text, inside in _lines(source.text, result.hidden):
                self._show(f"{number}: ", text, inside)
        else:
            self._show("" if self._in_colour else source.mark, source.text, result.hidden)
        sys.stdout.flush()
        return _counted(Counter(one.token.category for one in result.hidden)) or "nothing would be hidden"

    def end(self) -> None:
        pass

    def _show(self, before: str, text: str, inside: Sequence[Hidden]) -> None:
        shown = before + (self._coloured(text, inside) if self._in_colour else self._plain(text, inside))
        sys.stdout.write(shown if shown.endswith("\n") else f"{shown}\n")

    def _plain(self, text: str, inside: Sequence[Hidden]) -> str:
        out, done = [], 0
        for start, end, token in inside:
            value = _printable(text[start:end])
            out.append(f"{_printable(text[done:start])}{self._before}{value}{self._behind}{token}")
            done = end
        return "".join((*out, _printable(text[done:])))

    def _coloured(self, text: str, inside: Sequence[Hidden]) -> str:
        from rich.text import Text

        shown, done = Text(), 0
        for start, end, token in inside:
            shown.append(_printable(text[done:start]))
            shown.append(_printable(text[start:end]), "red").append(str(token), "green")
            done = end
        shown.append(_printable(text[done:]))
        with self._console.capture() as rendered:  # it would end the process where nobody reads any more
            self._console.print(shown, end="")
        return rendered.get()


def _lines(text: str, values: Sequence[Hidden]) -> Iterator[tuple[int, str, Sequence[Hidden]]]:
    """The lines with values: the number of each, its text and where the values are in it.

    Lines that a value goes over are one piece, with the number of the first.
    """
    number, at, done = 1, 0, 0
    while done < len(values):
        start = text.rfind("\n", 0, values[done].start) + 1
        end, first = start, done
        while done < len(values) and (done == first or values[done].start < end):
            end = text.find("\n", max(values[done].end - 1, start)) + 1 or len(text)
            done += 1
        number += text.count("\n", at, start)
        at = start
        inside = [Hidden(one.start - start, one.end - start, one.token) for one in values[first:done]]
        yield number, text[start:end], inside


def _marks(encoding: str) -> tuple[str, str]:
    """What stands around a value where there is no colour."""
    try:
        "«»".encode(encoding)
    except UnicodeEncodeError:
        return "<<", ">>"
    return "«", "»"


def _printable(text: str) -> str:
    """A text without what a terminal would obey, but for tabs and ends of lines."""
    return "".join(part if part in _KEPT else escape(part) for part in _SPLIT.split(text))


_KEPT = ("\n", "\r\n", "\t")
_SPLIT = lazy(r"(\r?\n|\t)")


#: From the files that are scanned to what writes about them.
WRITERS: Mapping[str, Callable[[Sequence[str]], Writer]] = {"text": Marked, "json": Json, JSONL: JsonLines}
