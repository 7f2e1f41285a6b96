"""What of a text is hidden: what detection found, what is known already, and what only looks like a token.

A *known* value has a token from before, a *look-alike* is text of the upstream
that restore would take for a token.  Both are looked for in every reading of a
text; detection says in which texts something is encoded, and the others have
one reading only.  What the configuration shows is left out of all three.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from cloakllm_gateway.core import adjacent
from cloakllm_gateway.core.adjacent import Joined
from cloakllm_gateway.core.documentation import is_documentation
from cloakllm_gateway.core.places import Places
from cloakllm_gateway.core.slots import Run, Slot, may_be_damaged
from cloakllm_gateway.core.source import Source
from cloakllm_gateway.detection.folding import views
from cloakllm_gateway.detection.view import View
from cloakllm_gateway.spans import Encoding, Proof, Ranges, Span, disjoint
from cloakllm_gateway.vault import tokens
from cloakllm_gateway.vault.tokens import LITERAL, TokenMatch

#: Look-alike tokens outrank every find: the whole look-alike becomes one LITERAL.
_LITERAL_RANK = 1000
#: How far from an edge of two blocks a token begins or ends that goes across, in characters.
_LONGEST_TOKEN = 80


class Finder:
    """Decides what is hidden in the texts of one message part; ``places`` is what is known of it so far.

    ``by_role`` is true in the first pass, where values of fields with a rule
    count, and false in the tripwire: what means something to the protocol may
    look like such a value.
    """

    def __init__(self, source: Source, places: Places) -> None:
        self._source = source
        self._places = places
        self.by_role = True

    def finds(self, slot: Slot, spans: Sequence[Span]) -> list[Span]:
        """What is hidden in the text of ``slot``, disjoint and sorted; ``spans`` is what detection found in it.

        Raises :class:`Withheld` for a value that nobody may be shown.
        """
        if not spans and not slot.is_encoded and self._is_plain(slot):
            return []  # most texts of most messages
        where, ruling = slot.where, self._places.ruling
        found = ruling.hidden(where, self._source.allowed.hidden(spans, slot.look.text))
        if where in self._places.described:
            found = [s for s in found if not is_documentation(s)]
        known, alike = self._known_and_alike(slot, _readings(slot.look.text, is_encoded=slot.is_encoded))
        known = ruling.hidden(where, known)
        if placed := self._places.placed.get(where):
            tokens_there = Ranges(placed)
            found, known, alike = (tokens_there.beside(spans) for spans in (found, known, alike))
        if not (found or known or alike or where in ruling.fields):
            return []
        certain = Ranges((s.start, s.end) for s in found)
        known = [k for k in known if certain.around(k.start, k.end) in (None, (k.start, k.end))]  # no part of a find
        ruling.refuse_blocked(where, [*found, *known])
        if self.by_role and (whole := ruling.whole_fields(where, slot.text, [*found, *known])):
            inside = Ranges((s.start, s.end) for s in whole)
            found, known, alike = (inside.beside(spans) for spans in (found, known, alike))
            found += whole
        secret = Ranges((s.start, s.end) for s in (*found, *known) if s.sensitive)
        alike = [a._replace(sensitive=secret.meet(a.start, a.end)) for a in alike]
        finds = disjoint([*found, *known, *alike], slot.look.text if slot.is_number else slot.text)
        if finds and slot.is_number:
            return [finds[0]._replace(start=0, end=len(slot.text))]
        return finds

    def across(
        self, run: Run, spans: Sequence[Span], own: Sequence[Sequence[Span]], *, is_encoded: bool
    ) -> Iterator[tuple[int, Span]]:
        """What only the joined texts of ``run`` show: the number of a text, and its part of a find.

        ``spans`` is what detection found in the joined text, ``own`` what it found in each text by itself.
        """
        joined = run.joined
        known = self._known_in(_readings(joined.text, is_encoded=is_encoded))
        hidden = self._source.allowed.hidden([*spans, *known], joined.text)
        return adjacent.parts(joined, [*hidden, *self._alike_across(joined)], own)

    def mentions(self, slot: Slot) -> bool:
        """Whether a known value stands in the text of ``slot``, in any way that the text can be read."""
        return bool(self._known_in(_readings(slot.look.text, is_encoded=slot.is_encoded)))

    def tokens_in(self, text: str) -> list[TokenMatch]:
        """What restore would accept in ``text``; ``rows[ITEM_3]`` is none of our business."""
        return [match for match in tokens.scan(text) if match.token.category in self._source.categories]

    def _is_plain(self, slot: Slot) -> bool:
        """Whether a text in which detection found nothing has nothing else to hide, and no other reading."""
        text = slot.look.text
        return not (tokens.may_hold(text) or slot.where in self._places.ruling.fields or self._hits(text))

    def _hits(self, text: str) -> list[Span]:
        """Known values in a text, those of its message's fields included."""
        source = self._source
        hits = source.vault.known(text, source.origin, source.group)
        if source.restored:
            hits = [*hits, *source.vault.echoes(source.restored, text)]
        if hits:
            hits = source.allowed.hidden(hits, text)
        if self.by_role:
            hits = [*hits, *self._places.ruling.find(text)]
        return hits

    def _known_in(self, readings: Iterable[View]) -> list[Span]:
        """Known values in every reading of a text."""
        known: list[Span] = []
        for view in readings:
            for hit in self._hits(view.text):
                start, end = view.original(hit.start, hit.end)
                known.append(hit._replace(start=start, end=end, encoding=view.encoding_of(hit.start, hit.end)))
        return known

    def _known_and_alike(self, slot: Slot, readings: Sequence[View]) -> tuple[list[Span], list[Span]]:
        """Known values and look-alike tokens, in every reading of the text."""
        alike: list[Span] = []
        for view in readings:
            for match in self.tokens_in(view.text) if tokens.may_hold(view.text) else ():
                start, end = view.original(match.start, match.end)
                encoding = view.encoding_of(match.start, match.end)
                alike.append(_literal(slot.text, start, end, view.text[match.start : match.end], encoding))
        if may_be_damaged(slot):
            # What restore would refuse as a damaged token has to come back as well.
            for miss in tokens.near_misses(slot.look.text, self._source.categories, whole=True):
                alike.append(_literal(slot.text, miss.start, miss.end, miss.written))
            if self._source.redacts:
                alike += [_literal(slot.text, m.start, m.end, m.written) for m in tokens.redactions(slot.look.text)]
        return self._known_in(readings), alike

    def _alike_across(self, joined: Joined) -> list[Span]:
        """Look-alike tokens, and damaged ones, that only blocks together make."""
        spans: dict[Span, None] = {}
        for edge in joined.ends[:-1] if not joined.gap else ():
            first = max(0, edge - _LONGEST_TOKEN)
            near = joined.text[first : edge + _LONGEST_TOKEN]
            found = [(match.start, match.end) for match in self.tokens_in(near)]
            found += [(m.start, m.end) for m in tokens.near_misses(near, self._source.categories, whole=False)]
            for start, end in found:
                if first + start < edge < first + end:
                    spans[_literal(joined.text, first + start, first + end, near[start:end])] = None
        return [*spans]


def _readings(text: str, *, is_encoded: bool) -> Sequence[View]:
    return views(text) if is_encoded else [View(text)]


def _literal(text: str, start: int, end: int, value: str, encoding: Encoding = Encoding.PLAIN) -> Span:
    return Span(start, end, LITERAL, value, text[start:end], encoding, Proof.LITERAL, _LITERAL_RANK)
