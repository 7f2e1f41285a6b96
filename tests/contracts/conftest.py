from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cloakllm_gateway.shell.stores import DEFAULT_QUOTAS, STORES, Options, Quotas, Store
from tests.contracts.servers import REDIS, WHY_NOT, RedisServer

#: Makes the store of a state directory, as another process or a later one would: ``make(state_dir, quotas, ttl=60)``.
Make = Callable[..., Store]


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    if REDIS is None:
        pytest.skip(WHY_NOT)
    pytest.importorskip("redis", reason="the extra `redis` is not installed")
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    server.start()
    yield server
    server.stop()


@pytest.fixture(params=sorted(STORES))
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=sorted(set(STORES) - {"memory"}))
def lasting(request: pytest.FixtureRequest) -> str:
    """A store that outlives the process."""
    return str(request.param)


def maker(kind: str, request: pytest.FixtureRequest) -> Make:
    url = None
    if kind == "redis":
        server = request.getfixturevalue("redis_server")
        server.empty()
        url = server.url

    def make(state_dir: Path | None, quotas: Quotas = DEFAULT_QUOTAS, *, ttl: float | None = None) -> Store:
        store = STORES[kind](Options(state_dir, quotas, ttl, url=url))
        request.addfinalizer(store.close)
        return store

    return make


@pytest.fixture
def make(kind: str, request: pytest.FixtureRequest) -> Make:
    return maker(kind, request)


@pytest.fixture
def make_lasting(lasting: str, request: pytest.FixtureRequest) -> Make:
    return maker(lasting, request)
