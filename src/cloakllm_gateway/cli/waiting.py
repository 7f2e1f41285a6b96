"""A progress bar for who waits: on standard error, where that is a terminal, and only when it takes long."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

#: Seconds after which somebody begins to wonder.
_PATIENCE = 1.0


class Waiting:
    """``total`` is in bytes, None where nobody knows it.

    Without a terminal, and where the results themselves appear on the one
    there is, no bar is drawn.
    """

    def __init__(self, total: int | None) -> None:
        self._total = total
        self._done = 0
        self._since = time.monotonic()
        self._wanted = sys.stderr.isatty() and not sys.stdout.isatty()
        self._bar: tuple[Progress, TaskID] | None = None

    def advance(self, size: int) -> None:
        """So many bytes more are done."""
        self._done += size
        if self._bar is None and self._wanted and time.monotonic() - self._since > _PATIENCE:
            self._bar = self._begin()
        if self._bar is not None:
            progress, task = self._bar
            progress.update(task, completed=self._done)

    def _begin(self) -> tuple[Progress, TaskID]:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

        columns = (BarColumn(), DownloadColumn(), TimeRemainingColumn())
        progress = Progress(*columns, console=Console(stderr=True), transient=True)
        progress.start()
        return progress, progress.add_task("", total=self._total)

    def __enter__(self) -> Waiting:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar[0].stop()
