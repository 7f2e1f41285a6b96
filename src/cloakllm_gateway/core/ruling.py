"""The rules of the configuration applied to the finds of one message: by field, by equal value, by category."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from cloakllm_gateway.core.fields import TERM, Elsewhere, Field, field_around, refuse_blocked, ruled_fields
from cloakllm_gateway.core.settings import Treatment
from cloakllm_gateway.core.treatments import Rule, Treatments
from cloakllm_gateway.protocol.walk import Path
from cloakllm_gateway.spans import Proof, Ranges, Span

#: A place in a message: a path, and whether it leads to a key.
Where = tuple[Path, bool]

#: No list of a message has items with rules of their own.
NO_ITEMS: Mapping[Path, Treatments] = MappingProxyType({})
#: How many steps lead to an item of a list in a message.
_ITEM = 2


class Ruling:
    """The rules for one message, and the ``fields`` in it that have one, by the place of their text.

    ``items`` are the rules of items of its lists, by their paths; ``has_rules`` says whether there are any.
    """

    def __init__(self, treatments: Treatments, items: Mapping[Path, Treatments] = NO_ITEMS) -> None:
        self._treatments = treatments
        self._items = items
        self.has_rules = any(rules.categories or rules.fields for rules in (treatments, *items.values()))
        self.fields: dict[Where, list[Field]] = {}
        self._elsewhere: Elsewhere | None = None  # where there are fields

    def meet(self, where: Where, text: str, look: str) -> None:
        """Note the fields in a text of the message that have a rule; ``look`` is what detection sees of the text."""
        path, is_key = where
        if not is_key and (found := ruled_fields(path, text, look, self._of(path).fields)):
            self.fields[where] = found

    def learn(self, found: Iterable[tuple[Where, Sequence[Span]]]) -> None:
        """What a rule says of a field holds for the same value in the rest of the message.

        Raises :class:`Withheld` for a value that nobody may be shown.
        """
        self._elsewhere = self._elsewhere or Elsewhere()
        for where, spans in found:
            found_here = Ranges((s.start, s.end) for s in spans)
            for start, end, value, rule in self.fields.get(where, ()):
                refuse_blocked(rule if value else None)
                if rule.how is not Treatment.TOKENIZE or not found_here.meet(start, end):
                    self._elsewhere.add(value, rule)

    def find(self, text: str) -> list[Span]:
        """The values of fields that are to be hidden, in any text of the message."""
        return self._elsewhere.find(text) if self._elsewhere else []

    def rule(self, where: Where, span: Span) -> Rule | None:
        """The rule for a find: that of the field it stands in, of an equal value in a field, of its category."""
        if not self.has_rules:
            return None
        if field := field_around(self.fields.get(where, ()), span):
            return field.rule
        rule = self._elsewhere.rule(span) if self._elsewhere else None
        return rule or self._of(where[0]).categories.get(span.category)

    def _of(self, path: Path) -> Treatments:
        return self._items.get(path[:_ITEM], self._treatments) if self._items else self._treatments

    def hidden(self, where: Where, spans: Sequence[Span]) -> list[Span]:
        """``spans`` without those that the model may be shown."""
        if not self.has_rules:
            return list(spans)
        return [s for s in spans if (rule := self.rule(where, s)) is None or rule.how is not Treatment.PASS]

    def refuse_blocked(self, where: Where, spans: Sequence[Span]) -> None:
        """Raises :class:`Withheld` for a find that nobody may be shown."""
        if self.has_rules:
            for span in spans:
                refuse_blocked(self.rule(where, span))

    def whole_fields(self, where: Where, text: str, finds: Sequence[Span]) -> list[Span]:
        """The fields of a text that are hidden whole: cut out, or to be hidden though nothing was found in them."""
        fields = self.fields.get(where)
        if fields is None:
            return []
        whole = []
        taken = Ranges((s.start, s.end) for s in finds)
        exactly = {(s.start, s.end): s for s in reversed(finds)}  # what detection says, before what the rule made known
        for start, end, _, rule in fields:
            if start == end or rule.how is Treatment.PASS:
                continue
            if rule.how is Treatment.TOKENIZE and taken.meet(start, end):
                continue
            raw = text[start:end]
            whole.append(exactly.get((start, end)) or Span(start, end, TERM, raw, raw, proof=Proof.KEY))
        return whole

    def move(self, moved: Callable[[Path], Path]) -> None:
        """Keys of the message have new names."""
        self.fields = {(moved(path), is_key): fields for (path, is_key), fields in self.fields.items()}
