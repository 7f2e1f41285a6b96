"""Who may get which value: the boundary of the gateway.

Hiding tokens from hostile text is hygiene; a model can be talked into writing
any token.  What protects a value is the decision here, taken for each token at
the moment of its substitution.  Every decision is a value, so that the audit
can record it.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from cloakllm_gateway.core.settings import Scope, Settings
from cloakllm_gateway.vault.entries import Entry

#: The group of all upstreams that share equality: one value, one number.
SHARED_GROUP = "session"


class Verdict(NamedTuple):
    """One decision: ``rule`` is the setting that decided, ``foreign`` whether the destination is no origin."""

    allowed: bool
    rule: str
    foreign: bool = False


class Policy(Struct, frozen=True):
    """The restore rules of one configuration (design, section 6)."""

    settings: Settings

    def scope(self, upstream: str) -> Scope:
        return self.settings.upstreams[upstream].token_scope or self.settings.token_scope

    def origin(self, upstream: str) -> str:
        return self.settings.upstreams[upstream].origin

    def group(self, upstream: str) -> str:
        """Upstreams of scope ``session`` share equality; any other is a group of its own.

        Without this a hostile upstream could list every possible birth date
        and see beside which of them another upstream's token appears.
        """
        return SHARED_GROUP if self.scope(upstream) is Scope.SESSION else self.origin(upstream)

    def decide(self, entry: Entry, destination: str) -> Verdict:
        """May ``entry``'s value go to the upstream ``destination``?

        An origin gets its own value back.  Everybody else needs a rule for
        every origin of the value: the strictest one wins, and a value without
        an origin goes nowhere.
        """
        if self.origin(destination) in entry.origins:
            return Verdict(True, "origin")
        if not entry.origins:
            return Verdict(False, "no origin", foreign=True)
        if entry.spelling.sensitive and self.settings.sensitive_to_origin_only:
            return Verdict(False, "sensitive: origin", foreign=True)
        return Verdict(
            self.scope(destination) is Scope.SESSION, f"token_scope: {self.scope(destination)}", foreign=True
        )

    def decide_own(self, entry: Entry, destination: str) -> Verdict:
        """The narrower rule for answers to an upstream's own request: to an origin or not at all."""
        if self.origin(destination) in entry.origins:
            return Verdict(True, "origin")
        return Verdict(False, "answers restore own values only", foreign=True)
