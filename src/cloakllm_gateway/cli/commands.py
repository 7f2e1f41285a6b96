"""The command line in full; imported only when it is more than ``--config FILE``."""

from __future__ import annotations

import sys

import click

from cloakllm_gateway import __version__
from cloakllm_gateway.cli.audit import audit
from cloakllm_gateway.cli.faults import report_uncaught
from cloakllm_gateway.cli.vault import vault

_CONFIG = click.option("--config", metavar="FILE", help="The configuration, a JSON file.")
_VERBOSE = click.option("-v", "--verbose", is_flag=True, help="Show the log and where texts were skipped, too.")


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@_CONFIG
@click.option("--check", "as_check", is_flag=True, help="The same as the command check.")
@_VERBOSE
@click.version_option(__version__, prog_name="cloakllm-gateway", message="%(prog)s %(version)s")
@click.pass_context
def gateway(context: click.Context, config: str | None, as_check: bool, verbose: bool) -> None:
    """A sanitizing proxy for MCP: the model sees tokens, the tools get the real values."""
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
def serve(config: str) -> None:
    """Serve one client on standard input and output."""
    _serve(config)


@gateway.command()
@click.option("--config", metavar="FILE", required=True, help="The configuration, a JSON file.")
@_VERBOSE
def check(config: str, verbose: bool) -> None:
    """Prove detection, start every upstream, and say what each has to offer."""
    _check(config, verbose)


@gateway.command()
def demo() -> None:
    """Play a session over made-up customer files and show what each side saw."""
    from rich.console import Console

    from cloakllm_gateway.demo.show import show

    show(Console())


gateway.add_command(audit)
gateway.add_command(vault)


def _serve(config: str) -> None:
    from cloakllm_gateway.shell.streams import claim

    streams = claim()
    from cloakllm_gateway.cli.serve import serve as run

    sys.exit(run(config, streams))


def _check(config: str, verbose: bool) -> None:
    from cloakllm_gateway.cli.check import check as run

    sys.exit(run(config, verbose=verbose))
