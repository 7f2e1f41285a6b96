"""What ``scan`` reads out of files: texts and lines of JSON, each as one text or as the reason why it is none."""

from __future__ import annotations

import json
import os
import sys
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_LE
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any, NamedTuple

from cloakllm_gateway.cli.scan_files import LARGEST, STDIN, File, Skipped, Unreadable, Why, files, is_folder, unreadable

#: Bytes of one text: no more than a message of the gateway may have.
LONGEST = 64 * 1024 * 1024
#: Bytes at the start of a file in a folder that tell whether it is text.
_FIRST = 8192


class Input(NamedTuple):
    """One text to look at: the file it is or is in, and how many bytes were read for it.

    It has an ``id`` in JSON lines; a ``mark`` of the order of bytes before it is no part of it.
    """

    where: str
    text: str
    size: int
    id: Any = None
    mark: str = ""


#: Spreadsheets export otherwise, and no character says in which way.
_NOT_UTF8 = "is not UTF-8 text: convert it (iconv -f WINDOWS-1252 -t UTF-8, or whatever it was written in)"
_UTF16 = "is not UTF-8 text: convert it (iconv -f UTF-16 -t UTF-8)"
_BINARY = "is no text: it holds zero bytes"


def _fault(data: bytes) -> str:
    """Why bytes can't be scanned that are no text, or lines that are no UTF-8."""
    if _is_utf16(data):
        return _UTF16
    return _BINARY if b"\0" in data else _NOT_UTF8


def _is_utf16(data: bytes) -> bool:
    """By its mark; that of UTF-32 begins alike."""
    return data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) and not data.startswith(BOM_UTF32_LE)


def texts(names: Sequence[str]) -> Iterator[Input | Skipped | Unreadable]:
    """Each file as one text, those in folders too."""
    for file in files(names):
        if isinstance(file, File):
            yield from _read(file, _text)
        else:
            yield file


def lines(names: Sequence[str]) -> Iterator[Input | Skipped | Unreadable]:
    """Each line as one text: a JSON object with ``text`` and perhaps an ``id``."""
    for name in names:
        file = File(name)
        if is_folder(name):
            yield Unreadable(file.where, "is a directory: name the files in it")
        else:
            yield from _read(file, _lines)


_Reader = Callable[[File, IO[bytes]], Iterator[Input | Skipped | Unreadable]]


def _read(file: File, reader: _Reader) -> Iterator[Input | Skipped | Unreadable]:
    """What the reader makes of a file, and why it went no further."""
    if file.name == STDIN:
        yield from reader(file, sys.stdin.buffer)
        return
    try:
        with open(file.name, "rb", opener=_not_followed if file.in_folder else None) as stream:
            yield from reader(file, stream)
    except OSError as error:
        yield unreadable(file.where, error)._replace(size=file.size)


def _not_followed(path: str, flags: int) -> int:
    """What was a file in the folder may have become a link or a pipe."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def _text(file: File, stream: IO[bytes]) -> Iterator[Input | Skipped | Unreadable]:
    yield _unknown(file, stream) if file.in_folder else _named(file, stream)


def _named(file: File, stream: IO[bytes]) -> Input | Unreadable:
    data = stream.read(LONGEST + 1)
    if len(data) > LONGEST:
        return Unreadable(file.where, f"is larger than a message can be ({LONGEST >> 20} MiB)", len(data))
    try:
        return _decoded(file, data)
    except UnicodeDecodeError:
        return Unreadable(file.where, _fault(data), len(data))


def _unknown(file: File, stream: IO[bytes]) -> Input | Skipped:
    """Of a file that nobody named, only text."""
    data = stream.read(_FIRST)
    if b"\0" in data and not _is_utf16(data):
        return Skipped(Why.BINARY, file.size)
    data += stream.read(LARGEST + 1 - len(data))
    if len(data) > LARGEST:  # it has grown
        return Skipped(Why.LARGE, file.size)
    try:
        return _decoded(file, data)._replace(size=file.size)
    except UnicodeDecodeError:
        return Skipped(Why.ENCODING, file.size)


def _decoded(file: File, data: bytes) -> Input:
    """Raises :class:`UnicodeDecodeError`."""
    if _is_utf16(data):
        return Input(file.where, data.decode("utf-16"), len(data))
    return Input(file.where, data.decode("utf-8-sig"), len(data), mark="\ufeff" if data.startswith(BOM_UTF8) else "")


def _lines(file: File, stream: IO[bytes]) -> Iterator[Input | Unreadable]:
    number = 0
    while line := stream.readline(LONGEST + 1):
        number += 1
        where = f"{file.where}: line {number}"
        if len(line) > LONGEST:
            size = len(line)
            while line and not line.endswith(b"\n"):
                line = stream.readline(LONGEST)
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
