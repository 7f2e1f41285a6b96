"""A raw JSON-RPC client on the stdio of a process, for tests that talk to a whole program.

It knows the framing and the envelope of the protocol and nothing else: no SDK, no code of the
gateway.  Every byte of both directions is kept, so that a test can say what crossed the line and
not only what a parser made of it.

Nothing here sleeps and nothing waits without an end: a wait names what it waits for and fails with
the last words of the process when its deadline passes.  :func:`processes` ends what was started.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from tests.patience import PATIENCE
from tests.peers import proofs

VERSION = "2025-11-25"

Message = dict[str, Any]


class Heard(NamedTuple):
    """One message as it arrived: its line without the line feed, what it says, and when (monotonic seconds)."""

    line: bytes
    message: Message
    at: float


class Refusal(NamedTuple):
    """What a scripted answer returns to answer a request of the server with an error."""

    code: int
    message: str
    data: Any = None


#: Answers a request of the server: a result, a :class:`Refusal`, or ``None`` for no answer.
Answer = Callable[[Message], "Mapping[str, Any] | Refusal | None"]


class NoAnswer(AssertionError):
    """What was waited for did not come in time, or can't come any more."""


def encode(message: Any) -> bytes:
    """The one spelling that the driver writes: compact, UTF-8 where it can be."""
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:  # lone surrogates
        return json.dumps(message, separators=(",", ":")).encode()


class Driver:
    """A process that speaks newline-delimited JSON-RPC on its stdio.

    ``answers`` maps a method to what answers it when the server asks; a method without an answer
    is refused with -32601.  It may be changed at any time.
    """

    def __init__(self, argv: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> None:
        self.sent = bytearray()
        self.received = bytearray()
        self.stderr = bytearray()
        self.heard: list[Heard] = []
        self.noise: list[bytes] = []  # lines that are not a JSON object
        self.answers: dict[str, Answer] = {}
        self._changed = threading.Condition()
        self._ended = False
        self._ids = 0
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self.process = subprocess.Popen(
            list(argv),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=None if env is None else dict(env),
            cwd=cwd,
            start_new_session=True,
        )
        self._threads = [
            threading.Thread(target=work, daemon=True) for work in (self._write, self._read, self._read_stderr)
        ]
        for thread in self._threads:
            thread.start()

    # -- talking

    def send_raw(self, data: bytes) -> None:
        """Write bytes as they are; they are queued, so a peer that does not read blocks nobody."""
        self.sent += data
        self._outbox.put(data)

    def send(self, *messages: Message) -> None:
        """Write messages in one piece, one line each."""
        self.send_raw(b"".join(encode(message) + b"\n" for message in messages))

    def notify(self, method: str, params: Any = None) -> None:
        self.send(message(method, params))

    def ask(self, method: str, params: Any = None, *, id: str | int | None = None) -> str | int:
        """Send a request and return its id without waiting for the answer."""
        if id is None:
            self._ids += 1
            id = self._ids
        self.send({"jsonrpc": "2.0", "id": id, **message(method, params)})
        return id

    # -- listening

    clock = staticmethod(time.monotonic)  # the clock of :attr:`Heard.at`

    def wait(self, wanted: Callable[[Message], bool], *, timeout: float = PATIENCE, after: int = 0) -> Heard:
        """The first message from index ``after`` on that is ``wanted``, waiting for it if need be."""
        deadline = time.monotonic() + timeout
        at = after
        with self._changed:
            while True:
                while at < len(self.heard):
                    if wanted(self.heard[at].message):
                        return self.heard[at]
                    at += 1
                if self._ended:
                    raise NoAnswer(f"the process ended ({self._status()}) {self._last_words()}")
                if not self._changed.wait(deadline - time.monotonic()):
                    raise NoAnswer(f"nothing of the kind came in {timeout} s {self._last_words()}")

    def answer(self, id: str | int, *, timeout: float = PATIENCE) -> Message:
        """The whole response to the request ``id``; an id matches by value and JSON type."""
        return self.wait(lambda message: _answers(message, id), timeout=timeout).message

    def call(self, method: str, params: Any = None, *, timeout: float = PATIENCE) -> Message:
        """Send a request and return its whole response, a result or an error."""
        return self.answer(self.ask(method, params), timeout=timeout)

    def result(self, method: str, params: Any = None, *, timeout: float = PATIENCE) -> Any:
        """Send a request that must succeed and return its result."""
        response = self.call(method, params, timeout=timeout)
        assert "result" in response, f"{method} was answered with an error: {response.get('error')}"
        return response["result"]

    def tool(self, name: str, arguments: Any = None, /, *, timeout: float = PATIENCE, **named: Any) -> Any:
        """Call a tool and return the result, which may be an ``isError`` one."""
        return self.result("tools/call", {"name": name, "arguments": {**(arguments or {}), **named}}, timeout=timeout)

    def notification(self, method: str, *, timeout: float = PATIENCE, after: int = 0) -> Any:
        """The params of the first notification of ``method``."""
        return self.wait(lambda m: m.get("method") == method and "id" not in m, timeout=timeout, after=after).message[
            "params"
        ]

    def notifications(self, method: str) -> list[Any]:
        """The params of all notifications of ``method`` so far."""
        with self._changed:
            heard = list(self.heard)
        return [h.message.get("params") for h in heard if h.message.get("method") == method and "id" not in h.message]

    def requests(self, method: str) -> list[Message]:
        """All requests of ``method`` that the server has made so far."""
        with self._changed:
            heard = list(self.heard)
        return [h.message for h in heard if h.message.get("method") == method and "id" in h.message]

    def responses(self, id: str | int) -> list[Message]:
        """All responses to ``id`` so far: a correct peer gives one."""
        with self._changed:
            heard = list(self.heard)
        return [h.message for h in heard if _answers(h.message, id)]

    def wait_stderr(self, needle: bytes, *, timeout: float = PATIENCE) -> bytes:
        """Everything on stderr once ``needle`` is in it."""
        deadline = time.monotonic() + timeout
        with self._changed:
            while needle not in self.stderr:
                if self._ended and not self._threads[2].is_alive():
                    raise NoAnswer(f"the process ended without saying {needle!r} {self._last_words()}")
                if not self._changed.wait(deadline - time.monotonic()):
                    raise NoAnswer(f"stderr did not say {needle!r} in {timeout} s {self._last_words()}")
            return bytes(self.stderr)

    def work(self) -> float:
        """Seconds of CPU time that the process and its children have had so far: other programs do not count.

        Where that can't be seen, the time that has passed.
        """
        if not Path("/proc/self/stat").exists():
            return time.monotonic()
        ticks = 0
        for path in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):  # it has ended meanwhile
                fields = path.read_text().rpartition(")")[2].split()  # from the third of proc(5) on: state, ppid, ...
                if self.process.pid in (int(path.parent.name), int(fields[1])):
                    ticks += sum(map(int, fields[11:15]))  # utime, stime, cutime, cstime
        return ticks / os.sysconf("SC_CLK_TCK")

    # -- beginning and end

    def initialize(self, *, version: str = VERSION, capabilities: Any = None, timeout: float = PATIENCE) -> Any:
        """Shake hands and return the result of ``initialize``."""
        params = {
            "protocolVersion": version,
            "capabilities": capabilities or {},
            "clientInfo": {"name": "driver", "version": "1"},
        }
        result = self.result("initialize", params, timeout=timeout)
        self.notify("notifications/initialized")
        return result

    def finish(self, *, timeout: float = PATIENCE) -> int:
        """Close the process's stdin, as a client does that goes away, and return its exit status."""
        self._outbox.put(None)
        try:
            status = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise NoAnswer(f"the process is alive {timeout} s after the end of its input") from None
        for thread in self._threads[1:]:
            thread.join(timeout)
        return status

    def exit_status(self, *, timeout: float = PATIENCE) -> int:
        """The status of a process that is expected to end by itself."""
        try:
            status = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise NoAnswer(f"the process did not end in {timeout} s") from None
        for thread in self._threads[1:]:
            thread.join(timeout)
        return status

    def kill(self) -> None:
        """End the process and everything in its process group at once."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self._outbox.put(None)
        self.process.wait(PATIENCE)
        for thread in self._threads:
            thread.join(PATIENCE)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()

    # -- threads

    def _write(self) -> None:
        assert self.process.stdin is not None
        fd = self.process.stdin.fileno()
        while (data := self._outbox.get()) is not None:
            view = memoryview(data)
            try:
                while view:
                    view = view[os.write(fd, view) :]
            except OSError:  # the process is gone; whoever waits for an answer is told
                return
        try:
            self.process.stdin.close()
        except OSError:
            return

    def _read(self) -> None:
        assert self.process.stdout is not None
        fd = self.process.stdout.fileno()
        pending = bytearray()
        while chunk := os.read(fd, 1 << 16):
            now = time.monotonic()
            with self._changed:
                self.received += chunk
            pending += chunk
            if b"\n" not in chunk:
                continue
            *lines, pending = pending.split(b"\n")
            for line in lines:
                self._heard(bytes(line), now)
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _heard(self, line: bytes, now: float) -> None:
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        with self._changed:
            if isinstance(message, dict):
                self.heard.append(Heard(line, message, now))
            else:
                self.noise.append(line)
            self._changed.notify_all()
        if isinstance(message, dict) and "method" in message and "id" in message:
            self._answer(message)

    def _answer(self, request: Message) -> None:
        answer = self.answers.get(request["method"], _refuse)(request)
        if answer is None:
            return
        if isinstance(answer, Refusal):
            error: Message = {"code": answer.code, "message": answer.message}
            if answer.data is not None:
                error["data"] = answer.data
            self.send({"jsonrpc": "2.0", "id": request["id"], "error": error})
        else:
            self.send({"jsonrpc": "2.0", "id": request["id"], "result": dict(answer)})

    def _read_stderr(self) -> None:
        assert self.process.stderr is not None
        fd = self.process.stderr.fileno()
        while chunk := os.read(fd, 1 << 16):
            with self._changed:
                self.stderr += chunk
                self._changed.notify_all()
        with self._changed:
            self._changed.notify_all()

    def _last_words(self) -> str:
        said = self.stderr[-2000:].decode(errors="replace")
        return f"\n-- stderr: {said}\n-- stdout: {bytes(self.received[-500:])!r}"

    def _status(self) -> str:
        """The exit status, which may come a moment after the end of the output."""
        try:
            return f"status {self.process.wait(1)}"
        except subprocess.TimeoutExpired:
            return "still running, its output closed"


def message(method: str, params: Any = None) -> Message:
    """A notification; with an id it is a request."""
    built: Message = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        built["params"] = params
    return built


def text_of(result: Any) -> str:
    """The text blocks of a result, joined by line feeds."""
    return "\n".join(block["text"] for block in result["content"] if block.get("type") == "text")


def _refuse(_: Message) -> Refusal:
    return Refusal(-32601, "Method not found")


def _answers(message: Message, id: str | int) -> bool:
    return "method" not in message and "id" in message and message["id"] == id and type(message["id"]) is type(id)


class Processes:
    """Starts drivers and ends every one of them, whatever a test did."""

    def __init__(self, tmp_path: Path) -> None:
        self.tmp_path = tmp_path
        self._running: list[Driver] = []
        self._configs = 0

    def start(self, argv: Sequence[str], **options: Any) -> Driver:
        driver = Driver(argv, **options)
        self._running.append(driver)
        return driver

    def direct(self, upstream: Mapping[str, Any]) -> Driver:
        """The same upstream without a gateway: the entry of a configuration, started as it says."""
        env = {**os.environ, **upstream.get("env", {})}
        return self.start([upstream["command"], *upstream.get("args", [])], env=env, cwd=upstream.get("cwd"))

    def gateway(
        self,
        config: Mapping[str, Any],
        *,
        env: Mapping[str, str] | None = None,
        arguments: Sequence[str] = (),
        state_dir: Path | None = None,
    ) -> Driver:
        """A gateway of its own configuration file, with a private state directory unless one is given.

        Names in free text need a model that may or may not be installed; tests that do not speak of names
        run without.  ``env`` adds to the environment of the test.
        """
        self._configs += 1
        path = self.tmp_path / f"gateway-{self._configs}.json"
        state = state_dir or self.tmp_path / f"state-{self._configs}"
        whole: dict[str, Any] = {"state_dir": str(state), "detection": {"ner_entity_types": []}, **config}
        around = {**os.environ, "XDG_STATE_HOME": str(self.tmp_path / "xdg"), **(env or {})}
        return self.start(proofs.command(path, whole, *arguments), env=around, cwd=self.tmp_path)

    def close(self) -> None:
        for driver in self._running:
            driver.kill()


@contextmanager
def processes(tmp_path: Path) -> Iterator[Processes]:
    """A :class:`Processes` that ends with the block."""
    started = Processes(tmp_path)
    try:
        yield started
    finally:
        started.close()
