"""Where the gateway may listen, and who has to be let in there: decided before anything is bound."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import NameOID

from cloakllm_gateway.errors import ConfigError
from cloakllm_gateway.shell.listen import (
    Address,
    AuthConfig,
    ListenConfig,
    TlsConfig,
    address_of,
    allowed_hosts,
    check_certificate,
    check_listen,
)
from cloakllm_gateway.shell.structs import Invalid

TLS = TlsConfig("cert.pem", "key.pem")
TOKENS, NO_AUTH = AuthConfig(), False

#: What is configured, whether callers need a token, and the key that is refused; an empty one where nothing is.
BINDS: dict[str, tuple[dict[str, Any], AuthConfig | bool, str]] = {
    "loopback": ({"http": "127.0.0.1:8765"}, TOKENS, ""),
    "all of loopback": ({"http": "127.8.9.1:8765"}, TOKENS, ""),
    "loopback of IPv6": ({"http": "[::1]:8765"}, TOKENS, ""),
    "loopback by name": ({"http": "localhost:8765"}, TOKENS, ""),
    "loopback without tokens": ({"http": "127.0.0.1:8765"}, NO_AUTH, ""),
    "a name that only begins like loopback": ({"http": "localhost.evil.example:1"}, TOKENS, "listen.http"),
    "an address that only looks like loopback": ({"http": "127.0.0.1.evil.example:1"}, TOKENS, "listen.http"),
    "the network in clear": ({"http": "192.168.1.5:8765"}, TOKENS, "listen.http"),
    "the network in clear, by name": ({"http": "gateway.lan:8765"}, TOKENS, "listen.http"),
    "the network with TLS": ({"http": "192.168.1.5:8765", "tls": TLS}, TOKENS, ""),
    "the network behind a proxy": ({"http": "192.168.1.5:8765", "behind_tls_proxy": True}, TOKENS, ""),
    "the network with TLS and without tokens": ({"http": "192.168.1.5:8765", "tls": TLS}, NO_AUTH, "auth"),
    "everywhere": ({"http": "0.0.0.0:8765", "tls": TLS}, TOKENS, "listen.hosts"),
    "everywhere, for known hosts": ({"http": "0.0.0.0:8765", "tls": TLS, "hosts": ("gw.lan:8765",)}, TOKENS, ""),
    "everywhere of IPv6": ({"http": "[::]:8765", "tls": TLS}, TOKENS, "listen.hosts"),
    "everywhere of IPv6, in clear": ({"http": "[::]:8765"}, TOKENS, "listen.http"),
    "TLS twice": ({"http": "127.0.0.1:1", "tls": TLS, "behind_tls_proxy": True}, TOKENS, "listen.behind_tls_proxy"),
    "nowhere": ({}, TOKENS, "listen"),
    "at two places": ({"http": "127.0.0.1:1", "unix": "/tmp/s"}, TOKENS, "listen"),
    "no port": ({"http": "127.0.0.1"}, TOKENS, "listen.http"),
    "no host": ({"http": ":8765"}, TOKENS, "listen.http"),
    "a port that is none": ({"http": "127.0.0.1:65536"}, TOKENS, "listen.http"),
    "a bare IPv6 address": ({"http": "::1:8765"}, TOKENS, "listen.http"),
    "a socket": ({"unix": "/tmp/s"}, TOKENS, ""),
    "a socket with TLS": ({"unix": "/tmp/s", "tls": TLS}, TOKENS, "listen.tls"),
    "a socket with hosts": ({"unix": "/tmp/s", "hosts": ("x",)}, TOKENS, "listen.hosts"),
}


@pytest.mark.parametrize("case", BINDS)
def test_what_would_be_open_is_refused_at_configuration_time(case: str) -> None:
    config, auth, refused = BINDS[case]
    found = ""
    try:
        check_listen(ListenConfig(**config), auth)
    except Invalid as error:
        found = error.path
    assert found == refused


def pems(folder: Path) -> dict[str, Path]:
    """Two keys, one of them encrypted, and a certificate of the first."""
    key, other = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "gateway")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1, now, now + timedelta(hours=1))
    made = {
        "cert": builder.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM),
        "key": key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
        "other": other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
        "locked": key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret")),
        "garbage": b"not PEM",
    }
    for file, content in made.items():
        (folder / file).write_bytes(content)
    return {file: folder / file for file in (*made, "missing")}


@pytest.mark.parametrize(
    "cert, key", [("cert", "other"), ("cert", "locked"), ("garbage", "key"), ("missing", "key"), ("cert", "missing")]
)
def test_a_certificate_that_cannot_be_used_is_refused_before_anything_listens(
    tmp_path: Path, cert: str, key: str
) -> None:
    files = pems(tmp_path)
    check_certificate(TlsConfig(str(files["cert"]), str(files["key"])))
    with pytest.raises(ConfigError, match="can't be used"):
        check_certificate(TlsConfig(str(files[cert]), str(files[key])))


def test_an_address_is_taken_apart_and_put_together() -> None:
    assert address_of("127.0.0.1:80") == Address("127.0.0.1", 80)
    assert address_of("[::1]:80") == Address("::1", 80)
    for text in ("127.0.0.1:80", "[::1]:80", "gateway.lan:443"):
        assert str(address_of(text)) == text


def test_a_host_is_let_in_by_the_name_that_was_bound_and_with_its_port() -> None:
    def hosts(address: str, **more: Any) -> set[str]:
        return set(allowed_hosts(ListenConfig(http=address, **more), address_of(address)))

    assert hosts("127.0.0.1:8765") == {"localhost:8765", "127.0.0.1:8765", "[::1]:8765"}
    assert hosts("192.168.1.5:8765") == {"192.168.1.5:8765"}
    assert hosts("[2001:db8::5]:8765") == {"[2001:db8::5]:8765"}
    assert hosts("0.0.0.0:8765", hosts=("GW.lan:8765",)) == {"gw.lan:8765"}
    assert "localhost" in hosts("127.0.0.1:80")
    assert "gw.lan" in hosts("gw.lan:443", tls=TLS)
    assert "gw.lan" not in hosts("gw.lan:443")
