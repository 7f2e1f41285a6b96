"""Where texts are looked at: small ones at once, large ones and names in a worker process."""

from __future__ import annotations

from collections.abc import Sequence

from cloakllm_gateway.detection.engine import Detector
from cloakllm_gateway.detection.names import windows
from cloakllm_gateway.detection.settings import Settings
from cloakllm_gateway.shell.workers import Workers
from cloakllm_gateway.spans import Span, Text

#: Code points that are looked at on the event loop; some milliseconds of the densest text.
INLINE = 16_384


class Scanner:
    """Detection as the shell performs it.  ``names`` says whether the recogniser runs."""

    def __init__(self, settings: Settings) -> None:
        self._detector = Detector(settings)
        self._names = settings.names is not None
        self._workers = Workers(settings)

    @property
    def workers(self) -> Workers:
        return self._workers

    def is_small(self, texts: Sequence[Text]) -> bool:
        """Whether :meth:`find_now` is the right call: little text, and no name that needs the model."""
        if sum(len(text.text) for text in texts) > INLINE:
            return False
        return not (self._names and any(text.names and windows(text.text) for text in texts))

    def find_now(self, texts: Sequence[Text]) -> list[list[Span]]:
        """Raises :class:`DetectionError`."""
        return self._detector.find(texts)

    async def find(self, texts: Sequence[Text]) -> list[list[Span]]:
        """Raises :class:`DetectionError`."""
        if self.is_small(texts):
            return self.find_now(texts)
        return await self._workers.find(texts)
