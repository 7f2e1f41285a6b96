"""How long something takes, measured so that a busy machine does not count."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable


def seconds(work: Callable[[], object]) -> float:
    """The least CPU time of five runs of ``work``, the collector aside: its cost is that of the whole process."""
    times = []
    gc.disable()
    try:
        for _ in range(5):
            start = time.process_time()
            work()
            times.append(time.process_time() - start)
    finally:
        gc.enable()
    return min(times)
