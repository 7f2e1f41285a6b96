"""Where texts are looked at: small ones at once, large ones and names in a worker process."""

from __future__ import annotations

from collections.abc import Sequence

from cloakllm_gateway.detection import names
from cloakllm_gateway.detection.engine import Detector
from cloakllm_gateway.detection.settings import Settings
from cloakllm_gateway.shell.workers import Workers
from cloakllm_gateway.spans import Span, Text

#: Code points that are looked at on the event loop: some milliseconds of the densest text.
INLINE = 16_384


class Scanner:
    """Detection as the shell performs it.

    Raises :class:`ConfigError` where names are required and can't be had;
    ``names_missing`` says why they are not covered where they are not.
    """

    def __init__(self, settings: Settings) -> None:
        self.workers = Workers(settings)
        self.names_missing = self.workers.names_missing
        self.covers_names = settings.names is not None and self.names_missing is None
        self._detector = Detector(settings)

    def is_small(self, texts: Sequence[Text]) -> bool:
        """Whether :meth:`find_now` is the right call: little text, and nothing in it that may be a name."""
        if sum(len(text.text) for text in texts) > INLINE:
            return False
        return not (self.covers_names and any(text.names and names.plausible(text.text) for text in texts))

    def find_now(self, texts: Sequence[Text]) -> list[list[Span]]:
        """Raises :class:`DetectionError`."""
        return self._detector.find(texts)

    async def find(self, texts: Sequence[Text]) -> list[list[Span]]:
        """Raises :class:`DetectionError`."""
        return self.find_now(texts) if self.is_small(texts) else await self.workers.find(texts)
