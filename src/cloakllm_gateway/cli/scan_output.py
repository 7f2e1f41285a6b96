"""What ``scan`` writes: the text with its values marked, or JSON with their spans."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from io import TextIOWrapper
from typing import Any, NamedTuple, Protocol

import click

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

    Of several files each has its name above it.
    """

    def __init__(self, files: Sequence[str]) -> None:
        from rich.console import Console

        self._are_several = len(files) > 1
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
        shown = (
            self._coloured(source.text, result) if self._in_colour else source.mark + self._plain(source.text, result)
        )
        sys.stdout.write(shown if shown.endswith("\n") else f"{shown}\n")
        sys.stdout.flush()
        categories = Counter(one.token.category for one in result.hidden)
        told = ", ".join(f"{count} {category}" for category, count in categories.most_common())
        return told or "nothing would be hidden"

    def end(self) -> None:
        pass

    def _plain(self, text: str, result: Result) -> str:
        out, done = [], 0
        for start, end, token in result.hidden:
            value = _printable(text[start:end])
            out.append(f"{_printable(text[done:start])}{self._before}{value}{self._behind}{token}")
            done = end
        return "".join((*out, _printable(text[done:])))

    def _coloured(self, text: str, result: Result) -> str:
        from rich.text import Text

        shown, done = Text(), 0
        for start, end, token in result.hidden:
            shown.append(_printable(text[done:start]))
            shown.append(_printable(text[start:end]), "red").append(str(token), "green")
            done = end
        shown.append(_printable(text[done:]))
        with self._console.capture() as rendered:  # it would end the process where nobody reads any more
            self._console.print(shown, end="")
        return rendered.get()


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
