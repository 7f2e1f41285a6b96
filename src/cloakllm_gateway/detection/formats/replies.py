"""What the console of Redis prints for a hash or an entry of a stream: a numbered list, key and value by turns.

``1) "name"``, and ``2) "Kim Lee"`` on the line below.  Any list of Redis looks so, and one whose members at the places
of keys are not all different and words, or that has a key at the place of a value, is no hash.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cloakllm_gateway.detection.fields import take_turns
from cloakllm_gateway.detection.tables import Table
from cloakllm_gateway.patterns import lazy

SIGN = r"(?:^|[\n ])1\) \""
_MEMBER = lazy(r'[\s]{0,40}(?P<number>\d{1,4})\) "(?P<said>(?:[^"\\\n]|\\.){0,4096})"(?=\r?\n|\Z)')


def tables(text: str, places: Sequence[int]) -> Iterator[Table]:
    """A row for each hash; at ``places``, in order, a list may begin."""
    for at in places:
        members: list[tuple[int, int]] = []
        while (member := _MEMBER.match(text, at)) and int(member["number"]) == len(members) + 1:
            members.append(member.span("said"))
            at = member.end()
        if take_turns(said := [text[slice(*member)] for member in members]):
            yield Table(said[::2], [members[1::2]], is_certain=False)
