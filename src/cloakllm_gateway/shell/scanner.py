"""Where texts are looked at: small ones at once, large ones and names in a worker process."""

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

    def is_small(self, texts: Sequence[Text], size: int) -> bool:
        """Whether :meth:`find_now` is the right call: little text, and nothing in it that may be a name.

        ``size`` is that of the texts (:func:`size_of`).
        """
        if size > INLINE:
            return False
        if not self.covers_names:
            return True
        from cloakllm_gateway.detection.names import plausible  # word lists that only the name model needs

        return not any(text.names and plausible(text.text) for text in texts)

    def find_now(self, texts: Sequence[Text]) -> Findings:
        """Raises :class:`DetectionError`."""
        return self._detector.look(texts)

    async def find(self, texts: Sequence[Text]) -> Findings:
        """Raises :class:`DetectionError`."""
        return self.find_now(texts) if self.is_small(texts, size_of(texts)) else await self.workers.find(texts)


def size_of(texts: Sequence[Text]) -> int:
    """How many code points there are to look at."""
    size = 0
    for text in texts:
        size += len(text.text)
    return size
