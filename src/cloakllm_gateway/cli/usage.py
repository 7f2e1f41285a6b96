"""Commands that know what a person meant who names the configuration without its option."""

from __future__ import annotations

from typing import NoReturn

import click

_OPTION = "--config"


class Configured(click.Command):
    """A command with ``--config``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if any(_OPTION in option.opts and option.required for option in self.params) and not _is_given(args):
            for word in args:
                if _is_file(word):
                    _ask(word, ctx)
        return super().parse_args(ctx, args)


class Commands(click.Group):
    """A group of such commands."""

    command_class = Configured
    group_class = type

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and _is_file(args[0]) and self.get_command(ctx, args[0]) is None:
            _ask(args[0], ctx)
        return super().resolve_command(ctx, args)


def _is_file(word: str) -> bool:
    return word.endswith(".json") and not word.startswith("-")


def _is_given(args: list[str]) -> bool:
    return any(word == _OPTION or word.startswith(f"{_OPTION}=") for word in args)


def _ask(word: str, ctx: click.Context) -> NoReturn:
    raise click.UsageError(f"Did you mean {_OPTION} {word}?", ctx)
