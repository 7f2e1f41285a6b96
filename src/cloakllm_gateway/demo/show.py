"""The demo on a terminal: each scene as two texts side by side."""

from __future__ import annotations

import re

from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from cloakllm_gateway.demo.play import CUSTOMERS, TICKET, Scene, scenes

_TOKEN = re.compile(r"\[[A-Z_]+_[0-9_]+\]")
#: What is personal in the made-up files, for the colours only.
_VALUES = {line.partition(": ")[2] for line in CUSTOMERS.splitlines()[1:-1]} | {TICKET.splitlines()[-1].strip(".")}
_PERSONAL = re.compile("|".join(re.escape(value) for value in sorted(_VALUES, key=len, reverse=True)))


def show(console: Console, next_command: str) -> None:
    """Play the demo and say what to run next; raises ``RuntimeError`` if the gateway does not do its job."""
    for number, scene in enumerate(scenes(), 1):
        console.print(f"\n[bold]{number}. {scene.title}[/bold]")
        console.print(_side_by_side(scene))
    console.print(
        "\nThe model worked with tokens only; the file on disk holds the real values.\n"
        f"Next: [bold]{escape(next_command)}[/bold], see README.md."
    )


def _side_by_side(scene: Scene) -> Table:
    grid = Table.grid(expand=True, padding=0)
    grid.add_column(ratio=1)
    grid.add_column(ratio=1)
    grid.add_row(
        Panel(_coloured(scene.left), title=scene.left_title, title_align="left"),
        Panel(_coloured(scene.right), title=scene.right_title, title_align="left"),
    )
    return grid


def _coloured(text: str) -> Text:
    shown = Text(text.rstrip())
    shown.highlight_regex(_PERSONAL, "red")
    shown.highlight_regex(_TOKEN, "green")
    return shown
