"""Generates docs/reference/cli.md from the program: `python -m tests.cli.reference`.

The part above the mark is written by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from gieok.interfaces.cli import main

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"
MARK = "<!-- Generated from here on: python -m tests.cli.reference -->\n"


def commands(command: click.Command = main, path: str = "gieok") -> Iterator[tuple[str, click.Command]]:
    """All commands with their full names. A group comes before its commands."""
    yield path, command
    if isinstance(command, click.Group):
        for name in sorted(command.commands):
            yield from commands(command.commands[name], f"{path} {name}")


def page(current: str) -> str:
    """The page as generated now, with the hand-written part of `current`."""
    return current.partition(MARK)[0] + MARK + "".join(_section(*each) for each in commands())


def _section(path: str, command: click.Command) -> str:
    # With main's settings: click caches the help option that it creates here.
    context = click.Context(command, info_name=path, **main.context_settings)
    usage = " ".join([path, *command.collect_usage_pieces(context)])
    lines = ["", f"## `{path}`", "", "```", usage, "```", "", *(command.help or "").strip().splitlines()]
    options = [_row(each) for each in command.params if isinstance(each, click.Option)]
    if options:
        lines += ["", "| option | meaning |", "|---|---|", *options]
    return "\n".join(line.strip() for line in lines) + "\n"


def _row(option: click.Option) -> str:
    names = ", ".join(option.opts)
    values = f" {option.metavar}" if option.metavar else ""
    if isinstance(option.type, click.Choice):
        values = " " + "\\|".join(map(str, option.type.choices))
    return f"| `{names}{values}` | {option.help} |"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
