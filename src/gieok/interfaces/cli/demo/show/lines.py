"""How the lines of the demo are laid out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import click

from gieok.interfaces.cli.columns import pad, width, wrap

COLUMNS = 90
INDENT = "   "


def indented(text: str, hanging: str = "") -> Iterator[str]:
    """A text in lines; those after the first stand as far in as `hanging` is wide."""
    deeper = " " * width(hanging)
    for number, line in enumerate(wrap(text, COLUMNS - len(INDENT) - len(deeper))):
        yield f"{INDENT}{deeper if number else hanging}{line}"


def note(text: str) -> Iterator[str]:
    """What the demo itself has to say."""
    return (click.style(line, dim=True) for line in indented(text))


def fields(values: Mapping[str, str]) -> Iterator[str]:
    """A name and a value on each line."""
    wide = max(map(width, values))
    for name, value in values.items():
        yield from indented(value, f"  {pad(name, wide)}  ")


def joined(parts: Sequence[str], hanging: str = "", between: str = " · ") -> Iterator[str]:
    """Parts in as few lines as they fit on; none is broken."""
    room = COLUMNS - len(INDENT) - width(hanging + between.rstrip())
    line = ""
    start = hanging
    for part in parts:
        longer = f"{line}{between}{part}" if line else part
        if line and width(longer) > room:
            yield f"{INDENT}{start}{line}{between}".rstrip()
            line, start = part, " " * width(hanging)
        else:
            line = longer
    yield f"{INDENT}{start}{line}"
