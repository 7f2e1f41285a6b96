"""Token stores: where values get their tokens, and what remembers them.

To add one, write a module with a class that keeps the
:class:`~cloakllm_gateway.shell.stores.interface.Store` contract (or, if it is
to outlive the gateway, a :class:`~cloakllm_gateway.shell.stores.ledger.Ledger`),
and a line below; ``tests/contracts/test_stores.py`` runs over the registry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cloakllm_gateway.shell.stores.interface import (
    DEFAULT_QUOTAS,
    Follower,
    Options,
    QuotaExceeded,
    Quotas,
    Store,
    StoreAway,
)
from cloakllm_gateway.shell.stores.memory import MemoryStore
from cloakllm_gateway.shell.stores.state import default_state_dir


def _sqlite(options: Options) -> Store:
    from cloakllm_gateway.shell.stores.sqlite import sqlite_store  # most gateways need neither it nor cryptography

    return sqlite_store(options)


def _redis(options: Options) -> Store:
    from cloakllm_gateway.shell.stores.redis import redis_store

    return redis_store(options)


#: The stores by the name a configuration gives them.
STORES: Mapping[str, Callable[[Options], Store]] = {"memory": MemoryStore, "sqlite": _sqlite, "redis": _redis}

__all__ = [
    "DEFAULT_QUOTAS",
    "STORES",
    "Follower",
    "MemoryStore",
    "Options",
    "QuotaExceeded",
    "Quotas",
    "Store",
    "StoreAway",
    "default_state_dir",
]
