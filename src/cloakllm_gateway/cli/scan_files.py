"""Which files ``scan`` reads: those that are named, and those in the folders that are named.

A folder is gone through in the order of the names in it.  No symbolic link in
it is followed: what it leads to lies in the folder and is read there, or lies
elsewhere and nobody asked for it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import NamedTuple

from cloakllm_gateway.shell.logging import escape

STDIN = "-"
#: Bytes of a file in a folder.  Who names a folder does not know what is in it, and a text takes sixty times its size.
LARGEST = 10 * 1024 * 1024
_GIT = ".git"
_JUNCTION = 0xA0000003  # Windows: a folder that is another one, and no symbolic link


class Why(Enum):
    """Why something in a folder is skipped: what one is called, and what several are."""

    BINARY = ("binary file", "binary files")
    ENCODING = ("file that is neither UTF-8 nor UTF-16 with its mark", "files that are neither UTF-8 nor marked UTF-16")
    LARGE = (f"file larger than {LARGEST >> 20} MiB", f"files larger than {LARGEST >> 20} MiB")
    LINK = ("symbolic link", "symbolic links")
    SPECIAL = ("pipe, socket or device", "pipes, sockets or devices")
    GIT = (_GIT, _GIT)

    @property
    def is_text(self) -> bool:
        """Whether it may be text, which others can read."""
        return self in (Why.ENCODING, Why.LARGE)

    def count(self, number: int) -> str:
        one, several = self.value
        return f"{number} {one if number == 1 else several}"


class File(NamedTuple):
    """A file to read; ``size`` in bytes is known of one in a folder, which may hold anything."""

    name: str
    in_folder: bool = False
    size: int = 0

    @property
    def where(self) -> str:
        return "standard input" if self.name == STDIN else escape(self.name)


class Skipped(NamedTuple):
    """What was in a folder and is not to be scanned; ``size`` in bytes where it is a file to be counted."""

    why: Why
    size: int = 0


class Unreadable(NamedTuple):
    """What can't be scanned, and why."""

    where: str
    problem: str
    size: int = 0


class Total(NamedTuple):
    """How much there is to read."""

    files: int
    size: int


def is_folder(name: str) -> bool:
    return name != STDIN and os.path.isdir(name)


def files(names: Sequence[str]) -> Iterator[File | Skipped | Unreadable]:
    """The files with these names, and in place of a folder all that is in it."""
    for name in names:
        if is_folder(name):
            yield from _inside(name)
        else:
            yield File(name)


def total(names: Sequence[str]) -> Total | None:
    """All that :func:`files` gives less what it skips, None where that can't be known."""
    number = size = 0
    for one in files(names):
        number += not isinstance(one, Skipped)
        if isinstance(one, File):
            if one.in_folder:
                size += one.size
                continue
            try:
                found = os.stat(one.name)
            except OSError:  # that it can't be read is said when its turn comes
                return None
            if not stat.S_ISREG(found.st_mode):
                return None
            size += found.st_size
    return Total(number, size)


def unreadable(where: str, error: OSError) -> Unreadable:
    return Unreadable(where, f"cannot be read: {error.strerror}")


def _inside(folder: str) -> Iterator[File | Skipped | Unreadable]:
    """In memory is what lies ahead in the folders around, however deep they are."""
    ahead: list[str | os.DirEntry[str]] = [folder]
    while ahead:
        path = os.fspath(entry := ahead.pop())
        try:
            found = _kind(entry)
            if found is None:
                with os.scandir(path) as entries:
                    ahead += _backwards(entries)
            else:
                yield found
        except OSError as error:
            yield unreadable(escape(path), error)


def _backwards(entries: Iterable[os.DirEntry[str]]) -> Iterable[os.DirEntry[str]]:
    """The last is the first to be read."""
    return sorted(entries, key=lambda each: each.name, reverse=True)


def _kind(entry: str | os.DirEntry[str]) -> File | Skipped | None:
    """What is found in a folder, None for a folder to go into."""
    if isinstance(entry, str):
        return None
    if entry.name == _GIT:
        return Skipped(Why.GIT)
    found = entry.stat(follow_symlinks=False)
    if stat.S_ISLNK(found.st_mode) or getattr(found, "st_reparse_tag", 0) == _JUNCTION:
        return Skipped(Why.LINK)
    if stat.S_ISDIR(found.st_mode):
        return None
    if not stat.S_ISREG(found.st_mode):
        return Skipped(Why.SPECIAL)
    return Skipped(Why.LARGE) if found.st_size > LARGEST else File(entry.path, True, found.st_size)
