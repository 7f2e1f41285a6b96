"""Regular expressions that are compiled at their first use.

Clients start the gateway every time, and compiling all expressions of the
project costs more than everything else of a start; most starts need few.
"""

from __future__ import annotations

import re
import sys
from typing import Any, AnyStr, cast


class _Lazy:
    """Stands for a compiled expression; takes over its methods when one of them is asked for."""

    def __init__(self, source: str | bytes, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        pattern = self.__dict__.get("_pattern") or re.compile(self._source, self._flags)
        self._pattern = pattern
        # Kept on the instance, so that this method is not met again.
        method = self.__dict__[name] = getattr(pattern, name)
        return method


def lazy(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Like ``re.compile``, later."""
    return cast("re.Pattern[AnyStr]", _Lazy(source, flags))


def end_of(pattern: re.Pattern[AnyStr], text: AnyStr, at: int = 0, limit: int = sys.maxsize) -> int:
    """Where ``pattern`` ends that begins at ``at``, seen up to ``limit``; ``at`` where it does not match."""
    found = pattern.match(text, at, limit)
    return at if found is None else found.end()
