"""Arguments that are commands, SQL, paths or programs: what a value may not hold there, and how it is quoted.

A value from data inside a command, a query or a path must stay one word of it.
Where that can't be had by quoting, the token is refused; the refusal names the
token and never the value.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from enum import StrEnum

from cloakllm_gateway.errors import Refused
from cloakllm_gateway.patterns import lazy
from cloakllm_gateway.spans import blanked
from cloakllm_gateway.vault.entries import Token
from cloakllm_gateway.vault.shell import SAFE, Command
from cloakllm_gateway.vault.statements import is_sql
from cloakllm_gateway.vault.tokens import scan


class Language(StrEnum):
    """What a parameter holds, guessed by its name or declared; the words are those of the configuration."""

    TEXT = "text"  # no code at all
    SHELL = "shell"  # a command for an unknown shell: values of harmless characters only
    POSIX = "posix"  # a command for a POSIX shell: values are quoted
    SQL = "sql"
    PROGRAM = "program"
    PATH = "path"
    URL = "url"


#: Parameters by their last word, or last two (`shell_command`, `fileName`): a guess by name, on the safe side.
_LANGUAGES = {
    Language.SHELL: ("command", "commands", "cmd", "commandline", "cmdline", "script", "shell", "bash"),
    Language.SQL: ("sql",),
    Language.PROGRAM: ("code", "query", "expression", "eval", "args", "argv", "statement", "statements"),
    Language.PATH: (
        "path", "paths", "file", "files", "filename", "filepath", "dir", "directory", "folder", "cwd", "glob",
    ),
}  # fmt: skip
_BY_WORD = {word: language for language, words in _LANGUAGES.items() for word in words}
#: Of the programs those that may be an SQL statement, which the text tells then.
_STATEMENTS = frozenset({"query", "statement", "statements"})
_URLS = frozenset({"url", "urls", "uri", "uris", "href", "link", "endpoint", "webhook"})
#: Parameters that take pieces of a file, which have to be written as the file has them.
_PIECES = frozenset({
    "old", "new", "oldtext", "newtext", "oldstring", "newstring", "oldstr", "newstr", "oldcontent", "newcontent",
    "search", "find", "replace", "replacement", "diff", "patch",
})  # fmt: skip
_WORDS = lazy(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_BARE_SQL = lazy(r"[A-Za-z0-9_.@+-]*")
#: Strings and comments of SQL; one that is not closed reaches to the end.
_SQL_PIECE = lazy(
    r"""'(?:[^']|'')*+(?:'|\Z) | "(?:[^"]|"")*+(?:"|\Z) | `[^`]*+(?:`|\Z) | --[^\n]*+ | /\*.*?(?:\*/|\Z)""",
    re.DOTALL | re.VERBOSE,
)
#: What dialects read in different ways, so that nobody can say which quotes behind it are open.  Outside of strings
#: and comments: other comments, dollar quotes, names in brackets, Oracle's q'..'.
_SQL_DIALECT = lazy(r"""\\|\#|\$\w*\$|(?<![\w\]])\[[^\[\]]*\Z|(?<!\w)[nN]?[qQ]\Z""")
#: Inside: an escape in a string, a comment in a comment or one that MySQL executes, a quote in a name, a line comment
#: without its blank.
_SQL_PIECE_DIALECT = lazy(r"""['"][^\\]*+\\|/\*!|/\*.*?/\*|`.*?['"]|--\S""", re.DOTALL)


def is_piece(parameter: str) -> bool:
    """Whether a parameter of this name takes pieces of a file, of any format."""
    words = [word.lower() for word in _WORDS.findall(parameter)]
    return "".join(words[-1:]) in _PIECES or "".join(words[-2:]) in _PIECES


def language(parameter: str, declared: Mapping[str, Language], text: str = "") -> Language:
    """What a parameter of this name holds: as declared, or as such names usually do, or as a query shows."""
    if (said := declared.get(parameter)) is not None:
        return said
    words = [word.lower() for word in _WORDS.findall(parameter)]
    if words and words[-1] in _URLS:
        return Language.URL
    if words and words[-1] in _STATEMENTS and is_sql(text):
        return Language.SQL
    return _BY_WORD.get("".join(words[-1:])) or _BY_WORD.get("".join(words[-2:])) or Language.TEXT


class Guard:
    """Quotes or refuses values that are put into one text of code."""

    def __init__(self, language: Language, text: str) -> None:
        # The brackets of a token are no brackets of the language.
        letters = blanked(text, ((match.start, match.end) for match in scan(text)), "x")
        self._language = language
        self._command = Command(letters) if language is Language.POSIX else None
        pieces = list(_SQL_PIECE.finditer(letters)) if language is Language.SQL else []
        self._sql = [(piece.start(), piece.end(), piece[0][0]) for piece in pieces]
        self._sure_until = _sure(letters, pieces)

    def admit(self, value: str, token: Token, at: int) -> str:
        """``value`` as it may stand at ``at``.  Raises ``Refused`` if it may not stand there."""
        match self._language:
            case Language.SHELL if not SAFE.fullmatch(value):
                raise _refusal(token, "a shell command")
            case Language.POSIX if self._command is not None:
                quoted = self._command.quoted(value, at)
                if quoted is None:
                    raise _refusal(token, "this place of a shell command")
                return quoted
            case Language.SQL:
                return self._in_sql(value, token, at)
            case _:  # the policy decides, by the value's safety and the upstream it goes to
                return value

    def _in_sql(self, value: str, token: Token, at: int) -> str:
        if "\\" in value or "\0" in value:
            raise _refusal(token, "an SQL statement")
        before = bisect_left(self._sql, (at,)) - 1
        _, end, mark = self._sql[before] if before >= 0 else (0, 0, "")
        if at < end and mark in ("'", '"') and at < self._sure_until:
            return value.replace(mark, mark * 2)
        if (at < end and at < self._sure_until) or not _BARE_SQL.fullmatch(value) or "--" in value:
            raise _refusal(token, "an SQL statement outside a string")
        return value


def _sure(text: str, pieces: Sequence[re.Match[str]]) -> int:
    """How far every dialect of SQL agrees on which ``pieces`` of ``text`` are strings and comments."""
    done = 0
    for piece in pieces:
        if odd := _SQL_DIALECT.search(text[done : piece.start()]):
            return done + odd.start()
        if _SQL_PIECE_DIALECT.match(piece[0]):
            return piece.start()
        done = piece.end()
    odd = _SQL_DIALECT.search(text[done:])
    return done + odd.start() if odd else len(text)


def _refusal(token: Token, place: str) -> Refused:
    return Refused(
        f"The value of {token} holds characters that could act as code in {place}",
        "Give it as an argument of its own, or through a file or a bound parameter.",
        token=token.name,
        rule="place: code",
    )
