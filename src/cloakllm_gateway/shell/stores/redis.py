"""The store for several machines: rows and head in Redis.

Redis has no turns: a change is computed from what was read and then written by
a script, if the head is still the one it was computed from; otherwise it is
computed again.  Who was overtaken a few times takes a lock, which expires by
itself, so that a large change comes through between many small ones.

A Redis that forgets what it has acknowledged (no append-only file, or a
fail-over to a replica that lags) is an older store, and refused as such.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from cloakllm_gateway.errors import ConfigError, VaultError
from cloakllm_gateway.shell.command_hints import installing
from cloakllm_gateway.shell.stores.interface import Options, StoreAway
from cloakllm_gateway.shell.stores.ledger import Change, Row, View
from cloakllm_gateway.shell.stores.sealed import SealedStore, sealed_store

if TYPE_CHECKING:
    from redis import Redis

#: One hash tag, so that all keys are on one node of a cluster.
_PREFIX = "{cloakllm-gateway}:"
_HEAD, _ROWS, _ORDER, _LOCK = (_PREFIX + name for name in ("head", "rows", "order", "lock"))
_TIMEOUT = 3.0
_PAGE = 1000
_REVISION_BYTES = 8
#: After so many overtakings a change takes the lock, which holds for so many milliseconds.
_PATIENCE, _LOCKED_MS = 4, 10_000
#: Seconds after which a change gives up.
_GIVE_UP = 30.0

#: KEYS: head, rows, order, lock.  ARGV: the head that was read, the new head, who writes, how many rows, then
#: name, revision and bytes of each, then the names to wipe.
_WRITE = """
local lock = redis.call('GET', KEYS[4])
if lock and lock ~= ARGV[3] then return 0 end
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
local at = 5
for _ = 1, tonumber(ARGV[4]) do
  redis.call('HSET', KEYS[2], ARGV[at], ARGV[at + 2])
  redis.call('ZADD', KEYS[3], ARGV[at + 1], ARGV[at])
  at = at + 3
end
for i = at, #ARGV do
  redis.call('HDEL', KEYS[2], ARGV[i])
  redis.call('ZREM', KEYS[3], ARGV[i])
end
redis.call('SET', KEYS[1], ARGV[2])
if lock then redis.call('DEL', KEYS[4]) end
return 1
"""


def redis_store(options: Options) -> SealedStore:
    """The store at ``options.url``.  Raises :class:`ConfigError` where the extra is not installed."""
    if not options.url:
        raise ConfigError("A vault in Redis needs an address", "Set vault.url, like redis://localhost:6379/0")
    if find_spec("redis") is None:
        raise ConfigError("A vault in Redis needs its client", installing("redis"))
    return sealed_store(RedisLedger(options.url), options)


class RedisLedger:
    """A :class:`~cloakllm_gateway.shell.stores.ledger.Ledger` at ``url``."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.place = f"{parts.scheme}://{parts.hostname}:{parts.port or 6379}{parts.path}"  # no credentials
        self._url = url
        self._me = secrets.token_hex(16)

    @cached_property
    def _redis(self) -> Redis:
        from redis import Redis  # slow, and most gateways need none
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        # Once more at once, for a connection that has grown stale; who waits longer is told that the store is away.
        retry = Retry(NoBackoff(), 1)
        return Redis.from_url(self._url, socket_timeout=_TIMEOUT, socket_connect_timeout=_TIMEOUT, retry=retry)

    def read(self, look: Callable[[View], None]) -> None:
        with self._explained():
            look(_View(self._redis))

    def change(self, work: Callable[[View], Change | None]) -> None:
        give_up = time.monotonic() + _GIVE_UP
        with self._explained():
            for attempt in range(1_000_000):
                view = _View(self._redis)
                change = work(view)
                if change is None or self._write(view.last_head, change):
                    return
                if time.monotonic() > give_up:
                    break
                if attempt >= _PATIENCE and self._redis.set(_LOCK, self._me, nx=True, px=_LOCKED_MS):
                    continue
                time.sleep(secrets.randbelow(10) / 1000)  # in a thread of its own
        raise StoreAway(f"The token store at {self.place} is too busy: others wrote for {_GIVE_UP:.0f} seconds")

    def close(self) -> None:
        if "_redis" in vars(self):
            self._redis.close()

    def _write(self, read: bytes | None, change: Change) -> bool:
        flat: list[bytes | str | int] = [read or b"", change.head, self._me, len(change.rows)]
        for row in change.rows:
            flat += (row.name, row.revision, row.revision.to_bytes(_REVISION_BYTES, "big") + row.sealed)
        flat += change.wiped
        return bool(self._redis.eval(_WRITE, 4, _HEAD, _ROWS, _ORDER, _LOCK, *flat))

    @contextmanager
    def _explained(self) -> Iterator[None]:
        from redis.exceptions import RedisError, ResponseError

        try:
            yield
        except RedisError as error:
            if isinstance(error, ResponseError) and str(error).startswith("WRONGTYPE"):
                raise VaultError(
                    f"The token store at {self.place} holds something else under the names the gateway uses",
                    "Give the gateway a database of its own in vault.url.",
                ) from None
            raise StoreAway(
                f"The token store at {self.place} can't be used now ({type(error).__name__})",
                "Nothing passes that needs it until it is back.",
            ) from None


class _View:
    """What is in Redis at the moment; the sum in the head tells whether rows and head belong together."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self.last_head: bytes | None = None

    def head(self) -> bytes | None:
        self.last_head = cast("bytes | None", self._redis.get(_HEAD))
        return self.last_head

    def rows(self, after: int) -> Iterator[Row]:
        names = cast("list[Any]", self._redis.zrangebyscore(_ORDER, f"({after}", "+inf"))
        for start in range(0, len(names), _PAGE):
            page = names[start : start + _PAGE]
            for name, kept in zip(page, cast("list[Any]", self._redis.hmget(_ROWS, page)), strict=True):
                if kept is not None:
                    yield Row(name, int.from_bytes(kept[:_REVISION_BYTES], "big"), kept[_REVISION_BYTES:])
