"""A real Redis for the tests: on a loopback port, with its data in a temporary directory."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from pathlib import Path

from tests.patience import PATIENCE

REDIS = shutil.which("redis-server")
WHY_NOT = "redis-server is not installed (Debian: apt-get install redis-server)"


class RedisServer:
    """Started, stopped and started again with the same data; everything acknowledged is on the disk."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self._port}/0"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        assert REDIS
        options = {
            "port": self._port, "bind": "127.0.0.1", "dir": self._folder,
            "save": "", "appendonly": "yes", "appendfsync": "always", "maxmemory": "256mb",
        }  # fmt: skip
        arguments = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        self._process = subprocess.Popen([REDIS, *arguments], stdout=subprocess.DEVNULL)
        end = time.monotonic() + PATIENCE
        while not self._answers():
            assert time.monotonic() < end and self._process.poll() is None, "redis-server did not start"

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self._port), 1) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(64).startswith(b"+PONG")
        except OSError:
            return False

    def stop(self) -> None:
        """The hard way: what was acknowledged has to be there afterwards."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def empty(self) -> None:
        import redis

        with redis.Redis.from_url(self.url) as client:
            client.flushall()
