"""Detection in processes of its own: the event loop never waits for it, and its death costs one message.

There are two *lanes*, each with one worker process and one job at a time: a
large message keeps other large ones waiting, never a small one.  A worker that
dies, takes too long or talks nonsense fails the job it has, is ended, and is
started anew; the jobs behind that one do not notice.

This process imports no model.  A worker loads what it needs while the gateway
starts the upstreams, and a job that comes before it is ready waits.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple, TypeVar

import anyio
import anyio.to_thread
import msgspec

from cloakllm_gateway.detection.settings import NameSettings, Settings
from cloakllm_gateway.errors import ConfigError, DetectionError
from cloakllm_gateway.shell import frames
from cloakllm_gateway.shell.frames import Done, Failed, Found, Ready, Reply, Request
from cloakllm_gateway.spans import Findings, Text

T = TypeVar("T")

#: ``-P``: a module in the folder the gateway happens to run in is not ours to import.
_COMMAND = (sys.executable, "-P", "-m", "cloakllm_gateway.shell.worker")
#: Windows: a group of its own, else Ctrl-C ends the worker first; and no window.
_FLAGS: int = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0) | getattr(subprocess, "CREATE_NO_WINDOW", 0)
#: glibc would give the memory of a large text back after each one, and get it again page by page for the next.
_KEEPING_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(32 << 20), "MALLOC_TRIM_THRESHOLD_": str(64 << 20)}
#: How a worker's end shows in what is written to it and read from it.
_GONE = (OSError, EOFError, ValueError)  # ValueError: of a file that was closed meanwhile
#: A job of more code points than this takes the lane of the large ones.
LARGE = 65_536


class Deadlines(NamedTuple):
    """How long a worker may take, in seconds: to load, for any job, and per million code points of it.

    Prose full of names takes a slow machine some 20 seconds per million, and
    a job whose time is up is withheld: the limits are meant for what hangs.
    """

    loading: float = 60.0
    job: float = 15.0
    million: float = 120.0

    def of(self, texts: Sequence[Text]) -> float:
        return self.job + self.million * sum(len(text.text) for text in texts) / 1e6


class Workers:
    """The worker processes.

    Raises :class:`ConfigError` where names are required and their recogniser
    is not installed.  Where they are not required, ``names_missing`` says why
    names in free text are not covered.
    """

    def __init__(self, settings: Settings, deadlines: Deadlines = Deadlines()) -> None:  # noqa: B008  (frozen)
        wanted = _wanted_names(settings)
        self.names_missing = _missing(wanted) if wanted else None
        self._settings = msgspec.structs.replace(settings, names=None if self.names_missing else wanted)
        self._deadlines = deadlines
        self._small = _Lane(self._settings, deadlines.loading)
        self._large = _Lane(self._settings, deadlines.loading)

    @property
    def is_loading(self) -> bool:
        """Whether a job waits for a worker that is not ready yet."""
        return self._small.is_loading or self._large.is_loading

    async def start(self) -> None:
        """Start the worker that loads the model; without one there is nothing to load, and workers start on demand."""
        if self._settings.names is not None:
            await self._small.start()

    async def run(self) -> None:
        """Start, and end all workers when this is cancelled."""
        try:
            await self.start()
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await self.close()

    async def find(self, texts: Sequence[Text]) -> Findings:
        """What is in the texts, names included.

        Raises :class:`DetectionError` if the worker raised it, died or took too long.
        """
        lane = self._large if sum(len(text.text) for text in texts) > LARGE else self._small
        match await lane.ask(frames.find(texts), self._deadlines.of(texts)):
            case Found() as reply if len(reply.spans) == len(texts):
                return frames.findings_of(reply)
            case reply:
                raise _error(reply)

    async def prove(self) -> None:
        """Raises :class:`DetectionError` naming a category whose example is not found by a worker.

        It is a part of loading: on a busy machine it takes longer than any job may.
        """
        reply = await self._small.ask(frames.Prove(), self._deadlines.loading)
        if not isinstance(reply, Done):
            raise _error(reply)

    async def close(self) -> None:
        """End all workers, for good; jobs in flight fail."""
        await self._small.close()
        await self._large.close()


def _wanted_names(settings: Settings) -> NameSettings | None:
    """The name settings less the labels that are switched off."""
    if settings.names is None:
        return None
    labels = tuple(label for label in settings.names.labels if label not in settings.off)
    return msgspec.structs.replace(settings.names, labels=labels) if labels else None


def _missing(wanted: NameSettings) -> str | None:
    """Why names cannot be detected, if so.  Raises :class:`ConfigError` where they have to be."""
    from cloakllm_gateway.shell import installed_models

    reason = installed_models.available(wanted)
    if reason and wanted.required:
        raise ConfigError(f"detection.ner_required is set, but {reason}", installed_models.remedy(wanted))
    return reason


class _Worker:
    """A worker process.  What is said to it waits for its pipes, and is for a thread to say."""

    def __init__(self, settings: Settings) -> None:
        """Start it and give it the settings; it loads meanwhile.  Raises :class:`OSError`."""
        greeting = frames.frame(settings)
        self._process = subprocess.Popen(
            _COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **_KEEPING_MEMORY},
            start_new_session=True,
            creationflags=_FLAGS,
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._requests, self._replies = self._process.stdin, self._process.stdout
        self.is_ready = False
        with suppress(OSError):  # it died at once: the first job will notice
            self._send(greeting)

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, frame: bytearray) -> Reply:
        """Raises :class:`EOFError` or :class:`OSError` where it is gone."""
        self._send(frame)
        return self.reply()

    def reply(self) -> Reply:
        """Its next reply; raises like :meth:`ask`."""
        return frames.decode_reply(self._read(frames.length(self._read(frames.HEADER))))

    def end(self) -> None:
        """End it at once; whoever waits for it is told that it is gone."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._requests, self._replies):
            with suppress(OSError):  # there may be something left that it did not read
                pipe.close()

    def _send(self, frame: bytearray) -> None:
        self._requests.write(frame)
        self._requests.flush()

    def _read(self, size: int) -> bytes:
        read = self._replies.read(size)
        if len(read) < size:
            raise EOFError
        return read


class _Lane:
    """A worker process, started when it is needed; one job at a time, in the order they came."""

    def __init__(self, settings: Settings, loading: float) -> None:
        self._settings = settings
        self._loading = loading
        self._turn = anyio.Lock()
        self._closed = False
        self._worker: _Worker | None = None

    @property
    def is_loading(self) -> bool:
        """Whether somebody waits for a process that is not ready yet, or not even started."""
        return self._turn.locked() and (self._worker is None or not self._worker.is_ready)

    async def start(self) -> None:
        """Start the process; it loads meanwhile."""
        async with self._turn:
            await self._spawn()

    async def close(self) -> None:
        self._closed = True
        await self._end()

    async def ask(self, request: Request, seconds: float) -> Reply:
        """Raises :class:`DetectionError` for a worker that is gone, silent or not understood."""
        sent = frames.frame(request)
        async with self._turn:
            answered = False
            try:
                worker = await self._loaded()
                reply = await _within(seconds, partial(worker.ask, sent))
                answered = True
                return reply
            except TimeoutError:
                slow = f"A detection worker took more than {seconds:.0f} seconds"
                raise DetectionError(slow, "Ask for less at once") from None
            except _GONE:
                raise DetectionError("A detection worker ended unexpectedly") from None
            except msgspec.MsgspecError:
                raise DetectionError("A detection worker was not understood") from None
            finally:
                if not answered:
                    with anyio.CancelScope(shield=True):
                        await self._renew()

    async def _loaded(self) -> _Worker:
        """The worker once it is ready, started where there is none."""
        if self._worker is not None and not self._worker.is_alive:
            await self._end()
        worker = await self._spawn()
        if not worker.is_ready:
            reply = await _within(self._loading, worker.reply)
            if not isinstance(reply, Ready):
                raise _error(reply)
            worker.is_ready = True
        return worker

    async def _spawn(self) -> _Worker:
        if self._closed:
            raise DetectionError("Detection has been shut down")
        if self._worker is None:
            try:
                self._worker = await anyio.to_thread.run_sync(_Worker, self._settings)
            except OSError:
                raise DetectionError("A detection worker cannot be started") from None
            if self._closed:  # meanwhile
                await self._end()
                raise DetectionError("Detection has been shut down")
        return self._worker

    async def _end(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            await anyio.to_thread.run_sync(worker.end)

    async def _renew(self) -> None:
        """A new process in the place of one that cannot be trusted any more, so that it has loaded for the next job."""
        await self._end()
        with suppress(DetectionError):  # shut down, or no process to be had: the next job will say so
            await self._spawn()


async def _within(seconds: float, wait: Callable[[], T]) -> T:
    """What ``wait`` returns in a thread; one that takes longer is left there.  Raises :class:`TimeoutError`."""
    with anyio.fail_after(seconds):
        return await anyio.to_thread.run_sync(wait, abandon_on_cancel=True)


def _error(reply: Reply) -> DetectionError:
    if isinstance(reply, Failed):
        return DetectionError(reply.what, reply.hint)
    return DetectionError("A detection worker was not understood")
