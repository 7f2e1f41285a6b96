"""Whatever leaves for an upstream: tokens are restored or it is refused, raw data is looked for, all of it is recorded.

The client's requests and its answers to the upstreams' own pass here alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from cloakllm_gateway.core import records, texts
from cloakllm_gateway.core.events import Effect, Log, Used
from cloakllm_gateway.core.jobs import Jobs
from cloakllm_gateway.core.policy import Policy
from cloakllm_gateway.core.rawdata import RAW_DUMP, distinct, raw_texts
from cloakllm_gateway.core.restorer import Restored
from cloakllm_gateway.core.settings import RawData, Settings
from cloakllm_gateway.core.upstream import Upstream
from cloakllm_gateway.errors import Refused
from cloakllm_gateway.protocol.jsonrpc import Request
from cloakllm_gateway.protocol.walk import Leaf
from cloakllm_gateway.spans import Span
from cloakllm_gateway.vault.vault import Vault

#: Restores a part; raises :class:`Refused`.
Restore: TypeAlias = Callable[[], Restored]
#: Takes what may leave.
Cleared: TypeAlias = Callable[[Restored], None]
#: Takes why it may not, in words without a value.
Stopped: TypeAlias = Callable[[str], None]


class Egress:
    """Clears what is to leave, and records what has been cleared."""

    def __init__(self, settings: Settings, vault: Vault, jobs: Jobs, emit: Callable[[Effect], None]) -> None:
        self._settings = settings
        self._policy = Policy(settings)
        self._vault = vault
        self._jobs = jobs
        self._emit = emit

    def clear(
        self,
        upstream: Upstream,
        request: Request,
        part: Any,
        restore: Restore,
        then: Cleared,
        stopped: Stopped,
        in_clear: str = "",
    ) -> None:
        """Restore ``part`` and look for raw data in it; ``then`` gets it once it may leave, ``stopped`` why it may not.

        ``in_clear`` replaces the reason where raw data was found and whoever is told must not know of what kind.
        Raises what ``restore`` raises besides :class:`Refused`.
        """
        if not self._settings.enforces:
            then(Restored(part, ()))
            return
        try:
            restored = restore()
        except Refused as refused:
            self.refused(upstream, request, refused.rule, refused.token)
            stopped(texts.refusal(refused))
            return

        def looked(refusal: str) -> None:
            if refusal:
                stopped(in_clear or refusal)
            else:
                then(restored)

        self._look(upstream, request, restored.written, looked)

    def refused(self, upstream: Upstream, request: Request, rule: str, token: str = "") -> None:
        """Record that ``rule`` refused a message."""
        about = {"upstream": upstream.name, "method": request.method, "rule": rule}
        self._emit(records.refused(upstream.name, request, rule, token))
        self._emit(Log("warning", "refused", {**about, "token": token} if token else about))

    def _look(self, upstream: Upstream, request: Request, written: Iterable[Leaf], then: Callable[[str], None]) -> None:
        """Report what was ``written`` in clear; ``then`` gets why it may not leave, in words for the model, or ""."""
        raw = self._settings.raw_data.get(upstream.name, RawData.PASS)
        looks = raw_texts(written) if raw is not RawData.PASS else []
        if not looks:
            then("")
            return

        def looked(found: Sequence[Sequence[Span]] | None) -> None:
            counts = distinct(found or (), upstream.settings)
            if counts or found is None:
                how = raw.value if found is not None else records.UNKNOWN
                dump = max(counts.values(), default=0) > RAW_DUMP
                about = {"upstream": upstream.name, "method": request.method, "found": counts, "dump": dump}
                self._emit(records.raw_data(upstream.name, request, counts, how, dump=dump))
                self._emit(Log("warning", "raw_pii", {**about, "action": how}))
            if raw is RawData.BLOCK and found is None:
                then(texts.RAW_DATA_UNKNOWN)
            else:
                then(texts.raw_data(counts, upstream.name) if raw is RawData.BLOCK and counts else "")

        self._jobs.look(upstream, looks, looked)

    def account(self, upstream: Upstream, request: Request, restored: Restored) -> None:
        """Record every token that was restored; log those that went to an upstream that is not their origin."""
        if not restored.decisions:
            return
        self._emit(Used([entry.token for entry in restored.entries]))
        self._vault.give(restored.entries, self._policy.group(upstream.name))
        for record in records.restored(upstream.name, request, restored.decisions):
            self._emit(record)
        for entry, verdict in restored.decisions:
            if verdict.foreign:
                about = {
                    "token": str(entry.token),
                    "from": ", ".join(records.names(entry.origins)),
                    "to": upstream.name,
                    "method": request.method,
                    "rule": verdict.rule,
                }
                self._emit(Log("info", "restored_for_another_upstream", about))
