"""What libraries log and warn of, reduced to its kind: its text may quote a value.

Their messages are made for who debugs them: a traceback ends in the text of an
error, and the event loop shows callbacks with their arguments.  Any of it may be
what was in a message.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from cloakllm_gateway.shell.logging import Logger


class _Notes(logging.Handler):
    def __init__(self, logger: Logger) -> None:
        super().__init__(logging.WARNING)
        self._logger = logger

    def emit(self, record: logging.LogRecord) -> None:
        kind = record.exc_info[0] if record.exc_info else None
        if kind is not None:
            self._logger.log("error", "internal_error", kind=kind.__name__, library=record.name)
        else:
            template = str(record.msg).partition("\n")[0].strip()  # what stands in its slots is not shown
            self._logger.log("debug", "library_says", library=record.name, line=template)


@contextmanager
def library_logs(logger: Logger) -> Iterator[None]:
    """Note what libraries say within the context; without it they would write to standard error themselves."""
    theirs, notes = logging.getLogger(), _Notes(logger)
    theirs.addHandler(notes)
    try:
        yield
    finally:
        theirs.removeHandler(notes)
