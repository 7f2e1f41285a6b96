"""``token``: let somebody in over HTTP."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from cloakllm_gateway.cli.faults import explained
from cloakllm_gateway.errors import ConfigError


@click.group()
def token() -> None:
    """Bearer tokens of clients that come over HTTP."""


@token.command()
@click.argument("name")
@click.option("--config", metavar="FILE", help="The configuration; its auth.tokens_file gets the token.")
@click.option("--file", metavar="FILE", help="The tokens file itself; it is made where there is none.")
def add(name: str, config: str | None, file: str | None) -> None:
    """Make a token for the principal NAME and print it; it is not kept, only what recognises it.

    Tokens of one name are one principal, who shares a vault and sees its own sessions. To take a token back, delete
    its line from the file: a running gateway notices.
    """
    if (config is None) == (file is None):
        raise click.UsageError("Name either --config or --file")
    sys.exit(explained(lambda: _add(name, config, file)))


def _add(name: str, config: str | None, file: str | None) -> int:
    from cloakllm_gateway.shell.front.tokens import add_token, is_principal

    if not is_principal(name):
        raise ConfigError("NAME is not the name of a principal", "At most 64 letters, digits and _ . - after the first")
    path = Path(file) if file is not None else _tokens_file(str(config))
    made = add_token(path, name)
    click.echo(f"Added to {path}. This is the token, shown this once:", err=True)
    click.echo(made)
    return 0


def _tokens_file(config: str) -> Path:
    """Where the configuration keeps tokens.  Raises :class:`ConfigError`."""
    from cloakllm_gateway.shell.config import load

    auth = load(Path(config), to_serve=False).auth
    if not auth or auth.tokens_file is None:
        raise ConfigError(f"{config}: names no tokens file", 'Add "auth": {"tokens_file": "tokens"}')
    return Path(auth.tokens_file)
