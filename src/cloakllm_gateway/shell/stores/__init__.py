"""Token stores: where values get their tokens, and what remembers them.

To add one, write a module with a class that keeps the
:class:`~cloakllm_gateway.shell.stores.interface.Store` contract, and a line
below; ``tests/contracts/test_stores.py`` runs over the registry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from cloakllm_gateway.shell.stores.interface import DEFAULT_QUOTAS, QuotaExceeded, Quotas, Store
from cloakllm_gateway.shell.stores.memory import MemoryStore
from cloakllm_gateway.shell.stores.state import default_state_dir

#: The stores by the name a configuration gives them: each is made of a state directory and its quotas.
STORES: Mapping[str, Callable[[Path | None, Quotas], Store]] = {"memory": MemoryStore}

__all__ = ["DEFAULT_QUOTAS", "STORES", "MemoryStore", "QuotaExceeded", "Quotas", "Store", "default_state_dir"]
