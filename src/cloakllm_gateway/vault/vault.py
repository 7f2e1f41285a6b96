"""What one session knows: its tokens, which of them it was shown, and the values behind them.

Pure and in memory.  Numbers are given out by a store, which is shared; a vault
learns entries and belongs to one session, so a token of another session is
simply unknown here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from typing import NamedTuple

from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.spans import Encoding, Proof, Span
from cloakllm_gateway.vault.echo import derived
from cloakllm_gateway.vault.entries import Entry, Token
from cloakllm_gateway.vault.known import Known, KnownValues
from cloakllm_gateway.vault.tokens import LITERAL
from cloakllm_gateway.vault.truncation import LONGEST
from cloakllm_gateway.vault.words import COMMON

#: Shorter values, and numbers of fewer digits, can't be told from ordinary text.
MIN_LENGTH = 4
MIN_DIGITS = 6

#: A line without blanks, long enough to tell by itself: keys and certificates are made of them; and how many count.
_LINE = lazy(r"(?m)^[ \t]*(?P<line>\S{32,})[ \t\r]*$")
_MOST_LINES = 1_000

#: Values that became known last, and are remembered as such.
_NEWS = 1_000

#: Sets of values whose forms are kept derived: what a few upstreams were given, and the calls being answered.
_DERIVED = 8


class Vault:
    """The values and tokens of one session.

    ``reserved`` are words that are never values, whoever sends them as such:
    the words of the protocol and the names of upstreams.

    Values are known by group (the upstreams that share equality): looked for
    beyond it, they would tell any upstream that lists all possible values
    which of them is real.

    Where several threads learn and ask at once, ``changing`` is a lock of theirs;
    it is held for one value at a time, so nobody waits for those of a large message.
    """

    def __init__(self, reserved: Collection[str] = (), changing: AbstractContextManager[object] | None = None) -> None:
        self._entries: dict[Token, Entry] = {}
        #: The tokens of each canonical value.
        self._alike: dict[tuple[str, str], dict[Token, None]] = {}
        self._shown: dict[Token, None] = {}
        self._shown_by_category: dict[str, list[Token]] = {}
        self._reserved: set[str] = set()
        self._reserved_by: dict[str, set[str]] = {}
        self._known: dict[str, KnownValues] = {}
        #: By the identity of the entries, the one used last at the end.
        self._echoes: dict[int, tuple[Sequence[Entry], KnownValues]] = {}
        self._news: deque[Entry] = deque(maxlen=_NEWS)
        #: How often a value became known, in whatever group.
        self.changes = 0
        self.changing = changing or nullcontext()
        self.reserve(reserved)

    def reserve(self, words: Iterable[str], origin: str = "") -> None:
        """Never report these words as known values, whatever was or will be learned.

        With an ``origin`` only in its own messages: the names it chose for its
        tools and properties are its words, and must not unhide anybody else's.
        """
        reserved = self._reserved_by.setdefault(origin, set()) if origin else self._reserved
        reserved.update(word.casefold() for word in words)

    def learn(self, entries: Iterable[Entry]) -> None:
        """Take in what a store assigned; an entry that is known already brings its new origins."""
        for entry in entries:
            if self._entries.get(entry.token) != entry:
                with self.changing:
                    self._learn(entry)

    def _learn(self, entry: Entry) -> None:
        old = self._entries.get(entry.token)
        if old is not None and not old.origins <= entry.origins:
            entry = entry._replace(origins=entry.origins | old.origins)  # news may overtake each other
        if old != entry:
            self._entries[entry.token] = entry
            self._alike.setdefault(_stem(entry), {})[entry.token] = None
            self._remember(entry)
            self._note(entry)

    def forget(self, tokens: Collection[Token]) -> None:
        """Values have left the store: their tokens stand for nothing here any more, and they are not known."""
        if tokens:
            with self.changing:
                self._forget(tokens)

    def _forget(self, tokens: Iterable[Token]) -> None:
        gone = {token: entry for token in tokens if (entry := self._entries.pop(token, None))}
        for token, entry in gone.items():
            for known in self._known.values():
                for form in _forms(entry):
                    known.discard(form.text, entry.spelling.category, form.canonical)
            alike = self._alike[_stem(entry)]
            del alike[token]
            for other in alike:  # may have had forms in common with it
                if other in self._entries:
                    self._remember(self._entries[other])
            if not alike:
                del self._alike[_stem(entry)]
            self._shown.pop(token, None)
        for category in {token.category for token in gone}:
            shown = self._shown_by_category.get(category, [])
            shown[:] = [token for token in shown if token not in gone]

    def give(self, entries: Iterable[Entry], group: str) -> None:
        """An upstream of ``group`` was given these values: they are known in its messages from now on."""
        for entry in entries:
            if entry.group != group:
                with self.changing:
                    self._remember(entry, group)
                    self._note(entry)

    def _note(self, entry: Entry) -> None:
        self._news.append(entry)
        self.changes += 1

    def since(self, changes: int) -> list[Entry]:
        """The values that became known since there were so many ``changes``; all, where that is long ago."""
        with self.changing:
            first = len(self._news) - (self.changes - changes)
            return list(islice(self._news, first, None)) if first >= 0 else list(self._entries.values())

    def _remember(self, entry: Entry, group: str = "") -> None:
        spelling = entry.spelling
        if spelling.category == LITERAL or spelling.proof is Proof.PART:
            return
        for text, encoding, canonical in _forms(entry):
            if not tellable(text):
                continue
            known = Known(
                spelling.category,
                canonical,
                spelling.value if canonical == spelling.canonical else text,
                encoding,
                spelling.proof,
                spelling.sensitive,
                entry.origins if spelling.proof is Proof.KEY else None,
                spelling.proof is Proof.NAME,
            )
            in_group = self._known.setdefault(
                group or entry.group, KnownValues(MIN_LENGTH, self._reserved, truncated=True)
            )
            in_group.add(text, known, encoding is Encoding.PLAIN and _caseless(spelling.canonical))

    def lookup(self, token: Token) -> Entry | None:
        """What ``token`` stands for, None if this session does not know it."""
        return self._entries.get(token)

    def show(self, tokens: Iterable[Token]) -> None:
        """Note that the client was shown ``tokens``: from now on it may use them."""
        for token in tokens:
            if token not in self._shown:
                self._shown[token] = None
                self._shown_by_category.setdefault(token.category, []).append(token)

    def is_shown(self, token: Token) -> bool:
        return token in self._shown

    def shown_of(self, category: str, limit: int = 10) -> list[Token]:
        """The tokens of ``category`` that this session was shown last, oldest first, at most ``limit``."""
        return self._shown_by_category.get(category, [])[-limit:]

    def known(self, text: str, origin: str, group: str) -> list[Span]:
        """Values of ``group`` with a token that stand raw in ``text``, part of a message from ``origin``.

        Disjoint and sorted, whole words only, the longest at each place, case
        ignored where the category's canonical form has none.  What is left of
        a value that was cut off is found where only a cut explains it.  A value
        proved by its key alone is found only in messages of its origins.  Left
        out is what can't be told from ordinary text: see :meth:`echoes`.
        """
        known = self._known.get(group)
        found = known.find(text, origin) if known else []
        if found and (own := self._reserved_by.get(origin)):
            return [span for span in found if text[span.start : span.end].casefold() not in own]
        return found

    def echoes(self, entries: Sequence[Entry], text: str) -> list[Span]:
        """Forms and parts of the values of ``entries`` in ``text``, a part of the reply to the call they went into.

        Disjoint and sorted.  Includes the short values that :meth:`known` leaves out.
        Give the same object for the same entries: their forms are derived once for each.
        """
        held = self._echoes.get(id(entries)) or (entries, derived(entries, self._reserved))
        with self.changing:
            self._echoes.pop(id(entries), None)
            self._echoes[id(entries)] = held
            if len(self._echoes) > _DERIVED:
                del self._echoes[next(iter(self._echoes))]
        return held[1].find(text)


def _stem(entry: Entry) -> tuple[str, str]:
    return entry.spelling.category, entry.spelling.canonical


class _Form(NamedTuple):
    """A text by which a value is known, how it is written, and of which value it is one form."""

    text: str
    encoding: Encoding
    canonical: str


def _forms(entry: Entry) -> list[_Form]:
    spelling = entry.spelling
    texts = {spelling.raw: spelling.encoding, **dict.fromkeys(spelling.plain, Encoding.PLAIN)}
    forms = [_Form(text, encoding, spelling.canonical) for text, encoding in texts.items()]
    if len(spelling.value) >= LONGEST and "\n" in spelling.value:
        # Whoever reads a key from its fifth line on sees none of its beginning.
        lines = islice((line["line"] for line in _LINE.finditer(spelling.value)), _MOST_LINES)
        forms += [_Form(line, Encoding.PLAIN, line) for line in lines]
    return forms


def tellable(text: str) -> bool:
    """Whether a value can be told from ordinary text."""
    if len(text) < MIN_LENGTH or text.casefold() in COMMON:
        return False
    return any(c.isalpha() for c in text) or sum(c.isdigit() for c in text) >= MIN_DIGITS


def _caseless(canonical: str) -> bool:
    """A canonical form in one case says that its category ignores case."""
    return canonical in (canonical.lower(), canonical.upper())
