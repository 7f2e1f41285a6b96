"""A log to look into."""

from __future__ import annotations

from cloakllm_gateway.shell.logging import Logger


class Notes(Logger):
    """Keeps what it is told instead of writing it."""

    def __init__(self) -> None:
        super().__init__("debug")
        self.lines: list[str] = []

    def log(self, level: str, event: str, **fields: object) -> None:
        self.lines.append(f"{level} {event} {fields}")
