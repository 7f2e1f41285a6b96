"""The parts of the configuration that say where clients over HTTP are let in, and who they have to be."""

from __future__ import annotations

import os
from typing import Annotated, Final, NamedTuple

from msgspec import Meta, Struct

from cloakllm_gateway.errors import ConfigError
from cloakllm_gateway.shell.structs import Invalid

#: Where ``serve --http`` listens unless told otherwise.
DEFAULT_ADDRESS: Final = "127.0.0.1:8765"
_LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "[::1]")
_STANDARD_PORTS: Final = {False: 80, True: 443}

_Path = Annotated[str, Meta(min_length=1)]
_Text = Annotated[str, Meta(min_length=1)]


class TlsConfig(Struct, frozen=True):
    """The certificate (with its chain) and its key, as files in PEM form."""

    cert: _Path
    key: _Path


class ListenConfig(Struct, frozen=True):
    """Where the gateway listens: ``http``, a host with a port, or ``unix``, the path of a socket.

    ``idle`` is in seconds; ``hosts`` and ``origins`` are let in besides those
    that follow from the address.
    """

    http: _Text | None = None
    unix: _Path | None = None
    path: Annotated[str, Meta(pattern=r"^/[A-Za-z0-9/_.~-]*$")] = "/mcp"
    hosts: tuple[_Text, ...] = ()
    origins: tuple[_Text, ...] = ()
    tls: TlsConfig | None = None
    behind_tls_proxy: bool = False
    idle: Annotated[float, Meta(gt=0, le=2_592_000)] = 3600.0
    max_sessions: Annotated[int, Meta(ge=1, le=10_000)] = 64
    max_sessions_per_principal: Annotated[int, Meta(ge=1, le=10_000)] = 16


class AuthConfig(Struct, frozen=True):
    """Who may come in over HTTP; without a ``tokens_file`` there is one token, in the state directory."""

    tokens_file: _Path | None = None


class Address(NamedTuple):
    """A host (an IPv6 address without its brackets) and a port; port 0 is one that is free."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        from ipaddress import ip_address  # most gateways do not listen

        if self.host.lower() == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def is_everywhere(self) -> bool:
        """Whether it stands for all addresses of the machine, and so for none that a client would name."""
        return self.host in ("0.0.0.0", "::", "*")

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def address_of(text: str) -> Address:
    """``host:port`` taken apart.  Raises :class:`Invalid`."""
    host, colon, port = text.rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    host = host[1:-1] if bracketed else host
    if not (colon and host and port.isascii() and port.isdigit() and int(port) < 65_536) or (":" in host) != bracketed:
        raise Invalid("listen.http", "is not a host with a port", f"Like {DEFAULT_ADDRESS}, or [::1]:8765")
    return Address(host, int(port))


def allowed_hosts(listen: ListenConfig, address: Address) -> frozenset[str]:
    """What may stand in ``Host``: the address itself, the names of loopback for one there, and what is configured."""
    names = (
        _LOOPBACK_NAMES if address.is_loopback else () if address.is_everywhere else (str(address).rpartition(":")[0],)
    )
    allowed = {f"{name}:{address.port}".lower() for name in names}
    if address.port == _STANDARD_PORTS[listen.tls is not None]:
        allowed |= {name.lower() for name in names}
    return frozenset(allowed.union(host.lower() for host in listen.hosts))


def check_listen(listen: ListenConfig | None, auth: AuthConfig | bool) -> None:
    """What must hold before anything listens.  Raises :class:`Invalid`."""
    if listen is None:
        return
    if (listen.http is None) == (listen.unix is None):
        raise Invalid("listen", "has to name either http or unix", f'Like {{"http": "{DEFAULT_ADDRESS}"}}')
    if listen.http is None:
        _check_unix(listen)
        return
    address = address_of(listen.http)
    if listen.tls is not None and listen.behind_tls_proxy:
        raise Invalid("listen.behind_tls_proxy", "contradicts listen.tls")
    if address.is_loopback:
        return
    if not auth:
        raise Invalid(
            "auth", "can be switched off on the loopback interface only", "Listen at 127.0.0.1, or use tokens"
        )
    if listen.tls is None and not listen.behind_tls_proxy:
        raise Invalid(
            "listen.http",
            "is not on the loopback interface, where tokens and data would go in clear",
            "Give listen.tls a cert and a key, or set listen.behind_tls_proxy if a proxy in front speaks TLS",
        )
    if address.is_everywhere and not listen.hosts:
        raise Invalid("listen.hosts", "is empty", "Listening everywhere, name the hosts that clients use, with ports")


def check_certificate(tls: TlsConfig) -> None:
    """Raises :class:`ConfigError` for a certificate that can't be used."""
    import ssl  # most gateways do not listen

    try:
        # A key that is encrypted would have the library ask for its passphrase, of whoever is at the terminal.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(tls.cert, tls.key, password=lambda: b"")
    except OSError as error:  # those of the library are some, too
        reason = error.strerror if error.filename or not isinstance(error, ssl.SSLError) else error.reason
        raise ConfigError(
            f"listen.tls: the certificate or its key can't be used: {reason or type(error).__name__}",
            "Both are files in PEM form; the key belongs to the certificate and is not encrypted",
        ) from None


def _check_unix(listen: ListenConfig) -> None:
    if os.name != "posix":
        raise Invalid("listen.unix", "is not possible on this system", "Use listen.http")
    for key in ("tls", "behind_tls_proxy", "hosts"):
        if getattr(listen, key):
            raise Invalid(f"listen.{key}", "means nothing on a Unix socket")
