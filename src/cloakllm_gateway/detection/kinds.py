"""What a key of a category proves: which values have the shape of one and are plausible."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from cloakllm_gateway.detection.catalogue import Category
from cloakllm_gateway.detection.merging import Claim
from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.spans import Proof


class Kind:
    """What a key of a category proves: a value of its shape that is plausible."""

    def __init__(self, category: Category) -> None:
        self.claim = Claim(category, category.keyed_rank, Proof.KEY)
        self._shape = lazy(category.shape, re.DOTALL)
        self._plausible = category.plausible

    def fits(self, value: str) -> bool:
        plausible = self._plausible
        return value != "" and self._shape.fullmatch(value) is not None and (plausible is None or plausible(value))

    def fitting(self, values: Iterable[str]) -> Iterable[str]:
        """Those that fit, none of them empty; for many this is quicker."""
        shaped = filter(self._shape.fullmatch, values)
        return shaped if self._plausible is None else filter(self._plausible, shaped)


def has_shape(category: Category, value: str) -> bool:
    """Whether a value looks like a normal one of its category; one that does not is unsafe to place."""
    return _shape(category.shape).fullmatch(value) is not None


@lru_cache(maxsize=256)
def _shape(shape: str) -> re.Pattern[str]:
    return re.compile(shape, re.DOTALL)
