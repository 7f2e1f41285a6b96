"""Private keys: PEM and PGP blocks, PuTTY, wallets."""

from __future__ import annotations

import re

from cloakllm_gateway.detection.catalogue import checks
from cloakllm_gateway.detection.catalogue.checks import whole
from cloakllm_gateway.detection.catalogue.model import CERTAIN, SECRET_KEYED, Category, Example, Pattern, example
from cloakllm_gateway.detection.catalogue.randomness import is_random, plausible_secret
from cloakllm_gateway.detection.catalogue.vendors import EDGE
from cloakllm_gateway.patterns import lazy

_LABEL = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?"
_MARK = lazy(rf"-----(BEGIN|END) {_LABEL}-----", re.ASCII)
#: A line of a PEM body: base64, a header, an armour line of another kind; its line end may be escaped.
_BODY = lazy(
    r"[ \t>|#*]{0,8}(?:[A-Za-z0-9+/=]{1,80}|-----(?:BEGIN|END) [A-Z0-9 ]{1,60}-----|[A-Za-z-]{3,20}: "
    r"[^\r\n\\]{0,100})?(?:\r?\n|(?:\\+[nr])+|$)",
    re.ASCII,
)
_TAIL = lazy(r"[ \t>|#*]{0,8}[A-Za-z0-9+/=]*", re.ASCII)
#: How far an END is looked for behind a body that is broken by something else, in code points.
_REACH = 16_384


def _block(text: str, start: int, end: int, limit: int) -> int:
    """The end of a key block whose BEGIN line is ``text[start:end]``: END if there is one, else the end of the body.

    What stands between two marks belongs to the block, a planted certificate
    included.  A block without END reaches as far as its lines look like one.
    """
    mark = _MARK.search(text, end, min(limit, end + _REACH))
    if mark and mark[1] == "END":
        return mark.end()
    stop = mark.start() if mark else limit
    at = end
    line = re.compile(r"[ \t]*(?:\r?\n|(?:\\+[nr])+)?").match(text, at, stop)
    at = line.end() if line else at
    while at < stop:
        line = _BODY.match(text, at, stop)
        if line is None or line.end() == at or not line[0].strip():
            break
        at = line.end()
    tail = _TAIL.match(text, at, stop)
    if tail and len(tail[0].strip()) > 16:
        at = tail.end()
    while at > end and text[at - 1] in "\r\n \t":
        at -= 1
    return at


_BASE64_LINE = lazy(r"[A-Za-z0-9+/=]{1,80}(?![A-Za-z0-9+/=-])(?:\r?\n)?", re.ASCII)


def _lines(text: str, start: int, end: int, limit: int) -> int:
    """The end of the lines of base64 behind ``text[start:end]``."""
    at = end
    while line := _BASE64_LINE.match(text, at, limit):
        at = line.end()
    return end + len(text[end:at].rstrip())


def _pem(*lines: str) -> str:
    return "\n".join((lines[0].replace("~", "-----"), *lines[1:-1], lines[-1].replace("~", "-----")))


_KEY_BODY = "MIIEq7RvK3xZ9mTb2WcY5nHf8LpD4sGj6aeE0d1q7RvK3xZ9mTb2WcY5nHf8LpD4"

PRIVATE_KEY = Category(
    "PRIVATE_KEY",
    examples=(
        Example("see " + _pem("~BEGIN RSA PRIVATE KEY~", _KEY_BODY, "AAAA", "~END RSA PRIVATE KEY~") + " ok",
                _pem("~BEGIN RSA PRIVATE KEY~", _KEY_BODY, "AAAA", "~END RSA PRIVATE KEY~")),
        Example(_pem("~BEGIN PRIVATE KEY~", _KEY_BODY, "BBBB") + "\n(output truncated)",
                _pem("~BEGIN PRIVATE KEY~", _KEY_BODY, "BBBB")),
        example("WIF «5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ»"),
        example("x «Private-Lines: 1\nAAAAgQDq7RvK3xZ9mTb2WcY5nHf8LpD4»\nPrivate-MAC: x"),
    ),
    lookalikes=("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", "a PRIVATE KEY is kept private",
                "const signingKey = core_1.crypto.createPublicKey(leaf.publicKey);"),
    patterns=(
        Pattern(rf"-----BEGIN {_LABEL}-----", rank=CERTAIN, extent=_block),
        Pattern(rf"{EDGE}[xyzuvt]prv[1-9A-HJ-NP-Za-km-z]{{107,108}}(?![A-Za-z0-9])", rank=CERTAIN),  # BIP 32
        Pattern(
            rf"{EDGE}[5-9KLTQ](?:[1-9A-HJ-NP-Za-km-z]{{10}}){{5}}[1-9A-HJ-NP-Za-km-z]?(?![A-Za-z0-9])",
            whole(checks.wallet_key),
            rank=CERTAIN,
        ),
        Pattern(r"(?<![A-Za-z0-9])Private-Lines: \d{1,2}\r?\n", rank=CERTAIN, extent=_lines),  # PuTTY
    ),
    keys=("privatekey", "sshkey", "sshprivatekey", "tlskey", "signingkey"),
    shape=r"[\s\S]{16,}",
    plausible=lambda text: plausible_secret(text) and ("-----" in text or is_random(text)),
    sensitive=True,
    keyed_rank=SECRET_KEYED,
)  # fmt: skip
