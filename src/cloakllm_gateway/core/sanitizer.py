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
not scanned twice, and a word of the protocol is never a value.  What would surprise you: positions of placed tokens are
remembered by path, and later passes leave them alone by position, never
because a text *looks* like a token.  Anything that goes wrong is ``Withheld``.
"""

from __future__ import annotations

import base64
import binascii
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple, TypeAlias

from msgspec import Struct, field

from cloakllm_gateway.core.documentation import is_documentation
from cloakllm_gateway.core.handles import Handles
from cloakllm_gateway.detection.folding import views
from cloakllm_gateway.errors import Withheld
from cloakllm_gateway.protocol.surface import (
    ADVERTISED,
    BLOB,
    DATA,
    HANDLE,
    MEDIA,
    NAME,
    PROTOCOL,
    URI,
    WORDS,
    Role,
    Shape,
)
from cloakllm_gateway.protocol.walk import KeyCollision, Leaf, Path, at, leaves, replace, strings
from cloakllm_gateway.spans import Encoding, Kind, Proof, Span, Text, disjoint
from cloakllm_gateway.vault import placing, tokens
from cloakllm_gateway.vault.entries import Entry, Spelling, Token
from cloakllm_gateway.vault.placing import Standing
from cloakllm_gateway.vault.tokens import LITERAL, TokenMatch
from cloakllm_gateway.vault.vault import Vault

#: Look-alike tokens outrank every find: the whole look-alike becomes one LITERAL.
LITERAL_RANK = 1000

#: Stands for a placed token while the tripwire looks at the text around it: one private-use
#: code point for each character of the token, so that offsets stay and no pattern matches it.
_MASK = "\ue000"


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

    found: Counter[str] = field(default_factory=Counter)
    tripwire: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    dropped: int = 0


class Source(Struct, frozen=True):
    """Where a message comes from, as far as its sanitizing is concerned.

    ``group`` are the upstreams it shares equality with.  ``categories`` are
    the names that make ``[NAME_1]`` a token that restore would accept: in data,
    such a text is a look-alike.  ``uris`` maps a resource's real URI to the one
    the client knows it by; ``restored`` are the entries that the call being
    answered, or any in flight, had restored.
    """

    origin: str
    group: str
    vault: Vault
    handles: Handles
    categories: frozenset[str]
    passing: frozenset[str] = frozenset()
    uris: Mapping[str, str] = field(default_factory=dict)
    restored: Sequence[Entry] = ()


Where: TypeAlias = tuple[Path, bool]


class _Slot(NamedTuple):
    """A place in the message and the text that stands there (decoded, for a textual blob).

    ``look`` is what detection gets to see: the same text, of the same length,
    with the tokens that are already placed in it masked.
    """

    where: Where
    role: Role
    text: str
    look: Text
    is_number: bool = False
    charset: str = ""  # of a textual blob; empty for anything else


class _Cut(NamedTuple):
    """The spans to take out of one slot as they stand there, with the number of the spelling that each will be."""

    slot: _Slot
    standing: Sequence[Standing]
    numbers: Sequence[int]


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
        self._slots: list[_Slot] = []
        self._asked: dict[Text, int] = {}
        self._cuts: list[_Cut] = []
        self._clean: set[Where] = set()
        self._exempt: set[Path] = set()
        self._placed: dict[Where, list[tuple[int, int]]] = {}
        self._charsets: dict[Path, str] = {}
        self._described: set[Where] = set()
        self._tokens: dict[Token, None] = {}
        self._uris: dict[Path, str] = {}

    def begin(self) -> Step:
        """The first pass: every leaf by its role."""
        self._slots, edits = [], {}
        for leaf in leaves(self._part, self._shape):
            where = (leaf.path, leaf.is_key)
            if leaf.role is URI and not leaf.is_key and isinstance(leaf.value, str):
                self._uris[leaf.path] = leaf.value
            known_as = self._source.uris.get(leaf.text) if leaf.role is URI else None
            if known_as is not None:
                edits[where] = known_as
                self._placed[where] = [(m.start, m.end) for m in tokens.scan(known_as)]
            elif leaf.role is PROTOCOL:
                self.report.skipped["protocol"] += 1
            elif slot := self._slot(leaf, where):
                self._slots.append(slot)
        self._part = replace(self._part, edits)
        return self._look()

    def _slot(self, leaf: Leaf, where: Where) -> _Slot | None:
        if leaf.role is ADVERTISED:
            self._described.add(where)
        if leaf.role in (BLOB, MEDIA) and isinstance(leaf.value, str) and not leaf.is_key:
            decoded = textual(leaf.value)
            if decoded is None:
                self._exempt.add(leaf.path)
                self.report.skipped["media" if leaf.role is MEDIA else "binary blob"] += 1
                return None
            text, charset = decoded
            if charset:
                self._charsets[leaf.path] = charset
            return _Slot(where, leaf.role, text, Text(text), charset=charset)
        names = leaf.role not in (ADVERTISED, NAME, HANDLE) and not leaf.is_number
        look = Text(whole_number(leaf.text) if leaf.is_number else leaf.text, leaf.key, leaf.record, names)
        return _Slot(where, leaf.role, leaf.text, look, leaf.is_number)

    def _look(self) -> NeedScan:
        """Every different text once: a thousand equal fields are one question."""
        self._asked = {look: number for number, look in enumerate(dict.fromkeys(slot.look for slot in self._slots))}
        return NeedScan(list(self._asked))

    def scanned(self, found: Sequence[Sequence[Span]]) -> Step:
        """The answer to ``NeedScan``: one list of spans for each text."""
        if len(found) != len(self._asked):
            raise Withheld("detection answered for another number of texts than it was asked about")
        spellings: dict[Spelling, int] = {}
        edits: dict[Where, Any] = {}
        dropped: set[Path] = set()
        self._cuts = []
        nothing: set[Text] = set()
        for slot in self._slots:
            if slot.look in nothing:
                self._clean.add(slot.where)
                continue
            finds = self._finds(slot, found[self._asked[slot.look]])
            if not finds:
                self._clean.add(slot.where)
                if slot.where not in self._described and slot.where not in self._placed:
                    nothing.add(slot.look)
            elif slot.role is NAME:
                dropped.add(_item(slot.where[0]))
            elif slot.role is HANDLE and not slot.where[1]:
                edits[slot.where] = self._source.handles.issue(self._source.origin, at(self._part, slot.where[0]))
            else:
                standing = placing.standing(slot.text, finds)
                numbers = [spellings.setdefault(_spelling(slot, s.span), len(spellings)) for s in standing]
                self._cuts.append(_Cut(slot, standing, numbers))
                self._count(finds)
        if dropped:
            # Paths shift when items go, so the rest is looked at afresh.
            self.report.dropped += len(dropped)
            self._forget()
            self._part = _without(self._part, dropped)
            return self.begin()
        self._part = replace(self._part, edits)
        return NeedAssign(list(spellings)) if spellings else self._next()

    def _forget(self) -> None:
        self._clean.clear()
        self._exempt.clear()
        self._placed.clear()
        self._charsets.clear()
        self._described.clear()
        self._uris.clear()
        self.report.found.clear()

    def assigned(self, entries: Sequence[Entry]) -> Step:
        """The answer to ``NeedAssign``: one entry for each spelling, in order."""
        edits: dict[Where, Any] = {}
        for cut in self._cuts:
            slot = cut.slot
            text, placed = _rewritten(cut, entries, self._placed.get(slot.where, []))
            self._placed[slot.where] = placed
            edits[slot.where] = base64.b64encode(text.encode(slot.charset)).decode("ascii") if slot.charset else text
        self._tokens.update(dict.fromkeys(entry.token for entry in entries))
        try:
            self._part = replace(self._part, edits)
        except KeyCollision:
            raise Withheld("two keys of one object would have become equal") from None
        self._follow({path: new for (path, is_key), new in edits.items() if is_key})
        return self._next()

    def _follow(self, renamed: Mapping[Path, str]) -> None:
        """Keys have new names: what is remembered by path moves with them."""
        if not renamed:
            return

        def moved(path: Path) -> Path:
            return tuple(renamed.get(path[: depth + 1], step) for depth, step in enumerate(path))

        self._clean = {(moved(path), is_key) for path, is_key in self._clean}
        self._described = {(moved(path), is_key) for path, is_key in self._described}
        self._placed = {(moved(path), is_key): placed for (path, is_key), placed in self._placed.items()}
        self._exempt = {moved(path) for path in self._exempt}
        self._charsets = {moved(path): charset for path, charset in self._charsets.items()}
        self._uris = {moved(path): uri for path, uri in self._uris.items()}

    def _next(self) -> Step:
        if self._looking_by_role:
            self._looking_by_role = False
            return self._tripwire()
        self._check_grammar()
        uris = [(real, at(self._part, path)) for path, real in self._uris.items()]
        return Clean(self._part, tuple(self._tokens), uris)

    def _count(self, finds: Iterable[Span]) -> None:
        counter = self.report.found if self._looking_by_role else self.report.tripwire
        counter.update(span.category for span in finds)

    # -- what counts as a find ---------------------------------------------------------------------

    def _finds(self, slot: _Slot, spans: Sequence[Span]) -> list[Span]:
        """The disjoint spans to hide: what detection found, known values, look-alike tokens."""
        found = [s for s in spans if s.category not in self._source.passing]
        if slot.where in self._described:
            found = [s for s in found if not is_documentation(s)]
        known, alike = self._second_look(slot)
        if placed := self._placed.get(slot.where):
            tokens_there = _Ranges(placed)
            found, known, alike = (tokens_there.beside(spans) for spans in (found, known, alike))
        certain = _Ranges((s.start, s.end) for s in found)
        known = [k for k in known if not certain.hold(k)]
        secret = _Ranges((s.start, s.end) for s in (*found, *known) if s.sensitive)
        alike = [a._replace(sensitive=secret.touch(a)) for a in alike]
        finds = disjoint([*found, *known, *alike], slot.look.text if slot.is_number else slot.text)
        if finds and slot.is_number:
            return [finds[0]._replace(start=0, end=len(slot.text))]
        return finds

    def _second_look(self, slot: _Slot) -> tuple[list[Span], list[Span]]:
        """Known values and look-alike tokens, in every reading of the text."""
        source = self._source
        known: list[Span] = []
        alike: list[Span] = []
        for view in views(slot.look.text):
            hits = source.vault.known(view.text, source.origin, source.group)
            if source.restored:
                hits = [*hits, *source.vault.echoes(source.restored, view.text)]
            for hit in hits:
                if hit.category not in source.passing:
                    start, end = view.original(hit.start, hit.end)
                    known.append(hit._replace(start=start, end=end, encoding=view.encoding_of(hit.start, hit.end)))
            for match in self._tokens_in(view.text):
                start, end = view.original(match.start, match.end)
                encoding = view.encoding_of(match.start, match.end)
                alike.append(_literal(slot.text, start, end, view.text[match.start : match.end], encoding))
        if not slot.where[1]:
            # What restore would refuse as a damaged token has to come back as well.
            for miss in tokens.near_misses(slot.look.text, source.categories, whole=True):
                alike.append(_literal(slot.text, miss.start, miss.end, miss.written))
        return known, alike

    def _tokens_in(self, text: str) -> list[TokenMatch]:
        """What restore would accept in ``text``; ``rows[ITEM_3]`` is none of our business."""
        return [match for match in tokens.scan(text) if match.token.category in self._source.categories]

    # -- the tripwire: every string, whatever its role ---------------------------------------------

    def _tripwire(self) -> Step:
        self._slots = []
        for path, is_key, value, _ in strings(self._part):
            where = (path, is_key)
            if where in self._clean or (path in self._exempt and not is_key) or value in WORDS:
                continue
            text, charset = self._text_of(where, value)
            look = Text(_masked(text, self._placed.get(where, ())), names=False)
            self._slots.append(_Slot(where, DATA, text, look, not isinstance(value, str), charset))
        return self._look()

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


Find: TypeAlias = Callable[[Sequence[Text]], Awaitable[Sequence[Sequence[Span]]]]
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


def whole_number(lexeme: str) -> str:
    """A number as its digits, where it is a whole one: spreadsheets write 536228726.0 and 4.155550134e9."""
    if not set(lexeme) & set(".eE"):
        return lexeme
    from decimal import Decimal, InvalidOperation  # few messages hold such a number

    try:
        value = Decimal(lexeme)
    except InvalidOperation:
        return lexeme
    return str(int(value)) if abs(value.adjusted()) < _MOST_DIGITS and value == value.to_integral_value() else lexeme


#: No value that is written as a number has more.
_MOST_DIGITS = 24


def textual(blob: str) -> tuple[str, str] | None:
    """The text that base64 ``blob`` holds and its charset, or None if it holds binary data.

    What is no base64 at all is text as it stands, with an empty charset.  By
    content and not by the declared type: the type is the upstream's word.
    Wrapped lines, the URL alphabet and missing padding are base64 all the same.
    """
    packed = blob.strip().replace("\r", "").replace("\n", "").translate(_URL_ALPHABET).rstrip("=")
    try:
        data = base64.b64decode(packed + "=" * (-len(packed) % 4), validate=True)
    except (binascii.Error, ValueError):
        return blob, ""
    if data.startswith(_SIGNATURES) and len(data.translate(None, _CONTROL)) < len(data):
        return None
    for charset in _charsets(data):
        try:
            text = data.decode(charset)
        except UnicodeDecodeError:
            continue
        if text.encode(charset) == data and _reads(text, charset):
            return text, charset
    return None


def _reads(text: str, charset: str) -> bool:
    """Whether UTF-16, which decodes nearly anything, gave something that reads as text."""
    if not charset.startswith("utf-16"):
        return True
    sample = text[:_SAMPLE]
    return sum(c.isprintable() or c in "\t\r\n\ufeff" for c in sample) * 20 >= 19 * len(sample)


#: How files begin that hold pictures, sound, archives, documents or programs, and no text to be read as such.
_SIGNATURES = (
    b"\x89PNG\r\n", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"BM", b"II*\0", b"MM\0*", b"\0\0\1\0", b"OggS", b"fLaC", b"ID3",
    b"\xff\xfb", b"\0\0\0\x18ftyp", b"\0\0\0\x1cftyp", b"\0\0\0 ftyp", b"\x1aE\xdf\xa3", b"PK\3\4", b"\x1f\x8b", b"BZh",
    b"\xfd7zXZ", b"7z\xbc\xaf", b"%PDF-", b"\x7fELF", b"MZ", b"\0asm", b"SQLite format 3\0", b"wOFF", b"wOF2",
)  # fmt: skip


_URL_ALPHABET = str.maketrans("-_", "+/")
#: Bytes that text in a single-byte charset does not hold, or hardly ever.
_CONTROL = bytes(c for c in range(32) if c not in b"\t\n\r\f\x1b")
_SAMPLE = 4096


def _charsets(data: bytes) -> Iterator[str]:
    """The charsets that ``data`` may be text in, the most likely first.

    UTF-16 is told by its mark or by the zeros of ASCII text in it.  Text in any
    other charset has its ASCII parts where Latin-1 has them, which is enough to
    find values and exact both ways; what is full of control bytes is no text.
    """
    sample = data[:_SAMPLE]
    if data.startswith(b"\xff\xfe") or sample[1::2].count(0) * 3 > len(sample):
        yield "utf-16-le"
    if data.startswith(b"\xfe\xff") or sample[0::2].count(0) * 3 > len(sample):
        yield "utf-16-be"
    yield "utf-8"
    controls = len(sample) - len(sample.translate(None, _CONTROL))
    if controls * 50 <= len(sample):
        yield "latin-1"


def _literal(text: str, start: int, end: int, value: str, encoding: Encoding = Encoding.PLAIN) -> Span:
    return Span(start, end, LITERAL, value, text[start:end], encoding, Proof.LITERAL, LITERAL_RANK)


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


def _spelling(slot: _Slot, span: Span) -> Spelling:
    """A span as the vault keeps it: its raw text, what it means, how it is written there."""
    raw = slot.text[span.start : span.end]
    is_number = slot.is_number or span.encoding is Encoding.JSON_NUMBER
    return Spelling(
        category=span.category,
        raw=raw,
        value=span.value or raw,
        canonical=span.canonical or raw,
        encoding=span.encoding,
        kind=Kind.NUMBER if is_number else Kind.STRING,
        proof=span.proof,
        sensitive=span.sensitive,
    )


def _rewritten(
    cut: _Cut, entries: Sequence[Entry], placed: Sequence[tuple[int, int]]
) -> tuple[str, list[tuple[int, int]]]:
    """The slot's text with its spans replaced, and where tokens stand in it now."""
    out: list[str] = []
    now: list[tuple[int, int]] = []
    length = done = 0
    old = iter([*placed, (len(cut.slot.text) + 1, 0)])
    next_old = next(old)
    for (span, quote), number in zip(cut.standing, cut.numbers, strict=True):
        while next_old[0] < span.start:
            shift = length - done
            now.append((next_old[0] + shift, next_old[1] + shift))
            next_old = next(old)
        token = str(entries[number].token)
        before = cut.slot.text[done : span.start]
        length += len(before) + len(quote)
        now.append((length, length + len(token)))
        length += len(token) + len(quote)
        out += (before, quote, token, quote)
        done = span.end
    for start, end in [next_old, *old][:-1]:
        now.append((start + length - done, end + length - done))
    out.append(cut.slot.text[done:])
    return "".join(out), now


def _masked(text: str, placed: Sequence[tuple[int, int]]) -> str:
    pieces: list[str] = []
    done = 0
    for start, end in placed:
        pieces += (text[done:start], _MASK * (end - start))
        done = end
    return "".join((*pieces, text[done:]))


class _Ranges:
    """Ranges of one text that may overlap, to be asked about many spans: each question is a look-up."""

    def __init__(self, ranges: Iterable[tuple[int, int]]) -> None:
        self._ranges = sorted(ranges)
        self._starts = [start for start, _ in self._ranges]
        #: The furthest end among a range and all before it.
        self._reach = list(accumulate((end for _, end in self._ranges), max))

    def touch(self, span: Span) -> bool:
        """Whether any range shares a character with ``span``."""
        before = bisect_left(self._starts, span.end)
        return before > 0 and self._reach[before - 1] > span.start

    def hold(self, span: Span) -> bool:
        """Whether ``span`` is a proper part of a range (of disjoint ones)."""
        at = bisect_right(self._starts, span.start) - 1
        if at < 0:
            return False
        start, end = self._ranges[at]
        return span.end <= end and (start, end) != (span.start, span.end)

    def beside(self, spans: Iterable[Span]) -> list[Span]:
        """The spans that touch no range."""
        return [span for span in spans if not self.touch(span)]
