"""What is remembered of the places of a message part while it is sanitized.

A place is a path and whether it leads to a key.  Two things change paths: a
key that is rewritten renames all paths through it (:meth:`Places.follow`), and
an item that is dropped from a list shifts those behind it, after which nothing
that is remembered holds and the part is looked at afresh.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from cloakllm_gateway.core.ruling import Ruling, Where
from cloakllm_gateway.core.slots import Done, Slot
from cloakllm_gateway.protocol.walk import Path
from cloakllm_gateway.spans import Range


class Places(Struct):
    """The places of one message part.

    ``clean`` are the texts in which nothing was found, ``done`` how the others
    were rewritten, ``placed`` where tokens stand in them now, in order.
    ``exempt`` are the places that the tripwire leaves out, ``described`` those
    whose text describes a tool or a field.  ``charsets`` are those of textual
    blobs, ``uris`` the real URIs of resources.
    """

    ruling: Ruling
    clean: dict[Where, Slot] = field(default_factory=dict)
    done: dict[Where, Done] = field(default_factory=dict)
    placed: dict[Where, list[Range]] = field(default_factory=dict)
    exempt: set[Path] = field(default_factory=set)
    described: set[Where] = field(default_factory=set)
    charsets: dict[Path, str] = field(default_factory=dict)
    uris: dict[Path, str] = field(default_factory=dict)

    def text_of(self, where: Where, value: Any) -> tuple[str, str]:
        """The text of ``value`` as it will leave, and the charset of a textual blob (empty for anything else)."""
        path, is_key = where
        charset = "" if is_key else self.charsets.get(path, "")
        return (base64.b64decode(str(value)).decode(charset) if charset else str(value)), charset

    def follow(self, renamed: Mapping[Path, str]) -> None:
        """Keys have new names, by their old paths: what is remembered moves with them."""
        if not renamed:
            return

        def moved(path: Path) -> Path:
            return tuple(renamed.get(path[: depth + 1], step) for depth, step in enumerate(path))

        def moved_slot(slot: Slot) -> Slot:
            path, is_key = slot.where
            return slot._replace(where=(moved(path), is_key))

        self.ruling.move(moved)
        self.clean = {(moved(path), is_key): moved_slot(slot) for (path, is_key), slot in self.clean.items()}
        self.done = {
            (moved(path), is_key): Done(moved_slot(done.slot), done.cut) for (path, is_key), done in self.done.items()
        }
        self.placed = {(moved(path), is_key): placed for (path, is_key), placed in self.placed.items()}
        self.exempt = {moved(path) for path in self.exempt}
        self.described = {(moved(path), is_key) for path, is_key in self.described}
        self.charsets = {moved(path): charset for path, charset in self.charsets.items()}
        self.uris = {moved(path): uri for path, uri in self.uris.items()}
