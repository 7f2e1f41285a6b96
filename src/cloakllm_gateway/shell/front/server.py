"""The socket and the HTTP server on it (uvicorn), imported only where somebody is to be served over HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
import stat
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, Final

import anyio
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from cloakllm_gateway.errors import ConfigError
from cloakllm_gateway.shell.front.endpoint import Endpoint
from cloakllm_gateway.shell.listen import Address, ListenConfig, TlsConfig

#: Connections that wait to be accepted, and that may be open at once where there are descriptors for them.
BACKLOG: Final = 128
CONNECTIONS: Final = 2048
#: Bytes of the head of a request.
HEAD: Final = 65_536
#: Seconds that a connection may go without a request, and that the head of one may take to arrive.
KEEP_ALIVE: Final = 30
#: Seconds for the last bytes of responses when the gateway ends.
FLUSH: Final = 2


@contextlib.contextmanager
def bound(listen: ListenConfig, address: Address | None) -> Iterator[socket.socket]:
    """The socket to listen at.  Raises :class:`ConfigError` where the address can't be had."""
    if address is not None:
        with _tcp_socket(address) as found:
            yield found
        return
    assert listen.unix is not None
    path = Path(listen.unix)
    with _unix_socket(path) as found:
        try:
            yield found
        finally:
            path.unlink(missing_ok=True)


def _tcp_socket(address: Address) -> socket.socket:
    try:
        return _bound_tcp(address)
    except socket.gaierror:
        raise ConfigError(f"The host of {address} is not known here", "Name an address of this machine") from None
    except OSError as error:
        raise _not_bound(str(address), error) from None


def _bound_tcp(address: Address) -> socket.socket:
    # What is listened at has to be what was checked to be on the loopback interface.
    host = "127.0.0.1" if address.host.lower() == "localhost" else address.host
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named, or asyncio would not know it for TCP, and each small response would wait for an acknowledgement.
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, address.port))
        found.listen(BACKLOG)
    except OSError:
        found.close()
        raise
    return found


def _unix_socket(path: Path) -> socket.socket:
    """A socket that nobody but this user can connect to, from its first moment."""
    found = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        _remove_abandoned(path)
        found.bind(str(path))
        found.listen(BACKLOG)
    except OSError as error:
        found.close()
        raise _not_bound(str(path), error) from None
    finally:
        os.umask(before)
    return found


def _remove_abandoned(path: Path) -> None:
    """Remove the socket of a gateway that was killed."""
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise ConfigError(f"{path} is there already and is no socket", "Move it away, or listen somewhere else")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            try:
                probe.connect(str(path))
            except ConnectionRefusedError:
                path.unlink()


def _not_bound(place: str, error: OSError) -> ConfigError:
    if error.errno == errno.EADDRINUSE:
        return ConfigError(f"{place} is in use by another program", "Stop that program, or listen somewhere else")
    return ConfigError(f"Can't listen at {place}: {error.strerror or type(error).__name__}", "Choose another place")


class _Protocol(H11Protocol):
    """Closes a connection on which the head of a request does not arrive in time, however slowly it tries.

    Nobody has to say who they are to connect.  So where there are too many
    connections, the one that has waited longest for a request makes room.
    """

    _deadline: asyncio.TimerHandle | None = None
    _waits_since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        has_room = self._make_room()
        super().connection_made(transport)
        self._waits_since = self.loop.time()
        if has_room:
            self._expect_head()
        else:
            transport.abort()

    def _make_room(self) -> bool:
        """Whether there is room for one more by now."""
        assert self.config.limit_concurrency is not None  # the server itself refuses requests from there on
        if len(self.connections) + 1 < self.config.limit_concurrency:
            return True
        unused = [other for other in self.connections if isinstance(other, _Protocol) and not other._is_serving()]
        if not unused:
            return False
        goes = min(unused, key=lambda other: (not other.transport.is_closing(), other._waits_since))
        self.connections.discard(goes)
        goes.transport.abort()  # it may hold what is not being read
        return True

    def on_response_complete(self) -> None:
        self._waits_since = self.loop.time()
        super().on_response_complete()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        super().connection_lost(exc)

    def _expect_head(self) -> None:
        """A request is being served, or a head has begun (or may begin) and has so much time from then on."""
        if self._is_serving():
            if self._deadline is not None:
                self._deadline.cancel()
            self._deadline = None
        elif self._deadline is None:
            self._deadline = self.loop.call_later(KEEP_ALIVE, self._give_up)

    def _is_serving(self) -> bool:
        answers = self.cycle is not None and not self.cycle.response_complete
        return answers and not self.transport.is_closing()

    def _give_up(self) -> None:
        if not self._is_serving():
            self.transport.abort()


class _Server(uvicorn.Server):
    """Signals are the gateway's own affair."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextlib.asynccontextmanager
async def listening(endpoint: Endpoint, at: socket.socket, tls: TlsConfig | None) -> AsyncIterator[None]:
    """Serve ``endpoint`` within the context; responses in flight get :data:`FLUSH` seconds at its end."""
    server = _Server(_config(endpoint, tls))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server.serve, [at])
        try:
            yield
        finally:
            server.should_exit = True  # and the task group waits for it


def most_connections() -> int:
    """How many there may be: a quarter of the descriptors, for sessions, stores and logs need some as well.

    A process begins with as few of them as old programs could deal with, and may have more.
    """
    if os.name != "posix":
        return CONNECTIONS
    import resource

    few, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4 * CONNECTIONS
    if few == resource.RLIM_INFINITY or few >= wanted:
        return CONNECTIONS
    more = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
    with contextlib.suppress(OSError, ValueError):  # some systems allow fewer than they say
        resource.setrlimit(resource.RLIMIT_NOFILE, (more, most))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 4


def _config(endpoint: Endpoint, tls: TlsConfig | None) -> uvicorn.Config:
    certificate: dict[str, Any] = {} if tls is None else {"ssl_certfile": tls.cert, "ssl_keyfile": tls.key}
    return uvicorn.Config(
        endpoint,
        http=_Protocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=BACKLOG,
        limit_concurrency=most_connections(),
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=FLUSH,
        h11_max_incomplete_event_size=HEAD,
        **certificate,
    )
