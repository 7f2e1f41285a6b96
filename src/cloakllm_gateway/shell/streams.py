"""Standard input and output, kept for the protocol alone.

Whatever a library prints, when it is imported or later, lands on standard
error, and whatever a library reads is at its end.  To be called before anything
else is imported, so this module imports next to nothing itself.
"""

from __future__ import annotations

import os
import sys
from typing import NamedTuple


class Streams(NamedTuple):
    """Descriptors that nobody else knows."""

    read_fd: int
    write_fd: int


def claim() -> Streams:
    """Private copies of descriptors 0 and 1; then 0 reads nothing and 1, like ``sys.stdout``, is standard error."""
    if sys.stdout is not None:
        sys.stdout.flush()
    null = os.open(os.devnull, os.O_RDWR)
    try:
        os.fstat(2)
    except OSError:  # started without a standard error; a copy below must not take its number
        os.dup2(null, 2)
    read_fd, write_fd = os.dup(0), os.dup(1)
    os.dup2(null, 0)
    os.dup2(2, 1)
    if null != 2:
        os.close(null)
    sys.stdout = sys.stderr
    for fd in (read_fd, write_fd):
        if sys.platform == "win32":
            import msvcrt

            msvcrt.setmode(fd, os.O_BINARY)
        else:
            os.set_blocking(fd, True)  # a client may hand over pipes that are not
    return Streams(read_fd, write_fd)
