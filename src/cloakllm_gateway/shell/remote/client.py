"""HTTP/1.1 to one upstream, and nothing that was not asked for.

Built on a connection pool and not on a full client: there is no cookie jar, no
redirect, no decompression and no look into the environment for proxies here,
so none of them has to be switched off.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import httpcore2

from cloakllm_gateway import __version__
from cloakllm_gateway.shell.remote.target import DEFAULT_PORTS, Address, Target

#: Seconds for a connection to be made, and for a piece of a message to be taken.
CONNECT: Final = 10.0
WRITE: Final = 30.0

#: Seconds that an unused connection is kept: servers close theirs after five or more, and a message that is sent
#: into a closing connection may or may not have arrived.
IDLE: Final = 4.0

#: Seconds of silence after which the system asks whether the other end still exists, and between its questions.
KEEPALIVE: Final = 30

#: Some servers refuse who does not say what it is.
USER_AGENT: Final = ("User-Agent", f"cloakllm-gateway/{__version__}")


class Unreachable(Exception):
    """No answer, or not all of it; ``reason`` is a clause about the upstream, ``sent`` whether the message left."""

    def __init__(self, reason: str, *, sent: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.sent = sent


class Answer:
    """The beginning of an HTTP response, and its body as it comes."""

    def __init__(self, response: httpcore2.Response) -> None:
        self._response = response
        self.status = response.status
        self.headers = {name.decode("ascii").lower(): value.decode("latin-1") for name, value in response.headers}

    @property
    def kind(self) -> str:
        """The type of its content, without parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The body; raises :class:`Unreachable` where it ends too early, or is compressed."""
        if self.headers.get("content-encoding", "").strip().lower() not in ("", "identity"):
            raise Unreachable("answered with a compressed body, though it was asked not to", sent=True)
        try:
            async for chunk in self._response.aiter_stream():
                yield chunk
        except _FAILURES as error:
            raise Unreachable(_reason(error), sent=True) from None

    async def body(self, max_bytes: int) -> bytes | None:
        """The whole body; None, and the rest is not read, where it is larger than ``max_bytes``."""
        body = bytearray()
        async for chunk in self.chunks():
            body += chunk
            if len(body) > max_bytes:
                return None
        return bytes(body)


class Client:
    """Requests to the origin of one target.  Raises ``OSError`` for a ``ca_file`` that vouches for nobody."""

    def __init__(self, target: Target) -> None:
        own = {name.lower() for name, _ in target.headers}
        self._headers = [*target.headers, *(() if "user-agent" in own else [USER_AGENT])]
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=_trust(target.ca_file) if target.address.scheme == "https" else None,
            proxy=None if target.proxy is None else _proxy(target.proxy),
            max_connections=None,  # as many as there may be pending calls
            max_keepalive_connections=20,
            keepalive_expiry=IDLE,
            socket_options=_KEEPALIVE,
        )

    async def aclose(self) -> None:
        await self._pool.aclose()

    @asynccontextmanager
    async def request(
        self,
        method: str,
        address: Address,
        headers: Mapping[str, str],
        body: bytes = b"",
        left: Callable[[], None] = lambda: None,
    ) -> AsyncIterator[Answer]:
        """One request and the beginning of its answer; raises :class:`Unreachable`.

        ``left`` is called once the message has been written.
        """
        sent = False

        async def trace(name: str, _about: Mapping[str, Any]) -> None:
            nonlocal sent
            if name == "http11.send_request_headers.complete":
                sent = True
            elif name == "http11.send_request_body.complete":
                left()

        scheme, host, port, path = address
        shown = f"[{host}]" if ":" in host else host
        place = shown if port == DEFAULT_PORTS[scheme] else f"{shown}:{port}"
        lines = [("Host", place), *self._headers, *headers.items(), ("Accept-Encoding", "identity")]
        try:
            async with self._pool.stream(
                method,
                httpcore2.URL(scheme=scheme, host=host, port=port, target=path),
                headers=[(name.encode(), value.encode()) for name, value in lines],
                content=body if method == "POST" else None,
                extensions={"timeout": {"connect": CONNECT, "write": WRITE}, "trace": trace},
            ) as response:
                yield Answer(response)
        except _FAILURES as error:
            through = not isinstance(error, httpcore2.ProxyError)
            raise Unreachable(_reason(error), sent=sent and through) from None


@cache
def _trust(ca_file: str | None) -> ssl.SSLContext:
    """Who is believed to be an upstream: whom the system believes, or those of ``ca_file``.

    Raises ``OSError`` for a file that is missing or holds no certificates.
    """
    return httpcore2.default_ssl_context() if ca_file is None else ssl.create_default_context(cafile=ca_file)


def _proxy(url: str) -> httpcore2.Proxy:
    """The proxy; a user and a password may stand in its address."""
    parts = urlsplit(url)
    auth = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
    bare = httpcore2.URL(scheme=parts.scheme, host=parts.hostname or "", port=parts.port, target="/")
    return httpcore2.Proxy(bare, auth)


# -- what went wrong, in fixed words ---------------------------------------------------------------

_FAILURES: Final = (
    httpcore2.NetworkError,
    httpcore2.TimeoutException,
    httpcore2.ProtocolError,
    httpcore2.ProxyError,
    OSError,
)

#: The first that is found behind an error says what happened; texts of errors may hold what a server said.
_REASONS: Final[tuple[tuple[type[BaseException], str], ...]] = (
    (ssl.SSLCertVerificationError, "showed a certificate that is not trusted for its address"),
    (ssl.SSLError, "could not agree on TLS"),
    (socket.gaierror, "has an address whose host name is not known"),
    (ConnectionRefusedError, "refused the connection"),
    (httpcore2.ConnectTimeout, "did not accept a connection in time"),
    (httpcore2.ConnectError, "could not be connected to"),
    (httpcore2.WriteTimeout, "did not take the message in time"),
    (httpcore2.ProxyError, "could not be reached through the proxy"),
    (httpcore2.ProtocolError, "ended the connection, or does not speak HTTP"),
)


def _reason(error: BaseException) -> str:
    causes = list(_causes(error))
    for kind, reason in _REASONS:
        if any(isinstance(cause, kind) for cause in causes):
            return reason
    return "broke the connection"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """``error`` and everything that it was made of."""
    yield error
    inner = error.exceptions if isinstance(error, BaseExceptionGroup) else (*error.args, error.__cause__)
    for cause in inner:
        if isinstance(cause, BaseException):
            yield from _causes(cause)


_KEEPALIVE: Final = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)] + [
    (socket.IPPROTO_TCP, getattr(socket, name), KEEPALIVE)
    for name in ("TCP_KEEPIDLE", "TCP_KEEPINTVL")
    if hasattr(socket, name)
]
