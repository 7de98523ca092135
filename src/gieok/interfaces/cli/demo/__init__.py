"""`gieok demo`: what Gieok does, shown on the real thing in a few seconds, without a network or a key."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from gieok.interfaces.cli.output import can_show

_BEYOND_ASCII = "한글→…─·"
_ASCII_FORM = str.maketrans({"→": "->", "…": "...", "─": "-", "·": "|"})


@click.command()
@click.option(
    "--lang",
    type=click.Choice(["ko", "en", "both"]),
    default="both",
    show_default=True,
    help="Tell the story in Korean, in English, or in both.",
)
@click.option(
    "--keep",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Keep the database, the keystore and the key in DIR, which must be new or empty.",
)
@click.option("--no-color", is_flag=True, help="Print without colours, as with NO_COLOR set.")
def demo(lang: str, keep: Path | None, no_color: bool) -> None:
    """Two days of talk through the real plan, database and vault.

    It works in a folder of its own, which is removed at the end, and touches nothing else of yours.
    """
    encoding = sys.stdout.encoding
    korean = can_show(_BEYOND_ASCII)
    color = False if no_color or os.environ.get("NO_COLOR") else None

    def write(line: str) -> None:
        text = line if korean else line.translate(_ASCII_FORM)
        click.echo(text.encode(encoding, "replace").decode(encoding), color=color)

    if lang != "en" and not korean:
        write(f"This terminal's encoding ({encoding}) cannot show Korean, so only the English part follows.")
        write("To see all of it: PYTHONIOENCODING=utf-8 gieok demo")
        lang = "en"
    _tell(("ko", "en") if lang == "both" else (lang,), keep, write)


def _tell(languages: Sequence[str], keep: Path | None, write: Callable[[str], None]) -> None:
    import asyncio

    from gieok.interfaces.cli.demo.run import perform
    from gieok.interfaces.cli.demo.show import show
    from gieok.interfaces.cli.demo.story import STORIES

    with _folder(keep) as folder:
        for language in languages:
            place = folder / language
            performance = asyncio.run(perform(STORIES[language], place))
            for line in show(performance, kept=place if keep else None):
                write(line)


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
