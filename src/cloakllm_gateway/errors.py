"""What can go wrong, whose fault it is and what to do; never what was in it.

Every message here is a fixed template with names and numbers in its slots.
No error is ever built from the text of a message that passed through.
"""

from __future__ import annotations


class GatewayError(Exception):
    """Base of everything the gateway raises on purpose.

    ``what`` says what happened, ``hint`` what to do about it.  Both are shown
    to people and to the model, so neither may hold a value.
    """

    fault = "the gateway"

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.what}. {self.hint}" if self.hint else self.what


class PeerError(GatewayError):
    """A client or an upstream broke the protocol or a limit."""

    fault = "the peer"


class ConfigError(GatewayError):
    """The configuration is wrong; the message names the file, the key and the nearest known key."""

    fault = "the configuration"


class VaultError(GatewayError):
    """The token store is damaged, locked, away or full."""

    fault = "the vault"


class AuditError(GatewayError):
    """A decision could not be recorded."""

    fault = "the audit log"


class DetectionError(GatewayError):
    """A detector raised, timed out or is gone: whatever it should have looked at is withheld."""

    fault = "detection"


class Refused(GatewayError):
    """A token may not be restored here, or is not one.

    ``token`` and ``rule`` say which and why, for the log and the audit; the token is
    one that was issued, never what a caller wrote.
    """

    fault = "the caller"

    def __init__(self, what: str, hint: str = "", *, rule: str, token: str = "") -> None:
        super().__init__(what, hint)
        self.token = token
        self.rule = rule


class Withheld(GatewayError):
    """A message could not be proved clean and does not go out."""

    fault = "the gateway"


def first_cause(error: BaseException) -> BaseException:
    """What tasks that ran together failed of: a fault the gateway can explain before any other."""
    if not isinstance(error, BaseExceptionGroup):
        return error
    causes = [first_cause(inner) for inner in error.exceptions]
    return next((cause for cause in causes if isinstance(cause, GatewayError)), causes[0])


def place_of(error: BaseException) -> str:
    """Where in the source ``error`` arose, as ``file:line``; empty if it was never raised."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "" if trace is None else f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
