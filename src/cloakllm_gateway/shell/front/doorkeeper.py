"""Authentication over HTTP: the bearer token of a request, and what becomes of requests without one."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from cloakllm_gateway.errors import ConfigError
from cloakllm_gateway.shell.front.asgi import Http, Refusal
from cloakllm_gateway.shell.front.tokens import Authenticator
from cloakllm_gateway.shell.logging import Logger

#: Failures of one address within so many seconds, after which it is told to wait.
FAILURES: Final = 10
WINDOW: Final = 60.0
#: Addresses that are remembered; the one that failed longest ago is forgotten first.
REMEMBERED: Final = 1024
#: What a stranger is told: not where tokens are, but who can say.
NO_TOKEN: Final = "A bearer token of this gateway is needed; the gateway's log names the file where tokens are"
#: No token of ours is longer.
_LONGEST: Final = 512


class Doorkeeper:
    """Names the principal of a request.

    Failures are counted by address.  A token that is right is let in even
    where the count is full: many clients may share one address, and none of
    them should be able to lock the others out.  Guessing is hopeless either way
    (see :mod:`.tokens`); what the limit keeps down is the noise.
    """

    def __init__(self, authenticator: Authenticator, logger: Logger, clock: Callable[[], float]) -> None:
        self._authenticator = authenticator
        self._logger = logger
        self._clock = clock
        self._failed: OrderedDict[str, list[float]] = OrderedDict()
        self._was_told = False

    def identify(self, http: Http) -> str:
        """Raises :class:`Refusal`."""
        token = bearer(http.header("authorization"))
        try:
            principal = self._authenticator.principal(token)
        except ConfigError as error:
            self._logger.log("error", "http_tokens_not_read", reason=str(error))
            raise Refusal(503, "The gateway can't tell who is let in; its log says why") from None
        if principal is not None:
            return principal
        if token is None:
            self._tell(http.peer)
        elif self._fails_again(http.peer):
            raise Refusal(429, "Too many wrong tokens", headers={"retry-after": str(int(WINDOW))})
        challenge = "Bearer" if token is None else 'Bearer error="invalid_token"'
        raise Refusal(401, NO_TOKEN, headers={"www-authenticate": challenge})

    def _tell(self, peer: str) -> None:
        """Log once where tokens are: whoever runs the gateway may read that, and nobody else."""
        if not self._was_told:
            self._logger.log("warning", "http_no_token", peer=peer, file=self._authenticator.place)
        self._was_told = True

    def _fails_again(self, peer: str) -> bool:
        """Count a failure; whether there have been too many."""
        now = self._clock()
        times = [time for time in self._failed.pop(peer, ()) if now - time < WINDOW]
        if not times:
            self._logger.log("warning", "http_wrong_token", peer=peer, file=self._authenticator.place)
        if len(times) < FAILURES:
            times.append(now)
            full = False
        else:
            full = True
        self._failed[peer] = times
        if len(self._failed) > REMEMBERED:
            self._failed.popitem(last=False)
        return full


def bearer(authorization: str | None) -> str | None:
    """The token in an ``Authorization`` header, None where there is none (RFC 6750, 2.1)."""
    scheme, _, token = (authorization or "").partition(" ")
    token = token.strip()
    return token if scheme.lower() == "bearer" and 0 < len(token) <= _LONGEST else None
