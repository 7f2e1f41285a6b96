"""The hash chain: how one entry is written, and what makes the next one follow it.

Each line of the log is the canonical form of one entry: JSON with sorted keys,
no spaces, integers only, printable ASCII.  ``entry_hash`` is the SHA-256 of the
canonical form without that member, ``prev_hash`` the ``entry_hash`` of the
entry before.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, NoReturn

import msgspec

#: What the first entry of a chain follows.
GENESIS: Final = "0" * 64

#: Orders like ``json.dumps(sort_keys=True)``; for the ASCII and integers of an entry the bytes are the same too.
_encode = msgspec.json.Encoder(order="sorted").encode

#: The member that stands behind ``entry_hash`` in every entry, whatever else it has.
_NEXT_MEMBER: Final = b',"event_type":'


class Head(NamedTuple):
    """Where a chain ends: the number of its entries, and the hash of the last one."""

    size: int = 0
    hash: str = GENESIS


class BadLine(ValueError):
    """A line that is no entry; the text says why and repeats nothing of it."""

    def __init__(self, kind: str, why: str) -> None:
        super().__init__(why)
        self.kind = kind


def canonical(entry: Mapping[str, Any]) -> bytes:
    """The one spelling of ``entry``."""
    return _encode(entry)


def digest(entry: Mapping[str, Any]) -> str:
    """The ``entry_hash`` that ``entry`` must have."""
    return hashlib.sha256(_encode({key: value for key, value in entry.items() if key != "entry_hash"})).hexdigest()


def seal(bodies: Sequence[Mapping[str, Any]], head: Head, timestamp: str, session: str) -> tuple[bytes, Head]:
    """The lines that append ``bodies`` to a chain that ends at ``head``, and where it ends then."""
    size, previous = head
    lines = []
    for body in bodies:
        entry = {**body, "seq": size, "timestamp": timestamp, "session": session, "prev_hash": previous}
        text = _encode(entry)
        previous = hashlib.sha256(text).hexdigest()
        before, _, after = text.partition(_NEXT_MEMBER)
        lines.append(b'%b,"entry_hash":"%b"%b%b\n' % (before, previous.encode(), _NEXT_MEMBER, after))
        size += 1
    return b"".join(lines), Head(size, previous)


def parse(line: bytes) -> dict[str, Any]:
    """The entry on ``line`` (without its line feed), as far as JSON goes.

    Raises :class:`BadLine` for what is not the canonical form of an object.
    """
    try:
        text = line.decode("ascii")
        entry = json.loads(text, object_pairs_hook=_members, parse_float=_no_number, parse_constant=_no_number)
        spelt = canonical(entry)
    except BadLine:
        raise
    except (ValueError, OverflowError, RecursionError):
        raise BadLine("malformed", "it is not JSON in ASCII, or holds what no entry can hold") from None
    if not isinstance(entry, dict):
        raise BadLine("malformed", "it is not a JSON object")
    if spelt != line:
        raise BadLine("spelling", "it is not spelt in the canonical form")
    return entry


def follows(entry: Mapping[str, Any], head: Head) -> bool:
    """Whether ``entry`` is whole and is the next one of a chain that ends at ``head``."""
    return (
        entry.get("seq") == head.size
        and entry.get("prev_hash") == head.hash
        and entry.get("entry_hash") == digest(entry)
    )


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise BadLine("duplicate_key", "a key stands in it twice")
    return members


def _no_number(_text: str) -> NoReturn:
    raise BadLine("malformed", "it holds a number that is not an integer")
