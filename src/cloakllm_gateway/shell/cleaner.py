"""Texts that go to the log: made clean the way messages are."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from cloakllm_gateway.core.allowed import Allowed
from cloakllm_gateway.core.handles import Handles
from cloakllm_gateway.core.policy import Policy
from cloakllm_gateway.core.sanitizer import Sanitizing, drive
from cloakllm_gateway.core.settings import Settings
from cloakllm_gateway.core.source import Source
from cloakllm_gateway.protocol.surface import DATA
from cloakllm_gateway.shell.scanner import Scanner
from cloakllm_gateway.shell.stores import Store
from cloakllm_gateway.vault.entries import Entry, Spelling
from cloakllm_gateway.vault.vault import Vault


class Cleaner:
    """Makes what upstreams print fit for the log, with the tokens of the session.

    ``given`` tells what an upstream was given lately, whose parts are looked for as well.
    """

    def __init__(
        self,
        settings: Settings,
        vault: Vault,
        scanner: Scanner,
        store: Store,
        namespace: str,
        given: Callable[[str], Sequence[Entry]],
    ) -> None:
        self._settings = settings
        self._policy = Policy(settings)
        self._vault = vault
        self._scanner = scanner
        self._store = store
        self._namespace = namespace
        self._given = given
        self._handles = Handles()
        self._allowed = Allowed(settings.allow_list)

    def for_upstream(self, upstream: str) -> Callable[[str], Awaitable[str]]:
        async def clean(line: str) -> str:
            return await self.clean(upstream, line)

        return clean

    async def clean(self, upstream: str, line: str) -> str:
        """``line`` with tokens for its values; a line that can't be made clean is not shown."""
        origin, group = self._policy.origin(upstream), self._policy.group(upstream)

        async def assign(spellings: Sequence[Spelling]) -> Sequence[Entry]:
            entries = await self._store.assign(self._namespace, group, origin, spellings)
            self._vault.learn(entries)
            return entries

        source = Source(
            origin,
            group,
            self._vault,
            self._handles,
            self._settings.categories,
            allowed=self._allowed,
            restored=self._given(upstream),
        )
        try:
            clean = await drive(Sanitizing(line, DATA, source), self._scanner.find, assign)
        except Exception:  # noqa: BLE001 - a bug of ours that a line meets shows it no more than a fault does
            return f"(withheld: {len(line)} characters that could not be sanitized)"
        return str(clean.part)
