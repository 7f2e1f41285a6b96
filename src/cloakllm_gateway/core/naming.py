"""The names that clients see: ``upstream__tool``, of safe characters and bounded length.

Clients put a prefix of their own before a name and providers refuse names over
64 characters or outside ``[A-Za-z0-9_-]``.  A name is made from nothing but
the upstream's prefix and the original, so it is the same after a restart and
in any order of start; routing is by table and never takes a name apart.
"""

from __future__ import annotations

import hashlib

from cloakllm_gateway.patterns import lazy

_UNSAFE = lazy(r"[^A-Za-z0-9_-]")
_HASH_LENGTH = 8


def exposed(prefix: str, name: str, budget: int) -> str:
    """The name the client sees for ``name`` of an upstream with ``prefix``.

    Too long or unsafe names end in a hash of the original, so that two of them
    never meet; the prefix is kept whole, so that nobody can hide whose tool it is.
    """
    safe = _UNSAFE.sub("_", name)
    head = f"{prefix}__" if prefix else ""
    if safe == name and len(head) + len(name) <= budget:
        return head + name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_LENGTH]
    room = max(budget - len(head) - _HASH_LENGTH - 1, 0)
    return f"{head}{safe[:room]}_{digest}"
