"""One message part on its way to an upstream: tokens become values, where the surface table says so.

Restoring is the last step before the write, after routing.  Each token is
decided by itself, at its place; one refusal refuses the whole call.  Nothing
here is ever built from restored text but the part that goes to the upstream.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from msgspec import Struct

from cloakllm_gateway.core import refusals
from cloakllm_gateway.core.handles import Handles
from cloakllm_gateway.core.policy import Policy, Strictness, Verdict
from cloakllm_gateway.detection.folding import views
from cloakllm_gateway.errors import DetectionError
from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.protocol.jsonrpc import Number
from cloakllm_gateway.protocol.surface import HANDLE, RESTORE, RESTORE_OWN, Role, Shape
from cloakllm_gateway.protocol.walk import KeyCollision, Leaf, Path, leaves, replace
from cloakllm_gateway.spans import Encoding
from cloakllm_gateway.vault import placing, tokens
from cloakllm_gateway.vault.code import Language, is_piece
from cloakllm_gateway.vault.entries import Entry, Token
from cloakllm_gateway.vault.placing import NumberText, Place
from cloakllm_gateway.vault.safety import unsafe
from cloakllm_gateway.vault.tokens import TokenMatch
from cloakllm_gateway.vault.vault import Vault

#: Nothing asked for stands in a list.
UNLISTED: Mapping[str, str] = MappingProxyType({})


class Decision(NamedTuple):
    """One token restored, and the rule that allowed it."""

    entry: Entry
    verdict: Verdict


class Approval(NamedTuple):
    """A question for the person: may values of ``category`` that came from ``origins`` go to ``destination``?

    Its identity is the value's, so that an answer is remembered for this value alone.
    """

    category: str
    canonical: str
    origins: frozenset[str]
    destination: str


class NeedApproval(Exception):
    """The call may go on once a person has allowed what ``asked`` lists, each with the rule that wants it."""

    def __init__(self, asked: Mapping[Approval, str]) -> None:
        super().__init__()
        self.asked = asked


class Restored(NamedTuple):
    """The part for the upstream, what was decided on the way, and the leaves of the part as it was written.

    ``typed`` are values that a person typed, which go out as they are.
    """

    part: Any
    decisions: tuple[Decision, ...]
    written: Sequence[Leaf] = ()
    typed: tuple[Entry, ...] = ()

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All values that the part holds and that may come back."""
        return (*[decision.entry for decision in self.decisions], *self.typed) if self.decisions else self.typed


class Restorer(Struct, frozen=True):
    """Restores for one session.

    ``categories`` are the names that make ``[NAME_1]`` a token of ours,
    ``answers`` what a person said so far, ``redacts`` says that there are marks
    of values that were cut out.
    """

    policy: Policy
    vault: Vault
    handles: Handles
    categories: frozenset[str]
    answers: dict[Approval, bool]
    redacts: bool = False

    def restore(
        self,
        part: Any,
        shape: Shape,
        destination: str,
        declared: frozenset[str] = frozenset(),
        parameters: Mapping[str, Language] = placing.UNDECLARED,
        listed: Mapping[str, str] = UNLISTED,
    ) -> Restored:
        """``part`` for ``destination``.

        ``declared`` are the argument keys its schema declares, which stay;
        ``parameters`` is what the configuration says that arguments hold;
        ``listed`` are the real URIs of its resources, by those that its lists showed.

        Raises :class:`Refused` where a token may not be restored here, is
        damaged, or would make two keys of one object equal, and
        :class:`NeedApproval` where a person has to be asked first.
        """
        run = _Run(self, destination, parameters)
        edits: dict[tuple[Path, bool], Any] = {}
        written: list[Leaf] = []
        for leaf in leaves(part, shape):
            if listed and leaf.role is RESTORE and leaf.text in listed:
                edits[leaf.path, leaf.is_key] = real = listed[leaf.text]
                run.listed(leaf.text, real)
                continue
            written.append(leaf)
            new = run.leaf(leaf, declared)
            if new is not leaf.value:
                edits[leaf.path, leaf.is_key] = new
        if run.asked:
            raise NeedApproval(run.asked)
        try:
            return Restored(replace(part, edits), tuple(run.decisions.values()), written)
        except KeyCollision:
            raise placing.equal_keys() from None


class _Run:
    """The state of one call: which tokens were restored so far."""

    def __init__(self, restorer: Restorer, destination: str, parameters: Mapping[str, Language]) -> None:
        self._by = restorer
        self._destination = destination
        self._parameters = parameters
        self._redacts = restorer.redacts
        self._verdicts: dict[tuple[Token, str], Verdict] = {}
        self._foreign = 0
        self._size = 0  # of all values that were put in, in characters
        self.decisions: dict[Token, Decision] = {}
        self.asked: dict[Approval, str] = {}

    def leaf(self, leaf: Leaf, declared: frozenset[str]) -> Any:
        if leaf.role is HANDLE and not leaf.is_key and not isinstance(leaf.value, Number):
            return self._by.handles.original(self._by.policy.origin(self._destination), leaf.value)
        if leaf.role not in (RESTORE, RESTORE_OWN) or not isinstance(leaf.value, str):
            return leaf.value
        if leaf.role is RESTORE and not leaf.is_key:
            self._refuse_packed(leaf.value)
        if not tokens.may_hold(leaf.value):
            return leaf.value
        if leaf.is_key and leaf.value in declared:
            return leaf.value
        if leaf.role is RESTORE and not leaf.is_key:
            self._refuse_near_misses(leaf.value)
        if leaf.role is RESTORE and self._redacts:
            self._refuse_redacted(leaf.value)
        parameter = "" if leaf.is_key else self._parameter(leaf)
        is_url = _URL.fullmatch(leaf.value) is not None and not is_piece(parameter)

        def resolve(match: TokenMatch, place: Place) -> Entry | None:
            return self._resolve(leaf, match, place, is_url)

        new = placing.restore(leaf.value, resolve, parameter, self._parameters)
        if isinstance(new, NumberText):
            return new.lexeme if leaf.is_key else _number(new.lexeme)
        return leaf.value if new == leaf.value else new

    def listed(self, uri: str, real: str) -> None:
        """Record the tokens of a URI that a list showed: the message it came in says what it stands for.

        Left to decide is whether a rule names the upstream itself and denies it.
        """
        found = _URL.match(real)
        host = found["authority"] if found else ""

        def decide(match: TokenMatch, place: Place) -> None:
            entry = self._by.vault.lookup(match.token)
            if entry is not None:
                # Where a token hides the host, or a part of it, the real URI says which it is.
                verdict = self._verdict(entry, RESTORE, host if place.authority and host else place.host)
                if not verdict.foreign:
                    self._is_approved(entry, verdict)
                self.decisions[match.token] = Decision(entry, Verdict(Strictness.ALLOW, "listed"))

        placing.restore(uri, decide, "uri")

    def _parameter(self, leaf: Leaf) -> str:
        """The name that says what stands in ``leaf``: what is declared counts for all that is in it."""
        inside = (str(step) for step in reversed(leaf.path[1:]))
        own = next((step for step in reversed(leaf.path) if isinstance(step, str)), "")
        return next((name for name in inside if name in self._parameters), own)

    def _resolve(self, leaf: Leaf, match: TokenMatch, place: Place, is_url: bool) -> Entry | None:
        token, role = match.token, leaf.role
        entry = self._by.vault.lookup(token)
        if entry is not None and not self._by.vault.is_shown(token) and not self._outlived(entry):
            entry = None
        if entry is None:
            if role is RESTORE and token.category in self._by.categories:
                # Inside JSON text the match has positions of its own; there the token's own form is repeated.
                written = leaf.text[match.start : match.end]
                self._refuse_unknown(token.category, written if tokens.scan(written) else str(token))
            return None
        verdict = self._verdict(entry, role, place.host)
        if role is RESTORE_OWN and not verdict.allowed:
            return None
        if role is RESTORE:
            self._refuse_authority(entry, place, verdict, is_url)
        if not self._is_approved(entry, verdict):
            return None
        if role is RESTORE:
            self._refuse_code(entry, place, verdict)
        self._size += len(entry.spelling.value)
        self._refuse_bulk()
        if token not in self.decisions:
            self.decisions[token] = Decision(entry, verdict)
            self._foreign += verdict.foreign
            self._refuse_crowd()
        return entry

    def _is_approved(self, entry: Entry, verdict: Verdict) -> bool:
        """Whether the policy, or a person it asked, allows it; raises :class:`Refused` where not."""
        if verdict.allowed:
            return True
        if verdict.answer is Strictness.ASK:
            spelling = entry.spelling
            approval = Approval(spelling.category, spelling.canonical, entry.origins, self._destination)
            answer = self._by.answers.get(approval)
            if answer is None:
                self.asked[approval] = verdict.rule
                return False
            if answer:
                return True
            raise refusals.by_person(entry, self._destination, verdict)
        raise refusals.by_policy(entry, self._destination, verdict)

    def _outlived(self, entry: Entry) -> bool:
        """A token of an earlier session, whose conversation may go on in this one: its origin gets its value."""
        policy = self._by.policy
        return policy.settings.persistent and policy.origin(self._destination) in entry.origins

    def _verdict(self, entry: Entry, role: Role, host: str) -> Verdict:
        if role is RESTORE_OWN:
            return self._by.policy.decide_own(entry, self._destination, host)
        key = (entry.token, host)
        verdict = self._verdicts.get(key)
        if verdict is None:
            verdict = self._verdicts[key] = self._by.policy.decide(entry, self._destination, host)
        return verdict

    def _refuse_authority(self, entry: Entry, place: Place, verdict: Verdict, is_url: bool) -> None:
        """Refuse where the value would be sent to whoever an address names: no rule and no person allows that.

        In an address that is the whole argument, its own upstream gets a value
        as the whole authority only.  In longer text, and in a piece of a file, it
        is content: `postgres://app:secret@host` must survive being written back.
        """
        if place.authority and (verdict.foreign or (is_url and not place.whole_authority)):
            raise refusals.in_authority(entry.token, self._destination, verdict)

    def _refuse_code(self, entry: Entry, place: Place, verdict: Verdict) -> None:
        """Refuse where the value could act as code."""
        if verdict.foreign and (place.code_like or not place.whole) and unsafe(entry):
            raise refusals.in_code(entry.token)

    def _refuse_crowd(self) -> None:
        limit = self._by.policy.settings.max_foreign_tokens
        if self._foreign > limit:
            raise refusals.too_many_foreign(limit)

    def _refuse_bulk(self) -> None:
        """A long value behind each of many tokens would fill any memory before there is a message to be too large."""
        limit = self._by.policy.settings.max_bytes
        if self._size > limit:
            raise refusals.too_large(limit)

    def _refuse_packed(self, text: str) -> None:
        """A token in base64 would reach the upstream as it is, and be kept in place of its value.

        What is read in data is read here, and there it is a look-alike.
        """
        if not self._by.policy.settings.refuse_unknown_tokens or not _PACKED.search(text):
            return
        try:
            readings = views(text)
        except DetectionError:
            return  # encoded deeper than anybody reads
        for view in readings:
            for match in tokens.scan(view.text):
                packed = view.encoding_of(match.start, match.end) in (Encoding.BASE64, Encoding.HEX)
                if packed and self._by.vault.is_shown(match.token):
                    raise refusals.in_base64(match.token)

    def _refuse_near_misses(self, text: str) -> None:
        if not self._by.policy.settings.refuse_unknown_tokens:
            return
        for miss in tokens.near_misses(text, self._by.categories, whole=True):
            self._refuse_unknown(miss.category, miss.written)

    def _refuse_redacted(self, text: str) -> None:
        if marks := tokens.redactions(text):
            raise refusals.redacted(marks[0].written)

    def _refuse_unknown(self, category: str, written: str) -> None:
        settings = self._by.policy.settings
        if settings.refuse_unknown_tokens:
            raise refusals.unknown(category, written, self._by.vault.shown_of(category), persistent=settings.persistent)


#: As long as a short token in base64 or hex.
_PACKED = lazy(r"[A-Za-z0-9+/_-]{12}")

#: A text that is an address and nothing else.
_URL = lazy(r"\s*[A-Za-z][A-Za-z0-9+.\-]*:[/\\]{2}(?P<authority>[^\s/?#]*)\S*\s*")


def _number(lexeme: str) -> int | Number:
    try:
        value = int(lexeme)
    except ValueError:
        return Number(lexeme)
    return value if str(value) == lexeme else Number(lexeme)
