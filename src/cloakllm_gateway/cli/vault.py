"""``vault``: what the vault holds, without showing it; forgetting; keys; and, for a person alone, what a token means.

No value is ever an argument: arguments are in the shell's history and in the
list of processes.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from cloakllm_gateway.cli.faults import FAILED, explain
from cloakllm_gateway.cli.usage import Commands
from cloakllm_gateway.errors import GatewayError

if TYPE_CHECKING:
    from cloakllm_gateway.shell.config import Config
    from cloakllm_gateway.shell.stores.book import Record
    from cloakllm_gateway.shell.stores.sealed import SealedStore
    from cloakllm_gateway.vault.entries import Entry, Spelling, Token

_Command = TypeVar("_Command", bound=Callable[..., Any])
_CONFIG = click.option("--config", metavar="FILE", required=True, help="The configuration, a JSON file.")
_PRINCIPAL = click.option("--principal", metavar="NAME", help="Only the values of this principal of clients over HTTP.")

IN_MEMORY = """\
The vault of this configuration lives in the memory of the gateway that serves, and no other process can see it.
To keep it, and to work with it here, put "vault": {"backend": "sqlite"} into the configuration."""


class Opened:
    """The lasting vault of a configuration, caught up with what gateways wrote.

    To a configuration belong its namespace and, below it, one of each principal over HTTP; or that of ``principal``.
    """

    def __init__(self, path: str, principal: str | None = None) -> None:
        from cloakllm_gateway.shell.config import load
        from cloakllm_gateway.shell.wiring import open_store, principal_namespace

        self.path = path
        self.config: Config = load(Path(path), to_serve=False)
        store, self.namespace = open_store(self.config)
        self._principals = principal_namespace(self.config, "")
        self._only = principal is not None
        if principal is not None:
            self.namespace = principal_namespace(self.config, principal)
        if not store.shared:
            _give_up(IN_MEMORY)
        self.store: SealedStore = store  # type: ignore[assignment]  # every store that lasts is sealed
        self.store.catch_up()

    @property
    def is_audited(self) -> bool:
        from cloakllm_gateway.shell.auditing import directory_of

        return directory_of(self.config) is not None

    @property
    def categories(self) -> frozenset[str]:
        """The names that make ``[NAME_1]`` a token."""
        from cloakllm_gateway.shell.config import detection_settings
        from cloakllm_gateway.shell.wiring import token_categories

        return token_categories(detection_settings(self.config.detection))

    def audit(self, action: str, *, count: int = 0, refused: bool = False) -> None:
        """Write down what is about to be done, or was refused.  Raises ``AuditError``."""
        from cloakllm_gateway.shell.auditing import append_entry

        fields = {"action": action, "namespace": self.namespace, "count": count, "refused": refused}
        append_entry(self.config, "vault", fields)

    def records(self) -> list[Record]:
        """What this configuration's namespaces hold, by category and number."""
        mine = [record for record in self.store.book.records.values() if self._is_mine(record.namespace)]
        return sorted(mine, key=lambda record: record.entry.token)

    def principal_of(self, record: Record) -> str:
        """Whose value it is over HTTP, empty if it is that of a client on the standard streams."""
        is_ones = record.namespace.startswith(self._principals)
        return record.namespace.removeprefix(self._principals) if is_ones else ""

    def drop(self, values: Callable[[Spelling], bool] | None = None) -> int:
        """Forget all values of this configuration, or those that ``values`` picks; how many spellings went."""
        return sum(self.store.drop(namespace, values) for namespace in self._namespaces)

    def entry_of(self, token: Token) -> Entry | None:
        """What ``token`` stands for; a token is of one namespace."""
        look = self.store.book.by_token
        return next((entry for namespace in self._namespaces if (entry := look(namespace, token))), None)

    @cached_property
    def _namespaces(self) -> set[str]:
        return {record.namespace for record in self.records()}

    def _is_mine(self, namespace: str) -> bool:
        return namespace == self.namespace or (not self._only and namespace.startswith(self._principals))


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


@click.group(cls=Commands)
def vault() -> None:
    """Look into the vault of a configuration, forget values, change its key."""


@vault.command("list")
@_CONFIG
@_PRINCIPAL
@explained
def list_command(config: str, principal: str | None) -> None:
    """Every token: where its value came from and how old it is.  Shows no value."""
    from rich.console import Console
    from rich.table import Table

    opened, now = Opened(config, principal), time.time()
    records = opened.records()
    table = Table(box=None, pad_edge=False)
    over_http = any(map(opened.principal_of, records))
    for title in ("token", *(["principal"] if over_http else []), "from", "first seen", "last seen", "state"):
        table.add_column(title, no_wrap=title == "token")
    for record in records:
        token, origins = str(record.entry.token), ", ".join(sorted(record.entry.origins))
        state = "expired" if record.empty else "restored" if record.restored else ""
        whose = [_plain(opened.principal_of(record))] if over_http else []
        ages = _age(now - record.minted), _age(now - record.seen)
        table.add_row(_plain(token), *whose, _plain(origins), *ages, state)
    opened.audit("list", count=len(records))
    Console(highlight=False).print(table)
    click.echo(f"{_counted(len(records), 'token')} in the namespace {opened.namespace} of {opened.store.place}")


@vault.command()
@_CONFIG
@_PRINCIPAL
@explained
def forget(config: str, principal: str | None) -> None:
    """Forget one value, in all its spellings; it is asked for, or read from standard input."""
    opened = Opened(config, principal)
    if sys.stdin.isatty():
        value = click.prompt("Value to forget (not shown)", hide_input=True, err=True)
    else:
        value = sys.stdin.read().removesuffix("\n").removesuffix("\r")
    if not value:
        _give_up("There is nothing to forget: the value is empty.")
    opened.audit("forget", count=1)
    gone = opened.drop(same_value(value))
    if not gone:
        _give_up("The vault holds no such value.")
    click.echo(f"Forgotten: {_counted(gone, 'spelling')}. Running gateways forget them with their next message.")


@vault.command()
@_CONFIG
@_PRINCIPAL
@click.option("--yes", is_flag=True, help="Do not ask.")
@explained
def purge(config: str, principal: str | None, yes: bool) -> None:
    """Forget all values of this configuration's namespace.  Their numbers are not used again."""
    opened = Opened(config, principal)
    count = len(opened.records())
    if not yes:
        click.confirm(f"Forget {_counted(count, 'value')}? Old conversations can't be continued", abort=True, err=True)
    opened.audit("purge", count=count)
    click.echo(f"Forgotten: {_counted(opened.drop(), 'spelling')}.")


@vault.command()
@_CONFIG
@click.option("--yes", is_flag=True, help="Do not ask.")
@explained
def rekey(config: str, yes: bool) -> None:
    """Seal everything anew under a new key; running gateways have to be restarted."""
    opened = Opened(config)
    if not yes:
        click.confirm("Make a new key? Running gateways and copies of the key stop working", abort=True, err=True)
    opened.audit("rekey", count=len(opened.store.book.records))
    click.echo(f"Sealed anew: {_counted(opened.store.rekey(), 'spelling')}. Restart the gateways that use this vault.")


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


def _counted(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


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
