"""What a person types into a form: each value becomes known before the upstream gets it, and can send it back.

Detection proves some of it. The rest (a nickname, the answer to a secret
question, a PIN) is whatever was typed into a field, so the whole of it becomes
a value: known in messages of the upstream that asked for it, and nowhere else.
Left out is what can't be told from ordinary text, and what the upstream itself
said in its question: a choice of its list is its own word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from cloakllm_gateway.core.events import Effect
from cloakllm_gateway.core.fields import TERM
from cloakllm_gateway.core.jobs import Failed, Jobs, Work
from cloakllm_gateway.core.upstream import Upstream
from cloakllm_gateway.protocol.surface import DATA, SURFACE
from cloakllm_gateway.protocol.walk import strings
from cloakllm_gateway.spans import Proof
from cloakllm_gateway.vault import tokens
from cloakllm_gateway.vault.entries import Entry, Spelling
from cloakllm_gateway.vault.vault import Vault, tellable

#: The longest choice of a form, in characters, and the most of them that count.
_LONGEST = 200
_MOST = 10_000


class FormInput:
    """Makes what people typed known; ``emit`` takes the effects that must precede the answer."""

    def __init__(self, jobs: Jobs, vault: Vault, emit: Callable[[Effect], None]) -> None:
        self._jobs = jobs
        self._vault = vault
        self._emit = emit

    def learn(
        self,
        upstream: Upstream,
        method: str,
        said: Mapping[str, Any],
        then: Callable[[Sequence[Entry]], None],
        failed: Failed,
        own: frozenset[str] = frozenset(),
    ) -> None:
        """Learn ``said``, the answer to an elicitation or ``inputResponses``.

        ``then`` takes the entries of what was typed, whose parts may come back
        as well; ``own`` are the :func:`words` of the question.
        """
        is_nested = "inputResponses" in said
        row = SURFACE["tasks/update" if is_nested else "elicitation/create"]
        shape = (row.params if is_nested else row.result) or DATA

        def done(clean: Any, effects: list[Effect]) -> None:
            for effect in effects:
                self._emit(effect)
            found: dict[Entry, None] = {}
            whole: dict[Spelling, None] = {}
            for typed, shown in zip(_fields(said), _fields(clean), strict=True):
                matches = tokens.scan(shown)
                found.update((entry, None) for match in matches if (entry := self._vault.lookup(match.token)))
                is_found = len(matches) == 1 and (matches[0].start, matches[0].end) == (0, len(shown))
                if not is_found and tellable(typed) and typed.casefold() not in own and not tokens.scan(typed):
                    whole[Spelling(TERM, typed, typed, typed, proof=Proof.KEY)] = None
            self._jobs.learn(upstream, list(whole), lambda learned: then([*found, *learned]), failed)

        self._jobs.start(Work(upstream, method, dict(said), shape, done, failed, direction="to_upstream"))


def words(asked: Any) -> frozenset[str]:
    """What a question says itself, case-folded, as far as somebody could choose it."""
    said = (str(word).casefold() for _, _, word in strings(asked))
    return frozenset(islice((word for word in said if len(word) <= _LONGEST), _MOST))


def _fields(said: Mapping[str, Any]) -> Iterator[str]:
    """What stands in the fields of the forms in ``said``, strings and numbers."""
    answers = said.get("inputResponses", {"": said})
    for answer in answers.values() if isinstance(answers, dict) else ():
        if isinstance(answer, dict) and "action" in answer:
            yield from (str(value) for _, is_key, value in strings(answer.get("content")) if not is_key)
