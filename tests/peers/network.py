"""Programs that listen on a port of the loopback interface."""

from __future__ import annotations

import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.patience import PATIENCE


def free_port() -> int:
    """A port that nothing listens on; somebody else may take it, so use it soon."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def listening(
    argv: Sequence[str], port: int, log: Path, *, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """``argv`` as a process that listens on ``port`` until the block ends; what it prints goes to ``log``.

    Raises :class:`RuntimeError` with its last words where it ends before it listens, or does not in time.
    """
    with (
        log.open("ab") as words,
        subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=words, stderr=words, env=env, cwd=cwd) as process,
    ):
        try:
            deadline = time.monotonic() + PATIENCE
            while not listens(port):
                if process.poll() is not None or time.monotonic() > deadline:
                    said = log.read_bytes()[-2000:].decode(errors="replace")
                    raise RuntimeError(f"{argv[0]} does not listen on {port} (status {process.poll()}): {said}")
                time.sleep(0.02)
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
