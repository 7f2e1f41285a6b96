"""Who may get which value: the boundary of the gateway.

Hiding tokens from hostile text is hygiene; a model can be talked into writing
any token.  What protects a value is the decision here, taken for each token at
the moment of its substitution.  Every decision is a value, so that the audit
can record it.
"""

from __future__ import annotations

from enum import IntEnum
from fnmatch import fnmatchcase
from typing import NamedTuple

from msgspec import Struct

from cloakllm_gateway.core.settings import Action, Flow, Scope, Settings
from cloakllm_gateway.vault.entries import Entry

#: The group of all upstreams that share equality: one value, one number.
SHARED_GROUP = "session"


class Strictness(IntEnum):
    """What a rule answers, laxest first: for a value of several origins the strictest answer counts."""

    ALLOW = 0
    ASK = 1
    DENY = 2


class Verdict(NamedTuple):
    """One decision: ``rule`` is the setting that decided, ``foreign`` whether the destination is no origin."""

    answer: Strictness
    rule: str
    foreign: bool = False

    @property
    def allowed(self) -> bool:
        return self.answer is Strictness.ALLOW


_STRICTNESS = {Action.ALLOW: Strictness.ALLOW, Action.ASK: Strictness.ASK, Action.DENY: Strictness.DENY}
_BY_SCOPE = {Scope.SESSION: Strictness.ALLOW, Scope.ASK: Strictness.ASK, Scope.UPSTREAM: Strictness.DENY}


class Policy(Struct, frozen=True):
    """The restore rules of one configuration."""

    settings: Settings

    def scope(self, upstream: str) -> Scope:
        return self.settings.upstreams[upstream].token_scope or self.settings.token_scope

    def origin(self, upstream: str) -> str:
        return self.settings.upstreams[upstream].origin

    def group(self, upstream: str) -> str:
        """Upstreams of scope ``session`` share equality; any other is a group of its own, unless joined.

        Without this a hostile upstream could list every possible birth date
        and see beside which of them another upstream's token appears.
        """
        for number, joined in enumerate(self.settings.groups):
            if upstream in joined:
                return f"group {number}"
        named = any(flow.action is Action.DENY and upstream in (flow.origin, flow.to) for flow in self.settings.flows)
        shares = self.scope(upstream) is Scope.SESSION and not named
        return SHARED_GROUP if shares else self.origin(upstream)

    def decide(self, entry: Entry, destination: str, host: str = "") -> Verdict:
        """May ``entry``'s value go to the upstream ``destination``, in a URL of ``host`` if that is not empty?

        An origin gets its own value back, unless a deny names it.  Everybody
        else needs a rule for every origin of the value: the strictest one
        wins, and a value without an origin goes nowhere.
        """
        if self.origin(destination) in entry.origins:
            return self._back(entry, destination, host)
        if not entry.origins:
            return Verdict(Strictness.DENY, "no origin", foreign=True)
        verdicts = (self._between(entry, self._name(origin), destination, host) for origin in sorted(entry.origins))
        return max(verdicts, key=lambda verdict: verdict.answer)

    def _back(self, entry: Entry, destination: str, host: str) -> Verdict:
        """To an origin, unless a deny names it."""
        denied = self._denied_by_name(entry, destination, host)
        return Verdict(Strictness.DENY, denied) if denied else Verdict(Strictness.ALLOW, "origin")

    def decide_own(self, entry: Entry, destination: str, host: str = "") -> Verdict:
        """The narrower rule for answers to an upstream's own request: to an origin or not at all."""
        if self.origin(destination) in entry.origins:
            return self._back(entry, destination, host)
        return Verdict(Strictness.DENY, "answers restore own values only", foreign=True)

    def _between(self, entry: Entry, origin: str, destination: str, host: str) -> Verdict:
        """The rule for one origin: the first flow that matches, then what is sensitive, then the scope.

        The scope session says that upstreams may have each other's values, and
        not that whoever an address names may: into an address only a flow lets.
        """
        for number, flow in enumerate(self.settings.flows):
            if _covers(flow, entry, origin, destination, host):
                return Verdict(_STRICTNESS[flow.action], f"flows[{number}]", foreign=True)
        if entry.spelling.sensitive and self.settings.sensitive_to_origin_only:
            return Verdict(Strictness.DENY, "sensitive: origin", foreign=True)
        scope = self.scope(destination)
        if host and scope is Scope.SESSION:
            return Verdict(Strictness.DENY, "place: path or query of a URL", foreign=True)
        return Verdict(_BY_SCOPE[scope], f"token_scope: {scope}", foreign=True)

    def _denied_by_name(self, entry: Entry, destination: str, host: str) -> str:
        for number, flow in enumerate(self.settings.flows):
            named = flow.to == destination and flow.origin in (destination, ANY)
            if named and _covers(flow, entry, destination, destination, host):
                return f"flows[{number}]" if flow.action is Action.DENY else ""
        return ""

    def _name(self, origin: str) -> str:
        """The upstream that ``origin`` is today; another program of the same name is not it."""
        return next((name for name, upstream in self.settings.upstreams.items() if upstream.origin == origin), "")


ANY = "*"


def _covers(flow: Flow, entry: Entry, origin: str, destination: str, host: str) -> bool:
    if flow.origin not in (ANY, origin) or flow.to not in (ANY, destination):
        return False
    category = entry.spelling.category
    if flow.categories:
        if category not in flow.categories:
            return False
    elif entry.spelling.sensitive and flow.action is not Action.DENY:
        return False  # to let something sensitive go, a flow has to name it
    return not flow.hosts or _is_host(host, flow)


def _is_host(host: str, flow: Flow) -> bool:
    """Whether the authority ``host`` of a URL is one of the flow's hosts; user and port don't count.

    Clients differ in what they make of a backslash, of escapes and of letters
    that stand for others: what allows something has to name the host as each
    of them reads it, what does not as any of them does.
    """
    readings = {host, host.partition("\\")[0]}
    if not host.isascii() or "%" in host:
        readings |= {_plain(reading) for reading in readings}
    names = {_name_of(reading) for reading in readings}
    named = [any(name and fnmatchcase(name, pattern.lower()) for pattern in flow.hosts) for name in names]
    return all(named) if flow.action is Action.ALLOW else any(named)


def _plain(authority: str) -> str:
    """An authority without escapes, in the letters that a look-up is done with (UTS 46)."""
    from unicodedata import normalize  # hardly ever
    from urllib.parse import unquote

    return normalize("NFKC", unquote(authority)).replace("\u3002", ".")


def _name_of(authority: str) -> str:
    """The host name of an authority; a dot behind it says only that it is all of the name."""
    name = authority.rpartition("@")[2].lower()
    return name.partition(":")[0].rstrip(".") if not name.startswith("[") else name.partition("]")[0] + "]"
