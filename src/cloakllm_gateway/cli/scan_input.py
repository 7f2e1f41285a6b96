"""What ``scan`` reads: files, standard input, and lines of JSON, each as one text or as the reason why it is none."""

from __future__ import annotations

import json
import os
import stat
import sys
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from typing import IO, Any, NamedTuple

from cloakllm_gateway.shell.logging import escape

STDIN = "-"
#: Bytes of one text: no more than a message of the gateway may have.
LONGEST = 64 * 1024 * 1024


class Input(NamedTuple):
    """One text to look at: the file it is or is in, and how many bytes were read for it.

    It has an ``id`` in JSON lines; a ``mark`` of the order of bytes before it is no part of it.
    """

    where: str
    text: str
    size: int
    id: Any = None
    mark: str = ""


class Unreadable(NamedTuple):
    """What can't be scanned, and why."""

    where: str
    problem: str
    size: int = 0


#: Spreadsheets export otherwise, and no character says in which way.
_NOT_UTF8 = "is not UTF-8 text: convert it (iconv -f WINDOWS-1252 -t UTF-8, or whatever it was written in)"
_UTF16 = "is not UTF-8 text: convert it (iconv -f UTF-16 -t UTF-8)"
_BINARY = "is no text: it holds zero bytes"


def _fault(data: bytes) -> str:
    """Why bytes that are no UTF-8 can't be scanned."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _UTF16
    return _BINARY if b"\0" in data else _NOT_UTF8


def _opened(files: Sequence[str]) -> Iterator[tuple[str, IO[bytes]] | Unreadable]:
    for name in files:
        if name == STDIN:
            yield "standard input", sys.stdin.buffer
            continue
        try:
            with open(name, "rb") as file:
                yield escape(name), file
        except IsADirectoryError:
            yield Unreadable(escape(name), "is a directory: name the files in it")
        except OSError as error:
            yield Unreadable(escape(name), f"cannot be read: {error.strerror}")


def texts(files: Sequence[str]) -> Iterator[Input | Unreadable]:
    """Each file as one text."""
    for opened in _opened(files):
        if isinstance(opened, Unreadable):
            yield opened
            continue
        where, file = opened
        data = file.read(LONGEST + 1)
        if len(data) > LONGEST:
            yield Unreadable(where, f"is larger than a message can be ({LONGEST >> 20} MiB)", len(data))
            continue
        try:
            mark = "\ufeff" if data.startswith(BOM_UTF8) else ""
            yield Input(where, data.decode("utf-8-sig"), len(data), mark=mark)
        except UnicodeDecodeError:
            yield Unreadable(where, _fault(data), len(data))


def lines(files: Sequence[str]) -> Iterator[Input | Unreadable]:
    """Each line as one text: a JSON object with ``text`` and perhaps an ``id``."""
    for opened in _opened(files):
        if isinstance(opened, Unreadable):
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
                yield Unreadable(where, f"is longer than a message can be ({LONGEST >> 20} MiB)", size)
            elif line.strip():
                yield _line(where, line)


def _line(where: str, line: bytes) -> Input | Unreadable:
    try:
        record = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return Unreadable(where, _fault(line), len(line))
    except (ValueError, RecursionError):
        return Unreadable(where, "is not a line of JSON; without --jsonl a file is scanned whole", len(line))
    if not isinstance(record, dict) or not isinstance(record.get("text"), str):
        return Unreadable(where, 'is not an object with a string "text"', len(line))
    return Input(where, record["text"], len(line), record.get("id"))


def size_of(files: Sequence[str]) -> int | None:
    """Bytes of all files, None where that can't be known."""
    try:
        found = [os.stat(name) for name in files]
    except OSError:  # that it can't be read is said when its turn comes
        return None
    return sum(file.st_size for file in found) if all(stat.S_ISREG(file.st_mode) for file in found) else None
