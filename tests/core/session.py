"""Texts on their way to the model with the lists of a configuration, numbered from zero."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any

import anyio

from cloakllm_gateway.core.allowed import Allowed
from cloakllm_gateway.core.handles import Handles
from cloakllm_gateway.core.sanitizer import Sanitizing, drive
from cloakllm_gateway.core.source import Source
from cloakllm_gateway.detection.catalogue import CATALOGUE
from cloakllm_gateway.detection.engine import Detector
from cloakllm_gateway.detection.names import with_names
from cloakllm_gateway.detection.settings import Settings
from cloakllm_gateway.protocol.surface import DATA
from cloakllm_gateway.shell.stores.book import Book
from cloakllm_gateway.shell.stores.interface import DEFAULT_QUOTAS
from cloakllm_gateway.spans import Findings, Proof, Span, Text
from cloakllm_gateway.vault.entries import Entry, Spelling
from cloakllm_gateway.vault.vault import Vault

ORIGIN = "desk#0"


class Seeing:
    """A recogniser of the names it is made with, the longest at each place."""

    def __init__(self, people: Sequence[str]) -> None:
        self._people = sorted(people, key=len, reverse=True)

    def find(self, texts: Sequence[str], known: Sequence[Sequence[Span]] = ()) -> list[list[Span]]:
        return [self._in(text) for text in texts]

    def _in(self, text: str) -> list[Span]:
        found: list[Span] = []
        for name in self._people:
            start = text.find(name)
            while start >= 0:
                end = start + len(name)
                if all(end <= span.start or span.end <= start for span in found):
                    found.append(Span(start, end, "PERSON", name, name.casefold(), proof=Proof.NAME, rank=50))
                start = text.find(name, end)
        return sorted(found)


@cache
def _detector(allow: frozenset[str], deny: frozenset[str]) -> Detector:
    return Detector(Settings(allow_list=allow, deny_list=deny))


class Session:
    """Texts of one upstream on their way to the model, one after the other, with lists of the configuration."""

    def __init__(self, *allow: str, deny: Sequence[str] = (), people: Sequence[str] = ()) -> None:
        self._detector = _detector(frozenset(allow), frozenset(deny))
        self._allowed = Allowed(allow)
        self._names = Seeing(people)
        self._vault, self._handles = Vault(), Handles()
        self._book, self._given = Book(DEFAULT_QUOTAS, lambda purpose, parts: (purpose, *parts)), Counter[str]()

    def _number(self, category: str) -> int:
        self._given[category] += 1
        return self._given[category] - 1

    async def assign(self, spellings: Sequence[Spelling]) -> Sequence[Entry]:
        found = self._book.look("test", "session", ORIGIN, spellings)
        changes, entries = self._book.settle(found, self._number, now=0.0)
        self._book.apply(changes)
        self._vault.learn(entries)
        return entries

    def learn(self, category: str, value: str, canonical: str = "", proof: Proof = Proof.SHAPE) -> Entry:
        """Make a value known, as if from an earlier session without an allow list."""
        spelling = Spelling(category, value, value, canonical or value, proof=proof)
        return anyio.run(self.assign, [spelling])[0]

    def shown(self, part: Any, restored: Sequence[Entry] = ()) -> Any:
        """``part`` as the model gets it."""

        async def find(texts: Sequence[Text]) -> Findings:
            found = self._detector.look(texts)
            return found._replace(spans=with_names(found.spans, texts, self._names))

        categories = frozenset((*CATALOGUE, "LITERAL"))
        source = Source(
            ORIGIN, "session", self._vault, self._handles, categories, allowed=self._allowed, restored=restored
        )

        async def run() -> Any:
            return (await drive(Sanitizing(part, DATA, source), find, self.assign)).part

        return anyio.run(run)
