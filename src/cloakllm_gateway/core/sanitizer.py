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

The first pass goes by the surface table.  The tripwire behind it ignores roles
and walks every string of what is about to leave.  A string that the first pass
looked at verbatim and found clean has been checked by the same engine and is
not scanned twice, and a word of the protocol is never a value.  What stands
across the edges of adjacent text blocks is looked at in the first pass.  Known
values and look-alike tokens are looked for in every reading of a text: detection
says in which texts something is encoded, and the others have no reading but one.

What would surprise you: positions of placed tokens are remembered by path, and
later passes leave them alone by position, never because a text *looks* like a
token.  Anything that goes wrong is ``Withheld``.
"""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct, field

from cloakllm_gateway.core import adjacent, retold
from cloakllm_gateway.core.adjacent import Joined
from cloakllm_gateway.core.allowed import NOTHING, Allowed
from cloakllm_gateway.core.blobs import textual
from cloakllm_gateway.core.documentation import is_documentation
from cloakllm_gateway.core.handles import Handles
from cloakllm_gateway.core.rewriting import Cut, Range, Ranges, masked, rewritten, spelling, taken_back
from cloakllm_gateway.core.ruling import NO_ITEMS, Ruling, Where
from cloakllm_gateway.core.settings import Treatment
from cloakllm_gateway.core.slots import Done, Run, Slot, may_be_damaged, runs_of
from cloakllm_gateway.core.treatments import Treatments
from cloakllm_gateway.detection.folding import views
from cloakllm_gateway.detection.view import View
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
from cloakllm_gateway.spans import Encoding, Findings, Proof, Span, Text, disjoint, whole_number
from cloakllm_gateway.vault import placing, tokens
from cloakllm_gateway.vault.entries import Entry, Spelling, Token
from cloakllm_gateway.vault.tokens import LITERAL, TokenMatch
from cloakllm_gateway.vault.vault import Vault

#: What is no text that somebody reads.
_AS_THEY_ARE = (NAME, HANDLE, LINK)
#: Look-alike tokens outrank every find: the whole look-alike becomes one LITERAL.
LITERAL_RANK = 1000
#: How far from an edge of two blocks a token begins or ends that goes across, in characters.
_LONGEST_TOKEN = 80


class NeedScan(Struct, frozen=True):
    texts: Sequence[Text]


class NeedAssign(Struct, frozen=True):
    spellings: Sequence[Spelling]


class Clean(Struct, frozen=True):
    """The part may go out; ``tokens`` are those it shows, ``uris`` its resources as (real, shown)."""

    part: Any
    tokens: Sequence[Token]
    uris: Sequence[tuple[str, str]] = ()


Step: TypeAlias = NeedScan | NeedAssign | Clean


class Report(Struct):
    """What was done, in numbers: what the audit and the log may know."""

    found: dict[str, int] = field(default_factory=dict)
    tripwire: dict[str, int] = field(default_factory=dict)
    skipped: dict[str, int] = field(default_factory=dict)
    dropped: int = 0


class Source(Struct, frozen=True):
    """Where a message comes from, as far as its sanitizing is concerned.

    ``group`` are the upstreams it shares equality with.  ``categories`` are
    the names that make ``[NAME_1]`` a token that restore would accept: in data,
    such a text is a look-alike; with ``redacts`` the marks of values that were
    cut out are that as well.  ``treatments`` are the rules for its values,
    ``items`` those for items of its lists, ``allowed`` what is never hidden.
    ``uris`` maps a resource's real URI to the one the client knows it by;
    ``restored`` are the entries that the call being answered, or any in
    flight, had restored.  ``exact_links`` is whether the pages it sends a person to stay as they are.
    """

    origin: str
    group: str
    vault: Vault
    handles: Handles
    categories: frozenset[str]
    treatments: Treatments = Treatments()
    items: Mapping[Path, Treatments] = NO_ITEMS
    redacts: bool = False
    allowed: Allowed = NOTHING
    uris: Mapping[str, str] = field(default_factory=dict)
    restored: Sequence[Entry] = ()
    exact_links: bool = False


class Sanitizing:
    """The way of one message part to the model: call ``begin``, then answer each step.

    Raises :class:`Withheld` where the part can't be proved clean.
    """

    def __init__(self, part: Any, shape: Shape, source: Source) -> None:
        self.report = Report()
        self._part = part
        self._shape = shape
        self._source = source
        self._looking_by_role = True
        self._slots: list[Slot] = []
        self._asked: Sequence[Text] = ()
        self._questions: Sequence[int] = ()  # for each slot, the number of the text that was asked about
        self._runs: Sequence[Run] = ()  # what is asked about behind the slots
        self._cuts: list[Done] = []
        self._done: dict[Where, Done] = {}
        self._clean: dict[Where, Slot] = {}
        self._new: set[int] = set()  # the spellings that detection found, and which may stand elsewhere too
        self._retold = False  # whether the message was searched for them
        self._exempt: set[Path] = set()
        self._placed: dict[Where, list[Range]] = {}
        self._ruling = Ruling(source.treatments, source.items)
        self._charsets: dict[Path, str] = {}
        self._described: set[Where] = set()
        self._tokens: dict[Token, None] = {}
        self._uris: dict[Path, str] = {}

    def begin(self) -> Step:
        """The first pass: every leaf by its role."""
        self._slots, edits = [], {}
        for leaf in leaves(self._part, self._shape):
            where, role = (leaf.path, leaf.is_key), leaf.role
            known_as = None
            if role is URI and isinstance(leaf.value, str) and not leaf.is_key:
                self._uris[leaf.path] = leaf.value
                known_as = self._source.uris.get(leaf.value)
            if known_as is not None:
                edits[where] = known_as
                self._placed[where] = [(m.start, m.end) for m in tokens.scan(known_as)]
            elif role is PROTOCOL:
                _count(self.report.skipped, "protocol")
            elif slot := self._slot(leaf, where):
                self._slots.append(slot)
                self._ruling.meet(where, slot.text, slot.look.text)
        if edits:
            self._part = replace(self._part, edits)
        self._runs = runs_of(self._slots) if len(self._slots) > 1 else ()
        return self._look()

    def _slot(self, leaf: Leaf, where: Where) -> Slot | None:
        if leaf.role is ADVERTISED:
            self._described.add(where)
        if leaf.role in (BLOB, MEDIA) and isinstance(leaf.value, str) and not leaf.is_key:
            decoded = textual(leaf.value)
            if decoded is None:
                self._exempt.add(leaf.path)
                _count(self.report.skipped, "media" if leaf.role is MEDIA else "binary blob")
                return None
            text, charset = decoded
            if charset:
                self._charsets[leaf.path] = charset
            return Slot(where, leaf.role, text, Text(text), charset=charset)
        if isinstance(leaf.value, str):
            role = self._exempted(leaf) if leaf.role is LINK else leaf.role
            names = role not in (ADVERTISED, NAME, HANDLE, LINK)
            look = Text(leaf.value, leaf.key, leaf.record, names, leaf.parent, leaf.above)
            return Slot(where, role, leaf.value, look)
        look = Text(whole_number(leaf.text), leaf.key, leaf.record, False, leaf.parent, leaf.above)
        return Slot(where, leaf.role, leaf.text, look, is_number=True)

    def _exempted(self, leaf: Leaf) -> Role:
        """A page to go to is exact by a rule, but looked at for what nobody may be shown; all else is DATA."""
        if not (self._source.exact_links and _leads_to_a_page(leaf.text)):
            return DATA
        self._exempt.add(leaf.path)
        _count(self.report.skipped, "link")
        return LINK

    def _look(self) -> NeedScan:
        """Every different text once: a thousand equal fields are one question."""
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
        edits: dict[Where, Any] = {}
        dropped: set[Path] = set()
        self._cuts = []
        self._new.clear()
        nothing: dict[bool, set[str]] = {True: set(), False: set()}  # texts, by whether damage was looked for in them
        # Where no rule is for a place, equal texts are alike; to hash one that is alone, and may be large, is in vain.
        compares = len(self._slots) > 1 and not self._ruling.has_rules
        if self._ruling.fields and self._looking_by_role:
            answered = zip(self._slots, self._questions, strict=True)
            self._ruling.learn((slot.where, found.spans[number]) for slot, number in answered)
        across = self._across(found) if self._runs else {}
        for slot, number in zip(self._slots, self._questions, strict=True):
            parts = across.get(slot.text, ()) if across else ()
            spans = [*found.spans[number], *parts] if parts else found.spans[number]
            is_encoded = number in found.encoded
            is_usual = compares and not (spans or is_encoded)
            alike = nothing[may_be_damaged(slot)]
            if is_usual and slot.look.text in alike:
                self._clean[slot.where] = slot
                continue
            finds = self._finds(slot, spans, is_encoded=is_encoded)
            if not finds:
                self._clean[slot.where] = slot
                if is_usual and slot.where not in self._placed:
                    alike.add(slot.look.text)
            elif slot.role is LINK:
                continue
            elif slot.role is NAME:
                dropped.add(_item(slot.where[0]))
            elif slot.role is HANDLE and not slot.where[1]:
                edits[slot.where] = self._source.handles.issue(self._source.origin, at(self._part, slot.where[0]))
            else:
                counts = self.report.found if self._looking_by_role else self.report.tripwire
                for find in finds:
                    _count(counts, find.category)
                self._cuts.append(self._cut(slot, finds, spellings))
        if dropped:
            # Paths shift when items go, so the rest is looked at afresh.
            self.report.dropped += len(dropped)
            self._forget()
            self._part = _without(self._part, dropped)
            return self.begin()
        if edits:
            self._part = replace(self._part, edits)
        if spellings:
            return NeedAssign(list(spellings))
        return self.assigned(()) if self._cuts else self._next()

    def _across(self, found: Findings) -> dict[str, dict[Span, None]]:
        """What goes on in the next block, by text: a result may hold its texts once more, as structure."""
        own = {slot.where: found.spans[number] for slot, number in zip(self._slots, self._questions, strict=True)}
        across: dict[str, dict[Span, None]] = {}
        for number, run in enumerate(self._runs, start=len(self._asked) - len(self._runs)):
            text = run.joined.text
            known = self._known_in(views(text) if number in found.encoded else [View(text)])
            hidden = self._source.allowed.hidden([*found.spans[number], *known], text)
            hidden += self._alike_across(run.joined)
            for block, part in adjacent.parts(run.joined, hidden, [own[slot.where] for slot in run.slots]):
                across.setdefault(run.slots[block].text, {})[part] = None
        return across

    def _alike_across(self, joined: Joined) -> list[Span]:
        """Look-alike tokens, and damaged ones, that only blocks together make."""
        spans: dict[Span, None] = {}
        for edge in joined.ends[:-1] if not joined.gap else ():
            first = max(0, edge - _LONGEST_TOKEN)
            near = joined.text[first : edge + _LONGEST_TOKEN]
            found = [(match.start, match.end) for match in self._tokens_in(near)]
            found += [(m.start, m.end) for m in tokens.near_misses(near, self._source.categories, whole=False)]
            for start, end in found:
                if first + start < edge < first + end:
                    spans[_literal(joined.text, first + start, first + end, near[start:end])] = None
        return [*spans]

    def _cut(self, slot: Slot, finds: Sequence[Span], spellings: dict[Spelling, int]) -> Done:
        """How ``finds`` come out of a slot.

        What the tripwire finds is cut together with what was cut before, from the text as it was: a second cut
        can take the bracket or the quote that a first one relied on.
        """
        if before := self._done.get(slot.where):
            finds = taken_back(before.cut, self._placed.pop(slot.where), finds)
            slot = before.slot
        standing = placing.standing(slot.text, finds)
        inserts: list[int | str] = []
        for span, _ in standing:
            rule = self._ruling.rule(slot.where, span)
            if rule is not None and rule.how is Treatment.REDACT:
                inserts.append(tokens.redacted(span.category))
            else:
                number = spellings.setdefault(spelling(slot.text, span, is_number=slot.is_number), len(spellings))
                inserts.append(number)
                if span.rank:  # what was known already has none, and was looked for everywhere
                    self._new.add(number)
        return Done(slot, Cut(slot.text, standing, inserts))

    def _forget(self) -> None:
        self._clean.clear()
        self._retold = False
        self._exempt.clear()
        self._placed.clear()
        self._done.clear()
        self._ruling = Ruling(self._source.treatments, self._source.items)
        self._charsets.clear()
        self._described.clear()
        self._uris.clear()
        self.report.found.clear()

    def assigned(self, entries: Sequence[Entry]) -> Step:
        """The answer to ``NeedAssign``: one entry for each spelling, in order."""
        edits: dict[Where, Any] = {}
        for done in self._cuts:
            slot = done.slot
            before = self._placed.get(slot.where, [])
            text, placed = rewritten(done.cut, entries, before)
            if not before:
                self._done[slot.where] = done
            self._placed[slot.where] = placed
            edits[slot.where] = base64.b64encode(text.encode(slot.charset)).decode("ascii") if slot.charset else text
        self._tokens.update(dict.fromkeys(entry.token for entry in entries))
        try:
            self._part = replace(self._part, edits)
        except KeyCollision:
            raise Withheld("two keys of one object would have become equal") from None
        self._follow({path: new for (path, is_key), new in edits.items() if is_key})
        if self._looking_by_role and self._new and not self._retold:
            self._retold = True
            if told := self._told_elsewhere([entries[number] for number in self._new]):
                self._slots, self._runs = told, ()
                return self._look()
        return self._next()

    def _told_elsewhere(self, entries: Sequence[Entry]) -> list[Slot]:
        """The texts without any find that hold what others of this message made known; no model sees a name there."""
        clean = [slot for slot in self._clean.values() if slot.role not in _AS_THEY_ARE]
        source = self._source

        def known(text: str) -> Sequence[Span]:
            return source.vault.known(text, source.origin, source.group)

        told = retold.places(entries, [slot.look.text for slot in clean], known)
        return [slot._replace(look=slot.look._replace(names=False)) for slot in map(clean.__getitem__, told)]

    def _follow(self, renamed: Mapping[Path, str]) -> None:
        """Keys have new names: what is remembered by path moves with them."""
        if not renamed:
            return

        def moved(path: Path) -> Path:
            return tuple(renamed.get(path[: depth + 1], step) for depth, step in enumerate(path))

        self._clean = {
            (moved(path), is_key): slot._replace(where=(moved(path), is_key))
            for (path, is_key), slot in self._clean.items()
        }
        self._described = {(moved(path), is_key) for path, is_key in self._described}
        self._placed = {(moved(path), is_key): placed for (path, is_key), placed in self._placed.items()}
        self._done = {
            (moved(path), is_key): Done(done.slot._replace(where=(moved(path), is_key)), done.cut)
            for (path, is_key), done in self._done.items()
        }
        self._ruling.move(moved)
        self._exempt = {moved(path) for path in self._exempt}
        self._charsets = {moved(path): charset for path, charset in self._charsets.items()}
        self._uris = {moved(path): uri for path, uri in self._uris.items()}

    def _next(self) -> Step:
        if self._looking_by_role:
            self._looking_by_role = False
            return self._tripwire()
        if self._placed:
            self._check_grammar()
        uris = [(real, at(self._part, path)) for path, real in self._uris.items()] if self._uris else ()
        return Clean(self._part, tuple(self._tokens), uris)

    # -- what counts as a find ---------------------------------------------------------------------

    def _finds(self, slot: Slot, spans: Sequence[Span], *, is_encoded: bool) -> list[Span]:
        """The disjoint spans to hide: what detection found, known values, look-alike tokens."""
        if not spans and not is_encoded and self._is_plain(slot):
            return []  # most texts of most messages
        found = self._ruling.hidden(slot.where, self._source.allowed.hidden(spans, slot.look.text))
        if slot.where in self._described:
            found = [s for s in found if not is_documentation(s)]
        known, alike = self._second_look(slot, views(slot.look.text) if is_encoded else [View(slot.look.text)])
        known = self._ruling.hidden(slot.where, known)
        if placed := self._placed.get(slot.where):
            tokens_there = Ranges(placed)
            found, known, alike = (tokens_there.beside(spans) for spans in (found, known, alike))
        if not (found or known or alike or slot.where in self._ruling.fields):
            return []
        certain = Ranges((s.start, s.end) for s in found)
        known = [k for k in known if not certain.hold(k)]
        self._ruling.refuse_blocked(slot.where, [*found, *known])
        if self._looking_by_role and (whole := self._ruling.whole_fields(slot.where, slot.text, [*found, *known])):
            inside = Ranges((s.start, s.end) for s in whole)
            found, known, alike = (inside.beside(spans) for spans in (found, known, alike))
            found += whole
        secret = Ranges((s.start, s.end) for s in (*found, *known) if s.sensitive)
        alike = [a._replace(sensitive=secret.touch(a)) for a in alike]
        finds = disjoint([*found, *known, *alike], slot.look.text if slot.is_number else slot.text)
        if finds and slot.is_number:
            return [finds[0]._replace(start=0, end=len(slot.text))]
        return finds

    def _is_plain(self, slot: Slot) -> bool:
        """Whether a text in which detection found nothing has nothing else to hide, and no other reading."""
        text = slot.look.text
        return not (tokens.may_hold(text) or slot.where in self._ruling.fields or self._hits(text))

    def _hits(self, text: str) -> list[Span]:
        """Known values in a text, those of its message's fields included."""
        source = self._source
        hits = source.vault.known(text, source.origin, source.group)
        if source.restored:
            hits = [*hits, *source.vault.echoes(source.restored, text)]
        if hits:
            hits = source.allowed.hidden(hits, text)
        if self._looking_by_role:  # what means something to the protocol may look like a value
            hits = [*hits, *self._ruling.find(text)]
        return hits

    def _known_in(self, readings: Iterable[View]) -> list[Span]:
        """Known values in every reading of a text."""
        known: list[Span] = []
        for view in readings:
            for hit in self._hits(view.text):
                start, end = view.original(hit.start, hit.end)
                known.append(hit._replace(start=start, end=end, encoding=view.encoding_of(hit.start, hit.end)))
        return known

    def _second_look(self, slot: Slot, readings: Sequence[View]) -> tuple[list[Span], list[Span]]:
        """Known values and look-alike tokens, in every reading of the text."""
        source = self._source
        alike: list[Span] = []
        for view in readings:
            for match in self._tokens_in(view.text) if tokens.may_hold(view.text) else ():
                start, end = view.original(match.start, match.end)
                encoding = view.encoding_of(match.start, match.end)
                alike.append(_literal(slot.text, start, end, view.text[match.start : match.end], encoding))
        if may_be_damaged(slot):
            # What restore would refuse as a damaged token has to come back as well.
            for miss in tokens.near_misses(slot.look.text, source.categories, whole=True):
                alike.append(_literal(slot.text, miss.start, miss.end, miss.written))
            if source.redacts:
                alike += [_literal(slot.text, m.start, m.end, m.written) for m in tokens.redactions(slot.look.text)]
        return self._known_in(readings), alike

    def _tokens_in(self, text: str) -> list[TokenMatch]:
        """What restore would accept in ``text``; ``rows[ITEM_3]`` is none of our business."""
        return [match for match in tokens.scan(text) if match.token.category in self._source.categories]

    # -- the tripwire: every string, whatever its role ---------------------------------------------

    def _tripwire(self) -> Step:
        self._slots, self._runs = [], ()
        for path, is_key, value in strings(self._part):
            where = (path, is_key)
            if where in self._clean or (path in self._exempt and not is_key) or value in WORDS:
                continue
            text, charset = self._text_of(where, value)
            look = Text(masked(text, self._placed.get(where, ())), names=False)
            self._slots.append(Slot(where, DATA, text, look, not isinstance(value, str), charset))
        return self._look() if self._slots else self._next()

    def _text_of(self, where: Where, value: Any) -> tuple[str, str]:
        """The text at a place as it will leave, and the charset of a textual blob (empty for anything else)."""
        path, is_key = where
        charset = "" if is_key else self._charsets.get(path, "")
        return (base64.b64decode(str(value)).decode(charset) if charset else str(value)), charset

    def _check_grammar(self) -> None:
        """The last word: restore would accept nothing in this part but the tokens placed in it."""
        for (path, is_key), placed in self._placed.items():
            value = path[-1] if is_key else at(self._part, path)
            text, _ = self._text_of((path, is_key), value)
            allowed = set(placed)
            for view in views(text):
                for match in self._tokens_in(view.text):
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


def _literal(text: str, start: int, end: int, value: str, encoding: Encoding = Encoding.PLAIN) -> Span:
    return Span(start, end, LITERAL, value, text[start:end], encoding, Proof.LITERAL, LITERAL_RANK)


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
