"""The light list of names and the catalogue say the same."""

from cloakllm_gateway.detection.catalogue import CATALOGUE
from cloakllm_gateway.detection.categories import NAMES


def test_every_category_is_named_and_every_name_is_a_category() -> None:
    assert frozenset(CATALOGUE) == NAMES
