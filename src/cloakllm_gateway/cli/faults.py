"""How a command ends that can't go on: one line for a person, an exit status, and never a traceback.

A traceback shows what was in a message; here a fault of ours is told by its
type and its place in the source alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import TracebackType
from typing import Final

from cloakllm_gateway.errors import ConfigError, GatewayError, first_cause, place_of
from cloakllm_gateway.shell.logging import escape

FAILED: Final = 1
WRONG_CONFIGURATION: Final = 2


def explain(error: GatewayError) -> int:
    """Say on standard error what is wrong and what to do; returns the exit status."""
    print(f"cloakllm-gateway: {escape(str(error))}", file=sys.stderr)  # noqa: T201
    return WRONG_CONFIGURATION if isinstance(error, ConfigError) else FAILED


def explained(work: Callable[[], int]) -> int:
    """The exit status of ``work``, or of the fault that ended it, which is explained."""
    try:
        return work()
    except GatewayError as error:
        return explain(error)
    except BaseExceptionGroup as group:
        cause = first_cause(group)
        if not isinstance(cause, GatewayError):
            raise
        return explain(cause)


def report_uncaught(_kind: type[BaseException], error: BaseException, _trace: TracebackType | None) -> None:
    """The ``sys.excepthook`` of every command."""
    cause = first_cause(error)
    place = place_of(cause)
    at = f" at {place}" if place else ""
    print(f"cloakllm-gateway: internal error: {type(cause).__name__}{at}", file=sys.stderr)  # noqa: T201
