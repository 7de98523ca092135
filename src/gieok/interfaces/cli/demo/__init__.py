"""`gieok demo`: what Gieok does, shown on the real thing in a few seconds, without a network or a key."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import click

from gieok.interfaces.cli.output import can_show, program, reader_locale
from gieok.interfaces.cli.wording.words import Lang

_BEYOND_ASCII = "한글→…─·×✗├└│↑"
_ASCII_FORM = str.maketrans(
    {"→": "->", "…": "...", "─": "-", "·": "|", "×": "x", "✗": "x", "├": "|", "└": "`", "│": "|", "↑": "^"}
)


@click.command()
@click.option(
    "--lang",
    type=click.Choice(["ko", "en"]),
    help="Tell it in Korean or English. Default: Korean, unless LC_ALL, LC_MESSAGES or LANG is English.",
)
@click.option(
    "--keep",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Keep the database, the keystore and the key in DIR, which must be new or empty.",
)
@click.option("--no-color", is_flag=True, help="Print without colours, as with NO_COLOR set.")
def demo(lang: Lang | None, keep: Path | None, no_color: bool) -> None:
    """A few days with a character, told in seven short acts.

    Remembered, sealed, recalled, and cut off in the middle. It works in a folder of its own, which is removed
    at the end, and touches nothing else of yours.
    """
    encoding = sys.stdout.encoding
    korean = can_show(_BEYOND_ASCII)
    color = False if no_color or os.environ.get("NO_COLOR") else None

    def write(line: str) -> None:
        text = line if korean else line.translate(_ASCII_FORM)
        click.echo(text.encode(encoding, "replace").decode(encoding), color=color)

    locale = reader_locale()
    wanted = lang or ("en" if locale.startswith("en") else "ko")
    if wanted == "ko" and not korean:
        write(f"This terminal's encoding ({encoding}) cannot show Korean, so the story is told in English.")
        write(f"To see it in Korean: PYTHONIOENCODING=utf-8 {program()} demo --lang ko")
        wanted = "en"
    elif lang is None and not locale.startswith(("en", "ko")):
        write(f"In English: {program()} demo --lang en")
    _tell(wanted, keep, write)


def _tell(lang: Lang, keep: Path | None, write: Callable[[str], None]) -> None:
    from gieok.interfaces.cli.demo.place import Place
    from gieok.interfaces.cli.demo.story import STORIES
    from gieok.interfaces.cli.demo.telling import tell
    from gieok.interfaces.cli.demo.wording import DEMO
    from gieok.interfaces.cli.wording import Say

    say = Say(lang, DEMO)
    with _folder(keep) as folder:
        for line in tell(STORIES[lang], Place(folder), say):
            write(line)
        if keep is not None:
            write(say("kept_in", folder=folder))


@contextmanager
def _folder(keep: Path | None) -> Generator[Path]:
    """Where the demo works: a folder that goes away, or the one that the caller wants to look into."""
    if keep is None:
        from tempfile import TemporaryDirectory

        with TemporaryDirectory(prefix="gieok-demo-") as temporary:
            yield Path(temporary)
        return
    try:
        keep.mkdir(mode=0o700, parents=True, exist_ok=True)
        taken = any(keep.iterdir())
    except OSError as error:
        raise click.BadParameter(
            f"{keep} cannot be used ({error.strerror}); name a folder that this user may write to",
            param_hint="--keep",
        ) from error
    if taken:
        raise click.BadParameter(f"{keep} is not empty; name a new folder", param_hint="--keep")
    yield keep.absolute()
