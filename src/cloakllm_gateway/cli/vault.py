"""``vault``: what the vault holds, without showing it; forgetting; keys; and, for a person alone, what a token means.

No value is ever an argument: arguments are in the shell's history and in the
list of processes.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from cloakllm_gateway.cli.faults import FAILED, explain
from cloakllm_gateway.errors import GatewayError

if TYPE_CHECKING:
    from cloakllm_gateway.shell.config import Config
    from cloakllm_gateway.shell.stores.book import Record
    from cloakllm_gateway.shell.stores.sealed import SealedStore
    from cloakllm_gateway.vault.entries import Spelling

_Command = TypeVar("_Command", bound=Callable[..., Any])
_CONFIG = click.option("--config", metavar="FILE", required=True, help="The configuration, a JSON file.")

IN_MEMORY = """\
The vault of this configuration lives in the memory of the gateway that serves, and no other process can see it.
To keep it, and to work with it here, put "vault": {"backend": "sqlite"} into the configuration."""


class Opened:
    """The lasting vault of a configuration, caught up with what gateways wrote."""

    def __init__(self, path: str) -> None:
        from cloakllm_gateway.shell.config import load
        from cloakllm_gateway.shell.wiring import open_store

        self.config: Config = load(Path(path))
        store, self.namespace = open_store(self.config)
        if not store.shared:
            _give_up(IN_MEMORY)
        self.store: SealedStore = store  # type: ignore[assignment]  # every store that lasts is sealed
        self.store.catch_up()

    @property
    def is_audited(self) -> bool:
        from cloakllm_gateway.shell.auditing import directory_of

        return directory_of(self.config) is not None

    def audit(self, action: str, *, count: int = 0, refused: bool = False) -> None:
        """Write down what is about to be done, or was refused.  Raises ``AuditError``."""
        from cloakllm_gateway.shell.auditing import append_entry

        fields = {"action": action, "namespace": self.namespace, "count": count, "refused": refused}
        append_entry(self.config, "vault", fields)

    def records(self) -> list[Record]:
        """What this configuration's namespace holds, by category and number."""
        mine = [r for r in self.store.book.records.values() if r.namespace == self.namespace]
        return sorted(mine, key=lambda record: record.entry.token)


def explained(command: _Command) -> _Command:
    """Let a command end with one line about what is wrong."""
    from functools import wraps

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        try:
            command(*arguments, **options)
        except GatewayError as error:
            sys.exit(explain(error))

    return run  # type: ignore[return-value]


@click.group()
def vault() -> None:
    """Look into the vault of a configuration, forget values, change its key."""


@vault.command("list")
@_CONFIG
@explained
def list_command(config: str) -> None:
    """Every token: where its value came from and how old it is.  Shows no value."""
    from rich.console import Console
    from rich.table import Table

    opened, now = Opened(config), time.time()
    table = Table(box=None, pad_edge=False)
    for title in ("token", "from", "first seen", "last seen", ""):
        table.add_column(title, no_wrap=title == "token")
    records = opened.records()
    for record in records:
        token, origins = str(record.entry.token), ", ".join(sorted(record.entry.origins))
        state = "expired" if record.empty else "restored" if record.restored else ""
        table.add_row(_plain(token), _plain(origins), _age(now - record.minted), _age(now - record.seen), state)
    opened.audit("list", count=len(records))
    Console(highlight=False).print(table)
    click.echo(f"{len(records)} tokens in the namespace {opened.namespace} of {opened.store.place}")


@vault.command()
@_CONFIG
@explained
def forget(config: str) -> None:
    """Forget one value, in all its spellings; it is asked for, or read from standard input."""
    opened = Opened(config)
    if sys.stdin.isatty():
        value = click.prompt("Value to forget (not shown)", hide_input=True, err=True)
    else:
        value = sys.stdin.read().removesuffix("\n").removesuffix("\r")
    if not value:
        _give_up("There is nothing to forget: the value is empty.")
    opened.audit("forget", count=1)
    gone = opened.store.drop(opened.namespace, same_value(value))
    if not gone:
        _give_up("The vault holds no such value.")
    click.echo(f"Forgotten: {gone} spellings. Running gateways forget them with their next message.")


@vault.command()
@_CONFIG
@click.option("--yes", is_flag=True, help="Do not ask.")
@explained
def purge(config: str, yes: bool) -> None:
    """Forget all values of this configuration's namespace.  Their numbers are not used again."""
    opened = Opened(config)
    count = len(opened.records())
    if not yes:
        click.confirm(f"Forget all {count} values? Old conversations can't be continued", abort=True, err=True)
    opened.audit("purge", count=count)
    click.echo(f"Forgotten: {opened.store.drop(opened.namespace)} spellings.")


@vault.command()
@_CONFIG
@explained
def rekey(config: str) -> None:
    """Seal everything anew under a new key; running gateways have to be restarted."""
    opened = Opened(config)
    opened.audit("rekey", count=len(opened.store.book.records))
    click.echo(f"Sealed anew: {opened.store.rekey()} spellings. Restart the gateways that use this vault.")


@vault.command()
@_CONFIG
@explained
def passphrase(config: str) -> None:
    """Set the passphrase that `vault reveal` asks for; typed at a terminal."""
    from cloakllm_gateway.cli.reveal import set_passphrase

    set_passphrase(Opened(config))


@vault.command()
@_CONFIG
@explained
def reveal(config: str) -> None:
    """Paste a text with tokens and read it with their values; at a terminal, with the passphrase."""
    from cloakllm_gateway.cli.reveal import reveal as run

    run(Opened(config))


def same_value(value: str) -> Callable[[Spelling], bool]:
    """Whether a spelling is one of ``value``, whatever its case, spaces and hyphens."""
    wanted = _bare(value)

    def same(spelling: Spelling) -> bool:
        return any(_bare(text) == wanted for text in (spelling.raw, spelling.value, spelling.canonical))

    return same


def _bare(text: str) -> str:
    return "".join(text.casefold().replace("-", "").split())


def _age(seconds: float) -> str:
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return "just now"


def _plain(text: str) -> str:
    """``text`` as rich shows it as it is: brackets are no markup, control characters no control."""
    from rich.markup import escape as markup

    from cloakllm_gateway.shell.logging import escape

    return markup(escape(text))


def _give_up(why: str) -> NoReturn:
    click.echo(f"cloakllm-gateway: {why}", err=True)
    sys.exit(FAILED)
