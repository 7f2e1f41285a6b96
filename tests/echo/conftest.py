"""One gateway for each way through it: what is in front, the era, what is behind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.echo.rows import MAIL
from tests.echo.scene import GRANTED, WAYS, Echo, scripted
from tests.echo.talking import Pipe, Talk, Web
from tests.peers.driver import processes
from tests.peers.hosted import hosted
from tests.peers.network import free_port, listening


@pytest.fixture(scope="module", params=WAYS)
def echo(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Echo]:
    """A gateway with a client in front, after the list of tools and a call that showed the address."""
    front, era, back = request.param
    folder = tmp_path_factory.mktemp("echo")
    upstream = scripted(era, folder)
    with ExitStack() as running:
        if back == "http":
            port = free_port()
            running.enter_context(listening(upstream.serving(port), port, folder / "upstream.log"))
            entry: dict[str, Any] = {"url": f"http://127.0.0.1:{port}/mcp", **GRANTED}
        else:
            entry = upstream.config()
        config = {"upstreams": {"echo": {**entry, "prefix": "", "exact_links": True}}}
        if front == "http":
            gateway = running.enter_context(hosted(folder, config))
            talk: Talk = Web(era, gateway.url, gateway.token)
        else:
            talk = Pipe(era, running.enter_context(processes(folder)).gateway(config))
        talk.begin()
        talk.ask("list", "tools/list", "")
        assert MAIL.encode() not in talk.ask("warm", "tools/call", '"name":"t"').answer
        yield Echo(request.param, talk, upstream)
