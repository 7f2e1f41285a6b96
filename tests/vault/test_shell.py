"""Values in shell commands: each stays one word, and real shells are the judges."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cloakllm_gateway.errors import Refused
from cloakllm_gateway.vault.code import Language
from cloakllm_gateway.vault.placing import restore
from cloakllm_gateway.vault.shell import SAFE
from tests.cost import compare
from tests.effort import examples
from tests.patience import PATIENCE
from tests.vault.samples import entry

POSIX = {"command": Language.POSIX}
SHELLS = [path for name in ("dash", "bash", "busybox", "zsh") if (path := shutil.which(name))]
EVIL = 'O\'Neil $(touch pwned); rm "x" `touch pwned` \\ * ~ !! # \n-e &'


def put(command: str, value: str) -> str:
    return str(restore(command, lambda match, place: entry("PERSON_0", value), "command", POSIX))


def output(shell: str, command: str, folder: Path) -> tuple[int, bytes]:
    """What a shell without any program but its own makes of ``command``."""
    argv = [shell, "sh"] if shell.endswith("busybox") else [shell]
    ran = subprocess.run(
        [*argv, "-c", command], capture_output=True, cwd=folder, env={"PATH": "/nowhere"}, timeout=PATIENCE
    )
    return ran.returncode, ran.stdout


@pytest.mark.parametrize("shell", SHELLS)
def test_one_word_in_every_position_equals_the_value_and_nothing_runs(shell: str, tmp_path: Path) -> None:
    """B15"""
    command = (
        "printf '<%s>' --name [PERSON_0] '[PERSON_0]' \"[PERSON_0]\" a[PERSON_0]'b [PERSON_0]'\"c$(echo [PERSON_0])\""
    )
    expected = "".join(f"<{word}>" for word in ["--name", EVIL, EVIL, EVIL, f"a{EVIL}b {EVIL}c{EVIL}"])
    assert output(shell, put(command, EVIL), tmp_path) == (0, expected.encode())
    assert list(tmp_path.iterdir()) == []


PIECES = [
    "printf '%s ' ",  # and not echo, to which a backslash in its words means something
    "printf '%s|' ",
    "a",
    " ",
    " ",
    '"',
    '"',
    "'",
    "'",
    "\\",
    "$(",
    ")",
    "(",
    ";",
    "\n",
    "#",
    " #",
    "`",
    "${x}",
    "${x-",
    "}",
    "$x ",
    "<<E\n",
    "E\n",
    "$((",
    "))",
    "case x in x)",
    ";; esac",
    "$'",
    "&&",
    "|",
    "x=",
    "{ ",
    "; }",
    "if ",
    "[[ ",
    "eval ",
    "[PERSON_0]",
    "[PERSON_0]",
    "[PERSON_0]",
]
SCRAPS = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
VALUES = st.one_of(
    st.sampled_from([EVIL, "a b", "it's", '"', "$x", "\\", "`x`", "$(x)", "\n", "é*", "'; x; '", '"; x; "', "x) y"]),
    st.text("'\"\\$`() ;\n#ax", min_size=1, max_size=6),
).filter(lambda value: not SAFE.fullmatch(value))


@pytest.mark.skipif(not SHELLS, reason="no shell is installed")
@settings(max_examples=examples(300), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(before=SCRAPS, after=SCRAPS, value=VALUES, data=st.data())
def test_a_command_does_with_a_value_what_it_does_with_a_harmless_word(
    before: str, after: str, value: str, data: st.DataObject, tmp_path: Path
) -> None:
    command = f"{before}[PERSON_0]{after}"
    shell = data.draw(st.sampled_from(SHELLS))
    try:
        full = put(command, value)
    except Refused:
        return
    status, said = output(shell, put(command, "QxQ"), tmp_path)
    assert output(shell, full, tmp_path) == (status, said.replace(b"QxQ", value.encode()))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "command",
    [
        "[PERSON_0] -x",
        "a; '[PERSON_0]'",
        "LC_ALL=C  x='a' [PERSON_0]",
        "if [PERSON_0]",
        "cat <<E\n[PERSON_0]\nE",
        "`echo [PERSON_0]`",
        "echo `x` [PERSON_0]",
        "echo $(([PERSON_0]))",
        "echo ${x:-[PERSON_0]}",
        "echo $'[PERSON_0]'",
        "echo a # [PERSON_0]",
        "echo \\[PERSON_0]",
        "sh -c 'greet [PERSON_0]'",
        "eval greet [PERSON_0]",
        "ssh host greet '[PERSON_0]'",
        'bash -lc "x [PERSON_0]"',
        "python3 -c 'print(\"[PERSON_0]\")'",
        "awk '{print \"[PERSON_0]\"}' f",
        "x $(case a in a) echo [PERSON_0];; esac)",
        "[[ [PERSON_0] -eq 1 ]]",
        "psql -c \"select '[PERSON_0]'\"",
        "find . -exec bash -c [PERSON_0] ;",
        ". [PERSON_0]",
    ],
)
def test_where_a_value_could_be_read_twice_or_nobody_can_say_it_is_refused(command: str) -> None:
    with pytest.raises(Refused) as refused:
        put(command, "O'Neil; x")
    assert "O'Neil" not in str(refused.value)
    assert put(command, "kim@example.com").count("kim@example.com") == 1


def test_what_is_not_declared_takes_harmless_values_only() -> None:
    with pytest.raises(Refused):
        restore("greet '[PERSON_0]'", lambda match, place: entry("PERSON_0", "O'Neil"), "command")
    free = {"command": Language.TEXT}
    assert (
        restore("greet [PERSON_0]", lambda match, place: entry("PERSON_0", "O'Neil"), "command", free) == "greet O'Neil"
    )


def test_no_command_holds_a_zero_byte() -> None:
    with pytest.raises(Refused):
        put("echo [PERSON_0]", "a\0b")


@pytest.mark.parametrize(
    "piece", ["[PERSON_0] ", "'[PERSON_0]' ", '"$(', "(", "`", "\\", "#\n", "a ", "case ", "$", "sh"]
)
def test_quoting_is_linear(piece: str) -> None:
    few, many = (piece * (size // len(piece)) for size in (10_000, 40_000))
    compare(lambda: _tried(few), lambda: _tried(many), most=8, slack=0.01)


def _tried(command: str) -> None:
    with suppress(Refused):
        put(command, "a b")


# -- SQL -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT $$it's [PERSON_0]$$",
        "SELECT $a$ it's [PERSON_0]$a$",
        "# it's\nSELECT '[PERSON_0]",
        "SELECT /*! 'a' */ '[PERSON_0]'",
        "SELECT 5--'x', '[PERSON_0]'",
        "/* /* */ it's */ [PERSON_0]",
        "SELECT [it's] , '[PERSON_0]",
        "SELECT q'[it's [PERSON_0]]'",
        "SELECT 'a\\'', '[PERSON_0]",
    ],
)
def test_sql_that_dialects_read_differently_takes_bare_words_only(statement: str) -> None:
    for value in ("O'Brien", "x $$ y", "a */ b", "a b"):
        with pytest.raises(Refused):
            restore(statement, lambda match, place, v=value: entry("PERSON_0", v), "sql")
    assert "Kim" in str(restore(statement, lambda match, place: entry("PERSON_0", "Kim"), "sql"))


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT '#1', '[PERSON_0]'",
        "SELECT x FROM t WHERE n = ANY(ARRAY['a', '[PERSON_0]'])",
        "SELECT /* all of 'em */ n -- don't\n FROM t WHERE n = '[PERSON_0]'",
        "INSERT INTO t VALUES ($1, 'q', 'it''s', '[PERSON_0]')",
        "SELECT \"a b\", `c` FROM t WHERE n = '[PERSON_0]' AND m = '[PERSON_0]'",
    ],
)
def test_sql_that_all_dialects_read_alike_takes_any_name_in_a_string(statement: str) -> None:
    brien = entry("PERSON_0", "Kim O'Brien")
    assert restore(statement, lambda match, place: brien, "sql") == statement.replace("[PERSON_0]", "Kim O''Brien")


def test_a_declared_statement_is_sql_whatever_its_name() -> None:
    declared = {"query": Language.SQL}
    brien = entry("PERSON_0", "O'Brien")
    assert restore("WHERE n = '[PERSON_0]'", lambda match, place: brien, "query", declared) == "WHERE n = 'O''Brien'"
    assert restore("WHERE n = '[PERSON_0]'", lambda match, place: brien, "query") == "WHERE n = 'O'Brien'"
