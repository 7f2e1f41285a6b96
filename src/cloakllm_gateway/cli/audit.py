"""``audit``: verify, show, export and report on the audit log, and change its key.

Exit status of ``verify``: 0 nothing is wrong, 1 something is, 2 it could not be read.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click
from msgspec import structs

from cloakllm_gateway.audit.entries import COLUMNS, Filter, counts, csv_line, line, printable, row, upstreams
from cloakllm_gateway.audit.page import as_html
from cloakllm_gateway.audit.report import as_text, report
from cloakllm_gateway.audit.schema import EVENTS, body
from cloakllm_gateway.audit.verify import Problem, Status, Verdict, verify
from cloakllm_gateway.errors import AuditError, GatewayError
from cloakllm_gateway.shell.audit.log import Log
from cloakllm_gateway.shell.audit.reading import entries, gather
from cloakllm_gateway.shell.auditing import DIRECTORY
from cloakllm_gateway.shell.logging import escape
from cloakllm_gateway.shell.stores import default_state_dir

WRONG, UNREADABLE = 1, 2

_Command = TypeVar("_Command", bound=Callable[..., Any])
_File = click.Path(dir_okay=False, path_type=Path)
_KEY = click.option("--key", metavar="FILE", type=_File, help="Public keys that you kept elsewhere (log.pub).")
_CHECKPOINT = click.option("--checkpoint", metavar="FILE", type=_File, help="Checkpoints kept elsewhere: the anchor.")
_OUTPUT = click.option("-o", "--output", metavar="FILE", type=_File, help="Write there and not to standard output.")


def _of_log(command: _Command) -> _Command:
    """Give a command its ``directory``: the one that is named, that of a configuration, or that of the state."""

    @wraps(command)
    def run(directory: Path | None, config: Path | None, **options: Any) -> None:
        if directory is not None and config is not None:
            raise click.UsageError("DIR and --config both say where the log is: leave one out")
        command(directory=directory or (_configured(config) if config else _default()), **options)

    run = click.option("--config", metavar="FILE", type=_File, help="The log of this configuration.")(run)
    argument = click.argument("directory", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
    return argument(run)  # type: ignore[return-value]


def _configured(path: Path) -> Path:
    from cloakllm_gateway.shell.auditing import directory_of
    from cloakllm_gateway.shell.config import load

    try:
        directory = directory_of(load(path, to_serve=False))
    except GatewayError as error:
        _give_up(error)
    if directory is None:
        _give_up(AuditError(f"{path} keeps no audit log: audit is false, or there is no state directory"))
    return directory


def _default() -> Path:
    state = default_state_dir()
    if state is None:
        raise click.UsageError("There is no state directory: name the directory of the log, or --config FILE")
    return state / DIRECTORY


#: A time in UTC, or the beginning of one.
_WHEN = re.compile(
    r"\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01])(T([01]\d|2[0-3])(:[0-5]\d(:[0-5]\d(\.\d{1,3})?)?)?)?)?)?"
)


def _time(_context: click.Context, _option: click.Parameter, value: str) -> str:
    """A time as entries have it; ``Z`` and a blank for the ``T`` are as good."""
    text = value.strip().upper().removesuffix("Z").replace(" ", "T")
    if text and not _WHEN.fullmatch(text):
        raise click.BadParameter("give a day or a time in UTC, such as 2026-11-29 or 2026-11-29T08:30")
    return text


def _upper(_context: click.Context, _option: click.Parameter, value: str) -> str:
    return value.upper()


_SINCE = click.option(
    "--since", metavar="TIME", default="", callback=_time, help="From then on: 2026-11-29, 2026-11-29T08:30 (UTC)."
)
_UNTIL = click.option("--until", metavar="TIME", default="", callback=_time, help="Up to then, inclusive.")


@click.group()
def audit() -> None:
    """Verify and read the audit log.

    DIR is the directory of the log; by default that of your state directory, or
    of the configuration that --config names.
    """


@audit.command("verify")
@_of_log
@_KEY
@_CHECKPOINT
@click.option("--json", "as_json", is_flag=True, help="Say it for a program.")
def verify_command(directory: Path, key: Path | None, checkpoint: Path | None, as_json: bool) -> None:
    """Say whether the log was changed.

    With a key and a checkpoint from elsewhere the answer is `verified`; with
    what lies beside the log it can only be `self-consistent`, because whoever
    can write there can write all of it anew.
    """
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
        click.option("--event", metavar="NAME", type=click.Choice(list(EVENTS)), help=f"One of {', '.join(EVENTS)}."),
        click.option("--category", metavar="NAME", default="", callback=_upper, help="In which that was found."),
        click.option("--upstream", metavar="NAME", default="", help="That went to it or came from it."),
        _UNTIL,
        _SINCE,
    ):
        command = option(command)
    return command


@audit.command()
@_of_log
@_filters
def show(directory: Path, **filters: str | None) -> None:
    """Show entries, one a line."""
    for entry in _entries(directory, filters):
        click.echo(line(entry))


@audit.command()
@_of_log
@_filters
@click.option("--format", "how", type=click.Choice(["csv", "json"]), default="csv", show_default=True)
@_OUTPUT
def export(directory: Path, how: str, output: Path | None, **filters: str | None) -> None:
    """Write entries for a spreadsheet or a program."""
    found = _entries(directory, filters)
    _write(_as_array(found) if how == "json" else _as_table(found), output)


def _as_array(found: Iterator[dict[str, Any]]) -> Iterator[str]:
    before = "[\n"
    for entry in found:
        yield before + json.dumps(entry)
        before = ",\n"
    yield "\n]\n" if before == ",\n" else "[]\n"


def _as_table(found: Iterator[dict[str, Any]]) -> Iterator[str]:
    yield csv_line(COLUMNS)
    for entry in found:
        yield csv_line(row(entry))


@audit.command("report")
@_of_log
@_KEY
@_CHECKPOINT
@_SINCE
@_UNTIL
@click.option("--format", "how", type=click.Choice(["text", "html"]), help="html for -o NAME.html, else text.")
@_OUTPUT
def report_command(
    directory: Path, key: Path | None, checkpoint: Path | None, how: str | None, output: Path | None, **span: str
) -> None:
    """Count who got what from whom.

    And what was refused or withheld, and when sessions ran.
    """
    as_page = how == "html" or (how is None and output is not None and output.suffix.lower() in (".html", ".htm"))
    found = report(_entries(directory, span))
    try:
        verdict = verify(gather(directory, key, checkpoint))
    except AuditError as error:
        _give_up(error)
    worst = [_in_words(problem) for problem in verdict.problems[:1]]
    _write([(as_html if as_page else as_text)(found, "; ".join([_in_short(verdict), *worst]))], output)


@audit.command("rotate-key")
@_of_log
def rotate_key(directory: Path) -> None:
    """Change the signing key.

    The old key signs once more, together with the new one. Gateways that
    run go on with the new key by themselves. Copy log.pub to where you keep
    the public keys.
    """
    from cloakllm_gateway.shell.audit.checkpoints import rotate

    try:
        gather(directory)
        log = Log(directory, os.urandom(8).hex())
        note = rotate(directory, lambda key: log.append([body("checkpoint", {"trigger": "rotate", "key": key})]))
        log.close()
    except AuditError as error:
        _give_up(error)
    click.echo(f"The new key of {escape(str(directory))}:\n{note.checkpoint.next_key}")


def _entries(directory: Path, filters: Mapping[str, str | None]) -> Iterator[dict[str, Any]]:
    """The entries that were asked for, one at a time: a log of half a year is larger than it looks."""
    wanted = Filter(**{name: value or "" for name, value in filters.items()})
    seen, taken = 0, 0
    known: dict[str, set[str]] = {"upstream": set(), "category": set()}
    try:
        for entry in entries(directory):
            seen += 1
            if wanted.takes(entry):
                taken += 1
                yield entry
            elif not taken:
                known["upstream"].update(upstreams(entry))
                known["category"].update(counts(entry, "categories"))
    except AuditError as error:
        _give_up(error)
    if seen and not taken:
        asked = [name for name in known if filters.get(name)]
        there = [f"; each {name} in it: {', '.join(sorted(known[name])) or 'none'}" for name in asked]
        click.echo(f"cloakllm-gateway: no entry of {seen} is of that kind{printable(''.join(there))}", err=True)


def _give_up(error: GatewayError) -> NoReturn:
    click.echo(f"cloakllm-gateway: {escape(str(error))}", err=True)
    sys.exit(UNREADABLE)


def _write(pieces: Iterable[str], output: Path | None) -> None:
    if output is None:
        for piece in pieces:
            click.echo(piece, nl=False)
        return
    try:
        with output.open("w", encoding="utf-8", newline="") as file:
            file.writelines(pieces)
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
    span = f" from {printable(verdict.began)} to {printable(verdict.ended)}" if verdict.began else ""
    checkpoints = f"{verdict.checkpoints} checkpoint{'' if verdict.checkpoints == 1 else 's'}"
    lines = [f"{escape(str(directory))}: {verdict.entries} entries{span}, {checkpoints}"]
    if verdict.first:
        lines.append(f"  begins at entry {verdict.first}: what came before was pruned, as a signed checkpoint says")
    lines += [f"  {_in_words(problem)}" for problem in verdict.problems]
    if verdict.more_problems:
        lines.append(f"  and {verdict.more_problems} more")
    if verdict.fragments:
        lines.append(f"  not whole checkpoints, and passed over: {verdict.fragments} in the anchor")
    return "\n".join([*lines, _in_short(verdict), *_reach(verdict)])


def _reach(verdict: Verdict) -> Iterator[str]:
    """How far a good verdict reaches: the newest entries are always younger than the newest checkpoint."""
    size = verdict.first + verdict.entries
    if verdict.status is Status.VERIFIED and verdict.anchored < size:
        yield f"Entries from number {verdict.anchored} on are younger than the newest checkpoint from elsewhere."
    if verdict.status is Status.SELF_CONSISTENT and not verdict.signed:
        yield "No checkpoint lies beside the log: nothing of it is signed."
    elif verdict.status is Status.SELF_CONSISTENT and verdict.signed < size:
        yield f"Entries from number {verdict.signed} on are younger than the newest checkpoint."


def _in_words(problem: Problem) -> str:
    line = f":{problem.line}" if problem.line else ""
    place = f"{printable(problem.file)}{line}: " if problem.file else ""
    return f"{place}{problem.kind}: {printable(problem.what)}"


def _as_json(verdict: Verdict) -> str:
    problems = [{**problem._asdict(), "file": printable(problem.file)} for problem in verdict.problems]
    span = {"began": printable(verdict.began), "ended": printable(verdict.ended)}
    return json.dumps({**structs.asdict(verdict), **span, "problems": problems}, indent=1)
