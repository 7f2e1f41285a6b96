"""The texts of a message part as detection sees them: each with its place, and runs that are read as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cloakllm_gateway.core import adjacent
from cloakllm_gateway.core.adjacent import Joined
from cloakllm_gateway.core.rewriting import Cut
from cloakllm_gateway.core.ruling import Where
from cloakllm_gateway.protocol.surface import BLOB, DATA, FLOW, NAME, Role
from cloakllm_gateway.protocol.walk import Path
from cloakllm_gateway.spans import Text


class Slot(NamedTuple):
    """A place in the message and the text that stands there (decoded, for a textual blob).

    ``look`` is what detection gets to see: the same text, of the same length,
    with the tokens that are already placed in it masked.  ``is_encoded`` is known
    once it was looked at: something in it is written in another way.
    """

    where: Where
    role: Role
    text: str
    look: Text
    is_number: bool = False
    charset: str = ""  # of a textual blob; empty for anything else
    is_encoded: bool = False


class Run(NamedTuple):
    """Slots whose texts are read one after the other."""

    slots: Sequence[Slot]
    joined: Joined


class Done(NamedTuple):
    """How one slot was rewritten."""

    slot: Slot
    cut: Cut


def may_be_damaged(slot: Slot) -> bool:
    """Whether damaged tokens are looked for: not in keys and names, which come back as they are or not at all.

    So a clean one says nothing of an equal value.
    """
    return not slot.where[1] and slot.role is not NAME


def runs_of(slots: Sequence[Slot]) -> list[Run]:
    """Those of the slots that are read one after the other: blocks as they are, the lines of a file with line ends."""
    flow = [slot for slot in slots if slot.role in (FLOW, BLOB) and not slot.where[1]]
    data = [slot for slot in slots if slot.role is DATA and not slot.where[1] and not slot.is_number]
    blocks = [_run(flow, run, "") for run in adjacent.runs([slot.where[0] for slot in flow])]
    rows = [_run(flow, run, "\n") for run in adjacent.lines([_place(slot) for slot in flow], of_blocks=True)]
    return blocks + rows + [_run(data, run, "\n") for run in adjacent.lines([_place(slot) for slot in data])]


def _place(slot: Slot) -> tuple[Path, str]:
    return slot.where[0], slot.text


def _run(slots: Sequence[Slot], numbers: Sequence[int], between: str) -> Run:
    run = [slots[number] for number in numbers]
    return Run(run, adjacent.join([slot.look.text for slot in run], between))
