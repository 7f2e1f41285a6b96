"""``audit``: verify, show, export and report on the audit log, and change its key.

Exit status of ``verify``: 0 nothing is wrong, 1 something is, 2 it could not be read.
"""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click

from cloakllm_gateway.audit.entries import COLUMNS, Filter, line, printable, row
from cloakllm_gateway.audit.page import as_html
from cloakllm_gateway.audit.report import as_text, report
from cloakllm_gateway.audit.schema import body
from cloakllm_gateway.audit.verify import Problem, Status, Verdict, verify
from cloakllm_gateway.errors import AuditError
from cloakllm_gateway.shell.audit.log import Log
from cloakllm_gateway.shell.audit.reading import entries, gather
from cloakllm_gateway.shell.auditing import DIRECTORY
from cloakllm_gateway.shell.logging import escape
from cloakllm_gateway.shell.stores import default_state_dir

WRONG, UNREADABLE = 1, 2

_Command = TypeVar("_Command", bound=Callable[..., Any])
_File = click.Path(dir_okay=False, path_type=Path)
_DIRECTORY = click.argument("directory", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
_KEY = click.option("--key", metavar="FILE", type=_File, help="Public keys that you kept elsewhere (log.pub).")
_CHECKPOINT = click.option("--checkpoint", metavar="FILE", type=_File, help="Checkpoints kept elsewhere: the anchor.")
_OUTPUT = click.option("-o", "--output", metavar="FILE", type=_File, help="Write there and not to standard output.")


@click.group()
def audit() -> None:
    """Look at the audit log of DIR (by default that of your state directory)."""


@audit.command("verify")
@_DIRECTORY
@_KEY
@_CHECKPOINT
@click.option("--json", "as_json", is_flag=True, help="Say it for a program.")
def verify_command(directory: Path | None, key: Path | None, checkpoint: Path | None, as_json: bool) -> None:
    """Is the log what its gateways wrote?

    With a key and a checkpoint from elsewhere the answer is `verified`; with
    what lies beside the log it can only be `self-consistent`, because whoever
    can write there can write all of it anew.
    """
    directory = _directory(directory)
    try:
        verdict = verify(gather(directory, key, checkpoint))
    except AuditError as error:
        if as_json:
            click.echo(json.dumps({"status": "unreadable", "what": printable(str(error))}))
        _give_up(error)
    click.echo(_as_json(verdict) if as_json else _as_words(directory, verdict))
    sys.exit(WRONG if verdict.status is Status.WRONG else 0)


def _filters(command: _Command) -> _Command:
    for option in (
        click.option("--since", metavar="TIME", default="", help="From then on: 2026-11-29, 2026-11-29T08:30 (UTC)."),
        click.option("--until", metavar="TIME", default="", help="Up to then, inclusive."),
        click.option("--upstream", metavar="NAME", default="", help="That went to it or came from it."),
        click.option("--category", metavar="NAME", default="", help="In which that was found."),
        click.option("--event", metavar="NAME", default="", help="Of that kind: restore, refused, withheld ..."),
    ):
        command = option(command)
    return command


@audit.command()
@_DIRECTORY
@_filters
def show(directory: Path | None, **filters: str) -> None:
    """Show entries, one a line."""
    for entry in _entries(directory, filters):
        click.echo(line(entry))


@audit.command()
@_DIRECTORY
@_filters
@click.option("--format", "how", type=click.Choice(["csv", "json"]), default="csv", show_default=True)
@_OUTPUT
def export(directory: Path | None, how: str, output: Path | None, **filters: str) -> None:
    """Write entries for a spreadsheet or a program."""
    found = _entries(directory, filters)
    if how == "json":
        _write(json.dumps(found, indent=1) + "\n", output)
        return
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    writer.writerow(COLUMNS)
    writer.writerows(map(row, found))
    _write(text.getvalue(), output)


@audit.command("report")
@_DIRECTORY
@_KEY
@_CHECKPOINT
@click.option("--since", metavar="TIME", default="")
@click.option("--until", metavar="TIME", default="")
@click.option("--format", "how", type=click.Choice(["text", "html"]), default="text", show_default=True)
@_OUTPUT
def report_command(
    directory: Path | None, key: Path | None, checkpoint: Path | None, how: str, output: Path | None, **span: str
) -> None:
    """Who got what of whom, what was refused, and when somebody was watching."""
    found = report(_entries(directory, span))
    try:
        verdict = _in_short(verify(gather(_directory(directory), key, checkpoint)))
    except AuditError as error:
        _give_up(error)
    _write((as_html if how == "html" else as_text)(found, verdict), output)


@audit.command("rotate-key")
@_DIRECTORY
def rotate_key(directory: Path | None) -> None:
    """Make a new signing key; the old one signs once more, together with it.

    Gateways that run go on with the new key by themselves. Copy log.pub to
    where you keep the public keys.
    """
    from cloakllm_gateway.shell.audit.checkpoints import rotate

    directory = _directory(directory)
    try:
        gather(directory)
        log = Log(directory, os.urandom(8).hex())
        note = rotate(directory, lambda key: log.append([body("checkpoint", {"trigger": "rotate", "key": key})]))
        log.close()
    except AuditError as error:
        _give_up(error)
    click.echo(f"The new key of {escape(str(directory))}:\n{note.checkpoint.next_key}")


def _directory(given: Path | None) -> Path:
    if given is not None:
        return given
    state = default_state_dir()
    if state is None:
        raise click.UsageError("There is no state directory: name the directory of the log")
    return state / DIRECTORY


def _entries(directory: Path | None, filters: dict[str, str]) -> list[dict[str, Any]]:
    wanted = Filter(**filters)
    try:
        return [entry for entry in entries(_directory(directory)) if wanted.takes(entry)]
    except AuditError as error:
        _give_up(error)


def _give_up(error: AuditError) -> NoReturn:
    click.echo(f"cloakllm-gateway: {escape(str(error))}", err=True)
    sys.exit(UNREADABLE)


def _write(text: str, output: Path | None) -> None:
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        output.write_text(text, "utf-8", newline="")
    except OSError as error:
        _give_up(AuditError(f"{output} can't be written: {error.strerror}"))


# -- a verdict in words --------------------------------------------------------------------------------

_MEANING = {
    Status.VERIFIED: "the key and a checkpoint from elsewhere agree with the log",
    Status.SELF_CONSISTENT: "the log agrees with what lies beside it; give --key and --checkpoint from elsewhere",
    Status.WRONG: "this is not what the gateways wrote",
}


def _in_short(verdict: Verdict) -> str:
    return f"{verdict.status.value}: {_MEANING[verdict.status]}"


def _as_words(directory: Path, verdict: Verdict) -> str:
    lines = [f"{escape(str(directory))}: {verdict.entries} entries, {verdict.checkpoints} checkpoints"]
    if verdict.first:
        lines.append(f"  begins at entry {verdict.first}: what came before was pruned, as a signed checkpoint says")
    lines += [f"  {_place(problem)}{problem.kind}: {printable(problem.what)}" for problem in verdict.problems]
    if verdict.more_problems:
        lines.append(f"  and {verdict.more_problems} more")
    lines.append(_in_short(verdict))
    if verdict.status is Status.VERIFIED and verdict.anchored < verdict.first + verdict.entries:
        lines.append(f"Entries from {verdict.anchored} on are younger than the newest checkpoint from elsewhere.")
    return "\n".join(lines)


def _place(problem: Problem) -> str:
    return f"{printable(problem.file)}:{problem.line}: " if problem.line else ""


def _as_json(verdict: Verdict) -> str:
    problems = [{**problem._asdict(), "file": printable(problem.file)} for problem in verdict.problems]
    return json.dumps(
        {
            "status": verdict.status.value,
            "entries": verdict.entries,
            "first": verdict.first,
            "checkpoints": verdict.checkpoints,
            "anchored": verdict.anchored,
            "problems": problems,
            "more_problems": verdict.more_problems,
        },
        indent=1,
    )
