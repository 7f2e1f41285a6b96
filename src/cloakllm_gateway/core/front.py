"""The client's side of one connection: the era it speaks, and what it must not be sent yet."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cloakllm_gateway.core.events import Effect, Send
from cloakllm_gateway.protocol.eras import Era


class Front:
    """What those who speak with the client share.

    ``era`` is the one to speak, ``decided`` the one that the first request
    settled, None as long as none has.
    """

    def __init__(self, emit: Callable[[Effect], None]) -> None:
        self._emit = emit
        self._is_ready = False
        self._held: list[Effect] = []
        self.era = Era.SESSION
        self.decided: Era | None = None

    def decide(self, era: Era) -> None:
        """The client speaks ``era``.  In a session it says when it may be asked something: :meth:`ready`."""
        self.era = self.decided = era
        self._is_ready = era is Era.STATELESS

    def reopen(self) -> None:
        """The session could not begin: the next request decides again."""
        self.decided = None

    def ready(self) -> None:
        """The client has been initialized: what was held back for it goes out."""
        self._is_ready = True
        held, self._held = self._held, []
        for effect in held:
            self._emit(effect)

    def send(self, effects: Sequence[Effect]) -> None:
        """Emit ``effects``, but hold back what the client must not get before it is initialized."""
        for effect in effects:
            if not self._is_ready and isinstance(effect, Send) and "method" in effect.message:
                self._held.append(effect)
            else:
                self._emit(effect)
