"""Why a token is not restored, in words for the model: each refusal says what is wrong and what to do, and no value."""

from __future__ import annotations

from collections.abc import Sequence

from cloakllm_gateway.core.policy import Verdict
from cloakllm_gateway.errors import Refused
from cloakllm_gateway.vault.entries import Entry, Token


def by_policy(entry: Entry, destination: str, verdict: Verdict) -> Refused:
    advice = "Its value belongs to another upstream. A person can allow it in the gateway's configuration."
    return _kept_from(entry, destination, verdict, advice)


def by_person(entry: Entry, destination: str, verdict: Verdict) -> Refused:
    """What a person said to a value holds for the session."""
    advice = "A person was asked about it earlier in this session and declined; that holds until the session ends."
    return _kept_from(entry, destination, verdict, advice)


def _kept_from(entry: Entry, destination: str, verdict: Verdict, advice: str) -> Refused:
    what = f"{entry.token} may not go to {destination} (rule: {verdict.rule})"
    return Refused(what, advice, token=entry.token.name, rule=verdict.rule)


def in_authority(token: Token, destination: str, verdict: Verdict) -> Refused:
    instead = (
        f"No setting lets {destination} have a value of another upstream there."
        if verdict.foreign
        else "Put it into the path or the query."
    )
    return Refused(
        f"{token} stands in a host name, or in the scheme, user or port of a URL",
        f"A value there would be told to whoever looks the address up. {instead}",
        token=token.name,
        rule="place: authority of a URL",
    )


def in_code(token: Token) -> Refused:
    return Refused(
        f"The value of {token} holds characters that could act as code in this place",
        "Give it as an argument of its own, or use it only with the upstream it came from.",
        token=token.name,
        rule="place: code",
    )


def in_base64(token: Token) -> Refused:
    return Refused(
        f"{token} stands in base64 or hex, where it can't be replaced by its value",
        "Give the text as it is.",
        token=token.name,
        rule="place: base64",
    )


def too_many_foreign(limit: int) -> Refused:
    return Refused(
        f"More than {limit} values of other upstreams in one call",
        "Send fewer of them at a time.",
        rule="values of others in one call",
    )


def too_large(limit: int) -> Refused:
    return Refused(
        f"The values of this call come to more than {limit} characters",
        "Name fewer of them at a time.",
        rule="size of the values in one call",
    )


def unknown(category: str, written: str, shown: Sequence[Token], *, persistent: bool) -> Refused:
    """One error for all: never issued, not shown here, expired, somebody else's, misspelt."""
    earlier = (
        "One of an earlier session goes to the upstream that it came from and to no other until it is read there"
        if persistent
        else "One from before the gateway was restarted has to be read from its source"
    )
    known = ", ".join(map(str, shown)) or "none so far"
    return Refused(
        f"{written} is not a token of this session",
        f"Copy tokens exactly as they were shown, in the form [{category}_<number>]. Tokens of this kind in this "
        f"session: {known}. {earlier} again.",
        rule="unknown_token",
    )


def redacted(mark: str) -> Refused:
    """Written back, the mark would take the place of the value that it stands for."""
    return Refused(
        f"{mark} marks a value that was cut out for good",
        "Nothing can be put there. Leave this part of the text out, or change only what is around it.",
        rule="redact",
    )
