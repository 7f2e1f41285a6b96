"""What ends a gateway from outside."""

from __future__ import annotations

import signal
from collections.abc import Callable
from contextlib import suppress

import anyio


async def heed(asked: Callable[[], None]) -> None:
    """Call ``asked`` each time that somebody asks this process to end, until cancelled."""
    # Windows has no signals to wait for: Ctrl+C ends the loop itself there.
    with suppress(NotImplementedError), anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            asked()
