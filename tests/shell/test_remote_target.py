"""Where an upstream over HTTP is: what the configuration says, with variables where it names them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cloakllm_gateway.errors import ConfigError
from cloakllm_gateway.shell.config import Config, DetectionConfig, UpstreamConfig, detection_settings, load
from cloakllm_gateway.shell.remote.target import Address, Target, address_of, identity, is_loopback, shown, target
from cloakllm_gateway.shell.structs import Invalid
from cloakllm_gateway.shell.wiring import core_settings, fingerprint

URL = "https://mcp.example.com/mcp"
SECRET = "s3cr3t-value"


def at(url: str = URL, environment: dict[str, str] | None = None, **settings: Any) -> Target:
    return target(UpstreamConfig(url=url, **settings), environment or {})


@pytest.fixture
def write(tmp_path: Path) -> Callable[[dict[str, Any]], Path]:
    def write(upstream: dict[str, Any]) -> Path:
        path = tmp_path / "gateway.json"
        path.write_text(json.dumps({"upstreams": {"crm": upstream}}))
        return path

    return write


@pytest.fixture
def refusal(write: Callable[[dict[str, Any]], Path]) -> Callable[[dict[str, Any]], str]:
    """The text of the refusal that an upstream meets."""

    def refusal(upstream: dict[str, Any]) -> str:
        with pytest.raises(ConfigError) as caught:
            load(write(upstream))
        assert SECRET not in str(caught.value)
        return str(caught.value).partition(": ")[2]

    return refusal


# -- the way there ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "address"),
    [
        (URL, Address("https", "mcp.example.com", 443, "/mcp")),
        ("https://mcp.example.com", Address("https", "mcp.example.com", 443, "/")),
        ("https://MCP.example.com:8443/a%20b/?k=v&x", Address("https", "mcp.example.com", 8443, "/a%20b/?k=v&x")),
        ("http://localhost:3001/sse", Address("http", "localhost", 3001, "/sse")),
        ("http://[::1]:3001/mcp", Address("http", "::1", 3001, "/mcp")),
        ("https://bücher.example/süß", Address("https", "xn--bcher-kva.example", 443, "/s%C3%BC%C3%9F")),
        ("https://mcp.example.com/mcp#part", Address("https", "mcp.example.com", 443, "/mcp")),
    ],
)
def test_a_url_is_an_address(url: str, address: Address) -> None:
    assert at(url).address == address


@pytest.mark.parametrize(
    "url",
    ["mcp.example.com/mcp", "ftp://mcp.example.com", "https://", "https:///mcp", "https://a b/", "https://a:port/",
     "https://a:99999/", "https://[::1/", "https://a/\r\nx", "https://a/\ud800", "/mcp", "https://a..b/",
     f"https://{'a' * 64}.example/", f"https://kim:{SECRET}@a/", f"https://{SECRET}@a/"],
)  # fmt: skip
def test_what_is_no_address_is_refused_and_not_shown(url: str, refusal: Callable[[dict[str, Any]], str]) -> None:
    assert refusal({"url": url}).startswith("upstreams.crm.url: ")


@pytest.mark.parametrize("host", ["localhost", "api.localhost", "127.0.0.1", "127.8.9.1", "[::1]"])
def test_plain_http_stays_on_this_machine(host: str) -> None:
    assert at(f"http://{host}:80/mcp").address.port == 80


@pytest.mark.parametrize(
    "host", ["mcp.example.com", "10.0.0.8", "0.0.0.0", "localhost.example.com", "127.0.0.1.nip.io", "[::]"]
)
def test_plain_http_to_elsewhere_has_to_be_wanted(host: str, refusal: Callable[[dict[str, Any]], str]) -> None:
    assert "in clear" in refusal({"url": f"http://{host}/mcp"})
    assert at(f"http://{host}/mcp", insecure=True).address.scheme == "http"


def test_plain_http_to_this_machine_goes_through_no_proxy_elsewhere(refusal: Callable[[dict[str, Any]], str]) -> None:
    local, proxy = "http://127.0.0.1:3001/mcp", "http://proxy.example.com:3128"
    assert "in clear" in refusal({"url": local, "proxy": proxy})
    assert at(local, proxy=proxy, insecure=True).proxy == proxy
    assert at(local, proxy="http://127.0.0.1:3128").proxy
    assert at(URL, proxy=proxy).proxy == proxy


def test_an_address_that_only_looks_local_is_none() -> None:
    assert not is_loopback("127.0.0.1.example.com") and not is_loopback("2130706433")


# -- what clients' configurations say -----------------------------------------------------------------


@pytest.mark.parametrize("type", [None, "http", "streamable-http", "streamableHttp", "sse"])
def test_the_entry_of_a_clients_configuration_is_taken_as_it_is(
    write: Callable[[dict[str, Any]], Path], monkeypatch: pytest.MonkeyPatch, type: str | None
) -> None:
    monkeypatch.setenv("CRM_KEY", SECRET)
    entry: dict[str, Any] = {"url": URL, "headers": {"Authorization": "Bearer ${CRM_KEY}"}}
    config = load(write(entry if type is None else {"type": type, **entry}))
    assert config.upstreams["crm"].url == URL
    assert SECRET not in repr(config)


def test_a_program_may_say_that_it_is_one(write: Callable[[dict[str, Any]], Path]) -> None:
    assert load(write({"type": "stdio", "command": "crm"})).upstreams["crm"].command == "crm"


@pytest.mark.parametrize(
    ("upstream", "text"),
    [
        ({}, "upstreams.crm: has neither a command nor a url"),
        ({"command": "crm", "url": URL}, "upstreams.crm: has both a command and a url"),
        ({"command": "crm", "headers": {"X": "y"}}, "upstreams.crm.headers: means nothing with a command"),
        ({"command": "crm", "pass_headers": ["X-Id"]}, "upstreams.crm.pass_headers: means nothing with a command"),
        ({"command": "crm", "insecure": True}, "upstreams.crm.insecure: means nothing with a command"),
        ({"url": URL, "args": ["x"]}, "upstreams.crm.args: means nothing with a url"),
        ({"url": URL, "env": {"A": "b"}}, "upstreams.crm.env: means nothing with a url"),
        ({"url": URL, "type": "stdio"}, "upstreams.crm.type: contradicts the url"),
        ({"command": "crm", "type": "http"}, "upstreams.crm.type: contradicts the command"),
        ({"url": URL, "type": "websocket"}, "upstreams.crm.type: unknown value"),
        *(
            ({"url": URL, "proxy": proxy}, "upstreams.crm.proxy: is not the address of a proxy")
            for proxy in "socks5://h http:// http://u:p@h:port http://h:99999 http://[h http://h\u00e9 http://h\t/".split(
                " "
            )
        ),
    ],
)
def test_what_contradicts_itself_is_refused(
    upstream: dict[str, Any], text: str, refusal: Callable[[dict[str, Any]], str]
) -> None:
    assert refusal(upstream).startswith(text)


def test_a_server_elsewhere_may_ask_the_client_for_nothing_unless_it_is_granted() -> None:
    upstreams = {"near": UpstreamConfig("crm"), "far": UpstreamConfig(url=URL, roots=True)}
    settings = core_settings(Config(upstreams=upstreams), detection_settings(DetectionConfig()))
    near, far = settings.upstreams["near"], settings.upstreams["far"]
    assert (near.sampling, near.elicitation, near.roots) == (True, True, True)
    assert (far.sampling, far.elicitation, far.roots) == (False, False, True)


# -- variables ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["url", "proxy", "headers.X-Key"])
def test_a_variable_that_is_not_set_is_named_with_the_place_that_names_it(
    key: str, refusal: Callable[[dict[str, Any]], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CRM_KEY", raising=False)
    said = f"https://mcp.example.com/{SECRET}/${{CRM_KEY}}"
    upstream: dict[str, Any] = {"url": URL, **({"headers": {"X-Key": said}} if "." in key else {key: said})}
    assert refusal(upstream).startswith(f"upstreams.crm.{key}: names the variable CRM_KEY, which is not set. Set it")


# -- headers -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Host", "content-length", "Accept-Encoding", "Mcp-Session-Id", "MCP-Param-Region"])
def test_a_header_that_the_gateway_sets_cannot_be_configured(
    name: str, refusal: Callable[[dict[str, Any]], str]
) -> None:
    assert "is a header that the gateway sets itself" in refusal({"url": URL, "headers": {name: SECRET}})


@pytest.mark.parametrize(
    "headers",
    [{"X Key": SECRET}, {"": SECRET}, {"X": f"{SECRET}\r\nY: z"}, {"X": f"{SECRET}\0"}, {"X": f"{SECRET}\ud800"}],
)
def test_a_header_that_can_be_none_is_refused_and_not_shown(
    headers: dict[str, str], refusal: Callable[[dict[str, Any]], str]
) -> None:
    assert refusal({"url": URL, "headers": headers}).startswith("upstreams.crm.headers")


def test_a_variable_cannot_add_a_header() -> None:
    with pytest.raises(Invalid) as caught:
        at(environment={"KEY": f"{SECRET}\r\nX-Evil: 1"}, headers={"X": "${KEY}"})
    assert SECRET not in str(caught.value)


# -- who it is ---------------------------------------------------------------------------------------


def test_credentials_are_no_part_of_who_an_upstream_is() -> None:
    def who(url: str, key: str, **headers: str) -> list[str]:
        return identity(UpstreamConfig(url=url, headers=headers), {"KEY": key, "HOST": "mcp.example.com"})

    one = who("https://${HOST}/mcp?key=${KEY}", "1", Authorization="Bearer ${KEY}")
    assert one == who("https://mcp.example.com:443/mcp?key=2", "2", authorization="Basic x")
    assert one != who("https://mcp.example.org/mcp?key=${KEY}", "1", Authorization="x")
    assert one != who("https://${HOST}/other?key=${KEY}", "1", Authorization="x")
    assert one != who("https://${HOST}/mcp?key=${KEY}", "1", Cookie="x")
    assert not any(SECRET in part for part in who("https://${HOST}/mcp?key=${KEY}", SECRET, Authorization=SECRET))


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("https://mcp.example.com/mcp", "https://mcp.example.com/mcp"),
        ("http://127.0.0.1:8791/api/v2/streamable-http/", "http://127.0.0.1:8791/api/v2/streamable-http/"),
        ("https://[::1]:8443/", "https://[::1]:8443/"),
        ("https://mcp.example.com/s/NDg3MWUtYjA3Zi00/mcp?api_key=hunter2", "https://mcp.example.com/s/.../mcp"),
        ("https://mcp.example.com/mcp/8f3kd93k", "https://mcp.example.com/mcp/..."),
        ("https://mcp.example.com/correcthorsebatterystaple", "https://mcp.example.com/..."),
    ],
)
def test_an_address_is_shown_without_what_may_be_a_secret(url: str, place: str) -> None:
    assert shown(address_of(url, "url")) == place


def test_a_url_and_a_command_are_never_the_same_upstream() -> None:
    assert fingerprint(UpstreamConfig(url=URL)) != fingerprint(UpstreamConfig(URL))


# -- what a client may add -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "why"),
    [
        *((name, "is what a client proves itself") for name in ("Authorization", "COOKIE", "Set-Cookie")),
        *((name, "is about one connection") for name in ("Connection", "TE", "Transfer-Encoding", "Proxy-Connection")),
        *((name, "says how one side speaks") for name in
          ("Mcp-Session-Id", "Mcp-Param-City", "MCP-Name", "Content-Type", "Content-Length", "Host", "Origin", "Accept",
           "Accept-Language", "Last-Event-ID", "User-Agent")),
        *((name, "is a name no header can have") for name in ("", "X-*", "X Id", "X-Id\r\nX", "X:", "é", "x" * 129)),
    ],
)  # fmt: skip
def test_a_client_can_not_pass_on(names: str, why: str, refusal: Callable[[dict[str, Any]], str]) -> None:
    said = refusal({"url": URL, "pass_headers": ["X-Request-Id", names]})
    assert said.startswith(f"upstreams.crm.pass_headers[1]: {why}")


def test_a_header_is_the_gateways_or_the_clients(refusal: Callable[[dict[str, Any]], str]) -> None:
    both = refusal({"url": URL, "headers": {"X-Key": SECRET}, "pass_headers": ["x-key"]})
    assert both.startswith('upstreams.crm.pass_headers[0]: stands in "headers" as well')
    twice = refusal({"url": URL, "pass_headers": ["X-Id", "x-id"]})
    assert twice.startswith("upstreams.crm.pass_headers[1]: names a header a second time")


def test_what_a_client_may_pass_on_says_nothing_of_who_the_upstream_is() -> None:
    assert fingerprint(UpstreamConfig(url=URL)) == fingerprint(UpstreamConfig(url=URL, pass_headers=("X-Id",)))
