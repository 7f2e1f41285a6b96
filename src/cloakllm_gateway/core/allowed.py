"""The allow list applied to spans: its values are never hidden, whatever pass has found them.

Detection knows the list too, and finds no such value.  But a part of one may
be known as something else, in this session or from an earlier one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from cloakllm_gateway.detection.allow_list import AllowList
from cloakllm_gateway.spans import Encoding, Proof, Ranges, Span
from cloakllm_gateway.vault.known import Known, KnownValues


class Allowed:
    """The values of the allow list, to be looked for where they stand."""

    def __init__(self, values: Collection[str] = ()) -> None:
        self._list = AllowList(values)
        self._values = frozenset(values)
        self._addresses = frozenset(value.casefold() for value in values if _ignores_case(value))
        self._standing = KnownValues(2, set())
        for value in values:
            known = Known("", value, value, Encoding.PLAIN, Proof.TERM)
            self._standing.add(value, known, caseless=_ignores_case(value))

    def hidden(self, spans: Sequence[Span], text: str) -> list[Span]:
        """Those of the ``spans`` of ``text`` that are no allowed value, and no part of one that stands there."""
        if not self._list or not spans:
            return list(spans)
        standing = self._standing.find(text)
        shown = Ranges((s.start, s.end) for s in standing if self._holds(text[s.start : s.end]))
        return [
            span
            for span in spans
            if shown.around(span.start, span.end) is None and not self._list.holds(span.category, span.canonical)
        ]

    def _holds(self, text: str) -> bool:
        """Whether ``text`` is one of the values: of long ones a beginning is found too."""
        return text in self._values or text.casefold() in self._addresses


def _ignores_case(value: str) -> bool:
    """An address of mail is the same in any case."""
    return "@" in value


#: The empty list.
NOTHING = Allowed()
