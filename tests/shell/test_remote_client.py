"""Connections: whose certificates are believed, and by what way they go."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.shell.remotes import linked, scripted
from tests.shell.web import Answering, web

pytestmark = pytest.mark.anyio
UNTRUSTED = "showed a certificate that is not trusted for its address"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def certified(tmp_path: Path) -> Callable[[str], tuple[ssl.SSLContext, str]]:
    """A server's side of TLS with a certificate of its own for an address, and the file that vouches for it."""

    def certified(address: str) -> tuple[ssl.SSLContext, str]:
        key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
        now = datetime.now(UTC)
        certificate = (
            x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(address))]), critical=True)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(key, hashes.SHA256())
        )
        pem, private = tmp_path / "certificate.pem", tmp_path / "key.pem"
        pem.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        private.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pem, private)
        return context, str(pem)

    return certified


async def reason(tmp_path: Path, url: str, **settings: str) -> str:
    """Why the handshake with ``url`` fails."""
    async with linked(tmp_path, url, attempts=1, **settings) as crm:
        await crm.until_connected()
        await crm.ask(1, "initialize", {})
        return (await crm.until_disconnected()).reason


async def test_a_certificate_that_nobody_vouches_for_is_refused_before_anything_is_sent(tmp_path, certified):
    context, _ = certified("127.0.0.1")
    async with web(scripted(), context) as server:
        assert await reason(tmp_path, server.url) == UNTRUSTED
    assert not server.asked


async def test_a_file_may_vouch_for_it(tmp_path, certified):
    context, ca_file = certified("127.0.0.1")
    async with web(scripted(), context) as server, linked(tmp_path, server.url, ca_file=ca_file) as crm:
        await crm.greet()


async def test_the_certificate_of_another_address_is_refused(tmp_path, certified):
    context, ca_file = certified("10.0.0.1")
    async with web(scripted(), context) as server:
        assert await reason(tmp_path, server.url, ca_file=ca_file) == UNTRUSTED
    assert not server.asked


async def test_a_server_without_tls_is_not_spoken_to_in_clear(tmp_path):
    async with web(scripted()) as server:
        url = server.url.replace("http:", "https:")
        assert await reason(tmp_path, url) == "could not agree on TLS"
    assert not server.asked


@pytest.mark.parametrize("content", [None, "no certificate"])
async def test_a_file_that_vouches_for_nobody_is_said_to(tmp_path, content):
    ca_file = tmp_path / "ca.pem"
    if content is not None:
        ca_file.write_text(content)
    async with linked(tmp_path, "https://127.0.0.1:9/", ca_file=str(ca_file)) as crm:
        end = await crm.until_disconnected()
    assert end.final and end.reason == "has a ca_file without certificates"


async def test_a_configured_proxy_is_used(tmp_path):
    async with web(scripted()) as proxy:
        address = f"http://kim:${{WORD}}@127.0.0.1:{proxy.port}"
        async with linked(tmp_path, "http://127.0.0.1:9/mcp", proxy=address, environment={"WORD": "p w"}) as crm:
            await crm.greet()
    assert {asked.path for asked in proxy.asked} == {"http://127.0.0.1:9/mcp"}
    assert proxy.asked[0].headers["proxy-authorization"] == "Basic a2ltOnAgdw=="
    assert proxy.asked[0].headers["host"] == "127.0.0.1:9"


async def test_a_proxy_that_refuses_is_the_reason(tmp_path):
    async def refuse(answering: Answering) -> None:
        await answering.respond(407)

    async with web(refuse) as proxy:
        said = await reason(tmp_path, "https://127.0.0.1:9/mcp", proxy=f"http://127.0.0.1:{proxy.port}")
    assert said == "could not be reached through the proxy"
