"""Parameters that are programs: what a value may not hold there.

A value from data inside a command, a query or a path must stay one word of it.
Where that can't be had by quoting, the token is refused; the refusal names the
token and never the value.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from enum import Enum, auto

from cloakllm_gateway.errors import Refused
from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.vault.entries import Token


class Language(Enum):
    """What kind of code a parameter holds."""

    SHELL = auto()
    SQL = auto()
    PROGRAM = auto()
    PATH = auto()


#: Parameters by their last word, or last two (`shell_command`, `fileName`): a guess by name, on the safe side.
_LANGUAGES = {
    Language.SHELL: ("command", "commands", "cmd", "script", "shell", "bash"),
    Language.SQL: ("sql",),
    Language.PROGRAM: ("code", "query", "expression", "eval", "args", "argv", "statement", "statements"),
    Language.PATH: (
        "path", "paths", "file", "files", "filename", "filepath", "dir", "directory", "folder", "cwd", "glob",
    ),
}  # fmt: skip
_BY_WORD = {word: language for language, words in _LANGUAGES.items() for word in words}
_URLS = frozenset({"url", "urls", "uri", "uris", "href", "link", "endpoint", "webhook"})
_WORDS = lazy(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_SHELL_SAFE = lazy(r"[A-Za-z0-9_@%+=:,./-]*")
_BARE_SQL = lazy(r"[A-Za-z0-9_.@+-]*")
#: Strings and comments of SQL; one that is not closed reaches to the end.
_SQL_PIECE = lazy(
    r"""'(?:[^']|'')*+(?:'|\Z) | "(?:[^"]|"")*+(?:"|\Z) | `[^`]*+(?:`|\Z) | --[^\n]*+ | /\*.*?(?:\*/|\Z)""",
    re.DOTALL | re.VERBOSE,
)


def language(parameter: str) -> Language | None:
    """The kind of code that a parameter of this name holds, None for ordinary data."""
    words = [word.lower() for word in _WORDS.findall(parameter)]
    return _BY_WORD.get("".join(words[-1:])) or _BY_WORD.get("".join(words[-2:]))


def is_url(parameter: str) -> bool:
    """Whether a parameter of this name holds a URL, with or without its scheme."""
    words = _WORDS.findall(parameter)
    return bool(words) and words[-1].lower() in _URLS


class Guard:
    """Judges what is put into one text of code."""

    def __init__(self, language: Language, text: str) -> None:
        self._language = language
        pieces = _SQL_PIECE.finditer(text) if language is Language.SQL else ()
        self._sql = [(piece.start(), piece.end(), piece[0][0]) for piece in pieces]

    def admit(self, value: str, token: Token, at: int) -> str:
        """``value`` as it may stand at ``at``.  Raises ``Refused`` if it may not stand there."""
        match self._language:
            case Language.SHELL:
                if not _SHELL_SAFE.fullmatch(value):
                    raise _refusal(token, "a shell command")
            case Language.SQL:
                return self._in_sql(value, token, at)
            case Language.PROGRAM | Language.PATH:
                pass  # the policy decides, by the value's safety and the upstream it goes to
        return value

    def _in_sql(self, value: str, token: Token, at: int) -> str:
        if "\\" in value or "\0" in value:
            raise _refusal(token, "an SQL statement")
        before = bisect_left(self._sql, (at,)) - 1
        _, end, mark = self._sql[before] if before >= 0 else (0, 0, "")
        if at < end and mark in ("'", '"'):
            return value.replace(mark, mark * 2)
        if at < end or not _BARE_SQL.fullmatch(value) or "--" in value:
            raise _refusal(token, "an SQL statement outside a string")
        return value


def _refusal(token: Token, place: str) -> Refused:
    return Refused(
        f"The value of {token} holds characters that could act as code in {place}",
        "Give it as an argument of its own, or through a file or a bound parameter.",
    )
