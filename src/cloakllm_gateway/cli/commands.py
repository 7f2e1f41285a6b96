"""The command line in full; imported only when it is more than ``--config FILE``."""

from __future__ import annotations

import sys

import click

from cloakllm_gateway import __version__
from cloakllm_gateway.cli.audit import audit
from cloakllm_gateway.cli.faults import report_uncaught
from cloakllm_gateway.cli.tokens import token
from cloakllm_gateway.cli.usage import Commands
from cloakllm_gateway.cli.vault import vault

_CONFIG = click.option("--config", metavar="FILE", help="The configuration, a JSON file.")
_VERBOSE = click.option("-v", "--verbose", is_flag=True, help="Show the log and where texts were skipped, too.")


@click.group(cls=Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@_CONFIG
@click.option("--check", "as_check", is_flag=True, help="The same as the command check.")
@_VERBOSE
@click.version_option(__version__, prog_name="cloakllm-gateway", message="%(prog)s %(version)s")
@click.pass_context
def gateway(context: click.Context, config: str | None, as_check: bool, verbose: bool) -> None:
    """A sanitizing proxy for MCP: the model sees tokens, the tools get the real values.

    With --config FILE and no command it serves one client on standard input and output: this is what clients start.

    Exit status: 0 all is well, 1 something failed, 2 the configuration or the command line is wrong.
    """
    sys.excepthook = report_uncaught
    if context.invoked_subcommand is not None:
        return
    if config is None and as_check:
        raise click.UsageError("--check needs --config FILE", context)
    if config is None:
        click.echo(context.get_help())
    elif as_check:
        _check(config, verbose)
    else:
        _serve(config)


@gateway.command()
@click.option("--config", metavar="FILE", required=True, help="The configuration, a JSON file.")
@click.option(
    "--http",
    metavar="HOST:PORT",
    is_flag=False,
    flag_value="",
    help="Serve clients over HTTP; 127.0.0.1:8765 by default.",
)
@click.option("--no-auth", is_flag=True, help="With --http, on the loopback interface: let everybody in.")
def serve(config: str, http: str | None, no_auth: bool) -> None:
    """Serve one client on standard input and output, or many over HTTP.

    Over HTTP a client needs a token: where the configuration names no tokens file, the gateway makes one at its first
    start and says in which file it lies.
    """
    if http is None and not no_auth:
        _serve(config)
    from cloakllm_gateway.cli.serve import serve_http

    sys.exit(serve_http(config, http, no_auth=no_auth))


@gateway.command()
@click.option("--config", metavar="FILE", required=True, help="The configuration, a JSON file.")
@_VERBOSE
def check(config: str, verbose: bool) -> None:
    """Prove detection, start every upstream, and say what each has to offer.

    Detection is proved in full each time, which takes ten seconds or more with the models of names. Exit status: 0 all
    is well, 1 something is not, 2 the configuration or the command line is wrong.
    """
    _check(config, verbose)


@gateway.command()
def demo() -> None:
    """Play a session over made-up customer files and show what each side saw."""
    from rich.console import Console

    from cloakllm_gateway.demo.show import show
    from cloakllm_gateway.shell.command_hints import own

    show(Console(), own("--config", "FILE"))


@gateway.command()
@click.argument("files", nargs=-1, metavar="[FILES|FOLDERS|-]")
@click.option("--format", "form", type=click.Choice(["text", "json"]), help="How to show it; text by default.")
@click.option("--jsonl", is_flag=True, help='Read and write JSON lines: {"id", "text"} in; "id", "spans", "text" out.')
@click.option("--config", metavar="FILE", help="Take the detection settings of this configuration.")
@click.option("--locale", "locales", metavar="LOCALE", multiple=True, help="Like detection.locales: de, or de_AT.")
@click.option("--no-names", is_flag=True, help="Without the models of names; what rules and keys tell stays hidden.")
@click.option("--expect-clean", is_flag=True, help="Exit with status 3 if anything would be hidden.")
def scan(
    files: tuple[str, ...],
    form: str | None,
    jsonl: bool,
    config: str | None,
    locales: tuple[str, ...],
    no_names: bool,
    expect_clean: bool,
) -> None:
    """Show what would be hidden in files, folders or standard input; nothing is stored or sent.

    In a folder every file of text is looked at, and only the lines that hold something are shown.

    Exit status: 0 all was scanned, 1 something could not be, 2 the configuration or the command line is wrong,
    3 something would be hidden (with --expect-clean).
    """
    if jsonl and form:
        raise click.UsageError("--jsonl is a format of its own: leave --format out")
    if not files and sys.stdin.isatty():
        raise click.UsageError("Name files or folders, or - for standard input")
    from cloakllm_gateway.cli.scan import scan as run
    from cloakllm_gateway.cli.scan_output import JSONL

    form = JSONL if jsonl else form or "text"
    names = not no_names
    sys.exit(run(files or ("-",), form, config=config, locales=locales, names=names, expect_clean=expect_clean))


gateway.add_command(audit)
gateway.add_command(vault)
gateway.add_command(token)


def _serve(config: str) -> None:
    from cloakllm_gateway.shell.streams import claim

    streams = claim()
    from cloakllm_gateway.cli.serve import serve as run

    sys.exit(run(config, streams))


def _check(config: str, verbose: bool) -> None:
    from cloakllm_gateway.cli.check import check as run

    sys.exit(run(config, verbose=verbose))
