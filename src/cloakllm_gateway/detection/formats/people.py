"""Who of those that a document lists is somebody: chats and mails have programs and places in the same lines."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cloakllm_gateway.detection.catalogue.people import evident_name, uncommon

#: A name in a list, and where it stands.
Named = tuple[str, tuple[int, int]]


def somebody(names: Sequence[Named]) -> list[tuple[int, int]]:
    """Where the names are that are somebody's: those that surely are, and beside such a one all of uncommon words."""
    alike = [each for each in names if _may_be(each[0])]
    return [place for _, place in alike] if any(_is_sure(name) for name, _ in alike) else []


def _may_be(name: str) -> bool:
    words = name.replace(",", " ").split()
    is_written_so = 0 < len(words) < 6 and not name.isupper() and all(w[0].isupper() or w.islower() for w in words)
    return is_written_so and bool(evident_name(name) or uncommon(name))


def _is_sure(name: str) -> bool:
    from cloakllm_gateway.detection.name_words import FIRST_NAMES, plain

    return bool(evident_name(name)) or any(plain(word) in FIRST_NAMES for word in re.findall(r"[^\W\d_]+", name))
