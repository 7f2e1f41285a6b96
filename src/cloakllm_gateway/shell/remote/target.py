"""Where an upstream over HTTP is, and what goes there besides messages.

All of it comes from the configuration and from the variables that it names;
nothing that an upstream says can add to it, and a client can say no more than
the values of the headers that are named for it (:mod:`.passing`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.shell.remote import passing
from cloakllm_gateway.shell.structs import Invalid
from cloakllm_gateway.shell.variables import expanded

if TYPE_CHECKING:
    from cloakllm_gateway.shell.config import UpstreamConfig

DEFAULT_PORTS: Final = {"http": 80, "https": 443}

#: Headers that say how the gateway speaks, so that no configuration can contradict it.
_OURS: Final = frozenset(
    "accept accept-encoding connection content-encoding content-length content-type expect host keep-alive"
    " last-event-id mcp-method mcp-name mcp-protocol-version mcp-session-id proxy-authorization te trailer"
    " transfer-encoding upgrade".split()
)

_TOKEN = lazy(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
#: A part of a path that nobody would take for a key: a word or two of letters, a version.
_WORD = lazy(r"|v?[0-9]{1,2}|[A-Za-z]{1,12}([-_.][A-Za-z]{1,12})?")
_CONTROL = lazy("[\x00-\x1f\x7f\ud800-\udfff]")  # lone surrogates too: UTF-8 has no form for them


class Address(NamedTuple):
    """One place to send requests to; ``path`` is ASCII and holds the query."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port


class Target(NamedTuple):
    """One upstream; ``headers`` go with every request and are never shown."""

    address: Address
    headers: tuple[tuple[str, str], ...] = ()
    proxy: str | None = None
    ca_file: str | None = None


def target(upstream: UpstreamConfig, environment: Mapping[str, str]) -> Target:
    """Raises :class:`Invalid` with a path that starts within ``upstream``."""
    address = address_of(expanded(upstream.url or "", "url", environment), "url")
    headers = tuple(
        (name, _value(expanded(value, f"headers.{name}", environment), f"headers.{_checked(name)}"))
        for name, value in upstream.headers.items()
    )
    passing.check(upstream.pass_headers, upstream.headers)
    proxy = None if upstream.proxy is None else expanded(upstream.proxy, "proxy", environment)
    if proxy is not None and not _is_proxy(proxy):
        raise Invalid("proxy", "is not the address of a proxy", "Like http://proxy.example.com:3128")
    found = Target(address, headers, proxy, upstream.ca_file)
    if is_overheard(found) and not upstream.insecure:
        hint = 'Use https://, or set "insecure": true to send everything in clear'
        raise Invalid("url", "would send personal data over the network in clear", hint)
    return found


def _is_proxy(url: str) -> bool:
    """Whether ``url`` is the address of a proxy, with or without a user and a password."""
    from urllib.parse import urlsplit

    if _CONTROL.search(url):
        return False
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:  # of a port, or of a bracket without the other
        return False
    return parts.scheme in DEFAULT_PORTS and host.isascii() and len(host.split()) == 1 and port != 0


def identity(upstream: UpstreamConfig, environment: Mapping[str, str]) -> list[str]:
    """What tells two upstreams of the same name apart: everything but credentials.

    Those may be in the values of headers, of the query and of variables.
    """
    from urllib.parse import parse_qsl, urlsplit

    scheme, host, port, _ = address_of(expanded(upstream.url or "", "url", environment), "url")
    written = urlsplit(upstream.url or "")
    asked = (name for name, _ in parse_qsl(written.query, keep_blank_values=True))
    return [f"{scheme}://{host}:{port}", written.path, *sorted(asked), *sorted(map(str.lower, upstream.headers))]


def shown(address: Address) -> str:
    """``address`` for people: without its query, and without parts of its path that may be a secret."""
    scheme, host, port, path = address
    place = f"[{host}]" if ":" in host else host
    steps = (step if _WORD.fullmatch(step) else "..." for step in path.partition("?")[0].split("/"))
    return f"{scheme}://{place}{'' if port == DEFAULT_PORTS[scheme] else f':{port}'}{'/'.join(steps)}"


def address_of(url: str, path: str) -> Address:
    """The parts of an absolute URL.  Raises :class:`Invalid`, never with a part of it."""
    from urllib.parse import quote, urlsplit

    if any(char.isspace() for char in url) or _CONTROL.search(url):
        raise Invalid(path, "holds blanks or control characters")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise Invalid(path, "is not a URL") from None
    if parts.scheme not in DEFAULT_PORTS or not host:
        raise Invalid(path, "is not an address of HTTP", "Like https://mcp.example.com/mcp")
    if parts.username is not None or parts.password is not None:
        raise Invalid(path, "holds a user or password", 'Credentials go into "headers"')
    try:
        ascii_host = host if ":" in host else host.encode("idna").decode()
    except UnicodeError:
        raise Invalid(path, "names a host that can't exist") from None
    query = f"?{parts.query}" if parts.query else ""
    where = quote((parts.path or "/") + query, safe="%/:=&?~#+!$,;'@()*[]")
    return Address(parts.scheme, ascii_host, port or DEFAULT_PORTS[parts.scheme], where)


def is_overheard(target: Target) -> bool:
    """Whether others on the network can read what is sent there, or to the proxy on the way."""
    from urllib.parse import urlsplit

    proxy = None if target.proxy is None else urlsplit(target.proxy).hostname or ""
    hosts = [target.address.host, *([] if proxy is None else [proxy])]
    return target.address.scheme == "http" and not all(map(is_loopback, hosts))


def is_loopback(host: str) -> bool:
    """Whether what is sent to ``host`` stays on this machine."""
    from ipaddress import ip_address

    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _checked(name: str) -> str:
    if not _TOKEN.fullmatch(name):
        raise Invalid("headers", "holds a name no header can have")
    if name.lower() in _OURS or name.lower().startswith("mcp-param-"):
        raise Invalid(f"headers.{name}", "is a header that the gateway sets itself")
    return name


def _value(value: str, path: str) -> str:
    if _CONTROL.search(value):
        raise Invalid(path, "holds control characters")
    return value.strip()
