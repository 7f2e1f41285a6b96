"""How long something takes, measured so that a busy machine does not count."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

Work = Callable[[], object]

#: How often something is done at most: the quickest time is the one that other programs had the least part in.
ROUNDS = 5


def seconds(work: Work, *, rounds: int = ROUNDS, enough: float = 0.0) -> float:
    """The least CPU time of ``work`` in some rounds, which end with one that took less than ``enough``.

    The collector is left aside: what it costs grows with everything else in the process.
    """
    best = float("inf")
    gc.disable()
    try:
        for _ in range(rounds):
            start = time.process_time()
            work()
            best = min(best, time.process_time() - start)
            if best < enough:
                break
    finally:
        gc.enable()
    return best


def compare(few: Work, many: Work, *, most: float, slack: float = 0.0) -> None:
    """Fails where ``many`` takes ``most`` times as long as ``few`` and ``slack`` seconds, or longer."""
    of_few = seconds(few, rounds=3)
    limit = most * of_few + slack
    of_many = seconds(many, enough=limit)
    assert of_many < limit, f"{of_many:.4f} s, and {of_few:.4f} s for few"
