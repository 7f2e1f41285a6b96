"""Structured logging to standard error: one line an event, ``level event key=value ...``.

Nothing here can stop the gateway: lines are written by a thread of their own,
so a client that never reads our standard error costs log lines and no time.
Values are escaped, because names and stderr lines of upstreams end up here and
a terminal obeys escape sequences.  Nobody may pass a value of a message.
"""

from __future__ import annotations

import atexit
import os
import queue
import re
import threading
from collections.abc import Mapping
from typing import Final

from cloakllm_gateway.patterns import lazy

LEVELS: Final = {"debug": 10, "info": 20, "warning": 30, "error": 40}

#: Lines that wait to be written; further ones are counted and dropped.
BACKLOG: Final = 1000

#: Seconds that :meth:`Logger.close` waits for a reader of standard error.
FLUSH: Final = 1.0

_BARE = lazy(r"[A-Za-z0-9_./:@%+,*-]+", re.ASCII)


class Logger:
    """Writes events of ``level`` and above to the file descriptor ``fd``; closed at exit."""

    def __init__(self, level: str = "info", fd: int = 2) -> None:
        self._threshold = LEVELS[level]
        self._fd = fd
        self._lines: queue.Queue[bytes | None] = queue.Queue(BACKLOG)
        self._lost = 0
        self._writer: threading.Thread | None = None

    def says(self, level: str) -> bool:
        """Whether what happens at ``level`` is written."""
        return LEVELS[level] >= self._threshold

    def log(self, level: str, event: str, **fields: object) -> None:
        """Say that ``event`` happened; never waits."""
        if not self.says(level):
            return
        if self._writer is None:
            self._writer = threading.Thread(target=self._write_all, name="log", daemon=True)
            self._writer.start()
            atexit.register(self.close)
        if self._lost and not self._put(line("warning", "log_lines_lost", lines=self._lost)):
            self._lost += 1
            return
        self._lost = 0 if self._put(line(level, event, **fields)) else 1

    def close(self) -> None:
        """Write what is waiting, for at most :data:`FLUSH` seconds; the logger may be used again."""
        if self._writer is None:
            return
        atexit.unregister(self.close)
        try:
            self._lines.put(None, timeout=FLUSH)
        except queue.Full:
            return
        self._writer.join(FLUSH)
        self._writer = None

    def _put(self, text: str) -> bool:
        try:
            self._lines.put_nowait(text.encode("utf-8") + b"\n")
        except queue.Full:
            return False
        return True

    def _write_all(self) -> None:
        while (text := self._lines.get()) is not None:
            try:
                while text:
                    text = text[os.write(self._fd, text) :]
            except OSError:  # nobody is left to read: keep emptying the queue
                continue


def line(level: str, event: str, **fields: object) -> str:
    """One log line, without its line feed, printable throughout."""
    return " ".join([level, event, *(f"{key}={_value(value)}" for key, value in fields.items())])


def escape(text: str) -> str:
    """``text`` with everything that is not printable (controls, bidi marks, line separators) as an escape."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escaped(ord(char)) for char in text)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        value = ",".join(f"{key}:{each}" for key, each in value.items())
    elif isinstance(value, (list, tuple)):
        value = ",".join(map(str, value))
    text = str(value)
    if _BARE.fullmatch(text):
        return text
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escape(quoted)}"'


def _escaped(code: int) -> str:
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
