"""A progress bar for who waits: on standard error, where that is a terminal, and only when it takes long."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

#: Seconds after which somebody begins to wonder.
_PATIENCE = 1.0


class Waiting:
    """``total`` is what is to be done: bytes, or things of which ``what`` is the name; None where nobody knows it.

    Without a terminal no bar is drawn.  :meth:`show` is a task of its own, for what takes long in one piece.  While
    ``is_loading`` nothing gets done, whatever there is to do: that is said, and no bar stands still.
    """

    def __init__(self, total: int | None, what: str = "", is_loading: Callable[[], bool] = lambda: False) -> None:
        self._total = total
        self._what = what
        self._is_loading = is_loading
        self._loading = False
        self._about = ""
        self._done = 0
        self._since = time.monotonic()
        self._wanted = sys.stderr.isatty()
        self._bar: tuple[Progress, TaskID] | None = None

    async def show(self) -> None:
        """Draw the bar as soon as it takes long, and again some time after it was hidden; until cancelled."""
        while self._wanted:
            await anyio.sleep(_PATIENCE)
            self._draw()

    def advance(self, size: int, about: str = "") -> None:
        """So much more is done; ``about`` is said beside the bar."""
        self._done += size
        self._about = about
        self._draw()
        if self._bar is not None:
            progress, task = self._bar
            progress.update(task, completed=self._done, description=about)

    def tell(self, what: str) -> None:
        """Say on the terminal what is waited for."""
        if self._wanted:
            sys.stderr.write(f"{what}\n")

    def hide(self) -> None:
        """Take the bar from the terminal, where something else will be written."""
        if self._bar is not None:
            self._bar[0].stop()
            self._bar = None
            self._since = time.monotonic()

    def _draw(self) -> None:
        if not self._wanted:
            return
        if self._loading != self._is_loading():
            self._loading = not self._loading
            self.hide()
            if not self._loading:  # only from here on does the work itself take its time
                self._since = time.monotonic()
        if self._bar is None and time.monotonic() - self._since > _PATIENCE:
            self._bar = self._begin()

    def _begin(self) -> tuple[Progress, TaskID]:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            MofNCompleteColumn,
            Progress,
            ProgressColumn,
            SpinnerColumn,
            TextColumn,
            TimeElapsedColumn,
        )

        columns: tuple[ProgressColumn, ...]
        if self._loading:
            columns = SpinnerColumn(), TextColumn("Loading the models of names")
        elif self._what:
            columns = BarColumn(), TextColumn(self._what), MofNCompleteColumn()
        else:
            columns = BarColumn(), TextColumn("{task.description}"), DownloadColumn()
        progress = Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True)
        progress.start()
        return progress, progress.add_task(self._about, total=self._total, completed=self._done)

    def __enter__(self) -> Waiting:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.hide()
