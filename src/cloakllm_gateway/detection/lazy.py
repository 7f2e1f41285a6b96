"""Regular expressions that are compiled when they are first used.

Compiling all of them would cost most of the start-up time, and a session
rarely needs more than a few.
"""

from __future__ import annotations

import re
from typing import Any, cast


class _Lazy:
    def __init__(self, source: str, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        """Compile on the first use of any method, and keep the bound method for the next."""
        if name.startswith("__"):
            raise AttributeError(name)
        pattern = self.__dict__.get("_pattern")
        if pattern is None:
            pattern = self.__dict__["_pattern"] = re.compile(self._source, self._flags)
        method = self.__dict__[name] = getattr(pattern, name)
        return method


def lazy(source: str, flags: int = 0) -> re.Pattern[str]:
    """``re.compile``, put off until the pattern is used."""
    return cast("re.Pattern[str]", _Lazy(source, flags))
