"""One message part on its way to the model: find, tokenize, rewrite, look again.

Theory of operation.  A :class:`Sanitizing` is a small state machine, because
two of its steps need the shell: looking for data (`NeedScan`: large texts and
names go to a worker process) and giving values their tokens (`NeedAssign`: the
mapping is durable before it is used).  The gateway feeds it the answers::

    begin -> NeedScan -> scanned -> NeedAssign -> assigned -+
                            |            (first pass)       |
                            +-------- nothing found --------+
                                                            v
             NeedScan -> scanned -> NeedAssign -> assigned -> Clean
                            |          (tripwire)              ^
                            +----------- nothing left ---------+

Meanwhile other messages bring values of their own; one that is outdated by
them is looked at again before it leaves (`look_again`).

The first pass goes by the surface table.  The tripwire behind it ignores roles
and walks every string of what is about to leave.  A string that the first pass
looked at verbatim and found clean has been checked by the same engine and is
not scanned twice, and a word of the protocol is never a value.  What stands
across the edges of adjacent text blocks is looked at in the first pass, and so
is what one place of the message proved about the others (:mod:`.mentions`).
What counts as a find is decided in :mod:`.finding`.

What would surprise you: positions of placed tokens are remembered by path, and
later passes leave them alone by position, never because a text *looks* like a
token.  Anything that goes wrong is ``Withheld``.
"""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, TypeAlias

from msgspec import Struct, field

from cloakllm_gateway.core import mentions
from cloakllm_gateway.core.blobs import textual
from cloakllm_gateway.core.finding import Finder
from cloakllm_gateway.core.places import Places
from cloakllm_gateway.core.rewriting import Cut, masked, rewritten, spelling, taken_back
from cloakllm_gateway.core.ruling import Ruling, Where
from cloakllm_gateway.core.settings import Treatment
from cloakllm_gateway.core.slots import Done, Run, Slot, may_be_damaged, runs_of
from cloakllm_gateway.core.source import Source
from cloakllm_gateway.detection.folding import views
from cloakllm_gateway.errors import Withheld
from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.protocol.surface import (
    ADVERTISED,
    BLOB,
    DATA,
    HANDLE,
    LINK,
    MEDIA,
    NAME,
    PROTOCOL,
    URI,
    WORDS,
    Role,
    Shape,
)
from cloakllm_gateway.protocol.walk import KeyCollision, Leaf, Path, at, leaves, replace, strings
from cloakllm_gateway.spans import Findings, Span, Text, whole_number
from cloakllm_gateway.vault import placing, tokens
from cloakllm_gateway.vault.entries import Entry, Spelling, Token

#: What is no text that somebody reads.
_AS_THEY_ARE = (NAME, HANDLE, LINK)


#: How often a part is looked at again for what others made known: who talks without end keeps nobody's back.
_MOST_LOOKS = 3


class NeedScan(Struct, frozen=True):
    """Detection has to look at these texts; the answer goes to :meth:`Sanitizing.scanned`."""

    texts: Sequence[Text]


class NeedAssign(Struct, frozen=True):
    """These spellings need tokens; the answer goes to :meth:`Sanitizing.assigned`."""

    spellings: Sequence[Spelling]


class Clean(Struct, frozen=True):
    """The part may go out; ``tokens`` are those it shows, ``uris`` its resources as (real, shown)."""

    part: Any
    tokens: Sequence[Token]
    uris: Sequence[tuple[str, str]] = ()


Step: TypeAlias = NeedScan | NeedAssign | Clean


class Report(Struct):
    """What was done, as counts by category or reason: all that the audit and the log may know."""

    found: dict[str, int] = field(default_factory=dict)
    tripwire: dict[str, int] = field(default_factory=dict)
    skipped: dict[str, int] = field(default_factory=dict)
    dropped: int = 0


class Sanitizing:
    """Sanitizes one message part on its way to the model: call ``begin``, then answer each step.

    Raises :class:`Withheld` where the part can't be proved clean.
    """

    def __init__(self, part: Any, shape: Shape, source: Source) -> None:
        self.report = Report()
        self._part = self._untouched = part
        self._shape = shape
        self._source = source
        self._slots: list[Slot] = []
        self._asked: Sequence[Text] = ()
        self._questions: Sequence[int] = ()  # for each slot, the number of the text that was asked about
        self._runs: Sequence[Run] = ()  # what is asked about behind the slots
        self._read_on: Sequence[Run] = ()  # the same of the first pass
        self._cuts: list[Done] = []
        self._new: set[int] = set()  # the spellings that detection found, and which may stand elsewhere too
        self._tokens: dict[Token, None] = {}
        self._looks = 0
        self._start_over()

    def _start_over(self) -> None:
        """Nothing is known of any place."""
        self.report.found.clear()
        self.report.skipped.clear()
        self._counts = self.report.found
        self._heard = self._source.vault.changes
        self._places = Places(Ruling(self._source.treatments, self._source.items))
        self._finder = Finder(self._source, self._places)
        self._searched_for_mentions = False

    def begin(self) -> Step:
        """The first pass: every leaf by its role."""
        self._untouched = self._part
        self._slots, edits = [], {}
        for leaf in leaves(self._part, self._shape):
            where, role = (leaf.path, leaf.is_key), leaf.role
            known_as = None
            if role is URI and isinstance(leaf.value, str) and not leaf.is_key:
                self._places.uris[leaf.path] = leaf.value
                known_as = self._source.uris.get(leaf.value)
            if known_as is not None:
                edits[where] = known_as
                self._places.placed[where] = [(m.start, m.end) for m in tokens.scan(known_as)]
            elif role is PROTOCOL:
                _count(self.report.skipped, "protocol")
            elif slot := self._slot(leaf, where):
                self._slots.append(slot)
                self._places.ruling.meet(where, slot.text, slot.look.text)
        if edits:
            self._part = replace(self._part, edits)
        self._runs = self._read_on = runs_of(self._slots) if len(self._slots) > 1 else ()
        return self._look()

    def _slot(self, leaf: Leaf, where: Where) -> Slot | None:
        if leaf.role is ADVERTISED:
            self._places.described.add(where)
        if leaf.role in (BLOB, MEDIA) and isinstance(leaf.value, str) and not leaf.is_key:
            decoded = textual(leaf.value)
            if decoded is None:
                self._places.exempt.add(leaf.path)
                _count(self.report.skipped, "media" if leaf.role is MEDIA else "binary blob")
                return None
            text, charset = decoded
            if charset:
                self._places.charsets[leaf.path] = charset
            return Slot(where, leaf.role, text, Text(text), charset=charset)
        if isinstance(leaf.value, str):
            role = self._exempted(leaf) if leaf.role is LINK else leaf.role
            names = role not in (ADVERTISED, NAME, HANDLE, LINK)
            look = Text(leaf.value, leaf.key, leaf.record, names, leaf.parent, leaf.above)
            return Slot(where, role, leaf.value, look)
        look = Text(whole_number(leaf.text), leaf.key, leaf.record, False, leaf.parent, leaf.above)
        return Slot(where, leaf.role, leaf.text, look, is_number=True)

    def _exempted(self, leaf: Leaf) -> Role:
        """The role of a LINK: exact where the configuration passes it and it is a web address, else DATA."""
        if not (self._source.exact_links and _leads_to_a_page(leaf.text)):
            return DATA
        self._places.exempt.add(leaf.path)
        _count(self.report.skipped, "link")
        return LINK

    def _look(self) -> NeedScan:
        """Ask detection about each different text once: a thousand equal fields are one question."""
        if len(self._slots) == 1:  # to hash a large text takes longer than to copy it
            self._asked, self._questions = [self._slots[0].look], [0]
            return NeedScan(self._asked)
        numbers: dict[Text, int] = {}
        self._questions = [numbers.setdefault(slot.look, len(numbers)) for slot in self._slots]
        self._asked = [*numbers, *(Text(run.joined.text) for run in self._runs)]
        return NeedScan(self._asked)

    def scanned(self, found: Findings) -> Step:
        """The answer to ``NeedScan``."""
        if len(found.spans) != len(self._asked):
            raise Withheld("detection answered for another number of texts than it was asked about")
        spellings: dict[Spelling, int] = {}
        handles: dict[Where, Any] = {}
        dropped: set[Path] = set()
        self._cuts = []
        self._new.clear()
        for slot, finds in self._finds(found):
            if slot.role is LINK:
                continue
            if slot.role is NAME:
                dropped.add(_item(slot.where[0]))
            elif slot.role is HANDLE and not slot.where[1]:
                handles[slot.where] = self._source.handles.issue(self._source.origin, at(self._part, slot.where[0]))
            else:
                for find in finds:
                    _count(self._counts, find.category)
                self._cuts.append(self._cut(slot, finds, spellings))
        if dropped:
            # Paths shift when items go, so the rest is looked at afresh.
            self.report.dropped += len(dropped)
            self._start_over()
            self._part = _without(self._part, dropped)
            return self.begin()
        if handles:
            self._part = replace(self._part, handles)
        if spellings:
            return NeedAssign(list(spellings))
        return self.assigned(()) if self._cuts else self._next()

    def _finds(self, found: Findings) -> Iterator[tuple[Slot, list[Span]]]:
        """The slots that hold something to hide, and what; the others are noted as clean.

        Where a text held nothing, an equal one is not looked through again, if its place makes no difference.
        """
        places = self._places
        if places.ruling.fields and self._finder.by_role:
            answered = zip(self._slots, self._questions, strict=True)
            places.ruling.learn((slot.where, found.spans[number]) for slot, number in answered)
        across = self._across(found) if self._runs else {}
        nothing: dict[bool, set[str]] = {True: set(), False: set()}  # texts, by whether damage was looked for in them
        # Where no rule is for a place, equal texts are alike; to hash one that is alone, and may be large, is in vain.
        compares = len(self._slots) > 1 and not places.ruling.has_rules
        for slot, number in zip(self._slots, self._questions, strict=True):
            parts = across.get(slot.text, ()) if across else ()
            spans = [*found.spans[number], *parts] if parts else found.spans[number]
            if number in found.encoded:
                slot = slot._replace(is_encoded=True)
            is_usual = compares and not (spans or slot.is_encoded)
            alike = nothing[may_be_damaged(slot)]
            if is_usual and slot.look.text in alike:
                places.clean[slot.where] = slot
            elif finds := self._finder.finds(slot, spans):
                yield slot, finds
            else:
                places.clean[slot.where] = slot
                if is_usual and slot.where not in places.placed:
                    alike.add(slot.look.text)

    def _across(self, found: Findings) -> dict[str, dict[Span, None]]:
        """Finds that go across blocks: for each text its parts of them, since structured content may repeat a text."""
        own = {slot.where: found.spans[number] for slot, number in zip(self._slots, self._questions, strict=True)}
        across: dict[str, dict[Span, None]] = {}
        for number, run in enumerate(self._runs, start=len(self._asked) - len(self._runs)):
            alone = [own[slot.where] for slot in run.slots]
            is_encoded = number in found.encoded
            for block, part in self._finder.across(run, found.spans[number], alone, is_encoded=is_encoded):
                across.setdefault(run.slots[block].text, {})[part] = None
        return across

    def _cut(self, slot: Slot, finds: Sequence[Span], spellings: dict[Spelling, int]) -> Done:
        """How ``finds`` come out of a slot.

        What the tripwire finds is cut together with what was cut before, from the text as it was: a second cut
        can take the bracket or the quote that a first one relied on.
        """
        if before := self._places.done.get(slot.where):
            finds = taken_back(before.cut, self._places.placed.pop(slot.where), finds)
            slot = before.slot
        standing = placing.standing(slot.text, finds)
        inserts: list[int | str] = []
        for span, _ in standing:
            rule = self._places.ruling.rule(slot.where, span)
            if rule is not None and rule.how is Treatment.REDACT:
                inserts.append(tokens.redacted(span.category))
            else:
                number = spellings.setdefault(spelling(slot.text, span, is_number=slot.is_number), len(spellings))
                inserts.append(number)
                if span.rank:  # what was known already has none, and was looked for everywhere
                    self._new.add(number)
        return Done(slot, Cut(slot.text, standing, inserts))

    def assigned(self, entries: Sequence[Entry]) -> Step:
        """The answer to ``NeedAssign``: one entry for each spelling, in order."""
        edits: dict[Where, Any] = {}
        for done in self._cuts:
            slot = done.slot
            before = self._places.placed.get(slot.where, [])
            text, placed = rewritten(done.cut, entries, before)
            if not before:
                self._places.done[slot.where] = done
            self._places.placed[slot.where] = placed
            edits[slot.where] = base64.b64encode(text.encode(slot.charset)).decode("ascii") if slot.charset else text
        self._tokens.update(dict.fromkeys(entry.token for entry in entries))
        try:
            self._part = replace(self._part, edits)
        except KeyCollision:
            raise Withheld("two keys of one object would have become equal") from None
        self._places.follow({path: new for (path, is_key), new in edits.items() if is_key})
        if self._finder.by_role and self._new and not self._searched_for_mentions:
            self._searched_for_mentions = True
            new = [entries[number] for number in self._new]
            if self._are_told_across(new):
                return self._begin_anew()
            if told := self._told_elsewhere(new):
                self._slots, self._runs = told, ()
                return self._look()
        return self._next()

    def _known(self, text: str) -> Sequence[Span]:
        return self._source.vault.known(text, self._source.origin, self._source.group)

    def _are_told_across(self, entries: Sequence[Entry]) -> bool:
        """Whether such a value stands across the edge of two blocks: half of it may be where something else was cut."""
        return any(mentions.across(entries, run.joined, self._known) for run in self._read_on)

    def _begin_anew(self) -> Step:
        """The first pass once more, now that what the message told is known."""
        self._start_over()
        self._searched_for_mentions = True
        self._part = self._untouched
        return self.begin()

    def _told_elsewhere(self, entries: Sequence[Entry]) -> list[Slot]:
        """The texts without a find that mention values which others of this message proved; to be looked at again."""
        clean = [slot for slot in self._places.clean.values() if slot.role not in _AS_THEY_ARE]
        plain = [slot for slot in clean if not slot.is_encoded]
        told = [plain[number] for number in mentions.places(entries, [slot.look.text for slot in plain], self._known)]
        told += [slot for slot in clean if slot.is_encoded and self._finder.mentions(slot)]
        return [slot._replace(look=slot.look._replace(names=False)) for slot in told]

    def _next(self) -> Step:
        if self._finder.by_role:
            self._finder.by_role = False
            self._counts = self.report.tripwire
            return self._tripwire()
        if self._places.placed:
            self._check_grammar()
        uris = self._places.uris
        shown = [(real, at(self._part, path)) for path, real in uris.items()] if uris else ()
        return Clean(self._part, tuple(self._tokens), shown)

    # -- values that others made known meanwhile ---------------------------------------------------

    @property
    def is_outdated(self) -> bool:
        """Whether other messages made values known since this one was looked through."""
        if self._source.vault.changes == self._heard or self._looks == _MOST_LOOKS:
            return False
        return any(entry.token not in self._tokens for entry in self._source.vault.since(self._heard))

    def look_again(self) -> Step:
        """Look for what others made known meanwhile in the part that was clean before that."""
        vault, before = self._source.vault, self._heard
        self._heard = vault.changes  # what comes between the two is looked for twice
        news = vault.since(before)
        self._looks += 1
        unheard = [entry for entry in news if entry.token not in self._tokens]
        if self._are_told_across(unheard):
            return self._begin_anew()
        self._counts = self.report.found
        for slot in self._told_elsewhere(unheard):
            del self._places.clean[slot.where]
        return self._tripwire()

    # -- the tripwire: every string, whatever its role ---------------------------------------------

    def _tripwire(self) -> Step:
        self._slots, self._runs = [], ()
        for path, is_key, value in strings(self._part):
            where = (path, is_key)
            if where in self._places.clean or (path in self._places.exempt and not is_key) or value in WORDS:
                continue
            text, charset = self._places.text_of(where, value)
            look = Text(masked(text, self._places.placed.get(where, ())), names=False)
            self._slots.append(Slot(where, DATA, text, look, not isinstance(value, str), charset))
        return self._look() if self._slots else self._next()

    def _check_grammar(self) -> None:
        """Raise :class:`Withheld` if restore would accept anything in this part but the tokens placed in it."""
        for (path, is_key), placed in self._places.placed.items():
            value = path[-1] if is_key else at(self._part, path)
            text, _ = self._places.text_of((path, is_key), value)
            allowed = set(placed)
            for view in views(text):
                for match in self._finder.tokens_in(view.text):
                    if view.original(match.start, match.end) not in allowed:
                        raise Withheld("the rewritten message held something that reads as a token and is none")


Find: TypeAlias = Callable[[Sequence[Text]], Awaitable[Findings]]
AssignTokens: TypeAlias = Callable[[Sequence[Spelling]], Awaitable[Sequence[Entry]]]


async def drive(sanitizing: Sanitizing, find: Find, assign: AssignTokens) -> Clean:
    """Run one sanitizing to its end, for those who have nothing else to do meanwhile.

    Raises what ``find`` and ``assign`` raise, and :class:`Withheld`.
    """
    step = sanitizing.begin()
    while True:
        match step:
            case NeedScan(texts):
                step = sanitizing.scanned(await find(texts))
            case NeedAssign(spellings):
                step = sanitizing.assigned(await assign(spellings))
            case Clean():
                return step


# -- small decisions, each a function of its arguments ------------------------------------------------


def _count(counts: dict[str, int], what: str) -> None:
    counts[what] = counts.get(what, 0) + 1


_WEB = lazy(r"(?i)https?://[^\s\x00-\x1f\x7f]+")


def _leads_to_a_page(text: str) -> bool:
    """Whether it is an address for a browser to open, and no text of another kind."""
    return _WEB.fullmatch(text) is not None


def _item(path: Path) -> Path:
    """The list item whose name holds a find; elsewhere such a name can't be dropped and nothing goes out."""
    if len(path) >= 2 and isinstance(path[1], int):
        return path[:2]
    raise Withheld("a name in the message holds personal data or reads as a token")


def _without(part: Any, dropped: set[Path]) -> Any:
    kept = dict(part)
    for name in {path[0] for path in dropped}:
        gone = {path[1] for path in dropped if path[0] == name}
        kept[name] = [item for i, item in enumerate(part[name]) if i not in gone]
    return kept
