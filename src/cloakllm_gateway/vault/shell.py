"""How a POSIX shell reads a place in a command: in a word, in quotes, or so that nothing can be put there safely.

After the Shell Command Language of POSIX.1-2017, section 2.  The scan knows
words, both quotes, escapes, comments, subshells and command substitutions, and
nests them.  What it does not follow it does not guess at: behind a here-document,
a backquote, arithmetic, an expansion with an operator, ``$'`` or a ``case``
inside brackets, no value is put in that the shell could read as anything else.
Neither is one where the command hands its words to another interpreter
(``sh -c``, ``eval``, ``ssh``, ``awk``): that one reads them a second time.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from enum import Enum, auto

from cloakllm_gateway.patterns import lazy


class State(Enum):
    """How the shell reads a place."""

    WORD = auto()
    SINGLE = auto()
    DOUBLE = auto()
    UNKNOWN = auto()


#: Characters that mean nothing to any shell; the ``-`` at a beginning is the policy's business.
SAFE = lazy(r"[A-Za-z0-9_@%+=:,./-]*")

_IN_WORD = lazy(
    r"""(?P<escape>\\.) | (?P<single>'[^']*+'?) | (?P<comment>(?<![^\s;&|()])\#[^\n]*) | (?P<name>\$\{[A-Za-z_]\w*\})
      | (?P<lost>`|\$\(\(|\$\{|\$'|<<|\(\() | (?P<open>\$?\() | (?P<close>\)) | (?P<double>")
      | (?P<case>(?<![\w-])case(?![\w-]))""",
    re.VERBOSE | re.DOTALL,
)
_IN_DOUBLE = lazy(
    r"""(?P<escape>\\.) | (?P<name>\$\{[A-Za-z_]\w*\}) | (?P<lost>`|\$\(\(|\$\{) | (?P<open>\$\() | (?P<double>")""",
    re.VERBOSE | re.DOTALL,
)
_READS_AGAIN = lazy(
    r"""(?<![\w.-]) (?: eval | source | trap | alias | let | declare | typeset | xargs | parallel | watch | ssh | su
      | [a-z]*sh | env\s+-[^\s-]*S | python[\d.]* | perl | ruby | node | php | lua | tclsh | [gmn]?awk | g?sed | ed | ex
      | vim? | psql | mysql | sqlite3 | jq | make | cmd | powershell | pwsh | osascript | at | batch | crontab
      ) (?:\.exe)? (?![\w-]) | \[\[ | (?<![^\s;&|(]) \. (?=\s)""",
    re.VERBOSE,
)
#: Directly before the name of a command, assignments passed over.
_BEFORE_COMMAND = lazy(
    r"""(?:\A|[;&|(\n{!`]|(?<!\S)(?:then|do|else|elif|if|while|until)(?=\s))\s*+(?:[A-Za-z_]\w*=[^\s;&|]*\s++)*+["']?\Z"""
)
#: How far back that is looked for; where the beginning of it can't be seen, it is taken to be there.
_NEAR = 200
_SPECIAL_IN_DOUBLE = lazy(r'[\\"$`]')


class Command:
    """One command line or script; ``text`` holds nothing but letters where tokens stand."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._reads_again = _READS_AGAIN.search(text) is not None
        self._changes = list(_changes(text))
        self._starts = [start for start, _ in self._changes]

    def state(self, at: int) -> State:
        """How the shell reads a value at ``at``."""
        if self._reads_again or _BEFORE_COMMAND.search(self._text[max(0, at - _NEAR) : at]):
            return State.UNKNOWN
        return self._changes[bisect_right(self._starts, at) - 1][1]

    def quoted(self, value: str, at: int) -> str | None:
        """``value`` as it is one word, or part of one, at ``at``; None where it can't be."""
        if SAFE.fullmatch(value) and value:
            return value
        if "\0" in value:
            return None
        match self.state(at):
            case State.WORD:
                return "'" + _in_single(value) + "'"
            case State.SINGLE:
                return _in_single(value)
            case State.DOUBLE:
                return _SPECIAL_IN_DOUBLE.sub(r"\\\g<0>", value)
            case State.UNKNOWN:
                return None


def _in_single(value: str) -> str:
    return value.replace("'", "'\\''")


def _changes(text: str) -> Iterator[tuple[int, State]]:
    """The states of the text, each from the offset on where it begins."""
    open_: list[State] = [State.WORD]
    yield 0, State.WORD
    at = 0
    while found := (_IN_DOUBLE if open_[-1] is State.DOUBLE else _IN_WORD).search(text, at):
        at = found.end()
        match found.lastgroup:
            case "escape" | "comment":
                # What directly follows a backslash is no place of its own, and nothing is put into a comment.
                yield found.start() + (found.lastgroup == "comment"), State.UNKNOWN
            case "single":
                yield found.start() + 1, State.SINGLE
            case "double" if open_[-1] is State.DOUBLE:
                open_.pop()
            case "double":
                open_.append(State.DOUBLE)
            case "open":
                open_.append(State.WORD)
            case "close" if len(open_) > 1:
                open_.pop()
            case "lost":
                yield found.start(), State.UNKNOWN
                return
            case "case" if len(open_) > 1:
                yield found.start(), State.UNKNOWN
                return
        yield at, open_[-1]
