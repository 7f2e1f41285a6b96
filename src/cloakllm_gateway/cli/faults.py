"""How a command ends that can't go on: one line for a person, an exit status, and never a traceback.

A traceback shows what was in a message; here a fault of ours is told by its
type and its place in the source alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import TracebackType
from typing import Final

from cloakllm_gateway.errors import ConfigError, GatewayError
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


def first_cause(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """What tasks that ran together failed of: a fault the gateway can explain before any other."""
    causes: list[BaseException] = []
    for error in group.exceptions:
        causes.append(first_cause(error) if isinstance(error, BaseExceptionGroup) else error)
    return next((cause for cause in causes if isinstance(cause, GatewayError)), causes[0])


def report_uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """The ``sys.excepthook`` of every command."""
    from traceback import extract_tb  # for a fault of ours only

    cause = first_cause(error) if isinstance(error, BaseExceptionGroup) else error
    frames = extract_tb(cause.__traceback__)
    place = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    print(f"cloakllm-gateway: internal error: {type(cause).__name__}{place}", file=sys.stderr)  # noqa: T201
