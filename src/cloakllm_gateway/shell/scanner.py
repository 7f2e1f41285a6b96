"""Where texts are looked at: small ones on the spot, large ones and names in a worker process."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import anyio

from cloakllm_gateway.detection.settings import Settings
from cloakllm_gateway.spans import Findings, Text

if TYPE_CHECKING:
    from cloakllm_gateway.detection.engine import Detector
    from cloakllm_gateway.shell.workers import Workers

#: Code points that are looked at on the event loop: some milliseconds of the densest text.
INLINE = 16_384


class Scanner:
    """Detection as the shell performs it.

    Raises :class:`ConfigError` where names are required and can't be had;
    ``names_missing`` says why they are not covered where they are not.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.names_missing = self.workers.names_missing if settings.names else None
        self.covers_names = settings.names is not None and self.names_missing is None

    @cached_property
    def workers(self) -> Workers:
        """Made where names are wanted, or with the first large text."""
        from cloakllm_gateway.shell.workers import Workers

        return Workers(self._settings)

    @cached_property
    def _detector(self) -> Detector:
        """Made with the first text: a start without any needs neither the catalogue nor its automata."""
        from cloakllm_gateway.detection.engine import Detector

        return Detector(self._settings)

    @property
    def is_loading(self) -> bool:
        """Whether a text waits for the models of names."""
        return self.covers_names and self.workers.is_loading

    async def run(self) -> None:
        """Let the name model load, and end all workers when this is cancelled."""
        try:
            if self.covers_names:
                await self.workers.start()
            await anyio.sleep_forever()
        finally:
            if "workers" in vars(self):
                with anyio.CancelScope(shield=True):
                    await self.workers.close()

    def at_once(self, texts: Sequence[Text]) -> Findings | None:
        """What is in little text without anything that may be a name; None for all else.

        Raises :class:`DetectionError`.  Any thread may ask.
        """
        if size_of(texts) > INLINE or (self.covers_names and _may_hold_names(texts)):
            return None
        return self._detector.look(texts)

    async def find(self, texts: Sequence[Text]) -> Findings:
        """Raises :class:`DetectionError`."""
        found = self.at_once(texts)
        return await self.workers.find(texts) if found is None else found


def _may_hold_names(texts: Sequence[Text]) -> bool:
    from cloakllm_gateway.detection.names import plausible  # word lists that only the name model needs

    return any(text.names and plausible(text.text) for text in texts)


def size_of(texts: Sequence[Text]) -> int:
    """How many code points there are to look at."""
    size = 0
    for text in texts:
        size += len(text.text)
    return size
