"""The allow list: values that are no finds, however they are written."""

from __future__ import annotations

from collections.abc import Collection


class AllowList:
    """Values that are never hidden, each in all of its spellings.

    What counts as a spelling says the category: those that would share the
    number of a token do, so that a value is either shown or hidden, and never
    both.  A category that is no part of the catalogue has none but the exact one.
    """

    def __init__(self, values: Collection[str] = ()) -> None:
        self._values = frozenset(values)
        self._canonical: dict[str, frozenset[str]] = {}

    def __bool__(self) -> bool:
        return bool(self._values)

    def holds(self, category: str, canonical: str, *written: str) -> bool:
        """Whether a value of this canonical form, ``written`` in one of these ways, is allowed."""
        return not self._values.isdisjoint(written) or canonical in self._of(category)

    def _of(self, category: str) -> frozenset[str]:
        """The canonical forms of those values that may be of ``category``."""
        known = self._canonical.get(category)
        if known is None:
            from cloakllm_gateway.detection.catalogue import CATALOGUE  # only once something was found
            from cloakllm_gateway.detection.kinds import has_shape

            kind = CATALOGUE.get(category)
            forms = (kind.canonical(value) for value in self._values if has_shape(kind, value)) if kind else ()
            known = self._canonical[category] = frozenset(forms)
        return known


#: The empty list.
NOTHING = AllowList()
