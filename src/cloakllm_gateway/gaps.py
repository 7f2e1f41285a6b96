"""What may stand between two words of one value: blanks, or the end of a line and what the next one begins with."""

from __future__ import annotations

from cloakllm_gateway.patterns import lazy

#: What a line begins with that says nothing: an indent, the marks of quotations, comments and cells.
LEAD = r"[ \t]{0,40}(?:(?:>|[|]|#|//|[*]|--|;)[ \t]{0,8}){0,4}"
#: The end of a line, and what the next one begins with.
BREAK = rf"[ \t]{{0,2}}\\?\r?\n{LEAD}"
#: What stands between two words, for the linear engine.
GAP = rf"(?:[\s\p{{Z}}]{{1,16}}|{BREAK})"
#: ... and where it is more than one blank.
WIDE = lazy(rf"{BREAK}|\s{{2,16}}|[^\S ]")
_ANY = lazy(rf"{BREAK}|\s+")


def unbroken(text: str) -> str:
    """A text of several words with one blank between them, wherever its lines end."""
    return _ANY.sub(" ", text)
