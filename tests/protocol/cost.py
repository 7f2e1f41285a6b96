"""How long something takes, measured so that a busy machine does not count."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable


def seconds(work: Callable[[], object]) -> float:
    """The least CPU time of five runs of ``work``."""
    times = []
    for _ in range(5):
        gc.collect()
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)
