"""An upstream's process: what it is started with, how it is heard, and how all of its tree is ended.

Command, arguments and environment come from the configuration and from nothing
else: no message of a client or an upstream has a way into this module.
"""

from __future__ import annotations

import asyncio
import errno
import os
import re
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, cast

import anyio

from cloakllm_gateway.errors import GatewayError
from cloakllm_gateway.shell.config import UpstreamConfig

WINDOWS: Final = os.name == "nt"

#: What an upstream gets of the gateway's own environment: what programs need to run at all, and no secrets.
INHERITED: Final = frozenset("PATH HOME USER LOGNAME SHELL TERM TMPDIR LANG".split())
INHERITED_PREFIX: Final = "LC_"
INHERITED_ON_WINDOWS: Final = frozenset(
    "PATH PATHEXT COMSPEC SYSTEMROOT SYSTEMDRIVE WINDIR TEMP TMP USERNAME USERPROFILE HOMEDRIVE HOMEPATH APPDATA"
    " LOCALAPPDATA PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86) PROCESSOR_ARCHITECTURE NUMBER_OF_PROCESSORS".split()
)
#: Python's streams follow the code page otherwise; MCP is UTF-8.
UTF8: Final = {"PYTHONUTF8": "1", "PYTHONIOENCODING": "utf-8"}

#: Seconds between closing an upstream's input, asking it to end, and ending it.
GRACE: Final = 2.0
_GLANCE = 0.02  # seconds between two looks at a process group that is ending


class Process(asyncio.SubprocessProtocol):
    """A process with three pipes; a subclass hears what comes out of it, as it comes, on the event loop.

    Writing never waits: what the process does not read yet is kept.
    """

    def __init__(self) -> None:
        self.exited = anyio.Event()
        self.closed = anyio.Event()  # nothing more will come out of it
        self._output: asyncio.ReadTransport | None = None
        self._open_outputs = {_OUTPUT, _ERRORS}

    @property
    def pid(self) -> int:
        return self._transport.get_pid()

    @property
    def returncode(self) -> int | None:
        """As of :class:`subprocess.Popen`."""
        return self._transport.get_returncode()

    @property
    def unread(self) -> int:
        """How many bytes wait for it to read them."""
        return self._input.get_write_buffer_size()

    def write(self, data: bytes) -> None:
        """Let it read ``data``; lost on one that has closed its input."""
        if not self._input.is_closing():
            self._input.write(data)

    def close_input(self) -> None:
        """It reads an end once it has read what was written."""
        self._input.close()

    @property
    def is_read(self) -> bool:
        """Whether its standard output is being read."""
        return self._output is not None and self._output.is_reading()

    def pause_output(self) -> None:
        """Read no more of its standard output for now."""
        if self._output is not None:
            self._output.pause_reading()

    def resume_output(self) -> None:
        if self._output is not None:
            self._output.resume_reading()

    def close(self) -> None:
        """Let go of it and of its pipes."""
        self._transport.close()

    # -- for a subclass --------------------------------------------------------------------------------

    def started(self) -> None:
        """Before anything else."""

    def printed(self, data: bytes) -> None:
        """Some of its standard output."""

    def output_closed(self) -> None:
        """There is no more of its standard output."""

    def complained(self, data: bytes) -> None:
        """Some of its standard error."""

    def errors_closed(self) -> None:
        """There is no more of its standard error."""

    def input_closed(self) -> None:
        """It reads nothing any more."""

    # -- for asyncio -----------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)
        self._input = cast(asyncio.WriteTransport, self._transport.get_pipe_transport(_INPUT))
        self._output = cast(asyncio.ReadTransport, self._transport.get_pipe_transport(_OUTPUT))
        if hasattr(self._output, "max_size"):  # no pipe holds more, and room for more costs 30 microseconds a read
            self._output.max_size = _CHUNK
        self._output.set_protocol(_Output(self, self._output.get_protocol()))
        self.started()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == _OUTPUT:
            self.printed(data)
        else:
            self.complained(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == _INPUT:
            self.input_closed()
            return
        if fd == _OUTPUT:
            self.output_closed()
        else:
            self.errors_closed()
        self._open_outputs.discard(fd)
        if not self._open_outputs:
            self.closed.set()

    def process_exited(self) -> None:
        self.exited.set()


class _Output(asyncio.Protocol):
    """Hears standard output where it is read: asyncio's own protocol takes a turn of the event loop for each piece."""

    def __init__(self, process: Process, theirs: asyncio.BaseProtocol) -> None:
        self._process = process
        self._theirs = theirs

    def data_received(self, data: bytes) -> None:
        self._process.printed(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._theirs.connection_lost(exc)


_INPUT, _OUTPUT, _ERRORS = 0, 1, 2
_CHUNK: Final = 65_536


class SpawnError(GatewayError):
    """A process could not be started.  ``details`` are for the operator's log: they hold local paths."""

    fault = "the configuration"

    def __init__(self, what: str, **details: str) -> None:
        super().__init__(what)
        self.details = details


def environment(upstream: UpstreamConfig, parent: Mapping[str, str], windows: bool = WINDOWS) -> dict[str, str]:
    """The environment of ``upstream``: some of ``parent`` (all with ``inherit_env``) and its own ``env``."""
    inherited = {name: value for name, value in parent.items() if upstream.inherit_env or _is_needed(name, windows)}
    return {**inherited, **UTF8, **upstream.env}


def command_line(program: str, args: tuple[str, ...], windows: bool = WINDOWS) -> list[str] | str:
    """What to start: a list for a program, a line for the shell for a batch file of Windows.

    ``CreateProcess`` refuses ``npx.cmd`` and its kind; ``cmd /c`` runs them but
    takes its line apart by rules of its own.  Inside quotes only ``"`` and ``%``
    still mean something to it: a quote is doubled, and a percent sign is
    followed by an expansion to nothing, so that no variable's name arises.

    Raises :class:`SpawnError` for an argument that no line can hold.
    """
    if not windows or not program.lower().endswith((".cmd", ".bat")):
        return [program, *args]
    if any(char in argument for argument in args for char in "\r\n\0"):
        raise SpawnError("has an argument with a line break, which a batch file cannot be given")
    return " ".join([f'"{program}"', *(_quoted(argument) for argument in args)])


def _found(command: str, path: str) -> str | None:
    """Where ``command`` lies: ``shutil.which`` without the archive formats that it brings to every start."""
    if WINDOWS:
        import shutil

        return shutil.which(command, path=path)
    places = [command] if os.path.dirname(command) else [os.path.join(d, command) for d in path.split(os.pathsep)]
    return next((place for place in places if os.path.isfile(place) and os.access(place, os.X_OK)), None)


def program_of(upstream: UpstreamConfig, variables: Mapping[str, str]) -> str:
    """The file to start.  Raises :class:`SpawnError` where there is none, or no folder to start it in."""
    assert upstream.command is not None
    path = variables.get("PATH", os.defpath)
    program = _found(upstream.command, path)
    if program is None:
        raise _not_found(upstream.command, upstream.args, path)
    if upstream.cwd is not None and not Path(upstream.cwd).is_dir():
        raise SpawnError("has a cwd that is no folder", cwd=upstream.cwd)
    return program


async def spawn(upstream: UpstreamConfig, parent: Mapping[str, str], process: Process) -> None:
    """Start ``upstream`` as ``process``, in a group of its own.  Raises :class:`SpawnError`."""
    variables = environment(upstream, parent)
    program = program_of(upstream, variables)
    line = command_line(program, upstream.args)
    loop = asyncio.get_running_loop()
    where: dict[str, Any] = {"env": variables, "cwd": upstream.cwd, **_OWN_GROUP}
    try:
        if isinstance(line, str):
            await loop.subprocess_shell(lambda: process, line, **where)
        else:
            await loop.subprocess_exec(lambda: process, *line, **where)
    except OSError as error:
        raise _not_run(program, error) from None


def _not_found(command: str, args: tuple[str, ...], path: str) -> SpawnError:
    if os.path.isdir(command):
        return SpawnError("has a folder for a command", command=command)
    if os.path.isfile(command) and not WINDOWS:
        return SpawnError("has a command that may not be executed: chmod +x makes it a program", command=command)
    first, _, more = command.partition(" ")
    is_path = "/" in first or "\\" in first  # and blanks are usual in those: C:\Program Files
    # What has a separator anywhere was taken for a path within the folder of the configuration.
    is_line = more and (_found(first, path) or _found(os.path.basename(first), path) or not (args or is_path))
    what = f"has a command that was not found{': arguments belong into args' if is_line else ''}"
    return SpawnError(what, command=command) if is_path else SpawnError(what, command=command, searched=path)


def _not_run(program: str, error: OSError) -> SpawnError:
    """A script may name an interpreter that is not there, of which the system says that the script is not."""
    if error.errno in (errno.ENOENT, errno.ENOEXEC):
        with open(program, "rb") as file:
            line = file.readline(_SHEBANG)
        interpreter = line.removeprefix(b"#!").split()[:1] if line.startswith(b"#!") else []
        if error.errno == errno.ENOENT and interpreter:
            named = os.fsdecode(interpreter[0])
            return SpawnError("has a command whose interpreter was not found", command=program, interpreter=named)
        if error.errno == errno.ENOEXEC and not interpreter:
            return SpawnError("has a command that is no program and has no #! line to say who runs it", command=program)
    return SpawnError("cannot be started", command=program, error=error.strerror or "")


#: How much of the first line of a script the system reads.
_SHEBANG: Final = 256

#: How a process gets a group of its own.
_OWN_GROUP: Final[Mapping[str, Any]] = (
    {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)} if WINDOWS else {"start_new_session": True}
)


async def end(process: Process) -> None:
    """End ``process`` and all of its group: close its input, then ask, then force; about five seconds at most.

    Its output has to be read meanwhile: a process that is stuck writing does
    not see the end of its input.
    """
    process.close_input()
    if await _gone(process):
        return
    await _signal(process, signal.SIGTERM)
    if await _gone(process):
        return
    await _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))
    await process.exited.wait()  # nothing of the group runs any more, whoever has to reap the rest of it


async def end_orphans(process: Process) -> None:
    """Ask what is left of a group whose first process has ended to end too."""
    if not WINDOWS and _group_is_alive(process.pid):
        await _signal(process, signal.SIGTERM)


async def _gone(process: Process) -> bool:
    with anyio.move_on_after(GRACE):
        await process.exited.wait()
        while _group_is_alive(process.pid):  # noqa: ASYNC110  nothing tells when a group ends
            await anyio.sleep(_GLANCE)
        return True
    return False


async def _signal(process: Process, number: signal.Signals) -> None:
    if WINDOWS:  # has no signals: the whole tree is ended by force
        await anyio.run_process(["taskkill", "/T", "/F", "/PID", str(process.pid)], check=False)
        return
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _group_is_alive(leader: int) -> bool:
    if WINDOWS:
        return False
    try:
        os.killpg(leader, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # macOS, for a group of nothing but zombies
        return False
    return True


def _is_needed(name: str, windows: bool) -> bool:
    if windows:  # knows names in any case
        return name.upper() in INHERITED_ON_WINDOWS
    return name in INHERITED or name.startswith(INHERITED_PREFIX)


def _quoted(argument: str) -> str:
    """``argument`` for a batch file, by cmd's rules and those of the C runtime that reads it in the end."""
    doubled = re.sub(r'(\\*)"', r'\1\1""', argument)  # backslashes before a quote escape it
    doubled = re.sub(r"(\\+)$", r"\1\1", doubled)  # and the closing quote stands behind the last
    return '"' + doubled.replace("%", "%%cd:~,%") + '"'
